"""One door for all pruners: what it refuses, what it logs, what it leaves in the facts."""

from __future__ import annotations

from dataclasses import replace
from inspect import Parameter

import numpy as np
import pytest
from same_trees import trees_equal
from sklearn.datasets import load_diabetes, load_iris

import treewright as tw
from treewright.exceptions import ParameterError
from treewright.model import Model
from treewright.prune.decision import Decision
from treewright.prune.door import prune_model
from treewright.prune.methods import METHODS, Method, method_of, options_of
from treewright.tree import codec
from treewright.tree.edit import collapse


@pytest.fixture(scope="module")
def iris():
    return tw.DecisionTreeClassifier().fit(*load_iris(return_X_y=True)).model_


@pytest.mark.parametrize("alpha", [-1, -1e-300, np.nan, True, np.True_, None, "0.1", [0.1], np.array([0.1]), 1j])
def test_a_price_that_is_no_number_from_zero_up_is_refused(iris, alpha):
    with pytest.raises(ParameterError, match="the price of a leaf is a number >= 0"):
        iris.prune("cost_complexity", alpha=alpha)


@pytest.mark.parametrize("alpha", [0, 0.0, -0.0, 5e-324, np.float32(0.02), np.int8(1), 1e308, np.inf])
def test_any_real_number_from_zero_up_is_a_price(iris, alpha):
    small = iris.prune("cost_complexity", alpha=alpha)

    assert 1 <= small.trees[0].n_leaves <= iris.trees[0].n_leaves
    assert codec.loads(codec.dumps(small)).facts == small.facts


@pytest.mark.parametrize(("method", "option", "least"), [("leaves", "max_leaves", 1), ("depth", "max_depth", 0)])
def test_a_limit_that_is_no_whole_number_is_refused(iris, method, option, least):
    for bad in (least - 1, 2.0, np.nan, True, None, "3", np.float64(3)):
        with pytest.raises(ParameterError, match=f"{option}=.*: give a whole number >= {least}"):
            iris.prune(method, **{option: bad})
    assert iris.prune(method, **{option: np.uint8(least)}).trees[0].n_nodes == 1


@pytest.mark.parametrize("method", ["cost_complexty", "", None, 3, ["leaves"]])
def test_an_unknown_method_is_refused_with_the_list(iris, method):
    message = r"there is no pruning method .*: choose one of cost_complexity, depth, leaves"
    with pytest.raises(ParameterError, match=message):
        iris.prune(method)


def test_a_misspelt_method_is_guessed(iris):
    with pytest.raises(ParameterError, match="did you mean 'cost_complexity'"):
        iris.prune("cost_complexty")


def test_unknown_and_lacking_options_are_refused(iris):
    with pytest.raises(ParameterError, match="leaves has no option 'max_leafs': its options are max_leaves, risk"):
        iris.prune("leaves", max_leafs=3)
    with pytest.raises(ParameterError, match="cost_complexity needs alpha=: give it a value"):
        iris.prune("cost_complexity")
    with pytest.raises(ParameterError, match="risk='gini': choose 'impurity' or 'error'"):
        iris.prune("depth", max_depth=2, risk="gini")


def test_rows_are_refused_where_none_are_wanted_and_asked_for_where_some_are(iris):
    X, y = load_iris(return_X_y=True)

    with pytest.raises(ParameterError, match="leaves looks at the tree alone: leave X and y out"):
        iris.prune("leaves", X, y, max_leaves=3)
    with pytest.raises(ParameterError, match="prune takes X and y together, or neither"):
        iris.prune("leaves", X, max_leaves=3)
    with pytest.raises(ParameterError, match="prune takes sample_weight only with X and y"):
        iris.prune("leaves", sample_weight=np.ones(150), max_leaves=3)
    with pytest.raises(ParameterError, match="reduced_error needs rows that the tree was not grown on: pass X and y"):
        iris.prune("reduced_error")
    with pytest.raises(ParameterError, match="error_based needs the rows of the fit: pass X and y"):
        iris.prune("error_based")


def test_several_trees_are_refused(iris):
    several = Model.of(replace(iris, trees=iris.trees * 3, combine="mean"))

    with pytest.raises(ParameterError, match="the model has 3 trees: pruning takes a model of one tree"):
        several.prune("leaves", max_leaves=3)


