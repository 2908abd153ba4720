"""Growth on gradients where tables and numbers are extreme."""

from __future__ import annotations

import math

import numpy as np
import pytest
from gradient_tables import (
    MISSING,
    NO_HESSIAN,
    GradientCase,
    answers,
    bins_with,
    draw_case,
    leaf_of_rows,
    packed_of,
    schema_of,
)

from treewright.data.bin_rows import bin_rows
from treewright.data.bins import bins_of
from treewright.data.schema import Column, Schema
from treewright.exceptions import DataError
from treewright.grow.gradient.grower import GradientGrower, GradientTree
from treewright.grow.settings import GradientSettings

ORDERS = ["leaf", "level", "symmetric"]
by_order = pytest.mark.parametrize("order", ORDERS)


def case_of(cells, gradient, hessian=None, n_bins=None, repeats=None) -> GradientCase:
    cells = np.array(cells, np.uint8)
    cells = cells[:, None] if cells.ndim == 1 else cells
    held = np.where(cells == MISSING, 0, cells).max(axis=0) + 1 if n_bins is None else n_bins
    return GradientCase(
        bins_with(list(held)),
        cells,
        np.array(gradient, np.float32),
        NO_HESSIAN if hessian is None else np.array(hessian, np.float32),
        np.zeros(cells.shape[1], bool),
        None if repeats is None else np.array(repeats, np.int32),
    )


def assert_sound(case: GradientCase, tree: GradientTree) -> None:
    """Finite, each row in the leaf that the packed tree sends it to, sums of leaves right."""
    n = len(case.cells)
    leaf = leaf_of_rows(tree, n)
    assert (leaf >= 0).all()
    for numbers in (tree.values, tree.gain, tree.covers):
        assert np.isfinite(numbers).all()
    assert np.array_equal(answers(packed_of(case, tree), case.cells), tree.values[leaf])
    times = np.ones(n) if case.repeats is None else case.repeats
    hessian = np.ones(n) if not len(case.hessian) else case.hessian.astype(np.float64)
    np.testing.assert_allclose(tree.covers, np.bincount(leaf, hessian * times), rtol=1e-12)


@by_order
def test_one_row_is_a_leaf(order):
    tree = case_of([0], [3.0]).grow(order=order, min_samples_leaf=1)
    assert tree.n_nodes == 1
    assert tree.values.tolist() == [-3.0]
    tree = case_of([MISSING], [3.0], [0.5], n_bins=[0]).grow(order=order, min_samples_leaf=1, l2=1.0)
    assert tree.values.tolist() == [-2.0]


@by_order
@pytest.mark.parametrize("hessian", [None, [0.5] * 6])
def test_columns_that_say_nothing_are_not_asked(order, hessian):
    cells = np.column_stack([np.zeros(6), np.full(6, MISSING), np.zeros(6)])
    case = case_of(cells, [1, -1, 1, -1, 5, -5], hessian, n_bins=[1, 0, 3])
    assert case.grow(order=order, min_samples_leaf=1).n_nodes == 1


@by_order
def test_missing_cells_alone_part_rows(order):
    case = case_of([0, 0, MISSING, MISSING], [1, 1, -1, -1])
    tree = case.grow(order=order, min_samples_leaf=1)
    assert tree.n_nodes == 3
    assert tree.values.tolist() == [-1.0, 1.0]
    assert tree.missing_branch[0] == 1
    assert_sound(case, tree)


@by_order
@pytest.mark.parametrize("hessian", [None, [1.0] * 5, [0.0] * 5])
def test_gradients_of_0_grow_one_leaf_of_0(order, hessian):
    tree = case_of([0, 1, 2, 3, 4], [0.0] * 5, hessian).grow(order=order, min_samples_leaf=1)
    assert tree.n_nodes == 1
    assert tree.values.tolist() == [0.0]
    assert not np.signbit(tree.values[0])


@by_order
def test_without_any_curvature_nothing_is_learned(order):
    case = case_of([0, 1, 2, 3], [1, -1, 1, -1], [0.0] * 4)
    tree = case.grow(order=order, min_samples_leaf=1, min_child_weight=0.0)
    assert tree.n_nodes == 1
    assert tree.values.tolist() == [0.0]
    assert case.grow(order=order, min_samples_leaf=1, l2=2.0).values.tolist() == [0.0]


