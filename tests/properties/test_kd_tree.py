"""Laws of the KD-tree: on any points it gives what a double loop over all pairs gives, bit by bit."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from neighbors_twin import twin_nearest, twin_within

from treewright.neighbors.kd_tree import KdTree
from treewright.neighbors.nearest import CHEBYSHEV, MANHATTAN, POWERS, SQUARES

# Where rounding, ties and overflow are near: a few whole numbers; neighbours of 1 and of 1e6; any magnitude.
CELLS = st.one_of(
    st.integers(-2, 2).map(float),
    st.integers(0, 5).map(lambda steps: 1.0 + steps * 2.0**-52),
    st.integers(0, 5).map(lambda steps: 1e6 + steps * 2.0**-33),
    st.floats(allow_nan=False, allow_infinity=False),
)


@st.composite
def tables(draw):
    """Points of the fit, points that are asked for, a kind and its power."""
    d = draw(st.integers(1, 4))
    pool = [draw(st.lists(CELLS, min_size=1, max_size=6)) for _ in range(d)]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

    def rows(n):
        return np.column_stack([rng.choice(column, n) for column in pool])

    kind = draw(st.sampled_from((SQUARES, MANHATTAN, CHEBYSHEV, POWERS)))
    p = draw(st.sampled_from((1.0, 1.1, 2.0, 2.5, 3.0, 7.3)))
    return rows(draw(st.integers(1, 400))), rows(draw(st.integers(1, 4))), kind, p, rng


def assert_same(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        assert one.shape == other.shape
        assert one.tobytes() == other.tobytes()


@given(tables(), st.data())
def test_nearest_rows_and_ranks_are_those_of_a_double_loop(table, data):
    points, queries, kind, p, _ = table
    k = data.draw(st.integers(1, len(points)))
    tree = KdTree.of(points, kind, p)
    assert_same(tree.nearest(queries, k), twin_nearest(points, queries, k, kind, p))


@given(tables())
def test_rows_within_a_rank_that_occurs_are_those_of_a_double_loop(table):
    points, queries, kind, p, rng = table
    tree = KdTree.of(points, kind, p)
    rank = float(rng.choice(twin_nearest(points, queries[:1], len(points), kind, p)[1][0]))
    assert_same(tree.within(queries, rank), twin_within(points, queries, rank, kind, p))


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.sampled_from((SQUARES, MANHATTAN, CHEBYSHEV, POWERS)))
def test_the_order_of_the_rows_changes_only_their_numbers(seed, d, kind):
    rng = np.random.default_rng(seed)
    points, queries = rng.standard_normal((1_500, d)), rng.standard_normal((5, d))
    order = rng.permutation(len(points))
    rows, ranks = KdTree.of(points, kind, 2.5).nearest(queries, 9)
    moved, same = KdTree.of(points[order], kind, 2.5).nearest(queries, 9)
    assert np.array_equal(order[moved], rows)
    assert same.tobytes() == ranks.tobytes()


@given(tables(), st.integers(1, 6))
def test_the_first_of_more_neighbours_are_the_fewer(table, k):
    points, queries, kind, p, _ = table
    tree, k = KdTree.of(points, kind, p), min(k, len(points))
    more = tree.nearest(queries, len(points))
    assert_same(tree.nearest(queries, k), [np.ascontiguousarray(part[:, :k]) for part in more])
