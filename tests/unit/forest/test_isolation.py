"""Isolation trees: what each question may be, and what the answers are worth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from treewright.data.schema import Column, Schema
from treewright.exceptions import ParameterError, TooLargeError
from treewright.forest.draws import Draws
from treewright.forest.isolation import (
    anomaly_scores,
    grow_isolation_forest,
    path_lengths,
    refuse_too_many_trees,
    rows_of_tree,
    scores_of_rows,
)
from treewright.predict.route import leaf_of
from treewright.trees import codec
from treewright.trees.arrays import FIELDS, LEAF, SUBSET, THRESHOLD
from treewright.trees.data import ModelData
from treewright.trees.isolation import average_path_length


def schema_of(n_levels):
    """Columns of numbers (0) and of names with so many levels."""
    columns = [
        Column(f"x{at}", "nominal" if levels else "numeric", tuple(range(levels)), missing_seen=True)
        for at, levels in enumerate(n_levels)
    ]
    return Schema(tuple(columns), named=False)


def forest_of(matrix, n_levels=None, *, size=None, n_trees=20, seed=0, replace=False, n_columns=None, n_threads=1):
    """Trees on all columns of a matrix."""
    matrix = np.asarray(matrix, np.float64)
    n, p = matrix.shape
    draws = Draws(np.arange(n, dtype=np.int32), size or n, seed, replace=replace)
    schema = schema_of(n_levels or [0] * p)
    return grow_isolation_forest(matrix, schema, draws, n_columns or p, range(n_trees), n_threads)


def bytes_of(trees):
    return b"".join(getattr(tree, name).tobytes() for tree in trees for name in FIELDS)


def model_of(trees, n_levels, size, **facts):
    facts = {"algorithm": "isolation_forest", "max_samples": size, "offset": -0.5, **facts}
    return ModelData("regression", schema_of(n_levels), trees, combine="mean", facts=facts)


@pytest.mark.parametrize(("n", "length"), [(0, 0.0), (1, 0.0), (2, 1.0), (3, 1.2073923), (256, 10.2447709)])
def test_the_average_path_is_that_of_the_paper(n, length):
    # 3: 2 (ln 2 + 0.5772157) - 4/3
    assert average_path_length(np.array([n]))[0] == pytest.approx(length, abs=1e-6)


def test_two_rows_are_parted_by_one_cut_between_them():
    trees = forest_of([[1.0], [3.0]], n_trees=500)

    cuts = np.array([tree.threshold[0] for tree in trees])
    assert all(tree.value[:, 0].tolist() == [1.0, 1.0, 1.0] for tree in trees)
    assert cuts.min() >= 1.0
    assert cuts.max() < 3.0
    # Uniform: the share below each of ten marks is off by less than 1.63 / sqrt(500), Kolmogorov's bound at 1 %.
    marks = np.linspace(1.2, 3.0, 10)
    assert np.abs((cuts[:, None] < marks).mean(axis=0) - (marks - 1) / 2).max() < 1.63 / math.sqrt(500)


def test_every_column_that_is_not_constant_is_asked_as_often_as_any_other():
    matrix = np.random.default_rng(0).normal(size=(20, 5))
    matrix[:, 1] = 3.0
    matrix[:, 3] = np.nan

    first = np.array([tree.feature[0] for tree in forest_of(matrix, n_trees=900)])

    counts = np.bincount(first, minlength=5)
    assert counts[[1, 3]].tolist() == [0, 0]
    # Each of three columns 300 times, standard deviation sqrt(900 * 2/9) = 14.1.
    assert np.abs(counts[[0, 2, 4]] - 300).max() < 4 * 14.1


def test_levels_are_parted_each_way_as_often_as_any_other():
    matrix = np.arange(3.0)[:, None]

    trees = forest_of(matrix, [3], n_trees=1200)

    assert all(tree.kind[0] == SUBSET and tree.levels_seen[0] == 0b111 for tree in trees)
    left = np.array([int(tree.levels_left[0]) & 0b111 for tree in trees])
    counts = np.bincount(left, minlength=8)
    assert counts[[0b000, 0b111]].tolist() == [0, 0]
    assert np.abs(counts[1:7] - 200).max() < 4 * math.sqrt(1200 * 5 / 36)


def test_levels_that_a_node_does_not_hold_take_the_heavier_branch():
    matrix = np.array([0.0, 2, 2, 2, 2, 2])[:, None]

    for tree in forest_of(matrix, [5], n_trees=30):
        zero_goes_left = int(tree.levels_left[0]) & 1
        # Of levels 0 to 4 (bit 5: never seen) all but level 0 follow level 2.
        assert int(tree.levels_left[0]) == (0b000001 if zero_goes_left else 0b111110)


def test_missing_cells_take_a_random_branch_together():
    matrix = np.array([1.0, 2, 3, 4, 5, np.nan, np.nan])[:, None]

    branches = [int(tree.missing_branch[0]) for tree in forest_of(matrix, n_trees=200)]

    assert 70 < sum(branches) < 130


def test_missing_cells_are_parted_from_values_that_are_all_the_same():
    numbers = forest_of([[7.0], [7.0], [np.nan]], n_trees=5)
    names = forest_of([[1.0], [1.0], [np.nan]], [3], n_trees=5)

    for tree in numbers:
        assert (tree.kind[0], tree.threshold[0], tree.missing_branch[0]) == (THRESHOLD, np.inf, 1)
        assert tree.n_samples.tolist() == [3, 2, 1]
    for tree in names:
        assert (tree.kind[0], tree.missing_branch[0]) == (SUBSET, 1)
        assert tree.n_samples.tolist() == [3, 2, 1]


def test_missing_cells_take_the_heavier_branch_where_the_node_had_none():
    matrix = np.r_[np.zeros(9), 1.0][:, None]

    assert {int(tree.missing_branch[0]) for tree in forest_of(matrix, n_trees=20)} == {0}


@pytest.mark.parametrize(("low", "high"), [(-np.inf, np.inf), (0.0, np.inf), (-np.inf, 0.0), (-1e308, 1e308)])
def test_infinite_and_huge_cells_are_parted(low, high):
    for tree in forest_of([[low], [high]], n_trees=10):
        assert tree.n_samples.tolist() == [2, 1, 1]
        assert not np.isnan(tree.threshold[0])


def test_neighbouring_numbers_are_parted():
    for tree in forest_of([[1.0], [np.nextafter(1.0, 2.0)]], n_trees=10):
        assert tree.n_samples.tolist() == [2, 1, 1]


@pytest.mark.parametrize(("size", "deepest"), [(1, 1), (2, 1), (3, 2), (64, 6), (65, 7)])
def test_no_tree_is_deeper_than_the_logarithm_of_its_rows(size, deepest):
    matrix = np.random.default_rng(1).normal(size=(100, 2))

    trees = forest_of(matrix, size=size, n_trees=50)

    assert max(tree.max_depth for tree in trees) == (0 if size == 1 else deepest)


def test_rows_that_are_all_the_same_are_one_leaf():
    tree = forest_of(np.ones((50, 3)), n_trees=1)[0]

    assert tree.n_nodes == 1
    assert tree.value[0, 0] == average_path_length(np.array([50]))[0]


def test_a_leaf_says_its_depth_and_the_path_that_its_rows_would_have_had():
    matrix = np.random.default_rng(2).normal(size=(200, 3)).round(1)

    for tree in forest_of(matrix, n_trees=10):
        leaves = np.flatnonzero(tree.kind == LEAF)
        said = tree.depth[leaves] + average_path_length(tree.n_samples[leaves])
        assert tree.value[leaves, 0].tolist() == said.tolist()


def test_training_rows_end_in_the_leaves_that_counted_them():
    rng = np.random.default_rng(3)
    matrix = np.stack([rng.normal(size=300), rng.integers(0, 80, 300), rng.integers(0, 2, 300)], axis=1)
    matrix[rng.random(matrix.shape) < 0.2] = np.nan

    draws = Draws(np.arange(300, dtype=np.int32), 128, 5, replace=True)
    trees = grow_isolation_forest(matrix, schema_of([0, 80, 2]), draws, 3, range(10), 1)

    for number, tree in enumerate(trees):
        leaves = leaf_of(tree, matrix[rows_of_tree(draws, number)])
        counted = np.bincount(leaves, minlength=tree.n_nodes)
        is_leaf = tree.kind == LEAF
        assert counted[is_leaf].tolist() == tree.n_samples[is_leaf].tolist()


def test_mean_and_variance_of_a_node_are_those_of_its_rows():
    matrix = np.random.default_rng(4).normal(size=(100, 2))

    tree = forest_of(matrix, n_trees=1)[0]

    lengths = tree.value[leaf_of(tree, matrix), 0]
    assert tree.value[0, 0] == pytest.approx(lengths.mean(), rel=1e-12)
    assert tree.impurity[0] == pytest.approx(lengths.var(), rel=1e-12)


def test_a_tree_depends_on_its_number_and_not_on_the_others():
    matrix = np.random.default_rng(5).normal(size=(300, 4))
    draws = Draws(np.arange(300, dtype=np.int32), 64, 9, replace=False)

    def grow(numbers, n_threads):
        return grow_isolation_forest(matrix, schema_of([0] * 4), draws, 2, numbers, n_threads)

    together = grow(range(12), 3)
    assert bytes_of(together) == bytes_of(grow(range(5), 1) + grow(range(5, 12), 2))
    assert bytes_of(together[:1]) != bytes_of(together[1:2])


def test_trees_of_many_levels_find_room_for_them():
    matrix = np.random.default_rng(6).permutation(np.arange(400.0))[:, None]

    tree = forest_of(matrix, [5000], n_trees=1)[0]

    n_questions = int((tree.kind == SUBSET).sum())
    assert n_questions > 32  # the room at the beginning
    assert len(tree.levels_left) == n_questions * (5000 // 64 + 1)
    assert codec.loads(codec.dumps(model_of((tree,), [5000], 400))).trees[0].n_nodes == tree.n_nodes


def test_a_table_of_one_row_gives_scores_of_one_half():
    trees = forest_of([[1.0, 2.0]], n_trees=3)

    scores = scores_of_rows(model_of(trees, [0, 0], 1), np.array([[1.0, 2.0], [9.0, 9.0]]))

    assert scores.tolist() == [0.5, 0.5]


def test_scores_are_those_of_the_paper():
    matrix = np.random.default_rng(7).normal(size=(70, 2))
    trees = forest_of(matrix, size=32, n_trees=9)
    model = model_of(trees, [0, 0], 32)

    lengths = np.mean([tree.value[leaf_of(tree, matrix), 0] for tree in trees], axis=0)

    assert path_lengths(model, matrix) == pytest.approx(lengths, rel=1e-14)
    whole = 2 * (math.log(31) + 0.5772156649) - 2 * 31 / 32
    assert anomaly_scores(model, matrix) == pytest.approx(2 ** (-lengths / whole), rel=1e-9)


def test_rows_are_scored_alike_one_by_one_and_in_blocks_on_threads():
    matrix = np.random.default_rng(8).normal(size=(45_000, 2))
    model = model_of(forest_of(matrix, size=64, n_trees=5), [0, 0], 64)

    scores = scores_of_rows(model, matrix, 2)

    assert scores.tobytes() == scores_of_rows(model, np.asfortranarray(matrix), 1).tobytes()
    for row in (0, 2047, 2048, 44_999):
        assert scores_of_rows(model, matrix[row : row + 1])[0] == scores[row]


def test_another_model_has_no_scores_of_oddness():
    model = model_of(forest_of([[1.0], [2.0]]), [0], 2, algorithm="cart")

    with pytest.raises(ParameterError, match="an isolation forest, and this model was fitted by cart"):
        anomaly_scores(model, [[1.0]])


def test_trees_that_would_not_fit_in_memory_are_refused():
    with pytest.raises(TooLargeError, match="a forest of 1000000000 trees needs"):
        refuse_too_many_trees(10**9)
