"""AdaBoost for scikit-learn: copies of one estimator, each on rows reweighted by the errors of those before it.

Single trees of Treewright are grown on a table that is encoded and sorted (or binned) once; any other base fits and
predicts the table itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, cast

import numpy as np
from sklearn.base import clone
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from treewright.boosting.adaboost import (
    AdaBoostRound,
    AdaBoostRounds,
    RegressionLoss,
    RowWeights,
    Verdict,
    judge_labels,
    judge_numbers,
)
from treewright.core import notices
from treewright.core.elementary import log_of
from treewright.core.progress import bar_where_nobody_listens, compiling_announced, counted
from treewright.data.dataset import factors_for
from treewright.data.memory import check_fits
from treewright.data.take import count_rows, take_rows, warn_of_another_order
from treewright.data.target import Labels, Numbers, check_lengths, check_weights, encode_labels, factors_by_code, recode
from treewright.estimators import signatures
from treewright.estimators.base import ScoredByClasses, ScoredByNumbers
from treewright.estimators.documentation import as_model
from treewright.estimators.members import (
    MEMBER_BYTES,
    Members,
    is_of_treewright,
    metadata_of_rows,
    numbers_of,
    refuse_too_many,
)
from treewright.estimators.trees import DecisionTreeClassifier, DecisionTreeRegressor, SingleTree
from treewright.exceptions import DataError, ParameterError
from treewright.learn.members import BagRows, BagWarmStart, model_of_members, parameters_of, seeded
from treewright.learn.params import CLASSES, NUMBERS
from treewright.learn.registry import learner_of
from treewright.learn.settings import seed_of
from treewright.learn.single import TreeParams
from treewright.learn.train import telling_of_a_swap, with_every_cell
from treewright.model import Model
from treewright.predict.ensemble import predict_codes, predict_numbers
from treewright.trees.data import weighted_median
from treewright.version import __version__


@dataclass(frozen=True)
class AdaBoostSettings:
    """What all members of a fit share.

    Attributes
    ----------
    base : estimator
        Cloned for each member, never fitted itself.
    X : table of n rows
    y : ndarray[n]
    target : Labels or Numbers of n rows
    rows : BagRows
        The rows with weight, and samples of them.
    weights : float64[n] or None
        Before the first round.
    bootstrap : bool
        Whether a member is fitted on rows sampled by their weights, not on weights.
    seed, n_threads : int
    metadata : mapping
        Further arguments of the members' ``fit``.
    """

    base: Any
    X: Any
    y: np.ndarray
    target: Labels | Numbers
    rows: BagRows
    weights: np.ndarray | None
    bootstrap: bool
    seed: int
    n_threads: int
    metadata: Mapping[str, Any]


class Fitting(ABC):
    """A way to fit members and to get their predictions for the training rows.

    Parameters
    ----------
    plan : AdaBoostSettings
    """

    def __init__(self, plan: AdaBoostSettings) -> None:
        self.plan = plan

    @abstractmethod
    def fit(self, member: int, weights: RowWeights) -> Any:
        """A fitted member, whose number is ``member``; ``weights`` are of the rows ``kept``."""

    @abstractmethod
    def predicted(self, fitted: Any) -> np.ndarray:
        """A member's predictions for the rows ``kept``: int32[m] codes among the classes of y, or float64[m]."""


