"""Kernels compiled beside the work. In: a kernel and types. Out: nothing; its compiled form appears in the cache.

Who misses a kernel leaves a request, a small file beside the cache, and starts one process of the lowest priority that
compiles what it finds there. One for all processes of a user: it holds a lock while it works. It ends by itself when
nothing was asked for lately, and after ten minutes in any case. A request that nobody served waits for the next one.

Where every kernel is compiled first (``core.meanwhile``) nobody asks. ``CI``, which services that run tests set,
switches it off: their machines are thrown away.
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

from treewright.core import shipped
from treewright.core.kernel_cache import is_locked, requests_directory, unpickled, write_whole

__all__ = ["ask_for", "compile_requests"]

_IS_OFF = bool(os.environ.get("CI"))
_LONGEST_LIFE = 600.0  # seconds
_PATIENCE = 3.0  # seconds without a request
_LOWEST_PRIORITY = 19

_helper: list[subprocess.Popen[bytes]] = []  # the one that this process has started last
_one_starts = threading.Lock()

# The child has the parent's path, and nothing of the folder it is started in.
_SCRIPT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from treewright.core.background import compile_requests; compile_requests(sys.argv[2])"
)


def ask_for(function: Callable[..., Any], types: Any) -> None:
    """Leave word that a kernel is wanted for these types of arguments, and see to it that somebody compiles it."""
    is_ours = function.__module__.startswith("treewright.")
    place = requests_directory() if is_ours and not _IS_OFF and _is_python(sys.executable) else None
    if place is None:
        return
    with suppress(Exception):  # a full disk, no more processes: then it is compiled when it is worth waiting for
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
    """Start the process that compiles, unless one is at work."""
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
            start_new_session=True,  # Ctrl-C is not meant for it
            creationflags=getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0)
            | getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    ]  # fmt: skip


@atexit.register
def _let_go() -> None:
    """The helper may outlive this process; Python warns of children whose end nobody has seen."""
    for helper in _helper:
        if helper.poll() is None:
            helper.returncode = 0


@contextmanager
def _only_one(place: Path) -> Iterator[bool]:
    """Hold the lock of who compiles; whether it was free."""
    file = os.open(place / "at-work.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield is_locked(file)
    finally:
        os.close(file)


def compile_requests(folder: str) -> None:
    """What the helper does: compile whatever is asked for, the oldest request first, and end when nobody asks."""
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
    """Compile what the oldest request asks for; whether there was one.

    It is taken away first: what makes the compiler die must not do so again and again.
    """
    waiting = sorted(place.glob("*.request"), key=lambda path: path.stat().st_mtime_ns)
    if not waiting:
        return False
    with suppress(Exception):  # a damaged request, a kernel that does not compile: its caller will hear of it
        module, name, types = unpickled(waiting[0])
        waiting[0].unlink(missing_ok=True)
        getattr(import_module(module), name).compile(types)
    waiting[0].unlink(missing_ok=True)
    return True
