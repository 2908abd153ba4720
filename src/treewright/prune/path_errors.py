"""What rows cost under every subtree of a path at once. In: a model, its path, rows. Out: losses per subtree.

Callers: model_selection.judged_rows, model_selection.path_judges, reporting.

Steps of a path only grow towards the root, so each node on a row's way from its leaf to the root is its leaf for one
interval of subtrees. Losses are therefore summed per node first, which costs a row its depth and no more, and then laid
over the subtrees by binary intervals: numbers are only ever added, so that a subtree without a loss has exactly 0.0.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from treewright.core.jit import kernel
from treewright.model.data import ModelData
from treewright.predict.branches import branches_of
from treewright.predict.fractional import Spread, average_leaves, portions_of, rows_with_missing
from treewright.predict.route import leaf_of
from treewright.predict.values import first_largest, leaf_table
from treewright.prune.path import Path
from treewright.prune.risk import node_risk
from treewright.prune.row_loss import NUMBERS, row_loss
from treewright.tree.arrays import LEAF

PathLoss = Literal["misclassification", "squared_error", "absolute_error"]


class PathLosses(NamedTuple):
    """Sums over rows, for each of some subtrees.

    Attributes
    ----------
    loss : float64[m]
        Sum of weight times loss.
    square : float64[m]
        Sum of weight times squared loss.
    weight : float
        Sum of the weights.
    """

    loss: np.ndarray
    square: np.ndarray
    weight: float


def path_losses(
    model: ModelData,
    path: Path,
    steps: np.ndarray,
    matrix: np.ndarray,
    truth: np.ndarray,
    weights: np.ndarray,
    loss: PathLoss,
    *,
    codes: tuple[np.ndarray, ...] | None = None,
    scale: float = 1.0,
) -> PathLosses:
    """Losses of rows under some subtrees of a path.

    Parameters
    ----------
    model : ModelData
        Of one tree.
    path : Path
        Of that tree.
    steps : int64[m], ascending
        Which subtrees; a step may be repeated.
    matrix : float64[n, p]
        Encoded rows.
    truth : float64[n, n_outputs]
        Class codes, or numbers already divided by ``scale``.
    weights : float64[n], >= 0
    loss : {"misclassification", "squared_error", "absolute_error"}
        Of one row: the mean over the outputs.
    codes : tuple of int[n_classes], optional
        Per output the code in ``truth`` of each of the model's classes; by default they are the same.
    scale : float, a power of 2
        Predictions of numbers are divided by it, so that squares stay within float64.

    Returns
    -------
    PathLosses

    Notes
    -----
    O(rows x depth + nodes x log m). Under ``missing="fractional"`` a row with a missing cell is in several leaves and
    its prediction is their average: such rows are predicted with each different subtree, as ``predict`` does.
    """
    tree, number = model.trees[0], NUMBERS[loss]
    said = _said(model, leaf_table(model).codes, codes) if model.task == "classification" else _scaled(model, scale)
    first = np.searchsorted(steps, np.arange(len(path.alphas) + 1))
    begin = first[path.collapse_step]
    end = np.where(tree.parent < 0, len(steps), begin[np.maximum(tree.parent, 0)])
    apart = rows_with_missing(matrix) if model.missing == "fractional" else np.empty(0, np.int64)
    is_whole = np.ones(len(matrix), bool)
    is_whole[apart] = False
    at_node = np.zeros((tree.n_nodes, 2))
    parent = tree.parent.astype(np.int64)
    leaves = leaf_of(tree, matrix, 1).astype(np.int64)
    sum_at_nodes(leaves, is_whole, parent, begin, end, said, truth, weights, number, at_node)
    sums = np.zeros((2 * len(steps), 2))
    lay_over_steps(begin, end, at_node, sums)
    sums = sums[len(steps) :]
    if len(apart):
        _add_divided_rows(model, path, steps, matrix[apart], truth[apart], weights[apart], number, codes, scale, sums)
    return PathLosses(sums[:, 0].copy(), sums[:, 1].copy(), float(np.sum(weights)))


def risks_along(model: ModelData, path: Path) -> np.ndarray:
    """What the subtrees of a path get wrong on the rows of the fit, read off the nodes.

    Parameters
    ----------
    model : ModelData
        Of one tree.
    path : Path
        Of that tree.

    Returns
    -------
    float64[k]
        Sums of ``node_risk`` over the leaves of each subtree: the misclassified share, or the impurity of numbers.
    """
    n_steps, at_node = len(path.alphas), np.zeros((model.trees[0].n_nodes, 2))
    at_node[:, 0] = node_risk(model)
    begin, parent = path.collapse_step, model.trees[0].parent
    end = np.where(parent < 0, n_steps, begin[np.maximum(parent, 0)])
    sums = np.zeros((2 * n_steps, 2))
    lay_over_steps(begin, end, at_node, sums)
    return sums[n_steps:, 0].copy()


def _said(model: ModelData, predicted: np.ndarray, codes: tuple[np.ndarray, ...] | None) -> np.ndarray:
    """Predicted class codes as the truth spells them."""
    if codes is None:
        return predicted.astype(np.float64)
    columns = [codes[output][predicted[:, output]] for output in range(model.n_outputs)]
    return np.stack(columns, axis=1).astype(np.float64)


def _scaled(model: ModelData, scale: float) -> np.ndarray:
    """What each node predicts, in the units of the truth."""
    return np.ascontiguousarray(leaf_table(model).values / scale)


def _add_divided_rows(
    model: ModelData,
    path: Path,
    steps: np.ndarray,
    matrix: np.ndarray,
    truth: np.ndarray,
    weights: np.ndarray,
    number: int,
    codes: tuple[np.ndarray, ...] | None,
    scale: float,
    sums: np.ndarray,
) -> None:
    """Add the rows that are in several leaves, subtree by subtree, to ``sums`` float64[m, 2]."""
    tree, table = model.trees[0], leaf_table(model)
    is_class = model.task == "classification"
    content = table.shares if is_class else table.values
    tables, portions = branches_of(tree), portions_of(tree)
    room = Spread(np.empty(tree.n_nodes, np.int64), np.empty(tree.n_nodes))
    out = np.empty((len(matrix), content.shape[1]))
    rows = np.ascontiguousarray(matrix)
    different, place = np.unique(steps, return_inverse=True)
    added = np.zeros((len(different), 2))
    for at, step in enumerate(different.tolist()):
        # The tree of that step without making it: its leaves ask nothing.
        kind = np.where(path.collapse_step <= step, np.uint8(LEAF), tables.kind)
        average_leaves(rows, tables._replace(kind=kind), portions, content, room, out)
        said = _said(model, first_largest(model, out), codes) if is_class else out / scale
        sum_of_rows(said, truth, weights, number, added[at])
    sums += added[place]


@kernel
def sum_at_nodes(leaves, is_counted, parent, begin, end, said, truth, weights, number, at_node):
    """Sum losses and squared losses of the rows at every node that they pass.

    Parameters
    ----------
    leaves : int64[n], IN
    is_counted : bool[n], IN
    parent : int64[n_nodes], IN
    begin, end : int64[n_nodes], IN
        The subtrees in which a node is a leaf; where there are none it is passed by.
    said : float64[n_nodes, n_outputs], IN
    truth : float64[n, n_outputs], IN
    weights : float64[n], IN
    number : int
        The loss.
    at_node : float64[n_nodes, 2], OUT - given as 0.0
    """
    n_outputs = truth.shape[1]
    for row in range(len(leaves)):
        node = leaves[row] if is_counted[row] else -1
        while node >= 0:
            if begin[node] < end[node]:
                lost = row_loss(truth, row, said, node, number) / n_outputs
                at_node[node, 0] += weights[row] * lost
                at_node[node, 1] += weights[row] * lost * lost
            node = parent[node]


@kernel
def lay_over_steps(begin, end, at_node, sums):
    """Add what stands at a node to every subtree in which it is a leaf.

    Parameters
    ----------
    begin, end : int64[n_nodes], IN
    at_node : float64[n_nodes, 2], IN
    sums : float64[2 m, 2], OUT - given as 0.0
        A binary tree of intervals over the m subtrees; their sums are its second half.
    """
    m = len(sums) // 2
    for node in range(len(begin)):
        low, high = begin[node] + m, end[node] + m
        while low < high:
            if low & 1:
                sums[low, 0] += at_node[node, 0]
                sums[low, 1] += at_node[node, 1]
                low += 1
            if high & 1:
                high -= 1
                sums[high, 0] += at_node[node, 0]
                sums[high, 1] += at_node[node, 1]
            low >>= 1
            high >>= 1
    for place in range(1, m):
        for column in range(2):
            sums[2 * place, column] += sums[place, column]
            sums[2 * place + 1, column] += sums[place, column]


@kernel
def sum_of_rows(said, truth, weights, number, sums):
    """Sum losses and squared losses of rows with a prediction each.

    Parameters
    ----------
    said, truth : float64[n, n_outputs], IN
    weights : float64[n], IN
    number : int
        The loss.
    sums : float64[2], OUT - added to
    """
    n_outputs = truth.shape[1]
    for row in range(len(truth)):
        lost = row_loss(truth, row, said, row, number) / n_outputs
        sums[0] += weights[row] * lost
        sums[1] += weights[row] * lost * lost
