"""Tables, weights and targets at their worst: growth on bins neither crashes nor hangs, nor answers silently wrong."""

from __future__ import annotations

import numpy as np
import pytest
from rotating import few

from treewright.data.bin_rows import bin_rows
from treewright.data.bins import bins_of
from treewright.data.schema import Column, Schema
from treewright.exceptions import ParameterError, TooLargeError
from treewright.grow.binned import grower
from treewright.grow.binned import room as plans
from treewright.grow.binned.grower import grow_binned, grow_packed
from treewright.grow.exact.grower import grow
from treewright.grow.objective import classification_objective, regression_objective
from treewright.grow.settings import BinnedSettings
from treewright.trees.check import check_tree
from treewright.trees.data import impurity_importances

CRITERIA = {"gini": 2, "entropy": 3, "squared_error": 0, "poisson": 0}


def schema_of(p: int, n_nominal: int = 0, n_levels: int = 3) -> Schema:
    columns = [Column(f"x{at}", "numeric", missing_seen=True) for at in range(p - n_nominal)]
    levels = tuple(range(n_levels))
    columns += [Column(f"c{at}", "nominal", levels, missing_seen=True) for at in range(n_nominal)]
    return Schema(tuple(columns))


def growth_of(X, y, criterion="gini", weights=None, schema=None, n_classes=None, **plan):
    """A tree and a packed tree of a table and one target."""
    X = np.asarray(X, np.float64)
    schema = schema or schema_of(X.shape[1])
    y = np.asarray(y)[:, None]
    if criterion in ("gini", "entropy", "misclassification", "log_loss"):
        n_classes = n_classes or int(y.max()) + 1
        objective = classification_objective(y.astype(np.int32), (n_classes,), weights, criterion)
    else:
        objective = regression_objective(y.astype(np.float64), weights, criterion)
    settings = BinnedSettings(criterion, **plan)
    bins = bins_of(X, schema)
    codes = bin_rows(bins, X)
    tree = grow_binned(codes, bins, schema, objective, settings)
    check_tree(tree, schema, tree.value.shape[1])
    packed = grow_packed(codes, np.arange(len(X), dtype=np.int32), bins, schema, objective, settings)
    check_tree(packed[0], schema, tree.value.shape[1])
    assert packed[0].n_nodes == tree.n_nodes
    assert np.isfinite(packed.importances).all()
    return tree, packed, grow(X, schema, objective, settings) if not settings.random_cuts else None


