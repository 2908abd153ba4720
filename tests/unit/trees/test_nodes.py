"""Claims about the view of one node, and about readable surrogates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from treewright.exceptions import ParameterError
from treewright.trees.data import ModelData
from treewright.trees.summary import node_of
from treewright.trees.wording import surrogates_of


def test_a_node_says_what_it_asks_holds_and_predicts(golf_model: ModelData) -> None:
    node = node_of(golf_model, 2)

    assert node.test is not None
    assert (node.position, node.depth, node.parent, node.children) == (2, 1, 0, (4, 5, 6))
    assert (node.test.question(), node.exact, node.is_leaf) == ("temperature: cool | mild | hot", True, False)
    assert (node.samples, node.weight, round(node.impurity, 2)) == (5, 5.0, 0.48)
    assert (node.value, node.prediction) == ({"no": 2.0, "yes": 3.0}, "yes")
    assert (node.missing_branch, node.surrogates) == (1, ())


def test_a_leaf_asks_nothing_and_the_root_has_no_parent(golf_model: ModelData) -> None:
    leaf, root = node_of(golf_model, 6), node_of(golf_model, 0)

    assert (leaf.test, leaf.exact, leaf.children, leaf.missing_branch, leaf.is_leaf) == (None, None, (), None, True)
    assert (leaf.samples, leaf.weight, leaf.prediction) == (0, 0.0, "yes")
    assert (root.parent, root.depth) == (None, 0)


def test_numbers_and_several_outputs(own_branch_model: ModelData, golf_model: ModelData) -> None:
    assert (node_of(own_branch_model, 7).value, node_of(own_branch_model, 7).prediction) == (7.0, 7.0)
    tree = golf_model.trees[0]
    two = replace(
        golf_model,
        trees=(replace(tree, value=np.hstack([tree.value, tree.value[:, ::-1]])),),
        classes=(golf_model.classes[0], np.array([3, 4])),
        n_outputs=2,
        target_names=(),
    )

    assert node_of(two, 4).value == ({"no": 1.0, "yes": 1.0}, {3: 1.0, 4: 1.0})
    assert node_of(two, 7).prediction == ("yes", 3)


@pytest.mark.parametrize("position", [-1, 10, True, 1.0, "0"])
def test_a_node_that_is_not_there_is_refused(golf_model: ModelData, position: object) -> None:
    with pytest.raises(ParameterError, match="node"):
        node_of(golf_model, position)  # type: ignore[arg-type]
    assert node_of(golf_model, np.int64(3)).position == 3  # type: ignore[arg-type]


def test_a_flipped_surrogate_leads_the_other_way(surrogate_model: ModelData) -> None:
    width, site, sepal = node_of(surrogate_model, 0).surrogates

    assert (width.question, width.edge(0), width.edge(1)) == ("width <= 0.8", "width <= 0.8", "width > 0.8")
    assert (site.question, site.flipped) == ("site = a", True)
    assert (site.edge(0), site.edge(1)) == ("site in {b, c}", "site = a")
    assert (sepal.agreement, sepal.adjusted) == (0.8, 0.4)
    with pytest.raises(ParameterError, match="branch is 2"):
        width.edge(2)


def test_each_node_has_its_own_surrogates(surrogate_model: ModelData) -> None:
    schema, tree = surrogate_model.schema, surrogate_model.trees[0]

    assert [len(surrogates_of(schema, tree, node)) for node in range(5)] == [3, 0, 1, 0, 0]
    assert surrogates_of(schema, tree, 2)[0].edge(0) == "length > 4.75"
