"""The nested subtrees of cost-complexity pruning. In: a model, a risk. Out: ``Path``. Callers: prune, estimators.

For every price alpha of a leaf there is a smallest subtree of least cost, and these subtrees are nested (Breiman et
al. 1984, section 3.3): the path lists all of them. Its next step always cuts the weakest link, the node whose subtree
lowers the cost least per leaf.

It takes 2 ms for a tree of 7,600 leaves (48,000 rows, 36 levels) and 50 ms for one of 48,000 leaves and as many steps;
1.5 s for a chain of 20,000 levels that is cut level by level, the worst case.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treewright.core.jit import inner_kernel, kernel
from treewright.exceptions import ParameterError
from treewright.model.data import ModelData
from treewright.prune.requirements import require_true_impurity
from treewright.prune.risk import EQUAL, Risk, costs_in_units
from treewright.tree.arrays import Tree
from treewright.tree.edit import collapse


class Path(NamedTuple):
    """Nested subtrees, from the largest to the root alone.

    Attributes
    ----------
    alphas : float64[k], strictly ascending, the first 0.0
        The price of a leaf from which on each subtree is the one wanted.
    n_leaves : int64[k]
    risks : float64[k]
        Cost of each subtree's leaves, as a share of the weight of all rows.
    collapse_step : int64[n_nodes]
        The position in these arrays from which on a node is not an inner node; 0 for leaves, never less than below it.
    """

    alphas: np.ndarray
    n_leaves: np.ndarray
    risks: np.ndarray
    collapse_step: np.ndarray

    def step_at(self, alpha: float) -> int:
        """The step whose subtree is wanted at a price."""
        return int(np.searchsorted(self.alphas, alpha * (1 + EQUAL), side="right")) - 1


def path_of(model: ModelData, risk: Risk = "impurity") -> Path:
    """The whole path in one pass.

    Parameters
    ----------
    model : ModelData
    risk : {"impurity", "error"}
        What a leaf costs: the impurity that nodes hold (as scikit-learn), or the misclassified share (as rpart).

    Raises
    ------
    ParameterError
        There is no such risk; or the impurities are beyond float64, and what the nodes hold is only its end.
    """
    cost, unit = costs_in_units(model, risk)
    if risk == "impurity" or model.task == "regression":
        require_true_impurity(model.trees[0])
    return path_of_costs(model.trees[0], cost, unit)


def path_of_costs(tree: Tree, cost: np.ndarray, unit: float = 1.0) -> Path:
    """The path where each node has a cost of its own as a leaf.

    Parameters
    ----------
    tree : Tree
    cost : float64[n_nodes], >= 0
    unit : float > 0
        What the path's alphas and risks are divided by. Costs that are whole numbers are added up without rounding, so
        that equal links are cut in one step: a unit keeps them whole.

    Raises
    ------
    ParameterError
        A cost is nan or infinite.
    """
    if not np.isfinite(cost).all():
        node = int(np.flatnonzero(~np.isfinite(cost))[0])
        raise ParameterError(f"node {node} costs {cost[node]} as a leaf: there is no path of costs that are not finite")
    n = tree.n_nodes
    # By a power of two, which rounds nothing: sums of the largest numbers stay finite.
    exponent = int(np.frexp(np.abs(cost).max())[1])
    collapse_step = np.full(n, -1, np.int64)
    alphas, risks, n_leaves = np.empty(n + 1), np.empty(n + 1), np.empty(n + 1, np.int64)
    n_steps = weakest_links(
        tree.first_child.astype(np.int64), tree.n_branches.astype(np.int64), tree.parent.astype(np.int64),
        np.ldexp(cost, -exponent), collapse_step, alphas, risks, n_leaves,
    )  # fmt: skip
    alphas, risks = (np.ldexp(numbers[:n_steps], exponent) / unit for numbers in (alphas, risks))
    return Path(alphas, n_leaves[:n_steps].copy(), risks, collapse_step)


def subtree_at(tree: Tree, path: Path, step: int) -> Tree:
    """The subtree of one step.

    Parameters
    ----------
    tree : Tree
    path : Path
    step : int, 0 to k - 1
    """
    return collapse(tree, np.flatnonzero((path.collapse_step <= step) & ~tree.is_leaf))


@kernel
def weakest_links(first_child, n_branches, parent, cost, collapse_step, alphas, risks, n_leaves):
    """Cut the weakest link until the root is alone.

    Parameters
    ----------
    first_child, n_branches, parent : int64[n], IN
    cost : float64[n], IN
    collapse_step : int64[n], OUT - given as -1
    alphas, risks : float64[n + 1], OUT
    n_leaves : int64[n + 1], OUT

    Returns
    -------
    int
        Steps written.

    Notes
    -----
    O(n x depth x log of the branches). Gains are added up anew on the way to the root, not subtracted: the sums of a
    path of 20,000 steps are as good as those of its first. The children of a node are added up in pairs, pairs of
    pairs and so on, so that a cut adds up no more than the pairs it is in.

    Step 0 goes from the leaves up: where a split raises the cost (a criterion of the user's may), the node above it
    must be judged by the best that is below. From then on every link gains something, and cutting one never makes
    another weaker than it, so that it does not matter where in the tree the search for the weakest begins.
    """
    n = len(cost)
    place = _places(first_child, n_branches)
    # By place: what is gained below, the cost of the leaves, their number, and the least gain per leaf of any link.
    gain, below, least = np.zeros(2 * n), np.zeros(2 * n), np.full(2 * n, np.inf)
    size = np.ones(2 * n, np.int64)
    # By node: what the split gains, and what the whole subtree gains per leaf.
    drop, rate = np.zeros(n), np.full(n, np.inf)
    for node in range(n - 1, -1, -1):
        below[place[node]] = cost[node]
        if n_branches[node] == 0:
            collapse_step[node] = 0
            continue
        of_children = 0.0
        for child in range(first_child[node], first_child[node] + n_branches[node]):
            of_children += cost[child]
        drop[node] = cost[node] - of_children
        if abs(drop[node]) <= EQUAL * abs(cost[node]):
            drop[node] = 0.0
        for pair in range(n_branches[node] - 1, 0, -1):
            _add_pair(2 * first_child[node], pair, gain, below, size, least)
        _settle(node, place, first_child, drop, rate, gain, below, size, least)
        if rate[node] == 0.0:
            collapse_step[node] = 0
            _make_leaf(node, place, cost, rate, gain, below, size, least)
    step = 0
    root = place[0]
    alphas[0], risks[0], n_leaves[0] = 0.0, below[root], size[root]
    while size[root] > 1:
        step += 1
        alpha = least[root]
        limit = alpha * (1 + EQUAL)
        while size[root] > 1 and least[root] <= limit:
            node = _weakest(limit, first_child, n_branches, rate, least)
            collapse_step[node] = step
            _make_leaf(node, place, cost, rate, gain, below, size, least)
            while node > 0:
                above = parent[node]
                start = 2 * first_child[above]
                pair = (place[node] - start) // 2
                while pair > 0:
                    _add_pair(start, pair, gain, below, size, least)
                    pair //= 2
                _settle(above, place, first_child, drop, rate, gain, below, size, least)
                node = above
        alphas[step], risks[step], n_leaves[step] = alpha, below[root], size[root]
    for node in range(n):
        if collapse_step[node] < 0:
            # Still an inner node when a node above it was cut.
            collapse_step[node] = collapse_step[parent[node]]
    return step + 1


@inner_kernel
def _places(first_child, n_branches):
    """Where the sums of each node stand, int64[n].

    The b children of a node, which begin at node f, have the places 2 f + b to 2 f + 2 b - 1. At 2 f + k, for k from 1
    to b - 1, stands what the places 2 f + 2 k and 2 f + 2 k + 1 have together: at 2 f + 1 that is all of them.
    """
    place = np.ones(len(first_child), np.int64)  # of the root: no child's place is below 2
    for node in range(len(first_child)):
        for branch in range(n_branches[node]):
            place[first_child[node] + branch] = 2 * first_child[node] + n_branches[node] + branch
    return place


@inner_kernel
def _add_pair(start, pair, gain, below, size, least):
    """Put together the two places of a pair of the node whose children's places begin at ``start``."""
    to, one = start + pair, start + 2 * pair
    gain[to] = gain[one] + gain[one + 1]
    below[to] = below[one] + below[one + 1]
    size[to] = size[one] + size[one + 1]
    least[to] = min(least[one], least[one + 1])


@inner_kernel
def _settle(node, place, first_child, drop, rate, gain, below, size, least):
    """Sum up an inner node from all of its children."""
    to, children = place[node], 2 * first_child[node] + 1
    gain[to] = drop[node] + gain[children]
    below[to] = below[children]
    size[to] = size[children]
    rate[node] = max(gain[to], 0.0) / (size[to] - 1)
    least[to] = min(least[children], rate[node])


@inner_kernel
def _make_leaf(node, place, cost, rate, gain, below, size, least):
    """Cut at a node."""
    at = place[node]
    gain[at], below[at], size[at] = 0.0, cost[node], 1
    rate[node] = least[at] = np.inf


@inner_kernel
def _weakest(limit, first_child, n_branches, rate, least):
    """A node whose link is no stronger than the limit; there has to be one."""
    node = 0
    while rate[node] > limit:
        branches, pair = n_branches[node], 1
        while pair < branches:
            pair *= 2
            if least[2 * first_child[node] + pair] > limit:
                pair += 1
        node = first_child[node] + pair - branches
    return node
