"""The common style of figures, and checks of what they draw. In: axes, texts, series. Out: the same, in one style.

Colours are those of ``show.style``. Everything is set on the given axes, nothing in matplotlib's global settings:
those belong to the user, and other threads read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from treewright.exceptions import DataError, ParameterError
from treewright.show.style import LIGHT, class_color, current_medium, mixed, text_width
from treewright.trees.writing import escape_controls, shorten, written_amount

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TRAIN, TEST, CHOSEN, THIRD = LIGHT.muted, class_color(0), class_color(3), class_color(2)
MARK_COLORS = tuple(class_color(at) for at in (3, 2, 5, 1, 7, 4))
DOTTED: Any = (0, (1, 1.5))
DASHED: Any = (0, (6, 2))
DASH_DOT: Any = (0, (6, 2, 1, 2))
MARK_DASHES = (DASHED, DOTTED, DASH_DOT)
NARROW = 6.5  # inches, at this size of letters: a narrower figure has its legend below
WIDE = (8.4, 4.6)  # inches: half the height of a slide, all of its width at 13 points
PAD = 0.1  # inches around everything
TICK_LENGTH, TICK_WIDTH, TICK_PAD, LABEL_PAD = 3.5, 0.8, 3.5, 4.0  # points
LABEL, TICK, SMALL = 13.0, 11.0, 10.5  # points, as all sizes here: for a figure without a medium
LINE, DOT, BAND = 2.0, 5.0, 0.18
MOST_DOTS = 40  # more steps than that are a line without dots
MOST_LABEL = 48  # terminal cells of one name
LOG_FROM = 20  # a range of sizes that spans this factor is drawn on a logarithmic axis
FIRST_FONT = "DejaVu Sans"  # comes with matplotlib
OTHER_FONTS = (
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans CJK TC", "Noto Sans CJK KR", "Hiragino Sans", "PingFang SC",
    "Apple SD Gothic Neo", "Yu Gothic", "Microsoft YaHei", "Malgun Gothic", "Noto Sans", "Noto Sans Devanagari",
    "Noto Sans Thai", "Noto Sans Arabic", "Nirmala UI", "Arial Unicode MS", "WenQuanYi Micro Hei",
    "Droid Sans Fallback", "Unifont",
)  # fmt: skip


def scale() -> float:
    """Return the factor of letters and lines in the current medium; 1 without one."""
    medium = current_medium()
    return 1.0 if medium is None else medium.text / LABEL


def points(size: float) -> float:
    """Return a size in points in the current medium."""
    return size * scale()


def figure_size(size: tuple[float, float]) -> tuple[float, float]:
    """Return the size of a figure in inches in the current medium, from its size without one.

    A narrow figure takes the same share of the medium's width, except in a narrow medium; its height follows its
    letters.
    """
    medium = current_medium()
    if medium is None:
        return size
    if medium.is_exact:
        return medium.width, medium.height
    share = 1.0 if medium.width < NARROW * scale() else min(1.0, size[0] / WIDE[0])
    return medium.width * share, min(medium.height, size[1] * scale())


def new_axes(ax: Axes | None, size: tuple[float, float] = WIDE) -> tuple[Figure, Axes]:
    """The axes to draw into and their figure; without ``ax``, of a new one of this size, or of the medium."""
    if ax is None:
        from treewright.show.figures.picture import Picture  # isort: skip - says what to install if that is missing
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        layout = ConstrainedLayoutEngine(w_pad=points(PAD), h_pad=points(PAD))
        figure = Picture(figsize=figure_size(size), dpi=100, facecolor=LIGHT.page, edgecolor=LIGHT.page, layout=layout)
        medium = current_medium()
        if medium is not None:
            figure.print_dpi = medium.dpi
            figure.is_exact, figure.is_narrow = medium.is_exact, medium.width < NARROW * scale()
        return figure, figure.add_subplot()
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise ParameterError(f"ax is a {type(ax).__name__}: give matplotlib axes, or None for a figure of its own")
    return figure_of(ax), ax


def figure_of(ax: Axes) -> Figure:
    """Return the whole figure of axes, also for axes in a subfigure."""
    figure: Any = ax.figure
    while getattr(figure, "_parent", None) is not None:
        figure = figure._parent
    return figure


def dress(ax: Axes, *, xlabel: str = "", ylabel: str = "", grid: str = "y") -> None:
    """Give axes their labels (any text, never read as a formula), colours and sizes."""
    ax.set_facecolor(LIGHT.page)
    ax.set_axisbelow(True)
    ax.grid(visible=False, which="both")
    if grid:
        ax.grid(visible=True, axis=grid, color=LIGHT.line, linewidth=points(0.7), alpha=0.6, linestyle="-")  # type: ignore[arg-type]
    for side, spine in ax.spines.items():
        spine.set_visible(side in {"left", "bottom"})
        spine.set_color(LIGHT.line)
        spine.set_linewidth(points(1.0))
    ax.tick_params(which="both", direction="out", top=False, right=False, **tick_style())
    ax.set_xlabel(drawable(xlabel), labelpad=points(LABEL_PAD), **text_style(LABEL))
    ax.set_ylabel(drawable(ylabel), labelpad=points(LABEL_PAD), **text_style(LABEL))


def tick_style(color: str = LIGHT.ink) -> dict[str, Any]:
    """Return the arguments of ``tick_params``."""
    return {
        "color": LIGHT.line, "labelcolor": color, "labelsize": points(TICK), "labelfontfamily": families(),
        "length": points(TICK_LENGTH), "width": points(TICK_WIDTH), "pad": points(TICK_PAD),
    }  # fmt: skip


def as_wanted() -> dict[str, Any]:
    """Return the arguments of a reference line: perfect predictions, or guessing."""
    return {"color": TRAIN, "linewidth": points(1.4), "linestyle": DOTTED, "zorder": 1.5}


def text_style(size: float, color: str = LIGHT.ink) -> dict[str, Any]:
    """Return the arguments of a text; ``size`` is without a medium."""
    return {"fontsize": points(size), "color": color, "fontfamily": families()}


def legend_beside(ax: Axes, handles: Sequence[Any], title: str = "") -> None:
    """Put a legend to the right of the axes, or below a narrow figure; its texts are drawable already."""
    letters = {"family": families(), "size": points(TICK)}
    style: dict[str, Any] = {
        "handles": list(handles), "borderaxespad": 0.0, "frameon": False, "labelcolor": LIGHT.ink, "prop": letters,
        "title": title or None, "title_fontproperties": letters, "alignment": "left", "handlelength": 1.8,
        "labelspacing": 0.7,
    }  # fmt: skip
    figure = figure_of(ax)
    if getattr(figure, "is_narrow", False):
        legend = _legend_below(figure, style, title)
    else:
        legend = ax.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), **style)
    legend.get_title().set_color(LIGHT.muted)


def _legend_below(figure: Figure, style: dict[str, Any], title: str) -> Any:
    """Put a legend under all axes, in as many columns as fit, and make room for it. Returns it."""
    texts = [str(handle.get_label()) for handle in style["handles"]]
    across, down = figure.get_size_inches()
    # A handle and the room around it are as wide as four letters are high.
    widest = max(text_width(line, TICK) for text in texts for line in text.split("\n")) + 4 * TICK
    columns = max(1, min(len(texts), int(across * 72 / points(widest))))
    legend = figure.legend(loc="outside lower left", ncols=columns, columnspacing=1.5, **style)
    if not figure.is_exact:  # type: ignore[attr-defined]
        rows = -(-len(texts) // columns)
        lines = sum(max(text.count("\n") + 1 for text in texts[row::rows]) for row in range(rows)) + bool(title)
        figure.set_size_inches(across, down + points(1.25 * lines + 0.7 * rows) * TICK / 72)
    return legend


def plain_ticks(ax: Axes, *, log: bool, whole: bool = False, most: int = 9) -> None:
    """Make about so many ticks of the axis across plain, if ``whole`` whole, numbers; its limits are set already."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    if log:
        low, high = ax.get_xlim()
        decades = np.log10(high / low)
        subs = (1.0, 2.0, 5.0) if 3 * decades <= most else (1.0, 3.0) if 2 * decades <= most else (1.0,)
        ax.xaxis.set_major_locator(LogLocator(base=10.0, subs=subs, numticks=12))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: tick_text(value)))
    elif whole:
        ax.xaxis.set_major_locator(MaxNLocator(nbins="auto", steps=[1, 2, 5, 10], integer=True, min_n_ticks=1))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: tick_text(value)))


