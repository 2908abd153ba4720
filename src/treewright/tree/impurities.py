"""Impurities of nodes made from their parts. In: class counts, or means of two children. Out: impurities.

Caller: ``tree.unpacking``. The definitions are those of the growers (``grow.counts``, ``grow.means``,
``grow.poisson``): a mean over outputs, 0 only where all targets are equal.
"""

from __future__ import annotations

import numpy as np

COUNT_CRITERIA = ("gini", "entropy", "log_loss", "misclassification")
MEAN_CRITERIA = ("squared_error", "poisson", "gradient")
_SMALLEST = 5e-324  # of a node that is not pure
_LARGEST = float(np.finfo(np.float64).max)


def count_impurity(criterion: str, n_classes: tuple[int, ...], value: np.ndarray) -> np.ndarray:
    """Impurity of nodes from their class counts.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "misclassification"}
        Entropy is in bits; ``"log_loss"`` is the same.
    n_classes : tuple of int
        Classes per output.
    value : float64[n, n_values], >= 0
        Counts, outputs one after another; an output's sum is positive.

    Returns
    -------
    float64[n]

    Examples
    --------
    >>> count_impurity("gini", (2,), np.array([[1.0, 3.0], [2.0, 0.0]]))
    array([0.375, 0.   ])
    """
    total = np.zeros(len(value))
    pure = np.ones(len(value), bool)
    begin = 0
    for count in n_classes:
        held = value[:, begin : begin + count]
        share = held / held.sum(axis=1, keepdims=True)
        if criterion == "gini":
            total += (share * (1.0 - share)).sum(axis=1)
        elif criterion == "misclassification":
            total += 1.0 - share.max(axis=1)
        else:
            total -= (share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=1)
        pure &= (held > 0).sum(axis=1) == 1
        begin += count
    return np.where(pure, 0.0, np.maximum(total / len(n_classes), _SMALLEST))


def join_means(
    criterion: str,
    nodes: np.ndarray,
    one: np.ndarray,
    two: np.ndarray,
    weight: np.ndarray,
    value: np.ndarray,
    impurity: np.ndarray,
) -> None:
    """Write mean and impurity of some nodes from those of their children.

    The loss of a node is that of its children plus that of their means around its own: for squared error
    ``w1 w2 / (w1 + w2) (m1 - m2)**2``, for the half Poisson deviance ``w1 m1 log(m1 / m) + w2 m2 log(m2 / m)``.

    Parameters
    ----------
    criterion : {"squared_error", "poisson", "gradient"}
        ``"gradient"``: as squared error, of what the leaves add.
    nodes, one, two : int[k]
        The nodes, their first and their second children.
    weight : float64[n]
    value : float64[n, n_outputs]
    impurity : float64[n]
        ``value`` and ``impurity`` are written at ``nodes``.
    """
    share = (weight[one] / weight[nodes])[:, None]
    first, second = value[one], value[two]
    # Shares first, so that nothing overflows; no rounding leaves the range of the parts.
    mean = first * share + second * (1.0 - share)
    mean = np.clip(mean, np.minimum(first, second), np.maximum(first, second))
    with np.errstate(over="ignore", under="ignore"):
        if criterion == "poisson":
            between = share * _around(first, mean) + (1.0 - share) * _around(second, mean)
        else:
            # Two factors, so that a square beyond float64 becomes infinite only where the impurity is.
            spread = np.sqrt(share * (1.0 - share)) * (first * 0.5 - second * 0.5)
            between = 4.0 * spread * spread
        within = impurity[one] * share[:, 0] + impurity[two] * (1.0 - share[:, 0])
        total = np.minimum(within + np.maximum(between, 0.0).mean(axis=1), _LARGEST)
    pure = (impurity[one] == 0) & (impurity[two] == 0) & (first == second).all(axis=1)
    value[nodes] = mean
    impurity[nodes] = np.where(pure, 0.0, np.maximum(total, _SMALLEST))


def _around(part: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """``part log(part / mean)``, 0 where there is nothing."""
    some = (part > 0) & (mean > 0)  # the mean of the smallest numbers may have become 0
    ratio = np.where(some, part, 1.0) / np.where(some, mean, 1.0)
    return part * np.log(np.minimum(ratio, _LARGEST))
