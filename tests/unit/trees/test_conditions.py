"""Claims about the merged conditions that lead to a node."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from treewright.data.schema import Column, Schema
from treewright.trees.arrays import Tree
from treewright.trees.check import check_tree
from treewright.trees.data import ModelData
from treewright.trees.tests import Bound, bounds_below
from treewright.trees.wording import conditions, written_bound


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
    assert texts[4] == ("x has no possible value",)  # x > 9 after x <= 5, and missing goes left


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


def test_a_branch_of_levels_names_its_levels_or_those_it_would_take(golf_model: ModelData) -> None:
    texts = texts_of(golf_model.schema, golf_model.trees[0])

    assert texts[1] == ("outlook = overcast",)
    assert texts[5] == ("outlook = rainy or missing", "temperature = mild")
    assert texts[6] == ("outlook = rainy or missing", "temperature = hot")  # absent from the node


def test_intervals_merge_with_the_cuts_above_them(build_tree: Callable[..., Tree]) -> None:
    # x <= 15, then x in (..5], (5..20], (20..]: above 15 nothing is left.
    binary = build_tree([(0, 15.0), None, None, None, None, None], [1, 3, -1, -1, -1, -1], [[1]] * 6)
    tree = replace(
        binary,
        kind=np.array([1, 4, 0, 0, 0, 0], np.uint8),
        feature=np.array([0, 0, -1, -1, -1, -1], np.int32),
        n_branches=np.array([2, 3, 0, 0, 0, 0], np.int32),
        level_set=np.array([-1, 0, -1, -1, -1, -1], np.int32),
        missing_branch=np.array([0, 1, 0, 0, 0, 0], np.int32),
        cuts=np.array([5.0, 20.0]),
    )

    texts = texts_of(Schema((Column("x", "numeric", missing_seen=True),)), tree)

    assert (texts[2], texts[3], texts[4]) == (("x > 15",), ("x <= 5",), ("5 < x <= 15 or missing",))
    assert texts[5] == ("x has no possible value",)


def test_the_branch_of_missing_values_says_so_and_no_other_one_does(own_branch_model: ModelData) -> None:
    texts = texts_of(own_branch_model.schema, own_branch_model.trees[0])

    assert (texts[1], texts[2], texts[3]) == (("age <= 30.5",), ("age > 30.5",), ("age is missing",))
    assert (texts[5], texts[6]) == (("age <= 30.5", "city in {Oslo, Rome}"), ("age <= 30.5", "city is missing"))
    assert (texts[8], texts[9]) == (("age > 30.5", "10 < income <= 20"), ("age > 30.5", "income > 20"))
    assert texts[10] == ("age > 30.5", "income is missing")
    assert (texts[11][-1], texts[12][-1], texts[13][-1]) == ("size in {S, L}", "size = M", "size is missing")


@pytest.mark.parametrize(("missing", "said"), [("direction", "length > 2.5 or missing"), ("surrogate", "length > 2.5")])
def test_missing_is_said_only_where_the_test_alone_decides(surrogate_model: ModelData, missing: Any, said: str) -> None:
    schema, tree = surrogate_model.schema, surrogate_model.trees[0]
    texts = {node: conditions(schema, bounds, missing=missing) for node, bounds in bounds_below(schema, tree)}

    assert texts[2] == (said,)


def test_neighbouring_ordinal_levels_are_a_range_and_others_a_list() -> None:
    column = Column("size", "ordinal", ("S", "M", "L", "XL"), family="string")

    def text(bound: Bound) -> str:
        return written_bound(column, bound, exact=True, max_levels=None)

    assert text(Bound(missing=False, allowed=np.array([False, True, True, False]))) == "S < size <= L"
    assert text(Bound(missing=False, allowed=np.array([True, False, True, False]))) == "size in {S, L}"
    assert text(Bound(missing=False, upper=1.0, allowed=np.array([True, False, True, True]))) == "size = S"
    assert text(Bound(missing=True, upper=0.5, allowed=np.array([False, True, True, True]))) == "size is missing"


def test_ten_thousand_branches_do_not_hold_ten_thousand_sets_at_once() -> None:
    n_levels = 10_000
    counts = np.ones(n_levels + 1, np.int64)
    counts[0] = n_levels
    filler = np.full(n_levels + 1, -1, np.int32)
    first, feature, branches, kind = filler.copy(), filler.copy(), filler + 1, np.zeros(n_levels + 1, np.uint8)
    first[0], feature[0], branches[0], kind[0], level_set = 1, 0, n_levels, 3, filler.copy()
    level_set[0] = 0
    tree = Tree(
        kind, feature, np.zeros(n_levels + 1), first, branches, filler + 1, level_set, counts, counts.astype(float),
        np.zeros(n_levels + 1), np.zeros((n_levels + 1, 1)), np.zeros(0, np.uint64), np.zeros(0, np.uint64),
        np.append(np.arange(n_levels), ~0).astype(np.int32),
    )  # fmt: skip
    schema = Schema((Column("c", "nominal", tuple(range(n_levels))),))
    check_tree(tree, schema, 1)

    tracemalloc.start()
    seen = sum(1 for _ in bounds_below(schema, tree))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert seen == n_levels + 1
    assert peak < 20 * 2**20  # two sets a branch would be 200 MB


def test_nothing_present_is_above_infinity_or_in_the_branch_of_missing_values(
    penguin_model: ModelData, own_branch_model: ModelData
) -> None:
    above = dict(bounds_below(penguin_model.schema, penguin_model.trees[0]))
    own = dict(bounds_below(own_branch_model.schema, own_branch_model.trees[0]))

    assert (above[5][1].present, above[6][1].present) == (True, False)
    assert [own[node][0].present for node in (1, 2, 3)] == [True, True, False]
    assert [own[node][2].present for node in (7, 9, 10)] == [True, True, False]
    assert [own[node][1].present for node in (4, 5, 6)] == [True, True, False]
    assert [own[node][3].present for node in (11, 12, 13)] == [True, True, False]
