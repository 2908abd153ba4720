"""Words for a model that predicts no better than one answer for all rows: that it is so, the likely reason, the remedy.

The one answer is the most frequent class of the test rows, or their mean, which has an R2 of 0. Command, report and
the summaries of Python say the same sentence.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treewright.data.cells import shown
from treewright.data.target import label_codes
from treewright.judge.tasks import Task

# Of a class so frequent, accuracy says next to nothing. Rows to a leaf, or to a level: with fewer they are learned by
# heart.
FREQUENT = 0.8
FEW_ROWS = 4
FEW_ROWS_OF_LEVEL, MANY_LEVELS = 10, 25


def verdict(score: float, constant: float, *, is_classification: bool) -> str:
    """Words where a score is no better than that of one answer for all rows; else nothing.

    Parameters
    ----------
    score : float
        Accuracy or R2; nan says nothing.
    constant : float
        Accuracy of always giving the most frequent class, or 0, the R2 of the mean; nan says nothing.

    Examples
    --------
    >>> verdict(0.6, 0.68, is_classification=True)
    'no better than one answer for all rows: accuracy 0.600 is not above 0.680, that of the most frequent class'
    >>> verdict(-0.25, 0.0, is_classification=False)
    'worse than one answer for all rows: R2 -0.250 is below 0, that of their mean'
    >>> verdict(0.7, 0.68, is_classification=True)
    ''
    """
    if math.isnan(score) or math.isnan(constant):
        return ""
    if not is_classification:
        return f"worse than one answer for all rows: R2 {score:.3f} is below 0, that of their mean" if score < 0 else ""
    if score > constant or score == 1.0:
        return ""
    return (
        f"no better than one answer for all rows: accuracy {score:.3f} is not above {constant:.3f}, that of the most "
        "frequent class"
    )


def likely_reason(constant: float, n_rows: float, n_leaves: float = math.nan, column: str = "") -> str:
    """Why a model may be no better than one answer, and what to do.

    Parameters
    ----------
    constant : float
        As for ``verdict``.
    n_rows : float
        Rows of the fit.
    n_leaves : float
        Of a single tree; nan for other models.
    column : str
        A column of many levels that is asked about most, in words; empty where there is none.

    Examples
    --------
    >>> likely_reason(0.0, 197, 170)[:75]
    'likely because the tree has 170 leaves for 197 rows, so that it knows these'
    """
    if constant >= FREQUENT:
        return (
            "where one class is so frequent, accuracy says little: look at the recall of each class, at balanced "
            "accuracy or at the AUC"
        )
    if column:
        return f"likely because {column}, which say little about new rows: leave the column out, or put levels together"
    if n_leaves * FEW_ROWS > n_rows:
        return (
            f"likely because the tree has {n_leaves:g} leaves for {n_rows:g} rows, so that it knows these by heart: "
            "prune it, limit max_depth or min_samples_leaf, or grow a forest"
        )
    return (
        "likely because the columns say nothing about the target, or these rows are of another sort than those of the "
        "fit: look for other columns, or fit on more rows"
    )


def constant_score(task: Task, rows: np.ndarray) -> float:
    """What one answer reaches on some rows int64[m]: the share of the most frequent class; 0, the R2 of the mean.

    nan of several targets at once.
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
            column = f"column {shown(first.name)} matters most and has {n_levels} levels in {n_rows:g} rows"
    n_leaves = float(model.trees[0].is_leaf.sum()) if model.is_single_tree else math.nan
    return likely_reason(constant, n_rows, n_leaves, column)
