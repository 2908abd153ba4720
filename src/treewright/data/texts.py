"""What the texts of a column look like: dates in formats that are not read, amounts with units.

They are recognised and never converted: 03/04/2021 is in March or in April, and 4,123 is 4 or 4 thousand. What leading
zeros and a fraction of zeros mean is said here too, for files of text as well as for columns of text.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from treewright.data.dates import read_texts
from treewright.data.kinds import parse_number


class Look(NamedTuple):
    """What texts look like.

    Attributes
    ----------
    what : str
        In words that follow "look like".
    remedy : str
        What to do if that is what they are.
    """

    what: str
    remedy: str


DATES = Look("dates", "write them as 2021-12-31, which is read as a date")
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


def are_codes(n_padded: int, n: int) -> bool:
    """Whether so many padded whole numbers of ``n`` cells make a column one of codes: at least half.

    One 045 among ages is 45; postal codes such as 00123 are padded because zeros are a part of them.

    Examples
    --------
    >>> are_codes(1, 2), are_codes(1, 400)
    (True, False)
    """
    return n_padded > 0 and 2 * n_padded >= n


def without_zero_fraction(text: str) -> str:
    """A whole number without its fraction of zeros; any other text as it is.

    Examples
    --------
    >>> [without_zero_fraction(text) for text in ("1010.0", "1010", "1.10", "045.0")]
    ['1010', '1010', '1.10', '045.0']
    """
    return re.sub(ZERO_FRACTION, r"\1", text)


def look_of(texts: Sequence[Hashable]) -> Look | None:
    """What all texts look like; None if they look like names, or if one of them is not a text.

    Examples
    --------
    >>> look_of(["31/12/2021", "1/2/2022"]).what, look_of(["$4,123", "-$25"]).what, look_of(["1.5", "2"]).what
    ('dates', 'numbers with a sign, a unit or separators', 'numbers')
    >>> look_of(["12B", "13C"]) is look_of(["00123"]) is None
    True
    >>> look_of(["3.5", "4.5", "007.5"]).what
    'numbers'
    """
    stripped = [text.strip() for text in texts if isinstance(text, str)]
    if not stripped or len(stripped) < len(texts):
        return None
    if all(map(_DATE.fullmatch, stripped)):
        return DATES if read_texts(stripped) is None else CATEGORIES
    if all(parse_number(text) is not None for text in stripped):
        return None if _are_codes(stripped) else NUMBERS
    return AMOUNTS if _are_amounts(stripped) else None


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
