"""Hostile tables, weights and parameters for forests: the answer is right, or one error says what to do."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import treewright as tw
from treewright.exceptions import DataError, DataWarning, MissingValueError, ParameterError, TooLargeError
from treewright.trees.check_model import check_model
from treewright.trees.codec import dumps, loads

NAN, INF = np.nan, np.inf
CLASSIFIERS = [tw.RandomForestClassifier, tw.ExtraTreesClassifier]
REGRESSORS = [tw.RandomForestRegressor, tw.ExtraTreesRegressor]
FORESTS = CLASSIFIERS + REGRESSORS
X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X[:, 0] > 0).astype(int)


def fit_quietly(forest, table, y, weights=None):
    """Fit where warnings of constant or empty columns are expected; every tree keeps its invariants."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        forest.fit(table, y, weights)
    check_model(forest.model_)
    assert len(loads(dumps(forest.model_)).trees) == forest.n_estimators
    return forest


def predict_quietly(forest, table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return forest.predict(table)


@pytest.mark.parametrize("kind", FORESTS)
def test_one_row_is_one_leaf_in_every_tree(kind):
    forest = fit_quietly(kind(n_estimators=3), [[1.0, NAN]], [1])

    assert all(tree.n_nodes == 1 for tree in forest.model_.trees)
    assert predict_quietly(forest, [[5.0, 2.0], [NAN, NAN]]).tolist() == [1, 1]


@pytest.mark.parametrize("kind", FORESTS)
def test_two_rows_are_predicted_between_their_targets(kind):
    forest = fit_quietly(kind(n_estimators=20), [[1.0], [2.0]], [0, 1])

    assert forest.predict([[1.0], [2.0]]).tolist() == [0, 1] if kind in CLASSIFIERS else True
    assert (np.diff(forest.predict([[0.0], [1.0], [2.0], [3.0]])) >= 0).all()


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize(
    "table",
    [{"x": [2.0] * 6, "c": ["one"] * 6}, {"void": [None] * 6}, {"void": [NAN] * 6, "c": ["one"] * 6}],
    ids=["constant", "void", "both"],
)
def test_columns_that_tell_nothing_give_leaves(kind, table):
    forest = fit_quietly(kind(n_estimators=3), table, [0, 1, 0, 0, 1, 0])

    assert all(tree.n_nodes == 1 for tree in forest.model_.trees)
    assert (forest.feature_importances_ == 0).all()
    assert len(set(predict_quietly(forest, table).tolist())) == 1


@pytest.mark.parametrize("kind", FORESTS)
def test_constant_columns_are_told_of(kind):
    with pytest.warns(DataWarning, match="every column is constant") as heard:
        kind(n_estimators=2).fit([[1.0]] * 6, [0, 1, 0, 1, 0, 1])

    assert heard[0].filename == __file__


@pytest.mark.parametrize("kind", FORESTS)
def test_a_column_that_is_the_target_is_told_of(kind):
    with pytest.warns(DataWarning, match="column 'x1' equals y"):
        kind(n_estimators=5).fit(np.stack([X[:, 1], Y.astype(float)], axis=1), Y)


@pytest.mark.parametrize("kind", FORESTS)
def test_one_label_is_predicted_everywhere(kind):
    forest = fit_quietly(kind(n_estimators=2), X, np.ones(60, int))

    assert (forest.predict(X) == 1).all()


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize("weights", [np.zeros(60), -np.ones(60), np.full(60, NAN), np.full(60, INF), np.ones(59)])
def test_weights_that_cannot_be_are_refused(kind, weights):
    with pytest.raises(DataError):
        kind(n_estimators=2).fit(X, Y, weights)


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize("scale", [1e-300, 1e-3, 1e15, 1e298])
def test_weights_of_any_size_are_chances_or_weights(kind, scale):
    weights = np.random.default_rng(1).random(60) * scale

    forest = fit_quietly(kind(n_estimators=10), X, Y, weights)

    assert ((forest.predict(X) > 0.5) == Y).mean() > 0.9


@pytest.mark.parametrize("kind", [tw.ExtraTreesClassifier, tw.ExtraTreesRegressor])
def test_weights_whose_sums_leave_the_range_are_refused(kind):
    with pytest.raises(DataError, match="scale them down"):
        kind(n_estimators=2).fit(X, Y, np.full(60, 1e300))


@pytest.mark.parametrize("kind", FORESTS)
def test_a_row_of_weight_k_is_k_rows(kind):
    times = np.random.default_rng(2).integers(0, 4, 60)
    weighed = fit_quietly(kind(n_estimators=5, min_samples_leaf=2, min_samples_split=0.1), X, Y, times)
    repeated = fit_quietly(
        kind(n_estimators=5, min_samples_leaf=2, min_samples_split=0.1),
        np.repeat(X, times, axis=0),
        np.repeat(Y, times),
    )

    assert (weighed.predict(X) == repeated.predict(X)).all()
    for mine, its in zip(weighed.model_.trees, repeated.model_.trees, strict=True):
        assert mine.n_nodes == its.n_nodes
        assert (mine.threshold == its.threshold).all()
        assert (mine.weight == its.weight).all()


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize("asked", [{"max_features": 99}, {"max_features_per_tree": 99}, {"max_features": 10**30}])
def test_more_columns_than_there_are_means_all(kind, asked):
    name = next(iter(asked))
    all_of_them = fit_quietly(kind(n_estimators=3, **{name: 3}), X, Y)

    assert (fit_quietly(kind(n_estimators=3, **asked), X, Y).predict(X) == all_of_them.predict(X)).all()


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize("n_trees", [10**9, 2**31, 10**30])
def test_a_forest_beyond_memory_is_refused_at_once(kind, n_trees):
    with pytest.raises(TooLargeError, match="fewer trees"):
        kind(n_estimators=n_trees).fit(X, Y)


NONSENSE = [
    {"n_estimators": 0},
    {"n_estimators": -1},
    {"n_estimators": 2.5},
    {"n_estimators": True},
    {"n_estimators": "10"},
    {"criterion": "gain_ratio"},
    {"criterion": 3},
    {"max_depth": 0},
    {"max_features": 0},
    {"max_features": 0.0},
    {"max_features": 1.5},
    {"max_features": "all"},
    {"max_features_per_tree": 0},
    {"max_features_per_tree": "half"},
    {"max_features_per_tree": NAN},
    {"max_leaf_nodes": 1},
    {"max_bins": 1},
    {"max_bins": 256},
    {"max_bins": True},
    {"max_bins": 20.5},
    {"bootstrap": "yes"},
    {"bootstrap": True, "oob_score": "yes"},
    {"bootstrap": True, "max_samples": 0},
    {"bootstrap": True, "max_samples": 0.0},
    {"bootstrap": True, "max_samples": 1.5},
    {"bootstrap": True, "max_samples": 61},
    {"bootstrap": True, "max_samples": True},
    {"bootstrap": True, "max_samples": NAN},
    {"bootstrap": False, "max_samples": 10},
    {"bootstrap": False, "oob_score": True},
    {"interaction_cst": "none"},
    {"interaction_cst": [0, 1]},
    {"interaction_cst": ["ab"]},
    {"interaction_cst": [[0, 3]]},
    {"interaction_cst": [[0, -1]]},
    {"interaction_cst": [["height"]]},
    {"interaction_cst": [[0.5]]},
    {"interaction_cst": [[True]]},
    {"interaction_cst": np.array(3)},
    {"interaction_cst": [np.array(3)]},
    *({name: True} for name in ("max_depth", "min_samples_leaf", "max_features", "max_leaf_nodes")),
    *({name: Fraction(1, 2)} for name in ("min_weight_fraction_leaf", "min_impurity_decrease", "max_features")),
    {"bootstrap": True, "max_samples": Fraction(1, 2)},
    {"monotonic_cst": [1, 0]},
    {"monotonic_cst": [2, 0, 0]},
    {"monotonic_cst": {"height": 1}},
    {"missing": "surrogate"},
    {"missing": "fractional"},
    {"unseen": "error!"},
    {"warm_start": 2.0},
    {"n_jobs": 0},
    {"n_jobs": 1.5},
    {"random_state": "seed"},
    {"random_state": -1},
    {"verbose": -1},
]


@pytest.mark.parametrize("kind", FORESTS)
@pytest.mark.parametrize("options", NONSENSE, ids=str)
def test_nonsense_is_refused_by_the_name_of_the_parameter(kind, options):
    forest = kind(**{"n_estimators": 2, **options})

    with pytest.raises(ParameterError, match=list(options)[-1]):
        forest.fit(X, Y)
    assert not hasattr(forest, "model_")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"voting": "loud"}, "voting"),
        ({"class_weight": "balanced_subsamples"}, "class_weight"),
        ({"class_weight": {0: -1}}, "class_weight"),
        ({"class_weight": {0: 0, 1: 0}}, "class_weight"),
        ({"class_weight": ["balanced_subsample"]}, "class_weight"),
    ],
)
def test_nonsense_about_classes_is_refused(options, told):
    with pytest.raises(ParameterError, match=told):
        tw.RandomForestClassifier(2, **options).fit(X, Y)


