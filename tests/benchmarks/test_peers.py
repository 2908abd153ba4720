"""scikit-learn's own tests with Treewright's classes: the quick ones, and the page that lists what differs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import sklearn

import treewright

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benchmarks" / "peers" / "sklearn_suites.py"
LISTED_FOR = "1.9"  # the tests of another scikit-learn have other names


def run(*words):
    return subprocess.run(
        [sys.executable, str(SCRIPT), *words],
        capture_output=True,
        encoding="utf-8",
        timeout=290,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(treewright.__file__).parents[1]), "PYTHONUTF8": "1"},
    )


@pytest.mark.skipif(not sklearn.__version__.startswith(LISTED_FOR), reason=f"the list is of scikit-learn {LISTED_FOR}")
@pytest.mark.slow  # another library's tests, a minute of them
def test_the_quick_suites_pass_but_for_the_listed_differences():
    done = run("--quick")

    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    assert " 0 failed" in done.stdout


@pytest.mark.skipif(not sklearn.__version__.startswith(LISTED_FOR), reason=f"the list is of scikit-learn {LISTED_FOR}")
def test_the_page_of_differences_is_what_the_script_prints():
    page = (ROOT / "docs" / "reference" / "sklearn-differences.md").read_text(encoding="utf-8")

    assert run("--page").stdout == page


def test_a_failure_that_nothing_explains_ends_the_script_with_an_error(tmp_path):
    wrong = tmp_path / "test_wrong.py"
    wrong.write_text("def test_wrong():\n    assert 1 == 2\n", encoding="utf-8")

    done = run("--suites", str(wrong))

    assert done.returncode == 1
    assert "0 passed, 0 different, 1 failed" in done.stdout
    assert "::test_wrong: assert 1 == 2" in done.stdout
