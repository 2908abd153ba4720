"""Contributions equal the slow twin's, for every algorithm and way with missing cells, by each engine."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.oracle.naive_contributions import interactions, shapley, value_by_rows, value_by_shares

import treewright as tw
from treewright.explain import contributions
from treewright.explain.contributions import contributions_of, players_of
from treewright.predict.ensemble import scores_of

RNG = np.random.default_rng(3)


def table_of(n: int, *, missing: bool) -> tuple[dict[str, list[Any]], np.ndarray, np.ndarray]:
    a, b = RNG.normal(size=n).round(1), RNG.integers(0, 4, n).astype(float)
    level, other = RNG.integers(0, 5, n), RNG.integers(0, 3, n)
    table: dict[str, list[Any]] = {
        "a": a.tolist(),
        "b": b.tolist(),
        "name": [f"l{code}" for code in level],
        "other": [f"o{code}" for code in other],
    }
    if missing:
        for cells in table.values():
            for at in np.flatnonzero(RNG.random(n) < 0.15).tolist():
                cells[at] = None
    numbers = a * (level > 2) + b + (other == 1) * (a > 0) + RNG.normal(scale=0.3, size=n)
    return table, numbers, np.array(["x", "y", "z"])[np.digitize(numbers, [1.0, 2.5])]


MODELS: dict[str, Any] = {
    "cart": lambda t, x, y: tw.DecisionTreeClassifier(max_depth=5).fit(t, y),
    "numbers": lambda t, x, y: tw.DecisionTreeRegressor(max_leaf_nodes=12).fit(t, x),
    "two outputs": lambda t, x, y: tw.DecisionTreeRegressor(max_depth=4).fit(t, np.stack([x, x**2], axis=1)),
    "branch": lambda t, x, y: tw.DecisionTreeClassifier(max_depth=4, missing="branch").fit(t, y),
    "surrogate": lambda t, x, y: tw.DecisionTreeClassifier(max_depth=4, missing="surrogate").fit(t, y),
    "fractional": lambda t, x, y: tw.DecisionTreeClassifier(max_depth=4, missing="fractional").fit(t, y),
    "multiway": lambda t, x, y: tw.DecisionTreeRegressor(max_depth=4, nominal_splits="multiway").fit(t, x),
    "c45": lambda t, x, y: tw.C45Classifier(confidence=None, max_depth=4).fit(t, y),
    "chaid": lambda t, x, y: tw.CHAIDClassifier(alpha=0.5, alpha_merge=0.5).fit(t, y),
    "forest": lambda t, x, y: tw.RandomForestClassifier(3, max_depth=4).fit(t, y),
    "hard votes": lambda t, x, y: tw.RandomForestClassifier(3, max_depth=4, voting="hard").fit(t, y),
    "bag": lambda t, x, y: tw.BaggingRegressor(tw.DecisionTreeRegressor(max_depth=3), 3).fit(t, x),
    "adaboost": lambda t, x, y: tw.AdaBoostClassifier(tw.DecisionTreeClassifier(max_depth=2), n_estimators=4).fit(t, y),
    "boosting": lambda t, x, y: tw.GradientBoostingRegressor(4, max_leaf_nodes=9, min_samples_leaf=3).fit(t, x),
    "three scores": lambda t, x, y: tw.GradientBoostingClassifier(2, max_depth=4, min_samples_leaf=3).fit(t, y),
}
ENGINES = ("tables", "quadrature")


def use(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave an engine no choice."""
    monkeypatch.setattr(contributions, "_STEPS_OF_A_CELL", 0 if engine == "tables" else 1 << 40)
    monkeypatch.setattr(contributions, "_LONGEST", 12 if engine == "tables" else 0)


def case(name: str, *, missing: bool) -> tuple[Any, np.ndarray, np.ndarray]:
    table, numbers, labels = table_of(120, missing=missing)
    model = MODELS[name](table, numbers, labels).model_
    matrix = model._encoded(table_of(12, missing=missing)[0], "Model")
    return model, np.asarray(matrix, np.float64), np.asarray(model._encoded(table, "Model"), np.float64)[:9]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_by_shares_of_the_training_rows(name: str, missing: bool, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, matrix, _ = case(name, missing=missing)
    use(engine, monkeypatch)
    player_of, players = players_of(model.schema)
    found = contributions_of(model, matrix)
    pairs = contributions_of(model, matrix, pairs=True)
    for at in range(6):
        value = cache(value_by_shares(model, player_of, matrix[at]))
        np.testing.assert_allclose(found.values[at], shapley(range(len(players)), value), rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(found.base, value(frozenset()), rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(pairs.values[at], interactions(range(len(players)), value), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", MODELS)
def test_by_background_rows(name: str, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = name not in ("fractional", "c45")
    model, matrix, others = case(name, missing=missing)
    use(engine, monkeypatch)
    player_of, players = players_of(model.schema)
    found = contributions_of(model, matrix, kind="interventional", background=others)
    pairs = contributions_of(model, matrix, kind="interventional", background=others, pairs=True)
    for at in range(4):
        value = cache(value_by_rows(model, player_of, matrix[at], others))
        np.testing.assert_allclose(found.values[at], shapley(range(len(players)), value), rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(found.base, value(frozenset()), rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(pairs.values[at], interactions(range(len(players)), value), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", MODELS)
def test_changes_of_the_worth(name: str, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, matrix, others = case(name, missing=name not in ("fractional", "c45"))
    use(engine, monkeypatch)
    player_of, players = players_of(model.schema)
    found = contributions_of(model, matrix, kind="interventional", background=others, pairs=True, worths=True)
    single = contributions_of(model, matrix, kind="interventional", background=others, worths=True)
    for at in range(4):
        value = cache(value_by_rows(model, player_of, matrix[at], others))
        nothing = value(frozenset())
        for one in range(len(players)):
            alone = value(frozenset({one})) - nothing
            np.testing.assert_allclose(found.values[at, one, one], alone, rtol=1e-11, atol=1e-12)
            np.testing.assert_allclose(single.values[at, one], alone, rtol=1e-11, atol=1e-12)
            for two in range(one):
                beyond = value(frozenset({one, two})) - value(frozenset({two})) - nothing - alone + nothing
                np.testing.assert_allclose(found.values[at, one, two], beyond, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("kind", ["path", "interventional", "steps"])
@pytest.mark.parametrize("name", MODELS)
def test_they_add_up_to_the_answers(name: str, kind: Any) -> None:
    model, matrix, others = case(name, missing=kind != "interventional" or name not in ("fractional", "c45"))
    found = contributions_of(model, matrix, kind=kind, background=others if kind == "interventional" else None)
    if model.has_scores:
        answers = scores_of(model, matrix)
    elif model.task == "classification":
        answers = np.concatenate(model.shares_of(matrix), axis=1)
    else:
        answers = model.numbers_of(matrix)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), answers.reshape(len(matrix), -1), atol=1e-13)
