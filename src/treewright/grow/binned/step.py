"""One node: its best column, its two children. In: a node that may be split. Out: two nodes more.

Caller: grow.binned.frontier.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import bare_inner_kernel, inlined_kernel
from treewright.core.random import mix
from treewright.grow.binned.few import cut_few
from treewright.grow.binned.histograms import scan
from treewright.grow.binned.items import has_one_value, sort_bins
from treewright.grow.binned.layout import CONSTANT, FEW_ROWS, MISSING_BIN, N_NODES, N_SETS
from treewright.grow.binned.random_cuts import cut_columns
from treewright.grow.binned.search import search
from treewright.grow.binned.siblings import give_back, hand_down, slot_of
from treewright.grow.binned.sums import clear_touched, fill
from treewright.grow.layout import NOT_FEW
from treewright.grow.split import bound_children, open_node


@bare_inner_kernel
def fill_pool(bins, growth, node, pool):
    """Columns that may be drawn for a node, ascending; returns how many."""
    n_pool = 0
    for i in range(bins.candidates.shape[0]):
        column = bins.candidates[i]
        if bins.groups.shape[0] == 0 or bins.groups[column] & growth.alive[node] != 0:
            pool[n_pool] = column
            n_pool += 1
    return n_pool


@bare_inner_kernel
def draw(key, pool, first, n_pool, n_drawn, swaps):
    """Draw columns from ``pool[first:n_pool]`` to its front (Fisher and Yates), noting what was exchanged."""
    for j in range(first, min(first + n_drawn, n_pool)):
        other = j + np.int64(mix(key, np.uint64(j)) % np.uint64(n_pool - j))
        swaps[j] = other
        pool[j], pool[other] = pool[other], pool[j]
    return min(first + n_drawn, n_pool)


@bare_inner_kernel
def sort_chosen(pool, first, last, chosen):
    """The drawn columns in ascending order: ties go to the lower one."""
    for j in range(first, last):
        column = pool[j]
        i = j - first
        while i > 0 and chosen[i - 1] > column:
            chosen[i] = chosen[i - 1]
            i -= 1
        chosen[i] = column
    return last - first


@bare_inner_kernel
def keep_varying(constant, chosen, n_chosen, varying):
    """The drawn columns that may have two values; returns how many."""
    n_varying = 0
    for k in range(n_chosen):
        column = chosen[k]
        is_constant = constant[column >> 6] >> np.uint64(column & 63) & np.uint64(1)
        varying[n_varying] = column
        n_varying += 1 - np.int64(is_constant)
    return n_varying


@bare_inner_kernel
def clear_bits(bits):
    """Leave a set of bins empty."""
    for word in range(4):
        bits[word] = 0


@bare_inner_kernel
def has_one_bin(touched):
    """Whether at most one bin has rows."""
    n_words = 0
    for word in range(4):
        bits = touched[word]
        n_words += 1 if bits != 0 else 0
        n_words += 1 if bits & (bits - np.uint64(1)) != 0 else 0
    return n_words <= 1


@bare_inner_kernel
def cut_few_rows(stats, codes, rows, node, nodes, column, k, limits, work, desk):
    """The gain of the k-th drawn column in a node of a few rows; ``NOT_FEW`` where it has missing cells."""
    m = rows.shape[0]
    sort_bins(codes, column, rows, desk.counts, desk.items)
    if desk.counts[0] == desk.counts[m - 1]:
        return CONSTANT
    if desk.counts[m - 1] == MISSING_BIN:
        return NOT_FEW
    gain, desk.cuts[k, 0], desk.cuts[k, 1] = cut_few(stats, node, nodes, desk.counts, desk.items, m, limits, work)
    return gain


@inlined_kernel
def scan_histograms(
    stats, codes, rows, node, nodes, n_varying, histograms, is_kept, bins, columns, limits, rules, work, desk
):
    """The gain of each drawn column into ``desk.gains``; ``NOT_FEW`` where it must be searched row by row.

    ``histograms`` that are kept are filled already, and stay.
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


