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
from treewright.model_selection.table_text import beside, left_out, lines_shown
from treewright.tree.words import shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LONGEST_VALUE = 24
LOG_FROM = 30  # leaves and rows that span this factor stand on a logarithmic axis


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
    loss : {"misclassification", "log_loss", "squared_error", "absolute_error"}
    n_rows, n_folds : int
    overlap : float
        0.0 where no row is tested twice, else test rows over training rows: the standard errors then hold what repeats
        cannot lower (``scores.standard_error``).
    """

    estimator: str
    over: str
    x: tuple[Any, ...]
    train_by_fold: np.ndarray
    test_by_fold: np.ndarray
    n_leaves: np.ndarray
    loss: Loss
    n_rows: int
    overlap: float = 0.0

    @property
    def n_folds(self) -> int:
        """How many folds there are."""
        return len(self.test_by_fold)

    @property
    def train_error(self) -> np.ndarray:
        """float64[k]: mean over the folds."""
        return _mean(self.train_by_fold)

    @property
    def test_error(self) -> np.ndarray:
        """float64[k]: mean over the folds."""
        return _mean(self.test_by_fold)

    @property
    def train_standard_error(self) -> np.ndarray:
        """float64[k]: of ``train_error``, over the folds."""
        return _between(self.train_by_fold, self.overlap)

    @property
    def test_standard_error(self) -> np.ndarray:
        """float64[k]: of ``test_error``, over the folds."""
        return _between(self.test_by_fold, self.overlap)

    @property
    def best_position(self) -> int:
        """Position of the least validation error; of equals the simplest."""
        error, size = np.nan_to_num(self.test_error, nan=np.inf, posinf=np.inf), self._complexity()
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
        if self.n_folds < 2:
            raise ParameterError("one fold has no standard error: give a larger cv, or take best")
        if not math.isfinite(margin):
            raise ParameterError(
                "the errors of the folds are beyond float64, so they have no standard error: take best"
            )
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

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        marks = self._marks()
        shown = lines_shown(len(self.x), marks)
        texts = [f"{v:.4g}" if isinstance(v, float) else str(v) for v in (self.x[at] for at in shown)]
        are_numbers = all(isinstance(value, Real) for value in self.x)
        test = [f"{error:.4g}" for error in self.test_error[shown].tolist()]
        spread = self.test_standard_error[shown].tolist()
        columns = [
            TextColumn(self.over, [shorten(text, LONGEST_VALUE) for text in texts], "right" if are_numbers else "left"),
            TextColumn("training", [f"{error:.4g}" for error in self.train_error[shown].tolist()], "point"),
            TextColumn("test", test, "point"),
            TextColumn("s.e.", [beside(error, text) for error, text in zip(spread, test, strict=True)], "point"),
        ]
        if not np.isnan(self.n_leaves).any() and self.over != "leaves":
            columns.append(TextColumn("leaves", [f"{n:.1f}" for n in self.n_leaves[shown].tolist()], "point"))
        columns.append(TextColumn("", [marks.get(at, "") for at in shown], "left"))
        lines = [f"{WORDS[self.loss]} of {self.estimator}, {self.n_folds} folds of {self.n_rows} rows"]
        titles, *written = side_by_side(columns)
        lines.append(titles)
        before = -1
        for at, line in zip(shown, written, strict=True):
            lines += [*left_out(before, at, "point"), line]
            before = at
        return "\n".join(lines)

    def _marks(self) -> dict[int, str]:
        """Words for the points that the rules name."""
        if self.over == "rows":
            return {}
        best = self.best_position
        if not math.isfinite(self.test_standard_error[best]):
            return {best: "best"}
        simplest = self.one_se_position
        return {best: "best, 1 s.e."} if simplest == best else {best: "best", simplest: "1 s.e."}

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
        if math.isfinite(self.test_standard_error[self.best_position]):
            marks["1 s.e."] = self.one_se
        given: dict[str, Any] = {
            "x": np.array(self.x, np.float64),
            "train": self.train_error,
            "test": self.test_error,
            "train_se": self.train_standard_error,
            "test_se": self.test_standard_error,
            "xlabel": self.over,
            "ylabel": WORDS[self.loss],
            "log_x": min(self.x) > 0
            and (self.over == "alpha" or (self.over in ("leaves", "rows") and max(self.x) >= LOG_FROM * min(self.x))),
            "marks": {} if self.over == "rows" else marks,
        }
        return error_curve(**(given | options))


def _mean(by_fold: np.ndarray) -> np.ndarray:
    """Mean of each column; infinite where the sum is beyond float64."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(by_fold.mean(axis=0))


def _between(by_fold: np.ndarray, overlap: float) -> np.ndarray:
    """Standard error of each column's mean; nan where its numbers are beyond float64."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.array([standard_error(column, overlap) for column in by_fold.T])
