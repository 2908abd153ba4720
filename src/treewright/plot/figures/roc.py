"""How well shares put the rows of a class first. In: curves. Out: a figure. Callers: reporting, users."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treewright.exceptions import DataError, ParameterError
from treewright.plot.figures.checks import numbers
from treewright.plot.figures.look import (
    DOT,
    DOTTED,
    LINE,
    MARK_DASHES,
    MOST_DOTS,
    as_wanted,
    dress,
    legend_beside,
    named,
    new_axes,
    points,
)
from treewright.plot.style import CLASS_COLORS, class_color

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (7.4, 4.9)  # inches
CLASS_NAME = 26  # terminal cells
ROOM = 0.015  # beyond 0 and 1, so that lines on them are seen whole
MOST_CURVES = 12

DASHES: tuple[Any, ...] = ("-", *MARK_DASHES)
Curves = Mapping[Any, tuple[npt.ArrayLike, npt.ArrayLike]]


def roc(
    *,
    curves: Curves,
    areas: Mapping[Any, float] | None = None,
    positions: Mapping[Any, int] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw what share of a class is found against what share of the others is taken for it.

    Parameters
    ----------
    curves : mapping from class to (false_rate, true_rate)
        Each k numbers from 0 to 1, ascending; up to 12 classes.
    areas : mapping from class to area, optional
        Written in the legend.
    positions : mapping from class to int, optional
        Which colour each has; by default in order.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError
        Numbers are missing, outside 0 to 1, or of different lengths; there is no curve or there are too many.
    ParameterError
        ``curves`` is no mapping.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = roc(curves={"yes": ([0, 0.1, 1], [0, 0.8, 1])}, areas={"yes": 0.85})
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['yes: area 0.850', 'guessing']
    """
    checked = _checked(curves, ("false_rate", "true_rate"))
    figure, ax = _unit_square(ax, "others taken for the class", "share of the class found")
    handles = _lines(ax, checked, areas, "area", positions, step=False)
    handles += ax.plot([0, 1], [0, 1], label="guessing", **as_wanted())
    legend_beside(ax, handles)
    return figure


def precision_recall(
    *,
    curves: Curves,
    averages: Mapping[Any, float] | None = None,
    shares: Mapping[Any, float] | None = None,
    positions: Mapping[Any, int] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw how much of what is taken for a class is of it, against the share of the class that is found.

    Parameters
    ----------
    curves : mapping from class to (recall, precision)
        By ascending recall; between two points the precision is that of the point to the right.
    averages : mapping from class to average precision, optional
        Written in the legend.
    shares : mapping from class to its share of the rows, optional
        The precision of guessing, drawn as dotted lines.
    positions, ax
        As in ``roc``.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    DataError, ParameterError, MissingLibraryError
        As ``roc``.

    Examples
    --------
    >>> figure = precision_recall(curves={"yes": ([0, 0.5, 1], [1, 0.9, 0.4])}, averages={"yes": 0.65})
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['yes: average 0.650']
    """
    checked = _checked(curves, ("recall", "precision"))
    figure, ax = _unit_square(ax, "share of the class found (recall)", "precision")
    handles = _lines(ax, checked, averages, "average", positions, step=True)
    for number, name in enumerate(checked):
        if shares is not None and name in shares:
            color = class_color(number if positions is None else positions[name])
            guess = ax.axhline(shares[name], color=color, linewidth=points(1.2), linestyle=DOTTED, zorder=1.5)
            if number == len(checked) - 1:
                guess.set_label("guessing")
                handles.append(guess)
    legend_beside(ax, handles)
    return figure


def _checked(curves: Any, names: tuple[str, str]) -> dict[Any, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
    """The curves as arrays."""
    if not isinstance(curves, Mapping):
        raise ParameterError(
            f"curves is a {type(curves).__name__}: give a dict from class to two arrays, {' and '.join(names)}"
        )
    if not 1 <= len(curves) <= MOST_CURVES:
        raise DataError(f"curves has {len(curves)} classes: 1 to {MOST_CURVES} can be told apart")
    checked = {}
    for label, pair in curves.items():
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise DataError(f"curves[{label!r}] must be two arrays, {' and '.join(names)}")
        x = numbers(f"{names[0]} of {label!r}", pair[0])
        y = numbers(f"{names[1]} of {label!r}", pair[1], len(x), like=names[0])
        for name, held in zip(names, (x, y), strict=True):
            if (held < 0).any() or (held > 1).any():
                raise DataError(f"{name} of {label!r} has a number outside 0 to 1")
        if (np.diff(x) < 0).any():
            raise DataError(f"{names[0]} of {label!r} must be ascending")
        checked[label] = (x, y)
    return checked


def _unit_square(ax: Axes | None, xlabel: str, ylabel: str) -> tuple[Figure, Axes]:
    """Axes of shares in both directions."""
    figure, ax = new_axes(ax, SIZE)
    dress(ax, xlabel=xlabel, ylabel=ylabel, grid="both")
    ax.set_xlim(-ROOM, 1 + ROOM)
    ax.set_ylim(-ROOM, 1 + ROOM)
    ax.set_box_aspect(1)
    return figure, ax


def _lines(
    ax: Axes, curves: Mapping[Any, Any], sizes: Mapping[Any, float] | None, what: str,
    positions: Mapping[Any, int] | None, *, step: bool,
) -> list[Any]:  # fmt: skip
    """Draw one line for each class; beyond eight, where colours come again lighter, lines are dashed too."""
    handles = []
    for number, (label, (x, y)) in enumerate(curves.items()):
        at = number if positions is None else positions[label]
        name = named(str(label), CLASS_NAME)
        dash = DASHES[at // len(CLASS_COLORS) % len(DASHES)]
        handles += ax.plot(
            x, y, color=class_color(at), linewidth=points(LINE), linestyle=dash,
            drawstyle="steps-pre" if step else "default", zorder=2.5, markersize=points(DOT - 1),
            marker="o" if not step and len(x) <= MOST_DOTS and len(curves) == 1 else "",
            label=name if sizes is None or label not in sizes else f"{name}: {what} {sizes[label]:.3f}",
        )  # fmt: skip
    return handles
