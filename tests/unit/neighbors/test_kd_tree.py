"""``KdTree``: what it finds, on points where a search goes wrong easily."""

from __future__ import annotations

import numpy as np
import pytest
from neighbors_twin import twin_nearest, twin_within
from sklearn.neighbors import NearestNeighbors

from treewright.neighbors import kd_tree
from treewright.neighbors.kd_tree import LEAF, NO_ROW, KdTree
from treewright.neighbors.nearest import CHEBYSHEV, MANHATTAN, POWERS, SQUARES

KINDS = (SQUARES, MANHATTAN, CHEBYSHEV, POWERS)


def assert_same(found, wanted):
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert one.tobytes() == other.tobytes()


@pytest.fixture
def small_blocks(monkeypatch):
    """Makes many tasks of few rows."""
    monkeypatch.setattr(kd_tree, "_BLOCK_LEAVES", 2)
    monkeypatch.setattr(kd_tree, "_BLOCK_POINTS", 3)


def test_neighbours_of_a_line_by_hand():
    tree = KdTree.of(np.array([[4.0], [0.0], [2.0], [2.0]]), SQUARES)
    rows, ranks = tree.nearest(np.array([[3.0], [0.5]]), 3)
    assert rows.tolist() == [[0, 2, 3], [1, 2, 3]]
    assert ranks.tolist() == [[1.0, 1.0, 1.0], [0.25, 2.25, 2.25]]
    offsets, rows, ranks = tree.within(np.array([[3.0], [0.5], [9.0]]), 2.25)
    assert offsets.tolist() == [0, 3, 6, 6]
    assert rows.tolist() == [0, 2, 3, 1, 2, 3]
    assert ranks.tolist() == [1.0, 1.0, 1.0, 0.25, 2.25, 2.25]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, LEAF - 1, LEAF, LEAF + 1, 8 * LEAF, 8 * LEAF + 1, 20 * LEAF + 5])
def test_every_number_of_rows_gives_what_the_twin_gives(kind, n):
    rng = np.random.default_rng(n)
    points = rng.standard_normal((n, 3))
    queries = np.vstack([points[:2], rng.standard_normal((2, 3)) * 2])
    tree = KdTree.of(points, kind, 2.5, 2)
    for k in {1, min(n, 6), min(n, 250), n}:
        assert_same(tree.nearest(queries, k, 2), twin_nearest(points, queries, k, kind, 2.5))
    for rank in (-1.0, 0.0, 0.5, 4.0, np.inf):
        assert_same(tree.within(queries, rank, 2), twin_within(points, queries, rank, kind, 2.5))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 2, 9])
def test_of_rows_equally_far_the_lowest_come_first(kind, d):
    points = np.random.default_rng(d).integers(0, 3, (700, d)).astype(float)
    queries = np.vstack([points[:4], points[:4] + 0.5])
    tree = KdTree.of(points, kind, 3.0)
    for k in (1, 7, 300):
        assert_same(tree.nearest(queries, k), twin_nearest(points, queries, k, kind, 3.0))
    assert_same(tree.within(queries, 1.0), twin_within(points, queries, 1.0, kind, 3.0))


@pytest.mark.parametrize("kind", KINDS)
def test_a_million_equal_rows_are_neither_deep_nor_slow(kind):
    tree = KdTree.of(np.full((1_000_000, 2), 7.0), kind, 2.5, 2)
    queries = np.full((100_000, 2), 7.0)  # looking at every row of them would take minutes
    queries[::2] += np.random.default_rng(0).standard_normal((50_000, 2))
    rows, ranks = tree.nearest(queries, 3, 2)
    assert (rows == [0, 1, 2]).all()
    assert (ranks[1::2] == 0).all()
    assert (ranks[::2, :1] == ranks[::2]).all()


def test_rows_in_order_or_in_step_are_parted_like_others():
    n = 5_000
    line = np.linspace(-1, 1, n)
    for cells in (line, line[::-1], np.abs(line), np.arange(n) % 50, np.sort(np.arange(n) % 7), np.sign(line)):
        points = np.ascontiguousarray(cells, np.float64).reshape(-1, 1)
        assert_same(KdTree.of(points, SQUARES).nearest(points[:3], 40), twin_nearest(points, points[:3], 40, SQUARES))


def test_each_row_stands_in_one_leaf_and_leaves_ascend(small_blocks):
    points = np.random.default_rng(0).standard_normal((LEAF * 37 + 5, 4))
    arrays = KdTree.of(points, SQUARES).arrays
    rows = arrays.rows.ravel()
    assert sorted(rows[rows != NO_ROW]) == list(range(len(points)))
    assert (np.diff(arrays.rows, axis=1) >= 0).all()
    cells = arrays.leaves.transpose(0, 1, 3, 2).reshape(-1, 4)
    assert np.array_equal(cells[rows != NO_ROW], points[rows[rows != NO_ROW]])
    assert np.isinf(cells[rows == NO_ROW]).all()


