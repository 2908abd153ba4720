"""Programs run in copies of a process that has imported everything: importing is most of what a short program takes.

Each process that runs tests has one such process, started when the first program wants it. A copy has done nothing but
import, so it is what a fresh process is once its imports are done: its own folder, variables, arguments, streams, rules
for warnings and exit code. What a test claims about the start itself it must see in a real process.

    test  --request, streams-->  server  --fork-->  one that waits  --fork-->  the program
          <----- process id, exit code -----------

``Copy`` has the face of ``subprocess.Popen``; the fixture ``copies`` puts it in its place. What is no such program is
started as usual, and so is every program where there is no fork (Windows).
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
import types
import warnings
from pathlib import Path

_STARTING = threading.Lock()
HAS_COPIES = hasattr(os, "fork") and hasattr(socket, "AF_UNIX")
OWN_RULES = [("default", DeprecationWarning, "__main__"), *[("ignore", each, "") for each in (
    DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)]]  # fmt: skip
# What is read while Python and the package start: a program with other values is no copy; `OWN` the server sets.
READ_AT_START = ("TREEWRIGHT_", "PYTHON", "NUMBA_", "OMP_", "OPENBLAS_", "MKL_", "XDG_", "HOME", "LC_", "LANG")
STREAMS = {"stdin": "surrogateescape", "stdout": "surrogateescape", "stderr": "backslashreplace"}
OWN = ("PYTHONUTF8", "PYTHONPATH")
_popen = subprocess.Popen


class Copy(_popen):
    """A ``subprocess.Popen`` whose program, if it is Python with ``-c``, a script or ``-m treewright``, is a copy."""

    _line = None

    def _execute_child(self, args, *how):
        cwd, env, streams = how[4], how[5], how[9:15]
        request = _request(args, cwd, os.environ if env is None else env)
        if request is None:
            super()._execute_child(args, *how)
            return
        theirs = [streams[at] if streams[at] != -1 else own for at, own in ((0, 0), (3, 1), (5, 2))]
        self._line = socket.socket(socket.AF_UNIX)
        with _STARTING:
            address = _address()
        self._line.connect(address)
        socket.send_fds(self._line, [b"\n"], theirs)
        self._line.sendall(json.dumps(request).encode() + b"\n")
        self._told = self._line.makefile()
        self.pid, self._child_created = json.loads(self._told.readline()), True
        self._close_pipe_fds(*streams)

    def _try_wait(self, flags):
        if self._line is None:
            return super()._try_wait(flags)
        self._line.settimeout(None if flags == 0 else 0.001)
        try:
            code = self._line.recv(100)
        except TimeoutError:
            return 0, 0
        finally:
            self._line.settimeout(None)
        code = json.loads(code)
        self._told.close()
        self._line.close()
        return self.pid, -code if code < 0 else code << 8  # as waitpid has it

    def _internal_poll(self, *given, **more):
        if self._line is None:
            return super()._internal_poll(*given, **more)
        if self.returncode is None and self._waitpid_lock.acquire(blocking=False):
            try:
                pid, status = self._try_wait(os.WNOHANG)
                if pid:
                    self._handle_exitstatus(status)
            finally:
                self._waitpid_lock.release()
        return self.returncode


def _request(args, cwd, environ):
    """What the server is told of a program; None if it is to be started as usual."""
    words = [str(word) for word in args] if isinstance(args, list | tuple) else [""]
    if not HAS_COPIES or words[0] != sys.executable or not _starts_alike(environ):
        return None
    rules, at = [], 1
    while words[at : at + 1] == ["-W"]:
        rules, at = [*rules, words[at + 1]], at + 2
    if words[at : at + 2] != ["-m", "treewright"] and not words[at].endswith(".py") and words[at] != "-c":
        return None
    return {"words": words[at:], "folder": str(cwd or Path.cwd()), "environ": {**environ}, "rules": rules}


def _starts_alike(environ):
    def told(mapping):
        return {name: mapping[name] for name in mapping if name.startswith(READ_AT_START) and name not in OWN}

    return told(environ) == told(os.environ)


def run(module, words, folder, environ, *, strict=False, timeout=600):
    """Run a module as ``python -m`` does, in a folder; a module of that folder is imported, and that is all."""
    command = [sys.executable, *(["-W", "error"] if strict else [])]
    command += ["-m", module, *words] if module == "treewright" else ["-c", f"import {module}", *words]
    with Copy(
        command, cwd=folder, env={**environ}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as program:  # fmt: skip
        said = program.communicate(timeout=timeout)
    return subprocess.CompletedProcess(command, program.returncode, *said)


@functools.cache
def _address():
    """Where this process's server listens; a program that it runs asks the same one."""
    if "TESTS_READY_PROCESS" in os.environ:
        return os.environ["TESTS_READY_PROCESS"]
    folder = tempfile.mkdtemp(prefix="tw")
    address = f"{folder}/door"
    here = os.pathsep.join(path for path in sys.path if path)
    surroundings = {**os.environ, "PYTHONUTF8": "1", "PYTHONPATH": here}
    server = _popen([sys.executable, __file__, address], env=surroundings)
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


