"""Claims about the numbers of an audit, each computed again from the table."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

import treewright as tw
from treewright.exceptions import DataError, ParameterError
from treewright.explain.audit import Audit, AuditRow
from treewright.grow.by_node.grower import Stops
from treewright.grow.by_node.instances import all_instances


def entropy(labels):
    """Bits, from counts."""
    n = len(labels)
    return -sum(count / n * math.log2(count / n) for count in Counter(labels).values())


def groups_of(cells, labels):
    """Labels by cell."""
    return {cell: [label for c, label in zip(cells, labels, strict=True) if c == cell] for cell in sorted(set(cells))}


def row_of(audit, column) -> AuditRow:
    return next(row for row in audit if row.column == column)


def test_the_gains_of_the_tennis_table_are_those_of_its_counts(plant, tennis):
    table, y = tennis
    audit = plant(table, y, algorithm="id3", criterion="entropy", nominal_splits="multiway").audit()

    for name, cells in table.items():
        groups = groups_of(cells, y)
        after = sum(len(group) / len(y) * entropy(group) for group in groups.values())
        row = row_of(audit, name)
        assert row.before == pytest.approx(entropy(y))
        assert row.after == pytest.approx(after)
        assert row.gain == pytest.approx(entropy(y) - after)
        assert row.split_info == pytest.approx(entropy(cells))
        assert row.gain_ratio == pytest.approx((entropy(y) - after) / entropy(cells))
        assert [branch.samples for branch in row.branches] == [len(group) for group in groups.values()]
        assert [branch.counts for branch in row.branches] == [
            (group.count("no"), group.count("yes")) for group in groups.values()
        ]
        assert [branch.impurity for branch in row.branches] == pytest.approx([entropy(g) for g in groups.values()])


def test_candidates_are_ranked_as_quinlan_ranks_them(plant, tennis):
    audit = plant(*tennis, algorithm="id3", criterion="entropy", nominal_splits="multiway").audit()

    # Quinlan 1986 prints 0.246, 0.151, 0.048, 0.029: differences of rounded numbers.
    assert [(row.column, round(row.gain, 3)) for row in audit] == [
        ("outlook", 0.247),
        ("humidity", 0.152),
        ("wind", 0.048),
        ("temperature", 0.029),
    ]
    assert [row.rank for row in audit] == [1, 2, 3, 4]
    assert [row.chosen for row in audit] == [True, False, False, False]
    assert audit.winner is audit[0]
    assert round(audit[0].split_info, 3) == 1.577
    assert round(audit[0].gain_ratio, 3) == 0.156


def test_an_audit_finds_what_the_search_found(plant, tennis):
    for algorithm, splits in (
        ("cart", "subset"),
        ("cart", "one_vs_rest"),
        ("c45", "multiway"),
        ("gain_ratio", "subset"),
    ):
        grove = plant(*tennis, algorithm=algorithm, criterion="entropy", nominal_splits=splits, missing="fractional")
        audit = grove.audit()
        for candidate in grove.policy.candidates(all_instances(grove.problem)):
            row = next(row for row in audit if row.feature == candidate.feature)
            assert row.gain == pytest.approx(candidate.gain, abs=1e-12)
            assert row.split_info == pytest.approx(candidate.split_info, abs=1e-12)


def test_nats_are_bits_times_the_logarithm_of_two(plant, tennis):
    grove = plant(*tennis, algorithm="id3", criterion="entropy", nominal_splits="multiway")
    bits, nats = grove.audit(), grove.audit(log_base="e")

    for name in ("before", "after", "gain", "split_info", "score"):
        assert [getattr(row, name) for row in nats] == pytest.approx([getattr(row, name) * math.log(2) for row in bits])
    assert [row.gain_ratio for row in nats] == pytest.approx([row.gain_ratio for row in bits])


def test_gini_has_no_unit_to_choose(plant, tennis):
    grove = plant(*tennis)

    assert [row.gain for row in grove.audit(log_base="e")] == [row.gain for row in grove.audit()]


def test_the_p_value_is_that_of_the_table_of_branches_and_classes(plant, tennis):
    audit = plant(*tennis, criterion="entropy", nominal_splits="multiway").audit()

    for row in audit:
        table = np.array([branch.counts for branch in row.branches])
        assert row.p_value == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue)


def test_the_p_value_of_numbers_is_that_of_an_analysis_of_variance(plant):
    y = [1.0, 3.0, 2.0, 8.0, 9.5, 7.0]
    row = plant({"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}, y, criterion="squared_error").audit()[0]

    assert row.p_value == pytest.approx(stats.f_oneway(y[:3], y[3:]).pvalue)
    assert [branch.values for branch in row.branches] == [(2.0,), pytest.approx((24.5 / 3,))]
    assert [branch.variances for branch in row.branches] == [
        pytest.approx((np.var(y[:3]),)),
        pytest.approx((np.var(y[3:]),)),
    ]
    assert [branch.impurity for branch in row.branches] == pytest.approx([np.var(y[:3]), np.var(y[3:])])


def test_the_median_is_told_under_absolute_error(plant):
    y = [1.0, 1.0, 4.0, 8.0, 9.0, 13.0]
    row = plant({"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}, y, criterion="absolute_error").audit()[0]

    # Sides {1, 1, 4} and {8, 9, 13}: medians 1 and 9, distances 3 and 5.
    assert [branch.values for branch in row.branches] == [(1.0,), (9.0,)]
    assert [branch.impurity for branch in row.branches] == pytest.approx([1.0, 5 / 3])
    assert row.after == pytest.approx(8 / 6)
    # All six: median 6, distances 5 + 5 + 2 + 2 + 3 + 7.
    assert row.before == pytest.approx(4.0)


def test_a_criterion_of_ones_own_is_asked_by_its_name(plant):
    def unevenness(counts):
        return 1.0 - counts.max(axis=1) / counts.sum(axis=1)

    audit = plant({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "a", "b", "a"], criterion=unevenness).audit()

    assert audit.criterion == "unevenness"
    assert audit.whole.impurity == pytest.approx(0.25)
    assert "unevenness = 0.25" in str(audit)


def test_rows_with_unknown_cells_are_left_out_and_the_gain_is_scaled(plant):
    table = {"x": ["p", "p", "q", "q", None, None]}
    row = plant(
        table, ["a", "a", "b", "b", "a", "b"], algorithm="c45", criterion="entropy", missing="fractional", min_rows=1
    ).audit()[0]

    assert (row.n_left_out, row.weight_left_out, row.share_known) == (2, 2.0, pytest.approx(4 / 6))
    assert (row.before, row.after) == (pytest.approx(1.0), 0.0)
    assert row.gain == pytest.approx(4 / 6)
    assert row.split_info == pytest.approx(math.log2(3))  # three equal parts, the unknown one of them


def test_missing_rows_count_in_the_branch_that_they_take(plant):
    row = plant({"x": [1.0, 2.0, 3.0, None]}, ["a", "a", "b", "b"]).audit()[0]

    assert [branch.counts for branch in row.branches] == [(2.0, 0.0), (0.0, 2.0)]
    assert [branch.label for branch in row.branches] == ["<= 2.5", "> 2.5 or missing"]
    assert row.n_left_out == 0


def test_c45_pays_for_the_choice_among_cuts(plant):
    y = ["a", "a", "a", "b", "b", "b"]
    row = plant({"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}, y, algorithm="c45", criterion="entropy", min_rows=2).audit()[0]

    # Cuts after 2, 3 and 4 leave two rows on both sides.
    assert row.notes["tried"] == 3
    assert row.price == pytest.approx(math.log2(3) / 6)
    assert row.gain == pytest.approx(1.0 - math.log2(3) / 6)


def test_columns_without_a_test_say_why(plant):
    table = {"x": [1.0, 2.0, 3.0, 4.0], "same": [7.0] * 4, "gone": [None, None, None, 1.0], "one": [1.0, 1.0, 1.0, 2.0]}
    grove = plant(table, ["a", "b", "a", "b"], min_rows=2)
    audit = grove.audit()

    assert {barred.column: barred.reason for barred in audit.barred} == {
        "same": "only one value in this node",
        "gone": "no split leaves enough rows in its branches",
        "one": "no split leaves enough rows in its branches",
    }
    below = grove.audit(rows=[0, 1, 2])
    assert {barred.column: barred.reason for barred in below.barred}["gone"] == "every cell is missing in this node"


def test_a_cut_that_does_not_pay_says_so(plant):
    audit = plant(
        {"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}, ["a", "b", "a", "b", "a", "b"], algorithm="c45", criterion="entropy"
    ).audit()

    reasons = [barred.reason for barred in audit.barred]
    assert reasons == ["no cut gains more than the price of the choice among so many"]
    assert audit.winner is None


def test_every_cut_of_a_column_is_listed_with_its_gain(plant):
    y = ["a", "b", "a", "b"]
    audit = plant({"x": [1.0, 2.0, 3.0, 3.0]}, y, criterion="entropy").audit(every="x")

    assert [row.threshold for row in audit] == [1.5, 2.5]
    assert [[branch.counts for branch in row.branches] for row in audit] == [
        [(1.0, 0.0), (1.0, 2.0)],
        [(1.0, 1.0), (1.0, 1.0)],
    ]
    assert [row.gain for row in audit] == pytest.approx([1.0 - 0.75 * entropy("abb"), 0.0])
    assert [row.chosen for row in audit] == [True, False]
    assert [row.rank for row in audit] == [1, 2]


def test_every_cut_tries_missing_rows_on_both_sides(plant):
    audit = plant({"x": [1.0, 2.0, None]}, ["a", "b", "a"]).audit(every="x")

    assert [row.test for row in audit] == ["x <= 1.5", "x <= 1.5", "x is present"]
    assert [[branch.samples for branch in row.branches] for row in audit] == [[1, 2], [2, 1], [2, 1]]
    assert [row.chosen for row in audit] == [False, True, False]


@pytest.mark.parametrize("missing", ["direction", "branch", "fractional", "surrogate"])
def test_the_best_of_every_cut_is_the_columns_candidate(plant, missing):
    rng = np.random.default_rng(5)
    x = rng.integers(0, 8, 40).astype(float)
    x[::7] = math.nan
    y = [("a", "b", "c")[code] for code in rng.integers(0, 3, 40)]
    grove = plant({"x": x.tolist()}, y, criterion="entropy", missing=missing)
    best, audit = grove.audit()[0], grove.audit(every="x")

    assert audit.winner is not None
    assert audit.winner.branches == best.branches
    assert max(row.gain for row in audit) == pytest.approx(best.gain)
    assert sum(row.chosen for row in audit) == 1


def test_every_division_of_levels_is_listed_best_first(plant):
    table = {"x": ["p", "p", "q", "q", "r", "r"]}
    audit = plant(table, ["a", "a", "a", "b", "b", "b"]).audit(every="x")

    assert [row.test for row in audit] == ["x = p", "x = r", "x = q"]
    assert [row.gain for row in audit] == pytest.approx([0.25, 0.25, 0.0])
    assert [row.chosen for row in audit] == [True, False, False]


@pytest.mark.parametrize(("n_levels", "n_divisions"), [(4, 7), (10, 511), (12, 11)])
def test_divisions_are_all_up_to_ten_levels(plant, n_levels, n_divisions):
    rng = np.random.default_rng(1)
    levels = [f"l{k % n_levels:02d}" for k in range(5 * n_levels)]
    y = [("a", "b", "c")[code] for code in rng.integers(0, 3, len(levels))]

    assert len(plant({"x": levels}, y, stops=Stops(max_depth=1)).audit(every="x")) == n_divisions


def test_one_level_against_the_rest_lists_each_level(plant):
    grove = plant({"x": ["p", "q", "r", "p"]}, ["a", "b", "b", "a"], nominal_splits="one_vs_rest")

    assert sorted(row.test for row in grove.audit(every="x")) == ["x = p", "x = q", "x = r"]


def test_every_takes_a_position_where_no_column_has_that_name(plant):
    grove = plant({"x": [1.0, 2.0], "z": [2.0, 1.0]}, ["a", "b"])

    assert grove.audit(every=1).every == "z"


@pytest.mark.parametrize("every", ["nothing", 7, ["x"], True])
def test_a_column_that_is_not_there_is_refused(plant, every):
    with pytest.raises(ParameterError, match="every is"):
        plant({"x": [1.0, 2.0]}, ["a", "b"]).audit(every=every)


@pytest.mark.parametrize(
    "options",
    [
        {"node": 3},
        {"node": -1},
        {"node": True},
        {"node": "0"},
        {"digits": 0},
        {"digits": 99},
        {"digits": 2.0},
        {"log_base": 10},
        {"log_base": "2"},
    ],
)
def test_parameters_out_of_range_are_refused(plant, options):
    with pytest.raises(ParameterError):
        plant({"x": [1.0, 2.0]}, ["a", "b"]).audit(**options)


def test_chaid_lists_no_candidates_of_one_column(plant, tennis):
    with pytest.raises(ParameterError, match="step by step"):
        plant(*tennis, algorithm="chaid", criterion="chi_squared").audit(every="outlook")


def test_chaid_is_ranked_by_its_adjusted_p_value(plant):
    table = {"x": ["p"] * 20 + ["q"] * 20, "z": [1.0, 2.0] * 20}
    audit = plant(table, ["a"] * 19 + ["b"] * 20 + ["a"], algorithm="chaid", criterion="chi_squared").audit()

    assert next(row.column for row in audit) == "x"
    assert audit[0].chosen
    assert audit[0].p_value == pytest.approx(stats.chi2_contingency([[19, 1], [1, 19]], correction=False).pvalue)
    assert audit.criterion == "gini"


def test_a_chaid_leaf_tells_the_p_value_that_was_too_large(plant):
    audit = plant({"x": ["p", "q"] * 5}, ["a", "a", "b", "b", "a"] * 2, algorithm="chaid").audit()

    # Five rows of p and of q, three of each five are a: no difference at all.
    assert audit.winner is None
    assert audit[0].p_value == 1.0
    assert audit.leaf_reason == "the smallest adjusted p-value, 1, is above alpha, 0.05"


@pytest.mark.parametrize(
    ("stops", "parameters", "reason"),
    [
        (Stops(max_depth=1), {"max_depth": 1}, "max_depth is 1"),
        (Stops(min_samples_split=4), {"min_samples_split": 4}, "a split needs 4"),
        (Stops(min_samples_split=4), {"min_samples_split": 0.75}, "a split needs 4"),
        (Stops(min_impurity_decrease=0.4), {"min_impurity_decrease": 0.4}, "min_impurity_decrease requires 0.4"),
        (Stops(max_leaf_nodes=2), {"max_leaf_nodes": 2}, "the tree has all its leaves"),
    ],
)
def test_a_leaf_says_which_limit_made_it_one(plant, stops, parameters, reason):
    grove = plant({"x": [1.0, 2.0, 3.0, 4.0, 5.0]}, ["a", "a", "b", "c", "c"], stops=stops, parameters=parameters)
    tree = grove.grown.tree
    leaf = int(np.flatnonzero(tree.is_leaf & (tree.impurity > 0))[-1])
    rows = {0: range(5)}.get(leaf, range(2, 5))
    audit = grove.audit(leaf, rows)

    assert reason in audit.leaf_reason
    assert len(audit) == 1  # what it could have asked


def test_a_pure_leaf_and_one_without_a_test_say_so(plant):
    grove = plant({"x": [1.0, 2.0, 2.0]}, ["a", "a", "b"])

    pure = grove.audit(1, [0])
    assert (len(pure), pure.leaf_reason) == (0, "it is pure: all its rows have one target")
    listed = grove.audit(1, [0, 1], every="x")
    assert (len(listed), listed.leaf_reason) == (1, pure.leaf_reason)
    audit = grove.audit(2, [1, 2])
    assert audit.leaf_reason == "no column offers a test that the algorithm would choose"
    assert [barred.reason for barred in audit.barred] == ["only one value in this node"]


def test_a_target_of_one_class_leaves_nothing_to_ask(plant):
    audit = plant({"x": [1.0, 2.0], "c": ["p", "q"]}, ["a", "a"]).audit()

    assert (len(audit), audit.leaf_reason) == (0, "the target has one class")


def test_a_node_without_rows_is_told_plainly(plant):
    audit = plant({"x": [1.0, 2.0]}, ["a", "b"]).audit(1, [])

    assert (len(audit), audit.n_samples, audit.leaf_reason) == (0, 0, "no row reaches it")
    assert "0 rows" in str(audit)


def test_other_rows_than_those_of_the_fit_are_told(plant):
    audit = plant({"x": [1.0, 2.0, 3.0]}, ["a", "b", "b"]).audit(rows=[0, 1])

    assert (audit.n_samples, audit.n_fitted) == (2, 3)
    assert "The tree was fitted on 3 rows here" in str(audit)


def test_equal_columns_are_a_tie_and_the_first_is_taken(plant):
    audit = plant({"x": [1.0, 2.0, 3.0], "same": [1.0, 2.0, 3.0]}, ["a", "b", "b"]).audit()

    assert (audit.winner.column, audit.tied) == ("x", ("same",))
    assert "Tie: same has the same score;" in str(audit)


def test_equal_cuts_of_the_winner_are_counted(plant):
    audit = plant({"x": [1.0, 2.0, 3.0, 4.0]}, ["a", "b", "b", "a"]).audit()

    assert audit.winner.threshold == 1.5
    assert audit.n_equal_cuts == 1  # the cut at 3.5 mirrors it
    assert "1 other cut of this column has the same gain: the lowest is chosen" in str(audit)


def test_weights_count_as_rows(plant):
    heavy = plant({"x": [1.0, 2.0, 3.0]}, ["a", "b", "a"], weights=[2.0, 1.0, 1.0]).audit()[0]
    doubled = plant({"x": [1.0, 1.0, 2.0, 3.0]}, ["a", "a", "b", "a"]).audit()[0]

    assert (heavy.gain, heavy.p_value) == (pytest.approx(doubled.gain), pytest.approx(doubled.p_value))
    assert [branch.weight for branch in heavy.branches] == [branch.weight for branch in doubled.branches]
    assert [branch.samples for branch in heavy.branches] == [1, 2]


def test_numbers_whose_squares_are_beyond_float64_are_refused(plant):
    with pytest.raises(DataError, match=r"weights in the node add up to 2e\+300"):
        plant({"x": [1.0, 2.0]}, ["a", "b"], weights=[1e300, 1e300]).audit()
    with pytest.raises(DataError, match=r"largest target in the node is 2e\+152: divide"):
        plant({"x": [1.0, 2.0]}, [1e152, -2e152], criterion="squared_error").audit()


def test_several_targets_are_averaged(plant):
    y = [["a", "p"], ["a", "q"], ["b", "p"], ["b", "q"]]
    audit = plant({"x": [1.0, 2.0, 3.0, 4.0]}, y, criterion="entropy").audit()

    assert audit.whole.impurity == pytest.approx(1.0)
    assert audit.winner.gain == pytest.approx(0.5)  # all of the first target, nothing of the second
    assert math.isnan(audit.winner.p_value)
    assert "mean over 2 targets" in str(audit)


def test_an_audit_is_a_sequence_and_turns_into_columns(plant, tennis):
    audit = plant(*tennis, criterion="entropy", nominal_splits="multiway").audit()
    columns = audit.to_dict()

    assert (len(audit), [row.column for row in audit[1:]]) == (4, ["humidity", "wind", "temperature"])
    assert isinstance(audit[1:], Audit)
    assert columns["column"] == ["outlook", "humidity", "wind", "temperature"]
    assert columns["counts"][0] == [[0.0, 4.0], [2.0, 3.0], [3.0, 2.0]]
    assert columns["labels"][1] == ["= high", "= normal"]
    assert columns["threshold"] == [None] * 4
    assert pl.DataFrame(columns).shape == pd.DataFrame(columns).shape == (4, len(columns))
    assert repr(audit) == "<treewright.Audit: node 0, 4 candidates>"


def test_a_table_in_the_place_of_the_node_is_refused_in_one_short_line(plant):
    tree = tw.DecisionTreeClassifier().fit({"x": [1.0, 2.0]}, ["a", "b"])
    table = {"x": list(range(1000))}

    for given in (table, np.ones((500, 9)), pd.DataFrame(table), 1.5, True):
        for refuse in (tree.audit, plant({"x": [1.0, 2.0]}, ["a", "b"]).audit):
            with pytest.raises(ParameterError, match="give audit the number of a node, 0 for the root") as refused:
                refuse(given)
            assert len(str(refused.value)) < 200
            assert "\n" not in str(refused.value)
    with pytest.raises(ParameterError, match=r"together or not at all, after the node: audit\(0, X, y\)"):
        tree.audit(table, [0] * 1000)


def test_attributes_keep_their_old_names_for_one_version_with_a_warning() -> None:
    audit = tw.DecisionTreeClassifier().fit({"x": [1, 2, 3]}, ["a", "a", "b"]).audit()
    for old, held, name, value in (
        ("question", audit[0], "test", "x <= 2.5"),
        ("asked", audit, "tree_test", "x <= 2.5"),
        ("asked_feature", audit, "tree_feature", 0),
    ):
        assert getattr(held, name) == value
        with pytest.warns(FutureWarning, match=f"is now called {name}"):
            assert getattr(held, old) == value


SWITCHES = [[0, 0, 5], [0, 1, 1], [1, 0, 2], [1, 1, 3], [0, 0, 1], [1, 1, 7]]
LAMP = ["no", "yes", "yes", "no", "no", "no"]


def test_an_optimal_tree_says_what_its_test_costs_and_what_follows():
    est = tw.OptimalTreeClassifier(max_depth=2).fit(SWITCHES, LAMP)
    # Two of six are yes; x2 <= 2.5 leaves one error (1/6), x0 alone leaves two (2/6): 1/6 of gain is given up.
    said = (
        "1 of the 3 tests above gains more than its 0.000. The optimal tree gives up 0.167 of gain here, for a loss of "
        "0.000 per row in the leaves below, where the best test alone would leave 0.167."
    )
    assert said in str(est.audit(0)), est.audit(0)


def test_below_the_searched_levels_an_optimal_tree_is_said_to_be_greedy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = X[:, 0] * X[:, 1] + rng.normal(size=600) * 0.3 > 0
    est = tw.OptimalTreeClassifier(max_depth=4, optimal_depth=1).fit(X, y)
    assert "The optimal tree gives up" in str(est.audit(0))
    below = [str(est.audit(int(at))) for at in np.flatnonzero(~est.tree_.is_leaf)[1:]]
    assert any("below its first level the tree is greedy" in each for each in below)
    assert not any("gives up" in each for each in below)


def test_what_an_optimal_test_costs_has_the_unit_of_the_table():
    est = tw.OptimalTreeClassifier(max_depth=2, criterion="entropy").fit(SWITCHES, LAMP)
    for log_base, unit in ((2, 1.0), ("e", math.log(2))):
        audit = est.audit(0, log_base=log_base, digits=5)
        left = entropy(LAMP) * unit - audit.winner.gain
        assert f"the best test alone would leave {left:.5f}." in str(audit)
        assert f"gives up {audit.winner.gain:.5f} of gain here" in str(audit)


def test_an_optimal_test_that_gains_as_much_as_the_best_gives_nothing_up():
    states = [[hour, left, right] for hour in (0, 1) for left in (0, 1) for right in (0, 1)]
    est = tw.OptimalTreeClassifier(max_depth=2).fit(states, [left ^ right for _, left, right in states])
    # No column gains anything: the hour is the first of them, and of no use.
    said = "it gains as much, and the optimal tree needs it for a loss of 0.000 per row in the leaves below."
    assert str(est.audit(0)).endswith(said)


def test_on_other_rows_an_optimal_test_gives_nothing_up_that_could_be_counted():
    est = tw.OptimalTreeClassifier(max_depth=2).fit(SWITCHES, LAMP)
    text = str(est.audit(0, SWITCHES[1:], LAMP[1:]))
    assert "which is not the best test of these rows: it was fitted on others." in text


def test_the_audit_of_a_loaded_optimal_tree_is_that_of_the_estimator(tmp_path):
    est = tw.OptimalTreeClassifier(max_depth=2).fit(SWITCHES, LAMP)
    est.save(tmp_path / "m.tw")
    assert str(tw.load(tmp_path / "m.tw").audit(SWITCHES, LAMP)) == str(est.audit(0))
