"""Neighbours in a KD-tree, for few columns: nested boxes of points. Built, then searched.

The k-d tree of Bentley (1975), with eight consecutive children of a node. A node of m leaves is cut so that the largest
power of two below m leaves are on its left. So every leaf but the last is full, and the leaves 8 i to 8 i + 7 are one
node, as are the 64 of eight such nodes.

The rank distance of a box is computed like that of a point: the same formula, column by column in the same order, of
the distances of the query from the box. Each step (difference, product, sum) is rounded, and rounding is monotone: no
row of the box can have a smaller rank distance, not even by a bit. So bounds need no margin, and the bound of equal
rows is exactly their rank distance. (Only powers may not be monotone: see ``_power_below``.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from treewright.core import threads
from treewright.core.jit import costs, inner_kernel, kernel
from treewright.core.random import trailing_zeros
from treewright.neighbors.brute import LANES, add, at_most, larger, load, minus, spread, store, times
from treewright.neighbors.nearest import (
    CHEBYSHEV,
    MANHATTAN,
    SQUARES,
    clear,
    clear_many,
    collect,
    keep,
    part,
    raised,
    settle,
    sort,
)

LEAF = 32  # points: four times the lanes
NO_ROW = 2**63 - 1  # fills leaves and groups; larger than any row
_GLANCE = 128  # rows that are sampled to find the widest column
_BLOCK_POINTS = 512  # points searched by one task
_BLOCK_LEAVES = 1024  # leaves cut or written by one task, about
_LEAST = 64  # of either: fewer are not worth a thread
_FEW = 200  # more neighbours are collected, not kept in order: see ``nearest``
_MOST_WAITING = 128  # twice the most levels of two children
# The factor of bounds of powers: see ``_power_below``.
_SHRINK = 1.0 - 2.0**-48
_SMALLEST = 2.0**-1074


class KdArrays(NamedTuple):
    """A KD-tree. Nodes are numbered: first the leaves, then the groups of eight leaves, of eight groups, ..., the root.

    ``leaves`` (float64[n_leaves, LEAF / 8, d, 8]).
    ``rows`` (int64[n_leaves, LEAF]): ascending in each leaf.
    ``boxes`` (float64[n_groups, d, 2, 8]): smallest and largest value of each column in each child; a missing child is
        from inf to -inf.
    ``low_rows`` (int64[n_groups, 8]): lowest row of each child, ``NO_ROW`` for a missing one.
    ``first_child`` (int64[n_groups]): number of the first child; the others follow it.
    """

    leaves: np.ndarray
    rows: np.ndarray
    boxes: np.ndarray
    low_rows: np.ndarray
    first_child: np.ndarray


class Waiting(NamedTuple):
    """Temporary arrays of one thread: nodes that may hold nearer rows, eight rank distances, many nearest rows."""

    bounds: np.ndarray  # float64[s]
    low_rows: np.ndarray  # int64[s]
    nodes: np.ndarray  # int64[s]
    eight: np.ndarray  # float64[8]
    more_rows: np.ndarray  # int64[2 k] or none
    more_ranks: np.ndarray  # float64[2 k] or none


@dataclass(frozen=True, eq=False)
class KdTree:
    """An index of points in few columns.

    ``arrays``, the points by leaf, and their boxes: about 1.1 times the memory of the points, and 8 bytes a row.
    ``kind``: ``SQUARES``, ``MANHATTAN``, ``CHEBYSHEV`` or ``POWERS``.
    ``p``: for ``POWERS``.
    """

    arrays: KdArrays
    n_points: int
    kind: int
    p: float

    @classmethod
    def of(cls, points: np.ndarray, kind: int, p: float = 2.0, n_threads: int = 1) -> KdTree:
        """Build the tree of ``points``, float64[n, d], C order, n and d at least 1, finite. Threads change nothing."""
        order = _parted(points, n_threads)
        n_leaves, d = -(-len(points) // LEAF), points.shape[1]
        firsts = _first_groups(n_leaves)
        arrays = KdArrays(
            leaves=np.empty((n_leaves, LEAF // LANES, d, LANES)),
            rows=np.empty((n_leaves, LEAF), np.int64),
            boxes=np.empty((firsts[-1], d, 2, LANES)),
            low_rows=np.full((firsts[-1], LANES), NO_ROW, np.int64),
            first_child=np.empty(firsts[-1], np.int64),
        )
        leaves, rows, boxes, low_rows, first_child = arrays
        boxes[:, :, 0], boxes[:, :, 1] = np.inf, -np.inf

        def fill(begin: int, end: int, _thread: int) -> None:
            fill_leaves(points, order, begin, end, leaves, rows, boxes, low_rows)

        _each_block(fill, n_leaves, _BLOCK_LEAVES, n_threads)
        child = 0
        for first, end in pairwise(firsts):
            first_child[first:end] = child + LANES * np.arange(end - first)
            child = n_leaves + first
            if end < firsts[-1]:
                fill_groups(first, end, end, boxes, low_rows)
        return cls(arrays, len(points), int(kind), float(p))

    def nearest(self, points: np.ndarray, k: int, n_threads: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """As ``Index.nearest``."""
        rows, ranks = np.empty((len(points), k), np.int64), np.empty((len(points), k))
        order = self._visiting_order(points, n_threads)
        scratch = self._scratch(n_threads, 2 * k if k > _FEW else 0)

        def search(begin: int, end: int, thread: int) -> None:
            search_nearest(self.arrays, points, order, begin, end, self.kind, self.p, scratch[thread], rows, ranks)

        _each_block(search, len(points), _BLOCK_POINTS, n_threads, _LEAST if k <= _FEW else 1)
        return rows, ranks

    def within(self, points: np.ndarray, rank: float, n_threads: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As ``Index.within``, in two passes, of which the first only counts: no memory beyond the result is needed."""
        offsets = np.zeros(len(points) + 1, np.int64)
        order = self._visiting_order(points, n_threads)
        scratch = self._scratch(n_threads, 0)

        def count(begin: int, end: int, thread: int) -> None:
            count_within(
                self.arrays, points, order, begin, end, float(rank), self.kind, self.p, scratch[thread], offsets
            )

        _each_block(count, len(points), _BLOCK_POINTS, n_threads)
        np.cumsum(offsets, out=offsets)
        rows, ranks = np.empty(offsets[-1], np.int64), np.empty(offsets[-1])

        def fill(begin: int, end: int, thread: int) -> None:
            fill_within(
                *(self.arrays, points, order, begin, end, float(rank), self.kind, self.p, scratch[thread]),
                *(offsets, rows, ranks),
            )

        _each_block(fill, len(points), _BLOCK_POINTS, n_threads)
        return offsets, rows, ranks

    def _visiting_order(self, points: np.ndarray, n_threads: int) -> np.ndarray:
        """int64[m]: the points sorted by their leaf, so that consecutive points need the same leaves.

        100,000 points among 1,000,000 rows of 3 columns took 1.5 times as long in random order.
        """
        leaves, eights = np.zeros(len(points), np.int64), np.empty((n_threads, LANES))

        def fall(begin: int, end: int, thread: int) -> None:
            find_leaves(self.arrays, points, begin, end, self.kind, self.p, eights[thread], leaves)

        _each_block(fall, len(points), _BLOCK_POINTS, n_threads)
        return np.argsort(leaves)

    def _scratch(self, n_threads: int, n_more: int) -> list[Waiting]:
        """Temporary arrays for each thread. At most eight nodes of each level wait."""
        size = LANES * len(_first_groups(len(self.arrays.leaves)))
        return [
            Waiting(
                bounds=np.empty(size),
                low_rows=np.empty(size, np.int64),
                nodes=np.empty(size, np.int64),
                eight=np.empty(LANES),
                more_rows=np.empty(n_more, np.int64),
                more_ranks=np.empty(n_more),
            )
            for _ in range(n_threads)
        ]


