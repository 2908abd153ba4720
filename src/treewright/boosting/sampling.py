"""The sampled rows of a round and their weights. In: weights, gradients, a seed. Out: rows, factors.

A row is sampled by a number, its *key*, made from the seed, the round and the row's *name*: it depends on neither
threads nor blocks nor the row's position. A name is a hash of the row's content and of which copy of it the row is, so
equal rows are sampled one by one, like others. Where copies shared a key, whole cells of a table of counts were in a
sample or out of it, and held-out rows had other classes than the training rows next to them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.core.jit import inner_kernel, kernel
from treewright.core.random import mix
from treewright.exceptions import DataError

_LARGEST = 1e30  # gradients are float32
_MOST_ROWS = 2**26  # the most rows that weights may count: with more, gradients would have too few units of a word


@dataclass(frozen=True, eq=False)
class GradientWeights:
    """Numbers of rows, or factors of gradients.

    ``repeats`` (int32[n] or None), the number of rows that each counts as, if all sample weights are whole numbers: the
        trees are those of repeated rows, also for ``min_samples_leaf``.
    ``factors`` (float32[n] or None), additional factors of gradients and hessians: other weights, or weights too large
        to count, and class weights.
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
        """From the weights of rows, float64[n] > 0 or None, and those of their classes."""
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

    ``keys`` (uint64[n], n >= 1). Returns int32[m], ascending: those of the lowest key if no other is sampled.
    """
    drawn = chances_of(keys) < share
    return np.flatnonzero(drawn if drawn.any() else keys == keys.min()).astype(np.int32)


def drawn_by_gradient(
    sizes: np.ndarray, top_rate: float, other_rate: float, keys: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Sample all rows of large gradients, and some of the others (GOSS: Ke et al. 2017, "LightGBM", algorithm 2).

    ``sizes`` (float64[n], >= 0): the size of each row's gradient. ``top_rate``, ``other_rate``: share of the rows
    chosen by size, at random among equals; share of all rows sampled from the rest. Both from 0 to 1, with a sum above
    0 and up to 1. ``keys`` (uint64[n]). Returns ``rows`` (int32[m], ascending); ``factors`` (float32[m]), the weight of
    each row: 1, or for those sampled the inverse of their probability.
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


def drawn_by_variance(sizes: np.ndarray, share: float, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sample rows in proportion to their sizes, each independently (MVS: Ibragimov and Gusev 2019, section 4).

    Among all samples of the same mean number of rows, these give the sums of a node the least variance.

    ``sizes`` (float64[n], >= 0): the root of ``g**2 + a * h**2`` for each row. ``share`` (above 0 up to 1): mean share
    of the rows that are sampled. ``keys`` (uint64[n]). Returns ``rows`` (int32[m], ascending): at least one;
    ``factors`` (float32[m]), the weight of each row: one over its probability.
    """
    if not sizes.max() > 0:
        sizes = np.ones(len(sizes))
    n = len(sizes)
    # Rows whose probability would be above 1 are always sampled, and the others share the rest in proportion: then a
    # few more may be above 1, mostly for two or three steps. Sorting 1,000,000 rows took as long as growing on them.
    least = np.inf
    while True:
        total, n_sure = sum_below(sizes, least)
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


def total_of(sizes: np.ndarray) -> float:
    """The sum of float64[n] >= 0: the same in any order of rows."""
    return sum_below(sizes, np.inf)[0]


