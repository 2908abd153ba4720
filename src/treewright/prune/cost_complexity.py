"""Cost-complexity pruning. In: ``Tree``, alpha. Out: the pruned ``Tree``. Callers: estimators.

The cost of a tree is the sum over its leaves of impurity times share of the training weight, plus alpha for each leaf.
For every alpha there is a smallest subtree of least cost, and it can be found from the leaves up (Breiman et al. 1984,
sections 3.2 and 3.3).
"""

from __future__ import annotations

import numpy as np

from treewright.tree.arrays import Tree
from treewright.tree.edit import collapse


def prune_at(tree: Tree, alpha: float) -> Tree:
    """The smallest subtree of least cost at ``alpha``.

    Parameters
    ----------
    tree : Tree
    alpha : float >= 0, in units of impurity
        The price of a leaf. 0 returns the tree as it is, as scikit-learn's ``ccp_alpha`` does.

    Returns
    -------
    Tree
    """
    if alpha == 0.0 or tree.n_nodes == 1:
        return tree
    cost = tree.impurity * (tree.weight / tree.weight[0])
    single = (cost + alpha).tolist()
    below = [0.0] * tree.n_nodes
    parent = tree.parent.tolist()
    leaf = tree.is_leaf.tolist()
    cut = []
    # Children stand after their parents: backwards, every child is settled before its parent.
    for node in range(tree.n_nodes - 1, -1, -1):
        least = single[node]
        if not leaf[node]:
            # Equal up to rounding counts as equal: then the smaller tree is wanted.
            if single[node] <= below[node] * (1 + 1e-12):
                cut.append(node)
            else:
                least = below[node]
        if node:
            below[parent[node]] += least
    return collapse(tree, np.array(cut, np.int64)) if cut else tree
