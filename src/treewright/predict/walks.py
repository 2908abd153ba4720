"""Rows down the trees of a model.

Two forms of trees have a walk each. A lane is a row on its way down a tree. All lanes take a step in turn and none
waits for another, so many look-ups wait for memory at once; lanes that have arrived are removed, or take the next row.

    packed trees  read bins. A block of rows is converted to bin numbers, which stay in the second-level cache; a step
                  has no jump that depends on the data
    listed trees  read the encoded cells. All trees are stored one after another (``Joined``), each packed as
                  ``route`` packs a single one; a tree that this form cannot hold goes down ``route``'s general walk

Many rows go down one tree after another, so that a tree is fetched once per block; a few rows go down many trees at
once. A lane does not depend on its neighbours, and sums are made in the order of the trees: a batch equals row by row.
``Walk`` is for single trees and chosen rows, also while a forest is grown; ``Reading`` and ``sums_of`` are for all rows
and the trees of a model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from treewright.trees.data import ModelData, Trees, class_proportions, votes_for
from treewright.trees.packed import PackedTrees

_FEW_ROWS = 16  # up to this many rows, trees and not rows are walked together
INLINE_WALKS = 100_000  # rows times trees; below, a second thread costs more than it saves
_MOST_WALKS = 1 << 25  # per block; a few seconds, in which Ctrl-C has no effect
_LEAST_ROWS = 512  # of a block


def in_blocks(
    work: Callable[[int, int], None], n: int, row_bytes: int, n_steps: int, n_jobs: int | None, block_bytes: int,
    most_rows: int,
) -> None:  # fmt: skip
    """Call ``work(start, stop)`` for blocks of ``n`` rows that stay in a cache, on threads if that is faster.

    ``row_bytes`` is the size of a row in the cache, ``n_steps`` counts its trees (or cells, if these are more).
    """
    n_threads = threads.resolve_jobs(n_jobs) if n * n_steps >= INLINE_WALKS else 1
    cached = min(block_bytes // max(row_bytes, 1), _MOST_WALKS // max(n_steps, 1))
    block = min(most_rows, max(_LEAST_ROWS, cached), max(1, -(-n // n_threads)))
    threads.run_each(lambda task, _thread: work(task * block, min((task + 1) * block, n)), -(-n // block), n_threads)


def empty_sums(n: int, n_values: int) -> np.ndarray:
    """float64[n, n_values] of zeros."""
    check_fits(n * n_values * 8, f"{n} x {n_values} sums over trees", "pass fewer rows")
    return np.zeros((n, n_values))


# Packed trees.

_LANES = 2048
_BLOCK_BYTES, _MOST_ROWS = 1 << 18, 8192  # of bin numbers
_KEPT_ROWS = 8192  # of a block whose bins are kept
_MOST_CODES = 1 << 35  # bytes; a lane holds the start of its row in 32 bits, in words of eight

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


def add_binned(
    packed: PackedTrees, codes: np.ndarray, first: int, stop: int, content: np.ndarray, n_scores: int, sums: np.ndarray
) -> None:
    """Add the leaf contents of packed trees ``first``, a multiple of ``n_scores``, to ``stop - 1`` for rows in bins.

    ``codes`` uint8[n, stride], ``content`` float64[m, k] for each row of the leaf table, ``sums`` float64[n,
    n_scores + k - 1].
    """
    records, roots, sets, set_column = walk_arrays(packed)
    scratch = np.empty((SCRATCH_ROWS, max(1, min(_LANES, max(len(codes), stop - first)))), np.uint32)
    sum_over_trees(
        codes.reshape(-1), codes.shape[1], records, roots[first : stop + 1], sets, set_column, content, n_scores,
        scratch, sums,
    )  # fmt: skip


def packed_sums(packed: PackedTrees, content: np.ndarray, matrix: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """float64[n, k]: the leaf contents of each row (``content`` float64[m, k]), added up in the order of the trees."""
    (n, n_columns), n_trees = matrix.shape, packed.n_trees
    sums = empty_sums(n, content.shape[1])

    def work(start: int, stop: int) -> None:
        add_binned(packed, bin_rows(packed.bins, matrix[start:stop]), 0, n_trees, content, 1, sums[start:stop])

    in_blocks(work, n, n_columns, n_trees, n_jobs, _BLOCK_BYTES, _MOST_ROWS)
    return sums


def packed_leaves(packed: PackedTrees, matrix: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """int64[n, n_trees]: position of each row's leaf in every tree, counted within the tree."""
    (n, n_columns), n_trees = matrix.shape, packed.n_trees
    check_fits(n * n_trees * 8, f"{n} x {n_trees} leaf positions", "pass fewer rows")
    leaves = np.empty((n, n_trees), np.int64)

    def work(start: int, stop: int) -> None:
        codes, rows = bin_rows(packed.bins, matrix[start:stop]), np.arange(stop - start, dtype=np.int32)
        for tree in range(n_trees):
            leaves[start:stop, tree] = leaf_rows_of_bins(packed, codes, rows, tree, as_positions=True)

    in_blocks(work, n, n_columns, n_trees, n_jobs, _BLOCK_BYTES, _MOST_ROWS)
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
    """The leaves of binned rows in one tree: int32[m] rows of the leaf table, or positions in the tree.

    ``codes`` uint8[n, stride], row-major, as ``bin_rows`` makes them; a sparse table is expanded in blocks of rows.
    ``rows`` int32[m]: one may occur twice. ``has_missing=False`` promises that no cell is missing, and saves a fifth of
    the time. Equal leaves share a row of the leaf table, never a position.
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


# Listed trees.

_LISTED_LANES = 16
_WIDTH = 256  # trees at a time
# Of rows. Large trees are fetched again for each block: 100 trees of 13,000 leaves, 100,000 rows of 20 numbers took
# .98 s in blocks of 1 << 18, .53 s of 1 << 20, .33 s of 1 << 22, .30 s of 1 << 24; 100 of 60 leaves .13 s in any.
_LISTED_BLOCK_BYTES, _MOST_LISTED_ROWS = 1 << 23, 65_536


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
    """The listed trees one after another: children and words are numbered through."""
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


def add_listed(
    model: ModelData, first: int, stop: int, contents: tuple[np.ndarray, ...], matrix: np.ndarray, sums: np.ndarray,
    n_jobs: int | None, *, weights: np.ndarray | None = None, n_scores: int = 1,
) -> None:  # fmt: skip
    """Add the leaf contents of the listed trees ``first``, a multiple of ``n_scores``, to ``stop - 1``, tree by tree.

    ``contents`` float64[n_nodes, k] each, consecutive parts of one array as ``ensemble.contents_of`` makes them;
    ``weights`` float64[n_trees]; ``sums`` float64[n, n_scores + k - 1]: tree ``t`` adds to the columns from
    ``t % n_scores``.
    """
    joined = joined_of(model)
    if joined is None:
        for tree in range(first, stop):
            content = contents_in_tree(model, model.trees[tree], contents[tree], matrix, n_jobs)
            k = tree % n_scores
            sums[:, k : k + content.shape[1]] += content if weights is None else content * weights[tree]
        return
    of_trees = (np.ones(len(contents)) if weights is None else weights)[first:stop]
    base = contents[0].base
    is_base = base is not None and len(base) == len(joined.records)  # not if scaled down, for a mean of large numbers
    of_nodes = base if is_base else np.concatenate(contents)

    def work(start: int, end: int) -> None:
        # Only this block is converted to row-major order, so that a column-major table is never copied as a whole.
        rows, scratch = np.ascontiguousarray(matrix[start:end]), np.empty((3, _WIDTH), np.int64)
        add_leaves(
            rows, joined.records, joined.words, joined.tests_subsets, joined.roots[first : stop + 1], of_trees,
            n_scores, of_nodes, scratch, sums[start:end],
        )  # fmt: skip

    n, n_columns = matrix.shape
    in_blocks(work, n, 8 * n_columns, stop - first, n_jobs, _LISTED_BLOCK_BYTES, _MOST_LISTED_ROWS)


def contents_in_tree(
    model: ModelData, tree: Tree, content: np.ndarray, matrix: np.ndarray, n_jobs: int | None
) -> np.ndarray:
    """float64[n, k]: each row's leaf content in one tree (``content`` float64[n_nodes, k]).

    Under ``missing="fractional"`` a row with missing cells gets an average; if trees vote, one vote for the class with
    the largest average proportion, the tree's prediction.
    """
    found: np.ndarray = content.take(leaf_of(tree, matrix, n_jobs), axis=0)
    if model.missing == "fractional" and len(rows := rows_with_missing(matrix)):
        if model.aggregation.votes:
            shares = average_of_leaves(tree, matrix, rows, class_proportions(model, tree.value), n_jobs)
            found[rows] = votes_for(model, shares)
        else:
            found[rows] = average_of_leaves(tree, matrix, rows, content, n_jobs)
    return found


def leaves_in_listed_tree(model: ModelData, tree: Tree, matrix: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """int32[n]: position of each row's leaf in one tree; for a row in several leaves the one with its largest share."""
    leaves = leaf_of(tree, matrix, n_jobs)
    return main_leaf_of(tree, matrix, leaves, n_jobs) if model.missing == "fractional" else leaves


