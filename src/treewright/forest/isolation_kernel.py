"""Growing one isolation tree. In: the cells that a tree drew. Out: its nodes in arrays. Caller: forest.isolation.

A node's random numbers come from its way from the root, so they depend neither on the order of the rows nor on other
nodes. Positions under a node's key: 0 and 1 are its children's keys, the others are named below.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.core.jit import inner_kernel, kernel
from treewright.core.random import mix
from treewright.tree.arrays import LEAF, SUBSET, THRESHOLD

COLUMN, CUT, MISSING_SIDE, LEVELS = 2, 3, 4, 5
DIVISIONS = 64  # draws of a division of levels; each is one-sided with a chance of one half at most
LARGEST = np.finfo(np.float64).max


class Growing(NamedTuple):
    """Nodes of a tree that grows, with the names that they have in ``Tree``, and what only growing needs.

    ``key`` uint64, ``begin`` int64, ``depth`` int32: by node. ``rows`` int64[n]: the rows, a node's side by side.
    ``since`` int32[k]: depth at which a column was found constant. ``candidates`` int64[k]: columns to draw from.
    ``stack`` int64: nodes that wait. ``side``, ``stamp`` int64 by level: 1 where it goes left, and the node (+ 1) that
    said so. ``present`` int64: levels of the node.
    """

    kind: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    first_child: np.ndarray
    missing_branch: np.ndarray
    level_set: np.ndarray
    n_samples: np.ndarray
    value: np.ndarray
    impurity: np.ndarray
    key: np.ndarray
    begin: np.ndarray
    depth: np.ndarray
    rows: np.ndarray
    since: np.ndarray
    candidates: np.ndarray
    stack: np.ndarray
    side: np.ndarray
    stamp: np.ndarray
    present: np.ndarray


@inner_kernel
def measure(cells, rows):
    """Smallest and largest value of a column among some rows (inf, -inf without any), and its missing cells."""
    low, high, n_missing = np.inf, -np.inf, 0
    for i in range(len(rows)):
        x = cells[rows[i]]
        if x != x:
            n_missing += 1
        else:
            low = min(low, x)
            high = max(high, x)
    return low, high, n_missing


@inner_kernel
def draw_column(cells, nodes, node, unknown):
    """Draw one of the columns that are not constant in a node; returns it (-1: none) with its measures.

    A column is constant where all cells are equal, or all are missing. Columns that were found constant above are not
    looked at again: marks of an ancestor's depth are the ancestor's, since its subtree is finished before the next.
    """
    depth = nodes.depth[node]
    n_left = 0
    for column in range(len(nodes.since)):
        if nodes.since[column] >= depth:
            nodes.since[column] = unknown
            nodes.candidates[n_left] = column
            n_left += 1
    key = mix(nodes.key[node], np.uint64(COLUMN))
    begin = nodes.begin[node]
    rows = nodes.rows[begin : begin + nodes.n_samples[node]]
    attempt = 0
    while n_left > 0:
        drawn = np.int64(mix(key, np.uint64(attempt)) % np.uint64(n_left))
        column = nodes.candidates[drawn]
        low, high, n_missing = measure(cells[column], rows)
        if low < high or 0 < n_missing < len(rows):
            return column, low, high, n_missing
        nodes.since[column] = depth
        n_left -= 1
        nodes.candidates[drawn] = nodes.candidates[n_left]
        attempt += 1
    return np.int64(-1), np.inf, -np.inf, 0


@inner_kernel
def draw_cut(key, low, high):
    """A cut ``low <= cut < high``, uniform between them; infinities count as the largest finite numbers."""
    u = np.float64(mix(key, np.uint64(CUT)) >> np.uint64(11)) * 2.0**-53
    floor, ceiling = max(low, -LARGEST), min(high, LARGEST)
    # Not floor + u * (ceiling - floor): the difference of large numbers overflows.
    cut = floor * (1.0 - u) + ceiling * u + 0.0
    if cut < low or cut >= high:
        cut = low + 0.0
    return cut


@inner_kernel
def divide_levels(cells, rows, nodes, node, lowest):
    """Draw two sides, neither empty, for the levels that some rows hold; returns how many levels there are."""
    n_levels = 0
    for i in range(len(rows)):
        x = cells[rows[i]]
        if x == x and nodes.stamp[np.int64(x)] != node + 1:
            nodes.stamp[np.int64(x)] = node + 1
            nodes.present[n_levels] = np.int64(x)
            n_levels += 1
    for attempt in range(DIVISIONS):
        key = mix(nodes.key[node], np.uint64(LEVELS + attempt))
        n_left = 0
        for i in range(n_levels):
            level = nodes.present[i]
            nodes.side[level] = np.int64(mix(key, np.uint64(level)) & np.uint64(1))
            n_left += nodes.side[level]
        if 0 < n_left < n_levels:
            return n_levels
    # One level (beside missing cells), or a chance of 2**-64.
    for i in range(n_levels):
        nodes.side[nodes.present[i]] = 1 if nodes.present[i] == np.int64(lowest) else 0
    return n_levels


@inner_kernel
def part(cells, rows, nodes, is_nominal, cut, missing_goes_left):
    """Put the rows that go left before the others; returns how many they are."""
    begin, end = 0, len(rows)
    while begin < end:
        x = cells[rows[begin]]
        if x != x:
            goes_left = missing_goes_left
        elif is_nominal:
            goes_left = nodes.side[np.int64(x)] == 1
        else:
            goes_left = x <= cut
        if goes_left:
            begin += 1
        else:
            end -= 1
            rows[begin], rows[end] = rows[end], rows[begin]
    return begin


@inner_kernel
def write_levels(nodes, n_present, n_levels, absent_go_left, left, seen):
    """Set the bits of a node's levels; absent ones and bit ``n_levels`` (never seen at fit) go to one side together."""
    left[:] = np.uint64(0)
    seen[:] = np.uint64(0)
    for i in range(n_present):
        level = nodes.present[i]
        bit = np.uint64(1) << np.uint64(level & 63)
        seen[level >> 6] |= bit
        if nodes.side[level] == 1:
            left[level >> 6] |= bit
    if absent_go_left:
        for word in range(len(left)):
            left[word] |= ~seen[word]
        left[len(left) - 1] &= ~np.uint64(0) >> np.uint64(63 - (n_levels & 63))


