"""What this package changes inside Numba. In: a compilation. Out: the same code, from half the work.

Everything here, in ``structs``, ``kernel_cache`` and ``meanwhile`` replaces parts of Numba that are not its public
interface; record 0010 lists them. With a version that they were not tried on (``IS_KNOWN``) kernels are plain
``numba.njit``: the same bytes, compiled by each process for itself.

Three quarters of a compilation are Python code of Numba's front end. ``at_work`` spares it what it does again and
again, only while a kernel of this package is compiled: 13.3 s of a processor instead of 19 for the kernels of one tree.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numba
from llvmlite import binding
from numba.core import cgutils
from numba.core.base import BaseContext
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.targetconfig import ConfigStack, TargetConfig
from numba.core.types.functions import BaseFunction

__all__ = ["AS_PART", "BARE", "COUNTING", "IS_KNOWN", "TRIED", "at_work"]

TRIED = ("0.68",)  # minor versions; record 0010 says what is tried with a new one
IS_KNOWN = ".".join(numba.__version__.split(".")[:2]) in TRIED


class _Part(JITCodeLibrary):
    """LLVM code of an inner kernel: optimised alone, and compiled to machine code only in the kernels that link it.

    Numba's own libraries are optimised together with all that they call, and translated, at every level of calls.
    Seven levels deep that was half the compile time. With no optimisation here at all, forests predicted 10 % slower.

    LLVM needs neither the interpreter's lock nor anything of Numba's front end, so it works in a thread of its own
    while the front end goes on with the callers: parts are optimised in the order in which they are finalised, and a
    kernel waits for its parts when it links them.
    """

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self._parts: dict[_Part, None] = {}
        self._written: list[tuple[str, str]] = []
        self._optimised: Future[None] = Future()

    def add_ir_module(self, ir_module: Any) -> None:
        """Numba's hook; the text is parsed when this part is optimised."""
        self._written.append((ir_module.name, cgutils.normalize_ir_text(str(ir_module))))

    def add_linking_library(self, library: Any) -> None:
        """Numba's hook. Other parts wait until this one is optimised."""
        if isinstance(library, _Part):
            library._ensure_finalized()
            self._reload_init.update(library._reload_init)
            self._parts[library] = None
        else:
            super().add_linking_library(library)

    def finalize(self) -> None:
        """Numba's hook: nothing more is added."""
        self._finalized = True
        try:
            _optimiser[-1].submit(self._optimise)
        except (IndexError, RuntimeError):  # no thread is wanted, or none can be started
            self._optimise()

    def _optimise(self) -> None:
        """What Numba does in ``add_ir_module`` and ``finalize``, without machine code."""
        try:
            for name, text in self._written:
                module = binding.parse_assembly(text)
                module.name = name
                module.verify()
                self.add_llvm_module(module)
            for library in dict.fromkeys(self._linking_libraries):
                self._reload_init.update(library._reload_init)
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
            self._optimize_final_module()
            for part in self._parts:
                self._final_module.link_in(part._get_module_for_linking(), preserve=True)
            self._final_module.verify()
            self._finalize_dynamic_globals()
            self._verify_declare_only_symbols()
        except BaseException as error:
            self._optimised.set_exception(error)
        else:
            self._optimised.set_result(None)

    def _get_module_for_linking(self) -> Any:
        self._optimised.result()
        return super()._get_module_for_linking()

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002 - Numba's signature
        """Null, as Numba expects it for a function that Python cannot call."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """An object with ``set_env``, which Numba calls; there is no machine code that could use it."""
        return _NoMachineCode


_optimiser: list[ThreadPoolExecutor] = []  # while a kernel is compiled, its one thread


class _NoMachineCode:
    @staticmethod
    def set_env(_name: str, _environment: Any) -> None:
        """Do nothing: there is no variable yet that could point to the environment."""


class _PartCompiler(Compiler):
    """Numba's compiler with ``_Part`` as its library."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.state.library = _Part(self.state.targetctx.codegen(), "part")


