"""Other pruners beside the path. In: ``Judged``. Out: pruned models, ``PrunerPart``. Caller: reporting.pruning_part."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from treewright.exceptions import DataError, ParameterError
from treewright.fitted import Model
from treewright.model_selection.path_judges import GivenRows, View, whole_tree
from treewright.page.parts_pruning import Matrix, PrunerPart
from treewright.page.parts_tree import TreePart
from treewright.page.tree_part import tree_part
from treewright.predict.values import predict_codes
from treewright.prune.cost_complexity import Path
from treewright.prune.methods import METHODS, PruneLog
from treewright.reporting.judged import Judged
from treewright.reporting.pruning_judges import Errors, PathJudge, pruned_again, tree_estimator
from treewright.reporting.tree_judged import tree_with_judges
from treewright.tree.arrays import Tree
from treewright.tree.edit import collapse

WHOLE = "none"
MAX_WITH_RULES = 501  # nodes of a tree beside the page's own: rules are a third of its size
NAMES = {
    WHOLE: "the tree as it is",
    "reduced_error": "reduced error",
    "error_based": "error-based",
    "pessimistic": "pessimistic",
    "minimum_error": "minimum error",
    "significance": "significance",
    "description_length": "description length (MDL)",
}
OTHER_TREE = "What a node could have asked is told of the tree as it was grown, not of this one."
HELD_OUT = (
    "The rows (X and y, DATA) must be the judged rows of this page. Rows that treewright fit --report held out are in "
    "no file: to prune by them, split the table into two files first."
)
CHOSE = "The judged rows chose this tree: its error on them flatters it."
NO_ROWS_ASIDE = "needs rows that the tree was not grown on, and the judged rows are those of the fit"
PERHAPS_NOT = "needs rows that the tree was not grown on, and the judged rows may be those of the fit"


@dataclass(frozen=True, eq=False)
class Pruned:
    """What a pruner made of the model; ``model`` is None where it is not defined for it."""

    method: str
    model: Model | None
    why_not: str = ""
    takes_rows: bool = False

    @property
    def view(self) -> View | None:
        """The same of a tree that a fold has grown; None where folds lack the rows."""
        if self.method == WHOLE:
            return lambda grown, rows: _as_it_is(grown)  # noqa: ARG005 - a View
        if METHODS[self.method].needs == "holdout":
            return None

        def view(grown: Model, rows: GivenRows) -> tuple[Model, Path, np.ndarray]:
            return _as_it_is(pruned_again(grown, self.method, rows))

        return view


def _as_it_is(model: Model) -> tuple[Model, Path, np.ndarray]:
    return model, whole_tree(model.trees[0]), np.zeros(1, np.int64)


def pruned_models(judged: Judged) -> list[Pruned]:
    """The tree as it is, and what every pruner makes of it."""
    return [Pruned(WHOLE, judged.model), *(_pruned(judged, name) for name in NAMES if name != WHOLE)]


def _pruned(judged: Judged, name: str) -> Pruned:
    """One pruner, with the rows that it needs."""
    model, needs = judged.model, METHODS[name].needs
    given = (judged.table, judged.target_given, judged.weights_given)
    if needs == "holdout" and judged.seen is not False:
        return Pruned(name, None, NO_ROWS_ASIDE if judged.seen else PERHAPS_NOT)
    try:
        if needs == "training" and METHODS[name].needs_rows(model, METHODS[name].options()):
            estimator = tree_estimator(judged)
            if getattr(estimator, "_rows", None) is not None and estimator is not None:
                return Pruned(name, estimator.prune(name).model_)
            if not judged.seen:
                return Pruned(name, None, "needs the rows of the fit, which are not at hand")
            return Pruned(name, model.prune(name, *given), takes_rows=True)
        if needs == "holdout":
            return Pruned(name, model.prune(name, *given), takes_rows=True)
        return Pruned(name, model.prune(name))
    except (ParameterError, DataError) as error:
        return Pruned(name, None, str(error).removeprefix(f"{name} "))


def pruner_part(pruned: Pruned, judge: PathJudge, errors: Errors | None, *, by_nodes: bool) -> PrunerPart:
    """A pruner as the page shows it.

    Parameters
    ----------
    pruned : Pruned
    judge : PathJudge
    errors : Errors or None
    by_nodes : bool
        Whether the confusion matrix of a tree is the sum of what its leaves hold.
    """
    judged, model = judge.judged, pruned.model
    name = NAMES[pruned.method]
    if model is None:
        return PrunerPart(pruned.method, name, why_not=pruned.why_not)
    tree = model.trees[0]
    on_fit = float(judge.on_fit(model, whole_tree(tree))[0])
    leaves = leaves_made(judged.model.trees[0], model)
    own = None
    if leaves is None:
        own = own_tree(judged, model, name)
    python, command = lines_of(judged, pruned)
    return PrunerPart(
        method=pruned.method,
        name=name,
        note=CHOSE if METHODS.get(pruned.method, METHODS["leaves"]).needs == "holdout" else "",
        n_leaves=tree.n_leaves,
        depth=tree.max_depth,
        train_error=None if np.isnan(on_fit) else on_fit,
        error=None if errors is None else float(errors.error[0]),
        standard_error=None if errors is None else float(errors.standard_error[0]),
        leaves=leaves or (),
        tree=own,
        confusion=None if by_nodes or not judged.is_classification else confusion_of(judged, model),
        python=python,
        command=command,
        command_note=HELD_OUT if pruned.takes_rows and not judged.seen else "",
    )


def own_tree(judged: Judged, model: Model, name: str) -> TreePart:
    """A pruned tree that is more than the page's with some nodes made leaves; a large one without its rules.

    It has no audits: its nodes are not those of the tree that the estimator grew.
    """
    part = tree_part(model, title=f"The tree, pruned: {name}")
    part = replace(tree_with_judges(part, replace(judged, model=model), audited=False), audit_note=OTHER_TREE)
    if part.n_nodes <= MAX_WITH_RULES:
        return part
    return replace(part, nodes=tuple(replace(node, rule=None) for node in part.nodes))


def leaves_made(before: Tree, model: Model) -> tuple[int, ...] | None:
    """Nodes that became leaves, the topmost; None where the pruned tree is more than that."""
    after = model.trees[0]
    if after is before:
        return ()
    log = model.prune_log
    if not isinstance(log, PruneLog) or "raise" in log.actions:
        return None
    made = collapse(before, log.nodes)
    names = ("feature", "threshold", "first_child", "n_samples", "value")
    if not all(np.array_equal(getattr(made, name), getattr(after, name), equal_nan=True) for name in names):
        return None
    cut = np.zeros(before.n_nodes, bool)
    cut[log.nodes] = True
    above = np.zeros(before.n_nodes, bool)
    for node in range(1, before.n_nodes):  # parents stand before their children
        parent = before.parent[node]
        above[node] = above[parent] or cut[parent]
    return tuple(np.flatnonzero(cut & ~above & ~before.is_leaf).tolist())


def confusion_of(judged: Judged, model: Model) -> Matrix:
    """Weight of the judged rows by true and predicted class of the first output."""
    n_classes = len(judged.model.classes[0])
    held = np.zeros((n_classes, n_classes))
    codes = predict_codes(model, judged.matrix)[:, 0]
    np.add.at(held, (judged.target[:, 0].astype(np.int64), codes), judged.weights)
    return tuple(map(tuple, held.tolist()))


def lines_of(judged: Judged, pruned: Pruned) -> tuple[str, str]:
    """What makes a pruner's tree, in Python and on the command line; empty for the tree as it is."""
    if pruned.method == WHOLE:
        return "", ""
    rows = "" if not pruned.takes_rows else ", X, y" + ("" if judged.weights_given is None else ", sample_weight")
    # The command line has no rows of the fit at hand.
    method = METHODS[pruned.method]
    needs = method.needs_rows(judged.model, method.options())
    data = "" if not needs else " DATA" if method.needs == "holdout" else " ROWS_OF_THE_FIT"
    weight = " --weight COLUMN" if needs and judged.weights_given is not None else ""
    called = "model" if judged.estimator is None else "est"
    return (
        f'{called}.prune("{method.name}"{rows})',
        f"treewright prune MODEL{data} --method {method.name.replace('_', '-')}{weight} --out pruned.tw",
    )
