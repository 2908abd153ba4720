"""Several estimators on the same folds. In: estimators, a table, a target. Out: ``Comparison``."""

from __future__ import annotations

import math
import textwrap
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from treewright.core import progress
from treewright.core.elementary import is_whole, whole_number
from treewright.core.notices import listening
from treewright.data.memory import check_fits
from treewright.evaluation.folds import (
    Fold,
    Split,
    Task,
    best_first,
    evaluate_folds,
    overlap_of,
    splits_of,
    task_of,
    warn_of_nan,
    with_positive,
)
from treewright.evaluation.measures import cost_matrix, place_of
from treewright.evaluation.scores import corrected_t, holm, margin, mean_of, standard_error
from treewright.evaluation.scoring import (
    Scorer,
    class_weight_of,
    cost_scorer_of,
    plain_name,
    scorers_by_class,
    scorers_of,
    shown_score,
)
from treewright.evaluation.tables import PAGE_WIDTH, side_by_side, written
from treewright.evaluation.threshold import DecidingAgain, deciding_again, positive_of
from treewright.evaluation.verdict import constant_score, verdict
from treewright.exceptions import ParameterError
from treewright.show.spans import TextColumn
from treewright.trees.writing import shorten

LONGEST_NAME = 20
# Of fields and columns; they work for one version more.
FORMER_NAMES = {
    "behind": "difference",
    "behind_low": "difference_low",
    "behind_high": "difference_high",
    "refusal": "failure",
}
SURE = 0.05  # an adjusted p-value below it: a difference beyond chance


def _current_name(name: str) -> str:
    """The name of a field or a column by its former one, with a warning."""
    new = FORMER_NAMES[name]
    message = f"{name!r} is now called {new!r}; the former name goes in the next version"
    warnings.warn(message, FutureWarning, stacklevel=3)
    return new


class _Columns(dict[str, list[Any]]):
    """Columns by name, also by their former ones."""

    def __missing__(self, name: str) -> list[Any]:
        if name not in FORMER_NAMES:
            raise KeyError(name)
        return self[_current_name(name)]


