"""From a table, or from one row, to the encoded matrix.

At fit the kinds and levels of the columns are settled (declared, or inferred from the dtypes); at predict the columns
are matched by name and every level by its value, never by a library's code.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from treewright.core import notices
from treewright.data.calendar import PartsRequest, part_cells, requested_parts, with_parts
from treewright.data.cells import Cells, shown
from treewright.data.derived import ROWS, derived_cells, is_derived
from treewright.data.identifiers import without_identifiers, without_zero_fraction
from treewright.data.kinds import Declared, Nominal, column_of, encode_cells, resolve, sorted_levels
from treewright.data.memory import check_fits
from treewright.data.schema import Column, Schema, match_columns
from treewright.data.sparse import SparseMatrix, stays_sparse
from treewright.data.table import DOUBLE, SINGLE, Table, column_label, read_table
from treewright.exceptions import ColumnError, DataError, MissingValueError, ParameterError, first_row

UNSEEN = ("missing", "error", "majority")
FLOATS = (DOUBLE, SINGLE)
BLOCK = 65_536
MAX_NAMED = 10
FEWEST_TO_WARN = 3  # cells
_REMEDY = "fill them in, drop the rows, or fit with missing='direction'"
_EXACT = 2**53  # whole numbers up to here are floats without loss
# Where a missing value goes, by ``ModelData.missing``.
_WAYS = {
    "surrogate": "a surrogate test decides, or they follow the heavier branch",
    "fractional": "they follow every branch, in proportion to the branch weights",
    "distance": "the metric defines their distance from other cells",
}
_ONE_WAY = "they follow the branch for missing values at each test"


def _family_of_numbers(cells: np.ndarray, has_missing: bool) -> str:
    """The family of a column of floats, as in ``kinds.column_of``: "missing" if it holds no number."""
    return "missing" if has_missing and len(cells) and np.isnan(cells[0]) and np.isnan(cells).all() else "number"


def encode_fit(
    X: Any,
    *,
    nominal: Nominal | None = None,
    ordinal: Mapping[Hashable, Sequence[Hashable]] | None = None,
    numeric: Sequence[Hashable] | None = None,
    calendar: Any = None,
    sparse: bool = False,
) -> tuple[Schema, Any]:
    """Determine the kinds and levels of the columns, and encode the table.

    Numbers are numeric; strings, categories and booleans nominal; ordered pandas categories ordinal; a declaration
    overrides that. Identifiers and row numbers that are not declared are left out (``data.identifiers``).

    Parameters
    ----------
    X : table
        Two-dimensional array, dict of columns, list of rows, sparse matrix, or a pandas, polars or pyarrow table. It is
        never modified.
    nominal : sequence of column names or positions, mapping from these to levels, or "all", optional
        Numbers count as levels. Levels of None or () are read from the data and sorted; declared ones keep their order
        and may be more than the data hold. "all" means every column that is not declared ordinal or numeric, but if a
        column has the name "all", that column only.
    ordinal : mapping from column name or position to its levels, lowest first, optional
    numeric : sequence of column names or positions, optional
        Text such as ``"12"`` is parsed.
    calendar : sequence of parts of dates, or mapping from column name or position to parts, optional
        Which parts become columns of their own, behind those of the table (``data.calendar``).
    sparse : bool
        Whether the caller takes a large sparse matrix of numbers as a ``SparseMatrix`` (``data.sparse``).

    Returns
    -------
    schema : Schema
    matrix : float64[n, p] (float32 for a float32 array without declared levels)
        nan = missing; nominal and ordinal cells hold their level's code; 0 in a column that is left out. A float array
        that needs no coding is returned as it is, without a copy. Where the levels are declared, a text that differs
        from exactly one of them in nothing but case, outer white space and Unicode form counts as that level.

    Raises
    ------
    DataError
        X is not a table, is empty, or a cell is refused (mixed types, dates, integers beyond 2**53, another spelling
        of two declared levels, ...); "all" meets a column of more than 10,000 different numbers.
    UnseenLevelError
        A cell is not one of the declared levels.
    ColumnError
        Two columns have the same name, or a declared column does not exist.
    ParameterError
        A column is declared twice, or its declared levels repeat or include a missing value.
    TooLargeError
        The encoded matrix would not fit in memory.

    Examples
    --------
    >>> schema, matrix = encode_fit({"size": ["S", "L", None]}, ordinal={"size": ["S", "M", "L"]})
    >>> schema.columns[0].kind, matrix.ravel().tolist()
    ('ordinal', [0.0, 2.0, nan])
    >>> schema, matrix = encode_fit({"type": ["Drama", "drama ", "COMEDY"]}, nominal={"type": ["Drama", "Comedy"]})
    >>> schema.columns[0].levels, matrix.ravel().tolist()
    (('Drama', 'Comedy'), [0.0, 0.0, 1.0])
    """
    if sparse and stays_sparse(X):
        names = numbered(X.shape[1])
        stored = _sparse_fit(X, resolve(names, nominal, ordinal, numeric), requested_parts(calendar, names))
        if stored is not None:
            return stored
    table = read_table(X)
    names = numbered(table.width) if table.names is None else table.names
    check_not_empty(table)
    declared, parts = resolve(names, nominal, ordinal, numeric), requested_parts(calendar, names)
    named = table.names is not None
    if table.matrix is not None and all(entry.kind == "numeric" for entry in declared.values()):
        missing = missing_columns(table.matrix)
        columns = tuple(
            Column(name, "numeric", (), at in missing, _family_of_numbers(table.matrix[:, at], at in missing))
            for at, name in enumerate(names)
        )
        columns = with_parts(without_identifiers(columns, table.matrix, declared, named=named), parts)
        schema = Schema(columns, named)
        return schema, table.matrix if len(schema.used) == len(schema) else zeroed(schema, table.matrix.copy(order="K"))
    matrix = empty_matrix(table.n_rows, table.width)
    settled: list[Column] = []
    for at, name in enumerate(names):
        cells = table.cells(at)
        column = column_of(name, cells, declared.get(at, Declared(None)), table.label(at))
        matrix[:, at] = encode_cells(column, cells, table.label(at), "error")
        settled.append(column)
    schema = Schema(with_parts(without_identifiers(settled, matrix, declared, named=named), parts), named)
    if len(schema) > table.width:
        extended = empty_matrix(table.n_rows, len(schema))
        extended[:, : table.width] = matrix
        matrix = extended
        for at in range(table.width, len(schema)):
            matrix[:, at] = _part_of(schema, at, matrix)
    return schema, zeroed(schema, matrix)


def _part_of(schema: Schema, at: int, matrix: np.ndarray) -> np.ndarray:
    """The cells of a part of a date or a derived column, float64[n], from its encoded sources."""
    column = schema.columns[at]
    if is_derived(column):
        return derived_cells(schema.columns, at, matrix)
    (source,) = column.sources
    return part_cells(column.part, schema.columns[source], matrix[:, source])


def numbered(width: int) -> tuple[Hashable, ...]:
    """Names for columns that have none: x0, x1, ..."""
    return tuple(f"x{at}" for at in range(width))


def _sparse_fit(
    X: Any, declared: Mapping[int, Declared], parts: Mapping[int, PartsRequest]
) -> tuple[Schema, SparseMatrix] | None:
    """Encode a sparse table at fit; None if a column is declared nominal or ordinal."""
    if any(entry.kind != "numeric" for entry in declared.values()):
        return None
    matrix = SparseMatrix.of(X)
    missing = matrix.missing_columns()
    columns = tuple(Column(name, "numeric", (), at in missing) for at, name in enumerate(numbered(X.shape[1])))
    return Schema(with_parts(columns, parts), False), matrix


def _sparse_rows(schema: Schema, X: Any, missing: str, owner: str) -> SparseMatrix:
    """Encode a sparse table for a schema of numeric columns without names."""
    n, p = X.shape
    match_columns(schema, Table(None, int(n), int(p)), owner)
    matrix = SparseMatrix.of(X)
    found = matrix.missing_columns()
    for at in sorted(found) if missing == "error" else ():
        cells = matrix[:, at]
        refuse_missing_cells(cells, np.isnan(cells), column_label(None, at))
    warn_missing(schema, found, missing)
    return matrix


def encode(
    schema: Schema,
    X: Any,
    *,
    unseen: str = "missing",
    missing: str = "direction",
    owner: str = "the model",
    sparse: bool = False,
) -> Any:
    """Encode a table for a fitted schema: columns matched by name, levels by value.

    Parameters
    ----------
    X : table
        As at fit. 0 rows are legal. It is never modified.
    unseen : {"missing", "error", "majority"}
        What a level that fit never saw becomes: nan; an error; the code ``len(levels)`` (nominal) or nan (ordinal).
    missing : {"direction", "branch", "surrogate", "fractional", "distance", "error"}
        Under ``"error"`` a cell that would become nan is refused; the other values choose the text of the warning.
    owner : str
        The subject of messages about the number and names of columns.
    sparse : bool
        Whether the caller takes a large sparse matrix of numbers as a ``SparseMatrix`` (``data.sparse``).

    Returns
    -------
    float64[n, p] or float32[n, p]
        The caller's own array where that is a float matrix and all columns are numeric.

    Raises
    ------
    ColumnError
        Columns are missing, duplicated, too many or too few, or changed from numbers to text or back.
    UnseenLevelError
        A level that fit never saw, under ``unseen="error"``.
    MissingValueError
        A missing cell, or a level that counts as missing, under ``missing="error"``.
    DataError
        X is not a table, or a cell is refused.
    ParameterError
        ``unseen`` is not one of its three values.

    Warns
    -----
    DataWarning
        Extra columns; missing values in columns that had none at fit; names given to a schema without names; columns in
        which most cells hold levels that fit never saw (``UnseenLevels``).

    Examples
    --------
    >>> schema, _ = encode_fit({"age": [31, 47], "city": ["Oslo", "Lima"]})
    >>> encode(schema, {"city": ["Lima", "Rome"], "age": [20, 30]}).tolist()
    [[20.0, 0.0], [30.0, nan]]
    """
    # The fast path for one small prediction: a float matrix is only checked, never copied (under 5 us).
    if (
        schema.is_plain
        and type(X) is np.ndarray
        and X.dtype in FLOATS
        and X.ndim == 2
        and X.shape[1] == len(schema.columns)
        and X.flags.forc
        and X.flags.aligned
    ):
        if (schema.never_missing or missing == "error") and has_nan(X):
            _settle_missing(schema, X, missing, None)
        matrix: np.ndarray = X
        return matrix
    if unseen not in UNSEEN:
        raise ParameterError(f"unseen must be one of {UNSEEN}, not {shown(unseen)}")
    if sparse and schema.is_plain and stays_sparse(X):
        return _sparse_rows(schema, X, missing, owner)
    found = UnseenLevels()
    matrix = encode_table(schema, read_table(X), unseen, owner, missing, found)
    counting = _counting.get()
    if counting is None:
        found.warn()
    else:
        counting.add(found, X)
    return matrix


def _settle_missing(schema: Schema, matrix: np.ndarray, missing: str, names: tuple[Hashable, ...] | None) -> None:
    """Refuse the missing cells of a matrix of numbers, or warn if their columns had none at fit."""
    if missing == "error":
        refuse_missing(matrix, names)
    warn_missing(schema, missing_columns(matrix) if schema.never_missing else set(), missing)


def encode_table(
    schema: Schema, table: Table, unseen: str, owner: str, missing: str = "direction", found: UnseenLevels | None = None
) -> np.ndarray:
    """Encode a table that has been read; parameters and errors as in ``encode``; ``found`` takes the unseen levels."""
    source = match_columns(schema, table, owner)
    numeric = all(column.kind == "numeric" and column.family in ("number", "missing") for column in schema.columns)
    is_whole = source == list(range(table.width)) and len(schema.used) == len(schema) == len(schema.given)
    if table.matrix is not None and numeric and is_whole:
        _settle_missing(schema, table.matrix, missing, table.names)
        return table.matrix
    matrix = empty_matrix(table.n_rows, len(schema))
    new = set()
    for at, column in enumerate(schema.columns):
        if column.left_out:
            matrix[:, at] = 0.0
            continue
        if column.part:
            matrix[:, at] = _part_of(schema, at, matrix)
            if column.part == ROWS:  # an unseen level has no rows, even if it is treated as missing
                (of,) = column.sources
                is_unseen = np.isnan(matrix[:, of]) & ~table.cells(source[of]).missing()
                matrix[is_unseen, at] = 0.0
            continue
        cells = table.cells(source[at])
        label = (
            table.label(source[at]) if table.names is not None or not schema.named else column_label([column.name], 0)
        )
        matrix[:, at] = encode_cells(column, cells, label, unseen)
        if found is not None and column.kind != "numeric":
            found.count(column, cells, unseen_cells(column, cells, matrix[:, at]))
        if missing == "error":
            refuse_missing_cells(matrix[:, at], cells.missing(), label)
        elif not column.missing_seen and bool(cells.missing().any()):
            new.add(at)
    warn_missing(schema, new, missing)
    return matrix


def unseen_cells(column: Column, cells: Cells, encoded: np.ndarray) -> np.ndarray:
    """bool[n]: which cells of a nominal or ordinal column hold a level that fit never saw."""
    unseen: np.ndarray = (np.isnan(encoded) | (encoded == len(column.levels))) & ~cells.missing()
    return unseen


@dataclass
class UnseenLevels:
    """How many cells of each column hold levels that fit never saw; those of several tables add up."""

    # the unseen levels of the columns that have some, and their cells
    levels: dict[Hashable, Counter[Hashable]] = field(default_factory=dict)
    present: Counter[Hashable] = field(default_factory=Counter)  # cells that are not missing
    _columns: dict[Hashable, Column] = field(default_factory=dict, repr=False)
    _last: Any = field(default=None, repr=False)

    def count(self, column: Column, cells: Cells, unseen: np.ndarray) -> None:
        """Add the cells of a column, bool[n] of which are ``unseen``."""
        self.present[column.name] += len(unseen) - int(np.count_nonzero(cells.missing()))
        if unseen.any():
            codes, distinct = cells.coded()
            own, times = np.unique(codes[unseen], return_counts=True)
            self._add(column, {distinct[code]: n for code, n in zip(own.tolist(), times.tolist(), strict=True)})

    def add(self, other: UnseenLevels, X: Any) -> None:
        """Add those of another table; once, if predictions and then probabilities of a table are computed."""
        if X is self._last:
            return
        self._last = X
        self.present.update(other.present)
        for name, held in other.levels.items():
            self._add(other._columns[name], held)

    def _add(self, column: Column, held: Mapping[Hashable, int]) -> None:
        self._columns[column.name] = column
        self.levels.setdefault(column.name, Counter()).update(held)

    def told(self) -> list[str]:
        """Each column with its counts, such as "'city' (1 of 3 cells, such as 'Rome')"."""
        return [self._text_of(name) for name in self.levels]

    def _text_of(self, name: Hashable) -> str:
        held = self.levels[name]
        some = sorted_levels(level for level, n in held.items() if n == max(held.values()))
        return f"{shown(name)} ({held.total()} of {self.present[name]} cells, such as {shown(some[0])})"

    def is_most(self, name: Hashable) -> bool:
        """Whether more than half of the cells of a column hold unseen levels; a row or two may be new by chance."""
        return self.present[name] >= FEWEST_TO_WARN and 2 * self.levels[name].total() > self.present[name]

    def warn(self) -> None:
        """Warn of columns in which most cells hold unseen levels: they are hardly the same column as at fit.

        And of unseen levels that are another spelling of a number of the fit: a text file is read with either.
        """
        names = [name for name in self.levels if self.is_most(name)]
        if names:
            texts = [f"{self._text_of(name)}, at fit {_some_levels(self._columns[name])}" for name in names[:MAX_NAMED]]
            more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
            notices.warn(
                f"most cells of {len(names)} column(s) hold levels that fit never saw: {'; '.join(texts)}{more}: the "
                "model knows nothing about them; check how they are written"
            )
        for name in self.levels:
            if name not in names:
                self._warn_of_zeros(name)

    def _warn_of_zeros(self, name: Hashable) -> None:
        """Warn of unseen levels that a level of the fit equals but for a fraction of zeros."""
        held = {level: n for level, n in self.levels[name].items() if isinstance(level, str) and level[-1:].isdigit()}
        if not held:  # names: most columns of text end here
            return
        known = {without_zero_fraction(level): level for level in self._columns[name].levels if isinstance(level, str)}
        again = [level for level in held if without_zero_fraction(level) in known]
        if again:
            n, first = sum(held[level] for level in again), min(again)
            notices.warn(
                f"column {shown(name)}: {n} cell(s) hold levels that fit never saw, such as {shown(first)}, but it saw "
                f"{shown(known[without_zero_fraction(first)])}: write levels as in the fit; only in text files the two "
                "are one level"
            )


_counting: ContextVar[UnseenLevels | None] = ContextVar("treewright_unseen_levels", default=None)


@contextmanager
def unseen_levels_counted(found: UnseenLevels) -> Iterator[None]:
    """Within the block all tables that are encoded count as one, and none warns of its unseen levels."""
    token = _counting.set(found)
    try:
        yield
    finally:
        _counting.reset(token)


def _some_levels(column: Column) -> str:
    more = ", ..." if len(column.levels) > 2 else ""
    return ", ".join(map(shown, column.levels[:2])) + more if column.levels else "there was none"


def encode_row(
    schema: Schema, row: Any, *, unseen: str = "missing", missing: str = "direction", owner: str = "the model"
) -> np.ndarray:
    """Encode one row of raw values.

    Parameters
    ----------
    row : mapping from column name to value, or sequence of values in the order of the columns
    unseen, missing, owner
        As in ``encode``.

    Returns
    -------
    float64[p]

    Raises
    ------
    ColumnError
        Values are missing, or their number is not the number of columns; else as ``encode``.
    DataError
        The row is neither a mapping nor a sequence, or a value is refused.

    Examples
    --------
    >>> schema, _ = encode_fit({"age": [31, 47], "city": ["Oslo", "Lima"]})
    >>> encode_row(schema, {"city": "Oslo", "age": 20}).tolist()
    [20.0, 1.0]
    """
    if unseen not in UNSEEN:
        raise ParameterError(f"unseen must be one of {UNSEEN}, not {shown(unseen)}")
    if schema.named and callable(getattr(row, "to_dict", None)):
        row = row.to_dict()  # a pandas Series knows the names of its cells
    if isinstance(row, Mapping):
        table = Table(tuple(row), 1, len(row), sources=[[value] for value in row.values()])
    else:
        if isinstance(row, str | bytes) or not (hasattr(row, "__len__") and hasattr(row, "__iter__")):
            raise DataError(f"a row is a mapping or a sequence of {len(schema.given)} values, not {shown(row)}")
        if isinstance(row, np.ndarray) and row.ndim != 1:
            raise DataError(f"one row has one dimension, not shape {row.shape}: use encode for several rows")
        values = list(row)
        if len(values) != len(schema.given):
            raise ColumnError(
                f"X has {len(values)} features, but {owner} is expecting {len(schema.given)} features as input"
            )
        # Values without names are taken in the order of the columns: that is what was asked for, so no warning.
        names = schema.given_names if schema.named else None
        table = Table(names, 1, len(values), sources=[[value] for value in values])
    encoded: np.ndarray = encode_table(schema, table, unseen, owner, missing)[0]
    return encoded


def encode_plain_row(schema: Schema, row: Any) -> list[float] | None:
    """Encode a row of ordinary cells: a mapping by column name, or a list, tuple or float array of p cells.

    The common cells (floats, whole numbers, text and booleans of known levels, None) are encoded here in a tenth of a
    microsecond each. None if anything else occurs: ``encode_row`` has all rules and errors.
    """
    if type(row) is dict or isinstance(row, Mapping):
        if len(row) != len(schema.columns):
            return None
        try:
            cells = [row[column.name] for column in schema.columns]
        except KeyError:
            return None
    elif type(row) is np.ndarray:
        if row.ndim != 1 or row.dtype.kind != "f" or row.dtype.itemsize > 8:
            return None
        cells = row.tolist()
    elif type(row) is list or type(row) is tuple:
        cells = list(row)
    else:
        return None
    if len(cells) != len(schema.columns):
        return None
    # The sum of floats without nan (and without both infinities) is not nan: one pass in C for the commonest row.
    if schema.is_plain and set(map(type, cells)) == {float} and (total := sum(cells)) == total:
        return cells
    encoded = []
    for column, cell in zip(schema.columns, cells, strict=True):
        code = _plain_code(column, cell)
        if code is None:
            return None
        encoded.append(code)
    return encoded


def _plain_code(column: Column, cell: Any) -> float | None:
    """Code of an ordinary cell; None for any other."""
    kind = type(cell)
    if column.left_out:
        return 0.0
    if column.kind == "numeric":
        if column.family != "number" or column.part or (not column.missing_seen and cell != cell):
            return None
        if kind is float:
            return cell
        if kind is int and -_EXACT <= cell <= _EXACT:
            return float(cell)
        return None
    if (kind is str and column.family == "string") or (kind is bool and column.family == "boolean"):
        code = column.codes.get(cell)
        return None if code is None else float(code)
    if cell is None and column.missing_seen:
        return math.nan
    return None


def zeroed(schema: Schema, matrix: np.ndarray) -> np.ndarray:
    """The matrix with 0 in the columns that are left out: no algorithm uses a constant column."""
    for at, column in enumerate(schema.columns):
        if column.left_out:
            matrix[:, at] = 0.0
    return matrix


def check_not_empty(table: Table) -> None:
    """Refuse a table without rows or columns."""
    shape = f"(shape=({table.n_rows}, {table.width}))"
    if table.n_rows == 0:
        raise DataError(f"Found array with 0 sample(s) {shape} while a minimum of 1 is required.")
    if table.width == 0:
        raise DataError(f"Found array with 0 feature(s) {shape} while a minimum of 1 is required.")


def empty_matrix(n_rows: int, width: int) -> np.ndarray:
    """float64[n_rows, width], column-major, uninitialised: it is filled column by column."""
    check_fits(n_rows * width * 8, f"the encoded {n_rows} x {width} matrix")
    return np.empty((n_rows, width), np.float64, order="F")


def has_nan(matrix: np.ndarray) -> bool:
    """Whether a contiguous float matrix holds a nan, exactly, in one pass at the speed of memory.

    The least cell is nan if any cell is. Not a product: BLAS uses threads, and while a process forks, a call of it in
    another thread never returns.
    """
    flat = matrix.T if matrix.flags.f_contiguous else matrix
    return math.isnan(np.minimum.reduce(flat, axis=None, initial=0.0))


def missing_columns(matrix: np.ndarray) -> set[int]:
    """Positions of the columns that hold a nan."""
    if not has_nan(matrix):
        return set()
    found = np.zeros(matrix.shape[1], bool)
    for start in range(0, len(matrix), BLOCK):  # blocks: the boolean matrix stays small
        found |= np.isnan(matrix[start : start + BLOCK]).any(axis=0)
    return set(np.flatnonzero(found).tolist())


def warn_missing(schema: Schema, found: set[int], missing: str = "direction") -> None:
    """Warn once, naming the columns that hold missing values but had none at fit."""
    new = [at for at in sorted(found) if not schema.columns[at].missing_seen]
    if new:
        names = ", ".join(shown(schema.columns[at].name) for at in new[:MAX_NAMED])
        more = f" and {len(new) - MAX_NAMED} more" if len(new) > MAX_NAMED else ""
        notices.warn(
            f"missing values in {len(new)} column(s) that had none at fit: {names}{more}; "
            f"{_WAYS.get(missing, _ONE_WAY)}",
        )


def refuse_missing_at_fit(
    matrix: npt.NDArray[np.floating], schema: Schema, weights: npt.NDArray[np.float64] | None
) -> None:
    """Refuse missing cells of the encoded table, float[n, p]; rows of weight 0, which teach nothing, may have them.

    Only columns whose ``missing_seen`` is True are looked at.
    """
    for at, column in enumerate(schema.columns):
        if not column.missing_seen:
            continue
        absent = np.isnan(matrix[:, at])
        if weights is not None:
            absent &= weights > 0
        if absent.any():
            n_missing = int(absent.sum())
            raise MissingValueError(
                f"column {column.name!r} has {n_missing} missing value{'s' * (n_missing != 1)} (",
                first_row(int(absent.argmax())),
                "), which missing='error' refuses: fill them in, drop the rows, or choose another setting of missing",
                column=column.name,
                row=int(absent.argmax()),
            )


def refuse_missing(matrix: npt.NDArray[np.floating], names: Sequence[Hashable] | None) -> None:
    """Refuse the missing cells of a matrix of numbers at predict; the message names the first such column and row."""
    for at in range(matrix.shape[1]):
        absent = np.isnan(matrix[:, at])
        if absent.any():
            refuse_missing_cells(matrix[:, at], absent, column_label(names, at))


def refuse_missing_cells(encoded: npt.NDArray[np.floating], absent: npt.NDArray[np.bool_], label: str) -> None:
    """Refuse the missing cells of one column, and levels that became missing because fit never saw them.

    ``absent`` bool[n] says which cells were missing before they were encoded; the other nan of ``encoded`` float[n] are
    levels that fit never saw.
    """
    if absent.any():
        raise MissingValueError(
            f"{label}: {int(absent.sum())} missing value(s), ",
            first_row(int(absent.argmax())),
            f"; the model was fitted with missing='error'. Hint: {_REMEDY}",
            row=int(absent.argmax()),
        )
    unseen = np.isnan(encoded)
    if unseen.any():
        raise MissingValueError(
            f"{label}: {int(unseen.sum())} cell(s) with a level that fit never saw, ",
            first_row(int(unseen.argmax())),
            "; they count as missing, and the model was fitted with missing='error'. "
            "Hint: fix the cells, drop the rows, or fit with missing='direction'",
            row=int(unseen.argmax()),
        )
