"""Bars of block characters. In: shares, a width. Out: spans.

A block character fills eighths of a cell, so a bar of 10 cells shows 80 steps. If two classes meet inside a cell, the
sign has the colour of the left one and the cell that of the right one. Without colours or blocks each class has a sign
of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from treewright.show.spans import Span, Spans

EIGHTHS = 8
# U+2588 is the whole block, U+258F an eighth at the left.
_WHOLE, _BEFORE_AN_EIGHTH = "\u2588", 0x2590
SIGNS = "#=+:ox%@"
MARK = "\u25a0"


def mark_of(place: int, *, signed: bool) -> str:
    """Return the sign that stands for a class in bars and legends."""
    return SIGNS[place % len(SIGNS)] if signed else MARK


def class_bar(values: np.ndarray, width: int, *, signed: bool = False) -> Spans:
    """Return a bar of ``width`` cells, divided in proportion to the classes.

    Parameters
    ----------
    values : float64[n_classes]
        Weights >= 0; without any the bar is blank.
    width : int >= 1
    signed : bool
        Draw with a sign of ASCII for each class instead of blocks.

    Examples
    --------
    >>> "".join(span.text for span in class_bar(np.array([3.0, 1.0]), 8, signed=True))
    '######=='
    """
    if not values.sum() > 0:
        return [Span(" " * width)]
    if signed:
        units = units_of(values, width).tolist()
        return [Span(mark_of(place, signed=True) * n, "class", place) for place, n in enumerate(units) if n > 0]
    parts = [(place, n) for place, n in enumerate(units_of(values, width * EIGHTHS).tolist()) if n > 0]
    spans: Spans = []
    for held in _cells(parts):
        left, right = held[0], held[-1]
        if len(held) > 1:
            # Of three or more classes in a cell the two largest are shown.
            left, right = sorted(sorted(held, key=lambda part: -part[1])[:2])
            eighths = min(max(round(EIGHTHS * left[1] / (left[1] + right[1])), 1), EIGHTHS - 1)
            spans.append(Span(chr(_BEFORE_AN_EIGHTH - eighths), "class", left[0], right[0]))
        elif spans and (spans[-1].place, spans[-1].behind) == (left[0], -1):
            spans[-1] = Span(spans[-1].text + _WHOLE, "class", left[0])
        else:
            spans.append(Span(_WHOLE, "class", left[0]))
    return spans


def _cells(parts: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Yield for each cell its classes with their eighths; ``parts`` are those of the whole bar."""
    cell: list[tuple[int, int]] = []
    room = EIGHTHS
    for place, n in parts:
        left = n
        while left:
            taken = min(left, room)
            cell.append((place, taken))
            left -= taken
            room -= taken
            if not room:
                yield cell
                cell, room = [], EIGHTHS


def number_bar(share: float, width: int, *, signed: bool = False) -> Spans:
    """Return a bar of ``share``, from 0 to 1, of ``width`` cells; it is never empty.

    Examples
    --------
    >>> number_bar(0.5, 4, signed=True)[0].text
    '=='
    """
    if signed:
        n = max(1, round(share * width))
        return [Span("=" * n, "number"), Span(" " * (width - n))]
    whole, rest = divmod(max(1, round(share * width * EIGHTHS)), EIGHTHS)
    text = _WHOLE * whole + (chr(_BEFORE_AN_EIGHTH - rest) if rest else "")
    return [Span(text, "number"), Span(" " * (width - len(text)))]


def units_of(values: np.ndarray, units: int) -> np.ndarray:
    """Divide ``units`` in proportion to the values, largest remainders first; values above 0 get one if there is room.

    Parameters
    ----------
    values : float64[k]
        Not negative, with a sum above 0.
    units : int >= 1

    Returns
    -------
    int64[k]
        Their sum is ``units``.

    Examples
    --------
    >>> units_of(np.array([1.0, 1.0, 1.0]), 8).tolist(), units_of(np.array([999.0, 1.0]), 8).tolist()
    ([3, 3, 2], [7, 1])
    """
    # Divided first: the sum of values near the end of float64 would overflow.
    exact = values / values.max()
    exact = exact / exact.sum() * units
    parts = np.floor(exact).astype(np.int64)
    order = np.argsort(parts - exact, kind="stable")
    parts[order[: units - int(parts.sum())]] += 1
    for place in np.flatnonzero((values > 0) & (parts == 0)).tolist():
        richest = int(np.argmax(parts))
        if parts[richest] <= 1:
            break
        parts[richest] -= 1
        parts[place] += 1
    return parts
