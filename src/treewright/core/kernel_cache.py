"""The cache of compiled kernels, on disk and safe to read, and the kernels that a wheel brings.

A wheel for one version of Python and of Numba may carry the kernels, compiled for a *tier* of processors
(``.ci/wheel_with_kernels`` makes it). They are arranged as in the cache, and are read as code only if the list in the
wheel names them with their digest:

    compiled/list.json                                  versions; a digest for each file
    compiled/x86-64-v3/kernels-<sources>/<kernel>.nbi   the list of forms
    compiled/x86-64-v3/kernels-<sources>/<kernel>.1.nbc one form

With other sources, another Python or Numba, a processor without the tier's features, or a damaged file, the kernel is
compiled as if nothing had been shipped. Code for a tier makes the same bytes as the processor's own and may be slower,
so a kernel that runs long is compiled for this processor in the background (``core.background``).

Compiled code lies in a folder whose name contains a digest of the sources it may be made of, because Numba's own cache
does not notice an edit in another file. Numba's cache files are pickles: who can replace one can run code as this
user. So a folder is used only if it belongs to this user and nobody else can write to it or to any folder above it, and
a file is read only if the very file that was opened is this user's own. A digest at the start of each file reveals
damage. Without such a folder, kernels are compiled in memory for this process only.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import pickle
import stat
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numba
from llvmlite import binding
from numba.core import caching

from treewright.core import progress, threads

__all__ = [
    "KernelCache",
    "TIERS",
    "Tier",
    "cache_directory",
    "checked",
    "compile_natively",
    "folders_of",
    "is_locked",
    "is_native",
    "kept_forms",
    "kernels_name",
    "requests_directory",
    "sealed",
    "unpickled",
    "write_whole",
]

_log = logging.getLogger(__name__)
_FOLDER = Path(__file__).resolve().parent.parent / "compiled"
_native = False

_V2 = ("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3")
_V3 = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave")


class Tier(NamedTuple):
    """A kind of processor: its name for LLVM, and LLVM's names of the features that it must have.

    Compile for it with ``NUMBA_CPU_NAME`` set to the name and ``NUMBA_CPU_FEATURES`` to nothing.

    The levels of x86-64 are those of its System V ABI, section 3.1.1.
    """

    processor: str
    features: tuple[str, ...]


TIERS = {  # the best first
    "x86-64-v3": Tier("x86-64-v3", (*_V2, *_V3)),
    "x86-64-v2": Tier("x86-64-v2", _V2),
    "arm64": Tier("generic", ("neon",)),
}


def compile_natively() -> None:
    """From now on this process does not use shipped kernels: it compiles those of its own processor."""
    global _native  # noqa: PLW0603 - a switch of the process
    _native = True


def is_native() -> bool:
    """Whether this process does not use shipped kernels."""
    return _native


def folders_of(kernels: str) -> list[tuple[Path, Tier]]:
    """The shipped folders for a folder of the cache and this processor, the best tier first; may be empty."""
    return [] if _native else [(_FOLDER / name / kernels, TIERS[name]) for name in _usable_tiers()]


def checked(path: Path) -> bytes:
    """A shipped file, if it is the one that the list names.

    Raises
    ------
    FileNotFoundError
        The list does not name it, or it is gone.
    ValueError
        Its digest is wrong.
    """
    name = path.relative_to(_FOLDER).as_posix()
    digest = _list()["files"].get(name)
    if digest is None:
        raise FileNotFoundError(f"{path} is not in the list of compiled kernels")
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != digest:
        _log.warning("%s is not the file that came with the package: the kernel is compiled instead", path)
        raise ValueError(f"{path} is not the file that came with the package")
    return content


@cache
def _list() -> dict[str, Any]:
    """The list, or an empty one if nothing was shipped for these versions."""
    nothing: dict[str, Any] = {"tiers": [], "files": {}}
    try:
        told = json.loads((_FOLDER / "list.json").read_text(encoding="utf-8"))
        fits = (told["python"], told["numba"]) == (sys.implementation.cache_tag, numba.__version__)
        return {"tiers": list(told["tiers"]), "files": dict(told["files"])} if fits else nothing
    except (OSError, ValueError, KeyError, TypeError):  # no list, the package is in an archive, the list is damaged
        return nothing


@cache
def _usable_tiers() -> tuple[str, ...]:
    """The shipped tiers whose features this processor has."""
    shipped = _list()["tiers"]
    if not shipped:
        return ()
    has = binding.get_host_cpu_features()
    return tuple(name for name, tier in TIERS.items() if name in shipped and all(map(has.get, tier.features)))


try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


_DIGEST_BYTES = 16
_LONGEST_WAIT = 120.0  # seconds
_PACKAGE = Path(__file__).resolve().parent.parent
# The folders whose kernels each folder's kernels may call: an edit in these recompiles the folder.
_KERNEL_FOLDERS = {
    "data": ("core", "data"),
    "forest": ("core", "forest"),
    "boosting": ("core", "boosting"),
    "grow.exact": ("core", "grow", "grow/criteria", "grow/exact"),
    "grow.binned": ("core", "grow", "grow/criteria", "grow/exact", "grow/binned"),
    "grow.by_node": ("core", "grow", "grow/criteria", "grow/by_node"),
    "grow.criteria": ("core", "grow/criteria"),
    "grow.optimal": ("core", "grow", "grow/optimal"),
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
    named = ("data/bins.py", "trees/arrays.py", "trees/class_criteria.py", "trees/arrays.py")
    constants = [_PACKAGE / name for name in named]
    for path in [*constants, *own]:
        digest.update(str(path.relative_to(_PACKAGE)).encode())
        digest.update(path.read_bytes())
    digest.update(numba.__version__.encode())
    return digest.hexdigest()


def _is_private(info: os.stat_result) -> bool:
    """Whether a file or folder belongs to this user, and nobody else can write to it."""
    if not hasattr(os, "getuid"):  # without POSIX owners a user's folders are guarded by the system's own lists
        return True
    return info.st_uid == os.getuid() and not info.st_mode & 0o022


def _keeps_names(folder: Path) -> bool:
    """Whether nobody else can replace the contents of a folder, or any folder above it.

    What the superuser owns counts as this user's own, and a folder with the sticky bit leaves names to their owners.
    """
    if not hasattr(os, "getuid"):
        return True
    infos = [each.stat() for each in (folder, *folder.parents)]
    # Folders above may have been made group-writable by the system, for a group that is this user's alone.
    return all(
        info.st_uid in (os.getuid(), 0)
        and (
            info.st_mode & stat.S_ISVTX
            or not info.st_mode & 0o022
            or (at > 0 and not info.st_mode & stat.S_IWOTH and _has_no_other_member(info.st_gid))
        )
        for at, info in enumerate(infos)
    )


@cache
def _has_no_other_member(group: int) -> bool:
    """Whether a group is the superuser's (containers without a fixed user rely on it), or this user's alone."""
    import grp
    import pwd

    if group == 0:
        return True
    try:
        own = pwd.getpwuid(os.getuid())
        named = set(grp.getgrgid(group).gr_mem)
    except KeyError:
        return False
    return (
        own.pw_gid == group
        and named <= {own.pw_name}
        and all(each.pw_gid != group for each in pwd.getpwall() if each.pw_uid != own.pw_uid)
    )


def _read_own(path: Path) -> bytes:
    """A file's content, if the opened file is this user's own: it might be replaced between a check and a read.

    Raises
    ------
    FileNotFoundError
        There is none.
    OSError
        It is a link, or not a file.
    PermissionError
        It belongs to another user, or others can write to it.
    """
    # Opening a named pipe would wait for a writer, so it must not block.
    flags = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK", "O_BINARY"))
    with os.fdopen(os.open(path, flags), "rb") as file:
        info = os.fstat(file.fileno())
        if not stat.S_ISREG(info.st_mode) or not _is_private(info):
            _log.warning("%s is not this user's own file: the kernel is compiled instead", path)
            raise PermissionError(f"{path} is not this user's own file")
        return file.read()


def cache_directory(owner: str = "grow.exact") -> Path | None:
    """Folder that holds the compiled kernels of a package, or None if there is no safe place.

    ``owner`` is the package below ``treewright``, such as ``"grow.by_node"``; a kernel from elsewhere shares that of
    ``"grow.exact"``.
    ``TREEWRIGHT_CACHE_DIR`` or ``NUMBA_CACHE_DIR`` name another place than the user's cache folder.
    """
    name = kernels_name(owner)
    return _private_folder(name) if name else None


def kept_forms() -> int:
    """How many compiled forms of kernels the cache holds for these sources."""
    folders = {folder for owner in _KERNEL_FOLDERS if (folder := cache_directory(owner)) is not None}
    return sum(1 for folder in folders for _ in folder.glob("*.nbc"))


def kernels_name(owner: str) -> str:
    """Name of the folder of a package's kernels, with a digest of the sources; empty if those cannot be read.

    ``owner`` as above.
    """
    try:
        return f"kernels-{_sources_digest(_KERNEL_FOLDERS.get(owner, _KERNEL_FOLDERS['grow.exact']))}"
    except OSError:  # inside an archive
        return ""


def requests_directory() -> Path | None:
    """Folder of the requests to compile kernels, or None if there is no safe place."""
    every = tuple(sorted({folder for folders in _KERNEL_FOLDERS.values() for folder in folders}))
    try:
        return _private_folder(f"requests-{sys.implementation.cache_tag}-{_sources_digest(every)}")
    except OSError:
        return None


@cache
def _private_folder(name: str) -> Path | None:
    """A folder of the cache that nobody else can write to; None if there is none."""
    named = os.environ.get("TREEWRIGHT_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        root = _absolute(Path(named) if named else home / "treewright")
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        root = root.resolve()  # a link on the way could be turned elsewhere later
        place = root / name
        place.mkdir(mode=0o700, exist_ok=True)
        info = place.lstat()
        is_ours = stat.S_ISDIR(info.st_mode) and _is_private(info) and _keeps_names(root)
        if is_ours and os.access(place, os.W_OK | os.X_OK):
            return place
        why = "is not a folder that belongs to this user and that nobody else can write to or replace"
    except (OSError, RuntimeError, ValueError) as error:  # read-only disk, no home folder
        why = f"cannot be used ({getattr(error, 'strerror', None) or type(error).__name__})"
    threads.note_unusable_cache(why)
    _log.info("no private folder for compiled kernels: they are compiled anew in every process")
    return None


@cache
def _absolute(folder: Path) -> Path:
    """A relative path as it was when first used: the cache stays in place if the working folder changes."""
    return folder.absolute()


class _Locator(caching._CacheLocator):
    """Numba's locator of compiled kernels: ``cache_directory``."""

    def __init__(self, py_func: Callable[..., Any], place: Path) -> None:
        self._name = f"{py_func.__module__}.{py_func.__qualname__}"
        self._place = place

    def get_cache_path(self) -> str:
        return str(self._place)

    def get_source_stamp(self) -> str:
        return "sources"  # the folder's name already has their digest

    def get_disambiguator(self) -> str:
        return hashlib.blake2b(self._name.encode(), digest_size=6).hexdigest()


