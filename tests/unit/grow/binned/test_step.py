"""Drawing columns for a node, and what is noted of its bins."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from treewright.core.random import mix
from treewright.grow.binned.steps import draw, has_one_bin, mark_absent, part_rows, sort_chosen


@numba.njit
def drawn(key, pool, first, n_drawn, swaps):
    return draw(key, pool, first, pool.shape[0], n_drawn, swaps)


@numba.njit
def ascending(pool, first, last, chosen):
    return sort_chosen(pool, first, last, chosen)


@numba.njit
def one_bin(touched):
    return has_one_bin(touched)


@numba.njit
def part(codes, column, goes_left, rows, spare):
    return part_rows(codes, column, goes_left, rows, spare)


@numba.njit
def absent(codes, column, rows, sides):
    mark_absent(codes, column, rows, sides)


@numba.njit
def key_of(seed):
    return mix(np.uint64(seed), np.uint64(0))


def test_every_set_of_columns_is_drawn_about_equally_often() -> None:
    counts: dict[tuple[int, ...], int] = {}
    for seed in range(6000):
        pool, swaps = np.arange(5, dtype=np.int32), np.empty(5, np.int32)
        last = drawn(np.uint64(key_of(seed)), pool, 0, 2, swaps)
        chosen = np.empty(5, np.int32)
        assert ascending(pool, 0, last, chosen) == 2
        assert chosen[0] < chosen[1]
        counts[tuple(chosen[:2].tolist())] = counts.get(tuple(chosen[:2].tolist()), 0) + 1
    # Ten pairs, 600 each; five standard deviations of 23.
    assert len(counts) == 10
    assert all(abs(count - 600) < 116 for count in counts.values())


def test_draws_that_go_on_reach_every_column_once() -> None:
    pool, swaps = np.arange(7, dtype=np.int32), np.empty(7, np.int32)
    last = drawn(np.uint64(3), pool, 0, 2, swaps)
    while last < 7:
        last = drawn(np.uint64(3), pool, last, 1, swaps)
    assert sorted(pool.tolist()) == list(range(7))


@pytest.mark.parametrize("bins", [(), (0,), (63,), (64,), (255,), (0, 1), (63, 64), (5, 255), (0, 64, 128, 192)])
def test_one_bin_is_told_from_several(bins: tuple[int, ...]) -> None:
    touched = np.zeros(4, np.uint64)
    for b in bins:
        touched[b >> 6] |= np.uint64(1 << (b & 63))
    assert one_bin(touched) == (len(bins) <= 1)


def test_rows_are_parted_in_order_and_missing_ones_counted() -> None:
    rng = np.random.default_rng(0)
    codes = rng.choice(np.array([0, 1, 2, 255], np.uint8), (90, 8))
    goes_left = np.zeros(256, np.uint8)
    goes_left[[1, 255]] = 1
    rows = rng.permutation(90).astype(np.int32)
    before = rows.copy()

    n_left, n_missing = part(codes, 2, goes_left, rows, np.empty(91, np.int32))

    left = goes_left[codes[before, 2]] == 1
    np.testing.assert_array_equal(rows, np.concatenate([before[left], before[~left]]))
    assert (n_left, n_missing) == (left.sum(), (codes[:, 2] == 255).sum())


def test_bins_without_rows_are_marked_whatever_stood_there() -> None:
    codes = np.array([[3], [5], [3]], np.uint8)
    sides = np.tile(np.array([0, 1, 2], np.uint8), 86)[:256]
    kept = sides.copy()
    absent(codes, 0, np.arange(3, dtype=np.int32), sides)
    assert [sides[b] for b in (3, 5)] == [kept[b] for b in (3, 5)]
    assert set(np.delete(sides[:255], [3, 5]).tolist()) == {2}
