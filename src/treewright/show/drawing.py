"""The layout of a tree: boxes, texts, curves and dots with their places. In: a summary. Out: ``Drawing``.

Parents are centred over their outermost children, boxes of one depth never overlap, and a mirrored tree gives the
mirrored drawing. The idea is Reingold & Tilford's (Tidier drawings of trees, 1981): subtrees are
drawn alone, then pushed together until their outlines touch.

``show.svg`` writes the drawing as SVG and PDF. It has places, texts and the ``kind`` of each shape (a rule
of ``show.style``), but no colours of a theme and no file format. ``show.cards`` makes the content of cards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from treewright.show.cards import Card, cards_of
from treewright.show.style import COMPACT, COMPACT_LEAVES, NORMAL, Medium, Sizes, class_color, fitted, text_width
from treewright.trees.arrays import children, unfolded
from treewright.trees.summary import Output, TreeSummary, counted
from treewright.trees.threshold import decision_text
from treewright.trees.writing import written_amount


@dataclass
class Outline:
    """One side of a subtree: x per depth, the deepest first, each to be read as ``base + value``.

    The deepest depth comes first so that a parent is appended, and moving the whole outline changes one number.
    """

    values: list[float]
    base: float = 0.0

    def at(self, below: int) -> float:
        """Return x at ``below`` levels under the top."""
        return self.base + self.values[-1 - below]

    def add_top(self, x: float) -> None:
        """Put a level on top."""
        self.values.append(x - self.base)

    def overwrite_top(self, other: Outline, n_levels: int) -> None:
        """Take the top levels from another outline."""
        for below in range(n_levels):
            self.values[-1 - below] = other.at(below) - self.base


def pushed_apart(
    children: Sequence[Sequence[int]], widths: Sequence[float], gap: float, *, mirrored: bool
) -> list[float]:
    """Return each box's x relative to its parent, siblings packed from the left (from the right if ``mirrored``).

    Notes
    -----
    O(n): comparing and joining two outlines costs the depth of the shallower one, and every box is the end of a
    shallower outline only once.
    """
    sign = -1.0 if mirrored else 1.0
    n_boxes = len(children)
    relative = [0.0] * n_boxes
    outlines: list[tuple[Outline, Outline] | None] = [None] * n_boxes
    for box in range(n_boxes - 1, -1, -1):  # parents come before children, so this meets children first
        half = widths[box] / 2
        below = children[box]
        if not below:
            outlines[box] = Outline([-half]), Outline([half])
            continue
        order = list(reversed(below)) if mirrored else list(below)
        places = [0.0]
        left, right = taken(outlines, order[0])
        for child in order[1:]:
            next_left, next_right = taken(outlines, child)
            shared = min(len(right.values), len(next_left.values))
            shift = max(right.at(level) - next_left.at(level) for level in range(shared)) + gap
            places.append(shift)
            next_left.base += shift
            next_right.base += shift
            left, right = joined(left, right, next_left, next_right, shared)
        middle = (places[0] + places[-1]) / 2
        for child, place in zip(order, places, strict=True):
            relative[child] = sign * (place - middle)
        left.base -= middle
        right.base -= middle
        left.add_top(-half)
        right.add_top(half)
        outlines[box] = left, right
    return relative


def taken(outlines: list[tuple[Outline, Outline] | None], box: int) -> tuple[Outline, Outline]:
    """Return a child's outlines and drop them from the list: a parent takes them over without a copy."""
    pair = outlines[box]
    if pair is None:
        raise ValueError(f"box {box} has two parents, or comes before its parent")
    outlines[box] = None
    return pair


def joined(
    left: Outline, right: Outline, next_left: Outline, next_right: Outline, shared: int
) -> tuple[Outline, Outline]:
    """Return the outlines of two neighbours as one; ``shared`` is the number of levels that both have."""
    if len(next_left.values) > shared:
        next_left.overwrite_top(left, shared)
        return next_left, next_right
    if len(right.values) > shared:
        right.overwrite_top(next_right, shared)
        return left, right
    return left, next_right


