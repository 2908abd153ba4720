"""Scores as answers. In: scores of rows, a link. Out: numbers, or class shares. Callers: predict.ensemble, staged.

Each row is worked out by itself, so a batch equals row by row; nothing overflows.
"""

from __future__ import annotations

import numpy as np

from treewright.exceptions import ParameterError
from treewright.predict.shares import output_columns
from treewright.tree.boosting import Boosting
from treewright.tree.model import ModelData
from treewright.tree.packed import PackedTrees

_LARGEST_EXPONENT = 700.0  # exp of it and a bit more is below the end of float64


def boosted_parts(model: ModelData) -> tuple[PackedTrees, Boosting]:
    """The trees of a boosted model, and what makes their sum an answer.

    Raises
    ------
    ParameterError
        The model is not boosted.
    """
    if model.boosting is None or not isinstance(model.trees, PackedTrees):
        raise ParameterError("the model has no scores: only the trees of gradient boosting add to one")
    return model.trees, model.boosting


def answers_of(model: ModelData, scores: np.ndarray) -> np.ndarray:
    """What the scores of a boosted model mean.

    Parameters
    ----------
    model : ModelData
        Its ``boosting`` names the link (``tree.boosting``).
    scores : float64[n, n_scores], finite
        May be given back, else is not changed.

    Returns
    -------
    float64[n, n_values]
        Class shares, outputs one after another; or a number per output, the largest one of float64 where it is beyond.

    Examples
    --------
    >>> from treewright.data.schema import Column, Schema
    >>> from treewright.tree.boosting import Boosting
    >>> schema, labels = Schema((Column("x", "numeric"),)), (np.array(["no", "yes"]),)
    >>> model = ModelData("classification", schema, (), labels, combine="sum", boosting=Boosting((0.0,), "classes"))
    >>> answers_of(model, np.array([[0.0], [-1000.0]])).round(3)
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    link = "identity" if model.boosting is None else model.boosting.link
    if link == "log":
        with np.errstate(over="ignore"):
            return np.minimum(np.exp(scores), np.finfo(np.float64).max)
    if link == "sorted":
        return np.sort(scores, axis=1)
    return _shares(model, scores) if link == "classes" else scores


def _shares(model: ModelData, scores: np.ndarray) -> np.ndarray:
    """Class shares, outputs one after another."""
    if len(model.classes) == 1:
        return _shares_of_output(scores, len(model.classes[0]))
    shares = np.empty((len(scores), sum(model.n_classes)))
    at = 0
    for columns, count in zip(output_columns(model), model.n_classes, strict=True):
        n_scores = count if count > 2 else 1
        # A copy: exp of every second cell may be rounded otherwise than exp of neighbours.
        shares[:, columns] = _shares_of_output(np.ascontiguousarray(scores[:, at : at + n_scores]), count)
        at += n_scores
    return shares


def _shares_of_output(scores: np.ndarray, n_classes: int) -> np.ndarray:
    """Class shares of one output: float64[n, n_classes]."""
    if n_classes == 1:
        return np.ones((len(scores), 1))
    if n_classes > 2:
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        return shares
    shares = np.empty((len(scores), 2))
    shares[:, :1] = scores
    np.negative(scores, out=shares[:, 1:])
    # Each class by itself: 1 minus a share near 1 would have no digits.
    np.minimum(shares, _LARGEST_EXPONENT, out=shares)
    np.exp(shares, out=shares)
    shares += 1.0
    return np.divide(1.0, shares, out=shares)
