"""Search that measures every pair. In: points and a formula. Out: nearest rows, rows within a rank. Callers: index.

``select`` and ``in_order`` serve the other indexes that hold all ranks of some queries.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treewright.core.threads import run_each
from treewright.neighbors.direct_kernels import COLUMNS, TILE, nearest_of_block, ranks_of_block, within_of_block

__all__ = ["Direct", "blocks_of", "in_order", "joined", "select"]

# Queries that are measured against one tile of points: 128 KiB of sums.
_QUERIES = 64
# Of all ranks of some queries, and of rows found within a rank: bytes of one thread.
_BLOCK_BYTES = 2**23
# More neighbours are selected from all ranks of a query: the sorted array of the nearest would cost k steps a row.
_FEW = 64


@dataclass(frozen=True, eq=False)
class Direct:
    """Every query against every point, in blocks that the caches hold. It searches by any formula of numbers.

    Memory beside points and results, per thread: 256 KiB; for more than 64 neighbours 8 MiB or the ranks of one query
    (8 bytes a point) if that is more; for rows within a rank 8 MiB and some 100 bytes for each that 64 queries find.

    Attributes
    ----------
    points : float64[n, d], C order, finite
        Kept, not copied.
    kind : int
        ``ranks.SQUARES`` to ``ranks.CANBERRA``. Hamming: the share of columns that differ. Jaccard: of the columns that
        are nonzero in either row, the share that is zero in the other; 0 where there are none. Canberra: the sum of
        |a - b| / (|a| + |b|), where 0 / 0 counts 0.
    p : float >= 1
        Of ``ranks.POWERS``.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright.neighbors.ranks import MANHATTAN
    >>> index = Direct(np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 0.0]]), MANHATTAN)
    >>> rows, ranks = index.nearest(np.array([[0.0, 1.0]]), k=2, n_threads=1)
    >>> rows.tolist(), ranks.tolist()
    ([[0, 1]], [[1.0, 1.0]])
    """

    points: np.ndarray
    kind: int
    p: float = 2.0

    def nearest(self, points: np.ndarray, k: int, n_threads: int) -> tuple[np.ndarray, np.ndarray]:
        """The ``k`` nearest rows of each point; see ``ranks.Index``."""
        rows = np.empty((len(points), k), np.int64)
        ranks = np.empty((len(points), k))
        if k > _FEW:
            self._nearest_of_all(points, rows, ranks, n_threads)
            return rows, ranks
        size, n_tasks = blocks_of(len(points), n_threads, _QUERIES)
        scratch = _Scratch.per_thread(min(n_threads, n_tasks), size)

        def work(task: int, thread: int) -> None:
            begin, end = task * size, min((task + 1) * size, len(points))
            own = scratch[thread]
            nearest_of_block(self.kind, self.p, points, begin, end, self.points, own.cells, own.sums, rows, ranks)

        run_each(work, n_tasks, n_threads)
        return rows, ranks

    def _nearest_of_all(self, points: np.ndarray, rows: np.ndarray, ranks: np.ndarray, n_threads: int) -> None:
        """For many neighbours: all ranks of a block of queries, then the k smallest of each."""
        n, k = len(self.points), rows.shape[1]
        size, n_tasks = blocks_of(len(points), n_threads, min(_QUERIES, _BLOCK_BYTES // (8 * n)))
        scratch = _Scratch.per_thread(min(n_threads, n_tasks), size)
        everything = [np.empty((size, n)) for _ in scratch]

        def work(task: int, thread: int) -> None:
            begin, end = task * size, min((task + 1) * size, len(points))
            own, found = scratch[thread], everything[thread]
            ranks_of_block(self.kind, self.p, points, begin, end, self.points, own.cells, own.sums, found)
            for query in range(begin, end):
                rows[query], ranks[query] = select(found[query - begin], k)

        run_each(work, n_tasks, n_threads)

    def within(self, points: np.ndarray, rank: float, n_threads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows whose rank distance is at most ``rank``; see ``ranks.Index``."""
        size, n_tasks = blocks_of(len(points), n_threads, _QUERIES)
        scratch = _Scratch.per_thread(min(n_threads, n_tasks), size)
        room = max(_BLOCK_BYTES // 24, size * TILE)
        found = [(np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room)) for _ in scratch]
        blocks: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = [()] * n_tasks  # type: ignore[list-item]

        def work(task: int, thread: int) -> None:
            begin, end = task * size, min((task + 1) * size, len(points))
            own, buffers = scratch[thread], found[thread]
            pieces, first = [], 0
            while first < len(self.points):
                n_found, first = within_of_block(
                    self.kind, self.p, points, begin, end, self.points, first, rank, own.cells, own.sums, *buffers
                )
                pieces.append([buffer[:n_found].copy() for buffer in buffers])
            blocks[task] = in_order(end - begin, *map(np.concatenate, zip(*pieces, strict=True)))

        run_each(work, n_tasks, n_threads)
        return joined(blocks)


@dataclass(frozen=True, eq=False)
class _Scratch:
    """Arrays of one thread."""

    cells: np.ndarray
    sums: np.ndarray

    @classmethod
    def per_thread(cls, n_threads: int, size: int) -> list[_Scratch]:
        return [cls(np.empty((COLUMNS, TILE)), np.empty((size, TILE))) for _ in range(n_threads)]


def blocks_of(n_queries: int, n_threads: int, most: int) -> tuple[int, int]:
    """Queries of a block, at most ``most``, and how many blocks there are: every thread gets some."""
    size = max(1, min(most, -(-n_queries // n_threads)))
    return size, -(-n_queries // size)


def select(ranks: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The ``k`` smallest of all ranks, ordered by (rank, row).

    Parameters
    ----------
    ranks : float64[n]
    k : int, 1 to n

    Returns
    -------
    rows : int64[k]
    ranks : float64[k]

    Examples
    --------
    >>> select(np.array([3.0, 1.0, 3.0, 0.0]), k=3)
    (array([3, 1, 0]), array([0., 1., 3.]))
    """
    rows = np.arange(len(ranks))
    if k < len(ranks):
        last = np.partition(ranks, k - 1)[k - 1]
        nearer, equal = np.flatnonzero(ranks < last), np.flatnonzero(ranks == last)
        rows = np.concatenate([nearer, equal[: k - len(nearer)]])  # the lowest rows of those at the k-th place
    rows = rows[np.argsort(ranks[rows], kind="stable")]
    return rows, ranks[rows]


def in_order(
    n_queries: int, query: np.ndarray, row: np.ndarray, rank: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows found within a rank, by query and then by (rank, row).

    Parameters
    ----------
    n_queries : int
    query, row : int64[c]
    rank : float64[c]
        In any order.

    Returns
    -------
    counts : int64[n_queries]
        Rows found of each query.
    rows : int64[c]
    ranks : float64[c]
    """
    order = np.lexsort((row, rank, query))
    return np.bincount(query, minlength=n_queries), row[order], rank[order]


def joined(blocks: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What ``in_order`` gave of each block of queries, made one: offsets int64[m + 1], rows int64, ranks float64."""
    counts = np.concatenate([np.zeros(1, np.int64), *[block[0] for block in blocks]])
    rows = np.concatenate([np.zeros(0, np.int64), *[block[1] for block in blocks]])
    return np.cumsum(counts), rows, np.concatenate([np.zeros(0), *[block[2] for block in blocks]])
