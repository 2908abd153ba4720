"""What a model says. In: ``ModelData``, encoded rows. Out: class codes, shares of the classes, numbers.

Callers: model, estimators.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from treewright.predict.fractional import average_of_leaves, main_leaf_of, rows_with_missing
from treewright.predict.route import leaf_of
from treewright.tree.model import ModelData


class LeafTable(NamedTuple):
    """What each node predicts.

    ``shares`` float64[n_nodes, n_values]: class shares, output by output (empty for regression). ``codes``
    int32[n_nodes, n_outputs]: the most frequent class, the first of equals (empty for regression). ``values``
    float64[n_nodes, n_outputs]: predictions (empty for classification).
    """

    shares: np.ndarray
    codes: np.ndarray
    values: np.ndarray


_tables: WeakKeyDictionary[ModelData, LeafTable] = WeakKeyDictionary()


def leaf_table(model: ModelData) -> LeafTable:
    """What each node of a single tree predicts, worked out once."""
    table = _tables.get(model)
    if table is None:
        table = _tables[model] = _make_table(model)
    return table


def _make_table(model: ModelData) -> LeafTable:
    """Shares and most frequent classes of every node."""
    value = model.trees[0].value
    nothing = np.empty((len(value), 0))
    if model.task == "regression":
        # A copy: kernels take arrays that can be written to, and a read-only one would be another kernel.
        return LeafTable(nothing, nothing.astype(np.int32), value.copy())
    shares = np.empty_like(value)
    codes = np.empty((len(value), model.n_outputs), np.int32)
    for output, columns in enumerate(output_columns(model)):
        counts = value[:, columns]
        shares[:, columns] = counts / counts.sum(axis=1, keepdims=True)
        codes[:, output] = counts.argmax(axis=1)
    return LeafTable(shares, codes, nothing)


def output_columns(model: ModelData) -> list[slice]:
    """Where each output's classes stand in ``Tree.value``."""
    ends = np.cumsum(model.n_classes).tolist()
    return [slice(end - k, end) for end, k in zip(ends, model.n_classes, strict=True)]


def first_largest(model: ModelData, shares: np.ndarray) -> np.ndarray:
    """The class with the largest share, the first of equals, output by output.

    Parameters
    ----------
    model : ModelData
    shares : float64[n, n_values]

    Returns
    -------
    int32[n, n_outputs]
    """
    codes = [shares[:, columns].argmax(axis=1) for columns in output_columns(model)]
    return np.stack(codes, axis=1).astype(np.int32)


def _of_rows(model: ModelData, matrix: np.ndarray, content: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """What the leaves say of each row; under ``missing="fractional"`` a row with missing cells gets an average."""
    tree = model.trees[0]
    said: np.ndarray = content.take(leaf_of(tree, matrix, n_jobs), axis=0)
    if model.missing == "fractional" and len(rows := rows_with_missing(matrix)):
        said[rows] = average_of_leaves(tree, matrix, rows, content, n_jobs)
    return said


def predict_codes(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Class codes of each row.

    Returns
    -------
    int32[n, n_outputs]
    """
    table, tree = leaf_table(model), model.trees[0]
    codes: np.ndarray = table.codes.take(leaf_of(tree, matrix, n_jobs), axis=0)
    if model.missing == "fractional" and len(rows := rows_with_missing(matrix)):
        codes[rows] = first_largest(model, average_of_leaves(tree, matrix, rows, table.shares, n_jobs))
    return codes


def predict_shares(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> list[np.ndarray]:
    """Class shares of each row, an array per output.

    Returns
    -------
    list of float64[n, n_classes]
        Rows sum to one.
    """
    shares = leaf_table(model).shares
    if model.missing != "fractional":
        leaves = leaf_of(model.trees[0], matrix, n_jobs)
        return [shares[:, columns].take(leaves, axis=0) for columns in output_columns(model)]
    said = _of_rows(model, matrix, shares, n_jobs)
    return [np.ascontiguousarray(said[:, columns]) for columns in output_columns(model)]


def predict_numbers(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Predicted numbers of each row.

    Returns
    -------
    float64[n, n_outputs]
    """
    return _of_rows(model, matrix, leaf_table(model).values, n_jobs)


def predict_leaves(model: ModelData, matrix: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Position of each row's leaf; of a row in several leaves the one with its largest share, the lowest of equals.

    Returns
    -------
    int32[n]
    """
    leaves = leaf_of(model.trees[0], matrix, n_jobs)
    if model.missing == "fractional":
        return main_leaf_of(model.trees[0], matrix, leaves, n_jobs)
    return leaves
