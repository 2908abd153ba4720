"""A model as exact data for programs: the one description that the page, JSON and Graphviz use.

``nodes_of`` yields for every node its test, exact enough to send rows down, and its content; levels are codes, that is
positions in their column. ``to_structure`` writes the same as JSON with levels by name, for programs in other
languages; ``show.page.tree`` adds texts for readers. ``of_file`` reads the JSON back, with equal predictions.

Values without a type in JSON were written as text and are read as text: levels and labels that are dates, names that
are tuples. The targets in the leaves of a forest of quantiles are not in the file.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np

from treewright.data.dates import DATES
from treewright.data.schema import Column, Schema
from treewright.exceptions import InputFileError
from treewright.exchange.foreign import json_of
from treewright.trees.arrays import FIELDS, INTERVALS, LEAF, MULTIWAY, SUBSET, THRESHOLD, Tree, children
from treewright.trees.data import Boosting, ModelData, grid_from_json, grid_to_json
from treewright.trees.facts import node_test
from treewright.trees.repacking import checked, kept_trees
from treewright.trees.summary import TreeSummary, summarize
from treewright.trees.tests import level_bits, level_branches, node_cuts, node_levels
from treewright.trees.threshold import threshold_from_json, threshold_to_json
from treewright.trees.wording import MultiwayTest, NodeTest, SubsetTest, Surrogate, ThresholdTest, surrogates_of
from treewright.trees.writing import escape_controls

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

    ``opened``: inner nodes, each with its parent; only their children are included. By default all.
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
    """A model as plain JSON, or one of its ``tree``s.

    Keys are ``format``, ``version``, ``task``, ``criterion``, ``unseen``, ``missing``, ``combine``, ``facts``,
    ``named``, ``columns``, ``targets`` and ``trees``; for boosted models ``boosting`` (``base`` and ``link``), for
    trees with weights ``tree_weights``, for sums on a grid ``grid``, with a decision threshold ``threshold``
    (``positive``, ``at``, ``why``, and ``cost`` if costs chose it). Each tree has ``nodes``, a flat list in which a
    node's position is its number, and ``branches`` are such numbers. Every number is the exact float64; an infinite one
    is the text ``"inf"`` or ``"-inf"``. The ``type`` of a node's ``test`` defines its branches (`split_structure`).
    Raises ``ParameterError``: the model has no such tree.
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


_SIDES = {"subset": SUBSET, "multiway": MULTIWAY, "intervals": INTERVALS, "rank_intervals": INTERVALS}


def begins(head: bytes, ending: str) -> bool:
    """Whether a file with these first bytes is our own JSON."""
    del ending
    return b'"' + FORMAT.encode() + b'"' in head


def of_file(data: bytes) -> ModelData:
    """The model in the bytes of a file.

    Raises ``InputFileError``: it was written by a newer version, or contradicts itself.
    """
    found = json_of(data)
    if found.get("format") != FORMAT or found.get("version") != VERSION:
        raise InputFileError(
            f"the file is {str(found.get('format'))[:40]!r} of version {str(found.get('version'))[:10]}, but "
            f"{FORMAT} {VERSION} is read: write it again with export"
        )
    schema = Schema(tuple(map(_column, found["columns"])), bool(found["named"]))
    classes = tuple(_labels(target["classes"]) for target in found["targets"] if "classes" in target)
    names = tuple(target["name"] for target in found["targets"])
    boosting = found.get("boosting")
    weights, threshold = found.get("tree_weights"), found.get("threshold")
    counts = () if boosting is not None else tuple(map(len, classes))
    n_values = 1 if boosting is not None else sum(counts) if classes else len(found["targets"])
    trees: Any = [_tree(tree["nodes"], schema, n_values) for tree in found["trees"]]
    kept = kept_trees(trees, schema, counts, found["combine"], found["missing"], found["facts"])
    return checked(
        ModelData(
            task=found["task"],
            schema=schema,
            trees=kept,
            classes=classes,
            n_outputs=len(found["targets"]),
            combine=found["combine"],
            unseen=found["unseen"],
            missing=found["missing"],
            target_names=names if all(isinstance(name, str) for name in names) else (),
            facts=dict(found["facts"]),
            boosting=None if boosting is None else Boosting(tuple(map(float, boosting["base"])), boosting["link"]),
            tree_weights=None if weights is None else np.array(weights, np.float64),
            threshold=None if threshold is None else threshold_from_json(threshold),
            grid=grid_from_json(found.get("grid")),
        )
    )


def _column(stated: Mapping[str, Any]) -> Column:
    """A column; numbers that JSON cannot hold were written as text."""
    levels, family = stated.get("levels", ()), stated.get("family", "number")
    if family == "number":
        levels = [float(level) if level in ("nan", "inf", "-inf") else level for level in levels]
    return Column(
        name=stated["name"],
        kind=stated["kind"],
        levels=tuple(levels),
        missing_seen=bool(stated["missing_seen"]),
        family=stated.get("holds", family),
        declared=bool(stated.get("declared", False)),
        left_out=stated.get("left_out", ""),
        zone=stated.get("zone", ""),
        part=stated.get("part", ""),
        sources=tuple(stated.get("sources", ())),
        numbers=tuple(map(float, stated.get("numbers", ()))),
    )


