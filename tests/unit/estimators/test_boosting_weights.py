"""Boosted estimators: weights of rows are numbers of rows, those of classes are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import treewright as tw
from treewright.boosting.sampling import names_of_rows
from treewright.data.row_content import hash_content
from treewright.learn.boosting_params import BoostingParams
from treewright.learn.held_out import held_out, parts_of
from treewright.learn.train import make_dataset
from treewright.trees.packed import leaf_samples_of

RNG = np.random.default_rng(12)
N = 400
X = np.round(RNG.normal(size=(N, 3)), 1)
Y = (X[:, 0] + RNG.normal(size=N) > 1.0).astype(int)
THREE = np.digitize(X[:, 1] + RNG.normal(size=N), [-0.5, 1.0])
FEW: dict[str, Any] = {"n_estimators": 10, "learning_rate": 0.3, "min_samples_leaf": 20, "random_state": 0}


def boosted(y: np.ndarray, weights: np.ndarray | None = None, rows: Any = slice(None), **more: Any) -> Any:
    given = None if weights is None else weights[rows]
    return tw.GradientBoostingClassifier(**{**FEW, **more}).fit(X[rows], y[rows], given)


def test_a_whole_weight_of_a_class_is_nearly_one_that_is_almost_whole():
    whole, almost = (boosted(Y, class_weight={1: weight}).predict_proba(X) for weight in (10, 10.001))

    assert np.abs(whole - almost).max() < 0.002


@pytest.mark.parametrize("growth", ["leaf", "level", "symmetric"])
def test_a_row_of_a_heavy_class_counts_as_one(growth):
    model = boosted(Y, class_weight={1: 50}, growth=growth).model_

    assert leaf_samples_of(model.trees).min() >= 20


@pytest.mark.parametrize("y", [Y, THREE], ids=["two", "three"])
@pytest.mark.parametrize("class_weight", [{1: 10}, {1: 0.3, 0: 2}, "balanced"])
@pytest.mark.parametrize("growth", ["leaf", "symmetric"])
def test_weight_two_is_a_row_twice_whatever_its_class_weighs(y, class_weight, growth):
    weights = RNG.integers(1, 4, N).astype(float)
    often = np.repeat(np.arange(N), weights.astype(int))
    more = {"class_weight": class_weight, "growth": growth}
    one, other = boosted(y, weights, **more), boosted(y, rows=often, **more)

    assert one.model_.predict_scores(X).tobytes() == other.model_.predict_scores(X).tobytes()


@pytest.mark.parametrize("class_weight", [{0: 1, 1: 1.0}, {}])
def test_classes_that_weigh_one_change_nothing(class_weight):
    plain, weighed = (boosted(THREE, class_weight=each).model_.predict_scores(X) for each in (None, class_weight))

    assert plain.tobytes() == weighed.tobytes()


def test_a_row_of_weight_three_can_be_held_out_once():
    often = np.repeat(np.arange(N), RNG.integers(1, 4, N))
    more = {"class_weight": {1: 3.0}, "n_estimators": 40, "early_stopping": True}
    stopped = boosted(Y, np.bincount(often).astype(float), validation_fraction=0.25, **more)
    contents = np.zeros(len(often), np.uint64)
    hash_content(Y[often, None], X[often], contents)
    aside = held_out(Y[often, None], names_of_rows(contents), 0.25, 0, by_class=True)
    assert np.intersect1d(often[aside], often[~aside]).size
    given = tw.GradientBoostingClassifier(**{**FEW, **more}).fit(
        X[often[~aside]], Y[often[~aside]], X_val=X[often[aside]], y_val=Y[often[aside]]
    )

    assert stopped.model_.predict_scores(X).tobytes() == given.model_.predict_scores(X).tobytes()
    assert stopped.history_ == given.history_


def test_counts_of_millions_are_held_out_without_a_row_for_each():
    counts = RNG.integers(1, 20_000, N).astype(float)
    dataset = make_dataset(X, Y, BoostingParams(task="classification"), sample_weight=counts)
    training, aside = parts_of(dataset, 0.1, 0, is_written_out=False)

    assert max(len(training), len(aside)) <= N
    assert training.sample_weight.sum() + aside.sample_weight.sum() == counts.sum()
    assert aside.sample_weight.sum() == pytest.approx(counts.sum() / 10, rel=1e-4)
