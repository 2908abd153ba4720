"""The pictures of a report as matplotlib figures.

The numbers are those of the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from treewright.data.cells import shown
from treewright.exceptions import ParameterError
from treewright.show.figures.curves import error_curve
from treewright.show.figures.quality import calibration, confusion, gains, lift, precision_recall, residuals, roc
from treewright.show.page.parts import CalibrationPart, QualityPart, RankPart
from treewright.trees.writing import written_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FigureName = Literal[
    "confusion", "roc", "precision_recall", "gains", "lift", "calibration", "residuals", "learning", "depth"
]


def quality_figure(part: QualityPart, name: FigureName, *, label: str | None = None, ax: Axes | None = None) -> Figure:
    """Draw one picture of a report's section Quality.

    Parameters
    ----------
    part : QualityPart
        ``report.summary.quality[0]``, or another output.
    name : {"confusion", "roc", "precision_recall", "gains", "lift", "calibration", "residuals", "learning", "depth"}
    label : str, optional
        The class to draw, in curves of classes, as the report writes it; by default all, for calibration the first.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ParameterError
        There is no such picture, or this report does not have it.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> import treewright as tw
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> report = tw.report(tw.DecisionTreeClassifier().fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> quality_figure(report.summary.quality[0], "confusion").axes[0].get_xlabel()
    'predicted class'
    """
    if name not in get_args(FigureName):
        raise ParameterError(f"name={shown(name)}: choose one of {', '.join(map(repr, get_args(FigureName)))}")
    if name == "confusion" and part.confusion is not None:
        return confusion(labels=part.confusion.labels, counts=part.confusion.counts, weighted=part.weighted, ax=ax)
    if name == "residuals" and part.residuals is not None:
        held = part.residuals
        return residuals(
            truth=held.truth, predicted=held.predicted, edges=held.edges, weight=held.weight, weighted=part.weighted,
            ax=ax,
        )  # fmt: skip
    if name in ("roc", "precision_recall", "gains", "lift") and part.ranks:
        ranks = _chosen(part.ranks, label)
        return _with_threshold(name, ranks, _ranks(name, ranks, ax), ax)
    if name == "calibration" and part.calibration:
        held = _chosen(part.calibration, label)[0]
        ranks = tuple(rank for rank in part.ranks if rank.position == held.position)
        return _with_threshold(name, ranks, _calibration(held, part, ax), ax)
    for curve in part.curves:
        if curve.name == name:
            return error_curve(
                x=curve.x, train=curve.train, train_se=curve.train_se, test=curve.test, test_se=curve.test_se,
                xlabel=curve.over, ylabel=curve.loss, train_label="training rows", test_label="test rows", ax=ax,
            )  # fmt: skip
    why = f": {' '.join(part.left_out)}" if part.left_out else ""
    raise ParameterError(f"this report has no {name!r}{why}")


def _chosen(parts: Any, label: str | None) -> Any:
    """The parts of one class, or of all."""
    if label is None:
        return parts
    found = tuple(part for part in parts if part.name == label)
    if not found:
        raise ParameterError(f"label={shown(label)}: there are curves of {', '.join(part.name for part in parts)}")
    return found


def _ranks(name: str, ranks: tuple[RankPart, ...], ax: Axes | None) -> Figure:
    """Curves of some classes."""
    positions = {rank.name: rank.position for rank in ranks}
    if name == "roc":
        return roc(
            curves={rank.name: (rank.false_rate, rank.true_rate) for rank in ranks},
            areas={rank.name: rank.area for rank in ranks}, positions=positions, ax=ax,
        )  # fmt: skip
    shares = {rank.name: rank.share for rank in ranks}
    if name in ("gains", "lift"):
        curves = {rank.name: (_taken(rank), rank.true_rate) for rank in ranks}
        if name == "lift":
            return lift(curves=curves, positions=positions, ax=ax)
        return gains(curves=curves, shares=shares, positions=positions, ax=ax)
    return precision_recall(
        curves={rank.name: (rank.recall, rank.precision) for rank in ranks},
        averages={rank.name: rank.average_precision for rank in ranks},
        shares=shares, positions=positions, ax=ax,
    )  # fmt: skip


def _with_threshold(name: str, ranks: tuple[RankPart, ...], figure: Figure, ax: Axes | None) -> Figure:
    """The same figure with a line where the decision threshold of a class lies."""
    for rank in ranks:
        if rank.decides is None:
            continue
        at, wrongly, found = rank.decides
        taken = rank.share * found + (1 - rank.share) * wrongly
        place = {"roc": wrongly, "precision_recall": found, "calibration": at}.get(name, taken)
        axes = figure.axes[0] if ax is None else ax
        axes.axvline(place, color="0.4", linestyle=":", linewidth=1.2)
        axes.annotate(
            f"threshold {written_number(at)}", (place, 0.02), xycoords=("data", "axes fraction"), rotation=90,
            fontsize="small", ha="right", va="bottom",
        )  # fmt: skip
    return figure


def _taken(rank: RankPart) -> np.ndarray:
    """The share of all rows at each point of a ROC curve."""
    taken = rank.share * np.array(rank.true_rate) + (1 - rank.share) * np.array(rank.false_rate)
    return np.minimum(taken, 1.0)  # rounding


def _calibration(held: CalibrationPart, part: QualityPart, ax: Axes | None) -> Figure:
    """The calibration of a class."""
    # Arrays of numbers hold None as nan.
    predicted, happened, low, high = np.array([held.predicted, held.happened, held.low, held.high], np.float64)
    return calibration(
        predicted=predicted, happened=happened, low=low, high=high, weight=held.weight, edges=held.edges,
        error=held.error, label=held.name, weighted=part.weighted, ax=ax,
    )  # fmt: skip
