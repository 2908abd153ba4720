"""Environment variables of this package: their values, and one warning for each invalid value.

They are read when they are needed, some of them while the package is imported, which stays silent. The warning comes
with the first work of a process that needs the number of threads, as every fit and every large prediction does.
"""

from __future__ import annotations

import os
import reprlib
import warnings
from collections.abc import Iterator

from treewright.core.notices import levels_to_the_caller
from treewright.exceptions import DataWarning

__all__ = [
    "compiles_first", "note_compiled_unkept", "note_fault", "note_unusable_cache", "tell_of_junk", "tell_of_no_cache",
    "threads_wanted",
]  # fmt: skip

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
