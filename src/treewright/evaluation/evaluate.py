"""Scores of an estimator on held-out rows. In: an estimator, a table, a target. Out: ``Scores``."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.metrics import mean_absolute_error, root_mean_squared_error

from treewright.core.confidence import wilson_interval
from treewright.core.elementary import is_whole
from treewright.evaluation.folds import (
    Fold,
    Split,
    Task,
    evaluate_folds,
    name_of_class,
    splits_of,
    task_of,
    two_parts,
    warn_of_nan,
)
from treewright.evaluation.neighbors import folds_of_one_search
from treewright.evaluation.scores import accuracy, mean_of, r_squared, rows_worth, standard_error
from treewright.evaluation.scoring import check_of_one_row, scorers_of, shown_score
from treewright.evaluation.tables import PAGE_WIDTH, side_by_side, written
from treewright.evaluation.threshold import deciding_again, positive_of_scores
from treewright.evaluation.verdict import constant_score, likely_reason, verdict
from treewright.exceptions import DataError, ParameterError
from treewright.show.spans import TextColumn
from treewright.trees.writing import shorten

MOST_FOLDS_SHOWN = 20
LONGEST_NAME = 32


def holdout(
    est: Any,
    X: Any,
    y: Any,
    *,
    test_size: float = 0.25,
    sample_weight: Any = None,
    scoring: Any = None,
    random_state: Any = 0,
    stratify: bool = True,
    keep_estimators: bool = False,
) -> Scores:
    """Fit on one part of the rows, score on the other.

    Parameters
    ----------
    est : estimator
        Any of this library or of scikit-learn; a copy is fitted.
    X, y : table of n rows and its target
    test_size : float in (0, 1), or int
        Share of the rows that are held out (rounded up), or their number.
    sample_weight : n numbers >= 0, optional
        For fitting and for scoring.
    scoring : None, str, callable, list or dict
        None is the accuracy, or R2; else as in scikit-learn. Of two classes F1, precision, recall ... are about the
        positive one of ``est``, by default the second. Functions get y as an array.
    random_state : int, RandomState or None
        Seed of the shuffle, and of an estimator that has no seed of its own.
    stratify : bool
        Give both parts the same proportion of each class, if there is one target of classes.
    keep_estimators : bool
        Keep the fitted copy.

    Returns
    -------
    Scores
        With one fold.

    Raises
    ------
    ParameterError
        A parameter is outside its range.
    DataError
        Too few rows for two parts, or a class too small for both.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_iris
    >>> print(tw.model_selection.holdout(tw.DecisionTreeClassifier(max_depth=2), *load_iris(return_X_y=True)))
    DecisionTreeClassifier, 38 of 150 rows held out
               test  training
    accuracy  0.947     0.964
    <BLANKLINE>
    all 38 predictions: accuracy 0.947, 95 % interval 0.827 to 0.985 (Wilson)
    """
    est = deciding_again(est)
    task = task_of(est, X, y, sample_weight, random_state)
    positive = positive_of_scores(est, task, scoring)
    scorers = scorers_of(scoring, is_classification=task.is_classification, positive=positive)
    by_class: Literal["always", "never"] = "always" if stratify and task.is_classification else "never"
    split = two_parts(task.truth, _test_rows(test_size, task.n), random_state, by_class=by_class)
    found = evaluate_folds(est, task, [split], scorers, n_jobs=1, keep=keep_estimators)
    return scores_of(est, "holdout", task, found, positive)


def cross_validate(
    est: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 10,
    sample_weight: Any = None,
    scoring: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    groups: Any = None,
    keep_estimators: bool = False,
) -> Scores:
    """Fit once for each fold, and score on the fold that is left out.

    Parameters
    ----------
    est : estimator
        Any of this library or of scikit-learn; copies are fitted. A fitted classifier with a decision threshold keeps
        it; one that costs chose is chosen by them again in every fold.
    X, y : table of n rows and its target
    cv : int >= 2, splitter of scikit-learn, pairs of rows, or array of n fold numbers
        An int shuffles with ``random_state``, and spreads each class evenly if there is one target of classes.
    sample_weight : n numbers >= 0, optional
        For fitting and for scoring.
    scoring : None, str, callable, list or dict
        None is the accuracy, or R2; else as in scikit-learn. Of two classes F1, precision, recall ... are about the
        positive one of ``est``, by default the second. Functions get y as an array.
    random_state : int, RandomState or None
        Seed of the shuffle, and of an estimator that has no seed of its own.
    n_jobs : int, optional
        Folds in parallel; None is every processor. Given a ``random_state``, the result does not depend on it.
    groups : n group labels, optional
        For a splitter that keeps groups together.
    keep_estimators : bool
        Keep the fitted copies.

    Returns
    -------
    Scores

    Raises
    ------
    ParameterError
        A parameter is outside its range.
    DataError
        The folds cannot be made of these rows (see ``folds.splits_of``), a fold's rows all weigh 0, or a label or
        number of any training or test row was refused.

    Warns
    -----
    DataWarning
        Warnings of the fits, once of each sort with the number of folds; a score that is nan; a pandas target whose
        index has another order than that of X.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_iris
    >>> scores = tw.model_selection.cross_validate(tw.DecisionTreeClassifier(), *load_iris(return_X_y=True))
    >>> round(scores.mean, 3), round(scores.standard_error, 3), len(scores.predictions)
    (0.94, 0.018, 150)
    """
    est = deciding_again(est)
    task = task_of(est, X, y, sample_weight, random_state)
    positive = positive_of_scores(est, task, scoring)
    scorers = scorers_of(scoring, is_classification=task.is_classification, positive=positive)
    splits = splits_of(cv, task.y, is_classification=task.is_classification, random_state=random_state, groups=groups)
    found = evaluate_folds(est, task, splits, scorers, n_jobs=n_jobs, keep=keep_estimators)
    return scores_of(est, "cross_validate", task, found, positive)


def leave_one_out(
    est: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    scoring: Any = None,
    n_jobs: int | None = None,
    keep_estimators: bool = False,
) -> Scores:
    """Predict every row by a fit on all the others: n fits.

    Nearest neighbours are searched only once, unless their metric learns from the rows.

    Parameters
    ----------
    est, X, y, sample_weight, n_jobs, keep_estimators
        As for ``cross_validate``. A row of weight 0 is not predicted.
    scoring : None, str, callable, list or dict
        None is the accuracy, or minus the squared error: R2 of a single row is not defined (``Scores.pooled`` has
        the R2 of all rows).

    Returns
    -------
    Scores
        A fold per row; without scores on training rows.

    Raises
    ------
    ParameterError
        A parameter is outside its range; a score that a single row does not have (R2, the area under a curve).
    DataError
        There is only one row.

    Examples
    --------
    >>> import treewright as tw
    >>> scores = tw.model_selection.leave_one_out(tw.DecisionTreeRegressor(), [[1], [2], [8], [9]], [5, 5, 7, 7])
    >>> scores.predictions.tolist()
    [5.0, 5.0, 7.0, 7.0]
    """
    check_of_one_row(scoring)
    est = deciding_again(est)
    task = task_of(est, X, y, sample_weight)
    if scoring is None and not task.is_classification:
        scoring = "neg_mean_squared_error"
    positive = positive_of_scores(est, task, scoring)
    scorers = scorers_of(scoring, is_classification=task.is_classification, positive=positive)
    counting = np.arange(task.n) if task.weights is None else np.flatnonzero(task.weights > 0)
    if len(counting) < 2:
        raise DataError(f"{len(counting)} row(s) with weight: at least 2 are needed to leave one out")
    found = None if keep_estimators else folds_of_one_search(est, task, scoring, n_jobs)
    if found is None:
        splits = _EachLeftOut(task.n, counting)
        found = evaluate_folds(est, task, splits, scorers, n_jobs=n_jobs, keep=keep_estimators, on_training_rows=False)
    return scores_of(est, "leave_one_out", task, found, positive)


class _EachLeftOut(Sequence[Split]):
    """A fold per row, made when it is used: all at once they would hold n x n positions."""

    def __init__(self, n: int, rows: np.ndarray) -> None:
        self.n, self.rows = n, rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, at: Any) -> Any:
        row = self.rows[at]
        return np.delete(np.arange(self.n), row), np.array([row])


def _test_rows(test_size: Any, n: int) -> int:
    """Number of test rows."""
    if is_whole(test_size) and test_size >= 1:
        return int(test_size)
    if isinstance(test_size, float | np.floating) and 0 < test_size < 1:
        return math.ceil(float(test_size) * n)
    raise ParameterError(f"test_size={test_size!r}: give a share between 0 and 1, or a number of rows >= 1")


@dataclass(frozen=True, eq=False, repr=False)
class Scores:
    """Scores of an estimator on held-out rows.

    Attributes
    ----------
    estimator : str
        The name of its class.
    method : {"holdout", "cross_validate", "leave_one_out"}
    n_rows : int
        Rows of the table.
    test : dict from str to float64[k]
        Per score its value on the test rows of each of the k folds. Greater is better.
    train : dict from str to float64[k], or None
        The same on the training rows; None for ``leave_one_out``.
    n_train, n_test : int64[k]
    n_leaves, depth : float64[k]
        Of the tree of each fold; nan for an estimator that is no tree.
    rows : int64[m], ascending, or None
        Rows with weight that were tested, if none was tested twice; else None, and so are the next two.
    predictions : ndarray[m] or ndarray[m, n_outputs], or None
        The prediction for each of them, by the fit that held it out.
    pooled : dict from str to float, or None
        Of all predictions together, weighted: ``accuracy`` with ``low`` and ``high``, its 95 % interval (Wilson 1927;
        for as many rows as the weights are worth, ``rows_worth``); or ``r2``, ``mae``, ``rmse``. None also for several
        predictions of one target, such as several quantiles.
    estimators : tuple of fitted estimators, or None
        One for each fold, with ``keep_estimators=True``.
    constant : float
        Accuracy of always predicting the most frequent class of the predicted rows, or 0, the R2 of their mean; nan if
        ``pooled`` is None.
    positive : class label or None
        The one of two classes that F1, precision and recall are about.
    """

    estimator: str
    method: str
    n_rows: int
    test: Mapping[str, np.ndarray]
    train: Mapping[str, np.ndarray] | None
    n_train: np.ndarray
    n_test: np.ndarray
    n_leaves: np.ndarray
    depth: np.ndarray
    rows: np.ndarray | None
    predictions: np.ndarray | None
    pooled: Mapping[str, float] | None
    estimators: tuple[Any, ...] | None
    constant: float = math.nan
    positive: Any = None

    @property
    def n_folds(self) -> int:
        """Number of folds; 1 for ``holdout``."""
        return len(self.n_test)

    @property
    def means(self) -> dict[str, float]:
        """Per score the mean over the folds, with equal weight of each fold."""
        return {name: mean_of(scores) for name, scores in self.test.items()}

    @property
    def standard_errors(self) -> dict[str, float]:
        """Per score the standard error of the mean over the folds (``standard_error``)."""
        overlap = 0.0 if self.rows is not None else float(np.mean(self.n_test / self.n_train))
        return {name: standard_error(scores, overlap) for name, scores in self.test.items()}

    @property
    def mean(self) -> float:
        """Mean of the only score.

        Raises
        ------
        ParameterError
            There are several scores: see ``means``.
        """
        return self.means[self._only()]

    @property
    def standard_error(self) -> float:
        """Standard error of the mean of the only score; nan for one fold.

        The standard deviation between the folds over the square root of their number. Folds share training rows, so
        this is too small rather than too large (Bengio and Grandvalet 2004, J. Mach. Learn. Res. 5, 1089-1105). If rows
        are tested more than once it is corrected (see ``scores.standard_error``): more repeats make no more rows.
        """
        return self.standard_errors[self._only()]

    def _only(self) -> str:
        """Name of the only score."""
        if len(self.test) > 1:
            raise ParameterError(f"there are several scores, {', '.join(self.test)}: use means and standard_errors")
        return next(iter(self.test))

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns for a data frame, a row per fold.

        Returns
        -------
        dict
            ``fold``, ``n_train``, ``n_test``, ``n_leaves``, ``depth``, and per score ``test_...`` and ``train_...``.
        """
        columns: dict[str, list[Any]] = {"fold": list(range(self.n_folds))}
        for name in ("n_train", "n_test", "n_leaves", "depth"):
            columns[name] = getattr(self, name).tolist()
        for name in self.test:
            columns[f"test_{name}"] = self.test[name].tolist()
            if self.train is not None:
                columns[f"train_{name}"] = self.train[name].tolist()
        return columns

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        folds = f"{self.n_folds} folds of {self.n_rows} rows"
        if self.n_folds == 1:
            folds = f"{self.n_test[0]} of {self.n_rows} rows held out"
        elif self.method == "leave_one_out":
            folds = f"each of {self.n_folds} rows left out once"
        lines = [f"{self.estimator}, {folds}", *self._summary()]
        if 1 < self.n_folds <= MOST_FOLDS_SHOWN:
            lines += ["", *self._per_fold()]
        if self.pooled is not None and self.rows is not None:
            lines += ["", f"all {len(self.rows)} predictions: {_pooled_words(self.pooled)}"]
            lines += textwrap.wrap(self._warning(), PAGE_WIDTH)
        return "\n".join(line.rstrip() for line in lines)

    def _warning(self) -> str:
        """A warning if the predictions are no better than one prediction for all rows; else empty."""
        pooled = self.pooled or {}
        is_classification = "accuracy" in pooled
        score = pooled["accuracy" if is_classification else "r2"]
        found = verdict(score, self.constant, is_classification=is_classification)
        n_rows, n_leaves = (float(np.round(sizes.mean())) for sizes in (self.n_train, self.n_leaves))
        return f"WARNING: {found}; {likely_reason(self.constant, n_rows, n_leaves)}" if found else ""

    def _summary(self) -> list[str]:
        """A line per score."""
        rows = []
        for name, mean in self.means.items():
            label, sign = shown_score(name, self.positive)
            numbers = [sign * mean, self.standard_errors[name]]
            if self.train is not None:
                numbers.append(sign * mean_of(self.train[name]))
            rows.append([shorten(label, LONGEST_NAME), *written(numbers)])
        titles = ["", "test", "std. error", "training"][: len(rows[0])]
        columns = [
            TextColumn(title, list(cells), "point" if title else "left")
            for title, cells in zip(titles, zip(*rows, strict=True), strict=True)
            if title != "std. error" or self.n_folds > 1
        ]
        return side_by_side(columns)

    def _per_fold(self) -> list[str]:
        """A line per fold; scores that do not fit into 80 cells are left to ``to_dict``."""
        columns = [
            TextColumn("fold", [str(fold) for fold in range(self.n_folds)], "right"),
            TextColumn("rows", [str(n) for n in self.n_test.tolist()], "right"),
        ]
        if not np.isnan(self.n_leaves).any():
            columns.append(TextColumn("leaves", [f"{n:g}" for n in self.n_leaves.tolist()], "right"))
        for name, scores in self.test.items():
            label, sign = shown_score(name, self.positive)
            wider = [*columns, TextColumn(shorten(label, LONGEST_NAME), written(sign * scores), "point")]
            if len(side_by_side(wider)[0]) > 80:
                break
            columns = wider
        return side_by_side(columns)


