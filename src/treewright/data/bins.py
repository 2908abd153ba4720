"""Bins of the columns: the distinct values of each column with their weights, and where bins of them begin.

    gathered = Gathered(column is nominal)
    gathered.add(cells, weights)        block by block, or of parts that are remote: gathered.join(others)
    while gathered.refine():            a column of many values needs one or two more passes
        gathered.add(cells, weights)
    gathered.summary()

A summary depends on the values and their weights alone, not on the order of rows, blocks or parts: weights are integers
with sums below 2**53, nothing is dropped because of what came first, and scaling all weights changes nothing. A column
of up to 2**16 distinct values, and any column of a table of up to 2**20 rows, is summed up value by value. In other
columns a cell stands for neighbouring values: those whose leading bits are the same. A cell that weighs more than a
fraction of 2**-15 and holds more than one value is divided in a further pass, so cuts between cells are quantiles to
within that fraction; where a cell begins and ends is exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import numpy as np

from treewright.core import progress, threads
from treewright.core.jit import allocating_kernel, costs, kernel
from treewright.data.memory import release_memory
from treewright.data.schema import Column, Schema
from treewright.exceptions import ParameterError

_LARGEST = np.finfo(np.float64).max


def middle_of(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The middle of each pair of values ``low < high``, float64[n], as a threshold of ``x <= middle``.

    At least ``low`` and never equal to ``high``, so that it separates the two even if they are neighbouring floats.
    Finite if a finite number lies there; 0.0 between the two infinities; never -0.0.
    """
    # Halves first: the sum of two large numbers would overflow. Tiny numbers would lose their last bit by halving.
    small = np.maximum(np.abs(low), np.abs(high)) < 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        middle = np.where(small, (low + high) / 2, low / 2 + high / 2)
    middle = np.where(np.isneginf(low) & np.isposinf(high), 0.0, np.clip(middle, -_LARGEST, _LARGEST))
    middle = np.where((middle >= high) | (middle < low), low, middle)
    return np.asarray(middle + 0.0)


MAX_ENTRIES = 2**16  # distinct values that are told apart in a table of more rows than a block
SHARES = 2**15  # of the whole weight that cells tell apart
BLOCK_ROWS = 2**20

_FEW = 1024  # columns with at most so many distinct values are counted in a table, without sorting
_SLOTS = 4096
_HASH = np.uint64(0x9E3779B97F4A7C15)
_HASH_SHIFT = np.uint64(64 - 12)
_MAX_WEIGHT = 2**53  # every sum of fixed-point weights is below


class ColumnSummary(NamedTuple):
    """The distinct values of a column's present cells."""

    # float64[k]; ascending and distinct; 0.0 stands for -0.0 too. If entries are cells of several values, the largest
    # of each.
    values: np.ndarray
    weights: np.ndarray  # int64[k], >= 1; their sum is below 2**53
    lowest: np.ndarray  # float64[k]; the smallest value of each entry


@allocating_kernel
def count_few(cells: np.ndarray, weights: np.ndarray, values: np.ndarray, totals: np.ndarray) -> int:
    """Weights of the distinct values, if they are few.

    Parameters
    ----------
    cells : float[n], IN
    weights : int64[n] or int64[0], IN
        Empty: every cell weighs one. Cells of weight 0 are left out.
    values : float64[1024], OUT
        Distinct values, in the order of their first row.
    totals : int64[1024], OUT

    Returns
    -------
    int
        How many distinct values there are, or -1 if there are too many.
    """
    slots = np.full(_SLOTS, -1, np.int32)
    key = np.empty(1, np.float64)
    bits = key.view(np.uint64)
    n = 0
    for i in range(cells.shape[0]):
        x = np.float64(cells[i]) + 0.0  # -0.0 becomes 0.0
        weight = weights[i] if weights.shape[0] > 0 else np.int64(1)
        if x != x or weight == 0:
            continue
        key[0] = x
        slot = np.intp((bits[0] * _HASH) >> _HASH_SHIFT)
        while slots[slot] >= 0 and values[slots[slot]] != x:
            slot = (slot + 1) & (_SLOTS - 1)
        at = slots[slot]
        if at < 0:
            if n == values.shape[0]:
                return -1
            at = n
            slots[slot] = at
            values[at] = x
            totals[at] = 0
            n += 1
        totals[at] += weight
    return n


