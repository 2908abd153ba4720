"""What the cells of a text file mean: strings and the user's declarations become typed columns.

A file has one decimal mark, and a thousands mark only if ``ReadOptions`` names it (``marks_of``). Between semicolons
the cells decide about the decimal mark, in other files it is a point. Then a column's type depends on all of its cells,
never on a sample, by these rules:

- ``true`` / ``false`` in any case, all cells: boolean.
- whole numbers, at least half of them padded with zeros (an id such as 00123): text.
- every cell a number: numeric, padded or not; whole numbers stay whole.
- at least 95 % numbers, or numbers with other marks, but not all: refused, naming the first other cell; any guess would
  often be wrong. So are whole numbers of equal length if some are padded.
- at least 90 % dates, times of day or durations (``data.dates``), but not all: refused, naming the first other cell.
- everything else, and columns that the user declares nominal or ordinal: text, exactly as in the file; but if there
  are whole numbers with a fraction of zeros and without, 1010.0 is the level 1010.

An empty cell is missing; nothing else is, unless ``ReadOptions.missing_tokens`` says so. Counts of cells (``Tally``) of
several blocks add up, so that a file in blocks is read as a whole one is. At predict a model's own column has its type
already: ``as_fitted`` reads the same cells with the same marks.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from treewright.core import notices
from treewright.data.dates import DATES, odd_texts
from treewright.data.dates import MOSTLY as MOSTLY_DATES
from treewright.data.identifiers import PADDED, WITHOUT_POINT, ZERO_FRACTION, are_codes, without_zero_fraction
from treewright.data.schema import Column
from treewright.exceptions import InputFileError, Phrase, setting
from treewright.files.text import SPACES, ReadOptions

__all__ = [
    "CellType", "Marks", "Tally", "TextColumns", "ModelColumn", "as_fitted", "decide_types", "first_marks", "marks_of",
    "tallies_of", "warn_of_merged_levels", "typed_as", "types_of",
]  # fmt: skip

CellType = Literal["number", "boolean", "text"]
_Decided = CellType | Literal["date"]

MOSTLY = 0.95
_LARGEST_EXACT = 2**53
_INFINITE = r"^[+-]?(?i:inf|infinity)$"
_LIKE_A_DATE = r"^\s*-?[\dPp]"
_EXPONENT = r"([eE][+-]?\d+)?"
_WITH_POINT = rf"^[+-]?(\d+\.\d*|\.\d+){_EXPONENT}$"
_WITH_COMMA = rf"^[+-]?(\d+,\d*|,\d+){_EXPONENT}$"
# 1.250 is a thousand or one and a quarter; 0.250, 1250.500 and 1.25 are what they are.
_EITHER = r"^[+-]?[1-9]\d{0,2}[.,]\d{3}$"
_POINTS = r"^[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?$"
_COMMAS = r"^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$"
_OTHER_GROUPS = rf"^[+-]?[1-9]\d{{0,2}}(['\u2019{SPACES}]\d{{3}})+([.,]\d*)?$"
_GROUPED = (_POINTS, _COMMAS, _OTHER_GROUPS)
_NO_NUMBER = "?"


class Marks(NamedTuple):
    """How the numbers of a file are written: one character each; no thousands mark if that is empty."""

    decimal: str = "."
    thousands: str = ""

    @classmethod
    def given(cls, options: ReadOptions, separator: str) -> Marks | None:
        """The marks of a file, as far as options and separator settle them; None: the cells decide."""
        thousands = options.thousands or ""
        decimal = options.decimal or {".": ",", ",": "."}.get(thousands)
        if decimal is None:
            decimal = None if separator == ";" else "."
        return None if decimal is None else cls(decimal, thousands)


@dataclass(frozen=True)
class TextColumns:
    """Text columns and their places in the file."""

    path: Path
    frame: pl.DataFrame  # string columns, null where missing
    lines: np.ndarray  # int64[n_rows]; the line each row begins on
    marks: Marks | None  # None: the cells decide
    options: ReadOptions = field(default_factory=ReadOptions)
    required: tuple[str, ...] = ()  # columns that cannot be left out, such as the target; messages do not advise it
    # if the rows are those of several files, each of these with its number of rows, in order
    files: tuple[tuple[Path, int], ...] = ()

    def cell(self, name: str, row: int) -> Cell:
        """A cell with its place."""
        text, path, end = str(self.frame.get_column(name)[row]), self.path, 0
        for file, n_rows in self.files:
            end += n_rows
            if row < end:
                path = file
                break
        return Cell(text if len(text) <= 40 else text[:37] + "...", name, row, int(self.lines[row]), path)


class Cell(NamedTuple):
    """A cell and its place, for messages."""

    text: str
    column: str
    row: int
    line: int
    path: Path


def decide_types(text: TextColumns, declared: Mapping[str, CellType]) -> pl.DataFrame:
    """Give every column the type that all its cells agree on, or that was declared: Int64, Float64, Boolean or String.

    An InputFileError names the line if a column is almost numeric, holds integers that float64 cannot distinguish, or
    is not of the declared type.
    """
    if text.marks is None:
        text = replace(text, marks=marks_of(text.options, [first_marks(text, declared)]))
    tallies = tallies_of(text, declared)
    types = types_of(text, tallies, declared)
    frame = typed_as(text, tallies, types)
    warn_of_merged_levels(tallies, types)
    for name, kind in types.items():
        if kind in ("text", "date") and name not in declared:
            _refuse_nearly_dates(text, frame.get_column(name), tallies[name].present)
    return frame


def types_of(text: TextColumns, tallies: Mapping[str, Tally], declared: Mapping[str, CellType]) -> dict[str, _Decided]:
    """The types that the counts of all cells decide."""
    return {name: declared.get(name) or _type_of(text, name, tally) for name, tally in tallies.items()}


def typed_as(text: TextColumns, tallies: Mapping[str, Tally], types: Mapping[str, _Decided]) -> pl.DataFrame:
    """The columns with these types; ``tallies`` are those of all their cells."""
    names = [name for name, kind in types.items() if kind == "number"]
    typed: dict[str, pl.Series] = _sound_numbers(text, names, tallies)
    for name, kind in types.items():
        series = text.frame.get_column(name)
        match kind:
            case "number":
                if name not in typed:
                    typed[name] = _numbers(text, name, is_whole=tallies[name].is_whole)
            case "boolean":
                typed[name] = _booleans(text, name)
            case "date":
                typed[name] = _iso(series, str(text.options.date_format))
            case _:
                typed[name] = series.str.replace(ZERO_FRACTION, "${1}") if tallies[name].merges else series
    return pl.DataFrame({name: typed[name] for name in types})


def warn_of_merged_levels(tallies: Mapping[str, Tally], types: Mapping[str, _Decided]) -> None:
    """Warn of each column of text whose cells are levels with and without a fraction of zeros."""
    for name, kind in types.items():
        cell, n = tallies[name].zero_fraction_cell, tallies[name].zero_fraction
        if kind == "text" and tallies[name].merges and cell is not None:
            more = f" ({n} such cells)" if n > 1 else ""
            notices.warn(
                f"{cell.path}:{cell.line}: column {name!r}: {cell.text!r} is read as the level "
                f"{without_zero_fraction(cell.text)!r}{more}: in a text file the two are one level; if yours are two, "
                "write one of them with a letter"
            )


# --- the marks of a file


class FirstMarks(NamedTuple):
    """The first cells that tell a file's decimal mark, and the first that may be read in two ways."""

    comma: Cell | None = None
    point: Cell | None = None
    either: Cell | None = None


