"""Tables made of numpy arrays, lists or sparse matrices. In: those. Out: ``Table``.

A table of nothing but numbers is one float matrix (the caller's own, where it is float already); any other table is
read column by column, on demand, so that a column that is not used is never converted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from treewright.data.cells import Cells, cells_of_array, cells_of_list, float_array, shown
from treewright.data.memory import check_fits
from treewright.exceptions import ColumnError, DataError

DOUBLE, SINGLE = np.dtype(np.float64), np.dtype(np.float32)
MATRIX_DIMENSIONS = 2


@dataclass(slots=True)
class Table:
    """A table before its columns have kinds.

    Attributes
    ----------
    names : tuple or None
        Column names exactly as given; None if the table has none.
    n_rows, width : int
    matrix : float64 or float32 [n_rows, width], C or F order, or None
        All cells, if all are numbers. It may be the caller's own array: never write to it.
    sources : sequence
        If ``matrix`` is None: per column an array, a list, or a function from its label to its ``Cells``.
    whole : bool
        The numbers of ``matrix`` came from an integer type.
    """

    names: tuple[Hashable, ...] | None
    n_rows: int
    width: int
    matrix: np.ndarray | None = None
    sources: Sequence[Any] = ()
    whole: bool = False

    def label(self, position: int) -> str:
        """The column's name for messages: ``column 'city'``, or ``column 3`` if there are no names."""
        return column_label(self.names, position)

    def cells(self, position: int) -> Cells:
        """Read one column."""
        if self.matrix is not None:
            return Cells("number", self.matrix[:, position].astype(np.float64, copy=False), whole=self.whole)
        source, label = self.sources[position], self.label(position)
        if isinstance(source, list):
            return cells_of_list(source, label)
        if isinstance(source, np.ndarray):
            return cells_of_array(source, label)
        read: Cells = source(label)
        return read


def column_label(names: Sequence[Hashable] | None, position: int) -> str:
    """Name a column in a message."""
    return f"column {position}" if names is None else f"column {shown(names[position])}"


def is_ready(X: Any) -> bool:
    """Whether X is a plain float matrix that the kernels can read as it is."""
    if type(X) is not np.ndarray or X.ndim != MATRIX_DIMENSIONS or X.dtype not in (DOUBLE, SINGLE):
        return False
    flags = X.flags
    return bool(flags.forc and flags.aligned)


def refuse_dimensions(shape: tuple[int, ...]) -> NoReturn:
    """Refuse a table that is not two-dimensional."""
    if len(shape) == 1:
        raise DataError(
            f"Expected 2D array, got 1D array instead: shape={shape}. Reshape your data either using "
            f"array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it contains a single "
            f"sample."
        )
    if not shape:
        raise DataError("Expected 2D array, got scalar array instead. Pass a table: rows are samples.")
    raise DataError(
        f"Found array with dim {len(shape)}, shape={shape}: expected 2D (<= 2 dimensions). "
        f"Reshape your data, for example with array.reshape(len(array), -1)."
    )


def check_unique(names: Sequence[Hashable]) -> None:
    """Refuse two columns with the same name."""
    if len(set(names)) == len(names):
        return
    counts = Counter(names)
    twice = [
        f"{shown(name)} (positions {', '.join(str(at) for at, other in enumerate(names) if other == name)})"
        for name in [name for name, count in counts.items() if count > 1][:10]
    ]
    raise ColumnError(f"duplicate column names: {'; '.join(twice)}: rename or drop all but one")


