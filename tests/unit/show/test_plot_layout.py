"""Claims about where boxes go."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.show.drawing import tidy

GAP = 5.0


@st.composite
def drawings(draw: st.DrawFn) -> tuple[list[list[int]], list[float]]:
    """Children and widths of a tree with up to 40 boxes and any number of branches."""
    n_boxes = draw(st.integers(1, 40))
    children: list[list[int]] = [[] for _ in range(n_boxes)]
    for box in range(1, n_boxes):
        children[draw(st.integers(0, box - 1))].append(box)
    return children, [float(draw(st.integers(0, 60))) for _ in range(n_boxes)]


def rows_of(children: list[list[int]]) -> list[list[int]]:
    """Boxes per depth, left to right."""
    rows = [[0]]
    while rows[-1]:
        rows.append([child for box in rows[-1] for child in children[box]])
    return rows[:-1]


@given(drawings())
def test_boxes_of_one_depth_keep_the_gap(drawing: tuple[list[list[int]], list[float]]) -> None:
    children, widths = drawing

    places = tidy(children, widths, gap=GAP)

    for row in rows_of(children):
        for left, right in pairwise(row):
            assert places[right] - places[left] >= (widths[left] + widths[right]) / 2 + GAP - 1e-9


@given(drawings())
def test_parents_stand_in_the_middle_of_their_outer_children(drawing: tuple[list[list[int]], list[float]]) -> None:
    children, widths = drawing

    places = tidy(children, widths, gap=GAP)

    for box, below in enumerate(children):
        if below:
            assert places[box] == pytest.approx((places[below[0]] + places[below[-1]]) / 2)


@given(drawings())
def test_a_mirrored_tree_gives_the_mirrored_drawing(drawing: tuple[list[list[int]], list[float]]) -> None:
    children, widths = drawing

    places = tidy(children, widths, gap=GAP)
    mirrored = tidy([below[::-1] for below in children], widths, gap=GAP)

    right = max(place + width / 2 for place, width in zip(places, widths, strict=True))
    assert mirrored == pytest.approx([right - place for place in places])


@given(drawings())
def test_the_drawing_begins_at_zero_and_repeats(drawing: tuple[list[list[int]], list[float]]) -> None:
    children, widths = drawing

    places = tidy(children, widths, gap=GAP)

    assert min(place - width / 2 for place, width in zip(places, widths, strict=True)) == pytest.approx(0.0)
    assert tidy(children, widths, gap=GAP) == places


def test_subtrees_touch_where_their_outlines_do() -> None:
    # Two parents with two children each: the inner children decide how near the parents may come.
    places = tidy([[1, 2], [3, 4], [5, 6], [], [], [], []], [10.0] * 7, gap=GAP)

    assert places == [27.5, 12.5, 42.5, 5.0, 20.0, 35.0, 50.0]


def test_a_shallow_subtree_is_tucked_beside_a_deep_one() -> None:
    # Box 2 has no children, so it stands at the gap beside box 1, above the children of box 1.
    places = tidy([[1, 2], [3, 4], [], [], []], [10.0, 10.0, 10.0, 40.0, 40.0], gap=GAP)

    assert places[2] - places[1] == 15.0


def test_a_chain_of_20000_levels_is_laid_out() -> None:
    n_boxes = 40_001
    children = [[box + 1, box + 2] if box % 2 == 0 and box < n_boxes - 1 else [] for box in range(n_boxes)]

    places = tidy(children, [10.0] * n_boxes, gap=GAP)

    assert places[-1] - places[-2] == pytest.approx(15.0)


def test_a_box_with_two_parents_is_refused() -> None:
    with pytest.raises(ValueError, match="box 2 has two parents"):
        tidy([[1, 2], [2], []], [1.0, 1.0, 1.0], gap=1.0)
