"""Several estimators on the same folds, and the corrected test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.dummy import DummyClassifier

import treewright as tw
from treewright.exceptions import ParameterError
from treewright.model_selection import compare, cross_validate
from treewright.model_selection.paired import corrected_t, holm

X, Y = load_iris(return_X_y=True)
TREES = {"stump": tw.DecisionTreeClassifier(max_depth=1), "tree": tw.DecisionTreeClassifier(max_depth=3)}


def test_scores_are_those_of_cross_validate_on_the_same_folds():
    found = compare(TREES, X, Y, cv=5, random_state=3)

    for name, est in TREES.items():
        alone = cross_validate(est, X, Y, cv=5, random_state=3)
        assert found[name].scores.tolist() == alone.test["accuracy"].tolist()
        assert found[name].standard_error == alone.standard_error
        assert found[name].n_leaves == alone.n_leaves.mean()


def test_the_p_value_is_that_of_the_written_out_formula():
    X, y = load_breast_cancer(return_X_y=True)
    cv = np.arange(569) % 7

    found = compare({"a": tw.DecisionTreeClassifier(max_depth=1), "b": tw.DecisionTreeClassifier()}, X, y, cv=cv)

    d = found["b"].scores - found["a"].scores
    share = sum((cv == k).sum() / (cv != k).sum() for k in range(7)) / 7
    variance = sum((each - sum(d) / 7) ** 2 for each in d) / 6
    t = (sum(d) / 7) / math.sqrt((1 / 7 + share) * variance)
    assert found.best.name == "b"
    assert math.isclose(found["a"].p_value, 2 * stats.t.sf(abs(t), df=6), rel_tol=1e-12)
    assert math.isnan(found["b"].p_value)


def test_without_shared_rows_the_test_is_the_plain_paired_one():
    first, second = np.array([0.9, 0.8, 0.85, 0.95]), np.array([0.85, 0.8, 0.8, 0.85])

    t, p = corrected_t(first - second, 0.0)

    wanted = stats.ttest_rel(first, second)
    assert math.isclose(t, wanted.statistic, rel_tol=1e-12)
    assert math.isclose(p, wanted.pvalue, rel_tol=1e-12)


def test_the_correction_makes_a_difference_less_certain():
    d = np.array([0.02, 0.00, 0.03, 0.01, 0.04])

    assert corrected_t(d, 1 / 4)[1] > corrected_t(d, 0.0)[1]


def test_the_same_difference_everywhere_is_certain_and_none_is_none():
    assert corrected_t(np.zeros(5), 0.25) == (0.0, 1.0)
    assert corrected_t(np.full(5, 0.1), 0.25) == (math.inf, 0.0)
    assert corrected_t(np.full(5, -0.1), 0.25) == (-math.inf, 0.0)
    assert all(map(math.isnan, corrected_t(np.array([0.1]), 0.25)))
    assert all(map(math.isnan, corrected_t(np.array([0.1, math.nan]), 0.25)))


def test_holm_multiplies_by_how_many_are_left_and_never_falls():
    assert holm([0.01, 0.02, 0.03, 0.9]) == pytest.approx([0.04, 0.06, 0.06, 0.9])
    assert holm([0.5, 0.6]) == [1.0, 1.0]
    assert holm([0.02, math.nan, 0.01])[::2] == [0.02, 0.02]
    assert holm([]) == []


def test_every_repeat_has_folds_of_its_own_and_the_first_is_that_of_one():
    once, thrice = (compare(TREES, X, Y, cv=4, repeats=repeats) for repeats in (1, 3))

    scores = thrice["tree"].scores.reshape(3, 4)
    assert thrice.n_folds == 12
    assert scores[0].tolist() == once["tree"].scores.tolist()
    assert len({tuple(row) for row in scores.tolist()}) > 1
    assert thrice["tree"].scores.tolist() == compare(TREES, X, Y, cv=4, repeats=3)["tree"].scores.tolist()


def test_of_equals_the_smallest_tree_is_best():
    same = {"deep": tw.DecisionTreeClassifier(max_depth=2), "also": tw.DecisionTreeClassifier(max_depth=2),
            "none": DummyClassifier(), "two": tw.DecisionTreeClassifier(max_leaf_nodes=2)}  # fmt: skip
    x = [[float(i)] for i in range(20)]

    found = compare(same, x, [0] * 10 + [1] * 10, cv=5)

    assert found.best.name == "deep"
    assert (found["also"].difference, found["also"].p_value) == (0.0, 1.0)
    assert found["none"].difference > 0


def test_a_list_is_named_by_class():
    found = compare([tw.ID3Classifier(nominal=[0, 1, 2, 3]), *TREES.values()], np.round(X).astype(int), Y, cv=2)

    assert [row.name for row in found] == ["ID3Classifier", "DecisionTreeClassifier", "DecisionTreeClassifier 2"]


def test_what_is_printed_fits_into_80_columns_and_marks_the_best():
    named = {"a name that is much too long for a table of 80 columns": TREES["stump"], "b": TREES["tree"]}
    found = compare(named, X, Y, cv=5)

    lines = str(found).splitlines()
    assert max(map(len, lines)) <= 80
    assert next(line for line in lines if "best" in line).startswith("b ")
    assert {len(column) for column in found.to_dict().values()} == {2}
    with pytest.raises(KeyError, match="compared were"):
        _ = found["c"]


@pytest.mark.parametrize(
    ("estimators", "options", "message"),
    [
        ({}, {}, "no estimators"),
        (tw.ID3Classifier(), {}, "give a dict"),
        ({"a": tw.ID3Classifier}, {}, "ID3Classifier is a class"),
        ({"a": 3}, {}, "a int is no estimator"),
        ({1: tw.ID3Classifier(), "1": tw.ID3Classifier()}, {}, "the same name"),
        ([tw.ID3Classifier(), tw.DecisionTreeRegressor()], {}, "a classifier and a regressor"),
        (TREES, {"repeats": 0}, "repeats=0"),
        (TREES, {"repeats": 2, "cv": np.arange(150) % 2}, "repeats=2 needs cv as a number"),
        (TREES, {"scoring": ["accuracy", "f1_macro"]}, "scoring names 2 scores"),
    ],
)
def test_what_cannot_be_compared_is_refused(estimators, options, message):
    with pytest.raises(ParameterError, match=message):
        compare(estimators, X, Y, **options)


def test_the_estimator_that_fails_is_named():
    with pytest.raises(ParameterError) as caught:
        compare({"fine": DummyClassifier(), "tree": tw.DecisionTreeClassifier(max_depth=0)}, X, Y, cv=2)

    assert caught.value.__notes__[-1] == "while comparing 'tree'"
