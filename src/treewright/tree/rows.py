"""A table with its target, as a model encodes them. In: ``ModelData``, a table. Out: numbers. Caller: model."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.data.encoder import encode
from treewright.data.target import check_lengths, check_weights, encode_labels, encode_numbers, recode
from treewright.data.weights import class_factors, weighed
from treewright.exceptions import DataError
from treewright.tree.model import ModelData


def rows_with_target(
    model: ModelData, X: Any, y: Any, sample_weight: Any, *, owner: str, routed: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Rows, target and weights as numbers; rows of weight 0 are left out.

    Parameters, results and errors are those of ``Model.encode_rows``.
    """
    unseen = "missing" if model.unseen == "majority" and not routed else model.unseen
    matrix = encode(model.schema, X, unseen=unseen, owner=owner, missing=model.missing)
    target = encoded_target(model, y, len(matrix))
    weights = check_weights(sample_weight, len(matrix))
    if model.task == "classification":
        weights = weighed(weights, class_factors(model.facts, target, model.classes), target)
    if weights is not None and not weights.all():
        kept = weights > 0
        matrix, target, weights = matrix[kept], target[kept], weights[kept]
    return matrix, target, weights


def encoded_target(model: Any, y: Any, n: int) -> np.ndarray:
    """Class codes of a model int32[n, n_outputs], or numbers float64[n, n_outputs].

    Parameters
    ----------
    model : ModelData, or NeighborsModel
    y : target of n rows
    n : int

    Raises
    ------
    DataError
        Lengths or numbers of outputs differ, or a label is none of the model's classes.
    """
    if model.task == "classification":
        labels = encode_labels(y)
        check_lengths(n, labels)
        return recode(labels, model.classes)
    numbers = encode_numbers(y)
    check_lengths(n, numbers)
    if numbers.values.shape[1] != model.n_targets:
        raise DataError(f"y has {numbers.values.shape[1]} outputs, the model has {model.n_targets}")
    return numbers.values
