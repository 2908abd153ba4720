"""Hostile tables for trees that grow node by node: the model is right, or one error names the place."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from rotating import few

import treewright as tw
from treewright.exceptions import DataError, DataWarning, MissingValueError
from treewright.trees.check_model import check_model

NAN, INF = np.nan, np.inf
KINDS = {
    "multiway": lambda: tw.DecisionTreeClassifier(nominal_splits="multiway"),
    "one against the rest": lambda: tw.DecisionTreeClassifier(nominal_splits="one_vs_rest", missing="branch"),
    "surrogates": lambda: tw.DecisionTreeClassifier(missing="surrogate"),
    "fractional": lambda: tw.DecisionTreeClassifier(missing="fractional", nominal_splits="multiway"),
    "gain ratio": lambda: tw.DecisionTreeClassifier(criterion="gain_ratio", missing="branch"),
    "numbers by branches": lambda: tw.DecisionTreeRegressor(nominal_splits="multiway", missing="branch"),
    "numbers in parts": lambda: tw.DecisionTreeRegressor(missing="fractional"),
    "medians": lambda: tw.DecisionTreeRegressor(criterion="absolute_error", missing="surrogate"),
    "C4.5": tw.C45Classifier,
    "unpruned C4.5": lambda: tw.C45Classifier(confidence=None, min_samples_leaf=1),
}


def fit_quietly(estimator, table, y, weights=None):
    """Fit where warnings of constant or empty columns are expected; the tree must keep its invariants."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        estimator.fit(table, y, weights)
    check_model(estimator.model_)
    return estimator


