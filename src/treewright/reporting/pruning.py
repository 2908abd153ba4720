"""The section of pruning: the pruning path, its errors, and the other pruners.

The path, its errors and the trees are those of ``model_selection.pruning_path`` and ``prune``: the same losses, weights
and folds (``evaluation.path``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from treewright.core.elementary import is_whole
from treewright.core.notices import listening
from treewright.core.threads import resolve_jobs
from treewright.data.take import count_rows
from treewright.data.target import check_weights, warn_of_small_weights
from treewright.evaluation.after_fit import without_steps
from treewright.evaluation.folds import Split, as_array, check_tested_once, folds_within, splits_of
from treewright.evaluation.path import (
    DEFAULT_FOLDS,
    FoldRows,
    GivenRows,
    View,
    along_path,
    by_encoded_rows,
    by_folds,
    depths_along,
    evaluation_rows,
    loss_of,
    mean_errors,
    step_by,
    whole_tree,
)
from treewright.evaluation.scores import WORDS
from treewright.exceptions import DataError, ParameterError, TreewrightError
from treewright.model import Model
from treewright.predict.ensemble import predict_codes
from treewright.predict.fractional import rows_with_missing
from treewright.prune.cost_complexity import Path, PathLoss, path_of, risks_along, subtree_at
from treewright.prune.costs import Risk, criterion_of
from treewright.prune.estimates import check_holdout
from treewright.prune.methods import METHODS, PruneLog
from treewright.reporting.data import Options, ReportData, estimator_of, kept_rows, tree_estimator
from treewright.reporting.tree import tree_with_test_rows
from treewright.show.page.parts import Matrix, PrunerPart, PruningPart, TreePart
from treewright.show.page.tree import MAX_NODES, tree_part
from treewright.trees.arrays import Tree, unfolded
from treewright.trees.edit import collapse
from treewright.trees.facts import cuts_of
from treewright.trees.summary import pruning_text
from treewright.trees.threshold import COST, cost_by_class

MAX_STEPS = 400
# There is a confusion matrix for each step up to so many numbers and predictions; a divided row costs as much as
# several whole ones.
MAX_CELLS, MAX_PREDICTIONS, DIVIDED_COST = 60_000, 20_000_000, 10
RISK: Risk = "impurity"
EncodedRows = tuple[np.ndarray, np.ndarray, "np.ndarray | None"]
WHOLE = "none"
MAX_WITH_RULES = 501  # nodes of a tree next to the page's own: rules are a third of its size
NAMES = {
    WHOLE: "the tree as it is",
    "reduced_error": "reduced error",
    "error_based": "error-based",
    "pessimistic": "pessimistic",
    "minimum_error": "minimum error",
    "significance": "significance",
    "description_length": "description length (MDL)",
}
OTHER_TREE = "Candidates are shown for the nodes of the tree before pruning, not of this one."
HELD_OUT = (
    "The rows (X and y, DATA) must be the test rows of this page. Rows that treewright fit --report held out are "
    "not in a file: to prune with them, split the table into two files first."
)
CHOSE = "This tree was chosen on the test rows: its error on them is too low."
NO_ROWS_ASIDE = "needs rows that the tree was not fitted on, and the test rows are the training rows"
PERHAPS_NOT = "needs rows that the tree was not fitted on, and the test rows may be the training rows"


def pruning_part(data: ReportData, options: Options) -> PruningPart | None:
    """The pruning path, its errors, and the other pruners.

    None for many trees, for neighbours, for a tree that is one leaf, and if impurities are beyond float64.
    """
    model = data.model
    if not isinstance(model, Model) or not model.is_single_tree or model.trees[0].n_leaves == 1:
        return None
    try:
        path = path_of(model, RISK)
    except ParameterError:
        return None
    with listening():  # every fold would repeat its warnings; what matters to a reader is in the notes
        judge = path_judge(data, options)
        others = pruned_models(data)
        errors, problem = _errors(judge, path, others)
        on_fit = judge.on_fit(model, path)
    notes = (*notes_on_fit(data), *judge.notes, *problem)
    own = errors[0]
    least, simple = (None, None) if own is None else (step_by("min", *own), step_by("1se", *own))
    steps = _kept(path, [step for step in (least, simple) if step is not None])
    by_nodes = _adds_up(data)
    matrices = None if by_nodes else _matrices(data, path, steps)
    called = "model" if data.estimator is None else "est"

    def places(numbers: np.ndarray) -> tuple[float, ...]:
        return tuple(numbers[steps].tolist())

    return PruningPart(
        n_steps=len(path.alphas),
        steps=tuple(steps),
        alphas=places(path.alphas),
        n_leaves=places(path.n_leaves),  # type: ignore[arg-type]
        depth=places(depths_along(model.trees[0], path)),  # type: ignore[arg-type]
        train_error=places(on_fit),
        error=None if own is None else places(own.error),
        standard_error=None if own is None else places(own.standard_error),
        loss=judge.loss if judge.by_class is None else "cost",
        loss_name=WORDS[judge.loss] if judge.by_class is None else f"{COST} (positive class: {model.positive})",
        judged_by="nothing" if own is None else judge.judged_by,
        n_folds=0 if own is None else len(judge.splits),
        n_judged=data.n,
        minimum=None if least is None else steps.index(least),
        one_se=None if simple is None else steps.index(simple),
        collapse_step=_collapse_steps(model, path),
        confusion=matrices,
        has_confusion=data.is_classification and (by_nodes or matrices is not None),
        python=f'{called}.prune("cost_complexity", alpha={{alpha}})',
        command="treewright prune MODEL --method cost-complexity --set alpha={alpha} --out pruned.tw",
        pruners=tuple(
            pruner_part(pruned, judge, found, by_nodes=by_nodes)
            for pruned, found in zip(others, errors[1:], strict=True)
        ),
        rows_name="the training rows" if data.seen else "the test rows",
        notes=notes,
    )


def _errors(judge: PathJudge, path: Path, others: list[Pruned]) -> tuple[list[Errors | None], list[str]]:
    """Errors of the path and of the pruners, None if a pruner is not defined; and what went wrong."""
    defined = [(pruned.model, pruned.view) for pruned in others if pruned.model is not None]
    try:
        try:
            found = judge.errors(path, defined)
        except ParameterError:
            # A pruner is not defined for a fold's tree: the path can still be evaluated.
            found = [*judge.errors(path, []), *(None for _ in defined)]
    except TreewrightError as error:
        return [None] * (1 + len(others)), [without_evaluation(error)]
    of_others = iter(found[1:])
    return [found[0], *(None if pruned.model is None else next(of_others) for pruned in others)], []


def _kept(path: Path, marked: list[int]) -> list[int]:
    """At most ``MAX_STEPS`` steps: both ends, the marked ones, the others by their leaves."""
    n_steps = len(path.alphas)
    if n_steps <= MAX_STEPS:
        return list(range(n_steps))
    wanted = np.geomspace(path.n_leaves[0], 1, MAX_STEPS - len(marked) - 2)
    # The leaves descend along the path.
    near = n_steps - 1 - np.searchsorted(path.n_leaves[::-1], wanted)
    return sorted({0, n_steps - 1, *marked, *np.clip(near, 0, n_steps - 1).tolist()})


def _collapse_steps(model: Model, path: Path) -> dict[str, int]:
    """The step from which on each inner node of the page is pruned."""
    shown = unfolded(model.trees[0], max_nodes=MAX_NODES)
    return {str(node): int(path.collapse_step[node]) for node in sorted(shown)}


def _adds_up(data: ReportData) -> bool:
    """Whether the confusion matrix of a subtree is the sum over the page's nodes."""
    divided = data.model.missing == "fractional" and len(rows_with_missing(data.matrix)) > 0
    return data.model.trees[0].n_nodes <= MAX_NODES and not divided


