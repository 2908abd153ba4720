"""The best split of a node by one column of bins. In: its rows. Out: a gain; with a target, the split itself.

Caller: grow.binned.step.
"""

from __future__ import annotations

import numpy as np
from numba.extending import overload

from treewright.core.jit import bare_inner_kernel
from treewright.core.random import mix
from treewright.grow.binned.items import sort_items
from treewright.grow.binned.layout import MISSING_BIN
from treewright.grow.families import few_gain, scan_cuts
from treewright.grow.layout import MISSING, NEW, NOT_FEW, ROW, Columns
from treewright.grow.subsets import SIDE, START, search_levels

_UNIT = 2.0**-53
_CUT_STREAM = np.uint64(1) << np.uint64(40)  # apart from the numbers that draw columns


@bare_inner_kernel
def uniform(state, position):
    """A float64 in [0, 1) from a state and a position."""
    return np.float64(mix(state, position) >> np.uint64(11)) * _UNIT


@bare_inner_kernel
def random_side(codes, column, bins, key, rows, sides):
    """Put 1 for each bin that a random cut sends left into ``sides`` uint8[256]; returns whether both sides have rows.

    A number is cut between the smallest and the largest value of the node, all places alike likely (Geurts, Ernst and
    Wehenkel 2006); of a nominal column each level present goes left or right by a coin.
    """
    low = 255
    high = -1
    for i in range(rows.shape[0]):
        b = np.int64(codes[rows[i], column])
        if b != MISSING_BIN:
            low = min(low, b)
            high = max(high, b)
    if high < 0:
        return False
    state = mix(key, _CUT_STREAM + np.uint64(column))
    if not bins.is_nominal[column]:
        start = bins.start[column]
        share = uniform(state, np.uint64(0))
        x = bins.lowest[start + low] * (1.0 - share) + bins.highest[start + high] * share
        last = low
        step = high - low  # binary search: the last bin before ``high`` whose values are all up to x
        stop = high
        while step > 0:
            middle = (last + stop) >> 1
            if middle > last and bins.highest[start + middle] <= x:
                last = middle
            else:
                stop = middle
            step >>= 1
        for b in range(low, high + 1):
            sides[b] = 1 if b <= last else 0
        return low < high
    for b in range(low, high + 1):
        sides[b] = 2
    n_levels = 0
    n_left = 0
    for i in range(rows.shape[0]):
        b = np.int64(codes[rows[i], column])
        if b != MISSING_BIN and sides[b] == 2:
            sides[b] = mix(state, np.uint64(b)) >> np.uint64(63)
            n_levels += 1
            n_left += sides[b]
    if n_left == 0:
        sides[low] = 1
    elif n_left == n_levels and n_levels > 1:
        sides[high] = 0
    return n_levels > 1


@bare_inner_kernel
def two_runs(codes, column, rows, sides, items, spare):
    """Items in two runs, those that a random cut sends left and the others; missing ones last.

    Returns
    -------
    n_present, n_left : int
    """
    left = 0
    right = 0
    absent = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        b = codes[row, column]
        if b == MISSING_BIN:
            spare[rows.shape[0] - 1 - absent] = row
            absent += 1
            continue
        goes_left = np.int64(sides[b])
        items[left] = row
        left += goes_left
        if not goes_left:
            spare[right] = row
            right += 1
    for i in range(right):
        items[left + i] = spare[i]
    for i in range(absent):
        items[left + right + i] = spare[rows.shape[0] - 1 - i] | MISSING
    if left > 0:
        items[0] |= NEW
    if right > 0:
        items[left] |= NEW
    if absent > 0:
        items[left + right] |= NEW
    return left + right, left


def levels_of_numeric(stats, node, nodes, columns, items, n_present, limits, target, work):
    """``levels`` for a table without nominal columns."""
    return -1.0, 0, 0


def levels_of_any(stats, node, nodes, columns, items, n_present, limits, target, work):
    """``levels`` for a table with nominal columns."""
    return search_levels(stats, node, nodes, items, n_present, limits, target, work)


def levels(stats, node, nodes, columns, items, n_present, limits, target, work):
    """``subsets.search_levels``, compiled only for tables with nominal columns."""
    search = levels_of_any if isinstance(columns, Columns) else levels_of_numeric
    return search(stats, node, nodes, columns, items, n_present, limits, target, work)


@overload(levels)
def _levels(stats, node, nodes, columns, items, n_present, limits, target, work):
    return levels_of_any if columns.instance_class is Columns else levels_of_numeric


@bare_inner_kernel
def mark_bins(codes, column, items, position, sides):
    """After a search: the bins of items 0..position go left; returns the bins beside the cut."""
    before = np.int64(codes[items[position] & ROW, column])
    after = -1
    if position + 1 < items.shape[0] and not items[position + 1] & MISSING:
        after = np.int64(codes[items[position + 1] & ROW, column])
    for b in range(255):
        sides[b] = 1 if b <= before else 0
    return before, after


@bare_inner_kernel
def search(stats, codes, column, rows, node, nodes, bins, columns, limits, rules, target, work, desk):
    """The best split of a node by a column.

    Parameters
    ----------
    target : float
        Negative: find the largest gain. Else: find the first split with at least this gain and mark it.

    Returns
    -------
    gain : float
        -1 where no split is allowed.
    before, after : int
        With a target: the last bin on the left and the first on the right of a threshold; ``before`` -1 for a subset.
    missing_left : int
        With a target. Then ``desk.goes_left`` says which bins with rows go left (for a threshold: all bins).
    """
    n_bins = np.int64(bins.n_bins[column])
    direction = np.int64(columns.monotone[column])
    is_nominal = bins.is_nominal[column] != 0
    m = rows.shape[0]
    sides = desk.goes_left
    if rules.random_cuts:
        random_side(codes, column, bins, nodes.key[node], rows, sides)
        n_present, n_left = two_runs(codes, column, rows, sides, desk.items, desk.spare)
        items = desk.items[:m]
        gain = NOT_FEW
        if target < 0.0 and n_present == m and not limits.is_monotone:
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
        if is_nominal:
            if position + 1 == n_present:  # only missing rows go to the other side
                for b in range(255):
                    sides[b] = 1
            return gain, -1, -1, missing_left
        if position + 1 == n_present:
            for b in range(255):
                sides[b] = 1
            return gain, n_bins - 1, -1, missing_left
        before = 0
        after = 255
        for i in range(n_present):
            b = np.int64(codes[items[i] & ROW, column])
            if i < n_left:
                before = max(before, b)
            else:
                after = min(after, b)
        for b in range(255):
            sides[b] = 1 if b <= before else 0
        return gain, before, after, missing_left
    n_present = sort_items(codes, column, n_bins, rows, desk.items, desk.spare, desk.counts)
    items = desk.items[:m]
    if is_nominal:
        gain, n_groups, missing_left = levels(stats, node, nodes, columns, items, n_present, limits, target, work)
        if target >= 0.0:
            for b in range(255):
                sides[b] = 2
            for g in range(n_groups):
                sides[codes[items[work.group[START, g]] & ROW, column]] = work.group[SIDE, g]
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
    before, after = mark_bins(codes, column, items, position, sides)
    return gain, before, after, missing_left
