"""What judges subtrees: the rows of the fit, folds, rows kept aside. In: models, rows. Out: losses, mean errors.

Callers: model_selection.path, reporting.

A fold is grown once; the errors of all subtrees of a path are read off that one tree (``prune.path_errors``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from treewright.core.notices import Notices, listening
from treewright.core.threads import run_each
from treewright.data.target import check_weights, encode_labels, recode
from treewright.data.weights import class_factors, weighed
from treewright.model import Model
from treewright.model_selection.folds import Split
from treewright.model_selection.judged_rows import JudgedRows, in_own_unit, in_units, judged_labels, judged_numbers
from treewright.model_selection.losses import check_loss, standard_error_of_mean
from treewright.model_selection.rows import count_rows, take_rows
from treewright.prune.path import Path, path_of
from treewright.prune.path_errors import PathLoss, PathLosses, path_losses
from treewright.prune.reduced_error import check_holdout
from treewright.prune.risk import Risk
from treewright.tree.arrays import Tree

GivenRows = tuple[Any, Any, np.ndarray | None]
# Grows a tree on rows of the table: X, y, their weights.
Grow = Callable[[Any, Any, "np.ndarray | None"], Model]
# What is judged of a tree that was grown on these rows: a model, its path, the steps of it.
View = Callable[[Model, GivenRows], tuple[Model, Path, np.ndarray]]


class FoldRows(NamedTuple):
    """The rows as given, with the weights that were given (float64[n] or None), and as judges."""

    X: Any
    y: Any
    weights: np.ndarray | None
    judged: JudgedRows


def loss_of(model: Model, loss: PathLoss | None) -> PathLoss:
    """The loss, checked; what goes with the tree where none is given."""
    known: tuple[PathLoss, ...] = ("misclassification",)
    if model.task == "regression":
        known = ("squared_error", "absolute_error")
        if model.facts.get("criterion") == "absolute_error":
            known = known[::-1]
    return check_loss(loss, is_classification=model.task == "classification", known=known)  # type: ignore[return-value]


def rows_that_judge(model: Model, X: Any, y: Any, weights: np.ndarray | None, n: int) -> tuple[JudgedRows, float]:
    """The rows as judges, weighed as given and by class; and how many rows these weights stand for.

    The second is the sum of the weights as given, of the rows that count: a class weight says how much a class
    matters, not how many rows there are, so that a factor common to all classes changes nothing.
    """
    given = np.ones(n) if weights is None else weights
    if model.task == "regression":
        rows, held = judged_numbers(X, y, given), given
    else:
        rows = judged_labels(X, y, given, model.classes)
        codes = rows.labels.codes  # type: ignore[union-attr]
        found = weighed(weights, class_factors(model.facts, codes, model.classes), codes)
        held = given if found is None else found
    return rows._replace(weights=in_units(held)), float(given[held > 0].sum())


def along_path(path: Path, risk: Risk) -> View:
    """The view of a path: a fold's own path at the prices that stand for the path's steps.

    Its k-th subtree is wanted for prices from alpha_k to alpha_(k+1) and stands for their geometric mean.
    """
    prices = np.append(np.sqrt(path.alphas[:-1]) * np.sqrt(path.alphas[1:]), np.inf)

    def view(model: Model, rows: GivenRows) -> tuple[Model, Path, np.ndarray]:  # noqa: ARG001 - a View
        own = path_of(model, risk)
        return model, own, np.array([own.step_at(price) for price in prices], np.int64)

    return view


def whole_tree(tree: Tree) -> Path:
    """A path of one step that cuts nothing: a tree as it is."""
    return Path(np.zeros(1), np.array([tree.n_leaves]), np.full(1, np.nan), np.where(tree.is_leaf, 0, 1))


def by_folds(
    grow: Grow, rows: FoldRows, splits: list[Split], views: Sequence[View], loss: PathLoss, n_threads: int
) -> list[PathLosses]:
    """Losses of all rows, each by the trees of the fold that it was kept out of; for each view.

    What the folds warn of is told once of each sort, in the caller's thread.
    """
    of_folds: list[list[PathLosses]] = [[]] * len(splits)
    said: list[Notices] = [Notices()] * len(splits)

    def judge(fold: int, thread: int) -> None:  # noqa: ARG001 - the threads share nothing
        train, test = splits[fold]
        weights = None if rows.weights is None else rows.weights[train]
        given = take_rows(rows.X, train), take_rows(rows.y, train), weights
        try:
            with listening() as said[fold]:
                grown = grow(*given)
                of_folds[fold] = [rows.judged.losses(*view(grown, given), test, loss) for view in views]
        except Exception as error:
            error.add_note(f"in fold {fold} of {len(splits)}, counted from 0")
            raise

    run_each(judge, len(splits), n_threads)
    told = Notices()
    for notices in said:
        for site, (text, _) in notices.heard.items():
            told.add(site, text)
    told.tell(len(splits), "folds")
    # Summed in the order of the folds, whoever was first.
    return [
        PathLosses(
            np.sum([one.loss for one in of_view], axis=0),
            np.sum([one.square for one in of_view], axis=0),
            float(sum(one.weight for one in of_view)),
        )
        for of_view in zip(*of_folds, strict=True)
    ]


def by_rows_aside(
    model: Model, path: Path, validation: Any, scale: float, loss: PathLoss, *, owner: str = "pruning_path"
) -> tuple[PathLosses, float, int]:
    """Losses of rows kept aside, how many rows their weights stand for, and how many count.

    Their subtrees are those of the path itself.

    Raises
    ------
    DataError
        Rows were refused, or are all of one class: the smallest tree would look perfect.
    """
    matrix, target, weights = model.encode_rows(*validation, owner=owner, routed=True)
    check_holdout(model, target)
    return (
        by_encoded_rows(model, path, (matrix, target, weights), scale, loss),
        _stands_for(model, *validation),
        len(matrix),
    )


def by_encoded_rows(
    model: Model, path: Path, rows: tuple[np.ndarray, np.ndarray, np.ndarray | None], scale: float, loss: PathLoss
) -> PathLosses:
    """Losses of rows as ``Model.encode_rows`` gives them, under every subtree of the model's path."""
    matrix, target, weights = rows
    weights = np.ones(len(matrix)) if weights is None else weights
    with np.errstate(over="ignore"):
        truth = np.asarray(target / scale, np.float64)
    return path_losses(model, path, np.arange(len(path.alphas)), matrix, truth, in_units(weights), loss, scale=scale)


