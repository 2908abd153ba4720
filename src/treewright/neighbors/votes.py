"""Predictions from neighbours: for one number of neighbours, and for many numbers at once.

Sums run over the neighbours from the nearest on, one by one, so a prediction depends only on its own row. The
neighbours of a row for k are the first k of those for a larger k: one search is enough for every k, and votes and sums
grow by one neighbour at a time. They are bit-identical to those of a model with that many neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from treewright.core.elementary import exp_of
from treewright.data.cells import shown
from treewright.exceptions import ParameterError
from treewright.neighbors.metrics import DIRECTIONS, Metric
from treewright.neighbors.stored import Stored

Weights = str | Callable[[np.ndarray], Any]


def _cube(x: np.ndarray) -> np.ndarray:
    """The third power by products, because NumPy's differs between processors."""
    return x * x * x


# Kernels of Hechenbichler and Schliep (2004), section 2.2, of u = distance / distance of the next neighbour, 0 to 1.
# Their constant factors are left out: only the ratios of weights matter.
KERNELS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "triangular": lambda u: 1.0 - u,
    "epanechnikov": lambda u: 1.0 - u * u,
    "biweight": lambda u: (1.0 - u * u) ** 2,
    "tricube": lambda u: _cube(1.0 - u * u * u),
    "gaussian": lambda u: exp_of(-0.5 * u * u),
}
NAMES = ("uniform", "distance", *KERNELS)
_TINY = 2.0**-64  # factor of numbers whose sum would be beyond float64
_BLOCK_BYTES = 2**25  # of neighbours, votes and predictions at a time
_GROWING = ("uniform", "distance")  # a neighbour's weight is the same for every k


def wants_next(weights: Weights) -> bool:
    """Whether weights also depend on the neighbour after the last."""
    return isinstance(weights, str) and weights in KERNELS


def weights_of(distances: np.ndarray, next_distances: np.ndarray | None, weights: Weights) -> np.ndarray | None:
    """The weights of neighbours.

    ``distances`` (float64[m, k], finite, >= 0, ascending in each row). ``next_distances`` (float64[m] or None),
    distance of the neighbour after the last, for kernels; None if there is no further row: then that of the last.
    ``weights``: a callable takes the distances and returns weights of their shape. Returns float64[m, k], >= 0, not all
    0 in any row; or None: None for equal weights. Only weights of the same row are comparable.

    ``"distance"``: 1 / distance; if there are neighbours at distance 0, only these count, equally. Kernels: a neighbour
    as far as the next one after the last has weight 0 (except for "gaussian"), and if that is at distance 0 all have
    equal weights. If all weights of a row are 0, its neighbours have equal weights.
    """
    if not isinstance(weights, str):
        found = _own_weights(distances, weights)
    elif weights == "uniform":
        return None
    elif weights == "distance":
        found = _inverse(distances)
    else:
        last = distances[:, -1] if next_distances is None else next_distances
        # If all are at distance 0, their relative distances are 0.
        relative = np.divide(distances, last[:, None], out=np.zeros(distances.shape), where=last[:, None] > 0)
        found = KERNELS[weights](relative)
    found[~found.any(axis=1)] = 1.0
    return found


def _inverse(distances: np.ndarray) -> np.ndarray:
    """One over each distance, times a power of two for each row, so that none is beyond float64."""
    at_zero = distances == 0.0
    nearest = np.where(at_zero, np.inf, distances).min(axis=1, initial=np.inf, keepdims=True)
    exponent = np.frexp(np.where(np.isinf(nearest), 1.0, nearest))[1] - 1
    with np.errstate(divide="ignore", over="ignore"):
        found = 1.0 / np.ldexp(distances, -exponent)
    has_zero = at_zero.any(axis=1)
    found[has_zero] = at_zero[has_zero]
    return found


