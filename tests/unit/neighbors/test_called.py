"""Claims about search by a user's own distance."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from treewright.exceptions import ParameterError
from treewright.neighbors.direct import Called

POINTS = np.array([[0.0, 1.0], [3.0, 1.0], [0.0, 1.0], [1.0, 1.0]])
QUERIES = np.array([[0.0, 1.0], [2.0, 1.0]])


def manhattan(one, other):
    return np.abs(one - other).sum()


def test_nearest_rows_come_by_distance_and_then_by_row():
    rows, ranks = Called(POINTS, manhattan).nearest(QUERIES, 3, 2)
    assert rows.tolist() == [[0, 2, 3], [1, 3, 0]]
    assert ranks.tolist() == [[0.0, 0.0, 1.0], [1.0, 1.0, 2.0]]
    assert rows.dtype == np.int64
    assert ranks.dtype == np.float64


def test_rows_within_a_distance_include_those_at_it():
    offsets, rows, ranks = Called(POINTS, manhattan).within(QUERIES, 1.0, 1)
    assert offsets.tolist() == [0, 3, 5]
    assert rows.tolist() == [0, 2, 3, 1, 3]
    assert ranks.tolist() == [0.0, 0.0, 1.0, 1.0, 1.0]
    assert offsets.dtype == rows.dtype == np.int64


def test_nothing_within_a_distance_gives_empty_arrays():
    offsets, rows, ranks = Called(POINTS, manhattan).within(QUERIES + 50.0, 1.0, 1)
    assert offsets.tolist() == [0, 0, 0]
    assert (rows.shape, ranks.shape) == ((0,), (0,))


def test_the_query_is_the_first_argument():
    def how_far_above(one, other):
        return max(one[0] - other[0], 0.0)

    _, ranks = Called(POINTS, how_far_above).nearest(QUERIES, 4, 1)
    assert ranks[0].tolist() == [0.0, 0.0, 0.0, 0.0]
    assert ranks[1].tolist() == [0.0, 1.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (2, 2.0),
        (True, 1.0),
        (np.bool_(1), 1.0),
        (np.float32(2.0), 2.0),
        (np.int8(2), 2.0),
        (np.array(2.0), 2.0),
        (Fraction(1, 2), 0.5),
        (2**2000, np.inf),
        (np.inf, np.inf),
    ],
)
def test_every_number_from_zero_on_is_taken(number, expected):
    _, ranks = Called(POINTS, lambda one, other: number).nearest(QUERIES, 1, 1)
    assert ranks.tolist() == [[expected], [expected]]


def test_minus_zero_is_zero():
    _, ranks = Called(POINTS, lambda one, other: -0.0).nearest(QUERIES, 1, 1)
    assert not np.signbit(ranks).any()


@pytest.mark.parametrize(
    "answer", [np.nan, -1.0, -1e-300, -np.inf, None, "1.0", [1.0], np.ones(1), 1j, np.float32("nan"), -(2**2000)]
)
def test_other_answers_are_refused_and_both_rows_named(answer):
    def odd_at_one_pair(one, other):
        return answer if (one[0], other[0]) == (2.0, 3.0) else 1.0

    index = Called(POINTS, odd_at_one_pair)
    for search in (lambda: index.nearest(QUERIES, 1, 1), lambda: index.within(QUERIES, 1.0, 1)):
        with pytest.raises(ParameterError, match=r"metric returned .* row 1 of the rows to predict .* training row 1"):
            search()


def test_an_error_of_the_function_comes_through_and_says_where():
    def refuses(one, other):
        raise KeyError("own")

    with pytest.raises(KeyError, match="own") as caught:
        Called(POINTS, refuses).nearest(QUERIES, 1, 1)
    assert "row 0 of the rows to predict and training row 0" in caught.value.__notes__[0]


def test_the_function_cannot_change_the_rows():
    def writes(one, other):
        other[0] = 7.0
        return 1.0

    points = POINTS.copy()
    with pytest.raises(ValueError, match="read-only"):
        Called(points, writes).nearest(QUERIES, 1, 1)
    assert (points == POINTS).all()
    points[0, 0] = 5.0  # the array itself may still be written to
