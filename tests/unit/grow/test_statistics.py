"""Targets and weights as integers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from treewright.grow.objective import centre_of, fixed_products, fixed_weights, xlogx_table

SIZES = (5e-324, 1e-310, 1e-12, 1.0, 1e12, 1e300, 1.7e308)
NO_WEIGHTS = np.empty(0, np.int64)


@pytest.mark.parametrize("size", SIZES)
def test_fixed_weights_add_up_to_less_than_two_to_53(size: float) -> None:
    weights = np.random.default_rng(0).uniform(0.1, 1.0, 1000) * size
    weights = np.maximum(weights, 5e-324)

    fixed, exponent = fixed_weights(weights, len(weights))

    assert int(fixed.sum()) < 2**53
    assert fixed.min() >= 1
    restored = [Fraction(int(w)) / Fraction(2) ** exponent for w in fixed]
    assert all(abs(a - Fraction(b)) <= Fraction(b) / 2**35 for a, b in zip(restored, weights.tolist(), strict=True))


def test_no_weights_are_ones() -> None:
    fixed, exponent = fixed_weights(None, 7)

    assert len(fixed) == 0
    assert exponent == 0


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["none", "whole", "real"])
def test_products_stay_below_two_to_62_and_keep_their_value(size: float, kind: str) -> None:
    rng = np.random.default_rng(1)
    values = rng.uniform(-1.0, 1.0, (2, 500)) * size
    weights = {"none": None, "whole": rng.integers(1, 5, 500).astype(float), "real": rng.uniform(0.1, 3.0, 500)}[kind]
    fixed, exponent = fixed_weights(weights, 500)

    products, unit = fixed_products(values, weights, fixed, exponent)

    assert all(sum(abs(int(v)) for v in row) <= 2**62 for row in products)
    assert math.frexp(unit)[0] == 0.5
    parts = np.ones(500) if weights is None else fixed.astype(float)
    exact = sum(Fraction(v) * Fraction(w) for v, w in zip(values[0].tolist(), parts.tolist(), strict=True))
    rounded = sum(int(v) for v in products[0]) * Fraction(unit)
    scale = sum(abs(Fraction(v)) * Fraction(w) for v, w in zip(values[0].tolist(), parts.tolist(), strict=True))
    # Half a step a row, and one rounding of the product of weight and value.
    assert abs(rounded - exact) <= scale / 2**50


def test_a_whole_weight_repeats_the_rounded_value() -> None:
    values = np.array([[0.1, 0.3]])
    weights = np.array([3.0, 1.0])

    products, _ = fixed_products(values, weights, *fixed_weights(weights, 2))

    assert products[0, 0] % 3 == 0


def test_zero_targets_are_zero_products() -> None:
    products, unit = fixed_products(np.zeros((1, 3)), None, NO_WEIGHTS, 0)

    assert not products.any()
    assert unit == 1.0


@pytest.mark.parametrize("seed", range(20))
def test_subtracting_the_centre_is_exact_for_a_small_spread_on_a_large_number(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = 1e9 + 1e-3 * rng.normal(size=50)

    centre = centre_of(values, None)

    assert all(Fraction(v) - Fraction(centre) == Fraction(v - centre) for v in values.tolist())
    assert abs(centre - values.mean()) < 1e-3


@pytest.mark.parametrize(
    ("values", "weights"),
    [
        ([-1.7e308, 1.7e308, 1.7e308], None),
        ([1e308, 1.7e308, 1.6e308], [1e300, 1e300, 1e300]),
        ([-1.7e308, 0.0, 1e307], [1.7e308, 1.7e308, 1.7e308]),
        ([5e-324, 1e-323, 5e-324], None),
    ],
)
def test_the_centre_of_extreme_numbers_leaves_finite_differences(values, weights) -> None:
    array = np.array(values)

    centre = centre_of(array, None if weights is None else np.array(weights))

    assert array.min() <= centre <= array.max()
    assert np.isfinite(array - centre).all()


def test_a_constant_is_its_own_centre() -> None:
    assert centre_of(np.array([0.1, 0.1]), None) == 0.1


def test_the_table_holds_c_log_c() -> None:
    table, scale = xlogx_table(100)

    assert table[0] == table[1] == 0
    assert table[8] == 24 * scale
    np.testing.assert_allclose(table[2:] / scale, [c * math.log2(c) for c in range(2, 101)], rtol=1e-15)


@pytest.mark.parametrize("n", [1, 2, 3, 1000])
def test_no_sum_of_table_entries_passes_two_to_61(n: int) -> None:
    table, _ = xlogx_table(n)

    assert int(table[n]) <= 2**61
