"""AdaBoost of classifiers. In: parameters, a table, labels. Out: ``AdaBoostClassifier``. Callers: users, cli."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from treewright.boosting.adaboost import RowWeights, Verdict, judge_labels
from treewright.data.take import count_rows
from treewright.data.target import Labels, encode_labels
from treewright.estimators.adaboost_base import AdaBoost
from treewright.estimators.adaboost_members import BoostPlan, codes_said
from treewright.estimators.tree import DecisionTreeClassifier
from treewright.exceptions import ParameterError

if TYPE_CHECKING:
    from sklearn.utils import Tags


class AdaBoostClassifier(ClassifierMixin, AdaBoost):
    """Classifiers fitted one after another, each on rows weighed by what those before it got wrong, vote by weight.

    Parameters
    ----------
    estimator : classifier, optional
        Treewright's or any other with ``fit``, ``predict`` and ``get_params``; by default a tree of one question (a
        *stump*), ``DecisionTreeClassifier(max_depth=1)``. It is copied, never fitted itself. Each copy gets seeds of
        its own for its ``random_state``. Where it weighs classes, ``"balanced"`` is taken once, of the weights before
        the first round.
    n_estimators : int >= 1, default 50
        Copies (*members*) at most.
    learning_rate : float > 0, default 1.0
        Times this, the members' weights are taken; below 1, rows change their weights more slowly.
    bootstrap : bool, default False
        Fit each member on as many rows as there are, drawn with replacement by their weights, instead of on the weights
        themselves. Needed for a base whose ``fit`` takes no ``sample_weight``.
    keep_row_weights : bool, default False
        Keep the weights of the rows in every round: ``row_weights_``.
    warm_start : bool, default False
        Keep the members of the last fit and go on, up to ``n_estimators``. The result is that of one fit: the table
        must be the same, and so must all parameters but ``n_estimators`` and ``n_jobs``.
    n_jobs : int, optional
        Threads on which each tree grows; all processors by default. The members do not depend on it.
    random_state : int, RandomState instance or None
        Seed of the draws. None means 0: a fit repeats.

    Attributes
    ----------
    estimator_ : classifier
        What the members are copies of.
    estimators_ : list of fitted classifiers
    estimator_weights_, estimator_errors_ : float64[n_members]
        Weight of each member, above 0, and its error: the share of the rows that it got wrong, by their weights.
    rounds_ : AdaBoostRounds
        The same as a table to print, a dropped last member included; of at most 12 rows with their weights, where these
        are kept.
    row_weights_ : float64[n_rounds, n]
        Only with ``keep_row_weights=True``: what the rows weighed in each round; each line adds up to one.
    classes_ : ndarray[n_classes]
    n_classes_, n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only where the table had names that are all strings.
    model_ : Model
        Only where the members are single trees of Treewright: what ``save`` writes, and what ``apply``,
        ``decision_path``, ``show``, ``plot``, ``rules`` and ``node`` look into.
    feature_importances_ : float64[p]
        Those of the members, averaged by their weights; only where they have any.

    Notes
    -----
    SAMME: Zhu, Zou, Rosset and Hastie 2009, "Multi-class AdaBoost"; of two classes AdaBoost.M1 (Freund and Schapire
    1997). A member with error ``e`` among K classes weighs ``learning_rate * (log((1 - e) / e) + log(K - 1))``; rows
    that it got wrong then weigh as many times more as the exponential of that, and all weights are brought to a sum of
    one. A member without an error weighs 1 and is the last. One with an error of ``1 - 1/K`` or more is no better than
    chance: it is dropped, and no other follows; the first may not be like that. K counts the classes that have weight.
    No row's share falls below 2**-52.

    Members of Treewright's own get weights that add up to the number of rows, others such as add up to one. Sums of
    weights are exact: neither the order of the rows nor the number of threads changes anything, and with trees a row of
    weight k is k equal rows while weights are whole numbers and no parameter counts rows (``min_samples_leaf``,
    ``min_samples_split``). Single trees of Treewright are grown on a table that is
    encoded and sorted once; with ``splitter="hist"`` the bins are those of the first tree.

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

    _is_classification = True

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        bootstrap: bool = False,
        keep_row_weights: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
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
        """Fit the members, one after another.

        Parameters
        ----------
        X : table of n rows and p columns
            Whatever the base takes. Never modified.
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
            A parameter is outside its range; ``estimator`` is no classifier, takes no weights, or is no better than
            chance on the given weights; under ``warm_start`` the table or a parameter is another than before.
        TooLargeError
            The members would not fit in memory.
        Exception
            What the base raises; a note says which member it was.

        Warns
        -----
        DataWarning
            Whatever members warn of, once.
        """
        return self._fit(X, y, sample_weight)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class whose members weigh most, the first of equals.

        Parameters
        ----------
        X : table of n rows
            Columns are matched by name where fit knew names.

        Returns
        -------
        ndarray[n]
            Labels in the dtype of the target.

        Raises
        ------
        ColumnError
            Columns are missing, doubled or of another kind than at fit.
        """
        check_is_fitted(self, "estimators_")
        if "model_" in self.__dict__:
            return self.model_.predict(X, n_jobs=self.n_jobs, owner=type(self).__name__)
        labels: np.ndarray = self.classes_.take(self.predict_proba(X).argmax(axis=1))
        return labels

    def predict_proba(self, X: Any) -> np.ndarray:
        """Share of the members' weight that votes for each class.

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
            logarithms: np.ndarray = np.log(self.predict_proba(X))
        return logarithms

    def decision_function(self, X: Any) -> np.ndarray:
        """How clear the vote is.

        Returns
        -------
        float64[n] or float64[n, n_classes]
            Two classes: share of the second minus share of the first, the *margin*, from -1 to 1. More: the mean of
            codes that are 1 for the class that a member votes for and ``-1/(n_classes - 1)`` for the others.
        """
        return self._decided(self.predict_proba(X))

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Shares of the first member's weight, of the first two's, and so on.

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
        """Decision values of shares."""
        n_classes = shares.shape[1]
        if n_classes == 2:
            margin: np.ndarray = shares[:, 1] - shares[:, 0]
            return margin
        return shares - (1.0 - shares) / max(n_classes - 1, 1)

    def _shares(self, X: Any) -> Iterator[np.ndarray]:
        """Shares of the votes after each member, asked of the members themselves."""
        sums, total = np.zeros((count_rows(X), self.n_classes_)), 0.0
        table, rows = self._arranged(X), np.arange(len(sums))
        for member, weight in zip(self.estimators_, self.estimator_weights_.tolist(), strict=True):
            if len(rows):  # not every base takes a table without rows
                sums[rows, codes_said(member, table, (self.classes_,))] += weight
            total += weight
            yield sums / total

    def _staged(self, X: Any) -> Iterator[np.ndarray]:
        return (self.classes_.take(shares.argmax(axis=1)) for shares in self._shares(X))

    def _score_of(self, y: Any, said: np.ndarray, sample_weight: Any) -> float:
        return float(accuracy_score(y, said, sample_weight=sample_weight))

    def _default_base(self) -> DecisionTreeClassifier:
        return DecisionTreeClassifier(max_depth=1, n_jobs=self.n_jobs)

    def _encode_target(self, y: Any) -> Labels:
        labels = encode_labels(y)
        self._warn_column_vector(labels)
        return labels

    def _plain_target(self, target: Labels) -> np.ndarray:
        labels: np.ndarray = target.classes[0].take(target.codes[:, 0])
        return labels

    def _keep_target(self, target: Labels) -> None:
        self.classes_, self.n_classes_ = target.classes[0], len(target.classes[0])

    def _combine(self) -> Literal["vote", "median"]:
        return "vote"

    def _judge(self, said: np.ndarray, plan: BoostPlan, weights: RowWeights) -> Verdict:
        true = plan.target[0][plan.rows.kept, 0]
        return judge_labels(said != true, weights, _n_weighed(true), float(self.learning_rate))

    def _first_is_poor(self, plan: BoostPlan, verdict: Verdict) -> Verdict:
        n_classes = _n_weighed(plan.target[0][plan.rows.kept, 0])
        raise ParameterError(
            f"the first member ({type(plan.base).__name__}) gets {verdict.error:.4g} of the weight wrong, no better "
            f"than chance among {n_classes} classes ({1 - 1 / n_classes:.4g}): boosting needs a better base, or "
            "columns that tell something"
        )


def _n_weighed(codes: np.ndarray) -> int:
    """How many classes rows with weight have."""
    return int(np.count_nonzero(np.bincount(codes)))
