"""Claims about how names, levels and numbers are written."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.trees.writing import (
    cell_width,
    escape_controls,
    gap_digits,
    shorten,
    written_amount,
    written_level,
    written_name,
    written_number,
)

FLOATS = st.floats(allow_nan=False)


@given(st.text())
def test_no_text_can_break_a_line_or_turn_its_direction(text: str) -> None:
    written = escape_controls(text)

    assert written.splitlines() in ([written], [])
    assert not set(written) & set("\x00\x1b\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u200e\u200f\ufeff\ufffe")
    written.encode("utf-8")  # lone surrogates are gone


def test_emoji_and_accents_stay() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467 e\u0301"

    assert escape_controls(family) == family


@pytest.mark.parametrize(
    ("level", "text"),
    [
        ("", '""'),
        (" a", '" a"'),
        ("a, b", '"a, b"'),
        ("nan", "nan"),
        (True, "True"),
        (1.0, "1.0"),
        (b"x", "b'x'"),
        (dt.date(2024, 2, 29), "2024-02-29"),
    ],
)
def test_levels_are_written_so_that_a_list_of_them_can_be_read(level: object, text: str) -> None:
    assert written_level(level) == text


def test_a_blank_name_is_visible() -> None:
    assert written_name("") == '""'


@given(FLOATS)
def test_an_exact_number_reads_back(number: float) -> None:
    assert float(written_number(number, exact=True)) == number


def test_large_integers_keep_their_digits() -> None:
    assert written_number(20180131.5) == "20180131.5"
    assert written_number(2.0**53) == "9.0072e+15"
    assert written_number(-1234567.25, digits=9) == "-1234567.25"


def test_minus_zero_is_zero() -> None:
    assert written_number(-0.0, exact=True) == written_amount(-0.0) == "0"


@pytest.mark.parametrize(
    ("number", "text"),
    [(49.0, "49"), (49.5, "49.5"), (0.99999, "1"), (1e-9, "1e-09"), (1e300, "1e+300"), (-3.14159, "-3.14")],
)
def test_amounts_are_trimmed(number: float, text: str) -> None:
    assert written_amount(number) == text


@given(st.lists(FLOATS, min_size=2, max_size=12))
def test_enough_digits_tell_different_numbers_apart(numbers: list[float]) -> None:
    digits = gap_digits(np.array(numbers))

    written = {written_number(number, digits=int(d)) for number, d in zip(numbers, digits, strict=True)}

    assert len(written) == len(set(numbers))


def test_digits_are_few_where_the_numbers_are_far_apart() -> None:
    assert gap_digits(np.array([1.0, 2.0, np.inf])).tolist() == [6, 6, 6]


@given(st.text(), st.integers(1, 20))
def test_a_shortened_text_fits(text: str, width: int) -> None:
    assert cell_width(shorten(text, width)) <= width
