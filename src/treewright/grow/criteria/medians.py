"""Absolute error: distances to medians of cuts, of nodes and of partitions. In: ``MedianStats``, rows. Out: costs.

A median cannot be computed from sums, so this criterion reads the rows themselves: O(m log m) for all cuts of a column,
and a sort for each partition of a nominal one.

The error of a side is the sum of distances to its weighted median. The grower keeps the targets sorted within each
node, so a row has a place there; two Fenwick trees over the places (Fenwick 1994) hold weights and weighted targets of
the left and of the right side, and a row changes sides in O(log m). An order of nominal levels by median holds no
guarantee: it is an approximation.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import allocating_kernel, inner_kernel
from treewright.grow.criteria.means import cut_range, never_few
from treewright.grow.layout import ROW, SMALLEST
from treewright.grow.problem import Problem


def medians_of(problem: Problem, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """float64[n_outputs]: weighted medians; the middle of two values if half of the weight lies between their rows."""
    result = np.empty(problem.n_outputs)
    for output, targets in enumerate(problem.targets):
        low, high = middle_values(targets[rows], weights)
        result[output] = low if low == high else low / 2 + high / 2
    return result


def middle_values(y: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Lower and upper weighted median."""
    order = np.argsort(y, kind="stable")
    below = np.cumsum(weights[order])
    half = below[-1] / 2
    at = int(np.searchsorted(below, half * (1 - 1e-12)))
    between = abs(below[at] - half) <= 1e-12 * half and at + 1 < len(order)
    return float(y[order[at]]), float(y[order[at + between]])


def cost(problem: Problem, rows: np.ndarray, weights: np.ndarray) -> float:
    """Sum of weighted distances to the median, averaged over outputs; 0.0 without rows."""
    if not len(rows):
        return 0.0
    middle = medians_of(problem, rows, weights)
    return float((weights * np.abs(problem.targets[:, rows] - middle[:, None])).sum() / problem.n_outputs)


@allocating_kernel
def prefix_costs(ranks, values, weights, costs):
    """Sum of weighted distances to the median of the first 1, 2, ... rows.

    Parameters
    ----------
    ranks : int64[m], IN
        Place of each row among the values in ascending order.
    values : float64[m], IN
        The values in ascending order, counted from their middle.
    weights : float64[m], IN
        Of each row, in the order of ``ranks``.
    costs : float64[m], INOUT
        The costs are added.

    Notes
    -----
    O(m log m): Fenwick trees over ranks hold the weights and the weighted values of the rows so far.
    """
    m = ranks.shape[0]
    weight_below = np.zeros(m + 1)
    value_below = np.zeros(m + 1)
    total_weight = 0.0
    total_value = 0.0
    top = 1
    while 2 * top <= m:
        top *= 2
    for i in range(m):
        at = ranks[i] + 1
        product = weights[i] * values[ranks[i]]
        total_weight += weights[i]
        total_value += product
        while at <= m:
            weight_below[at] += weights[i]
            value_below[at] += product
            at += at & -at
        # The last place whose weight below does not reach half; the median is after it.
        half = 0.5 * total_weight
        place = 0
        weight = 0.0
        value = 0.0
        step = top
        while step > 0:
            there = place + step
            if there <= m and weight + weight_below[there] < half:
                place = there
                weight += weight_below[there]
                value += value_below[there]
            step //= 2
        middle = values[min(place, m - 1)]
        costs[i] += max(middle * weight - value + (total_value - value) - middle * (total_weight - weight), 0.0)


