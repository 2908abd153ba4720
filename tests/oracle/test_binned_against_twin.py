"""Growth on bins makes the very tree that its slow, obvious twin makes, also where exact growth has no such tree."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from naive_binned import BinnedLimits, BinnedTwin, Ranges
from naive_criteria import Criterion
from naive_tree import TwinTable, TwinTree
from rotating import crossed, few

from treewright.data.bin_rows import bin_rows
from treewright.data.bins import Bins, bins_of, middle_of
from treewright.data.schema import Column, Schema
from treewright.grow.binned.grower import grow_binned, grow_packed
from treewright.grow.objective import Objective, classification_objective, regression_objective
from treewright.grow.settings import BinnedSettings
from treewright.trees.arrays import LEAF, SUBSET, THRESHOLD, Tree
from treewright.trees.check import check_tree

# criterion, classes (0: regression), outputs
TARGETS = {
    "gini of two classes": ("gini", 2, 1),
    "gini of three classes": ("gini", 3, 1),
    "gini of two outputs": ("gini", 2, 2),
    "entropy of two classes": ("entropy", 2, 1),
    "entropy of three classes": ("entropy", 3, 1),
    "misclassification of three classes": ("misclassification", 3, 1),
    "squared error": ("squared_error", 0, 1),
    "poisson": ("poisson", 0, 1),
    "absolute error": ("absolute_error", 0, 1),
    "absolute error of two outputs": ("absolute_error", 0, 2),
}
PLANS = {
    "every column": {},
    "random cuts": {"random_cuts": True},
    "random cuts in drawn columns": {"random_cuts": True, "max_features": 2},
    "drawn columns": {"max_features": 1},
    "two drawn columns, best first": {"max_features": 2, "max_leaf_nodes": 6},
    "groups of columns": {"interactions": ((0, 1), (1, 2), (3, 4))},
    "groups of columns, drawn": {"interactions": ((0, 1, 2), (2, 3, 4)), "max_features": 1},
    "some columns": {"candidates": (1, 3)},
    "some columns, drawn": {"candidates": (0, 2, 3, 4), "max_features": 2, "random_cuts": True},
    "rows counted": {"counts_rows": True, "min_samples_leaf": 4},
    "rows counted, random cuts": {"counts_rows": True, "min_samples_split": 9, "random_cuts": True},
    "rows counted, large leaves, best first": {"counts_rows": True, "min_samples_leaf": 3, "max_leaf_nodes": 5},
    "large leaves": {"min_samples_leaf": 4, "min_samples_split": 9},
    "decrease": {"min_impurity_decrease": 0.0101, "max_depth": 3},
}
N_COLUMNS = 5


@dataclass
class Case:
    """One table as bins, for the grower and for its twin."""

    codes: np.ndarray
    bins: Bins
    schema: Schema
    objective: Objective
    twin: TwinTable
    ranges: Ranges


def draw_case(seed: int, criterion: str, n_classes: int, n_outputs: int, *, whole: bool, n: int = 0, max_bins: int = 0):
    """A table whose bins hold several values, with missing cells and nominal columns."""
    rng = np.random.default_rng(seed)
    n = n or int(rng.integers(2, 45))
    digits = 9 if max_bins else 2
    max_bins = max_bins or int(rng.integers(2, 9))
    columns = [Column(f"x{at}", "numeric") for at in range(3)]
    columns += [Column("size", "ordinal", tuple(range(7))), Column("city", "nominal", tuple(range(5)))]
    schema = Schema(tuple(columns))
    matrix = np.column_stack(
        [rng.normal(size=(n, 2)).round(digits), rng.integers(0, 3, n), rng.integers(0, 7, n), rng.integers(0, 5, n)]
    )
    matrix[rng.random(matrix.shape) < rng.choice([0.0, 0.1, 0.3])] = np.nan
    target = rng.integers(0, n_classes or 4, (n, n_outputs))
    steps = rng.integers(1, 4, n) if whole or rng.random() < 0.5 else np.ones(n, np.int64)
    weights = steps.astype(np.float64) if whole or steps.max() > 1 else None
    if n_classes:
        classes = (n_classes,) * n_outputs
        objective = classification_objective(target.astype(np.int32), classes, weights, criterion)
    else:
        classes = ()
        objective = regression_objective(target.astype(np.float64), weights, criterion)
    bins = bins_of(matrix, schema, max_bins=max_bins)
    codes = bin_rows(bins, matrix)
    held = codes[:, :N_COLUMNS].T.tolist()
    rows = [tuple(int(cell) for cell in row) for row in target]
    spans = [slice(bins.start[at], bins.start[at + 1]) for at in range(N_COLUMNS)]
    twin = TwinTable(
        [[None if b == 255 else b for b in column] for column in held],
        [int(bins.n_bins[at]) if bins.is_nominal[at] else 0 for at in range(N_COLUMNS)],
        Criterion(criterion, rows, steps.tolist(), classes),
        Fraction(1),
    )
    ranges = Ranges([bins.lowest[span].tolist() for span in spans], [bins.highest[span].tolist() for span in spans])
    return Case(codes, bins, schema, objective, twin, ranges)


def bits_of(words: np.ndarray, first: int, levels: np.ndarray) -> set[int]:
    """Bins whose levels are in a set of a ``Tree``."""
    return {int(b) for code, b in enumerate(levels) if int(words[first + code // 64]) >> code % 64 & 1}


def difference(case: Case, tree: Tree, twin: TwinTree, grower: BinnedTwin, *, counts_rows: bool, packed: bool) -> str:
    """The first difference in words, both trees walked side by side; numbers only of trees that are not packed."""
    waiting = [(0, 0)]
    n_met = 0
    while waiting:
        at, number = waiting.pop()
        n_met += 1
        node = twin.nodes[number]
        found = node_difference(case, tree, at, node, grower, counts_rows=counts_rows, packed=packed)
        if not packed and tree.first_child[at] != node.first_child:
            found = found or f"first_child {tree.first_child[at]}, the twin has {node.first_child}"
        if found:
            return f"node {at} (twin {number}): {found}"
        if node.first_child >= 0:
            waiting += [(int(tree.first_child[at]) + branch, node.first_child + branch) for branch in (0, 1)]
    return "" if n_met == tree.n_nodes else f"{tree.n_nodes} nodes, the twin has {n_met}"


def node_difference(
    case: Case, tree: Tree, at: int, node, grower: BinnedTwin, *, counts_rows: bool, packed: bool
) -> str:
    criterion, bins = case.twin.criterion, case.bins
    split = node.split if node.first_child >= 0 else None
    kind = LEAF if split is None else THRESHOLD if split.levels is None else SUBSET
    weight = criterion.weight(node.rows)
    expected = {
        "kind": kind,
        "feature": split.column if split else -1,
        "missing_branch": node.missing_branch,
        "n_samples": weight if packed and counts_rows else len(node.rows),
        "weight": float(weight),
    }
    for name, wanted in expected.items():
        if getattr(tree, name)[at] != wanted:
            return f"{name} {getattr(tree, name)[at]}, the twin has {wanted} ({split})"
    if not np.allclose(tree.value[at], criterion.value(node.rows, Fraction(1)), rtol=1e-12, atol=1e-12):
        return f"value {tree.value[at]}, the twin has {criterion.value(node.rows, Fraction(1))}"
    loose = 1e-6 if packed else 1e-11  # a packed leaf keeps its impurity in float32
    if abs(tree.impurity[at] - criterion.impurity(node.rows)) > loose * max(1.0, criterion.impurity(node.rows)):
        return f"impurity {tree.impurity[at]}, the twin has {criterion.impurity(node.rows)}"
    if kind == SUBSET:
        levels = bins.level_bin[bins.level_start[split.column] : bins.level_start[split.column + 1]]
        first = tree.level_set[at]
        # Bins without levels cannot be seen in a set of levels.
        held = {int(b) for b in levels}
        wanted = (set(node.left_bits) & held, set(node.seen_bits) & held)
        got = (bits_of(tree.levels_left, first, levels), bits_of(tree.levels_seen, first, levels))
        return "" if got == wanted else f"sets {got}, the twin has {wanted}"
    if kind == THRESHOLD:
        return cut_difference(case, float(tree.threshold[at]), node, grower, packed=packed)
    return ""


def cut_difference(case: Case, threshold: float, node, grower: BinnedTwin, *, packed: bool) -> str:
    """Where the cut lies: behind the bin that was drawn; else in the middle between the bins with rows, or anywhere
    between them where trees are packed."""
    split = node.split
    column = case.twin.columns[split.column]
    before = max(column[row] for row in split.left if column[row] is not None)
    present = [column[row] for row in split.right if column[row] is not None]
    if not present:
        return "" if threshold == np.inf else f"threshold {threshold}, the twin has inf"
    after = min(present)
    if grower.limits.random_cuts:
        before = grower.random_last(node, split.column, [b for row in node.rows if (b := column[row]) is not None])
        after = before + 1
    low = case.ranges.highest[split.column][before]
    high = case.ranges.lowest[split.column][after]
    if packed:
        return "" if low <= threshold < high else f"threshold {threshold}, the twin has one in [{low}, {high})"
    wanted = float(middle_of(np.array([low]), np.array([high]))[0])
    return "" if threshold == wanted else f"threshold {threshold}, the twin has {wanted}"


def compare(case: Case, plan: dict, seed: int) -> int:
    """Grow three times: the twin, a ``Tree`` and a packed tree; returns how many nodes the tree has."""
    grower = BinnedTwin(case.twin, case.ranges, BinnedLimits(seed=seed, **plan))
    twin = grower.grow()
    plan = {**plan, "candidates": np.array(plan["candidates"], np.int32)} if "candidates" in plan else plan
    settings = BinnedSettings(case.twin.criterion.name, seed=seed, **plan)
    counts_rows = settings.counts_rows

    tree = grow_binned(case.codes, case.bins, case.schema, case.objective, settings)

    found = difference(case, tree, twin, grower, counts_rows=counts_rows, packed=False)
    assert not found, f"seed {seed}: {found}"
    check_tree(tree, case.schema, tree.value.shape[1])
    if case.twin.criterion.name == "absolute_error":
        return tree.n_nodes  # packed trees make what inner nodes hold of their leaves: medians are not made so
    rows = np.arange(len(case.codes), dtype=np.int32)
    packed = grow_packed(case.codes, rows, case.bins, case.schema, case.objective, settings)
    found = difference(case, packed[0], twin, grower, counts_rows=counts_rows, packed=True)
    assert not found, f"packed, seed {seed}: {found}"
    return tree.n_nodes


@pytest.mark.parametrize(("target", "plan"), crossed(TARGETS, PLANS))
def test_every_node_is_the_one_that_the_rules_give(target: str, plan: str) -> None:
    whole = "counts_rows" in PLANS[plan]
    sizes = [compare(draw_case(seed, *TARGETS[target], whole=whole), PLANS[plan], seed) for seed in few(range(60))]
    assert max(sizes) >= 3


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("target", TARGETS)
def test_every_node_is_the_one_that_the_rules_give_on_many_tables(target: str, plan: str) -> None:
    for seed in range(1_000, 1_300):
        compare(draw_case(seed, *TARGETS[target], whole="counts_rows" in PLANS[plan]), PLANS[plan], seed)


@pytest.mark.parametrize("plan", ["every column", "random cuts in drawn columns"])
@pytest.mark.parametrize("target", ["gini of two classes", "gini of three classes", "squared error"])
def test_more_than_255_distinct_values_share_bins(target: str, plan: str) -> None:
    case = draw_case(5, *TARGETS[target], whole=True, n=500, max_bins=255)
    assert case.bins.n_bins.max() == 255
    assert (case.bins.highest > case.bins.lowest).any()
    compare(case, {**PLANS[plan], "max_depth": 2}, 5)


@pytest.mark.parametrize("random_cuts", [False, True])
@pytest.mark.parametrize(
    "target", ["gini of two classes", "entropy of two classes", "squared error", "poisson", "absolute error"]
)
def test_monotone_trees_on_bins_are_the_ones_that_the_rules_give(target: str, random_cuts: bool) -> None:
    n_compared = 0
    for seed in few(range(40), 10):
        case = draw_case(seed, *TARGETS[target], whole=False)
        rng = np.random.default_rng(seed)
        plan = {"monotone": (*(int(way) for way in rng.integers(-1, 2, 4)), 0), "random_cuts": random_cuts}
        twin = BinnedTwin(case.twin, case.ranges, BinnedLimits(seed=seed, **plan))
        twin.grow()
        if not twin.touches_bound:  # there rounding may put a prediction on either side
            n_compared += any(plan["monotone"])
            compare(case, plan, seed)
    assert n_compared
