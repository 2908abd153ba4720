"""The comparison of columns of several kinds, learned from training rows.

Gower (1971), "A general coefficient of similarity and some of its properties"; Wilson and Martinez (1997), "Improved
heterogeneous distance functions" (HEOM, and HVDM with their N2). They leave some cases open, which are decided here: a
column that is constant in the training rows compares like levels; an unseen level has distance 1 from everything, also
from itself (two such cells may be different words); Gower's term of a column is at most 1, also outside the training
range; standard deviations are those of a population.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treewright.data.cells import shown
from treewright.data.schema import Schema
from treewright.data.table import column_label
from treewright.exceptions import DataError, ParameterError, setting
from treewright.neighbors.scaling import LARGEST

GOWER, HEOM, HVDM, NAN_EUCLIDEAN = range(4)
RULES = {"gower": GOWER, "heom": HEOM, "hvdm": HVDM}
# Kinds of columns: differences over a scale; equal or not; class proportions.
DIFFERENCE, EQUALITY, SHARES = range(3)
# Numeric targets are divided into this many groups of equal size, which count as classes.
_GROUPS = 10
# In place of the class proportions of a level without training rows.
NO_ROWS = -1.0


@dataclass(frozen=True, eq=False)
class MixedColumns:
    """The comparison of each column.

    Attributes
    ----------
    kinds : uint8[p]
        ``DIFFERENCE``: |a - b| / scale. ``EQUALITY``: 0 or 1. ``SHARES``: by ``tables``.
    scales : float64[p] > 0
        Range, or four standard deviations; 1 for other columns.
    rule : int
        ``GOWER``, ``HEOM``, ``HVDM`` or ``NAN_EUCLIDEAN``: how columns add up and how missing cells are treated.
    n_levels : int64[p]
        Levels of a nominal column, whose codes are below this; a cell with this code is an unseen level. 0 for others.
    tables : float64[...]
        For HVDM: the class proportions of each level of each column of ``SHARES``; ``NO_ROWS`` for levels without rows.
    starts : int64[p + 1]
        The beginning of each column's part of ``tables``: n_levels rows of ``n_classes``.
    n_classes : int
    """

    kinds: np.ndarray
    scales: np.ndarray
    rule: int
    n_levels: np.ndarray
    tables: np.ndarray
    starts: np.ndarray
    n_classes: int


def mixed_columns(rule: int, schema: Schema, matrix: np.ndarray, target: np.ndarray | None) -> MixedColumns:
    """The comparison of columns, from training rows.

    Parameters
    ----------
    rule : int
        ``GOWER``, ``HEOM`` or ``HVDM``.
    matrix : float64[n, p] or float32[n, p]
        nan is missing; nothing is infinite.
    target : int[n] or int[n, 1], float64[n] or float64[n, 1], or None
        For HVDM: codes of classes, or numbers.

    Examples
    --------
    >>> from treewright.data.encoder import encode_fit
    >>> schema, matrix = encode_fit({"age": [20, 40, None], "sky": ["sun", "rain", "sun"]})
    >>> columns = mixed_columns(GOWER, schema, matrix, None)
    >>> columns.kinds.tolist(), columns.scales.tolist()
    ([0, 1], [20.0, 1.0])
    """
    p = len(schema)
    kinds, scales = np.full(p, EQUALITY, np.uint8), np.ones(p)
    n_levels = np.zeros(p, np.int64)
    for at, column in enumerate(schema.columns):
        if column.kind == "nominal":
            n_levels[at] = len(column.levels)
            continue
        scale = _spread(matrix[:, at].astype(np.float64), rule, column_label(schema.names, at))
        if scale > 0:
            kinds[at], scales[at] = DIFFERENCE, scale
    starts, tables, n_classes = np.zeros(p + 1, np.int64), np.empty(0), 0
    if rule == HVDM:
        classes, n_classes = _classes(target)
        is_nominal = np.array([column.kind == "nominal" for column in schema.columns], bool)
        kinds[is_nominal] = SHARES
        parts = [
            _shares(matrix[:, at], int(n_levels[at]), classes, n_classes) if is_nominal[at] else np.empty(0)
            for at in range(p)
        ]
        starts[1:] = np.cumsum([len(part) for part in parts])
        tables = np.concatenate(parts)
    return MixedColumns(kinds, scales, rule, n_levels, tables, starts, n_classes)


def nan_euclidean_columns(p: int) -> MixedColumns:
    """Numeric columns, p of them, compared if both cells are known; nothing is learned from rows.

    Examples
    --------
    >>> nan_euclidean_columns(2).kinds.tolist()
    [0, 0]
    """
    nothing = np.zeros(p + 1, np.int64)
    return MixedColumns(
        np.full(p, DIFFERENCE, np.uint8), np.ones(p), NAN_EUCLIDEAN, nothing[:p], np.empty(0), nothing, n_classes=0
    )


def _spread(cells: np.ndarray, rule: int, label: str) -> float:
    """Range or four standard deviations of the known cells of a column; 0 if they are all the same or none."""
    known = cells[~np.isnan(cells)]
    if not len(known):
        return 0.0
    low, high = float(known.min()), float(known.max())
    with np.errstate(over="ignore"):
        spread = np.float64(high) - np.float64(low)
    if not np.isfinite(spread):
        raise DataError(
            f"{label} reaches from {shown(low)} to {shown(high)}: its range is beyond float64. "
            "Scale its numbers down, or drop the rows with such values"
        )
    if rule != HVDM or spread == 0:
        return float(spread)
    # Computed on cells divided by the range, so that no square overflows or vanishes.
    return min(4.0 * float(((known - low) / spread).std()) * float(spread), LARGEST)


def _classes(target: np.ndarray | None) -> tuple[np.ndarray, int]:
    """Classes of the rows, int64[n], and their number; numeric targets become groups."""
    if target is None:
        raise ParameterError(
            setting("metric", "hvdm"), " compares levels by the classes of their rows, and there is no target: give y"
        )
    if target.ndim > 1 and target.shape[1] > 1:
        raise ParameterError(
            setting("metric", "hvdm"),
            f" compares levels by the classes of one target, not of {target.shape[1]}: fit one model per output, or ",
            "use ",
            setting("metric", "heom"),
        )
    flat = target.reshape(len(target))
    if flat.dtype.kind in "iu":
        return flat.astype(np.int64), int(flat.max()) + 1
    # Equal numbers are in one group: that of the first of them in ascending order.
    groups = np.searchsorted(np.sort(flat), flat, side="left") * _GROUPS // len(flat)
    return groups.astype(np.int64), _GROUPS


def _shares(cells: np.ndarray, n_levels: int, classes: np.ndarray, n_classes: int) -> np.ndarray:
    """The class proportions of each level, float64[n_levels * n_classes]."""
    known = ~np.isnan(cells)
    place = cells[known].astype(np.int64) * n_classes + classes[known]
    counts = np.bincount(place, minlength=n_levels * n_classes).reshape(n_levels, n_classes)
    rows = counts.sum(axis=1, keepdims=True)
    return np.where(rows > 0, counts / np.maximum(rows, 1), NO_ROWS).ravel()
