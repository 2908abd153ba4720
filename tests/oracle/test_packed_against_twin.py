"""Packed trees against the slow and obvious twin, and against the rows they were grown on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from naive_unpack import naive_join, naive_node, naive_threshold
from packed_trees import SCHEMA, Drawn, Node, amounts_of, draw

from treewright.trees.arrays import LEAF, SUBSET, THRESHOLD, Tree
from treewright.trees.check import check_tree
from treewright.trees.packed import PackedTrees, join

CASES: dict[str, dict[str, Any]] = {
    "gini": {},
    "entropy, two outputs": {"criterion": "entropy", "n_classes": (3, 2)},
    "log_loss, weights": {"criterion": "log_loss", "weights": (0.25, 1.7, 1e-3)},
    "misclassification, whole weights": {"criterion": "misclassification", "weights": (1.0, 3.0)},
    "squared_error": {"criterion": "squared_error"},
    "squared_error, two outputs, weights": {"criterion": "squared_error", "n_outputs": 2, "weights": (0.1, 2.5)},
    "poisson": {"criterion": "poisson", "n_outputs": 2},
    "counts beyond float32": {"weights": (2.0**24, 1.0)},
}


@pytest.fixture(params=CASES, name="drawn")
def _drawn(request: pytest.FixtureRequest) -> Drawn:
    return draw(list(CASES).index(request.param), **CASES[request.param])


def nested_pairs(packed: PackedTrees, tree: int) -> list[tuple[dict[str, Any], int]]:
    """All nodes of the twin with their places in the tree."""
    root = int(packed.roots[tree])
    nodes = [naive_node(packed, root)]
    for node in nodes:  # grows as it runs
        nodes += node["children"]
    return [(node, node["position"] - root) for node in nodes]


def level_bits(words: np.ndarray, start: int, n_levels: int) -> list[int]:
    """Bits of levels 0 to v."""
    return [int(words[start + code // 64]) >> code % 64 & 1 for code in range(n_levels + 1)]


def check_question(packed: PackedTrees, tree: Tree, question: tuple[Any, ...], at: int) -> None:
    """A question of the twin against that of the tree."""
    kind, column, left, seen, missing = question
    assert (tree.feature[at], tree.missing_branch[at], tree.n_branches[at]) == (column, missing, 2)
    if kind == "cut":
        assert (tree.kind[at], tree.level_set[at]) == (THRESHOLD, -1)
        assert tree.threshold[at] == naive_threshold(packed, column, left)
        return
    assert tree.kind[at] == SUBSET
    begin, end = packed.bins.level_start[column : column + 2]
    level_bin = packed.bins.level_bin[begin:end].tolist()
    start, n_levels = int(tree.level_set[at]), len(SCHEMA.columns[column].levels)
    assert level_bits(tree.levels_left, start, n_levels) == [int(b in left) for b in level_bin]
    assert level_bits(tree.levels_seen, start, n_levels) == [int(b in seen) for b in level_bin]


def test_each_unpacked_question_is_that_of_the_bits(drawn: Drawn) -> None:
    packed = join(drawn.parts)

    for number, tree in enumerate(packed):
        pairs = nested_pairs(packed, number)
        assert sorted(at for _, at in pairs) == list(range(tree.n_nodes))
        for node, at in pairs:
            if node["question"] is None:
                assert (tree.kind[at], tree.feature[at], tree.first_child[at]) == (LEAF, -1, -1)
                assert (tree.value[at].tolist(), tree.weight[at]) == (node["value"], node["weight"])
                assert tree.n_samples[at] == node["samples"]
                continue
            assert tree.first_child[at] + packed.roots[number] == node["children"][0]["position"]
            check_question(packed, tree, node["question"], at)


def test_each_level_goes_the_way_that_its_bin_was_given(drawn: Drawn) -> None:
    for tree, root in zip(join(drawn.parts), drawn.roots, strict=True):
        for node in all_nodes(root):
            if not node["question"] or node["question"][0] == "cut":
                continue
            _, column, left, seen, _ = node["question"]
            begin, end = drawn.bins.level_start[column : column + 2]
            level_bin = drawn.bins.level_bin[begin:end].tolist()
            start, n_levels = int(tree.level_set[node["at"]]), len(SCHEMA.columns[column].levels)
            # The last bit, and those of levels without rows, are that of bin n_bins.
            assert level_bits(tree.levels_left, start, n_levels) == [int(b in left) for b in level_bin]
            assert level_bits(tree.levels_seen, start, n_levels) == [int(b in seen) for b in level_bin]


def walk(tree: Tree, drawn: Drawn, cells: np.ndarray) -> int:
    """The leaf of a row of bins, by the thresholds and level sets of an unpacked tree."""
    at = 0
    while tree.kind[at] != LEAF:
        column = int(tree.feature[at])
        cell = int(cells[column])
        if cell == 255:
            branch = int(tree.missing_branch[at])
        elif tree.kind[at] == THRESHOLD:
            branch = int(drawn.bins.highest[drawn.bins.start[column] + cell] > tree.threshold[at])
        else:
            begin, end = drawn.bins.level_start[column : column + 2]
            level = drawn.bins.level_bin[begin:end].tolist().index(cell)
            branch = 1 - (int(tree.levels_left[tree.level_set[at] + level // 64]) >> level % 64 & 1)
        at = int(tree.first_child[at]) + branch
    return at


def test_each_row_ends_in_the_leaf_that_was_grown_for_it(drawn: Drawn) -> None:
    for tree, root in zip(join(drawn.parts), drawn.roots, strict=True):
        for node in all_nodes(root):
            if not node["question"]:
                assert {walk(tree, drawn, drawn.cells[row]) for row, _ in node["rows"]} == {node["at"]}


def all_nodes(root: Node) -> list[Node]:
    """A nested tree's nodes."""
    nodes = [root]
    for node in nodes:  # grows as it runs
        nodes += node["children"]
    return nodes


