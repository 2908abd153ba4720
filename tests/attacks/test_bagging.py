"""Hostile input to bagging: one clear error, or the right answer; never a crash, a hang or a silent wrong answer."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import treewright as tw
from treewright import BaggingClassifier, BaggingRegressor
from treewright.data import memory
from treewright.exceptions import DataError, DataWarning, ParameterError, TooLargeError, TreewrightError

BOTH = pytest.mark.parametrize("kind", [BaggingClassifier, BaggingRegressor])
X = np.arange(24.0).reshape(12, 2)
Y = np.arange(12) % 3


class Breaks(ClassifierMixin, BaseEstimator):
    """A base whose fit fails where a row is drawn."""

    def fit(self, X, y):
        if 0.0 in X[:, 0]:
            raise RuntimeError("row 0 is poisonous")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class Heavy(tw.DecisionTreeClassifier):
    """A tree with a ballast of 8 MB, which counts its fits."""

    n_fits = 0

    def fit(self, X, y, sample_weight=None):
        Heavy.n_fits += 1
        self.ballast_ = np.zeros(2**20)
        return super().fit(X, y, sample_weight)


@BOTH
@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_rows_are_learned(kind, n):
    bag = kind(n_estimators=3).fit(X[:n], Y[:n])

    assert set(bag.predict(X).tolist()) <= set(range(n)) | {0.5, 1 / 3, 2 / 3}


@BOTH
def test_one_row_has_no_out_of_bag_answer_and_says_so(kind):
    with pytest.warns(DataWarning, match="1 of 1 row"):
        bag = kind(n_estimators=3, oob_score=True).fit(X[:1], Y[:1])

    assert np.isnan(bag.oob_score_)


def test_one_class_is_predicted():
    bag = BaggingClassifier(n_estimators=3).fit(X, ["only"] * 12)

    assert bag.predict_proba(X).tolist() == [[1.0]] * 12
    assert set(bag.predict(X).tolist()) == {"only"}


@BOTH
@pytest.mark.parametrize("column", [[1.0] * 12, [np.nan] * 12, ["same"] * 12, [None] * 12])
def test_columns_that_tell_nothing_are_learned_with_one_warning(kind, column):
    with pytest.warns(DataWarning, match=r"every column is constant .*\(in 3 of 3 members\)") as told:
        bag = kind(n_estimators=3).fit({"a": column}, Y)

    assert len(told) == 1
    assert len(set(np.asarray(bag.predict({"a": column})).tolist())) == 1


@BOTH
def test_a_thousand_million_members_are_refused_before_the_first_grows(kind):

    with pytest.raises(TooLargeError, match="use fewer members"):
        kind(n_estimators=10**9).fit(X, Y)


def test_members_too_large_for_memory_are_refused_after_the_first(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 2**28)
    Heavy.n_fits = 0

    with pytest.raises(TooLargeError, match="as large as the first"):
        BaggingClassifier(Heavy(), n_estimators=1000, n_jobs=1).fit(X, Y)

    assert Heavy.n_fits == 1


@BOTH
def test_as_many_draws_as_no_memory_holds_are_refused(kind):
    with pytest.raises(ParameterError, match="max_samples"):
        kind(max_samples=10**12).fit(X, Y)


@BOTH
@pytest.mark.parametrize("max_features", [3, 10**12])
def test_more_columns_than_there_are_are_refused(kind, max_features):
    with pytest.raises(ParameterError, match="X has 2 columns"):
        kind(max_features=max_features).fit(X, Y)


@BOTH
@pytest.mark.parametrize(
    "base",
    [3, "tree", object(), np.zeros(3), [KNeighborsClassifier()], StandardScaler(), lambda: None],
    ids=["number", "text", "object", "array", "list", "transformer", "function"],
)
def test_what_is_no_estimator_is_refused(kind, base):
    with pytest.raises(ParameterError, match="'estimator' parameter"):
        kind(base).fit(X, Y)


@BOTH
def test_a_class_instead_of_an_estimator_is_refused(kind):
    with pytest.raises(ParameterError, match=r"is a class: pass an instance, DecisionTreeClassifier\(\)"):
        kind(tw.DecisionTreeClassifier).fit(X, Y)


def test_the_wrong_sort_of_base_is_refused():
    with pytest.raises(ParameterError, match="needs a classifier"):
        BaggingClassifier(LinearRegression()).fit(X, Y)
    with pytest.raises(ParameterError, match="needs a regressor"):
        BaggingRegressor(tw.C45Classifier()).fit(X, Y)


@pytest.mark.parametrize("n_jobs", [1, 4])
def test_what_a_base_raises_comes_with_the_number_of_the_member(n_jobs):
    bag = BaggingClassifier(Breaks(), n_estimators=30, max_samples=3, n_jobs=n_jobs)

    with pytest.raises(RuntimeError, match="row 0 is poisonous") as raised:
        bag.fit(X, Y)

    samples = BaggingClassifier(n_estimators=30, max_samples=3).fit(X, Y).estimators_samples_
    first = next(member for member, rows in enumerate(samples) if 0 in rows)
    assert first > 0
    assert raised.value.__notes__ == [f"while fitting member {first} of 30 (Breaks)"]
    assert not hasattr(bag, "estimators_")


def test_a_fit_that_fails_changes_nothing():
    bag = BaggingClassifier(n_estimators=3, oob_score=False).fit(X, Y)
    before = bag.predict_proba(X).tobytes()

    for wrong in ({"max_features": 5}, {"estimator": Breaks()}, {"estimator": "no"}, {"voting": "loud"}):
        with pytest.raises((ParameterError, RuntimeError)):
            bag.set_params(**wrong).fit(X, Y[::-1])  # a row of 0 is drawn: Breaks fails
        bag.set_params(max_features=1.0, estimator=None, voting="soft")
        assert bag.predict_proba(X).tobytes() == before


@BOTH
def test_rows_of_weight_zero_are_never_drawn(kind):
    weights = np.where(np.arange(12) < 3, 1.0, 0.0)

    bag = kind(KNeighborsClassifier(1) if kind is BaggingClassifier else None, n_estimators=5)
    bag.fit(X, Y, sample_weight=weights)

    assert set(np.concatenate(bag.estimators_samples_).tolist()) <= {0, 1, 2}


@BOTH
@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_weights_at_the_ends_of_float64_are_chances(kind, scale):
    weights = np.linspace(1.0, 2.0, 12) * scale

    samples = kind(n_estimators=5).fit(X, Y, sample_weight=weights).estimators_samples_

    assert {len(rows) for rows in samples} == {12}


def test_weights_that_are_no_numbers_need_a_base_that_takes_them():
    with pytest.raises(ParameterError, match="takes no sample_weight"):
        BaggingClassifier(KNeighborsClassifier(), bootstrap=False).fit(X, Y, sample_weight=np.linspace(0.1, 1, 12))


@BOTH
def test_an_out_of_bag_score_needs_rows_that_are_left_out(kind):
    with pytest.raises(ParameterError, match="needs out-of-bag rows, but each member gets all rows"):
        kind(bootstrap=False, oob_score=True).fit(X, Y)


def test_a_warm_start_refuses_another_task():
    bag = BaggingClassifier(n_estimators=2, warm_start=True).fit(X, Y)

    with pytest.raises(ParameterError, match="needs the same columns as the fit before"):
        bag.set_params(n_estimators=3).fit(X[:, :1], Y)
    with pytest.raises(ParameterError, match="rows, target or weights are different"):
        bag.fit(X, Y % 2)
    with pytest.raises(ParameterError, match="larger or equal"):
        bag.set_params(n_estimators=1).fit(X, Y)
    with pytest.warns(DataWarning, match="does not fit new members"):
        bag.set_params(n_estimators=2).fit(X, Y)
    with pytest.raises(ParameterError, match="rows, target or weights are different"):
        bag.set_params(n_estimators=3, oob_score=True).fit(X + 1, Y)


def test_pipelines_within_bags_within_pipelines_are_learned():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(80, 3))
    labels = (table[:, 0] > 0).astype(int)
    inner = BaggingClassifier(make_pipeline(StandardScaler(), tw.DecisionTreeClassifier()), n_estimators=3)
    outer = make_pipeline(StandardScaler(), BaggingClassifier(inner, n_estimators=3, max_features=0.9))

    assert outer.fit(table, labels).score(table, labels) > 0.9
    seeds = {name for name in outer.get_params() if name.endswith("random_state")}
    assert "baggingclassifier__estimator__estimator__decisiontreeclassifier__random_state" in seeds


@BOTH
@pytest.mark.parametrize(
    "table",
    [None, 3, "text", [], [[]], np.zeros(4), np.zeros((2, 2, 2)), {}, {"a": []}, {"a": [1], "b": [1, 2]}, [{"a": 1}]],
    ids=repr,
)
def test_what_is_no_table_is_refused(kind, table):
    with pytest.raises(TreewrightError):
        kind().fit(table, [0, 1])


@BOTH
@pytest.mark.parametrize(
    ("target", "why"),
    [(None, "is None"), ([], "0 samples"), ([0, 1], "inconsistent numbers"), ([np.nan] * 12, "missing|NaN"),
     (np.zeros((12, 2, 2)), "1d array")],
)  # fmt: skip
def test_what_is_no_target_is_refused(kind, target, why):
    with pytest.raises(DataError, match=why):
        kind().fit(X, target)


@BOTH
def test_columns_declared_but_absent_are_refused_with_the_member(kind):
    base = tw.DecisionTreeClassifier if kind is BaggingClassifier else tw.DecisionTreeRegressor

    with pytest.raises(DataError, match="names a column that the table does not have: 'town'") as raised:
        kind(base(nominal=["town"]), max_features=1).fit({"a": X[:, 0], "b": X[:, 1]}, Y)
    assert raised.value.__notes__ == [f"while fitting member 0 of 10 ({base.__name__})"]


def test_second_names_of_columns_avoid_names_that_exist():
    table = pd.DataFrame(X, columns=["a", "a (2)"])

    bag = BaggingClassifier(n_estimators=12, bootstrap_features=True).fit(table, Y)

    names = {tuple(member.feature_names_in_.tolist()) for member in bag}
    assert ("a", "a (3)") in names
    assert all(len(set(some)) == 2 for some in names)


def test_labels_of_any_type_come_back_as_they_were():
    for labels in ([True, False] * 6, [-3, 7] * 6, ["a", "b"] * 6, [("x", 1), ("y", 2)] * 6, [2.0, 5.0] * 6):
        predicted = BaggingClassifier(n_estimators=3, max_features=1).fit(X, labels).predict(X)
        assert set(predicted.tolist()) <= set(labels)
        assert type(predicted.tolist()[0]) is type(labels[0])


def test_several_targets_of_other_types_stay_of_their_types():
    targets = pd.DataFrame({"n": [1, 2, 3] * 4, "s": ["a", "b", "c"] * 4})

    bag = BaggingClassifier(n_estimators=3, max_features=1).fit(X, targets)

    assert [labels.tolist() for labels in bag.classes_] == [[1, 2, 3], ["a", "b", "c"]]
    assert bag.predict_proba(X)[1].shape == (12, 3)


def test_no_rows_to_predict_give_no_predictions():
    for options in ({}, {"max_features": 1}):
        bag = BaggingClassifier(n_estimators=3, **options).fit(X, Y)
        assert bag.predict(X[:0]).shape == (0,)
        assert bag.predict_proba(X[:0]).shape == (0, 3)
        assert BaggingRegressor(n_estimators=3, **options).fit(X, Y).predict(X[:0]).shape == (0,)


INTERRUPTED = """
    import os, signal, sys, threading, time
    import numpy as np
    import treewright as tw

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 5)), rng.integers(0, 2, 400)
    bag = tw.BaggingClassifier(n_estimators=3).fit(X, y)
    before = bag.predict_proba(X).tobytes()
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        bag.set_params(n_estimators=20_000).fit(X, y)
    except KeyboardInterrupt:
        print("stopped", bag.predict_proba(X).tobytes() == before)
    print(len(bag.set_params(n_estimators=4).fit(X, y)))
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="no signals between threads on this system")
def test_ctrl_c_stops_the_members_and_leaves_the_old_ones(copies):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(INTERRUPTED)], capture_output=True, text=True, timeout=250, check=False
    )

    assert re.fullmatch(r"stopped True\n4\n", done.stdout), done.stderr[-2000:]
