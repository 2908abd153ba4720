"""Contributions of columns to predictions. In: arrays. Out: a matplotlib figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from treewright.core.elementary import whole_number
from treewright.exceptions import DataError
from treewright.show.figures.bars import AROUND_COLUMNS, ROW
from treewright.show.figures.dependence import dated
from treewright.show.figures.look import (
    DOT,
    DOTTED,
    LINE,
    MOST_LABEL,
    SMALL,
    TEST,
    TRAIN,
    WIDE,
    dress,
    level_ticks,
    named,
    new_axes,
    numbers,
    points,
    text_style,
    tick_style,
    tint,
)
from treewright.show.style import LIGHT, class_color
from treewright.trees.writing import shorten, written_amount

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Numbers = npt.NDArray[np.float64]

UP, DOWN = class_color(1), class_color(0)
NAME = 40  # terminal cells
BAR = 0.62  # of its row
SWARM = 0.38  # of a row: how far dots spread to either side
GOLDEN = 0.6180339887498949  # steps of this part spread dots without chance
FAINT = 0.35


def contribution_waterfall(
    *,
    names: Sequence[str],
    values: npt.ArrayLike,
    base: float,
    xlabel: str = "prediction",
    most: int = 12,
    ax: Axes | None = None,
) -> Figure:
    """Draw how the contributions of a row lead from the base to its prediction, the largest first.

    Parameters
    ----------
    names : sequence of k str
        Of columns, with their cells if these are to be shown.
    values : array-like of k numbers
    base : float
    xlabel : str
        The name of the prediction.
    most : int >= 1
        At most so many bars are drawn; all smaller contributions are one more.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError
        Lengths differ, there is no column, or a number is not finite.
    ParameterError
        ``most`` is below 1.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = contribution_waterfall(names=["rain = 0", "wind = 4"], values=[12.0, -7.5], base=30.0)
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['rain = 0', 'wind = 4']
    """
    value = _of_columns(names, values, most)
    order = np.argsort(-np.abs(value), kind="stable")
    shown, rest = order[:most], order[most:]
    labels = [named(names[at], NAME) for at in shown.tolist()]
    rises = value[shown]
    if len(rest):
        labels.append(f"{len(rest)} more")
        rises = np.append(rises, value[rest].sum())
    ends = float(base) + np.cumsum(rises)
    starts = ends - rises
    figure, ax = new_axes(ax, (7.8, AROUND_COLUMNS + ROW * max(len(labels) + 1, 3)))
    dress(ax, xlabel=shorten(xlabel, MOST_LABEL), grid="x")
    rows = np.arange(len(labels))
    colors = [UP if rise > 0 else DOWN for rise in rises.tolist()]
    ax.barh(
        rows, rises, left=starts, height=BAR, color=[tint(color, 0.55) for color in colors], edgecolor=colors,
        linewidth=points(1.0), zorder=2,
    )  # fmt: skip
    span = max(float(np.ptp(np.concatenate([starts, ends]))), 1e-300)
    for row, rise in enumerate(rises.tolist()):
        if row + 1 < len(labels):
            ax.plot([ends[row]] * 2, [row, row + 1], color=LIGHT.muted, linewidth=points(0.9), zorder=1.5)
        right = max(starts[row], ends[row])
        ax.annotate(
            f"{'+' if rise > 0 else ''}{written_amount(rise)}", (right, row), xytext=(points(5), 0),
            textcoords="offset points", va="center", ha="left", **text_style(SMALL, LIGHT.ink),
        )  # fmt: skip
    for at, word in ((float(base), "base"), (float(ends[-1]), "prediction")):
        ax.axvline(at, color=LIGHT.ink, linewidth=points(1.0), linestyle=DOTTED, zorder=1.6)
        is_base = word == "base"
        ax.annotate(
            f"{word} {written_amount(at)}", (at, -0.65 if is_base else len(labels) - 0.1),
            va="bottom" if is_base else "center", ha="center" if is_base else "right",
            xytext=(0 if is_base else points(-5), 0), textcoords="offset points", annotation_clip=False,
            **text_style(SMALL, LIGHT.muted),
        )  # fmt: skip
    low, high = float(min(starts.min(), ends.min())), float(max(starts.max(), ends.max()))
    ax.set_xlim(low - 0.08 * span, high + 0.2 * span)
    _name_rows(ax, labels)
    ax.set_ylim(len(labels) + 0.4, -0.6)
    return figure


def contribution_swarm(
    *,
    names: Sequence[str],
    values: npt.ArrayLike,
    cells: npt.ArrayLike,
    xlabel: str = "contribution",
    most: int = 12,
    ax: Axes | None = None,
) -> Figure:
    """Draw the contributions of many rows, a dot for each, in the shade of the row's cell.

    Parameters
    ----------
    names : sequence of k str
    values, cells : array-like of shape (n, k)
        Contributions; numbers that dots are shaded by, nan where missing. For levels their positions.
    xlabel : str
    most : int >= 1
        At most so many columns are drawn, those with the largest mean size.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError
        Shapes differ, there is nothing to draw, or a contribution is not finite.
    ParameterError
        ``most`` is below 1.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = contribution_swarm(names=["rain", "wind"], values=[[1, 0], [-2, 0.5]], cells=[[0, 4], [9, 1]])
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['rain', 'wind']
    """
    value, order = _of_rows(names, values, most)
    cell = np.asarray(cells, np.float64)
    if cell.shape != value.shape:
        raise DataError(f"cells has shape {cell.shape}, values {value.shape}: give a cell for each contribution")
    figure, ax = new_axes(ax, (8.4, AROUND_COLUMNS + 1.3 * ROW * max(len(order), 3)))
    dress(ax, xlabel=shorten(xlabel, MOST_LABEL), grid="x")
    ax.axvline(0.0, color=LIGHT.ink, linewidth=points(1.0), zorder=1.5)
    low, high = float(value.min()), float(value.max())
    for row, at in enumerate(order.tolist()):
        shades = _ranks(cell[:, at])
        is_known = ~np.isnan(shades)
        heights = row + _swarm(value[:, at], low, high)
        ax.scatter(
            value[~is_known, at], heights[~is_known], s=points(DOT) ** 2 / 2, color=LIGHT.line, zorder=2, linewidths=0
        )
        ax.scatter(
            value[is_known, at], heights[is_known], c=shades[is_known], cmap=_shades(), vmin=0, vmax=1,
            s=points(DOT) ** 2 / 2, zorder=3, linewidths=0,
        )  # fmt: skip
    _name_rows(ax, [named(names[at], NAME) for at in order.tolist()])
    _bar_of_shades(ax, "cell")
    return figure


def contribution_scatter(
    *,
    x: Sequence[Any] | npt.ArrayLike,
    values: npt.ArrayLike,
    shade: npt.ArrayLike | None = None,
    xlabel: str = "",
    ylabel: str = "contribution",
    zlabel: str = "",
    dates: tuple[str, str] = ("", ""),
    ax: Axes | None = None,
) -> Figure:
    """Draw the contributions of a column over its cells, shaded by another column's cells.

    Parameters
    ----------
    x : array-like of n numbers, or sequence of n str
        Cells; texts are levels. Rows whose number is nan, or whose level is None, are left out.
    values : array-like of n numbers
    shade : array-like of n numbers, optional
        nan where missing.
    xlabel, ylabel, zlabel : str
        ``zlabel`` is of the shades.
    dates : (str, str), optional
        If cells are days since 1970: the family of the column of dates ("date", "datetime"), and the time zone.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError
        Lengths differ, there are no rows, or a contribution is not finite.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = contribution_scatter(x=[0, 4, 9], values=[2, 1, -3], shade=[1, 5, 2], xlabel="rain", zlabel="wind")
    >>> figure.axes[0].get_xlabel(), figure.axes[1].get_ylabel()
    ('rain', 'wind')
    """
    cells: list[Any] = list(cast("Sequence[Any]", x))
    value = numbers("values", values, len(cells), like="x")
    shades = np.full(len(cells), np.nan) if shade is None else _ranks(np.asarray(shade, np.float64))
    if len(shades) != len(cells):
        raise DataError(f"shade has {len(shades)} numbers, x {len(cells)} cells: give one for each")
    levels = sorted({cell for cell in cells if isinstance(cell, str)})
    figure, ax = new_axes(ax, WIDE)
    dress(ax, xlabel=shorten(xlabel, MOST_LABEL), ylabel=shorten(ylabel, MOST_LABEL))
    ax.axhline(0.0, color=LIGHT.ink, linewidth=points(1.0), zorder=1.5)
    if levels:
        codes = np.array([levels.index(str(cell)) if cell is not None else np.nan for cell in cells])
        places = codes + SWARM * (2 * np.modf(np.arange(len(cells)) * GOLDEN)[0] - 1)
        level_ticks(ax, levels, "x", cells=18, most=30, turned_from=60)
    else:
        places = np.array([np.nan if cell is None else cell for cell in cells], np.float64)
        dated(ax.xaxis, dates)
    is_known = ~np.isnan(shades)
    size = points(DOT) ** 2 / 1.6
    ax.scatter(places[~is_known], value[~is_known], s=size, color=TEST if shade is None else LIGHT.line, linewidths=0)
    if shade is not None:
        ax.scatter(
            places[is_known], value[is_known], c=shades[is_known], cmap=_shades(), vmin=0, vmax=1, s=size, zorder=3,
            linewidths=0,
        )  # fmt: skip
        _bar_of_shades(ax, zlabel)
    return figure


def contribution_lines(
    *,
    names: Sequence[str],
    values: npt.ArrayLike,
    base: float,
    xlabel: str = "prediction",
    most: int = 12,
    ax: Axes | None = None,
) -> Figure:
    """Draw how contributions lead rows from the base, at the bottom, to their predictions: a line for each row.

    Parameters
    ----------
    names : sequence of k str
    values : array-like of shape (n, k)
    base : float
    xlabel : str
    most : int >= 1
        At most so many columns have a step of their own, the most important one on top; the others are the first step.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError
        Shapes differ, there is nothing to draw, or a contribution is not finite.
    ParameterError
        ``most`` is below 1.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = contribution_lines(names=["rain", "wind"], values=[[1, 0], [-2, 0.5]], base=30.0)
    >>> len(figure.axes[0].lines)
    3
    """
    value, order = _of_rows(names, values, most)
    steps, labels = [value[:, at] for at in order[::-1]], [named(names[at], NAME) for at in order[::-1].tolist()]
    others = np.setdiff1d(np.arange(value.shape[1]), order)
    if len(others):
        steps, labels = [value[:, others].sum(axis=1), *steps], [f"{len(others)} more", *labels]
    paths = float(base) + np.cumsum([np.zeros(len(value)), *steps], axis=0)
    figure, ax = new_axes(ax, (7.8, AROUND_COLUMNS + ROW * max(len(labels) + 1, 3)))
    dress(ax, xlabel=shorten(xlabel, MOST_LABEL), grid="y")
    ax.axvline(float(base), color=LIGHT.ink, linewidth=points(1.0), linestyle=DOTTED, zorder=1.5)
    shades = _shades()(_ranks(paths[-1]))
    faint = 1.0 if len(value) <= 20 else FAINT
    for line, shade in zip(paths.T, shades, strict=True):
        ax.plot(line, np.arange(len(paths)), color=shade, linewidth=points(LINE * 0.7), alpha=faint, zorder=2)
    ax.set_yticks(np.arange(len(labels)) + 0.5, labels)
    ax.set_ylim(0, len(labels))
    ax.tick_params(axis="y", length=0)
    return figure


def contribution_map(
    *,
    names: Sequence[str],
    values: npt.ArrayLike,
    answers: npt.ArrayLike,
    zlabel: str = "contribution",
    most: int = 12,
    ax: Axes | None = None,
) -> Figure:
    """Draw contributions as a map: a line for each column, the rows of the table across by their prediction.

    Parameters
    ----------
    names : sequence of k str
    values : array-like of shape (n, k)
    answers : array-like of n numbers
    zlabel : str
    most : int >= 1
        At most so many columns are drawn, those with the largest mean size.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError
        Shapes differ, there is nothing to draw, or a number is not finite.
    ParameterError
        ``most`` is below 1.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = contribution_map(names=["rain", "wind"], values=[[1, 0], [-2, 0.5]], answers=[31, 28.5])
    >>> figure.axes[0].get_xlabel()
    'rows, by their prediction'
    """
    from matplotlib.colors import LinearSegmentedColormap

    value, order = _of_rows(names, values, most)
    across = np.argsort(numbers("answers", answers, len(value), like="values"), kind="stable")
    figure, ax = new_axes(ax, (8.4, AROUND_COLUMNS + ROW * max(len(order), 3)))
    dress(ax, xlabel="rows, by their prediction", grid="")
    largest = float(np.abs(value).max()) or 1.0
    colors = LinearSegmentedColormap.from_list("contributions", [DOWN, LIGHT.page, UP])
    image = ax.imshow(
        value[across][:, order].T, cmap=colors, vmin=-largest, vmax=largest, aspect="auto", interpolation="nearest"
    )
    _name_rows(ax, [named(names[at], NAME) for at in order.tolist()])
    ax.set_xticks([])
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02, fraction=0.05)
    _dress_bar(bar, zlabel)
    return figure


def _of_columns(names: Sequence[str], values: npt.ArrayLike, most: int) -> Numbers:
    """One contribution for each column, checked."""
    if not len(names):
        raise DataError("names is empty: there is nothing to draw")
    whole_number("most", most, 1)
    found: Numbers = numbers("values", values, len(names), like="names")
    return found


def _of_rows(names: Sequence[str], values: npt.ArrayLike, most: int) -> tuple[Numbers, np.ndarray]:
    """float64[n, k], and which columns are drawn: those with the largest mean size, the first of equals."""
    value = np.asarray(values, np.float64)
    if value.ndim != 2 or value.shape[1] != len(names):
        raise DataError(f"values has shape {value.shape}: give a row of {len(names)} contributions for each row")
    if not value.size:
        raise DataError("values is empty: there is nothing to draw")
    if not np.isfinite(value).all():
        raise DataError("values holds nan or inf: contributions are finite")
    _of_columns(names, value[0], most)
    return value, np.argsort(-np.abs(value).mean(axis=0), kind="stable")[:most]


def _ranks(cells: Numbers) -> Numbers:
    """Each number's rank as a share from 0 to 1, equal ones alike; nan stays nan."""
    found = np.full(len(cells), np.nan)
    known = ~np.isnan(cells)
    different, which = np.unique(cells[known], return_inverse=True)
    found[known] = which / max(len(different) - 1, 1)
    return found


