"""Partitions of a column's levels. In: the statistics of each level. Out: ``Partition``.

Two sides (any subset, or one level against the rest), a branch per level, or C4.5's groups.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from treewright.core.jit import allocating_kernel, inner_kernel
from treewright.data.memory import check_fits
from treewright.grow.by_node.cuts import LEAVE_OUT, LEFT, OWN, OWN_BRANCH, RIGHT
from treewright.grow.criteria import medians
from treewright.grow.criteria.costs import Criterion, settled
from treewright.grow.problem import Problem

EXHAUSTIVE_LEVELS = 10  # as grow.subsets: 2**9 - 1 = 511 partitions


@dataclass(frozen=True, eq=False)
class Levels:
    """The levels of one column in one node.

    Attributes
    ----------
    tables : float64[v, n_stats], counts : int64[v]
        Statistics and instances of each level.
    gone : float64[n_stats], n_gone : int
        Those of the missing rows.
    mode : int
        Treatment of missing rows (``cuts``).
    """

    tables: np.ndarray
    counts: np.ndarray
    gone: np.ndarray
    n_gone: int
    mode: int


@dataclass(frozen=True, eq=False)
class Partition:
    """The branch of each level.

    Attributes
    ----------
    cost_gain : float
        Decrease of cost.
    groups : int64[v]
        Branch of each level; -1 for a level that the node does not hold and that follows the heavier branch.
    n_branches : int
        Branches that levels lead to, absent levels' own included.
    side : int
        Branch of missing rows; ``n_branches`` for one of their own, -1 for every branch.
    exact : bool
    info : float or None
        Entropy in bits of the division, if it is already known.
    """

    cost_gain: float
    groups: np.ndarray
    n_branches: int
    side: int
    exact: bool = True
    info: float | None = None


@cache
def every_split(n_levels: int) -> np.ndarray:
    """bool[2**(n - 1), n]: every way to divide levels in two, the last level always on the right; row 0 is empty."""
    masks = (np.arange(1 << (n_levels - 1))[:, None] >> np.arange(n_levels)) & 1
    return masks.astype(bool)


GainsOf = Callable[[np.ndarray, int], np.ndarray]


def two_sides(levels: Levels, masks: np.ndarray, gains_of: GainsOf, tolerance: float) -> tuple[float, np.ndarray, int]:
    """The best of these divisions of the levels in two.

    Parameters
    ----------
    masks : bool[k, g]
        Levels on the left, of those that the node holds.
    gains_of : callable
        Takes masks and the side of missing rows; returns the decrease of cost by each division, -1 if it is not
        allowed.
    tolerance : float
        Gains closer than this, in units of cost, are equal. Then: fewer levels on the left, then the set with the
        lowest code in which two of them differ, then missing to the right.

    Returns
    -------
    gain : float
        -1 if no division is allowed.
    mask : bool[g]
    side : int
        The side of missing rows (``cuts``).
    """
    has_gone = levels.n_gone > 0 and levels.mode != LEAVE_OUT
    every = np.ones((1, masks.shape[1]), bool)
    offers = []
    for side in _sides_of(levels, has_gone):
        # All levels on the left: present against missing.
        offered = np.vstack([masks, every]) if has_gone and side == RIGHT else masks
        offers.append((offered, side))
    if levels.mode == OWN_BRANCH and has_gone:
        offers.append((every, RIGHT))
    best: list[tuple[float, np.ndarray, int]] = []
    for offered, side in offers:
        if len(offered):
            gains = gains_of(offered, side).tolist()
            best.extend((gain, mask, side) for gain, mask in zip(gains, offered, strict=True) if gain >= 0.0)
    if not best:
        return -1.0, every[0], RIGHT
    largest = max(gain for gain, _, _ in best)
    stated = [_stated(mask, side) for gain, mask, side in best if gain >= largest - tolerance]
    _, mask, side = min(stated, key=lambda found: (found[0], (~found[1]).tolist(), found[2]))
    return largest, mask, side


def as_partition(levels: Levels, gain: float, mask: np.ndarray, side: int, exact: bool) -> Partition | None:
    """A division of the levels that the node holds as a partition of all levels; None if none is allowed."""
    if gain < 0.0:
        return None
    groups = np.full(len(levels.counts), -1, np.int64)
    groups[levels.counts > 0] = np.where(mask, 0, 1)
    has_gone = levels.n_gone > 0 and levels.mode != LEAVE_OUT
    return Partition(gain, groups, 2, {RIGHT: 1, LEFT: 0, OWN: 2}[side] if has_gone else -1, exact)


def _sides_of(levels: Levels, has_gone: bool) -> tuple[int, ...]:
    """The sides that missing rows may go to."""
    if not has_gone:
        return (RIGHT,)
    return (OWN,) if levels.mode == OWN_BRANCH else (RIGHT, LEFT)


def _stated(mask: np.ndarray, side: int) -> tuple[int, np.ndarray, int]:
    """A division in its standard form: fewer levels on the left; of two halves the one with the lowest code."""
    n_left = int(mask.sum())
    if 2 * n_left > len(mask) or (2 * n_left == len(mask) and not mask[0]):
        return len(mask) - n_left, ~mask, {RIGHT: LEFT, LEFT: RIGHT}.get(side, side)
    return n_left, mask, side


def gains_by_table(
    problem: Problem,
    criterion: Criterion,
    levels: Levels,
    masks: np.ndarray,
    side: int,
    *,
    min_rows: int,
    min_weight: float,
) -> np.ndarray:
    """Decrease of cost by each division; -1 if it is not allowed. Arguments as in `two_sides`."""
    present = levels.counts > 0
    tables, counts = levels.tables[present], levels.counts[present]
    left = np.zeros((len(masks), tables.shape[1]))
    for level, table in enumerate(tables):  # a matrix product would add in an order that depends on the processor
        left[masks[:, level]] += table
    total = tables.sum(axis=0)
    right = total - left
    n_left = masks @ counts
    n_right = counts.sum() - n_left
    base = total
    if levels.n_gone and levels.mode != LEAVE_OUT:
        base = total + levels.gone
        if side == LEFT:
            left, n_left = left + levels.gone, n_left + levels.n_gone
        elif side == RIGHT:
            right, n_right = right + levels.gone, n_right + levels.n_gone
    whole = criterion.costs(problem, base)
    gains = whole - criterion.costs(problem, left) - criterion.costs(problem, right)
    if side == OWN:
        gains = gains - criterion.costs(problem, levels.gone)
    weights = np.minimum(problem.weight_of(left), problem.weight_of(right))
    allowed = (np.minimum(n_left, n_right) >= max(min_rows, 1)) & (weights >= min_weight)
    allowed &= criterion.may_part(problem, left, right)
    return np.where(allowed, settled(criterion, gains, whole), -1.0)


def divisions(
    problem: Problem, criterion: Criterion, tables: np.ndarray, nominal_splits: str
) -> tuple[np.ndarray, bool]:
    """The divisions of levels in two to try, and whether the best of all is among them.

    Parameters
    ----------
    tables : float64[g, n_stats]
        Statistics of the levels that the node holds.
    nominal_splits : {"subset", "runs", "one_vs_rest"}

    Returns
    -------
    masks : bool[k, g]
        Levels on the left.
    exact : bool
    """
    g = len(tables)
    check_fits(9 * g * g, f"trying every division of {g} levels in two", "leave the column out, or group its levels")
    if nominal_splits == "one_vs_rest":
        return np.eye(g, dtype=bool), True
    if g == 1 or problem.n_stats == 1:
        return np.empty((0, 1), bool), True
    if nominal_splits == "runs":
        return prefixes(np.arange(g)), True
    if has_one_number(problem) and (criterion.by_kernel or g > EXHAUSTIVE_LEVELS):
        # The order by mean contains a best division (Fisher 1958; Breiman et al. 1984, section 4.2.2) of every
        # criterion that is concave in that mean; for a user-defined function this is not known.
        rank = tables[:, 1] / problem.weight_of(tables)
        return prefixes(rank), criterion.by_kernel
    if g <= EXHAUSTIVE_LEVELS:
        return every_split(g)[1:], True
    shares = tables / problem.weight_of(tables)[:, None]
    return prefixes(first_component(shares, problem.weight_of(tables))), False


def has_one_number(problem: Problem) -> bool:
    """Whether one number describes a set of rows: two classes, or one regression target."""
    return problem.n_outputs == 1 and (not problem.is_classes or problem.n_stats <= 2)


def first_component(shares: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Projection of each row on the first principal component (Coppersmith, Hong and Hosking 1999)."""
    centred = shares - np.average(shares, axis=0, weights=weights)
    projected: np.ndarray = (centred * longest_axis(centred, weights)).sum(axis=1)
    return projected


