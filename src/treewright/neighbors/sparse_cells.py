"""Sparse tables, checked. In: a scipy sparse matrix. Out: CSR rows in one form. Callers: neighbors.sparse, estimators.

A matrix put together by hand can hold anything in its arrays; kernels that trusted it would read beyond them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.exceptions import DataError, MissingValueError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["checked_rows"]

_MOST_ROWS = 2**31 - 1


def checked_rows(X: Any, n_columns: int | None = None, name: str = "X") -> csr_matrix:
    """A copy of a sparse table in one form: float64, columns of a row ascending, each once, no cell that is 0.

    Parameters
    ----------
    X : scipy sparse matrix or array of any format, of numbers
        It stays as it is. Cells given twice are added up, as scipy means them.
    n_columns : int, optional
        How many columns it has to have: those of the fit.
    name : str
        What errors call it.

    Returns
    -------
    scipy.sparse.csr_matrix, float64

    Raises
    ------
    DataError
        No matrix of two dimensions, no rows or columns, another number of columns, cells that are no real numbers, an
        infinite cell, or arrays that make no matrix.
    MissingValueError
        A cell is nan.

    Examples
    --------
    >>> from scipy.sparse import coo_array
    >>> rows = checked_rows(coo_array(([1.0, 2.0, 0.0], ([0, 0, 1], [2, 2, 0])), shape=(2, 3)))
    >>> rows.data.tolist(), rows.indices.tolist(), rows.indptr.tolist()
    ([3.0], [2], [0, 1, 1])
    """
    from scipy.sparse import csr_matrix, issparse  # 50 ms that dense tables do not need

    if not issparse(X):
        raise DataError(f"{name} is a {type(X).__name__}: give a scipy sparse matrix, or dense rows to a dense search")
    if len(X.shape) != 2:
        raise DataError(f"{name} has shape {X.shape}: give a sparse matrix of two dimensions, such as csr_matrix")
    n, p = (int(size) for size in X.shape)
    if n < 1 or p < 1:
        raise DataError(f"{name} has shape ({n}, {p}): at least one row (sample) and one column (feature) are needed")
    if n > _MOST_ROWS:
        raise DataError(f"{name} has {n} rows: a sparse search takes up to {_MOST_ROWS}; use fewer")
    if n_columns is not None and p != n_columns:
        raise DataError(f"{name} has {p} columns (features), the rows of the fit have {n_columns}: give the same ones")
    if X.dtype.kind not in "biuf":
        raise DataError(f"{name} has cells of dtype {X.dtype}: give real numbers")
    _check_arrays(X, n, p, name)
    rows = csr_matrix(X, dtype=np.float64, copy=True)
    rows.has_sorted_indices = rows.has_canonical_format = False  # whatever the matrix says of itself
    rows.prune()  # arrays may be longer than what they hold
    _check_cells(rows, name, "")
    rows.sum_duplicates()
    _check_cells(rows, name, ", where cells given twice are added up")
    rows.eliminate_zeros()
    return rows


def _check_arrays(X: Any, n: int, p: int, name: str) -> None:
    """Refuse arrays of CSR, CSC and COO that point outside the matrix: scipy believes them unseen."""
    if X.format in ("csr", "csc"):
        n_major, n_minor = (n, p) if X.format == "csr" else (p, n)
        ends, places = np.asarray(X.indptr), np.asarray(X.indices)
        is_wrong = (
            len(ends) != n_major + 1
            or ends[0] != 0
            or bool((ends[1:] < ends[:-1]).any())
            or ends[-1] > min(len(places), len(X.data))
        )
        pairs = [] if is_wrong else [(places[: int(ends[-1])], n_minor)]
    elif X.format == "coo":
        is_wrong = len({len(X.data), *map(len, X.coords)}) > 1
        pairs = list(zip(X.coords, (n, p), strict=True))
    else:
        return
    if is_wrong:
        raise DataError(f"the arrays of {name} ({X.format} format) make no matrix of {n} x {p}: build it anew")
    for places, size in pairs:
        outside = places[(places < 0) | (places >= size)]
        if len(outside):
            raise DataError(
                f"{name} has {len(outside)} cell(s) outside its {n} x {p} (the first at position {outside[0]} of "
                f"{size}): build it anew"
            )


def _check_cells(rows: csr_matrix, name: str, when: str) -> None:
    """Refuse cells that are nan or infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(rows.data.sum()):  # one pass; a sum beyond float64 is looked at again
            return
    for is_wrong, what, error in (
        (np.isnan(rows.data), "missing (NaN)", MissingValueError),
        (np.isinf(rows.data), "infinite (infinity)", DataError),
    ):
        if is_wrong.any():
            at = int(is_wrong.argmax())
            row = int(np.searchsorted(rows.indptr, at, side="right")) - 1
            raise error(
                f"{name} has {int(is_wrong.sum())} {what} cell(s){when} (first at row {row}, column "
                f"{int(rows.indices[at])}): sparse rows need finite numbers; fill them in or drop the rows"
            )