def _stands_for(model: Model, X: Any, y: Any, weights: Any = None) -> float:
    """How many rows the weights of rows kept aside stand for, as ``rows_that_judge`` counts them."""
    n = count_rows(X)
    given = check_weights(weights, n)
    given = np.ones(n) if given is None else given
    if model.task == "regression":
        return float(given.sum())
    codes = recode(encode_labels(y), model.classes)
    held = weighed(given, class_factors(model.facts, codes, model.classes), codes)
    return float(given[given > 0 if held is None else held > 0].sum())


def mean_errors(sums: PathLosses, n: float, scale: float, loss: PathLoss) -> tuple[np.ndarray, np.ndarray]:
    """Means of the losses, and their standard errors over ``n`` rows, in the target's own unit.

    Raises
    ------
    DataError
        They are beyond float64.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        mean = sums.loss / sums.weight
        # Divided before it is subtracted: a sum of weights may be near the end of float64.
        around = np.maximum(sums.square / sums.weight - mean * mean, 0.0)
        spread = standard_error_of_mean(around, n)
    return in_own_unit(mean, scale, loss), in_own_unit(spread, scale, loss)


def depths_along(tree: Tree, path: Path) -> np.ndarray:
    """Depth of each subtree of a path, int64[k]."""
    inner = ~tree.is_leaf
    deepest = np.zeros(len(path.alphas) + 1, np.int64)
    np.maximum.at(deepest, path.collapse_step[inner], tree.depth[inner].astype(np.int64) + 1)
    # A node is an inner one in the subtrees before its step.
    return np.asarray(np.maximum.accumulate(deepest[::-1])[::-1][1:])
