"""A criterion of the user's own: the same trees as the built-in one, and its failures are told plainly."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from same_trees import trees_equal

import treewright as tw
from treewright.exceptions import ParameterError


def own_gini(counts: np.ndarray) -> np.ndarray:
    shares = counts / counts.sum(axis=1, keepdims=True)
    return 1.0 - (shares**2).sum(axis=1)


def own_variance(sets: np.ndarray) -> np.ndarray:
    return sets[:, 2]


def make_table(seed: int, n: int = 60) -> dict[str, object]:
    rng = np.random.default_rng(seed)
    return {
        "x": np.where(rng.random(n) < 0.15, np.nan, rng.integers(0, 8, n).astype(float)),
        "z": rng.integers(0, 5, n).astype(float),
        "colour": [None if pick == 4 else "abcd"[pick] for pick in rng.integers(0, 5, n)],
    }


SHAPE = ("kind", "feature", "threshold", "first_child", "missing_branch", "n_samples", "levels_left", "level_branch")


@pytest.mark.parametrize("splits", ["subset", "multiway", "one_vs_rest"])
@pytest.mark.parametrize("missing", ["direction", "branch", "fractional"])
@pytest.mark.parametrize("seed", range(4))
def test_gini_written_by_hand_gives_the_tree_of_gini(splits: str, missing: str, seed: int) -> None:
    table, y = make_table(seed), np.random.default_rng(seed + 100).integers(0, 3, 60)
    options = {"nominal_splits": splits, "missing": missing, "max_depth": 5}

    own = tw.DecisionTreeClassifier(criterion=own_gini, **options).fit(table, y).tree_
    built_in = tw.DecisionTreeClassifier(criterion="gini", **options).fit(table, y).tree_

    for name in SHAPE:
        np.testing.assert_array_equal(getattr(own, name), getattr(built_in, name), err_msg=name)
    np.testing.assert_allclose(own.impurity, built_in.impurity, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("missing", ["direction", "branch", "surrogate"])
@pytest.mark.parametrize("seed", range(4))
def test_variance_written_by_hand_gives_the_tree_of_squared_error(missing: str, seed: int) -> None:
    table, y = make_table(seed), np.random.default_rng(seed + 100).normal(size=60)

    own = tw.DecisionTreeRegressor(criterion=own_variance, missing=missing, max_depth=4).fit(table, y).tree_
    built_in = tw.DecisionTreeRegressor(missing=missing, max_depth=4).fit(table, y).tree_

    for name in SHAPE:
        np.testing.assert_array_equal(getattr(own, name), getattr(built_in, name), err_msg=name)
    np.testing.assert_allclose(own.value, built_in.value, rtol=1e-12)


def test_own_criterion_of_numbers_sees_weight_mean_and_variance_as_they_are() -> None:
    """Targets 10, 12, 20, 22 with weights 1: the whole has mean 16 and variance 26, halves 11 and 21 with 1."""
    seen: list[list[float]] = []

    def spy(sets: np.ndarray) -> np.ndarray:
        seen.extend(sets.tolist())
        return sets[:, 2]

    tw.DecisionTreeRegressor(criterion=spy, max_depth=1).fit([[1.0], [2.0], [3.0], [4.0]], [10.0, 12.0, 20.0, 22.0])

    assert [4.0, 16.0, 26.0] in seen
    assert [2.0, 11.0, 1.0] in seen
    assert [2.0, 21.0, 1.0] in seen


@pytest.mark.parametrize(
    ("criterion", "message"),
    [
        (lambda counts: np.zeros((len(counts), 2)), "shape"),
        (lambda counts: 0.5, "shape"),
        (lambda counts: np.full(len(counts), np.nan), "nan"),
        (lambda counts: np.full(len(counts), np.inf), "inf"),
        (lambda counts: np.full(len(counts), -0.5), "-0.5"),
    ],
    ids=["two columns", "one number", "nan", "inf", "negative"],
)
def test_an_answer_that_is_no_impurity_is_refused(criterion: object, message: str) -> None:
    estimator = tw.DecisionTreeClassifier(criterion=criterion)

    with pytest.raises(ParameterError, match=message) as caught:
        estimator.fit([[1.0], [2.0], [3.0]], [0, 1, 0])

    assert "<lambda>" in str(caught.value)
    assert not hasattr(estimator, "model_")


class OwnError(Exception):
    """Raised by a criterion below."""


@pytest.mark.parametrize("error", [OwnError, KeyboardInterrupt, ZeroDivisionError])
def test_what_a_criterion_raises_passes_through_and_nothing_is_fitted(error: type[BaseException]) -> None:
    calls = []

    def failing(counts: np.ndarray) -> np.ndarray:
        calls.append(len(counts))
        if len(calls) > 2:
            raise error
        return own_gini(counts)

    estimator = tw.DecisionTreeClassifier(criterion=failing)

    with pytest.raises(error):
        estimator.fit([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])

    assert not hasattr(estimator, "model_")


def test_a_failed_fit_keeps_the_model_of_the_fit_before() -> None:
    X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]
    estimator = tw.DecisionTreeClassifier(criterion=own_gini).fit(X, y)
    model = estimator.model_
    estimator.set_params(criterion=lambda counts: np.full(len(counts), np.nan))

    with pytest.raises(ParameterError):
        estimator.fit(X, y)

    assert estimator.model_ is model


def test_a_criterion_may_write_on_what_it_is_given() -> None:
    def careless(counts: np.ndarray) -> np.ndarray:
        counts /= counts.sum(axis=1, keepdims=True)
        return 1.0 - (counts**2).sum(axis=1)

    X, y = make_table(1), np.random.default_rng(1).integers(0, 3, 60)

    careless_tree = tw.DecisionTreeClassifier(criterion=careless, missing="fractional").fit(X, y).tree_

    assert trees_equal(
        careless_tree, tw.DecisionTreeClassifier(criterion=own_gini, missing="fractional").fit(X, y).tree_
    )


def test_a_fitted_estimator_with_its_own_criterion_survives_a_pickle() -> None:
    X, y = make_table(2), np.random.default_rng(2).integers(0, 3, 60)
    estimator = tw.DecisionTreeClassifier(criterion=own_gini, missing="fractional").fit(X, y)

    again = pickle.loads(pickle.dumps(estimator))

    assert again.predict_proba(X).tobytes() == estimator.predict_proba(X).tobytes()
    assert trees_equal(again.fit(X, y).tree_, estimator.tree_)


def test_the_file_names_the_criterion(tmp_path) -> None:
    estimator = tw.DecisionTreeClassifier(criterion=own_gini).fit([[1.0], [2.0]], ["a", "b"])
    estimator.save(tmp_path / "model.tw")

    model = tw.load(tmp_path / "model.tw")

    assert model.facts["criterion"] == "own_gini"
    assert json.dumps(model.facts)
    assert model.predict([[0.0], [9.0]]).tolist() == ["a", "b"]
