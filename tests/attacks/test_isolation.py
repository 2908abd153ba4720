"""Hostile tables and parameters for the isolation forest: a defined answer, or one error that says what to do."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils._param_validation import InvalidParameterError

import treewright as tw
from treewright.data import memory
from treewright.estimators.isolation import IsolationForest
from treewright.exceptions import ColumnError, DataError, DataWarning, ParameterError, TooLargeError
from treewright.trees.check_model import check_model

NAN = np.nan
TABLES = {
    "one row": [[1.0, 2.0]],
    "two rows": [[1.0, 2.0], [3.0, 4.0]],
    "two equal rows": [[1.0, 2.0], [1.0, 2.0]],
    "one column": [[1.0], [2.0], [9.0]],
    "constant columns": np.ones((30, 3)),
    "all missing": np.full((30, 2), NAN),
    "one column all missing": [[NAN, float(x)] for x in range(30)],
    "every row misses a cell": [[NAN, 1.0], [2.0, NAN]] * 10,
    "infinite": [[np.inf, 1.0], [-np.inf, 2.0], [0.0, NAN], [np.inf, 4.0]] * 5,
    "only infinite": [[np.inf], [-np.inf]] * 5,
    "the range of float64": [[1.7e308], [-1.7e308], [5e-324], [-0.0], [0.0]] * 4,
    "float32": np.arange(40, dtype=np.float32).reshape(20, 2),
    "float16": np.arange(40, dtype=np.float16).reshape(20, 2),
    "integers": np.arange(40).reshape(20, 2),
    "booleans": {"a": [True, False, None] * 5},
    "names only": {"a": ["x", "y", "z", None] * 5, "b": ["u"] * 20},
    "one name": {"a": ["x"] * 10},
    "a name for every row": {"a": [f"name {at}" for at in range(300)]},
    "sparse": sp.random(60, 20, 0.05, format="csr", random_state=0),
    "wide": np.random.default_rng(0).normal(size=(5, 3000)),
    "read-only": np.broadcast_to(np.arange(20.0)[:, None], (20, 3)),
    "strided": np.arange(400.0).reshape(20, 20)[::2, ::3],
}


@pytest.mark.filterwarnings("ignore:column 'a' .300 different texts")  # nothing else varies: it is kept, and named
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("options", [{}, {"contamination": 0.25, "bootstrap": True}, {"max_samples": 1}])
@pytest.mark.filterwarnings("ignore:contamination='auto' makes", "ignore:column 'a' .300 levels.")
def test_every_table_gets_scores_between_0_and_1(table, options):
    forest = IsolationForest(n_estimators=8, **options).fit(table)

    check_model(forest.model_)
    scores = -forest.score_samples(table)
    assert np.isfinite(scores).all()
    assert ((scores > 0) & (scores <= 1)).all()
    assert set(forest.predict(table).tolist()) <= {1, -1}
    assert len(forest.fit_predict(table)) == len(scores)


@pytest.mark.parametrize("table", [np.empty((0, 3)), np.empty((3, 0)), [], {}])
def test_a_table_without_rows_or_columns_is_refused(table):
    with pytest.raises(DataError):
        IsolationForest().fit(table)


def test_a_warm_start_on_no_rows_is_refused():
    forest = IsolationForest(warm_start=True, n_estimators=3).fit([[1.0], [2.0]])

    with pytest.raises(DataError, match="0 sample"):
        forest.set_params(n_estimators=5).fit(np.empty((0, 1)))
    assert len(forest.estimators_) == 3


def test_scores_of_no_rows_are_none():
    forest = IsolationForest(n_estimators=3).fit([[1.0], [2.0]])

    assert forest.score_samples(np.empty((0, 1))).shape == (0,)
    assert forest.predict(np.empty((0, 1))).shape == (0,)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("contamination", value) for value in (0.0, 0.6, -0.1, NAN, np.inf, True, "some", None)),
        ("contamination", Fraction(1, 2)),
        *(("n_estimators", value) for value in (0, -1, 2.0, True, None, "many")),
        *(("max_samples", value) for value in (0, 0.0, 1.5, NAN, -3, True, None, "all")),
        *(("max_features", value) for value in (0, 0.0, 1.5, NAN, True, None, "sqrt")),
        *(("bootstrap", value) for value in ("no", None)),
        *(("random_state", value) for value in (-1, "seed", 0.5)),
        ("unseen", "guess"),
    ],
)
def test_parameters_out_of_range_are_refused_before_the_table_is_read(name, value):
    with pytest.raises(ParameterError, match=name) as caught:
        IsolationForest(**{name: value}).fit(object())
    assert isinstance(caught.value, InvalidParameterError)


def test_a_billion_trees_are_refused_before_the_first_grows():

    with pytest.raises(TooLargeError, match=r"a forest of 1000000000 trees needs .* bytes"):
        IsolationForest(n_estimators=10**9).fit([[1.0], [2.0]])


def test_trees_that_turn_out_too_large_are_refused_after_the_first(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 100 * 2**20)
    X = np.random.default_rng(0).normal(size=(2000, 2))

    with pytest.raises(TooLargeError, match="a forest of 20000 trees of about"):
        IsolationForest(n_estimators=20_000).fit(X)


def test_more_rows_than_there_are_cannot_be_drawn():
    with pytest.warns(DataWarning, match=r"max_samples \(1000\) is greater than the total number of samples \(3\)"):
        forest = IsolationForest(max_samples=1000, n_estimators=3).fit([[1.0], [2.0], [3.0]])

    assert forest.max_samples_ == 3


def test_more_columns_than_there_are_cannot_be_drawn():
    with pytest.raises(ParameterError, match="max_features=5, but X has 4 columns: give at most 4"):
        IsolationForest(max_features=5, n_estimators=3).fit(np.eye(4))

    forest = IsolationForest(max_features=np.int8(4), n_estimators=3).fit(np.eye(4))
    assert [columns.tolist() for columns in forest.estimators_features_] == [[0, 1, 2, 3]] * 3


@pytest.mark.parametrize("n_trees", [np.int8(100), np.int16(100), np.uint8(100), np.int64(100)])
def test_a_number_of_trees_may_be_of_any_integer_type(n_trees):
    X = np.random.default_rng(0).normal(size=(200, 2))

    assert len(IsolationForest(n_estimators=n_trees, max_samples=np.int8(64)).fit(X).estimators_) == 100


@pytest.mark.parametrize("n_trees", [2**31, 10**30, 10**400, 10**5000], ids=["2**31", "10**30", "10**400", "10**5000"])
def test_more_trees_than_can_be_numbered_are_refused(n_trees):
    with pytest.raises(TooLargeError, match="n_estimators is more than 2147483647"):
        IsolationForest(n_estimators=n_trees).fit([[1.0], [2.0]])


@pytest.mark.parametrize(
    "weights", [[0, 0, 7], [1e-300, 1e300, 1.0], [5e-324, 5e-324, 1.0], [1e6, 2e6, 3e6], [0.5, 0.25, 0.0]]
)
@pytest.mark.parametrize("bootstrap", [False, True])
def test_extreme_weights_give_a_forest(weights, bootstrap):
    X = [[1.0], [2.0], [3.0]]

    forest = IsolationForest(n_estimators=5, bootstrap=bootstrap, contamination=0.3).fit(X, sample_weight=weights)

    assert np.isfinite(forest.score_samples(X)).all()
    held = {row for rows in forest.estimators_samples_ for row in rows.tolist()}
    assert held <= set(np.flatnonzero(weights).tolist())


def test_a_seed_beyond_64_bits_is_a_seed():
    X = np.random.default_rng(0).normal(size=(30, 2))

    assert np.isfinite(IsolationForest(random_state=2**32 - 1).fit(X).score_samples(X)).all()


def test_another_table_at_predict_is_refused():
    forest = IsolationForest(n_estimators=3).fit({"a": [1.0, 2.0], "b": ["x", "y"]})

    for table in ({"a": [1.0]}, {"a": ["x"], "b": ["y"]}, [[1.0]]):
        with pytest.raises(ColumnError):
            forest.predict(table)


def test_a_fit_that_fails_leaves_the_forest_as_it_was():
    forest = IsolationForest(n_estimators=3).fit([[1.0], [2.0]])
    before = forest.model_

    with pytest.raises(DataError):
        forest.fit([[{}]])

    assert forest.model_ is before


def test_a_file_of_another_model_is_no_forest(tmp_path):
    from treewright.forest.isolation import anomaly_scores

    tw.DecisionTreeRegressor().fit([[1.0], [2.0]], [1.0, 2.0]).save(tmp_path / "m.tw")

    with pytest.raises(ParameterError, match="anomaly scores need an isolation forest"):
        anomaly_scores(tw.load(tmp_path / "m.tw"), [[1.0]])
