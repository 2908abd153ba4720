"""The rows of a fit. In: what was encoded. Out: ``FitTable``, ``FitInput``. Callers: estimators."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from treewright.data.schema import Schema
from treewright.data.target import Labels, Numbers
from treewright.data.weights import Factors, warn_of_small_weights

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

    def warn_of_small_weights(self, what: str) -> None:
        """Warn where the weights can be no numbers of rows, as which ``what`` takes them."""
        if self.weights is not None:
            warn_of_small_weights(float(self.weights.sum()), len(self.weights), what)

    def kept(self) -> FitTable | None:
        """The rows where they are few enough to be kept, else None."""
        if self.matrix.nbytes > KEPT_BYTES:
            return None
        # A copy: the matrix may be the user's own array, which may be changed after the fit.
        return replace(self, matrix=self.matrix.copy(order="K"))


@dataclass(frozen=True, eq=False)
class FitInput:
    """A table that was checked, with what ``fit`` was given beside it.

    Attributes
    ----------
    table : FitTable
    kept : bool[n_given] or None
        Which of the given rows the table holds; None for all.
    factors : tuple of float64[n_classes], one per output; or None
        What a class weighs more than another.
    sample_weight : float64[n] or None
        What the rows of the table weigh without their classes.
    """

    table: FitTable
    kept: np.ndarray | None
    factors: Factors | None
    sample_weight: np.ndarray | None