class _Implementation(caching.CompileResultCacheImpl):
    """Numba's own storage of a compile result, in our folder."""

    def __init__(self, py_func: Callable[..., Any], place: Path) -> None:
        self._lineno = py_func.__code__.co_firstlineno
        self._locator = _Locator(py_func, place)
        self._filename_base = self.get_filename_base(py_func.__qualname__, "")


class _CheckedFiles(caching.IndexDataCacheFile):
    """Numba's cache files, each with a digest at its start: a damaged file is refused before it is read as code."""

    def __init__(self, place: Path, base: str, stamp: str, read: Callable[[Path], bytes] = _read_own) -> None:
        super().__init__(cache_path=str(place), filename_base=base, source_stamp=stamp)
        self._read = read

    def _load_index(self) -> dict[Any, str]:
        try:
            stamp, overloads = _unsealed(self._read(Path(self._index_path)), self._index_path)
        except FileNotFoundError:
            return {}
        return overloads if stamp == self._source_stamp else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._save_checked(self._index_path, self._dump((self._source_stamp, overloads)))

    def _load_data(self, name: str) -> Any:
        path = self._data_path(name)
        return _unsealed(self._read(Path(path)), path)

    def _save_data(self, name: str, data: Any) -> None:
        self._save_checked(self._data_path(name), self._dump(data))

    def _save_checked(self, path: str, content: bytes) -> None:
        with self._open_for_write(path) as file:
            _keep_to_oneself(file.fileno())
            file.write(sealed(content))


