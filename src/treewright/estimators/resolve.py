"""Parameters as numbers. In: what the user wrote. Out: what the growers take. Callers: estimators."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from itertools import combinations
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from treewright.data.matching import did_you_mean
from treewright.data.memory import check_fits
from treewright.data.schema import Schema
from treewright.exceptions import ParameterError, TooLargeError
from treewright.grow.layout import MAX_ROWS

_WITHOUT_EFFECT = frozenset({"callbacks", "n_jobs", "grow_trace", "oob_score", "verbose", "warm_start"})
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


def seed_of(random_state: Any) -> int:
    """The seed: ``random_state`` if that is an int, 0 for None (a fit repeats unless told otherwise)."""
    if random_state is None:
        return 0
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


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
        by_position = {_position(key, schema, "monotonic_cst"): sign for key, sign in value.items()}
        signs = [by_position.get(at, 0) for at in range(len(schema))]
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


def refuse_no_order(n_outputs: int, n_classes: Sequence[int]) -> None:
    """Refuse monotone constraints that have no meaning for the target.

    Raises
    ------
    ParameterError
    """
    if n_outputs > 1:
        raise ParameterError("Monotonicity constraints are not supported with multiple outputs.")
    if any(several > 2 for several in n_classes):
        raise ParameterError("Monotonicity constraints are not supported with multiclass classification")


def interactions(value: Any, schema: Schema) -> tuple[tuple[int, ...], ...] | None:
    """Groups of columns that may be asked on one way from the root to a leaf.

    Parameters
    ----------
    value : sequence of groups of column names or positions, or "pairwise", "no_interactions", or None
        As in scikit-learn's ``HistGradientBoostingClassifier``: columns in no group are one group more.

    Returns
    -------
    tuple of tuple of int, ascending positions; or None

    Raises
    ------
    ParameterError
        It is no sequence of groups, a group is no sequence, or names an unknown column.
    """
    if value is None:
        return None
    p = len(schema)
    groups: set[tuple[int, ...]] = set()
    if isinstance(value, str):
        groups.update(combinations(range(p), 1 if value == "no_interactions" else 2))
    else:
        for group in _items(value, "give a sequence of groups of columns"):
            keys = _items(group, "a group is a sequence of columns")
            groups.add(tuple(sorted({_position(key, schema, "interaction_cst") for key in keys})))
    rest = set(range(p)).difference(*groups)
    return tuple(sorted((groups | {tuple(sorted(rest))}) - {()}))


def _items(value: Any, wanted: str) -> list[Any]:
    """The items of a sequence that is no text; an array of no dimension has none, though it says so only when asked.

    Raises
    ------
    ParameterError
    """
    try:
        if not isinstance(value, str):
            return list(value)
    except TypeError:
        pass
    raise ParameterError(f"interaction_cst: {wanted}, not {value!r}")


def _position(key: Any, schema: Schema, parameter: str) -> int:
    """Where a column stands, from its name or position.

    Raises
    ------
    ParameterError
        There is no such column.
    """
    try:
        return schema.positions[key]
    except (KeyError, TypeError):  # a position, an unknown name, or what can be no name
        pass
    if not isinstance(key, bool) and isinstance(key, Integral) and 0 <= int(key) < len(schema):
        return int(key)
    hint = did_you_mean(key, schema.names)
    raise ParameterError(f"{parameter} names a column that X does not have: {key!r}{hint}")


def plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters for the model file: plain JSON, the same bytes for the same fit.

    What changes nothing of the model is left out.
    """
    return {name: _plain(value) for name, value in sorted(parameters.items()) if name not in _WITHOUT_EFFECT}


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


def refuse_changed(before: Mapping[str, Any], now: Mapping[str, Any], members: str) -> None:
    """Refuse a warm start with other parameters than those of the fit before.

    Parameters
    ----------
    before, now : mapping from name to value
        The parameters that all members have in common.
    members : {"trees", "members"}
        What a warm start adds.

    Raises
    ------
    ParameterError
        It names the first that differs.
    """
    for name in dict.fromkeys([*now, *before]):
        # By what they look like: nan is not equal to itself, and 1 column is not a share of 1.0.
        if repr(before.get(name)) != repr(now.get(name)):
            raise ParameterError(
                f"warm_start=True adds {members} of the same kind, but {name} is another than at the fit before: set "
                "it back, or warm_start=False"
            )
