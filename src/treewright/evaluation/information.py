"""Information criteria of fitted models. In: an estimator, rows. Out: ``LogLikelihood``, AIC, BIC.

A criterion weighs the fit of a model to its training rows against the number of fitted parameters.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import Any, NoReturn

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted

from treewright.core.elementary import log_of
from treewright.data.take import count_rows, warn_of_another_order
from treewright.data.target import check_lengths, check_weights, encode_labels, encode_numbers, recode
from treewright.evaluation.folds import tree_of
from treewright.exceptions import DataError, ParameterError
from treewright.model import Model

ROUNDING = 64 * np.finfo(np.float64).eps  # residuals of this size, as a part of y, are an exact fit
GIVE = "Give n_parameters="


def log_likelihood(
    est: Any, X: Any, y: Any, *, sample_weight: Any = None, n_parameters: float | None = None
) -> LogLikelihood:
    """The logarithm of the likelihood of rows under a fitted model, with the number of its parameters.

    Parameters
    ----------
    est : fitted estimator or Model
        Of this library or of scikit-learn: a regressor (``predict``) or a classifier (``predict_proba``).
    X, y : table of n rows with its target
        AIC and BIC are defined on the rows of the fit.
    sample_weight : n numbers >= 0, optional
        Those of the fit; a weight counts as that many rows.
    n_parameters : float >= 0, optional
        k, if it is known better than by counting; needed if it cannot be counted (forests, nearest neighbours, shrunk
        coefficients: their effective degrees of freedom). For a regressor it includes the variance.

    Returns
    -------
    LogLikelihood

    Raises
    ------
    ParameterError
        The model fits the rows exactly, so that the likelihood is unbounded; the parameters cannot be counted; ``est``
        is neither classifier nor regressor, or has no probabilities.
    DataError
        Rows, target or weights were refused, or a label is none of the model's classes.
    sklearn.exceptions.NotFittedError
        ``est`` was not fitted.

    Notes
    -----
    *Classes*: ln L is the sum of w ln(proportion of the row's class in its leaf), outputs added up. On the training
    rows these proportions maximize it. On other rows a class that the leaf lacks makes ln L -inf, and AIC and BIC inf.

    *Numbers*: errors are normal, with one variance per output that is fitted to these rows, RSS / n:
    ln L = -n/2 (ln(2 pi RSS / n) + 1). Leaves that hold medians (``criterion="absolute_error"``) maximize the
    likelihood of Laplace errors, with scale b = mean of ``|y - f|``: ln L = -n (ln 2b + 1).

    *Counted* for a tree: leaves times the sum over outputs of (classes that have weight in the tree - 1), or leaves
    times outputs plus a variance per output. Leaves that no training row reached repeat their parent and are not
    counted. *Not counted*: the tests. Their columns and thresholds were chosen on the same rows, so k is too low for a
    tree and both criteria, AIC above all, leave trees too large; cross-validation accounts for that choice.

    *Counted* for linear regression: coefficients (as many as the rank of X), intercepts, variances; for the lasso the
    coefficients that are not 0 (Zou, Hastie and Tibshirani 2007); for logistic regression without penalty
    (classes - 1) x (columns + 1). scikit-learn's trees and dummies are counted like ours. What comes before the last
    step of a pipeline is not counted.

    Examples
    --------
    >>> import treewright as tw
    >>> est = tw.DecisionTreeClassifier(max_depth=1).fit([[1], [2], [3], [4]], ["a", "a", "a", "b"], [1, 1, 1, 1])
    >>> print(tw.model_selection.log_likelihood(est.prune("leaves", max_leaves=1), [[1], [2], [3], [4]], list("aaab")))
    LogLikelihood(value=-2.249..., n_parameters=1, n_samples=4.0)
    """
    is_classification = _task(est)
    n = count_rows(y)
    if count_rows(X) != n:
        check_lengths(count_rows(X), y)
    weights = check_weights(sample_weight, n) if n else None
    warn_of_another_order(X, y=y, sample_weight=sample_weight)
    held = np.ones(n) if weights is None else weights
    value = _of_classes(est, X, y, held) if is_classification else _of_numbers(est, X, y, held)
    k = count_parameters(est, is_classification) if n_parameters is None else _stated(n_parameters)
    return LogLikelihood(value, k, float(held.sum()))


def aic(est: Any, X: Any, y: Any, *, sample_weight: Any = None, n_parameters: float | None = None) -> float:
    """Akaike's information criterion, 2 k - 2 ln L; less is better.

    Parameters
    ----------
    est, X, y, sample_weight, n_parameters
        As for ``log_likelihood``, which describes the counting.

    Returns
    -------
    float

    Raises
    ------
    ParameterError, DataError
        As ``log_likelihood``.

    Examples
    --------
    >>> import treewright as tw
    >>> rows = [[1], [2], [3], [4]]
    >>> est = tw.DecisionTreeClassifier(max_depth=1).fit(rows, ["a", "a", "b", "b"])
    >>> tw.model_selection.aic(est, rows, ["a", "a", "b", "b"])
    4.0
    """
    return log_likelihood(est, X, y, sample_weight=sample_weight, n_parameters=n_parameters).aic


def bic(est: Any, X: Any, y: Any, *, sample_weight: Any = None, n_parameters: float | None = None) -> float:
    """The Bayesian information criterion, k ln n - 2 ln L; less is better.

    Parameters
    ----------
    est, X, y, sample_weight, n_parameters
        As for ``log_likelihood``, which describes the counting.

    Returns
    -------
    float

    Raises
    ------
    ParameterError, DataError
        As ``log_likelihood``.

    Examples
    --------
    >>> import treewright as tw
    >>> rows = [[1], [2], [3], [4]]
    >>> est = tw.DecisionTreeClassifier(max_depth=1).fit(rows, ["a", "a", "b", "b"])
    >>> round(tw.model_selection.bic(est, rows, ["a", "a", "b", "b"]), 4)
    2.7726
    """
    return log_likelihood(est, X, y, sample_weight=sample_weight, n_parameters=n_parameters).bic


@dataclass(frozen=True)
class LogLikelihood:
    """The log-likelihood of rows under a fitted model.

    Attributes
    ----------
    value : float
        The natural logarithm of the likelihood; -inf if a row has a class of probability 0.
    n_parameters : float
        k, the number of fitted parameters.
    n_samples : float
        n, the sum of the weights (a row of weight 2 is two rows); without weights the number of rows.
    """

    value: float
    n_parameters: float
    n_samples: float

    @property
    def aic(self) -> float:
        """``2 k - 2 ln L`` (Akaike 1974); less is better."""
        return 2.0 * self.n_parameters - 2.0 * self.value

    @property
    def bic(self) -> float:
        """``k ln n - 2 ln L`` (Schwarz 1978); less is better."""
        return self.n_parameters * float(log_of(self.n_samples)) - 2.0 * self.value


def _task(est: Any) -> bool:
    """Whether the fitted model predicts classes."""
    if isinstance(est, Model):
        return est.task == "classification"
    if isinstance(est, type):
        raise ParameterError(f"pass a fitted estimator, not the class {est.__name__}")
    if hasattr(est, "predict") and hasattr(est, "fit"):
        if is_classifier(est):
            check_is_fitted(est)
            if not hasattr(est, "predict_proba"):
                raise ParameterError(
                    f"{type(est).__name__} has no probabilities (predict_proba), so there is no likelihood: "
                    f"wrap it in CalibratedClassifierCV, or compare by cross_validate"
                )
            return True
        if is_regressor(est):
            check_is_fitted(est)
            return False
    raise ParameterError(
        f"a {type(est).__name__} is neither a classifier nor a regressor, so there is no likelihood: "
        f"pass a fitted estimator or a Model"
    )


def _of_classes(est: Any, X: Any, y: Any, weights: np.ndarray) -> float:
    """Sum of w ln(probability of the row's class), over rows and outputs."""
    labels = encode_labels(y)
    check_lengths(len(weights), labels)
    several = labels.codes.shape[1] > 1
    classes = est.classes if isinstance(est, Model) else est.classes_ if several else (est.classes_,)
    if not isinstance(classes, list | tuple):
        raise DataError(f"y has {labels.codes.shape[1]} outputs, the model has 1: give one column of labels")
    codes = recode(labels, tuple(np.asarray(known) for known in classes))
    predicted = est.predict_proba(X)
    counted = weights > 0
    total = 0.0
    for output, shares in enumerate(predicted if isinstance(predicted, list) else [predicted]):
        of_class = np.asarray(shares)[np.arange(len(codes)), codes[:, output]][counted]
        if (of_class <= 0).any():
            return -math.inf
        total += float((weights[counted] * log_of(of_class)).sum())
    return total


def _of_numbers(est: Any, X: Any, y: Any, weights: np.ndarray) -> float:
    """Largest ln L over the spread of the errors, outputs added up."""
    target = encode_numbers(y).values
    predicted = np.asarray(est.predict(X), np.float64).reshape(len(target), -1)
    if predicted.shape != target.shape:
        raise DataError(f"y has {target.shape[1]} outputs, the model has {predicted.shape[1]}: give equally many")
    n, total = float(weights.sum()), 0.0
    medians = is_median(est)
    for output in range(target.shape[1]):
        counted = weights > 0
        largest = float(np.abs(target[counted, output]).max())
        unit = largest or 1.0  # in units of the largest value no square overflows
        away = np.abs(target[counted, output] / unit - predicted[counted, output] / unit)
        mean = float((weights[counted] * (away if medians else away * away)).sum()) / n
        spread = mean if medians else math.sqrt(mean)
        if not math.isfinite(spread):
            raise DataError(f"the model predicts numbers that are not finite (output {output}): there is no likelihood")
        if spread <= ROUNDING:
            raise ParameterError(
                f"the model fits the rows exactly (output {output}), so the likelihood is unbounded. "
                "Prune the tree, or fit it with larger leaves, before you compare"
            )
        if medians:
            total -= n * float(log_of(2 * spread) + log_of(unit) + 1)
        else:
            total -= n / 2 * float(log_of(2 * math.pi) + 2 * log_of(spread) + 2 * log_of(unit) + 1)
    return total


def _stated(n_parameters: Any) -> float:
    """The user's number of parameters, checked."""
    is_number = isinstance(n_parameters, Real) and not isinstance(n_parameters, bool)
    # Compared before it is converted: a whole number may be beyond float64.
    if not is_number or not 0 <= n_parameters <= sys.float_info.max:
        raise ParameterError(f"n_parameters={n_parameters!r}: give a finite number >= 0")
    return float(n_parameters)


def count_parameters(est: Any, is_classification: bool) -> int:
    """Count the parameters, including the variances of a regressor."""
    inner, model = _inner_of(est)
    if model is not None:
        _refuse_class_weights((model.facts.get("parameters") or {}).get("class_weight"))
        if not model.is_single_tree:
            raise ParameterError(
                f"the parameters of {len(model.trees)} trees that predict together cannot be counted: the values of "
                "their leaves are averaged or added up; compare such models by cross_validate"
            )
        tree = model.trees[0]
        n_leaves = int((tree.is_leaf & (tree.n_samples > 0)).sum())
        return _of_leaves(n_leaves, _classes_met(model), model.n_outputs)
    _refuse_class_weights(getattr(inner, "class_weight", None))
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from sklearn.tree import BaseDecisionTree

    if isinstance(inner, BaseDecisionTree):
        return _of_leaves(inner.get_n_leaves(), _sizes(inner, is_classification), inner.n_outputs_)
    if isinstance(inner, DummyRegressor) and inner.strategy in ("mean", "median"):
        return _of_leaves(1, (), inner.n_outputs_)
    if isinstance(inner, DummyClassifier) and inner.strategy == "prior":
        return _of_leaves(1, _sizes(inner, True), inner.n_outputs_)
    return _of_logistic(inner) if is_classification else _of_linear(inner)


def _inner_of(est: Any) -> tuple[Any, Model | None]:
    """The estimator that holds the tree, and its model if it is one of this library."""
    inner = tree_of(est)
    model = inner if isinstance(inner, Model) else getattr(inner, "model_", None)
    return inner, model if isinstance(model, Model) else None


def is_median(est: Any) -> bool:
    """Whether a regressor fits medians: its errors are then Laplace, not normal."""
    inner, model = _inner_of(est)
    if model is not None:
        return model.facts.get("criterion") == "absolute_error"
    return getattr(inner, "criterion", None) == "absolute_error" and hasattr(inner, "tree_")


def _of_leaves(n_leaves: int, n_classes: tuple[int, ...], n_outputs: int) -> int:
    """Number of free class proportions per leaf; or of means per leaf and output, and variances per output."""
    if n_classes:
        return n_leaves * sum(k - 1 for k in n_classes)
    return n_leaves * n_outputs + n_outputs


def _classes_met(model: Model) -> tuple[int, ...]:
    """Number of classes per output that have weight in the tree; () for regression."""
    first = np.cumsum([0, *model.n_classes])
    root = model.trees[0].value[0]
    return tuple(int((root[low:high] > 0).sum()) for low, high in pairwise(first.tolist()))


def _sizes(est: Any, is_classification: bool) -> tuple[int, ...]:
    """Number of classes per output of a scikit-learn estimator."""
    return tuple(int(k) for k in np.atleast_1d(est.n_classes_)) if is_classification else ()


def _of_linear(est: Any) -> int:
    """Number of coefficients, intercepts and variances."""
    from sklearn.linear_model import (
        Lasso,
        LassoCV,
        LassoLars,
        LassoLarsCV,
        LinearRegression,
        MultiTaskElasticNet,
        OrthogonalMatchingPursuit,
    )

    counted = (LinearRegression, Lasso, LassoCV, LassoLars, LassoLarsCV, OrthogonalMatchingPursuit)
    # In older versions of scikit-learn the group penalties, which shrink, are subclasses of Lasso.
    if not isinstance(est, counted) or isinstance(est, MultiTaskElasticNet):
        _refuse(est)
    coefficients = np.atleast_2d(est.coef_)
    n_outputs = len(coefficients)
    fitted = int(np.count_nonzero(coefficients))
    rank = getattr(est, "rank_", None)
    if isinstance(est, LinearRegression) and not est.positive and isinstance(rank, int | np.integer):
        fitted = n_outputs * int(rank)  # columns that repeat others are no parameters
    return fitted + n_outputs * bool(est.fit_intercept) + n_outputs


def _of_logistic(est: Any) -> int:
    """Number of coefficients and intercepts of the log-odds against one class."""
    from sklearn.linear_model import LogisticRegression

    if not isinstance(est, LogisticRegression) or not (
        getattr(est, "penalty", "") is None or math.isinf(getattr(est, "C", 0.0))
    ):
        _refuse(est)
    return (len(est.classes_) - 1) * (est.coef_.shape[1] + bool(est.fit_intercept))


def _refuse_class_weights(stated: Any) -> None:
    """Refuse class weights: with them the leaves do not hold the class proportions of the rows."""
    if stated is not None:
        raise ParameterError(
            f"class_weight={stated!r}: the class proportions in the leaves are not those of the rows, so the "
            f"likelihood is not maximal. Fit without class_weight, or give the weights as sample_weight to fit and "
            f"here. {GIVE} if you know it"
        )


def _refuse(est: Any) -> NoReturn:
    """Raise an error with the reason why the parameters cannot be counted."""
    shrunk = any(hasattr(est, name) for name in ("alpha", "alpha_", "C", "C_", "alphas")) and hasattr(est, "coef_")
    why = (
        f"its coefficients are shrunk, so their number is too high. {GIVE}, the effective degrees of freedom "
        f"(for ridge the trace of X (X'X + aI)^-1 X' with centred columns, 1 for the intercept and 1 for the variance)"
        if shrunk
        else f"only trees and linear models are counted. {GIVE}, or compare by cross-validation"
    )
    raise ParameterError(f"the number of parameters of {type(est).__name__} is not known: {why}")
