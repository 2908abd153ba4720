"""Rows of a file for a fitted model, with their target and weights.

The model's schema decides: columns are found by name in any order, parsed with the types they had at fit, and all
others are ignored. ``rows_for`` gives a block at a time, so the memory in use does not grow with the file;
``labelled_rows`` gives all rows with their target.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from treewright.exceptions import DataError, InputFileError, ParameterError, setting
from treewright.files.columns import CellType, Marks, ModelColumn, TextColumns, as_fitted, first_marks, marks_of
from treewright.files.sources import below, files_of, is_several, parquet_blocks, parquet_columns
from treewright.files.table import checked_weights, is_parquet, pick, place, require_columns, rows_with_target
from treewright.files.text import ReadOptions, check_regular, empty_frame, open_delimited, without_missing_tokens

if TYPE_CHECKING:
    from treewright.data.schema import Schema
    from treewright.model import Model
    from treewright.model.neighbors import NeighborsModel

    AnyModel: TypeAlias = Model | NeighborsModel

__all__ = [
    "LabelledRows",
    "ModelRows",
    "as_at_fit",
    "as_whole",
    "columns_of",
    "labelled_rows",
    "rows_for",
    "target_type",
]


@dataclass(frozen=True)
class ModelRows:
    """Some rows of a file, with the model's columns."""

    features: Any  # what ``Model.predict`` takes: the model's columns
    target: pl.Series | None  # the target, if it was requested
    n_rows: int
    # int64[n_rows] or None; the line of each row in the file; None for Parquet, which has no lines
    lines: np.ndarray | None = None
    # other columns that were requested, unchanged: those of a text file as text, null where missing
    beside: pl.DataFrame | None = None
    file: str = ""  # the name of the file below the common folder, if there are several
    first: int = 0  # the number of the first row in the file

    def place(self, at: int) -> str:
        """The place of a row of the block, with the name of its file if there are several."""
        where = f"row {self.first + at}" if self.lines is None else place(self.lines, at)
        return f"{where} of {self.file}" if self.file else where

    def filter(self, kept: pl.Series) -> ModelRows:
        """The rows to keep."""
        truth = None if self.target is None else self.target.filter(kept)
        lines = None if self.lines is None else self.lines[kept.to_numpy()]
        beside = None if self.beside is None else self.beside.filter(kept)
        return ModelRows(_filtered(self.features, kept), truth, int(kept.sum()), lines, beside, self.file)


@dataclass(frozen=True)
class LabelledRows:
    """All rows of a file with their target."""

    features: Any  # what ``Model.predict`` takes: the model's columns
    target: np.ndarray  # [n_rows], typed as at fit
    weights: np.ndarray | None = None  # float64[n_rows] or None
    n_skipped: int = 0  # rows of the file that were left out, because they have no target


def columns_of(model: AnyModel) -> Schema:
    """The schema of a model; a ParameterError if it was fitted on sparse rows."""
    if model.schema is None:
        raise ParameterError(
            "the model was fitted on sparse rows, and the columns of a file cannot be matched: use it in Python, by "
            "treewright.load(path).predict(rows)"
        )
    return model.schema


def target_type(model: AnyModel) -> CellType:
    """The type of the target's cells at fit."""
    kind = model.classes[0].dtype.kind if model.task == "classification" else "f"
    return {"b": "boolean", "i": "number", "u": "number", "f": "number"}.get(kind, "text")  # type: ignore[return-value]


def as_whole(labels: pl.Series) -> pl.Series:
    """Labels as integers if all are whole numbers, in any storage; other columns, such as one with 1.5, unchanged."""
    if not labels.dtype.is_float():
        return labels
    whole = labels.cast(pl.Int64, strict=False)
    return whole if whole.cast(pl.Float64).eq_missing(labels.fill_nan(None)).all() else labels


def rows_for(
    model: AnyModel,
    path: Path,
    options: ReadOptions,
    target: tuple[str, CellType] | None = None,
    beside: tuple[str, ...] = (),
) -> Iterator[ModelRows]:
    """Blocks of rows, matched to the model's columns; at least one block (it may be empty).

    ``path`` is a file (CSV, TSV, plain or gzip, or Parquet), a folder of such files, or a pattern: one after another.
    ``target`` is a column to return next to the features, ``beside`` are columns to return unchanged. InputFileError if
    the file is not a valid table or a cell is not of the type it had at fit; ColumnError if a column is not in the
    file; ParameterError if the model has no named columns.
    """
    schema = columns_of(model)
    model_columns = {str(column.name): ModelColumn.of(column) for column in schema.needed}
    if target is not None and target[0] in model_columns:
        raise InputFileError(
            f"column {target[0]!r} is one of the model's features: name another target with ",
            setting("target"),
            parameter="target",
            column=target[0],
        )
    if target is not None:
        labels = model.classes[0].tolist() if model.task == "classification" and target[1] == "text" else ()
        model_columns[target[0]] = ModelColumn(target[1], tuple(labels))
    if is_several(path):
        files, root = files_of(path)
        decimal, undecided = _decimal_of_all(files, options, model_columns)
        for file in files:
            own = replace(options, decimal=decimal) if file in undecided else options
            for rows in rows_for(model, file, own, target, beside):
                yield replace(rows, file=str(below(file, root)))
        return
    check_regular(path)
    first = 0
    for frame, lines, others in _typed_blocks(path, options, model_columns, beside):
        truth = frame[target[0]] if target is not None else None
        n_rows = others.height if beside else frame.height
        yield ModelRows(as_at_fit(schema, frame), truth, n_rows, lines, others if beside else None, first=first)
        first += n_rows


