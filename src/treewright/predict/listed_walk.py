"""Many listed trees walked together: the leaf contents of each row, added up in the order of the trees.

All trees are stored one after another, packed as ``route`` packs a single one. With many rows a block goes down one
tree after another, several rows together; with a few rows several trees are walked together. Either way the walks wait
for memory together, no call is made per tree, and each sum is made in the order of the trees: a batch equals row by
row.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from treewright.core import threads
from treewright.core.jit import costs, kernel
from treewright.model.data import ModelData
from treewright.predict.route import CHILD_SHIFT, COLUMN_MASK, COLUMN_SHIFT, is_packable, next_node, records_of
from treewright.tree.arrays import SUBSET
from treewright.tree.packed import PackedTrees

_LANES = 16
_FEW_ROWS = 16  # up to this many rows, trees and not rows are walked together
_WIDTH = 256  # trees at a time
# Of rows. Large trees are fetched again for each block: 100 trees of 13,000 leaves, 100,000 rows of 20 numbers took
# .98 s in blocks of 1 << 18, .53 s of 1 << 20, .33 s of 1 << 22, .30 s of 1 << 24; 100 of 60 leaves .13 s in any.
_BLOCK_BYTES = 1 << 23
_LEAST_ROWS, _MOST_ROWS = 512, 65_536
_INLINE_WALKS = 100_000  # rows times trees; below, a second thread costs more than it saves
_MOST_WALKS = 1 << 25  # per block; a few seconds, in which Ctrl-C has no effect


class Joined(NamedTuple):
    """All trees of a model: ``records`` and ``words`` as in a ``Route``, ``roots`` int64[n_trees + 1]."""

    records: np.ndarray
    words: np.ndarray
    roots: np.ndarray
    tests_subsets: bool


_joined: WeakKeyDictionary[ModelData, Joined | None] = WeakKeyDictionary()


def joined_of(model: ModelData) -> Joined | None:
    """The listed trees of a model one after another, made once; None if a test needs the general walk."""
    if model not in _joined:
        trees = model.trees
        can = not isinstance(trees, PackedTrees) and model.missing != "fractional" and all(map(is_packable, trees))
        _joined[model] = _join(model) if can else None
    return _joined[model]


def _join(model: ModelData) -> Joined:
    """Join the trees: children and words are numbered through."""
    roots, at_word, parts = np.asarray(model.trees.begins, np.int64), 0, []
    for tree, root in zip(model.trees, roots.tolist(), strict=False):
        records = records_of(tree)
        records[:, 1] += root << CHILD_SHIFT
        records[tree.kind == SUBSET, 0] += at_word
        at_word += len(tree.levels_left)
        parts.append(records)
    words = np.concatenate([tree.levels_left for tree in model.trees])
    return Joined(np.concatenate(parts), words, roots, len(words) > 0)


@costs(lambda matrix, records, words, tests_subsets, roots, *_: 10 * len(matrix) * len(roots))
@kernel
def add_leaves(matrix, records, words, tests_subsets, roots, weights, n_scores, contents, scratch, sums):
    """Add up the leaf contents of each row, tree by tree.

    Parameters
    ----------
    matrix : float32 or float64 [n, p], C-order, IN
    records, words, tests_subsets
        As in ``Joined``.
    roots, weights : int64[k + 1], float64[k], IN
        Of these trees; the last root is not read.
    n_scores : int >= 1
        The first of these trees adds to the columns from 0, tree ``t`` to those from ``t % n_scores``.
    contents : float64[n_nodes, n_values], IN
        Contents of all nodes of all trees.
    scratch : int64[3, w >= 16]
    sums : float64[n, n_scores + n_values - 1], IN and OUT

    Notes
    -----
    O(rows x trees x depth). A row's sum is made in the order of the trees.
    """
    thresholds = records.view(np.float64)
    node, owner, arrived = scratch[0], scratch[1], scratch[2]
    n, n_trees, n_values, width = len(matrix), len(weights), contents.shape[1], scratch.shape[1]
    if n <= _FEW_ROWS:
        for row in range(n):
            for begin in range(0, n_trees, width):
                count = min(width, n_trees - begin)
                for lane in range(count):
                    node[lane] = roots[begin + lane]
                    owner[lane] = lane
                lanes = count
                while lanes > 0:
                    lane = 0
                    while lane < lanes:
                        here = node[lane]
                        packed = records[here, 1]
                        if packed & 3 == 0:
                            arrived[owner[lane]] = here
                            lanes -= 1
                            node[lane] = node[lanes]
                            owner[lane] = owner[lanes]
                            continue
                        x = matrix[row, (packed >> COLUMN_SHIFT) & COLUMN_MASK]
                        node[lane] = next_node(records, thresholds, words, tests_subsets, here, packed, x)
                        lane += 1
                for lane in range(count):
                    tree = begin + lane
                    for at in range(n_values):
                        sums[row, tree % n_scores + at] += contents[arrived[lane], at] * weights[tree]
        return
    # A block of rows goes down a tree before the next one is fetched.
    for tree in range(n_trees):
        score, weight, root = tree % n_scores, weights[tree], roots[tree]
        lanes = min(_LANES, n)
        for lane in range(lanes):
            node[lane] = root
            owner[lane] = lane
        waiting = lanes
        while lanes > 0:
            lane = 0
            while lane < lanes:
                here, row = node[lane], owner[lane]
                packed = records[here, 1]
                if packed & 3 == 0:
                    for at in range(n_values):
                        sums[row, score + at] += contents[here, at] * weight
                    if waiting < n:
                        node[lane] = root
                        owner[lane] = waiting
                        waiting += 1
                    else:
                        lanes -= 1
                        node[lane] = node[lanes]
                        owner[lane] = owner[lanes]
                    continue
                x = matrix[row, (packed >> COLUMN_SHIFT) & COLUMN_MASK]
                node[lane] = next_node(records, thresholds, words, tests_subsets, here, packed, x)
                lane += 1


def add_joined(
    joined: Joined, first: int, stop: int, contents: np.ndarray, weights: np.ndarray, matrix: np.ndarray,
    n_scores: int, sums: np.ndarray, n_jobs: int | None,
) -> None:  # fmt: skip
    """Add the leaf contents of the trees ``first``, a multiple of ``n_scores``, to ``stop - 1`` to ``sums``.

    Parameters
    ----------
    contents : float64[n_nodes of all trees, k]
    weights : float64[n_trees]
    matrix : float64 or float32 [n, p]
        Encoded rows in any memory order.
    sums : float64[n, n_scores + k - 1], IN and OUT
    n_jobs : int or None
        Threads; the result does not depend on it.
    """
    n, n_columns = matrix.shape
    n_trees = stop - first
    n_threads = threads.resolve_jobs(n_jobs) if n * n_trees >= _INLINE_WALKS else 1
    cached = min(_BLOCK_BYTES // (8 * max(n_columns, 1)), _MOST_WALKS // max(n_trees, 1))
    block = min(_MOST_ROWS, max(_LEAST_ROWS, cached), max(1, -(-n // n_threads)))

    def work(task: int, _thread: int) -> None:
        start, end = task * block, min((task + 1) * block, n)
        # Only this block is converted to row-major order, so that a column-major table is never copied as a whole.
        rows, scratch = np.ascontiguousarray(matrix[start:end]), np.empty((3, _WIDTH), np.int64)
        add_leaves(
            rows, joined.records, joined.words, joined.tests_subsets, joined.roots[first : stop + 1],
            weights[first:stop], n_scores, contents, scratch, sums[start:end],
        )  # fmt: skip

    threads.run_each(work, -(-n // block), n_threads)
