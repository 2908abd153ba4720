"""Sums of numbers without any rounding. In: numbers, weights. Out: whole numbers, fractions, means.

Callers: boosting.losses_numbers, losses_classes, losses_own, base_scores.

Where boosting begins must not depend on the order of rows, and a row of weight 2 must be the row twice, to the last
bit. Every number of float64 is a whole number of 2**-1074; these are added in digits of 32 bits, one word each, and
carried over at the end (Neal 2015, "Fast exact summation using small and large superaccumulators", arXiv:1505.05571).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from treewright.core.jit import bare_inner_kernel, bare_kernel

_UNIT = 1 << 1074  # the least number of float64 is one part of so many
_N_DIGITS = 67
_AT_ONCE = 1 << 26  # rows until digits are carried over: each adds at most five times 2**33 to a word of 63 bits
_SPLITTER = 134217729.0  # 2**27 + 1
_LIFT = 300
LOW, WITHIN, HIGH = 0, 1, 2  # groups of rows
_PRODUCTS, _WEIGHTS = 0, 1  # what is added up in each


@bare_inner_kernel
def add_number(number: float, digits: np.ndarray) -> None:
    """Add a finite number to digits (int64[_N_DIGITS]), of which digit d counts 2**(32 d - 1074)."""
    bits = np.float64(number).view(np.int64)
    exponent = (bits >> np.int64(52)) & np.int64(0x7FF)
    mantissa = bits & np.int64(0xFFFFFFFFFFFFF)
    mantissa |= min(exponent, np.int64(1)) << np.int64(52)  # the leading bit of normal numbers
    place = max(exponent, np.int64(1)) - np.int64(1)
    digit, shift = place >> np.int64(5), place & np.int64(31)
    sign = np.int64(1) | (bits >> np.int64(63))
    low = (mantissa & np.int64(0xFFFFFFFF)) << shift
    high = (mantissa >> np.int64(32)) << shift
    digits[digit] += sign * (low & np.int64(0xFFFFFFFF))
    digits[digit + 1] += sign * ((low >> np.int64(32)) + (high & np.int64(0xFFFFFFFF)))
    digits[digit + 2] += sign * (high >> np.int64(32))


@bare_inner_kernel
def upper_half(number: float) -> float:
    """The 26 leading bits of a number; the rest has 26 bits too (Dekker 1971)."""
    lifted = number * _SPLITTER
    return lifted - (lifted - number)


@bare_inner_kernel
def lost_in_product(a: float, b: float) -> float:
    """What rounding took from a product, exactly: the products of halves are exact."""
    a_upper, b_upper = upper_half(a), upper_half(b)
    a_lower, b_lower = a - a_upper, b - b_upper
    return ((a_upper * b_upper - a * b) + a_upper * b_lower + a_lower * b_upper) + a_lower * b_lower


@bare_kernel
def add_rows(numbers: np.ndarray, weights: np.ndarray, low: float, high: float, digits: np.ndarray) -> None:
    """Add weight times number, and weight, to the digits of each row's group.

    Parameters
    ----------
    numbers : float64[n], finite, IN
    weights : float64[n], or empty for weights of 1, IN
    low, high : float
        Below the first is the group LOW, above the second HIGH, else WITHIN.
    digits : int64[3, 2, _N_DIGITS], IN and OUT
        Without weights, the first digit of the weights counts rows.
    """
    for i in range(numbers.shape[0]):
        number = numbers[i]
        group = LOW if number < low else (HIGH if number > high else WITHIN)
        if weights.shape[0] == 0:
            add_number(number, digits[group, _PRODUCTS])
            digits[group, _WEIGHTS, 0] += 1
        else:
            add_number(number * weights[i], digits[group, _PRODUCTS])
            add_number(lost_in_product(number, weights[i]), digits[group, _PRODUCTS])
            add_number(weights[i], digits[group, _WEIGHTS])


@dataclass(frozen=True)
class Sums:
    """Exact sums of rows.

    Attributes
    ----------
    product, weight : Fraction
        Of weight times number, and of weights.
    """

    product: Fraction
    weight: Fraction


def grouped_sums(
    numbers: np.ndarray, weights: np.ndarray | None, low: float = -math.inf, high: float = math.inf
) -> tuple[Sums, Sums, Sums]:
    """Sums of the rows whose number lies below ``low``, from there to ``high``, and above.

    Parameters
    ----------
    numbers : float64[n], up to 1e200 in magnitude
    weights : float64[n] > 0 of moderate size (``scaled_weights``), or None for weights of 1

    Examples
    --------
    >>> grouped_sums(np.array([1.0, 2.5, 8.0]), None, high=7.0)[WITHIN]
    Sums(product=Fraction(7, 2), weight=Fraction(2, 1))
    """
    given = np.empty(0) if weights is None else np.ascontiguousarray(weights, np.float64)
    numbers = np.ascontiguousarray(numbers, np.float64)
    total = np.zeros((3, 2), object)
    for first in range(0, len(numbers), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        digits = np.zeros((3, 2, _N_DIGITS), np.int64)
        add_rows(numbers[part], given[part], low, high, digits)
        for group, kind in np.ndindex(3, 2):
            total[group, kind] += sum(int(digit) << (32 * d) for d, digit in enumerate(digits[group, kind]))
    weight_unit = 1 if weights is None else _UNIT
    below, within, above = (
        Sums(Fraction(int(product), _UNIT), Fraction(int(weight), weight_unit)) for product, weight in total
    )
    return below, within, above


def exact_sum(numbers: np.ndarray) -> Fraction:
    """The sum of finite numbers up to 1e200 in magnitude.

    Examples
    --------
    >>> exact_sum(np.array([1e100, 1.0, -1e100]))
    Fraction(1, 1)
    """
    return grouped_sums(numbers, None)[WITHIN].product


def scaled_weights(weights: np.ndarray | None) -> np.ndarray | None:
    """Weights times a power of two, which quotients do not show.

    The largest becomes about 2**300: products with numbers up to 1e200 stay below the largest number of float64, and
    what rounding takes from products with the least numbers stays above the least.
    """
    if weights is None:
        return None
    return np.ldexp(weights, _LIFT - math.frexp(float(weights.max()))[1])


def weighted_mean(numbers: np.ndarray, weights: np.ndarray | None) -> float:
    """The mean of at least one number, rounded once.

    Parameters
    ----------
    numbers : float64[n], up to 1e200 in magnitude
    weights : float64[n] > 0, or None for weights of 1

    Examples
    --------
    >>> weighted_mean(np.array([1.0, 4.0]), np.array([2.0, 1.0]))
    2.0
    """
    rows = grouped_sums(numbers, scaled_weights(weights))[WITHIN]
    return float(rows.product / rows.weight)
