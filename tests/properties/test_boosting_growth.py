"""What holds for every tree grown on gradients, whatever the table, the order of growth and the machine."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from gradient_tables import (
    MISSING,
    NO_HESSIAN,
    GradientCase,
    answers,
    bins_with,
    difference,
    draw_case,
    leaf_of_rows,
    packed_difference,
    packed_of,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from treewright.grow.gradient import grower as grower_module
from treewright.grow.gradient import layout as tables
from treewright.grow.gradient import rows as large
from treewright.grow.gradient.grower import GradientTree

patching = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
seeds = st.integers(0, 2**32 - 1)
orders = st.sampled_from(["leaf", "level", "symmetric"])
units = st.booleans()


def share_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let threads share every node, in blocks of a few rows."""
    monkeypatch.setattr(grower_module, "_MOST_CELLS", 0)
    monkeypatch.setattr(grower_module, "_MOST_CELLS_ALONE", 0)
    monkeypatch.setattr(grower_module, "_BLOCK_ROWS", 7)
    monkeypatch.setattr(large, "_BLOCK_ROWS", 5)


def plan_of(order: str, **more: Any) -> dict[str, Any]:
    return {"order": order, "max_leaf_nodes": 16, "min_samples_leaf": 2, "l2": 0.5, **more}


@given(seed=seeds, n=st.integers(2, 300), p=st.integers(1, 12), order=orders, unit=units, repeats=st.booleans())
@patching
def test_threads_that_share_nodes_change_no_byte(monkeypatch, seed, n, p, order, unit, repeats):
    case = draw_case(seed, n, p, unit=unit, repeats=repeats, most_bins=40)
    rng = np.random.default_rng(seed)
    chosen = None if rng.random() < 0.5 else np.flatnonzero(rng.random(n) < 0.7).astype(np.int32)
    if chosen is not None and not len(chosen):
        chosen = None
    alone = case.grow(chosen=chosen, **plan_of(order))
    with monkeypatch.context() as patch:
        share_everything(patch)
        for n_threads in (1, 2, 3):
            assert not difference(case.grow(chosen=chosen, **plan_of(order), n_threads=n_threads), alone)


@pytest.mark.parametrize("order", ["leaf", "level", "symmetric"])
def test_threads_change_no_byte_of_a_tree_of_many_rows(order):
    case = draw_case(5, 200_000, 6, unit=False, most_bins=200, ties=False)
    alone = case.grow(order=order)
    assert alone.n_nodes > 10
    for n_threads in (2, 3):
        assert not difference(case.grow(order=order, n_threads=n_threads), alone)


@given(seed=seeds, n=st.integers(2, 200), p=st.integers(1, 6), order=orders, unit=units, repeats=st.booleans())
def test_the_order_of_rows_changes_nothing_but_their_order(seed, n, p, order, unit, repeats):
    case = draw_case(seed, n, p, unit=unit, repeats=repeats, most_bins=20)
    moved = np.random.default_rng(seed).permutation(n)
    one, other = case.grow(**plan_of(order)), case.at(moved).grow(**plan_of(order))
    assert not difference(one, other, same_rows=False)
    assert np.array_equal(leaf_of_rows(one, n)[moved], leaf_of_rows(other, n))
    for leaf in range(len(other.leaves)):
        steps = np.diff(other.groups([[leaf]])[0])
        assert (steps > 0).all() or (steps < 0).all()


@given(seed=seeds, n=st.integers(1, 80), p=st.integers(1, 6), order=orders, unit=units, least=st.integers(1, 6))
def test_a_row_that_counts_as_several_grows_the_tree_of_several_rows(seed, n, p, order, unit, least):
    case = draw_case(seed, n, p, unit=unit, repeats=True)
    often = np.repeat(np.arange(n), case.repeats)
    several = case.at(often)
    several.repeats = None
    plan = plan_of(order, min_samples_leaf=least, min_child_weight=1.5)
    one, other = case.grow(**plan), several.grow(**plan)
    assert not difference(one, other, same_rows=False)
    assert np.array_equal(leaf_of_rows(one, n)[often], leaf_of_rows(other, len(often)))


@given(seed=seeds, n=st.integers(2, 200), p=st.integers(1, 6), order=st.sampled_from(["leaf", "level"]), unit=units)
@patching
def test_few_histograms_grow_the_tree_of_many(monkeypatch, seed, n, p, order, unit):
    case = draw_case(seed, n, p, unit=unit, most_bins=20)
    plan = plan_of(order, max_leaf_nodes=None)
    many = case.grow(**plan)
    with monkeypatch.context() as patch:
        patch.setattr(tables, "_SLOT_BYTES", 0)
        grower = case.grower(**plan)
        assert len(grower.growth.slots) == 3
        assert not difference(grower.grow(case.gradient, case.hessian, None, 0), many)
        share_everything(patch)
        assert not difference(case.grow(**plan, n_threads=2), many)