def first_marks(text: TextColumns, declared: Mapping[str, CellType]) -> FirstMarks:
    """What the columns of numbers tell about the marks: those that are declared, or hold hardly anything else."""
    found: list[FirstMarks] = []
    for series in text.frame:
        kind = declared.get(series.name)
        cells = _ungrouped(series.str.strip_chars(), text.options.thousands or "")
        has_mark = cells.str.contains(r"[.,]").fill_null(value=False)
        if kind not in (None, "number") or not has_mark.any():
            continue
        either, commas, points = _has(cells, _EITHER), _has(cells, _WITH_COMMA), _has(cells, _WITH_POINT)
        of_points, of_commas = _has(cells, _POINTS) & ~either, _has(cells, _COMMAS) & ~either
        plain = cells.cast(pl.Float64, strict=False).is_not_null()
        like = plain | either | commas | of_points | of_commas
        if kind is None and int(like.sum()) < MOSTLY * (len(cells) - cells.null_count()):
            continue
        found.append(
            FirstMarks(
                _first(text, series.name, commas & ~either | of_points),
                _first(text, series.name, points & ~either | of_commas),
                _first(text, series.name, either),
            )
        )
    return _earliest(found)


def _earliest(found: Iterable[FirstMarks]) -> FirstMarks:
    """The first cells among those of several columns or blocks."""
    of_kinds = zip(*found, strict=True)
    cells = [[cell for cell in kind if cell is not None] for kind in of_kinds]
    return FirstMarks(
        *(min(kind, key=lambda cell: (cell.path, cell.line, cell.column)) if kind else None for kind in cells)
    )


