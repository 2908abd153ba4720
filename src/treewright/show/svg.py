"""A tree as a picture: SVG, pixels, PDF. In: a model, or its ``Drawing``. Out: a self-contained file.

matplotlib writes the PDF, of one page, with letters as text.

The picture runs nothing and loads nothing: shapes, texts and one small stylesheet. Every name from the data is escaped.
``show.style`` has its size on a slide or a page, ``show.drawing`` its shapes.

Pixels come from resvg, which is imported when a PNG is written. It is the extra ``png``: a wheel for Linux, macOS and
Windows, which needs no system library.
"""

from __future__ import annotations

import hashlib
import io
import math
import os
import re
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal

from treewright.core.files import write_whole
from treewright.exceptions import MissingLibraryError, ParameterError
from treewright.show.drawing import (
    INCH,
    MAX_NODES,
    Box,
    Curve,
    Dot,
    Drawing,
    Group,
    Paint,
    Shape,
    Text,
    default_title,
    drawn,
    fitting,
)
from treewright.show.figures.look import drawable, families, signs
from treewright.show.style import (
    DARK,
    LIGHT,
    Palette,
    char_advance,
    current_medium,
    fitted,
    medium_of,
    rules_of,
    stylesheet,
)
from treewright.trees.arrays import unfolded
from treewright.trees.data import ModelData
from treewright.trees.summary import summarize
from treewright.trees.writing import escape_controls

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["SvgPicture", "plot"]

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


SCREEN_DPI = 2 * INCH  # two pixels of a PNG to each of the picture's own: sharp on today's screens
ENDINGS = (".svg", ".png", ".pdf")
MOST_PIXELS = 100_000_000  # 400 MB while it is drawn
PAGE = re.compile(r"\.page\{fill:(#[0-9a-f]{6})\}")
INSTALL = 'pip install "treewright[png]"'


@dataclass(frozen=True)
class SvgPicture:
    """A picture of a tree; notebooks display it.

    Attributes
    ----------
    text : str
        The SVG document.
    width, height : float, pixels
        96 of them are an inch.
    dpi : float
        Pixels of a PNG per inch, by default.
    drawing : Drawing or None
        Shapes and places, for the PDF.
    theme : {"auto", "light", "dark"}
    """

    text: str
    width: float
    height: float
    dpi: float = SCREEN_DPI
    drawing: Drawing | None = field(default=None, repr=False, compare=False)
    theme: str = field(default="auto", repr=False, compare=False)

    def _repr_svg_(self) -> str:
        """Return the SVG for a notebook."""
        return self.text

    def _repr_html_(self) -> str:
        """Return the SVG for a cell of a notebook, no wider than the cell."""
        return self.text.replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)

    def png(self, *, scale: float | None = None, width: float | None = None) -> bytes:
        """Return the picture as PNG; needs the extra ``png``.

        Parameters
        ----------
        scale : float > 0, optional
            Pixels of the PNG per pixel of the picture: 2 by default, more for a picture that was drawn for paper.
        width : float >= 1, optional, pixels
            Width of the PNG, instead of ``scale``.

        Returns
        -------
        bytes

        Raises
        ------
        ParameterError
            Both were given, or one is out of range, or the PNG would have more than 100 million pixels.
        MissingLibraryError
            resvg is not installed, or the machine has no font.
        """
        if scale is not None and width is not None:
            raise ParameterError(f"scale is {scale} and width is {width}: give one of them")
        zoom = self.dpi / INCH
        if scale is not None:
            zoom = positive_number("scale", scale)
        elif width is not None:
            zoom = positive_number("width", width) / self.width
        return png_of(self.text, self.width, self.height, zoom=zoom)

    def pdf(self) -> bytes:
        """Return the picture as PDF, on a page as large as the picture; needs the extra ``plot``.

        Returns
        -------
        bytes

        Raises
        ------
        MissingLibraryError
            matplotlib is not installed.
        """
        if self.drawing is None:
            raise ParameterError("this picture was made from SVG text alone: only a picture made by plot can be a PDF")
        return pdf_of(self.drawing, DARK if self.theme == "dark" else LIGHT, self.width, self.height)

    def save(self, path: str | os.PathLike[str], *, scale: float | None = None, width: float | None = None) -> None:
        """Write the picture to a file in one step; an old file stays whole if that fails.

        Parameters
        ----------
        path : str or path-like, ending in ``.svg``, ``.png`` or ``.pdf``
        scale, width : float, optional
            As in ``png``; for ``.png`` only.

        Raises
        ------
        ParameterError
            The name has another ending, or ``scale`` or ``width`` does not fit it.
        MissingLibraryError
            The extra ``png`` (for ``.png``) or ``plot`` (for ``.pdf``) is not installed.
        InputFileError
            The file cannot be written.
        """
        name = os.fsdecode(path)
        ending = PurePath(name).suffix.lower()
        if ending not in ENDINGS:
            raise ParameterError(f"{name!r} does not end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")
        if ending != ".png" and (scale is not None or width is not None):
            raise ParameterError(f"scale= and width= are for .png; {name!r} has no pixels: draw it with size=")
        content = self.png(scale=scale, width=width) if ending == ".png" else self.content(ending)
        write_whole(path, content)

    def content(self, ending: str) -> bytes:
        """Return the content of a file by its ending: PNG for ``.png``, PDF for ``.pdf``, SVG for every other.

        Parameters
        ----------
        ending : str

        Raises
        ------
        MissingLibraryError
            As ``save``.
        """
        match ending.lower():
            case ".png":
                return self.png()
            case ".pdf":
                return self.pdf()
            case _:
                return self.text.encode("utf-8")


