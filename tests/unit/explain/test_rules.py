"""Claims about the rules of leaves."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from treewright.core.confidence import mean_interval, wilson_interval
from treewright.data.schema import Column, Schema
from treewright.exceptions import ParameterError
from treewright.explain.rules import leaf_rules, readable_cuts, rounded
from treewright.trees.arrays import INTERVALS, LEAF, Tree
from treewright.trees.data import ModelData

X = Schema((Column("x", "numeric", missing_seen=True),))


def test_each_leaf_has_one_rule_from_left_to_right(penguin_model: ModelData) -> None:
    rules = leaf_rules(penguin_model)

    assert [rule.leaf for rule in rules] == [3, 7, 9, 10, 5, 6]
    assert [rule.number for rule in rules] == [1, 2, 3, 4, 5, 6]
    assert sum(rule.n_samples for rule in rules) == 344


def test_a_rule_reads_like_this(penguin_model: ModelData) -> None:
    assert leaf_rules(penguin_model)[3].text.splitlines() == [
        "if   island = Biscoe or missing",
        "and  flipper > 206.5 or missing",
        "and  town in {town P, town Q, town R}",
        "and  price > $",
        "then Gentoo  [leaf 10; 5 rows (1.45 %); Gentoo 5; proportion 1.000, 95 % interval 0.566 to 1.000]",
    ]


def test_programs_read_the_same_without_text(penguin_model: ModelData) -> None:
    island, flipper, town, price = leaf_rules(penguin_model)[3].bounds

    assert (island.column, island.kind, island.levels, island.missing) == ("island", "nominal", ("Biscoe",), True)
    assert (flipper.lower, flipper.upper, flipper.levels, flipper.missing) == (206.5, math.inf, None, True)
    assert (town.feature, town.levels) == (2, ("town P", "town Q", "town R"))
    assert (price.kind, price.levels, price.lower) == ("ordinal", ("$$", "$$$"), -math.inf)


def test_a_rule_for_missing_values_alone_says_so(penguin_model: ModelData) -> None:
    rule = leaf_rules(penguin_model)[5]

    assert rule.conditions == ("island in {Dream, Torgersen}", "flipper is missing")
    assert (rule.bounds[1].present, rule.bounds[1].missing) == (False, True)


def test_a_rule_knows_its_numbers(iris_model: ModelData) -> None:
    rule = leaf_rules(iris_model)[1]

    assert rule.conditions == ("petal length (cm) > 2.45", "petal width (cm) <= 1.75")
    assert (rule.prediction, rule.n_samples, rule.outcomes[0].counts) == ("versicolor", 54, (0.0, 49.0, 5.0))
    assert (rule.support, rule.probability) == (54 / 150, 49 / 54)
    assert rule.interval == wilson_interval(49, 54)


def test_the_level_of_the_intervals_is_the_callers(iris_model: ModelData) -> None:
    rule = leaf_rules(iris_model, level=0.5)[1]

    assert rule.interval == wilson_interval(49, 54, 0.5)
    assert "50 % interval" in rule.text
    assert "99.99 % interval" in leaf_rules(iris_model, level=0.9999)[1].text


def test_a_rule_cannot_be_changed(iris_model: ModelData) -> None:
    with pytest.raises(FrozenInstanceError):
        leaf_rules(iris_model)[0].leaf = 7  # type: ignore[misc]


def test_texts_are_short_and_bounds_are_exact(mean_model: ModelData) -> None:
    first, second = leaf_rules(mean_model)

    assert (first.conditions, second.conditions) == (("x <= 0.3",), ("x > 0.3",))
    assert first.bounds[0].upper == 0.1 + 0.2 != 0.3
    assert leaf_rules(mean_model, exact=True)[0].conditions == ("x <= 0.30000000000000004",)


def test_cuts_that_are_close_keep_the_digits_that_tell_them_apart(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree([(0, 1.00000002), (0, 1.00000001), None, None, None], [1, 3, -1, -1, -1], [[1]] * 5)

    texts = [rule.conditions for rule in leaf_rules(ModelData("regression", X, (tree,)))]

    assert texts == [("x <= 1.00000001 or missing",), ("1.00000001 < x <= 1.00000002",), ("x > 1.00000002",)]


def test_cuts_of_other_columns_and_of_intervals_do_not_mix(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree([(0, 1.00000002), None, None], [1, -1, -1], [[1]] * 3)
    intervals = replace(
        tree,
        kind=np.array([INTERVALS, LEAF, LEAF], np.uint8),
        feature=np.array([1, -1, -1], np.int32),
        level_set=np.array([0, -1, -1], np.int32),
        threshold=np.zeros(3),
        cuts=np.array([1.00000002]),
    )

    assert readable_cuts(tree) == {0: {1.00000002: 1.0}}
    assert readable_cuts(intervals) == {1: {1.00000002: 1.0}}
    both = replace(tree, kind=np.array([1, 1, 0], np.uint8), feature=np.array([0, 1, -1], np.int32))
    assert readable_cuts(both) == {0: {1.00000002: 1.0}, 1: {0.0: 0.0}}


def test_the_largest_number_is_not_rounded_away(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree([(0, 1.7976931348623157e308), None, None], [1, -1, -1], [[1]] * 3, missing=[1, 0, 0])

    rule = leaf_rules(ModelData("regression", X, (tree,)))[0]

    assert rule.conditions == ("x <= 1.79769e+308",)
    assert rounded(1.79769e308, 4) == 1.79769e308  # 1.798e+308 is beyond float64


def test_a_condition_that_every_row_meets_is_left_out(build_tree: Callable[..., Tree]) -> None:
    schema = Schema((Column("size", "ordinal", ("S", "M")), Column("town", "nominal", ("A", "B")), *X.columns))
    # The highest rank, and both towns, are on the left; missing values of x go left at a cut that all numbers meet.
    tests = [(0, 1.0), (1, (3, 3)), None, (2, math.inf), None, None, None]
    tree = build_tree(tests, [1, 3, -1, 5, -1, -1, -1], [[1]] * 7)

    rule = leaf_rules(ModelData("regression", schema, (tree,)))[0]

    assert rule.bounds == ()
    assert rule.text == "then 1  [leaf 5; 1 row (100 %)]"


def test_present_is_said_only_where_values_were_missing(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree([(0, math.inf), None, None], [1, -1, -1], [[1]] * 3, missing=[1, 0, 0])
    never = Schema((Column("x", "numeric"),))

    said, silent = (leaf_rules(ModelData("regression", schema, (tree,)))[0] for schema in (X, never))

    assert (said.conditions, silent.conditions) == (("x is present",), ())
    assert said.bounds[0].missing is silent.bounds[0].missing is False


@pytest.mark.parametrize(("missing", "decided"), [("branch", True), ("surrogate", None), ("fractional", None)])
def test_a_rule_claims_no_way_of_missing_values_that_it_does_not_decide(
    mean_model: ModelData, missing: str, decided: bool | None
) -> None:
    model = replace(mean_model, missing=missing, schema=X)

    rule = leaf_rules(model)[0]

    assert rule.bounds[0].missing is decided
    assert ("or missing" in rule.text) == (decided is True)


def test_a_model_without_missing_values_says_nothing_of_them(mean_model: ModelData) -> None:
    (bound,) = leaf_rules(replace(mean_model, missing="error", schema=X))[0].bounds

    assert (bound.missing, bound.text) == (False, "x <= 0.3")


def test_a_mean_has_students_interval_under_squared_error(mean_model: ModelData) -> None:
    first, second = leaf_rules(mean_model)

    assert (first.prediction, second.prediction) == (2.0, 7.0)
    # 4 rows, variance 1: 2 -+ 3.1824 * sqrt(1 / 3)
    assert first.interval == pytest.approx((2 - 1.83739, 2 + 1.83739), abs=1e-5)
    assert second.interval == mean_interval(7.0, 4.0, 6)
    assert (first.probability, first.outcomes[0].counts) == (None, ())
    assert (
        first.text.splitlines()[-1] == "then 2  [leaf 1; 4 rows (40 %); 95 % interval of the mean 0.162614 to 3.83739]"
    )


@pytest.mark.parametrize("criterion", ["absolute_error", "poisson", "its own"])
def test_no_other_criterion_has_an_interval(mean_model: ModelData, criterion: str) -> None:
    assert leaf_rules(replace(mean_model, facts={"criterion": criterion}))[0].interval is None


def test_several_numbers_have_no_interval_because_their_variances_are_not_kept(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree([None], [-1], [[2, 5]], samples=[4], impurity=[1.0])
    model = ModelData("regression", X, (tree,), n_outputs=2, facts={"criterion": "squared_error"})

    (rule,) = leaf_rules(model)

    assert (rule.prediction, rule.interval) == ((2.0, 5.0), (None, None))


def test_a_single_row_has_no_interval(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree([None], [-1], [[2]], samples=[1])

    assert leaf_rules(ModelData("regression", X, (tree,), facts={"criterion": "squared_error"}))[0].interval is None


def test_the_rule_of_a_single_leaf_has_no_condition(build_tree: Callable[..., Tree]) -> None:
    (rule,) = leaf_rules(ModelData("regression", X, (build_tree([None], [-1], [[2]]),)))

    assert rule.conditions == ()
    assert rule.text == "then 2  [leaf 0; 2 rows (100 %)]"


def test_weights_count_for_the_share_and_rows_for_the_interval(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree(
        [(0, 1.0), None, None], [1, -1, -1], [[3.5, 3.5], [2.5, 1], [1, 2.5]], samples=[5, 3, 2], weight=[7, 3.5, 3.5]
    )
    model = ModelData("classification", X, (tree,), (np.array(["n", "y"]),))

    rule = leaf_rules(model)[0]

    assert rule.evidence.startswith("leaf 1; 3 rows (50 %); weight 3.5; n 2.5, y 1; proportion 0.714")
    assert rule.interval == wilson_interval(2.5 / 3.5 * 3, 3)


def test_a_part_of_a_row_is_not_a_whole_row(build_tree: Callable[..., Tree]) -> None:
    # Three rows, one of them in both leaves with half its weight.
    tree = build_tree(
        [(0, 1.0), None, None], [1, -1, -1], [[1, 2], [1, 0.5], [0, 1.5]], samples=[3, 2, 2], weight=[3, 1.5, 1.5]
    )
    model = ModelData("classification", X, (tree,), (np.array(["n", "y"]),), missing="fractional")

    first, second = leaf_rules(model)

    assert (first.support, second.support) == (0.5, 0.5)
    assert first.interval == pytest.approx(wilson_interval(1, 1.5))


def test_an_empty_leaf_predicts_as_the_node_above_and_knows_nothing(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree([(0, 1.0), None, None], [1, -1, -1], [[1, 3], [1, 3], [1, 3]], samples=[4, 4, 0])
    model = ModelData("classification", X, (tree,), (np.array(["n", "y"]),))

    empty = leaf_rules(model)[1]

    assert (empty.prediction, empty.support, empty.interval) == ("y", 0.0, None)
    assert empty.outcomes[0].counts == (0.0, 0.0)
    assert empty.evidence == "leaf 2; 0 rows (0 %); predicts like its parent"
    assert [rule.leaf for rule in leaf_rules(model, keep_empty=False)] == [1]
    assert "1 leaf without training rows left out" in str(leaf_rules(model, keep_empty=False))


def test_rules_come_by_support_or_by_the_lower_end_of_the_interval(iris_model: ModelData) -> None:
    by = {order: [rule.leaf for rule in leaf_rules(iris_model, order=order)] for order in ("support", "confidence")}

    # Rows: leaf 1 has 50, leaf 3 has 54, leaf 4 has 46. Shares: 50 of 50, 49 of 54, 45 of 46.
    assert by == {"support": [3, 1, 4], "confidence": [1, 4, 3]}
    assert [rule.number for rule in leaf_rules(iris_model, order="support")] == [2, 1, 3]


def test_equal_support_stays_in_tree_order(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree([(0, 5.0), None, (0, 9.0), None, None], [1, -1, 3, -1, -1], [[3], [1], [2], [1], [1]])

    assert [rule.leaf for rule in leaf_rules(ModelData("regression", X, (tree,)), order="support")] == [1, 3, 4]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tree": 3}, "tree is 3"),
        ({"order": "best"}, "order is 'best'; choose one of: tree, support, confidence"),
        ({"level": 95}, "level is 95"),
        ({"max_levels": 0}, "max_levels is 0"),
    ],
)
def test_a_parameter_out_of_range_is_refused(iris_model: ModelData, options: dict, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        leaf_rules(iris_model, **options)


def test_numbers_have_no_order_of_confidence(mean_model: ModelData) -> None:
    with pytest.raises(ParameterError, match="predicts numbers: use 'support'"):
        leaf_rules(mean_model, order="confidence")


def test_several_targets_have_an_outcome_each(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree([None], [-1], [[3, 1, 0, 4]], samples=[4])
    classes = (np.array(["n", "y"]), np.array([10, 20]))
    model = ModelData("classification", X, (tree,), classes, n_outputs=2, target_names=("paid", "size"))

    (rule,) = leaf_rules(model)

    assert (rule.prediction, rule.probability) == (("n", 20), (0.75, 1.0))
    assert rule.interval == (wilson_interval(3, 4), wilson_interval(4, 4))
    assert rule.text.startswith("then n, 20  [leaf 0; 4 rows (100 %); paid: n 3, y 1; proportion 0.750")
    assert "; size: 20 4; proportion 1.000" in rule.text


def test_a_date_stays_a_date(build_tree: Callable[..., Tree]) -> None:
    tree = build_tree([None], [-1], [[3, 1]], samples=[4])
    for unit in ("D", "us", "ns"):
        days = np.array(["2020-01-01", "2020-01-02"], f"M8[{unit}]")

        assert leaf_rules(ModelData("classification", X, (tree,), (days,)))[0].prediction == days[0]


def test_a_chain_of_20000_leaves_has_short_rules(chain_model: Callable[[int], ModelData]) -> None:
    rules = leaf_rules(chain_model(20_000))

    assert len(rules) == 20_001
    assert rules[3000].conditions == ("2999 < x <= 3000",)
