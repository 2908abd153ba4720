"""Options and trees that pruners must refuse, or survive."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import treewright as tw
from treewright.data.schema import Column, Schema
from treewright.exceptions import ParameterError
from treewright.prune.door import prune_model
from treewright.tree.arrays import LEAF, THRESHOLD, Tree
from treewright.tree.model import ModelData

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
@pytest.mark.parametrize(("method", "option"), NUMBERS)
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
        ("minimum_error", {"m": 5e-324}),
        ("pessimistic", {"errors_per_leaf": 1e300}),
        ("pessimistic", {"standard_errors": 1e300}),
    ],
)
def test_options_at_the_ends_of_their_range_give_a_tree(method, options):
    assert 1 <= class_tree().prune(method, **options).get_n_leaves() <= class_tree().get_n_leaves()


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e140])
@pytest.mark.parametrize("method", ["minimum_error", "significance", "description_length", "merge_equal_leaves"])
def test_targets_of_any_size_are_pruned_alike(method, scale):
    y = np.array([float(i % 3 + 5 * (i > 14)) for i in range(30)])
    one = tw.DecisionTreeRegressor().fit(X, y).prune(method)
    scaled = tw.DecisionTreeRegressor().fit(X, scale * y).prune(method)

    assert scaled.get_n_leaves() == one.get_n_leaves()


@pytest.mark.parametrize("weight", [1e-12, 1e12])
@pytest.mark.parametrize("method", ["pessimistic", "minimum_error", "significance", "description_length"])
def test_weights_of_any_size_give_a_tree(method, weight):
    est = tw.DecisionTreeClassifier().fit(X, Y, sample_weight=np.full(30, weight))

    assert 1 <= est.prune(method).get_n_leaves() <= est.get_n_leaves()


def chain(n_levels: int, task: str) -> ModelData:
    """As deep as it has splits: branch 0 is always a leaf."""
    node = np.arange(2 * n_levels + 1)
    inner = (node % 2 == 0) & (node < 2 * n_levels)
    rows = np.where(node % 2 == 0, n_levels + 1 - node // 2, 1)
    heavy = rows // 2
    value = np.stack([heavy, rows - heavy], axis=1) if task == "classification" else rows[:, None] / n_levels
    tree = Tree(
        kind=np.where(inner, THRESHOLD, LEAF).astype(np.uint8),
        feature=np.where(inner, 0, -1).astype(np.int32),
        threshold=np.where(inner, node / 2, 0.0),
        first_child=np.where(inner, node + 1, -1).astype(np.int32),
        n_branches=np.where(inner, 2, 0).astype(np.int32),
        missing_branch=np.zeros(len(node), np.int32),
        level_set=np.full(len(node), -1, np.int32),
        n_samples=rows.astype(np.int64),
        weight=rows.astype(np.float64),
        impurity=np.where(rows > 1, rows / n_levels, 0.0),
        value=value.astype(np.float64),
        levels_left=np.zeros(0, np.uint64),
        levels_seen=np.zeros(0, np.uint64),
    )
    classes = (np.arange(2),) if task == "classification" else ()
    facts = {"criterion": "gini" if task == "classification" else "squared_error"}
    return ModelData(task, Schema((Column("x", "numeric"),)), (tree,), classes, facts=facts)  # type: ignore


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize(
    "method", ["pessimistic", "minimum_error", "significance", "description_length", "merge_equal_leaves"]
)
def test_trees_of_20000_levels_are_pruned(method, task):
    if method == "pessimistic" and task == "regression":
        return
    model = chain(20_000, task)
    pruned, log = prune_model(model, method)

    assert pruned.trees[0].n_leaves <= 20_001
    assert len(log.to_dict()["node"]) == len(log.nodes)


@pytest.mark.parametrize("method", ["minimum_error", "significance", "description_length"])
def test_a_model_that_does_not_say_its_criterion_is_refused(method):
    with pytest.raises(ParameterError, match="criterion='unknown'"):
        prune_model(replace(mean_tree().model_, facts={}), method)


@pytest.mark.parametrize("method", ["pessimistic", "minimum_error", "merge_equal_leaves"])
def test_rows_are_not_wanted(method):
    with pytest.raises(ParameterError, match="leave X and y out"):
        class_tree().prune(method, X, Y)
