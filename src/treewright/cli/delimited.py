"""A delimited file as tables of text. In: a path. Out: frames of strings, block by block. Callers: cli.files.

``cli.records`` has checked every record before polars sees it, so parsing cannot fail or shift a cell; what the cells
mean (numbers, text, missing) is decided later, by ``cli.columns``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from treewright.cli.records import Header, read_header, split_records
from treewright.cli.text_source import clean_blocks
from treewright.exceptions import InputFileError

__all__ = ["ReadOptions", "TextBlock", "open_delimited"]


@dataclass(frozen=True)
class ReadOptions:
    """How a text file is read.

    Attributes
    ----------
    missing_tokens : tuple of str
        Cells that stand for a missing value, beside the empty cell.
    separator : str or None
        One character; None finds it.
    encoding : str or None
        None reads the byte order mark, or UTF-8.
    """

    missing_tokens: tuple[str, ...] = ()
    separator: str | None = None
    encoding: str | None = None


@dataclass(frozen=True)
class TextBlock:
    """Some rows of a delimited file.

    Attributes
    ----------
    frame : polars.DataFrame
        String columns, null where missing.
    lines : int64[n_rows]
        The line each row begins on.
    """

    frame: pl.DataFrame
    lines: np.ndarray


def open_delimited(path: Path, options: ReadOptions) -> tuple[Header, Iterator[TextBlock]]:
    """Read the header of a delimited file and promise its rows.

    Parameters
    ----------
    path : Path
        An ordinary file.
    options : ReadOptions

    Returns
    -------
    header : Header
    blocks : iterator of TextBlock
        A few megabytes of rows each.

    Raises
    ------
    InputFileError
        The file is not a sound table; also while the blocks are read.
    """
    separator = options.separator
    if separator is None and path.name.lower().removesuffix(".gz").endswith((".tsv", ".tab")):
        separator = "\t"
    header, rest = read_header(path, clean_blocks(path, options.encoding), separator)

    def blocks() -> Iterator[TextBlock]:
        for records in split_records(path, header, rest):
            if len(records.lines):
                frame = _parse(path, header, records.data)
                if frame.height != len(records.lines):
                    raise InputFileError(
                        f"{path}: lines {records.lines[0]} to {records.lines[-1]} could not be read as "
                        f"{len(records.lines)} rows: look for unusual quoting there"
                    )
                yield TextBlock(without_missing_tokens(frame, options.missing_tokens), records.lines)

    return header, blocks()


def empty_frame(names: tuple[str, ...]) -> pl.DataFrame:
    """No rows of text."""
    return pl.DataFrame({name: pl.Series(name, [], pl.String) for name in names})


def without_missing_tokens(frame: pl.DataFrame, tokens: tuple[str, ...]) -> pl.DataFrame:
    """Null for every text cell that is blank or one of the tokens."""
    bare = pl.col(pl.String).str.strip_chars()
    missing = bare == ""
    if tokens:
        missing = missing | bare.is_in(list(tokens))
    return frame.with_columns(pl.when(missing).then(None).otherwise(pl.col(pl.String)).name.keep())


def _parse(path: Path, header: Header, data: bytes) -> pl.DataFrame:
    """Cells of checked records, all as text."""
    try:
        return pl.read_csv(
            data,
            has_header=False,
            schema=dict.fromkeys(header.names, pl.String()),
            separator=header.separator,
            quote_char='"',
            infer_schema=False,
        )
    except pl.exceptions.PolarsError as error:
        raise InputFileError(f"{path}: cannot be read as a table: {str(error).splitlines()[0]}") from None
