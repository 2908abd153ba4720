"""Tails, statistics and multipliers: against SciPy, exact integers and a pencil."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from treewright.core.jit import allocating_kernel
from treewright.grow.by_node import significance
from treewright.grow.by_node.significance import F_TEST, LIKELIHOOD_RATIO, PEARSON


def stirling(c, r):
    """Ways to divide c things into r groups, by Kass's alternating sum in integers."""
    total = sum((-1) ** i * math.comb(r, i) * (r - i) ** c for i in range(r))
    assert total % math.factorial(r) == 0
    return total // math.factorial(r)


@allocating_kernel
def chi_squared_tails(statistics, dofs):
    out = np.empty(statistics.shape[0])
    for i in range(statistics.shape[0]):
        out[i] = significance.log_chi_squared_tail(statistics[i], dofs[i])
    return out


@allocating_kernel
def f_tails(statistics, between, within):
    out = np.empty(statistics.shape[0])
    for i in range(statistics.shape[0]):
        out[i] = significance.log_f_tail(statistics[i], between[i], within[i])
    return out


def test_chi_squared_tails_are_those_of_scipy():
    statistics, dofs = (
        grid.ravel()
        for grid in np.meshgrid([1e-6, 0.1, 1.0, 3.841, 10.0, 99.0, 600.0], [1.0, 2.0, 3.0, 9.0, 80.0, 1000.0])
    )
    assert np.exp(chi_squared_tails(statistics, dofs)) == pytest.approx(special.chdtrc(dofs, statistics), rel=1e-11)


def test_chi_squared_tails_have_an_order_where_float64_has_none():
    # With two degrees of freedom the tail is exp(-x / 2): also for x = 100,000.
    assert chi_squared_tails(np.array([1e5, 2e5]), np.array([2.0, 2.0])) == pytest.approx([-5e4, -1e5], rel=1e-14)
    logs = chi_squared_tails(np.array([99999.0, 1e5, 1e5, 1e5]), np.array([1.0, 1.0, 2.0, 3.0]))
    assert logs[0] > logs[1] < logs[2] < logs[3]


def test_nothing_to_test_has_the_p_value_1():
    assert chi_squared_tails(np.array([0.0, 5.0]), np.array([3.0, 0.0])).tolist() == [0.0, 0.0]
    assert f_tails(np.array([0.0, 5.0]), np.array([1.0, 1.0]), np.array([3.0, 0.0])).tolist() == [0.0, 0.0]


def test_f_tails_are_those_of_scipy():
    statistics, between, within = (
        grid.ravel()
        for grid in np.meshgrid(
            [1e-6, 0.1, 1.0, 4.0, 30.0, 200.0], [1.0, 2.0, 9.0, 60.0], [1.0, 2.0, 7.0, 100.0, 5000.0]
        )
    )
    expected = special.fdtrc(between, within, statistics)
    known = expected > 1e-290
    assert np.exp(f_tails(statistics, between, within))[known] == pytest.approx(expected[known], rel=1e-9)


def test_f_tails_have_an_order_where_float64_has_none():
    # With 2 and d degrees of freedom the tail is (1 + 2 F / d) ** (-d / 2).
    found = f_tails(np.array([1e4, 1e5]), np.array([2.0, 2.0]), np.array([1e4, 1e4]))
    assert found == pytest.approx([-5e3 * math.log(3.0), -5e3 * math.log(21.0)], rel=1e-12)


@allocating_kernel
def compared(first, second, test):
    return significance.compare(first, second, test)


@allocating_kernel
def result_of(groups, test):
    return significance.test_groups(groups, groups.shape[0], test)


def test_pearsons_statistic_of_a_2_by_3_table():
    # Rows 10, 20, 30 and 20, 20, 20: expected 15, 20, 25 each; (25/15 + 0 + 25/25) * 2 = 16/3 with 2 degrees.
    table = np.array([[10.0, 20.0, 30.0], [20.0, 20.0, 20.0]])
    statistic, dof, dof_within, log_p = result_of(table, PEARSON)
    assert statistic == pytest.approx(16 / 3, rel=1e-14)
    assert (dof, dof_within) == (2.0, 0.0)
    assert math.exp(log_p) == pytest.approx(math.exp(-8 / 3), rel=1e-13)
    assert compared(table[0], table[1], PEARSON) == pytest.approx((16 / 3, 2.0), rel=1e-11)


