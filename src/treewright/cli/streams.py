"""The files that a command names: the meaning of ``-``, and the check that none is named twice.

A table or a model from a pipe is copied to a temporary file when it is first opened: readers look at the beginning
first, and some read twice. The file is deleted when the process ends. Messages call it standard input.
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
_TWICE = "-: standard input is named twice: name a file for the model or the table"
_read: list[Any] = []  # the stream that has been read to its end


class StandardInput(type(Path())):  # type: ignore[misc]  # the platform's own kind of path
    """Standard input as a path: it is opened as its temporary file, and its text is ``standard input``."""

    _file: IO[bytes] | None = None

    def __str__(self) -> str:
        return "standard input"

    def __fspath__(self) -> str:
        if self._file is None:
            self._file = _kept()
        return self._file.name

    def in_words(self, text: str) -> str:
        """A message with ``standard input`` in place of the name of the temporary file."""
        return text if self._file is None else text.replace(repr(self._file.name), str(self))


def in_words(path: Path, text: str) -> str:
    """A message about the file at a path; a temporary file of standard input is called ``standard input``."""
    return path.in_words(text) if isinstance(path, StandardInput) else text


def input_path(word: str) -> Path:
    """The path that a word names; ``-`` is standard input, ``./-`` a file of that name."""
    return StandardInput("standard input") if word == "-" else _named(word)


def output_path(word: str) -> Path:
    """The output path that a word names."""
    return _named(word)


def _named(word: str) -> Path:
    """The path of a word; an empty one, which would be the current folder, is refused."""
    if not word:
        raise typer.BadParameter("the name of the file is empty")
    return Path(word)


def check_files(inputs: Mapping[str, Path | None], outputs: Mapping[str, Path | None]) -> None:
    """Refuse a file that is named twice: an output must not be an input, which would be lost, or another output.

    The files are given by their names in the command, such as ``MODEL`` and ``--out``.
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
    """Whether two paths are one file in any spelling; ``one`` may be standard input, which is not read for this."""
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
    """Within the block, results go to standard error if standard output is needed for something else."""
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
    """Refuse to write a model to a terminal; called before the work."""
    if is_standard(path) and (sys.stdout is None or sys.stdout.isatty()):
        raise UsageRefusal("--out -: a model is not text: redirect it with | or >, or name a file")


def bytes_of(model: Any) -> bytes:
    """The bytes of the model file of a model."""
    with tempfile.TemporaryDirectory(prefix="treewright-") as folder:
        path = Path(folder) / "model.tw"
        model.save(path)
        return path.read_bytes()


def _kept() -> IO[bytes]:
    """A temporary file with the content of standard input."""
    stream = sys.stdin
    if stream is None:
        raise UsageRefusal("-: there is no standard input: name a file")
    if stream.isatty():
        raise UsageRefusal("-: standard input is the keyboard: redirect a file with | or <, or name it")
    if stream in _read:
        raise UsageRefusal(_TWICE)
    _read[:] = [stream]
    file = tempfile.NamedTemporaryFile(prefix="standard-input-")  # noqa: SIM115 - lives as long as the path
    shutil.copyfileobj(stream.buffer, file)
    file.flush()
    return file
