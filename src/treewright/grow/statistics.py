"""Targets and weights as integers. In: codes or numbers, weights. Out: a statistics tuple for the kernels. Caller: grow.grower.

Sums of integers do not depend on the order of addition, so the same partition of the rows gives the same gain to the last bit
whichever column or thread found it. Weights and targets become fixed point with a power-of-two scale taken from their sums:
nothing can overflow, and the resolution of a target is its mean absolute deviation times n / 2**61.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

GINI, ENTROPY, MISCLASSIFICATION = 0, 1, 2

_MAX_WHOLE = 2**31  # whole-number weights beyond are treated as any other


class MeanStats(NamedTuple):
    """Sums that a mean is made of: squared error, and Gini of two classes coded -1 and 1 (the same thing up to a factor)."""

    values: np.ndarray  # int8 or int64 [t, n]: weight times centred target
    weights: np.ndarray  # int64[n], or empty where every weight is one
    targets: np.ndarray  # float64[t, n] as given; empty for Gini
    factor: float  # what a squared deviation is worth in impurity
    unit: float  # target units of a quotient of sums and weights
    is_gini: bool


class CountStats(NamedTuple):
    """Class counts: any number of classes and outputs."""

    labels: np.ndarray  # uint8 or int32 [n_outputs, n]
    offsets: np.ndarray  # int64[n_outputs + 1]: where each output's classes begin in the totals
    weights: np.ndarray  # int64[n], or empty
    table: np.ndarray  # int64[n + 1]: c log2 c in fixed point, empty unless entropy without weights
    table_scale: float
    criterion: int


class PoissonStats(NamedTuple):
    """Sums of a target that is never negative, for the half Poisson deviance."""

    values: np.ndarray  # int64[t, n]
    weights: np.ndarray  # int64[n], or empty
    targets: np.ndarray  # float64[t, n] as given
    unit: float  # target units of a quotient of sums and weights


class MedianStats(NamedTuple):
    """Targets whose medians are wanted: absolute error."""

    values: np.ndarray  # float64[t, n]: centred targets
    weights: np.ndarray  # int64[n], or empty
    products: np.ndarray  # int64[t, n]: weight times target in fixed point
    unit: float  # target units of a quotient of sums and weights
    ranked: np.ndarray  # int32[t, n]: rows of each segment in ascending order of target; written while growing
    place: np.ndarray  # int32[t, n]: a row's place in its segment of ``ranked``


def weight_scale(weights: np.ndarray | None, n: int) -> tuple[np.ndarray, float]:
    """Weights in fixed point.

    Parameters
    ----------
    weights : float64[n], > 0, or None
        None means one for every row.
    n : int

    Returns
    -------
    fixed : int64[n]
        Empty for None. Their sum is below 2**53, so that every partial sum is exact in float64 too.
    scale : float
        A power of two: ``fixed = round(weights * scale)``.
    """
    if weights is None:
        return np.empty(0, np.int64), 1.0
    exponent = 52 - math.frexp(float(weights.max()) * n)[1]
    # Two steps: the scale itself may be beyond float64 for weights of 1e-300 and less.
    fixed = np.rint(np.ldexp(weights, exponent)).astype(np.int64)
    return np.maximum(fixed, 1), math.ldexp(1.0, max(min(exponent, 1000), -1000))


def centre_of(values: np.ndarray, weights: np.ndarray | None) -> float:
    """A number near the weighted mean with few binary digits, so that subtracting it loses nothing.

    The remainder ``values - centre`` is exact where it matters: for targets such as 1e9 + 1e-3 the squares of the remainder
    carry the information that the squares of the targets have lost.
    """
    lowest, highest = float(values.min()), float(values.max())
    if lowest == highest:
        return lowest
    half = values * 0.5  # the sum of two halves cannot overflow
    middle = float(np.average(half, weights=weights)) * 2.0
    middle = min(max(middle, lowest), highest)
    grid = math.frexp(max(highest - middle, middle - lowest))[1] - 4
    return math.ldexp(round(math.ldexp(middle, -grid)), grid)


def fixed_products(values: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, float]:
    """Weight times value in fixed point, with one power-of-two scale so that no sum of absolute values passes 2**62.

    Parameters
    ----------
    values : float64[t, n]
        Centred targets, an output a row.
    weights : float64[n] or None

    Returns
    -------
    products : int64[t, n]
        Whole-number weights multiply the rounded value: a row of weight 2 counts exactly as two rows.
    unit : float
        ``products * unit`` is weight times value.
    """
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0.0:
        return np.zeros(values.shape, np.int64), 1.0
    whole = weights is None or bool((weights == np.rint(weights)).all() and weights.sum() < _MAX_WHOLE)
    # Numbers below 1 first: the sum of 1e308-sized targets would be infinite.
    lift = math.frexp(largest)[1]
    lift_weights = 0 if weights is None or whole else math.frexp(float(weights.max()))[1]
    small = np.ldexp(values, -lift)
    scaled_weights = 1.0 if weights is None else np.ldexp(weights, -lift_weights)
    total = float((np.abs(small) * scaled_weights).sum(axis=1).max())
    # sum |round(x)| <= sum |x| + n / 2: between 2**61 and 2**62 there is room for the rounding of 2**61 rows.
    shift = 61 - math.frexp(total)[1]
    unit = _power(lift + lift_weights - shift)
    if not whole:
        return np.rint(np.ldexp(small * scaled_weights, shift)).astype(np.int64), unit
    products = np.rint(np.ldexp(small, shift)).astype(np.int64)
    if weights is not None:
        products *= weights.astype(np.int64)
    return products, unit


def _power(exponent: int) -> float:
    """Two to an exponent, kept within float64."""
    return math.ldexp(1.0, max(min(exponent, 1023), -1074))


def xlogx_table(n: int) -> tuple[np.ndarray, float]:
    """``c log2(c)`` for c = 0..n in fixed point.

    Returns
    -------
    table : int64[n + 1]
    scale : float
        A power of two; no sum of the table over parts of n passes 2**61.
    """
    scale = math.ldexp(1.0, 60 - math.frexp(n * math.log2(max(n, 2)))[1])
    counts = np.arange(n + 1, dtype=np.float64)
    counts[0] = 1.0
    table = counts * np.log2(counts)
    return np.rint(table * scale).astype(np.int64), scale
