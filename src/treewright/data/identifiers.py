"""Columns that identify rows and carry no information about new ones: identifiers, nearly unique text, row numbers.

A model that uses them memorises its training rows. They are left out unless the user declares them. Two sorts are
recognised.

Text whose levels have fewer than two rows on average: most levels of other rows were never seen. The limit was chosen
by measurement (docs/decisions/0011-what-strangers-found.md). Fewer than 25 levels do no harm, and may well be names.

Whole numbers that differ in every row: those that count the rows from 0 or 1, in ascending order (up to half of the
rows may be absent, as in a fold); those of a column that is named as an identifier; and those of a column without a
name that a data-frame library has written next to the rows. Only a table with column names has such columns: the only
column of an array may well be 0, 1, 2 ...

A column is never left out if no other column that varies would remain; ``kept_identifiers`` returns these columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from treewright.data.dates import DATES
from treewright.data.kinds import Declared
from treewright.data.schema import Column
from treewright.data.texts import AMOUNTS, NUMBERS, look_of
from treewright.data.texts import DATES as DATES_AS_TEXT

ROWS_PER_LEVEL = 2
FEWEST = 25  # levels, or rows
LIKE = " that look like "  # within a reason, before ``texts.Look.what``
# What pandas, R and Arrow call the column in which they write the names or numbers of rows.
_ROW_NAMES = re.compile(r"|unnamed: ?\d+|__index_level_\d+__|row[._ ]?names?", re.IGNORECASE)
_IDENTIFIER = re.compile(r"(?i:(.*[ ._-])?(id|uuid|guid))|.*[a-z](ID|Id)")


def without_identifiers(
    columns: Sequence[Column], matrix: np.ndarray, declared: Mapping[int, Declared], *, named: bool
) -> tuple[Column, ...]:
    """The columns of a fit; those that only identify rows are marked as left out.

    Parameters
    ----------
    columns : sequence of p Column
    matrix : float[n, p], encoded; read only
    declared : dict from position to Declared
        These are kept.
    named : bool
        Whether the table has column names.

    Examples
    --------
    >>> columns = (Column("", "numeric"), Column("age", "numeric"))
    >>> cells = np.array([[7.0, 30.0], [8.0, 41.0], [9.0, 30.0]])
    >>> [column.left_out for column in without_identifiers(columns, cells, {}, named=True)]
    ['a different number in every row', '']
    """
    asked = [at for at in range(len(columns)) if at not in declared]
    reasons = {at: reason for at in asked if (reason := _reason(columns[at], matrix[:, at], named=named))}
    return left_out_for(columns, reasons, lambda left_out: _any_varies(matrix, left_out), named=named)


def left_out_for(
    columns: Sequence[Column],
    reasons: Mapping[int, str],
    any_varies: Callable[[Mapping[int, str]], bool],
    *,
    named: bool,
) -> tuple[Column, ...]:
    """The columns; those with a reason are marked as left out if a column that varies remains (``any_varies``)."""
    if reasons and not any_varies(reasons):
        reasons = {at: reason for at, reason in reasons.items() if named and _is_row_name(columns[at].name)}
        if not any_varies(reasons):
            reasons = {}
    return tuple(
        replace(column, kind="numeric", levels=(), missing_seen=False, left_out=reasons[at])
        if at in reasons
        else column
        for at, column in enumerate(columns)
    )


def kept_identifiers(
    columns: Sequence[Column], matrix: np.ndarray, declared: Mapping[int, Declared], *, named: bool
) -> dict[int, str]:
    """Columns that only identify rows and are used because no other column varies: position to reason.

    A column that counts the rows, such as the time of a series, may be all that there is to learn from: it is listed
    only next to others, or if it is named as an identifier.

    Parameters
    ----------
    columns, matrix, declared, named
        As for ``without_identifiers``; ``columns`` is its result.

    Examples
    --------
    >>> cells = np.column_stack([np.arange(40.0)] * 2)
    >>> kept_identifiers((Column("id", "numeric"), Column("row", "numeric")), cells, {}, named=True)
    {0: 'counts the rows', 1: 'counts the rows'}
    >>> kept_identifiers((Column("year", "numeric"),), cells, {}, named=True)
    {}
    """
    asked = [at for at, column in enumerate(columns) if not (column.left_out or column.part or at in declared)]
    reasons = {at: reason for at in asked if (reason := _reason(columns[at], matrix[:, at], named=named))}
    is_plain = all(columns[at].kind == "numeric" and not _IDENTIFIER.fullmatch(str(columns[at].name)) for at in reasons)
    return {} if is_plain else reasons


def _reason(column: Column, cells: np.ndarray, *, named: bool) -> str:
    """Why a column is left out, in words that follow its name; empty if it is used."""
    return reason_for(
        column,
        len(cells),
        lambda: int(np.count_nonzero(cells == cells)),
        lambda: counts_rows(cells),
        lambda: bool((cells == np.rint(cells)).all()) and len(np.unique(cells)) == len(cells),
        named=named,
    )


def reason_for(
    column: Column,
    n: int,
    n_present: Callable[[], int],
    counts: Callable[[], bool],
    tells_apart: Callable[[], bool],
    *,
    named: bool,
) -> str:
    """Like ``_reason``, from what is known about the cells.

    Parameters
    ----------
    n : int
        Rows.
    n_present, counts, tells_apart : callable
        How many cells are not missing; whether numbers count the rows; whether they are whole and all different.
    """
    if column.kind == "nominal" and column.family != "boolean":
        n_levels, n_held = len(column.levels), n_present()
        is_row_name = named and _is_row_name(column.name) and 1 < n_levels == n_held
        if is_row_name or is_nearly_unique(n_levels, n_held):
            look = look_of(column.levels)
            what = "numbers as text" if look is NUMBERS else "texts"
            like = f"{LIKE}{look.what}" if look in (DATES_AS_TEXT, AMOUNTS) else ""
            return f"{n_levels} different {what} in {n_held} rows{like}"
        return ""
    if column.kind != "numeric" or column.family in DATES or not named:
        return ""
    if counts():
        return "counts the rows"
    is_known = _is_row_name(column.name) or (n >= FEWEST and _IDENTIFIER.fullmatch(str(column.name)) is not None)
    return "a different number in every row" if is_known and n > 1 and tells_apart() else ""


def is_nearly_unique(n_levels: int, n: int) -> bool:
    """Whether this many levels only identify this many rows.

    Examples
    --------
    >>> is_nearly_unique(60, 100), is_nearly_unique(40, 100), is_nearly_unique(24, 24)
    (True, False, False)
    """
    return n_levels >= FEWEST and n_levels * ROWS_PER_LEVEL > n


def counts_rows(cells: np.ndarray) -> bool:
    """Whether numbers count 0, 1, 2 ... or 1, 2, 3 ... from row to row; if there are gaps, at least half are present.

    Examples
    --------
    >>> counts_rows(np.arange(1.0, 41.0)), counts_rows(np.arange(40.0)[::-1]), counts_rows(np.arange(1960.0, 2000.0))
    (True, False, False)
    >>> counts_rows(np.delete(np.arange(40.0), [0, 3, 4, 17]))
    True
    """
    n = len(cells)
    # The ends decide nearly always: no other cell of most columns is looked at.
    if n < FEWEST or not (cells[0] >= 0 and n - 1 <= cells[-1] - cells[0] and cells[-1] < 2 * n):
        return False
    return bool((cells == np.rint(cells)).all() and (np.diff(cells) >= 1).all())


def _any_varies(matrix: np.ndarray, left_out: Mapping[int, str]) -> bool:
    """Whether a column that is used holds two values."""
    for at in range(matrix.shape[1]):
        if at not in left_out:
            held = matrix[:, at][~np.isnan(matrix[:, at])]
            if len(held) and (held != held[0]).any():
                return True
    return False


def _is_row_name(name: Hashable) -> bool:
    return _ROW_NAMES.fullmatch(str(name).strip()) is not None
