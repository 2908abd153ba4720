"""Bins of the columns. In: an encoded matrix. Out: ``Bins``. Callers: forest, estimators, tree.packed, predict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from treewright.core import progress, threads
from treewright.data.bin_edges import bin_begins, level_bins
from treewright.data.column_summary import BLOCK_ROWS, ColumnSummary, merge, summary_of, whole_weights
from treewright.data.memory import give_back
from treewright.data.middles import middle_of
from treewright.data.schema import Column, Schema
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
        Smallest and largest training value of each bin, ascending. Of a column that was thinned (several blocks of rows
        with more than 2**16 distinct values) those of the values that stayed: between ``highest`` of a bin and
        ``lowest`` of the next there may be others. The middle of the two parts them.
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
    schema : Schema
    weights : float64[n], >= 0 and finite, or None
        A row of weight k counts as k rows, one of weight 0 not at all.
    max_bins : int, 2 to 255
        Most bins a column may have; a nominal one at most 254.
    n_threads : int >= 1
        The result does not depend on it.

    Returns
    -------
    Bins

    Raises
    ------
    ParameterError
        ``max_bins`` is not a whole number from 2 to 255.

    Examples
    --------
    >>> schema = Schema((Column("x", "numeric"), Column("c", "nominal", ("a", "b", "c"))))
    >>> bins = bins_of(np.array([[0.5, 2.0], [np.nan, 0.0], [0.5, 0.0], [4.0, 2.0]]), schema)
    >>> bins.n_bins.tolist(), bins.lowest.tolist(), bins.level_bin.tolist()
    ([2, 2], [0.5, 4.0], [0, 2, 1, 2])
    """
    if isinstance(max_bins, bool) or not hasattr(max_bins, "__index__") or not 2 <= int(max_bins) <= MAX_BINS:
        raise ParameterError(f"max_bins={max_bins!r}: give a whole number from 2 to {MAX_BINS}")
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
            parts[at] = _column_bins(summary, column, int(max_bins))
        progress.report(first / p, "binning columns")

    threads.run_each(bin_some, -(-p // width), threads_used)
    if n * p >= _MANY_CELLS:
        give_back()
    is_nominal = np.array([column.kind == "nominal" for column in schema.columns], bool)
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

    Parameters
    ----------
    bins : Bins

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
    by_column: list[ColumnSummary | None] = [None] * len(columns)
    for block in blocks:
        together = _by_column(cells[block])
        for at, column in enumerate(columns):
            new, old = summary_of(together[at], weights[block]), by_column[at]
            by_column[at] = new if old is None else merge(old, new, is_nominal=column.kind == "nominal")
    yield from (summary for summary in by_column if summary is not None)


def _by_column(cells: np.ndarray) -> np.ndarray:
    """The same cells column by column."""
    columns = np.empty(cells.shape[::-1], cells.dtype)
    # What is read stays in the cache until every column has it: 1 ns a cell; all rows at once take 21 (of 28 columns).
    for begin in range(0, len(cells), _COPIED_ROWS):
        columns[:, begin : begin + _COPIED_ROWS] = cells[begin : begin + _COPIED_ROWS].T
    return columns


def _column_bins(summary: ColumnSummary, column: Column, max_bins: int) -> tuple[np.ndarray, ...]:
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
    return summary.values[begins], summary.values[ends], np.empty(0, np.uint8), np.array(len(begins))


def _starts(counts: np.ndarray | list[int]) -> np.ndarray:
    """Where each of several runs begins, and the end."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)))
