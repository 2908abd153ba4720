"""Text of result tables: which lines are shown, and numbers with equal decimals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from treewright.show.spans import GAP, TextColumn, aligned

MOST_LINES = 40
PAGE_WIDTH = 80
FIRST, LAST, NEAR = 3, 12, 3


def lines_shown(n: int, marks: Iterable[int]) -> list[int]:
    """Positions of the lines of a table to write: all, or those near the ends and near a mark.

    Examples
    --------
    >>> lines_shown(3, [1]), len(lines_shown(1000, [500])), lines_shown(1000, [500])[:4]
    ([0, 1, 2], 22, [0, 1, 2, 497])
    """
    if n <= MOST_LINES:
        return list(range(n))
    near = {at for mark in marks for at in range(mark - NEAR, mark + NEAR + 1)}
    return sorted(at for at in near | set(range(FIRST)) | set(range(n - LAST, n)) if 0 <= at < n)


def abridged(shown: Sequence[int], lines: Iterable[str], what: str) -> list[str]:
    """The lines at the given positions, with one line for each gap between them."""
    written, before = [], -1
    for at, line in zip(shown, lines, strict=True):
        if at > before + 1:
            written.append(f"{'...':>5}  {at - before - 1:,} more: to_dict() has every {what}")
        written.append(line)
        before = at
    return written


def best_and_simplest(best: int, simplest: int | None) -> dict[int, str]:
    """Marks of the position of least error and, if there is one, of the simplest within one standard error."""
    if simplest is None:
        return {best: "best"}
    return {best: "best, 1 s.e."} if simplest == best else {best: "best", simplest: "1 s.e."}


def beside(spread: float, text: str) -> str:
    """A standard error with as many decimals as the number next to it.

    ``spread``: nan if there is none. ``text``: the number as it is written.
    """
    if math.isnan(spread):
        return "-"
    if not text.replace(".", "", 1).lstrip("-").isdigit():
        return f"{spread:.3g}"
    decimals = len(text.partition(".")[2])
    # Next to a short number (an error of 0) the standard error is still written.
    return f"{spread:.{decimals}f}" if spread == 0 or round(spread, decimals) > 0 else f"{spread:.2g}"


def side_by_side(columns: list[TextColumn]) -> list[str]:
    """Lines of a table, the titles first."""
    return [GAP.join(cells).rstrip() for cells in zip(*map(aligned, columns), strict=True)]


def written(values: Iterable[float]) -> list[str]:
    """Numbers as text, all with the same number of decimals; - for nan.

    Three decimals, fewer for thousands, more if all numbers are small; powers of ten beyond that.
    """
    numbers = [float(value) + 0.0 for value in values]  # -0.0 becomes 0.0
    largest = max((abs(number) for number in numbers if math.isfinite(number)), default=0.0)
    if largest and not 1e-6 <= largest < 1e9:
        texts = [f"{number:.3g}" for number in numbers]
    else:
        size = math.floor(math.log10(largest)) if largest else 0
        decimals = max(0, 4 - size) if size >= 3 else max(3, 2 - size)
        texts = [f"{number:.{decimals}f}" for number in numbers]
    return ["-" if math.isnan(number) else text for number, text in zip(numbers, texts, strict=True)]
