"""C4.5's pruning as the procedure is told: recursive, rows at every node. In: a nested tree. Out: the same, pruned.

Callers: tests/unit/prune/test_error_based.py, test_error_based_pruner.py.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from statistics import NormalDist

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "predict"))
from random_trees import Node, branch, counts_of, divided


def slow_added(n: float, e: float, cf: float) -> float:
    """The rule as it is written down, recursion included."""
    if e < 1:
        base = n * (1 - cf ** (1 / n))
        return base if e == 0 else base + e * (slow_added(n, 1.0, cf) - base)
    if e + 0.5 >= n:
        return max(n - e, 0.0)
    z = NormalDist().inv_cdf(1 - cf)
    f = (e + 0.5) / n
    r = (f + z**2 / (2 * n) + z * math.sqrt(f / n - f**2 / n + z**2 / (4 * n**2))) / (1 + z**2 / n)
    return r * n - e


def one_way(test, rows: list[tuple[int, float]], matrix: np.ndarray) -> list[list[tuple[int, float]]]:
    """The rows of each branch; a missing value takes the missing branch."""
    out: list[list[tuple[int, float]]] = [[] for _ in range(test[4])]
    for row, weight in rows:
        at = branch(test, matrix[row, test[0]])
        out[at if at >= 0 else test[3]].append((row, weight))
    return out


def wrong(node: Node) -> float:
    return float(node["counts"].sum() - node["counts"].max())


def estimated(counts: np.ndarray, cf: float) -> float:
    total = float(counts.sum())
    errors = total - float(counts.max())
    return 0.0 if total < 1e-6 else errors + slow_added(total, errors, cf)


def training_errors(node: Node) -> float:
    return wrong(node) if node["test"] is None else sum(map(training_errors, node["children"]))


def cut(node: Node) -> None:
    node["test"], node["children"] = None, []


def collapse(node: Node) -> None:
    if node["test"] is None:
        return
    if training_errors(node) >= wrong(node) - 1e-3:
        cut(node)
    for child in node["children"]:
        collapse(child)


class Twin:
    """``divide`` sends rows into branches; where tests keep their missing branch, ``keeps_ways``."""

    def __init__(
        self, matrix: np.ndarray, codes: np.ndarray, cf: float, raising: bool, *, divide=divided, keeps_ways=False
    ) -> None:
        self.matrix, self.codes, self.cf, self.raising, self.n_raised = matrix, codes, cf, raising, 0
        self.divide, self.keeps_ways = divide, keeps_ways

    def tree_errors(self, node: Node) -> float:
        if node["test"] is None:
            return estimated(node["counts"], self.cf)
        return sum(map(self.tree_errors, node["children"]))

    def branch_errors(self, node: Node, rows: list[tuple[int, float]]) -> float:
        if node["test"] is None:
            return estimated(counts_of(rows, self.codes, len(node["counts"])), self.cf)
        parts = self.divide(node["test"], rows, self.matrix)
        return sum(self.branch_errors(child, part) for child, part in zip(node["children"], parts, strict=True))

    def remake(self, node: Node, rows: list[tuple[int, float]]) -> None:
        before = node["counts"].sum()
        node["rows"], node["counts"] = rows, counts_of(rows, self.codes, len(node["counts"]))
        if node["test"] is not None:
            for child, part in zip(node["children"], self.divide(node["test"], rows, self.matrix), strict=True):
                self.remake(child, part)
            if not self.keeps_ways and not math.isclose(node["counts"].sum(), before, rel_tol=1e-9):
                weights = [child["counts"].sum() for child in node["children"]]
                heaviest = int(np.argmax(weights)) if len(weights) != 2 else int(weights[0] <= weights[1])
                node["test"] = (*node["test"][:3], heaviest, *node["test"][4:])

    def prune(self, node: Node) -> None:
        if node["test"] is None:
            return
        for child in node["children"]:
            self.prune(child)
        weights = [child["counts"].sum() for child in node["children"]]
        # Of equals the last.
        largest = node["children"][max(at for at, weight in enumerate(weights) if weight >= max(weights) - 1e-6)]
        as_branch = self.branch_errors(largest, node["rows"]) if self.raising else math.inf
        as_leaf, as_tree = estimated(node["counts"], self.cf), self.tree_errors(node)
        if as_leaf <= as_tree + 0.1 + 1e-6 and as_leaf <= as_branch + 0.1 + 1e-6:
            cut(node)
        elif as_branch <= as_tree + 0.1 + 1e-6:
            self.n_raised += 1
            node["test"], node["children"], node["counts"] = largest["test"], largest["children"], largest["counts"]
            self.remake(node, node["rows"])
            self.prune(node)
