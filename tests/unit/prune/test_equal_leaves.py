"""Merging leaves that say the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import treewright as tw
from treewright.prune.estimates import merge_equal_leaves


def test_leaves_of_one_class_are_merged_from_the_leaves_up(build_tree, golf_model):
    # Node 2's leaves say class 0, then it does, as node 1 does: all of it is one leaf.
    counts = [[9, 3], [4, 1], [5, 2], [3, 0], [2, 2]]
    tree = build_tree([(0, 1.0), None, (0, 2.0), None, None], [1, -1, 3, -1, -1], counts)
    decision = merge_equal_leaves(replace(golf_model, trees=(tree,)))

    assert decision.nodes.tolist() == [2, 0]
    assert decision.actions == ("merge", "merge")
    assert decision.numbers["branches"].tolist() == [2.0, 2.0]
    assert decision.tree.value.tolist() == [[9.0, 3.0]]


def test_a_branch_of_another_class_keeps_its_siblings_apart(golf_model):
    # Rainy: cool [1, 1] says no (the first of equals), mild [1, 2] yes, hot has no rows and says what rainy does, yes.
    assert len(merge_equal_leaves(golf_model).nodes) == 0


def test_a_leaf_without_rows_says_what_its_parent_holds(golf_model):
    tree = golf_model.trees[0]

    def merged(mild):
        value = tree.value.copy()
        value[4], value[5] = [0, 2], mild
        return merge_equal_leaves(replace(golf_model, trees=(replace(tree, value=value),)))

    # cool says yes, hot has no rows and says what [2, 3] says: yes.
    assert len(merged([2, 1]).nodes) == 0
    decision = merged([1, 2])
    assert decision.nodes.tolist() == [2]
    assert decision.numbers["branches"].tolist() == [3.0]


def test_a_tie_that_a_rounding_breaks_in_the_node_keeps_its_branches(build_tree, golf_model):
    # Both branches say the first of two equal classes; by a rounding of the sum the node says the second.
    counts = [[0.3, 0.1 + 0.2], [0.15, 0.15], [0.15, 0.15]]
    tree = build_tree([(0, 1.0), None, None], [1, -1, -1], counts, samples=[4, 2, 2], weight=[0.6, 0.3, 0.3])
    assert counts[0][0] < counts[0][1]

    assert len(merge_equal_leaves(replace(golf_model, trees=(tree,))).nodes) == 0


def test_equal_numbers_are_merged_and_stay_to_the_last_bit(build_tree, mean_model):
    # The mean of rows of 0.3 may come out as 0.1 + 0.2; the leaf that is left says what its rows were told before.
    values = [[0.1 + 0.2], [0.3], [0.3]]
    tree = build_tree([(0, 1.0), None, None], [1, -1, -1], values, samples=[4, 2, 2])
    decision = merge_equal_leaves(replace(mean_model, trees=(tree,)))

    assert decision.tree.value.tolist() == [[0.3]]
    assert tree.value.tolist() == values


def test_all_outputs_have_to_agree():
    X = [[1.0], [2.0], [3.0], [4.0]]
    est = tw.DecisionTreeClassifier().fit(X, [["a", "c"], ["a", "c"], ["a", "d"], ["a", "d"]])

    assert est.prune("merge_equal_leaves").get_n_leaves() == 2


def test_numbers_that_differ_stay(mean_model):
    assert len(merge_equal_leaves(mean_model).nodes) == 0


def test_the_log_says_what_was_done():
    est = tw.DecisionTreeClassifier().fit([[1], [1], [1], [9], [9]], ["a", "a", "b", "a", "a"])
    log = est.prune("merge_equal_leaves").prune_log_

    assert log[0].action == "merge"
    assert "equal leaves merged" in str(log)
    assert log[0].rise == pytest.approx(0)


def test_nominal_branches_of_a_fitted_tree_are_merged():
    table = {"town": list("abcd") * 6}
    y = ["in" if town in "abc" else "out" for town in table["town"]]
    y[0] = y[4] = "out"  # a is mixed, so that the branches differ in their shares
    est = tw.ID3Classifier().fit(table, y)
    pruned = est.prune("merge_equal_leaves")

    assert np.array_equal(est.predict(table), pruned.predict(table))


def test_both_zeros_are_one_number(build_tree, mean_model):
    tree = build_tree([(0, 1.0), None, None], [1, -1, -1], [[-0.0], [-0.0], [0.0]], samples=[4, 2, 2])
    decision = merge_equal_leaves(replace(mean_model, trees=(tree,)))

    assert decision.nodes.tolist() == [0]
    assert not np.signbit(decision.tree.value[0, 0])  # the same bytes, whichever of the two comes first
