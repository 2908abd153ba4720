"""Figures of partial dependence: what they draw, and that names cannot break them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.datasets import load_iris

import treewright as tw
from treewright.exceptions import DataError, ParameterError
from treewright.plot import dependence_lines, dependence_map
from treewright.show.style import class_color

X, Y = load_iris(return_X_y=True)
TREE = tw.DecisionTreeClassifier().fit(X, Y)
SKY = {"sky": ["sun", "rain", "sun", "fog"] * 8, "wind": [float(at) for at in range(32)]}
WALK = tw.DecisionTreeClassifier(numeric=["wind"]).fit(SKY, ["go", "stay", "go", "stay"] * 8)


def lines_of(figure, label):
    return [line for line in figure.axes[0].get_lines() if line.get_label() == label]


def test_each_class_is_a_line_in_its_own_colour():
    found = TREE.partial_dependence(X, 2, individual=5)
    figure = found.plot()

    for place in range(3):
        (line,) = lines_of(figure, str(place))
        assert line.get_ydata().tolist() == found.values[place].tolist()
        assert to_hex(line.get_color()) == class_color(place)
    assert figure.axes[0].get_ylabel() == "mean probability of the class"


def test_one_class_is_drawn_with_its_single_rows():
    found = TREE.partial_dependence(X, 2, individual=5)
    figure = found.plot(label=1)

    (mean,) = lines_of(figure, "mean of 150 rows")
    assert mean.get_ydata().tolist() == found.values[1].tolist()
    drawn = [
        line.get_ydata().tolist()
        for line in figure.axes[0].get_lines()
        if len(line.get_xdata()) == found.values.shape[1]
    ]
    assert all(row in drawn for row in found.individual[1].tolist())
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == [
        "mean of 150 rows",
        "5 single rows",
    ]


def test_levels_are_points_that_nothing_joins():
    figure = WALK.partial_dependence(SKY, "sky", individual=4).plot()

    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == ["fog", "rain", "sun"]
    (mean,) = lines_of(figure, "mean of 32 rows")
    assert mean.get_linestyle() == "None"
    assert mean.get_ydata().tolist() == [1.0, 1.0, 0.0]


def test_a_pair_is_a_map_whose_fields_are_the_answers():
    found = WALK.partial_dependence(SKY, "wind", "sky")
    figure = found.plot()
    (mesh,) = figure.axes[0].collections

    assert np.asarray(mesh.get_array()).tolist() == found.values[0].T.tolist()
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["fog", "rain", "sun"]


def test_names_are_drawn_as_they_stand(tmp_path):
    name, level = "$x_{<b>}$\n", "$\\frac{"
    est = tw.DecisionTreeClassifier().fit({name: [level, "b"] * 10}, ["$a", "b^"] * 10)
    figure = est.partial_dependence({name: [level, "b"] * 10}, name, individual=2).plot()

    figure.savefig(tmp_path / "figure.svg")
    assert r"\$x_{<b>}\$\n" in figure.axes[0].get_xlabel()


def test_one_value_is_drawn_too(tmp_path):
    one = TREE.partial_dependence(X, 2, grid=[3.0]).plot()
    pair = TREE.partial_dependence(X, 2, 3, grid=([3.0], [1.0])).plot()
    one.savefig(tmp_path / "one.png")
    pair.savefig(tmp_path / "pair.png")

    for figure in (one, pair):
        low, high = figure.axes[0].get_xlim()
        assert low < 3.0 < high
    assert len(one.axes[0].get_lines()) >= 3


def test_a_class_that_is_not_there_is_refused():
    with pytest.raises(ParameterError, match="label=7: the classes here are 0, 1, 2"):
        TREE.partial_dependence(X, 2).plot(label=7)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"x": [0, 1], "means": [[1, 2, 3]]}, r"means has shape \(1, 3\): give 1 rows of 2 numbers"),
        ({"x": [0, 1], "means": [[1, 2], [3, 4]]}, "give 1 rows"),
        ({"x": [0, 1], "means": [["a", "b"]]}, "means must be numbers"),
        ({"x": [0, np.nan], "means": [[1, 2]]}, "x has 1 values that are not finite"),
        ({"x": [0, 1], "means": [[1, np.inf]]}, "means has 1 values that are not finite"),
        ({"x": [0, 1], "means": [[1, 2]], "individual": [1, 2]}, "individual has shape"),
        ({"x": [0, 1], "means": [[1, 2], [3, 4]], "names": "ab", "individual": [[1, 2]]}, "one line of means"),
    ],
)
def test_arrays_that_do_not_go_together_are_refused(given, told):
    with pytest.raises(DataError, match=told):
        tw.plot.dependence_lines(**given)


def test_a_map_of_other_shape_is_refused():
    with pytest.raises(DataError, match=r"means has shape \(1, 2\): give 2 rows of 1 numbers"):
        tw.plot.dependence_map(x=[0, 1], y=["a"], means=[[1, 2]])


def test_days_stand_as_dates_on_the_axis_of_a_figure():
    figure = dependence_lines(x=[18628.0, 18900.0], means=[[1, 2]], dates=("date", ""))
    figure.canvas.draw()
    ticks = [text.get_text() for text in figure.axes[0].get_xticklabels()]
    assert all(re.fullmatch(r"202[01]-\d\d-\d\d", tick) for tick in ticks), ticks

    figure = dependence_map(x=[0.0, 2.0], y=[0.25, 0.5], means=[[1, 2], [3, 4]], dates=(("", ""), ("time", "")))
    figure.canvas.draw()
    ticks = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert all(re.fullmatch(r"\d\d:\d\d(:\d\d)?", tick) for tick in ticks), ticks
    assert "0.5" in [text.get_text() for text in figure.axes[0].get_xticklabels()]
