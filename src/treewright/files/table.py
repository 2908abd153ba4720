"""A file of rows as a table in memory, by ``read_table``.

The first bytes of a file, not its name, determine its kind: Parquet, or delimited text (plain or gzip).
``files.matching`` reads a file a block at a time for a fitted model.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from treewright.exceptions import ColumnError, DataError, InputFileError, setting
from treewright.files.columns import CellType, Marks, TextColumns, decide_types
from treewright.files.sources import below, files_of, is_several, parquet_columns, read_parquet
from treewright.files.text import (
    ReadOptions,
    check_regular,
    empty_frame,
    first_bytes,
    open_delimited,
    warn_of_nameless,
    without_missing_tokens,
)
from treewright.trees.summary import counted

__all__ = [
    "Table",
    "checked_weights",
    "did_you_mean",
    "has_target",
    "is_parquet",
    "no_target",
    "pick",
    "place",
    "read_table",
    "require_columns",
    "rows_with_target",
]


@dataclass(frozen=True)
class Table:
    """A whole table in memory."""

    path: Path
    frame: pl.DataFrame  # typed columns, null where missing
    # int64[n_rows] or None; the line each row begins on; None for Parquet
    lines: np.ndarray | None = field(default=None, repr=False)
    # for several files the name of each below the common folder, and its number of rows, in order; empty for one
    files: tuple[tuple[Path, int], ...] = field(default=(), repr=False)
    # int64[n_rows] or None; for several files the number of each row, if some are left out
    kept: np.ndarray | None = field(default=None, repr=False)

    def place(self, row: int) -> str:
        """The place of a row, for messages: ``line 7``, or ``row 5`` in Parquet (counted from 0)."""
        if not self.files:
            return place(self.lines, row)
        given = number = row if self.kept is None else int(self.kept[row])
        for path, n_rows in self.files:
            if number < n_rows:
                return f"{place(self.lines, row) if self.lines is not None else f'row {number}'} of {path}"
            number -= n_rows
        raise IndexError(given)

    def filter(self, kept: pl.Series) -> Table:
        """The table with only the rows to keep."""
        lines = None if self.lines is None else self.lines[kept.to_numpy()]
        numbers = np.arange(self.frame.height) if self.kept is None else self.kept
        return Table(self.path, self.frame.filter(kept), lines, self.files, numbers[kept.to_numpy()])


def read_table(
    path: Path,
    options: ReadOptions,
    declared: Mapping[str, CellType] | None = None,
    leave_out: Sequence[str] = (),
    required: Sequence[str] = (),
) -> Table:
    """Read a whole file of rows, or a folder of such files, or a pattern, with the same columns in all.

    Parameters
    ----------
    declared : mapping of str to {"number", "boolean", "text"}, optional
        Types that the user has declared; only for text files (Parquet has its own).
    leave_out : sequence of str
        Columns that are not read.
    required : sequence of str
        Columns that must exist; checked on the header, before the rows are read.

    Raises
    ------
    InputFileError
        The file is not a valid table, or has no rows.
    ColumnError
        A required column, or one to leave out, is missing.
    """
    files, root = files_of(path) if is_several(path) else ([path], path.parent)
    for file in files:
        check_regular(file)
    needed = [*required, *leave_out, *(declared or {})]
    if is_parquet(files[0]):
        table = _read_parquets(path, files, root, options, leave_out, required, needed)
    else:
        table = _read_texts(path, files, root, options, declared or {}, leave_out, required, needed)
    if table.frame.height == 0:
        raise InputFileError(f"{path}: the table has column names but no rows: it needs at least one row")
    return table


def _read_parquets(
    path: Path, files: list[Path], root: Path, options: ReadOptions, leave_out: Sequence[str], required: Sequence[str],
    needed: Sequence[str],
) -> Table:  # fmt: skip
    frames: list[pl.DataFrame] = []
    for file in files:
        if not is_parquet(file):
            raise InputFileError(f"{file}: is text, and {files[0]} is Parquet: name files of one kind")
        require_columns(file, parquet_columns(file), needed)
        frame = without_missing_tokens(read_parquet(file, leave_out, required), options.missing_tokens)
        frames.append(_like(file, frame, files[0], frames[0] if frames else frame))
    return Table(path, pl.concat(frames), files=_rows_of_each(files, root, [frame.height for frame in frames]))


def _read_texts(
    path: Path, files: list[Path], root: Path, options: ReadOptions, declared: Mapping[str, CellType],
    leave_out: Sequence[str], required: Sequence[str], needed: Sequence[str],
) -> Table:  # fmt: skip
    read: list[list[tuple[pl.DataFrame, np.ndarray]]] = []
    separator, n_nameless = "", 0
    for file in files:
        if is_parquet(file):
            raise InputFileError(f"{file}: is Parquet, and {files[0]} is text: name files of one kind")
        header, blocks = open_delimited(file, options)
        require_columns(file, header.names, needed)
        own = [name for name in header.names if name not in set(leave_out)]
        n_nameless = max(n_nameless, len(header.nameless))
        separator = separator or header.separator
        if (header.separator == ";") != (separator == ";"):  # the cells decide about the decimal mark of all or of none
            raise InputFileError(f"{file}: its separator is not that of {files[0]}: use the same separator in both")
        nothing = empty_frame(tuple(own)), np.empty(0, np.int64)
        read.append([nothing, *((pick(block.frame, own), block.lines) for block in blocks)])
    parts = [frame for of_file in read for frame, _ in of_file]
    is_empty = "" not in needed and any(map(len, parts)) and all(map(_is_empty, parts))
    dropped = [""] if is_empty and any("" in frame.columns for frame in parts) else []
    warn_of_nameless(path, n_nameless + len(dropped))
    known = read[0][0][0].drop(dropped, strict=False)
    of_files = zip(files, read, strict=True)
    parts = [
        _like(file, frame.drop(dropped, strict=False), files[0], known)
        for file, of_file in of_files
        for frame, _ in of_file
    ]
    lines = np.concatenate([lines for of_file in read for _, lines in of_file])
    n_rows = [sum(frame.height for frame, _ in of_file) for of_file in read]
    marks = Marks.given(options, separator)
    numbers = tuple(zip(files, n_rows, strict=True)) if len(files) > 1 else ()
    text = TextColumns(path, pl.concat(parts, rechunk=True), lines, marks, options, tuple(required), numbers)
    return Table(path, decide_types(text, declared), text.lines, _rows_of_each(files, root, n_rows))


def _is_empty(frame: pl.DataFrame) -> bool:
    """Whether the column without a name, if there is one, has no cell."""
    return "" not in frame.columns or frame.get_column("").null_count() == frame.height


def _rows_of_each(files: list[Path], root: Path, n_rows: list[int]) -> tuple[tuple[Path, int], ...]:
    return tuple(zip([below(file, root) for file in files], n_rows, strict=True)) if len(files) > 1 else ()


def _like(path: Path, frame: pl.DataFrame, first: Path, known: pl.DataFrame) -> pl.DataFrame:
    """The frame of a file with its columns in the order of the first file; InputFileError if they are others."""
    if frame.schema == known.schema:
        return frame
    lacking = sorted({*known.columns} ^ {*frame.columns})
    if lacking:
        raise InputFileError(
            f"{path}: column {lacking[0]!r} is in only one of it and {first}: all files need the same columns"
        )
    frame = pick(frame, known.columns)
    other = next((name for name in known.columns if frame.schema[name] != known.schema[name]), None)
    if other is not None:
        raise InputFileError(
            f"{path}: column {other!r} holds {frame.schema[other]}, and {known.schema[other]} in {first}: write it "
            "with one type"
        )
    return frame


def is_parquet(path: Path) -> bool:
    """Whether the file is Parquet, by its first bytes or else by its name."""
    return first_bytes(path, 4) in {b"PAR1", b"PARE"} or path.suffix.lower() in {".parquet", ".pq"}


def pick(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """The named columns; unlike with ``select``, a name is never read as a pattern."""
    return pl.DataFrame({name: frame.get_column(name) for name in names})


def place(lines: np.ndarray | None, row: int) -> str:
    """The place of a row in its file: its line, or its position from 0 in a Parquet file, which has no lines."""
    return f"row {row}" if lines is None else f"line {lines[row]}"


def require_columns(path: Path, present: Sequence[str], needed: Sequence[str]) -> None:
    """Refuse a table that lacks a column: a ColumnError lists the missing columns and the nearest existing names."""
    absent = [name for name in dict.fromkeys(needed) if name not in set(present)]
    if absent:
        listed = ", ".join(repr(name) for name in absent[:5]) + (
            f" and {len(absent) - 5} more" if len(absent) > 5 else ""
        )
        shown = ", ".join(present[:12]) + (f", and {len(present) - 12} more" if len(present) > 12 else "")
        raise ColumnError(
            f"{path}: no column {listed}{_several_in_one(absent[0], present) or did_you_mean(absent[0], present)} "
            f"(the columns are: {shown}); add it, or name another column",
            column=absent[0],
        )


def _several_in_one(word: str, present: Sequence[str]) -> str:
    """A hint for a word that names several columns with commas between them; else an empty text."""
    names = [name.strip() for name in word.split(",")]
    if len(names) < 2 or not set(names) <= set(present):
        return ""
    listed = f"{', '.join(map(repr, names[:-1]))} and {names[-1]!r}"
    return f": {listed} are separate columns: name one at a time, and repeat the option for several"


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """``: did you mean 'income'?``, or nothing when no known word is near."""
    lowered = {name.lower().strip(): name for name in known}
    near = difflib.get_close_matches(word.lower().strip(), list(lowered), n=1, cutoff=0.6)
    return f": did you mean {lowered[near[0]]!r}?" if near else ""


def has_target(target: pl.Series) -> pl.Series:
    """Whether each cell of a target is present, as booleans; null and nan are missing."""
    found = target.is_not_null()
    return found & target.is_not_nan().fill_null(value=False) if target.dtype.is_float() else found


def rows_with_target(path: Path, target: pl.Series, place: Callable[[int], str], *, skip: bool) -> pl.Series | None:
    """Which rows have a target; None if every row has one.

    DataError if rows lack a target and ``skip`` is False, or no row has one; ``place`` gives from a row its place, such
    as ``line 7``.
    """
    missing = ~has_target(target)
    if not missing.any():
        return None
    count, first = int(missing.sum()), int(missing.arg_max() or 0)
    if not skip or count == len(target):
        raise no_target(path, target.name, count, len(target), first, place(first))
    return ~missing


def no_target(path: Path, name: str, n_missing: int, n_rows: int, first: int, where: str) -> DataError:
    """The error about rows without a target; ``first`` is the first of them, ``where`` its place, as ``line 7``."""
    if n_missing == n_rows:
        return DataError(
            f"{path}: no row has a target: {name!r} is missing in {n_missing} of {n_rows} rows: name "
            "another column with ",
            setting("target"),
            column=name,
            row=first,
        )
    return DataError(
        f"{path}: target {name!r} is missing in {n_missing} of {n_rows} rows (first: {where}): remove those rows, or "
        "leave them out with ",
        setting("skip_missing_target", True),
        column=name,
        row=first,
    )


def checked_weights(path: Path, weights: pl.Series, place: Callable[[int], str]) -> np.ndarray:
    """Weights as float64[n]; a DataError if they are not numbers, or one is missing, negative or infinite."""
    if not weights.dtype.is_numeric():
        raise DataError(
            f"{path}: weight column {weights.name!r} holds {weights.dtype}, not numbers", column=weights.name
        )
    wrong = ~(weights.cast(pl.Float64).is_finite() & (weights >= 0)).fill_null(value=False)
    if wrong.any():
        first = int(wrong.arg_max() or 0)
        raise DataError(
            f"{path}: weight column {weights.name!r} is missing, negative or infinite in "
            f"{counted(int(wrong.sum()), 'row')} (first: {place(first)}): weights are numbers >= 0",
            column=weights.name,
            row=first,
        )
    return weights.cast(pl.Float64).to_numpy()
