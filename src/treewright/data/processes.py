"""Parts in processes of their own, and their carrier (``data.dataset``).

A process is started with nothing but this module, is told what to make, and answers questions one after another until
its input ends. Questions and answers go through its pipes, each as its length and a pickle: only this process and its
children can write there.
"""

from __future__ import annotations

import os
import pickle
import selectors
import signal
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Self

from treewright.data.dataset import PartLostError
from treewright.exceptions import DataError

_LENGTH = struct.Struct("<Q")
_GLANCE = 0.2  # seconds between two looks at the clock
_CHUNK = 1 << 20  # bytes read or written at a time
_PACKAGES = str(Path(__file__).parents[2])


class Processes:
    """The carrier of parts that are made, and kept, in processes of this machine.

    Parameters
    ----------
    makes : sequence of callables
        One for each part; importable, as for pickle. If a process dies, its part is made again.
    patience : float, seconds
        How long a question may take.
    """

    def __init__(self, makes: Sequence[Callable[[], Any]], patience: float = 3600.0) -> None:
        self.makes, self.patience = list(makes), patience
        self._children: list[subprocess.Popen[bytes]] = []
        self._settled: list[tuple[str, tuple[Any, ...]]] = []
        self._is_closed = False
        self._lock = threading.Lock()
        self._end = weakref.finalize(self, _end_all, self._children)
        for make in self.makes:
            self._children.append(_started(make))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def n_parts(self) -> int:
        """How many parts there are."""
        return len(self.makes)

    def ask(self, what: str, *given: Any) -> list[Any]:
        """See ``Carrier.ask``; PartLostError if a process has died or does not answer in time.

        If a question is interrupted, for example by Ctrl-C, all processes are ended: a late answer must not be read as
        that of the next question. ``revive`` starts them again.
        """
        if self._is_closed:
            raise DataError("the dataset is closed, and its processes have ended: make it again")
        question = pickle.dumps((what, given), protocol=5)
        with self._lock:
            if not self._children:
                raise PartLostError(0, "its process was ended when a question was interrupted")
            try:
                replies = [pickle.loads(data) for data in self._exchanged(question)]  # noqa: S301 - of our children
            except BaseException:
                _end_all(self._children)
                raise
        failed = next((reply for reply in replies if isinstance(reply, _Failure)), None)
        if failed is not None:
            raise failed.error
        return replies

    def _exchanged(self, question: bytes) -> list[bytes]:
        """Send a question to all, and wait for all answers, as bytes; none waits for another."""
        sent = _LENGTH.pack(len(question)) + question
        left = [memoryview(sent)] * self.n_parts
        heard = [bytearray() for _ in self._children]
        replies: list[bytes | None] = [None] * self.n_parts
        end = time.monotonic() + self.patience
        with selectors.DefaultSelector() as selector:
            for at, child in enumerate(self._children):
                for pipe, events in ((child.stdin, selectors.EVENT_WRITE), (child.stdout, selectors.EVENT_READ)):
                    os.set_blocking(_pipe(pipe).fileno(), False)
                    selector.register(_pipe(pipe).fileno(), events, at)
            while any(reply is None for reply in replies):
                for key, events in selector.select(_GLANCE):
                    at = key.data
                    try:
                        if events & selectors.EVENT_WRITE:
                            left[at] = left[at][os.write(key.fd, left[at][:_CHUNK]) :]
                            if not left[at]:
                                selector.unregister(key.fd)
                            continue
                        data = os.read(key.fd, _CHUNK)
                    except BlockingIOError:
                        continue
                    except OSError:
                        data = b""
                    if not data:
                        raise PartLostError(at, self._why(at))
                    heard[at] += data
                    replies[at] = _whole(heard[at])
                if time.monotonic() > end:
                    late = next(at for at, reply in enumerate(replies) if reply is None)
                    raise PartLostError(late, f"it did not answer within {self.patience:g} s and was ended")
        return [reply for reply in replies if reply is not None]

    def share(self, fit: str) -> None:
        """See ``Carrier.share``."""
        self.ask("borrow", self.ask("lend"), fit)

    def settle(self, what: str, *given: Any) -> list[Any]:
        """See ``Carrier.settle``."""
        replies = self.ask(what, *given)
        self._settled.append((what, given))
        return replies

    def revive(self) -> None:
        """Restart the processes that have died or were given up, and make their parts again.

        The others may still send an answer to a question that was given up: they are restarted too, which is simpler
        than to tell old answers from new ones.
        """
        _end_all(self._children)
        self._children += [_started(make) for make in self.makes]
        for what, given in self._settled:
            self.ask(what, *given)

    def close(self) -> None:
        """End all processes; later questions raise an error."""
        self._is_closed = True
        self._end()

    def _why(self, at: int) -> str:
        child = self._children[at]
        with suppress(subprocess.TimeoutExpired):  # its pipe is closed, so it is ending
            child.wait(timeout=5.0)
        child.kill()
        code = child.wait()
        return f"its process ended with {signal.Signals(-code).name if code < 0 else f'exit code {code}'}"


class _Failure:
    """An error that a question raised in a process."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


def _whole(heard: bytearray) -> bytes | None:
    """The answer if all of it has arrived, else None."""
    if len(heard) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack_from(heard)
    return bytes(heard[_LENGTH.size :]) if len(heard) == _LENGTH.size + length else None


def _started(make: Callable[[], Any]) -> subprocess.Popen[bytes]:
    paths = os.pathsep.join([_PACKAGES, *filter(None, [os.environ.get("PYTHONPATH")])])
    child = subprocess.Popen(
        [sys.executable, "-c", "from treewright.data.processes import serve; serve()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip
    _write(_pipe(child.stdin), pickle.dumps((sys.path, make), protocol=5))
    return child


def _end_all(children: list[subprocess.Popen[bytes]]) -> None:
    for child in children:
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            with suppress(OSError):  # the rest of a question may be unsent
                _pipe(pipe).close()
    children.clear()


def _pipe(pipe: Any) -> BinaryIO:
    found: BinaryIO = pipe
    return found


def _write(pipe: BinaryIO, data: bytes) -> None:
    pipe.write(_LENGTH.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def _read(pipe: BinaryIO) -> Any:
    length = pipe.read(_LENGTH.size)
    if len(length) < _LENGTH.size:
        raise EOFError
    data = pipe.read(_LENGTH.unpack(length)[0])
    return pickle.loads(data)  # noqa: S301 - from a child of this process, or its parent


def _failure(error: BaseException) -> bytes:
    """The error as a pickle; only its name and text if it cannot be pickled."""
    with suppress(Exception):
        data = pickle.dumps(_Failure(error), protocol=5)
        pickle.loads(data)  # noqa: S301 - of this process itself
        return data
    return pickle.dumps(_Failure(RuntimeError(f"{type(error).__name__}: {error}")), protocol=5)


def serve() -> None:
    """Answer questions until there are no more; what is printed goes to stderr."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent process
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    questions = sys.stdin.buffer
    paths, make = _read(questions)
    sys.path[:] = paths
    part: Any = None
    while True:
        try:
            what, given = _read(questions)
        except EOFError:
            return
        try:
            part = make() if part is None else part
            reply = getattr(part, what)(*given)
            data = pickle.dumps(reply, protocol=5)
        except BaseException as error:  # the parent process raises it
            data = _failure(error)
        with suppress(BrokenPipeError):  # the parent process is gone: no further question comes
            _write(replies, data)
