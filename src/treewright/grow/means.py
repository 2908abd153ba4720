"""Cuts and nodes for means: squared error, and Gini of two classes. In: ``MeanStats``. Caller: grow.families.

Both are one formula. With deviations measured from the node's mean, a side with weight w_l and sum of deviations d gains
``d**2 W / (w_l w_r)`` (the sum of squares between the branches). Gini of two classes coded -1 and 1 is half of it: the variance of
that code is 4 p (1 - p) and Gini is 2 p (1 - p) (Breiman et al. 1984, section 4.3 and 8.3).
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import inner_kernel
from treewright.grow.layout import BLOCK, ROW


@inner_kernel
def cut_range(n_present, n_missing, missing_left, min_leaf, after):  # type: ignore[no-untyped-def]
    """First and one-past-last position of a cut: position i puts items 0..i to the left.

    With missing cells on the right, the cut behind the last present item parts present from missing.
    """
    if missing_left:
        first = max(min_leaf - 1 - n_missing, 0)
        last = min(n_present - min_leaf, n_present - 1)
    else:
        first = max(min_leaf - 1, 0)
        last = min(n_present + n_missing - min_leaf, n_present - 1 + (1 if n_missing > 0 else 0))
    return max(first, after + 1), last


@inner_kernel
def missing_sums(stats, node, nodes, items, n_present, carry):  # type: ignore[no-untyped-def]
    """Clear the running sums (``carry[:t]``), put those of the missing rows into ``carry[t:2t]``; their weight is returned."""
    n_stats = stats.values.shape[0]
    has_weights = stats.weights.shape[0] > 0
    carry[: 2 * n_stats] = 0
    weight = 0
    for i in range(n_present, items.shape[0]):
        row = items[i] & ROW
        w = stats.weights[row] if has_weights else 1
        weight += w
        for t in range(n_stats):
            carry[n_stats + t] += np.int64(stats.values[t, row]) - (nodes.totals[node, t] // nodes.weight[node]) * w
    return weight


@inner_kernel
def accumulate_block(stats, node, nodes, items, start, stop, weight_before, missing, missing_weight, work):  # type: ignore[no-untyped-def]
    """Prefix sums of one block, and from them the squared deviation of the left side for either way of the missing rows."""
    n_stats = stats.values.shape[0]
    has_weights = stats.weights.shape[0] > 0
    node_weight = nodes.weight[node]
    size = stop - start
    sums = work.sums
    weights = work.weights
    gains = work.gains
    if has_weights:
        w = weight_before
        for j in range(size):
            w += stats.weights[items[start + j] & ROW]
            weights[j] = w
        weight_before = w
    else:
        for j in range(size):
            weights[j] = start + j + 1
    for t in range(n_stats):
        # Measured from the whole part of the node's mean the sums stay small, so that the one rounding left (the rest of the mean)
        # does not swallow small gains.
        centre = nodes.totals[node, t] // node_weight
        rest = float(nodes.totals[node, t] - centre * node_weight) / float(node_weight)
        running = work.carry[t]
        values = stats.values[t]
        if has_weights:
            for j in range(size):
                row = items[start + j] & ROW
                running += np.int64(values[row]) - centre * stats.weights[row]
                sums[j] = running
        else:
            for j in range(size):
                running += np.int64(values[items[start + j] & ROW]) - centre
                sums[j] = running
        work.carry[t] = running
        keep = 0.0 if t == 0 else 1.0
        for j in range(size):
            deviation = float(sums[j]) - weights[j] * rest
            gains[j] = deviation * deviation + (gains[j] if keep > 0.0 else 0.0)
        if missing > 0:
            shift = float(work.carry[n_stats + t]) - missing_weight * rest
            for j in range(size):
                deviation = float(sums[j]) - weights[j] * rest + shift
                gains[BLOCK + j] = deviation * deviation + (gains[BLOCK + j] if keep > 0.0 else 0.0)
    return weight_before


@inner_kernel
def finish_block(gains, weights, flags, extra, total, min_weight):  # type: ignore[no-untyped-def]
    """Turn squared deviations into gains, -1 where no cut is allowed.

    Parameters
    ----------
    gains, weights : float64[k], INOUT and IN
    flags : int32[k], IN
        The items behind each cut; negative where a new value starts.
    extra, total, min_weight : float
        Weight of missing rows on the left, of the node, and the least of a branch.
    """
    for j in range(gains.shape[0]):
        left = weights[j] + extra
        right = total - left
        gain = gains[j] * total / (left * right)
        allowed = (flags[j] < 0) & (left >= min_weight) & (right >= min_weight)
        gains[j] = gain if allowed else -1.0


@inner_kernel
def largest(gains):  # type: ignore[no-untyped-def]
    """The largest gain; -1 if there is none.

    Gains are -1 or not negative, so their bits compare as integers, and an integer maximum vectorises where a float's does not.
    """
    bits = gains.view(np.int64)
    best = np.int64(-1)
    for j in range(bits.shape[0]):
        best = max(best, bits[j])
    if best < 0:
        return -1.0
    for j in range(bits.shape[0]):
        if bits[j] == best:
            return gains[j]
    return -1.0


@inner_kernel
def forbid_unordered(gains, weights, sums, shift, extra, node, nodes, direction, centre):  # type: ignore[no-untyped-def]
    """Withdraw cuts whose branches break a monotone constraint or leave the node's interval (one output)."""
    total = float(nodes.totals[node, 0])
    total_weight = float(nodes.weight[node])
    for j in range(gains.shape[0]):
        left = weights[j] + extra
        left_sum = float(sums[j]) + shift + centre * left
        left_mean = left_sum / left
        right_mean = (total - left_sum) / (total_weight - left)
        ordered = (left_mean - right_mean) * direction <= 0.0
        low = min(left_mean, right_mean) >= nodes.low[node]
        high = max(left_mean, right_mean) <= nodes.high[node]
        if not (ordered and low and high):
            gains[j] = -1.0


