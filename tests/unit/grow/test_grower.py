"""Thresholds, and the trees of tables small enough to check by hand."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.data.schema import Column, Schema
from treewright.grow.exact.grower import grow, thresholds
from treewright.grow.objective import classification_objective, regression_objective
from treewright.grow.settings import GrowSettings

LARGEST = np.finfo(np.float64).max
ULP = np.nextafter(1.0, 2.0)


@pytest.mark.parametrize(
    ("low", "high", "middle"),
    [
        (1.0, 2.0, 1.5),
        (1.0, ULP, 1.0),
        (np.nextafter(1.0, 0.0), 1.0, np.nextafter(1.0, 0.0)),
        (0.0, 5e-324, 0.0),
        (5e-324, 1.5e-323, 1e-323),
        (-5e-324, 0.0, -5e-324),
        (-LARGEST, LARGEST, 0.0),
        (LARGEST / 2, LARGEST, LARGEST * 0.75),
        (-np.inf, np.inf, 0.0),
        (-np.inf, 3.0, -LARGEST),
        (-np.inf, -LARGEST, -np.inf),
        (3.0, np.inf, LARGEST),
        (LARGEST, np.inf, LARGEST),
    ],
)
def test_a_threshold_lies_between_its_neighbours_and_parts_them(low: float, high: float, middle: float) -> None:
    matrix = np.array([[low], [high]])
    one = np.zeros(1, np.int64)

    result = thresholds(matrix, one, one, one + 1, np.ones(1, bool))

    assert result[0] == middle
    assert low <= result[0] < high


def test_a_cut_behind_the_last_present_cell_asks_whether_the_cell_is_present() -> None:
    zero = np.zeros(1, np.int64)

    assert thresholds(np.zeros((1, 1)), zero, zero, zero - 1, np.ones(1, bool))[0] == np.inf


def test_nodes_without_a_threshold_have_zero() -> None:
    zero = np.zeros(1, np.int64)

    assert thresholds(np.ones((1, 1)), zero, zero, zero, np.zeros(1, bool))[0] == 0.0


def test_negative_zero_never_becomes_a_threshold() -> None:
    matrix = np.array([[-0.0], [5e-324]])
    zero = np.zeros(1, np.int64)

    assert not np.signbit(thresholds(matrix, zero, zero, zero + 1, np.ones(1, bool))[0])


NUMBERS = Schema((Column("x", "numeric"),))


def stump(y: list[float], weights: np.ndarray | None = None, **limits) -> np.ndarray:
    """Thresholds of the tree on 0, 1, 2, ... that predicts ``y``."""
    matrix = np.arange(float(len(y)))[:, None]
    objective = regression_objective(np.array(y)[:, None], weights, "squared_error")
    return grow(matrix, NUMBERS, objective, GrowSettings("squared_error", **limits)).threshold


def test_a_share_of_the_weight_counts_as_it_was_written() -> None:
    # 0.3 of 10 rows is 3 rows; 0.07 * 100 is a little more than 7 in float64, and still means 7 rows.
    assert stump([9.0] + [0.0] * 9, max_depth=1, min_weight_fraction_leaf=0.3)[0] == 2.5
    assert stump([9.0] + [0.0] * 99, max_depth=1, min_weight_fraction_leaf=0.07)[0] == 6.5


def test_half_a_row_more_than_the_share_is_needed_in_full() -> None:
    # 0.3 of 25 rows is 7.5 rows: 8 are needed.
    assert stump([9.0] + [0.0] * 24, max_depth=1, min_weight_fraction_leaf=0.3)[0] == 7.5


def test_the_matrix_is_only_read() -> None:
    matrix = np.arange(6.0)[:, None]
    matrix.flags.writeable = False
    labels = np.array([[0], [0], [1], [1], [0], [0]], np.int32)

    tree = grow(matrix, NUMBERS, classification_objective(labels, [2], None, "gini"), GrowSettings("gini"))

    assert tree.n_leaves == 3


def test_an_impurity_is_zero_only_where_all_targets_are_equal() -> None:
    matrix = np.arange(4.0)[:, None]
    targets = np.array([[1.0], [2.0], [3.0], [4.0]]) * 1e-200  # their squares are beyond float64

    tree = grow(
        matrix,
        NUMBERS,
        regression_objective(targets, None, "squared_error"),
        GrowSettings("squared_error", max_depth=1),
    )

    assert (tree.impurity > 0.0).all()
    np.testing.assert_allclose(tree.value[1:, 0], [1.5e-200, 3.5e-200])


def test_monotone_medians_are_ordered_where_halves_fall_between_rows() -> None:
    # The lower medians of {1, 5} and {2} are ordered, but the predictions 3 and 2 are not.
    matrix = np.array([[0.0], [0.0], [1.0]])
    objective = regression_objective(np.array([[1.0], [5.0], [2.0]]), None, "absolute_error")

    tree = grow(matrix, NUMBERS, objective, GrowSettings("absolute_error", monotone=(1,)))

    assert tree.n_nodes == 1
