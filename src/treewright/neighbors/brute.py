"""Search by squared distances in many columns: an approximate distance for every row, an exact one for a few.

Approximate distances to all rows, a product of matrices in float32, leave a few candidates; their exact rank distances
decide.

Why no row is missed. Let X, Y be a query and a point minus the centre of the points, times a power of two (so that no
cell of a point is above 1), x, y the same rounded to float32, |x| the length of x, u = 2^-24, d the number of columns,
and S = |x|^2 + |y|^2. The rank is D^2 = |X - Y|^2, since the centre cancels. The rough look (approximate distance) is

    L = fl(low(y) + fl(-2 x y)),    low(y) = fl(|y|^2 (1 - e)),    e = 1.02 (d + 16) u.

1. Rounding moves X - Y by at most 1.0001 u (|x| + |y|), so D^2 is below |x - y|^2 by at most 4.001 u S.
2. A product of d cells summed in any order, with fused steps or without, is off by at most
   d u / (1 - d u) 2 |x| |y| <= 1.011 d u S, as d u <= 0.01 (Higham 2002, section 3.1).
3. low(y) is rounded: u S; the sum is: at most 2.1 u S.

Together less than e S, so D^2 >= |x|^2 (1 - e) + L. A row whose L is above (the k-th exact rank so far)
- |x|^2 (1 - e) is farther than k others, which need not be the final ones. The exact rank is itself rounded, by less
than (d + 3) 2^-53 of it; ``_limit`` adds that, and 2^-90 for numbers too small for a float. Queries farther than 2^30
and tables whose squares could leave float64 are searched without rough looks.

The product, four queries against a tile of points, is compared immediately: it never leaves the first cache. On one
processor the loop is as fast as the library's product (80 billion steps a second, OpenBLAS 77), whose own threads
disturb each other when several threads call it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, models, register_model

from treewright.core.jit import costs, inner_kernel, kernel, twin_of
from treewright.core.threads import run_each
from treewright.neighbors.direct import Direct, Found
from treewright.neighbors.nearest import SQUARES, blocks_of, clear, in_order, joined, keep

__all__ = ["LANES", "add", "at_most", "larger", "load", "minus", "spread", "store", "times"]

# Vectors of eight float64 for kernels ---------------------------------------------------------------------------------
#
# Loops over eight numbers are too short for the compiler to vectorise, and it would check for overlaps of the arrays
# each time. Each lane is rounded like the same float64 operation alone, so the bits are the same.

LANES = 8
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_ALIGNED = 8  # bytes: NumPy guarantees no more for its arrays


class Lanes(types.Type):
    """Numba's type of eight float64, for kernels only."""

    def __init__(self) -> None:
        super().__init__("Lanes")


lanes = Lanes()