def test_the_model_stays_as_it_was(iris):
    before = codec.dumps(iris)

    small = iris.prune("leaves", max_leaves=2)

    assert codec.dumps(iris) == before
    assert small is not iris
    with pytest.raises(AttributeError, match="there is no log: the model was not made by prune"):
        _ = iris.prune_log


def test_facts_tell_every_pruning_and_survive_the_file(iris, tmp_path):
    once = iris.prune("leaves", max_leaves=np.int64(5))
    twice = once.prune("cost_complexity", alpha=np.inf)
    twice.save(tmp_path / "small.tw")

    again = tw.load(tmp_path / "small.tw")

    assert again.facts["pruning"] == [
        {
            "method": "leaves", "options": {"max_leaves": 5, "risk": "impurity"}, "leaves_before": 9, "leaves": 5,
            "cuts": 2,
        },
        {
            "method": "cost_complexity", "options": {"alpha": "inf", "risk": "impurity"}, "leaves_before": 5,
            "leaves": 1, "cuts": 1,
        },
    ]  # fmt: skip
    assert "pruning" not in iris.facts
    assert len(once.facts["pruning"]) == 1
    assert trees_equal(again.trees[0], twice.trees[0])
    with pytest.raises(AttributeError, match="there is no log"):
        _ = again.prune_log


@pytest.mark.parametrize("odd", [3, "text", {"a": 1}, None])
def test_facts_of_a_strange_file_are_no_obstacle(iris, odd):
    strange = Model.of(replace(iris, facts={**iris.facts, "pruning": odd}))

    assert len(strange.prune("leaves", max_leaves=3).facts["pruning"]) == 1


def test_the_log_reads_like_this(iris):
    assert str(iris.prune("leaves", max_leaves=3).prune_log) == (
        "leaves(max_leaves=3, risk='impurity'): leaves 9 -> 3, depth 5 -> 2, 2 cuts\n"
        "  node 4 (x2 <= 4.85): made a leaf; 3 leaves, 46 rows, training error +0.006667; alpha 0.00652174\n"
        "  node 3 (x2 <= 4.95): made a leaf; 5 leaves, 54 rows, training error +0.03333; alpha 0.0296605"
    )


def test_the_log_is_a_sequence_of_cuts(iris):
    log = iris.prune("leaves", max_leaves=3).prune_log

    assert len(log) == 2
    assert [cut.node for cut in log] == [4, 3] == [log[0].node, log[-1].node]
    assert [cut.node for cut in log[::-1]] == [3, 4]
    assert log.to_dict() == {
        "node": [4, 3], "depth": [2, 2], "test": ["x2 <= 4.85", "x2 <= 4.95"], "action": ["leaf", "leaf"],
        "n_samples": [46, 54], "n_leaves": [3, 5], "rise": pytest.approx([1 / 150, 5 / 150]),
        "alpha": pytest.approx([0.00652174, 0.0296605], rel=1e-5),
    }  # fmt: skip
    with pytest.raises(IndexError):
        log[2]


def test_a_long_log_prints_its_first_cuts_and_says_how_many_more_there_are():
    model = tw.DecisionTreeRegressor().fit(*load_diabetes(return_X_y=True)).model_

    log = model.prune("cost_complexity", alpha=20.0).prune_log

    lines = str(log).splitlines()
    assert len(lines) == 22
    assert lines[-1] == f"  ... and {len(log) - 20} more; to_dict() has them all"
    assert len(log.to_dict()["node"]) == len(log) > 21


def test_a_pruner_without_numbers_or_actions_is_logged_as_leaves(iris, monkeypatch):
    def root_only(model, *, why=None):
        return Decision(collapse(model.trees[0], [0]), np.array([0]), {})

    monkeypatch.setitem(METHODS, "root_only", Method("root_only", "cost_complexity", "none"))
    monkeypatch.setattr("treewright.prune.cost_complexity.root_only", root_only, raising=False)

    small, log = prune_model(iris, "root_only")

    assert small.trees[0].n_nodes == 1
    assert str(log[0]) == "node 0 (x2 <= 2.45): made a leaf; 9 leaves, 150 rows, training error +0.6667"
    assert small.facts["pruning"][0]["options"] == {"why": None}


@pytest.mark.parametrize("name", METHODS)
def test_every_method_of_the_list_is_there_and_is_told_what_it_lacks(name, iris):
    method = method_of(name)

    assert callable(method.function)
    for option, default in method.options().items():
        if default is Parameter.empty:
            with pytest.raises(ParameterError, match=f"{name} needs {option}=: give it a value"):
                options_of(method, {})
