"""Bins of the columns: where they begin, and which values and levels share one.

Everything is whole-number arithmetic on sums below 2**53, and scaling all weights changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treewright.core import progress, threads
from treewright.core.jit import kernel
from treewright.data.column_summary import BLOCK_ROWS, ColumnSummary, Gathered, summary_of, whole_weights
from treewright.data.memory import give_back
from treewright.data.schema import Column, Schema
from treewright.data.thresholds import middle_of
from treewright.exceptions import ParameterError

MISSING_BIN = 255
MAX_BINS = 255
_COPIED_COLUMNS = 2  # copied at a time, by each thread; one takes longer, four more memory and no less time
_MANY_CELLS = 4_000_000  # from here on the memory that sorting took is given back
_COPIED_ROWS = 2048
_INLINE_CELLS = 30_000  # below, starting a thread costs more than it saves


@dataclass(frozen=True, eq=False)
class Bins:
    """How the cells of each column become bin numbers (docs/decisions/0005).

    Attributes
    ----------
    is_nominal : bool[p]
    n_bins : int32[p], 0 to 255
        Bins that hold values; 0 for a column without any. Bin 255 stands for a missing cell.
    start : int64[p + 1]
        Where each column's bins begin in ``lowest`` and ``highest``; nominal columns have none.
    lowest, highest : float64[start[p]]
        Smallest and largest training value of each bin, ascending.
    level_start : int64[p + 1]
        Where each column's levels begin in ``level_bin``; numeric columns have none.
    level_bin : uint8[level_start[p]]
        The bin of each level, and of a level that fit never saw (``v + 1`` entries for ``v`` levels).
    """

    is_nominal: np.ndarray
    n_bins: np.ndarray
    start: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray
    level_start: np.ndarray
    level_bin: np.ndarray

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return len(self.n_bins)


def bins_of(
    matrix: np.ndarray,
    schema: Schema,
    weights: np.ndarray | None = None,
    *,
    max_bins: int = MAX_BINS,
    n_threads: int = 1,
) -> Bins:
    """Bins of every column of a table.

    Parameters
    ----------
    matrix : float32[n, p] or float64[n, p]
        Encoded: level codes, nan for missing, infinities are values. Any memory order.
    weights : float64[n], >= 0 and finite, or None
        A row of weight k counts as k rows, one of weight 0 not at all.
    max_bins : int, 2 to 255
        Most bins a column may have; a nominal one at most 254.
    n_threads : int >= 1
        The result does not depend on it.

    Examples
    --------
    >>> schema = Schema((Column("x", "numeric"), Column("c", "nominal", ("a", "b", "c"))))
    >>> bins = bins_of(np.array([[0.5, 2.0], [np.nan, 0.0], [0.5, 0.0], [4.0, 2.0]]), schema)
    >>> bins.n_bins.tolist(), bins.lowest.tolist(), bins.level_bin.tolist()
    ([2, 2], [0.5, 4.0], [0, 2, 1, 2])
    """
    max_bins = checked_max_bins(max_bins)
    n, p = matrix.shape
    whole = whole_weights(weights)
    threads_used = n_threads if n * p > _INLINE_CELLS else 1
    width = max(1, min(_COPIED_COLUMNS, -(-p // threads_used)))
    parts: list[tuple[np.ndarray, ...]] = [()] * p

    def bin_some(task: int, _thread: int) -> None:
        first = task * width
        columns = schema.columns[first : first + width]
        summaries = _summaries(matrix[:, first : first + width], whole, columns)
        for at, (summary, column) in enumerate(zip(summaries, columns, strict=True), first):
            parts[at] = column_bins(summary, column, int(max_bins))
        progress.report(first / p, "binning columns")

    threads.run_each(bin_some, -(-p // width), threads_used)
    if n * p >= _MANY_CELLS:
        give_back()
    return bins_together(parts, schema.columns)


def checked_max_bins(max_bins: Any) -> int:
    """``max_bins`` as an int; ParameterError unless it is a whole number from 2 to 255."""
    if isinstance(max_bins, bool) or not hasattr(max_bins, "__index__") or not 2 <= int(max_bins) <= MAX_BINS:
        raise ParameterError(f"max_bins={max_bins!r}: give a whole number from 2 to {MAX_BINS}")
    return int(max_bins)


def bins_of_summaries(summaries: Sequence[ColumnSummary], columns: Sequence[Column], max_bins: int) -> Bins:
    """Bins of columns from their summaries."""
    parts = [column_bins(summary, column, max_bins) for summary, column in zip(summaries, columns, strict=True)]
    return bins_together(parts, columns)


def bins_of_values(values: np.ndarray, n_values: np.ndarray) -> Bins:
    """Bins of numeric columns, one for each value: float64[k] values, ascending in each column, int64[p] counts."""
    p = len(n_values)
    return Bins(
        is_nominal=np.zeros(p, bool), n_bins=n_values.astype(np.int32), start=_starts(n_values), lowest=values,
        highest=values, level_start=np.zeros(p + 1, np.int64), level_bin=np.empty(0, np.uint8),
    )  # fmt: skip


def with_columns(bins: Bins, some: Sequence[int], others: Bins) -> Bins:
    """Bins of numeric columns, with those of the columns ``some`` replaced by ``others``."""
    n_bins = bins.n_bins.copy()
    n_bins[some] = others.n_bins
    is_kept = np.ones(len(n_bins), bool)
    is_kept[some] = False
    from_bins, into = np.repeat(is_kept, bins.n_bins), np.repeat(is_kept, n_bins)
    lowest, highest = np.empty((2, len(into)))
    for made, old, new in ((lowest, bins.lowest, others.lowest), (highest, bins.highest, others.highest)):
        made[into], made[~into] = old[from_bins], new
    return replace(bins, n_bins=n_bins, start=_starts(n_bins), lowest=lowest, highest=highest)


def summary_of_column(cells: np.ndarray, column: Column, weights: np.ndarray | None) -> ColumnSummary:
    """The summary from which ``bins_of`` cuts the bins of one column of numbers float[n]."""
    return next(_summaries(cells[:, None], whole_weights(weights), [column]))


def bins_together(parts: Sequence[tuple[np.ndarray, ...]], columns: Sequence[Column]) -> Bins:
    """The bins of all columns, from what ``column_bins`` returns for each."""
    is_nominal = np.array([column.kind == "nominal" for column in columns], bool)
    lowest, highest, level_bin = (
        np.concatenate([np.empty(0, kind), *(part[at] for part in parts)])
        for at, kind in enumerate((np.float64, np.float64, np.uint8))
    )
    return Bins(
        is_nominal=is_nominal,
        n_bins=np.array([int(part[3]) for part in parts], np.int32),
        start=_starts([len(part[0]) for part in parts]),
        lowest=lowest,
        highest=highest,
        level_start=_starts([len(part[2]) for part in parts]),
        level_bin=level_bin,
    )


def cuts_of(bins: Bins) -> tuple[np.ndarray, np.ndarray]:
    """The cuts between the bins of each numeric column.

    Returns
    -------
    cut_start : int64[p + 1]
        Where each column's cuts begin; nominal columns have none.
    cuts : float64[cut_start[p]]
        Cut ``b`` of a column is the middle between its bins ``b`` and ``b + 1``: ``x <= cut`` for the lower one.

    Examples
    --------
    >>> schema = Schema((Column("x", "numeric"),))
    >>> cuts_of(bins_of(np.array([[1.0], [2.0], [4.0]]), schema))[1].tolist()
    [1.5, 3.0]
    """
    n_values = np.diff(bins.start)
    is_first = np.zeros(len(bins.lowest) + 1, bool)
    is_first[bins.start[:-1][n_values > 0]] = True
    upper = np.flatnonzero(~is_first[:-1])
    return _starts(np.maximum(n_values - 1, 0)), middle_of(bins.highest[upper - 1], bins.lowest[upper])


def _summaries(cells: np.ndarray, weights: np.ndarray, columns: Sequence[Column]) -> Iterator[ColumnSummary]:
    """Summaries of some columns, one at a time: each is as large as its column; ``weights`` may be empty."""
    blocks = [slice(first, first + BLOCK_ROWS) for first in range(0, max(len(cells), 1), BLOCK_ROWS)]
    if len(blocks) == 1:
        together = _by_column(cells)
        yield from (summary_of(of_column, weights) for of_column in together)
        return
    gathered = [Gathered(is_nominal=column.kind == "nominal") for column in columns]
    left = list(range(len(columns)))
    while left:
        for block in blocks:
            together = _by_column(cells[block])
            for at in left:
                gathered[at].add(together[at], weights[block])
        left = [at for at in left if gathered[at].refine()]
    yield from (each.summary() for each in gathered)


def _by_column(cells: np.ndarray) -> np.ndarray:
    """The same cells column by column."""
    columns = np.empty(cells.shape[::-1], cells.dtype)
    # What is read stays in the cache until every column has it: 1 ns a cell; all rows at once take 21 (of 28 columns).
    for begin in range(0, len(cells), _COPIED_ROWS):
        columns[:, begin : begin + _COPIED_ROWS] = cells[begin : begin + _COPIED_ROWS].T
    return columns


def column_bins(summary: ColumnSummary, column: Column, max_bins: int) -> tuple[np.ndarray, ...]:
    """Lowest and highest value of each bin, bin of each level, number of bins."""
    none = np.empty(0)
    if column.kind == "nominal":
        n_levels = len(column.levels)
        is_level = (summary.values >= 0) & (summary.values < n_levels)
        codes = summary.values[is_level].astype(np.int64)
        bins, n_bins = level_bins(codes, summary.weights[is_level], n_levels, max_bins)
        return none, none, bins, np.array(n_bins)
    begins = bin_begins(summary.weights, max_bins)
    ends = np.append(begins[1:], len(summary.values))[: len(begins)] - 1
    return summary.lowest[begins], summary.values[ends], np.empty(0, np.uint8), np.array(len(begins))


def _starts(counts: np.ndarray | list[int]) -> np.ndarray:
    """Where each of several runs begins, and the end."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)))


