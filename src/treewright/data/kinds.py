"""What kind a column is, and its cells as codes. In: ``Cells``, ``Declared``. Out: ``Column``, codes. Caller: encoder.

One column at a time; the rules that need the whole table (names, order, widths) are in ``encoder`` and ``matching``,
those about declarations in ``declarations``.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from treewright.data.categories import python_scalar
from treewright.data.cells import LARGEST_WHOLE, Cells, family_of_type, shown
from treewright.data.declarations import Declared
from treewright.data.matching import did_you_mean
from treewright.data.schema import Column
from treewright.data.spelling import folded
from treewright.exceptions import ColumnError, DataError, UnseenLevelError

NUMBER_TEXT = re.compile(r"\s*[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|infinity)\s*", re.IGNORECASE)
FEW = 5
# Beyond this many different numbers a column is a measurement: a test of their names costs memory with its square.
MAX_UNNAMED_LEVELS = 10_000


def column_of(name: Hashable, cells: Cells, declared: Declared, label: str) -> Column:
    """Settle the kind and levels of one column at fit.

    Raises
    ------
    DataError
        The cells are mixed and nothing was declared; a level is of a type that cannot be stored; under
        ``nominal="all"`` a column has more than 10,000 different numbers.
    """
    missing = cells.missing()
    missing_seen, family = bool(missing.any()), cells.family
    all_missing = bool(missing.all())
    if declared.kind in ("ordinal", "nominal") and declared.levels:
        found = "missing" if all_missing else family
        return Column(name, declared.kind, declared.levels, missing_seen, found, declared=True)
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
    levels = sorted_levels(stored_levels(cells.present(), label))
    if declared.unnamed and cells.is_number and len(levels) > MAX_UNNAMED_LEVELS:
        raise DataError(
            f"{label} holds {len(levels):,} different numbers, too many to be levels under nominal='all' "
            f"(at most {MAX_UNNAMED_LEVELS:,}): declare it numeric, numeric=[{shown(name)}], or cut it into classes"
        )
    return Column(name, "nominal", levels, missing_seen, "missing" if all_missing else family)


def stored_levels(levels: Iterable[Hashable], label: str) -> tuple[Hashable, ...]:
    """Levels as plain Python scalars.

    Raises
    ------
    DataError
        A level is of a type that a model file cannot hold.
    """
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
    """Raise the refusal of a column of mixed or unusual cells, naming the first cell that departs from the rest.

    Raises
    ------
    DataError
    """
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
        f"Make them one type, or declare the column nominal: nominal=[...]"
    )


def encode_cells(column: Column, cells: Cells, label: str, unseen: str) -> np.ndarray:
    """One column's cells as float64: numbers, or the codes of their levels; nan = missing.

    Parameters
    ----------
    column : Column
    cells : Cells
    label : str
    unseen : {"missing", "error", "majority"}

    Returns
    -------
    float64[n]

    Raises
    ------
    ColumnError
        The column changed family since fit.
    UnseenLevelError
        A level is unknown, under "error".
    DataError
        Text in a numeric column does not read as a number; text is another spelling of two declared levels.
    """
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
    """Find the declared level that a text spells otherwise: other case, outer white space or Unicode form.

    Parameters
    ----------
    column : Column, declared
    codes : int[n]
    distinct : sequence of d values
    found : float64[d + 1]
        The level of every distinct value, ``len(column.levels)`` where there is none; filled in.
    label : str

    Raises
    ------
    DataError
        A text that a cell holds is another spelling of two levels.
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
                f"{second}, in {len(rows)} cell(s): spell the cells as the level that is meant, or declare one of them"
            )
        if spelled:
            found[code] = spelled[0]


def check_family(column: Column, cells: Cells, label: str) -> None:
    """Refuse a column that was numbers at fit and is text now, or the other way round.

    Raises
    ------
    ColumnError
    """
    now, then = cells.family, column.family
    if now == then or "missing" in (now, then) or then == "object" or {now, then} == {"number", "boolean"}:
        return
    if (column.kind == "numeric" and then == "string" and now == "number") or bool(cells.missing().all()):
        return
    row = int(np.argmin(cells.missing()))
    held = cells.values[row].item() if cells.is_number else cells.distinct[cells.values[row]]
    raise ColumnError(
        f"{label} held {then} cells at fit and holds {now} cells now "
        f"(row {row}: {shown(held)}): convert it to what it was at fit"
    )


def numbers_of(column: Column, cells: Cells, label: str) -> np.ndarray:
    """The cells of a numeric column as float64, parsing text where the column was declared numeric.

    Raises
    ------
    DataError
        A text is not a number, is beyond float64, or is an integer beyond 2**53.
    """
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
                f"({int(bad.sum())} such cell(s)), and the column is numeric: mend the cell, make it missing, "
                f"or declare the column nominal"
            )
        parsed[code] = np.nan if number is None else number
    numbers: np.ndarray = parsed[codes]
    return numbers


def parse_number(value: Any) -> float | None:
    """A number, or text that spells one, as float; None where it does not, or float64 cannot hold it."""
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
    """Raise the refusal of levels that the column does not have.

    Raises
    ------
    UnseenLevelError
    """
    levels = [distinct[code] for code in np.unique(codes[unknown]).tolist()]
    row = int(np.argmax(unknown))
    told = ", ".join(shown(level) for level in sorted_levels(levels)[:FEW])
    more = f" and {len(levels) - FEW} more" if len(levels) > FEW else ""
    if column.declared:
        first = distinct[codes[row]]
        raise UnseenLevelError(
            f"{label}: {len(levels)} unseen level(s): {told}{more}, in {int(unknown.sum())} cell(s), first row {row}: "
            f"{shown(first)}{did_you_mean(first, column.levels)}; {len(column.levels)} levels are declared. "
            f"Hint: mend the cells, or declare the level too"
        )
    raise UnseenLevelError(
        f"{label}: {len(levels)} unseen level(s): {told}{more}, in {int(unknown.sum())} cell(s), first row {row}; "
        f'the column has {len(column.levels)} levels. Hint: mend the cells, use unseen="missing", '
        f"or list all levels at fit"
    )
