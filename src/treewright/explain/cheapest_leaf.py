"""The leaf that a row reaches with the least change. In: a tree, a row, wanted leaves. Out: ``Reached``.

A *path* is what the tests above a node require of the row's columns together. A column that passes every test on it
stays as it is and costs nothing; any other has to take a value within what the tests allow, and its distance is that to
the nearest such value.

The tree is searched cheapest first: a node costs the changes that its path requires of the row, and a child never costs
less than its parent. So the first wanted leaf that comes up is the cheapest of all, without an approximation.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import NamedTuple

import numpy as np

from treewright.data.schema import Column, Schema
from treewright.predict.fractional import portions_of
from treewright.trees.arrays import INTERVALS, LEAF, MULTIWAY, SUBSET, THRESHOLD, Tree
from treewright.trees.data import ModelData
from treewright.trees.tests import (
    Bound,
    has_values,
    level_bits,
    level_branches,
    levels_bound,
    narrowed,
    node_cuts,
    node_levels,
    ordinal_levels,
    range_bound,
)

# Missing cells of nominal surrogates double the paths through a node; it may have so many.
MAX_PATHS = 1_000
# Surrogates make every missing cell a choice. After so many nodes of such a search all tested cells are filled in.
MAX_STEPS = 50_000


@dataclass(frozen=True, eq=False)
class Query:
    """A row that is to be changed."""

    schema: Schema
    cells: np.ndarray  # float64[p]: encoded; nan is missing
    keep: frozenset[int]  # columns that must stay as they are
    scales: np.ndarray  # float64[p]: how much of each numeric column counts as 1; > 0

    def is_missing(self, feature: int) -> bool:
        """Whether the cell is missing."""
        return math.isnan(self.cells[feature])

    def narrowed(self, path: Path, feature: int, bound: Bound, *, own: bool) -> Path | None:
        """The path with a bound of a column; None if no value meets it, or if the column must stay.

        ``bound``: all that is now required of the column; ``own``: whether the row's own cell meets the new part of it.
        """
        before = path.held.get(feature)
        if own and (before is None or before.kept):
            return Path({**path.held, feature: Held(bound, True)}, path.distances)
        far = self.distance(feature, bound)
        if far is None:
            return None
        return Path({**path.held, feature: Held(bound, False)}, {**path.distances, feature: far})

    def distance(self, feature: int, bound: Bound) -> float | None:
        """How far the column moves into a bound; None if no value meets it, or if the column must stay.

        A level of a nominal column and a missing cell that is filled in count 1, an ordinal column counts the levels
        that it moves by, a number what it moves by over the column's scale.
        """
        column, cell = self.schema.columns[feature], float(self.cells[feature])
        if feature in self.keep or not bound.present or not has_values(column, bound):
            return None
        if column.kind == "nominal" or math.isnan(cell):
            return 1.0
        gone = abs(nearest_value(column, bound, cell) - cell)
        return gone if column.kind == "ordinal" else gone / float(self.scales[feature])


class Held(NamedTuple):
    """What a path requires of one column."""

    bound: Bound  # what a new value must be
    kept: bool  # whether the row's own cell takes this path; a missing one then stays missing


@dataclass(frozen=True, slots=True)
class Path:
    """What the tests above a node require of a row."""

    held: dict[int, Held]  # every tested column, in the order of the tests
    distances: dict[int, float]  # of the columns that have to change: how far

    @property
    def distance(self) -> float:
        """Sum of the distances, in the order of the columns: the same float for any order of the tests."""
        whole = 0.0
        for feature in sorted(self.distances):
            whole += self.distances[feature]
        return whole


class Reached(NamedTuple):
    """A leaf with the path that leads there."""

    leaf: int
    path: Path
    exact: bool  # whether no other change is cheaper: False if there were too many choices about missing cells


def cheapest_leaf(model: ModelData, query: Query, wanted: np.ndarray) -> Reached | None:
    """The wanted leaf (``wanted`` bool[n_nodes]) of a model of one tree that requires the smallest change of a row.

    That is the fewest columns, then the least distance, then the lowest leaf; None if no wanted leaf can be reached.
    O(nodes x columns on a path). Under ``missing="fractional"`` a missing cell takes several branches, so it is filled
    in if it is tested. Surrogates tie columns to each other: a missing cell may stay or be filled in, and both are
    tried, for up to ``MAX_STEPS`` nodes.
    """
    search = _Search(model, query, leads_to(model.trees[0], wanted))
    try:
        return search.run()
    except TooManyPaths:
        found = replace(search, fill=True).run()
        return None if found is None else found._replace(exact=False)


def leads_to(tree: Tree, wanted: np.ndarray) -> list[bool]:
    """Which nodes are wanted leaves or ancestors of one."""
    held = (wanted & tree.is_leaf).tolist()
    parents = tree.parent.tolist()
    for node in range(tree.n_nodes - 1, 0, -1):
        if held[node]:
            held[parents[node]] = True
    return held


class _Step(NamedTuple):
    """A branch whose bounds are made only when it is taken: 20,000 branches would hold a set of levels each."""

    path: Path
    node: int
    branch: int
    kept: bool
    distances: dict[int, float]


@dataclass(frozen=True)
class _Search:
    """One row's search; with ``fill`` every tested missing cell is filled in."""

    model: ModelData
    query: Query
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
        has_choices = self.model.missing == "surrogate" and not self.fill and bool(np.isnan(self.query.cells).any())
        # Of equals the lowest node: a parent stands before its children, so the lowest leaf comes up first.
        heap: list[tuple[int, float, int, int, Path | _Step]] = [(0, 0.0, 0, next(order), Path({}, {}))]
        while heap:
            _, _, node, _, entry = heapq.heappop(heap)
            path = self._taken(entry) if isinstance(entry, _Step) else entry
            if self.tree.kind[node] == LEAF:
                return Reached(node, path, exact=not self.fill)
            steps += 1
            if has_choices and steps > MAX_STEPS:
                raise TooManyPaths
            is_choice = has_choices and self.query.is_missing(int(self.tree.feature[node]))
            children: Iterator[tuple[int, dict[int, float], Path | _Step]]
            children = self._by_surrogates(path, node) if is_choice else self._by_test(path, node)
            for child, distances, made in children:
                whole = Path({}, distances).distance
                heapq.heappush(heap, (len(distances), whole, child, next(order), made))
        return None

    def _by_surrogates(self, path: Path, node: int) -> Iterator[tuple[int, dict[int, float], Path]]:
        """The branches of a node whose column is missing, by its surrogates."""
        for branch, child in self._branches(node):
            for made in paths_through(self.query, self.tree, path, node, branch):
                yield child, made.distances, made

    def _by_test(self, path: Path, node: int) -> Iterator[tuple[int, dict[int, float], _Step]]:
        """The branches that the row's own cell or a new one takes."""
        feature = int(self.tree.feature[node])
        before = path.held.get(feature, Held(Bound(), True))
        own, is_open = self._own_branch(node), self._open_branches(before.bound, node)
        for branch, child in self._branches(node):
            kept = before.kept and branch == own
            distances: dict[int, float] = path.distances
            if not kept:
                far = self._distance(feature, before.bound, node, branch) if is_open[branch] else None
                if far is None:
                    continue
                distances = {**distances, feature: far}
            yield child, distances, _Step(path, node, branch, kept, distances)

    def _branches(self, node: int) -> list[tuple[int, int]]:
        """Branches that lead on to a wanted leaf, each with its node."""
        first = int(self.tree.first_child[node])
        found = enumerate(range(first, first + int(self.tree.n_branches[node])))
        return [(branch, child) for branch, child in found if self.below[child]]

    def _taken(self, step: _Step) -> Path:
        """The path through a branch."""
        feature = int(self.tree.feature[step.node])
        before = step.path.held.get(feature)
        bound = Bound() if before is None else before.bound
        after = narrowed(bound, self.model.schema.columns[feature], self.tree, step.node, step.branch)
        return Path({**step.path.held, feature: Held(after, step.kept)}, step.distances)

    def _own_branch(self, node: int) -> int:
        """The branch of the row's own cell; -1 if it would have to be filled in."""
        tree, feature = self.tree, int(self.tree.feature[node])
        column, cell, kind = self.model.schema.columns[feature], float(self.query.cells[feature]), tree.kind[node]
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
        """The branch of a cell that stays missing; -1 if it takes several."""
        tree = self.tree
        if self.fill:
            return -1
        if self.model.missing != "fractional":
            return int(tree.missing_branch[node])
        first = int(tree.first_child[node])
        portions = portions_of(tree)[first : first + int(tree.n_branches[node])]
        return int(np.argmax(portions)) if portions.max() == 1.0 else -1

    def _open_branches(self, bound: Bound, node: int) -> list[bool]:
        """Which branches some value within the bound takes; missing values do not count."""
        tree, feature, kind = self.tree, int(self.tree.feature[node]), self.tree.kind[node]
        column, n_branches = self.model.schema.columns[feature], int(tree.n_branches[node])
        if not bound.present or feature in self.query.keep:
            return [False] * n_branches
        if kind in (MULTIWAY, SUBSET):
            if kind == MULTIWAY:
                path = level_branches(column, tree, node)[0][:-1]
            else:
                path = np.where(node_levels(column, tree, node)[0][:-1], 0, 1)
            levels = ordinal_levels(column, bound) if column.kind == "ordinal" else bound.allowed
            held = path if levels is None else path[levels]
            return (np.bincount(held, minlength=n_branches) > 0).tolist()
        bounds = (narrowed(bound, column, tree, node, branch) for branch in range(n_branches))
        return [each.present and has_values(column, each) for each in bounds]

    def _distance(self, feature: int, bound: Bound, node: int, branch: int) -> float | None:
        """How far the column moves to take an open branch; None if it must stay."""
        column = self.model.schema.columns[feature]
        if column.kind == "nominal" or self.query.is_missing(feature):
            return 1.0
        return self.query.distance(feature, narrowed(bound, column, self.tree, node, branch))


