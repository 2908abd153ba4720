"""Partial dependence: equal to scikit-learn's, where the grid lies, which rows are drawn, what is refused, printed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.inspection import partial_dependence as of_sklearn

import treewright as tw
from treewright.exceptions import DataError, ParameterError
from treewright.explain import partial_dependence as module
from treewright.explain.partial_dependence import drawn, spread_values

X, Y = load_iris(return_X_y=True)
TREE = tw.DecisionTreeClassifier().fit(X, Y)
RAIN = {"rain": [0, 1, 5, 9], "sun": [9, 7, 2, 1]}
CROPS = tw.DecisionTreeRegressor().fit(RAIN, [4.0, 4.0, 1.0, 1.0])
SKY = {"sky": ["sun", "rain", "sun", "fog", "rain", "sun"], "wind": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}
WALK = tw.DecisionTreeClassifier().fit(SKY, ["go", "stay", "go", "stay", "stay", "go"])

ESTIMATORS = {
    "tree": tw.DecisionTreeClassifier(min_samples_leaf=3),
    "forest": tw.RandomForestClassifier(12, random_state=0),
    "extra trees": tw.ExtraTreesClassifier(12, random_state=0),
    "boosting": tw.GradientBoostingClassifier(n_estimators=8, random_state=0),
    "bagging": tw.BaggingClassifier(n_estimators=4, random_state=0),
    "AdaBoost": tw.AdaBoostClassifier(n_estimators=4, random_state=0),
}
REGRESSORS = {
    "tree": tw.DecisionTreeRegressor(min_samples_leaf=5),
    "forest": tw.RandomForestRegressor(12, random_state=0),
    "boosting": tw.GradientBoostingRegressor(n_estimators=8, random_state=0),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_shares_are_those_of_scikit_learn_by_brute_force(name):
    est = ESTIMATORS[name].fit(X, Y)
    found = est.partial_dependence(X, 2, individual=9)
    theirs = of_sklearn(est, X, [2], custom_values={2: found.axes[0].cells}, method="brute", kind="both")

    np.testing.assert_allclose(found.values, theirs["average"], rtol=0, atol=1e-13)
    np.testing.assert_array_equal(found.individual, theirs["individual"][:, found.rows])


@pytest.mark.parametrize("name", REGRESSORS)
def test_numbers_are_those_of_scikit_learn_by_brute_force(name):
    table, target = load_diabetes(return_X_y=True)
    est, weights = REGRESSORS[name].fit(table, target), np.arange(len(target)) % 3 + 0.5
    found = est.partial_dependence(table, 2, sample_weight=weights, grid=7)
    theirs = of_sklearn(est, table, [2], custom_values={2: found.axes[0].cells}, method="brute", sample_weight=weights)

    np.testing.assert_allclose(found.values, theirs["average"], rtol=1e-12)


def test_two_columns_are_those_of_scikit_learn():
    found = TREE.partial_dependence(X, 2, 3, grid=(5, 4))
    grids = {column: axis.cells for column, axis in zip((2, 3), found.axes, strict=True)}
    theirs = of_sklearn(TREE, X, [2, 3], custom_values=grids, method="brute")

    assert found.values.shape == (3, 5, 4)
    np.testing.assert_allclose(found.values, theirs["average"], atol=1e-13)


def test_of_two_classes_the_second_is_told_and_label_chooses():
    second = WALK.partial_dependence(SKY, "sky")
    first = WALK.partial_dependence(SKY, "sky", label="go")

    assert (second.labels, first.labels) == (("stay",), ("go",))
    assert second.axes[0].values == ("fog", "rain", "sun")
    assert second.values.tolist() == [[1.0, 1.0, 0.0]]
    assert first.values.tolist() == [[0.0, 0.0, 1.0]]


def test_a_block_of_any_size_gives_the_same_bytes(monkeypatch):
    forest = tw.RandomForestClassifier(10, random_state=1).fit(X, Y)
    whole = forest.partial_dependence(X, 3, individual=5)
    for size in (1, 8 * X.size, 20 * 8 * X.size):
        monkeypatch.setattr(module, "BLOCK_BYTES", size)
        other = forest.partial_dependence(X, 3, individual=5)
        assert other.values.tobytes() == whole.values.tobytes()
        assert other.individual.tobytes() == whole.individual.tobytes()


def test_threads_change_no_bit_and_the_rows_stay_as_they_were():
    table = X.copy()
    forest = tw.RandomForestClassifier(10, random_state=1).fit(X, Y)
    one = forest.model_.partial_dependence(table, 2, n_jobs=1)
    two = forest.model_.partial_dependence(table, 2, n_jobs=2)

    assert one.values.tobytes() == two.values.tobytes()
    assert table.tobytes() == X.tobytes()


def test_float32_rows_are_set_to_the_number_itself():
    table = np.array([[0.0], [1.0]], np.float32)
    est = tw.DecisionTreeRegressor().fit([[0.1], [0.1000000001]], [0.0, 1.0])

    assert est.partial_dependence(table, 0, grid=[0.1, 0.1000000001]).values.tolist() == [[0.0, 1.0]]


def test_few_values_are_all_in_the_grid_and_of_many_so_many():
    assert TREE.partial_dependence(X, 3, grid=200).axes[0].values == tuple(np.unique(X[:, 3]).tolist())
    values = TREE.partial_dependence(X, 2, grid=9).axes[0].values
    assert len(values) == 9
    assert set(values) <= set(X[:, 2].tolist())
    assert (values[0], values[-1]) == (X[:, 2].min(), X[:, 2].max())


def test_where_most_rows_are_equal_other_values_fill_the_grid():
    held = np.concatenate([np.zeros(990), np.arange(1.0, 101.0)])
    chosen = spread_values(held, 20)

    assert len(chosen) == 20
    assert np.diff(chosen).min() > 0
    assert chosen[0] == 0.0
    assert chosen[-1] == 100.0


def test_of_many_levels_the_commonest_are_in_the_grid():
    levels = [f"town {at % 50:02d}" for at in range(400)] + ["town 49"] * 5
    est = tw.DecisionTreeClassifier(max_depth=3).fit(
        {"town": levels}, ["a" if "9" in level else "b" for level in levels]
    )
    axis = est.partial_dependence({"town": levels}, "town").axes[0]

    assert len(axis.values) == 30
    assert "town 49" in axis.values
    assert est.partial_dependence({"town": levels}, "town", grid=["town 07"]).axes[0].values == ("town 07",)


def test_drawn_rows_depend_on_the_seed_alone():
    rows = np.arange(1000)
    first, again, other = drawn(rows, 50, 0), drawn(rows, 50, 0), drawn(rows, 50, 1)

    assert first.tolist() == again.tolist() != other.tolist()
    assert len(set(first.tolist())) == 50
    assert (np.diff(first) > 0).all()
    # Chance, not a stride: about half of them lie in the first half.
    assert 10 < (first < 500).sum() < 40


def test_at_most_rows_are_counted():
    found = TREE.partial_dependence(X, 2, rows=20, individual=30)

    assert found.n_rows == 20
    assert len(found.rows) == 20
    assert TREE.partial_dependence(X[found.rows], 2, grid=found.axes[0].values).values.tolist() == found.values.tolist()


def test_rows_of_weight_0_do_not_count():
    weights = (Y == 1).astype(float)
    some, weighed = TREE.partial_dependence(X[Y == 1], 2), TREE.partial_dependence(X, 2, sample_weight=weights)

    assert weighed.values.tolist() == some.values.tolist()
    assert weighed.n_rows == 50


def test_a_mean_near_the_end_of_float64_is_finite():
    est = tw.DecisionTreeRegressor().fit([[0.0], [1.0]], [1e308, 1.7e308])

    found = est.partial_dependence([[0.0], [1.0], [1.0]], 0)

    np.testing.assert_allclose(found.values, [[1e308, 1.7e308]], rtol=1e-15)


def test_missing_and_infinite_cells_are_no_values_of_the_grid():
    with pytest.warns(tw.exceptions.DataWarning):
        found = CROPS.partial_dependence({"rain": [np.nan, 5.0, np.inf], "sun": [1.0, 2.0, 3.0]}, "rain")

    assert found.axes[0].values == (5.0,)
    assert found.n_rows == 3


def test_several_targets_are_asked_for_by_their_number():
    both = tw.DecisionTreeRegressor().fit(RAIN, [[4.0, 0.0], [4.0, 0.0], [1.0, 2.0], [1.0, 2.0]])
    second = both.partial_dependence(RAIN, "rain", output=1, grid=[0, 9])
    sorts = tw.DecisionTreeClassifier().fit(RAIN, [["a", "x"], ["a", "x"], ["b", "y"], ["b", "z"]])

    assert second.values.tolist() == [[0.0, 2.0]]
    assert sorts.partial_dependence(RAIN, "rain", output=1).labels == ("x", "y", "z")


def test_it_prints_and_turns_into_columns():
    found = CROPS.partial_dependence(RAIN, "rain", individual=2)
    shares = TREE.partial_dependence(X, 3, grid=[0.5, 2.0])

    assert str(found).splitlines() == [
        "mean prediction over 4 rows, with rain set to each value",
        "rain      y", "   0  4.000", "   1  4.000", "   5  1.000", "   9  1.000",
        "individual: 2 rows, sampled",
    ]  # fmt: skip
    assert found.to_dict() == {"rain": [0.0, 1.0, 5.0, 9.0], "mean": [4.0, 4.0, 1.0, 1.0]}
    assert shares.to_dict()["class"] == [0, 0, 1, 1, 2, 2]
    assert shares.to_dict()["x3"] == [0.5, 2.0] * 3
    pair = CROPS.partial_dependence(RAIN, "rain", "sun", grid=2)
    assert pair.to_dict() == {"rain": [0.0, 0.0, 9.0, 9.0], "sun": [1.0, 9.0] * 2, "mean": [4.0, 4.0, 1.0, 1.0]}
    assert "lowest 1.000 at rain = 9, sun = 1" in str(pair)


def test_an_isolation_forest_tells_its_path_lengths():
    forest = tw.IsolationForest(n_estimators=10, random_state=0).fit(X)
    found = forest.partial_dependence(X, 2, grid=3)

    assert found.values.shape == (1, 3)
    assert (found.values > 1).all()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"column": "snow"}, r"no column 'snow'"),
        ({"column": "sum"}, r"did you mean"),
        ({"column": 7}, "no column 7"),
        ({"column": True}, "no column True"),
        ({"column": "rain", "second": 0}, "is the same column as the first"),
        ({"column": "rain", "grid": 1}, "grid=1"),
        ({"column": "rain", "grid": "many"}, "grid of column 'rain'"),
        ({"column": "rain", "grid": [np.nan]}, "finite numbers"),
        ({"column": "rain", "grid": []}, "finite numbers"),
        ({"column": "rain", "second": "sun", "grid": (2, 2, 2)}, "a pair"),
        ({"column": "rain", "second": "sun", "individual": 3}, "individual lines are for one column"),
        ({"column": "rain", "individual": -1}, "individual=-1"),
        ({"column": "rain", "rows": 0}, "rows=0"),
        ({"column": "rain", "random_state": -1}, "random_state=-1"),
        ({"column": "rain", "label": "dry"}, "predicts numbers"),
        ({"column": "rain", "output": 1}, r"predicts 1 target"),
    ],
)
def test_what_makes_no_sense_is_refused(options, told):
    with pytest.raises(ParameterError, match=told):
        CROPS.partial_dependence(RAIN, **options)


def test_classes_and_levels_that_are_not_there_are_refused():
    with pytest.raises(ParameterError, match="label='run' is not a class of the model; the classes are go, stay"):
        WALK.partial_dependence(SKY, "sky", label="run")
    with pytest.raises(ParameterError, match="'hail' is not one of its levels"):
        WALK.partial_dependence(SKY, "sky", grid=["hail"])
    with pytest.raises(ParameterError, match="a sequence of its levels"):
        WALK.partial_dependence(SKY, "sky", grid="sun")


def test_tables_without_rows_or_values_are_refused():
    with pytest.raises(DataError, match="X has no rows"):
        CROPS.partial_dependence({"rain": [], "sun": []}, "rain")
    with pytest.warns(tw.exceptions.DataWarning), pytest.raises(DataError, match="no finite number"):
        CROPS.partial_dependence({"rain": [np.nan], "sun": [1.0]}, "rain")
    with pytest.warns(tw.exceptions.DataWarning), pytest.raises(DataError, match="no known level"):
        WALK.partial_dependence({"sky": [None], "wind": [1.0]}, "sky")


# The trees alone.


def test_recursion_is_the_mean_over_the_rows_of_the_fit_by_the_weights_of_branches():
    # The root asks b; on its left (3 of 4 rows) a decides: for a <= 2.5 the answers are 1 (left) and 10 (right).
    table = {"a": [1.0, 2.0, 3.0, 2.0], "b": [0.0, 0.0, 0.0, 9.0]}
    tree = tw.DecisionTreeRegressor().fit(table, [1.0, 1.0, 3.0, 10.0])

    said = tree.partial_dependence(table, "a", grid=[1.0, 3.0], method="recursion")

    assert said.values.tolist() == [[0.75 * 1.0 + 0.25 * 10.0, 0.75 * 3.0 + 0.25 * 10.0]]


@pytest.mark.parametrize("estimator", ["tree", "forest", "boosting"])
def test_recursion_says_what_scikit_learn_says(estimator):
    table, y = load_diabetes(return_X_y=True)
    few = {"max_depth": 3, "random_state": 0}
    ours = {
        "tree": tw.DecisionTreeRegressor(**few),
        "forest": tw.RandomForestRegressor(n_estimators=3, **few),
        "boosting": tw.GradientBoostingRegressor(n_estimators=5, min_samples_leaf=5),
    }[estimator].fit(table, y)
    for columns in ((2,), (2, 8)):
        grid = [np.unique(table[:, at])[::40] for at in columns]
        said = ours.partial_dependence(table, *columns, grid=grid if len(columns) == 2 else grid[0], method="recursion")
        if estimator == "boosting":
            trees = [theirs_of(tree, grid, columns) for tree in ours.model_.trees]
            wanted = ours.model_.boosting.base[0] + np.sum(trees, axis=0)
        else:
            each = tw.to_sklearn(ours)
            members = [each] if estimator == "tree" else each.estimators_
            wanted = np.mean([theirs(member, table, grid, columns) for member in members], axis=0)
        assert said.values == pytest.approx(wanted, rel=1e-6)


def theirs(member, table, grid, columns):
    custom = dict(zip(columns, grid, strict=True))
    said = of_sklearn(member, table, list(columns), custom_values=custom, method="recursion", kind="average")
    return said["average"]


def theirs_of(tree, grid, columns):
    """The recursion in a few lines, of one tree."""

    def walk(node, values):
        if tree.is_leaf[node]:
            return tree.value[node, 0]
        left, right = tree.children_left[node], tree.children_right[node]
        if tree.feature[node] in values:
            return walk(left if values[tree.feature[node]] <= tree.threshold[node] else right, values)
        share = tree.weight[left] / (tree.weight[left] + tree.weight[right])
        return share * walk(left, values) + (1 - share) * walk(right, values)

    points = np.array([walk(0, dict(zip(columns, point, strict=True))) for point in itertools.product(*grid)])
    return points.reshape(1, *map(len, grid))


def test_recursion_tells_of_classes_and_levels():
    table = {"sky": ["sun", "rain", "sun", "rain"], "wind": [1.0, 1.0, 9.0, 9.0]}
    tree = tw.DecisionTreeClassifier().fit(table, ["out", "in", "in", "in"])

    said = tree.partial_dependence(table, "sky", method="recursion")

    assert said.labels == ("out",)
    assert said.axes[0].values == ("rain", "sun")
    assert said.values.tolist() == [[0.0, 0.5]]


@pytest.mark.parametrize(
    "kind",
    [
        tw.GradientBoostingClassifier(n_estimators=2, min_samples_leaf=5),
        tw.RandomForestClassifier(2, voting="hard"),
        tw.AdaBoostRegressor(n_estimators=2),
    ],
)
def test_recursion_is_refused_where_answers_are_no_sum_of_leaves(kind):
    with pytest.raises(ParameterError, match="method='brute'"):
        kind.fit(X, Y).partial_dependence(X, 2, method="recursion")


@pytest.mark.parametrize("more", [{"rows": 5}, {"individual": 3}, {"sample_weight": np.ones(150)}])
def test_recursion_has_no_rows_of_its_own(more):
    with pytest.raises(ParameterError, match="averages over the training rows"):
        TREE.partial_dependence(X, 2, method="recursion", **more)


def test_there_are_two_methods():
    with pytest.raises(ParameterError, match="choose one of 'brute', 'recursion'"):
        TREE.partial_dependence(X, 2, method="auto")
