"""Growing and cutting back as one estimator."""

from __future__ import annotations

import pickle

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

import treewright as tw
from treewright.evaluation import pruning as pruned
from treewright.evaluation.folds import rows_in_two
from treewright.exceptions import DataError, ParameterError

PrunedTree = tw.model_selection.PrunedTree


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


@pytest.mark.parametrize(
    "pruning",
    ["ccp_1se", "ccp_min", "reduced_error", "error_based", "pessimistic", "minimum_error", "significance",
     "description_length", "merge_equal_leaves"],
)  # fmt: skip
def test_every_pruning_leaves_a_smaller_tree_that_predicts(cancer, pruning):
    X, y = cancer
    full = tw.DecisionTreeClassifier().fit(X, y)

    est = PrunedTree(tw.DecisionTreeClassifier(), pruning).fit(X, y)

    assert est.get_n_leaves() <= full.get_n_leaves()
    assert est.score(X, y) > 0.9
    assert est.model_.facts["pruning"][0]["leaves_before"] >= est.get_n_leaves()


def test_a_method_by_name_prunes_as_prune_does(cancer):
    X, y = cancer

    est = PrunedTree(tw.DecisionTreeClassifier(), "leaves", options={"max_leaves": 5}).fit(X, y)

    alone = tw.DecisionTreeClassifier().fit(X, y).prune("leaves", max_leaves=5)
    assert est.show() == alone.show()


def test_reduced_error_grows_on_one_part_and_prunes_with_the_other(cancer):
    X, y = cancer
    est = PrunedTree(tw.DecisionTreeClassifier(), "reduced_error", prune_size=0.25, random_state=4).fit(X, y)

    grow, prune = rows_in_two(y, 0.25, 4, is_classification=True)
    by_hand = tw.DecisionTreeClassifier().fit(X[grow], y[grow]).prune("reduced_error", X[prune], y[prune])

    assert len(prune) == round(0.25 * len(y))
    assert est.show() == by_hand.show()


def test_the_estimators_own_pruning_is_switched_off(cancer):
    X, y = cancer

    for tree in (tw.DecisionTreeClassifier(ccp_alpha=0.1), tw.C45Classifier()):
        est = PrunedTree(tree, "merge_equal_leaves").fit(X, y)
        own = clone(tree).fit(X, y)
        assert est.get_n_leaves() > own.get_n_leaves()


def test_it_is_what_its_estimator_is():
    assert is_classifier(PrunedTree(tw.C45Classifier()))
    assert is_regressor(PrunedTree(tw.CHAIDRegressor()))


def test_it_works_in_scikit_learns_searches_and_validations(cancer):
    X, y = cancer
    search = GridSearchCV(PrunedTree(tw.DecisionTreeClassifier()), {"pruning": ["ccp_1se", "pessimistic"]}, cv=3)

    search.fit(X, y)

    assert search.best_params_["pruning"] in ("ccp_1se", "pessimistic")
    assert cross_val_score(PrunedTree(tw.DecisionTreeRegressor()), *load_diabetes(return_X_y=True), cv=3).mean() > 0.2


def test_weights_reach_growth_and_pruning(cancer):
    X, y = cancer
    weights = np.where(y == 1, 1.0, 3.0)

    for pruning in ("ccp_1se", "reduced_error", "error_based", "pessimistic"):
        weighed = PrunedTree(tw.DecisionTreeClassifier(), pruning).fit(X, y, weights)
        assert weighed.tree_.weight[0] > len(y) * 0.6
        assert weighed.tree_.weight[0] != weighed.tree_.n_samples[0]


def test_frames_and_dicts_of_columns_are_taken_as_the_estimator_takes_them():
    X, y = load_iris(return_X_y=True)
    columns = {f"x{i}": X[:, i] for i in range(4)}

    shown = {PrunedTree(tw.DecisionTreeClassifier(), "reduced_error").fit(table, y).show()
             for table in (columns, pl.DataFrame(columns))}  # fmt: skip

    assert len(shown) == 1


def test_it_answers_for_its_tree_and_is_pickled(cancer):
    X, y = cancer
    est = PrunedTree(tw.DecisionTreeClassifier(), "pessimistic").fit(X, y)

    again = pickle.loads(pickle.dumps(est))

    assert (again.predict_proba(X) == est.predict_proba(X)).all()
    assert again.rules().to_dict() == est.rules().to_dict()
    assert len(est.prune_log_) == est.model_.facts["pruning"][0]["cuts"]


@pytest.mark.parametrize("name", ["tree_", "model_", "get_n_leaves", "show", "estimator_"])
def test_before_fit_it_says_that_it_is_not_fitted(name):
    est = PrunedTree(tw.DecisionTreeClassifier())

    assert not hasattr(est, name)
    with pytest.raises(NotFittedError, match=f"has no {name}: call fit first"):
        getattr(est, name)


def test_what_no_fit_would_bring_is_no_attribute():
    with pytest.raises(AttributeError, match="has no attribute 'sho'"):
        _ = PrunedTree(tw.DecisionTreeClassifier()).sho


