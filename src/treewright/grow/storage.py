"""Memory of a tree that grows. In: sizes. Out: ``Nodes`` and ``Work``. Caller: grow.grower."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.data.memory import check_fits
from treewright.grow.layout import BLOCK, Columns, Nodes, NumericColumns, Work
from treewright.grow.objective import Objective

_TYPES: dict[str, Any] = dict(  # noqa: C408 - a table of names and types
    lo=np.int64, hi=np.int64, depth=np.int32, weight=np.int64, score=np.int64, totals=np.int64, value=np.float64,
    impurity=np.float64, tolerance=np.float64, loss=np.float64, gain=np.float64, feature=np.int32,
    before=np.int64, after=np.int64, missing_branch=np.int32, first_child=np.int32, level_set=np.int32,
    low=np.float64, high=np.float64, key=np.uint64, is_open=np.uint8,
)  # fmt: skip


def make_nodes(capacity: int, objective: Objective) -> Nodes:
    """Room for ``capacity`` nodes, nothing in it."""
    width = {"totals": (objective.n_totals,), "value": (objective.n_medians,)}
    return Nodes(*(np.empty((capacity, *width.get(name, ())), dtype) for name, dtype in _TYPES.items()))


def with_room(nodes: Nodes, needed: int) -> Nodes:
    """The same nodes with room for at least ``needed``; twice as many as now, so that growing stays linear.

    Raises
    ------
    TooLargeError
        They would not fit in memory.
    """
    capacity = len(nodes.lo)
    if needed <= capacity:
        return nodes
    extra = max(needed, 2 * capacity) - capacity
    # The tree's own arrays are made from these, so old, new and copy stand side by side for a moment.
    per_node = sum(array[:1].nbytes for array in nodes)
    check_fits(
        (2 * capacity + extra) * per_node,
        f"a tree of {capacity + extra} nodes ({nodes.totals.shape[1]} sums each)",
        "set max_depth, max_leaf_nodes or min_samples_leaf, or use fewer classes",
    )
    return Nodes(*(np.concatenate([array, np.empty((extra, *array.shape[1:]), array.dtype)]) for array in nodes))


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
