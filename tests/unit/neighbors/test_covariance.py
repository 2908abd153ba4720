"""Mahalanobis: by the covariance of the fit or another, and by none that has no inverse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from treewright.data.schema import Column, Schema
from treewright.exceptions import ParameterError
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


def test_mahalanobis_takes_the_covariance_of_the_fit_or_another_or_its_inverse():
    matrix, queries = numbers()
    matrix = matrix @ np.random.default_rng(1).normal(size=(5, 5))  # columns that depend on each other somewhat
    own = np.cov(matrix.T)
    other = own + np.diag([1.0, 2.0, 3.0, 4.0, 5.0])
    found = pairs(made("mahalanobis", matrix), queries, matrix)
    # Both take the covariance, whose condition is 8e8, from rounded sums: that many roundings may lie between them.
    expected = cdist(queries, matrix, "mahalanobis", VI=np.linalg.inv(own))
    np.testing.assert_allclose(found, expected, rtol=np.linalg.cond(own) * 2.0**-52)
    expected = cdist(queries, matrix, "mahalanobis", VI=np.linalg.inv(other))
    for given_params in ({"V": other}, {"VI": np.linalg.inv(other)}):
        found = pairs(made("mahalanobis", matrix, metric_params=given_params), queries, matrix)
        np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_mahalanobis_does_not_depend_on_units():
    matrix, queries = numbers()
    factors = np.array([1e-150, 1e150, 1.0, 1e9, 1e-9])
    found = pairs(made("mahalanobis", matrix * factors), queries * factors, matrix * factors)
    np.testing.assert_allclose(found, pairs(made("mahalanobis", matrix), queries, matrix), rtol=1e-9)


def test_a_pseudoinverse_serves_where_the_covariance_is_singular():
    matrix, queries = numbers(p=3)
    matrix = np.column_stack([matrix, matrix[:, 0] + matrix[:, 1]])
    queries = np.column_stack([queries, queries[:, 0] + queries[:, 1]])
    inverse = np.linalg.pinv(np.cov(matrix.T), hermitian=True)
    found = pairs(made("mahalanobis", matrix, metric_params={"VI": inverse}), queries, matrix)
    np.testing.assert_allclose(found, cdist(queries, matrix, "mahalanobis", VI=inverse), rtol=1e-6)


def test_a_singular_covariance_names_the_columns_that_depend_on_others():
    matrix, _ = numbers()
    matrix[:, 3] = matrix[:, 0] - 2 * matrix[:, 1] + 5
    with pytest.raises(ParameterError, match=r"column 'x[013]' is a sum of multiples of the others.*pseudoinverse"):
        made("mahalanobis", matrix)
    matrix[:, 2] = 4.0
    with pytest.raises(ParameterError, match="column 'x2' is constant in the 60 training row"):
        made("mahalanobis", matrix)
    with pytest.raises(ParameterError, match="4 rows have at most 3 independent columns"):
        made("mahalanobis", numbers()[0][:4])
    with pytest.raises(ParameterError, match="constant in the 1 training row"):
        made("mahalanobis", numbers()[0][:1])
