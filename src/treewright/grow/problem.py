"""The data of a tree that grows node by node. In: encoded matrix, schema, target, weights. Out: ``Problem``.

A row adds ``weight * amounts[row, e]`` to statistic ``index[row, e]``: class counts for labels; weight, sum and a sum
of a function of the target (its square, or y log y) for numbers. Criteria are computed from such sums.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from treewright.core.elementary import log2_of, log_of
from treewright.data.schema import Schema
from treewright.exceptions import DataError
from treewright.grow.objective import centre_of
from treewright.trees.arrays import Missing

LARGEST_TABLE = 2**17  # logarithms kept: a megabyte
LEAST_WEIGHT = 1e-280  # of one row, if weights are scaled to a largest weight of 1
N_MOMENTS = 3  # statistics of one regression output: weight, sum, sum of squares (Poisson: of y log y)


class Cells(NamedTuple):
    """The table as kernels take it; see ``Problem``."""

    values: np.ndarray
    ordered_columns: np.ndarray
    level_columns: np.ndarray
    codes: np.ndarray
    level_starts: np.ndarray


class Additions(NamedTuple):
    """What each row adds to the statistics of a node, as kernels take it; see ``Problem``."""

    indices: np.ndarray
    amounts: np.ndarray
    outputs: np.ndarray
    table: np.ndarray


@dataclass(frozen=True, eq=False)
class Problem:
    """The encoded table, its target as statistics, and how missing cells are treated.

    Attributes
    ----------
    schema : Schema
    values : float64[p, n], C order
        The encoded table, a row for each column.
    level_columns, ordered_columns : int64[k], int64[q]
        Columns split by their levels, and columns that are cut.
    codes : int32[k, n]
        Level codes of the level columns; the number of levels if missing.
    level_starts : int64[k + 1]
        Start of each level column in a table of all levels; one more row than levels each, the last for missing.
    index : int32[n, e]; amounts : float64[n, e]
    weights : float64[n]
    outputs : int64[n_outputs + 1]
        Start of each output's statistics.
    is_classes : bool
    centres : float64[n_outputs]
        The numbers subtracted from regression targets.
    targets : float64[n_outputs, n]
        Regression targets as given; empty for classification.
    missing : str
        ``ModelData.missing``. Under ``"error"`` no cell is missing: the encoding refused them.
    unit : float
        Divisor of regression targets: 1.0 unless their squares would leave float64.
    weight_unit : float
        Divisor of the weights, for the same reason.
    """

    schema: Schema
    values: np.ndarray
    level_columns: np.ndarray
    ordered_columns: np.ndarray
    codes: np.ndarray
    level_starts: np.ndarray
    index: np.ndarray
    amounts: np.ndarray
    weights: np.ndarray
    outputs: np.ndarray
    is_classes: bool
    centres: np.ndarray
    targets: np.ndarray
    missing: Missing
    unit: float = 1.0
    weight_unit: float = 1.0

    @property
    def n_rows(self) -> int:
        """Number of rows of the table."""
        return self.values.shape[1]

    @property
    def n_stats(self) -> int:
        """Number of statistics of a node."""
        return int(self.outputs[-1])

    @property
    def n_outputs(self) -> int:
        """Number of targets."""
        return len(self.outputs) - 1

    def weight_of(self, tables: np.ndarray) -> np.ndarray:
        """float64[...]: the weight in tables of statistics, float64[..., n_stats]."""
        if self.is_classes:
            weight: np.ndarray = tables[..., : self.outputs[1]].sum(axis=-1)
            return weight
        return tables[..., 0]

    @property
    def square_unit(self) -> float:
        """Factor of an impurity made of squares; kept within float64, so that gains can be compared."""
        return min(max(self.unit * self.unit, 2.0**-1000), 2.0**1000) if self.unit != 1.0 else 1.0

    @cached_property
    def table(self) -> np.ndarray:
        """float64[m]: ``c log2 c`` of whole numbers c, for entropy; nothing for numbers."""
        if not self.is_classes:
            return np.empty(0)
        counts = np.arange(min(self.n_rows + 1, LARGEST_TABLE), dtype=np.float64)
        return counts * log2_of(np.maximum(counts, 1.0))

    @cached_property
    def cells(self) -> Cells:
        """For kernels: the table."""
        return Cells(self.values, self.ordered_columns, self.level_columns, self.codes, self.level_starts)

    @cached_property
    def additions(self) -> Additions:
        """For kernels: what each row adds to the statistics of a node."""
        return Additions(self.index, self.amounts, self.outputs, self.table)

    @cached_property
    def place_of(self) -> dict[int, int]:
        """Position of each column among the ordered or the level columns."""
        places = {int(feature): place for place, feature in enumerate(self.ordered_columns)}
        return places | {int(feature): place for place, feature in enumerate(self.level_columns)}

    @cached_property
    def _sorted(self) -> dict[int, list[float]]:
        return {}

    def value_at_most(self, feature: int, limit: float) -> float:
        """The largest value of a column that is not above ``limit``; there has to be one."""
        values = self._sorted.get(feature)
        if values is None:
            column = self.values[feature]
            values = self._sorted[feature] = np.unique(column[~np.isnan(column)]).tolist()
        return values[bisect_right(values, limit) - 1]

    def levels_of(self, place: int) -> slice:
        """Rows of a level column's levels, without missing, in a table of all levels."""
        return slice(int(self.level_starts[place]), int(self.level_starts[place + 1]) - 1)


