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
        How many rows each counts as, where all weights are whole numbers: the same trees as of rows that are there so
        often, also for ``min_samples_leaf``.
    factors : float32[n] or None
        What gradients and hessians are multiplied by where weights are others, or too large to count.
    """

    repeats: np.ndarray | None = None
    factors: np.ndarray | None = None

    @classmethod
    def of(cls, weights: np.ndarray | None) -> RowWeights:
        """The weights of rows, float64[n] > 0 or None.

        Raises
        ------
        DataError
            A weight is too small or too large for float32.

        Examples
        --------
        >>> RowWeights.of(np.array([1.0, 3.0])).repeats.tolist(), RowWeights.of(np.array([0.5, 3.0])).repeats
        ([1, 3], None)
        """
        if weights is None or bool((weights == 1.0).all()):
            return cls()
        if bool((weights == np.rint(weights)).all()) and float(weights.sum()) <= _MOST_ROWS:
            return cls(repeats=weights.astype(np.int32))
        if weights.max() > _LARGEST or weights.min() < 1 / _LARGEST:
            raise DataError(
                f"sample_weight goes from {weights.min():g} to {weights.max():g} (times the weights of classes): "
                f"boosting takes weights from {1 / _LARGEST:g} to {_LARGEST:g}; scale them"
            )
        return cls(factors=weights.astype(np.float32))
