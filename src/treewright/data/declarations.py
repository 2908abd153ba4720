"""What the user said about the columns. In: the three declarations. Out: ``Declared`` by position. Caller: encoder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.data.categories import python_scalar
from treewright.data.cells import is_missing, shown
from treewright.data.matching import did_you_mean
from treewright.data.schema import Kind
from treewright.data.table import check_unique
from treewright.exceptions import ColumnError, DataError, ParameterError

Nominal = Sequence[Hashable] | Mapping[Hashable, Sequence[Hashable] | None] | str
ALL = "all"


@dataclass(frozen=True, slots=True)
class Declared:
    """What the user said about one column.

    Attributes
    ----------
    kind : {"numeric", "ordinal", "nominal"} or None
        None: nothing was said.
    levels : tuple
        In the declared order; empty where the data decide.
    unnamed : bool
        The column was meant by ``nominal="all"``, not by its name.
    """

    kind: Kind | None
    levels: tuple[Hashable, ...] = ()
    unnamed: bool = False


def resolve(
    names: Sequence[Hashable],
    nominal: Nominal | None,
    ordinal: Mapping[Hashable, Sequence[Hashable]] | None,
    numeric: Sequence[Hashable] | None,
) -> dict[int, Declared]:
    """Declarations by column position.

    Parameters
    ----------
    names : sequence of p column names
    nominal : sequence of names or positions, mapping from these to levels (or to None), or "all"
        "all" means the column of that name, where there is one; else every column that is not declared otherwise.
    ordinal : mapping from name or position to levels, lowest first
    numeric : sequence of names or positions

    Raises
    ------
    ColumnError
        A declared column does not exist.
    ParameterError
        A column is declared twice; a declaration is not a list or mapping; levels repeat or are missing.
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
        for entry in _listed(kind, entries):
            at = _position_of(entry, positions, kind)
            if at in declared:
                raise ParameterError(f"column {shown(names[at])} is declared {declared[at].kind} and {kind}: keep one")
            given = entries[entry] if isinstance(entries, Mapping) else None
            declared[at] = Declared(kind, _checked_levels(kind, entry, given))
    if every:
        rest = {at: Declared("nominal", unnamed=True) for at in range(len(names)) if at not in declared}
        declared |= rest
    return declared


def _listed(kind: str, entries: Any) -> list[Hashable]:
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


def _position_of(entry: Hashable, positions: Mapping[Hashable, int], kind: str) -> int:
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


def _checked_levels(kind: Kind, name: Hashable, levels: Any) -> tuple[Hashable, ...]:
    """The levels that were declared for one column, as plain Python scalars; empty where the data decide.

    Raises
    ------
    ParameterError
        Not a list, empty (ordinal), repeated, missing, or of a type that cannot be stored.
    """
    if kind == "numeric" or (kind == "nominal" and levels is None):
        return ()
    what = f"{kind}[{shown(name)}]"
    order = ", lowest first" if kind == "ordinal" else ""
    # A set has no order that two runs share, and an iterator is empty when a second fit asks for it.
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