def _own_weights(distances: np.ndarray, function: Callable[[np.ndarray], Any]) -> np.ndarray:
    """The weights of a user's function, checked, times a power of two that makes the largest of a row near 1."""
    given = function(distances.copy())  # it may write to its argument
    try:
        found = np.array(given, np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"weights(distances) returned {shown(given)}: return numbers of the same shape") from None
    if found.shape != distances.shape:
        raise ParameterError(
            f"weights(distances) returned an array of shape {found.shape} for distances of shape {distances.shape}: "
            "return one weight per distance"
        )
    wrong = np.argwhere(~(np.isfinite(found) & (found >= 0)))
    if len(wrong):
        row, at = wrong[0].tolist()
        raise ParameterError(
            f"weights(distances) returned {len(wrong)} weight(s) that are negative or not finite (the first is "
            f"{found[row, at]}, for distance {distances[row, at]}): return finite numbers >= 0"
        )
    return np.ldexp(found, -np.frexp(found.max(axis=1, keepdims=True))[1])


def shares(codes: np.ndarray, weights: np.ndarray | None, n_classes: int) -> np.ndarray:
    """The class proportions among the neighbours.

    ``codes`` (int32[m, k]): classes of the neighbours. ``weights`` (float64[m, k] or None): from ``weights_of``.
    Returns float64[m, n_classes]: rows sum to one.
    """
    m, k = codes.shape
    places = codes + np.arange(m, dtype=np.int64)[:, None] * n_classes
    # bincount adds in the order of its items: the neighbours of a row from the nearest on.
    votes = np.bincount(places.ravel(), None if weights is None else weights.ravel(), m * n_classes)
    votes = votes.reshape(m, n_classes).astype(np.float64, copy=False)
    return votes / (k if weights is None else votes.sum(axis=1, keepdims=True))


