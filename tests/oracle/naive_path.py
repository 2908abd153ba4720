"""The path of nested subtrees as the book tells it: every number anew at every step. In: a tree, costs. Out: steps.

Caller: test_path_against_twin. A subtree is the set of the nodes that still have branches.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from plain_trees import shape_tree

from treewright.trees.arrays import LEAF, MULTIWAY

SAME = 1e-10  # links whose numbers differ by this part are equally weak: floats of one and the same fraction


@dataclass(frozen=True)
class Step:
    alpha: float
    inner: frozenset[int]
    n_leaves: int
    risk: float


def children_of(tree, node):
    return range(tree.first_child[node], tree.first_child[node] + tree.n_branches[node])


def leaves_below(tree, node, inner):
    """Leaves of the subtree that hangs at a node."""
    found, waiting = [], [node]
    while waiting:
        here = waiting.pop()
        if here in inner:
            waiting += children_of(tree, here)
        else:
            found.append(here)
    return found


def without(tree, node, inner):
    """The inner nodes that are left when a node becomes a leaf."""
    gone, waiting = set(), [node]
    while waiting:
        here = waiting.pop()
        if here in inner:
            gone.add(here)
            waiting += children_of(tree, here)
    return inner - gone


def link_of(tree, cost, node, inner):
    """What the subtree at a node saves per leaf beyond the first: g(t) of the book."""
    leaves = leaves_below(tree, node, inner)
    return (cost[node] - sum(cost[leaf] for leaf in leaves)) / (len(leaves) - 1)


def step_of(tree, cost, alpha, inner):
    leaves = leaves_below(tree, 0, inner)
    return Step(alpha, inner, len(leaves), sum(cost[leaf] for leaf in leaves))


def path_by_the_book(tree, cost):
    """Every step; costs must not rise where a node is divided."""
    inner = frozenset(np.flatnonzero(tree.kind != LEAF).tolist())
    # What no division lowers is gone at alpha 0: the lowest such nodes first.
    for node in sorted(inner, reverse=True):
        if node in inner and link_of(tree, cost, node, inner) <= 1e-12 * cost[node]:
            inner = without(tree, node, inner)
    steps = [step_of(tree, cost, 0, inner)]
    while inner:
        links = {node: link_of(tree, cost, node, inner) for node in inner}
        alpha = min(links.values())
        while inner and min(links.values()) <= alpha * (1 + SAME):
            inner = without(tree, min(links, key=links.get), inner)
            links = {node: link_of(tree, cost, node, inner) for node in inner}
        steps.append(step_of(tree, cost, alpha, inner))
    return steps


def every_subtree(tree, node=0):
    """All pruned subtrees at a node, each the set of its inner nodes."""
    if tree.kind[node] == LEAF:
        return [frozenset()]
    below = [every_subtree(tree, child) for child in children_of(tree, node)]
    return [frozenset(), *(frozenset({node}).union(*parts) for parts in product(*below))]


class AllSubtrees:
    """Every pruned subtree of a small tree with what it costs."""

    def __init__(self, tree, cost):
        self.priced = []
        for inner in every_subtree(tree):
            leaves = leaves_below(tree, 0, inner)
            self.priced.append((int(sum(cost[leaf] for leaf in leaves)), len(leaves), inner))

    def smallest_of_least_cost(self, alpha):
        """By looking at all of them: the subtree of least cost plus alpha for each leaf, the smallest of equals."""
        totals = [cost + alpha * size for cost, size, _ in self.priced]
        least = min(totals)
        cheapest = [
            (size, inner) for total, (_, size, inner) in zip(totals, self.priced, strict=True) if total == least
        ]
        fewest = min(size for size, _ in cheapest)
        found = [inner for size, inner in cheapest if size == fewest]
        assert len(found) == 1  # as the book proves
        return found[0]


def random_shape(rng, n_inner, most_branches):
    """A tree without content: only who hangs below whom. Nodes are divided in any order."""
    branches, first, ends = [0], [-1], [0]
    for _ in range(n_inner):
        node = ends.pop(int(rng.integers(len(ends))))
        branches[node] = int(rng.integers(2, most_branches + 1))
        first[node] = len(branches)
        ends += range(len(branches), len(branches) + branches[node])
        first += [-1] * branches[node]
        branches += [0] * branches[node]
    return shape_tree(branches, first, kind=MULTIWAY)
