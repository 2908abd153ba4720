"""Ctrl-C at the worst moments: it is answered soon, the process lives on, and no lock stays taken."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import textwrap
import time

import pytest

STOPPED = "treewright: stopped by Ctrl-C; nothing was written"

FITS = """
    import os, signal, sys, threading, time
    import numpy as np
    import treewright as tw
    from numba.core import compiler_lock
    from treewright.core import kernel_cache, threads

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    main, sent, takers = threading.main_thread(), [], set()

    def one_fit(task=0, thread=0):
        return tw.DecisionTreeClassifier(n_jobs=1).fit(X, y).predict(X).sum().item()

    works = {"alone": one_fit, "side by side": lambda: threads.run_each(one_fit, 8, 2)}
    work = works[sys.argv[1]]

    def interrupt():
        sent.append(True)
        signal.pthread_kill(main.ident, signal.SIGINT)

    def answered():
        try:
            work()
        except KeyboardInterrupt:
            return bool(sent)
        raise SystemExit("not interrupted")

    def all_fits_end():
        works["side by side"]()
        return one_fit() == one_fit()

    take = compiler_lock._CompilerLock.acquire
"""


def lines_of(script, *words, timeout=250, **changes):
    """Run a script after FITS in a process of its own; what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FITS) + textwrap.dedent(script), *words],
        env={**os.environ, **changes}, capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.split()


@pytest.mark.usefixtures("copies")
@pytest.mark.parametrize("what_is_compiled", ["first", "what is slow"])
def test_the_main_thread_never_takes_the_lock_of_the_compiler(what_is_compiled):
    main_takes, others_take = lines_of(
        """
        def acquire(lock):
            take(lock)
            takers.add(threading.current_thread())

        compiler_lock._CompilerLock.acquire = acquire
        work()
        threads.run_each(lambda task, thread: tw.C45Classifier(n_jobs=1).fit(X, y), 8, 2)
        print(main in takers, bool(takers - {main}))
        """,
        "alone",
        TREEWRIGHT_COMPILE=what_is_compiled,
        CI="1",
    )

    assert main_takes == "False"
    assert others_take == "True"  # or the test would see nothing


@pytest.mark.usefixtures("copies")
@pytest.mark.parametrize(
    ("how", "moment"),
    [
        ("side by side", 1),
        pytest.param("side by side", 6, marks=pytest.mark.slow),
        pytest.param("alone", 1, marks=pytest.mark.slow),
        pytest.param("alone", 6, marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_just_after_the_lock_of_the_compiler_was_taken_leaves_no_lock_behind(how, moment):
    is_answered, usable = lines_of(
        """
        times = []

        def acquire(lock):
            take(lock)
            times.append(0)
            if len(times) == int(sys.argv[2]):
                interrupt()

        compiler_lock._CompilerLock.acquire = acquire
        print(answered(), all_fits_end())
        """,
        how,
        str(moment),
    )

    assert is_answered == "True"
    assert usable == "True"


@pytest.mark.usefixtures("copies")
@pytest.mark.parametrize("how", ["alone", "side by side"])
def test_ctrl_c_does_not_wait_for_the_compiler(how):
    is_answered, was_busy, usable, is_busy = lines_of(
        """
        load, end = kernel_cache.KernelCache.load_overload, threading.Event()

        def load_slowly(cache, signature, context):
            if not sent:
                interrupt()
                end.wait()
            return load(cache, signature, context)

        kernel_cache.KernelCache.load_overload = load_slowly
        is_answered = answered()
        was_busy = threads.is_busy()
        end.set()
        usable = all_fits_end()
        deadline = time.perf_counter() + 20
        while threads.is_busy() and time.perf_counter() < deadline:
            time.sleep(0.01)
        print(is_answered, was_busy, usable, threads.is_busy())
        """,
        how,
    )

    assert is_answered == "True"
    assert was_busy == "True"
    assert usable == "True"
    assert is_busy == "False"


AT_AN_IMPORT = """
import runpy, signal, sys

module = sys.argv[1]

class Interrupter:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupter())
sys.argv = ["treewright", *sys.argv[2:]]
runpy.run_module("treewright", run_name="__main__")
"""


@pytest.fixture
def table(tmp_path):
    """60 rows of 4 numbers, three classes."""
    draw = random.Random(1)
    rows = [",".join([*(f"{draw.random():.3f}" for _ in range(4)), "abc"[row % 3]]) for row in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["p,q,r,s,y", *rows]) + "\n")
    return tmp_path / "t.csv"


@pytest.mark.parametrize(
    "module",
    [
        "typer",
        "numba.core.typing",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("treewright.cli", "numpy", "numba", "numba.np.ufunc")
        ),
    ],
)
def test_ctrl_c_during_an_import_of_the_command_is_one_line_and_exit_code_130(table, module):
    done = subprocess.run(
        [sys.executable, "-c", AT_AN_IMPORT, module, "fit", str(table), "--target", "y"],
        capture_output=True, text=True, timeout=250, check=False,
    )  # fmt: skip

    assert done.stderr.splitlines() == [STOPPED]
    assert done.returncode == 130


READY_THEN_MAIN = """
import sys
from treewright.__main__ import main
from treewright.cli import app
print("ready", flush=True)
main()
"""


def stop_after(wait, table, cache):
    """Start a comparison on two threads, interrupt it; exit code, standard output, the lines on standard error."""
    surroundings = {**os.environ, **({"TREEWRIGHT_CACHE_DIR": str(cache)} if cache else {})}
    words = ["compare", str(table), "--target", "y", "--jobs", "2", "--repeats", "20"]
    started = subprocess.Popen(
        [sys.executable, "-c", READY_THEN_MAIN, *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=surroundings,
    )  # fmt: skip
    try:
        assert started.stdout.readline() == "ready\n"
        time.sleep(wait)
        started.send_signal(signal.SIGINT)
        result, told = started.communicate(timeout=30)
        return started.returncode, result, told.splitlines()
    finally:
        started.kill()
        started.wait()


def check_stops(waits, table, cache):
    for wait in waits:
        code, result, told = stop_after(wait, table, cache)
        if code == 0:
            continue  # it was ready before
        told = [line for line in told if not re.match("treewright: (compiling|warning|note)", line)]
        assert (code, told) == (130, [STOPPED]), f"Ctrl-C after {wait:.3f} s"
        assert result == "", f"Ctrl-C after {wait:.3f} s"  # the comparison did not go on to its end


def test_ctrl_c_during_a_comparison_is_heard_whenever_it_comes(table, copies):
    check_stops([1.2], table, None)


@pytest.mark.slow
@pytest.mark.timeout(600)  # 40 processes, up to five seconds each and their start
@pytest.mark.parametrize("is_cold", [False, True], ids=["warm", "cold"])
def test_ctrl_c_at_many_moments_of_a_comparison_is_always_heard(table, tmp_path, is_cold):
    draw = random.Random(7)
    for number in range(40):
        cache = tmp_path / f"cache-{number}" if is_cold else None
        check_stops([0.05 + (number + draw.random()) / 40 * 5], table, cache)
