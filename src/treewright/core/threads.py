"""One small pool of threads. In: a function and a number of tasks. Out: all of them done.

Kernels release the lock, so plain threads run them side by side; Numba's own ``prange`` is not used (it aborts the
process when two Python threads enter, or kills forked children, and cannot be interrupted). The calling thread works
too and receives Ctrl-C between two kernels; then it waits a short time for running tasks, and raises KeyboardInterrupt.
Numba itself never runs in the main thread (``apart``): an interrupt there could leave its locks held for ever. After a
fork the pool is built anew.
"""

from __future__ import annotations

import atexit
import contextvars
import itertools
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeVar, cast

from treewright.core import environment, workers
from treewright.exceptions import ParameterError

Answer = TypeVar("Answer")

# More than any machine can use at once; each thread of a fit has scratch memory of its own.
_MOST_THREADS = 256
# Seconds. After Ctrl-C the call waits so long for running tasks, and the end of the process for work given up.
_PATIENCE = 1.0
_LAST_PATIENCE = 20.0

_pool = workers.Workers()
_here = threading.local()
_at_work: dict[int, _Crew] = {}  # which crew each thread of the pool works for
_apart: set[int] = set()  # threads that run Numba for the main thread


class _Dismissed(BaseException):
    """Ends a task in a thread of the pool whose caller has left."""


def _forget_pool() -> None:
    """Forget the pool (its threads do not exist in a forked child)."""
    global _pool
    _pool, _here.crew = workers.Workers(), None
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
    return min(found, environment.threads_wanted() or found)


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
    environment.tell_of_junk()
    if n_jobs is None:
        return available_processors()
    if isinstance(n_jobs, bool) or not hasattr(n_jobs, "__index__") or int(n_jobs) == 0:
        raise ParameterError(f"n_jobs={n_jobs!r}: give a number of threads >= 1, or -1 for every processor, or None")
    n_jobs = int(n_jobs)
    return min(n_jobs, _MOST_THREADS) if n_jobs > 0 else max(1, available_processors() + 1 + n_jobs)


def _pool_of(size: int) -> workers.Workers:
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
        workers.start(do, name="compiler")
    except RuntimeError:  # the process may not start another thread
        return work()
    answer, error = workers.wait_for(answers)
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
            workers.wait_for(self.news)

    def leave(self) -> None:
        """Leave without the result: stop all threads and wait a moment for those inside, but not for the compiler.

        A thread that is still inside after that keeps its arrays alive.
        """
        self.is_stopped = self.has_left = True
        deadline = time.monotonic() + _PATIENCE
        while self.n_inside > self.n_excused:
            try:
                workers.wait_for(self.news, deadline)
            except Empty:
                return


def _submit(crew: _Crew, n_threads: int) -> None:
    """Call threads 1 to ``n_threads - 1``; fewer if the process may not start more (the others do the work)."""
    for thread in range(1, n_threads):
        try:
            _pool_of(n_threads - 1).submit(crew.join_in, thread)
        except RuntimeError:  # no thread can be started
            continue
