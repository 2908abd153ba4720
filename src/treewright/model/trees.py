"""The trees of a model, listed or packed, with sizes and importances that need no rows.

A forest on bins and a boosted model keep ``PackedTrees`` (eight bytes a node), all others ``ListedTrees``, a tuple.
Both are sequences of ``Tree`` with the methods of `Trees`. ``predict.walks`` sends rows down either form.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, overload

import numpy as np

from treewright.tree.arrays import Tree
from treewright.tree.walk import Sizes, children_of


class Trees(Protocol):
    """A sequence of trees, listed or packed."""

    def __len__(self) -> int: ...

    @overload
    def __getitem__(self, item: int, /) -> Tree: ...

    @overload
    def __getitem__(self, item: slice, /) -> tuple[Tree, ...]: ...

    def __iter__(self) -> Iterator[Tree]: ...

    @property
    def begins(self) -> np.ndarray:
        """int64[n_trees + 1]: the first node of each tree among those of all; the last is the number of nodes."""

    @property
    def is_leaf(self) -> np.ndarray:
        """bool[n_nodes of all trees]: which nodes are leaves."""

    @property
    def values(self) -> tuple[np.ndarray, ...]:
        """float[m, n_values]: class counts or numbers, per tree a row for each node, or of all trees one leaf table."""

    def columns_asked(self, tree: int) -> np.ndarray:
        """Return the columns that one tree tests, ascending."""

    def sizes(self, n_columns: int) -> Sizes:
        """Return the sizes of the trees, and which of the columns they test."""

    def importances_by_tree(self, n_columns: int) -> np.ndarray:
        """Return float64[n_trees, n_columns]: ``impurity_importances`` of each tree; for boosted trees gains."""

    def mean_importances(self, n_columns: int, weights: np.ndarray | None = None) -> np.ndarray:
        """Return float64[n_columns]: the mean over the trees, as shares, which sum to one or are 0.

        Trees without a split do not count; the others count by their weights, if there are any.
        """


class ListedTrees(tuple[Tree, ...]):
    """Trees kept one by one: a tuple with the methods of `Trees`."""

    __slots__ = ()

    @property
    def begins(self) -> np.ndarray:
        """int64[n_trees + 1]: the first node of each tree among those of all."""
        return np.cumsum([0, *(tree.n_nodes for tree in self)])

    @property
    def is_leaf(self) -> np.ndarray:
        """bool[n_nodes of all trees]: which nodes are leaves."""
        return np.concatenate([tree.is_leaf for tree in self])

    @property
    def values(self) -> tuple[np.ndarray, ...]:
        """float64[n_nodes, n_values] of each tree: class counts or numbers."""
        return tuple(tree.value for tree in self)

    def columns_asked(self, tree: int) -> np.ndarray:
        """Return the columns that one tree tests, ascending."""
        return np.unique(self[tree].feature[~self[tree].is_leaf])

    def sizes(self, n_columns: int) -> Sizes:
        """Return the sizes of the trees, and which of the columns they test."""
        asked = np.concatenate([tree.feature[~tree.is_leaf] for tree in self])
        return Sizes(
            np.array([tree.n_leaves for tree in self], np.int64),
            np.array([tree.max_depth for tree in self], np.int64),
            np.bincount(asked, minlength=n_columns),
        )

    def importances_by_tree(self, n_columns: int) -> np.ndarray:
        """Return float64[n_trees, n_columns]: each tree's ``impurity_importances``."""
        return np.array([impurity_importances(tree, n_columns) for tree in self])

    def mean_importances(self, n_columns: int, weights: np.ndarray | None = None) -> np.ndarray:
        """Return float64[n_columns]: the mean over the trees, as shares, which sum to one or are 0."""
        total = np.zeros(n_columns)
        shares = np.ones(len(self)) if weights is None else weights / weights.max()
        for tree, share in zip(self, shares, strict=True):
            total += share * impurity_importances(tree, n_columns)
        whole = total.sum()
        return total / whole if whole > 0 else total


class BoostedTrees(ListedTrees):
    """Listed trees that add to scores; the gain of a split is the weighted decrease of impurity."""

    __slots__ = ()

    def importances_by_tree(self, n_columns: int) -> np.ndarray:
        """Return float64[n_trees, n_columns]: gains of each tree."""
        return np.array([gains_of(tree, n_columns) for tree in self])

    def mean_importances(self, n_columns: int, weights: np.ndarray | None = None) -> np.ndarray:
        """Return float64[n_columns]: shares of all gains; boosted trees have no weights."""
        del weights
        total = self.importances_by_tree(n_columns).sum(axis=0)
        whole = total.sum()
        return total / whole if whole > 0 else total


def gains_of(tree: Tree, n_columns: int) -> np.ndarray:
    """float64[n_columns]: the weighted decrease of impurity by the tests of each column."""
    inner = np.flatnonzero(~tree.is_leaf)
    held = tree.weight * tree.impurity
    gains = held[inner].copy()
    np.subtract.at(gains, np.repeat(np.arange(len(inner)), tree.n_branches[inner]), held[children_of(tree, inner)])
    return np.bincount(tree.feature[inner], np.maximum(gains, 0.0), minlength=n_columns).astype(np.float64)


def impurity_importances(tree: Tree, n_features: int) -> np.ndarray:
    """Each column's share of the total decrease of impurity.

    Parameters
    ----------
    n_features : int
        The number of columns of the table.

    Returns
    -------
    float64[n_features]
        Sums to one; all zero for a single leaf or if no split has a gain. Measured on the training rows, so columns
        with many distinct values look better than they are (Strobl et al. 2007).

    Notes
    -----
    Breiman et al. 1984, section 5.3.4, without surrogates, normalised as scikit-learn's ``feature_importances_``.
    """
    inner = np.flatnonzero(~tree.is_leaf)
    # Divided by the root's weight first: products of large weights and large impurities would overflow.
    largest = tree.impurity.max(initial=0.0)
    held = tree.weight / tree.weight[0] * (tree.impurity / largest if largest > 0 else 0.0)
    decrease = held[inner].copy()
    # A leaf without training rows has no weight; with fractional missing values the weights still add up.
    np.subtract.at(decrease, np.repeat(np.arange(len(inner)), tree.n_branches[inner]), held[children_of(tree, inner)])
    importances = np.bincount(tree.feature[inner], np.maximum(decrease, 0.0), minlength=n_features)
    total = importances.sum()
    return importances / total if total > 0 else importances.astype(np.float64)
