"""Tables, targets and estimators that do not go together are refused by name, never computed with."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

import treewright as tw
from treewright.exceptions import DataError, ParameterError, TooLargeError
from treewright.model_selection import bias_variance, bias_variance_curve

X, Y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0]


class Answers(RegressorMixin, BaseEstimator):
    """Predicts what it was told to, whatever it is asked."""

    def __init__(self, answer=None):
        self.answer = answer

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.answer


class Labels(ClassifierMixin, Answers):
    """The same as a classifier."""


@pytest.mark.parametrize(
    ("X_test", "y_test", "true_values", "message"),
    [
        ([], [], None, "X_test has 0 rows"),
        (np.empty((0, 1)), [], None, "X_test has 0 rows"),
        ([[1.0]], [], None, "y_test: .*0 samples"),
        ([[1.0]], None, None, "y_test: "),
        ([[1.0]], [1.0, 2.0], None, "X_test has 1 rows and y_test has 2"),
        ([[1.0]], [1.0], [1.0, 2.0], "X_test has 1 rows and true_values has 2"),
        ([[1.0]], [np.nan], None, "y_test has 1 missing|y_test: .*missing"),
        ([[1.0]], [np.inf], None, "infinite"),
        ([[1.0]], [1.0], [np.nan], "true_values: "),
        ([[1.0]], ["a"], None, "y_test: .*not a number"),
        ([[1.0]], [[1.0, 2.0]], None, "round 0 predicts 1 rows and 1 outputs"),
        ([[1.0]], [1.0], [[1.0, 2.0]], "1 outputs and true_values has 2"),
    ],
)
def test_test_rows_that_do_not_fit_are_refused(X_test, y_test, true_values, message):
    with pytest.raises(DataError, match=message):
        bias_variance(tw.DecisionTreeRegressor(), X, Y, X_test, y_test, true_values=true_values, n_rounds=2)


@pytest.mark.parametrize(("table", "target"), [(X, Y[:3]), ([], []), (X, [0.0, 1.0, np.nan, 3.0])])
def test_training_rows_that_do_not_fit_are_refused(table, target):
    with pytest.raises(DataError):
        bias_variance(tw.DecisionTreeRegressor(), table, target, [[1.0]], [1.0], n_rounds=20)


@pytest.mark.parametrize("weights", [[1, 2, 3], [-1, 1, 1, 1], [0, 0, 0, 0], [np.nan, 1, 1, 1]])
def test_weights_that_cannot_be_are_refused(weights):
    with pytest.raises(DataError):
        bias_variance(tw.DecisionTreeRegressor(), X, Y, [[1.0]], [1.0], sample_weight=weights, n_rounds=2)


@pytest.mark.parametrize("answer", [[np.nan, 1.0], [np.inf, 1.0], [1.0], [1.0, 2.0, 3.0], [[1.0, 2.0], [1.0, 2.0]]])
def test_predictions_that_are_no_numbers_or_too_many_are_refused(answer):
    with pytest.raises(DataError, match="round 0"):
        bias_variance(Answers(np.array(answer)), X, Y, [[1.0], [2.0]], [1.0, 2.0], n_rounds=2)


def test_squares_beyond_float64_are_refused():
    with pytest.raises(DataError, match="beyond float64"):
        bias_variance(Answers(np.array([1e200])), X, Y, [[1.0]], [-1e200], n_rounds=2)


def test_labels_of_types_that_do_not_compare_are_refused():
    with pytest.raises(DataError, match="cannot be compared: int, str"):
        bias_variance(Labels(np.array(["a"])), X, Y, [[1.0]], [1], n_rounds=2)


def test_classes_that_are_not_whole_numbers_are_refused():
    with pytest.raises(DataError, match="continuous"):
        bias_variance(Labels(np.array([1.0])), X, Y, [[1.0]], [0.5], n_rounds=2)


def test_a_label_that_no_training_set_can_hold_is_refused():
    letters = ["a", "b", "a", "b"]
    with pytest.raises(DataError, match="y_test holds the label 'new', which no row of y with weight has"):
        bias_variance(tw.DecisionTreeClassifier(), X, letters, [[1.0], [2.0]], ["a", "new"], n_rounds=5)
    with pytest.raises(DataError, match="the label 'b'"):
        bias_variance(
            tw.DecisionTreeClassifier(), X, letters, [[1.0]], ["b"], n_rounds=5, sample_weight=[1.0, 0.0, 1.0, 0.0]
        )


def test_a_label_that_drawn_training_sets_lack_is_simply_wrong():
    def draw(rng):
        return X, ["a", "b", "a", "b"]

    parts = bias_variance(
        tw.DecisionTreeClassifier(), None, None, [[1.0], [2.0]], ["new", "new"], draw=draw, n_rounds=5
    )

    assert (parts.loss, parts.bias_and_noise, parts.variance) == (1.0, 1.0, 0.0)


def test_squares_below_float64_are_refused_rather_than_taken_for_0():
    y = np.array([1.0, 2.0, 4.0, 3.0]) * 1e-170
    with pytest.raises(DataError, match="below float64: multiply y"):
        bias_variance(tw.DecisionTreeRegressor(), X, y, X, y, n_rounds=10)


@pytest.mark.parametrize("loss", [np.array(["log", "a"]), ["squared_error"], 5], ids=str)
def test_a_loss_that_is_none_is_refused(loss):
    with pytest.raises(ParameterError, match="loss="):
        bias_variance(tw.DecisionTreeRegressor(), X, Y, X, Y, loss=loss)


@pytest.mark.parametrize("values", [None, 5, "12"])
def test_values_that_are_no_list_are_refused(values):
    with pytest.raises(ParameterError, match="values="):
        bias_variance_curve(lambda depth: tw.DecisionTreeRegressor(max_depth=depth), values, X, Y, X, Y)


@pytest.mark.parametrize(
    "make", [tw.DecisionTreeRegressor, lambda: 1, lambda value: 1], ids=["class", "none", "number"]
)
def test_a_function_that_makes_no_estimator_of_a_value_is_refused(make):
    with pytest.raises(ParameterError, match=r"make\(1\) raised|cannot be fitted again"):
        bias_variance_curve(make, [1], X, Y, X, Y)


def test_numbers_far_from_zero_keep_their_variance():
    said = bias_variance(tw.DecisionTreeRegressor(), X, Y, X, Y, n_rounds=20)
    far = bias_variance(tw.DecisionTreeRegressor(), X, np.add(Y, 2**30), X, np.add(Y, 2**30), n_rounds=20)

    assert far.variance == pytest.approx(said.variance, rel=1e-9)
    assert far.loss == pytest.approx(said.loss, rel=1e-9)


def test_more_rounds_than_memory_are_refused_before_the_first():
    with pytest.raises(TooLargeError, match="n_rounds"):
        bias_variance(Answers(np.zeros(4)), X, Y, X, Y, n_rounds=10**13)
