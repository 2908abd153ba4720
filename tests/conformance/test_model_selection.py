"""The same scores as scikit-learn on the same folds, for our estimators and its own."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.model_selection import cross_validate as sklearn_cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import treewright as tw
from treewright.model_selection import cross_validate, leave_one_out

IRIS, DIABETES = load_iris(return_X_y=True), load_diabetes(return_X_y=True)
CLASSIFIERS = [
    tw.DecisionTreeClassifier(max_depth=3), tw.C45Classifier(), tw.CHAIDClassifier(),
    DecisionTreeClassifier(random_state=0), GaussianNB(), RandomForestClassifier(n_estimators=3, random_state=0),
]  # fmt: skip
REGRESSORS = [tw.DecisionTreeRegressor(max_depth=3), DecisionTreeRegressor(random_state=0), LinearRegression()]


def kind(estimator):
    return f"{type(estimator).__module__.split('.')[0]}-{type(estimator).__name__}"


@pytest.mark.parametrize("est", CLASSIFIERS, ids=kind)
def test_accuracy_is_that_of_cross_val_score(est):
    cv = StratifiedKFold(5, shuffle=True, random_state=0)

    scores = cross_validate(est, *IRIS, cv=5, scoring=["accuracy", "neg_log_loss"])

    wanted = sklearn_cross_validate(est, *IRIS, cv=cv, scoring=["accuracy", "neg_log_loss"], return_train_score=True)
    for name in ("accuracy", "neg_log_loss"):
        np.testing.assert_allclose(scores.test[name], wanted[f"test_{name}"], rtol=1e-13)
        np.testing.assert_allclose(scores.train[name], wanted[f"train_{name}"], rtol=1e-13)
    assert scores.predictions.tolist() == cross_val_predict(est, *IRIS, cv=cv).tolist()


@pytest.mark.parametrize("est", REGRESSORS, ids=kind)
def test_r2_is_that_of_cross_val_score(est):
    scores = cross_validate(est, *DIABETES, cv=5, random_state=4)

    wanted = cross_val_score(est, *DIABETES, cv=KFold(5, shuffle=True, random_state=4))
    np.testing.assert_allclose(scores.test["r2"], wanted, rtol=1e-13)


def test_text_labels_and_groups_give_the_same_scores():
    X, y = IRIS
    names, groups = np.array(["one", "two", "three"])[y], np.arange(150) % 7

    scores = cross_validate(tw.DecisionTreeClassifier(), X, names, cv=GroupKFold(3), groups=groups)

    wanted = cross_val_score(tw.DecisionTreeClassifier(), X, names, cv=GroupKFold(3), groups=groups)
    assert scores.test["accuracy"].tolist() == wanted.tolist()


def test_leave_one_out_is_that_of_scikit_learn():
    X, y = DIABETES[0][::8], DIABETES[1][::8]

    scores = leave_one_out(tw.DecisionTreeRegressor(max_depth=2), X, y)

    wanted = cross_val_predict(tw.DecisionTreeRegressor(max_depth=2), X, y, cv=len(y))
    assert scores.predictions.tolist() == wanted.tolist()


def test_a_search_of_scikit_learn_can_be_judged_as_any_estimator():
    search = GridSearchCV(tw.DecisionTreeClassifier(), {"max_depth": [1, 3]}, cv=2)

    scores = cross_validate(search, *IRIS, cv=3)

    wanted = cross_val_score(search, *IRIS, cv=StratifiedKFold(3, shuffle=True, random_state=0))
    assert scores.test["accuracy"].tolist() == wanted.tolist()
