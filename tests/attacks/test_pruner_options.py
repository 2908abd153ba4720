"""Options and trees that pruners must refuse, or survive."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from plain_trees import chain_tree, rows_of_chain
from rotating import crossed

import treewright as tw
from treewright.data.schema import Column, Schema
from treewright.exceptions import DataWarning, ParameterError
from treewright.prune.error_based import limit_of
from treewright.prune.methods import prune_model
from treewright.trees.data import ModelData

NO_NUMBERS = [
    math.nan,
    math.inf,
    -math.inf,
    -1,
    -1e-300,
    True,
    False,
    np.True_,
    "1",
    [1.0],
    np.ones(2),
    {},
    1j,
    object(),
]
NUMBERS = [
    ("pessimistic", "errors_per_leaf"),
    ("pessimistic", "standard_errors"),
    ("minimum_error", "m"),
    ("significance", "max_p_value"),
]
X, Y = [[float(i), float(i * i % 7)] for i in range(30)], [i % 3 for i in range(30)]


@cache
def class_tree():
    return tw.DecisionTreeClassifier().fit(X, Y)


@cache
def mean_tree():
    return tw.DecisionTreeRegressor().fit(X, [float(y) for y in Y])


@pytest.mark.parametrize("value", [*NO_NUMBERS, 10**400], ids=lambda value: str(value)[:20])
@pytest.mark.parametrize(("method", "option"), NUMBERS)
def test_an_option_that_is_no_number_of_its_range_is_refused(method, option, value):
    with pytest.raises(ParameterError, match=rf"{option}=.*give a finite number"):
        class_tree().prune(method, **{option: value})


@pytest.mark.parametrize("option", ["errors_per_leaf", "standard_errors"])
def test_an_option_without_a_default_of_its_own_cannot_be_none(option):
    with pytest.raises(ParameterError, match=f"{option}=None"):
        class_tree().prune("pessimistic", **{option: None})


@pytest.mark.parametrize("value", [*NO_NUMBERS, 0, 0.0, -0.0], ids=lambda value: str(value)[:20])
def test_noise_has_to_be_a_number_above_0(value):
    with pytest.raises(ParameterError, match=r"noise=.*give a finite number"):
        mean_tree().prune("description_length", noise=value)


@pytest.mark.parametrize("value", [1.0000001, 5, 100])
def test_a_p_value_above_1_is_refused(value):
    with pytest.raises(ParameterError, match=r"max_p_value=.*from 0 to 1"):
        class_tree().prune("significance", max_p_value=value)


@pytest.mark.parametrize("value", ["", "Holm", "bh", True, 0, ["holm"], {"fdr"}, np.array(["holm", "fdr"]), math.nan])
def test_an_adjustment_that_is_none_is_refused(value):
    with pytest.raises(ParameterError, match="choose bonferroni, holm, fdr or None"):
        class_tree().prune("significance", adjust=value)


@pytest.mark.parametrize("value", [np.float32(0.5), np.int64(1), np.float64(0.25), Fraction(1, 2), 1, 0], ids=repr)
@pytest.mark.parametrize(("method", "option"), [*NUMBERS, ("cost_complexity", "alpha")])
def test_any_kind_of_number_will_do(method, option, value):
    same = class_tree().prune(method, **{option: float(value)})

    assert class_tree().prune(method, **{option: value}).tree_.value.tolist() == same.tree_.value.tolist()


@pytest.mark.parametrize(
    "method", ["pessimistic", "minimum_error", "significance", "description_length", "merge_equal_leaves"]
)
def test_a_root_alone_stays_as_it_is(method):
    est = tw.DecisionTreeClassifier().fit([[1.0], [2.0]], ["a", "a"])

    assert est.prune(method).get_n_leaves() == 1
    if method != "pessimistic":
        est = tw.DecisionTreeRegressor().fit([[1.0], [2.0]], [3.0, 3.0])
        assert est.prune(method).get_n_leaves() == 1


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("minimum_error", {"m": 1e308}),
        ("pessimistic", {"errors_per_leaf": 1e300}),
        ("pessimistic", {"errors_per_leaf": 1.7e308}),
        ("pessimistic", {"standard_errors": 1e300}),
        ("pessimistic", {"standard_errors": 1.7e308}),
        ("cost_complexity", {"alpha": 1.7e308}),
        ("cost_complexity", {"alpha": math.inf}),
        ("cost_complexity", {"alpha": 10**400}),
    ],
)
def test_options_at_the_upper_end_of_their_range_leave_the_root(method, options):
    assert class_tree().prune(method, **options).get_n_leaves() == 1


@pytest.mark.parametrize(
    ("method", "option"), [("minimum_error", "m"), ("pessimistic", "errors_per_leaf"), ("cost_complexity", "alpha")]
)
def test_options_at_the_lower_end_of_their_range_count_for_nothing(method, option):
    least, nothing = (class_tree().prune(method, **{option: value}) for value in (5e-324, 0))

    assert least.tree_.value.tolist() == nothing.tree_.value.tolist()
    assert least.get_n_leaves() > 1


@pytest.mark.parametrize(
    "value", [*[each for each in NO_NUMBERS if each is not math.inf], -(10**400)], ids=lambda v: str(v)[:20]
)
def test_a_price_that_is_none_is_refused(value):
    with pytest.raises(ParameterError, match=r"alpha=.*: the price of a leaf is a number >= 0"):
        class_tree().prune("cost_complexity", alpha=value)


@pytest.mark.parametrize("value", [*NO_NUMBERS, 0, 0.5000001, Fraction(1, 10**400), 10**400], ids=lambda v: str(v)[:20])
def test_a_confidence_that_is_none_is_refused(value):
    with pytest.raises(ParameterError, match=r"confidence=.*: give a number above 0 and at most 0.5"):
        limit_of(value)


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e140])
@pytest.mark.parametrize("method", ["minimum_error", "significance", "description_length", "merge_equal_leaves"])
def test_targets_of_any_size_are_pruned_alike(method, scale):
    y = np.array([float(i % 3 + 5 * (i > 14)) for i in range(30)])
    one = tw.DecisionTreeRegressor().fit(X, y).prune(method)
    scaled = tw.DecisionTreeRegressor().fit(X, scale * y).prune(method)

    assert scaled.get_n_leaves() == one.get_n_leaves()


SQUARES = [
    ("minimum_error", {}),
    ("significance", {}),
    ("description_length", {}),
    ("description_length", {"noise": 1.0}),
    ("leaves", {"max_leaves": 5}),
    ("depth", {"max_depth": 2}),
    ("cost_complexity", {"alpha": 1.0}),
]


@pytest.mark.parametrize("missing", ["direction", "branch"])
@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-155, 1e154, 1e160, 1e300])
@pytest.mark.parametrize(("method", "options"), SQUARES)
def test_targets_whose_squares_are_beyond_float64_are_refused(method, options, scale, missing):
    y = np.array([float(i % 3 + 5 * (i > 14)) for i in range(30)])
    est = tw.DecisionTreeRegressor(missing=missing).fit(X, scale * y)

    with pytest.raises(ParameterError, match=r"impurities of this tree .* scale the target towards 1 and fit again"):
        est.prune(method, **options)
    # The price of a leaf is in these units as well.
    with pytest.raises(ParameterError, match="scale the target"):
        tw.DecisionTreeRegressor(missing=missing, ccp_alpha=1.0).fit(X, scale * y)


@pytest.mark.parametrize("scale", [1e-200, 1e160])
def test_absolute_errors_and_hold_out_rows_of_any_size_do_without_squares(scale):
    y = scale * np.array([float(i % 3 + 5 * (i > 14)) for i in range(30)])
    sizes = [
        tw.DecisionTreeRegressor(criterion="absolute_error").fit(X, each).prune("leaves", max_leaves=5).get_n_leaves()
        for each in (y, y / scale)
    ]
    aside = tw.DecisionTreeRegressor().fit(X, y).prune("reduced_error", X, y)

    assert sizes[0] == sizes[1] > 1
    assert aside.get_n_leaves() == 27  # the rows of the fit: nothing but equal leaves can go
    for cut in aside.prune_log_:
        assert not any(math.isnan(number) for number in cut.numbers.values())


@pytest.mark.parametrize("scale", [1e-200, 1e160])
def test_a_far_target_of_hold_out_rows_is_logged_without_nan(scale):
    y = scale * np.array([float(i % 3 + 5 * (i > 14)) for i in range(30)])
    log = tw.DecisionTreeRegressor().fit(X, y).prune("reduced_error", X, np.full(30, y.mean())).prune_log_

    assert len(log) > 0
    assert not any(np.isnan(column).any() for column in log.numbers.values())


@pytest.mark.parametrize("weight", [1e-12, 1e-3, 2.0, 1e12, 1e200])
@pytest.mark.parametrize("method", ["minimum_error", "significance", "description_length"])
def test_a_common_weight_of_numbers_changes_nothing(method, weight):
    rng = np.random.default_rng(1)
    own, y = rng.integers(1, 4, 80).astype(float), np.arange(80) // 20 + rng.normal(size=80)
    X = np.stack([np.arange(80), rng.integers(0, 9, 80)], axis=1).astype(float)
    one = tw.DecisionTreeRegressor().fit(X, y, own).prune(method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        scaled = tw.DecisionTreeRegressor().fit(X, y, weight * own).prune(method)

    assert 1 < one.get_n_leaves() < 80
    assert scaled.tree_.threshold.tolist() == one.tree_.threshold.tolist()


@pytest.mark.parametrize("method", ["pessimistic", "minimum_error", "significance", "description_length"])
def test_weights_of_classes_are_numbers_of_rows(method):
    few, many = (tw.DecisionTreeClassifier().fit(X, Y, np.full(30, weight)) for weight in (1e-12, 1e12))

    assert many.prune(method).score(X, Y) == many.score(X, Y) == 1.0
    with pytest.warns(DataWarning, match="treats weights as row counts"):
        assert few.prune(method).get_n_leaves() == 1


def chain(n_levels: int, task: str) -> ModelData:
    """As deep as it has splits: branch 0 is always a leaf."""
    rows = rows_of_chain(n_levels)
    heavy = rows // 2
    value = np.stack([heavy, rows - heavy], axis=1) if task == "classification" else rows[:, None] / n_levels
    tree = chain_tree(n_levels, impurity=np.where(rows > 1, rows / n_levels, 0.0), value=value)
    classes = (np.arange(2),) if task == "classification" else ()
    facts = {"criterion": "gini" if task == "classification" else "squared_error"}
    return ModelData(task, Schema((Column("x", "numeric"),)), (tree,), classes, facts=facts)  # type: ignore


# All leaves of the chain of classes say one class, but so do not all nodes; its expected errors fall at every split.
KEPT = {("minimum_error", "classification"), ("merge_equal_leaves", "classification")}


@pytest.mark.parametrize(
    ("method", "task"),
    crossed(
        ("pessimistic", "minimum_error", "significance", "description_length", "merge_equal_leaves"),
        ("classification", "regression"),
    ),
)
def test_trees_of_20000_levels_are_pruned(method, task):
    if method == "pessimistic" and task == "regression":
        return
    model = chain(20_000, task)
    pruned, log = prune_model(model, method)

    # The highest cut takes the most leaves, and all that is below it.
    assert pruned.trees[0].n_leaves == 20_001 - (int(log.n_leaves.max(initial=1)) - 1)
    assert (len(log) > 0) == (pruned.trees[0].n_leaves < 20_001) == ((method, task) not in KEPT)
    assert len(log.to_dict()["node"]) == len(log.nodes)


@pytest.mark.parametrize("method", ["minimum_error", "significance", "description_length"])
def test_a_model_that_does_not_say_its_criterion_is_refused(method):
    with pytest.raises(ParameterError, match="criterion='unknown'"):
        prune_model(replace(mean_tree().model_, facts={}), method)


@pytest.mark.parametrize("method", ["pessimistic", "minimum_error", "merge_equal_leaves"])
def test_rows_are_not_wanted(method):
    with pytest.raises(ParameterError, match="leave X and y out"):
        class_tree().prune(method, X, Y)


@pytest.mark.parametrize("method", ["minimum_error", "significance", "description_length"])
def test_a_function_called_as_a_criterion_of_the_list_is_not_that_criterion(method):
    def squared_error(table):
        return table[:, 0] * 0.0 + 1.0

    est = tw.DecisionTreeRegressor(criterion=squared_error, max_depth=2).fit(X, [float(y) for y in Y])

    with pytest.raises(ParameterError, match="criterion='function': use cost_complexity"):
        est.prune(method)
