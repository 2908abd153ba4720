"""The kernel policy. In: plain Python loops. Out: compiled, cached, ``nogil`` kernels.

Kernels are serial and ``nogil``; ``core.threads`` runs them side by side. Compiled code is cached on disk under a name
that contains a digest of the sources it may be made of, because Numba's own cache does not notice an edit in another
file. Numba's cache files are pickles, so only a folder that belongs to this user and that nobody else can write is
ever read; where there is none, kernels are compiled in memory for this process only. The main thread neither loads nor
compiles (``threads.apart``), so that Ctrl-C never leaves Numba half-way.

With ``NUMBA_DISABLE_JIT=1`` every kernel runs as plain Python and makes the same bytes (``tests/nojit``): to step
through one with a debugger, or to measure its coverage.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import caching
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import cpu_target

from treewright.core import progress, threads

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "allocating_inner_kernel", "allocating_kernel", "cache_directory", "inlined_kernel", "inner_kernel", "is_warm",
    "kernel", "twin_of",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])

WITHOUT_JIT = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]

_log = logging.getLogger(__name__)
_DIGEST_BYTES = 16
_LONGEST_WAIT = 120.0  # seconds
_PACKAGE = Path(__file__).resolve().parent.parent
# The folders whose kernels each folder's kernels may call: an edit compiles these anew, and no others.
_KERNEL_FOLDERS = {
    "data": ("core", "data"),
    "forest": ("core", "forest"),
    "boosting": ("core", "boosting"),
    "grow.exact": ("core", "grow", "grow/criteria", "grow/exact"),
    "grow.binned": ("core", "grow", "grow/criteria", "grow/exact", "grow/binned"),
    "grow.by_node": ("core", "grow", "grow/criteria", "grow/by_node"),
    "grow.criteria": ("core", "grow/criteria"),
    "grow.gradient": ("core", "grow/gradient"),
    "neighbors": ("core", "neighbors"),
    "predict": ("core", "predict"),
    "prune": ("core", "predict", "prune"),
}


@cache
def _sources_digest(folders: tuple[str, ...]) -> str:
    """Digest of every source file that can be part of a kernel: an edit in any of them means a new cache folder."""
    digest = hashlib.blake2b(digest_size=10)
    own = sorted(path for folder in folders for path in (_PACKAGE / folder).glob("*.py"))
    # The kinds of tests, the bits of packed ones, the bin of missing cells and the numbers of criteria are constants of
    # kernels.
    named = ("data/bins.py", "tree/arrays.py", "tree/class_criteria.py", "tree/records.py")
    constants = [_PACKAGE / name for name in named]
    for path in [*constants, *own]:
        digest.update(str(path.relative_to(_PACKAGE)).encode())
        digest.update(path.read_bytes())
    digest.update(numba.__version__.encode())
    return digest.hexdigest()


def _is_private(path: Path) -> bool:
    """Whether a folder belongs to this user and nobody else can write to it (always true without POSIX owners)."""
    info = path.lstat()
    if not stat.S_ISDIR(info.st_mode):
        return False
    if not hasattr(os, "getuid"):
        return True
    return info.st_uid == os.getuid() and not info.st_mode & 0o022


def _keeps_names(path: Path) -> bool:
    """Whether nobody else can exchange a folder inside ``path`` for another (always true without POSIX owners)."""
    info = path.stat()
    if not hasattr(os, "getuid"):
        return True
    is_sticky = bool(info.st_mode & stat.S_ISVTX)
    return info.st_uid in (os.getuid(), 0) and (is_sticky or not info.st_mode & 0o022)


@cache
def cache_directory(owner: str = "grow.exact") -> Path | None:
    """Folder that holds the compiled kernels of a package, or None where there is no safe place.

    ``owner`` is the package below ``treewright``, such as ``"grow.by_node"``; a kernel from elsewhere shares that of
    ``"grow.exact"``.
    ``TREEWRIGHT_CACHE_DIR`` or ``NUMBA_CACHE_DIR`` name another place than the user's cache folder.
    """
    named = os.environ.get("TREEWRIGHT_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    folders = _KERNEL_FOLDERS.get(owner, _KERNEL_FOLDERS["grow.exact"])
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        root = Path(named) if named else home / "treewright"
        place = root / f"kernels-{_sources_digest(folders)}"
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.mkdir(mode=0o700, exist_ok=True)
        if _keeps_names(root) and _is_private(place) and os.access(place, os.W_OK | os.X_OK):
            return place
    except (OSError, RuntimeError, ValueError):  # read-only disk, no home folder, sources inside a zip file
        pass
    _log.info("no private folder for compiled kernels: they are compiled anew in every process")
    return None


def is_warm() -> bool:
    """Whether kernels of exactly these sources were compiled before and can be read from the cache."""
    place = cache_directory()
    return place is not None and any(place.glob("*.nbi"))


class _Locator(caching._CacheLocator):
    """Where Numba puts what it compiled: ``cache_directory``."""

    def __init__(self, py_func: Callable[..., Any], place: Path) -> None:
        self._name = f"{py_func.__module__}.{py_func.__qualname__}"
        self._place = place

    def get_cache_path(self) -> str:
        return str(self._place)

    def get_source_stamp(self) -> str:
        return "sources"  # the folder's name already stands for them

    def get_disambiguator(self) -> str:
        return hashlib.blake2b(self._name.encode(), digest_size=6).hexdigest()


class _Implementation(caching.CompileResultCacheImpl):
    """Numba's own way to store a compile result, with our place for it."""

    def __init__(self, py_func: Callable[..., Any], place: Path) -> None:
        self._lineno = py_func.__code__.co_firstlineno
        self._locator = _Locator(py_func, place)
        self._filename_base = self.get_filename_base(py_func.__qualname__, "")


