"""One tree under every pruner."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

import treewright as tw
from treewright.exceptions import DataError, ParameterError
from treewright.model_selection.pruned import rows_in_two
from treewright.model_selection.pruners import DEFAULT

compare_pruning = tw.model_selection.compare_pruning


@pytest.fixture(scope="module")
def halves():
    X, y = load_breast_cancer(return_X_y=True)
    return X[::2], y[::2], X[1::2], y[1::2]


@pytest.fixture(scope="module")
def table(halves):
    return compare_pruning(tw.DecisionTreeClassifier(), *halves)


def test_every_method_prunes_the_same_tree(table, halves):
    full = tw.DecisionTreeClassifier().fit(*halves[:2])

    assert [row.method for row in table] == ["unpruned", *DEFAULT]
    assert table["unpruned"].estimator.show() == full.show()
    for row in table:
        assert row.n_leaves == row.estimator.get_n_leaves()
        assert row.n_nodes_cut == full.tree_.n_nodes - row.estimator.tree_.n_nodes


def test_a_row_is_what_prune_gives(table, halves):
    full = tw.DecisionTreeClassifier().fit(*halves[:2])

    assert table["pessimistic"].estimator.show() == full.prune("pessimistic").show()
    assert table["error_based"].estimator.show() == full.prune("error_based", *halves[:2]).show()


def test_the_cross_validated_choices_are_those_of_the_path(table, halves):
    path = tw.model_selection.pruning_path(tw.DecisionTreeClassifier(), *halves[:2], rule="min")

    assert table["ccp_min"].estimator.show() == path.estimator.show()


def test_errors_are_measured_on_rows_that_pruned_nothing(table, halves):
    _, _, X, y = halves
    judged, to_prune = rows_in_two(y, 0.5, 0, is_classification=True)

    assert table.n_judged == len(judged)
    for row in table:
        wrong = row.estimator.predict(X[judged]) != y[judged]
        assert row.valid_error == pytest.approx(wrong.mean())
        assert row.standard_error == pytest.approx(wrong.std() / np.sqrt(len(judged)))
    by_hand = table["unpruned"].estimator.prune("reduced_error", X[to_prune], y[to_prune])
    assert table["reduced_error"].estimator.show() == by_hand.show()


def test_without_reduced_error_all_rows_judge(halves):
    table = compare_pruning(tw.DecisionTreeClassifier(), *halves, methods=["pessimistic"])

    assert table.n_judged == len(halves[3])


def test_the_best_is_the_smallest_within_one_standard_error(table):
    least = min(row.valid_error for row in table)

    assert table.best.valid_error <= least + max(row.standard_error for row in table)
    assert all(row.n_leaves >= table.best.n_leaves or row.valid_error > least for row in table)


def test_methods_without_meaning_for_numbers_are_named_and_left_out():
    X, y = load_diabetes(return_X_y=True)

    table = compare_pruning(tw.DecisionTreeRegressor(), X[::2], y[::2], X[1::2], y[1::2])

    assert set(table.undefined) == {"pessimistic", "error_based"}
    assert table.error == "mean squared error"
    assert "pessimistic: " in str(table)
    judged, _ = rows_in_two(y[1::2], 0.5, 0, is_classification=False)
    row = table["ccp_1se"]
    assert row.valid_error == pytest.approx(((row.estimator.predict(X[1::2][judged]) - y[1::2][judged]) ** 2).mean())


def test_weights_count(halves):
    X, y, X_valid, y_valid = halves
    weights = np.where(y_valid == 1, 1.0, 5.0)

    table = compare_pruning(
        tw.DecisionTreeClassifier(), X, y, X_valid, y_valid, methods=["pessimistic"], valid_weight=weights
    )

    wrong = table["pessimistic"].estimator.predict(X_valid) != y_valid
    assert table["pessimistic"].valid_error == pytest.approx(np.average(wrong, weights=weights))


def test_the_table_prints_in_80_columns_and_gives_columns(table):
    assert max(map(len, str(table).splitlines())) <= 80
    assert table.to_dict()["method"][0] == "unpruned"


@pytest.mark.parametrize(
    ("changed", "error", "told"),
    [
        ({"methods": ["ccp"]}, ParameterError, "there is no pruning method 'ccp'"),
        ({"methods": ["leaves"], "options": {"leaves": {"max_leaves": 0}}}, ParameterError, "max_leaves=0"),
        ({"methods": ["pessimistic"], "options": {"leaves": {}}}, ParameterError, "not among the methods"),
    ],
)
def test_wrong_words_are_refused(halves, changed, error, told):
    with pytest.raises(error, match=told):
        compare_pruning(tw.DecisionTreeClassifier(), *halves, **changed)


def test_validation_rows_that_do_not_fit_are_refused(halves):
    X, y, X_valid, y_valid = halves
    tree = tw.DecisionTreeClassifier()

    with pytest.raises(DataError, match="0 samples"):
        compare_pruning(tree, X, y, X_valid[:0], y_valid[:0])
    with pytest.raises(DataError, match="does not know"):
        compare_pruning(tree, X, y, X_valid, y_valid + 1)
    with pytest.raises(DataError, match="are all of class 1"):
        compare_pruning(tree, X, y, X_valid[y_valid == 1], y_valid[y_valid == 1])
    with pytest.raises(DataError, match="inconsistent"):
        compare_pruning(tree, X, y, X_valid, y_valid[:-1])


def test_an_estimator_that_cannot_be_pruned_is_refused(halves):
    from sklearn.tree import DecisionTreeClassifier

    with pytest.raises(ParameterError, match="single-tree estimator of treewright"):
        compare_pruning(DecisionTreeClassifier(), *halves)
