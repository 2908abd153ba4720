"""Importances of columns as bars. In: arrays. Out: a figure. Callers: forest, users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from treewright.exceptions import DataError, ParameterError
from treewright.plot.figures.checks import numbers, spread
from treewright.plot.figures.look import TEST, TRAIN, dress, named, new_axes, points, tint
from treewright.plot.style import LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW, AROUND = 0.34, 1.2  # inches: of one column, and of what stands above and below
COLUMN_NAME = 30  # terminal cells
SHARE = 0.55  # of a bar, of its row


def importance_bars(
    *,
    names: Sequence[str],
    values: npt.ArrayLike,
    standard_errors: npt.ArrayLike | None = None,
    xlabel: str = "importance",
    most: int = 20,
    ax: Axes | None = None,
) -> Figure:
    """Draw how much columns matter, the most important one at the top.

    Parameters
    ----------
    names : sequence of k str
    values : array-like of k numbers
        May be below 0.
    standard_errors : array-like of k numbers, optional
        Drawn as lines across the ends of the bars.
    xlabel : str
    most : int >= 1
        So many columns are drawn; of equal ones the first.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError
        Lengths differ, there is no column, or a value is not finite.
    ParameterError
        ``most`` is below 1.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = importance_bars(names=["noise", "height"], values=[0.01, 0.4], standard_errors=[0.02, 0.03])
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['height', 'noise']
    """
    if not len(names):
        raise DataError("names is empty: there is nothing to draw")
    if most < 1:
        raise ParameterError(f"most={most}: give the number of columns to draw, 1 or more")
    value = numbers("values", values, len(names), like="names")
    errors = spread("standard_errors", standard_errors, len(names), "names")
    order = np.argsort(-value, kind="stable")[:most]
    figure, ax = new_axes(ax, (7.4, AROUND + ROW * max(len(order), 3)))
    dress(ax, xlabel=xlabel, grid="x")
    rows = np.arange(len(order))
    ax.barh(rows, value[order], height=SHARE, color=tint(TEST, 0.45), edgecolor=TEST, linewidth=points(1.0), zorder=2)
    if errors is not None:
        ax.errorbar(
            value[order], rows, xerr=np.nan_to_num(errors[order]), fmt="none", ecolor=TRAIN,
            elinewidth=points(1.6), capsize=points(3), zorder=3,
        )  # fmt: skip
    ax.axvline(0.0, color=LIGHT.ink, linewidth=points(1.0), zorder=2.5)
    ax.set_yticks(rows.tolist(), [named(str(names[at]), COLUMN_NAME) for at in order.tolist()])
    ax.set_ylim(len(order) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    return figure
