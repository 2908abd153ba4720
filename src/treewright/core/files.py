"""Read and write whole files safely. In: a path, bytes. Out: an open file, or a file on disk.

Reading opens regular files only: a pipe or a device could hang or never end. Writing goes to a new file in the same
folder that takes the place of the old one in one step: readers and crashes see the old file or the new one, whole.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from treewright.exceptions import InputFileError


class NotRegularError(InputFileError):
    """The path is a folder, pipe, socket or device."""


def are_same(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    """Whether two paths are one file, however they are spelled; False if one of them cannot be read.

    Examples
    --------
    >>> are_same("a/../model.c", "model.c"), are_same("model.c", "model.h")
    (True, False)
    """
    with contextlib.suppress(OSError, ValueError, RuntimeError):  # RuntimeError: a link that leads to itself
        return Path(one).resolve() == Path(other).resolve() or Path(one).samefile(other)
    return False


_BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


@contextlib.contextmanager
def open_regular(path: str | os.PathLike[str]) -> Iterator[tuple[BinaryIO, int]]:
    """Open a regular file for reading; symbolic links are followed.

    Parameters
    ----------
    path : str or path-like

    Yields
    ------
    file : binary file
    size : int, bytes

    Raises
    ------
    InputFileError
        It does not exist, may not be read, or is a folder, pipe, socket or device.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "greeting.txt")
    ...     _ = path.write_bytes(b"hello")
    ...     with open_regular(path) as (file, size):
    ...         print(size, file.read())
    5 b'hello'
    """
    name = _name(path)
    try:
        _check_regular(name, Path(name).stat())  # before opening: opening a device can already have effects
        # Between the two calls the file may have become a pipe: O_NONBLOCK, and look again.
        handle = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY)
    except (OSError, ValueError) as error:
        raise _refusal(error, f"{name!r} cannot be read") from None
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        _check_regular(name, status)
        try:
            yield file, status.st_size
        except OSError as error:
            raise _refusal(error, f"{name!r} cannot be read") from None


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file in one step: afterwards ``path`` holds all of ``content``, or what it held before.

    A new file has the permissions that the umask gives, one that is replaced keeps its own. If ``path`` is a symbolic
    link, the link stays and the file it points to is replaced.

    Parameters
    ----------
    path : str or path-like

    Raises
    ------
    InputFileError
        The folder does not exist or may not be written, the disk is full, or ``path`` is a folder, a device or a file
        that is read-only.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "greeting.txt")
    ...     write_whole(path, b"hello")
    ...     path.read_bytes()
    b'hello'
    """
    name = _name(path)
    try:
        target = Path(os.path.realpath(name))
        mode = _mode_of_old(name, target)
        if not target.parent.is_dir():
            raise InputFileError(
                f"{name!r} cannot be written: there is no folder {str(target.parent)!r}; make it first"
            )
        _replace(target, mode, content)
    except (OSError, ValueError) as error:
        raise _refusal(error, f"{name!r} cannot be written") from None


def _replace(target: Path, mode: int | None, content: bytes) -> None:
    """Write a new file next to the target, then swap. Its name is short: a long target name leaves no room for more."""
    beside = target.parent / f".treewright-{secrets.token_hex(8)}.part"
    # From here on there may be a new file next to the target; it is removed whatever happens (also Ctrl-C).
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
        with os.fdopen(handle, "wb") as file:
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(handle, mode)
            file.write(content)
            file.flush()
            os.fsync(handle)
        beside.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make the swap survive a power cut. Not every file system can; the file is whole all the same."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | _BINARY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _mode_of_old(name: str, target: Path) -> int | None:
    """Permissions of the file to be replaced; None if there is none."""
    try:
        status = target.lstat()
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(status.st_mode):
        raise InputFileError(f"{name!r} cannot be written: it is a symbolic link that leads to itself")
    _check_regular(name, status)
    mode = stat.S_IMODE(status.st_mode)
    # Swapping would not check this: the folder's permissions count there, not those of the file.
    if not mode & 0o222:
        raise InputFileError(f"{name!r} cannot be written: it is read-only; choose another name or chmod u+w it")
    return mode & 0o777


def _check_regular(name: str, status: os.stat_result) -> None:
    """Refuse what is not a regular file."""
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    if not stat.S_ISREG(status.st_mode):
        kind = kinds.get(stat.S_IFMT(status.st_mode), "a device")
        raise NotRegularError(f"{name!r} is {kind}, not a regular file")


def _name(path: str | os.PathLike[str]) -> str:
    """The path as text."""
    return os.fsdecode(os.fspath(path))


def _refusal(error: Exception, what: str) -> InputFileError:
    """The operating system's error as one of ours."""
    if isinstance(error, InputFileError):
        return error
    remedy = ""
    if isinstance(error, FileNotFoundError):
        remedy = "; check the path"
    elif isinstance(error, PermissionError):
        remedy = "; choose a place where you have permission"
    cause = getattr(error, "strerror", None) or str(error)
    return InputFileError(f"{what}: {cause}{remedy}")
