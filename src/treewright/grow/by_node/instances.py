"""The rows of one node. In: a problem, or a node and its branches. Out: ``Instances``.

An instance is a row with a weight: with fractional missing values one row is in several nodes at once, with a part of
its weight in each. A node owns its instances and, for every ordered column, their positions in ascending order of the
column, missing ones last. Splitting keeps that order: a column is sorted once, at the root.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from treewright.core.jit import allocating_kernel
from treewright.data.memory import check_fits
from treewright.grow.objective import are_whole
from treewright.grow.problem import Problem

EVERY_BRANCH = -1


class Members(NamedTuple):
    """The rows of a node as kernels take them; see ``Instances``."""

    rows: np.ndarray
    weights: np.ndarray
    orders: np.ndarray
    n_present: np.ndarray


@dataclass(frozen=True, eq=False)
class Instances:
    """Rows of a node.

    Attributes
    ----------
    rows : int32[m]
    weights : float64[m]
    orders : int32[q, m]
        Positions in ``rows`` by ascending value of each ordered column, missing last.
    n_present : int64[q]
        How many of them are not missing.
    stats : float64[n_stats]
    weight : float
        Sum of ``weights``.
    """

    rows: np.ndarray
    weights: np.ndarray
    orders: np.ndarray
    n_present: np.ndarray
    stats: np.ndarray
    weight: float

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def members(self) -> Members:
        """The rows and their orders, for kernels."""
        return Members(self.rows, self.weights, self.orders, self.n_present)


def all_instances(problem: Problem, *, is_sorted: bool = True) -> Instances:
    """Every row of the problem: the root's instances."""
    return some_instances(problem, np.arange(problem.n_rows, dtype=np.int32), problem.weights, is_sorted=is_sorted)


def some_instances(problem: Problem, rows: np.ndarray, weights: np.ndarray, *, is_sorted: bool = True) -> Instances:
    """The instances of any rows (int32[m]) with these weights; without orders where no test is to be found."""
    order = _order_of_sums(problem, rows, weights)
    if order is not None:
        rows, weights = rows[order], weights[order]
    cells = problem.values[problem.ordered_columns if is_sorted else []]
    if len(rows) != problem.n_rows or order is not None:
        cells = cells[:, rows]
    stats = sum_statistics(problem.index, problem.amounts, rows, weights, problem.n_stats)
    return Instances(
        rows=rows,
        weights=weights,
        # Stable, so that the order of equal cells is that of ``rows``; nan is last.
        orders=np.argsort(cells, axis=1, kind="stable").astype(np.int32),
        n_present=(~np.isnan(cells)).sum(axis=1).astype(np.int64),
        stats=stats,
        weight=float(problem.weight_of(stats)),
    )


def _order_of_sums(problem: Problem, rows: np.ndarray, weights: np.ndarray) -> np.ndarray | None:
    cells = problem.values[:, rows] if problem.missing == "fractional" else None
    if problem.is_classes:
        return order_of_sums(problem.index[rows].T, weights, cells, is_rounded=not are_whole(weights))
    return order_of_sums(problem.targets[:, rows], weights, cells, is_rounded=True)


def order_of_sums(
    targets: np.ndarray, weights: np.ndarray, cells: np.ndarray | None, *, is_rounded: bool
) -> np.ndarray | None:
    """The order in which rows are added where sums are rounded, which their positions do not change; else None.

    ``targets`` [k, m]; ``cells`` float64[p, m], if a row without a value is divided among branches. Then it has a share
    of its weight there, so that rows alike in target and weight are no longer interchangeable; those alike in every
    cell are.
    """
    is_divided = cells is not None and bool(np.isnan(cells).any())
    if not is_rounded and not is_divided:
        return None
    return np.lexsort((weights, *(cells if cells is not None and is_divided else ()), *targets))


def value_of(problem: Problem, instances: Instances) -> np.ndarray:
    """float64[n_values]: class counts of a node's rows, or the mean of each output."""
    if problem.is_classes:
        return instances.stats
    targets = problem.targets[:, instances.rows]
    lowest, highest = targets.min(axis=1), targets.max(axis=1)
    starts = problem.outputs[:-1]
    means = instances.stats[starts + 1] / instances.stats[starts] * problem.unit + problem.centres
    # No rounding leaves the targets' range: equal targets are predicted exactly.
    return np.clip(means, lowest, highest)


def is_pure(problem: Problem, instances: Instances) -> bool:
    """Whether all rows of a node have the same target, regardless of its impurity."""
    if problem.is_classes:
        return int(np.count_nonzero(instances.stats)) <= problem.n_outputs
    targets = problem.targets[:, instances.rows]
    return bool((targets == targets[:, :1]).all())


