"""Rows for a fitted model. In: a model and a file. Out: blocks of its columns, typed as at fit. Callers: cli.

The model's schema decides: columns are found by name whatever their order, parsed as what they were at fit, and all
others are passed over. Rows come a block at a time, so the memory in use does not grow with the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from treewright.cli.columns import CellType, TextColumns, parse_booleans, parse_numbers
from treewright.cli.delimited import ReadOptions, empty_frame, open_delimited, without_missing_tokens
from treewright.cli.files import is_parquet, pick, require_columns
from treewright.cli.kinds_of_models import columns_of
from treewright.cli.parquet import parquet_blocks, parquet_columns
from treewright.cli.text_source import check_regular
from treewright.exceptions import InputFileError

if TYPE_CHECKING:
    import numpy as np

    from treewright.cli.kinds_of_models import AnyModel
    from treewright.data.schema import Column, Schema

__all__ = ["ModelRows", "cell_type", "rows_for"]


@dataclass(frozen=True)
class ModelRows:
    """Some rows of a file as a model wants them.

    Attributes
    ----------
    features : polars.DataFrame or dict or ndarray
        What ``Model.predict`` takes: the model's columns.
    target : polars.Series or None
        The true values, where they were asked for.
    n_rows : int
    lines : int64[n_rows] or None
        Where each row stands in the file; None in a Parquet file, which has no lines.
    """

    features: Any
    target: pl.Series | None
    n_rows: int
    lines: np.ndarray | None = None


def rows_for(
    model: AnyModel, path: Path, options: ReadOptions, target: tuple[str, CellType] | None = None
) -> Iterator[ModelRows]:
    """Blocks of rows, matched to the model's columns; at least one block (it may be empty).

    Parameters
    ----------
    model : Model
    path : Path
        CSV, TSV (plain or gzip) or Parquet.
    options : ReadOptions
    target : (name, type), optional
        A column to hand out beside the features.

    Raises
    ------
    InputFileError
        The file is not a sound table, or a cell is not what it was at fit.
    ColumnError
        A column of the model, or the target, is not in the file.
    UsageRefusal
        The model knows no columns.
    """
    schema = columns_of(model)
    check_regular(path)
    wanted = {str(column.name): cell_type(column) for column in schema.columns}
    if target is not None and target[0] in wanted:
        raise InputFileError(f"column {target[0]!r} is one that the model asks about: name another with --target")
    if target is not None:
        wanted[target[0]] = target[1]
    for frame, lines in _typed_blocks(path, options, wanted):
        truth = frame[target[0]] if target is not None else None
        yield ModelRows(_as_at_fit(schema, frame), truth, frame.height, lines)


def cell_type(column: Column) -> CellType:
    """What the cells of a model's column were at fit."""
    if column.family == "number":
        return "number"
    return "boolean" if column.family == "boolean" else "text"


def _typed_blocks(
    path: Path, options: ReadOptions, wanted: dict[str, CellType]
) -> Iterator[tuple[pl.DataFrame, np.ndarray | None]]:
    """Blocks of the wanted columns, with the lines that they stand in."""
    if is_parquet(path):
        require_columns(path, parquet_columns(path), list(wanted))
        for frame in parquet_blocks(path, list(wanted)):
            yield without_missing_tokens(frame, options.missing_tokens), None
        return
    header, blocks = open_delimited(path, options)
    require_columns(path, header.names, list(wanted))
    decimal_comma = header.separator == ";"
    is_empty = True
    for block in blocks:
        is_empty = False
        text = TextColumns(path, pick(block.frame, list(wanted)), block.lines, decimal_comma)
        yield _typed(text, wanted), block.lines
    if is_empty:
        nothing: np.ndarray = pl.Series([], dtype=pl.Int64).to_numpy()
        yield _typed(TextColumns(path, empty_frame(tuple(wanted)), nothing, decimal_comma), wanted), nothing


def _typed(text: TextColumns, wanted: dict[str, CellType]) -> pl.DataFrame:
    """Text columns parsed as what they were at fit."""
    typed: dict[str, pl.Series] = {}
    for name, cells in wanted.items():
        match cells:
            case "number":
                typed[name] = parse_numbers(text, name)
            case "boolean":
                typed[name] = parse_booleans(text, name)
            case _:
                typed[name] = text.frame[name]
    return pl.DataFrame(typed)


def _as_at_fit(schema: Schema, frame: pl.DataFrame) -> Any:
    """The model's columns under the names they had at fit, or none where they had none."""
    names = schema.names
    if not schema.named:
        return pick(frame, [str(name) for name in names]).to_numpy()
    if all(isinstance(name, str) for name in names):
        return pick(frame, [str(name) for name in names])
    return {name: frame[str(name)] for name in names}
