"""Rank distances over columns of several kinds. In: cells of both rows. Out: ranks, nearest rows.

Caller: neighbors.mixed.

A tile of points is turned so that one column's cells lie side by side: the processor works on many points at once, and
each point's sum is still taken over the columns in order. Every quotient is a division, as the definitions have it.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import bare_inner_kernel, bare_kernel
from treewright.neighbors.mixed_columns import DIFFERENCE, EQUALITY, GOWER, NO_ROWS
from treewright.neighbors.smallest import clear, keep_tile

# Points of a tile, and columns turned at a time.
TILE = 256
COLUMNS = 64


@bare_inner_kernel
def _fill_lines(query, columns, lines):
    """Squared distances from a query's level to every level, of each column of shares.

    Parameters
    ----------
    query : float64[p]
    columns : Plan
    lines : float64[w], OUT
        Of a column: its levels, then what the fit never saw, then what is missing.
    """
    for column in range(len(query)):
        n_levels, begin = columns.n_levels[column], columns.lines[column]
        if columns.lines[column + 1] == begin:
            continue
        n_classes = columns.n_classes
        level = n_levels if query[column] != query[column] else np.int64(query[column])
        own = columns.starts[column] + level * n_classes
        for other in range(n_levels + 2):
            lines[begin + other] = 1.0
        if level >= n_levels:
            continue
        lines[begin + level] = 0.0
        if columns.tables[own] == NO_ROWS:
            continue
        for other in range(n_levels):
            its = columns.starts[column] + other * n_classes
            if other != level and columns.tables[its] != NO_ROWS:
                total = 0.0
                for at in range(n_classes):
                    difference = columns.tables[own + at] - columns.tables[its + at]
                    total += difference * difference
                lines[begin + other] = total


@bare_inner_kernel
def _add_known(kind, scale, unseen, a, cells, n, sums, counts):
    """Add one column as Gower does: parts of points whose cell is known, and how many there are."""
    if kind == DIFFERENCE:
        for i in range(n):
            b = cells[i]
            part = min(abs(a - b) / scale, 1.0)
            sums[i] += part if b == b else 0.0
            counts[i] += 1.0 if b == b else 0.0
    else:
        for i in range(n):
            b = cells[i]
            part = 0.0 if a == b and a != unseen else 1.0
            sums[i] += part if b == b else 0.0
            counts[i] += 1.0 if b == b else 0.0


@bare_inner_kernel
def _add_square(kind, scale, unseen, a, cells, line, n, sums):
    """Add the square of one column as HEOM and HVDM do: a missing cell is 1 apart from everything."""
    if kind == DIFFERENCE:
        for i in range(n):
            b = cells[i]
            part = abs(a - b) / scale
            sums[i] += part * part if part == part else 1.0
    elif kind == EQUALITY:
        for i in range(n):
            sums[i] += 0.0 if a == cells[i] and a != unseen else 1.0
    else:
        for i in range(n):
            sums[i] += line[np.int64(cells[i])]


@bare_inner_kernel
def _turn(columns, points, first, n, left, width, cells):
    """The cells of a tile by column; a missing cell of a column of shares becomes the last number of its line."""
    for i in range(n):
        row = points[first + i]
        for at in range(width):
            column = left + at
            cell = row[column]
            if cell != cell and columns.lines[column + 1] > columns.lines[column]:
                cell = np.float64(columns.n_levels[column] + 1)
            cells[at, i] = cell


@bare_inner_kernel
def measure(columns, queries, begin, end, points, first, n, scratch):
    """Rank distances of queries ``begin`` to ``end - 1`` to the points ``first`` to ``first + n - 1``.

    Parameters
    ----------
    columns : Plan
    queries : float64[m, p]
        nan is missing.
    points : float64[N, p]
    n : int, 1 to ``TILE``
    scratch : Scratch
        ``scratch.sums[i, j]`` becomes the rank of query ``begin + i`` and point ``first + j``.
    """
    p = points.shape[1]
    for at in range(end - begin):
        for i in range(n):
            scratch.sums[at, i] = 0.0
            scratch.counts[at, i] = 0.0
    for left in range(0, p, COLUMNS):
        width = min(COLUMNS, p - left)
        _turn(columns, points, first, n, left, width, scratch.cells)
        for at in range(end - begin):
            sums, counts = scratch.sums[at], scratch.counts[at]
            for c in range(width):
                column, cells = left + c, scratch.cells[c]
                a, kind, scale = queries[begin + at, column], columns.kinds[column], columns.scales[column]
                # No cell is -1: a column of numbers has no code for what the fit never saw.
                unseen = np.float64(columns.n_levels[column]) if columns.n_levels[column] > 0 else np.nan
                if columns.rule == GOWER:
                    if a == a:
                        _add_known(kind, scale, unseen, a, cells, n, sums, counts)
                else:
                    line = scratch.lines[at, columns.lines[column] :]
                    _add_square(kind, scale, unseen, a, cells, line, n, sums)
    if columns.rule == GOWER:
        for at in range(end - begin):
            for i in range(n):
                known = scratch.counts[at, i]
                scratch.sums[at, i] = scratch.sums[at, i] / known if known > 0.0 else 1.0


@bare_kernel
def nearest_of_block(columns, queries, begin, end, points, scratch, rows, ranks):
    """The nearest points of queries ``begin`` to ``end - 1``; as ``measure``.

    Parameters
    ----------
    rows : int64[m, k], OUT
    ranks : float64[m, k], OUT
        Of each query, ordered by (rank, row).
    """
    for query in range(begin, end):
        clear(ranks[query], rows[query])
        _fill_lines(queries[query], columns, scratch.lines[query - begin])
    for first in range(0, len(points), TILE):
        n = min(TILE, len(points) - first)
        measure(columns, queries, begin, end, points, first, n, scratch)
        for query in range(begin, end):
            keep_tile(scratch.sums[query - begin], first, n, ranks[query], rows[query])


@bare_kernel
def ranks_of_block(columns, queries, begin, end, points, scratch, ranks):
    """All rank distances of queries ``begin`` to ``end - 1``, into ``ranks`` float64[end - begin or more, n]."""
    for query in range(begin, end):
        _fill_lines(queries[query], columns, scratch.lines[query - begin])
    for first in range(0, len(points), TILE):
        n = min(TILE, len(points) - first)
        measure(columns, queries, begin, end, points, first, n, scratch)
        for at in range(end - begin):
            for i in range(n):
                ranks[at, first + i] = scratch.sums[at, i]
