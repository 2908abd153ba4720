"""The path of weakest links: small trees worked out by hand, sizes and numbers at the edge."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from plain_trees import shape_tree
from sklearn.datasets import make_classification

import treewright as tw
from treewright.exceptions import ParameterError
from treewright.prune.cost_complexity import path_of, path_of_costs, subtree_at
from treewright.prune.costs import node_risk, wrong_weight


@pytest.fixture(scope="module")
def four():
    """The root and two inner nodes below it, each with two leaves."""
    tree = tw.DecisionTreeRegressor().fit([[1.0], [2.0], [3.0], [4.0]], [0.0, 1.0, 10.0, 12.0]).tree_
    assert tree.depth[tree.is_leaf].tolist() == [2, 2, 2, 2]
    return tree


def test_a_path_worked_out_by_hand():
    # y is 0, 1 | 10, 12. Sums of squares: root 112.75, left 0.5, right 2, leaves 0; an impurity is a quarter of them.
    path = path_of(tw.DecisionTreeRegressor().fit([[1.0], [2.0], [3.0], [4.0]], [0.0, 1.0, 10.0, 12.0]).model_)

    assert path.alphas == pytest.approx([0.0, 0.125, 0.5, (112.75 - 2.5) / 4])
    assert path.n_leaves.tolist() == [4, 3, 2, 1]
    assert path.risks == pytest.approx([0.0, 0.125, 0.625, 112.75 / 4])


def test_a_step_begins_at_its_alpha():
    path = path_of(tw.DecisionTreeRegressor().fit([[1.0], [2.0], [3.0], [4.0]], [0.0, 1.0, 10.0, 12.0]).model_)

    for step, alpha in enumerate(path.alphas.tolist()):
        assert path.step_at(alpha) == step
        assert path.step_at(alpha * (1 - 1e-13)) == step
        assert path.step_at(alpha * (1 - 1e-9)) == max(step - 1, 0)
        assert path.step_at(alpha * (1 + 1e-9)) == step
    assert path.step_at(np.inf) == 3


def test_links_of_one_strength_fall_together(four):
    cost = np.zeros(four.n_nodes)
    inner = np.flatnonzero(~four.is_leaf)
    cost[inner] = [3.0, 1.0, 1.0]

    path = path_of_costs(four, cost)

    assert path.alphas.tolist() == [0.0, 1.0]
    assert path.n_leaves.tolist() == [4, 1]


def test_a_division_that_raises_the_cost_goes_and_the_one_above_it_stays(four):
    # The root is worth its leaf only without what stands below its branch.
    inner = np.flatnonzero(~four.is_leaf).tolist()
    below = [four.first_child[inner[1]], four.first_child[inner[1]] + 1]
    cost = np.zeros(four.n_nodes)
    cost[inner], cost[below] = [4.0, 2.0, 1.0], [9.0, 9.0]

    path = path_of_costs(four, cost)

    assert path.n_leaves.tolist() == [3, 1]
    assert path.risks.tolist() == [2.0, 4.0]
    assert path.collapse_step[inner].tolist() == [1, 0, 1]


def test_a_division_that_gains_nothing_is_gone_at_zero_unless_one_below_it_gains():
    # Either switch alone tells nothing.
    either = tw.DecisionTreeClassifier().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    nothing = tw.DecisionTreeClassifier(max_depth=1).fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])

    assert path_of(either.model_).n_leaves.tolist() == [4, 1]
    assert path_of(either.model_, "error").alphas.tolist() == [0.0, 0.5 / 3]
    assert path_of(nothing.model_).n_leaves.tolist() == [1]
    assert (nothing.get_n_leaves(), nothing.prune("cost_complexity", alpha=0).get_n_leaves()) == (2, 1)


def test_a_tree_of_one_node_is_a_path_of_one_step():
    model = tw.DecisionTreeClassifier().fit([[1.0], [2.0]], ["a", "a"]).model_

    path = path_of(model)

    assert (path.alphas.tolist(), path.n_leaves.tolist(), path.risks.tolist()) == ([0.0], [1], [0.0])
    assert path.collapse_step.tolist() == [0]
    assert subtree_at(model.trees[0], path, 0) is model.trees[0]
    for method, option in (("cost_complexity", "alpha"), ("leaves", "max_leaves"), ("depth", "max_depth")):
        assert len(model.prune(method, **{option: 1}).prune_log) == 0


def test_errors_of_rows_without_weights_are_counted_not_rounded():
    X, y = make_classification(3001, 6, flip_y=0.3, random_state=0)
    model = tw.DecisionTreeClassifier().fit(X, y).model_

    path = path_of(model, "error")

    # An alpha is rows over leaves, as a share of 3001 rows: equal fractions are one step.
    exact = [Fraction(alpha * 3001).limit_denominator(3001) for alpha in path.alphas.tolist()]
    assert len(path.alphas) > 20
    assert len(set(exact)) == len(path.alphas)
    assert np.array(exact, float) / 3001 == pytest.approx(path.alphas, rel=1e-15)


def test_a_unit_lets_whole_costs_be_added_up_without_rounding(four):
    inner = np.flatnonzero(~four.is_leaf)
    cost = np.zeros(four.n_nodes)
    cost[inner[1:]], cost[inner[0]] = [1e9 + 1, 7e8 + 1], 4e9
    for node, below in zip(inner[1:], (1e9, 7e8), strict=True):
        cost[four.first_child[node]] = below

    by_unit, divided_before = path_of_costs(four, cost, unit=3.0), path_of_costs(four, cost / 3.0)

    assert by_unit.n_leaves.tolist() == [4, 2, 1]  # both links gain 1
    assert by_unit.alphas[1] == 1 / 3
    assert divided_before.n_leaves.tolist() == [4, 3, 2, 1]  # what the unit is for


@pytest.mark.parametrize("largest", [1e308, 1e-308, 5e-324, 0.0])
def test_costs_of_any_size_give_a_path_that_ends(four, largest):
    cost = np.where(four.is_leaf, 0.0, largest)

    path = path_of_costs(four, cost)

    assert np.isfinite(path.alphas).all()
    assert np.isfinite(path.risks).all()
    assert path.n_leaves[-1] == 1
    assert path.risks[-1] == largest
    assert path_of_costs(four, np.full(four.n_nodes, largest)).n_leaves.tolist() == [1]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_cost_that_is_no_finite_number_is_refused(four, bad):
    cost = np.zeros(four.n_nodes)
    cost[3] = bad

    with pytest.raises(ParameterError, match=f"node 3 costs {bad} as a leaf"):
        path_of_costs(four, cost)


@pytest.mark.parametrize("risk", ["gini", None, ["error"]])
def test_a_risk_that_is_not_known_is_refused(risk):
    model = tw.DecisionTreeClassifier().fit([[1.0], [2.0]], ["a", "b"]).model_

    with pytest.raises(ParameterError, match="choose 'impurity' or 'error'"):
        path_of(model, risk)


def test_the_error_of_several_outputs_is_their_mean():
    two_targets = [[0, 5], [0, 6], [1, 6], [1, 6]]
    model = tw.DecisionTreeClassifier(max_depth=1).fit([[0.0], [0.0], [1.0], [1.0]], two_targets).model_

    assert wrong_weight(model).tolist() == [1.5, 0.5, 0.0]
    assert node_risk(model, "error").tolist() == [0.375, 0.125, 0.0]


@pytest.fixture(scope="module")
def chain():
    """20,000 levels: labels take turns along one column, so that each cut takes one row off the end."""
    n = 20_001
    model = tw.DecisionTreeClassifier().fit(np.arange(n, dtype=float)[:, None], np.arange(n) % 2).model_
    assert model.trees[0].max_depth == 20_000
    return model


def test_a_chain_of_20000_levels_is_pruned(chain):

    by_depth = chain.prune("depth", max_depth=100)
    by_leaves = chain.prune("leaves", max_leaves=20_000, risk="error")

    assert by_depth.trees[0].max_depth <= 100
    assert by_leaves.trees[0].n_leaves <= 20_000


def test_a_chain_that_is_cut_level_by_level_has_a_step_a_level(chain):
    tree = chain.trees[0]
    # The link at depth d gains 20,000 - d more than the one below it: the lowest is always the weakest.
    gains = np.arange(1.0, 20_001.0)
    cost = np.append(np.cumsum(gains)[::-1], 0.0)[tree.depth]
    cost[tree.is_leaf] = 0.0

    path = path_of_costs(tree, cost)

    assert path.n_leaves.tolist() == [20_001 - step for step in range(20_001)]
    assert path.alphas[1:].tolist() == gains.tolist()


def test_a_root_of_600000_branches_is_cut_one_by_one():
    # Each branch has two leaves and gains another number: a step each, and the root at the end.
    n = 600_000  # a step that looked at all of them would take minutes
    node = np.arange(1 + 3 * n)
    inner = node <= n
    first_child = np.where(inner, n + 1 + 2 * (node - 1), -1)
    first_child[0] = 1
    tree = shape_tree(np.where(inner, np.where(node == 0, n, 2), 0), first_child)
    gains = np.random.default_rng(0).permutation(n) + 1.0
    cost = np.zeros(len(node))
    cost[1 : n + 1], cost[0] = gains, gains.sum() + 1e12

    path = path_of_costs(tree, cost)

    assert path.alphas.tolist() == [0.0, *np.sort(gains).tolist(), 1e12 / (n - 1)]
    assert path.collapse_step[1 : n + 1].tolist() == gains.tolist()
    assert path.n_leaves.tolist() == [*range(2 * n, n - 1, -1), 1]
