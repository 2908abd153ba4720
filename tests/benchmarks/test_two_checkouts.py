"""The scripts that look at a checkout, or compare two of them, run and tell what is there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import treewright

ROOT = Path(__file__).parents[2]
SOURCE = Path(treewright.__file__).parents[1]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def run(script, folder, *words):
    """A finished script of ``benchmarks/``."""
    return subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / script), *map(str, words)],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=590,
        check=False,
        env={**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONUTF8": "1"},
    )


def test_the_house_is_counted(tmp_path):
    done = run("house.py", tmp_path, "--src", SOURCE, "--json", tmp_path / "house.json")

    assert done.returncode == 0, done.stderr
    written = json.loads((tmp_path / "house.json").read_text(encoding="utf-8"))
    assert all(trip["files"] > 3 and trip["switches"] >= trip["files"] - 1 for trip in written["trips"].values())
    assert written["classes"]["DecisionTreeClassifier"]["names"][0] == "DecisionTreeClassifier"
    lines = written["lines"]
    assert lines["lines"] == lines["code"] + lines["docstring"] + lines["comment"] + lines["blank"]
    assert lines["lines"] == sum(len(path.read_text("utf-8").splitlines()) for path in SOURCE.rglob("*.py"))


def test_a_checkout_answers_as_itself_and_another_word_is_noticed(tmp_path):
    other = tmp_path / "src"
    shutil.copytree(SOURCE / "treewright", other / "treewright", ignore=shutil.ignore_patterns("__pycache__"))

    same = run("same_bytes.py", tmp_path, SOURCE, other, "--only", "tree trace")
    version = other / "treewright" / "version.py"
    version.write_text(version.read_text("utf-8").replace('"0', '"9'), encoding="utf-8")
    changed = run("same_bytes.py", tmp_path, SOURCE, other, "--only", "tree trace")

    assert same.returncode == 0, same.stdout + same.stderr
    assert same.stdout.endswith("0 differ\n")
    assert changed.returncode == 1
    assert "tree trace | saved" in changed.stdout


def test_two_checkouts_are_timed_in_turn(tmp_path):
    out = tmp_path / "times.json"
    done = run("two_commits.py", tmp_path, SOURCE, SOURCE, "--quick", "--jobs", "small tree", "start", "--out", out)

    assert done.returncode == 0, done.stderr
    written = json.loads(out.read_text(encoding="utf-8"))
    assert set(written) == {"small tree", "start"}
    assert all(0 < each["low"] <= each["ratio"] <= each["high"] for each in written.values())
