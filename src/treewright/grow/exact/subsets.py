"""Subsets of a nominal column's levels. In: a node's segment. Out: the best gain, and which levels go left.

A nominal column can be treated as a numeric one if its levels are in a good order. For one number per row (two classes,
one regression target) the order by mean contains an optimal subset (Fisher 1958; Breiman et al. 1984, section 4.2.2),
so the segment is copied level by level in that order and scanned like any other. For several classes or outputs every
partition is tried up to ``EXHAUSTIVE_LEVELS`` levels; beyond, levels are ordered along the first principal component of
their class proportions (Coppersmith, Hong and Hosking 1999): an approximation. So is the order by median for absolute
error.

For a column in runs (``Columns.in_runs``) only the first runs of levels in the order of their codes are tried.

The left side is the one with fewer levels; of two halves the one with the lowest code. Ties: fewer levels on the left,
then the set with the lowest code in which two of them differ, then missing to the right.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import allocating_inner_kernel, inner_kernel
from treewright.grow.criteria.families import add_rows, gain_of, has_one_number, level_rank, scan_cuts
from treewright.grow.layout import MISSING, NEW, ROW

EXHAUSTIVE_LEVELS = 10  # 2**9 - 1 = 511 partitions
_POWER_STEPS = 24

# Rows of work.group.
START, STOP, PLACE, SIDE, OFFER = 0, 1, 2, 3, 4


@inner_kernel
def find_groups(items, n_present, group):
    """Write the start and stop of each level's items, in code order; returns the number of levels present.

    ``items`` int32[m], ``group`` int64[5, g].
    """
    n_groups = 0
    for i in range(n_present):
        if i == 0 or items[i] < 0:
            if n_groups > 0:
                group[STOP, n_groups - 1] = i
            group[START, n_groups] = i
            n_groups += 1
    if n_groups > 0:
        group[STOP, n_groups - 1] = n_present
    return n_groups


@inner_kernel
def order_groups(group, rank, n_groups):
    """Put group numbers into ``group[PLACE]`` by rank, then code (Shell's sort: short, and in place).

    ``group`` int64[5, g], ``rank`` float64[g].
    """
    for g in range(n_groups):
        group[PLACE, g] = g
    gap = 1
    while gap < n_groups // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n_groups):
            g = group[PLACE, i]
            j = i
            while j >= gap:
                other = group[PLACE, j - gap]
                if rank[other] < rank[g] or (rank[other] == rank[g] and other < g):
                    break
                group[PLACE, j] = other
                j -= gap
            group[PLACE, j] = g
        gap //= 3


@inner_kernel
def regroup(items, n_present, group, n_groups, regrouped):
    """Copy a segment with its levels in the order of ``group[PLACE]``; missing items stay last.

    ``items`` int32[m], ``group`` int64[5, g], ``regrouped`` int32[m].
    """
    end = 0
    for i in range(n_groups):
        g = group[PLACE, i]
        for j in range(group[START, g], group[STOP, g]):
            regrouped[end] = items[j] & (ROW | MISSING)
            if j == group[START, g]:
                regrouped[end] |= NEW
            end += 1
    for j in range(n_present, items.shape[0]):
        regrouped[j] = items[j] & (ROW | MISSING)
        if j == n_present:
            regrouped[j] |= NEW


@inner_kernel
def offer_sides(group, n_groups, missing_left, best_missing_left):
    """Turn ``group[OFFER]`` into its standard form and store it in ``group[SIDE]`` if it is preferred to the one there.

    ``group`` int64[5, g].

    Returns
    -------
    int
        Side of the missing rows of the stored one; ``best_missing_left`` is -1 while nothing is stored yet.
    """
    offer = group[OFFER]
    side = group[SIDE]
    n_left = 0
    for g in range(n_groups):
        n_left += offer[g]
    if 2 * n_left > n_groups or (2 * n_left == n_groups and offer[0] == 0):
        for g in range(n_groups):
            offer[g] = 1 - offer[g]
        n_left = n_groups - n_left
        missing_left = 1 - missing_left
    comes_first = best_missing_left < 0
    if not comes_first:
        kept = 0
        for g in range(n_groups):
            kept += side[g]
        if n_left != kept:
            comes_first = n_left < kept
        else:
            differs = -1
            for g in range(n_groups):
                if offer[g] != side[g]:
                    differs = g
                    break
            comes_first = offer[differs] == 1 if differs >= 0 else missing_left < best_missing_left
    if not comes_first:
        return best_missing_left
    for g in range(n_groups):
        side[g] = offer[g]
    return missing_left


@inner_kernel
def group_sums(stats, node, nodes, items, n_present, group, n_groups, sums, weights):
    """Sums and weight of each level, and of the missing rows in the last row; the node's sums are not touched.

    ``items`` int32[m], ``group`` int64[5, g], ``sums`` int64[g + 1, t], ``weights`` int64[g + 1].
    """
    sums[:] = 0
    for g in range(n_groups):
        weights[g] = add_rows(stats, items[group[START, g] : group[STOP, g]], sums[g])
    weights[n_groups] = add_rows(stats, items[n_present:], sums[n_groups])


@inner_kernel
def add_times(sums, others, factor):
    """Add other sums, times a factor. ``sums`` int64[t], ``others`` int64[t]."""
    for t in range(sums.shape[0]):
        sums[t] += factor * others[t]


@allocating_inner_kernel
def best_partition(stats, node, nodes, items, n_present, n_groups, limits, target, group):
    """Try every partition of the levels, with the missing rows on either side.

    Partitions come in Gray-code order, so each differs from the one before by one level. With a target, ``group[SIDE]``
    gets the first partition that reaches it, in the order of preference.

    ``items`` int32[m], ``group`` int64[5, g].

    Returns
    -------
    gain : float
    missing_left : int
        -1 if no partition was kept.
    """
    n_totals = nodes.totals.shape[1]
    sums = np.empty((n_groups + 1, n_totals), np.int64)
    weights = np.empty(n_groups + 1, np.int64)
    group_sums(stats, node, nodes, items, n_present, group, n_groups, sums, weights)
    n_missing = items.shape[0] - n_present
    left = np.zeros(n_totals, np.int64)
    left_weight = 0
    n_left = 0
    best = -1.0
    kept_missing = -1
    current = np.zeros(n_groups, np.int64)
    for step in range(1 << (n_groups - 1)):
        if step > 0:
            level = 0
            while (step >> level) & 1 == 0:
                level += 1
            sign = -1 if current[level] else 1
            current[level] = 1 - current[level]
            left_weight += sign * weights[level]
            n_left += sign * (group[STOP, level] - group[START, level])
            add_times(left, sums[level], sign)
        for missing_left in range(2 if n_missing > 0 else 1):
            if missing_left:
                add_times(left, sums[n_groups], 1)
            here_weight = left_weight + (weights[n_groups] if missing_left else 0)
            here = n_left + (n_missing if missing_left else 0)
            right_weight = nodes.weight[node] - here_weight
            gain = -1.0
            if (
                min(here, items.shape[0] - here) >= limits.min_leaf
                and min(here_weight, right_weight) >= limits.min_leaf_weight
            ):
                gain = gain_of(stats, node, nodes, left, here_weight)
            if missing_left:
                add_times(left, sums[n_groups], -1)
            best = max(best, gain)
            if target >= 0.0 and gain >= target:
                for g in range(n_groups):
                    group[OFFER, g] = current[g]
                kept_missing = offer_sides(group, n_groups, missing_left, kept_missing)
    return best, kept_missing


@allocating_inner_kernel
def principal_ranks(stats, node, nodes, items, group, n_groups, rank):
    """Rank each level by the projection of its mean sums on their first principal component, by the power method.

    ``items`` int32[m], ``group`` int64[5, g], ``rank`` float64[g].
    """
    n_totals = nodes.totals.shape[1]
    sums = np.empty(n_totals, np.int64)
    totals = nodes.totals[node]
    node_weight = float(nodes.weight[node])
    axis = np.zeros(n_totals)
    following = np.zeros(n_totals)
    for step in range(_POWER_STEPS):
        following[:] = 0.0
        largest = -1.0
        for g in range(n_groups):
            sums[:] = 0
            weight = float(add_rows(stats, items[group[START, g] : group[STOP, g]], sums))
            projection = 0.0
            spread = 0.0
            for t in range(n_totals):
                deviation = sums[t] / weight - totals[t] / node_weight
                projection += deviation * axis[t]
                spread += deviation * deviation
            rank[g] = projection
            if step == 0:  # begin with the level farthest from the mean
                if weight * spread > largest:
                    largest = weight * spread
                    for t in range(n_totals):
                        following[t] = sums[t] / weight - totals[t] / node_weight
                continue
            for t in range(n_totals):
                following[t] += weight * projection * (sums[t] / weight - totals[t] / node_weight)
        length = 0.0
        for t in range(n_totals):
            length += following[t] * following[t]
        if length == 0.0:
            return
        for t in range(n_totals):
            axis[t] = following[t] / np.sqrt(length)


@inner_kernel
def search_levels(stats, node, nodes, items, n_present, in_runs, limits, target, work):
    """The best subset of a nominal column's levels in one node.

    ``items`` int32[m].

    Parameters
    ----------
    stats, node, nodes, items, n_present, limits, target, work
        As ``means.scan_means``.
    in_runs : uint8
        1 if sets are first runs in the order of codes.

    Returns
    -------
    gain : float
        -1 if no split is allowed.
    n_groups : int
        Number of levels present. With a target, ``work.group[SIDE]`` holds the side of each.
    missing_left : int
        With a target: 1 if missing rows go left.
    """
    group = work.group
    n_missing = items.shape[0] - n_present
    n_groups = find_groups(items, n_present, group)
    if n_groups == 0 or n_groups + n_missing == 1:
        return -1.0, n_groups, 0
    if in_runs:
        for g in range(n_groups):
            work.rank[g] = g
    elif has_one_number(stats):
        for g in range(n_groups):
            work.rank[g] = level_rank(stats, node, nodes, items[group[START, g] : group[STOP, g]])
    elif n_groups <= EXHAUSTIVE_LEVELS:
        gain, missing_left = best_partition(stats, node, nodes, items, n_present, n_groups, limits, target, group)
        return gain, n_groups, missing_left
    else:
        principal_ranks(stats, node, nodes, items, group, n_groups, work.rank)
    order_groups(group, work.rank, n_groups)
    regroup(items, n_present, group, n_groups, work.regrouped)
    segment = work.regrouped[: items.shape[0]]
    position = -1
    way = 2 if target < 0.0 else 0
    kept_missing = -1
    while True:
        gain, position, _ = scan_cuts(stats, node, nodes, segment, n_present, limits, 0, target, position, way, work)
        if target < 0.0:
            return gain, n_groups, 0
        if position < 0:
            if way == 1 or n_missing == 0:
                return target, n_groups, kept_missing
            way = 1
            continue
        end = 0
        for i in range(n_groups):
            g = group[PLACE, i]
            end += group[STOP, g] - group[START, g]
            group[OFFER, g] = 1 if end <= position + 1 else 0
        kept_missing = offer_sides(group, n_groups, way, kept_missing)
