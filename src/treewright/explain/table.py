"""Columns of text side by side. In: cells and how they line up. Out: lines. Caller: ``explain.text``.

Widths are counted in terminal cells, so East Asian names and emoji line up too; colour codes count as nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from treewright.tree.writing import cell_width, shorten

GAP = "  "
LEAST_LABEL = 16
LEAST_NAME = 6
LEAST_ANSWER = 24
# Palette positions of the 256-colour terminals that come nearest to the colours of the pictures.
TERMINAL_COLORS = (32, 208, 36, 175, 214, 74, 166, 245)
COLOR_CODE = re.compile("\x1b\\[[0-9;]*m")


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
        Cells to move the title to the right, where each cell begins with a mark.
    """

    title: str
    cells: list[str]
    align: Literal["left", "right", "point"]
    indent: int = 0


def seen_width(text: str) -> int:
    """Return the terminal cells that ``text`` takes, colour codes left out."""
    return cell_width(COLOR_CODE.sub("", text) if "\x1b" in text else text)


def painted(text: str, position: int) -> str:
    """Return ``text`` in bold and in the colour of a class; the colours repeat."""
    return f"\x1b[1;38;5;{TERMINAL_COLORS[position % len(TERMINAL_COLORS)]}m{text}\x1b[0m"


def padded(text: str, width: int, align: str) -> str:
    """Return ``text`` filled with blanks to ``width`` cells."""
    blanks = " " * (width - seen_width(text))
    return blanks + text if align == "right" else text + blanks


def aligned(column: TextColumn) -> list[str]:
    """Return the title and the cells of a column, all of one width."""
    cells = column.cells
    if column.align == "point":
        # An exponent hangs behind the point like decimals do.
        tails = [len(cell) - len(re.split(r"[.e]", cell, maxsplit=1)[0]) for cell in cells]
        cells = [cell + " " * (max(tails) - tail) for cell, tail in zip(cells, tails, strict=True)]
    title = " " * column.indent + column.title
    width = max(seen_width(text) for text in (title, *cells))
    align = "left" if column.align == "left" else "right"
    return [padded(text, width, align) for text in (title, *cells)]


@dataclass(frozen=True)
class Label:
    """What a line says about its node: the drawing before it, the column's name (cut first), the answer (cut last)."""

    prefix: str
    name: str
    answer: str

    def text(self, room: int | None) -> str:
        """Return the label in at most ``room`` cells; the prefix is never cut."""
        return "".join(self.parts(room))

    def parts(self, room: int | None) -> tuple[str, str, str]:
        """Return prefix, name and answer in at most ``room`` cells together; a blank leads the answer."""
        if room is None:
            room = 1 << 30
        blank = " " if self.answer else ""
        left = max(LEAST_NAME, room - cell_width(self.prefix) - cell_width(blank + self.answer))
        name = shorten(self.name, left)
        # A cut number would be another number: short answers stay whole.
        left = max(LEAST_ANSWER, room - cell_width(self.prefix) - cell_width(name + blank))
        return self.prefix, name, blank + shorten(self.answer, left)


def laid_out(
    number: TextColumn,
    labels: Sequence[Label],
    columns: Sequence[TextColumn],
    last: TextColumn,
    *,
    folded: Mapping[int, str],
    width: int | None,
) -> list[str]:
    """Return the lines of the drawing, the line of titles first.

    Parameters
    ----------
    number, labels, columns, last : TextColumn, sequence of Label
        Left to right. Labels give way where the line would be longer than ``width``.
    folded : mapping of int to str
        Line position to the text that stands there instead of cells.
    width : int, optional
    """
    real = [i for i in range(len(number.cells)) if i not in folded]

    def kept(column: TextColumn) -> TextColumn:
        return TextColumn(column.title, [column.cells[i] for i in real], column.align, column.indent)

    sides = [aligned(kept(column)) for column in (number, *columns, last)]
    room = None
    if width is not None:
        taken = sum(seen_width(cells[0]) for cells in sides) + len(GAP) * len(sides)
        room = max(LEAST_LABEL, width - taken)
    middle = aligned(TextColumn("", [labels[i].text(room) for i in real], "left"))
    rows = [GAP.join((sides[0][k], middle[k], *(cells[k] for cells in sides[1:]))).rstrip() for k in range(len(middle))]
    lines = [rows[0]]
    after = iter(rows[1:])
    blank = " " * seen_width(sides[0][0]) + GAP
    lines += [blank + folded[i] if i in folded else next(after) for i in range(len(number.cells))]
    return lines
