"""The best parameters by cross-validation. In: an estimator, a grid, a table. Out: ``Tuning``.

Candidates are those of scikit-learn's ``ParameterGrid`` and ``ParameterSampler``. They are fitted and scored by the
loop of ``cross_validate``: it takes every table that the estimators take, weights count in the scores too, and the
leaves of each candidate are known.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from sklearn.model_selection import ParameterGrid, ParameterSampler

from treewright.core import progress
from treewright.core.elementary import whole_number
from treewright.core.notices import listening
from treewright.evaluation.folds import (
    Split,
    Task,
    best_first,
    check_parameter,
    evaluate_folds,
    nested_orders,
    overlap_of,
    splits_of,
    task_of,
    warn_of_nan,
    with_parameters,
)
from treewright.evaluation.scores import mean_of, standard_error
from treewright.evaluation.scoring import (
    Scorer,
    class_weight_of,
    cost_scorer_of,
    one_scorer,
    scorers_by_class,
    shown_score,
)
from treewright.evaluation.tables import side_by_side, written
from treewright.evaluation.threshold import DecidingAgain, deciding_again, positive_of_scores
from treewright.exceptions import DataError, ParameterError, TooLargeError
from treewright.show.spans import TextColumn
from treewright.trees.writing import shorten

Method = Literal["grid", "random", "halving"]
Rule = Literal["best", "1se"]
DEFAULT_CANDIDATES = 20
MOST_CANDIDATES = 100_000
MOST_SHOWN = 20
LONGEST_SETTING = 40


def tune(
    est: Any,
    X: Any,
    y: Any,
    grid: Any,
    *,
    method: Method = "grid",
    rule: Rule = "best",
    cv: Any = 5,
    n_candidates: int = DEFAULT_CANDIDATES,
    factor: int = 3,
    sample_weight: Any = None,
    scoring: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    groups: Any = None,
) -> Tuning:
    """Try parameters on the same folds, and fit the chosen ones on all rows.

    Parameters
    ----------
    est : estimator
        Any of this library or of scikit-learn; copies are fitted.
    X, y : table of n rows and its target
    grid : dict from parameter to values, or list of such dicts
        Values are a list; for ``random`` and ``halving`` also a distribution of scipy.stats (an object with ``rvs``).
        Parameters of a part are written ``part__parameter``, as in scikit-learn.
    method : {"grid", "random", "halving"}
        "grid": all combinations; "random": ``n_candidates`` sampled combinations; "halving": all (sampled, if a
        distribution is among the values) on few training rows at first, of which the best ``1 / factor`` go on with
        ``factor`` times the rows, and so on, until no more than ``factor`` are left for all rows.
    rule : {"best", "1se"}
        The greatest mean score (among equals the fewest leaves, then the first), or the fewest leaves within one
        standard error of it.
    cv : int >= 2, splitter of scikit-learn, pairs of rows, or array of n fold numbers
    n_candidates : int >= 1
        Number of sampled candidates.
    factor : int >= 2
        For ``halving``.
    sample_weight : n numbers >= 0, optional
        For fitting and for scoring.
    scoring : None, str or callable
        One score only, as for ``cross_validate``. None is what the model is chosen by: the cost per row if costs chose
        its decision threshold; the balanced accuracy for ``class_weight="balanced"``; the accuracy with classes weighed
        by another ``class_weight``. Else the accuracy, or R2; also if the grid has ``class_weight``.
    random_state : int, RandomState or None
        Seed of the folds (those of ``cross_validate``), of the sampled candidates (those of scikit-learn's
        ``ParameterSampler``), of the rows of ``halving`` and of an estimator that has no seed of its own.
    n_jobs : int, optional
        Folds in parallel. Given a ``random_state``, the result does not depend on it.
    groups : n group labels, optional
        For a splitter that keeps groups together.

    Returns
    -------
    Tuning
        ``print`` shows the best candidates, ``.estimator`` is fitted.

    Raises
    ------
    ParameterError
        The estimator has no such parameter, a value is outside its range or given twice, or ``rule="1se"`` for an
        estimator without leaves.
    DataError
        The folds cannot be made of these rows, or the score of every candidate is nan.
    TooLargeError
        There are more candidates than can be tried.

    Warns
    -----
    DataWarning
        Warnings of the fits, once of each sort with the number of fits; a score that is nan.

    Notes
    -----
    The score of the chosen candidate is too good: it was the best of many. ``cross_validate`` on
    ``GridSearchCV(est, grid)``, or held-out rows, give a fair score.

    Successive halving is Jamieson and Talwalkar 2016 (AISTATS 51, 240-248), with rows as the resource: the last round
    has all training rows, the rounds before it 1 / factor, 1 / factor^2 ..., and every round scores on all test rows.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> tuned = tw.model_selection.tune(tw.DecisionTreeClassifier(), X, y, {"max_depth": [1, 2, 3, 4]}, rule="1se")
    >>> tuned.best_parameters, tuned.estimator.get_depth()
    ({'max_depth': 2}, 2)
    """
    if method not in get_args(Method):
        raise ParameterError(f"method={method!r}: give one of {', '.join(map(repr, get_args(Method)))}")
    if rule not in get_args(Rule):
        raise ParameterError(f"rule={rule!r}: give one of {', '.join(map(repr, get_args(Rule)))}")
    n_candidates, factor = whole_number("n_candidates", n_candidates, 1), whole_number("factor", factor, 2)
    est = deciding_again(est)
    task = task_of(est, X, y, sample_weight, random_state)
    positive = positive_of_scores(est, task, scoring)
    if scoring is None:
        score, scorer = _chosen_by(est, task, grid)
    else:
        score, scorer = one_scorer(scoring, is_classification=task.is_classification, positive=positive)
    # The folds are sampled first: with a RandomState they are then the folds of cross_validate.
    splits = splits_of(cv, y, is_classification=task.is_classification, random_state=random_state, groups=groups)
    if method == "random" or (method == "halving" and not _all_listed(grid)):
        settings = sampled(est, grid, n_candidates, random_state)
    else:
        settings = whole_grid(est, grid)
    trial = _Trial(est, task, score, scorer, n_jobs)
    with listening() as notices, progress.logged():
        if method == "halving":
            tried, n_tried = _halving(trial, settings, splits, factor, random_state)
        else:
            tried, n_tried = trial.candidates(settings, splits), len(settings)
    notices.tell(n_tried * len(splits), "fits")
    warn_of_nan({f"{score} with {candidate.parameters}": candidate.scores for candidate in tried})
    full = max(candidate.n_train for candidate in tried)
    chosen = _chosen(tried, [at for at, one in enumerate(tried) if one.n_train == full], rule)
    everything = np.arange(task.n)
    fitted = task.fit(with_parameters(est, tried[chosen].parameters), everything, "all rows", seeded=False)
    return Tuning(tuple(tried), chosen, method, rule, score, task.n, len(splits), fitted, positive)


def _chosen_by(est: Any, task: Task, grid: Any) -> tuple[str, Scorer]:
    """Name and function of the score by which the model is chosen."""
    if task.is_classification and task.truth.ndim == 1:
        labels = np.unique(task.truth).tolist()
        if isinstance(est, DecidingAgain):
            costs = dict(zip(("fp", "fn"), est.costs, strict=True))
            return "neg_cost", cost_scorer_of(costs, est.positive, labels)
        weights = class_weight_of(est)
        parts = [grid] if isinstance(grid, Mapping) else grid if isinstance(grid, list | tuple) else []
        named = [str(name) for part in parts if isinstance(part, Mapping) for name in part]
        is_tried = any(name.endswith("class_weight") for name in named)
        if isinstance(weights, str | Mapping) and not is_tried:
            return next(iter(scorers_by_class(weights, labels).items()))
    return one_scorer(None, is_classification=task.is_classification)


def whole_grid(estimator: Any, grid: Any) -> list[dict[str, Any]]:
    """Every combination, in the order of scikit-learn's ``ParameterGrid``.

    Examples
    --------
    >>> import treewright as tw
    >>> whole_grid(tw.ID3Classifier(), {"max_depth": [1, 2]})
    [{'max_depth': 1}, {'max_depth': 2}]
    """
    checked = _checked(estimator, grid)
    for part in checked:
        for name, values in part.items():
            if hasattr(values, "rvs"):
                raise ParameterError(f"{name!r} is a distribution: list its values, or use method='random'")
    _check_number(_size(checked), "the grid has")
    return [dict(parameters) for parameters in ParameterGrid(checked)]


def sampled(estimator: Any, grid: Any, n_candidates: int, random_state: Any) -> list[dict[str, Any]]:
    """Some combinations at random; without repetition if all values are listed.

    ``n_candidates``: the whole grid if it has no more than that.
    """
    n_candidates = whole_number("n_candidates", n_candidates, 1)
    checked = _checked(estimator, grid)
    if is_listed(checked):
        n_candidates = min(n_candidates, _size(checked))
        if _size(checked) > sys.maxsize:
            raise TooLargeError(
                f"the grid has {_size(checked)} candidates, more than can be numbered: give fewer values"
            )
    _check_number(n_candidates, "n_candidates asks for")
    return [dict(drawn) for drawn in ParameterSampler(checked, n_candidates, random_state=random_state)]


def is_listed(grid: Any) -> bool:
    """Whether all values are listed: no distribution among them."""
    parts = [grid] if isinstance(grid, Mapping) else grid
    return not any(hasattr(values, "rvs") for part in parts for values in part.values())


def _size(grid: Sequence[Mapping[str, Any]]) -> int:
    """Number of combinations of a grid of lists."""
    return sum(math.prod(len(values) for values in part.values()) for part in grid)


def _check_number(n_candidates: int, what: str) -> None:
    """Refuse too large a number of candidates."""
    if n_candidates > MOST_CANDIDATES:
        raise TooLargeError(
            f"{what} {n_candidates} candidates, at most {MOST_CANDIDATES} can be tried: give fewer values, or sample "
            "some with method='random' and n_candidates"
        )


def _checked(estimator: Any, grid: Any) -> list[dict[str, Any]]:
    """The grid as a list of dicts of lists or distributions."""
    parts = [grid] if isinstance(grid, Mapping) else grid
    if (
        not isinstance(parts, list | tuple)
        or not parts
        or not all(isinstance(part, Mapping) and part for part in parts)
    ):
        raise ParameterError(
            f"grid={grid!r}: give a dict from parameter to the values to try, such as {{'max_depth': [2, 4]}}"
        )
    return [{str(name): _values(estimator, str(name), values) for name, values in part.items()} for part in parts]


def _values(estimator: Any, name: str, values: Any) -> Any:
    """The values of one parameter."""
    check_parameter(estimator, name)
    if hasattr(values, "rvs"):
        return values
    if isinstance(values, range | np.ndarray) and np.ndim(values) == 1:
        values = np.asarray(values).tolist()
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise ParameterError(f"the values of {name!r} are {values!r}: give a list, such as [{values!r}]")
    if not len(values):
        raise ParameterError(f"the list of values of {name!r} is empty: give at least one, or leave {name!r} out")
    _refuse_twice(name, values)
    return list(values)


def _refuse_twice(name: str, values: Sequence[Any]) -> None:
    """Refuse a repeated value, which would be tried twice."""
    seen = set()
    for value in values:
        if not isinstance(value, str | int | float | None):
            continue
        known = (type(value), value)  # 1 and 1.0 may have different meanings: a number and a share
        if known in seen:
            raise ParameterError(f"the values of {name!r} hold {value!r} twice: give each once")
        seen.add(known)


def _all_listed(grid: Any) -> bool:
    """Whether all values of the grid are listed; the function that lists it refuses what is no grid."""
    try:
        return is_listed(grid)
    except (AttributeError, TypeError):
        return True


@dataclass(frozen=True, eq=False)
class _Trial:
    """The estimator, task and scorer that every candidate is tried with."""

    estimator: Any
    task: Task
    score: str
    scorer: Scorer
    n_jobs: int | None

    def candidates(self, settings: Sequence[Mapping[str, Any]], splits: Sequence[Split]) -> list[Candidate]:
        """Fit and score every setting on every fold."""
        tried = []
        for at, setting in enumerate(settings):
            with progress.part(at, len(settings), f"candidate {at + 1} of {len(settings)}"):
                tried.append(self.candidate(setting, splits))
        return tried

    def candidate(self, parameters: Mapping[str, Any], splits: Sequence[Split]) -> Candidate:
        """Fit and score one setting on every fold."""
        try:
            estimator = with_parameters(self.estimator, parameters)
            folds = evaluate_folds(estimator, self.task, splits, {self.score: self.scorer}, n_jobs=self.n_jobs)
        except Exception as error:
            error.add_note(f"while trying the parameters {dict(parameters)}")
            raise
        scores = np.array([fold.test_scores[self.score] for fold in folds])
        return Candidate(
            parameters=dict(parameters),
            mean=mean_of(scores),
            standard_error=standard_error(scores, overlap_of(splits, self.task.n)),
            train_mean=mean_of(np.array([(fold.train_scores or {})[self.score] for fold in folds])),
            n_leaves=float(np.mean([fold.n_leaves for fold in folds])),
            depth=float(np.mean([fold.depth for fold in folds])),
            n_train=min(fold.n_train for fold in folds),
            scores=scores,
        )


def _halving(
    trial: _Trial, settings: Sequence[Mapping[str, Any]], splits: Sequence[Split], factor: int, random_state: Any
) -> tuple[list[Candidate], int]:
    """Successive halving, with more training rows for fewer candidates; returns them and the number of trials."""
    orders = nested_orders(trial.task, splits, random_state)
    alive = list(range(len(settings)))
    last: dict[int, Candidate] = {}
    # The last round, on all rows, is for no more than factor candidates; no round has fewer than 2 training rows.
    fewest = min(len(order) for order in orders)
    n_rounds, n_left, n_tried = 1, len(settings), 0
    while n_left > factor and fewest // factor**n_rounds >= 2:
        n_rounds, n_left = n_rounds + 1, math.ceil(n_left / factor)
    for left in range(n_rounds - 1, -1, -1):
        # The last round has exactly the rows of the folds, in their order: its scores are those of a grid search.
        part = [
            (train if left == 0 else np.sort(order[: len(order) // factor**left]), test)
            for (train, test), order in zip(splits, orders, strict=True)
        ]
        n_tried += len(alive)
        last |= zip(alive, trial.candidates([settings[at] for at in alive], part), strict=True)
        if left:
            alive = sorted(alive, key=lambda at: (*last[at]._rank, at))[: math.ceil(len(alive) / factor)]
    return [last[at] for at in range(len(settings))], n_tried


def _chosen(tried: Sequence[Candidate], allowed: Sequence[int], rule: Rule) -> int:
    """Position of the candidate that the rule chooses."""
    best = min(allowed, key=lambda at: (*tried[at]._rank, at))
    if math.isnan(tried[best].mean):
        raise DataError("the score of every candidate is nan: give larger folds, or another score")
    if rule == "best":
        return best
    if math.isnan(tried[best].n_leaves):
        raise ParameterError("rule='1se' chooses the fewest leaves, and this estimator has none: use rule='best'")
    if math.isnan(tried[best].standard_error):
        raise ParameterError("rule='1se' needs at least 2 folds for a standard error: give a larger cv, or rule='best'")
    limit = tried[best].mean - tried[best].standard_error
    near = [at for at in allowed if tried[at].mean >= limit]
    return min(near, key=lambda at: (tried[at].n_leaves, -tried[at].mean, at))


@dataclass(frozen=True, eq=False)
class Candidate:
    """One combination of parameters, with its scores.

    Attributes
    ----------
    parameters : dict
    mean, standard_error : float
        Of the score over the folds. Greater is better.
    train_mean : float
        Mean score on the training rows.
    n_leaves, depth : float
        Means over the folds; nan for an estimator that is no tree.
    n_train : int
        Training rows of a fold (the fewest); under ``halving`` fewer than all for those that were dropped.
    scores : float64[k]
    """

    parameters: Mapping[str, Any]
    mean: float
    standard_error: float
    train_mean: float
    n_leaves: float
    depth: float
    n_train: int
    scores: np.ndarray

    @property
    def _rank(self) -> tuple[bool, float, float]:
        return best_first(self.mean, self.n_leaves)


@dataclass(frozen=True, eq=False, repr=False)
class Tuning(Sequence[Candidate]):
    """Candidates with their cross-validated scores; a sequence of ``Candidate``.

    Attributes
    ----------
    candidates : tuple of Candidate
        In the order tried; under ``halving`` with the scores of their last round.
    chosen : int
        Position of the chosen one.
    method : {"grid", "random", "halving"}
    rule : {"best", "1se"}
    score : str
    n_rows, n_folds : int
    estimator : estimator
        Fitted on all rows with the chosen parameters.
    positive : class label or None
        The one of two classes that F1, precision and recall are about.
    """

    candidates: tuple[Candidate, ...]
    chosen: int
    method: Method
    rule: Rule
    score: str
    n_rows: int
    n_folds: int
    estimator: Any
    positive: Any = None

    def __len__(self) -> int:
        return len(self.candidates)

    def __getitem__(self, at: Any) -> Any:
        return self.candidates[at]

    @property
    def best(self) -> Candidate:
        """The chosen candidate."""
        return self.candidates[self.chosen]

    @property
    def best_parameters(self) -> dict[str, Any]:
        """The chosen parameters."""
        return dict(self.best.parameters)

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns for a data frame, a row per candidate; a parameter that a candidate does not set is None."""
        names = list(dict.fromkeys(name for candidate in self for name in candidate.parameters))
        columns: dict[str, list[Any]] = {
            f"parameter_{name}": [candidate.parameters.get(name) for candidate in self] for name in names
        }
        for name in ("mean", "standard_error", "train_mean", "n_leaves", "depth", "n_train"):
            columns[name] = [getattr(candidate, name) for candidate in self]
        columns["chosen"] = [at == self.chosen for at in range(len(self))]
        return columns

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        score, sign = shown_score(self.score, self.positive)
        order = sorted(range(len(self)), key=lambda at: (at != self.chosen, -self[at].n_train, *self[at]._rank, at))
        shown = [self.candidates[at] for at in order[:MOST_SHOWN]]
        settings = [", ".join(f"{name}={value!r}" for name, value in one.parameters.items()) for one in shown]
        texts = written([number for one in shown for number in (sign * one.mean, one.standard_error)])
        columns = [
            TextColumn("", ["*", *[""] * (len(shown) - 1)], "left"),
            TextColumn("parameters", [shorten(setting, LONGEST_SETTING) for setting in settings], "left"),
            TextColumn("mean", texts[0::2], "point"),
            TextColumn("s.e.", texts[1::2], "point"),
        ]
        if not all(math.isnan(one.n_leaves) for one in shown):
            leaves = ["-" if math.isnan(one.n_leaves) else f"{one.n_leaves:.1f}" for one in shown]
            columns.append(TextColumn("leaves", leaves, "point"))
        if self.method == "halving":
            columns.append(TextColumn("rows", [str(one.n_train) for one in shown], "right"))
        chosen = "the best" if self.rule == "best" else "the simplest within one standard error of the best"
        head = f"{shorten(score, LONGEST_SETTING)}, {self.n_folds} folds of {self.n_rows} rows"
        lines = [f"{head}, {len(self)} candidates", f"* {chosen}"]
        lines += side_by_side(columns)
        if len(order) > MOST_SHOWN:
            lines.append(f"and {len(order) - MOST_SHOWN} more: see to_dict()")
        return "\n".join(lines)
