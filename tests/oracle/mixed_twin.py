"""Distances over mixed columns from their definitions, pair by pair. In: schema, cells, targets. Out: rank distances.

Callers: tests of neighbors.mixed.

Gower 1971; HEOM, and HVDM with the second of its ways to compare levels, of Wilson and Martinez 1997. Rows are lists of
Python floats, nan is missing; every sum runs over the columns in order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np


@dataclass
class TwinColumn:
    """What the fit knows of a column: the spread of its numbers, or the classes of the rows of each level."""

    is_nominal: bool
    n_levels: int = 0
    spread: float = 0.0
    shares: dict[int, list[float]] = field(default_factory=dict)


def twin_columns(rule, schema, matrix, target=None) -> list[TwinColumn]:
    """Every column of a fit. Of HVDM spreads are four standard deviations, as exact as ``math.fsum`` is."""
    made = []
    for at, column in enumerate(schema.columns):
        cells = [(row, value) for row, value in enumerate(matrix[:, at].tolist()) if not math.isnan(value)]
        if column.kind == "nominal":
            classes = None if target is None else twin_classes(target)
            made.append(TwinColumn(True, len(column.levels), shares=twin_shares(cells, classes)))
            continue
        values = [value for _, value in cells]
        spread = max(values) - min(values) if values else 0.0
        if rule == "hvdm" and spread > 0:
            mean = math.fsum(values) / len(values)
            spread = 4.0 * math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
        made.append(TwinColumn(False, spread=spread))
    return made


def twin_classes(target) -> list[int]:
    """Codes of classes as they are; numbers by tenths of their order, equal numbers by the first of them."""
    values = np.asarray(target).reshape(-1).tolist()
    if np.asarray(target).dtype.kind in "iu":
        return values
    ordered = sorted(values)
    return [ordered.index(value) * 10 // len(values) for value in values]


def twin_shares(cells, classes) -> dict[int, list[float]]:
    """Of every level that some row has, the share of each class among its rows."""
    if classes is None:
        return {}
    n_classes = max(classes) + 1
    by_level: dict[int, list[int]] = {}
    for row, level in cells:
        by_level.setdefault(int(level), []).append(classes[row])
    return {level: [found.count(each) / len(found) for each in range(n_classes)] for level, found in by_level.items()}


def twin_rank(rule, a, b, columns) -> float:
    """The rank distance of two rows: Gower's own distance, or the sum of squares under the root of HEOM and HVDM."""
    if rule == "gower":
        parts = [
            gower_part(x, y, column)
            for x, y, column in zip(a, b, columns, strict=True)
            if not math.isnan(x) and not math.isnan(y)
        ]
        total = 0.0
        for part in parts:
            total += part
        return total / len(parts) if parts else 1.0
    total = 0.0
    for x, y, column in zip(a, b, columns, strict=True):
        total += square_of(rule, x, y, column)
    return total


def gower_part(x, y, column) -> float:
    """Of a column that is known in both rows: 0 to 1."""
    if column.is_nominal:
        return level_part(x, y, column)
    if column.spread == 0:
        return 0.0 if x == y else 1.0
    return min(abs(x - y) / column.spread, 1.0)


def level_part(x, y, column) -> float:
    """0 for one level, 1 for two; what the fit never saw is no level, and is like nothing."""
    return 0.0 if x == y and x < column.n_levels else 1.0


def square_of(rule, x, y, column) -> float:
    """The square of the distance in one column."""
    if math.isnan(x) or math.isnan(y):
        return 1.0
    if not column.is_nominal:
        part = abs(x - y) / column.spread if column.spread else float(x != y)
        return part * part
    if rule == "heom" or x == y or int(x) not in column.shares or int(y) not in column.shares:
        return level_part(x, y, column)
    total = 0.0
    for of_x, of_y in zip(column.shares[int(x)], column.shares[int(y)], strict=True):
        total += (of_x - of_y) * (of_x - of_y)
    return total
