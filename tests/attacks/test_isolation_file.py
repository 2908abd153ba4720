"""Model files of isolation forests whose facts are wrong, though the digest is right: refused when they are read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import treewright as tw
from treewright.exceptions import ModelFileError
from treewright.forest.isolation import anomaly_scores
from treewright.trees import codec
from treewright.trees.check_model import check_model


@pytest.fixture(scope="module")
def model():
    return tw.IsolationForest(n_estimators=4).fit(np.random.default_rng(0).normal(size=(60, 2))).model_


def file_of(model, monkeypatch):
    """The bytes of a model that the writer itself would refuse."""
    with monkeypatch.context() as patched:
        patched.setattr(codec, "check_model", lambda _: None)
        return codec.dumps(model)


WRONG = {
    "no max_samples": ("max_samples", None, "max_samples is missing"),
    "no offset": ("offset", None, "offset of the isolation forest is missing"),
    **{f"max_samples={value!r}"[:30]: ("max_samples", value, "max_samples is")
       for value in ("a", 0, -5, 1, 1.5, 60.0, True, 10**30, 59, [60])},
    **{f"offset={value!r}": ("offset", value, "offset of the isolation forest is")
       for value in ("a", 0.1, -1.5, True, 10**30, [])},
    **{f"algorithm={value!r}": ("algorithm", value, "algorithm is") for value in (["x"], 3, {"isolation_forest": 1})},
}  # fmt: skip


@pytest.mark.parametrize(("name", "value", "message"), WRONG.values(), ids=WRONG)
def test_wrong_facts_are_refused_when_the_file_is_read(model, monkeypatch, name, value, message):
    facts = {key: item for key, item in {**model.facts, name: value}.items() if item is not None}
    data = file_of(replace(model, facts=facts), monkeypatch)

    with pytest.raises(ModelFileError, match=message):
        codec.loads(data)


@pytest.mark.parametrize("combine", ["sum", "vote"])
def test_trees_that_are_not_averaged_are_no_isolation_forest(model, monkeypatch, combine):
    with pytest.raises(ModelFileError):
        codec.loads(file_of(replace(model, combine=combine), monkeypatch))


@pytest.mark.parametrize("estimator", [tw.RandomForestRegressor(3), tw.RandomForestClassifier(3)], ids=repr)
def test_another_forest_is_no_isolation_forest(model, monkeypatch, estimator):
    other = estimator.fit([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]).model_
    facts = {**other.facts, "algorithm": "isolation_forest", "max_samples": 4, "offset": -0.5}

    with pytest.raises(ModelFileError, match="whose trees predict one path length"):
        codec.loads(file_of(replace(other, facts=facts), monkeypatch))


def test_paths_below_0_are_refused(model, monkeypatch):
    tree = model.trees[1]
    below = replace(model, trees=(model.trees[0], replace(tree, value=-tree.value), *model.trees[2:]))

    with pytest.raises(ModelFileError, match="tree 1 of the isolation forest holds a path length below 0"):
        codec.loads(file_of(below, monkeypatch))


def test_the_command_refuses_such_a_file_in_one_line(model, monkeypatch, tmp_path):
    from typer.testing import CliRunner

    from treewright.cli.app import app

    facts = {key: value for key, value in model.facts.items() if key != "offset"}
    (tmp_path / "odd.tw").write_bytes(file_of(replace(model, facts=facts), monkeypatch))
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")

    done = CliRunner().invoke(app, ["predict", str(tmp_path / "odd.tw"), str(tmp_path / "rows.csv")])

    assert done.exit_code == 1
    assert "offset of the isolation forest is missing" in done.output
    assert "Traceback" not in done.output


@pytest.mark.parametrize("options", [{}, {"bootstrap": True, "max_samples": 12}, {"contamination": 0.3}])
def test_a_forest_and_each_of_its_trees_keep_their_facts(options, tmp_path):
    X = np.random.default_rng(1).normal(size=(40, 2))
    forest = tw.IsolationForest(n_estimators=3, **options).fit(X)

    for model in (forest.model_, *forest.estimators_, forest.model_.tree(0).prune("leaves", max_leaves=2)):
        check_model(model)
        model.save(tmp_path / "m.tw")
        assert np.isfinite(anomaly_scores(tw.load(tmp_path / "m.tw"), X)).all()
