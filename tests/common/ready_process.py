"""Programs run in copies of a process that has imported everything: importing is most of what a short program takes.

Each process that runs tests has one such process, started when the first program wants it. A copy has done nothing but
import, so it is what a fresh process is once its imports are done: its own folder, variables, arguments, streams, rules
for warnings and exit code. What a test claims about the start itself it must see in a real process.

    test  --request-->  server  --fork-->  one that waits  --fork-->  the program
          <--------------- exit code ------------------

Where there is no fork (Windows), a program is started as usual.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib
import json
import os
import signal
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from pathlib import Path
from types import SimpleNamespace

_STARTING = threading.Lock()
HAS_COPIES = hasattr(os, "fork") and hasattr(socket, "AF_UNIX")
OWN_RULES = [("default", DeprecationWarning, "__main__"), *[("ignore", each, "") for each in (
    DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)]]  # fmt: skip


def run(module, words, folder, environ, *, strict=False, timeout=600):
    """Run a module as ``python -m`` does, in a folder.

    Parameters
    ----------
    module : str
        Its ``__main__`` module's ``main`` is called; a module of ``folder`` is imported, and that is all.
    words : list of str
        What follows the module's name.
    folder : path
    environ : mapping
    strict : bool
        Whether every warning is an error.

    Returns
    -------
    SimpleNamespace
        ``returncode``, ``stdout`` and ``stderr``.
    """
    if not HAS_COPIES:
        command = [sys.executable, *(["-W", "error"] if strict else []), *_usual(module), *words]
        return subprocess.run(
            command, cwd=folder, env={**environ}, capture_output=True, encoding="utf-8", timeout=timeout, check=False
        )
    with tempfile.TemporaryDirectory() as streams:
        request = {
            "module": module, "words": [str(word) for word in words], "folder": str(folder), "streams": streams,
            "environ": {**environ}, "strict": strict, "timeout": timeout,
        }  # fmt: skip
        with socket.socket(socket.AF_UNIX) as door:
            with _STARTING:
                address = _address()
            door.connect(address)
            door.sendall(json.dumps(request).encode() + b"\n")
            code = json.loads(door.makefile().readline())
        said = [Path(streams, name).read_text(encoding="utf-8") for name in ("stdout", "stderr")]
    return SimpleNamespace(returncode=code, stdout=said[0], stderr=said[1])


def _usual(module):
    return ["-m", module] if _is_package(module) else ["-c", f"import {module}"]


def _is_package(module):
    return module == "treewright"


@functools.cache
def _address():
    """Where this process's server listens; a program that it runs asks the same one."""
    if "TESTS_READY_PROCESS" in os.environ:
        return os.environ["TESTS_READY_PROCESS"]
    folder = tempfile.mkdtemp(prefix="tw")
    address = f"{folder}/door"
    here = os.pathsep.join(path for path in sys.path if path)
    surroundings = {**os.environ, "PYTHONUTF8": "1", "PYTHONPATH": here}
    server = subprocess.Popen([sys.executable, __file__, address], env=surroundings)
    atexit.register(_end, server, folder)
    while not _listens(address):
        if server.poll() is not None:
            raise RuntimeError("the process that is copied for programs of tests has ended")
        time.sleep(0.02)
    return address


def _listens(address):
    """Whether somebody answers there: the file is there a moment before."""
    with socket.socket(socket.AF_UNIX) as door:
        try:
            door.connect(address)
        except (FileNotFoundError, ConnectionRefusedError):
            return False
    return True


def _end(server, folder):
    server.kill()
    server.wait()
    for left in Path(folder).iterdir():
        left.unlink()
    Path(folder).rmdir()


class _Waiting(socketserver.StreamRequestHandler):
    """A copy of the server that starts the program and tells its exit code."""

    def handle(self):
        line = self.rfile.readline()
        if not line:
            return
        request = json.loads(line)
        program = os.fork()
        if program == 0:
            _become(request)
        _, status = os.waitpid(program, 0)
        self.wfile.write(json.dumps(os.waitstatus_to_exitcode(status)).encode() + b"\n")


class _Server(socketserver.ForkingMixIn, socketserver.UnixStreamServer):
    request_queue_size = 32
    tests = os.getppid()

    def service_actions(self):
        super().service_actions()
        if os.getppid() != self.tests:  # those that wanted it are gone
            os._exit(0)


def _become(request):
    """Turn this copy into the program, and end."""
    code = 1
    try:
        signal.alarm(request["timeout"])
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environ"], TESTS_READY_PROCESS=sys.argv[1])
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(Path(request["streams"], name), os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        warnings.resetwarnings()
        for action, category, module in () if request["strict"] else reversed(OWN_RULES):
            warnings.filterwarnings(action, category=category, module=module)
        if request["strict"]:
            warnings.simplefilter("error")
        sys.path.insert(0, request["folder"])
        if _is_package(request["module"]):
            sys.argv = [request["module"], *request["words"]]
            importlib.import_module(f"{request['module']}.__main__").main()
        else:
            sys.argv = ["-c", *request["words"]]
            importlib.import_module(request["module"])
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _serve(address):
    warnings.simplefilter("error")
    import treewright

    for name in treewright.__all__:
        getattr(treewright, name)
    for verb in ("compare", "evaluate", "fit", "predict", "prune", "report", "show"):
        importlib.import_module(f"treewright.cli.{verb}")
    _Server(address, _Waiting).serve_forever(poll_interval=0.5)


if __name__ == "__main__":
    _serve(sys.argv[1])
