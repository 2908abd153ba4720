"""The leaf that a row reaches with the least change. In: a tree, a row, wanted leaves. Out: ``Reached``.

Caller: explain.counterfactual.

The tree is searched cheapest first: what a node costs is what the tests on the way ask of the row's cells, and a child
never costs less than its parent. So the first wanted leaf that comes up is the cheapest of all, without an
approximation.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import NamedTuple

import numpy as np

from treewright.explain.surrogate_ways import TooManyWays, ways_through
from treewright.explain.ways import Asked, Held, Way
from treewright.model.data import ModelData
from treewright.predict.fractional import portions_of
from treewright.tree.arrays import INTERVALS, LEAF, MULTIWAY, SUBSET, THRESHOLD, Tree
from treewright.tree.tests import Bound, has_values, level_branches, narrowed, node_cuts, node_levels, ordinal_levels

# Surrogates make every missing cell a choice. After so many nodes of such a search all that is asked is filled in.
MAX_STEPS = 50_000


class Reached(NamedTuple):
    """A leaf with the way that leads there.

    Attributes
    ----------
    leaf : int
    way : Way
    exact : bool
        Whether no other change is cheaper: False where there were too many choices about missing cells.
    """

    leaf: int
    way: Way
    exact: bool


class _Step(NamedTuple):
    """A branch that is taken when its turn comes: beside 20,000 others its bounds would be a set of levels for each."""

    way: Way
    node: int
    branch: int
    kept: bool
    distances: dict[int, float]


def cheapest_leaf(model: ModelData, asked: Asked, wanted: np.ndarray) -> Reached | None:
    """Return the wanted leaf that takes the least change of a row.

    Parameters
    ----------
    model : ModelData
        Of one tree.
    asked : Asked
    wanted : bool[n_nodes]
        Which leaves will do.

    Returns
    -------
    Reached or None
        The fewest columns, then the least distance, then the lowest leaf; None where no wanted leaf can be reached.

    Notes
    -----
    O(nodes x columns on a way). Under ``missing="fractional"`` a missing cell takes several branches, so it is filled
    in where a test asks about it. Surrogates tie columns to each other: a missing cell may stay or be filled in, and
    both are tried, for up to ``MAX_STEPS`` nodes.
    """
    search = _Search(model, asked, leads_to(model.trees[0], wanted))
    try:
        return search.run()
    except TooManyWays:
        found = replace(search, fill=True).run()
        return None if found is None else found._replace(exact=False)


def leads_to(tree: Tree, wanted: np.ndarray) -> list[bool]:
    """Return which nodes are wanted leaves or stand above one."""
    held = (wanted & tree.is_leaf).tolist()
    parents = tree.parent.tolist()
    for node in range(tree.n_nodes - 1, 0, -1):
        if held[node]:
            held[parents[node]] = True
    return held


@dataclass(frozen=True)
class _Search:
    """One row's search; ``fill``: every missing cell that a test asks about is filled in."""

    model: ModelData
    asked: Asked
    below: list[bool]
    fill: bool = False

    @property
    def tree(self) -> Tree:
        return self.model.trees[0]

    def run(self) -> Reached | None:
        """Take nodes cheapest first until one is a leaf."""
        if not self.below[0]:
            return None
        order, steps = count(), 0
        has_choices = self.model.missing == "surrogate" and not self.fill and bool(np.isnan(self.asked.cells).any())
        # Of equals the lowest node: a parent stands before its children, so the lowest leaf comes up first.
        heap: list[tuple[int, float, int, int, Way | _Step]] = [(0, 0.0, 0, next(order), Way({}, {}))]
        while heap:
            _, _, node, _, entry = heapq.heappop(heap)
            way = self._taken(entry) if isinstance(entry, _Step) else entry
            if self.tree.kind[node] == LEAF:
                return Reached(node, way, exact=not self.fill)
            steps += 1
            if has_choices and steps > MAX_STEPS:
                raise TooManyWays
            is_choice = has_choices and self.asked.is_missing(int(self.tree.feature[node]))
            children: Iterator[tuple[int, dict[int, float], Way | _Step]]
            children = self._by_surrogates(way, node) if is_choice else self._by_test(way, node)
            for child, distances, made in children:
                whole = Way({}, distances).distance
                heapq.heappush(heap, (len(distances), whole, child, next(order), made))
        return None

    def _by_surrogates(self, way: Way, node: int) -> Iterator[tuple[int, dict[int, float], Way]]:
        """The branches of a node whose column is missing, where surrogates stand in."""
        for branch, child in self._branches(node):
            for made in ways_through(self.asked, self.tree, way, node, branch):
                yield child, made.distances, made

    def _by_test(self, way: Way, node: int) -> Iterator[tuple[int, dict[int, float], _Step]]:
        """The branches that the row's own cell or a new one takes."""
        feature = int(self.tree.feature[node])
        before = way.held.get(feature, Held(Bound(), True))
        own, is_open = self._own_branch(node), self._open_branches(before.bound, node)
        for branch, child in self._branches(node):
            kept = before.kept and branch == own
            distances: dict[int, float] = way.distances
            if not kept:
                far = self._distance(feature, before.bound, node, branch) if is_open[branch] else None
                if far is None:
                    continue
                distances = {**distances, feature: far}
            yield child, distances, _Step(way, node, branch, kept, distances)

    def _branches(self, node: int) -> list[tuple[int, int]]:
        """Branches that lead on to a wanted leaf, each with its node."""
        first = int(self.tree.first_child[node])
        found = enumerate(range(first, first + int(self.tree.n_branches[node])))
        return [(branch, child) for branch, child in found if self.below[child]]

    def _taken(self, step: _Step) -> Way:
        """The way through a branch."""
        feature = int(self.tree.feature[step.node])
        before = step.way.held.get(feature)
        bound = Bound() if before is None else before.bound
        after = narrowed(bound, self.model.schema.columns[feature], self.tree, step.node, step.branch)
        return Way({**step.way.held, feature: Held(after, step.kept)}, step.distances)

    def _own_branch(self, node: int) -> int:
        """The branch of the row's own cell; -1 where it would have to be filled in."""
        tree, feature = self.tree, int(self.tree.feature[node])
        column, cell, kind = self.model.schema.columns[feature], float(self.asked.cells[feature]), tree.kind[node]
        if math.isnan(cell):
            return self._missing_branch(node)
        if kind == THRESHOLD:
            return 0 if cell <= tree.threshold[node] else 1
        if kind == INTERVALS:
            return int(np.searchsorted(node_cuts(tree, node), cell, side="left"))
        if kind == SUBSET:
            return 0 if node_levels(column, tree, node)[0][int(cell)] else 1
        return int(level_branches(column, tree, node)[0][int(cell)])

    def _missing_branch(self, node: int) -> int:
        """The branch of a missing cell that stays; -1 where it takes several."""
        tree = self.tree
        if self.fill:
            return -1
        if self.model.missing != "fractional":
            return int(tree.missing_branch[node])
        first = int(tree.first_child[node])
        portions = portions_of(tree)[first : first + int(tree.n_branches[node])]
        return int(np.argmax(portions)) if portions.max() == 1.0 else -1

    def _open_branches(self, bound: Bound, node: int) -> list[bool]:
        """Which branches a value takes that is there and within the bound."""
        tree, feature, kind = self.tree, int(self.tree.feature[node]), self.tree.kind[node]
        column, n_branches = self.model.schema.columns[feature], int(tree.n_branches[node])
        if not bound.present or feature in self.asked.keep:
            return [False] * n_branches
        if kind in (MULTIWAY, SUBSET):
            if kind == MULTIWAY:
                way = level_branches(column, tree, node)[0][:-1]
            else:
                way = np.where(node_levels(column, tree, node)[0][:-1], 0, 1)
            levels = ordinal_levels(column, bound) if column.kind == "ordinal" else bound.allowed
            held = way if levels is None else way[levels]
            return (np.bincount(held, minlength=n_branches) > 0).tolist()
        bounds = (narrowed(bound, column, tree, node, branch) for branch in range(n_branches))
        return [each.present and has_values(column, each) for each in bounds]

    def _distance(self, feature: int, bound: Bound, node: int, branch: int) -> float | None:
        """How far the column moves to go on through a branch that is open; None where it must stay."""
        column = self.model.schema.columns[feature]
        if column.kind == "nominal" or self.asked.is_missing(feature):
            return 1.0
        return self.asked.distance(feature, narrowed(bound, column, self.tree, node, branch))
