"""Minimum error pruning by the m-estimate.

The expected error of a node on new rows is estimated from its own rows and ``m`` more with the distribution of the
root. A node becomes a leaf if its expected error is no larger than that of its best subtree.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.model.data import ModelData
from treewright.prune.costs import cheapest, scaled_weights
from treewright.prune.methods import Decision
from treewright.prune.requirements import checked_number, require_squared_error
from treewright.tree.edit import collapse

_M_OF_NUMBERS = 2.0


def minimum_error(model: ModelData, *, m: float | None = None) -> Decision:
    """Prune nodes whose expected error as a leaf is no larger than that of their best subtree.

    Parameters
    ----------
    m : float >= 0, optional
        Number of rows with the root's distribution that each estimate is mixed with. Default: the number of classes
        (with equally frequent classes, Laplace's estimate); 2 for regression.

    Returns
    -------
    Decision
        Numbers of each cut: ``static_error`` of the node as a leaf and ``backed_up_error`` of its best subtree.

    Raises
    ------
    ParameterError
        ``m`` is negative or no number; a regression tree does not predict means, or its squares are beyond float64.

    Notes
    -----
    With n the weight of a node, n_c the part of it with class c, and p_c the proportion of c in the root, the
    probability of c is (n_c + p_c m) / (n + m). The static error is that of the most probable class,

        E = min over c of (n - n_c + (1 - p_c) m) / (n + m),

    and the backed-up error of a split is the sum of n_branch / n times the smaller of the two errors of each branch.
    The most probable class of the estimate may differ from the most frequent one, which a leaf predicts. Several
    outputs: the mean of their errors. A leaf without training rows is left out of the sum.

    For numbers (Karalic and Cestnik 1991) the same mixture of the node's n rows (mean y, variance s2) and m of the
    root's (mean y0, variance s02) has the mean M = (n y + m y0) / (n + m) and the second moment
    (n (s2 + y^2) + m (s02 + y0^2)) / (n + m). Its variance, the second moment minus M^2, is the expected error:

        E = (n s2 + m s02) / (n + m) + n m (y - y0)^2 / (n + m)^2,

    because n (n+m) y^2 + m (n+m) y0^2 - (n y + m y0)^2 = n m (y - y0)^2. This form subtracts no large numbers. Several
    outputs: the mean of their errors; the nodes hold the mean of the variances.

    Classes: a row of weight 2 counts as two rows. Numbers: the weights are scaled to a mean of 1, a common factor
    changes nothing.

    A second pruning with the same ``m`` prunes nothing more.

    References
    ----------
    Niblett, T. and Bratko, I. (1986). Learning decision rules in noisy domains. Expert Systems 86, Cambridge University
    Press, 25-34 (m = number of classes, all equally likely).
    Cestnik, B. and Bratko, I. (1991). On estimating probabilities in tree pruning. EWSL-91, Springer, 138-150.
    Karalic, A. and Cestnik, B. (1991). The Bayesian approach to tree-structured regression. Information Technology
    Interfaces ITI-91, Cavtat.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_breast_cancer
    >>> est = tw.DecisionTreeClassifier().fit(*load_breast_cancer(return_X_y=True))
    >>> [est.prune("minimum_error", m=m).get_n_leaves() for m in (0, 2, 10)]
    [22, 18, 13]
    """
    rows = None if m is None else checked_number("m", m)
    used: dict[str, Any] = {}
    if model.task == "regression":
        require_squared_error(model, "minimum_error")
        used["m"] = _M_OF_NUMBERS
        static = _of_numbers(model, _M_OF_NUMBERS if rows is None else rows)
    else:
        if len(set(model.n_classes)) == 1:
            used["m"] = float(model.n_classes[0])
        static = _of_classes(model, rows)
    tree = model.trees[0]
    share = tree.weight / tree.weight[0]
    backward = cheapest(tree, share * static)
    nodes = backward.nodes
    numbers = {"static_error": static[nodes], "backed_up_error": backward.below[nodes] / share[nodes]}
    return Decision(collapse(tree, nodes), nodes, numbers, used=used if m is None else None)


def _of_classes(model: ModelData, m: float | None) -> np.ndarray:
    """Static error of each node, float64[n_nodes]; 0.0 for nodes without rows."""
    tree = model.trees[0]
    error = np.zeros(tree.n_nodes)
    start = 0
    for n_classes in model.n_classes:
        counts = tree.value[:, start : start + n_classes]
        extra = float(n_classes) if m is None else m
        mixed = counts + counts[0] / tree.weight[0] * extra
        # The sum without the largest, not the total minus the largest: exactly 0.0 where there is nothing else.
        mixed[np.arange(len(mixed)), mixed.argmax(axis=1)] = 0.0
        error += mixed.sum(axis=1) / _safe(tree.weight + extra)
        start += n_classes
    return np.where(tree.n_samples > 0, error / model.n_outputs, 0.0)


def _of_numbers(model: ModelData, m: float) -> np.ndarray:
    """Expected variance of each node, float64[n_nodes]; 0.0 for nodes without rows."""
    tree = model.trees[0]
    weight = scaled_weights(model)
    total = _safe(weight + m)
    own, prior = weight / total, m / total
    apart = ((tree.value - tree.value[0]) ** 2).mean(axis=1)
    variance = own * tree.impurity + prior * tree.impurity[0] + own * prior * apart
    return np.where(tree.n_samples > 0, variance, 0.0)


def _safe(total: np.ndarray) -> np.ndarray:
    """The totals as divisors: 0 is replaced by 1.0."""
    return np.where(total > 0, total, 1.0)
