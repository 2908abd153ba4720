"""Every cut of an ordered column, one by one. In: a node's instances. Out: ``CutList``; the best of each column.

Callers: grow.by_node.search (criteria that kernels do not know), explain.audit (which shows every candidate).
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np

from treewright.grow.by_node import medians
from treewright.grow.by_node.criteria import ABSOLUTE_ERROR, Criterion, settled
from treewright.grow.by_node.instances import Instances
from treewright.grow.by_node.problem import Problem
from treewright.grow.by_node.scan import BOTH_SIDES, LEAVE_OUT, LEFT, OWN, OWN_BRANCH, RIGHT


@dataclass(frozen=True)
class Rules:
    """What every candidate must meet.

    Attributes
    ----------
    nominal_splits : {"subset", "multiway", "one_vs_rest"}
    min_rows : int
        Rows each branch needs.
    min_weight : float
        Weight each branch needs.
    """

    nominal_splits: str = "subset"
    min_rows: int = 1
    min_weight: float = 0.0


@dataclass(frozen=True, eq=False)
class Cuts:
    """The best cut of each ordered column: arrays of length q, as ``scan.scan_columns`` leaves them."""

    gains: np.ndarray
    places: np.ndarray
    sides: np.ndarray
    infos: np.ndarray
    n_tried: np.ndarray


@dataclass(frozen=True, eq=False)
class CutList:
    """The allowed cuts of one column at one node, in the order in which they are preferred at equal gain.

    Attributes
    ----------
    gains : float64[k]
        Cost that each takes away.
    places : int64[k]
        It lies behind this place in the column's order.
    sides : int64[k]
        Where missing rows go (``scan``).
    infos : float64[k]
        Entropy in bits of the division that it makes.
    n_tried : int
        Cuts between present values that left enough on both sides, missing rows on the right.
    """

    gains: np.ndarray
    places: np.ndarray
    sides: np.ndarray
    infos: np.ndarray
    n_tried: int


def list_cuts(
    problem: Problem,
    criterion: Criterion,
    instances: Instances,
    place: int,
    mode: int,
    *,
    min_rows: int = 1,
    min_weight: float = 0.0,
) -> CutList:
    """Every allowed cut of the ordered column number ``place``."""
    order, last = instances.orders[place], int(instances.n_present[place])
    rows, weights = instances.rows[order], instances.weights[order]
    x = problem.values[problem.ordered_columns[place], rows[:last]]
    n_gone = len(rows) - last
    mode = mode if n_gone else LEAVE_OUT
    places = np.flatnonzero(x[1:] > x[:-1])
    offers = [(places, OWN if mode == OWN_BRANCH else RIGHT)]
    if mode == BOTH_SIDES:
        offers.append((places, LEFT))
    if mode != LEAVE_OUT and last:
        offers.append((np.array([last - 1]), RIGHT))
    costs = _SideCosts(problem, criterion, rows, weights, last, mode)
    below = np.concatenate([[0.0], np.cumsum(weights)])
    gone_weight = float(below[-1] - below[last])
    gains, kept_places, sides = [], [], []
    n_tried = 0
    for number, (offered, side) in enumerate(offers):
        n_left = offered + 1 + (n_gone if side == LEFT else 0)
        left_weight = below[offered + 1] + (gone_weight if side == LEFT else 0.0)
        n_all = last if side == OWN or mode == LEAVE_OUT else len(rows)
        all_weight = below[last] if side == OWN or mode == LEAVE_OUT else below[-1]
        enough = np.minimum(n_left, n_all - n_left) >= min_rows
        enough &= np.minimum(left_weight, all_weight - left_weight) >= min_weight
        n_tried += int(enough.sum()) if number == 0 else 0
        gain = costs.gains(offered, side)
        allowed = enough & (gain >= 0.0)
        gains.append(gain[allowed])
        kept_places.append(offered[allowed])
        sides.append(np.full(int(allowed.sum()), side))
    at, where = np.concatenate(kept_places), np.concatenate(sides)
    preferred = np.lexsort((where, at))
    at = at[preferred]
    where = where[preferred]
    before, apart = below[at + 1], np.full(len(at), gone_weight)
    after = below[last] - before
    if mode != LEAVE_OUT:
        before = before + np.where(where == LEFT, apart, 0.0)
        after = after + np.where(where == RIGHT, apart, 0.0)
        apart = np.where(where == OWN, apart, 0.0)
    shares = np.stack([before, after, apart]) / below[-1]
    infos = -(shares * np.log2(np.where(shares > 0.0, shares, 1.0))).sum(axis=0)
    return CutList(np.concatenate(gains)[preferred], at, where, infos, n_tried)


class _SideCosts:
    """Costs of both sides of cuts, from running tables or, for medians, from the rows."""

    def __init__(
        self, problem: Problem, criterion: Criterion, rows: np.ndarray, weights: np.ndarray, last: int, mode: int
    ) -> None:
        self.problem, self.criterion, self.rows, self.weights = problem, criterion, rows, weights
        self.last, self.mode = last, mode
        self.by_rows = criterion.number == ABSOLUTE_ERROR
        if not self.by_rows:
            parts = np.zeros((len(rows), problem.n_stats))
            np.add.at(
                parts,
                (np.arange(len(rows))[:, None], problem.index[rows]),
                problem.amounts[rows] * weights[:, None],
            )
            self.running = np.cumsum(parts[:last], axis=0)
            self.gone = parts[last:].sum(axis=0)
            self.present = self.running[-1] if last else np.zeros(problem.n_stats)

    def gains(self, places: np.ndarray, side: int) -> np.ndarray:
        """Cost that cuts behind these places take away, missing rows on one side; -1 where a side may not exist."""
        if self.by_rows:
            return self._by_rows(places, side)
        left = self.running[places]
        right = self.present - left
        base = self.present
        costs = np.zeros(())
        if self.mode != LEAVE_OUT:
            base = self.present + self.gone
            if side == LEFT:
                left = left + self.gone
            elif side == RIGHT:
                right = right + self.gone
            else:
                costs = self.criterion.costs(self.problem, self.gone)
        costs = costs + self.criterion.costs(self.problem, left) + self.criterion.costs(self.problem, right)
        whole = self.criterion.costs(self.problem, base)
        gains = settled(self.criterion, whole - costs, whole)
        return np.where(self.criterion.may_part(self.problem, left, right), gains, -1.0)

    def _by_rows(self, places: np.ndarray, side: int) -> np.ndarray:
        """The same from the rows' medians."""
        last = self.last
        gone = np.arange(last, len(self.rows)) if self.mode != LEAVE_OUT else np.empty(0, np.int64)
        present = np.arange(last)
        first, second = present, present[::-1]
        own = 0.0
        if side == LEFT:
            first = np.concatenate([gone, present])
        elif side == RIGHT:
            second = np.concatenate([gone, present[::-1]])
        else:
            own = medians.cost(self.problem, self.rows[gone], self.weights[gone])
        every = np.concatenate([present, gone])
        left = medians.costs_along(self.problem, self.rows[first], self.weights[first])
        right = medians.costs_along(self.problem, self.rows[second], self.weights[second])
        n_left = places + 1 + (len(gone) if side == LEFT else 0)
        n_right = last - 1 - places + (len(gone) if side == RIGHT else 0)
        base = medians.cost(self.problem, self.rows[every], self.weights[every])
        costs = left[n_left - 1] + np.where(n_right > 0, right[n_right - 1], 0.0) + own
        return np.maximum(base - costs, 0.0)


