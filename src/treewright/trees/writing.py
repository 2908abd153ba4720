"""How names, levels and numbers are written for people, each on one line.

The texts hold no control character, no line break and nothing that changes the direction of writing, so one name is
always one piece of one line, in a terminal as in a picture. Escaping for SVG or DOT is left to those writers.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Hashable, Sequence
from fractions import Fraction

import numpy as np

from treewright.data.dates import written_days

# Cf: overrides of direction (U+202E), invisible marks. Cs: cannot be encoded. Cn: holds U+FFFE, which XML forbids.
ESCAPED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"})
# The joiners shape emoji and several scripts; they cannot reorder or hide text.
JOINERS = "\u200c\u200d"
# A level with one of these would be misread inside "{a, b}".
LIST_SIGNS = frozenset('{},"')
# From here on every integer digit is written: dates and ids such as 20180131.5 must stay readable.
LONG_INTEGERS, BEYOND_INTEGERS = 1e6, 1e15
_SHORT_SHARE = 12  # characters: what somebody types as a probability is written as it is
_LARGEST_DENOMINATOR = 1000


def escape_controls(text: str) -> str:
    """Return ``text`` with control, invisible and direction characters written as escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char.encode("unicode_escape").decode("ascii")
        if unicodedata.category(char) in ESCAPED_CATEGORIES and char not in JOINERS
        else char
        for char in text
    )


def written_name(name: Hashable) -> str:
    """A column or target name as one line of text; a name that is not a string is written by ``str``."""
    text = escape_controls(str(name))
    return text if text.strip() else f'"{text}"'


def written_level(level: object, *, quote: bool = False) -> str:
    """A level or class label, of Python or NumPy, as one line of text.

    With ``quote`` every string is quoted: for a column that holds both ``1`` and ``"1"``. Otherwise only a string that
    would be misread in a list is quoted: an empty one, one with outer blanks, one with a comma, a brace or a quote.
    """
    text = escape_controls(str(level))
    if not isinstance(level, str):
        return text
    if quote or not level or level != level.strip() or not LIST_SIGNS.isdisjoint(level):
        return '"' + text.replace('"', '\\"') + '"'
    return text


def written_number(number: float, *, digits: int = 6, exact: bool = False) -> str:
    """A threshold as text; with ``exact`` the shortest that reads back as this float64.

    ``digits`` are significant digits at least; between a million and 1e15 the integer part is always whole.
    """
    number = float(number)
    if number == 0:
        return "0"  # also for -0.0, which compares equal
    if exact:
        text = repr(number)
        return text.removesuffix(".0")
    if LONG_INTEGERS <= abs(number) < BEYOND_INTEGERS:
        decimals = max(1, digits - math.floor(math.log10(abs(number))) - 1)
        text = f"{number:.{decimals}f}"
        return text.rstrip("0").rstrip(".")
    return f"{number:.{digits}g}"


def written_probability(probability: float) -> str:
    """A probability as text: as it is if that is short, else as the fraction that it is, else rounded.

    >>> written_probability(0.35), written_probability(1 / 6), written_probability(0.5284736183920471)
    ('0.35', '1/6 (0.1667)', 'about 0.528474')
    """
    exact = written_number(probability, exact=True)
    if len(exact) <= _SHORT_SHARE:
        return exact
    fraction = Fraction(probability).limit_denominator(_LARGEST_DENOMINATOR)
    if float(fraction) == probability:
        return f"{fraction} ({probability:.4g})"
    return f"about {probability:.6g}"


def written_cut(number: float, clock: tuple[str, str], *, digits: int = 6, exact: bool = False) -> str:
    """A cut of a column as text: as a date if ``clock`` (family, zone) has a family, else as a number.

    >>> written_cut(18690.5, ("date", "")), written_cut(2.5, ("", ""))
    ('2021-03-04', '2.5')
    """
    family, zone = clock
    if family and math.isfinite(number):
        return written_days(number, family, zone)
    return written_number(number, digits=digits, exact=exact)


def written_amount(number: float, *, digits: int = 3) -> str:
    """A mean, a count or an impurity as text: ``digits`` significant digits, integer digits always whole."""
    number = float(number)
    if number == 0:
        return "0"
    if not math.isfinite(number):
        return str(number)
    size = abs(number)
    if not 10.0 ** -(digits + 2) <= size < BEYOND_INTEGERS:
        return f"{number:.{digits}g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(size)))
    text = f"{number:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def written_count(number: int) -> str:
    """An integer with thin grouping by commas from 10,000 on.

    >>> written_count(9999), written_count(1234567)
    ('9999', '1,234,567')
    """
    return f"{number:,}" if abs(number) >= 10_000 else str(number)


def written_set(levels: Sequence[Hashable], *, quote: bool = False, max_levels: int | None = None) -> str:
    """Levels as ``{a, b, ... 12 more}``; all of them if ``max_levels`` is None.

    >>> written_set(("a", "b", "c", "d"), max_levels=2)
    '{a, b, ... 2 more}'
    """
    shown = levels if max_levels is None or len(levels) <= max_levels else levels[:max_levels]
    names = [written_level(level, quote=quote) for level in shown]
    if len(shown) < len(levels):
        names.append(f"... {len(levels) - len(shown)} more")
    return "{" + ", ".join(names) + "}"


def cell_width(text: str) -> int:
    """How many terminal cells ``text`` takes: two for a wide East Asian sign or an emoji, none for a joiner."""
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.combining(char) or char in JOINERS or "\ufe00" <= char <= "\ufe0f"
        else 2
        if unicodedata.east_asian_width(char) in "WF"
        else 1
        for char in text
    )


def shorten(text: str, width: int) -> str:
    """Return ``text`` cut to ``width`` terminal cells, with an ellipsis if something was left off."""
    if cell_width(text) <= width:
        return text
    taken, used = [], 1
    for char in text:
        used += cell_width(char)
        if used > width:
            break
        taken.append(char)
    return "".join(taken).rstrip() + "\u2026"


def gap_digits(values: np.ndarray, *, least: int = 6) -> np.ndarray:
    """How many significant digits, ``least`` to 17, each value needs so that different values look different.

    With ``d`` digits a value is off by at most half of ``10**(floor(log10|x|) - d + 1)``. Two neighbours stay different
    if that unit is at most half of the gap between them; 17 digits tell any two float64 apart.
    """
    unique, back = np.unique(values, return_inverse=True)
    finite = np.isfinite(unique)
    # Halves first: the gap of two values near the ends of float64 would overflow.
    halves = np.where(finite, unique, 0.0) / 2
    gaps = np.full(len(unique) + 1, np.inf)
    gaps[1:-1] = np.where(finite[1:] & finite[:-1], np.diff(halves), np.inf)
    half_gap = np.minimum(gaps[1:], gaps[:-1])
    size = np.where(finite & (unique != 0), np.abs(unique), 1.0)
    with np.errstate(divide="ignore"):
        need = np.floor(np.log10(size)) + 1 - np.log10(half_gap)
    need = np.where(np.isposinf(need), 17, need)
    digits = np.clip(np.ceil(np.where(np.isfinite(need), need, least)), least, 17).astype(np.int64)
    return np.asarray(digits[back.reshape(-1)])
