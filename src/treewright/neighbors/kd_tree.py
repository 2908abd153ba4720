"""Neighbours in a KD-tree. In: points, a kind of rank distance. Out: ``KdTree``, an index. Caller: neighbors.index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from treewright.core import threads
from treewright.neighbors import kd_build, kd_search
from treewright.neighbors.kd_build import LEAF, NO_ROW
from treewright.neighbors.kd_search import KdArrays, Waiting
from treewright.neighbors.lanes import LANES

_BLOCK_POINTS = 512  # that one task searches for
_BLOCK_LEAVES = 1024  # that one task parts or writes, about
_LEAST = 64  # of either: fewer are not worth a thread
_FEW = 200  # of more neighbours than these: ``many``
_MOST_WAITING = 128  # twice the levels of two children there can be


@dataclass(frozen=True, eq=False)
class KdTree:
    """Points in boxes in boxes, for few columns (the k-d tree of Bentley 1975, eight children of a node side by side).

    Attributes
    ----------
    arrays : KdArrays
        The points, by leaf, and their boxes: about 1.1 times the memory of the points, and 8 bytes a row.
    n_points : int
    kind : int
        ``SQUARES``, ``MANHATTAN``, ``CHEBYSHEV`` or ``POWERS``.
    p : float >= 1
        Of ``POWERS``.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright.neighbors.kd_tree import KdTree
    >>> from treewright.neighbors.ranks import SQUARES
    >>> tree = KdTree.of(np.array([[0.0], [3.0], [1.0], [1.0]]), SQUARES)
    >>> rows, ranks = tree.nearest(np.array([[2.0]]), k=3)
    >>> rows.tolist(), ranks.tolist()
    ([[1, 2, 3]], [[1.0, 1.0, 1.0]])
    """

    arrays: KdArrays
    n_points: int
    kind: int
    p: float

    @classmethod
    def of(cls, points: np.ndarray, kind: int, p: float = 2.0, n_threads: int = 1) -> KdTree:
        """Build the tree.

        Parameters
        ----------
        points : float64[n, d], C order
            n and d at least 1; finite.
        kind : int
            ``SQUARES``, ``MANHATTAN``, ``CHEBYSHEV`` or ``POWERS``.
        p : float >= 1
            Of ``POWERS``.
        n_threads : int >= 1
            The tree does not depend on it.
        """
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
            kd_build.fill_leaves(points, order, begin, end, leaves, rows, boxes, low_rows)

        _each_block(fill, n_leaves, _BLOCK_LEAVES, n_threads)
        child = 0
        for first, end in pairwise(firsts):
            first_child[first:end] = child + LANES * np.arange(end - first)
            child = n_leaves + first
            if end < firsts[-1]:
                kd_build.fill_groups(first, end, end, boxes, low_rows)
        return cls(arrays, len(points), int(kind), float(p))

    def nearest(self, points: np.ndarray, k: int, n_threads: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """The ``k`` nearest rows of each point: rows int64[m, k], ranks float64[m, k] (see ``ranks.Index``).

        Parameters
        ----------
        points : float64[m, d], C order
        k : int, 1 to ``n_points``
        n_threads : int >= 1
            The result does not depend on it.
        """
        rows, ranks = np.empty((len(points), k), np.int64), np.empty((len(points), k))
        order = self._visiting_order(points, n_threads)
        scratch = self._scratch(n_threads, 2 * k if k > _FEW else 0)

        def search(begin: int, end: int, thread: int) -> None:
            kd_search.nearest(self.arrays, points, order, begin, end, self.kind, self.p, scratch[thread], rows, ranks)

        _each_block(search, len(points), _BLOCK_POINTS, n_threads, _LEAST if k <= _FEW else 1)
        return rows, ranks

    def within(self, points: np.ndarray, rank: float, n_threads: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows whose rank distance is at most ``rank``: offsets, rows, ranks (see ``ranks.Index``).

        Parameters
        ----------
        points : float64[m, d], C order
        rank : float
        n_threads : int >= 1
            The result does not depend on it.

        Notes
        -----
        Searched twice: the first time rows are counted, so that no more memory is taken than is returned.
        """
        offsets = np.zeros(len(points) + 1, np.int64)
        order = self._visiting_order(points, n_threads)
        scratch = self._scratch(n_threads, 0)

        def count(begin: int, end: int, thread: int) -> None:
            kd_search.count_within(
                self.arrays, points, order, begin, end, float(rank), self.kind, self.p, scratch[thread], offsets
            )

        _each_block(count, len(points), _BLOCK_POINTS, n_threads)
        np.cumsum(offsets, out=offsets)
        rows, ranks = np.empty(offsets[-1], np.int64), np.empty(offsets[-1])

        def fill(begin: int, end: int, thread: int) -> None:
            kd_search.fill_within(
                *(self.arrays, points, order, begin, end, float(rank), self.kind, self.p, scratch[thread]),
                *(offsets, rows, ranks),
            )

        _each_block(fill, len(points), _BLOCK_POINTS, n_threads)
        return offsets, rows, ranks

    def _visiting_order(self, points: np.ndarray, n_threads: int) -> np.ndarray:
        """int64[m]: the points by the leaf they fall into, so that the same leaves are wanted one after another.

        100,000 points among 1,000,000 rows of 3 columns took 1.5 times as long in an order of chance.
        """
        leaves, eights = np.zeros(len(points), np.int64), np.empty((n_threads, LANES))

        def fall(begin: int, end: int, thread: int) -> None:
            kd_search.fall(self.arrays, points, begin, end, self.kind, self.p, eights[thread], leaves)

        _each_block(fall, len(points), _BLOCK_POINTS, n_threads)
        return np.argsort(leaves)

    def _scratch(self, n_threads: int, n_more: int) -> list[Waiting]:
        """One for each thread. Of each level no more than eight nodes wait."""
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
    """``work(begin, end, thread)`` for blocks of ``size`` out of ``n``, or of ``least`` where threads had nothing."""
    size = min(size, max(least, -(-n // n_threads)))
    threads.run_each(
        lambda task, thread: work(task * size, min((task + 1) * size, n), thread), -(-n // size), n_threads
    )


def _first_groups(n_leaves: int) -> list[int]:
    """Number of the first group of each level, the lowest level first; then how many groups there are."""
    firsts, n = [0], n_leaves
    while n > 1 or len(firsts) == 1:
        n = -(-n // LANES)
        firsts.append(firsts[-1] + n)
    return firsts


def _parted(points: np.ndarray, n_threads: int) -> np.ndarray:
    """int64[n]: the rows by leaf. Large nodes are cut side by side, then each thread takes whole subtrees."""
    order, numbers = np.arange(len(points)), np.empty(len(points))
    large, subtrees = [(0, -(-len(points) // LEAF))], []
    while large:
        subtrees += [node for node in large if node[1] <= _BLOCK_LEAVES]
        large = [node for node in large if node[1] > _BLOCK_LEAVES]
        large = _cut_each(points, order, numbers, large, n_threads)
    waiting = np.empty((n_threads, _MOST_WAITING), np.int64)

    def cut_down(task: int, thread: int) -> None:
        kd_build.cut_down(points, order, numbers, *subtrees[task], waiting[thread])

    threads.run_each(cut_down, len(subtrees), n_threads)
    return order


def _cut_each(
    points: np.ndarray, order: np.ndarray, numbers: np.ndarray, nodes: list[tuple[int, int]], n_threads: int
) -> list[tuple[int, int]]:
    """Part the rows of nodes, each a first leaf and a number of leaves; their children."""
    n_lefts = [0] * len(nodes)

    def cut(task: int, _thread: int) -> None:
        n_lefts[task] = kd_build.cut(points, order, numbers, *nodes[task])

    threads.run_each(cut, len(nodes), n_threads)
    children: list[tuple[int, int]] = []
    for (first, n_leaves), n_left in zip(nodes, n_lefts, strict=True):
        children += [(first, n_left), (first + n_left, n_leaves - n_left)]
    return children
