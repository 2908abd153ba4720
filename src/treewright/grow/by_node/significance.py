"""Whether a node's test is significant: tests of independence, corrected for the tests that were possible.

P-values are logarithms, so that columns whose p-values are below 1e-308 still have an order. Chi-squared and F tails
are the incomplete gamma and beta functions (DLMF 8.7.1, 8.9.2 and 8.17.22).

The target is tested against the branches (Pearson's chi-squared for classes, F of a one-way analysis of variance for
numbers). The test was the best of many, so p is multiplied by the number of tests that were possible (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from treewright.core.elementary import LOG_OF_2, exp, exp_of, log, log1p, log_add, log_add_of, log_gamma, log_of
from treewright.core.jit import allocating_inner_kernel, allocating_kernel, inner_kernel, kernel
from treewright.grow.by_node.c45 import C45Policy, C45Search
from treewright.grow.by_node.candidates import Candidate
from treewright.grow.by_node.cuts import BOTH_SIDES, LEAVE_OUT, OWN_BRANCH
from treewright.grow.by_node.instances import EVERY_BRANCH, Instances
from treewright.grow.by_node.search import GainPolicy, Policy, Search
from treewright.grow.problem import Problem

PEARSON, LIKELIHOOD_RATIO, F_TEST = range(3)
SMALLEST = 1e-300
MOST_TERMS = 1_000_000
EPSILON = 2.0**-53
WITHIN_IS_ROUNDING, BETWEEN_IS_ROUNDING = 1e-12, 1e-24  # shares of the sum of squares
SPLITTER, LARGEST_ROUNDED = 2.0**13 + 1.0, 1e300


@inner_kernel
def log_chi_squared_tail(statistic, dof):
    """Logarithm of the chance that chi-squared with ``dof`` degrees of freedom is ``statistic`` or more."""
    if dof <= 0.0 or not statistic > 0.0:
        return 0.0
    if statistic == np.inf:
        return -np.inf
    a = 0.5 * dof
    x = 0.5 * statistic
    front = a * log(x) - x - log_gamma(a)
    if x < a + 1.0:
        term = 1.0 / a
        total = term
        n = a
        for _ in range(MOST_TERMS):
            n += 1.0
            term *= x / n
            total += term
            if term < total * EPSILON:
                break
        return log1p(-min(exp(front) * total, 1.0 - EPSILON))
    # Lentz's method for the continued fraction of the upper function.
    b = x + 1.0 - a
    c = 1.0 / SMALLEST
    d = 1.0 / b
    h = d
    for i in range(1, MOST_TERMS):
        an = -i * (i - a)
        b += 2.0
        d = an * d + b
        if abs(d) < SMALLEST:
            d = SMALLEST
        c = b + an / c
        if abs(c) < SMALLEST:
            c = SMALLEST
        d = 1.0 / d
        h *= d * c
        if abs(d * c - 1.0) < 4.0 * EPSILON:
            break
    return min(front + log(h), 0.0)


@inner_kernel
def _beta_fraction(a, b, x):
    """Continued fraction of the incomplete beta function, by Lentz's method; fast for ``x < (a + 1) / (a + b + 2)``."""
    c = 1.0
    d = 1.0 - (a + b) * x / (a + 1.0)
    if abs(d) < SMALLEST:
        d = SMALLEST
    d = 1.0 / d
    h = d
    for m in range(1, MOST_TERMS):
        even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        for numerator in (even, odd):
            d = 1.0 + numerator * d
            if abs(d) < SMALLEST:
                d = SMALLEST
            c = 1.0 + numerator / c
            if abs(c) < SMALLEST:
                c = SMALLEST
            d = 1.0 / d
            h *= d * c
        if abs(d * c - 1.0) < 4.0 * EPSILON:
            break
    return h


