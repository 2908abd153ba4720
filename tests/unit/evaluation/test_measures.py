"""Measures by name: their values are scikit-learn's, their intervals cover what they are about."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

from treewright.evaluation.measures import (
    MEASURES_OF_NUMBERS,
    Predicted,
    cost_matrix,
    measure_named,
    measures_of_classes,
)
from treewright.exceptions import ParameterError

COST = {2: np.array([[0.0, 1.0], [5.0, 0.0]]), 3: np.array([[0.0, 1.0, 2.0], [4.0, 0.0, 1.0], [8.0, 3.0, 0.0]])}


def rows_of(k, n=300, seed=0, *, weighted=True):
    """Rows of k classes with predictions that are better than chance."""
    random = np.random.default_rng(seed)
    truth = random.choice(k, n, p=np.array([0.7, 0.3]) if k == 2 else np.array([0.6, 0.3, 0.1]))
    shares = random.dirichlet(np.ones(k), n) + np.eye(k)[truth] * 0.6
    shares = np.round(shares / shares.sum(axis=1, keepdims=True), 2)  # ties
    shares /= shares.sum(axis=1, keepdims=True)
    weights = random.integers(1, 4, n).astype(float) if weighted else None
    return Predicted(truth, shares.argmax(axis=1), shares, weights)


def by_sklearn(name, rows, k):
    truth, said, shares, w = rows
    if name == "roc_auc":
        if k == 2:
            return metrics.roc_auc_score(truth, shares[:, 1], sample_weight=w)
        return np.mean([metrics.roc_auc_score(truth == c, shares[:, c], sample_weight=w) for c in range(k)])
    if name == "log_loss":
        return metrics.log_loss(truth, shares, sample_weight=w)
    if name == "cost":
        return np.average(COST[k][truth, said], weights=w)
    if name == "class_weighted_accuracy":
        return metrics.accuracy_score(truth, said, sample_weight=w * (1.0 + 2.0 * truth))
    if name == "f1_macro":
        return metrics.f1_score(truth, said, average="macro", sample_weight=w)
    scorer = {"accuracy": "accuracy_score", "balanced_accuracy": "balanced_accuracy_score"}.get(name, f"{name}_score")
    return getattr(metrics, scorer)(truth, said, sample_weight=w)


@pytest.mark.parametrize("k", [2, 3])
def test_values_of_classes_are_those_of_scikit_learn(k):
    rows = rows_of(k)
    measures = measures_of_classes(list("abc")[:k], cost=COST[k], factors=1.0 + 2.0 * np.arange(k))

    assert len(measures) == (9 if k == 2 else 7)
    for name, measure in measures.items():
        value, low, high = measure.work(rows)
        assert value == pytest.approx(by_sklearn(name, rows, k), rel=1e-12), name
        assert low < value < high, name


def test_values_of_numbers_are_those_of_scikit_learn():
    random = np.random.default_rng(0)
    truth = random.normal(size=(200, 1)) * 3
    rows = Predicted(truth, truth + random.normal(size=(200, 1)), None, random.integers(1, 4, 200).astype(float))

    for name, score in (
        ("r2", metrics.r2_score), ("mean_squared_error", metrics.mean_squared_error),
        ("mean_absolute_error", metrics.mean_absolute_error),
    ):  # fmt: skip
        value, low, high = MEASURES_OF_NUMBERS[name].work(rows)
        assert value == pytest.approx(score(truth, rows.predicted, sample_weight=rows.weights), rel=1e-12)
        assert low < value < high


def test_the_interval_of_the_area_is_that_of_delong_pair_by_pair():
    truth, _, shares, _ = rows = rows_of(2, n=60, weighted=False)
    score = shares[:, 1]
    pairs = np.array([[(a > b) + 0.5 * (a == b) for b in score[truth == 0]] for a in score[truth == 1]])
    area = pairs.mean()
    spread = np.sqrt(pairs.mean(axis=1).var() / len(pairs) + pairs.mean(axis=0).var() / pairs.shape[1])
    ends = np.log(area / (1 - area)) + np.array([-1, 1]) * 1.959963984540054 * spread / (area * (1 - area))

    value, low, high = measures_of_classes(["a", "b"])["roc_auc"].work(rows)

    assert value == pytest.approx(area, rel=1e-12)
    assert [low, high] == pytest.approx((1 / (1 + np.exp(-ends))).tolist(), rel=1e-9)


@pytest.mark.parametrize("name", ["balanced_accuracy", "roc_auc", "log_loss", "f1", "recall", "cost"])
def test_ninety_five_of_a_hundred_intervals_hold_the_value_of_all_rows(name):
    measure = measures_of_classes(["a", "b"], cost=COST[2])[name]
    everything = rows_of(2, n=100_000, weighted=False)
    value = measure.work(everything)[0]
    random, hits = np.random.default_rng(1), 0

    for _ in range(300):
        some = random.choice(len(everything.truth), 120)
        part = Predicted(everything.truth[some], everything.predicted[some], everything.shares[some], None)
        _, low, high = measure.work(part)
        hits += low <= value <= high

    assert 0.92 * 300 <= hits <= 0.99 * 300


def test_without_a_mistake_an_interval_still_has_a_width():
    truth = np.array([0] * 30 + [1] * 10)
    rows = Predicted(truth, truth, np.eye(2)[truth], None)
    measures = measures_of_classes(["a", "b"], cost=COST[2])

    for name in ("accuracy", "balanced_accuracy", "roc_auc", "f1", "precision", "recall"):
        value, low, high = measures[name].work(rows)
        assert (value, high) == (1.0, 1.0), name
        assert 0.5 < low < 0.99, name
    value, low, high = measures["cost"].work(rows)
    assert (value, low) == (0.0, 0.0)
    assert 0.1 < high < 1


def test_one_cost_of_all_mistakes_is_the_share_of_wrong_rows():
    rows = rows_of(3)
    cost, accuracy = (
        measures_of_classes(list("abc"), cost=1 - np.eye(3))[name].work(rows) for name in ("cost", "accuracy")
    )

    assert cost == pytest.approx((1 - accuracy[0], 1 - accuracy[2], 1 - accuracy[1]))


def test_what_the_rows_do_not_determine_is_nan():
    rows = Predicted(np.zeros(5, int), np.zeros(5, int), np.tile([1.0, 0.0], (5, 1)), None)

    assert np.isnan(measures_of_classes(["a", "b"])["roc_auc"].work(rows)).all()
    assert np.isnan(measures_of_classes(["a", "b"])["recall"].work(rows)).all()


@pytest.mark.parametrize(
    "cost",
    [
        {"fp": 1, "fn": 5},
        {"good": {"bad": 1}, "bad": {"good": 5}},
        [[0, 5], [1, 0]],
        np.array([[0.0, 5.0], [1.0, 0.0]]),
    ],
)
def test_every_way_to_write_costs_is_the_same_table(cost):
    assert cost_matrix(cost, ["bad", "good"], "bad").tolist() == [[0.0, 5.0], [1.0, 0.0]]


def test_a_class_may_be_written_as_text():
    assert cost_matrix({"0": {"1": 2}, "1": {"0": 3}}, [0, 1]).tolist() == [[0.0, 2.0], [3.0, 0.0]]


@pytest.mark.parametrize(
    ("cost", "labels", "message"),
    [
        ({"fp": 1, "fn": 5}, list("abc"), "fp and fn are for two classes, and there are 3"),
        ({"a": {"b": 1}, "b": {}}, list("ab"), "no cost of predicting 'a' for a row of 'b'"),
        ({"a": {"x": 1}}, list("ab"), "'x', which is not a class: the classes are 'a', 'b'"),
        ({"fp": -1, "fn": 5}, list("ab"), "a cost of -1"),
        ({"fp": True, "fn": 5}, list("ab"), "a cost of True"),
        ({"fp": 0, "fn": 0}, list("ab"), "no mistake costs anything"),
        ([[0, 1, 2]], list("ab"), "give .*'fp'.*; there are 2 classes"),
        (5, list("ab"), "cost=5: give"),
    ],
)
def test_costs_that_are_no_costs_are_refused(cost, labels, message):
    with pytest.raises(ParameterError, match=message):
        cost_matrix(cost, labels)


def test_an_unknown_measure_is_refused_with_those_there_are():
    with pytest.raises(ParameterError, match=r"did you mean 'roc_auc'.*there are accuracy"):
        measure_named("roc_aux", measures_of_classes(["a", "b"]))
    with pytest.raises(ParameterError, match="give the costs of mistakes"):
        measure_named("cost", measures_of_classes(["a", "b"]))
    assert measure_named("neg_log_loss", measures_of_classes(["a", "b"])).name == "log_loss"
