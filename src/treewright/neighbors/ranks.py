"""What every index gives, and in which order. In: nothing. Out: ``Index``, kinds of rank distances.

Callers: modules of neighbors.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

# Kinds of rank distances, for kernels: which formula compares two points (docs/decisions/0007).
SQUARES, MANHATTAN, CHEBYSHEV, POWERS, HAMMING, JACCARD, CANBERRA, MIXED, CALLED = range(9)


class Index(Protocol):
    """Rows of the fit, ready to be searched. Rows are ordered by (rank distance, row)."""

    def nearest(self, points: np.ndarray, k: int, n_threads: int) -> tuple[np.ndarray, np.ndarray]:
        """The ``k`` nearest rows of each point.

        Parameters
        ----------
        points : float64[m, d], C order
        k : int, 1 to the number of rows
        n_threads : int >= 1
            The result does not depend on it.

        Returns
        -------
        rows : int64[m, k]
        ranks : float64[m, k]
            Their rank distances, ascending; of equal ones the lower row stands first.
        """

    def within(self, points: np.ndarray, rank: float, n_threads: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rows whose rank distance is at most ``rank``.

        Returns
        -------
        offsets : int64[m + 1]
            Where each point's rows begin.
        rows : int64
        ranks : float64
        """
