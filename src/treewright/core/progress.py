"""News of long work. In: a share done and a word for what. Out: calls of a listener.

Callers: grow, forest, estimators, cli.

The listener belongs to the context (and so to the thread) that set it: two fits side by side never mix their news, and
a thread of the pool, which sees no listener, stays silent.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["COMPILING", "COMPILING_NOTICE", "Listener", "compiling_told", "is_heard", "listen", "report", "without"]

COMPILING = "compiling"  # what is reported when a kernel is compiled for the first time on this machine
COMPILING_NOTICE = "compiling kernels for this kind of fit on this machine (once for this kind, up to a minute) ..."

Listener = Callable[[float, str], None]

_listener: ContextVar[Listener | None] = ContextVar("treewright_progress_listener", default=None)


class _OneNotice:
    """Says once that kernels are compiled."""

    def __init__(self) -> None:
        self.told = False

    def tell(self) -> None:
        """Say it, if it was not said yet."""
        if not self.told and sys.stderr is not None:
            sys.stderr.write(f"treewright: {COMPILING_NOTICE}\n")
            sys.stderr.flush()
        self.told = True


_notice: ContextVar[_OneNotice | None] = ContextVar("treewright_compiling_notice", default=None)


def is_heard() -> bool:
    """Whether anybody listens: what is told need not be worked out for nobody."""
    return _listener.get() is not None


def report(done: float, what: str) -> None:
    """Tell the listener, if there is one, how far the work is.

    Parameters
    ----------
    done : float
        Share of the work that is done; clipped to the range 0 to 1.
    what : str
        A word or two for the work, such as ``"growing"``.
    """
    listener = _listener.get()
    if listener is not None:
        listener(min(1.0, max(0.0, done)), what)
    elif what == COMPILING and (notice := _notice.get()) is not None:
        notice.tell()


@contextmanager
def listen(callback: Listener) -> Iterator[None]:
    """Give every report of this thread to ``callback`` while the block runs.

    Parameters
    ----------
    callback : callable
        Called as ``callback(done, what)``, ``done`` in the range 0 to 1.

    Examples
    --------
    >>> from treewright.core.progress import listen, report
    >>> news = []
    >>> with listen(lambda done, what: news.append((done, what))):
    ...     report(0.5, "growing")
    >>> report(1.0, "nobody listens")
    >>> news
    [(0.5, 'growing')]
    """
    token = _listener.set(callback)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def without(what: str) -> Iterator[None]:
    """Keep reports of one sort from the listener while the block runs.

    For work that is made of smaller works of the same name, and counts those that are done.

    Parameters
    ----------
    what : str

    Examples
    --------
    >>> from treewright.core.progress import listen, report, without
    >>> news = []
    >>> with listen(lambda done, what: news.append(what)), without("growing"):
    ...     report(0.5, "growing")
    ...     report(0.0, "compiling")
    >>> news
    ['compiling']
    """
    above = _listener.get()
    if above is None:
        yield
        return
    with listen(lambda done, said: None if said == what else above(done, said)):
        yield


@contextmanager
def compiling_told() -> Iterator[None]:
    """Say once, to a person at a terminal, that kernels are compiled while the block runs and nobody listens.

    A fit is one such block; fits inside it say nothing more. Only the main thread speaks: of fits side by side each
    would say it.

    Examples
    --------
    >>> with compiling_told():
    ...     report(0.0, COMPILING)
    """
    is_main = threading.current_thread() is threading.main_thread()
    if _notice.get() is not None or not is_main or sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    token = _notice.set(_OneNotice())
    try:
        yield
    finally:
        _notice.reset(token)
