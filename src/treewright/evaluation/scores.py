"""Accuracy, R2 and losses of predictions; standard errors of scores, and tests of differences between them.

In: true and predicted values, scores per fold. Out: numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from treewright.core.elementary import log_of
from treewright.data.target import check_lengths, encode_labels, encode_numbers
from treewright.exceptions import DataError, ParameterError
from treewright.trees.data import ModelData

# Means over folds, and differences between them -----------------------------------------------------------------------


def mean_of(values: np.ndarray) -> float:
    """Mean over the folds; nan for infinities of both signs."""
    with np.errstate(invalid="ignore", over="ignore"):
        return float(np.mean(values))


def standard_error(values: np.ndarray, overlap: float = 0.0) -> float:
    """Standard error of a mean over folds.

    ``values`` (float64[J]): one score per fold. ``overlap``: 0 if no row is tested twice, else test rows over training
    rows (``folds.overlap_of``). Returns sqrt((1 / J + overlap) * s2), s2 the variance of a sample. Without
    overlap that is the usual s / sqrt(J). With repeats J grows and the rows stay the same; the second term, of Nadeau
    and Bengio (2003, Machine Learning 52, 239-281), does not vanish. nan for fewer than two folds, or if a value is not
    finite.
    """
    if len(values) < 2 or not np.isfinite(values).all():
        return float("nan")
    return float(np.std(values, ddof=1)) * math.sqrt(1.0 + len(values) * overlap) / math.sqrt(len(values))


def standard_error_of_mean(variance: np.ndarray | float, weight: float) -> np.ndarray:
    """Standard error of a mean over rows, as rpart has it.

    ``variance`` (float64, or float64[k]): weighted mean of the squared distances of the rows' losses e_i from their
    mean e. Returns sqrt(sum(w_i (e_i - e)^2)) / sum(w_i), float64 or float64[k]. A weight counts as a number of rows:
    weights that only state the importance of rows have to be scaled to a mean of 1.
    """
    # Two roots: a sum of weights may be near the end of float64.
    return np.asarray(np.sqrt(variance) / np.sqrt(weight))


def rows_worth(n: int, weights: np.ndarray | None) -> float:
    """The effective number of weighted rows (Kish 1965): sum(w)^2 / sum(w^2)."""
    if weights is None:
        return float(n)
    share = weights / weights.max()
    return float(share.sum() ** 2 / np.square(share).sum())


def corrected_t(differences: np.ndarray, test_share: float) -> tuple[float, float]:
    """The corrected resampled paired t-test, two-sided.

    ``differences`` (float64[J]): score of one estimator minus score of the other, fold by fold. ``test_share``: test
    rows over training rows, ``n_test / n_train``. Returns t and p, the probability of a difference at least as large
    between estimators that do not differ. Both are nan for one fold, and if every fold has the same difference other
    than 0: such scores are discrete (proportions of few rows), and their variance of 0 says nothing about the variance
    of a mean.

    Nadeau and Bengio 2003, Machine Learning 52, 239-281: t = mean / sqrt((1 / J + n_test / n_train) * s2) with J - 1
    degrees of freedom, s2 the variance of a sample. The plain paired t-test has 1 / J alone; it treats folds, which
    share most of their training rows, as independent, and finds differences where there are none.
    """
    n = len(differences)
    if n < 2 or not np.isfinite(differences).all():
        return float("nan"), float("nan")
    mean, variance = float(np.mean(differences)), float(np.var(differences, ddof=1))
    scale = float(np.abs(differences).max())
    if math.sqrt(variance) <= 1e-12 * scale or scale == 0.0:
        # The same difference in every fold, up to rounding.
        return (0.0, 1.0) if scale == 0.0 else (float("nan"), float("nan"))
    from scipy.special import stdtr  # its import takes longer than a small fit

    t = mean / math.sqrt((1.0 / n + test_share) * variance)
    return t, min(1.0, 2.0 * float(stdtr(n - 1, -abs(t))))


def margin(values: np.ndarray, overlap: float) -> float:
    """Half the 95 % interval of a mean over folds, or of a mean difference.

    ``values`` (float64[J]). ``overlap``: as for ``standard_error``; for differences test rows over training rows, as in
    ``corrected_t``. Returns Student's t with J - 1 degrees of freedom times the standard error; so a difference
    is as far from 0 as this if the p-value of ``corrected_t`` is 0.05. nan for fewer than two folds, and if every fold
    has the same value other than 0, which says nothing about the spread.
    """
    n, error = len(values), standard_error(values, overlap)
    scale = float(np.abs(values).max(initial=0.0))
    if not math.isfinite(error) or (scale > 0.0 and float(np.std(values)) <= 1e-12 * scale):
        return math.nan
    from scipy.special import stdtrit

    return float(stdtrit(n - 1, 0.975)) * error


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for their number, step by step (Holm 1979, Scand. J. Statist. 6, 65-70).

    ``p_values``: nan counts as no test. Returns the i-th smallest times (m - i + 1), never less than the
    one before it, at most 1.
    """
    adjusted = [float("nan")] * len(p_values)
    tested = sorted((p, at) for at, p in enumerate(p_values) if not math.isnan(p))
    largest = 0.0
    for rank, (p, at) in enumerate(tested):
        largest = max(largest, min(1.0, p * (len(tested) - rank)))
        adjusted[at] = largest
    return adjusted


# Scores and losses of predictions -------------------------------------------------------------------------------------

Loss = Literal["misclassification", "log_loss", "squared_error", "absolute_error"]
OF_CLASSES: tuple[Loss, ...] = ("misclassification", "log_loss")
OF_NUMBERS: tuple[Loss, ...] = ("squared_error", "absolute_error")
WORDS: dict[Loss, str] = {
    "misclassification": "misclassification rate",
    "log_loss": "mean log loss",
    "squared_error": "mean squared error",
    "absolute_error": "mean absolute error",
}


def are_correct(true: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """bool[n]: whether each row is predicted correctly, in every output."""
    same = np.asarray(true == predicted.reshape(true.shape))
    return same if same.ndim == 1 else np.asarray(same.all(axis=1))


def accuracy(true: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None) -> float:
    """Accuracy: the share of the rows (n >= 1) with every output correct, in labels or in class codes."""
    return float(np.average(are_correct(true, predicted), weights=weights))


def r_squared(true: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None) -> float:
    """Coefficient of determination, for several outputs the mean; nan for one row, which has no variance.

    scikit-learn returns nan too, but warns for every such fold.
    """
    from sklearn.metrics import r2_score

    return float(r2_score(true, predicted, sample_weight=weights)) if len(true) > 1 else float("nan")


def r2(true: np.ndarray, predicted: np.ndarray, weights: np.ndarray | None) -> float:
    """``r_squared`` of numbers of any size.

    ``true``, ``predicted`` (float64[n, n_outputs]): they are scaled to about 1 by a power of two, so that their squares
    stay in the range of float64. ``weights`` (float64[n] or None).
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

    ``known``: those to choose from, the default first; by default all for this task.
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

    ``loss``: 1 for a wrong class; or the squared or absolute difference. ``true``, ``predicted`` (ndarray[n] or
    ndarray[n, n_outputs]): labels, codes or numbers. Returns float64[n]: for several outputs their mean.
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
