"""Minimum error pruning: the m-estimate in fractions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import treewright as tw
from treewright.exceptions import ParameterError
from treewright.prune.estimates import _of_numbers, minimum_error

PRIOR = (Fraction(5, 14), Fraction(9, 14))


def static(counts: tuple[int, int], m: int) -> Fraction:
    """(n - n_c + (1 - p_c) m) / (n + m), the least over c."""
    n = sum(counts)
    return min((n - count + (1 - p) * m) / (n + m) for count, p in zip(counts, PRIOR, strict=True))


def test_the_m_estimate_by_hand():
    # [3, 2] with m = 2: "no" has 2 + 18/14 = 46/14 of 7, "yes" 3 + 10/14 = 52/14 of 7.
    assert static((3, 2), 2) == Fraction(46, 98)


def test_two_classes_with_m_2_keep_the_golf_tree(golf_model):
    # Sunny: (2 * 5/28 + 3/7 + 2 * 9/28) / 5 = 2/7 < 23/49. Rainy: (2 * 3/7 + 3 * 12/35) / 5 = 66/175 < 19/49.
    sunny = (2 * static((0, 2), 2) + static((1, 0), 2) + 2 * static((2, 0), 2)) / 5
    rainy = (2 * static((1, 1), 2) + 3 * static((1, 2), 2)) / 5
    assert (sunny, rainy) == (Fraction(2, 7), Fraction(66, 175))
    assert sunny < static((3, 2), 2)
    assert rainy < static((2, 3), 2)

    assert len(minimum_error(golf_model).nodes) == 0


def test_a_node_goes_where_the_static_error_is_no_larger(golf_model):
    # Rainy [2, 3] with m = 1: (2 + 5/14) / 6 as a leaf. Below it [1, 1] has (1 + 5/14) / 3, [1, 2] (1 + 5/14) / 4.
    backed_up = (2 * static((1, 1), 1) + 3 * static((1, 2), 1)) / 5
    assert static((2, 3), 1) == Fraction(11, 28)
    assert backed_up == Fraction(2, 5) * Fraction(19, 42) + Fraction(3, 5) * Fraction(19, 56)
    assert backed_up < Fraction(11, 28)
    assert len(minimum_error(golf_model, m=1).nodes) == 0


def test_laplace_is_the_default_where_classes_are_equally_frequent(iris_model):
    # Niblett and Bratko: (n - n_c + k - 1) / (n + k). Node 2 [0, 50, 50]: 52/103; below it 54 and 46 rows with
    # (5 + 2) / 57 and (1 + 2) / 49: they stay.
    assert (54 * 7 / 57 + 46 * 3 / 49) / 100 < 52 / 103

    assert len(minimum_error(iris_model).nodes) == 0


def test_laplace_numbers_in_the_log(build_tree, iris_model):
    counts = [[4, 4, 4], [4, 0, 0], [0, 4, 4], [0, 2, 2], [0, 2, 2]]
    tree = build_tree([(0, 1.0), None, (1, 1.0), None, None], [1, -1, 3, -1, -1], counts)
    decision = minimum_error(replace(iris_model, trees=(tree,)))

    # [0, 4, 4]: (8 - 4 + 2) / 11; twice [0, 2, 2]: (4 - 2 + 2) / 7.
    assert decision.nodes.tolist() == [2]
    assert decision.numbers["static_error"].tolist() == pytest.approx([6 / 11])
    assert decision.numbers["backed_up_error"].tolist() == pytest.approx([4 / 7])


def test_m_0_counts_training_errors_alone(golf_model):
    # Rainy has 2 errors of 5, and below it 1 of 2 and 1 of 3.
    decision = minimum_error(golf_model, m=0)

    assert decision.nodes.tolist() == [2]
    assert decision.numbers["static_error"].tolist() == pytest.approx([0.4])


def test_the_variance_of_the_mixture_by_hand(mean_model):
    # 10 rows of mean 5, variance 9; 4 of mean 2, variance 1; 6 of mean 7, variance 4. With m = 2:
    # second moments (4 * (1 + 4) + 2 * (9 + 25)) / 6 = 88/6, mean (8 + 10) / 6 = 3: 88/6 - 9 = 17/3
    # (6 * (4 + 49) + 2 * 34) / 8 = 386/8, mean 52/8: 386/8 - 2704/64 = 6
    # The root: (10 * 34 + 2 * 34) / 12 - 25 = 9. It stays: (4 * 17/3 + 6 * 6) / 10 = 5.867.
    assert _of_numbers(mean_model, 2.0) == pytest.approx([9, 17 / 3, 6])
    assert len(minimum_error(mean_model, m=2).nodes) == 0


def test_a_node_much_narrower_than_the_root_goes(build_tree, mean_model):
    # Root 8 rows of mean 0, variance 100. Node 2: 4 rows of mean 0, variance 1, halves at -h and h with h^2 = 1/2 and
    # variance 1/2. As a leaf (4 * 1 + 2 * 100) / 6 = 34; a half (2 * 1/2 + 2 * 100) / 4 + 2 * 2 / 16 * 1/2 = 50.375.
    h = 0.5**0.5
    tree = build_tree(
        [(0, 1.0), None, (0, 2.0), None, None],
        [1, -1, 3, -1, -1],
        [[0], [0], [0], [-h], [h]],
        samples=[8, 4, 4, 2, 2],
        impurity=[100, 199, 1, 0.5, 0.5],
    )
    decision = minimum_error(replace(mean_model, trees=(tree,)))

    assert 2 in decision.nodes.tolist()
    assert decision.numbers["static_error"][0] == pytest.approx(34)
    assert decision.numbers["backed_up_error"][0] == pytest.approx(50.375)


def test_far_from_zero_nothing_is_lost():
    rng = np.random.default_rng(1)
    X, y = rng.random((80, 2)), rng.integers(0, 9, 80).astype(float)
    near = tw.DecisionTreeRegressor().fit(X, y).prune("minimum_error")
    far = tw.DecisionTreeRegressor().fit(X, y + 2.0**30).prune("minimum_error")

    assert near.get_n_leaves() == far.get_n_leaves() < 60


@pytest.mark.parametrize("criterion", ["absolute_error", "poisson", "own"])
def test_other_centres_than_means_are_refused(mean_model, criterion):
    model = replace(mean_model, facts={"criterion": criterion})

    with pytest.raises(ParameterError, match=f"'{criterion}': use cost_complexity"):
        minimum_error(model)


def test_chaid_for_numbers_holds_means():
    X = {"a": list("xyz") * 20}
    est = tw.CHAIDRegressor().fit(X, [float(i % 3) + i / 100 for i in range(60)])

    assert est.prune("minimum_error").get_n_leaves() == est.get_n_leaves() > 1


def test_a_common_weight_of_numbers_is_no_number_of_rows(mean_model):
    tree = mean_model.trees[0]
    heavy = replace(mean_model, trees=(replace(tree, weight=7.0 * tree.weight),))

    assert _of_numbers(heavy, 2.0) == pytest.approx(_of_numbers(mean_model, 2.0), rel=1e-15)


def test_the_default_is_told_as_the_option_that_it_stands_for(golf_model, mean_model):
    assert minimum_error(golf_model).used == {"m": 2.0}
    assert minimum_error(mean_model).used == {"m": 2.0}
    assert minimum_error(golf_model, m=3).used is None
