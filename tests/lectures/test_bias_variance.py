"""Regularised regression and trees on noisy sines: what the lecture on bias and variance says is what comes out."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from rotating import few

SCRIPT = Path(__file__).parents[2] / "examples" / "bias_variance.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("bias_variance_example", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def curves(example):
    return {which: example.curve(which) for which in example.CURVES}


@pytest.mark.parametrize("which", few(["ridge", "lasso", "tree"], 1))
def test_bias_squared_and_variance_and_noise_are_the_loss_on_fresh_data(curves, example, which):
    make, values, _ = example.CURVES[which]
    found, rng = curves[which], np.random.default_rng(7)
    losses = np.empty((40, len(values)))
    for losses_of_set in losses:
        X, y = example.draw(rng)
        x = rng.uniform(size=50)
        fresh = example.truth(x) + rng.normal(scale=example.NOISE, size=50)
        losses_of_set[:] = [np.mean((make(value).fit(X, y).predict(x[:, None]) - fresh) ** 2) for value in values]

    together = found.bias_squared + found.variance + found.noise
    for at, one in enumerate(found.decompositions):
        own = losses[:, at].std(ddof=1) / np.sqrt(len(losses))
        bound = np.sqrt(own**2 + one.row_errors["loss"] ** 2 + one.round_errors["loss"] ** 2)
        assert together[at] == pytest.approx(losses[:, at].mean(), abs=4 * bound)
        assert bound < 0.2 * together[at]


def test_a_highly_regularised_regression_has_low_variance_and_high_bias(curves):
    for which in ("ridge", "lasso"):
        found = curves[which]
        assert found.bias_squared[-1] == found.bias_squared.max()
        assert found.variance[0] == found.variance.max()
    assert (np.diff(curves["ridge"].variance) < 0).all()


def test_a_deep_tree_has_low_bias_and_high_variance(curves):
    found = curves["tree"]

    assert (np.diff(found.bias_squared) < 0).all()
    assert found.variance[-1] == found.variance.max()


@pytest.mark.parametrize("which", ["ridge", "lasso", "tree"])
def test_the_sum_is_least_in_between_and_predicts_the_shape_of_the_test_error(curves, which):
    found = curves[which]

    assert found.values[0] < found.best < found.values[-1]
    chosen = np.argmin(found.bias_squared + found.variance)
    assert found.loss[chosen] - found.loss.min() <= found.decompositions[chosen].round_errors["loss"]
    assert np.corrcoef(found.bias_squared + found.variance, found.loss)[0, 1] > 0.99


def test_no_model_gets_below_the_noise_and_the_noise_is_that_of_the_data(curves, example):
    for found in curves.values():
        assert (found.expected_loss > found.noise).all()
        error = found.decompositions[0].row_errors["noise"]
        assert found.noise == pytest.approx(example.NOISE**2, abs=3 * error)


def test_the_script_prints_a_table_for_each_curve(curves, example, monkeypatch, capsys):
    monkeypatch.setattr(example, "curve", curves.__getitem__)

    example.main()

    printed = capsys.readouterr().out
    assert all(f"{which}\nSquared loss along" in printed for which in curves)
