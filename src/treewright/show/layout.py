"""Positions of the boxes of a drawing. In: children and widths. Out: x of every box.

Parents are centred over their outermost children, boxes of one depth never overlap, and a mirrored tree gives the
mirrored drawing. The idea is Reingold & Tilford's (Tidier drawings of trees, 1981): subtrees are
drawn alone, then pushed together until their outlines touch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


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
