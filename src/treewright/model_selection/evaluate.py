"""How an estimator does on rows it did not see. In: an estimator, a table, a target. Out: ``Scores``.

Callers: users, model_selection.comparison, model_selection.tuning.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from treewright.core import notices
from treewright.core.whole import is_whole
from treewright.estimators.neighbors import Neighbors as NeighborsEstimator
from treewright.exceptions import DataError, ParameterError
from treewright.model_selection.fold import Fold
from treewright.model_selection.folds import Split, splits_of, two_parts
from treewright.model_selection.neighbors import folds_of_one_search
from treewright.model_selection.parallel import answers
from treewright.model_selection.rows import take_rows
from treewright.model_selection.scores import Scores, pooled_scores
from treewright.model_selection.scoring import Scorer, check_of_one_row, scorers_of
from treewright.model_selection.task import Task, size_of, task_of


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
        Share of the rows that are kept aside (rounded up), or how many.
    sample_weight : n numbers >= 0, optional
        For fitting and for scoring.
    scoring : None, str, callable, list or dict
        None is the accuracy, or R2; else as in scikit-learn. Functions get y as an array.
    random_state : int, RandomState or None
        Seed of the shuffle, and of chance inside the estimator where it has no seed of its own.
    stratify : bool
        Give both parts the same share of each class, where there is one target of classes.
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
    task = task_of(est, X, y, sample_weight, random_state)
    scorers = scorers_of(scoring, is_classification=task.is_classification)
    by_class: Literal["always", "never"] = "always" if stratify and task.is_classification else "never"
    split = two_parts(task.truth, _test_rows(test_size, task.n), random_state, by_class=by_class)
    found = evaluate_folds(est, task, [split], scorers, n_jobs=1, keep=keep_estimators)
    return scores_of(est, "holdout", task, found)


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
    """Fit as many times as there are folds, each time scoring on the fold left out.

    Parameters
    ----------
    est : estimator
        Any of this library or of scikit-learn; copies are fitted.
    X, y : table of n rows and its target
    cv : int >= 2, splitter of scikit-learn, pairs of rows, or array of n fold numbers
        An int shuffles with ``random_state``, and spreads each class evenly where there is one target of classes.
    sample_weight : n numbers >= 0, optional
        For fitting and for scoring.
    scoring : None, str, callable, list or dict
        None is the accuracy, or R2; else as in scikit-learn. Functions get y as an array.
    random_state : int, RandomState or None
        Seed of the shuffle, and of chance inside the estimator where it has no seed of its own.
    n_jobs : int, optional
        Folds side by side; None is every processor. Given a ``random_state``, the result does not depend on it.
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
        number of any row was refused, whether it is learned from or only tested.

    Warns
    -----
    DataWarning
        What the fits warn of, once of each sort with the number of folds; a score that is nan; a pandas target whose
        index has another order than that of X.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_iris
    >>> scores = tw.model_selection.cross_validate(tw.DecisionTreeClassifier(), *load_iris(return_X_y=True))
    >>> round(scores.mean, 3), round(scores.standard_error, 3), len(scores.predictions)
    (0.94, 0.018, 150)
    """
    task = task_of(est, X, y, sample_weight, random_state)
    scorers = scorers_of(scoring, is_classification=task.is_classification)
    splits = splits_of(cv, task.y, is_classification=task.is_classification, random_state=random_state, groups=groups)
    found = evaluate_folds(est, task, splits, scorers, n_jobs=n_jobs, keep=keep_estimators)
    return scores_of(est, "cross_validate", task, found)


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

    Nearest neighbours are searched once instead, where their metric does not learn from the rows.

    Parameters
    ----------
    est, X, y, sample_weight, n_jobs, keep_estimators
        As for ``cross_validate``. A row of weight 0 is not predicted.
    scoring : None, str, callable, list or dict
        None is the accuracy, or minus the squared error: R2 of a single row is not defined (``Scores.pooled`` has
        that of all).

    Returns
    -------
    Scores
        A fold per row; without scores on training rows.

    Raises
    ------
    ParameterError
        A parameter is outside its range; a score that a single row has not (R2, the area under a curve).
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
    task = task_of(est, X, y, sample_weight)
    if scoring is None and not task.is_classification:
        scoring = "neg_mean_squared_error"
    scorers = scorers_of(scoring, is_classification=task.is_classification)
    counting = np.arange(task.n) if task.weights is None else np.flatnonzero(task.weights > 0)
    if len(counting) < 2:
        raise DataError(f"{len(counting)} row(s) with weight: at least 2 are needed to leave one out")
    found = None
    if not keep_estimators and isinstance(est, NeighborsEstimator):
        found = folds_of_one_search(est, task, scoring, n_jobs)
    if found is None:
        splits = _EachLeftOut(task.n, counting)
        found = evaluate_folds(est, task, splits, scorers, n_jobs=n_jobs, keep=keep_estimators, on_training_rows=False)
    return scores_of(est, "leave_one_out", task, found)


class _EachLeftOut(Sequence[Split]):
    """A fold per row, made when it is asked for: all at once they would hold n x n positions."""

    def __init__(self, n: int, rows: np.ndarray) -> None:
        self.n, self.rows = n, rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, at: Any) -> Any:
        row = self.rows[at]
        return np.delete(np.arange(self.n), row), np.array([row])


def evaluate_folds(
    estimator: Any,
    task: Task,
    splits: Sequence[Split],
    scorers: Mapping[str, Scorer],
    *,
    n_jobs: int | None,
    keep: bool = False,
    on_training_rows: bool = True,
) -> list[Fold]:
    """Fit and score every fold.

    Parameters
    ----------
    estimator : estimator
        Copies are fitted.
    task : Task
    splits : sequence of (int64[n_train], int64[n_test])
    scorers : dict from str to function
    n_jobs : int or None
    keep : bool
        Keep the fitted copies.
    on_training_rows : bool
        Score the training rows as well.

    Raises
    ------
    DataError
        The test rows of a fold all weigh 0 (``Task.weights_at``).

    Warns
    -----
    DataWarning
        What the fits warn of, once of each sort.
    """
    if task.weights is not None:
        for at, (_, test) in enumerate(splits):
            try:
                task.weights_at(test)
            except DataError as error:
                error.add_note(f"these are the test rows of fold {at} of {len(splits)}")
                raise

    def work(at: int) -> Fold:
        train, test = splits[at]
        fitted = task.fit(estimator, train, f"the training rows of fold {at} of {len(splits)}")
        try:
            table = take_rows(task.X, test)
            scores = _scores(scorers, fitted, task, table, test)
            predictions = np.asarray(fitted.predict(table))
            on_train = None
            if on_training_rows:
                on_train = _scores(scorers, fitted, task, take_rows(task.X, train), train)
        except Exception as error:
            error.add_note(f"while scoring {type(estimator).__name__} in fold {at} of {len(splits)}")
            raise
        return Fold(len(train), test, scores, on_train, predictions, *size_of(fitted), fitted if keep else None)

    return answers(work, len(splits), n_jobs)


def scores_of(estimator: Any, method: str, task: Task, folds: Sequence[Fold]) -> Scores:
    """What the folds say together."""
    names = list(folds[0].test_scores)
    test = {name: np.array([fold.test_scores[name] for fold in folds]) for name in names}
    train = None
    if all(fold.train_scores is not None for fold in folds):
        train = {name: np.array([(fold.train_scores or {})[name] for fold in folds]) for name in names}
    remedy = "choose another score" if method == "leave_one_out" else "give larger folds, or another score"
    warn_of_nan(test, remedy)
    rows = predictions = pooled = None
    tested = np.concatenate([fold.test for fold in folds])
    if np.bincount(tested).max() == 1:
        order = np.argsort(tested, kind="stable")
        if task.weights is not None:
            order = order[task.weights[tested[order]] > 0]
        rows, predictions = tested[order], np.concatenate([fold.predictions for fold in folds])[order]
        pooled = pooled_scores(task, rows, predictions)
    kept = tuple(fold.estimator for fold in folds)
    return Scores(
        estimator=type(estimator).__name__,
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
    )


def warn_of_nan(test: Mapping[str, np.ndarray], remedy: str = "give larger folds, or another score") -> None:
    """Say which scores are not defined in some fold: their mean is not defined either.

    Parameters
    ----------
    test : dict from str to float64[k]
    remedy : str

    Warns
    -----
    DataWarning
        One for all.
    """
    undefined = {name: np.flatnonzero(np.isnan(scores)) for name, scores in test.items()}
    undefined = {name: folds for name, folds in undefined.items() if len(folds)}
    if not undefined:
        return
    name, folds = next(iter(undefined.items()))
    more = f"; {len(undefined) - 1} more of {len(test)} scores have such folds" if len(undefined) > 1 else ""
    notices.warn(
        f"the score {name!r} is nan in {len(folds)} of {len(test[name])} folds (first fold {folds[0]}), so its mean is "
        f"nan too{more}: {remedy}"
    )


def _scores(scorers: Mapping[str, Scorer], fitted: Any, task: Task, table: Any, rows: np.ndarray) -> dict[str, float]:
    """Every score on some rows."""
    return {name: scorer(fitted, table, task.truth[rows], task.weights_at(rows)) for name, scorer in scorers.items()}


def _test_rows(test_size: Any, n: int) -> int:
    """How many rows are kept aside."""
    if is_whole(test_size) and test_size >= 1:
        return int(test_size)
    if isinstance(test_size, float | np.floating) and 0 < test_size < 1:
        return math.ceil(float(test_size) * n)
    raise ParameterError(f"test_size={test_size!r}: give a share between 0 and 1, or a number of rows >= 1")
