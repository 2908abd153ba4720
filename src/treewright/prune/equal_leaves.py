"""Merging leaves that predict the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from treewright.model.data import ModelData
from treewright.predict.values import leaf_table
from treewright.prune.methods import Action, Decision
from treewright.tree.edit import collapse


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
