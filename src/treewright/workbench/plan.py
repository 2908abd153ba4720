"""A tree as its tests alone, and the tree that rows make of it. In: a plan, rows. Out: ``Tree``.

    instances_at     the rows of the node at the end of a path
    with_node_at     another plan, with another node there
    tree_of          divides all rows by the tests, and lays the nodes out

A plan holds no number of the rows, and is never changed: each command makes a new one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from treewright.exceptions import ParameterError
from treewright.grow.by_node.candidates import Candidate, heaviest_of
from treewright.grow.by_node.grower import Record, assemble, divide_by, shares_of
from treewright.grow.by_node.instances import EVERY_BRANCH, Instances
from treewright.grow.by_node.search import Policy
from treewright.grow.problem import Problem
from treewright.trees.arrays import MULTIWAY, SUBSET, Tree
from treewright.trees.edit import number_at

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


def path_of(words: object) -> Path:
    """Read a path such as ``"0.1"``; the root's is empty.

    Examples
    --------
    >>> path_of(""), path_of("0.1.0")
    ((), (0, 1, 0))
    """
    branches = words.split(".") if isinstance(words, str) and words else []
    if not isinstance(words, str) or not all(word.isascii() and word.isdigit() for word in branches):
        raise ParameterError(f"path={words!r}: give branches with dots between them, such as '0.1'; '' is the root")
    return tuple(map(int, branches))


def written(path: Path) -> str:
    """A path as text."""
    return ".".join(map(str, path))


def named(path: Path) -> str:
    """The name of a node in errors.

    Examples
    --------
    >>> named(()), named((0, 1))
    ('the root', "node '0.1'")
    """
    return f"node {written(path)!r}" if path else "the root"


def node_at(plan: Plan, path: Path) -> Plan:
    """The node at the end of a path; ParameterError if there is none."""
    for depth, branch in enumerate(path):
        if branch >= len(plan.branches):
            there = f"{named(path[:depth])} has {len(plan.branches) or 'no'} branches"
            raise ParameterError(f"path={written(path)!r}: there is no such node: {there}")
        plan = plan.branches[branch]
    return plan


def with_node_at(plan: Plan, path: Path, node: Plan) -> Plan:
    """The plan with another node at the end of a path."""
    above = [plan]
    for branch in path[:-1]:
        above.append(above[-1].branches[branch])
    for branch, parent in zip(reversed(path), reversed(above), strict=False):
        branches = list(parent.branches)
        branches[branch] = node
        node = replace(parent, branches=tuple(branches))
    return node


def divided(problem: Problem, instances: Instances, test: Candidate) -> tuple[list[Instances | None], int]:
    """The rows of each branch of a test, None if there are none; and the branch that missing values follow."""
    branch = test.branches(problem, instances.rows)
    shares = shares_of(test, instances, branch)
    missing = heaviest_of(shares) if test.missing_branch == EVERY_BRANCH else test.missing_branch
    return divide_by(problem, instances, branch, shares, (), missing), missing


def without_orders(root: Instances) -> Instances:
    """The same rows without sorted columns: enough to divide them, in a tenth of the time."""
    return replace(root, orders=np.empty((0, len(root)), np.int32), n_present=np.empty(0, np.int64))


def instances_at(problem: Problem, root: Instances, plan: Plan, path: Path) -> Instances | None:
    """The root's rows that reach a node; None if none does."""
    instances: Instances | None = root
    node = plan
    for branch in path:
        if instances is not None and node.test is not None:
            instances = divided(problem, instances, node.test)[0][branch]
        node = node.branches[branch]
    return instances


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


def nearest_number(tree: Tree, path: Path) -> int:
    """The number of a node in the tree of its plan, or of its nearest ancestor if the tree ends for lack of rows."""
    while (number := number_at(tree, written(path))) < 0:
        path = path[:-1]
    return number


def paths_of(tree: Tree, most: int) -> list[str]:
    """The paths of the first nodes, at most so many; parents come before their children."""
    paths: list[str] = [""]
    for node in range(1, min(tree.n_nodes, most)):
        above = int(tree.parent[node])
        branch = node - int(tree.first_child[above])
        paths.append(f"{paths[above]}.{branch}" if above else str(branch))
    return paths


def _decided(problem: Problem, value: np.ndarray, decision: float) -> np.ndarray:
    """The value of a leaf whose prediction was set by hand."""
    if not problem.is_classes:
        return np.full_like(value, decision)
    decided = np.zeros_like(value)
    decided[int(decision)] = value.sum()
    return decided