def _keep_to_oneself(file: int) -> None:
    """Let nobody else write to a file, whatever this process's umask: otherwise it would not be read again."""
    if hasattr(os, "fchmod"):
        os.fchmod(file, 0o600)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file of this user's own, which appears only when it is whole."""
    partial = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
    with partial.open("wb") as file:
        _keep_to_oneself(file.fileno())
        file.write(sealed(content))
    partial.replace(path)


def sealed(content: bytes) -> bytes:
    """The content with a digest of itself at the start."""
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest() + content


def unpickled(path: Path) -> Any:
    """The content of a file in a private folder, unpickled only if the digest at its start is that of the rest.

    Raises
    ------
    ValueError
        The digest is wrong.
    OSError
        It is not this user's own file.
    """
    return _unsealed(_read_own(path), path)


def _unsealed(content: bytes, path: Path | str) -> Any:
    digest, content = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    if hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest() != digest:
        raise ValueError(f"{path} is damaged")
    return pickle.loads(content)  # noqa: S301 - a private folder, checked


class _Turn:
    """The right to compile one kernel: processes that need the same one wait, and load the result of the first.

    Without it two test runners, or eight workers of joblib, each compile what the others compile at that moment. The
    lock is the operating system's, so a killed process leaves none behind; without such locks, as on Windows, every
    process compiles for itself.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def take(self) -> None:
        """Wait until no other process compiles this kernel: at most two minutes, as that one may be stopped."""
        if not hasattr(fcntl, "flock"):
            return
        self.give_up()  # left by a failed compilation: a process would wait for itself
        try:
            self._file = file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            end = time.monotonic() + _LONGEST_WAIT
            while not is_locked(file) and time.monotonic() < end:
                time.sleep(0.02)
        except OSError:  # a read-only or full disk, a file system without locks
            self.give_up()

    def give_up(self) -> None:
        """Release the lock for the next process."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_UN)  # a forked child may hold the same open file
                os.close(file)


