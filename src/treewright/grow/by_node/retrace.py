"""How a tree that is there already would have grown by nodes. In: ``Tree``, problem, policy. Out: ``Step`` list.

Callers: estimators (traces of trees that the grower by levels made), explain.audit.
"""

from __future__ import annotations

import numpy as np

from treewright.grow.by_node.candidates import Candidate
from treewright.grow.by_node.grower import Step, divide_by, shares_of
from treewright.grow.by_node.instances import EVERY_BRANCH, all_instances
from treewright.grow.by_node.policy import Policy
from treewright.grow.by_node.problem import Problem
from treewright.grow.by_node.surrogates import Surrogate
from treewright.tree.arrays import INTERVALS, MULTIWAY, SUBSET, Tree
from treewright.tree.tests import level_bits, level_branches, node_cuts, node_levels


def candidate_of(tree: Tree, node: int, problem: Problem) -> Candidate:
    """The test of an inner node as a candidate; its gain and score are 0."""
    kind, feature = int(tree.kind[node]), int(tree.feature[node])
    n_branches, missing = int(tree.n_branches[node]), int(tree.missing_branch[node])
    if problem.missing in ("fractional", "surrogate"):
        missing = EVERY_BRANCH
    column = problem.schema.columns[feature]
    cuts, branch_of = np.empty(0), np.empty(0, np.int64)
    if kind == INTERVALS:
        cuts = node_cuts(tree, node)
    elif kind == MULTIWAY:
        branch_of = _branch_of(*level_branches(column, tree, node))
    elif kind == SUBSET:
        left, seen = node_levels(column, tree, node)
        branch_of = _branch_of(~left, seen)
    return Candidate(
        feature, kind, n_branches, missing, 0.0, 0.0,
        threshold=float(tree.threshold[node]), cuts=cuts, branch_of=branch_of,
    )  # fmt: skip


def _branch_of(branch: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """``Candidate.branch_of``: the branch of each level, ``~branch`` where the node did not hold it."""
    branch = branch.astype(np.int64)
    return np.where(seen, branch, ~branch)


def surrogates_of(tree: Tree, node: int, problem: Problem) -> list[Surrogate]:
    """The surrogates of a node, best first."""
    found = []
    first, last = np.searchsorted(tree.surrogate_node, [node, node + 1]).tolist()
    for at in range(first, last):
        feature, offset = int(tree.surrogate_feature[at]), int(tree.surrogate_level_set[at])
        test = Candidate(feature, 1, 2, 0, 0.0, 0.0, threshold=float(tree.surrogate_threshold[at]))
        if offset >= 0:
            left, seen = level_bits(problem.schema.columns[feature], tree, offset)
            test = Candidate(feature, SUBSET, 2, 0, 0.0, 0.0, branch_of=_branch_of(~left, seen))
        found.append(
            Surrogate(
                test,
                int(tree.surrogate_flipped[at]),
                float(tree.surrogate_agreement[at]),
                float(tree.surrogate_adjusted[at]),
            )
        )
    return found


def retrace(tree: Tree, problem: Problem, policy: Policy) -> tuple[Step, ...]:
    """What every inner node was offered, level by level.

    Parameters
    ----------
    tree : Tree
        Grown on the rows of ``problem``.
    """
    steps = []
    waiting = {0: all_instances(problem)}
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        instances = waiting.pop(node)
        choice = policy.choose(instances, None)
        own = chosen = candidate_of(tree, node, problem)
        if choice.chosen is not None and choice.chosen.feature == own.feature:
            chosen = choice.chosen
        steps.append(
            Step(
                node,
                int(tree.depth[node]),
                len(instances),
                float(tree.weight[node]),
                float(tree.impurity[node]),
                choice.gains,
                choice.scores,
                chosen,
            )
        )
        answers = own.branches(problem, instances.rows)
        children = divide_by(
            problem, instances, answers, shares_of(own, instances, answers), surrogates_of(tree, node, problem),
            int(tree.missing_branch[node]),
        )  # fmt: skip
        first = int(tree.first_child[node])
        for branch, child in enumerate(children):
            if child is not None and not tree.is_leaf[first + branch]:
                waiting[first + branch] = child
    return tuple(steps)
