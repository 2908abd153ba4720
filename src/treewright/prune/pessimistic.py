"""Pessimistic error pruning.

The training errors of a leaf are too few: half an error more for each leaf is the continuity correction of the binomial
(Quinlan 1987). A node becomes a leaf where it then has no more errors than its subtree and one standard error.
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
    """Cut where a leaf has no more errors than the subtree, corrected, and its standard error.

    Parameters
    ----------
    model : ModelData
        Of a classification task.
    errors_per_leaf : float >= 0
        Errors that each leaf is given on top of its own; a leaf of weight w below 1 is given w times as many.
    standard_errors : float >= 0
        How many standard errors of the subtree a leaf may be worse. More prunes more: the trees are nested.

    Returns
    -------
    Decision
        Numbers of each cut: ``leaf_errors``, ``subtree_errors`` (both corrected) and ``standard_error``.

    Raises
    ------
    ParameterError
        An option is outside its range, or the model predicts numbers.

    Notes
    -----
    For a node with rows of weight n, e of it misclassified: as a leaf it has e + 1/2 errors; its subtree with L leaves
    has E = sum of e + L/2 errors, with the standard error sqrt(E (n - E) / n). It is cut where
    e + 1/2 <= E + standard error.

    The nodes are judged from the root down, each with its subtree as it was grown, and what is below a cut is not
    looked at any more (Esposito, Malerba and Semeraro 1997, section 2.3). A tree that was pruned may therefore be
    pruned again by a second call: its subtrees are others then.

    A leaf that no training row came to has no errors and counts for nothing. Where rows with missing cells are divided
    (``missing="fractional"``) there are leaves that hold only a part of a row: they are given that part of the
    correction, otherwise slivers of rows would have more errors than rows. n is the weight: a row of weight 2 counts as
    two rows.

    With several outputs the errors are the
    mean over the outputs; the standard error is that of one output with so many errors, and no output's mean has a
    larger one (the square root is concave).

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
        # More errors than rows (a large correction): there is nothing left to vary.
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
    """The nodes of ``cut`` above which no other one is."""
    gone, parent = cut.tolist(), tree.parent.tolist()
    top = []
    # Parents stand before their children: gone[node] covers all nodes above when its children are reached.
    for node in range(tree.n_nodes):
        if node and gone[parent[node]]:
            gone[node] = True
        elif gone[node]:
            top.append(node)
    return np.array(top, np.int64)
