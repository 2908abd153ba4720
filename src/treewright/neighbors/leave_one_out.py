"""What its neighbours say of every row, for every number of neighbours at once. In: ``Stored``. Out: answers by k.

Callers: model_selection.

The neighbours of a row for k are the first k of those for a larger k. So one search serves every k, and votes and sums
grow by a neighbour at a time: they have the bits of a model with that many neighbours (``neighbors.votes``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from treewright.neighbors.metrics import DIRECTIONS, Metric
from treewright.neighbors.stored import Stored
from treewright.neighbors.votes import Weights, means, shares, wants_next, weights_of

__all__ = ["answers_by_k", "answers_without_itself", "is_fixed"]

_BLOCK_BYTES = 2**25  # of neighbours, votes and answers at a time
_GROWING = ("uniform", "distance")  # a neighbour's weight is the same for every k


def is_fixed(metric: Metric) -> bool:
    """Whether a metric would be the same, to the bit, had any of the rows been absent from the fit.

    Scales, ranges, covariances and tables of levels are learned from the rows. So is the number that cells far from 0
    are moved by before they are multiplied by scales.

    Examples
    --------
    >>> from treewright.neighbors.ranks import MANHATTAN, SQUARES
    >>> is_fixed(Metric("manhattan", MANHATTAN)), is_fixed(Metric("euclidean", SQUARES, center=np.array([2.0])))
    (True, False)
    """
    learned = (metric.mixed, metric.transform, metric.center)
    moves = metric.name not in DIRECTIONS and metric.name != "canberra"
    return all(part is None for part in learned) and (metric.scales is None or not moves)


def answers_without_itself(
    stored: Stored, k_values: Sequence[int], weights: Weights, class_counts: Sequence[int], n_threads: int
) -> Iterator[tuple[int, int, np.ndarray]]:
    """What its neighbours among the other rows say of each row, by one search for the largest k.

    Parameters
    ----------
    stored : Stored
        Of n rows.
    k_values : sequence of int, 1 to n - 1, ascending
    weights : str or callable
    class_counts : sequence of int
        Per output how many classes there are; empty where the target is numbers.
    n_threads : int >= 1

    Yields
    ------
    first, last : int
        A block of rows, up to before ``last``.
    answers : int64 or float64[K, last - first, n_outputs]
        As ``answers_by_k``.

    Notes
    -----
    Beside what is yielded 32 MiB; more only where 64 rows take more.
    """
    k = k_values[-1]
    reach = min(k + wants_next(weights), stored.n_rows - 1)
    row_bytes = 64 * reach + 8 * len(k_values) + 24 * sum(class_counts, start=1)
    size = max(64, _BLOCK_BYTES // row_bytes)
    for first in range(0, stored.n_rows, size):
        last = min(first + size, stored.n_rows)
        rows, distances = stored.others(first, last, reach, n_threads)
        yield first, last, answers_by_k(stored, rows, distances, k_values, weights, class_counts)


def answers_by_k(
    stored: Stored,
    rows: np.ndarray,
    distances: np.ndarray,
    k_values: Sequence[int],
    weights: Weights,
    class_counts: Sequence[int],
) -> np.ndarray:
    """What the first k neighbours say, for each k.

    Parameters
    ----------
    stored : Stored
        Whose targets count.
    rows : int64[m, r]
        Neighbours from the nearest on.
    distances : float64[m, r]
        Of them. Kernels look at the neighbour after the last, so r is one more than the largest k; where r is k there
        is no further row.
    k_values : sequence of int, 1 to r, ascending
    weights : str or callable
    class_counts : sequence of int
        Per output how many classes there are; empty where the target is numbers.

    Returns
    -------
    int64[K, m, n_outputs]
        Codes of classes, of equal shares the first;
    or float64[K, m, n_outputs]
        means.
    """
    if not (isinstance(weights, str) and weights in _GROWING):
        return _one_by_one(stored, rows, distances, k_values, weights, class_counts)
    most = k_values[-1]
    rows = rows[:, :most]
    weighed = weights_of(distances[:, :most], None, weights)
    if not class_counts:
        return _growing_means(stored, rows, weighed, k_values)
    codes = stored.codes
    assert codes is not None  # noqa: S101 - classes have codes
    said = [
        _growing_counts(codes[rows, at], k_values, size)
        if weighed is None
        else _growing_votes(codes[rows, at], weighed, k_values, size)
        for at, size in enumerate(class_counts)
    ]
    return np.stack(said, axis=-1)


def _one_by_one(
    stored: Stored,
    rows: np.ndarray,
    distances: np.ndarray,
    k_values: Sequence[int],
    weights: Weights,
    class_counts: Sequence[int],
) -> np.ndarray:
    """Every k anew: weights that depend on all neighbours, or on the next one."""
    found = []
    for k in k_values:
        next_distances = distances[:, k] if wants_next(weights) and k < distances.shape[1] else None
        weighed = weights_of(distances[:, :k], next_distances, weights)
        if class_counts:
            codes = stored.codes
            assert codes is not None  # noqa: S101 - classes have codes
            said = [shares(codes[rows[:, :k], at], weighed, size) for at, size in enumerate(class_counts)]
            found.append(np.stack([share.argmax(axis=1) for share in said], axis=-1))
        else:
            assert stored.values is not None  # noqa: S101 - numbers have values
            found.append(means(stored.values, rows[:, :k], weighed))
    return np.stack(found)


def _growing_counts(codes: np.ndarray, k_values: Sequence[int], n_classes: int) -> np.ndarray:
    """int64[K, m]: the class of most of the first k; only the class that is counted can overtake the first."""
    m = len(codes)
    every, best, best_count = np.arange(m), np.full(m, n_classes), np.zeros(m, np.int64)
    counts, answers = np.zeros((m, n_classes), np.int64), np.empty((len(k_values), m), np.int64)
    wanted = {k: at for at, k in enumerate(k_values)}
    for at in range(codes.shape[1]):
        code = codes[:, at]
        counts[every, code] += 1
        own = counts[every, code]
        leads = (own > best_count) | ((own == best_count) & (code < best))
        best, best_count = np.where(leads, code, best), np.where(leads, own, best_count)
        if at + 1 in wanted:
            answers[wanted[at + 1]] = best
    return answers


def _growing_votes(codes: np.ndarray, weights: np.ndarray, k_values: Sequence[int], n_classes: int) -> np.ndarray:
    """int64[K, m]: the class of the largest share of the first k."""
    m = len(codes)
    every = np.arange(m)
    votes, answers = np.zeros((m, n_classes)), np.empty((len(k_values), m), np.int64)
    wanted = {k: at for at, k in enumerate(k_values)}
    for at in range(codes.shape[1]):
        votes[every, codes[:, at]] += weights[:, at]
        if at + 1 in wanted:
            # Shares, as in votes.shares: two classes whose votes differ may have equal ones.
            answers[wanted[at + 1]] = (votes / votes.sum(axis=1, keepdims=True)).argmax(axis=1)
    return answers


def _growing_means(stored: Stored, rows: np.ndarray, weights: np.ndarray | None, k_values: Sequence[int]) -> np.ndarray:
    """float64[K, m, n_outputs]: the weighted mean of the first k."""
    values = stored.values
    assert values is not None  # noqa: S101 - numbers have values
    m = len(rows)
    sums, total = np.zeros((m, values.shape[1])), np.zeros((m, 1))
    answers = np.empty((len(k_values), m, values.shape[1]))
    wanted = {k: at for at, k in enumerate(k_values)}
    with np.errstate(over="ignore", invalid="ignore"):
        for at in range(rows.shape[1]):
            weight = 1.0 if weights is None else weights[:, at, None]
            sums += values[rows[:, at]] * weight
            total += weight
            if at + 1 in wanted:
                answers[wanted[at + 1]] = sums / total
    for at, k in enumerate(k_values):
        beyond = np.flatnonzero(~np.isfinite(answers[at]).all(axis=1))
        if len(beyond):  # the sum, not the mean
            answers[at, beyond] = means(values, rows[beyond, :k], None if weights is None else weights[beyond, :k])
    return answers
