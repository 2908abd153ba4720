"""Pruning a model: the methods by name, their input and output, and the log of a pruning.

A pruner is a function ``(model, **options)`` or ``(model, rows, **options)`` that returns a ``Decision``, and a line in
``METHODS``. Its module is imported when it is first used: a model is loaded without any pruner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib import import_module
from inspect import Parameter, signature
from math import isfinite
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from treewright.data.cells import shown
from treewright.data.schema import did_you_mean
from treewright.data.target import class_factors, warn_of_small_weights
from treewright.exceptions import DataError, ParameterError, pruner, setting
from treewright.prune.costs import EQUAL, decided_risk, leaf_sums
from treewright.trees.arrays import Tree
from treewright.trees.data import ListedTrees, ModelData
from treewright.trees.summary import counted

Action = Literal["leaf", "raise", "merge"]


class Rows(NamedTuple):
    """Encoded rows of a table, as ``Model.encode_rows`` returns them.

    Attributes
    ----------
    matrix : float64[n, p]
    target : int32[n, n_outputs] class codes, or float64[n, n_outputs]
    weights : float64[n], > 0, or None
        They include the class weights of the fit.
    """

    matrix: np.ndarray
    target: np.ndarray
    weights: np.ndarray | None


class Decision(NamedTuple):
    """The result of a pruner: the smaller tree and the nodes that were cut.

    ``nodes`` int64[k]: positions, in the tree as it was, of the nodes that were cut; in the order of the decisions.
    ``used`` mapping from name to value, or None: options that the pruner chose itself, with their values.
    """

    tree: Tree  # the pruned tree
    nodes: np.ndarray
    numbers: Mapping[str, np.ndarray]  # dict from name to float64[k]: the numbers that decided each cut
    actions: tuple[Action, ...] | None = None  # None: every node was made a leaf
    used: Mapping[str, Any] | None = None


Needs = Literal["none", "training", "holdout"]


@dataclass(frozen=True)
class Method:
    """One pruner.

    ``counts_rows``: whether it treats the weights of classes as numbers of rows: weights that are shares then mean
    hardly any rows.
    ``asks``: name of a function of the module, ``(model, **options) -> bool``: whether rows are required or optional;
    it refuses models and options that the method is not defined for. Empty: a method that takes rows requires them.
    """

    name: str  # name of the method, and of the function
    module: str  # the module that holds it
    needs: Needs  # the rows it takes: none, the training rows, or held-out rows
    counts_rows: bool = False
    asks: str = ""

    @property
    def function(self) -> Callable[..., Decision]:
        """``(model, **options)``, or ``(model, rows, **options)``."""
        return self._of_module(self.name)

    def needs_rows(self, model: ModelData, options: Mapping[str, Any]) -> bool:
        """Whether it requires rows for this model and these options."""
        if self.asks:
            return bool(self._of_module(self.asks)(model, **options))
        return self.needs != "none"

    def _of_module(self, name: str) -> Any:
        return getattr(import_module(f"treewright.prune.{self.module}"), name)

    def options(self) -> dict[str, Any]:
        """Names of its options with their defaults; ``Parameter.empty`` for a required one."""
        parameters = signature(self.function).parameters.values()
        return {each.name: each.default for each in parameters if each.kind is Parameter.KEYWORD_ONLY}


METHODS: dict[str, Method] = {
    each.name: each
    for each in (
        Method("cost_complexity", "cost_complexity", "none"),
        Method("depth", "cost_complexity", "none"),
        Method("leaves", "cost_complexity", "none"),
        Method("reduced_error", "estimates", "holdout"),
        Method("error_based", "error_based", "training", counts_rows=True, asks="needs_rows"),
        Method("pessimistic", "estimates", "none", counts_rows=True),
        Method("minimum_error", "estimates", "none", counts_rows=True),
        Method("significance", "significance", "none", counts_rows=True),
        Method("description_length", "description_length", "none", counts_rows=True),
        Method("merge_equal_leaves", "estimates", "none"),
    )
}


def method_of(name: Any) -> Method:
    """The pruner of that name."""
    if not (isinstance(name, str) and name in METHODS):  # an unhashable name cannot be looked up
        word = str(name).lower().replace("-", "_").replace(" ", "_")
        if word in CROSS_VALIDATED:
            raise ParameterError(
                f"pruning method {name!r} needs cross-validation, so it takes an estimator that is not fitted: use "
                f"model_selection.pruning_path(est, X, y), or PrunedTree(est, {word!r})"
            )
        if word == ROUNDS:
            raise ParameterError(
                "prune('rounds') drops the last trees of a boosted model: call it on the estimator or the model of all "
                "trees"
            )
        right = CALLED.get(word, word)
        guess = f" (did you mean {right!r}?)" if right in METHODS else did_you_mean(str(name), METHODS)
        raise ParameterError(f"there is no pruning method {name!r}{guess}: choose one of {', '.join(METHODS)}")
    return METHODS[name]


def options_of(method: Method, given: dict[str, Any]) -> dict[str, Any]:
    """A pruner's options, defaults filled in."""
    known = method.options()
    for name in given:
        if name not in known:
            has = f"its options are {', '.join(known)}" if known else "it has no options"
            raise ParameterError(pruner(method.name), f" has no option {name!r}: {has}", parameter=name)
    options = known | given
    lacking = [name for name, value in options.items() if value is Parameter.empty]
    if lacking:
        example = setting(lacking[0], EXAMPLES[lacking[0]])
        raise ParameterError(pruner(method.name), " needs a value, such as ", example, parameter=lacking[0])
    return options


