"""How many numbers a fitted model has fitted. In: an estimator or a model. Out: k.

Caller: model_selection.information.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np

from treewright.exceptions import ParameterError
from treewright.model import Model
from treewright.model_selection.task import tree_of

GIVE = "Give n_parameters="


def count_parameters(est: Any, is_classification: bool) -> int:
    """Count the parameters, the variances of a regressor included.

    Parameters
    ----------
    est : fitted estimator or Model
    is_classification : bool

    Returns
    -------
    int

    Raises
    ------
    ParameterError
        They cannot be counted: the model is not one of those that are known, it has many trees, its coefficients are
        shrunk, or classes were weighted, so that the shares in the leaves are not those of the rows.
    """
    inner = tree_of(est)
    model = inner if isinstance(inner, Model) else getattr(inner, "model_", None)
    if isinstance(model, Model):
        _refuse_class_weights((model.facts.get("parameters") or {}).get("class_weight"))
        if model.combine != "single":
            raise ParameterError(
                f"the parameters of {len(model.trees)} trees that answer together cannot be counted: what their leaves "
                "hold is averaged or added up, not fitted one by one; compare such models by cross_validate"
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


def is_median(est: Any) -> bool:
    """Whether a regressor fits medians, so that its errors are Laplace's rather than normal."""
    inner = tree_of(est)
    model = inner if isinstance(inner, Model) else getattr(inner, "model_", None)
    if isinstance(model, Model):
        return model.facts.get("criterion") == "absolute_error"
    return getattr(inner, "criterion", None) == "absolute_error" and hasattr(inner, "tree_")


def _of_leaves(n_leaves: int, n_classes: tuple[int, ...], n_outputs: int) -> int:
    """Shares that sum to one in each leaf; or a mean per leaf and output, and a variance per output."""
    if n_classes:
        return n_leaves * sum(k - 1 for k in n_classes)
    return n_leaves * n_outputs + n_outputs


def _classes_met(model: Model) -> tuple[int, ...]:
    """Classes per output that have weight in the tree; () for numbers."""
    first = np.cumsum([0, *model.n_classes])
    root = model.trees[0].value[0]
    return tuple(int((root[low:high] > 0).sum()) for low, high in pairwise(first.tolist()))


def _sizes(est: Any, is_classification: bool) -> tuple[int, ...]:
    """Classes per output of a scikit-learn estimator."""
    return tuple(int(k) for k in np.atleast_1d(est.n_classes_)) if is_classification else ()


def _of_linear(est: Any) -> int:
    """Coefficients, intercepts, variances."""
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
    """Log-odds against one class."""
    from sklearn.linear_model import LogisticRegression

    if not isinstance(est, LogisticRegression) or not (
        getattr(est, "penalty", "") is None or math.isinf(getattr(est, "C", 0.0))
    ):
        _refuse(est)
    return (len(est.classes_) - 1) * (est.coef_.shape[1] + bool(est.fit_intercept))


def _refuse_class_weights(stated: Any) -> None:
    """Refuse shares of rows that were counted otherwise than they are."""
    if stated is not None:
        raise ParameterError(
            f"class_weight={stated!r}: the shares in the leaves are not those of the rows, so the likelihood is not "
            f"the largest. Fit without class_weight, or give the weights as sample_weight to fit and here. "
            f"{GIVE} where you know it"
        )


def _refuse(est: Any) -> NoReturn:
    """Say why there is no count."""
    shrunk = any(hasattr(est, name) for name in ("alpha", "alpha_", "C", "C_", "alphas")) and hasattr(est, "coef_")
    why = (
        f"its coefficients are shrunk, so that their number overstates it. {GIVE}, the effective degrees of freedom "
        f"(for ridge the trace of X (X'X + aI)^-1 X' with centred columns, 1 for the intercept and 1 for the variance)"
        if shrunk
        else f"only trees and linear models are counted. {GIVE}, or compare by cross-validation"
    )
    raise ParameterError(f"how many parameters {type(est).__name__} fitted is not known: {why}")
