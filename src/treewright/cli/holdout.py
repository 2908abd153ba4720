"""Rows kept aside. In: a table. Out: a fitted estimator and how it did on rows unseen. Callers: cli.fit.

Splits are those of ``model_selection``, seeded, and for classes stratified where every class has rows enough; so the
same command gives the same score on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from treewright.cli.scores import LabelScore, NumberScore, QuantileScore, Score, label_counts, score_for
from treewright.exceptions import DataError

if TYPE_CHECKING:
    from treewright.model_selection.folds import Split

__all__ = ["HeldOut", "Score", "Task", "cross_validate", "fit_and_hold_out"]


@dataclass(frozen=True)
class Task:
    """What is learned from.

    Attributes
    ----------
    features : polars.DataFrame
    target : polars.Series
    weights : ndarray or None
    is_classification : bool
    seed : int
    make : callable
        Gives a fresh, unfitted estimator.
    """

    features: pl.DataFrame
    target: pl.Series
    weights: np.ndarray | None
    is_classification: bool
    seed: int
    make: Callable[[], Any]

    def fit(self, rows: np.ndarray | None) -> Any:
        """A fresh estimator fitted on some rows (None: on all)."""
        features = self.features if rows is None else self.features[rows]
        target = self.target if rows is None else self.target[rows]
        if self.weights is None:  # nearest neighbours take none
            return self.make().fit(features, target)
        return self.make().fit(features, target, sample_weight=self.weights if rows is None else self.weights[rows])


@dataclass(frozen=True)
class HeldOut:
    """A fitted estimator and its score on rows it did not see.

    Attributes
    ----------
    estimator : estimator
    n_fitted : int
        Rows it learned from.
    score, baseline : Score or None
        Its own, and that of the constant answer; None where no row was held out.
    stratified : bool
    rows : int[n] or None
        Positions of the rows held out; None where none was.
    """

    estimator: Any
    n_fitted: int
    score: Score | None = None
    baseline: Score | None = None
    stratified: bool = False
    rows: np.ndarray | None = None


def fit_and_hold_out(task: Task, test_size: float) -> HeldOut:
    """Fit on one part of the rows, score on the other.

    Parameters
    ----------
    task : Task
    test_size : float, 0 to below 1
        Share of the rows held out; 0 fits on every row and scores nothing.

    Raises
    ------
    DataError
        Too few rows for two parts.
    """
    n = len(task.target)
    if test_size == 0:
        return HeldOut(task.fit(None), n)
    n_test = int(np.ceil(test_size * n))
    if n_test < 1 or n - n_test < 1:
        raise DataError(f"{n} rows are too few to hold out {n_test}: give more rows, or fit on all with --test-size 0")
    (learn, test), stratified = _two_parts(task, n_test)
    estimator = task.fit(learn)
    score, baseline = score_for(estimator.model_), score_for(estimator.model_)
    _add(task, estimator, learn, test, score, baseline)
    return HeldOut(estimator, len(learn), score, baseline, stratified, test)


def cross_validate(task: Task, n_folds: int) -> tuple[Score, Score, list[Score]]:
    """Fit as many times as there are folds, each time scoring on the fold left out.

    Parameters
    ----------
    task : Task
    n_folds : int, 2 to the number of rows

    Returns
    -------
    score, baseline : Score
        Over all rows, each predicted by the fit that did not see it.
    per_fold : list of Score

    Raises
    ------
    DataError
        Fewer rows than folds.
    """
    n = len(task.target)
    if n < n_folds:
        raise DataError(f"{n} rows are too few for {n_folds} folds: give --cv {max(2, n)} or less")
    per_fold: list[Score] = []
    for learn, test in _folds(task, n_folds):
        estimator = task.fit(learn)
        if not per_fold:
            score, baseline = score_for(estimator.model_), score_for(estimator.model_)
        fold = score_for(estimator.model_)
        _add(task, estimator, learn, test, score, baseline)
        _add(task, estimator, learn, test, fold, score_for(estimator.model_))
        per_fold.append(fold)
    return score, baseline, per_fold


def _two_parts(task: Task, n_test: int) -> tuple[Split, bool]:
    """Rows to learn from and to score on, and whether both have the same share of each class."""
    from treewright.model_selection.folds import two_parts

    target = task.target.to_numpy()
    if task.is_classification:
        try:
            return two_parts(target, n_test, task.seed, by_class="always"), True
        except DataError:  # neither part is empty: a class has too few rows for both
            pass
    return two_parts(target, n_test, task.seed, by_class="never"), False


def _folds(task: Task, n_folds: int) -> list[Split]:
    """Rows to learn from and to score on, fold by fold."""
    from treewright.model_selection.folds import folds_within, splits_of

    target, sort = task.target.to_numpy(), {"is_classification": task.is_classification}
    cv = folds_within(n_folds, target, random_state=task.seed, **sort)
    return splits_of(cv, target, random_state=task.seed, **sort)


def _add(task: Task, estimator: Any, learn: np.ndarray, test: np.ndarray, score: Score, baseline: Score) -> None:
    """Score an estimator, and the best constant answer of its training rows, on the test rows."""
    predicted = np.asarray(estimator.predict(task.features[test]))
    truth, seen = task.target[test], task.target[learn]
    if isinstance(score, LabelScore) and isinstance(baseline, LabelScore):
        score.add(truth, predicted)
        constant = label_counts(seen)[0][0]
        baseline.add(truth, np.full(len(test), constant, dtype=None if not isinstance(constant, str) else object))
        return
    values, learned = truth.cast(pl.Float64).to_numpy(), seen.cast(pl.Float64).to_numpy()
    if isinstance(score, NumberScore) and isinstance(baseline, NumberScore):
        score.add(values, predicted.astype(np.float64))
        baseline.add(values, np.full(len(test), float(learned.mean())))
    elif isinstance(score, QuantileScore) and isinstance(baseline, QuantileScore):
        score.add(values, predicted)
        baseline.add(values, np.tile(np.quantile(learned, score.levels), (len(test), 1)))
