"""Tables as bins, and one tree on them. In: ``FitTable``. Out: ``BinnedTable``, ``Tree``.

Callers: estimators.cart, estimators.forest_base.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from treewright.data.bin_rows import bin_rows
from treewright.data.bins import Bins, bins_of
from treewright.data.memory import check_fits
from treewright.estimators.table import FitTable
from treewright.grow.binned.grower import grow_binned

if TYPE_CHECKING:
    from treewright.grow.binned.settings import BinnedSettings
    from treewright.grow.objective import Objective
    from treewright.tree.arrays import Tree


@dataclass(frozen=True, eq=False)
class BinnedTable:
    """The rows of a fit as bin numbers.

    Attributes
    ----------
    table : FitTable
    bins : Bins
    codes : uint8[n, stride]
    """

    table: FitTable
    bins: Bins
    codes: np.ndarray

    @classmethod
    def of(cls, table: FitTable, max_bins: int, n_threads: int) -> BinnedTable:
        """Bins that hold about equal weight, or one value each."""
        again = table.prepared
        if again is not None and again.bins is not None:
            return cls(table, *again.bins)
        bins = bins_of(table.matrix, table.schema, table.weights, max_bins=int(max_bins), n_threads=n_threads)
        codes = bin_rows(bins, table.matrix, n_threads)
        if again is not None:
            again.bins = bins, codes
        return cls(table, bins, codes)

    def digest(self) -> str:
        """The same for the same rows, targets, weights and bins in the same order."""
        made = blake2b(digest_size=16)
        weights = np.empty(0) if self.table.weights is None else self.table.weights
        for array in (self.codes, self.table.target[0], weights, self.bins.lowest, self.bins.highest):
            made.update(repr((array.shape, array.dtype.str)).encode())
            made.update(np.ascontiguousarray(array).data)
        return made.hexdigest()


def grow_tree_on_bins(table: FitTable, objective: Objective, settings: BinnedSettings, max_bins: int) -> Tree:
    """Grow one tree on the bins of all rows.

    Parameters
    ----------
    table : FitTable
    objective : Objective
        Of all rows.
    settings : BinnedSettings
    max_bins : int, 2 to 255

    Returns
    -------
    Tree
    """
    binned = BinnedTable.of(table, max_bins, settings.n_threads)
    return grow_binned(binned.codes, binned.bins, table.schema, objective, settings)


def refuse_too_little_memory(p: int, n: int, n_threads: int) -> None:
    """Refuse a table whose bins would not fit in memory.

    Raises
    ------
    TooLargeError
    """
    # A byte a cell, once for all and once for the rows of the tree that each thread grows, with 40 bytes a row beside.
    check_fits(n * (p + 8 + n_threads * (p + 48)), f"growing on {n} rows x {p} columns")
