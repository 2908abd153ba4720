"""Isolation trees are, node for node, those of their slow, obvious twin."""

from __future__ import annotations

import math

import numpy as np
import pytest
from naive_isolation import Twin, mix
from rotating import few

from treewright.data.schema import Column, Schema
from treewright.forest.draws import GROWTH, Draws, candidate_columns
from treewright.forest.isolation import grow_isolation_forest, rows_of_tree
from treewright.trees.arrays import LEAF, SUBSET
from treewright.trees.check import check_tree

N_LEVELS = [0, 0, 3, 70, 0, 2]


def drawn_table(rng, n):
    """Numbers, few numbers, levels, many levels, a column that is mostly constant; cells are missing everywhere."""
    columns = [
        rng.normal(size=n),
        rng.integers(0, 3, n),
        rng.integers(0, 3, n),
        rng.integers(0, 70, n),
        np.where(rng.random(n) < 0.9, 7.0, rng.choice([-math.inf, math.inf, -0.0, 1e308, -1e308], n)),
        rng.integers(0, 2, n),
    ]
    matrix = np.stack(columns, axis=1).astype(float)
    matrix[rng.random(matrix.shape) < rng.choice([0.0, 0.1, 0.6])] = np.nan
    schema = Schema(
        tuple(
            Column(f"x{at}", "nominal" if levels else "numeric", tuple(range(levels)), missing_seen=True)
            for at, levels in enumerate(N_LEVELS)
        )
    )
    return matrix, schema


def assert_same(tree, at, twin, node):
    """The node of the tree, and all below it, are those of the twin."""
    assert tree.n_samples[at] == len(node.rows)
    assert tree.weight[at] == len(node.rows)
    assert tree.value[at, 0] == pytest.approx(node.value, rel=1e-12)
    assert tree.impurity[at] == pytest.approx(node.variance, rel=1e-9, abs=1e-12)
    assert (tree.kind[at] == LEAF) == (node.left is None)
    if node.left is None:
        return
    assert tree.feature[at] == node.column
    assert tree.missing_branch[at] == (0 if node.missing_left else 1)
    if tree.kind[at] == SUBSET:
        n_words = N_LEVELS[node.column] // 64 + 1
        words = slice(tree.level_set[at], tree.level_set[at] + n_words)
        for stored, meant in ((tree.levels_left, node.levels_left), (tree.levels_seen, node.levels_seen)):
            assert sum(int(word) << (64 * k) for k, word in enumerate(stored[words])) == sum(1 << int(v) for v in meant)
    else:
        assert tree.threshold[at] == node.cut
    assert_same(tree, tree.first_child[at], twin, node.left)
    assert_same(tree, tree.first_child[at] + 1, twin, node.right)


@pytest.mark.parametrize("number", few(range(40), 10))
def test_a_tree_is_that_of_the_twin(number):
    rng = np.random.default_rng(number)
    n = int(rng.choice([1, 2, 3, 30, 120]))
    matrix, schema = drawn_table(rng, n)
    counts = rng.integers(0, 4, n) if number % 3 == 0 and n > 3 else np.ones(n, int)
    size = int(rng.integers(1, counts.sum() + 1))
    n_columns = int(rng.integers(1, 7))
    weights = None if (counts == 1).all() else counts.astype(float)
    kept = np.flatnonzero(counts)
    matrix, weights = matrix[kept], None if weights is None else weights[kept]
    draws = Draws(np.arange(len(kept), dtype=np.int32), size, number * 2**50, weights=weights, replace=number % 2 == 0)

    trees = grow_isolation_forest(matrix, schema, draws, n_columns, range(number, number + 3), 1)

    twin = Twin([[None if math.isnan(x) else x for x in row] for row in matrix.tolist()], N_LEVELS)
    for tree_number, tree in enumerate(trees, number):
        check_tree(tree, schema, 1)
        columns = candidate_columns(draws.seed, tree_number, len(N_LEVELS), n_columns).tolist()
        root = twin.grow(rows_of_tree(draws, tree_number).tolist(), columns, mix(mix(draws.seed, tree_number), GROWTH))
        assert_same(tree, 0, twin, root)
