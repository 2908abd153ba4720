"""Every estimator with one tree can be pruned after it was fitted, and what comes out is a fitted estimator like it."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from same_trees import trees_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import treewright as tw
from treewright.exceptions import ParameterError
from treewright.exchange.dot import to_dot
from treewright.model import Model
from treewright.trees import codec
from treewright.trees.check_model import check_model

KINDS = {
    "DecisionTreeClassifier": tw.DecisionTreeClassifier,
    "DecisionTreeClassifier with surrogates": lambda: tw.DecisionTreeClassifier(missing="surrogate"),
    "DecisionTreeClassifier, fractional": lambda: tw.DecisionTreeClassifier(missing="fractional"),
    "DecisionTreeRegressor": tw.DecisionTreeRegressor,
    "ID3Classifier": tw.ID3Classifier,
    "C45Classifier": lambda: tw.C45Classifier(confidence=None),
    "CHAIDClassifier": lambda: tw.CHAIDClassifier(alpha=0.5, min_samples_split=2, min_samples_leaf=1),
    "CHAIDRegressor": lambda: tw.CHAIDRegressor(alpha=0.5, min_samples_split=2, min_samples_leaf=1),
}
N = 120


def table_for(kind):
    rng = np.random.default_rng(3)
    table = {
        "colour": rng.choice(["red", "green", "blue"], N).tolist(),
        "shape": rng.choice(["round", "square"], N).tolist(),
    }
    if kind != "ID3Classifier":
        table["size"] = np.where(rng.random(N) < 0.1, np.nan, rng.integers(0, 30, N))
        table["age"] = rng.integers(0, 30, N).astype(float)
    signal = (np.array(table["colour"]) == "red") * 2 + (np.array(table["shape"]) == "round")
    y = signal + rng.integers(0, 2, N)
    return table, y.astype(float) if kind.endswith("Regressor") else y


@pytest.fixture(params=KINDS)
def fitted(request):
    table, y = table_for(request.param)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a column looks suspicious is no news here
        return KINDS[request.param]().fit(table, y), table, y


def test_a_pruned_estimator_does_all_that_a_fitted_one_does(fitted, tmp_path):
    grown, table, _ = fitted
    small = grown.prune("leaves", max_leaves=max(grown.get_n_leaves() // 2, 1))
    leaves = small.apply(table)

    check_model(small.model_)
    assert type(small) is type(grown)
    assert small.get_n_leaves() < grown.get_n_leaves()
    assert small.tree_.is_leaf[leaves].all()
    assert len(small.predict(table)) == N
    row = {name: cells[0] for name, cells in table.items()}
    assert small.model_.predict_one(row) == pytest.approx(small.predict(table)[0])
    assert small.decision_path(table).shape == (N, small.tree_.n_nodes)
    assert len(small.show().splitlines()) > small.tree_.n_nodes
    assert len(small.rules()) == small.get_n_leaves()
    assert "<svg" in small.plot().text
    assert small.node(0).samples == N
    assert small.feature_importances_.sum() == pytest.approx(1.0 if small.get_n_leaves() > 1 else 0.0)
    assert len(small._repr_mimebundle_()["text/html"]) > 100
    small.save(tmp_path / "small.tw")
    assert trees_equal(tw.load(tmp_path / "small.tw").trees[0], small.tree_)


def test_nodes_that_stay_say_what_they_said(fitted):
    grown, table, _ = fitted
    small = grown.prune("leaves", max_leaves=max(grown.get_n_leaves() // 2, 1))
    gone_down, cut = grown.decision_path(table), small.apply(table)

    # A row's leaf is a node that it passed before, with the same rows and value.
    for row in range(0, N, 7):
        passed = gone_down[row].indices
        assert any(
            grown.tree_.n_samples[node] == small.tree_.n_samples[cut[row]]
            and (grown.tree_.value[node] == small.tree_.value[cut[row]]).all()
            for node in passed
        )


def test_the_estimator_stays_as_it_was(fitted):
    grown, *_ = fitted
    before = codec.dumps(grown.model_)

    small = grown.prune("leaves", max_leaves=1)

    assert small.get_n_leaves() == 1
    assert codec.dumps(grown.model_) == before
    assert small.get_params() == grown.get_params()
    with pytest.raises(AttributeError, match="there is no prune log"):
        _ = grown.prune_log_


def test_the_log_is_at_the_estimator_and_after_a_new_fit_it_is_of_its_pruning(fitted):
    grown, table, y = fitted
    small = grown.prune("leaves", max_leaves=1)

    assert len(small.prune_log_) == 1
    assert small.prune_log_[0].n_leaves == grown.get_n_leaves()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a column looks suspicious is no news here
        small.fit(table, y)
    assert len(small.prune_log_) == 1
    assert trees_equal(small.prune_log_.before, grown.tree_)


def test_a_clone_of_a_pruned_estimator_is_unfitted_and_prunes_the_tree_that_it_grows(fitted):
    grown, table, y = fitted
    small = grown.prune("leaves", max_leaves=2)
    copy = clone(small)

    assert not hasattr(copy, "model_")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a column looks suspicious is no news here
        assert trees_equal(copy.fit(table, y).tree_, small.tree_)


def test_a_pickle_keeps_the_pruned_tree_and_its_log(fitted):
    grown, table, _ = fitted
    small = grown.prune("leaves", max_leaves=2)

    again = pickle.loads(pickle.dumps(small))

    assert trees_equal(again.tree_, small.tree_)
    assert str(again.prune_log_) == str(small.prune_log_)
    assert (again.predict(table) == small.predict(table)).all()
    with pytest.raises(ParameterError, match="the training rows were not kept"):
        again.audit()


def test_audits_of_a_pruned_tree_are_those_of_the_same_rows(fitted):
    grown, table, y = fitted
    small = grown.prune("leaves", max_leaves=1)

    there = small.audit()

    assert repr(there.to_dict()) == repr(grown.audit().to_dict())  # nan is not equal to nan
    assert "a split was possible: the tree was pruned after growth" in str(there)
    assert str(small.audit(0, table, y)) == str(there)


def test_methods_that_need_the_rows_of_the_fit_have_them_after_another_pruning():
    X, y = load_iris(return_X_y=True)
    small = tw.DecisionTreeClassifier().fit(X, y).prune("leaves", max_leaves=6)

    by_errors = small.prune("error_based")

    assert [entry["method"] for entry in by_errors.model_.facts["pruning"]] == ["leaves", "error_based"]
    with pytest.raises(ParameterError, match="error_based needs the training rows, but they were not kept"):
        pickle.loads(pickle.dumps(small)).prune("error_based")


def test_the_trace_of_growing_does_not_go_with_the_pruned_tree():
    grown = tw.DecisionTreeClassifier(grow_trace=True).fit(*load_iris(return_X_y=True))

    assert grown.trace_ is not None
    with pytest.raises(AttributeError, match="was pruned"):
        _ = grown.prune("leaves", max_leaves=3).trace_


def test_a_pruning_that_cuts_nothing_leaves_trace_and_reasons_alone():
    grown = tw.DecisionTreeClassifier(grow_trace=True, max_leaf_nodes=4).fit(*load_iris(return_X_y=True))
    leaf = int(np.flatnonzero(grown.tree_.is_leaf & (grown.tree_.impurity > 0))[0])

    same = grown.prune("leaves", max_leaves=50)

    assert len(same.prune_log_) == 0
    assert str(same.trace_) == str(grown.trace_)
    assert str(same.audit(leaf)) == str(grown.audit(leaf))
    assert "pruned" not in str(same.audit(leaf))
    assert same.show() == grown.show()
    again = pickle.loads(pickle.dumps(same))
    again.__dict__["_steps"] = None
    with pytest.raises(AttributeError, match="no trace was kept"):
        _ = again.trace_


def test_a_pruning_stands_beside_what_bounded_growth_in_the_reason_of_a_leaf():
    X, y = load_iris(return_X_y=True)
    for options, said in (({"max_leaf_nodes": 4}, "max_leaf_nodes is 4"), ({"ccp_alpha": 0.01}, "ccp_alpha is 0.01")):
        small = tw.DecisionTreeClassifier(**options).fit(X, y).prune("leaves", max_leaves=3)
        leaf = int(np.flatnonzero(small.tree_.is_leaf & (small.tree_.impurity > 0))[0])

        told = str(small.audit(leaf))

        assert said in told
        assert "or it was pruned after growth" in told


def test_a_tree_of_c45_that_was_never_pruned_is_not_said_to_have_been():
    X, y = load_iris(return_X_y=True)
    for confidence, said in ((None, "the tree was pruned after growth"), (0.25, "it was split and then pruned")):
        small = tw.C45Classifier(confidence=confidence).fit(X, y).prune("leaves", max_leaves=3)
        leaf = int(np.flatnonzero(small.tree_.is_leaf & (small.tree_.impurity > 0))[0])

        assert said in str(small.audit(leaf))


def test_every_heading_of_a_pruned_tree_says_what_cut_it():
    grown = tw.DecisionTreeClassifier().fit(*load_iris(return_X_y=True))
    small = grown.prune("cost_complexity", alpha=0.01)
    twice = small.prune("leaves", max_leaves=3)
    said = "pruned by cost_complexity (alpha=0.01, risk=impurity)"
    both = f"{said}, then by leaves (max_leaves=3, risk=impurity)"

    assert small.show().splitlines()[1] == f"grown by cart, {said}"
    assert twice.show().splitlines()[1] == f"grown by cart, {both}"
    for text in (str(twice.rules()), twice.plot().text, to_dot(twice.model_)):
        assert both in text
    for text in (grown.show(), str(grown.rules()), grown.plot().text, to_dot(grown.model_)):
        assert "pruned" not in text


@pytest.mark.parametrize(
    "told",
    [3, "leaves", [3], [{"method": "leaves"}], [{"cuts": "3"}], [{"cuts": 0, "method": "leaves"}], {"cuts": 3}, None],
)
def test_prunings_that_a_strange_file_tells_are_passed_over(told):
    model = tw.DecisionTreeClassifier(max_depth=2).fit(*load_iris(return_X_y=True)).model_
    strange = Model.of(replace(model, facts={**model.facts, "pruning": told}))

    assert strange.show() == model.show()


def test_control_characters_in_the_name_of_a_pruning_do_not_reach_the_screen():
    model = tw.DecisionTreeClassifier(max_depth=2).fit(*load_iris(return_X_y=True)).model_
    entry = {"method": "a\x1b[31m", "options": {"b\n": "\x07"}, "cuts": 1}

    shown = Model.of(replace(model, facts={**model.facts, "pruning": [entry]})).show().splitlines()

    assert shown[1].startswith("grown by cart, pruned by a")
    assert not any(ord(sign) < 32 for sign in "".join(shown))


def test_an_estimator_that_is_not_fitted_has_nothing_to_prune():
    with pytest.raises(NotFittedError):
        tw.DecisionTreeClassifier().prune("leaves", max_leaves=3)


def test_ccp_alpha_and_pruning_afterwards_give_one_tree():
    X, y = load_iris(return_X_y=True)
    for alpha in (1e-3, 0.01, 0.1, 1.0):
        at_fit = tw.DecisionTreeClassifier(ccp_alpha=alpha).fit(X, y)
        afterwards = tw.DecisionTreeClassifier().fit(X, y).prune("cost_complexity", alpha=alpha)

        assert trees_equal(at_fit.tree_, afterwards.tree_)


@pytest.mark.parametrize("kind", ["DecisionTreeClassifier", "C45Classifier"])
def test_the_path_is_that_of_a_tree_that_nothing_cut_back(kind):
    table, y = table_for(kind)
    settings = {"DecisionTreeClassifier": ("ccp_alpha", 0.5, 0.0), "C45Classifier": ("confidence", 0.01, None)}
    name, cuts, cuts_not = settings[kind]
    estimator = KINDS[kind]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a column looks suspicious is no news here
        path = estimator.set_params(**{name: cuts}).cost_complexity_pruning_path(table, y)
        whole = clone(estimator).set_params(**{name: cuts_not}).cost_complexity_pruning_path(table, y)

    assert path.ccp_alphas.tolist() == whole.ccp_alphas.tolist()
    assert len(path.ccp_alphas) > 5
    assert not hasattr(estimator, "model_")


def test_a_table_that_is_changed_after_the_fit_does_not_change_what_was_kept():
    X, y = load_iris(return_X_y=True)
    X = X.copy()
    est = tw.DecisionTreeClassifier().fit(X, y)
    before = est.prune("error_based").show()

    X[:] = 0.0

    assert est.prune("error_based").show() == before
