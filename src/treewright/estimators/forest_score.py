"""How right the answers of a forest are. In: codes or numbers, true and said; a function. Out: a score.

Callers: estimators.forest_base, estimators.forest_classifier, estimators.forest_regressor.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import r2_score

from treewright.exceptions import ParameterError


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


def refuse_other_function(function: Callable[..., Any]) -> None:
    """Refuse a score that cannot be asked, before a forest is grown for it.

    Raises
    ------
    ParameterError
        It does not take two arguments.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # written in C, it does not say
        return
    try:
        signature.bind(None, None)
    except TypeError as error:
        raise ParameterError(
            f"oob_score={_name_of(function)} must take two arguments, the true answers and the predicted ones: {error}"
        ) from None


def asked(function: Callable[[np.ndarray, np.ndarray], Any], true: np.ndarray, said: np.ndarray) -> float:
    """What a function of the user's own says of answers.

    Raises
    ------
    ParameterError
        It is no number.
    """
    score = function(true, said)
    if not hasattr(score, "__float__") or np.ndim(score):
        raise ParameterError(f"oob_score={_name_of(function)} must return a number, not {score!r}")
    return float(score)


def _name_of(function: Callable[..., Any]) -> str:
    """What a function is called."""
    return getattr(function, "__name__", None) or type(function).__name__
