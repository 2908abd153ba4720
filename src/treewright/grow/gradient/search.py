"""The best test of a node. In: its histogram. Out: column, cut, gain, in the node's row. Caller: .step."""

from __future__ import annotations

import numpy as np

from treewright.core.jit import bare_inner_kernel, bare_kernel
from treewright.core.random import mix
from treewright.grow.gradient.cuts import LOW, NOTHING, search_column, sort_levels, value_of, worth
from treewright.grow.gradient.layout import MISSING_BIN, NO_COLUMN, NUMERIC, SUBSET

NOISE = 1e-13  # of what is compared: what rounding alone may gain


@bare_inner_kernel
def draw(pool, n_pool, share, seed, key, drawn):
    """Some columns at random, ascending; at least one.

    Returns
    -------
    int
        How many; they stand in ``drawn``.
    """
    wanted = max(1, min(n_pool, np.int64(np.ceil(share * n_pool - 1e-9))))
    state = mix(seed, np.uint64(key))
    n_drawn = 0
    for at in range(n_pool):  # each is taken with the share of those still wanted (Knuth, algorithm S)
        chance = np.float64(mix(state, np.uint64(at)) >> np.uint64(11)) * 2.0**-53
        if chance * np.float64(n_pool - at) < np.float64(wanted - n_drawn):
            drawn[n_drawn] = pool[at]
            n_drawn += 1
    return n_drawn


@bare_kernel
def draw_for_tree(pool, share, seed, drawn):
    """Some of the columns ``pool`` int32[p], for a tree of this seed: into ``drawn`` int32[p]; how many."""
    return draw(pool, len(pool), share, seed, np.int64(0), drawn)


@bare_inner_kernel
def columns_of_node(node, table, nodes, limits, desk):
    """The columns that a node may ask about, into ``desk.drawn``; how many."""
    n_columns = len(table.pool)
    pool = table.pool
    if limits.level_share < 1.0:
        depth = np.int64(nodes.depth[node])
        n_columns = draw(pool, n_columns, limits.level_share, limits.seed, (depth + 1) << 32, desk.level)
        pool = desk.level
    if limits.node_share < 1.0:
        n_columns = draw(pool, n_columns, limits.node_share, limits.seed, np.int64(node) + 1, desk.drawn)
    else:
        for at in range(n_columns):
            desk.drawn[at] = pool[at]
    if len(table.groups) == 0:
        return n_columns
    n_allowed = 0
    for at in range(n_columns):
        if nodes.alive[node] & table.groups[desk.drawn[at]]:
            desk.drawn[n_allowed] = desk.drawn[at]
            n_allowed += 1
    return n_allowed


@bare_inner_kernel
def load_bins(column, table, histogram, total, bins):
    """A column's words by bin: copied from the histogram, or made from what its bundle holds."""
    place, n_bins = np.uintp(table.place[column]), table.n_bins[column]
    if not table.bundled[column]:
        for b in range(n_bins):
            bins[b] = histogram[place + np.uintp(b)]
        bins[MISSING_BIN] = histogram[place + np.uintp(MISSING_BIN)]
        return
    rest = total
    for b in range(1, n_bins):
        bins[b] = histogram[place + np.uintp(b - 1)]
        rest -= bins[b]
    bins[0] = rest
    bins[MISSING_BIN] = 0


@bare_inner_kernel
def count_rows(column, node, table, rows, nodes, counts):
    """How many rows of a node each bin of a column has, by what they count as."""
    for b in range(256):
        counts[b] = 0
    cells, weighs = table.columns[column], len(rows.repeats) > 0
    for at in range(nodes.begin[node], nodes.end[node]):
        row = np.uintp(rows.order[at])
        counts[np.uintp(cells[row])] += rows.repeats[row] if weighs else 1


@bare_inner_kernel
def left_of(column, cut, missing_left, table, limits, desk):
    """The word of the rows that go left, of the column in ``desk.bins``."""
    left, bins = np.int64(0), desk.bins
    if table.kind[column] == SUBSET:
        sort_levels(bins, table.n_bins[column], limits.smoothing, desk)
        for at in range(cut + 1):
            left += desk.sorted[at]
        return left
    for b in range(cut + 1):
        left += bins[b]
    return left + bins[MISSING_BIN] if missing_left else left


@bare_inner_kernel
def rows_left_of(column, cut, missing_left, table, desk):
    """The rows that go left, of the column in ``desk.counts``; after ``left_of``, which sorts levels."""
    n, counts = np.int64(0), desk.counts
    for at in range(cut + 1):
        n += counts[desk.levels[at] if table.kind[column] == SUBSET else at]
    return n + counts[MISSING_BIN] if missing_left else n


