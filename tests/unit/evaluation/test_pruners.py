"""One tree under every pruner."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

import treewright as tw
from treewright.evaluation.folds import rows_in_two
from treewright.evaluation.pruning import DEFAULT, PrunedResult, PrunerTable
from treewright.exceptions import DataError, DataWarning, ParameterError

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


def row(method, n_leaves, valid_error, standard_error=0.02):
    return PrunedResult(method, n_leaves, 3, 0, 0.0, valid_error, standard_error, None)


def test_the_best_is_the_smallest_within_one_standard_error():
    rows = (row("least", 9, 0.10), row("near", 4, 0.119, 0.5), row("small", 2, 0.121), row("larger", 7, 0.11))

    table = PrunerTable(rows, {}, 100, "misclassification rate")

    assert table.best.method == "near"


def test_of_equal_trees_the_one_of_less_error_is_the_best():
    table = PrunerTable((row("one", 4, 0.11), row("other", 4, 0.10)), {}, 100, "misclassification rate")

    assert table.best.method == "other"


def test_a_standard_error_has_the_decimals_of_its_error():
    rows = (row("a", 9, 6801.2, 946.31), row("b", 4, 0.0614, 0.02237), row("c", 1, 0.0, 0.0), row("d", 1, 5e-9, 1e-9))

    words = [line.split()[-2:] for line in str(PrunerTable(rows, {}, 100, "error")).splitlines()[2:]]

    assert words == [["6801", "946"], ["0.0614", "0.0224"], ["0", "0"], ["5e-09", "1e-09"]]


def test_the_table_is_what_a_notebook_shows():
    table = PrunerTable((row("one", 4, 0.11),), {}, 100, "misclassification rate")

    assert repr(table) == str(table)


def test_methods_without_meaning_for_numbers_are_named_and_left_out():
    X, y = load_diabetes(return_X_y=True)

    table = compare_pruning(tw.DecisionTreeRegressor(), X[::2], y[::2], X[1::2], y[1::2])

    assert set(table.undefined) == {"pessimistic", "error_based"}
    assert table.error == "mean squared error"
    assert "\nerror_based: counts" in str(table)
    assert "\npessimistic: counts" in str(table)
    judged, _ = rows_in_two(y[1::2], 0.5, 0, is_classification=False)
    row = table["ccp_1se"]
    assert row.valid_error == pytest.approx(((row.estimator.predict(X[1::2][judged]) - y[1::2][judged]) ** 2).mean())


def test_weights_count(halves):
    X, y, X_valid, y_valid = halves
    weights = np.where(y_valid == 1, 1.0, 5.0)

    table = compare_pruning(
        tw.DecisionTreeClassifier(), X, y, X_valid, y_valid, methods=["pessimistic"], valid_weight=weights
    )

    wrong = (table["pessimistic"].estimator.predict(X_valid) != y_valid).astype(float)
    error = np.average(wrong, weights=weights)
    assert table["pessimistic"].valid_error == pytest.approx(error)
    spread = np.sqrt((weights * (wrong - error) ** 2).sum()) / weights.sum()
    assert table["pessimistic"].standard_error == pytest.approx(spread, rel=1e-12)


def test_weights_of_the_fit_reach_growth_and_training_error(halves):
    X, y, X_valid, y_valid = halves
    weights = np.where(y == 1, 1.0, 5.0)

    table = compare_pruning(
        tw.DecisionTreeClassifier(max_depth=2), X, y, X_valid, y_valid, methods=["pessimistic"], sample_weight=weights
    )

    alone = tw.DecisionTreeClassifier(max_depth=2).fit(X, y, weights)
    assert table["unpruned"].estimator.show() == alone.show()
    assert table["unpruned"].train_error == pytest.approx(np.average(alone.predict(X) != y, weights=weights))


@pytest.mark.parametrize("unit", [1e200, 1e-200, 1e12])
def test_weights_of_any_size_give_a_finite_standard_error(halves, unit):
    X, y, X_valid, y_valid = halves
    weights = np.arange(len(y_valid)) % 3 + 1.0

    def judged(held):
        return compare_pruning(
            tw.DecisionTreeClassifier(max_depth=2), X, y, X_valid, y_valid, methods=["pessimistic"], valid_weight=held
        )["pessimistic"]

    with pytest.warns(DataWarning, match="compare_pruning treats weights") if unit < 1 else nullcontext():
        found = judged(weights * unit)
    plain = judged(weights)
    assert found.valid_error == pytest.approx(plain.valid_error)
    assert found.standard_error * np.sqrt(unit) == pytest.approx(plain.standard_error)


def test_a_target_beyond_float64_is_refused():
    X, y = load_diabetes(return_X_y=True)
    valid = y[100:140].copy()
    valid[0] = 1e200

    with pytest.raises(DataError, match="beyond float64"):
        compare_pruning(
            tw.DecisionTreeRegressor(max_depth=2), X[:100], y[:100], X[100:140], valid, methods=["significance"]
        )


def test_one_weight_for_all_rows_is_taken(halves):
    one, every = (
        compare_pruning(tw.DecisionTreeClassifier(max_depth=2), *halves, methods=["reduced_error"], valid_weight=w)
        for w in (2.0, None)
    )

    assert one["reduced_error"].valid_error == every["reduced_error"].valid_error


def test_the_standard_error_is_that_of_the_path(halves):
    X, y, X_valid, y_valid = halves
    weights = np.where(y_valid == 1, 1.0, 5.0)

    table = compare_pruning(
        tw.DecisionTreeClassifier(), X, y, X_valid, y_valid, methods=["pessimistic"], valid_weight=weights
    )

    path = tw.model_selection.pruning_path(
        tw.DecisionTreeClassifier(), X, y, cv=None, validation=(X_valid, y_valid, weights)
    )
    assert path.n_leaves[0] == table["unpruned"].n_leaves
    assert path.cv_error[0] == pytest.approx(table["unpruned"].valid_error, rel=1e-12)
    assert path.standard_error[0] == pytest.approx(table["unpruned"].standard_error, rel=1e-12)
    wrong = (table["pessimistic"].estimator.predict(X_valid) != y_valid).astype(float)
    spread = np.sqrt((weights * (wrong - np.average(wrong, weights=weights)) ** 2).sum()) / weights.sum()
    assert table["pessimistic"].standard_error == pytest.approx(spread, rel=1e-12)


def test_options_of_one_cross_validated_choice_are_not_those_of_the_other():
    X, y = load_wine(return_X_y=True)

    def leaves(methods, **options):
        return compare_pruning(tw.DecisionTreeClassifier(), X, y, X, y, methods=methods, options=options)["ccp_1se"]

    by_error, alone = leaves(["ccp_1se"], ccp_1se={"risk": "error"}), leaves(["ccp_1se"])
    beside = leaves(["ccp_min", "ccp_1se"], ccp_min={"risk": "error"})

    assert by_error.n_leaves != alone.n_leaves
    assert beside.n_leaves == alone.n_leaves


def test_the_table_prints_in_80_columns_and_gives_columns(table):
    assert max(map(len, str(table).splitlines())) <= 80
    assert table.to_dict()["method"][0] == "unpruned"


@pytest.mark.parametrize(
    ("changed", "error", "told"),
    [
        ({"methods": ["ccp"]}, ParameterError, "there is no pruning method 'ccp'"),
        ({"methods": ["leaves"], "options": {"leaves": {"max_leaves": 0}}}, ParameterError, "max_leaves=0"),
        ({"methods": ["leaves"]}, ParameterError, "leaves needs a value, such as max_leaves=8"),
        ({"methods": ["ccp_1se"], "options": {"ccp_1se": {"cv": 5}}}, ParameterError, "ccp_1se has no option 'cv'"),
        ({"methods": ["ccp_1se"], "options": {"ccp_1se": {"rule": "min"}}}, ParameterError, "has no option 'rule'"),
        ({"methods": ["ccp_min"], "options": {"ccp_min": {"alpha": 1}}}, ParameterError, "has no option 'alpha'"),
        ({"options": {"significance": 5}}, ParameterError, "give a mapping from method to a mapping"),
        ({"options": 5}, ParameterError, "options=5"),
        ({"options": "a"}, ParameterError, "options='a'"),
        ({"methods": None}, ParameterError, "methods=None: give a list of names"),
        ({"methods": 5}, ParameterError, "methods=5"),
        ({"methods": "pessimistic"}, ParameterError, "methods='pessimistic'"),
        ({"cv": None}, ParameterError, "cv=None: ccp_min and ccp_1se"),
        ({"random_state": 1.5}, ParameterError, "random_state=1.5"),
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
    with pytest.raises(ParameterError, match=r"DecisionTreeClassifier \(a class\): give a single-tree"):
        compare_pruning(tw.DecisionTreeClassifier, *halves)
