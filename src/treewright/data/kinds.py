"""The kind of a column, declared or inferred from its cells; and its cells as codes.

Declarations are resolved for the whole table, then columns one at a time. The rules that need the whole table (names,
order, widths) are in ``encoder`` and ``schema``.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from treewright.data.categories import python_scalar
from treewright.data.cells import LARGEST_WHOLE, Cells, family_of_type, is_missing, shown
from treewright.data.dates import DATES, OddTexts, odd_texts, read_texts, written_days
from treewright.data.schema import Column, Kind, did_you_mean, folded
from treewright.data.table import check_unique
from treewright.exceptions import ColumnError, DataError, ParameterError, Phrase, UnseenLevelError, setting

Nominal = Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str
ALL = "all"
NUMBER_TEXT = re.compile(r"\s*[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|infinity)\s*", re.IGNORECASE)
FEW = 5
# Beyond this many different numbers a column is a measurement: memory for subset tests grows with their square.
MAX_UNNAMED_LEVELS = 10_000


@dataclass(frozen=True, slots=True)
class Declared:
    """What the user declared about one column."""

    kind: Kind | None  # None: nothing was declared
    levels: tuple[Hashable, ...] = ()  # in the declared order; empty if they are read from the data
    unnamed: bool = False  # the column was meant by ``nominal="all"``, not by its name


def resolve(
    names: Sequence[Hashable],
    nominal: Nominal | None,
    ordinal: Mapping[Hashable, Sequence[Hashable]] | None,
    numeric: Sequence[Hashable] | None,
) -> dict[int, Declared]:
    """Declarations by column position.

    ``nominal="all"`` means the column of that name, if there is one; else every column that is not declared otherwise.
    """
    positions = {name: at for at, name in enumerate(names)}
    if len(positions) != len(names):
        check_unique(names)
    if ordinal is not None and not isinstance(ordinal, Mapping):
        raise ParameterError("ordinal must map a column to its levels, lowest first, such as {'size': ['S', 'M', 'L']}")
    every = isinstance(nominal, str) and nominal == ALL and ALL not in positions
    declared: dict[int, Declared] = {}
    kinds: tuple[tuple[Kind, Any], ...] = (
        ("nominal", None if every else nominal),
        ("ordinal", ordinal),
        ("numeric", numeric),
    )
    for kind, entries in kinds:
        for entry in listed_columns(kind, entries):
            at = position_of(entry, positions, kind)
            if at in declared:
                raise ParameterError(f"column {shown(names[at])} is declared {declared[at].kind} and {kind}: keep one")
            given = entries[entry] if isinstance(entries, Mapping) else None
            declared[at] = Declared(kind, _checked_levels(kind, entry, given))
    if every:
        rest = {at: Declared("nominal", unnamed=True) for at in range(len(names)) if at not in declared}
        declared |= rest
    return declared


def listed_columns(kind: str, entries: Any) -> list[Hashable]:
    """The entries of a declaration; a single name counts as a list of one."""
    if entries is None:
        return []
    if isinstance(entries, str):
        return [entries]
    if not isinstance(entries, Iterable):
        mapping = ", or a mapping from these to their levels" if kind == "nominal" else ""
        raise ParameterError(f"{kind} must be a list of column names or positions{mapping}, not {shown(entries)}")
    try:
        return list(dict.fromkeys(entry.item() if isinstance(entry, np.generic) else entry for entry in entries))
    except TypeError:  # an entry that cannot be hashed, or an array without dimensions
        raise ParameterError(f"{kind} must hold column names or positions, not {shown(entries)}") from None


def position_of(entry: Hashable, positions: Mapping[Hashable, int], kind: str) -> int:
    """The column that a declaration means: a name first, else a position (negative counts from the end)."""
    if entry in positions and not isinstance(entry, bool):
        return positions[entry]
    if isinstance(entry, int) and not isinstance(entry, bool) and -len(positions) <= entry < len(positions):
        return entry % len(positions)
    raise ColumnError(
        f"{kind} names a column that the table does not have: {shown(entry)}{did_you_mean(entry, positions)}; "
        f"it has {len(positions)} columns"
    )


def _checked_levels(kind: Kind, name: Hashable, levels: Any) -> tuple[Hashable, ...]:
    """The levels that were declared for one column, as plain Python scalars; empty if they are read from the data."""
    if kind == "numeric" or (kind == "nominal" and levels is None):
        return ()
    what = f"{kind}[{shown(name)}]"
    order = ", lowest first" if kind == "ordinal" else ""
    # A set has no order that two runs share, and an iterator is empty at a second fit.
    wrong = isinstance(levels, str | bytes | Mapping | set | frozenset | Iterator) or not isinstance(levels, Iterable)
    if wrong or (isinstance(levels, np.ndarray) and levels.ndim != 1):
        raise ParameterError(f"{what} must be a list of levels{order}, not {shown(levels)}")
    try:
        given = tuple(python_scalar(level) for level in levels)
    except DataError as error:
        raise ParameterError(f"{what}: {error}") from None
    if (not given and kind == "ordinal") or any(is_missing(level) for level in given):
        raise ParameterError(f"{what} must list at least one level, and no missing value")
    twice = [level for level, count in Counter(given).items() if count > 1]
    if twice:
        raise ParameterError(f"{what} lists {shown(twice[0])} more than once")
    return given


def column_of(name: Hashable, cells: Cells, declared: Declared, label: str) -> Column:
    """Determine the kind and levels of one column at fit."""
    if declared.kind in (None, "numeric"):
        cells = dates_of_text(cells)
        refuse_nearly_dates(name, cells, label)
    missing = cells.missing()
    missing_seen, family = bool(missing.any()), cells.family
    all_missing = bool(missing.all())
    if declared.kind in ("ordinal", "nominal") and declared.levels:
        found = "missing" if all_missing else family
        return Column(name, declared.kind, declared.levels, missing_seen, found, declared=True)
    if family in DATES and declared.kind in (None, "numeric") and not cells.category:
        days = cells.values[~missing]
        is_date = family == "datetime" and not cells.zone and bool((days == np.floor(days)).all())
        return Column(name, "numeric", (), missing_seen, "date" if is_date else family, zone=cells.zone)
    if declared.kind == "numeric":
        return Column(name, "numeric", (), missing_seen, "missing" if all_missing else family)
    if declared.kind is None:
        if cells.ordered:
            return Column(name, "ordinal", stored_levels(cells.distinct, label), missing_seen, family)
        if all_missing or (cells.is_number and not cells.category):
            return Column(name, "numeric", (), missing_seen, "missing" if all_missing else family)
        if family == "object" and not cells.category:
            refuse_mixed(cells, label)
        if family == "boolean":
            return Column(name, "nominal", (False, True), missing_seen, family)
    if family in DATES:
        family = "string"  # declared levels: as text
    levels = sorted_levels(stored_levels(cells.present(), label))
    if declared.unnamed and cells.is_number and len(levels) > MAX_UNNAMED_LEVELS:
        raise DataError(
            f"{label} holds {len(levels):,} different numbers, too many to be levels under nominal='all' "
            f"(at most {MAX_UNNAMED_LEVELS:,}): declare it numeric, numeric=[{shown(name)}], or group the numbers"
        )
    return Column(name, "nominal", levels, missing_seen, "missing" if all_missing else family)


def dates_of_text(cells: Cells) -> Cells:
    """Text as dates or instants, times of day or durations if every value is one; other cells as they are."""
    if cells.family != "string" or cells.category:
        return cells
    distinct = cells.present()
    read = read_texts(distinct) if distinct and read_texts(distinct[:1]) is not None else None
    if read is None:
        return cells
    family, read_days, zone = read
    known = dict(zip(distinct, read_days.tolist(), strict=True))
    days = np.array([known.get(text, np.nan) for text in cells.distinct] + [np.nan])
    return Cells(family, days[cells.values], zone=zone)


def refuse_nearly_dates(name: Hashable, cells: Cells, label: str) -> None:
    """Refuse a column of text of which nearly all cells are dates; the message names the first that is not."""
    if cells.family != "string" or cells.category:
        return
    found = first_odd(cells)
    if found is not None:
        row, odd = found
        raise DataError(
            f"{label} row {row}: {shown(text_at(cells, row))} {odd.fault_of(text_at(cells, row))}: fix the cell, make "
            "it missing, or declare the column nominal (",
            setting("nominal", [name]),
            ")",
            column=name,
            row=row,
        )


def first_odd(cells: Cells) -> tuple[int, OddTexts] | None:
    """The first row whose text is not a date though nearly all are, and the result of ``dates.odd_texts``."""
    held = np.bincount(cells.values[cells.values >= 0], minlength=len(cells.distinct))
    counts = {str(text): n for text, n in zip(cells.distinct, held.tolist(), strict=True) if n}
    odd = odd_texts(counts)
    if odd is None:
        return None
    is_odd = np.array([str(text) in odd.texts for text in cells.distinct] + [False])
    return int(np.argmax(is_odd[cells.values])), odd


def text_at(cells: Cells, row: int) -> str:
    """The text of a row."""
    return str(cells.distinct[cells.values[row]])


def dates_as_fitted(column: Column, cells: Cells, label: str) -> Cells:
    """The cells of a column of dates; ColumnError if they are not dates, or if a time zone is on one side only."""
    if cells.family == "string":
        cells = dates_of_text(replace(cells, category=False))
    if bool(cells.missing().all()):
        return Cells("missing", np.full(len(cells.values), np.nan))
    sort = "datetime" if column.family == "date" else column.family
    now = "datetime" if cells.family == "date" else cells.family
    row = int(np.argmin(cells.missing()))
    if now != sort:
        expected = f"{column.family} cells" + (" such as 2021-03-05" if sort == "datetime" else "")
        why = ""
        if cells.family == "string":
            if (found := first_odd(cells)) is not None:
                row, why = found[0], f" {found[1].fault_of(text_at(cells, found[0]))}"
            else:
                bad = np.array([read_texts([text]) is None for text in cells.distinct] + [False])[cells.values]
                row = int(np.argmax(bad)) if bad.any() else row
        raise ColumnError(
            f"{label} held {expected} at fit and holds {cells.family} cells now (row {row}: {_cell_shown(cells, row)}"
            f"{why}): convert it to what it was at fit",
            row=row,
        )
    if bool(column.zone) != bool(cells.zone):
        then, here = (
            f"in the time zone {zone}" if zone else "without a time zone" for zone in (column.zone, cells.zone)
        )
        raise ColumnError(
            f"{label} held instants {then} at fit and holds instants {here} now: give both a time zone, or neither"
        )
    # In a column of whole days an instant counts as its day, so that what is shown is what decides.
    return replace(cells, values=np.floor(cells.values)) if column.family == "date" else cells


def stored_levels(levels: Iterable[Hashable], label: str) -> tuple[Hashable, ...]:
    """Levels as plain Python scalars."""
    try:
        return tuple(python_scalar(level) for level in levels)
    except DataError as error:
        raise DataError(f"{label}: {error}") from None


def sorted_levels(levels: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Levels in their own order; of mixed types by (type name, value), numbers and booleans together."""

    def rank(level: Hashable) -> str:
        family = family_of_type(type(level))
        return "number" if family in ("number", "boolean") else type(level).__name__

    groups: dict[str, list[Any]] = {}
    for level in levels:
        groups.setdefault(rank(level), []).append(level)
    ordered: list[Hashable] = []
    for group in sorted(groups):
        try:
            ordered += sorted(groups[group])
        except TypeError:  # tuples of mixed content
            ordered += sorted(groups[group], key=repr)
    return tuple(ordered)


