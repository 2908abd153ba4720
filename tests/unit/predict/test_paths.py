"""The nodes that a row passes: its leaf and the leaf's ancestors, root first."""

from __future__ import annotations

import numpy as np
import pytest
from plain_trees import chain_tree

from treewright.data.schema import Column, Schema
from treewright.exceptions import ParameterError, TooLargeError
from treewright.predict.fractional import decision_path
from treewright.trees.data import ModelData


def chain(depth: int) -> ModelData:
    """A tree whose inner nodes are 0, 2, 4, ...; branch 0 of each is a leaf."""
    tree = chain_tree(depth)
    return ModelData("regression", Schema((Column("x", "numeric"),)), (tree, tree), combine="mean")


def test_a_row_passes_its_leaf_and_the_ancestors_of_it() -> None:
    path = decision_path(chain(2), np.zeros((4, 1)), np.array([4, 1, 3, 4], np.int32))

    assert path.dtype == np.int64
    assert path.toarray().tolist() == [[1, 0, 1, 0, 1], [1, 1, 0, 0, 0], [1, 0, 1, 1, 0], [1, 0, 1, 0, 1]]


def test_indices_read_from_the_root_to_the_leaf() -> None:
    path = decision_path(chain(30), np.zeros((2, 1)), np.array([60, 31], np.int32), tree=1)

    assert path.indices[: path.indptr[1]].tolist() == list(range(0, 61, 2))
    assert path.indices[path.indptr[1] :].tolist() == [*range(0, 31, 2), 31]
    path.check_format()
    assert path.has_sorted_indices


def test_no_rows_and_a_tree_without_tests() -> None:
    assert decision_path(chain(2), np.zeros((0, 1)), np.zeros(0, np.int32)).shape == (0, 5)
    assert decision_path(chain(0), np.zeros((3, 1)), np.zeros(3, np.int32)).toarray().tolist() == [[1], [1], [1]]


def test_a_tree_20_000_deep_has_a_path_of_20_001_nodes() -> None:
    path = decision_path(chain(20_000), np.zeros((2, 1)), np.array([40_000, 1], np.int32))

    assert np.diff(path.indptr).tolist() == [20_001, 2]


@pytest.mark.parametrize(
    ("leaves", "tree", "message"),
    [
        ([1], 0, r"shape \(1,\) for 2 rows"),
        ([1, 0], 0, "position 0 of row 1 is not a leaf of tree 0"),
        ([-1, 1], 0, "position -1 of row 0 is not a leaf"),
        ([1, 5], 1, "position 5 of row 1 is not a leaf of tree 1"),
        ([1, 1], 2, "tree 2 is not in the model: its trees are 0 to 1"),
        ([1, 1], -1, "tree -1 is not in the model"),
    ],
)
def test_what_does_not_fit_is_refused(leaves: list[int], tree: int, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        decision_path(chain(2), np.zeros((2, 1)), np.array(leaves, np.int32), tree)


def test_paths_that_do_not_fit_in_memory_are_refused_before_they_are_made() -> None:
    rows = np.lib.stride_tricks.as_strided(np.zeros(1), (10**8, 1), (0, 8))
    deepest = np.broadcast_to(np.int32(40_000), 10**6)

    with pytest.raises(TooLargeError, match="the decision path needs 320016000000 bytes"):
        decision_path(chain(20_000), rows[: 10**6], deepest)
