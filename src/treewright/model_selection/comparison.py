"""Several estimators on the same folds. In: estimators, a table, a target. Out: ``Comparison``. Callers: users, cli."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from treewright.exceptions import ParameterError
from treewright.explain.table import TextColumn
from treewright.model_selection.evaluate import Fold, evaluate_folds, warn_of_nan
from treewright.model_selection.folds import Split, splits_of
from treewright.model_selection.paired import corrected_t, holm
from treewright.model_selection.scores import side_by_side, standard_error
from treewright.model_selection.scoring import one_scorer
from treewright.model_selection.task import task_of
from treewright.model_selection.whole import is_whole, whole_number
from treewright.tree.words import shorten

LONGEST_NAME = 24


@dataclass(frozen=True, eq=False)
class Compared:
    """How one estimator did.

    Attributes
    ----------
    name : str
    scores, train_scores : float64[J]
        Per fold; the folds are the same for all. Greater is better.
    mean, standard_error : float
        Over the folds.
    n_leaves, depth : float
        Mean over the folds; nan for what is no tree.
    difference : float, >= 0
        Mean of the best minus this mean.
    p_value, p_adjusted : float
        Of the corrected test against the best (``paired.corrected_t``), and adjusted for the number of tests (Holm).
        nan for the best itself.
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


@dataclass(frozen=True, eq=False)
class Comparison(Sequence[Compared]):
    """Estimators on the same folds; a sequence of ``Compared``, in the order given.

    Attributes
    ----------
    rows : tuple of Compared
    score : str
    n_rows, n_folds, repeats : int
        Rows of the table, folds in all, and how often the rows were shuffled anew.
    """

    rows: tuple[Compared, ...]
    score: str
    n_rows: int
    n_folds: int
    repeats: int

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, at: Any) -> Any:
        """A row by position or by the estimator's name."""
        if not isinstance(at, str):
            return self.rows[at]
        for row in self.rows:
            if row.name == at:
                return row
        raise KeyError(f"{at!r}: compared were {', '.join(row.name for row in self.rows)}")

    @property
    def best(self) -> Compared:
        """The one of the greatest mean score; of equals the one with fewest leaves, then the first."""
        return self.rows[_best_of([(row.mean, row.n_leaves) for row in self.rows])]

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns for a data frame, a row per estimator."""
        names = (
            "name", "mean", "standard_error", "n_leaves", "depth", "difference", "p_value", "p_adjusted",
        )  # fmt: skip
        return {name: [getattr(row, name) for row in self.rows] for name in names}

    def __str__(self) -> str:
        repeated = f" ({self.repeats} repeats)" if self.repeats > 1 else ""
        columns = [
            TextColumn("", [shorten(row.name, LONGEST_NAME) for row in self.rows], "left"),
            TextColumn("mean", _written(self.rows, "mean"), "point"),
            TextColumn("s.e.", _written(self.rows, "standard_error"), "point"),
        ]
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
                ("behind", _written(self.rows, "difference")),
                ("p", _probabilities([row.p_value for row in self.rows])),
                ("p (Holm)", _probabilities([row.p_adjusted for row in self.rows])),
            )
        ]
        score = shorten(self.score, LONGEST_NAME)
        head = f"{score}, {self.n_folds} folds{repeated} of {self.n_rows} rows, the same for all"
        return "\n".join([head, *side_by_side(columns)])


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
) -> Comparison:
    """Score several estimators on the same folds, and test who is behind the best.

    Parameters
    ----------
    estimators : dict from name to estimator, or list of estimators
        Any of this library or of scikit-learn, all of one sort; copies are fitted. A list is named by class.
    X, y : table of n rows and its target
    cv : int >= 2, splitter of scikit-learn, pairs of rows, or array of n fold numbers
    repeats : int >= 1
        How often the rows are shuffled anew; for ``cv`` as an int only. The first time gives the folds of
        ``cross_validate``.
    sample_weight : n numbers >= 0, optional
        For fitting and for scoring.
    scoring : None, str or callable
        None is the accuracy, or R2; one score only.
    random_state : int, RandomState or None
    n_jobs : int, optional
        Folds side by side; the result does not depend on it.
    groups : n group labels, optional
        For a splitter that keeps groups together.

    Returns
    -------
    Comparison

    Raises
    ------
    ParameterError
        No estimators, or of both sorts; a parameter is outside its range.
    DataError
        The folds cannot be made of these rows.

    Notes
    -----
    The p-value is that of the corrected resampled paired t-test (Nadeau and Bengio 2003). Who is best was seen in the
    same scores, so a small p-value is a hint and not a proof.

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
    tasks = {name: task_of(estimator, X, y, sample_weight) for name, estimator in named.items()}
    task = next(iter(tasks.values()))
    for name, other in tasks.items():
        if other.is_classification != task.is_classification:
            raise ParameterError(
                f"{name!r} and {next(iter(tasks))!r} are a classifier and a regressor: compare one sort"
            )
    score, scorer = one_scorer(scoring, is_classification=task.is_classification)
    splits = _repeated(cv, y, repeats, random_state, groups, is_classification=task.is_classification)
    found = {}
    for name, estimator in named.items():
        try:
            found[name] = evaluate_folds(estimator, task, splits, {score: scorer}, n_jobs=n_jobs)
        except Exception as error:
            error.add_note(f"while comparing {name!r}")
            raise
    test_share = float(np.mean([len(test) / len(train) for train, test in splits]))
    rows = _rows(found, score, test_share)
    return Comparison(rows, score, task.n, len(splits), int(repeats))


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
    return named


