"""Rank distances of sparse rows. In: rows by column, queries. Out: nearest rows. Callers: neighbors.sparse.

A query's products with all rows are summed up column by column, from the lists of rows that have a cell there: rows
that share no column with it cost only a look. These sums choose candidates; a rank distance near 0 is then taken from
the differences of the cells, as close rows would lose theirs to cancellation.

Rows are tuples (ends int64[n + 1], places int32, cells float64), row ``i`` at ``ends[i]`` to ``ends[i + 1] - 1`` in the
order of columns. The place of a column that some stored row has is odd, 2 * column + 1; the even ones between are those
of columns that only queries have.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import bare_inner_kernel, bare_kernel
from treewright.neighbors.smallest import clear, keep

COSINE, EUCLIDEAN = range(2)
# From this product of unit rows on (60 degrees) 2 - 2 * product begins to lose digits.
_NEAR = 0.5
# More than underflow takes from all sums of products together.
_LEAST = 2.0**-1000


@bare_inner_kernel
def _sum_products(query, queries, columns, sums):
    """Sum up the products of a query and every row, over the columns in order; see ``products``."""
    ends, places, cells = queries
    column_ends, rows, column_cells = columns
    for row in range(len(sums)):
        sums[np.uintp(row)] = 0.0
    for at in range(ends[query], ends[query + 1]):
        if places[at] & 1:
            cell, column = cells[at], places[at] >> 1
            for entry in range(column_ends[column], column_ends[column + 1]):
                sums[np.uintp(rows[np.uintp(entry)])] += cell * column_cells[np.uintp(entry)]


@bare_inner_kernel
def _squares(query, queries, row, points):
    """The sum of (a - b)^2 over the columns in order; those that both lack would add 0."""
    ends, places, cells = queries
    own_ends, own_places, own_cells = points
    at, stop = own_ends[row], own_ends[row + 1]
    total = 0.0
    for other in range(ends[query], ends[query + 1]):
        place, gap = places[other], cells[other]
        while at < stop and own_places[at] < place:
            total += own_cells[at] * own_cells[at]
            at += 1
        if at < stop and own_places[at] == place:
            gap -= own_cells[at]
            at += 1
        total += gap * gap
    while at < stop:
        total += own_cells[at] * own_cells[at]
        at += 1
    return total


@bare_inner_kernel
def _rank(kind, product, query, queries, row, points):
    """The rank distance of a query and a row whose product is known."""
    if kind == COSINE and product < _NEAR:
        return 2.0 - 2.0 * product
    return _squares(query, queries, row, points)


@bare_inner_kernel
def _may_be_within(bar, product, length, rounding):
    """Whether a rank distance may be at most ``bar``, for all that is known from the product.

    ``length`` is the sum of both squared lengths. Where it is beyond float64 nothing is known.
    """
    rough = (length - rounding * length) - 2.0 * product - _LEAST
    return rough <= bar or not abs(rough) < np.inf


@bare_kernel
def nearest_of_block(kind, queries, lengths, roundings, begin, end, points, columns, own_lengths, sums, rows, ranks):
    """The nearest rows of queries ``begin`` to ``end - 1``.

    Parameters
    ----------
    kind : int
        ``COSINE`` (cells are those of unit rows) or ``EUCLIDEAN``.
    queries, points : rows
    lengths, own_lengths : float64[m], float64[n]
        Squared lengths; of ``COSINE`` ones.
    roundings : float64[m]
        What share of the squared lengths a rank distance taken from a product may be wrong by.
    columns : tuple of int64[n_columns + 1], int32, float64
        The stored rows by column: which rows have a cell there, in order, and those cells.
    sums : float64[n], OUT
        Scratch.
    rows : int64[m, k], OUT
    ranks : float64[m, k], OUT
        Of each query, ordered by (rank, row).
    """
    n, last = len(own_lengths), ranks.shape[1] - 1
    for query in range(begin, end):
        _sum_products(query, queries, columns, sums)
        its_ranks, its_rows = ranks[query], rows[query]
        length, rounding = lengths[query], roundings[query]
        # The bar: k rows surely have a rank that is no higher.
        clear(its_ranks, its_rows)
        for row in range(n):
            both = length + own_lengths[np.uintp(row)]
            most = (both + rounding * both) - 2.0 * sums[np.uintp(row)]
            if most < its_ranks[last]:
                keep(most, row, its_ranks, its_rows)
        bar = its_ranks[last]
        clear(its_ranks, its_rows)
        for row in range(n):
            product = sums[np.uintp(row)]
            if _may_be_within(bar, product, length + own_lengths[np.uintp(row)], rounding):
                rank = _rank(kind, product, query, queries, row, points)
                if rank <= its_ranks[last]:
                    keep(rank, row, its_ranks, its_rows)


@bare_kernel
def products(query, queries, columns, sums):
    """``sums`` float64[n], OUT: the products of one query with every row, over the columns in order."""
    _sum_products(query, queries, columns, sums)


@bare_kernel
def within_bar(kind, query, queries, lengths, roundings, bar, points, own_lengths, sums, rows, ranks):
    """The rows whose rank distance from a query may be at most ``bar``; all that are, and some more.

    Parameters
    ----------
    kind, query, queries, lengths, roundings, points, own_lengths
        As for ``nearest_of_block``.
    bar : float64
    sums : float64[n]
        Of ``products``.
    rows : int64[n], OUT
    ranks : float64[n], OUT

    Returns
    -------
    int
        How many were written, ascending.
    """
    n_found = 0
    for row in range(len(sums)):
        if _may_be_within(bar, sums[row], lengths[query] + own_lengths[row], roundings[query]):
            rows[n_found] = row
            ranks[n_found] = _rank(kind, sums[row], query, queries, row, points)
            n_found += 1
    return n_found
