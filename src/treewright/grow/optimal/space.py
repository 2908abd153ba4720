"""The tests that an optimal tree may use. In: ``Problem``. Out: ``Space``, and a test's ``Candidate``.

- A numeric or ordinal column is an *ordered column*: the rank of each row's cell among the column's values. A cut is
  a number of rows that go left. A column with missing cells is two ordered columns: the missing cells come first in one
  and last in the other, so that every cut is tried with the missing cells on either side.
- A nominal column keeps its level codes, missing cells being one more level. One level (with the missing cells or
  without them) is tested against the rest; a test with two leaves below may also be the best set of levels in the order
  of their means (two classes, or numbers), which is the best of all sets (Breiman et al. 1984, section 4.2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treewright.core.structs import struct
from treewright.grow.by_node.candidates import Candidate, level_branches
from treewright.grow.by_node.cuts import middle_between
from treewright.grow.by_node.instances import EVERY_BRANCH
from treewright.grow.exact.presort import scratch_of_sort, sort_column
from treewright.grow.layout import ROW
from treewright.grow.problem import Problem
from treewright.trees.arrays import SUBSET, THRESHOLD

NO_MISSING, MISSING_FIRST, MISSING_LAST = range(3)


@struct
class Cells(NamedTuple):
    """The table as kernels take it.

    ``ranks`` int32[q, n]: of each ordered column. ``codes`` int32[r, n]: levels of the nominal columns; the number of
    levels if missing. ``n_levels`` int32[r], with missing cells as one more if the column has any. ``missing``
    int32[r]: the code of missing cells, -1 if there are none.
    """

    ranks: np.ndarray
    codes: np.ndarray
    n_levels: np.ndarray
    missing: np.ndarray


@dataclass(frozen=True, eq=False)
class Space:
    """The tests of all columns.

    Attributes
    ----------
    cells : Cells
    orders : int32[q + 1, n]
        Rows by ascending rank of each ordered column; last, rows by their number.
    features : list of int
        The column behind each ordered column, then behind each nominal one.
    missing : list of int
        Where an ordered column has its missing cells.
    """

    problem: Problem
    cells: Cells
    orders: np.ndarray
    features: list[int]
    missing: list[int]

    @property
    def n_ordered(self) -> int:
        """How many ordered columns there are."""
        return len(self.cells.ranks)

    def test(self, place: int, left: np.ndarray, right: np.ndarray) -> tuple[Candidate, bool]:
        """The test of a column that divides these rows (int32 each), and whether the right ones take branch 0."""
        if place >= self.n_ordered:
            return self._set_of_levels(place - self.n_ordered, left, right), False
        return self._cut(place, left, right)

    def _cut(self, place: int, left: np.ndarray, right: np.ndarray) -> tuple[Candidate, bool]:
        feature = self.features[place]
        values = self.problem.values[feature]
        below, above = values[left], values[right]
        has_missing = self.missing[place] != NO_MISSING and bool(np.isnan(below).any() or np.isnan(above).any())
        below, above = below[~np.isnan(below)], above[~np.isnan(above)]
        if not len(below) or not len(above):  # missing cells against all others
            return Candidate(feature, THRESHOLD, 2, 1, 0.0, 0.0, threshold=math.inf), not len(below)
        threshold = middle_between(float(below.max()), float(above.min()))
        side = EVERY_BRANCH if not has_missing else 0 if self.missing[place] == MISSING_FIRST else 1
        return Candidate(feature, THRESHOLD, 2, side, 0.0, 0.0, threshold=threshold), False

    def _set_of_levels(self, place: int, left: np.ndarray, right: np.ndarray) -> Candidate:
        feature = self.features[self.n_ordered + place]
        codes, n_levels = self.cells.codes[place], len(self.problem.schema.columns[feature].levels)
        groups, present = np.full(n_levels + 1, -1), np.zeros(n_levels + 1, bool)
        for side, rows in enumerate((left, right)):
            held = np.unique(codes[rows])
            groups[held], present[held] = side, True
        heavier = 1 if self.problem.weights[right].sum() >= self.problem.weights[left].sum() * (1 - 1e-12) else 0
        missing = int(groups[-1]) if present[-1] else EVERY_BRANCH
        return Candidate(
            feature, SUBSET, 2, missing, 0.0, 0.0,
            branch_of=level_branches(n_levels, groups[:-1], present[:-1], heavier),
        )  # fmt: skip


def space_of(problem: Problem, bins: np.ndarray | None = None) -> Space:
    """Every test of the columns; with ``bins`` (int[n, p]) only cuts between bins."""
    n = problem.n_rows
    orders: list[np.ndarray] = []
    ranks: list[np.ndarray] = []
    features: list[int] = []
    missing: list[int] = []
    items, scratch = np.empty(n, np.int32), scratch_of_sort(n)
    for feature in problem.ordered_columns.tolist():
        values = problem.values[feature]
        if bins is not None:
            values = np.where(np.isnan(values), np.nan, bins[:, feature])
        n_missing = sort_column(np.ascontiguousarray(values), items, *scratch)
        order = items & ROW
        rank = np.cumsum(items < 0, dtype=np.int32) - 1
        ranked = np.empty(n, np.int32)
        ranked[order] = rank
        if 0 < n_missing < n:  # they are last, and have a rank of their own
            orders += [np.roll(order, n_missing), order]
            ranks += [np.where(ranked == rank[-1], 0, ranked + 1), ranked]
            features += [feature] * 2
            missing += [MISSING_FIRST, MISSING_LAST]
        elif n and rank[-1] > 0:
            orders.append(order)
            ranks.append(ranked)
            features.append(feature)
            missing.append(NO_MISSING)
    table = np.array(ranks, np.int32).reshape(len(ranks), n)
    orders.append(np.arange(n, dtype=np.int32))
    codes = np.ascontiguousarray(problem.codes, np.int32)
    n_levels = codes.max(axis=1, initial=0).astype(np.int32) + 1
    code_of_missing = np.diff(problem.level_starts).astype(np.int32) - 1
    missing_codes = np.where(n_levels > code_of_missing, code_of_missing, -1).astype(np.int32)
    cells = Cells(np.ascontiguousarray(table), codes, n_levels, missing_codes)
    return Space(problem, cells, np.array(orders, np.int32), features + problem.level_columns.tolist(), missing)
