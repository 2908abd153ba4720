"""What code that was written for scikit-learn's trees asks of an estimator, and gets."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression

import treewright as tw

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("kind", [tw.BaggingClassifier, tw.AdaBoostClassifier])
@pytest.mark.parametrize("base", [None, LogisticRegression(max_iter=1000)])
def test_one_row_is_predicted_whatever_the_members_are(kind, base):
    fitted = kind(base, n_estimators=3).fit(X, Y)

    assert fitted.predict_one(X[70]) == fitted.predict(X)[70]
    assert fitted.predict_proba_one(X[70]).tolist() == pytest.approx(fitted.predict_proba(X)[70].tolist(), abs=1e-15)


@pytest.mark.parametrize("base", [None, LinearRegression()])
def test_one_row_of_numbers_is_a_float_whatever_the_members_are(base):
    table, numbers = load_diabetes(return_X_y=True)
    fitted = tw.BaggingRegressor(base, n_estimators=3).fit(table, numbers)

    assert type(fitted.predict_one(table[0])) is float
    assert fitted.predict_one(table[0]) == pytest.approx(fitted.predict(table)[0], rel=1e-14)
    assert not hasattr(fitted, "predict_proba_one")


def test_members_get_rows_that_are_dicts_as_columns():
    rows = [{"sky": "sun", "wind": 3}, {"wind": 9, "sky": "rain"}, {"sky": "sun"}, {"sky": "rain", "wind": 1}]
    columns = {"sky": ["sun", "rain", "sun", "rain"], "wind": [3, 9, None, 1]}
    y = ["out", "in", "in", "out"]
    bag = tw.BaggingClassifier(n_estimators=4, max_features=0.5)

    shares = bag.fit(rows, y).predict_proba(rows)

    assert shares.tolist() == bag.fit(columns, y).predict_proba(columns).tolist()


def test_a_tree_answers_to_the_names_of_scikit_learn():
    tree = tw.RandomForestClassifier(n_estimators=2, max_depth=2).fit(X, Y).estimators_[1].tree_

    inner = tree.children_left >= 0
    assert tree.node_count == tree.n_nodes == len(inner)
    assert (tree.children_left[inner] == tree.first_child[inner]).all()
    assert (tree.children_right[inner] == tree.first_child[inner] + 1).all()
    assert (tree.children_right[~inner] == -1).all()
    assert tree.n_node_samples.tolist() == tree.n_samples.tolist()
    assert tree.weighted_n_node_samples.tolist() == tree.weight.tolist()


def test_a_tree_of_many_branches_has_no_left_and_right():
    tree = tw.ID3Classifier().fit({"sky": ["sun", "rain", "snow"]}, ["a", "b", "c"]).tree_

    assert not hasattr(tree, "children_left")
    assert not hasattr(tree, "children_right")
    assert tree.node_count == 4


def test_many_trees_are_not_one():
    with pytest.raises(AttributeError, match=r"model\.tree\(0\)\.tree_"):
        _ = tw.RandomForestClassifier(n_estimators=2).fit(X, Y).model_.tree_


@pytest.mark.parametrize("kind", [tw.DecisionTreeClassifier, tw.KNeighborsClassifier])
def test_a_model_has_classes_as_its_estimator_has(kind):
    one, two = kind().fit(X, Y), kind().fit(X, np.column_stack([Y, Y > 0]))

    assert one.model_.classes_.tolist() == one.classes_.tolist() == [0, 1, 2]
    assert [labels.tolist() for labels in two.model_.classes_] == [[0, 1, 2], [0, 1]]


def test_a_model_of_numbers_has_no_classes():
    assert not hasattr(tw.DecisionTreeRegressor().fit(X, Y).model_, "classes_")


def test_a_tree_of_random_cuts_is_cart_by_other_defaults():
    alone = tw.ExtraTreeClassifier(random_state=3).fit(X, Y)
    same = tw.DecisionTreeClassifier(splitter="random", max_features="sqrt", random_state=3).fit(X, Y)

    assert alone.tree_.threshold.tolist() == same.tree_.threshold.tolist()
    assert alone.max_features_ == 2
    assert alone.model_.facts["algorithm"] == "cart"
    assert alone.get_params()["splitter"] == "random"
    assert tw.ExtraTreeRegressor().fit(X, Y).max_features_ == 4
