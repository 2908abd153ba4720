"""One test for all nodes of a level. In: their histograms. Out: the test in each node's row, and who waits.

The test is the one that gains most in sum (Prokhorenkova et al. 2018, "CatBoost": oblivious trees). A node in which it
would leave too few rows, or break a bound, does not count and stays a leaf.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import inner_kernel, kernel
from treewright.data.bins import MISSING_BIN
from treewright.grow.gradient.layout import N_NODES, NO_COLUMN, NUMERIC, SUBSET
from treewright.grow.gradient.leaves import add_sums, find_leaves, write_leaves, write_tree
from treewright.grow.gradient.rows import add_all
from treewright.grow.gradient.splitting import (
    LOW,
    NOISE,
    NOTHING,
    bounded_gains,
    columns_of_node,
    count_rows,
    fill_gains,
    load_bins,
    missing_of,
    sort_levels,
    worth_of_node,
)
from treewright.grow.gradient.step import (
    begin_root,
    free_slot,
    give_back,
    look,
    note_root_total,
    put,
    rows_of,
    split_waiting,
    sum_up_rows,
)


@inner_kernel
def may_be_split(node, nodes, limits):
    """Whether a node of the level may still be split."""
    return nodes.slot[node] >= 0 and nodes.n_rows[node] >= 2 * limits.min_rows


@inner_kernel
def total_bins(column, first, last, table, nodes, limits, growth, total, desk):
    """Add up a column's words by bin, over all nodes that may still be split, into ``total`` int64[256]."""
    for b in range(table.n_bins[column]):
        total[b] = 0
    total[MISSING_BIN] = 0
    for node in range(first, last):
        if may_be_split(node, nodes, limits):
            load_bins(column, table, growth.slots[nodes.slot[node]], nodes.total[node], desk.bins)
            for b in range(table.n_bins[column]):
                total[b] += desk.bins[b]
            total[MISSING_BIN] += desk.bins[MISSING_BIN]


@inner_kernel
def has_missing(column, first, last, table, nodes, limits, growth):
    """Whether a node that may still be split has a missing cell in a column."""
    for node in range(first, last):
        if may_be_split(node, nodes, limits) and missing_of(column, table, growth.slots[nodes.slot[node]]) != 0:
            return True
    return False


@inner_kernel
def in_order(n_levels, desk):
    """Write the words of ``desk.bins`` in the order of ``desk.levels`` into ``desk.sorted``."""
    for at in range(n_levels):
        desk.sorted[at] = desk.bins[desk.levels[at]]


@inner_kernel
def add_up_to(words, n_cuts, start, desk):
    """Sums left of every cut, also of those that change nothing in this node: they may in another of the level.

    ``words`` int64[256].
    """
    word = start
    for b in range(n_cuts):
        word += words[b]
        desk.gradient[b] = np.float64(word >> 32)
        desk.hessian[b] = np.float64(word & LOW)


@inner_kernel
def add_gains(
    column, first, last, n_cuts, missing_left, by_counts, table, rows, nodes, limits, growth, desk, gains
):  # fmt: skip
    """Add what each cut of a column gains in all nodes of the level; the side of missing cells is given.

    Until the test is chosen, ``nodes.gain`` holds what each node is worth undivided.

    If rows are counted, nodes in which a cut leaves too few rows do not count.

    ``gains`` float64[256].
    """
    is_subset = table.kind[column] == SUBSET
    l2 = limits.l2 + limits.level_l2 if is_subset else limits.l2
    for b in range(n_cuts):
        gains[b] = 0.0
    for node in range(first, last):
        if not may_be_split(node, nodes, limits):
            continue
        total = nodes.total[node]
        load_bins(column, table, growth.slots[nodes.slot[node]], total, desk.bins)
        start = desk.bins[MISSING_BIN] if missing_left else np.int64(0)
        if is_subset:
            in_order(n_cuts + 1, desk)
            add_up_to(desk.sorted, n_cuts, start, desk)
        else:
            add_up_to(desk.bins, n_cuts, start, desk)
        gradient, hessian = np.float64(total >> 32), np.float64(total & LOW)
        fill_gains(
            n_cuts, gradient, hessian, l2, table.monotone[column], nodes.low[node], nodes.high[node], limits, desk
        )
        n_left = np.int64(0)
        if by_counts:
            count_rows(column, node, table, rows, nodes, desk.counts)
            n_left = desk.counts[MISSING_BIN] if missing_left else n_left
        whole = nodes.gain[node]
        for b in range(n_cuts):
            if by_counts:
                n_left += desk.counts[desk.levels[b] if is_subset else b]
            has_rows = not by_counts or min(n_left, nodes.n_rows[node] - n_left) >= limits.min_rows
            if desk.gains[b] != NOTHING and has_rows:
                # A loss in a node does not count either: so counting rows can only make an offer smaller.
                gains[b] += max(desk.gains[b] - whole, 0.0)


