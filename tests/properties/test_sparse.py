"""Sparse search against looking at every pair."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_matrix

from treewright.neighbors.sparse import KINDS, SparseRows

CELLS = st.sampled_from([0.0, 0.0, 0.0, 1.0, -1.0, 2.0, 0.1, 1 / 3, 1e6, 1e6 + 2**-20, 1e-9, 1e160, 1e-170])


def tables(n, p):
    return arrays(np.float64, st.tuples(st.integers(1, n), st.just(p)), elements=CELLS)


@st.composite
def searches(draw):
    """Stored rows, queries, how many neighbours."""
    p = draw(st.integers(1, 6))
    rows, queries = draw(tables(12, p)), draw(tables(4, p))
    if draw(st.booleans()):
        queries = np.concatenate([queries, rows[:3]])
    return rows, queries, draw(st.integers(1, len(rows)))


def unit(row):
    """A row of length one, as a list; a power of two keeps its squares within floats."""
    largest = max(map(abs, row))
    if largest == 0:
        return None
    cells = [math.ldexp(cell, -math.frexp(largest)[1]) for cell in row]
    length = math.sqrt(sum(cell * cell for cell in cells))
    return [cell / length for cell in cells]


def rank(kind, query, row):
    """The rank distance of two rows, column by column."""
    if kind == "euclidean":
        total = 0.0
        for a, b in zip(query, row, strict=True):
            total += (a - b) * (a - b)
        return total
    one, other = unit(query), unit(row)
    if one is None or other is None:
        return 0.0 if one is other else 2.0
    product = 0.0
    for a, b in zip(one, other, strict=True):
        product += a * b
    return 2.0 - 2.0 * product if product < 0.5 else rank("euclidean", one, other)


@given(searches(), st.sampled_from(KINDS), st.integers(1, 3))
def test_nearest_rows_have_the_bits_and_the_order_of_every_pair(search, kind, n_threads):
    rows, queries, k = search
    index = SparseRows.of(csr_matrix(rows), kind)

    found, ranks = index.nearest(csr_matrix(queries), k, n_threads)

    for query, its_rows, its_ranks in zip(queries.tolist(), found.tolist(), ranks.tolist(), strict=True):
        order = sorted((rank(kind, query, row), at) for at, row in enumerate(rows.tolist()))
        assert list(zip(its_ranks, its_rows, strict=True)) == order[:k]


@given(searches(), st.sampled_from(KINDS))
def test_rows_within_any_rank_of_a_neighbour_are_all_up_to_it(search, kind):
    rows, queries, k = search
    index = SparseRows.of(csr_matrix(rows), kind)
    limit = float(index.nearest(csr_matrix(queries), k, 1)[1][0, -1])

    offsets, found, ranks = index.within(csr_matrix(queries), limit, 2)

    for at, query in enumerate(queries.tolist()):
        order = sorted((rank(kind, query, row), number) for number, row in enumerate(rows.tolist()))
        own = slice(offsets[at], offsets[at + 1])
        assert list(zip(ranks[own].tolist(), found[own].tolist(), strict=True)) == [
            one for one in order if one[0] <= limit
        ]


@given(searches(), st.sampled_from([0.0, 2.0, 3.5]), st.randoms(use_true_random=False))
def test_the_order_of_cells_and_cells_of_zero_change_nothing(search, nothing, chance):
    rows, queries, k = search
    plain = csr_matrix(rows)
    entries = [(row, column, value) for row, column, value in zip(*plain.nonzero(), plain.data.tolist(), strict=True)]
    entries += [(0, 0, nothing), (0, 0, -nothing)]
    chance.shuffle(entries)
    by_row = sorted(entries, key=lambda entry: entry[0])
    cells, places = [value for *_, value in by_row], [column for _, column, _ in by_row]
    ends = np.searchsorted([row for row, *_ in by_row], np.arange(len(rows) + 1))
    if nothing and rows[0, 0]:
        return  # a sum with what was added and taken away again may round
    other = csr_matrix((cells, places, ends), shape=rows.shape)

    for kind in KINDS:
        one, two = (SparseRows.of(table, kind).nearest(csr_matrix(queries), k, 1) for table in (plain, other))
        assert (one[0] == two[0]).all()
        assert one[1].tobytes() == two[1].tobytes()
