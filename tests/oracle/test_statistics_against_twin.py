"""Ordered target statistics are those of the slow twin, and so are their bins."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from naive_bins import naive_bin, naive_bins, naive_middle
from naive_statistics import naive_mix, naive_statistics
from rotating import few

from treewright.boosting.rounds import BoostTable
from treewright.boosting.sampling import keys_of
from treewright.boosting.statistics import level_means, with_ordered_statistics
from treewright.core.random import mixed
from treewright.data.bin_rows import bin_rows
from treewright.data.bins import bins_of
from treewright.data.schema import Column, Schema


@pytest.mark.parametrize("weighted", ["none", "whole", "any"])
@pytest.mark.parametrize("n_permutations", [1, 3])
def test_means_are_those_of_the_twin(weighted, n_permutations):
    for seed in few(range(25)):
        rng = np.random.default_rng(seed)
        n, n_levels = int(rng.integers(1, 40)), int(rng.integers(1, 9))
        levels = rng.integers(-1, n_levels + 1, n).astype(np.int32)
        target = rng.normal(5.0, 3.0, n)
        weights = None
        if weighted != "none":
            weights = rng.integers(1, 5, n).astype(float) * (1.0 if weighted == "whole" else 0.3)
        prior_weight = float(rng.choice([0.0, 1.0, 7.5]))

        found = level_means(
            levels, n_levels, target, weights, prior_weight=prior_weight, n_permutations=n_permutations, seed=seed
        )

        relative = np.ones(n) if weights is None else weights
        relative = relative / relative.mean() if weighted == "any" and (relative % 1).any() else relative
        values, final, prior = naive_statistics(
            levels.tolist(), n_levels, target.tolist(), relative.tolist(), prior_weight, n_permutations, seed
        )
        as_numbers = [np.array([np.nan if x is None else x - prior for x in some]) for some in (values, final)]
        np.testing.assert_allclose(found.values, as_numbers[0], rtol=0, atol=1e-12, err_msg=f"seed {seed}")
        np.testing.assert_allclose(found.final, as_numbers[1], rtol=0, atol=1e-12, err_msg=f"seed {seed}")


def test_keys_of_the_order_are_those_of_the_twin():
    keys = keys_of(np.arange(50, dtype=np.uint64), mixed(2**64 - 3, 2))

    state = naive_mix(2**64 - 3, 2)
    assert keys.tolist() == [naive_mix(state, row) for row in range(50)]


def test_bins_are_cut_from_values_of_rows_and_levels_together():
    for seed in few(range(20)):
        rng = np.random.default_rng(seed)
        n, n_levels, max_bins = int(rng.integers(1, 60)), int(rng.integers(1, 12)), int(rng.integers(2, 9))
        cells = np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, n_levels, n))
        schema = Schema((Column("c", "nominal", tuple(range(n_levels))),))
        target = rng.integers(0, 2, n)
        table = BoostTable(bins_of(cells[:, None], schema), schema, np.zeros(1, bool))

        new, codes = with_ordered_statistics(
            table,
            bin_rows(table.bins, cells[:, None]),
            cells[:, None],
            np.array([0]),
            target,
            max_bins=max_bins,
            seed=seed,
        )

        means = level_means(np.where(np.isnan(cells), -1, cells).astype(np.int32), n_levels, target, seed=seed)
        seen = ~np.isnan(means.final)
        groups = naive_bins(
            [*means.values.tolist(), *means.final[seen].tolist()],
            [*[Fraction(1)] * n, *map(Fraction, means.counts[seen].tolist())],
            max_bins,
        )
        cuts = [naive_middle(low[-1], high[0]) for low, high in pairwise(groups)]
        assert new.bins.n_bins.tolist() == [len(groups)]
        assert codes[:, 0].tolist() == [naive_bin(x, cuts) for x in means.values.tolist()]
        of_levels = [naive_bin(x, cuts) if known else len(groups) for x, known in zip(means.final, seen, strict=True)]
        assert new.bins.level_bin.tolist() == [*of_levels, len(groups)]