def best_cuts_by_table(
    problem: Problem,
    criterion: Criterion,
    instances: Instances,
    modes: np.ndarray,
    rules: Rules,
    tolerance: float,
    cuts: Cuts,
) -> None:
    """Fill in the best cut of each ordered column, as ``scan.scan_columns`` does."""
    for place in range(len(problem.ordered_columns)):
        found = list_cuts(
            problem, criterion, instances, place, int(modes[place]),
            min_rows=rules.min_rows, min_weight=rules.min_weight,
        )  # fmt: skip
        cuts.n_tried[place] = found.n_tried
        cuts.gains[place] = -1.0
        if len(found.gains):
            best = int((found.gains >= found.gains.max() - tolerance).argmax())
            cuts.gains[place], cuts.places[place] = found.gains[best], found.places[best]
            cuts.sides[place], cuts.infos[place] = found.sides[best], found.infos[best]


def middle_between(before: float, after: float) -> float:
    """The cut between two neighbouring values; ``+inf`` where ``after`` is nan (present against missing).

    One at a time what ``grow.grower.thresholds`` does for whole arrays, which takes 60 us.
    """
    if after != after:
        return math.inf
    if max(abs(before), abs(after)) < 1.0:
        middle = (before + after) / 2.0
    elif before == -math.inf and after == math.inf:
        middle = 0.0
    else:
        middle = min(max(before / 2.0 + after / 2.0, -sys.float_info.max), sys.float_info.max)
    return before + 0.0 if middle >= after or middle < before else middle + 0.0
