"""Scores of predictions. In: true and predicted values, weights. Out: accuracy, R2, the loss of each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from treewright.core.elementary import log_of
from treewright.data.target import check_lengths, encode_labels, encode_numbers
from treewright.exceptions import DataError, ParameterError
from treewright.judge.uncertainty import standard_error_of_mean
from treewright.model.data import ModelData

Loss = Literal["misclassification", "log_loss", "squared_error", "absolute_error"]
OF_CLASSES: tuple[Loss, ...] = ("misclassification", "log_loss")
OF_NUMBERS: tuple[Loss, ...] = ("squared_error", "absolute_error")
WORDS: dict[Loss, str] = {
    "misclassification": "misclassification rate",
    "log_loss": "mean log loss",
    "squared_error": "mean squared error",
    "absolute_error": "mean absolute error",
}


def are_right(true: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """bool[n]: whether each row is predicted correctly, in every output."""
    same = np.asarray(true == predicted.reshape(true.shape))
    return same if same.ndim == 1 else np.asarray(same.all(axis=1))


def share_right(true: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None) -> float:
    """Accuracy: the share of the rows (n >= 1) with every output correct, in labels or in class codes.

    Examples
    --------
    >>> share_right(np.array([[0, 1], [1, 1]]), np.array([[0, 1], [1, 0]]), None)
    0.5
    """
    return float(np.average(are_right(true, predicted), weights=weights))


def r_squared(true: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None) -> float:
    """Coefficient of determination, for several outputs the mean; nan for one row, which has no variance.

    scikit-learn returns nan too, but warns for every such fold.
    """
    from sklearn.metrics import r2_score

    return float(r2_score(true, predicted, sample_weight=weights)) if len(true) > 1 else float("nan")


def explained(true: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None) -> float:
    """``r_squared`` of numbers of any size.

    Parameters
    ----------
    true, predicted : float64[n, n_outputs]
        They are scaled to about 1 by a power of two, so that their squares stay in the range of float64.
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
        predicted = np.ldexp(predicted, exponents)
        if not np.isfinite(predicted).all():
            return -np.inf
        return r_squared(np.ldexp(true, exponents), predicted, weights)


def true_codes(model: ModelData, y: Any, n_rows: int, what: str = "the forest") -> np.ndarray:
    """int64[n_rows, n_outputs]: labels as the model's codes; -1 for an unknown label.

    A wrong number of rows or outputs is refused.
    """
    labels = encode_labels(y)
    check_lengths(n_rows, labels)
    if len(labels.classes) != model.n_outputs:
        raise DataError(f"y has {len(labels.classes)} outputs, and {what} has {model.n_outputs}")
    true = np.empty((n_rows, model.n_outputs), np.int64)
    for output, (own, known) in enumerate(zip(labels.classes, model.classes, strict=True)):
        true[:, output] = _places(own, known)[labels.codes[:, output]]
    return true


def true_numbers(y: Any, n_rows: int, n_outputs: int, what: str = "the forest") -> np.ndarray:
    """float64[n_rows, n_outputs]: the true numbers, to be compared with predictions.

    A wrong number of rows or outputs is refused.
    """
    numbers = encode_numbers(y)
    check_lengths(n_rows, numbers)
    if numbers.values.shape[1] != n_outputs:
        raise DataError(f"y has {numbers.values.shape[1]} outputs, and {what} has {n_outputs}")
    return numbers.values


def check_loss(loss: Any, *, is_classification: bool, known: Sequence[Loss] | None = None) -> Loss:
    """The loss; for None misclassification or the squared error.

    Parameters
    ----------
    loss : str or None
    is_classification : bool
    known : sequence of str, optional
        Those to choose from, the default first; by default all for this task.
    """
    if known is None:
        known = OF_CLASSES if is_classification else OF_NUMBERS
    for one in known:
        if loss is None or (isinstance(loss, str) and loss == one):
            return one
    target = "classification" if is_classification else "regression"
    raise ParameterError(f"loss={loss!r}: for {target} give {' or '.join(map(repr, known))}")


