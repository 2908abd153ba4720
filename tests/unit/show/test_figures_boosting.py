"""The figure of boosting's rounds."""

from __future__ import annotations

import numpy as np
import pytest

import treewright as tw
from treewright.exceptions import DataError, ParameterError
from treewright.plot import boosting_history

TRAIN, OTHER = [4.0, 2.0, 1.0, 0.5], [4.5, 3.0, 2.5, 2.75]


def labels_of(figure):
    return [text.get_text() for text in figure.axes[0].get_legend().get_texts()]


def test_both_curves_begin_before_any_tree():
    figure = boosting_history(train=TRAIN, validation=OTHER, best=2)
    lines = figure.axes[0].get_lines()

    for line, values in zip(lines, (TRAIN, OTHER), strict=False):
        assert line.get_xdata().tolist() == [0, 1, 2, 3]
        assert line.get_ydata().tolist() == values
    assert labels_of(figure) == ["training rows", "other rows", "best round: 2"]
    assert figure.axes[0].get_xlabel() == "rounds"


@pytest.mark.parametrize("given", [{"train": TRAIN}, {"validation": OTHER}])
def test_one_curve_is_enough(given):
    assert len(labels_of(boosting_history(**given))) == 1


def test_a_value_beyond_float64_leaves_a_gap():
    line = boosting_history(train=[None, 2.0, 1.0]).axes[0].get_lines()[0]

    assert np.isnan(line.get_ydata()[0])


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ParameterError, match="neither train nor validation"):
        boosting_history()
    with pytest.raises(ParameterError, match=r"best=4: give a whole number from 0 to 3"):
        boosting_history(train=TRAIN, best=4)
    with pytest.raises(DataError, match="has 3 values"):
        boosting_history(train=TRAIN[:3], validation=OTHER)


def test_first_rounds_far_above_the_others_do_not_press_these_flat():
    late = [3.0 - at / 20 if at < 30 else 1.5 + at / 100 for at in range(58)]
    for sign in (1, -1):
        figure = boosting_history(
            validation=[sign * value for value in (4000.0, 1000.0, 250.0, 60.0, 15.0, 4.0, *late)]
        )
        axes = figure.axes[0]
        low, high = sorted(sign * edge for edge in axes.get_ylim())

        assert -0.5 < low < min(late)
        assert max(late) < high < 4.0
        assert axes.get_xlabel() == "rounds (the frame fits rounds 6 to 63)"
        assert (axes.get_xlim()[0] < 0, axes.get_xlim()[1] > 63) == (True, True)


@pytest.mark.parametrize("values", [[8.0, 4.0, 1.0, 0.5, 0.2], [3.0, 1.0], [3.0], [3.0, 3.0, 3.0], [np.inf, 2.0, 1.0]])
def test_other_curves_are_drawn_whole(values):
    axes = boosting_history(train=[None if value == np.inf else value for value in values]).axes[0]

    assert axes.get_xlabel() == "rounds"
    assert axes.get_ylim()[1] > max(value for value in values if value < np.inf)


def test_a_frame_of_ones_own_is_fitted_too():
    from matplotlib.figure import Figure

    _, axes = Figure().subplots(1, 2)
    boosting_history(train=[900.0, 1.0, 0.9, 0.8], ax=axes)

    assert axes.get_ylim()[1] < 2.0


def test_a_score_is_drawn_as_it_is():
    X = np.arange(80.0).reshape(-1, 1)
    y = X[:, 0] % 20
    boosted = tw.GradientBoostingRegressor(12, scoring=lambda true, said: -np.abs(true - said).mean() - 1)
    axes = boosted.fit(X, y).plot_history().axes[0]

    assert axes.get_ylabel() == "score"
    assert axes.get_lines()[0].get_ydata().tolist() == [-value for value in boosted.history_["train"]]