@inlined_kernel
def scan_varying(
    stats, codes, rows, node, nodes, n_varying, constant, histograms, is_kept, bins, columns, limits, rules, work, desk
):
    """The gain of each drawn column into ``desk.gains``, its cut into ``desk.cuts``; constant columns are noted.

    Three ways, each for the columns that the one before it leaves: a few rows sorted in place or sums below a random
    cut; histograms; row by row.
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
                    stats, codes, column, rows, node, nodes, bins, columns, limits, rules, -1.0, work, desk
                )
        if desk.gains[k] == CONSTANT and constant.shape[0] > 0:
            constant[column >> 6] |= np.uint64(1) << np.uint64(column & 63)


@inlined_kernel
def choose_column(stats, codes, node, nodes, growth, bins, columns, limits, rules, work, desk):
    """Find a node's best column (``nodes.feature``, ``nodes.gain``); none leaves ``feature`` -1.

    As in scikit-learn, where no drawn column splits the node at all, others are drawn one by one until one does.
    Returns the cells looked at.
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
    n_scanned = 0
    while first < n_pool and best < 0.0:
        last = draw(nodes.key[node], pool, first, n_pool, n_drawn, desk.swaps) if is_drawn else n_pool
        n_chosen = sort_chosen(pool, first, last, desk.chosen)
        slot = np.int64(-1) if is_drawn else slot_of(stats, codes, node, nodes, bins, growth, desk)
        histograms = desk.histograms if slot < 0 else growth.slots[slot]
        if slot < 0 and constant.shape[0] > 0:
            n_varying = keep_varying(constant, desk.chosen, n_chosen, desk.varying)
        else:
            n_varying = n_chosen
            for k in range(n_chosen):
                desk.varying[k] = desk.chosen[k]
        scan_varying(
            stats, codes, rows, node, nodes, n_varying, constant, histograms, slot >= 0, bins, columns, limits, rules,
            work, desk,
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
    return rows.shape[0] * n_scanned


@bare_inner_kernel
def part_rows(codes, column, goes_left, rows, spare):
    """Rows whose bin goes left to the front, in order, free of branches.

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


@bare_inner_kernel
def store_set(growth, number, sides, to_left):
    """Keep a subset test: which bins had rows and which go left; the others take the heavier branch."""
    for word in range(4):
        growth.sets[number, word] = np.uint64(0)
        growth.seen[number, word] = np.uint64(0)
    for b in range(255):
        bit = np.uint64(1) << np.uint64(b & 63)
        if sides[b] != 2:
            growth.seen[number, b >> 6] |= bit
        if sides[b] == 1 or (sides[b] == 2 and to_left):
            growth.sets[number, b >> 6] |= bit


@bare_inner_kernel
def mark_absent(codes, column, rows, sides):
    """Put 2 for the bins without rows."""
    for b in range(255):
        sides[b] += 3
    for i in range(rows.shape[0]):
        b = codes[rows[i], column]
        if sides[b] > 2:
            sides[b] -= 3
    for b in range(255):
        sides[b] = min(sides[b], 2)


@inlined_kernel
def split_node(stats, codes, node, nodes, growth, bins, columns, limits, rules, work, desk):
    """Carry out the chosen column's split: two children at the end of the nodes."""
    column = np.int64(nodes.feature[node])
    lo = nodes.lo[node]
    hi = nodes.hi[node]
    rows = growth.rows[lo:hi]
    sides = desk.goes_left
    is_nominal = bins.is_nominal[column] != 0
    before = np.int64(nodes.before[node])
    after = np.int64(nodes.after[node])
    missing_left = 1 - np.int64(nodes.missing_branch[node])
    if before >= 0:
        for b in range(255):
            sides[b] = 1 if b <= before else 0
    else:  # searched row by row: then it kept nothing but the gain
        target = max(nodes.gain[node] - nodes.tolerance[node], 0.0)
        _, before, after, missing_left = search(
            stats, codes, column, rows, node, nodes, bins, columns, limits, rules, target, work, desk
        )
    if is_nominal and rules.random_cuts:
        mark_absent(codes, column, rows, sides)
    nodes.before[node] = before
    nodes.after[node] = after
    sides[MISSING_BIN] = missing_left
    n_left, n_missing = part_rows(codes, column, sides, rows, desk.spare)
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
