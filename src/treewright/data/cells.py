"""One column, a Python list or a 1-D array, as typed cells: ``Cells``.

A column is either numbers (float64, nan = missing) or codes into a tuple of distinct values (-1 = missing). What the
library knows about single Python values - which are missing, which family they belong to, which numbers float64
cannot hold - is here and nowhere else.
"""

from __future__ import annotations

import datetime as dt
import math
import numbers
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NoReturn

import numpy as np

from treewright.data.dates import DATES, as_texts, days_of, days_of_array
from treewright.exceptions import CellTypeError, DataError

# Every integer up to here is a float64 of its own; beyond, neighbours merge.
LARGEST_WHOLE = 2**53
MISSING_TYPES = frozenset({"NoneType", "NAType", "NaTType", "MaskedConstant"})
DATE_TYPES = (dt.date, dt.time, dt.timedelta, np.datetime64, np.timedelta64)
# Types that numpy turns into float64 by itself; only large integers among them need a look.
QUICK_NUMBERS = frozenset({float, int, bool, type(None), np.bool_, np.float16, np.float32, np.float64}) | {
    np.dtype(code).type for code in "bhilqBHILQ"
}
SHORT = 60


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of one column."""

    family: str  # {"number", "string", "boolean", "object", "missing", "date", "datetime", "duration", "time"}
    # float64[n] or int[n]; float64: numbers, nan = missing (of dates: days). int: codes into ``distinct``, -1 =
    # missing.
    values: np.ndarray
    distinct: tuple[Hashable, ...] = ()  # what the codes stand for; values that no cell holds may be listed
    ordered: bool = False  # ``distinct`` is an ordered category's own list of levels, lowest first
    category: bool = False  # the column's own type says that it is nominal (or ordinal), whatever its levels are
    whole: bool = False  # the numbers came from an integer type
    zone: str = ""  # the name of the time zone, for instants that have one

    @property
    def is_number(self) -> bool:
        """Whether ``values`` are numbers rather than codes."""
        return self.values.dtype.kind == "f"

    def missing(self) -> np.ndarray:
        """bool[n]: which cells are missing."""
        return np.isnan(self.values) if self.is_number else self.values < 0

    def coded(self) -> tuple[np.ndarray, tuple[Hashable, ...]]:
        """Codes int[n], -1 = missing, and the values that they stand for, also of numbers: ascending."""
        if not self.is_number:
            return self.values, self.distinct
        if self.family in DATES:
            return as_texts(self.values, self.family, self.zone)
        missing = np.isnan(self.values)
        present, inverse = np.unique(self.values[~missing], return_inverse=True)
        codes = np.full(len(self.values), -1, np.int64)
        codes[~missing] = inverse
        present = present + 0.0  # -0.0 becomes 0.0
        return codes, tuple(int(value) for value in present) if self.whole else tuple(present.tolist())

    def present(self) -> tuple[Hashable, ...]:
        """The distinct values that at least one cell holds."""
        codes, distinct = self.coded()
        seen = np.zeros(len(distinct) + 1, bool)
        seen[codes] = True  # -1 lands on the extra place at the end
        return tuple(value for value, here in zip(distinct, seen, strict=False) if here)


def shown(value: object) -> str:
    """A value for a message: its ``repr`` in one line, cut to a readable length."""
    try:
        text = repr(value)
    except Exception:
        text = f"<{type(value).__name__}>"
    if "\n" in text[:SHORT]:  # of a table; that of a text has none
        text = " ".join(text.split())
    return text if len(text) <= SHORT else text[: SHORT - 3] + "..."


def is_missing(value: object) -> bool:
    """Whether a Python value stands for "missing": None, nan, NaT, pandas' NA, a masked element."""
    if value is None or type(value).__name__ in MISSING_TYPES:
        return True
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, np.datetime64 | np.timedelta64) and bool(np.isnat(value))


def family_of_type(kind: type) -> str:
    """The family of a Python type: number, string, boolean, missing, date, complex, bytes, other."""
    if kind.__name__ in MISSING_TYPES:
        return "missing"
    for family, kinds in (
        ("boolean", (bool, np.bool_)),
        ("string", (str,)),
        ("date", DATE_TYPES),
        ("number", (numbers.Real, Decimal, np.floating, np.integer)),
        ("complex", (numbers.Complex, np.complexfloating)),
        ("bytes", (bytes,)),
    ):
        if issubclass(kind, kinds):
            return family
    return "other"


