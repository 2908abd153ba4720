"""Progress of long work: the share done and a word for the work, shown by a listener or a bar.

The listener belongs to the context (and so to the thread) that set it: two fits at the same time never mix their
reports, and a thread of the pool, which sees no listener, stays silent. ``rich`` is imported only when a bar is shown.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress


COMPILING = "compiling"  # what is reported when a kernel is compiled for the first time on this machine
COMPILING_NOTICE = "compiling kernels for this kind of fit on this machine (once for this kind, up to a minute) ..."
Listener = Callable[[float, str], None]
_listener: ContextVar[Listener | None] = ContextVar("treewright_progress_listener", default=None)


class _OneNotice:
    """Writes once that kernels are compiled."""

    def __init__(self) -> None:
        self.is_given = False

    def tell(self) -> None:
        """Write the notice, unless it was written before."""
        if not self.is_given and sys.stderr is not None:
            sys.stderr.write(f"treewright: {COMPILING_NOTICE}\n")
            sys.stderr.flush()
        self.is_given = True


_notice: ContextVar[_OneNotice | None] = ContextVar("treewright_compiling_notice", default=None)


def is_heard() -> bool:
    """Whether there is a listener: without one a report need not be computed."""
    return _listener.get() is not None


def report(done: float, what: str) -> None:
    """Report to the listener, if there is one, how much of the work is done.

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
    >>> heard = []
    >>> with listen(lambda done, what: heard.append((done, what))):
    ...     report(0.5, "growing")
    >>> report(1.0, "nobody listens")
    >>> heard
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

    Examples
    --------
    >>> from treewright.core.progress import listen, report, without
    >>> heard = []
    >>> with listen(lambda done, what: heard.append(what)), without("growing"):
    ...     report(0.5, "growing")
    ...     report(0.0, "compiling")
    >>> heard
    ['compiling']
    """
    above = _listener.get()
    if above is None:
        yield
        return
    with listen(lambda done, reported: None if reported == what else above(done, reported)):
        yield


@contextmanager
def part(at: int, of: int) -> Iterator[None]:
    """Report the block as one of several parts of a work, counted from 0.

    Examples
    --------
    >>> from treewright.core.progress import listen, part, report
    >>> heard = []
    >>> with listen(lambda done, what: heard.append(done)), part(1, 4):
    ...     report(0.5, "growing")
    >>> heard
    [0.375]
    """
    above = _listener.get()
    if above is None:
        yield
        return
    with listen(lambda done, what: above((at + done) / of, what)):
        yield


@contextmanager
def compiling_announced() -> Iterator[None]:
    """Write once, if stderr is a terminal and there is no listener, that kernels are compiled while the block runs.

    A fit is one such block; fits inside it write nothing more. Only the main thread writes: otherwise each of several
    fits at the same time would.

    Examples
    --------
    >>> with compiling_announced():
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


_NARROW, _WIDE = 10, 30  # cells of the bar
_ROOMY = 110  # columns of a terminal from which the bar is wide
_SHARE = 5  # "100 %"


class _Pace:
    """Estimates how long the present stage of the work will still take, from its own pace."""

    def __init__(self) -> None:
        self._begun, self._from, self._done = time.monotonic(), 0.0, 0.0

    def left(self, done: float) -> str:
        """The time left, in words; a share below the last one begins another stage."""
        now = time.monotonic()
        if done < self._done:
            self._begun, self._from = now, done
        self._done = done
        grown = done - self._from
        return f"{clock((now - self._begun) / grown * (1.0 - done))} left" if grown > 0.0 else "-:-- left"


def clock(seconds: float) -> str:
    """Seconds as hours, minutes and seconds.

    Examples
    --------
    >>> clock(3.4), clock(75), clock(3601)
    ('0:03', '1:15', '1:00:01')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


@contextmanager
def listen_with_bar(tell: Callable[[str], None] | None = None, *, stays: bool = False) -> Iterator[None]:
    """Show the reports of this thread as a bar while the block runs.

    Parameters
    ----------
    tell : callable, optional
        Called with the word of each report before the bar moves.
    stays : bool
        Whether a line with the last report is left when the work is done; it is also written if there is no terminal,
        and so no bar.
    """
    from rich.console import Console

    console = Console(stderr=True)
    begun, pace, last = time.monotonic(), _Pace(), (0.0, "")
    with _bar(console) as bar:
        task = bar.add_task("", total=1.0, visible=False, left="")

        def show(done: float, what: str) -> None:
            nonlocal last
            last = done, what
            if tell is not None:
                tell(what)
            left = pace.left(done)
            words = _shortened(what, console.width - _bar_width(console) - _SHARE - len(left) - 3)
            bar.update(task, completed=done, description=words, left=left, visible=True)

        heard: Listener = show
        with listen(heard):
            yield
    done, what = last
    if stays and what:
        line = f"{what} ({100 * done:.0f} %, {clock(time.monotonic() - begun)})"
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def _bar(console: Console) -> Progress:
    """A bar, the share, the time left and words, in this order: the part that grows is last."""
    from rich.progress import BarColumn, Progress, TextColumn

    return Progress(
        BarColumn(_bar_width(console)),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.description}", markup=False),
        console=console,
        transient=True,
        disable=not (console.is_terminal or console.is_jupyter),
    )


def _bar_width(console: Console) -> int:
    return _WIDE if console.width >= _ROOMY else _NARROW


def _shortened(words: str, room: int) -> str:
    """The words, cut if there is no room: rich would cut the bar and the time as well."""
    return words if len(words) <= room else f"{words[: max(room - 3, 0)]}..."


@contextmanager
def bar_where_nobody_listens(wanted: bool) -> Iterator[None]:
    """Show a bar and its last line, if ``wanted`` and no other listener shows the same already.

    Examples
    --------
    >>> from treewright.core.progress import report
    >>> with bar_where_nobody_listens(False):
    ...     report(0.5, "growing")
    """
    if not wanted or is_heard():
        yield
        return
    with listen_with_bar(stays=True):
        yield