def marks_of(options: ReadOptions, found: Iterable[FirstMarks]) -> Marks:
    """The marks of a file by its cells, from the first ones of its blocks; an InputFileError if they differ."""
    comma, point, either = _earliest(found)
    if comma is not None and point is not None:
        first, later = sorted((comma, point), key=lambda cell: (cell.path, cell.line))
        in_file = "" if first.path == later.path else f" of {first.path}"
        raise InputFileError(
            f"{later.path}:{later.line}: column {later.column!r}: {later.text!r} and {first.text!r} in column "
            f"{first.column!r} (line {first.line}{in_file}) have different decimal marks: write them with one, name "
            "that of the file, as in ",
            setting("decimal", ","),
            ", or declare the column that holds no numbers as text (",
            _as_text(later.column),
            ")",
            column=later.column,
            row=later.row,
        )
    if comma is None and point is None and either is not None:
        mark = "." if "." in either.text else ","
        raise InputFileError(
            f"{either.path}:{either.line}: column {either.column!r}: {either.text!r} may be "
            f"{either.text.replace(mark, '')} or {either.text.replace(mark, '.')}, and no other number of the file "
            "tells which: say ",
            setting("thousands", mark),
            " or ",
            setting("decimal", mark),
            ", or declare the column as text (",
            _as_text(either.column),
            ")",
            column=either.column,
            row=either.row,
        )
    return Marks("," if comma is not None else ".", options.thousands or "")


def _ungrouped(cells: pl.Series, thousands: str) -> pl.Series:
    """Numbers without their thousands marks; other cells as they are."""
    if not thousands:
        return cells
    frame = pl.DataFrame({"cells": cells})
    return frame.select(_without_thousands(pl.col("cells"), thousands))["cells"]


def _without_thousands(bare: pl.Expr, thousands: str) -> pl.Expr:
    mark = f"[{SPACES}]" if thousands in SPACES else re.escape(thousands)
    grouped = rf"^[+-]?\d{{1,3}}({mark}\d{{3}})+([.,]\d*)?{_EXPONENT}$"
    return pl.when(bare.str.contains(grouped)).then(bare.str.replace_all(mark, "")).otherwise(bare)


# --- the cells, counted


_CELLS = ("other", "padded_cell", "zero_fraction_cell")  # of a tally; the first one is kept


