"""Warnings about a model that is no better than a constant prediction: the fact, the likely reason, the remedy.

The constant prediction is the most frequent class of the test rows, or their mean, which has an R2 of 0. Command,
report and Python's summaries use the same sentence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from treewright.data.cells import shown
from treewright.data.target import label_codes
from treewright.evaluation.folds import (
    Task,
)
from treewright.trees.summary import counted, n_named
from treewright.trees.writing import shorten, written_level

# The share of a class above which accuracy says next to nothing. The rows per leaf, or per level, below which they are
# learned by heart.
FREQUENT = 0.8
FEW_ROWS = 4
TOO_FEW_ROWS = 10  # training rows: a model of fewer is chance
MOST_NAMED, NAME_WIDTH = 6, 60  # classes in a message
FEW_ROWS_OF_LEVEL, MANY_LEVELS = 10, 25


def verdict(score: float, constant: float, *, is_classification: bool) -> str:
    """The message that a score is no better than that of a constant prediction; else an empty text.

    ``score``: accuracy or R2; nan gives an empty text. ``constant``: accuracy of always predicting the most frequent
    class, or 0, the R2 of the mean; nan gives an empty text.
    """
    if math.isnan(score) or math.isnan(constant):
        return ""
    if not is_classification:
        return f"worse than a constant prediction: R2 {score:.3f} is below 0, that of the mean" if score < 0 else ""
    if score > constant or score == 1.0:
        return ""
    return (
        f"no better than a constant prediction: accuracy {score:.3f} is not above {constant:.3f}, that of the most "
        "frequent class"
    )


def class_warnings(known: Sequence[object], held: Mapping[object, int]) -> list[str]:
    """Messages if the training rows have one class only, or if the test rows have classes that they lack.

    ``known``: the classes of the training rows. ``held``: test rows of each class.
    """
    found = []
    if len(known) == 1:
        found.append(f"the training rows are all of class {_name(known[0])}: there is nothing to learn")
    strange = sorted(set(held) - set(known), key=lambda label: (-held[label], str(label)))
    if not strange:
        return found
    n = sum(held[label] for label in strange)
    named = strange[: n_named(len(strange), MOST_NAMED)]
    names = ", ".join(map(_name, named)) + (f", {len(strange) - len(named)} more" if len(named) < len(strange) else "")
    what, was, its = ("class", "is", "its") if len(strange) == 1 else ("classes", "are", "their")
    return [
        *found,
        f"{what} {names} {was} not in the training rows: {its} {counted(n, 'row')} cannot be predicted correctly",
    ]


def _name(label: object) -> str:
    return f"'{shorten(written_level(label), NAME_WIDTH)}'"


def likely_reason(constant: float, n_rows: float, n_leaves: float = math.nan, column: str = "") -> str:
    """Why a model may be no better than a constant prediction, and what to do.

    ``constant``: as for ``verdict``. ``n_rows``: the number of training rows. ``n_leaves``: the leaves of a single
    tree; nan for other models. ``column``: words about the most important column if it has too many levels; else empty.
    """
    if n_rows < TOO_FEW_ROWS:
        return f"likely because {counted(round(n_rows), 'row')} are too few to learn from: fit on more rows"
    if constant >= FREQUENT:
        return (
            "when one class is so frequent, accuracy says little: look at the recall of each class, at balanced "
            "accuracy or at the AUC"
        )
    if column:
        return f"likely because {column}, which say little about new rows: leave the column out, or combine levels"
    if n_leaves * FEW_ROWS > n_rows:
        return (
            f"likely because the tree has {counted(round(n_leaves), 'leaf', 'leaves')} for "
            f"{counted(round(n_rows), 'row')}, so it has learned these by heart: prune it, limit max_depth or "
            "min_samples_leaf, or fit a forest"
        )
    return (
        "likely because the columns carry no information about the target, or these rows differ from the training "
        "rows: use other columns, or fit on more rows"
    )


def constant_score(task: Task, rows: np.ndarray) -> float:
    """The score of a constant prediction on some rows int64[m]: the accuracy of the most frequent class, or R2 0.

    nan for several targets.
    """
    truth = task.truth[rows]
    if truth.ndim > 1 and truth.shape[1] > 1:
        return math.nan
    if not task.is_classification:
        return 0.0
    held = np.bincount(label_codes(truth.ravel())[0], task.weights_at(rows))
    return float(held.max() / held.sum())


def reason_of(model: Any, constant: float) -> str:
    """``likely_reason`` of a model, of trees or of neighbours."""
    n_rows = float(model.facts.get("n_samples", math.nan))
    if not model.has_trees or not n_rows > 0:
        return likely_reason(constant, n_rows)
    importances = np.asarray(model.feature_importances)
    column = ""
    if importances.size and importances.any():
        first = model.schema.columns[int(importances.argmax())]
        n_levels = len(first.levels)
        if n_levels >= MANY_LEVELS and n_levels * FEW_ROWS_OF_LEVEL > n_rows:
            column = (
                f"column {shown(first.name)} matters most and has {n_levels} levels in {counted(round(n_rows), 'row')}"
            )
    n_leaves = float(model.trees[0].is_leaf.sum()) if model.is_single_tree else math.nan
    return likely_reason(constant, n_rows, n_leaves, column)