@dataclass(frozen=True, eq=False)
class Compared:
    """Scores of one estimator, and its difference from the best or from the baseline.

    Attributes
    ----------
    name : str
    scores, train_scores : float64[J]
        Per fold; the folds are the same for all. Greater is better.
    mean, standard_error : float
        Over the folds.
    margin : float
        Half the 95 % interval of the mean (Student's t); nan if the folds do not determine it.
    others, other_margins : dict of str to float
        Means of the other scores with their margins, if there are several.
    n_leaves, depth : float
        Mean over the folds; nan for an estimator that is no tree.
    difference, difference_low, difference_high : float
        Mean of the best, or of the baseline, minus this mean, fold by fold; and the ends of its 95 % interval
        (corrected resampled t).
    p_value, p_adjusted : float
        Of the corrected test of that difference (``scores.corrected_t``), and adjusted for the number of tests
        (Holm). nan for the best or the baseline itself, and if all folds have the same difference.
    failure : str or None
        Why it could not be fitted or scored; then every number is nan.
    error : Exception or None
        The error itself.
    """

    name: str
    scores: np.ndarray
    train_scores: np.ndarray
    mean: float
    standard_error: float
    n_leaves: float
    depth: float
    difference: float
    p_value: float
    p_adjusted: float
    margin: float = math.nan
    difference_low: float = math.nan
    difference_high: float = math.nan
    others: Mapping[str, float] = field(default_factory=dict)
    other_margins: Mapping[str, float] = field(default_factory=dict)
    failure: str | None = None
    error: Exception | None = field(default=None, repr=False, compare=False)

    def __getattr__(self, name: str) -> Any:
        if name not in FORMER_NAMES:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        return getattr(self, _current_name(name))


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Sequence[Compared]):
    """Estimators on the same folds; a sequence of ``Compared``, in the order given.

    Attributes
    ----------
    rows : tuple of Compared
    score : str
        The one that decides: the first of several.
    n_rows, n_folds, repeats : int
        Rows of the table, folds in all, and how often the rows were shuffled.
    constant : float
        The score of the best prediction that is the same for all rows: for the accuracy the most frequent class, for
        the cost the cheapest one, for R2 the mean. nan for other scores.
    baseline : str or None
        The estimator that the others are compared with; None: the best.
    positive : class label or None
        The class that F1, precision, recall and the costs fp and fn are about.
    """

    rows: tuple[Compared, ...]
    score: str
    n_rows: int
    n_folds: int
    repeats: int
    constant: float = math.nan
    baseline: str | None = None
    positive: Any = None

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, at: Any) -> Any:
        """A row by position or by the estimator's name."""
        if not isinstance(at, str):
            return self.rows[at]
        for row in self.rows:
            if row.name == at:
                return row
        raise KeyError(f"{at!r} was not compared: choose one of {', '.join(row.name for row in self.rows)}")

    @property
    def best(self) -> Compared:
        """The row with the greatest mean score; among equals the one with the fewest leaves, then the first."""
        return min(self.rows, key=lambda row: best_first(row.mean, row.n_leaves))

    @property
    def reference(self) -> Compared:
        """The row that the others are compared with: the baseline, or the best."""
        return self.best if self.baseline is None else self[self.baseline]

    @property
    def beyond_chance(self) -> tuple[str, ...]:
        """Names of those that differ from the reference with an adjusted p-value below 0.05."""
        return tuple(row.name for row in self.rows if row.p_adjusted < SURE)

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns for a data frame, a row per estimator."""
        names = (
            "name", "mean", "standard_error", "margin", "n_leaves", "depth",
            "difference", "difference_low", "difference_high", "p_value", "p_adjusted", "failure",
        )  # fmt: skip
        columns = _Columns({name: [getattr(row, name) for row in self.rows] for name in names})
        for name in self._others:
            columns[name] = [row.others.get(name, math.nan) for row in self.rows]
            columns[f"{name}_margin"] = [row.other_margins.get(name, math.nan) for row in self.rows]
        return columns

    @property
    def _others(self) -> list[str]:
        """Names of the scores that do not decide."""
        return list(dict.fromkeys(name for row in self.rows for name in row.others))

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        (words, sign), reference = shown_score(self.score, self.positive), self.reference
        numbers = [
            value
            for row in self.rows
            for value in (sign * row.mean, row.margin, row.difference, row.difference_low, row.difference_high)
        ]
        texts = written(numbers)
        ends = ["-" if "-" in pair else " to ".join(pair) for pair in zip(texts[3::5], texts[4::5], strict=True)]
        names = TextColumn("", [shorten(row.name, LONGEST_NAME) for row in self.rows], "left")
        columns = [names, TextColumn("mean", texts[0::5], "point"), TextColumn("±", texts[1::5], "point")]
        if not all(math.isnan(row.n_leaves) for row in self.rows):
            leaves = ["-" if math.isnan(row.n_leaves) else f"{row.n_leaves:.1f}" for row in self.rows]
            columns.append(TextColumn("leaves", leaves, "point"))
        word = "best" if self.baseline is None else "baseline"
        differences, ends, p_values = (
            [own if row is reference else cell for row, cell in zip(self.rows, cells, strict=True)]
            for own, cells in (
                (word, texts[2::5]),
                ("", ends),
                ("", _probabilities([row.p_adjusted for row in self.rows])),
            )
        )
        columns += [
            TextColumn("difference", differences, "point"),
            TextColumn("95 % interval", ends, "right"),
            TextColumn("p (Holm)", p_values, "point"),
        ]
        repeated = f" ({self.repeats} repeats)" if self.repeats > 1 else ""
        head = f"{words}, {self.n_folds} folds{repeated} of {self.n_rows} rows, the same for all"
        lines = [*textwrap.wrap(head, PAGE_WIDTH), *side_by_side(columns)]
        if len(self.rows) > 1:
            lines += textwrap.wrap(self._which_matter(), PAGE_WIDTH, subsequent_indent="  ")
        if self._others:
            lines += ["", *self._table_of_others(names)]
        for row in self.rows:
            if row.failure is not None:
                text = f"{shorten(row.name, LONGEST_NAME)} refused: {row.failure}"
                lines += textwrap.wrap(text, PAGE_WIDTH, subsequent_indent="  ")
        lines += textwrap.wrap(self._warning(), PAGE_WIDTH, subsequent_indent="  ")
        return "\n".join(lines)

    def _which_matter(self) -> str:
        """Which differences are beyond chance."""
        named = ", ".join(shorten(name, LONGEST_NAME) for name in self.beyond_chance) or "none"
        return f"± is half of the 95 % interval; differences beyond chance (p below {SURE:g}): {named}"

    def _table_of_others(self, names: TextColumn) -> list[str]:
        """The scores that do not decide, in as many tables as fit."""
        tables: list[list[TextColumn]] = []
        for name in self._others:
            words, sign = shown_score(name, self.positive)
            nothing = {name: math.nan}
            texts = written(
                value
                for row in self.rows
                for value in (sign * (row.others or nothing)[name], (row.other_margins or nothing)[name])
            )
            title = shorten(words.replace("_", " "), LONGEST_NAME)
            pair = [TextColumn(title, texts[0::2], "point"), TextColumn("±", texts[1::2], "point")]
            if not tables or max(map(len, side_by_side([*tables[-1], *pair]))) > PAGE_WIDTH:
                tables.append([names])
            tables[-1] += pair
        return [line for table in tables for line in side_by_side(table)]

    def _warning(self) -> str:
        """A warning that names the estimators no better than one prediction for all rows; empty if there are none."""
        name, sign = shown_score(self.score)
        if self.score in ("accuracy", "r2"):
            is_classification = self.score == "accuracy"
            bad = [row for row in self.rows if verdict(row.mean, self.constant, is_classification=is_classification)]
        else:
            bad = [row for row in self.rows if row.mean <= self.constant and row.mean < (1.0 if sign > 0 else 0.0)]
        if math.isnan(self.constant) or not bad:
            return ""
        what = {"accuracy": "the most frequent class", "r2": "the mean"}.get(self.score, "the best single class")
        return (
            f"WARNING: no better than a constant prediction ({what}, {name} {sign * self.constant:.3f}): "
            f"{', '.join(row.name for row in bad)}"
        )


def compare(
    estimators: Mapping[str, Any] | Sequence[Any],
    X: Any,
    y: Any,
    *,
    cv: Any = 10,
    repeats: int = 1,
    sample_weight: Any = None,
    scoring: Any = None,
    cost: Any = None,
    positive: Any = None,
    baseline: str | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    groups: Any = None,
    errors: Literal["raise", "show"] = "raise",
) -> Comparison:
    """Score several estimators on the same folds, and test the differences from the best or from a baseline.

    Parameters
    ----------
    estimators : dict from name to estimator, or list of estimators
        Any of this library or of scikit-learn, all of one sort, none twice; copies are fitted. A list is named by
        class. A fitted classifier with a decision threshold keeps it; one that costs chose is chosen by them again in
        every fold.
    X, y : table of n rows and its target
    cv : int >= 2, splitter of scikit-learn, pairs of rows, or array of n fold numbers
    repeats : int >= 1
        How often the rows are shuffled; only for ``cv`` as an int. The first shuffle gives the folds of
        ``cross_validate``.
    sample_weight : n numbers >= 0, optional
        For fitting and for scoring.
    scoring : None, str, callable, list or dict
        As for ``cross_validate``, and "cost". Of several the first decides which is best; the others are listed next to
        it. None is what chose the models, if they agree: the cost per row if there are costs; the balanced accuracy for
        ``class_weight="balanced"``; the accuracy with classes weighed by another ``class_weight``. Else the accuracy,
        or R2.
    cost : mapping or list of lists, optional
        What mistakes cost, as for ``cost_scorer``: the score "cost".
    positive : class label, optional
        The class that fp and fn of ``cost``, F1, precision and recall are about; by default that of the estimators, or
        else the second of two. Estimators without one are fitted with it, as in ``choose_threshold``.
    baseline : str, optional
        The name of the estimator that the others are compared with; by default the best.
    random_state : int, RandomState or None
        Seed of the shuffles, and of an estimator that has no seed of its own.
    n_jobs : int, optional
        Folds in parallel. Given a ``random_state``, the result does not depend on it.
    groups : n group labels, optional
        For a splitter that keeps groups together.
    errors : {"raise", "show"}
        What happens if an estimator cannot be fitted or scored: the whole call fails; or it becomes a row without
        numbers, with the reason in ``failure``, and the others finish. If all fail, the first error is raised.

    Returns
    -------
    Comparison

    Raises
    ------
    ParameterError
        No estimators, one of them twice, or of both sorts; no such baseline; a parameter is outside its range.
    DataError
        The folds cannot be made of these rows.
    TooLargeError
        The repeats would not fit in memory.

    Warns
    -----
    DataWarning
        Warnings of the fits, once of each sort with the number of fits; a score that is nan.

    Notes
    -----
    Interval and p-value of a difference are those of the corrected resampled paired t-test (Nadeau and Bengio 2003).
    The best was chosen by the same scores, so a small p-value is a hint and not a proof; a baseline that was named
    before is not. With several repeats the standard error is corrected like the test (``scores.standard_error``):
    more shuffles of the same rows make no more rows.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_iris
    >>> trees = {"stump": tw.DecisionTreeClassifier(max_depth=1), "tree": tw.DecisionTreeClassifier()}
    >>> print(tw.model_selection.compare(trees, *load_iris(return_X_y=True)))
    accuracy, 10 folds of 150 rows, the same for all
            mean      ±  leaves  difference   95 % interval  p (Holm)
    stump  0.667  -         2.0       0.273  0.213 to 0.334    <0.001
    tree   0.940  0.042     8.6       best
    ± is half of the 95 % interval; differences beyond chance (p below 0.05): stump
    """
    named = {name: deciding_again(each) for name, each in _named(estimators).items()}
    if baseline is not None and baseline not in named:
        raise ParameterError(
            f"baseline={baseline!r} is not compared: choose one of {', '.join(named)}", parameter="baseline"
        )  # fmt: skip
    if errors not in ("raise", "show"):
        raise ParameterError(f"errors={errors!r}: give 'raise' or 'show'")
    with listening() as notices:
        tasks = {name: task_of(each, X, y, sample_weight, random_state) for name, each in named.items()}
    notices.tell(1, "tables")
    task = next(iter(tasks.values()))
    for name, other in tasks.items():
        if other.is_classification != task.is_classification:
            raise ParameterError(
                f"{name!r} and {next(iter(tasks))!r} are a classifier and a regressor: compare one sort"
            )
    is_given = positive is not None
    scorers, costs, positive = _scorers(named, task, scoring, cost, positive)
    score = next(iter(scorers))
    if is_given:
        named = {
            name: each if isinstance(each, DecidingAgain) else with_positive(each, positive)
            for name, each in named.items()
        }
    splits = _repeated(cv, y, repeats, random_state, groups, is_classification=task.is_classification)
    found, failed = _evaluated(named, task, splits, scorers, n_jobs, errors)
    if baseline in failed:
        raise failed[baseline]
    by_name = {row.name: row for row in _rows(found, score, splits, task.n, baseline)}
    rows = tuple(by_name.get(name) or _failed(name, failed[name], len(splits)) for name in named)
    constant = _constant(score, task, named, costs)
    return Comparison(rows, score, task.n, len(splits), int(repeats), constant, baseline, positive)


def _scorers(
    named: Mapping[str, Any], task: Task, scoring: Any, cost: Any, positive: Any
) -> tuple[dict[str, Scorer], np.ndarray | None, Any]:
    """The scores, the one that decides first; the costs that one of them counts; and the class that they are about."""
    if not task.is_classification or task.truth.ndim > 1:
        for name, value in (("cost", cost), ("positive", positive)):
            if value is not None:
                raise ParameterError(f"{name}={value!r} is for one target of classes: leave it out", parameter=name)
        return scorers_of(scoring, is_classification=task.is_classification), None, None
    labels = np.unique(task.truth).tolist()
    if positive is not None:
        positive = labels[place_of(positive, labels, "positive")]
    positive = positive_of(named.values(), labels) if positive is None else positive
    costs = _costs_of(named.values(), labels) if cost is None else cost_matrix(cost, labels, positive)
    own = {} if costs is None else {"neg_cost": cost_scorer_of(costs, positive, labels)}
    if scoring is None:
        if costs is not None:
            return {**own, **scorers_of(None, is_classification=True)}, costs, positive
        weights = [weight for each in named.values() if (weight := class_weight_of(each)) is not None]
        if weights and all(weight == weights[0] for weight in weights) and isinstance(weights[0], str | Mapping):
            return scorers_by_class(weights[0], labels), None, positive
        return scorers_of(None, is_classification=True), None, positive
    names = [scoring] if isinstance(scoring, str) else scoring
    if isinstance(names, list | tuple | set) and all(isinstance(name, str) for name in names):
        names = {name: name for name in (sorted(names) if isinstance(names, set) else names)}
    if not isinstance(names, Mapping):
        return scorers_of(scoring, is_classification=True, positive=positive), costs, positive
    found: dict[str, Scorer] = {}
    for key, value in names.items():
        name = {"cost": "neg_cost"}.get(value, plain_name(value)) if isinstance(value, str) else ""
        if name == "neg_cost" and costs is None:
            raise ParameterError("scoring='cost' needs the costs of mistakes: give cost={'fp': 1, 'fn': 5}")
        if name in own:
            found[name if key == value else str(key)] = own[name]
        else:
            found |= scorers_of(value if key == value else {key: value}, is_classification=True, positive=positive)
    return found or scorers_of(scoring, is_classification=True), costs, positive


def _costs_of(estimators: Iterable[Any], labels: list[Any]) -> np.ndarray | None:
    """The costs that chose the estimators' thresholds, as a matrix, if they are the same."""
    found = {(each.costs, each.positive) for each in estimators if isinstance(each, DecidingAgain)}
    if len(found) != 1:
        return None
    ((costs, label),) = found
    return cost_matrix(dict(zip(("fp", "fn"), costs, strict=True)), labels, label)


