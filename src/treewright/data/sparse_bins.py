"""Bins of a sparse table. In: ``SparseMatrix``. Out: ``Bins``, its rows as the bins of their stored cells.

All cells of a column that are not stored have one bin, the column's *usual* one: so bins are cut from the stored
values and one 0 that weighs as much as all cells that are not stored, and rows are the bins of their stored cells.
Both are the same as for the dense table.

Up to 255 bins a column are bytes. With ``max_bins=EVERY_VALUE`` each value is a bin, however many there are: then a bin
is the value's rank in its column, and where a column has more than 255 values all codes are 32 bits wide.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from treewright.core.jit import kernel
from treewright.data.bins import (
    MAX_BINS,
    MISSING_BIN,
    Bins,
    bins_of_summaries,
    bins_of_values,
    cuts_of,
    summary_of_column,
    with_columns,
)
from treewright.data.column_summary import BLOCK_ROWS, MAX_ENTRIES, ColumnSummary, whole_weights
from treewright.data.schema import Schema
from treewright.data.sparse import SparseMatrix


def bins_of_sparse(
    matrix: SparseMatrix, schema: Schema, weights: np.ndarray | None = None, *, max_bins: int = MAX_BINS
) -> Bins:
    """Bins of every column, the same as ``data.bins.bins_of`` makes from the dense matrix.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> from treewright.data.schema import Column
    >>> bins = bins_of_sparse(SparseMatrix.of(csr_matrix([[0, 3], [2, 0]])), Schema((Column("a", "numeric"),) * 2))
    >>> bins.n_bins.tolist(), bins.lowest.tolist()
    ([2, 2], [0.0, 2.0, 0.0, 3.0])
    """
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
    """The rows of a sparse table as the bins of their stored cells; it takes the place of ``uint8[n, stride]``.

    Attributes
    ----------
    by_row : csr_matrix of uint8 or int32 [n, p]
        Bins of the stored cells, 0 among them.
    usual : uint8[p] or int32[p]
        The bin of a cell that is not stored.
    """

    by_row: Any
    usual: np.ndarray

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
    """The rows of a sparse table as bins, the same as ``data.bin_rows.bin_rows`` finds for the dense matrix.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> from treewright.data.schema import Column
    >>> matrix = SparseMatrix.of(csr_matrix([[0, 3], [-2, 0]]))
    >>> codes = codes_of_sparse(bins_of_sparse(matrix, Schema((Column("a", "numeric"),) * 2)), matrix)
    >>> codes.dense()[:, :2].tolist(), codes.usual.tolist()
    ([[1, 1], [0, 0]], [1, 0])
    """
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
