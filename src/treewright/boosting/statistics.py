"""Ordered target statistics of nominal columns. In: rows as bins and as codes, targets. Out: new bins.

    for each row, in a random order:
        its value = the smoothed mean of the target over earlier rows of its level
    a level's value for new rows = the same mean over all of its rows
    cut both into bins, as those of a numeric column

These are ordered target statistics (Prokhorenkova et al. 2018, "CatBoost: unbiased boosting with categorical features",
section 3.2): the value of a training row never contains the row's own target, which a tree could otherwise read off a
rare level.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from treewright.boosting.best_constants import weighted_mean
from treewright.boosting.rounds import BoostTable
from treewright.boosting.sampling import keys_of
from treewright.core import threads
from treewright.core.elementary import whole_number
from treewright.core.jit import kernel
from treewright.core.random import mixed
from treewright.data.bin_rows import bin_rows
from treewright.data.bins import MAX_LEVEL_BINS, bins_of
from treewright.data.schema import Column, Schema
from treewright.exceptions import ParameterError

_LARGE = 400  # numbers below 2**400 are not scaled: no sum of products with weights overflows
_STATISTIC = Schema((Column("statistic", "numeric"),))


class LevelMeans(NamedTuple):
    """The result of ``level_means``: distances from the prior; targets beyond 2**400 are scaled.

    ``values`` (float64[n]): for each row, over earlier rows of its level; nan if the cell is missing.
    ``final`` (float64[n_levels]): for each level, over all rows; nan for a level without rows.
    ``counts`` (float64[n_levels]): the weight of each level's rows.
    """

    values: np.ndarray
    final: np.ndarray
    counts: np.ndarray


class _Rows(NamedTuple):
    """Targets, weights (empty: each is one), the targets' mean (the prior) and its weight, orders of the rows."""

    target: np.ndarray
    weights: np.ndarray
    prior: float
    prior_weight: float
    orders: list[np.ndarray]


def with_ordered_statistics(
    table: BoostTable,
    codes: np.ndarray,
    matrix: np.ndarray,
    columns: np.ndarray,
    target: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    prior_weight: float = 1.0,
    n_permutations: int = 1,
    max_bins: int = 255,
    seed: int = 0,
    names: np.ndarray | None = None,
    n_threads: int = 1,
) -> tuple[BoostTable, np.ndarray]:
    """Bin nominal columns by a target statistic.

    The smoothed mean of a level is ``(sum + a * prior) / (count + a)``; sum and count are weighted, ``a`` is
    ``prior_weight``, and the prior is the mean of the target. Bins are cut from the values of the training rows and the
    final values of the levels together, each row once with either: trees are fitted on the former, and new rows have
    the latter.

    ``codes`` (uint8[n, stride]): the rows in the bins of ``table``.
    ``matrix`` (float32[n, p] or float64[n, p]): the same rows as level codes; nan is missing.
    ``columns`` (int[k]): nominal columns, each once.
    ``target`` (float64[n] or int32[n]): finite numbers, or 0 and 1 for two classes.
    ``weights`` (float64[n], above 0 and finite, or None).
    ``prior_weight``: the number of rows that the prior counts as; unless all weights are whole numbers, rows of mean
        weight.
    ``n_permutations``: the number of orders over which the value of a training row is averaged. With many, the value
        approaches that of leaving out only the row itself, which reveals its target.
    ``max_bins`` (2 to 255): the most bins of a column; at most 254 are used.
    ``seed``: taken modulo 2**64.
    ``names`` (uint64[n]): the names by which rows are put into random orders; by default their numbers.

    Returns ``table`` (BoostTable): ``ordered`` is set for the columns, and their bins ascend with the statistic. Levels
    without rows, and unseen levels, have bin ``n_bins``, as always. A bin may be without training rows; ``codes``
    (uint8[n, stride]): a copy with new bins in the columns; missing cells keep bin 255.
    """
    chosen = _checked_columns(table, columns)
    whole_number("n_permutations", n_permutations, 1)
    if not 0.0 <= prior_weight < np.inf:
        raise ParameterError(f"prior_weight={prior_weight!r}: give a finite number >= 0")
    rows = _rows_of(target, weights, prior_weight, n_permutations, seed, names)
    out = codes.copy()
    n_bins, level_bin = table.bins.n_bins.copy(), table.bins.level_bin.copy()
    starts = table.bins.level_start
    most = min(max_bins, MAX_LEVEL_BINS)

    def bin_column(task: int, _thread: int) -> None:
        column = chosen[task]
        own = slice(int(starts[column]), int(starts[column + 1]))
        levels = _levels_of(matrix[:, column], own.stop - own.start - 1)
        means = _means_of(levels, own.stop - own.start - 1, rows)
        n_bins[column], level_bin[own], out[:, column] = _bins_of_means(means, rows.weights, most)

    threads.run_each(bin_column, len(chosen), n_threads)
    ordered = table.ordered.copy()
    ordered[chosen] = True
    return replace(table, bins=replace(table.bins, n_bins=n_bins, level_bin=level_bin), ordered=ordered), out


def level_means(
    levels: np.ndarray,
    n_levels: int,
    target: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    prior_weight: float = 1.0,
    n_permutations: int = 1,
    seed: int = 0,
) -> LevelMeans:
    """Smoothed means of the target of one column, over earlier rows and over all.

    ``levels`` (int32[n]): -1 for a missing cell; from ``n_levels`` on, an unknown level. ``target``, ``weights``,
    ``prior_weight``, ``n_permutations``, ``seed``: as for ``with_ordered_statistics``.
    """
    return _means_of(levels, n_levels, _rows_of(target, weights, prior_weight, n_permutations, seed))


