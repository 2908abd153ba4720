"""Colours and sizes of the drawing. In: a theme, a class position. Out: values, CSS. Caller: ``plot.svg``.

The classes take the eight colours of Okabe & Ito (Color Universal Design, 2008), chosen to be told apart by
colour-blind readers; black, which a dark page swallows, is replaced by grey.
"""

from __future__ import annotations

from dataclasses import dataclass

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
CLASS_COLORS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#f0e442", "#8a929a")
RIM = "#808080"
# How far the second and the third round of eight go towards white and towards black.
LIGHTER, DARKER = 0.5, 0.45


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


LIGHT = Palette("#ffffff", "#ffffff", "#1b1f24", "#505a65", "#c3cad2", "#c0c8d0", "#0072b2")
DARK = Palette("#10151b", "#1b222b", "#e8edf2", "#a3adb8", "#465261", "#4a5665", "#56b4e9")


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


NORMAL = Sizes(
    title=13, small=11, pad_x=12, pad_y=10, line=17, bar=7, least=112, most=250, gap=22, row_gap=58, label=11
)
COMPACT = Sizes(title=10.5, small=9, pad_x=7, pad_y=6, line=13, bar=5, least=56, most=104, gap=9, row_gap=46, label=9.5)
# From this many leaves on the cards are compact.
COMPACT_LEAVES = 17


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

    A colour never stands alone: the class is named on each leaf as well.
    """
    round_of_eight, place = divmod(position, len(CLASS_COLORS))
    color = CLASS_COLORS[place]
    return (color, mixed(color, "#ffffff", LIGHTER), mixed(color, "#000000", DARKER))[round_of_eight % 3]


def rules_of(palette: Palette, scope: str) -> str:
    """Return the colour rules of one theme; ``scope`` keeps them from other pictures on the same page."""
    return "".join(
        f"#{scope} .{name}{{{rule}}}"
        for name, rule in (
            ("page", f"fill:{palette.page}"),
            ("card", f"fill:{palette.card}"),
            ("rim", f"stroke:{palette.line};fill:none"),
            ("ink", f"fill:{palette.ink}"),
            ("muted", f"fill:{palette.muted}"),
            ("edge", f"stroke:{palette.edge};fill:none"),
            # The rim keeps a bar of a pale class apart from the card.
            ("track", f"fill:{palette.ink};fill-opacity:.13;stroke:{RIM};stroke-opacity:.5;stroke-width:.8"),
            ("accent", f"fill:{palette.accent}"),
            ("accent-rim", f"stroke:{palette.accent};fill:none"),
        )
    )


def stylesheet(theme: str, scope: str) -> str:
    """Return the CSS of a picture; theme "auto" follows the reader's setting."""
    base = f"#{scope} text{{font-family:{FONT}}}#{scope} .strong{{font-weight:600}}"
    if theme == "dark":
        return base + rules_of(DARK, scope)
    if theme == "light":
        return base + rules_of(LIGHT, scope)
    return f"{base}{rules_of(LIGHT, scope)}@media (prefers-color-scheme: dark){{{rules_of(DARK, scope)}}}"