def refuse_mixed(cells: Cells, label: str) -> NoReturn:
    """Refuse a column of mixed or unusual cells; the message names the first cell that differs from the rest."""
    families = [family_of_type(type(value)) for value in cells.distinct]
    rows = np.bincount(cells.values[cells.values >= 0], minlength=len(families))
    counts: Counter[str] = Counter()
    for family, count in zip(families, rows.tolist(), strict=True):
        counts[family] += count
    usual = counts.most_common(1)[0][0]
    plain = usual in ("number", "string", "boolean")
    odd = np.array([family != usual or not plain for family in families])
    row = int(np.argmax(odd[cells.values] & (cells.values >= 0)))
    value = cells.distinct[cells.values[row]]
    held = ", ".join(f"{count} {family}" for family, count in counts.most_common())
    raise DataError(
        f"{label} row {row}: {shown(value)} ({type(value).__name__}); the column holds {held} cell(s). "
        "Make them one type, or declare the column nominal: ",
        Phrase("nominal=[...]", "setting", "nominal", "..."),
        row=row,
    )


def encode_cells(column: Column, cells: Cells, label: str, unseen: str) -> np.ndarray:
    """One column's cells as float64[n]: numbers, or the codes of their levels; nan = missing."""
    if column.kind == "numeric" and column.family in DATES:
        return dates_as_fitted(column, cells, label).values
    if cells.family in DATES and column.kind != "numeric":
        cells = Cells("string", *cells.coded(), category=True)
    check_family(column, cells, label)
    if column.kind == "numeric":
        return numbers_of(column, cells, label)
    codes, distinct = cells.coded()
    lost = len(column.levels)
    known = column.codes
    found = np.array([known.get(level, lost) for level in distinct] + [np.nan], np.float64)
    result: np.ndarray = found[codes]  # code -1, missing, reads the nan at the end
    unknown = result == lost
    if column.declared and unknown.any():
        _respell(column, codes, distinct, found, label)
        result = found[codes]
        unknown = result == lost
    if unseen != "majority" or column.kind == "ordinal":
        if unseen == "error" and unknown.any():
            refuse_unseen(column, codes, distinct, unknown, label)
        result[unknown] = np.nan
    return result


