"""Grown trees as packed ones."""

from __future__ import annotations

import numpy as np
import pytest
from gradient_tables import answers, draw_case, leaf_of_rows, leaves_of

from treewright.boosting.growth import KeptTree, packed_trees
from treewright.trees.packed import leaf_samples_of, leaf_weights_of


@pytest.fixture(params=[(1, True), (2, False), (3, True)], ids=["unit", "hessians", "nominal"])
def grown(request):
    seed, unit = request.param
    case = draw_case(seed, 200, 5, unit=unit, most_bins=12, ties=False)
    grower = case.grower(min_samples_leaf=3, l2=0.5)
    kept = []
    for number in range(4):
        gradient = np.roll(case.gradient, 17 * number)
        tree = grower.grow(gradient, case.hessian, None, number)
        kept.append((KeptTree(tree, 0.3 * tree.values), leaf_of_rows(tree, 200)))
    return case, kept


def test_each_row_gets_what_its_leaf_adds(grown):
    case, kept = grown
    packed = packed_trees(case.bins, [each for each, _ in kept])
    assert packed.criterion == "gradient"
    assert packed.n_trees == 4
    for number, (each, leaf) in enumerate(kept):
        assert np.array_equal(answers(packed, case.cells, number), each.adds[leaf])


def test_leaves_tell_their_hessians_and_rows_and_tests_their_gains(grown):
    case, kept = grown
    packed = packed_trees(case.bins, [each for each, _ in kept])
    weights, samples = leaf_weights_of(packed), leaf_samples_of(packed)
    for number, (each, leaf) in enumerate(kept):
        tree, at = each.tree, leaves_of(packed, case.cells, number)
        assert np.array_equal(weights[at], tree.covers[leaf])
        assert np.array_equal(samples[at], np.bincount(leaf)[leaf])
        gains = np.zeros(5)
        for node in np.flatnonzero(tree.first_child >= 0):
            gains[tree.column[node]] += tree.gain[node]
        np.testing.assert_allclose(packed.importances[number], gains, rtol=1e-12)


def test_a_leaf_without_curvature_has_a_weight():
    case = draw_case(1, 20, 2, unit=False)
    case.hessian[:] = 0
    tree = case.grow(min_samples_leaf=1)
    packed = packed_trees(case.bins, [KeptTree(tree, tree.values)])
    assert (leaf_weights_of(packed) > 0).all()


def test_the_packed_trees_do_not_hang_on_the_memory_of_the_grower(grown):
    case, kept = grown
    packed = packed_trees(case.bins, [each for each, _ in kept])
    held = [array.tobytes() for array in packed.arrays().values()]
    grower = case.grower(min_samples_leaf=3)
    tree = grower.grow(case.gradient, case.hessian, None, 0)
    again = packed_trees(case.bins, [KeptTree(tree, tree.values)])
    kept_bytes = [array.tobytes() for array in again.arrays().values()]
    grower.grow(-case.gradient[::-1].copy(), case.hessian, None, 1)
    assert [
        array.tobytes() for array in packed_trees(case.bins, [KeptTree(tree, tree.values)]).arrays().values()
    ] == kept_bytes
    assert [array.tobytes() for array in packed.arrays().values()] == held
