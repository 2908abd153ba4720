"""Claims about the importance of columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from treewright.trees.arrays import Tree
from treewright.trees.data import ModelData, impurity_importances


def looped(tree: Tree, n_features: int) -> np.ndarray:
    """The same, node by node."""
    gained = np.zeros(n_features)
    for node in np.flatnonzero(tree.kind):
        below = range(tree.first_child[node], tree.first_child[node] + tree.n_branches[node])
        lost = sum(tree.weight[child] * tree.impurity[child] for child in below)
        gained[tree.feature[node]] += tree.weight[node] * tree.impurity[node] - lost
    return gained / gained.sum()


def test_every_branch_counts_and_shares_add_up(golf_model: ModelData, surrogate_model: ModelData) -> None:
    for model in (golf_model, surrogate_model):
        tree, n_columns = model.trees[0], len(model.schema)
        shares = impurity_importances(tree, n_columns)

        np.testing.assert_allclose(shares, looped(tree, n_columns), rtol=1e-12)
        assert abs(shares.sum() - 1) < 1e-12


def test_a_leaf_without_rows_contributes_nothing(golf_model: ModelData) -> None:
    tree = golf_model.trees[0]
    # As if the empty leaf were as impure as can be: no weight, no loss.
    loud = replace(tree, impurity=np.where(np.arange(10) == 6, 0.49, tree.impurity))

    assert impurity_importances(loud, 3).tolist() == impurity_importances(tree, 3).tolist()


def test_a_surrogate_earns_nothing(surrogate_model: ModelData) -> None:
    assert impurity_importances(surrogate_model.trees[0], 4)[[1, 3]].tolist() == [0.0, 0.0]