def tidy(children: Sequence[Sequence[int]], widths: Sequence[float], *, gap: float) -> list[float]:
    """Return the x of the middle of every box, the leftmost edge of all at 0.

    Parameters
    ----------
    children : sequence of sequences of int
        The boxes under each box, left to right. Box 0 is the root; a parent comes before its children.
    widths : sequence of float >= 0
    gap : float >= 0
        Least room between two boxes of one depth.

    Notes
    -----
    Packing from the left would push a small subtree between two large ones to the left. The mean of this and of packing
    from the right is symmetric, and as every demand on the drawing is linear in x, it holds for the mean too.

    Examples
    --------
    >>> tidy([[1, 2], [], []], [10, 10, 20], gap=5)
    [15.0, 5.0, 25.0]
    """
    from_left = pushed_apart(children, widths, gap, mirrored=False)
    from_right = pushed_apart(children, widths, gap, mirrored=True)
    places = [0.0] * len(children)
    for box, below in enumerate(children):
        for child in below:
            places[child] = places[box] + (from_left[child] + from_right[child]) / 2
    edge = min(place - width / 2 for place, width in zip(places, widths, strict=True))
    return [place - edge for place in places]


MAX_NODES = 151
MARGIN = 24.0
LEAST_WIDTH = 360.0
INCH = 96.0  # pixels, as CSS has it
POINT = INCH / 72.0
HEAD_SIZE, SMALL = 16.0, 12.0
LEGEND_CLASSES, LEGEND_NAME = 12, 160.0
DOT = " \u00b7 "
MISSING_WORDS = {
    "branch": "a branch of their own",
    "surrogate": "by surrogate tests",
    "fractional": "divided among the branches",
}

# Properties of a shape in addition to those of its kind, by their SVG names.
Paint = Mapping[str, str | float]


@dataclass(frozen=True)
class Box:
    """A rectangle. ``kind`` is a rule of the stylesheet; places and sizes are pixels, here and below."""

    kind: str
    x: float
    y: float
    width: float
    height: float
    radius: float = 0.0
    paint: Paint = field(default_factory=dict)


@dataclass(frozen=True)
class Dot:
    """A disc around ``x``, ``y``."""

    kind: str
    x: float
    y: float
    radius: float


@dataclass(frozen=True)
class Curve:
    """A Bezier curve: its start, two control points, its end."""

    kind: str
    points: tuple[tuple[float, float], ...]
    paint: Paint


@dataclass(frozen=True)
class Text:
    """A line of text that starts at ``x``, or is centred on it (``centred``), on the baseline ``y``."""

    kind: str
    x: float
    y: float
    size: float
    text: str
    centred: bool = False

    @property
    def is_strong(self) -> bool:
        """Whether the letters are bold."""
        return "strong" in self.kind.split()


@dataclass(frozen=True)
class Group:
    """Shapes that belong together: all edges, or a card with its tooltip."""

    kind: str
    shapes: list[Shape]
    tooltip: str = ""


Shape = Box | Dot | Curve | Text


@dataclass(frozen=True)
class Drawing:
    """A tree as drawn, in its own coordinates; the writer scales them. Of its parts, later ones lie on top."""

    parts: list[Shape | Group]
    width: float
    height: float
    sizes: Sizes
    described: str
    heading: str

    def shapes(self) -> Iterator[Shape]:
        """Every shape, those within groups too."""
        for part in self.parts:
            yield from part.shapes if isinstance(part, Group) else (part,)

    def scale_in(self, medium: Medium) -> float:
        """Return the scale: as large as there is room, with letters no larger than those of the medium."""
        room = min(medium.width / self.width, medium.height / self.height) * INCH
        return min(room, medium.text * POINT / self.sizes.title)

    def is_legible(self, medium: Medium) -> bool:
        """Return whether its smallest letters are large enough in a medium."""
        # Slightly less: a picture that is exactly as wide as its room fits.
        return self.scale_in(medium) * min(self.sizes.small, self.sizes.label) >= medium.least * POINT * (1 - 1e-9)


def fitting(
    summary: TreeSummary, shown: frozenset[int], heading: str, medium: Medium, max_depth: int | None
) -> Drawing:
    """Return the tree, or the largest legible part of it; at most the inner nodes in ``shown`` are open."""
    drawing = drawn(summary, shown, heading)
    if drawing.is_legible(medium):
        return drawing
    # From many to few, one by one: a smaller tree is not always lower, as there may be no room next to its heading.
    tried = {shown}
    for most in range(min(MAX_NODES, 1 + sum(len(children(summary.tree, node)) for node in shown)), 1, -1):
        fewer = unfolded(summary.tree, max_depth=max_depth, max_nodes=most)
        if fewer in tried:
            continue
        tried.add(fewer)
        drawing = drawn(summary, fewer, heading)
        if drawing.is_legible(medium):
            return drawing
    # One card is drawn even if it is too small to read.
    return drawn(summary, frozenset(), heading)