def scan_means(stats, node, nodes, items, n_present, limits, direction, target, after, way, work):  # type: ignore[no-untyped-def]
    """The best cut of one node in one column.

    Parameters
    ----------
    stats : MeanStats
    node : int
    nodes : Nodes
    items : int32[m], IN
        The node's segment of the column, missing items last.
    n_present : int
        Items that are not missing.
    limits : Limits
    direction : int
        The column's monotone constraint.
    target : float
        Negative: find the largest gain. Else: find the first cut with at least this gain.
    after : int
        Only cuts behind this position count; -1 for all.
    way : int
        Where missing rows may go: 0 right, 1 left, 2 either.
    work : Work

    Returns
    -------
    gain : float
        -1 where no cut is allowed.
    position : int
        With a target: items 0..position go left; -1 where there is none.
    missing_left : int
        With a target: 1 where missing rows go left. At equal gain the earlier cut, then right.
    """
    n_missing = items.shape[0] - n_present
    n_stats = stats.values.shape[0]
    missing_weight = float(missing_sums(stats, node, nodes, items, n_present, work.carry))
    total = float(nodes.weight[node])
    centre = float(nodes.totals[node, 0] // nodes.weight[node])
    best = -1.0
    weight_before = 0
    for start in range(0, n_present, BLOCK):
        stop = min(start + BLOCK, n_present)
        weight_before = accumulate_block(
            stats, node, nodes, items, start, stop, weight_before, n_missing, missing_weight, work
        )
        found = -1
        found_left = 0
        for missing_left in range(2 if n_missing > 0 else 1):
            if way < 2 and way != missing_left:
                continue
            first, last = cut_range(n_present, n_missing, missing_left, limits.min_leaf, after)
            first = max(first, start)
            last = min(last, stop)
            if first >= last:
                continue
            gains = work.gains[missing_left * BLOCK + first - start : missing_left * BLOCK + last - start]
            weights = work.weights[first - start : last - start]
            extra = missing_weight if missing_left else 0.0
            finish_block(gains, weights, items[first + 1 : last + 1], extra, total, float(limits.min_leaf_weight))
            if limits.is_monotone:
                shift = float(work.carry[n_stats]) if missing_left else 0.0
                sums = work.sums[first - start : last - start]
                forbid_unordered(gains, weights, sums, shift, extra, node, nodes, direction, centre)
            block_best = largest(gains)
            best = max(best, block_best)
            if target < 0.0 or block_best < target:
                continue
            for j in range(gains.shape[0]):
                if gains[j] >= target:
                    if found < 0 or first + j < found:
                        found = first + j
                        found_left = missing_left
                    break
        if found >= 0:
            return target, found, found_left
    return best, -1, 0


def summarise_means(stats, node, nodes, items):  # type: ignore[no-untyped-def]
    """Fill in a new node: totals, weight, impurity, tolerance; returns whether all targets are equal.

    Parameters
    ----------
    items : int32[m], IN
        The node's rows, in any order.
    """
    n_stats = stats.values.shape[0]
    has_weights = stats.weights.shape[0] > 0
    weight = items.shape[0]
    if has_weights:
        weight = 0
        for i in range(items.shape[0]):
            weight += stats.weights[items[i] & ROW]
    nodes.weight[node] = weight
    squares = 0.0
    pure = True
    for t in range(n_stats):
        values = stats.values[t]
        total = 0
        for i in range(items.shape[0]):
            total += np.int64(values[items[i] & ROW])
        nodes.totals[node, t] = total
        if stats.is_gini:
            share = float(total) / float(weight)
            squares += (1.0 - share * share) * float(weight)
            pure = pure and abs(total) == weight
            continue
        centre = total // weight
        rest = float(total - centre * weight) / float(weight)
        targets = stats.targets[t]
        first = targets[items[0] & ROW]
        for i in range(items.shape[0]):
            row = items[i] & ROW
            w = stats.weights[row] if has_weights else 1
            deviation = float(np.int64(values[row]) - centre * w) - rest * w
            squares += deviation * deviation / w
            pure = pure and targets[row] == first
    nodes.impurity[node] = 0.0 if pure else squares * stats.factor / weight
    nodes.tolerance[node] = squares * 1e-12
    return pure


def mean_rank(stats, node, nodes, items):  # type: ignore[no-untyped-def]
    """What a level is ordered by: the mean of its rows (first output)."""
    has_weights = stats.weights.shape[0] > 0
    centre = nodes.totals[node, 0] // nodes.weight[node]
    total = 0
    weight = 0
    for i in range(items.shape[0]):
        row = items[i] & ROW
        w = stats.weights[row] if has_weights else 1
        total += np.int64(stats.values[0, row]) - centre * w
        weight += w
    return float(total) / float(weight)


def gain_of_means(stats, node, nodes, left, left_weight):  # type: ignore[no-untyped-def]
    """Gain of sending rows with these totals and this weight to the left."""
    weight = nodes.weight[node]
    squares = 0.0
    for t in range(left.shape[0]):
        centre = nodes.totals[node, t] // weight
        rest = float(nodes.totals[node, t] - centre * weight) / float(weight)
        deviation = float(left[t] - centre * left_weight) - rest * float(left_weight)
        squares += deviation * deviation
    return squares * float(weight) / (float(left_weight) * float(weight - left_weight))


def add_mean_rows(stats, items, totals):  # type: ignore[no-untyped-def]
    """Add the sums of some rows to ``totals``; returns their weight."""
    has_weights = stats.weights.shape[0] > 0
    weight = 0
    for i in range(items.shape[0]):
        row = items[i] & ROW
        weight += stats.weights[row] if has_weights else 1
        for t in range(stats.values.shape[0]):
            totals[t] += np.int64(stats.values[t, row])
    return weight


def is_one_mean(stats):  # type: ignore[no-untyped-def]
    """Whether one number a row says all: then the order of levels by mean holds an optimal subset."""
    return stats.values.shape[0] == 1


def mean_prediction(stats, node, nodes):  # type: ignore[no-untyped-def]
    """The node's mean, in steps per unit of weight."""
    return float(nodes.totals[node, 0]) / float(nodes.weight[node])


def place_nothing(stats, columns, lo, hi):  # type: ignore[no-untyped-def]
    """Means need no order of the targets."""


KERNELS = {
    "scan": scan_means,
    "summarise": summarise_means,
    "rank": mean_rank,
    "gain": gain_of_means,
    "add": add_mean_rows,
    "one": is_one_mean,
    "place": place_nothing,
    "prediction": mean_prediction,
}
