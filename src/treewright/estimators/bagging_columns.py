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
from treewright.estimators.resolve import interactions, monotone

_ASKED = ("nominal", "ordinal", "numeric", "monotonic_cst", "interaction_cst")


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

    def part_of(self, X: Any, columns: np.ndarray) -> Any:
        """A member's columns of a table.

        Parameters
        ----------
        X : table
            With the columns of the fit in their order (``arranged``).
        columns : int64[k]
        """
        if self.is_every(columns):
            return X
        is_named = self.schema.named and header_of(X)[0] is not None
        return take_columns(X, columns, self.names_of(columns) if is_named else None)

    def arranged(self, X: Any, owner: str) -> Any:
        """The columns of the fit, in their order, of another table; X itself where it has just these.

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
        where = match_columns(self.schema, Table(names, 0, width), owner)
        return X if where == list(range(width)) else take_columns(X, np.array(where, np.int64))

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
            A column is declared twice, or a constraint names none of the columns.

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
        signs = monotone(given["monotonic_cst"], self.schema)
        if signs is not None:
            told["monotonic_cst"] = [signs[at] for _, at in pairs]
        groups = given["interaction_cst"]
        if not (groups is None or isinstance(groups, str)):  # a word means the same of fewer columns
            # With the group of those that no group names: among fewer columns it would be another one.
            of_positions = interactions(groups, self.schema) or ()
            mine_of = [[key for key, at in pairs if at in group] for group in of_positions]
            told["interaction_cst"] = [group for group in mine_of if group]
        return told


def _levels(declared: Declared) -> list[Hashable] | None:
    """Declared levels; None where the data decide."""
    return list(declared.levels) or None
