"""Rounds of boosting as curves. In: arrays. Out: a figure. Callers: estimators, users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from treewright.exceptions import ParameterError
from treewright.plot.figures.checks import whole
from treewright.plot.figures.curves import error_curve
from treewright.plot.figures.look import error_limits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_FIRST_PART = 10  # of the rounds that may be left out: one of so many
_FLAT = 0.25  # of the height of the frame, where all rounds are in it


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
        Where the first rounds lie so far from the others that these would be a flat line, the frame leaves them out,
        and the axis says so.

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
    curves = [values for values in (_numbers(train), _numbers(validation)) if values is not None]
    first = first_in_frame(curves)
    figure = error_curve(
        x=np.arange(len(known)),
        train=_numbers(train),
        test=_numbers(validation),
        xlabel="rounds" if first == 0 else f"rounds (the frame fits rounds {first} to {len(known) - 1})",
        ylabel=ylabel,
        marks=None if best is None else {"best round": best},
        train_label=train_label,
        test_label=validation_label,
        ax=ax,
    )
    if first > 0:
        error_limits(figure.axes[0] if ax is None else ax, *(np.array(values[first:]) for values in curves))
    return figure


def first_in_frame(curves: Sequence[Sequence[float]]) -> int:
    """The round from which on all is drawn: 0, but where the first tenth of the rounds would press the others flat.

    Examples
    --------
    >>> first_in_frame([[16.0, 15.0, *(1.0 + at / 100 for at in range(18))]])
    2
    >>> first_in_frame([[16.0, 12.0, 8.0, 4.0, 0.0, 1.0]])
    0
    """
    if len({len(values) for values in curves}) != 1:
        return 0  # refused where it is drawn
    values = np.array(curves, np.float64)
    values[~np.isfinite(values)] = np.nan
    first = max(values.shape[1] // _FIRST_PART, 1)
    rest = values[:, first:]
    if rest.shape[1] < 2 or np.isnan(rest).all():
        return 0
    whole_range, range_of_rest = (float(np.nanmax(part) - np.nanmin(part)) for part in (values, rest))
    return first if range_of_rest < _FLAT * whole_range else 0


def _numbers(values: Sequence[float | None] | None) -> list[float] | None:
    """The values with nan for None."""
    return None if values is None else [np.nan if value is None else value for value in values]
