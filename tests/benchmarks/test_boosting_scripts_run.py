"""The scripts that compare boosting run, on small tables, and write what they measured."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import treewright

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def run(script, folder, *words):
    """A script's output and what it wrote as JSON."""
    out = folder / "out.json"
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / script), *words, "--threads", "1", "--out", str(out)],
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
    """A folder of one data set, the penguins."""
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "penguins.csv.gz").write_bytes(gzip.compress((ROOT / "examples" / "penguins.csv").read_bytes()))
    facts = {"name": "penguins", "file": "penguins.csv.gz", "task": "multiclass", "target": "species", "rows": 344}
    (folder / "penguins.json").write_text(json.dumps({**facts, "nominal": ["island", "sex"]}), encoding="utf-8")
    return folder


def test_every_job_is_measured(tmp_path):
    said, written = run("versus/boosting.py", tmp_path, "--quick", "--rivals", "sklearn")

    jobs = [result["job"] for result in written["results"]]
    beginnings = ("memory of fit", "fit made 2,000", "fit made 200 x 10", "predict 500 rows", "predict 1 row")
    assert [start for start in beginnings if not any(job.startswith(start) for job in jobs)] == []
    assert all(result["ours"] > 0 and result["theirs"] > 0 for result in written["results"] if result["unit"] == "s")
    assert all(job in said for job in jobs)
    assert "adult is not there" in said


def test_defaults_are_ranked_and_scores_of_others_are_kept(tmp_path, data):
    cache = tmp_path / "cache.json"
    words = ("defaults/boosting.py", tmp_path, "--data", str(data), "--folds", "2", "--cache", str(cache))
    words += ("--names", "penguins", "titanic", "--rows", "400")
    left_out = ("LightGBM", "XGBoost", "CatBoost")
    others = ("--skip", *(f"{name}/{other}" for name in ("penguins", "titanic") for other in left_out))

    said, written = run(*words, *others)
    kept = cache.read_text(encoding="utf-8")
    tried, candidates = run(*words, *others, "--try", "n_estimators=1,60", "learning_rate=0.1")

    assert "| mean rank |" in said
    assert set(written["scores"]["penguins"]) == {"Treewright", "scikit-learn"}
    assert "| titanic | 400 x 3 | 3 (4) | log loss |" in said
    assert len(written["scores"]["penguins"]["Treewright"]) == 2
    assert cache.read_text(encoding="utf-8") == kept
    losses = {each["parameters"]["n_estimators"]: each["scores"]["penguins"] for each in candidates["candidates"]}
    assert losses[60] < losses[1]
    assert sum(line.endswith('"learning_rate": 0.1}') for line in tried.splitlines()) == 2
