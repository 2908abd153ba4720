"""A slow twin of contributions: the value of every set of players, and Shapley's formula, word for word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import factorial

import numpy as np

from treewright.predict.route import branches_of, surrogate_branch, surrogates_of
from treewright.trees.arrays import INTERVALS, MULTIWAY, SUBSET, THRESHOLD, Tree
from treewright.trees.data import ModelData
from treewright.trees.tests import level_branches, node_levels

ValueOf = Callable[[frozenset[int]], np.ndarray]


def ways(model: ModelData, tree: Tree, node: int, row: np.ndarray) -> dict[int, float]:
    """The part of a row that takes each branch of a node."""
    column, x = model.schema.columns[int(tree.feature[node])], float(row[tree.feature[node]])
    kind, k = int(tree.kind[node]), int(tree.n_branches[node])
    first = int(tree.first_child[node])
    if np.isnan(x):
        if model.missing == "fractional":
            return {b: cover(tree, node, first + b) for b in range(k)}
        if model.missing == "surrogate":
            return {int(surrogate_branch(branches_of(tree), surrogates_of(tree), row[None], 0, node)): 1.0}
        return {int(tree.missing_branch[node]): 1.0}
    if kind == THRESHOLD:
        return {0 if x <= tree.threshold[node] else 1: 1.0}
    if kind == SUBSET:
        return {0 if node_levels(column, tree, node)[0][int(x)] else 1: 1.0}
    if kind == MULTIWAY:
        return {int(level_branches(column, tree, node)[0][int(x)]): 1.0}
    assert kind == INTERVALS
    start = int(tree.level_set[node])
    return {int((tree.cuts[start : start + k - 1] < x).sum()): 1.0}


def cover(tree: Tree, node: int, child: int) -> float:
    """The share of a node's training weight that went to a child; equal shares where there was none."""
    if tree.weight[node] > 0:
        return float(tree.weight[child] / tree.weight[node])
    return 1.0 / int(tree.n_branches[node])


def contents(model: ModelData) -> list[np.ndarray]:
    """What each tree's leaves add to the outputs, nodes by nodes."""
    aggregation, trees = model.aggregation, list(model.trees)
    found = []
    for at, tree in enumerate(trees):
        leaves = np.flatnonzero(tree.is_leaf)
        if model.boosting is not None:
            content = np.zeros((len(leaves), model.boosting.n_scores))
            content[:, at % model.boosting.n_scores] = tree.value[leaves, 0]
        else:
            content = aggregation.content(model, tree.value[leaves])
            content = content * (aggregation.weights_of(len(trees))[at] / aggregation.total(len(trees)))
        by_node = np.zeros((tree.n_nodes, content.shape[1]))
        by_node[leaves] = content
        found.append(by_node)
    return found


def value_by_shares(model: ModelData, player_of: Sequence[int], row: np.ndarray) -> ValueOf:
    """What a set of players is worth where all others count by the training rows."""
    values, trees = contents(model), list(model.trees)

    def below(at: int, node: int, known: frozenset[int]) -> np.ndarray:
        tree = trees[at]
        if tree.is_leaf[node]:
            return values[at][node]
        first = int(tree.first_child[node])
        if player_of[int(tree.feature[node])] in known:
            parts = ways(model, tree, node, row)
        else:
            parts = {b: cover(tree, node, first + b) for b in range(int(tree.n_branches[node]))}
        return sum(part * below(at, first + b, known) for b, part in parts.items() if part > 0)

    return lambda known: start_of(model, values) + sum(below(at, 0, known) for at in range(len(trees)))


def value_by_rows(model: ModelData, player_of: Sequence[int], row: np.ndarray, others: np.ndarray) -> ValueOf:
    """What a set of players is worth where all others are those of background rows."""
    values, trees = contents(model), list(model.trees)

    def answer(at: int, known: frozenset[int], other: np.ndarray) -> np.ndarray:
        tree, node = trees[at], 0
        while not tree.is_leaf[node]:
            whose = row if player_of[int(tree.feature[node])] in known else other
            ((branch, _),) = ways(model, tree, node, whose).items()
            node = int(tree.first_child[node]) + branch
        return values[at][node]

    def value(known: frozenset[int]) -> np.ndarray:
        each = [sum(answer(at, known, other) for at in range(len(trees))) for other in others]
        return start_of(model, values) + np.mean(each, axis=0)

    return value


def start_of(model: ModelData, values: list[np.ndarray]) -> np.ndarray:
    """What the model says without any tree."""
    return np.zeros(values[0].shape[1]) if model.boosting is None else np.array(model.boosting.base)


def shapley(players: Sequence[int], value: ValueOf) -> np.ndarray:
    """Shapley 1953: the mean over all orders of what a player adds to those before it. float64[n_players, k]."""
    n = len(players)
    found = []
    for player in players:
        others = [other for other in players if other != player]
        total = 0.0
        for size in range(n):
            weight = factorial(size) * factorial(n - size - 1) / factorial(n)
            for some in combinations(others, size):
                total = total + weight * (value(frozenset(some) | {player}) - value(frozenset(some)))
        found.append(total)
    return np.array(found)


def interactions(players: Sequence[int], value: ValueOf) -> np.ndarray:
    """Grabisch and Roubens 1999, halved as Lundberg et al. 2020 do; on the diagonal what is left of each player's."""
    n = len(players)
    single = shapley(players, value)
    found = np.zeros((n, n, single.shape[1]))
    for (i, one), (j, two) in combinations(enumerate(players), 2):
        others = [other for other in players if other not in (one, two)]
        for size in range(n - 1):
            weight = factorial(size) * factorial(n - size - 2) / (2 * factorial(n - 1))
            for some in combinations(others, size):
                s = frozenset(some)
                both = value(s | {one, two}) - value(s | {one}) - value(s | {two}) + value(s)
                found[i, j] += weight * both
        found[j, i] = found[i, j]
    for i in range(n):
        found[i, i] = single[i] - found[i].sum(axis=0)
    return found
