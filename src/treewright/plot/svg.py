"""A tree as a picture. In: a model. Out: ``SvgPicture``, one self-contained SVG. Caller: ``Model.plot``.

The picture runs nothing and loads nothing: shapes, texts and one small stylesheet. Every name from the data is escaped.
How large it is on a slide or a page is ``plot.media``.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from html import escape
from typing import Literal

from treewright.exceptions import ParameterError
from treewright.model.data import ModelData
from treewright.model.summary import TreeSummary, summarize
from treewright.plot.cards import Card, cards_of
from treewright.plot.heading import MARGIN, Head, default_title, head_of
from treewright.plot.layout import tidy
from treewright.plot.measure import fitted
from treewright.plot.media import Medium, current_medium, medium_of
from treewright.plot.pictures import SCREEN_DPI, SvgPicture
from treewright.plot.style import COMPACT, COMPACT_LEAVES, NORMAL, Sizes, class_color, stylesheet
from treewright.tree.walk import children, unfolded
from treewright.tree.writing import escape_controls

__all__ = ["SvgPicture", "plot"]

MAX_NODES = 151
THEMES = ("auto", "light", "dark")
LEAST_WIDTH = 360.0
SCOPE = "SCOPE-OF-THIS-PICTURE"
INCH = 96.0  # pixels, as CSS has it
POINT = INCH / 72.0


@dataclass(frozen=True)
class Drawing:
    """A tree as drawn, in the pixels of its own coordinates; how large they become is another matter.

    Attributes
    ----------
    parts : list of str
        Elements of SVG.
    width, height : float
    sizes : Sizes
    described : str
        What the picture shows, in a sentence.
    heading : str
    """

    parts: list[str]
    width: float
    height: float
    sizes: Sizes
    described: str
    heading: str

    def scale_in(self, medium: Medium) -> float:
        """Return how much larger it can be drawn: as large as it has room, its letters no larger than is usual."""
        room = min(medium.width / self.width, medium.height / self.height) * INCH
        return min(room, medium.text * POINT / self.sizes.title)

    def is_legible(self, medium: Medium) -> bool:
        """Return whether its smallest letters are large enough there."""
        # A hair less: a picture that is as wide as its room by construction fits.
        return self.scale_in(medium) * min(self.sizes.small, self.sizes.label) >= medium.least * POINT * (1 - 1e-9)


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
        Fold away what is deeper.
    max_nodes : int >= 1, optional
        Draw at most this many nodes, those with the most rows first; what is folded away is counted on its card.
    title : str, optional
        The heading; by default the name of the target.
    theme : {"auto", "light", "dark"}
        ``"auto"`` follows the setting of whoever looks; a PNG or a PDF of it is light.
    size : {"slide", "paper", "column"} or (float, float), optional
        The room for the picture: a slide, the width of a page, one of its two columns, or inches across and down. The
        tree is drawn as large as it has room, its letters no larger than is usual there; of a tree whose letters would
        be too small to read, the nodes with the fewest rows are folded away. By default what ``treewright.plot.sized``
        says; outside it, a tree has what room it needs.
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
    >>> from treewright.tree.arrays import Tree
    >>> from treewright.model.data import ModelData
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


def fitting(
    summary: TreeSummary, shown: frozenset[int], heading: str, medium: Medium, max_depth: int | None
) -> Drawing:
    """Return the tree, or the most of it that can be read in a medium.

    Parameters
    ----------
    summary : TreeSummary
    shown : frozenset of int
        The inner nodes that are open at most.
    heading : str
    medium : Medium
    max_depth : int or None
    """
    drawing = drawn(summary, shown, heading)
    if drawing.is_legible(medium):
        return drawing
    # From many to few, one by one: a smaller tree is not always a lower one, as its heading may have no room beside it.
    tried = {shown}
    for most in range(min(MAX_NODES, 1 + sum(len(children(summary.tree, node)) for node in shown)), 1, -1):
        fewer = unfolded(summary.tree, max_depth=max_depth, max_nodes=most)
        if fewer in tried:
            continue
        tried.add(fewer)
        drawing = drawn(summary, fewer, heading)
        if drawing.is_legible(medium):
            return drawing
    # One card is drawn even where it is too small to read.
    return drawn(summary, frozenset(), heading)


def drawn(summary: TreeSummary, shown: frozenset[int], heading: str) -> Drawing:
    """Return the open nodes and what is under them as cards, below a heading and a legend."""
    n_ends = 1 + sum(len(children(summary.tree, node)) - 1 for node in shown)
    compact = n_ends >= COMPACT_LEAVES
    sizes = COMPACT if compact else NORMAL
    cards = cards_of(summary, shown, sizes, compact=compact)
    middles = tidy([card.below for card in cards], [card.slot for card in cards], gap=sizes.gap)
    tree_width = max(x + card.slot / 2 for x, card in zip(middles, cards, strict=True))
    inner = max(tree_width, LEAST_WIDTH)
    offset = MARGIN + (inner - tree_width) / 2
    middles = [x + offset for x in middles]
    head = head_of(summary, heading, inner)
    tops = tops_of(cards, sizes, top_of(head, cards[0], middles[0]))
    edges, nodes = [], []
    for position, card in enumerate(cards):
        for child in card.below:
            bottom = tops[position] + card.height
            edges.append(edge_of((middles[position], bottom), (middles[child], tops[child]), cards[child], sizes))
        nodes.append(node_of(card, middles[position], tops[position], sizes))
    width = round(inner + 2 * MARGIN, 1)
    height = round(max(y + card.height for y, card in zip(tops, cards, strict=True)) + MARGIN, 1)
    parts = [*head.parts, '<g class="edges">', *edges, "</g>", *nodes]
    return Drawing(parts, width, height, sizes, f"{summary.headline()}.", heading)


def pictured(drawing: Drawing, theme: str, *, scale: float = 1.0, dpi: float = SCREEN_DPI) -> SvgPicture:
    """Return a drawing as a document of its own."""
    across, down = drawing.width, drawing.height
    width, height = round(across * scale, 1), round(down * scale, 1)
    text = "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" id="{SCOPE}" viewBox="0 0 {across:g} {down:g}" '
            f'width="{width:g}" height="{height:g}" role="img" aria-labelledby="{SCOPE}-t {SCOPE}-d">',
            f'<title id="{SCOPE}-t">{escape(fitted(drawing.heading, 1, 1000))}</title>',
            f'<desc id="{SCOPE}-d">{escape(drawing.described)}</desc>',
            f"<style>{stylesheet(theme, SCOPE)}</style>",
            f'<rect class="page" width="{across:g}" height="{down:g}"/>',
            *drawing.parts,
            "</svg>",
            "",
        ]
    )
    # Rules of an inline SVG reach the whole page, so they are bound to a name that belongs to this picture alone.
    scope = "tw-" + hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]
    return SvgPicture(text.replace(SCOPE, scope), width, height, dpi)


def tops_of(cards: list[Card], sizes: Sizes, top: float) -> list[float]:
    """Return the y of each card's upper edge; cards of one depth stand in one row."""
    depths = [0] * len(cards)
    for position, card in enumerate(cards):
        for child in card.below:
            depths[child] = depths[position] + 1
    heights = [0.0] * (max(depths) + 1)
    lines = [1] * len(heights)
    for depth, card in zip(depths, cards, strict=True):
        heights[depth] = max(heights[depth], card.height)
        lines[depth] = max(lines[depth], len(card.answer))
    rows = [top]
    for height, below in zip(heights[:-1], lines[1:], strict=True):
        rows.append(rows[-1] + height + sizes.row_gap + (below - 1) * answer_line(sizes))
    return [rows[depth] for depth in depths]


