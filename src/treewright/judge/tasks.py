"""A table with its target, and fits of an estimator on its folds. In: a table, a target. Out: fits, scored folds."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.core import notices
from treewright.data.matching import did_you_mean
from treewright.data.take import count_rows, header_of, in_rows_of, take_columns, take_rows, warn_of_another_order
from treewright.data.target import check_weights, encode_labels, encode_numbers
from treewright.exceptions import DataError, ParameterError
from treewright.judge.folds import Split, as_array, seed_beside

if TYPE_CHECKING:  # importing scikit-learn takes a second, which a command without folds does not need
    from treewright.judge.scoring import Scorer

LEAST_SQUARE = 1e-290  # squares near the end of float64 have lost their digits
FARTHEST_UNIT = 500  # weights beyond 2**500, or all below 2**-500, are scaled before anything is averaged


@dataclass(frozen=True, eq=False)
class Task:
    """A table with its target, checked.

    Attributes
    ----------
    X : table of n rows
    y : target of n rows, as given
    truth : ndarray[n] or ndarray[n, n_outputs]
        The same as an array.
    weights : float64[n] or None
    is_classification : bool
    seed : int
        For random choices of an estimator without a seed of its own.
    is_pairwise : bool
        Whether the columns of X are its rows, as in a matrix of distances: training rows then choose columns as well.
    """

    X: Any
    y: Any
    truth: np.ndarray
    weights: np.ndarray | None
    is_classification: bool
    seed: int = 0
    is_pairwise: bool = False

    def table(self, rows: np.ndarray, learned: np.ndarray) -> Any:
        """Some rows of X, for an estimator with the training rows ``learned``."""
        part = take_rows(self.X, rows)
        if not self.is_pairwise:
            return part
        names = header_of(part)[0]
        return take_columns(part, learned, None if names is None else [names[at] for at in learned.tolist()])

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.truth)

    def weights_at(self, rows: np.ndarray) -> np.ndarray | None:
        """Weights of some rows, for a mean over them; very large and very small ones are scaled.

        Rows that all have weight 0 are refused: there is no mean.
        """
        if self.weights is None:
            return None
        weights = self.weights[rows]
        largest = float(weights.max(initial=0.0))
        if largest == 0.0:
            raise DataError(
                f"{len(rows)} row(s) of a fold all have weight 0 (first row {int(rows[0])}): give folds "
                "that each contain a row with a weight above 0"
            )
        exponent = math.frexp(largest)[1]
        return weights if abs(exponent) <= FARTHEST_UNIT else np.ldexp(weights, -exponent)

    def fit(self, estimator: Any, rows: np.ndarray | None, where: str, *, seeded: bool = True) -> Any:
        """A fresh copy of an estimator, fitted on some rows.

        Parameters
        ----------
        estimator : estimator
            It is not changed.
        rows : int64[m], or None
            None: all rows.
        where : str
            The name of the rows, for a note on the errors of ``fit``.
        seeded : bool
            Whether parameters of the copy without a seed get one, which depends on ``seed`` and the rows alone, so that
            the order of the threads changes nothing.
        """
        if seeded:
            known = np.arange(self.n) if rows is None else rows
            copy = fresh(estimator, np.random.default_rng([self.seed, zlib.crc32(np.asarray(known, "<i8").tobytes())]))
        else:
            copy = unfitted(estimator)
        X, y, weights = self.X, self.y, self.weights
        if rows is not None:
            X, y, weights = self.table(rows, rows), take_rows(y, rows), None if weights is None else weights[rows]
        try:
            return copy.fit(X, y) if weights is None else copy.fit(X, y, sample_weight=weights)
        except Exception as error:
            n_rows = self.n if rows is None else len(rows)
            error.add_note(f"while fitting {name_of_class(estimator)} on {where} ({n_rows} rows)")
            raise


def task_of(estimator: Any, X: Any, y: Any, sample_weight: Any = None, random_state: Any = 0) -> Task:
    """Check that an estimator, a table, a target and weights go together.

    Parameters
    ----------
    estimator : unfitted or fitted classifier or regressor
    X : table of n rows
    y : n labels or numbers, or n x n_outputs of them
    sample_weight : n numbers >= 0, optional
    random_state : int, RandomState or None
        For the estimators' seeds. A RandomState is read, not advanced, so that its folds stay the same.
    """
    from sklearn.base import is_classifier, is_regressor

    name = type(estimator).__name__
    if isinstance(estimator, type):
        raise ParameterError(f"{estimator.__name__} is a class: give an estimator, {estimator.__name__}()")
    if not all(hasattr(estimator, method) for method in ("fit", "get_params")):
        raise ParameterError(f"a {name} is not an estimator: give one of treewright or scikit-learn")
    is_classification = bool(is_classifier(estimator))
    if not is_classification and not is_regressor(estimator):
        raise ParameterError(f"{name} is neither a classifier nor a regressor, so it predicts no target")
    truth = as_array(y)
    if count_rows(X) != len(truth):
        raise DataError(f"X has {count_rows(X)} rows, and y has {len(truth)}: give a target for each row")
    check_target(y, is_classification=is_classification)
    weights = check_weights(sample_weight, len(truth))
    if weights is not None:
        check_takes_weights(estimator)
    warn_of_another_order(X, y=y, sample_weight=sample_weight)
    seed = seed_beside(random_state)
    return Task(X, in_rows_of(X, y), truth, weights, is_classification, seed, takes_pairs(estimator))


def name_of_class(estimator: Any) -> str:
    """The name of an estimator's class; of one that is wrapped to get a threshold, the class within."""
    is_ours = type(estimator).__module__.startswith("treewright.")
    return str(getattr(estimator, "name", "") if is_ours else "") or type(estimator).__name__


