"""Cuts of ordered columns. In: a node's instances. Out: the best cut of each column, or every cut of one.

``scan_columns`` is one pass per column: the statistics left of the cut grow row by row, those right of it are the rest.
``list_cuts`` computes every cut, for criteria that kernels do not know and for audits, which show them all.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treewright.core.elementary import log2, log2_of
from treewright.core.jit import allocating_kernel, inner_kernel, kernel
from treewright.grow.by_node.instances import Instances
from treewright.grow.criteria import medians
from treewright.grow.criteria.costs import ABSOLUTE_ERROR, FEW, POISSON, Criterion, cost_of, settled
from treewright.grow.criteria.counts import times_log
from treewright.grow.problem import Problem

# The treatment of a column's missing rows: left out, tried on both sides, or given a branch.
LEAVE_OUT, BOTH_SIDES, OWN_BRANCH = 0, 1, 2
# The side that a cut sends them to.
RIGHT, LEFT, OWN = 0, 1, 2


@inner_kernel
def subtract(whole, some, rest):
    """``rest = whole - some``; a count or weight below 0 by rounding becomes 0.

    ``whole`` float64[n_stats], ``some`` float64[n_stats], ``rest`` float64[n_stats].
    """
    for t in range(whole.shape[0]):
        rest[t] = whole[t] - some[t]


@inner_kernel
def add(stats, more, sign):
    """Add other statistics, or subtract them. ``stats`` float64[n_stats], ``more`` float64[n_stats]."""
    for t in range(stats.shape[0]):
        stats[t] += sign * more[t]


@inner_kernel
def have_events(left, right, outputs):
    """Whether both sides have a positive sum in every output: a Poisson mean of 0 has no deviance.

    ``left`` float64[n_stats], ``right`` float64[n_stats], ``outputs`` int64[n_outputs + 1].
    """
    for o in range(outputs.shape[0] - 1):
        at = outputs[o] + 1
        if min(left[at], right[at]) <= FEW * (left[at] + right[at]):
            return False
    return True


@inner_kernel
def gain_of_cut(base, left, right, outputs, number, table):
    """Decrease of the cost ``base`` by the two sides; -1 if a side is not allowed.

    ``left`` float64[n_stats], ``right`` float64[n_stats], ``outputs`` int64[n_outputs + 1], ``table`` float64[m].
    """
    if number == POISSON and not have_events(left, right, outputs):
        return -1.0
    return max(base - cost_of(left, outputs, number, table) - cost_of(right, outputs, number, table), 0.0)


@inner_kernel
def bits(part, whole):
    """``p log2 p`` of a share."""
    return part / whole * log2(part / whole) if part > 0.0 else 0.0


class Least(NamedTuple):
    """Weight that each side of a cut needs: ``flat``, or ``share`` of the known weight (at most ``most``) if more."""

    flat: float
    share: float
    most: float


@kernel
def measure(stats, outputs, number, is_classes, table):
    """Cost and weight of one set of rows.

    ``stats`` float64[n_stats], ``outputs`` int64[n_outputs + 1], ``table`` float64[m].
    """
    weight = stats[0]
    if is_classes:
        for t in range(1, outputs[1]):
            weight += stats[t]
    return cost_of(stats, outputs, number, table), weight


@allocating_kernel
def scan_columns(cells, members, additions, number, node_stats, modes, min_rows, least, tolerance, cuts):
    """Find the best cut of each ordered column.

    Parameters
    ----------
    cells : Cells
    members : Members
    additions : Additions
    node_stats : float64[n_stats]
    modes : uint8[q]
        ``LEAVE_OUT``, ``BOTH_SIDES`` or ``OWN_BRANCH``, per column.
    min_rows : int
        Instances each side needs.
    least : Least
        Weight each side needs.
    tolerance : float
        A later cut must gain this much more (in units of cost) to be preferred.
    cuts : Cuts, OUT
    """
    values, ordered_columns = cells.values, cells.ordered_columns
    rows, weights, n_present = members.rows, members.weights, members.n_present
    index, amounts, outputs, table = additions
    n_stats = node_stats.shape[0]
    m = rows.shape[0]
    left = np.zeros(n_stats)
    right = np.zeros(n_stats)
    gone = np.zeros(n_stats)
    present = np.zeros(n_stats)
    for c in range(ordered_columns.shape[0]):
        column = values[ordered_columns[c]]
        order = members.orders[c]
        last = n_present[c]
        cuts.gains[c] = -1.0
        cuts.places[c] = -1
        cuts.sides[c] = RIGHT
        cuts.infos[c] = 0.0
        cuts.n_tried[c] = 0
        if last == 0 or (last == m and column[rows[order[0]]] == column[rows[order[m - 1]]]):
            continue
        gone[:] = 0.0
        gone_weight = 0.0
        for k in range(last, m):
            row = rows[order[k]]
            gone_weight += weights[order[k]]
            for e in range(index.shape[1]):
                gone[index[row, e]] += weights[order[k]] * amounts[row, e]
        subtract(node_stats, gone, present)
        n_gone = m - last
        mode = modes[c]
        if n_gone == 0:
            mode = LEAVE_OUT
        base = cost_of(node_stats, outputs, number, table)
        if mode == LEAVE_OUT:
            base = cost_of(present, outputs, number, table)
        elif mode == OWN_BRANCH:
            base -= cost_of(gone, outputs, number, table)
        present_weight = 0.0
        for k in range(last):
            present_weight += weights[order[k]]
        min_weight = max(least.flat, min(least.most, least.share * present_weight))
        left[:] = 0.0
        left_weight = 0.0
        best = -1.0
        best_left = 0.0
        for k in range(last):
            row = rows[order[k]]
            weight = weights[order[k]]
            left_weight += weight
            for e in range(index.shape[1]):
                left[index[row, e]] += weight * amounts[row, e]
            if k == last - 1:
                break
            if column[rows[order[k + 1]]] == column[row]:
                continue
            here = k + 1
            right_weight = present_weight - left_weight
            right_extra = n_gone if mode == BOTH_SIDES else 0
            extra_weight = gone_weight if mode == BOTH_SIDES else 0.0
            subtract(present, left, right)
            # Missing right first: at equal gain that is preferred.
            if (
                min(here, last - here + right_extra) >= min_rows
                and min(left_weight, right_weight + extra_weight) >= min_weight
            ):
                cuts.n_tried[c] += 1
                if mode == BOTH_SIDES:
                    add(right, gone, 1.0)
                gain = gain_of_cut(base, left, right, outputs, number, table)
                if mode == BOTH_SIDES:
                    add(right, gone, -1.0)
                if gain > best + tolerance or (best < 0.0 and gain >= 0.0):
                    best = gain
                    cuts.places[c] = k
                    best_left = left_weight
                    cuts.sides[c] = OWN if mode == OWN_BRANCH else RIGHT
            if (
                mode == BOTH_SIDES
                and min(here + n_gone, last - here) >= min_rows
                and min(left_weight + gone_weight, right_weight) >= min_weight
            ):
                add(left, gone, 1.0)
                gain = gain_of_cut(base, left, right, outputs, number, table)
                add(left, gone, -1.0)
                if gain > best + tolerance or (best < 0.0 and gain >= 0.0):
                    best = gain
                    cuts.places[c] = k
                    best_left = left_weight
                    cuts.sides[c] = LEFT
        if mode != LEAVE_OUT and min(last, n_gone) >= min_rows and min(present_weight, gone_weight) >= min_weight:
            # Present against missing: the cut after the last present row.
            if mode == OWN_BRANCH:
                base += cost_of(gone, outputs, number, table)
            gain = gain_of_cut(base, present, gone, outputs, number, table)
            if gain > best + tolerance or (best < 0.0 and gain >= 0.0):
                best = gain
                cuts.places[c] = last - 1
                best_left = present_weight
                cuts.sides[c] = RIGHT
        cuts.gains[c] = best
        if best >= 0.0:
            before = best_left
            after = present_weight - best_left
            apart = gone_weight
            if mode == BOTH_SIDES or (mode == OWN_BRANCH and cuts.sides[c] != OWN):
                before += gone_weight if cuts.sides[c] == LEFT else 0.0
                after += gone_weight if cuts.sides[c] == RIGHT else 0.0
                apart = 0.0
            whole = before + after + apart
            cuts.infos[c] = -(bits(before, whole) + bits(after, whole) + bits(apart, whole))


@kernel
def tabulate(cells, members, additions, tables, counts):
    """Sum the statistics of each level of each level column.

    Parameters
    ----------
    cells : Cells
    members : Members
    additions : Additions
    tables : float64[n_levels, n_stats], INOUT
        Zero on entry.
    counts : int64[n_levels], INOUT
        Instances of each level.
    """
    codes, level_starts = cells.codes, cells.level_starts
    rows, weights = members.rows, members.weights
    index, amounts = additions.indices, additions.amounts
    for c in range(codes.shape[0]):
        start = level_starts[c]
        for i in range(rows.shape[0]):
            row = rows[i]
            at = start + codes[c, row]
            counts[at] += 1
            for e in range(index.shape[1]):
                tables[at, index[row, e]] += weights[i] * amounts[row, e]


@allocating_kernel
def weigh_levels(
    tables, counts, level_starts, node_stats, outputs, number, table, is_classes, has_own, gains, infos, held
):
    """The gain of a branch per level, for each level column.

    Parameters
    ----------
    tables : float64[n_levels, n_stats], counts : int64[n_levels], level_starts : int64[k + 1], IN
        As ``tabulate`` leaves them; the last row of a column is that of its missing cells.
    node_stats : float64[n_stats], IN
    outputs, table
        As in ``Problem``.
    has_own : uint8[k], IN
        Whether missing cells have a branch of their own; else they are left out.
    gains, infos : float64[k], OUT
        Decrease of cost; entropy in bits of the division, in which left-out missing rows are one part.
    held : float64[k, 4], OUT
        Branches with rows, fewest rows and least weight of one, weight of the second heaviest.
    """
    n_stats = node_stats.shape[0]
    present = np.empty(n_stats)
    for c in range(level_starts.shape[0] - 1):
        last = level_starts[c + 1] - 1
        subtract(node_stats, tables[last], present)
        gain = cost_of(node_stats if has_own[c] else present, outputs, number, table)
        n_held = 0
        fewest = counts[last] if has_own[c] and counts[last] > 0 else np.int64(2**62)
        lightest = np.inf
        first = 0.0
        second = 0.0
        whole = 0.0
        info = 0.0
        logs = 0.0
        for at in range(level_starts[c], last + 1):
            if counts[at] == 0:
                continue
            weight = tables[at, 0]
            if is_classes:
                for t in range(1, outputs[1]):
                    weight += tables[at, t]
            whole += weight
            logs += times_log(weight, table)
            if at == last and not has_own[c]:
                continue
            n_held += 1
            fewest = min(fewest, counts[at])
            lightest = min(lightest, weight)
            if weight > first:
                second = first
                first = weight
            else:
                second = max(second, weight)
            gain -= cost_of(tables[at], outputs, number, table)
        if whole > 0.0:
            info = (times_log(whole, table) - logs) / whole
        gains[c] = max(gain, 0.0)
        infos[c] = max(info, 0.0)
        held[c, 0] = n_held
        held[c, 1] = fewest
        held[c, 2] = lightest
        held[c, 3] = second


# Every cut, one by one.


@dataclass(frozen=True)
class Rules:
    """The requirements of every candidate.

    Attributes
    ----------
    nominal_splits : {"subset", "runs", "multiway", "one_vs_rest"}
        Of columns that are not in ``in_runs``.
    min_rows : int
        Rows each branch needs.
    min_weight : float
        Weight each branch needs.
    in_runs : tuple of int
        Columns whose sets of levels are first runs in the order of their codes.
    """

    nominal_splits: str = "subset"
    min_rows: int = 1
    min_weight: float = 0.0
    in_runs: tuple[int, ...] = ()

    def splits_of(self, feature: int) -> str:
        """How a nominal column is split."""
        return "runs" if feature in self.in_runs else self.nominal_splits


class Cuts(NamedTuple):
    """The best cut of each ordered column.

    Attributes
    ----------
    gains : float64[q]
        Decrease of cost; -1 if no cut is allowed.
    places : int64[q]
        The cut is after this position in the column's order.
    sides : int64[q]
        The side of missing rows: ``RIGHT``, ``LEFT`` or ``OWN``.
    infos : float64[q]
        Entropy in bits of the division that the cut makes; missing rows that it leaves out are one part.
    n_tried : int64[q]
        Number of cuts that left enough on both sides.
    """

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
        Decrease of cost by each cut.
    places : int64[k]
        The cut is after this position in the column's order.
    sides : int64[k]
        The side of missing rows (``cuts``).
    infos : float64[k]
        Entropy in bits of the division that it makes.
    n_tried : int
        Number of cuts between present values that left enough on both sides, missing rows on the right.
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
    infos = -(shares * log2_of(np.where(shares > 0.0, shares, 1.0))).sum(axis=0)
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
        """Decrease of cost by cuts after these positions, missing rows on one side; -1 if a side is not allowed."""
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
        """``gains`` computed from the rows' medians."""
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
    """Fill in the best cut of each ordered column, as ``scan_columns`` does."""
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
    """The cut between two neighbouring values; ``+inf`` if ``after`` is nan (present against missing).

    As ``grow.exact.grower.thresholds``, but for a single cut: for whole arrays it takes 60 us.
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
