"""Single trees on bins: the same tree where bins lose nothing, and what only the exact search has."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from same_trees import trees_equal
from sklearn.datasets import load_diabetes, load_iris

import treewright as tw
from treewright.exceptions import ParameterError
from treewright.trees import codec


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"criterion": "entropy"},
        {"max_leaf_nodes": 6},
        {"min_samples_leaf": 0.05, "max_depth": 4},
        {"ccp_alpha": 0.01},
        {"class_weight": {0: 2.5}},
    ],
    ids=str,
)
def test_a_tree_on_bins_is_the_exact_one_where_no_value_shares_a_bin(options):
    X, y = load_iris(return_X_y=True)

    best = tw.DecisionTreeClassifier(**options).fit(X, y)
    hist = tw.DecisionTreeClassifier(**options, splitter="hist").fit(X, y)

    assert trees_equal(best.tree_, hist.tree_)


@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
def test_a_regression_tree_on_bins_is_the_exact_one_too(criterion):
    X, y = load_diabetes(return_X_y=True)
    X = X.round(2)

    best = tw.DecisionTreeRegressor(criterion=criterion).fit(X, y)
    hist = tw.DecisionTreeRegressor(criterion=criterion, splitter="hist").fit(X, y)

    # Impurities are sums of squares in the order of the rows.
    assert hist.tree_.impurity == pytest.approx(best.tree_.impurity, rel=1e-9, abs=1e-12)
    assert trees_equal(replace(hist.tree_, impurity=best.tree_.impurity), best.tree_)


def test_few_bins_are_a_smaller_choice_of_cuts():
    X, y = load_iris(return_X_y=True)

    tree = tw.DecisionTreeClassifier(splitter="hist", max_bins=2).fit(X, y).tree_

    assert tree.n_leaves <= 16
    asked = ~tree.is_leaf
    assert all(len(np.unique(tree.threshold[asked & (tree.feature == column)])) <= 1 for column in range(4))


def test_random_cuts_depend_on_the_seed_alone():
    X, y = load_iris(return_X_y=True)

    files = [
        codec.dumps(tw.DecisionTreeClassifier(splitter="random", random_state=seed, n_jobs=n_jobs).fit(X, y).model_)
        for seed, n_jobs in ((1, 1), (1, 2), (2, 1))
    ]

    assert files[0] == files[1] != files[2]


def test_random_cuts_part_all_rows_that_can_be_parted():
    X, y = load_iris(return_X_y=True)

    assert tw.DecisionTreeClassifier(splitter="random").fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize("splitter", ["hist", "random"])
@pytest.mark.parametrize(
    ("options", "at_fault"),
    [
        ({"criterion": "gain_ratio"}, "criterion='gain_ratio'"),
        ({"criterion": lambda counts: counts.min(axis=1)}, "a criterion of your own"),
        ({"missing": "surrogate"}, "missing='surrogate'"),
        ({"missing": "fractional"}, "missing='fractional'"),
        ({"nominal_splits": "multiway", "nominal": [0]}, "nominal_splits='multiway'"),
        ({"max_p_value": 0.05}, "max_p_value=0.05"),
        ({"grow_trace": True}, "grow_trace=True"),
    ],
    ids=["gain_ratio", "own", "surrogate", "fractional", "multiway", "max_p_value", "grow_trace"],
)
def test_what_only_the_exact_search_has_is_refused_by_name(splitter, options, at_fault):
    with pytest.raises(ParameterError) as refused:
        tw.DecisionTreeClassifier(splitter=splitter, **options).fit([[0.0], [np.nan]], [0, 1])

    assert str(refused.value) == f"{at_fault} needs splitter='best', not {splitter!r}: leave one of them out"


@pytest.mark.parametrize(
    "options", [{}, {"min_samples_leaf": 7}, {"max_leaf_nodes": 30}, {"monotonic_cst": [1, 0, -1, 0]}]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_medians_of_rows_on_bins_are_those_of_the_exact_search(options, weighted):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(9_000, 4)).round(1)  # a window holds fewer rows
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.stack([np.nan_to_num(X[:, 0]) * 3, rng.normal(size=9_000)], axis=1) + rng.standard_cauchy((9_000, 2))
    y = y[:, 0] if "monotonic_cst" in options else y
    weights = rng.integers(1, 4, 9_000) if weighted else None
    exact, binned = (
        tw.DecisionTreeRegressor(criterion="absolute_error", splitter=splitter, max_depth=9, **options)
        .fit(X, y, sample_weight=weights)
        .tree_
        for splitter in ("best", "hist")
    )
    for name in ("feature", "threshold", "value", "impurity", "missing_branch", "n_samples"):
        np.testing.assert_array_equal(getattr(binned, name), getattr(exact, name))


def test_trees_of_random_cuts_hold_medians_whatever_the_threads():
    rng = np.random.default_rng(4)
    X = {"a": rng.normal(size=60_000).round(2), "b": rng.choice(list("xyz"), 60_000)}  # rows enough for threads
    y = X["a"] + (X["b"] == "x") + 0.1 * rng.standard_cauchy(60_000)
    one, two = (
        tw.ExtraTreeRegressor(criterion="absolute_error", max_depth=6, random_state=5, n_jobs=threads).fit(X, y)
        for threads in (1, 3)
    )
    assert pickle.dumps(one.model_) == pickle.dumps(two.model_)
    leaves = one.apply(X)
    for leaf in np.unique(leaves)[:8]:
        held = y[leaves == leaf]
        node = one.tree_
        assert node.value[leaf, 0] == pytest.approx(np.median(held), rel=1e-12)
        assert node.impurity[leaf] == pytest.approx(np.abs(held - np.median(held)).mean(), rel=1e-9)


@pytest.mark.parametrize("bootstrap", [False, True])
def test_extra_trees_of_medians_are_hardly_moved_by_outliers(bootstrap):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(600, 3))
    clean = X[:, 0] + np.abs(X[:, 1])
    y = clean + np.where(rng.random(600) < 0.1, 1_000.0, 0.0)
    options = {"n_estimators": 30, "min_samples_leaf": 8, "bootstrap": bootstrap, "random_state": 1}
    medians = tw.ExtraTreesRegressor(criterion="absolute_error", **options).fit(X, y)
    means = tw.ExtraTreesRegressor(**options).fit(X, y)

    assert np.abs(medians.predict(X) - clean).mean() < 0.1 * np.abs(means.predict(X) - clean).mean()
    again = tw.ExtraTreesRegressor(criterion="absolute_error", n_jobs=1, **options).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), medians.predict(X))
    if bootstrap:
        assert medians.set_params(oob_score=True).fit(X, y).oob_prediction_.shape == (600,)


def test_groups_of_columns_need_bins():
    with pytest.raises(ParameterError, match="splitter='hist' or 'random'"):
        tw.DecisionTreeClassifier(interaction_cst="pairwise").fit([[0.0], [1.0]], [0, 1])


def test_a_number_of_bins_needs_bins():
    with pytest.raises(ParameterError, match="max_bins=10 needs splitter='hist' or 'random'"):
        tw.DecisionTreeRegressor(max_bins=10).fit([[0.0], [1.0]], [0.0, 1.0])


def test_a_tree_on_bins_can_be_audited_and_pruned():
    X, y = load_iris(return_X_y=True)
    est = tw.DecisionTreeClassifier(splitter="hist").fit(X, y)

    assert str(est.audit(0)) == str(tw.DecisionTreeClassifier().fit(X, y).audit(0))
    assert est.prune("leaves", max_leaves=3).get_n_leaves() == 3