def test_the_folds_run_on_the_threads_of_its_estimator(cancer, monkeypatch):
    asked = []
    whole = pruned.size_by_folds
    monkeypatch.setattr(pruned, "size_by_folds", lambda *a, **k: asked.append(k["n_jobs"]) or whole(*a, **k))

    for n_jobs in (1, 2, None):
        PrunedTree(tw.DecisionTreeClassifier(n_jobs=n_jobs), cv=2).fit(cancer[0][:60], cancer[1][:60])

    assert asked == [1, 2, None]


@pytest.mark.parametrize(
    ("changed", "error", "told"),
    [
        ({"pruning": "ccp_1sd"}, ParameterError, "did you mean 'ccp_1se'"),
        ({"options": {"rule": "min"}}, ParameterError, "ccp_1se has no option 'rule': its options are risk, loss"),
        ({"options": {"validation": ([[0.0]], [0])}}, ParameterError, "has no option 'validation'"),
        ({"options": {1: 2}}, ParameterError, "has no option"),
        ({"options": 5}, ParameterError, "options=5: give a mapping"),
        ({"pruning": "pessimistic", "options": {1: 2}}, ParameterError, "has no option '1'"),
        ({"cv": None}, ParameterError, "cv=None: ccp_1se chooses its price by folds"),
        ({"cv": 1}, ParameterError, "cv=1: give at least 2 folds"),
        ({"random_state": "a"}, ParameterError, "random_state='a'"),
        ({"pruning": "reduced_error", "prune_size": None}, ParameterError, "prune_size=None"),
        ({"pruning": "leaves"}, ParameterError, "leaves needs a value, such as max_leaves=8"),
        ({"pruning": "pessimistic", "options": {"z": 1}}, ParameterError, "has no option 'z'"),
        ({"pruning": "reduced_error", "prune_size": 1.0}, ParameterError, "between 0 and 1"),
        ({"pruning": "reduced_error", "prune_size": 1e-9}, DataError, "too few"),
    ],
)
def test_what_cannot_be_done_is_refused(cancer, changed, error, told):
    with pytest.raises(error, match=told):
        PrunedTree(tw.DecisionTreeClassifier(), **changed).fit(*cancer)


def test_rows_in_two_are_disjoint_whole_and_stratified():
    y = np.array(["a"] * 80 + ["b"] * 20)

    first, second = rows_in_two(y, 0.25, 0, is_classification=True)

    assert sorted([*first, *second]) == list(range(100))
    assert (y[second] == "b").sum() == 5


@pytest.mark.filterwarnings("ignore:.*least populated class")
def test_a_class_with_fewer_rows_than_folds_is_no_reason_to_give_no_tree(cancer):
    X, y = cancer
    y = np.where(np.arange(len(y)) == 7, 2, y)

    assert PrunedTree(tw.DecisionTreeClassifier(), "ccp_1se").fit(X, y).get_n_leaves() >= 2


def test_a_missing_label_is_refused_as_fit_refuses_it():
    for labels in ([1, None] * 30, ["a", 1] * 30):
        with pytest.raises(DataError):
            PrunedTree(tw.DecisionTreeClassifier(), "reduced_error").fit(np.arange(60.0)[:, None], labels)


@pytest.mark.parametrize("weights", [np.ones(3), "a", [-1.0] * 60])
def test_weights_that_do_not_fit_are_refused_before_the_rows_are_divided(weights):
    with pytest.raises(DataError):
        PrunedTree(tw.DecisionTreeClassifier(), "reduced_error").fit(
            np.arange(60.0)[:, None], [0, 1] * 30, sample_weight=weights
        )


def test_a_weight_for_all_rows_is_taken(cancer):
    X, y = cancer
    one, every = (PrunedTree(tw.DecisionTreeClassifier(), "reduced_error").fit(X, y, w) for w in (2.0, None))

    assert one.get_n_leaves() == every.get_n_leaves()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_a_frame_of_one_column_is_stratified_like_the_column(cancer):
    X, y = cancer[0], pl.DataFrame({"y": cancer[1]})

    one, other = (PrunedTree(tw.DecisionTreeClassifier(), "reduced_error").fit(X, t) for t in (y, cancer[1]))

    assert one.tree_.threshold.tolist() == other.tree_.threshold.tolist()


@pytest.mark.parametrize("seed", range(8))
def test_a_class_of_one_row_is_kept_in_the_growing_part(seed):
    X, y = np.arange(60.0)[:, None], np.array([0, 1] * 30)
    y[7] = 2

    est = PrunedTree(tw.DecisionTreeClassifier(), "reduced_error", random_state=seed).fit(X, y)

    assert est.classes_.tolist() == [0, 1, 2]


def test_what_cannot_be_pruned_is_refused(cancer):
    from sklearn.tree import DecisionTreeClassifier

    for est in (DecisionTreeClassifier(), tw.DecisionTreeClassifier, None, "a"):
        with pytest.raises(ParameterError, match="single-tree estimator of treewright"):
            PrunedTree(est, "pessimistic").fit(*cancer)


def test_probabilities_are_promised_before_the_fit():
    assert hasattr(PrunedTree(tw.DecisionTreeClassifier()), "predict_proba")
    assert not hasattr(PrunedTree(tw.DecisionTreeRegressor()), "predict_proba")
