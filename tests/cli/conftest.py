"""Running the command within the test's process, or as a process of its own where that is what a test is about.

A process takes seconds for what takes a tenth of one here. It is for signals, pipes, the first imports, and what may
leave nothing behind in the tests' process.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import pytest
from typer.testing import CliRunner

import treewright
from treewright.cli import streams
from treewright.cli.app import app

# The processes run the package under test, also where it is not installed and the folder is another.
SURROUNDINGS = {**os.environ, "PYTHONPATH": str(Path(treewright.__file__).parents[1])}
PENGUINS = Path(__file__).parents[2] / "examples" / "penguins.csv"


def run_process(*words, folder=None, surroundings=None):
    """Run ``treewright`` with these words; text in, text out."""
    return subprocess.run(
        [sys.executable, "-m", "treewright", *map(str, words)],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=1500,  # warmup compiles for minutes where nothing is compiled yet
        check=False,
        env={**SURROUNDINGS, **(surroundings or {})},
    )


def run_here(*words, folder=".", given=None):
    """Run the command within this process, with ``given`` on standard input; what it does not expect is raised."""
    kept = streams._kept
    with contextlib.chdir(folder), contextlib.ExitStack() as at_the_end:
        # A process closes the file of its standard input when it ends.
        at_the_end.enter_context(mock.patch.object(streams, "_kept", lambda: at_the_end.enter_context(kept())))  # noqa: PT008
        done = CliRunner().invoke(app, [str(word) for word in words], input=given)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return SimpleNamespace(returncode=done.exit_code, stdout=done.stdout, stderr=done.stderr)


@pytest.fixture(scope="session")
def command():
    return run_here


@pytest.fixture(scope="session")
def process():
    return run_process


@pytest.fixture(scope="session")
def penguins():
    return PENGUINS


@pytest.fixture(scope="session")
def fitted(tmp_path_factory):
    """A folder with a model and a picture, and what the command said when it made them."""
    folder = tmp_path_factory.mktemp("fitted")
    words = [
        "fit",
        PENGUINS,
        "--target",
        "species",
        "--set",
        "max_depth=3",
        "--out",
        "penguins.tw",
        "--svg",
        "penguins.svg",
    ]
    said = run_here(*words, folder=folder)
    assert said.returncode == 0, said.stderr
    return folder, said


@pytest.fixture(scope="session")
def surroundings():
    """Environment variables for processes that are started in another way."""
    return SURROUNDINGS
