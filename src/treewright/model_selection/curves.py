"""Errors over a parameter, over the size of a tree, over the number of rows. In: an estimator, a table. Out: ``Curve``.

Callers: users.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from treewright.core.whole import is_whole
from treewright.exceptions import ParameterError
from treewright.model_selection.candidates import check_parameter, with_parameters
from treewright.model_selection.curve import Curve
from treewright.model_selection.family import Family, OnPath, family_of, usually_over
from treewright.model_selection.folds import Split, overlap_of, splits_of
from treewright.model_selection.judged_rows import (
    in_own_unit,
    in_units,
    judged_labels,
    judged_numbers,
)
from treewright.model_selection.losses import Loss, check_loss, mean_loss
from treewright.model_selection.parallel import answers
from treewright.model_selection.rows import take_rows
from treewright.model_selection.subsets import nested_orders
from treewright.model_selection.task import Task, size_of, task_of
from treewright.prune.path import path_of

WHAT_SIZES = "numbers of rows, such as [50, 100], or of shares, such as [0.5, 1.0]"
DEFAULT_SHARES = np.linspace(0.1, 1.0, 10)
Point = tuple[float, float, float]


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
    """Training and validation error while one thing is varied.

    Parameters
    ----------
    est : estimator
        Any of this library or of scikit-learn; copies are fitted.
    X, y : table of n rows and its target
    over : str, optional
        By default ``"max_depth"``, for single trees of this library other than CART ``"leaves"``.
        A parameter of the estimator; or, for a single tree of this library, ``"alpha"`` (the price of a leaf of
        cost-complexity pruning) or ``"leaves"`` (the most leaves on that path). These two, and ``"max_depth"`` of CART
        without ``max_leaf_nodes``, ``max_features`` and ``ccp_alpha``, need one growth a fold; any other parameter one
        fit for each fold and value.
    values : sequence, optional
        What to try. By default up to 50 points: depths up to that of the tree grown on all rows, or the steps of its
        path (every one up to 10 leaves, larger ones at like ratios). Any other parameter has no default.
    cv : int >= 2, splitter of scikit-learn, pairs of rows, or array of n fold numbers
    loss : {"misclassification", "log_loss", "squared_error", "absolute_error"}, optional
        By default the misclassified share, or the squared error.
    sample_weight : n numbers >= 0, optional
        For fitting and for the errors.
    random_state : int, RandomState or None
    n_jobs : int, optional
        Folds side by side; the result does not depend on it.
    groups : n group labels, optional
        For a splitter that keeps groups together.

    Returns
    -------
    Curve

    Raises
    ------
    ParameterError
        The estimator has no such parameter, values are lacking or outside its range.
    DataError
        The folds cannot be made of these rows.

    Notes
    -----
    By default prices stand for the steps of the path of the tree grown on all rows: the geometric mean of the prices
    between which a step is wanted (Breiman et al. 1984, section 3.4.2), half the first price and twice the last.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_iris
    >>> curve = tw.model_selection.error_curve(tw.DecisionTreeClassifier(), *load_iris(return_X_y=True))
    >>> curve.x, curve.one_se
    ((1, 2, 3, 4, 5), 3)
    """
    task, loss, splits = _checked(est, X, y, cv, loss, sample_weight, random_state, groups)
    over = usually_over(est) if over is None else over
    family = family_of(est, over)
    if family is None:
        check_parameter(est, over)
        if values is None:
            raise ParameterError(f"which values of {over!r} are to be tried? Give values=[...]")
    if values is None and family is not None:
        values = family.default_values(task)
    points = _listed("values", values, f"values of {over!r}, such as [1, 2, 3]")
    if family is not None:
        family.check(points)
    read_off = _of_one_path(family, task, loss, points)

    def work(at: int) -> list[Point]:
        train, test = splits[at]
        where = f"the training rows of fold {at} of {len(splits)}"
        if read_off is not None:
            return read_off(splits[at], where)
        errors = _errors_of(task, loss, train, test)
        if family is not None:
            return _of_one_growth(family, task, points, train, where, errors)
        return [errors(task.fit(with_parameters(est, {over: value}), train, where)) for value in points]

    return _curve(est, over, points, answers(work, len(splits), n_jobs), loss, task, splits)


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
    """Training and validation error while the number of training rows grows.

    Parameters
    ----------
    est : estimator
        Any of this library or of scikit-learn; copies are fitted.
    X, y : table of n rows and its target
    sizes : sequence of int >= 1, or of float in (0, 1], optional
        Training rows of a fold, or shares of the smallest training part; by default 10 %, 20 % ... 100 %. In each
        fold the rows of a smaller size are among those of a larger one, and each class keeps its share.
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
    task, loss, splits = _checked(est, X, y, cv, loss, sample_weight, random_state, groups)
    points = _sizes(sizes, min(len(train) for train, _ in splits))
    orders = nested_orders(task, splits, random_state)

    def work(at: int) -> list[Point]:
        found = []
        for size in points:
            rows = np.sort(orders[at][:size])
            fitted = task.fit(est, rows, f"training rows of fold {at} of {len(splits)}")
            found.append(_errors_of(task, loss, rows, splits[at][1])(fitted))
        return found

    return _curve(est, "rows", points, answers(work, len(splits), n_jobs), loss, task, splits)


