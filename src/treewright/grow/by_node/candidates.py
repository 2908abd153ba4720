"""The best test of one column at one node. In: a problem and a node's instances. Out: ``Candidate`` and its table.

Callers: grow.by_node, explain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from treewright.grow.by_node.instances import EVERY_BRANCH, Instances
from treewright.grow.by_node.problem import Problem
from treewright.tree.arrays import INTERVALS, SUBSET, THRESHOLD


@dataclass(frozen=True, eq=False)
class Candidate:
    """A test that a node could ask.

    Attributes
    ----------
    feature : int
    kind : int
        A kind of test of ``tree.arrays``.
    n_branches : int
    missing_branch : int
        Where missing rows go at fit; ``EVERY_BRANCH`` divides them, or leaves them to surrogates.
    gain : float
        Decrease of impurity per unit of the node's weight.
    score : float
        What the algorithm compares columns by; larger is better.
    threshold : float
        Of a ``THRESHOLD`` test.
    cuts : float64[n_branches - 1]
        Of an ``INTERVALS`` test.
    branch_of : int64[v + 1]
        Of a ``SUBSET`` or ``MULTIWAY`` test: the branch of each level, and last of one never seen; ``~branch`` where
        the node did not hold the level.
    exact : bool
        Whether the search that found it was exhaustive.
    split_info : float
        Entropy of the division into branches, in bits.
    p_value : float
        Of the test of independence of branch and target; nan where none was made.
    notes : dict
        Numbers of the algorithm's own: cuts tried, merges made, adjustment.
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
        """Gain over split information; nan where that is 0 or unknown."""
        return self.gain / self.split_info if self.split_info > 0.0 else math.nan

    def branches(self, problem: Problem, rows: np.ndarray) -> np.ndarray:
        """Branch of each row (int32[m]); ``missing_branch`` where the cell is missing."""
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
    return float(-(shares * np.log2(shares)).sum())


def heaviest_of(weights: np.ndarray) -> int:
    """The heaviest branch; of two equal ones the right one, as in ``grow.split``; of more the first.

    Parameters
    ----------
    weights : float64[k]
        What differs by less than 1e-12 of the whole is equal: parts of rows add up to equal weights but for roundings.
    """
    parts = weights.tolist()  # a few branches: a list is quicker than an array
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
