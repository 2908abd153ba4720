"""A tree as a picture. In: a model. Out: ``SvgPicture``, one self-contained SVG. Caller: ``Model.plot``.

The picture runs nothing and loads nothing: shapes, texts and one small stylesheet. Every name from the data is escaped.
"""

from __future__ import annotations

import hashlib
import math
import os
from dataclasses import dataclass
from html import escape
from pathlib import PurePath
from typing import Literal

import numpy as np

from treewright.core.files import write_whole
from treewright.exceptions import ParameterError
from treewright.plot.cards import Card, cards_of
from treewright.plot.layout import tidy
from treewright.plot.measure import fitted, text_width
from treewright.plot.style import COMPACT, COMPACT_LEAVES, NORMAL, Sizes, class_color, stylesheet
from treewright.tree.model import ModelData
from treewright.tree.summary import Output, TreeSummary, counted, summarize
from treewright.tree.walk import children, unfolded
from treewright.tree.words import escape_controls, written_amount

MAX_NODES = 151
THEMES = ("auto", "light", "dark")
MARGIN = 24.0
LEAST_WIDTH = 360.0
HEAD_SIZE, SMALL = 16.0, 12.0
LEGEND_CLASSES, LEGEND_NAME = 12, 160.0
DOT = " \u00b7 "
MISSING_WORDS = {
    "branch": "a branch of their own",
    "surrogate": "by surrogate tests",
    "fractional": "divided among the branches",
}
SCOPE = "SCOPE-OF-THIS-PICTURE"


@dataclass(frozen=True)
class SvgPicture:
    """A picture; a notebook shows it by itself.

    Attributes
    ----------
    text : str
        The SVG document.
    width, height : float, pixels
    """

    text: str
    width: float
    height: float

    def _repr_svg_(self) -> str:
        """Return the SVG for a notebook."""
        return self.text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file in one step; an old file stays whole if that fails.

        Parameters
        ----------
        path : str or path-like, ending in ``.svg``

        Raises
        ------
        ParameterError
            The name does not end in ``.svg``.
        InputFileError
            The file cannot be written.
        """
        if PurePath(os.fsdecode(path)).suffix.lower() != ".svg":
            raise ParameterError(f"{os.fsdecode(path)!r} does not end in .svg, the only format of this picture")
        write_whole(path, self.text.encode("utf-8"))


def plot(
    model: ModelData,
    *,
    max_depth: int | None = None,
    max_nodes: int | None = MAX_NODES,
    title: str | None = None,
    theme: Literal["auto", "light", "dark"] = "auto",
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
        ``"auto"`` follows the setting of whoever looks.
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
    >>> from treewright.tree.model import ModelData
    >>> ints = lambda *v: np.array(v, np.int32)
    >>> leaf = Tree(np.zeros(1, np.uint8), ints(-1), np.zeros(1), ints(-1), ints(0), ints(0), ints(-1), np.array([4]),
    ...             np.array([4.0]), np.array([1.2]), np.array([[7.0]]), np.zeros(0, np.uint64), np.zeros(0, np.uint64))
    >>> picture = plot(ModelData("regression", Schema((Column("age", "numeric"),)), (leaf,)))
    >>> picture.text[:4], "4 rows" in picture.text
    ('<svg', True)
    """
    if theme not in THEMES:
        raise ParameterError(f"theme is {theme!r}; choose one of {', '.join(THEMES)}")
    summary = summarize(model, tree)
    shown = unfolded(summary.tree, max_depth=max_depth, max_nodes=max_nodes)
    n_ends = 1 + sum(len(children(summary.tree, node)) - 1 for node in shown)
    compact = n_ends >= COMPACT_LEAVES
    sizes = COMPACT if compact else NORMAL
    cards = cards_of(summary, shown, sizes, compact=compact)
    heading = escape_controls(title) if title is not None else default_title(summary)
    return drawn(summary, cards, heading, sizes, theme)


