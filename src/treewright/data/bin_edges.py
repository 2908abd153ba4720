"""Which values share a bin. In: weights of the distinct values or of the levels. Out: where bins begin; bins of levels.

Caller: data.bins. Everything is whole-number arithmetic on sums below 2**53, and scaling all weights changes nothing.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import kernel

MAX_LEVEL_BINS = 254  # one less than for numbers: a level without rows needs a bin of its own


@kernel
def fill_bins(
    weights: np.ndarray, heavy: int, n_heavy: int, n_stretches: int, max_bins: int, begins: np.ndarray
) -> int:
    """Cut an ascending list of values into bins of about equal weight.

    A heavy value has a bin of its own, and each stretch of other values between two heavy ones has at least one bin.
    Within a stretch a bin is to hold the weight that is left, divided by the bins that are left; the next value
    begins a new bin where more than half of it would stick out.

    Parameters
    ----------
    weights : int64[k], IN
    heavy : int
        The smallest weight of a heavy value.
    n_heavy, n_stretches : int
        How many values are heavy, and how many stretches of other values there are.
    max_bins : int
        At least ``n_heavy + n_stretches``.
    begins : int64[max_bins], OUT
        Position of the first value of each bin.

    Returns
    -------
    int
        How many bins there are.
    """
    left = 0  # weight of the values that are not heavy and stand in no bin that is full
    for i in range(weights.shape[0]):
        if weights[i] < heavy:
            left += weights[i]
    free = max_bins - n_heavy
    n = 0
    inside = 0  # weight of the open bin; 0 where a heavy value or nothing stands before
    for i in range(weights.shape[0]):
        weight = weights[i]
        if weight >= heavy:
            begins[n] = i
            n += 1
            left -= inside
            inside = 0
            continue
        if inside == 0:
            n_stretches -= 1
            begins[n] = i
            n += 1
            free -= 1
        elif free > n_stretches and (2 * inside + weight) * (free + 1) > 2 * left:
            begins[n] = i
            n += 1
            left -= inside
            free -= 1
            inside = 0
        inside += weight
    return n


def heavy_values(weights: np.ndarray, max_bins: int) -> tuple[int, int]:
    """Values that weigh more than a bin: than the weight of the other values divided by the bins left to these.

    Parameters
    ----------
    weights : int64[k]
    max_bins : int

    Returns
    -------
    smallest : int
        The smallest weight of a heavy value; beyond all weights where there is none.
    n_heavy : int
        Fewer than ``max_bins``.
    """
    rest = int(weights.sum())
    largest = int(weights.max())
    if largest * max_bins <= rest:
        return largest + 1, 0
    top = np.sort(weights)[: -max_bins - 1 : -1]  # numpy's partition is slow where most weights are equal
    n_heavy = 0
    for weight in top.tolist():
        if weight * (max_bins - n_heavy) <= rest:
            break
        rest -= weight
        n_heavy += 1
    return int(top[n_heavy - 1]), n_heavy


def bin_begins(weights: np.ndarray, max_bins: int) -> np.ndarray:
    """Where the bins of a numeric column begin.

    Parameters
    ----------
    weights : int64[k], >= 1
        Of the distinct values, ascending.
    max_bins : int, 2 to 255

    Returns
    -------
    int64[m]
        Position of the first value of each bin, m <= ``max_bins``. One bin a value where k <= ``max_bins``. Else bins
        of about equal weight; values that weigh more than a bin have one of their own, unless these bins and one for
        each stretch of other values between them are more than ``max_bins``.

    Examples
    --------
    >>> bin_begins(np.array([1, 1, 1, 9, 1, 1]), 3).tolist()
    [0, 3, 4]
    """
    if len(weights) <= max_bins:
        return np.arange(len(weights))
    smallest, n_heavy = heavy_values(weights, max_bins)
    n_stretches = 1
    if n_heavy:
        is_light = weights < smallest
        n_stretches = int(is_light[0]) + int(np.count_nonzero(is_light[1:] & ~is_light[:-1]))
    if n_heavy + n_stretches > max_bins:
        smallest, n_heavy, n_stretches = int(weights.max()) + 1, 0, 1
    begins = np.empty(max_bins, np.int64)
    return begins[: fill_bins(weights, smallest, n_heavy, n_stretches, max_bins, begins)]


def level_bins(codes: np.ndarray, weights: np.ndarray, n_levels: int, max_bins: int) -> tuple[np.ndarray, int]:
    """The bin of each level of a nominal column.

    Parameters
    ----------
    codes : int[k]
        Levels with rows, ascending.
    weights : int64[k], >= 1
    n_levels : int
    max_bins : int, 2 to 255

    Returns
    -------
    bins : uint8[n_levels + 1]
        The last entry is for a level that fit never saw. Levels without rows have bin ``n_bins``.
    n_bins : int, 0 to min(max_bins, 254)
        Where there are too many levels, the heaviest (of equals the lowest codes) have a bin of their own, in code
        order, and the others share the last.

    Examples
    --------
    >>> bins, n_bins = level_bins(np.array([0, 1, 3, 4]), np.array([1, 5, 7, 1]), 5, 3)
    >>> bins.tolist(), n_bins
    ([2, 0, 3, 1, 2, 3], 3)
    """
    most = min(max_bins, MAX_LEVEL_BINS)
    n_bins = min(len(codes), most)
    bins = np.full(n_levels + 1, n_bins, np.uint8)
    if len(codes) > most:
        alone = np.sort(codes[np.argsort(-weights, kind="stable")[: most - 1]])
        bins[codes] = most - 1
        bins[alone] = np.arange(most - 1)
    else:
        bins[codes] = np.arange(n_bins)
    return bins, n_bins
