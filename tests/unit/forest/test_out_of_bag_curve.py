"""Out-of-bag error over the number of trees: the last point is the score of the fit, each point a smaller forest."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

import treewright as tw
from treewright.exceptions import ParameterError
from treewright.forest.out_of_bag import OobCurve, counts_to_show

X, Y = load_breast_cancer(return_X_y=True)
NUMBERS = load_diabetes(return_X_y=True)
WEIGHTS = {
    "none": None,
    "whole numbers": np.random.default_rng(0).integers(0, 3, len(Y)).astype(float),
    "chances": np.random.default_rng(1).random(len(Y)),
}


# Of heavy rows some are drawn by all of 25 trees: the fit says so, and so do its estimates; the curve counts them.
@pytest.mark.filterwarnings("ignore:.* sampled for every tree")
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(
    "parameters",
    [{}, {"voting": "hard"}, {"class_weight": "balanced_subsample"}, {"criterion": "misclassification"},
     {"max_samples": 0.3}],
    ids=str,
)  # fmt: skip
def test_the_last_point_is_the_score_of_the_fit(parameters, weights):
    forest = tw.RandomForestClassifier(n_estimators=25, oob_score=True, **parameters).fit(X, Y, WEIGHTS[weights])

    curve = forest.oob_curve()

    assert curve.score[-1] == forest.oob_score_
    assert curve.error[-1] == 1 - forest.oob_score_


@pytest.mark.parametrize(
    "parameters", [{}, {"criterion": "absolute_error"}, {"bootstrap": True, "extra": True}], ids=str
)
def test_the_last_point_of_numbers_is_the_score_of_the_fit(parameters):
    options = dict(parameters)
    kind = tw.ExtraTreesRegressor if options.pop("extra", False) else tw.RandomForestRegressor
    forest = kind(n_estimators=25, oob_score=True, **options).fit(*NUMBERS)

    curve = forest.oob_curve()

    assert curve.score[-1] == forest.oob_score_
    gap = forest.oob_prediction_ - NUMBERS[1]
    assert curve.error[-1] == np.square(gap).mean()


def test_each_point_is_the_score_of_a_smaller_forest():
    curve = tw.RandomForestClassifier(n_estimators=30).fit(X, Y).oob_curve()

    for n in (20, 25, 30):
        smaller = tw.RandomForestClassifier(n_estimators=n, oob_score=True).fit(X, Y)
        at = curve.n_trees.tolist().index(n)
        assert curve.score[at] == smaller.oob_score_


def test_it_does_not_need_oob_score_at_the_fit_nor_depend_on_threads():
    one, four = (tw.RandomForestClassifier(n_estimators=20, n_jobs=n).fit(X, Y).oob_curve() for n in (1, 4))

    assert one.to_dict() == four.to_dict()


def test_a_warm_start_goes_on():
    forest = tw.RandomForestClassifier(n_estimators=10, warm_start=True).fit(X, Y)
    more = forest.set_params(n_estimators=20).fit(X, Y).oob_curve()

    assert more.to_dict() == tw.RandomForestClassifier(n_estimators=20).fit(X, Y).oob_curve().to_dict()


def test_the_first_points_judge_the_rows_that_a_tree_left_out():
    forest = tw.RandomForestClassifier(n_estimators=10).fit(X, Y)

    curve = forest.oob_curve()

    drawn = [set(rows.tolist()) for rows in forest.estimators_samples_]
    left = [len(X) - len(set.intersection(*drawn[: at + 1])) for at in range(10)]
    assert curve.n_judged.tolist() == left


def test_a_pickle_needs_the_table_again():
    forest = pickle.loads(pickle.dumps(tw.RandomForestClassifier(n_estimators=10).fit(X, Y)))

    with pytest.raises(ParameterError, match="oob_curve"):
        forest.oob_curve()
    with pytest.raises(ParameterError, match="this one is different"):
        forest.oob_curve(X[::-1], Y)
    assert forest.oob_curve(X, Y).n_trees[-1] == 10


def test_trees_on_all_rows_have_none():
    with pytest.raises(ParameterError, match="bootstrap=True"):
        tw.ExtraTreesClassifier(n_estimators=3).fit(X, Y).oob_curve()


def test_points_bound_the_curve():
    forest = tw.RandomForestClassifier(n_estimators=50).fit(X, Y)

    curve = forest.oob_curve(points=7)

    assert len(curve.n_trees) <= 8
    assert curve.n_trees[[0, -1]].tolist() == [1, 50]
    with pytest.raises(ParameterError, match="points"):
        forest.oob_curve(points=1)


@pytest.mark.parametrize("n", [1, 2, 59, 60, 61, 1000, 12345])
def test_numbers_of_trees_ascend_from_one_to_all(n):
    counts = counts_to_show(n, 60)

    assert counts == sorted(set(counts))
    assert (counts[0], counts[-1]) == (1, n)
    assert len(counts) <= 61


def test_it_is_printed_and_drawn():
    curve = tw.RandomForestRegressor(n_estimators=200).fit(*NUMBERS).oob_curve()

    text = str(curve)

    assert max(map(len, text.splitlines())) <= 80
    assert "to_dict() has every number of trees" in text
    assert repr(curve) == text
    assert curve.plot().axes[0].get_xlabel() == "trees"


def test_it_cannot_be_changed():
    curve = OobCurve("classification", np.array([1]), np.array([0.1]), np.array([0.9]), np.array([3]), 4)

    with pytest.raises(ValueError, match="read-only"):
        curve.error[0] = 0
