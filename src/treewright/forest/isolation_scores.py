"""Anomaly scores from path lengths. In: a fitted isolation forest, rows. Out: scores.

The file of an isolation forest is an ordinary model whose prediction is the mean path length of a row. The facts of the
model hold what turns it into a score (``model.isolation``): ``max_samples``, the rows sampled for each tree, and
``offset``, the score below which a row is an outlier.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from treewright.core import notices
from treewright.core.threads import resolve_jobs
from treewright.data.encoder import encode
from treewright.data.sparse import SparseMatrix, by_blocks
from treewright.exceptions import ParameterError
from treewright.forest.draws import counts_of_rows
from treewright.model.check import ISOLATION_FOREST
from treewright.model.data import ModelData
from treewright.model.isolation import scores_of_lengths
from treewright.predict.route import in_blocks
from treewright.predict.values import predict_numbers

ALGORITHM = ISOLATION_FOREST
AUTO_OFFSET = -0.5
_BLOCK = 2048  # rows that stay in the cache while they go down all trees
_FEWEST_ROWS = 25  # in a smaller table, most rows can be outliers
_ROWS_LOOKED_AT = 1000


def anomaly_scores(model: ModelData, X: Any, *, n_jobs: int | None = None) -> np.ndarray:
    """Anomaly scores of rows by a fitted isolation forest, such as ``treewright.load`` reads from a file.

    Parameters
    ----------
    model : Model
        ``IsolationForest(...).fit(...).model_``, or the model read from its file.
    X : table of n rows
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    float64[n]
        Between 0 and 1, larger for outliers. About 0.5 is ordinary. A row is an outlier if
        ``-score < model.facts["offset"]``.

    Raises
    ------
    ParameterError
        The model is not an isolation forest.
    ColumnError
        Columns are missing, duplicated or of another kind than at fit.

    Examples
    --------
    >>> import treewright as tw
    >>> from treewright.estimators.isolation import IsolationForest
    >>> forest = IsolationForest(n_estimators=10).fit([[1.0], [1.1], [0.9], [1.0], [9.0]])
    >>> scores = anomaly_scores(forest.model_, [[1.0], [9.0]])
    >>> bool(scores[1] > scores[0])
    True
    """
    if model.facts.get("algorithm") != ALGORITHM:
        raise ParameterError(
            f"anomaly scores need an isolation forest, and this model was fitted by "
            f"{model.facts.get('algorithm', 'something else')}"
        )
    matrix = encode(model.schema, X, unseen=model.unseen, missing=model.missing)
    return scores_of_rows(model, matrix, n_jobs)


def lowest_share(scores: np.ndarray, weights: np.ndarray | None, share: float) -> float:
    """The score below which a share of the rows is.

    Parameters
    ----------
    scores : float64[n]
    weights : float64[n], > 0, or None
        Whole numbers count rows, as in sampling (``draws.counts_of_rows``).
    share : float, 0 to 1

    Returns
    -------
    float
        Between two scores if rows are counted; else the lowest score up to which the rows have the share.

    Examples
    --------
    >>> lowest_share(np.array([-0.7, -0.5, -0.4]), np.array([1.0, 2.0, 2.0]), 0.25)
    -0.5
    """
    counts = counts_of_rows(weights)
    if weights is not None and counts is None:
        return float(np.quantile(scores, share, weights=weights, method="inverted_cdf"))
    every = scores if counts is None else np.repeat(scores, counts)
    # .07 of 101 rows is the eighth score itself: in float64 a little more, and that row would be an outlier, too.
    place = Fraction(repr(float(share))) * (len(every) - 1)
    if place.denominator == 1:
        return float(np.partition(every, int(place))[int(place)])
    return float(np.percentile(every, 100.0 * share))


def warn_of_many_outliers(
    model: ModelData, matrix: np.ndarray, weights: np.ndarray | None, n_jobs: int | None = None
) -> None:
    """Warn if a score above 0.5 is frequent among the training rows.

    Parameters
    ----------
    model : ModelData
    matrix : float32 or float64 [n, p]
        Training rows; about 1,000 of them, evenly spaced, are scored.
    weights : float64[n], > 0, or None
    n_jobs : int or None

    Warns
    -----
    DataWarning
        More than half of the rows, by weight, have a score above 0.5.
    """
    if len(matrix) < _FEWEST_ROWS:
        return
    rows = slice(None, None, -(-len(matrix) // _ROWS_LOOKED_AT))
    is_odd = -scores_of_rows(model, matrix[rows], n_jobs) < AUTO_OFFSET
    share = float(np.average(is_odd, weights=None if weights is None else weights[rows] / weights.max()))
    if share > 0.5:
        notices.warn(
            f"contamination='auto' makes {share:.0%} of the training rows outliers: if values are few or evenly "
            f"spread, ordinary rows score above {-AUTO_OFFSET}. Set contamination to the share that you expect, "
            "such as 0.05"
        )


def scores_of_rows(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """As ``anomaly_scores``, for encoded rows."""
    return scores_of_lengths(model.facts, path_lengths(model, matrix, n_jobs))


def path_lengths(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """float64[n]: mean path length of each encoded row, over the trees in their order."""
    if isinstance(matrix, SparseMatrix):
        return by_blocks(lambda rows: path_lengths(model, rows, n_jobs), matrix)
    lengths = np.empty(len(matrix))

    def predict_block(start: int, stop: int) -> None:
        # All trees for a block of rows that stays in the cache, instead of all rows for one tree.
        for begin in range(start, stop, _BLOCK):
            end = min(begin + _BLOCK, stop)
            lengths[begin:end] = predict_numbers(model, np.ascontiguousarray(matrix[begin:end]), 1)[:, 0]

    in_blocks(predict_block, len(matrix), resolve_jobs(n_jobs))
    return lengths