@allocating_kernel
def sum_statistics(index, amounts, rows, weights, n_stats):
    """Sums of the statistics of some rows, float64[n_stats].

    ``index`` int32[n, e] and ``amounts`` float64[n, e] as in ``Problem``; ``rows`` int32[m], ``weights`` float64[m].
    """
    stats = np.zeros(n_stats)
    for i in range(rows.shape[0]):
        for e in range(index.shape[1]):
            stats[index[rows[i], e]] += weights[i] * amounts[rows[i], e]
    return stats


@allocating_kernel
def part(rows, weights, orders, n_present, branch, shares, index, amounts, n_stats):
    """Divide instances among branches; order is kept.

    Parameters
    ----------
    rows : int32[m], weights : float64[m], orders : int32[q, m], n_present : int64[q], IN
        The parent's.
    branch : int32[m], IN
        Branch of each instance; ``EVERY_BRANCH`` divides it by ``shares``.
    shares : float64[k], IN
        Share of a divided instance that each branch gets; a branch with share 0 gets nothing.
    index : int32[n, e], amounts : float64[n, e], IN
        As in ``Problem``.

    Returns
    -------
    starts : int64[k + 1]
        Start of each branch in the following arrays.
    rows, weights, orders, n_present (int64[k, q]), stats (float64[k, n_stats])
        Those of the branches, one after another; ``orders`` count from the branch's own start.
    """
    n_branches = shares.shape[0]
    m = rows.shape[0]
    starts = np.zeros(n_branches + 1, np.int64)
    for i in range(m):
        if branch[i] >= 0:
            starts[branch[i] + 1] += 1
        else:
            for b in range(n_branches):
                if shares[b] > 0.0:
                    starts[b + 1] += 1
    for b in range(n_branches):
        starts[b + 1] += starts[b]
    total = starts[n_branches]
    new_rows = np.empty(total, np.int32)
    new_weights = np.empty(total)
    stats = np.zeros((n_branches, n_stats))
    # Position of instance i in branch b: a divided one is in each branch, so the count before it is kept.
    place = np.empty(m, np.int64)
    before = np.empty((n_branches, m if (branch < 0).any() else 0), np.int32)
    filled = starts[:n_branches].copy()
    for i in range(m):
        first = branch[i]
        last = branch[i]
        if branch[i] < 0:
            first = 0
            last = n_branches - 1
        for b in range(first, last + 1):
            weight = weights[i]
            if branch[i] < 0:
                if shares[b] <= 0.0:
                    continue
                weight *= shares[b]
                before[b, i] = filled[b] - starts[b]
            else:
                place[i] = filled[b] - starts[b]
            new_rows[filled[b]] = rows[i]
            new_weights[filled[b]] = weight
            filled[b] += 1
            for e in range(index.shape[1]):
                stats[b, index[rows[i], e]] += weight * amounts[rows[i], e]
    new_orders = np.empty((orders.shape[0], total), np.int32)
    present = np.zeros((n_branches, orders.shape[0]), np.int64)
    for c in range(orders.shape[0]):
        filled[:] = starts[:n_branches]
        for k in range(m):
            i = orders[c, k]
            if branch[i] >= 0:
                b = branch[i]
                new_orders[c, filled[b]] = place[i]
                filled[b] += 1
                if k < n_present[c]:
                    present[b, c] += 1
            else:
                for b in range(n_branches):
                    if shares[b] > 0.0:
                        new_orders[c, filled[b]] = before[b, i]
                        filled[b] += 1
                        if k < n_present[c]:
                            present[b, c] += 1
    return starts, new_rows, new_weights, new_orders, present, stats


def divide(problem: Problem, instances: Instances, branch: np.ndarray, shares: np.ndarray) -> list[Instances | None]:
    """The instances of each branch; None if it has none.

    Parameters
    ----------
    branch : int32[m]
        ``EVERY_BRANCH`` for an instance that goes to all of them.
    shares : float64[k]
        How such an instance is divided.
    """
    n_divided = int(np.count_nonzero(branch == EVERY_BRANCH))
    if n_divided:
        copies = len(instances) + n_divided * len(shares)
        check_fits(
            copies * (12 + 4 * len(instances.orders)) + 4 * len(instances) * len(shares),
            f"dividing {n_divided} rows with missing values among {len(shares)} branches",
            "choose another treatment of missing values, or leave out columns with very many levels",
        )
    starts, rows, weights, orders, present, stats = part(
        instances.rows, instances.weights, instances.orders, instances.n_present, branch, shares,
        problem.index, problem.amounts, problem.n_stats,
    )  # fmt: skip
    weight = problem.weight_of(stats).tolist()
    return [
        Instances(rows[start:stop], weights[start:stop], orders[:, start:stop], present[b], stats[b], weight[b])
        if stop > start
        else None
        for b, (start, stop) in enumerate(pairwise(starts.tolist()))
    ]


def own(instances: Instances) -> Instances:
    """The same with its own arrays: a view would keep those of all siblings alive."""
    return Instances(
        instances.rows.copy(), instances.weights.copy(), instances.orders.copy(), instances.n_present,
        instances.stats, instances.weight,
    )  # fmt: skip
