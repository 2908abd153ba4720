"""Tests that stand in for another. In: a chosen two-way test. Out: ``Surrogate`` list. Caller: grow.by_node.grower.

As rpart has them (Breiman et al. 1984, section 5.3.1; Therneau and Atkinson's report on rpart, section 5.2): for every
other column the cut, or the set of levels, that sends most of the weight the same way; kept where it does better than
the heavier branch alone would.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treewright.grow.by_node.candidates import Candidate, level_branches
from treewright.grow.by_node.cuts import middle_between
from treewright.grow.by_node.instances import EVERY_BRANCH, Instances
from treewright.grow.by_node.problem import Problem
from treewright.tree.arrays import SUBSET, THRESHOLD

MIN_SIDE = 2  # rows that a surrogate cut must send either way; a set of levels needs one, as in rpart
BETTER = 1e-10  # what a surrogate must be right about beyond the heavier branch, as a share


@dataclass(frozen=True, eq=False)
class Surrogate:
    """A test that answers for another.

    Attributes
    ----------
    test : Candidate
        A cut or a set of levels.
    flipped : int
        1 where its branch 0 leads to branch 1.
    agreement : float
        Share of the weight with a primary answer that it sends the same way.
    adjusted : float
        The same beyond what the heavier branch gets right, as a share of what that leaves.
    """

    test: Candidate
    flipped: int
    agreement: float
    adjusted: float


def find_surrogates(
    problem: Problem, instances: Instances, candidate: Candidate, branch: np.ndarray, most: int
) -> list[Surrogate]:
    """The best surrogates of a test, at most ``most``; the higher agreement first, of equals the lower column.

    Parameters
    ----------
    candidate : Candidate, two-way
    branch : int32[m]
        Its answer for each instance; ``EVERY_BRANCH`` where the cell is missing.
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
    # Rows without a primary answer count for nothing, but the cut lies midway between all neighbours, as in rpart.
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
    """Branch of every instance: where the test has no answer the first surrogate that has one, else ``otherwise``.

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
    """int32[m]: the branch that a surrogate sends each row to; ``EVERY_BRANCH`` where it has no answer."""
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
