r"""A delimited text file as tables of text.

Any file - gzip, UTF-16, with a byte order mark, with CRLF or lone CR line ends - becomes blocks of UTF-8 with ``\n``
line ends. Before any library parses a cell, every record has been checked: quotes open and close where they may, each
record has as many cells as the header, the text is UTF-8 without NUL. So parsing cannot fail or shift a cell unnoticed,
and every error names a line. All checks are array arithmetic on bytes; Python never loops over cells or records. The
types of cells (numbers, text, missing) are decided later, by ``files.columns``.
"""

from __future__ import annotations

import codecs
import csv
import datetime as dt
import gzip
import re
import stat
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import IO

import numpy as np
import polars as pl

from treewright.core import notices
from treewright.core.elementary import is_whole
from treewright.exceptions import InputFileError, ParameterError, setting

__all__ = [
    "BLOCK_BYTES",
    "READING",
    "SPACES",
    "Header",
    "ReadOptions",
    "TextBlock",
    "check_regular",
    "empty_frame",
    "first_bytes",
    "open_delimited",
    "warn_of_nameless",
    "without_missing_tokens",
]

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
_NEWLINE, _QUOTE, _NUL = 10, 34, 0
_LONGEST_RECORD = 1 << 26
_SEPARATORS = ",;\t|"
# What spreadsheets write before the header to name the separator.
_SEPARATOR_LINE = re.compile(rb'"?sep=([^"\w])"?', re.IGNORECASE)
SPACES = " \u00a0\u2009\u202f"  # one of them between thousands counts as any
_NO_MARKS = '0123456789+-eE"\n\r\0'
_A_MOMENT = dt.datetime(2019, 11, 23, 22, 58, 47, 123456, dt.UTC)


@dataclass(frozen=True)
class ReadOptions:
    """How a text file is read.

    Attributes
    ----------
    missing_tokens : tuple of str
        Cells that mean a missing value, in addition to the empty cell.
    separator : str or None
        One character; None detects it.
    encoding : str or None
        None reads the byte order mark, or UTF-8.
    decimal : {".", ","} or None
        The decimal mark of numbers. None is a point; between semicolons the cells decide.
    thousands : str or None
        The mark between thousands: one character, or "space". None: there is none, and numbers that seem to have one
        are refused.
    date_format : str or None
        How dates are written, as ``datetime.strptime`` takes it: ``"%d.%m.%Y"``. None reads ISO 8601 only.
    skip_rows, skip_footer : int
        Lines before the header, and lines that are not blank at the end, that are left out.
    """

    missing_tokens: tuple[str, ...] = ()
    separator: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    date_format: str | None = None
    skip_rows: int = 0
    skip_footer: int = 0

    def __post_init__(self) -> None:
        tokens: object = self.missing_tokens
        tokens = (tokens,) if isinstance(tokens, str) else tokens
        if not isinstance(tokens, Iterable) or not all(isinstance(token, str) for token in tokens):
            raise ParameterError(
                setting("missing_tokens", tokens), ": give a list of texts, such as ['NA', 'n/a']",
                parameter="missing_tokens",
            )  # fmt: skip
        object.__setattr__(self, "missing_tokens", tuple(tokens))
        if self.separator is not None and not _is_separator(self.separator):
            raise ParameterError(
                setting("separator", self.separator), r": give one character, such as ',' or ';' or '\t'",
                parameter="separator",
            )  # fmt: skip
        if self.decimal not in (None, ".", ","):
            raise ParameterError(setting("decimal", self.decimal), ": give . or ,", parameter="decimal")
        if self.thousands == "space":
            object.__setattr__(self, "thousands", " ")
        mark = self.thousands
        if mark is not None and (len(str(mark)) != 1 or str(mark) in _NO_MARKS):
            raise ParameterError(
                setting("thousands", mark), ": give one character, such as , or . or ', or space",
                parameter="thousands",
            )  # fmt: skip
        if mark is not None and mark == self.decimal:
            raise ParameterError(
                setting("thousands", mark), " is the decimal mark too: give another", parameter="thousands"
            )
        if self.date_format is not None and not _names_a_day(self.date_format):
            raise ParameterError(
                setting("date_format", self.date_format), ": name day, month and year, as in %d.%m.%Y or "
                "%Y-%m-%d %H:%M", parameter="date_format",
            )  # fmt: skip
        for name in ("skip_rows", "skip_footer"):
            if not is_whole(getattr(self, name)) or getattr(self, name) < 0:
                raise ParameterError(setting(name, getattr(self, name)), ": give a number of lines", parameter=name)


