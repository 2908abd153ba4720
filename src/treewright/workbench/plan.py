"""Nodes of a plan by their paths. In: a plan, a path. Out: the node there, its rows, another plan.

A command never changes a plan: each makes a new one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from treewright.exceptions import ParameterError
from treewright.grow.by_node.instances import Instances
from treewright.grow.by_node.plan import Path, Plan, divided
from treewright.grow.problem import Problem
from treewright.trees.arrays import Tree
from treewright.trees.edit import number_at


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
