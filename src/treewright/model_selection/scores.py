"""What folds said about an estimator. In: scores and predictions per fold. Out: ``Scores``.

Callers: model_selection.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

from treewright.exceptions import ParameterError
from treewright.explain.table import GAP, TextColumn, aligned
from treewright.model_selection.scoring import are_right
from treewright.model_selection.task import Task
from treewright.tree.intervals import wilson_interval
from treewright.tree.words import shorten

MOST_FOLDS_SHOWN = 20
LONGEST_NAME = 32


@dataclass(frozen=True, eq=False)
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
        Rows that were tested, where none was tested twice; else None, and so are the next two.
    predictions : ndarray[m] or ndarray[m, n_outputs], or None
        What each of them was predicted to be, by the fit that did not see it.
    pooled : dict from str to float, or None
        Of all predictions together, weighted: ``accuracy`` with ``low`` and ``high``, its 95 % interval (Wilson 1927; a
        share of the ``m`` rows, whatever they weigh); or ``r2``, ``mae``, ``rmse``.
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
        return {name: float(scores.mean()) for name, scores in self.test.items()}

    @property
    def standard_errors(self) -> dict[str, float]:
        """Per score the standard error of the mean over the folds (``standard_error``)."""
        return {name: standard_error(scores) for name, scores in self.test.items()}

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
        this is too small rather than too large (Bengio and Grandvalet 2004, J. Mach. Learn. Res. 5, 1089-1105).
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
        columns = [
            TextColumn("", [shorten(name, LONGEST_NAME) for name in self.test], "left"),
            TextColumn("test", _written(self.means.values()), "point"),
        ]
        if self.n_folds > 1:
            columns.append(TextColumn("std. error", _written(self.standard_errors.values()), "point"))
        if self.train is not None:
            columns.append(TextColumn("training", _written([v.mean() for v in self.train.values()]), "point"))
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
            wider = [*columns, TextColumn(shorten(name, LONGEST_NAME), _written(scores.tolist()), "point")]
            if len(side_by_side(wider)[0]) > 80:
                break
            columns = wider
        return side_by_side(columns)


def standard_error(values: np.ndarray) -> float:
    """Standard deviation (of a sample) over the square root of the number; nan for fewer than two."""
    if len(values) < 2:
        return float("nan")
    return float(np.std(values, ddof=1)) / math.sqrt(len(values))


def pooled_scores(task: Task, rows: np.ndarray, predictions: np.ndarray) -> dict[str, float]:
    """What all predictions together say.

    Parameters
    ----------
    task : Task
    rows : int64[m]
    predictions : ndarray[m] or ndarray[m, n_outputs]
    """
    truth, weights = task.truth[rows], task.weights_at(rows)
    if task.is_classification:
        share = float(np.average(are_right(truth, predictions), weights=weights))
        low, high = wilson_interval(share * len(rows), len(rows))
        return {"accuracy": share, "low": low, "high": high}
    said = predictions.reshape(truth.shape)
    return {
        "r2": float(r2_score(truth, said, sample_weight=weights)) if len(rows) > 1 else float("nan"),
        "mae": float(mean_absolute_error(truth, said, sample_weight=weights)),
        "rmse": float(root_mean_squared_error(truth, said, sample_weight=weights)),
    }


def side_by_side(columns: list[TextColumn]) -> list[str]:
    """Lines of a table, the titles first."""
    return [GAP.join(cells).rstrip() for cells in zip(*map(aligned, columns), strict=True)]


def _written(values: Any) -> list[str]:
    """Numbers of scores as text: decimals where they say something."""
    return [f"{value:.3f}" if math.isnan(value) or abs(value) < 1000 else f"{value:.6g}" for value in values]


def _said(pooled: Mapping[str, float]) -> str:
    """The pooled scores in words."""
    if "accuracy" in pooled:
        share, low, high = _written([pooled["accuracy"], pooled["low"], pooled["high"]])
        return f"accuracy {share}, 95 % interval {low} to {high} (Wilson)"
    return ", ".join(f"{name} {text}" for name, text in zip(pooled, _written(pooled.values()), strict=True))
