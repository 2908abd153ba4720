"""Candidate tests of a node, and surrogate tests. In: instances. Out: ``Candidate``, ``Surrogate``.

Surrogates are rpart's (Breiman et al. 1984, section 5.3.1; Therneau and Atkinson's report on rpart, section 5.2): for
every other column the cut, or the set of levels, that sends most of the weight the same way; kept if it agrees more
often than the heavier branch alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from treewright.core.elementary import log2_of
from treewright.grow.by_node.cuts import middle_between
from treewright.grow.by_node.instances import EVERY_BRANCH, Instances
from treewright.grow.problem import Problem
from treewright.trees.arrays import INTERVALS, SUBSET, THRESHOLD

MIN_SIDE = 2  # rows that a surrogate cut must send either way; a set of levels needs one, as in rpart
BETTER = 1e-10  # share by which a surrogate must agree more often than the heavier branch


@dataclass(frozen=True, eq=False)
class Candidate:
    """A candidate test of a node.

    Attributes
    ----------
    feature : int
    kind : int
        A kind of test of ``trees.arrays``.
    n_branches : int
    missing_branch : int
        Branch of missing rows at fit; ``EVERY_BRANCH`` divides them, or leaves them to surrogates.
    gain : float
        Decrease of impurity per unit of the node's weight.
    score : float
        The number that the algorithm compares columns by; larger is better.
    threshold : float
        Of a ``THRESHOLD`` test.
    cuts : float64[n_branches - 1]
        Of an ``INTERVALS`` test.
    branch_of : int64[v + 1]
        Of a ``SUBSET`` or ``MULTIWAY`` test: the branch of each level, and last that of an unseen one; ``~branch`` if
        the node did not hold the level.
    exact : bool
        Whether the search that found it was exhaustive.
    split_info : float
        Entropy of the division into branches, in bits.
    p_value : float
        Of the test of independence of branch and target; nan if none was made.
    notes : dict
        Further numbers of the algorithm: cuts tried, merges made, adjustment.
    """

    feature: int
    kind: int
    n_branches: int
    missing_branch: int
    gain: float
    score: float
    threshold: float = 0.0
    cuts: np.ndarray = field(default_factory=lambda: np.empty(0))
    branch_of: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    exact: bool = True
    split_info: float = math.nan
    p_value: float = math.nan
    notes: dict[str, float] = field(default_factory=dict)

    @property
    def gain_ratio(self) -> float:
        """Gain over split information; nan if that is 0 or unknown."""
        return self.gain / self.split_info if self.split_info > 0.0 else math.nan

    def branches(self, problem: Problem, rows: np.ndarray) -> np.ndarray:
        """Branch of each row (int32[m]); ``missing_branch`` if the cell is missing."""
        x = problem.values[self.feature, rows]
        is_missing = np.isnan(x)
        if self.kind == THRESHOLD:
            branch = np.where(x <= self.threshold, 0, 1)
        elif self.kind == INTERVALS:
            branch = np.searchsorted(self.cuts, x, side="left")
        else:
            places = np.where(self.branch_of < 0, ~self.branch_of, self.branch_of)
            branch = places[np.where(is_missing, -1, x).astype(np.int64)]
        return np.where(is_missing, self.missing_branch, branch).astype(np.int32)

    def table(self, problem: Problem, instances: Instances) -> np.ndarray:
        """float64[n_branches, n_stats]: statistics of each branch; rows that go to every branch are left out."""
        branch = self.branches(problem, instances.rows)
        kept = branch != EVERY_BRANCH
        rows, weights = instances.rows[kept], instances.weights[kept]
        table = np.zeros((self.n_branches, problem.n_stats))
        np.add.at(table, (branch[kept][:, None], problem.index[rows]), problem.amounts[rows] * weights[:, None])
        return table


def split_information(weights: np.ndarray) -> float:
    """Entropy in bits of the division of a weight into these parts (float64[k], zeros allowed)."""
    parts = weights[weights > 0.0]
    shares = parts / parts.sum()
    return float(-(shares * log2_of(shares)).sum())


def heaviest_of(weights: np.ndarray) -> int:
    """The heaviest branch; of two equal ones the right one, as in ``grow.exact.steps``; of more the first.

    Parameters
    ----------
    weights : float64[k]
        Weights that differ by less than 1e-12 of the total are equal: sums of parts of rows are equal up to rounding.
    """
    parts = weights.tolist()  # a few branches: a list is faster than an array
    least = max(parts) - 1e-12 * sum(parts)
    if len(parts) == 2:
        return 1 if parts[1] >= least else 0
    return next(branch for branch, part in enumerate(parts) if part >= least)


def level_branches(n_levels: int, groups: np.ndarray, present: np.ndarray, absent_branch: int) -> np.ndarray:
    """``Candidate.branch_of`` of a partition.

    Parameters
    ----------
    n_levels : int
    groups : int[n_levels]
        Branch of each level.
    present : bool[n_levels]
        Levels that the node holds.
    absent_branch : int
        Branch of a level never seen, and of the absent levels whose entry of ``groups`` is negative.
    """
    branch_of = np.full(n_levels + 1, ~absent_branch, np.int64)
    own = np.where(groups < 0, absent_branch, groups)
    branch_of[:-1] = np.where(present, own, ~own)
    return branch_of


def is_two_way(candidate: Candidate) -> bool:
    """Whether the test has two branches for values that are present."""
    return candidate.kind in (THRESHOLD, SUBSET)


# Surrogates.


@dataclass(frozen=True, eq=False)
class Surrogate:
    """A test that is used if the value of the node's own test is missing.

    Attributes
    ----------
    test : Candidate
        A cut or a set of levels.
    flipped : int
        1 if its branch 0 leads to branch 1.
    agreement : float
        Share of the weight with a value in the node's own test that it sends the same way.
    adjusted : float
        The agreement above that of the heavier branch, as a share of the most that it could be above it.
    """

    test: Candidate
    flipped: int
    agreement: float
    adjusted: float


def find_surrogates(
    problem: Problem, instances: Instances, candidate: Candidate, branch: np.ndarray, most: int
) -> list[Surrogate]:
    """The best surrogates of a test, at most ``most``; the higher agreement first, among equals the lower column.

    Parameters
    ----------
    candidate : Candidate, two-way
    branch : int32[m]
        Its branch for each instance; ``EVERY_BRANCH`` if the cell is missing.
    """
    known = branch != EVERY_BRANCH
    weights = instances.weights
    sides = np.array([weights[branch == 0].sum(), weights[branch == 1].sum()])
    total, majority = sides.sum(), sides.max()
    if majority == total:
        return []
    found = []
    for place, feature in enumerate(problem.ordered_columns.tolist()):
        if feature != candidate.feature:
            found.append(_best_cut(problem, instances, place, branch))
    for place, feature in enumerate(problem.level_columns.tolist()):
        if feature != candidate.feature:
            found.append(_best_set(problem, instances, place, branch, known))
    surrogates = []
    for agreed, test, flipped in filter(None, found):
        agreement = min(agreed / total, 1.0)
        adjusted = (agreed - majority) / (total - majority)
        if adjusted > BETTER:
            surrogates.append(Surrogate(test, flipped, float(agreement), float(min(adjusted, 1.0))))
    surrogates.sort(key=lambda one: (-round(one.agreement, 12), one.test.feature))
    return surrogates[:most]


def _best_cut(
    problem: Problem, instances: Instances, place: int, branch: np.ndarray
) -> tuple[float, Candidate, int] | None:
    """The cut of an ordered column that agrees most: agreeing weight, test, whether it is flipped."""
    # Rows without a value in the node's test do not count, but the cut lies midway between all neighbours, as in rpart.
    order = instances.orders[place, : instances.n_present[place]]
    feature = int(problem.ordered_columns[place])
    x = problem.values[feature, instances.rows[order]]
    weights, side = instances.weights[order], branch[order]
    answered = np.cumsum(side != EVERY_BRANCH)
    if not len(x) or answered[-1] < 2 * MIN_SIDE:
        return None
    zero = np.cumsum(np.where(side == 0, weights, 0.0))
    one = np.cumsum(np.where(side == 1, weights, 0.0))
    places = np.flatnonzero(x[1:] > x[:-1])
    places = places[(answered[places] >= MIN_SIDE) & (answered[-1] - answered[places] >= MIN_SIDE)]
    if not len(places):
        return None
    straight = zero[places] + (one[-1] - one[places])
    flipped = one[places] + (zero[-1] - zero[places])
    best = np.maximum(straight, flipped)
    at = int((best >= best.max() * (1 - 1e-12)).argmax())
    if best[at] <= max(zero[-1], one[-1]) * (1 + 1e-12):
        return None
    threshold = middle_between(float(x[places[at]]), float(x[places[at] + 1]))
    test = Candidate(feature, THRESHOLD, 2, 0, 0.0, 0.0, threshold=threshold)
    return float(best[at]), test, int(flipped[at] > straight[at])


def _best_set(
    problem: Problem, instances: Instances, place: int, branch: np.ndarray, known: np.ndarray
) -> tuple[float, Candidate, int] | None:
    """The set of levels that agrees most: every level goes where most of its weight goes."""
    feature = int(problem.level_columns[place])
    v = len(problem.schema.columns[feature].levels)
    codes = problem.codes[place, instances.rows]
    here = known & (codes < v)
    if not here.any():
        return None
    sides = np.zeros((2, v))
    np.add.at(sides, (branch[here], codes[here]), instances.weights[here])
    counts = np.bincount(codes[here], minlength=v)
    present = counts > 0
    heavier = int(sides[1].sum() > sides[0].sum())
    groups = np.where(sides[1] > sides[0], 1, np.where(sides[1] < sides[0], 0, heavier))
    agreed = float(sides.max(axis=0).sum())
    if agreed <= sides.sum(axis=1).max() * (1 + 1e-12):
        return None
    branch_of = level_branches(v, groups, present, heavier)
    return agreed, Candidate(feature, SUBSET, 2, 0, 0.0, 0.0, branch_of=branch_of), 0


def sides_of_missing(
    problem: Problem, instances: Instances, branch: np.ndarray, surrogates: Sequence[Surrogate], otherwise: int
) -> np.ndarray:
    """Branch of every instance: that of the test, else of the first surrogate that decides, else ``otherwise``.

    Returns
    -------
    int32[m]
    """
    waiting = np.flatnonzero(branch == EVERY_BRANCH)
    if not len(waiting):
        return branch
    result = branch.copy()
    for surrogate in surrogates:
        if not len(waiting):
            return result
        rows = instances.rows[waiting]
        answers = surrogate_answers(problem, surrogate, rows)
        answered = answers >= 0
        result[waiting[answered]] = answers[answered]
        waiting = waiting[~answered]
    result[waiting] = otherwise
    return result


def surrogate_answers(problem: Problem, surrogate: Surrogate, rows: np.ndarray) -> np.ndarray:
    """int32[m]: the branch that a surrogate sends each row to; ``EVERY_BRANCH`` if it does not decide."""
    test = surrogate.test
    x = problem.values[test.feature, rows]
    is_missing = np.isnan(x)
    if test.kind == THRESHOLD:
        branch = np.where(x <= test.threshold, 0, 1)
    else:
        branch = test.branch_of[np.where(is_missing, -1, x).astype(np.int64)]
        is_missing |= branch < 0
    branch = branch ^ surrogate.flipped
    return np.where(is_missing, EVERY_BRANCH, branch).astype(np.int32)
