"""A tree as a picture. In: a model. Out: ``SvgPicture``, one self-contained SVG.

The picture runs nothing and loads nothing: shapes, texts and one small stylesheet. Every name from the data is escaped.
``show.media`` has its size on a slide or a page; ``show.drawing`` has its shapes.
"""

from __future__ import annotations

import hashlib
from html import escape
from typing import Literal

from treewright.exceptions import ParameterError
from treewright.show.drawing import (
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
from treewright.show.media import current_medium, medium_of
from treewright.show.pictures import SCREEN_DPI, SvgPicture
from treewright.show.style import fitted, stylesheet
from treewright.trees.arrays import unfolded
from treewright.trees.data import ModelData
from treewright.trees.summary import summarize
from treewright.trees.writing import escape_controls

__all__ = ["SvgPicture", "plot"]

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
