"""Claims about p-values of a node's test and about the number of tests that were possible there."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chi2_contingency, f_oneway

from treewright.data.encoder import encode_fit
from treewright.grow.by_node.c45 import C45Policy, C45Search
from treewright.grow.by_node.chaid import ChaidPolicy, ChaidRules, bin_numbers
from treewright.grow.by_node.cuts import Rules
from treewright.grow.by_node.instances import all_instances, some_instances
from treewright.grow.by_node.search import GainPolicy, Search
from treewright.grow.by_node.significance import Chance, chance_of, log_count_of_tests, log_p_of
from treewright.grow.criteria.costs import Criterion
from treewright.grow.problem import class_problem, number_problem

NAN = math.nan


def classes_of(table, y, *, weights=None, missing="direction", n_classes=None):
    """A problem of class codes; y is a list of codes, or of rows of codes."""
    schema, matrix = encode_fit(table)
    codes = np.array(y, np.int32).reshape(len(matrix), -1)
    weights = None if weights is None else np.array(weights, float)
    return class_problem(matrix, schema, codes, n_classes or (codes.max(axis=0) + 1).tolist(), weights, missing)


def numbers_of(table, y, weights=None):
    schema, matrix = encode_fit(table)
    weights = None if weights is None else np.array(weights, float)
    return number_problem(matrix, schema, np.array(y, float).reshape(len(matrix), -1), weights, "direction")


def policy_on(problem, splits="subset", min_rows=1):
    criterion = Criterion.of("gini" if problem.is_classes else "squared_error")
    return GainPolicy(Search(problem, criterion, Rules(splits, min_rows)))


def chosen_on(problem, splits="subset"):
    policy, instances = policy_on(problem, splits), all_instances(problem)
    return policy, instances, policy.choose(instances, None).chosen


def n_tests(problem, splits="subset", *, columns=None, min_rows=1):
    """The number of possible tests at the root."""
    search = policy_on(problem, splits, min_rows).search
    return round(math.exp(log_count_of_tests(search, all_instances(problem), 2, columns)))


def test_p_of_classes_is_that_of_pearsons_chi_squared():
    y = [0, 0, 0, 1, 0, 1, 1, 2, 2, 1]
    problem = classes_of({"x": range(10)}, y)
    _, instances, chosen = chosen_on(problem)
    left = math.floor(chosen.threshold) + 1
    table = [[part.count(code) for code in range(3)] for part in (y[:left], y[left:])]

    assert 0 < left < 10
    assert math.exp(log_p_of(problem, instances, chosen)) == pytest.approx(chi2_contingency(table, correction=False)[1])


def test_p_of_numbers_is_that_of_one_way_analysis_of_variance():
    table = {"town": list("aabbbccccc")}
    y = [1.0, 2.0, 2.5, 3.0, 1.5, 5.0, 4.0, 4.5, 6.0, 5.5]
    problem = numbers_of(table, y)
    _, instances, chosen = chosen_on(problem, "multiway")
    parts = [[v for t, v in zip(table["town"], y, strict=True) if t == town] for town in "abc"]

    assert chosen.n_branches == 3
    assert math.exp(log_p_of(problem, instances, chosen)) == pytest.approx(f_oneway(*parts).pvalue)


def test_a_branch_without_rows_counts_for_nothing():
    # The level "c" is in the table, but not in the rows: in a node below it is a branch without rows.
    table, y = {"town": list("aaabbbc")}, [0, 0, 0, 1, 1, 1, 0]
    problem = classes_of(table, y)
    policy = policy_on(problem, "multiway")
    whole = all_instances(problem)
    part = some_instances(problem, whole.rows[:6], whole.weights[:6])
    chosen = policy.choose(part, None).chosen

    assert chosen.n_branches == 3
    assert math.exp(log_p_of(problem, part, chosen)) == pytest.approx(
        chi2_contingency([[3, 0], [0, 3]], correction=False)[1]
    )


def test_a_weight_of_a_class_counts_as_so_many_rows():
    table, y, weights = {"x": [1.0, 2.0, 3.0, 4.0]}, [0, 1, 1, 1], [3, 2, 1, 4]
    weighted = classes_of(table, y, weights=weights)
    repeated = classes_of({"x": np.repeat(table["x"], weights)}, np.repeat(y, weights))
    first, second = chosen_on(weighted), chosen_on(repeated)

    assert log_p_of(weighted, first[1], first[2]) == pytest.approx(log_p_of(repeated, second[1], second[2]))
    assert chance_of(*first, 0.9999).log_n_tests == pytest.approx(chance_of(*second, 0.9999).log_n_tests)


def test_weights_of_numbers_say_only_how_much_a_row_matters():
    table, y, weights = {"x": [1.0, 2.0, 3.0, 4.0]}, [1.0, 2.0, 4.0, 3.5], np.array([3.0, 2.0, 1.0, 4.0])
    log_p = [
        log_p_of(problem, *chosen_on(problem)[1:])
        for problem in (numbers_of(table, y, weights=weights * scale) for scale in (1.0, 7.0, 1e-200, 1e200))
    ]

    assert log_p == pytest.approx([log_p[0]] * 4)
    plain = numbers_of(table, y)
    same = numbers_of(table, y, weights=np.full(4, 5.0))
    assert log_p_of(same, *chosen_on(same)[1:]) == pytest.approx(log_p_of(plain, *chosen_on(plain)[1:]))


def test_weights_far_from_one_are_still_numbers_of_rows_of_classes():
    rng = np.random.default_rng(1)
    table, y = {"x": rng.normal(size=40)}, (np.arange(40) % 2).tolist()
    few = {"x": np.arange(40)}, [0] * 20 + [1] * 20
    for scale in (1e-200, 1e200):
        weights = np.full(40, scale)
        for problem in (classes_of(table, y, weights=weights), classes_of(*few, weights=weights)):
            _, instances, chosen = chosen_on(problem)
            log_p = log_p_of(problem, instances, chosen)
            # So little weight is less than a row; of so many rows the smallest difference is one.
            assert log_p == pytest.approx(0.0, abs=1e-90) if scale < 1 else log_p < -1e6


def test_of_several_outputs_the_least_p_counts_times_their_number():
    table = {"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}
    one, other = [0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 0]
    both = classes_of(table, list(zip(one, other, strict=True)))
    alone = classes_of(table, one)
    _, instances, chosen = chosen_on(both)
    _, single, same = chosen_on(alone)

    assert chosen.threshold == same.threshold
    assert log_p_of(both, instances, chosen) == pytest.approx(log_p_of(alone, single, same) + math.log(2))


def test_two_rows_have_no_spread_to_compare_with():
    problem = numbers_of({"x": [1.0, 2.0]}, [0.0, 5.0])
    _, instances, chosen = chosen_on(problem)

    assert log_p_of(problem, instances, chosen) == 0.0


def test_numbers_have_a_cut_between_each_two_values():
    table = {"x": [3.0, 1.0, 1.0, 2.0, -0.0, 0.0], "z": [1.0] * 6, "w": [math.inf, -math.inf, 0.0, 0.0, 1.0, 2.0]}

    assert n_tests(classes_of(table, [0, 1, 0, 1, 0, 1])) == 3 + 0 + 4


@pytest.mark.parametrize(("splits", "of_four", "of_two"), [("subset", 7, 1), ("one_vs_rest", 4, 1), ("multiway", 1, 1)])
def test_levels_are_divided_in_the_ways_that_the_parameter_names(splits, of_four, of_two):
    four, two = {"t": list("abcdabcd")}, {"t": list("abababab")}
    y = [0, 1] * 4

    assert n_tests(classes_of(four, y), splits) == of_four
    assert n_tests(classes_of(two, y), splits) == of_two
    assert n_tests(classes_of({"t": list("abcdabcd"), "u": list("abababab")}, y), splits) == of_four + of_two


def listed(n_values, way, splits):
    """Every division of values, with missing rows on a side or on their own, as sets of sets."""
    divisions = set()
    values = range(n_values)
    if splits == "cuts":
        lefts = [set(range(k)) for k in range(1, n_values)]
    elif splits == "one_vs_rest":
        lefts = [{value} for value in values]
    else:
        lefts = [set(some) for k in range(1, n_values) for some in combinations(values, k)]
    for left in lefts:
        right = set(values) - left
        if right and way == "own":
            divisions.add(frozenset(map(frozenset, (left, right, {"gone"}))))
        elif right:
            divisions.add(frozenset(map(frozenset, (left | {"gone"}, right))))
            divisions.add(frozenset(map(frozenset, (left, right | {"gone"}))))
    divisions.add(frozenset(map(frozenset, (values, {"gone"}))))
    return len(divisions)


@pytest.mark.parametrize("n_values", [1, 2, 3, 4])
@pytest.mark.parametrize(("missing", "way"), [("direction", "both"), ("branch", "own")])
@pytest.mark.parametrize("splits", ["cuts", "subset", "one_vs_rest"])
def test_missing_rows_add_the_tests_that_they_make_possible(n_values, missing, way, splits):
    cells = [float(at % n_values) for at in range(8)] + [NAN, NAN]
    if splits == "cuts":
        problem = classes_of({"x": cells}, [0, 1] * 5, missing=missing)
        found = n_tests(problem)
    else:
        levels = [None if math.isnan(cell) else f"level {cell:g}" for cell in cells]
        found = n_tests(classes_of({"t": levels}, [0, 1] * 5, missing=missing), splits)

    assert found == listed(n_values, way, splits)


def test_missing_rows_that_may_be_no_branch_join_a_side():
    table, y = {"x": [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, NAN]}, [0, 1] * 3 + [0]

    assert n_tests(classes_of(table, y, missing="branch"), min_rows=1) == 3
    assert n_tests(classes_of(table, y, missing="branch"), min_rows=2) == 5


@pytest.mark.parametrize("missing", ["fractional", "surrogate"])
def test_missing_rows_that_are_left_out_add_no_test(missing):
    assert n_tests(classes_of({"x": [1.0, 2.0, 3.0, NAN]}, [0, 1, 0, 1], missing=missing)) == 2


def test_a_column_without_any_value_offers_no_test():
    table = {"x": [1.0, 2.0, 3.0, 4.0], "empty": [NAN] * 4}

    for missing in ("direction", "branch", "fractional"):
        assert n_tests(classes_of(table, [0, 1, 0, 1], missing=missing)) == 3


def test_only_the_columns_that_were_looked_at_count():
    table = {"x": [1.0, 2.0, 3.0, 4.0], "t": list("abcd"), "z": [1.0, 1.0, 2.0, 2.0]}
    problem = classes_of(table, [0, 1, 0, 1])

    assert n_tests(problem) == 3 + 7 + 1
    assert n_tests(problem, columns=[1]) == 7
    assert n_tests(problem, columns=[0, 2]) == 4
    assert n_tests(problem, columns=[]) == 1  # the test that is judged was possible


def test_thousands_of_levels_do_not_overflow():
    levels = [f"level {at}" for at in range(3000)]
    problem = classes_of({"t": levels}, [0, 1] * 1500)
    search = policy_on(problem).search

    assert log_count_of_tests(search, all_instances(problem), 2) == pytest.approx(2999 * math.log(2))


@pytest.mark.parametrize(("n_branches", "ways"), [(2, 2**4 - 1), (3, 25), (4, 10), (5, 1), (9, 1)])
def test_groups_of_c45_count_as_chaids_do(n_branches, ways):
    # Stirling numbers of the second kind of 5: 15, 25, 10, 1.
    problem = classes_of({"t": list("abcde") * 2}, [0, 1] * 5, missing="fractional")
    search = C45Search(problem, 1.0, grouping=True)

    assert math.exp(log_count_of_tests(search, all_instances(problem), n_branches)) == pytest.approx(ways)


def test_c45_counts_a_branch_per_level_as_one_test():
    problem = classes_of({"t": list("abcde") * 2, "x": range(10)}, [0, 1] * 5, missing="fractional")
    policy = C45Policy(C45Search(problem, 1.0))

    assert math.exp(log_count_of_tests(policy.search, all_instances(problem), 5)) == pytest.approx(1 + 9)


def test_tests_are_not_counted_where_p_alone_is_too_large():
    problem = classes_of({"x": [1.0, 2.0, 3.0, 4.0]}, [0, 1, 0, 1])
    chance = chance_of(*chosen_on(problem), 0.05)

    assert chance.p_value > 0.05
    assert math.isnan(chance.log_n_tests)
    assert math.isnan(chance.adjusted_p_value)
    assert not chance.is_significant


def test_an_adjusted_p_value_is_at_most_one_and_then_within_a_limit_of_one():
    chance = Chance(1.0, math.log(0.5), 5000.0)

    assert chance.adjusted_p_value == 1.0
    assert chance.is_significant
    assert not Chance(0.999, math.log(0.5), 5000.0).is_significant


def test_a_p_value_beyond_float64_is_still_judged():
    assert Chance(0.05, -2000.0, 1990.0).is_significant
    assert not Chance(0.05, -2000.0, 1999.0).is_significant
    assert Chance(0.05, -math.inf, 1e6).is_significant


def test_an_algorithm_with_a_test_of_its_own_is_refused():
    problem = bin_numbers(classes_of({"t": list("abab")}, [0, 1, 0, 1]), 10)
    policy = ChaidPolicy(problem, ChaidRules())

    with pytest.raises(TypeError, match="ChaidPolicy has its own test of significance"):
        chance_of(policy, all_instances(problem), policy.candidates(all_instances(problem))[0], 0.05)
