"""One tree as a page shows it. In: a model. Out: ``TreePart``. Callers: page.tree_page, reporting.

Everything in words and numbers comes from ``tree``: the same summary, tests and conditions that text and picture read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from treewright.model.data import ModelData
from treewright.model.growth import node_test
from treewright.model.summary import TreeSummary, summarize
from treewright.page.amounts import amount
from treewright.page.parts_tree import NodePart, SurrogatePart, TestPart, TreePart
from treewright.tree.arrays import INTERVALS, MULTIWAY, SUBSET
from treewright.tree.tests import bounds_below, level_bits, level_branches, node_cuts, node_levels
from treewright.tree.walk import children, subtree_sizes, unfolded
from treewright.tree.wording import NodeTest, Surrogate, ThresholdTest, conditions, surrogates_of, threshold_digits
from treewright.tree.writing import shorten

MAX_NODES = 4001
# Rules are written for every node of a tree up to this many conditions in all; beyond, the page tells the way instead.
MAX_CONDITIONS = 60_000
NAME_WIDTH, EDGE_LEVELS, RULE_LEVELS = 200, 6, 12


def tree_part(model: ModelData, tree: int = 0, *, title: str = "", max_nodes: int = MAX_NODES) -> TreePart:
    """Return one of a model's trees as a page shows it.

    Parameters
    ----------
    model : ModelData
    tree : int
        Which of its trees.
    title : str, optional
    max_nodes : int >= 1
        At most this many nodes, those with the most rows.

    Raises
    ------
    ParameterError
        There is no such tree.
    """
    summary = summarize(model, tree)
    grown = summary.tree
    shown = unfolded(grown, max_nodes=max_nodes)
    visible = [0, *(child for node in sorted(shown) for child in children(grown, node))]
    rules = rules_of(summary, shown)
    sizes, digits, depths = subtree_sizes(grown), threshold_digits(grown), grown.depth
    nodes = []
    tests: dict[int, NodeTest] = {}  # parents stand before their children
    for node in sorted(visible):
        inner = node in shown
        test = node_test(summary.model, grown, node) if inner else None
        if test is not None:
            tests[node] = test
        nodes.append(
            NodePart(
                id=node,
                parent=int(grown.parent[node]) if node else None,
                branch=branch_of(summary, node),
                depth=int(depths[node]),
                edge=edge_of(summary, node, digits, tests),
                question="" if test is None else shorten(test.question(digits=int(digits[node])), NAME_WIDTH),
                said=said_of(summary, node),
                code=summary.predicted_class(node, summary.outputs[0]) if summary.counts_classes else None,
                n_rows=int(grown.n_samples[node]),
                weight=float(grown.weight[node]),
                impurity=float(grown.impurity[node]),
                gain=gain_of(summary, node) if inner else None,
                values=tuple(tuple(summary.values(node, output).tolist()) for output in summary.outputs),
                rule=None if rules is None else rules[node],
                test=None if test is None else test_part(summary, node, test),
                hidden=0 if inner else int(sizes[node]) - 1,
            )
        )
    first = grown.value[:, summary.outputs[0].start]
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
        nodes=tuple(nodes),
        missing_words=missing_words_of(summary),
    )


def missing_words_of(summary: TreeSummary) -> str:
    """Return how missing values go, as a sentence."""
    note = summary.missing_note
    if note:
        return f"{note[0].upper()}{note[1:]}."
    if any(column.missing_seen for column in summary.model.schema.columns):
        return "The answers on the edges say where missing values go."
    return "The fit met no missing value."


def rules_of(summary: TreeSummary, shown: frozenset[int]) -> dict[int, tuple[str, ...]] | None:
    """Return the conditions that lead to each visible node; None where they are too many to write down."""
    model, rules, n_written = summary.model, {}, 0
    for node, bounds in bounds_below(model.schema, summary.tree, shown):
        n_written += len(bounds)
        if n_written > MAX_CONDITIONS:
            return None
        texts = conditions(model.schema, bounds, exact=False, max_levels=RULE_LEVELS, missing=model.missing)
        rules[node] = tuple(shorten(text, NAME_WIDTH) for text in texts)
    return rules


def branch_of(summary: TreeSummary, node: int) -> int:
    """Return which branch of its parent a node is."""
    return node - int(summary.tree.first_child[summary.tree.parent[node]]) if node else 0


def edge_of(summary: TreeSummary, node: int, digits: np.ndarray, tests: Mapping[int, NodeTest]) -> str:
    """Return the answer that leads to a node; ``tests`` are those of the nodes above."""
    if not node:
        return ""
    above = int(summary.tree.parent[node])
    text = tests[above].edge(branch_of(summary, node), digits=int(digits[above]), max_levels=EDGE_LEVELS)
    return shorten(text, NAME_WIDTH)


def said_of(summary: TreeSummary, node: int) -> str:
    """Return what a node predicts, or would predict as a leaf."""
    texts = [
        output.classes[summary.predicted_class(node, output)]
        if output.classes
        else amount(summary.amount(node, output))
        for output in summary.outputs
    ]
    return shorten((", " if summary.counts_classes else "; ").join(texts), NAME_WIDTH)


def gain_of(summary: TreeSummary, node: int) -> float:
    """Return the impurity of a node minus the weighted mean of its branches'; at least 0."""
    tree = summary.tree
    below = np.array(children(tree, node))
    held = tree.weight[below]
    total = float(held.sum())
    if not total > 0:
        return 0.0
    # Shares first: weights near the end of float64 times an impurity would overflow.
    return max(0.0, float(tree.impurity[node] - (held / total * tree.impurity[below]).sum()))


