"""The script that compares nearest neighbours runs, on small tables, and writes what it measured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import treewright

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def test_every_job_is_measured(tmp_path):
    out = tmp_path / "out.json"
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks/versus/neighbours.py"), "--quick", "--threads", "1", "--out", str(out)],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=590,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(treewright.__file__).parents[1]), "PYTHONUTF8": "1"},
    )

    assert done.returncode == 0, done.stderr
    results = json.loads(out.read_text(encoding="utf-8"))["results"]
    jobs = [result["job"] for result in results]
    beginnings = (
        "brute 500 x 8",
        "build a tree of 600 x 3",
        "search a tree of 600 x 3, 100 queries: scikit-learn",
        "search a tree of 400 x 8, 100 queries: SciPy",
        "documents 200 x 1,000, 50 queries",
        "leave one out 80 x 4, k = 1 to 5: a search",
        "leave one out 30 x 4, k = 1 to 5: a fit",
        "memory of fit and search, brute",
        "memory of fit and search, sparse",
    )
    assert [start for start in beginnings if not any(job.startswith(start) for job in jobs)] == []
    assert all(result["ours"] > 0 and result["theirs"] > 0 for result in results if result["unit"] == "s")
    agreeing = [result["note"] for result in results if "agree" in result["note"]]
    assert len(agreeing) >= 6
    assert all(float(note.split("%")[0]) > 95 for note in agreeing)
    assert all(job in done.stdout for job in jobs)