class _CheckedFiles(caching.IndexDataCacheFile):
    """Numba's cache files, each behind a digest of itself: a damaged file is refused before it is read as code."""

    def _load_index(self) -> dict[Any, str]:
        try:
            stamp, overloads = pickle.loads(_checked(Path(self._index_path)))  # noqa: S301 - a private folder, checked
        except FileNotFoundError:
            return {}
        return overloads if stamp == self._source_stamp else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._save_checked(self._index_path, self._dump((self._source_stamp, overloads)))

    def _load_data(self, name: str) -> Any:
        return pickle.loads(_checked(Path(self._data_path(name))))  # noqa: S301 - a private folder, checked

    def _save_data(self, name: str, data: Any) -> None:
        self._save_checked(self._data_path(name), self._dump(data))

    def _save_checked(self, path: str, content: bytes) -> None:
        with self._open_for_write(path) as file:
            file.write(hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest())
            file.write(content)


def _checked(path: Path) -> bytes:
    """What stands behind the digest at the start of a cache file.

    Raises
    ------
    ValueError
        The digest is another one.
    """
    content = path.read_bytes()
    digest, content = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    if hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest() != digest:
        raise ValueError(f"{path} is damaged")
    return content


class _Turn:
    """The right to compile one kernel: processes that want the same one wait, and load what the first has made.

    Without it two test runners, or eight workers of joblib, each compile what the others compile at that moment. The
    lock is the operating system's, so a killed process leaves none behind; where there are no such locks, as on
    Windows, every process compiles for itself.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def take(self) -> None:
        """Wait until no other process compiles this kernel: two minutes at most, for that one may have been stopped."""
        if not hasattr(fcntl, "flock"):
            return
        self.give_up()  # what a compilation that failed has left: a process would wait for itself
        try:
            self._file = file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            end = time.monotonic() + _LONGEST_WAIT
            while not _is_locked(file) and time.monotonic() < end:
                time.sleep(0.02)
        except OSError:  # a read-only or full disk, a file system without locks
            self.give_up()

    def give_up(self) -> None:
        """Let the next process have it."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_UN)  # a forked child may hold the same open file
                os.close(file)