def _constant(score: str, task: Task, named: Mapping[str, Any], costs: np.ndarray | None) -> float:
    """The score of the best prediction that is the same for all rows; nan if it is not known."""
    rows = np.arange(task.n)
    if score in ("accuracy", "r2"):
        return constant_score(task, rows)
    if score not in ("neg_cost", "balanced_accuracy", "class_weighted_accuracy") or task.truth.ndim > 1:
        return math.nan
    labels, codes = np.unique(task.truth, return_inverse=True)
    held = np.bincount(codes, task.weights_at(rows))
    held = held / held.sum()
    if score == "neg_cost":
        return math.nan if costs is None else -float((held[:, None] * costs).sum(axis=0).min())
    if score == "balanced_accuracy":
        return 1.0 / len(labels)
    weights = [weight for each in named.values() if (weight := class_weight_of(each)) is not None]
    counted = held * [float(weights[0].get(label, 1.0)) for label in labels.tolist()]
    return float(counted.max() / counted.sum())


def _evaluated(
    named: Mapping[str, Any],
    task: Task,
    splits: Sequence[Split],
    scorers: Mapping[str, Scorer],
    n_jobs: int | None,
    errors: str,
) -> tuple[dict[str, list[Fold]], dict[str, Exception]]:
    """The folds of each estimator, and the errors of those that failed."""
    found: dict[str, list[Fold]] = {}
    refused: dict[str, Exception] = {}
    with listening() as notices, progress.logged():
        for at, (name, estimator) in enumerate(named.items()):
            try:
                with progress.part(at, len(named), f"candidate {at + 1} of {len(named)}, {name}"):
                    found[name] = evaluate_folds(estimator, task, splits, scorers, n_jobs=n_jobs)
            except Exception as error:
                error.add_note(f"while comparing {name!r}; with errors='show' the others would finish")
                if errors == "raise":
                    raise
                refused[name] = error
    if not found:
        raise next(iter(refused.values()))
    notices.tell(len(splits) * len(found), "fits")
    return found, refused


