"""What folds said about an estimator. In: scores and predictions per fold. Out: ``Scores``.

Callers: model_selection.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

from treewright.exceptions import ParameterError
from treewright.explain.table import GAP, TextColumn, aligned
from treewright.model_selection.scoring import are_right, shown_score
from treewright.model_selection.task import Task
from treewright.tree.intervals import wilson_interval
from treewright.tree.words import shorten

MOST_FOLDS_SHOWN = 20
LONGEST_NAME = 32


@dataclass(frozen=True, eq=False, repr=False)
class Scores:
    """Scores of an estimator on rows that it did not learn from.

    Attributes
    ----------
    estimator : str
        The name of its class.
    method : {"holdout", "cross_validate", "leave_one_out"}
    n_rows : int
        Rows of the table.
    test : dict from str to float64[k]
        Per score its value on the test rows of each of the k folds. Greater is better.
    train : dict from str to float64[k], or None
        The same on the rows that were learned from; None for ``leave_one_out``.
    n_train, n_test : int64[k]
    n_leaves, depth : float64[k]
        Of the tree that each fold grew; nan for what is no tree.
    rows : int64[m], ascending, or None
        Rows with weight that were tested, where none was tested twice; else None, and so are the next two.
    predictions : ndarray[m] or ndarray[m, n_outputs], or None
        What each of them was predicted to be, by the fit that did not see it.
    pooled : dict from str to float, or None
        Of all predictions together, weighted: ``accuracy`` with ``low`` and ``high``, its 95 % interval (Wilson 1927;
        of as many rows as the weights are worth, ``rows_worth``); or ``r2``, ``mae``, ``rmse``. None also for several
        answers of one target, as several quantiles are.
    estimators : tuple of fitted estimators, or None
        One for each fold, with ``keep_estimators=True``.
    """

    estimator: str
    method: str
    n_rows: int
    test: Mapping[str, np.ndarray]
    train: Mapping[str, np.ndarray] | None
    n_train: np.ndarray
    n_test: np.ndarray
    n_leaves: np.ndarray
    depth: np.ndarray
    rows: np.ndarray | None
    predictions: np.ndarray | None
    pooled: Mapping[str, float] | None
    estimators: tuple[Any, ...] | None

    @property
    def n_folds(self) -> int:
        """How many folds there are; 1 for ``holdout``."""
        return len(self.n_test)

    @property
    def means(self) -> dict[str, float]:
        """Per score the mean over the folds, each fold counting the same."""
        return {name: mean_of(scores) for name, scores in self.test.items()}

    @property
    def standard_errors(self) -> dict[str, float]:
        """Per score the standard error of the mean over the folds (``standard_error``)."""
        overlap = 0.0 if self.rows is not None else float(np.mean(self.n_test / self.n_train))
        return {name: standard_error(scores, overlap) for name, scores in self.test.items()}

    @property
    def mean(self) -> float:
        """Mean of the only score.

        Raises
        ------
        ParameterError
            There are several: see ``means``.
        """
        return self.means[self._only()]

    @property
    def standard_error(self) -> float:
        """Standard error of the mean of the only score; nan for one fold.

        The standard deviation between the folds over the square root of their number. Folds share training rows, so
        this is too small rather than too large (Bengio and Grandvalet 2004, J. Mach. Learn. Res. 5, 1089-1105). Where
        rows are tested more than once it is corrected (see ``scores.standard_error``): more repeats make no more rows.
        """
        return self.standard_errors[self._only()]

    def _only(self) -> str:
        """Name of the only score."""
        if len(self.test) > 1:
            raise ParameterError(f"there are several scores, {', '.join(self.test)}: see means and standard_errors")
        return next(iter(self.test))

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns for a data frame, a row per fold.

        Returns
        -------
        dict
            ``fold``, ``n_train``, ``n_test``, ``n_leaves``, ``depth``, and per score ``test_...`` and ``train_...``.
        """
        columns: dict[str, list[Any]] = {"fold": list(range(self.n_folds))}
        for name in ("n_train", "n_test", "n_leaves", "depth"):
            columns[name] = getattr(self, name).tolist()
        for name in self.test:
            columns[f"test_{name}"] = self.test[name].tolist()
            if self.train is not None:
                columns[f"train_{name}"] = self.train[name].tolist()
        return columns

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        folds = f"{self.n_folds} folds of {self.n_rows} rows"
        if self.n_folds == 1:
            folds = f"{self.n_test[0]} of {self.n_rows} rows held out"
        elif self.method == "leave_one_out":
            folds = f"each of {self.n_folds} rows left out once"
        lines = [f"{self.estimator}, {folds}", *self._summary()]
        if 1 < self.n_folds <= MOST_FOLDS_SHOWN:
            lines += ["", *self._per_fold()]
        if self.pooled is not None and self.rows is not None:
            lines += ["", f"all {len(self.rows)} predictions: {_said(self.pooled)}"]
        return "\n".join(line.rstrip() for line in lines)

    def _summary(self) -> list[str]:
        """A line per score."""
        rows = []
        for name, mean in self.means.items():
            label, sign = shown_score(name)
            numbers = [sign * mean, self.standard_errors[name]]
            if self.train is not None:
                numbers.append(sign * mean_of(self.train[name]))
            rows.append([shorten(label, LONGEST_NAME), *written(numbers)])
        titles = ["", "test", "std. error", "training"][: len(rows[0])]
        columns = [
            TextColumn(title, list(cells), "point" if title else "left")
            for title, cells in zip(titles, zip(*rows, strict=True), strict=True)
            if title != "std. error" or self.n_folds > 1
        ]
        return side_by_side(columns)

    def _per_fold(self) -> list[str]:
        """A line per fold; scores that do not fit into 80 cells are left to ``to_dict``."""
        columns = [
            TextColumn("fold", [str(fold) for fold in range(self.n_folds)], "right"),
            TextColumn("rows", [str(n) for n in self.n_test.tolist()], "right"),
        ]
        if not np.isnan(self.n_leaves).any():
            columns.append(TextColumn("leaves", [f"{n:g}" for n in self.n_leaves.tolist()], "right"))
        for name, scores in self.test.items():
            label, sign = shown_score(name)
            wider = [*columns, TextColumn(shorten(label, LONGEST_NAME), written(sign * scores), "point")]
            if len(side_by_side(wider)[0]) > 80:
                break
            columns = wider
        return side_by_side(columns)


