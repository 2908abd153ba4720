"""Many listed trees walked together: the leaf contents of each row, added up in the order of the trees.

All trees are stored one after another, packed as ``route`` packs a single one. With many rows a block goes down one
tree after another, several rows together; with a few rows several trees are walked together. Either way the walks wait
for memory together, no call is made per tree, and each sum is made in the order of the trees: a batch equals row by
row.

Walks of rows through the trees of a model, packed or listed.

With packed trees a block of rows is converted to bin numbers, which stay in the second-level cache, and walks down one
tree after another, so that a tree is fetched once per block; the matrix is never copied as a whole. Listed trees read
the encoded cells. ``walk_of`` is for single trees and chosen rows, also while a forest is grown; ``Reading`` is for all
trees of a model and all rows.

Walks of many rows down packed trees.

A lane is a row on its path down a tree. All lanes take a step in turn and none waits for another, so many look-ups run
at once; a step has no jump that depends on the data, and every few steps the lanes that have arrived are removed. Many
rows go down one tree after another; a few rows go down many trees at once. A lane's path does not depend on its
neighbours, and sums are made in the order of the trees: a batch equals row by row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from treewright.core import threads
from treewright.core.jit import costs, inner_kernel, kernel
from treewright.data.bin_rows import SparseCodes, bin_rows
from treewright.data.bins import MISSING_BIN
from treewright.data.memory import check_fits
from treewright.exceptions import TooLargeError
from treewright.predict.fractional import average_of_leaves, main_leaf_of, rows_with_missing
from treewright.predict.route import (
    WORD_CHILD_SHIFT,
    WORD_COLUMN_MASK,
    WORD_COLUMN_SHIFT,
    is_packable,
    leaf_of,
    next_node,
    records_of,
)
from treewright.trees.arrays import (
    CHILD_SHIFT,
    COLUMN_SHIFT,
    CUT_SHIFT,
    MISSING_SHIFT,
    SET_SHIFT,
    SUBSET,
    SUBSET_RECORD,
    Tree,
)
from treewright.trees.data import ModelData, Trees, class_shares, votes_for
from treewright.trees.packed import PackedTrees

_LISTED_LANES = 16
_FEW_ROWS = 16  # up to this many rows, trees and not rows are walked together
_WIDTH = 256  # trees at a time
# Of rows. Large trees are fetched again for each block: 100 trees of 13,000 leaves, 100,000 rows of 20 numbers took
# .98 s in blocks of 1 << 18, .53 s of 1 << 20, .33 s of 1 << 22, .30 s of 1 << 24; 100 of 60 leaves .13 s in any.
_LISTED_BLOCK_BYTES = 1 << 23
_LEAST_LISTED_ROWS, _MOST_LISTED_ROWS = 512, 65_536
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
        records[:, 1] += root << WORD_CHILD_SHIFT
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
                        x = matrix[row, (packed >> WORD_COLUMN_SHIFT) & WORD_COLUMN_MASK]
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
        lanes = min(_LISTED_LANES, n)
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
                x = matrix[row, (packed >> WORD_COLUMN_SHIFT) & WORD_COLUMN_MASK]
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
    cached = min(_LISTED_BLOCK_BYTES // (8 * max(n_columns, 1)), _MOST_WALKS // max(n_trees, 1))
    block = min(_MOST_LISTED_ROWS, max(_LEAST_LISTED_ROWS, cached), max(1, -(-n // n_threads)))

    def work(task: int, _thread: int) -> None:
        start, end = task * block, min((task + 1) * block, n)
        # Only this block is converted to row-major order, so that a column-major table is never copied as a whole.
        rows, scratch = np.ascontiguousarray(matrix[start:end]), np.empty((3, _WIDTH), np.int64)
        add_leaves(
            rows, joined.records, joined.words, joined.tests_subsets, joined.roots[first : stop + 1],
            weights[first:stop], n_scores, contents, scratch, sums[start:end],
        )  # fmt: skip

    threads.run_each(work, -(-n // block), n_threads)


_LANES = 2048
_BLOCK_BYTES = 1 << 18  # of bin numbers
_LEAST_ROWS, _MOST_ROWS = 512, 8192
_KEPT_ROWS = 8192  # of a block whose bins are kept
_MOST_CODES = 1 << 35  # bytes; a lane holds the start of its row in 32 bits, in words of eight


class WalkArrays(NamedTuple):
    """The arrays of ``PackedTrees`` that kernels read, in the order of their arguments."""

    records: np.ndarray
    roots: np.ndarray
    sets: np.ndarray
    set_column: np.ndarray


_arrays: WeakKeyDictionary[PackedTrees, WalkArrays] = WeakKeyDictionary()


def walk_arrays(packed: PackedTrees) -> WalkArrays:
    """The arrays of packed trees for the kernels, made once."""
    arrays = _arrays.get(packed)
    if arrays is None:
        fields = (packed.records, packed.roots, packed.sets, packed.set_column)
        arrays = _arrays[packed] = WalkArrays(*(_for_kernels(cells) for cells in fields))
    return arrays


class _Window:
    """The memory of a read-only array, presented as writable."""

    def __init__(self, cells: np.ndarray) -> None:
        self._cells = cells  # keeps the memory alive
        self.__array_interface__ = {**cells.__array_interface__, "data": (cells.ctypes.data, False)}


def _for_kernels(cells: np.ndarray) -> np.ndarray:
    """The same memory as a writable array: for a read-only one Numba takes 10 us more, too long for a single row.

    A copy would double the memory of a forest. The kernels write to none of these arrays.
    """
    rows = np.require(cells, requirements=("C", "A"))
    return rows if rows.flags.writeable else np.asarray(_Window(rows))


def empty_sums(n: int, n_values: int) -> np.ndarray:
    """float64[n, n_values] of zeros."""
    check_fits(n * n_values * 8, f"{n} x {n_values} sums over trees", "pass fewer rows")
    return np.zeros((n, n_values))


def packed_sums(packed: PackedTrees, content: np.ndarray, matrix: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """Sums of the leaf contents of each row, added up in the order of the trees.

    Parameters
    ----------
    content : float64[m, n_values]
        A row per row of the leaf table.
    matrix : float64 or float32 [n, p]
        Encoded rows in any memory order.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    float64[n, n_values]
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
    """
    n, n_trees = len(matrix), len(packed.roots) - 1
    check_fits(n * n_trees * 8, f"{n} x {n_trees} leaf positions", "pass fewer rows")
    leaves = np.empty((n, n_trees), np.int64)

    def walk(start: int, stop: int) -> None:
        codes = bin_rows(packed.bins, matrix[start:stop])
        rows = np.arange(stop - start, dtype=np.int32)
        for tree in range(n_trees):
            leaves[start:stop, tree] = leaf_rows_of_bins(packed, codes, rows, tree, as_positions=True)

    _in_blocks(walk, matrix, n_trees, n_jobs)
    return leaves


def leaf_rows_of_bins(
    packed: PackedTrees,
    codes: np.ndarray | SparseCodes,
    rows: np.ndarray,
    tree: int = 0,
    *,
    has_missing: bool = True,
    as_positions: bool = False,
) -> np.ndarray:
    """The leaves of binned rows in one tree.

    Parameters
    ----------
    codes : uint8[n, stride], or SparseCodes
        Row-major, as ``bin_rows`` makes them; a sparse table is expanded in blocks of rows.
    rows : int32[m], 0 to n - 1
        The rows; one may occur twice.
    has_missing : bool
        False promises that no cell is missing, and saves a fifth of the time.
    as_positions : bool
        Whether to return the leaves' positions in the tree: equal leaves share a row of the leaf table.

    Returns
    -------
    int32[m]
        Rows of the leaf table, or positions.
    """
    if isinstance(codes, SparseCodes):
        blocks = [rows[begin : begin + _LEAST_ROWS] for begin in range(0, len(rows), _LEAST_ROWS)]
        parts = [
            leaf_rows_of_bins(
                packed, codes.dense(some), np.arange(len(some), dtype=np.int32), tree,
                has_missing=has_missing, as_positions=as_positions,
            )
            for some in blocks
        ]  # fmt: skip
        return np.concatenate([np.empty(0, np.int32), *parts])
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
    """Call ``walk(start, stop)`` for blocks of rows, on threads if that is faster."""
    n, n_columns = matrix.shape
    n_threads = threads.resolve_jobs(n_jobs) if n * n_trees >= _INLINE_WALKS else 1
    cached = min(_BLOCK_BYTES // n_columns, _MOST_WALKS // n_trees)
    block = min(_MOST_ROWS, max(_LEAST_ROWS, cached), max(1, -(-n // n_threads)))

    def work(task: int, thread: int) -> None:
        walk(task * block, min((task + 1) * block, n))

    threads.run_each(work, -(-n // block), n_threads)


class Walk(ABC):
    """Walks of chosen rows down single trees."""

    @abstractmethod
    def cells(self, matrix: np.ndarray, n_threads: int = 1) -> np.ndarray:
        """The cells that the trees read: uint8[n, stride] bins, or the encoded rows themselves."""

    @abstractmethod
    def chosen(self, codes: np.ndarray, matrix: np.ndarray) -> np.ndarray:
        """The one of the two, bins or encoded rows, that the trees read."""

    @abstractmethod
    def positions(self, tree: int, cells: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """int32[m]: positions in one tree of the leaves of given rows (int32[m])."""

    @abstractmethod
    def leaves(self, tree: int, cells: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The row of a table for the leaf of each given row, int32[m], and the table: float[k, n_values]."""

    @abstractmethod
    def table(self, tree: int) -> int:
        """The position of that table in ``trees.values``."""


