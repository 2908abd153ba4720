"""scikit-learn grows the same trees where the best split is unique, and never a better split."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from treewright.data.schema import Column, Schema
from treewright.grow.exact.grower import grow
from treewright.grow.objective import classification_objective, regression_objective
from treewright.grow.settings import GrowSettings
from treewright.trees.arrays import LEAF, Tree
from treewright.trees.class_criteria import CLASSIFICATION_CRITERIA

N_ROWS, N_COLUMNS = 250, 4
LIMITS = (
    {},
    {"max_depth": 3},
    {"min_samples_split": 20},
    {"min_samples_leaf": 7},
    {"max_leaf_nodes": 9},
    {"min_impurity_decrease": 0.005},
    {"min_weight_fraction_leaf": 0.0312},
    {"max_leaf_nodes": 12, "min_samples_leaf": 3},
)
rng = np.random.default_rng(1)
X = rng.normal(size=(N_ROWS, N_COLUMNS)).astype(np.float32)  # scikit-learn splits float32 cells
WITH_GAPS = np.where(rng.random(X.shape) < 0.15, np.float32(np.nan), X)
WEIGHTS = {
    "none": None,
    "whole": rng.integers(1, 4, N_ROWS).astype(float),
    "real": rng.uniform(0.1, 3.0, N_ROWS),
}
NUMBERS = np.column_stack([3 * X[:, 0] + rng.normal(size=N_ROWS), X[:, 1] - X[:, 2] + rng.normal(size=N_ROWS)])
COUNTS = 1.0 + rng.poisson(np.exp(X[:, 0]))
TWO = (X[:, 0] * X[:, 1] + rng.normal(size=N_ROWS) > 0).astype(np.int32)
THREE = (X[:, 0] + rng.normal(size=N_ROWS) > 0).astype(np.int32) + (X[:, 1] > 0.5)


def ours(matrix, y, weights, criterion, **limits) -> Tree:
    """A tree of the grower on numeric columns."""
    schema = Schema(tuple(Column(f"x{at}", "numeric") for at in range(matrix.shape[1])))
    columns = np.ascontiguousarray(y.reshape(len(y), -1))
    if criterion in CLASSIFICATION_CRITERIA:
        n_classes = [int(column.max()) + 1 for column in columns.T]
        objective = classification_objective(columns.astype(np.int32), n_classes, weights, criterion)
    else:
        objective = regression_objective(columns.astype(np.float64), weights, criterion)
    return grow(matrix, schema, objective, GrowSettings(criterion, **limits))


def theirs(matrix, y, weights, criterion, **limits):
    kind = DecisionTreeClassifier if criterion in CLASSIFICATION_CRITERIA else DecisionTreeRegressor
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # absolute error announces that it is slow
        return kind(criterion=criterion, random_state=0, **limits).fit(matrix, y, sample_weight=weights)


def rows_of_nodes(tree: Tree, matrix: np.ndarray) -> list[np.ndarray]:
    """Rows that pass through each node."""
    rows = [np.arange(len(matrix))] + [np.empty(0, int)] * (tree.n_nodes - 1)
    for at in np.flatnonzero(tree.kind != LEAF):
        cells = matrix[rows[at], tree.feature[at]]
        branch = np.where(np.isnan(cells), tree.missing_branch[at], cells > tree.threshold[at])
        for side in range(2):
            rows[tree.first_child[at] + side] = rows[at][branch == side]
    return rows


def leaves(tree: Tree, matrix: np.ndarray) -> np.ndarray:
    """The leaf of each row."""
    result = np.zeros(len(matrix), int)
    for at, rows in enumerate(rows_of_nodes(tree, matrix)):
        if tree.kind[at] == LEAF:
            result[rows] = at
    return result


def same_parts(first: np.ndarray, second: np.ndarray) -> bool:
    return len(set(zip(first.tolist(), second.tolist(), strict=True))) == len(set(first)) == len(set(second))


def decrease(impurity, weight, left, right) -> float:
    """Impurity of the root less that of its two children."""
    return float(impurity[0] - (impurity[left] * weight[left] + impurity[right] * weight[right]) / weight[0])


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_squared_error_on_continuous_targets_gives_the_very_same_tree(weights, limits, n_outputs) -> None:
    y = NUMBERS[:, :n_outputs].squeeze()

    tree = ours(X, y, WEIGHTS[weights], "squared_error", **limits)
    other = theirs(X, y, WEIGHTS[weights], "squared_error", **limits)

    at = leaves(tree, X)
    assert same_parts(at, other.apply(X))
    np.testing.assert_allclose(tree.value[at].squeeze(), other.predict(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(tree.impurity[at], other.tree_.impurity[other.apply(X)], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("direction", [(1, 1, 1, 1), (-1, 1, -1, 1), (1, 1, -1, -1)])
@pytest.mark.parametrize("limits", [{}, {"max_depth": 4}, {"min_samples_leaf": 5}], ids=str)
def test_monotone_squared_error_gives_the_very_same_tree(direction, limits) -> None:
    """With every column constrained: in the others scikit-learn splits beyond the bounds and clips the values."""
    y = NUMBERS[:, 0]

    tree = ours(X, y, None, "squared_error", monotone=direction, **limits)
    other = theirs(X, y, None, "squared_error", monotonic_cst=direction, **limits)

    assert same_parts(leaves(tree, X), other.apply(X))


TARGETS = {
    "gini of two": (TWO, "gini"),
    "gini of three": (THREE, "gini"),
    "gini of two outputs": (np.column_stack([TWO, THREE]), "gini"),
    "entropy of two": (TWO, "entropy"),
    "entropy of three": (THREE, "entropy"),
    "poisson": (COUNTS, "poisson"),
    "absolute error": (NUMBERS[:, 0], "absolute_error"),
    "squared error": (NUMBERS[:, 0], "squared_error"),
}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("limits", [{}, {"min_samples_leaf": 7}], ids=str)
@pytest.mark.parametrize(
    ("target", "gaps"),
    # scikit-learn refuses missing values with absolute error.
    [(target, gaps) for target in TARGETS for gaps in (False, True) if not (gaps and target == "absolute error")],
)
def test_no_node_has_a_better_split_in_scikit_learn(target, weights, limits, gaps) -> None:
    """scikit-learn breaks ties at random, so the trees may differ; the gain of each node's split may not."""
    y, criterion = TARGETS[target]
    matrix, weight = (WITH_GAPS if gaps else X), WEIGHTS[weights]

    tree = ours(matrix, y, weight, criterion, max_depth=4, **limits)

    for at, rows in enumerate(rows_of_nodes(tree, matrix)):
        if tree.kind[at] == LEAF:
            continue
        child = tree.first_child[at]
        gain = tree.impurity[at] - tree.impurity[child : child + 2] @ tree.weight[child : child + 2] / tree.weight[at]
        stump = theirs(
            matrix[rows], y[rows], None if weight is None else weight[rows], criterion, max_depth=1, **limits
        )
        inner = stump.tree_
        assert inner.node_count == 3
        best = decrease(inner.impurity, inner.weighted_n_node_samples, 1, 2)
        assert gain == pytest.approx(best, rel=1e-9, abs=1e-9)


def test_iris_at_depth_two_is_the_tree_of_the_lecture_notes() -> None:
    iris = load_iris()
    petals = iris.data[:, 2:].astype(np.float32)

    tree = ours(petals, iris.target, None, "gini", max_depth=2)

    np.testing.assert_array_equal(tree.feature, [0, -1, 1, -1, -1])
    np.testing.assert_allclose(tree.threshold[[0, 2]], [2.45, 1.75], rtol=1e-6)
    np.testing.assert_array_equal(tree.value[[1, 3, 4]], [[50, 0, 0], [0, 49, 5], [0, 1, 45]])
    np.testing.assert_allclose(tree.impurity, [0.6667, 0.0, 0.5, 0.168, 0.0425], atol=5e-5)
