"""Independent tasks on several threads. In: a function of a number. Out: its results in order.

Threads, not processes: the kernels release the lock, nothing is copied, and the result of a fold or a member does not
depend on the schedule.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any, TypeVar

from treewright.core.notices import Notices, listening
from treewright.core.progress import counted
from treewright.core.threads import resolve_jobs, run_each

Answer = TypeVar("Answer")


def answers(work: Callable[[int], Answer], n_tasks: int, n_jobs: int | None, what: str = "folds") -> list[Answer]:
    """``[work(0), work(1), ...]``, on several threads; each warning is shown once, with the number of tasks.

    If some fail, the error of the first is raised: first in order, not in time.

    Parameters
    ----------
    work : callable
        May be called by several threads at the same time.
    n_tasks : int >= 0
    n_jobs : int or None
        Threads; None or -1 means every processor available.
    what : str
        The name of the tasks, for the warnings and for the progress.

    Examples
    --------
    >>> answers(lambda task: task * task, 4, None)
    [0, 1, 4, 9]
    """
    done: list[Any] = [None] * n_tasks
    heard: list[Notices | None] = [None] * n_tasks
    failed: dict[int, Exception] = {}
    settings = _settings()

    def run(task: int, _: int) -> None:
        try:
            with settings(), listening() as notices:
                done[task] = work(task)
            heard[task] = notices
        except Exception as error:
            failed[task] = error
            raise
        count()

    try:
        with counted(n_tasks, what) as count:
            run_each(run, n_tasks, resolve_jobs(n_jobs))
    except Exception:
        # Tasks begin in order: all tasks before a failed one have begun, and have ended by now.
        if not failed:
            raise
    if failed:
        raise failed[min(failed)]
    together = Notices()
    for notices in heard:
        for site, (text, _) in (notices.heard if notices else {}).items():
            together.add(site, text)
    together.tell(n_tasks, what)
    return done


def _settings() -> Callable[[], Any]:
    """A context with scikit-learn's settings, which it keeps per thread, for another thread; empty if not loaded."""
    if "sklearn" not in sys.modules:
        return nullcontext
    from sklearn import config_context, get_config

    return partial(config_context, **get_config())
