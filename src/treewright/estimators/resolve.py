"""Parameters as numbers. In: what the user wrote. Out: what the grower takes. Caller: estimators.base."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np

from treewright.data.matching import did_you_mean
from treewright.data.schema import Schema
from treewright.exceptions import ParameterError


def count_of(value: int | float, n: int) -> int:
    """A number of rows, or that share of ``n`` rows, rounded up."""
    # More than any table has rows is as good as any other such number, and fits a machine word.
    return min(int(value), 2**31 - 1) if isinstance(value, Integral) else math.ceil(value * n)


def max_features(value: int | float | str | None, p: int) -> int:
    """How many columns a node may use.

    Raises
    ------
    ParameterError
        A number larger than the number of columns is taken as all of them; nothing is raised for it.
    """
    if value is None:
        return p
    if value == "sqrt":
        return max(1, int(math.sqrt(p)))
    if value == "log2":
        return max(1, int(math.log2(p)))
    if isinstance(value, Integral):
        return min(int(value), p)
    return max(1, int(value * p))  # type: ignore[operator]


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
                f"monotonic_cst must be None or an array-like of -1, 0 or 1, but got {sign!r} for column {column.name!r}"
            )
        if sign and column.kind == "nominal":
            raise ParameterError(
                f"monotonic_cst: column {column.name!r} is nominal, its levels have no order; "
                "declare it ordinal, or set 0"
            )
    return tuple(int(sign) for sign in signs)


def plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters for the model file: plain JSON, the same bytes for the same fit. Threads are left out: they change nothing."""
    return {name: _plain(value) for name, value in sorted(parameters.items()) if name != "n_jobs"}


def _plain(value: Any) -> Any:
    """A value as plain JSON; what has no JSON form is named by its type."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value)
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return [[_plain(key), _plain(item)] for key, item in value.items()]
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return type(value).__name__
