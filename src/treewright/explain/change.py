"""What would have to change, as a result. In: what explain.counterfactual found. Out: ``Counterfactual``, text."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from treewright.model.summary import counted


@dataclass(frozen=True)
class Change:
    """What one column would have to become.

    Attributes
    ----------
    column : hashable
        The column's own name.
    feature : int
        Its position in the schema.
    before, after : object
        The cell as given, None where it is missing, and the nearest value that will do: a number, or a level.
    distance : float
        How far that is: 1 for a level of a nominal column and for a missing cell, for an ordinal column the levels in
        between and one, for a number the difference over the column's scale.
    bound : str
        All that will do, such as ``more than 2.45 and at most 4.95``.
    text : str
        The change in words, such as ``petal length (cm): 1.4 -> more than 2.45 and at most 4.95``.
    """

    column: Hashable
    feature: int
    before: Any
    after: Any
    distance: float
    bound: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Counterfactual:
    """The nearest row with another answer.

    Attributes
    ----------
    wanted : str
        The answer that was asked for, in words.
    before, after : object
        What the model predicts for the row, and for the changed one: labels or numbers, tuples of them for several
        targets. ``after`` is None where nothing was found.
    changes : tuple of Change
        In the order of the tests; empty where the row gives the wanted answer as it is, or where nothing was found.
    leaf : int or None
        Where the changed row ends, as ``apply`` gives it.
    cost : tuple of int and float, or None
        How many columns change, and the sum of their distances.
    row : dict, list, or None
        The changed row, as ``predict_one`` takes it: by name, or a list where the model knows no names.
    exact : bool
        Whether no row with this answer is nearer. False only where surrogates left too many choices about missing
        cells.
    why : str
        Why nothing was found; else empty.
    said_before, said_after : str
        ``before`` and ``after`` in words.
    """

    wanted: str
    before: Any
    after: Any
    changes: tuple[Change, ...]
    leaf: int | None
    cost: tuple[int, float] | None
    row: Any
    exact: bool
    why: str
    said_before: str
    said_after: str

    @property
    def found(self) -> bool:
        """Whether there is such a row."""
        return self.leaf is not None

    @property
    def table(self) -> Any:
        """The changed row as a table, as ``predict`` takes it; None where nothing was found."""
        if isinstance(self.row, dict):
            return {name: [cell] for name, cell in self.row.items()}
        return None if self.row is None else [list(self.row)]

    def __str__(self) -> str:
        now = f"predicted: {self.said_before}"
        if not self.found:
            return f"{now}\n{self.wanted}: {self.why}"
        if not self.changes:
            return f"{now}\n{self.wanted}: nothing has to change (leaf {self.leaf})"
        many = counted(len(self.changes), "column has", "columns have")
        about = "" if self.exact else ", perhaps not the least change"
        lines = [now, f"{self.wanted}: {many} to change (leaf {self.leaf}, predicts {self.said_after}{about})"]
        return "\n".join([*lines, *(f"  {change.text}" for change in self.changes)])

    def __repr__(self) -> str:
        what = counted(len(self.changes), "change") if self.found else "not found"
        return f"<treewright.Counterfactual: {self.wanted}, {what}>"
