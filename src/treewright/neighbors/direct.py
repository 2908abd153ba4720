"""Search that compares every pair: by a formula of numbers, by a user's own function, or by given distances.

The cells of a tile of points are transposed so that those of a column are contiguous: the processor then computes many
points at once, and each point's sum still runs over the columns in order, one by one (docs/decisions/0007).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from treewright.core.jit import costs, inner_kernel, kernel
from treewright.core.threads import heed, run_each
from treewright.exceptions import ParameterError
from treewright.neighbors.nearest import (
    CANBERRA,
    CHEBYSHEV,
    HAMMING,
    JACCARD,
    MANHATTAN,
    POWERS,
    SQUARES,
    blocks_of,
    clear,
    in_order,
    joined,
    keep_tile,
    raised,
    select,
)

# Points of a tile, and columns transposed at a time: 128 KiB of cells, which fit into the second cache for any table.
TILE = 256
COLUMNS = 64
# Jaccard has two counts in one sum: cells nonzero in only one row by 1, nonzero in either by this. Both are exact.
_EITHER = 2.0**26
# Queries that are measured against one tile of points: 128 KiB of sums.
QUERIES = 64
# Bytes of one thread, for all ranks of some queries, or for rows found within a rank.
BLOCK_BYTES = 2**23
# More neighbours are selected from all ranks of a query: a sorted array of the nearest would cost k steps a row.
_FEW = 64


class Scratch(NamedTuple):
    """Temporary arrays of one thread."""

    cells: np.ndarray  # float64[COLUMNS, TILE]: a tile of points by column
    sums: np.ndarray  # float64[queries of a block, TILE]: their rank distances


class Found(NamedTuple):
    """Pairs of a query and a row that were found within a rank, with room for c of them."""

    queries: np.ndarray  # int64[c], counted from the first of the block
    rows: np.ndarray  # int64[c]
    ranks: np.ndarray  # float64[c]


class AllPairs:
    """Search that compares every query with every point, in blocks that fit into the caches."""

    points: np.ndarray

    def nearest(self, points: np.ndarray, k: int, n_threads: int) -> tuple[np.ndarray, np.ndarray]:
        """As ``Index.nearest``."""
        rows, ranks = np.empty((len(points), k), np.int64), np.empty((len(points), k))
        if k > _FEW:

            def take(begin: int, found: np.ndarray) -> None:
                for at, of_query in enumerate(found):
                    rows[begin + at], ranks[begin + at] = select(of_query, k)

            self._measure_all(points, n_threads, take)
            return rows, ranks
        nearest, _, formula = self._kernels()
        size, n_tasks = blocks_of(len(points), n_threads, self._most_queries())
        scratch = [self._scratch(size) for _ in range(min(n_threads, n_tasks))]

        def work(task: int, thread: int) -> None:
            begin, end = task * size, min((task + 1) * size, len(points))
            nearest(*formula, points, begin, end, self.points, scratch[thread], rows, ranks)

        run_each(work, n_tasks, n_threads)
        return rows, ranks

    def _measure_all(self, points: np.ndarray, n_threads: int, take: Callable[[int, np.ndarray], None]) -> None:
        """Call ``take`` for each block of queries, with its first query and all ranks, float64[queries, n]."""
        n = len(self.points)
        _, ranks_of, formula = self._kernels()
        size, n_tasks = blocks_of(len(points), n_threads, min(self._most_queries(), BLOCK_BYTES // (8 * n)))
        scratch = [self._scratch(size) for _ in range(min(n_threads, n_tasks))]
        everything = [np.empty((size, n)) for _ in scratch]

        def work(task: int, thread: int) -> None:
            begin, end = task * size, min((task + 1) * size, len(points))
            found = everything[thread]
            ranks_of(*formula, points, begin, end, self.points, scratch[thread], found)
            take(begin, found[: end - begin])

        run_each(work, n_tasks, n_threads)

    def _kernels(self) -> tuple[Any, Any, tuple[Any, ...]]:
        """The kernels for the nearest points of a block and for all its ranks, and the first arguments of both."""
        raise NotImplementedError

    def _scratch(self, size: int) -> Any:
        """Temporary arrays of a thread, for blocks of ``size`` queries."""
        raise NotImplementedError

    def _most_queries(self) -> int:
        """The most queries of a block."""
        return QUERIES


@dataclass(frozen=True, eq=False)
class Direct(AllPairs):
    """Every query against every point, in blocks that fit into the caches, by any formula of numbers.

    Additional memory per thread: 256 KiB; for more than 64 neighbours 8 MiB or the ranks of one query (8 bytes a point)
    if that is more; for rows within a rank 8 MiB and some 100 bytes for each that 64 queries find.

    ``points`` (float64[n, d], C order, finite): kept, not copied.
    ``kind``, ``nearest.SQUARES`` to ``nearest.CANBERRA``. Hamming: the share of columns that differ. Jaccard: of the
        columns that are nonzero in either row, the share that is zero in the other; 0 if there are none. Canberra: the
        sum of |a - b| / (|a| + |b|), with 0 / 0 counted as 0.
    ``p``: for ``nearest.POWERS``.
    """

    points: np.ndarray
    kind: int
    p: float = 2.0

    def within(self, points: np.ndarray, rank: float, n_threads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As ``Index.within``."""
        size, n_tasks = blocks_of(len(points), n_threads, QUERIES)
        scratch = [self._scratch(size) for _ in range(min(n_threads, n_tasks))]
        room = max(BLOCK_BYTES // 24, size * TILE)
        found = [Found(np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room)) for _ in scratch]
        blocks: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = [()] * n_tasks  # type: ignore[list-item]

        def work(task: int, thread: int) -> None:
            begin, end = task * size, min((task + 1) * size, len(points))
            buffers = found[thread]
            pieces, first = [], 0
            while first < len(self.points):
                n_found, first = within_of_block(
                    self.kind, self.p, points, begin, end, self.points, first, rank, scratch[thread], buffers
                )
                pieces.append([buffer[:n_found].copy() for buffer in buffers])
            blocks[task] = in_order(end - begin, *map(np.concatenate, zip(*pieces, strict=True)))

        run_each(work, n_tasks, n_threads)
        return joined(blocks)

    def _scratch(self, size: int) -> Scratch:
        return Scratch(np.empty((COLUMNS, TILE)), np.empty((size, TILE)))

    def _kernels(self) -> tuple[Any, Any, tuple[Any, ...]]:
        return nearest_of_block, ranks_of_block, (self.kind, self.p)


