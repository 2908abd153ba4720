"""Rounds of boosting as curves. In: arrays. Out: a figure. Callers: estimators, users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from treewright.exceptions import ParameterError
from treewright.plot.figures.checks import whole
from treewright.plot.figures.curves import error_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def boosting_history(
    *,
    train: Sequence[float | None] | None = None,
    validation: Sequence[float | None] | None = None,
    best: int | None = None,
    ylabel: str = "loss",
    train_label: str = "rows of the fit",
    validation_label: str = "other rows",
    ax: Axes | None = None,
) -> Figure:
    """Draw the loss after each round of boosting.

    Parameters
    ----------
    train, validation : sequence of k numbers, optional
        From round 0 on, before any tree: ``history_`` of an estimator. None or nan where none is known.
    best : int, 0 to k - 1, optional
        The round whose value is the best: a line.
    ylabel, train_label, validation_label : str
    ax : matplotlib.axes.Axes, optional
        Draw into these; by default into a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError
        Arrays differ in length or hold no numbers.
    ParameterError
        Neither is given, or there is no round ``best``.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = boosting_history(train=[1, 0.5, 0.3, 0.2], validation=[1, 0.6, 0.5, 0.55], best=2)
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['rows of the fit', 'other rows', 'best round: 2']
    """
    known = validation if validation is not None else train
    if known is None:
        raise ParameterError("neither train nor validation is given: there is nothing to draw")
    if best is not None:
        best = whole("best", best, 0, max(len(known) - 1, 0))
    return error_curve(
        x=np.arange(len(known)),
        train=_numbers(train),
        test=_numbers(validation),
        xlabel="rounds",
        ylabel=ylabel,
        marks=None if best is None else {"best round": best},
        train_label=train_label,
        test_label=validation_label,
        ax=ax,
    )


def _numbers(values: Sequence[float | None] | None) -> list[float] | None:
    """The values with nan for None."""
    return None if values is None else [np.nan if value is None else value for value in values]
