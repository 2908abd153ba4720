"""Targets as statistics, and the way back."""

from __future__ import annotations

import numpy as np
import pytest

from treewright.grow.objective import (
    CountStats,
    MeanStats,
    MedianStats,
    PoissonStats,
    classification_objective,
    regression_objective,
)

CODES = np.array([[0], [1], [1]], np.int32)
TARGETS = np.array([[1.0], [2.0], [6.0]])


def test_two_classes_under_gini_are_minus_one_and_one() -> None:
    objective = classification_objective(CODES, [2], None, "gini")

    assert isinstance(objective.stats, MeanStats)
    np.testing.assert_array_equal(objective.stats.values, [[-1, 1, 1]])
    assert objective.total_weight == 3


@pytest.mark.parametrize(
    ("n_classes", "criterion"), [([3], "gini"), ([3], "entropy"), ([3], "log_loss"), ([2], "misclassification")]
)
def test_everything_else_counts_classes(n_classes, criterion) -> None:
    objective = classification_objective(CODES, n_classes, None, criterion)

    assert isinstance(objective.stats, CountStats)
    assert objective.n_totals == sum(n_classes)


@pytest.mark.parametrize("criterion", ["entropy", "log_loss"])
def test_entropy_of_two_classes_is_read_off_sums_where_rows_weigh_one(criterion) -> None:
    plain = classification_objective(CODES, [2], None, criterion)
    weighted = classification_objective(CODES, [2], np.full(len(CODES), 2.0), criterion)

    assert isinstance(plain.stats, MeanStats)
    assert len(plain.stats.table) == len(CODES) + 1
    assert isinstance(weighted.stats, CountStats)


def test_log_loss_is_entropy() -> None:
    first, second = (
        classification_objective(CODES, [3], None, name).stats.criterion for name in ("log_loss", "entropy")
    )

    assert first == second


@pytest.mark.parametrize(
    ("criterion", "kind"), [("squared_error", MeanStats), ("absolute_error", MedianStats), ("poisson", PoissonStats)]
)
def test_each_regression_criterion_has_its_statistics(criterion, kind) -> None:
    objective = regression_objective(TARGETS, None, criterion)

    assert isinstance(objective.stats, kind)
    np.testing.assert_array_equal(objective.targets, TARGETS.T)


def test_poisson_targets_are_not_centred() -> None:
    objective = regression_objective(TARGETS, None, "poisson")

    np.testing.assert_array_equal(objective.centres, [0.0])
    np.testing.assert_array_equal(objective.stats.values[0] * objective.stats.unit, TARGETS[:, 0])


def test_only_medians_ask_for_sorted_targets() -> None:
    assert regression_objective(TARGETS, None, "absolute_error").sorted_targets().shape == (1, 3)
    assert regression_objective(TARGETS, None, "squared_error").sorted_targets().shape == (0, 3)
    assert classification_objective(CODES, [2], None, "gini").sorted_targets().shape[0] == 0


def test_weights_multiply_the_statistics() -> None:
    weights = np.array([0.5, 0.25, 1.0])

    objective = classification_objective(CODES, [2], weights, "gini")

    np.testing.assert_array_equal(
        np.ldexp(objective.stats.values[0].astype(float), -objective.weight_exponent), [-0.5, 0.25, 1.0]
    )
    assert objective.total_weight == int(objective.stats.weights.sum())


def test_more_than_256_classes_need_wider_labels() -> None:
    codes = np.arange(300, dtype=np.int32)[:, None]

    labels = classification_objective(codes, [300], None, "gini").stats.labels

    np.testing.assert_array_equal(labels[0], np.arange(300))
