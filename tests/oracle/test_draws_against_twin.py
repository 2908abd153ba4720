"""The draws of a forest are those of their slow twin, row for row."""

from __future__ import annotations

import naive_draws as twin
import numpy as np
import pytest

from treewright.data.row_content import row_order
from treewright.forest.draws import Draws, candidate_columns

rng = np.random.default_rng(7)


@pytest.mark.parametrize("n_columns", [1, 7, 8, 19])
@pytest.mark.parametrize("is_classes", [True, False])
def test_rows_stand_in_the_order_of_the_twin(n_columns, is_classes):
    codes = np.zeros((60, -(-n_columns // 8) * 8), np.uint8)
    codes[:, :n_columns] = rng.integers(0, 3, (60, n_columns))
    target = rng.integers(0, 2, (60, 2)).astype(np.int32) if is_classes else rng.choice([-0.0, 0.0, 1.5], (60, 2))
    expected = twin.row_order(codes[:, :n_columns].tolist(), target.tolist(), is_classes)
    assert row_order(codes, target, n_columns=n_columns).tolist() == expected


def counts_of(draws: Draws, tree: int) -> list[int]:
    counts = np.zeros(draws.n_rows, int)
    rows, times = draws.counts(tree)
    assert (np.diff(rows) > 0).all()
    assert (times > 0).all()
    counts[rows] = times
    return counts.tolist()


@pytest.mark.parametrize("n", [1, 2, 3, 40, 513])
@pytest.mark.parametrize("seed", [0, 3, 2**64 - 1, -5])
def test_draws_with_replacement_are_those_of_the_twin(n, seed):
    order = rng.permutation(n).astype(np.int32)
    repeats = rng.integers(1, 6, n)
    for weights, by_row in ((None, np.ones(n, int)), (repeats.astype(np.float64), repeats)):
        for n_draws in (1, n, 2 * n + 1):
            draws = Draws(order, n_draws, seed, weights=weights)
            for tree in (0, 1, 7):
                expected = twin.with_replacement(order.tolist(), by_row.tolist(), n_draws, seed, tree)
                assert counts_of(draws, tree) == expected


@pytest.mark.parametrize("n", [1, 2, 3, 40, 513])
def test_draws_without_replacement_are_those_of_the_twin(n):
    order = rng.permutation(n).astype(np.int32)
    repeats = rng.integers(1, 6, n)
    for weights, by_row in ((None, np.ones(n, int)), (repeats.astype(np.float64), repeats)):
        for n_draws in (1, (n + 1) // 2, n):
            draws = Draws(order, n_draws, 4, weights=weights, replace=False)
            for tree in (0, 3):
                expected = twin.without_replacement(order.tolist(), by_row.tolist(), n_draws, 4, tree)
                assert counts_of(draws, tree) == expected


def test_chances_without_replacement_are_those_of_the_twin():
    order = rng.permutation(80).astype(np.int32)
    weights = rng.exponential(size=80) + 0.01
    for n_draws in (1, 30, 80):
        draws = Draws(order, n_draws, 4, weights=weights, replace=False)
        assert counts_of(draws, 2) == twin.earliest(order.tolist(), weights.tolist(), n_draws, 4, 2)


@pytest.mark.parametrize("bound", [2**63 + 1, 3 * 2**62, 2**64 - 1, 6148914691236517206])
def test_numbers_below_a_bound_that_often_is_drawn_again_are_those_of_the_twin(bound):
    from treewright.core.jit import kernel
    from treewright.forest.draws import below

    @kernel
    def several(state, bound, remainder, found):
        for at in range(len(found)):
            found[at] = below(state, np.uint64(at), bound, remainder)

    found = np.empty(200, np.uint64)
    several(np.uint64(9), np.uint64(bound), np.uint64(2**64 % bound), found)
    assert found.tolist() == [twin.below(9, at, bound) for at in range(200)]


def test_columns_of_a_tree_are_those_of_the_twin():
    for tree in range(20):
        for n_chosen in (1, 3, 11):
            assert candidate_columns(6, tree, 11, n_chosen).tolist() == twin.columns(6, tree, 11, n_chosen)
