"""What must hold of every tree that grows node by node, on tables that Hypothesis makes up."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from by_node_cases import KINDS, LEVELS, assert_alike, fitted, tables, taken
from hypothesis import given
from hypothesis import strategies as st
from rotating import examples
from same_trees import trees_equal

from treewright.trees.arrays import THRESHOLD
from treewright.trees.check_model import check_model


@pytest.mark.parametrize("name", KINDS)
@examples(5)
@given(data=tables(), seed=st.integers(0, 2**32 - 1))
def test_the_order_of_rows_is_irrelevant(name, data, seed):
    table, y, weights = data
    order = np.random.default_rng(seed).permutation(len(y))

    first = fitted(KINDS[name], table, y, weights)
    second = fitted(KINDS[name], taken(table, order), y[order], weights[order])

    check_model(first.model_)
    assert_alike(first.tree_, second.tree_)


@pytest.mark.parametrize("name", KINDS)
@examples(5)
@given(data=tables())
def test_names_of_columns_are_irrelevant(name, data):
    table, y, weights = data
    renamed = {f"a{at}": cells for at, cells in enumerate(table.values())}

    first = fitted(KINDS[name], table, y, weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        second = KINDS[name]().set_params(nominal={"a2": list(LEVELS)}).fit(renamed, y, weights)

    assert trees_equal(first.tree_, second.tree_)


# Not where rows are counted: surrogates need two rows on each side, and a pruned tree's pessimism counts levels
# against rows (C4.5's own limits are weights).
@pytest.mark.parametrize("name", sorted(set(KINDS) - {"surrogates", "C4.5", "pruned C4.5"}))
@examples(5)
@given(data=tables())
def test_a_row_of_weight_two_is_a_row_that_is_there_twice(name, data):
    table, y, weights = data
    twice = np.repeat(np.arange(len(y)), weights.astype(int))

    first = fitted(KINDS[name], table, y, weights).tree_
    second = fitted(KINDS[name], taken(table, twice), y[twice]).tree_

    for array in ("kind", "feature", "threshold", "first_child", "missing_branch", "levels_left", "level_branch"):
        np.testing.assert_array_equal(getattr(first, array), getattr(second, array), err_msg=array)
    np.testing.assert_allclose(first.weight, second.weight, rtol=1e-12)
    np.testing.assert_allclose(first.value, second.value, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["C4.5", "pruned C4.5"])
@examples(5)
@given(data=tables(smallest=10))
def test_c45_takes_weight_two_for_two_rows_as_its_limits_are_weights(name, data):
    """From 10 rows on: with fewer, three levels are 30 % of the rows or not, and rows count there."""
    table, y, weights = data
    if len(y) == 10:
        table, y, weights = taken(table, np.r_[:10, 0]), np.r_[y, y[0]], np.r_[weights, 1.0]
    # A node of one row is not asked, however heavy: two light rows more let it be.
    twice = np.repeat(np.arange(len(y)), weights.astype(int))

    first = fitted(KINDS[name], table, y, weights).tree_
    second = fitted(KINDS[name], taken(table, twice), y[twice]).tree_

    for array in ("kind", "feature", "threshold", "first_child", "missing_branch", "level_branch"):
        np.testing.assert_array_equal(getattr(first, array), getattr(second, array), err_msg=array)
    np.testing.assert_allclose(first.value, second.value, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", sorted(set(KINDS) - {"C4.5", "pruned C4.5"}))
@examples(5)
@given(data=tables(), power=st.integers(-40, 40))
def test_weights_scaled_by_a_power_of_two_change_weights_alone(name, data, power):
    table, y, weights = data
    factor = 2.0**power

    first = fitted(KINDS[name], table, y, weights).tree_
    second = fitted(KINDS[name], table, y, weights * factor).tree_

    for array in ("kind", "feature", "threshold", "first_child", "missing_branch", "level_branch"):
        np.testing.assert_array_equal(getattr(first, array), getattr(second, array), err_msg=array)
    np.testing.assert_array_equal(first.weight * factor, second.weight)
    # Logarithms of weights do not scale, only their differences do.
    np.testing.assert_allclose(first.impurity, second.impurity, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", KINDS)
@examples(5)
@given(data=tables(), power=st.integers(-300, 300))
def test_numbers_scaled_by_a_power_of_two_scale_the_cuts_alone(name, data, power):
    table, y, weights = data
    factor = 2.0**power

    first = fitted(KINDS[name], table, y, weights).tree_
    second = fitted(KINDS[name], table | {"x": table["x"] * factor}, y, weights).tree_

    is_x = (first.kind == THRESHOLD) & (first.feature == 0)
    np.testing.assert_array_equal(np.where(is_x, first.threshold * factor, first.threshold), second.threshold)
    for array in ("kind", "feature", "first_child", "missing_branch", "value", "level_branch"):
        np.testing.assert_array_equal(getattr(first, array), getattr(second, array), err_msg=array)


@pytest.mark.parametrize("name", KINDS)
def test_threads_are_irrelevant(name):
    rng = np.random.default_rng(3)
    n = 300
    table = {
        "x": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n).round(1)),
        "z": rng.integers(0, 9, n).astype(float),
        "colour": [None if pick == 3 else LEVELS[pick] for pick in rng.integers(0, 4, n)],
    }
    y = rng.integers(0, 3, n)
    models = [fitted(lambda n_jobs=n_jobs: KINDS[name]().set_params(n_jobs=n_jobs), table, y) for n_jobs in (1, 2, 3)]

    assert trees_equal(models[0].tree_, models[1].tree_)
    assert trees_equal(models[0].tree_, models[2].tree_)
    for estimator in models[1:]:
        assert estimator.predict(table).tobytes() == models[0].predict(table).tobytes()
        assert estimator.apply(table).tobytes() == models[0].apply(table).tobytes()
