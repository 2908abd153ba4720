"""Bins of columns and rows are those of the slow twin."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from naive_bins import naive_bin, naive_bins, naive_level_bins, naive_middle
from rotating import few

from treewright.data.bin_rows import bin_rows
from treewright.data.bins import bins_of, cuts_of
from treewright.data.schema import Column, Schema

LARGEST = np.finfo(np.float64).max
ODD = (-np.inf, -LARGEST, -1e308, -1.0, -5e-324, -0.0, 0.0, 5e-324, 2.3e-308, 1.0, 1.0 + 2**-52, 1e308, LARGEST, np.inf)
SHAPES = ("distinct", "few", "zeros", "heavy ones", "odd", "gaps between heavy ones")
WEIGHTS = ("none", "whole", "some zero", "quarters")


def draw_column(rng: np.random.Generator, shape: str, n: int) -> np.ndarray:
    if shape == "distinct":
        cells = rng.permutation(n).astype(float)
    elif shape == "few":
        cells = rng.integers(0, rng.integers(1, 12), n).astype(float)
    elif shape == "zeros":
        cells = np.where(rng.random(n) < rng.choice([0.3, 0.9]), 0.0, rng.normal(size=n))
    elif shape == "heavy ones":
        cells = np.where(rng.random(n) < 0.5, rng.integers(-3, 4, n), rng.normal(size=n))
    elif shape == "odd":
        cells = rng.choice(ODD, n)
    else:  # single cells between values that are heavy
        cells = np.where(rng.random(n) < 0.9, 2 * rng.integers(0, 6, n), rng.integers(0, 12, n)).astype(float)
    return np.where(rng.random(n) < rng.choice([0.0, 0.2]), np.nan, cells)


def draw_weights(rng: np.random.Generator, kind: str, n: int) -> np.ndarray | None:
    if kind == "none":
        return None
    return rng.integers(0 if kind == "some zero" else 1, 6, n) / (4.0 if kind == "quarters" else 1.0)


def fractions(weights: np.ndarray | None, n: int) -> list[Fraction]:
    return [Fraction(1)] * n if weights is None else [Fraction(weight) for weight in weights.tolist()]


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_numeric_bins_and_their_cuts_are_those_of_the_twin(shape, kind):
    for seed in few(range(40), 10):
        rng = np.random.default_rng(seed)
        n, max_bins = int(rng.integers(0, 60)), int(rng.integers(2, 16))
        cells, weights = draw_column(rng, shape, n), draw_weights(rng, kind, n)
        schema = Schema((Column("x", "numeric"),))

        bins = bins_of(cells[:, None], schema, weights, max_bins=max_bins)
        cuts = cuts_of(bins)[1].tolist()

        expected = naive_bins(cells.tolist(), fractions(weights, n), max_bins)
        assert bins.lowest.tolist() == [group[0] for group in expected], f"seed {seed}"
        assert bins.highest.tolist() == [group[-1] for group in expected], f"seed {seed}"
        assert cuts == [naive_middle(low[-1], high[0]) for low, high in pairwise(expected)], f"seed {seed}"
        above = [math.nextafter(cut, math.inf) for cut in cuts]
        probes = np.array([*cells, *cuts, *above, *ODD, *rng.normal(size=5) * 9, np.nan])
        assert bin_rows(bins, probes[:, None])[:, 0].tolist() == [naive_bin(x, cuts) for x in probes], f"seed {seed}"


@pytest.mark.parametrize("kind", WEIGHTS)
def test_bins_of_levels_are_those_of_the_twin(kind):
    for seed in few(range(40), 10):
        rng = np.random.default_rng(seed)
        n, n_levels, max_bins = int(rng.integers(0, 60)), int(rng.integers(0, 20)), int(rng.integers(2, 16))
        cells = np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, max(n_levels, 1), n))
        cells = cells if n_levels else np.full(n, np.nan)
        weights = draw_weights(rng, kind, n)
        schema = Schema((Column("x", "nominal", tuple(range(n_levels))),))

        bins = bins_of(cells[:, None], schema, weights, max_bins=max_bins)

        expected, n_bins = naive_level_bins(cells.tolist(), fractions(weights, n), n_levels, max_bins)
        assert bins.level_bin.tolist() == expected, f"seed {seed}"
        assert bins.n_bins.tolist() == [n_bins], f"seed {seed}"
        probes = np.array([*range(n_levels + 1), np.nan])
        assert bin_rows(bins, probes[:, None])[:, 0].tolist() == [*expected, 255]


@pytest.mark.parametrize("n_levels", [254, 255, 256, 1000])
def test_more_levels_than_bins_are_those_of_the_twin(n_levels):
    rng = np.random.default_rng(n_levels)
    cells = np.concatenate((np.arange(n_levels), rng.integers(0, n_levels, 500))).astype(float)
    bins = bins_of(cells[:, None], Schema((Column("x", "nominal", tuple(range(n_levels))),)))
    expected, n_bins = naive_level_bins(cells.tolist(), fractions(None, len(cells)), n_levels, 255)
    assert (bins.level_bin.tolist(), bins.n_bins.tolist()) == (expected, [n_bins])
    assert n_bins == 254