def _checked_columns(table: BoostTable, columns: np.ndarray) -> list[int]:
    """The columns; one that is not nominal or named twice is refused."""
    chosen = [int(column) for column in columns]
    for column in chosen:
        if not 0 <= column < table.bins.n_columns or not table.bins.is_nominal[column]:
            raise ParameterError(f"columns: {column} is not the number of a nominal column")
    if len(set(chosen)) < len(chosen):
        raise ParameterError(f"columns={chosen}: name each column once")
    return chosen


def _rows_of(
    target: np.ndarray, weights: np.ndarray | None, prior_weight: float, n_permutations: int, seed: int,
    names: np.ndarray | None = None,
) -> _Rows:  # fmt: skip
    """Targets and weights, scaled so that no sum overflows, and the random orders."""
    numbers = np.asarray(target, np.float64)
    numbers = np.ldexp(numbers, -max(_exponent(numbers) - _LARGE, 0))
    if weights is None:
        weights, prior = np.empty(0), weighted_mean(numbers, None) if len(numbers) else 0.0
    else:
        weights = np.ldexp(weights, -max(_exponent(weights) - _LARGE, 0))
        if len(weights) and not (weights == np.rint(weights)).all():
            weights = weights / weighted_mean(weights, None)
        prior = weighted_mean(numbers, weights) if len(numbers) else 0.0
    if names is None:
        names = np.arange(len(numbers), dtype=np.uint64)
    orders = [np.argsort(keys_of(names, mixed(seed % 2**64, number))) for number in range(n_permutations)]
    return _Rows(numbers, weights, float(prior), float(prior_weight), orders)


def _exponent(numbers: np.ndarray) -> int:
    """The exponent of the least power of two above all numbers."""
    return int(np.frexp(np.abs(numbers).max(initial=0.0))[1])


def _levels_of(cells: np.ndarray, n_levels: int) -> np.ndarray:
    """int32[n]: the level of each cell, -1 if it is missing, ``n_levels`` for an unknown one."""
    known = (cells >= 0) & (cells < n_levels)
    return np.where(known, np.where(known, cells, 0.0), np.where(np.isnan(cells), -1, n_levels)).astype(np.int32)


def _means_of(levels: np.ndarray, n_levels: int, rows: _Rows) -> LevelMeans:
    values = np.zeros(len(levels))
    sums, counts = np.empty((2, n_levels))
    for order in rows.orders:
        sums[:], counts[:] = 0.0, 0.0
        add_ordered_means(levels, order, rows.target, rows.weights, rows.prior, rows.prior_weight, sums, counts, values)
    values /= len(rows.orders)
    values[levels < 0] = np.nan
    final = np.full(n_levels, np.nan)
    np.divide(sums - counts * rows.prior, counts + rows.prior_weight, out=final, where=counts > 0)
    return LevelMeans(values, final, counts)


@kernel
def add_ordered_means(
    levels: np.ndarray,
    order: np.ndarray,
    target: np.ndarray,
    weights: np.ndarray,
    prior: float,
    prior_weight: float,
    sums: np.ndarray,
    counts: np.ndarray,
    values: np.ndarray,
) -> None:
    """Add to each row's value the smoothed mean of the target over earlier rows of its level.

    Values are distances from the prior. A row's own target is added after its value is computed, so no value depends on
    the target of its own or of a later row. Sums are of targets themselves, not of distances: those of 0 and 1 are
    exact, and levels with the same counts have the same value.

    Parameters
    ----------
    levels : int32[n], IN
        -1 for a missing cell: such rows are ignored. From len(sums) on: a level without a sum; such rows get the prior.
    order : int64[n], IN
        Rows, the earliest first.
    target : float64[n], IN
    weights : float64[n] or float64[0], IN
        Empty: every row has weight one.
    prior, prior_weight : float64
    sums, counts : float64[n_levels], IN and OUT
        Weighted sum of targets and sum of weights of each level; zeros at first, those of all rows at the end.
    values : float64[n], IN and OUT
    """
    for at in range(order.shape[0]):
        row = order[at]
        level = levels[row]
        if level < 0 or level >= sums.shape[0]:
            continue
        weight = weights[row] if weights.shape[0] > 0 else 1.0
        if counts[level] > 0.0:
            values[row] += (sums[level] - counts[level] * prior) / (counts[level] + prior_weight)
        sums[level] += weight * target[row]
        counts[level] += weight


def _bins_of_means(means: LevelMeans, weights: np.ndarray, max_bins: int) -> tuple[int, np.ndarray, np.ndarray]:
    """Number of bins; the bin of each level and of an unseen one; the bin of each row."""
    seen = means.counts > 0
    of_rows = weights if len(weights) else np.ones(len(means.values))
    cells = np.concatenate((means.values, means.final[seen]))[:, None]
    bins = bins_of(cells, _STATISTIC, np.concatenate((of_rows, means.counts[seen])), max_bins=max_bins)
    n_bins = int(bins.n_bins[0])
    level_bin = np.full(len(seen) + 1, n_bins, np.uint8)
    level_bin[:-1][seen] = bin_rows(bins, means.final[seen][:, None])[:, 0]
    return n_bins, level_bin, bin_rows(bins, means.values[:, None])[:, 0]
