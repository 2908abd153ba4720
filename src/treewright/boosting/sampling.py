"""What rows count for in a round, and which are drawn. In: weights, gradients, a seed. Out: rows, factors.

A row is drawn by a number made of the seed, the round and the row alone: neither threads nor blocks change it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.core.jit import kernel
from treewright.core.random import mix
from treewright.exceptions import DataError

_LARGEST = 1e30  # gradients are float32
_MOST_ROWS = 2**26  # what rows may count as in all: of more, a gradient would be a few units of the words only


@dataclass(frozen=True, eq=False)
class GradientWeights:
    """Numbers of rows, or factors of gradients.

    Attributes
    ----------
    repeats : int32[n] or None
        How many rows each counts as, where all sample weights are whole numbers: the same trees as of rows that are
        there so often, also for ``min_samples_leaf``.
    factors : float32[n] or None
        What gradients and hessians are multiplied by beside: other weights, or weights too large to count, and those of
        classes.
    """

    repeats: np.ndarray | None = None
    factors: np.ndarray | None = None

    @classmethod
    def of(cls, weights: np.ndarray | None, of_classes: np.ndarray | None = None) -> GradientWeights:
        """The weights of rows, float64[n] > 0 or None, and beside them those of their classes.

        Examples
        --------
        >>> GradientWeights.of(np.array([1.0, 3.0])).repeats.tolist(), GradientWeights.of(np.array([0.5, 3.0])).repeats
        ([1, 3], None)
        """
        repeats = None
        if weights is not None and bool((weights == np.rint(weights)).all()) and float(weights.sum()) <= _MOST_ROWS:
            repeats = None if bool((weights == 1.0).all()) else weights.astype(np.int32)
            weights = None
        if of_classes is not None and not bool((of_classes == 1.0).all()):
            weights = of_classes if weights is None else weights * of_classes
        if weights is None:
            return cls(repeats=repeats)
        if weights.max() > _LARGEST or weights.min() < 1 / _LARGEST:
            raise DataError(
                f"sample_weight goes from {weights.min():g} to {weights.max():g} (times the weights of classes): "
                f"boosting takes weights from {1 / _LARGEST:g} to {_LARGEST:g}; scale them"
            )
        return cls(repeats, weights.astype(np.float32))


def drawn_uniformly(n: int, share: float, seed: int) -> np.ndarray:
    """Rows drawn without replacement, all alike.

    Parameters
    ----------
    n : int >= 1
    share : float, above 0 up to 1
    seed : int, 0 to 2**64 - 1
        Of the round.

    Returns
    -------
    int32[m], ascending
        At least one.

    Examples
    --------
    >>> len(drawn_uniformly(100, 0.3, 7)), drawn_uniformly(3, 1.0, 7).tolist()
    (30, [0, 1, 2])
    """
    return _lowest(keys_of(n, seed), max(1, round(share * n)))


def drawn_by_gradient(
    sizes: np.ndarray, top_rate: float, other_rate: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of large gradients, and some of the others (GOSS: Ke et al. 2017, "LightGBM", algorithm 2).

    Parameters
    ----------
    sizes : float64[n], >= 0
        How large each row's gradient is.
    top_rate, other_rate : float
        Share of the rows that are taken for their size, of equals those that are drawn; share of all rows that is drawn
        from the rest. Both in the range 0 to 1, in sum up to 1 and above 0.
    seed : int, 0 to 2**64 - 1
        Of the round.

    Returns
    -------
    rows : int32[m], ascending
    factors : float32[m]
        What each row counts for: 1, or for those drawn as many as there were for each.

    Examples
    --------
    >>> rows, factors = drawn_by_gradient(np.arange(10.0), 0.2, 0.4, 1)
    >>> rows[-2:].tolist(), factors[-2:].tolist(), float(factors.sum())
    ([8, 9], [1.0, 1.0], 10.0)
    """
    n = len(sizes)
    n_top = min(n, max(0, round(top_rate * n)))
    n_others = min(n - n_top, max(1, round(other_rate * n)))
    is_top, keys = np.zeros(n, bool), keys_of(n, seed)
    if n_top:
        least = np.partition(sizes, n - n_top)[n - n_top]
        is_top = sizes > least
        equals = np.flatnonzero(sizes == least)
        # Not the first ones: the table may be in the order of its targets.
        is_top[equals[_lowest(keys[equals], n_top - int(np.count_nonzero(is_top)))]] = True
    rest = np.flatnonzero(~is_top).astype(np.int32)
    factors = np.ones(n, np.float32)
    taken = is_top
    if n_others and len(rest):
        others = rest[_lowest(keys[rest], n_others)]
        factors[others] = len(rest) / len(others)
        taken[others] = True
    rows = np.flatnonzero(taken).astype(np.int32)
    return rows, factors[rows]


