"""A model as exact data for programs: the one description that the page, JSON and Graphviz use.

``nodes_of`` yields for every node its test, exact enough to send rows down, and its content; levels are codes, that is
positions in their column. ``to_structure`` writes the same as JSON with levels by name, for programs in other
languages; ``show.page.tree`` adds texts for readers. ``importing.structure`` reads the JSON back.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from treewright.data.dates import DATES
from treewright.data.schema import Column
from treewright.model.aggregation import grid_to_json
from treewright.model.data import ModelData
from treewright.model.growth import node_test
from treewright.model.summary import TreeSummary, summarize
from treewright.model.threshold import threshold_to_json
from treewright.tree.arrays import INTERVALS, MULTIWAY, SUBSET, Tree
from treewright.tree.tests import level_bits, level_branches, node_cuts, node_levels
from treewright.tree.walk import children
from treewright.tree.wording import MultiwayTest, NodeTest, SubsetTest, Surrogate, ThresholdTest, surrogates_of
from treewright.tree.writing import escape_controls

FORMAT, VERSION = "treewright-structure", 2
Kind = Literal["threshold", "intervals", "present", "subset", "multiway"]
NO_LEVELS = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class StandIn:
    """A surrogate test, used if the node's own column is missing: the first one that has a value decides."""

    kind: Kind
    column: int
    cuts: tuple[float, ...]  # one; a value up to it goes to branch 0, to branch 1 if flipped
    branch_of: np.ndarray  # int64[v]: the node's branch per level, already flipped; -1 if it does not decide
    words: Surrogate


@dataclass(frozen=True, eq=False)
class Split:
    """The test of a node. The value of an ordinal column is the code of its level."""

    # "threshold", "intervals": the branch is the first whose cut is not below the value, else the last, ``len(cuts)``.
    # "subset", "multiway": ``branch_of[code]``. "present": 0 if there is a value, else ``missing``.
    kind: Kind
    column: int
    cuts: tuple[float, ...]  # ascending, exact
    branch_of: np.ndarray  # int64[v]: per level of the column; empty if the test is not of levels
    absent: np.ndarray  # int64[k]: codes of the levels that no training row had in this node
    missing: int  # the branch of a missing value, if no surrogate decides and nothing is divided
    unseen: int  # the branch of a level that fit never saw; -1 if the test is not of levels
    surrogates: tuple[StandIn, ...]  # in the order in which they are used
    words: NodeTest


@dataclass(frozen=True, eq=False)
class Node:
    """One node: its position, test, content and prediction."""

    number: int
    parent: int  # -1 for the root
    branch: int  # its number among the parent's branches; 0 for the root
    depth: int
    n_samples: int
    weight: float
    impurity: float
    values: tuple[tuple[float, ...], ...]  # per output the weighted class counts, or one number
    predicted: tuple[int | float, ...]  # per output the code of a class, or the number
    split: Split | None  # None for a leaf, and for a node that is not opened
    children: range


def nodes_of(summary: TreeSummary, opened: Collection[int] | None = None) -> Iterator[Node]:
    """The nodes of a tree in the order of their numbers, parents before children.

    Parameters
    ----------
    summary : TreeSummary
    opened : collection of int, optional
        Inner nodes, each with its parent; only their children are included. By default all.
    """
    tree, outputs = summary.tree, summary.outputs
    inner = set(np.flatnonzero(~tree.is_leaf).tolist()) if opened is None else set(opened)
    parents, depths = tree.parent.tolist(), tree.depth.tolist()
    for number in sorted({0}.union(*(children(tree, node) for node in inner))):
        values = tuple(tuple(summary.values(number, output).tolist()) for output in outputs)
        yield Node(
            number=number,
            parent=parents[number] if number else -1,
            branch=number - int(tree.first_child[parents[number]]) if number else 0,
            depth=depths[number],
            n_samples=int(tree.n_samples[number]),
            weight=float(tree.weight[number]),
            impurity=float(tree.impurity[number]),
            values=values,
            predicted=tuple(
                summary.predicted_class(number, output) if output.classes else held[0]
                for output, held in zip(outputs, values, strict=True)
            ),
            split=split_of(summary, number) if number in inner else None,
            children=children(tree, number) if number in inner else range(0),
        )


