"""Rows in a plane: how many lie in a region of their own class, what is held, and when the plane misleads."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.colors import to_rgba
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier

import treewright as tw
from treewright.exceptions import DataWarning
from treewright.show.figures.plane import held_text, shown_rows
from treewright.show.style import LIGHT

HIDES = (
    r"held at one value each: choose other features=, hold them elsewhere with fixed=, or draw a model that was fitted"
)
OWN = "in a region of their own class"


class Says:
    """Predicts by a function of the rows."""

    def __init__(self, rule, classes=None):
        self.rule = rule
        if classes is not None:
            self.classes_ = np.array(classes)

    def predict(self, X):
        return self.rule(np.asarray(X))


def above(figure):
    """The lines above the axes."""
    return figure.axes[0].get_title(loc="left").split("\n")


def test_points_in_their_own_colour_are_those_whose_label_is_drawn_where_they_lie():
    X, y = load_iris(return_X_y=True)
    est = KNeighborsClassifier(3).fit(X, y)
    held = np.median(X, axis=0)

    figure = tw.plot.decision_regions(est, X, y, features=(2, 3), resolution=37)

    left, right, low, high = figure.axes[0].images[0].get_extent()
    n_own = 0
    for row, label in zip(X, y, strict=True):
        across = left + (int((row[2] - left) / (right - left) * 37) + 0.5) * (right - left) / 37
        up = low + (int((row[3] - low) / (high - low) * 37) + 0.5) * (high - low) / 37
        n_own += est.predict([[held[0], held[1], across, up]])[0] == label
    assert above(figure) == ["held: column 0 5.8, column 1 3", f"{n_own} of 150 points lie {OWN}"]


def test_in_bands_too_points_are_counted_where_they_lie():
    table = {"city": ["a", "b", "c", "a"] * 3, "x": [0.0, 1.0, 2.0, 3.0] * 3}
    labels = ["no", "yes", "no", "no"] * 2 + ["yes", "yes", "yes", "no"]
    est = tw.DecisionTreeClassifier().fit(table, labels)

    figure = tw.plot.decision_regions(est, table, labels)

    n_own = sum(est.predict(table) == np.array(labels))
    assert above(figure) == [f"{n_own} of 12 points lie {OWN}"]


def test_a_missing_label_is_not_counted_and_a_strange_one_is_in_no_colour_of_its_own():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 0.0], [np.nan, 0.0]])
    est = Says(lambda X: np.where(X[:, 0] > 1.5, "far", "near"), ["far", "near"])

    assert above(tw.plot.decision_regions(est, X, ["near", None, "else", "far", "far"])) == [
        "2 of 3 points lie in a region of their own class"
    ]
    assert above(tw.plot.decision_regions(est, X, ["near", "far", "near", "near", "far"])) == [
        "1 of 4 points lies in a region of their own class"
    ]
    assert above(tw.plot.decision_regions(est, X, [None] * 5)) == [""]
    assert above(tw.plot.decision_regions(est, X)) == [""]


def test_of_many_rows_those_that_are_drawn_are_counted():
    X = np.random.default_rng(0).random((3000, 2))
    y = X[:, 0] > 0.5

    figure = tw.plot.decision_regions(tw.DecisionTreeClassifier().fit(X, y), X, y, sample_points=1500, resolution=500)

    assert above(figure)[0].endswith(" of 1,500 drawn points lie in a region of their own class")


def test_one_class_in_all_of_the_plane_is_warned_of_with_or_without_labels():
    X = np.random.default_rng(0).random((60, 3))
    y = np.where(X[:, 2] > 0.4, "high", "low")
    est = tw.DecisionTreeClassifier().fit(X, y)

    for labels in (y, None):
        with pytest.warns(DataWarning, match=f"the whole plane is predicted high, where the 1 other column is {HIDES}"):
            tw.plot.decision_regions(est, X, labels, resolution=5)


def test_one_number_in_all_of_the_plane_is_warned_of():
    X = np.random.default_rng(0).random((60, 4))
    est = tw.DecisionTreeRegressor().fit(X, X[:, 2] > 0.4)

    with pytest.warns(
        DataWarning, match=f"the whole plane is predicted one number, where the 2 other columns are {HIDES}"
    ):
        tw.plot.decision_regions(est, X, resolution=5)


def test_a_plane_in_which_most_points_have_another_colour_is_warned_of():
    X, y = load_wine(return_X_y=True)
    est = tw.DecisionTreeClassifier(random_state=0).fit(X, y)

    with pytest.warns(DataWarning, match=f"only [0-9]+ of 178 points lie {OWN}, where the 11 .* {HIDES}"):
        tw.plot.decision_regions(est, X, y)


def test_a_plane_that_hides_one_class_is_warned_of():
    rows = pl.read_csv("examples/penguins.csv")
    X, species = rows.drop("species"), rows["species"]
    est = tw.DecisionTreeClassifier(max_depth=4).fit(X, species)

    with pytest.warns(DataWarning, match=f"only [0-9] of 68 points of Chinstrap lie {OWN}, .* {HIDES}"):
        tw.plot.decision_regions(est, X, species, features=("bill_length_mm", "bill_depth_mm"))


def test_the_warning_names_the_line_that_asked_for_the_figure():
    X = np.random.default_rng(0).random((60, 3))
    est = tw.DecisionTreeClassifier().fit(X, X[:, 2] > 0.4)

    with pytest.warns(DataWarning) as caught:
        tw.plot.decision_regions(est, X, resolution=5)

    assert [warning.filename for warning in caught] == [__file__]


def test_a_plane_without_held_columns_or_with_one_class_to_expect_is_never_warned_of():
    X = np.random.default_rng(0).random((60, 3))
    stump = Says(lambda X: np.full(len(X), "a"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tw.plot.decision_regions(stump, X[:, :2], ["a", "b", "c"] * 20, resolution=5)
        tw.plot.decision_regions(stump, X, ["a"] * 60, resolution=5)
        tw.plot.decision_regions(stump, X, resolution=5)
    with pytest.warns(DataWarning, match="the whole plane is predicted a"):
        tw.plot.decision_regions(stump, X, ["a", "a", "b"] * 20, resolution=5)


def test_up_to_six_held_columns_are_all_named_in_lines_and_of_more_the_first_six():
    assert held_text([("age", "31")]) == "held: age 31"
    six = held_text([(f"a column with a long name {at}", "1.5") for at in range(6)])
    assert [six.count(f"name {at} 1.5") for at in range(6)] == [1] * 6
    assert "more" not in six
    for n in (7, 10_000):
        lines = held_text([(f"a column with a long name {at}", "1.5") for at in range(n)]).split("\n")
        assert "\n".join(lines) == f"{six},\nand {n - 6} more" or "\n".join(lines) == f"{six}, and {n - 6} more"
        assert max(map(len, lines)) <= 76


def test_a_line_feed_in_a_name_is_no_line_of_the_figure():
    X = pd.DataFrame(np.random.default_rng(0).random((9, 3)), columns=["x", "y", "$a$\nb"])
    est = Says(lambda X: np.where(X[:, 0] > 0.5, "a", "b"))

    assert above(tw.plot.decision_regions(est, X, fixed={2: 1}, resolution=4)) == [r"held: \$a\$\nb 1"]


def test_rows_shown_are_all_rows_where_they_are_few():
    class Plane:
        across = up = type("Axis", (), {"points": np.array([1.0, np.nan, 2.0])})

    assert shown_rows(Plane(), 5).tolist() == [0, 2]


def test_points_of_numbers_have_a_white_edge_in_a_dark_one_at_the_same_places():
    X = np.arange(40.0).reshape(20, 2) % 7
    y = np.append(np.arange(19.0), np.nan)

    figure = tw.plot.decision_regions(LinearRegression().fit(X[:19], y[:19]), X, y, resolution=5)
    around, points = figure.axes[0].collections

    assert np.array_equal(around.get_offsets(), X[:19])
    assert np.array_equal(points.get_offsets(), X[:19])
    assert np.array_equal(points.get_edgecolors(), [to_rgba(LIGHT.page)])
    assert np.array_equal(around.get_facecolors(), [to_rgba(LIGHT.ink)] * 19)
    outer_white = np.sqrt(points.get_sizes()[0]) + points.get_linewidths()[0]
    assert np.sqrt(around.get_sizes()[0]) - outer_white >= 1
    assert np.array_equal(points.get_array(), y[:19])


@pytest.mark.parametrize(
    ("y", "label"),
    [
        (pl.Series("pay in $", range(8)), r"pay in \$, predicted (points: observed)"),
        (pd.Series(range(8), name="pay"), "pay, predicted (points: observed)"),
        (pd.Series(range(8)), "prediction (points: y)"),
        (list(range(8)), "prediction (points: y)"),
        (None, "prediction"),
    ],
)
def test_the_colour_bar_has_the_name_of_the_target(y, label):
    X = np.arange(16.0).reshape(8, 2)

    figure = tw.plot.decision_regions(LinearRegression().fit(X, range(8)), X, y, resolution=5)

    assert figure.axes[1].get_ylabel() == label


def test_the_colour_bar_asks_the_model_for_the_name_that_y_does_not_have():
    X = np.arange(16.0).reshape(8, 2)
    est = tw.DecisionTreeRegressor().fit(X, pl.Series("pay", range(8)) % 5)

    assert est.model_.target_names == ("pay",)
    figures = [tw.plot.decision_regions(one, X, resolution=5) for one in (est, est.model_)]
    assert [figure.axes[1].get_ylabel() for figure in figures] == ["pay, predicted"] * 2