@kernel
def distinct_values(ranked: np.ndarray, weights: np.ndarray, values: np.ndarray, totals: np.ndarray) -> int:
    """The distinct values of sorted cells, and their weights: 2 ms for a million cells, by array operations 20.

    Parameters
    ----------
    ranked : float[n], IN
        Ascending, without nan.
    weights : int64[>= n] or int64[0], IN
        Of the cells, in their order; empty: every cell weighs one.
    values : float64[n], OUT
        0.0 stands for -0.0 too.
    totals : int64[n], OUT

    Returns
    -------
    int
        How many there are.
    """
    n = 0
    for i in range(ranked.shape[0]):
        if i == 0 or ranked[i] != ranked[i - 1]:
            values[n] = np.float64(ranked[i]) + 0.0
            totals[n] = 0
            n += 1
        totals[n - 1] += weights[i] if weights.shape[0] > 0 else np.int64(1)
    return n


def whole_weights(weights: np.ndarray | None) -> np.ndarray:
    """Weights float64[n], >= 0 and finite, as int64[n] with one power-of-two scale; int64[0] for None.

    Whole-number weights stay as they are if their sum is below 2**53; others are scaled so that it is, and none that is
    positive becomes 0.
    """
    if weights is None:
        return np.empty(0, np.int64)
    largest = float(weights.max(initial=0.0))
    return whole_weights_among(weights, largest, len(weights), are_whole=bool((weights == np.rint(weights)).all()))


def whole_weights_among(weights: np.ndarray, largest: float, n: int, *, are_whole: bool) -> np.ndarray:
    """Like ``whole_weights``, for some of ``n`` rows; ``largest`` and ``are_whole`` describe the weights of all."""
    if largest == 0.0:
        return np.zeros(len(weights), np.int64)
    if largest * n < _MAX_WEIGHT and are_whole:
        return weights.astype(np.int64)
    # Mantissa and exponent apart: the sum itself may be beyond float64.
    fraction, exponent = math.frexp(largest)
    scale = 52 - exponent - math.frexp(fraction * n)[1]
    fixed = np.rint(np.ldexp(np.asarray(weights, np.float64), scale)).astype(np.int64)
    return np.where(weights > 0, np.maximum(fixed, 1), 0)


def summary_of(cells: np.ndarray, weights: np.ndarray) -> ColumnSummary:
    """Sum up float[n] cells of a column; nan and cells of weight 0 are left out, infinities are values.

    ``weights`` is int64[n], or int64[0] if every cell weighs one.
    """
    values, totals = np.empty(_FEW), np.empty(_FEW, np.int64)
    n_few = count_few(cells, weights, values, totals)
    if n_few >= 0:
        order = np.argsort(values[:n_few])
        return ColumnSummary(values[order], totals[order], values[order])
    if len(weights) and not weights.all():
        cells, weights = cells[weights > 0], weights[weights > 0]
    if len(weights):
        order = np.argsort(cells)
        ranked, weights = cells[order], weights[order]
    else:
        ranked = np.sort(cells)
    ranked = ranked[: np.searchsorted(ranked, np.nan)]  # nan sorts last
    values, totals = np.empty(len(ranked)), np.empty(len(ranked), np.int64)
    n_values = distinct_values(ranked, weights, values, totals)
    return ColumnSummary(values[:n_values], totals[:n_values], values[:n_values])


def merge(first: ColumnSummary, second: ColumnSummary) -> ColumnSummary:
    """The summary of two blocks of rows together, value by value."""
    values = np.concatenate((first.values, second.values))
    if len(values) == 0:
        return first
    order = np.argsort(values, kind="stable")  # a merge of two runs
    ranked = values[order]
    starts = np.concatenate(([0], np.flatnonzero(ranked[1:] != ranked[:-1]) + 1))
    weights = np.add.reduceat(np.concatenate((first.weights, second.weights))[order], starts)
    return ColumnSummary(ranked[starts], weights, ranked[starts])


