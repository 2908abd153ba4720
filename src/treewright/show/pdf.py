"""The drawing of a tree as PDF. In: ``Drawing``, a palette. Out: the bytes of a PDF of one page.

matplotlib writes it, with letters as text.
"""

from __future__ import annotations

import io
from functools import cache
from typing import TYPE_CHECKING, Any

from treewright.show.drawing import INCH, Box, Curve, Dot, Drawing, Paint, Text
from treewright.show.figures.look import drawable, families, signs
from treewright.show.style import Palette, char_advance, rules_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# As narrow as the widths that cards are measured with; matplotlib's own font, the last resort, is the widest.
FONTS = ("Helvetica Neue", "Arial", "Liberation Sans", "Helvetica")
BOX = "\N{WHITE SQUARE}"
PIXELS_TO_POINTS = 72.0 / INCH


def pdf_of(drawing: Drawing, palette: Palette, width: float, height: float) -> bytes:
    """Return a drawing as PDF on a page of ``width`` x ``height`` pixels; the same drawing gives the same bytes."""
    from treewright.show.figures.picture import Picture

    figure = Picture(figsize=(width / INCH, height / INCH), facecolor=palette.page)
    ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set_xlim(0.0, drawing.width)
    ax.set_ylim(drawing.height, 0.0)
    ax.set_axis_off()
    page = Page(ax, palette, width / drawing.width * PIXELS_TO_POINTS)
    for order, shape in enumerate(drawing.shapes()):
        match shape:
            case Box():
                page.add_box(shape, order)
            case Dot():
                page.add_dot(shape, order)
            case Curve():
                page.add_curve(shape, order)
            case Text():
                page.add_text(shape, order)
    held = io.BytesIO()
    figure.savefig(held, format="pdf")
    return held.getvalue()


class Page:
    """Axes that shapes are drawn into; a pixel of the drawing is ``points`` points. Higher orders lie on top."""

    def __init__(self, ax: Axes, palette: Palette, points: float) -> None:
        self.ax = ax
        self.rules = rules_of(palette)
        self.points = points
        self.families, self.signs = fonts_for_letters()

    def paint(self, kind: str, own: Paint) -> dict[str, Any]:
        """Return the properties of a shape: those of its kind, overridden by its own."""
        paint: dict[str, Any] = {}
        for name in kind.split():
            paint.update(self.rules.get(name, {}))
        return {**paint, **own}

    def style(self, paint: Paint, order: int) -> dict[str, Any]:
        """Return the arguments of a patch."""
        from matplotlib.colors import to_rgba

        fill, stroke = str(paint.get("fill", "none")), str(paint.get("stroke", "none"))
        dashes = [float(part) for part in str(paint.get("stroke-dasharray", "")).split()]
        width = float(paint.get("stroke-width", 1)) * self.points if stroke != "none" else 0.0
        # matplotlib counts dashes in widths of the line.
        pattern = (0, [part * self.points / width for part in dashes]) if dashes and width else "-"
        return {
            "facecolor": "none" if fill == "none" else to_rgba(fill, float(paint.get("fill-opacity", 1))),
            "edgecolor": "none" if stroke == "none" else to_rgba(stroke, float(paint.get("stroke-opacity", 1))),
            "linewidth": width,
            "linestyle": pattern,
            "zorder": order,
            "clip_on": False,
        }

    def add_box(self, box: Box, order: int) -> None:
        """Draw a rectangle, with round corners if it has a radius."""
        from matplotlib.patches import FancyBboxPatch

        radius = min(box.radius, box.width / 2, box.height / 2)
        kind = f"round,pad=0,rounding_size={radius}" if radius else "square,pad=0"
        paint = self.paint(box.kind, box.paint)
        # The rim is separate from a translucent fill: in one patch it would be translucent as well.
        parts = [paint | {"stroke": "none"}, paint | {"fill": "none"}] if "stroke" in paint else [paint]
        for part in parts:
            style = self.style(part, order)
            self.ax.add_patch(FancyBboxPatch((box.x, box.y), box.width, box.height, boxstyle=kind, **style))

    def add_dot(self, dot: Dot, order: int) -> None:
        """Draw a dot."""
        from matplotlib.patches import Circle

        self.ax.add_patch(Circle((dot.x, dot.y), dot.radius, **self.style(self.paint(dot.kind, {}), order)))

    def add_curve(self, curve: Curve, order: int) -> None:
        """Draw an edge."""
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        path = Path(list(curve.points), [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
        style = self.style(self.paint(curve.kind, curve.paint), order)
        self.ax.add_patch(PathPatch(path, capstyle="butt", **style))

    def add_text(self, line: Text, order: int) -> None:
        """Write a line."""
        text = lasting(line.text)
        # A fallback font for a sign of another script may have no bold face.
        is_plain = all(ord(char) in self.signs for char in text)
        self.ax.text(
            line.x, line.y, text, color=self.paint(line.kind, {}).get("fill", "black"), zorder=order, va="baseline",
            ha="center" if line.centred else "left", clip_on=False, fontsize=line.size * self.points,
            fontweight="bold" if is_plain and line.is_strong else "normal",
            fontfamily=self.families[:1] if is_plain else self.families,
        )  # fmt: skip


def lasting(text: str) -> str:
    """Return a text with a box for each sign that no font here has, as in a browser.

    An escape, as figures write it, would be wider than its card.
    """
    known = signs()
    kept = [char if ord(char) in known else BOX for char in text if char_advance(char)]
    return drawable("".join(kept))


@cache
def fonts_for_letters() -> tuple[list[str], frozenset[int]]:
    """Return the fonts of texts (the first that has a sign writes it), and the signs of the first font."""
    from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font

    held = {font.name for font in fontManager.ttflist}
    names = [*(name for name in FONTS if name in held), *families()]
    return names, frozenset(get_font(findfont(FontProperties(family=names[0]))).get_charmap())
