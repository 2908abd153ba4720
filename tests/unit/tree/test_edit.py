"""Edits: what stays is what was there, and every result is a legal tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from treewright.data.schema import Schema
from treewright.exceptions import ParameterError
from treewright.tree.arrays import LEAF, SUBSET, Tree
from treewright.tree.check import check_tree, trees_equal
from treewright.tree.edit import collapse, reorder_level_order, subtree

RandomTree = Callable[..., tuple[Tree, Schema]]
quietly = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def nested(tree: Tree, node: int, stops: frozenset[int] = frozenset()) -> list[Any]:
    """Everything that a tree says, in the order of its paths and whatever its numbering; leaves at ``stops``."""
    said, waiting = [], [node]
    while waiting:
        here = waiting.pop()
        facts = (tree.n_samples[here], tree.weight[here], tree.impurity[here], tree.value[here].tolist())
        if tree.kind[here] == LEAF or here in stops:
            said.append(("leaf", facts))
            continue
        words: list[int] = []
        if tree.kind[here] == SUBSET:
            later = tree.level_set[tree.level_set > tree.level_set[here]]
            end = int(later.min()) if len(later) else len(tree.levels_left)
            begin = int(tree.level_set[here])
            words = tree.levels_left[begin:end].tolist() + tree.levels_seen[begin:end].tolist()
        test = (tree.kind[here], tree.feature[here], tree.threshold[here], tree.missing_branch[here], words)
        said.append((test, facts))
        first = int(tree.first_child[here])
        waiting += [first + 1, first]
    return said


def test_collapsing_an_inner_node_makes_it_a_leaf(tree: Tree, schema: Schema) -> None:
    short = collapse(tree, [1])

    check_tree(short, schema, 2, n_classes=(2,))
    assert short.kind.tolist() == [1, 0, 0]
    assert short.first_child.tolist() == [1, -1, -1]
    assert short.value.tolist() == [[6, 4], [5, 1], [1, 3]]
    assert short.n_samples.tolist() == [10, 6, 4]
    assert len(short.levels_left) == len(short.levels_seen) == 0


def test_collapsing_the_root_leaves_one_node(tree: Tree, schema: Schema) -> None:
    stump = collapse(tree, [0])

    check_tree(stump, schema, 2, n_classes=(2,))
    assert (stump.n_nodes, stump.value.tolist()) == (1, [[6, 4]])


def test_collapsing_nothing_is_the_identity(tree: Tree) -> None:
    assert collapse(tree, []) is tree
    assert collapse(tree, np.array([], np.int64)) is tree
    assert collapse(tree, [2, 3, 4, 4]) is tree


def test_the_old_tree_stays_as_it_was(tree: Tree) -> None:
    before = nested(tree, 0)

    collapse(tree, [1])

    assert nested(tree, 0) == before


def test_nodes_below_a_collapsed_node_may_be_named_too(tree: Tree) -> None:
    assert trees_equal(collapse(tree, [0, 1, 1, 3]), collapse(tree, [0]))


@pytest.mark.parametrize("nodes", [[-1], [5], [0, 2**40], [0.5], ["1"], [True], np.array([[1]])])
def test_positions_that_are_not_in_the_tree_are_refused(tree: Tree, nodes: Any) -> None:
    with pytest.raises(ParameterError):
        collapse(tree, nodes)
    with pytest.raises(ParameterError, match="node 5 is not in the tree: its nodes are 0 to 4"):
        subtree(tree, 5)


def test_a_subtree_begins_at_its_node(tree: Tree, schema: Schema) -> None:
    part = subtree(tree, 1)

    check_tree(part, schema, 2, n_classes=(2,))
    assert part.value.tolist() == [[5, 1], [4, 0], [1, 1]]
    assert part.first_child.tolist() == [1, -1, -1]
    assert part.levels_left.tolist() == [0b0101]
    assert subtree(tree, 0) is tree
    assert subtree(tree, 2).value.tolist() == [[1, 3]]


def test_level_order_is_one_order_whatever_the_numbering(tree: Tree) -> None:
    # The children of node 1 before those of node 0's other branch: 0; 1 2; then 3 4 belong to 1. Legal already.
    assert reorder_level_order(tree) is tree


def test_a_tree_numbered_by_depth_first_is_renumbered(random_tree: RandomTree) -> None:
    moved = 0
    for seed in range(30):
        tree, schema = random_tree(seed, n_splits=12)
        level = reorder_level_order(tree)
        check_tree(level, schema, 1)
        assert (np.diff(level.depth) >= 0).all()
        assert (np.diff(level.first_child[~level.is_leaf]) == 2).all()
        assert nested(level, 0) == nested(tree, 0)
        assert reorder_level_order(level) is level
        moved += level is not tree
    assert moved


@quietly
@given(seed=st.integers(0, 2**31), n_splits=st.integers(0, 40), data=st.data())
def test_a_collapsed_tree_is_legal_and_says_the_same_above(
    random_tree: RandomTree, seed: int, n_splits: int, data: st.DataObject
) -> None:
    tree, schema = random_tree(seed, n_splits, n_levels=seed % 130 + 1)
    nodes = data.draw(st.lists(st.integers(0, tree.n_nodes - 1), max_size=8))

    short = collapse(tree, nodes)

    check_tree(short, schema, 1)
    assert nested(short, 0) == nested(tree, 0, frozenset(nodes))
    assert trees_equal(collapse(short, []), short)


@quietly
@given(seed=st.integers(0, 2**31), n_splits=st.integers(0, 40), data=st.data())
def test_a_subtree_is_legal_and_says_the_same(
    random_tree: RandomTree, seed: int, n_splits: int, data: st.DataObject
) -> None:
    tree, schema = random_tree(seed, n_splits, n_levels=seed % 130 + 1)
    node = data.draw(st.integers(0, tree.n_nodes - 1))

    part = subtree(tree, node)

    check_tree(part, schema, 1)
    assert nested(part, 0) == nested(tree, node)


def test_a_tree_20_000_deep_can_be_edited(chain: Callable[[int], tuple[Tree, Schema]]) -> None:
    tree, schema = chain(20_000)

    half = collapse(tree, [20_000])
    part = subtree(tree, 20_000)

    check_tree(half, schema, 1)
    check_tree(part, schema, 1)
    assert (half.max_depth, part.max_depth) == (10_000, 10_000)
    assert reorder_level_order(tree) is tree
