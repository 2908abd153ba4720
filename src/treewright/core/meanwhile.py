"""Calls of kernels that are not compiled yet. In: a call. Out: what runs it, the Python body or compiled code.

A kernel's Python body makes the bytes of the compiled kernel, only more slowly: a step takes microseconds instead of
nanoseconds. For a table of some hundred rows that is faster than to compile the kernel, or even to load it. So the body
runs small calls at once; a kernel that has used up some time in Python is loaded if it can be, and otherwise compiled
by another process (``core.background``) while the body goes on.

With ``TREEWRIGHT_COMPILE=first`` every kernel is compiled, or loaded, before it runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from treewright.core import background, environment, numba_inside, shipped, threads

__all__ = ["Meanwhile", "compile_first", "silent"]

_compiles_first = environment.compiles_first()

# Seconds in Python of one kernel before it is looked for: to load it takes 0.02 to 0.05. The first of a process takes
# half a second more (Numba makes its types and SciPy's known), so all kernels together must have used up as much. The
# penguins of the README: 2.1 for the whole command where kernels are loaded, 1.7 where all is Python.
_WORTH_LOADING = 0.03
_WORTH_THE_FIRST = 0.4
_BETWEEN_LOOKS = 0.2
# Seconds before it is requested: a faster kernel need never be compiled.
_WORTH_ASKING = 0.1
# Seconds in Python that a kernel may use up in all, and that one call may take by an estimate, which can be five times
# too low: kernels compile in 1 to 25.
_WORTH_COMPILING = 10.0
_LONGEST_CALL = 2.0
# Per step, until the kernel has been timed: a likely value, and a cautious one. Of 108 kernels (200 and 2,000 rows,
# 6 columns) half take 1 microsecond or less for each element of their arguments, growers 1 to 15, medians up to 66.
_SECONDS_A_STEP = 2e-6, 10e-6


def compile_first() -> None:
    """From now on every kernel of this process is compiled, or loaded, before it runs."""
    global _compiles_first  # noqa: PLW0603 - a switch of the process, as the variable is
    _compiles_first = True


def silent(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel as plain Python, without warnings about overflow, division by 0 or nan, like compiled code."""

    @wraps(function)
    def run(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return run


class Meanwhile:
    """What Numba calls if no compiled form in memory fits the types of a call: it returns the form to run.

    Attributes
    ----------
    steps_of : callable
        From the arguments of a call to its rough number of steps.
    """

    _seconds_of_all = 0.0
    _is_any_loaded = False

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher
        self._function = dispatcher.py_func
        self._compile = dispatcher._compile_for_args
        self._body = silent(self._function)
        self._seconds = self._steps = 0.0  # in Python, so far
        self._next_look = 0.0
        self.steps_of: Callable[..., float] = _elements

    def __call__(self, *arguments: Any) -> Callable[..., Any]:
        """The compiled form for these arguments, or the Python body."""
        if _compiles_first:
            return self._compiled(*arguments)
        steps = max(1.0, self.steps_of(*arguments))  # a time divided by no steps would be no rate
        is_timed = self._seconds > _WORTH_LOADING
        likely, most = (steps * (self._seconds / self._steps if is_timed else rate) for rate in _SECONDS_A_STEP)
        if most > _LONGEST_CALL or self._seconds + most > _WORTH_COMPILING:
            form = self._compiled(*arguments)
            self._ask_for_own(*arguments)
            return form
        may_load = Meanwhile._is_any_loaded or Meanwhile._seconds_of_all + likely > _WORTH_THE_FIRST
        worth = _WORTH_LOADING if may_load else _WORTH_ASKING
        if self._seconds + likely > worth and time.monotonic() >= self._next_look:
            if self._is_on_disk(*arguments) and may_load:
                return self._compiled(*arguments)
            self._next_look = time.monotonic() + _BETWEEN_LOOKS
        return lambda *same: self._run(steps, same)

    def _compiled(self, *arguments: Any) -> Callable[..., Any]:
        """The compiled form, loaded or compiled now."""
        Meanwhile._is_any_loaded = True

        def compile_it() -> Callable[..., Any]:
            # A warm-up has a process for each processor.
            aside = threads.available_processors() > 1 and not shipped.is_native()
            with numba_inside.at_work(aside=aside):
                form: Callable[..., Any] = self._compile(*arguments)
                return form

        try:
            return threads.apart(compile_it)
        finally:
            environment.tell_of_no_cache()

    def _ask_for_own(self, *arguments: Any) -> None:
        """Request a form for this processor if the one that came with the package runs long."""
        types = tuple(map(self._dispatcher.typeof_pyval, arguments))
        if types in self._dispatcher._cache.came_with_package:
            background.ask_for(self._function, types)

    def _is_on_disk(self, *arguments: Any) -> bool:
        """Whether the compiled form can be loaded; otherwise it is requested."""
        types = tuple(map(self._dispatcher.typeof_pyval, arguments))
        if self._dispatcher._cache.holds(types, self._dispatcher.targetctx):
            return True
        background.ask_for(self._function, types)
        return False

    def _run(self, steps: float, arguments: tuple[Any, ...]) -> Any:
        """The Python body, timed."""
        start = time.thread_time()
        answer = self._body(*arguments)
        # Two threads may add at the same time and lose one of the two: it is an estimate.
        seconds = time.thread_time() - start
        self._seconds += seconds
        Meanwhile._seconds_of_all += seconds
        self._steps += steps
        return answer


def _elements(*arguments: Any) -> float:
    """Elements of all arrays, also of those in tuples."""
    found = 1.0
    for each in arguments:
        if isinstance(each, np.ndarray):
            found += each.size
        elif isinstance(each, tuple):
            found += _elements(*each)
    return found