def _swarm(value: Numbers, low: float, high: float) -> Numbers:
    """How far each dot is off its row's line, so that dots of about the same number do not cover each other."""
    bins = np.floor((value - low) / max(high - low, 1e-300) * 100).astype(np.int64)
    counts = np.bincount(bins, minlength=101)
    order = np.argsort(bins, kind="stable")
    starts = np.cumsum(counts) - counts
    place = np.empty(len(value))
    place[order] = np.arange(len(value)) - starts[bins[order]]
    side = np.where(place % 2 == 0, 1, -1) * ((place + 1) // 2)
    return SWARM * side / max(float(np.abs(side).max()), 4.0)


def _shades() -> Any:
    """The colours of cells, from low to high."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("cells", [DOWN, tint(TRAIN, 0.6), UP])


def _bar_of_shades(ax: Axes, title: str) -> None:
    """Add the colour bar of the shades."""
    from matplotlib.cm import ScalarMappable

    bar = ax.figure.colorbar(ScalarMappable(cmap=_shades()), ax=ax, pad=0.02, fraction=0.03, ticks=[0, 1])
    bar.ax.set_yticklabels(["low", "high"])
    _dress_bar(bar, title)


def _dress_bar(bar: Any, title: str) -> None:
    """Give a colour bar the style of all figures."""
    bar.outline.set_visible(False)
    bar.ax.tick_params(**{**tick_style(), "length": 0})
    bar.ax.set_ylabel(shorten(title, MOST_LABEL), **text_style(SMALL, LIGHT.muted))


def _name_rows(ax: Axes, labels: Sequence[str]) -> None:
    """A row for each label, the first at the top."""
    ax.set_yticks(range(len(labels)), list(labels))
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
