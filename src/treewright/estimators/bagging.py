"""Bagging of classifiers. In: parameters, a table, labels. Out: ``BaggingClassifier``.

Callers: users.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from treewright.data.target import Labels, encode_labels
from treewright.estimators.bagging_base import Bagging
from treewright.estimators.bagging_votes import Answer, decisions_of, shares_of
from treewright.estimators.constraints import Words
from treewright.estimators.tree import DecisionTreeClassifier

if TYPE_CHECKING:
    from sklearn.utils import Tags


def _members_decide(estimator: BaggingClassifier) -> bool:
    """Whether there are decision values to average; a hard vote may be another answer than theirs."""
    if estimator.voting != "soft":
        return False
    members = estimator.__dict__.get("estimators_")
    return hasattr(members[0] if members else estimator._base(), "decision_function")


class BaggingClassifier(ClassifierMixin, Bagging):
    """Copies of one classifier, each fitted on rows drawn at random, vote together (bootstrap aggregating).

    Parameters
    ----------
    estimator : classifier, optional
        Treewright's or any other with ``fit``, ``predict`` and ``get_params``; ``DecisionTreeClassifier()`` by default.
        It is copied, never fitted itself. Each copy gets seeds of its own for its ``random_state``.
    n_estimators : int >= 1, default 10
        Copies: the *members*.
    max_samples : int >= 1, float in (0, 1], or None, default 1.0
        Rows that each member draws, or the share of all (rounded, at least one); None is 1.0.
    max_features : int >= 1 or float in (0, 1], default 1.0
        Columns that each member draws, or the share of all (rounded down, at least one).
    bootstrap : bool, default True
        Draw rows with replacement. Without it, a row is in a member's sample once at most (*pasting*).
    bootstrap_features : bool, default False
        Draw columns with replacement. A column with a name that is drawn twice has a second one, ``"age (2)"``.
    oob_score : bool, default False
        Let each member predict the rows that it did not draw: see the attributes.
    warm_start : bool, default False
        Keep the members of the last fit and add to them, up to ``n_estimators``. The result is that of one fit: the
        table must be the same, and so must all parameters but ``n_estimators``, ``oob_score``, ``voting``, ``n_jobs``
        and ``verbose``.
    n_jobs : int, optional
        Threads on which members are fitted. All processors by default; one where the base is not Treewright's, as
        Python code holds the others up. The members do not depend on it.
    random_state : int, RandomState instance or None
        Seed of all draws. None means 0: a fit repeats.
    verbose : int, default 0
        Above 0, a line on stderr for each member.
    voting : {"soft", "hard"}, default "soft"
        Average the members' ``predict_proba`` (members without it vote), or count one vote of each.

    Attributes
    ----------
    estimator_ : classifier
        What the members are copies of.
    estimators_ : list of fitted classifiers
    estimators_features_ : list of int64[k]
        Columns of each member, ascending.
    estimators_samples_ : list of int64[m]
        Rows of each member, ascending.
    classes_ : ndarray[n_classes], or a list of them for several outputs
    n_classes_ : int, or a list
    n_outputs_, n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only where the table had names that are all strings.
    model_ : Model
        Only where the members are single trees of Treewright on all columns: what ``save`` writes, and what ``apply``,
        ``decision_path``, ``show``, ``plot``, ``rules`` and ``node`` look into.
    feature_importances_ : float64[p]
        Mean of the trees' shares of the decrease of impurity; only where there is a ``model_``.
    oob_decision_function_ : float64[n, n_classes], or a list of them for several outputs
        Out of bag, what ``predict_proba`` is; nan for a row that every member drew.
    oob_score_ : float
        Share of the rows that are predicted right out of bag, by weight, over those that some member did not draw. Of
        several outputs every one must be right.

    Notes
    -----
    Breiman 1996, "Bagging predictors"; 1996, "Out-of-bag estimation". A bootstrap sample is a multiset of rows. Members
    of Treewright's own get it as weights on the whole table: levels and classes that a sample misses stay known, and
    all trees share one schema. ``min_samples_leaf`` and its like then count different rows. Other members get the drawn
    rows themselves, repeated; a class that a sample misses has share 0 in that member's answer.

    Draws depend on what rows hold, not on where they stand: a shuffled table gives the same members, and so do rows of
    weight k and k equal rows. Whole-number weights are numbers of rows while their sum is at most 16 for each row.
    Other weights are the chances of the rows; without replacement, the weights that drawn rows have. Rows of weight 0
    are never drawn.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bag = tw.BaggingClassifier(tw.C45Classifier(), n_estimators=25, oob_score=True).fit(X, y)
    >>> len(bag.estimators_), bool(0.9 < bag.oob_score_ < 1.0)
    (25, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Bagging._parameter_constraints,
        "voting": [Words({"soft", "hard"})],
    }
    _is_classification = True

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
        voting: str = "soft",
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
        self.voting = voting

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        try:
            of_base = get_tags(self._base()).classifier_tags
        except (AttributeError, TypeError):
            return tags
        if of_base is not None and tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = of_base.multi_label
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : table of n rows and p columns
            Whatever the base takes. Never modified.
        y : n labels of any hashable type, or n x n_outputs of them where the base takes several
        sample_weight : n numbers >= 0, optional

        Returns
        -------
        self

        Raises
        ------
        DataError
            A column, cell, label or weight was refused; the message says which and what to do.
        ParameterError
            A parameter is outside its range; ``estimator`` is no classifier; there are not so many rows or columns;
            under ``warm_start`` the table or a parameter is another than before.
        TooLargeError
            The members would not fit in memory.
        Exception
            What the base raises; a note says which member it was.

        Warns
        -----
        DataWarning
            Rows without an out-of-bag prediction; whatever members warn of, once.
        """
        return self._fit(X, y, sample_weight)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class with the largest share or the most votes, the first of equals.

        Parameters
        ----------
        X : table of n rows
            Columns are matched by name where fit knew names.

        Returns
        -------
        ndarray[n] or ndarray[n, n_outputs]
            Labels in the dtype of the target.

        Raises
        ------
        ColumnError
            Columns are missing, doubled or of another kind than at fit.
        """
        check_is_fitted(self, "estimators_")
        if "model_" in self.__dict__:
            return self.model_.predict(X, n_jobs=self.n_jobs, owner=type(self).__name__)
        return self._labels(self._average(X))

    def predict_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Mean of the members' class shares; under ``voting="hard"``, shares of their votes.

        Returns
        -------
        float64[n, n_classes], or a list of them for several outputs
            In the order of ``classes_``; rows sum to one.
        """
        check_is_fitted(self, "estimators_")
        if "model_" in self.__dict__:
            return self.model_.predict_proba(X, n_jobs=self.n_jobs, owner=type(self).__name__)
        shares = self._average(X)
        return shares[0] if self.n_outputs_ == 1 else shares

    def predict_log_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Natural logarithm of ``predict_proba``; -inf for a class that no member gives a share."""
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(share) for share in shares] if isinstance(shares, list) else np.log(shares)

    @available_if(_members_decide)
    def decision_function(self, X: Any) -> np.ndarray:
        """Mean of the members' decision values; only where members have them, and for a soft vote.

        Returns
        -------
        float64[n] or float64[n, n_classes]

        Raises
        ------
        ParameterError
            A member's sample missed a class.
        """
        check_is_fitted(self, "estimators_")
        sums: list[np.ndarray] = []

        def take(_: int, said: np.ndarray) -> None:
            if sums:
                sums[0] = sums[0] + said
            else:
                sums.append(said)

        self._ask(X, take, lambda member, part: decisions_of(member, part, self._classes[0]))
        mean: np.ndarray = sums[0] / len(self.estimators_)
        return mean

    def _labels(self, shares: Answer) -> np.ndarray:
        """The label with the largest share, output by output."""
        columns = [labels.take(share.argmax(axis=1)) for labels, share in zip(self._classes, shares, strict=True)]
        return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)

    def _default_base(self) -> DecisionTreeClassifier:
        return DecisionTreeClassifier(n_jobs=self.n_jobs)

    def _encode_target(self, y: Any) -> Labels:
        labels = encode_labels(y)
        self._warn_column_vector(labels)
        return labels

    def _plain_target(self, target: Labels) -> np.ndarray:
        columns = [labels.take(target.codes[:, output]) for output, labels in enumerate(target.classes)]
        if len(columns) == 1:
            return columns[0]
        if len({column.dtype.kind for column in columns}) > 1:
            columns = [column.astype(object) for column in columns]  # numpy would make text of numbers
        return np.stack(columns, axis=1)

    def _n_outputs(self, target: Labels) -> int:
        return len(target.classes)

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

    def _say(self, member: Any, X: Any) -> Answer:
        return shares_of(member, X, self._classes, is_soft=self.voting == "soft")

    def _keep_out_of_bag(self, means: Answer, target: Labels, judged: np.ndarray, weights: np.ndarray | None) -> None:
        self.oob_decision_function_ = means if len(means) > 1 else means[0]
        said = np.stack([share[judged].argmax(axis=1) for share in means], axis=1)
        is_right = (said == target.codes[judged]).all(axis=1)
        self.oob_score_ = float(np.average(is_right, weights=weights)) if len(judged) else float("nan")
