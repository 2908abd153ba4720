"""The best split of a node by one column of bins. In: its rows. Out: a gain; with a target, the split itself.

Caller: grow.binned.step.
"""

from __future__ import annotations

import numpy as np
from numba.extending import overload

from treewright.core.jit import bare_inner_kernel
from treewright.grow.binned.items import sort_items
from treewright.grow.binned.random_cuts import mark_random, two_runs
from treewright.grow.families import few_gain, scan_cuts
from treewright.grow.layout import MISSING, NOT_FEW, ROW, Columns
from treewright.grow.subsets import SIDE, START, search_levels


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
        last = mark_random(codes, column, bins, nodes.key[node], rows, desk.present, sides)
        n_present = two_runs(codes, column, rows, sides, desk.items, desk.spare)
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
