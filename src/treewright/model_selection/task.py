"""What is learned: a table, a target, weights. In: those. Out: ``Task``, fitted copies. Callers: model_selection."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.pipeline import Pipeline

from treewright.data.target import check_weights
from treewright.exceptions import DataError, ParameterError
from treewright.model_selection.folds import as_array
from treewright.model_selection.rows import count_rows, take_rows


@dataclass(frozen=True, eq=False)
class Task:
    """A table with its target, checked.

    Attributes
    ----------
    X : table of n rows
    y : target of n rows, as given
    truth : ndarray[n] or ndarray[n, n_outputs]
        The same as an array.
    weights : float64[n] or None
    is_classification : bool
    """

    X: Any
    y: Any
    truth: np.ndarray
    weights: np.ndarray | None
    is_classification: bool

    @property
    def n(self) -> int:
        """Rows."""
        return len(self.truth)

    def weights_at(self, rows: np.ndarray) -> np.ndarray | None:
        """Weights of some rows."""
        return None if self.weights is None else self.weights[rows]

    def fit(self, estimator: Any, rows: np.ndarray, where: str) -> Any:
        """A fresh copy of an estimator, fitted on some rows.

        Parameters
        ----------
        estimator : estimator
            Stays as it is.
        rows : int64[m]
        where : str
            What the rows are, for a note on whatever ``fit`` raises.
        """
        copy = clone(estimator)
        weights = {} if self.weights is None else {"sample_weight": self.weights[rows]}
        try:
            return copy.fit(take_rows(self.X, rows), take_rows(self.y, rows), **weights)
        except Exception as error:
            error.add_note(f"while fitting {type(estimator).__name__} on {where} ({len(rows)} rows)")
            raise


def task_of(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> Task:
    """Check that an estimator, a table, a target and weights go together.

    Parameters
    ----------
    estimator : unfitted or fitted classifier or regressor
    X : table of n rows
    y : n labels or numbers, or n x n_outputs of them
    sample_weight : n numbers >= 0, optional

    Raises
    ------
    ParameterError
        It is no estimator (a class, say), neither classifier nor regressor, or its ``fit`` takes no weights.
    DataError
        Lengths differ, or weights were refused.
    """
    name = type(estimator).__name__
    if isinstance(estimator, type):
        raise ParameterError(f"{estimator.__name__} is a class: give an estimator, {estimator.__name__}()")
    if not all(hasattr(estimator, method) for method in ("fit", "get_params")):
        raise ParameterError(f"a {name} is no estimator: give one of treewright or scikit-learn")
    is_classification = bool(is_classifier(estimator))
    if not is_classification and not is_regressor(estimator):
        raise ParameterError(f"{name} is neither a classifier nor a regressor: there is no target that it predicts")
    truth = as_array(y)
    if count_rows(X) != len(truth):
        raise DataError(f"X has {count_rows(X)} rows, y has {len(truth)}: give a target for each row")
    weights = check_weights(sample_weight, len(truth))
    if weights is not None and not _may_take_weights(estimator):
        raise ParameterError(f"fit of {name} takes no sample_weight: leave it out")
    return Task(X, y, truth, weights, is_classification)


def _may_take_weights(estimator: Any) -> bool:
    """Whether ``fit`` has weights among its arguments, or hands on whatever it gets (a search does)."""
    arguments = signature(estimator.fit).parameters
    return "sample_weight" in arguments or any(one.kind is Parameter.VAR_KEYWORD for one in arguments.values())


def tree_of(estimator: Any) -> Any:
    """The estimator that holds the tree: the last step of a pipeline, the best of a search, else itself."""
    for _ in range(10):
        if isinstance(estimator, Pipeline):
            estimator = estimator.steps[-1][1]
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        else:
            break
    return estimator


def size_of(estimator: Any) -> tuple[float, float]:
    """Leaves and depth of a fitted tree; nan for what is no tree."""
    tree = tree_of(estimator)
    try:
        return float(tree.get_n_leaves()), float(tree.get_depth())
    except AttributeError:
        return float("nan"), float("nan")