def takes_pairs(estimator: Any) -> bool:
    """Whether the columns of an estimator's table are its training rows, as in a matrix of distances."""
    from sklearn.utils import get_tags

    return bool(get_tags(estimator).input_tags.pairwise)


def refuse_pairs(estimator: Any, what: str) -> None:
    """Refuse an estimator of distances if rows are sampled without their columns, by ``what``."""
    if takes_pairs(estimator):
        raise ParameterError(
            f"{what} samples rows, and {type(estimator).__name__} takes the distances between all of them "
            "(metric='precomputed'): fit it on the rows themselves, with another metric"
        )


def check_target(y: Any, *, is_classification: bool) -> None:
    """Refuse a target that cannot be learned, or whose errors cannot be summed.

    A test row is not part of any ``fit``, so only this check refuses its missing label.
    """
    if is_classification:
        encode_labels(y)
        return
    values = encode_numbers(y).values
    largest = np.abs(values).max(axis=0)
    with np.errstate(over="ignore", under="ignore"):
        of_all = np.square(largest) * len(values)
        of_spread = np.square(np.ptp(values, axis=0))
    if not np.isfinite(4.0 * of_all).all():
        raise DataError(
            f"y holds numbers up to {largest.max():.0e}, and the squares of their errors are beyond float64: divide y"
        )
    small = (of_spread < LEAST_SQUARE) & (np.ptp(values, axis=0) > 0)
    if small.any():
        raise DataError(
            f"the numbers of y differ by {np.ptp(values, axis=0)[small].min():.0e}, so the squares of their errors are "
            "below the least of float64: multiply y"
        )


def check_takes_weights(estimator: Any) -> None:
    """Refuse weights for an estimator whose ``fit`` has no ``sample_weight``.

    A ``fit`` that passes its arguments on to an estimator with weights (as a search does) is accepted.
    """
    from sklearn.pipeline import Pipeline

    name, inner = type(estimator).__name__, estimator
    for _ in range(10):
        if isinstance(inner, Pipeline):
            raise ParameterError(
                f"fit of {name} takes no sample_weight, as a Pipeline passes none to its steps: leave it out, or give "
                "only the last step, with prepared columns"
            )
        arguments = signature(inner.fit).parameters
        if "sample_weight" in arguments:
            return
        if not any(one.kind is Parameter.VAR_KEYWORD for one in arguments.values()):
            break
        if not hasattr(inner, "estimator"):
            return
        inner = inner.estimator
    raise ParameterError(f"fit of {name} takes no sample_weight: leave it out")


def unfitted(estimator: Any) -> Any:
    """An unfitted copy, made by the estimator itself or else by scikit-learn."""
    if hasattr(estimator, "__sklearn_clone__"):
        return estimator.__sklearn_clone__()
    from sklearn.base import clone

    return clone(estimator)


def fresh(estimator: Any, rng: np.random.Generator) -> Any:
    """An unfitted copy; parameters without a seed get one."""
    copy = unfitted(estimator)
    unseeded = sorted(
        name
        for name, value in copy.get_params(deep=True).items()
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    )
    return copy.set_params(**{name: int(rng.integers(2**31 - 1)) for name in unseeded}) if unseeded else copy


def with_parameters(estimator: Any, parameters: Mapping[str, Any]) -> Any:
    """A fresh copy with some parameters set; values that are estimators are copied as well."""
    from sklearn.base import clone

    values = {name: clone(value, safe=False) for name, value in parameters.items()}
    return unfitted(estimator).set_params(**values)


