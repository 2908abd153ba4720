"""Quantile forests: what they answer, that nothing but the rows decides it, what files of them may hold."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from file_damage import edited

import treewright as tw
from treewright.data import memory
from treewright.exceptions import ModelFileError, ParameterError, TooLargeError
from treewright.forest import quantiles
from treewright.model import Model
from treewright.trees.check_model import check_model
from treewright.trees.codec import dumps, loads
from treewright.trees.data import WHOLE, LeafTargets

WANTED = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0]


def noisy(n, seed):
    """One column moves the target, another its spread."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 3))
    return X, 10 * X[:, 0] + (0.2 + 3 * X[:, 1]) * rng.normal(size=n)


@pytest.fixture(scope="module", name="table")
def _table():
    return noisy(400, 0)


@pytest.fixture(scope="module", name="forest")
def _forest(table):
    return tw.RandomForestRegressor(n_estimators=40, min_samples_leaf=5, quantiles=True).fit(*table)


def test_the_quantiles_of_a_single_leaf_are_those_of_all_targets():
    y = np.random.default_rng(1).choice([1.0, 2.0, 2.5, 7.0], 30)
    forest = tw.ExtraTreesRegressor(n_estimators=3, min_samples_leaf=30, quantiles=True).fit(
        np.arange(30.0)[:, None], y
    )

    expected = np.quantile(y, WANTED, method="inverted_cdf")

    assert forest.predict_quantile([[4.0]], WANTED)[0].tolist() == expected.tolist()


@pytest.mark.parametrize("n", [3, 5, 6, 7, 10, 49])
def test_a_share_of_rows_that_has_no_exact_float_is_reached_all_the_same(n):
    y = np.arange(1.0, n + 1)
    forest = tw.ExtraTreesRegressor(n_estimators=7, min_samples_leaf=n, quantiles=True).fit(y[:, None], y)

    found = forest.predict_quantile([[1.0]], [k / n for k in range(1, n + 1)])[0]

    assert found.tolist() == y.tolist()


def test_leaves_are_weighed_as_leaves_not_as_rows():
    # One tree has the row alone in its leaf, the other among three: shares 1/2 + 1/6, and twice 1/6.
    shares = [WHOLE, WHOLE // 3, 2 * WHOLE // 3, WHOLE]
    starts = np.array([0, 1, 4])
    leaves, found = np.array([[0, 1]]), np.empty((1, 4), np.int32)
    needs = np.array([quantiles.units_needed(wanted, 2) for wanted in (0.1, 1 / 6, 0.5, 0.9)])
    ranks = np.array([1, 0, 1, 2], np.int32)

    quantiles.quantile_ranks(
        leaves, starts, ranks, np.array(shares, np.int32), needs, np.empty((4, 2), np.int64), found
    )

    assert found.tolist() == [[0, 0, 1, 2]]


def test_quantiles_rise_and_are_targets_of_the_fit(forest, table):
    found = forest.predict_quantile(noisy(200, 1)[0], WANTED)

    assert (np.diff(found, axis=1) >= 0).all()
    assert np.isin(found, table[1]).all()


def test_an_interval_is_two_quantiles(forest):
    X = noisy(50, 1)[0]

    assert np.array_equal(forest.predict_interval(X, 0.5), forest.predict_quantile(X, [0.25, 0.75]))
    assert np.array_equal(forest.predict_quantile(X, 0.5)[:, 0], forest.predict_quantile(X)[:, 1])


def test_intervals_hold_new_targets_as_often_as_they_say_and_are_wide_where_noise_is():
    forest = tw.RandomForestRegressor(n_estimators=100, min_samples_leaf=20, quantiles=True).fit(*noisy(2000, 0))
    X, y = noisy(4000, 1)

    low, high = forest.predict_interval(X, 0.9).T

    # The standard error of a share of 4,000 rows is 0.005; the forest's own error is some multiple of it.
    assert 0.87 < ((low <= y) & (y <= high)).mean() < 0.94
    noise = X[:, 1]
    assert (high - low)[noise > 0.8].mean() > 2 * (high - low)[noise < 0.2].mean()


def test_the_order_of_the_rows_does_not_count(forest, table):
    order = np.random.default_rng(2).permutation(len(table[1]))
    other = tw.RandomForestRegressor(**forest.get_params()).fit(table[0][order], table[1][order])

    one, two = forest.model_.leaf_targets, other.model_.leaf_targets
    assert all(np.array_equal(getattr(one, name), getattr(two, name)) for name in ("values", "ranks", "reached"))


@pytest.mark.parametrize("bootstrap", [True, False])
def test_a_row_of_weight_k_is_k_rows(table, bootstrap):
    X, y = table[0][:80], table[1][:80]
    weights = np.random.default_rng(3).integers(1, 4, 80)
    make = tw.RandomForestRegressor(n_estimators=10, quantiles=True, bootstrap=bootstrap, min_samples_leaf=4)

    one = make.fit(X, y, sample_weight=weights).predict_quantile(X, WANTED)
    two = make.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).predict_quantile(X, WANTED)

    assert np.array_equal(one, two)


