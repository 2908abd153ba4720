"""Sums over trees on a grid of powers of two: exact in any order, and next to what they were without it."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treewright as tw
from treewright.exceptions import ModelFileError
from treewright.predict.ensemble import addends_of, boosted_parts, combined, contents_of, scores_of
from treewright.predict.walks import Reading
from treewright.trees.check_model import check_model
from treewright.trees.codec import dumps, loads
from treewright.trees.data import grid_of, grids_of, on_grid, parts_of, together

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
    """What the trees say of rows, added up as fractions; each part by itself."""
    how, n_trees = model.aggregation, len(model.trees)
    reading, contents = Reading(model, rows, 1), addends_of(model)
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
    sums = exact_sums(model, rows)
    assert all(Fraction(float(number)) == number for row in sums for number in row)
    means = np.array([[float(number) / total for number in row] for row in sums])
    assert together(means, model.n_parts).tolist() == said.tolist()


def test_the_grid_moves_no_answer_by_more_than_a_trillionth_of_the_range(model):
    without = replace(model, grid=None)
    said, was = (scores_of(each, X) if model.has_scores else combined(each, X) for each in (model, without))
    assert np.abs(said - was).max() <= 1e-12 * np.abs(was).max()
    assert (said != was).any() or model.aggregation.votes
    assert (model.n_parts > 1) == (model.combine == "mean")


def test_files_hold_the_grid_and_files_without_one_still_load(model):
    again = loads(dumps(model))
    assert again.grid == model.grid
    assert np.array_equal(combined(again, X), combined(model, X))
    without = replace(model, grid=None)
    old = loads(dumps(without))
    assert old.grid is None
    assert np.array_equal(combined(old, X), combined(without, X))


def test_first_parts_of_a_leaf_add_up_to_one_exactly_and_all_parts_to_its_shares():
    forest = MODELS["forest of classes"]().model_
    [shares], [parts] = contents_of(forest), addends_of(forest)
    assert {sum(map(Fraction, row[:3])) for row in parts.tolist()} == {1}
    assert [[sum(map(Fraction, row[k::3])) for k in range(3)] for row in parts.tolist()] == [
        list(map(Fraction, row)) for row in shares.tolist()
    ]


def test_a_model_of_one_grid_as_files_of_older_versions_have_it_rounds_as_they_did():
    forest = replace(MODELS["forest of classes"]().model_, grid=(-46,))
    again = loads(dumps(forest))
    [shares] = contents_of(again)
    reading = Reading(again, X, 1)
    assert b'\\"grid\\":-46' in dumps(forest)
    assert again.grid == (-46,)
    assert {sum(map(Fraction, row)) for row in shares.tolist()} == {1}
    assert np.abs(np.ldexp(shares, 46) % 1).max() == 0
    sums = sum(reading.of_tree(tree, (shares,)) for tree in range(30))
    assert np.array_equal(combined(again, X), sums / 30)


def test_a_grid_that_cannot_be_is_refused():
    forest, tree = MODELS["forest of classes"]().model_, tw.DecisionTreeClassifier().fit(X, CLASS).model_
    votes = MODELS["adaboost"]().model_
    assert tree.grid is None
    wrongs = ((5000,), (True,), (-10,), (-2000,), (), (-46, -46), (-46, -50), (-46, -2000), (-46, -93.0))
    for wrong in (
        *(replace(forest, grid=grid) for grid in wrongs),
        replace(tree, grid=(-40,)),
        replace(votes, grid=(-46, -93)),
    ):
        with pytest.raises(ModelFileError, match="grid is"):
            check_model(wrong)


def test_fewer_rounds_are_the_stages_of_all():
    boosted = MODELS["three classes"]()
    stages = list(boosted.model_.staged_scores(X))
    fewer = boosted.model_.prune("rounds", n_rounds=7)
    assert np.array_equal(fewer.predict_scores(X), stages[6])


@given(numbers=st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=40))
def test_numbers_on_their_grid_add_up_exactly(numbers):
    bound = math.fsum(map(abs, numbers))
    grid = grid_of(bound)
    moved = np.array(numbers) if grid is None else on_grid(np.array(numbers), (grid,))
    assert float(sum(map(Fraction, moved.tolist()))) == float(np.sum(moved)) == float(np.sum(moved[::-1]))
    assert np.abs(moved - numbers).max() <= 1.01 * bound * 2.0**-53 or grid is None
    assert grid is None or np.array_equal(on_grid(moved, (grid,)), moved)


@given(
    numbers=st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=12),
    picks=st.lists(st.integers(0, 11), min_size=2, max_size=40),
)
def test_parts_are_the_number_and_their_sums_are_exact(numbers, picks):
    chosen = np.array([numbers[pick % len(numbers)] for pick in picks])[:, None]
    grid = grids_of(chosen, math.fsum(map(abs, chosen[:, 0])), len(chosen))
    parts = parts_of(chosen, grid)
    assert [sum(map(Fraction, row)) for row in parts.tolist()] == [Fraction(number) for [number] in chosen.tolist()]
    for part in parts.T if grid is not None else ():
        assert float(sum(map(Fraction, part.tolist()))) == float(np.sum(part)) == float(np.cumsum(part[::-1])[-1])
        assert sum(map(Fraction, part.tolist())) == Fraction(float(np.sum(part)))


def test_numbers_beyond_the_grid_stay_as_they_are():
    assert on_grid(np.array([1e300, -1e300, 0.3]), (-1000,)).tolist() == [1e300, -1e300, 0.3]


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
    np.testing.assert_allclose(said[:, 0], without[:, 0], rtol=2.0**-32 if kind == "boosting" else 1e-14)
    assert kind == "boosting" or model.n_parts > 1


def equal_trees(kind, n_trees, y):
    """A single tree, and a mean of as many copies of it; packed or listed."""
    task = "Classifier" if y.dtype == int else "Regressor"
    one = getattr(tw, f"DecisionTree{task}")(max_depth=4)
    if kind == "forest":
        many = getattr(tw, f"RandomForest{task}")(n_trees, bootstrap=False, max_features=None, max_depth=4)
    else:
        many = getattr(tw, f"Bagging{task}")(one, n_estimators=n_trees, bootstrap=False)
    cells = np.round(X)
    return cells, one.fit(cells, y).model_, many.fit(cells, y).model_


@pytest.mark.parametrize("n_trees", [1, 2, 3, 7, 10, 100])
@pytest.mark.parametrize("kind", ["forest", "bag"])
def test_a_mean_of_equal_trees_is_the_tree_to_the_bit_at_every_threshold(kind, n_trees):
    cells, one, many = equal_trees(kind, n_trees, (CLASS > 0).astype(int))

    shares = one.predict_proba(cells)
    assert np.array_equal(many.predict_proba(cells), shares)
    again = loads(dumps(many))
    assert again.grid == many.grid
    assert n_trees == 1 or np.array_equal(combined(again, cells), shares)
    for at in (*np.arange(1, 10) / 10, *np.unique(shares[:, 1])):
        ours, theirs = (model.with_threshold(float(at)).predict(cells) for model in (many, one))
        assert np.array_equal(ours, theirs), at


@pytest.mark.parametrize("n_trees", [1, 3, 10, 100])
@pytest.mark.parametrize("kind", ["forest", "bag"])
@pytest.mark.parametrize("scale", [1.0, 2e9, 1e18, 1e200])
def test_a_mean_keeps_the_digits_of_small_numbers_next_to_large_ones(kind, n_trees, scale):
    y = np.where(np.round(X[:, 0]) > 0, scale, 3e-3) * (1 + np.round(np.abs(X[:, 1])))
    y[np.round(X[:, 0]) < -1] = 1.5e-9
    cells, one, many = equal_trees(kind, n_trees, y)

    assert np.array_equal(many.predict(cells), one.predict(cells))
    assert {1.5e-9, 3e-3} & set(many.predict(cells).tolist())


@pytest.mark.parametrize("largest", [1e-284, 1e-300, 1e-307, 3e-320])
def test_a_mean_of_equal_trees_near_the_least_float_is_the_tree(largest):
    y = largest * (0.1 + np.abs(np.round(X[:, 0], 1)) / 7)
    cells, one, many = equal_trees("forest", 7, y)

    assert np.array_equal(many.predict(cells), one.predict(cells))
    assert np.array_equal(combined(loads(dumps(many)), cells)[:, 0], one.predict(cells))


def test_different_trees_give_the_mean_of_their_numbers_to_the_last_place_but_one():
    y = np.where(np.arange(150) % 2, 3e-3, 2e9) * (1 + np.abs(NUMBER))
    model = tw.RandomForestRegressor(9, random_state=0).fit(X, y).model_
    reading = Reading(model, X, 1)
    said = np.hstack([reading.of_tree(tree, contents_of(model)) for tree in range(9)])
    exact = [float(sum(map(Fraction, row)) / 9) for row in said.tolist()]
    np.testing.assert_array_max_ulp(model.predict(X), np.array(exact), 1)
