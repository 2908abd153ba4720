"""Confidence intervals of a share and of a mean. In: counts. Out: two ends. Callers: explain.rules, cli.scores."""

from __future__ import annotations

import math
from numbers import Real
from statistics import NormalDist

from treewright.exceptions import ParameterError


def check_level(level: float) -> float:
    """Return a confidence level as a float.

    Raises
    ------
    ParameterError
        It is no number between 0 and 1.
    """
    if isinstance(level, bool) or not isinstance(level, Real) or not 0 < level < 1:
        raise ParameterError(f"level is {level!r}; give a number between 0 and 1, such as 0.95")
    return float(level)


def wilson_interval(right: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Interval of a share, as Wilson 1927 (J. Am. Stat. Assoc. 22, 209-212) solves it.

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
    share = right / n
    # Of the small tail: 1 - x would round to 1 for a level near 1.
    z = -NormalDist().inv_cdf((1 - level) / 2)
    z2 = z * z
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    # Rounding must not leave the share itself outside where it is 0 or 1.
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
        None where one row says nothing about how much rows differ, or where the width is beyond float64.

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
