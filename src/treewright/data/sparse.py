"""Sparse tables that stay sparse: SciPy's matrices as a ``SparseMatrix``, whose zeros are not stored.

A cell that is not stored is 0, one that is stored as nan is missing. Nothing here needs a kernel, or SciPy itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from treewright.data.cells import float_array
from treewright.data.memory import check_fits
from treewright.data.table import MATRIX_DIMENSIONS, SINGLE, check_stored, column_label, is_sparse

# A smaller table is made dense: learning is faster, and an estimator keeps its rows for audits and reports.
DENSE_BYTES = 32 * 2**20
_BLOCK_CELLS = 2**23  # of rows made dense at a time
_STORED_BYTES = 32  # a cell with its row and column, by rows and by columns, as number and as bin
_REMEDY = "keep fewer columns, or reduce them first (for example with TruncatedSVD)"

Result = TypeVar("Result")


def stays_sparse(X: Any) -> bool:
    """Whether a table is a sparse matrix of numbers that is large as a dense one, and larger than as a sparse one."""
    if not is_sparse(X) or len(X.shape) != MATRIX_DIMENSIONS or X.dtype.kind not in "biuf" or 0 in X.shape:
        return False
    dense = 8 * int(X.shape[0]) * int(X.shape[1])
    return dense > DENSE_BYTES and _STORED_BYTES * int(X.nnz) < dense


class SparseMatrix:
    """An encoded table whose zeros are not stored; it is indexed by rows and columns like the dense matrix.

    ``stored`` is a csr_matrix of float64 or float32 [n, p], sorted, without duplicates and without zeros. It may be the
    caller's own: never write to it.
    """

    def __init__(self, stored: Any) -> None:
        self.stored = stored

    @classmethod
    def of(cls, X: Any) -> SparseMatrix:
        """A sparse matrix of numbers in any format; the caller's is left as it is, duplicates are added up."""
        check_stored(X)
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
        """Some rows as a sparse matrix; ``[:, column]`` is a column, float64[n]."""
        if isinstance(chosen, tuple):
            return self.stored[:, [chosen[1]]].toarray()[:, 0].astype(np.float64, copy=False)
        return SparseMatrix(self.stored[chosen])

    def dense(self, remedy: str = "") -> np.ndarray:
        """The dense matrix, if it fits in memory; ``remedy`` is further advice for the error if it does not."""
        n, p = self.shape
        first = f"{remedy}; or " if remedy else ""
        check_fits(n * p * 8, f"the sparse {n} x {p} matrix, stored densely,", first + _REMEDY)
        return np.asarray(self.stored.toarray())

    def blocks(self) -> Iterator[np.ndarray]:
        """The rows as dense blocks, one after another in the same memory: each overwrites the one before."""
        n, p = self.shape
        buffer = np.zeros((max(1, min(n, _BLOCK_CELLS // p)), p), self.stored.dtype)
        for first in range(0, n, len(buffer)):
            part = self.stored[first : first + len(buffer)]
            rows = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
            buffer[rows, part.indices] = part.data
            yield buffer[: part.shape[0]]
            buffer[rows, part.indices] = 0.0

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


def by_blocks(compute: Callable[[np.ndarray], Result], matrix: Any) -> Result:
    """The result of a function for the rows of a matrix, block by block if it is sparse.

    ``compute`` takes float[m, p] and returns an array with m rows, or a list of such arrays.
    """
    if not isinstance(matrix, SparseMatrix):
        return compute(matrix)
    parts: list[Any] = [compute(block) for block in matrix.blocks()]
    joined: Any = np.concatenate(parts) if isinstance(parts[0], np.ndarray) else [
        np.concatenate(of_output) for of_output in zip(*parts, strict=True)
    ]  # fmt: skip
    results: Result = joined
    return results


def _place_of(rows: Any, at: int) -> tuple[str, int]:
    """The label of a stored cell's column, and its row."""
    return column_label(None, int(rows.indices[at])), int(np.searchsorted(rows.indptr, at, "right")) - 1
