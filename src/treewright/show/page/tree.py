"""A tree for a page: its description in words, the levels that the page names, and the page of one tree.

A page sends rows down its trees by the codes of their levels, so a column of hundreds of thousands of names would be
most of it (20 bytes each, and 3 more in every test). Beyond some thousands a column keeps the levels of the rows in the
page and of its pictures, and the first ones of the others; tests have branches only for these, and codes are numbered
anew. The page looks the same: rows with other levels are in none of its lists.

A notebook shows a fitted tree as that page: the same drawing as in a report, in a frame, so that its styles and scripts
do not mix with those of the notebook.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from treewright.data.derived import LEVELS, ROWS, by_source
from treewright.data.schema import Schema
from treewright.exchange.structure import Node, Split, StandIn, nodes_of
from treewright.show.page.parts import (
    ByHandPart,
    ColumnWords,
    ExamplesPart,
    NodePart,
    SplitColumnPart,
    Summary,
    SupportPart,
    SurrogatePart,
    TestPart,
    TreePart,
)
from treewright.show.page.render import amount, render
from treewright.show.prediction import predictions_of_nodes
from treewright.trees.arrays import subtree_sizes, unfolded
from treewright.trees.data import ModelData
from treewright.trees.summary import TreeSummary, summarize
from treewright.trees.tests import bounds_below
from treewright.trees.wording import clock_of, conditions, threshold_digits
from treewright.trees.writing import escape_controls, shorten, written_level, written_name
from treewright.version import __version__

MOST_LEVELS = 5_000
_OTHERS = -1  # the code of all other levels together

# For each large column the place of every code among the kept ones, -1 for none; the last is an unseen level.
Places = dict[int, np.ndarray]


def with_named_levels(summary: Summary) -> Summary:
    """A summary whose nominal columns have at most so many levels, or more if its rows and pictures hold more."""
    large = [
        at for at, words in enumerate(summary.columns) if words.kind == "nominal" and len(words.levels) > MOST_LEVELS
    ]
    if not large:
        return summary
    places: Places = {}
    columns = list(summary.columns)
    for at in large:
        words = columns[at]
        n_levels = len(words.levels)
        kept = np.zeros(n_levels + 1, bool)
        kept[[code for code in _codes_shown(summary, at) if 0 <= code < n_levels]] = True
        kept[np.flatnonzero(~kept[:-1])[: max(0, MOST_LEVELS - int(kept.sum()))]] = True
        kept[n_levels] = True
        places[at] = np.where(kept, np.cumsum(kept) - 1, -1)
        codes = np.flatnonzero(kept[:-1]).tolist()
        columns[at] = replace(words, levels=tuple(words.levels[code] for code in codes), unnamed=n_levels - len(codes))
    for at, words in enumerate(columns):
        if words.numbers:
            columns[at] = replace(words, numbers=_numbers(summary.columns, at, places))
    parts = {name: _renamed(getattr(summary, name), places) for name in ("tree", "pruning", "ensemble")}
    examples = summary.examples
    if examples is not None and summary.tree is not None:
        examples = _examples(examples, summary.tree, places)
    return replace(summary, columns=tuple(columns), examples=examples, **parts)


def _numbers(columns: Sequence[ColumnWords], at: int, places: Places) -> tuple[float, ...]:
    """The numbers that a derived column is computed from (``data.derived``), by the codes of this page."""

    def kept_of(column: int) -> list[int]:
        n_levels = len(columns[column].levels)
        return np.flatnonzero(places[column][:-1] >= 0).tolist() if column in places else list(range(n_levels))

    words, kept = columns[at], [kept_of(source) for source in columns[at].sources]
    sources = [columns[source] for source in words.sources]
    if words.part == ROWS:
        return tuple(words.numbers[code] for code in kept[0])
    if words.part == LEVELS:
        # The code of a level, and after the last that of a missing cell: -1 if this page does not have the level.
        renamed = [
            {code: new for new, code in enumerate(own)} | {len(source.levels): len(own)}
            for source, own in zip(sources, kept, strict=True)
        ]
        pairs = [divmod(int(words.numbers[code]), len(sources[1].levels) + 1) for code in kept_of(at)]
        known = [(renamed[0].get(first, -1), renamed[1].get(second, -1)) for first, second in pairs]
        return tuple(-1.0 if min(pair) < 0 else float(pair[0] * (len(kept[1]) + 1) + pair[1]) for pair in known)
    numbers = [words.numbers[0]]
    for (source, block), own in zip(by_source(words.numbers, sources), kept, strict=True):
        numbers += [*(block[code] for code in own), block[-1]] if source.kind == "nominal" else block
    return tuple(numbers)


def _codes_shown(summary: Summary, column: int) -> set[int]:
    """The codes of a column in the rows and pictures of a page."""
    found: set[int] = set()
    examples = summary.examples
    if examples is not None:
        found.update(int(row.cells[column]) for row in examples.rows if np.isfinite(row.cells[column]))
        found.update(code for support in examples.supports for at, code in support.levels if at == column)
    for tree in _trees(summary):
        asks = _tested(tree)
        found.update(code for asked in tree.asked if asks[asked.node] == column for code in asked.levels)
    return found


def _trees(value: Any) -> list[TreePart]:
    """Every tree of a page."""
    if isinstance(value, TreePart):
        return [value]
    if isinstance(value, tuple):
        return [tree for each in value for tree in _trees(each)]
    if is_dataclass(value) and not isinstance(value, type):
        return [tree for field in fields(value) for tree in _trees(getattr(value, field.name))]
    return []


def _tested(tree: TreePart) -> dict[int, int]:
    """The column that each node tests."""
    return {node.id: node.test.column for node in tree.nodes if node.test is not None}


def _renamed(value: Any, places: Places) -> Any:
    """A part of a page whose trees have the codes of the kept levels."""
    if isinstance(value, TreePart):
        asks = _tested(value)
        nodes = tuple(
            node if node.test is None else replace(node, test=_test(node.test, places)) for node in value.nodes
        )
        return replace(
            value, nodes=nodes, asked=tuple(_tested_column(each, asks[each.node], places) for each in value.asked)
        )
    if isinstance(value, tuple):
        return tuple(_renamed(each, places) for each in value)
    if is_dataclass(value) and not isinstance(value, type) and _trees(value):
        return replace(value, **{field.name: _renamed(getattr(value, field.name), places) for field in fields(value)})
    return value


def _test(test: TestPart, places: Places) -> TestPart:
    """A test with the branches of the kept levels, also in its surrogates."""
    surrogates = tuple(replace(each, branch_of=_branches(each, places)) for each in test.surrogates)
    return replace(test, branch_of=_branches(test, places), surrogates=surrogates)


def _branches(test: Any, places: Places) -> tuple[int, ...]:
    """The branch of each kept level."""
    place = places.get(test.column)
    if place is None or not test.branch_of:
        return tuple(test.branch_of)
    return tuple(np.array(test.branch_of)[place[: len(test.branch_of)] >= 0].tolist())


def _tested_column(asked: SplitColumnPart, column: int, places: Places) -> SplitColumnPart:
    """The picture of the column that a node tests, with the kept codes."""
    if column not in places:
        return asked
    return replace(asked, levels=tuple(_code(code, places[column]) for code in asked.levels))


def _examples(examples: ExamplesPart, tree: TreePart, places: Places) -> ExamplesPart:
    """The rows of a page and the support of its nodes, with the kept codes."""
    rows = tuple(
        replace(row, cells=tuple(
            float(_code(int(cell), places[at])) if at in places and np.isfinite(cell) else cell
            for at, cell in enumerate(row.cells)
        ))
        for row in examples.rows
    )  # fmt: skip
    asks = _tested(tree)
    supports = tuple(
        _support(support, asks.get(node.id), places)
        for support, node in zip(examples.supports, tree.nodes, strict=True)
    )
    return replace(examples, rows=rows, supports=supports)


def _support(support: SupportPart, asked: int | None, places: Places) -> SupportPart:
    """The support of a node, with the kept codes."""
    levels = tuple((at, _code(code, places[at]) if at in places else code) for at, code in support.levels)
    absent = support.absent
    if asked in places:
        absent = tuple(at for at in (_code(code, places[asked]) for code in absent) if at != _OTHERS)
    return replace(support, levels=levels, absent=absent)


def _code(code: int, place: np.ndarray) -> int:
    """A code among the kept ones."""
    return _OTHERS if code < 0 else int(place[code])


MAX_NODES = 4001
# A notebook holds the page of every cell: of a large tree only the nodes with the most rows.
MAX_NODES_ALONE = 401
# Rules are written for every node of a tree up to this many conditions in all; with more, the page shows paths instead.
MAX_CONDITIONS = 60_000
NAME_WIDTH, EDGE_LEVELS, RULE_LEVELS = 200, 6, 12
# Pixels: above and below the drawing, one row of cards, and the least and largest height of a frame.
REST, ROW, LEAST, MOST = 170, 152, 380, 760
# Largest number of levels that a drawing opens with.
LEVELS_OPEN = 5
# The kinds of tests in the scripts, by those of ``exchange.structure.Split``.
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
    levels = min(LEVELS_OPEN, max(node.depth for node in part.nodes)) + 1
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
