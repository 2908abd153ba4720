"""Sparse tables that stay sparse. In: SciPy matrices. Out: ``SparseMatrix``, its bins, its rows as bins.

A cell that is not stored is 0, one that is stored as nan is missing. All cells of a column that are not stored have one
bin, the column's *usual* one: so bins are cut from the stored values and one 0 that weighs as much as all cells that
are not stored, and rows are the bins of their stored cells. Both are what the dense table gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from treewright.core.jit import kernel
from treewright.data.bins import MAX_BINS, MISSING_BIN, Bins, bins_of_summaries, cuts_of, summary_of_column
from treewright.data.cells import float_array
from treewright.data.column_summary import BLOCK_ROWS, MAX_ENTRIES, ColumnSummary, whole_weights
from treewright.data.memory import check_fits
from treewright.data.schema import Schema
from treewright.data.table import MATRIX_DIMENSIONS, SINGLE, column_label, is_sparse

# A smaller table is made dense: it is learned from sooner, and an estimator keeps its rows for audits and reports.
DENSE_BYTES = 32 * 2**20
_BLOCK_CELLS = 2**23  # of rows made dense at a time
_STORED_BYTES = 32  # a cell with its row and column, by rows and by columns, as number and as bin
_REMEDY = "keep fewer columns, or reduce them first (for example with TruncatedSVD)"

Answer = TypeVar("Answer")


def stays_sparse(X: Any) -> bool:
    """Whether a table is a sparse matrix of numbers that takes more memory as a dense one, and much of it."""
    if not is_sparse(X) or len(X.shape) != MATRIX_DIMENSIONS or X.dtype.kind not in "biuf" or 0 in X.shape:
        return False
    dense = 8 * int(X.shape[0]) * int(X.shape[1])
    return dense > DENSE_BYTES and _STORED_BYTES * int(X.nnz) < dense


class SparseMatrix:
    """An encoded table whose zeros are not stored; rows and columns are taken of it as of the dense matrix.

    Attributes
    ----------
    stored : csr_matrix of float64 or float32 [n, p]
        Sorted, without duplicates and without zeros. It may be the caller's own: never write to it.
    """

    def __init__(self, stored: Any) -> None:
        self.stored = stored

    @classmethod
    def of(cls, X: Any) -> SparseMatrix:
        """A sparse matrix of numbers in any format; the caller's is left as it is, duplicates are added up."""
        rows = X.tocsr()
        if not rows.has_canonical_format:
            rows = rows.copy() if rows is X else rows
            rows.sum_duplicates()
        if rows.dtype.newbyteorder("=") != SINGLE:
            data = float_array(rows.data, lambda at: _place_of(rows, int(at[0])))
            rows = type(rows)((data, rows.indices, rows.indptr), shape=rows.shape)
        if not rows.data.all():
            rows = rows.copy()
            rows.eliminate_zeros()
        return cls(rows)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return int(self.stored.shape[0]), int(self.stored.shape[1])

    def __len__(self) -> int:
        return int(self.stored.shape[0])

    def __getitem__(self, chosen: Any) -> Any:
        """Some rows as a sparse matrix; of ``[:, column]`` a column, float64[n]."""
        if isinstance(chosen, tuple):
            return self.stored[:, [chosen[1]]].toarray()[:, 0].astype(np.float64, copy=False)
        return SparseMatrix(self.stored[chosen])

    def dense(self, remedy: str = "") -> np.ndarray:
        """The dense matrix, where it fits in memory; ``remedy`` says what to do if not, beside having fewer columns."""
        n, p = self.shape
        first = f"{remedy}; or " if remedy else ""
        check_fits(n * p * 8, f"the sparse {n} x {p} matrix, stored densely,", first + _REMEDY)
        return np.asarray(self.stored.toarray())

    def blocks(self) -> Iterator[np.ndarray]:
        """The rows as dense blocks, one after another in the same memory: each is spoilt by the next."""
        n, p = self.shape
        room = np.zeros((max(1, min(n, _BLOCK_CELLS // p)), p), self.stored.dtype)
        for first in range(0, n, len(room)):
            part = self.stored[first : first + len(room)]
            rows = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
            room[rows, part.indices] = part.data
            yield room[: part.shape[0]]
            room[rows, part.indices] = 0.0

    def missing_columns(self) -> set[int]:
        """Positions of the columns that hold a nan."""
        return set(np.unique(self.stored.indices[np.isnan(self.stored.data)]).tolist())

    def is_constant(self) -> bool:
        """Whether every column holds one value, or none."""
        by_column = self.stored.tocsc()
        counts = np.diff(by_column.indptr)
        if ((counts > 0) & (counts < len(self))).any():
            return False
        full = by_column.data.reshape(-1, len(self))
        return bool(((full == full[:, :1]) | np.isnan(full) & np.isnan(full[:, :1])).all())


def by_blocks(answer: Callable[[np.ndarray], Answer], matrix: Any) -> Answer:
    """What a function answers for the rows of a matrix: of a sparse one block by block.

    ``answer`` takes float[m, p] and returns an array with m rows, or a list of such arrays.
    """
    if not isinstance(matrix, SparseMatrix):
        return answer(matrix)
    parts: list[Any] = [answer(block) for block in matrix.blocks()]
    together: Any = np.concatenate(parts) if isinstance(parts[0], np.ndarray) else [
        np.concatenate(of_output) for of_output in zip(*parts, strict=True)
    ]  # fmt: skip
    answers: Answer = together
    return answers


def _place_of(rows: Any, at: int) -> tuple[str, int]:
    """The label of a stored cell's column, and its row."""
    return column_label(None, int(rows.indices[at])), int(np.searchsorted(rows.indptr, at, "right")) - 1


def bins_of_sparse(
    matrix: SparseMatrix, schema: Schema, weights: np.ndarray | None = None, *, max_bins: int = MAX_BINS
) -> Bins:
    """Bins of every column, as ``data.bins.bins_of`` cuts them of the dense matrix.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> from treewright.data.schema import Column
    >>> bins = bins_of_sparse(SparseMatrix.of(csr_matrix([[0, 3], [2, 0]])), Schema((Column("a", "numeric"),) * 2))
    >>> bins.n_bins.tolist(), bins.lowest.tolist()
    ([2, 2], [0.0, 2.0, 0.0, 3.0])
    """
    n = len(matrix)
    values, heaviness, begins = _distinct(matrix, whole_weights(weights))
    summaries = [
        ColumnSummary(values[first:last], heaviness[first:last])
        for first, last in zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True)
    ]
    if n > BLOCK_ROWS:  # summed up block by block, of many values not all are kept
        for column in np.flatnonzero(np.diff(begins) > MAX_ENTRIES).tolist():
            summaries[column] = summary_of_column(matrix[:, column], schema.columns[column], weights)
    return bins_of_summaries(summaries, schema, max_bins)


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


@dataclass(frozen=True, eq=False)
class SparseCodes:
    """Rows as bin numbers, of a sparse table: those of the stored cells. It stands where ``uint8[n, stride]`` stands.

    Attributes
    ----------
    by_row : csr_matrix of uint8 [n, p]
        Bins of the stored cells, 0 among them.
    usual : uint8[p]
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
    def arrays(self) -> tuple[np.ndarray, ...]:
        """All that it holds."""
        return self.by_row.data, self.by_row.indices, self.by_row.indptr, self.usual

    @cached_property
    def by_column(self) -> Any:
        """The same cells column by column: csc_matrix of uint8 [n, p]."""
        return self.by_row.tocsc()

    def __getitem__(self, rows: Any) -> SparseCodes:
        return SparseCodes(self.by_row[rows], self.usual)

    def has_missing(self) -> np.ndarray:
        """bool[p]: whether a column holds missing cells."""
        found = np.zeros(len(self.usual), bool)
        found[self.by_row.indices[self.by_row.data == MISSING_BIN]] = True
        return found

    def dense(self, rows: Any = slice(None)) -> np.ndarray:
        """uint8[m, stride]: some rows as ``bin_rows`` writes them."""
        part = self.by_row[rows]
        codes = np.zeros((part.shape[0], self.shape[1]), np.uint8)
        codes[:, : len(self.usual)] = self.usual
        codes[np.repeat(np.arange(part.shape[0]), np.diff(part.indptr)), part.indices] = part.data
        return codes


@kernel
def search_bins(
    cut_start: np.ndarray, cuts: np.ndarray, columns: np.ndarray, cells: np.ndarray, codes: np.ndarray
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
    codes : uint8[m], OUT
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
        codes[i] = MISSING_BIN if cells[i] != cells[i] else low - first


def codes_of_sparse(bins: Bins, matrix: SparseMatrix) -> SparseCodes:
    """The rows of a sparse table as bins, as ``data.bin_rows.bin_rows`` finds them of the dense matrix.

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
    found, usual = np.empty(len(stored.data), np.uint8), np.empty(p, np.uint8)
    search_bins(cut_start, cuts, stored.indices.astype(np.int32), stored.data.astype(np.float64), found)
    search_bins(cut_start, cuts, np.arange(p, dtype=np.int32), np.zeros(p), usual)
    return SparseCodes(type(stored)((found, stored.indices, stored.indptr), shape=stored.shape), usual)
