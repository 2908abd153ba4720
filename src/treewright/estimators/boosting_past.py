"""What a boosted fit leaves behind, so that rounds can join it. In: a table, parameters. Out: ``PastFit``, ``Curves``.

Caller: estimators.boosting_base.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from treewright.boosting.history import History
from treewright.estimators.forest_past import PastFit
from treewright.exceptions import ParameterError

if TYPE_CHECKING:
    from treewright.estimators.binned import BinnedTable

# What decides how many rounds there are, or tells of them, but not which trees a round grows.
_NOT_SHARED = frozenset({"callbacks", "n_estimators", "n_iter_no_change", "scoring", "tol"})


def shared_parameters(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Those that all rounds must have in common."""
    return {name: value for name, value in plain.items() if name not in _NOT_SHARED}


def past_of(binned: BinnedTable, plain: Mapping[str, Any], seed: int) -> PastFit:
    """What is left behind.

    Parameters
    ----------
    binned : BinnedTable
        The rows that trees were grown on.
    plain : mapping
        Parameters as plain JSON.
    seed : int
    """
    return PastFit(binned.digest(), shared_parameters(plain), seed, None, None, np.empty(0, np.int64))


def refuse_fewer(n_rounds: int, n_before: int) -> None:
    """Refuse a warm start with fewer rounds than there are.

    Raises
    ------
    ParameterError
    """
    if n_rounds < n_before:
        raise ParameterError(
            f"n_estimators={n_rounds} must be larger or equal to the {n_before} rounds that there are, with "
            "warm_start=True"
        )


@dataclass(frozen=True)
class Curves:
    """What was evaluated, as plain JSON.

    Attributes
    ----------
    values : dict of list
        ``"train"``, ``"validation"``: a value per round from round 0 on, None for one beyond float64. Only what was
        evaluated in every round.
    best : int
        The round that is best.
    """

    values: dict[str, list[float | None]]
    best: int

    @classmethod
    def of(cls, history: History, before: Curves | None) -> Curves:
        """The values of new rounds, behind those of the rounds that there were.

        Parameters
        ----------
        history : History
            Its first value is that of the last round before.
        before : Curves or None
            ``best`` is the last round that was kept.

        Examples
        --------
        >>> Curves.of(History([3.0, 1.0], [], 3), Curves({"train": [9.0, 5.0, 3.0, 4.0]}, 2))
        Curves(values={'train': [9.0, 5.0, 3.0, 1.0]}, best=3)
        """
        new = {
            name: [value if math.isfinite(value) else None for value in map(float, values)]
            for name, values in (("train", history.train), ("validation", history.validation))
            if values
        }
        if before is None:
            return cls(new, history.best)
        kept = before.best
        joined = {
            name: [*before.values[name][:kept], *values]
            for name, values in new.items()
            if len(before.values.get(name, ())) > kept
        }
        curve = joined.get("validation") or joined.get("train")
        best = history.best
        if curve is not None:
            # A round of before may be better than all new ones.
            known = [math.inf if value is None else value for value in curve]
            first = min(range(1, kept + 1), key=known.__getitem__)
            best = first if known[first] <= known[best] else best
        return cls(joined, best)