class OnEncodedTable(Fitting):
    """Single trees of Treewright, on one encoded table."""

    def __init__(self, plan: AdaBoostSettings) -> None:
        super().__init__(plan)
        base = clone(plan.base)
        class_weight = getattr(base, "class_weight", None)
        if class_weight is not None:
            base.set_params(class_weight=None)  # the rounds begin with the weights of the rows only
        params = base._check_parameters()
        rows: Any = with_every_cell(base._dataset(plan.X, plan.y, params, plan.weights), params)
        # Once: "balanced" by the weights of a round would undo the reweighting of classes by the round.
        factors = None if class_weight is None else factors_for(class_weight, rows.target, rows.weights)
        self._rows = replace(rows, weights=None, sample_weight=None, class_factors=factors, kept=None).shared(
            keeps_bins=True
        )

    def fit(self, member: int, weights: RowWeights) -> Any:
        """As ``Fitting.fit``."""
        plan = self.plan
        estimator = seeded(clone(plan.base), plan.seed, member)
        params = estimator._check_parameters()
        own, unit = weights.as_rows, 1.0
        if plan.bootstrap:
            own = plan.rows.counts_by_chance(member, weights.as_counts()[0]).astype(np.float64)
        elif _is_blind_to_scale(params):
            own, unit = weights.as_counts()
        rows = self._rows.weighed(own)
        trained = learner_of(params)(rows, params, plan.n_threads)
        if unit != 1.0:
            tree: Any = trained.model.trees[0]
            counts = {"value": tree.value * unit} if rows.classes else {}
            tree = replace(tree, weight=tree.weight * unit, **counts)
            trained = replace(trained, model=replace(trained.model, trees=(tree,)))
        estimator._keep(rows, params, trained)
        estimator._rows = None  # they would be kept once for each member
        return estimator

    def predicted(self, fitted: Any) -> np.ndarray:
        """As ``Fitting.predicted``."""
        predict = predict_codes if isinstance(self.plan.target, Labels) else predict_numbers
        predicted: np.ndarray = predict(fitted.model_, self._rows.matrix, self.plan.n_threads)[:, 0]
        return predicted


class OnRawTable(Fitting):
    """Any other base, on the table as it was given."""

    def __init__(self, plan: AdaBoostSettings) -> None:
        super().__init__(plan)
        self._takes_weights = has_fit_parameter(plan.base, "sample_weight")
        if not (self._takes_weights or plan.bootstrap):
            raise ParameterError(
                f"fit of {type(plan.base).__name__} takes no sample_weight: set bootstrap=True, which samples rows by "
                "their weights, or use another base"
            )
        is_every = len(plan.rows.kept) == plan.rows.n_rows
        self._X = plan.X if is_every else take_rows(plan.X, plan.rows.kept)
        self._y = plan.y if is_every else plan.y[plan.rows.kept]
        self._metadata = metadata_of_rows(plan.metadata, plan.rows.kept, plan.rows.n_rows)
        self._class_weight: dict[Any, float] | None = None
        if is_of_treewright(plan.base) and getattr(plan.base, "class_weight", None) == "balanced":
            # Ours balance by the weights that they get: use those before the first round, as on encoded tables.
            labels = cast("Labels", plan.target)
            factors = factors_by_code(["balanced"], labels.codes, labels.classes, plan.weights)[0]
            self._class_weight = dict(zip(labels.classes[0].tolist(), factors.tolist(), strict=True))

    def fit(self, member: int, weights: RowWeights) -> Any:
        """As ``Fitting.fit``."""
        plan = self.plan
        estimator = seeded(clone(plan.base), plan.seed, member)
        if self._class_weight is not None:
            estimator.set_params(class_weight=self._class_weight)
        is_ours = is_of_treewright(plan.base)
        if not plan.bootstrap:
            own = weights.as_rows if is_ours else weights.shares
            return estimator.fit(self._X, self._y, sample_weight=own, **self._metadata)
        counts = plan.rows.counts_by_chance(member, weights.as_counts()[0])
        if is_ours and self._takes_weights:  # levels and classes that the sample happens to miss stay known
            return estimator.fit(self._X, self._y, sample_weight=counts.astype(np.float64), **self._metadata)
        drawn = plan.rows.repeated(counts)
        more = metadata_of_rows(plan.metadata, drawn, plan.rows.n_rows)
        return estimator.fit(take_rows(plan.X, drawn), plan.y[drawn], **more)

    def predicted(self, fitted: Any) -> np.ndarray:
        """As ``Fitting.predicted``."""
        target = self.plan.target
        if isinstance(target, Labels):
            return codes_predicted(fitted, self._X, target.classes)
        predicted = numbers_predicted(fitted, self._X)
        n_odd = int((~np.isfinite(predicted)).sum())
        if n_odd:
            raise DataError(f"{type(fitted).__name__} predicts {n_odd} numbers that are not finite: use another base")
        return predicted


