"""What must hold of every cost-complexity path and of every tree on it, on tables that Hypothesis makes up."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rotating import examples
from same_trees import trees_equal

import treewright as tw
from treewright.prune.cost_complexity import path_of, subtree_at
from treewright.prune.costs import node_risk
from treewright.trees import codec
from treewright.trees.check import check_tree
from treewright.trees.check_model import check_model, value_width
from treewright.trees.edit import collapse

quick = examples(5)
LEVELS = ("blue", "green", "red")
KINDS = {
    "cuts and sets of levels": lambda: tw.DecisionTreeClassifier(n_jobs=1),
    "a branch per level": lambda: tw.DecisionTreeClassifier(criterion="entropy", nominal_splits="multiway", n_jobs=1),
    "surrogates": lambda: tw.DecisionTreeClassifier(missing="surrogate", n_jobs=1),
    "fractional": lambda: tw.DecisionTreeClassifier(missing="fractional", n_jobs=1),
    "C4.5": lambda: tw.C45Classifier(confidence=None, min_samples_leaf=1, n_jobs=1),
    "CHAID": lambda: tw.CHAIDClassifier(alpha=1.0, alpha_merge=0.9, min_samples_split=2, min_samples_leaf=1, n_jobs=1),
    "squared error": lambda: tw.DecisionTreeRegressor(n_jobs=1),
    "absolute error": lambda: tw.DecisionTreeRegressor(criterion="absolute_error", n_jobs=1),
}
every_kind = pytest.mark.parametrize("kind", KINDS)
risks = st.sampled_from(("impurity", "error"))
shares = st.floats(0.0, 1.2)


@st.composite
def tables(draw):
    """Numbers, one column of levels, some cells missing; three labels; whole weights."""
    n = draw(st.integers(2, 40))
    number = st.one_of(st.integers(-4, 4).map(float), st.integers(-4, 4).map(float), st.just(np.nan))
    colour = st.sampled_from((*LEVELS, *LEVELS, None))
    table = {
        "x": np.array(draw(st.lists(number, min_size=n, max_size=n))),
        "z": np.arange(n) * 1.5,
        "colour": draw(st.lists(colour, min_size=n, max_size=n)),
    }
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    weights = np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), float)
    return table, y, weights


def fitted(kind, data):
    table, y, weights = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constant and suspicious columns are drawn now and then
        return KINDS[kind]().set_params(nominal={"colour": list(LEVELS)}).fit(table, y, weights).model_


def alpha_of(model, risk, share):
    """An alpha between 0 and a little more than the largest of the path."""
    return share * float(path_of(model, risk).alphas[-1])


def inner_of(path, tree, step):
    return set(np.flatnonzero((path.collapse_step > step) & ~tree.is_leaf).tolist())


@every_kind
@quick
@given(data=tables(), risk=risks)
def test_subtrees_are_nested_and_every_number_of_the_path_goes_one_way(kind, data, risk):
    model = fitted(kind, data)
    tree = model.trees[0]

    path = path_of(model, risk)

    assert path.alphas[0] == 0
    assert (np.diff(path.alphas) > 0).all()
    assert (np.diff(path.n_leaves) < 0).all()
    assert path.n_leaves[-1] == 1
    # Sums over other leaves: what is equal on paper may differ in the last digit.
    assert (np.diff(path.risks) >= -1e-14 * path.risks[-1]).all()
    assert path.risks[-1] == pytest.approx(node_risk(model, risk)[0])
    above = path.collapse_step[np.maximum(tree.parent, 0)]
    assert (path.collapse_step <= above).all()
    for step in range(1, len(path.alphas)):
        assert inner_of(path, tree, step) < inner_of(path, tree, step - 1)


@every_kind
@quick
@given(data=tables(), risk=risks)
def test_every_tree_of_the_path_is_a_whole_tree_with_the_risk_that_it_says(kind, data, risk):
    model = fitted(kind, data)
    path, tree = path_of(model, risk), model.trees[0]

    for step in {0, len(path.alphas) // 2, len(path.alphas) - 1}:
        small = model.prune("cost_complexity", alpha=float(path.alphas[step]), risk=risk)

        check_model(small)
        check_tree(
            subtree_at(tree, path, step),
            model.schema,
            value_width(model),
            n_classes=model.n_classes,
            missing=model.missing,
        )
        assert trees_equal(small.trees[0], subtree_at(tree, path, step))
        assert small.trees[0].n_leaves == path.n_leaves[step]
        at_leaves = node_risk(small, risk)[small.trees[0].is_leaf].sum()
        assert at_leaves == pytest.approx(path.risks[step], abs=1e-14 * max(path.risks[-1], 1.0))


@every_kind
@quick
@given(data=tables(), risk=risks, share=shares)
def test_pruning_twice_is_pruning_once(kind, data, risk, share):
    model = fitted(kind, data)
    alpha = alpha_of(model, risk, share)

    once = model.prune("cost_complexity", alpha=alpha, risk=risk)
    twice = once.prune("cost_complexity", alpha=alpha, risk=risk)

    assert trees_equal(once.trees[0], twice.trees[0])
    assert len(twice.prune_log) == 0


@every_kind
@quick
@given(data=tables(), risk=risks, one=shares, other=shares)
def test_pruning_at_a_low_price_first_does_not_show_later(kind, data, risk, one, other):
    model = fitted(kind, data)
    low, high = (alpha_of(model, risk, share) for share in sorted((one, other)))

    at_once = model.prune("cost_complexity", alpha=high, risk=risk)
    in_two = model.prune("cost_complexity", alpha=low, risk=risk).prune("cost_complexity", alpha=high, risk=risk)

    assert trees_equal(at_once.trees[0], in_two.trees[0])


@every_kind
@quick
@given(data=tables(), risk=risks, most=st.integers(1, 12))
def test_limits_on_leaves_and_depth_give_the_largest_tree_of_the_path_within_them(kind, data, risk, most):
    model = fitted(kind, data)
    tree, path = model.trees[0], path_of(model, risk)
    on_path = [subtree_at(tree, path, step) for step in range(len(path.alphas))]

    by_leaves = model.prune("leaves", max_leaves=most, risk=risk).trees[0]
    by_depth = model.prune("depth", max_depth=most - 1, risk=risk).trees[0]

    assert trees_equal(by_leaves, next(each for each in on_path if each.n_leaves <= most))
    assert trees_equal(by_depth, next(each for each in on_path if each.max_depth <= most - 1))


@every_kind
@quick
@given(data=tables(), risk=risks, share=shares)
def test_the_cuts_of_the_log_are_the_whole_difference(kind, data, risk, share):
    model = fitted(kind, data)
    before = codec.dumps(model)

    small = model.prune("cost_complexity", alpha=alpha_of(model, risk, share), risk=risk)
    log = small.prune_log

    assert trees_equal(log.before, model.trees[0])
    assert trees_equal(collapse(log.before, log.nodes), small.trees[0])
    # None of them stands below another one, and none was a leaf.
    assert log.before.n_leaves - log.n_leaves.sum() + len(log) == small.trees[0].n_leaves
    assert not log.before.is_leaf[log.nodes].any()
    assert (np.diff(log.numbers["alpha"]) >= 0).all()
    gained = node_risk(small)[small.trees[0].is_leaf].sum() - node_risk(model)[model.trees[0].is_leaf].sum()
    assert log.rise.sum() == pytest.approx(gained, abs=1e-12)
    assert codec.dumps(model) == before


@every_kind
@quick
@given(data=tables(), most=st.integers(1, 6))
def test_a_pruned_model_comes_back_from_its_file(kind, data, most):
    model = fitted(kind, data).prune("leaves", max_leaves=most)

    again = codec.loads(codec.dumps(model))

    assert trees_equal(again.trees[0], model.trees[0])
    assert again.facts["pruning"] == model.facts["pruning"]
    assert again.facts["pruning"][0]["options"] == {"max_leaves": most, "risk": "impurity"}
    assert codec.dumps(again) == codec.dumps(model)