READING = tuple(each.name for each in fields(ReadOptions))


def _is_separator(mark: object) -> bool:
    return isinstance(mark, str) and len(mark) == 1 and mark.isascii() and mark not in '"\n\r\0'


def _names_a_day(form: str) -> bool:
    """Whether a format of dates writes and reads the same day."""
    try:
        return dt.datetime.strptime(_A_MOMENT.strftime(form), form).date() == _A_MOMENT.date()  # noqa: DTZ007
    except (ValueError, TypeError):
        return False


@dataclass(frozen=True)
class TextBlock:
    """Some rows of a delimited file."""

    frame: pl.DataFrame  # string columns, null where missing
    lines: np.ndarray  # int64[n_rows]; the line each row begins on


@dataclass(frozen=True)
class Header:
    """The header of a delimited file."""

    names: tuple[str, ...]  # column names, without spaces around them
    separator: str  # one character
    line: int  # the first line after the header, counted from 1
    # positions of the cells that have no name because the name ``""`` is taken; they must be empty
    nameless: tuple[int, ...] = ()

    @property
    def cells(self) -> tuple[str, ...]:
        """A name for each cell of a record; those without one have names that no file can have."""
        cells = list(self.names)
        for position in self.nameless:
            cells.insert(position, f"\0{position}")
        return tuple(cells)


def open_delimited(path: Path, options: ReadOptions) -> tuple[Header, Iterator[TextBlock]]:
    """Read the header of an ordinary delimited file; its rows follow as blocks of a few megabytes.

    InputFileError if the file is not a valid table; also raised while the blocks are read.
    """
    separator = options.separator
    if separator is None and path.name.lower().removesuffix(".gz").endswith((".tsv", ".tab")):
        separator = "\t"
    clean = clean_blocks(path, options.encoding)
    if options.skip_footer:
        clean = _without_last(path, clean, options.skip_footer)
    header, rest = read_header(path, clean, separator, options)

    def blocks() -> Iterator[TextBlock]:
        for records in split_records(path, header, rest):
            if len(records.lines):
                frame = _parse(path, header, records.data)
                if frame.height != len(records.lines):
                    raise InputFileError(
                        f"{path}: lines {records.lines[0]} to {records.lines[-1]} could not be read as "
                        f"{len(records.lines)} rows: look for unusual quoting there"
                    )
                yield TextBlock(
                    without_missing_tokens(_named(path, header, frame, records.lines), options.missing_tokens),
                    records.lines,
                )

    return header, blocks()


def empty_frame(names: tuple[str, ...]) -> pl.DataFrame:
    """A frame of text columns without rows."""
    return pl.DataFrame({name: pl.Series(name, [], pl.String) for name in names})


def without_missing_tokens(frame: pl.DataFrame, tokens: tuple[str, ...]) -> pl.DataFrame:
    """The frame with null for every text cell that is blank or one of the tokens."""
    bare = pl.col(pl.String).str.strip_chars()
    missing = bare == ""
    if tokens:
        missing = missing | bare.is_in(list(tokens))
    return frame.with_columns(pl.when(missing).then(None).otherwise(pl.col(pl.String)).name.keep())


def _parse(path: Path, header: Header, data: bytes) -> pl.DataFrame:
    """The cells of checked records, all as text."""
    try:
        return pl.read_csv(
            data,
            has_header=False,
            schema=dict.fromkeys(header.cells, pl.String()),
            separator=header.separator,
            quote_char='"',
            infer_schema=False,
        )
    except pl.exceptions.PolarsError as error:
        raise InputFileError(f"{path}: cannot be read as a table: {str(error).splitlines()[0]}") from None


def _named(path: Path, header: Header, frame: pl.DataFrame, lines: np.ndarray) -> pl.DataFrame:
    """The columns that have names; an InputFileError if another one holds a cell."""
    for position in header.nameless:
        cells = frame.get_column(f"\0{position}")
        held = cells.str.strip_chars().fill_null("") != ""
        if held.any():
            row = int(held.arg_max() or 0)
            raise InputFileError(
                f"{path}:{lines[row]}: column {position + 1} has no name, like one before it, and holds "
                f"{cells[row]!r}: name the columns in the header"
            )
    return frame.drop([f"\0{position}" for position in header.nameless]) if header.nameless else frame


