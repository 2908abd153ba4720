"""Importances of a forest are those of their slow twin."""

from __future__ import annotations

import naive_importance as twin
import numpy as np
import pytest

import treewright as tw

N = 90
rng = np.random.default_rng(5)
TABLE = {
    "number": [None if rng.random() < 0.1 else value / 4 for value in rng.integers(0, 30, N).tolist()],
    "word": rng.choice(["a", "b", "c", "d"], N).tolist(),
    "noise": rng.normal(size=N).tolist(),
    "constant": [1.0] * N,
}
SIGNAL = np.array([value or 0.0 for value in TABLE["number"]]) + 3.0 * (np.array(TABLE["word"]) == "b")
LABELS = np.array(["low", "middle", "high"])[np.digitize(SIGNAL + rng.normal(size=N), [2.0, 5.0])]
NUMBERS = SIGNAL + rng.normal(size=N) + 100.0
TWO_NUMBERS = np.column_stack([NUMBERS, -SIGNAL])
TWO_LABELS = np.column_stack([LABELS, np.array(TABLE["word"])])
WEIGHTS = rng.integers(1, 4, N) / 2

CASES = {
    "classes": (tw.RandomForestClassifier(n_estimators=7, random_state=3), LABELS),
    "entropy, hard votes": (tw.RandomForestClassifier(n_estimators=5, criterion="entropy", voting="hard"), LABELS),
    "two outputs of classes": (tw.RandomForestClassifier(n_estimators=4, max_depth=4), TWO_LABELS),
    "numbers": (tw.RandomForestRegressor(n_estimators=7, random_state=3), NUMBERS),
    "poisson": (tw.RandomForestRegressor(n_estimators=4, criterion="poisson", max_leaf_nodes=9), NUMBERS),
    "two outputs of numbers": (tw.RandomForestRegressor(n_estimators=4), TWO_NUMBERS),
    "extra trees": (tw.ExtraTreesRegressor(n_estimators=4, bootstrap=True), NUMBERS),
    "few rows, all but two drawn": (tw.RandomForestClassifier(n_estimators=3, max_samples=0.02), LABELS),
}


def summary_of(by_tree: list[list[float]]):
    """Means and standard errors."""
    table = np.array(by_tree)
    return table.mean(axis=0), table.std(axis=0, ddof=1) / np.sqrt(len(table))


def assert_same(found, by_tree):
    means, errors = summary_of(by_tree)
    assert found.n_trees == len(by_tree)
    np.testing.assert_allclose(found.values, means, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.standard_errors, errors, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("weighted", [False, True])
def test_shuffled_columns_cost_what_the_twin_says(case, weighted):
    forest, y = CASES[case]
    forest.fit(TABLE, y, WEIGHTS if weighted else None)
    weights = WEIGHTS if weighted else np.ones(N)

    assert_same(forest.importances("permutation", random_state=11), twin.permutation(forest, TABLE, y, weights, 11))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("weighted", [False, True])
def test_debiased_importances_are_the_mean_of_f_times_y_on_rows_left_out(case, weighted):
    forest, y = CASES[case]
    forest.fit(TABLE, y, WEIGHTS if weighted else None)
    weights = WEIGHTS if weighted else np.ones(N)

    assert_same(forest.importances("debiased"), twin.debiased(forest, TABLE, y, weights))


@pytest.mark.parametrize("class_weight", [{"low": 1, "high": 3}, "balanced", "balanced_subsample"])
def test_a_row_that_judges_weighs_with_its_class(class_weight):
    forest = tw.RandomForestClassifier(n_estimators=4, class_weight=class_weight).fit(TABLE, LABELS, WEIGHTS)
    by_class = dict(zip(forest.classes_.tolist(), forest.model_.facts["class_factors"][0], strict=True))
    weights = WEIGHTS * [by_class[label] for label in LABELS.tolist()]

    assert_same(forest.importances("permutation"), twin.permutation(forest, TABLE, LABELS, weights, 0))


def test_trees_on_the_cells_are_shuffled_as_the_twin_says():
    forest = tw.RandomForestRegressor(n_estimators=3, criterion="absolute_error").fit(TABLE, NUMBERS)

    assert_same(forest.importances("permutation"), twin.permutation(forest, TABLE, NUMBERS, np.ones(N), 0))


def test_other_rows_judge_every_tree():
    forest = tw.ExtraTreesClassifier(n_estimators=4).fit(
        {name: cells[:60] for name, cells in TABLE.items()}, LABELS[:60]
    )
    hold_out, y = {name: cells[60:] for name, cells in TABLE.items()}, LABELS[60:]
    found = forest.importances("permutation", hold_out, y, rows="all", random_state=2)

    assert_same(found, twin.permutation(forest, hold_out, y, np.ones(30), 2, all_rows=True))


def test_on_a_trees_own_rows_the_same_sums_are_the_decrease_of_impurity():
    forest = tw.RandomForestClassifier(n_estimators=5).fit(TABLE, LABELS)
    by_tree = np.array(twin.debiased(forest, TABLE, LABELS, np.ones(N), on_training_rows=True))

    np.testing.assert_allclose(
        by_tree / by_tree.sum(axis=1, keepdims=True), forest.model_.trees.importances, rtol=1e-6, atol=1e-9
    )