def class_problem(
    matrix: np.ndarray,
    schema: Schema,
    codes: np.ndarray,
    n_classes: Sequence[int],
    weights: np.ndarray | None,
    missing: Missing,
    *,
    cut_ordinal: bool = True,
) -> Problem:
    """A problem whose target is class labels.

    Parameters
    ----------
    matrix : float[n, p]
    codes : int32[n, n_outputs]
    n_classes : sequence of int
    weights : float64[n], > 0, or None
    cut_ordinal : bool
        Whether ordinal columns are cut; else each of their levels may be a branch.
    """
    outputs = np.concatenate([[0], np.cumsum(n_classes)]).astype(np.int64)
    index = np.ascontiguousarray(codes + outputs[:-1], np.int32)
    nothing = np.empty((len(n_classes), 0))
    return _problem(
        matrix, schema, index, np.ones(index.shape), weights, outputs, True, np.empty(0), nothing, missing, cut_ordinal
    )


def number_problem(
    matrix: np.ndarray,
    schema: Schema,
    targets: np.ndarray,
    weights: np.ndarray | None,
    missing: Missing,
    *,
    is_poisson: bool = False,
    cut_ordinal: bool = True,
) -> Problem:
    """A problem whose target is numeric.

    Parameters
    ----------
    matrix : float[n, p]
    targets : float64[n, n_outputs], finite
    weights : float64[n], > 0, or None
    is_poisson : bool
        Keep the sum of y log y instead of that of squares; then nothing is subtracted from the target.
    """
    n, n_outputs = targets.shape
    columns = np.ascontiguousarray(targets.T)
    centres = np.zeros(n_outputs) if is_poisson else np.array([centre_of(y, weights) for y in columns])
    centred = columns - centres[:, None]
    unit = 1.0 if is_poisson else unit_of(centred)
    centred /= unit
    if is_poisson:
        third = np.where(centred > 0, centred * log_of(np.where(centred > 0, centred, 1.0)), 0.0)
    else:
        third = centred * centred
    amounts = np.stack([np.ones((n_outputs, n)), centred, third], axis=2).transpose(1, 0, 2).reshape(n, -1)
    index = np.broadcast_to(np.arange(N_MOMENTS * n_outputs, dtype=np.int32), amounts.shape)
    outputs = np.arange(0, N_MOMENTS * n_outputs + 1, N_MOMENTS)
    return _problem(
        matrix, schema, np.ascontiguousarray(index), np.ascontiguousarray(amounts), weights, outputs, False, centres,
        columns, missing, cut_ordinal, unit,
    )  # fmt: skip


def unit_of(numbers: np.ndarray) -> float:
    """A power of two near the largest of these numbers if its square is beyond float64, else 1.0."""
    largest = float(np.abs(numbers).max(initial=0.0))
    return 1.0 if largest == 0.0 or 1e-140 < largest < 1e140 else math.ldexp(1.0, math.frexp(largest)[1] - 1)


def _problem(
    matrix: np.ndarray,
    schema: Schema,
    index: np.ndarray,
    amounts: np.ndarray,
    weights: np.ndarray | None,
    outputs: np.ndarray,
    is_classes: bool,
    centres: np.ndarray,
    targets: np.ndarray,
    missing: Missing,
    cut_ordinal: bool,
    unit: float = 1.0,
) -> Problem:
    """Columns by the way they are split, levels as codes."""
    weight_unit = 1.0 if weights is None else unit_of(weights)
    if weights is not None and weights.min() / weight_unit < LEAST_WEIGHT:
        raise DataError(
            f"weights from {weights.min():g} to {weights.max():g} are too far apart: their sums would lose the small "
            "ones; give those rows the weight 0, or leave them out"
        )
    by_level = [c.kind == "nominal" or (c.kind == "ordinal" and not cut_ordinal) for c in schema.columns]
    level_columns = np.flatnonzero(by_level)
    values = np.ascontiguousarray(matrix.T, np.float64)
    n_levels = np.array([len(schema.columns[at].levels) for at in level_columns], np.int64)
    codes = np.empty((len(level_columns), len(matrix)), np.int32)
    for place, at in enumerate(level_columns.tolist()):
        cells = values[at]
        missing_cells = np.isnan(cells)
        codes[place] = np.where(missing_cells, n_levels[place], cells) if missing_cells.any() else cells
    return Problem(
        schema=schema,
        values=values,
        level_columns=level_columns,
        ordered_columns=np.flatnonzero(np.logical_not(by_level)),
        codes=codes,
        level_starts=np.concatenate([[0], np.cumsum(n_levels + 1)]).astype(np.int64),
        index=index,
        amounts=amounts,
        weights=np.ones(len(matrix)) if weights is None else np.asarray(weights, np.float64) / weight_unit,
        outputs=np.asarray(outputs, np.int64),
        is_classes=is_classes,
        centres=centres,
        targets=targets,
        missing=missing,
        unit=unit,
        weight_unit=weight_unit,
    )
