"""Walks through a KD-tree. In: its arrays, points. Out: rows and rank distances. Caller: neighbors.kd_tree.

The rank distance of a box is worked out as that of a point is: the same formula, column by column in the same order, of
how far the point is outside of the box. Each step of it (difference, product, sum) is rounded, and rounding keeps
order: no row of the box can have a smaller rank distance, to the last bit. So bounds need no margin, and the bound of
equal rows is their very rank distance. (Only powers are not sure to keep order: see ``_power_below``.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.core.bits import trailing_zeros
from treewright.core.jit import bare_inner_kernel, bare_kernel
from treewright.neighbors.kd_build import LEAF, NO_ROW
from treewright.neighbors.lanes import LANES, add, at_most, larger, load, minus, spread, store, times
from treewright.neighbors.many import clear_many, collect, settle
from treewright.neighbors.ordering import sort
from treewright.neighbors.ranks import CHEBYSHEV, MANHATTAN, SQUARES
from treewright.neighbors.smallest import clear, keep

_SHRINK = 1.0 - 2.0**-48
_LEAST = 2.0**-1074


class KdArrays(NamedTuple):
    """A KD-tree. Nodes are numbered: first the leaves, then the groups of eight leaves, of eight groups, ..., the root.

    Attributes
    ----------
    leaves : float64[n_leaves, LEAF / 8, d, 8]
    rows : int64[n_leaves, LEAF]
        Ascending in each leaf.
    boxes : float64[n_groups, d, 2, 8]
        Smallest and largest value of each column in each child; a missing child is from inf to -inf.
    low_rows : int64[n_groups, 8]
        Lowest row of each child, ``NO_ROW`` of a missing one.
    first_child : int64[n_groups]
        Number of the first child; the others follow it.
    """

    leaves: np.ndarray
    rows: np.ndarray
    boxes: np.ndarray
    low_rows: np.ndarray
    first_child: np.ndarray


class Waiting(NamedTuple):
    """Scratch of one thread: nodes that may hold nearer rows, eight rank distances, many nearest rows."""

    bounds: np.ndarray  # float64[s]
    low_rows: np.ndarray  # int64[s]
    nodes: np.ndarray  # int64[s]
    eight: np.ndarray  # float64[8]
    more_rows: np.ndarray  # int64[2 k] or none
    more_ranks: np.ndarray  # float64[2 k] or none


@bare_inner_kernel
def _power_below(gap, p):
    """What ``gap ** p`` of a larger gap is never below.

    The library's power is off by less than a unit in the last place, but nobody promises that it keeps order.
    """
    return max(0.0, gap**p * _SHRINK - _LEAST)


@bare_inner_kernel
def _box_powers(boxes, group, query, p, eight):
    """As ``_box_ranks``, of ``POWERS``."""
    for lane in range(LANES):
        total = 0.0
        for j in range(boxes.shape[1]):
            low, high = boxes[group, j, 0, lane], boxes[group, j, 1, lane]
            gap = max(low - query[j], query[j] - high, 0.0)
            total += gap**p if low == high else _power_below(gap, p)
        eight[lane] = total


@bare_inner_kernel
def _box_ranks(boxes, group, query, kind, p, eight):
    """Write to ``eight`` from which rank distance on each child of a group may hold rows."""
    d = boxes.shape[1]
    at = np.int64(group) * d * (2 * LANES)
    zero = spread(0.0)
    total = zero
    if kind == SQUARES:
        for j in range(d):
            cell = spread(query[j])
            gap = larger(larger(minus(load(boxes, at), cell), minus(cell, load(boxes, at + LANES))), zero)
            total = add(total, times(gap, gap))
            at += 2 * LANES
    elif kind == MANHATTAN:
        for j in range(d):
            cell = spread(query[j])
            gap = larger(larger(minus(load(boxes, at), cell), minus(cell, load(boxes, at + LANES))), zero)
            total = add(total, gap)
            at += 2 * LANES
    elif kind == CHEBYSHEV:
        for j in range(d):
            cell = spread(query[j])
            gap = larger(minus(load(boxes, at), cell), minus(cell, load(boxes, at + LANES)))
            total = larger(total, gap)
            at += 2 * LANES
    else:
        _box_powers(boxes, group, query, p, eight)
        return
    store(eight, 0, total)


@bare_inner_kernel
def _point_powers(leaves, at, query, p, eight):
    """As ``_point_ranks``, of ``POWERS``."""
    cells = leaves.reshape(-1)
    for lane in range(LANES):
        total = 0.0
        for j in range(leaves.shape[2]):
            total += abs(cells[at + j * LANES + lane] - query[j]) ** p
        eight[lane] = total


@bare_inner_kernel
def _point_ranks(leaves, at, query, kind, p, eight):
    """Write to ``eight`` the rank distances of eight points."""
    d = leaves.shape[2]
    total = spread(0.0)
    if kind == SQUARES:
        for j in range(d):
            gap = minus(load(leaves, at), spread(query[j]))
            total = add(total, times(gap, gap))
            at += LANES
    elif kind == MANHATTAN:
        for j in range(d):
            cell, other = load(leaves, at), spread(query[j])
            total = add(total, larger(minus(cell, other), minus(other, cell)))
            at += LANES
    elif kind == CHEBYSHEV:
        for j in range(d):
            cell, other = load(leaves, at), spread(query[j])
            total = larger(total, larger(minus(cell, other), minus(other, cell)))
            at += LANES
    else:
        _point_powers(leaves, at, query, p, eight)
        return
    store(eight, 0, total)


@bare_inner_kernel
def _scan(leaf, tree, query, kind, p, eight, k, n, rows, ranks):
    """Keep the rows of a leaf that are among the nearest; how many are held then."""
    last = k - 1
    size = tree.leaves.shape[2] * LANES
    for block in range(LEAF // LANES):
        _point_ranks(tree.leaves, (leaf * (LEAF // LANES) + block) * size, query, kind, p, eight)
        hits = at_most(load(eight, 0), spread(ranks[last]))
        while hits:
            lane = np.int64(trailing_zeros(hits))
            hits &= hits - np.uint64(1)
            if len(ranks) == k:
                keep(eight[lane], tree.rows[leaf, block * LANES + lane], ranks, rows)
            else:
                n = collect(eight[lane], tree.rows[leaf, block * LANES + lane], k, n, ranks, rows)
    return n


@bare_inner_kernel
def _push(n, group, tree, waiting, worst, worst_row):
    """Let the children of a group wait that may hold nearer rows, the nearest on top; how many nodes wait then.

    Of children equally far the one with the lowest row comes first, so that of many equal points few are looked at.
    """
    begin, first = n, tree.first_child[group]
    bounds, lows, nodes = waiting.bounds, waiting.low_rows, waiting.nodes
    hits = at_most(load(waiting.eight, 0), spread(worst))
    while hits:
        lane = np.int64(trailing_zeros(hits))
        hits &= hits - np.uint64(1)
        bound, low = waiting.eight[lane], tree.low_rows[group, lane]
        if bound == worst and low > worst_row:
            continue
        at = n
        while at > begin and (bounds[at - 1] < bound or (bounds[at - 1] == bound and lows[at - 1] < low)):
            bounds[at], lows[at], nodes[at] = bounds[at - 1], lows[at - 1], nodes[at - 1]
            at -= 1
        bounds[at], lows[at], nodes[at] = bound, low, first + lane
        n += 1
    return n


@bare_inner_kernel
def _nearest(query, tree, kind, p, waiting, k, rows, ranks):
    """The nearest rows of one point, in order if there is room for ``k``; else how many are held, see ``many``."""
    n_leaves, last = len(tree.leaves), k - 1
    waiting.bounds[0], waiting.low_rows[0], waiting.nodes[0] = 0.0, 0, n_leaves + len(tree.boxes) - 1
    n, n_held = 1, k
    while n:
        n -= 1
        bound, node = waiting.bounds[n], waiting.nodes[n]
        # A box as far as the last of the nearest rows may hold a lower row.
        if bound > ranks[last] or (bound == ranks[last] and waiting.low_rows[n] > rows[last]):
            continue
        if node < n_leaves:
            n_held = _scan(node, tree, query, kind, p, waiting.eight, k, n_held, rows, ranks)
        else:
            _box_ranks(tree.boxes, node - n_leaves, query, kind, p, waiting.eight)
            n = _push(n, node - n_leaves, tree, waiting, ranks[last], rows[last])
    return n_held


@bare_kernel
def nearest(tree, points, order, begin, end, kind, p, waiting, rows, ranks):
    """The nearest rows of the points ``order[begin:end]``.

    Parameters
    ----------
    tree : KdArrays, IN
    points : float64[m, d], IN
    order : int64[m], IN
    begin, end, kind : int
    p : float
        Of ``POWERS``.
    waiting : Waiting
        Scratch; ``more_rows`` and ``more_ranks`` are empty, or hold twice as many as are asked for.
    rows : int64[m, k], OUT
    ranks : float64[m, k], OUT
    """
    k, more_rows, more_ranks = rows.shape[1], waiting.more_rows, waiting.more_ranks
    for i in range(begin, end):
        at = order[i]
        if len(more_rows) == 0:
            clear(ranks[at], rows[at])
            _nearest(points[at], tree, kind, p, waiting, k, rows[at], ranks[at])
            continue
        clear_many(k, more_ranks, more_rows)
        settle(k, _nearest(points[at], tree, kind, p, waiting, k, more_rows, more_ranks), more_ranks, more_rows)
        for j in range(k):
            rows[at, j], ranks[at, j] = more_rows[j], more_ranks[j]


@bare_kernel
def fall(tree, points, begin, end, kind, p, eight, leaves):
    """Write to ``leaves`` int64[m] into which leaf each of the points ``begin`` to ``end - 1`` falls, or next to it."""
    n_leaves = len(tree.leaves)
    for i in range(begin, end):
        node = n_leaves + len(tree.boxes) - 1
        while node >= n_leaves:
            group = node - n_leaves
            _box_ranks(tree.boxes, group, points[i], kind, p, eight)
            best = 0
            for lane in range(1, LANES):
                if eight[lane] < eight[best]:
                    best = lane
            node = tree.first_child[group] + best
        leaves[i] = node


@bare_inner_kernel
def _within(query, tree, rank, kind, p, waiting, at, is_written, rows, ranks):
    """Count the rows of one point from ``at`` on, and write them there if ``is_written``; where they end."""
    n_leaves, eight = len(tree.leaves), waiting.eight
    size = tree.leaves.shape[2] * LANES
    waiting.nodes[0] = n_leaves + len(tree.boxes) - 1
    n = 1
    while n:
        n -= 1
        node = waiting.nodes[n]
        if node >= n_leaves:
            group = node - n_leaves
            _box_ranks(tree.boxes, group, query, kind, p, eight)
            hits = at_most(load(eight, 0), spread(rank))
            while hits:
                lane = np.int64(trailing_zeros(hits))
                hits &= hits - np.uint64(1)
                if tree.low_rows[group, lane] != NO_ROW:
                    waiting.nodes[n] = tree.first_child[group] + lane
                    n += 1
            continue
        for block in range(LEAF // LANES):
            _point_ranks(tree.leaves, (node * (LEAF // LANES) + block) * size, query, kind, p, eight)
            hits = at_most(load(eight, 0), spread(rank))
            while hits:
                lane = np.int64(trailing_zeros(hits))
                hits &= hits - np.uint64(1)
                row = tree.rows[node, block * LANES + lane]
                if row != NO_ROW:
                    if is_written:
                        rows[at], ranks[at] = row, eight[lane]
                    at += 1
    return at


@bare_kernel
def count_within(tree, points, order, begin, end, rank, kind, p, waiting, offsets):
    """Write to ``offsets[i + 1]`` how many rows point i has; else as ``nearest``."""
    rows, ranks = waiting.more_rows, waiting.more_ranks
    for i in range(begin, end):
        at = order[i]
        offsets[at + 1] = _within(points[at], tree, rank, kind, p, waiting, 0, False, rows, ranks)


@bare_kernel
def fill_within(tree, points, order, begin, end, rank, kind, p, waiting, offsets, rows, ranks):
    """Write the rows of each point from its ``offsets`` int64[m + 1] on, in order; else as ``count_within``."""
    for i in range(begin, end):
        at = order[i]
        stop = _within(points[at], tree, rank, kind, p, waiting, offsets[at], True, rows, ranks)
        sort(ranks, rows, offsets[at], stop)
