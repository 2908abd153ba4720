"""Pessimistic error pruning.

Training errors are too optimistic: each leaf gets half an error more, the continuity correction of the binomial
(Quinlan 1987). A node becomes a leaf if it then has no more errors than its subtree plus one standard error.
"""

from __future__ import annotations

import numpy as np

from treewright.exceptions import ParameterError, pruner
from treewright.model.data import ModelData
from treewright.prune.costs import EQUAL, leaf_sums, wrong_weight
from treewright.prune.methods import Decision
from treewright.prune.requirements import checked_number
from treewright.tree.arrays import Tree
from treewright.tree.edit import collapse


def pessimistic(model: ModelData, *, errors_per_leaf: float = 0.5, standard_errors: float = 1.0) -> Decision:
    """Prune nodes whose corrected errors as a leaf are at most those of their subtree plus its standard error.

    Parameters
    ----------
    model : ModelData
        Of a classification task.
    errors_per_leaf : float >= 0
        Errors added to those of each leaf; to a leaf of weight w below 1, w times as many.
    standard_errors : float >= 0
        Number of standard errors of the subtree by which a leaf may be worse. More prunes more: the trees are nested.

    Returns
    -------
    Decision
        Numbers of each cut: ``leaf_errors``, ``subtree_errors`` (both corrected) and ``standard_error``.

    Raises
    ------
    ParameterError
        An option is outside its range, or the model is a regression tree.

    Notes
    -----
    For a node with rows of weight n, e of it misclassified: as a leaf it has e + 1/2 errors; its subtree with L leaves
    has E = sum of e + L/2 errors, with the standard error sqrt(E (n - E) / n). It is cut where
    e + 1/2 <= E + standard error.

    The nodes are compared from the root down, each with its unpruned subtree, and nodes below a cut are skipped
    (Esposito, Malerba and Semeraro 1997, section 2.3). A second call may therefore prune a pruned tree further: its
    subtrees have changed.

    A leaf without training rows has no errors and gets no correction. If rows with missing cells are divided
    (``missing="fractional"``), some leaves hold only a part of a row: they get that part of the correction, otherwise
    they would have more errors than rows. n is the weight: a row of weight 2 counts as two rows.

    With several outputs the errors are the mean over the outputs; the standard error is that of one output with so many
    errors, which no mean of outputs exceeds (the square root is concave).

    References
    ----------
    Quinlan, J. R. (1987). Simplifying decision trees. International Journal of Man-Machine Studies 27, 221-234.
    Esposito, F., Malerba, D. and Semeraro, G. (1997). A comparative analysis of methods for pruning decision trees.
    IEEE Transactions on Pattern Analysis and Machine Intelligence 19, 476-491.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_breast_cancer
    >>> est = tw.DecisionTreeClassifier().fit(*load_breast_cancer(return_X_y=True))
    >>> est.get_n_leaves(), est.prune("pessimistic").get_n_leaves()
    (22, 9)
    """
    per_leaf = checked_number("errors_per_leaf", errors_per_leaf)
    n_errors = checked_number("standard_errors", standard_errors)
    if model.task == "regression":
        raise ParameterError(
            pruner("pessimistic"),
            " counts misclassified rows, and a regression tree has none: use ",
            pruner("minimum_error"),
            ", ",
            pruner("description_length"),
            ", significance or ",
            pruner("cost_complexity"),
        )
    tree = model.trees[0]
    weight = np.where(tree.n_samples > 0, tree.weight, 0.0)
    with np.errstate(over="ignore"):  # so large a correction is infinitely large
        as_leaf = wrong_weight(model) + per_leaf * np.minimum(weight, 1.0)
        subtree = leaf_sums(tree, as_leaf)
        # More errors than rows (a large correction): the variance is 0.
        share_right = np.maximum(1.0 - subtree / np.where(weight > 0, weight, 1.0), 0.0)
        standard_error = np.sqrt(np.where(share_right > 0, subtree, 0.0) * share_right)
        cut = ~tree.is_leaf & (as_leaf <= (subtree + n_errors * standard_error) * (1 + EQUAL))
    nodes = _topmost(tree, cut)
    numbers = {
        "leaf_errors": as_leaf[nodes],
        "subtree_errors": subtree[nodes],
        "standard_error": standard_error[nodes],
    }
    return Decision(collapse(tree, nodes), nodes, numbers)


def _topmost(tree: Tree, cut: np.ndarray) -> np.ndarray:
    """The nodes of ``cut`` that have no other one above them."""
    gone, parent = cut.tolist(), tree.parent.tolist()
    top = []
    # Parents come before their children: gone[node] covers all nodes above when its children are reached.
    for node in range(tree.n_nodes):
        if node and gone[parent[node]]:
            gone[node] = True
        elif gone[node]:
            top.append(node)
    return np.array(top, np.int64)
