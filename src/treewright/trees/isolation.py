"""Anomaly scores, 0 to 1, from mean path lengths in an isolation forest.

The score is ``2 ** -(mean path length / average path length of as many rows as each tree sampled)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.core.elementary import log_of, power_of

NO_LENGTH = 1.0  # path length over its average if every tree sampled one row: the score is 1/2, not an outlier


def average_path_length(n: np.ndarray) -> np.ndarray:
    """Average path length, float64[k], of an unsuccessful search in a binary tree of ``n`` rows, int64[k].

    ``2 (ln(n - 1) + 0.5772...) - 2 (n - 1) / n``; 1 for two rows, 0 for fewer (Liu, Ting and Zhou 2012, equation 1).
    """
    n = np.asarray(n, np.float64)
    many = np.maximum(n, 3.0)
    length = 2.0 * (log_of(many - 1.0) + np.euler_gamma) - 2.0 * (many - 1.0) / many
    return np.where(n > 2, length, np.where(n == 2, 1.0, 0.0))


def scores_of_lengths(facts: dict[str, Any], lengths: np.ndarray) -> np.ndarray:
    """The anomaly scores of mean path lengths (float64[n]), from 0 to 1.

    ``max_samples`` among the facts is the number of rows that each tree sampled.

    >>> scores_of_lengths({"max_samples": 2}, np.array([0.0, 1.0]))
    array([1. , 0.5])
    """
    whole = average_path_length(np.array([facts["max_samples"]]))[0]
    if whole == 0.0:
        return np.full(len(lengths), 2.0**-NO_LENGTH)
    scores: np.ndarray = power_of(2.0, -(lengths / whole))
    return scores
