"""Quantiles of forests are those of their slow twin, bit for bit, whatever the trees, the draws and the weights."""

from __future__ import annotations

import naive_quantiles as twin
import numpy as np
import pytest

import treewright as tw

WANTED = [0.0, 0.05, 1 / 3, 0.5, 2 / 3, 0.9, 1.0]
N, N_NEW = 50, 12
FORESTS = {
    "drawn": tw.RandomForestRegressor(n_estimators=9, quantiles=True, min_samples_leaf=3),
    "grown out": tw.RandomForestRegressor(n_estimators=7, quantiles=True),
    "few draws": tw.RandomForestRegressor(n_estimators=6, quantiles=True, max_samples=10),
    "all rows": tw.RandomForestRegressor(n_estimators=3, quantiles=True, bootstrap=False, max_depth=2),
    "random cuts": tw.ExtraTreesRegressor(n_estimators=5, quantiles=True, min_samples_leaf=4),
    "on cells": tw.RandomForestRegressor(n_estimators=4, quantiles=True, criterion="absolute_error", max_depth=3),
}


def table(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, (N + N_NEW, 4)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X[:N], X[N:], rng.choice([-1.5, -0.0, 0.0, 0.25, 3.0, 7.0, 1e9], (N, 2)), rng


def amounts_of(forest, weights):
    """How often each tree drew each row, or what it weighs where trees see all rows."""
    if not forest.bootstrap:
        return [[1] * N if weights is None else weights.tolist()] * forest.n_estimators
    return [np.bincount(rows, minlength=N).tolist() for rows in forest.estimators_samples_]


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize("weighing", [None, "counts", "fractions"])
def test_quantiles_are_those_of_the_twin(kind, weighing):
    X, X_new, y, rng = table(len(kind))
    weights = {None: None, "counts": rng.integers(1, 5, N) * 1.0, "fractions": rng.random(N) + 0.1}[weighing]
    forest = FORESTS[kind]
    forest.fit(X, y, sample_weight=weights)
    leaves, new = forest.apply(X).T.tolist(), forest.apply(X_new).tolist()
    amounts = amounts_of(forest, weights)

    found = forest.predict_quantile(X_new, WANTED)

    assert found.shape == (N_NEW, len(WANTED), 2)
    for row in range(N_NEW):
        shares = twin.weights_of_rows(leaves, amounts, new[row])
        assert sum(shares) == 1
        for output in range(2):
            expected = [twin.quantile((y[:, output] + 0.0).tolist(), shares, wanted) for wanted in WANTED]
            assert found[row, :, output].tolist() == expected
            if kind != "on cells":  # whose leaves hold medians
                mean = float(sum(share * int(2**40 * y[at, output]) for at, share in enumerate(shares)) / 2**40)
                assert np.isclose(mean, forest.predict(X_new[row : row + 1])[0, output], rtol=1e-9, atol=1e-6)
