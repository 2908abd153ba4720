"""The rows of a table as bin numbers: ``uint8[n, stride]`` of a dense table, ``SparseCodes`` of a sparse one.

The rows are cut into small blocks that stay in the nearest cache. A block's column is copied into a buffer and then
searched, all rows a step at a time and without a branch: a branch would be mispredicted every other time. If the cuts
lie evenly enough, a grid gives the position to start from, and one or two comparisons finish the search; otherwise it
is a binary search. A cell's place on the grid is rounded, but it never falls as the cell rises: cuts on earlier places
lie below the cell, cuts on later places do not, and cuts on its own place are compared.

In a sparse table all cells of a column that are not stored have one bin, the column's *usual* one: bins are cut from
the stored values and one 0 that weighs as much as all cells that are not stored, and rows are the bins of their stored
cells. Both are the same as for the dense table.

Up to 255 bins a column are bytes. With ``max_bins=EVERY_VALUE`` each value of a sparse table is a bin, however many
there are: then a bin is the value's rank in its column, and if a column has more than 255 values all codes are 32 bits
wide.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from treewright.core import threads
from treewright.core.jit import allocating_kernel, inner_kernel, kernel
from treewright.data.bins import (
    BLOCK_ROWS,
    MAX_BINS,
    MAX_ENTRIES,
    MISSING_BIN,
    Bins,
    ColumnSummary,
    bins_of_summaries,
    bins_of_values,
    cuts_of,
    summary_of_column,
    whole_weights,
    with_columns,
)
from treewright.data.schema import Schema
from treewright.data.sparse import SparseMatrix

_BLOCK = 256  # rows a kernel searches at a time
_TASK_ROWS = 8192
_NOMINAL, _ON_GRID = -1, -2
_GRIDS = (1024, 4096)  # places of a grid, as many bytes
_FEW_LOOKS, _MOST_LOOKS = 2, 4
_LINE = 3  # numbers that say where a grid lies

_tables: WeakKeyDictionary[Bins, BinTables] = WeakKeyDictionary()


class BinTables(NamedTuple):
    """The tables that the kernel searches. Few arrays: for a single row, passing them takes longer than the search."""

    # int64[p, 4]; how a column is searched: how often its cuts are halved, or ``_NOMINAL`` or ``_ON_GRID``; where its
    # cuts begin in ``numbers``, or its levels in ``codes``; its levels, without the entry for a level never seen, or
    # where its grid begins in ``codes``; most cuts on one place of the grid
    columns: np.ndarray
    # float64; the cuts of each column. To be halved: filled up with inf to ``2**steps - 1``, as a heap: entry 0 is not
    # used, entry 1 is the middle one, and from entry k the search goes on at 2k or, if the cut is below the value, at
    # 2k + 1. With a grid: the value of its first place, places a unit, the last place; the cuts, ascending; inf.
    numbers: np.ndarray
    codes: np.ndarray  # uint8; the bins of the levels; how many cuts lie before each place of a grid


@inner_kernel
def _search_on_grid(tables: BinTables, column: int, m: int, cells: np.ndarray, place: np.ndarray) -> None:
    """Write to ``place`` uint64[>= m] how many cuts lie below each of ``m`` ``cells`` float64[>= m]; 0 if missing."""
    first, grid_start, n_looks = tables.columns[column, 1], tables.columns[column, 2], tables.columns[column, 3]
    line = tables.numbers[first : first + _LINE]
    origin, scale, last = line[0], line[1], line[2]
    cuts, grid = tables.numbers[first + _LINE :], tables.codes[grid_start:]
    for i in range(m):
        at_line = (cells[i] - origin) * scale
        at_line = at_line if at_line > 0.0 else 0.0  # noqa: FURB136 - nan becomes 0, too
        at_line = at_line if at_line < last else last  # noqa: FURB136 - as above
        place[i] = np.uint64(np.int64(at_line))
    for i in range(m):
        at = np.uint64(grid[place[i]])
        place[i] = at + np.uint64(cuts[at] < cells[i])
    for _ in range(n_looks - 1):
        for i in range(m):
            at = place[i]
            place[i] = at + np.uint64(cuts[at] < cells[i])


@allocating_kernel
def bin_block(matrix: np.ndarray, tables: BinTables, out: np.ndarray) -> None:
    """Bin some rows.

    Parameters
    ----------
    matrix : float32[n, p] or float64[n, p], IN
    out : uint8[n, stride], OUT
        Columns from p on are left as they are.
    """
    n, p = matrix.shape
    cells = np.empty(_BLOCK, np.float64)
    place = np.empty(_BLOCK, np.uint64)  # unsigned: a negative index would be one more case
    one = np.uint64(1)
    for begin in range(0, n, _BLOCK):
        m = min(_BLOCK, n - begin)
        for column in range(p):
            for i in range(m):
                cells[i] = np.float64(matrix[begin + i, column])
                place[i] = one
            steps, first = tables.columns[column, 0], tables.columns[column, 1]
            if steps == _ON_GRID:
                _search_on_grid(tables, column, m, cells, place)
            elif steps < 0:
                n_levels = tables.columns[column, 2]
                for i in range(m):
                    code = np.int64(cells[i]) if 0.0 <= cells[i] < n_levels else n_levels
                    place[i] = np.uint64(tables.codes[first + code])
            else:
                heap = tables.numbers[first : first + (1 << steps)]
                for _ in range(steps):
                    for i in range(m):
                        at = place[i]
                        place[i] = at + at + np.uint64(heap[at] < cells[i])
            # A search ends in the heap's row below the last: its place without the leading bit is the bin.
            leading = np.uint64(0) if steps < 0 else one << np.uint64(steps)
            for i in range(m):
                is_missing = cells[i] != cells[i]
                out[begin + i, column] = MISSING_BIN if is_missing else np.uint8(place[i] - leading)


def tables_of(bins: Bins) -> BinTables:
    """The tables of ``bin_block``, made once for each ``Bins``."""
    tables = _tables.get(bins)
    if tables is None:
        tables = _tables[bins] = _new_tables(bins)
    return tables


def _new_tables(bins: Bins) -> BinTables:
    cut_start, cuts = cuts_of(bins)
    columns = np.zeros((bins.n_columns, 4), np.int64)
    numbers, codes = [np.empty(0)], [bins.level_bin.astype(np.uint8)]
    n_numbers, n_codes = 0, len(bins.level_bin)
    for column in range(bins.n_columns):
        if bins.is_nominal[column]:
            begin, end = bins.level_start[column : column + 2]
            columns[column] = _NOMINAL, begin, end - begin - 1, 0
            continue
        own = cuts[cut_start[column] : cut_start[column + 1]]
        steps = len(own).bit_length()
        found = _grid_of(own, steps)
        if found is None:
            columns[column] = steps, n_numbers, 0, 0
            numbers.append(_heap_of(own, steps))
        else:
            line, n_looks, grid = found
            columns[column] = _ON_GRID, n_numbers, n_codes, n_looks
            numbers.append(np.concatenate((line, own, (np.inf,))))
            codes.append(grid)
            n_codes += len(grid)
        n_numbers += len(numbers[-1])
    return BinTables(columns, np.concatenate(numbers), np.concatenate(codes))


def _heap_of(cuts: np.ndarray, steps: int) -> np.ndarray:
    """Ascending cuts as ``BinTables.numbers`` has them: ``2**steps`` entries."""
    filled = np.full((1 << steps) - 1, np.inf)
    filled[: len(cuts)] = cuts
    heap = np.full(1 << steps, np.inf)
    for row in range(steps):  # row r of the heap holds every (2**(steps - r))-th cut
        stride = len(heap) >> row
        heap[1 << row : 2 << row] = filled[stride // 2 - 1 :: stride]
    return heap


def _grid_of(cuts: np.ndarray, steps: int) -> tuple[tuple[float, float, float], int, np.ndarray] | None:
    """Line, number of looks and grid for ascending cuts; None if a binary search of ``steps`` steps is faster."""
    if steps <= _FEW_LOOKS or not (np.isfinite(cuts[0]) and np.isfinite(cuts[-1])):
        return None
    for n_places in _GRIDS:
        with np.errstate(all="ignore"):
            scale = n_places / (cuts[-1] - cuts[0])
            if not (np.isfinite(scale) and scale > 0):
                return None
            # As the kernel computes it; each step keeps the order of the cuts.
            place = np.clip((cuts - cuts[0]) * scale, 0, n_places - 1).astype(np.int64)
        most = _MOST_LOOKS if n_places == _GRIDS[-1] else _FEW_LOOKS
        looks = next((k for k in range(1, most + 1) if not (place[k:] == place[:-k]).any()), most + 1)
        # Finding the place takes as long as a step (254 cuts of a normal column, one look: 2.7 ns a cell, not 6.2).
        if looks <= most and looks + 1 < steps:
            grid = np.searchsorted(place, np.arange(n_places)).astype(np.uint8)
            return (float(cuts[0]), float(scale), n_places - 1.0), looks, grid
    return None


def bin_rows(bins: Bins, matrix: np.ndarray | SparseMatrix, n_threads: int = 1) -> np.ndarray:
    """The rows of a table as bin numbers, uint8[n, stride], row-major; ``stride`` is p rounded up to a multiple of 8.

    ``matrix`` is float32[n, p] or float64[n, p] in any memory order, encoded as the matrix that the bins were made of.
    A number's bin is how many cuts lie below it, a level's bin is in ``level_bin``, a missing cell is 255; columns from
    p on are 0. A value in a column without values at fit has bin 0, a level that fit never saw the last entry of
    ``level_bin``.
    """
    if isinstance(matrix, SparseMatrix):
        return codes_of_sparse(bins, matrix).dense()
    n, p = matrix.shape
    out = np.zeros((n, -(-p // 8) * 8), np.uint8)
    tables = tables_of(bins)

    def bin_some(task: int, _thread: int) -> None:
        rows = slice(task * _TASK_ROWS, (task + 1) * _TASK_ROWS)
        bin_block(_writeable(matrix[rows]), tables, out[rows])

    threads.run_each(bin_some, -(-n // _TASK_ROWS), n_threads)
    return out


def bin_columns(bins: Bins, matrix: np.ndarray | SparseMatrix, columns: np.ndarray) -> None:
    """The same column by column, into uint8[p, m] with m >= n; entries from n on are left as they are."""
    if isinstance(matrix, SparseMatrix):
        columns[:, : len(matrix)] = codes_of_sparse(bins, matrix).dense()[:, : bins.n_columns].T
        return
    bin_block(_writeable(matrix), tables_of(bins), columns.T)


def _writeable(block: np.ndarray) -> np.ndarray:
    """The block, or a copy if it is read-only or not aligned: the kernel would be compiled anew for such a block."""
    return block if block.flags.writeable and block.flags.aligned else block.copy()


def bins_of_sparse(
    matrix: SparseMatrix, schema: Schema, weights: np.ndarray | None = None, *, max_bins: int = MAX_BINS
) -> Bins:
    """Bins of every column, the same as ``bins_of`` makes from the dense matrix."""
    values, heaviness, begins = _distinct(matrix, whole_weights(weights))
    n_values = np.diff(begins)
    # Most columns have few values: each value is a bin, without a step of Python for each of 100,000 columns.
    bins = bins_of_values(values, n_values)
    many = np.flatnonzero(n_values > max_bins).tolist()
    if not many:
        return bins
    summaries = [
        ColumnSummary(own := values[begins[at] : begins[at + 1]], heaviness[begins[at] : begins[at + 1]], own)
        for at in many
    ]
    for place, at in enumerate(many):
        # In a large table not all of many values are told apart.
        if len(matrix) > BLOCK_ROWS and n_values[at] > MAX_ENTRIES:
            summaries[place] = summary_of_column(matrix[:, at], schema.columns[at], weights)
    return with_columns(bins, many, bins_of_summaries(summaries, [schema.columns[at] for at in many], max_bins))


def _distinct(matrix: SparseMatrix, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct values of all columns, ascending in each, their weights, and int64[p + 1], where each column begins."""
    n, p = matrix.shape
    by_column = matrix.stored.tocsc()
    columns = np.repeat(np.arange(p), np.diff(by_column.indptr))
    cells = by_column.data.astype(np.float64)
    weight = weights[by_column.indices] if len(weights) else np.ones(len(cells), np.int64)
    total = int(weights.sum()) if len(weights) else n
    stored = np.zeros(p, np.int64)
    np.add.at(stored, columns, weight)
    with_zero = np.flatnonzero(stored < total)
    present = ~np.isnan(cells)
    columns = np.concatenate((columns[present], with_zero))
    cells = np.concatenate((cells[present], np.zeros(len(with_zero))))
    weight = np.concatenate((weight[present], (total - stored)[with_zero]))
    order = np.lexsort((cells, columns))
    columns, cells, weight = columns[order], cells[order], weight[order]
    is_new = np.ones(len(cells), bool)
    is_new[1:] = (columns[1:] != columns[:-1]) | (cells[1:] != cells[:-1])
    first = np.flatnonzero(is_new)
    begins = np.searchsorted(columns[first], np.arange(p + 1))
    return cells[first], np.add.reduceat(weight, first) if len(first) else weight, begins


