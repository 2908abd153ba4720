"""Claims about readable split tests."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from treewright.data.schema import Column, Schema
from treewright.exceptions import ParameterError
from treewright.trees.arrays import Tree
from treewright.trees.data import ModelData
from treewright.trees.wording import SubsetTest, ThresholdTest, describe, threshold_digits


def test_a_cut_asks_and_answers_in_the_column_name(iris_model: ModelData) -> None:
    test = describe(iris_model.schema, iris_model.trees[0], 0)

    assert isinstance(test, ThresholdTest)
    assert test.question() == "petal length (cm) <= 2.45"
    assert (test.edge(0), test.edge(1)) == ("<= 2.45", "> 2.45")


def test_the_exact_question_reads_back_as_the_same_float(mean_model: ModelData) -> None:
    test = describe(mean_model.schema, mean_model.trees[0], 0)

    assert test.question() == "x <= 0.3"
    assert test.question(exact=True) == "x <= 0.30000000000000004"


@pytest.mark.parametrize(
    ("cut", "low", "high"),
    [
        (0.5, "<= $", "> $"),
        (1.5, "<= $$", "> $$"),
        (1.0, "<= $$", "> $$"),
        (-0.5, "< $", ">= $"),
        (7.0, "<= $$$", "> $$$"),
        (np.inf, "is present", "is missing"),
    ],
)
def test_an_ordinal_cut_is_said_in_levels(build_tree: Callable[..., Tree], cut: float, low: str, high: str) -> None:
    schema = Schema((Column("price", "ordinal", ("$", "$$", "$$$"), family="string"),))
    tree = build_tree([(0, cut), None, None], [1, -1, -1], [[2], [1], [1]], missing=[1, 0, 0])

    test = describe(schema, tree, 0)

    assert (test.edge(0), test.edge(1)) == (low, high)


def test_missing_is_said_on_the_branch_it_takes_and_only_if_it_was_seen(penguin_model: ModelData) -> None:
    tree = penguin_model.trees[0]

    island, flipper = describe(penguin_model.schema, tree, 0), describe(penguin_model.schema, tree, 1)
    price = describe(penguin_model.schema, tree, 8)

    assert (island.missing_edge, island.edge(0), island.edge(1)) == (0, "= Biscoe or missing", "in {Dream, Torgersen}")
    assert (flipper.edge(0), flipper.edge(1)) == ("<= 206.5", "> 206.5 or missing")
    assert (price.missing_edge, price.edge(1)) == (1, "> $")


def test_a_presence_test_does_not_say_missing_twice(penguin_model: ModelData) -> None:
    test = describe(penguin_model.schema, penguin_model.trees[0], 2)

    assert (test.question(), test.edge(0), test.edge(1)) == ("flipper is present", "is present", "is missing")


def test_a_long_list_names_the_smaller_side(penguin_model: ModelData) -> None:
    test = describe(penguin_model.schema, penguin_model.trees[0], 4)

    assert test.question() == "town not in {town P, town Q, town R}"
    assert test.edge(0, max_levels=2) == "not in {town P, town Q, ... 1 more}"
    assert test.question(exact=True).count("town ") == 16  # the column, then every level of the left side


def test_levels_absent_from_the_node_are_not_named(build_tree: Callable[..., Tree]) -> None:
    schema = Schema((Column("city", "nominal", ("Bonn", "Oslo", "Rome", "Ulm"), family="string"),))
    # Left: Bonn (0), Oslo (1) and a level never seen (4); Oslo was absent from the node.
    tree = build_tree([(0, (0b10011, 0b01101)), None, None], [1, -1, -1], [[3], [1], [2]])

    test = describe(schema, tree, 0)

    assert isinstance(test, SubsetTest)
    assert (test.question(), test.edge(1)) == ("city = Bonn", "in {Rome, Ulm}")
    assert test.absent == (("Oslo",), ())
    assert test.unseen_edge == 0


def test_sixty_four_levels_use_the_second_word() -> None:
    schema = Schema((Column("code", "nominal", tuple(range(70)), family="number"),))
    ints = np.array([-1, -1, -1], np.int32)
    first, branches = np.array([1, -1, -1], np.int32), np.array([2, 0, 0], np.int32)
    left = np.array([0, 0b100], np.uint64)  # bit 66
    seen = np.array([0b1, 0b101], np.uint64)  # bits 0, 64, 66
    tree = Tree(
        np.array([2, 0, 0], np.uint8), np.array([0, -1, -1], np.int32), np.zeros(3), first, branches, ints + 1,
        np.array([0, -1, -1], np.int32), np.array([3, 1, 2]), np.array([3.0, 1, 2]), np.zeros(3), np.zeros((3, 1)),
        left, seen,
    )  # fmt: skip

    test = describe(schema, tree, 0)

    assert (test.edge(0), test.edge(1)) == ("= 66", "in {0, 64}")


def test_strings_are_quoted_in_a_column_of_mixed_types(build_tree: Callable[..., Tree]) -> None:
    schema = Schema((Column("c", "nominal", (1, "1", True), family="object"),))
    tree = build_tree([(0, (0b011, 0b111)), None, None], [1, -1, -1], [[3], [2], [1]])

    assert describe(schema, tree, 0).question() == 'c in {1, "1"}'


def test_names_are_shown_as_one_harmless_line(hostile_model: ModelData) -> None:
    test = describe(hostile_model.schema, hostile_model.trees[0], 1)

    assert test.question() == r"a\nb\u202ec\x1b[31m <= 0.5"


def test_a_name_that_is_no_string_is_written_by_str(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree([(0, 1.0), None, None], [1, -1, -1], [[2], [1], [1]])

    assert describe(Schema((Column(("a", 7), "numeric"),)), tree, 0).column == "('a', 7)"


@pytest.mark.parametrize("node", [-1, 1, 5])
def test_a_leaf_or_a_node_that_is_not_there_is_refused(iris_model: ModelData, node: int) -> None:
    with pytest.raises(ParameterError, match=f"node {node} is"):
        describe(iris_model.schema, iris_model.trees[0], node)


def test_a_third_branch_is_refused(iris_model: ModelData) -> None:
    with pytest.raises(ParameterError, match="branches 0 and 1"):
        describe(iris_model.schema, iris_model.trees[0], 0).edge(2)


def test_two_cuts_of_one_column_never_look_the_same(build_tree: Callable[..., Tree]) -> None:
    schema = Schema((Column("x", "numeric"), Column("y", "numeric")))
    cuts = (1.0, np.nextafter(1.0, 2.0))
    tree = build_tree([(0, cuts[0]), (0, cuts[1]), (1, 1.0), *[None] * 4], [1, 3, 5, *[-1] * 4], [[1]] * 7)

    digits = threshold_digits(tree)

    written = [describe(schema, tree, node).edge(0, digits=int(digits[node])) for node in (0, 1)]
    assert written[0] != written[1]
    assert digits[2] == 6  # another column: its cut is alone
