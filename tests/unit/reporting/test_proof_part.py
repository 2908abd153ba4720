"""Claims about what the page of an optimal tree says of its proof, and of the greedy tree."""

from __future__ import annotations

import json

import pytest

import treewright as tw
from treewright.trees.data import ModelData

# A lamp with two switches; the hour gains most at the root.
LAMP = {
    "left": ["off", "off", "on", "on", "off", "on"],
    "right": ["off", "on", "off", "on", "off", "on"],
    "hour": [5, 1, 5, 5, 5, 7],
}
LIGHT = ["dark", "light", "light", "dark", "dark", "dark"]


def page_of(**params):
    est = tw.OptimalTreeClassifier(**params).fit(LAMP, LIGHT)
    return tw.report(est, LAMP, LIGHT, cv=None)


def test_what_greedy_lost_is_the_difference_to_carts_tree():
    greedy = tw.DecisionTreeClassifier(max_depth=2).fit(LAMP, LIGHT)
    proof = page_of(max_depth=2).summary.proof

    assert proof.words == "Proven: no tree of depth 2 has a smaller loss."
    assert proof.greedy_objective == pytest.approx(1 - greedy.score(LAMP, LIGHT)) == pytest.approx(1 / 6)
    assert (proof.objective, proof.lower_bound, proof.gap, proof.n_leaves) == (0.0, 0.0, 0.0, 4)
    assert proof.lost == "The best tree of CART within the same limits loses 0.1667 more."


def test_leaves_that_greedy_takes_more_are_told_where_the_loss_is_the_same():
    # Yes if the first two are 1; the third gains more than either.
    table = [[1, 1, 1]] * 3 + [[1, 0, 1], [0, 1, 1]] + [[1, 0, 0], [0, 1, 0]] * 2
    target = [1] * 3 + [0] * 6
    est = tw.OptimalTreeClassifier(max_depth=3).fit(table, target)
    proof = tw.report(est, table, target, cv=None).summary.proof

    assert (proof.objective, proof.greedy_objective) == (0.0, 0.0)
    assert (proof.n_leaves, proof.greedy_leaves) == (3, 4)
    assert proof.lost == "The best tree of CART within the same limits needs 1 more leaf for the same loss."


def test_the_price_of_leaves_is_in_every_number():
    proof = page_of(max_depth=2, ccp_alpha=0.03125).summary.proof

    assert proof.price == 0.03125
    assert proof.objective == 4 * 0.03125
    assert proof.greedy_objective == pytest.approx(1 / 6 + proof.greedy_leaves * 0.03125)
    assert "+ 0.03125 a leaf" in page_of(max_depth=2, ccp_alpha=0.03125).html


def test_where_greedy_is_optimal_it_loses_nothing():
    proof = page_of(max_depth=1).summary.proof

    assert proof.lost == "CART within the same limits finds the same loss."


def test_a_tree_that_was_pruned_or_is_of_another_algorithm_has_no_proof():
    cart = tw.DecisionTreeClassifier(max_depth=2).fit(LAMP, LIGHT)
    pruned = tw.OptimalTreeClassifier(max_depth=2).fit(LAMP, LIGHT).prune("depth", max_depth=1)
    for est in (cart, pruned):
        assert tw.report(est, LAMP, LIGHT, cv=None).summary.proof is None


def test_a_file_that_states_no_greedy_loss_has_its_proof_alone():
    model = tw.OptimalTreeClassifier(max_depth=2).fit(LAMP, LIGHT).model_
    found = {name: model.facts["optimal"][name] for name in ("objective", "lower_bound", "is_proven")}
    assert isinstance(model, ModelData)
    model.facts["optimal"] = found
    page = tw.report(model, LAMP, LIGHT, cv=None)

    assert page.summary.proof.lost == ""
    assert "CART, pruned" not in page.html
    assert json.loads(page.to_json())["proof"]["greedy_objective"] is None
