"""Standard errors of forests are those of their slow twin."""

from __future__ import annotations

import naive_jackknife as twin
import numpy as np
import pytest

import treewright as tw
from treewright.forest.jackknife import gram_of_draws

N, N_NEW, N_TREES = 30, 6, 80
rng = np.random.default_rng(5)
X, X_NEW = rng.random((N, 3)), rng.random((N_NEW, 3))
Y = 3 * X[:, 0] + rng.normal(size=N)
LABELS = np.digitize(X[:, 0], [0.3, 0.6])


def counts_of(forest):
    return [np.bincount(rows, minlength=N).tolist() for rows in forest.estimators_samples_]


def assert_as_twin(forest, said, errors, repeats):
    """``said`` and ``errors`` are [tree, row, value] and [row, value]."""
    counts = counts_of(forest)
    for row, value in np.ndindex(errors.shape):
        expected = twin.variance(said[:, row, value].tolist(), counts, repeats)
        if np.isnan(errors[row, value]):
            assert expected < 1e-12
        else:
            assert np.isclose(errors[row, value] ** 2, expected, rtol=1e-9, atol=1e-15)


@pytest.mark.filterwarnings("ignore:.*trees are too few")
@pytest.mark.parametrize("weighing", [None, "counts", "fractions"])
@pytest.mark.parametrize("options", [{}, {"max_samples": 11}, {"criterion": "absolute_error", "max_depth": 3}])
def test_standard_errors_of_numbers_are_those_of_the_twin(options, weighing):
    weights = {None: None, "counts": rng.integers(1, 5, N), "fractions": rng.random(N) + 0.2}[weighing]
    forest = tw.RandomForestRegressor(n_estimators=N_TREES, min_samples_leaf=2, **options)
    forest.fit(X, np.stack([Y, -2 * Y**2], axis=1), sample_weight=weights)
    said = np.array([tree.predict(X_NEW) for tree in forest.estimators_])
    repeats = weights.tolist() if weighing == "counts" else [1] * N

    errors = forest.predict_std(X_NEW)

    assert (errors > 0).any()
    assert_as_twin(forest, said, errors, repeats)


@pytest.mark.filterwarnings("ignore:.*trees are too few")
@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_standard_errors_of_class_shares_are_those_of_the_twin(voting):
    forest = tw.RandomForestClassifier(n_estimators=N_TREES, min_samples_leaf=3, voting=voting).fit(X, LABELS)
    said = np.array([tree.predict_proba(X_NEW) for tree in forest.estimators_])
    if voting == "hard":
        said = (np.arange(3) == said.argmax(axis=2)[:, :, None]).astype(float)

    assert_as_twin(forest, said, forest.predict_std(X_NEW), [1] * N)


@pytest.mark.parametrize("weighing", [None, "counts"])
def test_the_table_of_trees_is_the_product_of_their_draws(weighing):
    weights = None if weighing is None else rng.integers(1, 4, N)
    forest = tw.RandomForestRegressor(n_estimators=12).fit(X, Y, sample_weight=weights)
    counts = np.array(counts_of(forest), float)
    gram, n_draws = gram_of_draws(forest._trained.draws, 12)

    repeats = np.ones(N) if weights is None else weights
    assert np.allclose(gram, (counts / repeats) @ counts.T, rtol=1e-13)
    assert n_draws == counts[0].sum() * N / repeats.sum()
