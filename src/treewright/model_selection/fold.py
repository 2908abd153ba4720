"""What one fold of an evaluation said. In: scores, predictions. Out: ``Fold``. Callers: modules of model_selection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Fold:
    """What one fold said.

    Attributes
    ----------
    n_train : int
        Rows that were learned from.
    test : int64[]
        Rows that were not.
    test_scores : dict from str to float
    train_scores : dict from str to float, or None
    predictions : ndarray of the test rows
    n_leaves, depth : float
        nan for what is no tree.
    estimator : fitted estimator, or None
    """

    n_train: int
    test: np.ndarray
    test_scores: Mapping[str, float]
    train_scores: Mapping[str, float] | None
    predictions: np.ndarray
    n_leaves: float
    depth: float
    estimator: Any
