"""Single trees on bins: the same tree where bins lose nothing, and what only the exact search has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from same_trees import trees_equal
from sklearn.datasets import load_diabetes, load_iris

import treewright as tw
from treewright.exceptions import ParameterError
from treewright.model import codec


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


def test_medians_need_the_exact_search():
    with pytest.raises(ParameterError, match="splitter='best'"):
        tw.DecisionTreeRegressor(splitter="hist", criterion="absolute_error").fit([[0.0], [1.0]], [0.0, 1.0])


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
