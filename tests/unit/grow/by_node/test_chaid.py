"""CHAID: merging, floating missing levels, which column splits, and tables that mean harm."""

from __future__ import annotations

import math

import numpy as np
import pytest

import treewright as tw
from treewright.data.schema import Column, Schema
from treewright.exceptions import MissingValueError, ParameterError
from treewright.grow.by_node.chaid import ChaidPolicy, ChaidRules, bin_numbers
from treewright.grow.by_node.instances import all_instances
from treewright.grow.problem import class_problem, number_problem
from treewright.trees.arrays import INTERVALS, MULTIWAY, THRESHOLD

pytestmark = pytest.mark.filterwarnings("ignore::treewright.exceptions.DataWarning")


def rows_of(table):
    """Cells and classes of a contingency table: ``{cell: (n of class 0, n of class 1, ...)}``."""
    cells, classes = [], []
    for cell, counts in table.items():
        for label, count in enumerate(counts):
            cells += [cell] * count
            classes += [label] * count
    return cells, classes


def offered(columns, target, *, n_classes=2, kinds=("nominal",), levels=8, n_bins=10, weights=None, **rules):
    """The candidates of the root; cells are level numbers, or numbers, or None."""
    schema = Schema(
        tuple(Column(f"x{i}", kind, () if kind == "numeric" else tuple(range(levels))) for i, kind in enumerate(kinds))
    )
    matrix = np.array(columns, float).T
    weights = None if weights is None else np.array(weights, float)
    y = np.array(target)[:, None]
    if n_classes:
        problem = class_problem(matrix, schema, y.astype(np.int32), [n_classes], weights, "branch", cut_ordinal=False)
    else:
        problem = number_problem(matrix, schema, y.astype(float), weights, "branch", cut_ordinal=False)
    binned = bin_numbers(problem, n_bins)
    policy = ChaidPolicy(binned, ChaidRules(**rules))
    root = all_instances(binned)
    return policy.candidates(root), policy.choose(root, None).chosen


def erfc_log10(x):
    """Decimal logarithm of erfc for large x, by its asymptotic series."""
    return math.log10((1 - 0.5 / x**2 + 0.75 / x**4) / (x * math.sqrt(math.pi))) - x * x / math.log(10)


def branches_of(candidate):
    return [int(b) for b in candidate.branch_of]


def test_levels_of_equal_shares_merge_and_the_rest_is_tested():
    # A and B hold 1 in 4 of class 1, C 3 in 4. Merged: 30, 10 / 5, 15; chi-squared 60 (450 - 50)^2 / (40 20 35 25).
    cells, target = rows_of({0: (15, 5), 1: (15, 5), 2: (5, 15)})
    (found,), chosen = offered([cells], target)
    assert found.kind == MULTIWAY
    assert branches_of(found)[:3] == [0, 0, 1]
    statistic = 60 * 400**2 / (40 * 20 * 35 * 25)
    assert found.notes["statistic"] == pytest.approx(statistic, rel=1e-13)
    assert found.notes["unadjusted_p_value"] == pytest.approx(math.erfc(math.sqrt(statistic / 2)), rel=1e-11)
    assert found.notes["multiplier"] == 3.0  # three levels into two groups
    assert found.p_value == pytest.approx(3 * found.notes["unadjusted_p_value"], rel=1e-12)
    assert chosen.feature == 0


def test_ordinal_levels_merge_with_neighbours_only():
    table = {0: (18, 2), 1: (2, 18), 2: (18, 2)}
    cells, target = rows_of(table)
    (nominal,), _ = offered([cells], target)
    (ordinal,), _ = offered([cells], target, kinds=("ordinal",))
    assert branches_of(nominal)[:3] == [0, 1, 0]
    assert ordinal.n_branches == 3
    assert ordinal.kind == INTERVALS
    assert ordinal.cuts.tolist() == [0.5, 1.5]
    assert ordinal.notes["multiplier"] == 1.0


def test_two_groups_are_never_merged_but_need_not_split():
    cells, target = rows_of({0: (10, 10), 1: (10, 10)})
    (found,), chosen = offered([cells], target)
    assert (found.n_branches, found.p_value) == (2, 1.0)
    assert chosen is None