def _matrices(data: ReportData, path: Path, steps: list[int]) -> tuple[Matrix, ...] | None:
    """Weight of the test rows by true and predicted class for each step; None if that is too much."""
    if not data.is_classification:
        return None
    model, tree = data.model, data.model.trees[0]
    n_classes = len(model.classes[0])
    n_divided = len(rows_with_missing(data.matrix)) if model.missing == "fractional" else 0
    if len(steps) * n_classes**2 > MAX_CELLS or len(steps) * max(data.n, DIVIDED_COST * n_divided) > MAX_PREDICTIONS:
        return None
    return tuple(confusion_of(data, replace(model, trees=(subtree_at(tree, path, step),))) for step in steps)


class Errors(NamedTuple):
    """Mean losses and their standard errors, float64[m] each."""

    error: np.ndarray
    standard_error: np.ndarray


@dataclass(frozen=True, eq=False)
class PathJudge:
    """The rows that evaluate the path, and their folds if there are any."""

    data: ReportData
    loss: PathLoss
    scale: float  # divisor of numbers before their losses are summed; a power of 2
    by_class: np.ndarray | None  # of costs that chose the threshold: those of the true class, divided by ``unit``
    unit: float  # the largest of these costs, or 1
    stands_for: float  # number of rows that the weights represent
    rows: FoldRows
    learned: EncodedRows | None  # the training rows; None if they are not available
    encoded: EncodedRows | None  # the rows as held-out rows; None with folds
    splits: list[Split]  # (train, test); empty without folds
    recipe: Any  # an estimator that grows the trees of the folds, or None
    entries: tuple[Any, ...]  # the prunings after the fit, which the folds repeat
    n_threads: int
    notes: tuple[str, ...]

    @property
    def judged_by(self) -> str:
        """``"folds"``, ``"validation"`` or ``"nothing"``."""
        return "folds" if self.splits else "nothing" if self.encoded is None else "validation"

    def on_fit(self, model: Model, path: Path) -> np.ndarray:
        """Errors of subtrees on the training rows, float64[k]; nan if they are not known."""
        if self.learned is not None:
            found = by_encoded_rows(model, path, self.learned, self.scale, self.loss, self.by_class)
            return mean_errors(found, 1.0, self.scale * self.unit, self.loss)[0]
        if model.missing != "fractional" and (
            model.task == "classification" or criterion_of(model) == self.loss  # the impurity is the loss itself
        ):
            return risks_along(model, path, self.by_class) * self.unit
        return np.full(len(path.alphas), np.nan)

    def errors(self, path: Path, others: Sequence[tuple[Model, View | None]]) -> list[Errors | None]:
        """Errors of the subtrees of the path, then of other trees, each as it is; None for what cannot be evaluated.

        A view makes such a tree from the tree of a fold; None if folds cannot.
        """
        n_views = 1 + len(others)
        if self.splits:
            views = [along_path(path, RISK), *(view for _, view in others if view is not None)]
            found = iter(by_folds(self.grow, self.rows, self.splits, views, self.loss, self.n_threads))
            sums = [next(found), *(None if view is None else next(found) for _, view in others)]
        elif self.encoded is not None:
            pairs = [(self.data.model, path), *((model, whole_tree(model.trees[0])) for model, _ in others)]
            sums = [
                by_encoded_rows(model, own, self.encoded, self.scale, self.loss, self.by_class) for model, own in pairs
            ]
        else:
            return [None] * n_views
        return [
            None if one is None else Errors(*mean_errors(one, self.stands_for, self.scale * self.unit, self.loss))
            for one in sums
        ]

    def grow(self, X: Any, y: Any, weights: np.ndarray | None) -> Model:
        """Fit a tree on some rows in the same way as the evaluated one, with the same decision threshold."""
        model: Model = clone(self.recipe).fit(X, y, weights).model_
        for entry in self.entries:
            model = pruned_again(model, entry["method"], (X, y, weights), entry["options"])
        decides = self.data.model.threshold
        # A fold may lack a class: with one class there is nothing to decide.
        return model if decides is None or model.n_classes != (2,) else replace(model, threshold=decides)


