"""The sampled rows of a round and their weights. In: weights, gradients, a seed. Out: rows, factors.

A row is sampled by a number, its *key*, made from the seed, the round and the content of the row: it depends on neither
threads nor blocks nor the row's position. Equal rows are sampled together, as one row of their weight would be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.core.jit import kernel
from treewright.core.random import mix
from treewright.exceptions import DataError

_LARGEST = 1e30  # gradients are float32
_NONE = np.empty(0, np.int32)
_MOST_ROWS = 2**26  # the most rows that weights may count: with more, gradients would have too few units of a word


@dataclass(frozen=True, eq=False)
class GradientWeights:
    """Numbers of rows, or factors of gradients.

    Attributes
    ----------
    repeats : int32[n] or None
        The number of rows that each counts as, if all sample weights are whole numbers: the trees are those of repeated
        rows, also for ``min_samples_leaf``.
    factors : float32[n] or None
        Additional factors of gradients and hessians: other weights, or weights too large to count, and class weights.
    """

    repeats: np.ndarray | None = None
    factors: np.ndarray | None = None

    @staticmethod
    def may_count(total: float) -> bool:
        """Whether whole numbers with this sum can be numbers of rows."""
        return total <= _MOST_ROWS

    @staticmethod
    def check(least: float, most: float) -> None:
        """Refuse factors of gradients that are beyond float32, with a DataError."""
        if most > _LARGEST or least < 1 / _LARGEST:
            raise DataError(
                f"sample_weight goes from {least:g} to {most:g} (times the class weights): boosting takes weights "
                f"from {1 / _LARGEST:g} to {_LARGEST:g}; scale them"
            )

    @classmethod
    def of(cls, weights: np.ndarray | None, of_classes: np.ndarray | None = None) -> GradientWeights:
        """From the weights of rows, float64[n] > 0 or None, and those of their classes.

        Examples
        --------
        >>> GradientWeights.of(np.array([1.0, 3.0])).repeats.tolist(), GradientWeights.of(np.array([0.5, 3.0])).repeats
        ([1, 3], None)
        """
        repeats = None
        if weights is not None and bool((weights == np.rint(weights)).all()) and cls.may_count(float(weights.sum())):
            repeats = None if bool((weights == 1.0).all()) else weights.astype(np.int32)
            weights = None
        if of_classes is not None and not bool((of_classes == 1.0).all()):
            weights = of_classes if weights is None else weights * of_classes
        if weights is None:
            return cls(repeats=repeats)
        cls.check(float(weights.min()), float(weights.max()))
        return cls(repeats, weights.astype(np.float32))


def drawn_uniformly(keys: np.ndarray, share: float) -> np.ndarray:
    """Sample rows uniformly without replacement, each independently.

    A part can sample its own rows without the others, so the number of sampled rows is the share only on average.

    Parameters
    ----------
    keys : uint64[n], n >= 1
    share : float, above 0 up to 1

    Returns
    -------
    int32[m], ascending
        Those of the lowest key if no other is sampled.

    Examples
    --------
    >>> keys = keys_of(np.arange(100, dtype=np.uint64), 7)
    >>> len(drawn_uniformly(keys, 0.3)), len(drawn_uniformly(keys, 1.0)), len(drawn_uniformly(keys, 1e-9))
    (24, 100, 1)
    """
    drawn = chances_of(keys) < share
    return np.flatnonzero(drawn if drawn.any() else keys == keys.min()).astype(np.int32)


def drawn_by_gradient(
    sizes: np.ndarray, top_rate: float, other_rate: float, keys: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Sample all rows of large gradients, and some of the others (GOSS: Ke et al. 2017, "LightGBM", algorithm 2).

    Parameters
    ----------
    sizes : float64[n], >= 0
        The size of each row's gradient.
    top_rate, other_rate : float
        Share of the rows chosen by size, at random among equals; share of all rows sampled from the rest. Both from 0
        to 1, with a sum above 0 and up to 1.
    keys : uint64[n]

    Returns
    -------
    rows : int32[m], ascending
    factors : float32[m]
        The weight of each row: 1, or for those sampled the inverse of their probability.

    Examples
    --------
    >>> keys = keys_of(np.arange(10, dtype=np.uint64), 1)
    >>> rows, factors = drawn_by_gradient(np.arange(10.0), 0.2, 0.4, keys)
    >>> rows[-2:].tolist(), factors[-2:].tolist(), float(factors.sum())
    ([8, 9], [1.0, 1.0], 10.0)
    """
    n = len(sizes)
    n_top = min(n, max(0, round(top_rate * n)))
    n_others = min(n - n_top, max(1, round(other_rate * n)))
    is_top = np.zeros(n, bool)
    if n_top:
        least = np.partition(sizes, n - n_top)[n - n_top]
        is_top = sizes > least
        equals = np.flatnonzero(sizes == least)
        # Not the first ones, because the table may be sorted by its targets.
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
    """Sample rows in proportion to their sizes, each independently (MVS: Ibragimov and Gusev 2019, section 4).

    Among all samples of the same mean number of rows, these give the sums of a node the least variance.

    Parameters
    ----------
    sizes : float64[n], >= 0
        The root of ``g**2 + a * h**2`` for each row.
    share : float, above 0 up to 1
        Mean share of the rows that are sampled.
    keys : uint64[n]
    repeats : int32[n] or None
        The number of rows that each counts as.

    Returns
    -------
    rows : int32[m], ascending
        At least one.
    factors : float32[m]
        The weight of each row: one over its probability.

    Examples
    --------
    >>> keys = keys_of(np.arange(5, dtype=np.uint64), 1)
    >>> rows, factors = drawn_by_variance(np.array([0.0, 1.0, 1.0, 1.0, 9.0]), 0.5, keys)
    >>> rows.tolist(), factors.tolist()
    ([3, 4], [2.0, 1.0])
    """
    if not sizes.max() > 0:
        sizes = np.ones(len(sizes))
    counts = _NONE if repeats is None else repeats
    n = len(sizes) if repeats is None else int(repeats.sum(dtype=np.int64))
    # Rows whose probability would be above 1 are always sampled, and the others share the rest in proportion: then a
    # few more may be above 1, mostly for two or three steps. Sorting 1,000,000 rows took as long as growing on them.
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
    drawn = chances_of(keys) < chance
    if not drawn.any():
        drawn[np.argmax(sizes)], chance[np.argmax(sizes)] = True, 1.0
    rows = np.flatnonzero(drawn).astype(np.int32)
    return rows, (1.0 / chance[rows]).astype(np.float32)