def split_of(summary: TreeSummary, node: int) -> Split:
    """The test of an inner node."""
    tree, words = summary.tree, node_test(summary.model, summary.tree, node)
    column, kind = summary.model.schema.columns[words.feature], int(tree.kind[node])
    name: Kind = "threshold"
    cuts: tuple[float, ...] = ()
    branch_of = absent = NO_LEVELS
    unseen = -1
    if kind in (SUBSET, MULTIWAY):
        name = "subset" if kind == SUBSET else "multiway"
        branches, seen = branches_of_levels(column, tree, node)
        branch_of, unseen, absent = branches[:-1], int(branches[-1]), np.flatnonzero(~seen[:-1])
    elif kind == INTERVALS:
        name, cuts = "intervals", tuple(node_cuts(tree, node).tolist())
    elif isinstance(words, ThresholdTest) and words.asks_presence:
        name = "present"
    else:
        cuts = (float(tree.threshold[node]),)
    found = surrogates_of(summary.model.schema, tree, node)
    stand_ins = tuple(stand_in(summary, node, place, each) for place, each in enumerate(found))
    missing = int(tree.missing_branch[node])
    return Split(name, words.feature, cuts, branch_of, absent, missing, unseen, stand_ins, words)


def branches_of_levels(column: Column, tree: Tree, node: int) -> tuple[np.ndarray, np.ndarray]:
    """int[v + 1] and bool[v + 1]: the branch of each level, and whether training rows had it in this node.

    The last entries are for a level that fit never saw.
    """
    if tree.kind[node] == MULTIWAY:
        return level_branches(column, tree, node)
    left, seen = node_levels(column, tree, node)
    return np.where(left, 0, 1), seen


def stand_in(summary: TreeSummary, node: int, place: int, surrogate: Surrogate) -> StandIn:
    """A node's surrogate, number ``place`` counted from 0."""
    tree, test = summary.tree, surrogate.test
    if isinstance(test, ThresholdTest):
        return StandIn("threshold", test.feature, (float(test.threshold),), NO_LEVELS, surrogate)
    start = int(tree.surrogate_level_set[int(np.searchsorted(tree.surrogate_node, node)) + place])
    left, seen = level_bits(summary.model.schema.columns[test.feature], tree, start)
    branches = np.where(left, int(surrogate.flipped), int(not surrogate.flipped))
    return StandIn("subset", test.feature, (), np.where(seen, branches, -1)[:-1], surrogate)


