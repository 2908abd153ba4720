"""Random small tables for the estimators and their twin, and the comparison. In: a seed. Out: a difference in words.

Caller: test_by_node_against_twin.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from naive_by_node import LEVELS, TwinNode, TwinRules, TwinTable, TwinTest
from naive_costs import CLASSIFICATION, Costs

from treewright.trees.arrays import LEAF, Tree

DECREASES = (0.0101, 0.05003, 0.2007)  # that no exact gain hits by chance


@dataclass
class Drawn:
    """A table as the estimators take it, and as the twin does."""

    table: dict[str, Any]
    y: np.ndarray
    weights: np.ndarray | None
    declared: dict[str, dict[str, list[str]]]
    twin: TwinTable

    def fit(self, estimator: Any) -> Tree:
        """The estimator's tree."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a column is constant is no news here
            return estimator.set_params(**self.declared).fit(self.table, self.y, self.weights).tree_


def level(code: int) -> str:
    return f"level {code:02d}"


def draw(
    rng: np.random.Generator,
    criterion: str,
    n_classes: int,
    n_outputs: int = 1,
    *,
    kinds: tuple[str, ...] = ("numeric", "ordinal", "nominal", "nominal"),
    gaps: bool = True,
    ordinal_levels: bool = False,
) -> Drawn:
    """A table of few distinct values, so that ties are the rule; levels may be declared that no row holds."""
    n, p = int(rng.integers(2, 31)), int(rng.integers(1, 5))
    table: dict[str, Any] = {}
    declared: dict[str, dict[str, list[str]]] = {"nominal": {}, "ordinal": {}}
    columns, n_levels = [], []
    for at in range(p):
        kind = kinds[rng.integers(len(kinds))]
        size = int(rng.integers(1, 6 if kind == "nominal" else 9))
        missing = rng.random(n) < (rng.choice([0.0, 0.1, 0.25, 0.4]) if gaps else 0.0)
        cells = [None if gone else int(cell) for cell, gone in zip(rng.integers(0, size, n), missing, strict=True)]
        columns.append(cells)
        if kind == "numeric":
            table[f"x{at}"] = np.array([np.nan if cell is None else float(cell) for cell in cells])
        else:
            table[f"x{at}"] = [None if cell is None else level(cell) for cell in cells]
            declared[kind][f"x{at}"] = [level(code) for code in range(size)]
        n_levels.append(size if kind == "nominal" or (kind == "ordinal" and ordinal_levels) else 0)
    y, n_kept = _target(rng, n, criterion, n_classes, n_outputs)
    weights = [None, rng.integers(1, 4, n), rng.integers(0, 3, n)][rng.integers(3)]
    if weights is not None and (not weights.any() or (criterion == "poisson" and not (weights @ y > 0).all())):
        weights = None
    whole = [1] * n if weights is None else [int(w) for w in weights]
    costs = Costs(criterion, [tuple(int(v) for v in row) for row in y], n_kept)
    twin = TwinTable(columns, n_levels, whole, costs)
    given = y[:, 0] if n_outputs == 1 else y
    kept = {name: mapping for name, mapping in declared.items() if mapping}
    return Drawn(table, given, None if weights is None else weights.astype(float), kept, twin)


def _target(
    rng: np.random.Generator, n: int, criterion: str, n_classes: int, n_outputs: int
) -> tuple[np.ndarray, tuple[int, ...]]:
    """Whole numbers, and the classes per output; every class is drawn."""
    if criterion not in CLASSIFICATION:
        y = rng.integers(0, rng.choice([2, 4, 30]), (n, n_outputs))
        if criterion == "poisson":
            y[0] += 1
        return y, ()
    y = rng.integers(0, n_classes, (n, n_outputs))
    codes = [np.unique(column, return_inverse=True) for column in y.T]
    return np.stack([code for _, code in codes], axis=1), tuple(len(labels) for labels, _ in codes)


def draw_limits(rng: np.random.Generator, rules: TwinRules) -> dict[str, Any]:
    """Some limits on growth: written into the twin's rules, returned as parameters."""
    choices: dict[str, tuple[Any, ...]] = {
        "max_depth": (1, 2, 3),
        "min_samples_split": (3, 6),
        "min_samples_leaf": (2, 3, 5),
        "min_impurity_decrease": DECREASES,
        "max_leaf_nodes": (2, 3, 4, 6, 9),
    }
    chosen = {}
    for name, values in choices.items():
        if rng.random() < 0.2:
            chosen[name] = values[rng.integers(len(values))]
            setattr(rules, name, chosen[name])
    return chosen


