"""Compile kernels in the background. In: a kernel and types. Out: nothing; its compiled form appears in the cache.

A process that lacks a kernel writes a request, a small file next to the cache, and starts a helper: a process of the
lowest priority that compiles what is requested. There is one helper for all processes of a user: it holds a lock while
it works. It ends when there were no requests lately, and after ten minutes in any case. An unserved request waits for
the next helper.

If every kernel is compiled first (``core.meanwhile``), there are no requests. The variable ``CI``, which services that
run tests set, switches the helper off: their machines are discarded.
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
from importlib import import_module
from pathlib import Path
from typing import Any

from treewright.core import numba_inside, shipped
from treewright.core.kernel_cache import is_locked, requests_directory, unpickled, write_whole

__all__ = ["ask_for", "compile_requests"]

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
    shipped.compile_natively()
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
