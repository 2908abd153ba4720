"""Columns of many values are summed up in cells, which depend on the values and their weights alone."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treewright.data import bins as bins_module
from treewright.data.bins import Cells, ColumnSummary, Gathered, bins_of, cuts_of
from treewright.data.schema import Column, Schema

NO_WEIGHTS = np.empty(0, np.int64)
ONE = Schema((Column("x", "numeric"),))
numbers = st.one_of(
    st.floats(allow_nan=True),
    st.sampled_from([0.0, -0.0, 1.0, np.inf, -np.inf, 5e-324, -5e-324, 1.7976931348623157e308]),
    st.integers(-3, 3).map(float),
    st.integers(0, 40).map(lambda ulps: 1.0 + ulps * 2.0**-52),
)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """A block has 50 rows; of more than 8 values of a larger table not all are told apart."""
    monkeypatch.setattr(bins_module, "BLOCK_ROWS", 50)
    monkeypatch.setattr(bins_module, "MAX_ENTRIES", 8)
    monkeypatch.setattr(bins_module, "SHARES", 16)


def gathered_of(parts: list[tuple[np.ndarray, np.ndarray]], *, elsewhere: bool) -> tuple[ColumnSummary, int]:
    """What passes over all parts find, one after another or each by itself; and how many passes there were."""
    gathered, n_passes = Gathered(), 0
    others = [Gathered() for _ in parts]
    while True:
        n_passes += 1
        if elsewhere:
            for other, part in zip(others, parts, strict=True):
                other.add(*part)
                gathered.join(other)
        else:
            for part in parts:
                gathered.add(*part)
        if not gathered.refine():
            return gathered.summary(), n_passes
        others = [gathered.emptied() for _ in parts]


def naive_key(x: float) -> int:
    bits = struct.unpack("<Q", struct.pack("<d", x + 0.0))[0]
    return 2**64 - 1 - bits if bits >> 63 else bits + 2**63


def naive_cells(cells: list[float], weights: list[int], shares: int) -> list[tuple[float, float, int]]:
    """Lowest, highest and weight of each cell: divided as long as one is heavy and holds several values."""
    rows = [(naive_key(x), x + 0.0, w) for x, w in zip(cells, weights, strict=True) if not math.isnan(x) and w]
    total = sum(w for _, _, w in rows)

    def parts(rows, first, shift):
        by_place = {}
        for key, x, w in rows:
            by_place.setdefault((key - first) >> shift, []).append((key, x, w))
        for place in sorted(by_place):
            own = sorted(by_place[place])
            low, high, weight = own[0][0], own[-1][0], sum(w for _, _, w in own)
            if low == high or weight <= total // shares:
                yield own[0][1], own[-1][1], weight
            else:
                bits = min((weight // max(total // shares, 1)).bit_length() + 2, 16)
                yield from parts(own, low, max(0, (high - low).bit_length() - bits))

    return list(parts(rows, 0, 48))


@given(st.lists(st.tuples(numbers, st.integers(0, 9)), min_size=1, max_size=200))
def test_cells_are_those_of_the_twin(rows):
    values, weights = np.array([x for x, _ in rows]), np.array([w for _, w in rows])
    cells = Cells()
    cells.add(values, weights)
    while cells.refine():
        cells.add(values, weights)
    found = cells.summary()
    expected = naive_cells(values.tolist(), weights.tolist(), bins_module.SHARES)
    assert list(zip(found.lowest.tolist(), found.values.tolist(), found.weights.tolist(), strict=True)) == expected


@given(
    st.lists(numbers, min_size=51, max_size=300), st.integers(1, 6), st.booleans(), st.randoms(use_true_random=False)
)
def test_a_summary_knows_no_order_and_no_parts(cells, n_parts, weighted, random):
    weights = [random.randint(0, 5) for _ in cells] if weighted else []
    order = list(range(len(cells)))
    random.shuffle(order)
    values, whole = np.array(cells), np.array(weights, np.int64)
    expected, n_passes = gathered_of([(values, whole)], elsewhere=False)
    shuffled = values[order], whole[order] if weighted else NO_WEIGHTS
    cuts = sorted(random.choices(range(len(cells) + 1), k=n_parts - 1))
    parts = list(
        zip(
            np.split(shuffled[0], cuts),
            np.split(shuffled[1], cuts) if weighted else [NO_WEIGHTS] * n_parts,
            strict=True,
        )
    )
    for elsewhere in (False, True):
        found, n_found = gathered_of(parts, elsewhere=elsewhere)
        assert n_found == n_passes
        assert [each.tobytes() for each in found] == [each.tobytes() for each in expected]


@pytest.mark.parametrize("made", ["normal", "steep", "narrow", "ties", "outliers"])
def test_bins_of_cells_hold_about_equal_weight_whatever_the_order(monkeypatch, made):
    monkeypatch.setattr(bins_module, "SHARES", 2**15)
    rng = np.random.default_rng(1)
    n = 60_000
    cells = {
        "normal": rng.normal(size=n),
        "steep": rng.lognormal(sigma=5.0, size=n),
        "narrow": 1.7e9 + 3e7 * rng.random(n),
        "ties": np.where(rng.random(n) < 0.5, rng.integers(0, 9, n), rng.normal(size=n)),
        "outliers": np.where(rng.random(n) < 0.001, 1e300, rng.normal(size=n)),
    }[made]
    bins = bins_of(cells[:, None], ONE)
    shuffled = bins_of(rng.permutation(cells)[:, None], ONE, n_threads=2)
    assert bins.lowest.tobytes() + bins.highest.tobytes() == shuffled.lowest.tobytes() + shuffled.highest.tobytes()
    assert set(bins.lowest.tolist()) | set(bins.highest.tolist()) <= set(cells.tolist())
    monkeypatch.setattr(bins_module, "MAX_ENTRIES", 2 * n)
    told_apart = bins_of(cells[:, None], ONE)
    ranked = np.sort(cells)
    ranks, expected = (np.searchsorted(ranked, cuts_of(each)[1], "right") for each in (bins, told_apart))
    assert len(ranks) == len(expected) == 254
    assert np.abs(ranks - expected).max() < 0.05 * n / 255


def test_few_values_of_a_large_table_are_told_apart():
    cells = np.repeat([1.0, 1.0 + 2**-52, 3.0], 100)
    found, n_passes = gathered_of([(cells, NO_WEIGHTS)], elsewhere=False)
    assert (found.values.tolist(), found.weights.tolist(), n_passes) == ([1.0, 1.0 + 2**-52, 3.0], [100] * 3, 1)


def test_a_value_is_found_whatever_its_bits(monkeypatch):
    monkeypatch.setattr(bins_module, "MAX_ENTRIES", 0)
    cells = np.repeat([1.0 + at * 2.0**-52 for at in range(3)] + [2.0, -1e300, np.inf], 20)
    found, n_passes = gathered_of([(cells, NO_WEIGHTS)], elsewhere=False)
    assert found.weights.tolist() == [20] * 6
    assert 1 < n_passes < 6
