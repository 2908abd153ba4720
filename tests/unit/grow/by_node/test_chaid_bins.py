"""Quantile bins of numeric columns."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.data.schema import Column, Schema
from treewright.exceptions import DataError, ParameterError
from treewright.grow.by_node.chaid import bin_numbers
from treewright.grow.problem import class_problem


def binned(values, n_bins, weights=None, n_outputs=1):
    matrix = np.array(values, float)[:, None]
    codes = np.zeros((len(matrix), n_outputs), np.int32)
    weights = None if weights is None else np.array(weights, float)
    schema = Schema((Column("x", "numeric"),))
    return bin_numbers(class_problem(matrix, schema, codes, [2] * n_outputs, weights, "branch"), n_bins)


def test_few_values_are_a_bin_each():
    problem = binned([3, 1, 2, 1], 10)
    assert problem.edges[0].tolist() == [1.5, 2.5]
    assert problem.codes[0].tolist() == [2, 0, 1, 0]


def test_bins_have_equal_numbers_of_rows():
    problem = binned(np.arange(100)[::-1], 4)
    assert problem.edges[0].tolist() == [24.5, 49.5, 74.5]
    assert np.bincount(problem.codes[0]).tolist() == [25] * 4


def test_bins_have_equal_weight():
    # The last two values weigh as much as the first six.
    problem = binned(range(8), 2, weights=[1] * 6 + [3] * 2)
    assert problem.edges[0].tolist() == [5.5]


def test_equal_values_are_never_parted():
    problem = binned([1] * 90 + list(range(2, 12)), 10)
    assert np.bincount(problem.codes[0])[0] == 90
    assert len(problem.edges[0]) == 1  # the many ones fill nine bins


def test_missing_cells_are_behind_the_last_bin():
    problem = binned([1.0, np.nan, 2.0], 10)
    assert problem.codes[0].tolist() == [0, 2, 1]
    assert problem.level_starts.tolist() == [0, 3]


def test_columns_of_one_value_or_none_have_one_bin():
    assert binned([5.0, 5.0], 10).codes[0].tolist() == [0, 0]
    assert binned([np.nan, np.nan], 10).codes[0].tolist() == [1, 1]


def test_edges_part_neighbouring_floats_and_the_largest_ones():
    pair = [1.0, np.nextafter(1.0, 2.0)]
    assert binned(pair, 10).codes[0].tolist() == [0, 1]
    assert binned([-1.7e308, 1.7e308], 10).codes[0].tolist() == [0, 1]


def test_several_targets_are_refused():
    with pytest.raises(ParameterError, match="CHAID takes one target, but y has 2"):
        binned([1, 2], 10, n_outputs=2)


def test_weights_that_cannot_be_counts_are_refused():
    with pytest.raises(DataError, match="weights add up to 2e\\+300"):
        binned([1, 2], 10, weights=[1e300, 1e300])