def difference(tree: Tree, nodes: list[TwinNode], twin: TwinTable) -> str:
    """The first difference between a tree and its twin in words; empty where there is none.

    Node by node from the root: grown best-first, the two growers number their nodes differently.
    """
    waiting = [(0, nodes[0])]
    n_seen = 0
    while waiting:
        at, node = waiting.pop(0)
        n_seen += 1
        found = _node_difference(tree, at, node, twin)
        if found:
            return f"node {at}: {found}"
        waiting += [(int(tree.first_child[at]) + branch, child) for branch, child in enumerate(node.children)]
    return "" if tree.n_nodes == n_seen else f"{tree.n_nodes} nodes, the twin has {n_seen}"


def _node_difference(tree: Tree, at: int, node: TwinNode, twin: TwinTable) -> str:
    test = node.test
    expected = {
        "kind": LEAF if test is None else test.kind,
        "feature": -1 if test is None else test.column,
        "threshold": 0.0 if test is None else test.threshold,
        "n_branches": len(node.children),
        "missing_branch": node.missing_branch,
        "n_samples": len(node.instances),
    }
    for name, wanted in expected.items():
        if getattr(tree, name)[at] != wanted:
            return f"{name} {getattr(tree, name)[at]}, the twin has {wanted} ({test})"
    numbers = {
        "weight": [float(sum(weight for _, weight in node.instances))],
        "impurity": [float(node.impurity)],
        "value": node.value,
    }
    for name, wanted in numbers.items():
        found = np.atleast_1d(getattr(tree, name)[at])
        if len(found) != len(wanted) or not np.allclose(found, wanted, rtol=1e-11, atol=1e-11):
            return f"{name} {found}, the twin has {wanted}"
    return _levels_difference(tree, at, node, test, twin) or _surrogate_difference(tree, at, node, twin)


def bits_at(words: np.ndarray, offset: int, n_levels: int) -> set[int]:
    """The set bits of a node's words."""
    return {code for code in range(n_levels + 1) if int(words[offset + code // 64]) >> (code % 64) & 1}


def _levels_difference(tree: Tree, at: int, node: TwinNode, test: TwinTest | None, twin: TwinTable) -> str:
    if test is None or not test.sides:
        return "" if tree.level_set[at] == -1 else f"level_set {tree.level_set[at]}"
    v, offset = twin.n_levels[test.column], int(tree.level_set[at])
    if test.kind == LEVELS:
        wanted = [test.sides.get(code, ~code) for code in range(v)] + [~node.unseen_branch]
        found = tree.level_branch[offset : offset + v + 1].tolist()
        return "" if found == wanted else f"level_branch {found}, the twin has {wanted}"
    return _set_difference(tree, offset, v, test.sides, node.unseen_branch, test.placed)


def _set_difference(
    tree: Tree, offset: int, v: int, sides: dict[int, int], unseen: int, placed: dict[int, int] | None = None
) -> str:
    """Levels that were not there go where they stand in a run, or else the way of a level never seen."""
    left = {code for code in range(v + 1) if {**(placed or {}), **sides}.get(code, unseen) == 0}
    if bits_at(tree.levels_left, offset, v) != left:
        return f"levels_left {bits_at(tree.levels_left, offset, v)}, the twin has {left}"
    if bits_at(tree.levels_seen, offset, v) != set(sides):
        return f"levels_seen {bits_at(tree.levels_seen, offset, v)}, the twin has {set(sides)}"
    return ""


def _surrogate_difference(tree: Tree, at: int, node: TwinNode, twin: TwinTable) -> str:
    places = np.flatnonzero(tree.surrogate_node == at).tolist()
    if len(places) != len(node.surrogates):
        return f"{len(places)} surrogates, the twin has {node.surrogates}"
    for place, wanted in zip(places, node.surrogates, strict=True):
        found = (
            int(tree.surrogate_feature[place]),
            float(tree.surrogate_threshold[place]),
            int(tree.surrogate_flipped[place]),
        )
        if found != (wanted.column, wanted.threshold, wanted.flipped):
            return f"surrogate {found}, the twin has {wanted}"
        shares = (tree.surrogate_agreement[place], tree.surrogate_adjusted[place])
        if not np.allclose(shares, (float(wanted.agreement), float(wanted.adjusted)), rtol=1e-11, atol=1e-11):
            return f"surrogate agrees {shares}, the twin has {wanted}"
        offset = int(tree.surrogate_level_set[place])
        if (offset >= 0) != (wanted.sides is not None):
            return f"surrogate level set {offset}, the twin has {wanted}"
        if wanted.sides is not None:
            v = twin.n_levels[wanted.column]
            problem = _set_difference(tree, offset, v, wanted.sides, wanted.otherwise)
            if problem:
                return f"surrogate on column {wanted.column}: {problem}"
    return ""
