"""Which node is next, without leaving compiled code. In: nodes that wait. Out: a grown tree, or part of one.

Caller: grow.binned.grower.

A node's best split depends on its rows alone, so the order of growth decides only how nodes are numbered, and, where
leaves are few, which splits are made. Depth first is the order of memory: the rows of a subtree are side by side.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import bare_inner_kernel, bare_kernel
from treewright.core.random import mix
from treewright.grow.binned.layout import CELLS, N_NODES, N_WAITING
from treewright.grow.binned.step import choose_column, split_node
from treewright.grow.binned.windows import copy_codes, copy_stats
from treewright.grow.split import open_node


@bare_inner_kernel
def push_open(nodes, child, growth, n_waiting):
    """Put the children that may be split on the stack, the heavier one first: it then never holds more than 64."""
    heavier = child if nodes.weight[child] >= nodes.weight[child + 1] else child + 1
    if nodes.is_open[heavier]:
        growth.stack[n_waiting] = heavier
        n_waiting += 1
    other = 2 * child + 1 - heavier
    if nodes.is_open[other]:
        growth.stack[n_waiting] = other
        n_waiting += 1
    return n_waiting


@bare_inner_kernel
def grow_stack(stats, codes, nodes, growth, bins, columns, limits, rules, work, desk, bottom, window_rows):
    """Grow what waits above ``bottom``, until a node of at most ``window_rows`` rows is next or cells are used up."""
    n_waiting = growth.state[N_WAITING]
    while n_waiting > bottom and growth.state[CELLS] > 0:
        node = np.int64(growth.stack[n_waiting - 1])
        if nodes.hi[node] - nodes.lo[node] <= window_rows:
            break
        n_waiting -= 1
        cells = choose_column(stats, codes, node, nodes, growth, bins, columns, limits, rules, work, desk)
        if window_rows > 0:
            growth.state[CELLS] -= cells
        if nodes.feature[node] >= 0:
            split_node(stats, codes, node, nodes, growth, bins, columns, limits, rules, work, desk)
            n_waiting = push_open(nodes, nodes.first_child[node], growth, n_waiting)
    growth.state[N_WAITING] = n_waiting


@bare_kernel
def grow_depth_first(stats, window_stats, codes, window, nodes, growth, bins, columns, limits, rules, work, desk, seed):
    """Grow a tree, or go on with one.

    Parameters
    ----------
    stats, codes : statistics and uint8[n, stride] of the tree's rows, IN
    window_stats, window : the same for a window's rows, scratch
        Subtrees of at most so many rows are grown on a copy of them.
    nodes : Nodes, INOUT
        Room for every node the tree can have.
    growth : Growth, INOUT
        Without nodes the root is opened first. On return nothing waits, or the cells were used up.
    """
    state = growth.state
    if state[N_NODES] == 0:
        open_root(stats, nodes, growth, limits, rules, seed)
    while state[N_WAITING] > 0 and state[CELLS] > 0:
        # Numbers of one type: a written 0 would be another signature, and half a minute more to compile.
        grow_stack(stats, codes, nodes, growth, bins, columns, limits, rules, work, desk, np.int64(0), window.shape[0])
        if state[N_WAITING] == 0 or state[CELLS] <= 0:
            break
        top = np.int64(growth.stack[state[N_WAITING] - 1])
        lo = nodes.lo[top]
        rows = growth.rows[lo : nodes.hi[top]]
        copy_codes(codes, rows, window)
        copy_stats(stats, rows, window_stats)
        for i in range(rows.shape[0]):
            growth.origin[lo + i] = rows[i]
            rows[i] = i
        first_new = state[N_NODES]
        state[CELLS] -= rows.shape[0] * 8 * rules.n_drawn
        cells = state[CELLS]
        state[CELLS] = 1
        grow_stack(
            window_stats,
            window,
            nodes,
            growth,
            bins,
            columns,
            limits,
            rules,
            work,
            desk,
            state[N_WAITING] - 1,
            np.int64(0),
        )
        state[CELLS] = cells
        for node in range(first_new, state[N_NODES]):
            if nodes.first_child[node] < 0:
                nodes.before[node] = growth.origin[lo + nodes.before[node]]


@bare_inner_kernel
def open_root(stats, nodes, growth, limits, rules, seed):
    """The first node."""
    n = growth.rows.shape[0]
    for i in range(n):
        growth.rows[i] = i
    nodes.lo[0] = 0
    nodes.hi[0] = n
    nodes.depth[0] = 0
    if nodes.key.shape[0] > 0:
        nodes.key[0] = mix(seed, np.uint64(0))
    if limits.is_monotone:
        nodes.low[0] = -np.inf
        nodes.high[0] = np.inf
    if growth.alive.shape[0] > 0:
        growth.alive[0] = ~np.uint64(0)
    for word in range(growth.constant.shape[1]):
        growth.constant[0, word] = 0
    open_node(stats, np.int64(0), nodes, growth.rows, limits)
    if nodes.weight[0] < rules.min_split_weight:
        nodes.is_open[0] = 0
    growth.state[N_NODES] = 1
    growth.state[N_WAITING] = 0
    if nodes.is_open[0]:
        growth.stack[0] = 0
        growth.state[N_WAITING] = 1


@bare_kernel
def grow_one(stats, codes, node, nodes, growth, bins, columns, limits, rules, work, desk, seed):
    """Split a node and choose its children's columns; without nodes, open the root. For best-first growth.

    Returns
    -------
    first, last : int
        The nodes that have become leaves, of which some may have a split to offer.
    """
    if growth.state[N_NODES] == 0:
        open_root(stats, nodes, growth, limits, rules, seed)
        first = np.int64(0)
    else:
        first = growth.state[N_NODES]
        split_node(stats, codes, node, nodes, growth, bins, columns, limits, rules, work, desk)
    last = growth.state[N_NODES]
    for leaf in range(first, last):
        if nodes.is_open[leaf]:
            choose_column(stats, codes, leaf, nodes, growth, bins, columns, limits, rules, work, desk)
    return first, last
