"""Independent pieces of work side by side. In: a function of a number. Out: its answers in order.

Callers: model_selection.

Threads, not processes: the kernels release the lock, nothing is copied, and what a fold answers never depends on when.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from sklearn import config_context, get_config

from treewright.core.threads import resolve_jobs, run_each

Answer = TypeVar("Answer")


def answers(work: Callable[[int], Answer], n_tasks: int, n_jobs: int | None) -> list[Answer]:
    """``[work(0), work(1), ...]``, on several threads.

    Parameters
    ----------
    work : callable
        May be called by several threads at the same time.
    n_tasks : int >= 0
    n_jobs : int or None
        Threads; None or -1 means every processor available.

    Raises
    ------
    ParameterError
        ``n_jobs`` is 0 or not an integer.
    Exception
        That of the first task that failed: first in order, not in time.

    Examples
    --------
    >>> answers(lambda task: task * task, 4, None)
    [0, 1, 4, 9]
    """
    done: list[Any] = [None] * n_tasks
    failed: dict[int, Exception] = {}
    settings = get_config()  # scikit-learn keeps them per thread

    def run(task: int, _: int) -> None:
        try:
            with config_context(**settings):
                done[task] = work(task)
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
    return done
