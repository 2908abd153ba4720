"""Sums over trees on a grid of powers of two: exact in any order, and next to what they were without it."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treewright as tw
from treewright.exceptions import ModelFileError
from treewright.model.aggregation import grid_of, on_grid
from treewright.model.check import check_model
from treewright.model.codec import dumps, loads
from treewright.predict.ensemble import boosted_parts, combined, contents_of, scores_of
from treewright.predict.walks import reading_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
NUMBER = X[:, 0] * 3 + RNG.normal(size=150)
CLASS = np.digitize(NUMBER, [-1.5, 1.5])
MODELS = {
    "forest of classes": lambda: tw.RandomForestClassifier(30, max_depth=3, random_state=0).fit(X, CLASS),
    "forest of numbers": lambda: tw.RandomForestRegressor(30, random_state=0).fit(X, NUMBER),
    "extra-trees": lambda: tw.ExtraTreesRegressor(7, random_state=0).fit(X, NUMBER * 1e9),
    "bag": lambda: tw.BaggingRegressor(tw.DecisionTreeRegressor(), n_estimators=11, random_state=0).fit(X, NUMBER),
    "adaboost": lambda: tw.AdaBoostClassifier(tw.DecisionTreeClassifier(max_depth=2), n_estimators=9).fit(X, CLASS),
    "two classes": lambda: tw.GradientBoostingClassifier(40, random_state=0).fit(X, NUMBER > 0),
    "three classes": lambda: tw.GradientBoostingClassifier(20, random_state=0).fit(X, CLASS),
    "small numbers": lambda: tw.GradientBoostingRegressor(40, random_state=0).fit(X, NUMBER * 1e-9),
    "members": lambda: tw.GradientBoostingRegressor(random_state=0, n_members=2).fit(X, NUMBER),
}


@pytest.fixture(params=MODELS)
def model(request):
    return MODELS[request.param]().model_


def exact_sums(model, rows):
    """What the trees say of rows, added up as fractions."""
    how, n_trees = model.aggregation, len(model.trees)
    reading, contents = reading_of(model, rows, 1), contents_of(model)
    base = boosted_parts(model)[1] if model.has_scores else (0.0,) * contents[0].shape[1]
    sums = [[Fraction(begin) for begin in base] for _ in rows]
    for tree in range(n_trees):
        weight = Fraction(float(how.weights_of(n_trees)[tree]))
        for row, said in zip(sums, reading.of_tree(tree, contents).tolist(), strict=True):
            for k, number in enumerate(said):
                row[tree % len(base) if model.has_scores else k] += Fraction(number) * weight
    return sums


def test_sums_are_exact_so_that_any_order_gives_the_same_bits(model):
    assert model.grid is not None
    rows = X[:25]
    total = 1.0 if model.has_scores else float(model.aggregation.total(len(model.trees)))
    said = scores_of(model, rows) if model.has_scores else combined(model, rows)
    assert [[float(number) / total for number in row] for row in exact_sums(model, rows)] == said.tolist()


def test_the_grid_moves_no_answer_by_more_than_a_trillionth_of_the_range(model):
    without = replace(model, grid=None)
    said, was = (scores_of(each, X) if model.has_scores else combined(each, X) for each in (model, without))
    assert np.abs(said - was).max() <= 1e-12 * np.abs(was).max()
    assert (said != was).any() or model.aggregation.votes


def test_files_hold_the_grid_and_files_without_one_still_load(model):
    again = loads(dumps(model))
    assert again.grid == model.grid
    assert np.array_equal(combined(again, X), combined(model, X))
    without = replace(model, grid=None)
    old = loads(dumps(without))
    assert old.grid is None
    assert np.array_equal(combined(old, X), combined(without, X))


def test_shares_of_a_leaf_add_up_to_one_exactly():
    forest = MODELS["forest of classes"]().model_
    [shares] = contents_of(forest)
    assert {sum(map(Fraction, row)) for row in shares.tolist()} == {1}


def test_a_grid_that_cannot_be_is_refused():
    forest, tree = MODELS["forest of classes"]().model_, tw.DecisionTreeClassifier().fit(X, CLASS).model_
    assert tree.grid is None
    for wrong in (*(replace(forest, grid=grid) for grid in (5000, True, -10, -2000)), replace(tree, grid=-40)):
        with pytest.raises(ModelFileError, match="grid is"):
            check_model(wrong)


def test_fewer_rounds_are_the_stages_of_all():
    boosted = MODELS["three classes"]()
    stages = list(boosted.model_.staged_scores(X))
    fewer = boosted.model_.prune("rounds", n_rounds=7)
    assert np.array_equal(fewer.predict_scores(X), stages[6])


@settings(deadline=None, derandomize=True, max_examples=300)
@given(numbers=st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=40))
def test_numbers_on_their_grid_add_up_exactly(numbers):
    bound = math.fsum(map(abs, numbers))
    grid = grid_of(bound)
    moved = on_grid(np.array(numbers), grid)
    assert float(sum(map(Fraction, moved.tolist()))) == float(np.sum(moved)) == float(np.sum(moved[::-1]))
    assert np.abs(moved - numbers).max() <= bound * 2.0**-53 or grid is None
    assert np.array_equal(on_grid(moved, grid), moved)


def test_numbers_beyond_the_grid_stay_as_they_are():
    assert on_grid(np.array([1e300, -1e300, 0.3]), -1000).tolist() == [1e300, -1e300, 0.3]


@pytest.mark.parametrize("large", [1.0, 1e3, 1e9, 1e17])
@pytest.mark.parametrize("kind", ["forest", "bag", "boosting", "outputs"])
def test_ordinary_answers_stay_what_they_are_beside_an_outlier_and_other_outputs(kind, large):
    y = NUMBER + 10
    y = np.column_stack([y, y * large]) if kind == "outputs" else np.concatenate([[large * 10], y[1:]])
    est = {
        "bag": tw.BaggingRegressor(tw.DecisionTreeRegressor(), n_estimators=9, random_state=0),
        "boosting": tw.GradientBoostingRegressor(30, random_state=0),
    }.get(kind, tw.RandomForestRegressor(50, random_state=0))
    model = est.fit(X, y).model_
    said, without = (each.numbers_of(X) for each in (model, replace(model, grid=None)))
    np.testing.assert_allclose(said[:, 0], without[:, 0], rtol=2.0**-32)
    assert (model.grid is None) == (large > 1e6 and kind != "boosting") or kind == "boosting"
