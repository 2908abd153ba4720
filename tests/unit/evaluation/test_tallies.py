"""Scores against numbers worked out by hand or by another library."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import accuracy_score, mean_absolute_error, mean_pinball_loss, r2_score

from treewright.core.confidence import wilson_interval
from treewright.evaluation.measures import LabelScore, NumberScore, QuantileScore, label_counts


def test_wilsons_interval_solves_its_equation():
    for right, n in [(0, 10), (1, 10), (9, 10), (10, 10), (50, 100)]:
        for bound in wilson_interval(right, n):
            # (share - p)^2 = z^2 p (1 - p) / n holds at both ends
            assert (right / n - bound) ** 2 == pytest.approx(3.841458820694124 * bound * (1 - bound) / n, abs=1e-12)


def test_blocks_of_labels_add_up():
    truth, guess = np.array(list("aabbc" * 20)), np.array(list("abbbb" * 20))
    score = LabelScore()
    for start in range(0, 100, 7):
        score.add(pl.Series(truth[start : start + 7].tolist()), guess[start : start + 7])

    assert score.n == 100
    assert score.right / score.n == accuracy_score(truth, guess)
    assert score.true_totals() == {"a": 40, "b": 40, "c": 20}
    assert score.predicted_totals() == {"a": 20, "b": 80}


def test_whole_numbers_and_fractions_are_the_same_label():
    score = LabelScore()
    score.add(pl.Series([1, 2]), np.array([1.0, 3.0]))

    assert score.right == 1


def test_blocks_of_numbers_add_up_far_from_zero():
    stream = np.random.default_rng(0)
    truth = 1e9 + stream.normal(size=1000)
    guess = truth + 0.1 * stream.normal(size=1000)
    score = NumberScore()
    for start in range(0, 1000, 130):
        score.add(truth[start : start + 130], guess[start : start + 130])

    assert score.main == pytest.approx(r2_score(truth, guess), rel=1e-6)
    assert score.absolute_error == pytest.approx(mean_absolute_error(truth, guess), rel=1e-9)


def test_a_constant_truth_has_no_r2():
    score = NumberScore()
    score.add(np.ones(3), np.array([1.0, 1.0, 4.0]))

    assert np.isnan(score.main)
    assert score.absolute_error == 1.0


@pytest.mark.parametrize("levels", [(0.9,), (0.1, 0.5, 0.9)])
def test_blocks_of_quantiles_add_up(levels):
    stream = np.random.default_rng(0)
    truth = stream.integers(0, 9, 500).astype(float)
    said = stream.integers(0, 9, (500, len(levels))).astype(float)
    score = QuantileScore(levels)
    for start in range(0, 500, 130):
        block = said[start : start + 130]
        score.add(truth[start : start + 130], block if len(levels) > 1 else block[:, 0])
    each = [mean_pinball_loss(truth, said[:, at], alpha=level) for at, level in enumerate(levels)]
    shares = ", ".join(f"{np.mean(truth <= said[:, at]):.3f}" for at in range(len(levels)))

    assert score.main == pytest.approx(np.mean(each), rel=1e-12)
    assert score.line("held-out").endswith(f"not above quantile {', '.join(map(str, levels))}: {shares} (500 rows)")


def test_counts_are_sorted_whatever_the_column_is_called():
    assert label_counts(pl.Series("count", ["b", "a", "c", "c"])) == [("c", 2), ("a", 1), ("b", 1)]
