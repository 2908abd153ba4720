"""Parameters as numbers. In: what the user wrote. Out: what the grower takes. Caller: estimators.base."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from treewright.data.matching import did_you_mean
from treewright.data.memory import check_fits
from treewright.data.schema import Schema
from treewright.exceptions import ParameterError, TooLargeError
from treewright.grow.layout import MAX_ROWS

MAX_COLUMNS = 2**29 - 1  # what the packed form of a node has bits for (predict.route)


def refuse_too_large(X: Any) -> None:
    """Refuse a table that could not be grown on whatever the memory, before anything is made of it.

    Raises
    ------
    TooLargeError
        Rows or columns that a tree's integers cannot name.
    """
    shape = getattr(X, "shape", ())
    if not isinstance(shape, tuple) or len(shape) != 2 or not all(isinstance(size, int) for size in shape):
        return
    for size, most, what in ((shape[0], MAX_ROWS, "rows"), (shape[1], MAX_COLUMNS, "columns")):
        if size > most:
            raise TooLargeError(f"X has {size} {what}, at most {most} can be held: fit on a sample of the {what}")


def refuse_too_little_memory(p: int, n: int, n_threads: int) -> None:
    """Refuse a table whose sorted columns would not fit in memory.

    Raises
    ------
    TooLargeError
    """
    # Items of 4 bytes a cell; 24 bytes a row to sort a column on each thread, and about as much for the target.
    check_fits(4 * n * p + 24 * n * (min(n_threads, p) + 1), f"growing on {n} rows x {p} columns")


def finite(value: Any) -> float:
    """A number as float64; one beyond it as the largest."""
    try:
        return min(float(value), sys.float_info.max)
    except OverflowError:
        return sys.float_info.max


def max_features(value: Any, p: int) -> int:
    """How many columns a node may use; a number larger than ``p`` means all of them."""
    if value is None:
        return p
    if value == "sqrt":
        return max(1, int(math.sqrt(p)))
    if value == "log2":
        return max(1, int(math.log2(p)))
    if isinstance(value, Integral):
        return min(int(value), p)
    return max(1, int(value * p))


def monotone(value: Any, schema: Schema) -> tuple[int, ...] | None:
    """One of -1, 0, 1 per column.

    Parameters
    ----------
    value : sequence of p integers, or mapping from column name to integer, or None

    Raises
    ------
    ParameterError
        Wrong length, another number, an unknown column, or a nominal column (its levels have no order).
    """
    if value is None:
        return None
    if isinstance(value, Mapping):
        value = {_name_of(key, schema): sign for key, sign in value.items()}
        unknown = [name for name in value if name not in schema.names]
        if unknown:
            hint = did_you_mean(unknown[0], schema.names)
            raise ParameterError(f"monotonic_cst names a column that X does not have: {unknown[0]!r}{hint}")
        signs = [value.get(name, 0) for name in schema.names]
    else:
        signs = np.asarray(value).tolist()
        if not isinstance(signs, list) or len(signs) != len(schema):
            length = len(signs) if isinstance(signs, list) else 1
            raise ParameterError(f"monotonic_cst has shape {length} but the input data X has {len(schema)} features.")
    for sign, column in zip(signs, schema.columns, strict=True):
        if isinstance(sign, bool) or sign not in (-1, 0, 1):
            raise ParameterError(
                f"monotonic_cst must be None or an array-like of -1, 0 or 1, but got {sign!r} "
                f"for column {column.name!r}"
            )
        if sign and column.kind == "nominal":
            raise ParameterError(
                f"monotonic_cst: column {column.name!r} is nominal, its levels have no order; "
                "declare it ordinal, or set 0"
            )
    return tuple(int(sign) for sign in signs)


def _name_of(key: Any, schema: Schema) -> Any:
    """A column's name from its name or position."""
    if key not in schema.names and isinstance(key, Integral) and 0 <= int(key) < len(schema):
        return schema.names[int(key)]
    return key


def plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters for the model file: plain JSON, the same bytes for the same fit.

    Threads and the wish for a trace are left out: they change nothing.
    """
    return {name: _plain(value) for name, value in sorted(parameters.items()) if name not in ("n_jobs", "grow_trace")}


def _plain(value: Any) -> Any:
    """A value as plain JSON; what has no JSON form is named by its type."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value)
    if isinstance(value, Real):
        return finite(value)
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return [[_plain(key), _plain(item)] for key, item in value.items()]
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return type(value).__name__
