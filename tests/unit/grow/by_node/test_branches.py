"""Which branches the grower by nodes allows, and which of equal ones it takes: small tables checked by hand."""

from __future__ import annotations

import numpy as np
import pytest

import treewright as tw
from treewright.grow.by_node.candidates import heaviest_of
from treewright.trees.arrays import LEAF, MULTIWAY

NAN = np.nan


def test_missing_rows_lighter_than_the_least_weight_join_a_side() -> None:
    """One missing row of ten is less than the 30 % that a branch needs: two branches, not three."""
    X = {"x": [1.0, 2.0, 3.0, 4.0, NAN, 5.0, 6.0, 7.0, 8.0, 9.0]}
    estimator = tw.DecisionTreeClassifier(missing="branch", min_weight_fraction_leaf=0.3, max_depth=1)

    tree = estimator.fit(X, [0, 0, 0, 0, 1, 1, 1, 1, 1, 1]).tree_

    assert tree.n_branches[0] == 2
    assert tree.weight.tolist() == [10.0, 4.0, 6.0]
    assert tree.missing_branch[0] == 1


def test_missing_rows_have_a_branch_of_their_own_where_they_are_enough() -> None:
    X = {"x": [1.0, 2.0, 3.0, NAN, NAN, NAN, 7.0, 8.0, 9.0]}
    estimator = tw.DecisionTreeClassifier(missing="branch", min_weight_fraction_leaf=0.3, max_depth=1)

    tree = estimator.fit(X, [0, 0, 0, 1, 1, 1, 2, 2, 2]).tree_

    assert tree.value.tolist() == [[3, 3, 3], [3, 0, 0], [0, 0, 3], [0, 3, 0]]
    assert tree.missing_branch[0] == 2


@pytest.mark.parametrize("splits", ["multiway", "one_vs_rest"])
def test_no_poisson_branch_is_without_events(splits: str) -> None:
    """Level a has no events: alone it would predict 0, whose deviance is infinite at the first event."""
    estimator = tw.DecisionTreeRegressor(criterion="poisson", nominal_splits=splits)

    tree = estimator.fit({"c": ["a", "a", "b", "b", "c", "c"]}, [0.0, 0.0, 9.0, 20.0, 20.0, 50.0]).tree_

    assert (tree.value > 0).all()
    assert (tree.n_nodes == 1) == (splits == "multiway")


def test_roundings_are_no_poisson_events() -> None:
    """Events 0.1 + 0.2 + 0.3 in the order of rows, less 0.3 + 0.2 + 0.1 on the left, leave 1.1e-16 on the right."""
    X = {"x": [3.0, 2.0, 1.0, 4.0], "c": ["a", "a", "a", "a"]}
    estimator = tw.DecisionTreeRegressor(criterion="poisson", missing="surrogate", max_depth=1)

    tree = estimator.fit(X, [1.0, 1.0, 1.0, 0.0], sample_weight=[0.1, 0.2, 0.3, 0.7]).tree_

    assert (tree.value > 0).all()
    assert tree.threshold[0] != 3.5


def test_missing_poisson_rows_without_events_join_a_side() -> None:
    X = {"x": [1.0, 2.0, 3.0, 4.0, NAN, NAN]}

    tree = tw.DecisionTreeRegressor(criterion="poisson", missing="branch", max_depth=1).fit(X, [1, 1, 9, 9, 0, 0]).tree_

    assert tree.n_branches[0] == 2
    assert tree.missing_branch[0] == 0


def test_missing_rows_that_join_do_not_make_their_level_weigh_twice() -> None:
    """Weights 3 (a, two of them missing) and 4 (b): levels never seen go with b."""
    X = {"c": ["a", None, None, "b", "b", "b", "b"]}
    estimator = tw.DecisionTreeRegressor(nominal_splits="multiway", max_depth=1)

    tree = estimator.fit(X, [1.0, 1.0, 1.0, 5.0, 5.0, 5.0, 6.0]).tree_

    assert tree.kind[0] == MULTIWAY
    assert tree.level_branch.tolist() == [0, 1, ~1]
    assert tree.weight.tolist() == [7.0, 3.0, 4.0]


def test_missing_rows_join_the_lower_of_two_levels_where_both_cost_the_same() -> None:
    """Levels a and b are mirror images: 0.1 + 0.2 + ... in another order must not decide."""
    for order in (np.arange(10), np.arange(10)[::-1], np.array([3, 1, 4, 0, 5, 9, 2, 6, 8, 7])):
        cells = np.array(["a"] * 4 + ["b"] * 4 + [None] * 2, dtype=object)[order]
        y = np.array([0, 0, 0, 1, 1, 1, 1, 0, 0, 1])[order]
        weights = np.array([0.1, 0.2, 0.3, 0.7, 0.3, 0.1, 0.2, 0.7, 0.4, 0.4])[order]
        estimator = tw.DecisionTreeClassifier(nominal_splits="multiway", max_depth=1)

        tree = estimator.fit({"c": cells.tolist()}, y, weights).tree_

        assert tree.missing_branch[0] == 0


def test_levels_are_ordered_by_their_lower_median() -> None:
    """Both growers: lower medians 0 (b: 0 and 9), 1 (a), 2 (c); the middles 4.5, 1, 2 would give another order."""
    X = {"c": ["a", "a", "b", "b", "c", "c"]}
    y = [1.0, 1.0, 0.0, 9.0, 2.0, 2.0]

    by_levels = tw.DecisionTreeRegressor(criterion="absolute_error", max_depth=1).fit(X, y).tree_
    by_node = tw.DecisionTreeRegressor(criterion="absolute_error", missing="surrogate", max_depth=1).fit(X, y).tree_

    np.testing.assert_array_equal(by_levels.levels_left, by_node.levels_left)
    np.testing.assert_array_equal(by_levels.value, by_node.value)


def test_parts_of_rows_that_add_up_to_the_same_weight_are_the_same_weight() -> None:
    """Of two the right one, of more the first."""
    assert 0.1 + 0.2 > 0.3
    assert heaviest_of(np.array([0.1 + 0.2, 0.3])) == 1
    assert heaviest_of(np.array([0.2, 0.3, 0.1 + 0.2])) == 1
    assert heaviest_of(np.array([0.4, 0.3])) == 0


def test_a_division_of_known_rows_that_are_pure_is_offered_whatever_its_rounding() -> None:
    """The missing row, 0.79 of weight 2, differs; the two known ones do not: a gain of 0, not of -1e-17."""
    for weight in np.linspace(0.1, 2.0, 20):
        X = {"c": ["a", "b", None]}
        y = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
        estimator = tw.DecisionTreeRegressor(missing="fractional", max_depth=1)

        tree = estimator.fit(X, y, [1.92, 3.0, weight]).tree_

        assert tree.n_nodes == 3


def test_best_first_trees_are_numbered_level_by_level() -> None:
    X = np.arange(16.0)[:, None]
    y = [0, 1, 0, 0, 1, 1, 2, 1, 2, 2, 0, 1, 1, 2, 0, 0]

    tree = tw.DecisionTreeClassifier(max_leaf_nodes=7, criterion="gain_ratio").fit(X, y).tree_

    assert (np.diff(tree.depth) >= 0).all()
    inner = np.flatnonzero(tree.kind != LEAF)
    assert (np.diff(tree.first_child[inner]) > 0).all()
