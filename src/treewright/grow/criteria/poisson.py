"""Cuts and nodes for the half Poisson deviance. In: ``PoissonStats``.

With sums s and weights w of the sides, the deviance falls by ``s_l log(s_l / w_l) + s_r log(s_r / w_r) - s log(s / w)``
(Breiman et al. 1984, section 8; the deviance of a Poisson model whose rate is the mean of the side). A side without any
event has no such model and is not allowed, as in rpart and scikit-learn.
"""

from __future__ import annotations

import numpy as np

from treewright.core.elementary import log
from treewright.core.jit import inner_kernel
from treewright.grow.criteria.means import (
    add_mean_rows,
    cut_range,
    is_one_mean,
    mean_prediction,
    mean_rank,
    never_few,
    place_nothing,
)
from treewright.grow.layout import ROW, SMALLEST


@inner_kernel
def information(total, weight):
    """``s log(s / w)``; -1 stands for "no event"."""
    if total <= 0:
        return -np.inf
    return float(total) * log(float(total) / float(weight))


@inner_kernel
def poisson_gain(totals, weight, left, left_weight):
    """Gain of a split with these sums on the left; -1 if a side has no event.

    ``totals`` int64[t], ``left`` int64[t].
    """
    gain = 0.0
    for t in range(left.shape[0]):
        gain += information(left[t], left_weight) + information(totals[t] - left[t], weight - left_weight)
        gain -= information(totals[t], weight)
    return max(gain, 0.0) if gain > -np.inf and gain == gain else -1.0


@inner_kernel
def means_are_ordered(total, weight, left, left_weight, direction, low, high):
    """Whether the means obey the column's direction and stay in the node's interval."""
    left_mean = float(left) / float(left_weight)
    right_mean = float(total - left) / float(weight - left_weight)
    inside = min(left_mean, right_mean) >= low and max(left_mean, right_mean) <= high
    return inside and (left_mean - right_mean) * direction <= 0.0


@inner_kernel
def add_row(values, weights, row, left):
    """Add a row to the sums; returns its weight.

    ``values`` int64[t, n], ``weights`` int64[n or 0], ``left`` int64[t].
    """
    for t in range(left.shape[0]):
        left[t] += values[t, row]
    return weights[row] if weights.shape[0] > 0 else 1


def scan_poisson(stats, node, nodes, items, n_present, limits, direction, target, after, way, work):
    """The best cut of one node in one column; parameters and result as ``means.scan_means``. ``items`` int32[m]."""
    n_missing = items.shape[0] - n_present
    weight = nodes.weight[node]
    totals = nodes.totals[node]
    left = work.left[: stats.values.shape[0]]
    best = -1.0
    found = -1
    found_left = 0
    for missing_left in range(2 if n_missing > 0 else 1):
        if way < 2 and way != missing_left:
            continue
        first, last = cut_range(n_present, n_missing, missing_left, limits.min_leaf, after)
        left[:] = 0
        left_weight = 0
        if missing_left:
            for i in range(n_present, items.shape[0]):
                left_weight += add_row(stats.values, stats.weights, items[i] & ROW, left)
        for i in range(last):
            left_weight += add_row(stats.values, stats.weights, items[i] & ROW, left)
            if i < first or items[i + 1] >= 0:
                continue
            if min(left_weight, weight - left_weight) < limits.min_leaf_weight:
                continue
            if limits.is_monotone and not means_are_ordered(
                totals[0], weight, left[0], left_weight, direction, nodes.low[node], nodes.high[node]
            ):
                continue
            gain = poisson_gain(totals, weight, left, left_weight)
            best = max(best, gain)
            if target >= 0.0 and gain >= target:
                if found < 0 or i < found:
                    found = i
                    found_left = missing_left
                break
    left[:] = 0
    return best, found, found_left


def summarise_poisson(stats, node, nodes, items):
    """Fill in a new node; parameters and result as ``means.summarise_means``. ``items`` int32[m]."""
    totals = nodes.totals[node]
    totals[:] = 0
    weight = 0
    for i in range(items.shape[0]):
        weight += add_row(stats.values, stats.weights, items[i] & ROW, totals)
    nodes.weight[node] = weight
    deviance = 0.0
    size = 0.0
    pure = True
    for t in range(totals.shape[0]):
        values = stats.values[t]
        targets = stats.targets[t]
        first = targets[items[0] & ROW]
        for i in range(items.shape[0]):
            row = items[i] & ROW
            w = stats.weights[row] if stats.weights.shape[0] > 0 else 1
            if values[row] > 0:
                deviance += information(values[row], w)
            pure = pure and targets[row] == first
        if totals[t] > 0:
            deviance -= information(totals[t], weight)
        size += float(totals[t])
    nodes.impurity[node] = 0.0 if pure else max(deviance / (float(weight) * totals.shape[0]) * stats.unit, SMALLEST)
    nodes.tolerance[node] = max(deviance, size) * 1e-12
    return pure


def gain_of_poisson(stats, node, nodes, left, left_weight):
    """Gain of sending rows with these sums, ``left`` int64[t], and this weight to the left."""
    return poisson_gain(nodes.totals[node], nodes.weight[node], left, left_weight)


KERNELS = {
    "scan": scan_poisson,
    "few": never_few,
    "summarise": summarise_poisson,
    "rank": mean_rank,
    "gain": gain_of_poisson,
    "add": add_mean_rows,
    "one": is_one_mean,
    "place": place_nothing,
    "prediction": mean_prediction,
}
