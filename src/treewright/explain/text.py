"""A tree as text. In: a model. Out: one string, a line per node. Callers: ``Model.show``, ``explain.drawing``.

A line holds what is needed to check the split by hand: the answer that leads to the node, its rows, its class counts or
mean, and its impurity. Node numbers are positions in the tree, the ones that ``audit`` and ``path_to`` take.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from treewright.exceptions import ParameterError
from treewright.explain.table import Label, TextColumn, laid_out, painted
from treewright.model.data import ModelData
from treewright.model.growth import node_test
from treewright.model.summary import ADDS_NOTE, Output, TreeSummary, counted, summarize
from treewright.tree.walk import children, subtree_sizes, unfolded
from treewright.tree.wording import surrogates_of, threshold_digits
from treewright.tree.writing import shorten, written_amount, written_count

MAX_NODES = 200
# With this many classes a list of counts is still read at a glance; beyond it only the largest are named.
MAX_COUNTS = 8
LARGEST_NAMED = 3
# Levels of indentation; a node below is drawn at the last one with its depth written out.
MAX_INDENT = 24
NAME_WIDTH = 60
LEAST_LABEL = 16
MAX_SURROGATES = 2
NO_ROWS = "(no rows) -> "
UNFOLD = "give a larger max_depth or max_nodes (None shows all)"
MORE_SURROGATES = "surrogates=True lists the surrogate tests"
BOX = ("\u251c\u2500 ", "\u2514\u2500 ", "\u2502  ", "   ", "\u2026")
ASCII = ("|- ", "`- ", "|  ", "   ", "...")


@dataclass(frozen=True)
class Line:
    """One line of the drawing: a node, what is hidden below one (``hidden > 0``), or a note about one."""

    node: int
    depth: int
    prefix: str
    hidden: int = 0
    note: str = ""


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
        Hide what is deeper. The root has depth 0.
    max_nodes : int >= 1, optional
        Show at most this many nodes, those with the most rows first; None shows all.
    digits : int, 1 to 17
        Decimals of an impurity of classes; significant digits of means and weights. Thresholds have at least 6
        significant digits, and more where two cuts of one column would look the same.
    width : int >= 40, optional
        Shorten names so that lines fit into this many cells where possible.
    color : bool
        Paint predictions with terminal colours.
    ascii : bool
        Draw with ``|-`` instead of box characters.
    surrogates : bool
        Under each node that has surrogate tests, list the best two: what leads to its first branch where the node's own
        column is missing, and how often that agrees with the node's own test.
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
    >>> from treewright.tree.arrays import Tree
    >>> from treewright.model.data import ModelData
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
    signs = ASCII if ascii else BOX
    lines = drawn_lines(summary, shown, signs, surrogates=surrogates)
    labels = labels_of(summary, lines)
    columns = number_columns(summary, [line.node for line in lines], digits)
    predictions = predictions_of(summary, lines, digits, width=width, color=color)
    body = laid_out(
        TextColumn("node", [str(line.node) for line in lines], "right"),
        labels,
        columns,
        predictions,
        folded={i: note_text(line, signs) for i, line in enumerate(lines) if line.hidden or line.note},
        width=width,
    )
    text = "\n".join([*header_of(summary), "", *body, "", *footer_of(summary, lines, labels)])
    return text.translate({0x2026: "..."}) if ascii else text


def titles_of(summary: TreeSummary) -> list[str]:
    """Return what tree it is: its size, where it comes from, how missing values go."""
    notes = (summary.origin, summary.missing_note, ADDS_NOTE if summary.adds else "")
    return [summary.headline(prunings=False), *filter(None, notes)]


def header_of(summary: TreeSummary) -> list[str]:
    """Return the lines above the drawing: what tree it is, and the order of the classes in the counts."""
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


def footer_of(
    summary: TreeSummary, lines: list[Line], labels: list[Label], *, unfold: str = UNFOLD, more: str = MORE_SURROGATES
) -> list[str]:
    """Return the lines below the drawing: the sign of a leaf, and how to see what is hidden.

    Parameters
    ----------
    summary : TreeSummary
    lines : list of Line
    labels : list of Label
    unfold : str
        What shows hidden nodes.
    more : str
        What lists surrogate tests.
    """
    hidden = sum(line.hidden for line in lines)
    notes = ["* leaf"]
    if hidden:
        notes.append(f"{counted(hidden, 'node')} hidden: {unfold}")
    seen = any(column.missing_seen for column in summary.model.schema.columns)
    # A column whose missing values have branches of their own need not say it anywhere.
    said = summary.model.missing == "direction" or any(label.answer.endswith(" or missing") for label in labels)
    if seen and said and summary.model.missing in ("direction", "branch"):
        notes.append('"or missing" marks the way of missing values where a column had some')
    if any(summary.is_empty(line.node) for line in lines):
        notes.append("(no rows): no training row came there; it predicts what its parent would")
    if any(line.note for line in lines):
        notes.append("~ a surrogate: what leads to the first branch where the column is missing")
    elif len(summary.tree.surrogate_node):
        notes.append(more)
    return notes


def drawn_lines(
    summary: TreeSummary,
    shown: frozenset[int],
    signs: tuple[str, ...],
    *,
    surrogates: bool = False,
    most: int = MAX_INDENT,
) -> list[Line]:
    """Return the lines of the drawing, top to bottom; from depth ``most`` on they are indented no further."""
    tree = summary.tree
    middle, last, bar, blank, _ = signs
    sizes = subtree_sizes(tree)
    lines: list[Line] = []
    # (node, depth, what stands before its own branch sign, whether it is the last of its siblings)
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
    return lines


def note_text(line: Line, signs: tuple[str, ...]) -> str:
    """Return the text of a line that is no node."""
    if line.note:
        return f"{line.prefix}~ {line.note}"
    return f"{line.prefix}{signs[4]} {counted(line.hidden, 'more node')} below node {line.node}"


def surrogate_notes(summary: TreeSummary, node: int) -> list[str]:
    """Return the best surrogates of a node as texts, such as ``petal width <= 0.8 (agrees on 98 %)``."""
    found = surrogates_of(summary.model.schema, summary.tree, node)
    notes = [
        # Rounded down: 100 % is said of those that are always right.
        f"{shorten(surrogate.edge(0), NAME_WIDTH)} (agrees on {math.floor(surrogate.agreement * 1000 + 1e-9) / 10:g} %)"
        for surrogate in found[:MAX_SURROGATES]
    ]
    if len(found) > MAX_SURROGATES:
        notes.append(counted(len(found) - MAX_SURROGATES, "more surrogate"))
    return notes


def labels_of(summary: TreeSummary, lines: list[Line]) -> list[Label]:
    """Return per line the answer that leads to its node, such as ``petal length (cm) <= 2.45``."""
    tree = summary.tree
    digits = threshold_digits(tree)
    parents = tree.parent
    asked: dict[int, tuple[str, list[str]]] = {}
    labels = []
    for line in lines:
        if line.node == 0:
            labels.append(Label(line.prefix, "all rows", ""))
            continue
        above = int(parents[line.node])
        if above not in asked:
            test = node_test(summary.model, tree, above)
            edges = [test.edge(branch, digits=int(digits[above])) for branch in range(test.n_branches)]
            asked[above] = shorten(test.column, NAME_WIDTH), [shorten(edge, NAME_WIDTH) for edge in edges]
        name, answers = asked[above]
        labels.append(Label(line.prefix, name, answers[line.node - int(tree.first_child[above])]))
    return labels


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
            title = f"{word} of {shorten(output.name, LEAST_LABEL)}" if several else word
            cells = ["" if summary.is_empty(node) else counts_text(summary, node, output, digits) for node in nodes]
            columns.append(TextColumn(title, cells, "right" if len(output.classes) <= MAX_COUNTS else "left"))
        else:
            title = f"{summary.centre} of {shorten(output.name, LEAST_LABEL)}" if several else summary.centre
            cells = [
                "" if summary.is_empty(node) else written_amount(summary.amount(node, output), digits=digits)
                for node in nodes
            ]
            columns.append(TextColumn(title, cells, "point"))
    columns.append(TextColumn(summary.criterion, [impurity_text(summary, node, digits) for node in nodes], "point"))
    return columns


def impurity_text(summary: TreeSummary, node: int, digits: int) -> str:
    """Return a node's impurity; an exact 0 as ``0``, so that a pure node is told from an almost pure one."""
    if summary.is_empty(node):
        return ""
    impurity = float(summary.tree.impurity[node])
    if summary.counts_classes and impurity != 0:
        return f"{impurity:.{digits}f}"
    return written_amount(impurity, digits=digits)


