"""Cuts and nodes for means: squared error, and two classes. In: ``MeanStats``.

Squared error and Gini are one formula. With deviations measured from the node's mean, a side with weight w_l and sum of
deviations d gains ``d**2 W / (w_l w_r)`` (the sum of squares between the branches). Gini of two classes coded -1 and 1
is half of it: the variance of that code is 4 p (1 - p) and Gini is 2 p (1 - p) (Breiman et al. 1984, section 4.3 and
8.3). The entropy of two classes is computed from the same sums.
"""

from __future__ import annotations

import math

import numpy as np

from treewright.core.jit import inner_kernel
from treewright.grow.layout import BLOCK, NOT_FEW, ROW, SMALLEST

FEW = 64  # items below which a plain loop is faster than the blocks


@inner_kernel
def cut_range(n_present, n_missing, missing_left, min_leaf, after):
    """First and one-past-last position of a cut: position i puts items 0..i to the left.

    With missing cells on the right, the cut after the last present item separates present from missing.
    """
    if missing_left:
        first = max(min_leaf - 1 - n_missing, 0)
        last = min(n_present - min_leaf, n_present - 1)
    else:
        first = max(min_leaf - 1, 0)
        last = min(n_present + n_missing - min_leaf, n_present - 1 + (1 if n_missing > 0 else 0))
    return max(first, after + 1), last


@inner_kernel
def missing_sums(values, weights, totals, node_weight, items, n_present, carry, is_centred):
    """Clear the running sums (``carry[:t]``), put those of the missing rows into ``carry[t:2t]``.

    Their weight is returned.

    ``values`` int8 or int64[t, n], ``weights`` int64[n or 0], ``totals`` int64[t], ``items`` int32[m], ``carry``
    int64[3 * t].
    """
    n_stats = values.shape[0]
    has_weights = weights.shape[0] > 0
    for t in range(2 * n_stats):
        carry[t] = 0
    weight = 0
    for i in range(n_present, items.shape[0]):
        row = items[i] & ROW
        w = weights[row] if has_weights else 1
        weight += w
        for t in range(n_stats):
            centre = totals[t] // node_weight if is_centred else 0
            carry[n_stats + t] += np.int64(values[t, row]) - centre * w
    return weight


@inner_kernel
def sum_weights(fixed, items, start, weight_before, weights):
    """Weight up to each item of a block; returns the weight up to its end.

    ``fixed`` int64[n or 0], ``items`` int32[k], ``weights`` float64[k].
    """
    if fixed.shape[0] == 0:
        for j in range(weights.shape[0]):
            weights[j] = start + j + 1
        return weight_before
    w = weight_before
    for j in range(weights.shape[0]):
        w += fixed[items[j] & ROW]
        weights[j] = w
    return w


@inner_kernel
def sum_deviations(values, fixed, centre, items, running, sums):
    """Sum of ``values - centre * weight`` up to each item of a block; returns the sum up to its end.

    ``values`` int8 or int64[n], ``fixed`` int64[n or 0], ``items`` int32[k], ``sums`` int64[k].
    """
    if fixed.shape[0] > 0:
        for j in range(items.shape[0]):
            row = items[j] & ROW
            running += np.int64(values[row]) - centre * fixed[row]
            sums[j] = running
    else:
        for j in range(items.shape[0]):
            running += np.int64(values[items[j] & ROW]) - centre
            sums[j] = running
    return running


@inner_kernel
def add_squares(sums, weights, rest, shift, is_first, squares):
    """Square the deviation of the left side, and add it to the squares of the other outputs.

    ``sums`` int64[k], ``weights`` float64[k], ``squares`` float64[k].
    """
    if is_first:
        for j in range(sums.shape[0]):
            deviation = float(sums[j]) - weights[j] * rest + shift
            squares[j] = deviation * deviation
    else:
        for j in range(sums.shape[0]):
            deviation = float(sums[j]) - weights[j] * rest + shift
            squares[j] += deviation * deviation


