"""The arrays of a grown tree. In: a record per node. Out: ``Tree``. Caller: grow.by_node.grower."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treewright.grow.by_node.candidates import Candidate
from treewright.grow.by_node.problem import Problem
from treewright.grow.by_node.surrogates import Surrogate
from treewright.tree.arrays import INTERVALS, LEAF, MULTIWAY, SUBSET, THRESHOLD, Tree


@dataclass(eq=False, slots=True)
class Record:
    """What is known of a node; ``candidate`` is None at a leaf."""

    parent: int
    branch: int
    depth: int
    n_samples: int
    weight: float
    impurity: float
    value: np.ndarray
    candidate: Candidate | None = None
    missing_branch: int = 0
    surrogates: Sequence[Surrogate] = ()


def assemble(records: list[Record], problem: Problem) -> tuple[Tree, np.ndarray]:
    """Number the nodes level by level, siblings side by side, and lay them out.

    Returns
    -------
    tree : Tree
    places : int64[n]
        Position of each record's node.
    """
    n = len(records)
    parents = np.array([record.parent for record in records], np.int64)
    places = _places(parents, np.array([record.depth for record in records]), [record.branch for record in records])
    order = np.argsort(places)
    laid_out = [records[at] for at in order.tolist()]
    tables = _SideTables(problem)
    level_set = np.full(n, -1, np.int32)
    for node, record in enumerate(laid_out):
        if record.candidate is not None:
            level_set[node] = tables.add_test(record.candidate)
            for surrogate in record.surrogates:
                tables.add_surrogate(node, surrogate)
    tests = [record.candidate for record in laid_out]
    first_child = np.full(n, -1, np.int64)
    is_first = np.array([record.branch == 0 and record.parent >= 0 for record in laid_out], bool)
    first_child[places[parents[order[is_first]]]] = np.flatnonzero(is_first)
    return Tree(
        kind=np.array([LEAF if test is None else test.kind for test in tests], np.uint8),
        feature=np.array([-1 if test is None else test.feature for test in tests], np.int32),
        threshold=np.array(
            [test.threshold + 0.0 if test is not None and test.kind == THRESHOLD else 0.0 for test in tests]
        ),
        first_child=first_child.astype(np.int32),
        n_branches=np.array([0 if test is None else test.n_branches for test in tests], np.int32),
        missing_branch=np.array([record.missing_branch for record in laid_out], np.int32),
        level_set=level_set,
        n_samples=np.array([record.n_samples for record in laid_out], np.int64),
        weight=np.array([record.weight for record in laid_out]) * problem.weight_unit,
        impurity=np.array([max(record.impurity, 0.0) for record in laid_out]),
        value=np.array([record.value for record in laid_out]) * (problem.weight_unit if problem.is_classes else 1.0),
        **tables.arrays(),
    ), places


def _places(parents: np.ndarray, depths: np.ndarray, branches: list[int]) -> np.ndarray:
    """Position of each record: by depth, then by the parent's position, then by branch."""
    places = np.zeros(len(parents), np.int64)
    number = np.array(branches)
    end = 0
    # By depth, so that a level's parents have their places before it; sorting once keeps this linear in the depth.
    by_depth = np.argsort(depths, kind="stable")
    bounds = np.searchsorted(depths[by_depth], np.arange(depths.max() + 2))
    for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        level = by_depth[start:stop]
        above = places[np.maximum(parents[level], 0)]
        level = level[np.lexsort((number[level], above))]
        places[level] = np.arange(end, end + len(level))
        end += len(level)
    return places


class _SideTables:
    """The side tables of a tree, filled node by node."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.left: list[np.ndarray] = []
        self.seen: list[np.ndarray] = []
        self.level_branch: list[np.ndarray] = []
        self.cuts: list[np.ndarray] = []
        self.surrogates: list[tuple[int, int, float, int, int, float, float]] = []
        self.n_words = self.n_entries = self.n_cuts = 0

    def add_test(self, test: Candidate) -> int:
        """Keep a test's part; returns where it begins, -1 where it needs none."""
        if test.kind == SUBSET:
            return self.add_words(test.branch_of)
        if test.kind == MULTIWAY:
            self.level_branch.append(test.branch_of)
            self.n_entries += len(test.branch_of)
            return self.n_entries - len(test.branch_of)
        if test.kind == INTERVALS:
            self.cuts.append(test.cuts)
            self.n_cuts += len(test.cuts)
            return self.n_cuts - len(test.cuts)
        return -1

    def add_words(self, branch_of: np.ndarray) -> int:
        """Keep a two-sided partition as bit sets; returns where they begin."""
        n_words = (len(branch_of) - 1) // 64 + 1
        bits = np.zeros((2, 64 * n_words), np.uint8)
        bits[0, : len(branch_of)] = np.where(branch_of < 0, ~branch_of, branch_of) == 0
        bits[1, : len(branch_of)] = branch_of >= 0
        words = np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64)
        self.left.append(words[0])
        self.seen.append(words[1])
        self.n_words += n_words
        return self.n_words - n_words

    def add_surrogate(self, node: int, surrogate: Surrogate) -> None:
        """Keep a surrogate of a node."""
        test = surrogate.test
        offset = self.add_words(test.branch_of) if test.kind == SUBSET else -1
        threshold = test.threshold + 0.0 if test.kind == THRESHOLD else 0.0
        self.surrogates.append(
            (node, test.feature, threshold, offset, surrogate.flipped, surrogate.agreement, surrogate.adjusted)
        )

    def arrays(self) -> dict[str, np.ndarray]:
        """The side tables by the names of ``Tree``."""
        columns = list(zip(*self.surrogates, strict=True)) or [()] * 7
        names = ("node", "feature", "threshold", "level_set", "flipped", "agreement", "adjusted")
        types = (np.int32, np.int32, np.float64, np.int32, np.uint8, np.float64, np.float64)
        surrogates = {
            f"surrogate_{name}": np.array(column, dtype)
            for name, column, dtype in zip(names, columns, types, strict=True)
        }
        return {
            "levels_left": np.concatenate([*self.left, np.empty(0, np.uint64)]),
            "levels_seen": np.concatenate([*self.seen, np.empty(0, np.uint64)]),
            "level_branch": np.concatenate([*self.level_branch, np.empty(0, np.int32)]).astype(np.int32),
            "cuts": np.concatenate([*self.cuts, np.empty(0)]),
            **surrogates,
        }
