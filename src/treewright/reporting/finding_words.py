"""How findings name things. In: columns, texts. Out: texts. Callers: reporting.findings, reporting.findings_rows."""

from __future__ import annotations

from collections.abc import Sequence

from treewright.data.schema import Column
from treewright.tree.writing import shorten, written_name

MOST_NAMED, NAME_WIDTH = 6, 40


def name_of(column: Column) -> str:
    """Return the name of a column, ready to be read."""
    return shorten(written_name(column.name), NAME_WIDTH)


def listed(texts: Sequence[str]) -> str:
    """Return some texts as a list, cut where it would be long.

    Examples
    --------
    >>> listed(["a", "b"]), listed(list("abcdefgh"))
    ('a, b', 'a, b, c, d, e, f and 2 more')
    """
    more = f" and {len(texts) - MOST_NAMED} more" if len(texts) > MOST_NAMED else ""
    return ", ".join(texts[:MOST_NAMED]) + more
