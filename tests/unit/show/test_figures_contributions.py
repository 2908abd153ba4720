"""Pictures of contributions: what they show, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import treewright as tw
from treewright.exceptions import DataError, ParameterError
from treewright.plot import (
    contribution_lines,
    contribution_map,
    contribution_scatter,
    contribution_swarm,
    contribution_waterfall,
)

pytest.importorskip("matplotlib")
RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=(60, 15)) * np.linspace(3, 0.1, 15)
NAMES = [f"column {at}" for at in range(15)]


def texts(axis):
    return [text.get_text() for text in axis.get_yticklabels()]


def test_a_waterfall_goes_from_the_base_to_the_answer_and_sums_up_the_smallest():
    figure = contribution_waterfall(names=NAMES, values=VALUES[0], base=2.0, most=5)
    ax = figure.axes[0]
    assert texts(ax)[-1] == "10 more"
    bars = list(ax.patches)
    ends = [bar.get_x() + bar.get_width() for bar in bars]
    assert bars[0].get_x() == pytest.approx(2.0)
    assert ends[-1] == pytest.approx(2.0 + VALUES[0].sum())
    sizes = [abs(bar.get_width()) for bar in bars[:5]]
    assert sizes == sorted(sizes, reverse=True)


def test_a_swarm_has_a_dot_for_each_row_and_the_most_important_columns_first():
    cells = RNG.normal(size=VALUES.shape)
    cells[:7, 0] = np.nan
    figure = contribution_swarm(names=NAMES, values=VALUES, cells=cells, most=4)
    ax = figure.axes[0]
    importances = np.abs(VALUES).mean(axis=0)
    assert texts(ax) == [NAMES[at] for at in np.argsort(-importances)[:4]]
    assert sum(len(dots.get_offsets()) for dots in ax.collections) == 4 * 60


def test_a_scatter_knows_numbers_and_levels():
    shaded = contribution_scatter(x=[1.0, np.nan, 3.0], values=[1, 2, 3], shade=[1, 2, np.nan], zlabel="z")
    assert shaded.axes[1].get_ylabel() == "z"
    levels = contribution_scatter(x=["a", None, "b"], values=[1, 2, 3])
    assert [text.get_text() for text in levels.axes[0].get_xticklabels()] == ["a", "b"]


def test_lines_end_at_the_answers_and_a_map_has_the_rows_by_their_answer():
    figure = contribution_lines(names=NAMES, values=VALUES, base=1.0, most=6)
    ends = [line.get_xdata()[-1] for line in figure.axes[0].lines[1:]]
    np.testing.assert_allclose(ends, 1.0 + VALUES.sum(axis=1))
    assert texts(figure.axes[0])[0] == "9 more"
    answers = VALUES.sum(axis=1)
    image = contribution_map(names=NAMES, values=VALUES, answers=answers, most=15).axes[0].images[0].get_array()
    np.testing.assert_allclose(np.asarray(image).sum(axis=0), np.sort(answers))


@pytest.mark.parametrize(
    ("draw", "error", "words"),
    [
        (lambda: contribution_waterfall(names=[], values=[], base=0.0), DataError, "names is empty"),
        (lambda: contribution_waterfall(names=["a"], values=[1.0], base=0.0, most=0), ParameterError, "most=0"),
        (lambda: contribution_swarm(names=["a"], values=[[1.0, 2.0]], cells=[[1.0]]), DataError, "shape"),
        (lambda: contribution_swarm(names=["a"], values=[[1.0]], cells=[[1.0], [2.0]]), DataError, "cells has shape"),
        (lambda: contribution_lines(names=["a"], values=[[np.inf]], base=0.0), DataError, "finite"),
        (lambda: contribution_map(names=["a"], values=np.empty((0, 1)), answers=[]), DataError, "empty"),
        (lambda: contribution_scatter(x=[1.0], values=[1.0], shade=[1.0, 2.0]), DataError, "one for each"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, error, words):
    with pytest.raises(error, match=words):
        draw()


def test_an_explanation_draws_itself():
    table = {"sky": ["sun", "rain", None, "sun"] * 10, "wind": RNG.normal(size=40), "day": [True, False] * 20}
    found = tw.RandomForestClassifier(5).fit(table, ["a", "b"] * 20).explain(table)
    assert found.rows(0).plot(output="a").axes[0].get_xlabel() == "probability of a"
    assert found.plot().axes[0].get_xlabel() == "contribution to the probability of b"
    for kind in ("bars", "lines", "map", "scatter"):
        assert found.plot(kind).axes
    for column in ("sky", "wind", "day"):
        assert found.plot("scatter", column=column, partner="wind").axes[0].get_xlabel() == column
    one = tw.DecisionTreeRegressor().fit({"x": [1.0, 2.0, 4.0]}, [1.0, 5.0, 2.0]).explain({"x": [1.0, 2.0]})
    assert len(one.plot("scatter").axes) == 1  # nobody to shade by


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kind": "pie"}, "choose one of 'waterfall'"),
        ({"kind": "waterfall"}, r"rows\(0\)"),
        ({"kind": "scatter", "column": "no"}, "no column of the explanation"),
        ({"output": "no"}, "no output"),
    ],
)
def test_an_explanation_says_what_it_cannot_draw(options, words):
    table = {"x": [1.0, 2.0, 4.0], "z": [1.0, 0.0, 1.0]}
    found = tw.DecisionTreeClassifier().fit(table, ["a", "b", "b"]).explain(table)
    with pytest.raises(ParameterError, match=words):
        found.plot(**options)
    with pytest.raises(ParameterError, match="order=1"):
        tw.DecisionTreeClassifier().fit(table, ["a", "b", "b"]).explain(table, order=2).plot()
    with pytest.raises(ParameterError, match="no rows"):
        found.rows(slice(0, 0)).plot()
