"""Cost-complexity pruning. In: a model, a price or a size. Out: ``Decision``. Callers: prune.door, estimators.

The cost of a tree is the cost of its leaves (shares of the training weight), plus alpha for each leaf.
"""

from __future__ import annotations

import numpy as np

from treewright.core.whole import whole_number
from treewright.exceptions import ParameterError
from treewright.model.data import ModelData
from treewright.prune.decision import Decision
from treewright.prune.path import Path, path_of, path_of_costs, subtree_at
from treewright.prune.requirements import number_of, require_true_impurity
from treewright.prune.risk import Risk, impurity_share
from treewright.tree.arrays import Tree


def cost_complexity(model: ModelData, *, alpha: float, risk: Risk = "impurity") -> Decision:
    """The smallest subtree of least cost.

    Parameters
    ----------
    model : ModelData
    alpha : float >= 0
        The price of a leaf, in units of ``risk``. At 0 only what lowers nothing is cut, at infinity all.
    risk : {"impurity", "error"}
        What a leaf costs: its impurity, as in scikit-learn, or what it gets wrong, as in rpart.

    Raises
    ------
    ParameterError
        ``alpha`` is negative, nan or no number, or there is no such risk.
    """
    price = check_price(alpha)
    path = path_of(model, risk)
    return _at_step(model, path, path.step_at(price))


def check_price(alpha: object) -> float:
    """The price of a leaf as a number.

    Raises
    ------
    ParameterError
        It is negative, nan or no number.
    """
    price = number_of(alpha)
    if not price >= 0:
        raise ParameterError(f"alpha={alpha!r}: the price of a leaf is a number >= 0")
    return price


def prune_at(tree: Tree, alpha: float) -> Tree:
    """The smallest subtree of least cost at ``alpha``, by impurity; for ``ccp_alpha``.

    Parameters
    ----------
    tree : Tree
    alpha : float >= 0, in units of impurity
        0 returns the tree as it is, as scikit-learn's ``ccp_alpha`` does.

    Raises
    ------
    ParameterError
        The impurities are beyond float64.
    """
    if alpha == 0.0 or tree.n_nodes == 1:
        return tree
    require_true_impurity(tree)
    path = path_of_costs(tree, impurity_share(tree))
    return subtree_at(tree, path, path.step_at(alpha))


def leaves(model: ModelData, *, max_leaves: int, risk: Risk = "impurity") -> Decision:
    """The largest subtree of the path that has no more leaves than allowed.

    Parameters
    ----------
    model : ModelData
    max_leaves : int >= 1
    risk : {"impurity", "error"}

    Raises
    ------
    ParameterError
        ``max_leaves`` is below 1 or not a whole number, or there is no such risk.
    """
    most = whole_number("max_leaves", max_leaves, 1)
    path = path_of(model, risk)
    return _at_step(model, path, int(np.argmax(path.n_leaves <= most)))


def depth(model: ModelData, *, max_depth: int, risk: Risk = "impurity") -> Decision:
    """The largest subtree of the path that is no deeper than allowed.

    Parameters
    ----------
    model : ModelData
    max_depth : int >= 0
        Edges from the root to the deepest leaf.
    risk : {"impurity", "error"}

    Raises
    ------
    ParameterError
        ``max_depth`` is below 0 or not a whole number, or there is no such risk.
    """
    most = whole_number("max_depth", max_depth, 0)
    path, tree = path_of(model, risk), model.trees[0]
    # Every inner node at that depth or deeper has to be gone.
    too_deep = ~tree.is_leaf & (tree.depth >= most)
    return _at_step(model, path, int(path.collapse_step[too_deep].max(initial=0)))


def _at_step(model: ModelData, path: Path, step: int) -> Decision:
    """The subtree of one step; logged are the nodes that became its leaves."""
    tree = model.trees[0]
    cut = ~tree.is_leaf & (path.collapse_step <= step)
    ends = np.flatnonzero(cut & (path.collapse_step[np.maximum(tree.parent, 0)] > step))
    if cut[0]:
        ends = np.zeros(1, np.int64)
    steps = path.collapse_step[ends]
    order = np.argsort(steps, kind="stable")
    numbers = {"alpha": path.alphas[steps[order]]}
    return Decision(subtree_at(tree, path, step), ends[order], numbers)
