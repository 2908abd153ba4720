"""Rows and columns of any table by position, in the type of the table.

Arrays, pandas objects and lists are indexed as they are; a dict of columns, frames that only narwhals knows, and sparse
formats without an index are handled here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, NoReturn

import numpy as np

from treewright.core import notices
from treewright.data.table import MATRIX_DIMENSIONS, columns_of_dicts, is_sparse, known_frame, native_names, read_table
from treewright.exceptions import DataError

INDEXED_FORMATS = ("csr", "csc", "lil")


def count_rows(table: Any) -> int:
    """How many rows a table, a column or a target has: anything that the estimators accept as X, y or sample_weight."""
    if isinstance(table, dict) and not is_sparse(table):  # a sparse dict of keys is a dict as well
        lengths = {name: count_rows(column) for name, column in table.items()}
        first = next(iter(lengths), None)
        for name, length in lengths.items():
            if length != lengths[first]:
                raise DataError(
                    f"column {name!r} has {length} rows, column {first!r} has {lengths[first]}: "
                    f"all columns of a table must have the same length"
                )
        return lengths[first] if lengths else 0
    if hasattr(table, "collect_schema") and not hasattr(table, "__len__"):
        refuse_lazy(table)
    shape = getattr(table, "shape", None)
    if isinstance(shape, tuple) and shape:
        return int(shape[0])
    if not isinstance(table, str | bytes) and shape is None:
        if hasattr(table, "__len__"):
            return len(table)
        if hasattr(table, "__array__") and np.asarray(table).ndim:
            return len(np.asarray(table))
    raise DataError(f"a {type(table).__name__} has no rows: pass an array, a dict of columns, a list or a data frame")


def take_rows(table: Any, positions: np.ndarray) -> Any:
    """Some rows, in the order of the positions, never labels of an index; a position may be given twice.

    The result is of the same type; an object that is only known by ``__array__`` becomes an array, a sparse matrix of a
    format that has no index CSR, a tuple or range a list, a list of dicts a dict of columns.
    """
    if isinstance(table, dict) and not is_sparse(table):
        return {name: take_rows(column, positions) for name, column in table.items()}
    if _is_of_dicts(table):
        return take_rows(columns_of_dicts(table), positions)  # names that no row of the part has stay known
    if isinstance(table, list | tuple | range):
        return [table[at] for at in positions.tolist()]
    if isinstance(table, np.ndarray):
        return table[positions]
    if hasattr(table, "iloc"):
        return table.iloc[positions]
    if is_sparse(table):
        return _indexed(table)[positions]
    frame = known_frame(table)
    if frame is not table:
        if not hasattr(frame, "to_dict") and not hasattr(frame, "to_list"):
            refuse_lazy(table)
        return frame[positions].to_native()
    if hasattr(table, "shape") and hasattr(table, "__getitem__"):
        return table[positions]
    if hasattr(table, "__array__"):
        return np.asarray(table)[positions]
    return [table[at] for at in positions.tolist()]


def header_of(table: Any) -> tuple[tuple[Hashable, ...] | None, int]:
    """Names of a table's columns, None if it has none, and how many there are.

    >>> header_of({"age": [31, 47], "city": ["Oslo", "Lima"]}), header_of(np.zeros((5, 3)))
    ((('age', 'city'), 2), (None, 3))
    """
    # Most tables need not be made numbers for this.
    is_array = isinstance(table, np.ndarray) and table.dtype.names is None
    if (is_array or is_sparse(table)) and len(table.shape) == MATRIX_DIMENSIONS:
        return None, int(table.shape[1])
    if isinstance(table, dict) and not is_sparse(table):
        return tuple(table), len(table)
    frame: Any = table if isinstance(table, np.ndarray | list | tuple) else known_frame(table)
    if hasattr(frame, "iter_columns"):
        return native_names(table), len(frame.columns)
    read = read_table(table)
    return read.names, read.width


def take_columns(table: Any, positions: np.ndarray, names: Sequence[Hashable] | None = None) -> Any:
    """Some columns, in the order of the positions; a position may be given twice, and then needs new ``names``.

    The result is of the same type, with the exceptions of ``take_rows``; a structured array becomes a dict of its
    fields.

    >>> take_columns({"age": [31], "city": ["Oslo"]}, np.array([1, 1]), ["city", "city (2)"])
    {'city': ['Oslo'], 'city (2)': ['Oslo']}
    """
    if isinstance(table, dict) and not is_sparse(table):
        old = list(table)
        new = [old[at] for at in positions.tolist()] if names is None else names
        return {name: table[old[at]] for name, at in zip(new, positions.tolist(), strict=True)}
    if _is_of_dicts(table):
        return take_columns(columns_of_dicts(table), positions, names)
    if isinstance(table, list | tuple):
        return [[row[at] for at in positions.tolist()] for row in table]
    if isinstance(table, np.ndarray):
        if table.dtype.names is not None:
            return take_columns({name: table[name] for name in table.dtype.names}, positions, names)
        return table[:, positions]
    if hasattr(table, "iloc"):
        part = table.iloc[:, positions]
        return part if names is None else part.set_axis(list(names), axis=1)
    if is_sparse(table):
        return _indexed(table)[:, positions]
    frame = known_frame(table)
    if frame is not table:
        old = list(frame.columns)
        new = [old[at] for at in positions.tolist()] if names is None else names
        return frame.select(
            *(frame[old[at]].alias(name) for name, at in zip(new, positions.tolist(), strict=True))
        ).to_native()
    return np.asarray(table)[:, positions]


def _is_of_dicts(table: Any) -> bool:
    """Whether a table is a list of rows that are dicts."""
    return isinstance(table, list | tuple) and len(table) > 0 and isinstance(table[0], dict)


def _indexed(table: Any) -> Any:
    """A sparse matrix in a format that has an index."""
    return table if table.format in INDEXED_FORMATS else table.tocsr()


def warn_of_another_order(X: Any, named: str = "X", **others: Any) -> None:
    """Warn if pandas objects have the same index labels in a different order: rows are matched by position.

    Others are named by their parameter, the table is called ``named``; of a dict the columns are compared, too.
    """
    known = [(named, _index_of(X))]
    if isinstance(X, dict):
        known = [(f"column {name!r} of {named}", _index_of(column)) for name, column in X.items()]
    known += [(name, _index_of(other)) for name, other in others.items()]
    known = [(name, index) for name, index in known if index is not None]
    for name, own in known[1:]:
        first, index = known[0]
        if len(index) != len(own) or index.equals(own) or not _have_the_same_labels(index, own):
            continue
        way = f"to match them by index, pass {name} in the order of {first}"
        if index.is_unique:
            way = f"pass {name}.loc[{first}.index] to match them by index"
        if isinstance(X, dict):
            way = "make a DataFrame of them to match them by index"
        notices.warn(
            f"{first} and {name} have the same index labels in a different order, and rows are matched by position: "
            f"{way}, or {name}.to_numpy() if the order is right"
        )


def indexed_like(X: Any, other: Any) -> Any:
    """Target or weights with the index of the table, if both are pandas objects: rows are matched by position.

    So no further fit on the same rows, or on parts of them, warns again of what `warn_of_another_order` has told.
    """
    index, own = _index_of(X), _index_of(other)
    if index is None or own is None or len(index) != len(own) or index.equals(own):
        return other
    return other.set_axis(index)


def _have_the_same_labels(index: Any, other: Any) -> bool:
    """Whether two indexes of equal length hold the same labels, each as often."""
    if index.is_unique and other.is_unique:
        return bool(other.isin(index).all())
    return Counter(index.tolist()) == Counter(other.tolist())


def _index_of(table: Any) -> Any:
    """The index of a pandas object; None for any other."""
    is_pandas = type(table).__module__.partition(".")[0] == "pandas" and hasattr(table, "iloc")
    return table.index if is_pandas else None


def refuse_lazy(table: Any) -> NoReturn:
    """Refuse a lazy frame, whose rows are not read yet."""
    kind = f"{type(table).__module__}.{type(table).__name__}"
    raise DataError(f"the table is lazy ({kind}): call collect() on it first")