@given(seed=seeds, n=st.integers(2, 120), p=st.integers(1, 6), order=orders, unit=units)
def test_a_grower_in_use_grows_what_a_new_one_does(seed, n, p, order, unit):
    case, plan = draw_case(seed, n, p, unit=unit), plan_of(order, features_per_tree=0.6, features_per_node=0.7)
    grower = case.grower(**plan)
    for number in range(3):
        grower.grow(-3 * case.gradient[::-1].copy(), case.hessian, None, 99)
        held = grower.grow(case.gradient, case.hessian, None, number)
        assert not difference(held, case.grow(seed=number, **plan))


@given(seed=seeds, n=st.integers(1, 200), p=st.integers(1, 6), order=orders, unit=units)
def test_the_packed_tree_sends_each_row_to_its_leaf(seed, n, p, order, unit):
    case = draw_case(seed, n, p, unit=unit, most_bins=30)
    tree = case.grow(**plan_of(order))
    told = tree.values[leaf_of_rows(tree, n)]
    assert np.array_equal(answers(packed_of(case, tree), case.cells), told)


@given(seed=seeds, n=st.integers(4, 200), order=orders, data=st.data())
def test_rows_whose_gradients_are_too_small_for_the_words_go_where_the_tree_says(seed, n, order, data):
    case = draw_case(seed, n, 3, unit=False, most_bins=12)
    rng = np.random.default_rng(seed)
    factor = data.draw(st.sampled_from([0.0, 1e-12, 1e-20]))
    # Whole bins of them, missing cells among these, and some rows elsewhere.
    small = np.isin(case.cells[:, 0], rng.integers(0, 12, 4)) | (case.cells[:, 1] == MISSING) | (rng.random(n) < 0.2)
    case.gradient[small] *= np.float32(factor)
    case.hessian[small] *= np.float32(factor)
    tree = case.grow(**plan_of(order, min_samples_leaf=1, level_l2=0.0))
    assert np.array_equal(answers(packed_of(case, tree), case.cells), tree.values[leaf_of_rows(tree, n)])


# Limits.


@given(seed=seeds, n=st.integers(2, 300), order=orders, least=st.integers(1, 12), repeats=st.booleans())
def test_leaves_have_rows_enough_however_small_their_hessians(seed, n, order, least, repeats):
    rng = np.random.default_rng(seed)
    case = draw_case(seed, n, 3, unit=False, repeats=repeats, most_bins=30, ties=False)
    case.hessian = (10.0 ** rng.uniform(-12, 1, n)).astype(np.float32)
    tree = case.grow(order=order, min_samples_leaf=least, min_child_weight=0.0, max_leaf_nodes=64)
    times = np.ones(n, np.int32) if case.repeats is None else case.repeats
    counts = np.bincount(leaf_of_rows(tree, n), times, minlength=len(tree.leaves))
    assert len(counts) == 1 or counts.min() >= least


@given(seed=seeds, n=st.integers(2, 300), order=orders, least=st.floats(0.01, 30), unit=units)
def test_leaves_are_heavy_enough(seed, n, order, least, unit):
    case = draw_case(seed, n, 3, unit=unit, most_bins=30)
    tree = case.grow(order=order, min_samples_leaf=1, min_child_weight=least, max_leaf_nodes=64)
    assert len(tree.covers) == 1 or tree.covers.min() >= least
    hessian = case.hessian if len(case.hessian) else np.ones(n)
    assert np.array_equal(tree.covers, np.bincount(leaf_of_rows(tree, n), hessian))


@given(seed=seeds, order=orders, most=st.integers(2, 40), depth=st.integers(1, 7))
def test_trees_have_no_more_leaves_and_levels_than_asked_for(seed, order, most, depth):
    case = draw_case(seed, 300, 4, most_bins=60, ties=False)
    tree = case.grow(order=order, max_leaf_nodes=most, max_depth=depth, min_samples_leaf=1)
    assert len(tree.leaves) <= most
    assert max(len(path) for path in paths(tree)) <= depth
    assert (tree.gain[tree.first_child >= 0] >= 0).all()
    if order != "symmetric":
        assert (tree.gain[tree.first_child >= 0] > 0).all()


def paths(tree: GradientTree) -> list[list[int]]:
    """The columns asked on the way to each leaf."""
    asked: dict[int, list[int]] = {0: []}
    for node in range(tree.n_nodes):
        if tree.first_child[node] >= 0:
            for child in (tree.first_child[node], tree.first_child[node] + 1):
                asked[int(child)] = [*asked[node], int(tree.column[node])]
    return [asked[int(leaf)] for leaf in tree.leaves]


