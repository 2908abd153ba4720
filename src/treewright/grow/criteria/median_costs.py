"""Distances to medians. In: rows of a node. Out: costs of sets of rows under absolute error.

A median cannot be computed from sums, so this criterion reads the rows themselves: O(m log m) for all cuts of a column,
and a sort for each partition of a nominal one.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import allocating_kernel
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
