"""What holds for every table grown on bins; above all that exact growth makes the same tree."""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treewright.data.bin_rows import bin_rows
from treewright.data.bins import bins_of
from treewright.data.schema import Column, Schema
from treewright.grow.binned import grower as subtrees
from treewright.grow.binned.grower import grow_binned, grow_packed
from treewright.grow.exact.grower import grow
from treewright.grow.objective import Objective, classification_objective, regression_objective
from treewright.grow.settings import BinnedSettings
from treewright.trees.arrays import LEAF, SUBSET, Tree
from treewright.trees.check import check_tree
from treewright.trees.data import impurity_importances

# criterion, classes (0: regression), outputs
TARGETS = (
    ("gini", 2, 1),
    ("gini", 5, 1),
    ("gini", 2, 2),
    ("gini", 3, 2),
    ("entropy", 2, 1),
    ("log_loss", 4, 1),
    ("entropy", 2, 2),
    ("misclassification", 2, 1),
    ("misclassification", 3, 1),
    ("squared_error", 0, 1),
    ("squared_error", 0, 2),
    ("poisson", 0, 1),
    ("poisson", 0, 2),
)
MONOTONE = (("gini", 2, 1), ("entropy", 2, 1), ("squared_error", 0, 1), ("poisson", 0, 1))
LIMITS = {
    "max_depth": (1, 3, 6),
    "min_samples_split": (3, 20),
    "min_samples_leaf": (2, 5, 11),
    "min_weight_fraction_leaf": (0.02, 0.1),
    "max_leaf_nodes": (2, 7, 30),
    "min_impurity_decrease": (0.0013, 0.0207),
}


@dataclass
class Case:
    """A table, its target and its weights."""

    matrix: np.ndarray
    schema: Schema
    target: np.ndarray
    weights: np.ndarray | None
    criterion: str
    n_classes: tuple[int, ...]

    @property
    def objective(self) -> Objective:
        if self.n_classes:
            return classification_objective(self.target.astype(np.int32), self.n_classes, self.weights, self.criterion)
        return regression_objective(self.target.astype(np.float64), self.weights, self.criterion)

    def exact(self, **limits) -> Tree:
        return grow(self.matrix, self.schema, self.objective, binned_settings(self, limits))

    def on_bins(self, **limits) -> Tree:
        bins = bins_of(self.matrix, self.schema)
        return grow_binned(
            bin_rows(bins, self.matrix), bins, self.schema, self.objective, binned_settings(self, limits)
        )

    def packed(self, **limits):
        bins = bins_of(self.matrix, self.schema)
        rows = np.arange(len(self.matrix), dtype=np.int32)
        return grow_packed(
            bin_rows(bins, self.matrix), rows, bins, self.schema, self.objective, binned_settings(self, limits)
        )

    def at(self, rows: np.ndarray, weights: np.ndarray | None) -> Case:
        """Other rows of the same table."""
        return Case(self.matrix[rows], self.schema, self.target[rows], weights, self.criterion, self.n_classes)


def binned_settings(case: Case, limits: dict) -> BinnedSettings:
    return BinnedSettings(case.criterion, **limits)


def table_of(seed: int, n: int, target: tuple[str, int, int], weighing: str, n_levels: int = 14) -> Case:
    """Numbers (few or many distinct ones), an ordinal and two nominal columns, some cells missing."""
    rng = np.random.default_rng(seed)
    criterion, n_classes, n_outputs = target
    many = rng.normal(size=min(n, 250))
    matrix = np.column_stack(
        [
            rng.choice(many, n),
            rng.integers(0, 3, n) - 1.0,
            rng.integers(0, 9, n),
            rng.integers(0, 5, n),
            rng.integers(0, n_levels, n),
        ]
    )
    matrix[rng.random(matrix.shape) < rng.choice([0.0, 0.05, 0.4])] = np.nan
    sizes = {"size": ("ordinal", 9), "city": ("nominal", 6), "code": ("nominal", n_levels + 3)}
    schema = Schema(
        (
            Column("x", "numeric", missing_seen=True),
            Column("z", "numeric", missing_seen=True),
            *(Column(name, kind, tuple(range(k)), missing_seen=True) for name, (kind, k) in sizes.items()),
        )
    )
    signal = np.nan_to_num(matrix[:, 0]) + (matrix[:, 3] % 2 == 1) + (matrix[:, 4] % 3 == 1)
    noise = rng.normal(size=(n, n_outputs))
    if n_classes:
        y = np.clip(np.rint(signal[:, None] + noise), 0, n_classes - 1)
    else:
        y = np.maximum(np.rint(2 * (signal[:, None] + noise)), 0) if criterion == "poisson" or seed % 2 else noise
    weights = {"none": None, "whole": rng.integers(1, 4, n) * 1.0, "real": rng.random(n) + 1e-3}[weighing]
    return Case(matrix, schema, y, weights, criterion, (n_classes,) * n_outputs if n_classes else ())


