"""Squares of distances, first roughly, then exactly. In: points in both forms. Out: nearest rows, rows within a rank.

Callers: neighbors.brute, which proves that no row is passed over.

The rough look is a product of matrices in float32, four queries against a tile of points, and is compared at once: the
products never leave the first cache. On one processor the loop is as fast as the library's product (80 billion steps a
second, OpenBLAS 77), whose own threads come into each other's way when several threads call it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from treewright.core.jit import bare_inner_kernel, bare_kernel
from treewright.neighbors.smallest import clear, keep

# Points of a tile, queries and columns of a step of the product.
TILE = 128
QUERIES = 4
COLUMNS = 4
_T = np.uintp(TILE)


@intrinsic
def _plus_product(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """``a * b + c``, rounded once or twice, whichever this processor is faster at: for the rough look only."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = arguments[0].type
        name = "llvm.fmuladd"
        function = builder.module.declare_intrinsic(name, [kind], ir.FunctionType(kind, [kind] * 3))
        return builder.call(function, arguments)

    return a(a, b, c), generate


@bare_inner_kernel
def _products(queries, first, turned, at, products):
    """Products of ``QUERIES`` queries from ``first`` on and the tile whose cells begin at ``turned[at]``.

    Four columns a turn: 16 products for every four cells and four sums that are fetched.
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


@bare_inner_kernel
def _exact(query, row, queries, points):
    """The rank distance itself: (a - b)^2 summed over the columns in order."""
    total = 0.0
    for j in range(points.shape[1]):
        by = queries[query, j] - points[row, j]
        total += by * by
    return total


@bare_inner_kernel
def _limit(rank, scale, width, known):
    """The largest rough look, float32, of a row whose rank can be ``rank`` or less; see ``brute`` for the proof.

    Parameters
    ----------
    rank, scale, width, known : float64
        ``scale`` is the square of the points' scale, ``width`` the number of columns, ``known`` what ``rank`` is less
        by in rough looks: the square of the query, made smaller by the bound of the error.
    """
    limit = rank * scale * (1.0 + (width + 8.0) * 2.0**-52) - known + 2.0**-90
    return np.float32(limit + abs(limit) * 2.0**-22)


@bare_inner_kernel
def _any_below(products, begin, low, first, limit):
    """How many rough looks of one query and a tile are at most ``limit``."""
    found = np.int32(0)
    for i in range(_T):
        found += np.int32(products[begin + i] + low[first + i] <= limit)
    return found


@bare_kernel
def nearest_of_block(
    queries, points, rough, turned, low, known, scale, stride, most, products, limits, looks, rows, ranks
):
    """The nearest points of a block of queries.

    Parameters
    ----------
    queries : float64[m, d]
    points : float64[n, d]
    rough : float32[m rounded up to ``QUERIES``, d rounded up to ``COLUMNS``]
        Minus twice the centred, scaled queries; the rest is 0.
    turned : float32[tiles * columns * TILE]
        Cells of the centred, scaled points, tile by tile and column by column; the rest is 0.
    low : float32[tiles * TILE]
        Squares of the points, made smaller by the bound of the error.
    known : float64[m]
    scale : float64
        See ``_limit``.
    stride : int
        The tiles are looked at in steps of so many, round and round; it has no divisor in common with their number.
        Sorted points would else come nearer all the time, and each be looked at twice.
    most : int
        A query is given up when so many of its rows were looked at twice.
    products : float32[QUERIES * TILE], limits : float32[m], OUT
        Scratch.
    looks : int64[m], IN and OUT
        Rows that were looked at twice; queries with more than ``most`` are passed over.
    rows : int64[m, k], OUT
    ranks : float64[m, k], OUT
        In order; of queries that were given up they mean nothing.
    """
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
                                limits[query] = _limit(its_ranks[k - 1], scale, width, known[query])


@bare_kernel
def within_of_block(
    queries, points, rough, turned, low, known, scale, rank, visit, most, products, looks, found_query, found_row,
    found_rank,
):  # fmt: skip
    """The points whose rank is at most ``rank``, from tile ``visit`` on until the found fill their arrays.

    As ``nearest_of_block`` otherwise.

    Parameters
    ----------
    found_query, found_row : int64[c], OUT
    found_rank : float64[c], OUT
        c >= m ``TILE``. Of queries that were given up some may be missing.

    Returns
    -------
    n_found : int
    visit : int
        The tile to go on with; the number of tiles when all are done.
    """
    n_points, n_queries, width = len(points), len(queries), float(points.shape[1])
    n_found, n_tiles = 0, len(low) // TILE
    while visit < n_tiles and n_found + n_queries * TILE <= len(found_row):
        base = visit * TILE
        n = min(TILE, n_points - base)
        for first in range(0, n_queries, QUERIES):
            _products(rough, np.uintp(first), turned, np.uintp(base * rough.shape[1]), products)
            for query in range(first, min(first + QUERIES, n_queries)):
                begin = (query - first) * TILE
                limit = _limit(rank, scale, width, known[query])
                if looks[query] > most:
                    continue
                if _any_below(products, np.uintp(begin), low, np.uintp(base), limit) == 0:
                    continue
                for i in range(n):
                    if products[begin + i] + low[base + i] <= limit:
                        looks[query] += 1
                        its_rank = _exact(query, base + i, queries, points)
                        if its_rank <= rank:
                            found_query[n_found] = query
                            found_row[n_found] = base + i
                            found_rank[n_found] = its_rank
                            n_found += 1
        visit += 1
    return n_found, visit
