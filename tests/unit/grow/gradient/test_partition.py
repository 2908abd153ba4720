"""Rows parted, by one thread and by several."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treewright.grow.gradient import large
from treewright.grow.gradient.large import blocks_of, join_parts, part_rows
from treewright.grow.gradient.layout import Rows
from treewright.grow.gradient.partition import part

quick = settings(deadline=None, max_examples=60, derandomize=True)


def held(order: np.ndarray) -> Rows:
    none = np.empty(0, np.int64)
    return Rows(none.astype(np.uint8), none, none.astype(np.int32), order, np.full(len(order), -1, np.int32))


@given(st.integers(0, 2**32 - 1), st.integers(0, 90), st.integers(0, 9), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
@quick
def test_rows_are_parted_and_keep_their_order(seed, n, begin, share):
    rng = np.random.default_rng(seed)
    column, goes_left = rng.integers(0, 256, 200).astype(np.uint8), (rng.random(256) < share).astype(np.uint8)
    order = np.sort(rng.permutation(200)[: n + begin + 3]).astype(np.int32)
    end = begin + n
    before = order.copy()
    spare = np.full(len(order), -1, np.int32)
    n_left = part(column, goes_left, order, begin, end, spare)
    left = [row for row in before[begin:end] if goes_left[column[row]]]
    right = [row for row in before[begin:end] if not goes_left[column[row]]]
    assert n_left == len(left)
    assert order[begin : begin + n_left].tolist() == left
    assert spare[begin : begin + len(right)].tolist() == right
    assert np.array_equal(order[:begin], before[:begin])
    assert np.array_equal(order[end:], before[end:])


@pytest.mark.parametrize("n_threads", [1, 2, 3, 5])
@given(st.integers(0, 2**32 - 1), st.integers(0, 90), st.integers(0, 9), st.sampled_from([0.0, 0.3, 1.0]))
@quick
def test_blocks_of_rows_are_parted_as_the_whole(n_threads, seed, n, begin, share):
    rng = np.random.default_rng(seed)
    column, goes_left = rng.integers(0, 256, 200).astype(np.uint8), (rng.random(256) < share).astype(np.uint8)
    order = np.sort(rng.permutation(200)[: n + begin + 3]).astype(np.int32)
    before = order.copy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large, "_BLOCK_ROWS", 4)
        n_left = part_rows(column, goes_left, held(order), begin, begin + n, n_threads)
    rows = before[begin : begin + n]
    goes = goes_left[column[rows]] == 1
    assert n_left == goes.sum()
    assert order[begin : begin + n].tolist() == [*rows[goes], *rows[~goes]]
    assert np.array_equal(order[:begin], before[:begin])
    assert np.array_equal(order[begin + n :], before[begin + n :])


def test_parts_are_joined_in_their_order():
    order = np.array([9, 1, 2, 0, 3, 0, 0, 4, 8], np.int32)
    spare = np.array([0, 11, 0, 0, 12, 13, 14, 0, 0], np.int32)
    # Blocks 1-4, 4-7, 7-8: two, one and one rows on the left.
    join_parts(np.array([1, 4, 7]), np.array([2, 1, 1]), 8, order, spare)
    assert order.tolist() == [9, 1, 2, 3, 4, 11, 12, 13, 8]


@given(st.integers(0, 10**9), st.integers(0, 10**6), st.integers(1, 64))
@quick
def test_blocks_cover_all_rows_and_are_large_enough(begin, n, n_threads):
    bounds = blocks_of(begin, begin + n, n_threads)
    assert bounds[0] == begin
    assert bounds[-1] == begin + n
    assert len(bounds) - 1 <= n_threads
    sizes = np.diff(bounds)
    assert len(sizes) == 1 or sizes.min() >= large._BLOCK_ROWS
    assert sizes.max() - sizes.min() <= 1