def answer_line(sizes: Sizes) -> float:
    """Return the height of a line of an answer."""
    return sizes.label + 2


def top_of(head: Head, root: Card, middle: float) -> float:
    """Return the y where the tree begins: beside the head where there is room to its right, else below."""
    if root.below and middle - root.width / 2 >= head.right + MARGIN:
        # Edges begin under the root, so nothing else can reach the head.
        return max(MARGIN, head.bottom - root.height)
    return head.bottom + 18


def edge_of(start: tuple[float, float], end: tuple[float, float], card: Card, sizes: Sizes) -> str:
    """Return the curve towards a card and, between the two, the answer that leads there."""
    (x, bottom), (to_x, to_y) = start, end
    line = answer_line(sizes)
    label_top = to_y - 7 - len(card.answer) * line
    bend = (bottom + label_top) / 2
    thickness = 1.2 + 4.8 * math.sqrt(card.thickness) * sizes.title / NORMAL.title
    dashes = ' stroke-dasharray="3 3"' if card.role == "empty" else ""
    path = f"M{x:.1f} {bottom:.1f}C{x:.1f} {bend:.1f} {to_x:.1f} {bend:.1f} {to_x:.1f} {label_top:.1f}"
    path = f'<path class="edge" d="{path}" stroke-width="{thickness:.1f}"{dashes}/>'
    for place, text in enumerate(reversed(card.answer)):
        path += (
            f'<text class="ink" x="{to_x:.1f}" y="{to_y - 7 - place * line:.1f}" font-size="{sizes.label:g}" '
            f'text-anchor="middle">{escape(text)}</text>'
        )
    return path


