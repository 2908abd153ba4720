"""The trees of partial sums behind absolute error."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from treewright.grow.criteria.medians import absolute_error, fenwick_add, median_of, median_place, prefix


@numba.njit
def add(weights, products, place, weight, product):
    fenwick_add(weights, products, place, weight, product)


@numba.njit
def sum_of_first(tree, n_places):
    return prefix(tree, n_places)


@numba.njit
def middle(weights, total):
    return median_place(weights, total)


@numba.njit
def error_of(weights, products, total_weight, total_product, ranked, values, unit):
    return absolute_error(weights, products, total_weight, total_product, ranked, values, unit)


@numba.njit
def middle_value(weights, total_weight, ranked, values):
    return median_of(weights, total_weight, ranked, values)


def filled(weight: np.ndarray, product: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    weights, products = np.zeros(len(weight) + 1, np.int64), np.zeros(len(weight) + 1, np.int64)
    for place in np.random.default_rng(0).permutation(len(weight)):
        if weight[place]:
            add(weights, products, place, weight[place], product[place])
    return weights, products


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 30])
def test_sums_and_medians_are_those_of_a_plain_search(n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(20):
        values = np.sort(rng.integers(-9, 9, n).astype(float))
        weight = rng.integers(0, 4, n)
        weight[rng.integers(n)] = 2
        product = weight * values.astype(np.int64)
        weights, products = filled(weight, product)
        sums = np.concatenate([[0], np.cumsum(weight)])
        total = int(sums[-1])
        lower = int(np.flatnonzero(2 * sums[1:] >= total)[0])
        upper = int(np.flatnonzero(2 * sums[1:] > total)[0])

        np.testing.assert_array_equal([sum_of_first(weights, k) for k in range(n + 1)], sums)
        assert middle(weights, total) == lower
        ranked = np.arange(n, dtype=np.int32)
        assert middle_value(weights, total, ranked, values) == (values[lower] + values[upper]) / 2
        distance = error_of(weights, products, total, int(product.sum()), ranked, values, 1.0)
        assert distance == (weight * np.abs(values - values[lower])).sum()
