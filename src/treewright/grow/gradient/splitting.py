"""The best test of a node. In: its histogram. Out: column, cut, gain, side of missing cells, in the node's row.

    try_columns       sample the columns that the node may test
      search_column     for each: sums left of every cut -> the worth of the cut -> the first of the best
    best_offer        the column that offers most
      is_unsure         its rows are counted if that may change its offer
      stands            and perhaps another column offers most now
    keep              store the test, if its gain exceeds rounding error

Sums stay in the units of the words, so each is a whole number below 2**32 until it is squared: the same bits in any
order of rows. Of equal gains the lowest cut wins, and missing cells go right.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import inner_kernel, kernel
from treewright.core.random import mix
from treewright.data.bins import MISSING_BIN
from treewright.grow.gradient.layout import NO_COLUMN, NUMERIC, SUBSET
from treewright.grow.gradient.rows import write_column

NOTHING = -1.0  # no gain: no cut is allowed
LOW = 0xFFFFFFFF  # the half of a word that holds the hessian
NOISE = 1e-13  # relative to what is compared: the gain that rounding alone may cause


@inner_kernel
def shrunk(gradient, l1):
    """A gradient, moved towards 0 by ``l1``."""
    return max(gradient - l1, 0.0) + min(gradient + l1, 0.0)


@inner_kernel
def value_of(gradient, hessian, l1, l2, low, high):
    """The value of a node: Newton's step within its bounds; 0 without any curvature."""
    below = hessian + l2
    value = -shrunk(gradient, l1) / below if below > 0.0 else 0.0
    return min(max(value, low), high)


@inner_kernel
def worth(gradient, hessian, l1, l2, value):
    """Twice the decrease of a node's loss by its value (Chen and Guestrin 2016, equation 7, before it is inserted)."""
    return -(2.0 * gradient * value + (hessian + l2) * value * value + 2.0 * l1 * abs(value))


@inner_kernel
def sum_up(words, n_cuts, start, desk):
    """Sums left of each cut: those of the words up to it, added to ``start``.

    A cut after a bin without rows equals the one before it and is left out, so a small node has few cuts.

    ``words`` int64[256].

    Returns
    -------
    int
        Number of cuts; ``desk.cuts`` holds their bins.
    """
    sums, cuts = desk.sums, desk.cuts
    word, m = start, np.uintp(0)
    for b in range(n_cuts):
        added = words[b]
        word += added
        sums[m] = word
        cuts[m] = b
        m += np.uintp((added != 0) | ((b == 0) & (start != 0)))
    return np.int64(m)


@inner_kernel
def unpack(n_cuts, desk):
    """Gradients and hessians left of each cut (as part of ``sum_up`` 250 ns a column; separately 150 and 20)."""
    sums, gradient, hessian = desk.sums, desk.gradient, desk.hessian
    for b in range(n_cuts):
        gradient[b] = np.float64(np.int32(sums[b] >> 32))
        hessian[b] = np.float64(np.uint32(sums[b] & LOW))


@inner_kernel
def refuse_few(n_cuts, counts, n_start, n_rows, least, desk):
    """Forbid cuts that leave fewer than ``least`` rows on a side. ``counts`` int64[256]."""
    gains, cuts, rows_left = desk.gains, desk.cuts, desk.rows_left
    rows = n_start
    for b in range(cuts[n_cuts - 1] + 1 if n_cuts > 0 else 0):
        rows += counts[b]
        rows_left[b] = rows
    for k in range(n_cuts):
        rows = rows_left[cuts[k]]
        gains[k] = gains[k] if (rows >= least) & (n_rows - rows >= least) else NOTHING


@inner_kernel
def first_best(n_cuts, desk):
    """The position of the first of the largest gains; -1 if no cut is allowed.

    Numbers that are not negative are in the order of their bits, and whole numbers are compared several at a time.
    """
    bits, best = desk.gain_bits, np.int64(-1)
    for k in range(n_cuts):
        best = max(best, bits[k])
    if best < 0:
        return -1
    k = 0
    while bits[k] != best:
        k += 1
    return k


