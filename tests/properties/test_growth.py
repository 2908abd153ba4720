"""What must hold of every grown tree, on tables that Hypothesis makes up."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.data.schema import Column, Schema
from treewright.grow.exact import grower, presort
from treewright.grow.exact.grower import grow
from treewright.grow.objective import classification_objective, regression_objective
from treewright.grow.settings import GrowSettings
from treewright.trees.arrays import LEAF, SUBSET, Tree
from treewright.trees.check import check_tree
from treewright.trees.class_criteria import CLASSIFICATION_CRITERIA

CRITERIA = ("gini", "entropy", "misclassification", "squared_error", "absolute_error", "poisson")


def numeric(p: int) -> Schema:
    return Schema(tuple(Column(f"x{at}", "numeric") for at in range(p)), named=False)


def grow_on(X, y, criterion="squared_error", weights=None, schema=None, **limits) -> Tree:
    """A tree on a table and one target; class codes for the criteria of classification."""
    X = np.asarray(X, np.float64)
    y = np.asarray(y)
    if criterion in CLASSIFICATION_CRITERIA:
        objective = classification_objective(y[:, None].astype(np.int32), [int(y.max()) + 1], weights, criterion)
    else:
        objective = regression_objective(y[:, None].astype(np.float64), weights, criterion)
    return grow(X, schema or numeric(X.shape[1]), objective, GrowSettings(criterion, **limits))


def leaves_of(tree: Tree, X) -> np.ndarray:
    """The leaf of each row, by a walk that is plain to see."""
    result = np.zeros(len(X), int)
    for row, cells in enumerate(np.asarray(X, np.float64)):
        at = 0
        while tree.kind[at] != LEAF:
            cell = cells[tree.feature[at]]
            if np.isnan(cell):
                branch = tree.missing_branch[at]
            elif tree.kind[at] == SUBSET:
                word = int(tree.levels_left[tree.level_set[at] + int(cell) // 64])
                branch = 1 - (word >> int(cell) % 64 & 1)
            else:
                branch = int(cell > tree.threshold[at])
            at = tree.first_child[at] + branch
        result[row] = at
    return result


def same_parts(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two labellings of the rows part them alike."""
    return len(set(zip(first.tolist(), second.tolist(), strict=True))) == len(set(first)) == len(set(second))


def assert_same_tree(first: Tree, second: Tree, *names: str) -> None:
    """Equal to the last bit, in the arrays named or in all."""
    for name in names or tuple(vars(Tree)["__dataclass_fields__"]):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)


SHAPE = ("kind", "feature", "first_child", "missing_branch", "n_samples", "levels_left", "levels_seen")


