"""Splitting nodes until none waits. In: the root. Out: the tree's nodes.

    take the best that waits -> divide its rows -> sum up the smaller child -> subtract it for the larger -> search

The parent's histogram less the smaller child's is the larger child's, in the parent's slot: only the smaller half of
the rows is ever read. A node of many cells is left to the grower, which has threads; smaller ones are split here
without a return to Python. Both use the same functions.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import inner_kernel, kernel
from treewright.data.bins import MISSING_BIN
from treewright.grow.gradient.layout import N_FREE, N_LEAVES, N_NODES, N_WAITING, NO_COLUMN, NUMERIC, ORDERED, SCRATCH
from treewright.grow.gradient.rows import add_some, add_stored, other_half, part, subtract, write_column
from treewright.grow.gradient.splitting import LOW, search, value_of


@inner_kernel
def stands_before(one, other, nodes, limits):
    """Whether a node that waits is to be split before another: by its gain, or by its number."""
    if limits.by_gain and nodes.gain[one] != nodes.gain[other]:
        return nodes.gain[one] > nodes.gain[other]
    return one < other


@inner_kernel
def put(node, nodes, limits, growth):
    """Let a node wait (a heap: the first to be split is ``heap[0]``)."""
    heap, state = growth.heap, growth.state
    at = state[N_WAITING]
    state[N_WAITING] = at + 1
    while at > 0:
        above = (at - 1) >> 1
        if not stands_before(node, heap[above], nodes, limits):
            break
        heap[at] = heap[above]
        at = above
    heap[at] = node


@inner_kernel
def take(nodes, limits, growth):
    """Take the node to be split next from those that wait."""
    heap, state = growth.heap, growth.state
    first = np.int64(heap[0])
    state[N_WAITING] -= 1
    n = state[N_WAITING]
    node = heap[n]
    at = 0
    while 2 * at + 1 < n:
        below = 2 * at + 1
        if below + 1 < n and stands_before(heap[below + 1], heap[below], nodes, limits):
            below += 1
        if not stands_before(heap[below], node, nodes, limits):
            break
        heap[at] = heap[below]
        at = below
    if n > 0:
        heap[at] = node
    return first


@inner_kernel
def give_back(node, nodes, growth):
    """Free a node's histogram."""
    if nodes.slot[node] >= 0:
        growth.free[growth.state[N_FREE]] = nodes.slot[node]
        growth.state[N_FREE] += 1
        nodes.slot[node] = -1


@inner_kernel
def send_unseen(node, table, nodes):
    """Send missing cells and levels without a part in the node's word to the side with more of the hessian.

    This is done before the rows are divided: a row whose gradient and hessian are too small for the words must go where
    the finished tree will send it. For ordered bins the cut decides the side of each.
    """
    is_left = 2.0 * np.float64(nodes.left[node] & LOW) >= np.float64(nodes.total[node] & LOW)
    if nodes.missing_left[node] < 0:
        nodes.missing_left[node] = is_left
    kind, n_bins = table.kind[nodes.column[node]], np.int64(table.n_bins[nodes.column[node]])
    if kind == NUMERIC or not is_left:
        return
    sets, seen = nodes.sets[node], nodes.seen[node]
    for b in range(n_bins if kind == ORDERED else 0, n_bins + 1):
        if not (seen[b >> 6] >> np.uint64(b & 63)) & np.uint64(1):
            sets[b >> 6] |= np.uint64(1) << np.uint64(b & 63)


@inner_kernel
def fill_goes_left(node, table, nodes, goes_left):
    """Write 1 for each bin that goes left at a node's test, which is final then; bins beyond the column's stay.

    ``goes_left`` uint8[256].
    """
    send_unseen(node, table, nodes)
    n_bins = np.int64(table.n_bins[nodes.column[node]])
    if table.kind[nodes.column[node]] == NUMERIC:
        for b in range(n_bins + 1):
            goes_left[b] = b <= nodes.cut[node]
    else:
        sets = nodes.sets[node]
        for b in range(n_bins + 1):
            goes_left[b] = (sets[b >> 6] >> np.uint64(b & 63)) & np.uint64(1)
    goes_left[MISSING_BIN] = nodes.missing_left[node] == 1