@inner_kernel
def free_gains(n_cuts, gradient, hessian, l2, least, high, desk):
    """The worth of each cut, without bounds and ``l1``: each side's squared gradient over its hessian.

    A separate loop, without a jump and with one division for both sides: so several cuts are computed at a time.

    Returns
    -------
    int
        Number of cuts with a side whose value is larger than ``high`` in size.
    """
    left_gradient, left_hessian, gains = desk.gradient, desk.hessian, desk.gains
    n_clipped = 0
    for b in range(n_cuts):
        g, h = left_gradient[b], left_hessian[b]
        other_g, other_h = gradient - g, hessian - h
        below, other_below = h + l2, other_h + l2
        gain = (g * g * other_below + other_g * other_g * below) / (below * other_below)
        gains[b] = gain if (h >= least) & (other_h >= least) else NOTHING
        n_clipped += np.int64((abs(g) > high * below) | (abs(other_g) > high * other_below))
    return n_clipped


@inner_kernel
def bounded_gains(n_cuts, gradient, hessian, l2, least, sign, low, high, l1, desk):
    """The worth of each cut if values are bounded, shrunk, or must rise or fall from left to right."""
    for b in range(n_cuts):
        g, h = desk.gradient[b], desk.hessian[b]
        other_g, other_h = gradient - g, hessian - h
        desk.gains[b] = NOTHING
        if h < least or other_h < least:
            continue
        left = value_of(g, h, l1, l2, low, high)
        right = value_of(other_g, other_h, l1, l2, low, high)
        if sign * (right - left) >= 0.0:
            desk.gains[b] = worth(g, h, l1, l2, left) + worth(other_g, other_h, l1, l2, right)


@inner_kernel
def clip_gains(n_cuts, gradient, hessian, l2, low, high, desk):
    """The worth of cuts with a value out of bounds; for the others that of ``free_gains``."""
    for b in range(n_cuts):
        g, h = desk.gradient[b], desk.hessian[b]
        other_g, other_h = gradient - g, hessian - h
        is_free = abs(g) <= high * (h + l2) and abs(other_g) <= high * (other_h + l2)
        if desk.gains[b] != NOTHING and not is_free:
            left = value_of(g, h, 0.0, l2, low, high)
            right = value_of(other_g, other_h, 0.0, l2, low, high)
            desk.gains[b] = worth(g, h, 0.0, l2, left) + worth(other_g, other_h, 0.0, l2, right)


@inner_kernel
def fill_gains(n_cuts, gradient, hessian, l2, sign, low, high, limits, desk):
    """The worth of each cut, from the sums left of it in the desk.

    Without monotone constraints the bounds are those of the largest step, equal in both directions.
    """
    if limits.bounded or limits.l1 > 0.0:
        bounded_gains(n_cuts, gradient, hessian, l2, limits.min_hessian, sign, low, high, limits.l1, desk)
        return
    # Few nodes clip anything, and that loop is slow: always done, searches of 1,000 x 10 took 45 ms a fit and not 39.
    if free_gains(n_cuts, gradient, hessian, l2, limits.min_hessian, high, desk) > 0:
        clip_gains(n_cuts, gradient, hessian, l2, low, high, desk)


@inner_kernel
def best_cut(words, n_cuts, start, counts, n_start, n_rows, by_counts, total, l2, sign, low, high, limits, desk):
    """The first of the best cuts between the bins of ``words``, with ``start`` already on the left.

    Parameters
    ----------
    words : int64[>= n_cuts], IN
    start : int64
        A word: the sums on the left of every cut.
    counts : int64[>= n_cuts], IN
        Rows of each bin; ``n_start`` are on the left of every cut, ``n_rows`` are all.
    by_counts : bool
        Whether both sides need ``min_rows`` of them; else ``counts`` is not read.
    total : int64
        The node's word.

    Returns
    -------
    worth : float
        In the units of the words; ``NOTHING`` if no cut is allowed.
    cut : int
    """
    gradient, hessian = np.float64(total >> 32), np.float64(total & LOW)
    m = sum_up(words, n_cuts, start, desk)
    unpack(m, desk)
    fill_gains(m, gradient, hessian, l2, sign, low, high, limits, desk)
    if by_counts:
        refuse_few(m, counts, n_start, n_rows, limits.min_rows, desk)
    k = first_best(m, desk)
    return (desk.gains[k], np.int64(desk.cuts[k])) if k >= 0 else (NOTHING, -1)


