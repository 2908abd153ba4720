"""Bottom-up passes over a tree. In: a number per node. Out: sums below, and where to cut. Callers: prune."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.prune.risk import EQUAL
from treewright.tree.arrays import Tree


class Backward(NamedTuple):
    """Where to cut.

    Attributes
    ----------
    nodes : int64[k]
        The inner nodes that cost no more as a leaf than the best of what is below; children before their parents.
    below : float64[n_nodes]
        Cost of the best that is below each inner node, its own split included; the cost as a leaf at a leaf.
    """

    nodes: np.ndarray
    below: np.ndarray


def cheapest(tree: Tree, as_leaf: np.ndarray, of_split: np.ndarray | None = None, *, slack: float = EQUAL) -> Backward:
    """The subtree of least cost, the smallest of equals, by one pass from the leaves up.

    Parameters
    ----------
    tree : Tree
    as_leaf : float64[n_nodes], finite
        Cost of each node as a leaf.
    of_split : float64[n_nodes], optional
        Cost of each inner node's question; none costs anything by default.
    slack : float >= 0
        Costs that differ by this part count as equal: then the leaf is wanted.
    """
    leaf_cost = as_leaf.tolist()
    below = ([0.0] * tree.n_nodes) if of_split is None else np.where(tree.is_leaf, 0.0, of_split).tolist()
    parent, is_leaf = tree.parent.tolist(), tree.is_leaf.tolist()
    cut = []
    # Children stand after their parents: backwards, every child is settled before its parent.
    for node in range(tree.n_nodes - 1, -1, -1):
        least = leaf_cost[node]
        if is_leaf[node]:
            below[node] = least
        elif least <= below[node] + slack * abs(below[node]):
            cut.append(node)
        else:
            least = below[node]
        if node:
            below[parent[node]] += least
    return Backward(np.array(cut, np.int64), np.array(below))


def leaf_sums(tree: Tree, at_leaf: np.ndarray) -> np.ndarray:
    """Sums over the leaves at and below each node.

    Parameters
    ----------
    tree : Tree
    at_leaf : float64[n_nodes]
        What a leaf counts; inner nodes' own entries are not read.

    Returns
    -------
    float64[n_nodes]
    """
    sums = np.where(tree.is_leaf, at_leaf, 0.0).tolist()
    parent = tree.parent.tolist()
    for node in range(tree.n_nodes - 1, 0, -1):
        sums[parent[node]] += sums[node]
    return np.array(sums)
