"""The table that is learned from. In: a path and the user's word on its columns. Out: a typed table. Callers: cli.fit.

The kind of file is told by its first bytes, not by its name: Parquet, or delimited text (plain or gzip). The other way
into a table, a block at a time for a model that already knows the columns, is ``cli.matching``.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from treewright.cli.columns import CellType, TextColumns, decide_types
from treewright.cli.delimited import ReadOptions, empty_frame, open_delimited, without_missing_tokens
from treewright.cli.parquet import parquet_columns, read_parquet
from treewright.cli.text_source import check_regular, first_bytes
from treewright.exceptions import ColumnError, InputFileError

__all__ = ["Table", "did_you_mean", "is_parquet", "pick", "read_table", "require_columns"]


@dataclass(frozen=True)
class Table:
    """A whole table in memory.

    Attributes
    ----------
    path : Path
    frame : polars.DataFrame
        Typed columns, null where missing.
    lines : int64[n_rows] or None
        The line each row begins on; None for Parquet.
    """

    path: Path
    frame: pl.DataFrame
    lines: np.ndarray | None = field(default=None, repr=False)

    def place(self, row: int) -> str:
        """Where a row stands, for messages: ``line 7``, or ``row 5`` in Parquet (counted from 0)."""
        return place(self.lines, row)


def place(lines: np.ndarray | None, row: int) -> str:
    """Where a row stands in its file.

    Parameters
    ----------
    lines : int64[n_rows] or None
        The line of each row; None in a Parquet file, whose rows are counted from 0.
    row : int
    """
    return f"row {row}" if lines is None else f"line {lines[row]}"


def is_parquet(path: Path) -> bool:
    """Whether the file calls itself Parquet, by its first bytes or, failing those, by its name.

    Raises
    ------
    InputFileError
        The file cannot be opened.
    """
    return first_bytes(path, 4) in {b"PAR1", b"PARE"} or path.suffix.lower() in {".parquet", ".pq"}


def read_table(
    path: Path,
    options: ReadOptions,
    declared: Mapping[str, CellType] | None = None,
    leave_out: Sequence[str] = (),
    required: Sequence[str] = (),
) -> Table:
    """Read a whole file of rows.

    Parameters
    ----------
    path : Path
        CSV, TSV (plain or gzip) or Parquet.
    options : ReadOptions
    declared : mapping of str to {"number", "boolean", "text"}, optional
        Types of columns that the user has named; only for text files (Parquet carries its own).
    leave_out : sequence of str
        Columns that are not wanted; they are not even looked at.
    required : sequence of str
        Columns that must be there; checked on the header, before the rows are read.

    Returns
    -------
    Table

    Raises
    ------
    InputFileError
        The file is not a sound table, or has no rows.
    ColumnError
        A required column, or one to leave out, is not there.
    """
    check_regular(path)
    wanted = [*required, *leave_out, *(declared or {})]
    if is_parquet(path):
        require_columns(path, parquet_columns(path), wanted)
        frame = without_missing_tokens(read_parquet(path, leave_out), options.missing_tokens)
        table = Table(path, frame)
    else:
        header, blocks = open_delimited(path, options)
        require_columns(path, header.names, wanted)
        kept = [name for name in header.names if name not in set(leave_out)]
        parts = [(pick(block.frame, kept), block.lines) for block in blocks]
        text = TextColumns(
            path,
            pl.concat([empty_frame(tuple(kept)), *(frame for frame, _ in parts)], rechunk=True),
            np.concatenate([np.empty(0, np.int64), *(lines for _, lines in parts)]),
            header.separator == ";",
        )
        table = Table(path, decide_types(text, declared or {}), text.lines)
    if table.frame.height == 0:
        raise InputFileError(f"{path}: the table has column names but no rows: at least one row is needed")
    return table


def pick(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """The named columns; unlike with ``select``, no name is ever taken for a pattern."""
    return pl.DataFrame({name: frame.get_column(name) for name in names})


def require_columns(path: Path, present: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse a table that lacks a column.

    Raises
    ------
    ColumnError
        Names the columns that are not there, and the nearest names that are.
    """
    absent = [name for name in dict.fromkeys(wanted) if name not in set(present)]
    if absent:
        listed = ", ".join(repr(name) for name in absent[:5]) + (
            f" and {len(absent) - 5} more" if len(absent) > 5 else ""
        )
        shown = ", ".join(present[:12]) + (f", and {len(present) - 12} more" if len(present) > 12 else "")
        raise ColumnError(
            f"{path}: no column {listed}{did_you_mean(absent[0], present)} (the columns are: {shown}); "
            "add what is missing, or name another column"
        )


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """``: did you mean 'income'?``, or nothing when no known word is near."""
    lowered = {name.lower().strip(): name for name in known}
    near = difflib.get_close_matches(word.lower().strip(), list(lowered), n=1, cutoff=0.6)
    return f": did you mean {lowered[near[0]]!r}?" if near else ""
