"""How much a model leans on each column. In: judged rows. Out: ``Importances``. Caller: reporting.columns_part.

The model as a whole is judged on the rows of the report, with one column at a time shuffled: the same function that
``importances("permutation", X, y)`` of single and of boosted trees calls.
"""

from __future__ import annotations

import numpy as np

from treewright.boosting.fewer_rounds import losses_of_model
from treewright.core.threads import resolve_jobs
from treewright.exceptions import DataError, TooLargeError
from treewright.forest.importance_table import Importances
from treewright.learn.importance import (
    SQUARED,
    WRONG,
    error_of_answers,
    mean_of_repeats,
    permutation_importances,
    permutation_of_trees,
    rises_of,
)
from treewright.prune.methods import Rows
from treewright.prune.methods import Rows as OtherRows
from treewright.reporting.judged import Judged

REPEATS = 5


def shuffled(
    judged: Judged, rows: np.ndarray, among: np.ndarray | None = None, *, seed: int = 0, n_jobs: int | None = None
) -> Importances | None:
    """Return how much worse the model is when a column is shuffled among some rows, over five shuffles.

    Parameters
    ----------
    judged : Judged
    rows : int64[m]
        The rows among which it is.
    among : bool[p], optional
        Only these columns are shuffled, the rise of the others is 0; all of nearest neighbours.
    seed : int >= 0
    n_jobs : int or None

    Returns
    -------
    Importances or None
        Boosted trees: the rise of the loss that they were grown to lower. Others: of the share of wrong answers, or of
        the squared error. None where that cannot be told: errors beyond float64, or a loss that is a function unknown
        here.
    """
    model = judged.model
    matrix, target, weights = judged.matrix[rows], judged.target[rows], judged.weights[rows]
    own = None if (weights == weights[0]).all() else weights
    n_threads = resolve_jobs(n_jobs)
    try:
        if judged.is_neighbors:
            return _of_neighbors(judged, matrix, target, own, seed)
        if model.has_scores:
            losses = getattr(judged.estimator, "_bound", None) or losses_of_model(model, Rows(matrix, target, own))
            others = OtherRows(matrix, target, own)
            return permutation_importances(model, losses, others, REPEATS, seed, n_threads, among) if losses else None
        return permutation_of_trees(
            model, matrix, target, own, n_repeats=REPEATS, seed=seed, n_jobs=n_threads, among=among
        )
    except (DataError, TooLargeError):
        return None


def _of_neighbors(
    judged: Judged, matrix: np.ndarray, target: np.ndarray, weights: np.ndarray | None, seed: int
) -> Importances:
    """Of nearest neighbours: every column is asked."""
    model = judged.model
    answers = model.codes_of if judged.is_classification else model.numbers_of
    error = error_of_answers(lambda cells: answers(np.ascontiguousarray(cells)), model.task, target, weights)
    by_repeat = rises_of(error, matrix, np.arange(matrix.shape[1]), REPEATS, seed)
    what = WRONG if judged.is_classification else SQUARED
    return mean_of_repeats(by_repeat, model.task, model.schema.names, "permutation", what)
