"""Claims about nominal columns that are summed up in several blocks of rows."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.data import bins
from treewright.data.bin_rows import bin_rows
from treewright.data.bins import Gathered, bins_of
from treewright.data.schema import Column, Schema

N_LEVELS = 3000
SCHEMA = Schema((Column("c", "nominal", tuple(range(N_LEVELS))), Column("x", "numeric")))


@pytest.fixture
def few_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more than 600 values not all are told apart, and a block has 1,500 rows."""
    monkeypatch.setattr(bins, "MAX_ENTRIES", 600)
    monkeypatch.setattr(bins, "BLOCK_ROWS", 1500)


def table(n: int) -> np.ndarray:
    """Codes and numbers; the last 100 levels have no rows."""
    rng = np.random.default_rng(5)
    codes = np.concatenate((np.arange(N_LEVELS - 100), rng.integers(0, N_LEVELS - 100, n - N_LEVELS + 100)))
    return np.stack([rng.permutation(codes).astype(float), rng.normal(size=n)], axis=1)


def uneven(codes: np.ndarray) -> np.ndarray:
    """Weights: the rows of every other level weigh so little that cells would not tell them apart."""
    return np.where(codes % 2 == 1, 1.0, 1000.0)


@pytest.mark.parametrize("weighted", [False, True])
def test_bins_of_levels_do_not_depend_on_the_number_of_blocks(
    few_entries: None, monkeypatch: pytest.MonkeyPatch, weighted: bool
) -> None:
    del few_entries
    matrix = table(9000)
    weights = uneven(matrix[:, 0]) if weighted else None
    by_block = bins_of(matrix, SCHEMA, weights)
    monkeypatch.setattr(bins, "BLOCK_ROWS", 2**20)
    at_once = bins_of(matrix, SCHEMA, weights)
    assert by_block.level_bin.tobytes() == at_once.level_bin.tobytes()
    assert by_block.n_bins[0] == at_once.n_bins[0] == 254


def test_no_row_of_the_fit_has_the_bin_of_levels_without_rows(few_entries: None) -> None:
    del few_entries
    matrix = table(9000)
    bins = bins_of(matrix, SCHEMA, uneven(matrix[:, 0]))
    assert bin_rows(bins, matrix)[:, 0].max() == 253
    assert (bins.level_bin[N_LEVELS - 100 :] == 254).all()


def test_merged_codes_are_weighed_exactly(few_entries: None) -> None:
    del few_entries
    codes = table(9000)[:, 0]
    weights = uneven(codes).astype(np.int64)
    gathered = Gathered(is_nominal=True)
    for cells, of_cells in zip(np.array_split(codes, 6), np.array_split(weights, 6), strict=True):
        gathered.add(cells, of_cells)
    assert not gathered.refine()
    merged = gathered.summary()
    sums = np.bincount(codes.astype(np.int64), weights)
    assert merged.values.tolist() == np.flatnonzero(sums).tolist()
    assert merged.weights.tolist() == sums[sums > 0].tolist()
