"""SIGTERM, by which systems end processes: the command line cleans up as after Ctrl-C, and its exit status is 143."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

import treewright as tw

TOLD = "treewright: stopped by SIGTERM; nothing was written"


@pytest.fixture
def folder(tmp_path, copies):
    """A folder with a table of 200,000 rows, a model, and a folder for temporary files."""
    rng = np.random.default_rng(0)
    X = rng.random((200_000, 6))
    names = list("abcdef")
    y = X[:, 0] > X[:, 1]
    pl.DataFrame(X, schema=names).with_columns(y=pl.Series(y.astype(int))).write_parquet(tmp_path / "t.parquet")
    few = {name: X[:2000, at] for at, name in enumerate(names)}
    tw.GradientBoostingClassifier(n_estimators=200).fit(few, y[:2000]).save(tmp_path / "m.tw")
    (tmp_path / "tmp").mkdir()
    return tmp_path


def begun(folder, *words):
    """A command, begun in the folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "treewright", *words], cwd=folder, env={**os.environ, "TMPDIR": str(folder / "tmp")},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def wait_until(seen, process):
    deadline = time.monotonic() + 100
    while not seen():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def ended(process):
    """The exit status, and the last line on standard error, after SIGTERM."""
    process.send_signal(signal.SIGTERM)
    try:
        _, told = process.communicate(timeout=60)
    finally:
        process.kill()
    return process.returncode, told.splitlines()[-1:]


@pytest.mark.parametrize(
    ("words", "pattern"),
    [
        (
            [
                "fit",
                "t.parquet",
                "--target",
                "y",
                "--task",
                "classification",
                "--memory",
                "1MB",
                "--algorithm",
                "boosting",
                "--set",
                "n_estimators=3000",
            ],
            "tmp/*",
        ),
        (["explain", "m.tw", "t.parquet", "--out", "why.csv"], ".treewright-*.part"),
    ],
    ids=["kept bins", "a part of an output"],
)
def test_sigterm_leaves_no_file_behind_and_is_exit_status_143(folder, words, pattern):
    before = {path.name for path in folder.iterdir()}
    process = begun(folder, *words)
    wait_until(lambda: list(folder.glob(pattern)), process)

    assert ended(process) == (143, [TOLD])
    assert {path.name for path in folder.iterdir()} == before
    assert list((folder / "tmp").iterdir()) == []


def test_sigterm_ends_the_workbench_with_the_session_saved(folder):
    process = begun(folder, "workbench", "t.parquet", "--target", "y", "--session", "s.json", "--no-browser")
    lines = iter(process.stdout.readline, "")
    assert any("the workbench is at" in line for line in lines)

    process.send_signal(signal.SIGTERM)
    told, _ = process.communicate(timeout=60)

    assert process.returncode == 143
    assert "commands in s.json" in told


def test_a_sigterm_that_is_ignored_stays_ignored():
    script = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.raise_signal(signal.SIGTERM)"
    words = "from treewright.__main__ import main; import sys; sys.argv = ['treewright', '--version']; "
    done = subprocess.run(
        [sys.executable, "-c", f"{script}; {words}signal.raise_signal(signal.SIGTERM); main()"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
