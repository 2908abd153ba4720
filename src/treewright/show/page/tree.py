"""A tree for a page: the description of ``export.structure`` in words; and the page of one tree, in a frame.

A notebook shows a fitted tree as that page: the same drawing as in a report, in a frame, so that its styles and scripts
do not mix with those of the notebook.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from treewright.data.schema import Schema
from treewright.exchange.structure import Node, Split, StandIn, nodes_of
from treewright.show.page.levels import with_named_levels
from treewright.show.page.parts import ByHandPart, ColumnWords, NodePart, Summary, SurrogatePart, TestPart, TreePart
from treewright.show.page.plain import amount
from treewright.show.page.render import render
from treewright.show.prediction import predictions_of_nodes
from treewright.trees.arrays import subtree_sizes, unfolded
from treewright.trees.data import ModelData
from treewright.trees.summary import TreeSummary, summarize
from treewright.trees.tests import bounds_below
from treewright.trees.wording import clock_of, conditions, threshold_digits
from treewright.trees.writing import escape_controls, shorten, written_level, written_name
from treewright.version import __version__

MAX_NODES = 4001
# A notebook holds the page of every cell: of a large tree only the nodes with the most rows.
MAX_NODES_ALONE = 401
# Rules are written for every node of a tree up to this many conditions in all; with more, the page shows paths instead.
MAX_CONDITIONS = 60_000
NAME_WIDTH, EDGE_LEVELS, RULE_LEVELS = 200, 6, 12
# Pixels: above and below the drawing, one row of cards, and the least and largest height of a frame.
REST, ROW, LEAST, MOST = 170, 152, 380, 760
# Largest number of levels that a drawing opens with.
LEVELS = 5
# The kinds of tests in the scripts, by those of ``export.structure.Split``.
KINDS = {"threshold": "cuts", "intervals": "cuts", "present": "present", "subset": "levels", "multiway": "levels"}


def tree_part(
    model: ModelData, tree: int = 0, *, title: str = "", max_nodes: int = MAX_NODES, has_rules: bool = True
) -> TreePart:
    """One of a model's trees as a part of a page: its ``max_nodes`` nodes with the most rows.

    ``has_rules``: with the conditions on the path to each node.
    """
    summary = summarize(model, tree)
    grown = summary.tree
    shown = unfolded(grown, max_nodes=max_nodes)
    rules = rules_of(summary, shown) if has_rules else None
    sizes, digits = subtree_sizes(grown).tolist(), threshold_digits(grown).tolist()
    parts = []
    splits: dict[int, Split] = {}  # parents come before their children
    # The threshold is that of the model: of one of many trees, a class has no reason of its own.
    told = predictions_of_nodes(model) if summary.counts_classes and model.is_single_tree else None
    for node in nodes_of(summary, shown):
        split, edge = node.split, ""
        if split is not None:
            splits[node.number] = split
        if node.parent >= 0:
            above = splits[node.parent].words
            edge = shorten(above.edge(node.branch, digits=digits[node.parent], max_levels=EDGE_LEVELS), NAME_WIDTH)
        parts.append(
            NodePart(
                id=node.number,
                parent=None if node.parent < 0 else node.parent,
                branch=node.branch,
                depth=node.depth,
                edge=edge,
                question="" if split is None else shorten(split.words.question(digits=digits[node.number]), NAME_WIDTH),
                said=predicted_words(summary, node),
                code=int(node.predicted[0]) if summary.counts_classes else None,
                n_rows=node.n_samples,
                weight=node.weight,
                impurity=node.impurity,
                gain=None if split is None else gain_of(summary, node),
                values=tuple(tuple(summary.shown_values(node.number, output).tolist()) for output in summary.outputs),
                rule=None if rules is None else rules[node.number],
                test=None if split is None else test_part(split),
                hidden=0 if split is not None else sizes[node.number] - 1,
                by_hand=_by_hand(summary, node.number),
                why="" if told is None or node.number in summary.marks else told.why(node.number),
            )
        )
    first, decides = grown.value[:, summary.outputs[0].start].copy(), summary.model.threshold
    for number in summary.marks:
        first[number] = summary.shown_values(number, summary.outputs[0])[0]
    return TreePart(
        title=title,
        headline=summary.headline(),
        outputs=tuple(output.classes for output in summary.outputs),
        output_names=tuple(output.name for output in summary.outputs),
        criterion=summary.criterion,
        centre=summary.centre,
        weighted=summary.weighted,
        missing=summary.model.missing,
        low=None if summary.counts_classes else float(first.min()),
        high=None if summary.counts_classes else float(first.max()),
        edges=None,
        n_nodes=grown.n_nodes,
        n_leaves=grown.n_leaves,
        depth=grown.max_depth,
        nodes=tuple(parts),
        missing_words=missing_words_of(summary),
        threshold=None if decides is None else (decides.positive, decides.at),
    )


def _by_hand(summary: TreeSummary, node: int) -> ByHandPart | None:
    """What was set at a node in the workbench."""
    mark = summary.marks.get(node)
    return None if mark is None else ByHandPart(mark.name, mark.locked, mark.rows_say is not None)


def missing_words_of(summary: TreeSummary) -> str:
    """The treatment of missing values, as a sentence."""
    note = summary.missing_note
    if note:
        return f"{note[0].upper()}{note[1:]}."
    if any(column.missing_seen for column in summary.model.schema.columns):
        return "The texts on the edges show the branch that missing values follow."
    return "The training rows have no missing values."


def rules_of(summary: TreeSummary, shown: frozenset[int]) -> dict[int, tuple[str, ...]] | None:
    """The conditions on the path to each visible node; None if they are too many to write."""
    model, rules, n_written = summary.model, {}, 0
    for node, bounds in bounds_below(model.schema, summary.tree, shown):
        n_written += len(bounds)
        if n_written > MAX_CONDITIONS:
            return None
        texts = conditions(model.schema, bounds, exact=False, max_levels=RULE_LEVELS, missing=model.missing)
        rules[node] = tuple(shorten(text, NAME_WIDTH) for text in texts)
    return rules


def predicted_words(summary: TreeSummary, node: Node) -> str:
    """What a node predicts, or would predict as a leaf."""
    texts = [
        output.classes[int(code)] if output.classes else amount(summary.amount(node.number, output))
        for output, code in zip(summary.outputs, node.predicted, strict=True)
    ]
    return shorten((", " if summary.counts_classes else "; ").join(texts), NAME_WIDTH)


def gain_of(summary: TreeSummary, node: Node) -> float:
    """The impurity of a node minus the weighted mean of its branches'; at least 0."""
    tree, below = summary.tree, np.array(node.children)
    held = tree.weight[below]
    total = float(held.sum())
    if not total > 0:
        return 0.0
    # Shares first: weights near the end of float64 times an impurity would overflow.
    return max(0.0, float(node.impurity - (held / total * tree.impurity[below]).sum()))


