"""A node's rows sorted by one column, and the best cut of a few of them. In: bins and statistics. Out: items, a cut.

Items are those of ``grow.layout``, as the exact grower keeps them; here they are made when they are needed.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import inner_kernel
from treewright.data.bins import MISSING_BIN
from treewright.grow.binned.layout import FEW_ROWS
from treewright.grow.criteria.counts import gain_of_sides, term, term_scale
from treewright.grow.criteria.families import by_family
from treewright.grow.layout import MISSING, NEW, NOT_FEW
from treewright.grow.objective import CountStats, MeanStats, MedianStats, PoissonStats
from treewright.trees.class_criteria import GINI, MISCLASSIFICATION


@inner_kernel
def has_one_value(codes, column, rows):
    """Whether all rows have the same bin. ``codes`` uint8[n, stride], ``rows`` int32[m]."""
    first = codes[rows[0], column]
    for i in range(1, rows.shape[0]):  # noqa: SIM110 - kernels know no generators
        if codes[rows[i], column] != first:
            return False
    return True


@inner_kernel
def sort_bins(codes, column, rows, keys, order):
    """Bins of the rows, ascending, and the rows in that order.

    ``codes`` uint8[n, stride], ``rows`` int32[m], ``keys`` int32[m], ``order`` int32[m].
    """
    for i in range(rows.shape[0]):
        row = rows[i]
        b = np.int32(codes[row, column])
        j = i
        while j > 0 and keys[j - 1] > b:
            keys[j] = keys[j - 1]
            order[j] = order[j - 1]
            j -= 1
        keys[j] = b
        order[j] = row


@inner_kernel
def sort_few(codes, column, rows, items, counts):
    """``sort_items`` for at most ``FEW_ROWS`` rows, by insertion.

    ``codes`` uint8[n, stride], ``rows`` int32[m], ``items`` int32[m], ``counts`` int32[257].
    """
    sort_bins(codes, column, rows, counts, items)
    n_present = rows.shape[0]
    before = -1
    for i in range(rows.shape[0]):
        b = counts[i]
        flag = NEW if b != before else 0
        if b == MISSING_BIN:
            flag |= MISSING
            n_present -= 1
        items[i] |= flag
        before = b
    return n_present


@inner_kernel
def sort_two(codes, column, rows, items, spare):
    """``sort_items`` for a column with bins 0 and 1 only: no row waits for the one before.

    ``codes`` uint8[n, stride], ``rows`` int32[m], ``items`` int32[m], ``spare`` int32[m + 1].
    """
    left = 0
    right = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        b = np.int64(codes[row, column])
        items[left] = row
        spare[right] = row
        left += 1 - b
        right += b
    for i in range(right):
        items[left + i] = spare[i]
    if left > 0:
        items[0] |= NEW
    if right > 0:
        items[left] |= NEW
    return rows.shape[0]


@inner_kernel
def sort_items(codes, column, n_bins, rows, items, spare, counts):
    """Sort rows by their bin, missing ones last.

    Parameters
    ----------
    codes : uint8[n, stride], IN
    column, n_bins : int
        Columns with ``n_bins`` 2 that have missing cells in the node are counted like any other.
    rows : int32[m], IN
    items : int32[>= m + 1], OUT
    spare : int32[>= m + 1], counts : int32[256], scratch

    Returns
    -------
    int
        Number of items that are not missing.
    """
    m = rows.shape[0]
    if m <= FEW_ROWS:
        return sort_few(codes, column, rows, items, counts)
    for b in range(256):
        counts[b] = 0
    for i in range(m):
        counts[codes[rows[i], column]] += 1
    n_present = m - counts[MISSING_BIN]
    if n_bins == 2 and counts[0] + counts[1] == m:  # a level without training rows has bin 2
        return sort_two(codes, column, rows, items, spare)
    place = 0
    for b in range(256):
        here = counts[b]
        counts[b] = place
        place += here
    for i in range(m):
        row = rows[i]
        b = codes[row, column]
        items[counts[b]] = row
        counts[b] += 1
    # Each count is now the end of its bin, that is where the next one begins.
    begin = 0
    for b in range(256):
        if counts[b] > begin:
            items[begin] |= NEW
        begin = counts[b]
    for i in range(n_present, m):
        items[i] |= MISSING
    return n_present


# Most nodes of a full tree have less than thirty rows. With histograms for those too a tree took 280 ms, sorted by
# insertion and summed in registers 252 (covertype, one thread; extra-trees on 200,000 x 28 240 and 197). The gains are
# those of ``histograms``: the same integers, the same formulas.


@inner_kernel
def first_of_few(keys, gains, m, best, tolerance):
    """The bins next to the first cut that gains ``best`` up to rounding. ``keys`` int32[m], ``gains`` float64[m]."""
    target = max(best - tolerance, 0.0)
    for i in range(m - 1):
        if keys[i] != keys[i + 1] and gains[i] >= target:
            return np.int64(keys[i]), np.int64(keys[i + 1])
    return -1, -1


@inner_kernel
def few_of_means(values, weights, total_sum, node_weight, min_weight, tolerance, keys, order, m, gains):
    """``few`` for means, of sorted rows.

    ``values`` int8 or int64[n], ``weights`` int64[n or 0], ``keys`` int32[m], ``order`` int32[m], ``gains`` float64[m].
    """
    has_weights = weights.shape[0] > 0
    centre = total_sum // node_weight
    total = float(node_weight)
    rest = float(total_sum - centre * node_weight) / total
    least = float(min_weight)
    running = 0
    running_weight = 0
    best = -1.0
    for i in range(m - 1):
        row = order[i]
        weight = weights[row] if has_weights else 1
        running += np.int64(values[row]) - centre * weight
        running_weight += weight
        gains[i] = -1.0
        if keys[i] == keys[i + 1]:
            continue
        left = float(running_weight)
        right = total - left
        if left >= least and right >= least:
            deviation = float(running) - left * rest
            gains[i] = deviation * deviation * total / (left * right)
            best = max(best, gains[i])
    if best < 0.0:
        return -1.0, -1, -1
    before, after = first_of_few(keys, gains, m, best, tolerance)
    return best, before, after


@inner_kernel
def few_of_counts(
    labels, weights, offsets, criterion, table, table_scale, totals, node_weight, score, min_weight, tolerance, keys,
    order, m, left, gains,
):  # fmt: skip
    """``few`` for class counts of one output, of sorted rows.

    ``labels`` uint8 or int32[n], ``weights`` int64[n or 0], ``offsets`` int64[2], ``table`` int64[n + 1 or 0],
    ``totals`` int64[c], ``keys`` int32[m], ``order`` int32[m], ``left`` int64[>= c], ``gains`` float64[m].
    """
    has_weights = weights.shape[0] > 0
    scale = term_scale(criterion, has_weights, table, table_scale, 1, node_weight)
    is_whole = criterion == GINI and scale == 1.0
    left_terms = 0
    right_terms = score
    left_weight = 0
    best = -1.0
    for i in range(m - 1):
        row = order[i]
        weight = weights[row] if has_weights else 1
        k = np.int64(labels[row])
        here = left[k]
        there = totals[k] - here
        left[k] = here + weight
        left_weight += weight
        if is_whole:
            left_terms += weight * (2 * here + weight)
            right_terms -= weight * (2 * there - weight)
        elif criterion != MISCLASSIFICATION:
            left_terms += term(criterion, has_weights, table, here + weight, scale)
            left_terms -= term(criterion, has_weights, table, here, scale)
            right_terms += term(criterion, has_weights, table, there - weight, scale)
            right_terms -= term(criterion, has_weights, table, there, scale)
        gains[i] = -1.0
        if keys[i] == keys[i + 1]:
            continue
        if min(left_weight, node_weight - left_weight) >= min_weight:
            gains[i] = gain_of_sides(
                criterion, has_weights, table, offsets, totals, left, left_weight, node_weight, left_terms,
                right_terms, score, scale,
            )  # fmt: skip
            best = max(best, gains[i])
    for i in range(m - 1):
        left[labels[order[i]]] = 0
    if best < 0.0:
        return -1.0, -1, -1
    before, after = first_of_few(keys, gains, m, best, tolerance)
    return best, before, after


def cut_few_means(stats, node, nodes, keys, order, m, limits, work):
    """``cut_few`` for means."""
    if stats.table.shape[0] > 0 or stats.values.shape[0] != 1:
        return NOT_FEW, -1, -1
    return few_of_means(
        stats.values[0], stats.weights, nodes.totals[node, 0], nodes.weight[node],
        max(limits.min_leaf_weight, limits.min_leaf), nodes.tolerance[node], keys, order, m, work.gains,
    )  # fmt: skip


def cut_few_counts(stats, node, nodes, keys, order, m, limits, work):
    """``cut_few`` for class counts."""
    if stats.labels.shape[0] != 1:
        return NOT_FEW, -1, -1
    return few_of_counts(
        stats.labels[0], stats.weights, stats.offsets, stats.criterion, stats.table, stats.table_scale,
        nodes.totals[node], nodes.weight[node], nodes.score[node], max(limits.min_leaf_weight, limits.min_leaf),
        nodes.tolerance[node], keys, order, m, work.left, work.gains,
    )  # fmt: skip


def cut_none(stats, node, nodes, keys, order, m, limits, work):
    """``cut_few`` for other statistics."""
    return NOT_FEW, -1, -1


# ``keys`` and ``order`` int32[m] are the rows' bins, ascending, and the rows; none is missing, nothing is monotone.
# Returns the gain (-1 if no cut is allowed, ``NOT_FEW`` if these statistics have no short cut) and the bins next to the
# cut.
cut_few = by_family(
    {MeanStats: cut_few_means, CountStats: cut_few_counts, PoissonStats: cut_none, MedianStats: cut_none},
    "The best cut of a few sorted rows.",
    inline="always",
)
