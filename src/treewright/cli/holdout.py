"""Held-out rows. In: an estimator, a table. Out: a fitted estimator and its score on the held-out rows.

Splits are those of ``judge``: seeded, and stratified if every class has enough rows; so the same command gives the same
score on every machine. Each kind of warning of the fits on folds is shown once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from treewright.cli.models import is_neighbors
from treewright.cli.terminal import UsageRefusal, printable
from treewright.core.notices import listening
from treewright.evaluation.measures import (
    LabelScore,
    NumberScore,
    QuantileScore,
    Score,
    ShareScore,
    are_unequal,
    label_series,
)
from treewright.exceptions import DataError
from treewright.files import Table
from treewright.trees.data import quantile_levels
from treewright.trees.summary import counted

if TYPE_CHECKING:
    from treewright.cli.models import AnyModel
    from treewright.evaluation.folds import Split, Task
    from treewright.trees.threshold import Threshold

__all__ = ["HeldOut", "Learnable", "add_rows", "fit_and_hold_out", "score_by_folds", "score_for", "warning_of"]


@dataclass(frozen=True)
class Learnable:
    """A table that was read for a fit; ``remark`` is a line about the task if the choice may surprise, else empty."""

    table: Table
    features: pl.DataFrame
    target: pl.Series
    weights: np.ndarray | None
    is_classification: bool
    remark: str


@dataclass(frozen=True)
class HeldOut:
    """A fitted estimator and its score on held-out rows, whose positions are ``rows``.

    ``score``, that of the constant prediction (``baseline``) and ``rows`` are None if no row was held out.
    """

    estimator: Any
    n_fitted: int
    score: Score | None = None
    baseline: Score | None = None
    stratified: bool = False
    rows: np.ndarray | None = None


def fit_and_hold_out(
    estimator: Any, data: Learnable, seed: int, test_size: float, *, every_measure: bool = False
) -> HeldOut:
    """Fit a copy on one part of the rows, score it on the other part.

    ``test_size`` is the share of rows held out, 0 to below 1; 0 fits on every row and scores nothing.
    ``every_measure`` computes the scores of probabilities also if the classes are balanced.
    """
    task, n = _task(data, seed), len(data.target)
    if test_size == 0:
        return HeldOut(task.fit(estimator, None, "all rows", seeded=False), n)
    n_test = int(np.ceil(test_size * n))
    if n_test < 1 or n - n_test < 1:
        raise DataError(f"{_too_few(n)} to hold out {n_test}: give more rows, or fit on all with --test-size 0")
    split, stratified = _two_parts(task, n_test)
    fitted = _fitted(estimator, task, split)
    score, baseline = score_for(fitted.model_), score_for(fitted.model_)
    _add(task, split, fitted, baseline, score, always=every_measure)
    return HeldOut(fitted, len(split[0]), score, baseline, stratified, split[1])


def score_by_folds(
    estimator: Any, data: Learnable, seed: int, n_folds: int, *, every_measure: bool = False
) -> tuple[Score, Score, list[Score]]:
    """Fit one copy for each of ``n_folds`` (2 or more) folds, and score it on the fold that is left out.

    Returns the score over all rows, each predicted by the fit that did not see it; that of the constant prediction; and
    that of each fold.
    """
    from treewright.evaluation.folds import folds_within, splits_of

    task, n = _task(data, seed), len(data.target)
    if n < n_folds:
        raise DataError(f"{_too_few(n)} for {n_folds} folds: give --cv {max(2, n)} or less")
    sort = {"is_classification": task.is_classification}
    cv = folds_within(n_folds, task.truth, random_state=seed, **sort)
    per_fold: list[Score] = []
    with listening() as notices:
        for split in splits_of(cv, task.truth, random_state=seed, **sort):
            fitted = _fitted(estimator, task, split)
            if not per_fold:
                score, baseline = score_for(fitted.model_), score_for(fitted.model_)
            per_fold.append(score_for(fitted.model_))
            _add(task, split, fitted, baseline, score, per_fold[-1], always=every_measure)
    notices.tell(n_folds, "folds")
    return score, baseline, per_fold


def score_for(model: AnyModel) -> Score:
    """An empty score for a model's predictions of one target.

    A model with several outputs for a row, fitted with a loss function of the user, is refused.
    """
    if model.task == "classification":
        return LabelScore(shares=_shares_for(model))
    levels = () if is_neighbors(model) else quantile_levels(model)
    if model.n_outputs > 1 and not levels:
        raise UsageRefusal(
            f"the model has {model.n_outputs} outputs for a row, from a loss that is a Python function: there is no "
            "score for them"
        )
    return QuantileScore(levels) if levels else NumberScore()


def _shares_for(model: AnyModel) -> ShareScore | None:
    """An empty score of a model's probabilities; None if it has several targets, or no probabilities."""
    if len(model.classes) != 1:
        return None
    return ShareScore(are_probabilities=is_neighbors(model) or not model.aggregation.votes)


