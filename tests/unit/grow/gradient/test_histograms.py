"""Histograms of words."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.grow.gradient.rows import add_all, add_some, add_up, subtract


def rows_of(seed: int, n: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 256, (n, -(-width // 8) * 8)).astype(np.uint8)
    words = (rng.integers(-(2**20), 2**20, n) << 32) + rng.integers(0, 2**20, n)
    return codes, words


def naive(codes: np.ndarray, words: np.ndarray, rows: np.ndarray, width: int) -> np.ndarray:
    found = [[0] * 256 for _ in range(width)]
    for row in rows.tolist():
        for column in range(width):
            found[column][codes[row, column]] += int(words[row])
    return np.array(found, np.int64).reshape(-1)


# Columns around the width of a tile, rows around its height.
@pytest.mark.parametrize("width", [1, 7, 63, 64, 65, 130])
@pytest.mark.parametrize(("begin", "end"), [(0, 0), (0, 1), (3, 60), (0, 1024), (5, 1030), (1023, 1025)])
def test_words_are_added_bin_by_bin(width, begin, end):
    codes, words = rows_of(width, 1_100, width)
    if width > 65 and end > 60:
        begin = max(begin, end - 70)
    found = np.zeros(256 * width, np.int64)
    add_all(codes.reshape(-1), codes.shape[1], begin, end, words, found)
    assert np.array_equal(found, naive(codes, words, np.arange(begin, end), width))
    rows = np.random.default_rng(0).permutation(1_100).astype(np.int32)
    found = np.ones(256 * width, np.int64)
    add_some(codes.reshape(-1), codes.shape[1], rows, begin, end, words, found)
    assert np.array_equal(found - 1, naive(codes, words, rows[begin:end], width))


def test_the_halves_of_a_word_do_not_disturb_each_other():
    codes = np.zeros((3, 8), np.uint8)
    gradient, hessian = np.array([-(2**30), 2**29, -1]), np.array([2**31, 2**30, 2**30 - 1])
    found = np.zeros(256, np.int64)
    add_all(codes.reshape(-1), 8, 0, 3, (gradient << 32) + hessian, found)
    assert found[0] >> 32 == gradient.sum()
    assert found[0] & 0xFFFFFFFF == hessian.sum() == 2**32 - 1


def test_a_parent_less_one_child_is_the_other():
    codes, words = rows_of(9, 200, 3)
    whole, one, other = (np.zeros(256 * 3, np.int64) for _ in range(3))
    add_all(codes.reshape(-1), 8, 0, 200, words, whole)
    add_all(codes.reshape(-1), 8, 0, 80, words, one)
    add_all(codes.reshape(-1), 8, 80, 200, words, other)
    subtract(whole, one, np.full(len(whole) >> 8, 255))
    assert np.array_equal(whole, other)
    total = np.full(256 * 3, 77, np.int64)
    add_up(np.stack([one, other, one]), total)
    assert np.array_equal(total, 2 * one + other)