def to_structure(model: ModelData, *, tree: int | None = None) -> dict[str, Any]:
    """Return a model as plain data.

    Parameters
    ----------
    model : ModelData
    tree : int, optional
        One of the model's trees, counted from 0; all of them without it.

    Returns
    -------
    dict
        ``format``, ``version``, ``task``, ``criterion``, ``unseen``, ``missing``, ``combine``, ``facts``, ``named``,
        ``columns``, ``targets`` and ``trees``; for boosted models ``boosting`` (``base`` and ``link``), for trees with
        weights ``tree_weights``, for sums on a grid ``grid``, with a decision threshold ``threshold`` (``positive``,
        ``at``, ``why``, and ``cost`` if costs chose it). Each tree has ``nodes``, a flat list in which a node's
        position is its number, and ``branches`` are such numbers. Every number is the exact float64; an infinite one is
        the text ``"inf"`` or ``"-inf"``. The ``type`` of a node's ``test`` defines its branches (`split_structure`).

    Raises
    ------
    ParameterError
        The model has no such tree.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright.data.schema import Column, Schema
    >>> from treewright.tree.arrays import Tree
    >>> from treewright.model.data import ModelData
    >>> ints = lambda *v: np.array(v, np.int32)
    >>> tree = Tree(np.array([1, 0, 0], np.uint8), ints(0, -1, -1), np.array([2.5, 0, 0]), ints(1, -1, -1),
    ...             ints(2, 0, 0), ints(0, 0, 0), ints(-1, -1, -1), np.array([4, 1, 3]), np.array([4.0, 1, 3]),
    ...             np.array([1.2, 0, 0]), np.array([[7.0], [4.0], [8.0]]), np.zeros(0, np.uint64),
    ...             np.zeros(0, np.uint64))
    >>> model = ModelData("regression", Schema((Column("age", "numeric"),)), (tree,))
    >>> root = to_structure(model)["trees"][0]["nodes"][0]
    >>> root["test"]["question"], root["branches"]
    ('age <= 2.5', [1, 2])
    """
    chosen = range(len(model.trees)) if tree is None else (tree,)
    trees = []
    # One at a time: the trees of a forest are made when they are used.
    for position in chosen:
        summary = summarize(model, position)
        trees.append({"nodes": [node_structure(summary, node) for node in nodes_of(summary)]})
    targets: list[dict[str, Any]] = []
    for position in range(model.n_outputs):
        name = model.target_names[position] if position < len(model.target_names) else None
        target: dict[str, Any] = {"name": name}
        if model.classes:
            target["classes"] = [json_label(label) for label in model.classes[position]]
        targets.append(target)
    together: dict[str, Any] = {}
    if model.boosting is not None:
        together["boosting"] = {"base": list(model.boosting.base), "link": model.boosting.link}
    if model.tree_weights is not None:
        together["tree_weights"] = model.tree_weights.tolist()
    if model.threshold is not None:
        together["threshold"] = threshold_to_json(model.threshold)
    if model.grid is not None:
        together["grid"] = grid_to_json(model.grid)
    return {
        "format": FORMAT,
        "version": VERSION,
        "task": model.task,
        "criterion": summary.criterion,
        "unseen": model.unseen,
        "missing": model.missing,
        "combine": model.combine,
        "facts": json_fact(model.facts),
        "named": model.schema.named,
        "columns": [column_structure(column) for column in model.schema.columns],
        "targets": targets,
        "trees": trees,
        **together,
    }


def column_structure(column: Column) -> dict[str, Any]:
    """A column as JSON: its name, kind, levels, and whether fit saw missing values."""
    name = column.name if isinstance(column.name, str) else json_level(column.name)
    structure: dict[str, Any] = {"name": name, "kind": column.kind, "missing_seen": column.missing_seen}
    if column.family not in DATES:
        structure["family"] = column.family
    if column.declared:
        structure["declared"] = True
    if column.left_out:
        structure["left_out"] = column.left_out
    if column.kind == "numeric" and column.family in DATES:  # cuts count days (``data.dates``)
        structure["holds"] = column.family
        if column.zone:
            structure["zone"] = column.zone
    if column.part:
        structure |= {"part": column.part, "sources": list(column.sources)}
    if column.numbers:
        structure["numbers"] = list(column.numbers)
    if column.kind != "numeric":
        structure["levels"] = [json_level(level) for level in column.levels]
    return structure


def node_structure(summary: TreeSummary, node: Node) -> dict[str, Any]:
    """A node as JSON: its test, the numbers of its branches, its content and prediction."""
    labels = summary.model.classes
    structure: dict[str, Any] = {
        "node": node.number,
        "parent": None if node.parent < 0 else node.parent,
        "depth": node.depth,
        "samples": node.n_samples,
        "weight": json_number(node.weight),
        "impurity": json_number(node.impurity),
        "value": [[json_number(number) for number in held] for held in node.values],
        "prediction": [
            json_label(labels[output][code]) if summary.counts_classes else json_number(code)  # type: ignore[index]
            for output, code in enumerate(node.predicted)
        ],
    }
    if node.split is not None:
        structure["test"] = split_structure(summary, node.split)
        structure["branches"] = list(node.children)
        if summary.model.missing == "surrogate":
            structure["surrogates"] = [surrogate_structure(summary, each) for each in node.split.surrogates]
    return structure