def _checked(
    est: Any, X: Any, y: Any, cv: Any, loss: Any, sample_weight: Any, random_state: Any, groups: Any
) -> tuple[Task, Loss, list[Split]]:
    """What is learned, how errors are counted, and the folds."""
    task = task_of(est, X, y, sample_weight, random_state)
    loss = check_loss(loss, is_classification=task.is_classification)
    splits = splits_of(cv, y, is_classification=task.is_classification, random_state=random_state, groups=groups)
    return task, loss, splits


def _of_one_path(
    family: Family | None, task: Task, loss: Loss, points: Sequence[Any]
) -> Callable[[Split, str], list[Point]] | None:
    """A function from a fold to the errors of subtrees of one path, read off the one tree that holds them.

    None where the points are no such subtrees, or need shares rather than predictions.
    """
    if not isinstance(family, OnPath) or loss == "log_loss":
        return None
    weights = np.ones(task.n) if task.weights is None else in_units(task.weights)
    judged = (judged_labels if loss == "misclassification" else judged_numbers)(task.X, task.y, weights)

    def read_off(split: Split, where: str) -> list[Point]:
        model = task.fit(family.largest(points), split[0], where).model_
        path = path_of(model, "impurity")
        steps, place = np.unique([family.step(path, value) for value in points], return_inverse=True)
        columns = []
        for rows in split:
            task.weights_at(rows)  # refuses rows that all weigh nothing
            sums = judged.losses(model, path, steps, rows, loss)
            columns.append(in_own_unit(sums.loss / sums.weight, judged.scale, loss)[place].tolist())
        return list(zip(*columns, path.n_leaves[steps][place].astype(np.float64).tolist(), strict=True))

    return read_off


def _of_one_growth(
    family: Family, task: Task, points: Sequence[Any], train: np.ndarray, where: str, errors: Callable[[Any], Point]
) -> list[Point]:
    """Errors of subtrees of one tree. They are nested, so two with as many leaves are the same."""
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
    parts = [(take_rows(task.X, rows), task.truth[rows], task.weights_at(rows)) for rows in (train, test)]

    def errors(fitted: Any) -> Point:
        on_train, on_test = (mean_loss(loss, fitted, *part) for part in parts)
        return on_train, on_test, size_of(fitted)[0]

    return errors


def _curve(
    est: Any,
    over: str,
    points: Sequence[Any],
    found: Sequence[Sequence[Point]],
    loss: Loss,
    task: Task,
    splits: Sequence[Split],
) -> Curve:
    """What the folds say together."""
    by_fold = np.array(found, np.float64)
    return Curve(
        estimator=type(est).__name__,
        over=over,
        x=tuple(points),
        train_by_fold=by_fold[:, :, 0],
        test_by_fold=by_fold[:, :, 1],
        n_leaves=by_fold[:, :, 2].mean(axis=0),
        loss=loss,
        n_rows=task.n,
        overlap=overlap_of(splits, task.n),
    )


def _listed(name: str, values: Any, what: str) -> tuple[Any, ...]:
    """The values as Python objects."""
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
