"""What to grow, checked. In: the estimator's parameters, resolved to numbers. Out: ``GrowSettings``.

Callers: estimators, grow.grower.
"""

from __future__ import annotations

from dataclasses import dataclass

# What kernels know a criterion of class counts by. A new one: its name and number here, its terms in ``counts.py``.
GINI, ENTROPY, MISCLASSIFICATION = 0, 1, 2
CLASSIFICATION_CRITERIA = {
    "gini": GINI,
    "entropy": ENTROPY,
    "log_loss": ENTROPY,
    "misclassification": MISCLASSIFICATION,
}
REGRESSION_CRITERIA = ("squared_error", "absolute_error", "poisson")


@dataclass(frozen=True)
class GrowSettings:
    """Everything that decides which tree is grown, and the number of threads, which does not.

    Attributes
    ----------
    criterion : str
        One of ``CLASSIFICATION_CRITERIA`` or ``REGRESSION_CRITERIA``; ``log_loss`` is ``entropy``.
    max_depth : int >= 1 or None
    min_samples_split : int >= 2
    min_samples_leaf : int >= 1
    min_weight_fraction_leaf : float in [0, 0.5]
    max_leaf_nodes : int >= 2 or None
        With a number, the leaf whose split gains most is split next; without, level after level.
    max_features : int >= 1 or None
        Columns drawn per node.
    min_impurity_decrease : float >= 0
    monotone : tuple of int or None
        -1, 0 or 1 per column.
    seed : int
        Only drawing columns uses it.
    n_threads : int >= 1
    """

    criterion: str
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    max_leaf_nodes: int | None = None
    max_features: int | None = None
    min_impurity_decrease: float = 0.0
    monotone: tuple[int, ...] | None = None
    seed: int = 0
    n_threads: int = 1