@inner_kernel
def finish_block(gains, weights, flags, extra, total, min_weight):
    """Turn squared deviations into gains, -1 if no cut is allowed.

    Parameters
    ----------
    gains, weights : float64[k], INOUT and IN
    flags : int32[k], IN
        The item after each cut; negative if a new value starts there.
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
def entropy_terms(weight, second, table):
    """The terms of a side with so many rows of the second class in a score, in steps of the table.

    ``table`` int64[n + 1].
    """
    return table[second] + table[weight - second] - table[weight]


@inner_kernel
def entropy_block(gains, weights, sums, flags, extra, shift, total, total_sum, table, scale, min_weight):
    """Gains of a block in bits times rows, from the counts of two classes coded -1 and 1; -1 if no cut is allowed.

    A side with l rows and sum s holds (l + s) / 2 rows of the second class. ``table`` holds c log2 c in fixed point, so
    equal counts give equal gains.

    ``gains`` float64[k], ``weights`` float64[k], ``sums`` int64[k], ``flags`` int32[k], ``table`` int64[n + 1].
    """
    second = (total + total_sum) >> 1
    score = entropy_terms(total, second, table)
    for j in range(gains.shape[0]):
        left = np.int64(weights[j]) + extra
        right = total - left
        left_second = (left + sums[j] + shift) >> 1
        sides = entropy_terms(left, left_second, table) + entropy_terms(right, second - left_second, table)
        allowed = (flags[j] < 0) & (left >= min_weight) & (right >= min_weight)
        gains[j] = max(float(sides - score) / scale, 0.0) if allowed else -1.0


@inner_kernel
def best_of_few(values, fixed, total, node_weight, items, min_leaf, min_leaf_weight):
    """The largest gain of a few present items: the numbers of ``finish_block``, without blocks.

    ``values`` int8 or int64[n], ``fixed`` int64[n or 0], ``items`` int32[m].
    """
    has_weights = fixed.shape[0] > 0
    centre = total // node_weight
    weight = float(node_weight)
    rest = float(total - centre * node_weight) / weight
    min_weight = float(min_leaf_weight)
    first, last = cut_range(items.shape[0], 0, 0, min_leaf, -1)
    running = 0
    running_weight = 0
    best = -1.0
    for i in range(last):
        row = items[i] & ROW
        w = fixed[row] if has_weights else 1
        running += np.int64(values[row]) - centre * w
        running_weight += w
        left = float(running_weight)
        right = weight - left
        if i >= first and items[i + 1] < 0 and left >= min_weight and right >= min_weight:
            deviation = float(running) - left * rest
            best = max(best, deviation * deviation * weight / (left * right))
    return best


@inner_kernel
def largest(gains):
    """The largest gain; -1 if there is none.

    Gains are -1 or not negative, so their bits compare as integers, and an integer maximum vectorises where a float's
    does not.

    ``gains`` float64[k].
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
def forbid_unordered(gains, weights, sums, shift, extra, total, total_weight, direction, low, high, is_centred):
    """Forbid cuts whose branches break a monotone constraint or leave the node's interval (one output).

    ``gains`` float64[k], ``weights`` float64[k], ``sums`` int64[k].
    """
    centre = float(total // total_weight) if is_centred else 0.0
    for j in range(gains.shape[0]):
        left = weights[j] + extra
        left_sum = float(sums[j]) + shift + centre * left
        left_mean = left_sum / left
        right_mean = (float(total) - left_sum) / (float(total_weight) - left)
        is_ordered = (left_mean - right_mean) * direction <= 0.0
        if not (is_ordered and min(left_mean, right_mean) >= low and max(left_mean, right_mean) <= high):
            gains[j] = -1.0


def few_of_means(stats, items, totals, node_weight, min_leaf, min_leaf_weight):
    """The largest gain of a short segment without missing items, for one target without constraints; else ``NOT_FEW``.

    Half of the nodes of a full tree have two or three rows. There the blocks of ``scan_means``, and passing all arrays
    to it, take ten times as long as the sums.

    ``items`` int32[m], ``totals`` int64[t].
    """
    if items.shape[0] > FEW or stats.values.shape[0] != 1 or stats.table.shape[0] > 0:
        return NOT_FEW
    return best_of_few(stats.values[0], stats.weights, totals[0], node_weight, items, min_leaf, min_leaf_weight)


def scan_means(stats, node, nodes, items, n_present, limits, direction, target, after, way, work):
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
        Only cuts after this position count; -1 for all.
    way : int
        Sides that missing rows may take: 0 right, 1 left, 2 either.
    work : Work

    Returns
    -------
    gain : float
        -1 if no cut is allowed.
    position : int
        With a target: items 0..position go left; -1 if there is none.
    missing_left : int
        With a target: 1 if missing rows go left. At equal gain the earlier cut, then right.
    """
    n_missing = items.shape[0] - n_present
    values = stats.values
    fixed = stats.weights
    n_stats = values.shape[0]
    totals = nodes.totals[node]
    node_weight = nodes.weight[node]
    carry = work.carry
    table = stats.table
    is_entropy = table.shape[0] > 0
    missing_weight = float(missing_sums(values, fixed, totals, node_weight, items, n_present, carry, not is_entropy))
    total = float(node_weight)
    best = -1.0
    weight_before = 0
    for start in range(0, n_present, BLOCK):
        stop = min(start + BLOCK, n_present)
        block = items[start:stop]
        sums = work.sums[: stop - start]
        weights = work.weights[: stop - start]
        weight_before = sum_weights(fixed, block, start, weight_before, weights)
        for t in range(n_stats):
            # Measured from the whole part of the node's mean the sums stay small, so that the one rounding left (the
            # rest of the mean) does not swallow small gains.
            centre = 0 if is_entropy else totals[t] // node_weight
            rest = float(totals[t] - centre * node_weight) / total
            carry[t] = sum_deviations(values[t], fixed, centre, block, carry[t], sums)
            if is_entropy:
                continue
            add_squares(sums, weights, rest, 0.0, t == 0, work.gains[: stop - start])
            if n_missing > 0:
                shift = float(carry[n_stats + t]) - missing_weight * rest
                add_squares(sums, weights, rest, shift, t == 0, work.gains[BLOCK : BLOCK + stop - start])
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
            here = weights[first - start : last - start]
            extra = missing_weight if missing_left else 0.0
            flags = items[first + 1 : last + 1]
            if is_entropy:
                shift = carry[n_stats] if missing_left else 0
                entropy_block(
                    gains, here, sums[first - start : last - start], flags, np.int64(extra), shift, node_weight,
                    totals[0], table, stats.table_scale, limits.min_leaf_weight,
                )  # fmt: skip
            else:
                finish_block(gains, here, flags, extra, total, float(limits.min_leaf_weight))
            if limits.is_monotone:
                missing_sum = float(carry[n_stats]) if missing_left else 0.0
                forbid_unordered(
                    gains, here, sums[first - start : last - start], missing_sum, extra, totals[0], node_weight,
                    direction, nodes.low[node], nodes.high[node], not is_entropy,
                )  # fmt: skip
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


@inner_kernel
def whole_squares(values, fixed, centre, items):
    """Sum of ``weight * (value / weight - centre)**2``, for whole weights: exact, so in any order, then rounded.

    A product of two 64-bit numbers is put together from those of their halves, each added up separately. No sum passes
    2**63: deviations from the centre of a node add up to 2**62 at most (``fixed_products``). The sum of two words is
    carried before it is rounded: a row of weight 2 has other halves than two rows.

    ``values`` int8 or int64[n], ``fixed`` int64[n or 0], ``items`` int32[m].
    """
    has_weights = fixed.shape[0] > 0
    half, low_half = np.uint64(32), np.uint64(0xFFFFFFFF)
    high = np.uint64(0)
    across = np.uint64(0)
    carried = np.uint64(0)
    low = np.uint64(0)
    for i in range(items.shape[0]):
        row = items[i] & ROW
        w = fixed[row] if has_weights else np.int64(1)
        whole = abs(np.int64(values[row]) - centre * w)
        a = np.uint64(whole)
        b = np.uint64(whole // w) if has_weights else a
        a_high, a_low, b_high, b_low = a >> half, a & low_half, b >> half, b & low_half
        high += a_high * b_high
        across += a_high * b_low + a_low * b_high
        product = a_low * b_low
        carried += product >> half
        low += product & low_half
    middle = across + (low >> half)
    high += (middle >> half) + (carried >> half)
    middle = (middle & low_half) + (carried & low_half)
    high += middle >> half
    return float(high) * 2.0**64 + float((middle << half) | (low & low_half))


@inner_kernel
def weighed_squares(values, weights, centre, rest, items):
    """Sum of the squared distances of a node's rows from its mean, for weights that are not numbers of rows.

    Added up as whole numbers, in a unit set by the largest of them: the same in any order of rows.

    Parameters
    ----------
    values, weights : int64[n], IN
    centre, rest : int64, float
        The node's mean.
    items : int32[m], IN
    """
    largest = 0.0
    for i in range(items.shape[0]):
        w = weights[items[i] & ROW]
        deviation = float(np.int64(values[items[i] & ROW]) - centre * w) - rest * w
        largest = max(largest, deviation * deviation / w)
    if largest == 0.0:
        return 0.0
    scale = math.ldexp(1.0, 61 - math.frexp(float(items.shape[0]))[1] - math.frexp(largest)[1])
    total = 0
    for i in range(items.shape[0]):
        w = weights[items[i] & ROW]
        deviation = float(np.int64(values[items[i] & ROW]) - centre * w) - rest * w
        total += np.int64(np.rint(deviation * deviation / w * scale))
    return float(total) / scale


def summarise_means(stats, node, nodes, items):
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
        if stats.is_classes:
            share = float(total) / float(weight)
            squares += (1.0 - share * share) * float(weight)
            pure = pure and abs(total) == weight
            continue
        centre = total // weight
        rest = float(total - centre * weight) / float(weight)
        targets = stats.targets[t]
        first = targets[items[0] & ROW]
        for i in range(items.shape[0]):
            pure = pure and targets[items[i] & ROW] == first
        if stats.is_whole:
            about_centre = whole_squares(values, stats.weights, centre, items)
            squares += max(about_centre - rest * rest * float(weight), 0.0)
            continue
        squares += weighed_squares(values, stats.weights, centre, rest, items)
    nodes.tolerance[node] = squares * 1e-12
    impurity = squares / weight * stats.unit * stats.unit * stats.factor
    if stats.table.shape[0] > 0:
        second = (weight + nodes.totals[node, 0]) >> 1
        bits = stats.table[weight] - stats.table[second] - stats.table[weight - second]
        impurity = float(bits) / stats.table_scale / weight
        # Rounding of the table: half a step per entry.
        nodes.tolerance[node] = float(weight) * 1e-12 + 16.0 / stats.table_scale
    nodes.impurity[node] = 0.0 if pure else max(impurity, SMALLEST)
    return pure


def mean_rank(stats, node, nodes, items):
    """The number that orders levels: the mean of a level's rows (first output). ``items`` int32[m]."""
    has_weights = stats.weights.shape[0] > 0
    centre = nodes.totals[node, 0] // nodes.weight[node]
    total = 0
    weight = 0
    for i in range(items.shape[0]):
        row = items[i] & ROW
        w = stats.weights[row] if has_weights else 1
        total += np.int64(stats.values[0, row]) - centre * w
        weight += w
    # Whole part and rest: a sum beyond 2**53 would be rounded, and equal means must have equal ranks.
    return float(total // weight) + float(total % weight) / float(weight)


def gain_of_means(stats, node, nodes, left, left_weight):
    """Gain of sending rows with these totals, ``left`` int64[t], and this weight to the left."""
    weight = nodes.weight[node]
    if stats.table.shape[0] > 0:
        second = (weight + nodes.totals[node, 0]) >> 1
        left_second = (left_weight + left[0]) >> 1
        sides = entropy_terms(left_weight, left_second, stats.table)
        sides += entropy_terms(weight - left_weight, second - left_second, stats.table)
        return max(float(sides - entropy_terms(weight, second, stats.table)) / stats.table_scale, 0.0)
    squares = 0.0
    for t in range(left.shape[0]):
        centre = nodes.totals[node, t] // weight
        rest = float(nodes.totals[node, t] - centre * weight) / float(weight)
        deviation = float(left[t] - centre * left_weight) - rest * float(left_weight)
        squares += deviation * deviation
    return squares * float(weight) / (float(left_weight) * float(weight - left_weight))


def add_mean_rows(stats, items, totals):
    """Add the sums of some rows, ``items`` int32[m], to ``totals`` int64[t]; returns their weight."""
    has_weights = stats.weights.shape[0] > 0
    weight = 0
    for i in range(items.shape[0]):
        row = items[i] & ROW
        weight += stats.weights[row] if has_weights else 1
        for t in range(stats.values.shape[0]):
            totals[t] += np.int64(stats.values[t, row])
    return weight


def is_one_mean(stats):
    """Whether one number describes a row: the order of levels by mean then contains an optimal subset."""
    return stats.values.shape[0] == 1


def mean_prediction(stats, node, nodes):
    """The node's mean, in steps per unit of weight."""
    return float(nodes.totals[node, 0]) / float(nodes.weight[node])


def never_few(stats, items, totals, node_weight, min_leaf, min_leaf_weight):
    """No short cut for short segments; arguments as ``few_of_means``, ``items`` int32[m] and ``totals`` int64[t]."""
    return NOT_FEW


def place_nothing(stats, columns, lo, hi):
    """Means need no order of the targets."""


KERNELS = {
    "scan": scan_means,
    "few": few_of_means,
    "summarise": summarise_means,
    "rank": mean_rank,
    "gain": gain_of_means,
    "add": add_mean_rows,
    "one": is_one_mean,
    "place": place_nothing,
    "prediction": mean_prediction,
}
