"""The branch that a value takes, and the leaves of rows in one tree.

``branch_of`` and ``surrogate_branch`` are the meaning of every kind of test, for all kernels: walks to a leaf, rows
divided among branches, rows sent down again while a tree is pruned.

For ``leaf_of`` a tree is packed into 16 bytes per node, so that a step of a walk touches one cache line. Several rows
walk together: while one waits for memory the others go on. A row's path does not depend on its neighbours: a batch
equals row by row. Trees with other tests than thresholds and subsets, with three branches or with surrogates use a
second, general walk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from treewright.core import threads
from treewright.core.jit import allocating_kernel, inlined_kernel, inner_kernel, kernel
from treewright.trees.arrays import INTERVALS, LEAF, MULTIWAY, SUBSET, THRESHOLD, Tree


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
    """The branch that a value takes at an inner node; -1 for a missing one. ``x`` is a number, or a level's code."""
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

    ``matrix`` float [n, p].
    """
    for at in range(surrogates.begins[node], surrogates.begins[node + 1]):
        x = matrix[row, surrogates.feature[at]]
        if x != x:
            continue
        begin = int(surrogates.level_set[at])
        if begin < 0:
            branch = 0 if x <= surrogates.threshold[at] else 1
        else:
            if not level_goes_left(surrogates.seen, begin, int(x)):
                continue
            branch = 0 if level_goes_left(tables.words, begin, int(x)) else 1
        return branch ^ int(surrogates.flipped[at])
    return int(tables.missing_branch[node])


_LANES = 16
_BLOCK = 16_384  # rows per task; about a millisecond
_INLINE_ROWS = 20_000  # below, a second thread costs more than it saves

# Bits of a record's second word: 0-1 kind, 2 missing branch, 3-31 column, 32-62 first child.
_MISSING_BIT, WORD_COLUMN_SHIFT, WORD_CHILD_SHIFT = 2, 3, 32
WORD_COLUMN_MASK = (1 << 29) - 1


class Route(NamedTuple):
    """A tree packed for walking.

    ``records`` int64[n_nodes, 2]: the threshold's bits (the offset of the level words for a subset), and the packed
    rest. A leaf is a threshold test that leads back to itself. ``words`` uint64[k]: levels that go left; empty where no
    test needs them.
    """

    records: np.ndarray
    words: np.ndarray


_routes: WeakKeyDictionary[Tree, Route | None] = WeakKeyDictionary()


def is_packable(tree: Tree) -> bool:
    """Whether a tree has only threshold and subset tests with two branches, and no surrogates."""
    return bool((tree.kind <= SUBSET).all() and (tree.n_branches <= 2).all()) and not len(tree.surrogate_node)


def route_of(tree: Tree) -> Route | None:
    """The packed form of a tree, made once; None if it needs the general walk."""
    if tree not in _routes:
        _routes[tree] = Route(records_of(tree), np.array(tree.levels_left)) if is_packable(tree) else None
    return _routes[tree]


def records_of(tree: Tree) -> np.ndarray:
    """int64[n_nodes, 2]: the records of a packable tree."""
    n = tree.n_nodes
    leaf = tree.is_leaf
    is_subset = tree.kind == SUBSET
    records = np.empty((n, 2), np.int64)
    records[:, 0] = np.where(leaf, np.inf, tree.threshold).view(np.int64)
    records[is_subset, 0] = tree.level_set[is_subset]
    kind = np.where(leaf, 0, tree.kind).astype(np.int64)
    child = np.where(leaf, np.arange(n), tree.first_child).astype(np.int64)
    column = np.where(leaf, 0, tree.feature).astype(np.int64)
    missing = tree.missing_branch.astype(np.int64)
    records[:, 1] = kind | missing << _MISSING_BIT | column << WORD_COLUMN_SHIFT | child << WORD_CHILD_SHIFT
    return records


@inlined_kernel
def next_node(records, thresholds, words, tests_subsets, here, packed, x):
    """The child of an inner node for a value; ``packed`` is the second word of its record."""
    if tests_subsets and packed & 3 == SUBSET and x == x:
        branch = 0 if level_goes_left(words, records[here, 0], np.int64(x)) else 1
    else:
        branch = 0 if x <= thresholds[here, 0] else 1
        if x != x:
            branch = (packed >> _MISSING_BIT) & 1
    return (packed >> WORD_CHILD_SHIFT) + branch


@allocating_kernel
def walk(matrix, route, tests_subsets, start, stop, leaves):
    """Find the leaf of each row.

    ``matrix`` float32 or float64 [n, p], C-order, IN; ``tests_subsets`` bool: whether any test is a subset test;
    ``start``, ``stop`` int: rows of this task; ``leaves`` int32[n], OUT. O(rows x depth). ``_LANES`` rows walk at once;
    a lane whose row has arrived takes the next one.
    """
    records = route.records
    thresholds = records.view(np.float64)
    lanes = min(_LANES, stop - start)
    node = np.zeros(_LANES, np.int64)
    row = np.empty(_LANES, np.int64)
    for lane in range(lanes):
        row[lane] = start + lane
    waiting = start + lanes
    while lanes > 0:
        lane = 0
        while lane < lanes:
            here = node[lane]
            packed = records[here, 1]
            if packed & 3 == 0:
                leaves[row[lane]] = here
                node[lane] = 0
                if waiting < stop:
                    row[lane] = waiting
                    waiting += 1
                else:
                    lanes -= 1
                    row[lane] = row[lanes]
                    node[lane] = node[lanes]
                continue
            x = matrix[row[lane], (packed >> WORD_COLUMN_SHIFT) & WORD_COLUMN_MASK]
            node[lane] = next_node(records, thresholds, route.words, tests_subsets, here, packed, x)
            lane += 1


@kernel
def walk_any(matrix, tables, surrogates, start, stop, leaves):
    """Find the leaf of each row in a tree with any kinds of tests.

    ``matrix`` float32 or float64 [n, p], C-order, IN; ``start``, ``stop`` int: rows of this task; ``leaves`` int32[n],
    OUT.
    """
    for row in range(start, stop):
        node = np.int64(0)
        while tables.kind[node] != LEAF:
            branch = branch_of(tables, node, matrix[row, tables.feature[node]])
            if branch < 0:
                branch = surrogate_branch(tables, surrogates, matrix, row, node)
            node = tables.first_child[node] + branch
        leaves[row] = node


def leaf_of(tree: Tree, matrix: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """int32[n]: position of the leaf that each row ends in.

    ``matrix`` float64 or float32 [n, p], encoded; nan is missing: the first surrogate with a value decides, else the
    missing branch is taken. The result does not depend on the threads.
    """
    leaves, route = np.empty(len(matrix), np.int32), route_of(tree)

    def walk_block(start: int, stop: int) -> None:
        # Only this block is converted to row-major order, so that a column-major table is never copied as a whole.
        rows, found = np.ascontiguousarray(matrix[start:stop]), leaves[start:stop]
        if route is None:
            walk_any(rows, branches_of(tree), surrogates_of(tree), 0, len(rows), found)
        else:
            walk(rows, route, len(route.words) > 0, 0, len(rows), found)

    in_blocks(walk_block, len(matrix), threads.resolve_jobs(n_jobs))
    return leaves


def in_blocks(work: Callable[[int, int], None], n: int, n_threads: int) -> None:
    """Call ``work(start, stop)`` for blocks of ``n`` rows, on threads if that is faster.

    Its result for a row must not depend on the block that the row is in.
    """
    if n <= _INLINE_ROWS:
        work(0, n)
        return

    def block(task: int, thread: int) -> None:
        work(task * _BLOCK, min((task + 1) * _BLOCK, n))

    threads.run_each(block, -(-n // _BLOCK), n_threads)