def prune_model(model: ModelData, method: str, rows: Rows | None = None, **options: Any) -> tuple[ModelData, PruneLog]:
    """Prune a model's tree by a method of ``METHODS``, with rows if it needs some; the model is not changed.

    A ``DataWarning`` says that the weights add up to far less than the rows, if the method treats them as numbers of
    rows.
    """
    chosen, options, needs_rows = request_of(model, method, options)
    if rows is None and needs_rows:
        raise ParameterError(_LACKING[chosen.needs].format(method=method))
    if chosen.needs == "none":
        if rows is not None:
            raise ParameterError(pruner(method), " uses only the tree: leave X and y out")
        decision = chosen.function(model, **options)
    else:
        if chosen.needs == "holdout" and rows is not None:
            _refuse_weightless_classes(model, rows)
        decision = chosen.function(model, rows, **options)
    before, after = model.trees[0], decision.tree
    # Regression counts rows, and weights only state how much each matters; CHAID's F test counts weights.
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
    """The method and options of a pruning, checked as far as possible without rows.

    Returns ``options``: defaults filled in; ``needs_rows``: whether it requires rows.
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
    "holdout": "{method} needs held-out rows, which the tree was not fitted on: pass X and y",
    "training": "{method} needs the training rows: pass X and y",
}


def _plain(value: Any) -> Any:
    """An option as a JSON value for the facts of the model; JSON has no infinity."""
    is_plain = value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value))
    return value if is_plain else str(value)


def _rises(model: ModelData, tree: Tree) -> np.ndarray:
    """Increase of the training error if only this node becomes a leaf, per node; 0.0 if it is rounding error."""
    as_leaf = decided_risk(model)
    rise = as_leaf - leaf_sums(tree, as_leaf)
    return np.where(np.abs(rise) <= EQUAL * as_leaf, 0.0, rise)


def _refuse_weightless_classes(model: ModelData, rows: Rows) -> None:
    """Refuse hold-out rows of a single class if the others have a class weight of 0."""
    factors = class_factors(model.facts, rows.target, model.classes) if model.task == "classification" else None
    for output, by_code in enumerate(factors or ()):
        codes, labels = rows.target[:, output], model.classes[output].tolist()
        without = [shown(label) for label, factor in zip(labels, by_code.tolist(), strict=True) if factor == 0]
        if without and len(codes) and (codes == codes[0]).all():
            raise DataError(
                f"the class_weight of the fit is 0 for {', '.join(without)}, so rows of that class do not count, and "
                f"the other {len(codes)} hold-out row(s) are all of class {shown(labels[codes[0]])}: a single leaf "
                "would look perfect. Fit without that class weight, or use a method that needs no rows"
            )


_DONE = {"leaf": "made a leaf", "raise": "replaced by its largest branch", "merge": "equal leaves merged"}
_SHOWN = 20  # cuts that print shows


@dataclass(frozen=True)
class PrunedNode:
    """One cut.

    Attributes
    ----------
    node : int
        Position in the tree before pruning.
    depth : int
    test : str
        The node's test.
    action : {"leaf", "raise", "merge"}
    n_samples : int
        Training rows in the node.
    n_leaves : int
        Leaves below it before pruning.
    rise : float
        Increase of the training error by this cut alone: of the misclassification rate of what the model predicts, by
        its threshold if it has one (for regression, of the weighted impurity); 0 if it is rounding error. Negative if
        the cut changes the predicted class to the more frequent one. nan for a node that was raised.
    numbers : dict from str to float
        The numbers that decided the cut.
    """

    node: int
    depth: int
    test: str
    action: Action
    n_samples: int
    n_leaves: int
    rise: float
    numbers: dict[str, float]

    def __str__(self) -> str:
        lost = f"{counted(self.n_leaves, 'leaf', 'leaves')}, {counted(self.n_samples, 'row')}"
        if self.action != "raise":
            lost += f", training error {self.rise:+.4g}"
        # nan: a number that this cut did not need.
        numbers = ", ".join(f"{name} {value:.6g}" for name, value in self.numbers.items() if value == value)
        parts = (_DONE[self.action], lost, numbers)
        return f"node {self.node} ({self.test}): {'; '.join(filter(None, parts))}"


@dataclass(frozen=True, eq=False)
class PruneLog(Sequence[PrunedNode]):
    """Every cut of one pruning, in the order of the decisions; a sequence of ``PrunedNode``.

    Attributes
    ----------
    method : str
    options : dict
        The pruner's options with defaults, and with the values of those that it chose itself.
    model : ModelData
        The model before this pruning, without earlier logs: a log holds one tree besides the pruned one.
    before, after : Tree
    nodes : int64[k]
        Positions in ``before``. A node below another one of them was cut first, then removed with it.
    actions : tuple of str
    n_leaves : int64[k]
        Leaves below each node in ``before``.
    rise : float64[k]
        See ``PrunedNode``.
    numbers : dict from str to float64[k]
    """

    method: str
    options: Mapping[str, Any]
    model: ModelData
    before: Tree
    after: Tree
    nodes: np.ndarray
    actions: tuple[Action, ...]
    n_leaves: np.ndarray
    rise: np.ndarray
    numbers: Mapping[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.nodes)

    @overload
    def __getitem__(self, at: int) -> PrunedNode: ...
    @overload
    def __getitem__(self, at: slice) -> list[PrunedNode]: ...
    def __getitem__(self, at: int | slice) -> PrunedNode | list[PrunedNode]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        from treewright.trees.facts import node_test  # not at the top: loading a model does not need it

        node = int(self.nodes[at])
        return PrunedNode(
            node=node,
            depth=int(self.before.depth[node]),
            test=node_test(self.model, self.before, node).question(),
            action=self.actions[at],
            n_samples=int(self.before.n_samples[node]),
            n_leaves=int(self.n_leaves[at]),
            rise=float(self.rise[at]),
            numbers={name: float(column[at]) for name, column in self.numbers.items()},
        )

    def __iter__(self) -> Iterator[PrunedNode]:
        return (self[at] for at in range(len(self)))

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns for a data frame: one row per cut; the numbers that decided come last."""
        cuts = list(self)
        names = ("node", "depth", "test", "action", "n_samples", "n_leaves", "rise")
        columns: dict[str, list[Any]] = {name: [getattr(cut, name) for cut in cuts] for name in names}
        return columns | {name: column.tolist() for name, column in self.numbers.items()}

    def __str__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        lines = [
            f"{self.method}({options}): leaves {self.before.n_leaves} -> {self.after.n_leaves}, "
            f"depth {self.before.max_depth} -> {self.after.max_depth}, {counted(len(self), 'node')} pruned"
        ]
        lines += [f"  {cut}" for cut in self[:_SHOWN]]
        if len(self) > _SHOWN:
            lines.append(f"  ... and {len(self) - _SHOWN} more; to_dict() has them all")
        return "\n".join(lines)


# Other names of the methods, some of them used on the command line.
CALLED = {
    "mdl": "description_length", "ccp": "cost_complexity", "alpha": "cost_complexity",
    "weakest_link": "cost_complexity",
    "rep": "reduced_error", "ebp": "error_based", "c45": "error_based", "c4.5": "error_based", "j48": "error_based",
    "pep": "pessimistic", "mep": "minimum_error", "max_depth": "depth", "max_leaves": "leaves",
    "max_leaf_nodes": "leaves", "chaid": "significance",
}  # fmt: skip
EXAMPLES = {"alpha": 0.01, "max_depth": 3, "max_leaves": 8}  # of the options that have no default
ROUNDS = "rounds"  # of boosted models; ``boosting.growth``
CROSS_VALIDATED = ("ccp_1se", "ccp_min")  # prunings that a tree alone cannot decide