def _respell(column: Column, codes: np.ndarray, distinct: Sequence[Hashable], found: np.ndarray, label: str) -> None:
    """Find the declared levels of texts that differ from them in case, outer white space or Unicode form.

    ``found`` float64[d + 1] is filled in: the level of every distinct value, ``len(column.levels)`` if there is none.
    """
    held = np.unique(codes[codes >= 0])
    for code in held[found[held] == len(column.levels)].tolist():
        text = distinct[code]
        spelled = column.spellings.get(folded(text), ()) if isinstance(text, str) else ()
        if len(spelled) > 1:
            rows = np.flatnonzero(codes == code)
            levels = [str(column.levels[at]) for at in spelled]
            # Levels that look the same in print differ in their Unicode form.
            look_same = len({unicodedata.normalize("NFC", level) for level in levels}) < len(levels)
            first, second = (ascii(level) if look_same else shown(level) for level in levels[:2])
            raise DataError(
                f"{label} row {int(rows[0])}: {shown(text)} is another spelling of two declared levels, {first} and "
                f"{second}, in {len(rows)} cell(s): write them as the level that is meant, or declare only one level"
            )
        if spelled:
            found[code] = spelled[0]


def check_family(column: Column, cells: Cells, label: str) -> None:
    """Refuse a column that held numbers at fit and holds text now, or the other way round."""
    now, then = cells.family, column.family
    if now == then or "missing" in (now, then) or then == "object" or {now, then} == {"number", "boolean"}:
        return
    if (column.kind == "numeric" and then == "string" and now == "number") or bool(cells.missing().all()):
        return
    row = int(np.argmin(cells.missing()))
    raise ColumnError(
        f"{label} held {then} cells at fit and holds {now} cells now "
        f"(row {row}: {_cell_shown(cells, row)}): convert it to what it was at fit"
    )


