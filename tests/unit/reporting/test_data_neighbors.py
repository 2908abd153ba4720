"""Claims about rows that judge nearest neighbours, and about what no report can be made of."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris

import treewright as tw
from treewright.exceptions import ParameterError
from treewright.reporting.data import report_data

X, Y = load_iris(return_X_y=True)
TABLE = {"sky": ["sun", "rain", None, "sun", "fog"] * 6, "wind": np.arange(30.0) / 2}
OUTCOME = ["out", "in", "in"] * 10


def test_answers_of_neighbours_are_those_of_predict():
    est = tw.KNeighborsClassifier(weights="distance").fit(X[::2], Y[::2])
    judged = report_data(est.model_, est, X[1::2], Y[1::2])

    assert np.array_equal(judged.shares[0], est.predict_proba(X[1::2]))
    assert np.array_equal(judged.codes[:, 0], est.predict(X[1::2]))
    assert np.array_equal(est.model_.shares_of(judged.matrix)[0], judged.shares[0])


def test_numbers_of_neighbours_are_those_of_predict_for_one_and_for_two_outputs():
    for target in (X[:, 3], X[:, 2:]):
        est = tw.KNeighborsRegressor().fit(X[::2, :2], target[::2])
        judged = report_data(est.model_, est, X[1::2, :2], target[1::2])

        assert np.array_equal(judged.numbers, est.predict(X[1::2, :2]).reshape(75, -1))
        assert np.array_equal(est.model_.numbers_of(judged.matrix), judged.numbers)


def test_neighbours_know_the_rows_of_their_fit():
    est = tw.KNeighborsClassifier().fit(TABLE, OUTCOME)
    other = {"sky": TABLE["sky"], "wind": TABLE["wind"][::-1].copy()}

    assert report_data(est.model_, est, TABLE, OUTCOME).seen is True
    assert report_data(est.model_, est, other, OUTCOME).seen is False
    assert report_data(est.model_, est, {name: cells[:9] for name, cells in TABLE.items()}, OUTCOME[:9]).seen is False


def test_a_report_of_neighbours_has_quality_and_no_tree():
    est = tw.KNeighborsClassifier(n_neighbors=3).fit(TABLE, OUTCOME)
    summary = est.report(TABLE, OUTCOME).summary

    assert summary.tree is None
    assert summary.quality[0].kind == "classes"
    assert {fact.name: fact.value for fact in summary.facts}["neighbours"] == "3"
    assert any("training rows" in note for note in summary.notes)


def test_a_model_of_sparse_rows_is_refused_with_the_way_out():
    est = tw.KNeighborsClassifier().fit(csr_matrix(X), Y)

    with pytest.raises(ParameterError, match=r"sparse rows.*toarray"):
        tw.report(est, X, Y)


def test_what_has_no_target_or_no_model_is_refused_with_the_reason():
    isolation = tw.IsolationForest(n_estimators=2).fit(X)
    parts = tw.BaggingClassifier(n_estimators=2, max_features=0.5).fit(X, Y)

    with pytest.raises(ParameterError, match="no target"):
        tw.report(isolation, X, Y)
    with pytest.raises(ParameterError, match="do not have all columns"):
        tw.report(parts, X, Y)
    with pytest.raises(ParameterError, match="fit it first"):
        tw.report(tw.DecisionTreeClassifier(), X, Y)
