"""Errors of the subtrees of a path on training rows, folds or held-out rows. In: models, rows. Out: mean errors.

A fold is grown once; the errors of all subtrees of a path are computed from that one tree (``prune.cost_complexity``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from treewright.data.encoder import encode
from treewright.data.take import count_rows, take_rows
from treewright.data.target import Labels, check_weights, encode_labels, encode_numbers, recode
from treewright.data.weights import class_factors, weighed
from treewright.exceptions import DataError, ParameterError
from treewright.fitted import Model
from treewright.judge.folds import Split
from treewright.judge.scores import check_loss, in_units
from treewright.judge.side_by_side import answers
from treewright.judge.uncertainty import standard_error_of_mean
from treewright.prune.cost_complexity import Path, PathLoss, PathLosses, path_losses, path_of
from treewright.prune.costs import Risk
from treewright.prune.reduced_error import check_holdout
from treewright.tree.arrays import Tree

LARGEST = float(np.finfo(np.float64).max)
LEAST_SQUARE = 1e-300  # a mean of squares below it has lost digits, and its parts are 0
GivenRows = tuple[Any, Any, np.ndarray | None]
# Grows a tree on rows of the table: X, y, their weights.
Grow = Callable[[Any, Any, "np.ndarray | None"], Model]
# The subtrees to evaluate of a tree that was grown on these rows: a model, its path, the steps of it.
View = Callable[[Model, GivenRows], tuple[Model, Path, np.ndarray]]


class JudgedRows(NamedTuple):
    """A table of n rows with its target as numbers.

    Attributes
    ----------
    X : table of n rows
    weights : float64[n]
        Weights in the errors, in any unit (``in_units``).
    truth : float64[n, n_outputs]
        Codes among the classes of all rows, or numbers divided by ``scale``.
    labels : Labels or None
        The classes of all rows; None for numbers.
    scale : float
        A power of 2.
    cost : float64[n] or None
        What a wrong prediction of each row costs, at most 1; None: all alike.
    """

    X: Any
    weights: np.ndarray
    truth: np.ndarray
    labels: Labels | None
    scale: float
    cost: np.ndarray | None = None

    def losses(self, model: Model, path: Path, steps: np.ndarray, rows: np.ndarray, loss: PathLoss) -> PathLosses:
        """Losses of given rows under given subtrees of a path.

        Parameters
        ----------
        model : Model
            It may lack a class that the rows have.
        path : Path
            The model's.
        steps : int64[m], ascending
        rows : int64[r], 0 to n - 1
        loss : {"misclassification", "log_loss", "squared_error", "absolute_error"}
        """
        matrix = encode(model.schema, take_rows(self.X, rows), unseen=model.unseen, missing=model.missing)
        codes = None if self.labels is None else _codes_among(model, self.labels)

        def weighed_losses(weights: np.ndarray) -> PathLosses:
            return path_losses(
                model, path, steps, matrix, self.truth[rows], weights, loss, codes=codes, scale=self.scale
            )

        return _by_cost(weighed_losses, self.weights[rows], None if self.cost is None else self.cost[rows])


def _by_cost(losses: Callable[[np.ndarray], PathLosses], weights: np.ndarray, cost: np.ndarray | None) -> PathLosses:
    """Losses of rows with these weights, each loss (0 or 1) times the cost of the row."""
    if cost is None:
        return losses(weights)
    return PathLosses(losses(weights * cost).loss, losses(weights * cost * cost).square, float(weights.sum()))


def _codes_among(model: Model, labels: Labels) -> tuple[np.ndarray, ...]:
    """Per output the codes of a model's classes among the classes of all rows."""
    codes = []
    for output, (own, known) in enumerate(zip(model.classes, labels.classes, strict=True)):
        alone = Labels(np.arange(len(own), dtype=np.int32)[:, None], (own,), labels.names[output : output + 1], True)
        codes.append(recode(alone, (known,))[:, 0])
    return tuple(codes)


