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
from treewright.prune.risk import Risk, costs_in_units
from treewright.tree.arrays import Tree
from treewright.tree.edit import collapse
from treewright.tree.model import ModelData

EQUAL = 1e-12  # costs that differ by this part are equal: they are the same number, rounded in other ways


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
    """
    return path_of_costs(model.trees[0], *costs_in_units(model, risk))


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
    O(n x depth). Gains are added up anew on the way to the root, not subtracted: the sums of a path of 20,000 steps are
    as good as those of its first.

    Step 0 goes from the leaves up: where a split raises the cost (a criterion of the user's may), the node above it
    must be judged by the best that is below. From then on every link gains something, and cutting one never makes
    another weaker than it, so that it does not matter where in the tree the search for the weakest begins.
    """
    n = len(cost)
    drop, gain, below = np.zeros(n), np.zeros(n), cost.copy()
    size = np.ones(n, np.int64)
    # Per node: what its subtree gains per leaf, and the least of that at and below it.
    rate, least = np.full(n, np.inf), np.full(n, np.inf)
    for node in range(n - 1, -1, -1):
        if n_branches[node] == 0:
            collapse_step[node] = 0
            continue
        of_children = 0.0
        for child in range(first_child[node], first_child[node] + n_branches[node]):
            of_children += cost[child]
        drop[node] = cost[node] - of_children
        if abs(drop[node]) <= 1e-12 * abs(cost[node]):
            drop[node] = 0.0
        _gather(node, first_child, n_branches, drop, gain, below, size, rate, least)
        if rate[node] == 0.0:
            collapse_step[node] = 0
            _make_leaf(node, cost, gain, below, size, rate, least)
    step = 0
    alphas[0], risks[0], n_leaves[0] = 0.0, below[0], size[0]
    while size[0] > 1:
        step += 1
        alpha = least[0]
        limit = alpha * (1 + 1e-12)
        while size[0] > 1 and least[0] <= limit:
            node = 0
            while rate[node] > limit:
                node = first_child[node]
                while least[node] > limit:
                    node += 1
            collapse_step[node] = step
            _make_leaf(node, cost, gain, below, size, rate, least)
            node = parent[node]
            while node >= 0:
                _gather(node, first_child, n_branches, drop, gain, below, size, rate, least)
                node = parent[node]
        alphas[step], risks[step], n_leaves[step] = alpha, below[0], size[0]
    for node in range(n):
        if collapse_step[node] < 0:
            # Still an inner node when a node above it was cut.
            collapse_step[node] = collapse_step[parent[node]]
    return step + 1


@inner_kernel
def _make_leaf(node, cost, gain, below, size, rate, least):
    """Cut at a node."""
    gain[node], below[node], size[node] = 0.0, cost[node], 1
    rate[node] = least[node] = np.inf


@inner_kernel
def _gather(node, first_child, n_branches, drop, gain, below, size, rate, least):
    """Sum up an inner node from its children."""
    total, under, leaves, lowest = drop[node], 0.0, 0, np.inf
    for child in range(first_child[node], first_child[node] + n_branches[node]):
        total += gain[child]
        under += below[child]
        leaves += size[child]
        lowest = min(lowest, least[child])
    gain[node], below[node], size[node] = total, under, leaves
    rate[node] = max(total, 0.0) / (leaves - 1)
    least[node] = min(lowest, rate[node])
