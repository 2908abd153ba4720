"""Claims about figures made of arrays: curves, pruners side by side, impurity."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import treewright as tw
from treewright.evaluation.curves import Curve
from treewright.exceptions import DataError, ParameterError
from treewright.show.figures.bars import two_class_impurity
from treewright.show.figures.look import drawable

PATH = {
    "n_leaves": [9, 6, 4, 2, 1],
    "train": [0.0, 0.01, 0.02, 0.1, 0.5],
    "cv": [0.09, 0.06, 0.06, 0.07, 0.5],
    "se": [0.02, 0.02, 0.02, 0.03, 0.04],
}
PARTS = {"x": [1, 2, 3], "bias_squared": [4.0, 1.0, 0.5], "variance": [0.5, 1.0, 3.0], "loss": [5.5, 3.0, 4.5]}
PRUNERS = {"methods": ["unpruned", "ccp"], "n_leaves": [40, 6], "train_error": [0.0, 0.05], "valid_error": [0.12, 0.09]}


def texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def lines(ax):
    """Label to points of every line."""
    return {line.get_label(): np.column_stack(line.get_data()) for line in ax.get_lines()}


def test_errors_stand_over_the_number_of_leaves_smallest_tree_first():
    ax = tw.plot.error_against_size(**PATH).axes[0]

    drawn = lines(ax)

    assert drawn["training rows"].tolist() == [[1, 0.5], [2, 0.1], [4, 0.02], [6, 0.01], [9, 0]]
    assert drawn["cross-validated"].tolist() == [[1, 0.5], [2, 0.07], [4, 0.06], [6, 0.06], [9, 0.09]]
    assert ax.get_xlabel() == "leaves"


def test_of_equal_least_errors_the_smallest_tree_is_marked_and_the_line_is_one_standard_error_above():
    drawn = lines(tw.plot.error_against_size(**PATH, chosen=3, rule="1se").axes[0])

    assert drawn["least error:\n4 leaves, 0.06"].tolist() == [[4, 0.06]]
    assert drawn["one-standard-error rule:\n2 leaves, 0.07"].tolist() == [[2, 0.07]]
    assert np.allclose(drawn["least error\n+ one standard error"][:, 1], 0.08)


def test_the_least_error_that_is_chosen_is_marked_once():
    ax = tw.plot.error_against_size(**PATH, chosen=2, rule="min").axes[0]

    assert texts(ax) == [
        "training rows", "cross-validated", "least error\n+ one standard error", "least error:\n4 leaves, 0.06",
    ]  # fmt: skip


def test_the_band_reaches_one_standard_error_to_either_side():
    band = tw.plot.error_against_size(**PATH).axes[0].collections[0]

    edges = band.get_paths()[0].vertices

    assert {(1.0, 0.46), (1.0, 0.54), (9.0, 0.07), (9.0, 0.11)} <= {tuple(np.round(edge, 9)) for edge in edges}


def test_alphas_stand_above_the_leaves_of_their_step():
    figure = tw.plot.error_against_size(**PATH, alphas=[0.0, 0.001, 0.004, 0.02, 0.4])

    figure.draw_without_rendering()
    top = figure.axes[0].child_axes[0]
    shown = {label.get_text(): place for label, place in zip(top.get_xticklabels(), top.get_xticks(), strict=True)}

    assert top.get_xlabel() == "alpha, the price of a leaf"
    assert shown["0.4"] == 1
    assert shown["0"] == 9


def alphas_of(figure):
    """Text, and where it begins and ends, of every alpha; drawn as it will be seen."""
    FigureCanvasAgg(figure).draw()
    labels = figure.axes[0].child_axes[0].get_xticklabels()
    return [(label.get_text(), *label.get_window_extent().intervalx) for label in labels]


@pytest.mark.parametrize("width", [3.5, 5.0, 8.4, 20.0])
def test_alphas_do_not_touch_however_wide_the_figure_is(width):
    leaves = [30, 25, 12, 8, 6, 5, 4, 3, 2, 1]
    alphas = [0.0, 0.00012, 0.000831, 0.00289, 0.00312, 0.00831, 0.0123, 0.0000333, 0.0444, 0.0000123]
    figure = tw.plot.error_against_size(n_leaves=leaves, train=np.arange(10), alphas=alphas)
    figure.set_size_inches(width, 4.6)

    drawn = alphas_of(figure)

    assert drawn[0][0] == "0.0000123"
    assert all(right + 5 <= left for (_, _, right), (_, left, _) in pairwise(drawn))
    assert len(drawn) >= min(5, int(width) - 1)


def test_a_figure_that_is_made_wider_has_room_for_more_alphas():
    figure = tw.plot.error_against_size(n_leaves=range(9, 0, -1), train=range(9), alphas=np.arange(9) / 123456)

    figure.set_size_inches(5, 4.6)
    few = len(alphas_of(figure))
    figure.set_size_inches(14, 4.6)

    assert 1 <= few < len(alphas_of(figure)) == 6


@pytest.mark.parametrize("k", [1, 2, 60, 3000])
def test_a_path_of_any_length_keeps_every_step_and_few_ticks(k):
    leaves = np.arange(k, 0, -1)
    errors = np.linspace(0, 0.5, k)

    figure = tw.plot.error_against_size(
        n_leaves=leaves, train=errors, cv=errors, se=errors / 10, alphas=errors, chosen=0
    )
    figure.draw_without_rendering()
    ax = figure.axes[0]

    assert len(lines(ax)["cross-validated"]) == k
    assert ax.get_xscale() == ("log" if k >= 20 else "linear")
    assert 1 <= len([tick for tick in ax.get_xticks() if ax.get_xlim()[0] <= tick <= ax.get_xlim()[1]]) <= 11
    assert 1 <= len(ax.child_axes[0].get_xticks()) <= 6


def test_a_path_without_other_rows_has_one_line():
    ax = tw.plot.error_against_size(n_leaves=[3, 1], train=[0, 0.5]).axes[0]

    assert texts(ax) == ["training rows"]


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"train": [0, 1]}, DataError, "train has 2 values and n_leaves has 5"),
        ({"n_leaves": []}, DataError, "n_leaves is empty"),
        ({"n_leaves": [0, 6, 4, 2, 1]}, DataError, "at least one leaf"),
        ({"cv": [0.1, np.nan, 0, 0, 0]}, DataError, "cv has 1 values that are not finite"),
        ({"se": [-1, 0, 0, 0, 0]}, DataError, "below 0"),
        ({"cv": ["a"] * 5}, DataError, "cv must be numbers"),
        ({"cv": None}, ParameterError, "give cv as well"),
        ({"chosen": 5}, ParameterError, "from 0 to 4"),
        ({"smallest": True}, ParameterError, "smallest"),
        ({"rule": "2se"}, ParameterError, "'1se', 'min', None"),
        ({"ax": 3}, ParameterError, "ax is a int"),
    ],
)
def test_a_path_that_makes_no_sense_is_refused(change, error, words):
    with pytest.raises(error, match=words):
        tw.plot.error_against_size(**(PATH | change))


def test_a_curve_has_its_lines_and_its_marks_at_their_places():
    figure = tw.plot.error_curve(
        x=[4, 1, 2], train=[0.1, 0.3, 0.2], test=[0.2, 0.4, np.nan], xlabel="max_depth", marks={"least": 4, "1-SE": 2}
    )
    ax = figure.axes[0]

    assert texts(ax) == ["training rows", "other rows", "least: 4", "1-SE: 2"]
    assert lines(ax)["training rows"].tolist() == [[1, 0.3], [2, 0.2], [4, 0.1]]
    assert set(lines(ax)["1-SE: 2"][:, 0]) == {2}
    assert ax.get_xlabel() == "max_depth"


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"train": None, "test": None}, ParameterError, "neither"),
        ({"test": None, "test_se": [1, 1]}, ParameterError, "test_se belongs to test"),
        ({"x": [0, 1], "log_x": True}, DataError, "x must be above 0"),
        ({"marks": {"here": -1}, "log_x": True}, DataError, "marks"),
        ({"train": None, "test": [np.nan, np.nan]}, DataError, "every error is nan"),
        ({"x": [[1, 2]]}, DataError, "one-dimensional"),
        ({"marks": [1]}, ParameterError, "marks is a list"),
    ],
)
def test_a_curve_that_makes_no_sense_is_refused(change, error, words):
    with pytest.raises(error, match=words):
        tw.plot.error_curve(**({"x": [1, 2], "train": [1, 2], "test": [2, 3]} | change))


def test_marks_at_one_place_are_one_line_with_both_names():
    ax = tw.plot.error_curve(x=[1, 2, 4], test=[3, 2, 1], marks={"best": 4, "least leaves": 1, "1 s.e.": 4.0}).axes[0]

    assert texts(ax) == ["other rows", "best, 1 s.e.: 4", "least leaves: 1"]
    assert [sorted(set(line.get_xdata())) for line in ax.get_lines()] == [[1, 2, 4], [4], [1]]


@pytest.mark.parametrize(
    ("over", "x", "scale"),
    [
        ("leaves", [2, 10, 59], "linear"),
        ("leaves", [2, 10, 60], "log"),
        ("rows", [100, 3000], "log"),
        ("max_depth", [1, 100], "linear"),
        ("alpha", [0.001, 0.002], "log"),
        ("alpha", [0.0, 0.002], "linear"),
    ],
)
def test_leaves_and_rows_that_span_a_factor_of_thirty_stand_on_a_logarithmic_axis(over, x, scale):
    errors = np.tile(np.arange(len(x), dtype=float), (3, 1))
    curve = Curve("tree", over, tuple(x), errors, errors, np.ones(len(x)), "misclassification", 30)

    assert curve.plot().axes[0].get_xscale() == scale
    assert curve.plot(log_x=False).axes[0].get_xscale() == "linear"


def test_parts_have_the_names_that_the_caller_gives_them():
    ax = tw.plot.bias_variance(**PARTS, noise=None, bias_label="bias + noise", variance_label="net variance").axes[0]

    assert texts(ax) == ["bias + noise", "net variance", "expected loss", "least: 2"]


@pytest.mark.parametrize("knows_truth", [False, True])
def test_the_parts_of_the_zero_one_loss_are_named_as_in_their_table(knows_truth):
    X = np.random.default_rng(0).random((60, 2))
    y = (X[:, 0] > 0.5).astype(int)
    curve = tw.model_selection.bias_variance_curve(
        lambda depth: tw.DecisionTreeClassifier(max_depth=depth), [1, 2], X[:40], y[:40], X[40:], 1 - y[40:],
        n_rounds=3, true_values=y[40:] if knows_truth else None,
    )  # fmt: skip

    named = texts(curve.plot().axes[0])[:2]

    assert named == (["bias", "net variance"] if knows_truth else ["bias + noise", "net variance"])
    head = str(curve).splitlines()[1]
    assert all(name in head for name in named)
    assert texts(curve.plot(variance_label="spread").axes[0])[1] == "spread"


def test_unknown_noise_is_said_to_be_in_the_bias():
    known = texts(tw.plot.bias_variance(**PARTS, noise=[1, 1, 1], test_error=[5, 3, 5]).axes[0])
    unknown = texts(tw.plot.bias_variance(**PARTS, noise=None).axes[0])

    assert known == ["bias²", "variance", "noise", "expected loss", "test rows", "least: 2"]
    assert unknown == ["bias² + noise", "variance", "expected loss", "least: 2"]


def test_parts_of_different_lengths_are_refused():
    with pytest.raises(DataError, match="noise has 1 values and x has 3"):
        tw.plot.bias_variance(**PARTS, noise=[1])


def test_every_pruner_has_a_row_and_coinciding_errors_are_both_drawn():
    names = [f"pruner {at}" for at in range(11)]
    same = [0.1] * 11
    figure = tw.plot.pruning_comparison(
        methods=names, n_leaves=[5] * 11, train_error=same, valid_error=same, valid_se=[0.01] * 11
    )

    left, right = figure.axes[0].child_axes
    ring, dot = right.get_lines()[0], right.get_lines()[1]

    assert [label.get_text() for label in left.get_yticklabels()] == names
    assert left.get_ylim() == right.get_ylim() == (10.5, -0.5)
    assert ring.get_markersize() > dot.get_markersize() + 4
    assert ring.get_markerfacecolor() == "none"
    assert [text.get_text() for text in left.texts] == ["5"] * 11


def test_the_line_of_the_pruners_is_one_standard_error_above_the_least():
    right = tw.plot.pruning_comparison(**PRUNERS, valid_se=[0.02, 0.01]).axes[0].child_axes[1]

    assert np.allclose(lines(right)["least error\n+ one standard error"][:, 0], 0.1)


@pytest.mark.parametrize(
    ("sizes", "label"),
    [([50, 5], "leaves"), ([51, 5], "leaves (log scale)"), ([4000, 1], "leaves (log scale)"), ([3, 3], "leaves")],
)
def test_leaves_of_pruners_are_logarithmic_beyond_a_factor_of_ten_and_the_axis_says_so(sizes, label):
    left = tw.plot.pruning_comparison(**(PRUNERS | {"n_leaves": sizes})).axes[0].child_axes[0]

    assert left.get_xlabel() == label
    assert left.get_xscale() == ("log" if "log" in label else "linear")
    if "log" not in label:
        assert left.get_xlim()[0] == 0
    # The smallest tree is away from the names, and the largest has room for its number.
    shares = left.transAxes.inverted().transform(left.transData.transform([(size, 0) for size in sizes]))[:, 0]
    assert shares.min() >= 0.08
    assert shares.max() <= 0.85


@pytest.mark.parametrize(
    "change", [{"methods": []}, {"n_leaves": [1]}, {"n_leaves": [0, 1]}, {"valid_error": [1, None]}]
)
def test_pruners_without_their_numbers_are_refused(change):
    with pytest.raises(DataError):
        tw.plot.pruning_comparison(**(PRUNERS | change))


def test_the_three_impurities_are_their_formulas():
    p = np.linspace(0, 1, 201)
    drawn = lines(tw.plot.impurity_functions().axes[0])

    assert np.allclose(drawn["Gini"][:, 1], 2 * p * (1 - p))
    assert np.allclose(drawn["misclassification rate"][:, 1], np.minimum(p, 1 - p))
    inner = p[1:-1]
    assert np.allclose(
        drawn["half the entropy"][1:-1, 1], -(inner * np.log2(inner) + (1 - inner) * np.log2(1 - inner)) / 2
    )
    assert two_class_impurity("entropy", np.array([0.0, 1.0])).tolist() == [0, 0]


def test_axes_that_are_given_are_drawn_into():
    figure = Figure()
    part = figure.subfigures(1, 2)[0]
    ax = part.add_subplot()

    assert tw.plot.error_against_size(**PATH, ax=ax) is figure
    assert part.axes == [ax]
    assert tw.plot.pruning_comparison(**PRUNERS, ax=figure.add_subplot()) is figure


def test_names_are_drawn_as_they_stand_and_signs_without_a_font_as_escapes():
    figure = tw.plot.error_curve(x=[1, 2], test=[1, 2], xlabel="$a_b$ \u202eevil\n", marks={"\U0010fffd": 1})
    figure.draw_without_rendering()

    assert figure.axes[0].get_xlabel() == r"\$a_b\$ \u202eevil\n"
    assert texts(figure.axes[0])[-1] == r"\U0010fffd: 1"
    assert drawable("Ærø ≤ é") == "Ærø ≤ é"
