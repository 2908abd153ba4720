"""Importances by shuffling. In: a boosted model, its losses, rows. Out: ``Importances``.

Callers: estimators.boosting_verbs, cli.importances.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from treewright.estimators.boosting_rows import OtherRows
from treewright.estimators.shuffled import mean_of_repeats, permutation_of_trees, rises_of
from treewright.explain.ensemble import sizes_of
from treewright.forest.importance_table import Importances
from treewright.predict.ensemble import scores_of
from treewright.tree.model import ModelData

if TYPE_CHECKING:
    from treewright.boosting.losses import Loss


def permutation_importances(
    model: ModelData, losses: Sequence[Loss], rows: OtherRows, n_repeats: int, seed: int, n_jobs: int,
    among: np.ndarray | None = None,
) -> Importances:  # fmt: skip
    """The mean of ``rises_of_loss`` over the repeats, with its standard error; parameters and errors as there."""
    by_repeat = rises_of_loss(model, losses, rows, n_repeats, seed, n_jobs, among)
    return mean_of_repeats(by_repeat, model.task, model.schema.names, "permutation", "")


def rises_of_loss(
    model: ModelData, losses: Sequence[Loss], rows: OtherRows, n_repeats: int, seed: int, n_jobs: int,
    among: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
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
    among : bool[p], optional
        Only these columns are shuffled.

    Returns
    -------
    float64[n_repeats, p]
        Of the weighted mean loss; 0 for a column that no tree asks, or that is not shuffled.

    Raises
    ------
    DataError
        The loss of the rows is beyond float64.
    TooLargeError
    """
    asked = np.flatnonzero(sizes_of(model).n_tests if among is None else sizes_of(model).n_tests * among)
    return rises_of(
        lambda cells: mean_loss(losses, scores_of(model, cells, n_jobs), rows), rows.matrix, asked, n_repeats, seed
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
    return permutation_of_trees(
        model, rows.matrix, rows.target, rows.weights, n_repeats=n_repeats, seed=seed, n_jobs=n_jobs, kind="error",
        what="",
    )  # fmt: skip


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