def costs_along(problem: Problem, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """float64[m]: cost of the first 1, 2, ... of these rows."""
    costs = np.zeros(len(rows))
    for targets, centre in zip(problem.targets, problem.centres, strict=True):
        y = targets[rows] - centre
        order = np.argsort(y, kind="stable")
        ranks = np.empty(len(rows), np.int64)
        ranks[order] = np.arange(len(rows))
        prefix_costs(ranks, y[order], weights, costs)
    return costs / problem.n_outputs


# Rows of work.fenwick.
LEFT, RIGHT = 0, 2  # weights; the row below each holds weighted targets


@inner_kernel
def fenwick_add(weights, products, place, weight, product):
    """Add a row at a place (from 0) of a tree of ``len(weights) - 1`` places.

    ``weights`` int64[m + 1], ``products`` int64[m + 1].
    """
    i = place + 1
    while i < weights.shape[0]:
        weights[i] += weight
        products[i] += product
        i += i & -i


@inner_kernel
def median_place(weights, total):
    """The lowest place up to which the weight is at least half of ``total``. ``weights`` int64[m + 1]."""
    size = weights.shape[0] - 1
    step = 1
    while 2 * step <= size:
        step *= 2
    place = 0
    before = 0
    while step > 0:
        if place + step <= size and 2 * (before + weights[place + step]) < total:
            place += step
            before += weights[place]
        step //= 2
    return place


@inner_kernel
def prefix(tree, n_places):
    """Sum of the first places. ``tree`` int64[m + 1]."""
    total = 0
    i = n_places
    while i > 0:
        total += tree[i]
        i -= i & -i
    return total


@inner_kernel
def absolute_error(weights, products, total_weight, total_product, ranked, values, unit):
    """Sum of weighted distances to the median, in steps.

    Parameters
    ----------
    weights, products : int64[m + 1], IN
        A pair of Fenwick trees.
    ranked : int32[m], IN
        The node's rows in ascending order of target.
    values : float64[n], IN
        The targets.
    """
    place = median_place(weights, total_weight)
    median = values[ranked[place]]
    below_weight = prefix(weights, place + 1)
    below = prefix(products, place + 1)
    error = float(total_product - 2 * below) + median / unit * float(2 * below_weight - total_weight)
    return max(error, 0.0)


@inner_kernel
def median_of(weights, total_weight, ranked, values):
    """The median of the rows in a tree, as in ``summarise_medians``; parameters as in ``absolute_error``.

    ``weights`` int64[m + 1], ``ranked`` int32[m], ``values`` float64[n].
    """
    lower = values[ranked[median_place(weights, total_weight)]]
    # The place up to which the weight is more than half: another one only if the half falls between two rows.
    upper = values[ranked[median_place(weights, total_weight + 1)]]
    return 0.5 * lower + 0.5 * upper


@inner_kernel
def fill_fenwicks(stats, t, items, fenwick, m):
    """Empty the left tree, put every row into the right one; returns the weight and weighted target of all.

    ``items`` int32[m], ``fenwick`` int64[4, n + 1].
    """
    fenwick[:, : m + 1] = 0
    total_weight = 0
    total = 0
    for i in range(m):
        row = items[i] & ROW
        w = stats.weights[row] if stats.weights.shape[0] > 0 else 1
        place = stats.place[t, row]
        fenwick[RIGHT, place + 1] = w
        fenwick[RIGHT + 1, place + 1] = stats.products[t, row]
        total_weight += w
        total += stats.products[t, row]
    for i in range(1, m + 1):
        above = i + (i & -i)
        if above <= m:
            fenwick[RIGHT, above] += fenwick[RIGHT, i]
            fenwick[RIGHT + 1, above] += fenwick[RIGHT + 1, i]
    return total_weight, total


@inner_kernel
def add_losses(stats, t, node, nodes, items, n_present, first, last, missing_left, limits, direction, work):
    """Add one output's absolute error of both sides to ``work.losses`` at each cut in [first, last).

    Inf forbids a cut.

    ``items`` int32[m].
    """
    m = items.shape[0]
    fenwick = work.fenwick
    total_weight, total = fill_fenwicks(stats, t, items, fenwick, m)
    left_w, left_p = fenwick[LEFT, : m + 1], fenwick[LEFT + 1, : m + 1]
    right_w, right_p = fenwick[RIGHT, : m + 1], fenwick[RIGHT + 1, : m + 1]
    ranked = stats.ranked[t, nodes.lo[node] : nodes.hi[node]]
    values = stats.values[t]
    left_weight = 0
    left = 0
    n_first = m - n_present if missing_left else 0
    for step in range(n_first + last):
        i = step - n_first
        row = items[n_present + step if i < 0 else i] & ROW
        w = stats.weights[row] if stats.weights.shape[0] > 0 else 1
        place = np.int64(stats.place[t, row])
        product = stats.products[t, row]
        fenwick_add(left_w, left_p, place, w, product)
        fenwick_add(right_w, right_p, place, -w, -product)
        left_weight += w
        left += product
        if i < first:
            continue
        allowed = items[i + 1] < 0 and min(left_weight, total_weight - left_weight) >= limits.min_leaf_weight
        if not allowed:
            work.losses[i] = np.inf
            continue
        left_error = absolute_error(left_w, left_p, left_weight, left, ranked, values, stats.unit)
        right_error = absolute_error(
            right_w, right_p, total_weight - left_weight, total - left, ranked, values, stats.unit
        )
        work.losses[i] += left_error + right_error
        if limits.is_monotone:
            left_median = median_of(left_w, left_weight, ranked, stats.targets[t])
            right_median = median_of(right_w, total_weight - left_weight, ranked, stats.targets[t])
            inside = min(left_median, right_median) >= nodes.low[node]
            inside = inside and max(left_median, right_median) <= nodes.high[node]
            if not inside or (left_median - right_median) * direction > 0.0:
                work.losses[i] = np.inf


def scan_medians(stats, node, nodes, items, n_present, limits, direction, target, after, way, work):
    """The best cut of one node in one column; parameters and result as ``means.scan_means``. ``items`` int32[m]."""
    n_missing = items.shape[0] - n_present
    total_loss = nodes.loss[node]
    best = -1.0
    found = -1
    found_left = 0
    for missing_left in range(2 if n_missing > 0 else 1):
        if way < 2 and way != missing_left:
            continue
        first, last = cut_range(n_present, n_missing, missing_left, limits.min_leaf, after)
        if first >= last:
            continue
        work.losses[first:last] = 0.0
        for t in range(stats.values.shape[0]):
            add_losses(stats, t, node, nodes, items, n_present, first, last, missing_left, limits, direction, work)
        for i in range(first, last):
            if work.losses[i] == np.inf:
                continue
            gain = max(total_loss - work.losses[i], 0.0)
            best = max(best, gain)
            if target >= 0.0 and gain >= target:
                if found < 0 or i < found:
                    found = i
                    found_left = missing_left
                break
    return best, found, found_left


@inner_kernel
def middle_rows(stats, ranked, total_weight):
    """The rows on both sides of half the weight, and the weight up to the first.

    They are the same row unless the half falls between two.

    ``ranked`` int32[m].
    """
    below = 0
    for i in range(ranked.shape[0]):
        below += stats.weights[ranked[i]] if stats.weights.shape[0] > 0 else 1
        if 2 * below >= total_weight:
            upper = i + 1 if 2 * below == total_weight and i + 1 < ranked.shape[0] else i
            return i, upper, below
    return 0, 0, 0


def summarise_medians(stats, node, nodes, items):
    """Fill in a new node; parameters and result as ``means.summarise_means``.

    If half of the weight falls between two targets, the median is the middle between them. ``items`` int32[m].
    """
    m = items.shape[0]
    weight = 0
    for i in range(m):
        weight += stats.weights[items[i] & ROW] if stats.weights.shape[0] > 0 else 1
    nodes.weight[node] = weight
    loss = 0.0
    pure = True
    for t in range(stats.values.shape[0]):
        values = stats.values[t]
        ranked = stats.ranked[t, nodes.lo[node] : nodes.hi[node]]
        lower, upper, below_weight = middle_rows(stats, ranked, weight)
        # The original targets: with one of 1e18 in the table, targets that differ by 1 have the same centred value.
        targets = stats.targets[t]
        nodes.value[node, t] = 0.5 * targets[ranked[lower]] + 0.5 * targets[ranked[upper]]
        last = lower  # of equal targets the last one: their order must not matter
        while last + 1 < m and targets[ranked[last + 1]] == targets[ranked[lower]]:
            last += 1
            below_weight += stats.weights[ranked[last]] if stats.weights.shape[0] > 0 else 1
        total = 0
        below = 0
        for i in range(m):
            total += stats.products[t, ranked[i]]
            if i <= last:
                below += stats.products[t, ranked[i]]
        nodes.totals[node, t] = total
        distance = float(total - 2 * below) + values[ranked[lower]] / stats.unit * float(2 * below_weight - weight)
        loss += max(distance, 0.0)
        pure = pure and targets[ranked[0]] == targets[ranked[m - 1]]
    nodes.impurity[node] = 0.0 if pure else max(loss / (float(weight) * stats.values.shape[0]) * stats.unit, SMALLEST)
    nodes.loss[node] = loss
    nodes.tolerance[node] = loss * 1e-12
    return pure


def median_rank(stats, node, nodes, items):
    """The number that orders levels: the median of a level's rows (first output).

    The place is found by bisection over the range of places: counting up the places would take a node O(m levels).
    ``items`` int32[m].
    """
    weight = 0
    for i in range(items.shape[0]):
        weight += stats.weights[items[i] & ROW] if stats.weights.shape[0] > 0 else 1
    low = 0
    high = np.int64(nodes.hi[node] - nodes.lo[node] - 1)
    while low < high:
        middle = (low + high) // 2
        up_to = 0
        for i in range(items.shape[0]):
            row = items[i] & ROW
            if stats.place[0, row] <= middle:
                up_to += stats.weights[row] if stats.weights.shape[0] > 0 else 1
        if 2 * up_to >= weight:
            high = middle
        else:
            low = middle + 1
    return stats.targets[0, stats.ranked[0, nodes.lo[node] + low]]


def orders_by_median(stats):
    """Levels are always ordered by median: sums do not give absolute errors."""
    return True


def add_nothing(stats, items, totals):
    """Partitions of levels are not searched for absolute error. ``items`` int32[m], ``totals`` int64[t]."""
    return 0


def gain_of_nothing(stats, node, nodes, left, left_weight):
    """Partitions of levels are not searched for absolute error. ``left`` int64[t]."""
    return -1.0


def place_by_target(stats, columns, lo, hi):
    """Note the rows of a segment in the order of each target, and each row's place in it."""
    n_columns = columns.code_row.shape[0]
    for t in range(stats.values.shape[0]):
        for i in range(lo, hi):
            row = columns.order[n_columns + t, i] & ROW
            stats.ranked[t, i] = row
            stats.place[t, row] = i - lo


def median_prediction(stats, node, nodes):
    """The node's median (first output)."""
    return nodes.value[node, 0]


KERNELS = {
    "scan": scan_medians,
    "few": never_few,
    "summarise": summarise_medians,
    "rank": median_rank,
    "gain": gain_of_nothing,
    "add": add_nothing,
    "one": orders_by_median,
    "place": place_by_target,
    "prediction": median_prediction,
}
