"""Text columns that are no names. In: schema, matrix, declarations. Out: warnings. Callers: estimators.base, isolation.

Text is taken as nominal. Where its levels are dates, numbers or an identifier that is hardly ever what was meant, and
costs time and memory for nothing. Only levels are looked at, never cells.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from treewright.core import notices
from treewright.data.cells import shown
from treewright.data.declarations import resolve
from treewright.data.kinds import parse_number
from treewright.data.schema import Column, Schema

# Fewer levels do no harm, and may well be names: five waves of a survey by their dates, grades from "1" to "6".
_FEWEST_LEVELS = 25
_MOST_NAMED = 5
_DATE = re.compile(r"\s*(\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3\d{2,4})([T ]\s*\d{1,2}:\d{2}.*)?\s*")
_PADDED = re.compile(r"\s*[+-]?0\d")


def warn_of_text(schema: Schema, matrix: np.ndarray, nominal: Any, ordinal: Any, numeric: Any) -> None:
    """Warn of text columns that nobody declared, whose levels are all dates, all numbers, or one for every row.

    Parameters
    ----------
    schema : Schema
    matrix : float[n, p], encoded
    nominal, ordinal, numeric
        What the user declared, as ``encode_fit`` takes it.

    Warns
    -----
    DataWarning
        One of each sort.
    """
    dates: list[Column] = []
    numbers: list[Column] = []
    own: list[Column] = []
    text = [
        at
        for at, column in enumerate(schema.columns)
        if column.kind == "nominal" and column.family == "string" and len(column.levels) >= _FEWEST_LEVELS
    ]
    declared = resolve(schema.names, nominal, ordinal, numeric) if text else {}
    for at in text:
        column = schema.columns[at]
        if at in declared:
            continue
        if all(_DATE.fullmatch(str(level)) for level in column.levels):
            dates.append(column)
        elif all(_is_number(level) for level in column.levels):
            numbers.append(column)
        elif len(column.levels) == np.count_nonzero(~np.isnan(matrix[:, at])):
            own.append(column)
    if dates:
        notices.warn(
            f"{_named(dates)}: dates as text, taken as names without an order: make numbers of them (days since the "
            "first one, the month), leave them out, or declare them nominal"
        )
    if numbers:
        notices.warn(
            f"{_named(numbers)}: numbers as text, taken as names without an order: declare them numeric, or nominal "
            "if names is what they are"
        )
    if own:
        notices.warn(
            f"{_named(own)}: text that is another one in every row, such as an identifier, says nothing about other "
            "rows: leave it out, or declare it nominal"
        )


def _is_number(level: Hashable) -> bool:
    """Whether text spells a number, other than one with leading zeros, such as a postal code."""
    return parse_number(level) is not None and not _PADDED.match(str(level))


def _named(columns: Sequence[Column]) -> str:
    """The columns, each with the number of its levels."""
    told = ", ".join(f"{shown(column.name)} ({len(column.levels)} levels)" for column in columns[:_MOST_NAMED])
    more = f" and {len(columns) - _MOST_NAMED} more" if len(columns) > _MOST_NAMED else ""
    return f"column{'s' if len(columns) > 1 else ''} {told}{more}"
