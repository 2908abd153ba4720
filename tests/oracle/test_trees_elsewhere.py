"""Forests and trees on bins, of rows that lie in files: the bytes of the fit in memory, however the rows are cut."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import polars as pl
import pytest
from rotating import crossed, few
from sklearn.base import clone

import treewright as tw
from treewright.exceptions import DataError, ParameterError, TooLargeError
from treewright.learn import train
from treewright.trees.codec import dumps

N = 2_000
RNG = np.random.default_rng(0)
X = pl.DataFrame(
    {
        "x": RNG.normal(size=N),
        "k": [None if level == "e" else level for level in RNG.choice(list("abcde"), N)],
        "z": np.where(RNG.random(N) < 0.1, np.nan, RNG.exponential(size=N)),
        **{f"v{at}": RNG.normal(size=N).round(1) for at in range(7)},
    }
)
PULL = X["x"].to_numpy() + (X["k"] == "a").fill_null(value=False).to_numpy() + RNG.normal(size=N) * 0.5
CLASSES, COUNTS = np.digitize(PULL, [-0.5, 0.8]), np.round(np.exp(PULL))
WEIGHTS = {"none": None, "numbers of rows": RNG.integers(0, 4, N).astype(float), "any": RNG.random(N) + 0.1}
MEMORY = 100 * N  # less than the table takes in memory, enough for a tree that grows

LEARNERS = {
    "forest": (tw.RandomForestClassifier(8), CLASSES),
    "classes that weigh": (tw.RandomForestClassifier(8, class_weight="balanced"), CLASSES),
    "classes that weigh in each tree": (
        tw.RandomForestClassifier(8, class_weight="balanced_subsample", max_samples=0.4), CLASSES
    ),
    "votes": (tw.RandomForestClassifier(8, voting="hard", max_features_per_tree=3), CLASSES),
    "numbers": (tw.RandomForestRegressor(8, min_samples_leaf=5), PULL),
    "counts": (tw.RandomForestRegressor(8, criterion="poisson", max_depth=5), COUNTS),
    "no bootstrap": (tw.RandomForestRegressor(8, bootstrap=False, max_features=2, max_depth=6), PULL),
    "best first": (tw.RandomForestClassifier(8, max_leaf_nodes=20, interaction_cst=[[0, 1], [2, 3, 4]]), CLASSES),
    "random cuts": (tw.ExtraTreesClassifier(8), CLASSES),
    "random cuts of numbers": (tw.ExtraTreesRegressor(8, bootstrap=True, monotonic_cst={"x": 1}), PULL),
    "tree": (tw.DecisionTreeClassifier(splitter="hist", ccp_alpha=0.001, class_weight="balanced"), CLASSES),
    "tree of numbers": (tw.DecisionTreeRegressor(splitter="hist", max_depth=7), PULL),
    "random tree": (tw.ExtraTreeRegressor(random_state=3), PULL),
}  # fmt: skip


def in_files(folder: Any, y: np.ndarray, weights: np.ndarray | None, n_files: int, **options: Any) -> Any:
    table = X.with_columns(y=pl.Series(y), **({} if weights is None else {"w": pl.Series(weights)}))
    shuffled = table.sample(fraction=1.0, shuffle=True, seed=n_files)
    for at, part in enumerate(shuffled.iter_slices(-(-N // n_files))):
        part.write_parquet(folder / f"{at}.parquet")
    options = {"memory": MEMORY, "n_jobs": 2, **options}
    if weights is not None:
        options["weight"] = "w"
    task = "classification" if y is CLASSES else "regression"
    dataset = tw.Dataset.from_parquet(folder, target="y", task=task, **options)
    assert dataset.is_remote
    return dataset


@pytest.mark.parametrize(("name", "weighted"), crossed(few(list(LEARNERS), 6), WEIGHTS))
def test_rows_in_files_give_the_model_of_the_table(tmp_path, name, weighted):
    estimator, y = LEARNERS[name]
    weights = WEIGHTS[weighted]
    here = clone(estimator).fit(X, pl.Series("y", y), weights)
    found = clone(estimator).fit(in_files(tmp_path, y, weights, 3))
    assert dumps(found.model_) == dumps(here.model_)


@pytest.mark.skipif(os.name == "nt", reason="processes have pipes that Windows cannot wait for")
@pytest.mark.parametrize("n_processes", few([1, 3], 1))
def test_any_number_of_processes_gives_the_model_of_the_table(tmp_path, n_processes, copies):
    dataset = in_files(tmp_path, CLASSES, None, 5, memory=MEMORY * n_processes, n_processes=n_processes)
    try:
        for name in ("forest", "tree"):
            estimator, y = LEARNERS[name]
            assert dumps(clone(estimator).fit(dataset).model_) == dumps(
                clone(estimator).fit(X, pl.Series("y", y)).model_
            )
    finally:
        dataset.close()


@pytest.mark.parametrize("estimator", [tw.RandomForestClassifier(30), tw.RandomForestRegressor(30)])
def test_rows_that_trees_left_out_judge_them(tmp_path, estimator):
    y = CLASSES if "Classifier" in type(estimator).__name__ else PULL
    estimator = estimator.set_params(oob_score=True, max_samples=0.5)
    here = clone(estimator).fit(X, y, WEIGHTS["any"])
    found = clone(estimator).fit(in_files(tmp_path, y, WEIGHTS["any"], 2))
    assert found.oob_score_ == pytest.approx(here.oob_score_, rel=1e-12)
    assert not hasattr(found, "oob_decision_function_")  # in which order would it be?
    assert not hasattr(found, "oob_prediction_")


def test_waves_change_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(train, "_WAVE", 0.0)  # a tree at a time
    dataset = in_files(tmp_path, CLASSES, None, 2)
    estimator = tw.RandomForestClassifier(5)
    assert dumps(clone(estimator).fit(dataset).model_) == dumps(clone(estimator).fit(X, pl.Series("y", CLASSES)).model_)


@pytest.mark.parametrize(
    ("estimator", "told"),
    [
        (tw.DecisionTreeRegressor(), "splitter='best' needs every cell"),
        (tw.DecisionTreeRegressor(splitter="hist", max_bins=50), "max_bins=50"),
        (tw.DecisionTreeRegressor(splitter="hist", nominal_splits="runs"), "nominal_splits='subset'"),
        (tw.DecisionTreeRegressor(splitter="hist", grow_trace=True), "grow_trace=True needs splitter='best'"),
        (tw.RandomForestRegressor(3, criterion="absolute_error"), "needs the cells"),
        (tw.RandomForestRegressor(3, quantiles=True), "quantiles=True keeps all targets"),
        (tw.RandomForestRegressor(3, warm_start=True), "warm_start=True"),
        (tw.RandomForestRegressor(3, level_encoding="ordered"), "level_encoding='subsets'"),
        (tw.RandomForestRegressor(3, bootstrap=False, oob_score=True), "needs bootstrap=True"),
        (tw.CHAIDRegressor(), "needs the rows in memory"),
    ],
)  # fmt: skip
def test_what_is_not_worked_out_elsewhere_is_refused_with_the_reason(tmp_path, estimator, told):
    dataset = in_files(tmp_path, PULL, None, 2)
    with pytest.raises(ParameterError, match=told):
        estimator.fit(dataset)
    assert tw.DecisionTreeRegressor(splitter="hist", max_depth=2).fit(dataset).get_n_leaves() == 4  # serves on


def test_targets_are_refused_where_they_are(tmp_path):
    with pytest.raises(DataError, match="poisson"):
        tw.RandomForestRegressor(3, criterion="poisson").fit(in_files(tmp_path, PULL, None, 2))


def test_a_tree_beyond_the_budget_is_refused_with_what_it_takes(tmp_path):
    dataset = in_files(tmp_path, PULL, None, 2, memory=60 * N)
    with pytest.raises(
        TooLargeError,
        match=r"growing a tree takes about 112,000 bytes for its 2,000 rows and 80,000 for sampling .* memory=192000",
    ):
        tw.RandomForestRegressor(3).fit(dataset)
    few = tw.RandomForestRegressor(3, max_samples=0.2, max_depth=5)
    assert dumps(clone(few).fit(dataset).model_) == dumps(clone(few).fit(X, pl.Series("y", PULL)).model_)


def test_what_needs_the_draws_of_rows_elsewhere_says_why(tmp_path):
    forest = tw.RandomForestRegressor(3).fit(in_files(tmp_path, PULL, None, 2))
    for asked in (lambda: forest.importances("permutation"), forest.oob_curve, lambda: forest.predict_std(X[:3])):
        with pytest.raises(ParameterError, match="the training rows lay elsewhere"):
            asked()
    with pytest.raises(AttributeError, match="the training rows lay elsewhere"):
        _ = forest.estimators_samples_
    assert "x" in str(forest.importances("permutation", X[:200], PULL[:200], rows="all"))
    assert forest.feature_importances_.argmax() == 0


ISOLATION = {
    "default": {},
    "contamination": {"contamination": 0.05},
    "many rows, few columns": {"max_samples": 0.3, "max_features": 0.5, "bootstrap": True, "contamination": 0.1},
}


@pytest.mark.parametrize(
    ("name", "weighted", "memory"), crossed(ISOLATION, WEIGHTS, ("210KB", "420KB of two processes", "1GB"))
)
def test_isolation_forests_of_rows_in_files_are_those_of_the_table(tmp_path, name, weighted, memory, copies):
    weights = WEIGHTS[weighted]
    table = X if weights is None else X.with_columns(w=pl.Series(weights))
    for at, part in enumerate(table.sample(fraction=1.0, shuffle=True, seed=1).iter_slices(700)):
        part.write_parquet(tmp_path / f"{at}.parquet")
    options = {"n_estimators": 2, **ISOLATION[name]}
    here = tw.IsolationForest(**options).fit(X, sample_weight=weights)
    weight = None if weights is None else "w"
    n_processes = 2 if "two" in memory and os.name != "nt" else None
    dataset = tw.Dataset.from_parquet(
        tmp_path, target=None, memory=memory.split()[0], weight=weight, n_processes=n_processes
    )
    found = tw.IsolationForest(**options).fit(dataset)
    assert dataset.is_remote == (memory != "1GB")
    assert dumps(found.model_) == dumps(here.model_)
    assert (found.predict(X[:50]) == here.predict(X[:50])).all()
    dataset.close()


def test_datasets_without_and_with_a_target_are_not_taken_for_each_other(tmp_path):
    without = tw.Dataset.from_frame(X.lazy(), target=None, memory="280KB")
    with pytest.raises(ParameterError, match="the Dataset has no target"):
        tw.RandomForestRegressor(3).fit(without)
    with pytest.raises(ParameterError, match="make the Dataset with target=None"):
        tw.IsolationForest().fit(in_files(tmp_path, PULL, None, 2))
    for options, told in (
        ({"nominal": ["k"]}, "nominal does not go with a Dataset"),
        ({"warm_start": True}, "warm_start=True"),
    ):
        with pytest.raises(ParameterError, match=told):
            tw.IsolationForest(**options).fit(without)
    with pytest.raises(ParameterError, match="without a target"):
        tw.Dataset.from_frame(X.lazy(), target=None, task="regression")
    forest = tw.IsolationForest(n_estimators=2).fit(without)
    with pytest.raises(AttributeError, match="the training rows lay elsewhere"):
        _ = forest.estimators_features_
