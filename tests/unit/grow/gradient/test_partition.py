"""Rows parted, by one thread and by several."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.grow.gradient import rows as large
from treewright.grow.gradient.layout import Rows
from treewright.grow.gradient.rows import blocks_of, other_half, part, part_rows


def parted(seed, n, begin, share, how):
    """Part rows of a table of 200 with ``how``; what is to be found, and what is, in either half."""
    rng = np.random.default_rng(seed)
    column, goes_left = rng.integers(0, 256, 200).astype(np.uint8), (rng.random(256) < share).astype(np.uint8)
    rows = np.sort(rng.permutation(200)[: n + begin + 3]).astype(np.int32)
    half = len(rows)
    for offset in (0, half):
        order = np.full(2 * half, -1, np.int32)
        order[offset : offset + half] = rows
        before = order.copy()
        n_left = how(column, goes_left, offset + begin, offset + begin + n, half - offset + begin, order)
        goes = goes_left[column[rows[begin : begin + n]]] == 1
        assert n_left == goes.sum()
        wanted = before.copy()
        wanted[half - offset + begin :][:n] = [*rows[begin : begin + n][goes], *rows[begin : begin + n][~goes][::-1]]
        assert order.tolist() == wanted.tolist()


@given(st.integers(0, 2**32 - 1), st.integers(0, 90), st.integers(0, 9), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_rows_go_to_the_other_half_those_of_the_right_turned_round(seed, n, begin, share):
    def how(column, goes_left, first, last, to, order):
        assert other_half(first, order) == to
        return part(column, goes_left, first, last, to, to + last - first - 1, order)

    parted(seed, n, begin, share, how)


@pytest.mark.parametrize("n_threads", [1, 2, 4, 5])
@given(st.integers(0, 2**32 - 1), st.integers(0, 90), st.integers(0, 9), st.sampled_from([0.0, 0.3, 1.0]))
def test_blocks_of_rows_are_parted_as_the_whole(n_threads, seed, n, begin, share):
    none = np.empty(0, np.int64)

    def how(column, goes_left, first, last, to, order):
        whole = none.astype(np.int32)
        rows = Rows(none.astype(np.uint8), none, whole, order, none, whole, none.astype(np.uint8))
        return part_rows(column, goes_left, rows, first, last, n_threads)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large, "_BLOCK_ROWS", 4)
        parted(seed, n, begin, share, how)


@given(st.integers(0, 10**9), st.integers(0, 10**6), st.integers(1, 64))
def test_blocks_cover_all_rows_and_are_large_enough(begin, n, n_threads):
    bounds = blocks_of(begin, begin + n, n_threads)
    assert bounds[0] == begin
    assert bounds[-1] == begin + n
    assert len(bounds) - 1 <= n_threads
    sizes = np.diff(bounds)
    assert len(sizes) == 1 or sizes.min() >= large._BLOCK_ROWS
    assert sizes.max() - sizes.min() <= 1
