"""Pruning a model. In: a model, a method's name, rows. Out: the pruned model and the log. Callers: model."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np

from treewright.exceptions import ParameterError
from treewright.prune.backward import leaf_sums
from treewright.prune.decision import Action, Rows
from treewright.prune.log import PruneLog
from treewright.prune.methods import method_of, options_of
from treewright.prune.risk import node_risk
from treewright.tree.arrays import Tree
from treewright.tree.model import ModelData


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
    """
    if len(model.trees) != 1:
        raise ParameterError(f"the model has {len(model.trees)} trees: pruning takes a model of one tree")
    chosen = method_of(method)
    options = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in options_of(chosen, options).items()
    }
    if chosen.needs == "none":
        if rows is not None:
            raise ParameterError(f"{method} looks at the tree alone: leave X and y out")
        decision = chosen.function(model, **options)
    elif rows is None:
        raise ParameterError(_LACKING[chosen.needs].format(method=method))
    else:
        decision = chosen.function(model, rows, **options)
    before, after = model.trees[0], decision.tree
    as_leaf: Action = "leaf"
    actions = decision.actions or (as_leaf,) * len(decision.nodes)
    log = PruneLog(
        method=method,
        options=options,
        model=model,
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
    return replace(model, trees=(after,), facts=facts), log


_LACKING = {
    "holdout": "{method} needs rows that the tree was not grown on: pass X and y, kept aside before the fit",
    "training": "{method} needs the rows of the fit: pass X and y",
}


def _plain(value: Any) -> Any:
    """An option as plain JSON, which the facts are saved as and which has no infinity."""
    is_plain = value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value))
    return value if is_plain else str(value)


def _rises(model: ModelData, tree: Tree) -> np.ndarray:
    """How much the training error rises where each node alone becomes a leaf."""
    as_leaf = node_risk(model)
    return as_leaf - leaf_sums(tree, as_leaf)
