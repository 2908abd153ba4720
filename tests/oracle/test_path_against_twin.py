"""The path of weakest links is the one that a slow twin finds, and its subtrees are the least-cost ones of all."""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from naive_path import AllSubtrees, path_by_the_book, random_shape
from rotating import few

import treewright as tw
from treewright.prune.cost_complexity import path_of, path_of_costs, subtree_at
from treewright.trees.arrays import LEAF


def inner_at(path, tree, step):
    return frozenset(np.flatnonzero((path.collapse_step > step) & (tree.kind != LEAF)).tolist())


def assert_same_path(path, tree, steps):
    assert path.n_leaves.tolist() == [step.n_leaves for step in steps]
    assert path.alphas == pytest.approx([float(step.alpha) for step in steps], rel=1e-9)
    assert path.risks == pytest.approx([float(step.risk) for step in steps], rel=1e-9, abs=1e-14)
    for at, step in enumerate(steps):
        assert inner_at(path, tree, at) == step.inner


def growing_costs(rng, tree, largest):
    """Whole costs at random that no division raises: a node costs its branches' sum and something on top, often 0."""
    cost = rng.integers(0, largest, tree.n_nodes).astype(float)
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.kind[node] != LEAF:
            first = tree.first_child[node]
            on_top = rng.integers(0, largest) * rng.integers(0, 2)
            cost[node] = cost[first : first + tree.n_branches[node]].sum() + on_top
    return cost


@pytest.mark.parametrize("most_branches", [2, 5])
@pytest.mark.parametrize("largest", [3, 1000])
def test_whole_costs_give_the_path_of_the_book(most_branches, largest):
    for seed in few(range(60), 10):
        rng = np.random.default_rng(seed)
        tree = random_shape(rng, int(rng.integers(0, 25)), most_branches)
        cost = growing_costs(rng, tree, largest)

        path = path_of_costs(tree, cost)

        exact = [Fraction(int(each)) for each in cost]
        assert_same_path(path, tree, path_by_the_book(tree, exact))


@pytest.mark.parametrize("rises", [False, True], ids=["divisions lower the cost", "some divisions raise it"])
@pytest.mark.parametrize("most_branches", [2, 4])
def test_no_subtree_of_all_costs_less_and_none_that_costs_the_same_is_smaller(most_branches, rises):
    for seed in few(range(60), 10):
        rng = np.random.default_rng(seed)
        tree = random_shape(rng, int(rng.integers(0, 6)), most_branches)
        cost = rng.integers(0, 12, tree.n_nodes).astype(float) if rises else growing_costs(rng, tree, 6)
        path, all_of_them = path_of_costs(tree, cost), AllSubtrees(tree, cost)
        # An alpha is a whole number divided by a number of leaves: limit_denominator finds it.
        alphas = [Fraction(float(alpha)).limit_denominator(1000) for alpha in path.alphas]
        between = [(one + other) / 2 for one, other in pairwise(alphas)]

        for alpha in [*alphas, *between, alphas[-1] + 1]:
            step = path.step_at(float(alpha))

            assert inner_at(path, tree, step) == all_of_them.smallest_of_least_cost(alpha)


def own_gini(counts):
    """The user's own, so that the grower by nodes runs; it may rise where a node is divided."""
    shares = counts / counts.sum(axis=1, keepdims=True)
    return (1.0 - (shares**2).sum(axis=1)) ** 3


MODELS = {
    "cuts and sets of levels": tw.DecisionTreeClassifier(),
    "entropy, a branch per level": tw.DecisionTreeClassifier(criterion="entropy", nominal_splits="multiway"),
    "surrogates": tw.DecisionTreeClassifier(missing="surrogate"),
    "fractional": tw.DecisionTreeClassifier(missing="fractional"),
    "own criterion": tw.DecisionTreeClassifier(criterion=own_gini, max_depth=6),
    "C4.5": tw.C45Classifier(confidence=None),
    "CHAID": tw.CHAIDClassifier(alpha=0.9),
    "squared error": tw.DecisionTreeRegressor(),
    "absolute error": tw.DecisionTreeRegressor(criterion="absolute_error", nominal_splits="multiway"),
}


def table_of(seed, n=60):
    rng = np.random.default_rng(seed)
    gaps = np.where(rng.random(n) < 0.15, np.nan, rng.integers(0, 9, n))
    colours = rng.choice(["red", "green", "blue", "black"], n).tolist()
    return rng, {"x": rng.integers(0, 12, n).astype(float), "gaps": gaps, "colour": colours}


def fitted(name, seed, n_outputs=1):
    rng, table = table_of(seed)
    signal = (table["x"] > 5) * 1 + (np.array(table["colour"]) == "red")
    y = np.where(rng.random((n_outputs, 60)) < 0.4, rng.integers(0, 3, (n_outputs, 60)), signal).T
    weights = None if seed % 2 else rng.integers(1, 4, 60).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a column looks suspicious is no news here
        return MODELS[name].fit(table, y[:, 0] if n_outputs == 1 else y, weights).model_


def naive_cost(model, risk):
    """Node by node: impurity or misclassified weight, as a share of all weight."""
    tree, costs = model.trees[0], []
    for node in range(tree.n_nodes):
        cost = float(tree.impurity[node] * tree.weight[node])
        if risk == "error" and model.task == "classification":
            ends = np.cumsum(model.n_classes)[:-1]
            parts = np.split(tree.value[node], ends)
            cost = sum(part.sum() - part.max() for part in parts) / len(parts) if tree.n_samples[node] else 0.0
        costs.append(cost / tree.weight[0])
    return costs


@pytest.mark.parametrize("risk", ["impurity", "error"])
@pytest.mark.parametrize("name", MODELS)
def test_grown_trees_have_the_path_of_the_book(name, risk):
    for seed in few(range(20), 3):
        model = fitted(name, seed)
        tree = model.trees[0]

        path = path_of(model, risk)

        assert_same_path(path, tree, path_by_the_book(tree, naive_cost(model, risk)))
        for step in (0, len(path.alphas) // 2):
            assert subtree_at(tree, path, step).n_leaves == path.n_leaves[step]


@pytest.mark.parametrize("n_outputs", [2, 3])
@pytest.mark.parametrize("risk", ["impurity", "error"])
def test_trees_of_several_outputs_have_the_path_of_the_book(risk, n_outputs):
    for seed in few(range(20), 3):
        model = fitted("cuts and sets of levels", seed, n_outputs)

        path = path_of(model, risk)

        assert_same_path(path, model.trees[0], path_by_the_book(model.trees[0], naive_cost(model, risk)))


def test_leaves_without_training_rows_cost_nothing():
    levels = {"colour": ["red", "green", "blue"]}
    estimator = tw.DecisionTreeClassifier(nominal_splits="multiway", nominal=levels)
    model = estimator.fit({"colour": ["red", "red", "green", "green"] * 5}, [0, 1, 1, 1] * 5).model_
    assert sorted(model.trees[0].n_samples.tolist()) == [0, 10, 10, 20]

    by_impurity, by_error = path_of(model, "impurity"), path_of(model, "error")

    assert by_impurity.risks.tolist() == pytest.approx([0.25, 0.375])  # half of 2 x 1/2 x 1/2; 2 x 1/4 x 3/4
    assert by_impurity.alphas.tolist() == pytest.approx([0.0, 0.0625])  # 0.125 for three leaves instead of one
    assert by_error.risks.tolist() == [0.25]  # 5 of 20 wrong, divided or not
