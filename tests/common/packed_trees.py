"""Random trees on bins, from rows. In: a seed. Out: packed trees, and the nested trees and rows they came from.

A nested node is a dict: ``rows`` (row, times drawn), ``question`` (None at a leaf), ``children``, ``at`` (position).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from treewright.data.bins import Bins, bins_of
from treewright.data.schema import Column, Schema
from treewright.trees.packed import PackedTrees, pack_one

Node = dict[str, Any]
MISSING = 255
LEVELS = tuple(f"level {code}" for code in range(70))
SCHEMA = Schema((
    Column("x", "numeric"),
    Column("size", "ordinal", ("S", "M", "L"), family="string"),
    Column("city", "nominal", LEVELS, family="string"),
    Column("y", "numeric"),
))  # fmt: skip


class Drawn(NamedTuple):
    """Trees and what they were made from."""

    parts: list[PackedTrees]
    roots: list[Node]
    bins: Bins
    cells: np.ndarray  # int[n, p]: bins of the rows
    target: np.ndarray  # int64 or float64 [n, n_outputs]
    weights: np.ndarray  # float64[n]
    criterion: str
    n_classes: tuple[int, ...]


def draw(
    seed: int,
    criterion: str = "gini",
    *,
    n_trees: int = 3,
    n_rows: int = 60,
    n_classes: tuple[int, ...] = (3,),
    n_outputs: int = 1,
    weights: tuple[float, ...] = (1.0,),
    depth: int = 6,
) -> Drawn:
    """Trees with random questions; targets are class codes for a criterion of classes, else numbers."""
    rng = np.random.default_rng(seed)
    matrix = np.column_stack([
        rng.choice([0.5, 1.5, 2.0, 4.0, 8.0], n_rows),
        rng.integers(0, 3, n_rows).astype(float),
        rng.integers(0, 60, n_rows).astype(float),
        rng.normal(size=n_rows).round(1),
    ])  # fmt: skip
    matrix[rng.random(matrix.shape) < 0.1] = np.nan
    bins = bins_of(matrix, SCHEMA, max_bins=40)
    if criterion in ("squared_error", "poisson"):
        n_classes = ()
        target: np.ndarray = rng.poisson(2.0, (n_rows, n_outputs)) + np.round(rng.random((n_rows, n_outputs)), 2)
    else:
        target = np.column_stack([rng.integers(0, count, n_rows) for count in n_classes])
    cells = binned(bins, matrix)
    roots, parts = [], []
    held = rng.choice(weights, n_rows)
    for _ in range(n_trees):
        times = np.bincount(rng.integers(0, n_rows, n_rows), minlength=n_rows)
        rows = [(row, int(times[row])) for row in range(n_rows) if times[row]]
        root = grow(rng, bins, cells, rows, depth, is_root=True)
        roots.append(root)
        parts.append(packed_of(rng, root, bins, target, held, criterion, n_classes))
    return Drawn(parts, roots, bins, cells, target, held, criterion, n_classes)


def binned(bins: Bins, matrix: np.ndarray) -> np.ndarray:
    """Bins of cells, one by one."""
    cells = np.full(matrix.shape, MISSING)
    for (row, column), cell in np.ndenumerate(matrix):
        if np.isnan(cell):
            continue
        if bins.is_nominal[column]:
            cells[row, column] = bins.level_bin[bins.level_start[column] + int(cell)]
        else:
            begin, end = bins.start[column : column + 2]
            cells[row, column] = next(b for b in range(end - begin) if cell <= bins.highest[begin + b])
    return cells


def goes_left(question: tuple[Any, ...], cells: np.ndarray) -> bool:
    """The answer of a question for one row of bins."""
    kind, column, left, _, missing = question
    if cells[column] == MISSING:
        return bool(missing == 0)
    return bool(cells[column] <= left if kind == "cut" else cells[column] in left)


def grow(
    rng: np.random.Generator,
    bins: Bins,
    cells: np.ndarray,
    rows: list[tuple[int, int]],
    depth: int,
    *,
    is_root: bool = False,
) -> Node:
    """A nested tree with random questions that part the rows; the root is no leaf if any question can help it."""
    node: Node = {"rows": rows, "question": None, "children": []}
    for _ in range(50 if is_root else 4 if depth and rng.random() < 0.9 else 0):
        column, missing = int(rng.integers(len(SCHEMA))), int(rng.integers(2))
        here = {int(cells[row, column]) for row, _ in rows} - {MISSING}
        if bins.is_nominal[column]:
            left = {b for b in range(int(bins.n_bins[column]) + 1) if rng.random() < 0.5}
            question = ("set", column, left, here, missing)
        else:
            question = ("cut", column, int(rng.integers(bins.n_bins[column])), here, missing)
        sides: tuple[list[tuple[int, int]], ...] = ([], [])
        for row, times in rows:
            sides[0 if goes_left(question, cells[row]) else 1].append((row, times))
        if sides[0] and sides[1]:
            node["question"] = question
            node["children"] = [grow(rng, bins, cells, side, depth - 1) for side in sides]
            break
    return node


def amounts_of(
    rows: list[tuple[int, int]], target: np.ndarray, weights: np.ndarray, criterion: str, n_classes: tuple[int, ...]
) -> tuple[int, float, float, list[float]]:
    """Samples, weight, impurity and value of a node, from its rows and the definitions."""
    samples = sum(times for _, times in rows)
    total = sum(times * weights[row] for row, times in rows)
    value: list[float] = []
    impurity = 0.0
    for output in range(target.shape[1]):
        held = [(target[row, output], times * weights[row]) for row, times in rows]
        if n_classes:
            counts = [sum(w for label, w in held if label == k) for k in range(n_classes[output])]
            value += counts
            shares = [count / total for count in counts]
            if criterion == "gini":
                impurity += 1 - sum(share**2 for share in shares)
            elif criterion == "misclassification":
                impurity += 1 - max(shares)
            else:
                impurity -= sum(share * math.log2(share) for share in shares if share)
            continue
        mean = sum(w * y for y, w in held) / total
        value.append(mean)
        if criterion == "squared_error":
            impurity += sum(w * (y - mean) ** 2 for y, w in held) / total
        else:
            impurity += sum(w * (y * math.log(y / mean) if y else 0.0) for y, w in held) / total
    return samples, total, max(impurity / target.shape[1], 0.0), value


def flat(rng: np.random.Generator, root: Node) -> list[Node]:
    """All nodes, parents before children, siblings side by side, else in random order; ``at`` is filled in."""
    nodes, waiting = [root], [root]
    root["at"] = 0
    while waiting:
        node = waiting.pop(int(rng.integers(len(waiting))))
        for child in node["children"]:
            child["at"] = len(nodes)
            nodes.append(child)
            waiting.append(child)
    return nodes


def bits(numbers: set[int]) -> list[int]:
    """Four words with these bits."""
    return [sum(1 << number - 64 * word for number in numbers if number >> 6 == word) for word in range(4)]


def packed_of(
    rng: np.random.Generator,
    root: Node,
    bins: Bins,
    target: np.ndarray,
    weights: np.ndarray,
    criterion: str,
    n_classes: tuple[int, ...],
) -> PackedTrees:
    """A nested tree by ``pack_one``; what it says it does not read is filled with nonsense."""
    nodes = flat(rng, root)
    n = len(nodes)
    subsets = [node for node in nodes if node["question"] and node["question"][0] == "set"]
    order = rng.permutation(len(subsets))
    sets, seen = rng.integers(0, 2**63, (2, len(subsets) + 1, 4)).astype(np.uint64)
    arrays: dict[str, Any] = {
        "column": rng.integers(-5, 5, n).astype(np.int32),
        "cut": rng.integers(0, 255, n).astype(np.uint8),
        "missing_branch": np.full(n, -1, np.int8),
        "first_child": np.full(n, -1, np.int32),
        "set_of": np.full(n, -1, np.int32),
        "leaf_value": np.full((n, sum(n_classes) or target.shape[1]), np.nan),
        "leaf_weight": None if n_classes else np.full(n, np.nan),
        "leaf_impurity": None if n_classes else np.full(n, np.nan),
        "leaf_samples": np.full(n, -7, np.int64),
    }
    for node in nodes:
        at = node["at"]
        if not node["question"]:
            found = amounts_of(node["rows"], target, weights, criterion, n_classes)
            for name, amount in zip(("leaf_samples", "leaf_weight", "leaf_impurity", "leaf_value"), found, strict=True):
                if arrays[name] is not None:
                    arrays[name][at] = amount
            continue
        kind, column, left, here, missing = node["question"]
        arrays["column"][at], arrays["missing_branch"][at] = column, missing
        arrays["first_child"][at] = node["children"][0]["at"]
        if kind == "cut":
            last = left == bins.n_bins[column] - 1
            arrays["cut"][at] = 254 if last else left
            continue
        arrays["set_of"][at] = place = order[[node is other for other in subsets].index(True)]
        beyond = {b for b in range(int(bins.n_bins[column]) + 1, 256) if rng.random() < 0.5}
        sets[place] = bits(left | beyond)
        seen[place] = bits(here | beyond | {int(bins.n_bins[column])})
    share = rng.random(len(SCHEMA))
    return pack_one(bins, criterion, n_classes, sets=sets, seen=seen, importances=share / share.sum(), **arrays)
