"""Importances of one tree: the same shuffles as everywhere, what counts, what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

import treewright as tw
from treewright.exceptions import DataError, ParameterError

X, Y = load_iris(return_X_y=True)
TREE = tw.DecisionTreeClassifier(max_depth=3).fit(X[::2], Y[::2])
OTHERS = X[1::2], Y[1::2]


def test_impurity_importances_are_the_attribute():
    found = TREE.importances()

    assert found.values.tolist() == TREE.feature_importances_.tolist()
    assert str(found).startswith("share of the impurity that splits removed, on the training rows (impurity)\ncolumn")


def test_a_column_that_is_not_asked_costs_nothing_and_others_cost_what_the_errors_rise_by():
    found = TREE.importances("permutation", *OTHERS, n_repeats=400)
    asked = {test for test in TREE.tree_.feature.tolist() if test >= 0}

    assert [at for at in range(4) if found.values[at]] == sorted(asked - {at for at in asked if not found.values[at]})
    assert all(found.values[at] == 0.0 for at in set(range(4)) - asked)
    column = int(found.order[0])
    rng, errors = np.random.default_rng(0), []
    for _ in range(400):
        table = OTHERS[0].copy()
        table[:, column] = rng.permutation(table[:, column])
        errors.append(np.mean(TREE.predict(table) != OTHERS[1]) - np.mean(TREE.predict(OTHERS[0]) != OTHERS[1]))
    spread = np.hypot(found.standard_errors[column], np.std(errors) / 20)
    assert abs(found.values[column] - np.mean(errors)) < 4 * spread


def test_numbers_are_judged_by_their_squared_error():
    table, target = load_diabetes(return_X_y=True)
    tree = tw.DecisionTreeRegressor(max_depth=1).fit(table, target)
    found = tree.importances("permutation", table, target, n_repeats=3, random_state=5)
    asked = int(tree.tree_.feature[0])

    assert str(found).splitlines()[0] == "increase of the squared error when the column is shuffled (permutation)"
    assert "mean over 3 shuffles" in str(found)
    # Of a shuffled column the answers are as far from the targets as chance puts them: twice the variance explained.
    explained = np.var(tree.predict(table))
    assert 1.2 * explained < found.values[asked] < 2.8 * explained


def test_the_same_seed_gives_the_same_bytes_and_weights_count():
    first, again = (TREE.importances("permutation", *OTHERS, random_state=3) for _ in range(2))
    other = TREE.importances("permutation", *OTHERS, random_state=4)
    weighed = TREE.importances("permutation", *OTHERS, random_state=3, sample_weight=(OTHERS[1] == 0) + 0.0)

    assert first.values.tobytes() == again.values.tobytes() != other.values.tobytes()
    assert weighed.values.tolist() != first.values.tolist()


def test_a_surrogate_makes_its_column_count():
    rng = np.random.default_rng(0)
    first = rng.normal(size=300)
    table = np.stack([first, first + 0.01 * rng.normal(size=300)], axis=1)
    label = (first > 0).astype(int)
    tree = tw.DecisionTreeClassifier(missing="surrogate", max_depth=1).fit(table, label)
    asked = int(tree.tree_.feature[0])
    gaps = table.copy()
    gaps[:, asked] = np.nan

    with pytest.warns(tw.exceptions.DataWarning):
        found = tree.importances("permutation", gaps, label)

    assert found.values[asked] == 0.0
    assert found.values[1 - asked] > 0.3


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("gain",), "kind='gain': choose from 'impurity', 'permutation'"),
        (("permutation",), "needs rows"),
        (("permutation", *OTHERS[:1]), "needs rows"),
        (("impurity", *OTHERS), "leave X and y out"),
    ],
)
def test_what_makes_no_sense_is_refused(given, told):
    with pytest.raises(ParameterError, match=told):
        TREE.importances(*given)


def test_errors_beyond_float64_are_refused():
    tree = tw.DecisionTreeRegressor().fit([[0.0], [1.0]], [-1e200, 1e200])

    with pytest.raises(DataError, match="beyond float64"):
        tree.importances("permutation", [[0.0], [1.0]], [1e200, -1e200])
    with pytest.raises(DataError, match="a column shuffled is beyond float64"):
        tree.importances("permutation", [[0.0], [1.0]], [-1e200, 1e200])
