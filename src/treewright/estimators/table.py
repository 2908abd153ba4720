"""The rows of a fit. In: what was encoded. Out: ``FitTable``. Callers: estimators."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treewright.data.schema import Schema
from treewright.data.target import Labels, Numbers

KEPT_BYTES = 32 * 2**20  # an estimator keeps the rows of its last fit up to this size, so that it can audit a split


@dataclass(frozen=True, eq=False)
class FitTable:
    """The encoded rows, target and weights of a fit; rows of weight 0 are left out.

    Attributes
    ----------
    schema : Schema
    matrix : float[n, p]
    target : Labels or Numbers of n rows
    weights : float64[n], > 0, or None
    """

    schema: Schema
    matrix: np.ndarray
    target: Labels | Numbers
    weights: np.ndarray | None

    def kept(self) -> FitTable | None:
        """Itself where it is small enough to be kept, else None."""
        return self if self.matrix.nbytes <= KEPT_BYTES else None
