"""How far the tree can be cut back. In: ``Judged``, ``Options``. Out: ``PruningPart``. Caller: reporting.summary.

The path, its errors and the trees are those of ``model_selection.pruning_path`` and ``prune``; the page shows them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from treewright.core.notices import listening
from treewright.exceptions import ParameterError, TreewrightError
from treewright.fitted import Model
from treewright.judge.scores import WORDS
from treewright.model_selection.path import step_by
from treewright.model_selection.path_judges import depths_along
from treewright.page.parts_pruning import Matrix, PruningPart
from treewright.page.tree_part import MAX_NODES
from treewright.predict.fractional import rows_with_missing
from treewright.prune.cost_complexity import Path, path_of, subtree_at
from treewright.reporting.judged import Judged
from treewright.reporting.options import Options
from treewright.reporting.pruning_judges import (
    RISK,
    Errors,
    PathJudge,
    notes_on_fit,
    nothing_judges,
    path_judge,
)
from treewright.reporting.pruning_others import Pruned, confusion_of, pruned_models, pruner_part
from treewright.tree.walk import unfolded

MAX_STEPS = 400
# A confusion matrix for each step is written down up to so many numbers and predictions; a divided row costs as much as
# some whole ones.
MAX_CELLS, MAX_PREDICTIONS, DIVIDED_COST = 60_000, 20_000_000, 10


def pruning_part(judged: Judged, options: Options) -> PruningPart | None:
    """Work out the path, who judges it, and the other pruners.

    Parameters
    ----------
    judged : Judged
    options : Options

    Returns
    -------
    PruningPart or None
        None for many trees, for neighbours, for a tree that is one leaf, and where impurities are beyond float64.

    Raises
    ------
    ParameterError, DataError
        ``options.cv`` asks for folds that cannot be.
    """
    model = judged.model
    if not model.is_single_tree or model.trees[0].n_leaves == 1:
        return None
    try:
        path = path_of(model, RISK)
    except ParameterError:
        return None
    with listening():  # folds that a table does not suit warn each; what matters to a reader is among the notes
        judge = path_judge(judged, options)
        others = pruned_models(judged)
        errors, problem = _errors(judge, path, others)
        on_fit = judge.on_fit(model, path)
    notes = (*notes_on_fit(judged), *judge.notes, *problem)
    own = errors[0]
    least, simple = (None, None) if own is None else (step_by("min", *own), step_by("1se", *own))
    steps = _kept(path, [step for step in (least, simple) if step is not None])
    by_nodes = _adds_up(judged)
    matrices = None if by_nodes else _matrices(judged, path, steps)
    called = "model" if judged.estimator is None else "est"

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
        loss=judge.loss,
        loss_name=WORDS[judge.loss],
        judged_by="nothing" if own is None else judge.judged_by,
        n_folds=0 if own is None else len(judge.splits),
        n_judged=judged.n,
        minimum=None if least is None else steps.index(least),
        one_se=None if simple is None else steps.index(simple),
        collapse_step=_collapse_steps(model, path),
        confusion=matrices,
        has_confusion=judged.is_classification and (by_nodes or matrices is not None),
        python=f'{called}.prune("cost_complexity", alpha={{alpha}})',
        command="treewright prune MODEL --method cost-complexity --set alpha={alpha} --out pruned.tw",
        pruners=tuple(
            pruner_part(pruned, judge, found, by_nodes=by_nodes)
            for pruned, found in zip(others, errors[1:], strict=True)
        ),
        rows_name="the rows of the fit" if judged.seen else "the judged rows",
        notes=notes,
    )


def _errors(judge: PathJudge, path: Path, others: list[Pruned]) -> tuple[list[Errors | None], list[str]]:
    """Errors of the path and of the pruners, None where a pruner is not defined; and what went wrong."""
    defined = [(pruned.model, pruned.view) for pruned in others if pruned.model is not None]
    try:
        try:
            found = judge.errors(path, defined)
        except ParameterError:
            # A pruner that a fold's tree does not suit: the path can be judged nevertheless.
            found = [*judge.errors(path, []), *(None for _ in defined)]
    except TreewrightError as error:
        return [None] * (1 + len(others)), [nothing_judges(error)]
    of_others = iter(found[1:])
    return [found[0], *(None if pruned.model is None else next(of_others) for pruned in others)], []


def _kept(path: Path, marked: list[int]) -> list[int]:
    """At most ``MAX_STEPS`` steps: both ends, those that are marked, the others by their leaves."""
    n_steps = len(path.alphas)
    if n_steps <= MAX_STEPS:
        return list(range(n_steps))
    wanted = np.geomspace(path.n_leaves[0], 1, MAX_STEPS - len(marked) - 2)
    # The leaves descend along the path.
    near = n_steps - 1 - np.searchsorted(path.n_leaves[::-1], wanted)
    return sorted({0, n_steps - 1, *marked, *np.clip(near, 0, n_steps - 1).tolist()})


def _collapse_steps(model: Model, path: Path) -> dict[str, int]:
    """The step from which on each inner node of the page is none."""
    shown = unfolded(model.trees[0], max_nodes=MAX_NODES)
    return {str(node): int(path.collapse_step[node]) for node in sorted(shown)}


def _adds_up(judged: Judged) -> bool:
    """Whether the confusion matrix of a subtree is the sum of what the page's nodes hold."""
    divided = judged.model.missing == "fractional" and len(rows_with_missing(judged.matrix)) > 0
    return judged.model.trees[0].n_nodes <= MAX_NODES and not divided


def _matrices(judged: Judged, path: Path, steps: list[int]) -> tuple[Matrix, ...] | None:
    """Weight of the judged rows by true and predicted class for each step; None where that is too much."""
    if not judged.is_classification:
        return None
    model, tree = judged.model, judged.model.trees[0]
    n_classes = len(model.classes[0])
    n_divided = len(rows_with_missing(judged.matrix)) if model.missing == "fractional" else 0
    if len(steps) * n_classes**2 > MAX_CELLS or len(steps) * max(judged.n, DIVIDED_COST * n_divided) > MAX_PREDICTIONS:
        return None
    return tuple(confusion_of(judged, replace(model, trees=(subtree_at(tree, path, step),))) for step in steps)
