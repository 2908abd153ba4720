"""Proximities of rows in a forest. In: leaves of rows in every tree. Out: shares of trees.

Two rows are near if they are in the same leaf in many trees (Breiman 2002, "Manual on setting up, using, and
understanding random forests V3.1", section "Proximities").
"""

from __future__ import annotations

import numpy as np

from treewright.core import threads
from treewright.core.jit import costs, kernel
from treewright.data.memory import check_fits
from treewright.predict.ensemble import leaves_of_trees
from treewright.trees.data import ModelData

_TILE = 64  # rows that are compared with as many others while both stay in the cache
_BLOCK_CELLS = 1 << 21  # leaf positions of 64 bits that are held at a time


@costs(lambda leaves, others, begin, end, *_: (end - begin) * others.size)
@kernel
def shares_of_equal(leaves: np.ndarray, others: np.ndarray, begin: int, end: int, is_same: bool,
                    shares: np.ndarray) -> None:  # fmt: skip
    """The share of the trees in which rows are in the same leaf, for a range of rows.

    Parameters
    ----------
    leaves : int32[n, n_trees], others : int32[m, n_trees], IN
    begin, end : int
        The range of rows of ``leaves``.
    is_same : bool
        Whether both are the same rows: then only pairs with ``other >= row`` are compared, and each is written twice.
    shares : float64[n, m], OUT
    """
    n_trees, tile = leaves.shape[1], _TILE
    for first in range(begin if is_same else 0, len(others), tile):
        last = min(first + tile, len(others))
        for row in range(begin, end):
            for other in range(max(first, row) if is_same else first, last):
                n_equal = np.int32(0)
                for tree in range(n_trees):
                    n_equal += np.int32(leaves[row, tree] == others[other, tree])
                shares[row, other] = np.float64(n_equal) / n_trees
                if is_same:
                    shares[other, row] = shares[row, other]


def proximities(
    model: ModelData, matrix: np.ndarray, other: np.ndarray | None = None, n_jobs: int | None = None
) -> np.ndarray:
    """The share of the trees in which two rows are in the same leaf.

    ``matrix`` (float64 or float32 [n, p]). ``other`` (float64 or float32 [m, p]): the rows to compare with; by default
    the same rows. Returns float64[n, m], 0 to 1: multiples of ``1 / n_trees``. For the same rows symmetric, with ones
    on the diagonal.
    """
    n, m, n_trees = len(matrix), len(matrix if other is None else other), len(model.trees)
    needed = 8 * n * m + 4 * n_trees * (n if other is None else n + m)
    check_fits(needed, f"the proximities of {n} x {m} rows in {n_trees} trees", "pass fewer rows")
    leaves = _leaves(model, matrix, n_jobs)
    others = leaves if other is None else _leaves(model, other, n_jobs)
    shares = np.empty((n, m))

    def compare(task: int, thread: int) -> None:
        begin = task * _TILE
        shares_of_equal(leaves, others, begin, min(begin + _TILE, n), other is None, shares)

    threads.run_each(compare, -(-n // _TILE), threads.resolve_jobs(n_jobs) if n * m > _TILE**2 else 1)
    return shares


def _leaves(model: ModelData, matrix: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """int32[n, n_trees]: the leaf of each row in every tree, computed in blocks."""
    n, n_trees = len(matrix), len(model.trees)
    leaves = np.empty((n, n_trees), np.int32)
    block = max(1, _BLOCK_CELLS // n_trees)
    for begin in range(0, n, block):
        leaves[begin : begin + block] = leaves_of_trees(model, matrix[begin : begin + block], n_jobs)
    return leaves
