"""Standard errors of scores, and tests of differences. In: scores per fold or row. Out: standard errors, p-values."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def mean_of(values: np.ndarray) -> float:
    """Mean over the folds; nan for infinities of both signs."""
    with np.errstate(invalid="ignore", over="ignore"):
        return float(np.mean(values))


def standard_error(values: np.ndarray, overlap: float = 0.0) -> float:
    """Standard error of a mean over folds.

    Parameters
    ----------
    values : float64[J]
        One score per fold.
    overlap : float >= 0
        0 if no row is tested twice, else test rows over training rows (``folds.overlap_of``).

    Returns
    -------
    float
        sqrt((1 / J + overlap) * s2), s2 the variance of a sample. Without overlap that is the usual s / sqrt(J). With
        repeats J grows and the rows stay the same; the second term, of Nadeau and Bengio (2003, Machine Learning 52,
        239-281), does not vanish. nan for fewer than two folds, or if a value is not finite.

    Examples
    --------
    >>> once, often = np.array([0.9, 0.8, 1.0, 0.9]), np.array([0.9, 0.8, 1.0, 0.9] * 50)
    >>> round(standard_error(once), 3), round(standard_error(often), 3), round(standard_error(often, 1 / 3), 3)
    (0.041, 0.005, 0.041)
    """
    if len(values) < 2 or not np.isfinite(values).all():
        return float("nan")
    return float(np.std(values, ddof=1)) * math.sqrt(1.0 + len(values) * overlap) / math.sqrt(len(values))


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
        sqrt(sum(w_i (e_i - e)^2)) / sum(w_i). A weight counts as a number of rows: weights that only state the
        importance of rows have to be scaled to a mean of 1.
    """
    # Two roots: a sum of weights may be near the end of float64.
    return np.asarray(np.sqrt(variance) / np.sqrt(weight))


def rows_worth(n: int, weights: np.ndarray | None) -> float:
    """The effective number of weighted rows (Kish 1965): sum(w)^2 / sum(w^2).

    Examples
    --------
    >>> rows_worth(3, None), rows_worth(3, np.array([2.0, 2.0, 0.0]))
    (3.0, 2.0)
    """
    if weights is None:
        return float(n)
    share = weights / weights.max()
    return float(share.sum() ** 2 / np.square(share).sum())


def corrected_t(differences: np.ndarray, test_share: float) -> tuple[float, float]:
    """The corrected resampled paired t-test, two-sided.

    Parameters
    ----------
    differences : float64[J]
        Score of one estimator minus score of the other, fold by fold.
    test_share : float > 0
        Test rows over training rows, ``n_test / n_train``.

    Returns
    -------
    t : float
    p : float, 0 to 1
        The probability of a difference at least as large between estimators that do not differ. nan for one fold, and
        if every fold has the same difference other than 0: such scores are discrete (shares of few rows), and their
        variance of 0 says nothing about the variance of a mean.

    Notes
    -----
    Nadeau and Bengio 2003, Machine Learning 52, 239-281: t = mean / sqrt((1 / J + n_test / n_train) * s2) with J - 1
    degrees of freedom, s2 the variance of a sample. The plain paired t-test has 1 / J alone; it treats folds, which
    share most of their training rows, as independent, and finds differences where there are none.

    Examples
    --------
    >>> t, p = corrected_t(np.array([0.02, 0.00, 0.03, 0.01, 0.04]), 1 / 4)
    >>> round(t, 3), round(p, 3)
    (1.886, 0.132)
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

    Parameters
    ----------
    values : float64[J]
    overlap : float >= 0
        As for ``standard_error``; for differences test rows over training rows, as in ``corrected_t``.

    Returns
    -------
    float
        Student's t with J - 1 degrees of freedom times the standard error; so a difference is as far from 0 as this if
        the p-value of ``corrected_t`` is 0.05. nan for fewer than two folds, and if every fold has the same value other
        than 0, which says nothing about the spread.

    Examples
    --------
    >>> round(margin(np.array([0.02, 0.00, 0.03, 0.01, 0.04]), 1 / 4), 4)
    0.0294
    """
    n, error = len(values), standard_error(values, overlap)
    scale = float(np.abs(values).max(initial=0.0))
    if not math.isfinite(error) or (scale > 0.0 and float(np.std(values)) <= 1e-12 * scale):
        return math.nan
    from scipy.special import stdtrit

    return float(stdtrit(n - 1, 0.975)) * error


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for their number, step by step (Holm 1979, Scand. J. Statist. 6, 65-70).

    Parameters
    ----------
    p_values : sequence of float
        nan counts as no test.

    Returns
    -------
    list of float
        The i-th smallest times (m - i + 1), never less than the one before it, at most 1.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted = [float("nan")] * len(p_values)
    tested = sorted((p, at) for at, p in enumerate(p_values) if not math.isnan(p))
    largest = 0.0
    for rank, (p, at) in enumerate(tested):
        largest = max(largest, min(1.0, p * (len(tested) - rank)))
        adjusted[at] = largest
    return adjusted
