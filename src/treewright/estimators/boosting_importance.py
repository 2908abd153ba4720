"""Importances by shuffling. In: a boosted model, its losses, rows. Out: ``Importances``.

Callers: estimators.boosting_verbs, cli.importances.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from treewright.core import progress
from treewright.data.memory import check_fits
from treewright.estimators.boosting_rows import OtherRows
from treewright.exceptions import DataError
from treewright.explain.ensemble import sizes_of
from treewright.forest.chance import COLUMNS, choose_columns
from treewright.forest.draws import seeds_of
from treewright.forest.importance_table import Importances
from treewright.predict.ensemble import scores_of
from treewright.predict.values import predict_codes, predict_numbers
from treewright.tree.model import ModelData

if TYPE_CHECKING:
    from treewright.boosting.losses import Loss


def permutation_importances(
    model: ModelData, losses: Sequence[Loss], rows: OtherRows, n_repeats: int, seed: int, n_jobs: int
) -> Importances:
    """The mean of ``rises_of_loss`` over the repeats, with its standard error; parameters and errors as there."""
    by_repeat = rises_of_loss(model, losses, rows, n_repeats, seed, n_jobs)
    errors = np.full(by_repeat.shape[1], np.nan)
    if n_repeats > 1:
        errors = by_repeat.std(axis=0, ddof=1) / np.sqrt(n_repeats)
    values = by_repeat.mean(axis=0)
    return Importances("permutation", model.task, model.schema.names, values, errors, n_repeats, sample="shuffle")


def rises_of_loss(
    model: ModelData, losses: Sequence[Loss], rows: OtherRows, n_repeats: int, seed: int, n_jobs: int
) -> np.ndarray:
    """How much the loss rises when a column is shuffled.

    Parameters
    ----------
    model : ModelData
        Boosted.
    losses : sequence of Loss
        One per target.
    rows : OtherRows
    n_repeats : int >= 1
    seed : int >= 0
    n_jobs : int

    Returns
    -------
    float64[n_repeats, p]
        Of the weighted mean loss; 0 for a column that no tree asks.

    Raises
    ------
    DataError
        The loss of the rows is beyond float64.
    TooLargeError
    """
    return rises_of(
        model, rows.matrix, lambda cells: mean_loss(losses, scores_of(model, cells, n_jobs), rows), n_repeats, seed
    )


def permutation_of_weighted_trees(
    model: ModelData, rows: OtherRows, n_repeats: int, seed: int, n_jobs: int
) -> Importances:
    """How much more trees with weights get wrong together when a column is shuffled, a mean over the repeats.

    Parameters
    ----------
    model : ModelData
        Of AdaBoost: of classes the share of wrong answers rises, of numbers the mean squared error.
    rows : OtherRows
    n_repeats : int >= 2
    seed : int >= 0
    n_jobs : int

    Raises
    ------
    DataError, TooLargeError
        As ``rises_of_loss``.
    """

    def error(cells: np.ndarray) -> float:
        if model.task == "classification":
            wrong = (predict_codes(model, cells, n_jobs) != rows.target).astype(np.float64)
        else:
            with np.errstate(over="ignore"):
                wrong = np.square(predict_numbers(model, cells, n_jobs) - rows.target)
        return float(np.average(wrong.mean(axis=1), weights=rows.weights))

    by_repeat = rises_of(model, rows.matrix, error, n_repeats, seed)
    errors = by_repeat.std(axis=0, ddof=1) / np.sqrt(n_repeats)
    return Importances(
        "error", model.task, model.schema.names, by_repeat.mean(axis=0), errors, n_repeats, sample="shuffle"
    )


def rises_of(
    model: ModelData, given: np.ndarray, error: Callable[[np.ndarray], float], n_repeats: int, seed: int
) -> np.ndarray:
    """How much a number that judges all trees together rises when a column is shuffled.

    Parameters
    ----------
    model : ModelData
    given : float64 or float32 [n, p]
        Encoded rows.
    error : callable
        Gives the number for such rows.
    n_repeats : int >= 1
    seed : int >= 0

    Returns
    -------
    float64[n_repeats, p]
        0 for a column that no tree asks.

    Raises
    ------
    DataError, TooLargeError
        As ``rises_of_loss``.
    """
    check_fits(8 * given.size, "a copy of the rows", "judge on fewer rows")
    matrix = np.array(given, order="F")
    before = error(matrix)
    if not np.isfinite(before):
        raise DataError("the loss of these rows is beyond float64, so a rise cannot be told")
    asked = np.flatnonzero(sizes_of(model).n_tests)
    found = np.zeros((n_repeats, len(model.schema)))
    order = np.empty(len(matrix), np.int32)
    for done, column in enumerate(asked.tolist()):
        own = matrix[:, column].copy()
        states = seeds_of(int(seeds_of(seed, column, 1)[0, COLUMNS]), 0, n_repeats)[:, COLUMNS]
        for repeat in range(n_repeats):
            order[:] = np.arange(len(matrix))
            choose_columns(states[repeat], len(order), len(order), order)
            matrix[:, column] = own[order]
            found[repeat, column] = error(matrix) - before
        matrix[:, column] = own
        progress.report((done + 1) / len(asked), "shuffling columns")
    return found


def mean_loss(losses: Sequence[Loss], scores: np.ndarray, rows: OtherRows) -> float:
    """The weighted mean over the rows, summed over the targets.

    Parameters
    ----------
    losses : sequence of Loss
    scores : float64[n, n_scores]
    rows : OtherRows
    """
    at, total = 0, 0.0
    for output, loss in enumerate(losses):
        own = np.ascontiguousarray(scores[:, at : at + loss.n_scores].T)
        values = loss.values(np.ascontiguousarray(rows.target[:, output]), own)
        total += float(np.average(values, weights=rows.weights))
        at += loss.n_scores
    return total
