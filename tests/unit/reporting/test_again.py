"""Claims about an estimator that is made again from a model's facts."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

import treewright as tw
from treewright.model import Model
from treewright.reporting.data import estimator_of

X, Y = load_iris(return_X_y=True)
LABELS = np.array(["a", "b", "c"])[Y]
TABLE = {"size": ["S", "M", "L"] * 10, "kind": [1, 2, 2, 3, 1] * 6, "far": list(range(40, 70))}
OUTCOME = ["no", "yes", "yes"] * 10
FEW = {"n_estimators": 2}


@pytest.mark.parametrize(
    "estimator",
    [
        tw.DecisionTreeClassifier(max_depth=3, class_weight={"a": 2.0, "b": 1.0, "c": 0.5}, random_state=3),
        tw.DecisionTreeClassifier(monotonic_cst=[0, 0, 0, 0], class_weight="balanced"),
        tw.C45Classifier(confidence=0.1),
        tw.CHAIDClassifier(),
        tw.RandomForestClassifier(max_features=2, **FEW),
        tw.ExtraTreesClassifier(bootstrap=True, **FEW),
        tw.BaggingClassifier(tw.C45Classifier(min_samples_leaf=4), max_samples=0.5, **FEW),
        tw.BaggingClassifier(**FEW),
        tw.AdaBoostClassifier(tw.DecisionTreeClassifier(max_depth=2), learning_rate=0.5, **FEW),
        tw.GradientBoostingClassifier(learning_rate=0.3, **FEW),
        tw.KNeighborsClassifier(n_neighbors=3, scale="standard", weights="distance"),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_an_estimator_comes_back_with_all_its_parameters(estimator):
    made = estimator_of(estimator.fit(X, LABELS).model_)

    assert type(made) is type(estimator)
    # The seed of a member belongs to its ensemble.
    assert repr(made) == repr(estimator)
    assert np.array_equal(made.fit(X, LABELS).predict(X), estimator.predict(X))


@pytest.mark.parametrize(
    "estimator",
    [
        tw.DecisionTreeRegressor(min_samples_leaf=4, monotonic_cst={"x1": 1}),
        tw.CHAIDRegressor(),
        tw.AdaBoostRegressor(**FEW),
        tw.GradientBoostingRegressor(loss="quantile", quantile=[0.1, 0.9], **FEW),
        tw.KNeighborsRegressor(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_an_estimator_for_numbers_comes_back_too(estimator):
    assert repr(estimator_of(estimator.fit(X[:, :3], X[:, 3]).model_)) == repr(estimator)


@pytest.mark.parametrize(
    "declared",
    [
        {"ordinal": {"size": ["S", "M", "L"]}},
        {"ordinal": {"size": ["S", "M", "L"]}, "nominal": ["kind"]},
        {"nominal": {"kind": None, "size": ["L", "M", "S"]}},
        {"nominal": "all"},
        {"nominal": [1], "numeric": ["far"]},
    ],
)
def test_declarations_of_columns_come_back(declared):
    estimator = tw.DecisionTreeClassifier(**declared).fit(TABLE, OUTCOME)

    made = estimator_of(estimator.model_)

    assert made.fit(TABLE, OUTCOME).model_.schema == estimator.model_.schema


def test_a_model_from_a_file_tells_its_estimator(tmp_path):
    tw.DecisionTreeClassifier(max_depth=2).fit(X, LABELS).model_.save(tmp_path / "tree.tw")

    assert repr(estimator_of(tw.load(tmp_path / "tree.tw"))) == "DecisionTreeClassifier(max_depth=2)"


def test_a_generator_as_seed_leaves_no_seed():
    model = tw.DecisionTreeClassifier(random_state=np.random.RandomState(0)).fit(X, LABELS).model_

    assert estimator_of(model).random_state is None


@pytest.mark.parametrize(
    "fitted",
    [
        tw.KNeighborsClassifier(metric=lambda one, other: float(np.abs(one - other).sum())),
        tw.KNeighborsClassifier(weights=lambda far: 1 / (1 + far)),
        tw.IsolationForest(n_estimators=2),
        tw.GradientBoostingClassifier(interaction_cst=[{0, 1}, {2, 3}], **FEW),
    ],
    ids=["metric", "weights", "isolation", "sets"],
)
def test_what_the_facts_do_not_tell_is_no_estimator(fitted):
    assert estimator_of(fitted.fit(X, LABELS).model_) is None


@pytest.mark.parametrize("several", [tw.RandomForestClassifier, tw.BaggingClassifier, tw.GradientBoostingClassifier])
def test_one_of_many_trees_has_no_estimator_of_its_own(several):
    assert estimator_of(several(n_estimators=2).fit(X, LABELS).model_.tree(0)) is None


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"algorithm": "cart"},
        {"algorithm": ["cart"], "parameters": {}},
        {"algorithm": "cart", "parameters": []},
        {"algorithm": "cart", "parameters": {"max_depth": -3}},
        {"algorithm": "cart", "parameters": {"no_such": 3}},
        {"algorithm": "cart", "parameters": {"class_weight": [["Timestamp", 2.0]]}},
        {"algorithm": "cart", "parameters": {"nominal": ["no such column"]}},
        {"algorithm": "cart", "parameters": {"monotonic_cst": [["no such column", 1]]}},
        {"algorithm": "cart", "parameters": {"monotonic_cst": [["x0", 1], ["x0", -1]]}},
        {"algorithm": "bagging", "parameters": {"estimator": "load"}, "member": {"parameters": {}}},
    ],
)
def test_facts_of_any_origin_do_no_harm(facts):
    model = tw.DecisionTreeClassifier().fit(X, LABELS).model_
    own = {name: getattr(model, name) for name in model.__dataclass_fields__}

    assert estimator_of(Model(**(own | {"facts": facts}))) is None
