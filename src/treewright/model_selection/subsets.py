"""Smaller and smaller parts of training rows. In: rows, a target. Out: their order. Callers: model_selection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treewright.data.target import label_codes
from treewright.model_selection.folds import Split
from treewright.model_selection.seeds import seed_beside
from treewright.model_selection.task import Task


def nested_order(task: Task, rows: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    """Rows in such an order that the first m of them are a fair sample, for every m.

    Parameters
    ----------
    task : Task
    rows : int64[n]
    random : RandomState
        For the order.

    Returns
    -------
    int64[n]
        The same rows, shuffled; for one target of classes each class is spread evenly, so that a beginning has about
        the share of each class that the whole has.
    """
    shuffled = random.permutation(rows)
    if not task.is_classification or task.truth.ndim > 1:
        return shuffled
    # Of the whole target, so that a refusal names the row that the user knows.
    codes = label_codes(task.truth)[0][shuffled]
    counts = np.bincount(codes)
    # The i-th of a class's c rows comes at (i - 1/2) / c of the way.
    by_class = np.argsort(codes, kind="stable")
    begin = np.cumsum(counts) - counts
    rank = np.empty(len(rows), np.int64)
    rank[by_class] = np.arange(len(rows)) - np.repeat(begin, counts)
    return shuffled[np.argsort((rank + 0.5) / counts[codes], kind="stable")]


def nested_orders(task: Task, splits: Sequence[Split], random_state: Any) -> list[np.ndarray]:
    """``nested_order`` of the training rows of each fold, by a seed that is not that of the folds."""
    random = np.random.RandomState(seed_beside(random_state, purpose=1))
    return [nested_order(task, train, random) for train, _ in splits]
