"""Hostile input to judging and choosing: refused with a reason, or answered right."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.model_selection import GroupKFold, KFold, LeaveOneGroupOut, StratifiedKFold

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
@pytest.mark.parametrize(
    "est", [tw.DecisionTreeClassifier, None, "tree", KMeans(), object()], ids=lambda est: type(est).__name__
)
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
    assert error_curve(TREE, X, y, cv=3, loss="log_loss").test_error.max() < 37


def test_nothing_that_is_given_is_changed():
    x, y, weights, cv = X.copy(), Y.copy(), np.arange(30.0), np.arange(30) % 3
    for array in (x, y, weights, cv):
        array.setflags(write=False)

    cross_validate(TREE, x, y, cv=cv, sample_weight=weights)
    tune(TREE, x, y, {"max_depth": [1, 2]}, cv=cv, sample_weight=weights, method="halving")
    learning_curve(TREE, x, y, cv=cv, sample_weight=weights)


@every_door
@pytest.mark.parametrize(
    ("scale", "message"), [(1e300, "beyond float64: divide y"), (1e160, "divide y"), (1e-170, "multiply y")]
)
def test_numbers_whose_squares_are_outside_float64_are_refused(door, scale, message):
    y = scale * np.where(X[:, 0] > 2, 1.0, -1.0) * (1 + np.arange(30) / 30)

    with pytest.raises(DataError, match=message):
        door(tw.DecisionTreeRegressor(max_depth=1), X, y)


ONCE_TESTED = {"cv": [(np.arange(10, 30), np.arange(10))]}  # row 3 is only tested


@pytest.mark.parametrize("door", [cross_validate, lambda est, X, y, **cv: compare([est], X, y, **cv),
                                  lambda est, X, y, **cv: tune(est, X, y, {"max_depth": [1]}, **cv),
                                  error_curve, learning_curve])  # fmt: skip
@pytest.mark.parametrize(
    "y",
    [
        np.where(np.arange(30) == 3, None, Y.astype(object)), np.where(np.arange(30) == 3, np.nan, (Y == "a") * 1.0),
        pd.Series((Y == "a") * 1, dtype="Int64").mask(np.arange(30) == 3),
    ],
    ids=["object", "float", "Int64"],
)  # fmt: skip
def test_a_missing_label_of_a_row_that_is_only_tested_is_refused_with_its_row(door, y):
    with pytest.raises(DataError, match=r"1 missing value\(s\) \(first row 3\)"):
        door(TREE, X, y, **ONCE_TESTED)


@pytest.mark.parametrize(("odd", "message"), [(np.nan, "missing"), (np.inf, "infinite")])
@pytest.mark.parametrize("door", [cross_validate, learning_curve, lambda est, X, y, **cv: compare([est], X, y, **cv)])
def test_a_number_of_a_row_that_is_only_tested_is_refused_with_its_row(door, odd, message):
    y = np.where(np.arange(30) == 3, odd, X[:, 1])

    with pytest.raises(DataError, match=rf"1 {message} value\(s\) \(first row 3\)"):
        door(tw.DecisionTreeRegressor(), X, y, **ONCE_TESTED)


def test_a_missing_label_is_never_a_wrong_prediction_of_a_held_out_part():
    y = (Y == "a") * 1.0
    y[0] = np.nan

    for seed in range(4):
        with pytest.raises(DataError, match="missing"):
            holdout(TREE, X, y, stratify=False, random_state=seed)


@pytest.mark.parametrize("seed", [-1, "a", 2**32, 1.5, float("nan"), np.random.default_rng(1), True])
@pytest.mark.parametrize("door", [door for name, door in DOORS.items() if name != "leave_one_out"])
def test_what_is_no_seed_is_refused(door, seed):
    with pytest.raises(ParameterError, match="random_state="):
        door(TREE, X, Y, random_state=seed)


class NoArguments:
    def split(self):
        return []


class GivesFive:
    def split(self, X, y=None, groups=None):
        return 5


@pytest.mark.parametrize(
    ("cv", "error", "message"),
    [
        (np.array(3), ParameterError, "a number of folds"), (KFold, ParameterError, "KFold is a class"),
        (NoArguments(), ParameterError, "does not split"), (GivesFive(), ParameterError, "does not split"),
        (StratifiedKFold(20), DataError, "cannot make folds of these 30 rows"),
        (GroupKFold(3), ParameterError, "give groups="), (LeaveOneGroupOut(), ParameterError, "give groups="),
        (np.array(["a", 1] * 15, object), DataError, "types that cannot be compared"),
    ],
)  # fmt: skip
def test_folds_that_nobody_can_make_are_refused_by_every_function(cv, error, message):
    for door in (cross_validate, error_curve, learning_curve):
        with pytest.raises(error, match=message):
            door(TREE, X, Y, cv=cv)
    for door in (lambda **cv: compare([TREE], X, Y, **cv), lambda **cv: tune(TREE, X, Y, {"max_depth": [1]}, **cv)):
        with pytest.raises(error, match=message):
            door(cv=cv)


@pytest.mark.parametrize("unit", [5e-324, 2.0**-1060, 2.0**1017])
@pytest.mark.parametrize("est", [TREE, tw.DecisionTreeRegressor(max_depth=2)], ids=type)
def test_the_unit_of_the_weights_changes_no_score(unit, est):
    y = Y if est is TREE else X[:, 1] * 2
    weights = 1.0 + np.arange(30) % 2

    plain = cross_validate(est, X, y, cv=3, sample_weight=weights)
    far = cross_validate(est, X, y, cv=3, sample_weight=weights * unit)

    # What is learned from such weights is the fit's own matter: the same predictions are scored alike.
    assert far.predictions.tolist() == plain.predictions.tolist()
    for name in plain.test:
        np.testing.assert_allclose(far.test[name], plain.test[name], rtol=1e-12)
    assert far.pooled == pytest.approx(plain.pooled)


def test_pandas_rows_in_another_order_are_taken_by_position_and_warned_of():
    table, target = pd.DataFrame(X), pd.Series(Y)
    wanted = cross_validate(TREE, X, Y[::-1], cv=3)

    with pytest.warns(DataWarning, match=r"X and y have the same index labels .*y\.loc\[X\.index\]") as told:
        scores = cross_validate(TREE, table, target[::-1], cv=3)

    assert scores.predictions.tolist() == wanted.predictions.tolist()
    assert [str(each.filename) for each in told] == [__file__]
    with pytest.warns(DataWarning, match="sample_weight"):
        cross_validate(TREE, table, target, cv=3, sample_weight=pd.Series(np.arange(1.0, 31.0))[::-1])
    with pytest.warns(DataWarning, match="in a different order") as told:
        compare([TREE, tw.ID3Classifier(nominal=[0, 1, 2])], table, target[::-1], cv=3)
    assert len(told) == 1


@pytest.mark.parametrize("index", [range(1, 31), [7] * 30, range(30), [f"r{row}" for row in range(30)]])
def test_another_index_or_the_same_is_no_reason_to_warn(index):
    table = pd.DataFrame(X)

    cross_validate(TREE, table, pd.Series(Y, index=index), cv=3)