def test_part(split: Split) -> TestPart:
    """The test of a node, for the scripts that send rows down."""
    return TestPart(
        kind=KINDS[split.kind],
        column=split.column,
        cuts=split.cuts,
        branch_of=tuple(split.branch_of.tolist()),
        missing=split.missing,
        unseen=split.unseen,
        surrogates=tuple(map(surrogate_part, split.surrogates)),
    )


def surrogate_part(stand_in: StandIn) -> SurrogatePart:
    """A surrogate test, for the scripts."""
    return SurrogatePart(
        text=shorten(stand_in.words.edge(0), NAME_WIDTH),
        kind=KINDS[stand_in.kind],
        column=stand_in.column,
        cuts=stand_in.cuts,
        branch_of=tuple(stand_in.branch_of.tolist()),
        flipped=stand_in.words.flipped,
    )


def columns_in_words(schema: Schema) -> tuple[ColumnWords, ...]:
    """Every column with its levels."""
    return tuple(
        ColumnWords(
            shorten(written_name(column.name), NAME_WIDTH),
            column.kind,
            tuple(map(written_level, column.levels)),
            left_out=column.left_out,
            dates=clock_of(column)[0],
            zone=column.zone,
            part=column.part,
            sources=column.sources,
            numbers=column.numbers,
        )
        for column in schema.columns
    )


def tree_page(model: ModelData, tree: int = 0, *, title: str | None = None) -> str:
    """A page that shows one tree: it zooms, folds, searches, describes each node, and loads nothing."""
    return render(tree_summary(model, tree, title=title), template="tree")


def tree_frame(model: ModelData, tree: int = 0, *, title: str | None = None) -> str:
    """`tree_page` in a frame that cannot reach the page around it; as tall as the tree needs, within bounds."""
    summary = tree_summary(model, tree, title=title)
    height = LEAST if summary.tree is None else height_of(summary.tree)
    return framed(render(summary, template="tree"), summary.title, height)


def framed(page: str, title: str, height: int) -> str:
    """A page in a frame whose scripts run but cannot reach outside."""
    return (
        f'<iframe sandbox="allow-scripts" style="width:100%;height:{height}px;border:0" '
        f"title='{in_quotes(title)}' srcdoc='{in_quotes(page)}'></iframe>"
    )


def in_quotes(text: str) -> str:
    """A text escaped for an attribute in single quotes, where the double quotes of JSON need no escape.

    Examples
    --------
    >>> print(in_quotes('<a title="x"> & y' + "'s"))
    &lt;a title="x"&gt; &amp; y&#39;s
    """
    for sign, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("'", "&#39;")):
        text = text.replace(sign, name)
    return text


def height_of(part: TreePart) -> int:
    """The height of a frame around the tree, in pixels."""
    levels = min(LEVELS, max(node.depth for node in part.nodes)) + 1
    return min(MOST, max(LEAST, REST + ROW * levels))


def tree_summary(model: ModelData, tree: int = 0, *, title: str | None = None) -> Summary:
    """The summary of the page of one tree."""
    summary = summarize(model, tree)
    target = ", ".join(output.name for output in summary.outputs if output.name)
    heading = escape_controls(title) if title is not None else target or f"{model.task.capitalize()} tree"
    part = without_paths(tree_part(model, tree, max_nodes=MAX_NODES_ALONE))
    page = Summary(
        title=shorten(heading, 200),
        subtitle=part.headline,
        task=model.task,
        target=target,
        facts=(),
        notes=(),
        columns=columns_in_words(model.schema),
        text=part.headline,
        tree=part,
        version=__version__,
    )
    return with_named_levels(page)


def without_paths(part: TreePart) -> TreePart:
    """The tree without the branch of every level: this page sends no rows down, and levels may be thousands."""
    nodes = tuple(
        node
        if node.test is None
        else replace(
            node,
            test=replace(
                node.test,
                branch_of=(),
                surrogates=tuple(replace(one, branch_of=()) for one in node.test.surrogates),
            ),
        )
        for node in part.nodes
    )
    return replace(part, nodes=nodes)
