"""Columns that identify rows, and what texts look like: dates in formats that are not read, amounts with units.

Identifiers, nearly unique text and row numbers carry no information about new rows: a model that uses them memorises
its training rows. They are left out unless the user declares them. Two sorts are recognised.

Text whose levels have fewer than two rows on average: most levels of other rows were never seen. The limit was chosen
by measurement (docs/decisions/0011-what-strangers-found.md). Fewer than 25 levels do no harm, and may well be names.

Whole numbers that differ in every row: those that count the rows from 0 or 1, in ascending order (up to half of the
rows may be absent, as in a fold); those of a column that is named as an identifier; and those of a column without a
name that a data-frame library has written next to the rows. Only a table with column names has such columns: the only
column of an array may well be 0, 1, 2 ...

A column is never left out if no other column that varies would remain; ``kept_identifiers`` returns these columns.

Dates and amounts as text are recognised and never converted: 03/04/2021 is in March or in April, and 4,123 is 4 or 4
thousand. What leading zeros and a fraction of zeros mean is said here too, for files of text as well as for columns of
text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from treewright.data.dates import DATES, read_texts
from treewright.data.kinds import Declared, parse_number
from treewright.data.schema import Column

ROWS_PER_LEVEL = 2
FEWEST = 25  # levels, or rows
LIKE = " that look like "  # within a reason, before ``Look.what``
# What pandas, R and Arrow call the column in which they write the names or numbers of rows.
_ROW_NAMES = re.compile(r"|unnamed: ?\d+|__index_level_\d+__|row[._ ]?names?", re.IGNORECASE)
_IDENTIFIER = re.compile(r"(?i:(.*[ ._-])?(id|uuid|guid))|.*[a-z](ID|Id)")


def without_identifiers(
    columns: Sequence[Column], matrix: np.ndarray, declared: Mapping[int, Declared], *, named: bool
) -> tuple[Column, ...]:
    """The columns of a fit; those that only identify rows are marked as left out, except declared ones.

    ``matrix`` is float[n, p], encoded; ``named`` says whether the table has column names.

    >>> columns = (Column("", "numeric"), Column("age", "numeric"))
    >>> cells = np.array([[7.0, 30.0], [8.0, 41.0], [9.0, 30.0]])
    >>> [column.left_out for column in without_identifiers(columns, cells, {}, named=True)]
    ['a different number in every row', '']
    """
    candidates = [at for at in range(len(columns)) if at not in declared]
    reasons = {at: reason for at in candidates if (reason := _reason(columns[at], matrix[:, at], named=named))}
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
    only next to others, or if it is named as an identifier. ``columns`` is the result of ``without_identifiers``.

    >>> cells = np.column_stack([np.arange(40.0)] * 2)
    >>> kept_identifiers((Column("id", "numeric"), Column("row", "numeric")), cells, {}, named=True)
    {0: 'counts the rows', 1: 'counts the rows'}
    >>> kept_identifiers((Column("year", "numeric"),), cells, {}, named=True)
    {}
    """
    candidates = [at for at, column in enumerate(columns) if not (column.left_out or column.part or at in declared)]
    reasons = {at: reason for at in candidates if (reason := _reason(columns[at], matrix[:, at], named=named))}
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

    The callables return how many of the ``n`` cells are not missing, whether numbers count the rows, and whether they
    are whole and all different.
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

    >>> is_nearly_unique(60, 100), is_nearly_unique(40, 100), is_nearly_unique(24, 24)
    (True, False, False)
    """
    return n_levels >= FEWEST and n_levels * ROWS_PER_LEVEL > n


def counts_rows(cells: np.ndarray) -> bool:
    """Whether numbers count 0, 1, 2 ... or 1, 2, 3 ... from row to row; at least half are present."""
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


class Look(NamedTuple):
    """What texts look like."""

    what: str  # in words that follow "look like"
    remedy: str  # what to do if that is what they are


DATES_AS_TEXT = Look("dates", "write them as 2021-12-31, which is read as a date")
# Text is read as dates unless its own type says that it is categories.
CATEGORIES = Look("dates as categories", "turn the categories into text or dates")
NUMBERS = Look("numbers", "declare them numeric")
AMOUNTS = Look("numbers with a sign, a unit or separators", "write bare numbers, as 4123 for $4,123 and 25 for 25%")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_TIME = r"(?:(?:[T ]\s*|,\s+)\d{1,2}[:.]\d{2}.*)?"
_DATE = re.compile(
    rf"(?:\d{{4}}([-/.])\d{{1,2}}\1\d{{1,2}}|\d{{1,2}}([-/.])\d{{1,2}}\2(?:\d{{4}}|\d{{2}})"
    rf"|\d{{1,2}}\.?[-/ ]?{_MONTH}[-/, ]*(?:\d{{4}}|\d{{2}})|{_MONTH} ?\d{{1,2}}(?:st|nd|rd|th)?,? +\d{{4}}){_TIME}",
    re.ASCII | re.IGNORECASE,
)
_CURRENCY = r"[$\u00a3\u00a5\u20a0-\u20bf]|(?:US|A|C|R)\$|USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|kr\.?"
# A unit is letters that all texts share: codes such as 12B and 13C are none.
_AMOUNT = re.compile(
    rf"[-+(~<>]*\s?(?:{_CURRENCY})?\s?[-+]?"
    rf"(?P<digits>(?:\d+|\d{{1,3}}(?:[,'. \u00a0\u202f]\d{{3}})+)(?:[.,]\d+)?)"
    rf"\s?(?P<unit>%|\u2030|\u00b0[CF]?|{_CURRENCY}|[A-Za-z\u00b5]{{1,4}}[\u00b2\u00b32]?)?\)?",
)
# Whole numbers with leading zeros: 00123 is a code. A fraction is none: 007.5 is 7.5.
PADDED = r"^[+-]?0\d+$"
WITHOUT_POINT = r"^[+-]?\d+$"
# A whole number with a fraction of zeros, which pandas writes as soon as a cell is missing. No other level has two
# spellings: 1.10 may be a version, and 045 a code.
ZERO_FRACTION = r"^(-?(?:0|[1-9][0-9]*))[.,]0+$"


def look_of(texts: Sequence[Hashable]) -> Look | None:
    """What all texts look like; None if they look like names, or if one of them is not a text.

    >>> look_of(["31/12/2021", "1/2/2022"]).what, look_of(["$4,123", "-$25"]).what, look_of(["1.5", "007.5"]).what
    ('dates', 'numbers with a sign, a unit or separators', 'numbers')
    >>> look_of(["12B", "13C"]) is look_of(["00123"]) is None
    True
    """
    stripped = [text.strip() for text in texts if isinstance(text, str)]
    if not stripped or len(stripped) < len(texts):
        return None
    if all(map(_DATE.fullmatch, stripped)):
        return DATES_AS_TEXT if read_texts(stripped) is None else CATEGORIES
    if all(parse_number(text) is not None for text in stripped):
        return None if _are_codes(stripped) else NUMBERS
    return AMOUNTS if _are_amounts(stripped) else None


def are_codes(n_padded: int, n: int) -> bool:
    """Whether so many padded whole numbers of ``n`` cells make a column one of codes: at least half.

    One 045 among ages is 45; postal codes such as 00123 are padded because zeros are a part of them.

    >>> are_codes(1, 2), are_codes(1, 400)
    (True, False)
    """
    return n_padded > 0 and 2 * n_padded >= n


def without_zero_fraction(text: str) -> str:
    """A whole number without its fraction of zeros; any other text as it is.

    >>> [without_zero_fraction(text) for text in ("1010.0", "1010", "1.10", "045.0")]
    ['1010', '1010', '1.10', '045.0']
    """
    return re.sub(ZERO_FRACTION, r"\1", text)


def _are_codes(texts: Sequence[str]) -> bool:
    """Whether texts are whole numbers that are padded with zeros, such as postal codes."""
    padded = sum(re.fullmatch(PADDED, text) is not None for text in texts)
    return are_codes(padded, len(texts)) and all(re.fullmatch(WITHOUT_POINT, text) for text in texts)


def _are_amounts(texts: Sequence[str]) -> bool:
    """Whether all are numbers, some of them with a sign, or all with the same unit."""
    units, digits = set(), []
    for text in texts:
        found = _AMOUNT.fullmatch(text)
        if found is None:
            return False
        units.add(found["unit"] or "")
        digits.append(found["digits"])
    if _are_codes(digits):
        return False
    return len(units - {""}) <= 1 or not any(map(str.isalpha, units))
