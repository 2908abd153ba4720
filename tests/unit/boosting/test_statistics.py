"""Ordered target statistics: which columns change, what stays, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.boosting.rounds import BoostTable
from treewright.boosting.statistics import level_means, with_ordered_statistics
from treewright.data.bin_rows import bin_rows
from treewright.data.bins import bins_of
from treewright.data.schema import Column, Schema
from treewright.exceptions import ParameterError
from treewright.trees.check import check_bins, column_facts


@pytest.fixture
def rows():
    """A number, a nominal column of 300 levels and one of 3, with gaps; two levels without rows."""
    rng = np.random.default_rng(0)
    matrix = np.column_stack([rng.normal(size=2000), rng.integers(0, 300, 2000), rng.integers(0, 3, 2000)])
    matrix[rng.random(2000) < 0.1, 1] = np.nan
    schema = Schema(
        (Column("x", "numeric"), Column("c", "nominal", tuple(range(302))), Column("d", "nominal", tuple("abc")))
    )
    table = BoostTable(bins_of(matrix, schema), schema, np.zeros(3, bool))
    return table, bin_rows(table.bins, matrix), matrix, (rng.random(2000) < 0.3).astype(np.int32)


def test_other_columns_and_missing_cells_are_untouched(rows):
    table, codes, matrix, target = rows
    before = codes.copy()

    new, made = with_ordered_statistics(table, codes, matrix, np.array([1]), target)

    assert (codes == before).all()
    assert (made[:, [0, 2, 3]] == codes[:, [0, 2, 3]]).all()
    assert ((made[:, 1] == 255) == np.isnan(matrix[:, 1])).all()
    assert new.ordered.tolist() == [False, True, False]
    assert new.bins.n_bins[[0, 2]].tolist() == table.bins.n_bins[[0, 2]].tolist()
    assert not table.ordered.any()


def test_bins_made_so_pass_the_checks_of_a_stored_model(rows):
    table, codes, matrix, target = rows

    new, _ = with_ordered_statistics(table, codes, matrix, np.array([1, 2]), target)

    check_bins(new.bins, column_facts(new.schema))
    assert new.bins.level_bin[300:303].tolist() == [new.bins.n_bins[1]] * 3


@pytest.mark.parametrize("n_threads", [2, 3])
def test_number_of_threads_changes_nothing(rows, n_threads):
    table, codes, matrix, target = rows
    one, of_one = with_ordered_statistics(table, codes, matrix, np.array([1, 2]), target, seed=3)
    many, of_many = with_ordered_statistics(table, codes, matrix, np.array([1, 2]), target, seed=3, n_threads=n_threads)

    assert (of_one == of_many).all()
    assert (one.bins.level_bin == many.bins.level_bin).all()


def test_memory_order_and_float_size_change_nothing(rows):
    table, codes, matrix, target = rows
    _, made = with_ordered_statistics(table, codes, matrix, np.array([1]), target)

    for other in (np.asfortranarray(matrix), matrix.astype(np.float32)):
        assert (with_ordered_statistics(table, codes, other, np.array([1]), target)[1] == made).all()


def test_bins_of_levels_ascend_with_their_means(rows):
    table, codes, matrix, target = rows
    new, _ = with_ordered_statistics(table, codes, matrix, np.array([1]), target, max_bins=20)
    present = ~np.isnan(matrix[:, 1])
    counts = np.bincount(matrix[present, 1].astype(int), minlength=300)
    sums = np.bincount(matrix[present, 1].astype(int), target[present], minlength=300)
    means = (sums - counts * target.mean()) / (counts + 1)
    has_rows = counts > 0
    of_levels = new.bins.level_bin[:300][has_rows][np.argsort(means[has_rows], kind="stable")].astype(int)

    assert new.bins.n_bins[1] <= 20
    assert (np.diff(of_levels) >= 0).all()
    assert (new.bins.level_bin[:300][~has_rows] == new.bins.n_bins[1]).all()


def test_unique_levels_tell_nothing():
    n = 3000
    target = np.random.default_rng(1).integers(0, 2, n)
    matrix = np.arange(n, dtype=np.float64)[:, None]
    schema = Schema((Column("id", "nominal", tuple(range(n))),))
    table = BoostTable(bins_of(matrix, schema), schema, np.zeros(1, bool))

    _, codes = with_ordered_statistics(table, bin_rows(table.bins, matrix), matrix, np.array([0]), target)

    assert len(np.unique(codes[:, 0])) == 1


def test_the_first_row_of_each_level_has_the_prior_and_the_last_all_others(rows):
    _, _, matrix, target = rows
    levels = np.where(np.isnan(matrix[:, 1]), -1, matrix[:, 1]).astype(np.int32)
    means = level_means(levels, 300, target)

    present = levels >= 0
    assert np.count_nonzero(means.values[present] == 0.0) >= len(np.unique(levels[present]))
    assert means.counts.sum() == np.count_nonzero(present)


def test_numbers_near_the_limit_do_not_overflow():
    target = np.array([1.7e308, -1.7e308, 1.7e308, 1.0] * 10)
    means = level_means(np.arange(40, dtype=np.int32) % 4, 4, target, np.full(40, 1e300))

    assert np.isfinite(means.values).all()
    assert means.final[1] < means.final[3] < means.final[0]


def test_common_factor_of_weights_changes_no_bin(rows):
    table, codes, matrix, target = rows
    weights = np.random.default_rng(2).random(2000) + 0.5

    made = [
        with_ordered_statistics(table, codes, matrix, np.array([1]), target, factor * weights)[1]
        for factor in (1.0, 0.25, 64.0)
    ]

    assert (made[0] == made[1]).all()
    assert (made[0] == made[2]).all()


def test_another_seed_gives_another_order(rows):
    table, codes, matrix, target = rows

    made = [
        with_ordered_statistics(table, codes, matrix, np.array([1]), target, seed=seed)[1] for seed in (0, 1, 2**64)
    ]

    assert (made[0] != made[1]).any()
    assert (made[0] == made[2]).all()


def test_column_without_any_value_has_no_bins():
    matrix = np.full((5, 1), np.nan)
    schema = Schema((Column("c", "nominal", ("a",)),))
    table = BoostTable(bins_of(matrix, schema), schema, np.zeros(1, bool))

    new, codes = with_ordered_statistics(table, bin_rows(table.bins, matrix), matrix, np.array([0]), np.arange(5.0))

    assert new.bins.n_bins.tolist() == [0]
    assert new.bins.level_bin.tolist() == [0, 0]
    assert (codes[:, 0] == 255).all()


@pytest.mark.parametrize(
    ("columns", "more", "said"),
    [
        ([0], {}, "0 is not the number of a nominal column"),
        ([3], {}, "3 is not"),
        ([-1], {}, "-1 is not"),
        ([1, 1], {}, "name each column once"),
        ([1], {"n_permutations": 0}, "n_permutations=0"),
        ([1], {"prior_weight": -1.0}, "prior_weight=-1.0"),
        ([1], {"prior_weight": np.nan}, "prior_weight=nan"),
    ],
)
def test_what_cannot_be_is_refused(rows, columns, more, said):
    table, codes, matrix, target = rows

    with pytest.raises(ParameterError, match=said):
        with_ordered_statistics(table, codes, matrix, np.array(columns), target, **more)
