"""Neighbours in a KD-tree. In: points, a kind of rank distance. Out: ``KdTree``, an index. Caller: neighbors.index."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treewright.core import threads
from treewright.neighbors import kd_build, kd_search
from treewright.neighbors.kd_build import LEAF, NO_ROW
from treewright.neighbors.kd_search import KdArrays, Waiting
from treewright.neighbors.lanes import LANES

_BLOCK_POINTS = 512  # that one task searches for
_BLOCK_LEAVES = 1024  # that one task parts or writes, about


@dataclass(frozen=True, eq=False)
class KdTree:
    """Points in boxes in boxes, for few columns (Bentley 1975; boxes of eight children as in ray tracing).

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
        n_leaves = -(-len(points) // LEAF)
        firsts = _first_groups(n_leaves)
        n_groups, d = firsts[-1], points.shape[1]
        arrays = KdArrays(
            leaves=np.empty((n_leaves, LEAF // LANES, d, LANES)),
            rows=np.empty((n_leaves, LEAF), np.int64),
            boxes=np.empty((n_groups, d, 2, LANES)),
            low_rows=np.full((n_groups, LANES), NO_ROW, np.int64),
            first_child=np.empty(n_groups, np.int64),
        )
        arrays.boxes[:, :, 0], arrays.boxes[:, :, 1] = np.inf, -np.inf

        def fill(task: int, _thread: int) -> None:
            first = task * _BLOCK_LEAVES
            end = min(first + _BLOCK_LEAVES, n_leaves)
            kd_build.fill_leaves(
                points, order, first, end, arrays.leaves, arrays.rows, arrays.boxes, arrays.low_rows
            )

        threads.run_each(fill, -(-n_leaves // _BLOCK_LEAVES), n_threads)
        below = 0  # number of the first node of the level below
        for level, (first, end) in enumerate(zip(firsts, firsts[1:], strict=False)):
            arrays.first_child[first:end] = below + LANES * np.arange(end - first)
            below = n_leaves + first
            if level + 2 < len(firsts):
                kd_build.fill_groups(first, end, end, arrays.boxes, arrays.low_rows)
        return cls(arrays, len(points), int(kind), float(p))

    def nearest(self, points: np.ndarray, k: int, n_threads: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """The ``k`` nearest rows of each point (see ``ranks.Index``)."""
        rows, ranks = np.empty((len(points), k), np.int64), np.empty((len(points), k))
        order = self._visiting_order(points, n_threads)
        scratch = self._scratch(n_threads)

        def search(task: int, thread: int) -> None:
            begin = task * _BLOCK_POINTS
            end = min(begin + _BLOCK_POINTS, len(points))
            kd_search.nearest(
                self.arrays, points, order, begin, end, self.kind, self.p, scratch[thread], rows, ranks
            )

        threads.run_each(search, -(-len(points) // _BLOCK_POINTS), n_threads)
        return rows, ranks

    def within(
        self, points: np.ndarray, rank: float, n_threads: int = 1
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows of each point whose rank distance is at most ``rank`` (see ``ranks.Index``).

        Searched twice: the first time rows are counted, so that no more memory is taken than is returned.
        """
        offsets = np.zeros(len(points) + 1, np.int64)
        rows, ranks = np.empty(0, np.int64), np.empty(0)
        order = self._visiting_order(points, n_threads)
        scratch = self._scratch(n_threads)
        for kernel in (kd_search.count_within, kd_search.fill_within):

            def search(task: int, thread: int) -> None:
                begin = task * _BLOCK_POINTS
                end = min(begin + _BLOCK_POINTS, len(points))
                kernel(  # noqa: B023 - called before the next round
                    self.arrays, points, order, begin, end, float(rank), self.kind, self.p, scratch[thread],
                    rows, ranks, offsets,  # noqa: B023
                )  # fmt: skip

            threads.run_each(search, -(-len(points) // _BLOCK_POINTS), n_threads)
            if kernel is kd_search.count_within:
                np.cumsum(offsets, out=offsets)
                rows, ranks = np.empty(offsets[-1], np.int64), np.empty(offsets[-1])
        return offsets, rows, ranks

    def _visiting_order(self, points: np.ndarray, n_threads: int) -> np.ndarray:
        """int64[m]: the points by the leaf they fall into, so that the same leaves are wanted one after another."""
        leaves = np.empty(len(points), np.int64)
        eights = np.empty((n_threads, LANES))

        def fall(task: int, thread: int) -> None:
            begin = task * _BLOCK_POINTS
            end = min(begin + _BLOCK_POINTS, len(points))
            kd_search.fall(self.arrays, points, begin, end, self.kind, self.p, eights[thread], leaves)

        threads.run_each(fall, -(-len(points) // _BLOCK_POINTS), n_threads)
        return np.argsort(leaves)

    def _scratch(self, n_threads: int) -> list[Waiting]:
        """One for each thread. Of each level no more than eight nodes wait."""
        size = LANES * (len(_first_groups(len(self.arrays.leaves))) + 1)
        return [
            Waiting(np.empty(size), np.empty(size, np.int64), np.empty(size, np.int64), np.empty(LANES))
            for _ in range(n_threads)
        ]


def _first_groups(n_leaves: int) -> list[int]:
    """Number of the first group of each level, lowest level first, and how many groups there are."""
    firsts, n = [0], n_leaves
    while n > 1 or len(firsts) == 1:
        n = -(-n // LANES)
        firsts.append(firsts[-1] + n)
    return firsts


def _parted(points: np.ndarray, n_threads: int) -> np.ndarray:
    """int64[n]: the rows by leaf. Large nodes are cut side by side, then each thread takes whole subtrees."""
    order, numbers = np.arange(len(points)), np.empty(len(points))
    nodes, subtrees = [(0, -(-len(points) // LEAF))], []
    while nodes:
        subtrees += [node for node in nodes if node[1] <= _BLOCK_LEAVES]
        nodes = [node for node in nodes if node[1] > _BLOCK_LEAVES]
        n_lefts = np.zeros(len(nodes), np.int64)

        def cut(task: int, _thread: int) -> None:
            n_lefts[task] = kd_build.cut(points, order, numbers, *nodes[task])  # noqa: B023 - called in this round

        threads.run_each(cut, len(nodes), n_threads)
        nodes = [
            child
            for (first, n_leaves), n_left in zip(nodes, n_lefts.tolist(), strict=True)
            for child in ((first, n_left), (first + n_left, n_leaves - n_left))
        ]
    scratch = np.empty((n_threads, 128), np.int64)

    def cut_down(task: int, thread: int) -> None:
        kd_build.cut_down(points, order, numbers, *subtrees[task], scratch[thread])

    threads.run_each(cut_down, len(subtrees), n_threads)
    return order
