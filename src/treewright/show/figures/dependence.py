"""Partial dependence along a column, or a pair. In: arrays. Out: a matplotlib figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treewright.data.dates import written_days
from treewright.exceptions import DataError
from treewright.show.figures.look import (
    DASH_DOT,
    DASHED,
    DOT,
    DOTTED,
    LABEL,
    LINE,
    MOST_DOTS,
    MOST_LABEL,
    TEST,
    TICK,
    WIDE,
    drawable,
    dress,
    families,
    legend_beside,
    level_ticks,
    named,
    new_axes,
    numbers,
    set_x,
    text_style,
    tint,
)
from treewright.show.style import LIGHT, class_color, mixed
from treewright.trees.summary import counted
from treewright.trees.writing import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Numbers = npt.NDArray[np.float64]
Places = Sequence[str] | npt.ArrayLike
Dates = tuple[str, str]  # the family of a column of dates, and the zone of its instants

DASHES: tuple[Any, ...] = ("-", DASHED, DASH_DOT, DOTTED)
MARKS = "osD^vPX*"
NAME = 30  # terminal cells
# Terminal cells of a level, how many are named, and from how many characters together they are rotated.
LEVELS = {"cells": 18, "most": 30, "turned_from": 60}
FAINT = 0.3  # of a single row's colour
GOLDEN = 0.6180339887498949  # steps of this part spread rows without randomness


def dependence_lines(
    *,
    x: Places,
    means: npt.ArrayLike,
    names: Sequence[str] = ("mean",),
    individual: npt.ArrayLike | None = None,
    deciles: npt.ArrayLike | None = None,
    colors: Sequence[str] | None = None,
    xlabel: str = "",
    ylabel: str = "",
    dates: Dates = ("", ""),
    ax: Axes | None = None,
) -> Figure:
    """Draw means over the values of a column: lines over numbers, points at levels; single rows thin behind them.

    Parameters
    ----------
    x : array-like of k numbers, or sequence of k str
        The values that the column is set to; texts are levels.
    means : array-like of shape (n_lines, k)
    names : sequence of n_lines str
        In the legend.
    individual : array-like of shape (m, k), optional
        Predictions for single rows; only with one line of means.
    deciles : array-like of numbers, optional
        Marks at the bottom for a column of numbers: where its rows lie.
    colors : sequence of n_lines str, optional
        As matplotlib names them; by default those of the classes.
    xlabel, ylabel : str
    dates : (str, str), optional
        If the numbers of ``x`` are days: "date", "datetime", "duration" or "time", and the zone of instants; the axis
        shows them so.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError
        Shapes differ, or a number is not finite.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = dependence_lines(x=[0, 5, 9], means=[[4, 2, 1]], individual=[[5, 3, 1], [3, 1, 1]], xlabel="rain")
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['mean', '2 single rows']
    """
    levels = _levels(x)
    places = np.arange(len(levels), dtype=np.float64) if levels else numbers("x", x)
    drawn = _table("means", means, len(names), len(places))
    own = None if individual is None else _table("individual", individual, None, len(places))
    if own is not None and len(drawn) > 1:
        raise DataError(f"individual needs one line of means, but there are {len(drawn)}: draw one of them")
    shades = (
        list(colors) if colors is not None else [TEST] if len(drawn) == 1 else [*map(class_color, range(len(drawn)))]
    )
    figure, ax = new_axes(ax, WIDE)
    dress(ax, xlabel=shorten(xlabel, MOST_LABEL), ylabel=shorten(ylabel, MOST_LABEL))
    if levels:
        handles = _points(ax, places, drawn, names, shades, own)
        level_ticks(ax, levels, "x", **LEVELS)
    else:
        set_x(ax, places, log=False)
        dated(ax.xaxis, dates)
        handles = _curves(ax, places, drawn, names, shades, own)
        if deciles is not None and len(np.atleast_1d(np.asarray(deciles))):
            ax.plot(
                numbers("deciles", deciles), np.zeros(len(np.asarray(deciles))), linestyle="none", marker="|",
                markersize=9, markeredgewidth=1.4, color=LIGHT.ink, transform=ax.get_xaxis_transform(), clip_on=False,
                zorder=3,
            )  # fmt: skip
    if len(handles) > 1:
        legend_beside(ax, handles, "class" if len(drawn) > 1 else "")
    return figure


def dependence_map(
    *,
    x: Places,
    y: Places,
    means: npt.ArrayLike,
    color: str | None = None,
    xlabel: str = "",
    ylabel: str = "",
    zlabel: str = "",
    dates: tuple[Dates, Dates] = (("", ""), ("", "")),
    ax: Axes | None = None,
) -> Figure:
    """Draw means over the values of two columns as colours.

    Parameters
    ----------
    x, y : array-like of numbers, ascending, or sequence of str
        The values that the columns are set to.
    means : array-like of shape (len(x), len(y))
    color : str, optional
        ``#rrggbb``: the colour in the middle of the scale.
    xlabel, ylabel, zlabel : str
    dates : pair of (str, str), optional
        Of ``x`` and of ``y``, as in ``dependence_lines``.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError
        Shapes differ, or a number is not finite.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = dependence_map(x=[0, 5], y=["no", "yes"], means=[[0.1, 0.3], [0.2, 0.8]], zlabel="mean share")
    >>> figure.axes[1].get_ylabel()
    'mean share'
    """
    from matplotlib.colors import LinearSegmentedColormap

    across, up = _levels(x), _levels(y)
    places = [
        np.arange(len(levels), dtype=np.float64) if levels else numbers(name, given)
        for name, levels, given in (("x", across, x), ("y", up, y))
    ]
    drawn = _table("means", means, len(places[0]), len(places[1]))
    figure, ax = new_axes(ax, WIDE)
    dress(ax, xlabel=shorten(xlabel, MOST_LABEL), ylabel=shorten(ylabel, MOST_LABEL), grid="")
    shade = TEST if color is None else color
    steps = [mixed(LIGHT.page, shade, 0.08), shade, mixed(shade, LIGHT.ink, 0.8)]
    shades = LinearSegmentedColormap.from_list("treewright", steps)
    image = ax.pcolormesh(*map(_edges, places), drawn.T, cmap=shades, zorder=0)
    for levels, which in ((across, "x"), (up, "y")):
        if levels:
            level_ticks(ax, levels, which, **LEVELS)
    for axis, own in zip((ax.xaxis, ax.yaxis), dates, strict=True):
        dated(axis, own)
    bar = figure.colorbar(image, ax=ax, pad=0.02, aspect=30)
    bar.outline.set_visible(False)
    bar.ax.tick_params(color=LIGHT.line, labelcolor=LIGHT.ink, labelsize=TICK, labelfontfamily=families())
    bar.set_label(drawable(shorten(zlabel, MOST_LABEL)), **text_style(LABEL))
    return figure


def dated(axis: Any, dates: Dates) -> None:
    """Let an axis of days show dates, with few ticks, as dates are long."""
    if not dates[0]:
        return
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(5))
    axis.set_major_formatter(FuncFormatter(lambda days, _: written_days(days, *dates)))


def _levels(given: Any) -> list[str]:
    """The levels, if texts are given; empty for numbers."""
    held = list(given)
    return held if held and all(isinstance(each, str) for each in held) else []


def _table(name: str, given: npt.ArrayLike, n: int | None, k: int) -> Numbers:
    """A table of finite numbers of k columns."""
    try:
        values = np.asarray(given, np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be numbers: {error}") from error
    rows = "any number of" if n is None else n
    if values.ndim != 2 or values.shape[1] != k or (n is not None and len(values) != n):
        raise DataError(f"{name} has shape {values.shape}: give {rows} rows of {k} numbers")
    if not np.isfinite(values).all():
        raise DataError(f"{name} has {int((~np.isfinite(values)).sum())} values that are not finite")
    return values


def _curves(
    ax: Axes, x: Numbers, means: Numbers, names: Sequence[str], colors: Sequence[str], own: Numbers | None
) -> list[Any]:
    """Draw lines over numbers. Returns the legend's handles."""
    handles = []
    for number, (line, name, color) in enumerate(zip(means, names, colors, strict=True)):
        handles += ax.plot(
            x, line, color=color, linewidth=LINE + 0.5, linestyle=DASHES[number // 8 % len(DASHES)],
            marker="o" if len(x) <= MOST_DOTS // 2 else "", markersize=DOT, label=named(name, NAME), zorder=2.5,
        )  # fmt: skip
    if own is not None and len(own):
        drawn = ax.plot(x, own.T, color=tint(colors[0], FAINT), linewidth=0.9, zorder=1.8)
        drawn[0].set_label(counted(len(own), "single row"))
        handles.append(drawn[0])
    return handles


def _points(
    ax: Axes, x: Numbers, means: Numbers, names: Sequence[str], colors: Sequence[str], own: Numbers | None
) -> list[Any]:
    """Draw points at levels. Returns the legend's handles."""
    handles = []
    for number, (line, name, color) in enumerate(zip(means, names, colors, strict=True)):
        beside = (number - (len(means) - 1) / 2) * 0.5 / len(means)
        handles += ax.plot(
            x + beside, line, linestyle="none", marker=MARKS[number % len(MARKS)], markersize=DOT + 3, color=color,
            markeredgecolor=LIGHT.page, label=named(name, NAME), zorder=2.5,
        )  # fmt: skip
    if own is not None and len(own):
        beside_rows = (np.arange(len(own)) * GOLDEN % 1.0 - 0.5) * 0.6
        handles += ax.plot(
            (x + beside_rows[:, None]).ravel(), own.ravel(), linestyle="none", marker="o", markersize=3.2,
            color=tint(colors[0], FAINT + 0.1), label=counted(len(own), "single row"), zorder=1.8,
        )  # fmt: skip
    return handles


def _edges(x: Numbers) -> Numbers:
    """The edges of the fields of a map: half-way between values, whose difference may be beyond float64."""
    if len(x) == 1:
        return np.array([x[0] - 0.5, x[0] + 0.5])
    middle = x[:-1] / 2 + x[1:] / 2
    return np.concatenate([[x[0] - (middle[0] - x[0])], middle, [x[-1] + (x[-1] - middle[-1])]])