# Columns of many values -----------------------------------------------------------------------------------------------

_LEADING = 16  # bits by which values are told apart at first: sign, exponent and the first four of the mantissa
_MOST_BITS, _SPARE_BITS = 16, 2  # of a division; beyond those that even cells would need


class Gathered:
    """A column that is summed up in one or more passes over its rows, wherever they lie.

    Parameters
    ----------
    is_nominal : bool
        Whether values are codes of levels: these are always told apart, because no code can stand for its neighbours.
    n_rows : int
        Rows of the table, if known beforehand: in a large table many values are never told apart first.
    """

    def __init__(self, *, is_nominal: bool = False, n_rows: int = 0) -> None:
        self.is_nominal, self.n_rows, self.n_known = is_nominal, 0, n_rows
        self.told_apart: ColumnSummary | None = summary_of(np.empty(0), np.empty(0, np.int64))
        self.cells: Cells | None = None

    def add(self, cells: np.ndarray, weights: np.ndarray) -> None:
        """Add a block of rows in any pass: cells float[n], weights int64[n] or int64[0]."""
        for begin in range(0, len(cells), BLOCK_ROWS):
            block = slice(begin, begin + BLOCK_ROWS)
            self._count(len(cells[block]))
            if self.told_apart is None:
                cast("Cells", self.cells).add(cells[block], weights[block])
            else:
                self.told_apart = merge(self.told_apart, summary_of(cells[block], weights[block]))
                self._count(0)

    def join(self, other: Gathered) -> None:
        """Add what was gathered from other rows in the same pass."""
        if other.told_apart is None:
            self._divide()
            cast("Cells", self.cells).join(cast("Cells", other.cells))
            return
        self._count(other.n_rows)
        if self.told_apart is None:
            cast("Cells", self.cells).add(other.told_apart.values, other.told_apart.weights)
        else:
            self.told_apart = merge(self.told_apart, other.told_apart)
            self._count(0)

    def _count(self, n_rows: int) -> None:
        """Count further rows, and switch to cells if there are too many values to tell apart."""
        self.n_rows += n_rows
        if self.told_apart is None or self.is_nominal or max(self.n_rows, self.n_known) <= BLOCK_ROWS:
            return
        if len(self.told_apart.values) > MAX_ENTRIES:
            self._divide()

    def _divide(self) -> None:
        """Switch to cells."""
        if self.told_apart is not None:
            self.cells = Cells()
            self.cells.add(self.told_apart.values, self.told_apart.weights)
            self.told_apart = None

    def emptied(self) -> Gathered:
        """An empty copy that gathers the rows of another part in a further pass."""
        other = copy(self)
        other.cells = None if self.cells is None else self.cells.emptied()
        return other

    def refine(self) -> bool:
        """End a pass over all rows; returns whether a further one is needed."""
        return self.told_apart is None and cast("Cells", self.cells).refine()

    def summary(self) -> ColumnSummary:
        """The summary after the last pass."""
        return cast("Cells", self.cells).summary() if self.told_apart is None else self.told_apart


