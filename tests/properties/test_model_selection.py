"""Laws of judging and choosing, on small tables of every sort."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import treewright as tw
from treewright.evaluation.folds import check_tested_once, splits_of
from treewright.evaluation.scores import corrected_t, holm
from treewright.model_selection import compare, cross_validate, error_curve, leave_one_out

# A fold may lack a level, or the only missing cells: the estimators say so.
pytestmark = pytest.mark.filterwarnings("ignore::treewright.exceptions.DataWarning")


@st.composite
def tables(draw):
    """Numbers with ties and missing cells, a column of names, two classes, weights."""
    n = draw(st.integers(12, 24))
    seed = draw(st.integers(0, 2**16))
    random = np.random.default_rng(seed)
    number = random.integers(0, 6, n).astype(float)
    number[random.random(n) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    names = random.choice(list("abcd"), n)
    y = np.where((names == "a") ^ (random.random(n) < 0.2), "yes", "no")
    y[:4] = ["yes", "no", "yes", "no"]
    return {"number": number, "name": names}, y, random.integers(1, 4, n).astype(float), random


@given(tables(), st.integers(2, 5))
def test_every_row_is_tested_once(table, n_folds):
    _, y, _, _ = table

    check_tested_once(splits_of(n_folds, np.arange(len(y)), is_classification=False), len(y))


@given(tables())
def test_the_order_of_the_rows_changes_nothing_when_the_folds_go_with_them(table):
    X, y, weights, random = table
    cv = np.arange(len(y)) % 3
    order = random.permutation(len(y))

    scores = cross_validate(tw.DecisionTreeClassifier(max_depth=3), X, y, cv=cv, sample_weight=weights)
    mixed = cross_validate(
        tw.DecisionTreeClassifier(max_depth=3), {name: column[order] for name, column in X.items()}, y[order],
        cv=cv[order], sample_weight=weights[order],
    )  # fmt: skip

    np.testing.assert_allclose(mixed.test["accuracy"], scores.test["accuracy"], rtol=1e-12)
    assert mixed.predictions.tolist() == scores.predictions[order].tolist()


@given(tables())
def test_the_names_of_the_folds_change_nothing_but_their_order(table):
    X, y, _, _ = table
    cv = np.arange(len(y)) % 3

    scores = cross_validate(tw.ID3Classifier(), {"name": X["name"]}, y, cv=cv)
    renamed = cross_validate(tw.ID3Classifier(), {"name": X["name"]}, y, cv=2 - cv)

    assert renamed.test["accuracy"].tolist() == scores.test["accuracy"][::-1].tolist()
    assert renamed.predictions.tolist() == scores.predictions.tolist()


@given(tables())
def test_leave_one_out_is_cross_validation_with_a_fold_for_each_row(table):
    X, y, _, _ = table
    est = tw.DecisionTreeClassifier(min_samples_leaf=2)

    left = leave_one_out(est, X, y, n_jobs=3)

    folds = cross_validate(est, X, y, cv=np.arange(len(y)), n_jobs=1)
    assert left.predictions.tolist() == folds.predictions.tolist()
    assert left.mean == folds.mean


@given(
    tables(),
    st.sampled_from(["direction", "surrogate", "fractional", "branch"]),
    st.sampled_from(["subset", "multiway", "one_vs_rest"]),
    st.sampled_from([{}, {"max_p_value": 0.5}, {"criterion": "entropy", "min_samples_leaf": 3}]),
)
def test_a_tree_cut_off_at_a_depth_is_the_tree_grown_to_it(table, missing, nominal_splits, options):
    assume(missing != "surrogate" or nominal_splits != "multiway")  # surrogates need two branches
    X, y, weights, _ = table
    est = tw.DecisionTreeClassifier(missing=missing, nominal_splits=nominal_splits, **options)
    half = len(y) // 2
    cv = [(np.arange(half), np.arange(half, len(y))), (np.arange(half, len(y)), np.arange(half))]

    curve = error_curve(est, X, y, values=[1, 2, 3, 4], cv=cv, loss="log_loss", sample_weight=weights)

    each = [
        error_curve(est.__class__(**{**est.get_params(), "max_depth": depth}), X, y, over="unseen", values=["missing"],
                    cv=cv, loss="log_loss", sample_weight=weights)
        for depth in (1, 2, 3, 4)
    ]  # fmt: skip
    np.testing.assert_allclose(curve.test_by_fold, np.hstack([one.test_by_fold for one in each]), rtol=1e-12)
    np.testing.assert_allclose(curve.train_by_fold, np.hstack([one.train_by_fold for one in each]), rtol=1e-12)


@given(tables())
def test_an_estimator_does_not_differ_from_itself(table):
    X, y, _, _ = table
    cv = np.arange(len(y)) % 4

    found = compare({"one": tw.DecisionTreeClassifier(), "two": tw.DecisionTreeClassifier()}, X, y, cv=cv)

    assert found["two"].difference == 0.0
    assert found["two"].p_value == found["two"].p_adjusted == 1.0


@given(st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=20), st.floats(0.01, 2))
def test_turning_the_difference_round_turns_the_statistic_and_keeps_p(differences, share):
    d = np.array(differences)

    (t, p), (turned, same) = corrected_t(d, share), corrected_t(-d, share)

    np.testing.assert_array_equal((turned, same), (-t, p))
    assert 0.0 <= p <= 1.0 or (math.isnan(p) and np.ptp(d) <= 1e-12 and d.any())


@given(st.lists(st.floats(0, 1), max_size=8))
def test_adjusted_p_values_are_no_smaller_and_keep_their_order(p_values):
    adjusted = holm(p_values)

    assert all(p <= after <= 1.0 for p, after in zip(p_values, adjusted, strict=True))
    order = np.argsort(p_values, kind="stable")
    assert (np.diff(np.array(adjusted)[order]) >= 0).all()