def _is_locked(file: int) -> bool:
    """Whether this process has locked the file now."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class _KernelCache(caching.FunctionCache):
    """Numba's function cache that takes a damaged file for a missing one, and compiles nothing twice at a time."""

    def __init__(self, py_func: Callable[..., Any], place: Path) -> None:
        self._name = repr(py_func)
        self._py_func = py_func
        self._impl = _Implementation(py_func, place)
        self._cache_path = str(place)
        self._cache_file = _CheckedFiles(
            cache_path=self._cache_path,
            filename_base=self._impl.filename_base,
            source_stamp=self._impl.locator.get_source_stamp(),
        )
        self.turn = _Turn(place / f"{self._impl.filename_base}.lock")
        self.enable()

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        """What tells one compiled form from another: arguments and processor.

        The folder stands for the sources. Numba's own key holds the bytecode, which ``python -OO`` changes by leaving
        out docstrings: everything was compiled a second time.
        """
        if self._py_func.__module__.startswith("treewright."):
            return sig, codegen.magic_tuple()
        return super()._index_key(sig, codegen)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = self._load(sig, target_context)
        if found is None:
            progress.report(0.0, progress.COMPILING)
            self.turn.take()
            found = self._load(sig, target_context)
            if found is not None:
                self.turn.give_up()
        return found

    def _load(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever is wrong with the file: compile again
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception:  # a full disk or a damaged index: a fresh index serves as well, or none
            try:
                self.flush()
                super().save_overload(sig, data)
            except Exception:
                self.disable()
        self.turn.give_up()


# Numba makes its compiler ready at the first kernel; that takes its locks as well.
threads.apart(lambda: cpu_target.target_context)


def kernel(function: F) -> F:
    """Compile a function on its first call: no Python objects, no lock, no exceptions from division.

    Kernels get arrays, scalars and named tuples of them; they never validate, and write to arrays that the caller owns.
    They make no arrays, only views of those they were given, so they need not count references. Numba counts them by
    locked additions wherever it hands an array on or takes one out of a tuple: growth on bins took 300 ms a tree with
    counts and 133 ms without (200,000 rows, 28 columns, other work beside both), C4.5 a quarter longer.
    """
    return _with_door(function, _BARE)


def allocating_kernel(function: F) -> F:
    """As ``kernel``, with reference counts: the function makes arrays. Without them Numba would refuse it."""
    return _with_door(function, {})


def inner_kernel(function: F) -> F:
    """Compile a function that only kernels call, and that makes no arrays (see ``kernel``).

    It has no door for Python (unboxing dozens of arrays is most of a small kernel's compile time) and no file of its
    own: the kernels that call it carry it along.
    """
    # Forced inlining was tried: the same speed, a quarter more compile time.
    return cast("F", numba.njit(nogil=True, error_model="numpy", **_DOORLESS, **_BARE)(function))


def allocating_inner_kernel(function: F) -> F:
    """As ``inner_kernel``, with reference counts: the function makes arrays, or returns one of several."""
    # Said aloud: called from a kernel that counts nothing it would be compiled as that one.
    return cast("F", numba.njit(nogil=True, error_model="numpy", **_DOORLESS, **_COUNTING)(function))


def inlined_kernel(function: F) -> F:
    """As ``inner_kernel``, made part of its caller: for a function that is handed tuples of dozens of arrays.

    Each call would pass them on as hundreds of words: growth on bins took 284 ms a tree with calls, 253 ms without
    (covertype, means of two readings in turn). It costs compile time wherever it is called.
    """
    return cast("F", numba.njit(nogil=True, error_model="numpy", **_DOORLESS, **_BARE, **_INLINED)(function))


class _Part(JITCodeLibrary):
    """LLVM code of an inner kernel: optimised alone, and made machine code only in the kernels that link it.

    Numba's own libraries are optimised together with all that they call, and translated, at every level of calls.
    Seven levels deep that was half the compile time. With no optimisation here at all, forests predicted 10 % slower.
    """

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self._parts: dict[_Part, None] = {}

    def add_linking_library(self, library: Any) -> None:
        """Numba's hook. Other parts wait until this one is optimised."""
        if isinstance(library, _Part):
            library._ensure_finalized()
            self._reload_init.update(library._reload_init)
            self._parts[library] = None
        else:
            super().add_linking_library(library)

    def _finalize_final_module(self) -> None:
        for part in self._parts:
            self._final_module.link_in(part._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002 - Numba's signature
        """Null, Numba's word for a function without a door for Python."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """What Numba tells where Python's objects stand; no machine code is here that could ask for them."""
        return _NoMachineCode


class _NoMachineCode:
    @staticmethod
    def set_env(_name: str, _environment: Any) -> None:
        """There is no variable yet that could point to it."""


class _PartCompiler(Compiler):
    """Numba's compiler, that makes a part of kernels."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.state.library = _Part(self.state.targetctx.codegen(), "part")


_BARE: dict[str, Any] = {"_nrt": False}
_COUNTING: dict[str, Any] = {"_nrt": True}
_INLINED: dict[str, Any] = {"forceinline": True}
_DOORLESS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": _PartCompiler}


def twin_of(intrinsic: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorate the Python twin of an intrinsic: it takes the name, and compiled kernels get the intrinsic.

    Numba has no Python body for an intrinsic, so without its twin no kernel that calls it would run where
    ``NUMBA_DISABLE_JIT=1``.
    """
    return lambda twin: twin if WITHOUT_JIT else intrinsic


def _with_door(function: F, options: dict[str, Any]) -> F:
    """A kernel that Python calls, cached on disk."""
    if WITHOUT_JIT:
        return _silent(function)
    dispatcher = numba.njit(nogil=True, error_model="numpy", **options)(function)
    place = cache_directory(function.__module__.removeprefix("treewright.").rpartition(".")[0])
    if place is not None:
        dispatcher._cache = _KernelCache(function, place)
    # Numba calls this where it meets arguments of new types, to load or to compile.
    compile_for = dispatcher._compile_for_args
    dispatcher._compile_for_args = lambda *arguments: threads.apart(lambda: compile_for(*arguments))
    return cast("F", dispatcher)


def _silent(function: F) -> F:
    """A kernel as plain Python: as silent as compiled about what wraps around, is divided by 0 or is no number."""

    @wraps(function)
    def run(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return cast("F", run)