class Cells:
    """Ranges of values, divided where much weight lies: a tree whose leaves are the cells.

    A *key* is the bits of a float64 as a whole number that rises with it. Attributes are arrays over the nodes; the
    children of a node lie side by side, and child ``i`` holds the keys from ``base + (i << shift)`` on.
    """

    def __init__(self) -> None:
        n = 1 << _LEADING
        self.base, self.shift = np.zeros(1 + n, np.uint64), np.zeros(1 + n, np.uint8)
        self.first = np.full(1 + n, -1, np.int64)
        self.shift[0], self.first[0] = 64 - _LEADING, 1
        self.held = np.zeros((1, 3), np.uint64)  # weight, lowest and highest key: side by side, in one line of a cache
        self._empty_from(1)

    def _empty_from(self, first: int) -> None:
        """Empty the nodes from ``first`` on, to which rows are added; the others keep what they hold."""
        held = np.zeros((len(self.first), 3), np.uint64)
        held[:, _LOWEST] = _LAST_KEY
        held[:first] = self.held[:first]
        self.held, self.open_from = held, first

    def emptied(self) -> Cells:
        """The same cells; those to which rows are added are empty."""
        other = copy(self)
        other._empty_from(self.open_from)
        return other

    def add(self, cells: np.ndarray, weights: np.ndarray) -> None:
        """Add rows: float[n], int64[n] or int64[0]."""
        add_to_cells(cells, weights, self.base, self.shift, self.first, self.open_from, self.held)

    def join(self, other: Cells) -> None:
        """Add the weights of other cells with the same divisions."""
        own, others = self.held[self.open_from :].T, other.held[self.open_from :].T
        own[_WEIGHT] += others[_WEIGHT]
        np.minimum(own[_LOWEST], others[_LOWEST], out=own[_LOWEST])
        np.maximum(own[_HIGHEST], others[_HIGHEST], out=own[_HIGHEST])

    def refine(self) -> bool:
        """Divide cells that weigh too much; returns whether there were any."""
        is_cell, (weight, lowest, highest) = self.first < 0, self.held.T
        limit = int(weight[is_cell].sum()) // SHARES
        heavy = np.flatnonzero(is_cell & (weight > limit) & (lowest < highest)).tolist()
        n_before = n = len(self.first)
        for node in heavy:
            width = int(highest[node]) - int(lowest[node])
            bits = min((int(weight[node]) // max(limit, 1)).bit_length() + _SPARE_BITS, _MOST_BITS)
            shift = max(0, width.bit_length() - bits)
            self.first[node], self.base[node], self.shift[node] = n, lowest[node], shift
            n += (width >> shift) + 1
        if not heavy:
            return False
        more = n - n_before
        self.base = np.append(self.base, np.zeros(more, np.uint64))
        self.shift = np.append(self.shift, np.zeros(more, np.uint8))
        self.first = np.append(self.first, np.full(more, -1, np.int64))
        self._empty_from(n_before)
        return True

    def summary(self) -> ColumnSummary:
        """The cells with rows, ascending."""
        kept = self.held[(self.first < 0) & (self.held[:, _WEIGHT] > 0)]
        weight, lowest, highest = kept[np.argsort(kept[:, _LOWEST])].T
        return ColumnSummary(_numbers_of(highest), weight.astype(np.int64), _numbers_of(lowest))


_WEIGHT, _LOWEST, _HIGHEST = range(3)
_SIGN = np.uint64(1 << 63)
_LAST_KEY = np.uint64(2**64 - 1)


def _numbers_of(keys: np.ndarray) -> np.ndarray:
    """float64[n] of uint64[n] keys."""
    return np.where(keys & _SIGN, keys ^ _SIGN, ~keys).view(np.float64)


@costs(lambda cells, *_rest: 10.0 * len(cells))
@kernel
def add_to_cells(
    cells: np.ndarray,
    weights: np.ndarray,
    base: np.ndarray,
    shift: np.ndarray,
    first: np.ndarray,
    open_from: int,
    held: np.ndarray,
) -> None:
    """Add rows to the cells that are open.

    Parameters
    ----------
    cells : float[n], IN
        nan is left out.
    weights : int64[n] or int64[0], IN
    base : uint64[m], shift : uint8[m], first : int64[m], IN
        How nodes are divided: where the keys of the first child begin, how many bits a child has; the first child, -1
        where a node is a cell.
    open_from : int
        Cells from here on are added to.
    held : uint64[m, 3], IN and OUT
        Of each cell its weight, its lowest and its highest key.
    """
    for i in range(cells.shape[0]):
        x = np.float64(cells[i]) + 0.0  # -0.0 becomes 0.0
        added = weights[i] if weights.shape[0] > 0 else np.int64(1)
        if x != x or added == 0:
            continue
        bits = np.float64(x).view(np.uint64)
        key = ~bits if bits >> np.uint64(63) else bits | (np.uint64(1) << np.uint64(63))
        at = np.int64(0)
        while first[at] >= 0:
            at = first[at] + np.int64((key - base[at]) >> np.uint64(shift[at]))
        if at >= open_from:
            held[at, 0] += np.uint64(added)
            held[at, 1] = min(held[at, 1], key)
            held[at, 2] = max(held[at, 2], key)


MISSING_BIN = 255
MAX_BINS = 255
_COPIED_COLUMNS = 2  # copied at a time, by each thread; one takes longer, four more memory and no less time
_MANY_CELLS = 4_000_000  # from here on the memory that sorting took is given back
_COPIED_ROWS = 2048
_INLINE_CELLS = 30_000  # below, starting a thread costs more than it saves


@dataclass(frozen=True, eq=False)
class Bins:
    """How the cells of each column become bin numbers (docs/decisions/0005)."""

    is_nominal: np.ndarray  # bool[p]
    # int32[p], 0 to 255; bins that hold values; 0 for a column without any. Bin 255 stands for a missing cell.
    n_bins: np.ndarray
    # int64[p + 1]; where each column's bins begin in ``lowest`` and ``highest``; nominal columns have none
    start: np.ndarray
    # lowest, highest: float64[start[p]]; smallest and largest training value of each bin, ascending
    lowest: np.ndarray
    highest: np.ndarray
    # int64[p + 1]; where each column's levels begin in ``level_bin``; numeric columns have none
    level_start: np.ndarray
    # uint8[level_start[p]]; the bin of each level, and of a level that fit never saw (``v + 1`` entries for ``v``
    # levels)
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
    """Bins of every column of an encoded table, float[n, p] in any memory order.

    A row of weight k (float64[n], >= 0 and finite) counts as k rows, one of weight 0 not at all. A column has at most
    ``max_bins`` bins, 2 to 255; a nominal one at most 254.
    """
    max_bins = checked_max_bins(max_bins)
    n, p = matrix.shape
    integer_weights = whole_weights(weights)
    threads_used = n_threads if n * p > _INLINE_CELLS else 1
    width = max(1, min(_COPIED_COLUMNS, -(-p // threads_used)))
    parts: list[tuple[np.ndarray, ...]] = [()] * p

    def bin_some(task: int, _thread: int) -> None:
        first = task * width
        columns = schema.columns[first : first + width]
        summaries = _summaries(matrix[:, first : first + width], integer_weights, columns)
        for at, (summary, column) in enumerate(zip(summaries, columns, strict=True), first):
            parts[at] = column_bins(summary, column, int(max_bins))
        progress.report(first / p, "binning columns")

    threads.run_each(bin_some, -(-p // width), threads_used)
    if n * p >= _MANY_CELLS:
        release_memory()
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
    """The cuts between the bins of each numeric column: int64[p + 1], where each column's cuts begin, and float64 cuts.

    Cut ``b`` of a column is the middle between its bins ``b`` and ``b + 1``: ``x <= cut`` for the lower one. Nominal
    columns have none.
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
        by_column = _by_column(cells)
        yield from (summary_of(of_column, weights) for of_column in by_column)
        return
    gathered = [Gathered(is_nominal=column.kind == "nominal") for column in columns]
    left = list(range(len(columns)))
    while left:
        for block in blocks:
            by_column = _by_column(cells[block])
            for at in left:
                gathered[at].add(by_column[at], weights[block])
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
    """Position of the first value of each bin of a numeric column, int64[m], m <= ``max_bins``.

    ``weights`` int64[k] are those of the distinct values, ascending. One bin per value if k <= ``max_bins``. Else bins
    of about equal weight; values that weigh more than a bin have one of their own, unless these bins and one for each
    stretch of other values between them are more than ``max_bins``.

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
    """The smallest weight of a value heavier than a bin, and how many there are, fewer than ``max_bins``.

    A bin weighs as much as the other values together, divided by the number of bins left for them. If no value is
    heavy, the smallest weight is larger than all.
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
    """The bin of each level, uint8[n_levels + 1], and the number of bins, at most 254.

    ``codes`` are the levels with rows, ascending. If there are too many levels, the heaviest (of equals the lowest
    codes) have a bin of their own, in code order, and the others share the last. Levels without rows have bin
    ``n_bins``; the last entry is for a level that fit never saw.

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