@dataclass
class Tally:
    """Counts of the cells of one column; those of blocks add up."""

    # present, finite, infinite, whole, beyond, padded, boolean, dated: cells that are not missing; numbers; infinite
    # ones; whole ones; whole ones at or beyond 2^53; padded with zeros; ``true`` or ``false``; in the date format
    present: int = 0
    finite: int = 0
    infinite: int = 0
    whole: int = 0
    beyond: int = 0
    padded: int = 0
    boolean: int = 0
    dated: int = 0
    like: int = 0  # cells that are no numbers with the file's marks, but would be with others
    zero_fraction: int = 0  # cells such as 1010.0; counted in columns that may be text
    # shortest, longest: characters of a cell
    shortest: int = 2**62
    longest: int = 0
    # other, padded_cell, zero_fraction_cell: the first cell that is no number, that is padded, and that has a fraction
    # of zeros
    other: Cell | None = None
    padded_cell: Cell | None = None
    zero_fraction_cell: Cell | None = None

    def add(self, block: Tally) -> None:
        """Add the counts of a later block."""
        for each in fields(self):
            own, more = getattr(self, each.name), getattr(block, each.name)
            if each.name in ("shortest", "longest"):
                found = min(own, more) if each.name == "shortest" else max(own, more)
            else:
                found = (own or more) if each.name in _CELLS else own + more
            setattr(self, each.name, found)

    @property
    def numbers(self) -> int:
        """Cells that are numbers."""
        return self.finite + self.infinite

    @property
    def merges(self) -> bool:
        """Whether cells of text with a fraction of zeros are levels without one."""
        return self.zero_fraction > 0 and self.whole > 0

    @property
    def is_whole(self) -> bool:
        """Whether all cells are whole numbers."""
        return self.whole == self.present > 0


def tallies_of(text: TextColumns, declared: Mapping[str, CellType]) -> dict[str, Tally]:
    """Count the cells of every column."""
    # Polars reads some names ("*", "^a.*$") as patterns, so the columns go by their positions here.
    frame = pl.DataFrame({str(position): series for position, series in enumerate(text.frame)})
    marks, counts = text.marks or Marks(), list[pl.Expr]()
    for name in frame.columns:
        bare = _bare(name, marks)
        value = bare.cast(pl.Float64, strict=False)
        is_whole = bare.str.contains(WITHOUT_POINT)
        length = pl.col(name).str.strip_chars().str.len_bytes()
        counts += [
            pl.col(name).count().alias(f"{name}:present"),
            value.is_finite().sum().alias(f"{name}:finite"),
            (value.is_infinite() & bare.str.contains(_INFINITE)).sum().alias(f"{name}:infinite"),
            is_whole.sum().alias(f"{name}:whole"),
            ((value.abs() >= _LARGEST_EXACT) & is_whole).sum().alias(f"{name}:beyond"),
            bare.str.contains(PADDED).sum().alias(f"{name}:padded"),
            bare.str.to_lowercase().is_in(["true", "false"]).sum().alias(f"{name}:boolean"),
            length.min().fill_null(2**62).alias(f"{name}:shortest"),
            length.max().fill_null(0).alias(f"{name}:longest"),
        ]
    names = text.frame.columns  # a new list at every call
    tallies = {name: Tally() for name in names}
    for key, cells in frame.lazy().select(counts).collect().to_dict(as_series=False).items():
        position, _, what = key.partition(":")
        setattr(tallies[names[int(position)]], what, int(cells[0] or 0))
    for name, tally in tallies.items():
        if tally.numbers < tally.present:
            _look_closer(text, name, tally)
        if tally.numbers < tally.present or declared.get(name) == "text":
            has_zeros = _has(text.frame.get_column(name), ZERO_FRACTION)
            tally.zero_fraction = int(has_zeros.sum())
            tally.zero_fraction_cell = _first(text, name, has_zeros)
        if tally.padded:
            tally.padded_cell = _first(text, name, _has(text.frame.get_column(name).str.strip_chars(), PADDED))
        if text.options.date_format is not None:
            series = text.frame.get_column(name)
            tally.dated = int(series.is_in(list(_dates(series, text.options.date_format))).sum() or 0)
    return tallies


def _look_closer(text: TextColumns, name: str, tally: Tally) -> None:
    """Count the cells that would be numbers with other marks, and note the first cell that is no number."""
    cells = pl.DataFrame({"cells": text.frame.get_column(name)})
    found = cells.select(_bare("cells", text.marks or Marks()).alias("bare"), pl.col("cells").str.strip_chars())
    is_number = _are_numbers(found["bare"])
    others = found["cells"].filter(_has(found["cells"], r"^[+-]?[\d.,]") & ~is_number)
    is_like = [_has(others, pattern) for pattern in (_WITH_POINT, _WITH_COMMA, *_GROUPED)]
    tally.like = int(np.logical_or.reduce([mask.to_numpy() for mask in is_like]).sum())
    tally.other = _first(text, name, found["bare"].is_not_null() & ~is_number)


