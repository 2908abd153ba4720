"""The style of pictures: colours, sizes, widths of texts, and the room for a picture (``Medium``).

The classes have the eight colours of Okabe & Ito (Color Universal Design, 2008), which colour-blind readers can
distinguish; black, which is invisible on a dark page, is replaced by grey.

A picture is made without a font, so widths come from a table of usual sans-serif advances with a margin for wider
fonts.

Trees and figures take the same ``size=``. A slide is read from farther away than a page, so a size is a width and a
size of letters.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from treewright.exceptions import ParameterError

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
CLASS_COLORS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#f0e442", "#8a929a")
RIM = "#808080"
# How far the second and the third round of eight go towards white and towards black.
LIGHTER, DARKER = 0.5, 0.45
# From this many leaves on the cards are compact.
COMPACT_LEAVES = 17
# Advances in thousandths of the font size, as common to Helvetica, Arial and Liberation Sans.
ADVANCES = {
    **dict.fromkeys("ijl'", 222),
    **dict.fromkeys("|", 260),
    **dict.fromkeys(" !,./:;I[]\\ft", 278),
    **dict.fromkeys("()-`r{}", 334),
    **dict.fromkeys('"*', 375),
    **dict.fromkeys("^", 469),
    **dict.fromkeys("Jckksvxyz", 500),
    **dict.fromkeys("#$?_0123456789abdeghnopquL", 556),
    **dict.fromkeys("+<=>~\u2264\u2265\u2260\u00b7", 584),
    **dict.fromkeys("FTZ", 611),
    **dict.fromkeys("&ABEKPSVXY", 667),
    **dict.fromkeys("CDHNRUw", 722),
    **dict.fromkeys("GOQ", 778),
    **dict.fromkeys("Mm", 833),
    **dict.fromkeys("%", 889),
    **dict.fromkeys("W", 944),
    **dict.fromkeys("@\u2026", 1015),
}
NARROW_OTHER, WIDE_OTHER = 640, 1080
# DejaVu Sans, what many Linux machines draw with, runs 12 % wider than Helvetica, and its bold another 14 %.
MARGIN = 1.12
BOLD = 1.14
ELLIPSIS = "\u2026"


@dataclass(frozen=True)
class Palette:
    """Colours of one theme."""

    page: str
    card: str
    ink: str
    muted: str
    line: str
    edge: str
    accent: str


@dataclass(frozen=True)
class Sizes:
    """Pixels. ``least`` and ``most`` bound a card's width; ``row_gap`` is the room between two depths."""

    title: float
    small: float
    pad_x: float
    pad_y: float
    line: float
    bar: float
    least: float
    most: float
    gap: float
    row_gap: float
    label: float


