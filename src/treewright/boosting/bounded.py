"""Renewed leaf values under monotone constraints. In: a tree, a way to renew. Out: values of its leaves.

Caller: boosting.rounds. The tree's own bounds are made of gradients, which for these losses have another unit than the
values: so bounds are made anew, of what each node itself would say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from treewright.grow.gradient.grower import GradientTree

Renew = Callable[[np.ndarray, np.ndarray], np.ndarray]


def bounded_values(tree: GradientTree, monotone: Sequence[int], renew: Renew) -> np.ndarray:
    """What the leaves say, so that it rises or falls where it has to.

    Parameters
    ----------
    tree : GradientTree
    monotone : sequence of -1, 0, 1
        Per column.
    renew : callable
        Takes rows int32[m] group by group and where each of k groups begins, int64[k + 1]; returns float64[k].

    Returns
    -------
    float64[n_leaves]
        Below a test of a column that has to rise, no leaf on the left says more than the middle between what the two
        branches would say as leaves, and none on the right less.
    """
    said, leaves_below = np.zeros(tree.n_nodes), tree.leaves_below()
    for depth in range(int(tree.depth.max()) + 1):
        nodes = np.flatnonzero(tree.depth == depth)
        said[nodes] = renew(*tree.groups([leaves_below[node] for node in nodes]))
    low, high = np.full(tree.n_nodes, -np.inf), np.full(tree.n_nodes, np.inf)
    for node in np.flatnonzero(tree.first_child >= 0).tolist():  # parents stand before children
        first = int(tree.first_child[node])
        both = slice(first, first + 2)
        low[both], high[both] = low[node], high[node]
        sign = monotone[tree.column[node]]
        if sign:
            middle = float(np.clip(said[both], low[node], high[node]).mean())
            below, above = (first, first + 1) if sign > 0 else (first + 1, first)
            high[below], low[above] = middle, middle
    return np.clip(said, low, high)[tree.leaves]