def _cell_shown(cells: Cells, row: int) -> str:
    """A cell for a message, dates as they are written."""
    if cells.family in DATES:
        return written_days(cells.values[row].item(), cells.family, cells.zone)
    return shown(cells.values[row].item() if cells.is_number else cells.distinct[cells.values[row]])


def numbers_of(column: Column, cells: Cells, label: str) -> np.ndarray:
    """The cells of a numeric column as float64, parsing text where the column was declared numeric."""
    if cells.is_number:
        return cells.values
    if column.family == "missing":  # never used by any test: there was no value at fit
        return np.full(len(cells.values), np.nan)
    codes, distinct = cells.values, cells.distinct
    parsed = np.full(len(distinct) + 1, np.nan)
    for code, value in enumerate(distinct):
        number = parse_number(value)
        if number is None and bool((codes == code).any()):
            bad = np.array([parse_number(other) is None for other in distinct] + [False])[codes]
            row = int(np.argmax(bad))
            raise DataError(
                f"{label} row {row}: {shown(distinct[codes[row]])} is not a number that float64 can hold "
                f"({int(bad.sum())} such cell(s)), and the column is numeric: fix the cell, make it missing, "
                f"or declare the column nominal"
            )
        parsed[code] = np.nan if number is None else number
    numbers: np.ndarray = parsed[codes]
    return numbers


def parse_number(value: Any) -> float | None:
    """A number, or text that spells one, as float; None if it does not, or if float64 cannot hold it."""
    if isinstance(value, str):
        if NUMBER_TEXT.fullmatch(value) is None:
            return None
        text = value.strip()
        number = float(text)
        if number in (np.inf, -np.inf) and any(digit.isdigit() for digit in text):
            return None
        digits = text.lstrip("+-")
        return None if digits.isdigit() and abs(number) >= LARGEST_WHOLE and int(digits) > LARGEST_WHOLE else number
    if family_of_type(type(value)) in ("number", "boolean"):
        return float(value)
    return None


def refuse_unseen(
    column: Column, codes: np.ndarray, distinct: Sequence[Hashable], unknown: np.ndarray, label: str
) -> None:
    """Refuse levels that the column does not have."""
    levels = [distinct[code] for code in np.unique(codes[unknown]).tolist()]
    row = int(np.argmax(unknown))
    some = ", ".join(shown(level) for level in sorted_levels(levels)[:FEW])
    more = f" and {len(levels) - FEW} more" if len(levels) > FEW else ""
    if column.declared:
        first = distinct[codes[row]]
        raise UnseenLevelError(
            f"{label}: {len(levels)} unseen level(s): {some}{more}, in {int(unknown.sum())} cell(s), first row {row}: "
            f"{shown(first)}{did_you_mean(first, column.levels)}; {len(column.levels)} levels are declared. "
            "Hint: fix the cells, or declare the level too",
            row=row,
        )
    raise UnseenLevelError(
        f"{label}: {len(levels)} unseen level(s): {some}{more}, in {int(unknown.sum())} cell(s), first row {row}; "
        f'the column has {len(column.levels)} levels. Hint: fix the cells, use unseen="missing", '
        f"or list all levels at fit"
    )