def warn_of_nameless(path: Path, n: int) -> None:
    """Warn of columns that are left out because they have neither a name nor a cell, if there are any."""
    if n:
        notices.warn(
            f"{path}: {n} column{'s' * (n > 1)} without a name and without a cell {'are' if n > 1 else 'is'} left out: "
            "each line may end with a separator"
        )


# --- the file as blocks of clean text


def check_regular(path: Path) -> None:
    """Refuse a path that is not a readable, ordinary, non-empty file, before a read could block."""
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
    """The first bytes of an ordinary file."""
    try:
        with path.open("rb") as file:
            return file.read(count)
    except OSError as error:
        raise InputFileError(f"{path}: cannot be read: {error.strerror}") from None


def clean_blocks(path: Path, encoding: str | None) -> Iterator[bytes]:
    r"""Blocks of the file as UTF-8 with ``\n`` line ends, without the byte order mark.

    UTF-8 itself is not checked here: ``split_records`` does that, with line numbers.
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
    """Blocks of a gzip file; one that grows too much is refused."""
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
        raise InputFileError(
            f"{path}: is not {name} text ({error}): name its encoding with ", setting("encoding"), parameter="encoding"
        ) from None


def _known_encoding(path: Path, name: str) -> str:
    """Python's name of a text encoding."""
    try:
        info = codecs.lookup(name)
        "".encode(info.name)  # refuses codecs that are not text encodings
    except LookupError:
        raise InputFileError(
            f"{path}: ", setting("encoding", name), ": unknown; try utf-8, latin-1, cp1252 or utf-16",
            parameter="encoding",
        ) from None  # fmt: skip
    return "utf-8" if info.name in {"utf-8", "utf-8-sig"} else info.name


