"""Rows parted again and again, down to leaves, and the boxes of those. In: points. Out: arrays of ``KdArrays``.

Caller: neighbors.kd_tree.

A node of m leaves is cut so that the largest power of two below m leaves stand on its left. So every leaf but the last
is full, and the leaves 8 i to 8 i + 7 are one node, as are the 64 of eight such nodes: eight children side by side.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import bare_inner_kernel, bare_kernel
from treewright.neighbors.lanes import LANES
from treewright.neighbors.ordering import part

LEAF = 32  # points: four times the lanes
NO_ROW = 2**63 - 1  # fills leaves and groups up; stands behind whatever a list of no rows holds
_GLANCE = 128  # rows that are looked at to find the widest column


@bare_inner_kernel
def left_leaves(n_leaves):
    """The largest power of two below a number of leaves (of two or more)."""
    n = 1
    while 2 * n < n_leaves:
        n *= 2
    return n


@bare_inner_kernel
def _widest(points, order, begin, end):
    """The column in which some rows are farthest apart; the first of equal ones."""
    step = max(1, (end - begin) // _GLANCE)
    widest, width = 0, -1.0
    for j in range(points.shape[1]):
        low = high = points[order[begin], j]
        for i in range(begin, end, step):
            low, high = min(low, points[order[i], j]), max(high, points[order[i], j])
        # Halves, because the difference of the largest floats is infinite.
        if 0.5 * high - 0.5 * low > width:
            widest, width = j, 0.5 * high - 0.5 * low
    return widest


@bare_inner_kernel
def _cut(points, order, numbers, begin, end, n_leaves):
    """Part the rows of a node into those of its two children; how many leaves the left one has."""
    j = np.uintp(_widest(points, order, begin, end))
    for i in range(np.uintp(begin), np.uintp(end)):
        numbers[i] = points[np.uintp(order[i]), j]
    n_left = left_leaves(n_leaves)
    part(numbers, order, begin, end, begin + n_left * LEAF)
    return n_left


@bare_kernel
def cut(points, order, numbers, first, n_leaves):
    """Part the rows of one node.

    Parameters
    ----------
    points : float64[n, d], IN
    order : int64[n], IN and OUT
        Rows; those of the node stand from ``first * LEAF`` on.
    numbers : float64[n]
        Scratch; of the node's rows only.
    first, n_leaves : int
        Leaves of the node, two or more.

    Returns
    -------
    int
        Leaves of the left child.
    """
    begin = first * LEAF
    return _cut(points, order, numbers, begin, min(begin + n_leaves * LEAF, len(order)), n_leaves)


@bare_kernel
def cut_down(points, order, numbers, first, n_leaves, waiting):
    """Part the rows of a node down to its leaves, as ``cut`` does; ``waiting`` int64[128] is scratch."""
    waiting[0], waiting[1] = first, n_leaves
    n = 2
    while n:
        n -= 2
        first, n_leaves = waiting[n], waiting[n + 1]
        if n_leaves == 1:
            continue
        begin = first * LEAF
        n_left = _cut(points, order, numbers, begin, min(begin + n_leaves * LEAF, len(order)), n_leaves)
        # The smaller side waits on top: the left one has half of the leaves or more, so few ever wait.
        waiting[n], waiting[n + 1] = first, n_left
        waiting[n + 2], waiting[n + 3] = first + n_left, n_leaves - n_left
        n += 4


@bare_kernel
def fill_leaves(points, order, first, end, leaves, rows, boxes, low_rows):
    """Write the leaves ``first`` to ``end - 1`` and their boxes.

    Parameters
    ----------
    points : float64[n, d], IN
    order : int64[n], IN and OUT
        Rows by leaf; in each leaf they are put in order.
    leaves : float64[n_leaves, LEAF / 8, d, 8], OUT
        Column by column in each eight points. Missing points are infinite.
    rows : int64[n_leaves, LEAF], OUT
        ``NO_ROW`` of missing points.
    boxes : float64[n_groups, d, 2, 8], OUT
        Smallest and largest value of each column in each leaf.
    low_rows : int64[n_groups, 8], OUT
        The first row of each leaf.
    """
    for leaf in range(first, end):
        begin = leaf * LEAF
        n = min(LEAF, len(order) - begin)
        for i in range(begin + 1, begin + n):
            row, at = order[i], i
            while at > begin and order[at - 1] > row:
                order[at] = order[at - 1]
                at -= 1
            order[at] = row
        group, lane = leaf // LANES, leaf % LANES
        for i in range(LEAF):
            rows[leaf, i] = order[begin + i] if i < n else NO_ROW
        low_rows[group, lane] = order[begin]
        for j in range(points.shape[1]):
            low, high = np.inf, -np.inf
            for i in range(n):
                cell = points[order[begin + i], j]
                leaves[leaf, i // LANES, j, i % LANES] = cell
                low, high = min(low, cell), max(high, cell)
            for i in range(n, LEAF):
                leaves[leaf, i // LANES, j, i % LANES] = np.inf
            boxes[group, j, 0, lane], boxes[group, j, 1, lane] = low, high


@bare_kernel
def fill_groups(first, end, parent, boxes, low_rows):
    """Write the boxes of groups ``first`` to ``end - 1`` into the groups above them, which begin at ``parent``."""
    for group in range(first, end):
        above, lane = parent + (group - first) // LANES, (group - first) % LANES
        for j in range(boxes.shape[1]):
            low, high = np.inf, -np.inf
            for i in range(LANES):
                low, high = min(low, boxes[group, j, 0, i]), max(high, boxes[group, j, 1, i])
            boxes[above, j, 0, lane], boxes[above, j, 1, lane] = low, high
        lowest = low_rows[group, 0]
        for i in range(1, LANES):
            lowest = min(lowest, low_rows[group, i])
        low_rows[above, lane] = lowest
