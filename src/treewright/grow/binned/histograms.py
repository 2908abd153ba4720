"""Sums by bin, and the best cut computed from them. In: bins and statistics of rows. Out: histograms, a gain, a cut.

For one target a search needs only the sums of each bin: one or two additions per row and column. If sums and weights
are small whole numbers (two classes) they are packed into one word: sums in the high half, weights in the low.
Statistics without such sums are searched row by row. A histogram is one row of int64, 256 bins one after another:

    two classes     [ sum|weight  sum|weight  ... ]              one word a bin
    means           [ sum  weight  sum  weight  ... ]            two
    class counts    [ c0 c1 c2  c0 c1 c2  ... ]                  one a class; bin 255 holds the missing cells

A histogram is all zero between two uses: its reader clears only the touched bins, so a node of ten rows never takes the
time of 256 bins. The touched bins are a bit set.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import inner_kernel
from treewright.core.random import prefetch, trailing_zeros
from treewright.data.bins import MISSING_BIN
from treewright.grow.binned.layout import FREE, MANY_ROWS, SLOT_ROWS
from treewright.grow.criteria.counts import gain_of_sides, is_ordered, term, term_scale
from treewright.grow.criteria.families import by_family
from treewright.grow.criteria.means import add_squares, entropy_block, finish_block, forbid_unordered, largest
from treewright.grow.layout import BLOCK
from treewright.grow.objective import CountStats, MeanStats, MedianStats, PoissonStats
from treewright.trees.class_criteria import GINI, MISCLASSIFICATION

_AHEAD = 16  # rows
_LOW = (1 << 32) - 1


@inner_kernel
def add_words(values, weights, codes, rows, chosen, histograms, touched, marks):
    """Add packed sums and weights of rows to the histograms of some columns.

    ``values`` int8 or int64[n], ``weights`` int64[n or 0], ``codes`` uint8[n, stride], ``rows`` int32[m], ``chosen``
    int32[k], ``histograms`` int64[>= k, 256], ``touched`` uint64[>= k, 4].
    """
    has_weights = weights.shape[0] > 0
    n_chosen = chosen.shape[0]
    m = rows.shape[0]
    for i in range(m):
        row = np.uint64(rows[i])
        prefetch(codes, np.int64(rows[min(i + _AHEAD, m - 1)]))
        word = (np.int64(values[row]) << 32) + (weights[row] if has_weights else 1)
        for k in range(n_chosen):
            b = np.uint64(codes[row, np.uint64(chosen[k])])
            histograms[k, b] += word
            if marks:
                touched[k, b >> np.uint64(6)] |= np.uint64(1) << (b & np.uint64(63))


@inner_kernel
def add_pairs(values, weights, codes, rows, chosen, histograms, touched, marks):
    """Add sums and weights of rows to the histograms of some columns.

    ``histograms`` int64[>= k, 512]; the others as ``add_words``.
    """
    has_weights = weights.shape[0] > 0
    n_chosen = chosen.shape[0]
    m = rows.shape[0]
    for i in range(m):
        row = np.uint64(rows[i])
        prefetch(codes, np.int64(rows[min(i + _AHEAD, m - 1)]))
        value = np.int64(values[row])
        weight = weights[row] if has_weights else 1
        for k in range(n_chosen):
            b = np.uint64(codes[row, np.uint64(chosen[k])])
            histograms[k, b + b] += value
            histograms[k, b + b + np.uint64(1)] += weight
            if marks:
                touched[k, b >> np.uint64(6)] |= np.uint64(1) << (b & np.uint64(63))


@inner_kernel
def add_labels(labels, weights, n_classes, codes, rows, chosen, histograms, touched, marks):
    """Add rows to the class counts of some columns.

    ``labels`` uint8 or int32[n], ``histograms`` int64[>= k, 256 * n_classes], a bin's classes side by side; the others
    as ``add_words``.
    """
    has_weights = weights.shape[0] > 0
    n_chosen = chosen.shape[0]
    width = np.uint64(n_classes)
    m = rows.shape[0]
    for i in range(m):
        row = np.uint64(rows[i])
        prefetch(codes, np.int64(rows[min(i + _AHEAD, m - 1)]))
        label = np.uint64(labels[row])
        weight = weights[row] if has_weights else 1
        for k in range(n_chosen):
            b = np.uint64(codes[row, np.uint64(chosen[k])])
            histograms[k, b * width + label] += weight
            if marks:
                touched[k, b >> np.uint64(6)] |= np.uint64(1) << (b & np.uint64(63))


@inner_kernel
def mark_touched(histograms, touched, chosen, n_bins, width):
    """Mark every bin that is not all zero as touched; for many rows.

    ``histograms`` int64[k, 256 * width], ``touched`` uint64[k, 4], ``chosen`` int32[k], ``n_bins`` int32[p].
    """
    for k in range(chosen.shape[0]):
        n_here = n_bins[chosen[k]]
        for i in range(n_here + 1):
            b = i if i < n_here else MISSING_BIN
            any_sum = np.int64(0)
            for at in range(b * width, (b + 1) * width):
                any_sum |= histograms[k, at]
            touched[k, b >> 6] |= np.uint64(any_sum != 0) << np.uint64(b & 63)


@inner_kernel
def clear_touched(histogram, touched, width):
    """Clear a histogram and its set of touched bins.

    ``histogram`` int64[256 * width], ``touched`` uint64[4].
    """
    for word in range(4):
        bits = touched[word]
        while bits != 0:
            b = (word << 6) + np.int64(trailing_zeros(bits))
            bits &= bits - np.uint64(1)
            for at in range(b * width, (b + 1) * width):
                histogram[at] = 0
        touched[word] = 0


def add_means(stats, codes, rows, chosen, histograms, touched, marks):
    """``add`` for means."""
    if histograms.shape[1] == 256:
        add_words(stats.values[0], stats.weights, codes, rows, chosen, histograms, touched, marks)
    else:
        add_pairs(stats.values[0], stats.weights, codes, rows, chosen, histograms, touched, marks)


def add_counts(stats, codes, rows, chosen, histograms, touched, marks):
    """``add`` for class counts."""
    add_labels(stats.labels[0], stats.weights, stats.offsets[1], codes, rows, chosen, histograms, touched, marks)


# Adding up only the rows outside a column's usual bin, and giving that bin the rest of the node, is not faster: picking
# the rows takes as long as adding them (0.9 to 1.3 ns a cell; 44 of covertype's 54 columns have a usual bin).


def add_nothing(stats, codes, rows, chosen, histograms, touched, marks):
    """``add`` for statistics without histograms."""


add = by_family(
    {MeanStats: add_means, CountStats: add_counts, PoissonStats: add_nothing, MedianStats: add_nothing},
    "Add rows to the histograms of some columns; with ``marks`` also to the sets of touched bins.",
    inline="always",
)


@inner_kernel
def fill(stats, codes, rows, chosen, n_bins, histograms, touched):
    """Add up the rows by bin in some columns.

    Parameters
    ----------
    codes : uint8[n, stride], IN
    rows : int32[m], IN
    chosen : int32[k], IN
    n_bins : int32[p], IN
    histograms : int64[>= k, 256 * width], INOUT
        All zero before.
    touched : uint64[>= k, 4], INOUT
        Empty before; then a bit for each bin with rows.
    """
    marks = rows.shape[0] < MANY_ROWS
    add(stats, codes, rows, chosen, histograms, touched, marks)
    if not marks:
        mark_touched(histograms, touched, chosen, n_bins, histograms.shape[1] // 256)


# The best cut of a histogram. The formulas are the exact grower's, on at most 255 entries. The integers, and so the
# gains, are bit-identical to those of a scan of the sorted rows. Functions that the kernels call take few arrays: a
# tuple of thirty is passed as two hundred words.


@inner_kernel
def unpack(histogram, b):
    """Sum and weight of a bin. ``histogram`` int64[256 * width]."""
    if histogram.shape[0] == 256:
        word = histogram[b]
        weight = word & _LOW
        return (word - weight) >> 32, weight
    return histogram[2 * b], histogram[2 * b + 1]


@inner_kernel
def cuts_of_means(histogram, touched, centre, sums, weights, bins):
    """Sums (measured from the centre) and weights up to each bin that has rows; returns their number.

    ``histogram`` int64[256 * width], ``touched`` uint64[4], ``sums`` int64[256], ``weights`` float64[256], ``bins``
    int32[257].
    """
    n_here = 0
    running = 0
    running_weight = 0
    for word in range(4):
        bits = touched[word]
        if word == 3:
            bits &= (np.uint64(1) << np.uint64(63)) - np.uint64(1)  # without bin 255
        while bits != 0:
            b = (word << 6) + np.int64(trailing_zeros(bits))
            bits &= bits - np.uint64(1)
            value, weight = unpack(histogram, b)
            running += value - centre * weight
            running_weight += weight
            sums[n_here] = running
            weights[n_here] = running_weight
            bins[n_here] = b
            n_here += 1
    return n_here


@inner_kernel
def first_cut(all_gains, n_here, n_ways, has_missing, best, tolerance):
    """The first cut whose gain is the best up to rounding: its position, and whether missing rows go left.

    At one position missing to the right comes first.

    ``all_gains`` float64[2 * BLOCK].
    """
    target = max(best - tolerance, 0.0)
    found = -1
    found_left = 0
    for missing_left in range(n_ways):
        n_cuts = n_here if has_missing and not missing_left else n_here - 1
        for j in range(n_cuts):
            if all_gains[missing_left * BLOCK + j] >= target:
                if found < 0 or j < found:
                    found = j
                    found_left = missing_left
                break
    return found, found_left


@inner_kernel
def best_of_means(
    histogram, touched, total_sum, node_weight, table, table_scale, min_weight, is_monotone, direction, low, high,
    tolerance, sums, weights, all_gains, flags, bins,
):  # fmt: skip
    """``scan`` for means.

    ``histogram`` int64[256 * width], ``touched`` uint64[4], ``table`` int64[n + 1 or 0], ``sums`` int64[256],
    ``weights`` float64[256], ``all_gains`` float64[2 * BLOCK], ``flags`` int32[257], ``bins`` int32[257].
    """
    is_entropy = table.shape[0] > 0
    centre = 0 if is_entropy else total_sum // node_weight
    total = float(node_weight)
    rest = float(total_sum - centre * node_weight) / total
    n_here = cuts_of_means(histogram, touched, centre, sums, weights, bins)
    missing_sum, missing_weight = unpack(histogram, MISSING_BIN)
    missing_sum -= centre * missing_weight
    best = -1.0
    n_ways = 2 if missing_weight > 0 else 1
    for missing_left in range(n_ways):
        n_cuts = n_here if missing_weight > 0 and not missing_left else n_here - 1
        if n_cuts <= 0:
            continue
        gains = all_gains[missing_left * BLOCK : missing_left * BLOCK + n_cuts]
        here = weights[:n_cuts]
        extra = float(missing_weight) if missing_left else 0.0
        shift = missing_sum if missing_left else 0
        if is_entropy:
            entropy_block(
                gains, here, sums[:n_cuts], flags[:n_cuts], np.int64(extra), shift, node_weight, total_sum, table,
                table_scale, min_weight,
            )  # fmt: skip
        else:
            change = float(shift) - extra * rest if missing_left else 0.0
            add_squares(sums[:n_cuts], here, rest, change, True, gains)
            finish_block(gains, here, flags[:n_cuts], extra, total, float(min_weight))
        if is_monotone:
            forbid_unordered(
                gains, here, sums[:n_cuts], float(shift), extra, total_sum, node_weight, direction, low, high,
                not is_entropy,
            )  # fmt: skip
        best = max(best, largest(gains))
    if best < 0.0:
        return -1.0, -1, -1, 0
    found, missing_left = first_cut(all_gains, n_here, n_ways, missing_weight > 0, best, tolerance)
    return best, np.int64(bins[found]), np.int64(bins[found + 1]) if found + 1 < n_here else -1, missing_left


@inner_kernel
def bins_with_counts(touched, bins):
    """Write the bins that have rows, ascending; returns their number (without the bin of missing cells).

    ``touched`` uint64[4], ``bins`` int32[257].
    """
    n_here = 0
    for word in range(4):
        bits = touched[word]
        if word == 3:
            bits &= (np.uint64(1) << np.uint64(63)) - np.uint64(1)
        while bits != 0:
            bins[n_here] = (word << 6) + np.int64(trailing_zeros(bits))
            bits &= bits - np.uint64(1)
            n_here += 1
    return n_here


@inner_kernel
def best_of_counts(
    histogram, touched, totals, node_weight, score, offsets, criterion, has_weights, table, table_scale, min_weight,
    is_monotone, direction, low, high, tolerance, left, all_gains, bins,
):  # fmt: skip
    """``scan`` for class counts of one output.

    ``histogram`` int64[256 * width], ``touched`` uint64[4], ``totals`` int64[c], ``offsets`` int64[2], ``table``
    int64[n + 1 or 0], ``left`` int64[>= c], ``all_gains`` float64[2 * BLOCK], ``bins`` int32[257].
    """
    n_classes = offsets[1]
    scale = term_scale(criterion, has_weights, table, table_scale, 1, node_weight)
    is_whole = criterion == GINI and scale == 1.0
    n_here = bins_with_counts(touched, bins)
    has_missing = touched[3] >> np.uint64(63) != 0
    best = -1.0
    n_ways = 2 if has_missing else 1
    for missing_left in range(n_ways):
        n_cuts = n_here if has_missing and not missing_left else n_here - 1
        left_terms = 0
        right_terms = score
        left_weight = 0
        for j in range(-1 if missing_left else 0, n_cuts):
            base = (MISSING_BIN if j < 0 else np.int64(bins[j])) * n_classes
            for k in range(n_classes):
                count = histogram[base + k]
                here = left[k]
                there = totals[k] - here
                left[k] = here + count
                left_weight += count
                if is_whole:
                    left_terms += count * (2 * here + count)
                    right_terms -= count * (2 * there - count)
                elif criterion != MISCLASSIFICATION and count > 0:
                    left_terms += term(criterion, has_weights, table, here + count, scale)
                    left_terms -= term(criterion, has_weights, table, here, scale)
                    right_terms += term(criterion, has_weights, table, there - count, scale)
                    right_terms -= term(criterion, has_weights, table, there, scale)
            if j < 0:
                continue
            gain = -1.0
            if min(left_weight, node_weight - left_weight) >= min_weight and (
                not is_monotone or is_ordered(totals, node_weight, left, left_weight, direction, low, high)
            ):
                gain = gain_of_sides(
                    criterion, has_weights, table, offsets, totals, left, left_weight, node_weight, left_terms,
                    right_terms, score, scale,
                )  # fmt: skip
            all_gains[missing_left * BLOCK + j] = gain
            best = max(best, gain)
        for k in range(n_classes):
            left[k] = 0
    if best < 0.0:
        return -1.0, -1, -1, 0
    found, missing_left = first_cut(all_gains, n_here, n_ways, has_missing, best, tolerance)
    return best, np.int64(bins[found]), np.int64(bins[found + 1]) if found + 1 < n_here else -1, missing_left


def scan_means(stats, node, nodes, histogram, touched, limits, direction, work, desk):
    """``scan`` for means."""
    return best_of_means(
        histogram, touched, nodes.totals[node, 0], nodes.weight[node], stats.table, stats.table_scale,
        max(limits.min_leaf_weight, limits.min_leaf), limits.is_monotone, direction,
        nodes.low[node] if limits.is_monotone else 0.0, nodes.high[node] if limits.is_monotone else 0.0,
        nodes.tolerance[node], work.sums, work.weights, work.gains, desk.flags, desk.counts,
    )  # fmt: skip


def scan_counts(stats, node, nodes, histogram, touched, limits, direction, work, desk):
    """``scan`` for class counts of one output."""
    return best_of_counts(
        histogram, touched, nodes.totals[node], nodes.weight[node], nodes.score[node], stats.offsets,
        stats.criterion, stats.weights.shape[0] > 0, stats.table, stats.table_scale,
        max(limits.min_leaf_weight, limits.min_leaf), limits.is_monotone, direction,
        nodes.low[node] if limits.is_monotone else 0.0, nodes.high[node] if limits.is_monotone else 0.0,
        nodes.tolerance[node], work.left, work.gains, desk.counts,
    )  # fmt: skip


def scan_nothing(stats, node, nodes, histogram, touched, limits, direction, work, desk):
    """``scan`` for statistics without histograms."""
    return -1.0, -1, -1, 0


# Returns the gain (-1 if no cut is allowed), the bins next to the first cut that has this gain up to rounding (the
# second -1 if only missing cells go right), and whether missing cells go left.
scan = by_family(
    {MeanStats: scan_means, CountStats: scan_counts, PoissonStats: scan_nothing, MedianStats: scan_nothing},
    "The best cut of a node, from a column's histogram.",
    inline="always",
)


def histogram_width(stats: object) -> int:
    """Numbers per bin in a histogram of these statistics; 0 if they have no histogram."""
    if isinstance(stats, MeanStats) and stats.values.shape[0] == 1:
        packs = stats.is_classes and stats.weights.sum() < _LOW // 2
        return 1 if packs else 2
    if isinstance(stats, CountStats) and stats.labels.shape[0] == 1:
        return int(stats.offsets[1])
    return 0


# Histograms kept for the children. A parent's sums are the totals of its children's: the smaller child is added up and
# subtracted, which leaves the larger one in the parent's place. Sums are integers, so nothing is rounded.


@inner_kernel
def take_slot(growth):
    """Take a free slot, all zero; -1 if there is none."""
    if growth.state[FREE] == 0:
        return -1
    growth.state[FREE] -= 1
    return growth.free[growth.state[FREE]]


@inner_kernel
def give_back(growth, slot):
    """Clear a slot and make it free."""
    histograms = growth.slots[slot]
    for k in range(histograms.shape[0]):
        for at in range(histograms.shape[1]):
            histograms[k, at] = 0
    growth.free[growth.state[FREE]] = slot
    growth.state[FREE] += 1


@inner_kernel
def fill_slot(stats, codes, rows, bins, slot, growth, desk):
    """Add up all columns that the tree may use. ``codes`` uint8[n, stride], ``rows`` int32[m]."""
    n = bins.candidates.shape[0]
    fill(stats, codes, rows, bins.candidates, bins.n_bins, growth.slots[slot], desk.touched)
    for k in range(n):
        for word in range(4):
            desk.touched[k, word] = 0


@inner_kernel
def slot_of(stats, codes, node, nodes, bins, growth, desk):
    """The node's histograms, filled: its own slot, a new one for many rows, or -1. ``codes`` uint8[n, stride]."""
    if growth.slot.shape[0] == 0:
        return -1
    slot = np.int64(growth.slot[node])
    if slot < 0 and nodes.hi[node] - nodes.lo[node] >= SLOT_ROWS:
        slot = take_slot(growth)
        if slot >= 0:
            fill_slot(stats, codes, growth.rows[nodes.lo[node] : nodes.hi[node]], bins, slot, growth, desk)
            growth.slot[node] = slot
    if slot >= 0:
        mark_touched(growth.slots[slot], desk.touched, bins.candidates, bins.n_bins, growth.slots.shape[2] // 256)
    return slot


@inner_kernel
def subtract(larger, smaller, n_columns):
    """Subtract one node's sums from another's. ``larger`` int64[k, 256 * width], ``smaller`` int64[k, 256 * width]."""
    for k in range(n_columns):
        for at in range(larger.shape[1]):
            larger[k, at] -= smaller[k, at]


@inner_kernel
def hand_down(stats, codes, node, nodes, bins, growth, desk):
    """After a split: give the parent's slot to the larger child, if that may be split and has enough rows.

    ``codes`` uint8[n, stride].
    """
    slot = np.int64(growth.slot[node])
    child = np.int64(nodes.first_child[node])
    growth.slot[node] = -1
    growth.slot[child] = -1
    growth.slot[child + 1] = -1
    if slot < 0:
        return
    larger = child if nodes.hi[child] - nodes.lo[child] >= nodes.hi[child + 1] - nodes.lo[child + 1] else child + 1
    smaller = 2 * child + 1 - larger
    if not nodes.is_open[larger] or nodes.hi[larger] - nodes.lo[larger] < SLOT_ROWS:
        give_back(growth, slot)
        return
    rows = growth.rows[nodes.lo[smaller] : nodes.hi[smaller]]
    own = np.int64(-1)
    if nodes.is_open[smaller] and rows.shape[0] >= SLOT_ROWS:
        own = take_slot(growth)
    if own >= 0:
        fill_slot(stats, codes, rows, bins, own, growth, desk)
        subtract(growth.slots[slot], growth.slots[own], bins.candidates.shape[0])
        growth.slot[smaller] = own
    else:
        n = bins.candidates.shape[0]
        fill(stats, codes, rows, bins.candidates, bins.n_bins, desk.histograms, desk.touched)
        subtract(growth.slots[slot], desk.histograms, n)
        for k in range(n):
            clear_touched(desk.histograms[k], desk.touched[k], desk.histograms.shape[1] // 256)
    growth.slot[larger] = slot
