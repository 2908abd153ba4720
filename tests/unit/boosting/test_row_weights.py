"""Weights of rows as numbers of rows, or as factors."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.boosting.sampling import GradientWeights
from treewright.exceptions import DataError


@pytest.mark.parametrize("weights", [None, np.ones(3)])
def test_rows_that_weigh_one_each_need_nothing(weights):
    found = GradientWeights.of(weights)
    assert found.repeats is None
    assert found.factors is None


def test_whole_weights_are_numbers_of_rows():
    found = GradientWeights.of(np.array([2.0, 1.0, 300.0]))
    assert found.repeats.tolist() == [2, 1, 300]
    assert found.repeats.dtype == np.int32
    assert found.factors is None


@pytest.mark.parametrize("weights", [[0.5, 1.0], [1.0, 1e9], [2.0**30, 2.0**30], [1e30, 1e-30]])
def test_other_weights_and_those_too_large_to_count_are_factors(weights):
    found = GradientWeights.of(np.array(weights))
    assert found.repeats is None
    assert found.factors.dtype == np.float32


def test_weights_of_classes_are_factors_beside_the_numbers_of_rows():
    found = GradientWeights.of(np.array([2.0, 1.0, 3.0]), np.array([10.0, 1.0, 10.0]))
    assert found.repeats.tolist() == [2, 1, 3]
    assert found.factors.tolist() == [10.0, 1.0, 10.0]
    found = GradientWeights.of(np.array([0.5, 1.0]), np.array([4.0, 1.0]))
    assert found.repeats is None
    assert found.factors.tolist() == [2.0, 1.0]


def test_classes_that_weigh_one_each_need_nothing():
    found = GradientWeights.of(None, np.ones(3))
    assert found.repeats is None
    assert found.factors is None


@pytest.mark.parametrize("weights", [[1e300, 1.0], [1.0, 1e-31], [1e31, 0.5]])
def test_weights_that_gradients_cannot_hold_are_refused(weights):
    with pytest.raises(DataError, match="sample_weight"):
        GradientWeights.of(np.array(weights))