def node_of(card: Card, x: float, y: float, sizes: Sizes) -> str:
    """Return a card with its texts, its bars and its tooltip."""
    left = x - card.width / 2
    box = f'x="{left:.1f}" y="{y:.1f}" width="{card.width:g}" height="{card.height:g}" rx="{sizes.pad_y * 0.7:g}"'
    parts = [f'<g class="node"><title>{escape(card.tooltip)}</title>', f'<rect class="card" {box}/>']
    color = class_color(card.color) if card.color is not None else ""
    if card.role == "leaf" and color:
        parts.append(f'<rect {box} fill="{color}" fill-opacity="0.16" stroke="{color}" stroke-width="1.4"/>')
    elif card.role == "leaf":
        tint = 0.05 + 0.27 * (card.place or 0.0)
        parts.append(f'<rect class="accent" {box} fill-opacity="{tint:.2f}"/>')
        parts.append(f'<rect class="accent-rim" {box} stroke-width="1.4"/>')
    elif card.role in ("folded", "empty"):
        parts.append(f'<rect class="rim" {box} stroke-width="1.2" stroke-dasharray="4 3"/>')
    else:
        parts.append(f'<rect class="rim" {box} stroke-width="1.2"/>')
    text_x = left + sizes.pad_x
    line = y + sizes.pad_y + sizes.title * 0.85
    title_x = text_x
    if card.role != "test" and color:
        side = sizes.title * 0.7
        parts.append(
            f'<rect x="{text_x:.1f}" y="{line - side:.1f}" width="{side:.1f}" height="{side:.1f}" rx="2" '
            f'fill="{color}"/>'
        )
        title_x += sizes.title
    parts.append(
        f'<text class="ink strong" x="{title_x:.1f}" y="{line:.1f}" font-size="{sizes.title:g}">'
        f"{escape(card.title)}</text>"
    )
    for note in card.notes:
        line += sizes.line
        parts.append(
            f'<text class="muted" x="{text_x:.1f}" y="{line:.1f}" font-size="{sizes.small:g}">{escape(note)}</text>'
        )
    bar_y = y + sizes.pad_y + sizes.line * (1 + len(card.notes)) + 2
    room = card.width - 2 * sizes.pad_x
    parts.extend(bars_of(card, text_x, bar_y, room, sizes))
    parts.append("</g>")
    return "".join(parts)


def bars_of(card: Card, x: float, y: float, room: float, sizes: Sizes) -> list[str]:
    """Return the bar of class shares per output, or the track with the dot of a value."""
    if card.place is not None:
        middle = y + sizes.bar / 2
        dot = x + sizes.bar / 2 + card.place * (room - sizes.bar)
        return [
            f'<rect class="track" x="{x:.1f}" y="{middle - 1.5:.1f}" width="{room:.1f}" height="3" rx="1.5"/>'
            f'<circle cx="{dot:.1f}" cy="{middle:.1f}" r="{sizes.bar / 2 + 0.5:g}" class="accent"/>'
        ]
    parts = []
    for shares in card.shares:
        parts.append(f'<rect class="track" x="{x:.1f}" y="{y:.1f}" width="{room:.1f}" height="{sizes.bar:g}"/>')
        at = x
        for code, share in shares:
            parts.append(
                f'<rect x="{at:.2f}" y="{y:.1f}" width="{share * room:.2f}" height="{sizes.bar:g}" '
                f'fill="{class_color(code)}"/>'
            )
            at += share * room
        y += sizes.bar + 3
    return parts
