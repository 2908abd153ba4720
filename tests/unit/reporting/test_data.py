"""Claims about the rows that judge: whether they are those of the fit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

import treewright as tw
from treewright.reporting.data import report_data

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
CLASSES = np.where(X[:, 0] > 0, "up", "down")
NUMBERS = X[:, 0] + RNG.normal(size=60)


def seen(est, table, target, weights=None):
    return report_data(est.model_, est, table, target, weights).seen


@pytest.mark.parametrize(
    ("est", "target"),
    [
        (tw.DecisionTreeClassifier(), CLASSES),
        (tw.DecisionTreeClassifier(min_samples_leaf=60), CLASSES),
        (tw.DecisionTreeClassifier(class_weight="balanced"), CLASSES),
        (tw.DecisionTreeRegressor(), NUMBERS),
        (tw.DecisionTreeRegressor(max_depth=1), 1e300 * NUMBERS),
        (tw.DecisionTreeRegressor(max_depth=2, criterion="absolute_error"), NUMBERS),
        (tw.C45Classifier(), CLASSES),
        (tw.CHAIDClassifier(), CLASSES),
    ],
)
def test_the_rows_of_the_fit_are_known_again_in_any_order(est, target):
    order = RNG.permutation(60)
    est.fit(X, target)

    assert seen(est, X[order], target[order]) is True


def test_rows_of_the_fit_are_known_again_whatever_they_weigh_now():
    est = tw.DecisionTreeClassifier(max_depth=2).fit(X, CLASSES, sample_weight=np.linspace(1, 2, 60))

    assert seen(est, X, CLASSES) is True
    assert seen(est, X, CLASSES, np.linspace(1, 3, 60)) is True


@pytest.mark.parametrize("more", [{"subsample": 0.5}, {"early_stopping": True}])
def test_rows_of_whole_weights_are_not_taken_for_fewer_rows_than_were_sampled(more):
    est = tw.GradientBoostingClassifier(5, **more).fit(X, CLASSES, sample_weight=np.full(60, 3.0))

    assert est.model_.facts["n_samples"] == 60
    assert seen(est, X, CLASSES) is not False


@pytest.mark.parametrize("leaf", [60, 20])
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_other_rows_that_fill_the_leaves_alike_are_not_taken_for_those_of_the_fit(leaf, kind):
    of_classes = kind == "classes"
    est = (tw.DecisionTreeClassifier if of_classes else tw.DecisionTreeRegressor)(min_samples_leaf=leaf)
    target = CLASSES if of_classes else NUMBERS
    est.fit(X, target)
    other = target.copy()
    other[0] = ("up" if other[0] == "down" else "down") if of_classes else other[0] + 1

    assert seen(est, X, target) is True
    assert seen(est, X, other) is False


def test_boosted_trees_tell_other_rows_where_the_first_tree_had_all():
    other = RNG.normal(size=(60, 2))
    whole = tw.GradientBoostingRegressor(n_estimators=2, min_samples_leaf=5).fit(X, NUMBERS)
    drawn = tw.GradientBoostingRegressor(n_estimators=2, min_samples_leaf=5, subsample=0.5).fit(X, NUMBERS)

    assert seen(whole, X, NUMBERS) is True
    assert seen(whole, other, NUMBERS) is False
    assert seen(drawn, X, NUMBERS) is None


def test_of_a_forest_only_another_number_of_rows_tells():
    forest = tw.RandomForestClassifier(n_estimators=3).fit(X, CLASSES)

    assert seen(forest, X, CLASSES) is None
    assert seen(forest, X[:40], CLASSES[:40]) is False


@pytest.mark.parametrize(
    "estimator",
    [
        tw.DecisionTreeClassifier(min_samples_leaf=3),
        tw.RandomForestClassifier(n_estimators=3, random_state=0),
        tw.GradientBoostingClassifier(n_estimators=3),
        tw.KNeighborsClassifier(),
    ],
)
def test_rows_that_may_hold_those_of_the_fit_are_told_apart(estimator):
    X, y = load_iris(return_X_y=True)
    train = np.arange(len(X)) % 4 != 0
    estimator.fit(X[train], y[train])
    notes = estimator.report(X, y).summary.notes

    assert any("may be among the test rows" in note for note in notes), notes
    assert not estimator.report(X[~train], y[~train]).summary.notes


def test_more_rows_of_another_kind_are_other_rows():
    X, y = load_iris(return_X_y=True)
    estimator = tw.DecisionTreeClassifier(min_samples_leaf=3).fit(X[:110:2], y[:110:2])

    assert not estimator.report(X[50:], y[50:]).summary.notes
