"""Memory of a tree that grows. In: sizes. Out: ``Nodes`` and ``Work``. Caller: grow.grower."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.data.memory import check_fits
from treewright.grow.layout import BLOCK, Columns, Limits, Nodes, NumericColumns, Work
from treewright.grow.objective import Objective
from treewright.grow.statistics import CountStats, MedianStats

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


def make_nodes(capacity: int, columns: Columns | NumericColumns, objective: Objective, limits: Limits) -> Nodes:
    """Room for ``capacity`` nodes, nothing in it.

    A full tree has up to two nodes a row, so what a fit does not use (bounds, random numbers, ...) has length 0.
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
        The fields of ``Nodes``, INOUT: each array is let go of as soon as its larger copy is there, so that never more
        than one is there twice. Memory that no node uses yet is not touched, and costs nothing.
    needed : int

    Raises
    ------
    TooLargeError
        They would not fit in memory.
    """
    capacity = len(arrays[0])
    per_node = sum(array[:1].nbytes for array in arrays)
    # The nodes as they are, as many again as are needed, and the tree's own arrays made from them.
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


def make_work(n: int, columns: Columns | NumericColumns, objective: Objective) -> Work:
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