def split_structure(summary: TreeSummary, split: Split) -> dict[str, Any]:
    """The test of an inner node as JSON.

    Its ``type`` defines the branch: ``threshold`` (branch 0 if value <= threshold, else 1), ``rank`` (the same with the
    level's position in the column's ``levels``), ``present`` (branch 0 if there is a value), ``intervals`` and
    ``rank_intervals`` (the first branch whose entry in ``cuts`` is not below the value or rank, else the last),
    ``subset`` and ``multiway`` (the branch whose ``levels`` or ``absent_levels`` list the value). A branch without
    levels, or after a cut ``"inf"``, is only for missing values; so is the third one of the other types.
    """
    column, words = summary.model.schema.columns[split.column], split.words
    common = {
        "column": split.column,
        "question": words.question(exact=True),
        "answers": [words.edge(branch, exact=True) for branch in range(words.n_branches)],
        "missing_branch": split.missing,
    }
    if isinstance(words, SubsetTest | MultiwayTest):
        return {
            "type": split.kind,
            **common,
            "levels": levels_structure(words.branches),
            "absent_levels": levels_structure(words.absent),
            "unseen_branch": split.unseen,
        }
    if split.kind == "intervals":
        kind = "rank_intervals" if column.kind == "ordinal" else "intervals"
        return {"type": kind, "cuts": [json_number(cut) for cut in split.cuts], **common}
    return {**cut_structure(column, split.cuts), **common}


def cut_structure(column: Column, cuts: tuple[float, ...]) -> dict[str, Any]:
    """The type of a test with one cut, and the cut; without one, or with an infinite one, any value passes."""
    if not cuts or cuts[0] == math.inf:
        return {"type": "present"}
    return {"type": "rank" if column.kind == "ordinal" else "threshold", "threshold": json_number(cuts[0])}


def levels_structure(sides: Sequence[Sequence[Hashable]]) -> list[list[Any]]:
    """The levels that take each branch."""
    return [[json_level(level) for level in side] for side in sides]


def surrogate_structure(summary: TreeSummary, stand_in: StandIn) -> dict[str, Any]:
    """A surrogate as JSON: a test of two branches, which are exchanged if it is ``flipped``.

    It decides if there is a value and, with levels, the value is one of ``levels``.
    """
    column, words = summary.model.schema.columns[stand_in.column], stand_in.words
    if isinstance(words.test, SubsetTest):
        kind: dict[str, Any] = {"type": "subset", "levels": levels_structure(words.test.branches)}
    else:
        kind = cut_structure(column, stand_in.cuts)
    return {
        **kind,
        "column": stand_in.column,
        "question": words.test.question(exact=True),
        "flipped": words.flipped,
        "agreement": json_number(words.agreement),
        "adjusted": json_number(words.adjusted),
    }


def json_number(number: float) -> float | str:
    """A float for JSON; ``"inf"``, ``"-inf"`` or ``"nan"`` as text."""
    number = float(number)
    return number if math.isfinite(number) else str(number)


def json_level(level: Hashable) -> str | int | float | bool | None:
    """A level or label as a JSON value if JSON has its type, else as text."""
    if level is None or isinstance(level, (bool, int)):
        return level
    if isinstance(level, float):
        return json_number(level)
    return str(level)


def json_label(label: object) -> str | int | float | bool | None:
    """A class label, a NumPy scalar or an object, as a JSON value if JSON has its type, else as text."""
    # item() would turn a date in nanoseconds into a bare integer.
    is_plain = isinstance(label, np.generic) and not isinstance(label, (np.datetime64, np.timedelta64))
    return json_level(label.item() if is_plain else label)  # type: ignore[attr-defined]


def json_fact(value: object) -> Any:
    """A training fact as plain JSON; numbers that are not finite, and nesting deeper than 8, become text."""
    return _json_fact(value, 8)


def _json_fact(value: object, levels: int) -> Any:
    if isinstance(value, float):
        return json_number(value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if levels and isinstance(value, Mapping):
        return {str(key): _json_fact(item, levels - 1) for key, item in value.items()}
    if levels and isinstance(value, Sequence):
        return [_json_fact(item, levels - 1) for item in value]
    return escape_controls(str(value))
