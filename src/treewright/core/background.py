"""Calls of kernels that are not compiled yet: the Python body runs them while a helper process compiles.

A process that lacks a kernel writes a request, a small file next to the cache, and starts a helper: a process of the
lowest priority that compiles what is requested. There is one helper for all processes of a user: it holds a lock while
it works. It ends when there were no requests lately, and after ten minutes in any case. An unserved request waits for
the next helper.

If every kernel is compiled first, there are no requests. The variable ``CI``, which services that
run tests set, switches the helper off: their machines are discarded.

A kernel's Python body makes the bytes of the compiled kernel, only more slowly: a step takes microseconds instead of
nanoseconds. For a table of some hundred rows that is faster than to compile the kernel, or even to load it. So the body
runs small calls at once; a kernel that has used up some time in Python is loaded if it can be, and otherwise compiled
by another process while the body goes on.

With ``TREEWRIGHT_COMPILE=first`` every kernel is compiled, or loaded, before it runs.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from treewright.core import kernel_cache, numba_inside, threads
from treewright.core.kernel_cache import is_locked, requests_directory, unpickled, write_whole

__all__ = ["Meanwhile", "ask_for", "compile_first", "compile_requests", "silent"]

_IS_OFF = bool(os.environ.get("CI"))
_LONGEST_LIFE = 600.0  # seconds
_PATIENCE = 3.0  # seconds without a request
_LOWEST_PRIORITY = 19

_helper: list[subprocess.Popen[bytes]] = []  # the helper that this process started last
_one_starts = threading.Lock()

# The child has the parent's path, and nothing from its working folder.
_SCRIPT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from treewright.core.background import compile_requests; compile_requests(sys.argv[2])"
)


def ask_for(function: Callable[..., Any], types: Any) -> None:
    """Request a kernel for these types of arguments, and start the helper that compiles it."""
    is_ours = function.__module__.startswith("treewright.")
    place = requests_directory() if is_ours and not _IS_OFF and _is_python(sys.executable) else None
    if place is None:
        return
    with suppress(Exception):  # a full disk, no more processes: then this process compiles it, when worth the wait
        content = pickle.dumps((function.__module__, function.__qualname__, types))
        path = place / f"{hashlib.blake2b(content, digest_size=10).hexdigest()}.request"
        if not path.exists():  # it keeps its turn
            write_whole(path, content)
        if _one_starts.acquire(blocking=False):
            try:
                _start_helper(place)
            finally:
                _one_starts.release()


def _is_python(path: str | None) -> bool:
    """Whether a program is a Python interpreter: in a frozen application, or within R, it is that program itself."""
    return Path(path or "").stem.lower().startswith(("python", "pypy"))


def _start_helper(place: Path) -> None:
    """Start the helper, unless one is running."""
    if _helper and _helper[0].poll() is None:
        return
    with _only_one(place) as nobody_works:
        if not nobody_works:
            return
    path = [str(Path(folder).absolute()) for folder in sys.path]
    place = place.absolute()
    _helper[:] = [
        subprocess.Popen(  # noqa: S603 - our own interpreter, our own words
            [sys.executable, "-c", _SCRIPT, json.dumps(path), str(place)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=place,
            env={**os.environ, "TREEWRIGHT_COMPILE": "first", "TREEWRIGHT_CACHE_DIR": str(place.parent)},
            start_new_session=True,  # it must not get Ctrl-C
            creationflags=getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0)
            | getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    ]  # fmt: skip


@atexit.register
def _let_go() -> None:
    """Forget the helper, which may outlive this process; Python would warn of a child that is still running."""
    for helper in _helper:
        if helper.poll() is None:
            helper.returncode = 0


@contextmanager
def _only_one(place: Path) -> Iterator[bool]:
    """Hold the helper's lock; yields whether it was free."""
    file = os.open(place / "at-work.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield is_locked(file)
    finally:
        os.close(file)


def compile_requests(folder: str) -> None:
    """The helper's work: compile what is requested, the oldest request first, and end when there are no requests."""
    with suppress(OSError, AttributeError):
        os.nice(_LOWEST_PRIORITY)
    kernel_cache.compile_natively()
    end = threading.Timer(_LONGEST_LIFE, os._exit, [0])
    end.daemon = True
    end.start()
    place = Path(folder)
    with _only_one(place) as is_alone:
        last = time.monotonic()
        while is_alone and time.monotonic() - last < _PATIENCE:
            if _serve_one(place):
                last = time.monotonic()
            else:
                time.sleep(0.1)


def _serve_one(place: Path) -> bool:
    """Compile the kernel of the oldest request; returns whether there was one.

    The request is deleted first: one that crashes the compiler must not do so again and again.
    """
    waiting = sorted(place.glob("*.request"), key=lambda path: path.stat().st_mtime_ns)
    if not waiting:
        return False
    with suppress(Exception):  # a damaged request, a kernel that does not compile: its caller will get the error
        module, name, types = unpickled(waiting[0])
        waiting[0].unlink(missing_ok=True)
        kernel = getattr(import_module(module), name)
        with numba_inside.at_work(aside=False):
            kernel.compile(types)
    waiting[0].unlink(missing_ok=True)
    return True


_compiles_first = threads.compiles_first()

# Seconds in Python of one kernel before it is looked for: to load it takes 0.02 to 0.05. The first of a process takes
# half a second more (Numba makes its types and SciPy's known), so all kernels together must have used up as much. The
# penguins of the README: 2.1 for the whole command where kernels are loaded, 1.7 where all is Python.
_WORTH_LOADING = 0.03
_WORTH_THE_FIRST = 0.4
_BETWEEN_LOOKS = 0.2
# Seconds before it is requested: a faster kernel need never be compiled.
_WORTH_ASKING = 0.1
# Seconds in Python that a kernel may use up in all, and that one call may take by an estimate, which can be five times
# too low: kernels compile in 1 to 25.
_WORTH_COMPILING = 10.0
_LONGEST_CALL = 2.0
# Per step, until the kernel has been timed: a likely value, and a cautious one. Of 108 kernels (200 and 2,000 rows,
# 6 columns) half take 1 microsecond or less for each element of their arguments, growers 1 to 15, medians up to 66.
_SECONDS_A_STEP = 2e-6, 10e-6


def compile_first() -> None:
    """From now on every kernel of this process is compiled, or loaded, before it runs."""
    global _compiles_first  # noqa: PLW0603 - a switch of the process, as the variable is
    _compiles_first = True


def silent(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel as plain Python, without warnings about overflow, division by 0 or nan, like compiled code."""

    @wraps(function)
    def run(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return run


class Meanwhile:
    """What Numba calls if no compiled form in memory fits the types of a call: it returns the form to run.

    Attributes
    ----------
    steps_of : callable
        From the arguments of a call to its rough number of steps.
    """

    _seconds_of_all = 0.0
    _is_any_loaded = False

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher
        self._function = dispatcher.py_func
        self._compile = dispatcher._compile_for_args
        self._body = silent(self._function)
        self._seconds = self._steps = 0.0  # in Python, so far
        self._next_look = 0.0
        self.steps_of: Callable[..., float] = _elements

    def __call__(self, *arguments: Any) -> Callable[..., Any]:
        """The compiled form for these arguments, or the Python body."""
        if _compiles_first:
            return self._compiled(*arguments)
        steps = max(1.0, self.steps_of(*arguments))  # a time divided by no steps would be no rate
        is_timed = self._seconds > _WORTH_LOADING
        likely, most = (steps * (self._seconds / self._steps if is_timed else rate) for rate in _SECONDS_A_STEP)
        if most > _LONGEST_CALL or self._seconds + most > _WORTH_COMPILING:
            form = self._compiled(*arguments)
            self._ask_for_own(*arguments)
            return form
        may_load = Meanwhile._is_any_loaded or Meanwhile._seconds_of_all + likely > _WORTH_THE_FIRST
        worth = _WORTH_LOADING if may_load else _WORTH_ASKING
        if self._seconds + likely > worth and time.monotonic() >= self._next_look:
            if self._is_on_disk(*arguments) and may_load:
                return self._compiled(*arguments)
            self._next_look = time.monotonic() + _BETWEEN_LOOKS
        return lambda *same: self._run(steps, same)

    def _compiled(self, *arguments: Any) -> Callable[..., Any]:
        """The compiled form, loaded or compiled now."""
        Meanwhile._is_any_loaded = True

        def compile_it() -> Callable[..., Any]:
            # A warm-up has a process for each processor.
            aside = threads.available_processors() > 1 and not kernel_cache.is_native()
            with numba_inside.at_work(aside=aside):
                form: Callable[..., Any] = self._compile(*arguments)
                return form

        try:
            return threads.apart(compile_it)
        finally:
            threads.tell_of_no_cache()

    def _ask_for_own(self, *arguments: Any) -> None:
        """Request a form for this processor if the one that came with the package runs long."""
        types = tuple(map(self._dispatcher.typeof_pyval, arguments))
        if types in self._dispatcher._cache.came_with_package:
            ask_for(self._function, types)

    def _is_on_disk(self, *arguments: Any) -> bool:
        """Whether the compiled form can be loaded; otherwise it is requested."""
        types = tuple(map(self._dispatcher.typeof_pyval, arguments))
        if self._dispatcher._cache.holds(types, self._dispatcher.targetctx):
            return True
        ask_for(self._function, types)
        return False

    def _run(self, steps: float, arguments: tuple[Any, ...]) -> Any:
        """The Python body, timed."""
        start = time.thread_time()
        answer = self._body(*arguments)
        # Two threads may add at the same time and lose one of the two: it is an estimate.
        seconds = time.thread_time() - start
        self._seconds += seconds
        Meanwhile._seconds_of_all += seconds
        self._steps += steps
        return answer


def _elements(*arguments: Any) -> float:
    """Elements of all arrays, also of those in tuples."""
    found = 1.0
    for each in arguments:
        if isinstance(each, np.ndarray):
            found += each.size
        elif isinstance(each, tuple):
            found += _elements(*each)
    return found
