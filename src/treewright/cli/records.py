"""Records of a delimited file. In: blocks of text. Out: whole, checked records and their lines. Callers: cli.delimited.

Before any library parses a cell, every record is known to be sound: quotes open and close where they may, each record
has as many cells as the header, the text is UTF-8 without NUL. So no cell can slip into another column unseen, and
every complaint names a line. All of it is array arithmetic on bytes; Python never loops over cells or records.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from treewright.exceptions import InputFileError

__all__ = ["Header", "Records", "read_header", "split_records"]

_NEWLINE, _QUOTE, _NUL = 10, 34, 0
_LONGEST_RECORD = 1 << 26
_SEPARATORS = ",;\t|"


@dataclass(frozen=True)
class Header:
    """The first record.

    Attributes
    ----------
    names : tuple of str
        Column names, blanks around them taken off.
    separator : str
        One character.
    line : int
        The first line after the header, counted from 1.
    """

    names: tuple[str, ...]
    separator: str
    line: int


@dataclass(frozen=True)
class Records:
    """A run of whole records.

    Attributes
    ----------
    data : bytes
        The records, each ended by a newline; no blank ones.
    lines : int64[n_records]
        The line each record begins on, counted from 1.
    """

    data: bytes
    lines: np.ndarray


def read_header(path: Path, blocks: Iterator[bytes], separator: str | None) -> tuple[Header, Iterator[bytes]]:
    """Take the header record off the blocks.

    Parameters
    ----------
    path : Path
        For messages.
    blocks : iterator of bytes
        From ``text_source.clean_blocks``.
    separator : str or None
        One character; None takes the one of comma, semicolon, tab and bar that the header holds most often.

    Returns
    -------
    header : Header
    rest : iterator of bytes
        Everything after the header.

    Raises
    ------
    InputFileError
        No header, names that repeat, a quote that never closes, text that is not UTF-8.
    """
    text = b""
    skipped = 0
    end = -1
    for block in blocks:
        text += block
        bare = text.lstrip(b"\n")  # blank lines before the header
        text, skipped = bare, skipped + len(text) - len(bare)
        end = _first_record_end(text)
        if end >= 0 or len(text) > _LONGEST_RECORD:
            break
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
    names = tuple(name.strip() for name in next(csv.reader([line], delimiter=chosen)))
    _check_names(path, names)
    header = Header(names, chosen, skipped + 2 + raw.count(b"\n"))

    def remaining() -> Iterator[bytes]:
        if rest:
            yield rest
        yield from blocks

    return header, remaining()


def split_records(path: Path, header: Header, blocks: Iterator[bytes]) -> Iterator[Records]:
    """Cut blocks into runs of whole records, and check every record.

    Parameters
    ----------
    path : Path
        For messages.
    header : Header
    blocks : iterator of bytes
        What ``read_header`` left over.

    Raises
    ------
    InputFileError
        A record with more or fewer cells than the header, a misplaced or unclosed quote, a NUL byte, text that is not
        UTF-8; each with the line.
    """
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
        whole, held = text[: end + 1], text[end + 1 :]
        yield _checked(path, header, whole, line)
        line += whole.count(b"\n")
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
    """Positions of the newlines before which an even number of quotes stands."""
    cells = np.frombuffer(text, np.uint8)
    newlines = np.flatnonzero(cells == _NEWLINE)
    return newlines[np.searchsorted(np.flatnonzero(cells == _QUOTE), newlines) % 2 == 0]


def _opening_of_last_quote(text: bytes) -> int:
    """Position of the quote that opened the cell in which the text ends."""
    cells = np.frombuffer(text, np.uint8)
    quotes = np.flatnonzero(cells == _QUOTE)
    openings = quotes[::2]
    # A doubled quote inside a cell closes and opens again: such an opening stands right behind a closing one.
    fresh = np.ones(len(openings), bool)
    fresh[1:] = openings[1:] != quotes[1 : 2 * len(openings) - 1 : 2] + 1
    return int(openings[fresh][-1])


def _checked(path: Path, header: Header, whole: bytes, line: int) -> Records:
    """The records of a block that ends with a record's newline, after every check."""
    _check_text(path, whole, line)
    _check_quotes(path, whole, ord(header.separator), line)
    cells = np.frombuffer(whole, np.uint8)
    newlines = np.flatnonzero(cells == _NEWLINE)
    separators = np.flatnonzero(cells == ord(header.separator))
    ends, lines = newlines, line + np.arange(len(newlines), dtype=np.int64)
    if b'"' in whole:
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
        whole, lines = cells[keep].tobytes(), lines[~blank]
    return Records(whole, lines)


def _check_widths(path: Path, header: Header, counts: np.ndarray, lines: np.ndarray) -> None:
    """Every record has as many cells as the header."""
    ragged = np.flatnonzero(counts != len(header.names))
    if not len(ragged):
        return
    found = int(counts[ragged[0]])
    more = f" (and in {len(ragged) - 1} other lines near it)" if len(ragged) > 1 else ""
    raise InputFileError(
        f"{path}:{lines[ragged[0]]}: {found} cell{'s' * (found != 1)} where the header has {len(header.names)}{more}: "
        f"put quotes around a cell that holds {header.separator!r}, or name the separator with --separator"
    )


def _check_text(path: Path, text: bytes, line: int) -> None:
    """No NUL, and UTF-8 throughout."""
    zero = text.find(b"\0")
    if zero >= 0:
        where = line + text.count(b"\n", 0, zero)
        raise InputFileError(
            f"{path}:{where}: a NUL byte: the file is damaged, is no text, or is UTF-16 (then --encoding utf-16)"
        )
    if text.isascii():
        return
    try:
        text.decode()
    except UnicodeDecodeError as error:
        where = line + text.count(b"\n", 0, error.start)
        raise InputFileError(
            f"{path}:{where}: byte 0x{text[error.start]:02X} is not UTF-8: name the encoding, as in --encoding latin-1"
        ) from None


def _check_quotes(path: Path, whole: bytes, separator: int, line: int) -> None:
    """Quotes open at the start of a cell and close at its end; the text holds an even number of them."""
    if b'"' not in whole:
        return
    cells = np.frombuffer(whole, np.uint8)
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
    where = line + whole.count(b"\n", 0, int(min(wrong_opening, wrong_closing)))
    if wrong_opening < wrong_closing:
        raise InputFileError(
            f"{path}:{where}: a quote in the middle of a cell: put the whole cell in quotes and double the inner ones"
        )
    opened = line + whole.count(b"\n", 0, _opening_of_last_quote(whole[: int(wrong_closing)]))
    raise InputFileError(
        f"{path}:{where}: text after the closing quote of the cell that opens on line {opened}: "
        "close that quote, or double the quotes inside the cell"
    )


def _most_frequent_separator(line: str) -> str:
    """The candidate that stands most often outside quotes; a comma where there is none."""
    bare = "".join(line.split('"')[::2])
    return max(_SEPARATORS, key=bare.count)


def _check_names(path: Path, names: tuple[str, ...]) -> None:
    """No column name twice."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        listed = ", ".join(repr(name) for name in repeated[:5]) + (", ..." if len(repeated) > 5 else "")
        raise InputFileError(f"{path}: column name {listed} stands more than once in the header: rename all but one")