def default_title(summary: TreeSummary) -> str:
    """Return the name of the target, or the task where it has none."""
    names = ", ".join(output.name for output in summary.outputs if output.name)
    return names or f"{summary.model.task.capitalize()} tree"


def drawn(summary: TreeSummary, cards: list[Card], heading: str, sizes: Sizes, theme: str) -> SvgPicture:
    """Return the picture of the cards under a heading and a legend."""
    middles = tidy([card.below for card in cards], [card.slot for card in cards], gap=sizes.gap)
    tree_width = max(x + card.slot / 2 for x, card in zip(middles, cards, strict=True))
    inner = max(tree_width, LEAST_WIDTH)
    head, top = head_of(summary, heading, inner)
    offset = MARGIN + (inner - tree_width) / 2
    middles = [x + offset for x in middles]
    tops = tops_of(cards, sizes, top)
    edges, nodes = [], []
    for position, card in enumerate(cards):
        for child in card.below:
            bottom = tops[position] + card.height
            edges.append(edge_of((middles[position], bottom), (middles[child], tops[child]), cards[child], sizes))
        nodes.append(node_of(card, middles[position], tops[position], sizes))
    width = round(inner + 2 * MARGIN, 1)
    height = round(max(y + card.height for y, card in zip(tops, cards, strict=True)) + MARGIN, 1)
    body = "\n".join([*head, '<g class="edges">', *edges, "</g>", *nodes])
    described = f"{summary.headline()}."
    text = "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" id="{SCOPE}" viewBox="0 0 {width:g} {height:g}" '
            f'width="{width:g}" height="{height:g}" role="img" aria-labelledby="{SCOPE}-t {SCOPE}-d">',
            f'<title id="{SCOPE}-t">{escape(fitted(heading, 1, 1000))}</title>',
            f'<desc id="{SCOPE}-d">{escape(described)}</desc>',
            f"<style>{stylesheet(theme, SCOPE)}</style>",
            f'<rect class="page" width="{width:g}" height="{height:g}"/>',
            body,
            "</svg>",
            "",
        ]
    )
    # Rules of an inline SVG reach the whole page, so they are bound to a name that belongs to this picture alone.
    scope = "tw-" + hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]
    return SvgPicture(text.replace(SCOPE, scope), width, height)


def tops_of(cards: list[Card], sizes: Sizes, top: float) -> list[float]:
    """Return the y of each card's upper edge; cards of one depth stand in one row."""
    depths = [0] * len(cards)
    for position, card in enumerate(cards):
        for child in card.below:
            depths[child] = depths[position] + 1
    heights = [0.0] * (max(depths) + 1)
    for depth, card in zip(depths, cards, strict=True):
        heights[depth] = max(heights[depth], card.height)
    rows = [top]
    for height in heights[:-1]:
        rows.append(rows[-1] + height + sizes.row_gap)
    return [rows[depth] for depth in depths]


