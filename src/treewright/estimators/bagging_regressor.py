"""Bagging of regressors. In: parameters, a table, numbers. Out: ``BaggingRegressor``. Callers: users."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from treewright.data.target import Numbers, encode_numbers
from treewright.estimators.bagging_base import Bagging
from treewright.estimators.bagging_votes import Answer, numbers_of
from treewright.estimators.tree import DecisionTreeRegressor

_LEAST_FOR_R2 = 2  # rows


class BaggingRegressor(RegressorMixin, Bagging):
    """Copies of one regressor, each fitted on rows drawn at random, are averaged (bootstrap aggregating).

    Parameters
    ----------
    estimator : regressor, optional
        Treewright's or any other with ``fit``, ``predict`` and ``get_params``; ``DecisionTreeRegressor()`` by default.
    n_estimators, max_samples, max_features, bootstrap, bootstrap_features
        As in ``BaggingClassifier``.
    oob_score, warm_start, n_jobs, random_state, verbose
        As in ``BaggingClassifier``.

    Attributes
    ----------
    estimator_, estimators_, estimators_features_, estimators_samples_, model_, feature_importances_
        As in ``BaggingClassifier``.
    n_outputs_, n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only where the table had names that are all strings.
    oob_prediction_ : float64[n] or float64[n, n_outputs]
        Out of bag, what ``predict`` is; nan for a row that every member drew.
    oob_score_ : float
        R squared of that, by weight, over the rows that some member did not draw; of several outputs the mean.

    Notes
    -----
    As ``BaggingClassifier``.

    Examples
    --------
    >>> import treewright as tw
    >>> X = [[float(x)] for x in range(20)]
    >>> bag = tw.BaggingRegressor(n_estimators=50).fit(X, [2.0 * x for x in range(20)])
    >>> bool(8.0 < bag.predict([[5.0]])[0] < 12.0)
    True
    """

    _is_classification = False

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: float | None = 1.0,
        max_features: float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the members; parameters, errors and warnings as ``BaggingClassifier.fit``.

        Parameters
        ----------
        X : table of n rows and p columns
        y : n finite numbers, or n x n_outputs of them where the base takes several
        sample_weight : n numbers >= 0, optional

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def predict(self, X: Any) -> np.ndarray:
        """Mean of the members' predictions.

        Parameters
        ----------
        X : table of n rows
            Columns are matched by name where fit knew names.

        Returns
        -------
        float64[n] or float64[n, n_outputs]

        Raises
        ------
        ColumnError
            Columns are missing, doubled or of another kind than at fit.
        """
        check_is_fitted(self, "estimators_")
        if "model_" in self.__dict__:
            return self.model_.predict(X, n_jobs=self.n_jobs, owner=type(self).__name__)
        return self._flat(self._average(X)[0])

    def _flat(self, numbers: np.ndarray) -> np.ndarray:
        """One output without a dimension of its own."""
        return numbers[:, 0] if self.n_outputs_ == 1 else numbers

    def _default_base(self) -> DecisionTreeRegressor:
        return DecisionTreeRegressor(n_jobs=self.n_jobs)

    def _encode_target(self, y: Any) -> Numbers:
        numbers = encode_numbers(y)
        self._warn_column_vector(numbers)
        return numbers

    def _plain_target(self, target: Numbers) -> np.ndarray:
        return target.values[:, 0] if target.values.shape[1] == 1 else target.values

    def _n_outputs(self, target: Numbers) -> int:
        return target.values.shape[1]

    def _keep_target(self, target: Numbers) -> None:
        self.n_outputs_ = target.values.shape[1]

    def _combine(self) -> Literal["mean", "vote"]:
        return "mean"

    def _shapes(self, n_rows: int) -> list[tuple[int, int]]:
        return [(n_rows, self.n_outputs_)]

    def _say(self, member: Any, X: Any) -> Answer:
        return numbers_of(member, X, self.n_outputs_)

    def _keep_out_of_bag(self, means: Answer, target: Numbers, judged: np.ndarray, weights: np.ndarray | None) -> None:
        self.oob_prediction_ = self._flat(means[0])
        if len(judged) < _LEAST_FOR_R2:
            self.oob_score_ = float("nan")
            return
        self.oob_score_ = float(r2_score(target.values[judged], means[0][judged], sample_weight=weights))
