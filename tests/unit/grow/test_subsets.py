"""The order of levels, and the stated form of a subset."""

from __future__ import annotations

from itertools import product

import numba
import numpy as np
import pytest

from treewright.grow.exact.subsets import (
    OFFER,
    PLACE,
    SIDE,
    START,
    STOP,
    find_groups,
    offer_sides,
    order_groups,
    regroup,
)
from treewright.grow.layout import MISSING, NEW, ROW


@numba.njit
def groups_of(items, n_present, group):
    return find_groups(items, n_present, group)


@numba.njit
def order(group, rank, n_groups):
    order_groups(group, rank, n_groups)


@numba.njit
def copy_in_order(items, n_present, group, n_groups, regrouped):
    regroup(items, n_present, group, n_groups, regrouped)


@numba.njit
def offer(group, n_groups, missing_left, best_missing_left):
    return offer_sides(group, n_groups, missing_left, best_missing_left)


@pytest.mark.parametrize("n", [1, 2, 5, 14, 100])
def test_levels_stand_by_rank_and_then_by_code(n: int) -> None:
    rank = np.random.default_rng(n).integers(0, 6, n).astype(float)
    group = np.zeros((5, n), np.int64)

    order(group, rank, n)

    np.testing.assert_array_equal(group[PLACE], np.argsort(rank, kind="stable"))


def test_a_segment_is_copied_level_by_level() -> None:
    items = (np.array([4, 3, 2, 1, 0]) | np.array([NEW, 0, NEW, NEW | MISSING, MISSING])).astype(np.int32)
    group = np.zeros((5, 3), np.int64)

    n_groups = groups_of(items, 3, group)
    np.testing.assert_array_equal(group[[START, STOP], :n_groups], [[0, 2], [2, 3]])

    group[PLACE, :2] = [1, 0]
    regrouped = np.empty(5, np.int32)
    copy_in_order(items, 3, group, n_groups, regrouped)

    np.testing.assert_array_equal(regrouped & ROW, [2, 4, 3, 1, 0])
    np.testing.assert_array_equal(regrouped < 0, [True, True, False, True, False])


def stated(sides: tuple[int, ...], missing_left: int) -> tuple[int, tuple[int, ...], int]:
    """Fewer levels on the left, of two halves the one with the lowest code: as a key in which less comes first."""
    if 2 * sum(sides) > len(sides) or (2 * sum(sides) == len(sides) and not sides[0]):
        sides, missing_left = tuple(1 - side for side in sides), 1 - missing_left
    return sum(sides), tuple(1 - side for side in sides), missing_left


@pytest.mark.parametrize("n_groups", [1, 2, 3, 4])
def test_of_two_offers_the_one_that_comes_first_is_kept_in_its_stated_form(n_groups: int) -> None:
    choices = list(product(product((0, 1), repeat=n_groups), (0, 1)))
    for first, second in product(choices, repeat=2):
        group = np.zeros((5, n_groups), np.int64)
        kept = -1
        for sides, missing_left in (first, second):
            group[OFFER] = sides
            kept = offer(group, n_groups, missing_left, kept)

        n_left, is_right, missing = min(stated(*first), stated(*second))
        assert (int(group[SIDE].sum()), tuple(1 - group[SIDE]), kept) == (n_left, is_right, missing)