def fitting_of(plan: AdaBoostSettings) -> Fitting:
    """The way in which members of this base are fitted."""
    base = plan.base
    # A class made from ours by inheritance may fit in its own way.
    is_own = isinstance(base, SingleTree) and type(base).__module__.partition(".")[0] == "treewright"
    return OnEncodedTable(plan) if is_own else OnRawTable(plan)


def codes_predicted(member: Any, X: Any, classes: tuple[np.ndarray, ...]) -> np.ndarray:
    """Classes that a member predicts, int32[n], as places among all classes."""
    return recode(encode_labels(np.asarray(member.predict(X))), classes)[:, 0]


def numbers_predicted(member: Any, X: Any) -> np.ndarray:
    """Numbers that a member predicts, float64[n]."""
    return numbers_of(member, X, 1)[0][:, 0]


def _is_blind_to_scale(params: Any) -> bool:
    """Whether a common factor of the weights only changes the weights of the tree's nodes."""
    if not isinstance(params, TreeParams) or callable(params.criterion) or params.grow_trace:
        return False
    return params.max_p_value is None


@dataclass(frozen=True, eq=False)
class _Boosted:
    """Members with their weights and errors."""

    members: list[Any]
    rounds: list[AdaBoostRound]
    weights: RowWeights
    is_over: bool  # no further member would be kept


