"""What is done to a fitted model (a pruning, a threshold) is repeated by its clones and fits, or refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.model_selection import GridSearchCV

import treewright as tw
from treewright import model_selection as ms

X, y = make_classification(300, 6, flip_y=0.2, random_state=0)
PRUNINGS = [
    ("cost_complexity", {"alpha": 0.01}), ("leaves", {"max_leaves": 4}), ("depth", {"max_depth": 2}),
    ("pessimistic", {}), ("error_based", {}), ("significance", {}), ("merge_equal_leaves", {}),
]  # fmt: skip


@pytest.mark.parametrize(("method", "options"), PRUNINGS)
def test_a_clone_and_a_new_fit_of_a_pruned_tree_are_pruned_in_the_same_way(method, options):
    whole = tw.DecisionTreeClassifier(min_samples_leaf=2).fit(X, y)
    pruned = whole.prune(method, **options)
    assert pruned.get_n_leaves() < whole.get_n_leaves()
    for again in (clone(pruned), clone(clone(pruned)), pickle.loads(pickle.dumps(pruned)), pruned):
        assert again.fit(X, y).model_.trees[0].n_leaves == whole.prune(method, **options).get_n_leaves()
    assert clone(whole).fit(X, y).get_n_leaves() == whole.get_n_leaves()


def test_prunings_one_after_the_other_are_all_repeated():
    pruned = tw.DecisionTreeClassifier().fit(X, y).prune("pessimistic").prune("leaves", max_leaves=3)
    again = clone(pruned).fit(X, y)
    assert again.get_n_leaves() == 3
    assert [entry["method"] for entry in again.model_.facts["pruning"]] == ["pessimistic", "leaves"]


def test_everything_that_clones_grows_a_pruned_tree_pruned():
    tree = tw.DecisionTreeClassifier()
    small = ms.pruning_path(tree, X, y).estimator
    n_leaves = small.get_n_leaves()
    assert n_leaves < tree.fit(X, y).get_n_leaves()
    chosen = ms.choose_threshold(small, X, y, cost={"fp": 1, "fn": 5})
    assert chosen.estimator.get_n_leaves() == n_leaves
    scores = ms.cross_validate(small, X, y, keep_estimators=True)
    assert max(each.get_n_leaves() for each in scores.estimators) < tree.get_n_leaves() / 2
    bag = tw.BaggingClassifier(small, n_estimators=3, bootstrap=False).fit(X, y)
    assert [each.get_n_leaves() for each in bag.estimators_] == [n_leaves] * 3
    boosted = tw.AdaBoostClassifier(small, n_estimators=1).fit(X, y)
    assert boosted.estimators_[0].get_n_leaves() == n_leaves
    search = GridSearchCV(small, {"min_samples_leaf": [1]}).fit(X, y)
    assert search.best_estimator_.get_n_leaves() == n_leaves


@pytest.mark.parametrize(
    "door",
    [
        clone, lambda est: est.fit(X, y), lambda est: ms.cross_validate(est, X, y),
        lambda est: ms.choose_threshold(est, X, y, cost={"fp": 1, "fn": 2}),
        lambda est: ms.compare({"a": est, "b": tw.DecisionTreeClassifier()}, X, y),
        lambda est: tw.BaggingClassifier(est, n_estimators=2).fit(X, y),
        lambda est: tw.AdaBoostClassifier(est, n_estimators=2).fit(X, y),
    ],
)  # fmt: skip
def test_a_tree_that_held_out_rows_pruned_is_refused_with_the_way_out(door):
    pruned = tw.DecisionTreeClassifier().fit(X[::2], y[::2]).prune("reduced_error", X[1::2], y[1::2])
    with pytest.raises(tw.exceptions.ParameterError, match=r"held-out rows.*PrunedTree\(estimator, 'reduced_error'\)"):
        door(pruned)


def test_pruners_and_paths_begin_with_the_tree_as_it_was_grown():
    whole = tw.DecisionTreeClassifier().fit(X[::2], y[::2])
    by_rows = whole.prune("reduced_error", X[1::2], y[1::2])
    for est in (by_rows, whole.prune("leaves", max_leaves=2)):
        assert ms.pruning_path(est, X[::2], y[::2], cv=None).n_leaves[0] == whole.get_n_leaves()
        assert len(est.cost_complexity_pruning_path(X[::2], y[::2]).ccp_alphas) > 3
        tree = ms.PrunedTree(est, "leaves", options={"max_leaves": 5}).fit(X[::2], y[::2])
        assert tree.get_n_leaves() == 5


def test_dropped_rounds_of_boosting_stay_dropped_and_a_warm_start_adds_to_them():
    A, b = make_regression(120, 4, noise=9.0, random_state=0)
    whole = tw.GradientBoostingRegressor(20, early_stopping=False, warm_start=True).fit(A, b)
    few = whole.prune("rounds", n_rounds=5)
    assert clone(few).fit(A, b).n_estimators_ == 5
    assert few.set_params(n_estimators=8).fit(A, b).n_estimators_ > 5
    with pytest.raises(tw.exceptions.ParameterError, match="held-out rows"):
        clone(whole.prune("rounds", A, b))


@pytest.mark.parametrize(
    "make",
    [
        tw.DecisionTreeClassifier, tw.KNeighborsClassifier, lambda: tw.BaggingClassifier(n_estimators=3),
        lambda: ms.PrunedTree(tw.DecisionTreeClassifier(), "pessimistic"),
    ],
)  # fmt: skip
def test_a_clone_of_a_classifier_with_a_chosen_threshold_decides_by_it(make):
    est = ms.choose_threshold(make(), X, y, cost={"fp": 1, "fn": 20}).estimator
    again = clone(est).fit(X, y)
    assert np.array_equal(again.predict(X), est.predict(X))
    assert again.model_.threshold == est.model_.threshold
    assert clone(est).fit(X[y == 1], y[y == 1]).predict(X[:3]).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "make",
    [
        lambda: tw.DecisionTreeClassifier(max_depth=2),
        lambda: tw.GradientBoostingClassifier(n_estimators=5, max_depth=2),
        lambda: tw.RandomForestClassifier(3, random_state=0), lambda: tw.AdaBoostClassifier(n_estimators=3),
        tw.KNeighborsClassifier,
    ],
)  # fmt: skip
def test_the_score_is_that_of_the_predictions_that_the_threshold_makes(make):
    est = make().fit(X, y)
    plain = est.score(X, y)
    est.model_ = est.model_.with_threshold(0.9)
    assert est.score(X, y) == np.mean(est.predict(X) == y) != plain
    if hasattr(est, "staged_score"):
        assert [*est.staged_score(X, y)] == [np.mean(each == y) for each in est.staged_predict(X)]


@pytest.mark.parametrize("ensemble", [tw.BaggingClassifier, tw.AdaBoostClassifier])
def test_members_have_no_threshold_of_their_own_and_a_warning_says_where_it_belongs(ensemble):
    tree = tw.DecisionTreeClassifier(max_depth=2)
    decided = ms.choose_threshold(tree, X, y, cost={"fp": 1, "fn": 20}).estimator
    with pytest.warns(tw.exceptions.DataWarning, match=rf"choose_threshold\({ensemble.__name__}\(...\), X, y, ...\)"):
        found = ensemble(decided, n_estimators=3, random_state=0).fit(X, y)
    plain = ensemble(tree, n_estimators=3, random_state=0).fit(X, y)
    assert np.array_equal(found.predict_proba(X), plain.predict_proba(X))
    assert np.array_equal(found.predict(X), plain.predict(X))
    assert all(each.model_.threshold is None for each in found.estimators_)


def test_the_way_out_of_a_tree_that_held_out_rows_pruned_leads_through_folds():
    by_rows = tw.DecisionTreeClassifier().fit(X[::2], y[::2]).prune("reduced_error", X[1::2], y[1::2])
    cv = np.arange(len(y)) % 3
    found, plain = (
        ms.cross_validate(ms.PrunedTree(est, "reduced_error"), X, y, cv=cv)
        for est in (by_rows, tw.DecisionTreeClassifier())
    )
    assert found.predictions.tolist() == plain.predictions.tolist()


def test_an_unfitted_copy_is_evaluated_as_the_classifier_that_it_is_a_copy_of():
    est = ms.choose_threshold(tw.DecisionTreeClassifier(max_depth=3), X, y, cost={"fp": 1, "fn": 20}).estimator
    cv = np.arange(len(y)) % 3
    found = [ms.compare({"tree": each}, X, y, cv=cv) for each in (est, clone(est))]
    assert [each.score for each in found] == ["neg_cost", "neg_cost"]
    assert found[0][0].scores.tolist() == found[1][0].scores.tolist()
    est.model_ = est.model_.with_threshold(None)
    plain = ms.cross_validate(tw.DecisionTreeClassifier(max_depth=3), X, y, cv=cv)
    assert ms.cross_validate(est, X, y, cv=cv).predictions.tolist() == plain.predictions.tolist()
