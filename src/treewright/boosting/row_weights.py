"""Weights of rows as boosting takes them. In: sample weights. Out: ``RowWeights``. Caller: boosting.rounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treewright.exceptions import DataError

_LARGEST = 1e30  # gradients are float32
_MOST_ROWS = 2**26  # what rows may count as in all: of more, a gradient would be a few units of the words only


@dataclass(frozen=True, eq=False)
class RowWeights:
    """Numbers of rows, or factors of gradients.

    Attributes
    ----------
    repeats : int32[n] or None
        How many rows each counts as, where all sample weights are whole numbers: the same trees as of rows that are
        there so often, also for ``min_samples_leaf``.
    factors : float32[n] or None
        What gradients and hessians are multiplied by beside: other weights, or weights too large to count, and those of
        classes.
    """

    repeats: np.ndarray | None = None
    factors: np.ndarray | None = None

    @classmethod
    def of(cls, weights: np.ndarray | None, of_classes: np.ndarray | None = None) -> RowWeights:
        """The weights of rows, float64[n] > 0 or None, and beside them those of their classes.

        Raises
        ------
        DataError
            A weight is too small or too large for float32.

        Examples
        --------
        >>> RowWeights.of(np.array([1.0, 3.0])).repeats.tolist(), RowWeights.of(np.array([0.5, 3.0])).repeats
        ([1, 3], None)
        """
        repeats = None
        if weights is not None and bool((weights == np.rint(weights)).all()) and float(weights.sum()) <= _MOST_ROWS:
            repeats = None if bool((weights == 1.0).all()) else weights.astype(np.int32)
            weights = None
        if of_classes is not None and not bool((of_classes == 1.0).all()):
            weights = of_classes if weights is None else weights * of_classes
        if weights is None:
            return cls(repeats=repeats)
        if weights.max() > _LARGEST or weights.min() < 1 / _LARGEST:
            raise DataError(
                f"sample_weight goes from {weights.min():g} to {weights.max():g} (times the weights of classes): "
                f"boosting takes weights from {1 / _LARGEST:g} to {_LARGEST:g}; scale them"
            )
        return cls(repeats, weights.astype(np.float32))
