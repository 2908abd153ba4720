"""A tree as its tests alone, and the tree that rows make of it. In: a plan, rows. Out: ``Tree``.

A plan holds no number of the rows, and is never changed. `tree_of` divides all rows by its tests, and lays the nodes
out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from treewright.grow.by_node.candidates import Candidate, heaviest_of
from treewright.grow.by_node.grower import Record, assemble, divide_by, shares_of
from treewright.grow.by_node.instances import EVERY_BRANCH, Instances
from treewright.grow.by_node.search import Policy
from treewright.grow.problem import Problem
from treewright.trees.arrays import MULTIWAY, SUBSET, Tree

Path = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Plan:
    """A node of a plan, and all below it: a branch for each of its test's; a leaf has no test.

    If ``locked``, it and all below it are protected from changes. ``decision`` is the prediction of a leaf, set by
    hand: the code of a class, or a number.
    """

    test: Candidate | None = None
    branches: tuple[Plan, ...] = ()
    locked: bool = False
    name: str = ""
    decision: float | None = None

    def nodes(self, path: Path = ()) -> Iterator[tuple[Path, Plan]]:
        """Every node with its path, a parent before its children."""
        waiting = [(path, self)]
        while waiting:
            at, node = waiting.pop()
            yield at, node
            waiting += [((*at, branch), node.branches[branch]) for branch in reversed(range(len(node.branches)))]


LEAF = Plan()


def divided(problem: Problem, instances: Instances, test: Candidate) -> tuple[list[Instances | None], int]:
    """The rows of each branch of a test, None if there are none; and the branch that missing values follow."""
    branch = test.branches(problem, instances.rows)
    shares = shares_of(test, instances, branch)
    missing = heaviest_of(shares) if test.missing_branch == EVERY_BRANCH else test.missing_branch
    return divide_by(problem, instances, branch, shares, (), missing), missing


def tree_of(problem: Problem, policy: Policy, root: Instances, plan: Plan) -> Tree:
    """The tree that the root's rows make of a plan; it ends at a node without rows, which predicts like its parent."""
    records: list[Record] = []
    waiting: list[tuple[Plan, Instances | None, int, int, int]] = [(plan, root, -1, 0, 0)]
    while waiting:
        node, instances, parent, branch, depth = waiting.pop()
        number = len(records)
        if instances is None:
            n_rows, weight, impurity, value = 0, 0.0, records[parent].impurity, records[parent].value
        else:
            n_rows, weight, impurity = len(instances), instances.weight, policy.impurity(instances)
            value = policy.value(instances)
        is_decided = node.decision is not None and node.test is None and instances is not None
        held = _decided(problem, value, node.decision) if is_decided else value  # type: ignore[arg-type]
        records.append(Record(parent, branch, depth, n_rows, weight, impurity, held))
        if node.test is None or instances is None:
            continue
        test = as_seen(problem, instances, node.test)
        children, missing = divided(problem, instances, test)
        records[number].candidate, records[number].missing_branch = test, missing
        waiting += [
            (below, own, number, at, depth + 1)
            for at, (below, own) in enumerate(zip(node.branches, children, strict=True))
        ]
    return assemble(records, problem)[0]


def as_seen(problem: Problem, instances: Instances, test: Candidate) -> Candidate:
    """A test of levels that marks which of them these rows have: after a move a node has other rows."""
    if test.kind not in (SUBSET, MULTIWAY):
        return test
    cells = problem.values[test.feature, instances.rows]
    codes = cells[~np.isnan(cells)].astype(np.int64)
    n_levels = len(test.branch_of) - 1
    is_held = np.bincount(np.minimum(codes, n_levels), minlength=n_levels + 1) > 0
    is_held[n_levels] = False
    own = np.where(test.branch_of < 0, ~test.branch_of, test.branch_of)
    return replace(test, branch_of=np.where(is_held, own, ~own))


def _decided(problem: Problem, value: np.ndarray, decision: float) -> np.ndarray:
    """The value of a leaf whose prediction was set by hand."""
    if not problem.is_classes:
        return np.full_like(value, decision)
    decided = np.zeros_like(value)
    decided[int(decision)] = value.sum()
    return decided
