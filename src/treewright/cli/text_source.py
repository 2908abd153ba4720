r"""A text file as clean blocks. In: a path and an encoding. Out: UTF-8 with plain line ends. Callers: cli.records.

Whatever the file is - gzip, UTF-16, with a byte order mark, with CRLF or lone CR line ends - what comes out is UTF-8
with ``\n`` line ends, in blocks of a few megabytes. What is no text file at all is refused by name.
"""

from __future__ import annotations

import codecs
import gzip
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from treewright.exceptions import InputFileError

__all__ = ["BLOCK_BYTES", "check_regular", "clean_blocks", "first_bytes"]

BLOCK_BYTES = 1 << 22
# Real tables shrink to a tenth or so; a gzip bomb shrinks a thousandfold.
_MOST_INFLATION = 200
_ALWAYS_INFLATED = 1 << 26

_GZIP = b"\x1f\x8b"
_REFUSED = {
    b"PK\x03\x04": "a zip archive or a spreadsheet: unpack it, or save the sheet as CSV",
    b"\xfd7zXZ": "xz-compressed: unpack it first",
    b"BZh": "bzip2-compressed: unpack it first",
    b"\x28\xb5\x2f\xfd": "zstd-compressed: unpack it first",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet: save the sheet as CSV",
    b"ARROW1": "an Arrow file: save it as Parquet",
    b"SQLite format 3": "a SQLite database: export the table as CSV",
    b"%PDF": "a PDF document, not a table",
    b"\x80\x04\x95": "a pickle, which is never read: save the table as CSV or Parquet",
}
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def check_regular(path: Path) -> None:
    """Refuse what is not a readable, ordinary, non-empty file, before anything waits on it.

    Raises
    ------
    InputFileError
        Nothing there, a directory, a pipe or device, an empty file, or no permission.
    """
    try:
        info = path.stat()
    except FileNotFoundError:
        raise InputFileError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        raise InputFileError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if stat.S_ISDIR(info.st_mode):
        raise InputFileError(f"{path}: is a directory: name one file in it")
    if not stat.S_ISREG(info.st_mode):
        raise InputFileError(f"{path}: is a pipe or a device: save the table in an ordinary file first")
    if info.st_size == 0:
        raise InputFileError(f"{path}: the file is empty: a header line and at least one row are needed")


def first_bytes(path: Path, count: int = 16) -> bytes:
    """The first bytes of an ordinary file.

    Raises
    ------
    InputFileError
        The file cannot be opened or read.
    """
    try:
        with path.open("rb") as file:
            return file.read(count)
    except OSError as error:
        raise InputFileError(f"{path}: cannot be read: {error.strerror}") from None


def clean_blocks(path: Path, encoding: str | None) -> Iterator[bytes]:
    r"""Blocks of the file as UTF-8 with ``\n`` line ends, the byte order mark taken off.

    Parameters
    ----------
    path : Path
        An ordinary file (``check_regular``), plain or gzip.
    encoding : str or None
        Encoding to read it in; None takes the byte order mark's word, or UTF-8. UTF-8 is passed on unchecked:
        ``cli.records`` knows the line numbers and checks there.

    Raises
    ------
    InputFileError
        Another kind of file, a damaged or suspicious gzip, bytes that do not fit the encoding.
    """
    start = first_bytes(path, 16)
    for magic, reason in _REFUSED.items():
        if start.startswith(magic):
            raise InputFileError(f"{path}: is {reason}")
    blocks = _inflated(path) if start.startswith(_GZIP) else _plain(path)
    return _one_kind_of_line_end(_as_utf8(path, blocks, encoding))


def _plain(path: Path) -> Iterator[bytes]:
    """Raw blocks."""
    try:
        with path.open("rb") as file:
            yield from _read_all(file)
    except OSError as error:
        raise InputFileError(f"{path}: cannot be read: {error.strerror or error}") from None


def _inflated(path: Path) -> Iterator[bytes]:
    """Blocks of a gzip file; what grows out of all proportion is refused."""
    limit = max(_ALWAYS_INFLATED, _MOST_INFLATION * path.stat().st_size)
    inflated = 0
    try:
        with gzip.open(path, "rb") as file:
            for block in _read_all(file):
                inflated += len(block)
                if inflated > limit:
                    raise InputFileError(
                        f"{path}: the gzip file grows more than {_MOST_INFLATION} times when unpacked: "
                        "if you trust it, unpack it yourself first"
                    )
                yield block
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputFileError(f"{path}: the gzip file is damaged or cut short ({error})") from None
    except OSError as error:
        raise InputFileError(f"{path}: cannot be read: {error.strerror or error}") from None


def _read_all(file: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    """Blocks until the end of the file."""
    while block := file.read(BLOCK_BYTES):
        yield block


def _as_utf8(path: Path, blocks: Iterator[bytes], encoding: str | None) -> Iterator[bytes]:
    """Blocks in UTF-8, without a byte order mark."""
    start = next(blocks, b"")
    marked = next(((mark, name) for mark, name in _MARKS if start.startswith(mark)), None)
    name = _known_encoding(path, encoding or (marked[1] if marked else "utf-8"))
    if name == "utf-8":
        yield start.removeprefix(codecs.BOM_UTF8)
        yield from blocks
        return
    decoder = codecs.getincrementaldecoder(name)()
    try:
        yield decoder.decode(start).removeprefix("\ufeff").encode()
        for block in blocks:
            yield decoder.decode(block).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError as error:
        raise InputFileError(f"{path}: is not {name} text ({error}): name its encoding with --encoding") from None


def _known_encoding(path: Path, name: str) -> str:
    """Python's own name of a text encoding."""
    try:
        info = codecs.lookup(name)
        "".encode(info.name)  # refuses the codecs that are no text encodings
    except LookupError:
        raise InputFileError(f"{path}: --encoding {name}: unknown; try utf-8, latin-1, cp1252 or utf-16") from None
    return "utf-8" if info.name in {"utf-8", "utf-8-sig"} else info.name


def _one_kind_of_line_end(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Blocks in which CRLF and lone CR have become LF; a CR at a block's end waits for what follows it."""
    held = b""
    for arrived in blocks:
        block = held + arrived
        held = b""
        if block.endswith(b"\r"):
            block, held = block[:-1], b"\r"
        if b"\r" in block:
            block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if block:
            yield block
    if held:
        yield b"\n"