def mixed(color: str, other: str, share: float) -> str:
    """Return a colour with a share of another in it.

    Examples
    --------
    >>> mixed("#000000", "#ffffff", 0.5)
    '#808080'
    """
    parts = ((int(color[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(own + (another - own) * share):02x}" for own, another in parts)


def class_color(position: int) -> str:
    """Return the colour of a class: eight colours, then the same eight lighter, then darker, then again from the start.

    Colour is never the only sign of a class: each leaf names its class as well.
    """
    round_of_eight, place = divmod(position, len(CLASS_COLORS))
    color = CLASS_COLORS[place]
    return (color, mixed(color, "#ffffff", LIGHTER), mixed(color, "#000000", DARKER))[round_of_eight % 3]


def rules_of(palette: Palette) -> dict[str, dict[str, str]]:
    """Return the SVG properties of each kind of shape in one theme."""
    return {
        "page": {"fill": palette.page},
        "card": {"fill": palette.card},
        "rim": {"stroke": palette.line, "fill": "none"},
        "ink": {"fill": palette.ink},
        "muted": {"fill": palette.muted},
        "edge": {"stroke": palette.edge, "fill": "none"},
        # The rim separates a bar of a pale class from the card.
        "track": {
            "fill": palette.ink,
            "fill-opacity": ".13",
            "stroke": RIM,
            "stroke-opacity": ".5",
            "stroke-width": ".8",
        },
        "accent": {"fill": palette.accent},
        "accent-rim": {"stroke": palette.accent, "fill": "none"},
    }


def css_of(palette: Palette, scope: str) -> str:
    """Return the rules of one theme as CSS; ``scope`` keeps them from other pictures on the same page."""
    rules = rules_of(palette).items()
    return "".join(f"#{scope} .{kind}{{{';'.join(f'{k}:{v}' for k, v in rule.items())}}}" for kind, rule in rules)


def stylesheet(theme: str, scope: str) -> str:
    """Return the CSS of a picture; theme "auto" follows the reader's setting."""
    base = f"#{scope} text{{font-family:{FONT}}}#{scope} .strong{{font-weight:600}}"
    if theme == "dark":
        return base + css_of(DARK, scope)
    if theme == "light":
        return base + css_of(LIGHT, scope)
    return f"{base}{css_of(LIGHT, scope)}@media (prefers-color-scheme: dark){{{css_of(DARK, scope)}}}"


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the estimated width of a line of text.

    Parameters
    ----------
    size : float, pixels

    Returns
    -------
    float, pixels

    Examples
    --------
    >>> text_width("iii", 10) < text_width("mmm", 10)
    True
    """
    return sum(char_advance(char) for char in text) * size / 1000 * MARGIN * (BOLD if bold else 1.0)


def char_advance(char: str) -> int:
    """Return the advance of one character in thousandths of the font size."""
    known = ADVANCES.get(char)
    if known is not None:
        return known
    if unicodedata.combining(char) or char in "\u200c\u200d\u200e" or "\ufe00" <= char <= "\ufe0f":
        return 0
    return WIDE_OTHER if unicodedata.east_asian_width(char) in "WF" else NARROW_OTHER


def fitted(text: str, size: float, room: float, *, bold: bool = False) -> str:
    """Return ``text``, cut with an ellipsis if it would be wider than ``room`` pixels.

    Examples
    --------
    >>> fitted("petal length", 10, 40)
    'petal\u2026'
    """
    # No character of some width is narrower than 222, so a longer text cannot fit: a name of 100 kB costs nothing.
    most = int(room * 1000 / (222 * size)) + 2
    if len(text) <= 4 * most and text_width(text, size, bold=bold) <= room:
        return text
    left = room - text_width(ELLIPSIS, size, bold=bold)
    kept = []
    for char in text[: 4 * most]:
        left -= text_width(char, size, bold=bold)
        if left < 0:
            break
        kept.append(char)
    return "".join(kept).rstrip() + ELLIPSIS


LIGHT = Palette("#ffffff", "#ffffff", "#1b1f24", "#505a65", "#c3cad2", "#c0c8d0", "#0072b2")
DARK = Palette("#10151b", "#1b222b", "#e8edf2", "#a3adb8", "#465261", "#4a5665", "#56b4e9")
NORMAL = Sizes(
    title=13, small=11, pad_x=12, pad_y=10, line=17, bar=7, least=112, most=250, gap=22, row_gap=58, label=11
)
COMPACT = Sizes(title=10.5, small=9, pad_x=7, pad_y=6, line=13, bar=5, least=56, most=104, gap=9, row_gap=46, label=9.5)


# --- the size of a picture

LEAST_SIDE, MOST_SIDE = 1.0, 200.0  # inches


@dataclass(frozen=True)
class Medium:
    """The room for a picture, and the size of its letters.

    Attributes
    ----------
    width, height : float, inches
        The room; a picture may leave some of it.
    text : float, points
        Labels of axes, names on cards: at most so large in a tree, exactly so large in a figure.
    least : float, points
        No letter of a tree is smaller: nodes without room are folded away.
    dpi : float
        Pixels to an inch in a PNG.
    is_exact : bool
        A figure fills all of the room. Otherwise it is as high as needed.
    """

    width: float
    height: float
    text: float
    least: float
    dpi: float
    is_exact: bool = False

    def __post_init__(self) -> None:
        """Refuse sizes that nothing can be drawn in."""
        for name in ("width", "height"):
            side = getattr(self, name)
            if not LEAST_SIDE <= side <= MOST_SIDE:
                raise ParameterError(
                    f"size has the {name} {side:g}: give {LEAST_SIDE:g} to {MOST_SIDE:g} inches (an inch is 25.4 mm)"
                )


# A slide of 13.33 x 7.5 inches less its margins and heading; the text width of a page; one of its two columns.
MEDIA = {
    "slide": Medium(12.3, 6.2, text=18.0, least=7.0, dpi=160.0),
    "paper": Medium(6.5, 8.0, text=9.0, least=5.0, dpi=300.0),
    "column": Medium(3.35, 8.0, text=8.0, least=5.0, dpi=300.0),
}


# The current medium of this thread; None outside ``sized``.
_CURRENT: ContextVar[Medium | None] = ContextVar("treewright_medium", default=None)


@contextmanager
def sized(size: str | Sequence[float]) -> Iterator[Medium]:
    """Draw trees and figures for a slide or a page: their width, and letters that can be read there.

    Parameters
    ----------
    size : {"slide", "paper", "column"}, or (float, float)
        A slide of 13.33 x 7.5 inches less its margins; the text width of a page; one of its two columns; or inches
        across and down, 1 to 200 each, with the letters of the named size next in width.

    Yields
    ------
    Medium

    Raises
    ------
    ParameterError
        There is no such name, or it is not two numbers in range.

    Notes
    -----
    It applies to the pictures that are drawn inside the ``with``, in this thread. A figure drawn into your own axes
    takes the letters and lines of the medium and keeps its size.

    Examples
    --------
    >>> with sized("column") as medium:
    ...     print(medium.width, current_medium() is medium)
    3.35 True
    """
    medium = medium_of(size)
    token = _CURRENT.set(medium)
    try:
        yield medium
    finally:
        _CURRENT.reset(token)


def current_medium() -> Medium | None:
    """Return the current medium; None outside ``sized``."""
    return _CURRENT.get()


def medium_of(size: str | Sequence[float]) -> Medium:
    """Return the medium of a size.

    Parameters
    ----------
    size : {"slide", "paper", "column"}, or (float, float)
        Two numbers are inches, 1 to 200 each; letters are then those of the named size next in width.

    Returns
    -------
    Medium

    Raises
    ------
    ParameterError
        There is no such name, or it is not two numbers in range.

    Examples
    --------
    >>> medium_of("paper").width, medium_of((3.0, 2.0)).text
    (6.5, 8.0)
    """
    if isinstance(size, str):
        if size not in MEDIA:
            raise ParameterError(
                f"size is {size!r}; choose one of {', '.join(MEDIA)}, or give (width, height) in inches"
            )
        return MEDIA[size]
    try:
        width, height = (float(side) for side in size)
    except (TypeError, ValueError):
        raise ParameterError(
            f"size is {size!r}; choose one of {', '.join(MEDIA)}, or give (width, height) in inches"
        ) from None
    # By logarithms: 8.4 inches are as far from a page as from a slide.
    near = min(MEDIA.values(), key=lambda medium: abs(math.log(medium.width / width)) if width > 0 else 0.0)
    return replace(near, width=width, height=height, is_exact=True)
