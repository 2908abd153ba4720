"""Estimators and models through pickle and its like: the same answers, and one version reads only its own."""

from __future__ import annotations

import io
import pickle

import cloudpickle
import joblib
import numpy as np
import pytest
import skops.io
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import treewright as tw
from treewright.exceptions import ModelFileError
from treewright.trees.data import stamped

X, Y = load_iris(return_X_y=True)
NAMED = {"length": X[:, 0].tolist(), "colour": np.array(["white", "blue", None], object)[Y].tolist()}
FEW = {"n_estimators": 3}
FITTED = {
    "tree": (tw.DecisionTreeClassifier(), X),
    "names": (tw.DecisionTreeClassifier(), NAMED),
    "c45": (tw.C45Classifier(), NAMED),
    "forest": (tw.RandomForestClassifier(**FEW), NAMED),
    "medians": (tw.RandomForestRegressor(criterion="absolute_error", **FEW), X),
    "extra-trees": (tw.ExtraTreesRegressor(**FEW), X),
    "boosting": (tw.GradientBoostingClassifier(**FEW), X),
    "bagging": (tw.BaggingClassifier(**FEW), X),
    "adaboost": (tw.AdaBoostClassifier(**FEW), X),
    "neighbours": (tw.KNeighborsClassifier(), NAMED),
    "isolation": (tw.IsolationForest(**FEW), X),
    "pipeline": (make_pipeline(StandardScaler(), tw.DecisionTreeClassifier()), X),
}


def through_joblib(estimator):
    file = io.BytesIO()
    joblib.dump(estimator, file)
    file.seek(0)
    return joblib.load(file)


def through_skops(estimator):
    written = skops.io.dumps(estimator)
    asked = skops.io.get_untrusted_types(data=written)
    ours = [name for name in asked if name.startswith("treewright.")]
    assert ours == asked
    return skops.io.loads(written, trusted=ours)


WAYS = {
    "pickle": lambda estimator: pickle.loads(pickle.dumps(estimator)),
    "cloudpickle": lambda estimator: pickle.loads(cloudpickle.dumps(estimator)),
    "joblib": through_joblib,
    "skops": through_skops,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FITTED)
def test_the_answers_come_back(name, way, tmp_path):
    estimator, table = FITTED[name]
    estimator = clone(estimator).fit(table, Y)

    again = WAYS[way](estimator)

    assert again.predict(table).tolist() == estimator.predict(table).tolist()
    if name not in ("pipeline", "neighbours"):
        again.save(tmp_path / "again.tw")
        estimator.save(tmp_path / "first.tw")
        assert (tmp_path / "again.tw").read_bytes() == (tmp_path / "first.tw").read_bytes()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["tree", "forest", "bagging", "neighbours"])
def test_a_pickle_of_another_version_is_refused(name, way, monkeypatch):
    estimator, table = FITTED[name]
    estimator = clone(estimator).fit(table, Y)
    for module in ("estimators.base", "trees.data", "model.neighbors"):
        monkeypatch.setattr(
            f"treewright.{module}.stamped", lambda state: {**stamped(state), "_treewright_version": "9.9"}
        )

    for one in (estimator, estimator.model_):
        with pytest.raises(ModelFileError, match=r"pickled by version 9\.9 of Treewright.*save\(path\)"):
            WAYS[way](one)


def test_a_pickle_from_before_versions_were_kept_is_refused():
    estimator = tw.DecisionTreeClassifier().fit(X, Y)

    with pytest.raises(ModelFileError, match="this DecisionTreeClassifier was pickled by an older version"):
        tw.DecisionTreeClassifier().__setstate__(dict(estimator.__dict__))