def scores_of(estimator: Any, method: str, task: Task, folds: Sequence[Fold], positive: Any = None) -> Scores:
    """The ``Scores`` of all folds."""
    names = list(folds[0].test_scores)
    test = {name: np.array([fold.test_scores[name] for fold in folds]) for name in names}
    train = None
    if all(fold.train_scores is not None for fold in folds):
        train = {name: np.array([(fold.train_scores or {})[name] for fold in folds]) for name in names}
    remedy = "choose another score" if method == "leave_one_out" else "give larger folds, or another score"
    warn_of_nan(test, remedy)
    rows = predictions = pooled = None
    constant = math.nan
    tested = np.concatenate([fold.test for fold in folds])
    if np.bincount(tested).max() == 1:
        order = np.argsort(tested, kind="stable")
        if task.weights is not None:
            order = order[task.weights[tested[order]] > 0]
        rows, predictions = tested[order], np.concatenate([fold.predictions for fold in folds])[order]
        pooled = pooled_scores(task, rows, predictions)
        if pooled is not None:
            constant = constant_score(task, rows)
    kept = tuple(fold.estimator for fold in folds)
    return Scores(
        estimator=name_of_class(estimator),
        method=method,
        n_rows=task.n,
        test=test,
        train=train,
        n_train=np.array([fold.n_train for fold in folds]),
        n_test=np.array([len(fold.test) for fold in folds]),
        n_leaves=np.array([fold.n_leaves for fold in folds]),
        depth=np.array([fold.depth for fold in folds]),
        rows=rows,
        predictions=predictions,
        pooled=pooled,
        estimators=None if None in kept else kept,
        constant=constant,
        positive=positive,
    )


