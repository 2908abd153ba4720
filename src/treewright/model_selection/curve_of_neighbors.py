"""The error of each row's neighbours over their number. In: neighbours for every k. Out: ``NeighborCurve``.

Callers: model_selection.neighbors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.core.whole import is_whole
from treewright.exceptions import ParameterError
from treewright.explain.table import TextColumn
from treewright.model.answers import labels_of
from treewright.model_selection.losses import WORDS, Loss
from treewright.model_selection.scores import mean_of, side_by_side, standard_error, written
from treewright.model_selection.table_text import left_out, lines_shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOG_FROM = 30  # numbers of neighbours that span this factor stand on a logarithmic axis


@dataclass(frozen=True, eq=False, repr=False)
class NeighborCurve:
    """Leave-one-out error of nearest neighbours for every number of them.

    Attributes
    ----------
    estimator : str
        The name of its class.
    k : int64[K], ascending
        Numbers of neighbours.
    error : float64[K]
        Mean loss of the n rows, each predicted from all the others.
    standard_error : float64[K]
        Of ``error``, over the rows: their standard deviation over the square root of n.
    loss : {"misclassification", "squared_error", "absolute_error"}
    n_rows : int
    answers : unsigned int[K, n, n_outputs] or float64[K, n, n_outputs]
        Codes of the predicted classes, or the predicted numbers.
    classes : tuple of ndarray
        Per output the sorted labels; empty for numbers.
    """

    estimator: str
    k: np.ndarray
    error: np.ndarray
    standard_error: np.ndarray
    loss: Loss
    n_rows: int
    answers: np.ndarray
    classes: tuple[np.ndarray, ...] = ()

    @classmethod
    def of(
        cls, estimator: str, k: np.ndarray, loss: Loss, answers: np.ndarray, truth: np.ndarray, classes: Any
    ) -> NeighborCurve:
        """Judge answers.

        Parameters
        ----------
        estimator, k, loss, answers, classes
            As the attributes.
        truth : int or float64[n, n_outputs]
            The rows' own codes or numbers.
        """
        errors, spreads = np.empty(len(k)), np.empty(len(k))
        for at, said in enumerate(answers):
            losses = _losses(loss, said, truth)
            errors[at], spreads[at] = mean_of(losses), standard_error(losses)
        return cls(estimator, k, errors, spreads, loss, len(truth), answers, tuple(classes))

    @property
    def best(self) -> int:
        """The number of neighbours with the least error; of equals the largest, which is the simplest."""
        return int(self.k[self._best_position])

    @property
    def one_se(self) -> int:
        """The largest number of neighbours whose error is within one standard error of the least.

        The more neighbours, the smoother the borders: the largest number is the simplest model (Breiman et al. 1984,
        section 3.4.3, has the rule for trees).

        Raises
        ------
        ParameterError
            The errors are beyond float64.
        """
        at = self._best_position
        margin = float(self.standard_error[at])
        if not math.isfinite(margin):
            raise ParameterError("the errors of the rows are beyond float64, so they have no standard error: take best")
        return int(self.k[np.flatnonzero(self.error <= self.error[at] + margin)[-1]])

    @property
    def _best_position(self) -> int:
        error = np.nan_to_num(self.error, nan=np.inf, posinf=np.inf)
        return len(error) - 1 - int(error[::-1].argmin())

    def predictions(self, k: int | None = None) -> np.ndarray:
        """What each row was predicted to be by its neighbours among the other rows.

        Parameters
        ----------
        k : int, one of those tried, optional
            By default ``best``.

        Returns
        -------
        ndarray[n] or ndarray[n, n_outputs]
            Labels in the dtype of the target; float64 for numbers.

        Raises
        ------
        ParameterError
            ``k`` was not tried.
        """
        k = self.best if k is None else k
        if not is_whole(k) or k not in self.k:
            raise ParameterError(f"k={k!r}: 1 to {int(self.k[-1])} neighbours were tried")
        said = self.answers[int(np.searchsorted(self.k, k))]
        if self.classes:
            return labels_of(self.classes, said)
        return said[:, 0].copy() if said.shape[1] == 1 else said.copy()

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns for a data frame, a row per number of neighbours."""
        return {
            "n_neighbors": self.k.tolist(),
            "error": self.error.tolist(),
            "standard_error": self.standard_error.tolist(),
        }

    def show(self) -> str:
        """The curve as text."""
        return str(self)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        marks = self._marks()
        shown = lines_shown(len(self.k), marks)
        # One precision for all: errors and standard errors are compared.
        texts = written([*self.error[shown].tolist(), *self.standard_error[shown].tolist()])
        columns = [
            TextColumn("n_neighbors", [str(k) for k in self.k[shown].tolist()], "right"),
            TextColumn("left out", texts[: len(shown)], "point"),
            TextColumn("s.e.", texts[len(shown) :], "point"),
            TextColumn("", [marks.get(at, "") for at in shown], "left"),
        ]
        titles, *body = side_by_side(columns)
        lines = [f"{WORDS[self.loss]} of {self.estimator}, each of {self.n_rows} rows left out once", titles]
        before = -1
        for at, line in zip(shown, body, strict=True):
            lines += [*left_out(before, at, "number"), line]
            before = at
        return "\n".join(lines)

    def _marks(self) -> dict[int, str]:
        """Words for the positions that the rules name."""
        best = self._best_position
        if not math.isfinite(self.standard_error[best]):
            return {best: "best"}
        simplest = int(np.searchsorted(self.k, self.one_se))
        return {best: "best, 1 s.e."} if simplest == best else {best: "best", simplest: "1 s.e."}

    def plot(self, **options: Any) -> Figure:
        """Draw the error with a band of one standard error; needs the extra ``plot``.

        Parameters
        ----------
        **options
            As ``treewright.plot.figures.curves.error_curve``.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from treewright.plot.figures.curves import error_curve

        marks = {"best": self.best}
        if math.isfinite(self.standard_error[self._best_position]):
            marks["1 s.e."] = self.one_se
        given: dict[str, Any] = {
            "x": self.k.astype(np.float64),
            "test": self.error,
            "test_se": self.standard_error,
            "xlabel": "n_neighbors",
            "ylabel": WORDS[self.loss],
            "log_x": bool(self.k[-1] >= LOG_FROM),
            "marks": marks,
            "test_label": "rows left out",
        }
        return error_curve(**(given | options))


def _losses(loss: Loss, said: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """float64[n]: what each row's prediction costs; of several outputs their mean (``losses.row_losses``)."""
    if loss == "misclassification":
        costs = (said != truth).astype(np.float64)
    else:
        with np.errstate(over="ignore"):
            gap = said - truth
            costs = gap * gap if loss == "squared_error" else np.abs(gap)
    return costs[:, 0] if costs.shape[1] == 1 else np.asarray(costs.mean(axis=1))
