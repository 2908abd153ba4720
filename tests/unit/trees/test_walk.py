"""Claims about walks over a tree."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from treewright.exceptions import ParameterError
from treewright.trees.arrays import depth_of_tree, path_to, subtree_sizes, unfolded
from treewright.trees.data import ModelData


def test_a_path_names_each_node_and_the_branch_taken(penguin_model: ModelData) -> None:
    assert path_to(penguin_model.trees[0], 10) == [(0, 0), (1, 1), (4, 1), (8, 1)]
    assert path_to(penguin_model.trees[0], 0) == []


@pytest.mark.parametrize("node", [-1, 11])
def test_a_path_to_a_node_that_is_not_there_is_refused(penguin_model: ModelData, node: int) -> None:
    with pytest.raises(ParameterError, match="0 to 10"):
        path_to(penguin_model.trees[0], node)


def test_the_size_of_a_subtree_counts_its_top(penguin_model: ModelData) -> None:
    assert subtree_sizes(penguin_model.trees[0]).tolist() == [11, 7, 3, 1, 5, 1, 1, 1, 3, 1, 1]


def test_a_chain_of_20000_levels_is_walked(chain_model: Callable[[int], ModelData]) -> None:
    tree = chain_model(20_000).trees[0]

    assert depth_of_tree(tree) == 20_000
    assert len(path_to(tree, tree.n_nodes - 1)) == 20_000
    assert subtree_sizes(tree)[0] == tree.n_nodes


def test_unfolding_stops_at_a_depth(penguin_model: ModelData) -> None:
    assert unfolded(penguin_model.trees[0], max_depth=0) == frozenset()
    assert unfolded(penguin_model.trees[0], max_depth=2) == {0, 1, 2}
    assert unfolded(penguin_model.trees[0]) == {0, 1, 2, 4, 8}


def test_unfolding_prefers_the_nodes_with_most_rows(penguin_model: ModelData) -> None:
    # Node 2 has 176 rows, node 1 has 168.
    assert unfolded(penguin_model.trees[0], max_nodes=5) == {0, 2}


@pytest.mark.parametrize("max_nodes", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
def test_no_more_nodes_are_visible_than_allowed(penguin_model: ModelData, max_nodes: int) -> None:
    assert 1 + 2 * len(unfolded(penguin_model.trees[0], max_nodes=max_nodes)) <= max_nodes


@pytest.mark.parametrize("limits", [{"max_depth": -1}, {"max_nodes": 0}])
def test_limits_out_of_range_are_refused(penguin_model: ModelData, limits: dict[str, int]) -> None:
    with pytest.raises(ParameterError, match=next(iter(limits))):
        unfolded(penguin_model.trees[0], **limits)
