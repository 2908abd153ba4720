"""The invariants of multiway and interval tests, third branches, empty leaves and surrogates, broken one at a time."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from treewright.data.schema import Column, Schema
from treewright.exceptions import ModelFileError
from treewright.trees.arrays import FIELDS, INTERVALS, LEAF, MULTIWAY, SUBSET, THRESHOLD, Tree
from treewright.trees.check import check_tree
from treewright.trees.check_model import check_model
from treewright.trees.data import ModelData

WithCell = Callable[..., Tree]


def refusal(model: ModelData, tree: Tree) -> str:
    """The message with which the model is refused if it has this tree."""
    with pytest.raises(ModelFileError) as caught:
        check_model(replace(model, trees=(tree,)))
    return str(caught.value).removeprefix("tree 0, ").removeprefix("tree 0: ")


def test_every_array_of_a_tree_is_checked() -> None:
    assert list(FIELDS) == [field.name for field in fields(Tree)]


def test_legal_trees_of_every_kind_pass(
    golf_model: ModelData, own_branch_model: ModelData, surrogate_model: ModelData, fractional_model: ModelData
) -> None:
    for model in (golf_model, own_branch_model, surrogate_model, fractional_model):
        check_model(model)


GOLF = [
    ("kind", 0, SUBSET, "node 0: 3 branches, expected 2, or 3 with missing_branch 2"),
    ("kind", 0, INTERVALS, "node 0: its kind of test does not fit the kind of column 0"),
    ("kind", 3, MULTIWAY, "node 3: its kind of test does not fit the kind of column 2"),
    ("feature", 0, 2, "node 0: its kind of test does not fit the kind of column 2"),
    ("feature", 3, 0, "node 3: its kind of test does not fit the kind of column 0"),
    ("n_branches", 0, 1, "node 0: 1 branches, expected 2 or more"),
    ("n_branches", 3, 4, "node 3: children 7 to 10 are not among the 10 nodes"),
    ("n_branches", 3, 2**31 - 1, "node 3: children 7 to 2147483653 are not among the 10 nodes"),
    ("n_branches", 3, 2, "node 9: 0 parents, expected 1"),
    ("n_branches", 0, 4, "node 4: 2 parents, expected 1"),
    ("missing_branch", 0, 3, "node 0: missing_branch 3, expected 0 to 2"),
    ("threshold", 3, 1.0, "node 3: threshold 1.0 at a node without a threshold test"),
    ("level_set", 0, 0, "node 2: level_set 0 overlaps another node's entries of level_branch"),
    ("level_set", 0, 5, "node 0: level_set 5 overlaps another node's entries of level_branch or leaves a gap"),
    ("level_set", 2, -1, "node 2: level_set -1 overlaps"),
    ("level_set", 3, 1, "node 3: level_set 1 overlaps another node's cuts or leaves a gap"),
    ("level_set", 1, 0, "node 1: level_set 0 at a node that needs no side table"),
    ("level_branch", 4, 3, "node 0: level_branch leads to a branch that the node does not have"),
    ("level_branch", 4, ~3, "node 0: level_branch leads to a branch that the node does not have"),
    ("level_branch", 4, -(2**31), "node 0: level_branch leads to a branch that the node does not have"),
    ("level_branch", 7, 1, "node 0: level_branch says that the level never seen at fit was seen"),
    ("level_branch", 6, 0, "node 0: level_branch lets no level take one of the branches"),
    ("level_branch", 2, ~1, "node 2: level_branch lets no level take one of the branches"),
    ("level_branch", slice(2, 4), [~1, ~2], "node 2: level_branch lets no level take one of the branches"),
    ("cuts", 0, np.nan, "node 3: one of its cuts is nan"),
    ("cuts", 0, 87.5, "node 3: its cuts are not strictly ascending"),
    ("cuts", 1, -np.inf, "node 3: its cuts are not strictly ascending"),
    ("n_samples", 6, 1, "node 6: weight is 0.0"),
    ("weight", 6, 1.0, "node 6: n_samples is 0, expected at least 1"),
    ("weight", 6, -0.0, "node 6: n_samples is 0, expected at least 1"),
    ("weight", 6, np.nan, "node 6: n_samples is 0, expected at least 1"),
    ("value", (6, 0), 2.5, "node 6: a leaf without training rows has a different value from its parent"),
    ("impurity", 6, 0.4, "node 6: a leaf without training rows has a different impurity from its parent"),
    ("n_samples", 9, 3, "node 3: n_samples is 5, but not the sum of its children's"),
    ("weight", 8, 1.5, "node 3: weight is 5.0, but not the sum of its children's"),
    ("value", (8, 0), 2.0, "node 8: its class counts add up to"),
]


@pytest.mark.parametrize(("array", "place", "cell", "message"), GOLF)
def test_a_broken_cell_of_a_k_way_tree_is_named_with_its_node(
    golf_model: ModelData, with_cell: WithCell, array: str, place: Any, cell: Any, message: str
) -> None:
    assert refusal(golf_model, with_cell(golf_model.trees[0], array, place, cell)).startswith(message)


OWN = [
    ("n_branches", 0, 2, "node 3: 0 parents"),
    ("missing_branch", 0, 1, "node 0: 3 branches, expected 2, or 3 with missing_branch 2"),
    ("missing_branch", 1, 0, "node 1: 3 branches, expected 2, or 3 with missing_branch 2"),
    ("missing_branch", 2, 0, "node 2: its last cut is inf, but missing values take branch 0"),
    ("missing_branch", 3, 0, "node 3: level_branch lets no level take one of the branches"),
    ("cuts", 1, np.inf, "node 2: its cuts are not strictly ascending"),
]


@pytest.mark.parametrize(("array", "place", "cell", "message"), OWN)
def test_a_branch_without_values_belongs_to_missing_values_and_is_the_last(
    own_branch_model: ModelData, with_cell: WithCell, array: str, place: Any, cell: Any, message: str
) -> None:
    assert refusal(own_branch_model, with_cell(own_branch_model.trees[0], array, place, cell)).startswith(message)


def test_a_spare_branch_of_missing_values_must_be_the_last(own_branch_model: ModelData, with_cell: WithCell) -> None:
    tree = with_cell(own_branch_model.trees[0], "missing_branch", 3, 0)
    # Now the levels take branches 1 and 2, and branch 0 is the one without levels.
    moved = with_cell(tree, "level_branch", slice(0, 4), [1, 2, 1, ~2])

    assert refusal(own_branch_model, moved) == "node 3: level_branch lets no level take one of the branches"


def test_the_side_tables_may_stand_in_any_order(golf_model: ModelData, with_cell: WithCell) -> None:
    tree = golf_model.trees[0]
    swapped = with_cell(with_cell(tree, "level_set", 0, 0), "level_set", 2, 4)
    turned = with_cell(swapped, "level_branch", slice(0, 8), np.roll(tree.level_branch, 4))

    check_model(replace(golf_model, trees=(turned,)))


@pytest.mark.parametrize("cut", [-np.inf, -0.0, 5e-324])
def test_a_first_cut_may_be_any_number_below_the_next(golf_model: ModelData, with_cell: WithCell, cut: float) -> None:
    check_model(replace(golf_model, trees=(with_cell(golf_model.trees[0], "cuts", 0, cut),)))


def test_an_empty_root_or_an_empty_inner_node_is_refused(golf_model: ModelData, with_cell: WithCell) -> None:
    tree = golf_model.trees[0]
    inner = with_cell(with_cell(tree, "n_samples", [2, 4, 5], 0), "weight", [2, 4, 5], 0.0)
    alone = Tree(
        np.zeros(1, np.uint8), np.array([-1], np.int32), np.zeros(1),
        np.array([-1], np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32), np.array([-1], np.int32),
        np.zeros(1, np.int64), np.zeros(1), np.zeros(1), np.zeros((1, 2)), np.zeros(0, np.uint64),
        np.zeros(0, np.uint64),
    )  # fmt: skip

    assert refusal(golf_model, inner).startswith("node 2: n_samples is 0, expected at least 1")
    assert refusal(golf_model, alone).startswith("node 0: n_samples is 0, expected at least 1")


def test_under_fractional_rows_may_be_in_several_branches_but_weights_add_up(
    fractional_model: ModelData, with_cell: WithCell
) -> None:
    tree = fractional_model.trees[0]

    more = with_cell(tree, "n_samples", 1, 11)
    fewer = with_cell(tree, "n_samples", 1, 5)
    lighter = with_cell(tree, "weight", 1, 6.5)

    assert refusal(fractional_model, more) == "node 0: n_samples is 10, but a child has more"
    assert refusal(fractional_model, fewer) == "node 0: n_samples is 10, but its children have fewer together"
    assert refusal(fractional_model, lighter).startswith("node 0: weight is 10.0, but not the sum")
    assert "not the sum" in refusal(replace(fractional_model, missing="direction"), tree)
    with pytest.raises(ModelFileError, match="not the sum of its children's"):
        check_tree(tree, fractional_model.schema, 2)
    check_tree(tree, fractional_model.schema, 2, missing="fractional")


def test_rows_whose_sum_wraps_around_are_refused(golf_model: ModelData, with_cell: WithCell) -> None:
    # Four children of 2**62 rows: their sum is 0 modulo 2**64, and with a fifth one row.
    kind = np.array([MULTIWAY, *[LEAF] * 5], np.uint8)
    rows = np.array([1, 2**62, 2**62, 2**62, 2**62, 1])
    ints = np.array([-1] * 6, np.int32)
    tree = Tree(
        kind, np.array([0, *[-1] * 5], np.int32), np.zeros(6), np.array([1, *[-1] * 5], np.int32),
        np.array([5, *[0] * 5], np.int32), ints * 0, np.array([0, *[-1] * 5], np.int32), rows,
        np.array([5.0, 1, 1, 1, 1, 1]), np.zeros(6), np.zeros((6, 1)), np.zeros(0, np.uint64), np.zeros(0, np.uint64),
        np.array([0, 1, 2, 3, 4, ~0], np.int32),
    )  # fmt: skip
    schema = Schema((Column("c", "nominal", tuple("abcde"), family="string"),))

    with pytest.raises(ModelFileError, match="node 0: n_samples is 1, but not the sum of its children's"):
        check_tree(tree, schema, 1)


SURROGATES = [
    ("surrogate_node", 0, -1, "surrogate 0: its node is not among the 5 nodes"),
    ("surrogate_node", 3, 5, "surrogate 3: its node is not among the 5 nodes"),
    ("surrogate_node", 0, 2, "surrogate 1: it comes after a surrogate of a later node"),
    ("surrogate_node", 3, 4, "surrogate 3: its node does not have two branches"),
    ("surrogate_feature", 1, 4, "surrogate 1: its feature is not one of 4 columns"),
    ("surrogate_feature", 1, -1, "surrogate 1: its feature is not one of 4 columns"),
    ("surrogate_feature", 0, 0, "surrogate 0: it tests the same column as its node"),
    ("surrogate_feature", 0, 2, "surrogate 0: a nominal column needs a level set"),
    ("surrogate_feature", 1, 3, "surrogate 1: only a nominal column has a level set"),
    ("surrogate_level_set", 1, -1, "surrogate 1: a nominal column needs a level set"),
    ("surrogate_level_set", 1, -(2**31), "surrogate 1: a nominal column needs a level set"),
    ("surrogate_level_set", 1, 1, "node 2: level_set 1 overlaps another node's words of level sets"),
    ("surrogate_level_set", 0, -2, "surrogate 0: only a nominal column has a level set"),
    ("surrogate_threshold", 1, 1.0, "surrogate 1: a level set has threshold 0.0"),
    ("surrogate_threshold", 1, -0.0, "surrogate 1: a level set has threshold 0.0"),
    ("surrogate_threshold", 0, np.nan, "surrogate 0: its threshold is nan"),
    ("surrogate_flipped", 2, 2, "surrogate 2: flipped is neither 0 nor 1"),
    ("surrogate_agreement", 2, 1.1, "surrogate 2: its agreement is not between 0 and 1"),
    ("surrogate_agreement", 2, np.nan, "surrogate 2: its agreement is not between 0 and 1"),
    ("surrogate_agreement", 2, -0.1, "surrogate 2: its agreement is not between 0 and 1"),
    ("surrogate_adjusted", 2, 0.81, "surrogate 2: its adjusted agreement is not finite, or above its agreement"),
    ("surrogate_adjusted", 2, -np.inf, "surrogate 2: its adjusted agreement is not finite"),
    ("levels_left", 0, 0b10000, "node 0: levels_left has bits beyond the levels of its column"),
    ("levels_seen", 0, 0b1000, "node 0: levels_seen has bits beyond the levels of its column"),
    ("level_set", 2, 0, "node 0: level_set 0 overlaps another node's words of level sets"),
]


@pytest.mark.parametrize(("array", "place", "cell", "message"), SURROGATES)
def test_a_broken_surrogate_is_named(
    surrogate_model: ModelData, with_cell: WithCell, array: str, place: Any, cell: Any, message: str
) -> None:
    assert refusal(surrogate_model, with_cell(surrogate_model.trees[0], array, place, cell)).startswith(message)


@pytest.mark.parametrize("missing", ["direction", "branch", "fractional", "error"])
def test_surrogates_without_the_word_for_them_are_refused(surrogate_model: ModelData, missing: Any) -> None:
    with pytest.raises(ModelFileError, match=f"4 surrogate tests, but missing is '{missing}': expected none"):
        check_model(replace(surrogate_model, missing=missing))


def test_a_node_with_three_branches_has_no_surrogates(own_branch_model: ModelData, with_cell: WithCell) -> None:
    tree = replace(
        own_branch_model.trees[0],
        surrogate_node=np.array([0], np.int32),
        surrogate_feature=np.array([2], np.int32),
        surrogate_threshold=np.ones(1),
        surrogate_level_set=np.array([-1], np.int32),
        surrogate_flipped=np.zeros(1, np.uint8),
        surrogate_agreement=np.ones(1),
        surrogate_adjusted=np.ones(1),
    )

    found = refusal(replace(own_branch_model, missing="surrogate"), tree)

    assert found == "surrogate 0: its node does not have two branches"


def test_nodes_that_claim_a_billion_branches_are_refused_without_the_memory(golf_model: ModelData) -> None:
    # Half of a million nodes claim all nodes behind them as theirs.
    n_nodes = 1_000_000
    kind = np.where(np.arange(n_nodes) < n_nodes // 2, MULTIWAY, LEAF).astype(np.uint8)
    inner = kind != LEAF
    first = np.where(inner, np.arange(n_nodes) + 1, -1).astype(np.int32)
    zeros = np.zeros(n_nodes, np.int32)
    tree = Tree(
        kind, np.where(inner, 0, -1).astype(np.int32), np.zeros(n_nodes), first,
        np.where(inner, n_nodes - first, 0).astype(np.int32), zeros, zeros, np.ones(n_nodes, np.int64),
        np.ones(n_nodes), np.zeros(n_nodes), np.zeros((n_nodes, 2)), np.zeros(0, np.uint64), np.zeros(0, np.uint64),
    )  # fmt: skip

    tracemalloc.start()
    try:
        found, (_, peak) = refusal(golf_model, tree), tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert found.startswith("node 2: 2 parents, expected 1")
    assert peak < 200 * 2**20


def test_a_threshold_may_ask_an_ordinal_column_and_a_subset_may_not(golf_model: ModelData) -> None:
    ints, words = np.array([-1, -1, -1], np.int32), np.ones(1, np.uint64)
    rows = np.array([2, 1, 1])
    arrays = (
        np.array([1, -1, -1], np.int32), np.array([1, -1, -1], np.int32) * 0, np.array([2, 0, 0], np.int32), ints * 0,
    )  # fmt: skip
    first, feature, branches, missing = arrays
    feature = np.array([1, -1, -1], np.int32)

    def asks(kind: int, level_set: int, bits: np.ndarray) -> Tree:
        return Tree(
            np.array([kind, 0, 0], np.uint8), feature, np.zeros(3), first, branches, missing,
            np.array([level_set, -1, -1], np.int32), rows, rows.astype(float), np.zeros(3),
            np.array([[1.0, 1], [1, 0], [0, 1]]), bits, bits.copy(),
        )  # fmt: skip

    check_model(replace(golf_model, trees=(asks(THRESHOLD, -1, words[:0]),)))
    assert "does not fit the kind of column 1" in refusal(golf_model, asks(SUBSET, 0, words))
