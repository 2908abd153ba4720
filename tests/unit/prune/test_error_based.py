"""Error-based pruning: numbers from the book, small trees by hand, and a slow recursive twin on random trees."""

from __future__ import annotations

import math

import numpy as np
import pytest
from naive_error_based import Twin, collapse, slow_added
from plain_trees import chain_tree, rows_of_chain
from random_trees import SCHEMA, Node, entropy, flat, grow_at_random, random_matrix
from same_trees import trees_equal

from treewright.data.schema import Column, Schema
from treewright.exceptions import ParameterError
from treewright.prune.error_based import added_errors, prune_error_based
from treewright.trees.arrays import INTERVALS, LEAF, MULTIWAY, SUBSET, THRESHOLD, Tree
from treewright.trees.check import check_tree


@pytest.mark.parametrize(("total", "share"), [(6, 0.206), (9, 0.143), (1, 0.75)])
def test_the_limits_of_leaves_without_errors_are_those_of_the_book(total: int, share: float) -> None:
    assert added_errors(total, 0) / total == pytest.approx(share, abs=5e-4)
    assert added_errors(total, 0) == pytest.approx(total * (1 - 0.25 ** (1 / total)))


@pytest.mark.parametrize("confidence", [0.01, 0.25, 0.5])
def test_added_errors_follow_the_rule_for_whole_and_broken_numbers(confidence: float) -> None:
    for total in (0.3, 1.0, 2.0, 2.6, 16.0, 168.0, 1e6):
        for errors in (0.0, 0.2, 0.999, 1.0, 1.2, 2.0, 7.5, 83.0):
            if errors <= total:
                assert added_errors(total, errors, confidence) == pytest.approx(
                    slow_added(total, errors, confidence), rel=1e-12, abs=1e-12
                )


def test_one_error_in_sixteen_is_the_normal_approximation() -> None:
    # f = 1.5 / 16 = 0.09375, z = 0.67449, z * z = 0.454937
    z = 0.6744897501960817
    r = (0.09375 + z * z / 32 + z * math.sqrt(0.09375 / 16 - 0.09375**2 / 16 + z * z / 1024)) / (1 + z * z / 16)

    assert added_errors(16, 1) == pytest.approx(16 * r - 1)
    assert added_errors(16, 1) == pytest.approx(1.47571, abs=1e-5)


@pytest.mark.parametrize("confidence", [0.0, -1.0, 0.51, math.nan])
def test_a_confidence_outside_its_range_is_refused(confidence: float) -> None:
    with pytest.raises(ParameterError, match="confidence="):
        added_errors(1, 0, confidence)


def binary(spec: list[tuple[int, float] | None], first_child: list[int], counts: list[list[float]]) -> Tree:
    """A tree of cuts ``(column, cut)``, leaves None."""
    inner = np.array([test is not None for test in spec])
    value = np.array(counts, np.float64)
    return Tree(
        kind=np.where(inner, THRESHOLD, LEAF).astype(np.uint8),
        feature=np.array([-1 if test is None else test[0] for test in spec], np.int32),
        threshold=np.array([0.0 if test is None else test[1] for test in spec]),
        first_child=np.array(first_child, np.int32),
        n_branches=np.where(inner, 2, 0).astype(np.int32),
        missing_branch=np.zeros(len(spec), np.int32),
        level_set=np.full(len(spec), -1, np.int32),
        n_samples=value.sum(axis=1).astype(np.int64),
        weight=value.sum(axis=1),
        impurity=np.array([entropy(row) for row in value]),
        value=value,
        levels_left=np.zeros(0, np.uint64),
        levels_seen=np.zeros(0, np.uint64),
    )


