"""Hostile input to judging and choosing: refused with a reason, or answered right."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans

import treewright as tw
from treewright.exceptions import DataError, DataWarning, ParameterError
from treewright.model_selection import (
    compare,
    cross_validate,
    error_curve,
    holdout,
    learning_curve,
    leave_one_out,
    tune,
)

RANDOM = np.random.default_rng(0)
X = RANDOM.integers(0, 5, (30, 3)).astype(float)
Y = np.array(["a", "b"])[(X[:, 0] + RANDOM.integers(0, 2, 30) > 2).astype(int)]
TREE = tw.DecisionTreeClassifier(max_depth=3)
DOORS = {
    "holdout": holdout,
    "cross_validate": lambda est, X, y, **options: cross_validate(est, X, y, cv=2, **options),
    "leave_one_out": leave_one_out,
    "compare": lambda est, X, y, **options: compare([est], X, y, cv=2, **options),
    "tune": lambda est, X, y, **options: tune(est, X, y, {"max_depth": [1]}, cv=2, **options),
    "error_curve": lambda est, X, y, **options: error_curve(est, X, y, cv=2, **options),
    "learning_curve": lambda est, X, y, **options: learning_curve(est, X, y, cv=2, sizes=[1.0], **options),
}
every_door = pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)


@every_door
@pytest.mark.parametrize(
    ("x", "y"),
    [
        (X, Y[:-1]), (X[:0], Y[:0]), (X, None), (None, Y), (X, "text"), (3.0, Y), (X, np.zeros((30, 2, 2))),
        ({"a": [1, 2]}, Y), (X, [None] * 30), (pl.LazyFrame({"a": [1]}), ["a"]), (X[:1], Y[:1]),
    ],
    ids=lambda given: type(given).__name__,
)  # fmt: skip
def test_tables_and_targets_that_do_not_go_together_are_refused(door, x, y):
    with pytest.raises(DataError):
        door(TREE, x, y)


@every_door
@pytest.mark.parametrize("est", [tw.DecisionTreeClassifier, None, "tree", KMeans(), object()], ids=str)
def test_what_is_no_classifier_and_no_regressor_is_refused(door, est):
    with pytest.raises(ParameterError):
        door(est, X, Y)


@every_door
@pytest.mark.parametrize("weights", [np.ones(29), -np.ones(30), np.full(30, np.nan), np.zeros(30), ["x"] * 30])
def test_weights_that_are_none_are_refused(door, weights):
    with pytest.raises(DataError):
        door(TREE, X, Y, sample_weight=weights)


@every_door
@pytest.mark.filterwarnings("ignore::treewright.exceptions.DataWarning")
def test_a_target_of_one_class_is_always_right(door):
    answer = door(TREE, X, ["only"] * 30)

    if hasattr(answer, "test_error"):
        assert (answer.test_error == 0.0).all()
    elif hasattr(answer, "best"):
        assert answer.best.mean == 1.0
    else:
        assert answer.mean == answer.pooled["accuracy"] == 1.0


@every_door
def test_a_continuous_target_for_a_classifier_is_refused(door):
    with pytest.raises(DataError, match="continuous"):
        door(TREE, X, RANDOM.normal(size=30))


@every_door
def test_a_class_of_one_row_is_refused_unless_it_is_left_out_alone(door):
    y = np.where(np.arange(30) == 4, "rare", "common")

    if door is leave_one_out:
        assert door(TREE, X, y).predictions[4] == "common"
        return
    with pytest.raises(DataError, match="'rare' has 1 row"):
        door(TREE, X, y)


@pytest.mark.parametrize(
    "table",
    [
        {f"c{at}": X[:, at] for at in range(3)}, {f"c{at}": X[:, at].tolist() for at in range(3)}, X.tolist(),
        pd.DataFrame(X, columns=list("xyz"), index=[7] * 30), pl.DataFrame(X, schema=list("xyz")),
        pa.table({f"c{at}": X[:, at] for at in range(3)}), sp.csr_array(X), sp.coo_array(X), np.asfortranarray(X),
        np.ma.array(X, mask=False), pd.DataFrame(X, columns=pd.Index([0, "a", (1, 2)], dtype=object)),
    ],
    ids=["dict", "dict of lists", "lists", "pandas", "polars", "arrow", "csr", "coo", "fortran", "masked", "odd names"],
)  # fmt: skip
def test_every_sort_of_table_gives_the_same_scores(table):
    wanted = cross_validate(TREE, X, Y, cv=3)

    scores = cross_validate(TREE, table, Y, cv=3)

    assert scores.test["accuracy"].tolist() == wanted.test["accuracy"].tolist()
    assert scores.predictions.tolist() == wanted.predictions.tolist()
    assert tune(TREE, table, Y, {"max_depth": [1]}, cv=2).estimator.get_depth() == 1


@pytest.mark.parametrize(
    "make",
    [
        list, pl.Series, lambda y: pd.Series(y, index=[1] * 30), lambda y: pd.Series(pd.Categorical(y)),
        lambda y: pd.Series(y, name="kind").to_frame(), lambda y: y.astype(object), lambda y: y[:, None].tolist(),
        lambda y: pl.Series(y, dtype=pl.Categorical), lambda y: pa.chunked_array([y.tolist()]),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_every_sort_of_target_gives_the_same_scores(make):
    wanted = cross_validate(TREE, X, Y, cv=3)

    scores = cross_validate(TREE, X, make(Y), cv=3)

    assert scores.predictions.tolist() == wanted.predictions.tolist()
    assert scores.pooled == wanted.pooled


@pytest.mark.parametrize(
    "labels", [[True, False], [1, 2], [(1, "a"), (0, "b")], [np.datetime64("2020"), np.datetime64("2021")]]
)
def test_labels_of_any_type_are_scored(labels):
    y = [labels[int(name == "a")] for name in Y]

    scores = cross_validate(TREE, X, y, cv=3)

    assert scores.pooled["accuracy"] == cross_validate(TREE, X, Y, cv=3).pooled["accuracy"]
    assert error_curve(TREE, X, y, cv=3, loss="log").test_error.max() < 37


def test_nothing_that_is_given_is_changed():
    x, y, weights, cv = X.copy(), Y.copy(), np.arange(30.0), np.arange(30) % 3
    for array in (x, y, weights, cv):
        array.setflags(write=False)

    cross_validate(TREE, x, y, cv=cv, sample_weight=weights)
    tune(TREE, x, y, {"max_depth": [1, 2]}, cv=cv, sample_weight=weights, method="halving")
    learning_curve(TREE, x, y, cv=cv, sample_weight=weights)


@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value encountered")
def test_a_score_beyond_float64_is_reported():
    y = np.where(X[:, 0] > 2, 1e300, -1e300) * (1 + np.arange(30) / 30)

    with pytest.warns(DataWarning, match="'r2' is nan"):
        cross_validate(tw.DecisionTreeRegressor(max_depth=1), X, y, cv=2)