sizes = st.one_of(st.integers(2, 40), st.integers(41, 400))
weighings = st.sampled_from(["none", "whole", "real"])
limit_sets = st.dictionaries(st.sampled_from(sorted(LIMITS)), st.integers(0, 2), max_size=2).map(
    lambda chosen: {name: LIMITS[name][at % len(LIMITS[name])] for name, at in chosen.items()}
)


def assert_same_tree(one: Tree, other: Tree) -> None:
    """Equal field for field; the impurities of numbers are sums of floats, whose order differs."""
    for field in fields(Tree):
        first, second = getattr(one, field.name), getattr(other, field.name)
        if field.name == "impurity":
            np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-15, err_msg=field.name)
        else:
            assert first.dtype == second.dtype, field.name
            np.testing.assert_array_equal(first, second, err_msg=field.name)


@given(st.integers(0, 2**32), sizes, st.sampled_from(TARGETS), weighings, limit_sets)
def test_bins_of_single_values_grow_the_tree_of_the_exact_grower(seed, n, target, weighing, limits) -> None:
    case = table_of(seed, n, target, weighing)
    assert_same_tree(case.on_bins(**limits), case.exact(**limits))


@given(st.integers(0, 2**32), sizes, st.sampled_from(MONOTONE), weighings, limit_sets)
def test_monotone_trees_on_bins_are_those_of_the_exact_grower(seed, n, target, weighing, limits) -> None:
    case = table_of(seed, n, target, weighing)
    ways = (*(int(way) for way in np.random.default_rng(seed).integers(-1, 2, 3)), 0, 0)
    assert_same_tree(case.on_bins(monotone=ways, **limits), case.exact(monotone=ways, **limits))


@given(st.integers(0, 2**32), st.integers(250, 700), st.sampled_from(TARGETS), weighings, st.integers(60, 254))
def test_nominal_columns_of_up_to_254_levels_are_split_alike(seed, n, target, weighing, n_levels) -> None:
    case = table_of(seed, n, target, weighing, n_levels)
    assert_same_tree(case.on_bins(), case.exact())


@pytest.mark.slow
@pytest.mark.timeout(1200)
@settings(max_examples=3000)
@given(st.integers(0, 2**32), sizes, st.sampled_from(TARGETS), weighings, limit_sets)
def test_many_tables_grow_the_tree_of_the_exact_grower(seed, n, target, weighing, limits) -> None:
    case = table_of(seed, n, target, weighing)
    assert_same_tree(case.on_bins(**limits), case.exact(**limits))


def walked(tree: Tree) -> list[int]:
    """The nodes of a tree, a parent before its children, left before right."""
    order, waiting = [], [0]
    while waiting:
        at = waiting.pop()
        order.append(at)
        if tree.kind[at] != LEAF:
            waiting += [int(tree.first_child[at]) + 1, int(tree.first_child[at])]
    return order