@inner_kernel
def log_f_tail(statistic, dof_between, dof_within):
    """Logarithm of the chance that F with these degrees of freedom is ``statistic`` or more."""
    if dof_between <= 0.0 or dof_within <= 0.0 or not statistic > 0.0:
        return 0.0
    if statistic == np.inf:
        return -np.inf
    a = 0.5 * dof_within
    b = 0.5 * dof_between
    ratio = dof_between * statistic / dof_within
    log_x = -log1p(ratio)
    log_rest = log(ratio) + log_x
    x = exp(log_x)
    front = a * log_x + b * log_rest + log_gamma(a + b) - log_gamma(a) - log_gamma(b)
    if x < (a + 1.0) / (a + b + 2.0):
        return min(front + log(_beta_fraction(a, b, x) / a), 0.0)
    below = exp(front) * _beta_fraction(b, a, exp(log_rest)) / b
    return log1p(-min(below, 1.0 - EPSILON))


@inner_kernel
def rounded(x):
    """Round to 40 bits: pairs that differ only by rounding are equal, and the first of them counts."""
    if x > LARGEST_ROUNDED:
        return x
    spread = SPLITTER * x
    return spread - (spread - x)  # Veltkamp's splitting: the upper bits


@inner_kernel
def compare(first, second, test):
    """The statistic of the difference between two groups.

    Parameters
    ----------
    first, second : float64[n_stats], IN
        Weights of the classes, or weight, sum and sum of squares.

    Returns
    -------
    statistic : float, to 40 bits
    room : float
        Degrees of freedom of chi-squared, or minus those within of F: at equal statistics p grows with it.
    """
    if test == F_TEST:
        statistic, within = _compare_means(first, second)
        return rounded(statistic), -within
    weight_first = 0.0
    weight_second = 0.0
    for t in range(first.shape[0]):
        weight_first += first[t]
        weight_second += second[t]
    dof = -1.0
    statistic = 0.0
    for t in range(first.shape[0]):
        both = first[t] + second[t]
        if both <= 0.0:
            continue  # a class that neither group holds does not count
        dof += 1.0
        if test == PEARSON:
            apart = first[t] * weight_second - second[t] * weight_first
            statistic += (apart / weight_first) * (apart / weight_second) / both
        else:
            share = both / (weight_first + weight_second)
            if first[t] > 0.0:
                statistic += 2.0 * first[t] * log(first[t] / (share * weight_first))
            if second[t] > 0.0:
                statistic += 2.0 * second[t] * log(second[t] / (share * weight_second))
    return rounded(_not_rounding(statistic, weight_first + weight_second)), max(dof, 0.0)


@inner_kernel
def _not_rounding(statistic, weight):
    """The statistic, or 0 if it is only the rounding error of logarithms of equal shares."""
    return 0.0 if statistic < 1e-13 * weight else statistic


@inner_kernel
def _compare_means(first, second):
    """F statistic of two groups and its degrees of freedom within. ``first`` float64[3], ``second`` float64[3]."""
    weight = first[0] + second[0]
    within_dof = max(weight - 2.0, 0.0)
    apart = first[1] / first[0] - second[1] / second[0]
    between = apart * apart * first[0] * (second[0] / weight)
    squares = first[2] + second[2]
    within = max(first[2] - first[1] * (first[1] / first[0]), 0.0)
    within += max(second[2] - second[1] * (second[1] / second[0]), 0.0)
    if between <= BETWEEN_IS_ROUNDING * squares or within_dof <= 0.0:
        return 0.0, within_dof
    if within <= WITHIN_IS_ROUNDING * squares:
        return np.inf, within_dof
    return between / (within / within_dof), within_dof


@inner_kernel
def log_p_of_pair(statistic, room, test):
    """Logarithm of the p-value of a result of ``compare``."""
    if test == F_TEST:
        return log_f_tail(statistic, 1.0, -room)
    return log_chi_squared_tail(statistic, room)


