"""Growing one tree on bins. In: bins of the rows, a target's objective, settings. Out: ``Tree`` or ``PackedTrees``.

Callers: forest, estimators.

open the root -> [choose a column -> split] depth first -> Tree

The kernels are the exact grower's; ``items`` makes what that one keeps sorted.
"""

from __future__ import annotations

import numpy as np

from treewright.core import threads
from treewright.data.bins import Bins
from treewright.data.schema import Schema
from treewright.exceptions import TooLargeError
from treewright.grow.binned.layout import N_NODES, N_SETS
from treewright.grow.binned.plan import Plan, Room, plan_of, room_for
from treewright.grow.binned.results import Grown, to_packed, to_tree
from treewright.grow.binned.settings import BinnedSettings
from treewright.grow.binned.subtrees import grow_apart, grow_waiting, is_worth_it, split_one
from treewright.grow.frontier import BestFirst
from treewright.grow.layout import MAX_ROWS
from treewright.grow.objective import Objective
from treewright.tree.arrays import Tree
from treewright.tree.edit import level_order, rebuild
from treewright.tree.packed import PackedTrees


def grow_binned(codes: np.ndarray, bins: Bins, schema: Schema, objective: Objective, settings: BinnedSettings) -> Tree:
    """Grow a tree on binned rows; thresholds lie between the values that the node's rows had.

    Parameters
    ----------
    codes : uint8[n, stride]
        The rows as bins (``data.bin_rows``); only read.
    bins : Bins
    schema : Schema
    objective : Objective
        Target, weights and criterion of these rows.
    settings : BinnedSettings

    Returns
    -------
    Tree
        Nodes are numbered level by level; with ``max_leaf_nodes`` in the order of growth. Where no column has more than
        255 distinct values: the tree that the exact grower makes.
    """
    grown = _grow(codes, bins, schema, objective, settings)
    tree = to_tree(grown, bins, schema)
    return tree if settings.max_leaf_nodes is not None else rebuild(tree, level_order(tree), tree.is_leaf)


def grow_packed(
    codes: np.ndarray,
    rows: np.ndarray,
    bins: Bins,
    schema: Schema,
    objective: Objective,
    settings: BinnedSettings,
) -> PackedTrees:
    """Grow a tree on some of the binned rows, eight bytes a node.

    Parameters
    ----------
    codes : uint8[n, stride]
    rows : int32[m], ascending
    bins : Bins
    schema : Schema
    objective : Objective
        Of these m rows, in this order.
    settings : BinnedSettings

    Returns
    -------
    PackedTrees
        One tree.
    """
    return to_packed(_grow(codes[rows], bins, schema, objective, settings), bins, settings)


def _grow(codes: np.ndarray, bins: Bins, schema: Schema, objective: Objective, settings: BinnedSettings) -> Grown:
    """All kernels need, and the growth itself."""
    n = len(codes)
    if n > MAX_ROWS:
        raise TooLargeError(f"{n} rows: growth on bins holds at most {MAX_ROWS}; fit on a sample of the rows")
    plan = plan_of(codes, bins, schema, objective, settings)
    room = room_for(plan, n)
    if settings.max_leaf_nodes is not None:
        _grow_best_first(plan, room, settings.max_leaf_nodes)
    elif is_worth_it(plan):
        grow_apart(plan, room)
    else:
        grow_waiting(plan, room)
    state = room.growth.state
    return Grown(room.nodes, room.growth, objective, int(state[N_NODES]), int(state[N_SETS]))


def _grow_best_first(plan: Plan, room: Room, max_leaves: int) -> None:
    """Split the leaf whose split gains most, until the leaves are used up."""
    nodes = room.nodes
    frontier = BestFirst(max_leaves)
    splitting = 0
    while True:
        first, last = split_one(plan, room, splitting)
        some = np.arange(first, last, dtype=np.int32)
        some = some[nodes.feature[some] >= 0]
        frontier.offer(some, nodes.gain[some], nodes.tolerance[some])
        best = frontier.take()
        if not len(best):
            return
        splitting = int(best[0])
        threads.heed()
