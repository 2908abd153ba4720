"""Threads: how many there are by the environment, those that outlive one piece of work, and one small pool of them.

Environment variables are read when they are needed, some of them while the package is imported, which stays silent.
The one warning for each invalid value comes with the first work of a process that needs the number of threads, as
every fit and every large prediction does.

Python raises KeyboardInterrupt in the main thread, between any two steps. A lock that Python code takes just then is
never released, and every later user of it waits for ever. So the main thread starts threads with Ctrl-C delayed, and
waits only in C: in ``SimpleQueue.get`` and for plain locks, whose ``with`` has no such gap. SIGTERM is delayed as
well: the command line turns it into KeyboardInterrupt.

The threads are daemons: the end of the process must not wait for work that nobody wants any more.

Kernels release the lock, so plain threads run them side by side; Numba's own ``prange`` is not used (it aborts the
process when two Python threads enter, or kills forked children, and cannot be interrupted). The calling thread works
too and receives Ctrl-C between two kernels; then it waits a short time for running tasks, and raises
KeyboardInterrupt. Numba itself never runs in the main thread (``apart``): an interrupt there could leave its locks
held for ever. After a fork the pool is built anew.
"""

from __future__ import annotations

import atexit
import contextvars
import itertools
import os
import reprlib
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from types import FrameType
from typing import Any, TypeVar, cast

from treewright.core.notices import levels_to_the_caller
from treewright.exceptions import DataWarning, ParameterError

__all__ = [
    "Workers",
    "compiles_first",
    "note_compiled_unkept",
    "note_fault",
    "note_unusable_cache",
    "start",
    "tell_of_junk",
    "tell_of_no_cache",
    "threads_wanted",
    "wait_for",
]

_THREADS, _COMPILE, _CACHE = "TREEWRIGHT_NUM_THREADS", "TREEWRIGHT_COMPILE", "TREEWRIGHT_CACHE_DIR"
_MOST_DIGITS = 9  # there are no machines with more threads; and Python refuses to read thousands of digits

_wrong_with_cache: list[str] = []  # empty where nothing is
_faults_noted: list[str] = []
_is_told = _is_compiled_unkept = False


def threads_wanted() -> int | None:
    """The threads that ``TREEWRIGHT_NUM_THREADS``, or else ``OMP_NUM_THREADS``, sets; None if neither does."""
    return next((n for name in (_THREADS, "OMP_NUM_THREADS") if (n := _threads_of(name)) is not None), None)


def _threads_of(name: str) -> int | None:
    text = os.environ.get(name, "")
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS and int(text) > 0 else None


def compiles_first() -> bool:
    """Whether ``TREEWRIGHT_COMPILE`` makes every kernel compile, or load, before it runs."""
    return os.environ.get(_COMPILE, "") == "first"


def note_unusable_cache(why: str) -> None:
    """Note for the warnings why the folder of compiled kernels cannot be used."""
    _wrong_with_cache[:] = [why]


def note_compiled_unkept() -> None:
    """Note that a kernel was compiled for this process only."""
    global _is_compiled_unkept  # noqa: PLW0603 - once in a process
    _is_compiled_unkept = True


def tell_of_no_cache() -> None:
    """Warn, once in a process and only after a compilation, that compiled kernels are not kept.

    Warns
    -----
    DataWarning
        Unless ``TREEWRIGHT_CACHE_DIR`` is set: then ``tell_of_junk`` warns, before anything is compiled.
    """
    if _is_compiled_unkept and _wrong_with_cache and not os.environ.get(_CACHE):
        why = _wrong_with_cache.pop()
        text = f"the cache folder {why}: every process compiles its own kernels; set {_CACHE} to a folder of yours"
        warnings.warn(text, DataWarning, stacklevel=levels_to_the_caller())


def note_fault(text: str) -> None:
    """Add a text to those of the first work of this process."""
    _faults_noted.append(text)


def tell_of_junk() -> None:
    """Warn, once in a process, of variables with invalid values.

    Warns
    -----
    DataWarning
        One for each.
    """
    global _is_told  # noqa: PLW0603 - once in a process
    if _is_told:
        return
    _is_told = True
    for text in _faults():
        warnings.warn(text, DataWarning, stacklevel=levels_to_the_caller())


def _faults() -> Iterator[str]:
    """What is wrong with each variable, and what happens instead."""
    if os.environ.get(_THREADS) and _threads_of(_THREADS) is None:
        instead = "OMP_NUM_THREADS is used" if threads_wanted() else "every processor is used"
        yield f"{_said(_THREADS)} is not a whole number from 1 to {10**_MOST_DIGITS - 1:,}: {instead} instead"
    if os.environ.get(_COMPILE) and not compiles_first():
        yield f"{_said(_COMPILE)} is ignored, its only value is first: kernels are compiled when they are needed"
    yield from _faults_noted
    for why in _wrong_with_cache if os.environ.get(_CACHE) else ():
        yield f"{_said(_CACHE)} {why}: compiled kernels are not kept, and every process compiles its own"