def _failed(name: str, error: Exception, n_folds: int) -> Compared:
    """The row of an estimator that could not be fitted."""
    none, nan = np.full(n_folds, np.nan), float("nan")
    reason = " ".join(str(error).split()) or type(error).__name__
    return Compared(name, none, none.copy(), nan, nan, nan, nan, nan, nan, nan, failure=reason, error=error)


def _named(estimators: Any) -> dict[str, Any]:
    """Estimators by name; those of a list by their class, numbered where a class comes more than once."""
    if isinstance(estimators, Mapping):
        named = {str(name): estimator for name, estimator in estimators.items()}
        if len(named) < len(estimators):
            raise ParameterError(f"two estimators have the same name: {', '.join(map(str, estimators))}")
    elif isinstance(estimators, list | tuple):
        named, counts = {}, dict[str, int]()
        for estimator in estimators:
            kind = type(estimator).__name__
            counts[kind] = counts.get(kind, 0) + 1
            named[kind if counts[kind] == 1 else f"{kind} {counts[kind]}"] = estimator
    else:
        raise ParameterError(
            f"estimators is a {type(estimators).__name__}: give a dict from name to estimator, or a list"
        )
    if not named:
        raise ParameterError("there are no estimators to compare: give at least one")
    names: dict[int, str] = {}
    for name, estimator in named.items():
        other = names.setdefault(id(estimator), name)
        if other != name and hasattr(estimator, "fit"):
            raise ParameterError(f"{other!r} and {name!r} are the same estimator: give each once")
    return named