@inner_kernel
def offer_of_column(column, first, last, by_counts, table, rows, nodes, limits, growth, desk, gains, total):
    """Note the offer of a column to the level in the desk: gain, cut, side of the missing cells.

    ``gains`` float64[256], ``total`` int64[256].
    """
    best, cut, missing_left = 0.0, -1, 0
    if table.kind[column] == SUBSET:
        total_bins(column, first, last, table, nodes, limits, growth, total, desk)
        n_cuts = sort_levels(total, table.n_bins[column], limits.smoothing, desk) - 1
        n_sides = 1
    else:
        n_sides = 2 if has_missing(column, first, last, table, nodes, limits, growth) else 1
        n_cuts = np.int64(table.n_bins[column]) - (2 - n_sides)
    for side in range(n_sides):
        n = n_cuts - side
        add_gains(column, first, last, n, side, by_counts, table, rows, nodes, limits, growth, desk, gains)
        for b in range(n):
            if gains[b] > best:
                best, cut, missing_left = gains[b], b, side
    desk.best_gain[column] = best
    desk.best[column, 0], desk.best[column, 1], desk.best[column, 2] = cut, missing_left, by_counts


@inner_kernel
def fill_set(column, cut, missing_left, table, desk, left):
    """Write the bins that go left, for a test of a nominal column; returns the missing side. ``left`` uint64[4]."""
    for word in range(4):
        left[word] = np.uint64(0)
    for at in range(cut + 1):
        b = desk.levels[at] if table.kind[column] == SUBSET else at
        if b == MISSING_BIN:
            missing_left = 1
        else:
            left[b >> 6] |= np.uint64(1) << np.uint64(b & 63)
    return missing_left


@inner_kernel
def goes_left(column, b, cut, left, table):
    """Whether a bin that is not the missing one goes left. ``left`` uint64[4]."""
    if table.kind[column] == NUMERIC:
        return b <= cut
    return ((left[b >> 6] >> np.uint64(b & 63)) & np.uint64(1)) == 1


@inner_kernel
def ask(node, column, cut, missing_left, left, table, rows, nodes, limits, growth, desk):
    """Give a node the level's test, if that leaves enough rows on both sides; else it stays a leaf.

    ``left`` uint64[4].
    """
    total, n_bins = nodes.total[node], table.n_bins[column]
    load_bins(column, table, growth.slots[nodes.slot[node]], total, desk.bins)
    word = desk.bins[MISSING_BIN] if missing_left else np.int64(0)
    for b in range(n_bins):
        if goes_left(column, b, cut, left, table):
            word += desk.bins[b]
    least = min(np.float64(word & LOW), np.float64((total - word) & LOW))
    if least < limits.min_hessian:
        return False
    if not limits.exact and limits.min_rows > 1 and least < limits.sure_hessian:
        count_rows(column, node, table, rows, nodes, desk.counts)
        n_left = desk.counts[MISSING_BIN] if missing_left else np.int64(0)
        for b in range(n_bins):
            if goes_left(column, b, cut, left, table):
                n_left += desk.counts[b]
        if min(n_left, nodes.n_rows[node] - n_left) < limits.min_rows:
            return False
    nodes.column[node], nodes.cut[node], nodes.left[node] = column, cut, word
    nodes.missing_left[node] = missing_left if desk.bins[MISSING_BIN] != 0 else -1
    if table.kind[column] != NUMERIC:
        for at in range(4):
            nodes.sets[node, at] = left[at]
            nodes.seen[node, at] = np.uint64(0)
        for b in range(n_bins):
            if desk.bins[b] != 0:
                nodes.seen[node, b >> 6] |= np.uint64(1) << np.uint64(b & 63)
    return True


@inner_kernel
def gain_of(node, table, nodes, limits, desk):
    """Gain of a node by the test in its row, in the user's unit, at least 0; -1 if bounds forbid the test."""
    total, left = nodes.total[node], nodes.left[node]
    column = nodes.column[node]
    l2 = limits.l2 + limits.level_l2 if table.kind[column] == SUBSET else limits.l2
    desk.gradient[0], desk.hessian[0] = np.float64(left >> 32), np.float64(left & LOW)
    gradient, hessian = np.float64(total >> 32), np.float64(total & LOW)
    bounded_gains(
        1, gradient, hessian, l2, 0.0, table.monotone[column], nodes.low[node], nodes.high[node], limits.l1, desk
    )
    if desk.gains[0] == NOTHING:
        return -1.0
    return max(desk.gains[0] - worth_of_node(node, nodes, limits), 0.0) * limits.gain_unit


