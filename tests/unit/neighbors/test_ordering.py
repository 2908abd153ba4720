"""Pairs parted and sorted in place, on their own."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from treewright.neighbors import nearest as ordering
from treewright.neighbors.nearest import clear_many, collect, settle


@numba.njit
def part(numbers, rows, begin, end, nth):
    ordering.part(numbers, rows, begin, end, nth)


@numba.njit
def sort(numbers, rows, begin, end):
    ordering.sort(numbers, rows, begin, end)


@numba.njit
def nearest(numbers, rows, k, ranks, found):
    clear_many(k, ranks, found)
    n = k
    for i in range(len(numbers)):
        n = collect(numbers[i], rows[i], k, n, ranks, found)
    settle(k, n, ranks, found)


def cases():
    rng = np.random.default_rng(0)
    n = 3_000
    line = np.arange(float(n))
    return {
        "random": rng.standard_normal(n),
        "ascending": line,
        "descending": line[::-1].copy(),
        "up and down": np.minimum(line, n - line),
        "in step": line % 200,
        "two values": rng.integers(0, 2, n).astype(float),
        "equal": np.zeros(n),
        "infinite": np.where(rng.random(n) < 0.4, np.inf, rng.standard_normal(n)),
    }


@pytest.mark.parametrize("name", cases())
@pytest.mark.parametrize("nth", [0, 1, 1_499, 2_998, 2_999])
def test_parting_brings_the_nth_pair_to_its_place(name, nth):
    numbers, rows = cases()[name], np.random.default_rng(1).permutation(3_000)
    wanted = sorted(zip(numbers.tolist(), rows.tolist(), strict=True))
    part(numbers, rows, 0, 3_000, nth)
    pairs = list(zip(numbers.tolist(), rows.tolist(), strict=True))
    assert pairs[nth] == wanted[nth]
    assert sorted(pairs[:nth]) == wanted[:nth]
    assert sorted(pairs[nth:]) == wanted[nth:]


@pytest.mark.parametrize("name", cases())
@pytest.mark.parametrize("n", [0, 1, 2, 24, 25, 1_000])
def test_sorting_gives_the_order_of_python(name, n):
    numbers, rows = cases()[name], np.random.default_rng(1).permutation(3_000)
    begin = 100
    before = list(zip(numbers.tolist(), rows.tolist(), strict=True))
    wanted = before[:begin] + sorted(before[begin : begin + n]) + before[begin + n :]
    sort(numbers, rows, begin, begin + n)
    assert list(zip(numbers.tolist(), rows.tolist(), strict=True)) == wanted


@pytest.mark.parametrize("name", cases())
@pytest.mark.parametrize("k", [1, 2, 300, 3_000])
def test_the_nearest_of_many_are_the_first_in_order(name, k):
    numbers, rows = cases()[name], np.random.default_rng(2).permutation(3_000)
    ranks, found = np.empty(2 * k), np.empty(2 * k, np.int64)
    nearest(numbers, rows, k, ranks, found)
    wanted = sorted(zip(numbers.tolist(), rows.tolist(), strict=True))[:k]
    assert list(zip(ranks[:k].tolist(), found[:k].tolist(), strict=True)) == wanted
