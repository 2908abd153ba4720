"""Partial dependence without arrays: one changed row at a time is given to ``predict`` or ``predict_proba``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any


def said_of(est: Any, row: Mapping[Any, Any]) -> list[float]:
    """What a model says of one row: the share of each class, or its number."""
    table = {name: [cell] for name, cell in row.items()}
    if hasattr(est, "predict_proba"):
        return [float(share) for share in est.predict_proba(table)[0]]
    return [float(est.predict(table)[0])]


def naive_lines(
    est: Any, rows: Sequence[Mapping[Any, Any]], column: Any, values: Sequence[Any]
) -> list[list[list[float]]]:
    """What is said of each row with the column set to each value: [row][value][class]."""
    return [[said_of(est, {**row, column: value}) for value in values] for row in rows]


def naive_dependence(
    est: Any, rows: Sequence[Mapping[Any, Any]], column: Any, values: Sequence[Any], weights: Sequence[float]
) -> list[list[float]]:
    """The weighted means over the rows: [value][class]."""
    lines = naive_lines(est, rows, column, values)
    total = math.fsum(weights)
    return [
        [
            math.fsum(weight * line[at][said] for weight, line in zip(weights, lines, strict=True)) / total
            for said in range(len(lines[0][at]))
        ]
        for at in range(len(values))
    ]
