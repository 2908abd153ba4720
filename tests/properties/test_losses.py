"""What holds for every loss: gradients are slopes of the loss, base scores are best, scores far out do no harm."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar

from treewright.boosting.losses import build_loss

STEP = 1e-5
SMOOTH = {
    "squared_error": {},
    "poisson": {},
    "gamma": {},
    "tweedie": {"tweedie_power": 1.3},
    "expectile": {"expectile": 0.8},
    "huber": {"huber_delta": 0.7},
    "absolute_error": {},
    "quantile": {"quantile": (0.2, 0.5, 0.9)},
    "two classes": {"n_classes": 2},
    "three classes": {"n_classes": 3},
    "six classes": {"n_classes": 6},
}
# Losses whose hessian is the second derivative, times what is said here.
CURVED = {"squared_error": 1, "expectile": 1, "two classes": 1, "three classes": 3 / 2, "six classes": 6 / 5}


def loss_of(kind):
    return build_loss("log_loss" if "classes" in kind else kind, **SMOOTH[kind])


def is_above_zero(kind):
    return kind in {"poisson", "gamma", "tweedie"}


def target_of(kind, number):
    """One target: the number itself, its distance from 0 or so, or a class."""
    if "classes" in kind:
        return np.array([int(abs(number) * 100) % SMOOTH[kind]["n_classes"]], np.int32)
    return np.array([abs(number) + 1e-3 if is_above_zero(kind) else number])


def both(loss, target, scores):
    g = np.full(scores.shape, np.nan, np.float32)
    h = g.copy()
    loss.gradients(target, scores, g, h)
    return g.astype(float), np.ones_like(h, float) if loss.unit_hessian else h.astype(float)


def value(loss, target, scores):
    return loss.values(target, scores)[0]


@pytest.mark.parametrize("kind", SMOOTH)
@given(number=st.floats(-5, 5), scores=st.lists(st.floats(-4, 4), min_size=6, max_size=6), data=st.data())
def test_gradients_are_central_differences_of_the_loss(kind, number, scores, data):
    loss, target = loss_of(kind), target_of(kind, number)
    scores = np.array(scores[: loss.n_scores])[:, np.newaxis]
    if loss.link in {"identity", "sorted"}:  # the kinks of these losses have no slope
        scores[np.abs(scores - target) < 2 * STEP] += 4 * STEP
        if kind == "huber":
            scores[np.abs(np.abs(scores - target) - 0.7) < 2 * STEP] += 4 * STEP
    g, _ = both(loss, target, scores)
    for k in range(loss.n_scores):
        step = np.zeros_like(scores)
        step[k] = STEP
        slope = (value(loss, target, scores + step) - value(loss, target, scores - step)) / (2 * STEP)
        assert g[k, 0] == pytest.approx(slope, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("kind", CURVED)
@given(number=st.floats(-5, 5), scores=st.lists(st.floats(-4, 4), min_size=6, max_size=6))
def test_hessians_are_second_differences_of_the_loss(kind, number, scores):
    loss, target, step_size = loss_of(kind), target_of(kind, number), 1e-3
    scores = np.array(scores[: loss.n_scores])[:, np.newaxis]
    if kind == "expectile":
        scores[np.abs(scores - target) < 2 * step_size] += 4 * step_size
    _, h = both(loss, target, scores)
    for k in range(loss.n_scores):
        step = np.zeros_like(scores)
        step[k] = step_size
        around = value(loss, target, scores + step) + value(loss, target, scores - step)
        curvature = (around - 2 * value(loss, target, scores)) / step_size**2
        assert h[k, 0] == pytest.approx(CURVED[kind] * curvature, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("kind", ["poisson", "gamma", "tweedie"])
@given(rows=st.lists(st.tuples(st.floats(0.01, 100), st.floats(-4, 4)), min_size=1, max_size=8))
def test_a_leafs_step_is_never_longer_than_the_best_one_nor_than_2(kind, rows):
    """The hessian of these losses is not their second derivative: it is chosen so that this holds."""
    loss, (target, scores) = loss_of(kind), np.array(rows).T.copy()
    g, h = both(loss, target, scores[np.newaxis])
    power = SMOOTH[kind].get("tweedie_power", {"poisson": 1, "gamma": 2}.get(kind))
    best = np.log((target * np.exp((1 - power) * scores)).sum() / np.exp((2 - power) * scores).sum())
    step = -g.sum() / h.sum()
    assert abs(step) <= min(abs(best) * (1 + 1e-5) + 1e-5, 2.0)
    assert step * best >= -1e-9
    if abs(best) < 0.5:
        assert step == pytest.approx(best, abs=abs(best) ** 3 / 12 + 1e-5)


@pytest.mark.parametrize("kind", SMOOTH)
@pytest.mark.parametrize("score", [-1e300, -1e30, -700.0, -100.0, 100.0, 700.0, 1e30, 1e300])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e30])
def test_scores_far_out_give_finite_gradients_and_hessians_above_zero(kind, score, size):
    loss = loss_of(kind)
    target = np.repeat(target_of(kind, size), 5)
    scores = np.zeros((loss.n_scores, 5))
    scores[0] = score
    g, h = both(loss, target, scores)
    assert np.isfinite(g).all()
    assert np.isfinite(h).all()
    assert (h > 0).all()
    assert not np.isnan(loss.values(target, scores)).any()


@pytest.mark.parametrize("kind", SMOOTH)
@pytest.mark.parametrize("weighs", [False, True])
def test_no_constant_beats_the_base(kind, weighs):
    rng = np.random.default_rng(3)
    n = 61
    numbers = rng.gamma(2.0, 1.0, n) if is_above_zero(kind) else rng.standard_t(3, n) + 2
    target = rng.integers(0, SMOOTH[kind]["n_classes"], n).astype(np.int32) if "classes" in kind else numbers
    weights = rng.random(n) + 0.05 if weighs else None
    loss = loss_of(kind).bound(target, weights)
    base = loss.base(target, weights)

    def mean_loss(constants):
        values = loss.values(target, np.repeat(np.reshape(constants, (-1, 1)), n, axis=1))
        return np.average(values, weights=weights)

    assert base.shape == (loss.n_scores,)
    assert base.dtype == np.float64
    best = mean_loss(base)
    if loss.n_scores == 1:
        found = minimize_scalar(lambda s: mean_loss([s]), bounds=(-10, 20), method="bounded", options={"xatol": 1e-9})
        assert best <= found.fun + 1e-12
    else:
        start = np.zeros(loss.n_scores)
        found = minimize(mean_loss, start, method="Nelder-Mead", options={"maxiter": 6000, "maxfev": 6000})
        assert best <= found.fun + 1e-9
    for k in range(loss.n_scores):
        for move in np.concatenate((-np.geomspace(1e-4, 5, 30), np.geomspace(1e-4, 5, 30))):
            moved = base.copy()
            moved[k] += move
            assert best <= mean_loss(moved) + 1e-12


@pytest.mark.parametrize("kind", SMOOTH)
@pytest.mark.parametrize("number", [0.0, 1e-30, 3.0, 1e30])
def test_a_target_without_spread_gives_a_finite_base(kind, number):
    target = target_of(kind, number) if number else np.zeros(1, np.int32 if "classes" in kind else float)
    if kind == "gamma":
        target = np.maximum(target, 1e-3)
    target = np.repeat(target, 4)
    loss = loss_of(kind)
    loss.check(target)
    base = loss.bound(target, None).base(target, None)
    assert np.isfinite(base).all()
    if loss.link in {"identity", "sorted"}:
        assert (base == target[0]).all()


@pytest.mark.parametrize("kind", SMOOTH)
def test_gradients_of_some_rows_are_those_rows_of_all_gradients(kind):
    rng = np.random.default_rng(0)
    loss, n = loss_of(kind), 603
    target = np.concatenate([target_of(kind, number) for number in rng.normal(size=n)])
    scores = rng.normal(size=(loss.n_scores, n))
    g, h = both(loss, target, scores)
    for part in (slice(0, 1), slice(5, 300), slice(300, 603)):
        part_g, part_h = both(loss, target[part], scores[:, part])
        np.testing.assert_array_equal(part_g, g[:, part])
        np.testing.assert_array_equal(part_h, h[:, part])