def _repeated(cv: Any, y: Any, repeats: Any, random_state: Any, groups: Any, *, is_classification: bool) -> list[Split]:
    """The folds of every repeat."""
    repeats = whole_number("repeats", repeats, 1)
    if repeats > 1 and not is_whole(cv):
        raise ParameterError(
            f"repeats={repeats} needs cv as a number of folds: a splitter says itself how often it repeats"
        )
    seeds = [random_state]
    if repeats > 1 and random_state is not None:
        draws = check_random_state(random_state)
        seeds += draws.randint(2**31 - 1, size=repeats - 1).tolist()
    elif repeats > 1:
        seeds *= repeats
    splits = []
    for seed in seeds:
        splits += splits_of(cv, y, is_classification=is_classification, random_state=seed, groups=groups)
    return splits


def _rows(found: Mapping[str, Sequence[Fold]], score: str, test_share: float) -> tuple[Compared, ...]:
    """Means, differences and tests of all."""
    scores = {name: np.array([fold.test_scores[score] for fold in folds]) for name, folds in found.items()}
    warn_of_nan({f"{score} of {name}": values for name, values in scores.items()})
    sizes = {name: np.mean([(fold.n_leaves, fold.depth) for fold in folds], axis=0) for name, folds in found.items()}
    names = list(found)
    best = names[_best_of([(float(scores[name].mean()), float(sizes[name][0])) for name in names])]
    p_values = [
        float("nan") if name == best else corrected_t(scores[best] - scores[name], test_share)[1] for name in names
    ]
    return tuple(
        Compared(
            name=name,
            scores=scores[name],
            train_scores=np.array([(fold.train_scores or {})[score] for fold in found[name]]),
            mean=float(scores[name].mean()),
            standard_error=standard_error(scores[name]),
            n_leaves=float(sizes[name][0]),
            depth=float(sizes[name][1]),
            difference=float(scores[best].mean() - scores[name].mean()),
            p_value=p_value,
            p_adjusted=adjusted,
        )
        for name, p_value, adjusted in zip(names, p_values, holm(p_values), strict=True)
    )


def _best_of(mean_and_leaves: Sequence[tuple[float, float]]) -> int:
    """Position of the greatest mean; of equals the fewest leaves, then the first. nan comes last."""

    def rank(at: int) -> tuple[bool, float, float, int]:
        mean, leaves = mean_and_leaves[at]
        return math.isnan(mean), -mean, math.inf if math.isnan(leaves) else leaves, at

    return min(range(len(mean_and_leaves)), key=rank)


def _written(rows: Sequence[Compared], name: str) -> list[str]:
    """Numbers of a column with three decimals; - where there is none."""
    numbers = [float(getattr(row, name)) for row in rows]
    return ["-" if math.isnan(n) else f"{n:.3f}" if abs(n) < 1000 else f"{n:.6g}" for n in numbers]


def _probabilities(values: Sequence[float]) -> list[str]:
    """p-values with three decimals; none is written as 0."""
    return ["-" if math.isnan(p) else "<0.001" if p < 0.0005 else f"{p:.3f}" for p in values]
