"""``treewright export``: the file says what the model says, and what cannot be written is refused."""

from __future__ import annotations

import polars as pl

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


def test_what_cannot_be_written_is_refused(command, penguins, tmp_path):
    table = pl.read_csv(penguins)
    tree = tw.C45Classifier().fit(table.drop("species"), table["species"])
    tree.save(tmp_path / "t.tw")
    done = command("export", tmp_path / "t.tw", "--out", tmp_path / "t.c")
    assert done.returncode == 2
    assert "fractional" in done.stderr
    assert not (tmp_path / "t.c").exists()
    done = command("export", tmp_path / "t.tw", "--out", tmp_path / "t.rs")
    assert done.returncode == 2
    assert ".c, .js, .mjs, .py" in " ".join(done.stderr.split())
    (tmp_path / "there.py").write_text("mine")
    done = command("export", tmp_path / "t.tw", "--out", tmp_path / "there.py")
    assert done.returncode != 0
    assert (tmp_path / "there.py").read_text() == "mine"
