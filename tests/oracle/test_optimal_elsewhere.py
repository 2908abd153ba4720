"""Optimal trees make as many errors as those of ConTree (raw columns) and of STreeD (binary columns)."""

from __future__ import annotations

import numpy as np
import pytest

import treewright as tw

pytestmark = pytest.mark.slow


def errors_of(X: np.ndarray, y: np.ndarray, depth: int) -> int:
    """Errors of our tree, which is proven."""
    est = tw.OptimalTreeClassifier(max_depth=depth).fit(X, y)
    assert est.proven_
    return int((np.asarray(est.predict(X)) != y).sum())


def drawn(seed: int, n_values: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a few columns, a quarter of the labels replaced."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, (int(rng.integers(30, 90)), 4 if n_values > 2 else 8)).astype(float)
    score = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] - X[:, 1]
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    return X, np.where(rng.random(len(y)) < 0.25, rng.integers(0, n_classes, len(y)), y)


@pytest.mark.parametrize("depth", [2, 3, 4])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_as_many_errors_as_contree_on_numbers(n_classes, depth):
    contree = pytest.importorskip("pycontree", reason="pycontree is not installed").ConTree
    for seed in range(4):
        X, y = drawn(seed, 12, n_classes)
        other = contree(max_depth=depth).fit(X, y)
        assert errors_of(X, y, depth) == int((np.asarray(other.predict(X)) != y).sum()), seed


@pytest.mark.parametrize("depth", [2, 3, 4])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_as_many_errors_as_streed_on_binary_columns(n_classes, depth):
    streed = pytest.importorskip("pystreed", reason="pystreed is not installed").STreeDClassifier
    for seed in range(4):
        X, y = drawn(100 + seed, 2, n_classes)
        other = streed(max_depth=depth).fit(X.astype(int), y)
        assert errors_of(X, y, depth) == int((np.asarray(other.predict(X.astype(int))) != y).sum()), seed
