"""Variables of the environment that mean nothing are told of once, at the first work and not at the import."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import pytest

import treewright as tw
from treewright.core import threads
from treewright.exceptions import DataWarning


@pytest.fixture
def untold(monkeypatch):
    """As in a process that has not worked yet."""
    for name in ("TREEWRIGHT_NUM_THREADS", "OMP_NUM_THREADS", "TREEWRIGHT_COMPILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(threads, "_is_told", False)
    return monkeypatch


@pytest.mark.parametrize("value", ["abc", "-1", "0", "1.5", str(10**20), "2 2"])
def test_what_is_no_number_of_threads_is_told_once_at_the_line_of_the_caller(untold, value):
    untold.setenv("TREEWRIGHT_NUM_THREADS", value)

    with pytest.warns(
        DataWarning, match=rf"TREEWRIGHT_NUM_THREADS='{value}' is not a whole number .*: every processor is used"
    ) as told:
        tw.DecisionTreeClassifier().fit([[1], [2]], ["a", "b"])
    assert len(told) == 1
    assert told[0].filename == __file__
    threads.resolve_jobs(None)  # says nothing more


def test_the_other_variable_counts_where_the_first_means_nothing(untold):
    untold.setenv("TREEWRIGHT_NUM_THREADS", "many")
    untold.setenv("OMP_NUM_THREADS", "1")

    with pytest.warns(DataWarning, match="OMP_NUM_THREADS is used instead"):
        assert threads.resolve_jobs(None) == 1


def test_a_long_value_is_cut(untold):
    untold.setenv("TREEWRIGHT_COMPILE", "x" * 5000)

    with pytest.warns(
        DataWarning, match=r"TREEWRIGHT_COMPILE='x+\.\.\.x+' is ignored, its only value is first"
    ) as told:
        threads.resolve_jobs(1)
    assert len(str(told[0].message)) < 200


@pytest.mark.parametrize(
    "values",
    [{}, {"TREEWRIGHT_NUM_THREADS": "2", "TREEWRIGHT_COMPILE": "first"}, {"TREEWRIGHT_COMPILE": ""},
     {"OMP_NUM_THREADS": "4,2"}],
)  # fmt: skip
def test_what_means_something_or_is_not_ours_is_not_told(untold, values):
    for name, value in values.items():
        untold.setenv(name, value)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        threads.resolve_jobs(None)


SCRIPT = """
import warnings
warnings.simplefilter("error")
import treewright, treewright.core.jit
from treewright.core.threads import resolve_jobs
from treewright.data import bin_rows
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    resolve_jobs(1)
    resolve_jobs(1)
print(*(each.message for each in told), sep="|")
"""


@pytest.mark.parametrize("folder", ["/dev/null", "file", "/proc", "x" * 5000])
def test_a_folder_that_cannot_be_used_is_told_after_a_silent_import(tmp_path, folder):
    (tmp_path / "file").write_text("")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, env={**os.environ, "TREEWRIGHT_CACHE_DIR": folder},
        capture_output=True, text=True, timeout=250, check=True,
    )  # fmt: skip

    assert done.stdout.startswith(f"TREEWRIGHT_CACHE_DIR='{folder[:9]}")
    assert "cannot be used" in done.stdout
    assert "every process compiles its own" in done.stdout
    assert "|" not in done.stdout
    assert len(done.stdout) < 250
    assert done.stderr == ""
