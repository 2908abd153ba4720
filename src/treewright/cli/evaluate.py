"""``treewright evaluate``. In: a model and rows with their target. Out: the score of the model.

Classification: accuracy with its interval, a table per class, the confusion matrix. Regression: R2 and the errors.
A matrix that is too wide is broken into blocks of columns, whose heads are the numbers of the lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

from treewright.cli.holdout import add_rows, score_for, warning_of
from treewright.cli.models import (
    check_importances,
    decision_facts,
    labelled_rows,
    load_model,
    note_left_out,
    of_trees,
    permutation_importances,
    refuse_isolation,
    target_name,
)
from treewright.cli.options import EvaluateRequest
from treewright.cli.terminal import Screen, UsageRefusal, note, printable, progress, say, say_json, screen_of
from treewright.core.confidence import wilson_interval
from treewright.data.encoder import UnseenLevels, unseen_levels_counted
from treewright.evaluation.measures import TWO, LabelScore, Score, are_unequal, plain_label
from treewright.exceptions import DataError
from treewright.files.matching import as_whole, rows_for, target_type
from treewright.files.table import has_target, no_target
from treewright.show.spans import Role, Span, Spans, fitted
from treewright.trees.summary import n_named
from treewright.trees.threshold import decision_text
from treewright.trees.writing import cell_width

if TYPE_CHECKING:
    from treewright.cli.models import AnyModel
    from treewright.cli.threshold import Costs

__all__ = ["class_lines", "confusion_lines", "run_evaluate", "sorted_labels", "unequal_lines"]

_MOST_SHOWN = 20
_MOST_TOLD, _MOST_LEVELS = 10, 20  # columns with unseen levels, and levels of one


def run_evaluate(request: EvaluateRequest) -> None:
    """Compare a model's predictions with the target.

    With ``--importances`` the rows have to fit into memory. Without ``--cost``, the costs that chose the threshold are
    used, if any did.
    """
    model_path, data, options = request.model, request.data, request.reading.options
    importances, intervals = request.importances, request.intervals
    screen = screen_of(request.color, request.width)
    model = load_model(model_path)
    refuse_isolation(model, model_path, "it cannot be scored")
    name = target_name(model, model_path, request.target, "evaluate")
    score = score_for(model)
    if intervals and not isinstance(score, LabelScore):
        raise UsageRefusal(f"--intervals is for classification, and {model_path} predicts numbers: leave it out")
    if request.json and (importances or intervals):
        word = "--importances" if importances else "--intervals"
        raise UsageRefusal(f"--json and {word} do not go together: leave one out")
    if importances:
        check_importances(of_trees(model, model_path, "--importances"), model_path)
    costs = _costs_of(model, request.cost, request.positive)
    n_missing = n_rows = first = 0
    where = ""  # the first of the rows without a target
    unseen = UnseenLevels()
    with progress(), unseen_levels_counted(unseen):
        for rows in rows_for(model, data, options, (name, target_type(model))):
            if rows.target is None:
                continue
            kept = has_target(rows.target)
            if not n_missing and not kept.all():
                at = int((~kept).arg_max() or 0)
                first = n_rows + at
                where = rows.place(at)
            n_rows += rows.n_rows
            n_missing += rows.n_rows - int(kept.sum())
            held = rows if kept.all() else rows.filter(kept)
            if not held.n_rows or held.target is None or (n_missing and not request.skip_missing_target):
                continue
            truth = as_whole(held.target) if model.task == "classification" else held.target
            add_rows(score, model, model, held.features, truth, always=request.json)
    unseen.warn()
    if n_missing and (not request.skip_missing_target or n_missing == n_rows):
        raise no_target(data, name, n_missing, n_rows, first, where)
    if n_missing:
        note_left_out(n_missing, n_rows)
    if score.n == 0:
        raise DataError(f"{data}: there are no rows to evaluate the model on")
    matter = ""
    if importances:
        with progress():
            judged = of_trees(model, model_path, "--importances")
            matter = permutation_importances(
                judged, *labelled_rows(judged, data, options, name, skip=request.skip_missing_target)
            )
    if request.json:
        say_json(
            {
                "document": "treewright evaluation",
                "version": 1,
                "model": str(model_path),
                "data": str(data),
                "target": name,
                "task": model.task,
                **decision_facts(model),
                **({} if costs is None else {"positive": plain_label(costs.positive)}),
                "n_without_target": n_missing,
                "unseen_levels": {
                    str(column): {
                        "cells": held.total(),
                        "of": unseen.present[column],
                        "levels": _most_frequent(held),
                    }
                    for column, held in unseen.levels.items()
                },
                "score": score.facts() | ({} if costs is None else {"cost": costs.total(score) / score.n}),
                "warning": warning_of(score, model) or None,
            }
        )
        return
    if decides := decision_text(model):
        screen.say_prose(f"the model {decides}")
    _say(score, screen, intervals=intervals)
    if told := unseen.told():
        say()
        more = f" and {len(told) - _MOST_TOLD} more columns" if len(told) > _MOST_TOLD else ""
        screen.say_prose(f"levels that fit never saw: {'; '.join(map(printable, told[:_MOST_TOLD]))}{more}")
    if costs is not None:
        say()
        screen.say_prose(costs.line(score))
    if warning := warning_of(score, model):
        say()
        screen.say_prose(warning)
    if matter:
        say()
        say(matter)


def _most_frequent(held: Mapping[Hashable, int]) -> dict[str, int]:
    """The most frequent levels with their cells, in an order that does not depend on that of the rows."""
    levels = sorted(((str(level), n) for level, n in held.items()), key=lambda each: (-each[1], each[0]))
    return dict(levels[:_MOST_LEVELS])


def _costs_of(model: AnyModel, cost: str | None, positive: str | None) -> Costs | None:
    """What mistakes cost: as given, else the costs that chose the threshold; None if there are none."""
    if cost is None:
        if positive is not None:
            raise UsageRefusal("--positive names the class of --cost: give both")
        if model.threshold is None:
            return None
        from treewright.cli.threshold import costs_that_chose

        return costs_that_chose(model)
    from treewright.cli.threshold import costs_of

    return costs_of(model, cost, positive)


def _say(score: Score, screen: Screen, *, intervals: bool) -> None:
    """Print the score, and for classification the tables that it comes from."""
    if not isinstance(score, LabelScore):
        screen.say_prose(score.line("predictions:"))
        return
    screen.say_prose(score.line("accuracy"))
    for line in unequal_lines(score):
        screen.say_prose(line)
    labels = sorted_labels(score)
    say()
    screen.say(class_lines(score, labels, screen.width, intervals=intervals or screen.painted))
    if len(labels) > _MOST_SHOWN:
        note(f"the confusion matrix of {len(labels)} classes is not shown; at most {_MOST_SHOWN} classes are")
        return
    say()
    screen.say(confusion_lines(score, labels, screen.width))


# --- tables of classes

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

    With ``intervals``, 95 % intervals (Wilson) are next to them, if lines of ``width`` have room for them.
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
    """The confusion matrix, true classes as lines; if wider than ``width``, in blocks of columns under numbers."""
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
        lines.append(
            _line(
                CORNER,
                first,
                [Span(" " * (sizes[at] - cell_width(heads[at])) + heads[at], "faint") for at in block],
                "faint",
            )
        )
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


def _role(count: int, *, is_right: bool) -> Role:
    """How a cell is painted: correct and wrong predictions in colour, zeros faint."""
    if not count:
        return "faint"
    return "good" if is_right else "bad"
