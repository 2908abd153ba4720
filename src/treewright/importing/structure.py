"""Reading our own JSON. In: the bytes of ``model.export("m.json")``. Out: a ``ModelData`` with equal predictions.

Values without a type in JSON were written as text and are read as text: levels and labels that are dates, names that
are tuples. The targets in the leaves of a forest of quantiles are not in the file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from treewright.data.schema import Column, Schema
from treewright.exceptions import InputFileError
from treewright.export.structure import FORMAT, VERSION
from treewright.importing.reading import json_of
from treewright.model.aggregation import Boosting, grid_from_json
from treewright.model.data import ModelData
from treewright.model.repacking import checked, kept_trees
from treewright.model.threshold import threshold_from_json
from treewright.tree.arrays import FIELDS, INTERVALS, LEAF, MULTIWAY, SUBSET, THRESHOLD, Tree

_SIDES = {"subset": SUBSET, "multiway": MULTIWAY, "intervals": INTERVALS, "rank_intervals": INTERVALS}


def begins(head: bytes, ending: str) -> bool:
    """Whether a file with these first bytes is our own JSON."""
    del ending
    return b'"' + FORMAT.encode() + b'"' in head


def of_file(data: bytes) -> ModelData:
    """The model in the bytes of a file.

    Raises
    ------
    InputFileError
        It was written by a newer version, or contradicts itself.
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
