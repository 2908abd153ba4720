"""What must hold of a forest's draws, on tables that Hypothesis makes up."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from treewright.data.row_content import row_order
from treewright.forest.draws import Draws, number_of_draws, rows_without


@st.composite
def tables(draw):
    """Rows with few distinct contents, and whole-number weights that may count as rows."""
    n = draw(st.integers(1, 30))
    p = draw(st.integers(1, 10))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    codes = rng.integers(0, draw(st.integers(1, 4)), (n, 16)).astype(np.uint8)
    codes[:, p:] = 0
    target = rng.integers(0, 2, (n, 1))
    target = target.astype(np.int32) if draw(st.booleans()) else target / 3
    return codes, target, rng.integers(1, 5, n).astype(np.float64), rng


def drawn_contents(codes, target, draws: Draws, tree: int) -> Counter:
    """How often each content of a row is drawn."""
    contents: Counter = Counter()
    for row, count in zip(*map(np.ndarray.tolist, draws.counts(tree)), strict=True):
        contents[codes[row].tobytes(), target[row].tobytes()] += count
    return contents


def draws_of(codes, target, weights, seed, replace, max_samples=None) -> Draws:
    order = row_order(codes, target, weights=weights)
    n_draws = number_of_draws(max_samples, len(codes), weights)
    return Draws(order, n_draws, seed, weights=weights, replace=replace)


@given(tables(), st.integers(0, 9), st.booleans(), st.booleans())
def test_a_table_with_its_rows_shuffled_draws_the_same_rows(table, seed, replace, are_shares):
    codes, target, weights, rng = table
    if are_shares:
        weights = weights / 3 + rng.random(len(weights)).round(1)
    mixed = rng.permutation(len(codes))
    max_samples = 0.7 if not replace else None
    draws = draws_of(codes, target, weights, seed, replace, max_samples)
    shuffled = draws_of(codes[mixed], target[mixed], weights[mixed], seed, replace, max_samples)
    for tree in range(3):
        assert drawn_contents(codes, target, draws, tree) == drawn_contents(codes[mixed], target[mixed], shuffled, tree)


@given(tables(), st.integers(0, 9), st.booleans(), st.sampled_from([None, 0.4, 1]))
def test_a_row_of_weight_k_is_drawn_as_k_equal_rows(table, seed, replace, max_samples):
    codes, target, weights, _ = table
    times = weights.astype(int)
    many_codes, many_target = np.repeat(codes, times, axis=0), np.repeat(target, times, axis=0)
    draws = draws_of(codes, target, weights, seed, replace, max_samples)
    repeated = draws_of(many_codes, many_target, None, seed, replace, max_samples)
    assert draws.n_draws == repeated.n_draws
    for tree in range(3):
        expected = drawn_contents(many_codes, many_target, repeated, tree)
        assert drawn_contents(codes, target, draws, tree) == expected


@given(tables(), st.integers(0, 9), st.booleans(), st.floats(0.01, 1.0))
def test_every_row_is_either_drawn_or_left_out_and_draws_add_up(table, seed, replace, share):
    codes, target, weights, _ = table
    draws = draws_of(codes, target, weights, seed, replace, share)
    for tree in (0, 5):
        rows, counts = draws.counts(tree)
        assert int(counts.sum()) == draws.n_draws
        assert sorted([*rows.tolist(), *draws.left_out(tree).tolist()]) == list(range(len(codes)))
        assert (rows_without(rows, len(codes)) == draws.left_out(tree)).all()
        if not replace:
            assert (counts <= weights[rows]).all()