def _said(name: str) -> str:
    """A variable with its value, cut to a readable length."""
    short = reprlib.Repr()
    short.maxstring = 60
    return f"{name}={short.repr(os.environ.get(name, ''))}"


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


Answer = TypeVar("Answer")

# More than any machine can use at once; each thread of a fit has scratch memory of its own.
_MOST_THREADS = 256
# Seconds. After Ctrl-C the call waits so long for running tasks, and the end of the process for work given up.
_PATIENCE = 1.0
_LAST_PATIENCE = 20.0

_pool = Workers()
_here = threading.local()
_at_work: dict[int, _Crew] = {}  # which crew each thread of the pool works for
_apart: set[int] = set()  # threads that run Numba for the main thread


class _Dismissed(BaseException):
    """Ends a task in a thread of the pool whose caller has left."""


def _forget_pool() -> None:
    """Forget the pool (its threads do not exist in a forked child)."""
    global _pool
    _pool, _here.crew = Workers(), None
    _at_work.clear()
    _apart.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def available_processors() -> int:
    """Processors this process may use; ``TREEWRIGHT_NUM_THREADS`` or ``OMP_NUM_THREADS`` lower it.

    joblib sets ``OMP_NUM_THREADS`` in its worker processes, so a search over 8 of them does not start 64 threads.
    """
    try:
        found = len(os.sched_getaffinity(0))
    except AttributeError:  # no affinity on this system
        found = os.cpu_count() or 1
    return min(found, threads_wanted() or found)


def resolve_jobs(n_jobs: int | None) -> int:
    """How many threads to use for ``n_jobs``.

    Parameters
    ----------
    n_jobs : int or None
        None or -1 means every processor available, -2 all but one, and so on. The result of a fit never depends on it.

    Raises
    ------
    ParameterError
        ``n_jobs`` is 0 or not an integer.

    Warns
    -----
    DataWarning
        An environment variable has an invalid value; once in a process.
    """
    tell_of_junk()
    if n_jobs is None:
        return available_processors()
    if isinstance(n_jobs, bool) or not hasattr(n_jobs, "__index__") or int(n_jobs) == 0:
        raise ParameterError(f"n_jobs={n_jobs!r}: give a number of threads >= 1, or -1 for every processor, or None")
    n_jobs = int(n_jobs)
    return min(n_jobs, _MOST_THREADS) if n_jobs > 0 else max(1, available_processors() + 1 + n_jobs)


def _pool_of(size: int) -> Workers:
    """The pool, grown to ``size`` threads besides those whose callers have left."""
    _pool.grow_to(size + sum(crew.has_left for crew in list(_at_work.values())))
    return _pool


def is_busy() -> bool:
    """Whether threads still work, also on tasks given up after Ctrl-C."""
    return bool(_at_work or _apart)


@atexit.register
def _end() -> None:
    """Stop all threads, and wait for work that cannot be interrupted: Python must not end while the compiler runs."""
    for crew in list(_at_work.values()):
        crew.is_stopped = crew.has_left = True
    deadline = time.monotonic() + _LAST_PATIENCE
    with suppress(KeyboardInterrupt):
        while is_busy() and time.monotonic() < deadline:
            time.sleep(0.01)


def heed() -> None:
    """End the task of a thread whose caller has left after Ctrl-C; anywhere else, do nothing.

    Long work calls it now and then, between two kernels. Only ``run_each`` may catch what it raises.
    """
    crew: _Crew | None = getattr(_here, "crew", None)
    if crew is not None and crew.has_left:
        raise _Dismissed


def apart(work: Callable[[], Answer]) -> Answer:
    """Call ``work()`` so that Ctrl-C does not interrupt it; after Ctrl-C the main thread does not wait for it.

    For Numba: KeyboardInterrupt comes in the main thread between any two steps, also between taking a lock and the
    block that releases it, and then every other thread waits for the compiler for ever. So another thread does the work
    for the main thread. It goes on after an interrupt, and the next caller that needs the same finds it done.

    Parameters
    ----------
    work : callable
        Sees the context variables of the caller.

    Raises
    ------
    BaseException
        The error of ``work``.
    KeyboardInterrupt

    Examples
    --------
    >>> apart(lambda: 2 + 2)
    4
    """
    crew: _Crew | None = getattr(_here, "crew", None)
    if crew is not None:
        return crew.excuse(work)
    if threading.current_thread() is not threading.main_thread():
        return work()
    answers: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
    context = contextvars.copy_context()

    def do() -> None:
        _apart.add(threading.get_ident())
        try:
            answer: tuple[Any, BaseException | None] = context.run(work), None
        except BaseException as error:
            answer = None, error
        finally:
            _apart.discard(threading.get_ident())
        answers.put(answer)

    try:
        start(do, name="compiler")
    except RuntimeError:  # the process may not start another thread
        return work()
    answer, error = wait_for(answers)
    if error is not None:
        raise error
    return cast("Answer", answer)


