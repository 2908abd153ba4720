"""Cost-complexity pruning. In: a model, a price or a size. Out: ``Decision``. Callers: prune.door, estimators.

The cost of a tree is the cost of its leaves (shares of the training weight), plus alpha for each leaf.
"""

from __future__ import annotations

from numbers import Real

import numpy as np

from treewright.exceptions import ParameterError
from treewright.prune.decision import Decision
from treewright.prune.path import Path, path_of, path_of_costs, subtree_at
from treewright.prune.risk import Risk, impurity_share
from treewright.tree.arrays import Tree
from treewright.tree.model import ModelData


def cost_complexity(model: ModelData, *, alpha: float, risk: Risk = "impurity") -> Decision:
    """The smallest subtree of least cost.

    Parameters
    ----------
    model : ModelData
    alpha : float >= 0
        The price of a leaf, in units of ``risk``. At 0 only what lowers nothing is cut.
    risk : {"impurity", "error"}
        What a leaf costs: its impurity, as in scikit-learn, or what it gets wrong, as in rpart.

    Raises
    ------
    ParameterError
        ``alpha`` is negative, nan or no number, or there is no such risk.
    """
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or not alpha >= 0:
        raise ParameterError(f"alpha={alpha!r}: the price of a leaf is a number >= 0")
    path = path_of(model, risk)
    return _at_step(model, path, path.step_at(float(alpha)))


def prune_at(tree: Tree, alpha: float) -> Tree:
    """The smallest subtree of least cost at ``alpha``, by impurity; for ``ccp_alpha``.

    Parameters
    ----------
    tree : Tree
    alpha : float >= 0, in units of impurity
        0 returns the tree as it is, as scikit-learn's ``ccp_alpha`` does.
    """
    if alpha == 0.0 or tree.n_nodes == 1:
        return tree
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
    most = _whole("max_leaves", max_leaves, 1)
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
    most = _whole("max_depth", max_depth, 0)
    path, tree = path_of(model, risk), model.trees[0]
    # Every inner node at that depth or deeper has to be gone.
    too_deep = ~tree.is_leaf & (tree.depth >= most)
    return _at_step(model, path, int(path.collapse_step[too_deep].max(initial=0)))


def _whole(name: str, value: object, least: int) -> int:
    """A whole number that is at least so much."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ParameterError(f"{name}={value!r}: give a whole number >= {least}")
    return int(value)


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
