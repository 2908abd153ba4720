"""Candidate tests of a node by impurity, and the chosen one. In: a node's instances. Out: ``Found``, ``Choice``.

``Search`` finds the best test of each column. A policy chooses one of them: ``GainPolicy`` (CART, ID3) the column that
gains most, ``RatioPolicy`` the one with the largest gain ratio; C4.5 and CHAID have their own files.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Protocol, TypedDict

import numpy as np

from treewright.grow.by_node.candidates import Candidate, heaviest_of, level_branches, split_information
from treewright.grow.by_node.cuts import (
    BOTH_SIDES,
    LEAVE_OUT,
    LEFT,
    OWN,
    OWN_BRANCH,
    Cuts,
    Least,
    Rules,
    best_cuts_by_table,
    measure,
    middle_between,
    scan_columns,
    tabulate,
    weigh_levels,
)
from treewright.grow.by_node.instances import EVERY_BRANCH, Instances, sum_statistics, value_of
from treewright.grow.by_node.levels import (
    Levels,
    Partition,
    as_partition,
    branch_per_level,
    divisions,
    gains_by_table,
    partition_by_medians,
    two_sides,
)
from treewright.grow.criteria import medians
from treewright.grow.criteria.costs import ABSOLUTE_ERROR, POISSON, Criterion
from treewright.grow.problem import Problem
from treewright.trees.arrays import MULTIWAY, SUBSET, THRESHOLD

MODES = {"direction": BOTH_SIDES, "branch": OWN_BRANCH}
# Gains that differ by less than this share of the node's cost are equal: mathematically equal ones differ by rounding.
SAME = 1e-12
# Rounding error of a cost that is a small difference of large sums, as a share of the sums.
ROUNDINGS = 2e-15


class BranchNeeds(TypedDict):
    """The requirements of each branch."""

    min_rows: int
    min_weight: float


@dataclass(frozen=True, eq=False)
class Found:
    """The best test of each column at one node.

    Attributes
    ----------
    gains : float64[p]
        Decrease of impurity per unit of the node's weight; -1 if the column offers no test.
    """

    problem: Problem
    instances: Instances
    gains: np.ndarray
    cuts: Cuts
    partitions: dict[int, Partition]
    tables: np.ndarray
    data_values: bool
    cost_tolerance: float
    node_weight: float
    two_sided: bool

    @property
    def tolerance(self) -> float:
        """Gains closer than this are equal."""
        return max(self.cost_tolerance / self.node_weight, 1e-300)

    def split_info(self, feature: int) -> float:
        """Entropy in bits of the division that a column's best test makes; missing rows are a part of their own.

        Under "direction" they belong to the branch that they take.
        """
        if feature not in self.partitions:
            return float(self.cuts.infos[self.problem.place_of[feature]])
        partition = self.partitions[feature]
        if partition.info is not None:
            return partition.info
        levels = self.problem.levels_of(self.problem.place_of[feature])
        weights = self.problem.weight_of(self.tables[levels])
        branch = np.bincount(np.maximum(partition.groups, 0), weights=weights, minlength=partition.n_branches + 1)
        gone = float(self.problem.weight_of(self.tables[levels.stop]))
        if partition.side >= 0:
            branch[partition.side] += gone
            gone = 0.0
        return split_information(np.append(branch, gone))

    def build(self, feature: int, score: float | None = None) -> Candidate:
        """The candidate of a column that has one; its score is its gain unless given."""
        gain = float(self.gains[feature])
        score = gain if score is None else score
        if feature in self.partitions:
            return self._of_levels(feature, gain, score)
        return self._of_cut(feature, gain, score)

    def _of_cut(self, feature: int, gain: float, score: float) -> Candidate:
        problem, here = self.problem, self.instances
        place = problem.place_of[feature]
        order, k = here.orders[place], int(self.cuts.places[place])
        n_present = int(here.n_present[place])
        before = float(problem.values[feature, here.rows[order[k]]])
        after = float(problem.values[feature, here.rows[order[k + 1]]]) if k + 1 < n_present else math.nan
        threshold = middle_between(before, after)
        if self.data_values and threshold < math.inf:
            # A value that is the middle but for rounding counts as the middle; the upper value never does.
            value = problem.value_at_most(feature, threshold + 1e-12 * abs(threshold))
            threshold = value if value < after else before
        side = int(self.cuts.sides[place])
        n_branches = 2
        missing = 0 if side == LEFT else 1
        if side == OWN:
            n_branches, missing = 3, 2
        elif n_present == len(here) or problem.missing not in MODES:
            missing = EVERY_BRANCH
        return Candidate(
            feature, THRESHOLD, n_branches, missing, gain, score,
            threshold=threshold, split_info=self.split_info(feature), notes={"tried": int(self.cuts.n_tried[place])},
        )  # fmt: skip

    def _of_levels(self, feature: int, gain: float, score: float) -> Candidate:
        problem = self.problem
        partition = self.partitions[feature]
        place = problem.place_of[feature]
        levels = problem.levels_of(place)
        weights = problem.weight_of(self.tables[levels])
        present = (weights > 0.0) & (partition.groups >= 0)
        branch = np.bincount(np.maximum(partition.groups, 0), weights=weights, minlength=partition.n_branches)
        gone = float(problem.weight_of(self.tables[levels.stop]))
        if 0 <= partition.side < partition.n_branches:
            branch[partition.side] += gone
        own_branch = partition.side == partition.n_branches
        return Candidate(
            feature,
            SUBSET if self.two_sided else MULTIWAY,
            partition.n_branches + own_branch,
            partition.side,
            gain,
            score,
            branch_of=level_branches(len(weights), partition.groups, present, heaviest_of(branch)),
            exact=partition.exact,
            split_info=self.split_info(feature),
        )


class Search:
    """The best test of each column, by one criterion."""

    def __init__(self, problem: Problem, criterion: Criterion, rules: Rules, *, data_values: bool = False) -> None:
        self.problem, self.criterion, self.rules, self.data_values = problem, criterion, rules, data_values
        self.mode = MODES.get(problem.missing, LEAVE_OUT)
        self.least = Least(float(rules.min_weight), 0.0, 0.0)

    def run(self, instances: Instances) -> Found:
        """Search every column at one node."""
        problem = self.problem
        node_cost, weight = self.measure(instances)
        tolerance = SAME * node_cost + ROUNDINGS * self.size_of_sums(instances)
        gains = np.full(len(problem.schema), -1.0)
        cuts = self.search_cuts(instances, tolerance)
        gains[problem.ordered_columns] = np.where(cuts.gains >= 0.0, cuts.gains / weight, -1.0)
        tables, partitions = self.search_levels(instances, tolerance)
        for feature, partition in partitions.items():
            gains[feature] = partition.cost_gain / weight
        return Found(
            problem, instances, gains, cuts, partitions, tables, self.data_values, tolerance, weight,
            self.rules.nominal_splits != "multiway",
        )  # fmt: skip

    def size_of_sums(self, instances: Instances) -> float:
        """Size of the sums whose difference is the cost; 0 for classes: counts are no larger than costs."""
        if self.problem.is_classes:
            return 0.0
        return float(np.abs(instances.stats[self.problem.outputs[:-1] + 2]).sum()) * self.problem.square_unit

    def measure(self, instances: Instances) -> tuple[float, float]:
        """Cost (weight times impurity) and weight of the node."""
        problem, criterion = self.problem, self.criterion
        if criterion.by_kernel:
            cost, weight = measure(
                instances.stats, problem.outputs, criterion.number, problem.is_classes, problem.table
            )
            return cost * problem.square_unit, weight
        weight = instances.weight
        if criterion.number == ABSOLUTE_ERROR:
            return medians.cost(problem, instances.rows, instances.weights), weight
        return float(criterion.costs(problem, instances.stats)), weight

    def search_cuts(self, instances: Instances, tolerance: float) -> Cuts:
        """The best cut of each ordered column."""
        problem, q = self.problem, len(self.problem.ordered_columns)
        cuts = Cuts(np.empty(q), np.empty(q, np.int64), np.empty(q, np.int64), np.empty(q), np.empty(q, np.int64))
        if not q:
            return cuts
        modes = self.modes(len(instances) - instances.n_present, self.missing_tables(instances))
        if not self.criterion.by_kernel:
            best_cuts_by_table(problem, self.criterion, instances, modes, self.rules, tolerance, cuts)
            return cuts
        scan_columns(
            problem.cells, instances.members, problem.additions, self.criterion.number, instances.stats, modes,
            self.rules.min_rows, self.least, tolerance / problem.square_unit, cuts,
        )  # fmt: skip
        if problem.square_unit != 1.0:
            cuts.gains[cuts.gains >= 0.0] *= problem.square_unit
        return cuts

    def missing_tables(self, instances: Instances) -> np.ndarray:
        """float64[q, n_stats]: statistics of the missing rows of each ordered column; 0 if they are not needed."""
        problem = self.problem
        tables = np.zeros((len(problem.ordered_columns), problem.n_stats))
        if self.mode == OWN_BRANCH:
            for place, n_present in enumerate(instances.n_present.tolist()):
                gone = instances.orders[place, n_present:]
                tables[place] = sum_statistics(
                    problem.index, problem.amounts, instances.rows[gone], instances.weights[gone], problem.n_stats
                )
        return tables

    def modes(self, n_missing: np.ndarray, tables: np.ndarray) -> np.ndarray:
        """The treatment of each column's missing rows: those that may not be a branch of their own join one.

        Parameters
        ----------
        n_missing : int64[k]
        tables : float64[k, n_stats]
            Their statistics.
        """
        if self.mode != OWN_BRANCH:
            return np.full(len(n_missing), self.mode, np.uint8)
        enough = n_missing >= self.rules.min_rows
        enough = enough & (self.problem.weight_of(tables) >= self.rules.min_weight)
        enough &= self.criterion.may_exist(self.problem, tables)
        return np.where(enough, OWN_BRANCH, BOTH_SIDES).astype(np.uint8)

    def search_levels(self, instances: Instances, tolerance: float) -> tuple[np.ndarray, dict[int, Partition]]:
        """The table of all levels, and the best partition of each level column that has one."""
        problem = self.problem
        tables, counts = self.level_tables(instances)
        partitions: dict[int, Partition] = {}
        ends = problem.level_starts[1:] - 1
        modes = self.modes(counts[ends], tables[ends])
        done = self.branches_per_level(instances, tables, counts, modes, partitions)
        for place, feature in enumerate(problem.level_columns.tolist()):
            if done[place]:
                continue
            here = problem.levels_of(place)
            levels = Levels(tables[here], counts[here], tables[here.stop], int(counts[here.stop]), int(modes[place]))
            partition = self.partition(feature, levels, instances, tolerance)
            if partition is not None:
                partitions[feature] = partition
        return tables, partitions

    def branches_per_level(
        self,
        instances: Instances,
        tables: np.ndarray,
        counts: np.ndarray,
        modes: np.ndarray,
        partitions: dict[int, Partition],
    ) -> np.ndarray:
        """Fill in a branch per level for the columns that one kernel call can do; returns which those are (bool[k]).

        Not if missing rows have to be tried in every branch.
        """
        problem, rules = self.problem, self.rules
        k = len(modes)
        if rules.nominal_splits != "multiway" or not self.criterion.by_kernel or self.criterion.number == POISSON:
            return np.zeros(k, bool)
        gone = counts[problem.level_starts[1:] - 1] > 0
        has_own = gone & (modes == OWN_BRANCH)
        done = ~gone | has_own | (modes == LEAVE_OUT)
        gains, infos, held = np.empty(k), np.empty(k), np.empty((k, 4))
        weigh_levels(
            tables, counts, problem.level_starts, instances.stats, problem.outputs, self.criterion.number,
            problem.table, problem.is_classes, has_own.astype(np.uint8), gains, infos, held,
        )  # fmt: skip
        offered = done & (held[:, 0] >= 2) & (held[:, 1] >= rules.min_rows) & (held[:, 2] >= rules.min_weight)
        for place in np.flatnonzero(offered).tolist():
            levels = problem.levels_of(place)
            v = levels.stop - levels.start
            gain = float(gains[place]) * problem.square_unit
            partitions[int(problem.level_columns[place])] = Partition(
                gain, np.arange(v), v, v if has_own[place] else -1, info=float(infos[place])
            )
        return done

    def level_tables(self, instances: Instances) -> tuple[np.ndarray, np.ndarray]:
        """Statistics and instances of every level of every level column, each followed by those of missing cells."""
        problem = self.problem
        n_levels = int(problem.level_starts[-1])
        tables, counts = np.zeros((n_levels, problem.n_stats)), np.zeros(n_levels, np.int64)
        if n_levels:
            tabulate(problem.cells, instances.members, problem.additions, tables, counts)
        return tables, counts

    def partition(self, feature: int, levels: Levels, instances: Instances, tolerance: float) -> Partition | None:
        """The best partition of one column's levels."""
        problem, criterion, rules = self.problem, self.criterion, self.rules
        least: BranchNeeds = {"min_rows": rules.min_rows, "min_weight": rules.min_weight}
        present = levels.counts > 0
        if present.sum() + (levels.n_gone > 0 and levels.mode != LEAVE_OUT) < 2:
            return None
        if criterion.number == ABSOLUTE_ERROR:
            return partition_by_medians(
                problem, rules.splits_of(feature), feature, levels, instances, tolerance, **least
            )
        if rules.nominal_splits == "multiway":
            return branch_per_level(problem, criterion, levels, tolerance, **least)
        masks, exact = divisions(problem, criterion, levels.tables[present], rules.splits_of(feature))
        gains_of = partial(gains_by_table, problem, criterion, levels, **least)
        return as_partition(levels, *two_sides(levels, masks, gains_of, tolerance), exact)


