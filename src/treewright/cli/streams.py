"""The files that a command names: what ``-`` means, and that none is named twice.

A table or a model that comes through a pipe is put into a file of its own first, when it is first opened: readers look
at the beginning before they begin and some read twice. The file is gone when the process ends. In messages it is called
standard input.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import IO, Any

import typer

from treewright.cli.terminal import UsageRefusal, open_output
from treewright.core.files import are_same

__all__ = [
    "StandardInput",
    "bytes_of",
    "check_files",
    "check_stdout",
    "clear_stdout",
    "in_words",
    "input_path",
    "is_standard",
    "output_path",
    "write_stdout",
]

_DASH = Path("-")
_TWICE = "-: standard input is asked for twice: name a file for the model or the table"
_read: list[Any] = []  # the stream that has been read to its end


class StandardInput(type(Path())):  # type: ignore[misc]  # the platform's own kind of path
    """What stands on standard input, as a path: opened by the name of its file, called ``standard input``."""

    _file: IO[bytes] | None = None

    def __str__(self) -> str:
        return "standard input"

    def __fspath__(self) -> str:
        if self._file is None:
            self._file = _kept()
        return self._file.name

    def in_words(self, text: str) -> str:
        """A message that names the file in which the stream is kept, with its own name instead."""
        return text if self._file is None else text.replace(repr(self._file.name), str(self))


def in_words(path: Path, text: str) -> str:
    """A message about the file at a path, which names standard input as it is called here."""
    return path.in_words(text) if isinstance(path, StandardInput) else text


def input_path(word: str) -> Path:
    """The path that a word names; ``-`` is standard input, ``./-`` a file of that name."""
    return StandardInput("standard input") if word == "-" else _named(word)


def output_path(word: str) -> Path:
    """The path that a word names as a place to write."""
    return _named(word)


def _named(word: str) -> Path:
    """The path of a word; an empty one, which would be the folder we are in, is refused."""
    if not word:
        raise typer.BadParameter("the name of the file is empty")
    return Path(word)


def check_files(inputs: Mapping[str, Path | None], outputs: Mapping[str, Path | None]) -> None:
    """Refuse a file that is named twice: an output must be no input, which would be lost, and no other output.

    Parameters
    ----------
    inputs, outputs : mapping from str to path or None
        By what the command calls them, such as ``MODEL`` and ``--out``; what is None is not there.
    """
    if sum(isinstance(given, StandardInput) for given in inputs.values()) > 1:
        raise UsageRefusal(_TWICE)
    written: dict[str, Path] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        for name, given in inputs.items():
            if given is not None and not is_standard(path) and _are_same(given, path):
                raise UsageRefusal(f"{option} {path}: is {name} itself, which would be lost: name another file")
        for other, before in written.items():
            if _are_same(before, path):
                raise UsageRefusal(f"{other} and {option} name the same file {path}")
        written[option] = path


def _are_same(one: Path, other: Path) -> bool:
    """Whether two paths are one file, however they are spelled; ``one`` may be standard input, which stays unread."""
    if not isinstance(one, StandardInput):
        return are_same(one, other)
    with suppress(OSError, ValueError):
        return sys.stdin is not None and os.path.samestat(os.fstat(sys.stdin.fileno()), other.stat())
    return False


def is_standard(path: Path | None) -> bool:
    """Whether an output is standard output."""
    return path == _DASH


@contextmanager
def clear_stdout(is_needed: bool) -> Iterator[None]:
    """Within the block, what is said goes to standard error where standard output is needed for something else."""
    if not is_needed:
        yield
        return
    with redirect_stdout(sys.stderr):
        yield


def write_stdout(content: bytes) -> None:
    """Write the bytes of a file to standard output."""
    with open_output(None, force=False) as file:
        file.write(content)


def check_stdout(path: Path | None) -> None:
    """Refuse to write a model to a terminal; to be called before the work."""
    if is_standard(path) and (sys.stdout is None or sys.stdout.isatty()):
        raise UsageRefusal("--out -: a model is not for the eye: send it on with | or >, or name a file")


def bytes_of(model: Any) -> bytes:
    """The model file of a model."""
    with tempfile.TemporaryDirectory(prefix="treewright-") as folder:
        path = Path(folder) / "model.tw"
        model.save(path)
        return path.read_bytes()


def _kept() -> IO[bytes]:
    """A file with all that stands on standard input."""
    stream = sys.stdin
    if stream is None:
        raise UsageRefusal("-: there is no standard input: name a file")
    if stream.isatty():
        raise UsageRefusal("-: standard input is the keyboard: send a file in with | or <, or name it")
    if stream in _read:
        raise UsageRefusal(_TWICE)
    _read[:] = [stream]
    file = tempfile.NamedTemporaryFile(prefix="standard-input-")  # noqa: SIM115 - lives as long as the path
    shutil.copyfileobj(stream.buffer, file)
    file.flush()
    return file
