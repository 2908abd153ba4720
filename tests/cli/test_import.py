"""``treewright import``: a file of another library becomes a model file that all other commands take."""

from __future__ import annotations

import json

import polars as pl
import pytest

import treewright as tw


@pytest.fixture
def theirs(penguins, tmp_path):
    """A model of XGBoost in a file, and the table that it was trained on."""
    xgboost = pytest.importorskip("xgboost", reason="XGBoost is not installed")
    table = pl.read_csv(penguins)[["bill_length_mm", "bill_depth_mm", "body_mass_g"]].drop_nulls()
    table.write_csv(tmp_path / "rows.csv")
    X = table.drop("body_mass_g")
    model = xgboost.XGBRegressor(n_estimators=12, max_depth=3).fit(X.to_numpy(), table["body_mass_g"].to_numpy())
    model.get_booster().feature_names = X.columns
    model.save_model(tmp_path / "theirs.ubj")
    return tmp_path / "theirs.ubj", tmp_path / "rows.csv", model.predict(X.to_numpy())


def test_a_model_of_another_library_becomes_one_that_every_command_takes(command, theirs, tmp_path):
    path, rows, said = theirs
    out = tmp_path / "ours.tw"
    done = command("import", path, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "grown by gradient_boosting of XGBoost" in done.stdout
    done = command("predict", out, rows)
    assert done.returncode == 0, done.stderr
    answers = [float(line) for line in done.stdout.split()[1:]]
    assert answers == pytest.approx(said.tolist(), rel=1e-5)
    for words in (
        ("show", out), ("explain", out, rows, "--row", "0"), ("export", out, "--out", tmp_path / "m.py"),
        ("prune", out, "--method", "rounds", "--set", "n_rounds=3", "--out", tmp_path / "fewer.tw"),
    ):  # fmt: skip
        done = command(*words)
        assert done.returncode == 0, (words, done.stderr)
    assert len(tw.load(tmp_path / "fewer.tw").trees) == 3


def test_what_is_no_model_is_told_and_no_file_is_left(command, penguins, tmp_path):
    (tmp_path / "odd.json").write_text(json.dumps({"learner": {}}))
    (tmp_path / "m.pkl").write_bytes(b"\x80\x04\x95")
    for name, said in (("odd.json", "XGBoost"), ("m.pkl", "a pickle"), ("gone.ubj", "gone.ubj")):
        done = command("import", tmp_path / name, "--out", tmp_path / "m.tw")
        assert done.returncode not in (0, None)
        assert said in " ".join(done.stderr.split())
        assert "Traceback" not in done.stderr
        assert not (tmp_path / "m.tw").exists()


def test_a_file_that_is_there_is_kept(command, theirs, tmp_path):
    (tmp_path / "mine.tw").write_text("mine")
    done = command("import", theirs[0], "--out", tmp_path / "mine.tw")
    assert done.returncode != 0
    assert (tmp_path / "mine.tw").read_text() == "mine"
    assert command("import", theirs[0], "--out", tmp_path / "mine.tw", "--force").returncode == 0
    assert tw.load(tmp_path / "mine.tw").has_scores


def test_names_that_a_file_does_not_hold_are_given(command, penguins, tmp_path):
    lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is not installed")
    table = pl.read_csv(penguins)[["species", "bill_length_mm", "bill_depth_mm"]].drop_nulls()
    X, names = table.drop("species").to_numpy(), sorted(set(table["species"]))
    lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(X, table["species"]).booster_.save_model(tmp_path / "m.txt")
    words = ("--target", "species", "--classes", ",".join(names), "--columns", "bill_length_mm,bill_depth_mm")
    done = command("import", tmp_path / "m.txt", "--out", tmp_path / "m.tw", *words)
    assert done.returncode == 0, done.stderr
    done = command("evaluate", tmp_path / "m.tw", penguins)
    assert done.returncode == 0, done.stderr
    assert "Adelie" in done.stdout
    model = tw.load(tmp_path / "m.tw")
    assert set(model.predict(table.drop("species")).tolist()) <= set(names)
    for wrong in (("--classes", "a,b"), ("--columns", "a"), ("--columns", "a,a"), ("--unseen", "odd")):
        done = command("import", tmp_path / "m.txt", "--out", tmp_path / "n.tw", *wrong)
        assert done.returncode == 2
        assert wrong[0][2:] in done.stderr
