"""True against predicted classes as a table of shades. In: labels, counts. Out: a figure. Callers: reporting, users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treewright.exceptions import DataError
from treewright.plot.figures.look import SMALL, TEST, dress, named, new_axes, points, text_style, tick_text, tint
from treewright.plot.measure import text_width
from treewright.plot.style import LIGHT, class_color

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CELL, AROUND = 0.62, 1.7  # inches: of one class, and of what stands beside and above
LEAST, MOST = 3.4, 12.0  # inches of all cells
RIGHT, WRONG = TEST, class_color(3)
DEEPEST = 0.5  # of a cell that holds its whole row: black text on it is read easily
MOST_WRITTEN = 30  # classes whose cells are large enough for numbers
CLASS_NAME = 22  # terminal cells
TURNED_FROM = 0.85  # of a cell's width: longer names stand at an angle


def confusion(
    *, labels: Sequence[Any], counts: npt.ArrayLike, weighted: bool = False, ax: Axes | None = None
) -> Figure:
    """Draw how often each class is taken for which.

    Parameters
    ----------
    labels : sequence of k labels
    counts : array-like of k x k numbers >= 0
        ``counts[true][predicted]``.
    weighted : bool
        They are weights, not rows: what the figure calls them.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.figure.Figure
        A cell is as dark as its share of the row; those on the diagonal are right, and blue.

    Raises
    ------
    DataError
        ``counts`` is no such table, or holds a number that is not finite or below 0.
    MissingLibraryError
        matplotlib is not installed.

    Examples
    --------
    >>> figure = confusion(labels=["no", "yes"], counts=[[40, 2], [5, 13]])
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['40', '2', '5', '13']
    """
    names = [named(str(label), CLASS_NAME) for label in labels]
    held = _table(counts, len(names))
    side = float(np.clip(CELL * len(names), LEAST, MOST))
    figure, ax = new_axes(ax, (side + AROUND + 0.6, side + AROUND))
    dress(ax, xlabel="predicted class", ylabel="true class", grid="")
    for spine in ax.spines.values():
        spine.set_visible(False)
    totals = held.sum(axis=1, keepdims=True)
    shares = np.divide(held, totals, out=np.zeros_like(held), where=totals > 0)
    ax.imshow(_colors(shares), aspect="equal", interpolation="nearest", zorder=1)
    k = len(names)
    for edge in np.arange(k + 1) - 0.5:
        ax.axhline(edge, color=LIGHT.page, linewidth=points(1.5), zorder=2)
        ax.axvline(edge, color=LIGHT.page, linewidth=points(1.5), zorder=2)
    widest = max(text_width(name, SMALL) for name in names) / 72
    turned = widest > TURNED_FROM * side / k
    ax.set_xticks(range(k), names, rotation=40 if turned else 0, ha="right" if turned else "center")
    ax.set_yticks(range(k), names)
    ax.tick_params(length=0)
    if k <= MOST_WRITTEN:
        for true, said in np.ndindex(k, k):
            count = float(held[true, said])
            style = text_style(SMALL, LIGHT.ink if count or true == said else LIGHT.muted)
            ax.text(said, true, tick_text(count), ha="center", va="center", zorder=3, **style)
    ax.set_title(f"{'weight' if weighted else 'rows'} of each true class", **text_style(SMALL, LIGHT.muted))
    return figure


def _table(counts: npt.ArrayLike, k: int) -> npt.NDArray[np.float64]:
    """The numbers, checked."""
    try:
        held = np.asarray(counts, np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"counts must be numbers: {error}") from error
    if not k:
        raise DataError("labels is empty: there is nothing to draw")
    if held.shape != (k, k):
        raise DataError(f"counts is of shape {held.shape}: give {k} x {k} numbers, a row for each true class")
    if not (np.isfinite(held) & (held >= 0)).all():
        true, said = np.argwhere(~(np.isfinite(held) & (held >= 0)))[0].tolist()
        raise DataError(f"counts[{true}][{said}] is {held[true, said]:g}: counts are finite and not below 0")
    return held


def _colors(shares: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The colour of each cell, float64[k, k, 3]."""
    from matplotlib.colors import to_rgb

    colors = np.empty((*shares.shape, 3))
    for true, said in np.ndindex(*shares.shape):
        colors[true, said] = to_rgb(tint(RIGHT if true == said else WRONG, DEEPEST * float(shares[true, said])))
    return colors
