"""Spellings of declared levels. In: text. Out: text without case, outer space and Unicode form. Callers: schema, kinds.

Only declared levels are compared in this way: whoever lists the levels says that every other spelling is a slip. Levels
read from the data stay as they are, so that ``"A"`` and ``"a"`` are two.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Iterable


def folded(text: str) -> str:
    """Text without case, outer white space and Unicode form.

    Two texts that differ in nothing else have the same folded form: the canonical caseless match of the Unicode
    standard (section 3.13, D145). Compatibility forms, such as a superscript two, stay what they are.

    Examples
    --------
    >>> folded(" ANIMATED ") == folded("animated"), folded("Straße") == folded("STRASSE")
    (True, True)
    """
    apart = unicodedata.normalize("NFD", text.strip()).casefold()
    return unicodedata.normalize("NFC", apart)


def codes_by_spelling(levels: Iterable[Hashable]) -> dict[str, tuple[int, ...]]:
    """The codes of the levels that are text, by their folded form: several where levels differ in nothing else.

    Examples
    --------
    >>> codes_by_spelling(["Long", 7, "LONG", "short"])
    {'long': (0, 2), 'short': (3,)}
    """
    codes: dict[str, tuple[int, ...]] = {}
    for code, level in enumerate(levels):
        if isinstance(level, str):
            form = folded(level)
            codes[form] = (*codes.get(form, ()), code)
    return codes
