"""What pruners compute from a tree's nodes, and checks of their options and models."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np

from treewright.exceptions import ParameterError, pruner
from treewright.grow.criteria.costs import NUMBERS
from treewright.predict.ensemble import leaf_table
from treewright.trees.arrays import Tree
from treewright.trees.data import ModelData

_LEAST_IMPURITY = 2.0**-1000  # squares near the end of float64 have fewer digits
_LARGEST_SQUARE = 2.0**990  # sums of squares over many rows have to stay within float64


def number_of(value: Any) -> float:
    """An option as a number; nan if it is no number (or a bool), infinite if it is beyond float64."""
    # NumPy's numbers register as Real; its truth values do not, Python's do.
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number:
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def checked_number(name: str, value: Any, low: float = 0.0, high: float = math.inf) -> float:
    """An option, checked to be a finite number from ``low`` to ``high`` (inclusive)."""
    number = number_of(value)
    if math.isfinite(number) and low <= number <= high:
        return number
    stated = f">= {low:g}" if high == math.inf else f"from {low:g} to {high:g}"
    raise ParameterError(f"{name}={value!r}: give a finite number {stated}")


def require_squared_error(model: ModelData, method: str, *, one_output: bool = False) -> None:
    """Refuse a regression model whose nodes do not hold means and squared errors.

    ``one_output`` refuses several outputs, too: a node holds only the mean of their impurities.
    """
    criterion = criterion_of(model)
    if criterion != "squared_error":
        parameters = model.facts.get("parameters")
        # A user's function may have the name of a built-in criterion: its parameter shows that it is a function.
        stated = parameters.get("criterion") if isinstance(parameters, dict) else None
        grown_by = criterion or str(stated or model.facts.get("criterion", "unknown"))
        raise ParameterError(
            pruner(method),
            f" needs means and squared errors in the nodes, but the tree was fitted with criterion={grown_by!r}: use ",
            pruner("cost_complexity"),
            ", or ",
            pruner("reduced_error"),
            " with held-out rows",
        )
    if one_output and model.n_outputs > 1:
        raise ParameterError(
            pruner(method),
            " needs the squared error of each output, but the nodes of this tree hold only the mean over "
            f"{model.n_outputs} outputs: use ",
            pruner("cost_complexity"),
            ", or fit a tree for each output",
        )
    require_true_impurity(model.trees[0], _LARGEST_SQUARE)


def require_true_impurity(tree: Tree, largest: float = float(np.nextafter(np.finfo(np.float64).max, 0.0))) -> None:
    """Refuse a tree whose impurities are too large or too small for float64.

    They are squares of numbers that differ by about 1e154 and more, or by 1e-151 and less.
    """
    found = float(tree.impurity.max())
    if found and not _LEAST_IMPURITY <= found <= largest:
        raise ParameterError(
            f"impurities of this tree are as {'large' if found > 1 else 'small'} as {found:.3g}, which float64 cannot "
            "add up with all digits: scale the target towards 1 and fit again"
        )


# The impurity in the nodes of CHAID's trees, which are not grown by impurity.
_HELD = {"chi_squared": "gini", "f_test": "squared_error"}


def criterion_of(model: ModelData) -> str | None:
    """Name of the criterion whose impurity the nodes hold; None if it was a user's function, or is not stated."""
    parameters = model.facts.get("parameters")
    # A user's function may be called "gini": only the parameter shows it, as the name of a type.
    stated = parameters.get("criterion") if isinstance(parameters, dict) else None
    name = stated or model.facts.get("criterion")
    name = _HELD.get(str(name), name)
    return str(name) if name in NUMBERS else None


Risk = Literal["impurity", "error"]
EQUAL = 1e-12  # costs that differ by this part are equal: they are the same number, rounded in other ways


def node_risk(model: ModelData, kind: Risk = "error") -> np.ndarray:
    """Cost of each node as a leaf, as a share of the weight of all training rows: float64[n_nodes].

    ``kind``: the impurity that the nodes hold, or the error of the prediction: the misclassification rate (the mean
    over several outputs); for regression the impurity as well. Summed over the leaves of a tree it is the tree's
    training cost. 0.0 for a leaf without training rows.
    """
    cost, unit = costs_in_units(model, kind)
    return cost / unit


