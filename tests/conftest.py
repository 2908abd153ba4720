"""Lets every test import what the folders ``common`` and ``oracle`` hold, whichever way pytest was started."""

from __future__ import annotations

import gc
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# No test is a measurement of time: an example may be slow beside other work. Nor is it a matter of luck: a run fails
# because of what was changed. `HYPOTHESIS_PROFILE=random` looks for new examples, and for many. How many is said here
# alone; a test that says a number of its own needs a second for a few.
settings.register_profile("same", deadline=None, derandomize=True, max_examples=15)
settings.register_profile("random", deadline=None, max_examples=100)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

sys.path[:0] = [str(Path(__file__).parent / folder) for folder in ("common", "oracle")]
sys.path.append(str(Path(__file__).parents[1] / "docs" / "site"))  # how a page is a program: page_programs

# Hundreds of tests start a process that imports the package: where Python may not write bytecode next to the source, it
# does so in a folder of the tests. Without it each of them compiles the source, and each worker all the tests.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.pycache_prefix = str(Path(__file__).parents[1] / ".pytest_cache" / "bytecode")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix

# What is tested is compiled code, unless a test asks for the other: once, for every process of the run.
os.environ.setdefault("TREEWRIGHT_COMPILE", "first")

# A shell that starts the run in the background lets it ignore Ctrl-C, and the tests of Ctrl-C send that to themselves.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def copies(monkeypatch):
    """Programs that a test starts are copies of a process that has imported everything: ``ready_process``."""
    import subprocess

    from ready_process import Copy

    monkeypatch.setattr(subprocess, "Popen", Copy)


@pytest.fixture(scope="session")
def site():
    """The folder of the documentation site, which takes minutes to build."""
    if "TREEWRIGHT_SITE" not in os.environ:
        pytest.skip("no site to look at: python docs/site/build.py --out site, then TREEWRIGHT_SITE=site")
    return Path(os.environ["TREEWRIGHT_SITE"])


def pytest_collection_modifyitems(items):
    """Pages of the documentation first: one takes minutes, and at the end a worker would be alone with it."""
    items.sort(key=lambda item: item.path.parent.name != "docs")


def pytest_collection_finish():
    """Eighteen thousand tests stay until the end: the garbage collector need not look at them again and again."""
    gc.collect()
    gc.freeze()