def _are_numbers(bare: pl.Series) -> pl.Series:
    """Which cells are numbers that float64 can hold, or infinite in words."""
    value = bare.cast(pl.Float64, strict=False)
    return (value.is_finite() | (value.is_infinite() & bare.str.contains(_INFINITE))).fill_null(value=False)


def _bare(name: str, marks: Marks) -> pl.Expr:
    """Cells without spaces around them, numbers as float64 is written."""
    bare = pl.col(name).str.strip_chars()
    if marks.thousands:
        bare = _without_thousands(bare, marks.thousands)
    if marks.decimal == ",":
        point = bare.str.contains(".", literal=True)
        bare = pl.when(point).then(pl.lit(_NO_NUMBER)).otherwise(bare.str.replace(",", ".", literal=True))
    return bare.alias(name)


# --- the type of a column


def _type_of(text: TextColumns, name: str, tally: Tally) -> _Decided:
    """The type that the cells of a column have."""
    present, numbers = tally.present, tally.numbers
    if present == 0:
        return "number"
    if tally.boolean == present:
        return "boolean"
    if tally.dated == present or (tally.dated >= MOSTLY_DATES * present and numbers < MOSTLY * present):
        return "date"
    are_whole = tally.finite == tally.whole
    if are_whole and are_codes(tally.padded, present):
        return "text"
    if numbers == present:
        if are_whole and tally.shortest == tally.longest and tally.padded > (1 - MOSTLY) * present:
            raise _perhaps_codes(text, name, tally)
        return "number" if tally.finite else "text"
    if numbers + tally.like >= MOSTLY * present and tally.other is not None and (tally.finite or tally.like):
        raise _nearly_numeric(text, tally.other, tally)
    return "text"


def _perhaps_codes(text: TextColumns, name: str, tally: Tally) -> InputFileError:
    """The error for whole numbers of equal length, some of them padded."""
    cell = tally.padded_cell or Cell("", name, 0, 0, text.path)
    return InputFileError(
        f"{cell.path}:{cell.line}: column {name!r}: {cell.text!r} is padded with zeros, as {tally.padded} of "
        f"{tally.present} cells are, and all have {tally.longest} characters: they may be codes or numbers: declare "
        "the column as text (",
        _as_text(name),
        ") or numeric (",
        _declared_as(name, "number"),
        ")",
        column=name,
        row=cell.row,
    )


def _nearly_numeric(text: TextColumns, cell: Cell, tally: Tally) -> InputFileError:
    """The error for a column of numbers with another cell."""
    why = _why_no_number(cell.text, text.marks or Marks())
    others = f", though {tally.numbers} of {tally.present} cells are" if tally.numbers else ""
    what: tuple[str | Phrase, ...] = why or (
        f"is not a number{others}: correct it, or declare it missing (", setting("missing_tokens", [cell.text]), ")"
    )  # fmt: skip
    return InputFileError(
        f"{cell.path}:{cell.line}: column {cell.column!r}: {cell.text!r} ",
        *what,
        ", or declare the column as text (",
        _as_text(cell.column),
        ")",
        column=cell.column,
        row=cell.row,
    )


def _why_no_number(cell: str, marks: Marks) -> tuple[str | Phrase, ...]:
    """Why a cell is no number with the file's marks, and what to do, if it is one with others; else nothing."""
    bare = cell.strip()
    if any(re.search(pattern, bare) for pattern in _GROUPED):
        mark = next(sign for sign in bare.lstrip("+-") if not sign.isdigit())
        if mark == marks.thousands:
            return ()
        return (
            "seems to hold thousands separators: remove them from the file, or name them with ",
            setting("thousands", "space" if mark in SPACES else mark),
        )
    other = {".": ",", ",": "."}[marks.decimal]
    if re.search(_WITH_COMMA if other == "," else _WITH_POINT, bare):
        here, there = ("comma", "point") if other == "," else ("point", "comma")
        return (
            f"has a decimal {here}, and the decimal mark of the file is a {there}: write it so, or name the mark with ",
            setting("decimal", other),
        )
    return ()


