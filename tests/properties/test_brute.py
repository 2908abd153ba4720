"""Laws of the search that looks roughly first: on any points it gives what a double loop over all pairs gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from neighbors_twin import twin_nearest, twin_within

from treewright.neighbors import brute
from treewright.neighbors.brute import Brute
from treewright.neighbors.direct import Direct
from treewright.neighbors.nearest import CHEBYSHEV, MANHATTAN, POWERS, SQUARES

# Where rounding, ties and overflow are near: a few whole numbers; neighbours of 1 and of 1e6; any magnitude.
CELLS = st.one_of(
    st.integers(-2, 2).map(float),
    st.integers(0, 5).map(lambda steps: 1.0 + steps * 2.0**-52),
    st.integers(0, 5).map(lambda steps: 1.0 + steps * 2.0**-24),
    st.integers(0, 5).map(lambda steps: 1e6 + steps * 2.0**-33),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-1e3, 1e3),
)
SETTINGS = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(autouse=True)
def _rough_first(monkeypatch):
    """However few the rows and many the neighbours."""
    monkeypatch.setattr(brute, "_ROWS_A_NEIGHBOR", 1)


@st.composite
def tables(draw):
    """Points of the fit and points that are asked for."""
    d = draw(st.integers(1, 6))
    pool = [draw(st.lists(CELLS, min_size=1, max_size=6)) for _ in range(d)]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

    def rows(n):
        return np.column_stack([rng.choice(column, n) for column in pool])

    return rows(draw(st.integers(1, 400))), rows(draw(st.integers(1, 6)))


def assert_same(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        assert one.shape == other.shape
        assert one.tobytes() == other.tobytes()


@SETTINGS
@given(tables(), st.data())
def test_nearest_rows_and_ranks_are_those_of_a_double_loop(table, data):
    points, queries = table
    k = data.draw(st.integers(1, len(points)))
    assert_same(Brute.of(points).nearest(queries, k, 2), twin_nearest(points, queries, k, SQUARES))


@SETTINGS
@given(tables(), st.data())
def test_rows_within_a_rank_that_occurs_are_those_of_a_double_loop(table, data):
    points, queries = table
    ranks = twin_nearest(points, queries[:1], len(points), SQUARES)[1][0]
    rank = float(ranks[data.draw(st.integers(0, len(points) - 1))])
    assert_same(Brute.of(points).within(queries, rank, 2), twin_within(points, queries, rank, SQUARES))


@SETTINGS
@given(tables(), st.sampled_from((SQUARES, MANHATTAN, CHEBYSHEV, POWERS)), st.data())
def test_measuring_every_pair_is_a_double_loop(table, kind, data):
    points, queries = table
    index, k = Direct(points, kind, 2.5), data.draw(st.integers(1, len(points)))
    assert_same(index.nearest(queries, k, 1), twin_nearest(points, queries, k, kind, 2.5))
    rank = float(index.nearest(queries[:1], k, 1)[1][0, -1])
    assert_same(index.within(queries, rank, 2), twin_within(points, queries, rank, kind, 2.5))


@SETTINGS
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.floats(-8.0, 8.0), st.floats(-8.0, 8.0))
def test_no_row_is_passed_over_at_any_ratio_of_spread_and_offset(seed, d, spread, offset):
    """Groups whose distances within are 10^spread of those between, far from zero: where the bound is put to use."""
    rng = np.random.default_rng(seed)
    points = 10.0**offset + rng.integers(0, 3, (700, 1)) + 10.0**spread * rng.normal(size=(700, d))
    queries = points[:20] + 10.0**spread * rng.normal(size=(20, d)) * rng.choice([0.0, 1e-3, 1.0], (20, 1))
    assert_same(Brute.of(points).nearest(queries, 5, 1), Direct(points, SQUARES).nearest(queries, 5, 1))
