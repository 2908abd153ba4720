"""A wrong name in Python is answered with the right one, and an error has the name that users can import."""

from __future__ import annotations

import copy
import inspect
import pickle
import traceback

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import treewright as tw
from treewright.exceptions import DataError, ParameterError
from treewright.learn.registry import ALGORITHMS

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 0, 0, 1, 1, 1])
ESTIMATORS = sorted(
    {name for each in ALGORITHMS for name in (each.classifier, each.regressor, each.detector) if name is not None}
)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_names_the_parameter_that_is_near_a_typing_error(name):
    with pytest.raises(TypeError, match=rf"{name}.__init__\(\) got an unexpected .*'n_job': did you mean 'n_jobs'\?"):
        getattr(tw, name)(n_job=2)


@pytest.mark.parametrize(
    ("estimator", "word", "hint"),
    [
        ("GradientBoostingClassifier", "num_leaves", "here it is max_leaf_nodes"),  # LightGBM
        ("GradientBoostingClassifier", "eta", "here it is learning_rate"),  # XGBoost
        ("GradientBoostingRegressor", "iterations", "here it is n_estimators"),  # CatBoost
        ("GradientBoostingRegressor", "l2_leaf_reg", "here it is l2"),
        ("GradientBoostingRegressor", "early_stopping_rounds", "here it is early_stopping=True and n_iter_no_change=N"),
        ("GradientBoostingRegressor", "max_iter", "here it is n_estimators"),  # scikit-learn's histogram boosting
        ("GradientBoostingClassifier", "eval_set", "pass rows that evaluate the rounds to fit"),
        ("DecisionTreeClassifier", "minsplit", "here it is min_samples_split"),  # rpart
        ("DecisionTreeClassifier", "cp", "here it is ccp_alpha"),
        ("DecisionTreeClassifier", "maxsurrogate", "here it is max_surrogates"),
        ("RandomForestClassifier", "ntree", "here it is n_estimators"),  # randomForest
        ("RandomForestClassifier", "mtry", "here it is max_features"),
        ("BaggingClassifier", "base_estimator", "here it is estimator"),
        ("RandomForestRegressor", "seed", "here it is random_state"),
        ("RandomForestRegressor", "nthread", "here it is n_jobs"),
        ("RandomForestRegressor", "categorical_feature", "nominal="),
        ("GradientBoostingClassifier", "bagging_temperature", "leave it out: there is no such choice"),
        ("BaggingRegressor", "num_leaves", "it belongs to the trees: give estimator a tree with max_leaf_nodes="),
        ("AdaBoostClassifier", "max_depth", "it belongs to the trees: give estimator a tree with max_depth="),
        ("DecisionTreeClassifier", "iterations", "choose one of"),  # and not interaction_cst, which looks like it
        ("C45Classifier", "wibble", "choose one of calendar, class_weight, confidence"),
    ],
)
def test_the_keyword_of_another_library_is_answered_with_ours(estimator, word, hint):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{word}'") as raised:
        getattr(tw, estimator)(**{word: 1})
    assert hint in str(raised.value)

    with pytest.raises(ValueError, match=f"{estimator} has no parameter '{word}'") as raised:
        getattr(tw, estimator)().set_params(**{word: 1})
    assert hint in str(raised.value)


@pytest.mark.parametrize(
    ("estimator", "word", "hint"),
    [
        ("RandomForestClassifier", "max_depth", "here it is a parameter of RandomForestClassifier: max_depth"),
        ("DecisionTreeClassifier", "cat_features", "text columns are nominal by default"),
        ("DecisionTreeClassifier", "sample_weights", "did you mean 'sample_weight'?"),
        ("DecisionTreeClassifier", "weight", "here it is sample_weight"),
        ("ExtraTreesRegressor", "num_round", "here it is a parameter of ExtraTreesRegressor: n_estimators"),
        ("GradientBoostingRegressor", "eval_set", "here it is X_val and y_val"),
        ("GradientBoostingRegressor", "eta", "here it is a parameter of GradientBoostingRegressor: learning_rate"),
        ("KNeighborsClassifier", "wibble", "choose one of X, y"),
    ],
)
def test_a_keyword_of_fit_is_answered_with_where_it_belongs(estimator, word, hint):
    with pytest.raises(TypeError, match=rf"{estimator}.fit\(\) got an unexpected keyword argument '{word}'") as raised:
        getattr(tw, estimator)().fit(X, Y, **{word: 1})

    assert hint in str(raised.value)


def test_a_keyword_of_a_pruned_tree_is_checked_too():
    with pytest.raises(TypeError, match="unexpected keyword argument 'prunning': did you mean 'pruning'"):
        tw.model_selection.PrunedTree(tw.DecisionTreeClassifier(), prunning="ccp_1se")


def test_a_parameter_given_by_position_is_told_to_be_named():
    with pytest.raises(TypeError, match=r"takes 0 arguments by position, not 1: .* DecisionTreeClassifier\(criterion="):
        tw.DecisionTreeClassifier("gini")


def test_checked_signatures_stay_those_of_scikit_learn():
    est = tw.RandomForestClassifier(7, max_depth=2)

    assert clone(est).get_params() == est.get_params()
    assert str(inspect.signature(tw.DecisionTreeClassifier.fit)) == (
        "(self, X: 'Any', y: 'Any' = None, sample_weight: 'Any' = None) -> 'Self'"
    )


@pytest.mark.parametrize("name", ["model_", "classes_", "feature_importances_", "tree_", "n_features_in_"])
def test_an_attribute_of_a_fit_is_missed_with_the_advice_to_fit(name):
    est = tw.DecisionTreeClassifier()

    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(est, name)
    assert not hasattr(est, name)
    assert not hasattr(copy.copy(pickle.loads(pickle.dumps(est))), name)


@pytest.mark.parametrize("name", ["predict_proba", "predict_log_proba", "classes_"])
@pytest.mark.parametrize("kind", ["DecisionTree", "RandomForest", "GradientBoosting", "KNeighbors", "AdaBoost"])
def test_a_regressor_that_is_asked_for_probabilities_names_the_classifier(kind, name):
    with pytest.raises(AttributeError, match=f"predicts numbers, with predict; for classes use {kind}Classifier"):
        getattr(getattr(tw, f"{kind}Regressor")(), name)


def test_a_verb_of_the_model_is_found_from_the_estimator():
    with pytest.raises(AttributeError, match=r"the fitted model has it, as model_\.with_threshold"):
        tw.DecisionTreeClassifier().fit(X, Y).with_threshold(0.2)


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name != "IsolationForest"])
@pytest.mark.parametrize("table", [X, X.tolist(), {"a": list(X[:, 0]), "b": list(X[:, 1])}], ids=type)
def test_a_target_in_the_place_of_the_table_is_recognised(name, table):
    with pytest.raises(DataError, match=r"X has one column and y has 2: are they swapped\?"):
        getattr(tw, name)().fit(Y, table)


def test_a_table_of_one_column_with_two_targets_is_no_mistake():
    assert tw.DecisionTreeRegressor().fit(X[:, :1], X).n_outputs_ == 2


def test_a_traceback_shows_the_error_that_users_import_and_it_can_be_pickled():
    with pytest.raises(ParameterError) as raised:
        tw.DecisionTreeClassifier(max_depth=-3).fit(X, Y)

    last = traceback.format_exception_only(raised.value)[-1]
    assert last.startswith("treewright.exceptions.ParameterError: The 'max_depth' parameter")
    again = pickle.loads(pickle.dumps(raised.value))
    assert (type(again), str(again), again.parameter) == (type(raised.value), str(raised.value), "max_depth")
