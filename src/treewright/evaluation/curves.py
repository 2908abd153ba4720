"""Errors over a parameter, the size of a tree, the number of rows. In: an estimator, a table. Out: ``Curve``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.core import notices
from treewright.core.elementary import is_whole
from treewright.data.dataset import factors_for
from treewright.data.target import encode_labels, weighed
from treewright.evaluation.after_fit import Decided, decision_of, has_steps, without_steps
from treewright.evaluation.folds import (
    Split,
    Task,
    check_parameter,
    name_of_class,
    nested_orders,
    overlap_of,
    run_tasks,
    size_of,
    splits_of,
    task_of,
    with_parameters,
)
from treewright.evaluation.path import (
    Family,
    OnPath,
    family_of,
    in_own_unit,
    scored_labels,
    scored_numbers,
    usually_over,
)
from treewright.evaluation.scores import WORDS, Loss, check_loss, in_units, mean_loss, standard_error
from treewright.evaluation.scoring import class_weight_of
from treewright.evaluation.tables import abridged, beside, best_and_simplest, lines_shown, side_by_side
from treewright.evaluation.threshold import deciding_again
from treewright.exceptions import ParameterError
from treewright.prune.cost_complexity import path_of
from treewright.show.spans import TextColumn
from treewright.trees.writing import shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHAT_SIZES = "numbers of rows, such as [50, 100], or of shares, such as [0.5, 1.0]"
DEFAULT_SHARES = np.linspace(0.1, 1.0, 10)
Point = tuple[float, float, float]
LONGEST_VALUE = 24
LOG_FROM = 30  # leaves and rows that span this factor are drawn on a logarithmic axis


def error_curve(
    est: Any,
    X: Any,
    y: Any,
    *,
    over: str | None = None,
    values: Sequence[Any] | None = None,
    cv: Any = 10,
    loss: Loss | None = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    groups: Any = None,
) -> Curve:
    """Training and validation error for several values of one parameter.

    Parameters
    ----------
    est : estimator
        Any of this library or of scikit-learn; copies are fitted.
    X, y : table of n rows and its target
    over : str, optional
        By default ``"max_depth"``, for single trees of this library other than CART ``"leaves"``.
        A parameter of the estimator; or, for a single tree of this library, ``"alpha"`` (the price of a leaf of
        cost-complexity pruning) or ``"leaves"`` (the most leaves on that path). These two, and ``"max_depth"`` of CART
        without ``max_leaf_nodes``, ``max_features`` and ``ccp_alpha``, need one fit per fold; any other parameter needs
        one fit for each fold and value.
    values : sequence, optional
        The values to try. By default up to 50 points: depths up to that of the tree grown on all rows, or the steps of
        its path (every one up to 10 leaves, larger ones at equal ratios). Any other parameter has no default.
    cv : int >= 2, splitter of scikit-learn, pairs of rows, or array of n fold numbers
    loss : {"misclassification", "log_loss", "squared_error", "absolute_error"}, optional
        By default the misclassification rate, or the squared error.
    sample_weight : n numbers >= 0, optional
        For fitting and for the errors; these count the rows of a class as often as ``class_weight`` does.
    random_state : int, RandomState or None
    n_jobs : int, optional
        Folds in parallel; the result does not depend on it.
    groups : n group labels, optional
        For a splitter that keeps groups together.

    Returns
    -------
    Curve

    Raises
    ------
    ParameterError
        The estimator has no such parameter, or values are missing or outside its range.
    DataError
        The folds cannot be made of these rows.

    Notes
    -----
    By default one price stands for each step of the path of the tree grown on all rows: the geometric mean of the
    prices between which the step is the best subtree (Breiman et al. 1984, section 3.4.2), half the first price and
    twice the last.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_iris
    >>> curve = tw.model_selection.error_curve(tw.DecisionTreeClassifier(), *load_iris(return_X_y=True))
    >>> curve.x, curve.one_se
    ((1, 2, 3, 4, 5), 3)
    """
    task, judge, loss, splits = _checked(est, X, y, cv, loss, sample_weight, random_state, groups)
    over = usually_over(est) if over is None else over
    family = family_of(without_steps(est, Decided) if has_steps(est) else est, over)
    if family is None:
        check_parameter(est, over)
        if values is None:
            raise ParameterError(f"over={over!r} has no default values: give values=[...]")
    if values is None and family is not None:
        values = family.default_values(task)
    points = _listed("values", values, f"values of {over!r}, such as [1, 2, 3]")
    if family is not None:
        family.check(points)
    if decision_of(est) is not None and isinstance(family, OnPath):
        if loss == "misclassification":
            notices.warn(
                f"over={over!r} compares the subtrees of a path without the decision threshold: over='max_depth' keeps "
                "it, and loss='log_loss' needs none"
            )
    elif decision_of(est) is not None:
        est, family = deciding_again(est), None
    read_off = _of_one_path(family, task, judge, loss, points)

    def work(at: int) -> list[Point]:
        train, test = splits[at]
        where = f"the training rows of fold {at} of {len(splits)}"
        if read_off is not None:
            return read_off(splits[at], where)
        errors = _errors_of(judge, loss, train, test)
        if family is not None:
            return _of_one_growth(family, task, points, train, where, errors)
        return [errors(task.fit(with_parameters(est, {over: value}), train, where)) for value in points]

    return _curve(est, over, points, run_tasks(work, len(splits), n_jobs), loss, task, splits)


def learning_curve(
    est: Any,
    X: Any,
    y: Any,
    *,
    sizes: Sequence[float] | None = None,
    cv: Any = 10,
    loss: Loss | None = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    groups: Any = None,
) -> Curve:
    """Training and validation error for growing numbers of training rows.

    Parameters
    ----------
    est : estimator
        Any of this library or of scikit-learn; copies are fitted.
    X, y : table of n rows and its target
    sizes : sequence of int >= 1, or of float in (0, 1], optional
        Training rows of a fold, or shares of the smallest training part; by default 10 %, 20 % ... 100 %. In each
        fold the rows of a smaller size are among those of a larger one, and each class keeps its proportion.
    cv, loss, sample_weight, random_state, n_jobs, groups
        As for ``error_curve``.

    Returns
    -------
    Curve
        Over ``"rows"``.

    Raises
    ------
    ParameterError
        A size is outside its range, or larger than a training part.
    DataError
        The folds cannot be made of these rows.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_iris
    >>> curve = tw.model_selection.learning_curve(
    ...     tw.DecisionTreeClassifier(), *load_iris(return_X_y=True), sizes=[15, 45, 135])
    >>> curve.x, curve.train_error.tolist()
    ((15, 45, 135), [0.0, 0.0, 0.0])
    """
    task, judge, loss, splits = _checked(est, X, y, cv, loss, sample_weight, random_state, groups)
    est = deciding_again(est)
    points = _sizes(sizes, min(len(train) for train, _ in splits))
    orders = nested_orders(task, splits, random_state)

    def work(at: int) -> list[Point]:
        found = []
        for size in points:
            rows = np.sort(orders[at][:size])
            fitted = task.fit(est, rows, f"training rows of fold {at} of {len(splits)}")
            found.append(_errors_of(judge, loss, rows, splits[at][1])(fitted))
        return found

    return _curve(est, "rows", points, run_tasks(work, len(splits), n_jobs), loss, task, splits)


def _checked(
    est: Any, X: Any, y: Any, cv: Any, loss: Any, sample_weight: Any, random_state: Any, groups: Any
) -> tuple[Task, Task, Loss, list[Split]]:
    """The task, the same with the weights of the errors, the loss and the folds, checked."""
    task = task_of(est, X, y, sample_weight, random_state)
    loss = check_loss(loss, is_classification=task.is_classification)
    splits = splits_of(cv, y, is_classification=task.is_classification, random_state=random_state, groups=groups)
    return task, _by_class(est, task), loss, splits


def _by_class(est: Any, task: Task) -> Task:
    """The task with each class weighed as ``class_weight`` of the estimator has it, as ``pruning_path`` does."""
    given = class_weight_of(est)
    if given is None or not task.is_classification:
        return task
    labels = encode_labels(task.y)
    factors = factors_for("balanced" if given == "balanced_subsample" else given, labels, task.weights)
    return replace(task, weights=weighed(task.weights, factors, labels.codes))


def _of_one_path(
    family: Family | None, task: Task, judge: Task, loss: Loss, points: Sequence[Any]
) -> Callable[[Split, str], list[Point]] | None:
    """A function from a fold to the errors of subtrees of one path, computed from the one tree that holds them.

    None if the points are no such subtrees, or the loss needs probabilities rather than predictions.
    """
    if not isinstance(family, OnPath) or loss == "log_loss":
        return None
    weights = np.ones(task.n) if judge.weights is None else in_units(judge.weights)
    judged = (scored_labels if loss == "misclassification" else scored_numbers)(task.X, task.y, weights)

    def read_off(split: Split, where: str) -> list[Point]:
        model = task.fit(family.largest(points), split[0], where).model_
        path = path_of(model, "impurity")
        steps, place = np.unique([family.step(path, value) for value in points], return_inverse=True)
        columns = []
        for rows in split:
            judge.weights_at(rows)  # refuses rows that all weigh nothing
            sums = judged.losses(model, path, steps, rows, loss)
            columns.append(in_own_unit(sums.loss / sums.weight, judged.scale, loss)[place].tolist())
        return list(zip(*columns, path.n_leaves[steps][place].astype(np.float64).tolist(), strict=True))

    return read_off


def _of_one_growth(
    family: Family, task: Task, points: Sequence[Any], train: np.ndarray, where: str, errors: Callable[[Any], Point]
) -> list[Point]:
    """Errors of nested subtrees of one tree: two with equally many leaves are the same."""
    grown = task.fit(family.largest(points), train, where)
    known: dict[int, Point] = {}
    found = []
    for value in points:
        tree = family.member(grown, value)
        n_leaves = tree.get_n_leaves()
        if n_leaves not in known:
            known[n_leaves] = errors(tree)
        found.append(known[n_leaves])
    return found


def _errors_of(task: Task, loss: Loss, train: np.ndarray, test: np.ndarray) -> Callable[[Any], Point]:
    """A function from a fitted estimator to its training error, its test error and its leaves."""
    parts = [(task.table(rows, train), task.truth[rows], task.weights_at(rows)) for rows in (train, test)]

    def errors(fitted: Any) -> Point:
        on_train, on_test = (mean_loss(loss, fitted, *part) for part in parts)
        return on_train, on_test, size_of(fitted)[0]

    return errors


def _listed(name: str, values: Any, what: str) -> tuple[Any, ...]:
    """The values as a tuple of Python objects, checked to be a list."""
    if isinstance(values, np.ndarray | range) and np.ndim(values) == 1:
        values = np.asarray(values).tolist()
    if isinstance(values, str) or not isinstance(values, Sequence) or not len(values):
        raise ParameterError(f"{name}={values!r}: give a list of {what}")
    return tuple(values)


def _sizes(sizes: Any, most: int) -> tuple[int, ...]:
    """Numbers of training rows, ascending, each once."""
    rows = set()
    for size in DEFAULT_SHARES.tolist() if sizes is None else _listed("sizes", sizes, WHAT_SIZES):
        if is_whole(size) and 1 <= size <= most:
            rows.add(int(size))
        elif isinstance(size, float | np.floating) and 0 < size <= 1:
            rows.add(max(1, round(float(size) * most)))
        else:
            raise ParameterError(
                f"sizes holds {size!r}: give whole numbers from 1 to {most}, the rows of the smallest training part, "
                f"or shares above 0 and up to 1"
            )
    return tuple(sorted(rows))


@dataclass(frozen=True, eq=False)
class Curve:
    """Errors on training rows and on test rows, point by point.

    Attributes
    ----------
    estimator : str
        The name of its class.
    over : str
        The varied quantity: a parameter, ``"alpha"``, ``"leaves"`` or ``"rows"``.
    x : tuple of k values
    train_error, test_error : float64[k]
        Mean over the folds of the mean loss of a fold's rows.
    train_standard_error, test_standard_error : float64[k]
        Over the folds; nan for one fold.
    train_by_fold, test_by_fold : float64[n_folds, k]
    n_leaves : float64[k]
        Mean over the folds; nan for an estimator that is no tree.
    loss : {"misclassification", "log_loss", "squared_error", "absolute_error"}
    n_rows, n_folds : int
    overlap : float
        0.0 if no row is tested twice, else test rows over training rows: the standard errors then include the part that
        repeats cannot lower (``scores.standard_error``).
    """

    estimator: str
    over: str
    x: tuple[Any, ...]
    train_by_fold: np.ndarray
    test_by_fold: np.ndarray
    n_leaves: np.ndarray
    loss: Loss
    n_rows: int
    overlap: float = 0.0

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self.test_by_fold)

    @property
    def train_error(self) -> np.ndarray:
        """float64[k]: mean over the folds."""
        return _mean(self.train_by_fold)

    @property
    def test_error(self) -> np.ndarray:
        """float64[k]: mean over the folds."""
        return _mean(self.test_by_fold)

    @property
    def train_standard_error(self) -> np.ndarray:
        """float64[k]: of ``train_error``, over the folds."""
        return _between(self.train_by_fold, self.overlap)

    @property
    def test_standard_error(self) -> np.ndarray:
        """float64[k]: of ``test_error``, over the folds."""
        return _between(self.test_by_fold, self.overlap)

    @property
    def best_position(self) -> int:
        """Position of the least validation error; among equals the simplest."""
        error, size = np.nan_to_num(self.test_error, nan=np.inf, posinf=np.inf), self._complexity()
        return min(range(len(self.x)), key=lambda at: (error[at], size[at], at))

    @property
    def one_se_position(self) -> int:
        """Position of the simplest point whose validation error is within one standard error of the least.

        The simplest has the fewest leaves; without leaves, and over rows, it is the first.

        Raises
        ------
        ParameterError
            There is one fold, hence no standard error.
        """
        error, size, best = self.test_error, self._complexity(), self.best_position
        margin = float(self.test_standard_error[best])
        if self.n_folds < 2:
            raise ParameterError("one fold has no standard error: give a larger cv, or use best")
        if not math.isfinite(margin):
            raise ParameterError("the errors of the folds are beyond float64, so they have no standard error: use best")
        near = np.flatnonzero(error <= error[best] + margin).tolist()
        return min(near, key=lambda at: (size[at], error[at], at))

    @property
    def best(self) -> Any:
        """The value of ``x`` with the least validation error."""
        return self.x[self.best_position]

    @property
    def one_se(self) -> Any:
        """The value of ``x`` at ``one_se_position``."""
        return self.x[self.one_se_position]

    def _complexity(self) -> np.ndarray:
        """The complexity of each point; the simplest has the least."""
        if self.over == "rows" or np.isnan(self.n_leaves).any():
            return np.arange(len(self.x), dtype=np.float64)
        return self.n_leaves

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns for a data frame, a row per point."""
        return {
            self.over: list(self.x),
            "train_error": self.train_error.tolist(),
            "train_standard_error": self.train_standard_error.tolist(),
            "test_error": self.test_error.tolist(),
            "test_standard_error": self.test_standard_error.tolist(),
            "mean_leaves": self.n_leaves.tolist(),
        }

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        marks = self._marks()
        shown = lines_shown(len(self.x), marks)
        texts = [f"{v:.4g}" if isinstance(v, float) else str(v) for v in (self.x[at] for at in shown)]
        are_numbers = all(isinstance(value, Real) for value in self.x)
        test = [f"{error:.4g}" for error in self.test_error[shown].tolist()]
        spread = self.test_standard_error[shown].tolist()
        columns = [
            TextColumn(self.over, [shorten(text, LONGEST_VALUE) for text in texts], "right" if are_numbers else "left"),
            TextColumn("training", [f"{error:.4g}" for error in self.train_error[shown].tolist()], "point"),
            TextColumn("test", test, "point"),
            TextColumn("s.e.", [beside(error, text) for error, text in zip(spread, test, strict=True)], "point"),
        ]
        if not np.isnan(self.n_leaves).any() and self.over != "leaves":
            columns.append(TextColumn("leaves", [f"{n:.1f}" for n in self.n_leaves[shown].tolist()], "point"))
        columns.append(TextColumn("", [marks.get(at, "") for at in shown], "left"))
        titles, *lines = side_by_side(columns)
        head = f"{WORDS[self.loss]} of {self.estimator}, {self.n_folds} folds of {self.n_rows} rows"
        return "\n".join([head, titles, *abridged(shown, lines, "point")])

    def _marks(self) -> dict[int, str]:
        """Marks of the points that the two rules choose."""
        if self.over == "rows":
            return {}
        best = self.best_position
        has_margin = math.isfinite(self.test_standard_error[best])
        return best_and_simplest(best, self.one_se_position if has_margin else None)

    def plot(self, **options: Any) -> Figure:
        """Draw both errors with bands of one standard error; needs the extra ``plot``.

        Parameters
        ----------
        **options
            As ``treewright.show.figures.curves.error_curve``.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        ParameterError
            A value of ``x`` is no number.
        """
        odd = [value for value in self.x if isinstance(value, bool) or not isinstance(value, Real)]
        if odd:
            raise ParameterError(f"{self.over} has the value {odd[0]!r}: a plot needs numbers; print shows the table")
        from treewright.show.figures.curves import error_curve

        marks = {"best": self.best}
        if math.isfinite(self.test_standard_error[self.best_position]):
            marks["1 s.e."] = self.one_se
        given: dict[str, Any] = {
            "x": np.array(self.x, np.float64),
            "train": self.train_error,
            "test": self.test_error,
            "train_se": self.train_standard_error,
            "test_se": self.test_standard_error,
            "xlabel": self.over,
            "ylabel": WORDS[self.loss],
            "log_x": min(self.x) > 0
            and (self.over == "alpha" or (self.over in ("leaves", "rows") and max(self.x) >= LOG_FROM * min(self.x))),
            "marks": {} if self.over == "rows" else marks,
        }
        return error_curve(**(given | options))


def _curve(
    est: Any,
    over: str,
    points: Sequence[Any],
    found: Sequence[Sequence[Point]],
    loss: Loss,
    task: Task,
    splits: Sequence[Split],
) -> Curve:
    """The ``Curve`` of all folds."""
    by_fold = np.array(found, np.float64)
    return Curve(
        estimator=name_of_class(est),
        over=over,
        x=tuple(points),
        train_by_fold=by_fold[:, :, 0],
        test_by_fold=by_fold[:, :, 1],
        n_leaves=by_fold[:, :, 2].mean(axis=0),
        loss=loss,
        n_rows=task.n,
        overlap=overlap_of(splits, task.n),
    )


def _mean(by_fold: np.ndarray) -> np.ndarray:
    """Mean of each column; infinite if the sum is beyond float64."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(by_fold.mean(axis=0))


def _between(by_fold: np.ndarray, overlap: float) -> np.ndarray:
    """Standard error of each column's mean; nan if its numbers are beyond float64."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array([standard_error(column, overlap) for column in by_fold.T])
