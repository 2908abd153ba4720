"""Leave-one-out errors of nearest neighbours without a fit for each row. Out: ``NeighborCurve``, predictions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.core.elementary import is_whole
from treewright.core.threads import resolve_jobs
from treewright.data.memory import check_fits
from treewright.data.take import take_rows
from treewright.evaluation.folds import Fold, Task, run_tasks, task_of, with_parameters
from treewright.evaluation.scores import WORDS, Loss, are_correct, check_loss, mean_of, row_losses, standard_error
from treewright.evaluation.tables import abridged, best_and_simplest, lines_shown, side_by_side, written
from treewright.exceptions import DataError, ParameterError
from treewright.learn.params import CLASSES, NUMBERS
from treewright.learn.registry import algorithm_of_estimator
from treewright.model.neighbors import NeighborsModel, encoded_queries
from treewright.neighbors.votes import answers_by_k, answers_without_itself, is_fixed, wants_next
from treewright.show.spans import TextColumn
from treewright.trees.data import labels_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOG_FROM = 30  # numbers of neighbours that span this factor are drawn on a logarithmic axis


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
    """Leave-one-out error for 1, 2, 3, ... neighbours: every row is predicted from its neighbours among all others.

    Parameters
    ----------
    est : KNeighborsClassifier or KNeighborsRegressor
        A copy is fitted; its ``n_neighbors`` does not matter.
    X, y : table of n rows and its target
    max_neighbors : int >= 1
        The largest number to try; at most n - 1 are tried.
    loss : {"misclassification", "squared_error", "absolute_error"}, optional
        By default the misclassification rate, or the squared error.
    refit_metric : bool
        Whether a metric that learns from the rows (scales by name, Mahalanobis, Gower, HEOM, HVDM) is fitted again
        without each row. That is exact, and takes n fits. Without it the metric of all rows is used, which has seen the
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
        The estimator is another one, a parameter is outside its range, or ``refit_metric=False`` with HVDM, whose
        distances are computed from the targets.
    DataError
        There is one row; or as for ``fit`` and ``predict``.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_iris
    >>> curve = tw.model_selection.neighbor_curve(tw.KNeighborsClassifier(), *load_iris(return_X_y=True))
    >>> curve.best, round(float(curve.error.min()), 3), curve.one_se
    (21, 0.02, 21)
    """
    algorithm = algorithm_of_estimator(est)
    if algorithm is None or not algorithm.is_neighbors:
        raise ParameterError(
            f"a {type(est).__name__} has no curve over neighbours: give KNeighborsClassifier or KNeighborsRegressor, "
            "or use error_curve"
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
                "refit_metric=False: the distances of hvdm are computed from the targets, also that of the row left "
                "out: give refit_metric=True"
            )
        for first, last, predicted in _blocks(model, k_values.tolist(), n_jobs):
            found[:, first:last] = predicted
    else:
        _refit(est, task, model, k_values.tolist(), found, n_jobs)
    truth = model.stored.codes if model.task == "classification" else model.stored.values
    assert truth is not None  # noqa: S101 - one of the two is stored
    return NeighborCurve.of(type(est).__name__, k_values, loss, found, truth, model.classes)


@dataclass(frozen=True, eq=False, repr=False)
class NeighborCurve:
    """Leave-one-out error for every number of nearest neighbours.

    Attributes
    ----------
    estimator : str
        The name of its class.
    k : int64[K], ascending
        Numbers of neighbours.
    error : float64[K]
        Mean loss of the n rows, each predicted from all the others.
    standard_error : float64[K]
        Of ``error``, over the rows: their standard deviation over the square root of n.
    loss : {"misclassification", "squared_error", "absolute_error"}
    n_rows : int
    answers : unsigned int[K, n, n_outputs] or float64[K, n, n_outputs]
        Codes of the predicted classes, or the predicted numbers.
    classes : tuple of ndarray
        Per output the sorted labels; empty for numbers.
    """

    estimator: str
    k: np.ndarray
    error: np.ndarray
    standard_error: np.ndarray
    loss: Loss
    n_rows: int
    answers: np.ndarray
    classes: tuple[np.ndarray, ...] = ()

    @classmethod
    def of(
        cls, estimator: str, k: np.ndarray, loss: Loss, answers: np.ndarray, truth: np.ndarray, classes: Any
    ) -> NeighborCurve:
        """The curve of given predictions.

        Parameters
        ----------
        estimator, k, loss, answers, classes
            As the attributes.
        truth : int or float64[n, n_outputs]
            The true codes or numbers of the rows.
        """
        errors, spreads = np.empty(len(k)), np.empty(len(k))
        for at, predicted in enumerate(answers):
            with np.errstate(over="ignore"):
                losses = row_losses(loss, truth, predicted)
            errors[at], spreads[at] = mean_of(losses), standard_error(losses)
        return cls(estimator, k, errors, spreads, loss, len(truth), answers, tuple(classes))

    @property
    def best(self) -> int:
        """The number of neighbours with the least error; among equals the largest, which is the simplest."""
        return int(self.k[self._best_position])

    @property
    def one_se(self) -> int:
        """The largest number of neighbours whose error is within one standard error of the least.

        The more neighbours, the smoother the borders: the largest number is the simplest model (Breiman et al. 1984,
        section 3.4.3, has the rule for trees).

        Raises
        ------
        ParameterError
            The errors are beyond float64.
        """
        at = self._best_position
        margin = float(self.standard_error[at])
        if not math.isfinite(margin):
            raise ParameterError("the errors of the rows are beyond float64, so they have no standard error: use best")
        return int(self.k[np.flatnonzero(self.error <= self.error[at] + margin)[-1]])

    @property
    def _best_position(self) -> int:
        error = np.nan_to_num(self.error, nan=np.inf, posinf=np.inf)
        return len(error) - 1 - int(error[::-1].argmin())

    def predictions(self, k: int | None = None) -> np.ndarray:
        """The prediction of each row by its neighbours among the other rows.

        Parameters
        ----------
        k : int, one of those tried, optional
            By default ``best``.

        Returns
        -------
        ndarray[n] or ndarray[n, n_outputs]
            Labels in the dtype of the target; float64 for numbers.

        Raises
        ------
        ParameterError
            ``k`` was not tried.
        """
        k = self.best if k is None else k
        if not is_whole(k) or k not in self.k:
            raise ParameterError(f"k={k!r}: give 1 to {int(self.k[-1])}, the numbers of neighbours that were tried")
        predicted = self.answers[int(np.searchsorted(self.k, k))]
        if self.classes:
            return labels_of(self.classes, predicted)
        return predicted[:, 0].copy() if predicted.shape[1] == 1 else predicted.copy()

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns for a data frame, a row per number of neighbours."""
        return {
            "n_neighbors": self.k.tolist(),
            "error": self.error.tolist(),
            "standard_error": self.standard_error.tolist(),
        }

    def show(self) -> str:
        """The curve as text."""
        return str(self)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        marks = self._marks()
        shown = lines_shown(len(self.k), marks)
        # One precision for all: errors and standard errors are compared.
        texts = written([*self.error[shown].tolist(), *self.standard_error[shown].tolist()])
        columns = [
            TextColumn("n_neighbors", [str(k) for k in self.k[shown].tolist()], "right"),
            TextColumn("left out", texts[: len(shown)], "point"),
            TextColumn("s.e.", texts[len(shown) :], "point"),
            TextColumn("", [marks.get(at, "") for at in shown], "left"),
        ]
        titles, *lines = side_by_side(columns)
        head = f"{WORDS[self.loss]} of {self.estimator}, each of {self.n_rows} rows left out once"
        return "\n".join([head, titles, *abridged(shown, lines, "number")])

    def _marks(self) -> dict[int, str]:
        """Marks of the positions that the two rules choose."""
        best = self._best_position
        has_margin = math.isfinite(self.standard_error[best])
        return best_and_simplest(best, int(np.searchsorted(self.k, self.one_se)) if has_margin else None)

    def plot(self, **options: Any) -> Figure:
        """Draw the error with a band of one standard error; needs the extra ``plot``.

        Parameters
        ----------
        **options
            As ``treewright.show.figures.curves.error_curve``.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from treewright.show.figures.curves import error_curve

        marks = {"best": self.best}
        if math.isfinite(self.standard_error[self._best_position]):
            marks["1 s.e."] = self.one_se
        given: dict[str, Any] = {
            "x": self.k.astype(np.float64),
            "test": self.error,
            "test_se": self.standard_error,
            "xlabel": "n_neighbors",
            "ylabel": WORDS[self.loss],
            "log_x": bool(self.k[-1] >= LOG_FROM),
            "marks": marks,
            "test_label": "rows left out",
        }
        return error_curve(**(given | options))


def folds_of_one_search(est: Any, task: Task, scoring: Any, n_jobs: int | None) -> list[Fold] | None:
    """The folds of ``leave_one_out``, equal to those of n fits, by one search; None if that is impossible.

    Scores other than the default one may need a fitted estimator for each fold.
    """
    usual = None if task.is_classification else "neg_mean_squared_error"
    if not (scoring is usual or (isinstance(scoring, str) and scoring == usual)):
        return None
    predicted = left_out_predictions(est, task, n_jobs)
    if predicted is None:
        return None
    if task.is_classification:
        scores = are_correct(task.truth, predicted).astype(np.float64)
    else:
        scores = -np.square(task.truth - predicted.reshape(task.truth.shape)).reshape(task.n, -1).mean(axis=1)
    name, none = usual or "accuracy", float("nan")
    return [
        Fold(task.n - 1, np.array([row]), {name: score}, None, predicted[row : row + 1], none, none, None)
        for row, score in enumerate(scores.tolist())
    ]


def left_out_predictions(est: Any, task: Task, n_jobs: int | None) -> np.ndarray | None:
    """The leave-one-out predictions of n fits; None if one search cannot give bit-identical ones.

    The estimator is one of this library itself, not a subclass, which may behave differently.
    """
    algorithm = algorithm_of_estimator(est)
    if algorithm is None or not algorithm.is_neighbors or task.weights is not None:
        return None
    if type(est) is not algorithm.estimator(CLASSES if task.is_classification else NUMBERS):
        return None
    if not is_whole(est.n_neighbors) or not 1 <= est.n_neighbors < task.n:
        return None  # the first of the fits raises the error
    model: NeighborsModel = task.fit(est, np.arange(task.n), "all rows").model_
    if not is_fixed(model.stored.metric):
        return None
    found = np.concatenate([predicted[0] for *_, predicted in _blocks(model, [model.n_neighbors], n_jobs)])
    if model.task == "classification":
        return labels_of(model.classes, found)
    return found[:, 0] if model.n_outputs == 1 else found


def _refit(
    est: Any, task: Task, whole: NeighborsModel, k_values: list[int], found: np.ndarray, n_jobs: int | None
) -> None:
    """Write the prediction for each row by a fit without it, for every k."""

    def work(row: int) -> None:
        others = np.delete(np.arange(task.n), row)
        model: NeighborsModel = task.fit(est, others, f"the rows without row {row}").model_
        stored, owner = model.stored, type(est).__name__
        points = stored.points_of(encoded_queries(model, take_rows(task.X, np.array([row])), owner))
        reach = min(k_values[-1] + wants_next(model.weights), model.n_rows)
        neighbors, distances = stored.nearest(points, reach, 1, row)
        predicted = answers_by_k(stored, neighbors, distances, k_values, model.weights, _sizes(model))
        if model.classes:
            for output, (own, known) in enumerate(zip(model.classes, whole.classes, strict=True)):
                predicted[..., output] = np.searchsorted(known, own)[predicted[..., output]]
        found[:, row] = predicted[:, 0]

    run_tasks(work, task.n, n_jobs)


def _blocks(model: NeighborsModel, k_values: list[int], n_jobs: int | None) -> Iterator[tuple[int, int, np.ndarray]]:
    """Blocks of predictions from ``answers_without_itself`` of a model."""
    return answers_without_itself(model.stored, k_values, model.weights, _sizes(model), resolve_jobs(n_jobs))


def _room(model: NeighborsModel, n_values: int) -> np.ndarray:
    """An empty array for the predictions for every k."""
    largest = max((len(labels) for labels in model.classes), default=0)
    dtype = np.min_scalar_type(largest) if largest else np.dtype(np.float64)
    shape = (n_values, model.n_rows, model.n_outputs)
    needed = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    check_fits(needed, f"the predictions of {shape[1]} rows for {n_values} numbers of neighbours", "try fewer of them")
    return np.empty(shape, dtype)


def _sizes(model: NeighborsModel) -> list[int]:
    """Number of classes per output; empty for regression."""
    return [len(labels) for labels in model.classes]
