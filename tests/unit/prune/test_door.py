"""One door for all pruners: what it refuses, what it logs, what it leaves in the facts."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace
from inspect import Parameter

import numpy as np
import pytest
from same_trees import trees_equal
from sklearn.datasets import load_diabetes, load_iris

import treewright as tw
from treewright.exceptions import DataError, ParameterError
from treewright.model import Model
from treewright.prune.cost_complexity import cost_complexity, depth, leaves
from treewright.prune.description_length import description_length
from treewright.prune.error_based import error_based
from treewright.prune.estimates import merge_equal_leaves, minimum_error, pessimistic, reduced_error
from treewright.prune.methods import METHODS, Decision, Method, Rows, method_of, options_of, prune_model
from treewright.prune.significance import significance
from treewright.trees import codec
from treewright.trees.data import ModelData
from treewright.trees.edit import collapse


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
    with pytest.raises(ParameterError, match="cost_complexity needs a value, such as alpha="):
        iris.prune("cost_complexity")
    with pytest.raises(ParameterError, match="risk='gini': choose 'impurity' or 'error'"):
        iris.prune("depth", max_depth=2, risk="gini")


def test_rows_are_refused_where_none_are_wanted_and_asked_for_where_some_are(iris):
    X, y = load_iris(return_X_y=True)

    with pytest.raises(ParameterError, match="leaves uses only the tree: leave X and y out"):
        iris.prune("leaves", X, y, max_leaves=3)
    with pytest.raises(ParameterError, match="prune takes X and y together, or neither"):
        iris.prune("leaves", X, max_leaves=3)
    with pytest.raises(ParameterError, match="prune takes sample_weight only with X and y"):
        iris.prune("leaves", sample_weight=np.ones(150), max_leaves=3)
    with pytest.raises(
        ParameterError, match="reduced_error needs held-out rows, which the tree was not fitted on: pass X and y"
    ):
        iris.prune("reduced_error")
    with pytest.raises(ParameterError, match="error_based needs the training rows: pass X and y"):
        iris.prune("error_based")


def test_several_trees_are_refused(iris):
    several = Model.of(replace(iris, trees=iris.trees * 3, combine="mean"))

    with pytest.raises(ParameterError, match="the model has 3 trees: choose one"):
        several.prune("leaves", max_leaves=3)


def test_the_model_stays_as_it_was(iris):
    before = codec.dumps(iris)

    small = iris.prune("leaves", max_leaves=2)

    assert codec.dumps(iris) == before
    assert small is not iris
    with pytest.raises(AttributeError, match="there is no prune log: the model was not made by prune"):
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
    with pytest.raises(AttributeError, match="there is no prune log"):
        _ = again.prune_log


@pytest.mark.parametrize("odd", [3, "text", {"a": 1}, None])
def test_facts_of_a_strange_file_are_no_obstacle(iris, odd):
    strange = Model.of(replace(iris, facts={**iris.facts, "pruning": odd}))

    assert len(strange.prune("leaves", max_leaves=3).facts["pruning"]) == 1


def test_the_log_reads_like_this(iris):
    assert str(iris.prune("leaves", max_leaves=3).prune_log) == (
        "leaves(max_leaves=3, risk='impurity'): leaves 9 -> 3, depth 5 -> 2, 2 nodes pruned\n"
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


# The function behind each name, the options that it cannot do without, and a number that it alone decides by.
MEANT = {
    "cost_complexity": (cost_complexity, {"alpha": 0.01}, "alpha"),
    "depth": (depth, {"max_depth": 4}, "alpha"),
    "leaves": (leaves, {"max_leaves": 5}, "alpha"),
    "reduced_error": (reduced_error, {}, "holdout_weight"),
    "error_based": (error_based, {}, "estimated_of_branch"),
    "pessimistic": (pessimistic, {}, "standard_error"),
    "minimum_error": (minimum_error, {}, "static_error"),
    "significance": (significance, {}, "p_value"),
    "description_length": (description_length, {}, "leaf_bits"),
    "merge_equal_leaves": (merge_equal_leaves, {}, None),
}


@pytest.mark.parametrize("name", METHODS)
def test_every_name_of_the_list_calls_the_pruner_of_that_name(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    model = tw.DecisionTreeClassifier(min_samples_leaf=4).fit(X[:200], y[:200]).model_
    pruner, given, number = MEANT[name]
    rows = {"none": (), "training": (X[:200], y[:200]), "holdout": (X[200:], y[200:])}[METHODS[name].needs]

    small = model.prune(name, *rows, **given)

    decision = pruner(model, *([Rows(*model.encode_rows(*rows))] if rows else []), **given)
    assert trees_equal(small.trees[0], decision.tree)
    assert small.trees[0].n_leaves < model.trees[0].n_leaves
    assert small.prune_log.method == name == small.facts["pruning"][0]["method"]
    assert number is None or number in small.prune_log.numbers


@pytest.mark.parametrize("name", METHODS)
def test_every_method_says_which_option_it_lacks(name):
    lacking = [option for option, default in method_of(name).options().items() if default is Parameter.empty]

    assert lacking == list(MEANT[name][1])
    for option in lacking:
        with pytest.raises(ParameterError, match=f"{name} needs a value, such as {option}="):
            options_of(method_of(name), {})


@pytest.mark.parametrize(
    ("word", "right"),
    [
        ("mdl", "description_length"),
        ("MDL", "description_length"),
        ("ccp", "cost_complexity"),
        ("error-based", "error_based"),
        ("Minimum Error", "minimum_error"),
    ],
)
def test_words_that_others_use_are_answered_with_the_right_one(iris, word, right):
    with pytest.raises(ParameterError, match=rf"there is no pruning method '{word}' \(did you mean '{right}'\?\)"):
        iris.prune(word)


@pytest.mark.parametrize("word", ["ccp_1se", "ccp_min", "ccp-1se"])
def test_prunings_by_cross_validation_are_sent_to_where_they_are(iris, word):
    said = word.replace("-", "_")
    message = rf"needs cross-validation, .*model_selection\.pruning_path\(est, X, y\), or PrunedTree\(est, '{said}'\)"
    with pytest.raises(ParameterError, match=message):
        iris.prune(word)


def test_a_log_holds_the_model_without_the_logs_before_it(iris):
    once = iris.prune("leaves", max_leaves=8)
    many = once
    for n_leaves in (7, 6, 5, 4):
        many = many.prune("leaves", max_leaves=n_leaves)

    log = many.prune_log

    assert type(log.model) is ModelData
    assert vars(log.model).keys() == {field.name for field in fields(ModelData)}
    assert log.model.trees[0].n_leaves == 5
    assert len(pickle.dumps(many)) < 1.2 * len(pickle.dumps(once))


def test_a_rise_that_is_rounding_is_written_as_0():
    # Leaves that say the same, merged: nothing rises, but weights of any size add up to other last digits.
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 6, (300, 4)).astype(float), rng.integers(0, 3, 300)
    est = tw.DecisionTreeClassifier(criterion="entropy", min_samples_leaf=4).fit(X, y, sample_weight=rng.random(300))

    log = est.prune("merge_equal_leaves").prune_log_

    assert len(log) > 5
    assert log.rise.tolist() == [0.0] * len(log)
    assert all("training error +0;" in f"{line};" for line in str(log).splitlines()[1:21])


@pytest.mark.parametrize(("at", "positive"), [(0.05, 1), (0.2, 1), (0.4, 0), (0.95, 1), (0.5, 1)])
@pytest.mark.parametrize("method", ["merge_equal_leaves", "leaves"])
def test_a_rise_is_that_of_what_a_model_with_a_threshold_predicts(method, at, positive):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 3)).round(1)
    y = (rng.random(300) < 1 / (1 + np.exp(1.5 - X[:, 0]))).astype(int)
    model = (
        tw.DecisionTreeClassifier(max_depth=3, min_samples_leaf=8)
        .fit(X, y)
        .model_.with_threshold(at, positive=positive)
    )
    options = {"max_leaves": 1} if method == "leaves" else {}

    pruned = model.prune(method, **options)

    log = pruned.prune_log
    outer = [cut for cut in log if cut.n_leaves == model.trees[0].n_leaves]  # the cut of the root counts all rows
    assert len(log)
    if method == "merge_equal_leaves":
        assert (model.predict(X) == pruned.predict(X)).all()
        assert log.rise.tolist() == [0.0] * len(log)
    else:
        rise = np.mean(pruned.predict(X) != y) - np.mean(model.predict(X) != y)
        assert outer[-1].rise == pytest.approx(rise, abs=1e-12)


def test_an_option_that_a_pruner_chose_itself_is_told_with_its_value(iris, monkeypatch):
    def chooses(model, *, m=None, other=1):
        return Decision(collapse(model.trees[0], [0]), np.array([0]), {}, used={"m": 3.0})

    monkeypatch.setitem(METHODS, "chooses", Method("chooses", "cost_complexity", "none"))
    monkeypatch.setattr("treewright.prune.cost_complexity.chooses", chooses, raising=False)

    small = iris.prune("chooses")

    assert str(small.prune_log).startswith("chooses(m=3.0, other=1): leaves 9 -> 1")
    assert small.facts["pruning"][0]["options"] == {"m": 3.0, "other": 1}


@pytest.mark.parametrize(
    ("method", "option"), [("minimum_error", "m"), ("reduced_error", "loss"), ("description_length", "noise")]
)
def test_defaults_that_depend_on_the_tree_are_told_with_their_values(method, option):
    X, y = load_diabetes(return_X_y=True)
    est = tw.DecisionTreeRegressor().fit(X[:300], y[:300])
    rows = (X[300:], y[300:]) if method == "reduced_error" else ()

    small = est.prune(method, *rows)

    value = small.model_.facts["pruning"][0]["options"][option]
    assert value is not None
    assert f"{option}={value!r}" in str(small.prune_log_).splitlines()[0]
    again = est.prune(method, *rows, **{option: value})
    assert trees_equal(again.tree_, small.tree_)


def test_errors_about_passed_rows_name_the_estimator():
    X, y = load_iris(return_X_y=True)
    est = tw.DecisionTreeClassifier().fit(X, y)

    with pytest.raises(DataError, match="DecisionTreeClassifier is expecting 4 features"):
        est.prune("reduced_error", X[:, :3], y)


def test_a_model_that_the_method_is_not_for_is_told_so_before_rows_are_asked_for():
    X, y = load_diabetes(return_X_y=True)
    est = pickle.loads(pickle.dumps(tw.DecisionTreeRegressor(max_depth=3).fit(X, y)))

    for asked in (est, est.model_):
        with pytest.raises(ParameterError, match="this tree predicts numbers: use cost_complexity"):
            asked.prune("error_based")
        with pytest.raises(ParameterError, match="confidence=2"):
            asked.prune("error_based", confidence=2)
