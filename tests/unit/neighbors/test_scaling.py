"""Scales of columns: those of scikit-learn by name, numbers of the caller, cells far from 0."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

from treewright.data.schema import Column, Schema
from treewright.exceptions import DataError
from treewright.neighbors.direct import Direct
from treewright.neighbors.metrics import metric_of


def made(name, matrix, **options):
    schema = Schema(tuple(Column(f"x{at}", "numeric") for at in range(np.shape(matrix)[1])))
    return metric_of(name, np.asarray(matrix), schema, **options)


def pairs(metric, one, other):
    """The metric's distance of every pair, as the search by every pair finds it."""
    points = metric.points(np.asarray(other, float))
    rows, ranks = Direct(points, metric.kind, metric.p).nearest(metric.points(np.asarray(one, float)), len(points), 1)
    found = np.empty(rows.shape)
    np.put_along_axis(found, rows, metric.distances(ranks), axis=1)
    return found


def numbers(p=5):
    random = np.random.default_rng(0)
    cells = random.normal(size=(60, p)) * [1, 10, 0.1, 1e3, 1][:p] + [0, 5, 0, 1e3, -1][:p]
    return cells, random.normal(size=(20, p)) * 3


@pytest.mark.parametrize("name", ["euclidean", "manhattan", "minkowski", "chebyshev"])
@pytest.mark.parametrize(
    ("scale", "scaler"),
    [("standard", StandardScaler()), ("range", MinMaxScaler()), ("robust", RobustScaler())],
)
def test_named_scales_are_those_of_scikit_learn(name, scale, scaler):
    matrix, queries = numbers()
    matrix[:, 2] = 7.0
    scaler.fit(matrix)
    queries[:, 2] = 8.0
    theirs = {"euclidean": "euclidean", "manhattan": "cityblock", "minkowski": "minkowski", "chebyshev": "chebyshev"}
    options = {"p": 3} if name == "minkowski" else {}
    expected = cdist(scaler.transform(queries), scaler.transform(matrix), theirs[name], **options)
    found = pairs(made(name, matrix, scale=scale, **options), queries, matrix)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    assert made(name, matrix, scale=scale, **options).scales[2] == 1.0


def test_scales_of_numbers_multiply_and_zero_leaves_a_column_out():
    matrix, queries = numbers()
    factors = [2.0, 0.0, 1.0, 0.5, 3.0]
    expected = cdist(queries * factors, matrix * factors)
    np.testing.assert_allclose(pairs(made("euclidean", matrix, scale=factors), queries, matrix), expected, rtol=1e-10)


@pytest.mark.parametrize("scale", ["standard", "range", "robust", [3.0, 0.1]])
def test_a_tiny_spread_far_from_zero_is_not_lost_by_scaling(scale):
    random = np.random.default_rng(0)
    steps = random.integers(0, 50, (30, 2))
    matrix = 1e6 + steps * 2.0**-30  # exact
    metric = made("euclidean", matrix, scale=scale)
    near = made("euclidean", steps.astype(float), scale=metric.scales)
    found, expected = pairs(metric, matrix, matrix), pairs(near, steps, steps) * 2.0**-30
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    np.testing.assert_array_equal(found == 0, (steps[:, None] == steps).all(axis=2))


def test_scaled_integers_near_zero_keep_their_ties():
    matrix = np.array([[1.0], [2.0], [3.0], [4.0]])
    assert made("euclidean", matrix, scale=[2.0]).center is None
    found = pairs(made("euclidean", matrix, scale=[3.0]), [[2.5]], matrix)[0]
    assert found.tolist() == [4.5, 1.5, 1.5, 4.5]


def test_scales_that_carry_the_fit_beyond_float64_are_refused():
    with pytest.raises(DataError, match=r"'x1' times its scale 1e\+30 is beyond float64 in 1 row"):
        made("euclidean", [[1.0, 1e300], [1.0, 1.0]], scale=[1, 1e30])
    metric = made("euclidean", [[1.0, 1e-5], [1.0, 2e-5]], scale="range")
    assert np.isfinite(metric.points(np.array([[1.0, 1.7e308]]))).all()
