"""Hostile cells and targets, through fit, predict, save and load: the model is right, or one error names the place."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import treewright as tw
from treewright.exceptions import DataError, DataWarning, ParameterError, TreewrightError
from treewright.trees.check import check_tree

NAN, INF = np.nan, np.inf
BOTH = [tw.DecisionTreeClassifier, tw.DecisionTreeRegressor]


def saved_and_loaded(estimator, folder):
    """The model as it comes back from its file."""
    estimator.save(folder / "model.tw")
    return tw.load(folder / "model.tw")


def same_tree(first, second):
    """Whether two trees are the same, array by array, to the last bit."""
    return all(getattr(first, name).tobytes() == getattr(second, name).tobytes() for name in first.__dataclass_fields__)


@pytest.mark.parametrize("kind", BOTH)
def test_a_missing_cell_takes_the_learned_side_also_after_saving(kind, tmp_path):
    X = np.array([[1.0], [2.0], [8.0], [9.0], [NAN], [NAN]])
    tree = kind().fit(X, [0, 0, 1, 1, 1, 1])

    model = saved_and_loaded(tree, tmp_path)

    for predictor in (tree, model):
        assert predictor.predict(np.array([[NAN], [1.5], [8.5]])).tolist() == [1, 0, 1]
    assert model.predict_one([NAN]) == 1


def test_a_column_that_is_missing_only_at_predict_gives_one_warning_that_names_it(tmp_path):
    table = pd.DataFrame({"age": [1.0, 2.0, 8.0], "price": [5.0, 5.0, 5.0]})
    tree = tw.DecisionTreeClassifier().fit(table, [0, 1, 1])

    for predictor in (tree, saved_and_loaded(tree, tmp_path)):
        with pytest.warns(DataWarning, match="'age'") as caught:
            found = predictor.predict(pd.DataFrame({"age": [NAN], "price": [5.0]}))
        assert len(caught) == 1
        assert found.tolist() == [1]  # two rows of three went that way


def test_infinite_values_are_ordered_ends_with_finite_thresholds(tmp_path):
    X = np.array([[-INF], [-1e308], [1e308], [INF]])
    tree = tw.DecisionTreeClassifier().fit(X, list("abcd"))

    thresholds = tree.tree_.threshold[tree.tree_.kind == 1]

    assert np.isfinite(thresholds).all()
    assert tree.predict(X).tolist() == list("abcd")
    assert saved_and_loaded(tree, tmp_path).predict(X).tolist() == list("abcd")


@pytest.mark.parametrize("pair", [(-INF, INF), (INF, 0.0), (0.0, -INF), (5e-324, 0.0), (-1.7e308, 1.7e308)])
def test_two_extreme_values_are_told_apart(pair):
    X = np.array(pair)[:, None]
    tree = tw.DecisionTreeRegressor().fit(X, [1.0, 2.0])

    assert tree.predict(X).tolist() == [1.0, 2.0]
    assert np.isfinite(tree.tree_.threshold[0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("value", [1.0, -1.0, 1e-300, 0.0, 3e38, 0.1])
def test_values_one_step_apart_are_told_apart(value, dtype):
    low = dtype(value)
    X = np.array([[low], [np.nextafter(low, dtype(INF))]], dtype)
    tree = tw.DecisionTreeClassifier().fit(X, ["below", "above"])

    assert tree.tree_.n_samples.tolist() == [2, 1, 1]
    assert tree.predict(X).tolist() == ["below", "above"]


def test_minus_zero_is_zero():
    X = np.array([[-0.0, 1.0], [0.0, 2.0], [-0.0, 1.0], [0.0, 2.0]])
    tree = tw.DecisionTreeClassifier().fit(X, [0, 1, 1, 0])

    assert tree.tree_.feature.tolist() == [1, -1, -1]


def test_extreme_cells_in_one_column_stay_in_order():
    values = np.array([-1.7e308, -1e40, -5e-324, 0.0, 5e-324, 1e40, 1.7e308])
    tree = tw.DecisionTreeRegressor().fit(values[:, None], np.arange(7.0))

    assert tree.predict(values[:, None]).tolist() == list(range(7))


@pytest.mark.parametrize("kind", BOTH)
def test_a_column_without_values_is_never_used(kind, tmp_path):
    X = np.column_stack([np.full(6, NAN), np.arange(6.0)])
    tree = kind().fit(X, [0, 1, 0, 1, 0, 1])

    assert tree.feature_importances_.tolist() == [0.0, 1.0]
    assert tree.predict(X).tolist() == [0, 1, 0, 1, 0, 1]
    assert saved_and_loaded(tree, tmp_path).predict(X).tolist() == [0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    "X", [np.ones((4, 2)), np.full((4, 1), NAN), [["a", 1.0]] * 4, np.array([[1, NAN]] * 4)], ids=str
)
def test_constant_columns_give_one_leaf_and_a_warning(kind, X, tmp_path):
    with pytest.warns(DataWarning, match="every column is constant") as caught:
        tree = kind().fit(X, [1, 1, 1, 0])

    assert caught[0].filename == __file__
    assert tree.get_n_leaves() == 1
    assert tree.feature_importances_.sum() == 0.0
    assert tree.predict(X).tolist() == ([1] * 4 if kind is tw.DecisionTreeClassifier else [0.75] * 4)
    assert "0.75" in tree.show() or "75" in tree.show() or "1" in tree.show()
    assert saved_and_loaded(tree, tmp_path).predict(X).tolist() == tree.predict(X).tolist()


def test_a_constant_target_is_predicted_exactly_and_without_a_warning():
    value = 0.1 + 0.2
    tree = tw.DecisionTreeRegressor().fit(np.arange(9.0)[:, None], np.full(9, value))

    assert tree.get_n_leaves() == 1
    assert tree.predict([[4.0]]).tolist() == [value]


def test_present_or_missing_is_a_split():
    X = np.array([[0.0], [0.0], [0.0], [NAN], [NAN]])
    tree = tw.DecisionTreeClassifier().fit(X, ["here", "here", "here", "gone", "gone"])

    assert tree.get_n_leaves() == 2
    assert tree.predict(X).tolist() == ["here", "here", "here", "gone", "gone"]


@pytest.mark.parametrize("kind", BOTH)
def test_a_thousand_copies_are_a_weight_of_a_thousand(kind):
    X = np.array([[1.0], [1.0], [2.0], [3.0], [3.0]])
    y = np.array([0, 1, 1, 0, 0])

    copied = kind().fit(np.repeat(X, 1000, axis=0), np.repeat(y, 1000))
    weighted = kind().fit(X, y, np.full(5, 1000.0))

    assert same_tree_but_for_counts(copied.tree_, weighted.tree_)
    assert copied.model_.predict(X).tobytes() == weighted.model_.predict(X).tobytes()
    if kind is tw.DecisionTreeClassifier:
        assert copied.predict_proba([[1.0]]).tolist() == [[0.5, 0.5]]


def same_tree_but_for_counts(first, second):
    """Whether two trees are the same but for the numbers of rows, to a few roundings where numbers are computed."""
    exact = ("kind", "feature", "threshold", "first_child", "n_branches", "missing_branch", "levels_left", "weight")
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in exact) and np.allclose(
        first.value, second.value, rtol=1e-12, atol=0
    )


@pytest.mark.parametrize("scale", [1e300, 1e-300, 1e150, -1e300])
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_targets_of_any_size_give_the_same_structure(scale, criterion):
    X, y = np.arange(8.0)[:, None], np.array([1.0, 1.0, 2.0, 2.0, 5.0, 5.0, 5.5, 5.5])
    plain = tw.DecisionTreeRegressor(criterion=criterion).fit(X, y)

    tree = tw.DecisionTreeRegressor(criterion=criterion).fit(X, y * scale)

    assert tree.tree_.threshold.tolist() == plain.tree_.threshold.tolist()
    np.testing.assert_allclose(tree.predict(X), y * scale, rtol=1e-12)
    assert np.isfinite(tree.tree_.impurity).all()


def test_a_huge_mean_does_not_hide_a_small_variance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = 1e9 + 1e-3 * (X[:, 1] > 0)

    tree = tw.DecisionTreeRegressor(max_depth=1).fit(X, y)

    assert tree.tree_.feature[0] == 1
    np.testing.assert_allclose(tree.predict(X) - 1e9, y - 1e9, atol=1e-6)  # a float64 near 1e9 has steps of 1.2e-7


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, -1, 0, -2], r"y has 2 negative value\(s\) \(first row 1: -1\)"),
        ([0, 0, 0, 0], "y is zero throughout"),
    ],
)
def test_poisson_refuses_what_has_no_deviance(y, message):
    with pytest.raises(DataError, match=message):
        tw.DecisionTreeRegressor(criterion="poisson").fit(np.arange(4.0)[:, None], y)


def test_poisson_takes_zeros_beside_counts():
    X = np.arange(6.0)[:, None]
    tree = tw.DecisionTreeRegressor(criterion="poisson").fit(X, [0, 0, 0, 4, 5, 6])

    assert np.isfinite(tree.tree_.impurity).all()
    assert (tree.predict(X) >= 0).all()


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_a_target_that_is_no_number_is_refused_with_its_row(kind, bad):
    with pytest.raises(DataError, match=r"\by\b.*row 2"):
        kind().fit(np.arange(4.0)[:, None], np.array([0.0, 1.0, bad, 0.0]))


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("p", [0, 1])
def test_tiny_tables_give_a_model_or_one_error(kind, n, p):
    X, y = np.arange(n * p, dtype=float).reshape(n, p), np.arange(n)
    if not n or not p:
        with pytest.raises(DataError, match=r"Found array with 0 (sample|feature)\(s\)"):
            kind().fit(X, y)
        return

    tree = kind().fit(X, y)

    assert tree.predict(X).tolist() == y.tolist()
    check_tree(tree.tree_, tree.model_.schema, tree.tree_.value.shape[1])


@pytest.mark.parametrize("kind", BOTH)
def test_no_rows_at_predict_give_no_rows(kind):
    tree = kind().fit([[0.0], [1.0]], [0, 1])
    nothing = np.empty((0, 1))

    assert tree.predict(nothing).shape == (0,)
    assert tree.predict(nothing).dtype == tree.predict([[0.0]]).dtype
    assert tree.apply(nothing).shape == (0,)
    assert tree.decision_path(nothing).shape == (0, 3)
    if kind is tw.DecisionTreeClassifier:
        assert tree.predict_proba(nothing).shape == (0, 2)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("X", "message"), [(np.arange(4.0), "Expected 2D array|1"), (np.zeros((2, 2, 2)), "3"), (5.0, "0")]
)
def test_tables_of_other_dimensions_are_refused(kind, X, message):
    with pytest.raises(DataError, match=message):
        kind().fit(X, [0, 1, 0, 1])


@pytest.mark.parametrize("kind", BOTH)
def test_lengths_that_differ_are_refused_with_both_numbers(kind):
    with pytest.raises(DataError, match=r"X has 3 rows and y has 2"):
        kind().fit([[1], [2], [3]], [0, 1])
    with pytest.raises(DataError, match=r"\(2,\), expected \(3,\)"):
        kind().fit([[1], [2], [3]], [0, 1, 0], sample_weight=[1, 2])


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("criterion", "ginny"), ("criterion", None), ("max_depth", 0), ("max_depth", -1), ("max_depth", 2.5),
        ("max_depth", NAN), ("min_samples_split", 1), ("min_samples_split", 0.0), ("min_samples_split", 1.5),
        ("min_samples_split", NAN), ("min_samples_leaf", 0), ("min_samples_leaf", 1.0), ("min_samples_leaf", None),
        ("min_weight_fraction_leaf", 0.6), ("min_weight_fraction_leaf", -0.1), ("min_weight_fraction_leaf", NAN),
        ("max_features", 0), ("max_features", 0.0), ("max_features", 1.1), ("max_features", "auto"),
        ("random_state", -1), ("random_state", "now"), ("max_leaf_nodes", 1), ("max_leaf_nodes", 2.0),
        ("min_impurity_decrease", -1e-9), ("min_impurity_decrease", NAN), ("ccp_alpha", -1.0), ("ccp_alpha", NAN),
        ("monotonic_cst", 3), ("monotonic_cst", [2]), ("monotonic_cst", [0, 1]), ("monotonic_cst", {"no": 1}),
        ("ccp_alpha", INF), ("min_impurity_decrease", INF),
        ("nominal", 5), ("ordinal", ["x0"]), ("numeric", 1.5), ("unseen", "drop"), ("n_jobs", 0), ("n_jobs", 1.5),
        ("n_jobs", "all"),
    ],
)  # fmt: skip
def test_a_parameter_out_of_range_is_named(kind, name, value):
    with pytest.raises(ParameterError, match=name) as caught:
        kind(**{name: value}).fit([[1.0], [2.0]], [0, 1])
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_leaf_nodes", 2**63), ("max_depth", 2**63), ("min_samples_leaf", 2**63), ("min_samples_split", 2**63),
        ("max_features", 2**63), ("n_jobs", 2**63), ("n_jobs", -(2**63)), ("min_impurity_decrease", 1e308),
        ("ccp_alpha", 1e308), ("random_state", 2**32 - 1),
        ("max_depth", np.int8(3)), ("min_samples_leaf", 5e-324), ("min_samples_split", 1.0), ("n_jobs", np.int64(1)),
    ],
)  # fmt: skip
def test_a_parameter_at_the_end_of_its_range_is_legal(kind, name, value, tmp_path):
    X, y = np.arange(6.0)[:, None], [0, 0, 1, 1, 2, 2]

    tree = kind(**{name: value}).fit(X, y)

    check_tree(tree.tree_, tree.model_.schema, tree.tree_.value.shape[1])
    assert saved_and_loaded(tree, tmp_path).predict(X).tobytes() == tree.predict(X).tobytes()


def test_class_weights_out_of_range_are_refused():
    for weight in ({0: -1.0, 1: 1.0}, {0: NAN, 1: 1.0}, {0: "x"}, {0: 0.0, 1: 0.0}, [{0: 1}, {0: 1}], ["even"], "even"):
        with pytest.raises(TreewrightError, match="class_weight"):
            tw.DecisionTreeClassifier(class_weight=weight).fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize(("factor", "weights"), [(1e200, [1e200, 1e200]), (1e-200, [1e-200, 1e-200])])
def test_class_weights_times_row_weights_stay_within_numbers(factor, weights):
    tree = tw.DecisionTreeClassifier(class_weight={0: factor, 1: factor})

    with pytest.raises(TreewrightError, match="class_weight times sample_weight"):
        tree.fit([[1.0], [2.0]], [0, 1], sample_weight=weights)


def test_a_class_weight_for_a_class_that_a_fold_lacks_is_only_a_warning():
    tree = tw.DecisionTreeClassifier(class_weight={0: 1.0, 1: 1.0, 2: 5.0})

    with pytest.warns(DataWarning, match=r"does not hold: \[2\]"):
        tree.fit([[1.0], [2.0]], [0, 1])

    assert tree.predict([[1.0], [2.0]]).tolist() == [0, 1]


def test_a_pandas_series_is_one_row_by_its_names():
    pd = pytest.importorskip("pandas")
    tree = tw.DecisionTreeClassifier().fit(pd.DataFrame({"a": [0.0, 1, 2, 3], "b": [5.0] * 4}), [0, 0, 1, 1])

    assert tree.model_.predict_one(pd.Series({"b": 5.0, "a": 0.0})) == 0


@pytest.mark.parametrize("kind", BOTH)
def test_a_failed_fit_leaves_the_fitted_state_as_it_was(kind):
    X, y = np.arange(6.0)[:, None], [0, 0, 1, 1, 0, 0]
    tree = kind().fit(X, y)
    before = dict(tree.__dict__)

    with pytest.raises(DataError):
        tree.fit(X, [0, 1])
    with pytest.raises(DataError):
        tree.fit(np.array([["a", 1], [{}, 2]], object), [0, 1])

    assert tree.__dict__ == before


def test_every_target_column_left_in_the_table_is_noticed():
    rng = np.random.default_rng(0)
    noise, numbers = rng.normal(size=40), rng.normal(size=40)
    labels = np.where(numbers > 0, "yes", "no")
    answer = pd.DataFrame({"noise": noise, "answer": numbers})

    with pytest.warns(DataWarning, match="'answer' equals y"):
        tw.DecisionTreeRegressor().fit(answer, numbers)
    with pytest.warns(DataWarning, match="'answer' equals y"):
        tw.DecisionTreeClassifier().fit(answer.assign(answer=labels), labels)
    with pytest.warns(DataWarning, match="'answer' equals y"):
        tw.DecisionTreeClassifier().fit(answer.assign(answer=numbers > 0), numbers > 0)
    with pytest.warns(DataWarning, match="'answer' equals y"):
        tw.DecisionTreeClassifier().fit(answer.assign(answer=(numbers > 0) * 2 + 3), (numbers > 0) * 2 + 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        almost = numbers.copy()
        almost[-1] += 1e-9
        tw.DecisionTreeRegressor().fit(answer, almost)


def test_same_tree_can_tell_trees_apart():
    X, y = np.arange(4.0)[:, None], [0, 0, 1, 1]

    assert not same_tree(tw.DecisionTreeRegressor().fit(X, y).tree_, tw.DecisionTreeRegressor().fit(X + 1, y).tree_)
