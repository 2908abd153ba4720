"""A node's rows sorted by their bins."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from treewright.data.bins import MISSING_BIN
from treewright.grow.binned.few_rows import sort_items
from treewright.grow.binned.layout import FEW_ROWS
from treewright.grow.layout import MISSING, NEW, ROW


@numba.njit
def sort(codes, column, n_bins, rows, items, spare, counts):
    return sort_items(codes, column, n_bins, rows, items, spare, counts)


@pytest.mark.parametrize("n", [1, 2, FEW_ROWS, FEW_ROWS + 1, 700])
@pytest.mark.parametrize("n_bins", [1, 2, 7, 255])
@pytest.mark.parametrize("missing", [0.0, 0.3, 1.0])
def test_rows_are_sorted_by_bin_in_their_order_with_marks_where_a_bin_begins(
    n: int, n_bins: int, missing: float
) -> None:
    rng = np.random.default_rng(n + n_bins)
    codes = rng.integers(0, n_bins, (n, 8)).astype(np.uint8)
    codes[rng.random(n) < missing, 3] = MISSING_BIN
    rows = rng.permutation(n).astype(np.int32)
    items, spare, counts = np.full(n + 1, -7, np.int32), np.empty(n + 1, np.int32), np.empty(257, np.int32)

    n_present = sort(codes, 3, n_bins, rows, items, spare, counts)

    held = codes[rows, 3]
    order = np.argsort(held, kind="stable")
    bins = held[order]
    np.testing.assert_array_equal(items[:n] & ROW, rows[order])
    np.testing.assert_array_equal((items[:n] & MISSING) != 0, bins == MISSING_BIN)
    np.testing.assert_array_equal((items[:n] & NEW) != 0, np.diff(bins.astype(int), prepend=-1) != 0)
    assert n_present == (held != MISSING_BIN).sum()
    assert items[n] == -7


def test_a_level_without_training_rows_does_not_lead_the_sort_of_two_bins_astray() -> None:
    """Such a level has the bin after the last: 2 in a column of two."""
    codes = np.zeros((50, 8), np.uint8)
    codes[:, 0] = np.arange(50) % 3
    items, spare, counts = np.full(53, -7, np.int32), np.empty(51, np.int32), np.empty(257, np.int32)

    sort(codes, 0, 2, np.arange(50, dtype=np.int32), items[1:], spare, counts)

    assert items[0] == -7
    np.testing.assert_array_equal(codes[items[1:51] & ROW, 0], np.sort(codes[:, 0]))
