"""Columns that boosting derives from others. In: rows, members. Out: rows with more columns.

There are three ways, one after the other; each also uses the columns kept from those before:

    sums, differences, products, ratios     of the numeric columns with the largest gains
    pairs of levels of two columns          of the nominal columns with the largest gains
    linear scores of all columns            one, or one per class or output

The held-out rows decide whether they are kept (``learn.boosting``).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from treewright.boosting.linear import FOLDS, LinearScores, linear_scores
from treewright.boosting.rounds import Members
from treewright.data.dataset import Dataset
from treewright.data.derived import derived_cells, levels_together, pairs_of, with_derived
from treewright.data.schema import Column, unlike
from treewright.learn.many_levels import with_derived_columns
from treewright.learn.rows_aside import names_of, number_of_rows

_ROWS_FOR_PAIRS = 500  # on iris and wine pairs of columns overfit the held-out rows
_PAIRED = 6  # columns of a kind from which pairs are made
_ROWS_TOGETHER = 4  # per pair of levels, on average
_MOST_SCORES, _ROWS_FOR_SCORES = 10, 100


def pairs_of_numbers(dataset: Dataset, members: Members) -> Sequence[Column]:
    """Sums, differences, products and ratios of the numeric columns with the largest gains in the members."""
    return pairs_of(dataset.schema, _asked_most(dataset, members, "numeric"))


def pairs_of_levels(dataset: Dataset, members: Members) -> Sequence[Column]:
    """Pairs of levels of the nominal columns with the largest gains; only columns with enough rows per pair."""
    pairs = itertools.combinations(_asked_most(dataset, members, "nominal"), 2)
    found = [levels_together(dataset.schema, one, other, dataset.matrix) for one, other in pairs]
    most = number_of_rows(dataset) // _ROWS_TOGETHER
    return [column for column in found if len(set(column.levels)) == len(column.levels) <= most]


def _asked_most(dataset: Dataset, members: Members, kind: str) -> list[int]:
    """The columns of a kind with the largest gains in the members, in their order; none if rows are few."""
    if number_of_rows(dataset) < _ROWS_FOR_PAIRS:
        return []
    gains = np.zeros(len(dataset.schema))
    for trees in members.trees:
        for kept in trees:
            np.add.at(gains, kept.tree.column[kept.tree.gain > 0], kept.tree.gain[kept.tree.gain > 0])
    found = [at for at, column in enumerate(dataset.schema.columns) if column.kind == kind and not column.part]
    return sorted(sorted((at for at in found if gains[at] > 0), key=lambda at: -gains[at])[:_PAIRED])


def with_linear_scores(dataset: Dataset, asides: Sequence[np.ndarray]) -> tuple[Dataset, list[np.ndarray]]:
    """The rows with a linear score of all columns, one per class or output, and each member's cells of these scores.

    Returns
    -------
    Dataset
    list of float64[n, k]
        For each member the cells of a score that was fitted without its held-out rows, so that these are like new
        rows: the cells of a score of all rows depend on the outcomes of the held-out ones. With such scores the log
        loss of cylinder_bands rose from .363 to .375, though that of the held-out rows fell.
    """
    outcomes = _outcomes_of(dataset)
    k = len(outcomes)
    if k > _MOST_SCORES or number_of_rows(dataset) < _ROWS_FOR_SCORES:
        return dataset, []
    together = np.column_stack([own for _, own in outcomes])
    names = unlike((name for name, _ in outcomes), dataset.schema.names)
    folds = (names_of(dataset) % FOLDS).astype(np.int32)

    def scored(rows: np.ndarray, strength: float | None = None) -> LinearScores:
        own = dataset.take(rows)
        n_rows = number_of_rows(own)
        return linear_scores(own.schema, own.matrix, together[rows], own.weights, n_rows, folds[rows], names, strength)

    n_given = len(dataset.schema)
    of_all = scored(np.arange(len(dataset)))
    if not of_all.columns:
        return dataset, []
    wide = with_derived_columns(dataset, with_derived(dataset.schema, of_all.columns))
    matrix = wide.matrix.copy(order="F")
    matrix[:, n_given:] = of_all.cells
    of_members = []
    for aside in asides:
        kept = np.delete(np.arange(len(dataset)), aside)
        own_scores = scored(kept, of_all.strength)
        if not own_scores.columns:
            return dataset, []
        own = np.empty((len(dataset), k))
        own[kept] = own_scores.cells
        columns = (*dataset.schema.columns, *own_scores.columns)
        for at in range(k):
            own[aside, at] = derived_cells(columns, n_given + at, dataset.matrix[aside])
        of_members.append(own)
    return replace(wide, matrix=matrix, cache=None), of_members


def _outcomes_of(dataset: Dataset) -> list[tuple[str, np.ndarray]]:
    """The targets of linear scores, 0 to 1, float64[n] each, with the names of the scores."""
    found: list[tuple[str, np.ndarray]] = []
    names = dataset.target.names or range(dataset.n_outputs)
    for output, own in enumerate(dataset.target_array.T):
        several = f" of {names[output]}" if dataset.n_outputs > 1 else ""
        if not dataset.classes:
            width = max(float(np.ptp(own / 2)), np.finfo(np.float64).tiny)  # halves: the whole width may overflow
            found.append((f"linear score{several}", (own / 2 - own.min() / 2) / width))
            continue
        labels = dataset.classes[output].tolist()
        for code in range(1 if len(labels) == 2 else 0, len(labels)):
            label = "" if len(labels) == 2 else f" of {labels[code]}"
            found.append((f"linear score{several}{label}", (own == code).astype(np.float64)))
    return found
