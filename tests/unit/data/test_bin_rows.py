"""Rows as bin numbers."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from treewright.data.bin_rows import bin_block, bin_rows, tables_of
from treewright.data.bins import bins_of, cuts_of
from treewright.data.schema import Column, Schema


def numeric(p: int) -> Schema:
    return Schema(tuple(Column(f"x{at}", "numeric") for at in range(p)), named=False)


def table(n: int, p: int) -> np.ndarray:
    rng = np.random.default_rng(n + p)
    matrix = np.where(rng.random((n, p)) < 0.1, np.nan, rng.normal(size=(n, p)))
    matrix[:, ::3] = np.rint(matrix[:, ::3])
    return matrix


@pytest.mark.parametrize(("p", "stride"), [(0, 0), (1, 8), (7, 8), (8, 8), (9, 16), (28, 32)])
def test_a_row_is_a_multiple_of_eight_bytes_with_zeros_behind(p, stride):
    matrix = table(40, p)
    binned = bin_rows(bins_of(matrix, numeric(p)), matrix)
    assert binned.shape == (40, stride)
    assert binned.dtype == np.uint8
    assert binned.flags.c_contiguous
    assert not binned[:, p:].any()


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 8191, 8193, 20_000])
def test_a_bin_is_how_many_cuts_lie_below(n):
    matrix = table(n, 5)
    bins = bins_of(matrix, numeric(5))
    cut_start, cuts = cuts_of(bins)
    binned = bin_rows(bins, matrix, 2)
    for column in range(5):
        expected = np.searchsorted(cuts[cut_start[column] : cut_start[column + 1]], matrix[:, column])
        assert (binned[:, column] == np.where(np.isnan(matrix[:, column]), 255, expected)).all()


@pytest.mark.parametrize("max_bins", [2, 3, 4, 5, 127, 128, 129, 254, 255])
def test_every_number_of_bins_is_searched_right(max_bins):
    matrix = np.random.default_rng(max_bins).permutation(3000)[:, None].astype(float)
    bins = bins_of(matrix, numeric(1), max_bins=max_bins)
    cuts = cuts_of(bins)[1]
    probes = np.concatenate((matrix[:, 0], cuts, np.nextafter(cuts, np.inf), [-np.inf, np.inf]))
    assert (bin_rows(bins, probes[:, None])[:, 0] == np.searchsorted(cuts, probes)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_order_and_threads_change_nothing(dtype):
    matrix = table(9000, 11).astype(dtype)
    bins = bins_of(table(5000, 11), numeric(11))
    padded = np.zeros((18_000, 22), dtype)
    padded[::2, ::2] = matrix
    read_only = matrix.copy()
    read_only.flags.writeable = False
    shifted = np.frombuffer(b"x" + matrix.tobytes(), np.uint8)[1:].view(dtype).reshape(matrix.shape)
    expected = bin_rows(bins, matrix).tobytes()
    for other in (np.asfortranarray(matrix), padded[::2, ::2], read_only, shifted, matrix[::-1].copy()[::-1]):
        for n_threads in (1, 2, 5):
            assert bin_rows(bins, other, n_threads).tobytes() == expected


def test_float32_cells_are_compared_as_float64():
    matrix = table(3000, 4)
    bins = bins_of(matrix, numeric(4))
    cells = np.concatenate((matrix, cuts_of(bins)[1][:40].reshape(10, 4))).astype(np.float32)
    assert bin_rows(bins, cells).tobytes() == bin_rows(bins, cells.astype(np.float64)).tobytes()


def test_a_value_in_a_column_without_values_has_bin_0():
    bins = bins_of(np.full((3, 1), np.nan), numeric(1))
    cells = np.array([[-np.inf], [0.0], [1e308], [np.nan]])
    assert bin_rows(bins, cells)[:, 0].tolist() == [0, 0, 0, 255]
    nominal = bins_of(np.full((3, 1), np.nan), Schema((Column("c", "nominal"),)))
    assert bin_rows(nominal, np.array([[0.0], [np.nan]]))[:, 0].tolist() == [0, 255]


def test_a_constant_column_has_one_bin():
    bins = bins_of(np.full((3, 1), 7.0), numeric(1))
    assert bin_rows(bins, np.array([[-np.inf], [7.0], [np.inf], [np.nan]]))[:, 0].tolist() == [0, 0, 0, 255]


def test_any_code_beyond_the_levels_is_a_level_never_seen():
    schema = Schema((Column("x", "numeric"), Column("c", "nominal", ("a", "b", "c")), Column("d", "nominal", ("a",))))
    bins = bins_of(np.array([[1.0, 2.0, 0.0], [2.0, 0.0, 0.0]]), schema)
    codes = np.array([0.0, 1.0, 2.0, 3.0, 4.0, -1.0, 1e300, -np.inf, np.inf, np.nan])
    cells = np.stack((codes, codes, codes), axis=1)
    assert bin_rows(bins, cells)[:, 1].tolist() == [0, 2, 1, 2, 2, 2, 2, 2, 2, 255]
    assert bin_rows(bins, cells)[:, 2].tolist() == [0, 1, 1, 1, 1, 1, 1, 1, 1, 255]


def test_the_inner_piece_leaves_what_lies_behind_the_columns():
    matrix = table(300, 3)
    bins = bins_of(matrix, numeric(3))
    out = np.full((300, 8), 77, np.uint8)
    bin_block(matrix, tables_of(bins), out)
    assert (out[:, :3] == bin_rows(bins, matrix)[:, :3]).all()
    assert (out[:, 3:] == 77).all()


def test_tables_are_made_once_and_go_with_their_bins():
    bins = bins_of(table(50, 3), numeric(3))
    assert tables_of(bins) is tables_of(bins)
    gone = weakref.ref(bins)
    del bins
    gc.collect()
    assert gone() is None
