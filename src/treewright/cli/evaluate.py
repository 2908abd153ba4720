"""``treewright evaluate``. In: a model and rows with their target. Out: the score of the model.

Classification: accuracy with its interval, a table per class, the confusion matrix. Regression: R2 and the errors.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from treewright.cli.holdout import add_rows, score_for, warning_of
from treewright.cli.models import decision_facts, load_model, note_left_out, of_trees, refuse_isolation
from treewright.cli.tables import class_lines, confusion_lines, sorted_labels, unequal_lines
from treewright.cli.terminal import Screen, UsageRefusal, note, printable, progress, say, say_json, screen_of
from treewright.data.encoder import UnseenLevels, unseen_levels_counted
from treewright.evaluation.measures import LabelScore, Score, plain_label
from treewright.exceptions import DataError
from treewright.files.matching import as_whole, rows_for, target_type
from treewright.files.table import has_target, no_target
from treewright.files.text import ReadOptions
from treewright.trees.threshold import decision_words

if TYPE_CHECKING:
    from treewright.cli.models import AnyModel
    from treewright.cli.threshold import Costs

__all__ = ["run_evaluate"]

_MOST_SHOWN = 20
_MOST_TOLD, _MOST_LEVELS = 10, 20  # columns with unseen levels, and levels of one


def run_evaluate(
    model_path: Path,
    data: Path,
    options: ReadOptions,
    target: str | None,
    *,
    skip_missing_target: bool = False,
    importances: bool = False,
    intervals: bool = False,
    cost: str | None = None,
    positive: str | None = None,
    as_json: bool = False,
    color: str = "auto",
    width: int | None = None,
) -> None:
    """Compare a model's predictions with the target.

    Parameters
    ----------
    model_path, data : Path
    options : ReadOptions
    target : str or None
        The target column; None takes the name that the model was fitted with.
    skip_missing_target : bool
        Whether rows without a target are left out, instead of being refused.
    importances : bool
        Whether to print also how much worse its trees predict when a column is shuffled; then the rows have to fit
        into memory.
    intervals : bool
        Whether precision and recall of each class have their intervals next to them, also in a pipe.
    cost, positive : str or None
        What mistakes cost, as in "fp=1,fn=5", and the class that they are about; None is the class of the model's
        threshold, or the second. Without costs, those that chose the threshold are used, if any did.
    as_json : bool
        Whether the results are one JSON document.
    color : {"auto", "always", "never"}
    width : int or None
        Characters of a line; None is the width of the window, or of a page.
    """
    from treewright.cli.models import check_can_be_judged, permutation_importances, target_name

    screen = screen_of(color, width)
    model = load_model(model_path)
    refuse_isolation(model, model_path, "it cannot be scored")
    name = target_name(model, model_path, target, "evaluate")
    score = score_for(model)
    if intervals and not isinstance(score, LabelScore):
        raise UsageRefusal(f"--intervals is for classification, and {model_path} predicts numbers: leave it out")
    if as_json and (importances or intervals):
        word = "--importances" if importances else "--intervals"
        raise UsageRefusal(f"--json and {word} do not go together: leave one out")
    if importances:
        check_can_be_judged(of_trees(model, model_path, "--importances"), model_path)
    costs = _costs_of(model, cost, positive)
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
            if not held.n_rows or held.target is None or (n_missing and not skip_missing_target):
                continue
            truth = as_whole(held.target) if model.task == "classification" else held.target
            add_rows(score, model, model, held.features, truth, always=as_json)
    unseen.warn()
    if n_missing and (not skip_missing_target or n_missing == n_rows):
        raise no_target(data, name, n_missing, n_rows, first, where)
    if n_missing:
        note_left_out(n_missing, n_rows)
    if score.n == 0:
        raise DataError(f"{data}: there are no rows to evaluate the model on")
    matter = ""
    if importances:
        from treewright.cli.models import labelled_rows

        with progress():
            judged = of_trees(model, model_path, "--importances")
            matter = permutation_importances(
                judged, *labelled_rows(judged, data, options, name, skip=skip_missing_target)
            )
    if as_json:
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
    if decides := decision_words(model):
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
