"""Optimal trees. In: rows, a loss, limits, trees that are known. Out: ``Optimal``: the tree, and what is proved of it.

branching_of     a known tree as the search has trees, pruned by the objective: the incumbent at the start
Search.run       the best tree, or the best so far; SmallestSearch.run: the smallest consistent one
plan_of          its tests
tree_of          the tree that the rows make of them
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from treewright.grow.by_node.grower import candidate_of
from treewright.grow.by_node.instances import all_instances
from treewright.grow.by_node.plan import LEAF, Plan, tree_of
from treewright.grow.by_node.search import Policy
from treewright.grow.optimal.consistent import SmallestSearch
from treewright.grow.optimal.lookahead import Lookahead
from treewright.grow.optimal.losses import Loss, class_loss, weight_of
from treewright.grow.optimal.pairs import INF, sum_rows
from treewright.grow.optimal.search import Branching, Found, Limits, Search
from treewright.grow.optimal.space import Space
from treewright.trees.arrays import Tree


@dataclass(frozen=True, eq=False)
class Optimal:
    """A tree, what the search found, and the price of a leaf.

    ``start``, ``start_leaves``: the objective and the leaves of the best tree that was known before.
    """

    tree: Tree
    found: Found
    start: int
    start_leaves: int
    price: int


def grow_optimal(
    space: Space, policy: Policy, loss: Loss, limits: Limits, known: Iterable[Tree], has_subsets: bool, is_whole: bool
) -> Optimal:
    """The best tree within the limits.

    Parameters
    ----------
    known : iterable of Tree
        Grown on the same rows within the same limits; the result is never worse. The search begins with the first; the
        others are grown only if no proof says that they are no better.
    has_subsets : bool
        Whether means order the levels of nominal columns: two classes, or numbers.
    is_whole : bool
        Whether the search has every test that a known tree may have.
    """
    start: Branching | None = None
    value, trees = INF, iter(known)
    for cart in islice(trees, 1):
        start, value = branching_of(space, loss, cart, limits)
    if limits.optimal_depth is None or not space.features:  # without tests there is nothing below the root
        found = Search(space, loss, limits, has_subsets).run(start, value)
    else:
        found = Lookahead(space, loss, limits, has_subsets, limits.optimal_depth).run(start, value)
    if found.lower < found.objective or not is_whole:
        for cart in trees:
            branching, objective = branching_of(space, loss, cart, limits)
            if objective < found.objective:
                found = replace(found, tree=branching, objective=objective, lower=min(found.lower, objective))
    root = all_instances(space.problem, is_sorted=False)
    tree = tree_of(space.problem, policy, root, plan_of(space, found.tree))
    return Optimal(tree, found, value, _n_leaves(start), limits.price)


def _n_leaves(tree: Branching | None) -> int:
    waiting, n = [tree], 0
    while waiting:
        node = waiting.pop()
        if node is None:
            n += 1
        else:
            waiting += [node.left, node.right]
    return n


def grow_smallest(
    space: Space, policy: Policy, labels: np.ndarray, n_classes: int, limits: Limits, known: Iterable[Tree]
) -> Optimal:
    """The consistent tree with the fewest leaves, which are its objective: ``INF`` if none was found within the limits.

    Parameters
    ----------
    labels : int[n]
        Classes of the rows, without contradictions.
    known : iterable of Tree
        Grown on the same rows within the same limits; those that are not consistent are ignored.
    """
    loss, _ = class_loss(labels, n_classes, None, "misclassification")
    start: Branching | None = None
    value = int(loss.largest.min())  # an error costs more than any number of leaves: from here on a tree has errors
    is_known = False
    for tree in known:
        branching, n_leaves = branching_of(space, loss, tree, Limits(limits.max_depth, limits.max_leaves, price=1))
        if n_leaves < value:
            start, value, is_known = branching, n_leaves, True
    first = value if is_known else INF
    found = SmallestSearch(space, labels, limits, n_classes == 2).run(start, first)
    tree = tree_of(space.problem, policy, all_instances(space.problem, is_sorted=False), plan_of(space, found.tree))
    return Optimal(tree, found, first, first, 0)


def branching_of(space: Space, loss: Loss, tree: Tree, limits: Limits) -> tuple[Branching | None, int]:
    """A known tree, pruned by the objective, and its objective; ``INF`` if it does not keep to the limits."""
    problem, n = space.problem, tree.n_nodes
    rows: list[np.ndarray] = [np.empty(0, np.int32)] * n
    rows[0] = np.arange(problem.n_rows, dtype=np.int32)
    tests = [
        None if leaf else candidate_of(tree, at, problem.schema, "direction") for at, leaf in enumerate(tree.is_leaf)
    ]
    for at, test in enumerate(tests):
        if test is not None:
            branch = test.branches(problem, rows[at])
            first = int(tree.first_child[at])
            rows[first], rows[first + 1] = rows[at][branch == 0], rows[at][branch == 1]
    sums = np.zeros(loss.n_sums, np.int64)
    below: list[tuple[Branching | None, int]] = [(None, INF)] * n
    for at in reversed(range(n)):
        own, test = INF, tests[at]
        leaf_loss = int(sum_rows(loss, rows[at], sums))
        if len(rows[at]) >= limits.min_rows and weight_of(loss, sums) >= limits.min_weight:
            own = leaf_loss + limits.price
        below[at] = None, own
        if test is not None:
            first = int(tree.first_child[at])
            (left, of_left), (right, of_right) = below[first], below[first + 1]
            if of_left + of_right < own:
                below[at] = Branching(-1, rows[first], rows[first + 1], left, right, test), of_left + of_right
    return below[0]


def plan_of(space: Space, tree: Branching | None) -> Plan:
    """The tests of a tree, each with the threshold or the levels that its rows give it."""
    nodes: list[Branching | None] = [tree]
    first: list[int] = []
    for node in nodes:  # grows while it is read: parents before their children
        first.append(len(nodes))
        if node is not None:
            nodes += [node.left, node.right]
    plans = [LEAF] * len(nodes)
    for at in reversed(range(len(nodes))):
        node = nodes[at]
        if node is None:
            continue
        test, is_turned = node.test, False
        if test is None:
            test, is_turned = space.test(node.place, node.left_rows, node.right_rows)
        branches = plans[first[at]], plans[first[at] + 1]
        plans[at] = Plan(test, branches[::-1] if is_turned else branches)
    return plans[0]
