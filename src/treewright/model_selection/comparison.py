"""Several estimators on the same folds. In: estimators, a table, a target. Out: ``Comparison``."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from treewright.core import progress
from treewright.core.notices import listening
from treewright.core.whole import is_whole, whole_number
from treewright.data.memory import check_fits
from treewright.exceptions import ParameterError
from treewright.explain.table import TextColumn
from treewright.judge.folds import Split, overlap_of, splits_of
from treewright.judge.scoring import Scorer, scorers_of, shown_score
from treewright.judge.tasks import Fold, Task, best_first, evaluate_folds, task_of, warn_of_nan
from treewright.judge.uncertainty import corrected_t, holm, mean_of, standard_error
from treewright.judge.verdict import constant_score, verdict
from treewright.model_selection.tables import PAGE_WIDTH, side_by_side, written
from treewright.tree.writing import shorten

LONGEST_NAME = 24


@dataclass(frozen=True, eq=False)
class Compared:
    """Scores of one estimator, and its difference from the best.

    Attributes
    ----------
    name : str
    scores, train_scores : float64[J]
        Per fold; the folds are the same for all. Greater is better.
    mean, standard_error : float
        Over the folds.
    others : dict of str to float
        Means of the other scores, if ``scoring`` names several.
    n_leaves, depth : float
        Mean over the folds; nan for an estimator that is no tree.
    behind : float, >= 0
        Mean of the best minus this mean.
    p_value, p_adjusted : float
        Of the corrected test against the best (``paired.corrected_t``), and adjusted for the number of tests (Holm).
        nan for the best itself, and if all folds have the same difference.
    refusal : str or None
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
    behind: float
    p_value: float
    p_adjusted: float
    others: Mapping[str, float] = field(default_factory=dict)
    refusal: str | None = None
    error: Exception | None = field(default=None, repr=False, compare=False)


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
        Accuracy of always predicting the most frequent class, or 0, the R2 of the mean; nan for other scores.
    """

    rows: tuple[Compared, ...]
    score: str
    n_rows: int
    n_folds: int
    repeats: int
    constant: float = math.nan

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

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns for a data frame, a row per estimator."""
        names = (
            "name", "mean", "standard_error", "n_leaves", "depth", "behind", "p_value", "p_adjusted", "refusal",
        )  # fmt: skip
        columns = {name: [getattr(row, name) for row in self.rows] for name in names}
        return columns | {name: [row.others.get(name, math.nan) for row in self.rows] for name in self._others}

    @property
    def _others(self) -> list[str]:
        """Names of the scores that do not decide."""
        return list(dict.fromkeys(name for row in self.rows for name in row.others))

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        score, sign = shown_score(self.score)
        numbers = [value for row in self.rows for value in (sign * row.mean, row.standard_error, row.behind)]
        texts = written(numbers)
        repeated = f" ({self.repeats} repeats)" if self.repeats > 1 else ""
        columns = [
            TextColumn("", [shorten(row.name, LONGEST_NAME) for row in self.rows], "left"),
            TextColumn("mean", texts[0::3], "point"),
            TextColumn("s.e.", texts[1::3], "point"),
        ]
        for name in self._others:
            title, turned = shown_score(name)
            means = [turned * row.others.get(name, math.nan) for row in self.rows]
            columns.append(TextColumn(shorten(title.replace("_", " "), LONGEST_NAME), written(means), "point"))
        if not all(math.isnan(row.n_leaves) for row in self.rows):
            columns += [
                TextColumn(title, ["-" if math.isnan(n) else f"{n:.1f}" for n in numbers], "point")
                for title, numbers in (
                    ("leaves", [row.n_leaves for row in self.rows]),
                    ("depth", [row.depth for row in self.rows]),
                )
            ]
        best = self.best
        columns += [
            TextColumn(
                title, ["best" if row is best else cell for row, cell in zip(self.rows, cells, strict=True)], "point"
            )
            for title, cells in (
                ("behind", texts[2::3]),
                ("p", _probabilities([row.p_value for row in self.rows])),
                ("p (Holm)", _probabilities([row.p_adjusted for row in self.rows])),
            )
        ]
        head = f"{shorten(score, LONGEST_NAME)}, {self.n_folds} folds{repeated} of {self.n_rows} rows, the same for all"
        lines = [head, *side_by_side(columns)]
        for row in self.rows:
            if row.refusal is not None:
                text = f"{shorten(row.name, LONGEST_NAME)} refused: {row.refusal}"
                lines += textwrap.wrap(text, PAGE_WIDTH, subsequent_indent="  ")
        lines += textwrap.wrap(self._warning(), PAGE_WIDTH, subsequent_indent="  ")
        return "\n".join(lines)

    def _warning(self) -> str:
        """A warning that names the estimators no better than one prediction for all rows; empty if there are none."""
        is_classification = self.score == "accuracy"
        bad = [row.name for row in self.rows if verdict(row.mean, self.constant, is_classification=is_classification)]
        if math.isnan(self.constant) or not bad:
            return ""
        what = "the most frequent class" if is_classification else "the mean"
        return (
            f"WARNING: no better than a constant prediction ({what}, {shown_score(self.score)[0]} "
            f"{self.constant:.3f}): {', '.join(bad)}"
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
    random_state: Any = 0,
    n_jobs: int | None = None,
    groups: Any = None,
    errors: Literal["raise", "show"] = "raise",
) -> Comparison:
    """Score several estimators on the same folds, and test the differences from the best.

    Parameters
    ----------
    estimators : dict from name to estimator, or list of estimators
        Any of this library or of scikit-learn, all of one sort, none twice; copies are fitted. A list is named by
        class.
    X, y : table of n rows and its target
    cv : int >= 2, splitter of scikit-learn, pairs of rows, or array of n fold numbers
    repeats : int >= 1
        How often the rows are shuffled; only for ``cv`` as an int. The first shuffle gives the folds of
        ``cross_validate``.
    sample_weight : n numbers >= 0, optional
        For fitting and for scoring.
    scoring : None, str, callable, list or dict
        As for ``cross_validate``; None is the accuracy, or R2. Of several the first decides which is best; the means of
        the others are listed next to it.
    random_state : int, RandomState or None
        Seed of the shuffles, and of an estimator that has no seed of its own.
    n_jobs : int, optional
        Folds in parallel. Given a ``random_state``, the result does not depend on it.
    groups : n group labels, optional
        For a splitter that keeps groups together.
    errors : {"raise", "show"}
        What happens if an estimator cannot be fitted or scored: the whole call fails; or it becomes a row without
        numbers, with the reason in ``refusal``, and the others finish. If all fail, the first error is raised.

    Returns
    -------
    Comparison

    Raises
    ------
    ParameterError
        No estimators, one of them twice, or of both sorts; a parameter is outside its range.
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
    The p-value is that of the corrected resampled paired t-test (Nadeau and Bengio 2003). The best was chosen by the
    same scores, so a small p-value is a hint and not a proof. With several repeats the standard error is corrected like
    the test (``scores.standard_error``): more shuffles of the same rows make no more rows.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_iris
    >>> trees = {"stump": tw.DecisionTreeClassifier(max_depth=1), "tree": tw.DecisionTreeClassifier()}
    >>> print(tw.model_selection.compare(trees, *load_iris(return_X_y=True)))
    accuracy, 10 folds of 150 rows, the same for all
            mean   s.e.  leaves  depth  behind       p  p (Holm)
    stump  0.667  0.000     2.0    1.0   0.273  <0.001    <0.001
    tree   0.940  0.018     8.6    5.1   best    best      best
    """
    named = _named(estimators)
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
    scorers = scorers_of(scoring, is_classification=task.is_classification)
    score = next(iter(scorers))
    splits = _repeated(cv, y, repeats, random_state, groups, is_classification=task.is_classification)
    found, refused = _evaluated(named, task, splits, scorers, n_jobs, errors)
    by_name = {row.name: row for row in _rows(found, score, splits, task.n)}
    rows = tuple(by_name.get(name) or _refused(name, refused[name], len(splits)) for name in named)
    constant = constant_score(task, np.arange(task.n)) if score in ("accuracy", "r2") else math.nan
    return Comparison(rows, score, task.n, len(splits), int(repeats), constant)


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