@allocating_inner_kernel
def test_groups(groups, n_groups, test):
    """Test the independence of target and group.

    Parameters
    ----------
    groups : float64[>= n_groups, n_stats], IN

    Returns
    -------
    statistic, dof, dof_within (0 for chi-squared), log_p : float
    """
    if test == F_TEST:
        return _test_means(groups, n_groups)
    n_classes = groups.shape[1]
    classes = np.zeros(n_classes)
    weights = np.zeros(n_groups)
    for g in range(n_groups):
        for t in range(n_classes):
            classes[t] += groups[g, t]
            weights[g] += groups[g, t]
    total = weights.sum()
    n_held = 0
    statistic = 0.0
    for t in range(n_classes):
        if classes[t] <= 0.0:
            continue
        n_held += 1
        for g in range(n_groups):
            expected = weights[g] * (classes[t] / total)
            count = groups[g, t]
            if expected <= 0.0:
                continue
            if test == PEARSON:
                statistic += (count - expected) * ((count - expected) / expected)
            elif count > 0.0:
                statistic += 2.0 * count * log(count / expected)
    dof = float((n_groups - 1) * (n_held - 1))
    statistic = _not_rounding(statistic, total)
    return statistic, dof, 0.0, log_chi_squared_tail(statistic, dof)


@inner_kernel
def _test_means(groups, n_groups):
    """One-way analysis of variance of weight, sum and sum of squares. ``groups`` float64[>= n_groups, 3]."""
    weight = 0.0
    total = 0.0
    squares = 0.0
    within = 0.0
    for g in range(n_groups):
        weight += groups[g, 0]
        total += groups[g, 1]
        squares += groups[g, 2]
        within += max(groups[g, 2] - groups[g, 1] * (groups[g, 1] / groups[g, 0]), 0.0)
    between = 0.0
    for g in range(n_groups):
        apart = groups[g, 1] / groups[g, 0] - total / weight
        between += groups[g, 0] * apart * apart
    dof = n_groups - 1.0
    within_dof = max(weight - n_groups, 0.0)
    if between <= BETWEEN_IS_ROUNDING * squares or within_dof <= 0.0:
        return 0.0, dof, within_dof, 0.0
    if within <= WITHIN_IS_ROUNDING * squares:
        return np.inf, dof, within_dof, -np.inf
    statistic = between / dof / (within / within_dof)
    return statistic, dof, within_dof, log_f_tail(statistic, dof, within_dof)


@inner_kernel
def _log_choose(n, k):
    """Logarithm of the number of ways to choose k of n; -inf if there is none."""
    if k < 0 or k > n:
        return -np.inf
    total = 0.0
    for i in range(1, min(k, n - k) + 1):
        total += log((n - min(k, n - k) + i) / i)
    return total


@allocating_inner_kernel
def _log_partitions(c, r):
    """Logarithm of the number of ways to divide c things into r groups (Stirling's second kind).

    By S(n, k) = k S(n - 1, k) + S(n - 1, k - 1), which subtracts nothing; Kass's alternating sum is the same number.
    """
    if r in (1, c):
        return 0.0
    if r == 2:
        return (c - 1) * log(2.0) + log1p(-(2.0 ** (1 - c)))
    # Entry k of ways is that of n things into k groups; only those that lead to (c, r) are kept up.
    ways = np.full(r + 1, -np.inf)
    ways[0] = 0.0
    for n in range(1, c + 1):
        for k in range(min(n, r), max(1, r - (c - n)) - 1, -1):
            ways[k] = log_add(log(k) + ways[k], ways[k - 1])
        ways[0] = -np.inf
    return ways[r]


@inner_kernel
def log_multiplier(c, r, is_ordered, is_floating, is_exhaustive):
    """Logarithm of Bonferroni's multiplier: the number of ways in which c categories can become r groups.

    Kass (1980), section 3: nominal (free), ordinal (monotonic), ordinal with a floating category. Biggs, de Ville and
    Suen (1991) for the exhaustive search: pairs that could be merged, over all steps down from c categories.
    """
    if is_exhaustive:
        if is_ordered and is_floating:
            # Neighbours among the c - 1 in order, and the floating one with any of them: (c-1)(c-2)/2 + c(c-1)/2.
            return 2.0 * log(c - 1.0)
        if is_ordered:
            return log(0.5 * c * (c - 1.0))
        return log(c * (float(c) * c - 1.0) / 6.0)
    if not is_ordered:
        return _log_partitions(c, r)
    if not is_floating:
        return _log_choose(c - 1, r - 1)
    return log_add(_log_choose(c - 2, r - 2), log(r) + _log_choose(c - 2, r - 1))


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
