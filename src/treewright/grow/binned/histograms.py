"""The best cut read off sums by bin. In: a histogram. Out: a gain, a cut.

Caller: grow.binned.step.

The formulas are the exact grower's, on at most 255 entries. The integers are those of a scan of the sorted rows, so
are the gains, to the last bit.

The functions that the kernels call take few arrays: a tuple of thirty is handed over as two hundred words.
"""

from __future__ import annotations

import numpy as np
from numba.core import types
from numba.extending import overload

from treewright.core.bits import trailing_zeros
from treewright.core.jit import bare_inner_kernel
from treewright.grow.binned.layout import MISSING_BIN
from treewright.grow.counts import gain_of_sides, is_ordered, term, term_scale
from treewright.grow.layout import BLOCK
from treewright.grow.means import add_squares, entropy_block, finish_block, forbid_unordered, largest
from treewright.grow.settings import GINI, MISCLASSIFICATION
from treewright.grow.statistics import CountStats, MeanStats

_LOW = (1 << 32) - 1


@bare_inner_kernel
def unpack(histogram, b):
    """Sum and weight of a bin."""
    if histogram.shape[0] == 256:
        word = histogram[b]
        weight = word & _LOW
        return (word - weight) >> 32, weight
    return histogram[2 * b], histogram[2 * b + 1]


@bare_inner_kernel
def cuts_of_means(histogram, touched, centre, sums, weights, bins):
    """Sums (measured from the centre) and weights up to each bin that has rows; returns how many there are."""
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


@bare_inner_kernel
def first_cut(all_gains, n_here, n_ways, has_missing, best, tolerance):
    """The first cut whose gain is the best but for roundings: its position, and whether missing rows go left.

    Of two ways at one position missing to the right comes first.
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


@bare_inner_kernel
def best_of_means(
    histogram, touched, total_sum, node_weight, table, table_scale, min_weight, is_monotone, direction, low, high,
    tolerance, sums, weights, all_gains, flags, bins,
):  # fmt: skip
    """``scan`` for means."""
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


@bare_inner_kernel
def bins_with_counts(touched, bins):
    """Bins that have rows, ascending; returns how many (without the missing ones)."""
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


@bare_inner_kernel
def best_of_counts(
    histogram, touched, totals, node_weight, score, offsets, criterion, has_weights, table, table_scale, min_weight,
    is_monotone, direction, low, high, tolerance, left, all_gains, bins,
):  # fmt: skip
    """``scan`` for class counts of one output."""
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


_SCAN = {MeanStats: scan_means, CountStats: scan_counts}


def _family(stats):
    """The statistics' type: ``stats`` is a tuple in plain Python, its Numba type while compiling."""
    return stats.instance_class if isinstance(stats, types.BaseNamedTuple) else type(stats)


def scan(stats, node, nodes, histogram, touched, limits, direction, work, desk):
    """The best cut of a node, from a column's histogram.

    Returns
    -------
    gain : float
        -1 where no cut is allowed.
    before, after : int
        The bins beside the first cut that gains as much but for roundings; ``after`` -1 where only missing cells go
        right.
    missing_left : int
    """
    return _SCAN.get(_family(stats), scan_nothing)(
        stats, node, nodes, histogram, touched, limits, direction, work, desk
    )


@overload(scan, inline="always")
def _scan(stats, node, nodes, histogram, touched, limits, direction, work, desk):
    return _SCAN.get(_family(stats), scan_nothing)


def histogram_width(stats: object) -> int:
    """Numbers a bin takes in a histogram of these statistics; 0 where they have none."""
    if isinstance(stats, MeanStats) and stats.values.shape[0] == 1:
        packs = stats.is_classes and stats.weights.sum() < _LOW // 2
        return 1 if packs else 2
    if isinstance(stats, CountStats) and stats.labels.shape[0] == 1:
        return int(stats.offsets[1])
    return 0
