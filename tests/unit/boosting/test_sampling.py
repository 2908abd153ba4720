"""Rows drawn for a round."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treewright.boosting.sampling import drawn_by_gradient, drawn_uniformly, fill_keys
from treewright.core.random import mixed

quick = settings(deadline=None, max_examples=80, derandomize=True)
seeds = st.integers(0, 2**64 - 1)


def keys_of(n: int, seed: int) -> list[int]:
    return [mixed(seed, row) for row in range(n)]


@given(n=st.integers(1, 300), share=st.floats(0.001, 1.0), seed=seeds)
@quick
def test_rows_with_the_lowest_keys_are_drawn(n, share, seed):
    rows = drawn_uniformly(n, share, seed)
    keys = keys_of(n, seed)
    wanted = max(1, round(share * n))
    assert rows.dtype == np.int32
    assert rows.tolist() == sorted(sorted(range(n), key=keys.__getitem__)[:wanted])


def test_keys_are_those_of_the_generator_and_differ():
    keys = np.empty(100_000, np.uint64)
    fill_keys(np.uint64(2**63 + 5), keys)
    assert keys[:50].tolist() == keys_of(50, 2**63 + 5)
    assert len(np.unique(keys)) == len(keys)


def test_every_row_and_pair_of_rows_is_drawn_alike():
    times, pairs = np.zeros(6), Counter()
    for number in range(6_000):
        rows = drawn_uniformly(6, 0.5, mixed(1, number)).tolist()
        times[rows] += 1
        pairs.update((a, b) for a in rows for b in rows if a < b)
    assert np.abs(times - 3_000).max() < 4.5 * np.sqrt(6_000 / 4)
    assert len(pairs) == 15
    assert max(abs(count - 1_200) for count in pairs.values()) < 4.5 * np.sqrt(6_000 * 0.2 * 0.8)


@given(
    sizes=st.lists(st.integers(0, 6), min_size=1, max_size=120),
    rates=st.tuples(st.floats(0, 1), st.floats(0, 1)).filter(lambda pair: 0 < sum(pair) <= 1),
    seed=seeds,
)
@quick
def test_rows_of_large_gradients_are_taken_and_others_count_for_more(sizes, rates, seed):
    n, (top_rate, other_rate) = len(sizes), rates
    rows, factors = drawn_by_gradient(np.array(sizes, np.float64), top_rate, other_rate, seed)
    n_top = round(top_rate * n)
    keys = keys_of(n, seed)
    by_size = sorted(range(n), key=lambda row: (-sizes[row], keys[row]))
    top, rest = by_size[:n_top], sorted(by_size[n_top:])
    n_others = min(len(rest), max(1, round(other_rate * n)))
    others = sorted(rest, key=keys.__getitem__)[:n_others]
    assert rows.tolist() == sorted([*top, *others])
    assert rows.dtype == np.int32
    assert factors.dtype == np.float32
    expected = {**dict.fromkeys(top, 1.0), **dict.fromkeys(others, np.float32(len(rest) / max(n_others, 1)))}
    assert factors.tolist() == [expected[row] for row in rows.tolist()]


def test_of_gradients_of_one_size_no_rows_are_favoured():
    # Signs, or a table in the order of its targets: the first rows are no better than the last.
    times = np.zeros(60)
    for number in range(2_000):
        rows, _ = drawn_by_gradient(np.ones(60), 0.2, 0.1, mixed(4, number))
        times[rows] += 1
    assert np.abs(times - 600).max() < 4.5 * np.sqrt(2_000 * 0.3 * 0.7)


@pytest.mark.parametrize(("top", "other"), [(0.2, 0.1), (0.0, 0.3), (0.5, 0.5)])
def test_the_rows_drawn_stand_for_all(top, other):
    sizes = np.random.default_rng(0).random(1_000)
    _, factors = drawn_by_gradient(sizes, top, other, 3)
    assert factors.sum(dtype=np.float64) == pytest.approx(1_000, rel=1e-6)
    # In the mean over many draws the weighted sum of sizes is the sum of all: no size is favoured.
    sums = []
    for number in range(400):
        rows, factors = drawn_by_gradient(sizes, top, other, mixed(9, number))
        sums.append(float((sizes[rows] * factors).sum()))
    assert abs(np.mean(sums) - sizes.sum()) <= 4 * np.std(sums) / 20 + 1e-3


def test_another_seed_draws_other_rows():
    drawn = {tuple(drawn_uniformly(40, 0.5, seed).tolist()) for seed in range(50)}
    assert len(drawn) == 50