@register_model(Lanes)
class _Model(models.PrimitiveModel):
    """A vector of the machine."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _place(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """The address of eight numbers of a float64 array (C order, any number of axes, flat index)."""
    view = context.make_array(kind)(context, builder, array)
    return builder.bitcast(builder.gep(view.data, [at]), _VECTOR.as_pointer())


@intrinsic
def _load(typing_context: Any, array: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_place(context, builder, signature.args[0], *arguments), align=_ALIGNED)

    return lanes(array, at), generate


@twin_of(_load)
def load(array: Any, at: Any) -> np.ndarray:
    """``array[at : at + 8]``."""
    return array.reshape(-1)[at : at + LANES].copy()


@intrinsic
def _store(typing_context: Any, array: Any, at: Any, vector: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _place(context, builder, signature.args[0], *arguments[:2]), align=_ALIGNED)
        return context.get_dummy_value()

    return types.void(array, at, vector), generate


@twin_of(_store)
def store(array: Any, at: Any, vector: Any) -> None:
    """Set ``array[at : at + 8]``."""
    array.reshape(-1)[at : at + LANES] = vector


@intrinsic
def _spread(typing_context: Any, number: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        nothing, first = ir.Constant(_VECTOR, ir.Undefined), ir.IntType(32)(0)
        one = builder.insert_element(nothing, arguments[0], first)
        return builder.shuffle_vector(one, nothing, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))

    return lanes(types.float64), generate


@twin_of(_spread)
def spread(number: Any) -> np.ndarray:
    """The same number eight times."""
    return np.full(LANES, number)


@intrinsic
def _add(typing_context: Any, one: Any, other: Any) -> Any:
    return lanes(one, other), lambda _context, builder, _signature, arguments: builder.fadd(*arguments)


@twin_of(_add)
def add(one: Any, other: Any) -> np.ndarray:
    """The sums of two vectors."""
    return np.add(one, other)


@intrinsic
def _minus(typing_context: Any, one: Any, other: Any) -> Any:
    return lanes(one, other), lambda _context, builder, _signature, arguments: builder.fsub(*arguments)


@twin_of(_minus)
def minus(one: Any, other: Any) -> np.ndarray:
    """The differences of two vectors."""
    return np.subtract(one, other)


@intrinsic
def _times(typing_context: Any, one: Any, other: Any) -> Any:
    return lanes(one, other), lambda _context, builder, _signature, arguments: builder.fmul(*arguments)


@twin_of(_times)
def times(one: Any, other: Any) -> np.ndarray:
    """The products of two vectors."""
    return np.multiply(one, other)


@intrinsic
def _larger(typing_context: Any, one: Any, other: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *arguments), *arguments)

    return lanes(one, other), generate


@twin_of(_larger)
def larger(one: Any, other: Any) -> np.ndarray:
    """The larger numbers of two vectors."""
    return np.where(one > other, one, other)


def _mask(builder: Any, is_true: Any) -> Any:
    """A bit for each lane, the first the lowest."""
    return builder.zext(builder.bitcast(is_true, ir.IntType(LANES)), ir.IntType(64))


@intrinsic
def _at_most(typing_context: Any, vector: Any, number: Any) -> Any:
    return types.uint64(vector, number), lambda _context, builder, _signature, arguments: _mask(
        builder, builder.fcmp_ordered("<=", *arguments)
    )


@twin_of(_at_most)
def at_most(vector: Any, number: Any) -> np.uint64:
    """A bit for each lane that is at most that of another vector, uint64."""
    return np.uint64(np.packbits(vector <= number, bitorder="little")[0])


# The search ----------------------------------------------------------------------------------------------------------

# Points of a tile, queries and columns of a step of the product.
TILE = 128
QUERIES = 4
COLUMNS = 4
_T = np.uintp(TILE)

# Queries of a task: each reads all points once.
_BLOCK = 256
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
    """Every query against every point, approximately; few exactly. Ranks are ``nearest.SQUARES``, the same as Direct's.

    It holds a transposed copy of the points in float32 (4 bytes a cell). Additional memory per thread, without results:
    256 queries in float32 and float64 (12 bytes a cell), and for rows within a rank 8 MiB and some 100 bytes for each
    that 256 queries find (callers send few queries at a time if that could be too much).

    ``direct``, the points themselves. It searches if rough looks do not help: many rows at nearly the same distance,
        huge or tiny cells, many neighbours.
    ``rough``: None if no rough look is possible.
    """

    direct: Direct
    rough: _Rough | None

    @classmethod
    def of(cls, points: np.ndarray) -> Brute:
        """The index of ``points``, float64[n, d], C order, finite; they are kept, not copied."""
        return cls(Direct(points, SQUARES), _Rough.of(points))

    def nearest(self, points: np.ndarray, k: int, n_threads: int) -> tuple[np.ndarray, np.ndarray]:
        """As ``Index.nearest``."""
        rough, n = self.rough, len(self.direct.points)
        if rough is None or k > _MOST_NEIGHBORS or k * _ROWS_A_NEIGHBOR > n:
            return self.direct.nearest(points, k, n_threads)
        rows, ranks = np.empty((len(points), k), np.int64), np.empty((len(points), k))
        most = n // _ROWS_A_LOOK + 16 * k + _FREE_LOOKS
        size, n_tasks = blocks_of(len(points), n_threads, _BLOCK)

        def work(task: int, thread: int) -> None:
            own = slice(task * size, min((task + 1) * size, len(points)))
            queries = points[own]
            block = rough.queries(queries, most)
            nearest_of_block(queries, self.direct.points, block, rough.tiles, most, rows[own], ranks[own])
            left = np.flatnonzero(block.looks > most)
            if len(left):
                rows[own][left], ranks[own][left] = self.direct.nearest(queries[left], k, 1)

        run_each(work, n_tasks, n_threads)
        return rows, ranks

    def within(self, points: np.ndarray, rank: float, n_threads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As ``Index.within``."""
        rough = self.rough
        if rough is None:
            return self.direct.within(points, rank, n_threads)
        most = len(self.direct.points) // _ROWS_A_LOOK + _FREE_LOOKS
        size, n_tasks = blocks_of(len(points), n_threads, _BLOCK)
        room = max(_BLOCK_BYTES // 24, size * TILE)
        buffers = [
            Found(np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room))
            for _ in range(min(n_threads, n_tasks))
        ]
        blocks: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = [()] * n_tasks  # type: ignore[list-item]

        def work(task: int, thread: int) -> None:
            queries = points[task * size : (task + 1) * size]
            blocks[task] = self._within_of_block(rough, queries, rank, most, buffers[thread])

        run_each(work, n_tasks, n_threads)
        return joined(blocks)

    def _within_of_block(
        self, rough: _Rough, queries: np.ndarray, rank: float, most: int, buffers: Found
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Counts, rows and ranks of a block of queries, in order, from the ``buffers`` that the kernel fills."""
        block = rough.queries(queries, most)
        pieces, visit = [], 0
        while visit * TILE < len(rough.tiles.low):
            n_found, visit = within_of_block(
                queries, self.direct.points, block, rough.tiles, rank, visit, most, buffers
            )
            pieces.append([buffer[:n_found].copy() for buffer in buffers])
        left = np.flatnonzero(block.looks > most)
        if len(left):
            # Rows of these queries that were found before they were given up are found again.
            pieces = [[part[block.looks[piece[0]] <= most] for part in piece] for piece in pieces]
            offsets, rows, ranks = self.direct.within(queries[left], rank, 1)
            pieces.append([np.repeat(left, np.diff(offsets)), rows, ranks])
        return in_order(len(queries), *map(np.concatenate, zip(*pieces, strict=True)))


class Queries(NamedTuple):
    """A prepared block of m queries; the last three arrays are written to.

    ``rough`` (float32[m rounded up to ``QUERIES``, d rounded up to ``COLUMNS``]): minus twice the centred, scaled
        queries; the rest is 0.
    ``known`` (float64[m]), squares of the queries minus the error bound: rough looks are ranks without these.
    ``looks`` (int64[m]): rows that were measured exactly; a query with too many is given up.
    ``limits`` (float32[m]): the largest rough look of a possible neighbour.
    ``products`` (float32[QUERIES * TILE]).
    """

    rough: np.ndarray
    known: np.ndarray
    looks: np.ndarray
    limits: np.ndarray
    products: np.ndarray


class Tiles(NamedTuple):
    """The points, centred and scaled.

    ``turned`` (float32[tiles * columns * TILE]): cells, tile by tile and column by column; the rest is 0.
    ``low`` (float32[tiles * TILE]): squares of the points minus the error bound.
    ``square``: the square of the scale, a power of two.
    ``stride``: the step in which the tiles are visited, modulo their number, with which it has no common divisor.
        Otherwise sorted points could come nearer all the time, and each be measured exactly.
    """

    turned: np.ndarray
    low: np.ndarray
    square: float
    stride: int


@dataclass(frozen=True, eq=False)
class _Rough:
    """The prepared points for rough looks.

    ``center`` (float64[d]): the approximate centre of the points.
    """

    center: np.ndarray
    scale: float
    error: float
    tiles: Tiles

    @classmethod
    def of(cls, points: np.ndarray) -> _Rough | None:
        """The prepared points, or None if rough looks are impossible."""
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
        return cls(center, scale, error, Tiles(turned.reshape(-1), low.reshape(-1), scale**2, _stride(n_tiles)))

    def queries(self, points: np.ndarray, most: int) -> Queries:
        """The prepared queries; those too far for a rough look count as given up, with ``most + 1`` looks."""
        m, d = points.shape
        with np.errstate(over="ignore", invalid="ignore"):
            cells = ((points - self.center) * self.scale).astype(np.float32)
            squares = _squares(cells)
            is_far = ~(squares <= _FARTHEST)
        cells[is_far] = squares[is_far] = 0.0
        rough = np.zeros((-(-m // QUERIES) * QUERIES, -(-d // COLUMNS) * COLUMNS), np.float32)
        rough[:m, :d] = -2.0 * cells
        return Queries(
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
    """A stride that visits every tile once, with distant tiles after each other: near the golden section."""
    stride = max(1, round(0.618 * n_tiles))
    while math.gcd(stride, n_tiles) > 1:
        stride += 1
    return stride


@intrinsic
def _fused(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = arguments[0].type
        name = "llvm.fmuladd"
        function = builder.module.declare_intrinsic(name, [kind], ir.FunctionType(kind, [kind] * 3))
        return builder.call(function, arguments)

    return a(a, b, c), generate


@twin_of(_fused)
def _plus_product(a: Any, b: Any, c: Any) -> Any:
    """``a * b + c``, rounded once or twice, as is faster on this processor: for rough looks only."""
    return a * b + c


@inner_kernel
def _products(queries, first, turned, at, products):
    """Products of ``QUERIES`` queries from ``first`` on and the tile whose cells begin at ``turned[at]``.

    ``queries`` float32[m, d] and ``products`` float32[QUERIES * TILE] as in ``Queries``, ``turned`` float32[tiles * d *
    TILE] as in ``Tiles``. Four columns at a time: 16 products for every four cells and four sums that are loaded.
    """
    second, third, fourth = first + np.uintp(1), first + np.uintp(2), first + np.uintp(3)
    for i in range(np.uintp(QUERIES * TILE)):
        products[i] = np.float32(0.0)
    for j in range(np.uintp(0), np.uintp(queries.shape[1]), np.uintp(COLUMNS)):
        k, m, n = j + np.uintp(1), j + np.uintp(2), j + np.uintp(3)
        aj, ak, am, an = queries[first, j], queries[first, k], queries[first, m], queries[first, n]
        bj, bk, bm, bn = queries[second, j], queries[second, k], queries[second, m], queries[second, n]
        cj, ck, cm, cn = queries[third, j], queries[third, k], queries[third, m], queries[third, n]
        dj, dk, dm, dn = queries[fourth, j], queries[fourth, k], queries[fourth, m], queries[fourth, n]
        for i in range(_T):
            o, p, q = _T + i, np.uintp(2) * _T + i, np.uintp(3) * _T + i
            wj, wk, wm, wn = turned[at + i], turned[at + o], turned[at + p], turned[at + q]
            sums = _plus_product(ak, wk, _plus_product(aj, wj, products[i]))
            products[i] = _plus_product(an, wn, _plus_product(am, wm, sums))
            sums = _plus_product(bk, wk, _plus_product(bj, wj, products[o]))
            products[o] = _plus_product(bn, wn, _plus_product(bm, wm, sums))
            sums = _plus_product(ck, wk, _plus_product(cj, wj, products[p]))
            products[p] = _plus_product(cn, wn, _plus_product(cm, wm, sums))
            sums = _plus_product(dk, wk, _plus_product(dj, wj, products[q]))
            products[q] = _plus_product(dn, wn, _plus_product(dm, wm, sums))
        at += np.uintp(COLUMNS * TILE)


@inner_kernel
def _exact(query, row, queries, points):
    """The rank distance itself: (a - b)^2 summed over the columns in order.

    ``queries`` float64[m, d], ``points`` float64[n, d].
    """
    total = 0.0
    for j in range(points.shape[1]):
        by = queries[query, j] - points[row, j]
        total += by * by
    return total


@inner_kernel
def _limit(rank, square, width, known):
    """The largest rough look, float32, of a row whose rank can be ``rank`` or less; proof in the module docstring.

    ``square`` as in ``Tiles``, ``width`` the number of columns, ``known`` that of the query.
    """
    limit = rank * square * (1.0 + (width + 8.0) * 2.0**-52) - known + 2.0**-90
    return np.float32(limit + abs(limit) * 2.0**-22)


@inner_kernel
def _any_below(products, begin, low, first, limit):
    """The number of rough looks of one query and a tile that are at most ``limit``.

    ``products`` float32[QUERIES * TILE] as in ``Queries``, ``low`` float32[tiles * TILE] as in ``Tiles``.
    """
    found = np.int32(0)
    for i in range(_T):
        found += np.int32(products[begin + i] + low[first + i] <= limit)
    return found


@costs(lambda queries, points, *_: len(queries) * points.size)
@kernel
def nearest_of_block(queries, points, block, tiles, most, rows, ranks):
    """The nearest points of a block of queries.

    Parameters
    ----------
    queries : float64[m, d]
    points : float64[n, d]
    block : Queries
    tiles : Tiles
    most : int
        A query is given up when more of its rows than this were measured exactly.
    rows : int64[m, k], OUT
    ranks : float64[m, k], OUT
        In order; undefined for queries that were given up.
    """
    rough, known, looks, limits, products = block
    turned, low, square, stride = tiles
    n_points, n_queries, k, width = len(points), len(queries), ranks.shape[1], float(points.shape[1])
    n_tiles = len(low) // TILE
    for query in range(n_queries):
        clear(ranks[query], rows[query])
        limits[query] = np.float32(np.inf)
    for visit in range(n_tiles):
        tile = visit * stride % n_tiles
        n = min(TILE, n_points - tile * TILE)
        for first in range(0, n_queries, QUERIES):
            _products(rough, np.uintp(first), turned, np.uintp(tile * TILE * rough.shape[1]), products)
            for query in range(first, min(first + QUERIES, n_queries)):
                begin, base = (query - first) * TILE, tile * TILE
                if looks[query] > most:
                    continue
                # Most tiles have no near rows: one sweep without a branch finds that.
                if _any_below(products, np.uintp(begin), low, np.uintp(base), limits[query]) == 0:
                    continue
                its_ranks, its_rows = ranks[query], rows[query]
                for i in range(n):
                    if products[begin + i] + low[base + i] <= limits[query]:
                        looks[query] += 1
                        rank = _exact(query, base + i, queries, points)
                        if rank <= its_ranks[k - 1]:
                            keep(rank, base + i, its_ranks, its_rows)
                            if its_ranks[k - 1] < np.inf:
                                limits[query] = _limit(its_ranks[k - 1], square, width, known[query])


@costs(lambda queries, points, *_: len(queries) * points.size)
@kernel
def within_of_block(queries, points, block, tiles, rank, visit, most, found):
    """The points whose rank is at most ``rank``, from tile ``visit`` on until ``found`` (OUT) has no room for a tile.

    ``queries`` float64[m, d], ``points`` float64[n, d]; otherwise as ``nearest_of_block``. Some rows of queries that
    were given up may be missing. Returns the number of rows found, and the next tile: the number of tiles when all are
    done.
    """
    rough, known, looks, _, products = block
    turned, low, square, _ = tiles
    n_points, n_queries, width = len(points), len(queries), float(points.shape[1])
    n_found, n_tiles = 0, len(low) // TILE
    while visit < n_tiles and n_found + n_queries * TILE <= len(found.rows):
        base = visit * TILE
        n = min(TILE, n_points - base)
        for first in range(0, n_queries, QUERIES):
            _products(rough, np.uintp(first), turned, np.uintp(base * rough.shape[1]), products)
            for query in range(first, min(first + QUERIES, n_queries)):
                begin = (query - first) * TILE
                limit = _limit(rank, square, width, known[query])
                if looks[query] > most:
                    continue
                if _any_below(products, np.uintp(begin), low, np.uintp(base), limit) == 0:
                    continue
                for i in range(n):
                    if products[begin + i] + low[base + i] <= limit:
                        looks[query] += 1
                        its_rank = _exact(query, base + i, queries, points)
                        if its_rank <= rank:
                            found.queries[n_found] = query
                            found.rows[n_found] = base + i
                            found.ranks[n_found] = its_rank
                            n_found += 1
        visit += 1
    return n_found, visit
