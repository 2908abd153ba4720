"""What both bagging estimators share: check, draw, fit members, keep. In: a base estimator, a table. Out: members.

Callers: estimators.bagging, estimators.bagging_regressor.
"""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from sklearn.utils._param_validation import HasMethods, RealNotInt
from sklearn.utils.validation import check_is_fitted

from treewright.core import notices
from treewright.core.progress import compiling_told
from treewright.data.memory import check_fits
from treewright.data.take import count_rows, take_rows, warn_of_another_order
from treewright.data.target import Labels, Numbers, check_lengths, check_weights
from treewright.estimators import resolve
from treewright.estimators.bagging_model import model_of
from treewright.estimators.bagging_past import BagPast, parameters_of
from treewright.estimators.bagging_plan import MEMBER_BYTES, Plan, is_of_treewright, refuse_too_many
from treewright.estimators.bagging_rows import BagRows, columns_of_each, seed_of
from treewright.estimators.bagging_votes import Answer, Average, in_order
from treewright.estimators.base import Estimator
from treewright.estimators.constraints import Number
from treewright.estimators.members import Members
from treewright.estimators.side_by_side import answers
from treewright.exceptions import ParameterError
from treewright.model import Model
from treewright.version import __version__


class Bagging(Members):
    """An ensemble of copies of one estimator, each fitted on rows and columns of its own."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict", "get_params", "set_params"]), None],
        "n_estimators": [Number(Integral, 1, None, closed="left")],
        "max_samples": [Number(Integral, 1, None, closed="left"), Number(RealNotInt, 0.0, 1.0, closed="right"), None],
        "max_features": [Number(Integral, 1, None, closed="left"), Number(RealNotInt, 0.0, 1.0, closed="right")],
        "bootstrap": ["boolean"],
        "bootstrap_features": ["boolean"],
        "oob_score": ["boolean"],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    # Set by __init__ of the estimators.
    estimator: Any
    n_estimators: int
    max_samples: float | None
    max_features: float
    bootstrap: bool
    bootstrap_features: bool
    oob_score: bool
    warm_start: bool
    n_jobs: int | None
    random_state: Any
    verbose: int

    estimators_: list[Any]
    estimators_features_: list[Any]
    _past: BagPast
    model_: Model

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Check, draw, fit, keep. Nothing of the estimator changes before the last step."""
        Estimator._check_parameters(cast("Any", self))
        base, n_threads = self._checked_base(), self._threads()
        is_ours, n_rows = is_of_treewright(base), count_rows(X)
        columns = self._columns(X, n_rows, is_ours)
        target = self._encode_target(y)
        check_lengths(n_rows, target)
        weights = check_weights(sample_weight, n_rows)
        warn_of_another_order(X, y=y, sample_weight=sample_weight)
        before = self._members_to_keep()
        n_more = int(self.n_estimators) - len(before)
        check_fits(MEMBER_BYTES * n_more, f"{n_more} members", "use fewer members")
        is_moving = isinstance(self.random_state, np.random.RandomState)
        seed = self._past.seed if before and is_moving else seed_of(self.random_state)
        rows = BagRows(
            X, target, weights, max_samples=self.max_samples, replace=self.bootstrap, seed=seed, is_ours=is_ours
        )
        now = BagPast(parameters_of(self._parameters(), base), columns, rows, seed)
        if before:
            self._past.refuse_others(now)
        self._check_out_of_bag(rows)
        if n_more == 0:
            notices.warn("Warm-start fitting without increasing n_estimators does not fit new members")
        plan = Plan(
            base, X, self._plain_target(target), rows, columns,
            0 if columns is None else columns_of_each(self.max_features, len(columns)),
            self.bootstrap_features, seed, int(self.n_estimators), int(self.verbose),
        )  # fmt: skip
        with compiling_told():
            members = before + self._fit_members(plan, len(before), n_threads)
        self._keep(plan, base, members, before, target, n_rows)
        self._past = now
        if self.oob_score:
            self._score_out_of_bag(X, target, weights, n_threads)
        return self

    def _chooses_columns(self) -> bool:
        return bool(self.bootstrap_features or self.max_features != 1.0)

    def _fit_members(self, plan: Plan, n_before: int, n_threads: int) -> list[Any]:
        """New members, side by side."""
        n_more = plan.n_members - n_before

        def fit(task: int) -> Any:
            fitted = plan.fit(n_before + task)
            if task == 0:
                refuse_too_many(fitted, n_more)
            return fitted

        return answers(fit, n_more, n_threads, "members")

    def _keep(self, plan: Plan, base: Any, members: list[Any], before: list[Any], target: Any, n_rows: int) -> None:
        """Store the members and what scikit-learn expects beside them."""
        n_before = len(before)
        features = list(self.estimators_features_) if before else []
        features += [plan.columns_of(member) for member in range(n_before, len(members))]
        self.estimator_, self.estimators_, self.estimators_features_ = base, members, features
        of_one_fit = ("feature_names_in_", "n_features_in_", "model_", "oob_score_", "oob_decision_function_")
        for name in (*of_one_fit, "oob_prediction_"):
            self.__dict__.pop(name, None)
        if plan.columns is not None:
            schema = plan.columns.schema
            self.n_features_in_ = len(schema)
            if schema.named and all(isinstance(name, str) for name in schema.names):
                self.feature_names_in_ = np.array(schema.names, dtype=object)
        self._keep_target(target)
        facts = {
            "algorithm": "bagging",
            "n_samples": n_rows,
            "parameters": resolve.plain_parameters(self.get_params(deep=False)),
            "version": __version__,
        }
        model = model_of(members, features, plan.columns, target.names, self._combine(), facts)
        self._why_no_model = model if isinstance(model, str) else None
        if isinstance(model, Model):
            self.model_ = model

    # After the fit.

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows of each member, int64[n_draws], ascending; drawn anew at each call, not kept."""
        check_is_fitted(self, "estimators_")
        samples, rows = [], self._past.rows
        for member in range(len(self.estimators_)):
            positions, times = rows.drawn(member)
            repeats = np.ones(len(positions), np.int64) if rows.own_weights is not None else times.astype(np.int64)
            samples.append(np.repeat(positions, repeats))
        return samples

    @property
    def feature_importances_(self) -> np.ndarray:
        """float64[p]: share of the decrease of impurity that each column brought, the mean over the trees."""
        return self._fitted().feature_importances

    def _average(self, X: Any) -> Answer:
        """The mean of what the members say of each row."""
        check_is_fitted(self, "estimators_")
        n_rows = count_rows(X)
        if not n_rows:  # not every base takes a table without rows
            self._arranged(X)
            return [np.zeros(shape) for shape in self._shapes(0)]
        average = Average(self._shapes(n_rows))
        self._ask(X, lambda _, said: average.add(said))
        return average.means()

    def _arranged(self, X: Any) -> Any:
        """A table as the members know it; ours find all of its columns themselves."""
        columns = self._past.columns
        if columns is None:
            return X
        if is_of_treewright(self.estimator_) and all(columns.is_every(chosen) for chosen in self.estimators_features_):
            return X
        return columns.arranged(X, type(self).__name__)

    def _ask(self, X: Any, take: Any, say: Any = None) -> None:
        """Have every member say something of X."""
        say = self._say if say is None else say
        table, columns = self._arranged(X), self._past.columns

        def work(member: int) -> Any:
            part = table if columns is None else columns.part_of(table, self.estimators_features_[member])
            return say(self.estimators_[member], part)

        in_order(work, len(self.estimators_), self._threads(), take)

    # Out of bag.

    def _check_out_of_bag(self, rows: BagRows) -> None:
        """Refuse an out-of-bag score of members that leave nothing out."""
        if self.oob_score and rows.leaves_none_out:
            raise ParameterError(
                "oob_score=True needs rows that members leave out, and each gets all of them: give bootstrap=True, "
                "or a smaller max_samples"
            )

    def _score_out_of_bag(self, X: Any, target: Any, weights: np.ndarray | None, n_threads: int) -> None:
        """Let every member predict the rows that it was not fitted on."""
        average = Average(self._shapes(len(target[0])))

        def work(member: int) -> Any:
            rows = self._past.rows.left_out(member)
            if not len(rows):
                return None
            part, columns = take_rows(X, rows), self._past.columns
            if columns is not None:
                part = columns.part_of(part, self.estimators_features_[member])
            return rows, self._say(self.estimators_[member], part)

        def take(_: int, said: Any) -> None:
            if said is not None:
                average.add(said[1], said[0])

        in_order(work, len(self.estimators_), n_threads, take)
        counts = np.ones(len(target[0]), bool) if weights is None else weights > 0
        judged = np.flatnonzero(counts & (average.times > 0))
        n_lacking = int(counts.sum()) - len(judged)
        if n_lacking:
            notices.warn(
                f"{n_lacking} of {len(target[0])} row(s) are in the sample of every member and have no out-of-bag "
                "prediction (nan): use more members"
            )
        self._keep_out_of_bag(average.means(), target, judged, None if weights is None else weights[judged])

    # What classifier and regressor differ in.

    @abstractmethod
    def _encode_target(self, y: Any) -> Labels | Numbers:
        """The target as codes or numbers."""

    @abstractmethod
    def _plain_target(self, target: Any) -> np.ndarray:
        """The target as members get it."""

    @abstractmethod
    def _n_outputs(self, target: Any) -> int:
        """How many targets there are."""

    @abstractmethod
    def _keep_target(self, target: Any) -> None:
        """Store what is known of the target."""

    @abstractmethod
    def _combine(self) -> Literal["mean", "vote"]:
        """How the members' answers become one."""

    @abstractmethod
    def _shapes(self, n_rows: int) -> list[tuple[int, int]]:
        """Shape of each array of an answer."""

    @abstractmethod
    def _say(self, member: Any, X: Any) -> Answer:
        """What a member says of each row."""

    @abstractmethod
    def _keep_out_of_bag(self, means: Answer, target: Any, judged: np.ndarray, weights: np.ndarray | None) -> None:
        """Store the out-of-bag answers and their score."""
