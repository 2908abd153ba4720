"""Confidence intervals of a share, of a mean and of R2."""

from __future__ import annotations

import math
from numbers import Real
from statistics import NormalDist

import numpy as np

from treewright.exceptions import ParameterError


def check_level(level: float) -> float:
    """Return a confidence level as a float.

    Raises
    ------
    ParameterError
        It is not a number between 0 and 1.
    """
    if isinstance(level, bool) or not isinstance(level, Real) or not 0 < level < 1:
        raise ParameterError(f"level is {level!r}; give a number between 0 and 1, such as 0.95")
    return float(level)


def wilson_interval(right: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of a share (Wilson 1927, J. Am. Stat. Assoc. 22, 209-212).

    Parameters
    ----------
    right : float, 0 to n
        How many of the rows have the property; whole unless rows are weighted.
    n : float > 0
        Rows.
    level : float, between 0 and 1

    Returns
    -------
    low, high : float, 0 to 1
        The share itself lies between them.

    Examples
    --------
    >>> low, high = wilson_interval(9, 10)
    >>> round(low, 3), round(high, 3)
    (0.596, 0.982)
    """
    return share_interval(right / n, n, level)


def share_interval(share: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Like ``wilson_interval``, for a share that is computed already: it lies between the ends to the last bit.

    Parameters
    ----------
    share : float, 0 to 1
    n : float > 0
        Rows.
    level : float, between 0 and 1
    """
    # Of the small tail: 1 - x would round to 1 for a level near 1.
    z = -NormalDist().inv_cdf((1 - level) / 2)
    z2 = z * z
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    # Rounding must not leave the share itself outside if it is 0 or 1.
    return max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half))


def mean_interval(mean: float, variance: float, n: float, level: float = 0.95) -> tuple[float, float] | None:
    """Interval of a mean by Student's t with ``n - 1`` degrees of freedom (Student 1908, Biometrika 6, 1-25).

    Parameters
    ----------
    mean : float
    variance : float >= 0
        Mean squared distance from the mean, divided by ``n`` and not by ``n - 1``.
    n : float > 0
        Rows.
    level : float, between 0 and 1

    Returns
    -------
    low, high : float, or None
        None for a single row, or if the width is beyond float64.

    Examples
    --------
    >>> low, high = mean_interval(5.0, 2.0, 5)  # 3, 4, 5, 6, 7
    >>> round(low, 3), round(high, 3)
    (3.037, 6.963)
    >>> mean_interval(5.0, 0.0, 1) is None
    True
    """
    if not n > 1:
        return None
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, (1 + level) / 2)) * math.sqrt(variance / (n - 1))
    low, high = mean - half, mean + half
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def r2_interval(
    truth: np.ndarray, said: np.ndarray, weights: np.ndarray | None, r2: float, level: float = 0.95
) -> tuple[float, float]:
    """Interval of a coefficient of determination by the delta method.

    Parameters
    ----------
    truth, said : float64[n, n_outputs]
    weights : float64[n], > 0, or None
    r2 : float
        Their R2; the mean for several outputs.
    level : float

    Returns
    -------
    low, high : float
        At most 1. nan if there is no spread: all numbers are the same, or there is no error at all.

    Notes
    -----
    1 - R2 is a mean of squared errors A over a variance B. A row with error e at distance d from the mean moves it by
    e^2 / B - A d^2 / B^2, to first order (the influence function of a ratio); the root of the sum of their squares,
    each times its share of the weight, is the standard error. On the scale of log(1 - R2), so that no end is above 1.

    Examples
    --------
    >>> truth = np.arange(100.0)[:, None]
    >>> said = truth + np.tile([[5.0], [-5.0]], (50, 1))
    >>> [round(end, 3) for end in r2_interval(truth, said, None, 0.97)]
    [0.964, 0.975]
    """
    shares = np.full(len(truth), 1 / len(truth)) if weights is None else weights / weights.max()
    shares = (shares / shares.sum())[:, None]
    scale = np.abs(truth).max(axis=0)
    truth, said = truth / np.where(scale > 0, scale, 1.0), said / np.where(scale > 0, scale, 1.0)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        apart = (truth - (shares * truth).sum(axis=0)) ** 2
        wrong = (truth - said) ** 2
        error, variance = (shares * wrong).sum(axis=0), (shares * apart).sum(axis=0)
        moves = (wrong / variance - error / variance**2 * apart).mean(axis=1)
        spread = math.sqrt(float((shares[:, 0] ** 2 * moves**2).sum())) / (1 - r2) if r2 < 1 else math.nan
    if not (math.isfinite(spread) and spread > 0):
        return math.nan, math.nan
    from treewright.core.elementary import exp_of

    z = -NormalDist().inv_cdf((1 - level) / 2)
    below, above = exp_of([z * spread, -z * spread]).tolist()
    return 1 - (1 - r2) * below, 1 - (1 - r2) * above