def table_of_array(array: np.ndarray, names: tuple[Hashable, ...] | None = None) -> Table:
    """A numpy array of any dtype and layout as a table."""
    if array.dtype.names is not None and array.ndim == 1:
        return table_of_records(array)
    if array.ndim != MATRIX_DIMENSIONS:
        refuse_dimensions(array.shape)
    n_rows, width = array.shape
    if isinstance(array, np.ma.MaskedArray):
        if array.dtype.kind in "biuf":
            return Table(names, n_rows, width, unmasked_matrix(array), whole=array.dtype.kind in "iu")
        return Table(names, n_rows, width, sources=[array[:, at].tolist() for at in range(width)])
    if type(array) is not np.ndarray:
        array = np.asarray(array)  # matrix, memmap and other subclasses: their indexing differs
    kind = array.dtype.kind
    if kind in "biuf":
        return Table(names, n_rows, width, float_matrix(array, names), whole=kind in "iu")
    if kind == "c":
        raise DataError(f"Complex data not supported: the array has dtype {array.dtype}")
    if kind not in "OUSTmM":
        raise DataError(f"the array has dtype {array.dtype}: a table holds numbers, text or booleans")
    return Table(names, n_rows, width, sources=[array[:, at] for at in range(width)])


def float_matrix(array: np.ndarray, names: tuple[Hashable, ...] | None) -> np.ndarray:
    """A real matrix as native, aligned, contiguous float64 or float32; the array itself if it is that already."""
    if is_ready(array):
        return array
    check_fits(array.size * 8, f"a float64 copy of the {array.shape[0]} x {array.shape[1]} {array.dtype} array")
    matrix = array
    if array.dtype.newbyteorder("=") != SINGLE:
        matrix = float_array(array, lambda at: (column_label(names, int(at[1])), int(at[0])))
    # Layouts other than C and F would make the kernels compile once more.
    native = matrix.dtype.newbyteorder("=")
    return np.require(matrix, native, ["ALIGNED"] if matrix.flags.forc else ["ALIGNED", "C_CONTIGUOUS"])


def unmasked_matrix(array: np.ma.MaskedArray[Any, Any]) -> np.ndarray:
    """A masked real matrix as float64 with nan where the mask is set."""
    check_fits(array.size * 8, f"a float64 copy of the {array.shape[0]} x {array.shape[1]} masked array")
    mask = np.ma.getmaskarray(array)
    # What lies under the mask is nobody's value: it must not trip the range check.
    visible = np.where(mask, array.dtype.type(0), np.asarray(array.data))
    matrix = np.array(float_matrix(visible, None), np.float64)
    matrix[mask] = np.nan
    return matrix


def table_of_records(array: np.ndarray) -> Table:
    """A structured array: its fields are the columns."""
    names = tuple(array.dtype.names or ())
    return Table(names, len(array), len(names), sources=[array[name] for name in names])


def table_of_rows(rows: Sequence[Any]) -> Table:
    """A list of rows, each a list, a tuple or a one-dimensional array."""
    if not rows:
        refuse_dimensions((0,))
    for at, row in enumerate(rows):
        if isinstance(row, np.ndarray) and row.ndim != 1:
            refuse_dimensions((len(rows), *row.shape))
        if isinstance(row, dict):
            raise DataError(f"row {at} is a dict, row 0 is a {type(rows[0]).__name__}: give all rows in one form")
        if not isinstance(row, list | tuple | np.ndarray):
            if at == 0:
                refuse_dimensions((len(rows),))
            raise DataError(f"row {at} is a {type(row).__name__}, row 0 is a {type(rows[0]).__name__}")
        if len(row) != len(rows[0]):
            raise DataError(f"ragged rows: row {at} has {len(row)} cells, row 0 has {len(rows[0])}")
    if all(isinstance(row, np.ndarray) and row.dtype == rows[0].dtype for row in rows):
        return table_of_array(np.stack(rows))
    if any(isinstance(cell, list | np.ndarray) and len(np.shape(cell)) for cell in rows[0]):
        refuse_dimensions((len(rows), len(rows[0]), len(rows[0][0]) if hasattr(rows[0][0], "__len__") else 1))
    return Table(None, len(rows), len(rows[0]), sources=[list(column) for column in zip(*rows, strict=True)])


