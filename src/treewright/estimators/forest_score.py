"""How right the answers of a forest are. In: codes or numbers, true and said; a function. Out: a score.

Callers: estimators.forest_base, estimators.forest_classifier, estimators.forest_regressor, estimators.boosting_verbs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import r2_score

from treewright.data.target import check_lengths, encode_labels, encode_numbers
from treewright.exceptions import DataError, ParameterError
from treewright.tree.model import ModelData


def true_codes(model: ModelData, y: Any, n_rows: int, what: str = "the forest") -> np.ndarray:
    """Labels as the model's codes; -1 for one that it does not know.

    Returns
    -------
    int64[n_rows, n_outputs]

    Raises
    ------
    DataError
        Other rows or outputs than expected.
    """
    labels = encode_labels(y)
    check_lengths(n_rows, labels)
    if len(labels.classes) != model.n_outputs:
        raise DataError(f"y has {len(labels.classes)} outputs, {what} has {model.n_outputs}")
    true = np.empty((n_rows, model.n_outputs), np.int64)
    for output, (own, known) in enumerate(zip(labels.classes, model.classes, strict=True)):
        places = {label: code for code, label in enumerate(known.tolist())}
        true[:, output] = np.array([places.get(label, -1) for label in own.tolist()])[labels.codes[:, output]]
    return true


def true_numbers(y: Any, n_rows: int, n_outputs: int, what: str = "the forest") -> np.ndarray:
    """Numbers as they are compared with answers.

    Returns
    -------
    float64[n_rows, n_outputs]

    Raises
    ------
    DataError
        Other rows or outputs than expected.
    """
    numbers = encode_numbers(y)
    check_lengths(n_rows, numbers)
    if numbers.values.shape[1] != n_outputs:
        raise DataError(f"y has {numbers.values.shape[1]} outputs, {what} has {n_outputs}")
    return numbers.values


def share_right(true: np.ndarray, said: np.ndarray, weights: np.ndarray | None) -> float:
    """Share of the rows with every output right.

    Parameters
    ----------
    true, said : int32[n, n_outputs], n >= 1
        Class codes.
    weights : float64[n] or None

    Examples
    --------
    >>> share_right(np.array([[0, 1], [1, 1]]), np.array([[0, 1], [1, 0]]), None)
    0.5
    """
    return float(np.average((true == said).all(axis=1), weights=weights))


def explained(true: np.ndarray, said: np.ndarray, weights: np.ndarray | None) -> float:
    """Coefficient of determination, of several outputs the mean; nan for one row, which has no variance.

    Parameters
    ----------
    true, said : float64[n, n_outputs]
        Of any size: they are brought to about 1 by a power of two, so that their squares stay in the range of float64.
    weights : float64[n] or None

    Examples
    --------
    >>> true = np.array([[1e200], [2e200], [3e200]])
    >>> explained(true, true, None), explained(true, 0 * true + 2e200, None)
    (1.0, 0.0)
    """
    if len(true) < 2:
        return np.nan
    exponents = -np.frexp(np.abs(true).max(axis=0))[1]
    with np.errstate(over="ignore", under="ignore"):
        said = np.ldexp(said, exponents)
        if not np.isfinite(said).all():
            return -np.inf
        return float(r2_score(np.ldexp(true, exponents), said, sample_weight=weights))


def refuse_other_function(
    function: Callable[..., Any],
    name: str = "oob_score",
    what: str = "two arguments, the true answers and the predicted ones",
    n_arguments: int = 2,
) -> None:
    """Refuse a function that cannot be asked, before anything is grown for it.

    Parameters
    ----------
    function : callable
    name, what : str
        Of the parameter, and what it must take.
    n_arguments : int

    Raises
    ------
    ParameterError
        It does not take so many arguments.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # written in C, it does not say
        return
    try:
        signature.bind(*[None] * n_arguments)
    except TypeError as error:
        raise ParameterError(f"{name}={name_of(function)} must take {what}: {error}") from None


def asked(function: Callable[[np.ndarray, np.ndarray], Any], true: np.ndarray, said: np.ndarray) -> float:
    """What a function of the user's own says of answers.

    Raises
    ------
    ParameterError
        It is no number.
    """
    score = function(true, said)
    if not hasattr(score, "__float__") or np.ndim(score):
        raise ParameterError(f"oob_score={name_of(function)} must return a number, not {score!r}")
    return float(score)


def name_of(function: Callable[..., Any]) -> str:
    """What a function is called."""
    return getattr(function, "__name__", None) or type(function).__name__
