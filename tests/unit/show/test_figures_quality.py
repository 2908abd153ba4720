"""Claims about the figures of quality: confusion, ROC, precision and recall, calibration, residuals."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_diabetes, load_iris

import treewright as tw
from treewright.exceptions import DataError, ParameterError
from treewright.reporting.figures import quality_figure

CURVE = ([0.0, 0.1, 1.0], [0.0, 0.8, 1.0])
BINS = {"predicted": [0.1, 0.5, 0.9], "happened": [0.2, 0.4, 1.0]}


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def drawn(figure):
    """The figure after it was laid out, as saving does."""
    figure.draw_without_rendering()
    return figure


def test_each_cell_has_its_count_and_is_as_dark_as_its_share_of_the_row():
    ax = drawn(tw.plot.confusion(labels=["no", "yes", "or"], counts=[[8, 2, 0], [1, 1, 2], [0, 0, 0]])).axes[0]
    colors = ax.get_images()[0].get_array()

    assert [text.get_text() for text in ax.texts] == ["8", "2", "0", "1", "1", "2", "0", "0", "0"]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["no", "yes", "or"]
    darkness = 3 - np.asarray(colors, float).sum(axis=2)
    assert darkness[0, 0] > darkness[1, 1] > 0
    assert darkness[1, 2] > darkness[0, 1] > 0
    assert not darkness[2].any()


def test_a_table_of_many_classes_has_shades_alone():
    ax = tw.plot.confusion(labels=range(31), counts=np.eye(31)).axes[0]

    assert not ax.texts


def test_roc_curves_are_drawn_as_given_with_their_areas():
    ax = tw.plot.roc(curves={"yes": CURVE, "no": CURVE}, areas={"yes": 0.85}).axes[0]
    lines = {line.get_label(): np.array(line.get_data()) for line in ax.get_lines()}

    assert legend(ax) == ["yes: area 0.850", "no", "guessing"]
    assert lines["no"].tolist() == [list(CURVE[0]), list(CURVE[1])]
    assert lines["guessing"].tolist() == [[0, 1], [0, 1]]


def test_precision_is_a_step_before_its_recall_and_guessing_is_the_share_of_the_class():
    ax = tw.plot.precision_recall(curves={"yes": CURVE}, averages={"yes": 0.7}, shares={"yes": 0.3}).axes[0]
    curve, guess = ax.get_lines()

    assert legend(ax) == ["yes: average 0.700", "guessing"]
    assert curve.get_drawstyle() == "steps-pre"
    assert set(guess.get_ydata()) == {0.3}


def test_gains_are_drawn_as_given_with_the_best_that_there_can_be():
    ax = tw.plot.gains(curves={"yes": ([0, 0.5, 1], [0, 0.8, 1])}, shares={"yes": 0.25}).axes[0]
    lines = {line.get_label(): np.array(line.get_data()).tolist() for line in ax.get_lines()}

    assert legend(ax) == ["yes", "perfect", "guessing"]
    assert lines == {
        "yes": [[0, 0.5, 1], [0, 0.8, 1]], "perfect": [[0, 0.25, 1], [0, 1, 1]], "guessing": [[0, 1], [0, 1]],
    }  # fmt: skip


def test_lift_is_found_over_taken_also_between_the_points():
    ax = tw.plot.lift(curves={"yes": ([0, 0.2, 1], [0, 0.6, 1])}).axes[0]
    x, y = ax.get_lines()[0].get_data()
    at = dict(zip(x.round(2).tolist(), y.tolist(), strict=True))

    assert legend(ax) == ["yes", "guessing"]
    assert min(x) == 0.01
    assert at[0.01] == at[0.2] == pytest.approx(3.0)
    assert at[0.6] == pytest.approx((0.6 + 0.4 / 2) / 0.6)
    assert at[1.0] == 1.0


def test_calibration_has_points_intervals_and_the_rows_behind_them():
    figure = tw.plot.calibration(
        **BINS,
        low=[0.1, 0.2, 0.7],
        high=[0.4, 0.6, 1.0],
        weight=[5, 9, 6],
        edges=[0, 0.3, 0.7, 1],
        error=0.1,
        label="yes",
    )
    above, below = figure.axes[0].child_axes

    assert legend(above) == ["yes: error 0.100,\nwith 95 % intervals", "as predicted"]
    assert np.array(above.get_lines()[0].get_data()).tolist() == [BINS["predicted"], BINS["happened"]]
    assert [segment[:, 1].tolist() for segment in above.collections[0].get_segments()] == [
        [0.1, 0.4],
        [0.2, 0.6],
        [0.7, 1.0],
    ]
    assert [bar.get_height() for bar in below.patches] == [5, 9, 6]


def test_an_empty_bin_of_calibration_has_no_point():
    ax = tw.plot.calibration(predicted=[0.1, np.nan], happened=[0.2, np.nan]).axes[0]

    assert np.array(ax.get_lines()[0].get_data()).tolist() == [[0.1], [0.2]]


def test_residuals_are_the_true_minus_the_predicted_numbers():
    figure = tw.plot.residuals(truth=[1, 2, 5], predicted=[2, 2, 3], edges=[-1, 0, 2], weight=[1, 2])
    true, rest, histogram = figure.axes[0].child_axes

    assert np.array(true.get_lines()[0].get_data()).tolist() == [[2, 2, 3], [1, 2, 5]]
    assert np.array(rest.get_lines()[0].get_data()).tolist() == [[2, 2, 3], [-1, 0, 2]]
    assert [bar.get_height() for bar in histogram.patches] == [1, 2]
    assert true.get_xlim() == true.get_ylim()


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: tw.plot.confusion(labels=["a"], counts=[[1, 2]]), DataError),
        (lambda: tw.plot.confusion(labels=[], counts=[]), DataError),
        (lambda: tw.plot.confusion(labels=["a"], counts=[[-1]]), DataError),
        (lambda: tw.plot.confusion(labels=["a"], counts=[[np.nan]]), DataError),
        (lambda: tw.plot.confusion(labels=["a"], counts=[["x"]]), DataError),
        (lambda: tw.plot.roc(curves=[CURVE]), ParameterError),
        (lambda: tw.plot.roc(curves={}), DataError),
        (lambda: tw.plot.roc(curves=dict.fromkeys(range(13), CURVE)), DataError),
        (lambda: tw.plot.roc(curves={"a": CURVE[0]}), DataError),
        (lambda: tw.plot.roc(curves={"a": ([0, 2], [0, 1])}), DataError),
        (lambda: tw.plot.roc(curves={"a": ([1, 0], [0, 1])}), DataError),
        (lambda: tw.plot.roc(curves={"a": ([0, 1], [0, 1, 1])}), DataError),
        (lambda: tw.plot.roc(curves={"a": CURVE}, ax="no"), ParameterError),
        (lambda: tw.plot.calibration(predicted=[np.nan], happened=[np.nan]), DataError),
        (lambda: tw.plot.calibration(predicted=[0.5], happened=[1.5]), DataError),
        (lambda: tw.plot.calibration(**BINS, low=[0, 0, 0]), ParameterError),
        (lambda: tw.plot.calibration(**BINS, weight=[1, 1, 1], edges=[0, 1]), DataError),
        (lambda: tw.plot.calibration(**BINS, weight=[1, 1, 1], edges=[0, 1, 1, 2]), DataError),
        (lambda: tw.plot.residuals(truth=[1, 2], predicted=[1]), DataError),
        (lambda: tw.plot.residuals(truth=[], predicted=[]), DataError),
        (lambda: tw.plot.residuals(truth=[1.7e308], predicted=[-1.7e308]), DataError),
        (lambda: tw.plot.residuals(truth=[1], predicted=[1], edges=[0, 1]), ParameterError),
        (lambda: tw.plot.residuals(truth=[1], predicted=[1], edges=[1, 0], weight=[1]), DataError),
    ],
)
def test_what_cannot_be_drawn_is_refused(make, error):
    with pytest.raises(error):
        make()


def test_names_are_drawn_as_they_stand():
    label = "<b>$x_1$</b>\n"
    figure = tw.plot.confusion(labels=[label], counts=[[1]])
    ax = drawn(tw.plot.roc(curves={label: CURVE})).axes[0]

    assert [text.get_text() for text in drawn(figure).axes[0].get_xticklabels()] == [r"<b>\$x_1\$</b>\n"]
    assert legend(ax)[0] == r"<b>\$x_1\$</b>\n"


def test_figures_are_drawn_into_given_axes():
    figure = Figure()
    ax = figure.add_subplot()

    assert tw.plot.residuals(truth=[1, 2], predicted=[2, 2], ax=ax) is figure
    assert len(ax.child_axes) == 2


@pytest.fixture(scope="module")
def part():
    X, y = load_iris(return_X_y=True)
    est = tw.DecisionTreeClassifier(max_depth=2).fit(X[::2], y[::2])
    return tw.report(est, X[1::2], y[1::2], curves=("depth",), cv=2).summary.quality[0]


def test_the_figures_of_a_report_hold_the_numbers_of_its_page(part):
    table = quality_figure(part, "confusion").axes[0]
    curves = quality_figure(part, "roc").axes[0].get_lines()
    above, _ = quality_figure(part, "calibration", label="1").axes[0].child_axes
    errors = quality_figure(part, "depth").axes[0].get_lines()

    assert [float(text.get_text()) for text in table.texts] == [count for row in part.confusion.counts for count in row]
    for rank, line in zip(part.ranks, curves, strict=False):
        assert np.array(line.get_data()).tolist() == [list(rank.false_rate), list(rank.true_rate)]
    held = [each for each in part.calibration[1].happened if each is not None]
    assert above.get_lines()[0].get_ydata().tolist() == held
    assert errors[1].get_ydata().tolist() == list(part.curves[0].test)
    assert legend(quality_figure(part, "precision_recall", label="2").axes[0])[0].startswith("2: average")
    rank, line = part.ranks[2], quality_figure(part, "gains", label="2").axes[0].get_lines()[0]
    taken = rank.share * np.array(rank.true_rate) + (1 - rank.share) * np.array(rank.false_rate)
    assert np.array(line.get_data()) == pytest.approx(np.array([taken, rank.true_rate]))
    assert quality_figure(part, "lift", label="2").axes[0].get_lines()[0].get_ydata()[-1] == 1.0


def test_a_figure_that_a_report_has_not_is_refused_with_the_reason(part):
    X, y = load_diabetes(return_X_y=True)
    other = tw.report(tw.DecisionTreeRegressor(max_depth=2).fit(X, y), X, y, cv=None).summary.quality[0]

    assert len(quality_figure(other, "residuals").axes[0].child_axes) == 3
    for name, held in (("residuals", part), ("learning", part), ("roc", other), ("no", part)):
        with pytest.raises(ParameterError):
            quality_figure(held, name)
    with pytest.raises(ParameterError, match="there are curves of 0, 1, 2"):
        quality_figure(part, "roc", label="setosa")


def test_the_panels_of_residuals_stand_below_each_other_in_a_column_of_a_page():
    given = {"truth": [1, 2, 5], "predicted": [2, 2, 3], "edges": [-1, 0, 2], "weight": [1, 2]}
    with tw.plot.sized("column"):
        panels = drawn(tw.plot.residuals(**given)).axes[0].child_axes
    boxes = [panel.get_window_extent() for panel in panels]

    assert len({round(box.x0) for box in boxes}) == 1
    assert boxes[0].y0 > boxes[1].y1 > boxes[1].y0 > boxes[2].y1


def test_a_report_draws_its_pictures():
    X, y = load_iris(return_X_y=True)
    report = tw.report(tw.DecisionTreeClassifier().fit(X[::2], y[::2]), X[1::2], y[1::2], examples=0)

    assert len(report.figure("roc", label="1").axes[0].get_lines()) == len(
        quality_figure(report.summary.quality[0], "roc", label="1").axes[0].get_lines()
    )
    with pytest.raises(ParameterError, match="output=1: the report has 1 target, counted from 0"):
        report.figure("roc", output=1)
