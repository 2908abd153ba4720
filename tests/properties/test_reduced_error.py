"""Reduced-error pruning is never worse on its rows, changes nothing the second time, and asks no order of the rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from same_trees import trees_equal

import treewright as tw
from treewright.prune.losses import loss_of, node_losses
from treewright.prune.methods import Rows
from treewright.trees.check_model import check_model

KINDS = st.sampled_from(["classes", "two outputs", "numbers", "medians", "branch per level"])


def table(rng, n):
    x = rng.integers(0, 8, n).astype(float)
    return {"x": x, "z": np.round(rng.normal(size=n), 1), "town": rng.choice(["Bonn", "Graz", "Linz"], n)}


def target(rng, X, kind):
    n = len(X["x"])
    signal = (X["x"] > 3) + (X["town"] == "Graz") * 1.0
    if kind in ("numbers", "medians"):
        return np.round(signal + rng.normal(0, 0.7, n), 1)
    noisy = np.where(rng.random(n) < 0.3, rng.integers(0, 3, n), signal).astype(int)
    noisy[:2] = 0, 1
    return np.column_stack([noisy, np.arange(n) % 2]) if kind == "two outputs" else noisy


def fitted(rng, kind, n):
    X = table(rng, n)
    y = target(rng, X, kind)
    if kind == "numbers":
        return tw.DecisionTreeRegressor().fit(X, y)
    if kind == "medians":
        return tw.DecisionTreeRegressor(criterion="absolute_error").fit(X, y)
    return tw.DecisionTreeClassifier(nominal_splits="multiway" if kind == "branch per level" else "subset").fit(X, y)


def loss_on(est, X, y, weights):
    """What the predictions cost, by ``predict`` alone."""
    said, truth = est.predict(X), np.asarray(y)
    if est.model_.task == "classification":
        wrong = (said != truth).reshape(len(truth), -1).mean(axis=1)
    else:
        apart = np.abs(said - truth)
        wrong = apart if est.get_params()["criterion"] == "absolute_error" else apart**2
    return float((wrong * weights).sum())


@pytest.mark.filterwarnings("ignore:most cells of 1 column")  # of towns that few rows of the fit have
@given(seed=st.integers(0, 10_000), kind=KINDS, n=st.integers(4, 60), m=st.integers(3, 40), broken=st.booleans())
def test_the_pruned_tree_is_never_worse_on_the_rows_it_was_pruned_with(seed, kind, n, m, broken):
    rng = np.random.default_rng(seed)
    est = fitted(rng, kind, n)
    X = table(rng, m)
    y = target(rng, X, kind)
    if kind == "two outputs":
        assume(set(y[:, 0]) <= set(est.classes_[0]))
    elif kind in ("classes", "branch per level"):
        assume(set(y) <= set(est.classes_))
    weights = rng.random(m) + 0.05 if broken else rng.integers(1, 4, m).astype(float)

    small = est.prune("reduced_error", X, y, weights)

    check_model(small.model_)
    before, after = loss_on(est, X, y, weights), loss_on(small, X, y, weights)
    assert after <= before * (1 + 1e-9) + 1e-12
    assert trees_equal(small.prune("reduced_error", X, y, weights).tree_, small.tree_)
    log = small.prune_log_
    assert (log.numbers["error_as_leaf"] <= log.numbers["error_of_subtree"] * (1 + 1e-12)).all()
    assert (np.diff(log.nodes) < 0).all()  # children before their parents
    # Every inner node that is left is one that rows come to, and that a leaf would be worse than.
    losses = node_losses(
        small.model_, Rows(*small.model_.encode_rows(X, y, weights, routed=True)), loss_of(small.model_)
    )
    assert (losses.weight[~small.tree_.is_leaf] > 0).all()


@given(seed=st.integers(0, 10_000), m=st.integers(3, 40))
def test_the_order_of_the_rows_and_a_weight_of_two_for_a_row_twice_change_nothing(seed, m):
    rng = np.random.default_rng(seed)
    est = fitted(rng, "classes", 50)
    X = table(rng, m)
    y = target(rng, X, "classes")
    assume(set(y) <= set(est.classes_))
    weights = rng.integers(0, 3, m)
    assume(len(set(y[weights > 0])) > 1)
    rows = rng.permutation(np.repeat(np.arange(m), weights))

    weighed = est.prune("reduced_error", X, y, weights)
    repeated = est.prune("reduced_error", {name: cells[rows] for name, cells in X.items()}, y[rows])

    assert trees_equal(weighed.tree_, repeated.tree_)
    for name, numbers in weighed.prune_log_.numbers.items():
        assert repeated.prune_log_.numbers[name].tolist() == numbers.tolist()


def test_losses_are_the_same_bytes_for_any_number_of_threads():
    rng = np.random.default_rng(3)
    est = fitted(rng, "numbers", 400)
    X = table(rng, 60_000)
    rows = Rows(*est.model_.encode_rows(X, target(rng, X, "numbers"), rng.random(60_000), routed=True))

    one, four = (node_losses(est.model_, rows, "squared_error", n_jobs=jobs) for jobs in (1, 4))

    assert one.cost.tobytes() == four.cost.tobytes()
    assert one.weight.tobytes() == four.weight.tobytes()