def nearest_value(column: Column, bound: Bound, cell: float, preferred: int | None = None) -> float:
    """The value within a bound that is nearest to a cell; of a nominal column the preferred or first level.

    Some value meets the bound, and the cell is outside of it; a missing one becomes the upper end, the lowest level,
    else 0. ``preferred`` is the code of a level. Just above a lower end the value is the next float64.

    Examples
    --------
    >>> nearest_value(Column("age", "numeric"), Bound(lower=2.0, upper=5.0), 9.0)
    5.0
    >>> nearest_value(Column("age", "numeric"), Bound(lower=2.0, upper=5.0), 1.0)
    2.0000000000000004
    """
    if column.kind == "nominal":
        allowed = np.ones(len(column.levels), bool) if bound.allowed is None else bound.allowed
        return float(preferred if preferred is not None and allowed[preferred] else np.argmax(allowed))
    if column.kind == "ordinal":
        ranks = np.flatnonzero(ordinal_levels(column, bound))
        # The lower one of two that are equally near.
        return float(ranks[0] if math.isnan(cell) else ranks[np.argmin(np.abs(ranks - cell))])
    if cell > bound.upper or (math.isnan(cell) and bound.upper != math.inf):
        return bound.upper
    return 0.0 if bound.lower == -math.inf else math.nextafter(bound.lower, math.inf)