def _refuse_nearly_dates(text: TextColumns, series: pl.Series, present: int) -> None:
    """Refuse a column of dates with a cell that is not a date, instead of reading it as text."""
    if int(series.str.contains(_LIKE_A_DATE).sum() or 0) < MOSTLY_DATES * present:  # most columns end here
        return
    counts = series.drop_nulls().value_counts(name="times")
    odd = odd_texts(dict(zip(counts[series.name], counts["times"], strict=True)))
    if odd is None:
        return
    cell = _first(text, series.name, series.is_in(list(odd.texts)))
    if cell is None:
        return
    raise InputFileError(
        f"{cell.path}:{cell.line}: column {series.name!r}: {cell.text!r} {odd.fault_of(str(series[cell.row]))}: "
        "correct it, or declare it missing (",
        setting("missing_tokens", [cell.text]),
        "), or declare the column as text (",
        _as_text(series.name),
        ")",
        column=series.name,
        row=cell.row,
    )


# --- the cells of a column of known type


class ModelColumn(NamedTuple):
    """A column that is read for a model."""

    cells: CellType
    levels: tuple[Hashable, ...] = ()  # its levels, or the classes, if they are text
    is_date: bool = False  # whether the model has the column as dates

    @classmethod
    def of(cls, column: Column) -> ModelColumn:
        """The cells of a model's column at fit."""
        if column.family == "number":
            return cls("number")
        return cls("boolean" if column.family == "boolean" else "text", column.levels, column.family in DATES)


def as_fitted(text: TextColumns, model_columns: Mapping[str, ModelColumn]) -> pl.DataFrame:
    """Text columns as they were at fit."""
    typed: dict[str, pl.Series] = {}
    for name, (cells, levels, is_date) in model_columns.items():
        series = text.frame.get_column(name)
        if cells == "number":
            typed[name] = _numbers(text, name)
        elif cells == "boolean":
            typed[name] = _booleans(text, name)
        elif is_date and text.options.date_format is not None:
            typed[name] = _iso(series, text.options.date_format)
        else:
            typed[name] = _as_levels(series, levels)
    return pl.DataFrame(typed)


def _sound_numbers(text: TextColumns, names: Sequence[str], tallies: Mapping[str, Tally]) -> dict[str, pl.Series]:
    """The columns in which ``_numbers`` would refuse no cell, parsed together, for tables of many columns."""
    sound = [name for name in names if tallies[name].numbers == tallies[name].present and not tallies[name].beyond]
    numbers = []
    for position, name in enumerate(sound):
        bare = _bare(str(position), text.marks or Marks())
        numbers.append(bare.str.strip_prefix("+").cast(pl.Int64) if tallies[name].is_whole else bare.cast(pl.Float64))
    frame = pl.DataFrame({str(position): text.frame.get_column(name) for position, name in enumerate(sound)})
    found = frame.lazy().select(numbers).collect()
    return {name: series.alias(name) for name, series in zip(sound, found, strict=True)}


def _numbers(text: TextColumns, name: str, *, is_whole: bool | None = None) -> pl.Series:
    """Numbers of one column: Int64 if all are whole, else Float64. ``true`` and ``false`` are 1 and 0, as in tables."""
    marks = text.marks or Marks()
    bare = pl.DataFrame({"cells": text.frame.get_column(name)}).select(_bare("cells", marks))["cells"]
    is_truth = bare.str.to_lowercase().is_in(["true", "false"])
    if bare.null_count() < len(bare) and is_truth.drop_nulls().all():
        bare = (bare.str.to_lowercase() == "true").cast(pl.Int64).cast(pl.String)
    values = bare.cast(pl.Float64, strict=False)
    wrong = bare.is_not_null() & ~_are_numbers(bare)
    if wrong.any():
        raise _wrong_cell(text, name, wrong, "not a number")
    largest = values.abs().max()
    if isinstance(largest, float) and largest >= _LARGEST_EXACT:
        cell = _first(text, name, (values.abs() >= _LARGEST_EXACT) & bare.str.contains(WITHOUT_POINT))
        if cell is not None:
            leave_out = (
                ()
                if name in text.required
                else ("leave the column out if it is an identifier (", setting("leave_out", [name]), "), or ")
            )
            raise InputFileError(
                f"{cell.path}:{cell.line}: column {name!r}: {cell.text!r} is at or beyond 2^53, where float64 cannot "
                "distinguish integers: ",
                *leave_out,
                "read it as text (",
                _as_text(name),
                ")",
                column=name,
                row=cell.row,
            )
    if is_whole is None:
        is_whole = int(bare.str.contains(WITHOUT_POINT).sum() or 0) == len(bare) - bare.null_count() > 0
    return (bare.str.strip_prefix("+").cast(pl.Int64) if is_whole else values).alias(name)


