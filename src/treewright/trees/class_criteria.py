"""Impurities of class counts: names, numbers, and formulas of the classes' proportions.

The one list of them: growers, forests, audits, pruning and the checks of model files use it. A new impurity is an entry
in the two tables here and its lines in ``grow.criteria.counts``, which raises on import if they are missing. It must be
concave in the proportions, and 0 exactly if one class has all rows: the growers search for a subset of levels in the
order of their proportions, and treat a node of impurity 0 as pure.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

# The numbers of the criteria in kernels.
GINI, ENTROPY, MISCLASSIFICATION = 0, 1, 2
CLASSIFICATION_CRITERIA = {
    "gini": GINI,
    "entropy": ENTROPY,
    "log_loss": ENTROPY,
    "misclassification": MISCLASSIFICATION,
}


def _gini(proportions: np.ndarray) -> np.ndarray:
    impurity: np.ndarray = 1.0 - (proportions * proportions).sum(axis=-1)
    return impurity


def _entropy(proportions: np.ndarray) -> np.ndarray:
    """Entropy in bits."""
    from treewright.core.elementary import log2_of

    logs = log2_of(np.where(proportions > 0.0, proportions, 1.0))
    impurity: np.ndarray = -(proportions * logs).sum(axis=-1)
    return impurity


def _misclassification(proportions: np.ndarray) -> np.ndarray:
    impurity: np.ndarray = 1.0 - proportions.max(axis=-1)
    return impurity


_FORMULAS: dict[int, Callable[[np.ndarray], np.ndarray]] = {
    GINI: _gini,
    ENTROPY: _entropy,
    MISCLASSIFICATION: _misclassification,
}


def impurity_of_proportions(number: int, proportions: np.ndarray) -> np.ndarray:
    """Impurity of one output, float64[...], from its classes' proportions, float64[..., n_classes]."""
    return _FORMULAS[number](proportions)
