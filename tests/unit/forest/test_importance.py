"""Importances of a forest: what they prefer, what they cost, what is refused, how they are shown."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import treewright as tw
from treewright.estimators import forest as forest_importance
from treewright.exceptions import DataError, ParameterError
from treewright.forest.importance import Importances
from treewright.predict import walks as ways

N = 400
KINDS = ("impurity", "debiased", "permutation")


def noisy_table(seed: int):
    """A coin that decides in four of five rows, and two columns that say nothing."""
    rng = np.random.default_rng(seed)
    coin = rng.integers(0, 2, N)
    table = {"coin": coin * 1.0, "many values": rng.normal(size=N), "two values": rng.integers(0, 2, N) * 1.0}
    return table, np.where(rng.random(N) < 0.8, coin, 1 - coin)


TABLE, LABELS = noisy_table(0)
FOREST = tw.RandomForestClassifier(n_estimators=20, random_state=0).fit(TABLE, LABELS)


def same(first: Importances, second: Importances) -> bool:
    return (
        first.values.tobytes() == second.values.tobytes()
        and first.standard_errors.tobytes() == second.standard_errors.tobytes()
    )


def test_noise_with_many_values_is_preferred_by_impurity_and_is_about_nothing_debiased_and_shuffled():
    found = {kind: [] for kind in KINDS}
    for seed in range(12):
        table, labels = noisy_table(seed)
        forest = tw.RandomForestClassifier(n_estimators=25, random_state=seed).fit(table, labels)
        for kind in KINDS:
            found[kind].append(forest.importances(kind).values)
    means = {kind: np.mean(values, axis=0) for kind, values in found.items()}
    errors = {kind: np.std(values, axis=0, ddof=1) / np.sqrt(12) for kind, values in found.items()}

    assert means["impurity"][1] > means["impurity"][0] > means["impurity"][2]
    for kind in ("debiased", "permutation"):
        assert means[kind][0] > 20 * abs(means[kind][1])
        assert (np.abs(means[kind][1:]) < 4 * errors[kind][1:]).all()


def test_impurity_importances_are_the_attribute():
    assert FOREST.importances().values.tolist() == FOREST.feature_importances_.tolist()
    assert FOREST.importances().values.sum() == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_impurity_importances_have_a_standard_error_whatever_the_trees_are_kept_as(criterion):
    forest = tw.RandomForestRegressor(n_estimators=4, criterion=criterion).fit(TABLE, LABELS * 1.0)
    by_tree = np.array([tree.feature_importances for tree in forest.estimators_])

    np.testing.assert_allclose(forest.importances().values, forest.feature_importances_, rtol=1e-12)
    np.testing.assert_allclose(forest.importances().standard_errors, by_tree.std(axis=0, ddof=1) / 2, rtol=1e-12)


@pytest.mark.parametrize("kind", ["debiased", "permutation"])
def test_threads_change_nothing(kind):
    one, three = (FOREST.set_params(n_jobs=n).importances(kind) for n in (1, 3))

    assert same(one, three)


@pytest.mark.parametrize("kind", ["debiased", "permutation"])
def test_the_table_given_again_is_the_table_that_was_kept(kind):
    again = pickle.loads(pickle.dumps(FOREST))

    assert "_kept_rows" not in again.__dict__
    with pytest.raises(ParameterError, match="pass the same table again"):
        again.importances(kind)
    assert same(again.importances(kind, TABLE, LABELS), FOREST.importances(kind))


def test_large_tables_are_not_kept(monkeypatch):
    monkeypatch.setattr(forest_importance, "KEPT_BYTES", 100)
    forest = tw.RandomForestClassifier(n_estimators=2).fit(TABLE, LABELS)

    with pytest.raises(ParameterError, match="were not kept"):
        forest.importances("permutation")


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_keeps_the_rows_of_the_fit_and_a_pickle_does_not(copied):
    again = copied(FOREST)

    assert same(again.importances("permutation"), FOREST.importances("permutation"))
    assert again.set_params(n_jobs=1).get_params() == FOREST.get_params() | {"n_jobs": 1}
    assert pickle.loads(pickle.dumps(again)).__dict__.get("_kept_rows") is None


@pytest.mark.parametrize("exponent", [-600, -500, 500, 600])
def test_the_unit_of_the_target_changes_the_unit_alone(exponent):
    """Squares that are beyond float64 are told; shares have no unit."""
    y = TABLE["coin"] + np.random.default_rng(2).integers(0, 4, N) / 8
    draws = {"n_estimators": 4, "max_depth": 3, "bootstrap": False}
    plain = tw.RandomForestRegressor(**draws).fit(TABLE, y)
    other = tw.RandomForestRegressor(**draws).fit(TABLE, np.ldexp(y, exponent))
    judging = {"rows": "all", "X": TABLE}

    shares = other.importances("debiased", y=np.ldexp(y, exponent), **judging)
    np.testing.assert_allclose(shares.values, plain.importances("debiased", y=y, **judging).values, rtol=1e-9)
    if abs(exponent) > 511:
        with pytest.raises(DataError, match="divide y by"):
            other.importances("permutation", y=np.ldexp(y, exponent), **judging)
        return
    rises = other.importances("permutation", y=np.ldexp(y, exponent), **judging)
    expected = plain.importances("permutation", y=y, **judging)
    np.testing.assert_allclose(np.ldexp(rises.values, -2 * exponent), expected.values, rtol=1e-9)
    np.testing.assert_allclose(np.ldexp(rises.standard_errors, -2 * exponent), expected.standard_errors, rtol=1e-9)


def test_rows_of_weight_nothing_do_not_judge():
    weights = np.where(np.arange(N) < 300, 1.0, 0.0)
    whole = tw.RandomForestClassifier(n_estimators=5).fit(TABLE, LABELS, weights)
    part = tw.RandomForestClassifier(n_estimators=5).fit(
        {name: cells[:300] for name, cells in TABLE.items()}, LABELS[:300]
    )
    for kind in ("debiased", "permutation"):
        assert same(whole.importances(kind), part.importances(kind))
        assert same(whole.importances(kind, TABLE, LABELS, sample_weight=weights), part.importances(kind))


def test_a_target_far_from_zero_is_judged_as_one_that_is_not():
    y = TABLE["coin"] + np.random.default_rng(2).integers(0, 4, N) / 8
    near, far = (
        tw.RandomForestRegressor(n_estimators=2, bootstrap=False, max_depth=3)
        .fit(TABLE, y + shift)
        .importances("debiased", TABLE, y + shift, rows="all")
        for shift in (0.0, 2.0**20)
    )

    np.testing.assert_allclose(far.values, near.values, rtol=1e-6)


def test_debiased_importances_add_up_to_what_a_tree_explains():
    forest = tw.RandomForestRegressor(n_estimators=1, bootstrap=False).fit(TABLE, LABELS * 1.0)
    found = forest.importances("debiased", TABLE, LABELS * 1.0, rows="all")

    assert found.values.sum() == pytest.approx(forest.score(TABLE, LABELS * 1.0))  # on its own rows
    assert np.isnan(found.standard_errors).all()  # of one tree


def test_columns_that_no_tree_asks_cost_nothing(monkeypatch):
    table = {**TABLE, **{f"constant {at}": np.ones(N) for at in range(50)}}
    forest = tw.RandomForestClassifier(n_estimators=3, max_features=None).fit(table, LABELS)
    walks = []
    walk = ways.leaf_rows_of_bins
    monkeypatch.setattr(ways, "leaf_rows_of_bins", lambda *given: walks.append(given) or walk(*given))
    values = forest.importances("permutation").values

    assert len(walks) == 3 * (1 + 3)
    assert not values[3:].any()


def test_a_tree_of_twenty_thousand_levels_is_judged():
    from treewright.forest.importance import add_up_gains
    from treewright.trees.arrays import CHILD_SHIFT, THRESHOLD_RECORD

    n = 40_001
    records = np.zeros(n, np.int64)
    inner = np.r_[0, np.arange(1, n - 2, 2)]
    records[inner] = THRESHOLD_RECORD | ((np.arange(len(inner)) * 2 + 1) << CHILD_SHIFT)
    inside, outside, weight = np.zeros((n, 1)), np.zeros((n, 1)), np.zeros(n)
    leaves = np.setdiff1d(np.arange(n), inner)
    weight[leaves], inside[leaves, 0], outside[leaves, 0] = 1.0, np.arange(len(leaves)) % 2, 1.0
    gains = np.zeros(1)
    add_up_gains(records, 0, np.empty(0, np.int32), inside, weight, outside, gains)

    held = (outside[leaves, 0] * inside[leaves, 0] / weight[leaves]).sum()
    assert gains[0] == pytest.approx(held - outside[0, 0] * inside[0, 0] / weight[0], abs=1e-6)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "gain"}, "'impurity', 'debiased', 'permutation'"),
        ({"kind": "permutation", "rows": "oob"}, "'out_of_bag', 'all'"),
        ({"kind": "permutation", "X": TABLE}, "X and y together"),
        ({"kind": "permutation", "rows": "all"}, "needs rows"),
        ({"kind": "permutation", "random_state": -1}, "random_state=-1"),
        ({"kind": "impurity", "X": TABLE, "y": LABELS}, "leave X and y out"),
        ({"kind": "permutation", "X": TABLE, "y": 1 - LABELS}, "this one is different"),
        ({"kind": "permutation", "X": TABLE, "y": np.array(["n", "p"])[LABELS]}, "labels are different"),
        ({"kind": TABLE, "X": LABELS}, "kind must be one of"),
        ({"kind": LABELS, "X": LABELS}, "kind must be one of .* not a ndarray"),
        ({"kind": "permutation", "rows": LABELS}, "rows must be one of"),
        ({"kind": "debiased", "sample_weight": np.ones(N)}, "X and y together"),
    ],
)
def test_what_makes_no_sense_is_refused(given, message):
    with pytest.raises(ParameterError, match=message):
        FOREST.importances(**given)


def test_fewer_rows_than_at_the_fit_are_refused():
    with pytest.raises(ParameterError, match="this one is different"):
        FOREST.importances("permutation", {name: cells[1:] for name, cells in TABLE.items()}, LABELS[1:])


def test_trees_that_saw_every_row_need_other_rows():
    forest = tw.ExtraTreesClassifier(n_estimators=2).fit(TABLE, LABELS)

    with pytest.raises(ParameterError, match="rows='all'"):
        forest.importances("permutation")
    assert forest.importances("permutation", TABLE, LABELS, rows="all").n_trees == 2


def test_debiased_importances_of_medians_are_refused():
    forest = tw.RandomForestRegressor(n_estimators=2, criterion="absolute_error").fit(TABLE, LABELS * 1.0)

    with pytest.raises(ParameterError, match="kind='permutation'"):
        forest.importances("debiased")


def test_trees_that_drew_every_row_are_told():
    forest = tw.RandomForestClassifier(n_estimators=2).fit([[1.0]], [0])

    with pytest.raises(DataError, match="every tree sampled all rows"):
        forest.importances("permutation")


def test_a_constant_target_has_no_importances():
    forest = tw.RandomForestRegressor(n_estimators=3).fit(TABLE, np.ones(N))

    for kind in KINDS:
        assert not forest.importances(kind).values.any()


def test_the_table_stands_in_the_order_of_the_values():
    found = Importances(
        "debiased", "regression", ("a", "b\nc"), np.array([-0.00001, 0.5]), np.array([np.nan, 0.125]), 3
    )

    assert str(found).splitlines()[2:] == [
        "column  importance   s.e.",
        "b\\nc         0.500  0.125",
        "a            0.000  -",
    ]
    columns = found.to_dict()
    assert (columns["column"], columns["importance"]) == (["a", "b\nc"], [-0.00001, 0.5])
    assert columns["standard_error"] == pytest.approx([np.nan, 0.125], nan_ok=True)
    with pytest.raises(ValueError, match="read-only"):
        found.values[0] = 1.0


def test_many_columns_are_cut_and_counted():
    found = Importances("impurity", "regression", tuple(range(99)), np.zeros(99), np.zeros(99), 1)

    assert str(found).splitlines()[-1] == "59 more: to_dict() has every column"


def test_the_picture_shows_the_most_important_columns_first():
    figure = FOREST.importances("permutation").plot(most=2)

    assert next(iter(figure.axes[0].get_yticklabels())).get_text() == "coin"
    assert len(figure.axes[0].patches) == 2
    with pytest.raises(ParameterError, match="most=0"):
        FOREST.importances().plot(most=0)
