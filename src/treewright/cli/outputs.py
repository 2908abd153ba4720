"""Files that are written. In: a path and what to write. Out: the whole file, or no file. Callers: the commands.

An output is checked before any work begins and appears only when it is complete: it is written beside its place under
another name, and moved there at the end.
"""

from __future__ import annotations

import csv
import io
import os
import secrets
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from treewright.exceptions import InputFileError

__all__ = ["check_output", "csv_of", "guarded_labels", "open_output", "write_text"]


def check_output(path: Path | None, force: bool) -> None:
    """Refuse an output that could not, or should not, be written; to be called before the work.

    Raises
    ------
    InputFileError
        The path exists and ``force`` is False; it is a link or a directory; its folder is missing or read-only.
    """
    if path is None:
        return
    try:
        if path.is_symlink():
            raise InputFileError(f"{path}: is a symbolic link: name the file itself")
        if path.is_dir():
            raise InputFileError(f"{path}: is a directory: name a file in it")
        if path.exists() and not path.is_file():
            raise InputFileError(f"{path}: is a pipe or a device: name an ordinary file")
        if path.exists() and not force:
            raise InputFileError(f"{path}: exists already: name another file, or overwrite it with --force")
        folder = path.parent
        if not folder.is_dir():
            raise InputFileError(f"{path}: the folder {folder} does not exist: make it first")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise InputFileError(f"{path}: the folder {folder} is read-only: name a file elsewhere")
    except (OSError, ValueError) as error:
        if isinstance(error, InputFileError):
            raise
        raise InputFileError(f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}") from None


@contextmanager
def open_output(path: Path | None, force: bool) -> Iterator[IO[bytes]]:
    """A binary file to write; it takes its place when the block ends well, and leaves nothing behind otherwise.

    Parameters
    ----------
    path : Path or None
        None is the standard output.
    force : bool
        Whether a file that is there may be replaced.

    Raises
    ------
    InputFileError
        As ``check_output``, or the disk is full.
    """
    if path is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    check_output(path, force)
    partial = path.with_name(f".treewright-{secrets.token_hex(8)}.part")
    try:
        with partial.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        check_output(path, force)
        partial.replace(path)
    except OSError as error:
        raise InputFileError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            partial.unlink()


def write_text(path: Path | None, text: str, force: bool) -> None:
    """Write a text as UTF-8, ended by a newline.

    Raises
    ------
    InputFileError
        As ``open_output``.
    """
    with open_output(path, force) as file:
        file.write((text if text.endswith("\n") else text + "\n").encode("utf-8", "backslashreplace"))


def guarded_labels(labels: list[str]) -> list[str]:
    """Texts that a spreadsheet would take for a formula, with an apostrophe in front.

    Those begin with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return (OWASP, "CSV Injection").

    Examples
    --------
    >>> guarded_labels(["=1+1", "Adelie"])
    ["'=1+1", 'Adelie']
    """
    return ["'" + label if label.startswith(("=", "+", "-", "@", "\t", "\r")) else label for label in labels]


def csv_of(columns: Mapping[str, Sequence[object]]) -> str:
    r"""Columns as the text of a CSV file.

    Examples
    --------
    >>> csv_of({"node": [0, 3], "test": ["x <= 1", "y, z"]})
    'node,test\n0,x <= 1\n3,"y, z"\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()