def test_numbers_are_cut_in_their_own_units():
    x = np.arange(40) * 10.0
    (found,), _ = offered([x], (x >= 200).astype(int), kinds=("numeric",))
    assert (found.kind, found.threshold) == (THRESHOLD, 195.0)
    (found,), _ = offered([x], ((x >= 120) & (x < 240)).astype(int), kinds=("numeric",))
    assert (found.kind, found.cuts.tolist()) == (INTERVALS, [115.0, 235.0])


@pytest.mark.parametrize(
    ("gone", "n_branches", "missing_branch", "last_cut"),
    [((30, 0), 2, 0, 1.5), ((0, 30), 2, 1, 1.5), ((15, 15), 3, 2, 1.5)],
)
def test_missing_joins_the_group_it_is_like_or_stays_alone(gone, n_branches, missing_branch, last_cut):
    cells, target = rows_of({0: (20, 0), 1: (20, 0), 2: (0, 20), 3: (0, 20), None: gone})
    (found,), _ = offered([cells], target, kinds=("ordinal",))
    assert (found.n_branches, found.missing_branch) == (n_branches, missing_branch)
    assert (found.kind, found.threshold) == (THRESHOLD, last_cut)


def test_missing_alone_behind_three_groups_is_behind_an_infinite_cut():
    cells, target = rows_of({0: (40, 0, 0), 1: (0, 40, 0), 2: (0, 0, 40), None: (20, 20, 20)})
    (found,), _ = offered([cells], target, n_classes=3, kinds=("ordinal",))
    assert (found.kind, found.n_branches, found.missing_branch) == (INTERVALS, 4, 3)
    assert found.cuts.tolist() == [0.5, 1.5, math.inf]


def test_where_only_missing_differs_the_test_is_whether_there_is_a_value():
    cells, target = rows_of({0: (20, 20), 1: (20, 20), None: (0, 40)})
    (found,), chosen = offered([cells], target, kinds=("ordinal",))
    assert (found.kind, found.threshold, found.n_branches, found.missing_branch) == (THRESHOLD, math.inf, 2, 1)
    assert chosen is not None


def test_missing_is_one_more_level_of_a_nominal_column():
    cells, target = rows_of({0: (20, 2), 1: (2, 20), None: (22, 3)})
    (found,), _ = offered([cells], target)
    assert branches_of(found)[:2] == [0, 1]
    assert found.missing_branch == 0
    assert found.notes["multiplier"] == 3.0


def test_small_groups_join_the_one_they_are_most_like():
    cells, target = rows_of({0: (30, 0), 1: (2, 2), 2: (0, 30)})
    (free,), _ = offered([cells], target)
    (found,), _ = offered([cells], target, min_rows=5)
    assert free.n_branches == 3
    # Alike to both: the lower one.
    assert branches_of(found)[:3] == [0, 0, 1]


def test_levels_that_the_node_does_not_hold_go_the_heaviest_way():
    cells, target = rows_of({1: (30, 0), 4: (0, 20)})
    (found,), _ = offered([cells], target)
    assert branches_of(found) == [~0, 0, ~0, ~0, 1, ~0, ~0, ~0, ~0]
    (found,), _ = offered([cells], target, kinds=("ordinal",))
    assert found.threshold == 2.5


def test_exhaustive_takes_the_best_of_all_steps():
    # Four groups that all differ: Kass stops at once; of the steps to 3 and 2 groups the p-value of two is smallest.
    cells, target = rows_of({0: (30, 10), 1: (22, 18), 2: (12, 28), 3: (3, 37)})
    (kass,), _ = offered([cells], target, alpha_merge=0.3, kinds=("ordinal",))
    (best,), _ = offered([cells], target, exhaustive=True, kinds=("ordinal",))
    steps = [kass.notes["unadjusted_p_value"]]
    assert kass.n_branches == 4
    assert best.n_branches < 4
    assert best.notes["unadjusted_p_value"] < min(steps)
    assert best.notes["multiplier"] == 6.0