def first_where(values: Sequence[Any], families: Iterable[str]) -> int:
    """Position of the first cell of one of the families; -1 if there is none."""
    sought = frozenset(families)
    return next((row for row, value in enumerate(values) if family_of_type(type(value)) in sought), -1)


def cells_of_list(values: list[Any], label: str) -> Cells:
    """Python values as typed cells; ``label`` names the column in messages, such as ``"column 'city'"``.

    Family "number" if all present values are numbers, "string", "boolean", "object" if they are mixed or of another
    hashable type, "missing" if there are none.
    """
    found = {family_of_type(kind) for kind in set(map(type, values))}
    if "complex" in found:
        row = first_where(values, ("complex",))
        raise DataError(f"Complex data not supported: {label} row {row} holds {shown(values[row])}")
    if found <= {"number", "boolean", "missing"} and "number" in found:
        return number_cells(values, label)
    if len(found - {"missing"}) > 1:
        # A nan among strings is a missing cell, not a number.
        values = [None if is_missing(value) else value for value in values]
        found = {family_of_type(kind) for kind in set(map(type, values))}
    if "date" in found:
        return date_cells(values, label)
    found -= {"missing"}
    if not found:
        return Cells("missing", np.full(len(values), np.nan))
    if found == {"boolean"}:
        return coded_cells("boolean", values, label, (False, True))
    if found == {"number"}:
        return number_cells(values, label)
    return coded_cells("string" if found == {"string"} else "object", values, label)


def date_cells(values: list[Any], label: str) -> Cells:
    """Dates, instants, durations or times of day (and missing values) as days."""
    days = np.full(len(values), np.nan)
    families: dict[str, int] = {}
    zones: dict[str, int] = {}
    for row, value in enumerate(values):
        if is_missing(value):
            continue
        if isinstance(value, np.datetime64 | np.timedelta64):
            (family, [day]), zone = days_of_array(np.array([value]), label), ""
        elif isinstance(value, dt.date | dt.time | dt.timedelta):
            try:
                family, day, zone = days_of(value)
            except OverflowError as error:
                raise DataError(f"{label} row {row}: {error}: make it missing") from None
        else:
            family, day, zone = f"{type(value).__name__}", np.nan, ""
        days[row] = day
        families.setdefault("datetime" if family == "date" else family, row)
        zones.setdefault(zone, row)
    if not families:
        return Cells("missing", days)
    if len(families) > 1:
        (first, at), (second, row) = list(families.items())[:2]
        raise DataError(
            f"{label} row {row}: {shown(values[row])} is a {second}, and row {at} holds a {first}: convert the cells "
            "to one type"
        )
    if "" in zones and len(zones) > 1:
        row = max(zones[""], min(at for zone, at in zones.items() if zone))
        raise DataError(f"{label} row {row}: some instants have a time zone and others have none: give all of them one")
    zone = next(iter(zones)) if len(zones) == 1 else "UTC"
    return Cells(next(iter(families)), days, zone=zone)


def coded_cells(family: str, values: list[Any], label: str, distinct: tuple[Hashable, ...] | None = None) -> Cells:
    """Dictionary-encode Python values: equal values (1, 1.0 and True are equal) share a code.

    ``distinct`` lists the values to code by, if they are known beforehand.
    """
    try:
        found = dict.fromkeys(values)
    except TypeError:
        row = next(row for row, value in enumerate(values) if not is_hashable(value))
        raise CellTypeError(
            f"{label} row {row} holds a {type(values[row]).__name__}: {shown(values[row])}; "
            f"a cell argument must be a string or a number (or missing)"
        ) from None
    order = [value for value in found if not is_missing(value)] if distinct is None else list(distinct)
    codes = {value: code for code, value in enumerate(order)}
    for value in found:
        codes.setdefault(value, -1)
    coded = np.fromiter(map(codes.__getitem__, values), np.int64, len(values))
    return Cells(family, coded, tuple(str(value) for value in order) if family == "string" else tuple(order))


