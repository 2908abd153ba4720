"""Claims about the verbs of a model of many trees: what belongs to one tree is asked of one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from random_forests import SCHEMA, forest_model, random_forest

from treewright.exceptions import ParameterError
from treewright.model import Model
from treewright.trees.data import impurity_importances, sizes_of


@pytest.fixture(scope="module")
def forest() -> Model:
    """Five random trees."""
    packed = random_forest(np.random.default_rng(3), SCHEMA, (3,), n_trees=5, n_rows=80)
    return forest_model(packed, SCHEMA, (3,), "mean")


@pytest.fixture(scope="module")
def loose(forest: Model) -> Model:
    """The same as a tuple of trees."""
    return replace(forest, trees=tuple(forest.trees))


def test_a_tree_of_a_forest_is_a_model_with_every_verb(forest: Model) -> None:
    tree = forest.tree(2)
    assert (tree.combine, tree.n_trees, tree.classes, tree.schema) == ("single", 1, forest.classes, forest.schema)
    assert tree.tree(0) is tree
    assert tree.show().startswith("Classification tree")
    assert len(tree.rules()) == tree.trees[0].n_leaves
    assert tree.prune("cost_complexity", alpha=1e9).trees[0].n_leaves == 1


@pytest.mark.parametrize("wrong", [-1, 5, 1.0, "0", None, True])
def test_a_tree_that_is_not_there_is_refused(forest: Model, wrong: Any) -> None:
    with pytest.raises(ParameterError, match="the model has 5 trees, counted from 0"):
        forest.tree(wrong)


def test_one_of_many_trees_is_shown_drawn_and_read_by_number(forest: Model) -> None:
    assert "(3 of 5 trees)" in forest.show(tree=2)
    assert forest.show(tree=2).splitlines()[1:] == forest.tree(2).show().splitlines()[1:]
    assert "<svg" in forest.plot(tree=2).text
    assert str(forest.rules(tree=2)).splitlines()[2:] == str(forest.tree(2).rules()).splitlines()[2:]
    assert forest.node(1, tree=2).samples == forest.tree(2).node(1).samples


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("plot", ()),
        ("rules", ()),
        ("node", (0,)),
        ("prune", ("pessimistic",)),
        ("audit", ({"x": [1.0]}, ["a"])),
    ],
)
def test_verbs_of_one_tree_say_how_to_choose_it(forest: Model, verb: str, arguments: Any) -> None:
    with pytest.raises(ParameterError, match=rf"the model has 5 trees: choose one, as in model.tree\(0\).{verb}"):
        getattr(forest, verb)(*arguments)


def test_pruning_encoded_rows_is_refused_too(forest: Model) -> None:
    with pytest.raises(ParameterError, match=r"model.tree\(0\).prune"):
        forest.pruned("pessimistic", None)


def test_sizes_are_those_of_the_trees(forest: Model, loose: Model) -> None:
    for found in (sizes_of(forest), sizes_of(loose)):
        assert found.n_leaves.tolist() == [tree.n_leaves for tree in loose.trees]
        assert found.depth.tolist() == [tree.max_depth for tree in loose.trees]
        asked = np.concatenate([tree.feature[tree.feature >= 0] for tree in loose.trees])
        assert found.n_tests.tolist() == np.bincount(asked, minlength=5).tolist()


def test_the_summary_says_how_many_and_how_large(forest: Model, loose: Model) -> None:
    text = forest.show()
    assert text == loose.show()
    leaves = sorted(tree.n_leaves for tree in loose.trees)
    lines = text.splitlines()
    assert lines[:2] == ["Classification by 5 trees", "the prediction is the mean of their class probabilities"]
    assert lines[4].split() == ["leaves", str(leaves[0]), str(leaves[2]), str(leaves[4])]
    assert all(column.name in text for column in SCHEMA.columns)
    assert "5 trees" in repr(forest)
    assert "Classification by 5 trees" in forest._repr_html_()


def test_options_of_a_drawing_need_a_tree(forest: Model) -> None:
    with pytest.raises(ParameterError, match=r"max_depth: options are for one of the 5 trees; choose it"):
        forest.show(max_depth=2)


def test_trees_without_a_split_are_summarised() -> None:
    packed = random_forest(np.random.default_rng(0), SCHEMA, (), n_trees=3, n_rows=2)
    forest = forest_model(packed, SCHEMA, (), "mean")
    assert "no tree has a split" in forest.show()
    assert forest.predict({column.name: [None] for column in SCHEMA.columns}).shape == (1,)


def test_importances_are_the_mean_of_those_of_the_trees_that_split(forest: Model, loose: Model) -> None:
    each = np.array([impurity_importances(tree, 5) for tree in loose.trees])
    mean = each[each.sum(axis=1) > 0].mean(axis=0)
    np.testing.assert_allclose(loose.feature_importances, mean, rtol=1e-12)
    held = forest.trees.importances
    np.testing.assert_allclose(forest.feature_importances, held[held.sum(axis=1) > 0].mean(axis=0), rtol=1e-12)