def _refused(name: str, error: Exception, n_folds: int) -> Compared:
    """The row of an estimator that could not be fitted."""
    none, nan = np.full(n_folds, np.nan), float("nan")
    reason = " ".join(str(error).split()) or type(error).__name__
    return Compared(name, none, none.copy(), nan, nan, nan, nan, nan, nan, nan, refusal=reason, error=error)


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


def _rows(found: Mapping[str, Sequence[Fold]], score: str, splits: Sequence[Split], n: int) -> list[Compared]:
    """Means, differences and tests of all estimators."""
    test_share, overlap = float(np.mean([len(test) / len(train) for train, test in splits])), overlap_of(splits, n)
    scores = {name: np.array([fold.test_scores[score] for fold in folds]) for name, folds in found.items()}
    warn_of_nan({f"{score} of {name}": values for name, values in scores.items()})
    sizes = {name: np.mean([(fold.n_leaves, fold.depth) for fold in folds], axis=0) for name, folds in found.items()}
    names = list(found)
    means = {name: mean_of(values) for name, values in scores.items()}
    best = min(names, key=lambda name: best_first(means[name], float(sizes[name][0])))
    with np.errstate(invalid="ignore"):  # infinite scores
        p_values = [
            float("nan") if name == best else corrected_t(scores[best] - scores[name], test_share)[1] for name in names
        ]
    return [
        Compared(
            name=name,
            scores=scores[name],
            train_scores=np.array([(fold.train_scores or {})[score] for fold in found[name]]),
            mean=means[name],
            standard_error=standard_error(scores[name], overlap),
            n_leaves=float(sizes[name][0]),
            depth=float(sizes[name][1]),
            behind=0.0 if name == best else means[best] - means[name],
            p_value=p_value,
            p_adjusted=adjusted,
            others={
                other: mean_of(np.array([fold.test_scores[other] for fold in found[name]]))
                for other in found[name][0].test_scores
                if other != score
            },
        )
        for name, p_value, adjusted in zip(names, p_values, holm(p_values), strict=True)
    ]


def _probabilities(values: Sequence[float]) -> list[str]:
    """p-values with three decimals, never written as 0."""
    return ["-" if math.isnan(p) else "<0.001" if p < 0.0005 else f"{p:.3f}" for p in values]
