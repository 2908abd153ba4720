"""Threads that outlive one piece of work. In: work. Out: threads that do it.

Python raises KeyboardInterrupt in the main thread, between any two steps. A lock that Python code takes just then is
never released, and every later user of it waits for ever. So the main thread starts threads with Ctrl-C delayed, and
waits only in C: in ``SimpleQueue.get`` and for plain locks, whose ``with`` has no such gap. SIGTERM is delayed as well:
the command line turns it into KeyboardInterrupt.

The threads are daemons: the end of the process must not wait for work that nobody wants any more.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from types import FrameType
from typing import TypeVar

__all__ = ["Workers", "start", "wait_for"]

News = TypeVar("News")

_GLANCE = 0.1  # seconds: on Windows Ctrl-C does not end a wait, so it is seen between two waits


@contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """Delay Ctrl-C and SIGTERM during the block until its end, if Python handles them.

    A signal mask would not do: the system then gives the signal to another thread, and Python still handles it here.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # other threads are never interrupted
        return
    found = ((each, signal.getsignal(each)) for each in (signal.SIGINT, signal.SIGTERM))
    handlers = {int(each): handler for each, handler in found if callable(handler)}
    heard: list[tuple[int, FrameType | None]] = []
    for each in handlers:
        signal.signal(each, lambda *what: heard.append(what))
    try:
        yield
    finally:
        for each, handler in handlers.items():
            signal.signal(each, handler)
        for each, frame in heard:
            handlers[each](each, frame)


def start(work: Callable[[], None], name: str) -> None:
    """Start a daemon thread; its name begins with ``treewright``.

    Raises
    ------
    RuntimeError
        The process may not start another thread.
    """
    thread = threading.Thread(target=work, name=f"treewright-{name}", daemon=True)
    with _ctrl_c_held_back():
        thread.start()


def wait_for(news: SimpleQueue[News], deadline: float | None = None) -> News:
    """The next thing in the queue; Ctrl-C ends the wait.

    Parameters
    ----------
    news : SimpleQueue
    deadline : float, optional
        When to give up, on the clock of ``time.monotonic``.

    Raises
    ------
    queue.Empty
        Nothing has come until the deadline.
    KeyboardInterrupt

    Examples
    --------
    >>> from queue import SimpleQueue
    >>> news = SimpleQueue()
    >>> news.put("done")
    >>> wait_for(news)
    'done'
    """
    while True:
        left = _GLANCE if deadline is None else min(_GLANCE, deadline - time.monotonic())
        try:
            return news.get(timeout=max(0.0, left))
        except Empty:
            if left < _GLANCE:
                raise


class Workers:
    """Threads that take work from one queue."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[tuple[Callable[[int], None], int]] = SimpleQueue()
        self._lock = threading.Lock()
        self._size = 0

    def grow_to(self, size: int) -> None:
        """Have at least ``size`` threads, or as many as the process may start.

        Raises
        ------
        RuntimeError
            Not a single thread can be started.
        """
        if self._size >= size:
            return
        with self._lock:
            while self._size < size:
                try:
                    start(self._serve, str(self._size + 1))
                except RuntimeError:
                    if self._size == 0:
                        raise
                    return
                self._size += 1

    def submit(self, work: Callable[[int], None], number: int) -> None:
        """Let the next idle thread call ``work(number)``, which must not raise."""
        self._waiting.put((work, number))

    def _serve(self) -> None:
        while True:
            work, number = self._waiting.get()
            work(number)
            del work  # its arrays must not live until the next work comes
