"""Claims about colours and estimated widths."""

from __future__ import annotations

import pytest

from treewright.show.style import DARK, LIGHT, Palette, class_color, fitted, text_width


def luminance(color: str) -> float:
    """Relative luminance, WCAG 2.1."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio, WCAG 2.1."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_texts_can_be_read_on_cards_and_page(palette: Palette) -> None:
    for ground in (palette.card, palette.page):
        assert contrast(palette.ink, ground) >= 7
        assert contrast(palette.muted, ground) >= 4.5


def test_twenty_four_classes_have_colours_of_their_own() -> None:
    assert len({class_color(position) for position in range(24)}) == 24
    assert class_color(24) == class_color(0)


def test_a_fitted_text_fits_and_a_short_one_is_left_alone() -> None:
    assert fitted("iii", 10, 20) == "iii"
    assert text_width(fitted("W" * 100_000, 10, 80), 10) <= 80
    assert fitted("W" * 100_000, 10, 80).endswith("…")