def drawn(summary: TreeSummary, shown: frozenset[int], heading: str) -> Drawing:
    """Return the open nodes and their children as cards, below a heading and a legend."""
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
    edges: list[Shape] = []
    nodes = []
    for position, card in enumerate(cards):
        for child in card.below:
            bottom = tops[position] + card.height
            edges += edge_of((middles[position], bottom), (middles[child], tops[child]), cards[child], sizes)
        nodes.append(Group("node", node_of(card, middles[position], tops[position], sizes), card.tooltip))
    width = round(inner + 2 * MARGIN, 1)
    height = round(max(y + card.height for y, card in zip(tops, cards, strict=True)) + MARGIN, 1)
    page = Box("page", 0.0, 0.0, width, height)
    return Drawing(
        [page, *head.shapes, Group("edges", edges), *nodes], width, height, sizes, f"{summary.headline()}.", heading
    )


# Above the tree: its name, its size, the legend


@dataclass
class Head:
    """The texts and legend above the tree; ``right`` and ``bottom`` are their extent."""

    shapes: list[Shape] = field(default_factory=list)
    right: float = 0.0
    bottom: float = 0.0

    def line(self, kind: str, y: float, size: float, text: str, room: float, x: float = MARGIN) -> float:
        """Write a line, cut if it is too long. Returns the x of its end."""
        is_strong = "strong" in kind
        text = fitted(text, size, room, bold=is_strong)
        self.shapes.append(Text(kind, x, y, size, text))
        end = x + text_width(text, size, bold=is_strong)
        self.right, self.bottom = max(self.right, end), max(self.bottom, y + 0.3 * size)
        return end


def default_title(summary: TreeSummary) -> str:
    """Return the name of the target, or the task if it has none."""
    names = ", ".join(output.name for output in summary.outputs if output.name)
    return names or f"{summary.model.task.capitalize()} tree"


def head_of(summary: TreeSummary, heading: str, inner: float) -> Head:
    """Return the heading, the line of sizes and the legend."""
    y = MARGIN + HEAD_SIZE
    head = Head()
    head.line("ink strong", y, HEAD_SIZE, heading, inner)
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
    head.line("muted", y, SMALL, facts, inner)
    if summary.prunings:
        y += 18
        head.line("muted", y, SMALL, summary.prunings, inner)
    if decides := decision_text(summary.model):
        y += 18
        head.line("muted", y, SMALL, decides, inner)
    if summary.missing_note and summary.model.missing in MISSING_WORDS:
        y += 18
        head.line("muted", y, SMALL, f"missing values: {MISSING_WORDS[summary.model.missing]}", inner)
    for output in summary.outputs:
        if output.classes:
            y = add_legend(head, summary, output, y + 24, inner)
    return head


def add_legend(head: Head, summary: TreeSummary, output: Output, y: float, inner: float) -> float:
    """Write the legend of one output, only the largest classes if there are too many. Returns its last line's y."""
    classes, counts = output.classes, summary.values(0, output)
    codes = list(range(len(classes)))
    if len(codes) > LEGEND_CLASSES:
        codes = sorted(np.argsort(-counts, kind="stable")[: LEGEND_CLASSES - 1].tolist())
    x = MARGIN
    if len(summary.outputs) > 1 and output.name:
        x = head.line("muted", y, SMALL, output.name, LEGEND_NAME) + 12
    for code in codes:
        room = 16 + text_width(fitted(classes[code], SMALL, LEGEND_NAME), SMALL)
        if x + room > MARGIN + inner and x > MARGIN:
            x, y = MARGIN, y + 19
        head.shapes.append(Box("", x, y - 9, 10.0, 10.0, 2.0, {"fill": class_color(code)}))
        head.line("ink", y, SMALL, classes[code], LEGEND_NAME, x + 15)
        x = round(x + room + 16, 1)
    if len(codes) < len(classes):
        more = counted(len(classes) - len(codes), "more class", "more classes")
        head.line("muted", y, SMALL, f"+{more}", inner, x)
    return y


# The tree: rows of cards, edges between them


def tops_of(cards: list[Card], sizes: Sizes, top: float) -> list[float]:
    """Return the y of each card's upper edge; cards of one depth are in one row."""
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
        rows.append(rows[-1] + height + sizes.row_gap + (below - 1) * prediction_line(sizes))
    return [rows[depth] for depth in depths]