MAX_LEVEL_BINS = 254  # one less than for numbers: a level without rows needs a bin of its own


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
        Position of the first value of each bin, m <= ``max_bins``. One bin per value if k <= ``max_bins``. Else bins
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


def heavy_values(weights: np.ndarray, max_bins: int) -> tuple[int, int]:
    """Values heavier than a bin: than the weight of the other values, divided by the number of bins left for them.

    Parameters
    ----------
    weights : int64[k]

    Returns
    -------
    smallest : int
        The smallest weight of a heavy value; larger than all weights if there is none.
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


@kernel
def fill_bins(
    weights: np.ndarray, heavy: int, n_heavy: int, n_stretches: int, max_bins: int, begins: np.ndarray
) -> int:
    """Cut an ascending list of values into bins of about equal weight.

    A heavy value has a bin of its own, and each stretch of other values between two heavy ones has at least one bin.
    The target weight of a bin within a stretch is the weight left divided by the bins left; the next value begins a
    new bin if more than half of it would exceed the target.

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


def level_bins(codes: np.ndarray, weights: np.ndarray, n_levels: int, max_bins: int) -> tuple[np.ndarray, int]:
    """The bin of each level of a nominal column.

    Parameters
    ----------
    codes : int[k]
        Levels with rows, ascending.
    weights : int64[k], >= 1
    max_bins : int, 2 to 255

    Returns
    -------
    bins : uint8[n_levels + 1]
        The last entry is for a level that fit never saw. Levels without rows have bin ``n_bins``.
    n_bins : int, 0 to min(max_bins, 254)
        If there are too many levels, the heaviest (of equals the lowest codes) have a bin of their own, in code
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