def is_hashable(value: object) -> bool:
    """Whether ``hash(value)`` works (a tuple with a list inside is an instance of Hashable, yet cannot be hashed)."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def number_cells(values: list[Any], label: str) -> Cells:
    """Python numbers (and missing values) as float64."""
    kinds = set(map(type, values))
    is_whole = all(
        issubclass(kind, bool | np.bool_ | numbers.Integral) or kind.__name__ in MISSING_TYPES for kind in kinds
    )
    if any(kind.__name__ in MISSING_TYPES and kind is not type(None) for kind in kinds):
        values = [None if is_missing(value) else value for value in values]
    if kinds <= QUICK_NUMBERS:
        try:
            quick = np.array(values, np.float64)
        except OverflowError:
            pass
        else:
            for row in np.flatnonzero(np.abs(quick) >= LARGEST_WHOLE).tolist():
                as_float(values[row], label, row)
            return Cells("number", quick, whole=is_whole)
    result = np.empty(len(values))
    for row, value in enumerate(values):
        result[row] = as_float(value, label, row)
    return Cells("number", result, whole=is_whole)


def as_float(value: Any, label: str, row: int) -> float:
    """One real number as float64; nan for a missing value."""
    if is_missing(value):
        return math.nan
    if isinstance(value, numbers.Integral):
        if abs(int(value)) > LARGEST_WHOLE:
            refuse_large_whole(label, row, int(value))
        return float(value)
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    infinite = value.is_infinite() if isinstance(value, Decimal) else bool(value in (math.inf, -math.inf))
    if (math.isinf(result) and not infinite) or (result == 0 and value != 0):
        raise DataError(f"{label} row {row}: {shown(value)} is beyond the range of float64: rescale the column")
    return result


def refuse_large_whole(label: str, row: int, value: int) -> NoReturn:
    """Refuse an integer that float64 would merge with its neighbours."""
    raise DataError(
        f"{label} row {row}: the integer {shown(value)} is beyond 2**53, where float64 merges neighbouring integers: "
        f"drop the column if it is an identifier; else subtract an offset, or turn it into text and declare it nominal"
    )


def cells_of_array(array: np.ndarray, label: str) -> Cells:
    """A one-dimensional array of any dtype as typed cells."""
    if isinstance(array, np.ma.MaskedArray):
        return cells_of_list(array.tolist(), label) if np.ma.is_masked(array) else cells_of_array(array.data, label)
    if array.ndim != 1:
        raise DataError(f"{label} is {array.ndim}-dimensional: a column must be one-dimensional")
    kind = array.dtype.kind
    if kind in "mM":
        if np.isnat(array).all():
            return Cells("missing", np.full(len(array), np.nan))
        return Cells(*days_of_array(array, label))
    if kind == "b":
        return Cells("boolean", array.astype(np.int64), (False, True))
    if kind in "fiu":
        return Cells("number", float_array(array, lambda at: (label, int(at[0]))), whole=kind in "iu")
    if kind == "c":
        raise DataError(f"Complex data not supported: {label} has dtype {array.dtype}")
    if kind not in "OUST":
        raise DataError(f"{label} has dtype {array.dtype}: a column holds numbers, text or booleans")
    return cells_of_list(array.astype(object).tolist() if kind == "T" else array.tolist(), label)


def float_array(array: np.ndarray, place: Callable[[tuple[Any, ...]], tuple[str, int]]) -> np.ndarray:
    """Integers, booleans and floats of any width as float64; numbers whose value would change are refused.

    ``place`` gives the label of a cell's column and its row, for messages. An array that is native float64 is returned
    itself.
    """
    wide = array.dtype.kind in "iu" and array.dtype.itemsize > 4 and array.size > 0
    if wide and (int(array.max()) > LARGEST_WHOLE or int(array.min()) < -LARGEST_WHOLE):
        at = np.unravel_index(np.argmax((array > LARGEST_WHOLE) | (array < -LARGEST_WHOLE)), array.shape)
        label, row = place(at)
        refuse_large_whole(label, row, int(array[at]))
    if array.dtype.itemsize <= 8:
        return array.astype(np.float64, copy=False)
    with np.errstate(over="ignore", under="ignore"):
        result = array.astype(np.float64)
    changed = (np.isinf(result) & ~np.isinf(array)) | ((result == 0) & (array != 0))
    if changed.any():
        at = np.unravel_index(np.argmax(changed), array.shape)
        label, row = place(at)
        raise DataError(f"{label} row {row}: {array[at]} is beyond the range of float64: rescale the column")
    return result
