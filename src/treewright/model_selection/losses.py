"""What wrong predictions cost. In: a loss by name, a fitted estimator, rows. Out: a cost per row, means of them.

Callers: model_selection.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from treewright.exceptions import ParameterError

Loss = Literal["misclassification", "log_loss", "squared_error", "absolute_error"]
OF_CLASSES: tuple[Loss, ...] = ("misclassification", "log_loss")
OF_NUMBERS: tuple[Loss, ...] = ("squared_error", "absolute_error")
WORDS: dict[Loss, str] = {
    "misclassification": "misclassified share",
    "log_loss": "mean log loss",
    "squared_error": "mean squared error",
    "absolute_error": "mean absolute error",
}
LEAST_SHARE = float(np.finfo(np.float64).eps)  # as in scikit-learn: a share of 0 costs 36 nats, not infinity


def check_loss(loss: Any, *, is_classification: bool, known: Sequence[Loss] | None = None) -> Loss:
    """The loss, by default the misclassified share or the squared error.

    Parameters
    ----------
    loss : str, or None for the default
    is_classification : bool
    known : sequence of str, optional
        Those to choose from, the default first; by default all for this sort of target.

    Raises
    ------
    ParameterError
        There is no such loss for this sort of target.
    """
    if known is None:
        known = OF_CLASSES if is_classification else OF_NUMBERS
    for one in known:
        if loss is None or (isinstance(loss, str) and loss == one):
            return one
    target = "classes" if is_classification else "numbers"
    raise ParameterError(f"loss={loss!r}: for {target} give {' or '.join(map(repr, known))}")


def mean_loss(loss: Loss, estimator: Any, X: Any, y: np.ndarray, weights: np.ndarray | None) -> float:
    """Weighted mean of ``row_losses``."""
    return float(np.average(row_losses(loss, estimator, X, y), weights=weights))


def mean_with_error(
    loss: Loss, estimator: Any, X: Any, y: np.ndarray, weights: np.ndarray | None
) -> tuple[float, float]:
    """Weighted mean of ``row_losses``, and its standard error."""
    losses = row_losses(loss, estimator, X, y)
    mean = float(np.average(losses, weights=weights))
    variance = np.average((losses - mean) ** 2, weights=weights)
    return mean, float(standard_error_of_mean(variance, len(losses) if weights is None else float(weights.sum())))


def standard_error_of_mean(variance: np.ndarray | float, weight: float) -> np.ndarray:
    """Standard error of a mean over rows, as rpart has it.

    Parameters
    ----------
    variance : float64, or float64[k]
        Weighted mean of the squared distances of the rows' losses e_i from their mean e.
    weight : float > 0
        Sum of the weights.

    Returns
    -------
    float64, or float64[k]
        sqrt(sum(w_i (e_i - e)^2)) / sum(w_i). A weight counts as so many rows: weights that only say how much rows
        matter have to be scaled to a mean of 1.
    """
    # Two roots: a sum of weights may be near the end of float64.
    return np.asarray(np.sqrt(variance) / np.sqrt(weight))


def row_losses(loss: Loss, estimator: Any, X: Any, y: np.ndarray) -> np.ndarray:
    """What the prediction of each row costs.

    Parameters
    ----------
    loss : {"misclassification", "log_loss", "squared_error", "absolute_error"}
        1 for a wrong class, -ln of the share that the true class got (nats), or the difference squared or absolute.
    estimator : fitted estimator
    X : table of n rows
    y : ndarray[n] or ndarray[n, n_outputs]

    Returns
    -------
    float64[n]
        For several outputs their mean.
    """
    if loss == "log_loss":
        costs = _log_losses(estimator, X, y)
    else:
        predicted = np.asarray(estimator.predict(X)).reshape(y.shape)
        if loss == "misclassification":
            costs = np.asarray(predicted != y).astype(np.float64)
        else:
            gap = predicted.astype(np.float64) - y.astype(np.float64)
            costs = gap * gap if loss == "squared_error" else np.abs(gap)
    return costs if costs.ndim == 1 else costs.mean(axis=1)


def _log_losses(estimator: Any, X: Any, y: np.ndarray) -> np.ndarray:
    """float64[n, n_outputs]: -ln of the true class's share; a class that was not learned has none."""
    if not hasattr(estimator, "predict_proba"):
        name = type(estimator).__name__
        raise ParameterError(f"loss='log_loss' needs predict_proba, which {name} has not: use 'misclassification'")
    shares = estimator.predict_proba(X)
    by_output = y.reshape(len(y), -1)
    if not isinstance(shares, list):
        shares, classes = [shares], [estimator.classes_]
    else:
        classes = list(estimator.classes_)
    costs = np.empty(by_output.shape)
    for output, (share, labels) in enumerate(zip(shares, classes, strict=True)):
        place = {label: at for at, label in enumerate(labels.tolist())}
        codes = np.array([place.get(label, -1) for label in by_output[:, output].tolist()], np.int64)
        given = np.where(codes >= 0, share[np.arange(len(share)), codes], 0.0)
        costs[:, output] = -np.log(np.clip(given, LEAST_SHARE, 1.0))
    return costs