def test_numbers_of_inner_nodes_are_those_of_their_rows(drawn: Drawn) -> None:
    for tree, root in zip(join(drawn.parts), drawn.roots, strict=True):
        for node in all_nodes(root):
            at = node["at"]
            truth = amounts_of(node["rows"], drawn.target, drawn.weights, drawn.criterion, drawn.n_classes)
            assert tree.n_samples[at] == truth[0]
            assert math.isclose(tree.weight[at], truth[1], rel_tol=1e-12)
            # Regression: leaves' impurities are kept as float32.
            assert math.isclose(tree.impurity[at], truth[2], rel_tol=1e-6, abs_tol=1e-12)
            np.testing.assert_allclose(tree.value[at], truth[3], rtol=1e-12, atol=1e-300)


def test_every_unpacked_tree_passes_the_check_of_trees(drawn: Drawn) -> None:
    packed = join(drawn.parts)

    for tree in packed:
        check_tree(tree, SCHEMA, packed.leaf_value.shape[1], n_classes=drawn.n_classes)


def test_joined_trees_are_those_of_the_twin(drawn: Drawn) -> None:
    packed = join(drawn.parts)
    records, rows = naive_join(drawn.parts)

    assert packed.records.tolist() == records
    assert len(packed.leaf_value) == len(rows)
    found = [packed.leaf_value, *(a[:, None] for a in (packed.leaf_weight, packed.leaf_impurity) if len(a))]
    width = packed.leaf_value.shape[1] + (0 if drawn.n_classes else 2)
    assert np.hstack(found).astype(float).tolist() == [list(row[:width]) for row in rows]
    for name in ("sets", "seen", "set_column", "importances"):
        np.testing.assert_array_equal(getattr(packed, name), np.concatenate([getattr(p, name) for p in drawn.parts]))
