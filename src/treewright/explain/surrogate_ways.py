"""Ways on which surrogates answer. In: a way, a node whose column is missing. Out: ways. Caller: explain.cheapest_leaf.

Whether a missing cell stays is decided where the way first asks about it: once as the node's own column, or as the
column of a surrogate. What stays is passed by, what is filled in answers like any other cell.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from treewright.explain.ways import Asked, Held, Way
from treewright.tree.arrays import Tree
from treewright.tree.tests import Bound, level_bits, levels_bound, narrowed, range_bound

# Missing cells of nominal surrogates double the ways through a node; it may have so many.
MAX_WAYS = 1_000


class TooManyWays(Exception):  # noqa: N818 - no error: the search is asked again, with fewer choices
    """There are too many choices about missing cells."""


def ways_through(asked: Asked, tree: Tree, way: Way, node: int, branch: int) -> Iterator[Way]:
    """Yield the ways through a branch of a node whose column is missing in the row.

    Raises
    ------
    TooManyWays
    """
    feature = int(tree.feature[node])
    before = way.held.get(feature)
    bound = Bound() if before is None else before.bound
    bound = narrowed(bound, asked.schema.columns[feature], tree, node, branch)
    if before is None or before.kept:
        yield from _answered(asked, tree, _with(way, feature, Held(bound, True)), node, branch)
    if before is None or not before.kept:
        filled = asked.narrowed(way, feature, bound, own=False)
        if filled is not None:
            yield filled


def _with(way: Way, feature: int, held: Held) -> Way:
    """The way with what it asks of a column that stays missing."""
    return Way({**way.held, feature: held}, way.distances)


def _answered(asked: Asked, tree: Tree, way: Way, node: int, branch: int) -> Iterator[Way]:
    """The ways on which the first surrogate that answers, or else the missing branch, leads to a branch."""
    first, end = np.searchsorted(tree.surrogate_node, [node, node + 1]).tolist()
    waiting = [way]  # no surrogate so far has answered
    for at in range(first, end):
        feature, still = int(tree.surrogate_feature[at]), []
        for each in waiting:
            before = each.held.get(feature)
            if asked.is_missing(feature) and (before is None or before.kept):
                still.append(each if before is not None else _with(each, feature, Held(Bound(), True)))
                if before is not None:
                    continue
            yield from _told(asked, tree, each, at, branch)
            passed = _not_told(asked, tree, each, at)
            if passed is not None:
                still.append(passed)
        waiting = still
        if len(waiting) > MAX_WAYS:
            raise TooManyWays
    if int(tree.missing_branch[node]) == branch:
        yield from waiting


def _told(asked: Asked, tree: Tree, way: Way, at: int, branch: int) -> Iterator[Way]:
    """The way on which a surrogate's column has a value that leads to a branch, if there is one."""
    feature, answer = int(tree.surrogate_feature[at]), branch ^ int(tree.surrogate_flipped[at])
    if answer not in (0, 1):
        return
    cell, bound = float(asked.cells[feature]), _bound(way, feature)
    if tree.surrogate_level_set[at] < 0:
        cut = float(tree.surrogate_threshold[at])
        ends = (-np.inf, cut) if answer == 0 else (cut, np.inf)
        made = asked.narrowed(
            way,
            feature,
            range_bound(bound, *ends, missing=bound.missing),
            own=cell <= cut if answer == 0 else cell > cut,
        )
    else:
        left, seen = level_bits(asked.schema.columns[feature], tree, int(tree.surrogate_level_set[at]))
        made = _to_levels(asked, way, feature, seen & (left if answer == 0 else ~left))
    if made is not None:
        yield made


def _not_told(asked: Asked, tree: Tree, way: Way, at: int) -> Way | None:
    """The way on which a surrogate's column has a level that it does not know; None where it knows all."""
    feature = int(tree.surrogate_feature[at])
    if tree.surrogate_level_set[at] < 0:
        return None
    _, seen = level_bits(asked.schema.columns[feature], tree, int(tree.surrogate_level_set[at]))
    return _to_levels(asked, way, feature, ~seen)


def _to_levels(asked: Asked, way: Way, feature: int, side: np.ndarray) -> Way | None:
    """The way with a column at one of some levels (bool[v + 1], the last one a level that the fit never saw)."""
    bound = _bound(way, feature)
    named = bound.named if bound.named is not None else np.ones(len(side) - 1, bool)
    own = not asked.is_missing(feature) and bool(side[int(asked.cells[feature])])
    return asked.narrowed(way, feature, levels_bound(bound, side[:-1], named, missing=bound.missing), own=own)


def _bound(way: Way, feature: int) -> Bound:
    """What the way asks of a column so far."""
    held = way.held.get(feature)
    return Bound() if held is None else held.bound