class _PackedWalk(Walk):
    def __init__(self, packed: PackedTrees) -> None:
        self.packed = packed

    def cells(self, matrix: np.ndarray, n_threads: int = 1) -> np.ndarray:
        return bin_rows(self.packed.bins, matrix, n_threads)

    def chosen(self, codes: np.ndarray, matrix: np.ndarray) -> np.ndarray:
        del matrix
        return codes

    def positions(self, tree: int, cells: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return leaf_rows_of_bins(self.packed, cells, rows, tree, as_positions=True)

    def leaves(self, tree: int, cells: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return leaf_rows_of_bins(self.packed, cells, rows, tree), self.packed.leaf_value

    def table(self, tree: int) -> int:
        del tree
        return 0


class _ListedWalk(Walk):
    def __init__(self, trees: Trees | Sequence[Tree]) -> None:
        self.trees = trees

    def cells(self, matrix: np.ndarray, n_threads: int = 1) -> np.ndarray:
        del n_threads
        return matrix

    def chosen(self, codes: np.ndarray, matrix: np.ndarray) -> np.ndarray:
        del codes
        return matrix

    def positions(self, tree: int, cells: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return leaf_of(self.trees[tree], cells[rows], 1)

    def leaves(self, tree: int, cells: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.positions(tree, cells, rows), self.trees[tree].value

    def table(self, tree: int) -> int:
        return tree


def walk_of(trees: Trees | Sequence[Tree]) -> Walk:
    """The ``Walk`` for trees of either form."""
    return _PackedWalk(trees) if isinstance(trees, PackedTrees) else _ListedWalk(trees)


class Reading(ABC):
    """All trees of a model, read for all rows. ``contents`` are the leaf contents (``ensemble.contents_of``)."""

    def __init__(self, model: ModelData, matrix: np.ndarray, n_jobs: int | None) -> None:
        self.model, self.matrix, self.n_jobs = model, matrix, n_jobs

    @abstractmethod
    def add(self, first: int, stop: int, contents: tuple[np.ndarray, ...], sums: np.ndarray) -> None:
        """Add the leaf contents of the trees ``first`` to ``stop - 1``, without weights."""

    @abstractmethod
    def of_tree(self, tree: int, contents: tuple[np.ndarray, ...]) -> np.ndarray:
        """float64[n, k]: the leaf contents of one tree."""

    @abstractmethod
    def leaves(self) -> np.ndarray:
        """int64[n, n_trees]: position of each row's leaf in every tree; of several the one with its largest share."""


class _PackedReading(Reading):
    """Reads the bins of each row; ``add`` and ``of_tree`` keep the bins of all rows."""

    def __init__(self, packed: PackedTrees, model: ModelData, matrix: np.ndarray, n_jobs: int | None) -> None:
        super().__init__(model, matrix, n_jobs)
        self.packed = packed

    def leaves(self) -> np.ndarray:
        return packed_leaves(self.packed, self.matrix, self.n_jobs)

    @cached_property
    def blocks(self) -> list[tuple[int, np.ndarray]]:
        """Bins of blocks of rows, with the first row of each."""
        n = len(self.matrix)
        check_fits(self.matrix.size, f"bins of {n} x {self.matrix.shape[1]} cells", "pass fewer rows")
        return [
            (start, bin_rows(self.packed.bins, self.matrix[start : start + _KEPT_ROWS]))
            for start in range(0, n, _KEPT_ROWS)
        ]

    def add(self, first: int, stop: int, contents: tuple[np.ndarray, ...], sums: np.ndarray) -> None:
        arrays = walk_arrays(self.packed)

        def work(task: int, _thread: int) -> None:
            start, codes = self.blocks[task]
            scratch = np.empty((SCRATCH_ROWS, min(_LANES, max(len(codes), stop - first))), np.uint32)
            sum_over_trees(
                codes.reshape(-1), codes.shape[1], arrays.records, arrays.roots[first : stop + 1], arrays.sets,
                arrays.set_column, contents[0], 1, scratch, sums[start : start + len(codes)],
            )  # fmt: skip

        threads.run_each(work, len(self.blocks), threads.resolve_jobs(self.n_jobs))

    @cached_property
    def codes(self) -> np.ndarray:
        """uint8[n, stride]: bins of all rows."""
        return bin_rows(self.packed.bins, self.matrix)

    def of_tree(self, tree: int, contents: tuple[np.ndarray, ...]) -> np.ndarray:
        every = np.arange(len(self.matrix), dtype=np.int32)
        return contents[0].take(leaf_rows_of_bins(self.packed, self.codes, every, tree), axis=0)


class _ListedReading(Reading):
    """One tree after another, each for all rows."""

    def add(self, first: int, stop: int, contents: tuple[np.ndarray, ...], sums: np.ndarray) -> None:
        add_listed(self.model, first, stop, contents, self.matrix, sums, self.n_jobs)

    def of_tree(self, tree: int, contents: tuple[np.ndarray, ...]) -> np.ndarray:
        return answers_of_tree(self.model, self.model.trees[tree], contents[tree], self.matrix, self.n_jobs)

    def leaves(self) -> np.ndarray:
        n, n_trees = len(self.matrix), len(self.model.trees)
        check_fits(n * n_trees * 8, f"{n} x {n_trees} leaf positions", "pass fewer rows")
        leaves = np.empty((n, n_trees), np.int64)
        for at, tree in enumerate(self.model.trees):
            leaves[:, at] = leaves_of_tree(self.model, tree, self.matrix, self.n_jobs)
        return leaves


def reading_of(model: ModelData, matrix: np.ndarray, n_jobs: int | None) -> Reading:
    """The trees of a model, read for some rows.

    Parameters
    ----------
    matrix : float64 or float32 [n, p]
    n_jobs : int or None
        Threads; no result depends on it.
    """
    packed = model.trees
    if isinstance(packed, PackedTrees):
        return _PackedReading(packed, model, matrix, n_jobs)
    return _ListedReading(model, matrix, n_jobs)


def sums_of(model: ModelData, contents: tuple[np.ndarray, ...], matrix: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """float64[n, k]: the leaf contents times the trees' weights, added up in their order; may be beyond float64."""
    packed = model.trees
    if isinstance(packed, PackedTrees):  # not a `Reading`: for one row, each microsecond counts
        return packed_sums(packed, contents[0], matrix, n_jobs)
    sums = empty_sums(len(matrix), contents[0].shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        add_listed(model, 0, len(model.trees), contents, matrix, sums, n_jobs, weights=model.aggregation.weights)
    return sums


def add_listed(
    model: ModelData, first: int, stop: int, contents: tuple[np.ndarray, ...], matrix: np.ndarray, sums: np.ndarray,
    n_jobs: int | None, *, weights: np.ndarray | None = None, n_scores: int = 1,
) -> None:  # fmt: skip
    """Add the leaf contents of the listed trees ``first`` to ``stop - 1`` to ``sums``, tree by tree.

    Parameters
    ----------
    contents : tuple of float64[n_nodes, k]
        As ``ensemble.contents_of`` makes them: consecutive parts of one array.
    weights : float64[n_trees], or None
    n_scores : int
        Tree ``t`` adds to the columns from ``t % n_scores``.
    sums : float64[n, n_scores + k - 1], IN and OUT
    """
    joined = joined_of(model)
    if joined is not None:
        every = np.ones(len(contents)) if weights is None else weights
        whole = contents[0].base
        if whole is None or len(whole) != len(joined.records):  # scaled down, for a mean of large numbers
            whole = np.concatenate(contents)
        add_joined(joined, first, stop, whole, every, matrix, n_scores, sums, n_jobs)
        return
    for tree in range(first, stop):
        answers = answers_of_tree(model, model.trees[tree], contents[tree], matrix, n_jobs)
        k = tree % n_scores
        sums[:, k : k + answers.shape[1]] += answers if weights is None else answers * weights[tree]


def answers_of_tree(
    model: ModelData, tree: Tree, content: np.ndarray, matrix: np.ndarray, n_jobs: int | None
) -> np.ndarray:
    """The leaf contents of one tree; under ``missing="fractional"`` a row with missing cells gets an average.

    If trees vote, such a row gets one vote: for the class with the largest average proportion, the tree's prediction.

    Parameters
    ----------
    tree : Tree
        One of its trees.
    content : float64[n_nodes, k]
        Content of each node.
    matrix : float64 or float32 [n, p]

    Returns
    -------
    float64[n, k]
    """
    answers: np.ndarray = content.take(leaf_of(tree, matrix, n_jobs), axis=0)
    if model.missing == "fractional" and len(rows := rows_with_missing(matrix)):
        if model.aggregation.votes:
            shares = average_of_leaves(tree, matrix, rows, class_shares(model, tree.value), n_jobs)
            answers[rows] = votes_for(model, shares)
        else:
            answers[rows] = average_of_leaves(tree, matrix, rows, content, n_jobs)
    return answers


def leaves_of_tree(model: ModelData, tree: Tree, matrix: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """Position of each row's leaf in one tree; for a row in several leaves the one with its largest share.

    Returns
    -------
    int32[n]
    """
    leaves = leaf_of(tree, matrix, n_jobs)
    return main_leaf_of(tree, matrix, leaves, n_jobs) if model.missing == "fractional" else leaves


_STEPS = 4  # between two checks for lanes that have arrived

_KIND_MASK = 3
_CUT_MASK = 255 << CUT_SHIFT
_COLUMN_MASK = (1 << 21) - 1
_SET_MASK = (1 << 29) - 1
_LANE_MASK = (1 << 31) - 1

# Rows of the scratch: the node of each lane, the start of its bins (in words of eight), its owner, and its leaf.
NODE, WORDS, OWNER, ARRIVED = 0, 1, 2, 3
SCRATCH_ROWS = 4


@inner_kernel
def descend(codes, records, sets, set_column, has_missing, as_positions, n_lanes, scratch):
    """Walk lanes to their leaves.

    Parameters
    ----------
    codes : uint8[n * stride], IN
        Bin numbers, row by row.
    records : int64[n_nodes], IN
    sets : uint64[n_sets, 4], IN
    set_column : int32[n_sets], IN
        Empty if no tree has a subset test.
    has_missing : bool
        False promises that no bin is ``MISSING_BIN``.
    as_positions : bool
        Whether to return positions in ``records`` instead of rows of the leaf table.
    scratch : uint32[SCRATCH_ROWS, >= n_lanes]
        ``NODE``, ``WORDS`` and ``OWNER`` IN, overwritten; ``ARRIVED`` OUT, at the owner's position.
    """
    node, words, owner, arrived = scratch[NODE], scratch[WORDS], scratch[OWNER], scratch[ARRIVED]
    tests_subsets = len(set_column) > 0
    while n_lanes > 0:
        for _ in range(_STEPS):
            # All lanes take this step before one takes the next, so that as many look-ups as there are lanes wait for
            # memory together. Both branches are computed and one is kept: a jump that depends on the data would be
            # mispredicted every other time.
            for lane in range(n_lanes):
                packed = records[node[lane]]
                kind = packed & _KIND_MASK
                column = (packed >> COLUMN_SHIFT) & _COLUMN_MASK
                if tests_subsets:
                    chosen = (packed >> SET_SHIFT) & _SET_MASK if kind == SUBSET_RECORD else 0
                    column = np.int64(set_column[chosen]) & _COLUMN_MASK if kind == SUBSET_RECORD else column
                code = np.int64(codes[(np.uint64(words[lane]) << np.uint64(3)) + np.uint64(column)])
                # Compared at the cut's position in the record: one shift less than extracting it.
                branch = np.int64((code << CUT_SHIFT) > (packed & _CUT_MASK))
                if tests_subsets:
                    word = sets[np.uint64(chosen), np.uint64(code >> 6)]
                    other = np.int64((word >> np.uint64(code & 63)) & np.uint64(1)) ^ 1
                    branch = other if kind == SUBSET_RECORD else branch
                if has_missing:
                    branch = (packed >> MISSING_SHIFT) & 1 if code == MISSING_BIN else branch
                # A leaf leads back to itself.
                node[lane] = node[lane] if kind == 0 else (packed >> CHILD_SHIFT) + branch
        on_the_way = 0
        for lane in range(n_lanes):
            here, word_at, whose = node[lane], words[lane], owner[lane]
            packed = records[here]
            arrived[whose] = here if as_positions else packed >> CHILD_SHIFT
            # Always written, and kept only where the lane goes on: the next lane writes over it.
            at = on_the_way & _LANE_MASK
            node[at], words[at], owner[at] = here, word_at, whose
            on_the_way += np.int64((packed & _KIND_MASK) != 0)
        n_lanes = on_the_way


@costs(lambda codes, stride, records, roots, *_: 10 * (len(codes) // stride) * len(roots))
@kernel
def sum_over_trees(codes, stride, records, roots, sets, set_column, content, n_scores, scratch, sums):
    """Add up the leaf contents of each row, tree by tree.

    Parameters
    ----------
    codes : uint8[n * stride], IN
    stride : int
        A multiple of 8.
    records, roots, sets, set_column
        As in ``PackedTrees``; ``set_column`` is empty if no tree has a subset test.
    content : float64[m, n_values], IN
        A row per row of the leaf table.
    n_scores : int >= 1
        Tree ``t`` adds to the columns from ``t % n_scores``.
    scratch : uint32[SCRATCH_ROWS, w >= 1]
        Its width does not change the sums.
    sums : float64[n, n_scores + n_values - 1], IN and OUT

    Notes
    -----
    O(rows x trees x depth). A row's sum is made in the order of the trees, for any block size.
    """
    n, n_trees, width = len(sums), len(roots) - 1, scratch.shape[1]
    n_values = content.shape[1]
    words_per_row = stride >> 3
    if n <= _FEW_ROWS:
        # The trees are the lanes: a few rows alone would not keep the memory busy.
        for row in range(n):
            for begin in range(0, n_trees, width):
                n_lanes = min(width, n_trees - begin)
                for lane in range(n_lanes):
                    scratch[NODE, lane] = roots[begin + lane]
                    scratch[WORDS, lane] = row * words_per_row
                    scratch[OWNER, lane] = lane
                descend(codes, records, sets, set_column, True, False, n_lanes, scratch)
                for lane in range(n_lanes):
                    leaf, score = scratch[ARRIVED, lane], (begin + lane) % n_scores
                    for at in range(n_values):
                        sums[row, score + at] += content[leaf, at]
        return
    has_missing = False
    for at in range(len(codes)):
        has_missing |= codes[at] == MISSING_BIN
    # All blocks of lanes go down a tree before the next one is fetched.
    for tree in range(n_trees):
        score = tree % n_scores
        for begin in range(0, n, width):
            n_lanes = min(width, n - begin)
            for lane in range(n_lanes):
                scratch[NODE, lane] = roots[tree]
                scratch[WORDS, lane] = (begin + lane) * words_per_row
                scratch[OWNER, lane] = lane
            descend(codes, records, sets, set_column, has_missing, False, n_lanes, scratch)
            for lane in range(n_lanes):
                leaf = scratch[ARRIVED, lane]
                for at in range(n_values):
                    sums[begin + lane, score + at] += content[leaf, at]


@kernel
def leaves_in_tree(codes, stride, rows, records, root, sets, set_column, has_missing, as_positions, scratch, leaves):
    """The leaves of chosen rows in one tree.

    Parameters
    ----------
    codes : uint8[n * stride], IN
    stride : int
        A multiple of 8.
    rows : int32[m], IN
    records, sets, set_column
        As in ``PackedTrees``; ``set_column`` is empty if no tree has a subset test.
    root : int
        First record of the tree.
    has_missing, as_positions : bool
        As in ``descend``.
    scratch : uint32[SCRATCH_ROWS, w >= 1]
    leaves : int32[m], OUT
        Rows of the leaf table, or positions in the tree itself.
    """
    width, words_per_row = scratch.shape[1], stride >> 3
    shift = root if as_positions else 0
    for begin in range(0, len(rows), width):
        n_lanes = min(width, len(rows) - begin)
        for lane in range(n_lanes):
            scratch[NODE, lane] = root
            scratch[WORDS, lane] = np.int64(rows[begin + lane]) * words_per_row
            scratch[OWNER, lane] = lane
        descend(codes, records, sets, set_column, has_missing, as_positions, n_lanes, scratch)
        for lane in range(n_lanes):
            leaves[begin + lane] = np.int64(scratch[ARRIVED, lane]) - shift