def level_ticks(ax: Axes, levels: Sequence[str], which: str, *, cells: int, most: int, turned_from: int) -> None:
    """Name levels at their places, and set limits half a place beyond them.

    A name has so many terminal ``cells``; of more than ``most`` levels only every second, third, ... is named. Names on
    the x axis are rotated if together they have more characters than ``turned_from``.
    """
    places = list(range(0, len(levels), -(-len(levels) // most)))
    texts = [named(levels[at], cells) for at in places]
    (ax.set_xticks if which == "x" else ax.set_yticks)(places, texts)
    (ax.set_xlim if which == "x" else ax.set_ylim)(-0.5, len(levels) - 0.5)
    if which == "x" and sum(map(len, texts)) > turned_from:
        for text in ax.get_xticklabels():
            text.set(rotation=35, ha="right", rotation_mode="anchor")


def tick_text(value: float) -> str:
    """Return a number as the text of a tick.

    Examples
    --------
    >>> tick_text(20000.0), tick_text(0.002), tick_text(1e-7)
    ('20,000', '0.002', '1e-07')
    """
    if value >= 10_000 and value == round(value) and value < 1e12:
        return f"{value:,.0f}"
    return written_amount(value, digits=3)


def set_x(ax: Axes, x: np.ndarray, *, log: bool, whole: bool = False) -> None:
    """Make the axis across linear or logarithmic, with room for these values and plain ticks."""
    ax.set_xscale("log" if log else "linear")
    ax.set_xlim(*x_limits(x, log=log))
    plain_ticks(ax, log=log, whole=whole)


def x_limits(x: np.ndarray, *, log: bool) -> tuple[float, float]:
    """Return the limits of an axis over these values: a little beyond them, also if all are the same.

    Parameters
    ----------
    x : float64[k], k >= 1, finite; > 0 where ``log``
    """
    low, high = float(x.min()), float(x.max())
    if log:
        room = (high / low) ** 0.04 if high > low else 2.0
        return low / room, high * room
    room = 0.04 * (high - low) if high > low else max(1.0, abs(low)) * 0.5
    return low - room, high + room


def error_limits(ax: Axes, *parts: np.ndarray | None, axis: str = "y") -> None:
    """Set the limits of an axis of errors: from 0 if the smallest is not far from it."""
    held = np.concatenate([part[np.isfinite(part)] for part in parts if part is not None])
    low, high = float(held.min()), float(held.max())
    room = 0.07 * (high - low) or 0.1 * abs(high) or 0.1
    # Half a room below 0 keeps the line of a tree without errors in view.
    limits = (-room / 2 if 0 <= low < 0.4 * high else low - room, high + room)
    (ax.set_ylim if axis == "y" else ax.set_xlim)(*limits)


def drawable(text: str) -> str:
    r"""Return a text that is drawn literally: no formula, no control character, no sign without a font.

    A sign that no font has is written as its escape, so that two names stay two names.

    Examples
    --------
    >>> print(drawable("price in $"))
    price in \$
    """
    text = escape_controls(str(text))
    if not text.isascii():
        known = signs()
        text = "".join(char if ord(char) in known else char.encode("unicode_escape").decode("ascii") for char in text)
    return text.replace("$", r"\$")  # matplotlib takes the backslash away again


def named(text: str, width: int = MOST_LABEL) -> str:
    """Return a name from the data as a label: drawable, and cut if it is too long."""
    return drawable(shorten(escape_controls(text), width))


@cache
def families() -> list[str]:
    """Return the fonts that texts are drawn with: the first that has a sign draws it."""
    from matplotlib.font_manager import fontManager

    held = {font.name for font in fontManager.ttflist}
    return [FIRST_FONT, *(name for name in OTHER_FONTS if name in held)]


@cache
def signs() -> frozenset[int]:
    """Return the code points that one of the fonts can draw."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    found: set[int] = set()
    for name in families():
        found |= set(get_font(findfont(FontProperties(family=name))).get_charmap())
    return frozenset(found)


def tint(color: str, share: float) -> str:
    """Return a colour mixed with the colour of the page."""
    return mixed(LIGHT.page, color, share)


def numbers(
    name: str, given: Any, n: int | None = None, *, like: str = "", missing: bool = False, positive: bool = False
) -> npt.NDArray[np.float64]:
    """Return one series as numbers.

    Parameters
    ----------
    name : str
        Of the parameter.
    n : int, optional
        How many there must be: as many as ``like`` has.
    missing : bool
        Whether nan is allowed for a number that is not known.
    positive : bool
        Whether all have to be > 0.
    """
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be numbers: {error}") from error
    if values.ndim != 1:
        raise DataError(f"{name} must be one-dimensional, not of shape {values.shape}")
    if n is not None and len(values) != n:
        raise DataError(f"{name} has {len(values)} values and {like} has {n}: give one for each")
    if not len(values):
        raise DataError(f"{name} is empty: there is nothing to draw")
    bad = np.isinf(values) if missing else ~np.isfinite(values)
    if bad.any():
        at = int(bad.argmax())
        raise DataError(f"{name} has {int(bad.sum())} values that are not finite (first at {at}: {values[at]})")
    if positive and (values <= 0).any():
        at = int((values <= 0).argmax())
        raise DataError(f"{name} must be above 0 (at {at}: {values[at]:g}): the axis is logarithmic")
    return values


def spread(name: str, given: Any, n: int, like: str) -> npt.NDArray[np.float64] | None:
    """Return standard errors; None if they were not given or none is known."""
    if given is None:
        return None
    values = numbers(name, given, n, like=like, missing=True)
    if (values < 0).any():
        at = int((values < 0).argmax())
        raise DataError(f"{name} has a value below 0 (at {at}: {values[at]:g}): standard errors are 0 or more")
    return None if np.isnan(values).all() else values


def whole(name: str, given: Any, low: int, high: int) -> int:
    """Return a whole number in a range."""
    is_whole = isinstance(given, Integral) and not isinstance(given, bool)
    if not is_whole or not low <= int(given) <= high:
        raise ParameterError(f"{name}={given!r}: give a whole number from {low} to {high}")
    return int(given)