def pooled_scores(task: Task, rows: np.ndarray, predictions: np.ndarray) -> dict[str, float] | None:
    """Scores of all predictions together; None if a target has several predictions.

    ``rows`` (int64[m]). ``predictions`` (ndarray[m] or ndarray[m, n_outputs]).
    """
    truth, weights = task.truth[rows], task.weights_at(rows)
    if task.is_classification:
        share = accuracy(truth, predictions, weights)
        n = rows_worth(len(rows), weights)
        low, high = wilson_interval(share * n, n)
        return {"accuracy": share, "low": low, "high": high}
    if predictions.size != truth.size:
        return None
    predicted = predictions.reshape(truth.shape)
    return {
        "r2": r_squared(truth, predicted, weights),
        "mae": float(mean_absolute_error(truth, predicted, sample_weight=weights)),
        "rmse": float(root_mean_squared_error(truth, predicted, sample_weight=weights)),
    }


def _pooled_words(pooled: Mapping[str, float]) -> str:
    """The pooled scores in words."""
    if "accuracy" in pooled:
        share, low, high = written([pooled["accuracy"], pooled["low"], pooled["high"]])
        return f"accuracy {share}, 95 % interval {low} to {high} (Wilson)"
    return ", ".join(f"{name} {written([value])[0]}" for name, value in pooled.items())
