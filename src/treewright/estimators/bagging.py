"""Bagging for scikit-learn: copies of one estimator, each on rows and columns of its own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.metrics import r2_score
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from treewright.core import notices
from treewright.core.elementary import log_add_of, log_of
from treewright.core.progress import bar_where_nobody_listens, compiling_announced
from treewright.data.memory import check_fits
from treewright.data.take import count_rows, take_rows, warn_of_another_order
from treewright.data.target import Labels, Numbers, check_lengths, check_weights
from treewright.estimators import signatures
from treewright.estimators.base import ScoredByClasses, ScoredByNumbers
from treewright.estimators.documentation import as_model
from treewright.estimators.members import (
    MEMBER_BYTES,
    Answer,
    Average,
    Members,
    Plan,
    decisions_of,
    in_order,
    is_of_treewright,
    log_shares_of,
    numbers_of,
    refuse_too_many,
    shares_of,
)
from treewright.estimators.trees import DecisionTreeClassifier, DecisionTreeRegressor
from treewright.evaluation.folds import run_tasks
from treewright.exceptions import ParameterError
from treewright.learn.members import BagRows, BagWarmStart, model_of_members, parameters_of
from treewright.learn.params import CLASSES, NUMBERS
from treewright.learn.settings import columns_of_each, seed_of
from treewright.learn.train import telling_of_a_swap
from treewright.model import Model
from treewright.version import __version__

if TYPE_CHECKING:
    from sklearn.utils import Tags


class Bagging(Members):
    """An ensemble of copies of one estimator, each fitted on rows and columns of its own.

    Attributes
    ----------
    estimators_features_ : list of int64[k]
        Columns of each member, ascending.
    estimators_samples_ : list of int64[m]
        Rows of each member, ascending.
    n_outputs_ : int
    feature_importances_ : float64[p]
        Mean of the trees' shares of the decrease of impurity; only if there is a ``model_``.
    """

    estimators_features_: list[Any]
    _warm: BagWarmStart

    def _fit(self, X: Any, y: Any, sample_weight: Any, given: Mapping[str, Any]) -> Self:
        """Check, sample, fit, keep. Nothing of the estimator changes before the last step."""
        params = self._check_parameters()
        metadata = self._routed("fit", given)
        base, n_threads = self._checked_base(), self._threads()
        with telling_of_a_swap(X, y):
            is_ours, n_rows = is_of_treewright(base), count_rows(X)
            columns = self._columns(X, n_rows, is_ours)
            target = self._encode_target(y)
        check_lengths(n_rows, target)
        params.positive_facts(getattr(target, "classes", ()))
        self._check_classes(base, target)
        weights = check_weights(sample_weight, n_rows)
        warn_of_another_order(X, y=y, sample_weight=sample_weight)
        before = self._members_to_keep()
        n_more = int(self.n_estimators) - len(before)
        check_fits(MEMBER_BYTES * n_more, f"{n_more} members", "use fewer members")
        is_moving = isinstance(self.random_state, np.random.RandomState)
        seed = self._warm.seed if before and is_moving else seed_of(self.random_state)
        rows = BagRows(
            X, target, weights, max_samples=self.max_samples, replace=self.bootstrap, seed=seed, is_ours=is_ours
        )
        now = BagWarmStart(parameters_of(self._parameters(), base), columns, rows, seed)
        if before:
            self._warm.refuse_others(now)
        self._check_out_of_bag(rows)
        if n_more == 0:
            notices.warn("Warm-start fitting without increasing n_estimators does not fit new members")
        plan = Plan(
            base, X, self._plain_target(target), rows, columns,
            0 if columns is None else columns_of_each(self.max_features, len(columns)),
            self.bootstrap_features, seed, int(self.n_estimators), metadata,
        )  # fmt: skip
        with compiling_announced(), bar_where_nobody_listens(bool(self.verbose)):
            members = before + self._fit_members(plan, len(before), n_threads)
        self._keep_members(plan, params, members, before, target, n_rows)
        self._warm = now
        if self.oob_score:
            self._score_out_of_bag(X, target, weights, n_threads)
        return self

    def _chooses_columns(self) -> bool:
        return bool(self.bootstrap_features or self.max_features != 1.0)

    def _fit_members(self, plan: Plan, n_before: int, n_threads: int) -> list[Any]:
        """Fit new members, several at a time."""
        n_more = plan.n_members - n_before

        def fit(task: int) -> Any:
            fitted = plan.fit(n_before + task)
            if task == 0:
                refuse_too_many(fitted, n_more)
            return fitted

        return run_tasks(fit, n_more, n_threads, "members")

    def _keep_members(
        self, plan: Plan, params: Any, members: list[Any], before: list[Any], target: Any, n_rows: int
    ) -> None:
        """Store the members and the other attributes that scikit-learn expects."""
        n_before = len(before)
        features = list(self.estimators_features_) if before else []
        features += [plan.columns_of(member) for member in range(n_before, len(members))]
        self.estimator_, self.estimators_, self.estimators_features_ = plan.base, members, features
        of_one_fit = ("feature_names_in_", "n_features_in_", "model_", "oob_score_", "oob_decision_function_")
        for name in (*of_one_fit, "oob_prediction_"):
            self.__dict__.pop(name, None)
        if plan.columns is not None:
            self._keep_columns(plan.columns.schema, len(plan.columns))
        self._keep_target(target)
        facts = {
            "algorithm": params.algorithm_name,
            "n_samples": n_rows,
            "parameters": params.facts(),
            "version": __version__,
        }
        model = model_of_members(members, features, plan.columns, target.names, self._combine(), facts)
        self._why_no_model = model if isinstance(model, str) else None
        if isinstance(model, Model):
            self.model_ = self._finished(model, None)

    # After the fit.

    @property
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows of each member, int64[n_draws], ascending; drawn anew at each call, not kept."""
        check_is_fitted(self, "estimators_")
        samples, rows = [], self._warm.rows
        for member in range(len(self.estimators_)):
            positions, times = rows.drawn(member)
            repeats = np.ones(len(positions), np.int64) if rows.own_weights is not None else times.astype(np.int64)
            samples.append(np.repeat(positions, repeats))
        return samples

    def _average(self, X: Any, metadata: Mapping[str, Any]) -> Answer:
        """The mean of the members' predictions for each row."""
        check_is_fitted(self, "estimators_")
        n_rows = count_rows(X)
        if not n_rows:  # not every base takes a table without rows
            self._arranged(X)
            return [np.zeros(shape) for shape in self._shapes(0)]
        average = Average(self._shapes(n_rows))
        self._ask(X, lambda _, said: average.add(said), partial(self._say, metadata=metadata))
        return average.means()

    def _arranged(self, X: Any) -> Any:
        """A table in the form that the members expect; ours find all of its columns themselves."""
        columns = self._warm.columns
        if columns is None:
            return X
        if is_of_treewright(self.estimator_) and all(columns.is_every(chosen) for chosen in self.estimators_features_):
            return X
        return columns.arranged(X, type(self).__name__)

    def _ask(self, X: Any, take: Any, say: Any) -> None:
        """Call ``say`` of every member for X, and ``take`` with the results in order."""
        table, columns = self._arranged(X), self._warm.columns

        def work(member: int) -> Any:
            part = table if columns is None else columns.part_of(table, self.estimators_features_[member])
            return say(self.estimators_[member], part)

        in_order(work, len(self.estimators_), self._threads(), take)

    # Out of bag.

    def _check_out_of_bag(self, rows: BagRows) -> None:
        """Refuse an out-of-bag score if members have no out-of-bag rows."""
        if self.oob_score and rows.leaves_none_out:
            raise ParameterError(
                "oob_score=True needs out-of-bag rows, but each member gets all rows: set bootstrap=True, "
                "or a smaller max_samples"
            )

    def _score_out_of_bag(self, X: Any, target: Any, weights: np.ndarray | None, n_threads: int) -> None:
        """Let every member predict its out-of-bag rows."""
        average = Average(self._shapes(len(target[0])))

        def work(member: int) -> Any:
            rows = self._warm.rows.left_out(member)
            if not len(rows):
                return None
            part, columns = take_rows(X, rows), self._warm.columns
            if columns is not None:
                part = columns.part_of(part, self.estimators_features_[member])
            return rows, self._say(self.estimators_[member], part, {})

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
    def _plain_target(self, target: Any) -> np.ndarray:
        """The target that is passed to members."""

    @abstractmethod
    def _keep_target(self, target: Any) -> None:
        """Store the attributes of the target."""

    @abstractmethod
    def _combine(self) -> Literal["mean", "vote"]:
        """How the members' predictions are combined."""

    @abstractmethod
    def _shapes(self, n_rows: int) -> list[tuple[int, int]]:
        """Shape of each array of predictions."""

    @abstractmethod
    def _say(self, member: Any, X: Any, metadata: Mapping[str, Any]) -> Answer:
        """A member's predictions for each row."""

    @abstractmethod
    def _keep_out_of_bag(self, means: Answer, target: Any, judged: np.ndarray, weights: np.ndarray | None) -> None:
        """Store the out-of-bag predictions and their score."""


