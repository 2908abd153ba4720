"""Rank distances of blocks of queries and points, column by column. In: points of both. Out: ranks, nearest rows.

Caller: neighbors.direct.

The cells of a tile of points are turned so that one column's cells lie side by side: the processor then works on many
points at once, and each point's sum is still taken over the columns in order, one by one (docs/decisions/0007).
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import bare_inner_kernel, bare_kernel
from treewright.neighbors.ranks import CANBERRA, CHEBYSHEV, HAMMING, JACCARD, MANHATTAN, POWERS, SQUARES
from treewright.neighbors.smallest import clear, keep_tile

# Points of a tile, and columns turned at a time: 128 KiB of cells, which the second cache holds, whatever the table.
TILE = 256
COLUMNS = 64
# Jaccard counts twice in one sum: cells nonzero in one row only by 1, cells nonzero in either by this. Both are exact.
_EITHER = 2.0**26


@bare_inner_kernel
def _add_squares(query, first, n_columns, cells, n, sums):
    """Add (a - b)^2 of ``n_columns`` columns from ``first`` on; four columns a turn spare three visits to the sums."""
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


@bare_inner_kernel
def _add_column(kind, p, a, cells, n, sums):
    """Add one column by the formula of ``kind``; ``a`` is the query's cell, ``cells`` float64[n] are the points'."""
    if kind == MANHATTAN:
        for i in range(n):
            sums[i] += abs(a - cells[i])
    elif kind == CHEBYSHEV:
        for i in range(n):
            sums[i] = max(sums[i], abs(a - cells[i]))
    elif kind == POWERS:
        for i in range(n):
            sums[i] += abs(a - cells[i]) ** p
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


@bare_inner_kernel
def _finish(kind, n_columns, n, sums):
    """Make shares of counts."""
    if kind == HAMMING:
        for i in range(n):
            sums[i] /= n_columns
    elif kind == JACCARD:
        for i in range(n):
            either = np.floor(sums[i] / _EITHER)
            sums[i] = (sums[i] - _EITHER * either) / either if either > 0.0 else 0.0


@bare_inner_kernel
def measure(kind, p, queries, begin, end, points, first, n, cells, sums):
    """Rank distances of queries ``begin`` to ``end - 1`` to the points ``first`` to ``first + n - 1``.

    Parameters
    ----------
    kind : int
        ``ranks.SQUARES``, ...
    p : float64
        Of ``POWERS``.
    queries : float64[m, d]
    points : float64[N, d]
    n : int, 1 to ``TILE``
    cells : float64[COLUMNS, TILE], OUT
        Scratch.
    sums : float64[end - begin or more, TILE], OUT
        ``sums[i, j]`` is the rank of query ``begin + i`` and point ``first + j``.
    """
    n_columns = points.shape[1]
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


@bare_kernel
def nearest_of_block(kind, p, queries, begin, end, points, cells, sums, rows, ranks):
    """The nearest points of queries ``begin`` to ``end - 1``; as ``measure``.

    Parameters
    ----------
    rows : int64[m, k], OUT
    ranks : float64[m, k], OUT
        Of each query, ordered by (rank, row).
    """
    n_points = len(points)
    for query in range(begin, end):
        clear(ranks[query], rows[query])
    for first in range(0, n_points, TILE):
        n = min(TILE, n_points - first)
        measure(kind, p, queries, begin, end, points, first, n, cells, sums)
        for query in range(begin, end):
            keep_tile(sums[query - begin], first, n, ranks[query], rows[query])


@bare_kernel
def ranks_of_block(kind, p, queries, begin, end, points, cells, sums, ranks):
    """All rank distances of queries ``begin`` to ``end - 1``, into ``ranks`` float64[end - begin or more, n]."""
    for first in range(0, len(points), TILE):
        n = min(TILE, len(points) - first)
        measure(kind, p, queries, begin, end, points, first, n, cells, sums)
        for query in range(end - begin):
            for i in range(n):
                ranks[query, first + i] = sums[query, i]


@bare_kernel
def within_of_block(
    kind, p, queries, begin, end, points, first, limit, cells, sums, found_query, found_row, found_rank
):
    """The points from ``first`` on whose rank is at most ``limit``, until the found fill their arrays.

    Parameters
    ----------
    found_query, found_row : int64[c], OUT
    found_rank : float64[c], OUT
        c >= (end - begin) ``TILE``. Queries count from 0.

    Returns
    -------
    n_found : int
    first : int
        The point to go on with; the number of points when all are done.
    """
    n_found = 0
    while first < len(points) and n_found + (end - begin) * TILE <= len(found_row):
        n = min(TILE, len(points) - first)
        measure(kind, p, queries, begin, end, points, first, n, cells, sums)
        for query in range(end - begin):
            for i in range(n):
                if sums[query, i] <= limit:
                    found_query[n_found] = query
                    found_row[n_found] = first + i
                    found_rank[n_found] = sums[query, i]
                    n_found += 1
        first += n
    return n_found, first
