"""Pruning by significance: tables and variances worked out as on paper."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import treewright as tw
from treewright.exceptions import ParameterError
from treewright.prune.significance import _bonferroni, _fdr, _holm, significance


def two_leaves(build_tree, model, left, right, **options):
    """The model with one split into two leaves."""
    both = [one + other for one, other in zip(left, right, strict=True)]
    tree = build_tree([(0, 1.0), None, None], [1, -1, -1], [both, left, right], **options)
    return replace(model, trees=(tree,))


def test_pearson_on_the_table_of_branches_and_classes(build_tree, golf_model):
    # [10, 20] and [30, 40]: 100 (10 * 40 - 20 * 30)^2 / (30 * 70 * 40 * 60) = 0.79365; one degree of freedom.
    decision = significance(two_leaves(build_tree, golf_model, [10, 20], [30, 40]))

    chi_squared = 100 * 200**2 / (30 * 70 * 40 * 60)
    assert decision.nodes.tolist() == [0]
    assert decision.numbers["statistic"] == pytest.approx([chi_squared])
    assert decision.numbers["degrees_of_freedom"].tolist() == [1.0]
    assert decision.numbers["p_value"] == pytest.approx([math.erfc(math.sqrt(chi_squared / 2))])


def test_empty_branches_and_classes_are_left_out(build_tree, iris_model, golf_model):
    # Rainy: cool [1, 1], mild [1, 2], hot without rows: a table of two rows.
    decision = significance(golf_model, max_p_value=0)
    at = decision.nodes.tolist().index(2)
    assert decision.numbers["degrees_of_freedom"][at] == 1
    assert decision.numbers["statistic"][at] == pytest.approx(5 * (1 * 2 - 1 * 1) ** 2 / (2 * 3 * 2 * 3))
    # Of the three kinds of iris only two are below node 2.
    decision = significance(iris_model, max_p_value=0)
    assert decision.nodes.tolist() == [2, 0]
    assert decision.numbers["degrees_of_freedom"].tolist() == [1.0, 2.0]


def test_a_significant_node_keeps_those_above_it(build_tree, golf_model):
    # The root says nothing, node 2 everything.
    counts = [[40, 40], [20, 20], [20, 20], [20, 0], [0, 20]]
    tree = build_tree([(0, 1.0), None, (0, 2.0), None, None], [1, -1, 3, -1, -1], counts)

    assert len(significance(replace(golf_model, trees=(tree,))).nodes) == 0


def test_one_way_analysis_of_variance_by_hand(golf_model):
    # Three groups of six: 6 8 4 5 3 4 (mean 5), 8 12 9 11 6 8 (9), 13 9 11 8 7 12 (10). Between 84 with 2 degrees of
    # freedom, within 68 with 15: F = 42 / 4.533 = 9.26.
    groups = [[6, 8, 4, 5, 3, 4], [8, 12, 9, 11, 6, 8], [13, 9, 11, 8, 7, 12]]
    table = {"group": [name for name in "abc" for _ in range(6)]}
    est = tw.DecisionTreeRegressor(nominal_splits="multiway").fit(table, [float(y) for group in groups for y in group])
    log = est.prune("significance", max_p_value=0).prune_log_

    assert log[0].numbers["statistic"] == pytest.approx((84 / 2) / (68 / 15))
    assert log[0].numbers["degrees_of_freedom"] == 2
    assert log[0].numbers["degrees_of_freedom_within"] == 15
    assert log[0].numbers["p_value"] == pytest.approx(stats.f_oneway(*groups).pvalue)


def test_pure_branches_of_numbers_are_certain():
    est = tw.DecisionTreeRegressor().fit([[1.0], [1.0], [2.0], [2.0]], [0.1, 0.1, 0.3, 0.3])

    assert est.prune("significance", max_p_value=0).get_n_leaves() == 2


def test_a_row_in_every_branch_is_no_evidence():
    est = tw.DecisionTreeRegressor().fit([[1.0], [2.0]], [0.0, 1.0])
    log = est.prune("significance", max_p_value=0.99).prune_log_

    assert log[0].numbers["p_value"] == 1.0


def test_means_that_differ_by_a_rounding_are_equal(build_tree, mean_model):
    values = [[0.3], [0.1 + 0.2], [0.3]]
    tree = build_tree([(0, 1.0), None, None], [1, -1, -1], values, samples=[20, 10, 10], impurity=[0, 0, 0])

    assert significance(replace(mean_model, trees=(tree,))).numbers["p_value"].tolist() == [1.0]


def test_of_several_outputs_the_least_p_value_counts_times_their_number(build_tree, golf_model):
    classes = (np.arange(2), np.arange(2))
    # The first output as above, the second [9, 21], [41, 29].
    tree = build_tree(
        [(0, 1.0), None, None],
        [1, -1, -1],
        [[40, 60, 50, 50], [10, 20, 9, 21], [30, 40, 41, 29]],
        samples=[100, 30, 70],
        weight=[100, 30, 70],
    )
    decision = significance(replace(golf_model, trees=(tree,), classes=classes, n_outputs=2), max_p_value=0.001)

    second = stats.chi2_contingency([[9, 21], [41, 29]], correction=False)
    assert decision.numbers["statistic"] == pytest.approx([second.statistic])
    assert decision.numbers["p_value"] == pytest.approx([2 * second.pvalue])


def test_adjustments_by_hand():
    p_values = np.array([0.04, 0.01, 0.03, 0.005])

    assert _bonferroni(p_values) == pytest.approx([0.16, 0.04, 0.12, 0.02])
    # 4 * 0.005, 3 * 0.01, 2 * 0.03, and 0.04 no less than the one before.
    assert _holm(p_values) == pytest.approx([0.06, 0.03, 0.06, 0.02])
    # 4/1 * 0.005, 4/2 * 0.01, 4/3 * 0.03, 0.04: all at most the one after.
    assert _fdr(p_values) == pytest.approx([0.04, 0.02, 0.04, 0.02])


def test_the_family_is_all_inner_nodes_of_the_tree_as_it_is(golf_model):
    plain = significance(golf_model, max_p_value=0).numbers
    adjusted = significance(golf_model, max_p_value=0, adjust="bonferroni").numbers

    assert adjusted["p_value"].tolist() == plain["p_value"].tolist()
    assert adjusted["adjusted_p_value"] == pytest.approx(np.minimum(3 * plain["p_value"], 1))


def test_several_outputs_of_numbers_are_refused(mean_model):
    with pytest.raises(ParameterError, match=r"mean over 2 outputs: use cost_complexity, or fit a tree for each"):
        significance(replace(mean_model, n_outputs=2))


def test_medians_are_refused(mean_model):
    with pytest.raises(ParameterError, match="criterion='absolute_error': use cost_complexity"):
        significance(replace(mean_model, facts={"criterion": "absolute_error"}))


def two_means(build_tree, model, low, high, spread, **options):
    """Ten rows on each side, whose standard deviation is ``spread``."""
    middle = (low + high) / 2
    whole = spread**2 + ((high - low) / 2) ** 2
    tree = build_tree(
        [(0, 1.0), None, None],
        [1, -1, -1],
        [[middle], [low], [high]],
        samples=[20, 10, 10],
        impurity=[whole, spread**2, spread**2],
    )
    return significance(replace(model, trees=(tree,)), max_p_value=0, **options)


def test_a_small_spread_within_is_a_spread_and_what_rounding_leaves_is_none(build_tree, mean_model):
    # Between 5 with 1 degree of freedom (ten rows each, 1/2 from the middle), within 20 s^2 with 18.
    log = two_means(build_tree, mean_model, 0.0, 1.0, 1e-5).numbers
    assert log["statistic"] == pytest.approx([5 / (20 * 1e-10 / 18)])
    assert 0 < log["p_value"][0] == pytest.approx(stats.f.sf(5 / (20 * 1e-10 / 18), 1, 18))

    assert len(two_means(build_tree, mean_model, 0.0, 1.0, 1e-8).nodes) == 0  # p is 0: not above 0


def test_means_that_differ_by_more_than_roundings_differ(build_tree, mean_model):
    # A part of 1e-14: 45 times the rounding of a number, and the spread is as large.
    low, high = 1e9, 1e9 + 1e-5
    log = two_means(build_tree, mean_model, low, high, 1e-5).numbers

    assert log["statistic"] == pytest.approx([20 * ((high - low) / 2) ** 2 / (20 * 1e-10 / 18)], rel=1e-3)


def test_far_from_zero_the_same_splits_are_significant():
    rng = np.random.default_rng(1)
    X, noise = rng.normal(size=(200, 2)), np.round(rng.normal(size=200) * 2**10) / 2**27
    y = np.where(X[:, 0] > 0, 2.0**-10, 0.0) + noise  # exact also beside 2^25
    for method, options in (("significance", {}), ("significance", {"max_p_value": 1e-4}), ("description_length", {})):
        near, far = (tw.DecisionTreeRegressor().fit(X, y + off).prune(method, **options) for off in (0.0, 2.0**25))
        assert near.get_n_leaves() > 1
        assert far.tree_.threshold.tolist() == near.tree_.threshold.tolist()


@pytest.mark.parametrize("offset", [0.0, 1e9])
@pytest.mark.parametrize("weights", [None, "2", "1 to 3", "shares"])
def test_growth_and_pruning_test_numbers_alike(weights, offset):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 2))
    y = offset + np.round((X[:, 0] > 0.3) * 1.0 + rng.normal(size=60), 2)
    given = {None: None, "2": np.full(60, 2.0), "1 to 3": rng.integers(1, 4, 60), "shares": rng.random(60)}[weights]
    grown = tw.DecisionTreeRegressor(max_p_value=1.0, max_depth=3, grow_trace=True).fit(X, y, given)
    log = significance(grown.model_, max_p_value=0).numbers
    nodes = significance(grown.model_, max_p_value=0).nodes

    own = {step.node: step.p_value for step in grown.trace_ if step.is_split}
    assert len(own) >= 3
    # Beside 1e9 the nodes' means are rounded to 1e-7 of the noise.
    expected = [own[node] for node in nodes.tolist()]
    assert log["p_value"] == pytest.approx(expected, rel=1e-5 if offset else 1e-9)


def test_a_row_in_every_branch_is_no_evidence_whatever_it_weighs():
    est = tw.DecisionTreeRegressor().fit([[1.0], [2.0]], [0.0, 1.0], sample_weight=[3.0, 3.0])
    log = est.prune("significance", max_p_value=0.99).prune_log_

    assert log[0].numbers["p_value"] == 1.0
    stopped = tw.DecisionTreeRegressor(max_p_value=0.99).fit([[1.0], [2.0]], [0.0, 1.0], sample_weight=[3.0, 3.0])
    assert stopped.get_n_leaves() == 1


def test_weights_do_not_make_noise_significant():
    rng = np.random.default_rng(3)
    X, y = rng.random((300, 4)), rng.normal(size=300)
    weights = rng.integers(1, 4, 300)

    assert tw.DecisionTreeRegressor(max_p_value=0.05).fit(X, y).get_n_leaves() == 1
    assert tw.DecisionTreeRegressor(max_p_value=0.05).fit(X, y, weights).get_n_leaves() == 1