@given(seed=seeds, order=orders, share=st.sampled_from([1.0, 0.6]))
def test_columns_on_a_path_are_of_one_group(seed, order, share):
    rng = np.random.default_rng(seed)
    case = draw_case(seed, 200, 7, ties=False)
    groups = tuple(tuple(np.flatnonzero(rng.random(7) < 0.4).tolist()) for _ in range(int(rng.integers(1, 5))))
    plan = plan_of(order, interactions=groups, features_per_node=share)
    for path in paths(case.grow(**plan)):
        assert not path or any(set(path) <= set(group) for group in groups)


def test_sixty_four_groups_are_kept_apart():
    case = draw_case(3, 500, 64, nominal=False, most_bins=9, ties=False)
    groups = tuple((at, (at + 1) % 64) for at in range(64))
    found = paths(case.grow(interactions=groups, max_leaf_nodes=None, min_samples_leaf=1))
    assert max(len(set(path)) for path in found) == 2
    assert all(any(set(path) <= set(group) for group in groups) for path in found)


# Drawn columns.


@given(seed=seeds, order=st.sampled_from(["leaf", "level"]), share=st.sampled_from([0.05, 0.2, 0.5, 0.99]))
def test_as_many_columns_are_drawn_as_asked_for(seed, order, share):
    case = draw_case(seed, 400, 10, nominal=False, most_bins=30, ties=False)
    plan = {"order": order, "max_leaf_nodes": None, "min_samples_leaf": 1, "features_per_tree": share}
    tree = case.grow(seed=seed, **plan)
    used = set(tree.column[tree.first_child >= 0].tolist())
    # Enough nodes that every column of several bins that was drawn is asked for somewhere, or all cells of it are one.
    assert len(used) <= max(1, math.ceil(share * 10 - 1e-9))
    assert not difference(tree, case.grow(seed=seed, **plan))
    by_level = case.grow(seed=seed, order=order, max_leaf_nodes=None, min_samples_leaf=1, features_per_level=share)
    depths = depth_of(by_level)
    for depth in set(depths.tolist()):
        asked = by_level.column[(depths == depth) & (by_level.first_child >= 0)]
        assert len(set(asked.tolist())) <= max(1, math.ceil(share * 10 - 1e-9))


def depth_of(tree: GradientTree) -> np.ndarray:
    depth = np.zeros(tree.n_nodes, np.int64)
    for node in range(tree.n_nodes):
        if tree.first_child[node] >= 0:
            depth[tree.first_child[node] : tree.first_child[node] + 2] = depth[node] + 1
    return depth


@pytest.mark.parametrize("where", ["features_per_tree", "features_per_level", "features_per_node"])
def test_every_column_is_drawn_alike(where):
    case = equal_columns(8)
    times = np.zeros(8)
    for seed in range(800):
        times[case.grow(seed=seed, max_leaf_nodes=2, min_samples_leaf=1, **{where: 0.25}).column[0]] += 1
    # The lowest of two drawn columns that gain the same is asked for: column j in 7 - j of the 28 pairs.
    expected = 800 * np.arange(7, -1, -1) / 28
    assert times[7] == 0
    assert (((times - expected) ** 2 / np.maximum(expected, 1)).sum()) < 24.3  # of 7 degrees of freedom: 1 in 1,000


def equal_columns(p: int) -> GradientCase:
    """Columns that all say the same."""
    cells = np.repeat(np.array([[0], [1]], np.uint8), p, axis=1)
    return GradientCase(bins_with([2] * p), cells, np.array([1, -1], np.float32), NO_HESSIAN, np.zeros(p, bool))


def test_levels_and_nodes_draw_anew():
    case = draw_case(1, 2_000, 12, nominal=False, most_bins=40, ties=False)
    plan = {"order": "level", "max_leaf_nodes": None, "min_samples_leaf": 1, "max_depth": 6}
    by_level = case.grow(features_per_level=0.09, **plan)
    depths, inner = depth_of(by_level), by_level.first_child >= 0
    asked = [set(by_level.column[inner & (depths == depth)].tolist()) for depth in range(6)]
    assert all(len(each) == 2 or len(each) == 1 for each in asked)
    assert len(set.union(*asked)) > 4
    by_node = case.grow(features_per_node=0.09, **plan)
    inner = by_node.first_child >= 0
    assert len(set(by_node.column[inner].tolist())) == 12
    by_tree = {tuple(set(case.grow(features_per_tree=0.09, seed=seed, **plan).column.tolist())) for seed in range(12)}
    assert len(by_tree) > 6


# Bundles.