class TooManyPaths(Exception):  # noqa: N818 - no error: the search is repeated, with fewer choices
    """There are too many choices about missing cells."""


def paths_through(query: Query, tree: Tree, path: Path, node: int, branch: int) -> Iterator[Path]:
    """Yield the paths through a branch of a node whose column is missing in the row."""
    feature = int(tree.feature[node])
    before = path.held.get(feature)
    bound = Bound() if before is None else before.bound
    bound = narrowed(bound, query.schema.columns[feature], tree, node, branch)
    if before is None or before.kept:
        yield from _answered(query, tree, _with(path, feature, Held(bound, True)), node, branch)
    if before is None or not before.kept:
        filled = query.narrowed(path, feature, bound, own=False)
        if filled is not None:
            yield filled


def _with(path: Path, feature: int, held: Held) -> Path:
    """The path with what it requires of a column that stays missing."""
    return Path({**path.held, feature: held}, path.distances)


def _answered(query: Query, tree: Tree, path: Path, node: int, branch: int) -> Iterator[Path]:
    """The paths on which the first surrogate with a value, or else the missing branch, leads to a branch."""
    first, end = np.searchsorted(tree.surrogate_node, [node, node + 1]).tolist()
    waiting = [path]  # no surrogate so far has a value
    for at in range(first, end):
        feature, still = int(tree.surrogate_feature[at]), []
        for each in waiting:
            before = each.held.get(feature)
            if query.is_missing(feature) and (before is None or before.kept):
                still.append(each if before is not None else _with(each, feature, Held(Bound(), True)))
                if before is not None:
                    continue
            yield from _by_surrogate(query, tree, each, at, branch)
            passed = _past_surrogate(query, tree, each, at)
            if passed is not None:
                still.append(passed)
        waiting = still
        if len(waiting) > MAX_PATHS:
            raise TooManyPaths
    if int(tree.missing_branch[node]) == branch:
        yield from waiting


