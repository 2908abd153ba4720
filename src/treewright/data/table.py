"""Tables of any kind as a ``Table``: arrays, lists, sparse matrices, and frames of the data-frame libraries.

A table of nothing but numbers is one float matrix (the caller's own, if it is float already); any other table is read
column by column, on demand, so that a column that is not used is never converted.

This is the only importer of narwhals, and only if the input is not an array, a dict of plain columns or a list.
Categories and strings are dictionary-encoded by the library that owns them, never cell by cell in Python: a million
strings take well under a second.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, NoReturn, cast

import numpy as np

from treewright.data.cells import (
    LARGEST_WHOLE,
    Cells,
    cells_of_array,
    cells_of_list,
    float_array,
    is_missing,
    refuse_large_whole,
    shown,
)
from treewright.data.dates import DATES, as_texts, zone_of
from treewright.data.memory import check_fits
from treewright.exceptions import ColumnError, DataError, MissingLibraryError, ParameterError

DATE_DTYPES = ("Datetime", "Date", "Duration", "Time")
NESTED_DTYPES = ("List", "Array", "Struct", "Binary")
DOUBLE, SINGLE = np.dtype(np.float64), np.dtype(np.float32)
MATRIX_DIMENSIONS = 2


@dataclass(slots=True)
class Table:
    """A table before its columns have kinds."""

    names: tuple[Hashable, ...] | None  # column names exactly as given; None if the table has none
    n_rows: int
    width: int
    # float64 or float32 [n_rows, width], C or F order, or None; all cells, if all are numbers. It may be the caller's
    # own array: never write to it.
    matrix: np.ndarray | None = None
    # if ``matrix`` is None: per column an array, a list, or a function from its label to its ``Cells``
    sources: Sequence[Any] = ()
    whole: bool = False  # the numbers of ``matrix`` came from an integer type

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


def read_table(X: Any) -> Table:
    """Turn any table into a ``Table``, without copying a float matrix and without modifying X.

    X is a two-dimensional array (also masked, structured, ``np.matrix``, or with ``__array__``), dict of columns, list
    of rows or of dicts, scipy sparse matrix, or a pandas, polars or pyarrow table.
    """
    if isinstance(X, np.ndarray):
        return table_of_array(X)
    if isinstance(X, dict) and not hasattr(X, "nnz"):  # a sparse dict of keys is a dict as well
        return table_of_dict(X)
    if isinstance(X, list | tuple):
        return table_of_dict(columns_of_dicts(X)) if X and isinstance(X[0], dict) else table_of_rows(X)
    if is_sparse(X):
        return table_of_sparse(X)
    if hasattr(X, "is_remote"):
        raise DataError("X is a Dataset, which only fit of trees, forests and boosting accepts: pass the table here")
    if X is None or isinstance(X, str | bytes | int | float | complex):
        raise DataError(f"Expected 2D array, got a scalar of type {type(X).__name__} instead: {shown(X)}.")
    return table_of_foreign(X)


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


def columns_of_dicts(rows: Sequence[Any]) -> dict[Any, list[Any]]:
    """Rows given as dicts, as columns in the order in which the names first occur; a name that a row lacks is missing.

    >>> columns_of_dicts([{"a": 1}, {"b": "x", "a": 2}])
    {'a': [1, 2], 'b': [None, 'x']}
    """
    for at, row in enumerate(rows):
        if not isinstance(row, dict):
            raise DataError(f"row {at} is a {type(row).__name__}, row 0 is a dict: give all rows in one form")
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def table_of_dict(columns: dict[Any, Any]) -> Table:
    """A dict from column name to a one-dimensional column."""
    names = tuple(columns)
    sources = [as_source(column, column_label(names, at)) for at, column in enumerate(columns.values())]
    lengths = [len(source.args[0]) if isinstance(source, partial) else len(source) for source in sources]
    if len(set(lengths)) > 1:
        odd = next(at for at, length in enumerate(lengths) if length != lengths[0])
        raise DataError(
            f"{column_label(names, odd)} has {lengths[odd]} rows, {column_label(names, 0)} has {lengths[0]}: "
            f"all columns of a table must have the same length"
        )
    return Table(names, lengths[0] if lengths else 0, len(names), sources=sources)


def as_source(column: Any, label: str) -> Any:
    """One column of a dict: an array, a list, or the reader of a library's series."""
    if isinstance(column, np.ndarray):
        if column.ndim != 1:
            raise DataError(f"{label} is {column.ndim}-dimensional: a column must be one-dimensional")
        return column
    if isinstance(column, list | tuple | range):
        return list(column)
    if not isinstance(column, str | bytes | dict) and hasattr(column, "__len__"):
        series = as_series(column)
        if series is not None:
            return partial(cells_of_series, series)
        if hasattr(column, "__array__"):
            return as_source(np.asarray(column), label)
    raise DataError(
        f"{label} is a {type(column).__name__}: pass a dict of columns of equal length, "
        f"such as {{'age': [31, 47], 'city': ['Oslo', 'Lima']}}"
    )


