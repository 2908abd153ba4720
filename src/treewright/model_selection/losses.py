"""What wrong predictions cost. In: a loss by name, a fitted estimator, rows. Out: a cost per row. Callers: curves."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from treewright.exceptions import ParameterError

Loss = Literal["misclassified", "squared", "absolute", "log"]
OF_CLASSES, OF_NUMBERS = ("misclassified", "log"), ("squared", "absolute")
WORDS = {
    "misclassified": "misclassified share",
    "log": "mean log loss",
    "squared": "mean squared error",
    "absolute": "mean absolute error",
}
LEAST_SHARE = float(np.finfo(np.float64).eps)  # as in scikit-learn: a share of 0 costs 36 nats, not infinity


def check_loss(loss: Loss | None, *, is_classification: bool) -> Loss:
    """The loss, by default the misclassified share or the squared error.

    Raises
    ------
    ParameterError
        There is no such loss for this sort of target.
    """
    known: tuple[Any, ...] = OF_CLASSES if is_classification else OF_NUMBERS
    chosen: Loss = known[0] if loss is None else loss
    if chosen not in known:
        target = "classes" if is_classification else "numbers"
        raise ParameterError(f"loss={loss!r}: for {target} give one of {', '.join(map(repr, known))}")
    return chosen


def mean_loss(loss: Loss, estimator: Any, X: Any, y: np.ndarray, weights: np.ndarray | None) -> float:
    """Weighted mean of ``row_losses``."""
    return float(np.average(row_losses(loss, estimator, X, y), weights=weights))


def row_losses(loss: Loss, estimator: Any, X: Any, y: np.ndarray) -> np.ndarray:
    """What the prediction of each row costs.

    Parameters
    ----------
    loss : {"misclassified", "log", "squared", "absolute"}
        1 for a wrong class, -ln of the share that the true class got (nats), or the difference squared or absolute.
    estimator : fitted estimator
    X : table of n rows
    y : ndarray[n] or ndarray[n, n_outputs]

    Returns
    -------
    float64[n]
        For several outputs their mean.
    """
    if loss == "log":
        costs = _log_losses(estimator, X, y)
    else:
        predicted = np.asarray(estimator.predict(X)).reshape(y.shape)
        if loss == "misclassified":
            costs = np.asarray(predicted != y).astype(np.float64)
        else:
            gap = predicted.astype(np.float64) - y.astype(np.float64)
            costs = gap * gap if loss == "squared" else np.abs(gap)
    return costs if costs.ndim == 1 else costs.mean(axis=1)


def _log_losses(estimator: Any, X: Any, y: np.ndarray) -> np.ndarray:
    """float64[n, n_outputs]: -ln of the true class's share; a class that was not learned has none."""
    if not hasattr(estimator, "predict_proba"):
        name = type(estimator).__name__
        raise ParameterError(f"loss='log' needs predict_proba, which {name} has not: use 'misclassified'")
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