def names_of_rows(contents: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """A name for each row, by which it is sampled.

    Copies of a content are alike, so it does not matter which of them is the k-th: names depend on the contents, not on
    the order of the rows.

    ``contents`` (uint64[n]): a hash of each row's content. ``weights`` (float64[n]): copies of a content are numbered
    from the lightest to the heaviest. Returns uint64[n]: the content of a first copy, another hash for each further
    one.
    """
    in_order = np.sort(contents)
    if not (in_order[1:] == in_order[:-1]).any():  # sorting alone takes a tenth of the time
        return contents
    order = np.argsort(contents, kind="stable") if weights is None else np.lexsort((weights, contents))
    copies = np.empty(len(order), np.int64)
    copies[order] = np.arange(len(order)) - begins_of_equals(contents[order])
    names = np.empty_like(contents)
    fill_names(contents, copies, names)
    return names


def begins_of_equals(*in_order: np.ndarray) -> np.ndarray:
    """int64[n]: for each place of sorted arrays the first place with the same values."""
    at = np.arange(len(in_order[0]))
    at[1:][np.logical_and.reduce([each[1:] == each[:-1] for each in in_order])] = 0
    begins: np.ndarray = np.maximum.accumulate(at)
    return begins


def keys_of(names: np.ndarray, seed: int) -> np.ndarray:
    """uint64[n]: a key for each row of uint64[n] names; different names have different keys."""
    keys = names.copy()
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


@inner_kernel
def name_of(content, copy):
    """uint64: the name of a copy, int64 from 0, of a content, uint64."""
    return mix(content, np.uint64(copy)) if copy > 0 else content


@kernel
def fill_names(contents: np.ndarray, copies: np.ndarray, names: np.ndarray) -> None:
    """The name of each row: ``contents`` uint64[n], ``copies`` int64[n]; ``names`` uint64[n], OUT."""
    for row in range(len(names)):
        names[row] = name_of(contents[row], copies[row])


@kernel
def fill_keys(seed: np.uint64, keys: np.ndarray) -> None:
    """Make keys from the names of rows (``mix`` maps one to one).

    Parameters
    ----------
    seed : uint64
    keys : uint64[n], IN and OUT
        Names, then keys.
    """
    for row in range(len(keys)):
        keys[row] = mix(seed, keys[row])


@kernel
def sum_below(sizes: np.ndarray, least: float) -> tuple[float, Any]:
    """The sum of the sizes below ``least``, and the number of the others.

    Sizes are added up as whole numbers of a unit that depends on the largest: the same in any order.

    sizes : float64[n], finite
    """
    n, largest = np.int64(0), 0.0
    for row in range(sizes.shape[0]):
        if sizes[row] < least:
            n += 1
            largest = max(largest, sizes[row])
    n_others = np.int64(sizes.shape[0]) - n
    if largest == 0.0:
        return 0.0, n_others
    exponent = 61 - math.frexp(np.float64(n))[1] - math.frexp(largest)[1]
    scale = math.ldexp(1.0, min(exponent, 1000))  # numbers below 2**-1000 are not distinguished
    total = np.int64(0)
    for row in range(sizes.shape[0]):
        if sizes[row] < least:
            total += np.int64(np.rint(sizes[row] * scale))
    return np.float64(total) / scale, n_others


@kernel
def count_copies(
    contents: np.ndarray, first: np.ndarray, counts: np.ndarray, seed: np.uint64, share: float, only: np.uint64,
    times: np.ndarray,
) -> tuple[Any, Any]:  # fmt: skip
    """Sample the copies that each row counts as, one by one; returns how many, and the lowest key.

    Parameters
    ----------
    contents : uint64[n]
    first : int32[n]
        The number of each row's first copy: how many equal rows are before it.
    counts : float64[n], whole, or empty if each counts as one
    seed : uint64
    share : float64
        A copy is sampled if its chance is below; at 0 if its key is ``only``.
    only : uint64
    times : int32[n], OUT
    """
    n_drawn, lowest = np.int64(0), ~np.uint64(0)
    for row in range(contents.shape[0]):
        n_copies = np.int64(counts[row]) if counts.shape[0] > 0 else np.int64(1)
        drawn = np.int32(0)
        for copy in range(np.int64(first[row]), np.int64(first[row]) + n_copies):
            key = mix(seed, name_of(contents[row], copy))
            lowest = min(lowest, key)
            chance = np.float64(key >> np.uint64(11)) * 2.0**-53
            if chance < share or (share == 0.0 and key == only):
                drawn += np.int32(1)
        times[row] = drawn
        n_drawn += np.int64(drawn)
    return n_drawn, lowest
