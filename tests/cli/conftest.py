"""Running the command the way a person does: as a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PENGUINS = Path(__file__).parents[2] / "examples" / "penguins.csv"


def run_command(*words, folder=None, **options):
    """Run ``treewright`` with these words; text in, text out."""
    return subprocess.run(
        [sys.executable, "-m", "treewright", *map(str, words)],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=110,
        check=False,
        **options,
    )


@pytest.fixture(scope="session")
def command():
    return run_command


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
    said = run_command(*words, folder=folder)
    assert said.returncode == 0, said.stderr
    return folder, said