def as_series(column: Any) -> Any:
    """A library's series as a narwhals series, or None if narwhals does not know it."""
    import narwhals as nw

    series = known_frame(column)
    return series if isinstance(series, nw.Series) else None


def table_of_foreign(X: Any) -> Table:
    """A data frame that narwhals knows, else the array that ``__array__`` returns."""
    import narwhals as nw

    frame = known_frame(X)
    if isinstance(frame, nw.LazyFrame):
        raise DataError(f"X is lazy ({type(X).__module__}.{type(X).__name__}): call collect() on it first")
    if isinstance(frame, nw.Series):
        refuse_dimensions((len(frame),))
    if isinstance(frame, nw.DataFrame):
        return table_of_frame(frame, native_names(X))
    if hasattr(X, "__array__"):
        return table_of_array(np.asarray(X))
    raise DataError(
        f"X is a {type(X).__module__}.{type(X).__name__}: expected a two-dimensional array, a dict of columns, a list "
        f"of rows, a sparse matrix, or a pandas, polars or pyarrow table"
    )


def frame_of(columns: dict[str, list[Any]], library: str) -> Any:
    """Columns as a data frame of polars, pandas or pyarrow; MissingLibraryError if that is not installed."""
    import narwhals as nw

    if library not in ("polars", "pandas", "pyarrow"):
        raise ParameterError(f"library={library!r}: choose 'polars', 'pandas' or 'pyarrow'")
    try:
        return nw.from_dict(columns, backend=cast("Any", library)).to_native()
    except ImportError as error:
        raise MissingLibraryError(f"{library} is not installed: pip install {library}") from error


