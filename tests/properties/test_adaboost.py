"""Laws of AdaBoost on random tables: rows and their order, weights, threads, and what the rounds add up to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from rotating import examples

import treewright as tw
from treewright import AdaBoostClassifier, AdaBoostRegressor
from treewright.boosting.adaboost import RowWeights
from treewright.exceptions import ParameterError

SEEDS = st.integers(0, 10_000)


def table(seed, n=40):
    """A table of few distinct values, so that gains tie often."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (n, 3)).astype(float)
    X[rng.random((n, 3)) < 0.1] = np.nan
    noise = rng.integers(0, 3, n)
    return X, (np.nan_to_num(X[:, 0]) + noise) // 3, np.nan_to_num(X[:, 0]) * 1.7 - noise, rng


def members_of(est):
    """Everything that a fit decided, as bytes."""
    trees = [member.tree_ for member in est]
    parts = [(t.feature, t.threshold, t.missing_branch, t.value) for t in trees]
    return [part.tobytes() for tree in parts for part in tree] + [est.estimator_weights_.tobytes()]


def fitted(kind, base, X, y, weights=None, **options):
    try:
        return kind(base, n_estimators=8, **options).fit(X, y, weights)
    except ParameterError as error:
        assume("no better than chance" not in str(error))
        raise


BASES = [
    (AdaBoostClassifier, tw.DecisionTreeClassifier(max_depth=1)),
    (AdaBoostClassifier, tw.DecisionTreeClassifier(max_depth=2, splitter="hist", criterion="entropy")),
    (AdaBoostRegressor, tw.DecisionTreeRegressor(max_depth=2)),
]


@pytest.mark.parametrize(("kind", "base"), BASES, ids=["stumps", "bins", "numbers"])
@pytest.mark.parametrize("bootstrap", [False, True])
@examples(5)
@given(seed=SEEDS)
@pytest.mark.filterwarnings("ignore::treewright.exceptions.DataWarning")
def test_a_row_of_weight_k_is_k_rows_to_the_last_bit(kind, base, bootstrap, seed):
    X, labels, numbers, rng = table(seed)
    y = labels if kind is AdaBoostClassifier else numbers
    weights = rng.integers(1, 4, len(X))
    repeated = rng.permutation(np.repeat(np.arange(len(X)), weights))

    weighed = fitted(kind, base, X, y, weights, bootstrap=bootstrap)
    again = fitted(kind, base, X[repeated], y[repeated], bootstrap=bootstrap)

    assert members_of(weighed) == members_of(again)


@pytest.mark.parametrize(("kind", "base"), BASES, ids=["stumps", "bins", "numbers"])
@examples(5)
@given(seed=SEEDS)
@pytest.mark.filterwarnings("ignore::treewright.exceptions.DataWarning")
def test_neither_the_order_of_the_rows_nor_threads_nor_rows_of_no_weight_matter(kind, base, seed):
    X, labels, numbers, rng = table(seed)
    y = labels if kind is AdaBoostClassifier else numbers
    order = rng.permutation(len(X))
    extra = rng.integers(0, len(X), 5)

    one = members_of(fitted(kind, base, X, y, n_jobs=1))
    assert one == members_of(fitted(kind, base, X[order], y[order], n_jobs=2))
    more = np.r_[np.ones(len(X)), np.zeros(5)]
    assert one == members_of(fitted(kind, base, np.vstack([X, X[extra]]), np.r_[y, y[extra]], more))


@given(seed=SEEDS, rate=st.floats(0.05, 1.5))
def test_the_training_error_is_below_its_bound(seed, rate):
    # Freund and Schapire 1997: of two classes, a wrong row has a margin <= 0, so its exponential loss is at least 1;
    # the mean of that loss is the product of what the weights are divided by.
    X, labels, _, _ = table(seed)
    y = labels > 0
    est = fitted(AdaBoostClassifier, None, X, y, learning_rate=rate)
    bound = 1.0
    for error, weight in zip(est.estimator_errors_, est.estimator_weights_, strict=True):
        bound *= error * np.exp(weight / 2) + (1 - error) * np.exp(-weight / 2)

    assert np.mean(est.predict(X) != y) <= bound + 1e-9


@given(seed=SEEDS, n=st.integers(1, 60), spread=st.floats(0, 8))
def test_row_weights_are_a_distribution_whatever_the_factors(seed, n, spread):
    rng = np.random.default_rng(seed)
    units = rng.integers(1, 5, n).astype(float)
    plain, weights = np.ones(n), RowWeights(units, n)
    for _ in range(3):
        factors = np.exp(-spread * rng.random(n))
        plain, weights = plain * factors, weights.times(factors)
    expected = units * plain / (units * plain).sum()

    assert weights.shares.sum() == pytest.approx(1.0, rel=1e-12)
    assert (weights.shares > 0).all()
    np.testing.assert_allclose(weights.shares, expected, rtol=1e-9, atol=1e-14)
    counts, unit = weights.as_counts()
    assert counts.sum() < 2**31
    np.testing.assert_allclose(counts * unit / units.sum(), expected, rtol=1e-6, atol=1e-8)
    assert weights.mean(np.ones(n)) == weights.mean(np.ones(n, bool)) == 1.0