@inner_kernel
def sort_levels(bins, n_bins, smoothing, desk):
    """Sort the bins with rows by gradient over hessian, missing cells among them; the lower bin of equals first.

    For a convex loss the best of all subsets is a first run of this order (Fisher 1958; Breiman et al. 1984, 4.2.2).

    ``bins`` int64[256].

    Returns
    -------
    int
        Their number; they are in ``desk.levels``, their words in ``desk.sorted``.
    """
    m = 0
    for k in range(n_bins + 1):
        b = k if k < n_bins else MISSING_BIN
        word = bins[b]
        if word == 0:
            continue
        key = np.float64(word >> 32) / (np.float64(word & LOW) + smoothing)
        at = m
        while at > 0 and desk.keys[at - 1] > key:
            desk.keys[at], desk.levels[at], desk.sorted[at] = (
                desk.keys[at - 1],
                desk.levels[at - 1],
                desk.sorted[at - 1],
            )
            at -= 1
        desk.keys[at], desk.levels[at], desk.sorted[at] = key, b, word
        m += 1
    return m


@inner_kernel
def search_column(kind, sign, bins, n_bins, total, n_rows, by_counts, low, high, limits, desk):
    """The best test of a column.

    Parameters
    ----------
    kind, sign : int
        ``NUMERIC``, ``SUBSET`` or ``ORDERED``; of a monotone constraint -1, 0 or 1.
    bins : int64[256], IN
        Words of the node by bin.
    n_bins : int
    total, n_rows : int
        The node's word; what its rows count as.
    by_counts : bool
        Whether ``desk.counts`` holds the rows of each bin, and a side needs ``min_rows`` of them.
    low, high : float
        Bounds of the node's value.
    limits : Limits
    desk : Desk

    Returns
    -------
    worth : float
    cut : int
        Last bin on the left; for a subset the number of ``desk.levels`` on the left, less one.
    missing_left : int
    """
    if kind == SUBSET:
        m = sort_levels(bins, n_bins, limits.smoothing, desk)
        if by_counts:
            for at in range(m):
                desk.sorted_counts[at] = desk.counts[desk.levels[at]]
        best, cut = best_cut(
            desk.sorted, m - 1, 0, desk.sorted_counts, 0, n_rows, by_counts, total, limits.l2 + limits.level_l2, 0,
            low, high, limits, desk,
        )  # fmt: skip
        return best, cut, 0
    missing = bins[MISSING_BIN]
    n_cuts = n_bins if missing != 0 else n_bins - 1
    best, cut = best_cut(
        bins, n_cuts, 0, desk.counts, 0, n_rows, by_counts, total, limits.l2, sign, low, high, limits, desk
    )
    if missing == 0:
        return best, cut, 0
    n_missing = desk.counts[MISSING_BIN] if by_counts else 0
    other, at = best_cut(
        bins, n_bins - 1, missing, desk.counts, n_missing, n_rows, by_counts, total, limits.l2, sign, low, high,
        limits, desk,
    )  # fmt: skip
    return (other, at, 1) if other > best else (best, cut, 0)


# From columns to nodes.


@inner_kernel
def draw(pool, n_pool, share, seed, key, drawn):
    """Sample columns, ascending; at least one.

    ``pool`` int32[p], ``drawn`` int32[p].

    Returns
    -------
    int
        Number of columns in ``drawn``.
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


@kernel
def draw_for_tree(pool, share, seed, drawn):
    """Sample columns of ``pool`` int32[p] for a tree of this seed into ``drawn`` int32[p]; returns how many."""
    return draw(pool, len(pool), share, seed, np.int64(0), drawn)


@inner_kernel
def columns_of_node(node, table, nodes, limits, desk):
    """Write the columns that a node may test into ``desk.drawn``; returns how many."""
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


@inner_kernel
def missing_of(column, table, histogram):
    """A column's word of the missing cells. ``histogram`` int64[width]."""
    place = np.uintp(table.place[column])
    if len(table.usual) > 0:
        return histogram[place + np.uintp(table.n_bins[column])]
    if table.bundled[column]:
        return np.int64(0)
    return histogram[place + np.uintp(MISSING_BIN)]


