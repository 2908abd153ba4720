"""Hostile input to AdaBoost: one clear error, or the right answer; never a crash, a hang or a silent wrong answer."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

import treewright as tw
from treewright import AdaBoostClassifier, AdaBoostRegressor
from treewright.data import memory
from treewright.exceptions import DataError, DataWarning, ParameterError, TooLargeError

BOTH = pytest.mark.parametrize("kind", [AdaBoostClassifier, AdaBoostRegressor])
X = np.arange(24.0).reshape(12, 2)
Y = np.arange(12) % 3


class Breaks(ClassifierMixin, BaseEstimator):
    """A base whose fit fails once weights differ."""

    def fit(self, X, y, sample_weight):
        if np.ptp(sample_weight) > 0:
            raise RuntimeError("weights differ")
        self.says_ = y.copy()
        self.says_[0] = not y[0]
        return self

    def predict(self, X):
        return self.says_


class Invents(ClassifierMixin, BaseEstimator):
    """A base that predicts what no row has."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), 99)


class Lost(RegressorMixin, BaseEstimator):
    """A base whose numbers are none."""

    said = np.nan

    def fit(self, X, y, sample_weight=None):
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), Lost.said)


def test_one_row_is_learned():
    assert AdaBoostClassifier().fit(X[:1], ["only"]).predict(X).tolist() == ["only"] * 12
    assert AdaBoostRegressor().fit(X[:1], [7.0]).predict(X).tolist() == [7.0] * 12


def test_one_class_is_one_member():
    est = AdaBoostClassifier().fit(X, ["only"] * 12)

    assert est.predict_proba(X).tolist() == [[1.0]] * 12
    assert est.decision_function(X).tolist() == [[1.0]] * 12
    assert len(est) == 1


def test_equal_numbers_are_one_member():
    est = AdaBoostRegressor().fit(X, [3.0] * 12)

    assert est.predict(X).tolist() == [3.0] * 12
    assert (est.estimator_errors_.tolist(), est.estimator_weights_.tolist()) == ([0.0], [1.0])


@pytest.mark.parametrize("column", [[1.0] * 12, [np.nan] * 12, ["same"] * 12, [None] * 12])
def test_columns_that_tell_nothing_are_no_better_than_chance(column):
    with (
        pytest.raises(ParameterError, match="no better than chance among 3 classes"),
    ):
        AdaBoostClassifier().fit({"a": column}, Y)
    with pytest.warns(DataWarning, match="every column is constant") as told:
        AdaBoostClassifier(n_estimators=4).fit({"a": column}, ["a"] * 9 + ["b"] * 3)
    assert len(told) == 1


@BOTH
def test_a_thousand_million_members_are_refused_before_the_first_grows(kind):

    with pytest.raises(TooLargeError, match="use fewer members"):
        kind(n_estimators=10**9).fit(X, Y)


def test_members_too_large_for_memory_are_refused_after_the_first(monkeypatch):
    class Heavy(tw.DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            self.ballast_ = np.zeros(2**20)
            return super().fit(X, y, sample_weight)

    monkeypatch.setattr("pickle.dumps", lambda *_, **__: bytes(2**23))
    monkeypatch.setattr(memory, "available_memory", lambda: 2**28)

    with pytest.raises(TooLargeError, match="as large as the first"):
        AdaBoostClassifier(Heavy(max_depth=1), n_estimators=1000).fit(X, Y)


def test_row_weights_of_more_rounds_than_memory_holds_are_refused(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 2**28)

    with pytest.raises(TooLargeError, match="40000 weights of 1000 rounds"):
        AdaBoostClassifier(n_estimators=1000, keep_row_weights=True).fit(np.zeros((40_000, 1)), np.arange(40_000) % 2)


@BOTH
@pytest.mark.parametrize("learning_rate", [0, -1.0, np.nan, True, "1", None])
def test_learning_rates_out_of_range_are_refused(kind, learning_rate):
    with pytest.raises(ParameterError, match="learning_rate"):
        kind(learning_rate=learning_rate).fit(X, Y)


@BOTH
@pytest.mark.parametrize("learning_rate", [np.inf, 1e308])
def test_learning_rates_beyond_float64_are_refused(kind, learning_rate):
    rng = np.random.default_rng(0)
    table, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)

    with pytest.raises(ParameterError, match="learning_rate"):
        kind(learning_rate=learning_rate).fit(table, table[:, 0] + y > 0.5)


