"""How kernels are compiled. In: plain Python loops. Out: compiled, cached, ``nogil`` kernels.

Kernels are serial and ``nogil``; ``core.threads`` runs them side by side. What is compiled is kept on disk
(``core.kernel_cache``); until it is there, a kernel's Python body runs small calls (``core.background``): it makes the
same bytes. The main thread neither loads nor compiles (``threads.apart``), so that Ctrl-C never leaves Numba half-way.

With ``NUMBA_DISABLE_JIT=1`` every kernel runs as plain Python (``tests/nojit``): to step through one with a debugger,
or to measure its coverage.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic
from numba.core.registry import CPUDispatcher, cpu_target

from treewright.core import threads
from treewright.core.background import Meanwhile, silent
from treewright.core.kernel_cache import KernelCache, cache_directory, kernels_name
from treewright.core.numba_inside import AS_PART, BARE, COUNTING, IS_KNOWN, TRIED

__all__ = [
    "allocating_inner_kernel", "allocating_kernel", "costs", "inlined_kernel", "inner_kernel", "kernel",
    "twin_of",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])

WITHOUT_JIT = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]

if not IS_KNOWN:
    threads.note_fault(
        f"Numba {numba.__version__} was not tried with this version of Treewright (only {', '.join(TRIED)}): every "
        "process compiles its kernels for itself, and more slowly; the results are the same"
    )

# Numba prepares its target at the first kernel, and holds the lock of its compiler meanwhile.
threads.apart(lambda: cpu_target.target_context)


def kernel(function: F) -> F:
    """Compile a function on its first call: no Python objects, no lock, no exceptions from division.

    Kernels get arrays, scalars and named tuples of them; they never validate, and write to arrays that the caller owns.
    They make no arrays, only views of those they were given, so they need not count references. Numba counts them by
    locked additions wherever it hands an array on or takes one out of a tuple: growth on bins took 300 ms a tree with
    counts and 133 ms without (200,000 rows, 28 columns, with other work running), C4.5 a quarter longer.
    """
    return _with_door(function, BARE)


def allocating_kernel(function: F) -> F:
    """Like ``kernel``, with reference counts: for a function that makes arrays, which Numba refuses without them."""
    return _with_door(function, COUNTING)


def costs(steps: Callable[..., float]) -> Callable[[F], F]:
    """Decorate a kernel that takes far more steps than its arguments have elements with a rough number of steps.

    The time of a call decides whether its Python body runs it before the kernel is compiled.
    """

    def note(made: F) -> F:
        if isinstance(getattr(made, "_compile_for_args", None), Meanwhile):
            made._compile_for_args.steps_of = steps  # type: ignore[attr-defined]
        return made

    return note


def inner_kernel(function: F) -> F:
    """Compile a function that only kernels call, and that makes no arrays (see ``kernel``).

    It cannot be called from Python (unboxing dozens of arrays is most of a small kernel's compile time) and has no file
    of its own: it is part of the kernels that call it.
    """
    # Forced inlining was tried: the same speed, a quarter more compile time.
    return _inner(function, BARE)


def allocating_inner_kernel(function: F) -> F:
    """Like ``inner_kernel``, with reference counts: the function makes arrays, or returns one of several."""
    # Stated: called from a kernel without counts, it would be compiled without counts.
    return _inner(function, COUNTING)


def inlined_kernel(function: F) -> F:
    """Like ``inner_kernel``, but always inlined into its caller; what it calls is not, unless it is decorated too.

    Numba passes this option on to all functions called below: growth on bins became one function of 26,000
    instructions, which took half of its compile time.
    """
    return _inner(function, BARE, {"forceinline": True} if IS_KNOWN else {})


class _Twinned(_Intrinsic):  # type: ignore[misc]  # Numba calls it final; this one adds a call
    """An intrinsic that Python can call as well: it calls its twin."""

    twin: Callable[..., Any]

    def __call__(self, *arguments: Any) -> Any:
        return self.twin(*arguments)


def twin_of(intrinsic: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorate the Python twin of an intrinsic; compiled kernels use the intrinsic under the same name.

    Numba has no Python body for an intrinsic; without its twin no kernel that calls it would run as Python.
    """

    def join(twin: Callable[..., Any]) -> Any:
        if WITHOUT_JIT:
            return twin
        intrinsic.__class__ = _Twinned
        intrinsic.twin = twin
        return intrinsic

    return join


class _InnerDispatcher(CPUDispatcher):
    """Numba's dispatcher of an inner kernel: the Python bodies of other kernels call its Python body."""

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)


def _inner(function: F, *options: dict[str, Any]) -> F:
    """A kernel that only kernels call."""
    chosen = {name: value for each in (AS_PART, *options) for name, value in each.items()}
    dispatcher = numba.njit(nogil=True, error_model="numpy", **chosen)(function)
    if IS_KNOWN and isinstance(dispatcher, Dispatcher):
        dispatcher.__class__ = _InnerDispatcher
    return cast("F", dispatcher)


def _with_door(function: F, options: dict[str, Any]) -> F:
    """A kernel that Python calls, cached on disk."""
    if WITHOUT_JIT:
        return cast("F", silent(function))
    dispatcher = numba.njit(nogil=True, error_model="numpy", **options)(function)
    if not IS_KNOWN:
        return cast("F", dispatcher)
    owner = function.__module__.removeprefix("treewright.").rpartition(".")[0]
    dispatcher._cache = KernelCache(function, kernels_name(owner), cache_directory(owner))
    # Numba calls this for arguments of new types, and then calls what it returns.
    dispatcher._compile_for_args = Meanwhile(dispatcher)
    return cast("F", dispatcher)
