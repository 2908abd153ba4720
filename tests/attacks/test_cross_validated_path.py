"""Tables, weights and folds that would break a cross-validated path."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

import treewright as tw
from treewright.evaluation.path import pruning_path
from treewright.exceptions import (
    DataError,
    DataWarning,
    MissingValueError,
    ParameterError,
    TreewrightError,
    UnseenLevelError,
)

X = np.arange(12.0)[:, None]
FOLDS = np.arange(12) % 3


@pytest.mark.parametrize("unit", [1e150, 1e-148])
def test_numbers_of_any_size_are_judged_without_overflow(unit):
    y = np.array([1.0, 2, 1, 2, 8, 9, 8, 9, 4, 4, 5, 5])
    plain = pruning_path(tw.DecisionTreeRegressor(), X, y, cv=FOLDS, loss="absolute_error")
    path = pruning_path(tw.DecisionTreeRegressor(), X, y * unit, cv=FOLDS, loss="absolute_error")

    assert np.isfinite(path.cv_error).all()
    assert path.cv_error[-1] / unit == pytest.approx(plain.cv_error[-1])
    assert path.standard_error[-1] / unit == pytest.approx(plain.standard_error[-1])


@pytest.mark.parametrize("unit", [2.0**1019, 2.0**-1000])
def test_weights_of_any_size(unit):
    y, weights = np.array([0, 1] * 6), np.array([1.0, 2.0, 4.0, 3.0] * 3)
    plain = pruning_path(tw.DecisionTreeClassifier(), X, y, cv=FOLDS, sample_weight=weights)
    with pytest.warns(DataWarning, match="add up to") if unit < 1 else nullcontext():
        path = pruning_path(tw.DecisionTreeClassifier(), X, y, cv=FOLDS, sample_weight=weights * unit)

    assert path.cv_error.tolist() == plain.cv_error.tolist()
    assert path.standard_error * np.sqrt(unit) == pytest.approx(plain.standard_error)


def test_rows_of_weight_0_are_no_rows():
    y, kept = np.array([0, 0, 1, 1, 0, 1] * 2), np.arange(12) != 5
    odd = np.where(kept, y, 7)

    one = pruning_path(tw.DecisionTreeClassifier(), X, odd, cv=FOLDS, sample_weight=kept.astype(float))
    other = pruning_path(tw.DecisionTreeClassifier(), X[kept], y[kept], cv=FOLDS[kept])

    assert one.cv_error == pytest.approx(other.cv_error)
    assert one.standard_error == pytest.approx(other.standard_error)


def test_a_huge_number_of_weight_0_harms_nobody():
    y = np.arange(12.0)
    y[5] = 1e300
    path = pruning_path(tw.DecisionTreeRegressor(), X, y, cv=FOLDS, sample_weight=(y < 1e9).astype(float))

    assert np.isfinite(path.cv_error).all()
    assert path.cv_error[-1] > 1.0


def test_folds_whose_other_rows_weigh_nothing_are_refused():
    y = np.array([0, 1] * 6)
    with pytest.raises(DataError) as caught:
        pruning_path(tw.DecisionTreeClassifier(), X, y, cv=FOLDS, sample_weight=(FOLDS == 1).astype(float))

    assert "fold 1 of 3" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    "y",
    [[None] * 12, [np.nan] * 12, [], ["a"] * 11, [{}] * 12, None, np.zeros((12, 0)), 3],
    ids=["none", "nan", "empty", "short", "dicts", "no target", "no outputs", "a number"],
)
def test_targets_that_are_none_are_refused(y):
    with pytest.raises(TreewrightError):
        pruning_path(tw.DecisionTreeClassifier(), X, y, cv=2)


@pytest.mark.parametrize(
    "cv",
    [
        0,
        -3,
        2.5,
        True,
        "5",
        {},
        [],
        [(X, X)],
        [([0, 1], [1, 2])],
        [([0], [99])],
        [[0, 1]],
        np.zeros(12),
        [None] * 12,
        13,
    ],
    ids=str,
)
def test_folds_that_cannot_be_are_refused(cv):
    with pytest.raises(TreewrightError):
        pruning_path(tw.DecisionTreeClassifier(), X, np.array([0, 1] * 6), cv=cv)


@pytest.mark.parametrize("validation", [(), (X,), (X, [0]), (X[:0], []), ("X", "y"), 7, (X, np.full(12, 9))], ids=str)
def test_rows_kept_aside_that_cannot_judge_are_refused(validation):
    with pytest.raises(TreewrightError):
        pruning_path(tw.DecisionTreeClassifier(), X, np.array([0, 1] * 6), validation=validation)


def test_a_level_that_a_fold_never_saw_follows_the_estimators_policy():
    table = {"sky": ["sun"] * 6 + ["rain"] * 5 + ["hail"]}
    y = [0] * 6 + [1] * 6

    path = pruning_path(tw.DecisionTreeClassifier(), table, y, cv=FOLDS)
    assert path.cv_error[0] <= 1 / 12
    with pytest.raises(UnseenLevelError) as caught:
        pruning_path(tw.DecisionTreeClassifier(unseen="error"), table, y, cv=FOLDS)
    assert "fold 2 of 3" in caught.value.__notes__[0]


def test_missing_cells_are_refused_where_the_estimator_refuses_them():
    with pytest.raises(MissingValueError):
        pruning_path(tw.DecisionTreeClassifier(missing="error"), np.where(X == 3, np.nan, X), [0, 1] * 6, cv=FOLDS)


def test_labels_of_every_sort_are_kept_apart():
    rng = np.random.default_rng(0)
    which = rng.integers(0, 3, 30)
    rows = np.arange(30.0)[:, None]
    expected = pruning_path(tw.DecisionTreeClassifier(), rows, which, cv=np.arange(30) % 3).cv_error.tolist()
    for labels in (
        ["a", "ab", "abc"],
        [-(2**62), 0, 2**62],
        [b"x", b"y", b"z"],
        np.array([1, 2, 3], "M8[D]"),
        [0.0, 1.0, 2.0],
    ):
        y = [labels[at] for at in which] if isinstance(labels, list) else labels[which]
        assert pruning_path(tw.DecisionTreeClassifier(), rows, y, cv=np.arange(30) % 3).cv_error.tolist() == expected


def test_squares_beyond_float64_are_refused():
    y = np.array([1.0, 2, 1, 2, 8, 9, 8, 9, 4, 4, 5, 5]) * 1e160
    with pytest.raises(DataError, match="beyond float64"):
        pruning_path(tw.DecisionTreeRegressor(criterion="absolute_error"), X, y, cv=FOLDS, loss="squared_error")


@pytest.mark.parametrize("unit", [1e-170, 1e-300])
@pytest.mark.parametrize("options", [{"cv": FOLDS}, {"cv": None}, {"cv": FOLDS, "loss": "absolute_error"}])
def test_squares_below_float64_are_refused_rather_than_taken_for_0(unit, options):
    y = np.array([1.0, 2, 1, 2, 8, 9, 8, 9, 4, 4, 5, 5]) * unit
    with pytest.raises(TreewrightError, match=r"scale the target|multiply y"):
        pruning_path(tw.DecisionTreeRegressor(), X, y, **options)


@pytest.mark.parametrize("large", [1e200, 1.7e308])
def test_rows_kept_aside_with_numbers_beyond_float64_are_refused_without_a_warning(large):
    y = np.array([1.0, 2, 1, 2, 8, 9, 8, 9, 4, 4, 5, 5])
    with pytest.raises(DataError, match="beyond float64"):
        pruning_path(tw.DecisionTreeRegressor(), X, y, validation=(X[:2], [large, 1.0]))


def test_the_smallest_of_weights_lose_no_digits():
    y, tiny = np.array([0, 1, 0, 0, 1, 1] * 2), np.full(12, 5e-324)
    plain = pruning_path(tw.DecisionTreeClassifier(), X, y, cv=FOLDS)
    with pytest.warns(DataWarning, match="add up to"):
        path = pruning_path(tw.DecisionTreeClassifier(), X, y, cv=FOLDS, sample_weight=tiny)

    assert path.cv_error[-1] == plain.cv_error[-1] > 0


def test_weights_far_below_1_are_told_of_where_they_count_as_rows():
    y = np.array([0, 1, 0, 0, 1, 1] * 2)
    with pytest.warns(
        DataWarning, match="12 rows, and the standard error of pruning_path treats weights as row counts"
    ):
        pruning_path(tw.DecisionTreeClassifier(), X, y, cv=FOLDS, sample_weight=np.full(12, 1e-6))
    with pytest.warns(DataWarning, match="add up to 2e-06 for 2 rows"):
        pruning_path(tw.DecisionTreeClassifier(), X, y, cv=None, validation=(X[:2], y[:2], [1e-6, 1e-6]))


def test_rows_kept_aside_of_one_class_cannot_judge():
    with pytest.raises(DataError, match="are all of class 1"):
        pruning_path(tw.DecisionTreeClassifier(), X, [0, 1] * 6, cv=None, validation=([[1.0]], [1]))


@pytest.mark.parametrize("loss", [np.array(["log", "a"]), ["misclassification"], 5], ids=str)
def test_a_loss_that_is_none_is_refused(loss):
    with pytest.raises(ParameterError, match="loss="):
        pruning_path(tw.DecisionTreeClassifier(), X, [0, 1] * 6, cv=2, loss=loss)
