"""Best constants of losses that have no formula for them. In: targets, weights. Out: a number.

Callers: boosting.losses_numbers.

Sums are exact (``exact_sums``), so neither the order of rows nor a row written twice instead of weighing 2 shows.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from treewright.boosting.exact_sums import grouped_sums, scaled_weights, weighted_mean
from treewright.boosting.renewal import weighted_quantile

_MAX_STEPS = 200  # each halves the interval at worst: more than float64 has bits
_NEWTON_STEPS = 30


def expectile_of(target: np.ndarray, weights: np.ndarray | None, level: float) -> float:
    """The constant with the least sum of squares, which count ``level`` above it and ``1 - level`` below.

    Newton's method on a convex function of quadratic pieces: it ends, at the exact minimum of one piece (Newey and
    Powell 1987, "Asymmetric least squares estimation and testing").

    Parameters
    ----------
    target : float64[n], up to 1e200 in magnitude
    weights : float64[n] > 0, or None
    level : float, between 0 and 1

    Examples
    --------
    >>> expectile_of(np.array([0.0, 1.0]), None, 0.75)
    0.75
    """
    shares = scaled_weights(weights)
    below_factor, above_factor = Fraction(1.0 - level), Fraction(level)
    constant = weighted_mean(target, weights)
    below_weight: Fraction | None = None
    for _ in range(_MAX_STEPS):
        below, above, _none = grouped_sums(target, shares, low=constant)
        if below.weight == below_weight:
            break  # the same rows as before
        below_weight = below.weight
        weight = below_factor * below.weight + above_factor * above.weight
        constant = float((below_factor * below.product + above_factor * above.product) / weight)
    return constant


def huber_centre(target: np.ndarray, weights: np.ndarray | None, delta: float) -> float:
    """The constant with the least sum of Huber's losses.

    Its derivative is made of straight pieces: Newton's method from the median, inside an interval that is halved where
    that does not end (Huber 1964, "Robust estimation of a location parameter").

    Parameters
    ----------
    target : float64[n], up to 1e200 in magnitude
    weights : float64[n] > 0, or None
    delta : float > 0

    Examples
    --------
    >>> huber_centre(np.array([0.0, 1.0, 2.0, 1e9]), None, 1.0)
    1.5
    """
    shares = scaled_weights(weights)
    low, high = float(target.min()), float(target.max())
    constant = weighted_quantile(target, weights, 0.5)
    limit = Fraction(delta)
    for step in range(_MAX_STEPS):
        below, near, above = grouped_sums(target, shares, constant - delta, constant + delta)
        pull = near.product + limit * (above.weight - below.weight)
        slope = near.weight * Fraction(constant) - pull
        if slope == 0:
            break
        low, high = (low, min(high, constant)) if slope > 0 else (max(low, constant), high)
        newton = step < _NEWTON_STEPS and near.weight > 0
        following = float(pull / near.weight) if newton else low
        if not low <= following <= high or not newton:
            following = 0.5 * low + 0.5 * high
        if following == constant:
            break
        constant = following
    return constant
