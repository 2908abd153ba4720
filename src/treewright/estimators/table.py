"""The rows of a fit. In: what was encoded. Out: ``FitTable``, ``FitInput``. Callers: estimators."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from treewright.data.schema import Schema
from treewright.data.target import Labels, Numbers
from treewright.data.weights import Factors, warn_of_small_weights
from treewright.grow.presort import presort

if TYPE_CHECKING:
    from treewright.data.bins import Bins
    from treewright.grow.layout import Columns, NumericColumns
    from treewright.grow.settings import GrowSettings

KEPT_BYTES = 32 * 2**20  # an estimator keeps the rows of its last fit up to this size, so that it can audit a split


@dataclass(eq=False)
class Prepared:
    """What growers make of rows and target before weights come in; kept where the same rows are grown on many times.

    Attributes
    ----------
    columns : Columns, NumericColumns or None
        Sorted columns, once a tree needed them.
    bins : (Bins, uint8[n, stride]) or None
        The same for bins: those of the first tree.
    """

    columns: Columns | NumericColumns | None = field(default=None, init=False)
    bins: tuple[Bins, np.ndarray] | None = field(default=None, init=False)

    def sorted_columns(self, table: FitTable, targets: np.ndarray, settings: GrowSettings) -> Columns | NumericColumns:
        """The sorted columns, which a grower may put in another order.

        Parameters
        ----------
        table : FitTable
        targets : float64[t, n]
            Those that are sorted too.
        settings : GrowSettings
            The same at every call, but for the seed.
        """
        if self.columns is None:
            self.columns = presort(table.matrix, table.schema, targets, settings)
        return self.columns._replace(order=self.columns.order.copy())


@dataclass(frozen=True, eq=False)
class FitTable:
    """The encoded rows, target and weights of a fit; rows of weight 0 are left out.

    Attributes
    ----------
    schema : Schema
    matrix : float[n, p]
    target : Labels or Numbers of n rows
    weights : float64[n], > 0, or None
    prepared : Prepared or None
        Where other trees are grown on the same rows with other weights.
    """

    schema: Schema
    matrix: np.ndarray
    target: Labels | Numbers
    weights: np.ndarray | None
    prepared: Prepared | None = None

    def warn_of_small_weights(self, what: str) -> None:
        """Warn where the weights can be no numbers of rows, as which ``what`` takes them."""
        if self.weights is not None:
            warn_of_small_weights(float(self.weights.sum()), len(self.weights), what)

    def kept(self) -> FitTable | None:
        """The rows where they are few enough to be kept, and not those of many trees; else None."""
        if self.matrix.nbytes > KEPT_BYTES or self.prepared is not None:
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
