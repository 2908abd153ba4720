"""Distances to medians. In: rows of a node. Out: costs of sets of rows under absolute error. Caller: grow.by_node.

Sums do not make a median, so this criterion looks at the rows themselves: O(m log m) for all cuts of a column, and a
sort for each partition of a nominal one.
"""

from __future__ import annotations

import numpy as np

from treewright.core.jit import kernel
from treewright.grow.by_node.levels import Levels, Partition, as_partition, prefixes, two_sides
from treewright.grow.by_node.problem import Problem
from treewright.grow.by_node.scan import LEAVE_OUT, LEFT, OWN, OWN_BRANCH, RIGHT


def medians_of(problem: Problem, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """float64[n_outputs]: weighted medians; the middle of the two where half of the weight lies between two rows."""
    result = np.empty(problem.n_outputs)
    for output, targets in enumerate(problem.targets):
        low, high = _middle_values(targets[rows], weights)
        result[output] = low if low == high else low / 2 + high / 2
    return result


def _middle_values(y: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
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


@kernel
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
        # The last place whose weight below does not reach half; the median stands behind it.
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


def partition(
    problem: Problem,
    nominal_splits: str,
    feature: int,
    levels: Levels,
    instances: object,
    tolerance: float,
    *,
    min_rows: int,
    min_weight: float,
) -> Partition | None:
    """The best partition of a column's levels; two sides are searched in the order of the levels' medians.

    Parameters
    ----------
    instances : Instances
    nominal_splits, min_rows, min_weight
        As in ``search.Rules``.
    """
    rows, weights = instances.rows, instances.weights  # type: ignore[attr-defined]
    place = int(np.searchsorted(problem.level_columns, feature))
    codes = problem.codes[place, rows]
    v = len(levels.counts)

    def cost_where(chosen: np.ndarray) -> float:
        return cost(problem, rows[chosen], weights[chosen])

    gone = codes == v
    considered = ~gone if levels.mode == LEAVE_OUT else np.ones(len(rows), bool)
    base = cost_where(considered)
    if nominal_splits == "multiway":
        return _branch_per_level(levels, codes, weights, base, cost_where, tolerance, min_rows, min_weight)
    present = np.flatnonzero(levels.counts)

    def gains_of(masks: np.ndarray, side: int) -> np.ndarray:
        gains = np.full(len(masks), -1.0)
        for k, mask in enumerate(masks):
            left = np.isin(codes, present[mask])
            right = ~left & ~gone
            if levels.mode != LEAVE_OUT and side == LEFT:
                left |= gone
            elif levels.mode != LEAVE_OUT and side == RIGHT:
                right |= gone
            enough = min(left.sum(), right.sum()) >= max(min_rows, 1)
            if enough and min(weights[left].sum(), weights[right].sum()) >= min_weight:
                own = cost_where(gone) if side == OWN else 0.0
                gains[k] = max(base - cost_where(left) - cost_where(right) - own, 0.0)
        return gains

    if nominal_splits == "one_vs_rest":
        masks, exact = np.eye(len(present), dtype=bool), True
    else:
        # By the lower median of the first output, as the grower by levels orders them.
        y = problem.targets[0, rows]
        middles = [_middle_values(y[codes == code], weights[codes == code])[0] for code in present]
        # One level or two: there is only one division.
        masks, exact = prefixes(np.array(middles)), len(present) <= 2
    return as_partition(levels, *two_sides(levels, masks, gains_of, tolerance), exact)


def _branch_per_level(
    levels: Levels,
    codes: np.ndarray,
    weights: np.ndarray,
    base: float,
    cost_where,
    tolerance: float,
    min_rows: int,
    min_weight: float,
) -> Partition | None:
    """A branch for each level, as ``levels.branch_per_level``."""
    v = len(levels.counts)
    branch = codes.copy()
    side = -1
    if levels.n_gone and levels.mode == OWN_BRANCH:
        side = v
    elif levels.n_gone and levels.mode != LEAVE_OUT:
        present = np.flatnonzero(levels.counts).tolist()
        joined = [cost_where((codes == code) | (codes == v)) - cost_where(codes == code) for code in present]
        side = present[int((np.array(joined) <= min(joined) + tolerance).argmax())]
        branch[codes == v] = side
    else:
        branch = branch[codes != v]
        weights = weights[codes != v]
    held, counts = np.unique(branch, return_counts=True)
    lightest = min(weights[branch == b].sum() for b in held)
    if len(held) < 2 or counts.min() < min_rows or lightest < min_weight:
        return None
    kept = codes if levels.mode != LEAVE_OUT else np.where(codes == v, -1, codes)
    if side >= 0:
        kept = np.where(codes == v, side, codes)
    total = sum(cost_where(kept == b) for b in held)
    return Partition(max(base - total, 0.0), np.arange(v), v, side)
