"""How good predictions are. In: what the user calls ``scoring``. Out: functions that score.

Callers: model_selection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer, get_scorer_names, r2_score

from treewright.data.matching import did_you_mean
from treewright.exceptions import ParameterError

Scorer = Callable[[Any, Any, np.ndarray, np.ndarray | None], float]
FORMS = "a name such as 'balanced_accuracy', a function (estimator, X, y), or a list or dict of them"


def scorers_of(scoring: Any, *, is_classification: bool) -> dict[str, Scorer]:
    """Functions that score a fitted estimator on rows, by name.

    Parameters
    ----------
    scoring : None, str, callable, list of str, or dict of name to str or callable
        None is the accuracy (of several targets: all of them right), or R2. Names and functions are scikit-learn's.
    is_classification : bool

    Returns
    -------
    dict from name to function (estimator, X, y as an array, weights or None) -> float
        Greater is better.

    Raises
    ------
    ParameterError
        There is no such score.
    """
    if scoring is None:
        return {"accuracy": _accuracy} if is_classification else {"r2": _r2}
    if isinstance(scoring, str):
        return {scoring: _named(scoring)}
    if callable(scoring):
        return {getattr(scoring, "__name__", "score"): _weighing("scoring", scoring)}
    if isinstance(scoring, Mapping) and scoring:
        return {str(name): _of(str(name), given) for name, given in scoring.items()}
    if isinstance(scoring, list | tuple | set) and scoring and all(isinstance(name, str) for name in scoring):
        names = sorted(scoring) if isinstance(scoring, set) else scoring
        return {name: _named(name) for name in names}
    raise ParameterError(f"scoring={scoring!r}: give {FORMS}")


def one_scorer(scoring: Any, *, is_classification: bool) -> tuple[str, Scorer]:
    """Name and function of the only score.

    Raises
    ------
    ParameterError
        Several are given, or there is no such score.
    """
    scorers = scorers_of(scoring, is_classification=is_classification)
    if len(scorers) > 1:
        raise ParameterError(f"scoring names {len(scorers)} scores, {', '.join(scorers)}: give the one that decides")
    return next(iter(scorers.items()))


def are_right(truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Whether each row is predicted right, in every output.

    Returns
    -------
    bool[n]
    """
    same = np.asarray(truth == predicted.reshape(truth.shape))
    return same if same.ndim == 1 else np.asarray(same.all(axis=1))


def _of(name: str, given: Any) -> Scorer:
    """One entry of a dict."""
    if isinstance(given, str):
        return _named(given)
    if callable(given):
        return _weighing(name, given)
    raise ParameterError(f"scoring {name!r} is {given!r}: give {FORMS}")


def _named(name: str) -> Scorer:
    """A scorer of scikit-learn."""
    if name not in get_scorer_names():
        guess = did_you_mean(name, get_scorer_names())
        raise ParameterError(f"there is no score {name!r}{guess}: sklearn.metrics.get_scorer_names() lists them")
    return _weighing(name, get_scorer(name))


def _weighing(name: str, scorer: Callable[..., Any]) -> Scorer:
    """A scorer that gets weights where there are any, and has to answer with a number."""

    def score(estimator: Any, X: Any, y: np.ndarray, weights: np.ndarray | None) -> float:
        try:
            value = scorer(estimator, X, y) if weights is None else scorer(estimator, X, y, sample_weight=weights)
        except TypeError as error:
            if weights is None or "sample_weight" not in str(error):
                raise
            raise ParameterError(
                f"the score {name!r} takes no sample_weight: choose another, or leave them out"
            ) from error
        if np.ndim(value) or not isinstance(value, int | float | np.number | np.ndarray) or np.iscomplexobj(value):
            raise ParameterError(f"the score {name!r} gave a {type(value).__name__}, not a number")
        return float(value)

    return score


def _accuracy(estimator: Any, X: Any, y: np.ndarray, weights: np.ndarray | None) -> float:
    return float(np.average(are_right(y, np.asarray(estimator.predict(X))), weights=weights))


def _r2(estimator: Any, X: Any, y: np.ndarray, weights: np.ndarray | None) -> float:
    return float(r2_score(y, np.asarray(estimator.predict(X)).reshape(y.shape), sample_weight=weights))
