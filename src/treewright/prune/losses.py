"""Losses of held-out rows at every node of their paths.

Each node on the path of a row counts the loss that the row would have if the node were a leaf. Rows are added up one
after another, in the order of the table, on one thread: the same bytes for any number of threads.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, cast

import numpy as np

from treewright.core.elementary import log
from treewright.core.jit import inner_kernel, kernel
from treewright.exceptions import DataError, ParameterError
from treewright.grow.problem import unit_of
from treewright.predict.ensemble import leaf_table
from treewright.predict.fractional import Spread, portions_of, rows_with_missing, spread_row
from treewright.predict.route import Branches, branches_of, leaf_of
from treewright.prune.costs import criterion_of
from treewright.prune.methods import Rows
from treewright.trees.arrays import Tree
from treewright.trees.data import ModelData

Loss = Literal["misclassification", "squared_error", "absolute_error", "poisson"]


MISCLASSIFICATION, SQUARED_ERROR, ABSOLUTE_ERROR, POISSON = range(4)
OF_CLASSES: dict[str, int] = {"misclassification": MISCLASSIFICATION}
OF_NUMBERS: dict[str, int] = {"squared_error": SQUARED_ERROR, "absolute_error": ABSOLUTE_ERROR, "poisson": POISSON}
NUMBERS = OF_CLASSES | OF_NUMBERS


@inner_kernel
def row_loss(target: np.ndarray, row: int, predictions: np.ndarray, at: int, loss: int) -> float:
    """Loss of a row, summed over the outputs.

    ``target`` float64[n, n_outputs], IN: class codes or numbers; ``predictions`` float64[m, n_outputs], IN: above 0 for
    the Poisson deviance; ``at``: index of the row's prediction; ``loss``: one of the constants of this module.
    Poisson's deviance of y at a prediction m is 2 (y log(y / m) - y + m).
    """
    total = 0.0
    for output in range(target.shape[1]):
        truth, predicted = target[row, output], predictions[at, output]
        if loss == MISCLASSIFICATION:
            total += 0.0 if truth == predicted else 1.0
        elif loss == SQUARED_ERROR:
            total += (truth - predicted) * (truth - predicted)
        elif loss == ABSOLUTE_ERROR:
            total += abs(truth - predicted)
        else:
            # Rounding must not make the deviance of a perfect prediction negative.
            part = truth * log(truth / predicted) if truth > 0.0 else 0.0
            total += 2.0 * max(part - truth + predicted, 0.0)
    return total


LEAST_SHARE = float(np.finfo(np.float64).eps)  # as in scikit-learn: a share of 0 costs 36 nats, not infinity
_EXACT = 2.0**53  # up to here sums of whole numbers are exact


class Losses(NamedTuple):
    """Losses of rows, summed at each node.

    ``unit``, ``weight_unit`` float > 0: cost and weight times these are the real numbers. 1.0 unless several outputs
    are averaged or sums of numbers so large or small would leave float64.
    """

    cost: np.ndarray  # float64[n_nodes]: sum of weight times loss of the rows that pass the node, in ``unit``
    weight: np.ndarray  # float64[n_nodes]: their weight, in ``weight_unit``
    unit: float
    weight_unit: float
    is_exact: bool  # whether the costs are whole numbers without any rounding


class NodePredictions(NamedTuple):
    """True and predicted class codes or numbers, to be compared."""

    target: np.ndarray  # float64[n, n_outputs]
    predicted: np.ndarray  # float64[n_nodes, n_outputs]: by each node
    weights: np.ndarray  # float64[n]
    loss: int  # MISCLASSIFICATION, ...


def loss_of(model: ModelData, loss: object = None) -> Loss:
    """The loss of that name, or the default for the model.

    ``loss``: None: the misclassification rate for classes; for regression the loss of the tree's criterion, else the
    squared error.
    """
    known, other = (OF_CLASSES, OF_NUMBERS) if model.task == "classification" else (OF_NUMBERS, OF_CLASSES)
    if loss is None:
        grown_by = criterion_of(model)
        loss = grown_by if grown_by in known else next(iter(known))
    if not isinstance(loss, str) or loss not in known:
        why = f"is not one of {model.task}" if isinstance(loss, str) and loss in other else "is not a loss"
        raise ParameterError(f"loss={loss!r} {why}: for {model.task} choose {', '.join(map(repr, known))}, or None")
    return cast("Loss", loss)


def node_losses(model: ModelData, rows: Rows, loss: Loss, n_jobs: int | None = None) -> Losses:
    """Losses of rows at every node of their paths, as if that node were a leaf (mean over outputs). O(rows x depth).

    Their sum over the leaves of a subtree is the loss of that subtree. Under ``missing="fractional"`` a row with
    missing cells counts at each node with its share there.
    """
    tree, table = model.trees[0], leaf_table(model)
    is_classes = model.task == "classification"
    target = np.array(rows.target, np.float64, order="C")
    predicted = np.array(table.codes if is_classes else table.values, np.float64, order="C")
    if loss == "poisson":
        _check_counts(target, predicted)
    unit = 1.0
    if not is_classes:
        unit = unit_of(np.concatenate([target.ravel(), predicted.ravel()]))
        target, predicted = target / unit, predicted / unit
    weights = np.ones(len(target)) if rows.weights is None else np.array(rows.weights, np.float64)
    weight_unit = unit_of(weights)
    nodes = NodePredictions(target, predicted, weights / weight_unit, NUMBERS[loss])
    cost, passed = np.zeros(tree.n_nodes), np.zeros(tree.n_nodes)
    parent = np.array(tree.parent, np.int64)
    leaves = np.array(leaf_of(tree, rows.matrix, n_jobs), np.int64)
    parted = rows_with_missing(rows.matrix) if model.missing == "fractional" else np.empty(0, np.int64)
    leaves[parted] = -1  # they are in several leaves, and are added after the others
    add_along_paths(leaves, parent, nodes, cost, passed)
    if len(parted):
        _add_parted(tree, rows.matrix, parted, nodes, cost, passed)
    whole = weight_unit == 1.0 and weights.sum() <= _EXACT and bool((weights == np.rint(weights)).all())
    with np.errstate(over="ignore", under="ignore"):
        real = weight_unit / target.shape[1] * unit * (unit if loss == "squared_error" else 1.0)
    return Losses(cost, passed, float(real), weight_unit, is_classes and whole and not len(parted))


def _check_counts(target: np.ndarray, predicted: np.ndarray) -> None:
    """Refuse negative true values and predictions not above 0, which have no Poisson deviance."""
    negative = np.argwhere(target < 0)
    if len(negative):
        row, output = negative[0].tolist()
        raise DataError(
            f"y has {len(negative)} negative value(s) (first row {row}: {target[row, output]:g}), but the Poisson "
            "deviance needs values >= 0: remove these rows, or choose loss='squared_error'"
        )
    odd = np.argwhere(predicted <= 0)
    if len(odd):
        node, output = odd[0].tolist()
        raise ParameterError(
            f"loss='poisson' needs predictions above 0, and node {node} predicts {predicted[node, output]:g}: choose "
            "loss='squared_error'"
        )


def _add_parted(
    tree: Tree, matrix: np.ndarray, parted: np.ndarray, nodes: NodePredictions, cost: np.ndarray, passed: np.ndarray
) -> None:
    """Add the rows that are in several leaves."""
    spread = Spread(np.empty(tree.n_nodes, np.int64), np.empty(tree.n_nodes))
    cells = np.ascontiguousarray(matrix[parted], np.float64)
    add_shares(cells, parted, branches_of(tree), portions_of(tree), spread, nodes, cost, passed)


@kernel
def add_along_paths(
    leaves: np.ndarray, parent: np.ndarray, nodes: NodePredictions, cost: np.ndarray, passed: np.ndarray
) -> None:
    """Add each row's loss to its leaf and to every node above.

    ``leaves`` int64[n], IN: -1 leaves a row out; ``parent`` int64[n_nodes], IN; ``cost``, ``passed`` float64[n_nodes],
    added to: weight times loss, and weight.
    """
    for row in range(len(leaves)):
        node = leaves[row]
        while node >= 0:
            cost[node] += nodes.weights[row] * row_loss(nodes.target, row, nodes.predicted, node, nodes.loss)
            passed[node] += nodes.weights[row]
            node = parent[node]


@kernel
def add_shares(
    cells: np.ndarray,
    rows: np.ndarray,
    tables: Branches,
    portions: np.ndarray,
    spread: Spread,
    nodes: NodePredictions,
    cost: np.ndarray,
    passed: np.ndarray,
) -> None:
    """Add the loss of rows that take several branches, at every node by their share there.

    Parameters
    ----------
    cells : float64[k, p], IN
        Encoded rows.
    rows : int64[k], IN
        Their positions in ``nodes``.
    tables, portions, spread
        As in ``predict.fractional.spread_row``.
    answers : Answers, IN
    cost, passed : float64[n_nodes], added to
    """
    for at in range(len(rows)):
        row = rows[at]
        for place in range(spread_row(cells, at, tables, portions, spread)):
            node = spread.nodes[place]
            share = nodes.weights[row] * spread.shares[place]
            cost[node] += share * row_loss(nodes.target, row, nodes.predicted, node, nodes.loss)
            passed[node] += share