def pruned_again(model: Model, method: str, rows: GivenRows, options: dict[str, Any] | None = None) -> Model:
    """A model pruned by a method that needs no held-out rows; infinite ``options`` are texts, as in facts."""
    given = {name: float(value) if value in ("inf", "nan") else value for name, value in (options or {}).items()}
    return model.prune(method, *(rows if METHODS[method].needs == "training" else ()), **given)


def path_judge(data: ReportData, options: Options) -> PathJudge:
    """What evaluates the path: folds if the rows are the training rows or folds are asked for, else the rows.

    Impossible folds are refused if they were asked for; else a note says so.
    """
    model, n = data.model, count_rows(data.target_given)
    weights = check_weights(data.weights_given, n)
    rows, stands_for = evaluation_rows(model, data.table, data.target_given, weights, n)
    costs, unit, by_class = cost_by_class(model), 1.0, None
    if costs is not None:
        unit = float(costs.max())
        by_class = costs / unit
        rows = rows._replace(cost=by_class[rows.truth[:, 0].astype(np.int64)])
    notes, learned = [], rows_of_fit(data)
    splits: list[Split] = []
    recipe, entries, encoded = None, (), None
    if options.cv is not None and (options.cv != "auto" or data.seen is not False):
        recipe, entries, more = recipe_of(data)
        notes += more
        if recipe is not None:
            splits, more = folds_of(data, options, n)
            notes += more
    elif data.seen is not True or options.cv is None:
        encoded = encoded_rows(data)
        try:
            check_holdout(model, encoded[1])
        except DataError as error:
            encoded = None
            notes.append(without_evaluation(error))
    if splits or encoded is not None:
        notes += notes_on_weights(stands_for, int((rows.weights > 0).sum()))
    return PathJudge(
        data=data,
        loss=loss_of(model, None),
        scale=rows.scale,
        by_class=by_class,
        unit=unit,
        stands_for=stands_for,
        rows=FoldRows(data.table, data.target_given, weights, rows),
        learned=learned,
        encoded=encoded,
        splits=splits,
        recipe=recipe,
        entries=entries,
        n_threads=resolve_jobs(options.n_jobs),
        notes=tuple(notes),
    )