def _booleans(text: TextColumns, name: str) -> pl.Series:
    """``true`` and ``false``, in any case, as booleans."""
    low = text.frame.get_column(name).str.strip_chars().str.to_lowercase()
    wrong = low.is_not_null() & ~low.is_in(["true", "false"])
    if wrong.any():
        raise _wrong_cell(text, name, wrong, "neither true nor false")
    return (low == "true").alias(name)


def _as_levels(series: pl.Series, levels: Sequence[Hashable]) -> pl.Series:
    """Cells in the spelling of a model's levels: a whole number with a fraction of zeros is the level without one."""
    if not series.str.contains(r"^-?[0-9]+([.,]0+)?$").any():  # names: most columns of text end here
        return series
    known = {level for level in levels if isinstance(level, str)}
    spelled = {without_zero_fraction(level): level for level in sorted(known, key=len, reverse=True)}
    changes = {
        text: spelled[short]
        for text in series.unique().drop_nulls().to_list()
        if text not in known and (short := without_zero_fraction(text)) in spelled
    }
    return series.replace(changes) if changes else series


def _iso(cells: pl.Series, form: str) -> pl.Series:
    """Dates of a format as ISO 8601, which ``data.dates`` reads; other cells as they are."""
    return cells.replace(_dates(cells, form))


def _dates(cells: pl.Series, form: str) -> dict[str, str]:
    """The different texts that are dates of the format, as ISO 8601.

    Python parses them and not polars, for which the 20 of 03.04.20 may be the year 20.
    """
    found: dict[str, str] = {}
    has_time = re.search(r"%[HIMScXfT]", form) is not None
    for text in cells.unique().drop_nulls().to_list():
        try:
            moment = dt.datetime.strptime(text.strip(), form)  # noqa: DTZ007 - the format may have a zone
        except ValueError:
            continue
        found[text] = moment.isoformat() if has_time else moment.date().isoformat()
    return found


def _wrong_cell(text: TextColumns, name: str, wrong: pl.Series, what: str) -> InputFileError:
    """The error for cells that are not of the declared type."""
    cell = _first(text, name, wrong) or Cell("", name, 0, 0, text.path)
    count = int(wrong.sum())
    more = f" ({count} such cells)" if count > 1 else ""
    why = _why_no_number(cell.text, text.marks or Marks()) if what == "not a number" else ()
    advice = (": it ", *why) if why else (
        ": correct it, or if it means missing, give ", setting("missing_tokens", [cell.text])
    )  # fmt: skip
    return InputFileError(
        f"{cell.path}:{cell.line}: column {name!r}: {cell.text!r} is {what}{more}",
        *advice,
        column=name,
        row=cell.row,
    )


def _as_text(name: str) -> Phrase:
    """The advice to read a column as text."""
    return _declared_as(name, "text")


def _declared_as(name: str, cells: CellType) -> Phrase:
    """The advice to declare a column, in Python by its kind."""
    kind = "nominal" if cells == "text" else "numeric"
    return Phrase(f"{kind}={[name]!r}", "setting", "declared", {name: cells})


def _has(cells: pl.Series, pattern: str) -> pl.Series:
    """Which cells match a pattern; a missing one does not."""
    return cells.str.contains(pattern).fill_null(value=False)


def _first(text: TextColumns, name: str, mask: pl.Series) -> Cell | None:
    """The cell of the first True; None if there is none."""
    mask = mask.fill_null(value=False)
    if not mask.any():
        return None
    return text.cell(name, int(mask.arg_max() or 0))
