"""The branch that a value takes.

The meaning of every kind of test, for all kernels: walks to a leaf, rows divided among branches, rows sent down again
while a tree is pruned.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from treewright.core.jit import inner_kernel
from treewright.tree.arrays import INTERVALS, MULTIWAY, SUBSET, THRESHOLD, Tree


class Branches(NamedTuple):
    """The arrays of ``Tree`` that tests need, by their own names; ``words`` is ``levels_left``."""

    kind: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    first_child: np.ndarray
    n_branches: np.ndarray
    missing_branch: np.ndarray
    level_set: np.ndarray
    words: np.ndarray
    level_branch: np.ndarray
    cuts: np.ndarray


class Surrogates(NamedTuple):
    """The surrogate tests, used if a value is missing.

    ``begins`` int64[n_nodes + 1]: the surrogates of node ``i`` are ``begins[i]`` to ``begins[i + 1] - 1``, best first.
    ``seen`` is ``levels_seen``; the others are arrays of ``Tree`` without their prefix.
    """

    begins: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    level_set: np.ndarray
    flipped: np.ndarray
    seen: np.ndarray


_branches: WeakKeyDictionary[Tree, Branches] = WeakKeyDictionary()
_surrogates: WeakKeyDictionary[Tree, Surrogates] = WeakKeyDictionary()


def branches_of(tree: Tree) -> Branches:
    """The ``Branches`` of a tree, made once."""
    tables = _branches.get(tree)
    if tables is None:
        arrays = (getattr(tree, "levels_left" if name == "words" else name) for name in Branches._fields)
        # Views that can be written to have another type: one kind of array, so that a kernel is compiled once.
        tables = _branches[tree] = Branches(*(np.array(array) for array in arrays))
    return tables


def surrogates_of(tree: Tree) -> Surrogates:
    """The ``Surrogates`` of a tree by node, made once."""
    tables = _surrogates.get(tree)
    if tables is None:
        begins = np.searchsorted(tree.surrogate_node, np.arange(tree.n_nodes + 1)).astype(np.int64)
        tables = _surrogates[tree] = Surrogates(
            begins,
            np.array(tree.surrogate_feature),
            np.array(tree.surrogate_threshold),
            np.array(tree.surrogate_level_set),
            np.array(tree.surrogate_flipped),
            np.array(tree.levels_seen),
        )
    return tables


def joined(trees: list[Tree], roots: np.ndarray) -> tuple[Branches, Surrogates]:
    """The ``Branches`` and ``Surrogates`` of all trees in one: side tables and children are numbered through."""

    def all_of(name: str) -> np.ndarray:
        return np.concatenate([getattr(tree, name) for tree in trees])

    def counted(name: str, side: str) -> np.ndarray:
        begins = np.cumsum([0, *(len(getattr(tree, side)) for tree in trees)])
        return np.concatenate([getattr(tree, name) + at for tree, at in zip(trees, begins, strict=False)])

    kind, level_set = all_of("kind"), all_of("level_set").astype(np.int64)
    for which, side in ((SUBSET, "levels_left"), (MULTIWAY, "level_branch"), (INTERVALS, "cuts")):
        moved = counted("level_set", side)
        level_set = np.where(kind == which, moved, level_set)
    first_child = np.concatenate(
        [np.where(tree.first_child < 0, -1, tree.first_child + root) for tree, root in zip(trees, roots, strict=False)]
    ).astype(np.int64)
    tables = Branches(
        kind, all_of("feature"), all_of("threshold"), first_child, all_of("n_branches"), all_of("missing_branch"),
        level_set, all_of("levels_left"), all_of("level_branch"), all_of("cuts"),
    )  # fmt: skip
    nodes = np.concatenate([tree.surrogate_node + root for tree, root in zip(trees, roots, strict=False)])
    places = np.where(all_of("surrogate_level_set") < 0, -1, counted("surrogate_level_set", "levels_left"))
    surrogates = Surrogates(
        np.searchsorted(nodes, np.arange(roots[-1] + 1)).astype(np.int64), all_of("surrogate_feature"),
        all_of("surrogate_threshold"), places.astype(np.int64), all_of("surrogate_flipped"), all_of("levels_seen"),
    )  # fmt: skip
    return tables, surrogates


@inner_kernel
def level_goes_left(words: np.ndarray, offset: int, code: int) -> bool:
    """Bit of a level in a node's words: ``words`` uint64[n_words], those of the node begin at ``offset``."""
    return (words[offset + (code >> 6)] >> np.uint64(code & 63)) & np.uint64(1) != 0


@inner_kernel
def branch_of(tables: Branches, node: int, x: float) -> int:
    """The branch that a value takes at an inner node; -1 for a missing one.

    Parameters
    ----------
    x : float
        A number, or the code of a level.
    """
    if x != x:
        return -1
    kind = tables.kind[node]
    if kind == THRESHOLD:
        return 0 if x <= tables.threshold[node] else 1
    begin = int(tables.level_set[node])
    if kind == SUBSET:
        return 0 if level_goes_left(tables.words, begin, int(x)) else 1
    if kind == INTERVALS:
        # Invariant: the cuts before `low` are below x, those from `high` on are not.
        low, high = 0, int(tables.n_branches[node]) - 1
        while low < high:
            middle = (low + high) >> 1
            if x <= tables.cuts[begin + middle]:
                high = middle
            else:
                low = middle + 1
        return low
    entry = int(tables.level_branch[begin + int(x)])
    return entry if entry >= 0 else ~entry


@inner_kernel
def surrogate_branch(tables: Branches, surrogates: Surrogates, matrix: np.ndarray, row: int, node: int) -> int:
    """The branch of the first surrogate with a value for a row; the missing branch if there is none.

    Parameters
    ----------
    matrix : float [n, p]
    """
    for at in range(surrogates.begins[node], surrogates.begins[node + 1]):
        x = matrix[row, surrogates.feature[at]]
        if x != x:
            continue
        begin = int(surrogates.level_set[at])
        if begin < 0:
            answer = 0 if x <= surrogates.threshold[at] else 1
        else:
            if not level_goes_left(surrogates.seen, begin, int(x)):
                continue
            answer = 0 if level_goes_left(tables.words, begin, int(x)) else 1
        return answer ^ int(surrogates.flipped[at])
    return int(tables.missing_branch[node])