def test_part(summary: TreeSummary, node: int, test: NodeTest) -> TestPart:
    """Return what a node asks, for a program that sends rows down."""
    tree, column = summary.tree, summary.model.schema.columns[test.feature]
    kind = int(tree.kind[node])
    cuts: tuple[float, ...] = ()
    branches: tuple[int, ...] = ()
    unseen, name = -1, "cuts"
    if kind == MULTIWAY:
        way, _ = level_branches(column, tree, node)
        name, branches, unseen = "levels", tuple(way[:-1].tolist()), int(way[-1])
    elif kind == SUBSET:
        left, _ = node_levels(column, tree, node)
        name, branches, unseen = "levels", tuple(np.where(left, 0, 1)[:-1].tolist()), int(not left[-1])
    elif kind == INTERVALS:
        cuts = tuple(node_cuts(tree, node).tolist())
    elif isinstance(test, ThresholdTest) and test.asks_presence:
        name = "present"
    else:
        cuts = (float(tree.threshold[node]),)
    return TestPart(
        kind=name, column=test.feature, cuts=cuts, branch_of=branches, missing=int(tree.missing_branch[node]),
        unseen=unseen,
        surrogates=tuple(surrogate_part(summary, node, place, each)
                         for place, each in enumerate(surrogates_of(summary.model.schema, tree, node))),
    )  # fmt: skip


def surrogate_part(summary: TreeSummary, node: int, place: int, surrogate: Surrogate) -> SurrogatePart:
    """Return a stand-in: for levels that it does not know the branch is -1."""
    tree, test = summary.tree, surrogate.test
    text = shorten(surrogate.edge(0), NAME_WIDTH)
    if isinstance(test, ThresholdTest):
        return SurrogatePart(text, "cuts", test.feature, (float(test.threshold),), (), surrogate.flipped)
    first = int(np.searchsorted(tree.surrogate_node, node))
    left, seen = level_bits(
        summary.model.schema.columns[test.feature], tree, int(tree.surrogate_level_set[first + place])
    )
    way = np.where(left, int(surrogate.flipped), int(not surrogate.flipped))
    return SurrogatePart(
        text, "levels", test.feature, (), tuple(np.where(seen, way, -1)[:-1].tolist()), surrogate.flipped
    )


def with_judged(part: TreePart, judged: dict[int, tuple[float, ...]], edges: tuple[float, ...] | None) -> TreePart:
    """Return the tree with what the judged rows are like in each node."""
    nodes = tuple(replace(node, judged=judged.get(node.id)) for node in part.nodes)
    return replace(part, nodes=nodes, edges=edges)
