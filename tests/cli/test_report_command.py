"""``treewright report`` and ``treewright fit --report``: the page, its summary, and what is refused before any work."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import polars as pl
import pytest

import treewright as tw
from treewright.cli import report as report_module


@pytest.fixture(scope="module")
def model(fitted):
    return fitted[0] / "penguins.tw"


def summary_in(path):
    return json.loads(path.read_text(encoding="utf-8"))


def fact(summary, name):
    return next(each["value"] for each in summary["facts"] if each["name"] == name)


# ---------------------------------------------------------------------------------------------------- what is written


def test_a_report_is_one_page_and_one_line_says_so(command, model, penguins, tmp_path):
    done = command("report", model, penguins, "--out", "r.html", "--title", "Penguins <b>", folder=tmp_path)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")

    assert done.returncode == 0, done.stderr
    assert done.stdout == "wrote r.html (report)\n"
    assert page.startswith("<!doctype html>")
    assert "Penguins &lt;b&gt;" in page
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]


def test_a_summary_is_that_of_the_library(command, model, penguins, tmp_path):
    done = command("report", model, penguins, "--out", tmp_path / "r.json", "--examples", 3, "--cv", "none")
    table = pl.read_csv(penguins)
    expected = tw.report(tw.load(model), table.drop("species"), table["species"].to_numpy(), examples=3, cv=None)

    assert done.returncode == 0, done.stderr
    assert summary_in(tmp_path / "r.json") == json.loads(expected.to_json())


def test_fit_reports_on_the_rows_held_out(command, penguins, tmp_path):
    words = ("fit", penguins, "--target", "species", "--set", "max_depth=2")
    done = command(*words, "--report", "r.json", "--out", "m.tw", folder=tmp_path)
    summary = summary_in(tmp_path / "r.json")

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == ["wrote m.tw (model)", "wrote r.json (summary)"]
    assert (fact(summary, "fitted on"), fact(summary, "tested on")) == ("258 rows", "86 rows")
    assert tw.load(tmp_path / "m.tw").show() in done.stdout


@pytest.mark.parametrize("words", [("--test-size", "0"), ("--cv", "3")])
def test_where_no_row_is_held_out_fit_reports_on_all(command, penguins, tmp_path, words):
    done = command("fit", penguins, "--target", "species", "--set", "max_depth=2", *words, "--report", "r.json",
                   folder=tmp_path)  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert fact(summary_in(tmp_path / "r.json"), "tested on") == "344 rows"


def test_the_rest_of_what_fit_says_is_the_same(command, penguins, tmp_path):
    words = ("fit", penguins, "--target", "species", "--set", "max_depth=2")
    with_report = command(*words, "--report", "r.html", folder=tmp_path).stdout.splitlines()

    assert with_report[:-1] == command(*words).stdout.splitlines()


def test_a_pruned_tree_and_numbers_have_reports(command, penguins, tmp_path):
    pruned = command("fit", penguins, "--target", "species", "--prune", "leaves", "--prune-set", "max_leaves=3",
                     "--report", "p.json", folder=tmp_path)  # fmt: skip
    numbers = command("fit", penguins, "--target", "body_mass_g", "--skip-missing-target", "--set", "max_depth=2",
                      "--report", "n.json", folder=tmp_path)  # fmt: skip

    assert (pruned.returncode, numbers.returncode) == (0, 0), pruned.stderr + numbers.stderr
    assert summary_in(tmp_path / "p.json")["tree"]["n_leaves"] == 3
    assert summary_in(tmp_path / "n.json")["task"] == "regression"


def test_weights_and_rows_without_a_target(command, penguins, tmp_path):
    table = pl.read_csv(penguins).with_columns(weight=pl.Series([2.0, 0.0] * 172))
    table.with_columns(species=pl.when(pl.int_range(344) < 10).then(None).otherwise("species")).write_csv(
        tmp_path / "t.csv"
    )
    fitted = command("fit", "t.csv", "--target", "species", "--weight", "weight", "--skip-missing-target",
                     "--out", "m.tw", "--set", "max_depth=2", folder=tmp_path)  # fmt: skip
    words = ("report", "m.tw", "t.csv", "--out", "r.json", "--weight", "weight")
    without = command(*words, folder=tmp_path)
    done = command(*words, "--skip-missing-target", folder=tmp_path)

    assert fitted.returncode == 0, fitted.stderr
    assert (without.returncode, without.stderr.count("\n")) == (1, 1)
    assert "target 'species' is missing" in without.stderr
    assert done.returncode == 0, done.stderr
    assert fact(summary_in(tmp_path / "r.json"), "tested on") == "167 rows"  # 334 with a target, half of weight 0


def test_reading_options_are_those_of_the_other_commands(command, model, penguins, tmp_path):
    pl.read_csv(penguins).write_csv(tmp_path / "t.csv", separator="|", null_value="n/a")
    done = command("report", model, tmp_path / "t.csv", "--separator", "|", "--missing-tokens", "n/a", "--out",
                   tmp_path / "r.json")  # fmt: skip

    assert done.returncode == 0, done.stderr


# ---------------------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--out", "r.txt"], 2, "name a page, .html, or its summary, .json"),
        (["--out", "there.html"], 1, "there.html: already exists: name another file, or replace it with --force"),
        (["--out", "nowhere/r.html"], 1, "the folder nowhere does not exist"),
        (["--out", "r.html", "--cv", "1"], 2, "--cv 1: give 2 folds or more, none"),
        (["--out", "r.html", "--cv", "ten"], 2, "--cv ten: give 2 folds or more, none"),
        (["--out", "r.html", "--cv", "9" * 400], 2, "give 2 folds or more, none"),
        (["--out", "r.html", "--curves", "learning,deep"], 2, "--curves 'deep': choose from learning, depth"),
        (["--out", "r.html", "--examples", "-1"], 2, "--examples -1: give 0 or more rows"),
        (["--out", "r.html", "--target", "specie"], 1, "no column 'specie'"),
        (["--out", "r.html", "--weight", "species"], 2, "--weight species: the column is a feature of the model"),
    ],
)
def test_a_refusal_is_one_line_and_nothing_is_written(command, model, penguins, tmp_path, words, code, said):
    (tmp_path / "there.html").write_text("kept")
    done = command("report", model, penguins, *words, folder=tmp_path)

    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"there.html": "kept"}


def test_words_come_before_the_model_and_the_output_before_the_rows(command, model, tmp_path):
    (tmp_path / "there.html").write_text("kept")

    assert "--cv 0" in command("report", "absent.tw", "absent.csv", "--out", "r.html", "--cv", "0").stderr
    done = command("report", model, "absent.csv", "--out", tmp_path / "there.html")
    assert "already exists" in done.stderr


def test_force_replaces_a_report(command, model, penguins, tmp_path):
    (tmp_path / "r.html").write_text("old")
    done = command("report", model, penguins, "--out", tmp_path / "r.html", "--force")

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_an_isolation_forest_has_no_report(command, penguins, tmp_path):
    fit = ("fit", penguins, "--drop", "species", "--algorithm", "isolation")
    told = command(*fit, "--report", "r.html", folder=tmp_path)
    command(*fit, "--out", "m.tw", folder=tmp_path)
    done = command("report", "m.tw", penguins, "--out", "r.html", folder=tmp_path)

    for refused in (told, done):
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "report" in refused.stderr
        assert refused.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["m.tw"]


def test_nearest_neighbours_have_a_report_without_a_tree(command, penguins, tmp_path):
    fit = ("fit", penguins, "--target", "species", "--algorithm", "knn", "--report", "fit.json", "--out", "m.tw")
    told = command(*fit, folder=tmp_path)
    done = command("report", "m.tw", penguins, "--out", "r.json", "--examples", "3", folder=tmp_path)

    assert (told.returncode, done.returncode) == (0, 0), told.stderr + done.stderr
    for name in ("fit.json", "r.json"):
        held = json.loads((tmp_path / name).read_text(encoding="utf-8"))
        assert held["tree"] is None
        assert held["quality"][0]["confusion"]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--report", "r.pdf"], 2, "name a page, .html"),
        (["--report", "there.html"], 1, "already exists"),
        (["--report", "same.html", "--svg", "same.html"], 2, "--svg and --report name the same file same.html"),
        (["--report", "same.html", "--out", "same.html"], 2, "--out and --report name the same file same.html"),
    ],
)
def test_fit_refuses_a_report_before_it_reads(command, tmp_path, words, code, said):
    (tmp_path / "there.html").write_text("kept")
    done = command("fit", "absent.csv", "--target", "y", *words, folder=tmp_path)

    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_model_is_kept_shown_and_named_where_the_report_about_it_is_refused(command, penguins, tmp_path, monkeypatch):
    def refused(*_words, **_options):
        raise tw.exceptions.DataError("no report of these rows")

    monkeypatch.setattr(tw, "report", refused, raising=False)
    done = command("fit", penguins, "--target", "species", "--out", "m.tw", "--report", "r.html", folder=tmp_path)

    assert done.returncode == 1
    assert "  all rows  " in done.stdout
    assert "held-out accuracy" in done.stdout
    assert done.stdout.splitlines()[-1] == "wrote m.tw (model)"
    assert done.stderr.splitlines()[-1] == f"treewright: error: {penguins}: no report of these rows"
    assert [path.name for path in tmp_path.iterdir()] == ["m.tw"]


def test_ctrl_c_while_the_report_is_made_says_what_is_there(penguins, tmp_path, surroundings):
    script = (
        "import os, signal, sys\nimport treewright\n"
        "def stopped(*words, **options):\n    os.kill(os.getpid(), signal.SIGINT)\n    signal.pause()\n"
        "treewright.report = stopped\n"
        "from treewright.cli.app import main\n"
        "main()"
    )
    words = ["fit", str(penguins), "--target", "species", "--out", "m.tw", "--report", "r.html"]
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, check=False,
                          cwd=tmp_path, env=surroundings, timeout=250)  # fmt: skip

    assert done.returncode == 130
    assert done.stderr.splitlines()[-1] == "treewright: stopped by Ctrl-C; wrote m.tw (model)"
    assert [path.name for path in tmp_path.iterdir()] == ["m.tw"]


def test_a_full_disk_leaves_the_old_report(command, model, penguins, tmp_path, monkeypatch):
    (tmp_path / "r.html").write_text("old")

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    done = command("report", model, penguins, "--out", tmp_path / "r.html", "--force")

    assert done.returncode == 1
    assert "cannot be written: No space left on device" in done.stderr
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"r.html": "old"}


def test_the_words_of_curves_and_folds():
    assert report_module._folds("auto") == "auto"
    assert report_module._folds("none") is None
    assert report_module._folds("10") == 10
    assert report_module._curves(("depth, learning", "depth")) == ("depth", "learning")
