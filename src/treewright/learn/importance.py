"""Permutation importance. In: encoded rows, an error of the predictions. Out: its rises, ``Importances``.

Breiman 2001, "Random forests", Machine Learning 45, section 10, for a model as a whole: all trees predict together.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.core import progress
from treewright.data.derived import derived_cells, is_derived
from treewright.data.memory import check_fits
from treewright.data.schema import Column
from treewright.exceptions import DataError
from treewright.forest.draws import COLUMNS, choose_columns, seeds_of
from treewright.forest.importance import Importances
from treewright.predict.ensemble import scores_of
from treewright.predict.values import predict_codes, predict_numbers
from treewright.prune.methods import Rows
from treewright.trees.data import ModelData, sizes_of
from treewright.trees.threshold import cost_by_class

if TYPE_CHECKING:
    from treewright.boosting.losses import Loss


WRONG = "increase of the misclassification rate when the column is shuffled"
COSTS = "increase of the cost per row when the column is shuffled"
SQUARED = "increase of the squared error when the column is shuffled"


def rises_of(
    error: Callable[[np.ndarray], float], given: np.ndarray, asked: np.ndarray, n_repeats: int, seed: int,
    columns: Sequence[Column] = (),
) -> np.ndarray:  # fmt: skip
    """How much an error of all predictions rises when a column is shuffled.

    Columns derived from it (``data.derived``) are computed anew from the shuffled one; they are not shuffled
    themselves, as no table has them.

    Parameters
    ----------
    error : callable
        Returns the error for encoded rows.
    given : float64 or float32 [n, p]
        Encoded rows.
    asked : int64[k]
        The columns that are shuffled: those that the model uses.
    n_repeats : int >= 1
    seed : int >= 0
    columns : sequence of p Column, optional
        Those of the model, if some may be derived.

    Returns
    -------
    float64[n_repeats, p]
        0 for a column that is not used.

    Raises
    ------
    DataError
        The error is beyond float64, for the rows as they are or with a column shuffled.
    TooLargeError
    """
    check_fits(8 * given.size, "a copy of the rows", "judge on fewer rows")
    matrix = np.array(given, order="F")
    before = error(matrix)
    if not np.isfinite(before):
        raise DataError("the loss of these rows is beyond float64, so its rise cannot be computed")
    found = np.zeros((n_repeats, given.shape[1]))
    order = np.empty(len(matrix), np.int32)
    derived = {at: each for at, each in enumerate(columns) if is_derived(each)}
    sources = {at for made in asked.tolist() if made in derived for at in derived[made].sources}
    shuffled = sorted(({*asked.tolist()} | sources) - {*derived})
    for done, column in enumerate(shuffled):
        made_of_it = [at for at, each in derived.items() if column in each.sources]
        own, made = matrix[:, column].copy(), matrix[:, made_of_it].copy()
        states = seeds_of(int(seeds_of(seed, column, 1)[0, COLUMNS]), 0, n_repeats)[:, COLUMNS]
        for repeat in range(n_repeats):
            order[:] = np.arange(len(matrix))
            choose_columns(states[repeat], len(order), len(order), order)
            matrix[:, column] = own[order]
            for place, at in enumerate(made_of_it):
                alone = len(derived[at].sources) == 1
                matrix[:, at] = made[order, place] if alone else derived_cells(columns, at, matrix)
            found[repeat, column] = error(matrix) - before
        matrix[:, column], matrix[:, made_of_it] = own, made
        progress.report((done + 1) / len(shuffled), "shuffling columns")
    if not np.isfinite(found).all():
        raise DataError("the loss of these rows with a column shuffled is beyond float64: its rise cannot be computed")
    return found


def error_of_answers(
    said: Callable[[np.ndarray], np.ndarray], task: str, target: np.ndarray, weights: np.ndarray | None,
    by_class: np.ndarray | None = None,
) -> Callable[[np.ndarray], float]:  # fmt: skip
    """Return a function from rows to the error of the predictions: misclassification rate, cost or mean squared error.

    Parameters
    ----------
    said : callable
        Returns int[n, n_outputs] class codes, or float64[n, n_outputs], for encoded rows.
    task : {"classification", "regression"}
    target : int32[n, n_outputs] or float64[n, n_outputs]
    weights : float64[n], > 0, or None
    by_class : float64[2], optional
        What a wrong prediction costs, by the true class (``threshold.cost_by_class``).
    """

    def error(cells: np.ndarray) -> float:
        answers = said(cells)
        if task == "classification":
            wrong = (answers != target).astype(np.float64)
            if by_class is not None:
                wrong *= by_class[target]
        else:
            with np.errstate(over="ignore"):
                wrong = np.square(answers - target)
        return float(np.average(wrong.mean(axis=1), weights=weights))

    return error


def permutation_of_trees(
    model: ModelData, matrix: np.ndarray, target: np.ndarray, weights: np.ndarray | None, *, n_repeats: int, seed: int,
    n_jobs: int | None, kind: str = "permutation", what: str | None = None, among: np.ndarray | None = None,
) -> Importances:  # fmt: skip
    """How much the error of all trees together rises when a column is shuffled, a mean over the repeats.

    If costs chose the decision threshold of the model, the error is the cost of the mistakes.

    Parameters
    ----------
    model : ModelData
        Of one or many trees, whose predictions are labels or means.
    matrix : float64[n, p]
    target : int32[n, n_outputs] or float64[n, n_outputs]
    weights : float64[n], > 0, or None
    n_repeats : int >= 1
    seed : int >= 0
    n_jobs : int or None
    kind, what : str
        As ``Importances`` has them.
    among : bool[p], optional
        Only these columns are shuffled; the rise of the others is 0.

    Raises
    ------
    DataError, TooLargeError
        As ``rises_of``.
    """
    is_classes, by_class = model.task == "classification", cost_by_class(model)
    if what is None or by_class is not None:
        what = SQUARED if not is_classes else WRONG if by_class is None else COSTS
    answers = predict_codes if is_classes else predict_numbers
    error = error_of_answers(lambda cells: answers(model, cells, n_jobs), model.task, target, weights, by_class)
    # A surrogate test may replace a test on a missing cell, so any column can change a prediction.
    asked = np.arange(len(model.schema)) if model.missing == "surrogate" else np.flatnonzero(sizes_of(model).n_tests)
    if among is not None:
        asked = asked[among[asked]]
    made_of = model.schema.columns if model.has_scores else ()  # boosted trees have derived columns
    by_repeat = rises_of(error, matrix, asked, n_repeats, seed, made_of)
    return mean_of_repeats(by_repeat, model.task, model.schema.names, kind, what)


def mean_of_repeats(by_repeat: np.ndarray, task: Any, names: tuple[Hashable, ...], kind: str, what: str) -> Importances:
    """Return the means over the shuffles with their standard errors.

    Parameters
    ----------
    by_repeat : float64[n_repeats, p]
    task : {"classification", "regression"}
    names : tuple
        Of the columns.
    kind : str
        As ``Importances.kind``.
    what : str
        What the values are; empty if the kind says it.
    """
    n_repeats = len(by_repeat)
    # Sums and squares of numbers near the end of float64 overflow; powers of two change no digit.
    exponents = np.frexp(np.abs(by_repeat).max(axis=0))[1]
    small = np.ldexp(by_repeat, -exponents)
    errors = np.full(by_repeat.shape[1], np.nan)
    if n_repeats > 1:
        errors = np.ldexp(small.std(axis=0, ddof=1) / np.sqrt(n_repeats), exponents)
    means = np.ldexp(small.mean(axis=0), exponents)
    return Importances(kind, task, names, means, errors, n_repeats, sample="shuffle", what=what)


def permutation_importances(
    model: ModelData, losses: Sequence[Loss], rows: Rows, n_repeats: int, seed: int, n_jobs: int,
    among: np.ndarray | None = None,
) -> Importances:  # fmt: skip
    """The mean of ``rises_of_loss`` over the repeats, with its standard error; parameters and errors as there."""
    by_repeat = rises_of_loss(model, losses, rows, n_repeats, seed, n_jobs, among)
    return mean_of_repeats(by_repeat, model.task, model.schema.names, "permutation", "")


def rises_of_loss(
    model: ModelData, losses: Sequence[Loss], rows: Rows, n_repeats: int, seed: int, n_jobs: int,
    among: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """How much the loss rises when a column is shuffled.

    Parameters
    ----------
    model : ModelData
        Boosted.
    losses : sequence of Loss
        One per target.
    rows : Rows
    n_repeats : int >= 1
    seed : int >= 0
    n_jobs : int
    among : bool[p], optional
        Only these columns are shuffled.

    Returns
    -------
    float64[n_repeats, p]
        Of the weighted mean loss; 0 for a column that no tree uses, or that is not shuffled.

    Raises
    ------
    DataError
        The loss of the rows is beyond float64.
    TooLargeError
    """
    asked = np.flatnonzero(sizes_of(model).n_tests if among is None else sizes_of(model).n_tests * among)
    return rises_of(
        lambda cells: mean_loss(losses, scores_of(model, cells, n_jobs), rows), rows.matrix, asked, n_repeats, seed,
        model.schema.columns,
    )  # fmt: skip


def permutation_of_weighted_trees(model: ModelData, rows: Rows, n_repeats: int, seed: int, n_jobs: int) -> Importances:
    """How much the error of weighted trees together rises when a column is shuffled, a mean over the repeats.

    Parameters
    ----------
    model : ModelData
        Of AdaBoost: the error is the misclassification rate, or the mean squared error.
    rows : Rows
    n_repeats : int >= 2
    seed : int >= 0
    n_jobs : int

    Raises
    ------
    DataError, TooLargeError
        As ``rises_of_loss``.
    """
    return permutation_of_trees(
        model, rows.matrix, rows.target, rows.weights, n_repeats=n_repeats, seed=seed, n_jobs=n_jobs, kind="error",
        what="",
    )  # fmt: skip


def mean_loss(losses: Sequence[Loss], scores: np.ndarray, rows: Rows) -> float:
    """The weighted mean over the rows, summed over the targets.

    Parameters
    ----------
    losses : sequence of Loss
    scores : float64[n, n_scores]
    rows : Rows
    """
    at, total = 0, 0.0
    for output, loss in enumerate(losses):
        own = np.ascontiguousarray(scores[:, at : at + loss.n_scores].T)
        values = loss.values(np.ascontiguousarray(rows.target[:, output]), own)
        total += float(np.average(values, weights=rows.weights))
        at += loss.n_scores
    return total
