"""The tests of a tree, read from its arrays, and the bounds of a column's values on the path to a node.

Tests on one column are merged on the way down: ``x <= 5`` then ``x > 2`` becomes ``2 < x <= 5``. The state below a node
is one small `Bound` per column tested so far, so a path of 20,000 tests on one column takes no more than 20,000 steps.
``trees.wording`` writes tests and bounds as text.
"""

from __future__ import annotations

import math
from collections.abc import Container, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from treewright.data.schema import Column, Schema
from treewright.trees.arrays import INTERVALS, MULTIWAY, SUBSET, Tree, children


def level_bits(column: Column, tree: Tree, start: int) -> tuple[np.ndarray, np.ndarray]:
    """A level set that begins at ``start``: left and seen, bool[v + 1]; the last bit is for an unseen level."""
    n_bits = len(column.levels) + 1
    words = slice(start, start + len(column.levels) // 64 + 1)

    def bits(source: np.ndarray) -> np.ndarray:
        return np.unpackbits(source[words].astype("<u8").view(np.uint8), bitorder="little")[:n_bits].astype(bool)

    return bits(tree.levels_left), bits(tree.levels_seen)


def node_levels(column: Column, tree: Tree, node: int) -> tuple[np.ndarray, np.ndarray]:
    """Return `level_bits` of a node of kind ``SUBSET``."""
    return level_bits(column, tree, int(tree.level_set[node]))


def level_branches(column: Column, tree: Tree, node: int) -> tuple[np.ndarray, np.ndarray]:
    """The branch of each level at a node of kind ``MULTIWAY``, int32[v + 1], and whether the level was present."""
    start = int(tree.level_set[node])
    entries = tree.level_branch[start : start + len(column.levels) + 1]
    return np.where(entries < 0, ~entries, entries), entries >= 0


def node_cuts(tree: Tree, node: int) -> np.ndarray:
    """Return float64[n_branches - 1]: the cuts of a node of kind ``INTERVALS``."""
    start = int(tree.level_set[node])
    return np.asarray(tree.cuts[start : start + int(tree.n_branches[node]) - 1])


def chosen(column: Column, mask: np.ndarray) -> tuple[Hashable, ...]:
    """Return the levels whose bit is set in ``mask`` (bool[v])."""
    levels = column.levels
    return tuple([levels[code] for code in np.flatnonzero(mask).tolist()])


def shared_out(
    column: Column, branch: np.ndarray, mask: np.ndarray, n_branches: int
) -> tuple[tuple[Hashable, ...], ...]:
    """Return for each branch the levels in ``mask`` (bool[v]) that take it according to ``branch`` (int[v])."""
    sides: list[list[Hashable]] = [[] for _ in range(n_branches)]
    for code in np.flatnonzero(mask):
        sides[branch[code]].append(column.levels[code])
    return tuple(map(tuple, sides))


@dataclass(frozen=True, eq=False)
class Bound:
    """The bounds of a column's values on the path so far."""

    # lower, upper: a numeric value, or the rank of an ordinal level, is above ``lower`` and at most ``upper``
    lower: float = -math.inf
    upper: float = math.inf
    missing: bool = True  # whether a missing value can follow the path
    present: bool = True  # whether a present value can follow the path
    # allowed, named: bool[v] or None; the levels that can follow the path; those of them that the last test saw in
    # training. Ordinal levels must meet ``lower`` and ``upper`` as well. None if no test was on levels.
    allowed: np.ndarray | None = None
    named: np.ndarray | None = None


def bounds_below(
    schema: Schema, tree: Tree, unfolded: Container[int] | None = None
) -> Iterator[tuple[int, Mapping[int, Bound]]]:
    """Yield nodes in preorder, each with its bounds: feature position to `Bound`, first tested first.

    Only nodes in ``unfolded`` are gone below, if it is given. A node shares the bounds of its parent except one. The
    mapping is copied per node, so the cost is the number of different columns on its path, not its depth.
    """
    # A child's own bound is made when it is reached: for 10,000 siblings it would be 10,000 sets of levels.
    stack: list[tuple[int, int, dict[int, Bound]]] = [(0, -1, {})]
    while stack:
        node, above, bounds = stack.pop()
        if above >= 0:
            feature, branch = int(tree.feature[above]), node - int(tree.first_child[above])
            before = bounds.get(feature, Bound())
            bounds = {**bounds, feature: narrowed(before, schema.columns[feature], tree, above, branch)}
        yield node, bounds
        if unfolded is None or node in unfolded:
            stack.extend((child, node, bounds) for child in reversed(children(tree, node)))


def narrowed(bound: Bound, column: Column, tree: Tree, node: int, branch: int) -> Bound:
    """Return the bound after taking ``branch`` at ``node``, whose test is on ``column``."""
    missing = bound.missing and int(tree.missing_branch[node]) == branch
    kind, n_branches = int(tree.kind[node]), int(tree.n_branches[node])
    if kind == MULTIWAY:
        way, seen = (entries[:-1] for entries in level_branches(column, tree, node))
        side = way == branch
        return levels_bound(bound, side, side & seen, missing=missing)
    if kind == INTERVALS:
        cuts = node_cuts(tree, node)
        lower = -math.inf if branch == 0 else float(cuts[branch - 1])
        upper = float(cuts[branch]) if branch < len(cuts) else math.inf
        return range_bound(bound, lower, upper, missing=missing)
    if branch == n_branches - 1 and n_branches == 3:
        return replace(bound, missing=missing, present=False)
    if kind == SUBSET:
        left, seen = (bits[:-1] for bits in node_levels(column, tree, node))
        side = left if branch == 0 else ~left
        return levels_bound(bound, side, side & seen, missing=missing)
    threshold = float(tree.threshold[node])
    if branch == 0:
        return range_bound(bound, -math.inf, threshold, missing=missing)
    return range_bound(bound, threshold, math.inf, missing=missing)


def levels_bound(bound: Bound, side: np.ndarray, named: np.ndarray, *, missing: bool) -> Bound:
    """Return the bound narrowed to the levels of one side (bool[v]); no level at all leaves only missing values."""
    allowed = side if bound.allowed is None else bound.allowed & side
    return replace(bound, missing=missing, allowed=allowed, named=named, present=bound.present and bool(side.any()))


def range_bound(bound: Bound, lower: float, upper: float, *, missing: bool) -> Bound:
    """Return the bound narrowed to what is above ``lower`` and at most ``upper``; above ``+inf`` nothing is present."""
    if lower == math.inf:
        return replace(bound, missing=missing, present=False)
    return replace(bound, missing=missing, lower=max(bound.lower, lower), upper=min(bound.upper, upper))


def has_values(column: Column, bound: Bound) -> bool:
    """Whether any value that is present can meet the bound; a tree edited by hand can have impossible tests."""
    if column.kind == "nominal":
        return bound.allowed is None or bool(bound.allowed.any())
    if column.kind == "ordinal":
        return bool(ordinal_levels(column, bound).any())
    return bound.lower < bound.upper


def ordinal_levels(column: Column, bound: Bound) -> np.ndarray:
    """Return bool[v]: the levels of an ordinal column that meet the bound."""
    first, last = ranks_of(column, bound)
    rank = np.arange(len(column.levels))
    held = (rank >= first) & (rank <= last)
    return held if bound.allowed is None else held & bound.allowed


def ranks_of(column: Column, bound: Bound) -> tuple[int, int]:
    """Return the first and the last rank that meet the bound."""
    last = len(column.levels) - 1
    first = 0 if bound.lower < 0 else math.floor(min(bound.lower, last)) + 1
    return first, last if bound.upper >= last else math.floor(max(bound.upper, -1.0))
