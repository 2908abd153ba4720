"""Parts in processes of their own. In: what makes each part. Out: a carrier (``data.elsewhere``).

A process is started with nothing but this module, is told what to make, and answers questions one after another until
its input ends. Questions and answers go through its pipes, each as its length and a pickle: both ends are this
process's own children, and nothing else can write there.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Self

from treewright.data.elsewhere import PartLostError

_LENGTH = struct.Struct("<Q")
_GLANCE = 0.2  # seconds between two looks whether a process lives
_PACKAGES = str(Path(__file__).parents[2])


class Processes:
    """The carrier of parts that are made, and kept, in processes of this machine.

    Parameters
    ----------
    makes : sequence of callables
        One for each part; importable, as for pickle. Where a process dies, its part is made again.
    patience : float, seconds
        How long a question may take.

    Examples
    --------
    >>> from functools import partial
    >>> with Processes([partial(list, (3, 1, 5)), partial(list, (5,))]) as carrier:
    ...     carrier.ask("index", 5)
    [2, 0]
    """

    def __init__(self, makes: Sequence[Callable[[], Any]], patience: float = 3600.0) -> None:
        self.makes, self.patience = list(makes), patience
        self._children: list[subprocess.Popen[bytes]] = []
        self._settled: list[tuple[str, tuple[Any, ...]]] = []
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
        """See ``Carrier.ask``; PartLostError where a process has died or says nothing for too long."""
        question = pickle.dumps((what, given), protocol=5)
        for at, child in enumerate(self._children):
            try:
                _write(_pipe(child.stdin), question)
            except OSError:
                raise PartLostError(at, self._why(at)) from None
        end, answers, failed = time.monotonic() + self.patience, [], None
        for at in range(self.n_parts):  # each is heard, so that none is left over for the next question
            answer = self._heard(at, end)
            answers.append(answer)
            if failed is None and isinstance(answer, _Failure):
                failed = answer
        if failed is not None:
            raise failed.error
        return answers

    def settle(self, what: str, *given: Any) -> list[Any]:
        """See ``Carrier.settle``."""
        answers = self.ask(what, *given)
        self._settled.append((what, given))
        return answers

    def revive(self) -> None:
        """Make the parts of processes that have died, or were given up, again.

        The others may still have an answer to a question that was given up: those are made again too, which is simpler
        than to tell old answers from new ones.
        """
        _end_all(self._children)
        self._children += [_started(make) for make in self.makes]
        for what, given in self._settled:
            self.ask(what, *given)

    def close(self) -> None:
        """End all processes."""
        self._end()

    def _heard(self, at: int, end: float) -> Any:
        child = self._children[at]
        answers = _pipe(child.stdout)
        while not select.select([answers], [], [], _GLANCE)[0]:
            if child.poll() is not None:
                raise PartLostError(at, self._why(at))
            if time.monotonic() > end:
                child.kill()
                child.wait()
                raise PartLostError(at, f"it said nothing for {self.patience:g} s and was ended")
        try:
            return _read(answers)
        except (EOFError, OSError):
            child.wait()
            raise PartLostError(at, self._why(at)) from None

    def _why(self, at: int) -> str:
        code = self._children[at].wait()
        return f"its process ended with {signal.Signals(-code).name if code < 0 else f'exit code {code}'}"


class _Failure:
    """What a question raised there."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


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
            with suppress(OSError):  # what it was still to be told
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


def serve() -> None:
    """Answer questions until there are no more; what is printed goes to where errors go."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever asks
    answers = os.fdopen(os.dup(1), "wb")
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
            answer = getattr(part, what)(*given)
            data = pickle.dumps(answer, protocol=5)
        except BaseException as error:
            data = pickle.dumps(_Failure(error), protocol=5)
        _write(answers, data)