def predict_quietly(estimator, table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return estimator.predict(table)


@pytest.mark.parametrize("name", KINDS)
def test_a_column_without_any_value_is_never_asked(name):
    table = {"void": [None] * 6, "gap": [NAN] * 6, "x": [1.0, 2.0, 3.0, 7.0, 8.0, 9.0]}

    estimator = fit_quietly(KINDS[name](), table, [0, 0, 0, 1, 1, 1])

    assert estimator.tree_.feature[0] == 2
    assert predict_quietly(estimator, table).tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(
    "table",
    [{"x": [2.0] * 5, "c": ["one"] * 5}, {"void": [None] * 5}, {"c": ["one"] * 5}],
    ids=["constant", "void", "one level"],
)
def test_columns_that_tell_nothing_give_one_leaf(name, table):
    estimator = fit_quietly(KINDS[name](), table, [0, 1, 0, 0, 1])

    assert estimator.tree_.n_nodes == 1
    assert len(predict_quietly(estimator, table)) == 5


@pytest.mark.parametrize("name", KINDS)
def test_one_row_and_one_label_give_one_leaf(name):
    alone = fit_quietly(KINDS[name](), {"x": [1.0], "c": ["a"]}, [1])
    same = fit_quietly(KINDS[name](), {"x": [1.0, 2.0, 3.0], "c": ["a", None, "b"]}, [1, 1, 1])

    assert alone.tree_.n_nodes == same.tree_.n_nodes == 1
    assert predict_quietly(alone, {"x": [NAN, 5.0], "c": [None, "z"]}).tolist() == [1, 1]
    assert predict_quietly(same, {"x": [NAN, 5.0], "c": [None, "z"]}).tolist() == [1, 1]


@pytest.mark.parametrize("name", few(sorted(set(KINDS) - {"medians"}), 3))
def test_five_thousand_levels_predict_their_rows(name):
    n_levels = 5_000
    codes = np.arange(n_levels).repeat(2)
    table = {"c": [f"level {code:04d}" for code in codes], "x": (codes % 7).astype(float)}
    y = codes % 2

    estimator = KINDS[name]()
    if name in ("one against the rest", "gain ratio"):
        estimator.set_params(max_depth=3)
    elif name == "surrogates":  # by runs each level would be a leaf
        estimator.set_params(nominal_splits="subset")
    fit_quietly(estimator, table, y)
    found = predict_quietly(estimator, table)

    if name in ("multiway", "fractional", "numbers by branches"):
        assert found.tolist() == y.tolist()


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("factor", [1e-300, 1e-30, 1e30, 1e300])
def test_weights_of_any_size_give_the_same_tests(name, factor):
    """C4.5's limits are weights, so that only its invariants are looked at."""
    table = {"x": [1.0, 2.0, NAN, 7.0, 8.0, 9.0], "c": ["a", "b", "a", None, "b", "c"]}
    y, weights = [0, 0, 1, 1, 0, 1], np.array([1.0, 2.0, 1.0, 1.0, 2.0, 1.0])

    plain = fit_quietly(KINDS[name](), table, y, weights)
    scaled = fit_quietly(KINDS[name](), table, y, weights * factor)

    assert np.isfinite(scaled.tree_.value).all()
    assert np.isfinite(scaled.tree_.impurity).all()
    if "C4.5" not in name:
        assert scaled.tree_.feature.tolist() == plain.tree_.feature.tolist()
        assert predict_quietly(scaled, table) == pytest.approx(predict_quietly(plain, table), rel=1e-12)


@pytest.mark.parametrize("name", KINDS)
def test_rows_of_weight_zero_leave_no_trace_but_their_labels_and_levels(name):
    table = {"x": [1.0, 2.0, 3.0, 7.0, 8.0, 9.0], "c": ["a", "a", "b", "b", "c", "d"]}
    kept = {"x": table["x"][:5], "c": table["c"][:5]}
    levels = {"nominal": {"c": list("abcd")}}

    with_zero = fit_quietly(KINDS[name]().set_params(**levels), table, [0, 0, 1, 1, 1, 0], [1, 1, 1, 1, 1, 0])
    without = fit_quietly(KINDS[name]().set_params(**levels), kept, [0, 0, 1, 1, 1])

    for array in ("kind", "feature", "threshold", "first_child", "weight", "value", "level_branch", "levels_left"):
        np.testing.assert_array_equal(getattr(with_zero.tree_, array), getattr(without.tree_, array), err_msg=array)


@pytest.mark.parametrize("name", KINDS)
def test_infinite_numbers_are_the_ends_of_the_line(name):
    X = np.array([[-INF], [-1e308], [-1.0], [1.0], [1e308], [INF]])
    y = [0, 0, 0, 1, 1, 1]

    estimator = fit_quietly(KINDS[name](), X, y)

    assert np.isfinite(estimator.tree_.threshold).all()
    assert predict_quietly(estimator, X).tolist() == y


def test_cuts_between_infinities_are_finite():
    X = np.array([[-INF], [-INF], [INF], [INF]])

    for name in ("surrogates", "fractional", "gain ratio", "medians"):
        tree = fit_quietly(KINDS[name](), X, [0, 0, 1, 1]).tree_
        assert tree.threshold[0] == 0.0
        assert tree.n_nodes == 3


def test_a_chain_thousands_deep_with_surrogates_predicts_its_rows():
    """Labels that alternate along one column: the best cut takes one row from an end, node after node."""
    n = 3_001
    X = np.stack([np.arange(n, dtype=float), np.arange(n, dtype=float)], axis=1)
    X[::10, 1] = NAN
    y = np.arange(n) % 2

    estimator = fit_quietly(tw.DecisionTreeClassifier(missing="surrogate"), X, y)

    assert estimator.tree_.max_depth > 2_000
    assert len(estimator.tree_.surrogate_node)
    assert predict_quietly(estimator, X).tolist() == y.tolist()


@pytest.mark.parametrize("missing", few(["direction", "fractional", "branch"], 1))
def test_three_thousand_branches_part_their_rows(missing):
    """Each level has two rows, one of each label; below the first split ``x`` tells them apart."""
    codes = np.arange(3_000).repeat(2)
    table = {"id": [f"level {code:04d}" for code in codes], "x": np.tile([0.0, 1.0], 3_000)}
    table["id"][0] = None
    y = (codes % 2) ^ (np.arange(6_000) % 2)

    estimator = tw.DecisionTreeClassifier(nominal_splits="multiway", missing=missing, nominal=["id"])
    tree = fit_quietly(estimator, table, y).tree_

    assert tree.n_branches.max() == 3_000 + (missing == "branch")
    # The row without a level may join one where it contradicts a row; in part it is everywhere.
    assert missing == "fractional" or (predict_quietly(estimator, table) != y).sum() <= (missing == "direction")


@pytest.mark.parametrize("kind", [tw.DecisionTreeClassifier, tw.C45Classifier, tw.ID3Classifier])
def test_missing_cells_are_refused_by_name_row_and_count(kind):
    whole = {"c": ["a", "b", "a", "b"], "size": ["s", "s", "m", "l"]}
    gaps = {"c": ["a", "b", "a", "b"], "size": ["s", None, None, "l"]}
    y = [0, 1, 0, 1]

    with pytest.raises(MissingValueError) as at_fit:
        kind(missing="error").fit(gaps, y)
    estimator = kind(missing="error").fit(whole, y)
    with pytest.raises(MissingValueError) as at_predict:
        estimator.predict(gaps)
    with pytest.raises(MissingValueError) as at_one:
        estimator.model_.predict_one({"c": "a", "size": None})

    for error in (at_fit, at_predict):
        assert "'size'" in str(error.value)
        assert "2 missing" in str(error.value)
        assert "row 1" in str(error.value)
    assert "'size'" in str(at_one.value)
    assert any(word in str(at_predict.value) for word in ("fill", "drop", "choose"))


def test_a_row_without_any_cell_gets_the_shares_of_the_root_under_fractional():
    """Only where each column is asked of whole rows: then the leaves' shares, weighed, are the root's."""
    rng = np.random.default_rng(11)
    n = 200
    table = {"x": rng.random(n), "c": [str(code) for code in rng.integers(0, 5, n)]}
    y = rng.integers(0, 3, n)

    for kind in (tw.DecisionTreeClassifier(missing="fractional"), tw.C45Classifier(confidence=None)):
        estimator = fit_quietly(kind, table, y)
        with pytest.warns(DataWarning):
            shares = estimator.predict_proba({"x": [NAN], "c": [None]})[0]

        assert shares == pytest.approx(np.bincount(y) / n, rel=1e-12)


UNSEEN_TABLE = {"c": ["a", "a", "b", "b", "b", None]}


def test_a_level_never_seen_counts_as_missing():
    """The missing row's own branch says 2."""
    estimator = tw.DecisionTreeClassifier(nominal_splits="multiway", missing="branch")
    estimator.fit(UNSEEN_TABLE, [0, 0, 1, 1, 1, 2])

    assert estimator.predict({"c": ["zebra", None]}).tolist() == [2, 2]
    assert estimator.model_.predict_one({"c": "zebra"}) == 2


def test_a_level_never_seen_takes_the_heaviest_branch_under_majority():
    estimator = tw.DecisionTreeClassifier(nominal_splits="multiway", missing="branch", unseen="majority")
    estimator.fit(UNSEEN_TABLE, [0, 0, 1, 1, 1, 2])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        assert estimator.predict({"c": ["zebra"]}).tolist() == [1]
        assert estimator.model_.predict_one({"c": "zebra"}) == 1


def test_a_level_never_seen_is_an_error_that_names_it():
    estimator = tw.DecisionTreeClassifier(nominal_splits="multiway", missing="branch", unseen="error")
    estimator.fit(UNSEEN_TABLE, [0, 0, 1, 1, 1, 2])

    with pytest.raises(DataError) as caught:
        estimator.predict({"c": ["a", "zebra"]})
    assert "'c'" in str(caught.value)
    assert "zebra" in str(caught.value)


def test_a_level_never_seen_is_refused_as_missing_where_missing_is_an_error():
    estimator = tw.DecisionTreeClassifier(nominal_splits="multiway", missing="error")
    estimator.fit({"c": ["a", "a", "b"]}, [0, 0, 1])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        with pytest.raises(DataError, match="'c'"):
            estimator.predict({"c": ["zebra"]})
