"""Claims about the search that looks roughly first."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.neighbors import brute
from treewright.neighbors.brute import TILE, Brute
from treewright.neighbors.direct import Direct
from treewright.neighbors.nearest import SQUARES

N, M, D = 5 * TILE + 11, 70, 6


def hostile():
    """Tables where products of matrices lose the distances, or overflow, and some where they do not."""
    rng = np.random.default_rng(7)
    normal, other = rng.normal(size=(N, D)), rng.normal(size=(M, D))
    groups = rng.integers(0, 5, (N, 1)) * 100.0
    outlier = normal.copy()
    outlier[17] = 1e12
    return {
        "plain": (normal, other),
        "points themselves": (normal, normal[:M]),
        "ties": (np.round(normal), np.round(other)),
        "offset": (1e6 + 1e-6 * normal, 1e6 + 1e-6 * other),
        "duplicates": (np.repeat(normal[:7], N // 7, axis=0), normal[:M]),
        "near duplicates": (groups + 1e-9 * normal, groups[:M] + 1e-9 * other),
        "all the same": (np.ones((N, D)), other),
        "all zero": (np.zeros((N, D)), np.zeros((M, D))),
        "one far away": (outlier, other),
        "ascending": (np.sort(normal, axis=0), other),
        "descending": (-np.sort(-normal, axis=0), other),
        "any magnitude": (normal * 10.0 ** rng.integers(-150, 150, (N, 1)), other),
        "squares overflow": (1e200 * normal, 1e200 * other),
        "differences overflow": (1.7e308 * np.sign(normal), 1.7e308 * np.sign(other)),
        "squares vanish": (1e-170 * normal, 1e-170 * other),
        "squares nearly vanish": (1e-118 * normal, 1e-118 * other),
        "far queries": (normal, other * 10.0 ** rng.integers(0, 12, (M, 1))),
        "queries overflow": (normal, 1e200 * other),
        "one column": (normal[:, :1].copy(), other[:, :1].copy()),
    }


HOSTILE = hostile()


@pytest.fixture
def hopes(monkeypatch):
    """Look roughly however small the table and many the neighbours, and give a query up only if told so."""
    monkeypatch.setattr(brute, "_ROWS_A_NEIGHBOR", 1)
    return monkeypatch


@pytest.mark.parametrize("case", HOSTILE)
def test_nearest_rows_are_bit_by_bit_those_of_all_pairs(case, hopes):
    points, queries = HOSTILE[case]
    index, every_pair = Brute.of(points), Direct(points, SQUARES)
    for k in (1, 5, 70, len(points) - 1):
        wanted_rows, wanted = every_pair.nearest(queries, k, 1)
        assert not np.isnan(wanted).any()
        rows, ranks = index.nearest(queries, k, 2)
        assert rows.tolist() == wanted_rows.tolist()
        assert ranks.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("case", HOSTILE)
def test_rows_within_a_rank_are_bit_by_bit_those_of_all_pairs(case):
    points, queries = HOSTILE[case]
    index, every_pair = Brute.of(points), Direct(points, SQUARES)
    _, all_ranks = every_pair.nearest(queries[:3], len(points), 1)
    for rank in (0.0, float(all_ranks[0, 30]), float(all_ranks[1, 400]), float(all_ranks[2, -1])):
        for one, other in zip(index.within(queries, rank, 2), every_pair.within(queries, rank, 1), strict=True):
            assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("case", ["plain", "near duplicates", "far queries", "descending"])
def test_queries_given_up_early_or_never_find_the_same(case, hopes):
    points, queries = HOSTILE[case]
    index = Brute.of(points)
    _, ranks = index.nearest(queries[:1], 9, 1)
    found = []
    for free in (-100, 3, 40, 10**9):
        hopes.setattr(brute, "_FREE_LOOKS", free)
        found.append([*index.nearest(queries, 9, 1), *index.within(queries, float(ranks[0, 8]), 1)])
    for others in found[1:]:
        assert [part.tobytes() for part in others] == [part.tobytes() for part in found[0]]


def looks_of(points, queries, k):
    """How many rows were looked at twice."""
    index = Brute.of(points)
    assert index.rough is not None
    counts = []
    kernel = brute.nearest_of_block

    def counted(*arguments):
        kernel(*arguments)
        counts.append(arguments[2].looks.copy())

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(brute, "nearest_of_block", counted)
        index.nearest(queries, k, 1)
    return np.concatenate(counts)


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_few_rows_are_looked_at_twice(shift):
    rng = np.random.default_rng(1)
    points, queries = shift + rng.normal(size=(20_000, 16)), shift + rng.normal(size=(64, 16))
    # Of rows in random order the i-th is among the 5 nearest so far with a chance of 5 / i.
    assert looks_of(points, queries, 5).mean() < 2 * 5 * (1 + np.log(len(points) / 5))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_sorted_points_are_not_looked_at_one_by_one(sign):
    points = np.linspace(-1.0, 1.0, 100_000)[:, None] * np.ones(4)
    assert looks_of(points, np.full((4, 4), 2.0 * sign), 5).max() < len(points) // 20


def test_a_rough_look_is_not_possible_beyond_the_range_of_squares():
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(300, 3))
    assert Brute.of(cells).rough is not None
    assert Brute.of(cells * 1e100).rough is not None
    assert all(Brute.of(cells * size).rough is None for size in (1e200, 1e-200))
    assert Brute.of(np.full((300, 3), 1.7e308)).rough is None


def test_a_point_moved_by_what_float32_cannot_tell_is_still_told_apart():
    points = np.full((2000, 8), 0.0)
    points[:, 0] = 1.0 + np.arange(2000) * 2.0**-45
    points[1000:] = -points[1000:]
    rows, ranks = Brute.of(points).nearest(points[[700, 1300]], 1, 1)
    assert rows.tolist() == [[700], [1300]]
    assert (ranks == 0.0).all()


def test_threads_and_the_company_of_a_query_change_nothing():
    points, queries = HOSTILE["ties"]
    index = Brute.of(points)
    rows, ranks = index.nearest(queries, 5, 1)
    for n_threads in (2, 3, 7):
        again = index.nearest(queries, 5, n_threads)
        assert again[0].tolist() == rows.tolist()
        assert again[1].tobytes() == ranks.tobytes()
    alone = [index.nearest(queries[query : query + 1], 5, 2)[0] for query in range(M)]
    assert np.concatenate(alone).tolist() == rows.tolist()


def test_blocks_change_nothing(monkeypatch):
    points, queries = HOSTILE["plain"]
    wanted = [*Brute.of(points).nearest(queries, 5, 1), *Brute.of(points).within(queries, 6.0, 1)]
    monkeypatch.setattr(brute, "_BLOCK_BYTES", 1)
    monkeypatch.setattr(brute, "_BLOCK", 9)
    again = [*Brute.of(points).nearest(queries, 5, 1), *Brute.of(points).within(queries, 6.0, 1)]
    assert [part.tolist() for part in again] == [part.tolist() for part in wanted]


def test_every_tile_is_visited_once():
    for n_tiles in range(1, 200):
        stride = brute._stride(n_tiles)
        assert sorted(visit * stride % n_tiles for visit in range(n_tiles)) == list(range(n_tiles))


def test_no_query_gives_empty_arrays():
    index = Brute.of(HOSTILE["plain"][0])
    rows, ranks = index.nearest(np.zeros((0, D)), 2, 2)
    assert (rows.shape, ranks.shape) == ((0, 2), (0, 2))
    offsets, rows, ranks = index.within(np.zeros((0, D)), 1.0, 2)
    assert (offsets.tolist(), rows.shape, ranks.shape) == ([0], (0,), (0,))
