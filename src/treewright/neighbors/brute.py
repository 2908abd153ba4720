"""Search by squares of distances in many columns. In: points. Out: nearest rows, rows within a rank. Callers: index.

A rough look at every row, a product of matrices in float32, leaves a few candidates; their exact rank distances decide.

Why no row is passed over. Let X, Y be a query and a point less the middle of the points, times a power of two (so that
no cell of a point is above 1), x, y the same rounded to float32, |x| the length of x, u = 2^-24, d the number of
columns, and S = |x|^2 + |y|^2. The rank is D^2 = |X - Y|^2, since the middle falls out. The rough look is

    L = fl(low(y) + fl(-2 x y)),    low(y) = fl(|y|^2 (1 - e)),    e = 1.02 (d + 16) u.

1. Rounding moves X - Y by at most 1.0001 u (|x| + |y|), so D^2 is below |x - y|^2 by at most 4.001 u S.
2. A product of d cells summed in any order, with fused steps or without, is off by at most
   d u / (1 - d u) 2 |x| |y| <= 1.011 d u S, as d u <= 0.01 (Higham 2002, section 3.1).
3. low(y) is rounded: u S; the sum is: at most 2.1 u S.

Together less than e S, so D^2 >= |x|^2 (1 - e) + L. A row whose L is above (the k-th exact rank so far)
- |x|^2 (1 - e) is farther than k others, be they the last or not. The exact rank is itself rounded, by less than
(d + 3) 2^-53 of it; ``_limit`` of the kernels adds that, and 2^-90 for what is too small for a float. Queries farther
than 2^30 and tables whose squares could leave float64 are not looked at roughly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from treewright.core.threads import run_each
from treewright.neighbors.brute_kernels import COLUMNS, QUERIES, TILE, nearest_of_block, within_of_block
from treewright.neighbors.direct import Direct, blocks_of, in_order, joined
from treewright.neighbors.ranks import SQUARES

__all__ = ["Brute"]

# Queries of a task: each reads all points once.
_QUERIES = 256
# Of points that are made ready, and of rows found within a rank: bytes.
_BLOCK_BYTES = 2**23
# More neighbours, or more than one row in so many, are left to ``Direct``.
_MOST_NEIGHBORS, _ROWS_A_NEIGHBOR = 512, 16
# Of more than one row in so many looked at twice, measuring every row is faster.
_ROWS_A_LOOK, _FREE_LOOKS = 64, 1024
# Powers of two between which the points' scale must lie; squares of distances stay within float64.
_SMALLEST, _LARGEST = -400, 400
_FARTHEST = 2.0**60  # square of a scaled query
_MOST_COLUMNS = 160_000


@dataclass(frozen=True, eq=False)
class Brute:
    """Every query against every point, roughly; few exactly. Ranks are ``ranks.SQUARES``, bit for bit those of Direct.

    It holds a turned copy of the points in float32 (4 bytes a cell). Memory beside that and the results, per thread:
    256 queries in float32 and float64 (12 bytes a cell), and for rows within a rank 8 MiB and some 100 bytes for each
    that 256 queries find (callers ask for few queries at a time where that could be too much).

    Attributes
    ----------
    direct : Direct
        The points themselves. It searches where the rough look tells too little: queries that find many rows at nearly
        one distance, huge or tiny cells, many neighbours.
    rough : _Rough or None
        None where no rough look is possible.

    Examples
    --------
    >>> import numpy as np
    >>> index = Brute.of(np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 0.0]]))
    >>> rows, ranks = index.nearest(np.array([[0.0, 1.0]]), k=2, n_threads=1)
    >>> rows.tolist(), ranks.tolist()
    ([[0, 1]], [[1.0, 1.0]])
    """

    direct: Direct
    rough: _Rough | None

    @classmethod
    def of(cls, points: np.ndarray) -> Brute:
        """The index of ``points``, float64[n, d], C order, finite; they are kept, not copied."""
        return cls(Direct(points, SQUARES), _Rough.of(points))

    def nearest(self, points: np.ndarray, k: int, n_threads: int) -> tuple[np.ndarray, np.ndarray]:
        """The ``k`` nearest rows of each point; see ``ranks.Index``."""
        rough, n = self.rough, len(self.direct.points)
        if rough is None or k > _MOST_NEIGHBORS or k * _ROWS_A_NEIGHBOR > n:
            return self.direct.nearest(points, k, n_threads)
        rows, ranks = np.empty((len(points), k), np.int64), np.empty((len(points), k))
        most = n // _ROWS_A_LOOK + 16 * k + _FREE_LOOKS
        size, n_tasks = blocks_of(len(points), n_threads, _QUERIES)

        def work(task: int, thread: int) -> None:
            own = slice(task * size, min((task + 1) * size, len(points)))
            queries = points[own]
            block = rough.queries(queries, most)
            nearest_of_block(
                queries, self.direct.points, block.rough, rough.turned, rough.low, block.known, rough.scale**2,
                rough.stride, most, block.products, block.limits, block.looks, rows[own], ranks[own],
            )  # fmt: skip
            left = np.flatnonzero(block.looks > most)
            if len(left):
                rows[own][left], ranks[own][left] = self.direct.nearest(queries[left], k, 1)

        run_each(work, n_tasks, n_threads)
        return rows, ranks

    def within(self, points: np.ndarray, rank: float, n_threads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows whose rank distance is at most ``rank``; see ``ranks.Index``."""
        rough = self.rough
        if rough is None:
            return self.direct.within(points, rank, n_threads)
        most = len(self.direct.points) // _ROWS_A_LOOK + _FREE_LOOKS
        size, n_tasks = blocks_of(len(points), n_threads, _QUERIES)
        room = max(_BLOCK_BYTES // 24, size * TILE)
        buffers = [
            (np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room)) for _ in range(min(n_threads, n_tasks))
        ]
        blocks: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = [()] * n_tasks  # type: ignore[list-item]

        def work(task: int, thread: int) -> None:
            queries = points[task * size : (task + 1) * size]
            blocks[task] = self._within_of_block(rough, queries, rank, most, buffers[thread])

        run_each(work, n_tasks, n_threads)
        return joined(blocks)

    def _within_of_block(
        self, rough: _Rough, queries: np.ndarray, rank: float, most: int, buffers: tuple[np.ndarray, ...]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Counts, rows and ranks of a block of queries, in order; ``buffers`` as the kernel fills them."""
        block = rough.queries(queries, most)
        pieces, visit = [], 0
        while visit * TILE < len(rough.low):
            n_found, visit = within_of_block(
                queries, self.direct.points, block.rough, rough.turned, rough.low, block.known, rough.scale**2, rank,
                visit, most, block.products, block.looks, *buffers,
            )  # fmt: skip
            pieces.append([buffer[:n_found].copy() for buffer in buffers])
        left = np.flatnonzero(block.looks > most)
        if len(left):
            # What was found of these before they were given up is found again.
            pieces = [[part[block.looks[piece[0]] <= most] for part in piece] for piece in pieces]
            offsets, rows, ranks = self.direct.within(queries[left], rank, 1)
            pieces.append([np.repeat(left, np.diff(offsets)), rows, ranks])
        return in_order(len(queries), *map(np.concatenate, zip(*pieces, strict=True)))


@dataclass(frozen=True, eq=False)
class _Queries:
    """A block of queries, made ready; arrays as ``nearest_of_block`` takes them."""

    rough: np.ndarray
    known: np.ndarray
    looks: np.ndarray
    limits: np.ndarray
    products: np.ndarray


@dataclass(frozen=True, eq=False)
class _Rough:
    """What the rough look needs of the points; arrays as ``nearest_of_block`` takes them.

    Attributes
    ----------
    center : float64[d]
        The middle of the points, rounded as may be.
    scale : float64
        A power of two.
    error : float64
        The bound e.
    """

    center: np.ndarray
    scale: float
    error: float
    turned: np.ndarray
    low: np.ndarray
    stride: int

    @classmethod
    def of(cls, points: np.ndarray) -> _Rough | None:
        """What the rough look needs, or None where none is possible."""
        n, d = points.shape
        if n == 0 or not 1 <= d <= _MOST_COLUMNS:
            return None
        step = max(1, _BLOCK_BYTES // (8 * d * TILE)) * TILE
        with np.errstate(over="ignore", invalid="ignore"):
            center = points.mean(axis=0)
            size = max(float(np.abs(points[at : at + step] - center).max()) for at in range(0, n, step))
        exponent = math.frexp(size)[1] if size > 0.0 else 0
        if not math.isfinite(size) or not _SMALLEST <= exponent <= _LARGEST:
            return None
        scale, error = math.ldexp(1.0, -exponent), 1.02 * (d + 16) * 2.0**-24
        n_tiles, width = -(-n // TILE), -(-d // COLUMNS) * COLUMNS
        turned, low = np.zeros((n_tiles, width, TILE), np.float32), np.zeros((n_tiles, TILE), np.float32)
        for at in range(0, n, step):
            cells = ((points[at : at + step] - center) * scale).astype(np.float32)
            for part in range(0, len(cells), TILE):
                tile, some = (at + part) // TILE, cells[part : part + TILE]
                turned[tile, :d, : len(some)] = some.T
                low[tile, : len(some)] = _squares(some) * (1.0 - error)
        return cls(center, scale, error, turned.reshape(-1), low.reshape(-1), _stride(n_tiles))

    def queries(self, points: np.ndarray, most: int) -> _Queries:
        """Queries, made ready; those too far for a rough look count as given up: ``most`` looks and one."""
        m, d = points.shape
        with np.errstate(over="ignore", invalid="ignore"):
            cells = ((points - self.center) * self.scale).astype(np.float32)
            squares = _squares(cells)
            is_far = ~(squares <= _FARTHEST)
        cells[is_far] = squares[is_far] = 0.0
        rough = np.zeros((-(-m // QUERIES) * QUERIES, -(-d // COLUMNS) * COLUMNS), np.float32)
        rough[:m, :d] = -2.0 * cells
        return _Queries(
            rough=rough,
            known=squares * (1.0 - 1.01 * self.error),
            looks=np.where(is_far, most + 1, 0),
            limits=np.empty(m, np.float32),
            products=np.empty(QUERIES * TILE, np.float32),
        )


def _squares(cells: np.ndarray) -> np.ndarray:
    """Squares of the lengths of float32 rows, in float64."""
    wide = cells.astype(np.float64)
    return np.einsum("ij,ij->i", wide, wide)


def _stride(n_tiles: int) -> int:
    """Steps that visit every tile once and leave far between one visit and the next: near the golden section."""
    stride = max(1, round(0.618 * n_tiles))
    while math.gcd(stride, n_tiles) > 1:
        stride += 1
    return stride