def check_ending(ending: str) -> None:
    """Refuse a format that cannot be written here, before anything is drawn.

    Parameters
    ----------
    ending : str
        ``.png`` and ``.pdf`` need libraries, every other ending nothing.
    """
    match ending.lower():
        case ".png":
            fonts()
        case ".pdf":
            import treewright.show.figures.picture  # noqa: F401 - raises if matplotlib is absent


def positive_number(name: str, value: float) -> float:
    """Return a parameter as a number."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{name} is {value!r}: give a number above 0") from None


def png_of(svg: str, width: float, height: float, *, zoom: float) -> bytes:
    """Return an SVG as PNG.

    Parameters
    ----------
    svg : str
        A picture of ``show.svg``. If it follows the reader's theme, the light one is drawn.
    width, height : float, pixels
        The size stated in the SVG.
    zoom : float > 0
        Pixels of the PNG per pixel of the picture.

    Notes
    -----
    Fonts are those of the machine, so another machine may draw other pixels; the same machine draws the same.
    """
    if not (math.isfinite(zoom) and zoom > 0):
        raise ParameterError(f"the picture would be {zoom} times its size: give a number above 0")
    across, down = round(width * zoom), round(height * zoom)
    if not 1 <= across * down <= MOST_PIXELS:
        raise ParameterError(
            f"the picture would have {across:,} x {down:,} pixels, and can have 1 to {MOST_PIXELS:,}: "
            "choose another scale= or width=, fold the tree with max_depth= or max_nodes=, or save it as .svg"
        )
    draw = renderer()
    plain = in_light(svg)
    # A picture may end within a pixel: the rest of the last row has the page's colour too.
    page = PAGE.search(plain)
    return bytes(draw(svg_string=plain, width=across, background=page[1] if page else None, **fonts()))


def in_light(svg: str) -> str:
    """Return a picture with the rules of the light theme only: not every renderer knows ``@media``.

    Examples
    --------
    >>> in_light("<style>#a .ink{fill:#000}@media (x){#a .ink{fill:#fff}}</style><g/>")
    '<style>#a .ink{fill:#000}</style><g/>'
    """
    # Names from the data are escaped, so the first style element is the picture's own.
    before, opening, rest = svg.partition("<style>")
    rules, closing, after = rest.partition("</style>")
    return before + opening + rules.partition("@media")[0] + closing + after


def renderer() -> Any:
    """Return resvg's function."""
    try:
        from resvg_py import svg_to_bytes
    except ModuleNotFoundError as error:
        if error.name != "resvg_py":
            raise
        raise MissingLibraryError(
            f"a PNG of a tree needs resvg, which is not installed: {INSTALL}, or save the picture as .svg",
            name="resvg_py",
        ) from error
    return svg_to_bytes


@cache
def fonts() -> dict[str, Any]:
    """Return where resvg finds fonts: those of the machine, or else the one that comes with matplotlib.

    A small server may have no font at all, and resvg would leave out every text without an error.
    """
    if writes({}):
        return {}
    from importlib.util import find_spec

    found = find_spec("matplotlib")
    for folder in (found.submodule_search_locations or []) if found is not None else []:
        options = {"font_dirs": [str(Path(folder, "mpl-data", "fonts", "ttf"))], "sans_serif_family": "DejaVu Sans"}
        if writes(options):
            return options
    raise MissingLibraryError(
        "a PNG of a tree needs a font, and this machine has none: install one (such as fonts-dejavu), "
        'or pip install "treewright[plot]", which includes one, or save the picture as .svg'
    )


def writes(options: dict[str, Any]) -> bool:
    """Return whether a text is visible with these fonts."""
    frame = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{}</svg>'
    text = '<text y="8" font-size="9" font-family="sans-serif">x</text>'
    draw = renderer()
    return bytes(draw(svg_string=frame.format(text), **options)) != bytes(draw(svg_string=frame.format("<g/>")))


# --- a tree as an SVG

THEMES = ("auto", "light", "dark")
SCOPE = "SCOPE-OF-THIS-PICTURE"


