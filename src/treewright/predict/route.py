"""Where rows end. In: encoded rows, a tree. Out: leaf positions. Callers: predict.values, estimators, model.

A tree is packed into 16 bytes a node, so that a step of a walk touches one cache line. Several rows walk side by side:
while one waits for memory the others go on. A row's way does not depend on its neighbours: a batch equals row by row.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from treewright.core import threads
from treewright.core.jit import inner_kernel, kernel
from treewright.tree.arrays import SUBSET, Tree

_LANES = 16
_BLOCK = 16_384  # rows a task takes; about a millisecond
_INLINE_ROWS = 20_000  # below, a second thread costs more than it saves

# Bits of a record's second word: 0-1 kind, 2 missing branch, 3-31 column, 32-62 first child.
_MISSING_BIT, _COLUMN_SHIFT, _CHILD_SHIFT = 2, 3, 32
_COLUMN_MASK = (1 << 29) - 1


class Route(NamedTuple):
    """A tree packed for walking.

    ``records`` int64[n_nodes, 2]: the threshold's bits (the offset of the level words for a subset), and the packed
    rest. A leaf is a threshold test that leads back to itself. ``words`` uint64[k]: levels that go left; empty where no
    test needs them.
    """

    records: np.ndarray
    words: np.ndarray


class SubsetRoute(NamedTuple):
    """A ``Route`` with nominal tests.

    A type of its own, so that numeric trees are walked without asking for the kind.
    """

    records: np.ndarray
    words: np.ndarray


_routes: WeakKeyDictionary[Tree, Route | SubsetRoute] = WeakKeyDictionary()


def route_of(tree: Tree) -> Route | SubsetRoute:
    """The packed form of a tree, made once."""
    route = _routes.get(tree)
    if route is None:
        route = _routes[tree] = _pack(tree)
    return route


def _pack(tree: Tree) -> Route | SubsetRoute:
    """Pack a tree."""
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
    records[:, 1] = kind | missing << _MISSING_BIT | column << _COLUMN_SHIFT | child << _CHILD_SHIFT
    made = SubsetRoute if is_subset.any() else Route
    return made(records, np.array(tree.levels_left))


@inner_kernel
def level_goes_left(words, offset, code):
    """Bit of a level in a node's words."""
    return (words[offset + (code >> 6)] >> np.uint64(code & 63)) & np.uint64(1) != 0


@kernel
def walk(matrix, route, tests_subsets, start, stop, leaves):
    """Find the leaf of each row.

    Parameters
    ----------
    matrix : float32 or float64 [n, p], C-order, IN
    route : Route or SubsetRoute
    tests_subsets : bool
        Whether any test asks for levels.
    start, stop : int
        Rows of this task.
    leaves : int32[n], OUT

    Notes
    -----
    O(rows x depth). ``_LANES`` rows are under way; a lane whose row has arrived takes the next one.
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
            kind = packed & 3
            if kind == 0:
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
            x = matrix[row[lane], (packed >> _COLUMN_SHIFT) & _COLUMN_MASK]
            if tests_subsets and kind == SUBSET and x == x:
                branch = 0 if level_goes_left(route.words, records[here, 0], np.int64(x)) else 1
            else:
                branch = 0 if x <= thresholds[here, 0] else 1
                if x != x:
                    branch = (packed >> _MISSING_BIT) & 1
            node[lane] = (packed >> _CHILD_SHIFT) + branch
            lane += 1


def leaf_of(tree: Tree, matrix: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Position of the leaf that each row ends in.

    Parameters
    ----------
    tree : Tree
    matrix : float64 or float32 [n, p]
        Encoded rows; nan is missing.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    int32[n]
    """
    n_threads = threads.resolve_jobs(n_jobs)
    route = route_of(tree)
    tests_subsets = isinstance(route, SubsetRoute)
    n = len(matrix)
    leaves = np.empty(n, np.int32)
    if n <= _INLINE_ROWS:
        walk(np.ascontiguousarray(matrix), route, tests_subsets, 0, n, leaves)
        return leaves

    def walk_block(task: int, thread: int) -> None:
        start = task * _BLOCK
        stop = min(start + _BLOCK, n)
        # A block at a time is turned into rows, so that a column-major table is never copied whole.
        walk(np.ascontiguousarray(matrix[start:stop]), route, tests_subsets, 0, stop - start, leaves[start:stop])

    threads.run_each(walk_block, -(-n // _BLOCK), n_threads)
    return leaves