@inner_kernel
def rows_of(begin, end, rows):
    """Number of rows that some rows count as."""
    if len(rows.repeats) == 0:
        return np.int64(end - begin)
    n = np.int64(0)
    for at in range(begin, end):
        n += rows.repeats[rows.order[at]]
    return n


@inner_kernel
def bound_children(node, first, table, nodes, limits):
    """Bounds of the children's values: if the column must rise or fall, the middle of the two separates them."""
    low, high = nodes.low[node], nodes.high[node]
    for child in (first, first + 1):
        nodes.low[child], nodes.high[child] = low, high
    sign = table.monotone[nodes.column[node]]
    if sign == 0:
        return
    left, right = nodes.total[first], nodes.total[first + 1]
    middle = 0.5 * (
        value_of(np.float64(left >> 32), np.float64(left & LOW), limits.l1, limits.l2, low, high)
        + value_of(np.float64(right >> 32), np.float64(right & LOW), limits.l1, limits.l2, low, high)
    )
    below, above = (first, first + 1) if sign > 0 else (first + 1, first)
    nodes.high[below] = middle
    nodes.low[above] = middle


@inner_kernel
def number_children(node, table, nodes, limits, growth):
    """Make the two children of a split node; returns the first one's number. Their rows are not known yet."""
    first = growth.state[N_NODES]
    growth.state[N_NODES] += 2
    growth.state[N_LEAVES] += 1
    nodes.first_child[node] = first
    for child in (first, first + 1):
        nodes.first_child[child], nodes.column[child], nodes.slot[child] = -1, NO_COLUMN, -1
        nodes.depth[child] = nodes.depth[node] + 1
        nodes.gain[child] = 0.0
        if len(table.groups) > 0:
            nodes.alive[child] = nodes.alive[node] & table.groups[nodes.column[node]]
    nodes.total[first] = nodes.left[node]
    nodes.total[first + 1] = nodes.total[node] - nodes.left[node]
    bound_children(node, first, table, nodes, limits)
    return first


@inner_kernel
def open_children(node, n_left, table, rows, nodes, limits, growth):
    """Make the two children of a node with divided rows; returns the first's number, and the one with fewer rows."""
    first = number_children(node, table, nodes, limits, growth)
    n = np.int64(nodes.end[node]) - nodes.begin[node]
    begin = other_half(np.int64(nodes.begin[node]), rows.order)
    nodes.begin[first], nodes.end[first] = begin, begin + n_left
    nodes.begin[first + 1], nodes.end[first + 1] = begin + n_left, begin + n
    nodes.n_rows[first] = rows_of(nodes.begin[first], nodes.end[first], rows)
    nodes.n_rows[first + 1] = nodes.n_rows[node] - nodes.n_rows[first]
    return first, first if 2 * n_left <= n else first + 1


@inner_kernel
def are_wanted(first, nodes, limits, growth):
    """Whether a child may be split: then both need histograms."""
    most = max(nodes.n_rows[first], nodes.n_rows[first + 1])
    may_grow = growth.state[N_LEAVES] < limits.max_leaves and nodes.depth[first] < limits.max_depth
    return may_grow and most >= 2 * limits.min_rows


@inner_kernel
def free_slot(growth):
    """A free, empty histogram, or the scratch one."""
    slot = np.int64(SCRATCH)
    if growth.state[N_FREE] > 0:
        growth.state[N_FREE] -= 1
        slot = np.int64(growth.free[growth.state[N_FREE]])
    histogram = growth.slots[slot]
    for j in range(len(growth.spans)):
        first = j << 8
        for at in range(first, first + growth.spans[j]):
            histogram[at] = 0
        histogram[first + MISSING_BIN] = 0
    return slot


