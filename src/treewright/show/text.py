"""A tree as text. In: a model. Out: lines of pieces with roles, or one string.

There is one drawing with two layouts. `show` lays out a page: every column of numbers, at any width, the same
everywhere. `draw_tree` lays out a window: it adds bars and shares, and the width decides what is left out and how far
branches are indented. Nodes, their order, words, numbers and notes are the same.

A line holds what is needed to check the split by hand: the condition of the node, its rows, its class counts or mean,
and its impurity. Node numbers are positions in the tree, as ``audit`` and ``path_to`` take them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from treewright.exceptions import ParameterError
from treewright.show.spans import (
    ELLIPSIS,
    GAP,
    Role,
    Span,
    Spans,
    TextColumn,
    aligned,
    class_bar,
    cut,
    fitted,
    folded,
    mark_of,
    number_bar,
    width_of,
)
from treewright.trees.arrays import children, subtree_sizes, unfolded
from treewright.trees.data import ModelData
from treewright.trees.facts import node_test
from treewright.trees.summary import ADDS_NOTE, Output, TreeSummary, counted, n_named, summarize
from treewright.trees.threshold import decision_text
from treewright.trees.wording import NodeTest, surrogates_of, threshold_digits
from treewright.trees.writing import cell_width, shorten, written_amount, written_count

MAX_NODES = 200
# With up to this many classes all counts are listed; with more only the largest are named.
MAX_COUNTS, LARGEST_NAMED = 8, 3
# Levels of indentation; a node below is drawn at the last one with its depth written out.
MAX_INDENT = 24
NAME_WIDTH = 60
MAX_SURROGATES = 2
NO_ROWS = "(no rows) -> "
DECIDED = " (decided)"
UNFOLD = "give a larger max_depth or max_nodes (None shows all)"
MORE_SURROGATES = "surrogates=True lists the surrogate tests"
# The branch that missing values follow, and its abbreviation if room is short.
OR_MISSING, OR_NA = " or missing", " or NA"

# Branch signs by how many cells a level is indented: middle, last, bar, blank, more. A page has the first of them.
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
# In ASCII a text that was cut for a window ends in one sign as well, or the line would grow.
ASCII_ELLIPSIS = "~"

# On a page: the least width of labels and of the names of classes and targets.
LEAST_ON_PAGE = 16
# In a label: the least width of the column's name and of the outcome. A cut number would be another number.
LEAST_NAME_OF_LABEL, LEAST_ANSWER = 6, 24
LEAST_NAMES = 8  # of an outcome that lists levels and counts the others: "in {aud\u2026"
# Levels that an outcome names: fewer if there is no room for more, as the number of the others differs by branch.
MOST_LEVELS = (4, 2, 1)
OTHERS = ", ... "
# Palette positions of 256-colour terminals that are nearest to the colours of the pictures.
TERMINAL_COLORS = (32, 208, 36, 175, 214, 74, 166, 245)

# In a window: the share of a line for the branches, and the room of labels before columns are left out.
LEAST_WIDTH = 20
INDENT_SHARE, NARROW_SHARE, LABEL_SHARE, MOST_LABEL_SHARE = 0.34, 0.2, 0.42, 0.6
NARROW = 60
LEAST_LABEL, LEAST_NAME = 20, 8
MOST_BAR, MOST_LEGEND = 24, 24
# The columns next to the labels, from the most to the fewest: the first that fit are drawn. A number is a bar's width.
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


def show(
    model: ModelData,
    *,
    max_depth: int | None = None,
    max_nodes: int | None = MAX_NODES,
    digits: int = 3,
    width: int | None = None,
    color: bool = False,
    ascii: bool = False,  # noqa: A002 - the word a user looks for
    surrogates: bool = False,
    tree: int = 0,
) -> str:
    """Return a tree as text, one line per node.

    Parameters
    ----------
    model : ModelData
    max_depth : int >= 0, optional
        Hide deeper nodes. The root has depth 0.
    max_nodes : int >= 1, optional
        Show at most this many nodes, those with the most rows first; None shows all.
    digits : int, 1 to 17
        Decimals of an impurity of classes; significant digits of means and weights. Thresholds have at least 6
        significant digits, or more if two cuts of one column would look the same.
    width : int >= 40, optional
        Shorten names so that lines fit into this many cells if possible.
    color : bool
        Colour predictions with terminal colours.
    ascii : bool
        Draw with ``|-`` instead of box characters.
    surrogates : bool
        Under each node that has surrogate tests, list the best two: the condition of its first branch if the node's own
        column is missing, and how often it agrees with the node's own test.
    tree : int
        Which of the model's trees.

    Returns
    -------
    str
        Without a line break at the end.

    Raises
    ------
    ParameterError
        A parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright.data.schema import Column, Schema
    >>> from treewright.trees.arrays import Tree
    >>> from treewright.trees.data import ModelData
    >>> ints = lambda *v: np.array(v, np.int32)
    >>> tree = Tree(np.array([1, 0, 0], np.uint8), ints(0, -1, -1), np.array([2.5, 0, 0]), ints(1, -1, -1),
    ...             ints(2, 0, 0), ints(0, 0, 0), ints(-1, -1, -1), np.array([4, 1, 3]), np.array([4.0, 1, 3]),
    ...             np.array([0.375, 0, 0]), np.array([[1.0, 3], [1, 0], [0, 3]]), np.zeros(0, np.uint64),
    ...             np.zeros(0, np.uint64))
    >>> schema = Schema((Column("age", "numeric"),))
    >>> model = ModelData("classification", schema, (tree,), (np.array(["no", "yes"]),), facts={"criterion": "gini"})
    >>> print(show(model, ascii=True))
    Classification tree: 4 rows, 3 nodes, 2 leaves, depth 1
    counts: no / yes
    <BLANKLINE>
    node                 rows  counts   gini    predicts
       0  all rows          4     1/3  0.375
       1  |- age <= 2.5     1     1/0  0      * no
       2  `- age > 2.5      3     0/3  0      * yes
    <BLANKLINE>
    * leaf
    """
    if not 1 <= digits <= 17:
        raise ParameterError(f"digits is {digits}; give 1 to 17")
    if width is not None and width < 40:
        raise ParameterError(f"width is {width}; give 40 or more, or None for no limit")
    summary = summarize(model, tree)
    shown = unfolded(summary.tree, max_depth=max_depth, max_nodes=max_nodes)
    signs = (ASCII_BOXES if ascii else BOXES)[0]
    rows = drawn_rows(summary, shown, signs, surrogates=surrogates)
    label_width = NAME_WIDTH if width is None else max(LEAST_ON_PAGE, min(NAME_WIDTH, width // 4))
    sides = [
        *(side_of(column) for column in number_columns(summary, rows.nodes, digits)),
        predictions(summary, rows.nodes, digits, lambda name: shorten(name, label_width)),
    ]
    room = None if width is None else max(LEAST_ON_PAGE, width - rows.taken(sides))
    labels = [label.pieces(room) for label in rows.labels_of_nodes]
    body = laid_out(rows, labels, sides)
    texts = ["".join(painted(span) if color else span.text for span in line).rstrip() for line in body]
    text = "\n".join([*header_of(summary), "", *texts, "", *footer_of(summary, rows)])
    return text.replace(ELLIPSIS, "...") if ascii else text


def draw_tree(
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
    """A tree as lines for a window, with bars; no line is longer than the window's ``width`` of 20 cells or more.

    ``max_depth``, ``max_nodes``, ``digits``, ``surrogates`` and ``tree`` are those of `show`. With ``ascii``, only
    names have other signs. If the lines will not be coloured (``colors``), each class has a sign of its own in bars.
    ``unfold`` and ``more`` say how to show hidden nodes and surrogate tests.
    """
    if width < LEAST_WIDTH:
        raise ParameterError(f"width is {width}; give {LEAST_WIDTH} or more")
    summary = summarize(model, tree)
    shown = unfolded(summary.tree, max_depth=max_depth, max_nodes=max_nodes)
    signs, most = _indentation(summary, shown, width, ASCII_BOXES if ascii else BOXES)
    rows = drawn_rows(summary, shown, signs, surrogates=surrogates, most=most)
    signed = ascii or not colors
    body = _window(summary, rows, width, digits, signed=signed)
    notes = footer_of(summary, rows, unfold=unfold, more=more)
    if summary.counts_classes:
        notes = notes[1:]  # a leaf is marked by its class
    if any(span.text.endswith(OR_NA) for line in body for span in line):
        notes = [note.replace(f'"{OR_MISSING.strip()}"', f'"{OR_NA.strip()}"') for note in notes]
    title, *others = titles_of(summary)
    drawn = [
        *([Span(text, "strong")] for text in folded(title, width)),
        *([Span(text)] for other in others for text in folded(other, width)),
        *_legend(summary, width, digits, signed=signed),
        [],
        *body,
        *([[]] if notes else []),
        *([Span(text, "faint")] for note in notes for text in folded(note, width)),
    ]
    if not ascii:
        return drawn
    return [[replace(span, text=span.text.replace(ELLIPSIS, ASCII_ELLIPSIS)) for span in line] for line in drawn]


# What both layouts draw


@dataclass(frozen=True)
class Line:
    """One line of the drawing: a node, the number hidden below one (``hidden > 0``), or a note about one."""

    node: int
    depth: int
    prefix: str
    hidden: int = 0
    note: str = ""


@dataclass(frozen=True)
class Label:
    """The label of a line: the branch signs, the column's name (cut first), the outcome of the test (cut last).

    The outcome has several forms, from the longest to the shortest.
    """

    prefix: str
    name: str
    answers: tuple[str, ...] = ("",)

    @property
    def answer(self) -> str:
        """Its longest form."""
        return self.answers[0]

    def pieces(self, room: int | None) -> Spans:
        """Prefix, name and outcome in at most ``room`` cells together; the prefix is never cut."""
        if room is None:
            room = 1 << 30
        blank = " " if self.answer else ""
        room -= cell_width(self.prefix)
        whole = (answer for answer in self.answers if cell_width(self.name + blank + answer) <= room)
        answer = next(whole, self.answers[-1])
        name = shorten(self.name, max(LEAST_NAME_OF_LABEL, room - cell_width(blank + answer)))
        answer = _cut_prediction(answer, room - cell_width(name + blank))
        return [Span(self.prefix, "faint"), Span(name), Span(blank + answer)]

    def in_short(self) -> Label:
        """The label with "or missing" abbreviated."""
        if not self.answer.endswith(OR_MISSING):
            return self
        return replace(self, answers=tuple(answer.removesuffix(OR_MISSING) + OR_NA for answer in self.answers))


def _cut_prediction(answer: str, room: int) -> str:
    """An outcome in ``room`` cells, or in its least width; a list keeps the number of the levels not named."""
    names, others, number = answer.rpartition(OTHERS)
    if cell_width(answer) <= room or not others:
        return shorten(answer, max(LEAST_ANSWER, room))
    return shorten(names, max(LEAST_NAMES, room - cell_width(others + number))) + others + number


@dataclass(frozen=True)
class Rows:
    """The lines of a drawing, top to bottom; ``labels`` has that of each line's node."""

    lines: list[Line]
    labels: list[Label]
    signs: tuple[str, ...]

    @cached_property
    def places(self) -> list[int]:
        """Positions of the lines that are nodes."""
        return [at for at, line in enumerate(self.lines) if not (line.hidden or line.note)]

    @cached_property
    def nodes(self) -> list[int]:
        """The nodes of these lines."""
        return [self.lines[at].node for at in self.places]

    @property
    def labels_of_nodes(self) -> list[Label]:
        """The labels of these lines."""
        return [self.labels[at] for at in self.places]

    @cached_property
    def numbers(self) -> list[str]:
        """The first column, with its title: the positions of the nodes."""
        return aligned(TextColumn("node", [str(node) for node in self.nodes], "right"))

    def taken(self, sides: Sequence[Side]) -> int:
        """The cells of a line without its label."""
        return cell_width(self.numbers[0]) + len(GAP) + sum(side.room for side in sides)


@dataclass(frozen=True)
class Side:
    """A column next to the labels: its title, a cell for each node, its width."""

    title: str
    cells: list[Spans]
    width: int

    @property
    def room(self) -> int:
        """Its width, including the gap before it."""
        return self.width + len(GAP)


def drawn_rows(
    summary: TreeSummary,
    shown: frozenset[int],
    signs: tuple[str, ...],
    *,
    surrogates: bool = False,
    most: int = MAX_INDENT,
) -> Rows:
    """Return the lines of the drawing with their labels; from depth ``most`` on they are indented no further."""
    tree = summary.tree
    middle, last, bar, blank, _ = signs
    sizes = subtree_sizes(tree)
    lines: list[Line] = []
    # (node, depth, signs before its own branch sign, whether it is the last of its siblings)
    stack = [(0, 0, "", True)]
    while stack:
        node, depth, before, is_last = stack.pop()
        capped = depth > most
        own = "" if depth == 0 else (last if is_last else middle) + (f"[{depth}] " if capped else "")
        lines.append(Line(node, depth, before + own))
        below = children(tree, node)
        after = before if depth == 0 or capped or depth == most else before + (blank if is_last else bar)
        if node in shown:
            if surrogates:
                lines.extend(Line(node, depth + 1, after + bar, note=note) for note in surrogate_notes(summary, node))
            stack.extend((child, depth + 1, after, child == below[-1]) for child in reversed(below))
        elif below:
            lines.append(Line(node, depth + 1, after + last, hidden=int(sizes[node]) - 1))
    return Rows(lines, labels_of(summary, lines), signs)


def surrogate_notes(summary: TreeSummary, node: int) -> list[str]:
    """Return the best surrogates of a node as texts, such as ``petal width <= 0.8 (agrees on 98 %)``."""
    found = surrogates_of(summary.model.schema, summary.tree, node)
    notes = [
        # Rounded down: 100 % means that it always agrees.
        f"{shorten(surrogate.edge(0), NAME_WIDTH)} (agrees on {math.floor(surrogate.agreement * 1000 + 1e-9) / 10:g} %)"
        for surrogate in found[:MAX_SURROGATES]
    ]
    if len(found) > MAX_SURROGATES:
        notes.append(counted(len(found) - MAX_SURROGATES, "more surrogate"))
    return notes


def labels_of(summary: TreeSummary, lines: Sequence[Line]) -> list[Label]:
    """Return per line the condition of its node, such as ``petal length (cm) <= 2.45``."""
    tree = summary.tree
    digits = threshold_digits(tree)
    parents = tree.parent
    asked: dict[int, tuple[str, list[tuple[str, ...]]]] = {}
    labels = []
    for line in lines:
        if line.node == 0:
            labels.append(Label(line.prefix, "all rows"))
            continue
        above = int(parents[line.node])
        if above not in asked:
            test = node_test(summary.model, tree, above)
            answers = [answers_of(test, branch, int(digits[above])) for branch in range(test.n_branches)]
            asked[above] = shorten(test.column, NAME_WIDTH), answers
        name, answers = asked[above]
        labels.append(Label(line.prefix, name, answers[line.node - int(tree.first_child[above])]))
    return labels


def answers_of(test: NodeTest, branch: int, digits: int) -> tuple[str, ...]:
    """Return the condition of a branch, from the form that names the most levels to that with the fewest."""
    forms = [test.edge(branch, digits=digits, max_levels=most) for most in MOST_LEVELS]
    fit = [form for form in dict.fromkeys(forms) if cell_width(form) <= NAME_WIDTH]
    return tuple(fit) or (_cut_prediction(forms[-1], NAME_WIDTH),)


def number_columns(summary: TreeSummary, nodes: list[int], digits: int) -> list[TextColumn]:
    """Return the columns of numbers: rows, weight, counts or value per output, impurity."""
    tree = summary.tree
    columns = [TextColumn("rows", [written_count(int(tree.n_samples[node])) for node in nodes], "right")]
    if summary.weighted:
        weights = [written_amount(tree.weight[node], digits=digits) for node in nodes]
        columns.append(TextColumn("weight", weights, "point"))
    several = len(summary.outputs) > 1
    for output in summary.outputs:
        if output.classes:
            word = "weights" if summary.weighted else "counts"
            title = f"{word} of {shorten(output.name, LEAST_ON_PAGE)}" if several else word
            cells = ["" if summary.is_empty(node) else counts_text(summary, node, output, digits) for node in nodes]
            columns.append(TextColumn(title, cells, "right" if len(output.classes) <= MAX_COUNTS else "left"))
        else:
            title = f"{summary.centre} of {shorten(output.name, LEAST_ON_PAGE)}" if several else summary.centre
            cells = [
                "" if summary.is_empty(node) else written_amount(_amount_of_rows(summary, node, output), digits=digits)
                for node in nodes
            ]
            columns.append(TextColumn(title, cells, "point"))
    columns.append(TextColumn(summary.criterion, [impurity_text(summary, node, digits) for node in nodes], "point"))
    return columns


def _amount_of_rows(summary: TreeSummary, node: int, output: Output) -> float:
    """The number of a node; for a decided leaf that of its rows."""
    decided = summary.is_decided(node)
    return float(summary.shown_values(node, output)[0]) if decided else summary.amount(node, output)


def impurity_text(summary: TreeSummary, node: int, digits: int) -> str:
    """Return a node's impurity; an exact 0 as ``0``, so that a pure node differs from an almost pure one."""
    if summary.is_empty(node):
        return ""
    impurity = float(summary.tree.impurity[node])
    if summary.counts_classes and impurity != 0:
        return f"{impurity:.{digits}f}"
    return written_amount(impurity, digits=digits)


def counts_text(summary: TreeSummary, node: int, output: Output, digits: int) -> str:
    """Return class counts: ``50/0/3``, or the largest with their labels if there are many classes."""
    counts = summary.shown_values(node, output)
    if len(counts) <= MAX_COUNTS:
        return "/".join(written_amount(count, digits=digits) for count in counts)
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] > 0]
    texts = [
        f"{shorten(output.classes[code], LEAST_ON_PAGE)} {written_amount(counts[code], digits=digits)}"
        for code in order[:LARGEST_NAMED]
    ]
    if len(order) > LARGEST_NAMED:
        texts.append(f"+{counted(len(order) - LARGEST_NAMED, 'class', 'classes')}")
    return ", ".join(texts)


def predictions(
    summary: TreeSummary,
    nodes: Sequence[int],
    digits: int,
    short: Callable[[str], str],
    *,
    signed: bool | None = None,
    most: int | None = None,
) -> Side:
    """The last column: a star and the prediction at each leaf, of at most so many cells.

    ``short`` cuts the name of a class; if ``signed``, the mark of the class is in place of the star.
    """
    cells: list[Spans] = []
    for node in nodes:
        cell: Spans = []
        for output in summary.outputs if summary.tree.is_leaf[node] else ():
            if cell:
                cell.append(Span(", "))
            if output.classes:
                code = summary.predicted_class(node, output)
                if signed is not None:
                    cell.append(Span(mark_of(code, signed=signed) + " ", "class", code))
                cell.append(Span(short(output.classes[code]), "strong", code))
            else:
                cell.append(Span(written_amount(summary.amount(node, output), digits=digits), "strong", 0))
        if cell and summary.is_decided(node):
            cell.append(Span(DECIDED, "faint"))
        star = [] if not cell or (signed is not None and summary.counts_classes) else [Span("* ", "number")]
        empty = [Span(NO_ROWS, "faint")] if cell and summary.is_empty(node) else []
        cell = [*star, *empty, *cell] if signed is None else [*empty, *star, *cell]
        cells.append(cell if most is None else cut(cell, most))
    title = "  leaf adds" if summary.adds else "  predicts"
    return Side(title, cells, max(cell_width(title), *map(width_of, cells)))


def laid_out(rows: Rows, labels: Sequence[Spans], sides: Sequence[Side], room: int = 0) -> list[Spans]:
    """Return the titles, and a line for each node and note; ``labels`` get ``room`` cells, or more if they need it."""
    number, *numbers = rows.numbers
    widths = list(map(width_of, labels))
    room = max(room, *widths)
    titles = [Span(number + GAP + " " * room, "faint"), *(Span(GAP + side.title, "faint") for side in sides)]
    blank = " " * cell_width(number) + GAP
    drawn: list[Spans] = [[Span(blank + note_text(line, rows.signs), "faint")] for line in rows.lines]
    for at, place in enumerate(rows.places):
        drawn[place] = [
            Span(numbers[at] + GAP, "faint"),
            *labels[at],
            Span(" " * (room - widths[at])),
            *(span for side in sides for span in (Span(GAP), *side.cells[at])),
        ]
    return [titles, *drawn]


def note_text(line: Line, signs: tuple[str, ...]) -> str:
    """Return the text of a line that is not a node."""
    if line.note:
        return f"{line.prefix}~ {line.note}"
    return f"{line.prefix}{signs[4]} {counted(line.hidden, 'more node')} below node {line.node}"


def titles_of(summary: TreeSummary) -> list[str]:
    """Return the lines about the tree: its size, its origin, its treatment of missing values."""
    decides = decision_text(summary.model)
    notes = (summary.origin, decides, summary.missing_note, ADDS_NOTE if summary.adds else "")
    return [summary.headline(prunings=False), *filter(None, notes)]


def header_of(summary: TreeSummary) -> list[str]:
    """Return the lines above the drawing: about the tree, and the order of the classes in the counts."""
    lines = titles_of(summary)
    if not summary.counts_classes:
        return lines
    word = "weights" if summary.weighted else "counts"
    for output in summary.outputs:
        title = f"{word} of {shorten(output.name, NAME_WIDTH)}" if len(summary.outputs) > 1 else word
        if len(output.classes) > MAX_COUNTS:
            lines.append(f"{title}: the largest of {len(output.classes)} classes")
        else:
            lines.append(f"{title}: {' / '.join(shorten(label, NAME_WIDTH) for label in output.classes)}")
    return lines


def footer_of(summary: TreeSummary, rows: Rows, *, unfold: str = UNFOLD, more: str = MORE_SURROGATES) -> list[str]:
    """Return the lines below: the sign of a leaf, how to show hidden nodes (``unfold``) and surrogates (``more``)."""
    hidden = sum(line.hidden for line in rows.lines)
    notes = ["* leaf"]
    if hidden:
        notes.append(f"{counted(hidden, 'node')} hidden: {unfold}")
    seen = any(column.missing_seen for column in summary.model.schema.columns)
    if seen and any(label.answer.endswith(OR_MISSING) for label in rows.labels):
        notes.append('"or missing" marks the branch that missing values follow')
    if any(summary.is_empty(line.node) for line in rows.lines):
        notes.append("(no rows): no training row reached this leaf; it predicts like its parent")
    if any(summary.is_decided(line.node) for line in rows.lines):
        notes.append("(decided): the prediction was set by hand; the numbers are those of the leaf's rows")
    if any(line.note for line in rows.lines):
        notes.append("~ a surrogate: the condition of the first branch if the column is missing")
    elif len(summary.tree.surrogate_node):
        notes.append(more)
    return notes


# On a page


def side_of(column: TextColumn) -> Side:
    """Return a column of numbers as a column next to the labels."""
    title, *cells = aligned(column)
    role: Role = "faint" if column.title == "%" else "plain"
    return Side(title, [[Span(cell, role)] for cell in cells], cell_width(title))


def painted(span: Span) -> str:
    """Return a piece with terminal colour codes: predictions are bold, in the colour of their class."""
    if span.role != "strong":
        return span.text
    return f"\x1b[1;38;5;{TERMINAL_COLORS[span.place % len(TERMINAL_COLORS)]}m{span.text}\x1b[0m"


# In a window


def _indentation(
    summary: TreeSummary, shown: frozenset[int], width: int, boxes: Sequence[tuple[str, ...]]
) -> tuple[tuple[str, ...], int]:
    """The branch signs, and the depth from which on lines are indented no further.

    Deep trees get narrow signs first, to keep room for the labels.
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
    """The legend of the bars: the classes with their marks and numbers of rows, or the range of the numbers."""
    output = summary.outputs[0]
    of_several = f" of {fitted(output.name, LEAST_LABEL)}" if len(summary.outputs) > 1 else ""
    if not output.classes:
        low, high = (written_amount(end, digits=digits) for end in _ends(summary, output))
        return [cut([Span(f"bars: {summary.centre}{of_several} from {low} to {high}")], width)]
    counts = summary.values(0, output)
    items: list[Spans] = [[Span(f"bars{of_several}:")]] if of_several else []
    n_shown = n_named(len(output.classes), MOST_LEGEND)
    for place, label in enumerate(output.classes[:n_shown]):
        amount = written_amount(counts[place], digits=digits)
        name = fitted(label, min(NAME_WIDTH, max(LEAST_NAME, width - 6 - len(amount))))
        mark = Span(mark_of(place, signed=signed) + " ", "class", place)
        items.append([mark, Span(name), Span(f" {amount}", "faint")])
    if len(output.classes) > n_shown:
        items.append([Span(f"and {len(output.classes) - n_shown} more classes", "faint")])
    lines: list[Spans] = [[]]
    for item in items:
        if lines[-1] and width_of(lines[-1]) + 3 + width_of(item) > width:
            lines.append([])
        lines[-1] += [Span("   "), *item] if lines[-1] else item
    return [cut(line, width) for line in lines]


def _window(summary: TreeSummary, rows: Rows, width: int, digits: int, *, signed: bool) -> list[Spans]:
    """The titles, and a line for each node and note: as many columns as fit, then labels with the remaining room."""
    name_room = min(NAME_WIDTH, max(LEAST_NAME, width // 4))
    last = predictions(
        summary,
        rows.nodes,
        digits,
        lambda name: fitted(name, name_room),
        signed=signed,
        most=max(name_room + 2, width // 3),
    )
    natural = max(width_of(label.pieces(None)) for label in rows.labels_of_nodes)
    branches = max(cell_width(line.prefix) for line in rows.lines)
    beside = width - cell_width(rows.numbers[0]) - len(GAP) - last.width
    least = max(int(width * LABEL_SHARE), min(branches + LEAST_LABEL, int(width * MOST_LABEL_SHARE)))
    least = max(LEAST_NAME, min(natural, least, beside - len(GAP)))
    sides = [*_sides(summary, rows.nodes, digits, beside - least, beside - natural, signed=signed), last]
    room = max(least, min(natural, width - rows.taken(sides)))
    labels = rows.labels_of_nodes if room >= natural else [label.in_short() for label in rows.labels_of_nodes]
    body = laid_out(rows, [cut(label.pieces(room), room) for label in labels], sides, room)
    return [cut(line, width) for line in body]


def _sides(
    summary: TreeSummary,
    nodes: list[int],
    digits: int,
    room: int,
    spare: int,
    *,
    signed: bool,
) -> list[Side]:
    """The columns between labels and predictions: as many as fit; bars grow into the remaining room."""
    texts = number_columns(summary, nodes, digits)
    place_of_values = 2 if summary.weighted else 1
    held = {
        "rows": texts[:1],
        "weight": texts[1:place_of_values],
        "values": texts[place_of_values:-1],
        "impurity": texts[-1:],
        "share": [TextColumn("%", [_share(summary, node) for node in nodes], "right")],
    }
    written = {name: [side_of(column) for column in columns] for name, columns in held.items()}

    def taken(layout: Mapping[str, int]) -> int:
        bars = sum(len(GAP) + size for name, size in layout.items() if name == "bar")
        return bars + sum(sum(side.room for side in written[name]) for name in layout if name != "bar")

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


def _share(summary: TreeSummary, node: int) -> str:
    """The share of all rows, by weight, in a node, in percent."""
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
            cells.append(class_bar(summary.shown_values(node, output), width, signed=signed))
        else:
            # Halves: the distance of two numbers near the ends of float64 would overflow.
            apart = high / 2 - low / 2
            share = (_amount_of_rows(summary, node, output) / 2 - low / 2) / apart if apart > 0 else 0.5
            cells.append(number_bar(min(max(share, 0.0), 1.0), width, signed=signed))
    return Side(" " * width, cells, width)


def _ends(summary: TreeSummary, output: Output) -> tuple[float, float]:
    """The lowest and the highest number of the tree's nodes."""
    numbers = summary.tree.value[:, output.start].copy()
    for node in summary.marks:
        numbers[node] = summary.shown_values(node, output)[0]
    return float(np.min(numbers)), float(np.max(numbers))
