"""The rounds of AdaBoost as a table. In: verdicts, weights of rows. Out: ``AdaBoostRounds``. Callers: estimators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from treewright.explain.table import GAP, TextColumn, aligned

_MOST_ROWS = 12  # of a table whose weights are printed


@dataclass(frozen=True, eq=False)
class AdaBoostRound:
    """One round.

    Attributes
    ----------
    number : int
        Counted from 1.
    error : float
        Weighted share of the wrong rows, or weighted mean loss.
    weight : float
        Of the member; 0.0 where it was dropped.
    is_kept : bool
        Whether the member stayed: the last one is dropped where it is no better than chance.
    row_weights : float64[n] or None
        What the rows weighed for this member, adding up to one; only with ``keep_row_weights=True``.
    """

    number: int
    error: float
    weight: float
    is_kept: bool
    row_weights: np.ndarray | None = None


class AdaBoostRounds(Sequence[AdaBoostRound]):
    """All rounds in order; ``print`` writes the table.

    Parameters
    ----------
    rounds : sequence of AdaBoostRound
    """

    def __init__(self, rounds: Sequence[AdaBoostRound]) -> None:
        self._rounds = tuple(rounds)

    def __len__(self) -> int:
        return len(self._rounds)

    def __iter__(self) -> Iterator[AdaBoostRound]:
        return iter(self._rounds)

    @overload
    def __getitem__(self, index: int) -> AdaBoostRound: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[AdaBoostRound, ...]: ...

    def __getitem__(self, index: int | slice) -> AdaBoostRound | tuple[AdaBoostRound, ...]:
        return self._rounds[index]

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns for a data frame: ``round``, ``error``, ``weight``, ``is_kept``."""
        return {
            "round": [one.number for one in self],
            "error": [one.error for one in self],
            "weight": [one.weight for one in self],
            "is_kept": [one.is_kept for one in self],
        }

    def __str__(self) -> str:
        columns = [
            TextColumn("round", [str(one.number) for one in self], "right"),
            TextColumn("error", [f"{one.error:.4f}" for one in self], "right"),
            TextColumn("weight", [f"{one.weight:.4f}" if one.is_kept else "dropped" for one in self], "right"),
        ]
        kept = [one.row_weights for one in self if one.row_weights is not None]
        if len(kept) == len(self) and len(kept[0]) <= _MOST_ROWS:
            columns += [
                TextColumn(f"row {row}", [f"{weights[row]:.4f}" for weights in kept], "right")
                for row in range(len(kept[0]))
            ]
        return "\n".join(GAP.join(cells).rstrip() for cells in zip(*map(aligned, columns), strict=True))

    def __repr__(self) -> str:
        return f"<AdaBoostRounds: {len(self)}>"