class AdaBoost(Members):
    """An ensemble whose members are fitted on rows reweighted by the errors of those before them.

    Attributes
    ----------
    estimator_weights_, estimator_errors_ : float64[n_members]
        Weight of each member, above 0, and its error: the weighted misclassification rate, or the mean loss of the
        rows, by their weights.
    rounds_ : AdaBoostRounds
        The same as a table to print, a dropped last member included; for at most 12 rows with the weights of the rows,
        if these are kept.
    row_weights_ : float64[n_rounds, n]
        Only with ``keep_row_weights=True``: the weights of the rows in each round; each line adds up to one.
    feature_importances_ : float64[p]
        Those of the members, averaged by their weights; only if they have any.
    """

    def _fit(self, X: Any, y: Any, sample_weight: Any, given: Mapping[str, Any]) -> Self:
        """Check, boost, keep. Nothing of the estimator changes before the last step."""
        params = self._check_parameters()
        metadata = self._routed("fit", given)
        base, n_threads = self._checked_base(), self._threads()
        with telling_of_a_swap(X, y):
            is_ours, n_rows = is_of_treewright(base), count_rows(X)
            columns = self._columns(X, n_rows, is_ours)
            target = self._encode_target(y)
            if target[0].shape[1] != 1:
                raise DataError(f"y has {target[0].shape[1]} outputs, {type(self).__name__} needs one: fit each alone")
        check_lengths(n_rows, target)
        params.positive_facts(getattr(target, "classes", ()))
        self._check_classes(base, target)
        weights = check_weights(sample_weight, n_rows)
        warn_of_another_order(X, y=y, sample_weight=sample_weight)
        before = self._members_to_keep()
        n_more = int(self.n_estimators) - len(before)
        check_fits(MEMBER_BYTES * n_more, f"{n_more} members", "use fewer members")
        if self.keep_row_weights:
            check_fits(8 * n_rows * int(self.n_estimators), f"{n_rows} weights of {self.n_estimators} rounds")
        is_moving = isinstance(self.random_state, np.random.RandomState)
        seed = self._warm.seed if before and is_moving else seed_of(self.random_state)
        rows = BagRows(X, target, weights, max_samples=None, replace=True, seed=seed, is_ours=is_ours)
        now = BagWarmStart(parameters_of(self._parameters(), base), columns, rows, seed)
        if before:
            self._warm.refuse_others(now)
            if n_more == 0:
                notices.warn("Warm-start fitting without increasing n_estimators does not fit new members")
        own = None if weights is None else weights[rows.kept]
        begin = self._boosted if before else _Boosted([], [], RowWeights(own, len(rows.kept)), False)
        plan = AdaBoostSettings(
            base, X, self._plain_target(target), target, rows, weights, self.bootstrap, seed, n_threads,
            metadata,
        )  # fmt: skip
        with compiling_announced(), bar_where_nobody_listens(bool(self.verbose)):
            boosted = self._boost(plan, begin)
        self._keep_members(boosted, now, base, target, n_rows, params)
        return self

    def _boost(self, plan: AdaBoostSettings, begin: _Boosted) -> _Boosted:
        """Round after round, until there are enough members or no further one would help."""
        members, rounds = list(begin.members), list(begin.rounds)
        weights, is_over = begin.weights, begin.is_over
        n_before, n_members = len(members), int(self.n_estimators)
        if is_over or n_before == n_members:
            return begin
        fitting = fitting_of(plan)
        with notices.listening() as heard, counted(n_members, "members") as count:
            for _ in members:
                count()
            while len(members) < n_members and not is_over:
                fitted, verdict = self._round(fitting, plan, weights, len(members))
                if len(members) == n_before:
                    refuse_too_many(fitted, n_members - n_before)
                kept = self._spread(plan, weights) if self.keep_row_weights else None
                rounds.append(AdaBoostRound(len(rounds) + 1, verdict.error, verdict.weight, verdict.is_kept, kept))
                if verdict.is_kept:
                    members.append(fitted)
                    count()
                if verdict.factors is not None:
                    weights = weights.times(verdict.factors)
                is_over = verdict.is_last
        heard.tell(len(rounds) - len(begin.rounds), "members")
        return _Boosted(members, rounds, weights, is_over)

    def _round(self, fitting: Fitting, plan: AdaBoostSettings, weights: RowWeights, member: int) -> tuple[Any, Verdict]:
        """Fit a member and compute its error and weight."""
        try:
            fitted = fitting.fit(member, weights)
            predicted = fitting.predicted(fitted)
        except Exception as error:
            error.add_note(f"while fitting member {member} of {self.n_estimators} ({type(plan.base).__name__})")
            raise
        verdict = self._judge(predicted, plan, weights)
        return fitted, verdict if verdict.is_kept or member else self._first_is_poor(plan, verdict)

    @staticmethod
    def _spread(plan: AdaBoostSettings, weights: RowWeights) -> np.ndarray:
        """Weights of all rows of the table; 0 for those that have none."""
        shares = np.zeros(plan.rows.n_rows)
        shares[plan.rows.kept] = weights.shares
        return shares

    def _keep_members(
        self, boosted: _Boosted, now: BagWarmStart, base: Any, target: Any, n_rows: int, params: Any
    ) -> None:
        """Store the members and the other attributes that scikit-learn expects."""
        self._boosted, self._warm = boosted, now
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
            self._keep_columns(columns.schema, len(columns))
        self._keep_target(target)
        facts = {
            "algorithm": params.algorithm_name,
            "n_samples": n_rows,
            "parameters": params.facts(),
            "version": __version__,
        }
        every = [np.arange(0 if columns is None else len(columns))] * len(self.estimators_)
        model = model_of_members(
            self.estimators_, every, columns, target.names, self._combine(), facts, self.estimator_weights_.copy()
        )
        self._why_no_model = model if isinstance(model, str) else None
        if isinstance(model, Model):
            self.model_ = self._finished(model, None)

    # After the fit.

    @property
    def feature_importances_(self) -> np.ndarray:
        """float64[p]: those of the members, averaged by their weights; they sum to one. Only if members have any."""
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
        warn_of_another_order(X, y=y, sample_weight=sample_weight)
        return (self._score_of(y, predicted, sample_weight) for predicted in self.staged_predict(X))

    def _arranged(self, X: Any) -> Any:
        """A table in the form that the members expect; ours find their columns themselves."""
        columns = self._warm.columns
        if columns is None or is_of_treewright(self.estimator_):
            return X
        return columns.arranged(X, type(self).__name__)

    # What classifier and regressor differ in.

    @abstractmethod
    def _plain_target(self, target: Any) -> np.ndarray:
        """The target that is passed to members."""

    @abstractmethod
    def _keep_target(self, target: Any) -> None:
        """Store the attributes of the target."""

    @abstractmethod
    def _combine(self) -> Literal["vote", "median"]:
        """How the members' predictions are combined."""

    @abstractmethod
    def _judge(self, predicted: np.ndarray, plan: AdaBoostSettings, weights: RowWeights) -> Verdict:
        """The verdict on a member with these predictions for the rows with weight."""

    @abstractmethod
    def _first_is_poor(self, plan: AdaBoostSettings, verdict: Verdict) -> Verdict:
        """The verdict on a first member that would be dropped."""

    @abstractmethod
    def _staged(self, X: Any) -> Iterator[np.ndarray]:
        """Predictions of the first member, of the first two, and so on, from the members themselves."""

    @abstractmethod
    def _score_of(self, y: Any, predicted: np.ndarray, sample_weight: Any) -> float:
        """The score of predictions."""