def head_of(summary: TreeSummary, heading: str, inner: float) -> tuple[list[str], float]:
    """Return the heading, the line of sizes and the legend, and the y where the tree begins."""
    y = MARGIN + HEAD_SIZE
    shown = escape(fitted(heading, HEAD_SIZE, inner, bold=True))
    parts = [f'<text class="ink strong" x="{MARGIN:g}" y="{y:g}" font-size="{HEAD_SIZE:g}">{shown}</text>']
    tree = summary.tree
    rows = counted(int(tree.n_samples[0]), "row")
    facts = DOT.join((rows, counted(tree.n_nodes, "node"), counted(tree.n_leaves, "leaf", "leaves")))
    if summary.n_trees > 1:
        facts += f"{DOT}tree {summary.position + 1} of {summary.n_trees}"
    if not summary.counts_classes:
        values = tree.value[:, summary.outputs[0].start]
        first = summary.outputs[0].name
        what = f"{summary.centre} of {first}" if len(summary.outputs) > 1 else summary.centre
        low, high = written_amount(values.min()), written_amount(values.max())
        facts += f"{DOT}each dot: {what} between {low} and {high}" if low != high else ""
    y += 20
    shown = escape(fitted(facts, SMALL, inner))
    parts.append(f'<text class="muted" x="{MARGIN:g}" y="{y:g}" font-size="{SMALL:g}">{shown}</text>')
    if summary.prunings:
        y += 18
        words = escape(fitted(summary.prunings, SMALL, inner))
        parts.append(f'<text class="muted" x="{MARGIN:g}" y="{y:g}" font-size="{SMALL:g}">{words}</text>')
    if summary.missing_note and summary.model.missing in MISSING_WORDS:
        y += 18
        words = f"missing values: {MISSING_WORDS[summary.model.missing]}"
        parts.append(f'<text class="muted" x="{MARGIN:g}" y="{y:g}" font-size="{SMALL:g}">{words}</text>')
    for output in summary.outputs:
        if output.classes:
            y += 24
            entries, y = legend_of(summary, output, y, inner)
            parts.extend(entries)
    return parts, y + 22


def legend_of(summary: TreeSummary, output: Output, y: float, inner: float) -> tuple[list[str], float]:
    """Return the legend of one output, the largest classes first where there are too many, and its last line's y."""
    classes, counts = output.classes, summary.values(0, output)
    name = output.name if len(summary.outputs) > 1 else ""
    codes = list(range(len(classes)))
    if len(codes) > LEGEND_CLASSES:
        codes = sorted(np.argsort(-counts, kind="stable")[: LEGEND_CLASSES - 1].tolist())
    parts = []
    x = MARGIN
    if name:
        label = fitted(name, SMALL, LEGEND_NAME)
        parts.append(f'<text class="muted" x="{x:g}" y="{y:g}" font-size="{SMALL:g}">{escape(label)}</text>')
        x += text_width(label, SMALL) + 12
    for code in codes:
        label = fitted(classes[code], SMALL, LEGEND_NAME)
        room = 16 + text_width(label, SMALL)
        if x + room > MARGIN + inner and x > MARGIN:
            x, y = MARGIN, y + 19
        parts.append(
            f'<rect x="{x:g}" y="{y - 9:g}" width="10" height="10" rx="2" fill="{class_color(code)}"/>'
            f'<text class="ink" x="{x + 15:g}" y="{y:g}" font-size="{SMALL:g}">{escape(label)}</text>'
        )
        x = round(x + room + 16, 1)
    if len(codes) < len(classes):
        more = counted(len(classes) - len(codes), "more class", "more classes")
        parts.append(f'<text class="muted" x="{x:g}" y="{y:g}" font-size="{SMALL:g}">+{more}</text>')
    return parts, y


def edge_of(start: tuple[float, float], end: tuple[float, float], card: Card, sizes: Sizes) -> str:
    """Return the curve towards a card and, between the two, the answer that leads there."""
    (x, bottom), (to_x, to_y) = start, end
    label_top = to_y - sizes.label - 9
    bend = (bottom + label_top) / 2
    thickness = 1.2 + 4.8 * math.sqrt(card.thickness) * sizes.title / NORMAL.title
    dashes = ' stroke-dasharray="3 3"' if card.role == "empty" else ""
    path = f"M{x:.1f} {bottom:.1f}C{x:.1f} {bend:.1f} {to_x:.1f} {bend:.1f} {to_x:.1f} {label_top:.1f}"
    return (
        f'<path class="edge" d="{path}" stroke-width="{thickness:.1f}"{dashes}/>'
        f'<text class="ink" x="{to_x:.1f}" y="{to_y - 7:.1f}" font-size="{sizes.label:g}" text-anchor="middle">'
        f"{escape(card.answer)}</text>"
    )


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
