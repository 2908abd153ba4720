"""CHAID's way to choose a test. In: a problem. Out: ``BinnedProblem``, ``ChaidPolicy``.

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
from treewright.exceptions import DataError, ParameterError
from treewright.grow.by_node import chaid_merging as merging
from treewright.grow.by_node.candidates import Candidate, level_branches, split_information
from treewright.grow.by_node.cuts import middle_between, tabulate
from treewright.grow.by_node.independence import F_TEST, LIKELIHOOD_RATIO, PEARSON
from treewright.grow.by_node.instances import EVERY_BRANCH, Instances, value_of
from treewright.grow.by_node.search import Choice
from treewright.grow.criteria.costs import Criterion
from treewright.grow.problem import Problem
from treewright.trees.arrays import INTERVALS, MULTIWAY, THRESHOLD

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
        numbers = np.empty((len(problem.schema), merging.N_NUMBERS))
        merging.merge_columns(
            tables, counts, problem.level_starts, problem.is_ordered, instances.stats, problem.outputs,
            self.criterion.number, rules.min_rows, log_of(rules.alpha_merge) if rules.alpha_merge > 0 else -math.inf,
            (bool(rules.exhaustive), bool(rules.bonferroni), self.test), groups, numbers,
        )  # fmt: skip
        offered = numbers[:, merging.N_GROUPS] > 0
        weight = float(problem.weight_of(instances.stats))
        gains = np.where(offered, numbers[:, merging.GAIN] / weight, -1.0)
        scores = np.where(offered, -numbers[:, merging.LOG_ADJUSTED] / log_of(10.0) + 0.0, np.nan)
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
        statistics = merged.numbers[equal, merging.STATISTIC]
        return int(equal[int((statistics >= statistics.max() * (1.0 - SAME)).argmax())])

    def build(self, merged: Merged, feature: int) -> Candidate:
        """The test of a column that has at least two groups."""
        problem, numbers = self.problem, merged.numbers[feature]
        levels = problem.levels_of(feature)
        groups = merged.groups[levels.start : levels.stop + 1]
        weights = problem.weight_of(merged.tables[levels.start : levels.stop + 1])
        n_branches = int(numbers[merging.N_GROUPS])
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
            p_value=float(exp_of(numbers[merging.LOG_ADJUSTED])),
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
    log_multiplier = float(numbers[merging.LOG_MULTIPLIER])
    multiplier = float(exp_of(log_multiplier)) if log_multiplier < 709.0 else math.inf
    notes = {
        "groups": float(numbers[merging.N_GROUPS]),
        "statistic": float(numbers[merging.STATISTIC]),
        "dof": float(numbers[merging.DOF]),
        "unadjusted_p_value": float(exp_of(numbers[merging.LOG_P])),
        "multiplier": float(round(multiplier)) if multiplier < 1e12 else multiplier,
    }
    if numbers[merging.DOF_WITHIN] > 0.0:
        notes["dof_within"] = float(numbers[merging.DOF_WITHIN])
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
