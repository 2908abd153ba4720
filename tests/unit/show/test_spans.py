"""Claims about lines that are made to fit."""

from __future__ import annotations

import pytest

from treewright.show.spans import Span, cut, fitted, folded, text_of, width_of
from treewright.trees.writing import cell_width

HOSTILE = ["", "a", "petal length (cm)", "東京" * 50, "e" + "\u0301" * 10_000, "x" * 10_000, "👩\u200d🔬" * 30, " a b "]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("width", [1, 2, 7, 80])
def test_a_fitted_text_takes_no_more_cells_and_no_more_memory_than_its_width(text: str, width: int) -> None:
    found = fitted(text, width)

    assert cell_width(found) <= width
    assert len(found) <= 4 * width + 1
    if cell_width(text) <= width and len(text) <= 4 * width:
        assert found == text


def test_a_cut_line_keeps_what_its_pieces_are() -> None:
    line = [Span("petal ", "faint"), Span("length ", "strong"), Span("(cm)", "class", 3, 1)]

    assert cut(line, 80) == line
    assert cut(line, 16) == [*line[:2], Span("(c…", "class", 3, 1)]
    assert text_of(cut(line, 13)) == "petal length…"


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("width", [1, 5, 40])
def test_a_cut_line_fits_whatever_is_in_it(text: str, width: int) -> None:
    assert width_of(cut([Span("ab"), Span(text), Span(text, "strong")], width)) <= width


def test_prose_is_broken_at_blanks_and_no_word_is_lost() -> None:
    text = "missing values have their own branch if training rows had some, else they take the heaviest branch"

    lines = folded(text, 30)

    assert " ".join(line.strip() for line in lines) == text
    assert max(map(len, lines)) <= 30
    assert all(line.startswith("  ") for line in lines[1:])


def test_a_percent_sign_stays_with_its_number() -> None:
    assert folded("accuracy 0.9, and a 95 % interval", 22) == ["accuracy 0.9, and a", "  95 % interval"]


def test_a_word_longer_than_the_line_is_cut() -> None:
    assert folded("model /" + "x" * 50, 20) == ["model", "  /" + "x" * 16 + "…"]


def test_prose_that_fits_stays_as_it_is() -> None:
    assert folded("  two  blanks", 20) == ["  two  blanks"]