def rows_for(cells: list[tuple[list[float], int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Rows given as (cells, class, how often)."""
    matrix = np.array([row for row, _, times in cells for _ in range(times)], np.float64)
    return matrix, np.array([label for _, label, times in cells for _ in range(times)], np.int32)


TWO = Schema((Column("a", "numeric"), Column("b", "numeric")))


def test_a_split_that_saves_no_training_error_collapses() -> None:
    # 9 and 1 beside 5 and 0: both sides say class 0, one error with and without the split.
    tree = binary([(0, 0.5), None, None], [1, -1, -1], [[14, 1], [9, 1], [5, 0]])
    matrix, codes = rows_for([([0, 0], 0, 9), ([0, 0], 1, 1), ([1, 0], 0, 5)])

    pruned = prune_error_based(tree, matrix, codes, schema=TWO)

    assert (pruned.n_nodes, pruned.value.tolist()) == (1, [[14, 1]])


def test_a_split_stays_where_a_leaf_would_cost_more() -> None:
    # As a leaf 7 rows with 1 error cost 2.342; the branches 6 * 0.2063 + 0.75 = 1.988, and 2.342 > 1.988 + 0.1.
    tree = binary([(0, 0.5), None, None], [1, -1, -1], [[6, 1], [6, 0], [0, 1]])
    matrix, codes = rows_for([([0, 0], 0, 6), ([1, 0], 1, 1)])
    assert 1 + added_errors(7, 1) == pytest.approx(2.342, abs=1e-3)
    assert added_errors(6, 0) + added_errors(1, 0) == pytest.approx(1.988, abs=1e-3)

    assert trees_equal(prune_error_based(tree, matrix, codes, schema=TWO), tree)


def test_a_leaf_takes_the_place_of_a_subtree_that_is_not_worth_its_leaves() -> None:
    # Four leaves of one row: 4 * 0.75 = 3.00; one leaf with 2 of 4 wrong: 3.07 <= 3.00 + 0.1. Each pair for itself
    # stays: 1.79 > 1.50 + 0.1.
    tree = binary(
        [(0, 0.5), (1, 0.5), (1, 0.5), *[None] * 4],
        [1, 3, 5, *[-1] * 4],
        [[2, 2], [1, 1], [1, 1], [1, 0], [0, 1], [0, 1], [1, 0]],
    )
    matrix, codes = rows_for([([0, 0], 0, 1), ([0, 1], 1, 1), ([1, 0], 1, 1), ([1, 1], 0, 1)])
    assert 2 + added_errors(4, 2) == pytest.approx(3.07, abs=5e-3)
    assert 1 + added_errors(2, 1) == pytest.approx(1.79, abs=5e-3)

    assert prune_error_based(tree, matrix, codes, schema=TWO).value.tolist() == [[2, 2]]


def raised_case() -> tuple[Tree, np.ndarray, np.ndarray]:
    """A first cut that buys little above a second that is right for all rows but one.

    0  a <= 0.5 ?         [31, 30]
    |-- 1  b <= 0.5 ?     [30, 29]
    |   |-- 3  leaf       [30,  0]
    |   `-- 4  leaf       [ 0, 29]
    `-- 2  leaf           [ 1,  1]
    """
    tree = binary(
        [(0, 0.5), (1, 0.5), None, None, None], [1, 3, -1, -1, -1], [[31, 30], [30, 29], [1, 1], [30, 0], [0, 29]]
    )
    return tree, *rows_for([([0, 0], 0, 30), ([0, 1], 1, 29), ([1, 0], 0, 1), ([1, 1], 1, 1)])


def test_the_largest_branch_takes_the_place_of_its_parent() -> None:
    tree, matrix, codes = raised_case()
    as_branch = added_errors(31, 0) + added_errors(30, 0)
    as_tree = added_errors(30, 0) + added_errors(29, 0) + 1 + added_errors(2, 1)
    assert as_branch < as_tree < 30 + added_errors(61, 30)

    pruned = prune_error_based(tree, matrix, codes, schema=TWO)

    assert pruned.feature.tolist() == [1, -1, -1]
    assert pruned.value.tolist() == [[31, 30], [31, 0], [0, 30]]
    assert pruned.n_samples.tolist() == [61, 31, 30]
    assert pruned.impurity.tolist() == pytest.approx([entropy(np.array([31, 30])), 0, 0])


def test_without_raising_the_subtree_stays() -> None:
    tree, matrix, codes = raised_case()

    assert trees_equal(prune_error_based(tree, matrix, codes, raising=False, schema=TWO), tree)


def test_a_missing_value_is_divided_as_the_rows_at_hand_are() -> None:
    # 8 rows left, 4 right, 3 missing ones of class 0: 2/3 of each goes left.
    tree = binary([(0, 0.5), None, None], [1, -1, -1], [[11, 4], [10, 0], [1, 4]])
    matrix, codes = rows_for([([0, 0], 0, 8), ([1, 0], 1, 4), ([math.nan, 0], 0, 3)])

    pruned = prune_error_based(tree, matrix, codes, schema=TWO)

    assert pruned.value == pytest.approx(np.array([[11, 4], [10, 0], [1, 4]]))
    assert pruned.n_samples.tolist() == [15, 11, 7]


def test_a_weight_is_as_many_rows_and_no_weight_is_no_row() -> None:
    tree, matrix, codes = raised_case()
    few, first, times = np.unique(np.column_stack([matrix, codes]), axis=0, return_index=True, return_counts=True)
    weights = np.append(times.astype(float), 0.0)
    rows = np.vstack([few[:, :2], [[1.0, 0.0]]])

    pruned = prune_error_based(tree, rows, np.append(codes[first], 1).astype(np.int32), weights, schema=TWO)

    assert pruned.value.tolist() == [[31, 30], [31, 0], [0, 30]]
    assert pruned.n_samples.tolist() == [4, 2, 2]
    with pytest.raises(ParameterError, match="no row has a weight"):
        prune_error_based(tree, rows, np.zeros(len(rows), np.int32), np.zeros(len(rows)))


def test_the_arguments_stay_as_they_were() -> None:
    rng = np.random.default_rng(5)
    matrix, codes = random_matrix(rng, 60, 0.1), rng.integers(0, 3, 60).astype(np.int32)
    tree = flat(grow_at_random(rng, matrix, codes, [(row, 1.0) for row in range(60)]), matrix)
    before, cells = Tree(*(np.array(array) for array in tree.__reduce__()[1])), matrix.copy()

    first = prune_error_based(tree, matrix, codes, confidence=0.5)

    assert trees_equal(tree, before)
    assert np.array_equal(matrix, cells, equal_nan=True)
    assert trees_equal(first, prune_error_based(tree, np.asfortranarray(matrix), codes, confidence=0.5))


def assert_same(tree: Tree, nested: Node, matrix: np.ndarray) -> None:
    """Tests, levels seen, rows and counts."""
    expected = flat(nested, matrix)
    for name in ("kind", "feature", "threshold", "first_child", "n_branches", "missing_branch", "n_samples"):
        assert getattr(tree, name).tolist() == getattr(expected, name).tolist(), name
    for name in ("level_set", "levels_left", "levels_seen", "level_branch", "cuts"):
        assert getattr(tree, name).tolist() == getattr(expected, name).tolist(), name
    for name in ("weight", "value", "impurity"):
        assert getattr(tree, name) == pytest.approx(getattr(expected, name), rel=1e-9, abs=1e-9), name


def test_random_trees_are_pruned_as_the_twin_prunes_them() -> None:
    n_raised = n_cut = n_kept = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 90))
        matrix = random_matrix(rng, n, absent=(0.0, 0.1, 0.3)[seed % 3])
        signal = (np.nan_to_num(matrix[:, 0]) > 5) * 1 + (np.nan_to_num(matrix[:, 2]) > 1)
        codes = np.where(rng.random(n) < 0.2, rng.integers(0, 3, n), signal).astype(np.int32)
        weights = None if seed % 2 else rng.integers(1, 8, n) / 2.0
        rows = [(row, 1.0 if weights is None else float(weights[row])) for row in range(n)]
        nested = grow_at_random(rng, matrix, codes, rows, depth=int(rng.integers(1, 8)))
        tree = flat(nested, matrix)
        check_tree(tree, SCHEMA, 3, n_classes=(3,), missing="fractional")
        confidence, raising = (0.05, 0.25, 0.5)[int(rng.integers(3))], bool(rng.random() < 0.8)

        pruned = prune_error_based(tree, matrix, codes, weights, confidence=confidence, raising=raising, schema=SCHEMA)

        twin = Twin(matrix, codes, confidence, raising)
        collapse(nested)
        twin.prune(nested)
        assert_same(pruned, nested, matrix)
        n_raised += twin.n_raised
        n_cut += pruned.n_nodes < tree.n_nodes
        n_kept += pruned.n_nodes > 1
        assert {SUBSET, MULTIWAY, INTERVALS} & set(tree.kind.tolist()) or tree.n_nodes < 30
    assert n_raised > 50
    assert n_cut > 200
    assert n_kept > 50


def test_a_tree_20_000_deep_is_pruned_without_recursion() -> None:
    depth = 20_000
    rows = rows_of_chain(depth)
    tree = chain_tree(depth, value=np.column_stack([rows, np.zeros(len(rows))]))
    matrix = np.arange(depth + 1, dtype=np.float64)[:, None]
    codes = (np.arange(depth + 1) % 2).astype(np.int32)

    pruned = prune_error_based(tree, matrix, codes)

    assert pruned.n_nodes == 1
