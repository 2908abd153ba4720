"""Claims about readable tests of several branches, branches for missing values, and whether a partition is the best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from treewright.data.schema import Column, Schema
from treewright.exceptions import ParameterError
from treewright.grow.exact import subsets
from treewright.trees import wording as readable
from treewright.trees.arrays import Tree
from treewright.trees.data import ModelData
from treewright.trees.facts import node_test
from treewright.trees.wording import IntervalTest, MultiwayTest, SubsetTest, ThresholdTest, describe, threshold_digits


def edges(test: Any, **options: Any) -> list[str]:
    """What leads into each branch."""
    return [test.edge(branch, **options) for branch in range(test.n_branches)]


def test_a_multiway_test_has_an_edge_per_branch(golf_model: ModelData) -> None:
    test = node_test(golf_model, golf_model.trees[0], 0)

    assert isinstance(test, MultiwayTest)
    assert test.question() == "outlook: overcast | rainy | sunny"
    assert edges(test) == ["= overcast", "= rainy or missing", "= sunny"]
    assert (test.missing_edge, test.unseen_edge, test.has_missing_branch) == (1, 1, False)


def test_an_absent_level_is_named_where_its_branch_has_no_other(golf_model: ModelData) -> None:
    test = node_test(golf_model, golf_model.trees[0], 2)

    assert isinstance(test, MultiwayTest)
    assert edges(test) == ["= cool", "= mild", "= hot"]
    assert (test.branches, test.absent) == ((("cool",), ("mild",), ()), ((), (), ("hot",)))


def test_an_interval_test_says_both_ends_in_the_words_of_two_cuts(golf_model: ModelData) -> None:
    test = node_test(golf_model, golf_model.trees[0], 3)

    assert isinstance(test, IntervalTest)
    assert test.question() == "humidity: <= 72.5 | > 72.5 and <= 87.5 | > 87.5"
    assert edges(test) == ["<= 72.5", "> 72.5 and <= 87.5", "> 87.5 or missing"]


@pytest.mark.parametrize(
    ("cuts", "said"),
    [
        ((0.5, 1.5), ["= S", "= M", "> M"]),
        ((1.0, 2.5), ["<= M", "= L", "= XL"]),
        ((0.0, 2.0), ["= S", "> S and <= L", "= XL"]),
        ((-1.0, 1.2, 1.8), ["is none of the levels", "<= M", "is none of the levels", "> M"]),
        ((1.5, np.inf), ["<= M", "> M", "is missing"]),
    ],
)
def test_ordinal_intervals_are_said_in_levels(cuts: tuple[float, ...], said: list[str]) -> None:
    assert edges(IntervalTest("size", 0, cuts, len(cuts), False, ("S", "M", "L", "XL"))) == said


def test_cuts_of_an_interval_read_back_exactly_where_that_is_asked() -> None:
    test = IntervalTest("x", 0, (0.1 + 0.2, 1.0), 0, False)

    assert (test.edge(0), test.edge(1, exact=True)) == ("<= 0.3", "> 0.30000000000000004 and <= 1")


def test_the_third_branch_of_a_yes_or_no_is_for_missing_values(own_branch_model: ModelData) -> None:
    tree = own_branch_model.trees[0]
    age, city, income, size = (node_test(own_branch_model, tree, node) for node in range(4))

    assert isinstance(age, ThresholdTest)
    assert isinstance(city, SubsetTest)
    assert (age.n_branches, city.n_branches, income.n_branches, size.n_branches) == (3, 3, 4, 3)
    assert all(test.has_missing_branch for test in (age, city, income, size))
    assert (age.question(), edges(age)) == ("age <= 30.5", ["<= 30.5", "> 30.5", "is missing"])
    assert edges(city) == ["= Bonn", "in {Oslo, Rome}", "is missing"]
    assert edges(income) == ["<= 10", "> 10 and <= 20", "> 20", "is missing"]
    assert edges(size) == ["in {S, L}", "= M", "is missing"]
    with pytest.raises(ParameterError, match="branch is 3; this test has the branches 0 to 2"):
        age.edge(3)


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("direction", "> 2.5 or missing"),
        ("branch", "> 2.5 or missing"),
        ("surrogate", "> 2.5"),
        ("fractional", "> 2.5"),
    ],
)
def test_an_edge_says_or_missing_only_where_all_missing_values_take_it(
    surrogate_model: ModelData, missing: Any, said: str
) -> None:
    assert describe(surrogate_model.schema, surrogate_model.trees[0], 0, missing=missing).edge(1) == said


def test_long_lists_are_cut_unless_the_exact_text_is_asked_for() -> None:
    levels = tuple((f"town {number}",) for number in range(9))
    test = MultiwayTest("town", 0, levels, ((),) * 9, 0, 0, False)

    assert test.question() == "town: town 0 | town 1 | town 2 | town 3 | ... 5 more"
    assert test.question(exact=True).count("|") == 8
    grouped = MultiwayTest("town", 0, (sum(levels, ()), ("Ulm",)), ((), ()), 0, 0, False)
    assert grouped.edge(0, max_levels=2) == "in {town 0, town 1, ... 7 more}"
    assert grouped.edge(0, exact=True).count("town") == 9


def test_digits_keep_cuts_of_intervals_apart_from_thresholds(golf_model: ModelData) -> None:
    tree = golf_model.trees[0]
    near = replace(tree, cuts=np.array([72.5, np.nextafter(72.5, 73.0)]))

    assert threshold_digits(tree)[3] == 6
    assert threshold_digits(near)[3] > 6
    assert len(set(edges(describe(golf_model.schema, near, 3), digits=int(threshold_digits(near)[3])))) == 3


def subset_model(build_tree: Callable[..., Tree], n_levels: int, n_classes: int, criterion: str | None) -> ModelData:
    """One split of a nominal column whose levels were all there; classification, or regression for no classes."""
    seen = 2**n_levels - 1
    values = np.ones((3, max(n_classes, 1)))
    tree = build_tree([(0, (1, seen)), None, None], [1, -1, -1], values)
    schema = Schema((Column("c", "nominal", tuple(range(n_levels)), family="number"),))
    classes = (np.arange(n_classes),) if n_classes else ()
    facts = {} if criterion is None else {"criterion": criterion}
    return ModelData("classification" if n_classes else "regression", schema, (tree,), classes, facts=facts)


@pytest.mark.parametrize(
    ("n_levels", "n_classes", "criterion", "exact"),
    [
        (30, 2, "gini", True),
        (30, 2, "entropy", True),
        (30, 0, "squared_error", True),
        (30, 0, "poisson", True),
        (10, 3, "gini", True),
        (11, 3, "gini", False),
        (10, 0, "absolute_error", True),
        (11, 0, "absolute_error", False),
        (11, 2, "my own", False),
        (11, 2, "gain_ratio", False),
        (11, 2, None, False),
    ],
)
def test_a_subset_is_the_best_where_all_were_tried_or_an_order_holds_it(
    build_tree: Callable[..., Tree], n_levels: int, n_classes: int, criterion: str | None, exact: bool
) -> None:
    model = subset_model(build_tree, n_levels, n_classes, criterion)

    assert node_test(model, model.trees[0], 0).exact is exact


def test_only_levels_that_the_node_held_count_as_tried(build_tree: Callable[..., Tree]) -> None:
    model = subset_model(build_tree, 11, 3, "gini")
    tree = replace(model.trees[0], levels_seen=np.array([2**10 - 1], np.uint64))

    assert node_test(model, tree, 0).exact


def test_the_limit_of_trying_every_partition_is_the_growers() -> None:
    assert readable.EXHAUSTIVE_LEVELS == subsets.EXHAUSTIVE_LEVELS


def test_one_level_a_branch_is_the_best_and_merged_groups_may_not_be(
    golf_model: ModelData, own_branch_model: ModelData
) -> None:
    golf, own = golf_model.trees[0], own_branch_model.trees[0]

    assert [node_test(golf_model, golf, node).exact for node in (0, 2, 3)] == [True, True, False]
    assert [node_test(own_branch_model, own, node).exact for node in (0, 3)] == [True, False]