def mean_of(values: np.ndarray) -> float:
    """Mean over the folds; of infinities in both directions nan."""
    with np.errstate(invalid="ignore", over="ignore"):
        return float(np.mean(values))


def standard_error(values: np.ndarray, overlap: float = 0.0) -> float:
    """Standard error of a mean over folds.

    Parameters
    ----------
    values : float64[J]
        A number per fold.
    overlap : float >= 0
        0 where no row is tested twice, else test rows over training rows (``folds.overlap_of``).

    Returns
    -------
    float
        sqrt((1 / J + overlap) * s2), s2 the variance of a sample. Without overlap that is the usual s / sqrt(J). With
        repeats J grows and the rows stay the same; the second term, of Nadeau and Bengio (2003, Machine Learning 52,
        239-281), does not vanish. nan for fewer than two folds, or where a value is not finite.

    Examples
    --------
    >>> once, often = np.array([0.9, 0.8, 1.0, 0.9]), np.array([0.9, 0.8, 1.0, 0.9] * 50)
    >>> round(standard_error(once), 3), round(standard_error(often), 3), round(standard_error(often, 1 / 3), 3)
    (0.041, 0.005, 0.041)
    """
    if len(values) < 2 or not np.isfinite(values).all():
        return float("nan")
    return float(np.std(values, ddof=1)) * math.sqrt(1.0 + len(values) * overlap) / math.sqrt(len(values))


def rows_worth(n: int, weights: np.ndarray | None) -> float:
    """As how many rows of one weight rows of several weights say (Kish 1965): sum(w)^2 / sum(w^2).

    Examples
    --------
    >>> rows_worth(3, None), rows_worth(3, np.array([2.0, 2.0, 0.0]))
    (3.0, 2.0)
    """
    if weights is None:
        return float(n)
    share = weights / weights.max()
    return float(share.sum() ** 2 / np.square(share).sum())


def pooled_scores(task: Task, rows: np.ndarray, predictions: np.ndarray) -> dict[str, float] | None:
    """What all predictions together say; None where a target has several answers.

    Parameters
    ----------
    task : Task
    rows : int64[m]
    predictions : ndarray[m] or ndarray[m, n_outputs]
    """
    truth, weights = task.truth[rows], task.weights_at(rows)
    if task.is_classification:
        share = float(np.average(are_right(truth, predictions), weights=weights))
        n = rows_worth(len(rows), weights)
        low, high = wilson_interval(share * n, n)
        return {"accuracy": share, "low": low, "high": high}
    if predictions.size != truth.size:
        return None
    said = predictions.reshape(truth.shape)
    return {
        "r2": float(r2_score(truth, said, sample_weight=weights)) if len(rows) > 1 else float("nan"),
        "mae": float(mean_absolute_error(truth, said, sample_weight=weights)),
        "rmse": float(root_mean_squared_error(truth, said, sample_weight=weights)),
    }


def side_by_side(columns: list[TextColumn]) -> list[str]:
    """Lines of a table, the titles first."""
    return [GAP.join(cells).rstrip() for cells in zip(*map(aligned, columns), strict=True)]


def written(values: Iterable[float]) -> list[str]:
    """Numbers that stand together as text, all with the same decimals; - where there is none.

    Three decimals, fewer beside thousands, more where all numbers are small; powers of ten beyond that.

    Examples
    --------
    >>> written([0.9411, 0.01, float("nan")]), written([6801.2, 95.04]), written([0.00123, 0.0001])
    (['0.941', '0.010', '-'], ['6801.2', '95.0'], ['0.00123', '0.00010'])
    """
    numbers = [float(value) + 0.0 for value in values]  # -0.0 becomes 0.0
    largest = max((abs(number) for number in numbers if math.isfinite(number)), default=0.0)
    if largest and not 1e-6 <= largest < 1e9:
        texts = [f"{number:.3g}" for number in numbers]
    else:
        size = math.floor(math.log10(largest)) if largest else 0
        decimals = max(0, 4 - size) if size >= 3 else max(3, 2 - size)
        texts = [f"{number:.{decimals}f}" for number in numbers]
    return ["-" if math.isnan(number) else text for number, text in zip(numbers, texts, strict=True)]


def _said(pooled: Mapping[str, float]) -> str:
    """The pooled scores in words."""
    if "accuracy" in pooled:
        share, low, high = written([pooled["accuracy"], pooled["low"], pooled["high"]])
        return f"accuracy {share}, 95 % interval {low} to {high} (Wilson)"
    return ", ".join(f"{name} {written([value])[0]}" for name, value in pooled.items())
