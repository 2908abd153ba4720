"""The leaf of one row.

A walk in plain Python over lists: a step takes a tenth of a microsecond; for trees of up to a few dozen levels this is
faster than a call of a kernel. It takes the same branches as ``route.branch_of``; the tests compare them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

from treewright.predict.route import surrogates_of
from treewright.trees.arrays import INTERVALS, LEAF, SUBSET, THRESHOLD, Tree


class Lists(NamedTuple):
    """The arrays of a tree that a walk needs, as lists of Python numbers."""

    kind: list[int]
    feature: list[int]
    threshold: list[float]
    first_child: list[int]
    missing_branch: list[int]
    level_set: list[int]
    words: list[int]
    rest: Rest


class Rest(NamedTuple):
    """Lists that only some trees need: ``surrogates[i]`` has (column, cut, level set, flipped) of node ``i``."""

    n_branches: list[int]
    level_branch: list[int]
    cuts: list[float]
    seen: list[int]
    surrogates: dict[int, list[tuple[int, float, int, int]]]


_lists: WeakKeyDictionary[Tree, Lists] = WeakKeyDictionary()


def lists_of(tree: Tree) -> Lists:
    """The lists of a tree, made once."""
    lists = _lists.get(tree)
    if lists is None:
        lists = _lists[tree] = Lists(
            tree.kind.tolist(),
            tree.feature.tolist(),
            tree.threshold.tolist(),
            tree.first_child.tolist(),
            tree.missing_branch.tolist(),
            tree.level_set.tolist(),
            tree.levels_left.tolist(),
            _rest_of(tree),
        )
    return lists


def _rest_of(tree: Tree) -> Rest:
    """The lists that are empty for a tree of binary tests."""
    surrogates: dict[int, list[tuple[int, float, int, int]]] = {}
    if len(tree.surrogate_node):
        tables = surrogates_of(tree)
        columns = (tables.feature, tables.threshold, tables.level_set, tables.flipped)
        facts = zip(*(column.tolist() for column in columns), strict=True)
        for node, fact in zip(tree.surrogate_node.tolist(), facts, strict=True):
            surrogates.setdefault(node, []).append(fact)
    return Rest(
        tree.n_branches.tolist(),
        tree.level_branch.tolist(),
        tree.cuts.tolist(),
        tree.levels_seen.tolist() if surrogates else [],
        surrogates,
    )


def leaf_of_row(tree: Tree, row: Sequence[float]) -> int:
    """Position of the leaf that one encoded row ends in.

    ``row`` sequence of p floats: nan is missing.
    """
    kind, feature, threshold, first_child, missing_branch, level_set, words, rest = lists_of(tree)
    surrogates = rest.surrogates
    node = 0
    while (test := kind[node]) != LEAF:
        x = row[feature[node]]
        if x != x:
            branch = missing_branch[node]
            if node in surrogates:
                branch = _surrogate_branch(surrogates[node], row, words, rest.seen, branch)
        elif test == THRESHOLD:
            branch = 0 if x <= threshold[node] else 1
        elif test == SUBSET:
            code = int(x)
            branch = 0 if words[level_set[node] + (code >> 6)] >> (code & 63) & 1 else 1
        elif test == INTERVALS:
            begin = level_set[node]
            branch = bisect_left(rest.cuts, x, begin, begin + rest.n_branches[node] - 1) - begin
        else:
            entry = rest.level_branch[level_set[node] + int(x)]
            branch = entry if entry >= 0 else ~entry
        node = first_child[node] + branch
    return node


def _level_goes_left(words: list[int], begin: int, code: int) -> int:
    """Bit of a level in a node's words."""
    return words[begin + (code >> 6)] >> (code & 63) & 1


def _surrogate_branch(
    surrogates: list[tuple[int, float, int, int]],
    row: Sequence[float],
    words: list[int],
    seen: list[int],
    missing_branch: int,
) -> int:
    """The branch of the first surrogate with a value; the missing branch if there is none."""
    for feature, cut, begin, flipped in surrogates:
        x = row[feature]
        if x != x:
            continue
        if begin < 0:
            return (0 if x <= cut else 1) ^ flipped
        if _level_goes_left(seen, begin, int(x)):
            return (0 if _level_goes_left(words, begin, int(x)) else 1) ^ flipped
    return missing_branch
