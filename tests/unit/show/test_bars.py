"""Claims about bars of block characters."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.show.spans import class_bar, number_bar, text_of, units_of, width_of

EIGHTH_OF = {chr(0x2590 - part): part for part in range(1, 9)}


def eighths(spans: list, n_classes: int) -> list[int]:
    """How many eighths of a cell each class has in a bar: read off the signs, as an eye would."""
    held = [0] * n_classes
    for span in spans:
        for sign in span.text:
            part = EIGHTH_OF[sign]
            held[span.place] += part
            if part < 8:
                held[span.behind] += 8 - part
    return held


def test_a_bar_is_divided_to_the_eighth_of_a_cell() -> None:
    bar = class_bar(np.array([114.0, 51.0, 93.0]), 20)

    assert eighths(bar, 3) == [71, 31, 58]  # of 160: 70.7, 31.6, 57.7; the two largest rests are rounded up
    assert width_of(bar) == 20


def test_where_two_classes_meet_the_cell_has_the_colours_of_both() -> None:
    first, middle, last = class_bar(np.array([1.0, 1.0]), 3)

    assert (first.text, first.place, first.behind) == ("█", 0, -1)
    assert (middle.text, middle.place, middle.behind) == ("▌", 0, 1)
    assert (last.text, last.place, last.behind) == ("█", 1, -1)


def test_a_class_with_one_row_of_a_million_is_seen() -> None:
    assert eighths(class_bar(np.array([1.0, 999_999.0]), 6), 2) == [1, 47]


def test_without_blocks_each_class_has_a_sign() -> None:
    assert text_of(class_bar(np.array([2.0, 0.0, 1.0]), 6, signed=True)) == "####++"


@pytest.mark.parametrize("values", [[0.0, 0.0], [np.nan, 1.0]])
def test_a_node_without_weight_has_a_blank_bar(values: list[float]) -> None:
    assert text_of(class_bar(np.array(values), 5)) == "     "


@pytest.mark.parametrize("n_classes", [1, 2, 3, 20, 300])
@pytest.mark.parametrize("width", [1, 6, 24])
@pytest.mark.parametrize("signed", [False, True])
def test_a_bar_is_as_wide_as_it_was_asked_for(n_classes: int, width: int, signed: bool) -> None:
    rng = np.random.default_rng(n_classes)
    for scale in (1.0, 1e-300, 1e300):
        values = np.where(rng.random(n_classes) < 0.5, 0.0, rng.random(n_classes)) * scale
        values[0] = scale

        assert width_of(class_bar(values, width, signed=signed)) == width


def test_units_add_up_and_follow_the_shares() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        values = rng.integers(0, 50, rng.integers(1, 12)).astype(float)
        values[0] += 1
        units = int(rng.integers(len(values), 200))
        parts = units_of(values, units)

        assert parts.sum() == units
        assert ((parts > 0) == (values > 0)).all()
        assert (np.abs(parts - values / values.sum() * units) < 1 + (values > 0).sum()).all()


@pytest.mark.parametrize(("share", "text"), [(0.0, "▏"), (0.5, "██"), (1.0, "████"), (0.28, "█▏")])
def test_the_bar_of_a_number_is_as_long_as_its_share(share: float, text: str) -> None:
    assert text_of(number_bar(share, 4)).rstrip() == text
    assert width_of(number_bar(share, 4)) == width_of(number_bar(share, 4, signed=True)) == 4
