"""Nearest neighbours averaged. In: parameters, a table, numbers. Out: ``KNeighborsRegressor``. Callers: users."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from treewright.data.target import Numbers, encode_numbers
from treewright.estimators.neighbors_base import NeighborsEstimator
from treewright.model.neighbors import NeighborsModel


class KNeighborsRegressor(RegressorMixin, NeighborsEstimator):
    """The mean of the nearest rows.

    Parameters
    ----------
    n_neighbors, weights, metric, p, metric_params, scale, algorithm, n_jobs, nominal, numeric, ordinal, unseen
        As for ``KNeighborsClassifier``.

    Attributes
    ----------
    model_ : NeighborsModel
        The fitted model: it stands alone and is what ``save`` writes. It holds the rows of the fit.
    n_features_in_, n_outputs_, n_samples_fit_ : int
    feature_names_in_ : ndarray of str
        Only where the table had names that are all strings.
    effective_metric_ : str
        What "auto" was.

    Examples
    --------
    >>> import treewright as tw
    >>> est = tw.KNeighborsRegressor(n_neighbors=2).fit([[1.0], [2.0], [9.0]], [10.0, 20.0, 90.0])
    >>> est.predict([[1.2]])
    array([15.])
    >>> est.kneighbors([[1.2]])
    (array([[0.2, 0.8]]), array([[0, 1]]))
    """

    def _encode_target(self, y: Any) -> Numbers:
        numbers = encode_numbers(y)
        self._warn_column_vector(numbers)
        return numbers

    def _n_outputs(self, target: Numbers) -> int:
        return target.values.shape[1]

    def _stored(self, target: Numbers) -> tuple[np.ndarray | None, np.ndarray | None]:
        return None, target.values

    def _make_model(self, target: Numbers, **parts: Any) -> NeighborsModel:  # noqa: ARG002 - it has no classes
        return NeighborsModel("regression", **parts)