def plot(
    model: ModelData,
    *,
    max_depth: int | None = None,
    max_nodes: int | None = MAX_NODES,
    title: str | None = None,
    theme: Literal["auto", "light", "dark"] = "auto",
    size: Literal["slide", "paper", "column"] | tuple[float, float] | None = None,
    tree: int = 0,
) -> SvgPicture:
    """Draw a tree.

    Parameters
    ----------
    model : ModelData
    max_depth : int >= 0, optional
        Fold away deeper nodes.
    max_nodes : int >= 1, optional
        Draw at most this many nodes, those with the most rows first; a card shows the number of nodes folded below it.
    title : str, optional
        The heading; by default the name of the target.
    theme : {"auto", "light", "dark"}
        ``"auto"`` follows the reader's setting; a PNG or a PDF of it is light.
    size : {"slide", "paper", "column"} or (float, float), optional
        The room for the picture: a slide, the width of a page, one of its two columns, or inches across and down. The
        tree is drawn as large as there is room, with letters no larger than is usual there; if letters would be too
        small to read, the nodes with the fewest rows are folded away. By default the size of
        ``treewright.plot.sized``; outside it, a tree has the room that it needs.
    tree : int
        Which of the model's trees.

    Returns
    -------
    SvgPicture

    Raises
    ------
    ParameterError
        A parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from treewright.data.schema import Column, Schema
    >>> from treewright.trees.arrays import Tree
    >>> from treewright.trees.data import ModelData
    >>> ints = lambda *v: np.array(v, np.int32)
    >>> leaf = Tree(np.zeros(1, np.uint8), ints(-1), np.zeros(1), ints(-1), ints(0), ints(0), ints(-1), np.array([4]),
    ...             np.array([4.0]), np.array([1.2]), np.array([[7.0]]), np.zeros(0, np.uint64), np.zeros(0, np.uint64))
    >>> picture = plot(ModelData("regression", Schema((Column("age", "numeric"),)), (leaf,)))
    >>> picture.text[:4], "4 rows" in picture.text
    ('<svg', True)
    """
    if theme not in THEMES:
        raise ParameterError(f"theme is {theme!r}; choose one of {', '.join(THEMES)}")
    medium = current_medium() if size is None else medium_of(size)
    summary = summarize(model, tree)
    heading = escape_controls(title) if title is not None else default_title(summary)
    shown = unfolded(summary.tree, max_depth=max_depth, max_nodes=max_nodes)
    if medium is None:
        return pictured(drawn(summary, shown, heading), theme)
    drawing = fitting(summary, shown, heading, medium, max_depth)
    return pictured(drawing, theme, scale=drawing.scale_in(medium), dpi=medium.dpi)


def pictured(drawing: Drawing, theme: str, *, scale: float = 1.0, dpi: float = SCREEN_DPI) -> SvgPicture:
    """Return a drawing as an SVG document."""
    across, down = drawing.width, drawing.height
    width, height = round(across * scale, 1), round(down * scale, 1)
    page, *parts = map(written, drawing.parts)
    text = "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" id="{SCOPE}" viewBox="0 0 {across:g} {down:g}" '
            f'width="{width:g}" height="{height:g}" role="img" aria-labelledby="{SCOPE}-t {SCOPE}-d">',
            f'<title id="{SCOPE}-t">{escape(fitted(drawing.heading, 1, 1000))}</title>',
            f'<desc id="{SCOPE}-d">{escape(drawing.described)}</desc>',
            f"<style>{stylesheet(theme, SCOPE)}</style>",
            page,
            *parts,
            "</svg>",
            "",
        ]
    )
    # Rules of an inline SVG reach the whole page, so they are bound to a name that belongs to this picture alone.
    scope = "tw-" + hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]
    return SvgPicture(text.replace(SCOPE, scope), width, height, dpi, drawing, theme)


def written(part: Shape | Group) -> str:
    """Return a shape, or a group of shapes, as an element."""
    match part:
        case Group(kind="edges"):
            return "\n".join(['<g class="edges">', *map(written, part.shapes), "</g>"])
        case Group():
            title = f"<title>{escape(part.tooltip)}</title>"
            return f'<g class="{part.kind}">{title}{"".join(map(written, part.shapes))}</g>'
        case Box():
            places = {"x": part.x or "", "y": part.y or "", "width": part.width, "height": part.height}
            places |= {"rx": part.radius or ""}
            return element("rect", part.kind, places, part.paint)
        case Dot():
            return element("circle", part.kind, {"cx": part.x, "cy": part.y, "r": part.radius})
        case Curve():
            start, *others = (f"{number(x)} {number(y)}" for x, y in part.points)
            return element("path", part.kind, {"d": f"M{start}C{' '.join(others)}"}, part.paint)
        case Text():
            places = {"x": part.x, "y": part.y, "font-size": part.size, "text-anchor": "middle" if part.centred else ""}
            return element("text", part.kind, places, text=part.text)


def element(name: str, kind: str, places: Paint, paint: Paint | None = None, text: str | None = None) -> str:
    """Return an element with its attributes, without the empty ones."""
    attributes = {"class": kind, **places, **(paint or {})}
    opening = name + "".join(
        f' {key}="{value if isinstance(value, str) else number(value)}"'
        for key, value in attributes.items()
        if value != ""
    )
    return f"<{opening}/>" if text is None else f"<{opening}>{escape(text)}</{name}>"


def number(value: float) -> str:
    """Return a number of pixels, or a share, with at most two decimals.

    Examples
    --------
    >>> number(24.0), number(0.25), number(100.5)
    ('24', '0.25', '100.5')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")
