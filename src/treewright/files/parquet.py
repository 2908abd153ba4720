"""A Parquet file as typed tables, whole or in runs of rows.

Parquet has its own types, so nothing is inferred here. Columns that a decision tree cannot test (lists, structs, bytes)
are refused by name; a damaged file is one error that names the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from treewright.exceptions import InputFileError, setting

__all__ = ["parquet_blocks", "parquet_columns", "read_parquet"]

_BLOCK_ROWS = 1 << 18


def parquet_columns(path: Path) -> tuple[str, ...]:
    """Column names of a Parquet file, in order."""
    with _refusing(path):
        return tuple(_scan(path).collect_schema().names())


def read_parquet(path: Path, leave_out: Sequence[str] = (), required: Sequence[str] = ()) -> pl.DataFrame:
    """The whole table without the columns to leave out; messages do not advise to leave out a required one."""
    names = [name for name in parquet_columns(path) if name not in set(leave_out)]
    with _refusing(path):
        selected = _select(path, names)
        _check_types(path, selected.collect_schema(), required)
        return selected.collect()


def parquet_blocks(path: Path, names: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Runs of rows of the named columns, at least one run (it may be empty)."""
    with _refusing(path):
        selected = _select(path, names)
        _check_types(path, selected.collect_schema())
        n_rows = int(_scan(path).select(pl.len()).collect().item())
    for start in range(0, max(n_rows, 1), _BLOCK_ROWS):
        with _refusing(path):
            block = selected.slice(start, _BLOCK_ROWS).collect()
        yield block


def _scan(path: Path) -> pl.LazyFrame:
    """The file as a lazy frame; its name is never read as a pattern."""
    return pl.scan_parquet(path, glob=False, hive_partitioning=False)


def _select(path: Path, names: Sequence[str]) -> pl.LazyFrame:
    """The named columns, chosen by position: polars reads some names ("*", "^a.*$") as patterns."""
    position = {name: index for index, name in enumerate(_scan(path).collect_schema().names())}
    return _scan(path).select(pl.nth([position[name] for name in names]))


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Turn any error of the reader into one error about the file."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, UnicodeError) as error:
        reason = (str(error).splitlines() or ["unreadable"])[0]
        raise InputFileError(f"{path}: is not a complete, readable Parquet file ({reason}): write it again") from None


def _check_types(path: Path, schema: pl.Schema, required: Sequence[str] = ()) -> None:
    """Refuse columns of nested values, and a file without columns."""
    if not schema:
        raise InputFileError(f"{path}: the Parquet file has no columns")
    for name, dtype in schema.items():
        if dtype.is_nested() or dtype in {pl.Binary, pl.Object}:
            leave_out = () if name in required else (", or leave it out (", setting("leave_out"), ")")
            raise InputFileError(
                f"{path}: column {name!r} holds {dtype}: write its parts as columns",
                *leave_out,
                column=name,
            )