@given(seed=seeds, n=st.integers(2, 300), order=orders, unit=units, groups=st.integers(1, 4))
@patching
def test_columns_that_share_a_histogram_grow_the_tree_of_columns_that_do_not(monkeypatch, seed, n, order, unit, groups):
    rng = np.random.default_rng(seed)
    case = exclusive_columns(rng, n, groups, unit=unit)
    bundled = case.grower(**plan_of(order))
    assert bundled.table.bundled.any() or n < 12
    assert bundled.width < 256 * case.bins.n_columns or not bundled.table.bundled.any()
    tree = bundled.grow(case.gradient, case.hessian, None, 0)
    with monkeypatch.context() as patch:
        apart_columns(patch)
        apart = case.grower(**plan_of(order))
        assert apart.width == 256 * case.bins.n_columns
        assert not difference(tree, apart.grow(case.gradient, case.hessian, None, 0))
        share_everything(patch)
        assert not difference(tree, case.grow(**plan_of(order), n_threads=3))
    assert np.array_equal(answers(packed_of(case, tree), case.cells), tree.values[leaf_of_rows(tree, n)])


def apart_columns(patch: pytest.MonkeyPatch) -> None:
    from treewright.grow.gradient import layout

    patch.setattr(layout, "_MOST_SHARE", -1.0)


def exclusive_columns(rng: np.random.Generator, n: int, n_groups: int, *, unit: bool) -> GradientCase:
    """Groups of columns of which at most one has another bin than the first; and a few common ones."""
    parts, n_bins = [], []
    for _ in range(n_groups):
        k = int(rng.integers(2, 7))
        sizes = rng.integers(2, 5, k)
        cells = np.zeros((n, k), np.uint8)
        which = rng.integers(-1, k, n)
        for at in range(k):
            mine = which == at
            cells[mine, at] = rng.integers(1, sizes[at], mine.sum())
        parts.append(cells)
        n_bins += sizes.tolist()
    others = rng.integers(0, 9, (n, 2)).astype(np.uint8)
    others[rng.random(others.shape) < 0.1] = MISSING
    cells = np.hstack([*parts, others])
    p = cells.shape[1]
    is_nominal = rng.random(p) < 0.3
    order = rng.permutation(p)
    bins = bins_with(np.array([*n_bins, 9, 9])[order].tolist(), is_nominal.tolist())
    cells = np.ascontiguousarray(cells[:, order])
    gradient = (rng.integers(-512, 513, n) + 100 * cells[:, 0].astype(np.int64) % 700) / 256
    hessian = NO_HESSIAN if unit else (rng.integers(1, 257, n) / 256).astype(np.float32)
    return GradientCase(bins, cells, gradient.astype(np.float32), hessian, is_nominal & (rng.random(p) < 0.5))


# Monotone constraints.


@given(seed=seeds, order=orders, unit=units, l1=st.sampled_from([0.0, 0.8]))
def test_answers_rise_and_fall_with_their_columns(seed, order, unit, l1):
    rng = np.random.default_rng(seed)
    case = draw_case(seed, 250, 4, unit=unit, most_bins=12, ties=False)
    signs = np.where(case.bins.is_nominal, 0, rng.integers(-1, 2, 4))
    tree = case.grow(**plan_of(order, monotone=tuple(signs.tolist()), l1=l1, max_leaf_nodes=32))
    packed = packed_of(case, tree)
    assert (tree.bounds[0] <= tree.bounds[1]).all()
    assert_monotone(lambda cells: answers(packed, cells), case, signs, rng)


def assert_monotone(say: Any, case: GradientCase, signs: np.ndarray, rng: np.random.Generator) -> None:
    """Along each constrained column, for random other cells, answers never move the wrong way."""
    for column in np.flatnonzero(signs):
        m = int(case.bins.n_bins[column])
        others = np.repeat(case.cells[rng.integers(0, len(case.cells), 25)], m, axis=0)
        others[:, column] = np.tile(np.arange(m), 25)
        said = say(others).reshape(25, m)
        assert (signs[column] * np.diff(said, axis=1) >= 0).all()


def test_packed_trees_without_nominal_columns_hold_no_sets_whatever_comes_first():
    from treewright.boosting.growth import KeptTree, packed_trees

    case = draw_case(2, 60, 2, nominal=False, ties=False)
    one_leaf = case.grow(min_samples_leaf=60)
    grown = case.grow(min_samples_leaf=2)
    assert one_leaf.n_nodes == 1 < grown.n_nodes
    kept = [KeptTree(tree, tree.values) for tree in (one_leaf, grown, one_leaf)]
    packed = packed_trees(case.bins, kept)
    assert packed.sets.shape == (0, 4)
    assert not packed_difference(packed, packed_trees(case.bins, kept))
    assert np.array_equal(answers(packed, case.cells, 1), grown.values[leaf_of_rows(grown, 60)])