def without_evaluation(error: Exception) -> str:
    """A note that says why there are only errors on the training rows."""
    return f"The subtrees are not evaluated: {str(error).rstrip('.')}."


def encoded_rows(data: ReportData) -> EncodedRows:
    """The test rows as a pruner takes them: with class weights as in the fit, without those of weight 0."""
    return data.model.encode_rows(data.table, data.target_given, data.weights_given, owner="report", routed=True)


def rows_of_fit(data: ReportData) -> EncodedRows | None:
    """The training rows: those that the estimator keeps, or the test rows if they are the same."""
    table = kept_rows(tree_estimator(data))
    if table is not None:
        return np.ascontiguousarray(table.matrix, np.float64), table.target[0], table.weights
    return encoded_rows(data) if data.seen else None


def recipe_of(data: ReportData) -> tuple[Any, tuple[Any, ...], list[str]]:
    """The estimator for the trees of folds, the prunings that they repeat, and notes about that."""
    grown = tree_estimator(data)  # ``entries`` repeat its prunings
    recipe = estimator_of(data.model) if grown is None else without_steps(grown)
    if recipe is None:
        return None, (), ["The subtrees are not evaluated: the model does not hold the parameters of its fit."]
    entries = entries_of(data.model)
    if entries is None:
        return recipe, (), ["The trees of the folds are not pruned first as this one was: the model does not hold how."]
    aside = [entry["method"] for entry in entries if METHODS[entry["method"]].needs == "holdout"]
    if aside:
        return recipe, (), [f"The trees of the folds are not pruned by {aside[0]} first: it needs held-out rows."]
    return recipe, entries, []


