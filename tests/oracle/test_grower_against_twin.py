"""The grower grows the very tree that its slow, obvious twin grows, node by node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from naive_criteria import Criterion
from naive_tree import Twin, TwinLimits, TwinTable
from rotating import few
from twin_tables import Case, difference, draw_limits, draw_table

from treewright.data.schema import Column, Schema
from treewright.grow.exact.subsets import EXHAUSTIVE_LEVELS
from treewright.trees.check import check_tree

# criterion, classes (0: regression), outputs
TARGETS = {
    "gini of two classes": ("gini", 2, 1),
    "gini of three classes": ("gini", 3, 1),
    "gini of two outputs": ("gini", 2, 2),
    "gini of two outputs of three classes": ("gini", 3, 2),
    "entropy of two classes": ("entropy", 2, 1),
    "entropy of three classes": ("entropy", 3, 1),
    "entropy of two outputs": ("entropy", 2, 2),
    "misclassification of two classes": ("misclassification", 2, 1),
    "misclassification of three classes": ("misclassification", 3, 1),
    "squared error": ("squared_error", 0, 1),
    "squared error of two outputs": ("squared_error", 0, 2),
    "absolute error": ("absolute_error", 0, 1),
    "absolute error of two outputs": ("absolute_error", 0, 2),
    "poisson": ("poisson", 0, 1),
    "poisson of two outputs": ("poisson", 0, 2),
}
LIMITS = {
    "no limit": (),
    "depth": ("max_depth",),
    "rows to split": ("min_samples_split",),
    "rows in a leaf": ("min_samples_leaf",),
    "weight in a leaf": ("min_weight_fraction_leaf",),
    "best first": ("max_leaf_nodes",),
    "decrease": ("min_impurity_decrease",),
    "best first with large leaves": ("max_leaf_nodes", "min_samples_leaf"),
}
MONOTONE = ("gini of two classes", "entropy of two classes", "squared error", "absolute error", "poisson")


def compare(target: str, limits: str, seeds: Sequence[int]) -> None:
    """Grow the same tables twice; the message of a failure names the seed and the first node that differs."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        case = draw_table(rng, *TARGETS[target], "numeric" if seed % 3 == 0 else "mixed")
        limit = draw_limits(rng, LIMITS[limits])

        tree = case.grow(limit)

        found = difference(case, tree, Twin(case.twin, limit).grow())
        assert not found, f"seed {seed}: {found}"
        check_tree(tree, case.schema, tree.value.shape[1])


@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("target", TARGETS)
def test_every_node_is_the_one_that_exact_arithmetic_gives(target: str, limits: str) -> None:
    compare(target, limits, few(range(25)))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("target", TARGETS)
def test_every_node_is_the_one_that_exact_arithmetic_gives_on_many_tables(target: str, limits: str) -> None:
    compare(target, limits, range(1_000, 1_500))


def compare_monotone(target: str, seeds: Sequence[int]) -> None:
    """As ``compare``, with constraints.

    Where a prediction equals the bound of its node, rounding may put it on either side: such a table says nothing.
    """
    n_compared = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        case = draw_table(rng, *TARGETS[target], "mixed")
        directions = tuple(0 if levels else int(rng.integers(-1, 2)) for levels in case.twin.n_levels)
        limit = TwinLimits(monotone=directions)
        twin = Twin(case.twin, limit)
        expected = twin.grow()

        tree = case.grow(limit)

        if not twin.touches_bound:
            n_compared += any(directions)
            found = difference(case, tree, expected)
            assert not found, f"seed {seed}: {found}"
        check_tree(tree, case.schema, tree.value.shape[1])
    assert n_compared


@pytest.mark.parametrize("target", MONOTONE)
def test_monotone_trees_are_the_ones_that_exact_arithmetic_gives(target: str) -> None:
    compare_monotone(target, few(range(40), 10))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("target", MONOTONE)
def test_monotone_trees_are_the_ones_that_exact_arithmetic_gives_on_many_tables(target: str) -> None:
    compare_monotone(target, range(1_000, 2_000))


def nominal_case(codes: np.ndarray, labels: np.ndarray, n_levels: int, n_classes: int) -> Case:
    """One nominal column that predicts one label."""
    schema = Schema((Column("city", "nominal", tuple(range(n_levels))),))
    criterion = Criterion("gini", [(int(k),) for k in labels], [1] * len(labels), (n_classes,))
    twin = TwinTable([[int(code) for code in codes]], [n_levels], criterion)
    return Case(codes[:, None].astype(np.float64), schema, labels[:, None], None, twin)


def shares(case: Case, n_levels: int, n_classes: int) -> np.ndarray:
    """float64[n_levels, n_classes]: class shares of each level."""
    counts = np.zeros((n_levels, n_classes))
    np.add.at(counts, (case.matrix[:, 0].astype(int), case.target[:, 0]), 1)
    return counts / counts.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("seed", few(range(10)))
def test_many_levels_and_classes_are_cut_along_the_first_principal_component(seed: int) -> None:
    """Coppersmith, Hong and Hosking (1999).

    The best cut of the levels ordered by their shares' first principal component.
    """
    n_levels, n_classes = EXHAUSTIVE_LEVELS + 3, 3
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(n_levels), rng.integers(0, n_levels, 200)])
    labels = np.where(rng.random(len(codes)) < codes / n_levels, 0, rng.integers(1, n_classes, len(codes)))
    case = nominal_case(codes, labels, n_levels, n_classes)
    weights = np.bincount(codes).astype(float)
    deviations = shares(case, n_levels, n_classes) - np.bincount(labels) / len(labels)
    axis = np.linalg.eigh((deviations * weights[:, None]).T @ deviations)[1][:, -1]
    order = np.argsort(deviations @ axis)
    criterion, everyone = case.twin.criterion, list(range(len(codes)))
    gains = []
    for n_left in range(1, n_levels):
        left = [row for row in everyone if codes[row] in order[:n_left]]
        right = [row for row in everyone if codes[row] not in order[:n_left]]
        gains.append(criterion.gain(criterion.score(everyone), criterion.score(left), criterion.score(right)))

    tree = case.grow(TwinLimits(max_depth=1))

    sides = tree.impurity[1:] @ tree.weight[1:]
    assert tree.impurity[0] * tree.weight[0] - sides == pytest.approx(float(max(gains)), rel=1e-12)


def test_more_than_64_levels_keep_their_bits_in_several_words() -> None:
    codes = np.arange(130).repeat(2)
    labels = ((codes % 2 == 0) & (codes < 128)).astype(np.int64)
    case = nominal_case(codes, labels, 130, 2)

    tree = case.grow(TwinLimits())

    assert tree.n_nodes == 3
    even = sum(1 << bit for bit in range(0, 64, 2))
    # 64 levels of 130 on the left; the levels never seen (bit 130) follow the heavier right branch.
    assert [int(word) for word in tree.levels_left] == [even, even, 0]
    assert [int(word) for word in tree.levels_seen] == [2**64 - 1, 2**64 - 1, 3]
    assert not difference_of_counts(tree.value)


def difference_of_counts(value: np.ndarray) -> list[int]:
    """Leaves of the two-class tree that hold both classes."""
    return [at for at in (1, 2) if min(value[at]) > 0]
