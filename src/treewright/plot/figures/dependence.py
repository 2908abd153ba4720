"""How what a model says depends on a column. In: ``PartialDependence``. Out: a figure.

Callers: explain.dependence_table, users.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.data.cells import shown
from treewright.exceptions import ParameterError
from treewright.plot.figures.look import (
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
    named,
    new_axes,
    set_x,
    text_style,
    tint,
)
from treewright.plot.style import LIGHT, class_color, mixed
from treewright.tree.summary import counted
from treewright.tree.words import shorten, written_level, written_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from treewright.explain.dependence_axis import Axis
    from treewright.explain.dependence_table import PartialDependence

DASHES: tuple[Any, ...] = ("-", DASHED, DASH_DOT, DOTTED)
MARKS = "osD^vPX*"
LEVEL_TEXT, BAR_NAME = 18, 30  # terminal cells
MOST_LEVEL_TEXTS = 30
FAINT = 0.3  # of a single row's colour
TURNED_FROM = 60  # signs of all levels together


def dependence_figure(found: PartialDependence, *, label: Hashable | None = None, ax: Axes | None = None) -> Figure:
    """Draw means as lines (of levels: as points), single rows thin behind them, deciles of the rows as marks below.

    Parameters
    ----------
    found : PartialDependence
        Of two columns the figure is a map: colours are what the model says.
    label : hashable, optional
        Of several classes the one to draw; by default all, of two columns the last. Single rows are drawn where one
        class is.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ParameterError
        There is no such class here, or ``ax`` is no axes.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> import treewright as tw
    >>> X = {"rain": [0, 1, 5, 9], "sun": [9, 7, 2, 1]}
    >>> est = tw.DecisionTreeRegressor().fit(X, [4.0, 4.0, 1.0, 1.0])
    >>> figure = est.partial_dependence(X, "rain", individual=3).plot()
    >>> figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()
    ('rain', 'mean prediction')
    """
    places = _places(found, label)
    figure, ax = new_axes(ax, WIDE)
    if len(found.axes) == 2:
        _map(figure, ax, found, places[-1])
        return figure
    axis = found.axes[0]
    dress(ax, xlabel=_name(axis), ylabel=_said(found, places))
    if not axis.is_numeric:
        handles = _levels(ax, found, places)
    else:
        set_x(ax, axis.cells, log=False)
        handles = _lines(ax, found, places)
        _deciles(ax, axis)
    if len(places) > 1 or len(handles) > 1:
        legend_beside(ax, handles, "class" if len(places) > 1 else "")
    return figure


def _places(found: PartialDependence, label: Hashable | None) -> list[int]:
    """Which lines of the answers are drawn.

    Raises
    ------
    ParameterError
        There is no such class.
    """
    if label is None:
        return list(range(len(found.values)))
    if label not in found.labels:
        have = ", ".join(map(written_level, found.labels)) or "none: the model predicts numbers"
        raise ParameterError(f"label={shown(label)}: the classes here are {have}")
    return [found.labels.index(label)]


def _name(axis: Axis) -> str:
    """The name of a column beside its axis; ``dress`` makes it drawable."""
    return shorten(written_name(axis.name), MOST_LABEL)


def _said(found: PartialDependence, places: list[int]) -> str:
    """What stands beside the axis of answers."""
    if found.task == "regression":
        return "mean prediction" if found.said == "y" else f"mean prediction of {shorten(found.said, BAR_NAME)}"
    return (
        "mean share of the class" if len(places) > 1 else f"mean share of {shorten(found.titles[places[0]], BAR_NAME)}"
    )


def _color(found: PartialDependence, place: int) -> str:
    """The colour of a line: of several classes their own."""
    return class_color(place) if len(found.values) > 1 else TEST


def _lines(ax: Axes, found: PartialDependence, places: list[int]) -> list[Any]:
    """Draw answers over a numeric column. Returns what the legend names."""
    x, handles = found.axes[0].cells, []
    if len(places) == 1 and len(found.rows):
        color = tint(_color(found, places[0]), FAINT)
        drawn = ax.plot(x, found.individual[places[0]].T, color=color, linewidth=0.9, zorder=1.8)
        drawn[0].set_label(counted(len(found.rows), "single row"))
        handles.append(drawn[0])
    for number, place in enumerate(places):
        (line,) = ax.plot(
            x, found.values[place], color=_color(found, place), linewidth=LINE + 0.5,
            linestyle=DASHES[number // 8 % len(DASHES)], marker="o" if len(x) <= MOST_DOTS // 2 else "",
            markersize=DOT, label=_label(found, place, places), zorder=2.5,
        )  # fmt: skip
        handles.append(line)
    return handles[::-1] if len(places) == 1 else handles


def _levels(ax: Axes, found: PartialDependence, places: list[int]) -> list[Any]:
    """Draw answers at levels: points, since nothing lies between them."""
    axis = found.axes[0]
    x, handles = np.arange(len(axis.values), dtype=np.float64), []
    spread = 0.5 / max(len(places), 1)
    if len(places) == 1 and len(found.rows):
        own = found.individual[places[0]]
        # The golden section spreads the rows without chance.
        beside = (np.arange(len(own)) * 0.6180339887498949 % 1.0 - 0.5) * 0.6
        dots = ax.plot(
            (x + beside[:, None]).ravel(), own.ravel(), linestyle="none", marker="o", markersize=3.2,
            color=tint(_color(found, places[0]), FAINT + 0.1), label=counted(len(found.rows), "single row"), zorder=1.8,
        )  # fmt: skip
        handles += dots
    for number, place in enumerate(places):
        shift = (number - (len(places) - 1) / 2) * spread
        handles += ax.plot(
            x + shift, found.values[place], linestyle="none", marker=MARKS[number % len(MARKS)], markersize=DOT + 3,
            color=_color(found, place), markeredgecolor=LIGHT.page, label=_label(found, place, places), zorder=2.5,
        )  # fmt: skip
    _level_texts(ax, axis, "x")
    return handles[::-1] if len(places) == 1 else handles


def _label(found: PartialDependence, place: int, places: list[int]) -> str:
    """What the legend calls a line."""
    return named(found.titles[place], BAR_NAME) if len(places) > 1 else f"mean of {counted(found.n_rows, 'row')}"


def _level_texts(ax: Axes, axis: Axis, which: str) -> None:
    """Name levels at their places; of many levels every second, third, ..."""
    step = -(-len(axis.values) // MOST_LEVEL_TEXTS)
    places = list(range(0, len(axis.values), step))
    texts = [named(axis.texts[at], LEVEL_TEXT) for at in places]
    (ax.set_xticks if which == "x" else ax.set_yticks)(places, texts)
    (ax.set_xlim if which == "x" else ax.set_ylim)(-0.5, len(axis.values) - 0.5)
    if which == "x" and sum(map(len, texts)) > TURNED_FROM:
        for text in ax.get_xticklabels():
            text.set(rotation=35, ha="right", rotation_mode="anchor")


def _deciles(ax: Axes, axis: Axis) -> None:
    """Mark the deciles of the rows at the foot: where they are far apart, answers rest on few rows."""
    if len(axis.deciles):
        ax.plot(
            axis.deciles, np.zeros(len(axis.deciles)), linestyle="none", marker="|", markersize=9, markeredgewidth=1.4,
            color=LIGHT.ink, transform=ax.get_xaxis_transform(), clip_on=False, zorder=3,
        )  # fmt: skip


def _map(figure: Figure, ax: Axes, found: PartialDependence, place: int) -> None:
    """Draw the answers of every pair of values as colours."""
    from matplotlib.colors import LinearSegmentedColormap

    across, up = found.axes
    dress(ax, xlabel=_name(across), ylabel=_name(up), grid="")
    color = _color(found, place)
    steps = [mixed(LIGHT.page, color, 0.08), color, mixed(color, LIGHT.ink, 0.8)]
    image = ax.pcolormesh(
        _edges(across), _edges(up), found.values[place].T,
        cmap=LinearSegmentedColormap.from_list("treewright", steps), zorder=0,
    )  # fmt: skip
    for axis, which in ((across, "x"), (up, "y")):
        if not axis.is_numeric:
            _level_texts(ax, axis, which)
    bar = figure.colorbar(image, ax=ax, pad=0.02, aspect=30)
    bar.outline.set_visible(False)
    bar.ax.tick_params(color=LIGHT.line, labelcolor=LIGHT.ink, labelsize=TICK, labelfontfamily=families())
    bar.set_label(drawable(_said(found, [place])), **text_style(LABEL))


def _edges(axis: Axis) -> np.ndarray:
    """Where the fields of a map begin and end: half-way between values, which are no further apart than float64."""
    x = axis.cells if axis.is_numeric else np.arange(len(axis.values), dtype=np.float64)
    if len(x) == 1:
        return np.array([x[0] - 0.5, x[0] + 0.5])
    middle = x[:-1] / 2 + x[1:] / 2
    return np.concatenate([[x[0] - (middle[0] - x[0])], middle, [x[-1] + (x[-1] - middle[-1])]])
