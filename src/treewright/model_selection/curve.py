"""Training and validation error over something that is varied. In: errors per fold. Out: ``Curve``.

Callers: model_selection.curves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.exceptions import ParameterError
from treewright.explain.table import TextColumn
from treewright.model_selection.losses import WORDS, Loss
from treewright.model_selection.scores import side_by_side, standard_error
from treewright.tree.words import shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LONGEST_VALUE = 24


@dataclass(frozen=True, eq=False)
class Curve:
    """Errors on training rows and on rows unseen, point by point.

    Attributes
    ----------
    estimator : str
        The name of its class.
    over : str
        What is varied: a parameter, ``"alpha"``, ``"leaves"`` or ``"rows"``.
    x : tuple of k values
    train_error, test_error : float64[k]
        Mean over the folds of the mean loss of a fold's rows.
    train_standard_error, test_standard_error : float64[k]
        Over the folds; nan for one fold.
    train_by_fold, test_by_fold : float64[n_folds, k]
    n_leaves : float64[k]
        Mean over the folds; nan for what is no tree.
    loss : {"misclassified", "log", "squared", "absolute"}
    n_rows, n_folds : int
    """

    estimator: str
    over: str
    x: tuple[Any, ...]
    train_by_fold: np.ndarray
    test_by_fold: np.ndarray
    n_leaves: np.ndarray
    loss: Loss
    n_rows: int

    @property
    def n_folds(self) -> int:
        """How many folds there are."""
        return len(self.test_by_fold)

    @property
    def train_error(self) -> np.ndarray:
        """float64[k]: mean over the folds."""
        return np.asarray(self.train_by_fold.mean(axis=0))

    @property
    def test_error(self) -> np.ndarray:
        """float64[k]: mean over the folds."""
        return np.asarray(self.test_by_fold.mean(axis=0))

    @property
    def train_standard_error(self) -> np.ndarray:
        """float64[k]: of ``train_error``, over the folds."""
        return np.array([standard_error(column) for column in self.train_by_fold.T])

    @property
    def test_standard_error(self) -> np.ndarray:
        """float64[k]: of ``test_error``, over the folds."""
        return np.array([standard_error(column) for column in self.test_by_fold.T])

    @property
    def best_position(self) -> int:
        """Position of the least validation error; of equals the simplest."""
        error, size = self.test_error, self._complexity()
        return min(range(len(self.x)), key=lambda at: (error[at], size[at], at))

    @property
    def one_se_position(self) -> int:
        """Position of the simplest point whose validation error is within one standard error of the least.

        Simplest is the one of fewest leaves; for what has no leaves, and over rows, the first.

        Raises
        ------
        ParameterError
            There is one fold, hence no standard error.
        """
        error, size, best = self.test_error, self._complexity(), self.best_position
        margin = float(self.test_standard_error[best])
        if math.isnan(margin):
            raise ParameterError("one fold has no standard error: give a larger cv, or take best")
        near = np.flatnonzero(error <= error[best] + margin).tolist()
        return min(near, key=lambda at: (size[at], error[at], at))

    @property
    def best(self) -> Any:
        """The value of ``x`` with the least validation error."""
        return self.x[self.best_position]

    @property
    def one_se(self) -> Any:
        """The value of ``x`` that ``one_se_position`` names."""
        return self.x[self.one_se_position]

    def _complexity(self) -> np.ndarray:
        """What the simplest point has least of."""
        if self.over == "rows" or np.isnan(self.n_leaves).any():
            return np.arange(len(self.x), dtype=np.float64)
        return self.n_leaves

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns for a data frame, a row per point."""
        return {
            self.over: list(self.x),
            "train_error": self.train_error.tolist(),
            "train_standard_error": self.train_standard_error.tolist(),
            "test_error": self.test_error.tolist(),
            "test_standard_error": self.test_standard_error.tolist(),
            "mean_leaves": self.n_leaves.tolist(),
        }

    def __str__(self) -> str:
        marks = [""] * len(self.x)
        if self.over != "rows":
            marks[self.best_position] = "best"
            if self.n_folds > 1:
                simplest = self.one_se_position
                marks[simplest] = "best, 1 s.e." if simplest == self.best_position else "1 s.e."
        texts = [f"{v:.4g}" if isinstance(v, float) else str(v) for v in self.x]
        are_numbers = all(isinstance(value, Real) for value in self.x)
        columns = [
            TextColumn(self.over, [shorten(text, LONGEST_VALUE) for text in texts], "right" if are_numbers else "left"),
            TextColumn("training", [f"{error:.4g}" for error in self.train_error.tolist()], "point"),
            TextColumn("test", [f"{error:.4g}" for error in self.test_error.tolist()], "point"),
            TextColumn("s.e.", [_short(error) for error in self.test_standard_error.tolist()], "point"),
        ]
        if not np.isnan(self.n_leaves).any() and self.over != "leaves":
            columns.append(TextColumn("leaves", [f"{n:.1f}" for n in self.n_leaves.tolist()], "point"))
        columns.append(TextColumn("", marks, "left"))
        head = f"{WORDS[self.loss]} of {self.estimator}, {self.n_folds} folds of {self.n_rows} rows"
        return "\n".join([head, *side_by_side(columns)])

    def plot(self, **options: Any) -> Figure:
        """Draw both errors with bands of one standard error; needs the extra ``plot``.

        Parameters
        ----------
        **options
            As ``treewright.plot.figures.curves.error_curve``.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        ParameterError
            A value of ``x`` is no number.
        """
        odd = [value for value in self.x if isinstance(value, bool) or not isinstance(value, Real)]
        if odd:
            raise ParameterError(f"{self.over} has the value {odd[0]!r}: a curve needs numbers; print shows the table")
        from treewright.plot.figures.curves import error_curve

        marks = {"best": self.best}
        if self.n_folds > 1 and self.over != "rows":
            marks["1 s.e."] = self.one_se
        given: dict[str, Any] = {
            "x": np.array(self.x, np.float64),
            "train": self.train_error,
            "test": self.test_error,
            "train_se": self.train_standard_error,
            "test_se": self.test_standard_error,
            "xlabel": self.over,
            "ylabel": WORDS[self.loss],
            "log_x": self.over == "alpha" and min(self.x) > 0,
            "marks": {} if self.over == "rows" else marks,
        }
        return error_curve(**(given | options))


def _short(number: float) -> str:
    """Two digits; - where there is none."""
    return "-" if math.isnan(number) else f"{number:.2g}"