EVERY_VALUE = 2**31 - 2  # bins
MISSING_RANK = np.int32(2**31 - 1)  # the code of a missing cell where codes are 32 bits wide


@dataclass(frozen=True, eq=False)
class SparseCodes:
    """The rows of a sparse table as the bins of their stored cells; it takes the place of ``uint8[n, stride]``."""

    by_row: Any  # csr_matrix of uint8 or int32 [n, p]; bins of the stored cells, 0 among them
    usual: np.ndarray  # uint8[p] or int32[p]; the bin of a cell that is not stored

    def __len__(self) -> int:
        return int(self.by_row.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and bytes of a row as ``bin_rows`` writes it: the columns, rounded up to a multiple of 8."""
        return len(self), -(-len(self.usual) // 8) * 8

    @property
    def are_ranks(self) -> bool:
        """Whether codes are ranks of values, of which a column may have more than 255."""
        return bool(self.usual.dtype == np.int32)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """All arrays that it holds."""
        return self.by_row.data, self.by_row.indices, self.by_row.indptr, self.usual

    @cached_property
    def by_column(self) -> Any:
        """The same cells column by column: csc_matrix of the same codes [n, p]."""
        return self.by_row.tocsc()

    def __getitem__(self, rows: Any) -> SparseCodes:
        return SparseCodes(self.by_row[rows], self.usual)

    def has_missing(self) -> np.ndarray:
        """bool[p]: whether a column holds missing cells."""
        found = np.zeros(len(self.usual), bool)
        missing = MISSING_RANK if self.are_ranks else MISSING_BIN
        found[self.by_row.indices[self.by_row.data == missing]] = True
        return found

    def dense(self, rows: Any = slice(None)) -> np.ndarray:
        """uint8[m, stride], or int32 of ranks: some rows as ``bin_rows`` writes them."""
        part = self.by_row[rows]
        codes = np.zeros((part.shape[0], self.shape[1]), self.usual.dtype)
        codes[:, : len(self.usual)] = self.usual
        codes[np.repeat(np.arange(part.shape[0]), np.diff(part.indptr)), part.indices] = part.data
        return codes


@kernel
def search_bins(
    cut_start: np.ndarray, cuts: np.ndarray, columns: np.ndarray, cells: np.ndarray, missing: int, codes: np.ndarray
) -> None:
    """Bins of single cells: how many cuts of the cell's column lie below it.

    Parameters
    ----------
    cut_start : int64[p + 1], IN
    cuts : float64[k], IN
        Of all columns, one after another, ascending in each.
    columns : int32[m], IN
    cells : float64[m], IN
        nan is missing.
    missing : int
        The code of a missing cell.
    codes : int32[m], OUT
    """
    for i in range(len(cells)):
        first = cut_start[columns[i]]
        low = first
        high = cut_start[columns[i] + 1]
        while low < high:
            middle = (low + high) >> 1
            if cuts[middle] < cells[i]:
                low = middle + 1
            else:
                high = middle
        codes[i] = missing if cells[i] != cells[i] else low - first


def codes_of_sparse(bins: Bins, matrix: SparseMatrix) -> SparseCodes:
    """The rows of a sparse table as bins, the same as ``bin_rows`` finds for the dense matrix."""
    cut_start, cuts = cuts_of(bins)
    stored, p = matrix.stored, bins.n_columns
    found, usual = np.empty(len(stored.data), np.int32), np.empty(p, np.int32)
    is_narrow = int(bins.n_bins.max(initial=0)) <= MAX_BINS
    missing = MISSING_BIN if is_narrow else int(MISSING_RANK)
    search_bins(cut_start, cuts, stored.indices.astype(np.int32), stored.data.astype(np.float64), missing, found)
    search_bins(cut_start, cuts, np.arange(p, dtype=np.int32), np.zeros(p), missing, usual)
    if is_narrow:
        found, usual = found.astype(np.uint8), usual.astype(np.uint8)
    return SparseCodes(type(stored)((found, stored.indices, stored.indptr), shape=stored.shape), usual)