class AdaBoostClassifier(signatures.AdaBoostClassifier, ScoredByClasses, AdaBoost):
    """AdaBoost for classification: classifiers fitted one after another on reweighted rows, combined by weighted vote.

    Attributes
    ----------
    classes_ : ndarray[n_classes]
    n_classes_ : int

    Notes
    -----
    SAMME: Zhu, Zou, Rosset and Hastie 2009, "Multi-class AdaBoost"; for two classes AdaBoost.M1 (Freund and Schapire
    1997). A member with error ``e`` among K classes weighs ``learning_rate * (log((1 - e) / e) + log(K - 1))``; the
    weights of the rows that it misclassifies are then multiplied by the exponential of that, and all weights are scaled
    to a sum of one. A member without an error weighs 1 and is the last. One with an error of ``1 - 1/K`` or more is no
    better than chance: it is dropped, and no other follows; if it is the first, fit raises an error. K counts the
    classes that have weight. No row's share falls below 2**-52.

    Members of Treewright's own get weights that add up to the number of rows, other members weights that add up to one.
    Sums of weights are exact: neither the order of the rows nor the number of threads changes anything, and with trees
    a row of weight k is k equal rows while weights are whole numbers and no parameter counts rows
    (``min_samples_leaf``, ``min_samples_split``). Single trees of Treewright are grown on a table that is encoded and
    sorted once; with ``splitter="hist"`` the bins are those of the first tree.

    Examples
    --------
    >>> import treewright as tw
    >>> X = [[x] for x in range(10)]
    >>> est = tw.AdaBoostClassifier(n_estimators=3).fit(X, list("+++---+++-"))
    >>> print(est.rounds_)
    round   error  weight
        1  0.3000  0.8473
        2  0.2143  1.2993
        3  0.1818  1.5041
    >>> float(est.score(X, list("+++---+++-")))
    1.0
    """

    _task = CLASSES
    _one_target = True

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **metadata: Any) -> Self:
        """Fit the members, one after another.

        Parameters
        ----------
        X : table of n rows and p columns
            Whatever the base accepts. Never modified.
        y : n labels of any hashable type
        sample_weight : n numbers >= 0, optional
            Weights before the first round. Rows of weight 0 are left out, but their labels are known.

        Returns
        -------
        self

        Raises
        ------
        DataError
            A column, cell, label or weight was refused, or there are several outputs; the message says which and what
            to do.
        ParameterError
            A parameter is outside its range; ``estimator`` is not a classifier, takes no weights, or is no better than
            chance on the given weights; under ``warm_start`` the table or a parameter is different from before.
        TooLargeError
            The members would not fit in memory.
        Exception
            Errors of the base, with a note that names the member.

        Warns
        -----
        DataWarning
            Warnings of members, each once.
        """
        return self._fit(X, y, sample_weight, metadata)

    @as_model
    def predict(self, X: Any) -> np.ndarray:
        """Predict the class with the largest weight of votes, the first of equals."""
        check_is_fitted(self, "estimators_")
        if "model_" in self.__dict__:
            return self.model_.predict(X, n_jobs=self.n_jobs, owner=type(self).__name__)
        labels: np.ndarray = self.classes_.take(self.predict_proba(X).argmax(axis=1))
        return labels

    def predict_proba(self, X: Any) -> np.ndarray:
        """The share of the members' weight that votes for each class.

        Returns
        -------
        float64[n, n_classes]
            In the order of ``classes_``; rows sum to one.
        """
        check_is_fitted(self, "estimators_")
        if "model_" in self.__dict__:
            return cast("np.ndarray", self.model_.predict_proba(X, n_jobs=self.n_jobs, owner=type(self).__name__))
        shares = np.empty((0, 0))
        for shares in self._shares(X):  # noqa: B007 - the last is that of all
            pass
        return shares

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Natural logarithm of ``predict_proba``; -inf for a class that no member votes for."""
        with np.errstate(divide="ignore"):
            logarithms: np.ndarray = log_of(self.predict_proba(X))
        return logarithms

    def decision_function(self, X: Any) -> np.ndarray:
        """Decision values of the vote: its margin, or one value per class.

        Returns
        -------
        float64[n] or float64[n, n_classes]
            Two classes: share of the second minus share of the first, the *margin*, from -1 to 1. More classes: the
            mean of codes that are 1 for the class that a member votes for and ``-1/(n_classes - 1)`` for the others.
        """
        return self._decided(self.predict_proba(X))

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Vote shares of the first member, of the first two, and so on.

        Parameters
        ----------
        X : table of n rows

        Yields
        ------
        float64[n, n_classes]
            As ``predict_proba``.
        """
        check_is_fitted(self, "estimators_")
        if "model_" in self.__dict__:
            staged = self.model_.staged_predict_proba(X, n_jobs=self.n_jobs, owner=type(self).__name__)
            return cast("Iterator[np.ndarray]", staged)
        return self._shares(X)

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Decision values of the first member, of the first two, and so on; as ``decision_function``."""
        return map(self._decided, self.staged_predict_proba(X))

    def _decided(self, shares: np.ndarray) -> np.ndarray:
        """Decision values from vote shares."""
        n_classes = shares.shape[1]
        if n_classes == 2:
            margin: np.ndarray = shares[:, 1] - shares[:, 0]
            return margin
        return shares - (1.0 - shares) / max(n_classes - 1, 1)

    def _shares(self, X: Any) -> Iterator[np.ndarray]:
        """Shares of the votes after each member, from the members themselves."""
        sums, total = np.zeros((count_rows(X), self.n_classes_)), 0.0
        table, rows = self._arranged(X), np.arange(len(sums))
        for member, weight in zip(self.estimators_, self.estimator_weights_.tolist(), strict=True):
            if len(rows):  # not every base takes a table without rows
                sums[rows, codes_predicted(member, table, (self.classes_,))] += weight
            total += weight
            yield sums / total

    def _staged(self, X: Any) -> Iterator[np.ndarray]:
        return (self.classes_.take(shares.argmax(axis=1)) for shares in self._shares(X))

    def _score_of(self, y: Any, predicted: np.ndarray, sample_weight: Any) -> float:
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def _default_base(self) -> DecisionTreeClassifier:
        return DecisionTreeClassifier(max_depth=1, n_jobs=self.n_jobs)

    def _plain_target(self, target: Labels) -> np.ndarray:
        labels: np.ndarray = target.classes[0].take(target.codes[:, 0])
        return labels

    def _keep_target(self, target: Labels) -> None:
        self.classes_, self.n_classes_ = target.classes[0], len(target.classes[0])

    def _combine(self) -> Literal["vote", "median"]:
        return "vote"

    def _judge(self, predicted: np.ndarray, plan: AdaBoostSettings, weights: RowWeights) -> Verdict:
        true = plan.target[0][plan.rows.kept, 0]
        return judge_labels(predicted != true, weights, _n_weighed(true), float(self.learning_rate))

    def _first_is_poor(self, plan: AdaBoostSettings, verdict: Verdict) -> Verdict:
        n_classes = _n_weighed(plan.target[0][plan.rows.kept, 0])
        raise ParameterError(
            f"the first member ({type(plan.base).__name__}) misclassifies {verdict.error:.4g} of the weight, no better "
            f"than chance among {n_classes} classes ({1 - 1 / n_classes:.4g}): use a better base, or add informative "
            "columns"
        )


def _n_weighed(codes: np.ndarray) -> int:
    """How many classes rows with weight have."""
    return int(np.count_nonzero(np.bincount(codes)))


class AdaBoostRegressor(signatures.AdaBoostRegressor, ScoredByNumbers, AdaBoost):
    """AdaBoost for regression: regressors fitted one after another on reweighted rows, combined by weighted median.

    Notes
    -----
    AdaBoost.R2: Drucker 1997, "Improving regressors using boosting techniques". A member with error ``e`` weighs
    ``learning_rate * log(1 / beta)``, where ``beta = e / (1 - e)``; a row then weighs
    ``beta ** (learning_rate * (1 - its loss))`` times as much, and all weights are scaled to a sum of one. A member
    without an error weighs 1 and is the last. One with an error of 0.5 or more is dropped, and no other follows; if
    it is the first, it is kept alone, with a warning. The prediction is the smallest one that at least half of the
    members' weight does not exceed. Everything else as in ``AdaBoostClassifier``.

    Examples
    --------
    >>> import treewright as tw
    >>> X = [[float(x)] for x in range(100)]
    >>> est = tw.AdaBoostRegressor(n_estimators=20).fit(X, [x * x for x in range(100)])
    >>> bool(2300.0 < est.predict([[50.0]])[0] < 2700.0)
    True
    """

    _task = NUMBERS
    _one_target = True

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **metadata: Any) -> Self:
        """Fit the members, one after another; parameters and errors as ``AdaBoostClassifier.fit``.

        Parameters
        ----------
        X : table of n rows and p columns
        y : n finite numbers
        sample_weight : n numbers >= 0, optional
        **metadata
            For the members' ``fit``, while scikit-learn's metadata routing is on; see ``get_metadata_routing``.

        Returns
        -------
        self

        Warns
        -----
        DataWarning
            The first member's error is 0.5 or more; warnings of members, each once.
        """
        return self._fit(X, y, sample_weight, metadata)

    @as_model
    def predict(self, X: Any) -> np.ndarray:
        """Weighted median of the members' predictions."""
        check_is_fitted(self, "estimators_")
        if "model_" in self.__dict__:
            return self.model_.predict(X, n_jobs=self.n_jobs, owner=type(self).__name__)
        return weighted_median(self._said(X), self.estimator_weights_)

    def _said(self, X: Any) -> np.ndarray:
        """The predictions of each member, float64[n, n_members]."""
        n_rows, n_members = count_rows(X), len(self.estimators_)
        check_fits(8 * n_rows * n_members, f"{n_rows} x {n_members} predictions", "pass fewer rows")
        predicted, table = np.empty((n_rows, n_members)), self._arranged(X)
        if n_rows:  # not every base takes a table without rows
            for at, member in enumerate(self.estimators_):
                predicted[:, at] = numbers_predicted(member, table)
        return predicted

    def _staged(self, X: Any) -> Iterator[np.ndarray]:
        predicted = self._said(X)
        for n_members in range(1, predicted.shape[1] + 1):
            yield weighted_median(predicted[:, :n_members], self.estimator_weights_[:n_members])

    def _score_of(self, y: Any, predicted: np.ndarray, sample_weight: Any) -> float:
        return float(r2_score(y, predicted, sample_weight=sample_weight))

    def _default_base(self) -> DecisionTreeRegressor:
        return DecisionTreeRegressor(max_depth=3, n_jobs=self.n_jobs)

    def _plain_target(self, target: Numbers) -> np.ndarray:
        numbers: np.ndarray = target.values[:, 0]
        return numbers

    def _keep_target(self, target: Numbers) -> None:
        """Do nothing: numbers have no attributes."""

    def _combine(self) -> Literal["vote", "median"]:
        return "median"

    def _judge(self, predicted: np.ndarray, plan: AdaBoostSettings, weights: RowWeights) -> Verdict:
        true = plan.target[0][plan.rows.kept, 0]
        loss = cast("RegressionLoss", self.loss)
        return judge_numbers(predicted, true, weights, loss, float(self.learning_rate))

    def _first_is_poor(self, plan: AdaBoostSettings, verdict: Verdict) -> Verdict:
        notices.warn(
            f"the first member ({type(plan.base).__name__}) has a mean loss of {verdict.error:.4g}, but boosting ends "
            "at 0.5: it is the only member; use a better base or another loss"
        )
        return replace(verdict, weight=1.0)
