"""The steps of growth on bins, compiled. In: a node that waits. Out: its best column, its two children, a grown tree.

    choose_column   few rows are sorted in place, more are summed up by bin, statistics without sums are searched row by
                    row; the column that gains most is chosen
    split_node      divide the node's rows by that column's bins, open the children at the end of the nodes
    push_open       children that may be split wait on a stack, the lighter one on top
    grow_stack      that loop, depth first: the rows of a subtree are contiguous in memory

A node is a range of ``Growth.rows``. The rows of a deep node are scattered over the whole table, and would be fetched
from memory again for every column and level: a subtree of few rows is grown on a copy of them, a *window*, which stays
in the nearest cache.

    rows     [ 9 2 7 | 4 0 8 3 | 1 6 5 ]      ->      rows     [ 9 2 7 | 0 1 2 3 | 1 6 5 ]
                       the node                       origin   [ . . . | 4 0 8 3 | . . . ]
                                                      window   [ bins of 4 | of 0 | of 8 | of 3 ]

A node's best split depends on its rows alone, so the order of growth decides only how nodes are numbered and, if the
number of leaves is limited, which splits are made.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.core.jit import inner_kernel, kernel
from treewright.core.random import mix
from treewright.data.bins import MISSING_BIN
from treewright.grow.binned.few_rows import cut_few, has_one_value, sort_bins, sort_items
from treewright.grow.binned.histograms import clear_touched, fill, give_back, hand_down, scan, slot_of
from treewright.grow.binned.layout import CELLS, CONSTANT, FEW_ROWS, N_NODES, N_SETS, N_WAITING
from treewright.grow.binned.random_cuts import cut_columns, mark_random, two_runs
from treewright.grow.binned.stored import (
    cut_loaded,
    gather_by_row,
    gather_drawn,
    keep_met,
    load,
    mark,
    search_ranked,
    write_column,
    write_sides,
)
from treewright.grow.criteria.families import by_family, few_gain, scan_cuts
from treewright.grow.exact.steps import bound_children, open_node
from treewright.grow.exact.subsets import SIDE, START, search_levels
from treewright.grow.layout import MISSING, NOT_FEW, ROW
from treewright.grow.objective import CountStats, MeanStats, MedianStats, PoissonStats


@inner_kernel
def mark_bins(codes, column, items, position, sides):
    """After a search: the bins of items 0..position go left; returns the bins next to the cut.

    ``codes`` uint8[n, stride], ``items`` int32[m], ``sides`` uint8[256].
    """
    before = np.int64(codes[items[position] & ROW, column])
    after = -1
    if position + 1 < items.shape[0] and not items[position + 1] & MISSING:
        after = np.int64(codes[items[position + 1] & ROW, column])
    for b in range(255):
        sides[b] = 1 if b <= before else 0
    return before, after


@inner_kernel
def search(stats, codes, at, column, rows, node, nodes, bins, columns, limits, rules, target, work, desk):
    """The best split of a node by a column; ``at`` is the position of the column in ``codes``.

    ``codes`` uint8[n, stride], ``rows`` int32[m].

    Parameters
    ----------
    target : float
        Negative: find the largest gain. Else: find the first split with at least this gain and mark it.

    Returns
    -------
    gain : float
        -1 if no split is allowed.
    before, after : int
        With a target: the last bin on the left and the first on the right of a threshold; ``before`` -1 for a subset.
    missing_left : int
        With a target. Then ``desk.goes_left`` holds the bins with rows that go left (for a threshold: all bins).
    """
    n_bins = np.int64(bins.n_bins[column])
    direction = np.int64(columns.monotone[column])
    is_nominal = bins.is_nominal[column] != 0
    m = rows.shape[0]
    sides = desk.goes_left
    if rules.random_cuts:
        last = mark_random(codes, at, column, bins, nodes.key[node], rows, desk.present, sides)
        n_present = two_runs(codes, at, rows, sides, desk.items, desk.spare)
        gain, position, missing_left = scan_cuts(
            stats, node, nodes, desk.items[:m], n_present, limits, direction, target, -1, 2, work
        )
        if target < 0.0 or position < 0:
            return gain, -1, -1, 0
        if position + 1 < n_present:
            return gain, -1 if is_nominal else last, -1 if is_nominal else last + 1, missing_left
        for b in range(255):  # only missing rows go to the other side
            sides[b] = 1
        return gain, -1 if is_nominal else n_bins - 1, -1, missing_left
    n_present = sort_items(codes, at, n_bins, rows, desk.items, desk.spare, desk.counts)
    items = desk.items[:m]
    if is_nominal:
        gain, n_groups, missing_left = search_levels(
            stats, node, nodes, items, n_present, columns.in_runs[column], limits, target, work
        )
        if target >= 0.0:
            for b in range(255):
                sides[b] = 2
            for g in range(n_groups):
                sides[codes[items[work.group[START, g]] & ROW, at]] = work.group[SIDE, g]
        return gain, -1, -1, missing_left
    if target < 0.0:
        gain = NOT_FEW
        if n_present == m and not limits.is_monotone:
            gain = few_gain(
                stats, items, nodes.totals[node], nodes.weight[node], limits.min_leaf, limits.min_leaf_weight
            )
        if gain != NOT_FEW:
            return gain, -1, -1, 0
    gain, position, missing_left = scan_cuts(
        stats, node, nodes, items, n_present, limits, direction, target, -1, 2, work
    )
    if target < 0.0 or position < 0:
        return gain, -1, -1, 0
    before, after = mark_bins(codes, at, items, position, sides)
    return gain, before, after, missing_left


# The columns that a node searches, and the best cut of each.


@inner_kernel
def fill_pool(bins, growth, node, pool):
    """Write the columns that may be sampled for a node, ascending; returns their number. ``pool`` int32[p]."""
    n_pool = 0
    for i in range(bins.candidates.shape[0]):
        column = bins.candidates[i]
        if bins.groups.shape[0] == 0 or bins.groups[column] & growth.alive[node] != 0:
            pool[n_pool] = column
            n_pool += 1
    return n_pool


@inner_kernel
def draw(key, pool, first, n_pool, n_drawn, swaps):
    """Sample columns of ``pool[first:n_pool]`` to its front (Fisher and Yates), and note the exchanges.

    ``pool`` int32[p], ``swaps`` int32[p].
    """
    for j in range(first, min(first + n_drawn, n_pool)):
        other = j + np.int64(mix(key, np.uint64(j)) % np.uint64(n_pool - j))
        swaps[j] = other
        pool[j], pool[other] = pool[other], pool[j]
    return min(first + n_drawn, n_pool)


@inner_kernel
def sort_chosen(pool, first, last, chosen):
    """Write the sampled columns in ascending order: ties go to the lower. ``pool`` int32[p], ``chosen`` int32[p]."""
    for j in range(first, last):
        column = pool[j]
        i = j - first
        while i > 0 and chosen[i - 1] > column:
            chosen[i] = chosen[i - 1]
            i -= 1
        chosen[i] = column
    return last - first


@inner_kernel
def keep_varying(constant, chosen, n_chosen, varying):
    """Write the sampled columns that may have two values; returns their number.

    ``constant`` uint64[p // 64 + 1], ``chosen`` int32[p], ``varying`` int32[p].
    """
    n_varying = 0
    for k in range(n_chosen):
        column = chosen[k]
        is_constant = constant[column >> 6] >> np.uint64(column & 63) & np.uint64(1)
        varying[n_varying] = column
        n_varying += 1 - np.int64(is_constant)
    return n_varying


@inner_kernel
def clear_bits(bits):
    """Clear a set of bins. ``bits`` uint64[4]."""
    for word in range(4):
        bits[word] = 0


@inner_kernel
def has_one_bin(touched):
    """Whether at most one bin has rows. ``touched`` uint64[4]."""
    n_words = 0
    for word in range(4):
        bits = touched[word]
        n_words += 1 if bits != 0 else 0
        n_words += 1 if bits & (bits - np.uint64(1)) != 0 else 0
    return n_words <= 1


@inner_kernel
def cut_few_rows(stats, codes, rows, node, nodes, column, k, limits, work, desk):
    """The gain of the k-th sampled column in a node of few rows; ``NOT_FEW`` if it has missing cells.

    ``codes`` uint8[n, stride], ``rows`` int32[m].
    """
    m = rows.shape[0]
    sort_bins(codes, column, rows, desk.counts, desk.items)
    if desk.counts[0] == desk.counts[m - 1]:
        return CONSTANT
    if desk.counts[m - 1] == MISSING_BIN:
        return NOT_FEW
    gain, desk.cuts[k, 0], desk.cuts[k, 1] = cut_few(stats, node, nodes, desk.counts, desk.items, m, limits, work)
    return gain


@inner_kernel
def scan_histograms(
    stats, codes, rows, node, nodes, n_varying, histograms, is_kept, bins, columns, limits, rules, work, desk
):
    """Write the gain of each sampled column into ``desk.gains``; ``NOT_FEW`` if it must be searched row by row.

    Kept ``histograms`` are filled already, and are not cleared.

    ``codes`` uint8[n, stride], ``rows`` int32[m], ``histograms`` int64[k, 256 * width].
    """
    n_rooms = n_varying if is_kept else desk.histograms.shape[0]
    for k in range(n_varying):
        room = k % n_rooms
        column = np.int64(desk.varying[k])
        if room == 0 and not is_kept:
            some = desk.varying[k : min(k + n_rooms, n_varying)]
            fill(stats, codes, rows, some, bins.n_bins, desk.histograms, desk.touched)
        desk.gains[k] = NOT_FEW
        if has_one_bin(desk.touched[room]):
            desk.gains[k] = CONSTANT
        elif not bins.is_nominal[column]:
            desk.gains[k], desk.cuts[k, 0], desk.cuts[k, 1], desk.cuts[k, 2] = scan(
                stats, node, nodes, histograms[room], desk.touched[room], limits, np.int64(columns.monotone[column]),
                work, desk,
            )  # fmt: skip
        if is_kept:
            clear_bits(desk.touched[room])
        else:
            clear_touched(desk.histograms[room], desk.touched[room], desk.histograms.shape[1] // 256)


@inner_kernel
def scan_varying(
    stats, codes, rows, node, nodes, n_varying, constant, histograms, is_kept, bins, columns, limits, rules, work, desk
):
    """Write the gain of each sampled column into ``desk.gains``, its cut into ``desk.cuts``; note constant columns.

    Three ways, each for the columns that the one before it leaves: a few rows sorted in place or sums below a random
    cut; histograms; row by row.

    ``codes`` uint8[n, stride], ``rows`` int32[m], ``constant`` uint64[p // 64 + 1], ``histograms`` int64[k, 256 *
    width].
    """
    by_histogram = is_kept or rows.shape[0] >= rules.histogram_rows
    for k in range(n_varying):
        desk.gains[k] = NOT_FEW
        desk.cuts[k, 0] = -1
        desk.cuts[k, 2] = 0
    if rules.random_cuts:
        cut_columns(stats, codes, rows, node, nodes, desk.varying[:n_varying], bins, limits, desk)
    elif by_histogram and not is_kept and rows.shape[0] <= FEW_ROWS and not limits.is_monotone:
        for k in range(n_varying):
            column = np.int64(desk.varying[k])
            if not bins.is_nominal[column]:
                desk.gains[k] = cut_few_rows(stats, codes, rows, node, nodes, column, k, limits, work, desk)
    elif by_histogram:
        scan_histograms(
            stats, codes, rows, node, nodes, n_varying, histograms, is_kept, bins, columns, limits, rules, work, desk
        )
    for k in range(n_varying):
        column = np.int64(desk.varying[k])
        if desk.gains[k] == NOT_FEW:
            if has_one_value(codes, column, rows):
                desk.gains[k] = CONSTANT
            else:
                desk.gains[k], _, _, _ = search(
                    stats, codes, column, column, rows, node, nodes, bins, columns, limits, rules, -1.0, work, desk
                )
        if desk.gains[k] == CONSTANT and constant.shape[0] > 0:
            constant[column >> 6] |= np.uint64(1) << np.uint64(column & 63)


@inner_kernel
def scan_stored(stats, rows, node, nodes, n_varying, bins, columns, limits, rules, work, desk):
    """``scan_varying`` in a sparse table, whose cells are gathered. ``rows`` int32[m]."""
    for k in range(n_varying):
        column = np.int64(desk.varying[k])
        if rules.ranks:
            desk.gains[k], desk.cuts[k, 0], desk.cuts[k, 1], desk.cuts[k, 2] = search_ranked(
                stats, column, rows, node, nodes, rules.histogram_rows == 0, bins, limits,
                np.int64(columns.monotone[column]), work, desk,
            )  # fmt: skip
            continue
        desk.gains[k] = NOT_FEW
        desk.cuts[k, 0] = -1
        desk.cuts[k, 2] = 0
        if rules.histogram_rows == 0:
            load(stats, node, nodes, column, rows.shape[0], bins, desk)
            if has_one_bin(desk.touched[0]):
                desk.gains[k] = CONSTANT
            elif rules.random_cuts:
                desk.gains[k] = cut_loaded(stats, node, nodes, column, k, bins, limits, desk)
            else:
                desk.gains[k], desk.cuts[k, 0], desk.cuts[k, 1], desk.cuts[k, 2] = scan(
                    stats, node, nodes, desk.histograms[0], desk.touched[0], limits, np.int64(columns.monotone[column]),
                    work, desk,
                )  # fmt: skip
            mark(desk.touched[0], np.int64(bins.usual[column]))
            clear_touched(desk.histograms[0], desk.touched[0], desk.histograms.shape[1] // 256)
        if desk.gains[k] == NOT_FEW:
            write_column(column, rows, bins, desk.cells)
            if has_one_value(desk.cells, 0, rows):
                desk.gains[k] = CONSTANT
            else:
                desk.gains[k], _, _, _ = search(
                    stats, desk.cells, 0, column, rows, node, nodes, bins, columns, limits, rules, -1.0, work, desk
                )


@inner_kernel
def choose_column(stats, codes, node, nodes, growth, bins, columns, limits, rules, work, desk):
    """Find a node's best column (``nodes.feature``, ``nodes.gain``); none leaves ``feature`` -1.

    As in scikit-learn, if no sampled column splits the node at all, others are sampled one by one until one does.
    Returns the number of cells read.

    ``codes`` uint8[n, stride].
    """
    rows = growth.rows[nodes.lo[node] : nodes.hi[node]]
    one_row = nodes.before[node]
    pool = desk.pool
    n_pool = bins.candidates.shape[0]
    is_drawn = rules.n_drawn < n_pool
    if bins.groups.shape[0] > 0:
        n_pool = fill_pool(bins, growth, node, pool)
        is_drawn = rules.n_drawn < n_pool
    best = -1.0
    first = 0
    n_drawn = rules.n_drawn
    tolerance = nodes.tolerance[node]
    constant = growth.constant[node if growth.constant.shape[1] > 0 else 0]
    is_sparse = bins.row_start.shape[0] > 0
    n_scanned = 0
    n_looked_at = 0 if is_sparse else rows.shape[0]
    are_all_gathered = False
    while first < n_pool and best < 0.0:
        last = draw(nodes.key[node], pool, first, n_pool, n_drawn, desk.swaps) if is_drawn else n_pool
        n_chosen = sort_chosen(pool, first, last, desk.chosen)
        slot = np.int64(-1) if is_drawn else slot_of(stats, codes, node, nodes, bins, growth, desk)
        histograms = desk.histograms if slot < 0 else growth.slots[slot]
        if is_sparse:
            if is_drawn and first == 0:
                n_looked_at += gather_drawn(
                    desk.chosen[:n_chosen], rows, np.int64(nodes.lo[node]), growth.origin, bins, desk
                )
            elif not are_all_gathered:
                n_looked_at += gather_by_row(rows, True, bins, desk)
                are_all_gathered = True
            n_varying = keep_met(desk.met, desk.chosen, n_chosen, desk.varying)
            scan_stored(stats, rows, node, nodes, n_varying, bins, columns, limits, rules, work, desk)
        else:
            if slot < 0 and constant.shape[0] > 0:
                n_varying = keep_varying(constant, desk.chosen, n_chosen, desk.varying)
            else:
                n_varying = n_chosen
                for k in range(n_chosen):
                    desk.varying[k] = desk.chosen[k]
            scan_varying(
                stats, codes, rows, node, nodes, n_varying, constant, histograms, slot >= 0, bins, columns, limits,
                rules, work, desk,
            )  # fmt: skip
        n_scanned += n_varying
        for k in range(n_varying):
            if desk.gains[k] > (best + tolerance if best >= 0.0 else -0.5):
                best = desk.gains[k]
                nodes.feature[node] = desk.varying[k]
                nodes.before[node] = desk.cuts[k, 0]
                nodes.after[node] = desk.cuts[k, 1]
                nodes.missing_branch[node] = 1 - desk.cuts[k, 2]
        first = last
        n_drawn = 1
    if is_drawn:
        for j in range(first - 1, -1, -1):
            other = desk.swaps[j]
            pool[j], pool[other] = pool[other], pool[j]
    nodes.gain[node] = best
    if best < 0.0 or best + tolerance < limits.min_decrease:
        nodes.feature[node] = -1
        nodes.before[node] = one_row  # it stays a leaf, whose ``before`` is a row
        if growth.slot.shape[0] > 0 and growth.slot[node] >= 0:
            give_back(growth, np.int64(growth.slot[node]))
            growth.slot[node] = -1
    return n_looked_at if is_sparse else n_looked_at * n_scanned


@inner_kernel
def part_rows(codes, column, goes_left, rows, spare):
    """Move the rows whose bin goes left to the front, in order, without jumps.

    ``codes`` uint8[n, stride], ``goes_left`` uint8[256], ``rows`` int32[m], ``spare`` int32[m + 1].

    Returns
    -------
    n_left, n_missing : int
    """
    left = 0
    right = 0
    n_missing = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        b = codes[row, column]
        to_left = np.int64(goes_left[b])
        rows[left] = row
        spare[right] = row
        left += to_left
        right += 1 - to_left
        n_missing += 1 if b == MISSING_BIN else 0
    for i in range(right):
        rows[left + i] = spare[i]
    return left, n_missing


@inner_kernel
def store_set(growth, number, sides, to_left):
    """Store a subset test: the bins that had rows and those that go left; the others take the heavier branch.

    ``sides`` uint8[256].
    """
    for word in range(4):
        growth.sets[number, word] = np.uint64(0)
        growth.seen[number, word] = np.uint64(0)
    for b in range(255):
        bit = np.uint64(1) << np.uint64(b & 63)
        if sides[b] != 2:
            growth.seen[number, b >> 6] |= bit
        if sides[b] == 1 or (sides[b] == 2 and to_left):
            growth.sets[number, b >> 6] |= bit


@inner_kernel
def mark_absent(codes, column, rows, sides):
    """Put 2 for the bins without rows. ``codes`` uint8[n, stride], ``rows`` int32[m], ``sides`` uint8[256]."""
    for b in range(255):
        sides[b] += 3
    for i in range(rows.shape[0]):
        b = codes[rows[i], column]
        if sides[b] > 2:
            sides[b] -= 3
    for b in range(255):
        sides[b] = min(sides[b], 2)


@inner_kernel
def split_node(stats, codes, node, nodes, growth, bins, columns, limits, rules, work, desk):
    """Carry out the chosen column's split: two children at the end of the nodes. ``codes`` uint8[n, stride]."""
    column = np.int64(nodes.feature[node])
    lo = nodes.lo[node]
    hi = nodes.hi[node]
    rows = growth.rows[lo:hi]
    sides = desk.goes_left
    is_nominal = bins.is_nominal[column] != 0
    before = np.int64(nodes.before[node])
    after = np.int64(nodes.after[node])
    missing_left = 1 - np.int64(nodes.missing_branch[node])
    is_sparse = bins.row_start.shape[0] > 0
    if rules.ranks:
        write_sides(column, rows, before, bins, desk.cells)
    elif is_sparse:
        write_column(column, rows, bins, desk.cells)
    if rules.ranks:
        for b in range(255):
            sides[b] = 1 if b == 0 else 0
    elif before >= 0:
        for b in range(255):
            sides[b] = 1 if b <= before else 0
    else:  # searched row by row: only the gain was kept
        target = max(nodes.gain[node] - nodes.tolerance[node], 0.0)
        if is_sparse:
            _, before, after, missing_left = search(
                stats, desk.cells, 0, column, rows, node, nodes, bins, columns, limits, rules, target, work, desk
            )
        else:
            _, before, after, missing_left = search(
                stats, codes, column, column, rows, node, nodes, bins, columns, limits, rules, target, work, desk
            )
    if is_nominal and rules.random_cuts:
        mark_absent(codes, column, rows, sides)
    nodes.before[node] = before
    nodes.after[node] = after
    sides[MISSING_BIN] = missing_left
    if is_sparse:
        n_left, n_missing = part_rows(desk.cells, 0, sides, rows, desk.spare)
        part_ranked(stats, desk.cells, 0, sides, lo, hi, desk.spare)
        for i in range(rows.shape[0]):
            growth.origin[rows[i]] = lo + i
    else:
        n_left, n_missing = part_rows(codes, column, sides, rows, desk.spare)
        part_ranked(stats, codes, column, sides, lo, hi, desk.spare)
    child = growth.state[N_NODES]
    nodes.first_child[node] = child
    for branch in range(2):
        here = child + branch
        nodes.lo[here] = lo if branch == 0 else lo + n_left
        nodes.hi[here] = lo + n_left if branch == 0 else hi
        nodes.depth[here] = nodes.depth[node] + 1
        if nodes.key.shape[0] > 0:
            nodes.key[here] = mix(nodes.key[node], np.uint64(branch))
        open_node(stats, here, nodes, growth.rows[nodes.lo[here] : nodes.hi[here]], limits)
        if nodes.weight[here] < rules.min_split_weight:
            nodes.is_open[here] = 0
        if growth.alive.shape[0] > 0:
            growth.alive[here] = growth.alive[node] & bins.groups[column]
        for word in range(growth.constant.shape[1]):
            growth.constant[here, word] = growth.constant[node, word]
    left_is_heavier = nodes.weight[child] > nodes.weight[child + 1]
    if n_missing == 0:
        missing_left = 1 if left_is_heavier else 0
    nodes.missing_branch[node] = 0 if missing_left else 1
    if is_nominal:
        nodes.level_set[node] = growth.state[N_SETS]
        store_set(growth, growth.state[N_SETS], sides, left_is_heavier)
        growth.state[N_SETS] += 1
    if limits.is_monotone:
        bound_children(stats, node, nodes, columns.monotone[column])
    growth.state[N_NODES] += 2
    if growth.slot.shape[0] > 0:
        hand_down(stats, codes, node, nodes, bins, growth, desk)


# Windows.


@inner_kernel
def copy_codes(codes, rows, window):
    """Copy the bins of some rows to the front of ``window`` uint8[>= m, stride], eight at a time.

    ``codes`` uint8[n, stride], ``rows`` int32[m].
    """
    words = codes.view(np.uint64)
    copies = window.view(np.uint64)
    for i in range(rows.shape[0]):
        row = rows[i]
        for j in range(words.shape[1]):
            copies[i, j] = words[row, j]


@inner_kernel
def copy_some(values, rows, window):
    """Copy the entries of some rows of [t, n] to the front of [t, :].

    ``values`` int8, uint8, int32, int64 or float64[t, n], ``rows`` int32[m], ``window`` [t, >= m] of the same dtype.
    """
    for t in range(values.shape[0]):
        for i in range(rows.shape[0]):
            window[t, i] = values[t, rows[i]]


@inner_kernel
def copy_weights(weights, rows, window):
    """Copy the weights of some rows, if there are any.

    ``weights`` int64[n or 0], ``rows`` int32[m], ``window`` int64[>= m].
    """
    if weights.shape[0] > 0:
        for i in range(rows.shape[0]):
            window[i] = weights[rows[i]]


def copy_means(stats, rows, lo, window):
    """``copy_stats`` for means and Poisson."""
    copy_some(stats.values, rows, window.values)
    copy_weights(stats.weights, rows, window.weights)
    if stats.targets.shape[1] > 0:
        copy_some(stats.targets, rows, window.targets)


def copy_counts(stats, rows, lo, window):
    """``copy_stats`` for class counts."""
    copy_some(stats.labels, rows, window.labels)
    copy_weights(stats.weights, rows, window.weights)


def copy_medians(stats, rows, lo, window):
    """``copy_stats`` for medians: the rows that are sorted by target become their numbers in the window."""
    copy_some(stats.values, rows, window.values)
    copy_some(stats.targets, rows, window.targets)
    copy_some(stats.products, rows, window.products)
    copy_some(stats.place, rows, window.place)
    copy_weights(stats.weights, rows, window.weights)
    for t in range(stats.values.shape[0]):
        for i in range(rows.shape[0]):
            stats.ranked[t, lo + window.place[t, i]] = i


copy_stats = by_family(
    {MeanStats: copy_means, PoissonStats: copy_means, CountStats: copy_counts, MedianStats: copy_medians},
    "Copy the statistics of a node's rows, which begin at ``lo``, to the front of a window's.",
)


def keep_nothing(stats, codes, column, goes_left, lo, hi, spare):
    """``part_ranked`` for sums, which need no order of the rows."""


def part_medians(stats, codes, column, goes_left, lo, hi, spare):
    """``part_ranked`` for medians."""
    for t in range(stats.ranked.shape[0]):
        ranked = stats.ranked[t, lo:hi]
        n_left, _ = part_rows(codes, column, goes_left, ranked, spare)
        for i in range(ranked.shape[0]):
            stats.place[t, ranked[i]] = i if i < n_left else i - n_left


# ``codes`` uint8[n, stride], ``goes_left`` uint8[256], ``spare`` int32[m + 1].
part_ranked = by_family(
    {MeanStats: keep_nothing, PoissonStats: keep_nothing, CountStats: keep_nothing, MedianStats: part_medians},
    "Give both children of a split their rows in the order of the targets.",
)


def make_window(stats: Any, n_rows: int) -> Any:
    """Room for the statistics of ``n_rows`` rows; arrays that are not per row are shared."""
    by_row = {"values", "labels", "targets", "weights", "products", "place"}

    def room(name: str, value: Any) -> Any:
        if name not in by_row or not value.shape[-1]:
            return value
        return np.empty((*value.shape[:-1], n_rows), value.dtype)

    return type(stats)(**{name: room(name, value) for name, value in stats._asdict().items()})


# The order of growth.


@inner_kernel
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


@inner_kernel
def grow_stack(stats, codes, nodes, growth, bins, columns, limits, rules, work, desk, bottom, window_rows):
    """Grow the nodes waiting above ``bottom``, until one of at most ``window_rows`` rows is next or cells are used up.

    ``codes`` uint8[n, stride].
    """
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


@kernel
def grow_depth_first(stats, window_stats, codes, window, nodes, growth, bins, columns, limits, rules, work, desk, seed):
    """Grow a tree, or continue to grow one.

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
        copy_stats(stats, rows, lo, window_stats)
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


@inner_kernel
def open_root(stats, nodes, growth, limits, rules, seed):
    """Open the first node."""
    n = growth.rows.shape[0]
    for i in range(n):
        growth.rows[i] = i
        growth.origin[i] = i
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


@kernel
def grow_one(stats, codes, node, nodes, growth, bins, columns, limits, rules, work, desk, seed):
    """Split a node and choose its children's columns; without nodes, open the root. For best-first growth.

    ``codes`` uint8[n, stride].

    Returns
    -------
    first, last : int
        The new leaves, some of which may have a split.
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
