"""How rpart numbers the complexity of nodes, written out again. In: a tree, the cost of each node. Out: a cp per node.

Caller: test_rpart_xval.
"""

from __future__ import annotations

import numpy as np


def complexities_of_rpart(tree, cost):
    """float64[n_nodes]: the price from which on a node of a two-way tree is no inner node any more.

    Bottom up, each node once: the branch that goes first is gone, and the other too where it goes before the node. What
    is left below a branch is what there was when that branch itself would go.
    """
    complexity, below, splits = np.zeros(tree.n_nodes), cost.copy(), np.zeros(tree.n_nodes)
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.is_leaf[node]:
            continue
        pair = [int(tree.first_child[node]), int(tree.first_child[node]) + 1]
        first, second = pair if complexity[pair[1]] > complexity[pair[0]] else pair[::-1]
        left = {branch: (below[branch], splits[branch]) for branch in pair}
        if price(cost[node], left) > complexity[first]:
            left[first] = (cost[first], 0)
            if price(cost[node], left) > complexity[second]:
                left[second] = (cost[second], 0)
        complexity[node] = max(price(cost[node], left), 0.0)
        if complexity[node] > 0.0:
            below[node] = sum(risk for risk, _ in left.values())
            splits[node] = 1 + sum(n for _, n in left.values())
    for node in range(1, tree.n_nodes):
        complexity[node] = min(complexity[node], complexity[tree.parent[node]])
    return complexity


def price(cost, left):
    """What the subtree saves, by the number of its splits."""
    return (cost - sum(risk for risk, _ in left.values())) / (1 + sum(n for _, n in left.values()))