def means(values: np.ndarray, rows: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """The weighted mean of the neighbours' numbers.

    ``values`` (float64[n, n_outputs]): the targets of all training rows. ``rows`` (int64[m, k]): the neighbours, as
    positions in ``values``. ``weights`` (float64[m, k] or None): from ``weights_of``. Returns float64[m, n_outputs].
    """
    k = (rows.shape[1],)
    found = _running_means(values, rows, weights, k)[0]
    too_large = np.flatnonzero(~np.isfinite(found).all(axis=1))
    if len(too_large):  # the sum, not the mean
        parts = None if weights is None else weights[too_large]
        found[too_large] = _running_means(values * _TINY, rows[too_large], parts, k)[0] / _TINY
    return found


def _running_means(
    values: np.ndarray, rows: np.ndarray, weights: np.ndarray | None, k_values: Sequence[int]
) -> np.ndarray:
    """float64[K, m, n_outputs]: weighted means of the first k neighbours, for each k, from running sums."""
    sums, total = np.zeros((len(rows), values.shape[1])), np.zeros((len(rows), 1))
    least, most = np.full(sums.shape, np.inf), np.full(sums.shape, -np.inf)
    found = np.empty((len(k_values), *sums.shape))
    wanted = {k: at for at, k in enumerate(k_values)}
    with np.errstate(over="ignore", invalid="ignore"):
        for at in range(rows.shape[1]):
            weight = 1.0 if weights is None else weights[:, at, None]
            own = values[rows[:, at]]
            sums += own * weight
            total += weight
            least, most = np.minimum(least, own), np.maximum(most, own)
            if at + 1 in wanted:
                mean = sums / total
                # The mean of equal numbers is that number. A sum beyond float64 stays, for the caller to see.
                found[wanted[at + 1]] = np.where(np.isfinite(mean), np.clip(mean, least, most), mean)
    return found


def is_fixed(metric: Metric) -> bool:
    """Whether a metric would be bit-identical if any of the training rows were left out.

    Scales, ranges, covariances and tables of levels are learned from the rows. So is the number by which cells far from
    0 are shifted before they are multiplied by scales.
    """
    mixed = None if metric.name == "nan_euclidean" else metric.mixed
    learned = (mixed, metric.transform, metric.center)
    moves = metric.name not in DIRECTIONS and metric.name != "canberra"
    return all(part is None for part in learned) and (metric.scales is None or not moves)


def answers_without_itself(
    stored: Stored, k_values: Sequence[int], weights: Weights, class_counts: Sequence[int], n_threads: int
) -> Iterator[tuple[int, int, np.ndarray]]:
    """Leave-one-out predictions: those of each row's neighbours among the other rows, by one search for the largest k.

    ``class_counts``: the number of classes per output; empty for regression. Yields ``first, last`` (int): a block of
    rows, up to before ``last``; ``answers`` (int64 or float64[K, last - first, n_outputs]): as ``answers_by_k``.

    Additional memory is 32 MiB, or that of 64 rows if it is more.
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
    """The predictions of the first k neighbours, for each k.

    ``stored``: the training rows with their targets. ``rows`` (int64[m, r]): the neighbours, the nearest first.
    ``distances`` (float64[m, r]): their distances. Kernels use the neighbour after the last, so r is one more than the
    largest k; if r equals k there is no further row. ``class_counts``: the number of classes per output; empty for
    regression. Returns int64[K, m, n_outputs]: codes of classes, the first of equal proportions; or float64[K, m,
    n_outputs]: means.
    """
    if not (isinstance(weights, str) and weights in _GROWING):
        return _one_by_one(stored, rows, distances, k_values, weights, class_counts)
    most = k_values[-1]
    rows = rows[:, :most]
    weighed = weights_of(distances[:, :most], None, weights)
    if not class_counts:
        assert stored.values is not None  # noqa: S101 - numbers have values
        return _growing_means(stored.values, rows, weighed, k_values)
    codes = stored.codes
    assert codes is not None  # noqa: S101 - classes have codes
    predicted = [
        _growing_counts(codes[rows, at], k_values, size)
        if weighed is None
        else _growing_votes(codes[rows, at], weighed, k_values, size)
        for at, size in enumerate(class_counts)
    ]
    return np.stack(predicted, axis=-1)


def _one_by_one(
    stored: Stored,
    rows: np.ndarray,
    distances: np.ndarray,
    k_values: Sequence[int],
    weights: Weights,
    class_counts: Sequence[int],
) -> np.ndarray:
    """Each k separately, for weights that depend on all neighbours, or on the next one."""
    found = []
    for k in k_values:
        next_distances = distances[:, k] if wants_next(weights) and k < distances.shape[1] else None
        weighed = weights_of(distances[:, :k], next_distances, weights)
        if class_counts:
            codes = stored.codes
            assert codes is not None  # noqa: S101 - classes have codes
            class_shares = [shares(codes[rows[:, :k], at], weighed, size) for at, size in enumerate(class_counts)]
            found.append(np.stack([share.argmax(axis=1) for share in class_shares], axis=-1))
        else:
            assert stored.values is not None  # noqa: S101 - numbers have values
            found.append(means(stored.values, rows[:, :k], weighed))
    return np.stack(found)


def _growing_counts(codes: np.ndarray, k_values: Sequence[int], n_classes: int) -> np.ndarray:
    """int64[K, m]: the most frequent class of the first k; only the class just counted can become the new one."""
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
    """int64[K, m]: the class with the largest weight among the first k."""
    m = len(codes)
    every = np.arange(m)
    votes, answers = np.zeros((m, n_classes)), np.empty((len(k_values), m), np.int64)
    wanted = {k: at for at, k in enumerate(k_values)}
    for at in range(codes.shape[1]):
        votes[every, codes[:, at]] += weights[:, at]
        if at + 1 in wanted:
            # Proportions, as in votes.shares: two classes whose votes differ may have equal ones.
            answers[wanted[at + 1]] = (votes / votes.sum(axis=1, keepdims=True)).argmax(axis=1)
    return answers


def _growing_means(
    values: np.ndarray, rows: np.ndarray, weights: np.ndarray | None, k_values: Sequence[int]
) -> np.ndarray:
    """float64[K, m, n_outputs]: the weighted mean of the first k."""
    answers = _running_means(values, rows, weights, k_values)
    for at, k in enumerate(k_values):
        beyond = np.flatnonzero(~np.isfinite(answers[at]).all(axis=1))
        if len(beyond):  # the sum, not the mean
            answers[at, beyond] = means(values, rows[beyond, :k], None if weights is None else weights[beyond, :k])
    return answers
