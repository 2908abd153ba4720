"""Every door that takes a table with a target or weights warns of a pandas index in another order."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import treewright as tw
from treewright import model_selection as ms
from treewright.data.take import warn_of_another_order
from treewright.exceptions import DataWarning

X = pd.DataFrame({"a": np.arange(60.0) % 7, "b": np.arange(60.0) % 11})
y = pd.Series((np.arange(60) % 7 > 3).astype(int), name="y")
w = pd.Series(1.0 + np.arange(60) % 3)
mixed = np.random.default_rng(0).permutation(60)
ESTIMATORS = [
    tw.AdaBoostClassifier(n_estimators=2), tw.AdaBoostRegressor(n_estimators=2), tw.BaggingClassifier(n_estimators=2),
    tw.BaggingRegressor(n_estimators=2), tw.C45Classifier(), tw.CHAIDClassifier(), tw.CHAIDRegressor(),
    tw.DecisionTreeClassifier(max_depth=3), tw.DecisionTreeRegressor(max_depth=3), tw.ExtraTreeClassifier(),
    tw.ExtraTreeRegressor(), tw.ExtraTreesClassifier(2), tw.ExtraTreesRegressor(2),
    tw.GradientBoostingClassifier(2, early_stopping=False), tw.GradientBoostingRegressor(2, early_stopping=False),
    tw.ID3Classifier(nominal=["a", "b"]), tw.KNeighborsClassifier(), tw.KNeighborsRegressor(),
    tw.RandomForestClassifier(2), tw.RandomForestRegressor(2),
]  # fmt: skip
TREE = tw.DecisionTreeClassifier().fit(X, y)
FOREST = tw.RandomForestClassifier(3).fit(X, y)
BOOSTED = tw.GradientBoostingClassifier(3, early_stopping=False, warm_start=True).fit(X, y)

# Doors by what they take: (table, target, weights), each in whatever order.
DOORS = {
    "X_val": lambda X, y, w: tw.GradientBoostingClassifier(2).fit(
        X.values, [*y], X_val=X, y_val=y, sample_weight_val=w
    ),
    "boosting's staged_score": lambda X, y, w: [*BOOSTED.staged_score(X, y, w)],
    "prune": lambda X, y, w: TREE.prune("reduced_error", X, y, w),
    "prune rounds": lambda X, y, w: BOOSTED.prune("rounds", X, y, w),
    "prune of a model": lambda X, y, w: TREE.model_.prune("reduced_error", X, y, w),
    "audit": lambda X, y, w: TREE.audit(0, X, y, w),
    "report": lambda X, y, w: TREE.report(X, y, sample_weight=w),
    "importances of a tree": lambda X, y, w: TREE.importances("permutation", X, y, sample_weight=w),
    "importances of a forest": lambda X, y, w: FOREST.importances("permutation", X, y, sample_weight=w, rows="all"),
    "importances of boosting": lambda X, y, w: BOOSTED.importances("permutation", X, y, sample_weight=w),
    "holdout": lambda X, y, w: ms.holdout(tw.DecisionTreeClassifier(), X, y, sample_weight=w),
    "cross_validate": lambda X, y, w: ms.cross_validate(tw.DecisionTreeClassifier(), X, y, cv=2, sample_weight=w),
    "choose_threshold": lambda X, y, w: ms.choose_threshold(TREE.model_, X, y, recall=0.5, sample_weight=w),
    "pruning_path": lambda X, y, w: ms.pruning_path(TREE, X, y, cv=2, sample_weight=w),
    "validation": lambda X, y, w: ms.pruning_path(TREE, X.values, [*y], validation=(X, y, w)),
    "PrunedTree": lambda X, y, w: ms.PrunedTree(TREE, "reduced_error").fit(X, y, w),
    "aic": lambda X, y, w: ms.aic(TREE, X, y, sample_weight=w),
    "bias_variance": lambda X, y, w: ms.bias_variance(
        tw.DecisionTreeClassifier(max_depth=1), X, y, X.values, [*y], n_rounds=2, sample_weight=w
    ),
    "leave_one_out": lambda X, y, w: ms.leave_one_out(TREE, X, y, sample_weight=w),
    "tune": lambda X, y, w: ms.tune(tw.DecisionTreeClassifier(), X, y, {"max_depth": [1, 2]}, cv=2, sample_weight=w),
    "threshold by folds": lambda X, y, w: ms.choose_threshold(TREE, X, y, recall=0.5, cv=2, sample_weight=w),
    "compare": lambda X, y, w: ms.compare(
        [TREE, tw.DecisionTreeClassifier(max_depth=1)], X, y, cv=2, sample_weight=w
    ),
    "compare_pruning": lambda X, y, w: ms.compare_pruning(
        TREE, X.values, [*y], X, y, methods=["reduced_error", "ccp_1se"], cv=2, valid_weight=w
    ),
    "compare_pruning, fit": lambda X, y, w: ms.compare_pruning(
        TREE, X, y, X.values, [*y], methods=["reduced_error", "ccp_1se"], cv=2, sample_weight=w
    ),
    "error_curve": lambda X, y, w: ms.error_curve(TREE, X, y, cv=2, sample_weight=w),
    "learning_curve": lambda X, y, w: ms.learning_curve(TREE, X, y, cv=2, sizes=[20, 30], sample_weight=w),
}  # fmt: skip


def told(door, *args):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        door(*args)
    return [str(each.message) for each in heard if "same index labels" in str(each.message)]


@pytest.mark.parametrize("est", ESTIMATORS, ids=lambda est: type(est).__name__)
def test_fit_and_score_of_every_estimator_warn_of_a_target_in_another_order(est):
    assert told(est.fit, X, y.iloc[mixed])
    assert not told(est.fit, X, y)
    assert told(est.score, X, y.iloc[mixed])
    assert not told(est.score, X, y)
    if not type(est).__name__.startswith("KNeighbors"):
        assert "sample_weight" in told(est.fit, X, y, w.iloc[mixed])[0]
        assert told(est.score, X, y, w.iloc[mixed])


@pytest.mark.parametrize("name", DOORS)
def test_every_other_door_warns_once_of_a_target_or_weights_in_another_order(name):
    assert len(told(DOORS[name], X, y.iloc[mixed], w)) == 1
    weights = told(DOORS[name], X, y, w.iloc[mixed])
    assert len(weights) == 1
    assert "weight" in weights[0]
    assert not told(DOORS[name], X.iloc[mixed], y.iloc[mixed], w.iloc[mixed])


def test_doors_without_a_target_warn_of_weights_in_another_order():
    for door in (
        lambda w: tw.IsolationForest(n_estimators=2).fit(X, sample_weight=w),
        lambda w: TREE.partial_dependence(X, "a", sample_weight=w),
        lambda w: ms.surrogate_tree(FOREST, X, sample_weight=w),
        lambda y: ms.bias_variance(tw.DecisionTreeRegressor(max_depth=1), X.values, [*y], X, y, n_rounds=2),
    ):
        assert told(door, w.iloc[mixed])
        assert not told(door, w)


def test_groups_and_points_in_another_order_are_named():
    from sklearn.model_selection import GroupKFold

    groups = pd.Series(np.arange(60) // 6)
    find = lambda g: ms.cross_validate(tw.DecisionTreeClassifier(), X, y, cv=GroupKFold(2), groups=g)  # noqa: E731
    assert "groups" in told(find, groups.iloc[mixed])[0]
    assert not told(find, groups)
    draw = lambda y: tw.plot.decision_regions(TREE, X, y, features=("a", "b"), resolution=5)  # noqa: E731
    assert told(draw, y.iloc[mixed])
    assert not told(draw, y)


@pytest.mark.parametrize(
    ("table", "others", "named"),
    [
        (X.values, {"y": y, "sample_weight": w.iloc[::-1]}, r"y and sample_weight"),
        ({"a": X.a, "b": X.b.iloc[::-1]}, {}, r"column 'a' of X and column 'b' of X"),
        (X.set_index(X.a), {"y": y.set_axis(X.a.iloc[::-1])}, r"pass y in the order of X"),
        (X.set_axis([*"ab"] * 30), {"y": y.set_axis([*"ba"] * 30)}, r"X and y"),
    ],
)
def test_the_objects_in_another_order_are_named_also_without_a_table_and_with_repeated_labels(table, others, named):
    with pytest.warns(DataWarning, match=named):
        warn_of_another_order(table, **others)


@pytest.mark.parametrize("other", [y, y.set_axis(y.index + 60), y.to_numpy(), [*y], y.iloc[:30], y.set_axis([1] * 60)])
def test_nothing_is_told_of_other_labels_lengths_or_without_an_index(other):
    assert not told(warn_of_another_order, X, "X")
    assert not told(lambda: warn_of_another_order(X, y=other))
