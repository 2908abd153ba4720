"""``treewright export``: the file says what the model says, and what cannot be written is refused."""

from __future__ import annotations

import datetime as dt
import json
import shutil

import polars as pl
import pytest
from rotating import few

import treewright as tw


def test_a_model_becomes_code(command, penguins, tmp_path):
    table = pl.read_csv(penguins)
    forest = tw.RandomForestClassifier(5, random_state=0).fit(table.drop("species"), table["species"])
    forest.save(tmp_path / "f.tw")
    done = command("export", tmp_path / "f.tw", "--out", tmp_path / "f.py")
    assert done.returncode == 0, done.stderr
    exec((tmp_path / "f.py").read_text(), code := {})
    rows = table.drop("species").rows(named=True)[:50]
    assert [code["predict"](code["encode"](row)) for row in rows] == forest.predict(table.drop("species"))[:50].tolist()
    done = command("export", tmp_path / "f.tw", "--out", tmp_path / "f.c", "--name", "birds")
    assert done.returncode == 0, done.stderr
    assert "int birds_predict(" in (tmp_path / "f.c").read_text()


def test_what_cannot_be_written_is_refused(command, tmp_path):
    days = [dt.date(2024, month, 3) for month in range(1, 13)]
    tree = tw.DecisionTreeRegressor(calendar=["month"]).fit({"sold": days, "n": [1, 2, 1] * 4}, range(12))
    tree.save(tmp_path / "t.tw")
    done = command("export", tmp_path / "t.tw", "--out", tmp_path / "t.c")
    assert done.returncode == 2
    assert "'sold.month' is a part of dates" in " ".join(done.stderr.split())
    assert not (tmp_path / "t.c").exists()
    done = command("export", tmp_path / "t.tw", "--out", tmp_path / "t.rs")
    assert done.returncode == 2
    assert ".c, .js, .mjs, .py" in " ".join(done.stderr.split())
    (tmp_path / "there.py").write_text("mine")
    done = command("export", tmp_path / "t.tw", "--out", tmp_path / "there.py")
    assert done.returncode != 0
    assert (tmp_path / "there.py").read_text() == "mine"


@pytest.mark.parametrize(
    ("ending", "engine"), few([(".py", "python"), (".mjs", "node"), (".c", "gcc"), (".java", "java")], 1)
)
def test_the_proof_travels_with_the_file(command, penguins, tmp_path, ending, engine):
    if engine != "python" and shutil.which({"java": "javac"}.get(engine, engine)) is None:
        pytest.skip(f"{engine} is not installed")
    table = pl.read_csv(penguins)
    boosted = tw.GradientBoostingClassifier(10, random_state=0).fit(table.drop("species"), table["species"])
    boosted.save(tmp_path / "b.tw")
    source, vectors = tmp_path / f"b{ending}", tmp_path / "b.json"
    done = command("export", tmp_path / "b.tw", "--out", source, "--vectors", vectors)
    assert done.returncode == 0, done.stderr
    done = command("verify", source, "--vectors", vectors)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{engine}, " in done.stdout
    assert "sums are bit-identical" in done.stdout

    found = json.loads(vectors.read_text())
    found["sums"][3][0] += 1e-9
    vectors.write_text(json.dumps(found))
    done = command("verify", source, "--vectors", vectors)
    assert done.returncode == 1
    assert "sums of 1 differ" in done.stdout
    vectors.write_text(json.dumps(found | {"rows": found["rows"][:5]}))
    done = command("verify", source, "--vectors", vectors)
    assert done.returncode != 0
    assert "must have the same length, at least 1" in done.stderr
    vectors.write_text(json.dumps(found))
    source.write_text("nothing that runs (")
    done = command("verify", source, "--vectors", vectors)
    assert done.returncode != 0
    assert "failed" in done.stderr


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"rows": 3, "sums": [], "values": []}', '{"rows": [["x"]], "sums": [], "values": []}']
)
def test_what_are_no_vectors_is_said(command, tmp_path, text):
    (tmp_path / "v.json").write_text(text)
    (tmp_path / "m.py").write_text("")
    done = command("verify", tmp_path / "m.py", "--vectors", tmp_path / "v.json")
    assert done.returncode not in (0, None)
    assert "vectors" in done.stderr or "lists of numbers" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "change",
    [
        {"rounding": "inf"}, {"rounding": -1}, {"rounding": None}, {"rows": []}, {"columns": []}, {"columns": [{}] * 6},
        {"answers": []}, {"name": "a b"}, {"classes": [3]}, {"version": 1}, {"rows": "x"},
    ],
)  # fmt: skip
def test_vectors_that_were_changed_are_refused(command, penguins, tmp_path, change):
    table = pl.read_csv(penguins)
    tree = tw.DecisionTreeClassifier(max_depth=2).fit(table.drop("species"), table["species"])
    tree.export(tmp_path / "m.py", vectors=tmp_path / "v.json")
    found = json.loads((tmp_path / "v.json").read_text())
    (tmp_path / "v.json").write_text(json.dumps(found | change))
    done = command("verify", tmp_path / "m.py", "--vectors", tmp_path / "v.json")
    assert done.returncode not in (0, None)
    assert "vectors" in done.stderr
    assert "Traceback" not in done.stderr
    found["rows"][0][0] = 99  # no code of a level
    (tmp_path / "v.json").write_text(json.dumps(found))
    assert (
        "is not a code of its levels" in command("verify", tmp_path / "m.py", "--vectors", tmp_path / "v.json").stderr
    )
