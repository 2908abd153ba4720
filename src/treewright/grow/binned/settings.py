"""What to grow on bins. In: an estimator's parameters, resolved. Out: ``BinnedSettings``.

Callers: forest, estimators.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treewright.grow.settings import GrowSettings


@dataclass(frozen=True)
class BinnedSettings(GrowSettings):
    """``GrowSettings``, and what only growth on bins knows.

    Attributes
    ----------
    random_cuts : bool
        One random cut a column instead of the best (extra-trees).
    interactions : tuple of tuple of int, or None
        Groups of columns (at most 64): the tests on one path ask for columns of one group.
    counts_rows : bool
        Weights are numbers of rows: a row of weight 3 counts three times in ``min_samples_split`` and
        ``min_samples_leaf``.
    candidates : int32[k] or None
        Columns that the whole tree may use, ascending; None for all.
    """

    random_cuts: bool = False
    interactions: tuple[tuple[int, ...], ...] | None = None
    counts_rows: bool = False
    candidates: np.ndarray | None = None
