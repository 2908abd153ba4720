"""Gradients as whole numbers, and their scales."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.exceptions import DataError
from treewright.grow.gradient.leaves import add_to_scores, leaf_sums, note_leaves
from treewright.grow.gradient.words import magnitudes, scales_of, to_words

NONE = np.empty(0, np.float32)
NO_TIMES = np.empty(0, np.int32)
floats = st.floats(-(2.0**100), 2.0**100, width=32, allow_subnormal=True)
many = st.lists(floats, min_size=1, max_size=40)


def scales_for(g, h, times, *, n_rows=None):
    sizes = np.empty((1, 3))
    magnitudes(g, h, times, 0, len(g), sizes[0])
    return scales_of(sizes, len(g) if n_rows is None else n_rows, unit_hessian=not len(h)), sizes[0]


def test_magnitudes_are_sums_of_a_block():
    g, h = np.array([1, -2, 4, -8], np.float32), np.array([0.5, 0.25, 3, 1], np.float32)
    out = np.empty(3)
    magnitudes(g, h, NO_TIMES, 1, 3, out)
    assert out.tolist() == [6.0, 3.25, 3.0]
    magnitudes(g, NONE, np.array([1, 2, 3, 4], np.int32), 0, 4, out)
    assert out.tolist() == [49.0, 10.0, 1.0]


@given(many, st.booleans(), st.booleans(), st.integers(0, 2**32 - 1))
def test_sums_of_words_fit_and_are_those_of_rounded_numbers(gradient, unit, weighs, seed):
    g = np.array(gradient, np.float32)
    n = len(g)
    rng = np.random.default_rng(seed)
    h = NONE if unit else (rng.random(n) * 10.0 ** rng.integers(-30, 30, n)).astype(np.float32)
    times = rng.integers(1, 2_000_000, n).astype(np.int32) if weighs else NO_TIMES
    count = times if weighs else np.ones(n, np.int32)
    scales, _ = scales_for(g, h, times, n_rows=int(count.sum()))
    assert math.frexp(scales.gradient)[0] == math.frexp(scales.hessian)[0] == 0.5
    words = np.empty(n, np.int64)
    to_words(g, h, times, scales.gradient, scales.hessian, 0, n, words)
    high = [round(Fraction(float(each)) * Fraction(scales.gradient)) for each in g]
    low = [1] * n if unit else [round(Fraction(float(each)) * Fraction(scales.hessian)) for each in h]
    assert words.tolist() == [(a * 2**32 + b) * int(k) for a, b, k in zip(high, low, count, strict=True)]
    assert sum(abs(a) * int(k) for a, k in zip(high, count, strict=True)) < 2**31
    assert sum(b * int(k) for b, k in zip(low, count, strict=True)) < 2**32
    assert max(low) <= scales.largest_hessian
    if any(gradient) and not weighs:
        assert sum(map(abs, high)) > 2**29 or scales.gradient >= 2.0**999


@given(many, st.booleans(), st.integers(0, 2**32 - 1))
def test_sums_of_leaves_are_exact_to_62_bits(gradient, unit, seed):
    rng = np.random.default_rng(seed)
    g = np.array(gradient, np.float32)
    n = len(g)
    h = NONE if unit else (rng.random(n) * 10.0 ** rng.integers(-9, 9, n)).astype(np.float32)
    times = NO_TIMES if rng.random() < 0.5 else rng.integers(1, 9, n).astype(np.int32)
    count = np.ones(n, np.int32) if not len(times) else times
    scales, sizes = scales_for(g, h, times, n_rows=int(count.sum()))
    leaf_of = rng.integers(0, 3, n).astype(rng.choice([np.uint8, np.int32]))
    begin, end = sorted(rng.integers(0, n + 1, 2).tolist())
    out = np.zeros((3, 2), np.int64)
    leaf_sums(leaf_of, g, h, times, scales.fine_gradient, scales.fine_hessian, begin, end, out)
    for leaf in (0, 1, 2):
        rows = begin + np.flatnonzero(leaf_of[begin:end] == leaf)
        exact = sum((Fraction(float(g[row])) * int(count[row]) for row in rows), Fraction(0))
        weight = sum((Fraction(1.0 if unit else float(h[row])) * int(count[row]) for row in rows), Fraction(0))
        room = 1 + Fraction(int(count.sum())) / 2
        assert abs(int(out[leaf, 0]) - exact * Fraction(scales.fine_gradient)) <= room
        assert abs(int(out[leaf, 1]) - weight * Fraction(scales.fine_hessian)) <= room
    assert sizes[0] * scales.fine_gradient < 2.0**62


def test_scales_do_not_hang_on_the_last_bits_of_sums():
    for power in range(-20, 20):
        near = [math.ldexp(1.0, power) * (1 + k * 2.0**-50) for k in (-3, 0, 3)]
        found = {scales_of(np.array([[each, each, each]]), 0, unit_hessian=False) for each in near}
        assert len({scales.gradient for scales in found}) == 1
        assert len({scales.hessian for scales in found}) == 1
        assert len({scales.fine_gradient for scales in found}) == 1


def test_scales_of_nothing_are_1():
    scales = scales_of(np.zeros((2, 3)), 10, unit_hessian=False)
    assert (scales.gradient, scales.hessian, scales.fine_gradient) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("at", [0, 1])
def test_sizes_that_are_no_numbers_are_refused(at):
    sizes = np.ones((2, 3))
    sizes[1, at] = np.nan
    with pytest.raises(DataError, match="not finite"):
        scales_of(sizes, 10, unit_hessian=False)


def test_each_row_gets_what_its_leaf_adds():
    scores, leaf_of = np.zeros(6), np.full(6, 3, np.uint8)
    order = np.array([9, 5, 0, 2, 1], np.int32)
    note_leaves(order, np.array([1, 3, 4], np.int32), np.array([3, 4, 5], np.int32), 0, 2, leaf_of)
    assert leaf_of.tolist() == [0, 3, 1, 3, 3, 0]
    add_to_scores(leaf_of, np.array([1.0, 2, 4, 0]), 0, 5, scores)
    assert scores.tolist() == [1.0, 0.0, 2.0, 0.0, 0.0, 0.0]
