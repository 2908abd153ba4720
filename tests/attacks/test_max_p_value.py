"""Hostile values of ``max_p_value`` and hostile tables under it: one clear error, or the right tree."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import treewright as tw
from treewright.exceptions import DataWarning, ParameterError

KINDS = [tw.DecisionTreeClassifier, tw.DecisionTreeRegressor, tw.ID3Classifier, tw.C45Classifier]
LEVELS = {"t": list("aabb") * 10}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "value", [0, 0.0, -0.1, 1.0000001, 5, math.nan, math.inf, True, False, np.True_, "0.05", [0.05], 1j]
)
def test_what_is_no_chance_is_refused_by_name(kind, value):
    with pytest.raises(ParameterError, match="max_p_value"):
        kind(max_p_value=value).fit(LEVELS, [0, 0, 1, 1] * 10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [1, 1.0, 5e-324, np.float32(0.05), np.float64(1.0)])
def test_the_ends_of_the_range_are_chances(kind, value, tmp_path):
    options = {"confidence": None} if kind is tw.C45Classifier else {}
    tree = kind(max_p_value=value, **options).fit(LEVELS, [0, 0, 1, 1] * 10)
    tree.save(tmp_path / "model.tw")

    assert tw.load(tmp_path / "model.tw").facts["parameters"]["max_p_value"] == float(value)
    # p is about 1e-10 by chi-squared; means without any spread differ beyond all chance.
    assert tree.get_n_leaves() == (1 if value < 1e-300 and kind is not tw.DecisionTreeRegressor else 2)


@pytest.mark.parametrize("criterion", ["absolute_error", "poisson", lambda table: table[:, 2]])
def test_criteria_without_an_f_test_are_refused_with_the_remedy(criterion):
    tree = tw.DecisionTreeRegressor(criterion=criterion, max_p_value=0.05)

    with pytest.raises(ParameterError, match=r"max_p_value compares means .* criterion='squared_error', or leave"):
        tree.fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 4.0])


def test_a_function_of_ones_own_is_judged_by_chi_squared():
    X = np.arange(40.0)[:, None]
    y = (X[:, 0] > 20).astype(int)
    gini = lambda counts: 1 - ((counts / counts.sum(axis=1, keepdims=True)) ** 2).sum(axis=1)  # noqa: E731

    own = tw.DecisionTreeClassifier(criterion=gini, max_p_value=1e-6).fit(X, y)
    listed = tw.DecisionTreeClassifier(max_p_value=1e-6).fit(X, y)

    assert own.get_n_leaves() == listed.get_n_leaves() == 2


def test_monotone_columns_are_refused_with_the_remedy():
    tree = tw.DecisionTreeClassifier(monotonic_cst=[1], max_p_value=0.05)

    with pytest.raises(ParameterError, match=r"monotonic_cst needs .* no max_p_value: leave one of them out"):
        tree.fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not tw.DecisionTreeRegressor])
def test_weights_meant_as_shares_are_warned_of(kind):
    with pytest.warns(DataWarning, match="treats weights as row counts"):
        tree = kind(max_p_value=0.05).fit(LEVELS, [0, 0, 1, 1] * 10, np.full(40, 1 / 40))

    assert tree.get_n_leaves() == 1


def test_a_common_weight_of_numbers_changes_nothing():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    y[X[:, 0] > 0.5] += 2.0
    plain = tw.DecisionTreeRegressor(max_p_value=0.05).fit(X, y)
    assert 1 < plain.get_n_leaves() < 20
    for scale in (1e-290, 1e-3, 3.0, 1e9, 1e100, 1e290):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            scaled = tw.DecisionTreeRegressor(max_p_value=0.05).fit(X, y, np.full(60, scale))

        assert scaled.tree_.threshold.tolist() == plain.tree_.threshold.tolist()


def test_the_weights_of_a_whole_population_are_only_very_significant():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    for scale in (1e9, 1e13, 1e100, 1e200, 1e290):
        small = tw.DecisionTreeClassifier(max_p_value=1e-9, max_depth=3).fit(X, y > 0, np.full(60, scale))

        assert small.get_n_leaves() > 3


@pytest.mark.parametrize("scale", [1e-160, 1e-30, 1e30, 1e150, 1e300])
def test_the_unit_of_the_target_does_not_matter(scale):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 2))
    y = np.where(X[:, 0] > 0, 2.0, 0.0) + rng.normal(size=80)
    plain = tw.DecisionTreeRegressor(max_p_value=0.05).fit(X, y)
    scaled = tw.DecisionTreeRegressor(max_p_value=0.05).fit(X, y * scale)

    assert 1 < plain.get_n_leaves() < 20
    assert scaled.tree_.threshold.tolist() == plain.tree_.threshold.tolist()


def test_a_target_far_from_zero_is_judged_by_its_spread():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 2))
    y = np.where(X[:, 0] > 0, 2.0, 0.0)
    y += np.round(rng.normal(size=80), 3)
    near = tw.DecisionTreeRegressor(max_p_value=0.05).fit(X, y)
    far = tw.DecisionTreeRegressor(max_p_value=0.05).fit(X, y + 2.0**33)

    assert near.get_n_leaves() > 1
    assert far.tree_.threshold.tolist() == near.tree_.threshold.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_one_row_one_class_and_constant_columns_are_a_single_node(kind):
    for table, y in (({"t": ["a"]}, [0]), (LEVELS, [1] * 40)):
        assert kind(max_p_value=0.5).fit(table, y).get_n_leaves() == 1
    with pytest.warns(DataWarning, match="constant"):
        assert kind(max_p_value=0.5).fit({"t": ["a"] * 10}, [0, 1] * 5).get_n_leaves() == 1


def test_thousands_of_levels_under_the_limit_are_only_never_significant():
    y = np.random.default_rng(6).integers(0, 2, 3000)

    tree = tw.DecisionTreeClassifier(max_p_value=0.05, nominal=["t"]).fit({"t": [f"row {at}" for at in range(3000)]}, y)

    assert tree.get_n_leaves() == 1


def test_drawn_columns_are_counted_and_the_draw_repeats():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(200, 20))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    trees = [
        tw.DecisionTreeClassifier(max_p_value=0.01, max_features=5, random_state=1).fit(X, y).tree_ for _ in range(2)
    ]

    assert trees[0].n_nodes == trees[1].n_nodes > 1
    assert trees[0].threshold.tobytes() == trees[1].threshold.tobytes()


def test_thousands_of_levels_of_depth_are_grown_and_stop():
    n = 3000
    X, y = np.arange(float(n))[:, None], np.arange(n) % 2

    assert tw.DecisionTreeClassifier(max_p_value=1.0).fit(X, y).get_n_leaves() == n
    assert tw.DecisionTreeClassifier(max_p_value=0.05).fit(X, y).get_n_leaves() == 1
