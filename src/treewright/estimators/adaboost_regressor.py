"""AdaBoost of regressors. In: parameters, a table, numbers. Out: ``AdaBoostRegressor``. Callers: users, cli."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, cast

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from treewright.boosting.adaboost import RegressionLoss, RowWeights, Verdict, judge_numbers
from treewright.core import notices
from treewright.data.memory import check_fits
from treewright.data.take import count_rows
from treewright.data.target import Numbers, encode_numbers
from treewright.estimators.adaboost_base import AdaBoost
from treewright.estimators.adaboost_members import BoostPlan, numbers_said
from treewright.estimators.constraints import Words
from treewright.estimators.tree import DecisionTreeRegressor
from treewright.predict.ensemble import weighted_median

if TYPE_CHECKING:
    from sklearn.utils import Tags


class AdaBoostRegressor(RegressorMixin, AdaBoost):
    """Regressors fitted one after another, each on rows weighed by how far off those before it were; a weighted median.

    Parameters
    ----------
    estimator : regressor, optional
        Treewright's or any other with ``fit``, ``predict`` and ``get_params``; ``DecisionTreeRegressor(max_depth=3)``
        by default.
    n_estimators : int >= 1, default 50
        Copies (*members*) at most.
    learning_rate : float > 0, default 1.0
        Times this, the members' weights are taken; below 1, rows change their weights more slowly.
    loss : {"linear", "square", "exponential"}, default "linear"
        What a row loses whose prediction is off by the share ``s`` of the largest distance: ``s``, ``s**2`` or
        ``1 - exp(-s)``.
    bootstrap : bool, default False
        Fit each member on as many rows as there are, drawn with replacement by their weights, as the paper does. By
        default it is fitted on the weights themselves, without chance. Needed for a base whose ``fit`` takes no
        ``sample_weight``.
    keep_row_weights, warm_start, n_jobs, random_state
        As in ``AdaBoostClassifier``.

    Attributes
    ----------
    estimator_, estimators_, rounds_, row_weights_, model_, feature_importances_
        As in ``AdaBoostClassifier``.
    estimator_weights_, estimator_errors_ : float64[n_members]
        Weight of each member, above 0, and its error: the mean loss of the rows, by their weights.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only where the table had names that are all strings.

    Notes
    -----
    AdaBoost.R2: Drucker 1997, "Improving regressors using boosting techniques". A member with error ``e`` weighs
    ``learning_rate * log(1 / beta)``, where ``beta = e / (1 - e)``; a row then weighs
    ``beta ** (learning_rate * (1 - its loss))`` times as much, and all weights are brought to a sum of one. A member
    that is nowhere off weighs 1 and is the last. One with an error of 0.5 or more is dropped, and no other follows; if
    it is the first, it is kept alone, with a warning. The answer is the smallest prediction that at least half of the
    members' weight does not exceed. Everything else as ``AdaBoostClassifier``.

    Examples
    --------
    >>> import treewright as tw
    >>> X = [[float(x)] for x in range(100)]
    >>> est = tw.AdaBoostRegressor(n_estimators=20).fit(X, [x * x for x in range(100)])
    >>> bool(2300.0 < est.predict([[50.0]])[0] < 2700.0)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **AdaBoost._parameter_constraints,
        "loss": [Words({"linear", "square", "exponential"})],
    }
    _is_classification = False

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        loss: str = "linear",
        bootstrap: bool = False,
        keep_row_weights: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.bootstrap = bootstrap
        self.keep_row_weights = keep_row_weights
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the members, one after another; parameters and errors as ``AdaBoostClassifier.fit``.

        Parameters
        ----------
        X : table of n rows and p columns
        y : n finite numbers
        sample_weight : n numbers >= 0, optional

        Returns
        -------
        self

        Warns
        -----
        DataWarning
            The first member's error is 0.5 or more; whatever members warn of, once.
        """
        return self._fit(X, y, sample_weight)

    def predict(self, X: Any) -> np.ndarray:
        """Weighted median of the members' predictions.

        Parameters
        ----------
        X : table of n rows
            Columns are matched by name where fit knew names.

        Returns
        -------
        float64[n]

        Raises
        ------
        ColumnError
            Columns are missing, doubled or of another kind than at fit.
        """
        check_is_fitted(self, "estimators_")
        if "model_" in self.__dict__:
            return self.model_.predict(X, n_jobs=self.n_jobs, owner=type(self).__name__)
        return weighted_median(self._said(X), self.estimator_weights_)

    def _said(self, X: Any) -> np.ndarray:
        """What each member predicts, float64[n, n_members]."""
        n_rows, n_members = count_rows(X), len(self.estimators_)
        check_fits(8 * n_rows * n_members, f"{n_rows} x {n_members} predictions", "pass fewer rows")
        said, table = np.empty((n_rows, n_members)), self._arranged(X)
        if n_rows:  # not every base takes a table without rows
            for at, member in enumerate(self.estimators_):
                said[:, at] = numbers_said(member, table)
        return said

    def _staged(self, X: Any) -> Iterator[np.ndarray]:
        said = self._said(X)
        for n_members in range(1, said.shape[1] + 1):
            yield weighted_median(said[:, :n_members], self.estimator_weights_[:n_members])

    def _score_of(self, y: Any, said: np.ndarray, sample_weight: Any) -> float:
        return float(r2_score(y, said, sample_weight=sample_weight))

    def _default_base(self) -> DecisionTreeRegressor:
        return DecisionTreeRegressor(max_depth=3, n_jobs=self.n_jobs)

    def _encode_target(self, y: Any) -> Numbers:
        numbers = encode_numbers(y)
        self._warn_column_vector(numbers)
        return numbers

    def _plain_target(self, target: Numbers) -> np.ndarray:
        numbers: np.ndarray = target.values[:, 0]
        return numbers

    def _keep_target(self, target: Numbers) -> None:
        """Numbers have nothing to be known."""

    def _combine(self) -> Literal["vote", "median"]:
        return "median"

    def _judge(self, said: np.ndarray, plan: BoostPlan, weights: RowWeights) -> Verdict:
        true = plan.target[0][plan.rows.kept, 0]
        loss = cast("RegressionLoss", self.loss)
        return judge_numbers(said, true, weights, loss, float(self.learning_rate))

    def _first_is_poor(self, plan: BoostPlan, verdict: Verdict) -> Verdict:
        notices.warn(
            f"the first member ({type(plan.base).__name__}) has a mean loss of {verdict.error:.4g}, and boosting ends "
            "at 0.5: it is the only one; use a better base or another loss"
        )
        return replace(verdict, weight=1.0)