@bare_inner_kernel
def try_column(column, node, by_counts, histogram, table, nodes, limits, desk):
    """Search a column, and note in the desk what it offers."""
    total = nodes.total[node]
    load_bins(column, table, histogram, total, desk.bins)
    desk.best_gain[column], cut, missing_left = search_column(
        table.kind[column], table.monotone[column], desk.bins, table.n_bins[column], total, nodes.n_rows[node],
        by_counts, nodes.low[node], nodes.high[node], limits, desk,
    )  # fmt: skip
    desk.best[column, 0], desk.best[column, 1], desk.best[column, 2] = cut, missing_left, by_counts


@bare_inner_kernel
def worth_of_node(node, nodes, limits):
    """What a node is worth undivided, in the units of the words."""
    total = nodes.total[node]
    gradient, hessian = np.float64(total >> 32), np.float64(total & LOW)
    value = value_of(gradient, hessian, limits.l1, limits.l2, nodes.low[node], nodes.high[node])
    return worth(gradient, hessian, limits.l1, limits.l2, value)


@bare_inner_kernel
def keep_best(n_columns, node, histogram, table, rows, nodes, limits, desk):
    """The column that offers most, the lowest of equals; its rows are counted where that may change its offer."""
    while True:
        column, best = -1, NOTHING
        for at in range(n_columns):
            if desk.best_gain[desk.drawn[at]] > best:
                column, best = desk.drawn[at], desk.best_gain[desk.drawn[at]]
        if column < 0 or limits.exact or limits.min_rows <= 1 or desk.best[column, 2]:
            return column, best
        total = nodes.total[node]
        load_bins(column, table, histogram, total, desk.bins)
        left = left_of(column, desk.best[column, 0], desk.best[column, 1], table, limits, desk)
        if min(np.float64(left & LOW), np.float64((total - left) & LOW)) >= limits.sure_hessian:
            return column, best
        count_rows(column, node, table, rows, nodes, desk.counts)
        n_left = rows_left_of(column, desk.best[column, 0], desk.best[column, 1], table, desk)
        if min(n_left, nodes.n_rows[node] - n_left) >= limits.min_rows:
            return column, best
        try_column(column, node, True, histogram, table, nodes, limits, desk)


@bare_inner_kernel
def note_test(column, node, histogram, table, nodes, limits, desk):
    """A node's test in its row of the arrays; of a nominal column the bins that go left, and those that have rows."""
    cut, missing_left = desk.best[column, 0], desk.best[column, 1]
    bins = desk.bins
    load_bins(column, table, histogram, nodes.total[node], bins)
    nodes.column[node], nodes.cut[node] = column, cut
    nodes.missing_left[node] = missing_left if bins[MISSING_BIN] != 0 else -1
    nodes.left[node] = left_of(column, cut, missing_left, table, limits, desk)
    if table.kind[column] == NUMERIC:
        return
    sets, seen = nodes.sets[node], nodes.seen[node]
    for word in range(4):
        sets[word] = seen[word] = np.uint64(0)
    for b in range(table.n_bins[column]):
        if bins[b] != 0:
            seen[b >> 6] |= np.uint64(1) << np.uint64(b & 63)
    for at in range(cut + 1):
        b = desk.levels[at] if table.kind[column] == SUBSET else at
        if b == MISSING_BIN:
            nodes.missing_left[node] = 1
        else:
            sets[b >> 6] |= np.uint64(1) << np.uint64(b & 63)


@bare_inner_kernel
def search(node, histogram, table, rows, nodes, limits, desk):
    """Find the test that a node would ask, and what it gains; no column where none is allowed or gains anything."""
    nodes.column[node], nodes.gain[node] = NO_COLUMN, 0.0
    if nodes.depth[node] >= limits.max_depth or nodes.n_rows[node] < 2 * limits.min_rows:
        return
    n_columns = columns_of_node(node, table, nodes, limits, desk)
    for at in range(n_columns):
        try_column(desk.drawn[at], node, False, histogram, table, nodes, limits, desk)
    column, best = keep_best(n_columns, node, histogram, table, rows, nodes, limits, desk)
    if column < 0:
        return
    whole = worth_of_node(node, nodes, limits)
    gain = (best - whole) * limits.gain_unit
    if best - whole > NOISE * (abs(best) + abs(whole)) and gain > limits.min_gain:
        nodes.gain[node] = gain
        note_test(column, node, histogram, table, nodes, limits, desk)
