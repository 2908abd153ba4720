"""Pruning a model. In: a model, a method's name, rows. Out: the pruned model and the log. Callers: model."""

from __future__ import annotations

from dataclasses import fields, replace
from math import isfinite
from typing import Any

import numpy as np

from treewright.data.cells import shown
from treewright.data.weights import class_factors, warn_of_small_weights
from treewright.exceptions import DataError, ParameterError
from treewright.model.data import ModelData
from treewright.model.trees import ListedTrees
from treewright.prune.backward import leaf_sums
from treewright.prune.decision import Action, Rows
from treewright.prune.log import PruneLog
from treewright.prune.methods import Method, method_of, options_of
from treewright.prune.risk import EQUAL, node_risk
from treewright.tree.arrays import Tree


def prune_model(model: ModelData, method: str, rows: Rows | None = None, **options: Any) -> tuple[ModelData, PruneLog]:
    """Cut a model's tree back.

    Parameters
    ----------
    model : ModelData
        Of one tree; it is not changed.
    method : str
        A key of ``treewright.prune.methods.METHODS``.
    rows : Rows, optional
        For the methods that need rows.
    **options
        The method's own.

    Returns
    -------
    model : ModelData
    log : PruneLog

    Raises
    ------
    ParameterError
        There is no such method or option, rows are lacking or not wanted, or the method is undefined for the model.
    DataError
        The rows cannot tell trees apart, or are not those of the fit where these are needed.

    Warns
    -----
    DataWarning
        The weights add up to far less than the rows, and the method takes them for numbers of rows.
    """
    chosen, options, needs_rows = request_of(model, method, options)
    if rows is None and needs_rows:
        raise ParameterError(_LACKING[chosen.needs].format(method=method))
    if chosen.needs == "none":
        if rows is not None:
            raise ParameterError(f"{method} looks at the tree alone: leave X and y out")
        decision = chosen.function(model, **options)
    else:
        if chosen.needs == "holdout" and rows is not None:
            _refuse_weightless_classes(model, rows)
        decision = chosen.function(model, rows, **options)
    before, after = model.trees[0], decision.tree
    # Of numbers the rows are counted, and weights only say how much each matters; CHAID's F test counts weights.
    if chosen.counts_rows and (model.task == "classification" or model.facts.get("criterion") == "f_test"):
        warn_of_small_weights(float(before.weight[0]), int(before.n_samples[0]), method)
    options |= decision.used or {}
    as_leaf: Action = "leaf"
    actions = decision.actions or (as_leaf,) * len(decision.nodes)
    log = PruneLog(
        method=method,
        options=options,
        # A model with its verbs would bring its own log along, and so each log all that were before it.
        model=ModelData(**{field.name: getattr(model, field.name) for field in fields(ModelData)}),
        before=before,
        after=after,
        nodes=decision.nodes,
        actions=actions,
        n_leaves=leaf_sums(before, np.ones(before.n_nodes))[decision.nodes].astype(np.int64),
        rise=np.where(np.array(actions, dtype="U5") == "raise", np.nan, _rises(model, before)[decision.nodes]),
        numbers=decision.numbers,
    )
    entry = {
        "method": method,
        "options": {name: _plain(value) for name, value in options.items()},
        "leaves_before": before.n_leaves,
        "leaves": after.n_leaves,
        "cuts": len(decision.nodes),
    }
    earlier = model.facts.get("pruning")
    facts = {**model.facts, "pruning": [*(earlier if isinstance(earlier, list) else []), entry]}
    return replace(model, trees=ListedTrees((after,)), facts=facts), log


def request_of(model: ModelData, method: str, options: dict[str, Any]) -> tuple[Method, dict[str, Any], bool]:
    """What a pruning is asked to do, checked as far as no rows are needed for that.

    Returns
    -------
    method : Method
    options : dict
        Defaults filled in.
    needs_rows : bool
        Whether it cannot be done without rows.

    Raises
    ------
    ParameterError
        There is no such method or option, or the method is undefined for the model.
    """
    if len(model.trees) != 1:
        raise ParameterError(f"the model has {len(model.trees)} trees: pruning takes a model of one tree")
    chosen = method_of(method)
    filled = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in options_of(chosen, options).items()
    }
    return chosen, filled, chosen.needs_rows(model, filled)


_LACKING = {
    "holdout": "{method} needs rows that the tree was not grown on: pass X and y, kept aside before the fit",
    "training": "{method} needs the rows of the fit: pass X and y",
}


def _plain(value: Any) -> Any:
    """An option as plain JSON, which the facts are saved as and which has no infinity."""
    is_plain = value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value))
    return value if is_plain else str(value)


def _rises(model: ModelData, tree: Tree) -> np.ndarray:
    """How much the training error rises where each node alone becomes a leaf; 0.0 where that is rounding."""
    as_leaf = node_risk(model)
    rise = as_leaf - leaf_sums(tree, as_leaf)
    return np.where(np.abs(rise) <= EQUAL * as_leaf, 0.0, rise)


def _refuse_weightless_classes(model: ModelData, rows: Rows) -> None:
    """Refuse hold-out rows of one class where the others were left out for their class weight.

    Raises
    ------
    DataError
    """
    factors = class_factors(model.facts, rows.target, model.classes) if model.task == "classification" else None
    for output, by_code in enumerate(factors or ()):
        codes, labels = rows.target[:, output], model.classes[output].tolist()
        without = [shown(label) for label, factor in zip(labels, by_code.tolist(), strict=True) if factor == 0]
        if without and len(codes) and (codes == codes[0]).all():
            raise DataError(
                f"the class_weight of the fit is 0 for {', '.join(without)}, so rows of that class count for nothing, "
                f"and the {len(codes)} hold-out row(s) left are all of class {shown(labels[codes[0]])}: a single leaf "
                "would look perfect. Fit without that class weight, or take a method that needs no rows"
            )