def test_likelihood_ratio_of_a_2_by_2_table():
    # 30, 10 and 10, 30: 2 * (60 log(30/20) + 20 log(10/20))
    table = np.array([[30.0, 10.0], [10.0, 30.0]])
    expected = 2 * (60 * math.log(1.5) + 20 * math.log(0.5))
    assert result_of(table, LIKELIHOOD_RATIO)[0] == pytest.approx(expected, rel=1e-14)
    assert compared(table[0], table[1], LIKELIHOOD_RATIO) == pytest.approx((expected, 1.0), rel=1e-11)


def test_a_class_that_neither_group_holds_costs_no_degree_of_freedom():
    assert compared(np.array([3.0, 0.0, 1.0]), np.array([1.0, 0.0, 3.0]), PEARSON) == pytest.approx((2.0, 1.0))
    assert compared(np.array([3.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0]), PEARSON) == (0.0, 0.0)


def moments(values):
    return [len(values), sum(values), sum(value * value for value in values)]


def test_f_statistic_of_three_groups():
    # 1 3, 5 7, 9 11: means 2, 6, 10; between 2 * (16 + 0 + 16) / 2 = 32; within 6 * 1 / 3 = 2; F = 16.
    groups = np.array([moments([1, 3]), moments([5, 7]), moments([9, 11])], float)
    statistic, dof, dof_within, log_p = result_of(groups, F_TEST)
    assert (statistic, dof, dof_within) == (pytest.approx(16.0, rel=1e-14), 2.0, 3.0)
    assert math.exp(log_p) == pytest.approx((1 + 2 * 16 / 3) ** -1.5, rel=1e-13)
    # Two groups: between 16, within 4 / 2.
    assert compared(groups[0], groups[1], F_TEST) == pytest.approx((8.0, -2.0), rel=1e-11)


def test_groups_without_spread_differ_for_certain_or_not_at_all():
    apart = np.array([moments([1, 1]), moments([2, 2])], float)
    assert result_of(apart, F_TEST)[0] == math.inf
    assert result_of(apart, F_TEST)[3] == -math.inf
    same = np.array([moments([0.1] * 3), moments([0.1] * 7)], float)
    assert result_of(same, F_TEST)[3] == 0.0
    assert compared(same[0], same[1], F_TEST)[0] == 0.0


@allocating_kernel
def multipliers(c, r, is_ordered, is_floating, is_exhaustive):
    return significance.log_multiplier(c, r, is_ordered, is_floating, is_exhaustive)


@pytest.mark.parametrize("c", [2, 3, 5, 12, 60])
def test_multipliers_count_the_ways_to_merge(c):
    for r in range(2, c + 1):
        assert multipliers(c, r, False, False, False) == pytest.approx(math.log(stirling(c, r)), abs=1e-11)
        assert multipliers(c, r, True, False, False) == pytest.approx(math.log(math.comb(c - 1, r - 1)), abs=1e-11)
        floating = math.comb(c - 2, r - 2) + r * math.comb(c - 2, r - 1)
        assert multipliers(c, r, True, True, False) == pytest.approx(math.log(floating), abs=1e-11)


def test_kass_counts_are_those_of_small_columns():
    # 4 levels into 2 groups: 7 ways; in order 3; three in order and one that floats: 1 alone + 2 * 2 joined = 5.
    counts = [
        round(math.exp(multipliers(4, 2, *kind, False))) for kind in ((False, False), (True, False), (True, True))
    ]
    assert counts == [7, 3, 5]


def test_exhaustive_multipliers_count_the_pairs_of_all_steps():
    # 4 levels: 6 + 3 + 1 pairs; in order 3 + 2 + 1; three in order and one that floats: (2 + 3) + (1 + 2) + 1.
    assert math.exp(multipliers(4, 2, False, False, True)) == pytest.approx(10)
    assert math.exp(multipliers(4, 3, True, False, True)) == pytest.approx(6)
    assert math.exp(multipliers(4, 3, True, True, True)) == pytest.approx(9)


def test_multipliers_of_many_levels_are_beyond_float64_but_known():
    exact = stirling(1200, 7)
    assert multipliers(1200, 7, False, False, False) == pytest.approx(math.log(exact), rel=1e-12)
    assert math.log(exact) > 709
