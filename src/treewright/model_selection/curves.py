"""Errors over a parameter, over the size of a tree, over the number of rows. In: an estimator, a table. Out: ``Curve``.

Callers: users, cli.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from treewright.exceptions import ParameterError
from treewright.model_selection.candidates import check_parameter, with_parameters
from treewright.model_selection.curve import Curve
from treewright.model_selection.family import Family, family_of
from treewright.model_selection.folds import splits_of
from treewright.model_selection.losses import Loss, check_loss, mean_loss
from treewright.model_selection.parallel import answers
from treewright.model_selection.rows import take_rows
from treewright.model_selection.subsets import nested_orders
from treewright.model_selection.task import Task, size_of, task_of
from treewright.model_selection.whole import is_whole

DEFAULT_SHARES = np.linspace(0.1, 1.0, 10)
Point = tuple[float, float, float]


def error_curve(
    est: Any,
    X: Any,
    y: Any,
    *,
    over: str = "max_depth",
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
    over : str
        A parameter of the estimator; or, for a single tree of this library, ``"alpha"`` (the price of a leaf of
        cost-complexity pruning) or ``"leaves"`` (the most leaves on that path). These two, and ``"max_depth"`` of CART
        without ``max_leaf_nodes``, ``max_features`` and ``ccp_alpha``, need one growth a fold; any other parameter one
        fit for each fold and value.
    values : sequence, optional
        What to try. By default up to 50 points: depths up to that of the tree grown on all rows, or the steps of its
        path. Any other parameter has no default.
    cv : int >= 2, splitter of scikit-learn, pairs of rows, or array of n fold numbers
    loss : {"misclassified", "log", "squared", "absolute"}, optional
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
    task = task_of(est, X, y, sample_weight)
    loss = check_loss(loss, is_classification=task.is_classification)
    splits = splits_of(cv, y, is_classification=task.is_classification, random_state=random_state, groups=groups)
    family = family_of(est, over)
    if family is None:
        check_parameter(est, over)
        if values is None:
            raise ParameterError(f"which values of {over!r} are to be tried? Give values=[...]")
    points = tuple(family.default_values(task)) if values is None and family is not None else _listed(values, over)
    if family is not None:
        family.check(points)

    def work(at: int) -> list[Point]:
        train, test = splits[at]
        where = f"the training rows of fold {at} of {len(splits)}"
        errors = _errors_of(task, loss, train, test)
        if family is not None:
            return _of_one_growth(family, task, points, train, where, errors)
        return [errors(task.fit(with_parameters(est, {over: value}), train, where)) for value in points]

    return _curve(est, over, points, answers(work, len(splits), n_jobs), loss, task)


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
    task = task_of(est, X, y, sample_weight)
    loss = check_loss(loss, is_classification=task.is_classification)
    splits = splits_of(cv, y, is_classification=task.is_classification, random_state=random_state, groups=groups)
    points = _sizes(sizes, min(len(train) for train, _ in splits))
    orders = nested_orders(task, splits, random_state)

    def work(at: int) -> list[Point]:
        found = []
        for size in points:
            rows = np.sort(orders[at][:size])
            fitted = task.fit(est, rows, f"training rows of fold {at} of {len(splits)}")
            found.append(_errors_of(task, loss, rows, splits[at][1])(fitted))
        return found

    return _curve(est, "rows", points, answers(work, len(splits), n_jobs), loss, task)


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
    est: Any, over: str, points: Sequence[Any], found: Sequence[Sequence[Point]], loss: Loss, task: Task
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
    )


def _listed(values: Any, over: str) -> tuple[Any, ...]:
    """The values as Python objects."""
    if isinstance(values, np.ndarray | range) and np.ndim(values) == 1:
        values = np.asarray(values).tolist()
    if isinstance(values, str) or not isinstance(values, Sequence) or not len(values):
        raise ParameterError(f"values={values!r}: give a list of values of {over!r}, such as [1, 2, 3]")
    return tuple(values)


def _sizes(sizes: Any, most: int) -> tuple[int, ...]:
    """Numbers of training rows, ascending, each once."""
    rows = set()
    for size in DEFAULT_SHARES.tolist() if sizes is None else _listed(sizes, "rows"):
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
