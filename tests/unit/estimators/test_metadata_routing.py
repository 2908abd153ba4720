"""Metadata goes where it was asked for, as scikit-learn's routing says, also through ensembles to members."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import treewright as tw

X, Y = load_iris(return_X_y=True)


class Listener(ClassifierMixin, BaseEstimator):
    """A classifier that keeps what its methods get."""

    def fit(self, X, y, sample_weight=None, groups=None, note=None):
        self.classes_, self.heard_ = np.unique(y), (X, groups, note)
        return self

    def predict_proba(self, X, note=None):
        self.asked_ = note
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def listener():
    return Listener().set_fit_request(groups=True, note=True, sample_weight=True).set_predict_proba_request(note=True)


@pytest.mark.parametrize("kind", [tw.DecisionTreeClassifier, tw.RandomForestClassifier, tw.GradientBoostingClassifier])
def test_weights_are_routed_to_an_estimator_that_asks_for_them(kind):
    weights = (Y != 2).astype(float)
    few = {} if kind is tw.DecisionTreeClassifier else {"n_estimators": 2}
    with config_context(enable_metadata_routing=True):
        chain = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False), kind(**few).set_fit_request(sample_weight=True)
        )
        fitted = chain.fit(X, Y, sample_weight=weights)

    assert 2 not in fitted.predict(X)


def test_bagging_takes_metadata_apart_as_it_does_rows():
    rows = np.arange(150)
    with config_context(enable_metadata_routing=True):
        bag = tw.BaggingClassifier(listener(), n_estimators=3).fit(X, Y, groups=rows, note="as it is")
        bag.predict(X[:4], note="at predict")

    for member, drawn in zip(bag.estimators_, bag.estimators_samples_, strict=True):
        heard, groups, note = member.heard_
        assert (heard == X[groups]).all()
        assert (np.sort(groups) == drawn).all()
        assert (note, member.asked_) == ("as it is", "at predict")


@pytest.mark.parametrize("bootstrap", [False, True])
def test_adaboost_passes_metadata_on_to_its_members(bootstrap):
    with config_context(enable_metadata_routing=True):
        boosted = tw.AdaBoostClassifier(listener(), n_estimators=2, bootstrap=bootstrap)
        fitted = boosted.fit(X, np.arange(150) < 20, groups=np.arange(150), note="kept")

    heard, groups, note = fitted.estimators_[0].heard_
    assert (heard == X[groups]).all()
    assert note == "kept"


def test_an_ensemble_asks_for_weights_itself():
    weights = (Y != 2).astype(float)
    with config_context(enable_metadata_routing=True):
        bag = tw.BaggingClassifier(n_estimators=3).set_fit_request(sample_weight=True)
        bag.set_score_request(sample_weight=False)
        found = cross_validate(bag, X, Y, params={"sample_weight": weights}, return_estimator=True)

    assert all(2 not in each.predict(X) for each in found["estimator"])


@pytest.mark.parametrize("ensemble", [tw.BaggingClassifier(Listener()), tw.AdaBoostClassifier(Listener())])
def test_metadata_without_routing_is_refused(ensemble):
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        ensemble.fit(X, Y, groups=Y)


def test_metadata_that_nobody_asked_for_is_refused():
    with config_context(enable_metadata_routing=True), pytest.raises((TypeError, ValueError), match="groups"):
        tw.BaggingClassifier(LogisticRegression()).fit(X, Y, groups=Y)


def test_logarithms_of_shares_are_the_members_own():
    # In 40 copies of a column far off, shares of naive Bayes vanish; their logarithms do not.
    table = np.repeat(X[:, 2:3], 40, axis=1)
    bag = tw.BaggingClassifier(GaussianNB(), n_estimators=3).fit(table, Y)
    far = np.full((1, 40), 60.0)

    said = bag.predict_log_proba(far)

    assert (bag.predict_proba(far) == 0.0).any()
    assert np.isfinite(said).all()
    each = np.array([member.predict_log_proba(far) for member in bag.estimators_])
    largest = each.max(axis=0)
    assert said == pytest.approx(largest + np.log(np.exp(each - largest).mean(axis=0)), rel=1e-12)
