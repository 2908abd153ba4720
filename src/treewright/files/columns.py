"""Types of text columns: strings and the user's declarations become typed columns.

A column's type depends on all of its cells, never on a sample, by these rules:

- ``true`` / ``false`` in any case, all cells: boolean.
- every cell a number, none with a leading zero (an id such as 00123): numeric; whole numbers stay whole.
- at least 95 % numbers, but not all: refused, naming the first other cell; any guess would often be wrong.
- at least 90 % dates, times of day or durations (``data.dates``), but not all: refused, naming the first other cell.
- everything else, and columns that the user declares nominal or ordinal: text, exactly as in the file.

An empty cell is missing; nothing else is, unless ``ReadOptions.missing_tokens`` says so. In a file separated by
semicolons a comma is the decimal mark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from treewright.data.dates import MOSTLY as MOSTLY_DATES
from treewright.data.dates import odd_texts
from treewright.exceptions import InputFileError, Phrase, setting

__all__ = ["CellType", "TextColumns", "decide_types", "parse_booleans", "parse_numbers"]

CellType = Literal["number", "boolean", "text"]

MOSTLY = 0.95
_LARGEST_EXACT = 2**53
_DECIMAL_COMMA = r"^[+-]?\d*,\d+([eE][+-]?\d+)?$"
_INFINITE = r"^[+-]?(?i:inf|infinity)$"
_PADDED = r"^[+-]?0\d"
_WHOLE = r"^[+-]?\d+$"
_LIKE_A_DATE = r"^\s*-?[\dPp]"
_THOUSANDS = r"^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$"


@dataclass(frozen=True)
class TextColumns:
    """Text columns and their places in the file.

    Attributes
    ----------
    path : Path
    frame : polars.DataFrame
        String columns, null where missing.
    lines : int64[n_rows]
        The line each row begins on.
    decimal_comma : bool
        Whether a comma is the decimal mark.
    required : tuple of str
        Columns that cannot be left out, such as the target; messages do not advise it.
    """

    path: Path
    frame: pl.DataFrame
    lines: np.ndarray
    decimal_comma: bool
    required: tuple[str, ...] = ()


def decide_types(text: TextColumns, declared: Mapping[str, CellType]) -> pl.DataFrame:
    """Give every column the type that all its cells agree on, or that was declared: Int64, Float64, Boolean or String.

    An InputFileError names the line if a column is almost numeric, holds integers that float64 cannot distinguish, or
    is not of the declared type.
    """
    tallies = _tally(text)
    types = {series.name: declared.get(series.name) or _type_of(text, series, tallies) for series in text.frame}
    typed: dict[str, pl.Series] = _sound_numbers(text, [name for name in types if types[name] == "number"], tallies)
    for series in text.frame:
        name = series.name
        match types[name]:
            case "number":
                if name not in typed:
                    typed[name] = parse_numbers(text, name, tallies)
            case "boolean":
                typed[name] = parse_booleans(text, name)
            case _:
                typed[name] = series
    return pl.DataFrame({name: typed[name] for name in types})


def _sound_numbers(text: TextColumns, names: Sequence[str], tallies: Mapping[str, int]) -> dict[str, pl.Series]:
    """The columns in which ``parse_numbers`` would refuse no cell, parsed together, for tables of many columns."""
    sound = [
        name
        for name in names
        if tallies[f"{name}:finite"] + tallies[f"{name}:infinite"] == tallies[f"{name}:present"]
        and not tallies[f"{name}:beyond"]
    ]
    wanted = []
    for position, name in enumerate(sound):
        bare = _bare(str(position), text.decimal_comma)
        is_whole = tallies[f"{name}:whole"] == tallies[f"{name}:present"] > 0
        wanted.append(bare.str.strip_prefix("+").cast(pl.Int64) if is_whole else bare.cast(pl.Float64))
    frame = pl.DataFrame({str(position): text.frame.get_column(name) for position, name in enumerate(sound)})
    found = frame.lazy().select(wanted).collect()
    return {name: series.alias(name) for name, series in zip(sound, found, strict=True)}


def parse_numbers(text: TextColumns, name: str, tallies: Mapping[str, int] | None = None) -> pl.Series:
    """Numbers of one column: Int64 if all are whole, else Float64. ``true`` and ``false`` are 1 and 0, as in tables."""
    bare = pl.DataFrame({"cells": text.frame[name]}).select(_bare("cells", text.decimal_comma))["cells"]
    is_truth = bare.str.to_lowercase().is_in(["true", "false"])
    if bare.null_count() < len(bare) and is_truth.drop_nulls().all():
        bare = (bare.str.to_lowercase() == "true").cast(pl.Int64).cast(pl.String)
    values = bare.cast(pl.Float64, strict=False)
    wrong = bare.is_not_null() & (
        values.is_null() | values.is_nan() | (values.is_infinite() & ~bare.str.contains(_INFINITE))
    )
    if wrong.any():
        raise _wrong_cell(text, name, wrong, "not a number")
    largest = values.abs().max()
    if isinstance(largest, float) and largest >= _LARGEST_EXACT:
        beyond = (values.abs() >= _LARGEST_EXACT) & bare.str.contains(_WHOLE)
        if beyond.any():
            row, cell = _first(text, name, beyond)
            leave_out = () if name in text.required else ("leave it out (", setting("leave_out", [name]), ") or ")
            raise InputFileError(
                f"{_place(text, row)}: column {name!r}: {cell!r} is at or beyond 2^53, where float64 cannot "
                "distinguish integers: ",
                *leave_out,
                "read it as text (",
                _as_text(name),
                ")",
                column=name,
                row=row,
            )
    n_whole = tallies[f"{name}:whole"] if tallies else int(bare.str.contains(_WHOLE).sum() or 0)
    is_whole = n_whole == len(bare) - bare.null_count() and n_whole > 0
    return (bare.str.strip_prefix("+").cast(pl.Int64) if is_whole else values).alias(name)


def parse_booleans(text: TextColumns, name: str) -> pl.Series:
    """``true`` and ``false``, in any case, as booleans."""
    low = text.frame[name].str.strip_chars().str.to_lowercase()
    wrong = low.is_not_null() & ~low.is_in(["true", "false"])
    if wrong.any():
        raise _wrong_cell(text, name, wrong, "neither true nor false")
    return (low == "true").alias(name)


def _bare(name: str, decimal_comma: bool) -> pl.Expr:
    """Cells without spaces around them, decimal commas turned into points."""
    bare = pl.col(name).str.strip_chars()
    if not decimal_comma:
        return bare
    with_point = bare.str.replace(",", ".", literal=True)
    return pl.when(bare.str.contains(_DECIMAL_COMMA)).then(with_point).otherwise(bare).alias(name)


def _tally(text: TextColumns) -> dict[str, int]:
    """Counts per column: cells present, numbers, whole, at or beyond 2^53, padded with zeros, booleans."""
    # Polars reads some names ("*", "^a.*$") as patterns, so the columns go by their positions here.
    frame = pl.DataFrame({str(position): series for position, series in enumerate(text.frame)})
    wanted: list[pl.Expr] = []
    for name in frame.columns:
        bare = _bare(name, text.decimal_comma)
        value = bare.cast(pl.Float64, strict=False)
        infinite = value.is_infinite() & bare.str.contains(_INFINITE)
        wanted += [
            pl.col(name).count().alias(f"{name}:present"),
            value.is_finite().sum().alias(f"{name}:finite"),
            infinite.sum().alias(f"{name}:infinite"),
            bare.str.contains(_WHOLE).sum().alias(f"{name}:whole"),
            ((value.abs() >= _LARGEST_EXACT) & bare.str.contains(_WHOLE)).sum().alias(f"{name}:beyond"),
            bare.str.contains(_PADDED).sum().alias(f"{name}:padded"),
            bare.str.to_lowercase().is_in(["true", "false"]).sum().alias(f"{name}:boolean"),
        ]
    tallies: dict[str, int] = {}
    names = text.frame.columns  # a new list at every call
    for key, cells in frame.lazy().select(wanted).collect().to_dict(as_series=False).items():
        position, _, what = key.partition(":")
        tallies[f"{names[int(position)]}:{what}"] = int(cells[0] or 0)
    return tallies


def _type_of(text: TextColumns, series: pl.Series, tallies: Mapping[str, int]) -> CellType:
    """The type of all cells of a column."""
    name = series.name
    present, finite = tallies[f"{name}:present"], tallies[f"{name}:finite"]
    numbers = finite + tallies[f"{name}:infinite"]
    if present == 0:
        return "number"
    if tallies[f"{name}:boolean"] == present:
        return "boolean"
    if tallies[f"{name}:padded"]:
        return "text"
    if finite and numbers == present:
        return "number"
    if numbers < present and not text.decimal_comma:
        _refuse_thousands(text, series, present)
    if finite and numbers >= MOSTLY * present:
        bare = series.str.strip_chars()
        value = bare.cast(pl.Float64, strict=False)
        other = bare.is_not_null() & (value.is_null() | value.is_nan())
        if text.decimal_comma:
            other &= ~bare.str.contains(_DECIMAL_COMMA)
        if not other.any():
            other = value.is_infinite()
        row, cell = _first(text, name, other)
        raise InputFileError(
            f"{_place(text, row)}: column {name!r}: {cell!r} is not a number, though {numbers} of {present} "
            "cells are: correct it, or declare it missing (",
            setting("missing_tokens", [cell]),
            "), or declare the column as text (",
            _as_text(name),
            ")",
            column=name,
            row=row,
        )
    _refuse_nearly_dates(text, series, present)
    return "text"


def _refuse_nearly_dates(text: TextColumns, series: pl.Series, present: int) -> None:
    """Refuse a column of dates with a cell that is not a date, instead of reading it as text."""
    if int(series.str.contains(_LIKE_A_DATE).sum() or 0) < MOSTLY_DATES * present:  # most columns end here
        return
    counts = series.drop_nulls().value_counts(name="times")
    odd = odd_texts(dict(zip(counts[series.name], counts["times"], strict=True)))
    if odd is None:
        return
    row, cell = _first(text, series.name, series.is_in(list(odd.texts)))
    raise InputFileError(
        f"{_place(text, row)}: column {series.name!r}: {cell!r} {odd.said_of(str(series[row]))}: correct it, or "
        "declare it missing (",
        setting("missing_tokens", [cell]),
        "), or declare the column as text (",
        _as_text(series.name),
        ")",
        column=series.name,
        row=row,
    )


def _refuse_thousands(text: TextColumns, series: pl.Series, present: int) -> None:
    """Refuse a column of numbers with thousands separators, instead of reading it as text."""
    grouped = series.str.strip_chars().str.contains(_THOUSANDS).fill_null(value=False)
    if not grouped.any():
        return
    plain = series.str.strip_chars().cast(pl.Float64, strict=False).is_finite().fill_null(value=False)
    if int((grouped | plain).sum()) >= MOSTLY * present:
        row, cell = _first(text, series.name, grouped)
        raise InputFileError(
            f"{_place(text, row)}: column {series.name!r}: {cell!r} seems to hold thousands separators: "
            "remove them from the file, or read the column as text (",
            _as_text(series.name),
            ")",
            column=series.name,
            row=row,
        )


def _wrong_cell(text: TextColumns, name: str, wrong: pl.Series, what: str) -> InputFileError:
    """The error for cells that are not of the declared type."""
    row, cell = _first(text, name, wrong)
    count = int(wrong.sum())
    more = f" ({count} such cells)" if count > 1 else ""
    return InputFileError(
        f"{_place(text, row)}: column {name!r}: {cell!r} is {what}{more}: correct it, or if it means missing, give ",
        setting("missing_tokens", [cell]),
        column=name,
        row=row,
    )


def _as_text(name: str) -> Phrase:
    """The advice to read a column as text."""
    return setting("declared", {name: "text"})


def _place(text: TextColumns, row: int) -> str:
    """File and line of a row."""
    return f"{text.path}:{text.lines[row]}"


def _first(text: TextColumns, name: str, mask: pl.Series) -> tuple[int, str]:
    """Row and cell of the first True."""
    row = int(mask.fill_null(value=False).arg_max() or 0)
    cell = str(text.frame[name][row])
    return row, cell if len(cell) <= 40 else cell[:37] + "..."
