"""Claims about learning without scikit-learn."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import treewright as tw
from treewright.exceptions import DataError, ParameterError
from treewright.learn.boosting_params import BoostingParams
from treewright.learn.forest import ForestParams
from treewright.learn.members import BaggingParams
from treewright.learn.single import ChaidParams, TreeParams
from treewright.learn.train import make_dataset, train

TABLE = {"size": [1.0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] * 3, "sky": ["sun", "rain", "fog"] * 12}
LABELS = ["a", "a", "b", "b", "a", "b", "b", "c", "c", "a", "c", "c"] * 3


def saved(model, path):
    model.save(path)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("params", "estimator"),
    [
        (TreeParams(max_depth=3), tw.DecisionTreeClassifier(max_depth=3)),
        (TreeParams(splitter="hist", class_weight="balanced"),
         tw.DecisionTreeClassifier(splitter="hist", class_weight="balanced")),
        (ChaidParams(alpha=0.5), tw.CHAIDClassifier(alpha=0.5)),
        (ForestParams(n_estimators=4), tw.RandomForestClassifier(4)),
        (BoostingParams(n_estimators=3, min_samples_leaf=2), tw.GradientBoostingClassifier(3, min_samples_leaf=2)),
    ],
    ids=["cart", "hist", "chaid", "forest", "boosting"],
)  # fmt: skip
def test_training_gives_the_model_of_the_estimator_to_the_byte(params, estimator, tmp_path):
    trained = train(make_dataset(TABLE, LABELS, params), params)

    assert saved(trained.model, tmp_path / "a.tw") == saved(estimator.fit(TABLE, LABELS).model_, tmp_path / "b.tw")


def test_one_dataset_serves_many_fits(tmp_path):
    params = TreeParams(splitter="hist")
    dataset = make_dataset(TABLE, LABELS, params).shared()

    first, second = train(dataset, params), train(dataset, replace(params, max_depth=2))

    assert saved(first.model, tmp_path / "a") == saved(
        train(make_dataset(TABLE, LABELS, params), params).model, tmp_path / "b"
    )
    assert second.model.trees[0].max_depth == 2
    assert set(dataset.cache) == {("bins", 255)}


def test_a_sorted_order_that_is_kept_is_not_spent_by_the_first_fit(tmp_path):
    params = TreeParams()
    dataset = make_dataset(TABLE, LABELS, params).shared()

    models = [saved(train(dataset, params).model, tmp_path / str(at)) for at in range(3)]

    assert len(set(models)) == 1


def test_new_trees_join_those_of_the_start(tmp_path):
    few, many = ForestParams(n_estimators=2), ForestParams(n_estimators=5)
    dataset = make_dataset(TABLE, LABELS, few)

    joined = train(dataset, many, start=train(dataset, few))

    assert saved(joined.model, tmp_path / "a") == saved(train(dataset, many).model, tmp_path / "b")


def test_a_start_from_other_rows_is_refused():
    params = ForestParams(n_estimators=2)
    start = train(make_dataset(TABLE, LABELS, params), params)
    others = make_dataset(TABLE, LABELS[::-1], params)

    with pytest.raises(ParameterError, match="rows, target or weights are different"):
        train(others, replace(params, n_estimators=3), start=start)


def test_what_the_criterion_has_no_meaning_for_is_refused_with_the_dataset():
    params = TreeParams(task="regression", criterion="poisson")

    with pytest.raises(DataError, match=r"1 negative value\(s\)"):
        make_dataset({"x": [1, 2]}, [-1.0, 2.0], params)


def test_members_need_their_estimator():
    params = BaggingParams()

    with pytest.raises(ParameterError, match="use BaggingClassifier or BaggingRegressor"):
        train(make_dataset(TABLE, LABELS, TreeParams()), params)


def test_learning_brings_no_scikit_learn():
    program = """
import sys
from treewright.learn.train import make_dataset, train
from treewright.learn.forest import ForestParams
from treewright.learn.registry import ALGORITHMS
for each in ALGORITHMS:
    each.params_class()
params = ForestParams(n_estimators=2)
train(make_dataset({"x": [1.0, 2.0, 3.0]}, ["a", "b", "a"], params), params)
print(sorted(name for name in sys.modules if name.partition(".")[0] in ("sklearn", "pandas", "polars")))
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "[]"


def test_rows_of_weight_zero_are_left_out_and_said():
    params = TreeParams()
    weights = np.r_[0.0, np.ones(35)]
    dataset = make_dataset(TABLE, LABELS, params, weights)

    assert len(dataset) == 35
    assert dataset.kept.tolist() == [False] + [True] * 35


def test_what_a_dataset_keeps_serves_no_fit_that_needs_other_bins_or_orders(tmp_path):
    numbers = {"task": "regression"}
    fits = [
        TreeParams(splitter="hist", **numbers), TreeParams(splitter="hist", max_bins=3, **numbers),
        TreeParams(**numbers), TreeParams(criterion="absolute_error", **numbers),
        TreeParams(monotonic_cst={"size": 1}, **numbers), TreeParams(**numbers),
        ForestParams(n_estimators=2, bootstrap=False, **numbers),
    ]  # fmt: skip
    target, weights = np.arange(36) % 7 * 1.5, np.arange(1.0, 37.0)
    shared = make_dataset(TABLE, target, fits[0], weights).shared()

    for at, params in enumerate(fits):
        alone = train(make_dataset(TABLE, target, params, weights), params)

        assert saved(train(shared, params).model, tmp_path / "a") == saved(alone.model, tmp_path / "b"), at


def test_a_forest_cuts_its_bins_by_the_weights_of_rows_and_a_tree_by_those_of_classes_too(tmp_path):
    tree, forest = (
        TreeParams(splitter="hist", max_bins=4, class_weight="balanced"),
        ForestParams(n_estimators=2, max_bins=4, class_weight="balanced"),
    )
    labels, weights = ["a"] * 30 + ["b"] * 6, np.ones(36)
    shared = make_dataset(TABLE, labels, tree, weights).shared()
    train(shared, tree)

    alone = train(make_dataset(TABLE, labels, forest, weights), forest)

    assert saved(train(shared, forest).model, tmp_path / "a") == saved(alone.model, tmp_path / "b")


def test_a_dataset_of_the_other_task_is_refused():
    dataset = make_dataset(TABLE, LABELS, TreeParams())

    with pytest.raises(ParameterError, match="task='regression', but the target of the dataset is for classification"):
        train(dataset, TreeParams(task="regression"))


@pytest.mark.parametrize(
    "started", [TreeParams(), BoostingParams(n_estimators=1, min_samples_leaf=2)], ids=["tree", "boosting"]
)
def test_a_start_of_another_algorithm_is_refused(started):
    dataset = make_dataset(TABLE, LABELS, started)

    with pytest.raises(ParameterError, match="start is not a fit of random_forest"):
        train(dataset, ForestParams(n_estimators=2), start=train(dataset, started))
