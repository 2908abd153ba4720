"""The picture of a tree as PDF. In: its SVG. Out: the bytes of a PDF. Caller: ``plot.pictures``.

It knows the few elements that ``plot.svg`` writes, not SVG at large, and hands them to matplotlib, which sets
the letters as text.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET  # of our own text alone: no entity, no file, no address

from treewright.plot.figures.look import drawable, families, signs
from treewright.plot.measure import char_advance
from treewright.plot.raster import in_light

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SVG = "{http://www.w3.org/2000/svg}"
RULE = re.compile(r"\.([\w-]+)\{([^{}]*)\}")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
# Narrow as the widths that cards are measured with; matplotlib's own font, the last resort, is the widest of them.
FONTS = ("Helvetica Neue", "Arial", "Liberation Sans", "Helvetica")
BOX = "\N{WHITE SQUARE}"
PIXELS_TO_POINTS = 72.0 / 96.0


def pdf_of(svg: str, width: float, height: float) -> bytes:
    """Return a picture of ``plot.svg`` as PDF of one page.

    Parameters
    ----------
    svg : str
    width, height : float, pixels
        96 of them are an inch of the page.

    Returns
    -------
    bytes
        The same picture gives the same bytes.

    Raises
    ------
    MissingLibraryError
        matplotlib is not installed.
    """
    from treewright.plot.figures.picture import Picture

    root = ET.fromstring(in_light(svg))  # noqa: S314 - see the import
    across, down = (float(part) for part in root.get("viewBox", "").split()[2:])
    rules = rules_in(root.findtext(f"{SVG}style") or "")
    figure = Picture(figsize=(width / 96.0, height / 96.0), facecolor=rules["page"]["fill"])
    ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set_xlim(0.0, across)
    ax.set_ylim(down, 0.0)
    ax.set_axis_off()
    page = Page(ax, rules, width / across * PIXELS_TO_POINTS)
    for order, element in enumerate(root.iter()):
        page.draw(element, order)
    held = io.BytesIO()
    figure.savefig(held, format="pdf")
    return held.getvalue()


def rules_in(style: str) -> dict[str, dict[str, str]]:
    """Return the properties of each class.

    Examples
    --------
    >>> rules_in("#a .track{fill:#1b1f24;fill-opacity:.13}")
    {'track': {'fill': '#1b1f24', 'fill-opacity': '.13'}}
    """
    return {
        name: dict(part.split(":", 1) for part in body.split(";") if ":" in part) for name, body in RULE.findall(style)
    }


class Page:
    """Axes that elements are drawn into.

    Parameters
    ----------
    ax : Axes
    rules : dict of class to properties
    points : float
        Points to a pixel of the picture's coordinates.
    """

    def __init__(self, ax: Axes, rules: Mapping[str, Mapping[str, str]], points: float) -> None:
        self.ax = ax
        self.rules = rules
        self.points = points
        self.families, self.signs = fonts_for_letters()

    def draw(self, element: ET.Element, order: int) -> None:
        """Draw an element; later ones lie on top. What is no shape and no text is passed over."""
        said = dict(element.attrib)
        for name in said.get("class", "").split():
            said = {**self.rules.get(name, {}), **said}
        match element.tag.removeprefix(SVG):
            case "rect":
                self.add_box(said, order)
            case "circle":
                self.add_circle(said, order)
            case "path":
                self.add_curve(said, order)
            case "text":
                self.add_text(said, element.text or "", order)

    def style(self, said: Mapping[str, str], order: int) -> dict[str, Any]:
        """Return the arguments of a patch."""
        from matplotlib.colors import to_rgba

        fill, stroke = said.get("fill", "none"), said.get("stroke", "none")
        dashes = [float(part) for part in said.get("stroke-dasharray", "").split()]
        width = float(said.get("stroke-width", 1)) * self.points if stroke != "none" else 0.0
        # matplotlib counts dashes in widths of the line.
        pattern = (0, [part * self.points / width for part in dashes]) if dashes and width else "-"
        return {
            "facecolor": "none" if fill == "none" else to_rgba(fill, float(said.get("fill-opacity", 1))),
            "edgecolor": "none" if stroke == "none" else to_rgba(stroke, float(said.get("stroke-opacity", 1))),
            "linewidth": width,
            "linestyle": pattern,
            "zorder": order,
            "clip_on": False,
        }

    def add_box(self, said: dict[str, str], order: int) -> None:
        """Draw a rectangle, its corners round where it says so."""
        from matplotlib.patches import FancyBboxPatch

        corner = (float(said.get("x", 0)), float(said.get("y", 0)))
        width, height, radius = (float(said.get(name, 0)) for name in ("width", "height", "rx"))
        kind = f"round,pad=0,rounding_size={min(radius, width / 2, height / 2)}" if radius else "square,pad=0"
        # The rim apart from a fill that the page shines through: in one patch it would shine through the rim as well.
        parts = [said | {"stroke": "none"}, said | {"fill": "none"}] if "stroke" in said else [said]
        for part in parts:
            self.ax.add_patch(FancyBboxPatch(corner, width, height, boxstyle=kind, **self.style(part, order)))

    def add_circle(self, said: Mapping[str, str], order: int) -> None:
        """Draw a dot."""
        from matplotlib.patches import Circle

        middle, radius = (float(said["cx"]), float(said["cy"])), float(said["r"])
        self.ax.add_patch(Circle(middle, radius, **self.style(said, order)))

    def add_curve(self, said: Mapping[str, str], order: int) -> None:
        """Draw an edge, ``M x y C`` and three points."""
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        places = [float(part) for part in NUMBER.findall(said["d"])]
        path = Path(
            list(zip(places[::2], places[1::2], strict=True)), [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
        )
        self.ax.add_patch(PathPatch(path, capstyle="butt", **self.style(said, order)))

    def add_text(self, said: Mapping[str, str], text: str, order: int) -> None:
        """Write a line."""
        text = lasting(text)
        # A font that comes in for a sign of another script may have no bold face.
        is_plain = all(ord(char) in self.signs for char in text)
        is_bold = is_plain and "strong" in said.get("class", "").split()
        self.ax.text(
            float(said["x"]), float(said["y"]), text, color=said.get("fill", "black"), zorder=order, va="baseline",
            ha="center" if said.get("text-anchor") == "middle" else "left", clip_on=False,
            fontsize=float(said["font-size"]) * self.points, fontweight="bold" if is_bold else "normal",
            fontfamily=self.families[:1] if is_plain else self.families,
        )  # fmt: skip


def lasting(text: str) -> str:
    """Return a text without the signs that no font here has: a box stands for each, as it would in a browser.

    An escape, as figures write it, would be wider than its card.
    """
    known = signs()
    kept = [char if ord(char) in known else BOX for char in text if char_advance(char)]
    return drawable("".join(kept))


@cache
def fonts_for_letters() -> tuple[list[str], frozenset[int]]:
    """Return the fonts that texts are written with, the first that has a sign writes it, and the signs of the first."""
    from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font

    held = {font.name for font in fontManager.ttflist}
    names = [*(name for name in FONTS if name in held), *families()]
    return names, frozenset(get_font(findfont(FontProperties(family=names[0]))).get_charmap())
