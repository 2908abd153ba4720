"""The cross-validated cost-complexity path, and other nested subtrees of one tree. In: an estimator, a table, a target.

A fold is grown once; the errors of all subtrees of a path, on training rows, folds or held-out rows, are computed from
that one tree (``prune.cost_complexity``). ``family_of`` says which parameters vary nested subtrees of one tree, so that
a curve over them needs one fit per fold; ``pruning_path`` makes a ``PruningPath``.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from treewright.core.elementary import is_whole, whole_number
from treewright.core.notices import listening
from treewright.core.threads import resolve_jobs
from treewright.data.encoder import encode
from treewright.data.take import count_rows, take_rows
from treewright.data.target import (
    Labels,
    check_weights,
    class_factors,
    encode_labels,
    encode_numbers,
    recode,
    warn_of_small_weights,
    weighed,
)
from treewright.evaluation.after_fit import has_steps, without_steps
from treewright.evaluation.folds import (
    Split,
    Task,
    as_array,
    check_tested_once,
    folds_within,
    run_tasks,
    splits_of,
    with_parameters,
)
from treewright.evaluation.scores import WORDS, check_loss, in_units, standard_error_of_mean
from treewright.evaluation.tables import abridged, lines_shown
from treewright.exceptions import DataError, ParameterError, pruner, setting
from treewright.learn.registry import CART, algorithm_of_estimator
from treewright.model import Model
from treewright.prune.cost_complexity import Path, PathLoss, PathLosses, checked_alpha, path_losses, path_of
from treewright.prune.costs import EQUAL, Risk
from treewright.prune.estimates import check_holdout
from treewright.trees.arrays import Tree
from treewright.trees.edit import collapse

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LARGEST = float(np.finfo(np.float64).max)
LEAST_SQUARE = 1e-300  # a mean of squares below it has lost digits, and its parts are 0
GivenRows = tuple[Any, Any, np.ndarray | None]
# Grows a tree on rows of the table: X, y, their weights.
Grow = Callable[[Any, Any, "np.ndarray | None"], Model]
# The subtrees to evaluate of a tree that was grown on these rows: a model, its path, the steps of it.
View = Callable[[Model, GivenRows], tuple[Model, Path, np.ndarray]]


class ScoredRows(NamedTuple):
    """A table of n rows with its target as numbers.

    ``weights`` (float64[n]): weights in the errors, in any unit (``in_units``).
    ``truth`` (float64[n, n_outputs]): codes among the classes of all rows, or numbers divided by ``scale``.
    ``labels``: the classes of all rows; None for numbers.
    ``scale``: a power of 2.
    ``cost`` (float64[n] or None), what a wrong prediction of each row costs, at most 1; None: all alike.
    """

    X: Any
    weights: np.ndarray
    truth: np.ndarray
    labels: Labels | None
    scale: float
    cost: np.ndarray | None = None

    def losses(self, model: Model, path: Path, steps: np.ndarray, rows: np.ndarray, loss: PathLoss) -> PathLosses:
        """Losses of given rows under given subtrees of a path.

        ``model``: it may lack a class that the rows have. ``steps`` (int64[m], ascending). ``rows`` (int64[r], 0 to n -
        1).
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


def scored_labels(X: Any, y: Any, weights: np.ndarray, classes: tuple[np.ndarray, ...] | None = None) -> ScoredRows:
    """Rows with classes as ``ScoredRows``.

    ``weights`` (float64[n]). ``classes``: the codes are the positions in these; by default the classes of ``y``.
    """
    labels = encode_labels(y)
    if classes is not None:
        labels = labels._replace(classes=classes, codes=recode(labels, classes))
    return ScoredRows(X, weights, labels.codes.astype(np.float64), labels, 1.0)


def scored_numbers(X: Any, y: Any, weights: np.ndarray) -> ScoredRows:
    """Rows with numbers as ``ScoredRows``; those of weight 0 do not set the scale."""
    values = np.where((weights > 0)[:, None], encode_numbers(y).values, 0.0)
    # A power of 2 (nothing is rounded) that makes every loss at most 1: sums are then no larger than those of weights.
    with np.errstate(over="ignore"):  # infinite near the end of float64: `in_own_unit` refuses such losses
        scale = float(np.ldexp(2.0, np.frexp(np.abs(values).max())[1])) if values.any() else 1.0
    return ScoredRows(X, weights, values / scale, None, scale)


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