@allocating_kernel
def longest_axis(points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Direction in which points around 0 are spread most; its largest entry is above 0.

    Jacobi's rotations instead of LAPACK, whose last bits, and with them the order of nearly equal levels, differ with
    the processor.

    Parameters
    ----------
    points : float64[g, s], IN
    weights : float64[g], IN

    Returns
    -------
    float64[s]
    """
    s = points.shape[1]
    moments, axes = np.zeros((s, s)), np.zeros((s, s))
    for i in range(s):
        axes[i, i] = 1.0
        for j in range(i + 1):
            for g in range(points.shape[0]):
                moments[i, j] += weights[g] * (points[g, i] * points[g, j])
            moments[j, i] = moments[i, j]
    for _ in range(60):  # sweeps; about six are needed
        apart, along = 0.0, 0.0
        for i in range(s):
            along += moments[i, i] * moments[i, i]
            for j in range(i):
                apart += moments[i, j] * moments[i, j]
        if apart <= 1e-30 * along:
            break
        for i in range(s):
            for j in range(i):
                if moments[i, j] != 0.0:
                    _rotate(moments, axes, i, j)
    longest = 0
    for i in range(1, s):
        if moments[i, i] > moments[longest, longest]:
            longest = i
    largest = 0.0
    for i in range(s):
        if abs(axes[i, longest]) > abs(largest):
            largest = axes[i, longest]
    return axes[:, longest].copy() if largest >= 0.0 else -axes[:, longest]


@inner_kernel
def _rotate(moments, axes, i, j):
    """Turn two axes so that their mixed moment becomes 0. ``moments`` float64[s, s], ``axes`` float64[s, s]."""
    quotient = 0.5 * (moments[j, j] - moments[i, i]) / moments[i, j]
    tangent = 1.0 / (abs(quotient) + np.sqrt(1.0 + quotient * quotient))
    if quotient < 0.0:
        tangent = -tangent
    cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
    sine = tangent * cosine
    for k in range(moments.shape[0]):
        one, other = moments[k, i], moments[k, j]
        moments[k, i], moments[k, j] = cosine * one - sine * other, sine * one + cosine * other
    for k in range(moments.shape[0]):
        one, other = moments[i, k], moments[j, k]
        moments[i, k], moments[j, k] = cosine * one - sine * other, sine * one + cosine * other
        one, other = axes[k, i], axes[k, j]
        axes[k, i], axes[k, j] = cosine * one - sine * other, sine * one + cosine * other


def prefixes(rank: np.ndarray) -> np.ndarray:
    """bool[g - 1, g]: the first 1, 2, ... levels in the order of their rank."""
    order = np.argsort(rank, kind="stable")
    masks = np.zeros((len(rank) - 1, len(rank)), bool)
    for k in range(len(rank) - 1):
        masks[k, order[: k + 1]] = True
    return masks


def branch_per_level(
    problem: Problem, criterion: Criterion, levels: Levels, tolerance: float, *, min_rows: int, min_weight: float
) -> Partition | None:
    """A branch for each level of the column, and for missing rows if they have one.

    Every branch that holds rows needs ``min_rows`` and ``min_weight``; two must hold some. Missing rows without a
    branch of their own join the branch with the least increase of cost; costs closer than ``tolerance`` are equal:
    the lower level.
    """
    v = len(levels.counts)
    tables, counts = levels.tables, levels.counts.astype(np.int64)
    side = -1
    if levels.n_gone and levels.mode == OWN_BRANCH:
        tables, counts = np.vstack([tables, levels.gone]), np.append(counts, levels.n_gone)
        side = v
    elif levels.n_gone and levels.mode != LEAVE_OUT:
        present = np.flatnonzero(counts)
        if not len(present):
            return None
        joined = criterion.costs(problem, tables[present] + levels.gone) - criterion.costs(problem, tables[present])
        side = int(present[int((joined <= joined.min() + tolerance).argmax())])
        tables = tables.copy()
        tables[side] += levels.gone
        counts[side] += levels.n_gone
    held = counts > 0
    tables = tables[held]
    if (
        len(tables) < 2
        or counts[held].min() < min_rows
        or problem.weight_of(tables).min() < min_weight
        or not criterion.may_exist(problem, tables).all()
    ):
        return None
    whole = criterion.costs(problem, tables.sum(axis=0))
    gain = float(settled(criterion, whole - criterion.costs(problem, tables).sum(), whole))
    return Partition(gain, np.arange(v), v, side) if gain >= 0.0 else None


def partition_by_medians(
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
        As in ``cuts.Rules``.
    """
    rows, weights = instances.rows, instances.weights  # type: ignore[attr-defined]
    place = int(np.searchsorted(problem.level_columns, feature))
    codes = problem.codes[place, rows]
    v = len(levels.counts)

    def cost_where(chosen: np.ndarray) -> float:
        return medians.cost(problem, rows[chosen], weights[chosen])

    gone = codes == v
    considered = ~gone if levels.mode == LEAVE_OUT else np.ones(len(rows), bool)
    base = cost_where(considered)
    if nominal_splits == "multiway":
        return _branch_per_level_by_medians(levels, codes, weights, base, cost_where, tolerance, min_rows, min_weight)
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
    elif nominal_splits == "runs":
        masks, exact = prefixes(np.arange(len(present))), True
    else:
        # By the lower median of the first output, as in the grower by levels.
        y = problem.targets[0, rows]
        middles = [medians.middle_values(y[codes == code], weights[codes == code])[0] for code in present]
        # One level or two: there is only one division.
        masks, exact = prefixes(np.array(middles)), len(present) <= 2
    return as_partition(levels, *two_sides(levels, masks, gains_of, tolerance), exact)


def _branch_per_level_by_medians(
    levels: Levels,
    codes: np.ndarray,
    weights: np.ndarray,
    base: float,
    cost_where,
    tolerance: float,
    min_rows: int,
    min_weight: float,
) -> Partition | None:
    """``branch_per_level`` for medians."""
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