def decided_risk(model: ModelData, by_class: np.ndarray | None = None) -> np.ndarray:
    """As ``node_risk`` of errors, of the class that the model predicts: its threshold, if it has one, decides.

    ``by_class`` is what a wrong prediction of each of two classes costs a model with a threshold.
    """
    if model.threshold is None:
        return node_risk(model)
    tree = model.trees[0]
    other = 1 - leaf_table(model).codes[:, 0]  # of two classes: the one that is not predicted
    wrong = tree.value[np.arange(tree.n_nodes), other] * (1.0 if by_class is None else by_class[other])
    return np.asarray(np.where(tree.n_samples > 0, wrong, 0.0) / tree.weight[0])


def costs_in_units(model: ModelData, kind: Risk) -> tuple[np.ndarray, float]:
    """The risks of ``node_risk`` times a unit, float64[n_nodes], and the unit: errors are whole if the weights are."""
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
    """Weight of the training rows that each node would misclassify as a leaf, float64[n_nodes]; the mean over outputs.

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


def row_counts(model: ModelData) -> np.ndarray:
    """Number of rows in each node, regardless of their weights, float64[n_nodes].

    If rows are divided among branches (``missing="fractional"``), a part of a row counts as that part. The nodes hold
    only the weight of the parts: it is converted to rows of average weight, at most the rows with a part in the node.
    """
    rows = model.trees[0].n_samples.astype(np.float64)
    return np.minimum(rows, scaled_weights(model)) if model.missing == "fractional" else rows


def scaled_weights(model: ModelData) -> np.ndarray:
    """Weight of each node, scaled so that the rows of the tree have a mean weight of 1, float64[n_nodes]."""
    tree = model.trees[0]
    return np.asarray(tree.weight * (float(tree.n_samples[0]) / float(tree.weight[0])))


class Backward(NamedTuple):
    """The nodes to cut, and the costs below each node.

    ``nodes`` int64[k]: the inner nodes that cost no more as a leaf than their best subtree; children before their
    parents. ``below`` float64[n_nodes]: cost of the best subtree of each inner node, with its own split; of a leaf, its
    cost.
    """

    nodes: np.ndarray
    below: np.ndarray


def cheapest(tree: Tree, as_leaf: np.ndarray, of_split: np.ndarray | None = None, *, slack: float = EQUAL) -> Backward:
    """The subtree of least cost, the smallest if several have it, found in one pass from the leaves up.

    ``as_leaf`` float64[n_nodes], finite: cost of each node as a leaf. ``of_split`` float64[n_nodes], optional: cost of
    each inner node's test; 0 by default. ``slack`` float >= 0: costs whose relative difference is at most this count as
    equal: the leaf is then preferred.
    """
    leaf_cost = as_leaf.tolist()
    below = ([0.0] * tree.n_nodes) if of_split is None else np.where(tree.is_leaf, 0.0, of_split).tolist()
    parent, is_leaf = tree.parent.tolist(), tree.is_leaf.tolist()
    cut = []
    # Children come after their parents: backwards, every child is settled before its parent.
    for node in range(tree.n_nodes - 1, -1, -1):
        least = leaf_cost[node]
        if is_leaf[node]:
            below[node] = least
        elif least <= below[node] + slack * abs(below[node]):
            cut.append(node)
        else:
            least = below[node]
        if node:
            below[parent[node]] += least
    return Backward(np.array(cut, np.int64), np.array(below))


def leaf_sums(tree: Tree, at_leaf: np.ndarray) -> np.ndarray:
    """Sums over the leaves at and below each node, float64[n_nodes]; inner nodes' own entries are not read."""
    sums = np.where(tree.is_leaf, at_leaf, 0.0).tolist()
    parent = tree.parent.tolist()
    for node in range(tree.n_nodes - 1, 0, -1):
        sums[parent[node]] += sums[node]
    return np.array(sums)