def add_rows(
    score: Score, model: AnyModel, predictor: Any, features: Any, truth: pl.Series, *, always: bool = False
) -> None:
    """Add the predictions for some rows to the score, and for classification the probabilities if they matter.

    Probabilities are a second pass through the trees: only if the classes of the first rows are unequal, or with
    ``always``. ``predictor`` is the model or the estimator around it.
    """
    is_first = score.n == 0
    score.add(truth, np.asarray(predictor.predict(features)))
    if not isinstance(score, LabelScore) or score.shares is None:
        return
    if is_first and not always and not are_unequal(score.true_totals()):
        score.shares = None
        return
    labels = label_series("class", model.classes[0]).to_list()
    score.shares.add(truth, np.asarray(model.predict_proba(features)), labels)


def warning_of(score: Score | None, model: AnyModel, baseline: Score | None = None) -> str:
    """A one-line warning about a score, or an empty text.

    It warns if the training rows are of one class or lack a class, and if the score is no better than that of a
    constant prediction, with the likely reason; ``baseline`` is by default the most frequent class of the scored rows.
    """
    from treewright.evaluation.verdict import class_warnings, reason_of, verdict

    told: list[str] = []
    if model.task == "classification":
        known = label_series("class", model.classes[0]).to_list()
        told += class_warnings(known, score.true_totals() if isinstance(score, LabelScore) else {})
        if len(known) == 1:
            return _warning(told)  # it explains all the others
    if score is None or isinstance(score, QuantileScore):
        return _warning(told)
    if model.threshold is not None:  # it lowers accuracy on purpose, but not to predict one class for all rows
        said = score.predicted_totals() if isinstance(score, LabelScore) else {}
        return _warning([*told, _constant_prediction(model, model.threshold, *said)] if len(said) == 1 else told)
    constant = 0.0
    if isinstance(score, LabelScore):
        constant = max(score.true_totals().values()) / score.n if baseline is None else baseline.main
    found = verdict(score.main, constant, is_classification=isinstance(score, LabelScore))
    return _warning([*told, found, reason_of(model, constant)] if found else told)


def _warning(told: list[str]) -> str:
    """Reasons for a warning in one line; empty without any."""
    return f"WARNING: {'; '.join(told)}" if told else ""


def _constant_prediction(model: AnyModel, threshold: Threshold, label: object) -> str:
    """The message that a model with a threshold predicts one class for all rows, and why."""
    positive = model.positive
    side = "at or above" if label == positive else "below"
    why = f"its probabilities of {printable(positive)} are all {side} {threshold.at:.6g}"
    if not is_neighbors(model) and model.is_single_tree and model.trees[0].n_leaves == 1:
        why = "the tree has one leaf; --prune none or --max-depth 4 keep more"
    return f"the model predicts {printable(label)} for every row: {why}"


def _task(data: Learnable, seed: int) -> Task:
    """The table and target as a ``Task`` for ``judge``."""
    from treewright.evaluation.folds import Task

    return Task(data.features, data.target, data.target.to_numpy(), data.weights, data.is_classification, seed)


def _too_few(n: int) -> str:
    """The words that ``n`` rows are too few."""
    return f"{counted(n, 'row')} {'is' if n == 1 else 'are'} too few"


def _two_parts(task: Task, n_test: int) -> tuple[Split, bool]:
    """Training rows and held-out rows, and whether the split is stratified."""
    from treewright.evaluation.folds import two_parts

    if task.is_classification:
        try:
            return two_parts(task.truth, n_test, task.seed, by_class="always"), True
        except DataError:  # neither part is empty, so a class has too few rows for both
            pass
    return two_parts(task.truth, n_test, task.seed, by_class="never"), False


def _fitted(estimator: Any, task: Task, split: Split) -> Any:
    """A copy fitted on the training rows of a split."""
    return task.fit(estimator, split[0], "the rows that are not held out", seeded=False)


def _add(task: Task, split: Split, fitted: Any, baseline: Score, *scores: Score, always: bool) -> None:
    """Score a fitted estimator, and the best constant prediction of the training rows, on the test rows."""
    learn, test = split
    for score in scores:
        add_rows(score, fitted.model_, fitted, task.X[test], task.y[test], always=always)
    baseline.add_constant(task.y[test], task.y[learn])
