"""Independent pieces of work side by side. In: a function of a number. Out: its answers in order.

Threads, not processes: the kernels release the lock, nothing is copied, and what a fold or a member answers never
depends on when.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any, TypeVar

from treewright.core.notices import Notices, listening
from treewright.core.threads import resolve_jobs, run_each

Answer = TypeVar("Answer")


def answers(work: Callable[[int], Answer], n_tasks: int, n_jobs: int | None, what: str = "folds") -> list[Answer]:
    """``[work(0), work(1), ...]``, on several threads; what they warn of is told once, with the number of tasks.

    Where some fail, the error of the first is raised: first in order, not in time.

    Parameters
    ----------
    work : callable
        May be called by several threads at the same time.
    n_tasks : int >= 0
    n_jobs : int or None
        Threads; None or -1 means every processor available.
    what : str
        What the tasks are, for the warnings.

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

    try:
        run_each(run, n_tasks, resolve_jobs(n_jobs))
    except Exception:
        # Tasks begin in order: when one fails, all before it have begun, and they have ended by now.
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
    """scikit-learn's settings, which it keeps per thread, for another one; nothing where it is not loaded."""
    if "sklearn" not in sys.modules:
        return nullcontext
    from sklearn import config_context, get_config

    return partial(config_context, **get_config())
