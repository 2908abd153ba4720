"""The grower by nodes and the grower by levels grow the same tree wherever both can."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from naive_criteria import Criterion as NaiveCriterion
from naive_tree import TwinLimits, TwinTable
from rotating import few
from twin_tables import CLASSIFICATION, Case, draw_limits, draw_table

from treewright.data.schema import Column, Schema
from treewright.grow.by_node.cuts import Rules
from treewright.grow.by_node.grower import Grown, Stops, grow_by_node
from treewright.grow.by_node.search import GainPolicy, Search
from treewright.grow.criteria.costs import Criterion
from treewright.grow.problem import class_problem, number_problem
from treewright.trees.arrays import LEAF, SUBSET, Tree

TARGETS = {
    "gini of two classes": ("gini", 2, 1),
    "gini of three classes": ("gini", 3, 1),
    "gini of two outputs": ("gini", 2, 2),
    "entropy of three classes": ("entropy", 3, 1),
    "misclassification of three classes": ("misclassification", 3, 1),
    "squared error": ("squared_error", 0, 1),
    "squared error of two outputs": ("squared_error", 0, 2),
    "absolute error": ("absolute_error", 0, 1),
    "absolute error of two outputs": ("absolute_error", 0, 2),
    "poisson": ("poisson", 0, 1),
    "poisson of two outputs": ("poisson", 0, 2),
}
LIMITS: dict[str, tuple[str, ...]] = {
    "no limit": (),
    "depth": ("max_depth",),
    "rows": ("min_samples_split", "min_samples_leaf"),
    "weight in a leaf": ("min_weight_fraction_leaf",),
    "best first": ("max_leaf_nodes",),
    "decrease": ("min_impurity_decrease",),
}
WAYS = ("direction", "branch", "fractional", "surrogate", "error")


def grow_both(case: Case, limits: TwinLimits, missing: Any) -> tuple[Tree, Grown]:
    """The same table through both growers."""
    name = case.twin.criterion.name
    if name in CLASSIFICATION:
        problem = class_problem(
            case.matrix, case.schema, case.target.astype(np.int32), case.twin.criterion.n_classes, case.weights, missing
        )
    else:
        problem = number_problem(
            case.matrix, case.schema, case.target.astype(float), case.weights, missing, is_poisson=name == "poisson"
        )
    least = limits.min_weight_fraction_leaf * problem.weights.sum() * (1 - 1e-12)
    search = Search(problem, Criterion.of(name), Rules("subset", limits.min_samples_leaf, least))
    stops = Stops(limits.max_depth, limits.min_samples_split, limits.min_impurity_decrease, limits.max_leaf_nodes)
    return case.grow(limits), grow_by_node(problem, GainPolicy(search), stops, keep_trace=True)


def level_words(tree: Tree, table: str, node: int, n_words: int) -> list[int]:
    """The words of a node's level set."""
    offset = int(tree.level_set[node])
    return getattr(tree, table)[offset : offset + n_words].tolist()


def first_difference(fast: Tree, slow: Tree, case: Case) -> tuple[int, str]:
    """The node of ``slow`` where two trees begin to differ and how; -1 where they do not.

    From the root down, as the growers number nodes differently under ``max_leaf_nodes``.
    """
    waiting = [(0, 0)]
    for one, other in waiting:
        for name in ("kind", "feature", "threshold", "n_branches", "missing_branch", "n_samples"):
            if getattr(fast, name)[one] != getattr(slow, name)[other]:
                return other, f"{name}: {getattr(fast, name)[one]} and {getattr(slow, name)[other]}"
        for name in ("weight", "impurity", "value"):
            if not np.allclose(getattr(fast, name)[one], getattr(slow, name)[other], rtol=1e-12, atol=1e-11):
                return other, f"{name}: {getattr(fast, name)[one]} and {getattr(slow, name)[other]}"
        if fast.kind[one] == SUBSET:
            n_words = len(case.schema.columns[fast.feature[one]].levels) // 64 + 1
            for table in ("levels_left", "levels_seen"):
                if level_words(fast, table, one, n_words) != level_words(slow, table, other, n_words):
                    return other, table
        if fast.kind[one] != LEAF:
            waiting += [(fast.first_child[one] + b, slow.first_child[other] + b) for b in range(fast.n_branches[one])]
    return (-1, "") if fast.n_nodes == slow.n_nodes == len(waiting) else (0, "numbers of nodes")


def compare(target: str, limits: str, seeds: Sequence[int]) -> None:
    """Grow the same tables by both growers; the message of a failure names the seed and the first node."""
    name, n_classes, n_outputs = TARGETS[target]
    for seed in seeds:
        rng = np.random.default_rng(seed)
        case = draw_table(rng, name, n_classes, n_outputs, "numeric" if seed % 4 == 0 else "mixed")
        limit = draw_limits(rng, LIMITS[limits])
        missing = "direction" if np.isnan(case.matrix).any() else WAYS[seed % len(WAYS)]

        fast, slow = grow_both(case, limit, missing)

        node, found = first_difference(fast, slow.tree, case)
        assert not found, f"seed {seed}, {missing}, node {node}: {found}"


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("target", TARGETS)
def test_both_growers_grow_the_same_tree(target: str, limits: str) -> None:
    compare(target, limits, few(range(20)))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("target", TARGETS)
def test_both_growers_grow_the_same_tree_on_many_tables(target: str, limits: str) -> None:
    compare(target, limits, range(1_000, 1_200))


def large_case(rng: np.random.Generator, criterion: str, n_classes: int) -> Case:
    """2,000 rows: two numeric columns, an ordinal and a nominal one, a tenth of their cells missing."""
    n = 2_000
    schema = Schema(
        (
            Column("length", "numeric"),
            Column("width", "numeric"),
            Column("grade", "ordinal", tuple(range(6))),
            Column("city", "nominal", tuple(range(8))),
        )
    )
    codes = rng.integers(0, 6, n), rng.integers(0, 8, n)
    matrix = np.asfortranarray(np.stack([rng.normal(size=n), rng.random(n).round(2), *codes], axis=1).astype(float))
    signal = matrix[:, 0] + (matrix[:, 3] % 3) - matrix[:, 1] + rng.normal(size=n)
    matrix[rng.random(matrix.shape) < 0.1] = np.nan
    target = np.digitize(signal, [0.0, 1.0, 2.0][: n_classes - 1]) if n_classes else rng.poisson(np.exp(signal / 2))
    rows = [(int(v),) for v in target]
    twin = TwinTable([], [], NaiveCriterion(criterion, rows, [1] * n, (n_classes,) if n_classes else ()))
    return Case(matrix, schema, target[:, None], rng.integers(1, 4, n).astype(float), twin)


@pytest.mark.parametrize("name", ["gini", "entropy", "misclassification", "squared_error", "absolute_error", "poisson"])
def test_both_growers_grow_the_same_tree_on_two_thousand_rows(name: str) -> None:
    case = large_case(np.random.default_rng(7), name, 3 if name in CLASSIFICATION else 0)

    fast, slow = grow_both(case, TwinLimits(max_depth=7, min_samples_leaf=5), "direction")

    assert fast.n_nodes > 60
    node, found = first_difference(fast, slow.tree, case)
    assert not found, f"node {node}: {found}"