# Trees of either form.


class Walk:
    """Chosen rows of a table down single trees."""

    def __init__(self, trees: Trees | Sequence[Tree]) -> None:
        self._trees = trees
        self._packed = trees if isinstance(trees, PackedTrees) else None

    def cells(self, matrix: np.ndarray, n_threads: int = 1) -> np.ndarray:
        """The cells that the trees read: uint8[n, stride] bins, or the encoded rows themselves."""
        return matrix if self._packed is None else bin_rows(self._packed.bins, matrix, n_threads)

    def chosen(self, codes: np.ndarray, matrix: np.ndarray) -> np.ndarray:
        """The one of the two, bins or encoded rows, that the trees read."""
        return matrix if self._packed is None else codes

    def positions(self, tree: int, cells: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """int32[m]: positions in one tree of the leaves of given rows (int32[m])."""
        if self._packed is None:
            return leaf_of(self._trees[tree], cells[rows], 1)
        return leaf_rows_of_bins(self._packed, cells, rows, tree, as_positions=True)

    def leaves(self, tree: int, cells: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The row of a table for the leaf of each given row, int32[m], and the table: float[k, n_values]."""
        if self._packed is None:
            return self.positions(tree, cells, rows), self._trees[tree].value
        return leaf_rows_of_bins(self._packed, cells, rows, tree), self._packed.leaf_value

    def table(self, tree: int) -> int:
        """The position of that table in ``trees.values``."""
        return tree if self._packed is None else 0


class Reading:
    """The trees of a model, one or some at a time, for all rows; ``contents`` are those of ``ensemble.contents_of``.

    Packed trees need the bins of all rows: they are made once, and kept.
    """

    def __init__(self, model: ModelData, matrix: np.ndarray, n_jobs: int | None) -> None:
        self._model, self._matrix, self._n_jobs = model, matrix, n_jobs
        self._packed = model.trees if isinstance(model.trees, PackedTrees) else None
        self._blocks: list[tuple[int, np.ndarray]] = []  # of rows in bins, with the first row of each; for ``add``
        self._codes: np.ndarray | None = None  # uint8[n, stride], all rows in bins; for ``of_tree``

    def add(self, first: int, stop: int, contents: tuple[np.ndarray, ...], sums: np.ndarray) -> None:
        """Add the leaf contents of the trees ``first`` to ``stop - 1``, without weights."""
        packed, matrix = self._packed, self._matrix
        if packed is None:
            add_listed(self._model, first, stop, contents, matrix, sums, self._n_jobs)
            return
        if not self._blocks:
            check_fits(matrix.size, f"bins of {len(matrix)} x {matrix.shape[1]} cells", "pass fewer rows")
            self._blocks = [
                (start, bin_rows(packed.bins, matrix[start : start + _KEPT_ROWS]))
                for start in range(0, len(matrix), _KEPT_ROWS)
            ]

        def work(task: int, _thread: int) -> None:
            start, codes = self._blocks[task]
            add_binned(packed, codes, first, stop, contents[0], 1, sums[start : start + len(codes)])

        threads.run_each(work, len(self._blocks), threads.resolve_jobs(self._n_jobs))

    def of_tree(self, tree: int, contents: tuple[np.ndarray, ...]) -> np.ndarray:
        """float64[n, k]: the leaf contents of one tree."""
        if self._packed is None:
            return contents_in_tree(self._model, self._model.trees[tree], contents[tree], self._matrix, self._n_jobs)
        if self._codes is None:
            self._codes = bin_rows(self._packed.bins, self._matrix)
        every = np.arange(len(self._matrix), dtype=np.int32)
        return contents[0].take(leaf_rows_of_bins(self._packed, self._codes, every, tree), axis=0)


def sums_of(model: ModelData, contents: tuple[np.ndarray, ...], matrix: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """float64[n, k]: the leaf contents times the trees' weights, added up in their order; may be beyond float64."""
    trees = model.trees
    if isinstance(trees, PackedTrees):  # not a `Reading`: for one row, each microsecond counts
        return packed_sums(trees, contents[0], matrix, n_jobs)
    sums = empty_sums(len(matrix), contents[0].shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        add_listed(model, 0, len(trees), contents, matrix, sums, n_jobs, weights=model.aggregation.weights)
    return sums
