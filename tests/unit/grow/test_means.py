"""Where a column may be cut, and the largest gain of a block."""

from __future__ import annotations

from itertools import product

import numba
import numpy as np
import pytest

from treewright.grow.criteria.means import cut_range, largest


@numba.njit
def positions(n_present, n_missing, missing_left, min_leaf, after):
    return cut_range(n_present, n_missing, missing_left, min_leaf, after)


@numba.njit
def best_of(gains):
    return largest(gains)


@pytest.mark.parametrize(("n_present", "n_missing", "min_leaf"), list(product(range(1, 6), range(4), range(1, 5))))
def test_a_cut_leaves_enough_rows_on_both_sides(n_present: int, n_missing: int, min_leaf: int) -> None:
    for missing_left in (0, 1) if n_missing else (0,):
        first, last = positions(n_present, n_missing, missing_left, min_leaf, -1)

        allowed = []
        for position in range(n_present):
            left = position + 1 + (n_missing if missing_left else 0)
            right = n_present + n_missing - left
            # Everything present on one side with the missing rows is no split; without them it is, told one way only.
            is_cut = position < n_present - 1 or (n_missing > 0 and not missing_left)
            if is_cut and min(left, right) >= min_leaf:
                allowed.append(position)
        assert list(range(first, last)) == allowed


def test_cuts_up_to_a_position_can_be_left_out() -> None:
    assert positions(6, 0, 0, 1, 2) == (3, 5)


def test_the_largest_gain_ignores_cuts_that_are_not_allowed() -> None:
    assert best_of(np.array([-1.0, 0.5, 2.0, -1.0, 1.0])) == 2.0
    assert best_of(np.array([-1.0, 0.0])) == 0.0
    assert best_of(np.array([-1.0, -1.0])) == -1.0
    assert best_of(np.array([5e-324, 0.0, 1.7e308])) == 1.7e308
