"""Nodes of a sparse table. In: the bins of stored cells. Out: the gain of each column, or a column's bins row by row.

Only stored cells are read. A node's stored cells are gathered column by column, those of its rows or, if its few
sampled columns hold fewer cells, those of the columns:

    rows of the node       2: b=1 d=3     5: b=2     9: d=1
    gathered               b: [2: 1, 5: 2]           d: [2: 3, 9: 1]          a and c: nothing, so they are constant

A column's histogram starts with the whole node in the column's usual bin; each gathered cell moves its row from there
to its own bin. Sums are whole numbers, so the histogram is that of the dense table, and the cut found in it is
bit-identical. Statistics without a histogram (``histogram_width``) are searched row by row in the column's bins, which
are written out for the rows of the node.

If each value is a bin, a column may have more bins than a histogram has room for. Then the values of the node's rows in
it are numbered from 0 (``rank_cells``), and a histogram holds those; if even these are more than 255, all rows of the
node are put in the order of the column, as in the exact grower (``list_items``).
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import inner_kernel
from treewright.core.random import trailing_zeros
from treewright.data.bin_rows import MISSING_RANK
from treewright.data.bins import MAX_BINS, MISSING_BIN
from treewright.grow.binned.histograms import clear_touched, scan, unpack
from treewright.grow.binned.layout import CONSTANT
from treewright.grow.binned.random_cuts import cut_number
from treewright.grow.criteria.families import by_family, gain_of, scan_cuts
from treewright.grow.layout import MISSING, NEW, NOT_FEW
from treewright.grow.objective import CountStats, MeanStats, MedianStats, PoissonStats


@inner_kernel
def mark(bits, number):
    """Add a number to a set. ``bits`` uint64[k]."""
    bits[number >> 6] |= np.uint64(1) << np.uint64(number & 63)


@inner_kernel
def forget(desk):
    """Forget the gathered cells."""
    for word in range(desk.met.shape[0]):
        bits = desk.met[word]
        while bits != 0:
            desk.end[(word << 6) + np.int64(trailing_zeros(bits))] = 0
            bits &= bits - np.uint64(1)
        desk.met[word] = 0


@inner_kernel
def gather_by_row(rows, are_all, bins, desk):
    """Gather the stored cells of some rows, int32[m], in all columns or in those of ``desk.wanted``; returns how many.

    The cells of column ``j`` are then ``begin[j]`` to ``end[j] - 1`` of ``cell_rows`` and ``cell_bins``; ``met`` holds
    the columns that have any.
    """
    forget(desk)
    n_cells = np.int64(0)
    for i in range(rows.shape[0]):
        row = rows[i]
        for at in range(bins.row_start[row], bins.row_start[row + 1]):
            column = bins.row_columns[at]
            if are_all or desk.wanted[column >> 6] >> np.uint64(column & 63) & np.uint64(1):
                desk.found[n_cells, 0] = column
                desk.found[n_cells, 1] = row
                desk.found_bins[n_cells] = bins.row_bins[at]
                n_cells += 1
                desk.end[column] += 1
                desk.met[column >> 6] |= np.uint64(1) << np.uint64(column & 63)
    place = np.int64(0)
    for word in range(desk.met.shape[0]):
        bits = desk.met[word]
        while bits != 0:
            column = (word << 6) + np.int64(trailing_zeros(bits))
            bits &= bits - np.uint64(1)
            count = desk.end[column]
            desk.begin[column] = place
            desk.end[column] = place
            place += count
    for i in range(n_cells):
        column = desk.found[i, 0]
        place = desk.end[column]
        desk.cell_rows[place] = desk.found[i, 1]
        desk.cell_bins[place] = desk.found_bins[i]
        desk.end[column] = place + 1
    return n_cells


@inner_kernel
def gather_by_column(chosen, lo, hi, places, bins, desk):
    """As ``gather_by_row``, but only in the columns ``chosen`` int32[k], read column by column.

    The node's rows are those whose place, ``places`` int32[n], is ``lo`` to ``hi - 1``.
    """
    forget(desk)
    n_cells = np.int64(0)
    for k in range(chosen.shape[0]):
        column = chosen[k]
        desk.begin[column] = n_cells
        for at in range(bins.column_start[column], bins.column_start[column + 1]):
            row = bins.column_rows[at]
            if lo <= places[row] < hi:
                desk.cell_rows[n_cells] = row
                desk.cell_bins[n_cells] = bins.column_bins[at]
                n_cells += 1
        if n_cells > desk.begin[column]:
            desk.end[column] = n_cells
            desk.met[column >> 6] |= np.uint64(1) << np.uint64(column & 63)
    return n_cells


@inner_kernel
def gather_drawn(chosen, rows, lo, places, bins, desk):
    """Gather the cells of a node's sampled columns in the faster of the two ways; returns the number of cells read.

    ``chosen`` int32[k], ``rows`` int32[m], ``places`` int32[n].
    """
    by_column = np.int64(0)
    for k in range(chosen.shape[0]):
        by_column += bins.column_start[chosen[k] + 1] - bins.column_start[chosen[k]]
    by_row = np.int64(0)
    for i in range(rows.shape[0]):
        by_row += bins.row_start[rows[i] + 1] - bins.row_start[rows[i]]
    if by_column < by_row:
        gather_by_column(chosen, lo, lo + rows.shape[0], places, bins, desk)
        return by_column
    for k in range(chosen.shape[0]):
        mark(desk.wanted, chosen[k])
    gather_by_row(rows, False, bins, desk)
    for k in range(chosen.shape[0]):
        desk.wanted[chosen[k] >> 6] = 0
    return by_row


@inner_kernel
def keep_met(met, chosen, n_chosen, varying):
    """Write the sampled columns with a stored cell in the node, ascending; returns their number. Others are constant.

    ``met`` uint64[p // 64 + 1], ``chosen`` int32[p], ``varying`` int32[p].
    """
    n_varying = 0
    for k in range(n_chosen):
        column = chosen[k]
        varying[n_varying] = column
        n_varying += np.int64(met[column >> 6] >> np.uint64(column & 63) & np.uint64(1))
    return n_varying


@inner_kernel
def write_column(column, rows, bins, cells):
    """Write the bins of some rows, int32[m], in a column to ``cells`` uint8[n, 1]; cells of other rows are invalid."""
    usual = bins.usual[column]
    for i in range(rows.shape[0]):
        cells[rows[i], 0] = usual
    for at in range(bins.column_start[column], bins.column_start[column + 1]):
        cells[bins.column_rows[at], 0] = bins.column_bins[at]


@inner_kernel
def move_values(values, weights, total, weight, cell_rows, cell_bins, usual, histogram, touched):
    """``move`` for means.

    ``values`` int8 or int64[n], ``weights`` int64[n or 0], ``cell_rows`` int32[k], ``cell_bins`` int32[k],
    ``histogram`` int64[256 * width], ``touched`` uint64[4].
    """
    has_weights = weights.shape[0] > 0
    if histogram.shape[0] == 256:
        histogram[usual] = (total << 32) + weight
        for i in range(cell_rows.shape[0]):
            row = cell_rows[i]
            b = np.int64(cell_bins[i])
            word = (np.int64(values[row]) << 32) + (weights[row] if has_weights else 1)
            histogram[usual] -= word
            histogram[b] += word
            mark(touched, b)
        return
    histogram[2 * usual] = total
    histogram[2 * usual + 1] = weight
    for i in range(cell_rows.shape[0]):
        row = cell_rows[i]
        b = np.int64(cell_bins[i])
        value = np.int64(values[row])
        own = weights[row] if has_weights else 1
        histogram[2 * usual] -= value
        histogram[2 * usual + 1] -= own
        histogram[2 * b] += value
        histogram[2 * b + 1] += own
        mark(touched, b)


@inner_kernel
def move_labels(labels, weights, totals, cell_rows, cell_bins, usual, histogram, touched):
    """``move`` for class counts.

    ``labels`` uint8 or int32[n], ``weights`` int64[n or 0], ``totals`` int64[c], ``cell_rows`` int32[k], ``cell_bins``
    int32[k], ``histogram`` int64[256 * c], ``touched`` uint64[4].
    """
    has_weights = weights.shape[0] > 0
    n_classes = totals.shape[0]
    for k in range(n_classes):
        histogram[usual * n_classes + k] = totals[k]
    for i in range(cell_rows.shape[0]):
        row = cell_rows[i]
        b = np.int64(cell_bins[i])
        label = np.int64(labels[row])
        own = weights[row] if has_weights else 1
        histogram[usual * n_classes + label] -= own
        histogram[b * n_classes + label] += own
        mark(touched, b)


def move_means(stats, node, nodes, cell_rows, cell_bins, usual, histogram, touched):
    """``move`` for means."""
    move_values(
        stats.values[0], stats.weights, nodes.totals[node, 0], nodes.weight[node], cell_rows, cell_bins, usual,
        histogram, touched,
    )  # fmt: skip


def move_counts(stats, node, nodes, cell_rows, cell_bins, usual, histogram, touched):
    """``move`` for class counts."""
    move_labels(
        stats.labels[0], stats.weights, nodes.totals[node], cell_rows, cell_bins, usual, histogram, touched
    )  # fmt: skip


def move_nothing(stats, node, nodes, cell_rows, cell_bins, usual, histogram, touched):
    """``move`` for statistics without histograms."""


move = by_family(
    {MeanStats: move_means, CountStats: move_counts, PoissonStats: move_nothing, MedianStats: move_nothing},
    "Put all rows of a node into the usual bin, then the rows of the gathered cells into their own; mark these bins.",
)


@inner_kernel
def load(stats, node, nodes, column, n_rows, bins, desk):
    """A column's histogram in a node of ``n_rows`` rows, from the gathered cells: ``desk.histograms[0]``."""
    usual = np.int64(bins.usual[column])
    begin = desk.begin[column]
    end = desk.end[column]
    move(
        stats, node, nodes, desk.cell_rows[begin:end], desk.cell_bins[begin:end], usual, desk.histograms[0],
        desk.touched[0],
    )  # fmt: skip
    if end - begin < n_rows:
        mark(desk.touched[0], usual)


def means_below(stats, histogram, touched, last, sums):
    """``sums_below`` for means."""
    weight = np.int64(0)
    for b in range(last + 1):
        if touched[b >> 6] >> np.uint64(b & 63) & np.uint64(1):
            value, here = unpack(histogram, b)
            sums[0] += value
            weight += here
    return weight


def counts_below(stats, histogram, touched, last, sums):
    """``sums_below`` for class counts."""
    weight = np.int64(0)
    n_classes = sums.shape[0]
    for b in range(last + 1):
        if touched[b >> 6] >> np.uint64(b & 63) & np.uint64(1):
            for k in range(n_classes):
                sums[k] += histogram[b * n_classes + k]
                weight += histogram[b * n_classes + k]
    return weight


def nothing_below(stats, histogram, touched, last, sums):
    """``sums_below`` for statistics without histograms."""
    return np.int64(0)


sums_below = by_family(
    {MeanStats: means_below, CountStats: counts_below, PoissonStats: nothing_below, MedianStats: nothing_below},
    "Add the sums of the bins up to ``last`` to ``sums`` int64[t]; returns their weight.",
)


@inner_kernel
def span_of(touched):
    """The lowest and the highest bin that has rows. ``touched`` uint64[4]."""
    low = MISSING_BIN
    high = 0
    for b in range(256):
        if touched[b >> 6] >> np.uint64(b & 63) & np.uint64(1):
            low = min(low, b)
            high = b
    return low, high


@inner_kernel
def cut_loaded(stats, node, nodes, column, k, bins, limits, desk):
    """The gain of a random cut, from the column's histogram; ``NOT_FEW`` if it must be searched row by row.

    As ``random_cuts.cut_columns`` for the dense table; the cut goes to ``desk.cuts[k]``.
    """
    low, high = span_of(desk.touched[0])
    by_sums = not limits.is_monotone and (limits.min_leaf <= 1 or stats.weights.shape[0] == 0)
    if not by_sums or high == MISSING_BIN:
        return NOT_FEW
    last = cut_number(column, bins, nodes.key[node], low, high)
    sums = desk.below[0]
    for t in range(sums.shape[0]):
        sums[t] = 0
    weight = sums_below(stats, desk.histograms[0], desk.touched[0], last, sums)
    if weight == 0 or weight == nodes.weight[node]:
        return CONSTANT
    desk.cuts[k, 0] = last
    desk.cuts[k, 1] = last + 1
    allowed = min(weight, nodes.weight[node] - weight) >= max(limits.min_leaf_weight, limits.min_leaf)
    return gain_of(stats, node, nodes, sums, weight) if allowed else -1.0


# Ranks: as many bins as there are values.


@inner_kernel
def sort_keys(keys):
    """Ascending, in place (Shell 1959, with the gaps of Knuth 1973, volume 3, 5.2.1). ``keys`` int64[k]."""
    n = keys.shape[0]
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            key = keys[i]
            at = i
            while at >= gap and keys[at - gap] > key:
                keys[at] = keys[at - gap]
                at -= gap
            keys[at] = key
        gap //= 3


@inner_kernel
def rank_cells(column, n_rows, bins, desk):
    """Put the gathered cells of a column in the order of their ranks, and number the values of a node's rows.

    ``desk.cell_bins`` then holds these numbers, except for missing cells, and ``desk.ranks`` the rank of each number.

    Returns
    -------
    n_values, n_missing, usual : int
        ``usual`` is the number of the cells that are not stored; -1 if all are.
    """
    begin, end = desk.begin[column], desk.end[column]
    keys = desk.keys[: end - begin]
    for i in range(end - begin):
        keys[i] = (np.int64(desk.cell_bins[begin + i]) << 32) | np.int64(desk.cell_rows[begin + i])
    sort_keys(keys)
    waits = end - begin < n_rows
    usual_rank, usual = np.int64(bins.usual[column]), -1
    n_values, n_missing, before = 0, 0, np.int64(-1)
    for i in range(end - begin):
        rank = keys[i] >> 32
        if waits and rank > usual_rank:
            desk.ranks[n_values], usual, waits = usual_rank, n_values, False
            n_values += 1
        desk.cell_rows[begin + i] = keys[i] & 0xFFFFFFFF
        if rank == MISSING_RANK:
            n_missing += 1
            continue
        if rank != before:
            desk.ranks[n_values], before = rank, rank
            n_values += 1
        desk.cell_bins[begin + i] = n_values - 1
    if waits:
        desk.ranks[n_values], usual = usual_rank, n_values
        n_values += 1
    return n_values, n_missing, usual


@inner_kernel
def list_items(column, n_missing, usual, rows, desk):
    """Write the rows of a node, int32[m], in the order of a column with ranked cells to ``desk.items``.

    ``desk.spare`` holds the number of each item's value. Returns how many are not missing.
    """
    begin, end = desk.begin[column], desk.end[column]
    for i in range(rows.shape[0]):
        desk.cells[rows[i], 0] = 0
    for i in range(begin, end):
        desk.cells[desk.cell_rows[i], 0] = 1
    n_items, before = 0, -1
    waits = usual >= 0
    for i in range(begin, end + 1):
        is_missing = i >= end - n_missing
        if waits and (is_missing or desk.cell_bins[i] > usual):
            waits, before = False, usual
            flag = NEW
            for j in range(rows.shape[0]):
                if desk.cells[rows[j], 0] == 0:
                    desk.items[n_items], desk.spare[n_items] = rows[j] | flag, usual
                    flag = 0
                    n_items += 1
        if i == end:
            break
        number = -2 if is_missing else np.int64(desk.cell_bins[i])
        flag = NEW if number != before else 0
        desk.items[n_items] = desk.cell_rows[i] | flag | (MISSING if is_missing else 0)
        desk.spare[n_items], before = number, number
        n_items += 1
    return n_items - n_missing


@inner_kernel
def search_ranked(stats, column, rows, node, nodes, by_histogram, bins, limits, direction, work, desk):
    """The best cut of a node in a column of ranks: its gain, the ranks next to it, whether missing cells go left.

    As ``histograms.scan`` returns them; ``CONSTANT`` if the rows, int32[m], have one value.
    """
    n_values, n_missing, usual = rank_cells(column, rows.shape[0], bins, desk)
    if n_values + min(n_missing, 1) < 2:
        return CONSTANT, -1, -1, 0
    if by_histogram and n_values <= MAX_BINS:
        begin, end = desk.begin[column], desk.end[column]
        for i in range(end - n_missing, end):
            desk.cell_bins[i] = MISSING_BIN
        base = max(usual, 0)  # if all cells are stored, no row stays in this bin
        move(
            stats, node, nodes, desk.cell_rows[begin:end], desk.cell_bins[begin:end], np.int64(base),
            desk.histograms[0], desk.touched[0],
        )  # fmt: skip
        mark(desk.touched[0], np.int64(base))
        gain, before, after, missing_left = scan(
            stats, node, nodes, desk.histograms[0], desk.touched[0], limits, direction, work, desk
        )
        clear_touched(desk.histograms[0], desk.touched[0], desk.histograms.shape[1] // 256)
    else:
        n_present = list_items(column, n_missing, usual, rows, desk)
        items = desk.items[: rows.shape[0]]
        gain, _, _ = scan_cuts(stats, node, nodes, items, n_present, limits, direction, -1.0, -1, 2, work)
        if gain < 0.0:
            return gain, -1, -1, 0
        target = max(gain - nodes.tolerance[node], 0.0)
        _, position, missing_left = scan_cuts(
            stats, node, nodes, items, n_present, limits, direction, target, -1, 2, work
        )
        before = np.int64(desk.spare[position])
        after = np.int64(desk.spare[position + 1]) if position + 1 < n_present else -1
    if before < 0:
        return gain, -1, -1, 0
    return gain, np.int64(desk.ranks[before]), np.int64(desk.ranks[after]) if after >= 0 else -1, missing_left


@inner_kernel
def write_sides(column, rows, before, bins, cells):
    """Write to ``cells`` uint8[n, 1] on which side of a cut after the rank ``before`` some rows, int32[m], are.

    0 is left, 1 right; a missing cell has the bin of missing ones. The cells of other rows are invalid.
    """
    usual = 0 if bins.usual[column] <= before else 1
    for i in range(rows.shape[0]):
        cells[rows[i], 0] = usual
    for at in range(bins.column_start[column], bins.column_start[column + 1]):
        rank = bins.column_bins[at]
        side = MISSING_BIN if rank == MISSING_RANK else 0 if rank <= before else 1
        cells[bins.column_rows[at], 0] = side
