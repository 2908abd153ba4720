"""What stands above a tree: its name, its size, the legend. In: a summary. Out: ``Head``. Caller: ``plot.svg``."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np

from treewright.model.summary import Output, TreeSummary, counted
from treewright.plot.measure import fitted, text_width
from treewright.plot.style import class_color
from treewright.tree.writing import written_amount

MARGIN = 24.0
HEAD_SIZE, SMALL = 16.0, 12.0
LEGEND_CLASSES, LEGEND_NAME = 12, 160.0
DOT = " \u00b7 "
MISSING_WORDS = {
    "branch": "a branch of their own",
    "surrogate": "by surrogate tests",
    "fractional": "divided among the branches",
}


@dataclass
class Head:
    """What stands above the tree.

    Attributes
    ----------
    parts : list of str
    right, bottom : float
        How far its texts reach.
    """

    parts: list[str]
    right: float = 0.0
    bottom: float = 0.0

    def line(self, kind: str, y: float, size: float, text: str, room: float, x: float = MARGIN) -> float:
        """Write a line, cut where it is too long. Returns where it ends."""
        text = fitted(text, size, room, bold="strong" in kind)
        self.parts.append(f'<text class="{kind}" x="{x:g}" y="{y:g}" font-size="{size:g}">{escape(text)}</text>')
        end = x + text_width(text, size, bold="strong" in kind)
        self.right, self.bottom = max(self.right, end), max(self.bottom, y + 0.3 * size)
        return end


def default_title(summary: TreeSummary) -> str:
    """Return the name of the target, or the task where it has none."""
    names = ", ".join(output.name for output in summary.outputs if output.name)
    return names or f"{summary.model.task.capitalize()} tree"


def head_of(summary: TreeSummary, heading: str, inner: float) -> Head:
    """Return the heading, the line of sizes and the legend."""
    y = MARGIN + HEAD_SIZE
    head = Head([])
    head.line("ink strong", y, HEAD_SIZE, heading, inner)
    tree = summary.tree
    rows = counted(int(tree.n_samples[0]), "row")
    facts = DOT.join((rows, counted(tree.n_nodes, "node"), counted(tree.n_leaves, "leaf", "leaves")))
    if summary.n_trees > 1:
        facts += f"{DOT}tree {summary.position + 1} of {summary.n_trees}"
    if not summary.counts_classes:
        values = tree.value[:, summary.outputs[0].start]
        first = summary.outputs[0].name
        what = f"{summary.centre} of {first}" if len(summary.outputs) > 1 else summary.centre
        low, high = written_amount(values.min()), written_amount(values.max())
        facts += f"{DOT}each dot: {what} between {low} and {high}" if low != high else ""
    y += 20
    head.line("muted", y, SMALL, facts, inner)
    if summary.prunings:
        y += 18
        head.line("muted", y, SMALL, summary.prunings, inner)
    if summary.missing_note and summary.model.missing in MISSING_WORDS:
        y += 18
        head.line("muted", y, SMALL, f"missing values: {MISSING_WORDS[summary.model.missing]}", inner)
    for output in summary.outputs:
        if output.classes:
            y = add_legend(head, summary, output, y + 24, inner)
    return head


def add_legend(head: Head, summary: TreeSummary, output: Output, y: float, inner: float) -> float:
    """Write the legend of one output, the largest classes first where there are too many. Returns its last line's y."""
    classes, counts = output.classes, summary.values(0, output)
    codes = list(range(len(classes)))
    if len(codes) > LEGEND_CLASSES:
        codes = sorted(np.argsort(-counts, kind="stable")[: LEGEND_CLASSES - 1].tolist())
    x = MARGIN
    if len(summary.outputs) > 1 and output.name:
        x = head.line("muted", y, SMALL, output.name, LEGEND_NAME) + 12
    for code in codes:
        room = 16 + text_width(fitted(classes[code], SMALL, LEGEND_NAME), SMALL)
        if x + room > MARGIN + inner and x > MARGIN:
            x, y = MARGIN, y + 19
        head.parts.append(f'<rect x="{x:g}" y="{y - 9:g}" width="10" height="10" rx="2" fill="{class_color(code)}"/>')
        head.line("ink", y, SMALL, classes[code], LEGEND_NAME, x + 15)
        x = round(x + room + 16, 1)
    if len(codes) < len(classes):
        more = counted(len(classes) - len(codes), "more class", "more classes")
        head.line("muted", y, SMALL, f"+{more}", inner, x)
    return y
