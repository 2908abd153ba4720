"""One step of exact growth, column by column. In: parents that were split. Out: a gain per column and child.

Caller: grow.grower.

``advance`` is the parallel part: a task owns some rows of ``order`` and a row of ``gains``, and reads everything else.
``choose`` is serial and short.
"""

from __future__ import annotations

import numpy as np
from numba.extending import overload

from treewright.core.jit import bare_inner_kernel, kernel
from treewright.core.random import mix
from treewright.grow.families import few_gain, scan_cuts
from treewright.grow.layout import MISSING, NOT_FEW, Columns
from treewright.grow.partition import partition_items
from treewright.grow.subsets import search_levels


@bare_inner_kernel
def count_present(items):
    """Items that are not missing (missing ones are last)."""
    n = items.shape[0]
    while n > 0 and items[n - 1] & MISSING:
        n -= 1
    return n


def search_numeric(stats, column, node, nodes, columns, items, n_present, limits, target, work):
    """``search_column`` for a table without nominal columns."""
    direction = np.int64(columns.monotone[column])
    return scan_cuts(stats, node, nodes, items, n_present, limits, direction, target, -1, 2, work)


def search_any(stats, column, node, nodes, columns, items, n_present, limits, target, work):
    """``search_column`` for a table with nominal columns."""
    if columns.code_row[column] >= 0:
        return search_levels(stats, node, nodes, items, n_present, limits, target, work)
    direction = np.int64(columns.monotone[column])
    return scan_cuts(stats, node, nodes, items, n_present, limits, direction, target, -1, 2, work)


def search_column(stats, column, node, nodes, columns, items, n_present, limits, target, work):
    """The best split of a node by a column; the search of subsets is compiled only for tables that need it.

    Parameters
    ----------
    items : int32[m], IN
        The node's segment of the column.
    target : float
        Negative: find the largest gain. Else: find the first split with at least this gain.

    Returns
    -------
    gain : float
        -1 where no split is allowed.
    found : int
        With a target: the position of the cut, or the number of levels present (``subsets.search_levels``).
    missing_left : int
        With a target: 1 where missing rows go left.
    """
    search = search_any if isinstance(columns, Columns) else search_numeric
    return search(stats, column, node, nodes, columns, items, n_present, limits, target, work)


@overload(search_column)
def _search_column(stats, column, node, nodes, columns, items, n_present, limits, target, work):
    return search_any if columns.instance_class is Columns else search_numeric


@bare_inner_kernel
def advance(stats, columns, nodes, parents, limits, side, drawn, gains, first_column, last_column, work):
    """Partition the segments of the parents in some columns, then scan their open children there.

    Parameters
    ----------
    parents : int32[k], IN
        Nodes that were split; a single -1 stands for "scan the root".
    side : uint8[n], IN
        1 for the rows that go left at their parent.
    drawn : uint8[2k, p] or uint8[0, 0], IN
        Which columns each child may use; empty for all.
    gains : float64[p, 2k], OUT
        Best gain per column and child; -1 where there is none.
    first_column, last_column : int
        The columns of this task.
    """
    n_columns = columns.code_row.shape[0]
    for column in range(first_column, last_column):
        may_be_few = not limits.is_monotone and column < n_columns and columns.code_row[column] < 0
        for k in range(parents.shape[0]):
            parent = parents[k]
            child = 0
            n_children = 1
            if parent >= 0:
                child = nodes.first_child[parent]
                n_children = 2
                if not (nodes.is_open[child] or nodes.is_open[child + 1]):
                    continue
                # The segment of the split's own column, and the target's, were moved by the split itself.
                if column != nodes.feature[parent] and column < n_columns:
                    partition_items(columns.order[column, nodes.lo[parent] : nodes.hi[parent]], side, work.spare)
            for branch in range(n_children):
                slot = 2 * k + branch
                node = np.int64(child + branch)
                gains[column, slot] = -1.0
                if nodes.is_open[node] and (drawn.shape[0] == 0 or drawn[slot, column]):
                    items = columns.order[column, nodes.lo[node] : nodes.hi[node]]
                    gain = NOT_FEW
                    if may_be_few and not items[items.shape[0] - 1] & MISSING:
                        gain = few_gain(
                            stats,
                            items,
                            nodes.totals[node],
                            nodes.weight[node],
                            limits.min_leaf,
                            limits.min_leaf_weight,
                        )
                    if gain == NOT_FEW:
                        gain, _, _ = search_column(
                            stats, column, node, nodes, columns, items, count_present(items), limits, -1.0, work
                        )
                    gains[column, slot] = gain


@bare_inner_kernel
def choose(nodes, parents, gains, limits):
    """Pick each open child's best column; a child without one keeps ``feature`` -1.

    A later column wins only by more than the node's tolerance: mathematically equal gains differ by a few roundings.

    Returns
    -------
    int
        How many open children found no split in the columns that were scanned.
    """
    n_without = 0
    for k in range(parents.shape[0]):
        parent = parents[k]
        child = 0 if parent < 0 else nodes.first_child[parent]
        for branch in range(1 if parent < 0 else 2):
            node = child + branch
            if not nodes.is_open[node] or nodes.feature[node] >= 0:
                continue
            best = -1.0
            for column in range(gains.shape[0]):
                gain = gains[column, 2 * k + branch]
                if gain > (best + nodes.tolerance[node] if best >= 0.0 else -0.5):
                    best = gain
                    nodes.feature[node] = column
            nodes.gain[node] = best
            if best < 0.0:
                n_without += 1
            elif best + nodes.tolerance[node] < limits.min_decrease:
                nodes.is_open[node] = 0
                nodes.feature[node] = -1
    return n_without


@kernel
def draw_columns(nodes, parents, n_drawn, gains, drawn, keep_first):
    """Which columns each child may use: those with the smallest random numbers of (seed, node, column).

    Parameters
    ----------
    n_drawn : int
        Columns per node. Nodes that have a split already draw none.
    gains : float64[p, 2k], INOUT
        With ``keep_first`` it holds a scan of every column: all are set to -1 but the first, in the order of their
        random numbers, that splits the node at all.
    drawn : uint8[2k, p], OUT
    """
    n_columns = drawn.shape[1]
    numbers = np.empty(n_columns, np.uint64)
    drawn[:] = 0
    for k in range(parents.shape[0]):
        parent = parents[k]
        child = 0 if parent < 0 else nodes.first_child[parent]
        for branch in range(1 if parent < 0 else 2):
            node = child + branch
            slot = 2 * k + branch
            if nodes.feature[node] >= 0 or not nodes.is_open[node]:
                continue
            for column in range(n_columns):
                numbers[column] = mix(nodes.key[node], np.uint64(column))
            for _ in range(n_drawn):
                smallest = -1
                for column in range(n_columns):
                    usable = not drawn[slot, column] and (not keep_first or gains[column, slot] >= 0.0)
                    if usable and (smallest < 0 or numbers[column] < numbers[smallest]):
                        smallest = column
                if smallest >= 0:
                    drawn[slot, smallest] = 1
            if keep_first:
                for column in range(n_columns):
                    if not drawn[slot, column]:
                        gains[column, slot] = -1.0