def run_each(work: Callable[[int, int], None], n_tasks: int, n_threads: int) -> None:
    """Call ``work(task, thread)`` for every task in ``range(n_tasks)``, on up to ``n_threads`` threads.

    Parameters
    ----------
    work : callable
        ``thread`` is a number in ``range(n_threads)`` that no two calls at the same time share: for scratch memory.
    n_tasks : int >= 0
        Tasks are handed out in order, one at a time.
    n_threads : int >= 1
        The calling thread is one of them. Inside a worker everything runs inline.

    Raises
    ------
    BaseException
        The first exception of any task, after every running task has ended.
    KeyboardInterrupt
        After every running task has ended, but at most a second after Ctrl-C, and at once after the next one. A task
        that runs longer is ended at the next ``heed``, kernel to compile or ``run_each`` of its own.
    """
    n_threads = min(n_threads, n_tasks)
    if n_threads <= 1 or getattr(_here, "crew", None) is not None:
        for task in range(n_tasks):
            heed()
            work(task, 0)
        return
    crew = _Crew(work, n_tasks)
    try:
        _submit(crew, n_threads)
        crew.work_and_wait()
    except Exception:
        raise
    except BaseException:  # Ctrl-C, at any moment
        crew.leave()
        raise
    if crew.error is not None:
        # Drop the reference: the traceback refers to the crew, and a cycle would keep every array alive.
        error, crew.error = crew.error, None
        raise error


class _Crew:
    """Threads at work on the same tasks. It counts the threads inside, not the tasks handed out: some may get lost."""

    def __init__(self, work: Callable[[int, int], None], n_tasks: int) -> None:
        self.work, self.n_tasks = work, n_tasks
        self.tickets = itertools.count()  # next() on it is atomic
        self.is_stopped = self.has_left = False
        self.error: BaseException | None = None
        self.door = threading.Lock()
        self.n_inside = 0
        self.n_excused = 0  # of those inside, the threads that wait for the compiler
        self.news: SimpleQueue[None] = SimpleQueue()  # a thread went out

    def take(self, thread: int) -> None:
        """Do tasks until there are none left, or until the crew is stopped."""
        while not self.is_stopped:
            task = next(self.tickets)
            if task >= self.n_tasks:
                return
            self.work(task, thread)

    def work_and_wait(self) -> None:
        """Do tasks in the calling thread, then wait for the others."""
        try:
            self.take(0)
        except Exception:
            self.is_stopped = True
            self.wait()
            raise
        self.wait()

    def join_in(self, thread: int) -> None:
        """Do tasks in a thread of the pool; a late thread finds no task left, or the crew stopped."""
        with self.door:
            self.n_inside += 1
        _here.crew = _at_work[threading.get_ident()] = self
        try:
            self.take(thread)
        except BaseException as error:
            self.is_stopped = True
            if self.error is None and not isinstance(error, _Dismissed):
                self.error = error
        finally:
            _here.crew = None
            del _at_work[threading.get_ident()]
            with self.door:
                self.n_inside -= 1
            self.news.put(None)

    def excuse(self, work: Callable[[], Answer]) -> Answer:
        """Call ``work()``, for which a leaving caller does not wait; if the caller has left, the task ends here."""
        heed()
        with self.door:
            self.n_excused += 1
        self.news.put(None)
        try:
            return work()
        finally:
            with self.door:
                self.n_excused -= 1
            heed()

    def wait(self) -> None:
        """Wait until no thread is inside."""
        while self.n_inside:
            wait_for(self.news)

    def leave(self) -> None:
        """Leave without the result: stop all threads and wait a moment for those inside, but not for the compiler.

        A thread that is still inside after that keeps its arrays alive.
        """
        self.is_stopped = self.has_left = True
        deadline = time.monotonic() + _PATIENCE
        while self.n_inside > self.n_excused:
            try:
                wait_for(self.news, deadline)
            except Empty:
                return


def _submit(crew: _Crew, n_threads: int) -> None:
    """Call threads 1 to ``n_threads - 1``; fewer if the process may not start more (the others do the work)."""
    for thread in range(1, n_threads):
        try:
            _pool_of(n_threads - 1).submit(crew.join_in, thread)
        except RuntimeError:  # no thread can be started
            continue
