"""Lines of text whose pieces have a role, bars in them, and columns of text side by side.

A piece has a role, not a look: the writer of the line chooses colours, or none. Widths are terminal cells, so
East Asian names and emoji line up too.

Bars are block characters. One fills eighths of a cell, so a bar of 10 cells shows 80 steps. If two classes meet inside
a cell, the sign has the colour of the left one and the cell that of the right one. Without colours or blocks each class
has a sign of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Literal

import numpy as np

from treewright.trees.writing import cell_width, shorten

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


# plain: text. strong: to be seen first, such as a prediction. faint: lines and hints. class: the mark or bar of a
# class. number: the bar of a number. good, bad: right and wrong predictions.
Role = Literal["plain", "strong", "faint", "class", "number", "good", "bad"]

# A cell holds a sign and perhaps a few combining marks; more is cut.
MOST_SIGNS_PER_CELL = 4
ELLIPSIS = "\u2026"
# Stands for the blank before a percent sign, which stays with its number. No text has it: it is a control character.
NO_BREAK = "\x00"


@dataclass(frozen=True)
class Span:
    """A piece of a line, about the class ``place``; ``behind`` is the class whose colour the rest of the cell has.

    -1 is none.
    """

    text: str
    role: Role = "plain"
    place: int = -1
    behind: int = -1


Spans = list[Span]


def text_of(line: Iterable[Span]) -> str:
    """Return a line as plain text."""
    return "".join(span.text for span in line)


def width_of(line: Iterable[Span]) -> int:
    """Return the width of a line in cells."""
    return sum(cell_width(span.text) for span in line)


def fitted(text: str, width: int) -> str:
    r"""Return ``text`` in at most ``width`` cells, with an ellipsis if something was cut off.

    Unlike ``shorten`` it also cuts characters without width, such as a thousand accents on one letter.

    Examples
    --------
    >>> fitted("petal length", 6), len(fitted("e" + 1000 * "\u0301", 6))
    ('petal…', 25)
    """
    if len(text) > MOST_SIGNS_PER_CELL * width:
        text = text[: MOST_SIGNS_PER_CELL * width] + ELLIPSIS
    if cell_width(text) > width:
        text = shorten(text, width)
    return text if cell_width(text) <= width else ""


def cut(line: Sequence[Span], width: int) -> Spans:
    """Return a line in at most ``width`` cells, with an ellipsis if something was cut off.

    Examples
    --------
    >>> text_of(cut([Span("petal "), Span("length", "strong")], 9))
    'petal le…'
    """
    line = [span if len(span.text) <= MOST_SIGNS_PER_CELL * width else _tamed(span, width) for span in line]
    if width_of(line) <= width:
        return line
    kept: Spans = []
    left = width
    for span in line:
        room = cell_width(span.text)
        if room < left:  # a cell stays free for the ellipsis
            kept.append(span)
            left -= room
            continue
        kept.append(replace(span, text=shorten(span.text + 2 * ELLIPSIS, left)))
        break
    return kept


def _tamed(span: Span, width: int) -> Span:
    return replace(span, text=fitted(span.text, max(width, cell_width(span.text))))


def folded(text: str, width: int, indent: str = "  ") -> list[str]:
    """Prose as lines of at most ``width`` cells, broken at blanks; a word that is longer is cut.

    Examples
    --------
    >>> folded("the tree below is fitted on 258 rows", 20)
    ['the tree below is', '  fitted on 258 rows']
    """
    if cell_width(text) <= width:
        return [text]
    start = text[: len(text) - len(text.lstrip(" "))]
    lines: list[str] = []
    line = ""
    for word in text.replace(" %", NO_BREAK + "%").split(" "):
        if not word:
            continue
        before = start + (indent if lines else "")
        if not line:
            line = before + fitted(word, width - cell_width(before))
        elif cell_width(line) + 1 + cell_width(word) <= width:
            line += " " + word
        else:
            lines.append(line)
            before = start + indent
            line = before + fitted(word, width - cell_width(before))
    return [each.replace(NO_BREAK, " ") for each in (*lines, line)]


EIGHTHS = 8
# U+2588 is the whole block, U+258F an eighth at the left.
_WHOLE, _BEFORE_AN_EIGHTH = "\u2588", 0x2590
SIGNS = "#=+:ox%@"
MARK = "\u25a0"


def mark_of(place: int, *, signed: bool) -> str:
    """Return the sign that stands for a class in bars and legends."""
    return SIGNS[place % len(SIGNS)] if signed else MARK


def class_bar(values: np.ndarray, width: int, *, signed: bool = False) -> Spans:
    """A bar of ``width`` cells, divided in proportion to the weights of the classes; blank without any.

    If ``signed``, it has a sign of ASCII for each class instead of blocks.

    Examples
    --------
    >>> "".join(span.text for span in class_bar(np.array([3.0, 1.0]), 8, signed=True))
    '######=='
    """
    if not values.sum() > 0:
        return [Span(" " * width)]
    if signed:
        units = units_of(values, width).tolist()
        return [Span(mark_of(place, signed=True) * n, "class", place) for place, n in enumerate(units) if n > 0]
    parts = [(place, n) for place, n in enumerate(units_of(values, width * EIGHTHS).tolist()) if n > 0]
    spans: Spans = []
    for held in _cells(parts):
        left, right = held[0], held[-1]
        if len(held) > 1:
            # Of three or more classes in a cell the two largest are shown.
            left, right = sorted(sorted(held, key=lambda part: -part[1])[:2])
            eighths = min(max(round(EIGHTHS * left[1] / (left[1] + right[1])), 1), EIGHTHS - 1)
            spans.append(Span(chr(_BEFORE_AN_EIGHTH - eighths), "class", left[0], right[0]))
        elif spans and (spans[-1].place, spans[-1].behind) == (left[0], -1):
            spans[-1] = Span(spans[-1].text + _WHOLE, "class", left[0])
        else:
            spans.append(Span(_WHOLE, "class", left[0]))
    return spans


def _cells(parts: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Yield for each cell its classes with their eighths; ``parts`` are those of the whole bar."""
    cell: list[tuple[int, int]] = []
    room = EIGHTHS
    for place, n in parts:
        left = n
        while left:
            taken = min(left, room)
            cell.append((place, taken))
            left -= taken
            room -= taken
            if not room:
                yield cell
                cell, room = [], EIGHTHS


