"""A tree drawn for a window. In: a model, a width. Out: lines of spans. Caller: the command line.

The lines are those of ``explain.text``: the same nodes in the same order, the same words and numbers. What is added are
bars and shares; what is left out, and how far branches are indented, depends on the width. No line is longer than that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from treewright.exceptions import ParameterError
from treewright.explain.bars import class_bar, mark_of, number_bar
from treewright.explain.spans import ELLIPSIS, Span, Spans, cut, fitted, folded, width_of
from treewright.explain.table import GAP, Label, TextColumn, aligned
from treewright.explain.text import (
    MAX_INDENT,
    MAX_NODES,
    MORE_SURROGATES,
    NAME_WIDTH,
    NO_ROWS,
    UNFOLD,
    Line,
    drawn_lines,
    footer_of,
    labels_of,
    note_text,
    number_columns,
    titles_of,
)
from treewright.model.data import ModelData
from treewright.model.summary import Output, TreeSummary, summarize
from treewright.tree.walk import unfolded
from treewright.tree.writing import cell_width, written_amount

LEAST_WIDTH = 20
MOST_LEGEND = 24
# Branch signs by how many cells a level is indented: middle, last, bar, blank, more.
BOXES = (
    ("\u251c\u2500 ", "\u2514\u2500 ", "\u2502  ", "   ", ELLIPSIS),
    ("\u251c ", "\u2514 ", "\u2502 ", "  ", ELLIPSIS),
    ("\u251c ", "\u2514 ", "\u2502", " ", ELLIPSIS),
)
ASCII_BOXES = (
    ("|- ", "`- ", "|  ", "   ", ELLIPSIS),
    ("|-", "`-", "| ", "  ", ELLIPSIS),
    ("| ", "` ", "|", " ", ELLIPSIS),
)
# In ASCII a text that was cut ends in one sign as well, or the line would grow.
ASCII_ELLIPSIS = "~"
# What the branches may take of a line, and what labels get before columns are left out.
INDENT_SHARE, NARROW_SHARE, LABEL_SHARE, MOST_LABEL_SHARE = 0.34, 0.2, 0.42, 0.6
NARROW = 60
LEAST_LABEL, LEAST_NAME = 20, 8
MOST_BAR = 24
# Where the room is short, the way of missing values is told in short.
OR_MISSING, OR_NA = " or missing", " or NA"
# The columns beside the labels, from the most to the least: the first that fit are drawn. A number is a bar's width.
LAYOUTS_OF_CLASSES: tuple[Mapping[str, int], ...] = (
    {"rows": 0, "share": 0, "bar": 20, "values": 0, "weight": 0, "impurity": 0},
    {"rows": 0, "share": 0, "bar": 12, "values": 0, "impurity": 0},
    {"rows": 0, "share": 0, "bar": 10, "values": 0},
    {"rows": 0, "share": 0, "bar": 16},
    {"rows": 0, "share": 0, "bar": 10},
    {"rows": 0, "bar": 10},
    {"rows": 0, "bar": 6},
    {"bar": 6},
    {},
)
LAYOUTS_OF_NUMBERS: tuple[Mapping[str, int], ...] = (
    {"rows": 0, "share": 0, "bar": 16, "values": 0, "weight": 0, "impurity": 0},
    {"rows": 0, "share": 0, "bar": 16, "values": 0, "weight": 0},
    {"rows": 0, "share": 0, "bar": 10, "values": 0},
    {"rows": 0, "bar": 8, "values": 0},
    {"rows": 0, "values": 0},
    {"values": 0},
    {},
)


@dataclass(frozen=True)
class Side:
    """A column beside the labels: its title, a cell for each node line, its width."""

    title: str
    cells: list[Spans]
    width: int


def drawing(
    model: ModelData,
    *,
    width: int,
    max_depth: int | None = None,
    max_nodes: int | None = MAX_NODES,
    digits: int = 3,
    ascii: bool = False,  # noqa: A002 - as in ``show``
    colors: bool = True,
    surrogates: bool = False,
    tree: int = 0,
    unfold: str = UNFOLD,
    more: str = MORE_SURROGATES,
) -> list[Spans]:
    """Return a tree as lines for a window, with bars.

    Parameters
    ----------
    model : ModelData
    width : int >= 20
        Cells of the window.
    max_depth, max_nodes, digits, surrogates, tree
        As for ``show``.
    ascii : bool
        Use no other signs than those of ASCII, but for names.
    colors : bool
        Whether the lines will be painted; where not, each class has a sign of its own in bars.
    unfold, more : str
        What shows hidden nodes and surrogate tests, for the notes below.

    Returns
    -------
    list of list of Span

    Raises
    ------
    ParameterError
        A parameter is out of range.
    """
    if width < LEAST_WIDTH:
        raise ParameterError(f"width is {width}; give {LEAST_WIDTH} or more")
    summary = summarize(model, tree)
    shown = unfolded(summary.tree, max_depth=max_depth, max_nodes=max_nodes)
    signs, most = _indentation(summary, shown, width, ASCII_BOXES if ascii else BOXES)
    lines = drawn_lines(summary, shown, signs, surrogates=surrogates, most=most)
    labels = labels_of(summary, lines)
    signed = ascii or not colors
    body = _body(summary, lines, labels, signs, width, digits, signed=signed)
    notes = footer_of(summary, lines, labels, unfold=unfold, more=more)
    if summary.counts_classes:
        notes = notes[1:]  # a leaf is marked by its class
    if any(span.text.endswith(OR_NA) for line in body for span in line):
        notes = [note.replace(f'"{OR_MISSING.strip()}"', f'"{OR_NA.strip()}"') for note in notes]
    drawn = [
        *([Span(text, "strong")] for text in _prose(titles_of(summary)[:1], width)),
        *([Span(text)] for text in _prose(titles_of(summary)[1:], width)),
        *_legend(summary, width, digits, signed=signed),
        [],
        *body,
        *([[]] if notes else []),
        *([Span(text, "faint")] for text in _prose(notes, width)),
    ]
    return [_in_ascii(line) for line in drawn] if ascii else drawn


def _prose(texts: Sequence[str], width: int) -> list[str]:
    return [line for text in texts for line in folded(text, width)]


def _in_ascii(line: Spans) -> Spans:
    return [Span(span.text.replace(ELLIPSIS, ASCII_ELLIPSIS), span.role, span.place, span.behind) for span in line]


def _indentation(
    summary: TreeSummary, shown: frozenset[int], width: int, boxes: Sequence[tuple[str, ...]]
) -> tuple[tuple[str, ...], int]:
    """The branch signs, and the depth from which on lines are indented no further.

    Deep trees get narrow signs before they lose the room for words.
    """
    depths = summary.tree.depth
    deepest = max((int(depths[node]) + 1 for node in shown), default=0)
    room = max(4, int(width * (INDENT_SHARE if width >= NARROW else NARROW_SHARE)))
    for signs in boxes:
        most = room // len(signs[2])
        if deepest <= most:
            return signs, most
    return boxes[-2], min(MAX_INDENT, room // len(boxes[-2][2]))


def _legend(summary: TreeSummary, width: int, digits: int, *, signed: bool) -> list[Spans]:
    """What bars mean: the classes with their marks and all rows, or the ends of the numbers."""
    output = summary.outputs[0]
    of_several = f" of {fitted(output.name, LEAST_LABEL)}" if len(summary.outputs) > 1 else ""
    if not output.classes:
        low, high = (written_amount(end, digits=digits) for end in _ends(summary, output))
        return [cut([Span(f"bars: {summary.centre}{of_several} from {low} to {high}")], width)]
    counts = summary.values(0, output)
    items: list[Spans] = [[Span(f"bars{of_several}:")]] if of_several else []
    for place, label in enumerate(output.classes[:MOST_LEGEND]):
        amount = written_amount(counts[place], digits=digits)
        name = fitted(label, min(NAME_WIDTH, max(LEAST_NAME, width - 6 - len(amount))))
        mark = Span(mark_of(place, signed=signed) + " ", "class", place)
        items.append([mark, Span(name), Span(f" {amount}", "faint")])
    if len(output.classes) > MOST_LEGEND:
        items.append([Span(f"and {len(output.classes) - MOST_LEGEND} more classes", "faint")])
    lines: list[Spans] = [[]]
    for item in items:
        if lines[-1] and width_of(lines[-1]) + 3 + width_of(item) > width:
            lines.append([])
        lines[-1] += [Span("   "), *item] if lines[-1] else item
    return [cut(line, width) for line in lines]


def _body(
    summary: TreeSummary,
    lines: list[Line],
    labels: list[Label],
    signs: tuple[str, ...],
    width: int,
    digits: int,
    *,
    signed: bool,
) -> list[Spans]:
    """The titles, and a line for each node and note."""
    real = [at for at, line in enumerate(lines) if not (line.hidden or line.note)]
    nodes = [lines[at].node for at in real]
    number = aligned(TextColumn("node", [str(node) for node in nodes], "right"))
    last = _predictions(summary, nodes, digits, width, signed=signed)
    natural = max(cell_width(labels[at].text(None)) for at in real)
    branches = max(cell_width(line.prefix) for line in lines)
    beside = width - cell_width(number[0]) - len(GAP) - last.width
    least = max(int(width * LABEL_SHARE), min(branches + LEAST_LABEL, int(width * MOST_LABEL_SHARE)))
    least = max(LEAST_NAME, min(natural, least, beside - len(GAP)))
    sides = [*_sides(summary, nodes, digits, beside - least, beside - natural, signed=signed), last]
    taken = cell_width(number[0]) + len(GAP) + _width_of(sides)
    room = max(least, min(natural, width - taken))
    if room < natural:
        labels = [
            Label(label.prefix, label.name, label.answer.removesuffix(OR_MISSING) + OR_NA)
            if label.answer.endswith(OR_MISSING)
            else label
            for label in labels
        ]
    titles = [Span(number[0] + GAP + " " * room, "faint")]
    titles += [Span(GAP + side.title, "faint") for side in sides]
    drawn = {
        at: [
            Span(number[k + 1] + GAP, "faint"),
            *_label(labels[at], room),
            *(span for side in sides for span in (Span(GAP), *side.cells[k])),
        ]
        for k, at in enumerate(real)
    }
    blank = " " * cell_width(number[0]) + GAP
    body = [drawn.get(at) or [Span(blank + note_text(line, signs), "faint")] for at, line in enumerate(lines)]
    return [cut(line, width) for line in (titles, *body)]


def _label(label: Label, room: int) -> Spans:
    """What leads to a node, filled up to ``room`` cells."""
    prefix, name, answer = label.parts(room)
    line = cut([Span(prefix, "faint"), Span(name), Span(answer)], room)
    return [*line, Span(" " * (room - width_of(line)))]


def _sides(
    summary: TreeSummary,
    nodes: list[int],
    digits: int,
    room: int,
    spare: int,
    *,
    signed: bool,
) -> list[Side]:
    """The columns between labels and predictions: as many as have room; bars grow into what labels leave over."""
    texts = number_columns(summary, nodes, digits)
    place_of_values = 2 if summary.weighted else 1
    held = {
        "rows": texts[:1],
        "weight": texts[1:place_of_values],
        "values": texts[place_of_values:-1],
        "impurity": texts[-1:],
        "share": [TextColumn("%", [_share(summary, node) for node in nodes], "right")],
    }
    written = {name: [_side(column) for column in columns] for name, columns in held.items()}

    def taken(layout: Mapping[str, int]) -> int:
        bars = sum(len(GAP) + size for name, size in layout.items() if name == "bar")
        return bars + sum(_width_of(written[name]) for name in layout if name != "bar")

    layouts = LAYOUTS_OF_CLASSES if summary.counts_classes else LAYOUTS_OF_NUMBERS
    chosen = next((layout for layout in layouts if taken(layout) + len(GAP) <= room), {})
    left = spare - taken(chosen) - len(GAP)
    found: list[Side] = []
    for name, size in chosen.items():
        if name == "bar":
            grown = min(max(MOST_BAR, size), size + max(left, 0))
            found.append(_bars(summary, nodes, grown, signed=signed))
        else:
            found += written[name]
    return found


def _width_of(sides: Sequence[Side]) -> int:
    """The cells that columns take, with the gaps before them."""
    return sum(side.width + len(GAP) for side in sides)


def _side(column: TextColumn) -> Side:
    title, *cells = aligned(column)
    is_share = column.title == "%"
    return Side(title, [[Span(cell, "faint" if is_share else "plain")] for cell in cells], cell_width(title))


def _share(summary: TreeSummary, node: int) -> str:
    """The part of all rows, by weight, that comes to a node."""
    whole = float(summary.tree.weight[0])
    return f"{100 * float(summary.tree.weight[node]) / whole:.1f}" if whole > 0 else ""


def _bars(summary: TreeSummary, nodes: list[int], width: int, *, signed: bool) -> Side:
    """A bar per node, of the first output."""
    output = summary.outputs[0]
    low, high = (0.0, 0.0) if output.classes else _ends(summary, output)
    cells = []
    for node in nodes:
        if summary.is_empty(node):
            cells.append([Span(" " * width)])
        elif output.classes:
            cells.append(class_bar(summary.values(node, output), width, signed=signed))
        else:
            # Halves: the distance of two numbers near the ends of float64 would overflow.
            apart = high / 2 - low / 2
            share = (summary.amount(node, output) / 2 - low / 2) / apart if apart > 0 else 0.5
            cells.append(number_bar(min(max(share, 0.0), 1.0), width, signed=signed))
    return Side(" " * width, cells, width)


def _ends(summary: TreeSummary, output: Output) -> tuple[float, float]:
    """The lowest and the highest number of the tree's nodes."""
    numbers = summary.tree.value[:, output.start]
    return float(np.min(numbers)), float(np.max(numbers))


def _predictions(summary: TreeSummary, nodes: list[int], digits: int, width: int, *, signed: bool) -> Side:
    """The last column: the mark of a class, or a star, and the prediction at each leaf."""
    room = min(NAME_WIDTH, max(LEAST_NAME, width // 4))
    cells: list[Spans] = []
    for node in nodes:
        cell: Spans = []
        if summary.tree.is_leaf[node]:
            for output in summary.outputs:
                before = [Span(", ")] if cell else []
                if output.classes:
                    code = summary.predicted_class(node, output)
                    mark = Span(mark_of(code, signed=signed) + " ", "class", code)
                    cell += [*before, mark, Span(fitted(output.classes[code], room), "strong")]
                else:
                    number = written_amount(summary.amount(node, output), digits=digits)
                    cell += [*before, *([] if before else [Span("* ", "number")]), Span(number, "strong")]
            if summary.is_empty(node):
                cell.insert(0, Span(NO_ROWS, "faint"))
        cells.append(cut(cell, max(room + 2, width // 3)))
    title = "  leaf adds" if summary.adds else "  predicts"
    return Side(title, cells, max(cell_width(title), *(width_of(cell) for cell in cells)))