def entries_of(model: Model) -> tuple[dict[str, Any], ...] | None:
    """The prunings after the fit, first to last; None if the facts, perhaps of a file, do not hold them."""
    stated = model.facts.get("pruning") or []
    if not isinstance(stated, list | tuple):
        return None
    known = [
        entry for entry in stated
        if isinstance(entry, dict) and entry.get("method") in METHODS and isinstance(entry.get("options"), dict)
    ]  # fmt: skip
    return tuple(known) if len(known) == len(stated) else None


def folds_of(data: ReportData, options: Options, n: int) -> tuple[list[Split], list[str]]:
    """Folds of the test rows, and notes about them."""
    auto = isinstance(options.cv, str) and options.cv == "auto"
    cv = min(DEFAULT_FOLDS, n) if auto else options.cv
    classes = data.is_classification
    try:
        if is_whole(cv):
            cv = folds_within(cv, data.target_given, is_classification=classes, random_state=options.random_state)
        splits = splits_of(cv, data.target_given, is_classification=classes, random_state=options.random_state)
        check_tested_once(splits, len(as_array(data.target_given)))
    except TreewrightError as error:
        if not auto:
            raise
        return [], [without_evaluation(error)]
    return splits, []


def notes_on_weights(stands_for: float, n_judged: int) -> list[str]:
    """The warnings of ``pruning_path`` as notes."""
    with listening() as heard:
        warn_of_small_weights(stands_for, n_judged, "the standard error of the report")
    return [f"{text.rstrip('.')}." for text, _ in heard.heard.values()]


def notes_on_fit(data: ReportData) -> list[str]:
    """Notes about prunings before the path begins, and about class weights."""
    model, notes = data.model, []
    cuts = [pruning_text(entry) for entry in cuts_of(model.facts)]
    if cuts:
        notes.append(f"The tree is already pruned: {', then '.join(cuts)}. The path begins with the pruned tree.")
    if data.target.shape[1] > 1:
        notes.append("Errors are means over the outputs.")
    stated = model.facts.get("parameters")
    if isinstance(stated, dict) and stated.get("class_weight") is not None:
        notes.append("Errors weight each class by its class weight, as in the fit; a confusion matrix counts the rows.")
    own = {"ccp_alpha": 0.0, "confidence": None}
    for name, off in own.items():
        value = stated.get(name) if isinstance(stated, dict) else None
        if value is not None and value != off:
            notes.append(f"The fit itself pruned the tree ({name}={value!r}). The path begins with the pruned tree.")
    return notes


@dataclass(frozen=True, eq=False)
class Pruned:
    """The model as pruned by a method; ``model`` is None if the method is not defined for it."""

    method: str
    model: Model | None
    why_not: str = ""
    takes_rows: bool = False

    @property
    def view(self) -> View | None:
        """The same pruning for the tree of a fold; None if folds lack the rows."""
        if self.method == WHOLE:
            return lambda grown, rows: _as_it_is(grown)  # noqa: ARG005 - a View
        if METHODS[self.method].needs == "holdout":
            return None

        def view(grown: Model, rows: GivenRows) -> tuple[Model, Path, np.ndarray]:
            return _as_it_is(pruned_again(grown, self.method, rows))

        return view


def _as_it_is(model: Model) -> tuple[Model, Path, np.ndarray]:
    return model, whole_tree(model.trees[0]), np.zeros(1, np.int64)


def pruned_models(data: ReportData) -> list[Pruned]:
    """The tree as it is, and as pruned by every method."""
    return [Pruned(WHOLE, data.model), *(_pruned(data, name) for name in NAMES if name != WHOLE)]