@pytest.mark.parametrize("learning_rate", [1e-12, 1e5])
def test_extreme_learning_rates_give_finite_answers(learning_rate):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(60, 2))
    est = AdaBoostClassifier(learning_rate=learning_rate).fit(table, table[:, 0] + rng.integers(0, 2, 60) > 0.5)

    assert np.isfinite(est.predict_proba(table)).all()
    assert est.score(table, table[:, 0] > 0.0) > 0.5


@BOTH
@pytest.mark.parametrize(
    "base",
    [3, "tree", object(), np.zeros(3), [KNeighborsClassifier()], StandardScaler(), lambda: None],
    ids=["number", "text", "object", "array", "list", "transformer", "function"],
)
def test_what_is_no_estimator_is_refused(kind, base):
    with pytest.raises(ParameterError, match="'estimator' parameter"):
        kind(base).fit(X, Y)


def test_a_class_or_the_wrong_sort_of_base_is_refused():
    with pytest.raises(ParameterError, match=r"is a class: pass an instance, DecisionTreeClassifier\(\)"):
        AdaBoostClassifier(tw.DecisionTreeClassifier).fit(X, Y)
    with pytest.raises(ParameterError, match="needs a classifier"):
        AdaBoostClassifier(LinearRegression()).fit(X, Y)
    with pytest.raises(ParameterError, match="needs a regressor"):
        AdaBoostRegressor(tw.C45Classifier()).fit(X, Y)


@BOTH
def test_several_outputs_are_refused(kind):
    with pytest.raises(DataError, match="2 outputs"):
        kind().fit(X, np.stack([Y, Y], axis=1))


def test_an_error_of_a_member_says_which_it_was_and_changes_nothing():
    est = AdaBoostClassifier(n_estimators=2).fit(X, Y > 0)
    before = est.predict(X).tolist()

    with pytest.raises(RuntimeError, match="weights differ") as error:
        est.set_params(estimator=Breaks()).fit(X, Y > 0)

    assert error.value.__notes__ == ["while fitting member 1 of 2 (Breaks)"]
    assert est.predict(X).tolist() == before


def test_an_invented_label_is_refused():
    with pytest.raises(DataError, match="99"):
        AdaBoostClassifier(Invents()).fit(X, Y)


@pytest.mark.parametrize("said", [np.nan, np.inf])
def test_a_member_that_predicts_no_number_is_refused(said, monkeypatch):
    monkeypatch.setattr(Lost, "said", said)
    with pytest.raises(DataError, match="predicts 12 numbers that are not finite"):
        AdaBoostRegressor(Lost()).fit(X, Y)


@BOTH
def test_weights_of_any_size_are_taken(kind):
    scaled = [
        kind(n_estimators=5).fit(X, Y, np.linspace(1, 2.5, 12) * scale).predict(X) for scale in (1e-300, 1, 1e300)
    ]

    assert scaled[0].tolist() == scaled[1].tolist() == scaled[2].tolist()


def test_numbers_of_any_size_are_boosted():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(100, 2))
    y = np.where(table[:, 0] > 0, 1.7e308, -1.7e308) * rng.uniform(0.5, 1, 100)
    est = AdaBoostRegressor(n_estimators=5).fit(table, y)

    assert np.isfinite(est.predict(table)).all()
    assert ((est.predict(table) > 0) == (table[:, 0] > 0)).mean() > 0.9


def test_a_table_without_rows_gets_no_answers():
    for base in (None, KNeighborsClassifier(1)):
        est = AdaBoostClassifier(base, n_estimators=2, bootstrap=base is not None).fit(X, Y > 1)
        assert est.predict(X[:0]).shape == (0,)
        assert est.predict_proba(X[:0]).shape == (0, 2)
        assert [part.shape for part in est.staged_predict(X[:0])] == [(0,)] * len(est)
    line = AdaBoostRegressor(LinearRegression(), n_estimators=2).fit(X, X[:, 0] ** 2)
    assert line.predict(X[:0]).shape == (0,)


def test_the_users_table_stays_as_it_is():
    table, labels, weights = X.copy(), Y.copy(), np.linspace(1, 2, 12)
    AdaBoostClassifier(n_estimators=5).fit(table, labels, weights)

    assert np.array_equal(table, X)
    assert np.array_equal(labels, Y)
    assert np.array_equal(weights, np.linspace(1, 2, 12))
