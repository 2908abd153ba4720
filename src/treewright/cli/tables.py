"""Tables of classes. In: a score. Out: lines that fit the screen.

A wide matrix is broken into blocks of columns, whose heads are the numbers of the lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from treewright.cli.terminal import printable
from treewright.core.confidence import wilson_interval
from treewright.evaluation.measures import TWO, LabelScore, are_unequal
from treewright.show.spans import Role, Span, Spans, fitted
from treewright.trees.summary import n_named
from treewright.trees.writing import cell_width

__all__ = ["class_lines", "confusion_lines", "sorted_labels", "unequal_lines"]

NAME_WIDTH, LEAST_NAME = 24, 8
MOST_F1 = 6
GAP = "  "
CORNER = "true \\ predicted"


def unequal_lines(score: LabelScore, rows: str = "rows") -> list[str]:
    """Further scores for unequal classes; no lines if the classes are balanced.

    ``rows`` is the word for the scored rows.
    """
    true = score.true_totals()
    if not are_unequal(true):
        return []
    rarest = min(sorted_labels(score), key=lambda label: true.get(label, score.n))
    share = true[rarest] / score.n
    named = _cut(printable(rarest), NAME_WIDTH)
    lines = [f"unequal classes ({named!r} is {100 * share:.1f} % of the {rows}), where accuracy says little:"]
    measures = [f"{name} {value:.3f}" for name, value in score.measures().items()]
    if len(true) == TWO:
        measures = [f"{each} ({share:.3f} by chance)" if "precision" in each else each for each in measures]
    lines.append("; ".join(measures))
    labels = sorted_labels(score)
    most = n_named(len(labels), MOST_F1)
    f1s = [f"{_cut(printable(label), NAME_WIDTH)} {score.f1(label):.3f}" for label in labels[:most]]
    more = f", {len(labels) - most} more" if len(labels) > most else ""
    return [*lines, f"F1: {', '.join(f1s)}{more}"]


def sorted_labels(score: LabelScore) -> list[object]:
    """The classes that occur in the target or the predictions, in their own order."""
    found = {*score.true_totals(), *score.predicted_totals()}
    return sorted(found, key=lambda label: (str(type(label)), label))


def class_lines(score: LabelScore, labels: Sequence[object], width: int, *, intervals: bool = False) -> list[Spans]:
    """Precision and recall per class; a dash if a class is never predicted, or never occurs.

    Parameters
    ----------
    score : LabelScore
    labels : sequence of label
    width : int
        The longest line.
    intervals : bool
        Whether 95 % intervals (Wilson) are next to them; not if the lines have no room for them.
    """
    true, predicted = score.true_totals(), score.predicted_totals()
    beside = ["95 % interval"] if intervals else []
    heads = ["rows", "precision", *beside, "recall", *beside]
    rows = []
    for label in labels:
        right = score.counts.get((label, label), 0)
        cells = [str(true.get(label, 0))]
        for whole in (predicted.get(label, 0), true.get(label, 0)):
            cells.append(f"{right / whole:.3f}" if whole else "-")
            if intervals:
                cells.append("{:.3f}-{:.3f}".format(*wilson_interval(right, whole)) if whole else "-")
        rows.append(cells)
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    room = width - sum(widths) - len(GAP) * len(widths)
    if intervals and room < LEAST_NAME + len(str(len(labels))) + 1:
        return class_lines(score, labels, width)
    names, is_numbered = _names(labels, room - len(str(len(labels))) - 1)
    if is_numbered:
        names = _numbered(names)
    first = max(cell_width(name) for name in ("class", *names))
    return [
        _line("class", first, [Span(cell.rjust(size), "faint") for cell, size in zip(heads, widths, strict=True)]),
        *(
            _line(name, first, [Span(cell.rjust(size)) for cell, size in zip(row, widths, strict=True)])
            for name, row in zip(names, rows, strict=True)
        ),
    ]


def confusion_lines(score: LabelScore, labels: Sequence[object], width: int) -> list[Spans]:
    """The confusion matrix: lines are true classes, columns predicted ones.

    Parameters
    ----------
    score : LabelScore
    labels : sequence of label
    width : int
        The longest line: a wider matrix has numbers as heads, and is printed in blocks of columns.
    """
    counts = [[score.counts.get((true, guess), 0) for guess in labels] for true in labels]
    names, is_numbered = _names(labels, max(LEAST_NAME, width // 3))
    heads = names
    first = max(cell_width(name) for name in (CORNER, *names))
    if is_numbered or first + sum(len(GAP) + size for size in _sizes(heads, counts)) > width:
        heads = [str(at + 1) for at in range(len(labels))]
        # Shorter names are better than a second block, as long as they are names.
        left = width - sum(len(GAP) + size for size in _sizes(heads, counts)) - len(heads[-1]) - 1
        if LEAST_NAME + len(heads[-1]) <= left < max(map(cell_width, names)):
            names, _ = _names(labels, left)
        names = _numbered(names)
        first = max(cell_width(name) for name in (CORNER, *names))
    sizes = _sizes(heads, counts)
    lines: list[Spans] = []
    for block in _blocks(sizes, width - first):
        lines += [[]] if lines else []
        lines.append(_line(CORNER, first, [Span(_right(heads[at], sizes[at]), "faint") for at in block], "faint"))
        for true, name in enumerate(names):
            cells = [
                Span(str(counts[true][guess]).rjust(sizes[guess]), _role(counts[true][guess], is_right=true == guess))
                for guess in block
            ]
            lines.append(_line(name, first, cells))
    return lines


def _sizes(heads: Sequence[str], counts: Sequence[Sequence[int]]) -> list[int]:
    """The width of each column of counts."""
    return [
        max(cell_width(head), *(len(str(count)) for count in column))
        for head, column in zip(heads, zip(*counts, strict=True), strict=True)
    ]


def _blocks(sizes: Sequence[int], room: int) -> list[list[int]]:
    """Columns next to each other, block by block."""
    blocks: list[list[int]] = [[]]
    left = room
    for at, size in enumerate(sizes):
        if blocks[-1] and len(GAP) + size > left:
            blocks.append([])
            left = room
        blocks[-1].append(at)
        left -= len(GAP) + size
    return blocks


def _names(labels: Sequence[object], room: int) -> tuple[list[str], bool]:
    """Names of classes in at most ``room`` cells, and whether several have become the same."""
    room = min(NAME_WIDTH, max(LEAST_NAME, room))
    texts = [printable(label) for label in labels]
    names = [_cut(text, room) for text in texts]
    same = {name for name, times in Counter(names).items() if times > 1}
    names = [_cut_inside(text, room) if name in same else name for text, name in zip(texts, names, strict=True)]
    return names, len(set(names)) < len(names)


def _cut(text: str, room: int) -> str:
    """A name, or its beginning and three dots."""
    short = fitted(text, room)
    return text if short == text else fitted(text, room - 2).removesuffix("\u2026") + "..."


def _cut_inside(text: str, room: int) -> str:
    """A name, or its two ends: long names often differ at the end."""
    if fitted(text, room) == text:
        return text
    half = (room - 3) // 2
    return fitted(text, room - 2 - half).removesuffix("\u2026") + "..." + fitted(text[::-1], half + 1)[:-1][::-1]


def _numbered(names: Sequence[str]) -> list[str]:
    """Names with their numbers in front, from 1."""
    size = len(str(len(names)))
    return [f"{at + 1:>{size}} {name}" for at, name in enumerate(names)]


def _line(name: str, first: int, cells: Sequence[Span], role: Role = "plain") -> Spans:
    """A line of a table: the name to the left, cells behind."""
    line = [Span(name + " " * (first - cell_width(name)), role)]
    for cell in cells:
        line += [Span(GAP), cell]
    return line


def _right(text: str, size: int) -> str:
    return " " * (size - cell_width(text)) + text


def _role(count: int, *, is_right: bool) -> Role:
    """How a cell is painted: correct and wrong predictions in colour, zeros faint."""
    if not count:
        return "faint"
    return "good" if is_right else "bad"
