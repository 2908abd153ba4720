"""However a column's cuts are searched, a cell's bin is the number of cuts below it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from treewright.data import bin_rows as searched
from treewright.data.bin_rows import bin_columns, bin_rows, tables_of
from treewright.data.bins import Bins, bins_of, cuts_of
from treewright.data.schema import Column, Schema

SPREADS = {
    "even": lambda rng, n: rng.random(n),
    "normal": lambda rng, n: rng.normal(size=n),
    "far from 0": lambda rng, n: 1e15 + np.round(rng.normal(size=n) * 300),
    "skewed": lambda rng, n: np.exp(rng.normal(size=n)),
    "very skewed": lambda rng, n: np.exp(rng.normal(size=n) * 6),
    "two heaps": lambda rng, n: np.where(rng.random(n) < 0.5, rng.random(n), 1e6 + rng.random(n)),
    "three looks": lambda rng, n: np.where(rng.random(n) < 0.8, rng.random(n) * 0.017, rng.random(n)),
    "neighbours": lambda rng, n: 1.0 + rng.integers(0, 300, n) * 2.0**-52,
    "smallest": lambda rng, n: rng.integers(-200, 200, n) * 5e-324,
    "largest": lambda rng, n: rng.uniform(-1, 1, n) * 1.7e308,
    "few": lambda rng, n: rng.integers(0, 6, n).astype(float),
    "with infinities": lambda rng, n: np.concatenate((rng.normal(size=n - 200), np.repeat([-np.inf, np.inf], 100))),
}
BINS = (2, 3, 9, 64, 255)


def one_column(cells: np.ndarray, max_bins: int) -> Bins:
    """Bins of a single column of numbers."""
    return bins_of(cells.reshape(-1, 1), Schema((Column("x", "numeric", missing_seen=True),)), max_bins=max_bins)


def asked(rng: np.random.Generator, bins: Bins, cells: np.ndarray) -> np.ndarray:
    """Cells, the cuts, their neighbours, values far away, and a missing one."""
    cuts = cuts_of(bins)[1]
    beyond = np.array([-np.inf, np.inf, -1.7e308, 1.7e308, 0.0, -0.0, 5e-324, -5e-324, np.nan])
    near = (np.nextafter(cuts, -np.inf), cuts, np.nextafter(cuts, np.inf))
    return rng.permutation(np.concatenate((cells[:500], *near, beyond)))


@pytest.mark.parametrize("max_bins", BINS)
@pytest.mark.parametrize("spread", SPREADS)
def test_a_bin_is_the_number_of_cuts_below(spread: str, max_bins: int) -> None:
    rng = np.random.default_rng(max_bins)
    cells = SPREADS[spread](rng, 4000)
    bins = one_column(cells, max_bins)
    cuts = cuts_of(bins)[1].tolist()
    for dtype in (np.float64, np.float32):
        with np.errstate(over="ignore"):
            rows = asked(rng, bins, cells).astype(dtype)
        expected = [255 if math.isnan(x) else sum(cut < x for cut in cuts) for x in rows.astype(np.float64).tolist()]
        assert bin_rows(bins, rows.reshape(-1, 1))[:, 0].tolist() == expected


def test_the_spreads_are_searched_in_every_way() -> None:
    found = set()
    for spread in SPREADS.values():
        columns = tables_of(one_column(spread(np.random.default_rng(255), 4000), 255)).columns
        found.add((bool(columns[0, 0] == searched._ON_GRID), int(columns[0, 3])))
    assert {(False, 0), (True, 1)} <= found
    assert any(looks > 1 for _, looks in found)


def test_bins_column_by_column_are_those_of_the_rows_turned() -> None:
    rng = np.random.default_rng(5)
    matrix = np.column_stack([spread(rng, 1300) for spread in SPREADS.values()])
    matrix[rng.random(matrix.shape) < 0.1] = np.nan
    bins = bins_of(matrix, Schema(tuple(Column(f"x{at}", "numeric") for at in range(matrix.shape[1]))))
    for n in (0, 1, 300, 1300):
        columns = np.full((matrix.shape[1], 1400), 77, np.uint8)
        bin_columns(bins, matrix[:n], columns)
        assert (columns[:, :n] == bin_rows(bins, matrix[:n])[:, : matrix.shape[1]].T).all()
        assert (columns[:, n:] == 77).all()