BARE: dict[str, Any] = {"_nrt": False} if IS_KNOWN else {}
COUNTING: dict[str, Any] = {"_nrt": True} if IS_KNOWN else {}
# Options of a part; also for functions that Numba compiles because kernels call them (``overload``).
AS_PART: dict[str, Any] = {
    "forceinline": False,  # stated: see ``jit.inlined_kernel``
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": _PartCompiler,
} if IS_KNOWN else {}  # fmt: skip


_find_signature = BaseFunction.get_call_type
_measure = BaseContext.get_abi_sizeof
_signatures: dict[Any, Any] = {}  # of one compilation: with the function, so that its id stays its own
_sizes: dict[str, int] = {}


def _call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
    """The signature of a call of a function of Numba's, found once for each combination of types and flags.

    Numba tries every overload of it, with literal types and without, each time that it meets the call: 4,800 times in
    one tree, 640 of them different.
    """
    key = id(self), context, tuple(args), tuple(kws.items()) if kws else (), ConfigStack.top_or_none()
    found = _signatures.get(key)
    if found is None:
        signature = _find_signature(self, context, args, kws)
        if signature is not None:
            _signatures[key] = self, signature, self._impl_keys[signature.args]
        return signature
    _, signature, implementation = found
    self._impl_keys[signature.args] = implementation  # Numba keeps the last one, which is lowered
    return signature


def _changed(flags: Any) -> dict[str, Any]:
    """The flags that differ from their defaults."""
    return {name: value for name, value in flags._values.items() if value != flags.options[name].default}


def _flags_are_equal(self: Any, other: Any) -> Any:
    """As in Numba, which makes a dict of all thirty values of both each time: 100,000 in one tree."""
    if not isinstance(other, TargetConfig):
        return NotImplemented
    return self._values == other._values or _changed(self) == _changed(other)


def _hash_of_flags(self: Any) -> int:
    return hash(frozenset(_changed(self)))


def _size_of(self: Any, kind: Any) -> int:
    """The size of an LLVM type in bytes; Numba makes a module of its own for each variable to find it."""
    name = str(kind)
    if name not in _sizes:
        _sizes[name] = _measure(self, kind)
    return _sizes[name]


_CHANGES: tuple[tuple[Any, str, Callable[..., Any]], ...] = (
    (BaseFunction, "get_call_type", _call_type),
    (TargetConfig, "__eq__", _flags_are_equal),
    (TargetConfig, "__hash__", _hash_of_flags),
    (BaseContext, "get_abi_sizeof", _size_of),
)
_depth = 0


@contextmanager
def at_work(*, aside: bool) -> Iterator[None]:
    """Compile a kernel within the block, faster, and without a log; with ``aside`` LLVM has a thread of its own.

    Numba describes every step at DEBUG: 80,000 lines for one tree, to everybody who has set the root logger to it. Who
    has given the log ``numba`` a level wants them. Its objects refer to each other in circles and live as long as the
    compilation: the garbage collector looked for a sixth of the time and found little.
    """
    global _depth  # noqa: PLW0603 - guarded by the lock
    with global_compiler_lock:
        if _depth:
            yield
            return
        log, collects = logging.getLogger("numba"), gc.isenabled()
        is_silent = log.level == logging.NOTSET
        before = [(owner, name, getattr(owner, name)) for owner, name, _ in _CHANGES]
        _depth = 1
        try:
            gc.disable()
            if is_silent:
                log.setLevel(logging.WARNING)
            for owner, name, change in _CHANGES:
                setattr(owner, name, change)
            with ThreadPoolExecutor(1, "treewright-llvm") as thread:
                _optimiser.extend([thread] * aside)
                yield
        finally:
            _optimiser.clear()
            for owner, name, original in before:
                setattr(owner, name, original)
            if is_silent:
                log.setLevel(logging.NOTSET)
            if collects:
                gc.enable()
            _signatures.clear()
            _depth = 0