def _one_kind_of_line_end(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Blocks in which CRLF and lone CR have become LF; a CR at a block's end waits for the next block."""
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


# --- blocks as whole, checked records


@dataclass(frozen=True)
class Records:
    """A run of whole records."""

    data: bytes  # the records, each ending in a newline, without blank ones
    lines: np.ndarray  # int64[n_records]; the line each record begins on, counted from 1


def read_header(
    path: Path, blocks: Iterator[bytes], separator: str | None, options: ReadOptions
) -> tuple[Header, Iterator[bytes]]:
    """Split the header record from the blocks.

    The default separator is the one that a line such as ``sep=;`` names, or else the one of comma, semicolon, tab and
    bar that occurs most often in the header.
    """
    text, skipped, named = _from_header(path, blocks, options.skip_rows)
    separator = options.separator or named or separator
    end = _first_record_end(text)
    while end < 0 and len(text) <= _LONGEST_RECORD and (block := next(blocks, None)) is not None:
        text += block
        end = _first_record_end(text)
    if not text:
        raise InputFileError(f"{path}: the file holds only blank lines: a header line and rows are needed")
    if end < 0:
        if text.count(b'"') % 2:
            raise InputFileError(f"{path}:{skipped + 1}: a quote in the header never closes")
        if len(text) > _LONGEST_RECORD:
            raise InputFileError(f"{path}:{skipped + 1}: the header is longer than 64 MiB: is this a table?")
        end = len(text)
    raw, rest = text[:end], text[end + 1 :]
    _check_text(path, raw, skipped + 1)
    line = raw.decode()
    chosen = separator or _most_frequent_separator(line)
    _check_quotes(path, raw + b"\n", ord(chosen), skipped + 1)
    try:
        names = tuple(name.strip() for name in next(csv.reader([line], delimiter=chosen)))
    except csv.Error:  # the text has been checked, so a cell is too long
        raise InputFileError(
            f"{path}:{skipped + 1}: a column name in the header is longer than {csv.field_size_limit():,} characters: "
            "is this a table with a header line?"
        ) from None
    nameless = [position for position, name in enumerate(names) if not name][1:]
    names = tuple(name for position, name in enumerate(names) if position not in nameless)
    _check_names(path, names)
    header = Header(names, chosen, skipped + 2 + raw.count(b"\n"), tuple(nameless))

    def remaining() -> Iterator[bytes]:
        if rest:
            yield rest
        yield from blocks

    return header, remaining()


def _from_header(path: Path, blocks: Iterator[bytes], skip: int) -> tuple[bytes, int, str | None]:
    """The text from the header on, as far as it was read; the number of lines before it; the separator they name."""
    text, start, n_lines, named = b"", 0, 0, None
    while True:
        end = text.find(b"\n", start)
        if end < 0:
            block = next(blocks, None) if len(text) - start <= _LONGEST_RECORD else None
            if block is None:
                break
            text, start = text[start:] + block, 0
            continue
        line = text[start:end]
        found = _SEPARATOR_LINE.fullmatch(line)
        if line and found is None and n_lines >= skip:
            break
        if found is not None and named is None:
            named = found.group(1).decode("latin-1")
        n_lines, start = n_lines + 1, end + 1
    if n_lines < skip:
        n_left = n_lines + (len(text) > start)
        raise InputFileError(
            f"{path}: has {n_left} line{'s' * (n_left != 1)}, so that ", setting("skip_rows", skip),
            " leaves no header: leave out fewer",
        )  # fmt: skip
    return text[start:], n_lines, named


def _without_last(path: Path, blocks: Iterator[bytes], n: int) -> Iterator[bytes]:
    """Blocks without the last ``n`` lines that are not blank."""
    held, start = b"", 0
    for block in blocks:
        held += block
        start = _start_of_last(held, n)
        if start > 0:
            yield held[:start]
            held, start = held[start:], 0
    if start < 0:
        raise InputFileError(f"{path}: has fewer lines than ", setting("skip_footer", n), ": leave out fewer")


def _start_of_last(text: bytes, n: int) -> int:
    """Where the last ``n`` lines that are not blank begin; -1 if there are fewer."""
    end = len(text)
    while end >= 0:
        start = text.rfind(b"\n", 0, end) + 1
        n -= end > start
        if not n:
            return start
        end = start - 1
    return -1


def split_records(path: Path, header: Header, blocks: Iterator[bytes]) -> Iterator[Records]:
    """Cut blocks into runs of whole records, and check every record."""
    line = header.line
    held = b""
    for block in blocks:
        text = held + block
        end = _last_record_end(text)
        if end < 0:
            held = text
            if len(held) > _LONGEST_RECORD:
                raise InputFileError(
                    f"{path}:{line}: the record that begins here is longer than 64 MiB: unclosed quote?"
                )
            continue
        records, held = text[: end + 1], text[end + 1 :]
        yield _checked(path, header, records, line)
        line += records.count(b"\n")
    if held:
        if held.count(b'"') % 2:
            _check_quotes(path, held + b"\n", ord(header.separator), line)
            opened = line + held[: _opening_of_last_quote(held)].count(b"\n")
            raise InputFileError(f"{path}:{opened}: the quote that opens here never closes")
        yield _checked(path, header, held + b"\n", line)


def _first_record_end(text: bytes) -> int:
    """Position of the first newline outside quotes, or -1."""
    end = text.find(b"\n")
    if b'"' not in text[: max(end, 0)]:
        return end
    outside = _newlines_outside_quotes(text)
    return int(outside[0]) if len(outside) else -1


def _last_record_end(text: bytes) -> int:
    """Position of the last newline outside quotes, or -1."""
    if b'"' not in text:
        return text.rfind(b"\n")
    outside = _newlines_outside_quotes(text)
    return int(outside[-1]) if len(outside) else -1


def _newlines_outside_quotes(text: bytes) -> np.ndarray:
    """Positions of the newlines that follow an even number of quotes."""
    cells = np.frombuffer(text, np.uint8)
    newlines = np.flatnonzero(cells == _NEWLINE)
    return newlines[np.searchsorted(np.flatnonzero(cells == _QUOTE), newlines) % 2 == 0]


def _opening_of_last_quote(text: bytes) -> int:
    """Position of the quote that opened the cell in which the text ends."""
    cells = np.frombuffer(text, np.uint8)
    quotes = np.flatnonzero(cells == _QUOTE)
    openings = quotes[::2]
    # A doubled quote inside a cell closes and opens again: such an opening directly follows a closing quote.
    fresh = np.ones(len(openings), bool)
    fresh[1:] = openings[1:] != quotes[1 : 2 * len(openings) - 1 : 2] + 1
    return int(openings[fresh][-1])


def _checked(path: Path, header: Header, records: bytes, line: int) -> Records:
    """The records of a block that ends with a record's newline, after all checks."""
    _check_text(path, records, line)
    _check_quotes(path, records, ord(header.separator), line)
    cells = np.frombuffer(records, np.uint8)
    newlines = np.flatnonzero(cells == _NEWLINE)
    separators = np.flatnonzero(cells == ord(header.separator))
    ends, lines = newlines, line + np.arange(len(newlines), dtype=np.int64)
    if b'"' in records:
        quotes = np.flatnonzero(cells == _QUOTE)
        outside = np.searchsorted(quotes, newlines) % 2 == 0
        ends = newlines[outside]
        lines = line + np.concatenate(([0], np.flatnonzero(outside)[:-1] + 1)).astype(np.int64)
        separators = separators[np.searchsorted(quotes, separators) % 2 == 0]
    starts = np.concatenate(([0], ends[:-1] + 1))
    blank = starts == ends
    counts = np.diff(np.searchsorted(separators, ends), prepend=0) + 1
    _check_widths(path, header, counts[~blank], lines[~blank])
    if blank.any():
        keep = np.ones(len(cells), bool)
        keep[ends[blank]] = False
        records, lines = cells[keep].tobytes(), lines[~blank]
    return Records(records, lines)


def _check_widths(path: Path, header: Header, counts: np.ndarray, lines: np.ndarray) -> None:
    """Check that every record has as many cells as the header."""
    n_cells = len(header.names) + len(header.nameless)
    ragged = np.flatnonzero(counts != n_cells)
    if not len(ragged):
        return
    found = int(counts[ragged[0]])
    more = f" (and in {len(ragged) - 1} other lines near it)" if len(ragged) > 1 else ""
    raise InputFileError(
        f"{path}:{lines[ragged[0]]}: {found} cell{'s' * (found != 1)} where the header has {n_cells}{more}: "
        f"put quotes around a cell that holds {header.separator!r}, or name the separator with ",
        setting("separator"),
        *(("; if lines end with a separator, all must",) if abs(found - n_cells) == 1 else ()),
    )


def _check_text(path: Path, text: bytes, line: int) -> None:
    """Check that the text has no NUL and is UTF-8."""
    zero = text.find(b"\0")
    if zero >= 0:
        where = line + text.count(b"\n", 0, zero)
        raise InputFileError(
            f"{path}:{where}: a NUL byte: the file is damaged, is not text, or is UTF-16 (then ",
            setting("encoding", "utf-16"),
            ")",
        )
    if text.isascii():
        return
    try:
        text.decode()
    except UnicodeDecodeError as error:
        where = line + text.count(b"\n", 0, error.start)
        raise InputFileError(
            f"{path}:{where}: byte 0x{text[error.start]:02X} is not UTF-8: name the encoding, as in ",
            setting("encoding", "latin-1"),
        ) from None


def _check_quotes(path: Path, records: bytes, separator: int, line: int) -> None:
    """Check that quotes open at the start of a cell and close at its end; the text holds an even number of them."""
    if b'"' not in records:
        return
    cells = np.frombuffer(records, np.uint8)
    quotes = np.flatnonzero(cells == _QUOTE)
    opening, closing = quotes[::2], quotes[1::2]
    before = np.where(opening == 0, np.uint8(_NEWLINE), cells[opening - 1])
    inside = (before != _NEWLINE) & (before != separator)
    inside[1:] &= opening[1:] != closing[: len(opening) - 1] + 1  # a doubled quote is the quote itself
    after = cells[closing + 1]
    trailed = (after != _NEWLINE) & (after != separator) & (after != _QUOTE)
    wrong_opening = opening[inside][0] if inside.any() else len(cells)
    wrong_closing = closing[trailed][0] if trailed.any() else len(cells)
    if wrong_opening == wrong_closing:
        return
    where = line + records.count(b"\n", 0, int(min(wrong_opening, wrong_closing)))
    if wrong_opening < wrong_closing:
        raise InputFileError(
            f"{path}:{where}: a quote in the middle of a cell: put the whole cell in quotes and double the inner ones"
        )
    opened = line + records.count(b"\n", 0, _opening_of_last_quote(records[: int(wrong_closing)]))
    raise InputFileError(
        f"{path}:{where}: text after the closing quote of the cell that opens on line {opened}: "
        "close that quote, or double the quotes inside the cell"
    )


def _most_frequent_separator(line: str) -> str:
    """The separator that occurs most often outside quotes; a comma if there is none."""
    bare = "".join(line.split('"')[::2])
    return max(_SEPARATORS, key=bare.count)


def _check_names(path: Path, names: tuple[str, ...]) -> None:
    """Check that no column name occurs twice."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        listed = ", ".join(repr(name) for name in repeated[:5]) + (", ..." if len(repeated) > 5 else "")
        raise InputFileError(f"{path}: column name {listed} occurs more than once in the header: rename all but one")