def _pruned(data: ReportData, name: str) -> Pruned:
    """One pruner, with the rows that it needs."""
    model, needs = data.model, METHODS[name].needs
    given = (data.table, data.target_given, data.weights_given)
    if needs == "holdout" and data.seen is not False:
        return Pruned(name, None, NO_ROWS_ASIDE if data.seen else PERHAPS_NOT)
    try:
        if needs == "training" and METHODS[name].needs_rows(model, METHODS[name].options()):
            estimator = tree_estimator(data)
            if estimator is not None and kept_rows(estimator) is not None:
                return Pruned(name, estimator.prune(name).model_)
            if not data.seen:
                return Pruned(name, None, "needs the training rows, which are not available")
            return Pruned(name, model.prune(name, *given), takes_rows=True)
        if needs == "holdout":
            return Pruned(name, model.prune(name, *given), takes_rows=True)
        return Pruned(name, model.prune(name))
    except (ParameterError, DataError) as error:
        return Pruned(name, None, str(error).removeprefix(f"{name} "))


def pruner_part(pruned: Pruned, judge: PathJudge, errors: Errors | None, *, by_nodes: bool) -> PrunerPart:
    """A pruner as the page shows it; ``by_nodes``: the confusion matrix of a tree is the sum over its leaves."""
    data, model = judge.data, pruned.model
    name = NAMES[pruned.method]
    if model is None:
        return PrunerPart(pruned.method, name, why_not=pruned.why_not)
    tree = model.trees[0]
    on_fit = float(judge.on_fit(model, whole_tree(tree))[0])
    leaves = leaves_made(data.model.trees[0], model)
    own = None
    if leaves is None:
        own = own_tree(data, model, name)
    python, command = lines_of(data, pruned)
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
        confusion=None if by_nodes or not data.is_classification else confusion_of(data, model),
        python=python,
        command=command,
        command_note=HELD_OUT if pruned.takes_rows and not data.seen else "",
    )


def own_tree(data: ReportData, model: Model, name: str) -> TreePart:
    """A pruned tree that is not just the page's tree with some nodes made leaves; a large one without its rules.

    It has no audits: its nodes are not those of the estimator's tree.
    """
    part = tree_part(model, title=f"The tree, pruned: {name}")
    part = replace(tree_with_test_rows(part, replace(data, model=model), audited=False), audit_note=OTHER_TREE)
    if part.n_nodes <= MAX_WITH_RULES:
        return part
    return replace(part, nodes=tuple(replace(node, rule=None) for node in part.nodes))


def leaves_made(before: Tree, model: Model) -> tuple[int, ...] | None:
    """The topmost nodes that became leaves; None if the pruning changed the tree in another way."""
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
    for node in range(1, before.n_nodes):  # parents come before their children
        parent = before.parent[node]
        above[node] = above[parent] or cut[parent]
    return tuple(np.flatnonzero(cut & ~above & ~before.is_leaf).tolist())


def confusion_of(data: ReportData, model: Model) -> Matrix:
    """Weight of the test rows by true and predicted class of the first output."""
    n_classes = len(data.model.classes[0])
    held = np.zeros((n_classes, n_classes))
    codes = predict_codes(model, data.matrix)[:, 0]
    np.add.at(held, (data.target[:, 0].astype(np.int64), codes), data.weights)
    return tuple(map(tuple, held.tolist()))


def lines_of(data: ReportData, pruned: Pruned) -> tuple[str, str]:
    """The lines that make a pruner's tree, in Python and on the command line; empty for the tree as it is."""
    if pruned.method == WHOLE:
        return "", ""
    rows = "" if not pruned.takes_rows else ", X, y" + ("" if data.weights_given is None else ", sample_weight")
    # The command line does not have the training rows.
    method = METHODS[pruned.method]
    needs = method.needs_rows(data.model, method.options())
    given = "" if not needs else " DATA" if method.needs == "holdout" else " TRAINING_ROWS"
    weight = " --weight COLUMN" if needs and data.weights_given is not None else ""
    called = "model" if data.estimator is None else "est"
    return (
        f'{called}.prune("{method.name}"{rows})',
        f"treewright prune MODEL{given} --method {method.name.replace('_', '-')}{weight} --out pruned.tw",
    )
