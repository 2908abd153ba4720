"""The figure of boosting's rounds."""

from __future__ import annotations

import numpy as np
import pytest

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
    assert labels_of(figure) == ["rows of the fit", "other rows", "best round: 2"]
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
