"""The gain of the half Poisson deviance."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest

from treewright.grow.criteria.poisson import poisson_gain


@numba.njit
def gain(totals, weight, left, left_weight):
    return poisson_gain(totals, weight, left, left_weight)


def test_the_gain_is_the_drop_of_the_deviance() -> None:
    # 2 events in 4 rows against 6 events in 2 rows.
    expected = 2 * math.log(2 / 4) + 6 * math.log(6 / 2) - 8 * math.log(8 / 6)

    assert gain(np.array([8]), 6, np.array([2]), 4) == pytest.approx(expected, rel=1e-14)


def test_sides_of_one_rate_gain_nothing() -> None:
    assert gain(np.array([8]), 4, np.array([4]), 2) == 0.0


@pytest.mark.parametrize("left", [[0, 1], [8, 1], [1, 0], [1, 3]])
def test_a_side_without_an_event_in_some_output_is_not_allowed(left) -> None:
    assert gain(np.array([8, 3]), 4, np.array(left), 2) == -1.0
