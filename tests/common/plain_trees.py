"""Trees of which only the shape is of interest. In: a depth, or branches. Out: `Tree`. Callers: the tests."""

from __future__ import annotations

import numpy as np

from treewright.trees.arrays import LEAF, THRESHOLD, Tree


def shape_tree(n_branches, first_child, *, kind=THRESHOLD, **arrays) -> Tree:
    """A tree by the branches of each node and where its children begin; fillers elsewhere.

    Parameters
    ----------
    n_branches : int[n_nodes]
        0 at a leaf.
    first_child : int[n_nodes]
        -1 at a leaf.
    kind : int
        What the inner nodes ask.
    **arrays
        ``threshold``, ``n_samples``, ``weight`` (by default ``n_samples``), ``impurity``, ``value``.
    """
    n_branches = np.array(n_branches, np.int32)
    n, inner = len(n_branches), n_branches > 0
    rows = np.array(arrays.get("n_samples", np.ones(n)), np.int64)
    cells = {"threshold": np.zeros(n), "weight": rows, "impurity": np.zeros(n), "value": np.zeros((n, 1))} | arrays
    return Tree(
        kind=np.where(inner, kind, LEAF).astype(np.uint8),
        feature=np.where(inner, 0, -1).astype(np.int32),
        threshold=np.array(cells["threshold"], np.float64),
        first_child=np.array(first_child, np.int32),
        n_branches=n_branches,
        missing_branch=np.zeros(n, np.int32),
        level_set=np.full(n, -1, np.int32),
        n_samples=rows,
        weight=np.array(cells["weight"], np.float64),
        impurity=np.array(cells["impurity"], np.float64),
        value=np.array(cells["value"], np.float64),
        levels_left=np.zeros(0, np.uint64),
        levels_seen=np.zeros(0, np.uint64),
    )


def rows_of_chain(depth) -> np.ndarray:
    """Rows in each node of ``chain_tree``: one in every leaf."""
    node = np.arange(2 * depth + 1)
    return np.where(node % 2 == 0, depth + 1 - node // 2, 1)


def chain_tree(depth, **arrays) -> Tree:
    """As deep as it has splits: node 2 k asks ``x <= k``, branch 0 is always a leaf with one row.

    ``value`` is by default the number of the node.
    """
    node = np.arange(2 * depth + 1)
    inner = (node % 2 == 0) & (node < 2 * depth)
    given = {
        "threshold": np.where(inner, node / 2, 0.0),
        "n_samples": rows_of_chain(depth),
        "value": node[:, None],
    } | arrays
    return shape_tree(np.where(inner, 2, 0), np.where(inner, node + 1, -1), **given)