def number_bar(share: float, width: int, *, signed: bool = False) -> Spans:
    """Return a bar of ``share``, from 0 to 1, of ``width`` cells; it is never empty.

    Examples
    --------
    >>> number_bar(0.5, 4, signed=True)[0].text
    '=='
    """
    if signed:
        n = max(1, round(share * width))
        return [Span("=" * n, "number"), Span(" " * (width - n))]
    whole, rest = divmod(max(1, round(share * width * EIGHTHS)), EIGHTHS)
    text = _WHOLE * whole + (chr(_BEFORE_AN_EIGHTH - rest) if rest else "")
    return [Span(text, "number"), Span(" " * (width - len(text)))]


def units_of(values: np.ndarray, units: int) -> np.ndarray:
    """Divide ``units`` in proportion to the values, largest remainders first; values above 0 get one if there is room.

    Examples
    --------
    >>> units_of(np.array([1.0, 1.0, 1.0]), 8).tolist(), units_of(np.array([999.0, 1.0]), 8).tolist()
    ([3, 3, 2], [7, 1])
    """
    # Divided first: the sum of values near the end of float64 would overflow.
    exact = values / values.max()
    exact = exact / exact.sum() * units
    parts = np.floor(exact).astype(np.int64)
    order = np.argsort(parts - exact, kind="stable")
    parts[order[: units - int(parts.sum())]] += 1
    for place in np.flatnonzero((values > 0) & (parts == 0)).tolist():
        richest = int(np.argmax(parts))
        if parts[richest] <= 1:
            break
        parts[richest] -= 1
        parts[place] += 1
    return parts
