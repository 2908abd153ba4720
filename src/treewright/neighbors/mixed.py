"""Search of all pairs with missing cells or columns of several kinds: Gower, HEOM, HVDM, nan_euclidean.

A tile of points is transposed as in ``direct``. Every quotient is a division, as in the definitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from treewright.core.jit import costs, inner_kernel, kernel
from treewright.neighbors.direct import BLOCK_BYTES, COLUMNS, QUERIES, TILE, AllPairs
from treewright.neighbors.metrics import DIFFERENCE, EQUALITY, GOWER, NAN_EUCLIDEAN, NO_ROWS, MixedColumns
from treewright.neighbors.nearest import clear, in_order, joined, keep_tile


class Scratch(NamedTuple):
    """Temporary arrays of one thread."""

    cells: np.ndarray  # float64[COLUMNS, TILE]: a tile of points by column
    sums: np.ndarray  # float64[queries of a block, TILE]
    counts: np.ndarray  # float64[queries of a block, TILE]: known cells
    lines: np.ndarray  # float64[queries of a block, w]: squares by level, for each column of shares


@dataclass(frozen=True, eq=False)
class Mixed(AllPairs):
    """Every query against every row, in blocks that fit into the caches.

    Additional memory per thread: 384 KiB, up to 8 MiB of levels' distances (HVDM; those of one query, if that is more),
    and for more than 64 neighbours or rows within a rank 8 MiB or the ranks of one query if that is more.

    ``points`` (float64[n, p], C order), encoded rows: nan is missing, nominal cells hold codes. Kept, not copied.
    """

    points: np.ndarray
    columns: MixedColumns

    def within(self, points: np.ndarray, rank: float, n_threads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As ``Index.within``."""
        blocks: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

        def take(begin: int, found: np.ndarray) -> None:
            query, row = np.nonzero(found <= rank)
            blocks[begin] = in_order(len(found), query, row, found[query, row])

        self._measure_all(points, n_threads, take)
        return joined([blocks[begin] for begin in sorted(blocks)])

    def _most_queries(self) -> int:  # whose lines of levels fit
        return min(QUERIES, BLOCK_BYTES // (8 * max(1, int(self.columns.lines[-1]))))

    def _scratch(self, size: int) -> Scratch:
        width = int(self.columns.lines[-1])
        return Scratch(
            np.empty((COLUMNS, TILE)), np.empty((size, TILE)), np.empty((size, TILE)), np.empty((size, width))
        )

    def _kernels(self) -> tuple[Any, Any, tuple[Any, ...]]:
        return nearest_of_block, ranks_of_block, (self.columns,)


@inner_kernel
def _fill_lines(query, columns, lines):
    """Squared distances from a query's level to every level, for each column of shares.

    Parameters
    ----------
    query : float64[p]
    columns : MixedColumns
    lines : float64[w], OUT
        For a column: its levels, then an unseen level, then a missing cell.
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


@inner_kernel
def _add_known(kind, scale, unseen, a, cells, n, sums, counts):
    """Add one column as Gower does: the terms of points whose cell is known, and their number.

    ``cells``, ``sums``, ``counts`` float64[>= n].
    """
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


@inner_kernel
def _add_known_squares(a, cells, n, sums, counts):
    """Add the squares of one column for points whose cell is known, and count them.

    ``cells``, ``sums``, ``counts`` float64[>= n].
    """
    for i in range(n):
        b = cells[i]
        sums[i] += (a - b) * (a - b) if b == b else 0.0
        counts[i] += 1.0 if b == b else 0.0


@inner_kernel
def _add_square(kind, scale, unseen, a, cells, line, n, sums):
    """Add the square of one column as HEOM and HVDM do: a missing cell has distance 1 from everything.

    ``cells``, ``sums`` float64[>= n]; ``line`` float64[w], for ``SHARES`` the squares by level.
    """
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


@inner_kernel
def _turn(columns, points, first, n, left, width, cells):
    """Copy a tile by column into ``cells`` float64[COLUMNS, TILE]; a missing cell of shares becomes the last level.

    ``points`` float64[N, p].
    """
    for i in range(n):
        row = points[first + i]
        for at in range(width):
            column = left + at
            cell = row[column]
            if cell != cell and columns.lines[column + 1] > columns.lines[column]:
                cell = np.float64(columns.n_levels[column] + 1)
            cells[at, i] = cell


@inner_kernel
def measure(columns, queries, begin, end, points, first, n, scratch):
    """Rank distances of queries ``begin`` to ``end - 1`` to the points ``first`` to ``first + n - 1``.

    Parameters
    ----------
    columns : MixedColumns
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
                # No cell is -1, because a numeric column has no code for unseen levels.
                unseen = np.float64(columns.n_levels[column]) if columns.n_levels[column] > 0 else np.nan
                if columns.rule == GOWER:
                    if a == a:
                        _add_known(kind, scale, unseen, a, cells, n, sums, counts)
                elif columns.rule == NAN_EUCLIDEAN:
                    if a == a:
                        _add_known_squares(a, cells, n, sums, counts)
                else:
                    line = scratch.lines[at, columns.lines[column] :]
                    _add_square(kind, scale, unseen, a, cells, line, n, sums)
    if columns.rule == GOWER:
        for at in range(end - begin):
            for i in range(n):
                known = scratch.counts[at, i]
                scratch.sums[at, i] = scratch.sums[at, i] / known if known > 0.0 else 1.0
    elif columns.rule == NAN_EUCLIDEAN:
        for at in range(end - begin):
            for i in range(n):
                known = scratch.counts[at, i]
                # If all cells are known nothing is rounded here: the result is bit-identical to the Euclidean distance.
                if known == 0.0:
                    scratch.sums[at, i] = np.inf
                elif known < p:
                    scratch.sums[at, i] = scratch.sums[at, i] / known * p


@costs(lambda columns, queries, begin, end, points, *_: (end - begin) * points.size)
@kernel
def nearest_of_block(columns, queries, begin, end, points, scratch, rows, ranks):
    """The nearest points of queries ``begin`` to ``end - 1``, by (rank, row).

    ``queries`` float64[m, p], ``points`` float64[N, p]; ``rows`` int64[m, k] and ``ranks`` float64[m, k], OUT;
    otherwise as ``measure``.
    """
    for query in range(begin, end):
        clear(ranks[query], rows[query])
        _fill_lines(queries[query], columns, scratch.lines[query - begin])
    for first in range(0, len(points), TILE):
        n = min(TILE, len(points) - first)
        measure(columns, queries, begin, end, points, first, n, scratch)
        for query in range(begin, end):
            keep_tile(scratch.sums[query - begin], first, n, ranks[query], rows[query])


@costs(lambda columns, queries, begin, end, points, *_: (end - begin) * points.size)
@kernel
def ranks_of_block(columns, queries, begin, end, points, scratch, ranks):
    """All rank distances of queries ``begin`` to ``end - 1``, into ``ranks`` float64[>= end - begin, N].

    ``queries`` float64[m, p], ``points`` float64[N, p]; otherwise as ``measure``.
    """
    for query in range(begin, end):
        _fill_lines(queries[query], columns, scratch.lines[query - begin])
    for first in range(0, len(points), TILE):
        n = min(TILE, len(points) - first)
        measure(columns, queries, begin, end, points, first, n, scratch)
        for at in range(end - begin):
            for i in range(n):
                ranks[at, first + i] = scratch.sums[at, i]
