"""Summaries of columns, bins and cuts."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.data.bins import Bins, bins_of, cuts_of, merge, middle_of, summary_of, whole_weights
from treewright.data.schema import Column, Schema
from treewright.exceptions import ParameterError

LARGEST = np.finfo(np.float64).max
NO_WEIGHTS = np.empty(0, np.int64)


def numeric(p: int) -> Schema:
    return Schema(tuple(Column(f"x{at}", "numeric") for at in range(p)), named=False)


def arrays_of(bins: Bins) -> dict[str, bytes]:
    return {name: value.tobytes() for name, value in vars(bins).items()}


@pytest.mark.parametrize("max_bins", [0, 1, 256, -5, 2.0, "9", None, True])
def test_max_bins_outside_2_to_255_is_refused(max_bins):
    with pytest.raises(ParameterError, match="max_bins"):
        bins_of(np.zeros((2, 1)), numeric(1), max_bins=max_bins)


def test_any_whole_number_type_serves_as_max_bins():
    assert bins_of(np.arange(9.0)[:, None], numeric(1), max_bins=np.int8(4)).n_bins.tolist() == [4]


@pytest.mark.parametrize("kind", ["numeric", "ordinal", "nominal"])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_column_without_values_has_no_bins(kind, n):
    bins = bins_of(np.full((n, 1), np.nan), Schema((Column("x", kind, ("a", "b")),)))
    assert bins.n_bins.tolist() == [0]
    assert len(bins.lowest) == 0
    assert bins.level_bin.tolist() == ([0, 0, 0] if kind == "nominal" else [])
    assert cuts_of(bins)[0].tolist() == [0, 0]


def test_a_table_without_columns_has_no_bins():
    bins = bins_of(np.empty((3, 0)), numeric(0))
    assert (bins.n_columns, bins.start.tolist(), bins.level_start.tolist()) == (0, [0], [0])


def test_types_are_the_declared_ones():
    schema = Schema((Column("x", "numeric"), Column("c", "nominal", (1, 2))))
    bins = bins_of(np.array([[1, 0]], np.float32), schema)
    kinds = [value.dtype.name for value in vars(bins).values()]
    assert kinds == ["bool", "int32", "int64", "float64", "float64", "int64", "uint8"]


def test_minus_zero_is_zero():
    bins = bins_of(np.array([[-0.0], [0.0], [-0.0]]), numeric(1))
    assert bins.lowest.tobytes() == bins.highest.tobytes() == np.zeros(1).tobytes()
    many = np.concatenate((np.arange(2000.0), [-0.0, 0.0]))[:, None]
    assert not np.signbit(bins_of(many, numeric(1)).lowest).any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_order_and_threads_change_nothing(dtype):
    rng = np.random.default_rng(3)
    matrix = np.where(rng.random((3000, 21)) < 0.1, np.nan, rng.normal(size=(3000, 21))).astype(dtype)
    matrix[:, 4] = np.rint(matrix[:, 4])
    padded = np.zeros((6000, 42), dtype)
    padded[::2, ::2] = matrix
    read_only = matrix.copy()
    read_only.flags.writeable = False
    weights = rng.random(3000)
    expected = arrays_of(bins_of(matrix, numeric(21), weights))
    turned = np.ascontiguousarray(matrix[::-1])[::-1]
    for other in (np.asfortranarray(matrix), padded[::2, ::2], read_only, turned):
        for n_threads in (1, 2, 5):
            assert arrays_of(bins_of(other, numeric(21), weights, n_threads=n_threads)) == expected


def test_float32_cells_have_the_bins_of_the_same_numbers_in_float64():
    matrix = np.random.default_rng(0).normal(size=(5000, 3)).astype(np.float32)
    assert arrays_of(bins_of(matrix, numeric(3))) == arrays_of(bins_of(matrix.astype(np.float64), numeric(3)))


def test_rows_of_weight_zero_do_not_count():
    matrix = np.random.default_rng(0).normal(size=(5000, 2))
    weights = np.random.default_rng(1).integers(0, 3, 5000).astype(float)
    kept = weights > 0
    expected = arrays_of(bins_of(matrix[kept], numeric(2), weights[kept]))
    assert arrays_of(bins_of(matrix, numeric(2), weights)) == expected
    assert bins_of(matrix, numeric(2), np.zeros(5000)).n_bins.tolist() == [0, 0]


def test_given_weights_and_cells_are_left_as_they_are():
    matrix, weights = np.array([[-0.0], [3.0]]), np.array([1.5, 2.0])
    before = matrix.tobytes(), weights.tobytes()
    bins_of(matrix, numeric(1), weights)
    assert (matrix.tobytes(), weights.tobytes()) == before


def test_levels_share_the_last_bin_beyond_254():
    codes = np.repeat(np.arange(300.0), np.where(np.arange(300) % 2, 2, 1))
    bins = bins_of(codes[:, None], Schema((Column("c", "nominal", tuple(range(301))),)))
    odd, even = bins.level_bin[1:300:2], bins.level_bin[0:300:2]
    assert bins.n_bins.tolist() == [254]
    assert len(set(odd.tolist())) == 150
    assert even[:103].max() < 253  # the lowest codes of equals
    assert (even[103:] == 253).all()
    assert bins.level_bin[300:].tolist() == [254, 254]  # without rows, and never seen


def test_an_ordinal_column_is_cut_like_a_numeric_one():
    bins = bins_of(np.array([[0.0], [2.0], [1.0]]), Schema((Column("o", "ordinal", ("a", "b", "c")),)))
    assert cuts_of(bins)[1].tolist() == [0.5, 1.5]
    assert not bins.is_nominal.any()


def test_middles_part_neighbours_and_do_not_overflow():
    low = np.array([1.0, 1e308, -LARGEST, -np.inf, -np.inf, LARGEST, 0.0, -5e-324, -1.0])
    high = np.array([1 + 2**-52, LARGEST, LARGEST, np.inf, -LARGEST, np.inf, 5e-324, 0.0, 1.0])
    middle = middle_of(low, high)
    assert ((low <= middle) & (middle < high)).all()
    assert middle[3] == 0.0
    assert not np.signbit(middle[[3, 6, 8]]).any()
    assert np.isfinite(np.delete(middle, 4)).all()


@pytest.mark.parametrize("weights", [None, "whole"])
@pytest.mark.parametrize("n_values", [1, 1024, 1025, 5000])
def test_a_summary_counts_each_distinct_value(n_values, weights):
    rng = np.random.default_rng(n_values)
    cells = np.concatenate((rng.permutation(n_values), rng.integers(0, n_values, 3000))) / 7.0
    cells = rng.permutation(np.where(rng.random(len(cells)) < 0.01, np.nan, cells))
    whole = NO_WEIGHTS if weights is None else rng.integers(0, 4, len(cells))
    summary = summary_of(cells, whole)
    each = np.ones(len(cells), np.int64) if weights is None else whole
    counted = each * ~np.isnan(cells)
    values, place = np.unique(cells[counted > 0], return_inverse=True)
    assert summary.values.tolist() == values.tolist()
    assert summary.weights.tolist() == np.bincount(place, counted[counted > 0]).tolist()


def test_merged_summaries_are_the_summary_of_all_rows():
    cells = np.random.default_rng(5).integers(0, 30_000, 40_000) / 3.0
    parts = [summary_of(part, NO_WEIGHTS) for part in np.split(cells, 4)]
    expected = summary_of(cells, NO_WEIGHTS)
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        merged = summary_of(np.empty(0), NO_WEIGHTS)
        for at in order:
            merged = merge(merged, parts[at])
        assert merged.values.tolist() == expected.values.tolist()
        assert merged.weights.tolist() == expected.weights.tolist()


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 0.1, 1.0, 1e300, 1.7e308])
def test_weights_as_integers_add_up_to_less_than_2_to_53(scale):
    weights = np.array([1.0, 0.5, 0.0, 1e-9]) * scale
    whole = whole_weights(weights)
    assert whole.dtype == np.int64
    assert 2**48 < sum(whole.tolist()) < 2**53
    assert (whole > 0).tolist() == (weights > 0).tolist()


def test_whole_weights_stay_whole():
    assert whole_weights(np.array([1.0, 5.0, 0.0])).tolist() == [1, 5, 0]
    assert whole_weights(None).tolist() == []