@inner_kernel
def load_bins(column, table, histogram, total, bins):
    """A column's words by bin: copied from the histogram, or computed from its bundle.

    ``histogram`` int64[width], ``bins`` int64[256].
    """
    place, n_bins = np.uintp(table.place[column]), table.n_bins[column]
    if len(table.usual) > 0:
        missing = histogram[place + np.uintp(n_bins)]
        rest = total - missing
        for b in range(n_bins):
            bins[b] = histogram[place + np.uintp(b)]
            rest -= bins[b]
        bins[table.usual[column]] += rest
        bins[MISSING_BIN] = missing
        return
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


@inner_kernel
def is_out_of_reach(column, table, histogram, limits):
    """Whether a cut of a sparse column leaves too few rows on the side without its usual bin.

    ``histogram`` int64[width].
    """
    stored = histogram[np.uintp(table.place[column]) + np.uintp(table.n_bins[column] + 1)]
    return stored < max(limits.min_rows, 1)


@inner_kernel
def count_rows(column, node, table, rows, nodes, counts):
    """Number of a node's rows in each bin of a column, each with its count. ``counts`` int64[256]."""
    for b in range(table.n_bins[column] + 1):
        counts[b] = 0
    counts[MISSING_BIN] = 0
    is_sparse, weighs = len(rows.row_start) > 0, len(rows.repeats) > 0
    if is_sparse:
        write_column(np.int64(column), np.int64(nodes.begin[node]), np.int64(nodes.end[node]), table, rows)
    for at in range(nodes.begin[node], nodes.end[node]):
        row = np.uintp(rows.order[at])
        b = rows.cells[row] if is_sparse else table.columns[column, row]
        counts[np.uintp(b)] += rows.repeats[row] if weighs else 1


@inner_kernel
def left_of(column, cut, missing_left, table, limits, desk):
    """The word of the rows that go left, for the column in ``desk.bins``."""
    left, bins = np.int64(0), desk.bins
    if table.kind[column] == SUBSET:
        sort_levels(bins, table.n_bins[column], limits.smoothing, desk)
        for at in range(cut + 1):
            left += desk.sorted[at]
        return left
    for b in range(cut + 1):
        left += bins[b]
    return left + bins[MISSING_BIN] if missing_left else left


@inner_kernel
def rows_left_of(column, cut, missing_left, table, desk):
    """Number of rows that go left, for the column in ``desk.counts``; after ``left_of``, which sorts levels."""
    n, counts = np.int64(0), desk.counts
    for at in range(cut + 1):
        n += counts[desk.levels[at] if table.kind[column] == SUBSET else at]
    return n + counts[MISSING_BIN] if missing_left else n


@inner_kernel
def try_column(column, node, by_counts, histogram, table, nodes, limits, desk):
    """Search a column, and note its offer in the desk. ``histogram`` int64[width]."""
    total = nodes.total[node]
    load_bins(column, table, histogram, total, desk.bins)
    desk.best_gain[column], cut, missing_left = search_column(
        table.kind[column], table.monotone[column], desk.bins, table.n_bins[column], total, nodes.n_rows[node],
        by_counts, nodes.low[node], nodes.high[node], limits, desk,
    )  # fmt: skip
    desk.best[column, 0], desk.best[column, 1], desk.best[column, 2] = cut, missing_left, by_counts


@inner_kernel
def worth_of_node(node, nodes, limits):
    """The worth of an undivided node, in the units of the words."""
    total = nodes.total[node]
    gradient, hessian = np.float64(total >> 32), np.float64(total & LOW)
    value = value_of(gradient, hessian, limits.l1, limits.l2, nodes.low[node], nodes.high[node])
    return worth(gradient, hessian, limits.l1, limits.l2, value)


@inner_kernel
def best_offer(n_columns, desk):
    """The column that offers most, the lowest of equals, and its offer; -1 if none offers anything."""
    column, best = -1, NOTHING
    for at in range(n_columns):
        if desk.best_gain[desk.drawn[at]] > best:
            column, best = desk.drawn[at], desk.best_gain[desk.drawn[at]]
    return column, best