def with_positive(estimator: Any, positive: Any) -> Any:
    """The same estimator with this positive class, in every ``positive`` of the estimators of Treewright in it.

    Another class that one of them has already is refused: there is one positive class.
    """
    if positive is None:
        return estimator
    unset = {}
    for name, value in positives_in(estimator):
        if value is not None and value != positive:
            raise ParameterError(
                f"positive={positive!r}, but {name_of_class(estimator)} has {name}={value!r}: there is one positive "
                "class; set it in one place"
            )
        if value is None:
            unset[name] = positive
    return with_parameters(estimator, unset) if unset else estimator


def positives_in(estimator: Any) -> list[tuple[str, Any]]:
    """The parameters ``positive`` of the estimators of Treewright in an estimator, by name; none if it has no names."""
    known = {"": estimator, **estimator.get_params(deep=True)} if hasattr(estimator, "get_params") else {}
    return [
        (name, value)
        for name, value in known.items()
        if name.rpartition("__")[2] == "positive"
        and any(one.__module__.startswith("treewright.") for one in type(known[name.rpartition("__")[0]]).__mro__)
    ]


def check_parameter(estimator: Any, name: str) -> None:
    """Refuse a parameter that the estimator does not have."""
    known = estimator.get_params(deep=True)
    if name not in known:
        guess = did_you_mean(name, known)
        raise ParameterError(
            f"{type(estimator).__name__} has no parameter {name!r}{guess}; it has {', '.join(sorted(known))}"
        )


def tree_of(estimator: Any) -> Any:
    """The estimator that holds the tree: the last step of a pipeline, the best of a search, else itself."""
    from sklearn.pipeline import Pipeline

    for _ in range(10):
        if isinstance(estimator, Pipeline):
            estimator = estimator.steps[-1][1]
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        else:
            break
    return estimator


def size_of(estimator: Any) -> tuple[float, float]:
    """Leaves and depth of a fitted tree; nan for other models."""
    tree = tree_of(estimator)
    try:
        return float(tree.get_n_leaves()), float(tree.get_depth())
    except AttributeError:
        return float("nan"), float("nan")


@dataclass(frozen=True, eq=False)
class Fold:
    """One fold of an evaluation.

    Attributes
    ----------
    n_train : int
        The number of training rows.
    test : int64[]
        Positions of the test rows.
    test_scores : dict from str to float
    train_scores : dict from str to float, or None
    predictions : ndarray of the test rows
    n_leaves, depth : float
        nan for models other than a tree.
    estimator : fitted estimator, or None
    """

    n_train: int
    test: np.ndarray
    test_scores: Mapping[str, float]
    train_scores: Mapping[str, float] | None
    predictions: np.ndarray
    n_leaves: float
    depth: float
    estimator: Any


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
        Whether to keep the fitted copies.
    on_training_rows : bool
        Whether to score the training rows as well.
    """
    from treewright.judge.side_by_side import answers

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
            table = task.table(test, train)
            scores = _scores(scorers, fitted, task, table, test)
            predictions = np.asarray(fitted.predict(table))
            on_train = None
            if on_training_rows:
                on_train = _scores(scorers, fitted, task, task.table(train, train), train)
        except Exception as error:
            error.add_note(f"while scoring {type(estimator).__name__} in fold {at} of {len(splits)}")
            raise
        return Fold(len(train), test, scores, on_train, predictions, *size_of(fitted), fitted if keep else None)

    return answers(work, len(splits), n_jobs)


def _scores(scorers: Mapping[str, Scorer], fitted: Any, task: Task, table: Any, rows: np.ndarray) -> dict[str, float]:
    """All scores on some rows."""
    return {name: scorer(fitted, table, task.truth[rows], task.weights_at(rows)) for name, scorer in scorers.items()}


def best_first(mean: float, n_leaves: float) -> tuple[bool, float, float]:
    """A sort key for the best first: the greatest mean score, among equals the fewest leaves; nan last."""
    return math.isnan(mean), -mean, math.inf if math.isnan(n_leaves) else n_leaves


def warn_of_nan(test: Mapping[str, np.ndarray], remedy: str = "give larger folds, or another score") -> None:
    """Warn once about scores (float64[k] by name) that are nan in some fold: their mean is not defined."""
    undefined = {name: np.flatnonzero(np.isnan(scores)) for name, scores in test.items()}
    undefined = {name: folds for name, folds in undefined.items() if len(folds)}
    if not undefined:
        return
    name, folds = next(iter(undefined.items()))
    more = f"; so are {len(undefined) - 1} more of {len(test)} scores" if len(undefined) > 1 else ""
    notices.warn(
        f"the score {name!r} is nan in {len(folds)} of {len(test[name])} folds (first fold {folds[0]}), so its mean is "
        f"nan too{more}: {remedy}"
    )