def known_frame(native: Any) -> Any:
    """A narwhals frame or series; the object itself if narwhals does not know it."""
    import narwhals as nw

    try:
        return nw.from_native(native, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError:
        native_names(native)
        raise


def native_names(native: Any) -> tuple[Hashable, ...]:
    """Column names exactly as the library holds them: pandas names may be any hashable value."""
    held = getattr(native, "column_names", None)
    names = tuple(native.columns if held is None else held)
    check_unique(names)
    return names


def table_of_frame(frame: Any, names: tuple[Hashable, ...]) -> Table:
    """A narwhals data frame; one block where all columns are floats."""
    import narwhals as nw

    n_rows, width = frame.shape
    kinds = set(frame.schema.dtypes()) if width else set()
    if kinds and kinds <= {nw.Float64, nw.Float32}:
        check_fits(n_rows * width * 8, f"a float64 copy of the {n_rows} x {width} table")
        block = frame.to_numpy()
        if block.dtype.kind == "f":
            return table_of_array(block, names)
    return Table(names, n_rows, width, sources=[partial(cells_of_series, series) for series in frame.iter_columns()])


def cells_of_series(series: Any, label: str) -> Cells:
    """A narwhals series as typed cells; ``label`` names the column in messages."""
    native, dtype = series.to_native(), series.dtype
    kind = type(dtype).__name__ if not isinstance(dtype, type) else dtype.__name__
    if kind in DATE_DTYPES:
        if series.null_count() == len(series):
            return Cells("missing", np.full(len(series), np.nan))
        return dates_of_series(series, native, label, kind)
    if kind in NESTED_DTYPES:
        raise DataError(f"{label} is of type {dtype}: a column holds numbers, text or booleans; unpack it into columns")
    if series.implementation.is_pandas_like() and not dtype.is_numeric():
        return cells_of_pandas(series, native, label)
    if dtype.is_numeric():
        return numbers_of_series(series, label)
    if kind == "Boolean":
        codes = series.fill_null(False).to_numpy().astype(np.int64)
        codes[series.is_null().to_numpy().astype(bool)] = -1
        return Cells("boolean", codes, (False, True))
    if series.implementation.is_pyarrow():
        return cells_of_arrow(native, label)
    if kind in ("String", "Categorical", "Enum"):
        codes, distinct = text_codes(series)
        return Cells("string", codes, distinct, category=kind != "String")
    return cells_of_list(series.to_list(), label)


def dates_of_series(series: Any, native: Any, label: str, kind: str) -> Cells:
    """A narwhals series of dates, instants, durations or times of day as days."""
    # The object of pandas itself: a fixed offset may be called as its owner likes.
    zone = getattr(getattr(native, "dtype", None), "tz", None) or getattr(series.dtype, "time_zone", None) or ""
    if series.implementation.is_pandas_like():
        if native.dtype.kind not in "mM":  # arrow's types within pandas
            return cells_of_list([None if is_missing(cell) else cell for cell in native.tolist()], label)
        if zone:
            native = native.dt.tz_convert("UTC").dt.tz_localize(None)
        values = native.to_numpy()
    elif kind == "Time":
        return cells_of_list(series.to_list(), label)
    else:
        values = series.to_numpy()
    if values.dtype.kind not in "mM":
        return cells_of_list(series.to_list(), label)
    return replace(cells_of_array(values, label), zone=zone_of(zone))


def numbers_of_series(series: Any, label: str) -> Cells:
    """A numeric narwhals series as float64, null and nan alike becoming nan."""
    import narwhals as nw

    is_whole = bool(series.dtype.is_integer())
    if is_whole:
        # The bound is checked before the conversion: nulls make a library convert by way of float64.
        for extreme in (series.min(), series.max()):
            if not is_missing(extreme) and abs(int(extreme)) > LARGEST_WHOLE:
                row = next(
                    row for row, value in enumerate(series.to_list()) if not is_missing(value) and value == extreme
                )
                refuse_large_whole(label, row, int(extreme))
    nulls = series.null_count() > 0
    if series.dtype.is_decimal():
        # By way of its digits: libraries multiply by a power of ten, and 1.41 becomes 1.4100000000000001.
        values = cast_to_float(series.cast(nw.String))
    elif is_whole and (nulls or "128" in str(series.dtype)):
        values = cast_to_float(series)
    else:
        values = series.to_numpy()
    if values.dtype.kind == "O":
        return cells_of_list(values.tolist(), label)
    cells = cells_of_array(values, label)
    return Cells("number", cells.values.astype(np.float64, copy=False), whole=is_whole)


def cast_to_float(series: Any) -> np.ndarray:
    """A narwhals series cast to float64 by its own library."""
    import narwhals as nw

    values: np.ndarray = series.cast(nw.Float64).to_numpy()
    return values


def text_codes(series: Any) -> tuple[np.ndarray, tuple[Hashable, ...]]:
    """Codes (-1 = null) and distinct texts of a string or category series, by the library's own join."""
    import narwhals as nw

    text = series if series.dtype == nw.String else series.cast(nw.String)
    distinct = [level for level in text.unique().to_list() if level is not None]
    if not distinct:
        return np.full(len(series), -1, np.int64), ()
    if text.implementation.is_polars():
        # A cast to an enumeration takes a third of the time that the join does; every call takes 90 us in addition.
        physical = text.cast(nw.Enum(distinct)).to_native().to_physical()
        codes = (physical.cast(int).fill_null(-1) if text.null_count() else physical).to_numpy()
    else:
        places = list(range(len(distinct)))
        codes = text.replace_strict(distinct, places, default=-1, return_dtype=nw.Int64).to_numpy()
    return codes.astype(np.int64, copy=False), tuple(distinct)


def cells_of_pandas(series: Any, native: Any, label: str) -> Cells:
    """A pandas-like series that is not numeric."""
    dtype = native.dtype
    if dtype == np.dtype(object):
        return cells_of_list(native.tolist(), label)
    if hasattr(dtype, "categories"):
        return cells_of_category(native, label)
    if getattr(dtype, "kind", "") == "b" and native.isna().any():
        return cells_of_list(native.astype(object).tolist(), label)
    if str(dtype).startswith("Sparse"):
        return cells_of_array(np.asarray(native.array), label)
    if getattr(dtype, "kind", "O") in "bcmM":
        return cells_of_array(native.to_numpy(), label)
    if type(series.dtype).__name__ in ("String", "Categorical"):
        codes, distinct = native.factorize()
        return Cells("string", codes.astype(np.int64, copy=False), tuple(str(text) for text in distinct.tolist()))
    refuse_periods(str(dtype), label)
    return cells_of_list(native.tolist(), label)


def refuse_periods(dtype: str, label: str) -> None:
    """Refuse pandas' periods: it is unknown whether their first or their last instant is meant."""
    if dtype.startswith("period"):
        raise DataError(f"{label} holds periods (type {dtype}): convert it with .dt.to_timestamp()")


def cells_of_category(native: Any, label: str) -> Cells:
    """A pandas category: levels are taken by value, in the order of the dtype if that is ordered."""
    levels = native.cat.categories.tolist()
    refuse_periods(str(native.cat.categories.dtype), label)
    # Intervals (from binning a number) are known by their text: "(0, 1]" can be stored, a library object cannot.
    levels = [str(level) if type(level).__name__ == "Interval" else level for level in levels]
    held = cells_of_list(levels, label)
    family = held.family
    if family in DATES:  # levels are text
        codes_of, texts = as_texts(held.values, family, held.zone)
        levels, family = [texts[code] for code in codes_of.tolist()], "string"
    codes = native.cat.codes.to_numpy().astype(np.int64)
    return Cells(family, codes, tuple(levels), ordered=bool(native.cat.ordered), category=True)


def cells_of_arrow(native: Any, label: str) -> Cells:
    """A pyarrow chunked array that is neither numeric nor boolean."""
    if "dictionary" in str(native.type):
        native = native.cast(native.type.value_type)  # chunks may have dictionaries of their own
        cells = cells_of_list(native.to_pylist(), label) if "string" not in str(native.type) else text_of_arrow(native)
        return Cells(cells.family, *cells.coded(), category=True)
    return text_of_arrow(native) if "string" in str(native.type) else cells_of_list(native.to_pylist(), label)


def text_of_arrow(native: Any) -> Cells:
    """A pyarrow chunked array of text."""
    encoded = native.cast("large_string").dictionary_encode().combine_chunks()
    if not hasattr(encoded, "indices"):  # several chunks stay apart in older versions, and an empty array has none
        encoded = encoded.chunk(0) if encoded.num_chunks else None
    if encoded is None:
        return Cells("string", np.zeros(0, np.int64))
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return Cells("string", codes, tuple(encoded.dictionary.to_pylist()))


class TargetColumns(NamedTuple):
    """A target or weight vector as one-dimensional arrays."""

    columns: list[np.ndarray]  # one per output, each in its own dtype
    names: tuple[str, ...]  # one per output; empty if there are none
    flat: bool  # the input was one-dimensional


def target_columns(y: Any, what: str) -> TargetColumns:
    """The columns of a target, each as an array of its own dtype; ``what`` it is called in messages."""
    if isinstance(y, list | tuple | range):
        return target_of_list(list(y), what)
    if not isinstance(y, np.ndarray):
        if is_sparse(y):
            raise DataError(f"{what} is sparse: pass {what}.toarray()")
        if isinstance(y, str | bytes | dict):
            refuse_target(y, what)
        return target_of_foreign(y, what)
    if np.ma.is_masked(y):
        rows = np.flatnonzero(np.ma.getmaskarray(y).reshape(len(y), -1).any(axis=1))
        raise DataError(f"{what} has {len(rows)} masked value(s) (first row {int(rows[0])}): drop these rows")
    y = np.asarray(y)
    if y.ndim == 1:
        return TargetColumns([y], (), True)
    if y.ndim == MATRIX_DIMENSIONS:
        return TargetColumns([y[:, at] for at in range(y.shape[1])], (), False)
    raise DataError(f"{what} should be a 1d array, got an array of shape {y.shape} instead.")


def target_of_list(values: list[Any], what: str) -> TargetColumns:
    """A list of labels or numbers, or of rows of them (rows are lists or arrays; a tuple is one label)."""
    rows = [isinstance(value, list) or (isinstance(value, np.ndarray) and value.ndim == 1) for value in values]
    if not any(rows):
        return TargetColumns([array_of_list(values)], (), True)
    if not all(rows) or any(len(value) != len(values[0]) for value in values):
        odd = next(at for at, row in enumerate(rows) if not row or len(values[at]) != len(values[0]))
        raise DataError(f"{what} is ragged: row {odd} is not like row 0")
    return TargetColumns([array_of_list(list(column)) for column in zip(*values, strict=True)], (), False)


def array_of_list(values: list[Any]) -> np.ndarray:
    """Python values as an array of one dtype if that changes none of them, else of objects."""
    kinds = set(map(type, values))
    plain = len(kinds) == 1 and kinds <= {str, bool, int, float, bytes}
    if kinds <= {int, float} or (len(kinds) == 1 and issubclass(next(iter(kinds)), np.generic)):
        plain = True
    if plain and kinds <= {str, bytes}:
        # numpy cuts trailing NULs from fixed-width text
        plain = not any(value[-1:] in ("\0", b"\0") for value in values)
    if plain:
        array = np.array(values)
        if array.dtype.kind in "bUSmM" or (array.dtype.kind in "iuf" and array.tolist() == values):
            return array
        if array.dtype.kind == "f" and bool(np.isnan(array).any()):
            return array
    return object_array(values)


def target_of_foreign(y: Any, what: str) -> TargetColumns:
    """A series or frame of a library that narwhals knows, else the array that ``__array__`` returns."""
    import narwhals as nw

    known = known_frame(y)
    if isinstance(known, nw.LazyFrame):
        raise DataError(f"{what} is lazy: call collect() on it first")
    if isinstance(known, nw.Series):
        name: Any = known.name
        return TargetColumns([array_of_series(known)], () if name is None or name == "" else (str(name),), True)
    if isinstance(known, nw.DataFrame):
        names = native_names(y)
        columns = [array_of_series(series) for series in known.iter_columns()]
        return TargetColumns(columns, tuple(str(name) for name in names), False)
    if hasattr(y, "__array__"):
        return target_columns(np.asarray(y), what)
    if not (hasattr(y, "__len__") and hasattr(y, "__iter__")):
        refuse_target(y, what)
    return target_of_list(list(y), what)


def refuse_target(y: Any, what: str) -> NoReturn:
    """Refuse a target that is not an array."""
    raise DataError(f"{what} should be a 1d array, got {shown(y)} of type {type(y).__name__} instead.")


def array_of_series(series: Any) -> np.ndarray:
    """A narwhals series as an array in its own dtype; categories by value."""
    native = series.to_native()
    if series.implementation.is_pandas_like() and hasattr(native.dtype, "categories"):
        return (
            np.asarray(native.astype(native.cat.categories.dtype))
            if not native.isna().any()
            else np.asarray(native, dtype=object)
        )
    nulls = series.null_count() > 0
    kind = type(series.dtype).__name__
    if not nulls and (series.dtype.is_numeric() or kind in ("Boolean", "Datetime", "Duration", "Date")):
        array: Any = series.to_numpy()
        if array.dtype.kind != "O":
            return np.asarray(array)
    values = series.to_list()
    return object_array(values) if kind in ("String", "Categorical", "Enum", "Object") else array_of_list(values)


def object_array(values: list[Any]) -> np.ndarray:
    """Python values as they are, one by one: numpy would unpack tuples."""
    objects = np.empty(len(values), object)
    for at, value in enumerate(values):
        objects[at] = value
    return objects
