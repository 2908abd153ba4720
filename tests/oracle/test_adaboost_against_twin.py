"""AdaBoost beside its slow twin, beside trees fitted alone, and beside scikit-learn."""

from __future__ import annotations

import naive_adaboost
import numpy as np
import pytest
from sklearn import ensemble
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge

import treewright as tw
from treewright import AdaBoostClassifier, AdaBoostRegressor

rng = np.random.default_rng(0)
X = rng.normal(size=(150, 4)).round(2)
LABELS = np.array(["low", "mid", "top"])[np.digitize(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=150), [-0.3, 0.4])]
NUMBERS = np.exp(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=150)
WEIGHTS = rng.integers(1, 4, 150).astype(float)
NEW = rng.normal(size=(80, 4))
CLASSIFIERS = [None, tw.DecisionTreeClassifier(max_depth=2, splitter="hist"), tw.C45Classifier(max_depth=2),
               LogisticRegression()]  # fmt: skip
REGRESSORS = [None, tw.DecisionTreeRegressor(max_depth=2, criterion="absolute_error"), Ridge()]


@pytest.mark.parametrize("base", CLASSIFIERS, ids=["stumps", "bins", "c45", "logistic"])
@pytest.mark.parametrize("own", [None, WEIGHTS, WEIGHTS / 3.7], ids=["alike", "whole", "broken"])
def test_errors_and_weights_are_those_of_samme(base, own):
    est = AdaBoostClassifier(base, n_estimators=8, learning_rate=0.8, keep_row_weights=True).fit(X, LABELS, own)
    said = [member.predict(X).tolist() for member in est]
    seen, errors, alphas = naive_adaboost.samme(said, LABELS, np.ones(150) if own is None else own, 3, 0.8)

    assert len(est) > 1
    np.testing.assert_allclose(est.estimator_errors_, errors, rtol=1e-10)
    np.testing.assert_allclose(est.estimator_weights_, alphas, rtol=1e-10)
    np.testing.assert_allclose(est.row_weights_[: len(est)], seen, rtol=1e-10, atol=1e-14)
    assert est.predict(NEW).tolist() == naive_adaboost.vote(
        [member.predict(NEW).tolist() for member in est], alphas, ["low", "mid", "top"]
    )


@pytest.mark.parametrize("base", REGRESSORS, ids=["trees", "medians", "ridge"])
@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_errors_and_weights_are_those_of_r2(base, loss):
    est = AdaBoostRegressor(base, n_estimators=8, loss=loss, keep_row_weights=True).fit(X, NUMBERS, WEIGHTS)
    said = [member.predict(X).tolist() for member in est]
    seen, errors, alphas = naive_adaboost.r2(said, NUMBERS.tolist(), WEIGHTS, loss)

    assert len(est) > 1
    np.testing.assert_allclose(est.estimator_errors_, errors, rtol=1e-10)
    np.testing.assert_allclose(est.estimator_weights_, alphas, rtol=1e-9)
    np.testing.assert_allclose(est.row_weights_[: len(est)], seen, rtol=1e-9, atol=1e-14)
    assert est.predict(NEW).tolist() == naive_adaboost.median([m.predict(NEW).tolist() for m in est], alphas)


