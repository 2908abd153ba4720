"""What a node would cost as a leaf, on the training rows. In: a model. Out: a number per node. Callers: prune."""

from __future__ import annotations

from typing import Literal

import numpy as np

from treewright.exceptions import ParameterError
from treewright.model.data import ModelData
from treewright.tree.arrays import Tree

Risk = Literal["impurity", "error"]
EQUAL = 1e-12  # costs that differ by this part are equal: they are the same number, rounded in other ways


def node_risk(model: ModelData, kind: Risk = "error") -> np.ndarray:
    """Cost of each node as a leaf, as a share of the weight of all training rows.

    Parameters
    ----------
    model : ModelData
    kind : {"impurity", "error"}
        The impurity that the nodes hold, or what a prediction gets wrong: for classes the misclassified share (the mean
        over several outputs), for numbers the impurity as well.

    Returns
    -------
    float64[n_nodes]
        Summed over the leaves of a tree it is the tree's training cost. 0.0 for a leaf without training rows.

    Raises
    ------
    ParameterError
        There is no such risk.
    """
    cost, unit = costs_in_units(model, kind)
    return cost / unit


def costs_in_units(model: ModelData, kind: Risk) -> tuple[np.ndarray, float]:
    """The risks of ``node_risk`` times a unit: errors stay whole numbers where weights are.

    Parameters
    ----------
    model : ModelData
    kind : {"impurity", "error"}

    Returns
    -------
    cost : float64[n_nodes]
    unit : float > 0

    Raises
    ------
    ParameterError
        There is no such risk.
    """
    if kind not in ("impurity", "error"):
        raise ParameterError(f"risk={kind!r}: choose 'impurity' or 'error'")
    tree = model.trees[0]
    if kind == "impurity" or model.task == "regression":
        return impurity_share(tree), 1.0
    return _wrong_in_all(model), float(tree.weight[0]) * model.n_outputs


def impurity_share(tree: Tree) -> np.ndarray:
    """Impurity of each node times its share of the training weight, float64[n_nodes]."""
    return np.asarray(tree.impurity * (tree.weight / tree.weight[0]))


def wrong_weight(model: ModelData) -> np.ndarray:
    """Weight of the training rows that each node would misclassify as a leaf; the mean over the outputs.

    Parameters
    ----------
    model : ModelData
        Of a classification task.

    Returns
    -------
    float64[n_nodes]
        0.0 for a leaf without training rows: its ``value`` is its parent's.
    """
    return _wrong_in_all(model) / model.n_outputs


def _wrong_in_all(model: ModelData) -> np.ndarray:
    """``wrong_weight`` summed over the outputs."""
    tree = model.trees[0]
    wrong = np.zeros(tree.n_nodes)
    start = 0
    for n_classes in model.n_classes:
        counts = tree.value[:, start : start + n_classes]
        # The sum without the largest, not the total minus the largest: exactly 0.0 at a pure node.
        largest = counts.argmax(axis=1)
        others = counts.copy()
        others[np.arange(len(counts)), largest] = 0.0
        wrong += others.sum(axis=1)
        start += n_classes
    return np.where(tree.n_samples > 0, wrong, 0.0)