@pytest.mark.parametrize("kind", FORESTS)
def test_a_share_may_be_of_any_float_type(kind):
    shares = {"max_features": 0.5, "max_samples": 0.5, "min_samples_leaf": 0.125, "min_weight_fraction_leaf": 0.125}
    narrow = {name: np.float32(share) for name, share in shares.items()}

    one, other = (kind(n_estimators=3, bootstrap=True, **given).fit(X, Y) for given in (shares, narrow))

    assert dumps(one.model_) == dumps(other.model_)


def test_medians_have_no_groups_of_columns():
    with pytest.raises(ParameterError, match="interaction_cst"):
        tw.RandomForestRegressor(2, criterion="absolute_error", interaction_cst="pairwise").fit(X, Y)


@pytest.mark.parametrize("kind", FORESTS)
def test_how_the_table_lies_in_memory_changes_nothing(kind):
    table = X.round(2)
    first = dumps(kind(n_estimators=3).fit(table, Y).model_)
    strided = np.zeros((120, 6))
    strided[::2, ::2] = table
    read_only = table.copy()
    read_only.flags.writeable = False

    for same in (np.asfortranarray(table), strided[::2, ::2], read_only, table.tolist(), sp.csr_matrix(table)):
        assert dumps(kind(n_estimators=3).fit(same, Y).model_) == first


