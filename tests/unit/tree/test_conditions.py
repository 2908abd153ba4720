"""Claims about the merged conditions that lead to a node."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from treewright.data.schema import Column, Schema
from treewright.tree.arrays import Tree
from treewright.tree.conditions import bounds_below, conditions
from treewright.tree.model import ModelData


def texts_of(schema: Schema, tree: Tree, max_levels: int | None = None) -> dict[int, tuple[str, ...]]:
    """Conditions per node."""
    return {node: conditions(schema, bounds, max_levels=max_levels) for node, bounds in bounds_below(schema, tree)}


def test_bounds_on_one_column_become_one_condition(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree([(0, 5.0), (0, 2.0), None, None, (0, 3.0), None, None], [1, 3, -1, -1, 5, -1, -1], [[1]] * 7)

    texts = texts_of(Schema((Column("x", "numeric"),)), tree)

    assert texts[0] == ()
    assert (texts[3], texts[5], texts[6], texts[2]) == (("x <= 2",), ("2 < x <= 3",), ("3 < x <= 5",), ("x > 5",))


def test_a_looser_bound_below_a_tighter_one_changes_nothing(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree([(0, 5.0), (0, 9.0), None, None, None], [1, 3, -1, -1, -1], [[1]] * 5)

    texts = texts_of(Schema((Column("x", "numeric"),)), tree)

    assert texts[3] == ("x <= 5",)
    assert texts[4] == ("x is nothing (no value comes here)",)  # x > 9 after x <= 5, and missing goes left


def test_missing_comes_along_only_where_every_test_lets_it(build_tree: Callable[..., Tree]) -> None:
    schema = Schema((Column("x", "numeric", missing_seen=True),))
    tree = build_tree([(0, 5.0), (0, 2.0), None, None, None], [1, 3, -1, -1, -1], [[1]] * 5, missing=[0, 1, 0, 0, 0])

    texts = texts_of(schema, tree)

    assert texts[1] == ("x <= 5 or missing",)
    assert (texts[3], texts[4], texts[2]) == (("x <= 2",), ("2 < x <= 5 or missing",), ("x > 5",))


def test_missing_that_left_earlier_does_not_come_back(build_tree: Callable[..., Tree]) -> None:
    schema = Schema((Column("x", "numeric", missing_seen=True),))
    tree = build_tree([(0, 5.0), (0, 2.0), None, None, None], [1, 3, -1, -1, -1], [[1]] * 5, missing=[1, 0, 0, 0, 0])

    texts = texts_of(schema, tree)

    assert (texts[3], texts[2]) == (("x <= 2",), ("x > 5 or missing",))


def test_a_presence_test_gives_present_and_missing(penguin_model: ModelData) -> None:
    texts = texts_of(penguin_model.schema, penguin_model.trees[0])

    assert texts[5] == ("island in {Dream, Torgersen}", "flipper is present")
    assert texts[6] == ("island in {Dream, Torgersen}", "flipper is missing")


def test_ordinal_bounds_are_said_in_levels(build_tree: Callable[..., Tree]) -> None:
    schema = Schema((Column("size", "ordinal", ("S", "M", "L", "XL"), family="string"),))
    tree = build_tree([(0, 2.5), (0, 0.5), None, None, (0, 1.5), None, None], [1, 3, -1, -1, 5, -1, -1], [[1]] * 7)

    texts = texts_of(schema, tree)

    assert (texts[1], texts[2], texts[3]) == (("size <= L",), ("size = XL",), ("size = S",))
    assert (texts[4], texts[5], texts[6]) == (("S < size <= L",), ("size = M",), ("size = L",))


def test_nominal_sets_are_intersected_and_name_what_was_seen(build_tree: Callable[..., Tree]) -> None:
    schema = Schema((Column("c", "nominal", ("a", "b", "c", "d"), family="string"),))
    # Root: {a, b, c} left. Below: {a} left; b goes right, c was absent there and goes right too.
    tree = build_tree(
        [(0, (0b00111, 0b01111)), (0, (0b00001, 0b00011)), None, None, None], [1, 3, -1, -1, -1], [[1]] * 5
    )

    texts = texts_of(schema, tree)

    assert (texts[1], texts[2], texts[3], texts[4]) == (("c in {a, b, c}",), ("c = d",), ("c = a",), ("c = b",))


def test_what_an_earlier_set_refused_stays_refused(build_tree: Callable[..., Tree]) -> None:
    schema = Schema((Column("c", "nominal", tuple("abcdef"), family="string"),))
    # Root: f goes right. Below: e goes right; f, absent there, has the bit of the left side.
    tree = build_tree(
        [(0, (0b0011111, 0b0111111)), (0, (0b0101111, 0b0011111)), None, None, None], [1, 3, -1, -1, -1], [[1]] * 5
    )

    assert texts_of(schema, tree, max_levels=3)[3] == ("c not in {e, f}",)


def test_a_long_list_says_what_is_left_out_and_counts_absent_levels(penguin_model: ModelData) -> None:
    texts = texts_of(penguin_model.schema, penguin_model.trees[0], max_levels=5)

    assert texts[7][-1] == "town not in {town P, town Q, town R}"


def test_the_rules_of_the_leaves_cover_each_value_once(build_tree: Callable[..., Tree]) -> None:
    rng = np.random.default_rng(0)
    cuts = rng.permutation(15).astype(float)
    tree = build_tree(
        [(0, cuts[node]) if node < 7 else None for node in range(15)],
        [2 * node + 1 if node < 7 else -1 for node in range(15)],
        [[1]] * 15,
    )
    leaves = [bounds[0] for node, bounds in bounds_below(Schema((Column("x", "numeric"),)), tree) if tree.is_leaf[node]]

    for value in np.arange(-1, 16, 0.5):
        assert sum(leaf.lower < value <= leaf.upper for leaf in leaves) == 1


def test_a_chain_of_20000_tests_is_merged(chain_model: Callable[[int], ModelData]) -> None:
    model = chain_model(20_000)

    *_, (node, bounds) = bounds_below(model.schema, model.trees[0])

    assert node == 40_000
    assert conditions(model.schema, bounds) == ("x > 19999",)


@pytest.mark.parametrize("missing_seen", [True, False])
def test_a_test_that_lets_everything_pass_says_so(build_tree: Callable[..., Tree], missing_seen: bool) -> None:
    tree = build_tree([(0, np.inf), None, None], [1, -1, -1], [[1]] * 3, missing=[0, 0, 0])

    assert texts_of(Schema((Column("x", "numeric", missing_seen=missing_seen),)), tree)[1] == ("x is anything",)
