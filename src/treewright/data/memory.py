"""Memory: whether an array fits, giving memory back, and arrays of any size in mapped files.

The check comes before any allocation: on Linux an allocation that is too large often succeeds, and the process is
killed later, when it writes.

Room on the disk is taken before an array is mapped: a disk that fills up later would end the process, not raise. What
is mapped counts as memory of the process while it is in use, so code that works through an array block by block
releases what was read and written now and then (``release``); the system decides when to write or drop the pages.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from treewright.exceptions import TooLargeError

# Below this no table can be the reason why memory runs out, and the check takes longer than the copy.
ALWAYS_ALLOWED = 64 * 2**20


def available_memory() -> int | None:
    """Bytes that can be allocated without swapping, or None if the system does not report it."""
    try:
        with Path("/proc/meminfo").open(encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def check_fits(needed: int, what: str, remedy: str = "use fewer rows or columns") -> None:
    """Refuse work that would not fit in the available memory; ``what`` the bytes are for begins the message."""
    if needed <= ALWAYS_ALLOWED:
        return
    available = available_memory()
    if available is not None and needed > available:
        raise TooLargeError(
            f"{what} needs {needed} bytes ({needed / 2**30:.1f} GiB), {available} bytes "
            f"({available / 2**30:.1f} GiB) are available: {remedy}"
        )


def release_memory() -> None:
    """Return freed memory to the system, if the C library keeps it.

    glibc keeps what lies between blocks in use: of 1,000,000 x 28 cells binning left 45 MB behind, so a boosted fit
    held 1.34 times its table and now 0.9. It takes 2 ms there; elsewhere this does nothing.
    """
    trim = getattr(_c_library(), "malloc_trim", None)
    if trim is not None:
        trim(0)


@functools.cache
def _c_library() -> ctypes.CDLL | None:
    """The C library of the process, or None if it is not found."""
    try:
        return ctypes.CDLL(None)
    except (OSError, TypeError):  # Windows has no handle of the process itself
        return None


class StoredArrays:
    """Arrays in the files of a folder to which nothing else writes; after ``budget`` bytes pages are released."""

    def __init__(self, folder: Path, budget: int) -> None:
        self.folder, self.budget = folder, budget
        self._maps: list[mmap.mmap] = []
        self._rooms: list[mmap.mmap] = []
        self._seen = 0

    def room(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """An array of zeros that is kept until ``end``; its file is never left behind."""
        path = self.folder / f"room-{secrets.token_hex(8)}"
        with path.open("w+b") as file:
            with suppress(OSError):  # before it is filled: a kill leaves nothing. Windows: an open file keeps its name
                path.unlink()
            self._fill(file, path, shape, dtype)
            made = self._mapped(file, shape, dtype, mmap.ACCESS_WRITE)
        if made.size:
            self._rooms.append(self._maps.pop())
        with suppress(OSError):
            path.unlink()
        return made

    def scratch(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Like ``room``, but the file is freed with the last reference to the array."""
        made = self.room(shape, dtype)
        if made.size:
            self._rooms.pop()
        return made

    def end(self) -> None:
        """Release all arrays made by ``room``."""
        self._rooms.clear()

    def make(self, name: str, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """A new array of zeros in a file of this name; TooLargeError if the disk has no room for it."""
        path = self.folder / name
        with path.open("w+b") as file:
            self._fill(file, path, shape, dtype)
            return self._mapped(file, shape, dtype, mmap.ACCESS_WRITE)

    def open(self, name: str, shape: tuple[int, ...], dtype: Any, *, writable: bool = True) -> np.ndarray:
        """The array in an existing file."""
        with (self.folder / name).open("r+b" if writable else "rb") as file:
            # Also if nothing is written: kernels are compiled for writeable arrays.
            return self._mapped(file, shape, dtype, mmap.ACCESS_WRITE if writable else mmap.ACCESS_COPY)

    def _fill(self, file: BinaryIO, path: Path, shape: tuple[int, ...], dtype: Any) -> None:
        """Take room on the disk for an array of zeros."""
        size = _bytes_of(shape, dtype)
        try:
            if size and hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                file.truncate(size)
        except OSError as error:
            file.truncate(0)
            free = shutil.disk_usage(self.folder).free
            raise TooLargeError(
                f"{path}: no room for {size:,} bytes ({error.strerror}; {free:,} are free): use a folder on a "
                "larger disk"
            ) from None

    def _mapped(self, file: BinaryIO, shape: tuple[int, ...], dtype: Any, access: int) -> np.ndarray:
        size = _bytes_of(shape, dtype)
        if not size:
            return np.empty(shape, dtype)
        mapped = mmap.mmap(file.fileno(), size, access=access)
        self._maps.append(mapped)
        return np.frombuffer(mapped, dtype).reshape(shape)

    def looked_at(self, n_bytes: int) -> None:
        """Count the bytes that were read or written, and release all pages once they reach the budget."""
        self._seen += n_bytes
        if self._seen >= self.budget:
            self._seen = 0
            self.release()

    def release(self) -> None:
        """Release the pages of all arrays; what was written is kept by the system or on the disk."""
        if not hasattr(mmap, "MADV_DONTNEED"):  # Windows trims by itself
            return
        for mapped in (*self._maps, *self._rooms):
            mapped.madvise(mmap.MADV_DONTNEED)


def _bytes_of(shape: tuple[int, ...], dtype: Any) -> int:
    return int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