@by_order
@pytest.mark.parametrize("scale", [2.0**-100, 1e-30, 1e-3, 1e30, 2.0**100])
@pytest.mark.parametrize("unit", [True, False])
def test_the_size_of_gradients_changes_no_test(order, scale, unit):
    case = draw_case(3, 400, 4, unit=unit, most_bins=40, ties=False)
    plan = {"order": order, "min_samples_leaf": 3, "max_leaf_nodes": 16}
    tree = case.grow(**plan)
    case.gradient = (case.gradient.astype(np.float64) * scale).astype(np.float32)
    other = case.grow(**plan)
    assert other.n_nodes == tree.n_nodes > 10
    assert np.array_equal(other.first_child, tree.first_child)
    inner = tree.first_child >= 0
    assert np.array_equal(other.column[inner], tree.column[inner])
    assert np.array_equal(other.cut[inner], tree.cut[inner])
    np.testing.assert_allclose(other.values, tree.values * scale, rtol=1e-5)
    np.testing.assert_allclose(other.gain, tree.gain * scale * scale, rtol=1e-4)


@by_order
def test_gradients_of_all_sizes_at_once_are_summed_up_exactly_in_leaves(order):
    case = case_of(np.arange(64) % 8, [0.0] * 64)
    rng = np.random.default_rng(0)
    case.gradient = (rng.normal(size=64) * 10.0 ** rng.integers(-5, 6, 64)).astype(np.float32)
    tree = case.grow(order=order, min_samples_leaf=1, max_leaf_nodes=None)
    assert_sound(case, tree)
    leaf = leaf_of_rows(tree, 64)
    exact = np.array([-math.fsum(case.gradient[leaf == at]) / (leaf == at).sum() for at in range(len(tree.leaves))])
    # Of 62 bits for all rows: what is lost of a leaf is a share of the largest gradient.
    assert np.abs(tree.values - exact).max() <= np.abs(case.gradient).sum() * 2.0**-52


@by_order
@pytest.mark.parametrize("small", [0.0, 1e-12, 1e-30, 1e-44])
def test_rows_without_curvature_lie_where_the_tree_sends_them(order, small):
    case = draw_case(8, 500, 4, unit=False, most_bins=25, ties=False)
    case.hessian[::3] = small
    tree = case.grow(order=order, min_samples_leaf=3, min_child_weight=0.0)
    assert tree.n_nodes > 1
    assert_sound(case, tree)
    counts = np.bincount(leaf_of_rows(tree, 500))
    assert counts.min() >= 3


@by_order
@pytest.mark.parametrize("small", [1e-12, 1e-30])
def test_tiny_hessians_throughout_are_no_smaller_than_others(order, small):
    case = draw_case(8, 500, 4, unit=False, most_bins=25, ties=False)
    plan = {"order": order, "min_samples_leaf": 3, "min_child_weight": 0.0, "level_smoothing": 0.0, "level_l2": 0.0}
    tree = case.grow(**plan)
    case.hessian = (case.hessian.astype(np.float64) * small).astype(np.float32)
    other = case.grow(**plan)
    assert other.n_nodes == tree.n_nodes > 10
    np.testing.assert_allclose(other.values, tree.values / small, rtol=1e-4)
    assert_sound(case, other)


@by_order
@pytest.mark.parametrize("share", [0.5, 0.75, 1.0])
def test_a_row_with_nearly_all_of_the_hessian_keeps_it(order, share):
    hessian = [share * 3, 0.25, 0.125, 0.125]
    case = case_of([0, 1, 2, 3], [1, -1, 1, -1], hessian)
    tree = case.grow(order=order, min_samples_leaf=1, min_child_weight=0.0, max_leaf_nodes=2)
    at = int(tree.cut[0]) + 1
    g, h = np.array([1.0, -1, 1, -1]), np.array(hessian)

    def worth(part: slice) -> float:
        return float(g[part].sum() ** 2 / h[part].sum())

    gains = [worth(slice(0, cut)) + worth(slice(cut, 4)) - worth(slice(0, 4)) for cut in (1, 2, 3)]
    assert gains[at - 1] == max(gains)
    assert tree.gain[0] == pytest.approx(max(gains), rel=1e-6)
    assert_sound(case, tree)


@by_order
def test_min_child_weight_of_a_dominant_row_is_met_by_its_true_hessian(order):
    case = case_of([0, 1, 2], [1, -1, 1], [1.5, 0.25, 0.125])
    assert case.grow(order=order, min_samples_leaf=1, min_child_weight=0.37).cut[0] == 0
    assert case.grow(order=order, min_samples_leaf=1, min_child_weight=0.376).n_nodes == 1


@by_order
@pytest.mark.parametrize("times", [1_000, 20_000])
def test_rows_that_count_as_many_grow_the_same_tests(order, times):
    case = draw_case(4, 1_000, 3, most_bins=20, nominal=False)
    plan = {"order": order, "max_leaf_nodes": 16}
    tree = case.grow(min_samples_leaf=5, **plan)
    case.repeats = np.full(1_000, times, np.int32)
    other = case.grow(min_samples_leaf=5 * times, **plan)
    assert np.array_equal(other.first_child, tree.first_child)
    assert np.array_equal(other.values, tree.values)
    assert np.array_equal(other.covers, tree.covers * times)


