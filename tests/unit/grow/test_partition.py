"""Splitting a segment in two."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from treewright.grow.exact.steps import partition_items
from treewright.grow.layout import MISSING, NEW, ROW


@numba.njit
def partition(items, side, spare):
    return partition_items(items, side, spare)


def items_of(rows: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Items of a segment: nan values are missing ones, and a mark stands where a value differs from the one before."""
    previous = np.concatenate([[-1.0], values[:-1]])
    is_new = (values != previous) & ~(np.isnan(values) & np.isnan(previous))
    is_new[0] = True
    marked = rows.astype(np.int64) | np.where(np.isnan(values), MISSING, 0) | np.where(is_new, NEW, 0)
    return marked.astype(np.int32)


@pytest.mark.parametrize("seed", range(50))
def test_both_parts_keep_their_order_and_their_marks(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    values = np.sort(rng.choice([0.0, 1.0, 2.0, 3.0, np.nan], n))
    rows = rng.permutation(n)
    side = rng.integers(0, 2, n).astype(np.uint8)
    items = items_of(rows, values)

    n_left = partition(items, side, np.empty(n + 1, np.int32))

    goes_left = side[rows] == 1
    assert n_left == goes_left.sum()
    for part, mask in ((items[:n_left], goes_left), (items[n_left:], ~goes_left)):
        if mask.any():
            np.testing.assert_array_equal(part, items_of(rows[mask], values[mask]))


def test_a_mark_is_inherited_by_the_next_item_of_its_side() -> None:
    rows, values = np.array([0, 1, 2, 3]), np.array([0.0, 0.0, 1.0, 1.0])
    items = items_of(rows, values)

    partition(items, np.array([0, 1, 1, 0], np.uint8), np.empty(5, np.int32))

    np.testing.assert_array_equal(items & ROW, [1, 2, 0, 3])
    assert (items < 0).all()


def test_parting_twice_changes_nothing() -> None:
    rows, values = np.arange(6), np.array([0.0, 0.0, 1.0, 1.0, np.nan, np.nan])
    side, spare = np.array([1, 0, 0, 1, 1, 0], np.uint8), np.empty(7, np.int32)
    items = items_of(rows, values)
    partition(items, side, spare)
    once = items.copy()

    partition(items, side, spare)

    np.testing.assert_array_equal(items, once)