def _members_decide(estimator: BaggingClassifier) -> bool:
    """Whether there are decision values to average; a hard vote may predict another class than they do."""
    if estimator.voting != "soft":
        return False
    members = estimator.__dict__.get("estimators_")
    return hasattr(members[0] if members else estimator._base(), "decision_function")


class BaggingClassifier(signatures.BaggingClassifier, ScoredByClasses, Bagging):
    """Bagging for classification: copies of one classifier, each fitted on a bootstrap sample, predict together.

    Attributes
    ----------
    classes_ : ndarray[n_classes], or a list of them for several outputs
    n_classes_ : int, or a list
    oob_decision_function_ : float64[n, n_classes], or a list of them for several outputs
        Out-of-bag ``predict_proba``; nan for a row that is in every member's bag.
    oob_score_ : float
        Out-of-bag accuracy, by weight, over the rows that are out of bag for some member. With several outputs all must
        be correct. The more probable class counts, also with a decision threshold: apply it to
        ``oob_decision_function_``.

    Notes
    -----
    Breiman 1996, "Bagging predictors"; 1996, "Out-of-bag estimation". A bootstrap sample is a multiset of rows. Members
    of Treewright's own get it as weights on the whole table: levels and classes that a sample misses stay known, and
    all trees share one schema. ``min_samples_leaf`` and its like then count distinct rows. Other members get the
    sampled rows themselves, repeated; a class that a sample misses has probability 0 in that member's prediction.

    Samples depend on the contents of rows, not on their order: a shuffled table gives the same members, and so do rows
    of weight k and k equal rows. Whole-number weights are row counts while their sum is at most 16 for each row. Other
    weights are the chances of the rows to be sampled; without replacement, the weights of the sampled rows. Rows of
    weight 0 are never sampled.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bag = tw.BaggingClassifier(tw.C45Classifier(), n_estimators=25, oob_score=True).fit(X, y)
    >>> len(bag.estimators_), bool(0.9 < bag.oob_score_ < 1.0)
    (25, True)
    """

    _task = CLASSES
    _passing = ("predict", "predict_proba", "predict_log_proba", "decision_function")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        try:
            of_base = get_tags(self._base()).classifier_tags
        except (AttributeError, TypeError):
            return tags
        if of_base is not None and tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = of_base.multi_label
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **metadata: Any) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : table of n rows and p columns
            Whatever the base accepts. Never modified.
        y : n labels of any hashable type, or n x n_outputs of them if the base supports several
        sample_weight : n numbers >= 0, optional
        **metadata
            For the members' ``fit``, while scikit-learn's metadata routing is on; see ``get_metadata_routing``.

        Returns
        -------
        self

        Raises
        ------
        DataError
            A column, cell, label or weight was refused; the message says which and what to do.
        ParameterError
            A parameter is outside its range; ``estimator`` is not a classifier; there are fewer rows or columns;
            under ``warm_start`` the table or a parameter is different from before.
        TooLargeError
            The members would not fit in memory.
        Exception
            Errors of the base, with a note that names the member.

        Warns
        -----
        DataWarning
            Rows without an out-of-bag prediction; warnings of members, each once.
        """
        return self._fit(X, y, sample_weight, metadata)

    @as_model
    def predict(self, X: Any, **metadata: Any) -> np.ndarray:
        """Predict the class with the largest probability or the most votes, the first of equals.

        Parameters
        ----------
        **metadata
            For the members' method, while scikit-learn's metadata routing is on.
        """
        check_is_fitted(self, "estimators_")
        routed = self._routed("predict", metadata)
        if "model_" in self.__dict__:
            return self.model_.predict(X, n_jobs=self.n_jobs, owner=type(self).__name__)
        return self._labels(self._average(X, routed))

    def predict_proba(self, X: Any, **metadata: Any) -> np.ndarray | list[np.ndarray]:
        """Mean of the members' class probabilities; with ``voting="hard"``, shares of their votes.

        Parameters
        ----------
        X : table of n rows
        **metadata
            For the members' method, while scikit-learn's metadata routing is on.

        Returns
        -------
        float64[n, n_classes], or a list of them for several outputs
            In the order of ``classes_``; rows sum to one.
        """
        check_is_fitted(self, "estimators_")
        routed = self._routed("predict_proba", metadata)
        if "model_" in self.__dict__:
            return self.model_.predict_proba(X, n_jobs=self.n_jobs, owner=type(self).__name__)
        shares = self._average(X, routed)
        return shares[0] if self.n_outputs_ == 1 else shares

    def predict_log_proba(self, X: Any, **metadata: Any) -> np.ndarray | list[np.ndarray]:
        """Natural logarithm of ``predict_proba``; -inf for a class to which no member gives a probability.

        Of members with a ``predict_log_proba`` this is used, so that a probability too small for ``predict_proba`` is
        not lost.

        Parameters
        ----------
        X : table of n rows
        **metadata
            For the members' method, while scikit-learn's metadata routing is on.

        Returns
        -------
        float64[n, n_classes], or a list of them for several outputs
        """
        check_is_fitted(self, "estimators_")
        routed = self._routed("predict_log_proba", metadata)
        if "model_" in self.__dict__ or self._asked_of(self.estimators_[0], "predict_log_proba") != "predict_log_proba":
            shares = self.predict_proba(X) if "model_" in self.__dict__ else self._average(X, routed)
            with np.errstate(divide="ignore"):
                logarithms = [log_of(share) for share in (shares if isinstance(shares, list) else [shares])]
            return logarithms[0] if self.n_outputs_ == 1 else logarithms
        added = [np.full(shape, -np.inf) for shape in self._shapes(count_rows(X))]

        def take(_: int, said: Answer) -> None:
            for at, more in enumerate(said):
                added[at] = log_add_of(added[at], more)

        if len(added[0]):  # not every base takes a table without rows
            self._ask(X, take, lambda member, part: log_shares_of(member, part, self._classes, routed))
        logarithms = [total - log_of(float(len(self.estimators_))) for total in added]
        return logarithms[0] if self.n_outputs_ == 1 else logarithms

    @available_if(_members_decide)
    def decision_function(self, X: Any, **metadata: Any) -> np.ndarray:
        """Mean of the members' decision values; only if members have them, and for a soft vote.

        Parameters
        ----------
        X : table of n rows
        **metadata
            For the members' method, while scikit-learn's metadata routing is on.

        Returns
        -------
        float64[n] or float64[n, n_classes]

        Raises
        ------
        ParameterError
            A member's sample lacks a class.
        """
        check_is_fitted(self, "estimators_")
        sums: list[np.ndarray] = []

        def take(_: int, said: np.ndarray) -> None:
            if sums:
                sums[0] = sums[0] + said
            else:
                sums.append(said)

        routed = self._routed("decision_function", metadata)
        self._ask(X, take, lambda member, part: decisions_of(member, part, self._classes[0], routed))
        mean: np.ndarray = sums[0] / len(self.estimators_)
        return mean

    def _labels(self, shares: Answer) -> np.ndarray:
        """The label with the largest probability, output by output."""
        columns = [labels.take(share.argmax(axis=1)) for labels, share in zip(self._classes, shares, strict=True)]
        return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)

    def _default_base(self) -> DecisionTreeClassifier:
        return DecisionTreeClassifier(n_jobs=self.n_jobs)

    def _plain_target(self, target: Labels) -> np.ndarray:
        columns = [labels.take(target.codes[:, output]) for output, labels in enumerate(target.classes)]
        if len(columns) == 1:
            return columns[0]
        if len({column.dtype.kind for column in columns}) > 1:
            columns = [column.astype(object) for column in columns]  # numpy would turn numbers into text
        return np.stack(columns, axis=1)

    def _keep_target(self, target: Labels) -> None:
        several = len(target.classes) > 1
        self._classes = target.classes
        self.n_outputs_ = len(target.classes)
        self.classes_ = list(target.classes) if several else target.classes[0]
        self.n_classes_ = [len(labels) for labels in target.classes] if several else len(target.classes[0])

    def _combine(self) -> Literal["mean", "vote"]:
        return "mean" if self.voting == "soft" else "vote"

    def _shapes(self, n_rows: int) -> list[tuple[int, int]]:
        return [(n_rows, len(labels)) for labels in self._classes]

    def _say(self, member: Any, X: Any, metadata: Mapping[str, Any]) -> Answer:
        return shares_of(member, X, self._classes, is_soft=self.voting == "soft", metadata=metadata)

    def _keep_out_of_bag(self, means: Answer, target: Labels, judged: np.ndarray, weights: np.ndarray | None) -> None:
        self.oob_decision_function_ = means if len(means) > 1 else means[0]
        said = np.stack([share[judged].argmax(axis=1) for share in means], axis=1)
        is_right = (said == target.codes[judged]).all(axis=1)
        self.oob_score_ = float(np.average(is_right, weights=weights)) if len(judged) else float("nan")


_LEAST_FOR_R2 = 2  # rows


class BaggingRegressor(signatures.BaggingRegressor, ScoredByNumbers, Bagging):
    """Bagging for regression: copies of one regressor, each fitted on a bootstrap sample, are averaged.

    Attributes
    ----------
    oob_prediction_ : float64[n] or float64[n, n_outputs]
        Out-of-bag ``predict``; nan for a row that is in every member's bag.
    oob_score_ : float
        R squared of that, by weight, over the rows that are out of bag for some member; the mean of several outputs.

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

    _task = NUMBERS
    _passing = ("predict",)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **metadata: Any) -> Self:
        """Fit the members; parameters, errors and warnings as ``BaggingClassifier.fit``.

        Parameters
        ----------
        X : table of n rows and p columns
        y : n finite numbers, or n x n_outputs of them if the base supports several
        sample_weight : n numbers >= 0, optional
        **metadata
            For the members' ``fit``, while scikit-learn's metadata routing is on; see ``get_metadata_routing``.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, metadata)

    @as_model
    def predict(self, X: Any, **metadata: Any) -> np.ndarray:
        """Mean of the members' predictions.

        Parameters
        ----------
        **metadata
            For the members' method, while scikit-learn's metadata routing is on.
        """
        check_is_fitted(self, "estimators_")
        routed = self._routed("predict", metadata)
        if "model_" in self.__dict__:
            return self.model_.predict(X, n_jobs=self.n_jobs, owner=type(self).__name__)
        return self._flat(self._average(X, routed)[0])

    def _flat(self, numbers: np.ndarray) -> np.ndarray:
        """One output without a dimension of its own."""
        return numbers[:, 0] if self.n_outputs_ == 1 else numbers

    def _default_base(self) -> DecisionTreeRegressor:
        return DecisionTreeRegressor(n_jobs=self.n_jobs)

    def _plain_target(self, target: Numbers) -> np.ndarray:
        return target.values[:, 0] if target.values.shape[1] == 1 else target.values

    def _keep_target(self, target: Numbers) -> None:
        self.n_outputs_ = target.values.shape[1]

    def _combine(self) -> Literal["mean", "vote"]:
        return "mean"

    def _shapes(self, n_rows: int) -> list[tuple[int, int]]:
        return [(n_rows, self.n_outputs_)]

    def _say(self, member: Any, X: Any, metadata: Mapping[str, Any]) -> Answer:
        return numbers_of(member, X, self.n_outputs_, metadata)

    def _keep_out_of_bag(self, means: Answer, target: Numbers, judged: np.ndarray, weights: np.ndarray | None) -> None:
        self.oob_prediction_ = self._flat(means[0])
        if len(judged) < _LEAST_FOR_R2:
            self.oob_score_ = float("nan")
            return
        self.oob_score_ = float(r2_score(target.values[judged], means[0][judged], sample_weight=weights))