@pytest.mark.parametrize("random_cuts", [False, True])
@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("rows", ["one row", "two rows", "constant", "all missing", "one class", "infinite cells"])
def test_tables_with_little_in_them_grow_small_trees(rows, criterion, random_cuts) -> None:
    n = {"one row": 1, "two rows": 2}.get(rows, 40)
    y = np.arange(n) % 3 % max(CRITERIA[criterion], 2)
    X = np.column_stack([np.arange(n), np.arange(n) % 7, np.arange(n) % 3]).astype(float)
    if rows == "constant":
        X[:] = 1.0
    elif rows == "all missing":
        X[:] = np.nan
    elif rows == "one class":
        y = np.ones(n)
    elif rows == "infinite cells":
        X[::3, :2], X[1::3, :2] = np.inf, -np.inf
    classes = CRITERIA[criterion] or None

    tree, _, _ = growth_of(X, y, criterion, None, schema_of(3, 1), classes, random_cuts=random_cuts, seed=3)

    if rows in ("one row", "constant", "all missing", "one class"):
        assert tree.n_nodes == 1
    elif rows == "two rows" and criterion != "poisson":  # there a side without events may not be
        assert tree.n_nodes == 3
    assert not np.isnan(tree.threshold).any()


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 2.0**31, 1e300, 3e307])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_weights_of_any_size_grow_the_tree_of_the_exact_grower(criterion, scale) -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 9, (60, 3)).astype(float)
    y = (X[:, 0] > 3) + (rng.random(60) < 0.3) * (CRITERIA[criterion] != 2)
    weights = (1.0 + np.arange(60) % 3) / 200 * scale

    tree, packed, exact = growth_of(X, y, criterion, weights, schema_of(3, 1, 9))

    for name in ("kind", "feature", "threshold", "weight", "value"):
        np.testing.assert_array_equal(getattr(tree, name), getattr(exact, name), err_msg=name)
    np.testing.assert_allclose(packed.importances[0], impurity_importances(exact, 3), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
def test_rows_are_counted_alike_where_their_number_is_huge(criterion) -> None:
    """Beyond 2**31 rows in all, weights are kept in other units than one."""
    X, y = np.arange(8.0)[:, None], np.arange(8) % 2
    times = np.array([1.0, 2.0, 3.0, 2.0**30, 2.0**30, 2.0**30, 2.0**30, 5.0])

    tree, _, _ = growth_of(X, y, criterion, times, counts_rows=True, min_samples_leaf=6)

    assert tree.weight[tree.is_leaf].min() >= 6
    assert tree.n_leaves > 2
    tree, _, _ = growth_of(X, y, criterion, times, counts_rows=True, min_samples_split=7)
    assert tree.weight[~tree.is_leaf].min() >= 7
    assert tree.n_leaves > 5


@pytest.mark.parametrize("size", [1e-310, 1e-170, 1e155, 1e300, 1.7e308])
@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
def test_targets_of_any_size_give_finite_trees(criterion, size) -> None:
    y = np.array([1.0, 2.0, 3.0, 7.0, 8.0, 9.0]) / 9 * size
    X = np.column_stack([np.arange(6.0), np.arange(6.0) // 2])

    tree, packed, exact = growth_of(X, y, criterion)

    for name in ("kind", "feature", "threshold", "value"):
        np.testing.assert_array_equal(getattr(tree, name), getattr(exact, name), err_msg=name)
    assert packed.importances[0].sum() == pytest.approx(1.0)


def test_a_wide_table_is_summed_up_some_columns_at_a_time(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1500)).round(1)
    y = (X[:, 777] > 0.2).astype(int)
    plain, whole, exact = growth_of(X, y)
    assert plain.feature[0] == exact.feature[0] == 777

    monkeypatch.setattr(plans, "_SLOT_BYTES", 2 * 2048 * 7)
    _, few, _ = growth_of(X, y)

    assert few.records.tobytes() == whole.records.tobytes()
    assert few.importances.tobytes() == whole.importances.tobytes()


def test_scratch_for_many_columns_and_classes_is_bounded() -> None:
    """20,000 columns and 1,000 classes would be 41 GB of histograms."""
    n, p = 10, 20_000
    schema = Schema(tuple(Column(f"x{at}", "numeric") for at in range(p)))
    cells = np.random.default_rng(0).random((n, p))
    bins = bins_of(cells, schema)
    objective = classification_objective(np.arange(n, dtype=np.int32)[:, None] * 100, [1_000], None, "gini")
    room = plans.room_for(plans.plan_of(bin_rows(bins, cells), bins, schema, objective, BinnedSettings("gini")), n)
    assert room.desk.histograms.shape[1] == 256 * 1_000
    assert room.desk.histograms.nbytes <= 2**25


@pytest.mark.parametrize("n_classes", [17, 40])
def test_nodes_of_many_classes_are_searched_alike_by_histogram_and_row_by_row(n_classes) -> None:
    """Small nodes of many classes are searched row by row, large ones by histogram."""
    rng = np.random.default_rng(6)
    X = rng.integers(0, 30, (1500, 2)).astype(float)
    y = (X.sum(axis=1) + rng.integers(0, 3, 1500)).astype(int) % n_classes
    tree, _, exact = growth_of(X, y, "gini", n_classes=n_classes, max_depth=7)
    for name in ("kind", "feature", "threshold", "value"):
        np.testing.assert_array_equal(getattr(tree, name), getattr(exact, name), err_msg=name)


@pytest.mark.slow
def test_a_thousand_classes_of_one_row_each_are_told_apart() -> None:
    X = np.column_stack([np.arange(1200) % 250, np.arange(1200) // 250]).astype(float)
    tree, _, exact = growth_of(X, np.arange(1200), "gini")
    assert tree.n_leaves == exact.n_leaves == 1200
    np.testing.assert_array_equal(tree.threshold, exact.threshold)


@pytest.mark.timeout(60)
def test_a_chain_of_many_thousand_levels_grows_without_recursion() -> None:
    """Labels alternate: each split cuts one row off."""
    n = 6_000
    X = np.full((n, n // 250), 0.0)
    for at in range(n // 250):
        X[:, at] = np.clip(np.arange(n) - 250 * at, 0, 250)
    tree, _, _ = growth_of(X, np.arange(n) % 2, "squared_error")
    depth = np.zeros(tree.n_nodes, np.int64)
    for at in np.flatnonzero(~tree.is_leaf):
        depth[tree.first_child[at] : tree.first_child[at] + 2] = depth[at] + 1
    assert tree.n_nodes == 2 * n - 1
    assert depth.max() == n - 1


def test_more_than_64_groups_of_columns_are_refused() -> None:
    X = np.arange(140.0).reshape(2, 70)
    groups = tuple((at,) for at in range(65))
    with pytest.raises(ParameterError, match="65 groups; at most 64"):
        growth_of(X, [0, 1], interactions=groups)
    tree, _, _ = growth_of(X, [0, 1], interactions=groups[:64])
    assert tree.feature[0] == 0


def test_columns_in_no_group_are_never_asked() -> None:
    X = np.column_stack([np.arange(30.0), np.arange(30.0) // 10])
    tree, _, _ = growth_of(X, np.arange(30) % 2, interactions=((1,),))
    assert set(tree.feature[~tree.is_leaf].tolist()) <= {1}


@pytest.mark.parametrize("random_cuts", [False, True])
def test_more_levels_than_bins_share_one_and_unseen_levels_follow_the_heavier_branch(random_cuts) -> None:
    rng = np.random.default_rng(2)
    codes = np.concatenate([np.arange(300), rng.integers(0, 40, 900)])
    y = codes % 2
    schema = schema_of(1, 1, 310)  # ten levels have no rows
    tree, packed, _ = growth_of(codes[:, None], y, "gini", None, schema, random_cuts=random_cuts, seed=1)
    heavier_left = tree.weight[tree.first_child[0]] > tree.weight[tree.first_child[0] + 1]
    first = tree.level_set[0]
    for level in range(300, 311):
        word, bit = first + level // 64, level % 64
        assert (int(tree.levels_left[word]) >> bit & 1) == heavier_left
        assert int(tree.levels_seen[word]) >> bit & 1 == 0
    assert len(packed) == 1


@pytest.mark.parametrize("plan", few([{}, {"max_features": 3}, {"random_cuts": True}, {"max_leaf_nodes": 5}], 2))
def test_some_columns_and_more_drawn_than_there_are(plan) -> None:
    """Fewer candidates than columns drawn, on rows enough for histograms to be kept for children."""
    rng = np.random.default_rng(4)
    X = rng.integers(0, 50, (5000, 6)).astype(float)
    y = (X[:, 4] + X[:, 1] > 50).astype(int)
    chosen = np.array([1, 4], np.int32)
    tree, _, _ = growth_of(X, y, candidates=chosen, seed=1, **plan)
    assert set(tree.feature[~tree.is_leaf].tolist()) <= {1, 4}
    if not plan.get("random_cuts"):
        alone, _, _ = growth_of(X[:, chosen], y, seed=1, max_leaf_nodes=plan.get("max_leaf_nodes"))
        np.testing.assert_array_equal(tree.threshold, alone.threshold)
        np.testing.assert_array_equal(tree.value, alone.value)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n_nominal", [0, 2])
def test_a_split_that_gains_too_little_leaves_a_leaf(criterion, n_nominal) -> None:
    """What was noted for a split that is then refused is not taken for a row."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 3, (400, 3)).astype(float)
    y = rng.integers(0, max(CRITERIA[criterion], 2), 400)
    for least in (1e-3, 1e-2, 1e9):
        tree, _, exact = growth_of(X, y, criterion, None, schema_of(3, n_nominal), min_impurity_decrease=least)
        np.testing.assert_array_equal(tree.value, exact.value)


def test_too_many_rows_are_refused_before_anything_is_made(monkeypatch) -> None:
    monkeypatch.setattr(grower, "MAX_ROWS", 5)
    with pytest.raises(TooLargeError, match="6 rows"):
        growth_of(np.arange(6.0)[:, None], np.arange(6) % 2)
