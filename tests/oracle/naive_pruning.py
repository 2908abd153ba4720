"""Five pruners as they are written down, recursive and from the rows. In: a nested tree. Out: which nodes are cut.

Caller: test_pruning_twins. Costs that differ by a part in 10^12 are equal, as for the pruners under test.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from scipy import special, stats

Node = dict[str, Any]


def leaves_of(node: Node) -> Iterator[Node]:
    if not node["children"]:
        yield node
    for child in node["children"]:
        yield from leaves_of(child)


def inner_of(node: Node) -> Iterator[Node]:
    if node["children"]:
        yield node
    for child in node["children"]:
        yield from inner_of(child)


def weight_of(node: Node) -> float:
    return sum(weight for _, weight in node["rows"])


def counts_of(node: Node, target: np.ndarray, output: int) -> list[float]:
    return [sum(weight for row, weight in node["rows"] if target[row, output] == label) for label in range(3)]


def at_most(one: float, other: float) -> bool:
    return one <= other + 1e-12 * max(abs(one), abs(other))


def least_cost(
    node: Node, of_leaf: Callable[[Node], float], of_split: Callable[[Node], float]
) -> tuple[float, list[int]]:
    """The cheapest subtree and the nodes that were cut, those below others of them included."""
    if not node["children"]:
        return of_leaf(node), []
    below = [least_cost(child, of_leaf, of_split) for child in node["children"]]
    cost = of_split(node) + sum(each for each, _ in below)
    cut = [at for _, nodes in below for at in nodes]
    if at_most(of_leaf(node), cost):
        return of_leaf(node), [*cut, node["at"]]
    return cost, cut


def pessimistic(root: Node, target: np.ndarray, per_leaf: float, standard_errors: float) -> list[int]:
    n_outputs = target.shape[1]

    def corrected(node: Node) -> float:
        if not node["rows"]:
            return 0.0
        counts = [counts_of(node, target, output) for output in range(n_outputs)]
        return sum(sum(each) - max(each) for each in counts) / n_outputs + per_leaf * min(weight_of(node), 1.0)

    def visit(node: Node) -> list[int]:
        if not node["children"]:
            return []
        n, errors = weight_of(node), sum(map(corrected, leaves_of(node)))
        spread = math.sqrt(max(errors * (n - errors) / n, 0.0))
        if at_most(corrected(node), errors + standard_errors * spread):
            return [node["at"]]
        return [at for child in node["children"] for at in visit(child)]

    return visit(root)


def minimum_error_of_classes(root: Node, target: np.ndarray, m: float | None) -> list[int]:
    def static(node: Node) -> float:
        n = weight_of(node)
        if n == 0:
            return 0.0
        error = 0.0
        for output in range(target.shape[1]):
            extra = 3.0 if m is None else m
            prior = [count / weight_of(root) for count in counts_of(root, target, output)]
            counts = counts_of(node, target, output)
            error += min((n - count + (1 - p) * extra) / (n + extra) for count, p in zip(counts, prior, strict=True))
        return n * error / target.shape[1]

    return least_cost(root, static, lambda node: 0.0)[1]


def minimum_error_of_numbers(root: Node, target: np.ndarray, m: float) -> list[int]:
    def moments(node: Node, output: int) -> tuple[float, float]:
        first = sum(weight * target[row, output] for row, weight in node["rows"])
        return first, sum(weight * target[row, output] ** 2 for row, weight in node["rows"])

    def static(node: Node) -> float:
        # As many rows of the root's kind, where the tree's rows weigh 1 on average.
        n, n0, variance = weight_of(node), weight_of(root), 0.0
        extra = m * n0 / len(root["rows"])
        if n == 0:
            return 0.0
        for output in range(target.shape[1]):
            (first, second), (first0, second0) = moments(node, output), moments(root, output)
            mean = (first + extra * first0 / n0) / (n + extra)
            variance += (second + extra * second0 / n0) / (n + extra) - mean**2
        return n * variance / target.shape[1]

    return least_cost(root, static, lambda node: 0.0)[1]


def p_value_of_classes(node: Node, target: np.ndarray) -> float:
    p_values = []
    for output in range(target.shape[1]):
        table = np.array([counts_of(child, target, output) for child in node["children"] if child["rows"]])
        table = table[:, table.sum(axis=0) > 0]
        alone = min(table.shape) < 2
        p_values.append(1.0 if alone else float(stats.chi2_contingency(table, correction=False).pvalue))
    return min(min(p_values) * len(p_values), 1.0)


def p_value_of_numbers(node: Node, target: np.ndarray) -> float:
    """Weighted least squares: does a mean for each branch fit better than a mean for all?"""
    held = [child for child in node["children"] if child["rows"]]
    n_rows = sum(len(child["rows"]) for child in held)
    if len(held) < 2 or n_rows == len(held):
        return 1.0
    groups = [{target[row, 0] for row, _ in child["rows"]} for child in held]
    if all(len(group) == 1 for group in groups):
        return 1.0 if len(set.union(*groups)) == 1 else 0.0
    root = np.sqrt([weight for child in held for _, weight in child["rows"]])
    y = np.array([target[row, 0] for child in held for row, _ in child["rows"]])
    of_branch = np.repeat(np.eye(len(held)), [len(child["rows"]) for child in held], axis=0)
    misfits = [
        float(((root * y - design @ np.linalg.lstsq(design, root * y, rcond=None)[0]) ** 2).sum())
        for design in (root[:, None], root[:, None] * of_branch)
    ]
    dof = len(held) - 1, n_rows - len(held)
    return float(stats.f.sf((misfits[0] - misfits[1]) / dof[0] / (misfits[1] / dof[1]), *dof))


def adjusted(p_values: list[float], how: str | None) -> list[float]:
    k = len(p_values)
    if how is None or k == 0:
        return p_values
    if how == "bonferroni":
        return [min(p * k, 1.0) for p in p_values]
    if how == "fdr":
        return list(stats.false_discovery_control(p_values))
    out, largest = [0.0] * k, 0.0
    for rank, at in enumerate(sorted(range(k), key=lambda at: p_values[at])):
        largest = max(largest, p_values[at] * (k - rank))
        out[at] = min(largest, 1.0)
    return out


def significance(root: Node, p_value: Callable[[Node], float], limit: float, how: str | None) -> list[int]:
    inner = list(inner_of(root))
    p_values = dict(zip([node["at"] for node in inner], adjusted([p_value(node) for node in inner], how), strict=True))
    cut: list[int] = []

    def stays(node: Node) -> bool:
        """Whether the node is an inner node afterwards."""
        if not node["children"]:
            return False
        stay = [stays(child) for child in node["children"]]
        if any(stay):
            return True
        if p_values[node["at"]] <= limit:
            return True
        cut.append(node["at"])
        return False

    stays(root)
    return cut


@cache
def ways_to_group(v: int, b: int) -> int:
    """Stirling's number of the second kind."""
    if v == 0 or b == 0:
        return int(v == b)
    return b * ways_to_group(v - 1, b) + ways_to_group(v - 1, b - 1)


