"""Predictions of a model for encoded rows: class codes, class probabilities, numbers, leaves."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from treewright.predict.ensemble import combined, leaves_of_trees
from treewright.predict.fractional import average_of_leaves, rows_with_missing
from treewright.predict.route import leaf_of
from treewright.predict.walks import contents_in_tree, leaves_in_listed_tree
from treewright.trees.data import ModelData, class_shares, first_largest, output_columns, predicted_codes

__all__ = [
    "LeafTable", "first_largest", "leaf_table", "predict_codes", "predict_leaves", "predict_numbers", "predict_shares",
]  # fmt: skip


class LeafTable(NamedTuple):
    """Predictions of each node.

    ``shares`` float64[n_nodes, n_values]: class probabilities, output by output (empty for regression). ``codes``
    int32[n_nodes, n_outputs]: the most frequent class, the first of equals, or the one by the model's decision
    threshold (empty for regression). ``values`` float64[n_nodes, n_outputs]: predictions (empty for classification).
    """

    shares: np.ndarray
    codes: np.ndarray
    values: np.ndarray


_tables: WeakKeyDictionary[ModelData, LeafTable] = WeakKeyDictionary()


def leaf_table(model: ModelData) -> LeafTable:
    """Predictions of each node of a single tree, computed once."""
    table = _tables.get(model)
    if table is None:
        table = _tables[model] = _make_table(model)
    return table


def _make_table(model: ModelData) -> LeafTable:
    """Compute the predictions of every node."""
    value = model.trees[0].value
    nothing = np.empty((len(value), 0))
    if model.task == "regression":
        # A copy: kernels take arrays that can be written to, and a read-only one would be another kernel.
        return LeafTable(nothing, nothing.astype(np.int32), value.copy())
    shares = class_shares(model, value)
    # The most frequent class by counts: the division could make neighbours equal.
    codes = first_largest(model, value) if model.threshold is None else predicted_codes(model, shares)
    return LeafTable(shares, codes, nothing)


def predict_codes(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Class codes of each row, int32[n, n_outputs]: the most probable class or the one with the most votes.

    Of equals the first. If the model has a decision threshold, it decides the class.
    """
    if not model.is_single_tree:
        return predicted_codes(model, combined(model, matrix, n_jobs))
    table, tree = leaf_table(model), model.trees[0]
    codes: np.ndarray = table.codes.take(leaf_of(tree, matrix, n_jobs), axis=0)
    if model.missing == "fractional" and len(rows := rows_with_missing(matrix)):
        codes[rows] = predicted_codes(model, average_of_leaves(tree, matrix, rows, table.shares, n_jobs))
    return codes


def predict_shares(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> list[np.ndarray]:
    """Class probabilities of each row, float64[n, n_classes] per output; proportions of votes if the trees vote."""
    if model.is_single_tree and model.missing != "fractional":
        shares = leaf_table(model).shares
        leaves = leaf_of(model.trees[0], matrix, n_jobs)
        return [shares[:, columns].take(leaves, axis=0) for columns in output_columns(model.n_classes)]
    if model.is_single_tree:
        predicted = contents_in_tree(model, model.trees[0], leaf_table(model).shares, matrix, n_jobs)
    else:
        predicted = combined(model, matrix, n_jobs)
    predicted = np.minimum(predicted, 1.0)  # averages of ones may be rounded to more
    return [np.ascontiguousarray(predicted[:, columns]) for columns in output_columns(model.n_classes)]


def predict_numbers(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Predicted numbers of each row: float64[n, n_outputs]."""
    if not model.is_single_tree:
        return combined(model, matrix, n_jobs)
    return contents_in_tree(model, model.trees[0], leaf_table(model).values, matrix, n_jobs)


def predict_leaves(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Position of each row's leaf, int32[n], or int64[n, n_trees] for many trees.

    For a row in several leaves the one with its largest share, the lowest of equals.
    """
    if not model.is_single_tree:
        return leaves_of_trees(model, matrix, n_jobs)
    return leaves_in_listed_tree(model, model.trees[0], matrix, n_jobs)