@inner_kernel
def look(child, slot, table, rows, nodes, limits, growth, desk):
    """Search a node whose histogram is in a slot; it waits if it can be split, else it needs no histogram.

    In a symmetric tree nothing is searched before the whole level is complete.
    """
    if limits.symmetric:
        nodes.slot[child] = slot
        return
    search(child, growth.slots[slot], table, rows, nodes, limits, desk)
    if slot != SCRATCH:
        nodes.slot[child] = slot
    if nodes.column[child] != NO_COLUMN:
        put(child, nodes, limits, growth)
    else:
        give_back(child, nodes, growth)


@inner_kernel
def look_at_both(node, smaller, slot, table, rows, nodes, limits, growth, desk):
    """Search two children, of whom the smaller one's histogram is in a slot.

    The parent's histogram less this one is the larger child's, in the parent's slot.
    """
    larger = 2 * nodes.first_child[node] + 1 - smaller
    kept = np.int64(nodes.slot[node])
    nodes.slot[node] = -1
    subtract(growth.slots[kept], growth.slots[slot], growth.spans)
    look(smaller, slot, table, rows, nodes, limits, growth, desk)
    look(larger, kept, table, rows, nodes, limits, growth, desk)


@inner_kernel
def sum_up_rows(child, slot, stride, rows, nodes, growth):
    """Add up the histogram of a node's rows."""
    begin, end, histogram = nodes.begin[child], nodes.end[child], growth.slots[slot]
    if len(rows.row_start) > 0:
        add_stored(rows.row_start, rows.places, rows.order, begin, end, rows.words, rows.repeats, histogram)
    else:
        add_some(rows.codes, stride, rows.order, begin, end, rows.words, histogram)


@inner_kernel
def split_waiting(most_cells, stride, table, rows, nodes, limits, growth, desk):
    """Split the nodes that wait, one after another, up to the first with too many cells.

    Parameters
    ----------
    most_cells : int
        A node with more rows times columns is not split here.
    stride : int
    table : Table, IN
    rows : Rows, IN and OUT
    nodes : Nodes, IN and OUT
    limits : Limits, IN
    growth : Growth, IN and OUT
    desk : Desk

    Returns
    -------
    int
        The node to split next, taken from those that wait; -1 if the tree is done.
    """
    width = growth.slots.shape[1] >> 8
    while growth.state[N_WAITING] > 0 and growth.state[N_LEAVES] < limits.max_leaves:
        node = take(nodes, limits, growth)
        begin, end = np.int64(nodes.begin[node]), np.int64(nodes.end[node])
        if (end - begin) * width > most_cells:
            return node
        fill_goes_left(node, table, nodes, desk.goes_left)
        to = other_half(begin, rows.order)
        last = to + end - begin - 1
        if len(rows.row_start) > 0:
            write_column(np.int64(nodes.column[node]), begin, end, table, rows)
            n_left = part(rows.cells, desk.goes_left, begin, end, to, last, rows.order)
        else:
            n_left = part(table.columns[nodes.column[node]], desk.goes_left, begin, end, to, last, rows.order)
        first, smaller = open_children(node, n_left, table, rows, nodes, limits, growth)
        if not are_wanted(first, nodes, limits, growth):
            give_back(node, nodes, growth)
        elif nodes.slot[node] >= 0:
            slot = free_slot(growth)
            sum_up_rows(smaller, slot, stride, rows, nodes, growth)
            look_at_both(node, smaller, slot, table, rows, nodes, limits, growth, desk)
        else:
            for child in (first, first + 1):
                slot = free_slot(growth)
                sum_up_rows(child, slot, stride, rows, nodes, growth)
                look(child, slot, table, rows, nodes, limits, growth, desk)
    return np.int64(-1)


