"""Whether predicted shares come true. In: bins. Out: a figure. Callers: reporting, users."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treewright.exceptions import DataError, ParameterError
from treewright.plot.figures.checks import numbers
from treewright.plot.figures.look import (
    DOT,
    LINE,
    TEST,
    as_wanted,
    dress,
    legend_beside,
    named,
    new_axes,
    points,
    tint,
)
from treewright.plot.style import LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (7.4, 6.0)  # inches
ABOVE, BELOW = (0.0, 0.3, 1.0, 0.7), (0.0, 0.0, 1.0, 0.2)  # the two panels, in shares of the axes
ROOM = 0.015  # beyond 0 and 1
CLASS_NAME = 26  # terminal cells


def calibration(
    *,
    predicted: npt.ArrayLike,
    happened: npt.ArrayLike,
    low: npt.ArrayLike | None = None,
    high: npt.ArrayLike | None = None,
    weight: npt.ArrayLike | None = None,
    edges: npt.ArrayLike | None = None,
    error: float | None = None,
    label: str = "the class",
    weighted: bool = False,
    ax: Axes | None = None,
) -> Figure:
    r"""Draw the share of the rows that are of a class over the share that was predicted.

    Parameters
    ----------
    predicted, happened : array-like of k numbers from 0 to 1
        Of each bin of rows the mean of the predicted shares, and the share that is so; nan (or None) for an empty bin.
    low, high : array-like of k numbers, optional
        Ends of an interval of ``happened``, drawn as upright lines.
    weight, edges : array-like of k and of k + 1 numbers, optional
        How many rows each bin holds, and its ends: drawn below.
    error : float, optional
        Expected calibration error, written in the legend.
    label : str
        Which class.
    weighted : bool
        ``weight`` holds weights, not rows: what the figure calls them.
    ax : matplotlib.axes.Axes, optional
        Draw in the place of these.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError
        Lengths differ, numbers are outside 0 to 1, or every bin is empty.
    ParameterError
        One of ``low`` and ``high``, or of ``weight`` and ``edges``, is given without the other.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = calibration(predicted=[0.1, 0.9], happened=[0.2, 0.8], low=[0.1, 0.6], high=[0.4, 0.9], error=0.1)
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['the class: error 0.100,\nwith 95 % intervals', 'as predicted']
    """
    x = _shares("predicted", predicted, None)
    y = _shares("happened", happened, len(x))
    held = ~np.isnan(x) & ~np.isnan(y)
    if not held.any():
        raise DataError("every bin is empty: there is nothing to draw")
    for one, other, names in ((low, high, "low and high"), (weight, edges, "weight and edges")):
        if (one is None) != (other is None):
            raise ParameterError(f"{names} belong together: give both")
    figure, ax = new_axes(ax, SIZE if weight is not None else (SIZE[0], 4.9))
    above = ax
    if weight is not None:
        ax.set_axis_off()
        above = ax.inset_axes(ABOVE)
        _bins(ax.inset_axes(BELOW), weight, edges, len(x), weighted=weighted)
    dress(above, xlabel="" if weight is not None else "predicted share", ylabel="share that is so", grid="both")
    above.set_xlim(-ROOM, 1 + ROOM)
    above.set_ylim(-ROOM, 1 + ROOM)
    name = named(label, CLASS_NAME)
    text = name if error is None else f"{name}: error {error:.3f}"
    if low is not None:
        ends = np.array([_shares("low", low, len(x)), _shares("high", high, len(x))])[:, held]
        above.vlines(x[held], *ends, color=LIGHT.ink, linewidth=points(1.4), zorder=2.2)
        text += ",\nwith 95 % intervals"
    dots: dict[str, Any] = {"marker": "o", "markersize": points(DOT + 1)}
    handles = above.plot(x[held], y[held], color=TEST, linewidth=points(LINE), label=text, zorder=2.5, **dots)
    handles += above.plot([0, 1], [0, 1], label="as predicted", **as_wanted())
    legend_beside(above, handles)
    return figure


def _shares(name: str, given: npt.ArrayLike | None, n: int | None) -> npt.NDArray[np.float64]:
    """One series of shares; nan where there is none."""
    values = numbers(name, given, n, like="predicted", missing=True)
    if (values < 0).any() or (values > 1).any():
        raise DataError(f"{name} has a number outside 0 to 1: give shares")
    return values


def _bins(panel: Axes, weight: npt.ArrayLike, edges: npt.ArrayLike | None, k: int, *, weighted: bool) -> None:
    """Draw how many rows each bin holds."""
    held, ends = (
        numbers("weight", weight, k, like="predicted"),
        numbers("edges", edges, k + 1, like="bins and one more"),
    )
    if (held < 0).any() or (np.diff(ends) <= 0).any():
        raise DataError("weight must not be below 0, and edges must be ascending")
    dress(panel, xlabel="predicted share", ylabel="weight" if weighted else "rows")
    panel.bar(
        ends[:-1], held, width=np.diff(ends), align="edge", color=tint(TEST, 0.45), edgecolor=LIGHT.page,
        linewidth=points(1.0), zorder=2,
    )  # fmt: skip
    panel.set_xlim(-ROOM, 1 + ROOM)
    panel.locator_params(axis="y", nbins=3)
