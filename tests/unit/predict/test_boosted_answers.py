"""What boosted models and trees with weights say, against a slow twin; the same for one row, many rows, any threads."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from boosted_models import CASES, boosted, naive_answer, naive_median, naive_scores, naive_vote, table_of, weighted
from random_forests import SCHEMA, random_rows
from scipy.special import expit, softmax

from treewright.data.schema import Column, Schema
from treewright.model import Model
from treewright.predict.ensemble import (
    combined,
    predict_codes,
    predict_leaves,
    predict_probabilities,
    scores_of,
    staged_predictions,
)
from treewright.trees.data import Boosting, Link, ModelData, predictions_of_scores, weighted_median

X = Schema((Column("x", "numeric"),))


def linked(link: Link, n_classes: tuple[int, ...] = (), n_outputs: int = 1) -> ModelData:
    """A model that nothing is asked of but what scores mean."""
    classes = tuple(np.arange(count) for count in n_classes)
    task = "classification" if n_classes else "regression"
    n_outputs = len(n_classes) or n_outputs
    return ModelData(task, X, (), classes, n_outputs, combine="sum", boosting=Boosting((0.0,), link))  # type: ignore


@pytest.mark.parametrize("case", CASES)
def test_scores_and_answers_are_those_of_the_trees_one_by_one(case: str) -> None:
    rng = np.random.default_rng(1)
    model = boosted(rng, case)
    matrix = random_rows(rng, 30, SCHEMA)
    scores, answers = scores_of(model, matrix), combined(model, matrix)

    expected = [naive_scores(model, row) for row in matrix]
    assert scores.tolist() == expected
    np.testing.assert_allclose(answers, [naive_answer(model, each) for each in expected], rtol=1e-13)


@pytest.mark.parametrize("case", CASES)
def test_every_verb_of_a_boosted_model_agrees_with_the_others(case: str) -> None:
    rng = np.random.default_rng(2)
    model = boosted(rng, case)
    matrix = random_rows(rng, 25, SCHEMA)
    table = table_of(matrix)
    said = model.predict(table)

    rows = [{name: cells[at] for name, cells in table.items()} for at in range(25)]
    one_by_one = [model.predict_one(row) for row in rows]
    assert np.array_equal(np.array(one_by_one, said.dtype), said)
    if model.task == "classification":
        shares = model.predict_proba(table)
        per_output = shares if isinstance(shares, list) else [shares]
        codes = np.stack([each.argmax(axis=1) for each in per_output], axis=1)
        assert np.array_equal(predict_codes(model, matrix), codes)
        for each in per_output:
            np.testing.assert_allclose(each.sum(axis=1), 1.0, rtol=1e-15)
        labels = np.stack([model.classes[o][codes[:, o]] for o in range(model.n_outputs)], axis=1)
        assert np.array_equal(said.reshape(25, -1), labels)
    leaves = model.apply(table)
    assert leaves.shape == (25, model.n_trees)
    path, begins = model.decision_path(table)
    assert path[:, begins[0] : begins[1]].sum() >= 25
    assert np.array_equal(predict_leaves(model, matrix), leaves)
    # A tree alone predicts what it adds.
    k = len(model.boosting.base)  # type: ignore[union-attr]
    sums = np.tile(np.array(model.boosting.base), (25, 1))  # type: ignore[union-attr]
    for at in range(model.n_trees):
        sums[:, at % k] += model.tree(at).predict(table)
    assert np.array_equal(sums, model.predict_scores(table).reshape(25, -1))


@pytest.mark.parametrize("case", CASES)
def test_a_batch_equals_row_by_row_whatever_the_threads(case: str) -> None:
    rng = np.random.default_rng(3)
    model = boosted(rng, case, n_rounds=3)
    matrix = random_rows(rng, 700, SCHEMA)
    together = combined(model, matrix, 1)

    assert combined(model, matrix, 2).tobytes() == together.tobytes()
    assert combined(model, np.asfortranarray(matrix), 1).tobytes() == together.tobytes()
    for at in range(0, 700, 23):
        assert combined(model, matrix[at : at + 1], 1).tobytes() == together[at].tobytes()
        assert combined(model, matrix[at : at + 7], 1).tobytes() == together[at : at + 7].tobytes()


@pytest.mark.parametrize("case", CASES)
def test_stages_are_models_of_the_first_rounds(case: str) -> None:
    rng = np.random.default_rng(4)
    model = boosted(rng, case, n_rounds=3)
    matrix = random_rows(rng, 12, SCHEMA)
    table = table_of(matrix)

    stages = list(staged_predictions(model, matrix))
    scores = list(model.staged_scores(table))
    assert len(stages) == len(scores) == 3
    for at, (answer, score) in enumerate(zip(stages, scores, strict=True), 1):
        expected = [naive_scores(model, row, at) for row in matrix]
        assert score.reshape(12, -1).tolist() == expected
        np.testing.assert_allclose(answer, [naive_answer(model, each) for each in expected], rtol=1e-13)
    assert stages[-1].tobytes() == combined(model, matrix).tobytes()
    assert np.array_equal(list(model.staged_predict(table))[-1], model.predict(table))
    if model.task == "classification":
        last, shares = list(model.staged_predict_proba(table))[-1], model.predict_proba(table)
        assert np.array_equal(np.concatenate(last, axis=None), np.concatenate(shares, axis=None))


def test_links_do_not_overflow_and_keep_small_shares() -> None:
    scores = np.array([[0.0], [40.0], [-40.0], [1e300], [-1e300], [5e-324], [709.9]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shares = predictions_of_scores(linked("classes", (2,)), scores)
        rates = predictions_of_scores(linked("log"), scores)
        many = predictions_of_scores(
            linked("classes", (3,)), np.array([[1e300, 0.0, -1e300], [0.0, 0.0, 0.0], [800, 799, 0]])
        )

    np.testing.assert_allclose(shares[:3, 1], expit(scores[:3, 0]), rtol=1e-15)
    np.testing.assert_allclose(shares[:3, 0], expit(-scores[:3, 0]), rtol=1e-15)
    assert shares[2, 1] == pytest.approx(math.exp(-40), rel=1e-14)
    assert shares[3].round(9).tolist() == [0.0, 1.0]
    assert (shares >= 0).all()
    assert rates[3, 0] == np.finfo(np.float64).max
    assert rates[4, 0] == 0.0
    np.testing.assert_allclose(many[1:], softmax([[0.0, 0.0, 0.0], [800, 799, 0]], axis=1), rtol=1e-14)
    assert many[0].tolist() == [1.0, 0.0, 0.0]


def test_of_equal_shares_the_first_class_is_said() -> None:
    model = linked("classes", (2,))

    assert predictions_of_scores(model, np.array([[5e-324]])).argmax(axis=1).tolist() == [0]
    assert predictions_of_scores(model, np.array([[1e-15]])).argmax(axis=1).tolist() == [1]


@pytest.mark.parametrize("n_classes", [(3,), (2,), (2, 3)])
def test_weighted_votes_are_shares_of_the_weight(n_classes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(5)
    model = weighted(rng, "vote", n_classes=n_classes)
    matrix = random_rows(rng, 30, SCHEMA)

    np.testing.assert_allclose(combined(model, matrix), [naive_vote(model, row, 5) for row in matrix], rtol=1e-14)
    for at, stage in enumerate(staged_predictions(model, matrix), 1):
        np.testing.assert_allclose(stage, [naive_vote(model, row, at) for row in matrix], rtol=1e-14)
    assert stage.tobytes() == combined(model, matrix).tobytes()
    assert combined(model, matrix[3:4]).tobytes() == combined(model, matrix)[3].tobytes()
    shares = predict_probabilities(model, matrix)
    assert [each.shape for each in shares] == [(30, count) for count in n_classes]
    assert np.array_equal(np.stack([each.argmax(1) for each in shares], 1), predict_codes(model, matrix))


def test_the_weighted_median_is_the_first_prediction_to_reach_half_the_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    model = weighted(rng, "median", n_trees=7)
    matrix = random_rows(rng, 30, SCHEMA)
    expected = [[naive_median(model, row, 7)] for row in matrix]

    assert combined(model, matrix).tolist() == expected
    monkeypatch.setattr("treewright.predict.ensemble._MEDIAN_CELLS", 30)  # blocks of four rows
    assert combined(model, matrix).tolist() == expected
    for at, stage in enumerate(staged_predictions(model, matrix), 1):
        assert stage[:, 0].tolist() == [naive_median(model, row, at) for row in matrix]
    assert model.predict(table_of(matrix)).tolist() == [each for (each,) in expected]


def test_a_weighted_median_weighs() -> None:
    said = np.array([[1.0, 2.0, 3.0, 4.0]])

    assert weighted_median(said, np.array([1.0, 1.0, 1.0, 1.0])).tolist() == [2.0]
    assert weighted_median(said, np.array([1.0, 1.0, 1.0, 3.0])).tolist() == [3.0]
    assert weighted_median(said, np.array([1.0, 1.0, 1.0, 4.0])).tolist() == [4.0]
    assert weighted_median(said, np.zeros(4)).tolist() == [2.0]


def test_models_without_rounds_or_scores_say_so() -> None:
    rng = np.random.default_rng(7)
    votes, numbers = weighted(rng, "vote"), boosted(rng, "number")
    table = table_of(random_rows(rng, 3, SCHEMA))
    forest = Model("classification", SCHEMA, votes.trees, votes.classes, combine="mean")

    for verb in ("predict_scores", "staged_scores"):
        with pytest.raises(AttributeError, match="gradient boosting"):
            getattr(votes, verb)(table)
    for verb in ("staged_predict", "staged_predict_proba"):
        with pytest.raises(AttributeError, match="not fitted in rounds"):
            getattr(forest, verb)(table)
    with pytest.raises(AttributeError, match="no class probabilities"):
        numbers.staged_predict_proba(table)
    assert len(list(votes.staged_predict(table))) == 5
