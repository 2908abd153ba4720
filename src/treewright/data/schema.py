"""The columns of a table: ``Column`` and ``Schema``, the spellings of declared levels, and matching another table's.

A schema is the part of a fitted model that describes the *table*: it is frozen, compares by value, and turns into plain
JSON (``schema_to_json`` / ``schema_from_json`` in ``categories.py`` carry the typed levels). Columns match by name if
both sides have names, and by order, with a warning, if only one side has.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal

from treewright.core import notices
from treewright.data.cells import shown
from treewright.data.dates import DATES
from treewright.data.table import Table, check_unique
from treewright.exceptions import ColumnError

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
    """
    apart = unicodedata.normalize("NFD", text.strip()).casefold()
    return unicodedata.normalize("NFC", apart)


def codes_by_spelling(levels: Iterable[Hashable]) -> dict[str, tuple[int, ...]]:
    """The codes of the levels that are text, by their folded form: several if levels differ in nothing else.

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
    """The names, with a number appended to those that are repeated or taken: "a", "a (2)"."""
    used, found = set(taken), []
    for name in names:
        number, free = 2, name
        while free in used:
            number, free = number + 1, f"{name} ({number})"
        used.add(free)
        found.append(free)
    return found


MAX_NAMED = 10
_MAX_LISTED = 5


def match_columns(schema: Schema, table: Table, owner: str) -> list[int]:
    """For each column of the schema, its position in the table.

    -1 for a column that was left out at fit and that the table does not have, and for parts of dates. Warns of columns
    that the schema does not know, and of names on one side only.
    """
    if table.names is not None:
        check_unique(table.names)
        if schema.named:
            return match_names(schema, table.names)
    if table.width != len(schema.given):
        raise ColumnError(
            f"X has {table.width} features, but {owner} is expecting {len(schema.given)} features as input"
        )
    if schema.named:
        notices.warn(
            f"X does not have valid feature names, but {owner} was fitted with feature names",
        )
    elif table.names is not None:
        notices.warn(f"X has feature names, but {owner} was fitted without feature names")
    return [*range(table.width), *[-1] * (len(schema) - table.width)]


def match_names(schema: Schema, names: tuple[Hashable, ...]) -> list[int]:
    """Positions by name; see ``match_columns``."""
    if names == schema.names and len(schema.given) == len(schema):
        return list(range(len(names)))
    where = {name: at for at, name in enumerate(names)}
    lost = [column.name for column in schema.needed if column.name not in where]
    extra = [name for name in names if name not in schema.positions]
    if lost:
        listed = "; ".join(f"{shown(name)}{did_you_mean(name, extra)}" for name in lost[:MAX_NAMED])
        raise ColumnError(f"{_differing(extra, lost)}missing {len(lost)} column(s): {listed}{and_more(lost)}")
    if extra:
        listed = ", ".join(shown(name) for name in extra[:MAX_NAMED])
        notices.warn(
            f"{len(extra)} column(s) were not there at fit and are ignored: {listed}{and_more(extra)}",
        )
    return [-1 if column.part else where.get(column.name, -1) for column in schema.columns]


def _differing(extra: Sequence[Hashable], lost: Sequence[Hashable]) -> str:
    """Which names differ, in scikit-learn's words, which other programs look for."""
    lines = ["The feature names should match those that were passed during fit."]
    for title, names in (
        ("Feature names unseen at fit time:", extra),
        ("Feature names seen at fit time, yet now missing:", lost),
    ):
        if names:
            listed = sorted(str(name) if repr(name) == f"'{name}'" == shown(name) else shown(name) for name in names)
            lines += [title, *(f"- {name}" for name in listed[:_MAX_LISTED])]
            if len(listed) > _MAX_LISTED:
                lines.append("- ...")
    return "\n".join(lines) + "\n"


def and_more(names: Sequence[Hashable]) -> str:
    """The end of a list in a message: how many names it leaves out."""
    return f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""


def folded_name(name: Hashable) -> str:
    """A name without case, surrounding space and Unicode form."""
    return unicodedata.normalize("NFKC", str(name)).casefold().strip()


def did_you_mean(name: Hashable, known: Iterable[Hashable]) -> str:
    """The closest known name as a question in brackets; empty if none is close.

    >>> did_you_mean("income", ["Income", "age"])
    " (did you mean 'Income'? it differs only in type, case, spaces or Unicode form)"
    """
    candidates = {str(other): other for other in known}
    for other in candidates.values():
        if folded_name(other) == folded_name(name):
            # ascii() shows what differs where the two look the same in print.
            seen = shown(other) if shown(other) != shown(name) and str(other).isascii() else ascii(other)
            return f" (did you mean {seen}? it differs only in type, case, spaces or Unicode form)"
    by_folded = {folded_name(other): other for other in candidates.values()}
    close = difflib.get_close_matches(folded_name(name), list(by_folded)[:1000], n=1, cutoff=0.6)
    return f" (did you mean {shown(by_folded[close[0]])}?)" if close else ""
