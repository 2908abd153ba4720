"""Lines of text whose pieces have a role. In: pieces. Out: lines that fit.

A piece has a role, not a look: the writer of the line chooses colours, or none. Widths are terminal cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from treewright.trees.writing import cell_width, shorten

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
    """A piece of a line.

    Attributes
    ----------
    text : str
    role : str
    place : int
        Which class it is about; -1 for none.
    behind : int
        The class whose colour the rest of the cell has; -1 for none.
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
    """Return prose as lines of at most ``width`` cells, broken at blanks; a word that is longer is cut.

    Parameters
    ----------
    text : str
        One line.
    width : int
    indent : str
        Before every line but the first.

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
