"""A boosted model with fewer rounds: what is kept, what is judged, what is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from boosted_models import boosted, naive_answer, naive_scores, table_of, weighted
from random_forests import SCHEMA, random_rows

import treewright as tw
from treewright.boosting.growth import RoundsLog
from treewright.exceptions import DataError, ParameterError
from treewright.model import Model
from treewright.trees.check_model import check_model
from treewright.trees.codec import dumps
from treewright.trees.packed import take


def rows_for(case: str, seed: int = 1, **facts: Any) -> tuple[Model, np.ndarray, dict[str, Any], Any, np.ndarray]:
    """A model whose facts say something else, rows, a target and weights; numbers are above 0."""
    rng = np.random.default_rng(seed)
    model = boosted(rng, case, n_rounds=6)
    model = replace(model, facts={**model.facts, **facts})
    matrix = random_rows(rng, 40, SCHEMA)
    if model.classes:
        y: Any = np.stack([labels[rng.integers(0, len(labels), 40)] for labels in model.classes], axis=1)
    else:
        y = rng.gamma(1.0, size=(40, model.n_targets)) + 0.01
    return model, matrix, table_of(matrix), y[:, 0] if y.shape[1] == 1 else y, rng.random(40) + 0.1


def test_rounds_asked_for_are_kept_with_their_trees() -> None:
    model, matrix, table, _, _ = rows_for("four classes")

    fewer = model.prune("rounds", n_rounds=2)

    assert fewer.n_trees == 8
    assert fewer.predict_scores(table).tolist() == [naive_scores(model, row, 2) for row in matrix]
    whole = take(model.trees, range(8))  # type: ignore[arg-type]
    for name, cells in whole.arrays().items():
        assert getattr(fewer.trees, name).tobytes() == cells.tobytes()
    check_model(fewer)
    assert str(fewer.prune_log) == "rounds: 6 -> 2"
    assert len(fewer.prune_log) == 4
    assert fewer.facts["pruning"] == [{"method": "rounds", "rounds_before": 6, "rounds": 2}]
    assert "pruned" not in fewer.tree(0).show()  # the trees themselves were not cut
    assert dumps(model.prune("rounds", n_rounds=6)) == dumps(model)


LOSSES: list[tuple[str, dict[str, Any], Any]] = [
    ("number", {"loss": "squared_error"}, lambda y, s: 0.5 * (y[0] - s[0]) ** 2),
    ("number", {"loss": {"name": "absolute_error"}}, lambda y, s: abs(y[0] - s[0])),
    ("number", {"loss": "expectile", "parameters": {"expectile": 0.9}},
     lambda y, s: (0.9 if y[0] > s[0] else 0.1) * (y[0] - s[0]) ** 2),
    ("number", {"loss": {"name": "huber", "huber_delta": [0.4]}},
     lambda y, s: 0.5 * (y[0] - s[0]) ** 2 if abs(y[0] - s[0]) <= 0.4 else 0.4 * (abs(y[0] - s[0]) - 0.2)),
    ("number", {"loss": {"name": "huber", "huber_delta": []}}, lambda y, s: (y[0] - s[0]) ** 2),
    ("two numbers", {"loss": "squared_error"}, lambda y, s: 0.5 * ((y[0] - s[0]) ** 2 + (y[1] - s[1]) ** 2)),
    ("rates", {"loss": "gamma"}, lambda y, s: y[0] / math.exp(s[0]) + s[0]),
    ("rates", {"loss": None}, lambda y, s: (y[0] - math.exp(s[0])) ** 2),
    ("rates", {"loss": "squared_error"}, lambda y, s: (y[0] - math.exp(s[0])) ** 2),  # not of this link
    ("three quantiles", {"loss": "quantile", "parameters": {"quantile": [0.1, 0.5, 0.9]}},
     lambda y, s: sum(max(q * (y[0] - v), (q - 1) * (y[0] - v)) for q, v in zip((0.1, 0.5, 0.9), s, strict=True))),
]  # fmt: skip


@pytest.mark.parametrize(("case", "facts", "loss"), LOSSES)
def test_rows_keep_the_rounds_up_to_the_lowest_loss(case: str, facts: dict[str, Any], loss: Any) -> None:
    model, matrix, table, y, weights = rows_for(case, **facts)
    targets = y.reshape(40, -1)
    means = []
    for stop in range(1, 7):
        values = [loss(target, naive_scores(model, row, stop)) for target, row in zip(targets, matrix, strict=True)]
        means.append(float(np.average(values, weights=weights)))

    fewer = model.prune("rounds", table, y, weights)

    log = fewer.prune_log
    assert isinstance(log, RoundsLog)
    differences = np.array(log.losses) - np.array(means)
    # A loss may leave out what does not depend on the scores.
    np.testing.assert_allclose(differences, differences[0], atol=1e-12)
    assert log.after == int(np.argmin(means)) + 1
    assert fewer.n_trees == log.after * model.boosting.n_scores  # type: ignore[union-attr]
    assert log.to_dict()["round"] == [1, 2, 3, 4, 5, 6]
    assert log.loss in str(log)


@pytest.mark.parametrize("case", ["two classes", "four classes", "several outputs", "one class"])
def test_classes_are_judged_by_log_loss(case: str) -> None:
    model, matrix, table, y, _ = rows_for(case)
    means = []
    for stop in range(1, 7):
        total = 0.0
        for row, labels in zip(matrix, y.reshape(40, -1), strict=True):
            shares, begin = naive_answer(model, naive_scores(model, row, stop)), 0
            for label, own in zip(labels, model.classes, strict=True):
                total -= math.log(shares[begin + own.tolist().index(label)])
                begin += len(own)
        means.append(total / 40)

    log = model.prune("rounds", table, y).prune_log

    assert isinstance(log, RoundsLog)
    np.testing.assert_allclose(log.losses, means, rtol=1e-9, atol=1e-12)
    assert log.loss == "log_loss"


def test_what_cannot_be_done_is_refused() -> None:
    model, _, table, y, weights = rows_for("number")
    rng = np.random.default_rng(3)
    for wrong, message in (
        ({}, "needs either n_rounds"),
        ({"X": table, "y": y, "n_rounds": 2}, "needs either n_rounds"),
        ({"n_rounds": 0}, "whole number >= 1"),
        ({"n_rounds": 7}, "has 6 rounds; give 1 to 6"),
        ({"n_rounds": True}, "whole number"),
        ({"n_rounds": 2.5}, "whole number"),
        ({"rounds": 2}, "no option 'rounds'"),
        ({"X": table}, "X and y together"),
        ({"sample_weight": weights}, "only with X and y"),
    ):
        with pytest.raises(ParameterError, match=message):
            model.prune("rounds", **wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="this model has none"):
        weighted(rng, "vote").prune("rounds", n_rounds=1)
    with pytest.raises(ParameterError, match="the model of all trees"):
        model.tree(0).pruned("Rounds", None)
    with pytest.raises(ParameterError, match="is for one tree"):
        model.prune("leaves", max_leaves=2)
    rates, _, table, y, _ = rows_for("rates", loss="gamma")
    with pytest.raises(DataError, match="gamma"):
        rates.prune("rounds", table, -y)
    two, _, table, y, _ = rows_for("two numbers")
    with pytest.raises(DataError, match="1 outputs, and the model has 2"):
        two.prune("rounds", table, y[:, 0])


def test_what_is_told_of_dropped_rounds_goes_with_them() -> None:
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(120, 3)), rng.normal(size=(60, 3))
    est = tw.GradientBoostingRegressor(12, max_leaf_nodes=4, min_samples_leaf=5)
    est.fit(X, X[:, 0] + rng.normal(size=120), X_val=new, y_val=new[:, 0])
    plain = tw.GradientBoostingRegressor(12, max_leaf_nodes=4, min_samples_leaf=5).fit(X, X[:, 0] ** 2)
    curve = est.history_["validation"]

    for kept in (1, 3, 11):
        fewer = est.prune(n_rounds=kept)
        best = min(range(1, kept + 1), key=lambda at: curve[at])  # type: ignore[arg-type,return-value]
        assert (fewer.n_iter_, fewer.n_estimators_) == (kept, kept)
        assert fewer.best_iteration_ == fewer.model_.facts["best_iteration"] == best
        assert fewer.history_["validation"] == curve[: kept + 1]
        small = plain.prune(n_rounds=kept)
        assert (small.n_iter_, small.best_iteration_, small.history_) == (kept, kept, {})
    assert (est.n_iter_, len(curve), plain.best_iteration_) == (12, 13, 12)


@pytest.mark.parametrize("history", [None, 3, {}, {"train": 3}, {"train": ["a"] * 7}, {"validation": [None] * 2}])
def test_facts_of_any_origin_are_cut(history: Any) -> None:
    model = replace(rows_for("number")[0], facts={"history": history, "best_iteration": 6})

    assert 1 <= model.prune("rounds", n_rounds=2).facts["best_iteration"] <= 2
