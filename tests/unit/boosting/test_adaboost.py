"""The arithmetic of AdaBoost, by hand where hands can do it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from treewright.boosting.adaboost import RowWeights, judge_labels, judge_numbers, losses_of
from treewright.exceptions import ParameterError

WRONG = np.array([True] * 3 + [False] * 7)


def test_equal_rows_have_equal_shares_to_the_last_bit():
    assert RowWeights(None, 10).shares.tolist() == [0.1] * 10


def test_three_wrong_of_ten_make_the_weights_of_the_lecture():
    verdict = judge_labels(WRONG, RowWeights(None, 10), 2, 1.0)
    after = RowWeights(None, 10).times(verdict.factors)

    assert verdict.error == 0.3
    assert verdict.weight == pytest.approx(math.log(7 / 3), rel=1e-14)
    assert (verdict.is_kept, verdict.is_last) == (True, False)
    np.testing.assert_allclose(after.shares, [1 / 6] * 3 + [1 / 14] * 7, rtol=1e-13)
    assert after.mean(WRONG) == pytest.approx(0.5, rel=1e-13)


def test_with_more_classes_a_member_may_be_wrong_more_often():
    assert judge_labels(~WRONG, RowWeights(None, 10), 2, 1.0).is_kept is False
    verdict = judge_labels(~WRONG, RowWeights(None, 10), 4, 0.5)

    assert verdict.weight == pytest.approx(0.5 * (math.log(3 / 7) + math.log(3)), rel=1e-14)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_no_better_than_chance_is_dropped_and_the_end(n_classes):
    wrong = np.arange(n_classes * 7) % n_classes > 0
    verdict = judge_labels(wrong, RowWeights(None, len(wrong)), n_classes, 1.0)

    assert (verdict.weight, verdict.is_kept, verdict.is_last, verdict.factors) == (0.0, False, True, None)
    one_better = wrong.copy()
    one_better[1] = False
    assert judge_labels(one_better, RowWeights(None, len(wrong)), n_classes, 1.0).is_kept


def test_no_error_is_kept_and_the_end():
    verdict = judge_labels(np.zeros(4, bool), RowWeights(None, 4), 2, 0.1)

    assert (verdict.error, verdict.weight, verdict.is_last) == (0.0, 1.0, True)


def test_the_mean_loss_of_numbers_by_hand():
    said, target = np.array([1.0, 2.0, 3.0, 8.0]), np.array([1.0, 3.0, 3.0, 4.0])
    verdict = judge_numbers(said, target, RowWeights(None, 4), "linear", 1.0)
    after = RowWeights(None, 4).times(verdict.factors)
    beta = (1.25 / 4) / (1 - 1.25 / 4)

    assert losses_of(said, target, "linear").tolist() == [0.0, 0.25, 0.0, 1.0]
    assert verdict.error == pytest.approx(1.25 / 4, rel=1e-14)
    assert verdict.weight == pytest.approx(math.log(1 / beta), rel=1e-14)
    raw = np.array([beta, beta**0.75, beta, 1.0])
    np.testing.assert_allclose(after.shares, raw / raw.sum(), rtol=1e-13)


def test_half_of_the_loss_is_dropped_and_none_is_the_end():
    target = np.zeros(4)
    half = judge_numbers(np.array([1.0, 1.0, 0.0, 0.0]), target, RowWeights(None, 4), "linear", 1.0)
    none = judge_numbers(target, target, RowWeights(None, 4), "linear", 1.0)

    assert (half.is_kept, half.is_last) == (False, True)
    assert (none.weight, none.is_last) == (1.0, True)


def test_distances_beyond_float64_are_compared():
    assert losses_of(np.array([1.7e308, 0.0]), np.array([-1.7e308, 0.0]), "linear").tolist() == [1.0, 0.0]
    assert losses_of(np.array([0.0]), np.array([5e-324]), "linear").tolist() in ([0.0], [1.0])


@pytest.mark.parametrize("learning_rate", [1e308, 5e-324])
def test_a_learning_rate_that_leaves_no_weight_is_refused(learning_rate):
    with pytest.raises(ParameterError, match="learning_rate"):
        judge_labels(np.arange(100) == 0, RowWeights(None, 100), 2, learning_rate)


def test_weights_of_counted_rows_are_whole_and_few_enough():
    weights, unit = RowWeights(np.array([3.0, 1.0, 1.0]), 3).as_counts()

    assert (weights == np.rint(weights)).all()
    assert weights.sum() < 2**31
    assert weights[0] == 3 * weights[1]
    np.testing.assert_allclose(weights * unit, [3.0, 1.0, 1.0], rtol=1e-8)


def test_very_many_rows_are_weighed_as_they_are():
    made = RowWeights(np.array([2.0**20, 1.0]), 2)

    weights, unit = made.as_counts()
    assert unit == 1.0
    np.testing.assert_allclose(weights, [2.0**20, 1.0], rtol=1e-9)


def test_no_weight_falls_to_nothing_nor_stays_there():
    first = np.array([True] + [False] * 9)
    weights = RowWeights(None, 10)
    for _ in range(50):
        weights = weights.times(np.where(first, 1.0, 1e-9))
    assert 0.0 < weights.shares.min() < 1e-15
    for _ in range(3):
        weights = weights.times(np.where(first, 1e-9, 1.0))
    assert weights.shares.max() < 0.12


def test_tiny_and_huge_weights_before_the_first_round_keep_their_ratios():
    for scale in (1e-300, 1e300):
        np.testing.assert_allclose(RowWeights(np.array([1.0, 2.5]) * scale, 2).shares, [1 / 3.5, 2.5 / 3.5], rtol=1e-12)


def test_a_million_rows_of_which_one_weighs_nearly_all_are_told_apart():
    n = 2**20
    weights = RowWeights(None, n).times(np.where(np.arange(n) == 5, 1.0, 1e-12))

    assert weights.shares[5] == pytest.approx(1 / (1 + (n - 1) * 1e-12), rel=1e-9)
    assert weights.shares.sum() == pytest.approx(1.0, rel=1e-9)
    counts, _ = weights.as_counts()
    assert counts.sum() < 2**31
    assert counts.min() >= 1
