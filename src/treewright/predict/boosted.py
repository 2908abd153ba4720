"""Scores of boosted trees.

Two engines, chosen by shape. Trees with few leaves are computed for a block of rows at once, test by test
(``column_walk``). Larger trees, and fewer rows than leaves, are walked (``ensemble_walk``). Both find the leaf of each
row by the same bins and add in the order of the trees, to scores that start with the base: every engine, block and
number of threads gives the same bits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from weakref import WeakKeyDictionary

import numpy as np

from treewright.core import threads
from treewright.data.bin_rows import bin_columns, bin_rows
from treewright.data.memory import check_fits
from treewright.predict.columns import MOST_LEAVES, add_trees, steps_of
from treewright.predict.walks import SCRATCH_ROWS, empty_sums, sum_over_trees, walk_arrays
from treewright.trees.packed import PackedTrees

_LANES = 2048
_BLOCK_BYTES = 1 << 16  # of bins; about the nearest cache
_LEAST_ROWS, _MOST_ROWS = 512, 8192
_MOST_WALKS = 1 << 25  # per block; a few seconds, in which Ctrl-C has no effect
_INLINE_CELLS = 100_000  # bins or rows times trees; below, a second thread costs more than it saves
_WIDTH = 64  # rows of a block are rounded up to a multiple of this

_facts: WeakKeyDictionary[PackedTrees, tuple[int, np.ndarray]] = WeakKeyDictionary()


class _Engine(ABC):
    """An engine that computes the scores of rows."""

    def __init__(self, packed: PackedTrees) -> None:
        self.packed = packed

    @abstractmethod
    def prepared(self, matrix: np.ndarray) -> np.ndarray:
        """The given rows as bin numbers."""

    @abstractmethod
    def add(self, prepared: np.ndarray, first: int, stop: int, scores: np.ndarray) -> None:
        """Add trees ``first`` to ``stop``; ``first`` is a multiple of the number of scores."""


class _Walk(_Engine):
    """Walks: the lanes are the rows of a tree; for a few rows the lanes are the trees."""

    def prepared(self, matrix: np.ndarray) -> np.ndarray:
        return bin_rows(self.packed.bins, matrix)

    def add(self, prepared: np.ndarray, first: int, stop: int, scores: np.ndarray) -> None:
        records, roots, sets, set_column = walk_arrays(self.packed)
        scratch = np.empty((SCRATCH_ROWS, max(1, min(_LANES, max(len(scores), stop - first)))), np.uint32)
        sum_over_trees(
            prepared.reshape(-1), prepared.shape[1], records, roots[first : stop + 1], sets, set_column,
            _facts_of(self.packed)[1], scores.shape[1], scratch, scores,
        )  # fmt: skip


class _Columns(_Engine):
    """Trees are computed from their leaves upwards for all rows of a block."""

    def __init__(self, packed: PackedTrees) -> None:
        super().__init__(packed)
        self.steps = steps_of(packed)

    def prepared(self, matrix: np.ndarray) -> np.ndarray:
        n, p = matrix.shape
        rows = np.zeros((self.steps.n_rows, -(-n // _WIDTH) * _WIDTH), np.uint8)
        bin_columns(self.packed.bins, matrix, rows[:p])
        return rows

    def add(self, prepared: np.ndarray, first: int, stop: int, scores: np.ndarray) -> None:
        add_trees(prepared, self.steps, self.packed.bins.n_columns, first, stop, scores)


def boosted_scores(
    packed: PackedTrees, base: Sequence[float], matrix: np.ndarray, n_jobs: int | None, stop: int | None = None
) -> np.ndarray:
    """Scores of rows: the base plus the values of the trees' leaves.

    Parameters
    ----------
    packed : PackedTrees
        Regression trees. Tree ``t`` adds the first value of a row's leaf to score ``t % k``.
    base : sequence of k floats
        Start value of each score.
    matrix : float64 or float32 [n, p]
        Encoded rows in any memory order.
    n_jobs : int or None
        Threads; the result does not depend on it.
    stop : int >= 0, or None
        Number of trees to add, at most all; None adds all.

    Returns
    -------
    float64[n, k]
    """
    scores = _begun(base, len(matrix))
    last = packed.n_trees if stop is None else max(0, min(stop, packed.n_trees))
    if last == 0 or len(matrix) == 0:
        return scores
    engine = _engine_for(packed, len(matrix))

    def work(start: int, end: int) -> None:
        engine.add(engine.prepared(matrix[start:end]), 0, last, scores[start:end])

    _in_blocks(work, matrix, last, n_jobs)
    return scores


def staged_boosted_scores(
    packed: PackedTrees, base: Sequence[float], matrix: np.ndarray, n_jobs: int | None
) -> Iterator[np.ndarray]:
    """Scores of rows after each round of ``k`` trees.

    Parameters
    ----------
    packed, base, matrix, n_jobs
        As for ``boosted_scores``. The bins of all rows are held until the last round.

    Yields
    ------
    float64[n, k]
        A new array; the last equals ``boosted_scores``, also if the last round is incomplete.
    """
    n, p = matrix.shape
    scores = _begun(base, n)
    engine = _engine_for(packed, n)
    check_fits(n * (p + 16), f"bins of {n} x {p} cells", "pass fewer rows")
    blocks: dict[int, tuple[int, np.ndarray]] = {}
    width = len(base)

    def prepare(start: int, end: int) -> None:
        blocks[start] = end, engine.prepared(matrix[start:end])

    if n:
        _in_blocks(prepare, matrix, width, n_jobs)
    starts = sorted(blocks)
    n_threads = threads.resolve_jobs(n_jobs) if n * width >= _INLINE_CELLS else 1
    for first in range(0, packed.n_trees, width):
        last = min(first + width, packed.n_trees)

        def work(task: int, _thread: int, first: int = first, last: int = last) -> None:
            end, prepared = blocks[starts[task]]
            engine.add(prepared, first, last, scores[starts[task] : end])

        threads.run_each(work, len(starts), n_threads)
        yield scores.copy()


def _begun(base: Sequence[float], n: int) -> np.ndarray:
    """float64[n, k]: the base in each row."""
    scores = empty_sums(n, len(base))
    scores[:] = base
    return scores


def _facts_of(packed: PackedTrees) -> tuple[int, np.ndarray]:
    """The largest number of leaves of a tree, and the leaf values float64[m, 1]; made once."""
    facts = _facts.get(packed)
    if facts is None:
        # A binary tree of n nodes has (n + 1) / 2 leaves.
        most = (int(np.diff(packed.roots).max(initial=0)) + 1) // 2
        facts = _facts[packed] = most, np.array(packed.leaf_value[:, :1], np.float64, order="C")
    return facts


def _engine_for(packed: PackedTrees, n: int) -> _Engine:
    """The fastest engine for these trees and this number of rows.

    In columns a test takes about as long for one row as for hundreds: they are faster from as many rows as a tree has
    leaves (20 trees of 64, 128 and 255 leaves: 64, 128 and 255 rows take 32, 48 and 95 us in columns and 31, 50 and
    98 us walked; 20,000 rows a third of the time).
    """
    n_leaves = (packed.n_nodes + packed.n_trees) // 2
    in_columns = n * packed.n_trees > n_leaves and _facts_of(packed)[0] <= MOST_LEAVES
    return _Columns(packed) if in_columns else _Walk(packed)


def _in_blocks(work: Callable[[int, int], None], matrix: np.ndarray, n_trees: int, n_jobs: int | None) -> None:
    """Call ``work(start, end)`` for blocks of rows, on threads if that is faster."""
    n, p = matrix.shape
    n_threads = threads.resolve_jobs(n_jobs) if n * max(p, n_trees) >= _INLINE_CELLS else 1
    cached = min(_BLOCK_BYTES // max(p, 1), _MOST_WALKS // n_trees)
    block = min(_MOST_ROWS, max(_LEAST_ROWS, cached), max(1, -(-n // n_threads)))

    def do(task: int, _thread: int) -> None:
        work(task * block, min((task + 1) * block, n))

    threads.run_each(do, -(-n // block), n_threads)