def prediction_line(sizes: Sizes) -> float:
    """Return the height of a line on an edge."""
    return sizes.label + 2


def top_of(head: Head, root: Card, middle: float) -> float:
    """Return the y where the tree begins: next to the head if there is room to its right, else below."""
    if root.below and middle - root.width / 2 >= head.right + MARGIN:
        # Edges begin under the root, so nothing else can reach the head.
        return max(MARGIN, head.bottom - root.height)
    return head.bottom + 18


def edge_of(start: tuple[float, float], end: tuple[float, float], card: Card, sizes: Sizes) -> list[Shape]:
    """Return the curve towards a card and the outcome written on it."""
    (x, bottom), (to_x, to_y) = start, end
    line = prediction_line(sizes)
    label_top = to_y - 7 - len(card.answer) * line
    bend = (bottom + label_top) / 2
    thickness = 1.2 + 4.8 * math.sqrt(card.thickness) * sizes.title / NORMAL.title
    paint: Paint = {"stroke-width": round(thickness, 1)}
    if card.role == "empty":
        paint = {**paint, "stroke-dasharray": "3 3"}
    places = ((x, bottom), (x, bend), (to_x, bend), (to_x, label_top))
    curve = Curve("edge", tuple((round(a, 1), round(b, 1)) for a, b in places), paint)
    answers = [
        Text("ink", round(to_x, 1), round(to_y - 7 - place * line, 1), sizes.label, text, centred=True)
        for place, text in enumerate(reversed(card.answer))
    ]
    return [curve, *answers]


def node_of(card: Card, x: float, y: float, sizes: Sizes) -> list[Shape]:
    """Return a card with its texts and its bars."""
    left = x - card.width / 2

    def box(kind: str, paint: Paint) -> Box:
        return Box(kind, round(left, 1), round(y, 1), card.width, card.height, round(sizes.pad_y * 0.7, 2), paint)

    shapes: list[Shape] = [box("card", {})]
    color = class_color(card.color) if card.color is not None else ""
    if card.role == "leaf" and color:
        shapes.append(box("", {"fill": color, "fill-opacity": 0.16, "stroke": color, "stroke-width": 1.4}))
    elif card.role == "leaf":
        tint = 0.05 + 0.27 * (card.place or 0.0)
        shapes += [box("accent", {"fill-opacity": round(tint, 2)}), box("accent-rim", {"stroke-width": 1.4})]
    elif card.role in ("folded", "empty"):
        shapes.append(box("rim", {"stroke-width": 1.2, "stroke-dasharray": "4 3"}))
    else:
        shapes.append(box("rim", {"stroke-width": 1.2}))
    text_x = left + sizes.pad_x
    line = y + sizes.pad_y + sizes.title * 0.85
    title_x = text_x
    if card.role != "test" and color:
        side = sizes.title * 0.7
        places = (round(text_x, 1), round(line - side, 1), round(side, 1), round(side, 1))
        shapes.append(Box("", *places, 2.0, {"fill": color}))
        title_x += sizes.title
    shapes.append(Text("ink strong", round(title_x, 1), round(line, 1), sizes.title, card.title))
    for note in card.notes:
        line += sizes.line
        shapes.append(Text("muted", round(text_x, 1), round(line, 1), sizes.small, note))
    bar_y = y + sizes.pad_y + sizes.line * (1 + len(card.notes)) + 2
    return shapes + bars_of(card, text_x, bar_y, card.width - 2 * sizes.pad_x, sizes)


def bars_of(card: Card, x: float, y: float, room: float, sizes: Sizes) -> list[Shape]:
    """Return the bar of class shares per output, or the track with the dot of a value."""
    if card.place is not None:
        middle = y + sizes.bar / 2
        dot = x + sizes.bar / 2 + card.place * (room - sizes.bar)
        return [
            Box("track", round(x, 1), round(middle - 1.5, 1), round(room, 1), 3.0, 1.5),
            Dot("accent", round(dot, 1), round(middle, 1), sizes.bar / 2 + 0.5),
        ]
    shapes: list[Shape] = []
    for shares in card.shares:
        shapes.append(Box("track", round(x, 1), round(y, 1), round(room, 1), sizes.bar))
        at = x
        for code, share in shares:
            width = share * room
            shapes.append(
                Box("", round(at, 2), round(y, 1), round(width, 2), sizes.bar, 0.0, {"fill": class_color(code)})
            )
            at += width
        y += sizes.bar + 3
    return shapes