def _by_surrogate(query: Query, tree: Tree, path: Path, at: int, branch: int) -> Iterator[Path]:
    """The path on which a surrogate's column has a value that leads to a branch, if there is one."""
    feature, answer = int(tree.surrogate_feature[at]), branch ^ int(tree.surrogate_flipped[at])
    if answer not in (0, 1):
        return
    cell, bound = float(query.cells[feature]), _bound(path, feature)
    if tree.surrogate_level_set[at] < 0:
        cut = float(tree.surrogate_threshold[at])
        ends = (-np.inf, cut) if answer == 0 else (cut, np.inf)
        made = query.narrowed(
            path,
            feature,
            range_bound(bound, *ends, missing=bound.missing),
            own=cell <= cut if answer == 0 else cell > cut,
        )
    else:
        left, seen = level_bits(query.schema.columns[feature], tree, int(tree.surrogate_level_set[at]))
        made = _to_levels(query, path, feature, seen & (left if answer == 0 else ~left))
    if made is not None:
        yield made


def _past_surrogate(query: Query, tree: Tree, path: Path, at: int) -> Path | None:
    """The path on which a surrogate's column has a level unknown to the surrogate; None if it knows all."""
    feature = int(tree.surrogate_feature[at])
    if tree.surrogate_level_set[at] < 0:
        return None
    _, seen = level_bits(query.schema.columns[feature], tree, int(tree.surrogate_level_set[at]))
    return _to_levels(query, path, feature, ~seen)


def _to_levels(query: Query, path: Path, feature: int, side: np.ndarray) -> Path | None:
    """The path with a column at one of some levels (bool[v + 1], the last one a level that the fit never saw)."""
    bound = _bound(path, feature)
    named = bound.named if bound.named is not None else np.ones(len(side) - 1, bool)
    own = not query.is_missing(feature) and bool(side[int(query.cells[feature])])
    return query.narrowed(path, feature, levels_bound(bound, side[:-1], named, missing=bound.missing), own=own)


def _bound(path: Path, feature: int) -> Bound:
    """What the path requires of a column so far."""
    held = path.held.get(feature)
    return Bound() if held is None else held.bound
