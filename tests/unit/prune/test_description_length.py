"""Pruning by description length: bits counted by hand."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

import treewright as tw
from treewright.data.schema import Column, Schema
from treewright.exceptions import DataWarning, ParameterError
from treewright.prune.description_length import _bits_of_classes, description_length, split_bits

PI_BITS = math.log2(math.pi)  # pi^(2/2) / Gamma(2/2)


def halves(build_tree, model, n):
    """Two classes of n rows each, told apart by one cut of the only column."""
    tree = build_tree([(0, 1.0), None, None], [1, -1, -1], [[n, n], [n, 0], [0, n]])
    return replace(model, trees=(tree,), schema=Schema((Column("x", "numeric"),)))


def test_eight_rows_of_each_class_are_worth_a_split(build_tree, golf_model):
    # As a leaf 1 + 16 + 1/2 log2(8) + log2(pi) = 20.15; split 1 + 0 + log2(15) = 4.91, each side 1 + 0 + 1 + log2(pi).
    assert len(description_length(halves(build_tree, golf_model, 8)).nodes) == 0


def test_two_rows_of_each_class_are_not(build_tree, golf_model):
    decision = description_length(halves(build_tree, golf_model, 2))

    assert decision.nodes.tolist() == [0]
    assert decision.numbers["leaf_bits"] == pytest.approx([1 + 4 + 0.5 + PI_BITS])
    assert decision.numbers["subtree_bits"] == pytest.approx([1 + math.log2(3) + 2 * (1 + PI_BITS)])


def test_three_classes_as_in_the_formula(iris_model):
    # n_i log2(n / n_i): 150 log2(3). Shares: log2(75) + log2(pi^1.5 / (sqrt(pi) / 2)) = log2(75) + log2(2 pi).
    bits = _bits_of_classes(iris_model)

    assert bits[0] == pytest.approx(150 * math.log2(3) + math.log2(75) + math.log2(2 * math.pi))
    assert bits[1] == pytest.approx(math.log2(25) + math.log2(2 * math.pi))


def test_one_row_of_many_classes_costs_its_class(build_tree, golf_model):
    # The formula has 12.5 log2(1/2) + 21.47 - 28.84 = -19.9 bits for one row of 26 classes.
    counts = np.zeros((3, 26))
    counts[0, :2] = counts[1, 0] = counts[2, 1] = 1
    tree = build_tree([(0, 1.0), None, None], [1, -1, -1], counts)
    model = replace(golf_model, trees=(tree,), classes=(np.arange(26),))

    assert _bits_of_classes(model)[1:] == pytest.approx([math.log2(26)] * 2)


def test_what_the_shares_cost_never_falls_with_more_rows(build_tree, golf_model):
    for k in (1, 2, 3, 8, 26, 200):
        weights = [*np.linspace(0.01, 3, 40), *range(4, 500, 7)]
        pure = np.zeros((len(weights), k))
        pure[:, 0] = weights
        leaves = build_tree(
            [None] * len(weights), [-1] * len(weights), pure, samples=[1] * len(weights), weight=weights
        )
        bits = _bits_of_classes(replace(golf_model, trees=(leaves,), classes=(np.arange(k),)))
        assert (np.diff(bits) >= -1e-12).all()
        assert (bits >= 0).all()


def test_bits_of_questions(full_model):
    # Three columns. x <= 2.5 of 14 rows: 13 cuts. city, a branch for each of two levels: one way. city in a set, three
    # levels seen: 2^2. size, two cuts of three levels: one way.
    column = math.log2(3)

    assert split_bits(full_model, full_model.trees[0].n_samples)[[0, 1, 2, 7]] == pytest.approx(
        [column + math.log2(13), column, column + 2, column]
    )
    assert split_bits(full_model, full_model.trees[0].n_samples)[3] == 0.0


def test_grouped_levels_cost_the_ways_to_group_them():
    # Six levels in groups: CHAID merges them in twos or threes.
    levels = list("abcdef") * 30
    y = [level in "abc" for level in levels]
    est = tw.CHAIDClassifier().fit({"level": levels}, y)
    assert est.tree_.n_branches[0] == 2

    assert split_bits(est.model_, est.tree_.n_samples)[0] == pytest.approx(math.log2(2**5 - 1))


def test_a_branch_of_its_own_for_missing_values_costs_nothing(own_branch_model):
    # age: 20 cuts of 21 rows; city: three levels seen; income: two of 7 cuts;
    # size: three levels seen, two in a branch: 3 ways.
    assert split_bits(own_branch_model, own_branch_model.trees[0].n_samples)[:4] == pytest.approx(
        [2 + math.log2(20), 2 + 2, 2 + math.log2(7 * 6 / 2), 2 + math.log2(3)]
    )


def test_numbers_with_known_noise(mean_model):
    # 10 rows of variance 9, 4 of 1 and 6 of 4, one column; noise 2.
    def bits(n, variance):
        return 1 + n * variance / (2 * 4 * math.log(2)) + n / 2 * math.log2(2 * math.pi * 4) + 0.5 * math.log2(n)

    split = 1 + math.log2(9)
    assert bits(10, 9) > split + bits(4, 1) + bits(6, 4)
    assert len(description_length(mean_model, noise=2).nodes) == 0
    decision = description_length(mean_model, noise=10)
    assert decision.nodes.tolist() == [0]
    assert decision.numbers["noise"].tolist() == [10.0]


def test_the_unit_of_the_target_does_not_matter():
    rng = np.random.default_rng(2)
    X = rng.random((120, 2))
    y = np.round(4.0 * (X[:, 0] > 0.5) + rng.normal(size=120), 3)
    one = tw.DecisionTreeRegressor().fit(X, y).prune("description_length")
    other = tw.DecisionTreeRegressor().fit(X, 1024 * y).prune("description_length")

    assert one.tree_.threshold.tolist() == other.tree_.threshold.tolist()


@pytest.mark.parametrize("min_samples_leaf", [1, 5])
def test_the_estimated_noise_is_that_of_the_data(min_samples_leaf):
    rng = np.random.default_rng(0)
    X = rng.random((500, 5))
    y = np.where(X[:, 0] < 0.5, 0.0, 3.0) + np.where(X[:, 1] < 0.3, 0.0, 2.0) + rng.normal(size=500)
    est = tw.DecisionTreeRegressor(min_samples_leaf=min_samples_leaf).fit(X, y)
    pruned = est.prune("description_length")

    assert pruned.get_n_leaves() == 4
    assert pruned.prune_log_[0].numbers["noise"] == pytest.approx(1, abs=0.1)


def test_rows_without_noise_keep_what_explains_them():
    X = np.arange(40.0)[:, None]
    y = np.where(X[:, 0] < 13, 1.0, np.where(X[:, 0] < 25, 5.0, 2.0))
    est = tw.DecisionTreeRegressor().fit(X, y)
    pruned = est.prune("description_length")

    assert np.array_equal(pruned.predict(X), y)
    assert pruned.get_n_leaves() == 3


def test_no_spread_at_all_leaves_the_root(build_tree, mean_model):
    tree = build_tree([(0, 1.0), None, None], [1, -1, -1], [[3], [3], [3]], samples=[9, 4, 5])

    assert description_length(replace(mean_model, trees=(tree,))).nodes.tolist() == [0]


@pytest.mark.parametrize("weights", ["2", "1 to 3", "shares"])
def test_weights_are_no_copies_the_noise_stays_that_of_the_data(weights):
    rng = np.random.default_rng(0)
    X = rng.random((500, 5))
    given = {"2": np.full(500, 2.0), "1 to 3": rng.integers(1, 4, 500), "shares": np.full(500, 1 / 512)}[weights]
    scale = np.sqrt(given.mean() / given)  # a row of a large weight has little noise
    y = np.where(X[:, 0] < 0.5, 0.0, 3.0) + np.where(X[:, 1] < 0.3, 0.0, 2.0) + scale * rng.normal(size=500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        pruned = tw.DecisionTreeRegressor().fit(X, y, given).prune("description_length")

    assert pruned.get_n_leaves() == 4
    assert pruned.prune_log_.options["noise"] == pytest.approx(1, abs=0.1)


def test_numbers_that_differ_by_a_rounding_have_no_spread(build_tree, mean_model):
    third = 1e30 / 3
    tree = build_tree(
        [(0, 1.0), None, None],
        [1, -1, -1],
        [[third], [third], [third * (1 + 2.0**-52)]],
        samples=[20, 10, 10],
        impurity=[(third * 2.0**-53) ** 2, 0, 0],
    )

    assert description_length(replace(mean_model, trees=(tree,))).nodes.tolist() == [0]


def test_the_estimate_is_told_as_the_option_that_it_stands_for(mean_model):
    decision = description_length(mean_model)
    again = description_length(mean_model, noise=decision.used["noise"])

    assert again.used is None
    assert again.nodes.tolist() == decision.nodes.tolist()


def test_noise_for_classes_is_refused(iris_model):
    with pytest.raises(ParameterError, match="only regression has noise; leave it out"):
        description_length(iris_model, noise=1.0)


@pytest.mark.parametrize("noise", [1e-300, 1e-160])
def test_noise_that_is_far_too_small_is_refused(mean_model, noise):
    with pytest.raises(ParameterError, match="too small for the spread of the target"):
        description_length(mean_model, noise=noise)


def test_several_outputs_of_classes_add_their_bits(iris_model):
    tree = iris_model.trees[0]
    double = replace(tree, value=np.hstack([tree.value, tree.value]))
    both = replace(iris_model, trees=(double,), classes=iris_model.classes * 2, n_outputs=2)

    assert _bits_of_classes(both) == pytest.approx(2 * _bits_of_classes(iris_model))
