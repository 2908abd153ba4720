"""Class shares. In: class counts of nodes. Out: shares, largest classes, votes. Callers: predict, model, prune."""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from treewright.tree.model import ModelData


def output_columns(model: ModelData) -> list[slice]:
    """Where each output's classes stand in ``Tree.value``."""
    return [slice(end - k, end) for end, k in zip(accumulate(model.n_classes), model.n_classes, strict=True)]


def class_shares(model: ModelData, value: np.ndarray) -> np.ndarray:
    """The share of each class, output by output.

    Parameters
    ----------
    model : ModelData
    value : float32 or float64 [n, n_values]
        Weighted class counts; those of an output are not all 0.

    Returns
    -------
    float64[n, n_values]
    """
    shares = np.empty(value.shape)
    for columns in output_columns(model):
        counts = value[:, columns].astype(np.float64)
        shares[:, columns] = counts / counts.sum(axis=1, keepdims=True)
    return shares


def first_largest(model: ModelData, shares: np.ndarray) -> np.ndarray:
    """The class with the largest share, the first of equals, output by output.

    Parameters
    ----------
    model : ModelData
    shares : float[n, n_values]

    Returns
    -------
    int32[n, n_outputs]
        0 where the model predicts numbers.
    """
    codes = np.zeros((len(shares), model.n_outputs), np.int32)
    for output, columns in enumerate(output_columns(model)):
        codes[:, output] = shares[:, columns].argmax(axis=1)
    return codes


def votes_for(model: ModelData, shares: np.ndarray) -> np.ndarray:
    """A 1 for the class that ``first_largest`` chooses, 0 for the others, output by output.

    Parameters
    ----------
    model : ModelData
        Of classes.
    shares : float[n, n_values]

    Returns
    -------
    float64[n, n_values]
    """
    codes, votes = first_largest(model, shares), np.zeros(shares.shape)
    for output, columns in enumerate(output_columns(model)):
        votes[np.arange(len(votes)), columns.start + codes[:, output]] = 1.0
    return votes
