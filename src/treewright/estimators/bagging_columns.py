"""Which columns of a table a member gets, by name where there are names. In: a table. Out: ``BagColumns``.

Callers: bagging. What a base estimator was told about columns (which are nominal, which may only rise) is told again
for the columns that a member has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.data.declarations import Declared, resolve
from treewright.data.matching import match_columns
from treewright.data.schema import Column, Schema
from treewright.data.table import Table
from treewright.data.take import header_of, take_columns

_ASKED = ("nominal", "ordinal", "numeric", "monotonic_cst")


@dataclass(frozen=True)
class BagColumns:
    """The columns of a fit.

    Attributes
    ----------
    schema : Schema
        Their names, or that they have none; kinds are not known here.
    """

    schema: Schema

    @classmethod
    def of(cls, X: Any) -> BagColumns:
        """The columns of a table.

        Raises
        ------
        DataError
            It is no table, or has no columns.
        ColumnError
            Two columns have the same name.
        """
        names, width = header_of(X)
        known = tuple(f"x{at}" for at in range(width)) if names is None else names
        return cls(Schema(tuple(Column(name, "numeric") for name in known), names is not None))

    def __len__(self) -> int:
        return len(self.schema)

    def is_every(self, columns: np.ndarray) -> bool:
        """Whether a member has all columns, each once."""
        return len(columns) == len(self) and bool((columns == np.arange(len(self))).all())

    def names_of(self, columns: np.ndarray) -> list[Hashable]:
        """Names of a member's columns; a column that it has twice has a second name, ``"age (2)"``.

        Parameters
        ----------
        columns : int64[k]
        """
        taken = set(self.schema.names)
        times: Counter[int] = Counter()
        names: list[Hashable] = []
        for at in columns.tolist():
            times[at] += 1
            name, number = self.schema.names[at], times[at]
            if number > 1:
                while f"{name} ({number})" in taken:
                    number += 1
                name = f"{name} ({number})"
                taken.add(name)
            names.append(name)
        return names

    def part_of(self, X: Any, columns: np.ndarray, where: list[int] | None = None) -> Any:
        """A member's columns of a table.

        Parameters
        ----------
        X : table
        columns : int64[k]
            Positions at fit.
        where : list of int, optional
            The position in X of each column of the fit (``positions_in``); by default the same.
        """
        if where is None and self.is_every(columns):
            return X
        positions = columns if where is None else np.array(where, np.int64)[columns]
        is_named = self.schema.named and header_of(X)[0] is not None
        return take_columns(X, positions, self.names_of(columns) if is_named else None)

    def positions_in(self, X: Any, owner: str) -> list[int]:
        """Where the columns of the fit stand in another table.

        Raises
        ------
        ColumnError
            A column is missing, or there are more or fewer where there are no names.

        Warns
        -----
        DataWarning
            Columns that the fit did not see; names on one side only.
        """
        names, width = header_of(X)
        return match_columns(self.schema, Table(names, 0, width), owner)

    def told_again(self, parameters: Mapping[str, Any], columns: np.ndarray) -> dict[str, Any]:
        """What a base estimator was told about columns, for those of a member.

        Parameters
        ----------
        parameters : mapping
            ``get_params(deep=True)`` of the base.
        columns : int64[k]

        Returns
        -------
        dict
            Parameters to set.

        Raises
        ------
        ColumnError
            A declared column does not exist.
        ParameterError
            A column is declared twice.

        Examples
        --------
        >>> columns = BagColumns.of({"age": [1], "city": ["Oslo"], "size": ["S"]})
        >>> told = {"nominal": ["city"], "ordinal": {"size": ["S", "M"]}, "numeric": None}
        >>> columns.told_again(told, np.array([0, 2]))
        {'nominal': {}, 'ordinal': {'size': ['S', 'M']}, 'numeric': []}
        """
        if self.is_every(columns):
            return {}
        told: dict[str, Any] = {}
        for name in parameters:
            prefix, _, last = name.rpartition("__")
            if last == "nominal":
                start = f"{prefix}__" if prefix else ""
                given = {word: parameters.get(start + word) for word in _ASKED}
                told |= {start + word: value for word, value in self._declarations(given, columns).items()}
        return told

    def _declarations(self, given: Mapping[str, Any], columns: np.ndarray) -> dict[str, Any]:
        """Declarations of one estimator, for a member's columns."""
        told: dict[str, Any] = {}
        keys = self.names_of(columns) if self.schema.named else list(range(len(columns)))
        pairs = list(zip(keys, columns.tolist(), strict=True))
        if any(given[word] is not None for word in _ASKED[:3]):
            declared = resolve(self.schema.names, given["nominal"], given["ordinal"], given["numeric"])
            mine = {key: declared[at] for key, at in pairs if at in declared}
            told = {
                "nominal": {key: _levels(one) for key, one in mine.items() if one.kind == "nominal"},
                "ordinal": {key: _levels(one) for key, one in mine.items() if one.kind == "ordinal"},
                "numeric": [key for key, one in mine.items() if one.kind == "numeric"],
            }
            if any(one.unnamed for one in declared.values()):
                told["nominal"] = given["nominal"]  # "all", which means the same of fewer columns
        signs = given["monotonic_cst"]
        if isinstance(signs, Mapping):
            names, every = self.schema.names, range(len(self))
            by_position = {at: sign for at, sign in signs.items() if at not in names and at in every}
            by_position |= {at: signs[name] for at, name in enumerate(names) if name in signs}
            told["monotonic_cst"] = {key: by_position[at] for key, at in pairs if at in by_position}
        elif signs is not None and len(signs) == len(self):
            told["monotonic_cst"] = [signs[at] for _, at in pairs]
        return told


def _levels(declared: Declared) -> list[Hashable] | None:
    """Declared levels; None where the data decide."""
    return list(declared.levels) or None
