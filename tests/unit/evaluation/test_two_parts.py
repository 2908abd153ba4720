"""Two parts of the rows are those of scikit-learn's ``train_test_split``."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split

from treewright.evaluation.folds import two_parts


@given(st.lists(st.integers(2, 25), min_size=1, max_size=6), st.floats(0.05, 0.95), st.integers(0, 2**32 - 1))
def test_parts_by_class_are_those_of_scikit_learn(counts, share, seed):
    y = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    n_second = int(np.clip(share * len(y), len(counts), len(y) - len(counts)))

    first, second = two_parts(y, n_second, seed, by_class="always")

    expected = train_test_split(np.arange(len(y)), test_size=n_second, random_state=seed, stratify=y)
    assert [first.tolist(), second.tolist()] == [sorted(part.tolist()) for part in expected]


@given(st.integers(2, 80), st.floats(0.0, 1.0), st.integers(0, 2**32 - 1))
def test_parts_without_classes_are_those_of_scikit_learn(n, share, seed):
    n_second = int(np.clip(share * n, 1, n - 1))

    first, second = two_parts(np.arange(n), n_second, seed, by_class="never")

    expected = train_test_split(np.arange(n), test_size=n_second, random_state=seed)
    assert [first.tolist(), second.tolist()] == [sorted(part.tolist()) for part in expected]


def test_a_random_state_is_moved_on_by_each_draw():
    rng, theirs = np.random.RandomState(3), np.random.RandomState(3)
    y = np.arange(20) % 2

    for _ in range(2):
        expected = train_test_split(np.arange(20), test_size=6, random_state=theirs, stratify=y)
        assert two_parts(y, 6, rng, by_class="always")[1].tolist() == sorted(expected[1].tolist())