@st.composite
def tables(draw, missing=True, smallest=2):
    """Two numeric columns of few values (some missing) and a target of small whole numbers."""
    n = draw(st.integers(smallest, 24))
    cell = st.integers(-3, 3).map(float)
    if missing:
        cell = st.one_of(cell, cell, cell, st.just(np.nan))
    X = np.array(draw(st.lists(st.tuples(cell, cell), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    return X, y


criteria = st.sampled_from(CRITERIA)


@given(tables(), criteria, st.randoms(use_true_random=False))
def test_the_order_of_rows_is_irrelevant(table, criterion, random) -> None:
    X, y = table
    order = list(range(len(y)))
    random.shuffle(order)

    first, second = grow_on(X, y, criterion), grow_on(X[order], y[order], criterion)

    assert_same_tree(first, second, *SHAPE, "threshold", "value", "weight")
    # The impurity of a node is a sum of floats over its rows.
    np.testing.assert_allclose(first.impurity, second.impurity, rtol=1e-13, atol=1e-15)


@given(tables(), criteria, st.data())
def test_a_row_of_weight_two_counts_as_two_rows(table, criterion, data) -> None:
    X, y = table
    times = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(y), max_size=len(y))))
    rows = np.repeat(np.arange(len(y)), times)

    weighted = grow_on(X, y, criterion, times.astype(np.float64), min_weight_fraction_leaf=0.1)
    repeated = grow_on(X[rows], y[rows], criterion, min_weight_fraction_leaf=0.1)

    same = [name for name in SHAPE if name != "n_samples"]
    assert_same_tree(weighted, repeated, *same, "threshold", "weight")
    np.testing.assert_allclose(weighted.value, repeated.value, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(weighted.impurity, repeated.impurity, rtol=1e-12, atol=1e-14)


@given(tables(), criteria, st.sampled_from([2.0**-900, 2.0**-40, 2.0**7, 2.0**900, 1e-300, 1e-12, 1e12, 1e300]))
def test_the_scale_of_the_weights_does_not_change_the_structure(table, criterion, scale) -> None:
    X, y = table
    weights = 1.0 + np.arange(len(y)) % 3

    plain = grow_on(X, y, criterion, weights)
    scaled = grow_on(X, y, criterion, weights * scale)

    assert_same_tree(plain, scaled, *SHAPE, "threshold")
    np.testing.assert_allclose(scaled.weight, plain.weight * scale, rtol=1e-12)


@given(tables(), criteria, st.integers(-1000, 1000))
def test_columns_times_a_power_of_two_scale_the_thresholds(table, criterion, exponent) -> None:
    X, y = table

    plain = grow_on(X, y, criterion)
    scaled = grow_on(np.ldexp(X, exponent), y, criterion)

    assert_same_tree(plain, scaled, *SHAPE, "value", "impurity")
    np.testing.assert_array_equal(scaled.threshold, np.ldexp(plain.threshold, exponent))


@given(
    tables(), criteria, st.sampled_from([np.cbrt, np.arctan, np.exp, lambda x: x**3 + 1e6, lambda x: np.sinh(100 * x)])
)
def test_rising_maps_of_a_column_keep_the_training_partition(table, criterion, rising) -> None:
    X, y = table
    mapped = np.column_stack([rising(X[:, 0]), X[:, 1]])

    plain, other = grow_on(X, y, criterion), grow_on(mapped, y, criterion)

    assert_same_tree(plain, other, *SHAPE)
    assert same_parts(leaves_of(plain, X), leaves_of(other, mapped))


@given(
    tables(), st.sampled_from(["squared_error", "absolute_error"]), st.integers(-60, 60), st.integers(-(10**6), 10**6)
)
def test_shifting_and_scaling_a_regression_target_moves_only_the_values(table, criterion, exponent, shift) -> None:
    X, y = table

    plain = grow_on(X, y, criterion)
    moved = grow_on(X, np.ldexp(y + float(shift), exponent), criterion)

    assert_same_tree(plain, moved, *SHAPE, "threshold")
    np.testing.assert_allclose(moved.value, np.ldexp(plain.value + shift, exponent), rtol=1e-12)


@given(tables(), criteria)
def test_left_and_right_add_up_to_their_parent(table, criterion) -> None:
    X, y = table
    weights = 0.25 + np.arange(len(y)) % 4

    tree = grow_on(X, y, criterion, weights)

    inner = np.flatnonzero(tree.kind != LEAF)
    left = tree.first_child[inner]
    np.testing.assert_array_equal(tree.n_samples[left] + tree.n_samples[left + 1], tree.n_samples[inner])
    np.testing.assert_array_equal(tree.weight[left] + tree.weight[left + 1], tree.weight[inner])
    if criterion in CLASSIFICATION_CRITERIA:
        np.testing.assert_array_equal(tree.value[left] + tree.value[left + 1], tree.value[inner])
    elif criterion == "squared_error":
        sums = tree.value[:, 0] * tree.weight
        np.testing.assert_allclose(sums[left] + sums[left + 1], sums[inner], rtol=1e-12, atol=1e-12)


@given(tables(), criteria)
def test_training_rows_walk_to_the_leaf_that_counted_them(table, criterion) -> None:
    X, y = table

    tree = grow_on(X, y, criterion)

    counts = np.bincount(leaves_of(tree, X), minlength=tree.n_nodes)
    np.testing.assert_array_equal(counts[tree.is_leaf], tree.n_samples[tree.is_leaf])
    check_tree(tree, numeric(2), tree.value.shape[1])


@given(
    tables(), st.sampled_from(["gini", "entropy", "squared_error", "absolute_error"]), st.sampled_from([-100.0, 100.0])
)
def test_missing_values_gain_at_least_as_much_as_any_constant_outside_the_range(table, criterion, constant) -> None:
    X, y = table
    filled = np.where(np.isnan(X), constant, X)

    def decrease(matrix: np.ndarray) -> float:
        tree = grow_on(matrix, y, criterion, max_depth=1)
        return (
            float(tree.impurity[0] - tree.impurity[1:] @ tree.weight[1:] / tree.weight[0]) if tree.n_nodes > 1 else 0.0
        )

    assert decrease(X) >= decrease(filled) - 1e-12


@given(tables(smallest=4), criteria, st.sampled_from([2, 3, 7]), st.booleans())
def test_the_number_of_threads_does_not_change_the_tree(table, criterion, n_threads, drawn) -> None:
    X, y = table
    wide = np.column_stack([X, X[::-1], X * 2, np.nan_to_num(X)])
    limits = {"max_features": 3, "seed": 5} if drawn else {}
    serial = grow_on(wide, y, criterion, **limits)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grower, "_INLINE_CELLS", 0)
        patch.setattr(presort, "_INLINE_CELLS", 0)
        threaded = grow_on(wide, y, criterion, n_threads=n_threads, **limits)

    assert_same_tree(serial, threaded)


