"""What kind a column is, and its cells as codes. In: ``Cells``, declarations. Out: ``Column``, codes. Caller: encoder.

One column at a time; the rules that need the whole table (names, order, widths) are in ``encoder`` and ``matching``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from treewright.data.categories import python_scalar
from treewright.data.cells import LARGEST_WHOLE, Cells, family_of_type, is_missing, shown
from treewright.data.matching import did_you_mean
from treewright.data.schema import Column, Kind
from treewright.exceptions import ColumnError, DataError, ParameterError, UnseenLevelError

NUMBER_TEXT = re.compile(r"\s*[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|infinity)\s*", re.IGNORECASE)
FEW = 5


@dataclass(frozen=True, slots=True)
class Declared:
    """What the user said about one column: its kind (None = nothing) and, for an ordinal one, its levels."""

    kind: Kind | None
    levels: tuple[Hashable, ...] = ()


def resolve(
    names: Sequence[Hashable],
    nominal: Sequence[Hashable] | None,
    ordinal: Mapping[Hashable, Sequence[Hashable]] | None,
    numeric: Sequence[Hashable] | None,
) -> dict[int, Declared]:
    """Declarations by column position.

    Raises
    ------
    ColumnError
        A declared column does not exist.
    ParameterError
        A column is declared twice; a declaration is not a list or mapping; ordinal levels repeat or are missing.
    """
    positions = {name: at for at, name in enumerate(names)}
    if len(positions) != len(names):
        from treewright.data.table import check_unique

        check_unique(names)
    if ordinal is not None and not isinstance(ordinal, Mapping):
        raise ParameterError("ordinal must map a column to its levels, lowest first, such as {'size': ['S', 'M', 'L']}")
    declared: dict[int, Declared] = {}
    for kind, entries in (("nominal", nominal), ("ordinal", ordinal), ("numeric", numeric)):
        for entry in listed(kind, entries):
            at = position_of(entry, positions, kind)
            if at in declared:
                raise ParameterError(f"column {shown(names[at])} is declared {declared[at].kind} and {kind}")
            levels = ordinal_levels(entry, ordinal[entry]) if kind == "ordinal" and ordinal is not None else ()
            declared[at] = Declared(kind, levels)  # type: ignore[arg-type] # the three words of the loop
    return declared


def listed(kind: str, entries: Any) -> list[Hashable]:
    """The entries of a declaration; a single name counts as a list of one."""
    if entries is None:
        return []
    if isinstance(entries, str):
        return [entries]
    if not isinstance(entries, Iterable):
        raise ParameterError(f"{kind} must be a list of column names or positions, not {shown(entries)}")
    return list(dict.fromkeys(entry.item() if isinstance(entry, np.generic) else entry for entry in entries))


def position_of(entry: Hashable, positions: Mapping[Hashable, int], kind: str) -> int:
    """The column that a declaration means: a name first, else a position (negative counts from the end).

    Raises
    ------
    ColumnError
    """
    if entry in positions and not isinstance(entry, bool):
        return positions[entry]
    if isinstance(entry, int) and not isinstance(entry, bool) and -len(positions) <= entry < len(positions):
        return entry % len(positions)
    raise ColumnError(
        f"{kind} names a column that the table does not have: {shown(entry)}{did_you_mean(entry, positions)}; "
        f"it has {len(positions)} columns"
    )


def ordinal_levels(name: Hashable, levels: Any) -> tuple[Hashable, ...]:
    """Check the declared levels of an ordinal column.

    Raises
    ------
    ParameterError
        Not a sequence, empty, repeated, missing, or of a type that cannot be stored.
    """
    if isinstance(levels, str | bytes | Mapping) or not isinstance(levels, Iterable):
        raise ParameterError(f"ordinal[{shown(name)}] must be a list of levels, lowest first, not {shown(levels)}")
    try:
        given = tuple(python_scalar(level) for level in levels)
    except DataError as error:
        raise ParameterError(f"ordinal[{shown(name)}]: {error}") from None
    if not given or any(is_missing(level) for level in given):
        raise ParameterError(f"ordinal[{shown(name)}] must list at least one level, and no missing value")
    twice = [level for level, count in Counter(given).items() if count > 1]
    if twice:
        raise ParameterError(f"ordinal[{shown(name)}] lists {shown(twice[0])} more than once")
    return given


def column_of(name: Hashable, cells: Cells, declared: Declared, label: str) -> Column:
    """Settle the kind and levels of one column at fit.

    Raises
    ------
    DataError
        The cells are mixed and nothing was declared, or a level is of a type that cannot be stored.
    """
    missing = cells.missing()
    missing_seen, family = bool(missing.any()), cells.family
    all_missing = bool(missing.all())
    if declared.kind == "ordinal":
        return Column(name, "ordinal", declared.levels, missing_seen, "missing" if all_missing else family)
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
        Text in a numeric column does not read as a number.
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
    if unseen != "majority" or column.kind == "ordinal":
        if unseen == "error" and unknown.any():
            refuse_unseen(column, codes, distinct, unknown, label)
        result[unknown] = np.nan
    return result


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
    raise UnseenLevelError(
        f"{label}: {len(levels)} unseen level(s): {told}{more}, in {int(unknown.sum())} cell(s), first row {row}; "
        f'the column has {len(column.levels)} levels. Hint: mend the cells, use unseen="missing", '
        f"or list all levels at fit"
    )