@kernel
def split_some(most_cells, stride, table, rows, nodes, limits, growth, desk):
    """As ``split_waiting``."""
    return split_waiting(most_cells, stride, table, rows, nodes, limits, growth, desk)


@inner_kernel
def begin_root(n, n_rows, nodes, growth):
    """Begin a tree of ``n`` rows, which count as ``n_rows``: no histogram is taken, no node waits."""
    n_slots = growth.slots.shape[0]
    for at in range(n_slots - 1):
        growth.free[at] = n_slots - 1 - at
    for at in range(len(growth.state)):
        growth.state[at] = 0
    growth.state[N_NODES], growth.state[N_LEAVES], growth.state[N_FREE] = 1, 1, n_slots - 1
    nodes.begin[0], nodes.end[0], nodes.depth[0], nodes.first_child[0] = 0, n, 0, -1
    nodes.slot[0], nodes.column[0] = -1, NO_COLUMN
    if len(nodes.alive) > 0:
        nodes.alive[0] = ~np.uint64(0)
    nodes.n_rows[0] = n_rows


@kernel
def begin_tree(n, rows, nodes, growth):
    """``begin_root`` for the first rows in ``rows.order``."""
    begin_root(n, rows_of(0, n, rows), nodes, growth)


@inner_kernel
def note_root_total(slot, rows, nodes, growth):
    """The root's word: every row is in some bin of the first column or bundle; a sparse table's row need not be."""
    total = np.int64(0)
    if len(rows.row_start) > 0:
        for at in range(nodes.begin[0], nodes.end[0]):
            total += rows.words[rows.order[at]]
    else:
        for at in range(256):
            total += growth.slots[slot, at]
    nodes.total[0] = total


@kernel
def note_total(slot, rows, nodes, growth):
    """As ``note_root_total``."""
    note_root_total(slot, rows, nodes, growth)


@kernel
def open_node(node, n_left, table, rows, nodes, limits, growth):
    """Make the children of a node with divided rows; returns the first, the smaller, whether they are wanted."""
    first, smaller = open_children(node, n_left, table, rows, nodes, limits, growth)
    wanted = are_wanted(first, nodes, limits, growth)
    if not wanted:
        give_back(node, nodes, growth)
    return first, smaller, wanted


@kernel
def look_at_children(node, smaller, slot, table, rows, nodes, limits, growth, desk):
    """As ``look_at_both``."""
    look_at_both(node, smaller, slot, table, rows, nodes, limits, growth, desk)


@kernel
def look_at_node(node, slot, table, rows, nodes, limits, growth, desk):
    """As ``look``."""
    look(node, slot, table, rows, nodes, limits, growth, desk)


@kernel
def free_slot_of(growth):
    """As ``free_slot``."""
    return free_slot(growth)


@kernel
def fill_of_node(node, table, nodes, goes_left):
    """As ``fill_goes_left``. ``goes_left`` uint8[256]."""
    fill_goes_left(node, table, nodes, goes_left)


# For rows that lie elsewhere: the steps on nodes, one by one (``elsewhere``).


@kernel
def begin_elsewhere(n_rows, nodes, growth):
    """As ``begin_root``."""
    begin_root(0, n_rows, nodes, growth)


@kernel
def take_node(nodes, limits, growth):
    """As ``take``."""
    return take(nodes, limits, growth)


@kernel
def put_node(node, nodes, limits, growth):
    """As ``put``."""
    put(node, nodes, limits, growth)


@kernel
def give_back_of(node, nodes, growth):
    """As ``give_back``."""
    give_back(node, nodes, growth)


@kernel
def open_node_elsewhere(node, n_left, n_right, table, nodes, limits, growth):
    """Make the children of a node with so many rows each; returns the first's number, and whether they are wanted."""
    first = number_children(node, table, nodes, limits, growth)
    nodes.n_rows[first], nodes.n_rows[first + 1] = n_left, n_right
    return first, are_wanted(first, nodes, limits, growth)
