"""Parts of dates as columns of their own: the month, weekday or hour in which a thing happened.

A threshold on a date only separates "until" from "after"; with these columns a tree can also test for Mondays or
Decembers. They follow the columns of the table in the schema of the model, which computes them from their source
whenever it encodes a table: no table needs to have them.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from treewright.core import notices
from treewright.data.cells import shown
from treewright.data.dates import DATES, DAY, days_of, local_micros
from treewright.data.derived import is_derived
from treewright.data.derived import is_sound as are_derived
from treewright.data.kinds import listed_columns, position_of
from treewright.data.schema import Column, did_you_mean
from treewright.exceptions import ColumnError, DataError, ParameterError

PARTS = ("year", "month", "day", "weekday", "hour")
_SINCE_A_DATE = ("days since 2020-01-01",)  # an example
_SINCE = re.compile(r"days since (\d{4}-\d\d-\d\d)", re.ASCII)
_LEVELS = {
    "month": ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
              "November", "December"),
    "weekday": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
}  # fmt: skip
# What cells of a family have: a time of day has no month, a whole day no hour, a duration neither.
_OF_FAMILY = {"date": PARTS[:-1], "datetime": PARTS, "time": PARTS[-1:], "duration": ()}
_THURSDAY = 3  # 1970-01-01


class PartsRequest(NamedTuple):
    """The requested parts of one column; ``named`` is True if the user named the column."""

    parts: tuple[str, ...]
    named: bool


def requested_parts(calendar: Any, names: Sequence[Hashable]) -> dict[int, PartsRequest]:
    """The requested parts by column position; a part, a column or a declaration that cannot be is refused."""
    if calendar is None:
        return {}
    if not isinstance(calendar, Mapping):
        parts = _checked(calendar, "calendar")
        return {at: PartsRequest(parts, False) for at in range(len(names))}
    positions = {name: at for at, name in enumerate(names)}
    found: dict[int, PartsRequest] = {}
    for entry in listed_columns("calendar", calendar):
        at = position_of(entry, positions, "calendar")
        if at in found:
            raise ParameterError(f"calendar names column {shown(names[at])} twice: keep one", parameter="calendar")
        found[at] = PartsRequest(_checked(calendar[entry], f"calendar[{shown(entry)}]"), True)
    return found


def _checked(parts: Any, what: str) -> tuple[str, ...]:
    """The parts without repetition; ParameterError for a word that is not a part of a date."""
    given = next((getattr(parts, name)() for name in ("tolist", "to_list") if hasattr(parts, name)), parts)
    given = [given] if isinstance(given, str) else given
    if not isinstance(given, list | tuple) or not given:
        raise ParameterError(
            f"{what} must list parts of dates such as 'month', not {shown(parts)}", parameter="calendar"
        )
    for part in given:
        if not isinstance(part, str) or (part not in PARTS and not is_since(part)):
            raise ParameterError(
                f"{what} names {shown(part)}, which is not a part of a date{did_you_mean(part, PARTS)}: choose from "
                f"{', '.join(map(repr, PARTS))}, or 'days since 2020-01-01' with any date",
                parameter="calendar",
            )
    return tuple(dict.fromkeys(map(str, given)))


def is_since(part: str) -> bool:
    """Whether a part counts the days since a valid date."""
    try:
        return bool(dt.date.fromisoformat(found[1])) if (found := _SINCE.fullmatch(part)) else False
    except ValueError:
        return False


def with_parts(columns: Sequence[Column], requests: Mapping[int, PartsRequest]) -> tuple[Column, ...]:
    """The columns of a table, followed by the columns of the requested parts.

    ColumnError if a named column holds no dates or lacks the part, or the table has a column with the name of a part.
    """
    names, made = {column.name for column in columns}, []
    for at, (parts, named) in requests.items():
        column = columns[at]
        if not parts_of(column) or column.left_out:
            if named:
                raise ColumnError(
                    f"calendar names column {shown(column.name)}, whose cells are not dates ({column.family} cells, "
                    f"{column.kind}): leave it out, or write its dates as 2021-03-05",
                    column=column.name,
                )
            continue
        for part in parts:
            if _has(column, part):
                made.append(_column_of(column, at, part))
            elif named:
                raise ColumnError(
                    f"column {shown(column.name)} holds {column.family} cells, which have no {part}: calendar can "
                    f"use its {', '.join((*parts_of(column), *_SINCE_A_DATE[: _has_year(column)]))}",
                    column=column.name,
                )
    for column in made:
        if column.name in names:
            raise ColumnError(
                f"the table has a column {shown(column.name)}, and calendar would add another with that name: rename "
                "the column, or leave the part out",
                column=column.name,
            )
        names.add(column.name)
    if requests and not made:
        notices.warn("calendar requests parts of dates, but no column holds dates: nothing is added")
    return (*columns, *made)


def parts_of(column: Column) -> tuple[str, ...]:
    """The parts that the cells of a column have; empty for a column without dates."""
    is_date = column.kind == "numeric" and column.family in DATES and not column.part
    return _OF_FAMILY[column.family] if is_date else ()


def _has_year(source: Column) -> bool:
    """Whether the cells of a column have a year, so that days since a date can be counted."""
    return "year" in parts_of(source)


def _has(source: Column, part: str) -> bool:
    """Whether the cells of a column have a part."""
    return part in parts_of(source) or (_has_year(source) and is_since(part))


def _column_of(source: Column, at: int, part: str) -> Column:
    """The column of a part: ordinal if the values of the part have names, else numeric."""
    levels = _LEVELS.get(part, ())
    return Column(
        f"{source.name}.{part}", "ordinal" if levels else "numeric", levels, source.missing_seen,
        "string" if levels else "number", declared=bool(levels), part=part, sources=(at,),
    )  # fmt: skip


def part_cells(part: str, source: Column, days: np.ndarray) -> np.ndarray:
    """A part of each date, float64[n]; nan if there is none. The zone of ``source`` decides on day and hour.

    DataError if this machine does not know the time zone.
    """
    cells = np.full(len(days), np.nan)
    present = ~np.isnan(days)
    try:
        micros = local_micros(days[present], source.zone)
    except LookupError:
        raise DataError(
            f"column {shown(source.name)} has the time zone {shown(source.zone)}, which this machine does not know, so "
            f"its {part} cannot be computed: install the Python package tzdata, or convert the column to UTC",
            column=source.name,
        ) from None
    day = micros // DAY
    date = day.view("M8[D]")
    if part == "hour":
        cells[present] = micros % DAY // (DAY // 24)
    elif part == "year":
        cells[present] = date.astype("M8[Y]").view(np.int64) + 1970
    elif part == "month":
        cells[present] = date.astype("M8[M]").view(np.int64) % 12
    elif part == "day":
        cells[present] = day - date.astype("M8[M]").astype("M8[D]").view(np.int64) + 1
    elif part == "weekday":
        cells[present] = (day + _THURSDAY) % 7
    else:
        cells[present] = micros / DAY - days_of(dt.date.fromisoformat(part.rpartition(" ")[2]))[1]
    return cells


def is_sound(columns: Sequence[Column]) -> bool:
    """Whether parts of dates and derived columns come last and match their sources."""
    n_given = sum(not column.part for column in columns)
    n_dated = sum(not is_derived(column) for column in columns)
    if not are_derived(columns, n_dated):
        return False
    for at, column in enumerate(columns[:n_dated]):
        if bool(column.part) != (at >= n_given):
            return False
        if column.part:
            at = column.sources[0] if column.sources else -1
            source = columns[at] if 0 <= at < n_given else column
            if not _has(source, column.part) or column != _column_of(source, at, column.part):
                return False
    return True
