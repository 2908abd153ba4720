"""Pruners side by side. In: arrays. Out: a figure. Callers: model_selection, users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treewright.exceptions import DataError
from treewright.plot.figures.checks import numbers, spread
from treewright.plot.figures.look import (
    DOT,
    DOTTED,
    SMALL,
    TEST,
    TRAIN,
    dress,
    error_limits,
    legend_beside,
    named,
    new_axes,
    plain_ticks,
    points,
    text_style,
    tick_text,
)
from treewright.plot.style import LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW, AROUND = 0.34, 1.5  # inches: of one method, and of what stands above and below
LEFT, RIGHT = (0.0, 0.0, 0.41, 1.0), (0.5, 0.0, 0.5, 1.0)  # the two panels, in shares of the axes
METHOD_NAME = 30  # terminal cells
LOG_ABOVE = 10  # sizes that span more than this factor stand on a logarithmic axis
# Of the axis: to the left of the smallest, where the names are, and to the right of the largest, where its number is.
BEFORE, BEYOND = 0.12, 0.22


def pruning_comparison(
    *,
    methods: Sequence[str],
    n_leaves: npt.ArrayLike,
    train_error: npt.ArrayLike,
    valid_error: npt.ArrayLike,
    valid_se: npt.ArrayLike | None = None,
    xlabel: str = "error",
    ax: Axes | None = None,
) -> Figure:
    """Draw leaves and errors of several prunings of one tree, a row for each.

    Parameters
    ----------
    methods : sequence of k str
        From the top row down.
    n_leaves : array-like of k numbers >= 1
    train_error, valid_error : array-like of k numbers
    valid_se : array-like of k numbers, optional
        Standard errors of ``valid_error``, drawn as bars.
    xlabel : str
        What the errors are.
    ax : matplotlib.axes.Axes, optional
        Draw both panels in the place of these.

    Returns
    -------
    matplotlib.figure.Figure
        The leaves are counted from 0, or stand on a logarithmic axis where they span more than a factor of 10.
        A line marks the least ``valid_error`` plus its standard error; the smallest tree left of it is the one that
        the one-standard-error rule takes.

    Raises
    ------
    DataError
        Lengths differ, there is no method, or numbers are missing.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = pruning_comparison(methods=["unpruned", "ccp_1se"], n_leaves=[40, 6], train_error=[0, 0.05],
    ...                             valid_error=[0.12, 0.09], valid_se=[0.01, 0.01])
    >>> [text.get_text() for text in figure.axes[0].child_axes[0].get_yticklabels()]
    ['unpruned', 'ccp_1se']
    """
    names = [named(str(method), METHOD_NAME) for method in methods]
    n = len(names)
    if not n:
        raise DataError("methods is empty: there is nothing to draw")
    size = numbers("n_leaves", n_leaves, n, like="methods")
    if (size < 1).any():
        raise DataError(f"n_leaves has {size.min():g}: a tree has at least one leaf")
    train = numbers("train_error", train_error, n, like="methods")
    valid = numbers("valid_error", valid_error, n, like="methods")
    valid_errors = spread("valid_se", valid_se, n, "methods")
    figure, ax = new_axes(ax, (9.6, AROUND + ROW * max(n, 3)))
    ax.set_axis_off()
    left, right = ax.inset_axes(LEFT), ax.inset_axes(RIGHT)
    _leaves_panel(left, names, size)
    legend_beside(right, _errors_panel(right, n, size, train, valid, valid_errors, xlabel))
    return figure


def _rows(panel: Axes, labels: Sequence[str]) -> None:
    """Give a panel one row for each method, the first at the top."""
    panel.set_yticks(range(len(labels)), labels)
    panel.set_ylim(len(labels) - 0.5, -0.5)
    panel.tick_params(axis="y", length=0)
    panel.spines["left"].set_visible(False)


def _leaves_panel(panel: Axes, names: Sequence[str], size: npt.NDArray[np.float64]) -> None:
    """Draw the sizes, each with its number."""
    log = bool(size.max() > LOG_ABOVE * size.min())
    dress(panel, xlabel="leaves (log scale)" if log else "leaves", grid="y")
    panel.set_xscale("log" if log else "linear")
    low, high = float(size.min()), float(size.max())
    # From 0 the smallest lies a tenth of the axis from the names at least.
    panel.set_xlim(
        *(low / (high / low) ** BEFORE, high * (high / low) ** BEYOND) if log else (0.0, high * (1 + BEYOND))
    )
    plain_ticks(panel, log=log, whole=True, most=5)
    _rows(panel, names)
    panel.plot(size, range(len(size)), linestyle="none", marker="o", markersize=points(DOT + 3), color=TEST, zorder=3)
    for row, leaves in enumerate(size):
        panel.annotate(
            tick_text(leaves), (leaves, row), xytext=(points(8), 0), textcoords="offset points", va="center", ha="left",
            **text_style(SMALL, LIGHT.muted),
        )  # fmt: skip


def _errors_panel(
    panel: Axes, n: int, size: npt.NDArray[np.float64], train: npt.NDArray[np.float64],
    valid: npt.NDArray[np.float64], se: npt.NDArray[np.float64] | None, xlabel: str,
) -> list[Any]:  # fmt: skip
    """Draw the errors; a wide ring and a small dot stay both visible where they coincide. Returns what to name."""
    dress(panel, xlabel=xlabel, grid="y")
    _rows(panel, [""] * n)
    rows = np.arange(n)
    handles: list[Any] = panel.plot(
        train, rows, linestyle="none", marker="o", markersize=points(DOT + 6), markerfacecolor="none",
        markeredgecolor=TRAIN, markeredgewidth=points(1.8), label="training rows", zorder=3,
    )  # fmt: skip
    dots = panel.plot(
        valid, rows, linestyle="none", marker="o", markersize=points(DOT + 1), color=TEST, label="other rows", zorder=4
    )
    handles += dots
    edges = [train, valid]
    if se is not None:
        spans = np.nan_to_num(se)
        panel.errorbar(
            valid, rows, xerr=spans, fmt="none", ecolor=TEST, elinewidth=points(1.6), capsize=points(3), zorder=3.5
        )
        dots[0].set_label("other rows,\n± one standard error")
        edges += [valid - spans, valid + spans]
        least = int(np.lexsort((size, valid))[0])
        limit = panel.axvline(
            valid[least] + spans[least], color=TEST, linewidth=points(1.2), linestyle=DOTTED, zorder=1.5
        )
        limit.set_label("least error\n+ one standard error")
        handles.append(limit)
    error_limits(panel, *edges, axis="x")
    return handles
