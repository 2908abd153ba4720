"""exp, log and the others are near the true values, keep their exact ones, and differ on no processor."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.core import elementary

WIDE = Context(prec=60, Emin=-999_999_999, Emax=999_999_999)
LOG_OF_2 = Decimal(2).ln(WIDE)


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """The kernel is there before the first example: Hypothesis takes its time for the example's."""
    elementary.exp_of(0.0)


def units_off(found: float, true: Decimal) -> float:
    """Distance from the true value in units of its last place."""
    unit = Decimal(float(np.spacing(abs(float(true))) or 5e-324))
    return float(abs(Decimal(float(found)) - true) / unit)


def log1p_true(x: Decimal) -> Decimal:
    """By its series where 60 digits of 1 + x do not hold x."""
    return x - x * x / 2 + x * x * x / 3 if abs(x) < Decimal("1e-20") else (x + 1).ln(WIDE)


def expm1_true(x: Decimal) -> Decimal:
    return x + x * x / 2 + x * x * x / 6 if abs(x) < Decimal("1e-20") else x.exp(WIDE) - 1


TRUE: dict[str, tuple[Callable[[Decimal], Decimal], float, float, float]] = {
    # name: the true function, least and largest argument, units that it may be off
    "exp": (lambda x: x.exp(WIDE), -708.0, 709.0, 0.9),
    "expm1": (expm1_true, -60.0, 709.0, 2.0),
    "log": (lambda x: x.ln(WIDE), 5e-324, 1.7e308, 0.9),
    "log1p": (log1p_true, -1 + 2.0**-53, 1.7e308, 0.9),
    "log2": (lambda x: x.ln(WIDE) / LOG_OF_2, 5e-324, 1.7e308, 0.9),
}


@pytest.mark.parametrize("name", TRUE)
@given(data=st.data())
def test_values_are_within_their_units_in_the_last_place_of_the_true_ones(name: str, data: Any) -> None:
    true, least, largest, units = TRUE[name]
    near = st.floats(max(least, -3.0), min(largest, 3.0))
    x = data.draw(st.lists(st.floats(least, largest) | near, min_size=1, max_size=20))
    found = getattr(elementary, f"{name}_of")(x)
    with localcontext(WIDE):
        assert max(units_off(y, true(Decimal(z))) for y, z in zip(found, x, strict=True)) < units


@given(x=st.floats(1e-300, 1e300), y=st.floats(-50, 50) | st.floats(-1e6, 1e6))
def test_powers_are_within_one_unit_in_the_last_place(x: float, y: float) -> None:
    with localcontext(WIDE):
        true = (Decimal(x).ln(WIDE) * Decimal(y)).exp(WIDE)
        found = float(elementary.power_of(x, y))
        if Decimal("1e-307") < true < Decimal("1.7e308"):
            assert units_off(found, true) < 1.0


@given(y=st.floats(0, 1e10), x=st.floats(1e-10, 1e10))
def test_angles_are_near_those_of_the_c_library(y: float, x: float) -> None:
    assert elementary.angle_of(y, x) == pytest.approx(math.atan2(y, x), rel=4e-16)


@given(x=st.floats(1e-3, 1e15))
def test_log_gamma_is_near_that_of_the_c_library(x: float) -> None:
    assert elementary.log_gamma_of(x) == pytest.approx(math.lgamma(x), rel=1e-14, abs=1e-14)


def test_exact_values_are_exact() -> None:
    powers = np.arange(-1074, 1024)
    assert np.array_equal(elementary.log2_of(np.ldexp(1.0, powers)), powers)
    assert np.array_equal(elementary.power_of(2.0, powers), np.ldexp(1.0, powers))
    assert elementary.exp_of([0.0, -0.0, -np.inf, -746.0]).tolist() == [1.0, 1.0, 0.0, 0.0]
    assert elementary.log_of([1.0, 0.0, np.inf]).tolist() == [0.0, -np.inf, np.inf]
    assert elementary.log1p_of([0.0, -1.0, 1e-300]).tolist() == [0.0, -np.inf, 1e-300]
    assert elementary.expm1_of([0.0, -np.inf, 1e-300, np.inf]).tolist() == [0.0, -1.0, 1e-300, np.inf]
    assert elementary.angle_of([0.0, 1.0, 1.0], [1.0, 1.0, 0.0]).tolist() == [0.0, math.pi / 4, math.pi / 2]
    assert elementary.log_add_of(-np.inf, [-np.inf, 0.5]).tolist() == [-np.inf, 0.5]


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p", "log2"])
def test_what_has_no_value_answers_as_numpy_does(name: str) -> None:
    x = np.array([np.nan, np.inf, -np.inf, -2.0, -1.0, 0.0, 1e308, -1e308, 800.0, -800.0])
    with np.errstate(all="ignore"):
        theirs = getattr(np, name)(x)
    ours = getattr(elementary, f"{name}_of")(x)
    assert np.array_equal(np.isnan(ours), np.isnan(theirs))
    special = ~np.isfinite(theirs)
    assert np.array_equal(ours[special], theirs[special], equal_nan=True)


@pytest.mark.parametrize("y", [0.0, 1.0, 2.5, -1.5, np.inf, -np.inf, np.nan, 1e300, -1e300])
def test_powers_of_special_numbers_are_those_of_ieee_754(y: float) -> None:
    x = np.array([0.0, 1.0, 0.5, 2.0, np.inf, np.nan])
    with np.errstate(all="ignore"):
        theirs = np.power(x, y)
    special = ~np.isfinite(theirs) | (theirs == 0) | (theirs == 1)
    assert np.array_equal(elementary.power_of(x, y)[special], theirs[special], equal_nan=True)


def test_arrays_of_any_shape_broadcast() -> None:
    x = np.arange(1.0, 7.0).reshape(2, 3)[:, ::-1]
    assert elementary.log2_of(x)[1, 0] == np.log2(6.0)
    assert elementary.power_of(x, np.array([1.0, 2.0, 0.0])).tolist() == [[3.0, 4.0, 1.0], [6.0, 25.0, 1.0]]
    assert elementary.power_of(2.0, [[1.0, 3.0]]).tolist() == [[2.0, 8.0]]
    assert elementary.exp_of([]).shape == (0,)
    assert isinstance(elementary.log_of(3), float)
