"""True and predicted numbers. In: arrays. Out: a figure. Callers: reporting, users."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from treewright.exceptions import DataError, ParameterError
from treewright.plot.figures.checks import numbers
from treewright.plot.figures.look import DOT, TEST, as_wanted, dress, new_axes, points, tint, x_limits
from treewright.plot.style import LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHT, PANEL = 3.9, 4.2  # inches: of the figure, and across of one panel
GAP = 0.1  # between panels, in shares of the axes
STACKED, ROOM = 0.75, 0.12  # height of a panel in a narrow figure, of its width, and the room between two of all of it
FEW = 150  # points that are drawn large


def residuals(
    *,
    truth: npt.ArrayLike,
    predicted: npt.ArrayLike,
    edges: npt.ArrayLike | None = None,
    weight: npt.ArrayLike | None = None,
    weighted: bool = False,
    ax: Axes | None = None,
) -> Figure:
    """Draw true numbers and residuals over the predicted ones; beside them how often residuals of each size occur.

    Parameters
    ----------
    truth, predicted : array-like of k numbers
        A point for each row. A residual is the true number minus the predicted one.
    edges, weight : array-like of b + 1 and of b numbers, optional
        A histogram of the residuals of all rows, where the points are some of them; by default none.
    weighted : bool
        ``weight`` holds weights, not rows: what the figure calls them.
    ax : matplotlib.axes.Axes, optional
        Draw all panels in the place of these.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError
        Lengths differ, there is no row, or a number is not finite.
    ParameterError
        One of ``edges`` and ``weight`` is given without the other.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = residuals(truth=[1, 2, 4], predicted=[1.5, 2, 3.5])
    >>> [panel.get_ylabel() for panel in figure.axes[0].child_axes]
    ['true', 'true - predicted']
    """
    true = numbers("truth", truth)
    said = numbers("predicted", predicted, len(true), like="truth")
    if (edges is None) != (weight is None):
        raise ParameterError("edges and weight belong together: give both")
    with np.errstate(over="ignore"):
        rest = true - said
    if not np.isfinite(rest).all():
        raise DataError("truth and predicted are so far apart that their difference is beyond float64: divide both")
    n_panels = 2 if edges is None else 3
    figure, ax = new_axes(ax, (n_panels * PANEL, HEIGHT))
    ax.set_axis_off()
    panels = _panels(figure, ax, n_panels)
    both = x_limits(np.concatenate([true, said]), log=False)
    _points(panels[0], said, true, "true")
    panels[0].plot(both, both, **as_wanted())
    panels[0].set_xlim(*both)
    panels[0].set_ylim(*both)
    _points(panels[1], said, rest, "true - predicted")
    panels[1].axhline(0.0, **as_wanted())
    panels[1].set_xlim(*x_limits(said, log=False))
    panels[1].set_ylim(*x_limits(np.append(rest, 0.0), log=False))
    if edges is not None:
        _histogram(panels[2], edges, weight, weighted=weighted)
    return figure


def _panels(figure: Figure, ax: Axes, n: int) -> list[Axes]:
    """Panels beside each other, in a narrow figure one below the other."""
    if not getattr(figure, "is_narrow", False):
        width = (1 - (n - 1) * GAP) / n
        return [ax.inset_axes((at * (width + GAP), 0.0, width, 1.0)) for at in range(n)]
    if not figure.is_exact:  # type: ignore[attr-defined]
        across = float(figure.get_size_inches()[0])
        figure.set_size_inches(across, n * STACKED * across)
    height = (1 - (n - 1) * ROOM) / n
    return [ax.inset_axes((0.0, 1 - height - at * (height + ROOM), 1.0, height)) for at in range(n)]


def _points(panel: Axes, x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], ylabel: str) -> None:
    """Draw one point for each row."""
    dress(panel, xlabel="predicted", ylabel=ylabel, grid="both")
    size = points(DOT + 1 if len(x) <= FEW else DOT - 1)
    panel.plot(
        x, y, linestyle="none", marker="o", markersize=size, markerfacecolor=TEST, markeredgecolor=LIGHT.page,
        markeredgewidth=points(0.5), alpha=0.7, zorder=2,
    )  # fmt: skip
    panel.locator_params(nbins=5)


def _histogram(panel: Axes, edges: npt.ArrayLike, weight: npt.ArrayLike | None, *, weighted: bool) -> None:
    """Draw how often residuals of each size occur."""
    ends = numbers("edges", edges)
    held = numbers("weight", weight, len(ends) - 1, like="cells between edges")
    if (held < 0).any() or (np.diff(ends) <= 0).any():
        raise DataError("weight must not be below 0, and edges must be ascending")
    dress(panel, xlabel="true - predicted", ylabel="weight" if weighted else "rows")
    panel.bar(
        ends[:-1], held, width=np.diff(ends), align="edge", color=tint(TEST, 0.45), edgecolor=LIGHT.page,
        linewidth=points(1.0), zorder=2,
    )  # fmt: skip
    if ends[0] < 0 < ends[-1]:
        panel.axvline(0.0, **as_wanted())
    panel.locator_params(nbins=5)