@inner_kernel
def choose_test(first, last, table, rows, nodes, limits, growth, desk, gains, total, left):
    """Find the test of a level, and let the nodes that can use it wait.

    Parameters
    ----------
    first, last : int
        The level's nodes are ``first`` to ``last - 1``; a node without a histogram is a leaf.
    table : Table, IN
    rows : Rows, IN
    nodes : Nodes, IN and OUT
    limits : Limits, IN
    growth : Growth, IN and OUT
    desk : Desk
    gains : float64[256], total : int64[256], left : uint64[4]
        Scratch.

    Returns
    -------
    int
        How many nodes wait to be split; 0 ends the tree.
    """
    n_columns = columns_of_node(first, table, nodes, limits, desk)
    by_counts, whole = False, 0.0
    for node in range(first, last):
        nodes.gain[node] = worth_of_node(node, nodes, limits)
        whole += abs(nodes.gain[node])
    for at in range(n_columns):
        offer_of_column(desk.drawn[at], first, last, by_counts, table, rows, nodes, limits, growth, desk, gains, total)
    while True:
        best, column = 0.0, -1
        for at in range(n_columns):
            if desk.best_gain[desk.drawn[at]] > best:
                best, column = desk.best_gain[desk.drawn[at]], np.int64(desk.drawn[at])
        if column < 0 or limits.exact or limits.min_rows <= 1 or desk.best[column, 2]:
            break
        # As in a single node: the best cut by hessians is searched again by rows.
        offer_of_column(column, first, last, True, table, rows, nodes, limits, growth, desk, gains, total)
    cut, missing_left = (np.int64(desk.best[column, 0]), np.int64(desk.best[column, 1])) if column >= 0 else (-1, 0)
    is_worth_it = column >= 0 and best > NOISE * whole and best * limits.gain_unit > limits.min_gain
    if is_worth_it and table.kind[column] != NUMERIC:
        total_bins(column, first, last, table, nodes, limits, growth, total, desk)
        sort_levels(total, table.n_bins[column], limits.smoothing, desk)
        missing_left = fill_set(column, cut, missing_left, table, desk, left)
    n_waiting = 0
    for node in range(first, last):
        if nodes.slot[node] < 0:
            continue
        if is_worth_it and ask(node, column, cut, missing_left, left, table, rows, nodes, limits, growth, desk):
            nodes.gain[node] = gain_of(node, table, nodes, limits, desk)
            if nodes.gain[node] >= 0.0:
                put(node, nodes, limits, growth)
                n_waiting += 1
                continue
        nodes.column[node] = NO_COLUMN
        give_back(node, nodes, growth)
    return n_waiting


@kernel
def choose_level(first, last, table, rows, nodes, limits, growth, desk, gains, total, left):
    """As ``choose_test``."""
    return choose_test(first, last, table, rows, nodes, limits, growth, desk, gains, total, left)


@kernel
def grow_at_once(
    n, is_every_row, most_cells, stride, table, rows, nodes, limits, growth, desk, gains, total, left,
    gradient, hessian, unit, fine_gradient, fine_hessian, l1, l2, leaf_of, grown,
):  # fmt: skip
    """Grow a whole tree of few rows, with its leaves: each call of a kernel takes 20 us, as long as the tree itself.

    Parameters
    ----------
    n : int
        The tree's rows are the first ones in ``rows.order``.
    is_every_row : bool
        Whether these are all rows in their order: they are then read one after another.
    most_cells : int
        At least the number of cells of the root.
    stride, table, rows, nodes, limits, growth, desk
        As in ``step.split_waiting``.
    gains, total, left
        As in ``choose_test``.
    gradient, hessian, fine_gradient, fine_hessian
        As in ``leaves.leaf_sums``.
    unit, l1, l2
        As in ``leaves.write_tree``.
    leaf_of : uint8[n_rows] or int32[n_rows], OUT
        The position of each row's leaf; for rows outside of the tree that after the last.
    grown : Grown, OUT

    Returns
    -------
    int, int
        Nodes and leaves.
    """
    begin_root(n, rows_of(0, n, rows), nodes, growth)
    slot = free_slot(growth)
    if is_every_row and len(rows.row_start) == 0:
        add_all(rows.codes, stride, 0, n, rows.words, growth.slots[slot])
    else:
        sum_up_rows(0, slot, stride, rows, nodes, growth)
    note_root_total(slot, rows, nodes, growth)
    look(0, slot, table, rows, nodes, limits, growth, desk)
    split_waiting(most_cells, stride, table, rows, nodes, limits, growth, desk)
    first, n_nodes = np.int64(0), np.int64(1)
    while limits.symmetric and n_nodes > first and limits.max_depth > nodes.depth[first]:
        if choose_test(first, n_nodes, table, rows, nodes, limits, growth, desk, gains, total, left) == 0:
            break
        split_waiting(most_cells, stride, table, rows, nodes, limits, growth, desk)
        first, n_nodes = n_nodes, np.int64(growth.state[N_NODES])
    n_nodes = np.int64(growth.state[N_NODES])
    n_leaves = find_leaves(n_nodes, nodes, grown)
    if n < len(leaf_of):
        leaf_of[:] = n_leaves
    write_leaves(rows.order, grown.begins, grown.ends, 0, n_leaves, leaf_of)
    grown.sums[: n_leaves + 1] = 0
    add_sums(leaf_of, gradient, hessian, rows.repeats, fine_gradient, fine_hessian, 0, len(leaf_of), grown.sums)
    write_tree(n_nodes, n_leaves, unit, fine_gradient, fine_hessian, l1, l2, table, nodes, grown)
    return n_nodes, n_leaves