def drawn_by_variance(
    sizes: np.ndarray, share: float, keys: np.ndarray, repeats: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Rows drawn in proportion to their sizes, each by itself (MVS: Ibragimov and Gusev 2019, section 4).

    Of all ways to draw so many rows on average this one leaves the sums of a node with the least variance.

    Parameters
    ----------
    sizes : float64[n], >= 0
        The root of ``g**2 + a * h**2`` of each row.
    share : float, above 0 up to 1
        Share of the rows that is drawn, on average.
    keys : uint64[n]
        What draws each row: rows of one key and size are drawn together.
    repeats : int32[n] or None
        How many rows each counts as.

    Returns
    -------
    rows : int32[m], ascending
        At least one.
    factors : float32[m]
        What each row counts for: one over the probability with which it is drawn.

    Examples
    --------
    >>> rows, factors = drawn_by_variance(np.array([0.0, 1.0, 1.0, 1.0, 9.0]), 0.5, keys_of(5, 1))
    >>> rows.tolist(), factors.tolist()
    ([3, 4], [2.0, 1.0])
    """
    if not sizes.max() > 0:
        sizes = np.ones(len(sizes))
    counts = np.empty(0, np.int32) if repeats is None else repeats
    n = len(sizes) if repeats is None else int(repeats.sum(dtype=np.int64))
    # Rows whose chance would be above 1 are drawn surely, and the others share what is left in proportion: then a few
    # more may be above 1, mostly two or three times. Sorting 1,000,000 rows took as long as growing on them.
    least = np.inf
    while True:
        total, n_sure = sum_below(sizes, counts, least)
        if not total > 0 or share * n <= n_sure:
            chance = (sizes >= least).astype(np.float64)
            break
        scale = total / (share * n - n_sure)
        if not scale < least:
            chance = np.minimum(1.0, sizes / least)
            break
        least = scale
    drawn = (keys >> np.uint64(11)) * 2.0**-53 < chance
    if not drawn.any():
        drawn[np.argmax(sizes)], chance[np.argmax(sizes)] = True, 1.0
    rows = np.flatnonzero(drawn).astype(np.int32)
    return rows, (1.0 / chance[rows]).astype(np.float32)


def keys_of(n: int, seed: int) -> np.ndarray:
    """uint64[n]: a number for each row, all different."""
    keys = np.empty(n, np.uint64)
    fill_keys(np.uint64(seed), keys)
    return keys


def _lowest(keys: np.ndarray, m: int) -> np.ndarray:
    """int32[m]: where the m lowest of different keys stand, ascending."""
    if m >= len(keys):
        return np.arange(len(keys), dtype=np.int32)
    return np.flatnonzero(keys <= np.partition(keys, m - 1)[m - 1]).astype(np.int32)


@kernel
def fill_keys(seed: np.uint64, keys: np.ndarray) -> None:
    """Fill in a key for each row; no two rows of one seed have the same (``mix`` maps one to one).

    Parameters
    ----------
    seed : uint64
    keys : uint64[n], OUT
    """
    for row in range(len(keys)):
        keys[row] = mix(seed, np.uint64(row))


@kernel
def sum_below(sizes: np.ndarray, counts: np.ndarray, least: float) -> tuple[float, Any]:
    """The sum of the sizes below ``least``, and how many rows the others count as; added up in their order.

    sizes : float64[n]
    counts : int32[n], or empty where each counts as one
    """
    total = 0.0
    n_others = np.int64(0)
    for row in range(sizes.shape[0]):
        count = np.int64(counts[row]) if counts.shape[0] > 0 else np.int64(1)
        if sizes[row] < least:
            total += sizes[row] * count
        else:
            n_others += count
    return total, n_others
