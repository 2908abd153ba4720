"""Four pruners that compare an estimate of each node's error with that of its subtree.

reduced_error       on held-out rows, from the leaves up (Quinlan 1987): the result is the subtree with the lowest
                    loss on these rows, and the smallest one of those
minimum_error       the m-estimate, from the node's own rows and ``m`` more with the distribution of the root
pessimistic         training errors are too optimistic: each leaf gets half an error more, the continuity correction
                    of the binomial (Quinlan 1987), and the subtree one standard error
merge_equal_leaves  no estimate: siblings that predict the same predict it together
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from treewright.data.cells import shown
from treewright.exceptions import DataError, ParameterError, Phrase, pruner
from treewright.predict.ensemble import leaf_table
from treewright.prune.costs import (
    EQUAL,
    cheapest,
    checked_number,
    leaf_sums,
    require_squared_error,
    scaled_weights,
    wrong_weight,
)
from treewright.prune.losses import Loss, loss_of, node_losses
from treewright.prune.methods import Action, Decision, Rows
from treewright.trees.arrays import Tree
from treewright.trees.data import ModelData
from treewright.trees.edit import collapse


def reduced_error(model: ModelData, rows: Rows, *, loss: Loss | None = None) -> Decision:
    """The smallest subtree with the lowest loss on held-out rows.

    Parameters
    ----------
    model : ModelData
        A leaf predicts from its training rows: the most frequent class, or the number.
    rows : Rows
        Rows that the tree was not fitted on. A node that none of them reaches is cut.
    loss : {"misclassification", "squared_error", "absolute_error", "poisson"}, optional
        None: the misclassified weight for classes (the mean over several outputs); for regression the loss of the
        tree's criterion, else the squared error.

    Returns
    -------
    Decision
        ``error_as_leaf`` and ``error_of_subtree`` are sums of weight times loss over the hold-out rows in the node,
        ``holdout_weight`` is their weight. Children come before their parents.

    Raises
    ------
    DataError
        There are no rows; or they are all of one of several classes: a single leaf would be as good as any tree.
    ParameterError
        There is no such loss, or it is not one for the task.

    Notes
    -----
    Quinlan, J. R. (1987), Simplifying decision trees, *International Journal of Man-Machine Studies* 27, 221-234.
    Weka's REPTree and its J48 with ``-R`` decide in the same way.

    Under ``missing="fractional"`` a row with missing cells is in several leaves, and each counts its loss times the
    share of the row there, as in J48. A prediction averages these leaves instead, so that another subtree may predict
    such rows better.

    Examples
    --------
    >>> import treewright as tw
    >>> X, y = [[1], [2], [3], [4], [5], [6]], ["no", "no", "no", "yes", "no", "yes"]
    >>> est = tw.DecisionTreeClassifier().fit(X, y)
    >>> small = est.prune("reduced_error", [[1.5], [4.5], [5.0]], ["no", "yes", "yes"])
    >>> est.get_n_leaves(), small.get_n_leaves()
    (4, 2)
    """
    chosen = loss_of(model, loss)
    check_holdout(model, rows.target)
    losses = node_losses(model, rows, chosen)
    tree = model.trees[0]
    found = cheapest(tree, losses.cost, slack=0.0 if losses.is_exact else EQUAL)
    numbers = {
        "error_as_leaf": _in_real(losses.cost[found.nodes], losses.unit),
        "error_of_subtree": _in_real(found.below[found.nodes], losses.unit),
        "holdout_weight": _in_real(losses.weight[found.nodes], losses.weight_unit),
    }
    return Decision(collapse(tree, found.nodes), found.nodes, numbers, used={"loss": chosen} if loss is None else None)


def _in_real(numbers: np.ndarray, unit: float) -> np.ndarray:
    """Numbers times their unit; infinite beyond float64, and 0.0 stays 0.0 even for an infinite unit."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(numbers == 0.0, 0.0, numbers * unit)


def check_holdout(model: ModelData, target: np.ndarray) -> None:
    """Refuse hold-out rows that cannot compare trees: none, or all of one class.

    ``target`` int32[n, n_outputs] class codes, or float64[n, n_outputs].
    """
    if not len(target):
        raise DataError("there are no hold-out rows of weight above 0: pass rows that the tree was not fitted on")
    for output, classes in enumerate(model.classes):
        codes = target[:, output]
        if len(classes) > 1 and (codes == codes[0]).all():
            where = f" (output {output})" if model.n_outputs > 1 else ""
            raise DataError(
                f"the {len(codes)} hold-out row(s) are all of class {shown(classes.tolist()[codes[0]])}{where}, one of "
                f"the model's {len(classes)}: a single leaf would look perfect. ",
                Phrase(
                    "Sample the rows so that all classes occur, as train_test_split(..., stratify=y) does",
                    "draw rows",
                ),
            )


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
        accuracy = np.maximum(1.0 - subtree / np.where(weight > 0, weight, 1.0), 0.0)
        standard_error = np.sqrt(np.where(accuracy > 0, subtree, 0.0) * accuracy)
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


def merge_equal_leaves(model: ModelData) -> Decision:
    """Merge sibling leaves that predict the same, from the leaves up, until none are left.

    Returns
    -------
    Decision
        Actions are ``merge``; the number of each is ``branches``, the number of leaves that became one.

    Notes
    -----
    "The same" is the same class for every output, or an equal number. Class proportions may differ: a merged leaf has
    the proportions of all its rows.

    The label, or number, of every row that ends in one leaf stays what it was. Therefore a merged node
    takes over the number that its leaves held (its own mean may be rounded differently), and leaves with classes are
    merged only if the node itself predicts their class: with a near tie it may predict another one.
    Under ``missing="fractional"`` a row with missing cells averages the proportions of several leaves, and those may
    change: so can its label if the average is close.

    A second merge changes nothing.

    Examples
    --------
    The class is the same for x above 5 and below; only its proportion differs:

    >>> import treewright as tw
    >>> est = tw.DecisionTreeClassifier().fit([[1], [1], [1], [9], [9]], ["a", "a", "b", "a", "a"])
    >>> est.get_n_leaves(), est.prune("merge_equal_leaves").get_n_leaves()
    (2, 1)
    """
    tree = model.trees[0]
    is_classes = model.task == "classification"
    predicted = leaf_table(model).codes if is_classes else tree.value + 0.0  # -0.0 is the same number as 0.0
    rows, own = np.unique(predicted, axis=0, return_inverse=True)
    content, first_child, n_branches = own.tolist(), tree.first_child.tolist(), tree.n_branches.tolist()
    nodes = []
    # Children come after their parents: going backwards, content[child] is known at its parent; -1 is not a leaf.
    for node in range(tree.n_nodes - 1, -1, -1):
        if not n_branches[node]:
            continue
        children = content[first_child[node] : first_child[node] + n_branches[node]]
        common = children[0]
        if common < 0 or children.count(common) < len(children) or (is_classes and content[node] != common):
            content[node] = -1
            continue
        content[node] = common
        nodes.append(node)
    merged = np.array(nodes, np.int64)
    if not is_classes and nodes:
        value = tree.value.copy()
        value[merged] = rows[np.array(content)[merged]]
        tree = replace(tree, value=value)
    numbers = {"branches": tree.n_branches[merged].astype(np.float64)}
    action: Action = "merge"
    return Decision(collapse(tree, merged), merged, numbers, (action,) * len(nodes))