def test_neither_threads_nor_blocks_change_a_bit(table, forest, monkeypatch):
    X = noisy(700, 1)[0]
    expected = forest.predict_quantile(X, WANTED)
    for n_jobs in (1, 3):
        fitted = tw.RandomForestRegressor(**forest.get_params() | {"n_jobs": n_jobs}).fit(*table)
        assert np.array_equal(fitted.predict_quantile(X, WANTED), expected)
    monkeypatch.setattr(quantiles, "_BLOCK_CELLS", 130)
    assert np.array_equal(forest.predict_quantile(X, WANTED), expected)
    assert np.array_equal(
        np.concatenate([forest.predict_quantile(X[at : at + 1], WANTED) for at in range(9)]), expected[:9]
    )


def test_trees_that_are_added_leave_what_one_fit_leaves(table):
    whole = tw.RandomForestRegressor(n_estimators=12, quantiles=True).fit(*table)
    parts = tw.RandomForestRegressor(n_estimators=5, quantiles=True, warm_start=True).fit(*table)
    parts.set_params(n_estimators=12).fit(*table)

    assert np.array_equal(parts.model_.leaf_targets.reached, whole.model_.leaf_targets.reached)
    assert np.array_equal(parts.predict_interval(table[0]), whole.predict_interval(table[0]))


def test_quantiles_come_back_from_files_and_pickles(forest):
    X = noisy(60, 1)[0]
    expected = forest.predict_quantile(X, WANTED)
    data = dumps(forest.model_)

    for model in (Model.of(loads(data)), pickle.loads(pickle.dumps(forest)).model_):
        assert dumps(model) == data
        assert np.array_equal(model.predict_quantile(X, WANTED), expected)
        assert np.array_equal(model.predict_interval(X), forest.predict_interval(X))


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_a_forest_that_keeps_no_targets_has_the_same_trees_and_a_smaller_file(table, criterion):
    make = tw.RandomForestRegressor(n_estimators=3, criterion=criterion, max_depth=4)
    plain, keeping = (make.set_params(quantiles=keeps).fit(*table).model_ for keeps in (False, True))

    assert plain.leaf_targets is None
    assert dumps(replace(keeping, leaf_targets=None, facts=plain.facts)) == dumps(plain)
    assert len(dumps(keeping)) > len(dumps(plain)) + keeping.leaf_targets.nbytes
    assert Model.of(loads(dumps(keeping))).predict_quantile(table[0]).shape == (400, 3)


