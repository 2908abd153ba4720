"""Reduced-error pruning: what is cut, what is logged, what is refused, how deep it goes."""

from __future__ import annotations

import numpy as np
import pytest
from plain_trees import chain_tree
from same_trees import trees_equal

import treewright as tw
from treewright.data.schema import Column, Schema
from treewright.exceptions import DataError, ParameterError
from treewright.model import Model
from treewright.prune.estimates import reduced_error
from treewright.prune.methods import Rows
from treewright.trees.check_model import check_model

X = [[1.0], [2.0], [3.0], [4.0]]


def test_a_leaf_that_is_no_worse_takes_the_place_of_its_subtree():
    est = tw.DecisionTreeClassifier().fit(X, ["no", "no", "yes", "no"])

    # Below x > 2.5 the tree says yes, then no; a leaf there says no (the first of equals).
    small = est.prune("reduced_error", [[1.0], [3.0], [3.1], [4.0]], ["yes", "yes", "no", "no"])

    assert small.tree_.n_nodes == 1
    log = small.prune_log_
    assert [(cut.node, cut.numbers) for cut in log] == [
        (2, {"error_as_leaf": 1.0, "error_of_subtree": 1.0, "holdout_weight": 3.0}),
        (0, {"error_as_leaf": 2.0, "error_of_subtree": 2.0, "holdout_weight": 4.0}),
    ]


def test_a_subtree_that_is_better_stays():
    est = tw.DecisionTreeClassifier().fit(X, ["no", "no", "yes", "no"])

    small = est.prune("reduced_error", [[3.0], [4.0]], ["yes", "no"])

    assert trees_equal(small.tree_, est.tree_)
    assert len(small.prune_log_) == 0


def test_nodes_that_no_row_reaches_are_cut():
    est = tw.DecisionTreeClassifier().fit(X, ["no", "yes", "yes", "no"])

    small = est.prune("reduced_error", [[1.0], [1.2], [2.0]], ["no", "no", "yes"])

    # x <= 1.5 stays: x > 1.5 and its cut at 3.5 was reached by one row that a leaf gets right.
    assert small.get_n_leaves() == 2
    far = tw.DecisionTreeRegressor().fit(X, [1.0, 2.0, 3.0, 4.0])
    assert far.prune("reduced_error", [[1.0]], [1.0]).tree_.threshold[0] == far.tree_.threshold[0]
    cut = [node.numbers["holdout_weight"] for node in far.prune("reduced_error", [[1.0]], [1.0]).prune_log_]
    assert cut == [0.0]


def test_a_branch_per_level_is_cut_as_a_whole():
    table = {"town": ["Bonn", "Graz", "Linz"] * 4, "x": list(range(12))}
    y = [0, 1, 2] * 4
    est = tw.ID3Classifier(nominal=["town"], ordinal={"x": list(range(12))}).fit(table, y)
    assert est.get_n_leaves() == 3

    small = est.prune("reduced_error", {"town": ["Graz", "Linz", "Linz"], "x": [1, 1, 1]}, [0, 0, 1])

    assert small.get_n_leaves() == 1
    check_model(small.model_)


@pytest.mark.parametrize("missing", ["direction", "surrogate", "fractional", "branch"])
def test_every_way_with_missing_values_can_be_pruned(missing):
    rng = np.random.default_rng(4)
    table = rng.normal(size=(400, 3))
    y = np.where(rng.random(400) < 0.2, rng.integers(0, 2, 400), table[:, 0] > 0)
    table[rng.random(table.shape) < 0.15] = np.nan
    est = tw.DecisionTreeClassifier(missing=missing).fit(table[:250], y[:250])

    small = est.prune("reduced_error", table[250:], y[250:])

    check_model(small.model_)
    assert small.get_n_leaves() < est.get_n_leaves()
    # Divided rows are charged leaf by leaf, and predicted by the average of their leaves: no promise about these.
    if missing != "fractional":
        assert small.score(table[250:], y[250:]) >= est.score(table[250:], y[250:])


def test_poisson_trees_are_judged_by_their_deviance():
    rng = np.random.default_rng(0)
    table = rng.random((300, 2))
    y = rng.poisson(np.exp(2 * table[:, 0])).astype(float)
    est = tw.DecisionTreeRegressor(criterion="poisson", min_samples_leaf=3).fit(table[:150], y[:150])
    assert est.get_n_leaves() > 10

    small = est.prune("reduced_error", table[150:], y[150:])

    def deviance(model):
        said, truth = model.predict(table[150:]), y[150:]
        return 2 * float((truth * np.log(np.where(truth > 0, truth, 1) / said) - truth + said).sum())

    assert 1 < small.get_n_leaves() < est.get_n_leaves()
    assert deviance(small) < deviance(est)
    last = small.prune_log_.numbers
    assert (last["error_as_leaf"] <= last["error_of_subtree"] * (1 + 1e-12)).all()


def test_rows_of_one_class_are_refused_with_what_to_do():
    est = tw.DecisionTreeClassifier().fit(X, ["no", "no", "yes", "no"])
    with pytest.raises(DataError, match=r"2 hold-out row\(s\) are all of class 'no'.*stratify=y"):
        est.prune("reduced_error", X[:2], ["no", "no"])
    both = tw.DecisionTreeClassifier().fit(X, [["a", "u"], ["a", "u"], ["b", "u"], ["b", "v"]])
    with pytest.raises(DataError, match=r"class 'u' \(output 1\)"):
        both.prune("reduced_error", X[:3], [["a", "u"], ["a", "u"], ["b", "u"]])


def test_a_model_that_knows_one_class_alone_can_be_pruned_with_it():
    est = tw.DecisionTreeClassifier().fit(X, ["no"] * 4)

    assert est.prune("reduced_error", X, ["no"] * 4).tree_.n_nodes == 1


def test_no_rows_and_unknown_losses_are_refused():
    est = tw.DecisionTreeClassifier().fit(X, ["no", "no", "yes", "no"])
    nothing = Rows(np.empty((0, 1)), np.empty((0, 1), np.int32), None)
    with pytest.raises(DataError, match="no hold-out rows"):
        reduced_error(est.model_, nothing)
    with pytest.raises(ParameterError, match="loss='squared_error' is not one of classification"):
        est.prune("reduced_error", X, ["no", "no", "yes", "no"], loss="squared_error")
    with pytest.raises(ParameterError, match="needs held-out rows, which the tree was not fitted on"):
        est.prune("reduced_error")


def test_a_chain_20_000_deep_is_pruned_without_recursion():
    depth = 20_000
    value = (np.arange(2 * depth + 1) % 4 == 1)[:, None]
    tree = chain_tree(depth, value=value)
    model = Model("regression", Schema((Column("x", "numeric"),), False), (tree,))
    table = np.arange(depth + 1, dtype=np.float64)[::7, None]

    pruned = model.prune("reduced_error", table, np.ones(len(table)))

    check_model(pruned)
    assert 1 < pruned.trees[0].n_nodes < tree.n_nodes