def labelled_rows(
    model: AnyModel, path: Path, options: ReadOptions, target: str, weight: str | None = None, *, skip: bool = False
) -> LabelledRows:
    """All rows of a file: the model's columns, the target as it was at fit, and weights.

    With ``skip`` rows without a target are left out, instead of being refused. TreewrightError if the table is refused,
    there are no rows, or a target or weight is missing, a weight negative or infinite.
    """
    if weight is not None and (weight == target or weight in map(str, columns_of(model).names)):
        raise ParameterError(
            setting("weight", weight),
            ": the column is a feature of the model, or the target: name another",
            parameter="weight",
            column=weight,
        )
    parts = [rows for rows in rows_for(model, path, options, (target, target_type(model))) if rows.n_rows]
    if not parts:
        raise DataError(f"{path}: there are no rows")
    features = _joined([rows.features for rows in parts])
    truth = pl.concat([rows.target for rows in parts if rows.target is not None]).alias(target)
    kept = rows_with_target(path, truth, lambda row: _placed(parts, row), skip=skip)
    n_skipped = 0
    if kept is not None:
        features, truth, n_skipped = _filtered(features, kept), truth.filter(kept), int((~kept).sum())
    if model.task == "classification":
        truth = as_whole(truth)
    weights = None if weight is None else _weights(model, path, options, weight, kept)
    return LabelledRows(features, truth.to_numpy(), weights, n_skipped)


def _weights(model: AnyModel, path: Path, options: ReadOptions, weight: str, kept: pl.Series | None) -> np.ndarray:
    """Weights of the rows that are kept."""
    # The file is read again: its reader returns one typed column in addition to those of the model.
    parts = [rows for rows in rows_for(model, path, options, (weight, "number")) if rows.n_rows]
    weights = pl.concat([rows.target for rows in parts if rows.target is not None]).alias(weight)
    numbers = None if kept is None else kept.arg_true()
    own = weights if kept is None else weights.filter(kept)
    return checked_weights(path, own, lambda row: _placed(parts, row if numbers is None else int(numbers[row])))


def _placed(parts: list[ModelRows], row: int) -> str:
    """The place of a row of several blocks."""
    for rows in parts:
        if row < rows.n_rows:
            return rows.place(row)
        row -= rows.n_rows
    raise IndexError(row)


def _joined(parts: list[Any]) -> Any:
    """Blocks of features as one table of the same form."""
    first = parts[0]
    if isinstance(first, pl.DataFrame):
        return pl.concat(parts)
    if isinstance(first, dict):
        return {name: pl.concat([part[name] for part in parts]) for name in first}
    return np.concatenate(parts)


def _filtered(features: Any, kept: pl.Series) -> Any:
    """The rows to keep, in the form that the features have."""
    if isinstance(features, pl.DataFrame):
        return features.filter(kept)
    if isinstance(features, dict):
        return {name: cells.filter(kept) for name, cells in features.items()}
    return features[kept.to_numpy()]


def _typed_blocks(
    path: Path, options: ReadOptions, model_columns: dict[str, ModelColumn], beside: tuple[str, ...]
) -> Iterator[tuple[pl.DataFrame, np.ndarray | None, pl.DataFrame]]:
    """Blocks of the typed columns, with the lines of their rows, and of the other columns."""
    every = [*dict.fromkeys((*model_columns, *beside))]
    if is_parquet(path):
        require_columns(path, parquet_columns(path), every)
        for frame in parquet_blocks(path, every):
            typed = pick(frame, list(model_columns)) if beside else frame
            yield without_missing_tokens(typed, options.missing_tokens), None, pick(frame, beside)
        return
    header, blocks = open_delimited(path, options)
    require_columns(path, header.names, every)
    marks = Marks.given(options, header.separator) or _marks_in([path], options, model_columns)
    is_empty = True
    for block in blocks:
        is_empty = False
        text = TextColumns(path, pick(block.frame, list(model_columns)), block.lines, marks, options)
        yield as_fitted(text, model_columns), block.lines, pick(block.frame, beside)
    if is_empty:
        nothing = np.empty(0, np.int64)
        text = TextColumns(path, empty_frame(tuple(model_columns)), nothing, marks, options)
        yield as_fitted(text, model_columns), nothing, empty_frame(beside)


def _decimal_of_all(
    files: Sequence[Path], options: ReadOptions, model_columns: Mapping[str, ModelColumn]
) -> tuple[str | None, set[Path]]:
    """The decimal mark of several files, as a fit decides it over all of them, and the files that it is for."""
    undecided = []
    for file in files:
        check_regular(file)
        if not is_parquet(file):
            header, _ = open_delimited(file, options)
            if Marks.given(options, header.separator) is None:
                require_columns(file, header.names, list(model_columns))
                undecided.append(file)
    return (_marks_in(undecided, options, model_columns).decimal if undecided else None), set(undecided)


def _marks_in(paths: Sequence[Path], options: ReadOptions, model_columns: Mapping[str, ModelColumn]) -> Marks:
    """The marks that the model's columns of numbers decide, before a row is predicted: one pass over the files."""
    declared: dict[str, CellType] = {name: each.cells for name, each in model_columns.items() if each.cells == "number"}
    found = (
        first_marks(TextColumns(path, pick(block.frame, list(declared)), block.lines, None, options), declared)
        for path in paths
        for block in open_delimited(path, options)[1]
    )
    return marks_of(options, found if declared else ())


def as_at_fit(schema: Schema, frame: pl.DataFrame) -> Any:
    """The model's columns under the names they had at fit, or without names if they had none."""
    names = [column.name for column in schema.needed]
    if not schema.named:
        return pick(frame, [str(name) for name in names]).to_numpy()
    if all(isinstance(name, str) for name in names):
        return pick(frame, [str(name) for name in names])
    return {name: frame[str(name)] for name in names}
