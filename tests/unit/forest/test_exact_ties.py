"""Verdicts at an exact tie: rows that are all alike are inliers, and a share of the rows is that share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import treewright as tw
from treewright.estimators.members import Average
from treewright.forest.isolation import lowest_share
from treewright.trees.data import with_grid

pytestmark = pytest.mark.filterwarnings("ignore::treewright.exceptions.DataWarning")  # of a few rows


@pytest.mark.parametrize("n_trees", [1, 7, 100])
def test_rows_that_are_all_alike_are_inliers_for_every_number_of_rows(n_trees):
    odd = []
    for n in (*range(1, 40), *range(40, 300, 300 if n_trees == 100 else 13)):
        rows = np.ones((n, 2))
        forest = tw.IsolationForest(n_estimators=n_trees).fit(rows)
        is_tie = (forest.decision_function(rows) == 0).all() and (forest.predict(rows) == 1).all()
        odd += [] if is_tie and (forest.score_samples(rows) == -0.5).all() else [n]
    assert not odd


def test_contamination_marks_that_share_of_rows_with_different_scores():
    for n in (11, 51, 101, 201):
        scores = np.random.default_rng(n).permutation(-np.arange(n, 0, -1.0))
        for percent in range(1, 50):
            if percent * (n - 1) % 100 == 0:  # the limit is a score
                limit = lowest_share(scores, None, percent / 100)
                assert (scores < limit).sum() == percent * (n - 1) // 100
                assert lowest_share(scores, np.full(n, 1.0), percent / 100) == limit


@pytest.mark.parametrize("value", [0.1, -1 / 3])
def test_the_mean_of_neighbours_with_equal_numbers_is_that_number(value):
    rows = np.arange(12.0)[:, None]
    for k in range(1, 12):
        for weights in ("uniform", "distance", "triangular"):
            est = tw.KNeighborsRegressor(n_neighbors=k, weights=weights).fit(rows, np.full(12, value))
            assert (est.predict(rows + 0.25) == value).all()


def test_the_mean_of_equal_members_is_what_each_predicts():
    told = np.array([[0.1, 0.9], [1 / 3, 2 / 3]])
    for n in range(1, 30):
        average = Average([told.shape])
        for _ in range(n):
            average.add([told])
        assert average.means()[0].tolist() == told.tolist()
    some = Average([(2, 1)])
    some.add([np.array([[1.0]])], np.array([1]))
    some.add([np.array([[2.0]])], np.array([1]))
    assert np.isnan(some.means()[0][0, 0])
    assert some.means()[0][1, 0] == 1.5


def test_a_tie_of_mirrored_trees_is_one_to_the_bit():
    # Two halves of a table with exchanged classes: in the mean of their trees no class leads.
    shares = np.array([[1 / 3, 2 / 3], [2 / 3, 1 / 3], [0.2, 0.8], [0.8, 0.2]])
    trees = [tw.DecisionTreeClassifier(max_depth=1).fit([[0.0]] * 15, [0] * k + [1] * (15 - k)) for k in (5, 10, 3, 12)]
    assert [tree.predict_proba([[0.0]])[0].tolist() for tree in trees] == shares.tolist()
    model = with_grid(replace(trees[0].model_, trees=tuple(tree.model_.trees[0] for tree in trees), combine="mean"))
    assert model.predict_proba([[0.0]]).tolist() == [[0.5, 0.5]]
    assert model.predict([[0.0]]).tolist() == [0]