@pytest.mark.parametrize("kind", FORESTS)
def test_float32_grows_trees_that_part_the_same_rows(kind):
    table = X.astype(np.float32)
    forest, wide = kind(n_estimators=3).fit(table, Y), kind(n_estimators=3).fit(table.astype(float), Y)

    assert (forest.apply(table) == wide.apply(table.astype(float))).all()


@pytest.mark.parametrize("kind", FORESTS)
def test_frames_of_all_libraries_give_the_same_forest(kind):
    table = {"a": X[:, 0], "b": X[:, 1].tolist(), "c": np.where(X[:, 2] > 0, "up", "down").tolist()}
    first = kind(n_estimators=3).fit(table, Y)

    for frame in (pd.DataFrame(table), pl.DataFrame(table)):
        forest = kind(n_estimators=3).fit(frame, Y)
        assert dumps(forest.model_) == dumps(first.model_)
        assert (forest.predict(frame) == first.predict(table)).all()


@pytest.mark.parametrize("kind", FORESTS)
def test_infinite_and_huge_cells_are_values_like_others(kind):
    table = np.array([[-INF], [-1e308], [0.0], [5e-324], [1e308], [INF], [NAN]])

    forest = fit_quietly(kind(n_estimators=40, bootstrap=False), table, [0, 1, 0, 1, 0, 1, 0])

    assert (forest.predict(table) > 0.5).tolist() == [False, True, False, True, False, True, False]


@pytest.mark.parametrize("kind", FORESTS)
def test_thousands_of_levels_share_bins(kind):
    levels = [f"level {at}" for at in range(1000)]
    table = {"c": levels * 2, "x": np.arange(2000.0) % 7}

    forest = fit_quietly(kind(n_estimators=2), table, (np.arange(2000) % 2))

    assert len(predict_quietly(forest, {"c": ["level 3", "never seen", None], "x": [1.0, 2.0, NAN]})) == 3


@pytest.mark.parametrize("kind", FORESTS)
def test_missing_cells_are_refused_where_they_are_an_error(kind):
    table = np.where(np.arange(180).reshape(60, 3) == 7, NAN, X)
    with pytest.raises(MissingValueError, match="first row 2"):
        kind(n_estimators=2, missing="error").fit(table, Y)
    forest = kind(n_estimators=2, missing="error").fit(X, Y)
    with pytest.raises(MissingValueError):
        forest.predict(table)


@pytest.mark.parametrize("kind", FORESTS)
def test_a_tree_of_one_column_may_be_thousands_of_levels_deep(kind):
    n = 3000
    y = np.arange(n) % 2
    forest = kind(n_estimators=2, max_bins=255).fit(np.arange(float(n)).reshape(-1, 1), y)

    assert len(forest.predict([[3.0]])) == 1


@pytest.mark.parametrize("kind", FORESTS)
def test_more_rows_out_of_bag_than_trees_is_told(kind):
    with pytest.warns(DataWarning, match="sampled for every tree"):
        forest = kind(n_estimators=1, bootstrap=True, oob_score=True).fit(X, Y)

    name = "oob_decision_function_" if kind in CLASSIFIERS else "oob_prediction_"
    assert np.isnan(getattr(forest, name)).any()
    assert np.isfinite(forest.oob_score_)


@pytest.mark.parametrize("kind", FORESTS)
def test_no_row_out_of_bag_gives_a_score_of_nan(kind):
    with pytest.warns(DataWarning, match="sampled for every tree"):
        forest = kind(n_estimators=2, bootstrap=True, oob_score=True).fit([[1.0]], [1])

    assert np.isnan(forest.oob_score_)


def test_counts_are_asked_of_a_poisson_forest():
    with pytest.raises(DataError, match="negative"):
        tw.RandomForestRegressor(2, criterion="poisson").fit(X, X[:, 0])
