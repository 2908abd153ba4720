"""Claims about the search that measures every pair."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from treewright.neighbors import direct
from treewright.neighbors.direct import COLUMNS, TILE, Direct
from treewright.neighbors.nearest import (
    CANBERRA,
    CHEBYSHEV,
    HAMMING,
    JACCARD,
    MANHATTAN,
    POWERS,
    SQUARES,
    in_order,
    joined,
    select,
)

KINDS = (SQUARES, MANHATTAN, CHEBYSHEV, POWERS, HAMMING, JACCARD, CANBERRA)
NAMES = {
    SQUARES: "sqeuclidean",
    MANHATTAN: "cityblock",
    CHEBYSHEV: "chebyshev",
    HAMMING: "hamming",
    CANBERRA: "canberra",
}
P = 2.5


def plain_ranks(queries, points, kind):
    """All rank distances, one column after the other: the same float64 steps as by hand."""
    ranks, either = np.zeros((len(queries), len(points))), np.zeros((len(queries), len(points)))
    for ours, theirs in zip(queries.T, points.T, strict=True):
        a, b = ours[:, None], theirs[None, :]
        if kind == SQUARES:
            ranks += (a - b) * (a - b)
        elif kind == MANHATTAN:
            ranks += abs(a - b)
        elif kind == CHEBYSHEV:
            ranks = np.maximum(ranks, abs(a - b))
        elif kind == POWERS:
            ranks += np.vectorize(pow)(abs(a - b), P)
        elif kind == HAMMING:
            ranks += a != b
        elif kind == JACCARD:
            ranks += (a != 0) ^ (b != 0)
            either += (a != 0) | (b != 0)
        else:
            ranks += abs(a - b) / np.where((a == 0) & (b == 0), 1.0, abs(a) + abs(b))
    if kind == HAMMING:
        return ranks / points.shape[1]
    return np.where(either > 0, ranks / np.maximum(either, 1), 0.0) if kind == JACCARD else ranks


def tables(d, n=2 * TILE + 37, m=70):
    """Few values, so that ranks tie, and some that rounding reaches; some queries are points."""
    rng = np.random.default_rng(d)
    points, queries = (rng.integers(-2, 3, (rows, d)) * rng.choice([0.1, 1.0, 1.3], d) for rows in (n, m))
    queries[: m // 2] = points[-(m // 2) :]
    return points, queries


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 3, 6, COLUMNS, COLUMNS + 5])
def test_nearest_rows_are_those_of_all_ranks_sorted(kind, d):
    points, queries = tables(d)
    wanted = plain_ranks(queries, points, kind)
    order = np.argsort(wanted, axis=1, kind="stable")
    for k in (1, 7, 64, 65, len(points)):
        rows, ranks = Direct(points, kind, P).nearest(queries, k, 2)
        assert (rows == order[:, :k]).all()
        assert ranks.tobytes() == np.take_along_axis(wanted, order[:, :k], axis=1).tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_rows_within_a_rank_include_those_at_it(kind):
    points, queries = tables(5)
    wanted = plain_ranks(queries, points, kind)
    limit = float(np.sort(wanted[0])[40])  # a rank that occurs
    offsets, rows, ranks = Direct(points, kind, P).within(queries, limit, 2)
    assert np.diff(offsets).tolist() == (wanted <= limit).sum(axis=1).tolist()
    for query, found in enumerate(wanted):
        order = np.argsort(found, kind="stable")[: (found <= limit).sum()]
        own = slice(offsets[query], offsets[query + 1])
        assert rows[own].tolist() == order.tolist()
        assert ranks[own].tolist() == found[order].tolist()


@pytest.mark.parametrize("kind", sorted(NAMES))
def test_formulas_are_those_of_scipy(kind):
    points, queries = tables(9)
    rows, ranks = Direct(points, kind).nearest(queries, len(points), 1)
    wanted = np.take_along_axis(cdist(queries, points, NAMES[kind]), rows, axis=1)
    np.testing.assert_allclose(ranks, wanted, rtol=1e-12, atol=1e-15)


def test_jaccard_is_that_of_scipy_on_sets():
    points, queries = tables(9)
    rows, ranks = Direct(points, JACCARD).nearest(queries, len(points), 1)
    wanted = np.take_along_axis(cdist(queries != 0, points != 0, "jaccard"), rows, axis=1)
    assert (ranks == wanted).all()


@pytest.mark.parametrize("kind", [JACCARD, CANBERRA])
def test_rows_of_zeros_are_at_no_distance(kind):
    points = np.array([[1.0, 2.0], [0.0, -0.0]])
    rows, ranks = Direct(points, kind).nearest(np.zeros((1, 2)), 2, 1)
    assert rows.tolist() == [[1, 0]]
    assert ranks.tolist() == [[0.0, 1.0 if kind == JACCARD else 2.0]]


@pytest.mark.parametrize("kind", KINDS)
def test_the_largest_numbers_give_no_nan(kind):
    points = np.array([[1.7e308, -1.7e308], [-1.7e308, 1.7e308], [1.7e308, 1.7e308], [0.0, 5e-324]])
    rows, ranks = Direct(points, kind, P).nearest(points, 4, 1)
    assert (ranks[:, 0] == 0.0).all()
    assert rows[:, 0].tolist() == ([0, 0, 0, 3] if kind == JACCARD else [0, 1, 2, 3])
    assert not np.isnan(ranks).any()
    for own_rows, own_ranks in zip(rows, ranks, strict=True):
        assert np.lexsort((own_rows, own_ranks)).tolist() == [0, 1, 2, 3]


def test_canberra_of_the_largest_numbers_is_what_it_is_of_smaller_ones():
    points = np.array([[1.5e308], [-1.5e308], [0.5e308], [-0.25e308]])
    _, large = Direct(points, CANBERRA).nearest(points, 4, 1)
    _, small = Direct(points * 2.0**-8, CANBERRA).nearest(points * 2.0**-8, 4, 1)
    assert large.tolist() == small.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_threads_and_the_company_of_a_query_change_nothing(kind):
    points, queries = tables(5, n=300, m=131)
    index = Direct(points, kind, P)
    for k in (3, 70):
        rows, ranks = index.nearest(queries, k, 1)
        for n_threads in (2, 5):
            again = index.nearest(queries, k, n_threads)
            assert again[0].tolist() == rows.tolist()
            assert again[1].tobytes() == ranks.tobytes()
        alone = [index.nearest(queries[query : query + 1], k, 2) for query in range(0, 131, 13)]
        assert np.concatenate([found for found, _ in alone]).tolist() == rows[::13].tolist()
        assert np.concatenate([found for _, found in alone]).tobytes() == ranks[::13].tobytes()


def test_blocks_change_nothing(monkeypatch):
    points, queries = tables(4, m=130)
    index = Direct(points, MANHATTAN)
    wanted = [*index.within(queries, 3.0, 1), *index.nearest(queries, 200, 1)]
    monkeypatch.setattr(direct, "BLOCK_BYTES", 1)
    again = [*index.within(queries, 3.0, 1), *index.nearest(queries, 200, 1)]
    assert [part.tolist() for part in again] == [part.tolist() for part in wanted]


def test_no_query_gives_empty_arrays():
    index = Direct(np.zeros((3, 2)), SQUARES)
    rows, ranks = index.nearest(np.zeros((0, 2)), 2, 2)
    assert (rows.shape, ranks.shape) == ((0, 2), (0, 2))
    offsets, rows, ranks = index.within(np.zeros((0, 2)), 1.0, 2)
    assert (offsets.tolist(), rows.shape, ranks.shape) == ([0], (0,), (0,))


def test_selected_rows_at_the_last_place_are_the_lowest():
    ranks = np.array([2.0, 1.0, 2.0, np.inf, 0.0, 2.0, np.inf])
    assert [select(ranks, k)[0].tolist() for k in (1, 3, 4, 6, 7)] == [
        [4],
        [4, 1, 0],
        [4, 1, 0, 2],
        [4, 1, 0, 2, 5, 3],
        [4, 1, 0, 2, 5, 3, 6],
    ]


def test_found_rows_are_ordered_by_query_rank_and_row():
    counts, rows, ranks = in_order(3, np.array([2, 0, 2, 2]), np.array([9, 1, 4, 5]), np.array([1.0, 7.0, 1.0, 0.5]))
    assert (counts.tolist(), rows.tolist(), ranks.tolist()) == ([1, 0, 3], [1, 5, 4, 9], [7.0, 0.5, 1.0, 1.0])
    offsets, rows, _ = joined([(counts, rows, ranks), (np.array([1]), np.array([3]), np.array([0.0]))])
    assert (offsets.tolist(), rows.tolist()) == ([0, 1, 1, 4, 5], [1, 5, 4, 9, 3])
