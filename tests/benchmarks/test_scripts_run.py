"""The benchmark scripts run, on small tables, and write what they measured."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import treewright

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "benchmarks" / "versus"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def run(script, folder, *words):
    """A script's output and what it wrote as JSON."""
    out = folder / "out.json"
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / script), *words, "--out", str(out)],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=590,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(treewright.__file__).parents[1]), "PYTHONUTF8": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(out.read_text(encoding="utf-8"))


@pytest.fixture
def data(tmp_path):
    """A folder of two data sets: the penguins, and one whose file is gone."""
    folder = tmp_path / "data"
    folder.mkdir()
    text = (ROOT / "examples" / "penguins.csv").read_bytes()
    (folder / "penguins.csv.gz").write_bytes(gzip.compress(text))
    facts = {"name": "penguins", "file": "penguins.csv.gz", "task": "multiclass", "target": "species"}
    (folder / "penguins.json").write_text(json.dumps({**facts, "nominal": ["island", "sex"]}), encoding="utf-8")
    (folder / "gone.json").write_text(json.dumps({**facts, "name": "gone", "file": "gone.csv.gz"}), encoding="utf-8")
    return folder


def test_one_tree_is_measured_in_every_job(tmp_path):
    said, written = run("single_tree.py", tmp_path, "--quick")

    jobs = [result["job"] for result in written["results"]]
    beginnings = ("memory of fit", "fit gini", "fit entropy", "fit squared_error", "fit gini iris", "predict")
    assert [start for start in beginnings if not any(job.startswith(start) for job in jobs)] == []
    assert all(result["ours"] > 0 and result["theirs"] > 0 for result in written["results"] if result["unit"] == "s")
    assert all(job in said for job in jobs)
    assert "one thread" in said


def test_a_ratio_is_theirs_over_ours(tmp_path):
    _, written = run("single_tree.py", tmp_path, "--quick", "--jobs", "iris")

    (iris,) = written["results"]
    assert iris["pairs"] == 1
    assert iris["ratio"] == pytest.approx(iris["theirs"] / iris["ours"])


def test_the_time_to_the_proof_of_an_optimal_tree_is_measured_next_to_solvers_with_equal_errors(tmp_path):
    rivals = {"ConTree": "pycontree", "STreeD": "pystreed"}
    installed = [rival for rival, library in rivals.items() if find_spec(library)]
    if not installed:
        pytest.skip(f"none of {', '.join(rivals.values())} is installed")
    said, written = run("optimal.py", tmp_path, "--quick")

    for rival in installed:
        results = [result for result in written["results"] if result["job"].endswith(rival)]
        proven = [result["note"] for result in results if result["ratio"] is not None]
        assert proven
        for note in proven:
            ours, theirs = note.removeprefix("errors ").split(", theirs ")
            assert ours == theirs
        assert f"{rival}: geometric mean of" in said


def test_starting_is_measured(tmp_path):
    said, written = run("startup.py", tmp_path, "--quick")

    assert written["seconds"]["import treewright"] > written["seconds"]["python alone"] / 2
    assert "fit iris, later process" in said


def test_real_tables_are_measured_and_absent_ones_skipped(tmp_path, data):
    said, written = run("real_data.py", tmp_path, "--data", str(data), "--repeats", "1")

    (penguins,) = written["results"]
    assert penguins["job"] == "penguins 344 x 6"
    assert penguins["pairs"] == 5
    assert "gone: not there, skipped" in said
    ours = float(penguins["note"].split()[2].rstrip(","))
    assert 0.9 < ours <= 1.0


def test_searched_first_levels_are_measured_next_to_cart(tmp_path, data):
    said, written = run("lookahead.py", tmp_path, "--data", str(data), "--names", "penguins", "gone", "--quick")

    cart, *ahead = written["trees"]
    assert [tree["tree"] for tree in ahead] == [f"{levels} of 5 levels, 20 completions" for levels in (1, 2)]
    assert all(0.0 <= tree["loss"] <= cart["loss"] < 0.1 for tree in ahead)
    assert "gone: not there, skipped" in said


def test_optimal_trees_are_judged_on_new_rows(tmp_path, data):
    said, written = run("optimal_folds.py", tmp_path, "--data", str(data), "--names", "penguins", "gone", "--quick")

    pruned, optimal, as_large, as_deep = written["trees"]
    assert [optimal["tree"], as_deep["tree"]] == ["optimal, depth 2", "CART, depth 2"]
    assert as_large["leaves"] == optimal["leaves"]
    assert all(0.9 < tree["score"] <= 1.0 for tree in (pruned, optimal, as_large, as_deep))
    assert "gone: not there, skipped" in said


def test_the_classics_name_what_is_not_there(tmp_path, data):
    said, written = run("classics.py", tmp_path, "--data", str(data), "--weka-jar", "no.jar")

    assert [f"{name} is not there" in said for name in ("adult", "mushroom", "Weka or Java")] == [True] * 3
    assert written["results"] == []


def test_the_pruning_path_says_what_was_scaled_and_what_was_timed(tmp_path):
    said, written = run("pruning_path.py", tmp_path, "--quick")

    assert "adult is not there" in said
    whole, some = written["results"][::2], written["results"][1::2]
    assert len(whole) == len(some) == 3
    for scaled, timed in zip(whole, some, strict=True):
        assert "scaled from 5 of their" in scaled["note"]
        assert scaled["ours"] == timed["ours"]
        assert scaled["theirs"] > timed["theirs"] > 0


def test_forests_are_measured_in_every_job_and_absent_tables_are_named(tmp_path):
    said, written = run("forests.py", tmp_path, "--quick", "--rivals", "sklearn")

    jobs = [result["job"] for result in written["results"]]
    large = ("memory of fit random forest", "memory of fit extra-trees", "fitted random forest", "fitted extra-trees")
    beginnings = (*large, "fit random forest", "fit extra-trees", "predict 500 rows", "predict 1 row")
    assert [start for start in beginnings if not any(job.startswith(start) for job in jobs)] == []
    assert all(
        result["ours"] > 0 and result["theirs"] > 0 for result in written["results"] if result["unit"] != "x table"
    )
    fits = [result for result in written["results"] if result["job"].startswith("fit ")]
    assert all(result["note"].startswith("AUC ours 0.") for result in fits)
    assert "covertype is not there" in said


def test_the_growth_of_a_forests_time_is_measured_and_drawn(tmp_path):
    said, written = run("forest_scaling.py", tmp_path, "--quick", "--picture", str(tmp_path / "growth.svg"))

    assert set(written["powers"]) == {"rows", "columns", "trees"}
    assert len(written["results"]) == 6
    assert (tmp_path / "growth.svg").read_text(encoding="utf-8").count("measured") >= 1
    assert "time grows with trees to the power of" in said


def test_the_same_tree_is_drawn_and_measured_by_each_library(tmp_path):
    words = ("--quick", "--libraries", "scikit-learn", "treewright", "--pictures", str(tmp_path / "pictures"))

    said, written = run("pictures.py", tmp_path, *words)

    theirs, ours = written["results"]
    assert theirs["nodes"] == ours["nodes"] == 9
    assert all(result["seconds"] > 0 and result["bytes"] > 0 for result in (theirs, ours))
    names = sorted(path.name for path in (tmp_path / "pictures").iterdir())
    assert names == ["iris-scikit-learn.png", "iris-treewright.svg"]
    assert all(name in said for name in names)
