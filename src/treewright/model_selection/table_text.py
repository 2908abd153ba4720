"""How tables of results are written. In: positions, numbers. Out: which lines to show, texts of a like precision.

Callers: model_selection.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

MOST_LINES = 40
FIRST, LAST, NEAR = 3, 12, 3


def lines_shown(n: int, marks: Iterable[int]) -> list[int]:
    """Positions of the lines of a table that are written out: all, or the ends and what is near a mark.

    Parameters
    ----------
    n : int >= 0
        Lines of the table.
    marks : iterable of int, 0 to n - 1

    Returns
    -------
    list of int, ascending

    Examples
    --------
    >>> lines_shown(3, [1]), len(lines_shown(1000, [500])), lines_shown(1000, [500])[:4]
    ([0, 1, 2], 22, [0, 1, 2, 497])
    """
    if n <= MOST_LINES:
        return list(range(n))
    near = {at for mark in marks for at in range(mark - NEAR, mark + NEAR + 1)}
    return sorted(at for at in near | set(range(FIRST)) | set(range(n - LAST, n)) if 0 <= at < n)


def left_out(before: int, at: int, what: str) -> list[str]:
    """The line that stands for those between two that are shown; none where there are none."""
    return [f"{'...':>5}  {at - before - 1:,} more: to_dict() has every {what}"] if at > before + 1 else []


def beside(spread: float, text: str) -> str:
    """A standard error with as many decimals as the number that it stands beside.

    Parameters
    ----------
    spread : float
        nan where there is none.
    text : str
        The number as it is written.

    Examples
    --------
    >>> beside(946.31, "6801"), beside(0.02237, "0.0614"), beside(float("nan"), "1.0")
    ('946', '0.0224', '-')
    """
    if math.isnan(spread):
        return "-"
    if not text.replace(".", "", 1).lstrip("-").isdigit():
        return f"{spread:.3g}"
    decimals = len(text.partition(".")[2])
    # Of a number that happens to be short (an error of 0) the standard error is still told.
    return f"{spread:.{decimals}f}" if spread == 0 or round(spread, decimals) > 0 else f"{spread:.2g}"
