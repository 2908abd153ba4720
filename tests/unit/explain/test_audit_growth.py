"""Claims about audits, and about ``exact``, of trees whose nodes did not choose among all tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import treewright as tw
from treewright.data.schema import Column, Schema
from treewright.exceptions import ParameterError
from treewright.trees.data import ModelData
from treewright.trees.facts import growth_of

RNG = np.random.default_rng(4)
X = {"x": RNG.normal(size=300), "z": RNG.normal(size=300), "town": RNG.choice(list("abc"), 300)}
Y = np.where(X["x"] + (X["town"] == "a") + 0.3 * RNG.normal(size=300) > 0.4, "yes", "no")
SIZE = {"n_estimators": 3, "random_state": 0}
FORESTS = [
    ("a random forest", tw.RandomForestClassifier(**SIZE)),
    ("extra-trees", tw.ExtraTreesClassifier(**SIZE)),
    ("an isolation forest", tw.IsolationForest(**SIZE)),
]


def model_with(**facts: Any) -> ModelData:
    """A model of which only the facts matter."""
    return ModelData("classification", Schema((Column("x", "numeric"),)), (), facts=facts)


@pytest.mark.parametrize(
    ("splitter", "reason"), [("random", "fitted with splitter='random'"), ("hist", "the best cut between bins")]
)
def test_a_cut_that_was_not_the_best_of_all_is_not_audited(splitter: Any, reason: str) -> None:
    tree = tw.DecisionTreeClassifier(splitter=splitter, max_depth=2, max_bins=4).fit(X, Y)
    for audit in (tree.audit, lambda: tree.audit(0, X, Y), lambda: tree.model_.audit(X, Y)):
        with pytest.raises(ParameterError, match=reason):
            audit()


def test_a_tree_on_bins_is_audited_where_it_asks_the_best_of_all() -> None:
    table = {"x": X["x"].round(1), "town": X["town"]}
    tree = tw.DecisionTreeClassifier(splitter="hist", max_depth=2).fit(table, Y)
    assert tree.audit().takes_winner
    assert str(tree.model_.audit(table, Y)) == str(tw.DecisionTreeClassifier(max_depth=2).fit(table, Y).audit())
    every = tw.DecisionTreeClassifier(splitter="hist", max_depth=2, max_bins=4).fit(X, Y).audit(every="x")
    assert len(every) == 299  # a list of cuts says nothing about which one was taken


@pytest.mark.parametrize(("name", "forest"), FORESTS, ids=["forest", "extra", "isolation"])
def test_a_forest_says_once_why_its_trees_are_not_audited(name: str, forest: Any) -> None:
    model = forest.fit(X, Y).model_
    said = []
    for asked in (model, model.tree(0)):
        with pytest.raises(ParameterError, match=f"the trees of {name} do not choose so") as caught:
            asked.audit(X, Y)
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert "audit(" not in said[0]


@pytest.mark.parametrize(
    "member", [tw.DecisionTreeClassifier(max_depth=3), tw.C45Classifier(), tw.ID3Classifier(), tw.CHAIDClassifier()]
)
def test_the_advice_to_choose_one_of_baggings_trees_can_be_followed(member: Any) -> None:
    table = {"town": X["town"]} if isinstance(member, tw.ID3Classifier) else X
    bag = tw.BaggingClassifier(member, n_estimators=2, bootstrap=False, random_state=0).fit(table, Y)
    with pytest.raises(ParameterError, match=r"choose one, as in model\.tree\(0\)\.audit"):
        bag.model_.audit(table, Y)
    audit = bag.model_.tree(1).audit(table, Y)
    alone = type(member)(**member.get_params()).fit(table, Y).model_.audit(table, Y)
    assert str(audit) == str(alone)  # every member has all rows here
    assert audit.takes_winner


def test_baggings_tree_on_drawn_rows_is_audited_on_those_given() -> None:
    bag = tw.BaggingClassifier(n_estimators=2, random_state=0).fit(X, Y)
    audit = bag.model_.tree(0).audit(X, Y)
    assert audit.n_fitted < audit.n_samples == 300
    assert "these numbers are those of the given rows" in str(audit)


@pytest.mark.parametrize("splitter", ["hist", "random"])
def test_baggings_trees_on_bins_are_refused_as_trees_alone_are(splitter: Any) -> None:
    member = tw.DecisionTreeClassifier(splitter=splitter, max_depth=2, max_bins=4)
    model = tw.BaggingClassifier(member, n_estimators=2, bootstrap=False, random_state=0).fit(X, Y).model_
    with pytest.raises(ParameterError, match=f"splitter='{splitter}'"):
        model.tree(0).audit(X, Y)
    assert model.node(0, tree=0).exact is False


def test_an_algorithm_that_is_not_known_is_told_with_those_that_are() -> None:
    model = tw.DecisionTreeClassifier(max_depth=1).fit(X, Y).model_
    model.facts["algorithm"] = "oracle"
    with pytest.raises(ParameterError, match=r"cart, id3, c45, chaid.*'oracle'"):
        model.audit(X, Y)


def test_a_star_is_taken_only_where_the_tree_asks_it() -> None:
    drawn = [
        tw.DecisionTreeClassifier(max_features=1, max_depth=1, random_state=seed).fit(X, Y).audit() for seed in range(8)
    ]
    texts = [str(audit) for audit in drawn]
    for audit, text in zip(drawn, texts, strict=True):
        assert ("* is chosen" in text) == (audit.winner.test == audit.tree_test)
        assert ("* would be chosen" in text) == ("which is not the best test" in text)
    assert len({audit.takes_winner for audit in drawn}) == 2


@pytest.mark.parametrize("column", ["x", "town"])
def test_a_test_is_called_exact_only_where_all_were_tried(column: str) -> None:
    table = {column: X[column]}
    exact = {
        splitter: tw.DecisionTreeClassifier(splitter=splitter, max_depth=1).fit(table, Y).model_.node(0).exact
        for splitter in ("best", "hist", "random")
    }
    assert exact == {"best": True, "hist": False, "random": False}
    for _, forest in FORESTS[:2]:
        assert forest.fit(table, Y).model_.node(0, tree=0).exact is False
    assert tw.BaggingClassifier(n_estimators=1).fit(table, Y).model_.node(0, tree=0).exact is True


@pytest.mark.parametrize(
    ("facts", "splitter"),
    [
        ({}, "best"),
        ({"algorithm": "cart", "parameters": {"splitter": "hist"}}, "hist"),
        ({"algorithm": "c45", "parameters": {}}, "best"),
        ({"algorithm": "random_forest", "criterion": "gini"}, "hist"),
        ({"algorithm": "random_forest", "criterion": "absolute_error"}, "best"),
        ({"algorithm": "extra_trees"}, "random"),
        ({"algorithm": "isolation_forest"}, "random"),
        ({"algorithm": "bagging", "member": {"algorithm": "cart", "parameters": {"splitter": "random"}}}, "random"),
        ({"algorithm": "bagging", "member": "cart", "parameters": 3}, "best"),
    ],
)
def test_the_facts_tell_how_cuts_were_searched(facts: Any, splitter: str) -> None:
    assert growth_of(model_with(**facts)).splitter == splitter


@pytest.mark.parametrize(
    ("facts", "lacking"),
    [
        ({}, "criterion"),
        ({"algorithm": "cart", "parameters": {"criterion": ["gini"]}}, "criterion"),
        ({"algorithm": "cart", "parameters": {"criterion": "gini"}}, "nominal_splits"),
        ({"algorithm": "c45", "parameters": {"criterion": "gini"}}, "nominal_splits"),
        ({"algorithm": "chaid", "parameters": {}}, "alpha"),
        ({"algorithm": "chaid", "parameters": {"alpha": 0.05, "alpha_merge": "0.05"}}, "alpha_merge"),
    ],
)
def test_hollow_facts_are_named(facts: Any, lacking: str) -> None:
    model = replace(tw.DecisionTreeClassifier(max_depth=2).fit(X, Y).model_, facts=facts)

    with pytest.raises(ParameterError, match=f"lack '{lacking}' of"):
        model.audit(X, Y)
