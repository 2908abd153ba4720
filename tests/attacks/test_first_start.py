"""Kernels that are not compiled yet: Python answers at once, and a helper compiles that nobody has to think of."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from treewright.core import background
from treewright.core.kernel_cache import sealed

# A kernel that compiles in a second or two. ``fill`` takes it long enough that it is asked for.
START = """
    import os, signal, sys, time
    import numpy as np
    from treewright.boosting.sampling import fill_keys
    from treewright.core import background

    def fill():
        keys = np.arange(60_000, dtype=np.uint64)
        fill_keys(np.uint64(7), keys)
        return int(np.bitwise_xor.reduce(keys))

    def is_loaded(seconds=90):
        end = time.monotonic() + seconds
        while not fill_keys.overloads and time.monotonic() < end:
            assert fill() == first
            time.sleep(0.2)
        return bool(fill_keys.overloads)

"""
FIRST = "\nfirst = fill()\n"


def started(
    script: str, cache: Path, before: str = "", folder: Path | None = None, **changes: str
) -> subprocess.Popen[str]:
    """A script after START in a process of its own, with its own cache, as a user has it."""
    told = {name: value for name, value in os.environ.items() if name not in {"TREEWRIGHT_COMPILE", "CI"}}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(START) + before + FIRST + textwrap.dedent(script)],
        env={**told, "TREEWRIGHT_CACHE_DIR": str(cache), **changes},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
    )  # fmt: skip


def printed(process: subprocess.Popen[str]) -> list[str]:
    """What it printed, word by word, when it has ended well."""
    out, err = process.communicate(timeout=200)
    assert process.returncode == 0, err
    assert err == ""
    return out.split()


def test_a_kernel_answers_before_it_is_compiled_and_is_loaded_when_a_helper_has_compiled_it(tmp_path):
    words = printed(started("print(bool(fill_keys.overloads), is_loaded(), fill() == first)", tmp_path))

    assert words == ["False", "True", "True"]


def test_the_cache_may_be_named_by_a_relative_path(tmp_path):
    """It means the folder that it meant when the process began, wherever that goes."""
    begins, goes_on = tmp_path / "begins", tmp_path / "goes on"
    begins.mkdir()
    goes_on.mkdir()

    assert printed(started("print(is_loaded())", Path("cache"), f"os.chdir({str(goes_on)!r})", begins)) == ["True"]
    assert list(begins.rglob("*.nbc"))
    assert not list(goes_on.iterdir())


def test_two_processes_begin_with_nothing_and_one_helper_serves_both(tmp_path):
    both = [started("print(is_loaded())", tmp_path) for _ in range(2)]

    assert [printed(process) for process in both] == [["True"], ["True"]]


def test_a_helper_that_was_killed_is_followed_by_another(tmp_path):
    script = """
        killed = background._helper[0]
        killed.kill()
        killed.wait()
        background._SCRIPT = right
        print(is_loaded(), background._helper[0] is not killed)
    """
    before = (
        "right, background._SCRIPT = background._SCRIPT, 'import time; time.sleep(100)'"  # it never comes to an end
    )

    assert printed(started(script, tmp_path, before)) == ["True", "True"]


def test_a_fork_while_the_helper_compiles_lives_on_in_both(tmp_path):
    script = """
        fill()
        child = os.fork()
        if child == 0:
            os._exit(0 if fill() == first else 1)
        print(os.waitpid(child, 0)[1], is_loaded())
    """

    assert printed(started(script, tmp_path)) == ["0", "True"]


def test_ctrl_c_does_not_reach_the_helper_and_the_helper_ends_by_itself(tmp_path):
    script = """
        fill()
        helper = background._helper[0]
        print(os.getpgid(helper.pid) != os.getpgid(0))
        try:
            os.killpg(os.getpgid(0), signal.SIGINT) if os.getpgid(0) == os.getpid() else signal.raise_signal(2)
            time.sleep(5)
        except KeyboardInterrupt:
            print("stopped")
        print(is_loaded(), helper.wait(60))
    """

    assert printed(started(script, tmp_path)) == ["True", "stopped", "True", "0"]


def test_where_nothing_can_be_kept_python_answers_and_nobody_is_started(tmp_path):
    (tmp_path / "file").write_text("")
    script = "fill(); print(fill() == first, len(background._helper), bool(fill_keys.overloads))"

    assert printed(started(script, tmp_path / "file" / "below")) == ["True", "0", "False"]


def test_a_full_disk_starts_nobody_and_changes_no_answer(tmp_path):
    script = """
        from pathlib import Path
        def full(path, content):
            raise OSError(28, "No space left on device")
        Path.write_bytes = full
        background._helper.clear()
        fill_keys._compile_for_args._next_look = 0.0
        print(fill() == first)
    """

    assert printed(started(script, tmp_path)) == ["True"]


def test_services_that_run_tests_start_no_helper(tmp_path):
    assert printed(started("fill(); print(len(background._helper))", tmp_path, CI="true")) == ["0"]


def test_compiled_first_is_compiled_before_it_answers(tmp_path):
    script = "print(len(background._helper), bool(fill_keys.overloads))"

    assert printed(started(script, tmp_path, TREEWRIGHT_COMPILE="first")) == ["0", "True"]


@pytest.mark.parametrize("content", [b"", b"rubbish", sealed(b"no pickle"), sealed(b"")])
def test_a_damaged_request_is_thrown_away(tmp_path, content):
    (tmp_path / "some.request").write_bytes(content)

    assert background._serve_one(tmp_path) is True
    assert background._serve_one(tmp_path) is False
    assert list(tmp_path.iterdir()) == []


def test_who_reads_requests_while_another_does_goes_away(tmp_path):
    pytest.importorskip("fcntl", reason="Windows has no such locks")
    with background._only_one(tmp_path) as is_alone:
        assert is_alone
        done = subprocess.run(
            [sys.executable, "-c", f"from treewright.core.background import *; compile_requests({str(tmp_path)!r})"],
            check=False, timeout=60,
        )  # fmt: skip

    assert done.returncode == 0


@pytest.mark.parametrize(
    ("program", "is_python"),
    [
        ("/usr/bin/python3.11", True), ("C:\\Python\\python.exe", os.name == "nt"), ("/opt/pypy3", True),
        ("/opt/app/forecast", False), ("/usr/lib/R/bin/exec/R", False), ("", False), (None, False),
    ],
)  # fmt: skip
def test_only_an_interpreter_is_started(program, is_python):
    assert background._is_python(program) is is_python


def test_a_request_keeps_its_turn(tmp_path):
    script = """
        helper = background._helper[0]
        helper.kill(); helper.wait()
        from treewright.core.kernel_cache import requests_directory
        place = requests_directory()
        background._start_helper = lambda place: None
        def ask():
            arguments = np.uint64(7), np.empty(3, np.uint64)
            background.ask_for(fill_keys.py_func, tuple(map(fill_keys.typeof_pyval, arguments)))
            return [path.stat().st_mtime_ns for path in place.glob("*.request")]
        print(len(ask()), ask() == ask())
    """

    assert printed(started(script, tmp_path)) == ["1", "True"]


def test_a_large_call_is_compiled_before_it_runs(tmp_path):
    script = """
        fill_keys(np.uint64(7), np.zeros(3_000_000, np.uint64))
        print(bool(fill_keys.overloads))
    """

    assert printed(started(script, tmp_path)) == ["True"]
