"""Progress of long work: the share done and a word for the work, shown by a listener, as a bar or as lines.

The listener belongs to the context (and so to the thread) that set it: two fits at the same time never mix their
reports, and a thread of the pool, which sees no listener, stays silent. A terminal gets a bar, anything else a line now
and then: a log has room for both a fit of ten seconds and one of ten hours. ``rich`` is imported only when a bar is
shown.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress


COMPILING = "compiling"  # what is reported when a kernel is compiled for the first time on this machine
COMPILING_NOTICE = "compiling kernels for this machine, once ..."
_LOG = "treewright"
Listener = Callable[[float, str], None]
_listener: ContextVar[Listener | None] = ContextVar("treewright_progress_listener", default=None)


class Notice:
    """What is written about compiling: a beginning with its first report, an end when other work is reported.

    Parameters
    ----------
    begin, end : callable
        Called with words for what happens, and for what has happened.
    """

    def __init__(self, begin: Callable[[str], None], end: Callable[[str], None]) -> None:
        self._begin, self._end = begin, end
        self._n, self._begun, self._is_open = 0, 0.0, False

    def heed(self, what: str) -> None:
        """Begin with a report of compiling, and end with any other."""
        if what != COMPILING:
            self.end()
        elif not self._is_open:
            self._n, self._begun, self._is_open = 0, time.monotonic(), True
            self._begin(COMPILING_NOTICE)

    def count(self) -> None:
        """Count a compiled kernel."""
        self._n, self._last = self._n + 1, time.monotonic()

    def end(self) -> None:
        """Write how many kernels were compiled, and how long that took."""
        if self._is_open:
            self._is_open = False
            several = "s" * (self._n != 1)
            took = f" in {self._last - self._begun:.0f} s" if self._n else ""
            self._end(f"done: {self._n} kernel{several}{took}")


_notice: ContextVar[Notice | None] = ContextVar("treewright_compiling_notice", default=None)


@contextmanager
def _noticed(notice: Notice) -> Iterator[Notice]:
    """Count the kernels that are compiled in the block; at its end the notice ends."""
    token = _notice.set(notice)
    try:
        yield notice
    finally:
        _notice.reset(token)
        notice.end()


def compiled() -> None:
    """Note that a kernel whose compilation was reported is compiled."""
    if (notice := _notice.get()) is not None:
        notice.count()


def _write_to_stderr(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(text)
        sys.stderr.flush()


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
    elif (notice := _notice.get()) is not None:
        notice.heed(what)


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
def part(at: int, of: int, name: str = "") -> Iterator[None]:
    """Report the block as one of several parts of a work, counted from 0; the words begin with its name, if it has one.

    Examples
    --------
    >>> from treewright.core.progress import listen, part, report
    >>> heard = []
    >>> with listen(lambda done, what: heard.append((done, what))), part(1, 4, "tree 2 of 4"):
    ...     report(0.5, "growing")
    >>> heard
    [(0.25, 'tree 2 of 4'), (0.375, 'tree 2 of 4: growing')]
    """
    above = _listener.get()
    if above is None:
        yield
        return
    head = f"{name}: " if name else ""
    with listen(lambda done, what: above((at + done) / of, what if what == COMPILING else head + what)):
        if name:
            above(at / of, name)
        yield


@contextmanager
def counted(n_tasks: int, what: str) -> Iterator[Callable[[], None]]:
    """Report how many of several tasks are done, in place of what each of them reports; gives what counts one.

    Only the thread that began reports, since nobody listens to the others; each of them counts.

    Examples
    --------
    >>> from treewright.core.progress import counted, listen, report
    >>> heard = []
    >>> with listen(lambda done, what: heard.append((done, what))), counted(2, "folds") as count:
    ...     report(0.5, "growing")
    ...     count()
    >>> heard
    [(0.0, '0 of 2 folds'), (0.5, '1 of 2 folds'), (0.5, '1 of 2 folds')]
    """
    with logged():
        yield from _counted(n_tasks, what)


def _counted(n_tasks: int, what: str) -> Iterator[Callable[[], None]]:
    above = _listener.get()
    # Two threads that add to a number may lose one; a list grows by each.
    done: list[None] = []

    def tell(_: float, reported: str) -> None:
        if above is not None:
            words = reported if reported == COMPILING else f"{len(done)} of {n_tasks} {what}"
            above(len(done) / n_tasks, words)

    def count() -> None:
        done.append(None)
        report(0.0, what)

    if above is None:
        yield count
        return
    with listen(tell):
        yield count
    if done:  # the last ones may be those of other threads
        tell(0.0, what)


@contextmanager
def compiling_announced() -> Iterator[None]:
    """Write a line to stderr, if there is no listener, when kernels are compiled in the block: that, and how many.

    A fit is one such block; fits inside it write nothing more. Only the main thread writes: otherwise each of several
    fits at the same time would. It need not be a terminal: a notebook is none, and in a log a minute of silence before
    the first fit looks like a fault.

    Examples
    --------
    >>> with compiling_announced():
    ...     report(0.0, COMPILING)
    """
    if _notice.get() is not None or not _is_main_thread():
        yield
        return
    notice = Notice(
        lambda words: _write_to_stderr(f"treewright: {words}"), lambda words: _write_to_stderr(f" {words}\n")
    )
    with _noticed(notice), logged():
        yield


@contextmanager
def logged() -> Iterator[None]:
    """Write lines about the block to the log ``treewright``, if its level is INFO and nobody listens.

    So long work of every sort can be followed in a script or a service, without a parameter of each function. Only the
    main thread writes, as in ``compiling_announced``.
    """
    # A process that follows a log has imported this module, which takes a moment.
    logging = sys.modules.get("logging")
    log = logging.getLogger(_LOG) if logging is not None and not is_heard() and _is_main_thread() else None
    if logging is None or log is None or not log.isEnabledFor(logging.INFO):
        yield
        return
    with listen_with_lines(log.info):
        yield


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


_NARROW, _WIDE = 10, 30  # cells of the bar
_ROOMY = 110  # columns of a terminal from which the bar is wide
_SHARE = 5  # "100 %"


class _Pace:
    """The last report, and how long the present stage of the work will still take by its own pace."""

    def __init__(self) -> None:
        self._begun = self._of_stage = time.monotonic()
        self._from, self.done, self.what = 0.0, 0.0, ""

    def heard(self, done: float, what: str) -> None:
        """Note a report; a share below the last one begins another stage."""
        if what == COMPILING:  # it interrupts the work, which goes on where it was
            done = max(done, self.done)
        if done < self.done:
            self._of_stage, self._from = time.monotonic(), done
        self.done, self.what = done, what

    def left(self) -> str:
        """The time left, in words."""
        grown, now = self.done - self._from, time.monotonic()
        return f"{clock((now - self._of_stage) / grown * (1.0 - self.done))} left" if grown > 0.0 else "-:-- left"

    def line(self, *, is_over: bool) -> str:
        """What is done, its share and the time it took; while the work goes on, also the time left."""
        took = clock(time.monotonic() - self._begun)
        if not self.what:
            return f"working ({took})"
        left = "" if is_over or self.done <= self._from else f", {self.left()}"
        return f"{self.what} ({100 * self.done:.0f} %, {took}{left})"


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
    """Show the reports of this thread on standard error while the block runs: as a bar, or outside a terminal as lines.

    Parameters
    ----------
    tell : callable, optional
        Called with each line about compiled kernels, above the bar.
    stays : bool
        Whether a line with the last report is left when the work is done.
    """
    from rich.console import Console

    console = Console(stderr=True)

    def write(line: str) -> None:
        console.print(line, highlight=False, markup=False, soft_wrap=True)

    if not (console.is_terminal or console.is_jupyter):
        with listen_with_lines(write, stays=stays):
            yield
        return
    pace = _Pace()
    with _bar(console) as bar, _noticed(Notice(tell or _say_nothing, tell or _say_nothing)) as notice:
        task = bar.add_task("", total=1.0, visible=False, left="")

        def show(done: float, what: str) -> None:
            notice.heed(what)
            pace.heard(done, what)
            left = pace.left()
            words = _shortened(what, console.width - _bar_width(console) - _SHARE - len(left) - 3)
            bar.update(task, completed=pace.done, description=words, left=left, visible=True)

        heard: Listener = show
        with listen(heard):
            yield
    if stays and pace.what:
        write(pace.line(is_over=True))


_FIRST_LINE, _LINES_APART = 5.0, 60.0  # seconds; lines come after 5, 10, 20, 40, 80, 140, 200, ...


@contextmanager
def listen_with_lines(write: Callable[[str], None], *, stays: bool = False) -> Iterator[None]:
    """Write a line about the last report of this thread now and then while the block runs, and one at the end.

    A thread of its own writes: work that reports nothing for a while is not silent. The first line comes after five
    seconds, the next when the work has taken twice as long, but at most a minute later. Work that was quicker than the
    first line leaves none at the end.

    Parameters
    ----------
    write : callable
        Called with each line, by that thread and at the end by this one; and with two if kernels are compiled.
    stays : bool
        Whether the line at the end is the last report, also after quick work.
    """
    pace, is_over, is_written = _Pace(), threading.Event(), False
    begun, notice = time.monotonic(), Notice(write, lambda words: write(f"compiling {words}"))

    def heard(done: float, what: str) -> None:
        notice.heed(what)
        pace.heard(done, what)

    def write_now_and_then() -> None:
        nonlocal is_written
        wait = _FIRST_LINE
        while not is_over.wait(wait):
            is_written = True
            with suppress(OSError, ValueError):  # nobody reads standard error any more
                write(pace.line(is_over=False))
            wait = min(time.monotonic() - begun, _LINES_APART)

    writer = threading.Thread(target=write_now_and_then, name="treewright-progress", daemon=True)
    with suppress(RuntimeError):  # the process may start no more threads: then only the end is told
        writer.start()
    try:
        with _noticed(notice), listen(heard):
            yield
    finally:
        is_over.set()
        if writer.ident is not None:
            writer.join()
    if stays and pace.what:
        write(pace.line(is_over=True))
    elif is_written:
        write(f"done ({clock(time.monotonic() - begun)})")


def _say_nothing(_words: str) -> None:
    pass


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
    )


def _bar_width(console: Console) -> int:
    return _WIDE if console.width >= _ROOMY else _NARROW


def _shortened(words: str, room: int) -> str:
    """The words, cut if there is no room: rich would cut the bar and the time as well."""
    return words if len(words) <= room else f"{words[: max(room - 3, 0)]}..."


@contextmanager
def bar_where_nobody_listens(wanted: bool) -> Iterator[None]:
    """Show a bar, or lines, and the last line, if ``wanted`` and no other listener shows the same already.

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