def test_a_tree_of_the_forest_keeps_no_targets(forest):
    with pytest.raises(ParameterError, match="quantiles=True"):
        forest.estimators_[0].predict_quantile([[0.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    "wrong",
    [-0.1, 1.01, np.nan, [], [[0.5]], "half", [0.5, None], 10**400, True, [True, 0.5], "0.5", np.array(["0.5"]), 0.5j],
)
def test_quantiles_out_of_range_are_refused(forest, wrong):
    with pytest.raises(ParameterError, match="numbers from 0 to 1"):
        forest.predict_quantile([[0.0, 0.0, 0.0]], wrong)


@pytest.mark.parametrize("wrong", [0, 1, -0.5, np.nan, "0.9", True, None, [0.9], 10**400, np.array(True), 0.9j])
def test_levels_out_of_range_are_refused(forest, wrong):
    with pytest.raises(ParameterError, match="between 0 and 1"):
        forest.predict_interval([[0.0, 0.0, 0.0]], wrong)


def test_numbers_of_any_type_are_quantiles_and_levels(forest):
    row = [[0.0, 0.0, 0.0]]
    for half in (np.float32(0.5), np.array(0.5), Fraction(1, 2), [np.float16(0.5)], pd.Series([0.5])):
        assert forest.predict_quantile(row, half).tolist() == forest.predict_quantile(row, 0.5).tolist()
    for half in (np.float32(0.5), np.array(0.5), Fraction(1, 2)):
        assert forest.predict_interval(row, half).tolist() == forest.predict_interval(row, 0.5).tolist()


def test_forests_without_targets_say_what_to_do(table):
    plain = tw.RandomForestRegressor(n_estimators=2).fit(*table)
    classes = tw.RandomForestClassifier(n_estimators=2).fit(table[0], table[1] > 5)

    with pytest.raises(ParameterError, match="quantiles=True"):
        plain.predict_interval(table[0])
    with pytest.raises(ParameterError, match="quantiles=True"):
        plain.model_.predict_quantile(table[0])
    assert not hasattr(classes, "predict_quantile")
    with pytest.raises(AttributeError, match="predict_proba"):
        classes.model_.predict_quantile(table[0])


def test_targets_that_do_not_fit_in_memory_are_refused_and_leave_the_old_fit(table, monkeypatch):
    forest = tw.RandomForestRegressor(n_estimators=3, quantiles=True).fit(*table)
    model = forest.model_
    monkeypatch.setattr(memory, "ALWAYS_ALLOWED", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 3 * 400 * 16 - 1)
    codes = np.zeros((400, 8), np.uint8)

    with pytest.raises(TooLargeError, match="the targets in the leaves of 3 trees"):
        quantiles.leaf_targets_of(model.trees, codes, table[0], table[1][:, None], None, None)
    assert forest.model_ is model


def test_no_rows_have_no_quantiles(forest):
    assert forest.predict_quantile(np.empty((0, 3))).shape == (0, 3)


# What files may hold.


def small():
    """Two outputs, three trees of a few leaves."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 6, (24, 2)) * 1.0
    make = tw.RandomForestRegressor(n_estimators=3, min_samples_leaf=5, quantiles=True)
    return make.fit(rng.random((24, 2)), y).model_


def wrongs(targets):
    """One invariant broken at a time."""
    last = int(np.flatnonzero(targets.reached[:-1] != WHOLE)[0])  # followed by an entry of the same leaf

    def cell(name, at, to):
        changed = getattr(targets, name).copy()
        changed[at] = to
        return replace(targets, **{name: changed})

    yield "axis", replace(targets, values=targets.values.astype(np.float32))
    yield "axis", replace(targets, ranks=targets.ranks.reshape(1, -1))
    yield "whole leaf", cell("reached", -1, 5)
    yield "whole leaf", replace(targets, ranks=targets.ranks[:-1].copy())
    yield "whole leaf", replace(targets, ranks=targets.ranks[:0].copy(), reached=targets.reached[:0].copy())
    yield "finite", cell("values", 0, np.nan)
    yield "-0.0", cell("values", 0, -0.0)
    yield "its rank", cell("ranks", 0, -1)
    yield "its rank", cell("ranks", 0, len(targets.values))
    yield "its share", cell("reached", last, -1)
    yield "its share", cell("reached", last, WHOLE + 1)
    yield "not above it", cell("ranks", last + 1, targets.ranks[last])
    yield "leaves, expected", cell("reached", last, WHOLE)
    yield "in no leaf", replace(targets, values=np.append(targets.values, 99.0))
    yield "ascend", cell("values", slice(0, 2), targets.values[1::-1])


def test_every_broken_invariant_is_named():
    model = small()
    check_model(model)
    n_seen = 0
    for message, targets in wrongs(model.leaf_targets):
        n_seen += 1
        with pytest.raises(ModelFileError, match=message):
            check_model(replace(model, leaf_targets=targets))
    assert n_seen == 15


def test_shares_that_fall_within_a_leaf_are_refused():
    model = small()
    starts = model.leaf_targets.starts()
    at = int(starts[np.flatnonzero(np.diff(starts) >= 3)[0]])
    reached = model.leaf_targets.reached.copy()
    reached[at] = reached[at + 1] + 1

    with pytest.raises(ModelFileError, match="below its own"):
        check_model(replace(model, leaf_targets=replace(model.leaf_targets, reached=reached)))


def test_checks_do_not_depend_on_where_a_block_of_entries_ends(monkeypatch):
    model = small()
    for block in (1, 2, 3, 7):
        monkeypatch.setattr("treewright.trees.data._BLOCK", block)
        check_model(model)
        for message, targets in wrongs(model.leaf_targets):
            with pytest.raises(ModelFileError, match=message):
                check_model(replace(model, leaf_targets=targets))


def test_an_outputs_values_are_its_own():
    model = small()
    targets = model.leaf_targets
    half = int(targets.starts()[(len(targets.starts()) - 1) // 2])
    turned = [np.concatenate((array[half:], array[:half])) for array in (targets.ranks, targets.reached)]

    with pytest.raises(ModelFileError, match="not its own"):
        check_model(replace(model, leaf_targets=LeafTargets(targets.values, *turned)))


def test_targets_belong_to_forests_for_numbers(table):
    model = small()
    classes = tw.RandomForestClassifier(n_estimators=2).fit(table[0], table[1] > 5).model_

    with pytest.raises(ModelFileError, match="only a regression forest"):
        check_model(replace(classes, leaf_targets=model.leaf_targets))


def test_damaged_files_are_refused_or_answer():
    data = dumps(small())
    rng = np.random.default_rng(6)
    n_loaded = 0
    for _ in range(400):
        try:
            model = Model.of(loads(edited(data, rng)))
        except ModelFileError:
            continue
        n_loaded += 1
        if model.leaf_targets is not None:
            assert np.isfinite(model.predict_quantile([[0.5, 0.5], [0.0, 1.0]], WANTED)).all()
    assert 0 < n_loaded < 400
