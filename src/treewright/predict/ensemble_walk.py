"""Walks of many rows down packed trees.

A lane is a row on its path down a tree. All lanes take a step in turn and none waits for another, so many look-ups run
at once; a step has no jump that depends on the data, and every few steps the lanes that have arrived are removed. Many
rows go down one tree after another; a few rows go down many trees at once. A lane's path does not depend on its
neighbours, and sums are made in the order of the trees: a batch equals row by row.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import costs, inner_kernel, kernel
from treewright.data.bins import MISSING_BIN
from treewright.tree.records import CHILD_SHIFT, COLUMN_SHIFT, CUT_SHIFT, MISSING_SHIFT, SET_SHIFT, SUBSET_RECORD

_STEPS = 4  # between two checks for lanes that have arrived
_FEW_ROWS = 16  # up to this many rows, trees and not rows are walked together

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
