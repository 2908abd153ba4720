"""The threshold between two neighbouring values: their middle."""

from __future__ import annotations

import numpy as np

_LARGEST = np.finfo(np.float64).max


def middle_of(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The middle of each pair of values, as a threshold of ``x <= middle``.

    Parameters
    ----------
    low, high : float64[n]
        ``low < high``; infinities are allowed.

    Returns
    -------
    float64[n]
        At least ``low`` and never equal to ``high``, so that ``x <= middle`` separates the two even if they are
        neighbouring floats. Finite if a finite number lies there; 0.0 between the two infinities; never -0.0.

    Examples
    --------
    >>> middle_of(np.array([1.0, -np.inf, 1e308]), np.array([2.0, np.inf, 1.5e308])).tolist()
    [1.5, 0.0, 1.25e+308]
    """
    # Halves first: the sum of two large numbers would overflow. Tiny numbers would lose their last bit by halving.
    small = np.maximum(np.abs(low), np.abs(high)) < 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        middle = np.where(small, (low + high) / 2, low / 2 + high / 2)
    middle = np.where(np.isneginf(low) & np.isposinf(high), 0.0, np.clip(middle, -_LARGEST, _LARGEST))
    middle = np.where((middle >= high) | (middle < low), low, middle)
    return np.asarray(middle + 0.0)
