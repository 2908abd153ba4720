"""The arrays that growing kernels share. In: sizes. Out: named tuples, bit masks, memory.

An item of ``order`` is one cell of one column: the row number in the low 30 bits, ``MISSING`` if the cell is
missing, and the sign bit (``NEW``) where the cell differs from the one before it in the same segment. Within a segment
of a node the items are sorted by value, missing ones last.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from treewright.core.structs import struct
from treewright.data.memory import check_fits
from treewright.grow.objective import CountStats, MedianStats, Objective

ROW = 0x3FFFFFFF
MISSING = 0x40000000
NEW = -0x80000000
MAX_ROWS = ROW  # 2**30 - 1 rows: the most that an item can hold

SMALLEST = 5e-324  # impurity of a node whose targets differ by less than float64 can square
NOT_FEW = -2.0  # no gain: the short cut for short segments does not apply

BLOCK = 2048  # rows whose prefix sums and gains are held at a time: 64 KB of scratch, between L1 and L2


@struct
class Columns(NamedTuple):
    """The encoded table for the grower.

    ``order`` int32[p + t, n], C-order: the items of each column, then (absolute error only) of each target.
    ``codes`` int32[n_nominal, n]: level codes of the nominal columns; -1 if missing.
    ``code_row`` int32[p]: a column's row in ``codes``, -1 for numeric and ordinal columns.
    ``n_levels`` int32[p]; ``monotone`` int8[p]: -1, 0, 1.
    ``in_runs`` uint8[p]: 1 if a nominal column's sets are first runs of the levels in the order of their codes.
    """

    order: np.ndarray
    codes: np.ndarray
    code_row: np.ndarray
    n_levels: np.ndarray
    monotone: np.ndarray
    in_runs: np.ndarray


@struct
class Nodes(NamedTuple):
    """The nodes while the tree grows; position ``i`` of each array belongs to node ``i``.

    ``lo``, ``hi`` int64: its segment in every row of ``order``. ``totals`` int64[:, t]: sums of its statistics.
    ``weight`` int64: sum of fixed-point weights. ``score`` int64: sum of the criterion's terms (class counts only).
    ``tolerance`` float64: gains closer than this are equal. ``loss`` float64: absolute error in steps (medians only).
    ``gain`` float64: of the chosen column, -1 without a split. ``before``, ``after`` int64: rows on either side of the
    cut, -1 if there is none. ``low``, ``high`` float64: the interval that monotone constraints leave to the node's
    prediction. ``is_open`` uint8: may be split. ``impurity`` float64: 0 only where all targets are equal.
    """

    lo: np.ndarray
    hi: np.ndarray
    depth: np.ndarray
    weight: np.ndarray
    score: np.ndarray
    totals: np.ndarray
    value: np.ndarray
    impurity: np.ndarray
    tolerance: np.ndarray
    loss: np.ndarray
    gain: np.ndarray
    feature: np.ndarray
    before: np.ndarray
    after: np.ndarray
    missing_branch: np.ndarray
    first_child: np.ndarray
    level_set: np.ndarray
    low: np.ndarray
    high: np.ndarray
    key: np.ndarray
    is_open: np.ndarray


@struct
class Limits(NamedTuple):
    """The limits of growth. Weights are fixed-point (``statistics.fixed_weights``)."""

    max_depth: int
    min_split: int
    min_leaf: int
    min_leaf_weight: int
    min_decrease: float  # in units of Nodes.gain
    max_features: int
    is_monotone: bool


@struct
class Work(NamedTuple):
    """Scratch memory of one thread."""

    spare: np.ndarray  # int32[n + 1]: the right part of a segment under partition
    sums: np.ndarray  # int64[BLOCK]
    weights: np.ndarray  # float64[BLOCK]
    gains: np.ndarray  # float64[2 * BLOCK]
    left: np.ndarray  # int64[2 * t]: class counts on the left of a cut; all zero between calls
    carry: np.ndarray  # int64[3 * t]
    regrouped: np.ndarray  # int32[n]: a nominal segment with its levels in another order
    group: np.ndarray  # int64[5, max levels]: start, stop, place, side, offered side of each level present
    rank: np.ndarray  # float64[max levels]: the numbers that order the levels
    fenwick: np.ndarray  # int64[4, n + 1] if the criterion needs medians
    losses: np.ndarray  # float64[n] if the criterion needs medians


_TYPES: dict[str, Any] = {
    "lo": np.int32,
    "hi": np.int32,
    "depth": np.int32,
    "weight": np.int64,
    "score": np.int64,
    "totals": np.int64,
    "value": np.float64,
    "impurity": np.float64,
    "tolerance": np.float64,
    "loss": np.float64,
    "gain": np.float64,
    "feature": np.int32,
    "before": np.int32,
    "after": np.int32,
    "missing_branch": np.int8,
    "first_child": np.int32,
    "level_set": np.int32,
    "low": np.float64,
    "high": np.float64,
    "key": np.uint64,
    "is_open": np.uint8,
}


def make_nodes(capacity: int, columns: Columns, objective: Objective, limits: Limits) -> Nodes:
    """Empty arrays for ``capacity`` nodes.

    A full tree has up to two nodes per row, so arrays that a fit does not use (bounds, random numbers, ...) have length
    0.
    """
    unused = {
        "score": not isinstance(objective.stats, CountStats),
        "loss": not isinstance(objective.stats, MedianStats),
        "level_set": not len(columns.codes),
        "low": not limits.is_monotone,
        "high": not limits.is_monotone,
        "key": limits.max_features >= len(columns.code_row),
    }
    width = {"totals": (objective.n_totals,), "value": (objective.n_medians,)}
    return Nodes(
        *(
            np.empty((0 if unused.get(name) else capacity, *width.get(name, ())), dtype)
            for name, dtype in _TYPES.items()
        )
    )


def with_room(arrays: list[np.ndarray], needed: int) -> Nodes:
    """The same nodes with room for at least ``needed``; twice as many as now, so that growing stays linear.

    Parameters
    ----------
    arrays : list of ndarray
        The fields of ``Nodes``, INOUT: each array is freed as soon as its larger copy exists, so that at most one
        exists twice. Memory that no node uses yet is not touched.
    needed : int
    """
    capacity = len(arrays[0])
    per_node = sum(array[:1].nbytes for array in arrays)
    # The present nodes, as many again as are needed, and the tree's own arrays made from them.
    check_fits(
        (capacity + needed) * per_node,
        f"a tree of {needed} nodes ({arrays[Nodes._fields.index('totals')].shape[1]} sums each)",
        "set max_depth, max_leaf_nodes or min_samples_leaf, or use fewer classes",
    )
    for at, array in enumerate(arrays):
        if len(array):
            larger = np.empty((max(needed, 2 * capacity), *array.shape[1:]), array.dtype)
            larger[:capacity] = array
            arrays[at] = larger
    return Nodes(*arrays)


def make_work(n: int, columns: Columns, objective: Objective) -> Work:
    """Scratch memory for one thread."""
    has_nominal = len(columns.codes) > 0
    levels = int(columns.n_levels.max(initial=0)) + 1 if has_nominal else 0
    return Work(
        spare=np.empty(n + 1, np.int32),
        sums=np.empty(BLOCK, np.int64),
        weights=np.empty(BLOCK),
        gains=np.empty(2 * BLOCK),
        left=np.zeros(2 * objective.n_totals, np.int64),
        carry=np.empty(3 * objective.n_totals, np.int64),
        regrouped=np.empty(n if has_nominal else 0, np.int32),
        group=np.empty((5, levels), np.int64),
        rank=np.empty(levels),
        fenwick=np.empty((4, n + 1 if objective.n_medians else 0), np.int64),
        losses=np.empty(n if objective.n_medians else 0),
    )


def values_of(objective: Objective, nodes: Nodes, n: int) -> np.ndarray:
    """Predictions of the first ``n`` nodes: class counts in units of weight, or one number per output."""
    totals = nodes.totals[:n]
    if objective.n_classes:
        counts = totals
        if not isinstance(objective.stats, CountStats):
            second = (nodes.weight[:n, None] + totals) // 2
            counts = np.stack([nodes.weight[:n, None] - second, second], axis=2).reshape(n, -1)
            counts = counts[:, [k < n_here for n_here in objective.n_classes for k in range(2)]]
        return np.ldexp(counts.astype(np.float64), -objective.weight_exponent)
    if objective.n_medians:
        means = nodes.value[:n].copy()
    else:
        means = totals / nodes.weight[:n, None] * objective.stats.unit + objective.centres
    # A leaf of equal targets (impurity 0, never else) predicts that very number; no rounding leaves the targets'
    # range.
    # Only a leaf's ``before`` is always a row: on bins an inner node's is a bin.
    pure = np.flatnonzero((nodes.impurity[:n] == 0.0) & (nodes.first_child[:n] < 0))
    means[pure] = objective.targets[:, nodes.before[pure]].T
    return np.clip(means, objective.targets.min(axis=1), objective.targets.max(axis=1))
