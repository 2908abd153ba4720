"""What holds for Gower, HEOM and HVDM on any table: they are their definitions, and threads do not show."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mixed_twin import twin_columns, twin_rank

from treewright.data.schema import Column, Schema
from treewright.neighbors.metrics import metric_of
from treewright.neighbors.mixed import Mixed

RULES = ("gower", "heom", "hvdm")
LEVELS = tuple("abcd")


@st.composite
def tables(draw):
    """A schema, rows of a fit, rows of queries (levels that the fit never saw, numbers outside its range), a target."""
    p = draw(st.integers(1, 6))
    kinds = draw(st.lists(st.sampled_from(["numeric", "ordinal", "nominal"]), min_size=p, max_size=p))
    schema = Schema(tuple(Column(f"x{at}", kind, () if kind == "numeric" else LEVELS) for at, kind in enumerate(kinds)))
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    n, m = draw(st.integers(1, 30)), draw(st.integers(1, 6))
    gaps = draw(st.sampled_from([0.0, 0.2, 0.9]))
    scale = draw(st.sampled_from([1.0, 1e-3, 1e150]))

    def rows(count, extra):
        cells = np.empty((count, p))
        for at, kind in enumerate(kinds):
            if kind == "numeric":
                cells[:, at] = random.integers(-2 - extra, 3 + extra, count) * scale / 3
            else:
                cells[:, at] = random.integers(0, len(LEVELS) + (extra if kind == "nominal" else 0), count)
        cells[random.random((count, p)) < gaps] = np.nan
        return cells

    target = random.integers(0, 3, n).astype(np.int32) if draw(st.booleans()) else random.integers(0, 9, n) / 7.0
    return schema, rows(n, 0), rows(m, 1), target


def twin_ranks(rule, metric, schema, matrix, queries, target, stored=None):
    rows = matrix if stored is None else stored
    columns = twin_columns(rule, schema, matrix, target if rule == "hvdm" else None)
    for at, column in enumerate(columns):
        if rule == "hvdm" and column.spread:  # deviations are sums, which round by their order
            assert metric.mixed.scales[at] == pytest.approx(column.spread, rel=1e-12)
            column.spread = float(metric.mixed.scales[at])
    return [[twin_rank(rule, a, b, columns) for b in rows.tolist()] for a in queries.tolist()]


def ordered(ranks):
    return sorted((rank, row) for row, rank in enumerate(ranks))


@pytest.mark.parametrize("rule", RULES)
@given(table=tables(), k=st.integers(1, 30))
def test_nearest_rows_are_those_of_a_double_loop_bit_for_bit(rule, table, k):
    schema, matrix, queries, target = table
    metric = metric_of(rule, matrix, schema, target=target)
    # Rows that are no rows of the fit are searched too: cells outside ranges, levels that the fit never saw.
    stored = np.concatenate([matrix, queries])
    expected = twin_ranks(rule, metric, schema, matrix, queries, target, stored)
    k = min(k, len(stored))
    for n_threads in (1, 3):
        rows, ranks = Mixed(metric.points(stored), metric.mixed).nearest(metric.points(queries), k, n_threads)
        for at, found in enumerate(expected):
            assert list(zip(ranks[at].tolist(), rows[at].tolist(), strict=True)) == ordered(found)[:k]


@pytest.mark.parametrize("rule", RULES)
@given(table=tables(), share=st.floats(0, 1))
def test_rows_within_a_rank_are_those_of_a_double_loop(rule, table, share):
    schema, matrix, queries, target = table
    metric = metric_of(rule, matrix, schema, target=target)
    expected = twin_ranks(rule, metric, schema, matrix, queries, target)
    every = sorted({rank for found in expected for rank in found})
    limit = every[int(share * (len(every) - 1))]
    offsets, rows, ranks = Mixed(matrix, metric.mixed).within(queries, limit, 2)
    assert offsets[0] == 0
    assert offsets[-1] == len(rows) == len(ranks)
    for at, found in enumerate(expected):
        here = slice(offsets[at], offsets[at + 1])
        inside = [pair for pair in ordered(found) if pair[0] <= limit]
        assert list(zip(ranks[here].tolist(), rows[here].tolist(), strict=True)) == inside


@pytest.mark.parametrize("rule", RULES)
@given(table=tables())
def test_distances_are_symmetric_and_those_of_gower_are_at_most_one(rule, table):
    schema, matrix, _, target = table
    metric = metric_of(rule, matrix, schema, target=target)
    n = len(matrix)
    rows, ranks = Mixed(matrix, metric.mixed).nearest(matrix, n, 1)
    square = np.empty((n, n))
    np.put_along_axis(square, rows, ranks, axis=1)
    np.testing.assert_array_equal(square, square.T)
    assert (square >= 0).all()
    if rule == "gower":
        assert (square <= 1).all()
    whole = ~np.isnan(matrix).any(axis=1)
    assert (np.diag(square)[whole] == 0).all()


@given(table=tables(), times=st.sampled_from([2.0**-20, 8.0, 2.0**40]))
def test_units_of_a_column_do_not_matter(table, times):
    schema, matrix, queries, target = table
    numeric = np.array([column.kind == "numeric" for column in schema.columns])
    factors = np.where(numeric, times, 1.0)
    for rule in RULES:
        found = []
        for factor in (np.ones(len(schema)), factors):
            metric = metric_of(rule, matrix * factor, schema, target=target)
            found.append(Mixed(matrix * factor, metric.mixed).nearest(queries * factor, len(matrix), 1))
        np.testing.assert_array_equal(found[0][0], found[1][0])
        np.testing.assert_array_equal(found[0][1], found[1][1])


def test_the_twin_reads_the_example_of_the_definitions():
    schema = Schema((Column("a", "numeric"), Column("b", "nominal", ("u", "v"))))
    matrix = np.array([[0.0, 0.0], [10.0, 1.0], [5.0, math.nan]])
    columns = twin_columns("gower", schema, matrix)
    assert twin_rank("gower", matrix[0].tolist(), matrix[2].tolist(), columns) == 0.5
    assert twin_rank("heom", matrix[0].tolist(), matrix[2].tolist(), columns) == 1.25
