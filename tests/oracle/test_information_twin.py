"""The likelihood of a tree is that of the counts in its leaves, added up row by row."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treewright as tw
from treewright.model_selection import log_likelihood


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(2, 4))
def test_class_shares_of_the_leaves_make_the_likelihood(seed, depth, n_classes):
    rng = np.random.default_rng(seed)
    X = {"x": rng.integers(0, 9, 60), "town": rng.choice(["Bonn", "Graz", "Oslo"], 60)}
    y = rng.integers(0, n_classes, 60)
    tree = tw.DecisionTreeClassifier(max_depth=depth).fit(X, y)

    counts: dict[int, Counter] = defaultdict(Counter)
    for leaf, label in zip(tree.apply(X), y, strict=True):
        counts[leaf][label] += 1
    wanted = sum(n * math.log(n / sum(held.values())) for held in counts.values() for n in held.values())

    found = log_likelihood(tree, X, y)
    assert found.value == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    assert found.n_parameters == len(counts) * (len(set(y)) - 1)


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_means_of_the_leaves_and_one_variance_make_the_density_of_every_row(seed, depth):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 9, (60, 2)), rng.normal(loc=50, size=60)
    tree = tw.DecisionTreeRegressor(max_depth=depth).fit(X, y)

    rows = defaultdict(list)
    for leaf, value in zip(tree.apply(X), y, strict=True):
        rows[leaf].append(value)
    errors = [value - sum(held) / len(held) for held in rows.values() for value in held]
    variance = sum(error**2 for error in errors) / 60
    wanted = sum(-(error**2) / (2 * variance) - math.log(math.sqrt(2 * math.pi * variance)) for error in errors)

    found = log_likelihood(tree, X, y)
    assert found.value == pytest.approx(wanted, rel=1e-10)
    assert found.n_parameters == len(rows) + 1
