"""How a curve is printed and drawn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold

import treewright as tw
from treewright.evaluation.curves import LOG_FROM, Curve
from treewright.exceptions import ParameterError
from treewright.model_selection import error_curve, learning_curve

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[::2], Y[::2]
TREE = tw.DecisionTreeClassifier()
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


def by_hand(test, over="leaves", loss="squared_error"):
    """A curve with these errors of two folds."""
    test = np.array(test, np.float64)
    return Curve("Tree", over, tuple(range(1, test.shape[1] + 1)), test / 2, test, np.arange(1.0, test.shape[1] + 1),
                 loss, 100)  # fmt: skip


@pytest.mark.parametrize("bad", [np.inf, np.nan, 1.7e308])
def test_a_curve_with_errors_beyond_float64_is_still_printed(bad):
    for test in ([[bad, 1.0, 2.0]] * 2, [[bad, bad], [bad, 1.0]], [[bad], [bad]], [[bad, 1.0], [2.0, bad]]):
        curve = by_hand(test)
        assert "Tree, 2 folds of 100 rows" in str(curve)
        assert repr(curve) == str(curve)
    assert by_hand([[np.nan, 1.0, 2.0]] * 2).best == 2


def test_a_long_curve_is_printed_with_its_ends_and_what_is_near_a_mark():
    errors = np.abs(np.arange(200.0) - 100) + 1

    lines = str(by_hand([errors, errors * 1.001])).splitlines()

    left = [int(line.split()[1].replace(",", "")) for line in lines if "more: to_dict() has every point" in line]
    assert len(lines) < 40
    assert len(lines) - 2 - len(left) + sum(left) == 200
    assert any("best" in line for line in lines)


def test_a_standard_error_has_the_decimals_of_its_error():
    lines = str(by_hand([[6801.0, 0.0614], [5001.0, 0.0414]])).splitlines()[2:]

    assert [line.split()[2:4] for line in lines] == [["5901", "900"], ["0.0514", "0.0100"]]


def test_many_leaves_are_drawn_on_a_logarithmic_axis():
    assert by_hand(np.ones((2, LOG_FROM))).plot().axes[0].get_xscale() == "log"
    assert by_hand(np.ones((2, LOG_FROM - 1))).plot().axes[0].get_xscale() == "linear"


def test_what_is_printed_fits_into_80_columns():
    for curve in (error_curve(TREE, X, Y, over="alpha", cv=3), learning_curve(TREE, X, Y, sizes=[50], cv=3)):
        assert max(map(len, str(curve).splitlines())) <= 80
    words = error_curve(TREE, X, Y, over="criterion", values=["gini", "entropy"], cv=3)
    assert "gini" in str(words)
    with pytest.raises(ParameterError, match="criterion has the value 'gini'"):
        words.plot()


def test_a_curve_is_drawn_with_its_bands_and_marks():
    curve = error_curve(TREE, X, Y, over="alpha", cv=FOLDS)

    (axes,) = curve.plot().axes

    assert axes.get_xscale() == "log"
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("alpha", "misclassification rate")
    drawn = [line.get_ydata().tolist() for line in axes.get_lines() if len(line.get_xdata()) == len(curve.x)]
    assert sorted(drawn) == sorted([curve.train_error.tolist(), curve.test_error.tolist()])
    legend = " ".join(text.get_text() for text in axes.get_legend().get_texts())
    assert "best" in legend
    assert "1 s.e." in legend


def test_a_learning_curve_and_a_curve_of_one_fold_are_drawn():
    learning = learning_curve(TREE, X, Y, sizes=[50, 100], cv=2).plot(xlabel="training rows")
    once = error_curve(TREE, X, Y, values=[1, 2], cv=[(range(200), range(200, 285))]).plot()

    assert learning.axes[0].get_xlabel() == "training rows"
    assert once.axes[0].get_xscale() == "linear"
