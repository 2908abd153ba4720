"""What the way to a node asks of a row. In: bounds, a row's cells. Out: ``Way``. Callers: explain.cheapest_leaf.

A column that every test on the way sends along as it is stays as it is and costs nothing. Any other has to take a value
within what the tests allow together; the nearest one says how far that is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treewright.data.schema import Column, Schema
from treewright.tree.tests import Bound, has_values, ordinal_levels


class Held(NamedTuple):
    """What a way asks of one column.

    Attributes
    ----------
    bound : Bound
        What a new value must be.
    kept : bool
        Whether the row's own cell goes this way; a missing one then stays missing.
    """

    bound: Bound
    kept: bool


@dataclass(frozen=True, slots=True)
class Way:
    """What leads to a node.

    Attributes
    ----------
    held : dict of int to Held
        Every column that is asked about, first asked first.
    distances : dict of int to float
        Of the columns that have to change: how far.
    """

    held: dict[int, Held]
    distances: dict[int, float]

    @property
    def distance(self) -> float:
        """Sum of the distances, in the order of the columns: the same float whatever the way."""
        whole = 0.0
        for feature in sorted(self.distances):
            whole += self.distances[feature]
        return whole


@dataclass(frozen=True, eq=False)
class Asked:
    """A row that is to be changed.

    Attributes
    ----------
    schema : Schema
    cells : float64[p]
        Encoded; nan is missing.
    keep : frozenset of int
        Columns that must stay as they are.
    scales : float64[p]
        How much of each numeric column counts as 1; > 0.
    """

    schema: Schema
    cells: np.ndarray
    keep: frozenset[int]
    scales: np.ndarray

    def is_missing(self, feature: int) -> bool:
        """Whether the cell is missing."""
        return math.isnan(self.cells[feature])

    def narrowed(self, way: Way, feature: int, bound: Bound, *, own: bool) -> Way | None:
        """Return the way with a bound of a column; None where no value meets it, or where the column must stay.

        Parameters
        ----------
        way : Way
        feature : int
        bound : Bound
            All that is asked of the column now.
        own : bool
            Whether the row's own cell meets what is new in it.
        """
        before = way.held.get(feature)
        if own and (before is None or before.kept):
            return Way({**way.held, feature: Held(bound, True)}, way.distances)
        far = self.distance(feature, bound)
        if far is None:
            return None
        return Way({**way.held, feature: Held(bound, False)}, {**way.distances, feature: far})

    def distance(self, feature: int, bound: Bound) -> float | None:
        """How far the column moves into a bound; None where no value meets it, or where the column must stay.

        A level of a nominal column and a missing cell that is filled in count 1, an ordinal column counts the levels
        that it moves by, a number what it moves by over the column's scale.
        """
        column, cell = self.schema.columns[feature], float(self.cells[feature])
        if feature in self.keep or not bound.present or not has_values(column, bound):
            return None
        if column.kind == "nominal" or math.isnan(cell):
            return 1.0
        gone = abs(nearest_value(column, bound, cell) - cell)
        return gone if column.kind == "ordinal" else gone / float(self.scales[feature])


def nearest_value(column: Column, bound: Bound, cell: float, preferred: int | None = None) -> float:
    """Return the value within a bound that is nearest to a cell; of a nominal column the preferred or first level.

    Parameters
    ----------
    column : Column
    bound : Bound
        That some value meets.
    cell : float
        Encoded, outside of the bound; nan is missing: it becomes the upper end, the lowest level, else 0.
    preferred : int, optional
        Code of a level.

    Returns
    -------
    float
        Encoded. Just above a lower end that is the next float64.

    Examples
    --------
    >>> nearest_value(Column("age", "numeric"), Bound(lower=2.0, upper=5.0), 9.0)
    5.0
    >>> nearest_value(Column("age", "numeric"), Bound(lower=2.0, upper=5.0), 1.0)
    2.0000000000000004
    """
    if column.kind == "nominal":
        allowed = np.ones(len(column.levels), bool) if bound.allowed is None else bound.allowed
        return float(preferred if preferred is not None and allowed[preferred] else np.argmax(allowed))
    if column.kind == "ordinal":
        ranks = np.flatnonzero(ordinal_levels(column, bound))
        # The lower one of two that are equally near.
        return float(ranks[0] if math.isnan(cell) else ranks[np.argmin(np.abs(ranks - cell))])
    if cell > bound.upper or (math.isnan(cell) and bound.upper != math.inf):
        return bound.upper
    return 0.0 if bound.lower == -math.inf else math.nextafter(bound.lower, math.inf)