@inner_kernel
def add_child(nodes, child, node, branch, begin, n_rows):
    """Fill in a new node."""
    nodes.key[child] = mix(nodes.key[node], np.uint64(branch))
    nodes.depth[child] = nodes.depth[node] + 1
    nodes.begin[child] = begin
    nodes.n_samples[child] = n_rows
    nodes.kind[child] = LEAF


@inner_kernel
def summarise(nodes, n_nodes, corrections):
    """Mean and variance of the path lengths of each node's rows, from the leaves up."""
    for node in range(n_nodes - 1, -1, -1):
        n = nodes.n_samples[node]
        if nodes.kind[node] == LEAF:
            nodes.value[node] = nodes.depth[node] + corrections[n]
            nodes.impurity[node] = 0.0
            continue
        left = nodes.first_child[node]
        share = nodes.n_samples[left] / n
        apart = nodes.value[left] - nodes.value[left + 1]
        within = share * nodes.impurity[left] + (1.0 - share) * nodes.impurity[left + 1]
        nodes.value[node] = nodes.value[left + 1] + share * apart
        nodes.impurity[node] = within + share * (1.0 - share) * apart * apart


@kernel
def grow_isolation(cells, columns, n_levels, key, max_depth, corrections, nodes, left, seen):
    """Grow one isolation tree, depth first.

    Parameters
    ----------
    cells : float64[k, n], IN
        The columns of the tree, the rows that it drew; nan is missing, levels are codes.
    columns : int32[k], IN
        Their positions in the table.
    n_levels : int64[k], IN
        Levels of a nominal column, else 0.
    key : uint64
        The root's.
    max_depth : int
    corrections : float64[n + 1], IN
        Path length that a leaf of so many rows is to add.
    nodes : Growing, OUT
        Room for ``2 n - 1`` nodes.
    left, seen : uint64[w], OUT
        Words of the subset tests.

    Returns
    -------
    n_nodes, n_words : int
        ``n_words`` is -1 where the words do not suffice.

    Notes
    -----
    Liu, Ting and Zhou 2012, algorithm 2. O(n x depth), and for each node as much again for each constant column drawn.
    """
    n = cells.shape[1]
    for row in range(n):
        nodes.rows[row] = row
    unknown = max_depth + 1
    nodes.since[:] = unknown
    nodes.stamp[:] = 0
    nodes.key[0] = key
    nodes.depth[0], nodes.begin[0], nodes.n_samples[0], nodes.kind[0] = 0, 0, n, LEAF
    nodes.stack[0] = 0
    waiting, n_nodes, n_words = 1, 1, 0
    while waiting > 0:
        waiting -= 1
        node = nodes.stack[waiting]
        nodes.feature[node], nodes.first_child[node], nodes.level_set[node] = -1, -1, -1
        nodes.threshold[node], nodes.missing_branch[node] = 0.0, 0
        n_rows, begin = nodes.n_samples[node], nodes.begin[node]
        if n_rows < 2 or nodes.depth[node] >= max_depth:
            continue
        column, low, high, n_missing = draw_column(cells, nodes, node, unknown)
        if column < 0:
            continue
        rows = nodes.rows[begin : begin + n_rows]
        is_nominal = n_levels[column] > 0
        cut, n_present, n_own = np.inf, 0, 0
        if is_nominal:
            n_own = n_levels[column] // 64 + 1
            if n_words + n_own > len(left):
                return n_nodes, -1
            n_present = divide_levels(cells[column], rows, nodes, node, low)
        elif low < high:
            cut = draw_cut(nodes.key[node], low, high)
        # Where the values are all the same, the missing cells are parted from them: to the right.
        missing_goes_left = low < high and mix(nodes.key[node], np.uint64(MISSING_SIDE)) & np.uint64(1) == np.uint64(0)
        n_left = part(cells[column], rows, nodes, is_nominal, cut, missing_goes_left)
        is_left_heavier = 2 * n_left > n_rows
        if n_missing == 0:
            missing_goes_left = is_left_heavier
        nodes.feature[node] = columns[column]
        nodes.first_child[node] = n_nodes
        nodes.missing_branch[node] = 0 if missing_goes_left else 1
        if is_nominal:
            nodes.kind[node], nodes.level_set[node] = SUBSET, n_words
            end = n_words + n_own
            write_levels(nodes, n_present, n_levels[column], is_left_heavier, left[n_words:end], seen[n_words:end])
            n_words = end
        else:
            nodes.kind[node], nodes.threshold[node] = THRESHOLD, cut
        add_child(nodes, n_nodes, node, 0, begin, n_left)
        add_child(nodes, n_nodes + 1, node, 1, begin + n_left, n_rows - n_left)
        nodes.stack[waiting], nodes.stack[waiting + 1] = n_nodes + 1, n_nodes
        waiting += 2
        n_nodes += 2
    summarise(nodes, n_nodes, corrections)
    return n_nodes, n_words