def row_losses(loss: Loss, true: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """The loss of the prediction for each row.

    Parameters
    ----------
    loss : {"misclassification", "squared_error", "absolute_error"}
        1 for a wrong class; or the squared or absolute difference.
    true, predicted : ndarray[n] or ndarray[n, n_outputs]
        Labels, codes or numbers.

    Returns
    -------
    float64[n]
        For several outputs their mean.
    """
    if loss == "misclassification":
        return _over_outputs(np.asarray(predicted != true).astype(np.float64))
    gap = predicted.astype(np.float64) - true.astype(np.float64)
    return _over_outputs(gap * gap if loss == "squared_error" else np.abs(gap))


def log_losses(estimator: Any, X: Any, y: np.ndarray) -> np.ndarray:
    """float64[n]: -ln of the probability of the true class (nats), which is 0 for a class not in the training rows."""
    from treewright.prune.losses import LEAST_SHARE

    if not hasattr(estimator, "predict_proba"):
        name = type(estimator).__name__
        raise ParameterError(f"loss='log_loss' needs predict_proba, which {name} lacks: use 'misclassification'")
    shares = estimator.predict_proba(X)
    by_output = y.reshape(len(y), -1)
    if not isinstance(shares, list):
        shares, classes = [shares], [estimator.classes_]
    else:
        classes = list(estimator.classes_)
    costs = np.empty(by_output.shape)
    for output, (share, labels) in enumerate(zip(shares, classes, strict=True)):
        codes = _places(by_output[:, output], labels)
        given = np.where(codes >= 0, share[np.arange(len(share)), codes], 0.0)
        costs[:, output] = -log_of(np.clip(given, LEAST_SHARE, 1.0))
    return _over_outputs(costs)


def mean_loss(loss: Loss, estimator: Any, X: Any, y: np.ndarray, weights: np.ndarray | None) -> float:
    """Weighted mean loss of a fitted estimator's predictions."""
    return float(np.average(_losses(loss, estimator, X, y), weights=weights))


def mean_with_error(
    loss: Loss, estimator: Any, X: Any, y: np.ndarray, weights: np.ndarray | None
) -> tuple[float, float]:
    """``mean_loss`` and its standard error over the rows."""
    losses = _losses(loss, estimator, X, y)
    mean = float(np.average(losses, weights=weights))
    variance = np.average((losses - mean) ** 2, weights=weights)
    return mean, float(standard_error_of_mean(variance, len(losses) if weights is None else float(weights.sum())))


def in_units(weights: np.ndarray) -> np.ndarray:
    """Weights divided by a power of 4, so that the largest is from 0.5 up to 2: means do not change, sums stay exact.

    Examples
    --------
    >>> in_units(np.array([8.0, 2.0])).tolist(), in_units(np.array([1.0, 0.5])).tolist()
    ([0.5, 0.125], [1.0, 0.5])
    """
    exponent = int(np.frexp(weights.max())[1])
    return np.asarray(np.ldexp(weights, -2 * (exponent // 2)))


def _losses(loss: Loss, estimator: Any, X: Any, y: np.ndarray) -> np.ndarray:
    """float64[n]: the loss of a fitted estimator's prediction for each row."""
    if loss == "log_loss":
        return log_losses(estimator, X, y)
    return row_losses(loss, y, np.asarray(estimator.predict(X)).reshape(y.shape))


def _over_outputs(costs: np.ndarray) -> np.ndarray:
    """float64[n]: the mean over the outputs."""
    return costs if costs.ndim == 1 else np.asarray(costs.mean(axis=1))


def _places(labels: np.ndarray, known: np.ndarray) -> np.ndarray:
    """int64[n]: the position of each label among the known ones; -1 for an unknown one."""
    place = {label: at for at, label in enumerate(known.tolist())}
    return np.array([place.get(label, -1) for label in labels.tolist()], np.int64)
