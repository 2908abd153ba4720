"""Nearest neighbours of many neighbours, classes and found rows: memory stays bounded, or one error says what to do."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from rotating import few

from treewright import KNeighborsClassifier, KNeighborsRegressor
from treewright.exceptions import DataWarning, TooLargeError

MILLION = 2**20


def peak_of(call):
    """Bytes that Python and NumPy took at most."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("weights", few(["uniform", "distance"], 1))
def test_many_neighbours_are_looked_for_a_few_rows_at_a_time(weights):
    X = np.random.default_rng(0).normal(size=(20_000, 2))
    est = KNeighborsRegressor(n_neighbors=15_000, weights=weights, n_jobs=1).fit(X, X[:, 0])
    est.predict(X[:256])  # the kernels of many rows are loaded, or compiled, which takes memory of its own

    # Of all 256 rows together rows, distances and weights would be 200 MB and more.
    assert peak_of(lambda: est.predict(X[:256])) < 64 * MILLION


def test_predicted_classes_need_no_room_for_the_shares_of_all_classes():
    X = np.arange(2000.0)[:, None]
    with pytest.warns(DataWarning, match="2000 classes in 2000 rows"):
        est = KNeighborsClassifier(n_neighbors=1, n_jobs=1).fit(X, np.arange(2000))
    queries = np.tile(X, (5, 1))
    est.predict(queries[:1])

    said = []
    # The shares of 10,000 rows are 160 MB.
    assert peak_of(lambda: said.append(est.predict(queries))) < 64 * MILLION
    assert said[0].tolist() == queries[:, 0].tolist()


def test_shares_of_many_classes_take_little_more_than_what_is_returned():
    X = np.arange(2000.0)[:, None]
    with pytest.warns(DataWarning, match="2000 classes in 2000 rows"):
        est = KNeighborsClassifier(n_neighbors=1, n_jobs=1).fit(X, np.arange(2000))
    est.predict_proba(X[:1])

    assert peak_of(lambda: est.predict_proba(X)) < 32e6 + 48 * MILLION  # and three times 32 MB in one block


def test_a_radius_that_finds_more_than_memory_holds_is_refused(monkeypatch):
    for module in ("treewright.data.memory", "treewright.model.neighbors"):
        monkeypatch.setattr(f"{module}.available_memory", lambda: 80 * MILLION)
    X = np.random.default_rng(0).normal(size=(4000, 2))
    est = KNeighborsRegressor(n_jobs=1).fit(X, X[:, 0])
    est.radius_neighbors(X[:1], 0.1)

    def ask():
        with pytest.raises(TooLargeError, match=r"rows within the radius needs.*give a smaller radius"):
            est.radius_neighbors(X, np.inf)

    assert peak_of(ask) < 200 * MILLION  # of 256 MB and the same again
    assert len(est.radius_neighbors(X, 0.01)[0]) == 4000