def _repeated(cv: Any, y: Any, repeats: Any, random_state: Any, groups: Any, *, is_classification: bool) -> list[Split]:
    """The folds of every repeat."""
    repeats = whole_number("repeats", repeats, 1)
    if repeats > 1 and not is_whole(cv):
        raise ParameterError(
            f"repeats={repeats} needs cv as a number of folds: set the repeats of the splitter instead"
        )
    splits = splits_of(cv, y, is_classification=is_classification, random_state=random_state, groups=groups)
    if repeats > 1:
        per_repeat = sum(train.nbytes + test.nbytes for train, test in splits)
        check_fits(repeats * per_repeat, f"repeats={repeats} of {len(splits)} folds", "give fewer repeats")
        # Sampled after the first folds: those are then the folds of cross_validate, also for a RandomState.
        draws = check_random_state(random_state).randint(2**31 - 1, size=repeats - 1).tolist()
        for seed in draws:
            splits += splits_of(cv, y, is_classification=is_classification, random_state=seed, groups=groups)
    return splits


def _rows(
    found: Mapping[str, Sequence[Fold]], score: str, splits: Sequence[Split], n: int, baseline: str | None
) -> list[Compared]:
    """Means, differences and tests of all estimators."""
    test_share, overlap = float(np.mean([len(test) / len(train) for train, test in splits])), overlap_of(splits, n)
    scores = {name: np.array([fold.test_scores[score] for fold in folds]) for name, folds in found.items()}
    warn_of_nan({f"{score} of {name}": values for name, values in scores.items()})
    sizes = {name: np.mean([(fold.n_leaves, fold.depth) for fold in folds], axis=0) for name, folds in found.items()}
    names = list(found)
    means = {name: mean_of(values) for name, values in scores.items()}
    to = baseline or min(names, key=lambda name: best_first(means[name], float(sizes[name][0])))
    with np.errstate(invalid="ignore"):  # infinite scores
        differences = {name: scores[to] - scores[name] for name in names}
    mean_differences = {name: 0.0 if name == to else means[to] - means[name] for name in names}
    reach = {name: math.nan if name == to else margin(differences[name], test_share) for name in names}
    p_values = [float("nan") if name == to else corrected_t(differences[name], test_share)[1] for name in names]
    others = {
        name: {
            other: np.array([fold.test_scores[other] for fold in found[name]])
            for other in found[name][0].test_scores
            if other != score
        }
        for name in names
    }
    return [
        Compared(
            name=name,
            scores=scores[name],
            train_scores=np.array([(fold.train_scores or {})[score] for fold in found[name]]),
            mean=means[name],
            standard_error=standard_error(scores[name], overlap),
            n_leaves=float(sizes[name][0]),
            depth=float(sizes[name][1]),
            margin=margin(scores[name], overlap),
            difference=mean_differences[name],
            difference_low=mean_differences[name] - reach[name],
            difference_high=mean_differences[name] + reach[name],
            p_value=p_value,
            p_adjusted=adjusted,
            others={other: mean_of(values) for other, values in others[name].items()},
            other_margins={other: margin(values, overlap) for other, values in others[name].items()},
        )
        for name, p_value, adjusted in zip(names, p_values, holm(p_values), strict=True)
    ]


def _probabilities(values: Sequence[float]) -> list[str]:
    """p-values with three decimals, never written as 0."""
    return ["-" if math.isnan(p) else "<0.001" if p < 0.0005 else f"{p:.3f}" for p in values]