def counts_text(summary: TreeSummary, node: int, output: Output, digits: int) -> str:
    """Return class counts: ``50/0/3``, or the largest with their labels where there are many classes."""
    counts = summary.values(node, output)
    if len(counts) <= MAX_COUNTS:
        return "/".join(written_amount(count, digits=digits) for count in counts)
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] > 0]
    texts = [
        f"{shorten(output.classes[code], LEAST_LABEL)} {written_amount(counts[code], digits=digits)}"
        for code in order[:LARGEST_NAMED]
    ]
    if len(order) > LARGEST_NAMED:
        texts.append(f"+{counted(len(order) - LARGEST_NAMED, 'class', 'classes')}")
    return ", ".join(texts)


def predictions_of(
    summary: TreeSummary, lines: list[Line], digits: int, *, width: int | None, color: bool
) -> TextColumn:
    """Return the last column: a star and the prediction at each leaf."""
    label_width = NAME_WIDTH if width is None else max(LEAST_LABEL, min(NAME_WIDTH, width // 4))
    cells = []
    for line in lines:
        if not summary.tree.is_leaf[line.node]:
            cells.append("")
            continue
        labels = []
        for output in summary.outputs:
            if output.classes:
                code = summary.predicted_class(line.node, output)
                label = shorten(output.classes[code], label_width)
            else:
                code, label = 0, written_amount(summary.amount(line.node, output), digits=digits)
            labels.append(painted(label, code) if color else label)
        cells.append(f"* {NO_ROWS if summary.is_empty(line.node) else ''}{', '.join(labels)}")
    return TextColumn("leaf adds" if summary.adds else "predicts", cells, "left", indent=2)
