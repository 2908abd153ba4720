"""Claims about the rules of leaves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from treewright.data.schema import Column, Schema
from treewright.exceptions import ParameterError
from treewright.explain.leaf_rules import leaf_rules, write_rules
from treewright.tree.arrays import Tree
from treewright.tree.model import ModelData


def test_each_leaf_has_one_rule_from_left_to_right(penguin_model: ModelData) -> None:
    rules = leaf_rules(penguin_model)

    assert [rule.leaf for rule in rules] == [3, 7, 9, 10, 5, 6]
    assert sum(rule.samples for rule in rules) == 344


def test_a_rule_reads_like_this(penguin_model: ModelData) -> None:
    assert leaf_rules(penguin_model)[3].text.splitlines() == [
        "if   island = Biscoe or missing",
        "and  flipper > 206.5 or missing",
        "and  town in {town P, town Q, town R}",
        "and  price > $",
        "then Gentoo  [leaf 10; 5 rows; Gentoo 5]",
    ]


def test_a_rule_knows_its_numbers(iris_model: ModelData) -> None:
    rule = leaf_rules(iris_model)[1]

    assert rule.conditions == ("petal length (cm) > 2.45", "petal width (cm) <= 1.75")
    assert (rule.prediction, rule.samples, rule.distribution) == ("versicolor", 54, ((0.0, 49.0, 5.0),))


def test_thresholds_and_means_are_exact(mean_model: ModelData) -> None:
    first, second = leaf_rules(mean_model)

    assert first.conditions == ("x <= 0.30000000000000004",)
    assert (first.prediction, second.prediction) == ("2", "7")
    assert first.distribution == ()


def test_the_rule_of_a_single_leaf_has_no_condition(build_tree: Callable[..., Tree]) -> None:
    model = ModelData("regression", Schema((Column("x", "numeric"),)), (build_tree([None], [-1], [[2]]),))

    (rule,) = leaf_rules(model)

    assert rule.conditions == ()
    assert rule.text == "then 2  [leaf 0; 2 rows]"


def test_weights_are_part_of_the_evidence_where_they_matter(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree([None], [-1], [[2.5, 1]], samples=[3], weight=[3.5])
    model = ModelData("classification", Schema((Column("x", "numeric"),)), (tree,), (np.array(["n", "y"]),))

    assert leaf_rules(model)[0].evidence == "leaf 0; 3 rows; weight 3.5; n 2.5, y 1"


def test_a_chain_of_5000_leaves_has_short_rules(chain_model: Callable[[int], ModelData]) -> None:
    rules = leaf_rules(chain_model(5_000))

    assert len(rules) == 5_001
    assert rules[3000].conditions == ("2999 < x <= 3000",)


def test_no_name_adds_a_line(hostile_model: ModelData) -> None:
    text = write_rules(hostile_model)

    assert not set(text) & set("\x00\x1b\u202e")
    # A headline; then per leaf a blank line, its conditions and its conclusion.
    assert len(text.splitlines()) == 1 + sum(len(rule.conditions) + 2 for rule in leaf_rules(hostile_model))


def test_a_tree_that_is_not_there_is_refused(iris_model: ModelData) -> None:
    with pytest.raises(ParameterError, match="tree is 3"):
        leaf_rules(iris_model, tree=3)