def evaluation_rows(model: Model, X: Any, y: Any, weights: np.ndarray | None, n: int) -> tuple[ScoredRows, float]:
    """The rows with weights as given and by class; and the number of rows that these weights stand for.

    The number is the sum of the weights as given, over the rows that count: a class weight states how much a class
    matters, not the number of its rows, so that a factor common to all classes changes nothing.
    """
    given = np.ones(n) if weights is None else weights
    if model.task == "regression":
        rows, held = scored_numbers(X, y, given), given
    else:
        rows = scored_labels(X, y, given, model.classes)
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
    """The rows as given, with their weights (float64[n] or None), and as ``ScoredRows``."""

    X: Any
    y: Any
    weights: np.ndarray | None
    judged: ScoredRows


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

    of_folds = run_tasks(judge, len(splits), n_threads)
    # Summed in the order of the folds, not in that of their completion.
    return [
        PathLosses(
            np.sum([one.loss for one in of_view], axis=0),
            np.sum([one.square for one in of_view], axis=0),
            float(sum(one.weight for one in of_view)),
        )
        for of_view in zip(*of_folds, strict=True)
    ]


def by_held_out_rows(
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
    """Number of rows that the weights of held-out rows stand for, as ``evaluation_rows`` counts them."""
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


MOST_POINTS, EVERY_SIZE_TO = 50, 10


def usually_over(estimator: Any) -> str:
    """The default of ``over``: the depth of CART, the leaves of another single tree."""
    if is_single_tree(estimator) and not _is_cart(estimator):
        return "leaves"
    if "max_depth" in estimator.get_params(deep=False):
        return "max_depth"
    raise ParameterError(
        f"over= is not given: name a parameter of {type(estimator).__name__} to vary, with values=[...]"
    )


def family_of(estimator: Any, over: str) -> Family | None:
    """How one fit yields the estimators of all values; None if each has to be fitted."""
    if over in ("alpha", "leaves") and is_single_tree(estimator):
        return OnPath(estimator, over)  # type: ignore[arg-type]
    if over == "max_depth" and _is_cart(estimator) and _grows_by_itself(estimator):
        return ByDepth(estimator)
    return None


def _is_cart(estimator: Any) -> bool:
    return algorithm_of_estimator(estimator) is CART


def _grows_by_itself(estimator: Any) -> bool:
    """Whether the subtree grown below a node depends only on the rows of that node.

    Best-first growth places its leaves elsewhere when it may go deeper; sampled columns and pruning also depend on the
    rest of the tree.
    """
    is_whole = estimator.ccp_alpha == 0 and not has_steps(estimator)
    return is_whole and estimator.max_leaf_nodes is None and estimator.max_features is None


@dataclass(frozen=True)
class OnPath:
    """Subtrees of the path of cost-complexity pruning.

    ``by`` is "alpha", the best subtree at a price of a leaf; or "leaves", the largest subtree with at most so many
    leaves.
    """

    estimator: Any
    by: Literal["alpha", "leaves"]

    def check(self, values: Sequence[Any]) -> None:
        """Refuse values that are no price or no number of leaves."""
        for value in values:
            if self.by == "alpha":
                checked_alpha(value)
            else:
                whole_number("max_leaves", value, 1)

    def largest(self, values: Sequence[Any]) -> Any:  # noqa: ARG002 - whatever is asked for
        """The unfitted estimator whose tree holds the members of all these values: the whole tree, not pruned."""
        return unpruned(self.estimator)

    def step(self, path: Path, value: Any) -> int:
        """The step of one value on the path of the tree grown by ``largest``."""
        return path.step_at(checked_alpha(value)) if self.by == "alpha" else int(np.argmax(path.n_leaves <= value))

    def member(self, grown: Any, value: Any) -> Any:
        """The fitted estimator of one value, cut out of the largest one."""
        path = path_of(grown.model_, "impurity")
        return grown.prune("cost_complexity", alpha=float(path.alphas[self.step(path, value)]))

    def default_values(self, task: Task) -> list[Any]:
        """Values of the tree that is grown on all rows, ascending, at most ``MOST_POINTS``."""
        path = path_of(task.fit(self.largest(()), np.arange(task.n), "all rows").model_, "impurity")
        sizes, alphas = path.n_leaves.tolist(), path.alphas
        if self.by == "leaves":
            # In a fold the path may have a size that the tree of all rows skips.
            return _thinned_sizes([*sizes, *range(1, min(EVERY_SIZE_TO, max(sizes)) + 1)])
        if len(alphas) == 1:
            return [0.0]
        prices = np.empty(len(alphas))
        # Roots are multiplied, not prices: a product of two small prices could be 0.
        prices[1:-1] = np.sqrt(alphas[1:-1]) * np.sqrt(alphas[2:])
        prices[0], prices[-1] = alphas[1] / 2, alphas[-1] * 2
        shown = set(_thinned_sizes(sizes))
        return [price for price, n in zip(prices.tolist(), sizes, strict=True) if n in shown]


@dataclass(frozen=True)
class ByDepth:
    """A tree cut off at a depth: the same tree as CART grows with that ``max_depth``."""

    estimator: Any

    def check(self, values: Sequence[Any]) -> None:
        """Refuse values that ``max_depth`` cannot have."""
        for value in values:
            with_parameters(self.estimator, {"max_depth": value})._check_parameters()

    def largest(self, values: Sequence[Any]) -> Any:
        """The unfitted estimator whose tree holds the members of all these values."""
        deepest = None if None in values or not len(values) else max(values)
        return with_parameters(self.estimator, {"max_depth": deepest})

    def member(self, grown: Any, value: Any) -> Any:
        """The fitted estimator of one value, cut out of the largest one."""
        model = grown.model_
        tree = model.trees[0]
        if value is None or tree.max_depth <= value:
            return grown
        cut = copy.copy(grown)
        cut.model_ = replace(model, trees=(collapse(tree, np.flatnonzero(~tree.is_leaf & (tree.depth >= value))),))
        return cut

    def default_values(self, task: Task) -> list[Any]:
        """Depths up to that of the tree grown on all rows, at most ``MOST_POINTS``."""
        grown = task.fit(self.largest(()), np.arange(task.n), "all rows")
        return _thinned(list(range(1, max(1, grown.get_depth()) + 1)))


Family = OnPath | ByDepth


def _thinned_sizes(sizes: Sequence[int]) -> list[int]:
    """At most ``MOST_POINTS`` numbers of leaves: every one up to ``EVERY_SIZE_TO``, the rest at equal ratios.

    Errors change most at small sizes; among hundreds of leaves one more hardly matters.
    """
    held = np.unique(sizes)
    if len(held) <= MOST_POINTS:
        return [int(size) for size in held]
    small, large = held[held <= EVERY_SIZE_TO], held[held > EVERY_SIZE_TO]
    wanted = np.geomspace(large[0], large[-1], MOST_POINTS - len(small))
    nearest = np.minimum(np.searchsorted(large, wanted * (1 - 1e-9)), len(large) - 1)
    return [int(size) for size in (*small, *np.unique(large[nearest]))]


def _thinned(values: list[Any]) -> list[Any]:
    """At most ``MOST_POINTS`` of the values, first and last included."""
    if len(values) <= MOST_POINTS:
        return values
    return [values[at] for at in np.linspace(0, len(values) - 1, MOST_POINTS).round().astype(int).tolist()]


DEFAULT_FOLDS = 10
_WIDTH = 80  # of what is printed
Rule = Literal["1se", "min"]
RULES: tuple[Rule, ...] = ("1se", "min")
BY_CROSS_VALIDATION: dict[str, Rule] = {"ccp_1se": "1se", "ccp_min": "min"}
JUDGES = {"folds": "cv error", "validation": "valid. error", "nothing": ""}
LABELS = {"folds": "cross-validated", "validation": "held-out rows", "nothing": ""}
OWN_PRUNING = {"ccp_alpha": 0.0, "confidence": None}  # parameters that prune, with the values that switch it off


def pruning_path(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = DEFAULT_FOLDS,
    rule: Rule = "1se",
    risk: Risk = "impurity",
    loss: PathLoss | None = None,
    validation: tuple[Any, ...] | None = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    groups: Any = None,
) -> PruningPath:
    """The subtrees of cost-complexity pruning with their cross-validated errors, and the subtree that a rule chooses.

    Parameters
    ----------
    estimator : estimator
        A single-tree estimator of this library; it is cloned, and its own pruning (``ccp_alpha``, ``confidence``) is
        switched off.
    X, y
        As for ``fit``.
    cv : int >= 2, splitter, pairs of rows, array of n fold numbers, or None
        The folds; each row must be tested once. None skips cross-validation: the table then has no error to choose by.
    rule : {"1se", "min"}
        The smallest tree whose error is within one standard error of the least, or the tree with the least error.
    risk : {"impurity", "error"}
        What a leaf costs on the path: its impurity (as in scikit-learn), or its misclassification rate (as in rpart).
    loss : {"misclassification", "log_loss", "squared_error", "absolute_error"}, optional
        The loss of a row. Classification: by default "misclassification"; "log_loss" rates the probabilities (a class
        that a leaf has not seen costs 36, as in scikit-learn; only for one target). Regression: by default
        "absolute_error" if the tree was grown by that criterion, else "squared_error". With several outputs a row's
        loss is their mean.
    validation : (X, y) or (X, y, sample_weight), optional
        Held-out rows that replace the folds; at least two classes if the tree has several.
    sample_weight : n numbers >= 0, optional
        Weights count in the fits and in the errors; so does ``class_weight``, with one factor per class for all folds.
        A weight stands for so many rows in the standard error, a class weight does not.
        Rows of weight 0 are only used to form the folds.
    random_state : int, RandomState or None
        Seed of the folds, if ``cv`` is a number.
    n_jobs : int, optional
        Threads over the folds; the result does not depend on it.
    groups : n group labels, optional
        For the splitter.

    Returns
    -------
    PruningPath
        ``print`` shows the table, ``.estimator`` is the chosen tree, ``.plot()`` draws the errors.

    Raises
    ------
    ParameterError
        The estimator is not one of this library, or a parameter is outside its range.
    DataError
        The rows were refused, or the folds cannot be made.

    Notes
    -----
    Breiman, Friedman, Olshen and Stone 1984, sections 3.4.2 and 3.4.3. The path is that of the tree grown on all rows.
    Its k-th subtree is the best one for prices from alpha_k to alpha_(k+1), which are represented by their geometric
    mean: in each fold a tree is grown on the other rows, and the rows of the fold are predicted by its subtree at
    sqrt(alpha_k alpha_(k+1)); the last step predicts by its root. Prices are shares of the rows' total weight, hence
    the same in every fold. The error is the mean e of the losses e_i of all rows, sum(w_i e_i) / sum(w_i); its standard
    error, as in rpart, is sqrt(sum(w_i (e_i - e)^2)) / sum(w_i). A weight counts as so many rows: scale weights that
    only state how much rows matter to a mean of 1 (weights far below 1 raise a ``DataWarning``). With ``class_weight``
    sum(w_i) counts the weights as given: a factor that is common to all classes changes nothing.

    ``error_curve(over="alpha")`` has another standard error, between the means of the folds, and its values are prices
    between the steps: the two may choose trees of different size.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_wine
    >>> from treewright.model_selection import pruning_path
    >>> X, y = load_wine(return_X_y=True)
    >>> path = pruning_path(tw.DecisionTreeClassifier(), X, y, cv=5)
    >>> path.n_leaves.tolist()
    [12, 11, 9, 8, 7, 6, 5, 4, 3, 2, 1]
    >>> path.chosen, path.estimator.get_n_leaves()
    (4, 7)
    """
    from sklearn.base import clone

    check_prunable(estimator)
    _check(rule, risk, validation, cv, groups)
    bare = unpruned(estimator)
    return path_by(
        lambda *rows: clone(bare).fit(*rows), X, y, cv=cv, rule=rule, risk=risk, loss=loss, validation=validation,
        sample_weight=sample_weight, random_state=random_state, n_jobs=n_jobs, groups=groups,
    )  # fmt: skip


def path_by(
    grow: Callable[[Any, Any, Any], Any],
    X: Any,
    y: Any,
    *,
    cv: Any,
    rule: Rule,
    risk: Risk = "impurity",
    loss: PathLoss | None = None,
    validation: tuple[Any, ...] | None = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    groups: Any = None,
) -> PruningPath:
    """``pruning_path`` for a function ``grow(X, y, weights)`` that returns an object with ``model_`` and ``prune``."""
    n_threads = resolve_jobs(n_jobs)
    grown = grow(X, y, sample_weight)
    model: Model = grown.model_
    loss = loss_of(model, loss)
    n = count_rows(y)
    weights = check_weights(sample_weight, n)
    judged, stands_for = evaluation_rows(model, X, y, weights, n)
    path = path_of(model, risk)
    whole = judged.losses(model, path, np.arange(len(path.alphas)), np.arange(n), loss)
    train_error = mean_errors(whole, stands_for, judged.scale, loss)[0]
    found, n_folds, n_judged = None, 0, int((judged.weights > 0).sum())
    if validation is not None:
        found, stands_for, n_judged = by_held_out_rows(model, path, validation, judged.scale, loss)
    elif cv is not None:
        splits = splits_of(
            cv, y, is_classification=model.task == "classification", random_state=random_state, groups=groups
        )
        check_tested_once(splits, n)
        rows = FoldRows(X, y, weights, judged)
        views, n_folds = [along_path(path, risk)], len(splits)
        with listening():  # the tree of all rows has raised its warnings; those of the folds are dropped
            found = by_folds(lambda *given: grow(*given).model_, rows, splits, views, loss, n_threads)[0]
    error = standard_error = None
    if found is not None:
        warn_of_small_weights(stands_for, n_judged, "the standard error of pruning_path")
        error, standard_error = mean_errors(found, stands_for, judged.scale, loss)
    chosen = None if error is None or standard_error is None else step_by(rule, error, standard_error)
    return PruningPath(
        alphas=path.alphas,
        n_leaves=path.n_leaves,
        depth=depths_along(model.trees[0], path),
        train_error=train_error,
        cv_error=error,
        standard_error=standard_error,
        n_folds=n_folds,
        rule=rule,
        risk=risk,
        loss=loss,
        judged_by="folds" if n_folds else "nothing" if found is None else "validation",
        grown=grown,
        chosen=chosen,
        estimator=grown if chosen is None else cut_to(grown, float(path.alphas[chosen]), risk),
    )


def size_by_folds(
    grow: Callable[[Any, Any, Any], Any],
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    pruning: str,
    cv: Any = DEFAULT_FOLDS,
    risk: Risk = "impurity",
    loss: PathLoss | None = None,
    is_classification: bool,
    random_state: Any,
    n_jobs: int | None,
) -> PruningPath:
    """The path whose ``estimator`` is grown on all rows and pruned to the size that cross-validation chooses.

    A small part of a cross-validation may have fewer rows than folds, or few rows of a class: there are at most as many
    folds as rows, and they are not stratified if a class is rare.

    ``grow``: as of ``path_by``. ``cv``, ``risk``, ``loss``, ``n_jobs``: as of ``pruning_path``.
    """
    if cv is None:
        raise ParameterError(
            setting("cv", None), ": ", pruner(pruning), " chooses its price by folds: give a number such as ",
            setting("cv", 10), parameter="cv",
        )  # fmt: skip
    rule = BY_CROSS_VALIDATION[pruning]
    _check(rule, risk, None, cv, None)
    n = len(as_array(y))
    if n == 1:
        raise DataError("n_samples=1: at least 2 rows are needed, to fit the tree and to prune it on other rows")
    folds = folds_within(
        min(cv, n) if is_whole(cv) else cv, y, is_classification=is_classification, random_state=random_state
    )
    return path_by(
        grow, X, y, cv=folds, rule=rule, risk=risk, loss=loss, sample_weight=sample_weight, random_state=random_state,
        n_jobs=n_jobs,
    )  # fmt: skip


def _check(rule: Any, risk: Any, validation: Any, cv: Any, groups: Any) -> None:
    """Refuse unknown values, and parameters that exclude each other."""
    for name, value, words in (("rule", rule, RULES), ("risk", risk, get_args(Risk))):
        if not isinstance(value, str) or value not in words:
            raise ParameterError(f"{name}={value!r}: choose one of {', '.join(map(repr, words))}")
    if validation is not None:
        if not isinstance(validation, tuple | list) or len(validation) not in (2, 3):
            raise ParameterError("validation= takes (X, y) or (X, y, sample_weight)")
        if groups is not None or not (cv is None or (isinstance(cv, int) and cv == DEFAULT_FOLDS)):
            raise ParameterError("give folds (cv=, groups=) or validation=, not both")
    elif cv is None and groups is not None:
        raise ParameterError("groups= needs folds: give cv= a splitter such as GroupKFold(5), or leave groups out")


def is_single_tree(estimator: Any) -> bool:
    """Whether it is a single-tree estimator of this library."""
    algorithm = algorithm_of_estimator(estimator)
    return algorithm is not None and algorithm.kind == "tree"


def check_prunable(estimator: Any) -> None:
    """Refuse anything but a single-tree estimator of this library."""
    if not is_single_tree(estimator):
        given = f"{estimator.__name__} (a class)" if isinstance(estimator, type) else type(estimator).__name__
        raise ParameterError(
            f"estimator={given}: give a single-tree estimator of treewright, such as "
            "treewright.DecisionTreeClassifier()"
        )


def unpruned(estimator: Any) -> Any:
    """An unfitted copy of a tree estimator that is not pruned: neither by its parameters nor after its fit."""
    known = estimator.get_params(deep=False)
    off = {name: value for name, value in OWN_PRUNING.items() if name in known}
    return with_parameters(without_steps(estimator), off)


@dataclass(frozen=True, eq=False)
class PruningPath:
    """Every subtree of the cost-complexity path, from the largest to the root alone, with its errors.

    Attributes
    ----------
    alphas : float64[k], strictly ascending, the first 0.0
        The lowest price of a leaf at which each subtree is the best one, in units of ``risk``.
    n_leaves, depth : int64[k]
    train_error : float64[k]
        Mean loss over the training rows.
    cv_error : float64[k], or None
        Mean loss over all rows, each predicted by trees grown without its fold; with ``validation=`` over those rows.
        None without either.
    standard_error : float64[k], or None
        Of ``cv_error``.
    n_folds : int
        0 without cross-validation.
    rule : {"1se", "min"}
    risk : {"impurity", "error"}
    loss : {"misclassification", "log_loss", "squared_error", "absolute_error"}
    judged_by : {"folds", "validation", "nothing"}
    grown : estimator
        Fitted on all rows, not pruned.
    chosen : int, or None
        The step that the rule chooses; None without ``cv_error``.
    estimator : estimator
        Fitted, pruned to the step ``chosen``; ``grown`` without ``cv_error``.
    """

    alphas: np.ndarray
    n_leaves: np.ndarray
    depth: np.ndarray
    train_error: np.ndarray
    cv_error: np.ndarray | None
    standard_error: np.ndarray | None
    n_folds: int
    rule: Rule
    risk: Risk
    loss: PathLoss
    judged_by: Literal["folds", "validation", "nothing"]
    grown: Any
    chosen: int | None
    estimator: Any

    def __len__(self) -> int:
        return len(self.alphas)

    @property
    def best_alpha(self) -> float | None:
        """The price of a leaf at the chosen step."""
        return None if self.chosen is None else float(self.alphas[self.chosen])

    def step_of(self, rule: Rule) -> int:
        """The step that a rule chooses.

        Raises
        ------
        ParameterError
            There is no such rule, or no errors to choose by.
        """
        if rule not in RULES or self.cv_error is None or self.standard_error is None:
            raise ParameterError(f"rule={rule!r}: give '1se' or 'min', for a path with cross-validated errors")
        return step_by(rule, self.cv_error, self.standard_error)

    def prune(self, step: int) -> Any:
        """The tree of one step.

        Parameters
        ----------
        step : int, -k to k - 1
            Negative numbers count from the end: -1 is the root alone.

        Returns
        -------
        estimator
            Fitted; its ``prune_log_`` lists every cut.

        Raises
        ------
        ParameterError
            There is no such step.
        """
        if not is_whole(step) or not -len(self) <= step < len(self):
            raise ParameterError(f"step={step!r}: the path has the steps 0 to {len(self) - 1}")
        return cut_to(self.grown, float(self.alphas[step]), self.risk)

    def at(self, *, leaves: int) -> Any:
        """The largest tree of the path with at most so many leaves.

        Parameters
        ----------
        leaves : int >= 1

        Returns
        -------
        estimator

        Raises
        ------
        ParameterError
            ``leaves`` is below 1 or not a whole number.
        """
        return self.grown.prune("leaves", max_leaves=leaves, risk=self.risk)

    def to_dict(self) -> dict[str, np.ndarray]:
        """Columns for a data frame, one row per step."""
        columns = {
            "alpha": self.alphas,
            "leaves": self.n_leaves,
            "depth": self.depth,
            "train_error": self.train_error,
        }
        if self.cv_error is not None and self.standard_error is not None:
            columns |= {"cv_error": self.cv_error, "standard_error": self.standard_error}
        return columns

    def plot(self) -> Figure:
        """Draw the errors over the number of leaves; needs matplotlib.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from treewright.show.figures.curves import error_against_size

        return error_against_size(
            n_leaves=self.n_leaves, train=self.train_error, cv=self.cv_error, se=self.standard_error,
            chosen=self.chosen, rule=self.rule, alphas=self.alphas, ylabel=WORDS[self.loss],
            cv_label=LABELS[self.judged_by],
        )  # fmt: skip

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        marks = self._marks()
        shown = lines_shown(len(self), marks)
        steps = (self._line(step, marks.get(step, "")) for step in shown)
        lines = [self._title(), self._head(), *abridged(shown, steps, "step")]
        if self.chosen is not None:
            lines.append(self._verdict(self.chosen))
        if self.why_one_leaf:
            lines += wrap(self.why_one_leaf + ("; rule='min' keeps them" if self.rule == "1se" else ""), _WIDTH)
        return "\n".join(lines)

    def _title(self) -> str:
        """The title of the table: the loss, and the rows it was measured on."""
        how = {
            "folds": f"cross-validated in {self.n_folds} folds",
            "validation": "on held-out rows",
            "nothing": "on the training rows only",
        }[self.judged_by]
        return f"{WORDS[self.loss]} of {len(self):,} subtrees, {how}"

    def _head(self) -> str:
        judged = f" {JUDGES[self.judged_by]:>12} {'std. error':>11}" if self.judged_by != "nothing" else ""
        return f"{'step':>5} {'alpha':>11} {'leaves':>7} {'depth':>6} {'train error':>12}{judged}"

    def _line(self, step: int, mark: str) -> str:
        """One step of the table."""
        text = f"{step:>5} {self.alphas[step]:>11.5g} {self.n_leaves[step]:>7} {self.depth[step]:>6}"
        text += f" {self.train_error[step]:>12.5g}"
        if self.cv_error is not None and self.standard_error is not None:
            text += f" {self.cv_error[step]:>12.5g} {self.standard_error[step]:>11.4g}"
        return f"{text} {mark}".rstrip()

    def _marks(self) -> dict[int, str]:
        """Marks of the steps that the two rules choose."""
        if self.cv_error is None or self.standard_error is None:
            return {}
        simple, least = (self.step_of(rule) for rule in RULES)
        return {least: "min, 1-SE"} if least == simple else {least: "min", simple: "1-SE"}

    def _verdict(self, step: int) -> str:
        """The step that was chosen, in words."""
        rule = {"min": "the least error", "1se": "the 1-SE rule"}[self.rule]
        leaves = f"{self.n_leaves[step]} {'leaf' if self.n_leaves[step] == 1 else 'leaves'}"
        return f"chosen by {rule}: step {step}, {leaves}, alpha {self.alphas[step]:.5g}"

    @property
    def why_one_leaf(self) -> str:
        """Why only the root of the tree is left, in words; empty if more is left, or there never was more."""
        error, standard_error, chosen = self.cv_error, self.standard_error, self.chosen
        if error is None or standard_error is None or chosen is None or chosen == 0 or self.n_leaves[chosen] > 1:
            return ""
        least = self.step_of("min")
        if least == chosen:
            return f"one leaf is left: no larger tree of the path has a lower error than {error[chosen]:.4g}"
        return (
            f"one leaf is left: its error, {error[chosen]:.4g}, is within one standard error "
            f"({standard_error[least]:.3g}) of the least, {error[least]:.4g} with {self.n_leaves[least]} leaves"
        )


def step_by(rule: Rule, error: np.ndarray, standard_error: np.ndarray) -> int:
    """The step that a rule chooses.

    ``rule``: the smallest tree of least error; or the smallest tree whose error is at most that plus its standard error
    (Breiman et al. 1984, section 3.4.3). ``error``, ``standard_error`` (float64[k], by step: from the largest tree to
    the smallest).
    """
    least = int(np.flatnonzero(error <= error.min() * (1 + EQUAL))[-1])
    if rule == "min":
        return least
    return int(np.flatnonzero(error <= (error[least] + standard_error[least]) * (1 + EQUAL))[-1])


def cut_to(grown: Any, alpha: float, risk: Risk) -> Any:
    """A fitted estimator pruned at a price."""
    return grown.prune("cost_complexity", alpha=alpha, risk=risk)
