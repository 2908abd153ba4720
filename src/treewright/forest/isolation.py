"""Isolation forests. In: an encoded matrix, settings. Out: a tuple of ``Tree``s. Caller: estimators.isolation.

A tree parts the rows that it drew by a random column at a random cut, again and again. What is unlike the rest stands
alone after few cuts (Liu, Ting and Zhou 2008 and 2012). Trees are grown side by side on the threads.
"""

from __future__ import annotations

import itertools
import math
import threading

import numpy as np

from treewright.core import progress, threads
from treewright.data.memory import check_fits
from treewright.data.schema import Schema
from treewright.exceptions import TooLargeError
from treewright.forest.chance import GROWTH
from treewright.forest.draws import Draws, candidate_columns, seeds_of
from treewright.forest.isolation_kernel import Growing, grow_isolation
from treewright.forest.isolation_scores import average_path_length
from treewright.tree.arrays import FIELDS, LEAF, NODE_FIELDS, Tree

_MOST_TREES = 2**31 - 1
_TREE_BYTES = 4096  # the objects of a tree, without its nodes
_NODE_BYTES = sum(dtype.itemsize for dtype in NODE_FIELDS.values())
_REMEDY = "grow fewer trees, or draw fewer rows for each (max_samples)"


def refuse_too_many_trees(n_trees: int) -> None:
    """Refuse a forest whose trees would not fit in memory even if each were a leaf.

    Parameters
    ----------
    n_trees : int
        However many digits it has.

    Raises
    ------
    TooLargeError
    """
    if n_trees > _MOST_TREES:
        raise TooLargeError(f"n_estimators is more than {_MOST_TREES}, the most trees that are numbered: {_REMEDY}")
    check_fits(n_trees * _TREE_BYTES, f"a forest of {n_trees} trees", _REMEDY)


def rows_of_tree(draws: Draws, number: int) -> np.ndarray:
    """The rows that a tree draws.

    Returns
    -------
    int32[n_draws], ascending
        A row that was drawn twice is there twice.
    """
    return np.repeat(*draws.counts(number))


def grow_isolation_forest(
    matrix: np.ndarray, schema: Schema, draws: Draws, n_columns: int, numbers: range, n_threads: int
) -> tuple[Tree, ...]:
    """Grow some trees of a forest.

    Parameters
    ----------
    matrix : float32 or float64 [n, p]
    schema : Schema
    draws : Draws
        Which rows a tree draws; its seed is that of the columns and cuts as well.
    n_columns : int, 1 to p
        Columns that a tree draws.
    numbers : range
        Which trees; a tree depends on its number, not on those before it.
    n_threads : int >= 1
        The trees do not depend on it.

    Returns
    -------
    tuple of Tree
        ``value`` is the mean path length of the node's rows, ``impurity`` its variance.

    Raises
    ------
    TooLargeError
        The trees, or the cells of one, would not fit in memory.
    """
    n_trees = len(numbers)
    refuse_too_many_trees(n_trees)
    n_threads = max(1, min(n_threads, n_trees))
    cells = n_threads * (draws.n_draws * (n_columns + 20) + 4 * draws.n_rows) * 8
    check_fits(cells, f"growing {n_threads} trees at once on {draws.n_draws} rows each", _REMEDY)
    growth = _Growth(matrix, schema, draws, n_columns)
    trees: list[Tree | None] = [None] * n_trees
    if n_trees:
        # The first one tells what the others will need.
        first = trees[0] = growth.tree(numbers[0])
        size = _TREE_BYTES + first.n_nodes * _NODE_BYTES + 2 * first.levels_left.nbytes
        check_fits(n_trees * size, f"a forest of {n_trees} trees of about {first.n_nodes} nodes", _REMEDY)
    done = itertools.count(2)

    def grow(task: int, thread: int) -> None:
        trees[task + 1] = growth.tree(numbers[task + 1])
        progress.report(next(done) / n_trees, "growing")

    threads.run_each(grow, n_trees - 1, n_threads)
    return tuple(tree for tree in trees if tree is not None)


class _Growth:
    """What all trees have in common."""

    def __init__(self, matrix: np.ndarray, schema: Schema, draws: Draws, n_columns: int) -> None:
        self.matrix, self.draws, self.n_columns = matrix, draws, n_columns
        self.n_levels = np.array([len(c.levels) if c.kind == "nominal" else 0 for c in schema.columns], np.int64)
        self.corrections = average_path_length(np.arange(draws.n_draws + 1))
        # The average depth of a tree that parts all its rows: deeper lie only rows that are not odd.
        self.max_depth = math.ceil(math.log2(max(draws.n_draws, 2)))
        self.n_words = 32 * (int(self.n_levels.max()) // 64 + 1) if self.n_levels.any() else 0
        self.lock = threading.Lock()

    def tree(self, number: int) -> Tree:
        """One tree."""
        p, seed = self.matrix.shape[1], self.draws.seed
        columns = candidate_columns(seed, number, p, self.n_columns)
        rows = rows_of_tree(self.draws, number)
        # A copy of the cells, made for the tree: its columns one after another.
        taken = self.matrix[rows] if len(columns) == p else self.matrix[np.ix_(rows, columns)]
        cells = np.array(taken.T, np.float64, order="C")
        n_levels, key = self.n_levels[columns], seeds_of(seed, number, 1)[0, GROWTH]
        nodes = _room(len(rows), len(columns), int(n_levels.max()), self.max_depth)
        n_room = self.n_words
        while True:
            words = np.empty((2, n_room), np.uint64)
            n_nodes, n_words = grow_isolation(
                cells, columns, n_levels, key, self.max_depth, self.corrections, nodes, words[0], words[1]
            )
            if n_words >= 0:
                return _tree_of(nodes, n_nodes, words[:, :n_words])
            n_room *= 2
            check_fits(2 * 8 * n_room, "the sets of levels of a tree", _REMEDY)
            with self.lock:
                self.n_words = max(self.n_words, n_room)


def _room(size: int, n_columns: int, n_levels: int, max_depth: int) -> Growing:
    """Memory for a tree that grows, with nothing in it."""
    n = 2 * size - 1
    here = {name: FIELDS[name] for name in Growing._fields if name in FIELDS}
    own = {"key": np.uint64, "begin": np.int64, "depth": np.int32}
    by_node = {name: np.empty(n, dtype) for name, dtype in {**here, **own}.items()}
    return Growing(
        **by_node,
        rows=np.empty(size, np.int64),
        since=np.empty(n_columns, np.int32),
        candidates=np.empty(n_columns, np.int64),
        stack=np.empty(max_depth + 2, np.int64),
        side=np.empty(n_levels, np.int64),
        stamp=np.empty(n_levels, np.int64),
        present=np.empty(min(n_levels, size), np.int64),
    )


def _tree_of(nodes: Growing, n_nodes: int, words: np.ndarray) -> Tree:
    """The finished tree, in arrays of its own size."""
    kept = {name: getattr(nodes, name)[:n_nodes].copy() for name in Growing._fields if name in FIELDS}
    value = kept.pop("value")[:, None]
    n_branches = np.where(kept["kind"] == LEAF, 0, 2).astype(np.int32)
    return Tree(
        **kept,
        n_branches=n_branches,
        weight=kept["n_samples"].astype(np.float64),
        value=value,
        levels_left=words[0].copy(),
        levels_seen=words[1].copy(),
    )