@inner_kernel
def is_unsure(column, node, histogram, table, nodes, limits, desk):
    """Whether the rows of a column must be counted before its offer stands. ``histogram`` int64[width]."""
    if column < 0 or limits.exact or limits.min_rows <= 1 or desk.best[column, 2]:
        return False
    total = nodes.total[node]
    load_bins(column, table, histogram, total, desk.bins)
    left = left_of(column, desk.best[column, 0], desk.best[column, 1], table, limits, desk)
    return min(np.float64(left & LOW), np.float64((total - left) & LOW)) < limits.sure_hessian


@inner_kernel
def stands(column, node, histogram, table, nodes, limits, desk):
    """Whether an offer stays the same after a count of its rows (after ``is_unsure``); if not, it is replaced.

    ``histogram`` int64[width].
    """
    n_left = rows_left_of(column, desk.best[column, 0], desk.best[column, 1], table, desk)
    if min(n_left, nodes.n_rows[node] - n_left) >= limits.min_rows:
        return True
    try_column(column, node, True, histogram, table, nodes, limits, desk)
    return False


@inner_kernel
def note_test(column, node, histogram, table, nodes, limits, desk):
    """Write a node's test into its row of the arrays; for a nominal column the bins that go left, and those with rows.

    ``histogram`` int64[width].
    """
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


@inner_kernel
def try_columns(node, histogram, table, nodes, limits, desk):
    """Search the columns that a node may test; returns their number. ``histogram`` int64[width]."""
    nodes.column[node], nodes.gain[node] = NO_COLUMN, 0.0
    if nodes.depth[node] >= limits.max_depth or nodes.n_rows[node] < 2 * limits.min_rows:
        return 0
    n_columns = columns_of_node(node, table, nodes, limits, desk)
    # Few words occur in as many documents of a small node as a leaf needs: only these are searched (18,000 documents,
    # 40 trees: 4.2 s for all that occur in some, most of which were refused after their rows had been counted).
    skips = len(table.usual) > 0 and limits.min_hessian > 0.0
    for at in range(n_columns):
        column = desk.drawn[at]
        if skips and is_out_of_reach(column, table, histogram, limits):
            desk.best_gain[column] = NOTHING
        else:
            try_column(column, node, False, histogram, table, nodes, limits, desk)
    return n_columns


@inner_kernel
def keep(column, best, node, histogram, table, nodes, limits, desk):
    """Note the best offer in the node's row, if its gain exceeds rounding error. ``histogram`` int64[width]."""
    if column < 0:
        return
    whole = worth_of_node(node, nodes, limits)
    gain = (best - whole) * limits.gain_unit
    if best - whole > NOISE * (abs(best) + abs(whole)) and gain > limits.min_gain:
        nodes.gain[node] = gain
        note_test(column, node, histogram, table, nodes, limits, desk)


@inner_kernel
def search(node, histogram, table, rows, nodes, limits, desk):
    """Find a node's test and its gain; no column if none is allowed or has a gain.

    ``histogram`` int64[width].
    """
    n_columns = try_columns(node, histogram, table, nodes, limits, desk)
    column, best = best_offer(n_columns, desk)
    while is_unsure(column, node, histogram, table, nodes, limits, desk):
        count_rows(column, node, table, rows, nodes, desk.counts)
        if stands(column, node, histogram, table, nodes, limits, desk):
            break
        column, best = best_offer(n_columns, desk)
    keep(column, best, node, histogram, table, nodes, limits, desk)


# The same in steps, for rows that are counted elsewhere.


@kernel
def begin_search(node, histogram, table, nodes, limits, desk):
    """As ``try_columns``."""
    return try_columns(node, histogram, table, nodes, limits, desk)


@kernel
def next_offer(n_columns, node, histogram, table, nodes, limits, desk):
    """As ``best_offer`` and ``is_unsure``: column, offer, whether ``desk.counts`` has to be filled."""
    column, best = best_offer(n_columns, desk)
    return column, best, is_unsure(column, node, histogram, table, nodes, limits, desk)


@kernel
def settle(column, node, histogram, table, nodes, limits, desk):
    """As ``stands``."""
    return stands(column, node, histogram, table, nodes, limits, desk)


@kernel
def end_search(column, best, node, histogram, table, nodes, limits, desk):
    """As ``keep``."""
    keep(column, best, node, histogram, table, nodes, limits, desk)