class _Waiting(socketserver.BaseRequestHandler):
    """A copy of the server that starts the program and tells its number and its exit code."""

    def handle(self):
        _, streams, _, _ = socket.recv_fds(self.request, 1, 3)
        if not streams:
            return
        line = b""
        while not line.endswith(b"\n"):
            line += self.request.recv(1 << 16)
        program = os.fork()
        if program == 0:
            self.request.close()
            _become(json.loads(line), streams)
        for stream in streams:
            os.close(stream)
        self.request.sendall(b"%d\n" % program)
        _, status = os.waitpid(program, 0)
        self.request.sendall(json.dumps(os.waitstatus_to_exitcode(status)).encode())


class _Server(socketserver.ForkingMixIn, socketserver.UnixStreamServer):
    request_queue_size = 32
    tests = os.getppid()

    def service_actions(self):
        super().service_actions()
        if os.getppid() != self.tests:  # those that wanted it are gone
            os._exit(0)

    def handle_error(self, *_):
        """Who asked is gone."""


def _become(request, streams):
    """Turn this copy into the program, and end."""
    code = 1
    try:
        signal.alarm(600)
        os.chdir(request["folder"])
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        for number, (name, errors) in enumerate(STREAMS.items()):
            way = "w" if number else "r"
            setattr(sys, name, open(number, way, encoding="utf-8", errors=errors, closefd=False))  # noqa: SIM115 - until the end
        sys.stderr.reconfigure(line_buffering=True)
        os.environ.clear()
        os.environ.update(request["environ"], TESTS_READY_PROCESS=sys.argv[1])
        warnings.resetwarnings()
        for action, category, module in reversed(OWN_RULES):
            warnings.filterwarnings(action, category=category, module=module)
        for rule in request["rules"]:
            warnings._setoption(rule)
        _run(request["words"], request["folder"])
        threading._shutdown()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException as error:
        traceback.print_exc()
        code = -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()
    with contextlib.suppress(BaseException):
        sys.stdout.flush()
        sys.stderr.flush()
    if code < 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(code)


def _run(words, folder):
    if words[0] == "-m":
        sys.path.insert(0, folder)
        sys.argv = words[1:]
        importlib.import_module("treewright.__main__").main()
        return
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    if words[0] == "-c":
        sys.path.insert(0, folder)
        sys.argv, name, text = ["-c", *words[2:]], "<string>", words[1]
    else:
        sys.path.insert(0, str(Path(words[0]).parent))
        sys.argv, name, text = words, words[0], Path(words[0]).read_text(encoding="utf-8")
        main.__file__ = name
    exec(compile(text, name, "exec"), main.__dict__)


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