def _each_block(work: Callable[[int, int, int], None], n: int, size: int, n_threads: int, least: int = _LEAST) -> None:
    """Call ``work(begin, end, thread)`` for blocks of ``size`` out of ``n``, or down to ``least`` for idle threads."""
    size = min(size, max(least, -(-n // n_threads)))
    threads.run_each(
        lambda task, thread: work(task * size, min((task + 1) * size, n), thread), -(-n // size), n_threads
    )


def _first_groups(n_leaves: int) -> list[int]:
    """The number of the first group of each level, the lowest level first; then the number of groups."""
    firsts, n = [0], n_leaves
    while n > 1 or len(firsts) == 1:
        n = -(-n // LANES)
        firsts.append(firsts[-1] + n)
    return firsts


def _parted(points: np.ndarray, n_threads: int) -> np.ndarray:
    """int64[n]: the rows by leaf. Large nodes are cut in parallel, then each thread cuts whole subtrees."""
    order, numbers = np.arange(len(points)), np.empty(len(points))
    large, subtrees = [(0, -(-len(points) // LEAF))], []
    while large:
        subtrees += [node for node in large if node[1] <= _BLOCK_LEAVES]
        large = [node for node in large if node[1] > _BLOCK_LEAVES]
        large = _cut_each(points, order, numbers, large, n_threads)
    waiting = np.empty((n_threads, _MOST_WAITING), np.int64)

    def cut_down(task: int, thread: int) -> None:
        cut_subtree(points, order, numbers, *subtrees[task], waiting[thread])

    threads.run_each(cut_down, len(subtrees), n_threads)
    return order


def _cut_each(
    points: np.ndarray, order: np.ndarray, numbers: np.ndarray, nodes: list[tuple[int, int]], n_threads: int
) -> list[tuple[int, int]]:
    """Cut nodes, each given by its first leaf and number of leaves; returns their children."""
    n_lefts = [0] * len(nodes)

    def cut(task: int, _thread: int) -> None:
        n_lefts[task] = cut_node(points, order, numbers, *nodes[task])

    threads.run_each(cut, len(nodes), n_threads)
    children: list[tuple[int, int]] = []
    for (first, n_leaves), n_left in zip(nodes, n_lefts, strict=True):
        children += [(first, n_left), (first + n_left, n_leaves - n_left)]
    return children


@inner_kernel
def left_leaves(n_leaves):
    """The largest power of two below a number of leaves (of two or more)."""
    n = 1
    while 2 * n < n_leaves:
        n *= 2
    return n


@inner_kernel
def _widest(points, order, begin, end):
    """The column of ``points`` float64[n, d] with the largest range in a sample of the rows ``order[begin:end]``.

    The first of equal ones. The sample is evenly spaced. ``order`` int64[n].
    """
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


@inner_kernel
def _cut(points, order, numbers, begin, end, n_leaves):
    """Divide the rows ``order[begin:end]`` of a node between its two children; returns the leaves of the left one.

    ``points`` float64[n, d], ``order`` int64[n], ``numbers`` float64[n], scratch.
    """
    j = np.uintp(_widest(points, order, begin, end))
    for i in range(np.uintp(begin), np.uintp(end)):
        numbers[i] = points[np.uintp(order[i]), j]
    n_left = left_leaves(n_leaves)
    part(numbers, order, begin, end, begin + n_left * LEAF)
    return n_left


@kernel
def cut_node(points, order, numbers, first, n_leaves):
    """Divide the rows of one node between its children.

    Parameters
    ----------
    points : float64[n, d], IN
    order : int64[n], IN and OUT
        Rows; those of the node begin at ``first * LEAF``.
    numbers : float64[n]
        Scratch; only the range of the node's rows is used.
    first, n_leaves : int
        Leaves of the node, two or more.

    Returns
    -------
    int
        Leaves of the left child.
    """
    begin = first * LEAF
    return _cut(points, order, numbers, begin, min(begin + n_leaves * LEAF, len(order)), n_leaves)


@kernel
def cut_subtree(points, order, numbers, first, n_leaves, waiting):
    """Divide the rows of a node down to its leaves, like ``cut_node``.

    ``points`` float64[n, d], ``order`` int64[n]; ``numbers`` float64[n] and ``waiting`` int64[128] are scratch.
    """
    waiting[0], waiting[1] = first, n_leaves
    n = 2
    while n:
        n -= 2
        first, n_leaves = waiting[n], waiting[n + 1]
        if n_leaves == 1:
            continue
        begin = first * LEAF
        n_left = _cut(points, order, numbers, begin, min(begin + n_leaves * LEAF, len(order)), n_leaves)
        # The smaller side is on top of the stack: the left one has half of the leaves or more, so few ever wait.
        waiting[n], waiting[n + 1] = first, n_left
        waiting[n + 2], waiting[n + 3] = first + n_left, n_leaves - n_left
        n += 4


@kernel
def fill_leaves(points, order, first, end, leaves, rows, boxes, low_rows):
    """Write the leaves ``first`` to ``end - 1`` and their boxes.

    Parameters
    ----------
    points : float64[n, d], IN
    order : int64[n], IN and OUT
        Rows by leaf; those of each leaf are sorted.
    leaves : float64[n_leaves, LEAF / 8, d, 8], OUT
        Column by column for each eight points. Missing points are infinite.
    rows : int64[n_leaves, LEAF], OUT
        ``NO_ROW`` for missing points.
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


@kernel
def fill_groups(first, end, parent, boxes, low_rows):
    """Write the boxes of groups ``first`` to ``end - 1`` into the groups above them, which begin at ``parent``.

    ``boxes`` float64[n_groups, d, 2, 8] and ``low_rows`` int64[n_groups, 8], IN and OUT.
    """
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


@inner_kernel
def _power_below(gap, p):
    """A lower bound of ``gap ** p`` for this gap and all larger ones.

    A power has an error of a few units in the last place at most, but may not be monotone.
    """
    return max(0.0, raised(gap, p) * _SHRINK - _SMALLEST)


@inner_kernel
def _box_powers(boxes, group, query, p, eight):
    """As ``_box_ranks``, for ``POWERS``.

    ``boxes`` float64[n_groups, d, 2, 8], ``query`` float64[d], ``eight`` float64[8].
    """
    for lane in range(LANES):
        total = 0.0
        for j in range(boxes.shape[1]):
            low, high = boxes[group, j, 0, lane], boxes[group, j, 1, lane]
            gap = max(low - query[j], query[j] - high, 0.0)
            total += raised(gap, p) if low == high else _power_below(gap, p)
        eight[lane] = total


@inner_kernel
def _box_ranks(boxes, group, query, kind, p, eight):
    """Write to ``eight`` float64[8] the least possible rank distance of rows in each child of a group.

    ``boxes`` float64[n_groups, d, 2, 8] as in ``KdArrays``, ``query`` float64[d]; ``kind`` is that of ``KdTree``, ``p``
    of ``POWERS``.
    """
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


@inner_kernel
def _point_powers(leaves, at, query, p, eight):
    """As ``_point_ranks``, for ``POWERS``.

    ``leaves`` float64[n_leaves, LEAF / 8, d, 8], ``query`` float64[d], ``eight`` float64[8].
    """
    cells = leaves.reshape(-1)
    for lane in range(LANES):
        total = 0.0
        for j in range(leaves.shape[2]):
            total += raised(abs(cells[at + j * LANES + lane] - query[j]), p)
        eight[lane] = total


@inner_kernel
def _point_ranks(leaves, at, query, kind, p, eight):
    """Write to ``eight`` float64[8] the rank distances of the eight points that begin at place ``at`` of ``leaves``.

    ``leaves`` float64[n_leaves, LEAF / 8, d, 8], ``query`` float64[d].
    """
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


@inner_kernel
def _scan(leaf, tree, query, kind, p, eight, k, n, rows, ranks):
    """Keep the rows of a leaf that are among the nearest of ``query`` float64[d]; returns the number of rows held.

    ``rows`` int64[k] and ``ranks`` float64[k] are kept in order, or have room for 2 k (see ``collect``); ``eight``
    float64[8] is scratch.
    """
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


@inner_kernel
def _push(n, group, tree, waiting, worst, worst_row):
    """Push the children of a group that may hold nearer rows, the nearest on top; returns the number of waiting nodes.

    Their rank distances are in ``waiting.eight``. Among equally distant children the one with the lowest row comes
    first, so that few of many equal points are visited.
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


@inner_kernel
def _nearest(query, tree, kind, p, waiting, k, rows, ranks):
    """Find the nearest rows of one point, in order if there is room for ``k``; else returns their number (``collect``).

    ``query`` float64[d]; ``rows`` int64[k or 2 k] and ``ranks`` float64[k or 2 k] as in ``_scan``.
    """
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


def _steps(tree, points, order, begin, end, *_):
    """The cost of a search that opens thirty leaves for a point: few columns need fewer, many need all."""
    return (end - begin) * min(tree.leaves.size, 30 * tree.leaves[0].size)


@costs(_steps)
@kernel
def search_nearest(tree, points, order, begin, end, kind, p, waiting, rows, ranks):
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
        Scratch; ``more_rows`` and ``more_ranks`` are empty, or have room for twice the neighbours.
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


@kernel
def find_leaves(tree, points, begin, end, kind, p, eight, leaves):
    """Write to ``leaves`` int64[m] the leaf of each of the points ``begin`` to ``end - 1``, or one next to it.

    ``points`` float64[m, d]; ``eight`` float64[8] is scratch.
    """
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


@inner_kernel
def _within(query, tree, rank, kind, p, waiting, at, is_written, rows, ranks):
    """Count the rows of one point from ``at`` on, and write them there if ``is_written``; returns their end.

    ``query`` float64[d]; ``rows`` int64[c] and ``ranks`` float64[c], OUT. Counting and writing use the same code, so
    that they cannot differ.
    """
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


@costs(_steps)
@kernel
def count_within(tree, points, order, begin, end, rank, kind, p, waiting, offsets):
    """Write to ``offsets[i + 1]`` the number of rows of point i; otherwise as ``search_nearest``.

    ``points`` float64[m, d], ``order`` int64[m], ``offsets`` int64[m + 1].
    """
    rows, ranks = waiting.more_rows, waiting.more_ranks
    for i in range(begin, end):
        at = order[i]
        offsets[at + 1] = _within(points[at], tree, rank, kind, p, waiting, 0, False, rows, ranks)


@costs(_steps)
@kernel
def fill_within(tree, points, order, begin, end, rank, kind, p, waiting, offsets, rows, ranks):
    """Write the rows of each point from its ``offsets`` int64[m + 1] on, in order; otherwise as ``count_within``.

    ``points`` float64[m, d], ``order`` int64[m]; ``rows`` int64[c] and ``ranks`` float64[c], OUT.
    """
    for i in range(begin, end):
        at = order[i]
        stop = _within(points[at], tree, rank, kind, p, waiting, offsets[at], True, rows, ranks)
        sort(ranks, rows, offsets[at], stop)