def levels_of(words: np.ndarray, tree: Tree, at: int, n_levels: int) -> list[int]:
    first = tree.level_set[at]
    return [code for code in range(n_levels + 1) if int(words[first + code // 64]) >> code % 64 & 1]


PLANS = st.sampled_from(
    [{}, {"max_features": 2}, {"random_cuts": True}, {"max_leaf_nodes": 9}, {"random_cuts": True, "max_features": 1}]
)


@given(st.integers(0, 2**32), sizes, st.sampled_from(TARGETS), weighings, PLANS)
def test_a_packed_tree_says_what_the_tree_says(seed, n, target, weighing, plan) -> None:
    case = table_of(seed, n, target, weighing)
    tree, packed = case.on_bins(seed=seed, **plan), case.packed(seed=seed, **plan)
    unpacked = packed[0]
    ours, theirs = walked(tree), walked(unpacked)
    for name in ("kind", "feature", "n_samples", "missing_branch"):
        np.testing.assert_array_equal(getattr(tree, name)[ours], getattr(unpacked, name)[theirs], err_msg=name)
    np.testing.assert_allclose(tree.weight[ours], unpacked.weight[theirs], rtol=1e-12)
    leaves = tree.kind[ours] == LEAF
    np.testing.assert_allclose(tree.value[ours][leaves], unpacked.value[theirs][leaves], rtol=1e-12)
    np.testing.assert_allclose(tree.value[ours], unpacked.value[theirs], rtol=1e-9, atol=1e-12)
    for one, other in zip(ours, theirs, strict=True):
        if tree.kind[one] == SUBSET:
            n_levels = len(case.schema.columns[tree.feature[one]].levels)
            for words in ("levels_left", "levels_seen"):
                first = levels_of(getattr(tree, words), tree, one, n_levels)
                assert first == levels_of(getattr(unpacked, words), unpacked, other, n_levels)
    expected = impurity_importances(tree, 5)
    np.testing.assert_allclose(packed.importances[0], expected, rtol=1e-9, atol=1e-9)
    check_tree(unpacked, case.schema, unpacked.value.shape[1])


@given(st.integers(0, 2**32), sizes, st.sampled_from(TARGETS), weighings, PLANS)
def test_the_order_of_rows_on_bins_is_irrelevant(seed, n, target, weighing, plan) -> None:
    """What is drawn at random belongs to nodes and columns, not to rows."""
    case = table_of(seed, n, target, weighing)
    order = np.random.default_rng(seed + 1).permutation(n)
    weights = None if case.weights is None else case.weights[order]
    assert_same_tree(case.on_bins(seed=seed, **plan), case.at(order, weights).on_bins(seed=seed, **plan))


@given(st.integers(0, 2**32), st.integers(2, 150), st.sampled_from(TARGETS), PLANS, st.integers(1, 6))
def test_a_row_of_weight_k_on_bins_counts_as_k_rows(seed, n, target, plan, min_leaf) -> None:
    case = table_of(seed, n, target, "whole")
    times = case.weights.astype(int)
    plan = {**plan, "seed": seed, "counts_rows": True, "min_samples_leaf": min_leaf, "min_samples_split": 4}
    weighted, repeated = case.packed(**plan), case.at(np.repeat(np.arange(n), times), None).packed(**plan)

    # The same records, sets and leaves; impurities are sums of floats.
    for name in ("records", "sets", "seen", "leaf_samples", "leaf_weight"):
        np.testing.assert_array_equal(getattr(weighted, name), getattr(repeated, name), err_msg=name)
    np.testing.assert_allclose(weighted.leaf_value, repeated.leaf_value, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(weighted.importances, repeated.importances, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("target", [("gini", 2, 1), ("gini", 3, 1), ("squared_error", 0, 1), ("poisson", 0, 1)])
@pytest.mark.parametrize("plan", [{}, {"max_features": 2, "random_cuts": True}])
def test_windows_change_nothing(target, plan, monkeypatch) -> None:
    """Subtrees of few rows are grown on a copy of their rows: of whatever size, the tree is the same."""
    case = table_of(3, 9_000, target, "whole")
    trees = []
    for cells in (subtrees._CALL_CELLS, 30_000):  # and with many returns to Python between
        monkeypatch.setattr(subtrees, "_CALL_CELLS", cells)
        trees.append(case.on_bins(seed=7, **plan))
    # Best first grows without windows: with leaves to spare it makes the same tests.
    trees.append(case.on_bins(seed=7, max_leaf_nodes=20_000, **plan))
    assert trees[0].n_nodes > 500
    if not plan:  # rows enough for histograms to be handed down from parents to children
        assert_same_tree(trees[0], case.exact())
    for name in ("kind", "feature", "threshold", "n_samples", "weight", "value"):
        first, *others = (getattr(tree, name)[walked(tree)] for tree in trees)
        for other in others:
            np.testing.assert_array_equal(first, other, err_msg=name)


@given(st.integers(0, 2**32), st.sampled_from(TARGETS), st.booleans())
def test_columns_of_different_groups_never_meet_on_a_path(seed, target, random_cuts) -> None:
    case = table_of(seed, 120, target, "none")
    groups = ((0, 3), (1, 2, 4))
    tree = case.on_bins(interactions=groups, random_cuts=random_cuts, seed=seed)
    asked = {0: frozenset()}
    for at in walked(tree):
        if tree.kind[at] == LEAF:
            assert any(asked[at] <= set(group) for group in groups)
            continue
        for branch in (0, 1):
            asked[int(tree.first_child[at]) + branch] = asked[at] | {int(tree.feature[at])}


def test_growth_on_bins_repeats_to_the_last_bit_in_used_memory() -> None:
    """Scratch memory is not cleared between growths: nothing may be read before it is written."""
    for target in TARGETS:
        case = table_of(11, 300, target, "real")
        plan = {"random_cuts": True, "seed": 5}
        dirty = [np.full(2**16, 0xFD, np.uint8) for _ in range(64)]
        first = case.on_bins(**plan)
        del dirty
        for one, other in pairwise([first, case.on_bins(**plan), case.on_bins(**plan)]):
            for field in fields(Tree):
                assert getattr(one, field.name).tobytes() == getattr(other, field.name).tobytes()