@inner_kernel
def _add_squares(query, first, n_columns, cells, n, sums):
    """Add (a - b)^2 of ``n_columns`` columns of ``query`` float64[d] from ``first`` on, to ``sums`` float64[n].

    ``cells`` float64[COLUMNS, TILE] are those of the points. Four columns at a time save three passes over the sums.
    """
    at = np.uintp(0)
    for _ in range(n_columns // 4):
        a, b = query[first + at], query[first + at + np.uintp(1)]
        c, d = query[first + at + np.uintp(2)], query[first + at + np.uintp(3)]
        for i in range(n):
            i = np.uintp(i)
            by_a, by_b = a - cells[at, i], b - cells[at + np.uintp(1), i]
            by_c, by_d = c - cells[at + np.uintp(2), i], d - cells[at + np.uintp(3), i]
            sums[i] = (((sums[i] + by_a * by_a) + by_b * by_b) + by_c * by_c) + by_d * by_d
        at += np.uintp(4)
    for _ in range(n_columns % 4):
        a = query[first + at]
        for i in range(n):
            i = np.uintp(i)
            by_a = a - cells[at, i]
            sums[i] += by_a * by_a
        at += np.uintp(1)


@inner_kernel
def _add_column(kind, p, a, cells, n, sums):
    """Add one column by the formula of ``kind`` to ``sums`` float64[n].

    ``a`` is the cell of the query, ``cells`` float64[n] are those of the points.
    """
    if kind == MANHATTAN:
        for i in range(n):
            sums[i] += abs(a - cells[i])
    elif kind == CHEBYSHEV:
        for i in range(n):
            sums[i] = max(sums[i], abs(a - cells[i]))
    elif kind == POWERS:
        for i in range(n):
            sums[i] += raised(abs(a - cells[i]), p)
    elif kind == HAMMING:
        for i in range(n):
            sums[i] += 1.0 if a != cells[i] else 0.0
    elif kind == JACCARD:
        in_one = 1.0 if a != 0.0 else 0.0
        for i in range(n):
            in_other = 1.0 if cells[i] != 0.0 else 0.0
            sums[i] += abs(in_one - in_other) + _EITHER * max(in_one, in_other)
    elif kind == CANBERRA:
        for i in range(n):
            # Halves of numbers whose sum is too large; a half or whole is exact.
            part = 0.5 if abs(a) + abs(cells[i]) == np.inf else 1.0
            whole = part * abs(a) + part * abs(cells[i])
            sums[i] += abs(part * a - part * cells[i]) / whole if whole > 0.0 else 0.0


@inner_kernel
def _finish(kind, n_columns, n, sums):
    """Turn the counts in ``sums`` float64[n] into shares."""
    if kind == HAMMING:
        for i in range(n):
            sums[i] /= n_columns
    elif kind == JACCARD:
        for i in range(n):
            either = np.floor(sums[i] / _EITHER)
            sums[i] = (sums[i] - _EITHER * either) / either if either > 0.0 else 0.0


@inner_kernel
def measure(kind, p, queries, begin, end, points, first, n, scratch):
    """Rank distances of queries ``begin`` to ``end - 1`` to the points ``first`` to ``first + n - 1``.

    Parameters
    ----------
    kind : int
        ``nearest.SQUARES``, ...
    p : float64
        For ``POWERS``.
    queries : float64[m, d]
    points : float64[N, d]
    n : int, 1 to ``TILE``
    scratch : Scratch, OUT
        ``scratch.sums[i, j]`` is the rank of query ``begin + i`` and point ``first + j``.
    """
    cells, sums, n_columns = scratch.cells, scratch.sums, points.shape[1]
    for query in range(end - begin):
        for i in range(n):
            sums[query, i] = 0.0
    for left in range(0, n_columns, COLUMNS):
        width = min(COLUMNS, n_columns - left)
        for i in range(n):
            row = points[first + i]
            for column in range(width):
                cells[column, i] = row[left + column]
        for query in range(end - begin):
            if kind == SQUARES:
                _add_squares(queries[begin + query], np.uintp(left), width, cells, n, sums[query])
            else:
                for column in range(width):
                    _add_column(kind, p, queries[begin + query, left + column], cells[column], n, sums[query])
    for query in range(end - begin):
        _finish(kind, n_columns, n, sums[query])


@costs(lambda kind, p, queries, begin, end, points, *_: (end - begin) * points.size)
@kernel
def nearest_of_block(kind, p, queries, begin, end, points, scratch, rows, ranks):
    """The nearest points of queries ``begin`` to ``end - 1``, by (rank, row).

    ``queries`` float64[m, d], ``points`` float64[N, d]; ``rows`` int64[m, k] and ``ranks`` float64[m, k], OUT.
    """
    n_points = len(points)
    for query in range(begin, end):
        clear(ranks[query], rows[query])
    for first in range(0, n_points, TILE):
        n = min(TILE, n_points - first)
        measure(kind, p, queries, begin, end, points, first, n, scratch)
        for query in range(begin, end):
            keep_tile(scratch.sums[query - begin], first, n, ranks[query], rows[query])


@costs(lambda kind, p, queries, begin, end, points, *_: (end - begin) * points.size)
@kernel
def ranks_of_block(kind, p, queries, begin, end, points, scratch, ranks):
    """All rank distances of queries ``begin`` to ``end - 1``, into ``ranks`` float64[>= end - begin, N].

    ``queries`` float64[m, d], ``points`` float64[N, d].
    """
    for first in range(0, len(points), TILE):
        n = min(TILE, len(points) - first)
        measure(kind, p, queries, begin, end, points, first, n, scratch)
        for query in range(end - begin):
            for i in range(n):
                ranks[query, first + i] = scratch.sums[query, i]


@costs(lambda kind, p, queries, begin, end, points, *_: (end - begin) * points.size)
@kernel
def within_of_block(kind, p, queries, begin, end, points, first, limit, scratch, found):
    """The points from ``first`` on whose rank is at most ``limit``, until ``found`` (OUT) has no room for another tile.

    ``queries`` float64[m, d], ``points`` float64[N, d]. Returns the number of rows found, and the next point: the
    number of points when all are done.
    """
    sums, n_found = scratch.sums, 0
    while first < len(points) and n_found + (end - begin) * TILE <= len(found.rows):
        n = min(TILE, len(points) - first)
        measure(kind, p, queries, begin, end, points, first, n, scratch)
        for query in range(end - begin):
            for i in range(n):
                if sums[query, i] <= limit:
                    found.queries[n_found] = query
                    found.rows[n_found] = first + i
                    found.ranks[n_found] = sums[query, i]
                    n_found += 1
        first += n
    return n_found, first


@dataclass(frozen=True, eq=False)
class Called:
    """A user's function, called pair by pair in the calling thread, so that it need not be thread-safe.

    Its exceptions get a note that names both rows. Additional memory: the ranks of one query, 8 bytes a point.

    ``points`` (float64[n, d]).
    ``function``: from two read-only rows float64[d], the query first, to a number >= 0.
    """

    points: np.ndarray
    function: Callable[[np.ndarray, np.ndarray], Any]

    def nearest(self, points: np.ndarray, k: int, n_threads: int) -> tuple[np.ndarray, np.ndarray]:  # noqa: ARG002
        """As ``Index.nearest``."""
        rows, ranks = np.empty((len(points), k), np.int64), np.empty((len(points), k))
        for query in range(len(points)):
            rows[query], ranks[query] = select(self._ranks(points, query), k)
        return rows, ranks

    def within(
        self,
        points: np.ndarray,
        rank: float,
        n_threads: int,  # noqa: ARG002
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As ``Index.within``."""
        offsets = np.zeros(len(points) + 1, np.int64)
        rows, ranks = [np.zeros(0, np.int64)], [np.zeros(0)]
        for query in range(len(points)):
            found = self._ranks(points, query)
            near = np.flatnonzero(found <= rank)
            counts, its_rows, its_ranks = in_order(1, np.zeros(len(near), np.int64), near, found[near])
            offsets[query + 1] = offsets[query] + counts[0]
            rows.append(its_rows)
            ranks.append(its_ranks)
        return offsets, np.concatenate(rows), np.concatenate(ranks)

    def _ranks(self, points: np.ndarray, query: int) -> np.ndarray:
        """Distances float64[n] of one query from every point."""
        heed()
        ours, theirs = points[query].view(), self.points.view()
        ours.flags.writeable = theirs.flags.writeable = False
        found = np.empty(len(theirs))
        for row, other in enumerate(theirs):
            try:
                answer = self.function(ours, other)
            except BaseException as error:
                error.add_note(f"metric was called with {_pair(query, row)}")
                raise
            found[row] = _checked(answer, query, row)
        return found


@dataclass(frozen=True, eq=False)
class Given:
    """Given distances: a query is its distances to all training rows.

    ``n``: the number of training rows.

    Examples
    --------
    >>> import numpy as np
    >>> rows, ranks = Given(3).nearest(np.array([[2.0, 0.5, 0.5]]), k=2, n_threads=1)
    >>> rows.tolist(), ranks.tolist()
    ([[1, 2]], [[0.5, 0.5]])
    """

    n: int

    def nearest(self, points: np.ndarray, k: int, n_threads: int) -> tuple[np.ndarray, np.ndarray]:
        """As ``Index.nearest``."""
        rows, ranks = np.empty((len(points), k), np.int64), np.empty((len(points), k))

        def work(query: int, _: int) -> None:
            rows[query], ranks[query] = select(points[query], k)

        run_each(work, len(points), n_threads)
        return rows, ranks

    def within(
        self,
        points: np.ndarray,
        rank: float,
        n_threads: int,  # noqa: ARG002
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As ``Index.within``."""
        query, row = np.nonzero(points <= rank)
        return joined([in_order(len(points), query, row, points[query, row])])


def _pair(query: int, row: int) -> str:
    """Both rows in words."""
    return f"row {query} of the rows to predict and training row {row} (both counted from 0)"


def _checked(answer: Any, query: int, row: int) -> float:
    """The result of the function as a float, checked."""
    if isinstance(answer, np.ndarray | np.generic) and answer.ndim == 0:
        answer = answer.item()
    if not isinstance(answer, Real):
        raise ParameterError(f"metric returned {type(answer).__name__} for {_pair(query, row)}: return one number >= 0")
    try:
        number = float(answer)
    except OverflowError:  # a whole number beyond float64
        number = -np.inf if answer < 0 else np.inf
    if not number >= 0.0:
        raise ParameterError(f"metric returned {number} for {_pair(query, row)}: return a number >= 0")
    return number + 0.0  # -0.0 is 0