def judged_labels(X: Any, y: Any, weights: np.ndarray, classes: tuple[np.ndarray, ...] | None = None) -> JudgedRows:
    """Rows with classes as ``JudgedRows``.

    Parameters
    ----------
    X, y : table of n rows and its target
    weights : float64[n]
    classes : tuple of ndarray, optional
        The codes are the positions in these; by default the classes of ``y``.
    """
    labels = encode_labels(y)
    if classes is not None:
        labels = labels._replace(classes=classes, codes=recode(labels, classes))
    return JudgedRows(X, weights, labels.codes.astype(np.float64), labels, 1.0)


def judged_numbers(X: Any, y: Any, weights: np.ndarray) -> JudgedRows:
    """Rows with numbers as ``JudgedRows``; those of weight 0 do not set the scale."""
    values = np.where((weights > 0)[:, None], encode_numbers(y).values, 0.0)
    # A power of 2 (nothing is rounded) that makes every loss at most 1: sums are then no larger than those of weights.
    with np.errstate(over="ignore"):  # infinite near the end of float64: `in_own_unit` refuses such losses
        scale = float(np.ldexp(2.0, np.frexp(np.abs(values).max())[1])) if values.any() else 1.0
    return JudgedRows(X, weights, values / scale, None, scale)


def loss_of(model: Model, loss: PathLoss | None) -> PathLoss:
    """The loss, checked; by default the one that suits the tree's criterion."""
    known: tuple[PathLoss, ...] = ("misclassification", "log_loss")
    if model.task == "regression":
        known = ("squared_error", "absolute_error")
        if model.facts.get("criterion") == "absolute_error":
            known = known[::-1]
    if isinstance(loss, str) and loss == "log_loss" and model.n_outputs > 1:
        raise ParameterError(
            f"loss='log_loss' needs one target, and there are {model.n_outputs}: leave it out", parameter="loss"
        )
    return check_loss(loss, is_classification=model.task == "classification", known=known)


def rows_that_judge(model: Model, X: Any, y: Any, weights: np.ndarray | None, n: int) -> tuple[JudgedRows, float]:
    """The rows with weights as given and by class; and the number of rows that these weights stand for.

    The number is the sum of the weights as given, over the rows that count: a class weight states how much a class
    matters, not the number of its rows, so that a factor common to all classes changes nothing.
    """
    given = np.ones(n) if weights is None else weights
    if model.task == "regression":
        rows, held = judged_numbers(X, y, given), given
    else:
        rows = judged_labels(X, y, given, model.classes)
        codes = rows.labels.codes  # type: ignore[union-attr]
        found = weighed(weights, class_factors(model.facts, codes, model.classes), codes)
        held = given if found is None else found
    return rows._replace(weights=in_units(held)), float(given[held > 0].sum())


def along_path(path: Path, risk: Risk) -> View:
    """The view of a path: a fold's own path at the prices that stand for the path's steps.

    The k-th subtree is the best one for prices from alpha_k to alpha_(k+1); their geometric mean represents them.
    """
    prices = np.append(np.sqrt(path.alphas[:-1]) * np.sqrt(path.alphas[1:]), np.inf)

    def view(model: Model, rows: GivenRows) -> tuple[Model, Path, np.ndarray]:  # noqa: ARG001 - a View
        own = path_of(model, risk)
        return model, own, np.array([own.step_at(price) for price in prices], np.int64)

    return view


def whole_tree(tree: Tree) -> Path:
    """A path of one step: the unpruned tree."""
    return Path(np.zeros(1), np.array([tree.n_leaves]), np.full(1, np.nan), np.where(tree.is_leaf, 0, 1))


class FoldRows(NamedTuple):
    """The rows as given, with their weights (float64[n] or None), and as ``JudgedRows``."""

    X: Any
    y: Any
    weights: np.ndarray | None
    judged: JudgedRows


def by_folds(
    grow: Grow, rows: FoldRows, splits: list[Split], views: Sequence[View], loss: PathLoss, n_threads: int
) -> list[PathLosses]:
    """Losses of all rows for each view, each row by the trees grown without its fold."""

    def judge(fold: int) -> list[PathLosses]:
        train, test = splits[fold]
        weights = None if rows.weights is None else rows.weights[train]
        given = take_rows(rows.X, train), take_rows(rows.y, train), weights
        try:
            grown = grow(*given)
            return [rows.judged.losses(*view(grown, given), test, loss) for view in views]
        except Exception as error:
            error.add_note(f"in fold {fold} of {len(splits)}, counted from 0")
            raise

    of_folds = answers(judge, len(splits), n_threads)
    # Summed in the order of the folds, not in that of their completion.
    return [
        PathLosses(
            np.sum([one.loss for one in of_view], axis=0),
            np.sum([one.square for one in of_view], axis=0),
            float(sum(one.weight for one in of_view)),
        )
        for of_view in zip(*of_folds, strict=True)
    ]


