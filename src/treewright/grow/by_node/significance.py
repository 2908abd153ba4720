"""Whether a node's test is significant. In: a node, its test, the searched columns. Out: ``Chance``.

The target is tested against the branches (Pearson's chi-squared for classes, F of a one-way analysis of variance for
numbers). The test was the best of many, so p is multiplied by the number of tests that were possible (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from treewright.core.elementary import LOG_OF_2, exp_of, log_add_of, log_of
from treewright.core.jit import allocating_kernel, kernel
from treewright.grow.by_node.c45 import C45Policy, C45Search
from treewright.grow.by_node.candidates import Candidate
from treewright.grow.by_node.cuts import BOTH_SIDES, LEAVE_OUT, OWN_BRANCH
from treewright.grow.by_node.independence import F_TEST, PEARSON, log_multiplier, test_groups
from treewright.grow.by_node.instances import EVERY_BRANCH, Instances
from treewright.grow.by_node.search import GainPolicy, Policy, Search
from treewright.grow.problem import Problem

ROUNDED = 4 * 2.0**-53  # relative to a mean: numbers that differ by no more are equal up to rounding
SPARE = 1e-12  # relative to the rows: rounding error of the number of rows, as a sum of parts


@dataclass(frozen=True)
class Chance:
    """The probability of finding such a test if the target depends on no column.

    Attributes
    ----------
    limit : float, above 0 and at most 1
        The largest adjusted p-value that is significant.
    log_p : float, at most 0
        Logarithm of the p-value of the test alone.
    log_n_tests : float, 0 or more
        Logarithm of the number of tests that were possible; nan if they were not counted, because the p-value alone
        is above the limit.

    Examples
    --------
    >>> chance = Chance(0.05, math.log(0.001), math.log(20))
    >>> chance.is_significant, round(chance.adjusted_p_value, 6)
    (True, 0.02)
    """

    limit: float
    log_p: float
    log_n_tests: float = math.nan

    @property
    def p_value(self) -> float:
        """The p-value of the test alone, 0 to 1."""
        return float(exp_of(self.log_p))

    @property
    def adjusted_p_value(self) -> float:
        """The p-value times the number of tests, 0 to 1; nan if they were not counted."""
        return float(exp_of(min(self.log_p + self.log_n_tests, 0.0))) if self.log_n_tests >= 0.0 else math.nan

    @property
    def is_significant(self) -> bool:
        """Whether the adjusted p-value is within the limit."""
        return self.log_n_tests >= 0.0 and min(self.log_p + self.log_n_tests, 0.0) <= float(log_of(self.limit))


def chance_of(
    policy: Policy, instances: Instances, candidate: Candidate, limit: float, columns: Sequence[int] | None = None
) -> Chance:
    """The ``Chance`` of the test that a policy chose at a node.

    Parameters
    ----------
    policy : GainPolicy or C45Policy
        Whose search found the test.
    instances : Instances
        Those of the node.
    candidate : Candidate
    limit : float, above 0 and at most 1
    columns : sequence of int, optional
        The searched columns; all by default.

    Returns
    -------
    Chance
    """
    if not isinstance(policy, GainPolicy | C45Policy):
        raise TypeError(f"{type(policy).__name__} has its own test of significance")
    search = policy.search
    log_p = log_p_of(search.problem, instances, candidate)
    # Most nodes of noise end here: their possible tests are not counted.
    if log_p > log_of(limit):
        return Chance(limit, log_p)
    return Chance(limit, log_p, log_count_of_tests(search, instances, candidate.n_branches, columns))


def log_p_of(problem: Problem, instances: Instances, candidate: Candidate) -> float:
    """Logarithm of the p-value of "the target does not depend on the branch".

    With several outputs the least one, times their number; 0 if the test has no degrees of freedom. Classification:
    weights count as numbers of rows. Regression: the rows are counted, and weights state the precision of each (the
    variance of a row is one over its weight), so that a common factor changes nothing. Parts of rows count as parts.
    """
    if problem.is_classes:
        table = candidate.table(problem, instances)
        # Statistics hold weights in units of the problem; the test treats them as numbers of rows.
        groups = np.ascontiguousarray(table[problem.weight_of(table) > 0.0] * problem.weight_unit)
        least = float(least_log_p(groups, problem.outputs, PEARSON))
    else:
        least = float(least_log_p(_groups_of_numbers(problem, instances, candidate), problem.outputs, F_TEST))
    log_p = least + float(log_of(problem.n_outputs))
    return min(log_p, 0.0) if log_p == log_p else 0.0  # nan: sums beyond float64


def _groups_of_numbers(problem: Problem, instances: Instances, candidate: Candidate) -> np.ndarray:
    """Weight, sum and sum of squares of each output in each branch that holds rows, float64[k, n_stats].

    The targets are centred at their mean in the node: with the mean of the whole table, the squares in a node far from
    it would be too large for its spread. The weights are scaled to add up to the number of rows. If there are no more
    rows than branches, a single branch is returned: nothing can be tested.
    """
    branch = candidate.branches(problem, instances.rows)
    kept = branch != EVERY_BRANCH
    rows, weights, branch = instances.rows[kept], instances.weights[kept], branch[kept]
    n_rows = float((weights / problem.weights[rows]).sum())
    held = np.unique(branch)
    if n_rows - len(held) <= SPARE * n_rows:
        return np.ones((1, problem.n_stats))
    weights = weights * (n_rows / float(weights.sum()))
    groups = np.zeros((candidate.n_branches, problem.n_stats))
    for output, start in enumerate(problem.outputs[:-1].tolist()):
        own = (problem.targets[output, rows] - problem.centres[output]) / problem.unit
        middle = float(np.average(own, weights=weights))
        apart = own - middle
        means = np.bincount(branch, weights * apart)[held] / np.bincount(branch, weights)[held]
        largest = np.abs(means + middle + problem.centres[output] / problem.unit).max()
        if means.max() - means.min() <= ROUNDED * largest:
            apart[:] = 0.0
        np.add.at(groups, (branch, start), weights)
        np.add.at(groups, (branch, start + 1), weights * apart)
        np.add.at(groups, (branch, start + 2), weights * apart * apart)
    return groups[held]


@allocating_kernel
def least_log_p(groups: np.ndarray, outputs: np.ndarray, test: int) -> float:
    """Least logarithm of a p-value among the outputs.

    Parameters
    ----------
    groups : float64[k, n_stats], IN
        Statistics of the branches that hold rows.
    outputs : int64[n_outputs + 1], IN
        Start of each output's statistics.
    test : int
        As in ``chaid_significance``.
    """
    least = 0.0
    for output in range(outputs.shape[0] - 1):
        part = np.ascontiguousarray(groups[:, outputs[output] : outputs[output + 1]])
        _, _, _, log_p = test_groups(part, groups.shape[0], test)
        if not log_p >= least:
            least = log_p
    return least


@kernel
def log_divisions(n_levels: int, n_groups: int, is_ordered: bool) -> float:
    """Logarithm of the number of ways to divide levels into groups, or into runs of levels that have an order.

    As CHAID's multiplier (Kass 1980, section 3).
    """
    return log_multiplier(n_levels, n_groups, is_ordered, False, False)


def log_count_of_tests(
    search: Search, instances: Instances, n_branches: int, columns: Sequence[int] | None = None
) -> float:
    """Logarithm of the number of tests that were possible at a node, at least 0.

    Parameters
    ----------
    search : Search
    instances : Instances
    n_branches : int
        Branches of the chosen test; only used for C4.5's groups of levels.
    columns : sequence of int, optional
        The searched columns; all by default.

    Notes
    -----
    Summed over the columns, for c different values in the node: c - 1 cuts, or runs of levels; 2^(c-1) - 1 pairs of
    sets of levels; c levels against the rest (1 of two levels); 1 for a branch per level; for C4.5's groups as many as
    there are ways to make as many groups as the chosen test has branches. Missing rows that may join either side
    double that and add "present against missing"; as a branch of their own they only add it.
    """
    problem = search.problem
    asked = np.ones(len(problem.schema), bool)
    if columns is not None:
        asked[:] = False
        asked[columns] = True
    n_missing = len(instances) - instances.n_present
    modes = search.modes(n_missing, search.missing_tables(instances))
    logs = []
    for place, gone in enumerate((n_missing > 0).tolist()):
        if asked[problem.ordered_columns[place]]:
            c = different_values(problem, instances, place)
            logs.append(_with_missing(_log_of_count(c - 1), c, int(modes[place]), gone))
    if asked[problem.level_columns].any():
        tables, counts = search.level_tables(instances)
        ends = problem.level_starts[1:] - 1
        modes = search.modes(counts[ends], tables[ends])
        for place, feature in enumerate(problem.level_columns.tolist()):
            if asked[feature]:
                levels = problem.levels_of(place)
                c = int(np.count_nonzero(counts[levels]))
                splits = search.rules.splits_of(feature)
                logs.append(_of_levels(search, splits, c, n_branches, int(modes[place]), bool(counts[levels.stop])))
    return max(float(reduce(log_add_of, logs)), 0.0) if logs else 0.0


def different_values(problem: Problem, instances: Instances, place: int) -> int:
    """Number of different values of an ordered column in a node."""
    order = instances.orders[place, : int(instances.n_present[place])]
    values = problem.values[problem.ordered_columns[place], instances.rows[order]]
    return int(np.count_nonzero(values[1:] != values[:-1])) + (len(values) > 0)


def _of_levels(search: Search, splits: str, c: int, n_branches: int, mode: int, has_missing: bool) -> float:
    """Logarithm of the number of tests of a column of which a node holds ``c`` levels."""
    if isinstance(search, C45Search) and search.grouping:
        return float(log_divisions(c, min(max(n_branches, 2), c), False)) if c > 1 else -math.inf
    if splits == "multiway":
        if has_missing and mode == OWN_BRANCH:
            return _log_of_count(min(c, 1))
        # Missing rows that join a branch were tried in each.
        return _log_of_count((c if has_missing and mode == BOTH_SIDES else 1) if c > 1 else 0)
    if splits == "one_vs_rest":
        return _with_missing(_log_of_count(c if c > 2 else c - 1), c, mode, has_missing)
    if splits == "runs":
        return _with_missing(_log_of_count(c - 1), c, mode, has_missing)
    return _with_missing(float(log_divisions(c, 2, False)) if c > 1 else -math.inf, c, mode, has_missing)


def _with_missing(log_ways: float, c: int, mode: int, has_missing: bool) -> float:
    """Logarithm of the number of tests with two sides, from that of the ways to divide the ``c`` values present."""
    if not has_missing or mode == LEAVE_OUT or c == 0:
        return log_ways
    return float(log_add_of(log_ways + (LOG_OF_2 if mode == BOTH_SIDES else 0.0), 0.0))


def _log_of_count(n: int) -> float:
    """Logarithm of a count; -inf for none."""
    return float(log_of(n)) if n > 0 else -math.inf
