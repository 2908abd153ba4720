"""What the command fits without scikit-learn is what the estimators fit, byte for byte."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import treewright as tw
from treewright.cli.request import Learner
from treewright.learn.params import CLASSES, NUMBERS
from treewright.learn.registry import ALGORITHMS

PENGUINS = pl.read_csv(Path(__file__).parents[2] / "examples" / "penguins.csv", null_values=["NA", ""]).drop_nulls()
FEW = {"n_estimators": 3}
LEARNERS = [
    (algorithm, task, name)
    for algorithm in ALGORITHMS
    for task, name in ((CLASSES, algorithm.classifier), (NUMBERS, algorithm.regressor))
    if name is not None and not algorithm.of_members
]


@pytest.mark.parametrize(("algorithm", "task", "name"), LEARNERS, ids=[name for *_, name in LEARNERS])
def test_a_learner_makes_the_file_and_the_predictions_of_the_estimator(algorithm, task, name, tmp_path):
    target = "species" if task == CLASSES else "body_mass_g"
    X, y = PENGUINS.drop(target), PENGUINS[target]
    if algorithm.word == "id3":
        X = X.select(pl.col(pl.String))
    values = FEW if algorithm.kind == "trees" else {}
    learner = Learner(algorithm, task, values).fit(X, y)
    estimator = getattr(tw, name)(**values).fit(X, y)

    learner.model_.save(tmp_path / "learner.tw")
    estimator.save(tmp_path / "estimator.tw")
    assert (tmp_path / "learner.tw").read_bytes() == (tmp_path / "estimator.tw").read_bytes()
    assert learner.predict(X).tolist() == estimator.predict(X).tolist()
    assert learner.__sklearn_clone__().params == learner.params
