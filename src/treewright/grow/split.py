"""Carrying a chosen split out. In: nodes with a chosen column. Out: their children, and a side per row.

Caller: grow.grower.

Serial: it touches one column of each node, a small share of the work. The cut is found by a second scan of that column,
so that the first one has to keep nothing but a number.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import bare_inner_kernel
from treewright.core.random import mix
from treewright.grow.exact import count_present, search_column
from treewright.grow.families import place_rows, prediction_of, summarise
from treewright.grow.layout import ROW
from treewright.grow.partition import partition_items
from treewright.grow.subsets import SIDE, START, STOP


@bare_inner_kernel
def open_node(stats, node, nodes, items, limits):
    """Fill in a new node and say whether it may be split further."""
    pure = summarise(stats, node, nodes, items)
    n = items.shape[0]
    nodes.feature[node] = -1
    nodes.first_child[node] = -1
    if nodes.level_set.shape[0] > 0:
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


@bare_inner_kernel
def mark_cut(items, n_present, position, side):
    """Send items 0..position to the left; returns the rows next to the cut (-1 where only missing ones follow)."""
    for i in range(n_present):
        side[items[i] & ROW] = 1 if i <= position else 0
    after = items[position + 1] & ROW if position + 1 < n_present else -1
    return items[position] & ROW, after


@bare_inner_kernel
def mark_levels(items, n_groups, group, codes, side, words, n_words):
    """Send the items of the levels that ``group[SIDE]`` names to the left, and set the bits of the levels.

    Parameters
    ----------
    codes : int32[n], IN
        Level of each row.
    words : uint64[2, > n_words], INOUT
        Row 0: levels that go left; row 1: levels that are present in the node.
    """
    for g in range(n_groups):
        goes_left = group[SIDE, g]
        start = group[START, g]
        for i in range(start, group[STOP, g]):
            side[items[i] & ROW] = goes_left
        code = codes[items[start] & ROW]
        bit = np.uint64(1) << np.uint64(code & 63)
        words[1, n_words + (code >> 6)] |= bit
        if goes_left:
            words[0, n_words + (code >> 6)] |= bit


@bare_inner_kernel
def send_absent(words, first, n_levels, to_left):
    """Levels that the node never saw, and the bit for levels that fit never saw, take the heavier branch."""
    for code in range(n_levels + 1):
        word = first + (code >> 6)
        bit = np.uint64(1) << np.uint64(code & 63)
        if to_left and words[1, word] & bit == 0:
            words[0, word] |= bit


@bare_inner_kernel
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


@bare_inner_kernel
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
        target = max(nodes.gain[node] - nodes.tolerance[node], 0.0)
        _, found, missing_left = search_column(
            stats, column, node, nodes, columns, items, n_present, limits, target, work
        )
        if is_nominal:
            nodes.level_set[node] = n_words
            mark_levels(items, found, work.group, columns.codes[columns.code_row[column]], side, words, n_words)
        else:
            nodes.before[node], nodes.after[node] = mark_cut(items, n_present, found, side)
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
            if nodes.key.shape[0] > 0:
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
