"""How much each column did. In: ``Tree``. Out: importances. Callers: model, estimators."""

from __future__ import annotations

import numpy as np

from treewright.tree.arrays import Tree
from treewright.tree.walk import children_of


def impurity_importances(tree: Tree, n_features: int) -> np.ndarray:
    """Share of the whole decrease of impurity that each column brought.

    Parameters
    ----------
    tree : Tree
    n_features : int
        Columns of the table.

    Returns
    -------
    float64[n_features]
        Sums to one; all zero for a single leaf or where no split gained anything. Measured on the training rows, so
        columns with many distinct values look better than they are (Strobl et al. 2007).

    Notes
    -----
    Breiman et al. 1984, section 5.3.4, without surrogates, normalised as scikit-learn's ``feature_importances_``.
    """
    inner = np.flatnonzero(~tree.is_leaf)
    # Shares of the root's weight first: products of large weights and large impurities would overflow.
    largest = tree.impurity.max(initial=0.0)
    held = tree.weight / tree.weight[0] * (tree.impurity / largest if largest > 0 else 0.0)
    decrease = held[inner].copy()
    # A leaf without training rows holds nothing; with fractional missing values weights add up all the same.
    np.subtract.at(decrease, np.repeat(np.arange(len(inner)), tree.n_branches[inner]), held[children_of(tree, inner)])
    importances = np.bincount(tree.feature[inner], np.maximum(decrease, 0.0), minlength=n_features)
    total = importances.sum()
    return importances / total if total > 0 else importances.astype(np.float64)
