"""Nodes of a few rows. In: bins and statistics of the rows. Out: the best cut.

Caller: grow.binned.step.

Most nodes of a full tree have less than thirty rows. With histograms for those too a tree took 280 ms, sorted by
insertion and summed in registers 252 (covertype, one thread; extra-trees on 200,000 x 28 240 and 197). The gains are
those of ``histograms``: the same integers, the same formulas.
"""

from __future__ import annotations

import numpy as np
from numba.core import types
from numba.extending import overload

from treewright.core.jit import bare_inner_kernel
from treewright.grow.counts import gain_of_sides, term, term_scale
from treewright.grow.layout import NOT_FEW
from treewright.grow.settings import GINI, MISCLASSIFICATION
from treewright.grow.statistics import CountStats, MeanStats


@bare_inner_kernel
def first_of_few(keys, gains, m, best, tolerance):
    """The bins beside the first cut that gains as much but for roundings."""
    target = max(best - tolerance, 0.0)
    for i in range(m - 1):
        if keys[i] != keys[i + 1] and gains[i] >= target:
            return np.int64(keys[i]), np.int64(keys[i + 1])
    return -1, -1


@bare_inner_kernel
def few_of_means(values, weights, total_sum, node_weight, min_weight, tolerance, keys, order, m, gains):
    """``few`` for means, of sorted rows."""
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


@bare_inner_kernel
def few_of_counts(
    labels, weights, offsets, criterion, table, table_scale, totals, node_weight, score, min_weight, tolerance, keys,
    order, m, left, gains,
):  # fmt: skip
    """``few`` for class counts of one output, of sorted rows."""
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


_CUT = {MeanStats: cut_few_means, CountStats: cut_few_counts}


def cut_few(stats, node, nodes, keys, order, m, limits, work):
    """The best cut of a few sorted rows without missing cells or constraints.

    Parameters
    ----------
    keys, order : int32[m], IN
        Bins, ascending, and their rows.

    Returns
    -------
    gain : float
        -1 where no cut is allowed, ``NOT_FEW`` where these statistics have no short cut.
    before, after : int
        The bins beside the cut.
    """
    family = stats.instance_class if isinstance(stats, types.BaseNamedTuple) else type(stats)
    return _CUT.get(family, cut_none)(stats, node, nodes, keys, order, m, limits, work)


@overload(cut_few, inline="always")
def _cut_few(stats, node, nodes, keys, order, m, limits, work):
    return _CUT.get(stats.instance_class, cut_none)
