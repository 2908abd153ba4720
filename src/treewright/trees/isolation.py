"""Anomaly scores from path lengths. In: mean path lengths in an isolation forest. Out: scores.

The score is ``2 ** -(mean path length / average path length of as many rows as each tree sampled)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.core.elementary import log_of, power_of

NO_LENGTH = 1.0  # path length over its average if every tree sampled one row: the score is 1/2, not an outlier


def average_path_length(n: np.ndarray) -> np.ndarray:
    """Average path length of an unsuccessful search in a binary tree of ``n`` rows.

    Parameters
    ----------
    n : int64[k], >= 0

    Returns
    -------
    float64[k]
        ``2 (ln(n - 1) + 0.5772...) - 2 (n - 1) / n``; 1 for two rows, 0 for fewer.

    Notes
    -----
    Liu, Ting and Zhou 2012, equation 1.

    Examples
    --------
    >>> average_path_length(np.array([1, 2, 256])).round(3).tolist()
    [0.0, 1.0, 10.245]
    """
    n = np.asarray(n, np.float64)
    many = np.maximum(n, 3.0)
    length = 2.0 * (log_of(many - 1.0) + np.euler_gamma) - 2.0 * (many - 1.0) / many
    return np.where(n > 2, length, np.where(n == 2, 1.0, 0.0))


def scores_of_lengths(facts: dict[str, Any], lengths: np.ndarray) -> np.ndarray:
    """The anomaly scores of mean path lengths (float64[n]), from 0 to 1.

    Parameters
    ----------
    facts : dict
        Those of the model; ``max_samples`` is the number of rows that each tree sampled.

    Returns
    -------
    float64[n]

    Examples
    --------
    >>> scores_of_lengths({"max_samples": 2}, np.array([0.0, 1.0]))
    array([1. , 0.5])
    """
    whole = average_path_length(np.array([facts["max_samples"]]))[0]
    if whole == 0.0:
        return np.full(len(lengths), 2.0**-NO_LENGTH)
    scores: np.ndarray = power_of(2.0, -(lengths / whole))
    return scores
