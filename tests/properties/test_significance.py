"""What must hold of every tree that stops where its best test is not significant."""

from __future__ import annotations

import numpy as np
import pytest
from by_node_cases import KINDS, LEVELS, assert_alike, fitted, tables, taken
from hypothesis import given
from hypothesis import strategies as st
from rotating import examples
from same_trees import trees_equal

import treewright as tw
from treewright.trees.check_model import check_model

quick = examples(5)
UNPRUNED = {name: make for name, make in KINDS.items() if name != "pruned C4.5"} | {
    "two sets": lambda: tw.DecisionTreeClassifier(n_jobs=1),
    "variance": lambda: tw.DecisionTreeRegressor(n_jobs=1),
}
LIMITS = st.sampled_from([1e-6, 0.001, 0.01, 0.05, 0.2, 0.5, 0.9])


def with_signal(data):
    """The same table with a target that follows a column in most rows."""
    table, y, weights = data
    follows = np.arange(len(y)) % 5 > 0
    return table, np.where(follows, (np.nan_to_num(table["x"]) > 0).astype(int), y), weights


def stopped(make, limit):
    return lambda: make().set_params(max_p_value=limit)


def is_top_part(small, large):
    """Whether a tree is what is left of another when some of its subtrees become leaves."""
    waiting = [(0, 0)]
    for one, other in waiting:
        for name in ("n_samples", "weight", "impurity"):
            assert getattr(small, name)[one] == getattr(large, name)[other]
        if small.is_leaf[one]:
            continue
        for name in ("kind", "feature", "threshold", "n_branches", "missing_branch"):
            if getattr(small, name)[one] != getattr(large, name)[other]:
                return False
        waiting += [(small.first_child[one] + b, large.first_child[other] + b) for b in range(small.n_branches[one])]
    return len(waiting) == small.n_nodes


@pytest.mark.parametrize("name", UNPRUNED)
@quick
@given(data=tables())
def test_a_limit_of_one_changes_nothing(name, data):
    make = UNPRUNED[name]

    without, limited = fitted(make, *data), fitted(stopped(make, 1.0), *data)

    if name in KINDS:
        assert trees_equal(without.tree_, limited.tree_)
    else:  # without a limit the other grower grew it
        assert_alike(without.tree_, limited.tree_)


@pytest.mark.parametrize("name", UNPRUNED)
@quick
@given(data=tables(smallest=6), limits=st.lists(LIMITS, min_size=2, max_size=2, unique=True))
def test_a_smaller_limit_leaves_a_top_part_of_the_tree(name, data, limits):
    make, data = UNPRUNED[name], with_signal(data)

    small, large = (fitted(stopped(make, limit), *data) for limit in sorted(limits))

    check_model(small.model_)
    assert is_top_part(small.tree_, large.tree_)


@pytest.mark.parametrize("name", sorted(set(UNPRUNED) - {"variance", "variance by branches"}))
@quick
@given(data=tables(smallest=6), seed=st.integers(0, 2**32 - 1), limit=LIMITS)
def test_the_order_of_rows_is_irrelevant(name, data, seed, limit):
    table, y, weights = with_signal(data)
    order = np.random.default_rng(seed).permutation(len(y))
    make = stopped(UNPRUNED[name], limit)

    first, second = fitted(make, table, y, weights), fitted(make, taken(table, order), y[order], weights[order])

    assert_alike(first.tree_, second.tree_)


@quick
@given(data=tables(smallest=6), limit=LIMITS, most=st.integers(2, 8))
def test_grown_best_first_no_node_is_split_that_is_not_significant(data, limit, most):
    """With room for every leaf it is the tree grown depth-first, with less room a part of that."""
    data = with_signal(data)
    make = stopped(UNPRUNED["two sets"], limit)

    whole = fitted(make, *data).tree_
    part = fitted(lambda: make().set_params(max_leaf_nodes=most), *data).tree_

    assert is_top_part(part, whole)
    assert part.n_leaves == min(most, whole.n_leaves)


@quick
@given(data=tables(smallest=6), limit=LIMITS)
def test_the_p_value_of_every_split_is_within_the_limit_and_of_every_leaf_above_it(data, limit):
    table, y, weights = with_signal(data)
    make = stopped(UNPRUNED["two sets"], limit)

    estimator = fitted(lambda: make().set_params(grow_trace=True), table, y, weights)
    tree, trace = estimator.tree_, estimator.trace_

    told = {step.node: step for step in trace}
    assert sorted(node for node, step in told.items() if step.is_split) == np.flatnonzero(~tree.is_leaf).tolist()
    for node, step in told.items():
        if step.is_split:
            assert step.p_value <= step.adjusted_p_value <= limit
        else:
            assert tree.is_leaf[node]
            assert step.p_value > limit or step.adjusted_p_value > limit
            assert f"its best test is {step.significance}" in estimator.audit(node).leaf_reason


def noise(seed, columns):
    """A table of 100 rows that says nothing about two classes, or about a number."""
    rng = np.random.default_rng(seed)
    if columns == "numbers":
        table = rng.normal(size=(100, 4))
    else:
        table = {f"a{at}": rng.choice([*LEVELS, "white"], 100).tolist() for at in range(4)}
    return table, rng.integers(0, 2, 100), rng.normal(size=100)


@pytest.mark.parametrize("columns", ["numbers", "levels"])
@pytest.mark.parametrize("kind", [tw.DecisionTreeClassifier, tw.DecisionTreeRegressor, tw.C45Classifier])
def test_nineteen_trees_of_noise_in_twenty_are_a_single_node(kind, columns):
    n_single = 0
    for seed in range(100):
        table, labels, numbers = noise(seed, columns)
        target = numbers if kind is tw.DecisionTreeRegressor else labels
        options = {"confidence": None} if kind is tw.C45Classifier else {}
        n_single += kind(max_p_value=0.05, n_jobs=1, **options).fit(table, target).get_n_leaves() == 1

    assert n_single >= 95
