"""The estimators inside scikit-learn's own machinery: searches, pipelines, ensembles, inspection."""

from __future__ import annotations

import copy
import pickle

import cloudpickle
import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import AdaBoostClassifier, AdaBoostRegressor, BaggingClassifier, VotingClassifier
from sklearn.impute import SimpleImputer
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from treewright import DecisionTreeClassifier, DecisionTreeRegressor


@pytest.fixture(scope="module")
def points():
    """300 rows, 4 columns; the first two decide between three labels."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 4))
    y = np.array(["low", "middle", "very high"])[np.digitize(X[:, 0] + X[:, 1], [-0.7, 0.7])]
    return X, y


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_grid_search_finds_that_depth_is_needed(points, n_jobs):
    search = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 6]}, cv=3, n_jobs=n_jobs).fit(*points)

    assert search.best_params_ == {"max_depth": 6}
    assert search.best_score_ > 0.7
    assert search.predict(points[0]).dtype == points[1].dtype


def test_a_pipeline_passes_on_weights_and_names_the_step(points):
    X, y = points
    pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=3))

    pipeline.fit(X, y, decisiontreeclassifier__sample_weight=np.where(y == "low", 1.0, 0.0))

    assert set(pipeline.predict(X)) == {"low"}
    assert pipeline.named_steps["decisiontreeclassifier"].classes_.tolist() == ["low", "middle", "very high"]


def test_cross_validation_gives_scores_and_probabilities(points):
    scores = cross_val_score(DecisionTreeClassifier(), *points, cv=3, scoring="neg_log_loss")
    shares = cross_val_predict(DecisionTreeClassifier(max_depth=3), *points, cv=3, method="predict_proba")

    assert np.isfinite(scores).all()
    assert shares.shape == (300, 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_a_class_that_a_fold_lacks_has_probability_zero():
    X, y = np.arange(12.0)[:, None], np.array([0] * 5 + [1] * 5 + [2] * 2)

    with pytest.warns(UserWarning, match="least populated class"):
        shares = cross_val_predict(DecisionTreeClassifier(), X, y, cv=3, method="predict_proba")

    assert shares.shape == (12, 3)


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_a_column_transformer_hands_over_frames_with_names(points, output):
    X, y = points
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    steps = ColumnTransformer([("scaled", StandardScaler(), ["a", "b"]), ("filled", SimpleImputer(), ["c"])])
    pipeline = make_pipeline(steps.set_output(transform=output), DecisionTreeClassifier()).fit(table, y)

    assert pipeline[-1].feature_names_in_.tolist() == ["scaled__a", "scaled__b", "filled__c"]
    assert pipeline.score(table, y) == 1.0


@pytest.mark.parametrize(
    "wrap",
    [
        lambda tree: BaggingClassifier(tree, n_estimators=5, random_state=0),
        lambda tree: BaggingClassifier(tree, n_estimators=4, random_state=0, n_jobs=2),
        lambda tree: AdaBoostClassifier(tree, n_estimators=5, random_state=0),
        lambda tree: CalibratedClassifierCV(tree, cv=3),
        OneVsRestClassifier,
        lambda tree: VotingClassifier([("a", tree), ("b", clone(tree))], voting="soft"),
    ],
    ids=["bagging", "bagging on two processes", "adaboost", "calibration", "one against the rest", "voting"],
)
def test_ensembles_over_our_tree_learn(points, wrap):
    X, y = points
    ensemble = wrap(DecisionTreeClassifier(max_depth=3)).fit(X, y)

    assert ensemble.score(X, y) > 0.75
    assert ensemble.predict_proba(X).shape == (300, 3)


def test_adaboost_regression_learns():
    X = np.linspace(0, 6, 200)[:, None]
    ensemble = AdaBoostRegressor(DecisionTreeRegressor(max_depth=4), n_estimators=5, random_state=0)

    assert ensemble.fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.95


def test_permutation_importance_finds_the_columns_that_decide(points):
    X, y = points
    result = permutation_importance(DecisionTreeClassifier(max_depth=5).fit(X, y), X, y, n_repeats=3, random_state=0)

    assert result.importances_mean[:2].min() > 3 * result.importances_mean[2:].max()


def test_partial_dependence_follows_the_function():
    X = np.column_stack([np.linspace(0, 1, 200), np.zeros(200)])
    tree = DecisionTreeRegressor().fit(X, 3 * X[:, 0])

    found = partial_dependence(tree, X, [0], grid_resolution=5, kind="average", method="brute")

    # 200 equal steps: a leaf is at most one step, 3 / 199, away.
    np.testing.assert_allclose(found["average"][0], 3 * found["grid_values"][0], atol=3 / 199)


def test_clone_and_parameters_are_taken_over():
    tree = DecisionTreeClassifier(max_depth=3, ordinal={"size": ["S", "L"]}, class_weight={"a": 2.0})

    assert clone(tree).get_params() == tree.get_params()
    assert repr(clone(tree)) == repr(tree)
    assert repr(DecisionTreeClassifier(max_depth=3)) == "DecisionTreeClassifier(max_depth=3)"


def fitted_pair(points):
    X, y = points
    return [DecisionTreeClassifier(max_depth=4).fit(X, y), DecisionTreeRegressor(max_depth=4).fit(X, 2 * X[:, 0])]


def joblib_copy(tree, folder, mmap_mode=None):
    path = folder / "tree.joblib"
    joblib.dump(tree, path)
    return joblib.load(path, mmap_mode=mmap_mode)


COPIES = {
    "copy": lambda tree, folder: copy.copy(tree),
    "deepcopy": lambda tree, folder: copy.deepcopy(tree),
    "pickle": lambda tree, folder: pickle.loads(pickle.dumps(tree)),
    "pickle 2": lambda tree, folder: pickle.loads(pickle.dumps(tree, protocol=2)),
    "cloudpickle": lambda tree, folder: cloudpickle.loads(cloudpickle.dumps(tree)),
    "joblib": joblib_copy,
    "joblib mapped": lambda tree, folder: joblib_copy(tree, folder, "r"),
}


@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)
def test_copies_predict_the_same_bits(points, duplicate, tmp_path):
    for tree in fitted_pair(points):
        tree.predict(points[0])  # what is kept for speed must not get in the way
        other = duplicate(tree, tmp_path)

        assert other.predict(points[0]).tobytes() == tree.predict(points[0]).tobytes()
        assert other.get_params() == tree.get_params()
        assert other.model_.schema == tree.model_.schema
        other.fit(*points) if hasattr(tree, "classes_") else other.fit(points[0], 3 * points[0][:, 1])


@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)
def test_copies_of_what_is_not_fitted_can_be_fitted(points, duplicate, tmp_path):
    other = duplicate(DecisionTreeClassifier(max_depth=2), tmp_path)

    assert not hasattr(other, "model_")
    assert other.fit(*points).get_depth() == 2


@pytest.mark.parametrize("dump", [pickle.dumps, cloudpickle.dumps], ids=["pickle", "cloudpickle"])
def test_two_fits_give_equal_bytes_whatever_was_asked_of_them(points, dump):
    for first, second in zip(fitted_pair(points), fitted_pair(points), strict=True):
        first.predict(points[0])
        first.show()
        first.get_depth()
        first.model_.predict_one(points[0][0])

        assert dump(first) == dump(second)


def test_a_pickle_holds_no_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 4))

    tree = DecisionTreeClassifier(max_depth=2).fit(X, X[:, 0] + X[:, 1] > 0.3)

    assert len(pickle.dumps(tree)) < 10_000


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_a_global_wish_for_frames_changes_no_prediction(points, output):
    X, y = points
    expected = DecisionTreeClassifier().fit(X, y).predict_proba(X)
    with sklearn.config_context(transform_output=output):
        found = DecisionTreeClassifier().fit(X, y).predict_proba(X)

    assert type(found) is np.ndarray
    assert found.tobytes() == expected.tobytes()


def test_metadata_routing_passes_weights_on(points):
    X, y = points
    weights = np.where(y == "low", 1.0, 0.0)
    with sklearn.config_context(enable_metadata_routing=True):
        tree = DecisionTreeClassifier().set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        search = GridSearchCV(tree, {"max_depth": [2]}, cv=2).fit(X, y, sample_weight=weights)

    assert set(search.predict(X)) == {"low"}


def test_polars_tables_go_through_cross_validation(points):
    X, y = points
    table = pl.DataFrame(X, schema=["a", "b", "c", "d"])

    assert cross_val_score(DecisionTreeClassifier(), table, y, cv=3).min() > 0.7