# Policies: the column that a node tests.


@dataclass(frozen=True, eq=False)
class Choice:
    """The candidates of a node and the chosen one.

    Attributes
    ----------
    gains, scores : float64[p]
        Of the best candidate of each column; -1 (gain) and nan (score) if it has none.
    chosen : Candidate or None
    """

    gains: np.ndarray
    scores: np.ndarray
    chosen: Candidate | None


class Policy(Protocol):
    """An algorithm's way to choose a test."""

    by_ratio: ClassVar[bool]  # whether scores are gain ratios

    def impurity(self, instances: Instances) -> float:
        """Impurity of a node, in the criterion's units."""

    def value(self, instances: Instances) -> np.ndarray:
        """float64[n_values]: what a node predicts."""

    def may_split(self, instances: Instances) -> bool:
        """Whether the node should be searched."""

    def choose(self, instances: Instances, columns: Sequence[int] | None) -> Choice:
        """Choose among these columns; None means all."""

    def candidates(self, instances: Instances) -> list[Candidate]:
        """The best candidate of each column that has one, in column order."""


class GainPolicy:
    """The column that gains most; among equals the first."""

    by_ratio: ClassVar[bool] = False

    def __init__(self, search: Search) -> None:
        self.search = search

    def impurity(self, instances: Instances) -> float:
        """Impurity of a node."""
        cost, weight = self.search.measure(instances)
        return cost / weight

    def value(self, instances: Instances) -> np.ndarray:
        """The value of a node: class counts, means, or medians under absolute error."""
        if self.search.criterion.number == ABSOLUTE_ERROR:
            return medians.medians_of(self.search.problem, instances.rows, instances.weights)
        return value_of(self.search.problem, instances)

    def may_split(self, instances: Instances) -> bool:  # noqa: ARG002 - C4.5 looks at them
        """Whether the node should be searched: always."""
        return True

    def scores(self, found: Found) -> np.ndarray:
        """float64[p]: the scores that columns are compared by; nan for an excluded column."""
        return np.where(found.gains >= 0.0, found.gains, np.nan)

    def tolerance(self, found: Found) -> float:
        """Scores closer than this are equal."""
        return found.tolerance

    def choose(self, instances: Instances, columns: Sequence[int] | None = None) -> Choice:
        """Choose among these columns; None means all."""
        found = self.search.run(instances)
        if columns is not None:
            out = np.ones(len(found.gains), bool)
            out[columns] = False
            found.gains[out] = -1.0
        scores = self.scores(found)
        best = np.fmax.reduce(scores)
        if best != best:
            return Choice(found.gains, scores, None)
        feature = int((scores >= best - self.tolerance(found)).argmax())
        return Choice(found.gains, scores, found.build(feature, float(scores[feature])))

    def candidates(self, instances: Instances) -> list[Candidate]:
        """The best candidate of each column that has one."""
        found = self.search.run(instances)
        scores = self.scores(found)
        return [found.build(feature, float(scores[feature])) for feature in np.flatnonzero(found.gains >= 0.0).tolist()]


class RatioPolicy(GainPolicy):
    """The largest gain ratio among columns of at least average gain (Quinlan 1993, section 2.2)."""

    by_ratio = True

    def averaged(self, instances: Instances) -> np.ndarray:
        """float64[k]: the gains that count in the average."""
        gains = self.search.run(instances).gains
        return gains[gains >= 0.0]

    def scores(self, found: Found) -> np.ndarray:
        """Gain ratio; nan for a column below the average gain."""
        scores = np.full(len(found.gains), np.nan)
        offered = found.gains >= 0.0
        if not offered.any():
            return scores
        average = float(found.gains[offered].mean())
        for feature in np.flatnonzero(offered & (found.gains >= average - found.tolerance)).tolist():
            info = found.split_info(feature)
            scores[feature] = found.gains[feature] / info if info > 0.0 else 0.0
        return scores

    def tolerance(self, found: Found) -> float:  # noqa: ARG002 - a ratio has no unit
        """Ratios closer than this are equal."""
        return 1e-12
