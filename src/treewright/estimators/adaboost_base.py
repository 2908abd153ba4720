"""What both AdaBoost estimators share: check, boost, keep. In: a base, a table, a target. Out: members, their weights.

Callers: estimators.adaboost, estimators.adaboost_regressor.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import check_is_fitted

from treewright.boosting.adaboost import RowWeights, Verdict
from treewright.boosting.adaboost_rounds import AdaBoostRound, AdaBoostRounds
from treewright.core import notices
from treewright.core.progress import compiling_told
from treewright.data.memory import check_fits
from treewright.data.take import count_rows, warn_of_another_order
from treewright.data.target import Labels, Numbers, check_lengths, check_weights
from treewright.estimators import resolve
from treewright.estimators.adaboost_members import BoostPlan, Fitting, fitting_of
from treewright.estimators.bagging_model import model_of
from treewright.estimators.bagging_past import BagPast, parameters_of
from treewright.estimators.bagging_plan import MEMBER_BYTES, is_of_treewright, refuse_too_many
from treewright.estimators.bagging_rows import BagRows, seed_of
from treewright.estimators.base import Estimator
from treewright.estimators.constraints import Number
from treewright.estimators.members import Members
from treewright.exceptions import DataError
from treewright.model import Model
from treewright.version import __version__


@dataclass(frozen=True, eq=False)
class _Boosted:
    """Members with what they were judged by."""

    members: list[Any]
    rounds: list[AdaBoostRound]
    weights: RowWeights
    is_over: bool  # no further member would be kept


class AdaBoost(Members):
    """An ensemble whose members see rows weighed by what those before them got wrong."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict", "get_params", "set_params"]), None],
        "n_estimators": [Number(Integral, 1, None, closed="left")],
        "learning_rate": [Number(Real, 0.0, None, closed="neither")],
        "bootstrap": ["boolean"],
        "keep_row_weights": ["boolean"],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    # Set by __init__ of the estimators.
    learning_rate: float
    bootstrap: bool
    keep_row_weights: bool
    random_state: Any

    rounds_: AdaBoostRounds
    estimator_weights_: np.ndarray
    estimator_errors_: np.ndarray
    _past: BagPast
    _boosted: _Boosted

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Check, boost, keep. Nothing of the estimator changes before the last step."""
        Estimator._check_parameters(cast("Any", self))
        base, n_threads = self._checked_base(), self._threads()
        is_ours, n_rows = is_of_treewright(base), count_rows(X)
        columns = self._columns(X, n_rows, is_ours)
        target = self._encode_target(y)
        if self._n_outputs(target) != 1:
            raise DataError(
                f"y has {self._n_outputs(target)} outputs, {type(self).__name__} boosts one: fit each alone"
            )
        check_lengths(n_rows, target)
        weights = check_weights(sample_weight, n_rows)
        warn_of_another_order(X, y=y, sample_weight=sample_weight)
        before = self._members_to_keep()
        n_more = int(self.n_estimators) - len(before)
        check_fits(MEMBER_BYTES * n_more, f"{n_more} members", "use fewer members")
        if self.keep_row_weights:
            check_fits(8 * n_rows * int(self.n_estimators), f"{n_rows} weights of {self.n_estimators} rounds")
        is_moving = isinstance(self.random_state, np.random.RandomState)
        seed = self._past.seed if before and is_moving else seed_of(self.random_state)
        rows = BagRows(X, target, weights, max_samples=None, replace=True, seed=seed, is_ours=is_ours)
        now = BagPast(parameters_of(self._parameters(), base), columns, rows, seed)
        if before:
            self._past.refuse_others(now)
            if n_more == 0:
                notices.warn("Warm-start fitting without increasing n_estimators does not fit new members")
        own = None if weights is None else weights[rows.kept]
        begin = self._boosted if before else _Boosted([], [], RowWeights(own, len(rows.kept)), False)
        plan = BoostPlan(
            base, X, self._plain_target(target), target, rows, weights, self.bootstrap, seed, n_threads
        )  # fmt: skip
        with compiling_told():
            boosted = self._boost(plan, begin)
        self._keep(boosted, now, base, target, n_rows)
        return self

    def _boost(self, plan: BoostPlan, begin: _Boosted) -> _Boosted:
        """Round after round, until there are enough members or no further one would help."""
        members, rounds = list(begin.members), list(begin.rounds)
        weights, is_over = begin.weights, begin.is_over
        n_before, n_members = len(members), int(self.n_estimators)
        if is_over or n_before == n_members:
            return begin
        fitting = fitting_of(plan)
        with notices.listening() as heard:
            while len(members) < n_members and not is_over:
                fitted, verdict = self._round(fitting, plan, weights, len(members))
                if len(members) == n_before:
                    refuse_too_many(fitted, n_members - n_before)
                kept = self._spread(plan, weights) if self.keep_row_weights else None
                rounds.append(AdaBoostRound(len(rounds) + 1, verdict.error, verdict.weight, verdict.is_kept, kept))
                if verdict.is_kept:
                    members.append(fitted)
                if verdict.factors is not None:
                    weights = weights.times(verdict.factors)
                is_over = verdict.is_last
        heard.tell(len(rounds) - len(begin.rounds), "members")
        return _Boosted(members, rounds, weights, is_over)

    def _round(self, fitting: Fitting, plan: BoostPlan, weights: RowWeights, member: int) -> tuple[Any, Verdict]:
        """Fit a member and judge it."""
        try:
            fitted = fitting.fit(member, weights)
            said = fitting.said(fitted)
        except Exception as error:
            error.add_note(f"while fitting member {member} of {self.n_estimators} ({type(plan.base).__name__})")
            raise
        verdict = self._judge(said, plan, weights)
        return fitted, verdict if verdict.is_kept or member else self._first_is_poor(plan, verdict)

    @staticmethod
    def _spread(plan: BoostPlan, weights: RowWeights) -> np.ndarray:
        """Weights of all rows of the table; 0 for those that have none."""
        shares = np.zeros(plan.rows.n_rows)
        shares[plan.rows.kept] = weights.shares
        return shares

    def _keep(self, boosted: _Boosted, now: BagPast, base: Any, target: Any, n_rows: int) -> None:
        """Store the members and what scikit-learn expects beside them."""
        self._boosted, self._past = boosted, now
        self.estimator_, self.estimators_, self.rounds_ = base, list(boosted.members), AdaBoostRounds(boosted.rounds)
        kept = [one for one in boosted.rounds if one.is_kept]
        self.estimator_weights_ = np.array([one.weight for one in kept])
        self.estimator_errors_ = np.array([one.error for one in kept])
        for name in ("feature_names_in_", "n_features_in_", "model_", "row_weights_"):
            self.__dict__.pop(name, None)
        if self.keep_row_weights:
            self.row_weights_ = np.array([one.row_weights for one in boosted.rounds])
        columns = now.columns
        if columns is not None:
            self.n_features_in_ = len(columns)
            if columns.schema.named and all(isinstance(name, str) for name in columns.schema.names):
                self.feature_names_in_ = np.array(columns.schema.names, dtype=object)
        self._keep_target(target)
        facts = {
            "algorithm": "adaboost",
            "n_samples": n_rows,
            "parameters": resolve.plain_parameters(self.get_params(deep=False)),
            "version": __version__,
        }
        every = [np.arange(0 if columns is None else len(columns))] * len(self.estimators_)
        model = model_of(
            self.estimators_, every, columns, target.names, self._combine(), facts, self.estimator_weights_.copy()
        )
        self._why_no_model = model if isinstance(model, str) else None
        if isinstance(model, Model):
            self.model_ = model

    # After the fit.

    @property
    def feature_importances_(self) -> np.ndarray:
        """float64[p]: those of the members, averaged by their weights; they sum to one. Only where members have any."""
        check_is_fitted(self, "estimators_")
        if "model_" in self.__dict__:
            return self.model_.feature_importances
        lacking = [type(one).__name__ for one in self.estimators_ if not hasattr(one, "feature_importances_")]
        if lacking:
            raise AttributeError(
                f"{lacking[0]} has no feature_importances_: use sklearn.inspection.permutation_importance"
            )
        each = np.array([one.feature_importances_ for one in self.estimators_], np.float64)
        added: np.ndarray = (each * (self.estimator_weights_ / self.estimator_weights_.max())[:, None]).sum(axis=0)
        total = added.sum()
        return added / total if total > 0 else added

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Predict with the first member, with the first two, and so on.

        Parameters
        ----------
        X : table of n rows

        Yields
        ------
        ndarray[n]
            As ``predict``.
        """
        check_is_fitted(self, "estimators_")
        if "model_" in self.__dict__:
            return self.model_.staged_predict(X, n_jobs=self.n_jobs, owner=type(self).__name__)
        return self._staged(X)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """The score of the first member, of the first two, and so on.

        Parameters
        ----------
        X, y, sample_weight
            As for ``score``.

        Yields
        ------
        float
            As ``score``.
        """
        return (self._score_of(y, said, sample_weight) for said in self.staged_predict(X))

    def _arranged(self, X: Any) -> Any:
        """A table as the members know it; ours find their columns themselves."""
        columns = self._past.columns
        if columns is None or is_of_treewright(self.estimator_):
            return X
        return columns.arranged(X, type(self).__name__)

    def _n_outputs(self, target: Labels | Numbers) -> int:
        """How many targets there are."""
        return int(target[0].shape[1])

    # What classifier and regressor differ in.

    @abstractmethod
    def _encode_target(self, y: Any) -> Labels | Numbers:
        """The target as codes or numbers."""

    @abstractmethod
    def _plain_target(self, target: Any) -> np.ndarray:
        """The target as members get it."""

    @abstractmethod
    def _keep_target(self, target: Any) -> None:
        """Store what is known of the target."""

    @abstractmethod
    def _combine(self) -> Literal["vote", "median"]:
        """How the members' answers become one."""

    @abstractmethod
    def _judge(self, said: np.ndarray, plan: BoostPlan, weights: RowWeights) -> Verdict:
        """What becomes of a member that says this of the rows with weight."""

    @abstractmethod
    def _first_is_poor(self, plan: BoostPlan, verdict: Verdict) -> Verdict:
        """What becomes of a first member that would be dropped."""

    @abstractmethod
    def _staged(self, X: Any) -> Iterator[np.ndarray]:
        """Predictions of the first member, of the first two, and so on; asked of the members themselves."""

    @abstractmethod
    def _score_of(self, y: Any, said: np.ndarray, sample_weight: Any) -> float:
        """The score of predictions."""
