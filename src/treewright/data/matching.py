"""Match the columns of a table to the columns of the schema.

Columns match by name if both sides have names, and by order, with a warning, if only one side has.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Hashable, Iterable, Sequence

from treewright.core import notices
from treewright.data.cells import shown
from treewright.data.schema import Schema
from treewright.data.table import Table, check_unique
from treewright.exceptions import ColumnError

MAX_NAMED = 10
_MAX_LISTED = 5


def match_columns(schema: Schema, table: Table, owner: str) -> list[int]:
    """For each column of the schema, its position in the table.

    Warns
    -----
    DataWarning
        Columns that the schema does not know; names on one side only.

    Returns
    -------
    list of int
        -1 for a column that was left out at fit and that the table does not have, and for parts of dates.
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


def folded(name: Hashable) -> str:
    """A name without case, surrounding space and Unicode form."""
    return unicodedata.normalize("NFKC", str(name)).casefold().strip()


def did_you_mean(name: Hashable, known: Iterable[Hashable]) -> str:
    """The closest known name as a question in brackets; empty if none is close.

    >>> did_you_mean("income", ["Income", "age"])
    " (did you mean 'Income'? it differs only in type, case, spaces or Unicode form)"
    """
    candidates = {str(other): other for other in known}
    for other in candidates.values():
        if folded(other) == folded(name):
            # ascii() shows what differs where the two look the same in print.
            seen = shown(other) if shown(other) != shown(name) and str(other).isascii() else ascii(other)
            return f" (did you mean {seen}? it differs only in type, case, spaces or Unicode form)"
    by_folded = {folded(other): other for other in candidates.values()}
    close = difflib.get_close_matches(folded(name), list(by_folded)[:1000], n=1, cutoff=0.6)
    return f" (did you mean {shown(by_folded[close[0]])}?)" if close else ""
