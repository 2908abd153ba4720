"""What looks wrong about a table that can be fitted all the same: warnings.

Before growth, what encoding has left out (``data.identifiers``), and text columns: text is taken as nominal, and where
its levels are dates, numbers or an identifier that is hardly ever what was meant. Only levels are looked at, never
cells. After growth, the one column that the model asks
first or most: does it equal the target? Only that column is looked at, so that a fit does not become slower.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from treewright.core import notices
from treewright.data.cells import shown
from treewright.data.kinds import parse_number, resolve
from treewright.data.schema import Column, Schema
from treewright.data.sparse import SparseMatrix
from treewright.data.target import Labels, Numbers

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
    declared = resolve(schema.given_names, nominal, ordinal, numeric) if text else {}
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
            f"{_named(dates)}: dates as text, taken as names without an order: write them as 2021-03-05, which is read "
            "as a date, leave them out, or declare them nominal"
        )
    if numbers:
        notices.warn(
            f"{_named(numbers)}: numbers as text, taken as names without an order: declare them numeric, or nominal "
            "if names is what they are"
        )
    if own:
        notices.warn(
            f"{_named(own)}: text that differs in every row, such as an identifier, says nothing about other rows: "
            "leave it out, or declare it nominal"
        )


def warn_of_left_out(schema: Schema) -> None:
    """Warn, in one line, of the columns that encoding has left out, and say how to keep them.

    Warns
    -----
    DataWarning
    """
    gone = [column for column in schema.columns if column.left_out]
    if not gone:
        return
    named = ", ".join(f"{shown(column.name)} ({column.left_out})" for column in gone[:_MOST_NAMED])
    more = f" and {len(gone) - _MOST_NAMED} more" if len(gone) > _MOST_NAMED else ""
    columns, are, it = ("columns", "are", "them") if len(gone) > 1 else ("column", "is", "it")
    notices.warn(
        f"{columns} {named}{more} {are} left out: such values tell rows apart and say nothing about new rows; to keep "
        f"{it}, declare {it} nominal or numeric"
    )


def _is_number(level: Hashable) -> bool:
    """Whether text spells a number, other than one with leading zeros, such as a postal code."""
    return parse_number(level) is not None and not _PADDED.match(str(level))


def _named(columns: Sequence[Column]) -> str:
    """The columns, each with the number of its levels."""
    told = ", ".join(f"{shown(column.name)} ({len(column.levels)} levels)" for column in columns[:_MOST_NAMED])
    more = f" and {len(columns) - _MOST_NAMED} more" if len(columns) > _MOST_NAMED else ""
    return f"column{'s' if len(columns) > 1 else ''} {told}{more}"


# In a table of a few rows a column equals the target by chance, or for the sake of an example.
_FEWEST_ROWS = 25
_FIRST_ROWS = 1000


def warn_of_suspicions(schema: Schema, matrix: np.ndarray, target: Labels | Numbers, column: int) -> None:
    """Warn where no column says anything, or one says everything.

    Parameters
    ----------
    schema : Schema
    matrix : float[n, p]
    target : Labels or Numbers of n rows
    column : int
        The one that tells most: that of a tree's root; -1 where nothing could be told.

    Warns
    -----
    DataWarning
        Every column is constant though the target is not; that column equals the target.
    """
    if column < 0:
        if (target[0] != target[0][0]).any() and is_constant(matrix):
            notices.warn(f"every column is constant ({len(schema)} of them): the model says the same for every row")
        return
    named = schema.columns[column]
    if len(matrix) >= _FEWEST_ROWS and equals_target(named, matrix[:, column], target):
        notices.warn(f"column {shown(named.name)} equals y in every row: was the target left in the table?")


def is_constant(matrix: np.ndarray) -> bool:
    """Whether every column holds one value, or none."""
    if isinstance(matrix, SparseMatrix):
        return matrix.is_constant()
    first = matrix[0]
    return all(bool(((column == value) | (np.isnan(column) & np.isnan(value))).all())
               for column, value in zip(matrix.T, first, strict=True))  # fmt: skip


def equals_target(column: Column, cells: np.ndarray, target: Labels | Numbers) -> bool:
    """Whether a column holds the target (its first output): the same numbers, or the same labels.

    Parameters
    ----------
    column : Column
    cells : float[n], encoded
    target : Labels or Numbers
    """
    if isinstance(target, Numbers):
        # Codes are no numbers: an ordinal or nominal column is never the same as numbers.
        return column.kind == "numeric" and _are_equal(cells, target.values[:, 0], None)
    labels = target.classes[0]
    if column.kind != "numeric":
        codes_of = {level: code for code, level in enumerate(column.levels)}
        values = np.array([codes_of.get(label, -1) for label in labels.tolist()], np.float64)
    elif labels.dtype.kind in "biuf":
        values = labels.astype(np.float64)
    else:
        return False
    return _are_equal(cells, target.codes[:, 0], values)


def _are_equal(cells: np.ndarray, target: np.ndarray, values: np.ndarray | None) -> bool:
    """Compare the first rows, and the rest only if these are equal."""
    for rows in (slice(0, _FIRST_ROWS), slice(_FIRST_ROWS, None)):
        expected = target[rows] if values is None else values.take(target[rows])
        if not np.array_equal(cells[rows], expected):
            return False
    return True