def test_boxes_are_as_tight_as_can_be(small_blocks):
    points = np.random.default_rng(1).standard_normal((LEAF * 75, 3))
    arrays = KdTree.of(points, SQUARES).arrays
    cells = points[arrays.rows]
    for size, first in ((1, 0), (8, 10), (64, 12)):  # 75 leaves: 10 groups, 2 groups of groups, the root
        for node, begin in enumerate(range(0, 75, size)):
            box = arrays.boxes[first + node // 8, :, :, node % 8]
            inside = cells[begin : begin + size].reshape(-1, 3)
            assert np.array_equal(box, np.stack([inside.min(axis=0), inside.max(axis=0)], axis=1))
            assert arrays.low_rows[first + node // 8, node % 8] == arrays.rows[begin : begin + size].min()


def test_tree_and_answers_are_the_same_for_any_number_of_threads(small_blocks):
    rng = np.random.default_rng(2)
    points, queries = rng.integers(0, 40, (4_000, 3)).astype(float), rng.random((50, 3)) * 40
    trees = [KdTree.of(points, SQUARES, n_threads=n_threads) for n_threads in (1, 2, 5)]
    for tree in trees[1:]:
        assert_same(tree.arrays, trees[0].arrays)
    for n_threads in (2, 5):
        assert_same(trees[0].nearest(queries, 9, n_threads), trees[0].nearest(queries, 9, 1))
        assert_same(trees[0].nearest(queries, 300, n_threads), trees[0].nearest(queries, 300, 1))
        assert_same(trees[0].within(queries, 30.0, n_threads), trees[0].within(queries, 30.0, 1))


@pytest.mark.parametrize("d", [2, 3, 8])
def test_euclidean_neighbours_are_those_of_scikit_learn(d):
    rng = np.random.default_rng(d)
    points, queries = rng.standard_normal((20_000, d)), rng.standard_normal((500, d))
    rows, ranks = KdTree.of(points, SQUARES, n_threads=2).nearest(queries, 5, 2)
    distances, wanted = NearestNeighbors(n_neighbors=5, algorithm="kd_tree").fit(points).kneighbors(queries)
    assert np.array_equal(rows, wanted)  # no two distances are as close as rounding
    np.testing.assert_allclose(np.sqrt(ranks), distances, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_far_from_zero_a_tiny_spread_is_not_lost(kind):
    rng = np.random.default_rng(3)
    points = 1e6 + 1e-7 * rng.standard_normal((1_000, 3))
    tree = KdTree.of(points, kind, 1.5)
    assert_same(tree.nearest(points[:5], 20), twin_nearest(points, points[:5], 20, kind, 1.5))


@pytest.mark.parametrize("kind", KINDS)
def test_rank_distances_too_large_for_a_float_are_infinite_and_ordered_by_row(kind):
    points = np.array([[1e308, 0.0], [-1e308, 1.0], [0.0, 1e200], [0.0, -1e200]] * 40)
    queries = np.array([[1.7e308, 0.0], [0.0, 0.0], [-1.7e308, 1e200]])
    tree = KdTree.of(points, kind, 2.5)
    for k in (5, 60, 160):
        assert_same(tree.nearest(queries, k), twin_nearest(points, queries, k, kind, 2.5))
    assert_same(tree.nearest(queries, 160), tuple(part.reshape(3, 160) for part in tree.within(queries, np.inf)[1:]))


def test_no_points_have_no_neighbours():
    tree = KdTree.of(np.zeros((3, 2)), SQUARES)
    rows, ranks = tree.nearest(np.empty((0, 2)), 2)
    assert rows.shape == ranks.shape == (0, 2)
    offsets, rows, ranks = tree.within(np.empty((0, 2)), 1.0)
    assert offsets.tolist() == [0]
    assert len(rows) == len(ranks) == 0


def test_few_points_are_shared_out_among_the_threads(monkeypatch):
    tasks = []

    def run_each(work, n_tasks, n_threads):
        tasks.append(n_tasks)
        for task in range(n_tasks):
            work(task, task % n_threads)

    points = np.random.default_rng(0).normal(size=(500, 2))
    tree = KdTree.of(points, SQUARES)
    wanted = tree.nearest(points, 3)
    monkeypatch.setattr(kd_tree.threads, "run_each", run_each)
    assert_same(tree.nearest(points, 3, 4), wanted)
    assert tasks == [4, 4]
    tree.nearest(points[:100], 3, 4)
    assert tasks[2:] == [2, 2]
    tree.nearest(points[:8], 300, 4)  # so many neighbours are worth a thread each
    assert tasks[4:] == [1, 4]
