"""A tree as Graphviz DOT.

Graphviz is not needed to write the text, and names cannot break out of their quotes.
"""

from __future__ import annotations

from treewright.exceptions import ParameterError
from treewright.exchange.structure import Node, nodes_of
from treewright.trees.data import ModelData
from treewright.trees.summary import TreeSummary, summarize
from treewright.trees.wording import SubsetTest, ThresholdTest, threshold_digits
from treewright.trees.writing import shorten, written_amount, written_count

MAX_COUNTS = 8
LABEL_WIDTH = 60


def quoted(*lines: str) -> str:
    r"""Return lines as one quoted DOT string, a ``\n`` between them.

    Examples
    --------
    >>> print(quoted('say "a"', "b"))
    "say \"a\"\nb"
    """
    # A backslash is doubled first: in a label DOT would read \N, \G or \l as an instruction.
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'


def node_lines(summary: TreeSummary, node: Node, digits: int) -> list[str]:
    """The lines of a node's label."""
    lines, split = [], node.split
    if split is None:
        for output, code in zip(summary.outputs, node.predicted, strict=True):
            before = f"{shorten(output.name, LABEL_WIDTH)}: " if len(summary.outputs) > 1 else ""
            if output.classes:
                label = output.classes[int(code)]
            else:
                label = written_amount(summary.amount(node.number, output), digits=6)
            lines.append(before + shorten(label, LABEL_WIDTH))
    else:
        # A yes-or-no test is written on the node; the branches of other tests are written on the edges.
        asks = isinstance(split.words, ThresholdTest | SubsetTest)
        answer = f" {shorten(split.words.answer(0, digits=digits), LABEL_WIDTH)}" if asks else ""
        lines.append(shorten(split.words.column, LABEL_WIDTH) + answer)
    if summary.is_empty(node.number):
        return [*lines, "no rows"]
    lines.append(f"rows {written_count(node.n_samples)}")
    if summary.weighted:
        lines.append(f"weight {written_amount(node.weight, digits=6)}")
    for output, values in zip(summary.outputs, node.values, strict=True):
        if output.classes and len(output.classes) <= MAX_COUNTS:
            lines.append(" / ".join(written_amount(count, digits=6) for count in values))
        elif not output.classes and split is not None:
            lines.append(f"{summary.centre} {written_amount(summary.amount(node.number, output), digits=6)}")
    lines.append(f"{summary.criterion} {written_amount(node.impurity, digits=4)}")
    return lines


def to_dot(model: ModelData, *, tree: int | None = None) -> str:
    """One tree of a model as DOT text; a model of one tree needs no ``tree``.

    Labels are short, tooltips hold exact tests and branches. Raises ``ParameterError``: the model has no such tree, or
    has several and none is chosen.
    """
    if tree is None and len(model.trees) > 1:
        raise ParameterError(f"the model has {len(model.trees)} trees, a drawing shows one: give tree=0, for the first")
    summary = summarize(model, tree or 0)
    digits = threshold_digits(summary.tree).tolist()
    out = [
        "digraph tree {",
        f"  label={quoted(summary.headline())};",
        '  labelloc="t";',
        '  node [shape=box, fontname="Helvetica", fontsize=11, color="#68737d"];',
        '  edge [fontname="Helvetica", fontsize=10, color="#68737d"];',
    ]
    for node in nodes_of(summary):
        name, width = f"n{node.number}", digits[node.number]
        label = quoted(*node_lines(summary, node, width))
        if node.split is None:
            empty = summary.is_empty(node.number)
            look = 'style="rounded,dashed"' if empty else 'style="rounded,filled", fillcolor="#eef3f8"'
            out.append(f"  {name} [label={label}, tooltip={quoted(f'leaf {node.number}')}, {look}];")
            continue
        words = node.split.words
        stand_ins = (f"if missing: {each.words.edge(0, exact=True)}" for each in node.split.surrogates)
        tooltip = quoted(f"node {node.number}: {words.question(exact=True)}", *stand_ins)
        out.append(f"  {name} [label={label}, tooltip={tooltip}];")
        for branch, child in enumerate(node.children):
            short = quoted(shorten(words.edge(branch, digits=width), LABEL_WIDTH))
            exact = quoted(f"{words.column} {words.edge(branch, exact=True)}")
            out.append(f"  {name} -> n{child} [label={short}, tooltip={exact}, labeltooltip={exact}];")
    return "\n".join([*out, "}", ""])
