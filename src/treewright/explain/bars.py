"""Bars of block characters. In: shares, a width. Out: spans. Caller: ``explain.drawing``.

A block character fills eighths of a cell, so a bar of 10 cells shows 80 steps. Where two classes meet inside of a cell,
the sign has the colour of the left one and the cell that of the right one. Without colours or blocks each class has a
sign of its own.
"""

from __future__ import annotations

import numpy as np

from treewright.explain.spans import Span, Spans

EIGHTHS = 8
# U+2588 is the whole block, U+258F an eighth at the left.
_BEFORE_AN_EIGHTH = 0x2590
SIGNS = "#=+:ox%@"
MARK = "\u25a0"


def mark_of(place: int, *, signed: bool) -> str:
    """Return the sign that stands for a class in bars and legends."""
    return SIGNS[place % len(SIGNS)] if signed else MARK


def class_bar(values: np.ndarray, width: int, *, signed: bool = False) -> Spans:
    """Return a bar of ``width`` cells that is divided as the classes are.

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
        parts = units_of(values, width)
        return [
            Span(mark_of(place, signed=True) * n, "class", place) for place, n in enumerate(parts.tolist()) if n > 0
        ]
    ends = np.cumsum(units_of(values, width * EIGHTHS))
    spans: Spans = []
    for cell in range(width):
        one = _cell(ends, cell * EIGHTHS)
        last = spans[-1] if spans else None
        if last is not None and one.behind < 0 and (last.place, last.behind) == (one.place, -1):
            spans[-1] = Span(last.text + one.text, "class", one.place)
        else:
            spans.append(one)
    return spans


def number_bar(share: float, width: int, *, signed: bool = False) -> Spans:
    """Return a bar that is as long as ``share``, from 0 to 1, of ``width`` cells; a trace of it is always there.

    Examples
    --------
    >>> number_bar(0.5, 4, signed=True)[0].text
    '=='
    """
    if signed:
        n = max(1, round(share * width))
        return [Span("=" * n, "number"), Span(" " * (width - n))]
    whole, rest = divmod(max(1, round(share * width * EIGHTHS)), EIGHTHS)
    text = "\u2588" * whole + (chr(_BEFORE_AN_EIGHTH - rest) if rest else "")
    return [Span(text, "number"), Span(" " * (width - len(text)))]


def units_of(values: np.ndarray, units: int) -> np.ndarray:
    """Divide ``units`` as the values are, the largest rests first; what is not 0 gets one where there is room.

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


def _cell(ends: np.ndarray, begin: int) -> Span:
    """The sign of one cell: the two classes that have most of it."""
    inside = np.clip(ends, begin, begin + EIGHTHS) - begin
    sizes = np.diff(inside, prepend=0)
    held = np.argsort(-sizes, kind="stable")[:2]
    held = np.sort(held[sizes[held] > 0]).tolist()
    if len(held) == 1:
        return Span("\u2588", "class", held[0])
    left, right = held
    part = round(EIGHTHS * int(sizes[left]) / int(sizes[left] + sizes[right]))
    return Span(chr(_BEFORE_AN_EIGHTH - min(max(part, 1), EIGHTHS - 1)), "class", left, right)