def _labels(labels: Sequence[Any]) -> np.ndarray:
    """Labels as an array, with dtype object if they are of several types."""
    if not all(isinstance(label, str) or (isinstance(label, int | float) and math.isfinite(label)) for label in labels):
        raise InputFileError(f"a label is not a string, a finite number or a bool: {list(labels)[:10]}")
    kinds = {type(label) for label in labels}
    return np.array(labels) if len(kinds) == 1 and kinds <= {str, int, float, bool} else np.array(labels, object)


def _tree(nodes: Sequence[Mapping[str, Any]], schema: Schema, n_values: int) -> Tree:
    """The tree of a list of nodes."""
    held: dict[str, list[Any]] = {name: [] for name in FIELDS if name != "value"}
    value = np.zeros((len(nodes), n_values))
    for number, node in enumerate(nodes):
        if node["node"] != number:
            raise InputFileError(f"node {number} of a tree is not at its position")
        value[number] = [float(amount) for own in node["value"] for amount in own]
        held["n_samples"].append(node["samples"])
        held["weight"].append(float(node["weight"]))
        held["impurity"].append(float(node["impurity"]))
        test = node.get("test")
        branches = list(node["branches"]) if test is not None else []
        if branches and branches != list(range(branches[0], branches[0] + len(branches))):
            raise InputFileError(f"the branches of node {number} do not have consecutive numbers")
        held["kind"].append(LEAF if test is None else _SIDES.get(test["type"], THRESHOLD))
        held["feature"].append(-1 if test is None else test["column"])
        held["threshold"].append(0.0 if held["kind"][-1] != THRESHOLD else _cut_of(cast("Mapping[str, Any]", test)))
        held["first_child"].append(branches[0] if branches else -1)
        held["n_branches"].append(len(branches))
        held["missing_branch"].append(0 if test is None else test["missing_branch"])
        held["level_set"].append(-1 if test is None else _side_table(held, test, schema))
        for surrogate in node.get("surrogates", ()):
            _add_surrogate(held, surrogate, schema, number)
    for name, cells in held.items():
        if FIELDS[name].kind in "iu" and not all(type(cell) is int for cell in cells):
            raise InputFileError(f"{name} of a node is not a whole number")
    arrays = {name: np.array(cells, FIELDS[name]) for name, cells in held.items()}
    return Tree(value=value, **arrays)


def _cut_of(test: Mapping[str, Any]) -> float:
    """The threshold of a test; infinite if it only tests whether there is a value."""
    return math.inf if test["type"] == "present" else float(test["threshold"])


def _side_table(held: dict[str, list[Any]], test: Mapping[str, Any], schema: Schema) -> int:
    """Add the levels or cuts of a test to its side table; returns their position, -1 for a threshold test."""
    kind = _SIDES.get(test["type"])
    if kind == INTERVALS:
        begin = len(held["cuts"])
        held["cuts"] += [float(cut) for cut in test["cuts"]]
        return begin
    if kind is None:
        return -1
    column = schema.columns[test["column"]]
    branch_of = {code: at for at, side in enumerate(test["levels"]) for code in _codes(column, side)}
    absent = {code: at for at, side in enumerate(test["absent_levels"]) for code in _codes(column, side)}
    every, unseen = {**branch_of, **absent}, test["unseen_branch"]
    ways = [every[code] for code in range(len(column.levels))]
    if kind == MULTIWAY:
        begin = len(held["level_branch"])
        ways.append(unseen)
        held["level_branch"] += [at if code in branch_of else ~at for code, at in enumerate(ways)]
        return begin
    begin = len(held["levels_left"])
    held["levels_left"] += _words([at == 0 for at in ways] + [unseen == 0])
    held["levels_seen"] += _words([code in branch_of for code in range(len(ways))] + [False])
    return begin


def _add_surrogate(held: dict[str, list[Any]], stated: Mapping[str, Any], schema: Schema, node: int) -> None:
    """Append a surrogate test."""
    begin = -1
    if stated["type"] == "subset":
        column = schema.columns[stated["column"]]
        left, right = (set(_codes(column, side)) for side in stated["levels"])
        codes, begin = range(len(column.levels)), len(held["levels_left"])
        held["levels_left"] += _words([code in left for code in codes] + [False])
        held["levels_seen"] += _words([code in left or code in right for code in codes] + [False])
    held["surrogate_node"].append(node)
    held["surrogate_feature"].append(stated["column"])
    held["surrogate_threshold"].append(0.0 if begin >= 0 else _cut_of(stated))
    held["surrogate_level_set"].append(begin)
    held["surrogate_flipped"].append(int(stated["flipped"]))
    held["surrogate_agreement"].append(float(stated["agreement"]))
    held["surrogate_adjusted"].append(float(stated["adjusted"]))


def _codes(column: Column, levels: Sequence[Any]) -> list[int]:
    """The codes of levels from their JSON values."""
    return [column.codes[float(level) if level in ("nan", "inf", "-inf") and level not in column.codes else level]
            for level in levels]  # fmt: skip


def _words(bits: Sequence[bool]) -> list[int]:
    """Bits as words of 64."""
    words = [0] * ((len(bits) - 1) // 64 + 1)
    for at, bit in enumerate(bits):
        words[at >> 6] |= int(bit) << (at & 63)
    return words
