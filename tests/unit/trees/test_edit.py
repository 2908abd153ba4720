"""Edits: what stays is what was there, and every result is a legal tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from same_trees import trees_equal

from treewright.data.schema import Column, Schema
from treewright.exceptions import ParameterError
from treewright.trees.arrays import LEAF, MULTIWAY, NODE_FIELDS, SUBSET, Tree, children, children_of
from treewright.trees.check import check_tree
from treewright.trees.check_model import check_model
from treewright.trees.data import ModelData
from treewright.trees.edit import collapse, rebuild, subtree
from treewright.trees.summary import node_of

RandomTree = Callable[..., tuple[Tree, Schema]]
quietly = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


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


def in_level_order(tree: Tree) -> Tree:
    """The tree rebuilt level by level, and in a level from branch 0 to the last: one order for one tree."""
    levels = [np.zeros(1, np.int64)]
    while len(above := levels[-1][~tree.is_leaf[levels[-1]]]):
        levels.append(children_of(tree, above))
    return rebuild(tree, np.concatenate(levels), tree.is_leaf)


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


def test_a_tree_rebuilt_in_its_own_order_is_the_same_tree(tree: Tree, full_model: ModelData) -> None:
    # Both trees stand level by level already.
    assert trees_equal(in_level_order(tree), tree)
    # The level sets of nodes come first, then those of surrogates.
    rebuilt = in_level_order(full_model.trees[0])
    assert told(full_model, rebuilt) == told(full_model, full_model.trees[0])
    assert trees_equal(in_level_order(rebuilt), rebuilt)


def test_a_tree_numbered_by_depth_first_is_renumbered(random_tree: RandomTree) -> None:
    moved = 0
    for seed in range(30):
        tree, schema = random_tree(seed, n_splits=12)
        level = in_level_order(tree)
        check_tree(level, schema, 1)
        assert (np.diff(level.depth) >= 0).all()
        assert (np.diff(level.first_child[~level.is_leaf]) == 2).all()
        assert nested(level, 0) == nested(tree, 0)
        assert trees_equal(in_level_order(level), level)
        moved += not trees_equal(level, tree)
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
    assert trees_equal(in_level_order(tree), tree)


def told(model: ModelData, tree: Tree) -> list[object]:
    """Everything that the nodes of a tree say, without their numbers: tests, surrogates, rows."""
    said: list[object] = []
    waiting = [0]
    while waiting:
        node = waiting.pop()
        waiting += reversed(children(tree, node))
        found = node_of(replace(model, trees=(tree,)), node)
        said.append((found.test, found.surrogates, found.samples, found.weight, found.impurity, found.value))
    return said


def test_a_collapse_keeps_the_side_tables_of_the_nodes_that_stay(full_model: ModelData) -> None:
    tree = full_model.trees[0]

    without_multiway, without_root = collapse(tree, [1]), collapse(tree, [0])

    check_model(replace(full_model, trees=(without_multiway,)))
    assert (len(without_multiway.level_branch), len(without_multiway.cuts)) == (0, 2)
    assert without_multiway.surrogate_node.tolist() == [0, 0, 2]
    # The node's own set comes first now, then that of the surrogate.
    assert (without_multiway.levels_left.tolist(), without_multiway.level_set[2]) == ([0b1010, 0b0001], 0)
    assert without_multiway.surrogate_level_set.tolist() == [1, -1, -1]
    kept = [said for place, said in enumerate(told(full_model, tree)) if place not in (1, 2, 3, 4)]
    assert [told(full_model, without_multiway)[place] for place in (0, 2, 3, 4, 5, 6, 7)] == kept
    assert len(without_root.surrogate_node) == len(without_root.levels_left) == 0


def test_a_subtree_takes_its_surrogates_and_its_part_of_each_table(full_model: ModelData) -> None:
    right = subtree(full_model.trees[0], 2)

    check_model(replace(full_model, trees=(right,)))
    assert (right.kind[0], right.surrogate_node.tolist(), right.surrogate_threshold.tolist()) == (SUBSET, [0], [7.0])
    assert (right.levels_left.tolist(), right.cuts.tolist(), len(right.level_branch)) == ([0b1010], [0.5, 1.5], 0)
    left = subtree(full_model.trees[0], 1)
    assert (left.kind[0], left.level_branch.tolist()) == (MULTIWAY, [0, 1, ~2, ~1])
    check_model(replace(full_model, trees=(left,)))


def test_a_leaf_without_rows_is_no_tree_of_its_own(full_model: ModelData) -> None:
    with pytest.raises(ParameterError, match="node 5 is a leaf without training rows"):
        subtree(full_model.trees[0], 5)


def test_another_order_of_the_nodes_says_the_same(full_model: ModelData) -> None:
    # The children of node 2 (6 and 7) and those of node 1 (3, 4, 5) change places; then 1 to 2 are in order still.
    tree = full_model.trees[0]
    order = np.array([0, 1, 2, 6, 7, 3, 4, 5, 8, 9, 10])
    place = np.argsort(order)
    swapped = replace(
        tree,
        **{name: getattr(tree, name)[order] for name in NODE_FIELDS if name != "first_child"},
        first_child=np.where(tree.kind[order] == LEAF, -1, place[tree.first_child[order]]).astype(np.int32),
    )
    check_model(replace(full_model, trees=(swapped,)))
    assert told(full_model, swapped) == told(full_model, tree)

    level = in_level_order(swapped)

    assert level.first_child.tolist() == tree.first_child.tolist()
    assert told(full_model, level) == told(full_model, tree)
    check_model(replace(full_model, trees=(level,)))


def test_tables_and_surrogates_follow_their_nodes_into_another_order() -> None:
    # 0 -> 1, 2; 2 -> 3, 4; 1 -> 5, 6. Node 3 has two cuts, node 5 one; nodes 4 and 5 have a surrogate each.
    kind = np.array([1, 1, 1, 4, 1, 4, 0, *[0] * 7], np.uint8)
    first = np.array([1, 5, 3, 7, 12, 10, *[-1] * 8], np.int32)
    branches = np.array([2, 2, 2, 3, 2, 2, *[0] * 8], np.int32)
    rows = np.array([8, 3, 5, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1])
    inner = kind != LEAF
    level_set = np.full(14, -1, np.int32)
    level_set[[3, 5]] = [0, 2]
    tree = Tree(
        kind, np.where(inner, 0, -1).astype(np.int32), np.zeros(14), first, branches, np.zeros(14, np.int32), level_set,
        rows, rows.astype(float), np.zeros(14), np.arange(14.0)[:, None], np.zeros(0, np.uint64),
        np.zeros(0, np.uint64), cuts=np.array([1.0, 2.0, 7.0]), surrogate_node=np.array([4, 5], np.int32),
        surrogate_feature=np.ones(2, np.int32), surrogate_threshold=np.array([40.0, 50.0]),
        surrogate_level_set=np.full(2, -1, np.int32), surrogate_flipped=np.zeros(2, np.uint8),
        surrogate_agreement=np.ones(2), surrogate_adjusted=np.ones(2),
    )  # fmt: skip
    schema = Schema((Column("x", "numeric"), Column("y", "numeric")))
    check_tree(tree, schema, 1, missing="surrogate")

    level = in_level_order(tree)

    check_tree(level, schema, 1, missing="surrogate")
    # Node 5 is 3 now, 3 is 5 and 4 is 6.
    assert level.value[:7, 0].tolist() == [0, 1, 2, 5, 6, 3, 4]
    assert (level.cuts.tolist(), level.level_set[[3, 5]].tolist()) == ([7.0, 1.0, 2.0], [0, 1])
    assert (level.surrogate_node.tolist(), level.surrogate_threshold.tolist()) == ([3, 6], [50.0, 40.0])
    short = collapse(tree, [5])
    assert (short.cuts.tolist(), short.surrogate_threshold.tolist()) == ([1.0, 2.0], [40.0])