def by_rows_aside(
    model: Model, path: Path, validation: Any, scale: float, loss: PathLoss, *, owner: str = "pruning_path"
) -> tuple[PathLosses, float, int]:
    """Losses of held-out rows, the number of rows that their weights stand for, and the number of rows that count.

    The subtrees are those of the path itself. Rows of a single class are refused: the smallest tree would look perfect.
    """
    matrix, target, weights = model.encode_rows(*validation, owner=owner, routed=True)
    check_holdout(model, target)
    return (
        by_encoded_rows(model, path, (matrix, target, weights), scale, loss),
        _stands_for(model, *validation),
        len(matrix),
    )


def _stands_for(model: Model, X: Any, y: Any, weights: Any = None) -> float:
    """Number of rows that the weights of held-out rows stand for, as ``rows_that_judge`` counts them."""
    n = count_rows(X)
    given = check_weights(weights, n)
    given = np.ones(n) if given is None else given
    if model.task == "regression":
        return float(given.sum())
    codes = recode(encode_labels(y), model.classes)
    held = weighed(given, class_factors(model.facts, codes, model.classes), codes)
    return float(given[given > 0 if held is None else held > 0].sum())


def by_encoded_rows(
    model: Model, path: Path, rows: tuple[np.ndarray, np.ndarray, np.ndarray | None], scale: float, loss: PathLoss,
    by_class: np.ndarray | None = None,
) -> PathLosses:  # fmt: skip
    """Losses of rows from ``Model.encode_rows``, under every subtree of the model's path.

    With ``by_class`` a wrong prediction counts as much as it has for the true class, at most 1.
    """
    matrix, target, weights = rows
    weights = np.ones(len(matrix)) if weights is None else weights
    with np.errstate(over="ignore"):
        truth = np.asarray(target / scale, np.float64)
    steps = np.arange(len(path.alphas))

    def weighed_losses(given: np.ndarray) -> PathLosses:
        return path_losses(model, path, steps, matrix, truth, given, loss, scale=scale)

    return _by_cost(weighed_losses, in_units(weights), None if by_class is None else by_class[target[:, 0]])


def mean_errors(sums: PathLosses, n: float, scale: float, loss: PathLoss) -> tuple[np.ndarray, np.ndarray]:
    """Means of the losses, and their standard errors over ``n`` rows, in the target's own unit."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean = sums.loss / sums.weight
        # Divided before it is subtracted: a sum of weights may be near the end of float64.
        around = np.maximum(sums.square / sums.weight - mean * mean, 0.0)
        spread = standard_error_of_mean(around, n)
    return in_own_unit(mean, scale, loss), in_own_unit(spread, scale, loss)


def in_own_unit(numbers: np.ndarray, scale: float, loss: PathLoss) -> np.ndarray:
    """Means of losses, or their standard errors, in the target's own unit."""
    found = numbers
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for _ in range(2 if loss == "squared_error" else 1):
            found = found * scale
    if not np.isfinite(found).all():
        raise DataError(
            f"y or the predictions hold numbers up to {min(scale, LARGEST):.0e}, and the squares of their errors are "
            "beyond float64: divide y"
        )
    if loss == "squared_error" and numbers.any() and found.max() < LEAST_SQUARE:
        raise DataError(f"y holds numbers up to {scale:.0e}, and the squares of errors are below float64: multiply y")
    return found


def depths_along(tree: Tree, path: Path) -> np.ndarray:
    """Depth of each subtree of a path, int64[k]."""
    inner = ~tree.is_leaf
    deepest = np.zeros(len(path.alphas) + 1, np.int64)
    np.maximum.at(deepest, path.collapse_step[inner], tree.depth[inner].astype(np.int64) + 1)
    # A node is an inner one in the subtrees before its step.
    return np.asarray(np.maximum.accumulate(deepest[::-1])[::-1][1:])