def test_numbers_as_targets_have_the_f_test():
    cells = [0, 0, 1, 1, 2, 2] * 4
    target = [1.0, 2.0, 2.0, 1.0, 8.0, 9.0] * 4
    (found,), chosen = offered([cells], target, n_classes=0)
    assert branches_of(found)[:3] == [0, 0, 1]
    # Means 1.5 (16 rows) and 8.5 (8 rows); between 16 * 8 / 24 * 49, within 24 * 0.25 with 22 degrees.
    assert found.notes["statistic"] == pytest.approx(16 * 8 / 24 * 49 / (6 / 22), rel=1e-11)
    assert (found.notes["dof"], found.notes["dof_within"]) == (1.0, 22.0)
    assert chosen.gain == pytest.approx(16 * 8 / 24**2 * 49, rel=1e-12)


def test_p_values_below_float64_still_have_an_order():
    rng = np.random.default_rng(0)
    target = rng.integers(0, 2, 100_000)
    nearly = np.where(rng.random(100_000) < 0.01, 1 - target, target)
    found, chosen = offered([nearly, target], target, kinds=("nominal", "nominal"))
    assert [candidate.p_value for candidate in found] == [0.0, 0.0]
    assert found[1].score > found[0].score > 10_000
    assert chosen.feature == 1


def test_of_equal_columns_the_first_splits():
    cells, target = rows_of({0: (30, 5), 1: (5, 30)})
    _, chosen = offered([cells, [1 - cell for cell in cells]], target, kinds=("nominal", "nominal"))
    assert chosen.feature == 0


def test_weights_are_counts():
    cells, target = rows_of({0: (6, 3), 1: (2, 7), 2: (4, 4)})
    weights = [1 + i % 3 for i in range(len(cells))]
    (weighted,), _ = offered([cells], target, weights=weights)
    (repeated,), _ = offered([np.repeat(cells, weights)], np.repeat(target, weights))
    assert weighted.p_value == pytest.approx(repeated.p_value, rel=1e-12)
    assert branches_of(weighted) == branches_of(repeated)


@pytest.mark.parametrize("kinds", [("numeric",), ("ordinal",), ("nominal",)])
def test_columns_of_one_value_or_none_offer_nothing(kinds):
    target = [0, 1] * 10
    assert offered([[3] * 20], target, kinds=kinds) == ([], None)
    assert offered([[None] * 20], target, kinds=kinds) == ([], None)


def test_more_than_a_thousand_levels_merge():
    rng = np.random.default_rng(1)
    cells = np.concatenate([np.arange(1500), rng.integers(0, 1500, 4500)])
    target = (cells % 2 == 0).astype(int)
    (found,), chosen = offered([cells], target, levels=1500)
    assert found.n_branches == 2
    assert branches_of(found)[:4] == [0, 1, 0, 1]
    # 1,500 levels into 2 groups: 2 ** 1499 - 1 ways, but the p-value is that of 6,000 rows in perfect order.
    assert found.notes["multiplier"] == math.inf
    assert chosen is not None
    assert found.score == pytest.approx(-(erfc_log10(math.sqrt(6000 / 2)) + 1499 * math.log10(2.0)), rel=1e-6)


def test_a_single_class_is_a_leaf():
    est = tw.CHAIDClassifier().fit({"x": ["a", "b"] * 20}, ["yes"] * 40)
    assert est.get_n_leaves() == 1


def wide_table(seed, n=400):
    rng = np.random.default_rng(seed)
    table = {
        "town": rng.choice(list("ABCDEF"), n).tolist(),
        "size": rng.choice(["S", "M", "L"], n).tolist(),
        "age": np.where(rng.random(n) < 0.1, np.nan, rng.normal(40, 12, n)).tolist(),
    }
    score = np.array([town in "AB" for town in table["town"]]) + np.nan_to_num(table["age"], nan=60) / 40
    score += rng.normal(0, 0.4, n)
    return table, np.where(score > 1.4, "high", np.where(score > 0.9, "middle", "low"))


ORDER = {"size": ["S", "M", "L"]}


def test_rows_in_another_order_grow_the_same_tree():
    table, target = wide_table(3)
    shuffle = np.random.default_rng(9).permutation(len(target))
    first = tw.CHAIDClassifier(ordinal=ORDER).fit(table, target)
    second = tw.CHAIDClassifier(ordinal=ORDER).fit(
        {name: [cells[i] for i in shuffle] for name, cells in table.items()}, target[shuffle]
    )
    assert first.get_n_leaves() > 3
    assert first.show() == second.show()


