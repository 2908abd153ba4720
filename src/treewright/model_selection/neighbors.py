"""Nearest neighbours judged on rows left out, without a fit for each. In: an estimator, a table. Out: a curve, answers.

Callers: users, model_selection.evaluate.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from treewright.core.threads import resolve_jobs
from treewright.core.whole import is_whole
from treewright.data.memory import check_fits
from treewright.estimators.neighbors import Neighbors as NeighborsEstimator
from treewright.exceptions import DataError, ParameterError
from treewright.model.answers import labels_of
from treewright.model.neighbors import NeighborsModel
from treewright.model.neighbors_rows import encoded_queries
from treewright.model_selection.candidates import with_parameters
from treewright.model_selection.curve_of_neighbors import NeighborCurve
from treewright.model_selection.fold import Fold
from treewright.model_selection.losses import Loss, check_loss
from treewright.model_selection.parallel import answers
from treewright.model_selection.rows import take_rows
from treewright.model_selection.scoring import are_right
from treewright.model_selection.task import Task, task_of
from treewright.neighbors.leave_one_out import answers_by_k, answers_without_itself, is_fixed
from treewright.neighbors.votes import wants_next

__all__ = ["folds_of_one_search", "left_out_predictions", "neighbor_curve"]


def neighbor_curve(
    est: Any,
    X: Any,
    y: Any,
    *,
    max_neighbors: int = 100,
    loss: Loss | None = None,
    refit_metric: bool = True,
    n_jobs: int | None = None,
) -> NeighborCurve:
    """Leave-one-out error for 1, 2, 3, ... neighbours: predict every row from its neighbours among all others.

    Parameters
    ----------
    est : KNeighborsClassifier or KNeighborsRegressor
        A copy is fitted; its ``n_neighbors`` does not matter.
    X, y : table of n rows and its target
    max_neighbors : int >= 1
        The largest number to try; at most n - 1 are.
    loss : {"misclassification", "squared_error", "absolute_error"}, optional
        By default the misclassified share, or the squared error.
    refit_metric : bool
        Whether a metric that learns from the rows (scales by name, Mahalanobis, Gower, HEOM, HVDM) is learned anew
        without each row. That is exact, and takes n fits. Without it the metric of all rows serves, and has seen the
        row left out. All other metrics learn nothing: one search is exact.
    n_jobs : int, optional
        The result does not depend on it.

    Returns
    -------
    NeighborCurve
        It holds the predictions for every number of neighbours: for classes mostly 1 byte each, else 8.

    Raises
    ------
    ParameterError
        The estimator is another one, a parameter is outside its range, or the metric of all rows is wanted of HVDM,
        whose distances are made of the targets.
    DataError
        There is one row; or as ``fit`` and ``predict``.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_iris
    >>> curve = tw.model_selection.neighbor_curve(tw.KNeighborsClassifier(), *load_iris(return_X_y=True))
    >>> curve.best, round(float(curve.error.min()), 3), curve.one_se
    (21, 0.02, 21)
    """
    if not isinstance(est, NeighborsEstimator):
        raise ParameterError(
            f"a {type(est).__name__} has no curve over neighbours: give KNeighborsClassifier or KNeighborsRegressor; "
            "error_curve is for everything else"
        )
    if not is_whole(max_neighbors) or max_neighbors < 1:
        raise ParameterError(f"max_neighbors={max_neighbors!r}: give a whole number >= 1")
    task = task_of(est, X, y)
    known: tuple[Loss, ...] = ("misclassification",) if task.is_classification else ("squared_error", "absolute_error")
    loss = check_loss(loss, is_classification=task.is_classification, known=known)
    if task.n < 2:
        raise DataError(f"{task.n} row(s): at least 2 are needed to leave one out")
    k_values = np.arange(1, min(int(max_neighbors), task.n - 1) + 1)
    est = with_parameters(est, {"n_neighbors": 1})  # more could be too many for the rows
    model: NeighborsModel = task.fit(est, np.arange(task.n), "all rows").model_
    found = _room(model, len(k_values))
    if is_fixed(model.stored.metric) or not refit_metric:
        if model.stored.metric.name == "hvdm":
            raise ParameterError(
                "refit_metric=False: the distances of hvdm are made of the targets, also of that of the row left out: "
                "give refit_metric=True"
            )
        for first, last, said in _blocks(model, k_values.tolist(), n_jobs):
            found[:, first:last] = said
    else:
        _refit(est, task, model, k_values.tolist(), found, n_jobs)
    truth = model.stored.codes if model.task == "classification" else model.stored.values
    assert truth is not None  # noqa: S101 - one of the two is stored
    return NeighborCurve.of(type(est).__name__, k_values, loss, found, truth, model.classes)


def folds_of_one_search(est: Any, task: Task, scoring: Any, n_jobs: int | None) -> list[Fold] | None:
    """The folds of ``leave_one_out`` without a fit for each, under the usual score; None for all else.

    Parameters
    ----------
    est : estimator
    task : Task
    scoring : None, str, callable, list or dict
        Other scores than the usual one may ask a fitted estimator for whatever they like.
    n_jobs : int or None

    Returns
    -------
    list of Fold, equal to those of n fits; or None
    """
    if scoring is not None if task.is_classification else not _is_squares(scoring):
        return None
    said = left_out_predictions(est, task, n_jobs)
    if said is None:
        return None
    if task.is_classification:
        name, scores = "accuracy", are_right(task.truth, said).astype(np.float64)
    else:
        name = "neg_mean_squared_error"
        scores = -np.square(task.truth - said.reshape(task.truth.shape)).reshape(task.n, -1).mean(axis=1)
    none = float("nan")
    return [
        Fold(task.n - 1, np.array([row]), {name: score}, None, said[row : row + 1], none, none, None)
        for row, score in enumerate(scores.tolist())
    ]


def _is_squares(scoring: Any) -> bool:
    """Whether a score is the squared error, the usual one of numbers."""
    return isinstance(scoring, str) and scoring == "neg_mean_squared_error"


def left_out_predictions(est: Any, task: Task, n_jobs: int | None) -> np.ndarray | None:
    """What n fits, each without a row, predict for that row; None where one search cannot say it to the bit.

    Parameters
    ----------
    est : estimator
        Of this library itself: what a subclass does differently is not known.
    task : Task
    n_jobs : int or None

    Returns
    -------
    ndarray[n] or ndarray[n, n_outputs], or None
    """
    from treewright.estimators.neighbors import KNeighborsClassifier, KNeighborsRegressor

    if type(est) not in (KNeighborsClassifier, KNeighborsRegressor) or task.weights is not None:
        return None
    if not is_whole(est.n_neighbors) or not 1 <= est.n_neighbors < task.n:
        return None  # the first of the fits says what is wrong
    model: NeighborsModel = task.fit(est, np.arange(task.n), "all rows").model_
    if not is_fixed(model.stored.metric):
        return None
    found = np.concatenate([said[0] for *_, said in _blocks(model, [model.n_neighbors], n_jobs)])
    if model.task == "classification":
        return labels_of(model.classes, found)
    return found[:, 0] if model.n_outputs == 1 else found


def _blocks(model: NeighborsModel, k_values: list[int], n_jobs: int | None) -> Iterator[tuple[int, int, np.ndarray]]:
    """``answers_without_itself`` of a model."""
    return answers_without_itself(model.stored, k_values, model.weights, _sizes(model), resolve_jobs(n_jobs))


def _room(model: NeighborsModel, n_values: int) -> np.ndarray:
    """Where answers for every k go."""
    largest = max((len(labels) for labels in model.classes), default=0)
    dtype = np.min_scalar_type(largest) if largest else np.dtype(np.float64)
    shape = (n_values, model.n_rows, model.n_outputs)
    needed = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    check_fits(needed, f"the predictions of {shape[1]} rows for {n_values} numbers of neighbours", "try fewer of them")
    return np.empty(shape, dtype)


def _refit(
    est: Any, task: Task, whole: NeighborsModel, k_values: list[int], found: np.ndarray, n_jobs: int | None
) -> None:
    """Write what a fit without each row says of that row, for every k."""

    def work(row: int) -> None:
        others = np.delete(np.arange(task.n), row)
        model: NeighborsModel = task.fit(est, others, f"the rows without row {row}").model_
        stored, owner = model.stored, type(est).__name__
        points = stored.points_of(encoded_queries(model, take_rows(task.X, np.array([row])), owner))
        reach = min(k_values[-1] + wants_next(model.weights), model.n_rows)
        neighbors, distances = stored.nearest(points, reach, 1, row)
        said = answers_by_k(stored, neighbors, distances, k_values, model.weights, _sizes(model))
        if model.classes:
            for output, (own, known) in enumerate(zip(model.classes, whole.classes, strict=True)):
                said[..., output] = np.searchsorted(known, own)[said[..., output]]
        found[:, row] = said[:, 0]

    answers(work, task.n, n_jobs)


def _sizes(model: NeighborsModel) -> list[int]:
    """Per output how many classes there are; empty for numbers."""
    return [len(labels) for labels in model.classes]
