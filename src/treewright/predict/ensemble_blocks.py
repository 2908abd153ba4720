"""Rows on their way through packed trees. In: ``PackedTrees``, encoded rows. Out: sums over trees, leaf positions.

Callers: predict.ensemble, forest.

A block of rows is turned into bin numbers, which stay in the second cache, and walks down one tree after another, so
that a tree is fetched once a block. The matrix is never copied as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from treewright.core import threads
from treewright.data.bin_rows import bin_rows
from treewright.data.memory import check_fits
from treewright.exceptions import TooLargeError
from treewright.predict.ensemble_walk import SCRATCH_ROWS, leaves_in_tree, sum_over_trees
from treewright.tree.packed import PackedTrees

_LANES = 2048
_BLOCK_BYTES = 1 << 18  # of bin numbers
_LEAST_ROWS, _MOST_ROWS = 512, 8192
_INLINE_WALKS = 100_000  # rows times trees; below, a second thread costs more than it saves
_MOST_WALKS = 1 << 25  # a block; some seconds, in which Ctrl-C is not heard
_MOST_CODES = 1 << 35  # bytes; a lane knows where its row begins in 32 bits, in words of eight


class WalkArrays(NamedTuple):
    """What the kernels read of ``PackedTrees``, in the order in which they take it."""

    records: np.ndarray
    roots: np.ndarray
    sets: np.ndarray
    set_column: np.ndarray


_arrays: WeakKeyDictionary[PackedTrees, WalkArrays] = WeakKeyDictionary()


def walk_arrays(packed: PackedTrees) -> WalkArrays:
    """The arrays of packed trees as the kernels want them, made once."""
    arrays = _arrays.get(packed)
    if arrays is None:
        fields = (packed.records, packed.roots, packed.sets, packed.set_column)
        arrays = _arrays[packed] = WalkArrays(*(_for_kernels(cells) for cells in fields))
    return arrays


class _Window:
    """The memory of an array that may not be written to, shown as if it might."""

    def __init__(self, cells: np.ndarray) -> None:
        self._cells = cells  # keeps the memory alive
        self.__array_interface__ = {**cells.__array_interface__, "data": (cells.ctypes.data, False)}


def _for_kernels(cells: np.ndarray) -> np.ndarray:
    """The same memory as an array that Numba takes at once: with a read-only one it spends 10 us, for a row too long.

    A copy would double what a forest takes. The kernels write to none of these arrays.
    """
    rows = np.require(cells, requirements=("C", "A"))
    return rows if rows.flags.writeable else np.asarray(_Window(rows))


def empty_sums(n: int, n_values: int) -> np.ndarray:
    """float64[n, n_values] of zeros.

    Raises
    ------
    TooLargeError
        They would not fit in memory.
    """
    check_fits(n * n_values * 8, f"{n} x {n_values} sums over trees", "pass fewer rows")
    return np.zeros((n, n_values))


def packed_sums(packed: PackedTrees, content: np.ndarray, matrix: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """What the leaves of each row hold, added up in the order of the trees.

    Parameters
    ----------
    packed : PackedTrees
    content : float64[m, n_values]
        A row per row of the leaf table.
    matrix : float64 or float32 [n, p]
        Encoded rows in any memory order.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    float64[n, n_values]

    Raises
    ------
    TooLargeError
        They would not fit in memory.
    """
    arrays = walk_arrays(packed)
    n_trees = len(arrays.roots) - 1
    sums = empty_sums(len(matrix), content.shape[1])

    def walk(start: int, stop: int) -> None:
        codes = bin_rows(packed.bins, matrix[start:stop])
        scratch = np.empty((SCRATCH_ROWS, min(_LANES, max(stop - start, n_trees))), np.uint32)
        sum_over_trees(codes.reshape(-1), codes.shape[1], *arrays, content, 1, scratch, sums[start:stop])

    _in_blocks(walk, matrix, n_trees, n_jobs)
    return sums


def packed_leaves(packed: PackedTrees, matrix: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """Position of each row's leaf in every tree.

    Returns
    -------
    int64[n, n_trees]
        Counted within the tree.

    Raises
    ------
    TooLargeError
        The positions would not fit in memory.
    """
    n, n_trees = len(matrix), len(packed.roots) - 1
    check_fits(n * n_trees * 8, f"{n} x {n_trees} leaf positions", "pass fewer rows")
    leaves = np.empty((n, n_trees), np.int64)

    def walk(start: int, stop: int) -> None:
        codes = bin_rows(packed.bins, matrix[start:stop])
        rows = np.arange(stop - start, dtype=np.int32)
        for tree in range(n_trees):
            leaves[start:stop, tree] = _walk_one(packed, codes, rows, tree, has_missing=True, as_positions=True)

    _in_blocks(walk, matrix, n_trees, n_jobs)
    return leaves


def leaf_rows_of_bins(
    packed: PackedTrees,
    codes: np.ndarray,
    rows: np.ndarray,
    tree: int = 0,
    *,
    has_missing: bool = True,
    as_positions: bool = False,
) -> np.ndarray:
    """Where rows that are binned already end in one tree.

    Parameters
    ----------
    packed : PackedTrees
    codes : uint8[n, stride]
        Row-major, as ``bin_rows`` makes them.
    rows : int32[m], 0 to n - 1
        Which rows; one may be there twice.
    tree : int
    has_missing : bool
        False promises that no cell is missing, and saves a fifth of the time.
    as_positions : bool
        Whether to give the leaves' positions in the tree: leaves that are equal share a row of the leaf table.

    Returns
    -------
    int32[m]
        Rows of the leaf table, or positions.

    Raises
    ------
    TooLargeError
        The bin numbers take more than 32 GiB.
    """
    return _walk_one(packed, codes, rows, tree, has_missing=has_missing, as_positions=as_positions)


def _walk_one(
    packed: PackedTrees, codes: np.ndarray, rows: np.ndarray, tree: int, *, has_missing: bool, as_positions: bool
) -> np.ndarray:
    """Leaves of chosen rows in one tree."""
    if codes.nbytes > _MOST_CODES:
        raise TooLargeError(f"{codes.nbytes} bytes of bin numbers: walk at most {_MOST_CODES} at once")
    records, roots, sets, set_column = walk_arrays(packed)
    scratch = np.empty((SCRATCH_ROWS, max(1, min(_LANES, len(rows)))), np.uint32)
    leaves = np.empty(len(rows), np.int32)
    leaves_in_tree(
        _for_kernels(codes).reshape(-1), codes.shape[1], _for_kernels(rows), records, int(roots[tree]), sets,
        set_column, has_missing, as_positions, scratch, leaves,
    )  # fmt: skip
    return leaves


def _in_blocks(walk: Callable[[int, int], None], matrix: np.ndarray, n_trees: int, n_jobs: int | None) -> None:
    """Call ``walk(start, stop)`` for blocks of rows, on threads where that pays."""
    n, n_columns = matrix.shape
    n_threads = threads.resolve_jobs(n_jobs) if n * n_trees >= _INLINE_WALKS else 1
    cached = min(_BLOCK_BYTES // n_columns, _MOST_WALKS // n_trees)
    block = min(_MOST_ROWS, max(_LEAST_ROWS, cached), max(1, -(-n // n_threads)))

    def work(task: int, thread: int) -> None:
        walk(task * block, min((task + 1) * block, n))

    threads.run_each(work, -(-n // block), n_threads)
