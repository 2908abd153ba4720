"""Standard errors of forests: about what repeated forests vary by, the same whatever the blocks, honest where lost."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import treewright as tw
from treewright.data import memory
from treewright.exceptions import DataWarning, ParameterError, TooLargeError
from treewright.forest import jackknife
from treewright.forest.draws import Draws

X_NEW = np.array([[0.1, 0.5], [0.5, 0.5], [0.9, 0.2]])


def drawn_table(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    return X, 4 * X[:, 0] + rng.normal(size=n)


@pytest.fixture(scope="module", name="forest")
def _forest():
    return tw.RandomForestRegressor(n_estimators=300, max_depth=3, random_state=1).fit(*drawn_table(100, 0))


def test_it_is_about_how_far_forests_on_other_rows_lie_apart():
    """Over 30 tables: the spread of the predictions has a standard error of 13 %, the mean of the estimates less."""
    said, errors = [], []
    for seed in range(30):
        forest = tw.RandomForestRegressor(n_estimators=200, max_depth=3, random_state=seed).fit(*drawn_table(80, seed))
        said.append(forest.predict(X_NEW))
        errors.append(forest.predict_std(X_NEW))

    ratio = np.sqrt(np.mean(np.square(errors), axis=0)) / np.std(said, axis=0)

    # The jackknife is not without bias; Wager et al. find it too large for small samples.
    assert ((ratio > 0.7) & (ratio < 1.7)).all()


def test_without_the_correction_few_trees_would_seem_far_less_sure():
    """On average the correction takes away what the chance of few trees adds: 200 and 1,500 trees agree."""
    X, y = drawn_table(100, 3)
    few = [tw.RandomForestRegressor(n_estimators=200, max_depth=2, random_state=seed).fit(X, y) for seed in range(8)]
    many = tw.RandomForestRegressor(n_estimators=1500, max_depth=2).fit(X, y).predict_std(X_NEW) ** 2

    ratio = np.mean([forest.predict_std(X_NEW) ** 2 for forest in few], axis=0) / many

    assert ((ratio > 0.6) & (ratio < 1.5)).all()


def test_neither_threads_nor_blocks_change_a_bit(forest, monkeypatch):
    X = np.random.default_rng(1).uniform(size=(200, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        expected = forest.predict_std(X)
        by_row = np.concatenate([forest.predict_std(X[at : at + 1]) for at in range(5)])
        monkeypatch.setattr(jackknife, "_grams", {})
        monkeypatch.setattr(jackknife, "_DRAWN_CELLS", 3000)
        monkeypatch.setattr(jackknife, "_PREDICTED_CELLS", 2000)
        found = []
        for n_jobs in (1, 3):
            monkeypatch.setattr(forest, "n_jobs", n_jobs)
            jackknife._grams.clear()
            found.append(forest.predict_std(X))

    assert (expected > 0).any()
    for other in found:
        assert np.array_equal(other, expected, equal_nan=True)
    assert np.array_equal(by_row, expected[:5], equal_nan=True)


def test_weighed_rows_are_grouped_whatever_the_blocks(monkeypatch):
    weights = np.random.default_rng(2).integers(1, 6, 90).astype(float)
    tables = []
    for cells in (10, 77, 1000, 10**6):
        monkeypatch.setattr(jackknife, "_DRAWN_CELLS", cells)
        draws = Draws(np.arange(90, dtype=np.int32), 200, seed=1, weights=weights)
        tables.append(jackknife.gram_of_draws(draws, 7))

    assert tables[0][1] == pytest.approx(200 * 90 / weights.sum())
    for gram, n_draws in tables[1:]:
        assert np.array_equal(gram, tables[0][0])
        assert n_draws == tables[0][1]


def test_more_trees_make_another_table_of_trees():
    X, y = drawn_table(60, 1)
    forest = tw.RandomForestRegressor(n_estimators=300, warm_start=True, max_depth=2).fit(X, y)
    first = forest.predict_std(X_NEW)
    forest.set_params(n_estimators=500).fit(X, y)

    whole = tw.RandomForestRegressor(n_estimators=500, max_depth=2).fit(X, y).predict_std(X_NEW)
    assert np.array_equal(forest.predict_std(X_NEW), whole)
    assert not np.array_equal(first, whole)


def test_trees_that_all_say_the_same_have_no_error():
    X = drawn_table(50, 0)[0]
    forest = tw.RandomForestRegressor(n_estimators=20).fit(X, np.full(50, 0.1))

    assert forest.predict_std(X_NEW).tolist() == [0.0, 0.0, 0.0]


def test_too_few_trees_say_so_and_are_nan():
    forest = tw.RandomForestRegressor(n_estimators=30).fit(*drawn_table(400, 0))

    with pytest.warns(DataWarning, match="of 50 rows: 30 trees are too few"):
        errors = forest.predict_std(np.random.default_rng(0).uniform(size=(50, 2)))

    assert np.isnan(errors).any()
    assert (errors > 0).any()


@pytest.mark.parametrize("kind", [tw.RandomForestRegressor, tw.RandomForestClassifier])
@pytest.mark.parametrize(("n_trees", "told"), [(1, "1 tree is"), (2, "2 trees are"), (18, "at least 19")])
def test_trees_that_leave_some_rows_out_never_tell_nothing_even_where_they_agree(kind, n_trees, told):
    """A row that every tree drew may move the prediction, and no tree shows it; 0 would say that it is certain."""
    X, y = drawn_table(50, 0)
    forest = kind(n_estimators=n_trees).fit(X, (y > 2) * 1)

    with pytest.warns(DataWarning, match=told) as heard:
        errors = forest.predict_std(X_NEW)

    assert len(heard) == 1
    assert np.isnan(errors).all()


@pytest.mark.parametrize("exponent", [-1060, -600, 600, 1018])
def test_the_unit_of_the_target_changes_nothing_but_the_unit(forest, exponent):
    """With answers that are few whole numbers, which denormal numbers hold too."""
    model, draws = forest.model_, forest._trained.draws
    value = np.round(model.trees.leaf_value.astype(np.float64))
    errors = []
    for unit in (0, exponent):
        trees = replace(model.trees, leaf_value=np.ldexp(value, unit))
        errors.append(jackknife.standard_errors(replace(model, trees=trees, grid=None), draws, X_NEW))

    plain, other = errors

    assert (plain > 0).all()
    finest = 2.0 ** (-1074 - exponent)  # what lies between two denormal numbers
    np.testing.assert_allclose(np.ldexp(other, -exponent), plain, rtol=0, atol=finest)


def test_shapes_follow_the_predictions():
    X, y = drawn_table(60, 0)
    numbers = tw.RandomForestRegressor(n_estimators=200, max_depth=2).fit(X, np.stack([y, -y], axis=1))
    classes = tw.RandomForestClassifier(n_estimators=200, max_depth=2).fit(X, y > 2)
    both = tw.RandomForestClassifier(n_estimators=200, max_depth=2)
    both.fit(X, np.stack([y > 2, np.digitize(y, [1, 3])], axis=1).astype(int))

    assert numbers.predict_std(X_NEW).shape == (3, 2)
    of_classes = classes.predict_std(X_NEW)
    assert of_classes.shape == (3, 2)
    assert of_classes[:, 0] == pytest.approx(of_classes[:, 1], rel=1e-9)  # shares of two classes mirror each other
    assert [part.shape for part in both.predict_std(X_NEW)] == [(3, 2), (3, 3)]
    assert numbers.predict_std(np.empty((0, 2))).shape == (0, 2)


def test_trees_that_drew_nothing_have_no_jackknife():
    forest = tw.ExtraTreesRegressor(n_estimators=3).fit(*drawn_table(20, 0))

    with pytest.raises(ParameterError, match="bootstrap=True"):
        forest.predict_std(X_NEW)


def test_a_table_of_too_many_trees_is_refused(forest, monkeypatch):
    monkeypatch.setattr(memory, "ALWAYS_ALLOWED", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 10**6)
    monkeypatch.setattr(jackknife, "_grams", {})

    with pytest.raises(TooLargeError, match="a table of 300 x 300 trees"):
        forest.predict_std(X_NEW)
