"""Columns of text side by side, as lines and as HTML. In: cells and their alignment. Out: lines.

Widths are counted in terminal cells, so East Asian names and emoji line up too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

from treewright.trees.writing import cell_width

GAP = "  "


@dataclass(frozen=True)
class TextColumn:
    """A column of cells.

    Attributes
    ----------
    title : str
    cells : list of str
    align : {"left", "right", "point"}
        ``"point"`` puts decimal points below each other.
    indent : int
        Number of terminal cells to move the title to the right, if each cell begins with a mark.
    """

    title: str
    cells: list[str]
    align: Literal["left", "right", "point"]
    indent: int = 0


def padded(text: str, width: int, align: str) -> str:
    """Return ``text`` filled with blanks to ``width`` cells."""
    blanks = " " * (width - cell_width(text))
    return blanks + text if align == "right" else text + blanks


def aligned(column: TextColumn) -> list[str]:
    """Return the title and the cells of a column, all of one width."""
    cells = column.cells
    if column.align == "point":
        # An exponent hangs behind the point like decimals do.
        tails = [len(cell) - len(re.split(r"[.e]", cell, maxsplit=1)[0]) for cell in cells]
        cells = [cell + " " * (max(tails) - tail) for cell, tail in zip(cells, tails, strict=True)]
    title = " " * column.indent + column.title
    width = max(cell_width(text) for text in (title, *cells))
    align = "left" if column.align == "left" else "right"
    return [padded(text, width, align) for text in (title, *cells)]


def html_table(caption: Sequence[str], titles: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> str:
    """Return a table of plain texts as HTML.

    Examples
    --------
    >>> print(html_table(["<a>"], ["x"], [["1"]]))
    <table><caption>&lt;a&gt;</caption>
    <thead><tr><th style="text-align: left">x</th></tr></thead>
    <tbody>
    <tr><td style="text-align: left">1</td></tr>
    </tbody></table>
    """
    head = "".join(f'<th style="text-align: left">{escape(title)}</th>' for title in titles)
    lines = [f"<table><caption>{'<br>'.join(map(escape, caption))}</caption>", f"<thead><tr>{head}</tr></thead>"]
    lines.append("<tbody>")
    lines += [
        "<tr>" + "".join(f'<td style="text-align: left">{escape(cell)}</td>' for cell in row) + "</tr>" for row in rows
    ]
    if note:
        lines.append(f'<tr><td colspan="{len(titles)}">{escape(note)}</td></tr>')
    return "\n".join([*lines, "</tbody></table>"])
