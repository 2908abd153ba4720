"""Where rows end, for every kind of test: the kernel, the walk in Python and the nested reading agree."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from random_trees import SCHEMA, flat, grow_at_random, leaf_for, random_matrix

from treewright.predict.one import leaf_of_row
from treewright.predict.route import is_packable, leaf_of
from treewright.trees.arrays import INTERVALS, MULTIWAY, SUBSET, THRESHOLD, Tree
from treewright.trees.check import check_tree
from treewright.trees.data import ModelData

nan = math.nan


def ends(tree: Tree, rows: list[list[float]]) -> list[int]:
    """The leaf of each row; both walks must say the same."""
    found = leaf_of(tree, np.array(rows, np.float64)).tolist()
    assert [leaf_of_row(tree, row) for row in rows] == found
    return found


def test_a_level_takes_its_branch_and_an_absent_one_that_of_its_complement(golf_model: ModelData) -> None:
    tree = golf_model.trees[0]

    assert ends(tree, [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 2, 0]]) == [1, 4, 5, 6]
    # A level never seen at fit takes branch 1 of the root, a missing one too; there missing takes "mild".
    assert ends(tree, [[3, 0, 0], [nan, 0, 0], [nan, nan, nan]]) == [4, 4, 5]


def test_an_interval_holds_its_upper_cut(golf_model: ModelData) -> None:
    cells = [-np.inf, 72.5, np.nextafter(72.5, 80), 87.5, np.nextafter(87.5, 90), np.inf, nan]

    assert ends(golf_model.trees[0], [[2, 0, x] for x in cells]) == [7, 7, 8, 8, 9, 9, 9]


def test_a_branch_of_their_own_is_for_missing_values_only(own_branch_model: ModelData) -> None:
    tree = own_branch_model.trees[0]

    assert ends(tree, [[30.5, 0, 0, 0], [1, 1, 0, 0], [1, nan, 0, 0]]) == [4, 5, 6]
    assert ends(tree, [[31, 0, x, 0] for x in (10, 20, 1e300, np.inf, nan)]) == [7, 8, 9, 9, 10]
    assert ends(tree, [[nan, 0, 0, x] for x in (0, 1, 2, 3, nan)]) == [11, 12, 11, 12, 13]


def test_the_first_surrogate_that_answers_decides(surrogate_model: ModelData) -> None:
    tree = surrogate_model.trees[0]

    # length known; else width; else not site a; else sepal; else the missing branch.
    assert ends(tree, [[2.5, 9, 1, 9], [nan, 0.8, 1, 9], [nan, nan, 1, 9], [nan, nan, nan, 5.5]]) == [1, 1, 1, 1]
    assert ends(tree, [[nan, 0.9, 1, 1], [nan, nan, 0, 1], [nan, nan, nan, nan]]) == [4 - 1, 3, 3]
    # Level 3 was never seen: the surrogate does not answer, sepal does.
    assert ends(tree, [[nan, nan, 3, 5.0], [nan, nan, 3, 6.0]]) == [1, 4]
    # The second node: site, else length above 4.75, else left.
    assert ends(tree, [[3, 9, nan, 9], [5, 9, nan, 9], [nan, 9, nan, 9]]) == [4, 3, 3]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_random_trees_of_all_kinds_are_walked_as_they_read(dtype: Any) -> None:
    kinds, n_substitutes, n_packed = set(), 0, 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        matrix = random_matrix(rng, 60, 0.15).astype(dtype).astype(np.float64)
        codes = rng.integers(0, 3, 60)
        rows = [(row, 1.0) for row in range(60)]
        nested = grow_at_random(rng, matrix, codes, rows, own=seed % 3 == 1, substitutes=seed % 3 == 2)
        tree = flat(nested, matrix)
        if seed % 3 != 2:  # rows are divided here: with surrogates, the numbers of rows are another method's
            check_tree(tree, SCHEMA, 3, missing="fractional")
        asked = random_matrix(rng, 80, 0.3, unseen=True).astype(dtype)

        found = leaf_of(tree, asked)

        assert found.tolist() == [leaf_for(nested, row)["at"] for row in asked.astype(np.float64)]
        assert found.tolist() == [leaf_of_row(tree, row) for row in asked.tolist()]
        assert (leaf_of(tree, np.asfortranarray(asked)) == found).all()
        kinds |= set(tree.kind.tolist())
        n_substitutes += len(tree.surrogate_node)
        n_packed += is_packable(tree)
    assert kinds == {0, THRESHOLD, SUBSET, MULTIWAY, INTERVALS}
    assert n_substitutes > 50
    assert 0 < n_packed < 120


def test_blocks_on_threads_end_where_rows_end_one_by_one(own_branch_model: ModelData) -> None:
    rng = np.random.default_rng(3)
    n = 50_000
    matrix = np.column_stack([rng.normal(30, 9, n), *(rng.integers(0, 3, n) * step for step in (1, 12, 1))])
    matrix[rng.random(matrix.shape) < 0.2] = nan
    tree = own_branch_model.trees[0]

    found = leaf_of(tree, matrix, n_jobs=2)

    assert (found == leaf_of(tree, matrix, n_jobs=1)).all()
    assert found[49_990:].tolist() == [leaf_of_row(tree, row) for row in matrix[49_990:].tolist()]
    assert set(found.tolist()) == set(range(4, 14))
