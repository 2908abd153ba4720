"""The columns of a table: ``Column`` and ``Schema``, and the spellings of declared levels.

A schema is the part of a fitted model that describes the *table*: it is frozen, compares by value, and turns into plain
JSON (``schema_to_json`` / ``schema_from_json`` in ``categories.py`` carry the typed levels).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal

from treewright.data.dates import DATES

Kind = Literal["numeric", "ordinal", "nominal"]


@dataclass(frozen=True)
class Column:
    """One column of the table that was fitted.

    Attributes
    ----------
    name : hashable
        The column's own name, exactly as given; ``"x0"``, ``"x1"``, ... for a table without names.
    kind : {"numeric", "ordinal", "nominal"}
    levels : tuple
        Empty for a numeric column. For a nominal column the levels seen at fit, sorted, or the declared levels in the
        order of the declaration; for an ordinal column its levels, lowest first. Python scalars (str, int, float,
        bool, bytes, datetime, ...).
        The code of a level is its position; ``nan`` in the encoded matrix is a missing value.
    missing_seen : bool
        Whether the column held a missing value at fit.
    family : str
        What the cells were: ``"number"``, ``"string"``, ``"boolean"``, ``"object"`` (mixed), ``"missing"`` (no cell
        held a value), and of a numeric column ``"date"``, ``"datetime"``, ``"duration"`` or ``"time"``: days
        (``data.dates``). A table whose column changes family between fit and predict is refused, except that booleans
        and numbers match by value (True is 1) and a column without values matches any family.
    declared : bool
        Whether the levels were declared. Then a text that is no level, but differs from exactly one in nothing but
        case, outer white space and Unicode form, counts as that level; levels read from the data match exactly.
    left_out : str
        Why nothing is learned from the column; empty if it is used. Its cells are 0 in the encoded matrix, and no
        table needs to have it after the fit.
    zone : str
        The time zone in which the instants of the column are shown; empty if they have none.
    part : str
        Which part of a date the column holds, such as ``"month"`` (``data.calendar``), or how it is derived from
        others (``data.derived``); empty for a column of the table.
    sources : tuple of int
        Of a part or a derived column: the positions of the columns that it is made of, ascending; else empty.
    numbers : tuple of float
        The numbers that a derived column needs (``data.derived``).
    """

    name: Hashable
    kind: Kind
    levels: tuple[Hashable, ...] = ()
    missing_seen: bool = False
    family: str = "number"
    declared: bool = False
    left_out: str = ""
    zone: str = ""
    part: str = ""
    sources: tuple[int, ...] = ()
    numbers: tuple[float, ...] = ()

    def __reduce__(self) -> tuple[type[Column], tuple[Any, ...]]:
        # Only the fields: what was derived from them and kept must not change the bytes of a pickle.
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    @cached_property
    def codes(self) -> dict[Hashable, int]:
        """Level to code."""
        return {level: code for code, level in enumerate(self.levels)}

    @cached_property
    def spellings(self) -> dict[str, tuple[int, ...]]:
        """Codes of the levels that are text, by their form without case, outer white space and Unicode form."""
        return codes_by_spelling(self.levels)


@dataclass(frozen=True)
class Schema:
    """The columns of the table that was fitted, in order.

    Attributes
    ----------
    columns : tuple of Column
    named : bool
        False if the table had no column names (an array, a list of rows); then columns match by position.

    Parts of dates follow the columns of the table, and derived columns come last: no table needs to have them.
    """

    columns: tuple[Column, ...]
    named: bool = True

    def __reduce__(self) -> tuple[type[Schema], tuple[Any, ...]]:
        # Only the fields: what was derived from them and kept must not change the bytes of a pickle.
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    @property
    def names(self) -> tuple[Hashable, ...]:
        """Column names in order."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def given(self) -> tuple[Column, ...]:
        """The columns of the table: all but parts of dates and derived columns."""
        return tuple(column for column in self.columns if not column.part)

    @cached_property
    def needed(self) -> tuple[Column, ...]:
        """The columns that a table must have."""
        return tuple(column for column in self.given if not column.left_out)

    @property
    def given_names(self) -> tuple[Hashable, ...]:
        """The column names of the table in order."""
        return tuple(column.name for column in self.given)

    @cached_property
    def positions(self) -> dict[Hashable, int]:
        """Column name to position."""
        return {column.name: position for position, column in enumerate(self.columns)}

    @cached_property
    def is_plain(self) -> bool:
        """Whether a float matrix of the right width is already encoded: no names, nothing but numeric columns."""
        return not self.named and all(
            column.kind == "numeric" and column.family not in DATES and not column.left_out and not column.part
            for column in self.columns
        )

    @cached_property
    def used_positions(self) -> tuple[int, ...]:
        """Positions of the columns that are not left out, ascending."""
        return tuple(at for at, column in enumerate(self.columns) if not column.left_out)

    @cached_property
    def used(self) -> tuple[Column, ...]:
        """The columns that are not left out."""
        return tuple(self.columns[at] for at in self.used_positions)

    @cached_property
    def never_missing(self) -> tuple[int, ...]:
        """Positions of the columns that held no missing value at fit."""
        return tuple(at for at, column in enumerate(self.columns) if not column.missing_seen)

    def __len__(self) -> int:
        return len(self.columns)


def folded(text: str) -> str:
    """Text without case, outer white space and Unicode form.

    Two texts that differ in nothing else have the same folded form: the canonical caseless match of the Unicode
    standard (section 3.13, D145). Compatibility forms, such as a superscript two, stay what they are.

    Only declared levels are compared in this way: any other spelling of a declared level is a slip. Levels read from
    the data stay as they are, so that ``"A"`` and ``"a"`` are two.

    Examples
    --------
    >>> folded(" ANIMATED ") == folded("animated"), folded("Straße") == folded("STRASSE")
    (True, True)
    """
    apart = unicodedata.normalize("NFD", text.strip()).casefold()
    return unicodedata.normalize("NFC", apart)


def codes_by_spelling(levels: Iterable[Hashable]) -> dict[str, tuple[int, ...]]:
    """The codes of the levels that are text, by their folded form: several if levels differ in nothing else.

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


def unlike(names: Iterable[str], taken: Iterable[Hashable] = ()) -> list[str]:
    """The names, with a number appended to those that are repeated or taken.

    Examples
    --------
    >>> unlike(["a", "a", "b"], ["b"])
    ['a', 'a (2)', 'b (2)']
    """
    used, found = set(taken), []
    for name in names:
        number, free = 2, name
        while free in used:
            number, free = number + 1, f"{name} ({number})"
        used.add(free)
        found.append(free)
    return found
