"""Nearest neighbours of tables full of ties: what a double loop over the rows says, whatever the search."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from treewright import KNeighborsClassifier, KNeighborsRegressor

CELLS = st.integers(-3, 3).map(float)


@st.composite
def cases(draw):
    """Rows of few different cells, classes, queries, and a number of neighbours."""
    n, d = draw(st.integers(2, 40)), draw(st.integers(1, 4))
    X = draw(arrays(np.float64, (n, d), elements=CELLS))
    y = draw(arrays(np.int64, n, elements=st.integers(0, 3)))
    return X, y, draw(arrays(np.float64, (5, d), elements=CELLS)), draw(st.integers(1, n - 1))


def rank(metric, a, b):
    """Of whole numbers: exact."""
    parts = np.abs(a - b)
    return {"euclidean": (parts**2).sum(), "manhattan": parts.sum(), "chebyshev": parts.max()}[metric]


@given(case=cases(), metric=st.sampled_from(["euclidean", "manhattan", "chebyshev"]), n_jobs=st.sampled_from([1, 3]))
def test_every_search_finds_the_rows_of_a_double_loop_in_its_order(case, metric, n_jobs):
    X, y, queries, k = case
    expected = [[j for _, j in sorted((rank(metric, q, row), j) for j, row in enumerate(X))[:k]] for q in queries]
    others = [
        [j for _, j in sorted((rank(metric, q, row), j) for j, row in enumerate(X) if j != i)[:k]]
        for i, q in enumerate(X)
    ]

    for algorithm in ("auto", "brute", "kd_tree"):
        est = KNeighborsClassifier(k, metric=metric, algorithm=algorithm, n_jobs=n_jobs).fit(X, y)
        assert est.kneighbors(queries, return_distance=False).tolist() == expected
        assert est.kneighbors(return_distance=False).tolist() == others
        votes = [np.bincount(y[rows], minlength=4)[est.classes_] for rows in expected]
        assert est.predict_proba(queries).tolist() == [(each / k).tolist() for each in votes]
        assert est.predict(queries).tolist() == [int(est.classes_[each.argmax()]) for each in votes]


@given(case=cases(), radius=st.integers(0, 6))
def test_rows_within_a_radius_are_those_of_a_double_loop(case, radius):
    X, y, queries, _ = case
    expected = [
        [j for far, j in sorted((rank("manhattan", q, row), j) for j, row in enumerate(X)) if far <= radius]
        for q in queries
    ]

    for algorithm in ("brute", "kd_tree"):
        est = KNeighborsRegressor(1, metric="manhattan", algorithm=algorithm).fit(X, y)
        assert [each.tolist() for each in est.radius_neighbors(queries, radius, return_distance=False)] == expected
