"""Alphas above an axis of leaves. In: axes, the leaves and the alpha of each step. Out: a second axis.

Caller: ``figures.curves``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treewright.plot.figures.look import LABEL_PAD, SMALL, TICK, families, figure_of, points, text_style, tick_style
from treewright.plot.style import LIGHT
from treewright.tree.writing import written_amount

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Numbers = npt.NDArray[np.float64]

MOST_ALPHAS = 6
BETWEEN = 10.0  # points: from one text to the next, at least
POINTS = 72.0  # an inch


def alpha_axis(ax: Axes, size: Numbers, alphas: Numbers) -> None:
    """Write the alphas of some steps above the axes, as many as can be read side by side.

    Which these are is settled when the figure is drawn: only then it is known how wide the axes are.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        With the limits and the scale of its axis of leaves.
    size, alphas : float64[k]
        Leaves and alpha of each step.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter

    # When the figure is drawn, the medium may be another.
    letters, between = points(TICK), points(BETWEEN)
    texts = [written_amount(alpha, digits=3) for alpha in alphas.tolist()]

    class Readable(FixedLocator):
        """The steps whose texts leave room for each other in the axes as they are now."""

        def __call__(self) -> Any:
            inches = ax.bbox.width / figure_of(ax).dpi
            return size[apart(shares(ax, size) * inches * POINTS, texts, letters, between)]

    # Steps of equal size have one place: the first of them names it.
    first = {float(leaves): texts[step] for step, leaves in reversed(list(enumerate(size.tolist())))}
    top = ax.secondary_xaxis("top")
    top.xaxis.set_major_locator(Readable(size.tolist()))
    top.xaxis.set_major_formatter(FuncFormatter(lambda leaves, _: first.get(float(leaves), "")))
    top.tick_params(which="both", **tick_style(LIGHT.muted))
    top.minorticks_off()
    top.spines["top"].set_color(LIGHT.line)
    top.spines["top"].set_linewidth(points(1.0))
    top.set_xlabel("alpha, the price of a leaf", labelpad=points(LABEL_PAD), **text_style(SMALL, LIGHT.muted))


def shares(ax: Axes, size: Numbers) -> Numbers:
    """Return where sizes lie along the axis, in shares of it."""
    low, high = ax.get_xlim()
    if ax.get_xscale() == "log":
        return np.asarray(np.log(size / low) / np.log(high / low))
    return np.asarray((size - low) / (high - low))


def apart(places: Numbers, texts: Sequence[str], letters: float = TICK, between: float = BETWEEN) -> list[int]:
    """Return some steps, spread evenly, whose texts do not come near each other; both ends are the first to be taken.

    Parameters
    ----------
    places : float64[k], points
        The middle of each text.
    texts : sequence of k str
    letters, between : float, points
        The size of the texts, and the room between two at least.

    Examples
    --------
    >>> apart(np.array([0.0, 20.0, 50.0, 100.0]), ["0.001", "0.01", "0.1", "0"])
    [0, 2, 3]
    """
    low, high = places.min(), places.max()
    taken: list[int] = []
    for wanted in (low, high, *np.linspace(low, high, MOST_ALPHAS)[1:-1]):
        near = int(np.abs(places - wanted).argmin())
        wide = text_width(texts[near], letters)
        if all(abs(places[near] - places[at]) >= (wide + text_width(texts[at], letters)) / 2 + between for at in taken):
            taken.append(near)
    return sorted(taken, key=lambda at: float(places[at]))


@lru_cache(maxsize=1024)
def text_width(text: str, size: float) -> float:
    """Return how wide the text of a tick is, in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    return float(TextPath((0, 0), text, size=size, prop=FontProperties(family=families())).get_extents().width)