@given(tables(), criteria)
def test_best_first_with_leaves_to_spare_parts_the_rows_as_level_order_does(table, criterion) -> None:
    X, y = table

    by_level, best_first = grow_on(X, y, criterion), grow_on(X, y, criterion, max_leaf_nodes=1000)

    assert by_level.n_nodes == best_first.n_nodes
    assert same_parts(leaves_of(by_level, X), leaves_of(best_first, X))


@given(tables(), criteria)
def test_trees_of_more_leaves_are_refinements_of_trees_of_fewer(table, criterion) -> None:
    X, y = table

    partitions = [leaves_of(grow_on(X, y, criterion, max_leaf_nodes=k), X) for k in (2, 3, 5)]

    for coarse, fine in pairwise(partitions):
        assert len(set(zip(coarse, fine, strict=True))) == len(set(fine))


@given(tables(missing=False), criteria, st.tuples(st.integers(-1, 1), st.integers(-1, 1)))
def test_predictions_only_rise_or_fall_with_a_monotone_column(table, criterion, directions) -> None:
    X, y = table
    y = np.minimum(y, 1) if criterion in CLASSIFICATION_CRITERIA else y
    y[:2] = [0, 1]

    tree = grow_on(X, y, criterion, monotone=directions)

    share = tree.value[:, -1] / tree.weight if criterion in CLASSIFICATION_CRITERIA else tree.value[:, 0]
    grid = np.array([[a, b] for a in np.arange(-4.0, 5.0) for b in np.arange(-4.0, 5.0)])
    surface = share[leaves_of(tree, grid)].reshape(9, 9)
    for axis, direction in enumerate(directions):
        assert (np.diff(surface, axis=axis) * direction >= 0).all()


@given(tables(), st.integers(0, 2**64 - 1))
def test_drawn_columns_depend_on_the_seed_alone(table, seed) -> None:
    X, y = table
    wide = np.column_stack([X, X[::-1]])

    first = grow_on(wide, y, "gini", max_features=2, seed=seed)

    assert_same_tree(first, grow_on(wide, y, "gini", max_features=2, seed=seed))


def test_another_seed_draws_other_columns() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 8)), rng.integers(0, 2, 60)

    features = {tuple(grow_on(X, y, "gini", max_features=1, seed=seed).feature[:3]) for seed in range(20)}

    assert len(features) > 10


@given(st.integers(0, 2**32), st.integers(1, 3))
def test_the_draw_goes_on_until_a_column_splits_the_node(seed, max_features) -> None:
    """A constant column drawn alone must not stop growth."""
    X = np.zeros((8, 4))
    X[:, 2] = np.arange(8)
    y = np.arange(8) % 2

    tree = grow_on(X, y, "gini", max_features=max_features, seed=seed)

    assert tree.n_leaves == 8
    assert set(tree.feature[tree.kind != LEAF]) == {2}


extreme = st.sampled_from(
    [
        -np.inf,
        -1.7e308,
        -1.0,
        -5e-324,
        -0.0,
        0.0,
        5e-324,
        1.0,
        np.nextafter(1.0, 2.0),
        1.7e308,
        1.79e308,
        np.inf,
        np.nan,
    ]
)


@given(st.lists(st.tuples(extreme, st.integers(0, 1)), min_size=1, max_size=12))
def test_cells_at_the_ends_of_float64_are_parted_wherever_they_differ(rows) -> None:
    X = np.array([[cell] for cell, _ in rows])
    y = np.array([label for _, label in rows])

    tree = grow_on(X, y, "gini")

    leaf = leaves_of(tree, X)
    counts = np.bincount(leaf, minlength=tree.n_nodes)
    np.testing.assert_array_equal(counts[tree.is_leaf], tree.n_samples[tree.is_leaf])
    keys = ["nan" if np.isnan(cell) else float(cell) + 0.0 for cell in X[:, 0]]
    for key, at in zip(keys, leaf, strict=True):
        others = {k for k, a in zip(keys, leaf, strict=True) if a == at}
        # An impure leaf holds a single distinct value: there was nothing left to ask.
        assert tree.impurity[at] == 0.0 or others == {key}


