"""Draws of rows and columns: what is drawn, how often, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from treewright.data.row_content import row_order
from treewright.exceptions import ParameterError
from treewright.forest.draws import Draws, candidate_columns, counts_of_rows, number_of_draws, rows_without, seeds_of


def numbered(n: int) -> np.ndarray:
    return np.arange(n, dtype=np.int32)


def test_a_bootstrap_leaves_out_one_row_in_e():
    n = 100_000
    rows, counts = Draws(numbered(n), n, seed=3).counts(0)
    # Of a row that is drawn Poisson(1) times the variance of "drawn" is e**-1 - 2 e**-2 for draws of fixed number.
    error = math.sqrt(n * (math.exp(-1) - 2 * math.exp(-2)))
    assert abs(len(rows) - n * (1 - math.exp(-1))) < 4 * error
    assert int(counts.sum()) == n
    assert rows.dtype == counts.dtype == np.int32


def test_rows_are_drawn_as_often_as_they_weigh():
    n = 1000
    weights = np.random.default_rng(0).exponential(size=n) + 0.1
    draws = Draws(row_order(np.zeros((n, 8), np.uint8), np.zeros((n, 1))), 200_000, seed=1, weights=weights)
    drawn = np.zeros(n)
    rows, counts = draws.counts(0)
    drawn[rows] = counts
    expected = 200_000 * weights / weights.sum()
    assert (np.abs(drawn - expected) < 5 * np.sqrt(expected)).all()


def test_chances_without_replacement_follow_the_weights():
    # Two rows of three are drawn; the lightest is missing in most of the draws.
    draws = Draws(numbered(3), 2, seed=1, weights=np.array([0.5, 5.5, 20.5]), replace=False)
    missing = np.bincount([int(draws.left_out(tree)[0]) for tree in range(4000)], minlength=3) / 4000
    shares = np.array([0.5, 5.5, 20.5]) / 26.5
    # The row left out is the last of three: the chance of each order is a product of shares of what is left.
    expected = [
        shares[b] * shares[a] / (1 - shares[b]) + shares[a] * shares[b] / (1 - shares[a])
        for a, b in ((1, 2), (0, 2), (0, 1))
    ]
    assert np.allclose(missing, expected, atol=4 * 0.5 / math.sqrt(4000))


def test_every_row_is_drawn_once_where_all_are_drawn_without_replacement():
    rows, counts = Draws(numbered(50), 50, seed=0, replace=False).counts(4)
    assert rows.tolist() == list(range(50))
    assert set(counts.tolist()) == {1}


def test_trees_and_seeds_draw_other_rows():
    draws = Draws(numbered(200), 200, seed=0)
    others = [draws.counts(0), draws.counts(1), Draws(numbered(200), 200, seed=1).counts(0)]
    assert len({(rows.tobytes(), counts.tobytes()) for rows, counts in others}) == 3


def test_a_draw_does_not_depend_on_how_many_are_drawn():
    few, more = Draws(numbered(60), 20, seed=0), Draws(numbered(60), 50, seed=0)
    counts = np.zeros((2, 60), int)
    for at, draws in enumerate((few, more)):
        rows, times = draws.counts(3)
        counts[at, rows] = times
    assert (counts[0] <= counts[1]).all()


def test_weights_of_one_are_no_weights():
    plain, ones = Draws(numbered(77), 77, seed=0), Draws(numbered(77), 77, seed=0, weights=np.ones(77))
    assert all(np.array_equal(a, b) for a, b in zip(plain.counts(5), ones.counts(5), strict=True))


def test_a_scale_of_shares_changes_no_draw():
    weights = np.random.default_rng(0).random(40) + 0.01
    for scale in (2.0**-40, 2.0**1000):
        for replace in (True, False):
            first = Draws(numbered(40), 30, 0, weights=weights, replace=replace).counts(2)
            second = Draws(numbered(40), 30, 0, weights=weights * scale, replace=replace).counts(2)
            assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_weights_of_any_size_are_drawn_from():
    weights = np.array([5e-324, 1e-300, 1.0, 1e300, 1.7e308])
    for replace in (True, False):
        rows, counts = Draws(numbered(5), 5, 0, weights=weights, replace=replace).counts(0)
        assert int(counts.sum()) == 5
    assert len(rows) == 5


def test_chances_that_are_too_small_to_compare_are_drawn_last_and_not_too_often():
    weights = np.array([5e-324, 1.7e308, 5e-324, 1e308, 5e-324])
    rows, counts = Draws(numbered(5), 3, 0, weights=weights, replace=False).counts(0)
    assert {1, 3} < set(rows.tolist())
    assert counts.tolist() == [1, 1, 1]


def test_padding_does_not_count():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (30, 16)).astype(np.uint8)
    target = np.zeros((30, 1), np.int32)
    other = codes.copy()
    other[:, 11:] = rng.integers(0, 255, (30, 5))
    order = row_order(codes, target, n_columns=11)
    assert np.array_equal(order, row_order(other, target, n_columns=11))
    assert np.array_equal(order, row_order(np.asfortranarray(codes[:, :11]), target))


def test_cells_count_where_trees_are_grown_on_them():
    codes, target = np.zeros((40, 8), np.uint8), np.zeros((40, 1))
    matrix = np.random.default_rng(0).choice([0.0, -0.0, np.nan, 1.0, 2.0], (40, 2))
    mixed = np.random.default_rng(1).permutation(40)
    first = matrix[row_order(codes, target, matrix=matrix)]
    second = matrix[mixed][row_order(codes, target, matrix=matrix[mixed])]
    assert np.array_equal(first, second, equal_nan=True)


def test_missing_cells_are_alike_however_they_are_stored():
    bits = 0x7FF8000000000000 + np.arange(20, dtype=np.uint64)
    matrix = np.concatenate([bits, bits + np.uint64(2**63)]).view(np.float64)[:, None]
    assert row_order(np.zeros((40, 8), np.uint8), np.zeros((40, 1)), matrix=matrix).tolist() == list(range(40))


def test_tables_without_columns_keep_their_order():
    assert row_order(np.empty((3, 0), np.uint8), np.zeros((3, 1))).tolist() == [0, 1, 2]


def test_whole_weights_count_rows_up_to_sixteen_each():
    assert counts_of_rows(np.array([16.0, 16.0])).tolist() == [16, 16]
    assert counts_of_rows(np.array([17.0, 16.0])) is None
    assert counts_of_rows(np.array([0.5, 1.0])) is None
    assert counts_of_rows(None) is None


@pytest.mark.parametrize(
    ("max_samples", "weights", "expected"),
    [
        (None, None, 4),
        (3, None, 3),
        (0.6, None, 2),
        (0.01, None, 1),
        (1.0, None, 4),
        (None, [2.0, 1.0, 1.0, 5.0], 9),
        (0.5, [2.0, 2.0, 1.0, 5.0], 5),
        (None, [0.5, 1.0, 1.0, 5.0], 4),
        (None, [1e6, 1.0, 1.0, 5.0], 4),
        (np.int64(2), None, 2),
    ],
)
def test_number_of_draws(max_samples, weights, expected):
    assert number_of_draws(max_samples, 4, None if weights is None else np.array(weights)) == expected


@pytest.mark.parametrize("max_samples", [0, -1, 5, 0.0, 1.5, -0.1, math.nan, True, "many"])
def test_other_numbers_of_draws_are_refused(max_samples):
    with pytest.raises(ParameterError, match="max_samples="):
        number_of_draws(max_samples, 4)


def test_more_draws_than_rows_are_refused_without_replacement():
    with pytest.raises(ParameterError, match="at most 4"):
        Draws(numbered(4), 5, 0, replace=False)
    with pytest.raises(ParameterError, match="lower max_samples"):
        Draws(numbered(4), 2**31, 0)


def test_rows_without_some_are_the_others():
    assert rows_without(np.array([1, 3], np.int32), 5).tolist() == [0, 2, 4]


def test_columns_of_a_tree_are_distinct_and_each_is_drawn_evenly():
    n_trees = 2000
    drawn = np.zeros(7)
    for tree in range(n_trees):
        columns = candidate_columns(0, tree, 7, 3)
        assert len(set(columns.tolist())) == 3
        drawn[columns] += 1
    assert np.allclose(drawn / n_trees, 3 / 7, atol=4 * 0.5 / math.sqrt(n_trees))


def test_seeds_of_trees_are_the_same_from_wherever_one_starts():
    seeds = seeds_of(11, 0, 10)
    assert np.array_equal(seeds_of(11, 4, 6), seeds[4:])
    assert len(np.unique(seeds)) == 30
