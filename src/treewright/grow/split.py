"""Carrying a chosen split out. In: nodes with a chosen column. Out: their children, and a side per row.

Caller: grow.grower.

Serial: it touches one column of each node, a small share of the work. The cut is found by a second scan of that column,
so that the first one has to keep nothing but a number.
"""

from __future__ import annotations

import numpy as np
from numba.extending import overload

from treewright.core.jit import inner_kernel
from treewright.core.random import mix
from treewright.grow.exact import count_present
from treewright.grow.families import place_rows, prediction_of, scan_cuts, summarise
from treewright.grow.layout import ROW, Columns
from treewright.grow.partition import partition_items
from treewright.grow.subsets import SIDE, START, STOP, locate_nominal


@inner_kernel
def open_node(stats, node, nodes, items, limits):
    """Fill in a new node and say whether it may be split further."""
    pure = summarise(stats, node, nodes, items)
    n = items.shape[0]
    nodes.feature[node] = -1
    nodes.first_child[node] = -1
    nodes.level_set[node] = -1
    nodes.gain[node] = -1.0
    nodes.before[node] = items[0] & ROW
    nodes.after[node] = -1
    nodes.missing_branch[node] = 0
    nodes.is_open[node] = 0
    if (
        not pure
        and n >= limits.min_split
        and n >= 2 * limits.min_leaf
        and nodes.weight[node] >= 2 * limits.min_leaf_weight
        and nodes.depth[node] < limits.max_depth
    ):
        nodes.is_open[node] = 1


def mark_cut(stats, node, nodes, columns, items, n_present, limits, side, words, n_words, work):
    """Find the cut of a numeric column again and mark each row's side; returns where missing rows go."""
    column = nodes.feature[node]
    target = max(nodes.gain[node] - nodes.tolerance[node], 0.0)
    _, position, missing_left = scan_cuts(
        stats, node, nodes, items, n_present, limits, np.int64(columns.monotone[column]), target, -1, 2, work
    )
    for i in range(n_present):
        side[items[i] & ROW] = 1 if i <= position else 0
    nodes.before[node] = items[position] & ROW
    nodes.after[node] = items[position + 1] & ROW if position + 1 < n_present else -1
    return missing_left


@inner_kernel
def mark_levels(stats, node, nodes, columns, items, n_present, limits, side, words, n_words, work):
    """Find the subset of a nominal column again, mark each row's side and set the bits; returns where missing rows go.

    Parameters
    ----------
    words : uint64[2, > n_words], INOUT
        Row 0: levels that go left; row 1: levels that are present in the node.
    """
    column = nodes.feature[node]
    target = max(nodes.gain[node] - nodes.tolerance[node], 0.0)
    n_groups, missing_left = locate_nominal(stats, node, nodes, items, n_present, limits, target, work)
    codes = columns.codes[columns.code_row[column]]
    nodes.level_set[node] = n_words
    for g in range(n_groups):
        goes_left = work.group[SIDE, g]
        start = work.group[START, g]
        for i in range(start, work.group[STOP, g]):
            side[items[i] & ROW] = goes_left
        code = codes[items[start] & ROW]
        bit = np.uint64(1) << np.uint64(code & 63)
        words[1, n_words + (code >> 6)] |= bit
        if goes_left:
            words[0, n_words + (code >> 6)] |= bit
    return missing_left


mark_numeric = inner_kernel(mark_cut)


def mark_any(stats, node, nodes, columns, items, n_present, limits, side, words, n_words, work):
    """``mark_cut`` or ``mark_levels``, by the kind of the column."""
    if columns.code_row[nodes.feature[node]] >= 0:
        return mark_levels(stats, node, nodes, columns, items, n_present, limits, side, words, n_words, work)
    return mark_numeric(stats, node, nodes, columns, items, n_present, limits, side, words, n_words, work)