def total_of(sizes: np.ndarray, repeats: np.ndarray | None) -> float:
    """The sum of float64[n] >= 0, each times ``repeats`` int32[n]: the same in any order of rows."""
    return sum_below(sizes, _NONE if repeats is None else repeats, np.inf)[0]


def keys_of(contents: np.ndarray, seed: int) -> np.ndarray:
    """uint64[n]: a key for each row of uint64[n] contents; different contents have different keys."""
    keys = contents.copy()
    fill_keys(np.uint64(seed), keys)
    return keys


def chances_of(keys: np.ndarray) -> np.ndarray:
    """float64[n], from 0 to 1: a row is sampled if its probability is larger."""
    return (keys >> np.uint64(11)) * 2.0**-53


def _lowest(keys: np.ndarray, m: int) -> np.ndarray:
    """int32[>= m]: the positions of the m lowest keys, ascending, and of keys equal to the last of them."""
    if m >= len(keys):
        return np.arange(len(keys), dtype=np.int32)
    return np.flatnonzero(keys <= np.partition(keys, m - 1)[m - 1]).astype(np.int32)


@kernel
def fill_keys(seed: np.uint64, keys: np.ndarray) -> None:
    """Make keys from the contents of rows (``mix`` maps one to one).

    Parameters
    ----------
    seed : uint64
    keys : uint64[n], IN and OUT
        Contents, then keys.
    """
    for row in range(len(keys)):
        keys[row] = mix(seed, keys[row])


@kernel
def sum_below(sizes: np.ndarray, counts: np.ndarray, least: float) -> tuple[float, Any]:
    """The sum of the sizes below ``least``, and the number of rows that the others count as.

    Sizes are added up as whole numbers of a unit that depends on the largest: the same in any order.

    sizes : float64[n], finite
    counts : int32[n], or empty if each counts as one
    """
    n, n_others, largest = np.int64(0), np.int64(0), 0.0
    for row in range(sizes.shape[0]):
        count = np.int64(counts[row]) if counts.shape[0] > 0 else np.int64(1)
        if sizes[row] < least:
            n += count
            largest = max(largest, sizes[row])
        else:
            n_others += count
    if largest == 0.0:
        return 0.0, n_others
    exponent = 61 - math.frexp(np.float64(n))[1] - math.frexp(largest)[1]
    scale = math.ldexp(1.0, min(exponent, 1000))  # numbers below 2**-1000 are not distinguished
    total = np.int64(0)
    for row in range(sizes.shape[0]):
        if sizes[row] < least:
            count = np.int64(counts[row]) if counts.shape[0] > 0 else np.int64(1)
            total += np.int64(np.rint(sizes[row] * scale)) * count
    return np.float64(total) / scale, n_others
