"""CHAID's way to choose a test: levels that differ least are merged. In: a problem. Out: a policy.

Categories are the levels that the node holds, in code order; a nominal column's missing cells are one more. A group is
named by its lowest category, and remembers the later group that it differs least from: after a merge only the new group
and those that remembered one of its parts search again.

Kass 1980; Biggs, de Ville and Suen 1991 for the exhaustive search: the levels of every column are merged until the
remaining groups differ significantly; the column whose groups have the smallest adjusted p-value splits the node, if
that is significant. CHAID uses levels only: a numeric column is cut once, at the root, into bins that then merge as
neighbours; its tests are written with its own numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np

from treewright.core.elementary import exp_of, log_of
from treewright.core.jit import allocating_inner_kernel, allocating_kernel, inner_kernel
from treewright.exceptions import DataError, ParameterError
from treewright.grow.by_node.candidates import Candidate, level_branches, split_information
from treewright.grow.by_node.cuts import middle_between, tabulate
from treewright.grow.by_node.instances import EVERY_BRANCH, Instances, value_of
from treewright.grow.by_node.search import Choice
from treewright.grow.by_node.significance import (
    F_TEST,
    LIKELIHOOD_RATIO,
    PEARSON,
    compare,
    log_multiplier,
    log_p_of_pair,
    test_groups,
)
from treewright.grow.criteria.costs import Criterion, cost_of
from treewright.grow.problem import Problem
from treewright.trees.arrays import INTERVALS, MULTIWAY, THRESHOLD

# Positions of a column's numbers in the output of ``merge_columns``.
N_GROUPS, STATISTIC, DOF, DOF_WITHIN, LOG_P, LOG_MULTIPLIER, LOG_ADJUSTED, GAIN, JOINED = range(9)
N_NUMBERS = 9
ALONE = -1.0  # as JOINED: the floating category is a group of its own, or there is none
MOST_KINDS = 64
CLOSER = 1e-12  # logarithms of p-values that differ by a smaller share are equal


@inner_kernel
def _is_closer(statistic, room, log_p, than):
    """Whether a pair differs less than the pair whose statistic, room and log p are ``than``. ``than`` float64[3]."""
    if room == than[1]:
        return statistic < than[0]
    return log_p > than[2] or (log_p == than[2] and statistic < than[0])


@inner_kernel
def _is_alike(than):
    """Whether a pair does not differ at all: no later pair is closer. ``than`` float64[3]."""
    return than[0] == 0.0 and than[2] == 0.0


@inner_kernel
def _offer(one, j, sums, test, at, partner, best):
    """Let ``at`` remember group j, if ``one`` differs less from it than from the group that ``at`` remembers.

    ``one`` float64[n_stats], ``sums`` float64[g, n_stats], ``partner`` int64[g], ``best`` float64[g, 3].
    """
    known = partner[at] >= 0
    if known and partner[at] < j and _is_alike(best[at]):
        return
    statistic, room = compare(one, sums[j], test)
    if known and room <= best[at, 1] and statistic > best[at, 0]:
        return  # a larger statistic with no more room has a smaller p: no need to compute it
    log_p = log_p_of_pair(statistic, room, test)
    if known and not _is_closer(statistic, room, log_p, best[at]):
        is_same = statistic == best[at, 0] and room == best[at, 1]
        if not (is_same and j < partner[at]):
            return
    partner[at] = j
    best[at, 0] = statistic
    best[at, 1] = room
    best[at, 2] = log_p


@inner_kernel
def _look_behind(i, sums, alive, is_ordered, test, partner, best):
    """Find the later group that i differs least from; with an order only the next one may join it.

    ``sums`` float64[g, n_stats], ``alive`` bool[g], ``partner`` int64[g], ``best`` float64[g, 3].
    """
    partner[i] = -1
    for j in range(i + 1, alive.shape[0]):
        if alive[j]:
            _offer(sums[i], j, sums, test, i, partner, best)
            if is_ordered or _is_alike(best[i]):
                return


@inner_kernel
def _closest_pair(alive, partner, best):
    """The first group of the pair that differs least; -1 if there is none.

    ``alive`` bool[g], ``partner`` int64[g], ``best`` float64[g, 3].
    """
    found = -1
    for i in range(alive.shape[0]):
        if alive[i] and partner[i] >= 0 and (found < 0 or _is_closer(best[i, 0], best[i, 1], best[i, 2], best[found])):
            found = i
            if _is_alike(best[i]):
                break
    return found


@allocating_inner_kernel
def _most_similar(one, i, sums, alive, is_ordered, test):
    """The group that ``one`` differs least from, of those it may join; -1 if there is none.

    ``one`` is group i, which joins a neighbour if there is an order; i = -1 is the floating category, which may join
    any.

    ``one`` float64[n_stats], ``sums`` float64[g, n_stats], ``alive`` bool[g].
    """
    partner = np.full(1, -1, np.int64)
    best = np.zeros((1, 3))
    below = -1
    for j in range(i):
        if alive[j]:
            below = j
            if not is_ordered:
                _offer(one, j, sums, test, 0, partner, best)
    if is_ordered and below >= 0:
        _offer(one, below, sums, test, 0, partner, best)
    for j in range(i + 1, alive.shape[0]):
        if alive[j]:
            _offer(one, j, sums, test, 0, partner, best)
            if is_ordered and i >= 0:
                break
    return partner[0]


@inner_kernel
def _join(a, b, sums, rows, alive, group):
    """Merge group b into group a.

    ``sums`` float64[g, n_stats], ``rows`` int64[g], ``alive`` bool[g], ``group`` int64[g].
    """
    for t in range(sums.shape[1]):
        sums[a, t] += sums[b, t]
    rows[a] += rows[b]
    alive[b] = False
    for c in range(group.shape[0]):
        if group[c] == b:
            group[c] = a


@inner_kernel
def _look_again(a, b, sums, alive, is_ordered, test, partner, best):
    """Update what groups remember after b was merged into a.

    ``sums`` float64[g, n_stats], ``alive`` bool[g], ``partner`` int64[g], ``best`` float64[g, 3].
    """
    for i in range(alive.shape[0]):
        if not alive[i]:
            continue
        if i == a or partner[i] == a or partner[i] == b:
            _look_behind(i, sums, alive, is_ordered, test, partner, best)
        elif i < a and not is_ordered:
            _offer(sums[i], a, sums, test, i, partner, best)


@inner_kernel
def _gather(sums, alive, gone, joined, is_floating, gathered):
    """Put the groups one below the other, with the floating category; returns their number.

    ``sums`` float64[g, n_stats], ``alive`` bool[g], ``gone`` float64[n_stats], ``gathered`` float64[g + 1, n_stats].
    """
    r = 0
    for i in range(alive.shape[0]):
        if not alive[i]:
            continue
        for t in range(sums.shape[1]):
            gathered[r, t] = sums[i, t] + (gone[t] if is_floating and i == joined else 0.0)
        r += 1
    if is_floating and joined < 0:
        for t in range(sums.shape[1]):
            gathered[r, t] = gone[t]
        r += 1
    return r


@inner_kernel
def _judge_one(sums, alive, gone, joined, n_categories, is_ordered, is_floating, options, gathered, numbers):
    """Test the groups, with the floating category in group ``joined`` or alone; ``numbers`` as in ``merge_columns``.

    ``sums`` float64[g, n_stats], ``alive`` bool[g], ``gone`` float64[n_stats], ``gathered`` float64[g + 1, n_stats],
    ``numbers`` float64[N_NUMBERS].
    """
    is_exhaustive, is_adjusted, test = options
    r = _gather(sums, alive, gone, joined, is_floating, gathered)
    numbers[N_GROUPS] = 0.0
    numbers[LOG_ADJUSTED] = np.inf
    if r < 2:
        return
    numbers[N_GROUPS] = r
    numbers[JOINED] = joined
    numbers[STATISTIC], numbers[DOF], numbers[DOF_WITHIN], numbers[LOG_P] = test_groups(gathered, r, test)
    numbers[LOG_MULTIPLIER] = 0.0
    if is_adjusted:
        numbers[LOG_MULTIPLIER] = log_multiplier(n_categories, r, is_ordered, is_floating, is_exhaustive)
    numbers[LOG_ADJUSTED] = numbers[LOG_P] + numbers[LOG_MULTIPLIER]


@inner_kernel
def _is_clearly_less(first, second):
    """Whether a logarithm is below another by more than rounding."""
    if second == np.inf or first == -np.inf or second == -np.inf:
        return first < second
    return first < second - CLOSER * max(abs(second), 1.0)


@allocating_inner_kernel
def _judge(sums, alive, gone, n_gone, min_rows, n_categories, is_ordered, options, gathered, numbers):
    """Test the groups; a floating category (``n_gone`` rows, 0 for none) joins the most similar one or stays alone.

    ``sums`` float64[g, n_stats], ``alive`` bool[g], ``gone`` float64[n_stats], ``gathered`` float64[g + 1, n_stats],
    ``numbers`` float64[N_NUMBERS].
    """
    if n_gone == 0:
        _judge_one(sums, alive, gone, -1, n_categories, is_ordered, False, options, gathered, numbers)
        return
    joined = _most_similar(gone, -1, sums, alive, is_ordered, options[2])
    _judge_one(sums, alive, gone, joined, n_categories, is_ordered, True, options, gathered, numbers)
    if n_gone >= min_rows:
        other = np.zeros(N_NUMBERS)
        _judge_one(sums, alive, gone, -1, n_categories, is_ordered, True, options, gathered, other)
        if _is_clearly_less(other[LOG_ADJUSTED], numbers[LOG_ADJUSTED]):
            for at in range(N_NUMBERS):
                numbers[at] = other[at]


@allocating_inner_kernel
def _merge_down(
    sums, rows, alive, group, gone, n_gone, min_rows, n_categories, is_ordered, log_alpha, options, gathered, numbers
):
    """Merge the pair that differs least while it is not significant; exhaustive: the best of all steps down to two.

    ``sums`` float64[g, n_stats], ``rows`` int64[g], ``alive`` bool[g], ``group`` int64[g], ``gone`` float64[n_stats],
    ``gathered`` float64[g + 1, n_stats], ``numbers`` float64[N_NUMBERS].
    """
    is_exhaustive, _, test = options
    g = alive.shape[0]
    partner = np.full(g, -1, np.int64)
    best = np.zeros((g, 3))
    for i in range(g):
        if alive[i]:
            _look_behind(i, sums, alive, is_ordered, test, partner, best)
    first_sums = sums.copy()
    first_rows = rows.copy()
    merged = np.empty((g, 2), np.int64)
    step = 0
    best_step = 0
    least = np.inf
    if is_exhaustive:
        _judge(sums, alive, gone, n_gone, min_rows, n_categories, is_ordered, options, gathered, numbers)
        least = numbers[LOG_ADJUSTED]
    n_alive = alive.sum()
    fewest = 1 if n_gone > 0 else 2
    while n_alive - step > fewest:
        a = _closest_pair(alive, partner, best)
        if not is_exhaustive and not best[a, 2] > log_alpha:
            break
        b = partner[a]
        _join(a, b, sums, rows, alive, group)
        _look_again(a, b, sums, alive, is_ordered, test, partner, best)
        merged[step, 0] = a
        merged[step, 1] = b
        step += 1
        if is_exhaustive:
            _judge(sums, alive, gone, n_gone, min_rows, n_categories, is_ordered, options, gathered, numbers)
            if _is_clearly_less(numbers[LOG_ADJUSTED], least):
                least = numbers[LOG_ADJUSTED]
                best_step = step
    if not is_exhaustive:
        return
    for i in range(g):
        rows[i] = first_rows[i]
        alive[i] = True
        group[i] = i
        for t in range(sums.shape[1]):
            sums[i, t] = first_sums[i, t]
    for at in range(best_step):
        _join(merged[at, 0], merged[at, 1], sums, rows, alive, group)


@allocating_inner_kernel
def _merge_alike(sums, rows, alive, group, test):
    """Merge nominal levels that do not differ, down to two groups: they would be the first to merge.

    These are levels with the same class proportions, and for regression levels of one row. An identifier has as many
    levels as rows, but few different ones: this merges them in one pass. Every level is compared with the first
    ``MOST_KINDS`` groups.

    ``sums`` float64[g, n_stats], ``rows`` int64[g], ``alive`` bool[g], ``group`` int64[g].
    """
    kinds = np.empty(MOST_KINDS, np.int64)
    n_kinds = 0
    n_alive = alive.shape[0]
    for j in range(alive.shape[0]):
        if n_alive <= 2:
            return
        if test == F_TEST and sums[j, 0] > 1.0:
            continue
        is_new = True
        for k in range(n_kinds):
            if test == F_TEST or compare(sums[kinds[k]], sums[j], test)[0] == 0.0:
                for t in range(sums.shape[1]):
                    sums[kinds[k], t] += sums[j, t]
                rows[kinds[k]] += rows[j]
                alive[j] = False
                group[j] = kinds[k]
                n_alive -= 1
                is_new = False
                break
        if is_new and n_kinds < MOST_KINDS:
            kinds[n_kinds] = j
            n_kinds += 1


@inner_kernel
def _merge_small(sums, rows, alive, group, min_rows, is_ordered, test):
    """Merge each group of fewer than ``min_rows`` rows, smallest first, with the one it differs least from.

    ``sums`` float64[g, n_stats], ``rows`` int64[g], ``alive`` bool[g], ``group`` int64[g].

    Returns
    -------
    int
        Number of merges; -1 if the last group is still too small.
    """
    n_merged = 0
    while True:
        smallest = -1
        for i in range(alive.shape[0]):
            if alive[i] and rows[i] < min_rows and (smallest < 0 or rows[i] < rows[smallest]):
                smallest = i
        if smallest < 0:
            return n_merged
        other = _most_similar(sums[smallest], smallest, sums, alive, is_ordered, test)
        if other < 0:
            return -1
        _join(min(smallest, other), max(smallest, other), sums, rows, alive, group)
        n_merged += 1


@allocating_inner_kernel
def _merge_column(tables, counts, is_ordered, min_rows, log_alpha, options, groups, numbers):
    """One column: ``tables``, ``counts`` and ``groups`` are its part of the whole. Returns the gathered groups.

    ``tables`` float64[v + 1, n_stats], ``counts`` int64[v + 1], ``groups`` int64[v + 1], ``numbers``
    float64[N_NUMBERS].
    """
    v = counts.shape[0] - 1
    n_gone = counts[v] if is_ordered else 0
    held = np.flatnonzero(counts[: v if is_ordered else v + 1])
    g = held.shape[0]
    gathered = np.zeros((g + 1, tables.shape[1]))
    n_categories = g + (1 if n_gone > 0 else 0)
    numbers[N_GROUPS] = 0.0
    if g == 0 or n_categories < 2:
        return gathered
    sums = tables[held]
    rows = counts[held]
    alive = np.ones(g, np.bool_)
    group = np.arange(g)
    gone = tables[v]
    if not is_ordered and not options[0] and log_alpha < 0.0:
        _merge_alike(sums, rows, alive, group, options[2])
    while True:
        _merge_down(
            sums, rows, alive, group, gone, n_gone, min_rows, n_categories, is_ordered, log_alpha, options, gathered,
            numbers,
        )  # fmt: skip
        numbers[N_GROUPS] = 0.0
        n_merged = _merge_small(sums, rows, alive, group, min_rows, is_ordered, options[2])
        if n_merged < 0:
            return gathered
        # A group that a small one joined may no longer differ from another: merge on. In an exhaustive search the best
        # step is final.
        if n_merged == 0 or options[0]:
            break
    _judge(sums, alive, gone, n_gone, min_rows, n_categories, is_ordered, options, gathered, numbers)
    number = np.cumsum(alive) - 1
    for i in range(g):
        groups[held[i]] = number[group[i]]
    if n_gone > 0:
        joined = int(numbers[JOINED])
        groups[v] = number[joined] if joined >= 0 else alive.sum()
        _gather(sums, alive, gone, joined, True, gathered)
    return gathered


@allocating_kernel
def merge_columns(
    tables, counts, level_starts, is_ordered, stats, outputs, criterion, min_rows, log_alpha, options, groups, numbers
):
    """Merge the levels of each level column and test the groups.

    Parameters
    ----------
    tables : float64[n_levels, n_stats], counts : int64[n_levels], IN
        As ``cuts.tabulate`` leaves them.
    level_starts : int64[k + 1], IN
    is_ordered : bool[k], IN
        Whether only neighbours may merge, and missing cells float.
    stats : float64[n_stats], IN
        Statistics of the node.
    outputs : int64[n_outputs + 1], criterion : int
        As in ``criteria.cost_of``: the impurity that gains are stated in.
    min_rows : int
        Rows that each group needs.
    log_alpha : float
        Pairs merge while the logarithm of their p-value is above it.
    options : (bool, bool, int)
        Exhaustive search; Bonferroni's correction; a test of ``chaid_significance``.
    groups : int64[n_levels], OUT
        Group of each level, from 0 in the order of their lowest levels; -1 for a level that the node does not hold.
        Missing cells alone are the last group.
    numbers : float64[k, N_NUMBERS], OUT
        The numbers that the constants of this module name; ``N_GROUPS`` is 0 if a column has no two groups. The gain is
        the decrease of cost by the groups.
    """
    groups[:] = -1
    numbers[:] = 0.0
    no_table = np.empty(0)
    base = cost_of(stats, outputs, criterion, no_table)
    for k in range(level_starts.shape[0] - 1):
        start = level_starts[k]
        stop = level_starts[k + 1]
        gathered = _merge_column(
            tables[start:stop], counts[start:stop], is_ordered[k], min_rows, log_alpha, options, groups[start:stop],
            numbers[k],
        )  # fmt: skip
        cost = 0.0
        for r in range(int(numbers[k, N_GROUPS])):
            cost += cost_of(gathered[r], outputs, criterion, no_table)
        numbers[k, GAIN] = max(base - cost, 0.0)
        # Only now: above 1, sets of groups still have an order.
        numbers[k, LOG_ADJUSTED] = min(numbers[k, LOG_ADJUSTED], 0.0)


TESTS = {"pearson": PEARSON, "likelihood_ratio": LIKELIHOOD_RATIO}
SAME = 1e-10  # logarithms of p-values, and statistics, that differ by a smaller share are equal
MOST_WEIGHT = 2.0**53  # weights are counts, and float64 counts exactly up to here


@dataclass(frozen=True)
class ChaidRules:
    """The limits of merging and splitting.

    Attributes
    ----------
    alpha : float
        The largest adjusted p-value that splits a node.
    alpha_merge : float
        Pairs whose p-value is above it merge.
    min_rows : int
        Rows that each branch needs: a smaller group joins the one that it differs least from.
    exhaustive : bool
        Merge down to two groups and take the step with the smallest adjusted p-value.
    bonferroni : bool
    test : {"pearson", "likelihood_ratio"}
        For classification; regression uses the F test.
    """

    alpha: float = 0.05
    alpha_merge: float = 0.05
    min_rows: int = 1
    exhaustive: bool = False
    bonferroni: bool = True
    test: str = "pearson"


@dataclass(frozen=True, eq=False)
class Merged:
    """The columns of one node after merging.

    Attributes
    ----------
    tables : float64[n_levels, n_stats]
        Statistics of each level.
    groups : int64[n_levels], numbers : float64[p, N_NUMBERS]
        As ``chaid_merging.merge_columns`` fills them in.
    gains, scores : float64[p]
        Decrease of impurity, and minus the decimal logarithm of the adjusted p-value; -1 and nan if a column has no
        two groups.
    """

    tables: np.ndarray
    groups: np.ndarray
    numbers: np.ndarray
    gains: np.ndarray
    scores: np.ndarray


class ChaidPolicy:
    """The column with the smallest adjusted p-value; among equals the larger statistic, then the lower column."""

    by_ratio: ClassVar[bool] = False

    def __init__(self, problem: BinnedProblem, rules: ChaidRules) -> None:
        self.problem, self.rules = problem, rules
        self.criterion = Criterion.of("gini" if problem.is_classes else "squared_error")
        self.test = TESTS[rules.test] if problem.is_classes else F_TEST

    def impurity(self, instances: Instances) -> float:
        """Impurity of a node: Gini's, or the variance."""
        return float(self.criterion.impurities(self.problem, instances.stats))

    def value(self, instances: Instances) -> np.ndarray:
        """The value of a node: class counts, or the mean."""
        return value_of(self.problem, instances)

    def may_split(self, instances: Instances) -> bool:  # noqa: ARG002 - other algorithms look at them
        """Whether the node is searched: always."""
        return True

    def choose(self, instances: Instances, columns: Sequence[int] | None = None) -> Choice:
        """Choose among these columns; None means all."""
        merged = self.merge(instances)
        scores = merged.scores
        if columns is not None:
            asked = np.zeros(len(scores), bool)
            asked[columns] = True
            scores = np.where(asked, scores, np.nan)
        feature = self.most_significant(merged, scores)
        chosen = None if feature is None else self.build(merged, feature)
        return Choice(merged.gains, scores, chosen)

    def candidates(self, instances: Instances) -> list[Candidate]:
        """The groups of each column that has at least two, significant or not."""
        merged = self.merge(instances)
        return [self.build(merged, feature) for feature in np.flatnonzero(~np.isnan(merged.scores)).tolist()]

    def merge(self, instances: Instances) -> Merged:
        """Merge the levels of every column at one node."""
        problem, rules = self.problem, self.rules
        n_levels = int(problem.level_starts[-1])
        tables, counts = np.zeros((n_levels, problem.n_stats)), np.zeros(n_levels, np.int64)
        tabulate(problem.cells, instances.members, problem.additions, tables, counts)
        groups = np.empty(n_levels, np.int64)
        numbers = np.empty((len(problem.schema), N_NUMBERS))
        merge_columns(
            tables, counts, problem.level_starts, problem.is_ordered, instances.stats, problem.outputs,
            self.criterion.number, rules.min_rows, log_of(rules.alpha_merge) if rules.alpha_merge > 0 else -math.inf,
            (bool(rules.exhaustive), bool(rules.bonferroni), self.test), groups, numbers,
        )  # fmt: skip
        offered = numbers[:, N_GROUPS] > 0
        weight = float(problem.weight_of(instances.stats))
        gains = np.where(offered, numbers[:, GAIN] / weight, -1.0)
        scores = np.where(offered, -numbers[:, LOG_ADJUSTED] / log_of(10.0) + 0.0, np.nan)
        return Merged(tables, groups, numbers, gains, scores)

    def most_significant(self, merged: Merged, scores: np.ndarray) -> int | None:
        """The column that splits; None if none is significant."""
        if np.isnan(scores).all():
            return None
        largest = float(np.nanmax(scores))
        if largest < -log_of(self.rules.alpha) / log_of(10.0):
            return None
        slack = SAME * max(largest, 1.0) if largest < math.inf else 0.0
        equal = np.flatnonzero(scores >= largest - slack)
        statistics = merged.numbers[equal, STATISTIC]
        return int(equal[int((statistics >= statistics.max() * (1.0 - SAME)).argmax())])

    def build(self, merged: Merged, feature: int) -> Candidate:
        """The test of a column that has at least two groups."""
        problem, numbers = self.problem, merged.numbers[feature]
        levels = problem.levels_of(feature)
        groups = merged.groups[levels.start : levels.stop + 1]
        weights = problem.weight_of(merged.tables[levels.start : levels.stop + 1])
        n_branches = int(numbers[N_GROUPS])
        branch_weights = np.bincount(groups[groups >= 0], weights=weights[groups >= 0], minlength=n_branches)
        missing_branch = int(groups[-1]) if groups[-1] >= 0 else EVERY_BRANCH
        candidate = Candidate(
            feature=feature,
            kind=MULTIWAY,
            n_branches=n_branches,
            missing_branch=missing_branch,
            gain=float(merged.gains[feature]),
            score=float(merged.scores[feature]),
            split_info=split_information(branch_weights),
            p_value=float(exp_of(numbers[LOG_ADJUSTED])),
            notes=_notes(numbers),
        )
        if problem.is_ordered[feature]:
            return self._with_cuts(candidate, groups[:-1])
        heaviest = int(branch_weights.argmax())
        if n_branches == 2:
            heaviest = int(branch_weights[0] <= branch_weights[1])  # as in the grower: the second if both are equal
        return replace(candidate, branch_of=level_branches(len(groups) - 1, groups[:-1], groups[:-1] >= 0, heaviest))

    def _with_cuts(self, candidate: Candidate, groups: np.ndarray) -> Candidate:
        """Cuts between groups of ranks or bins; those that the node does not hold are divided at their middle."""
        held = np.flatnonzero(groups >= 0)
        last = np.flatnonzero(np.diff(groups[held]))
        cuts = self.problem.edges[candidate.feature][(held[last] + held[last + 1] - 1) // 2]
        if len(cuts) == 0:
            return replace(candidate, kind=THRESHOLD, threshold=math.inf)  # present against missing
        if len(cuts) == 1:
            return replace(candidate, kind=THRESHOLD, threshold=float(cuts[0]))
        if len(cuts) == candidate.n_branches - 2:
            cuts = np.append(cuts, math.inf)  # the last branch is that of missing cells alone
        return replace(candidate, kind=INTERVALS, cuts=cuts)


def _notes(numbers: np.ndarray) -> dict[str, float]:
    """The numbers behind the adjusted p-value."""
    log_multiplier = float(numbers[LOG_MULTIPLIER])
    multiplier = float(exp_of(log_multiplier)) if log_multiplier < 709.0 else math.inf
    notes = {
        "groups": float(numbers[N_GROUPS]),
        "statistic": float(numbers[STATISTIC]),
        "dof": float(numbers[DOF]),
        "unadjusted_p_value": float(exp_of(numbers[LOG_P])),
        "multiplier": float(round(multiplier)) if multiplier < 1e12 else multiplier,
    }
    if numbers[DOF_WITHIN] > 0.0:
        notes["dof_within"] = float(numbers[DOF_WITHIN])
    return notes


# Numbers as ranks.


@dataclass(frozen=True, eq=False, kw_only=True)
class BinnedProblem(Problem):
    """A problem whose columns are all level columns; ``values`` are still the numbers and ranks as given.

    Attributes
    ----------
    edges : tuple of float64[bins - 1]
        Per column, ascending: a bin holds the values above the previous edge up to its own; those of an ordinal
        column are its ranks. Empty for a nominal column.
    is_ordered : bool[p]
        Whether only neighbours may merge.
    """

    edges: tuple[np.ndarray, ...]
    is_ordered: np.ndarray


def bin_numbers(problem: Problem, n_bins: int) -> BinnedProblem:
    """Cut every numeric column into at most ``n_bins`` bins of about equal weight.

    Parameters
    ----------
    problem : Problem, one output
    n_bins : int >= 2

    Returns
    -------
    BinnedProblem
    """
    if problem.n_outputs > 1:
        raise ParameterError(
            f"CHAID takes one target, but y has {problem.n_outputs}: fit one tree for each, or use another algorithm"
        )
    total = float(problem.weights.sum()) * problem.weight_unit
    if total > MOST_WEIGHT:
        raise DataError(
            f"the weights add up to {total:g}, but CHAID treats a weight as a number of rows: scale them down, so that "
            "they add up to the number of rows"
        )
    columns = problem.schema.columns
    edges = [
        _edges(values, problem.weights, n_bins)
        if column.kind == "numeric"
        else np.arange(0.5, len(column.levels) - 1 if column.kind == "ordinal" else 0)
        for column, values in zip(columns, problem.values, strict=True)
    ]
    n_levels = np.array(
        [len(c.levels) if c.kind == "nominal" else len(e) + 1 for c, e in zip(columns, edges, strict=True)], np.int64
    )
    codes = np.empty(problem.values.shape, np.int32)
    for at, (column, values) in enumerate(zip(columns, problem.values, strict=True)):
        missing = np.isnan(values)
        level = np.searchsorted(edges[at], values, side="left") if column.kind == "numeric" else np.nan_to_num(values)
        codes[at] = np.where(missing, n_levels[at], level)
    changed = {
        "level_columns": np.arange(len(columns)),
        "ordered_columns": np.empty(0, np.int64),
        "codes": codes,
        "level_starts": np.concatenate([[0], np.cumsum(n_levels + 1)]).astype(np.int64),
        "edges": tuple(edges),
        "is_ordered": np.array([column.kind != "nominal" for column in columns], bool),
    }
    kept = {each.name: getattr(problem, each.name) for each in fields(Problem)}
    return BinnedProblem(**(kept | changed))


def _edges(values: np.ndarray, weights: np.ndarray, n_bins: int) -> np.ndarray:
    """Edges between quantile bins of a column: every value if there are at most ``n_bins``.

    A value is in the bin in which the middle of its weight falls, so that equal values are never separated.
    """
    present = ~np.isnan(values)
    distinct, which = np.unique(values[present], return_inverse=True)
    if len(distinct) < 2:
        return np.empty(0)
    if len(distinct) <= n_bins:
        behind = np.arange(len(distinct) - 1)
    else:
        weight = np.bincount(which, weights=weights[present])
        running = np.cumsum(weight)
        bins = ((running - 0.5 * weight) * n_bins / running[-1]).astype(np.int64)
        behind = np.flatnonzero(np.diff(bins))
    return np.array([middle_between(distinct[at], distinct[at + 1]) for at in behind.tolist()])