@given(
    st.lists(st.floats(-1.0, 1.0, allow_subnormal=False), min_size=2, max_size=10),
    st.sampled_from([1e-310, 1e-170, 1.0, 1e9, 1e155, 1.7e308]),
    st.sampled_from(["squared_error", "absolute_error"]),
)
def test_targets_of_any_size_give_finite_trees_within_their_range(shares, size, criterion) -> None:
    y = np.array(shares) * size
    X = np.arange(len(y), dtype=np.float64)[:, None]

    tree = grow_on(X, y, criterion)

    check_tree(tree, numeric(1), 1)
    assert tree.value.min() >= y.min()
    assert tree.value.max() <= y.max()
    # Targets closer than the resolution of the centred target may count as equal.
    np.testing.assert_allclose(tree.value[leaves_of(tree, X), 0], y, rtol=0, atol=2.0**-50 * np.abs(y).max())


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_small_noise_on_a_large_target_is_found(criterion) -> None:
    y = 1e9 + 1e-3 * np.array([1.0, 2.0, 3.0, 7.0, 8.0, 9.0])

    tree = grow_on(np.arange(6.0)[:, None], y, criterion, max_depth=1)

    assert tree.threshold[0] == 2.5
    np.testing.assert_allclose(tree.value[:, 0], [1e9 + 0.005, 1e9 + 0.002, 1e9 + 0.008], rtol=0, atol=2e-7)


@pytest.mark.parametrize("size", [1e-310, 1e-170, 1.0, 1e300])
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_an_impure_leaf_predicts_its_mean_or_median_whatever_the_size_of_the_target(size, criterion) -> None:
    y = np.array([1.0, 2.0, 3.0, 7.0, 8.0, 9.0]) * size

    tree = grow_on(np.arange(6.0)[:, None], y, criterion, max_depth=1, min_impurity_decrease=0.0)

    np.testing.assert_allclose(tree.value[1:, 0], [2 * size, 8 * size], rtol=1e-12)


@pytest.mark.parametrize("size", [1e-310, 1e-300, 1e-12, 1e300])
def test_rows_of_tiny_or_huge_weights_keep_their_mean(size) -> None:
    weights = np.array([1.0, 1.0, 2.0, 1.0, 1.0, 3.0]) * size

    tree = grow_on(np.arange(6.0)[:, None], [1, 2, 3, 7, 8, 9], "squared_error", weights, max_depth=1)

    np.testing.assert_allclose(tree.value[1:, 0], [2.25, 8.4], rtol=1e-12)
    np.testing.assert_allclose(tree.weight, [9 * size, 4 * size, 5 * size], rtol=1e-12)


def test_one_overwhelming_weight_leaves_the_other_leaf_its_own_mean() -> None:
    weights = np.array([1.7e308, 1.0, 1.0, 1e-300, 1e-300, 1e-300])

    tree = grow_on(np.arange(6.0)[:, None], [1, 1, 1, 8, 8, 8], "squared_error", weights, max_depth=1)

    np.testing.assert_array_equal(tree.value[1:, 0], [1.0, 8.0])


def test_a_constant_target_is_predicted_exactly() -> None:
    tree = grow_on(np.arange(5.0)[:, None], np.full(5, 0.1), "squared_error", np.array([0.3, 1.7, 2.2, 0.1, 5.0]))

    assert tree.n_nodes == 1
    assert tree.value[0, 0] == 0.1


def test_a_chain_of_fifteen_hundred_levels_grows() -> None:
    """Every cut loses nothing and gains nothing, and the lowest threshold wins: one row leaves at a time."""
    n = 1500  # deeper than Python recurses
    y = np.arange(n) % 2
    X = np.arange(n, dtype=np.float64)[:, None]

    tree = grow_on(X, y, "misclassification")

    assert tree.n_leaves == n
    assert tree.max_depth == n - 1
    np.testing.assert_array_equal(tree.value[leaves_of(tree, X), y], 1.0)


def test_exclusive_or_is_learned_through_a_split_without_gain() -> None:
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])

    tree = grow_on(X, [0, 1, 1, 0], "gini")

    assert tree.n_leaves == 4
    assert tree.impurity[0] == tree.impurity[1] == 0.5


def test_a_table_without_any_difference_is_one_leaf() -> None:
    tree = grow_on(np.column_stack([np.ones(4), np.full(4, np.nan)]), [0, 1, 0, 1], "gini")

    assert tree.n_nodes == 1
    np.testing.assert_array_equal(tree.value, [[2.0, 2.0]])


def test_a_single_class_has_a_single_count() -> None:
    for criterion in ("gini", "entropy"):
        tree = grow_on([[0.0], [1.0]], [0, 0], criterion)

        np.testing.assert_array_equal(tree.value, [[2.0]])


def test_present_against_missing_is_a_split() -> None:
    tree = grow_on([[0.0], [0.0], [0.0], [np.nan], [np.nan]], [0, 0, 0, 1, 1], "gini")

    assert tree.n_nodes == 3
    assert tree.threshold[0] == np.inf
    assert tree.missing_branch[0] == 1
