"""Claims about what is exported of a model of several trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from packed_trees import SCHEMA, draw

from treewright.exceptions import ParameterError
from treewright.exchange.dot import to_dot
from treewright.exchange.structure import to_structure
from treewright.trees.data import ModelData
from treewright.trees.packed import join


@pytest.fixture(scope="module")
def forest() -> ModelData:
    drawn = draw(3, n_trees=3, n_rows=30, depth=3)
    return ModelData("classification", SCHEMA, join(drawn.parts), (np.array(["a", "b", "c"]),), combine="mean")


def test_a_drawing_is_of_the_tree_that_was_chosen(forest: ModelData) -> None:
    for number, tree in enumerate(forest.trees):
        alone = to_dot(replace(forest, trees=(tree,), combine="single"))
        drawn = to_dot(forest, tree=number)
        assert drawn.replace(f" ({number + 1} of 3 trees)", "") == alone


def test_a_drawing_of_several_trees_needs_a_choice(forest: ModelData) -> None:
    with pytest.raises(ParameterError, match=r"the model has 3 trees, a drawing shows one: give tree=0"):
        to_dot(forest)
    for beyond in (3, -1):
        with pytest.raises(ParameterError, match=f"tree is {beyond}; the model has 3 trees, counted from 0"):
            to_dot(forest, tree=beyond)
        with pytest.raises(ParameterError, match=f"tree is {beyond}; the model has 3 trees, counted from 0"):
            to_structure(forest, tree=beyond)


def test_the_structure_has_all_trees_or_the_chosen_one(forest: ModelData) -> None:
    whole = to_structure(forest)

    assert [len(tree["nodes"]) for tree in whole["trees"]] == [tree.n_nodes for tree in forest.trees]
    assert whole["combine"] == "mean"
    for number in range(3):
        one = to_structure(forest, tree=number)
        assert one["trees"] == [whole["trees"][number]]
        assert {**one, "trees": None} == {**whole, "trees": None}