def is_sparse(X: Any) -> bool:
    """Whether a table is a sparse matrix or array of SciPy; imports nothing."""
    return hasattr(X, "toarray") and hasattr(X, "nnz")


def check_stored(X: Any) -> None:
    """Refuse a sparse matrix whose arrays contradict each other: SciPy's own loops read and write beyond them.

    ``X`` is of two dimensions, in any format of SciPy. Those that are dicts and lists check themselves.
    """
    kind = np.dtype(X.dtype).kind
    if kind not in "biufc":
        raise DataError(f"the sparse matrix has dtype {X.dtype}: it must hold numbers")
    n_rows, n_columns = (int(size) for size in X.shape)
    form = getattr(X, "format", "")
    if form in ("csr", "csc"):
        n, of, along = (n_rows, n_columns, "column") if form == "csr" else (n_columns, n_rows, "row")
        starts, numbers, data = X.indptr, X.indices, X.data
        _refuse_other_arrays({"data": data, "indices": numbers, "indptr": starts}, form)
        falls = np.flatnonzero(np.diff(starts) < 0)
        if len(starts) != n + 1 or starts[0] != 0 or len(falls):
            where = f": it falls at entry {int(falls[0]) + 1}" if len(falls) else ""
            _refuse_broken(form, f"indptr must have {n + 1} entries, begin with 0 and never fall{where}")
        n_stored = int(starts[-1])
        if n_stored > min(len(numbers), len(data)):
            _refuse_broken(form, f"indptr ends with {n_stored}, but {min(len(numbers), len(data))} cells are stored")
        _refuse_beyond(form, along, numbers[:n_stored], of)
    elif form == "coo":
        parts = {"data": X.data, "row": X.row, "col": X.col}
        _refuse_other_arrays(parts, form)
        if len({len(part) for part in parts.values()}) > 1:
            _refuse_broken(form, "data, row and col have different lengths")
        _refuse_beyond(form, "row", X.row, n_rows)
        _refuse_beyond(form, "column", X.col, n_columns)
    elif form == "bsr":
        try:
            X.copy().check_format(full_check=True)
        except ValueError as error:
            _refuse_broken(form, str(error))


def _refuse_other_arrays(arrays: Mapping[str, Any], form: str) -> None:
    """Refuse arrays that are not one-dimensional and numeric; positions must be whole numbers."""
    for name, array in arrays.items():
        is_line = isinstance(array, np.ndarray) and array.ndim == 1
        if not is_line or (name != "data" and array.dtype.kind not in "iu"):
            of = "numbers" if name == "data" else "whole numbers"
            _refuse_broken(form, f"{name} must be an array of one dimension that holds {of}")


def _refuse_beyond(form: str, along: str, numbers: np.ndarray, n: int) -> None:
    """Refuse cells in rows or columns that do not exist."""
    if len(numbers) and (numbers.min() < 0 or numbers.max() >= n):
        at = int(np.flatnonzero((numbers < 0) | (numbers >= n))[0])
        _refuse_broken(form, f"stored cell {at} is in {along} {int(numbers[at])}, but they are numbered 0 to {n - 1}")


def _refuse_broken(form: str, what: str) -> NoReturn:
    raise DataError(f"the sparse matrix ({form}) is broken: {what}; rebuild it from its rows, columns and cells")


def table_of_sparse(X: Any) -> Table:
    """A scipy sparse matrix or array of any format: equal to its ``toarray()``."""
    if len(X.shape) != MATRIX_DIMENSIONS:
        refuse_dimensions(tuple(X.shape))
    n_rows, width = X.shape
    check_fits(
        int(n_rows) * int(width) * 8,
        f"the sparse {n_rows} x {width} matrix, stored densely,",
        "keep fewer columns, or reduce them first (for example with TruncatedSVD)",
    )
    check_stored(X)
    return table_of_array(np.asarray(X.toarray()))
