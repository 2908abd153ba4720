"""Every invariant of a tree: broken one at a time, named with its node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from same_trees import trees_equal
from steps import steps_of

from treewright.data.schema import Column, Schema
from treewright.exceptions import ModelFileError
from treewright.trees.arrays import LEAF, SUBSET, THRESHOLD, Tree
from treewright.trees.check import check_tree
from treewright.trees.check_model import check_model
from treewright.trees.data import ModelData

BROKEN = [
    ("kind", 3, 5, "node 3: kind 5 is not known"),
    ("kind", 2, THRESHOLD, "node 2: 0 branches, expected 2"),
    ("kind", 1, THRESHOLD, "node 1: its kind of test does not fit the kind of column 1"),
    ("kind", 0, SUBSET, "node 0: its kind of test does not fit the kind of column 0"),
    ("kind", slice(0, 2), LEAF, "node 0: 2 branches, expected 0"),
    ("n_branches", 0, 3, "node 0: 3 branches, expected 2"),
    ("n_branches", 0, 1, "node 0: 1 branches, expected 2"),
    ("n_branches", 4, -2, "node 4: -2 branches, expected 0"),
    ("first_child", 2, 3, "node 2: a leaf has first_child 3"),
    ("first_child", 1, 1, "node 1: first_child 1 is not after its parent"),
    ("first_child", 1, 0, "node 1: first_child 0 is not after its parent"),
    ("first_child", 0, -1, "node 0: first_child -1 is not after its parent"),
    ("first_child", 1, 4, "node 1: children 4 and 5 are not among the 5 nodes"),
    ("first_child", 1, 2**31 - 1, "node 1: children 2147483647 and 2147483648 are not among"),
    ("first_child", 1, 2, "node 2: 2 parents, expected 1"),
    ("first_child", 0, 3, "node 1: 0 parents, expected 1"),
    ("feature", 0, -1, "node 0: feature -1 is not one of 2 columns"),
    ("feature", 0, 2, "node 0: feature 2 is not one of 2 columns"),
    ("feature", 4, 0, "node 4: a leaf has feature 0"),
    ("threshold", 0, np.nan, "node 0: the threshold is nan"),
    ("threshold", 1, 1.0, "node 1: threshold 1.0"),
    ("threshold", 4, -0.0, "node 4: threshold -0.0"),
    ("threshold", 4, np.nan, "node 4: threshold nan"),
    ("missing_branch", 0, 2, "node 0: missing_branch 2, expected 0 to 1"),
    ("missing_branch", 0, -1, "node 0: missing_branch -1, expected 0 to 1"),
    ("missing_branch", 3, 1, "node 3: missing_branch 1, expected 0 to 0"),
    ("level_set", 0, 0, "node 0: level_set 0 at a node that needs no side table"),
    ("level_set", 1, 1, "node 1: level_set 1 overlaps"),
    ("level_set", 1, -1, "node 1: level_set -1 overlaps"),
    ("levels_left", 0, 0b10101, "node 1: levels_left has bits beyond"),
    ("levels_seen", 0, 0b1111, "node 1: levels_seen has bits beyond"),
    ("n_samples", 3, 0, "node 3: n_samples is 0"),
    ("n_samples", 3, 5, "node 1: n_samples is 6, but not the sum"),
    ("n_samples", slice(3, 5), 2**63 - 1, "node 1: n_samples is 6, but not the sum"),
    ("weight", 3, 0.0, "node 3: weight is"),
    ("weight", 3, -4.0, "node 3: weight is"),
    ("weight", 3, np.inf, "node 3: weight is"),
    ("weight", 3, np.nan, "node 3: weight is"),
    ("weight", 2, 4.001, "node 0: weight is"),
    ("weight", slice(3, 5), 1.7e308, "node 1: weight is"),
    ("impurity", 3, -1e-17, "node 3: impurity is"),
    ("impurity", 3, np.nan, "node 3: impurity is"),
    ("impurity", 3, np.inf, "node 3: impurity is"),
    ("value", (4, 1), np.nan, "node 4: a value is not finite"),
    ("value", (4, 1), -np.inf, "node 4: a value is not finite"),
    ("value", (3, 1), -1.0, "node 3: a class count is negative"),
    ("value", (3, 1), 0.5, "node 3: its class counts add up to"),
    ("value", (3, slice(None)), 1.7e308, "node 3: its class counts add up to"),
]


def test_a_legal_tree_passes(tree: Tree, schema: Schema) -> None:
    check_tree(tree, schema, 2, n_classes=(2,))


@pytest.mark.parametrize(("array", "place", "cell", "message"), BROKEN)
def test_a_broken_cell_is_named_with_its_node(
    tree: Tree, schema: Schema, with_cell: Callable[..., Tree], array: str, place: Any, cell: Any, message: str
) -> None:
    broken = with_cell(tree, array, place, cell)

    with pytest.raises(ModelFileError) as caught:
        check_tree(broken, schema, 2, n_classes=(2,), name="tree 7")

    assert str(caught.value).startswith("tree 7, " + message)


def test_a_cycle_among_unreachable_nodes_is_refused(tree: Tree, schema: Schema, with_cell: Callable[..., Tree]) -> None:
    # 0 is a leaf; 1 and 2 would be the children of nobody.
    lonely = with_cell(with_cell(tree, "kind", 0, LEAF), "n_branches", 0, 0)
    lonely = with_cell(with_cell(lonely, "first_child", 0, -1), "feature", 0, -1)

    with pytest.raises(ModelFileError, match="node 1: 0 parents"):
        check_tree(lonely, schema, 2)


def test_every_array_must_have_its_dtype(full_model: ModelData, field: str) -> None:
    tree, schema = full_model.trees[0], full_model.schema
    other = np.float32 if getattr(tree, field).dtype != np.float32 else np.float64

    with pytest.raises(ModelFileError, match=f"{field} is not an array of"):
        check_tree(replace(tree, **{field: getattr(tree, field).astype(other)}), schema, 2)


def test_arrays_of_the_other_byte_order_are_refused(tree: Tree, schema: Schema) -> None:
    swapped = replace(tree, feature=tree.feature.astype(tree.feature.dtype.newbyteorder()))

    with pytest.raises(ModelFileError, match="feature is not an array of int32"):
        check_tree(swapped, schema, 2)


def test_every_array_must_have_its_length(full_model: ModelData, field: str) -> None:
    tree = full_model.trees[0]
    longer = np.concatenate([getattr(tree, field), getattr(tree, field)[-1:]])
    # A side table that is alone has no other array to differ from, but owners that need less of it.
    alone = {"level_branch": "5 entries of level_branch, expected 4", "cuts": "3 cuts, expected 2"}

    with pytest.raises(ModelFileError, match=alone.get(field, "shape")):
        check_model(replace(full_model, trees=(replace(tree, **{field: longer}),)))


def test_every_array_has_one_axis(full_model: ModelData, field: str) -> None:
    tree = full_model.trees[0]

    with pytest.raises(ModelFileError, match="shape"):
        check_model(replace(full_model, trees=(replace(tree, **{field: getattr(tree, field)[:, None]}),)))


def test_both_level_arrays_too_long_are_refused(tree: Tree, schema: Schema) -> None:
    words = np.zeros(2, np.uint64)

    with pytest.raises(ModelFileError, match="2 words of level sets, expected 1"):
        check_tree(replace(tree, levels_left=words, levels_seen=words.copy()), schema, 2)


def test_an_empty_tree_is_refused(tree: Tree, schema: Schema) -> None:
    empty = Tree(**{name: getattr(tree, name)[:0] for name in vars(tree)})

    with pytest.raises(ModelFileError, match="kind has shape"):
        check_tree(empty, schema, 2)


def test_the_width_of_the_values_is_checked(tree: Tree, schema: Schema) -> None:
    with pytest.raises(ModelFileError, match=r"value has shape \(5, 2\), expected \(5, 3\)"):
        check_tree(tree, schema, 3)


@pytest.mark.parametrize("threshold", [np.inf, -np.inf, -0.0, 5e-324, 1.7976931348623157e308])
def test_every_threshold_but_nan_is_legal(
    tree: Tree, schema: Schema, with_cell: Callable[..., Tree], threshold: float
) -> None:
    check_tree(with_cell(tree, "threshold", 0, threshold), schema, 2, n_classes=(2,))


@pytest.mark.parametrize(("n_levels", "n_words"), [(1, 1), (62, 1), (63, 1), (64, 2), (127, 2), (128, 3)])
def test_a_column_of_v_levels_has_exactly_v_plus_one_bits(tree: Tree, n_levels: int, n_words: int) -> None:
    schema = Schema((Column("x", "numeric"), Column("city", "nominal", tuple(range(n_levels)))))

    def with_bits(left: int, seen: int) -> Tree:
        words = [np.array([bits >> 64 * w & 2**64 - 1 for w in range(n_words)], np.uint64) for bits in (left, seen)]
        return replace(tree, levels_left=words[0], levels_seen=words[1])

    check_tree(with_bits(2 ** (n_levels + 1) - 1, 2**n_levels - 1), schema, 2)
    with pytest.raises(ModelFileError, match="levels_seen has bits beyond"):
        check_tree(with_bits(0, 2**n_levels), schema, 2)
    if n_levels % 64 != 63:  # there the words are full
        with pytest.raises(ModelFileError, match="levels_left has bits beyond"):
            check_tree(with_bits(2 ** (n_levels + 1), 0), schema, 2)


def test_level_sets_may_tile_the_words_in_any_order_but_may_not_overlap(with_cell: Callable[..., Tree]) -> None:
    # Node 0 asks about 70 levels (2 words), node 1 about 3 (1 word): 0 first, or 1 first.
    schema = Schema((Column("a", "nominal", tuple(range(70))), Column("b", "nominal", ("x", "y", "z"))))
    tree = two_subsets()

    check_tree(tree, schema, 1)
    check_tree(with_cell(tree, "level_set", slice(0, 2), [1, 0]), schema, 1)
    for starts in ([0, 1], [1, 1], [0, 0], [1, 2], [-1, 1], [0, 3]):
        with pytest.raises(ModelFileError, match="overlaps another node's words of level sets or leaves a gap"):
            check_tree(with_cell(tree, "level_set", slice(0, 2), starts), schema, 1)


def two_subsets() -> Tree:
    """Two nominal tests in a row: 0 has leaf 2 and node 1, which has leaves 3 and 4."""
    ones = np.array([3, 2, 1, 1, 1])
    return Tree(
        kind=np.array([SUBSET, SUBSET, LEAF, LEAF, LEAF], np.uint8),
        feature=np.array([0, 1, -1, -1, -1], np.int32),
        threshold=np.zeros(5),
        first_child=np.array([1, 3, -1, -1, -1], np.int32),
        n_branches=np.array([2, 2, 0, 0, 0], np.int32),
        missing_branch=np.zeros(5, np.int32),
        level_set=np.array([0, 2, -1, -1, -1], np.int32),
        n_samples=ones.astype(np.int64),
        weight=ones.astype(np.float64),
        impurity=np.zeros(5),
        value=np.zeros((5, 1)),
        levels_left=np.array([1, 0, 1], np.uint64),
        levels_seen=np.array([3, 0, 3], np.uint64),
    )


def test_sums_may_be_off_by_roundings(tree: Tree, schema: Schema, with_cell: Callable[..., Tree]) -> None:
    check_tree(with_cell(tree, "weight", 3, np.nextafter(4.0, 5.0)), schema, 2, n_classes=(2,))


def test_class_counts_are_not_summed_over_trees(model: ModelData) -> None:
    with pytest.raises(ModelFileError, match="averaged or vote"):
        check_model(replace(model, trees=model.trees * 2, combine="sum"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task": "ranking"}, "task is 'ranking'"),
        ({"combine": "median"}, "combine is 'median'"),
        ({"unseen": "guess"}, "unseen is 'guess'"),
        ({"missing": "guess"}, "missing is 'guess'"),
        ({"n_outputs": 0}, "n_outputs is 0"),
        ({"n_outputs": True}, "n_outputs is True"),
        ({"n_outputs": 2}, "1 class lists for 2 outputs"),
        ({"task": "regression"}, "1 class lists for 1 outputs of a regression"),
        ({"classes": (np.array([], "U1"),)}, "classes of output 0"),
        ({"classes": (np.array(["no", "no"]),)}, "hold one label twice"),
        ({"classes": (np.array(["a", "b", "c"]),)}, r"value has shape \(5, 2\), expected \(5, 3\)"),
        ({"target_names": ("a", "b")}, "2 target names for 1 outputs"),
        ({"trees": ()}, "0 trees do not fit combine='single'"),
        ({"trees": (), "combine": "mean"}, "0 trees do not fit combine='mean'"),
        ({"schema": Schema(())}, "no columns"),
        ({"schema": Schema((Column("x", "numeric"), Column("x", "nominal", ("a",))))}, "one column name twice"),
        ({"schema": Schema((Column("x", "numeric", (1,)), Column("y", "nominal", ("a",))))}, "a numeric column has 1"),
        ({"schema": Schema((Column("x", "numeric"), Column("y", "nominal", (1, 1.0))))}, "a level occurs twice"),
        ({"schema": Schema((Column("x", "date"), Column("y", "nominal")))}, "kind 'date' is not known"),  # type: ignore[arg-type]
    ],
)
def test_parts_that_contradict_each_other_are_refused(model: ModelData, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        check_model(replace(model, **change))


def test_two_trees_that_are_one_model_only_when_averaged(model: ModelData) -> None:
    two = model.trees * 2

    check_model(replace(model, trees=two, combine="mean"))
    with pytest.raises(ModelFileError, match="2 trees do not fit"):
        check_model(replace(model, trees=two))


def test_the_offending_tree_of_a_forest_is_named(model: ModelData, with_cell: Callable[..., Tree]) -> None:
    broken = with_cell(model.trees[0], "threshold", 0, np.nan)

    with pytest.raises(ModelFileError, match="tree 1, node 0: the threshold is nan"):
        check_model(replace(model, trees=(model.trees[0], broken), combine="mean"))


def test_trees_are_equal_only_to_the_last_bit(
    full_model: ModelData, with_cell: Callable[..., Tree], field: str
) -> None:
    tree = full_model.trees[0]

    assert trees_equal(tree, with_cell(tree, field, 0, getattr(tree, field)[0]))
    assert not trees_equal(tree, with_cell(tree, field, 0, getattr(tree, field)[0] + 1))


def test_minus_zero_is_not_zero_for_trees_equal(tree: Tree, with_cell: Callable[..., Tree]) -> None:
    assert not trees_equal(with_cell(tree, "threshold", 0, 0.0), with_cell(tree, "threshold", 0, -0.0))


def test_random_legal_trees_pass(random_tree: Callable[..., tuple[Tree, Schema]]) -> None:
    for seed in range(20):
        tree, schema = random_tree(seed, n_splits=seed)
        check_tree(tree, schema, 1)


def test_a_chain_20_000_deep_passes(chain: Callable[[int], tuple[Tree, Schema]]) -> None:
    tree, schema = chain(20_000)

    check_tree(tree, schema, 1)

    assert tree.max_depth == 20_000


def test_a_million_nodes_are_checked_in_as_many_steps_as_a_thousand(
    chain: Callable[[int], tuple[Tree, Schema]],
) -> None:
    few, many = (steps_of(partial(check_tree, *chain(depth), 1)) for depth in (500, 500_000))

    assert many == few
