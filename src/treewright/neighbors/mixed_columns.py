"""How columns of several kinds are compared, as the rows of a fit say.

Gower (1971), "A general coefficient of similarity and some of its properties"; Wilson and Martinez (1997), "Improved
heterogeneous distance functions" (HEOM, and HVDM with their N2). Where they leave a case open, it is settled here: a
column that the fit saw constant compares as levels do; a level that the fit never saw is 1 apart from everything, also
from itself (two such cells may be different words); Gower's part of a column is at most 1, also outside the range of
the fit; standard deviations are those of a population.
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
# Kinds of columns: differences over a scale; equal or not; shares of classes.
DIFFERENCE, EQUALITY, SHARES = range(3)
# Numbers that are targets count as classes: so many groups of equal size.
_GROUPS = 10
# In place of a level's shares: the fit has no row of it.
NO_ROWS = -1.0


@dataclass(frozen=True, eq=False)
class MixedColumns:
    """How each column is compared.

    Attributes
    ----------
    kinds : uint8[p]
        ``DIFFERENCE``: |a - b| / scale. ``EQUALITY``: 0 or 1. ``SHARES``: by ``tables``.
    scales : float64[p] > 0
        Range, or four standard deviations; 1 where there is none.
    rule : int
        ``GOWER``, ``HEOM``, ``HVDM`` or ``NAN_EUCLIDEAN``: how columns add up and what a missing cell is.
    n_levels : int64[p]
        Of a nominal column the codes that are levels; a cell of this code holds a level that the fit never saw.
        0 for others.
    tables : float64[...]
        Of HVDM. For each level of each column of ``SHARES`` the share of each class among its rows; ``NO_ROWS`` where
        it has none.
    starts : int64[p + 1]
        Where each column's part of ``tables`` begins: n_levels rows of ``n_classes``.
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
    """How to compare the columns of a fit's rows.

    Parameters
    ----------
    rule : int
        ``GOWER``, ``HEOM`` or ``HVDM``.
    matrix : float64[n, p] or float32[n, p]
        nan is missing; nothing is infinite.
    target : int[n] or int[n, 1], float64[n] or float64[n, 1], or None
        Of HVDM: codes of classes, or numbers.

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
    """Columns of numbers that are compared where both rows know them, p of them; nothing is learned from rows.

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
    """Range or four standard deviations of the known cells of a column; 0 where they are all the same, or none."""
    known = cells[~np.isnan(cells)]
    if not len(known):
        return 0.0
    low, high = float(known.min()), float(known.max())
    with np.errstate(over="ignore"):
        spread = np.float64(high) - np.float64(low)
    if not np.isfinite(spread):
        raise DataError(
            f"{label} reaches from {shown(low)} to {shown(high)}: its range is beyond float64. "
            "Make its numbers smaller, or drop the rows that hold such values"
        )
    if rule != HVDM or spread == 0:
        return float(spread)
    # Of shares of the range: no square overflows or vanishes.
    return min(4.0 * float(((known - low) / spread).std()) * float(spread), LARGEST)


def _classes(target: np.ndarray | None) -> tuple[np.ndarray, int]:
    """Classes of the rows, for shares: int64[n] and how many; numbers by groups."""
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
    # Equal numbers share a group: that of the first of them in ascending order.
    groups = np.searchsorted(np.sort(flat), flat, side="left") * _GROUPS // len(flat)
    return groups.astype(np.int64), _GROUPS


def _shares(cells: np.ndarray, n_levels: int, classes: np.ndarray, n_classes: int) -> np.ndarray:
    """The share of each class among the known cells of each level, float64[n_levels * n_classes]."""
    known = ~np.isnan(cells)
    place = cells[known].astype(np.int64) * n_classes + classes[known]
    counts = np.bincount(place, minlength=n_levels * n_classes).reshape(n_levels, n_classes)
    rows = counts.sum(axis=1, keepdims=True)
    return np.where(rows > 0, counts / np.maximum(rows, 1), NO_ROWS).ravel()
