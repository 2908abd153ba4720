"""Pessimistic pruning: Quinlan's correction by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import treewright as tw
from treewright.data.schema import Column, Schema
from treewright.exceptions import ParameterError
from treewright.prune.estimates import pessimistic
from treewright.trees.data import ModelData


def test_half_an_error_a_leaf_and_one_standard_error_decide(golf_model):
    # Sunny [3, 2]: 2.5 errors as a leaf. Its three pure leaves have 1.5, of 5 rows: sqrt(1.5 * 3.5 / 5) = 1.0247.
    # Rainy [2, 3]: 2.5 as a leaf; two leaves with an error each have 3.
    # The root [5, 9]: 5.5 as a leaf; 0.5 + 3 + 1.5 = 5 below, sqrt(5 * 9 / 14) = 1.7928: it goes, and all with it.
    decision = pessimistic(golf_model)

    assert decision.nodes.tolist() == [0]
    assert decision.numbers["leaf_errors"].tolist() == [5.5]
    assert decision.numbers["subtree_errors"].tolist() == [5.0]
    assert decision.numbers["standard_error"] == pytest.approx([math.sqrt(5 * 9 / 14)])


def test_without_a_standard_error_only_the_corrected_errors_count(golf_model):
    # 5.5 > 5 at the root, 2.5 <= 3 at rainy, 2.5 > 1.5 at sunny.
    decision = pessimistic(golf_model, standard_errors=0)

    assert decision.nodes.tolist() == [2]
    assert decision.tree.n_leaves == 5


def test_a_leaf_without_rows_has_no_errors(golf_model):
    # Were the empty leaf below rainy counted, it would have 3.5 errors.
    decision = pessimistic(golf_model, standard_errors=0)

    assert decision.numbers["subtree_errors"].tolist() == [3.0]


def test_without_corrections_only_splits_that_save_no_error_go(golf_model):
    # Rainy has 2 errors, and 1 + 1 below; sunny has 2, and none below.
    assert pessimistic(golf_model, errors_per_leaf=0, standard_errors=0).nodes.tolist() == [2]


def test_a_node_is_judged_by_its_subtree_as_it_was_grown(build_tree):
    # Node 2 goes on its own (1.5 <= 1 + sqrt(1 * 3 / 4)), but the root is judged with its three leaves: 12.5 errors
    # against 1.5, and one standard error.
    tree = build_tree(
        [(0, 1.0), None, (0, 2.0), None, None], [1, -1, 3, -1, -1], [[15, 12], [15, 0], [0, 12], [0, 9], [0, 3]]
    )
    model = ModelData("classification", Schema((Column("x", "numeric"),)), (tree,), (np.arange(2),))

    decision = pessimistic(model)

    assert decision.nodes.tolist() == [2]
    assert decision.numbers["leaf_errors"].tolist() == [0.5]
    assert decision.numbers["subtree_errors"].tolist() == [1.0]


def test_a_second_pruning_may_cut_more():
    # A cut below makes the subtree another one, and its node is judged anew.
    table, n_more = np.random.default_rng(0).random((60, 3)), 0
    for seed in range(40):
        y = np.random.default_rng(seed).integers(0, 3, 60)
        once = tw.DecisionTreeClassifier(min_samples_leaf=3).fit(table, y).prune("pessimistic", standard_errors=0.3)
        n_more += once.prune("pessimistic", standard_errors=0.3).get_n_leaves() < once.get_n_leaves()

    assert n_more > 0


def test_more_errors_than_rows_have_no_spread(build_tree):
    tree = build_tree(
        [(0, 1.0), None, None], [1, -1, -1], [[1, 1], [1, 0], [0, 1]], samples=[2, 1, 1], weight=[2, 1, 1]
    )
    model = ModelData("classification", Schema((Column("x", "numeric"),)), (tree,), (np.arange(2),))

    assert pessimistic(model, errors_per_leaf=2).numbers["standard_error"].tolist() == [0.0]


def test_numbers_are_refused_with_what_to_use(mean_model):
    with pytest.raises(ParameterError, match=r"counts misclassified rows.*minimum_error"):
        pessimistic(mean_model)


def test_the_log_tells_the_three_numbers():
    est = tw.DecisionTreeClassifier().fit([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 0])
    log = est.prune("pessimistic").prune_log_

    assert set(log[0].numbers) == {"leaf_errors", "subtree_errors", "standard_error"}
    assert log.method == "pessimistic"
    assert log.options == {"errors_per_leaf": 0.5, "standard_errors": 1.0}


def test_a_sliver_of_a_row_is_given_that_part_of_the_correction(build_tree):
    # Two pure leaves of 9.99 and of 9.99 rows, and two slivers of 0.01: 1.01 errors, not 2, of 20.
    counts = [[10, 10], [10, 0.01], [0, 9.99], [9.99, 0], [0.01, 0.01]]
    tree = build_tree(
        [(0, 1.0), (0, 0.5), None, None, None],
        [1, 3, -1, -1, -1],
        counts,
        samples=[20, 11, 10, 10, 2],
        weight=[sum(each) for each in counts],
    )
    model = ModelData("classification", Schema((Column("x", "numeric"),)), (tree,), (np.arange(2),))
    log = pessimistic(model, standard_errors=0).numbers

    # Node 1: 0.01 wrong and 1/2 as a leaf; 1/2, and 0.01 wrong with 0.02 / 2 below.
    assert log["leaf_errors"] == pytest.approx([0.51])
    assert log["subtree_errors"] == pytest.approx([0.5 + 0.01 + 0.01])


def test_divided_rows_do_not_cut_a_tree_to_its_root():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    X[rng.random(X.shape) < 0.15] = np.nan
    est = tw.DecisionTreeClassifier(missing="fractional").fit(X, y)
    pruned = est.prune("pessimistic")

    assert 1 < pruned.get_n_leaves() < est.get_n_leaves()
