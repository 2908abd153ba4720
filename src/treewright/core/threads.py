"""One small pool of threads. In: a function and a number of tasks. Out: all of them done.

Callers: grow, predict.

Kernels release the lock, so plain threads run them side by side; Numba's own ``prange`` is not used (it aborts the
process when two Python threads enter, or kills forked children, and cannot be interrupted). The calling thread works
too, takes Ctrl-C between two tasks, and waits for the others before it lets the interrupt through. After a fork the
pool is built anew.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from treewright.exceptions import ParameterError

# More than any machine can use at once; each thread of a fit has scratch memory of its own.
_MOST_THREADS = 256

_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None
_pool_size = 0
_here = threading.local()


def _forget_pool() -> None:
    """Let go of the pool (its threads do not exist in a forked child)."""
    global _lock, _pool, _pool_size
    _lock, _pool, _pool_size = threading.Lock(), None, 0
    _here.is_worker = False


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
    for variable in ("TREEWRIGHT_NUM_THREADS", "OMP_NUM_THREADS"):
        text = os.environ.get(variable, "")
        if text.isdecimal() and len(text) < 10 and int(text) > 0:
            return min(found, int(text))
    return found


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
    """
    if n_jobs is None:
        return available_processors()
    if isinstance(n_jobs, bool) or not hasattr(n_jobs, "__index__") or int(n_jobs) == 0:
        raise ParameterError(f"n_jobs={n_jobs!r}: give a number of threads >= 1, or -1 for every processor, or None")
    n_jobs = int(n_jobs)
    return min(n_jobs, _MOST_THREADS) if n_jobs > 0 else max(1, available_processors() + 1 + n_jobs)


def _pool_of(size: int) -> ThreadPoolExecutor:
    """The pool, grown to at least ``size`` threads."""
    global _pool, _pool_size
    with _lock:
        if _pool is None or _pool_size < size:
            # An outgrown pool is left to finish what other callers gave it; its idle threads end with it.
            if _pool is not None:
                _pool.shutdown(wait=False)
            _pool, _pool_size = ThreadPoolExecutor(size, thread_name_prefix="treewright"), size
        return _pool


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
    """
    n_threads = min(n_threads, n_tasks)
    if n_threads <= 1 or getattr(_here, "is_worker", False):
        for task in range(n_tasks):
            work(task, 0)
        return
    crew = _Crew(work, n_tasks)
    try:
        _submit(crew, n_threads)
        crew.take(0)
    except BaseException:
        crew.stopped.set()
        raise
    finally:
        crew.dismiss()
    if crew.error is not None:
        # Let go of it: its traceback refers to the crew, and a circle would keep every array alive.
        error, crew.error = crew.error, None
        raise error


class _Crew:
    """Threads at work on the same tasks. Who is inside counts, not which futures are known: one may get lost."""

    def __init__(self, work: Callable[[int, int], None], n_tasks: int) -> None:
        self.work, self.n_tasks = work, n_tasks
        self.tickets = itertools.count()  # next() on it is atomic
        self.stopped = threading.Event()
        self.error: BaseException | None = None
        self.door = threading.Condition()
        self.n_inside = 0

    def take(self, thread: int) -> None:
        """Do tasks until there are none left, or until somebody stops."""
        while not self.stopped.is_set():
            task = next(self.tickets)
            if task >= self.n_tasks:
                return
            self.work(task, thread)

    def join_in(self, thread: int) -> None:
        """What a thread of the pool runs. Who comes late finds no task left, or is stopped at the door."""
        with self.door:
            self.n_inside += 1
        _here.is_worker = True
        try:
            self.take(thread)
        except BaseException as error:
            self.stopped.set()
            if self.error is None:
                self.error = error
        finally:
            with self.door:
                self.n_inside -= 1
                self.door.notify_all()

    def dismiss(self) -> None:
        """Wait for who is inside; an interrupt stops them first and is raised afterwards."""
        interrupt: BaseException | None = None
        while True:
            try:
                with self.door:
                    while self.n_inside:
                        self.door.wait()
                break
            except KeyboardInterrupt as error:
                self.stopped.set()
                interrupt = error
        if interrupt is not None:
            raise interrupt


def _submit(crew: _Crew, n_threads: int) -> None:
    """Call threads 1 to ``n_threads - 1``; fewer where the process may not start more (then the others do the work)."""
    for thread in range(1, n_threads):
        try:
            _pool_of(n_threads - 1).submit(crew.join_in, thread)
        except RuntimeError:  # the pool was outgrown by another caller in between, or no thread can be started
            continue