def mark_sides(stats, node, nodes, columns, items, n_present, limits, side, words, n_words, work):
    """Mark the side of each present row; a subset search is compiled only for tables that need it."""
    mark = mark_any if isinstance(columns, Columns) else mark_cut
    return mark(stats, node, nodes, columns, items, n_present, limits, side, words, n_words, work)


@overload(mark_sides)
def _mark_sides(stats, node, nodes, columns, items, n_present, limits, side, words, n_words, work):
    return mark_any if columns.instance_class is Columns else mark_cut


@inner_kernel
def send_absent(words, first, n_levels, to_left):
    """Levels that the node never saw, and the bit for levels that fit never saw, take the heavier branch."""
    for code in range(n_levels + 1):
        word = first + (code >> 6)
        bit = np.uint64(1) << np.uint64(code & 63)
        if to_left and words[1, word] & bit == 0:
            words[0, word] |= bit


@inner_kernel
def bound_children(stats, node, nodes, direction):
    """Halve the interval of the children of a split on a monotone column at the mean of their predictions."""
    child = nodes.first_child[node]
    for branch in range(2):
        nodes.low[child + branch] = nodes.low[node]
        nodes.high[child + branch] = nodes.high[node]
    if direction == 0:
        return
    middle = 0.5 * prediction_of(stats, child, nodes) + 0.5 * prediction_of(stats, child + 1, nodes)
    lower = child if direction > 0 else child + 1
    upper = child + 1 if direction > 0 else child
    nodes.high[lower] = middle
    nodes.low[upper] = middle


@inner_kernel
def split_nodes(stats, columns, nodes, splitting, n_nodes, words, n_words, limits, side, work):
    """Give each node of ``splitting`` its two children.

    Parameters
    ----------
    splitting : int32[k], IN
        Nodes whose column was chosen, in the order in which their children shall be numbered.
    n_nodes, n_words : int
        How many nodes and words exist.
    words : uint64[2, :], INOUT
    side : uint8[n], OUT
        1 for the rows of these nodes that go left.

    Returns
    -------
    n_nodes, n_words : int
    """
    for k in range(splitting.shape[0]):
        node = np.int64(splitting[k])
        column = np.int64(nodes.feature[node])
        lo = nodes.lo[node]
        hi = nodes.hi[node]
        items = columns.order[column, lo:hi]
        n_present = count_present(items)
        is_nominal = columns.code_row[column] >= 0
        missing_left = mark_sides(stats, node, nodes, columns, items, n_present, limits, side, words, n_words, work)
        for i in range(n_present, items.shape[0]):
            side[items[i] & ROW] = missing_left
        n_left = partition_items(items, side, work.spare)
        for target in range(columns.code_row.shape[0], columns.order.shape[0]):
            partition_items(columns.order[target, lo:hi], side, work.spare)
        nodes.first_child[node] = n_nodes
        for branch in range(2):
            child = np.int64(n_nodes + branch)
            nodes.lo[child] = lo if branch == 0 else lo + n_left
            nodes.hi[child] = lo + n_left if branch == 0 else hi
            nodes.depth[child] = nodes.depth[node] + 1
            nodes.key[child] = mix(nodes.key[node], np.uint64(branch))
            place_rows(stats, columns, nodes.lo[child], nodes.hi[child])
            open_node(stats, child, nodes, columns.order[column, nodes.lo[child] : nodes.hi[child]], limits)
        left_is_heavier = nodes.weight[n_nodes] > nodes.weight[n_nodes + 1]
        if n_present == items.shape[0]:
            missing_left = 1 if left_is_heavier else 0
        nodes.missing_branch[node] = 0 if missing_left else 1
        if is_nominal:
            send_absent(words, n_words, columns.n_levels[column], left_is_heavier)
            n_words += columns.n_levels[column] // 64 + 1
        if limits.is_monotone:
            bound_children(stats, node, nodes, columns.monotone[column])
        n_nodes += 2
    return n_nodes, n_words