def is_locked(file: int) -> bool:
    """Whether this process holds the lock of the file now; always True without such locks."""
    if not hasattr(fcntl, "flock"):
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class KernelCache(caching.FunctionCache):
    """Numba's function cache; a damaged file counts as missing, and no kernel is compiled twice at the same time.

    Kernels that are not in the cache may have come with the package (``core.kernel_cache``).

    Parameters
    ----------
    py_func : function
    kernels : str
        Name of the folder of its kernels.
    place : Path or None
        That folder in the user's cache; without one nothing is kept.
    """

    def __init__(self, py_func: Callable[..., Any], kernels: str, place: Path | None) -> None:
        self._name = repr(py_func)
        self._py_func = py_func
        self._kernels = kernels
        self._keeps = place is not None
        place = place or Path(os.devnull)
        self._impl = _Implementation(py_func, place)
        self._cache_path = str(place)
        self._cache_file = self._files_in(place)
        self.turn = _Turn(place / f"{self._impl.filename_base}.lock")
        self.came_with_package: set[Any] = set()  # types of arguments of what is in memory
        self.enable()

    def _files_in(self, place: Path, *read: Any) -> _CheckedFiles:
        return _CheckedFiles(place, self._impl.filename_base, self._impl.locator.get_source_stamp(), *read)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        """The key of a compiled form: arguments and processor.

        The folder stands for the sources. Numba's own key holds the bytecode, which ``python -OO`` changes by removing
        docstrings: everything was compiled a second time.
        """
        if self._py_func.__module__.startswith("treewright."):
            return sig, codegen.magic_tuple()
        return super()._index_key(sig, codegen)

    def holds(self, sig: Any, target_context: Any) -> bool:
        """Whether the kernel is on disk for these types of arguments. Loading would set up Numba's types.

        That takes half a second the first time in a process.
        """
        with suppress(Exception):  # a damaged file
            if self._index_key(sig, target_context.codegen()) in self._cache_file._load_index():
                return True
        return self._of_package(sig, target_context) is not None

    def _of_package(self, sig: Any, target_context: Any) -> tuple[_CheckedFiles, str] | None:
        """The files of the best tier that has the kernel for these types, and the name of the one that holds it."""
        triple = target_context.codegen().magic_tuple()[0]
        for folder, tier in folders_of(self._kernels):
            files = self._files_in(folder, checked)
            with suppress(Exception):  # not listed, or damaged
                return files, files._load_index()[sig, (triple, tier.processor, "")]
        return None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Numba's hook before it compiles: the form on disk, or None if this process is to compile."""
        found = self._load(sig, target_context)
        if found is None:
            progress.report(0.0, progress.COMPILING)
            if self._keeps:
                self.turn.take()
                found = self._load(sig, target_context)
            if found is not None:
                self.turn.give_up()
                progress.compiled()
        return found

    def _load(self, sig: Any, target_context: Any) -> Any:
        with suppress(Exception):  # if anything is wrong with the file: compile again
            found = super().load_overload(sig, target_context) if self._keeps else None
            if found is not None:
                return found
        with suppress(Exception):
            of_package = self._of_package(sig, target_context)
            if of_package is not None:
                target_context.refresh()
                files, name = of_package
                found = self._impl.rebuild(target_context, files._load_data(name))
                self.came_with_package.add(sig)
                return found
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Numba's hook after it compiled: write to disk if possible, and end the turn."""
        progress.compiled()
        if not self._keeps:
            threads.note_compiled_unkept()
            return
        try:
            super().save_overload(sig, data)
        except Exception:  # a full disk or a damaged index: continue with a new index, or none
            try:
                self.flush()
                super().save_overload(sig, data)
            except Exception:
                self.disable()
        self.turn.give_up()
