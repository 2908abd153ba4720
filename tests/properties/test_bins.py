"""What must hold of every table's bins, on tables that Hypothesis makes up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.data import bins as bins_module
from treewright.data.bin_rows import bin_rows
from treewright.data.bins import MISSING_BIN, Bins, bins_of, cuts_of
from treewright.data.schema import Column, Schema

N_LEVELS = 9
SCHEMA = Schema((Column("x", "numeric"), Column("y", "numeric"), Column("c", "nominal", tuple(range(N_LEVELS)))))

anything = st.floats(allow_nan=True, allow_infinity=True)
few_values = st.sampled_from([-1e308, -1.0, -0.0, 0.0, 0.5, 1.0, np.inf, np.nan])
levels = st.one_of(st.just(np.nan), st.integers(0, N_LEVELS - 1).map(float))


@st.composite
def tables(draw, max_rows=70):
    """A table of two numeric columns and a nominal one, whole-number weights, and the most bins."""
    rows = draw(st.lists(st.tuples(anything, st.one_of(few_values, anything), levels), max_size=max_rows))
    matrix = np.array(rows, np.float64).reshape(len(rows), 3)
    weights = np.array(draw(st.lists(st.integers(1, 5), min_size=len(rows), max_size=len(rows))), np.float64)
    return matrix, weights, draw(st.integers(2, 20))


def arrays_of(bins: Bins) -> dict[str, bytes]:
    return {name: value.tobytes() for name, value in vars(bins).items()}


@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(table, random):
    matrix, weights, max_bins = table
    order = list(range(len(matrix)))
    random.shuffle(order)
    for factors in (weights, weights * 0.1, None):
        shuffled = None if factors is None else factors[order]
        first = bins_of(matrix, SCHEMA, factors, max_bins=max_bins)
        assert arrays_of(first) == arrays_of(bins_of(matrix[order], SCHEMA, shuffled, max_bins=max_bins))


@given(tables())
def test_a_row_of_weight_k_is_k_rows(table):
    matrix, weights, max_bins = table
    repeated = np.repeat(matrix, weights.astype(int), axis=0)
    weighted = bins_of(matrix, SCHEMA, weights, max_bins=max_bins)
    assert arrays_of(weighted) == arrays_of(bins_of(repeated, SCHEMA, max_bins=max_bins))


@given(tables())
def test_scaling_all_weights_by_a_power_of_two_changes_nothing(table):
    matrix, weights, max_bins = table
    first = bins_of(matrix, SCHEMA, weights, max_bins=max_bins)
    for factor in (2.0**-300, 0.25, 2.0**200):
        assert arrays_of(first) == arrays_of(bins_of(matrix, SCHEMA, weights * factor, max_bins=max_bins))


@given(tables())
def test_training_rows_lie_in_the_bin_that_holds_their_value(table):
    matrix, weights, max_bins = table
    bins = bins_of(matrix, SCHEMA, weights, max_bins=max_bins)
    binned = bin_rows(bins, matrix)
    for column in (0, 1):
        cells, found = matrix[:, column], binned[:, column]
        present = ~np.isnan(cells)
        assert (found[~present] == MISSING_BIN).all()
        at = bins.start[column] + found[present]
        assert (bins.lowest[at] <= cells[present]).all()
        assert (cells[present] <= bins.highest[at]).all()


@given(tables())
def test_there_are_at_most_max_bins_and_none_is_empty(table):
    matrix, weights, max_bins = table
    bins = bins_of(matrix, SCHEMA, weights, max_bins=max_bins)
    binned = bin_rows(bins, matrix)
    assert (bins.n_bins <= max_bins).all()
    for column in range(3):
        found = set(binned[:, column].tolist()) - {MISSING_BIN}
        assert found == set(range(bins.n_bins[column]))


@given(tables())
def test_few_distinct_values_have_a_bin_each(table):
    matrix, weights, _ = table
    bins = bins_of(matrix, SCHEMA, weights)
    for column in (0, 1):
        own = slice(bins.start[column], bins.start[column + 1])
        cells = matrix[:, column]
        assert bins.lowest[own].tolist() == sorted({cell + 0.0 for cell in cells[~np.isnan(cells)].tolist()})
        assert bins.lowest[own].tobytes() == bins.highest[own].tobytes()
        assert bins.n_bins[column] == own.stop - own.start


@given(tables())
def test_every_cut_parts_its_two_bins(table):
    matrix, weights, max_bins = table
    bins = bins_of(matrix, SCHEMA, weights, max_bins=max_bins)
    cut_start, cuts = cuts_of(bins)
    for column in range(3):
        own = cuts[cut_start[column] : cut_start[column + 1]]
        numbers = slice(bins.start[column], bins.start[column + 1])
        assert (bins.highest[numbers][:-1] <= own).all()
        assert (own < bins.lowest[numbers][1:]).all()


@given(st.integers(0, 5000), st.integers(2, 255), st.integers(0, 2**32 - 1))
def test_bins_of_equally_frequent_values_differ_by_at_most_one_row(n, max_bins, seed):
    matrix = np.random.default_rng(seed).permutation(n)[:, None].astype(np.float64)
    bins = bins_of(matrix, Schema((Column("x", "numeric"),)), max_bins=max_bins)
    counts = np.bincount(bin_rows(bins, matrix)[:, 0]) if n else np.ones(1)
    assert len(counts) == min(max(n, 1), max_bins)
    assert counts.max() - counts.min() <= 1


@given(st.integers(300, 3000), st.integers(0, 2**32 - 1), st.floats(0.05, 0.95), st.sampled_from([-1, 0, 1]))
def test_a_heavy_value_is_alone_and_leaves_the_bins_to_the_others(n, seed, share, side):
    rng = np.random.default_rng(seed)
    others = rng.normal(size=n)
    heavy = side * 100.0  # below, amid or above the others
    matrix = np.concatenate((others, np.full(int(n * share / (1 - share)) + n // 40, heavy)))[:, None]
    bins = bins_of(matrix, Schema((Column("x", "numeric"),)), max_bins=50)
    at = int(bin_rows(bins, np.array([[heavy]]))[0, 0])
    assert bins.lowest[at] == bins.highest[at] == heavy
    counts = np.delete(np.bincount(bin_rows(bins, matrix)[:, 0]), at)
    assert bins.n_bins[0] == 50
    assert counts.max() <= 2 * n / 49 + 2


@given(tables(), st.integers(1, 9))
def test_blocks_of_rows_change_nothing(table, block):
    matrix, weights, max_bins = table
    whole = bins_of(matrix, SCHEMA, weights, max_bins=max_bins)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bins_module, "BLOCK_ROWS", block)
        assert arrays_of(whole) == arrays_of(bins_of(matrix, SCHEMA, weights, max_bins=max_bins))


@given(tables(), st.integers(1, 3))
def test_a_block_of_rows_is_binned_like_each_row(table, n_threads):
    matrix, weights, max_bins = table
    bins = bins_of(matrix, SCHEMA, weights, max_bins=max_bins)
    together = bin_rows(bins, matrix, n_threads)
    for row in range(len(matrix)):
        assert together[row].tobytes() == bin_rows(bins, matrix[row : row + 1]).tobytes()