@pytest.mark.parametrize(
    "base",
    [
        tw.DecisionTreeClassifier(max_depth=1),
        tw.DecisionTreeClassifier(max_depth=3, class_weight={"low": 1.0, "mid": 0.5, "top": 3.0}),
        tw.DecisionTreeClassifier(max_depth=2, splitter="hist"),
        tw.DecisionTreeClassifier(max_depth=2, max_p_value=0.5),
        tw.C45Classifier(max_depth=3),
        tw.CHAIDClassifier(max_depth=2),
        tw.ID3Classifier(max_depth=2, nominal="all"),
    ],
    ids=["stump", "classes", "bins", "p value", "c45", "chaid", "id3"],
)
def test_each_tree_is_the_one_that_its_row_weights_alone_give(base):
    table = X.round() if isinstance(base, tw.ID3Classifier) else X
    est = AdaBoostClassifier(base, n_estimators=5, keep_row_weights=True).fit(table, LABELS)

    for member, shares in zip(est, est.row_weights_, strict=False):
        alone = base.fit(table, LABELS, shares * len(X))
        assert np.array_equal(alone.tree_.feature, member.tree_.feature)
        assert np.array_equal(alone.tree_.threshold, member.tree_.threshold)
        np.testing.assert_allclose(alone.tree_.weight, member.tree_.weight, rtol=1e-5)
        np.testing.assert_allclose(alone.tree_.value, member.tree_.value, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(alone.tree_.impurity, member.tree_.impurity, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("own", [None, WEIGHTS], ids=["alike", "weighed"])
@pytest.mark.parametrize(
    "base",
    [
        tw.DecisionTreeClassifier(max_depth=1),
        tw.C45Classifier(max_depth=2),
        tw.RandomForestClassifier(n_estimators=3, max_depth=1),
    ],
    ids=["stump", "c45", "forest"],
)
def test_balanced_classes_are_those_of_the_rows_before_the_first_round(base, own):
    labels = np.where(LABELS == "low", "low", np.where(X[:, 3] > 1, "rare", "mid"))
    totals = {label: np.sum((labels == label) * (1 if own is None else own)) for label in np.unique(labels).tolist()}
    factors = {label: sum(totals.values()) / (3 * total) for label, total in totals.items()}
    balanced, stated = (
        AdaBoostClassifier(clone(base).set_params(class_weight=given), n_estimators=6).fit(X, labels, own)
        for given in ("balanced", factors)
    )

    assert len(balanced) == len(stated) > 2
    assert balanced.estimator_errors_.tolist() == stated.estimator_errors_.tolist()
    assert balanced.predict(NEW).tolist() == stated.predict(NEW).tolist()


@pytest.mark.parametrize(
    "kind",
    [AdaBoostClassifier, lambda base, **options: tw.BaggingClassifier(base, voting="hard", **options)],
    ids=["adaboost", "bagging"],
)
def test_rows_with_missing_cells_are_voted_for_as_the_members_say(kind):
    gaps = np.random.default_rng(1)
    known, new = (np.where(gaps.random(table.shape) < 0.3, np.nan, table) for table in (X, NEW))
    est = kind(tw.C45Classifier(max_depth=3), n_estimators=10).fit(known, LABELS)
    weights = getattr(est, "estimator_weights_", np.ones(10))
    votes = sum(w * (member.predict(new)[:, None] == est.classes_) for w, member in zip(weights, est, strict=True))

    np.testing.assert_allclose(est.predict_proba(new), votes / weights.sum(), atol=1e-12)
    assert est.predict(new).tolist() == est.classes_[votes.argmax(axis=1)].tolist()
    assert [est.model_.predict_one(row) for row in new.tolist()] == est.predict(new).tolist()
    if kind is AdaBoostClassifier:
        first = next(est.staged_predict(known))
        assert first.tolist() == est[0].predict(known).tolist()
        assert est.estimator_errors_[0] == pytest.approx(np.mean(first != LABELS))


def test_a_regression_tree_is_the_one_that_its_row_weights_alone_give():
    est = AdaBoostRegressor(n_estimators=5, keep_row_weights=True).fit(X, NUMBERS)

    for member, shares in zip(est, est.row_weights_, strict=False):
        alone = tw.DecisionTreeRegressor(max_depth=3).fit(X, NUMBERS, shares)
        assert np.array_equal(alone.tree_.threshold, member.tree_.threshold)
        np.testing.assert_allclose(alone.tree_.value, member.tree_.value, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(alone.tree_.weight * len(X), member.tree_.weight, rtol=1e-5)


@pytest.mark.parametrize("labels", [LABELS, X[:, 0] + X[:, 1] > 0.3], ids=["three", "two"])
def test_stumps_vote_as_those_of_scikit_learn(labels):
    ours = AdaBoostClassifier(n_estimators=30).fit(X, labels)
    theirs = ensemble.AdaBoostClassifier(n_estimators=30).fit(X, labels)

    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-9)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-9)
    assert ours.predict(NEW).tolist() == theirs.predict(NEW).tolist()
    factor = 2 if ours.n_classes_ == 2 else 1  # theirs are from -2 to 2 where there are two classes
    np.testing.assert_allclose(factor * ours.decision_function(NEW), theirs.decision_function(NEW), atol=1e-9)
    for one, other in zip(ours.staged_predict(NEW), theirs.staged_predict(NEW), strict=True):
        assert one.tolist() == other.tolist()


def test_without_chance_the_median_is_that_of_scikit_learn_on_the_same_members():
    ours = AdaBoostRegressor(n_estimators=12).fit(X, NUMBERS)
    theirs = ensemble.AdaBoostRegressor(n_estimators=12)
    theirs.estimators_, theirs.estimator_weights_ = ours.estimators_, ours.estimator_weights_
    theirs.n_features_in_ = 4

    assert ours.predict(NEW).tolist() == theirs.predict(NEW).tolist()
    for one, other in zip(ours.staged_predict(NEW), theirs.staged_predict(NEW), strict=True):
        assert one.tolist() == other.tolist()