def split_bits(node: Node, matrix: np.ndarray, n_levels: tuple[int, ...], n_rows: float) -> float:
    column, kind, spec, _, _, _ = node["test"]
    held = {int(matrix[row, column]) for row, _ in node["rows"] if not math.isnan(matrix[row, column])}
    v = n_levels[column]
    places = (min(n_rows, v) if v else n_rows) - 1
    if kind == 1:
        choices = max(places, 1)
    elif kind == 2:
        choices = 2 ** max(len(held) - 1, 0)
    elif kind == 3:
        groups = len({spec[code] for code in held})
        choices = ways_to_group(len(held), groups)
    else:
        n_cuts = sum(cut < math.inf for cut in spec)
        choices = float(special.binom(places, n_cuts)) if places > n_cuts > 1 else max(places, 1) if n_cuts == 1 else 1
    return math.log2(len(n_levels)) + math.log2(choices)


def description_of_classes(root: Node, target: np.ndarray, matrix: np.ndarray, n_levels: tuple[int, ...]) -> list[int]:
    def bits(node: Node) -> float:
        n, k = weight_of(node), 3
        if n == 0:
            return 1.0
        total = 1.0
        for output in range(target.shape[1]):
            total += sum(count * math.log2(n / count) for count in counts_of(node, target, output) if count)
            shares = (k - 1) / 2 * math.log2(n / 2) + math.log2(math.pi ** (k / 2) / math.gamma(k / 2))
            total += max(shares, min(n, 1) * math.log2(k))
        return total

    return least_cost(root, bits, lambda node: 1 + split_bits(node, matrix, n_levels, weight_of(node)))[1]


def squares_of(node: Node, target: np.ndarray) -> float:
    if not node["rows"]:
        return 0.0
    mean = sum(weight * target[row, 0] for row, weight in node["rows"]) / weight_of(node)
    return sum(weight * (target[row, 0] - mean) ** 2 for row, weight in node["rows"])


def description_of_numbers(
    root: Node, target: np.ndarray, matrix: np.ndarray, n_levels: tuple[int, ...], noise: float | None
) -> tuple[list[int], float]:
    average = weight_of(root) / len(root["rows"])

    def cut_for(variance: float) -> list[int]:
        def bits(node: Node) -> float:
            n = len(node["rows"])
            if n == 0:
                return 1.0
            misfit = squares_of(node, target) / average / (2 * variance * math.log(2))
            return 1 + misfit + n / 2 * math.log2(2 * math.pi * variance) + 0.5 * math.log2(max(n, 1))

        return least_cost(root, bits, lambda node: 1 + split_bits(node, matrix, n_levels, len(node["rows"])))[1]

    if noise is not None:
        return cut_for(noise**2), noise

    def spread(node: Node, cut: list[int]) -> tuple[float, int]:
        """Squares and leaves of a pruned tree."""
        if not node["children"] or node["at"] in cut:
            return squares_of(node, target) / average, 1
        below = [spread(child, cut) for child in node["children"]]
        return sum(squares for squares, _ in below), sum(leaves for _, leaves in below)

    variance, cut = math.inf, [root["at"]]
    while True:
        squares, n_leaves = spread(root, cut)
        dof = len(root["rows"]) - n_leaves
        if squares < 1e-20 or dof <= 0 or squares / dof >= variance * (1 - 1e-9):
            # No spread at all: any noise will do.
            return (cut_for(1.0), 1.0) if variance == math.inf else (cut, math.sqrt(variance))
        variance = squares / dof
        cut = cut_for(variance)


def merge_equal_leaves(root: Node, says: Callable[[Node], tuple], names_own: bool) -> list[int]:
    """``says``: what a node predicts; ``names_own``: whether the node itself has to say it as well."""
    cut: list[int] = []

    def visit(node: Node) -> tuple | None:
        """What the node says as a leaf; None if it stays an inner node."""
        if not node["children"]:
            return says(node)
        below = {visit(child) for child in node["children"]}
        if len(below) == 1 and None not in below and (not names_own or says(node) in below):
            cut.append(node["at"])
            return below.pop()
        return None

    visit(root)
    return cut