def test_rows_that_count_as_many_need_no_more_memory():
    case = case_of([0, 1, 2], [1, -1, 1], repeats=[20_000_000] * 3)
    grower = case.grower(max_leaf_nodes=None, min_samples_leaf=1)
    assert len(grower.nodes.begin) < 20


@by_order
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_gradients_that_are_no_numbers_are_refused(order, wrong):
    case = case_of([0, 1, 2], [1, wrong, 1])
    with pytest.raises(DataError, match="finite"):
        case.grow(order=order)
    case = case_of([0, 1, 2], [1, 1, 1], [1, wrong, 1])
    with pytest.raises(DataError, match="finite"):
        case.grow(order=order)


@by_order
@pytest.mark.parametrize("nominal", [False, True])
def test_every_bin_can_be_told_from_its_neighbours(order, nominal):
    n_bins = 254 if nominal else 255
    cells = np.append(np.arange(n_bins), MISSING).astype(np.uint8)[:, None]
    rng = np.random.default_rng(1)
    case = GradientCase(
        bins_with([n_bins], [nominal]), cells, rng.normal(size=len(cells)).astype(np.float32), NO_HESSIAN,
        np.zeros(1, bool),
    )  # fmt: skip
    tree = case.grow(order=order, min_samples_leaf=1, max_leaf_nodes=None, level_smoothing=0.0, level_l2=0.0)
    assert_sound(case, tree)
    if order != "symmetric":
        assert len(tree.leaves) == n_bins + 1
        assert np.array_equal(tree.values[leaf_of_rows(tree, len(cells))], -case.gradient)
    # Bins that were there but are asked for elsewhere, and levels never seen, have an answer as well.
    every = np.arange(256, dtype=np.uint8)[:, None]
    assert np.isfinite(answers(packed_of(case, tree), every)).all()


@by_order
def test_three_hundred_columns_are_all_looked_at(order):
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 3, (200, 300)).astype(np.uint8)
    for column in (0, 63, 64, 255, 256, 299):
        gradient = np.where(cells[:, column] > 1, 1.0, -1.0)
        case = case_of(cells, gradient, n_bins=[3] * 300)
        tree = case.grow(order=order, min_samples_leaf=1, max_leaf_nodes=2)
        assert (tree.column[0], tree.cut[0]) == (column, 1)
        assert_sound(case, tree)


@by_order
def test_trees_grow_until_every_row_has_its_leaf(order):
    n = 3_000
    rng = np.random.default_rng(2)
    cells = np.column_stack([np.arange(n) % 250, np.arange(n) // 250, rng.integers(0, 9, n)])
    case = case_of(cells, rng.normal(size=n), n_bins=[250, 12, 9])
    tree = case.grow(order=order, min_samples_leaf=1, max_leaf_nodes=None)
    assert_sound(case, tree)
    if order != "symmetric":
        assert len(tree.leaves) == n


def test_gradients_that_grow_fourfold_grow_a_chain():
    case = case_of(np.arange(15), -(4.0 ** np.arange(15)))
    tree = case.grow(min_samples_leaf=1, max_leaf_nodes=None)
    depth = np.zeros(tree.n_nodes, int)
    for node in range(tree.n_nodes):
        if tree.first_child[node] >= 0:
            depth[tree.first_child[node] : tree.first_child[node] + 2] = depth[node] + 1
    assert depth.max() == 14
    assert_sound(case, tree)


@pytest.mark.parametrize("ordered", [False, True])
@by_order
def test_seventy_thousand_levels_are_split(order, ordered):
    n = 70_000
    schema = Schema((Column("c", "nominal", tuple(range(n))),))
    rng = np.random.default_rng(0)
    codes = np.concatenate([rng.permutation(n), rng.integers(0, 40, 30_000)]).astype(np.float64)
    bins = bins_of(codes[:, None], schema)
    rows = bin_rows(bins, codes[:, None])
    gradient = np.where(codes % 2 == 0, 1.0, -1.0).astype(np.float32)
    grower = GradientGrower(rows, bins, np.array([ordered]), None, GradientSettings(order=order))
    tree = grower.grow(gradient, NO_HESSIAN, None, 0)
    case = GradientCase(bins, rows[:, :1], gradient, NO_HESSIAN, np.array([ordered]))
    assert_sound(case, tree)
    assert tree.n_nodes > 1


def test_columns_of_the_helper_are_what_bin_rows_makes():
    bins = bins_with([4, 5], [False, True])
    matrix = np.array([[0.0, 4.0], [3.0, 0.0], [np.nan, 5.0], [2.0, np.nan]])
    assert bin_rows(bins, matrix)[:, :2].tolist() == [[0, 4], [3, 0], [MISSING, 5], [2, MISSING]]
    assert [column.kind for column in schema_of(bins).columns] == ["numeric", "nominal"]