def test_levels_by_other_names_grow_the_same_tree():
    table, target = wide_table(4)
    names = dict(zip("ABCDEF", "vzxwuy", strict=True))
    renamed = table | {"town": [names[town] for town in table["town"]]}
    first = tw.CHAIDClassifier(ordinal=ORDER).fit(table, target)
    second = tw.CHAIDClassifier(ordinal=ORDER).fit(renamed, target)
    assert first.get_n_leaves() == second.get_n_leaves() > 3
    np.testing.assert_array_equal(first.predict_proba(table), second.predict_proba(renamed))


def test_predictions_of_the_training_rows_are_the_shares_of_their_leaves():
    table, target = wide_table(5)
    est = tw.CHAIDClassifier(ordinal=ORDER, max_depth=None).fit(table, target)
    leaves = est.apply(table)
    for leaf in np.unique(leaves):
        here = target[leaves == leaf]
        expected = [(here == label).mean() for label in est.classes_]
        np.testing.assert_allclose(est.predict_proba(table)[leaves == leaf][0], expected, rtol=1e-14)


def test_missing_values_may_be_refused():
    with pytest.raises(MissingValueError, match="column 'x' has 1 missing value \\(first row 1\\)"):
        tw.CHAIDClassifier(missing="error").fit({"x": [1.0, None]}, [0, 1])


def test_several_targets_are_refused():
    with pytest.raises(ParameterError, match="CHAID takes one target, but y has 2"):
        tw.CHAIDRegressor().fit([[1.0], [2.0]], [[1.0, 2.0], [2.0, 1.0]])


def test_facts_name_algorithm_and_test():
    table, target = wide_table(6)
    classifier = tw.CHAIDClassifier().fit(table, target)
    regressor = tw.CHAIDRegressor().fit(table, np.arange(400.0))
    assert (classifier.model_.facts["algorithm"], classifier.model_.facts["criterion"]) == ("chaid", "chi_squared")
    assert (regressor.model_.facts["algorithm"], regressor.model_.facts["criterion"]) == ("chaid", "f_test")
    assert classifier.model_.facts["parameters"]["alpha_merge"] == 0.05
    assert classifier.model_.missing == "branch"


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_targets_of_any_size_grow_the_same_tree(scale):
    x, y = np.arange(40.0)[:, None], np.arange(40.0) % 7
    plain, scaled = tw.CHAIDRegressor().fit(x, y), tw.CHAIDRegressor().fit(x, y * scale)
    assert plain.get_n_leaves() == scaled.get_n_leaves()
    np.testing.assert_allclose(scaled.predict(x), plain.predict(x) * scale, rtol=1e-12)


def test_levels_of_one_row_are_not_told_apart_by_their_numbers():
    target = np.random.default_rng(0).normal(size=2000)
    (found,), chosen = offered([np.arange(2000)], target, n_classes=0, levels=2000)
    assert found.n_branches == 2
    assert np.bincount(found.branch_of[:-1]).tolist() == [1999, 1]
    assert chosen is None


def test_an_identifier_of_twenty_thousand_levels_is_merged_in_one_pass():
    target = np.arange(20_000) % 3 == 0
    (found,), _ = offered([np.arange(20_000)], target, levels=20_000)
    # Pure levels merge to one group per class.
    assert found.notes["groups"] == 2.0
    assert found.notes["statistic"] == pytest.approx(20_000)
    assert branches_of(found)[:4] == [0, 1, 1, 0]


def test_levels_that_do_not_differ_at_all_merge_to_two_groups():
    cells, target = rows_of({0: (2, 2), 1: (3, 3), 2: (1, 1), 3: (4, 4)})
    (found,), _ = offered([cells], target)
    assert branches_of(found)[:4] == [0, 0, 0, 1]
    assert found.notes["unadjusted_p_value"] == 1.0


def test_alpha_merge_of_1_merges_nothing():
    cells, target = rows_of({0: (2, 2), 1: (3, 3), 2: (1, 1)})
    (found,), _ = offered([cells], target, alpha_merge=1.0)
    assert found.n_branches == 3
