"""What a warm start of a bag must find as it was. In: parameters, a base, rows. Out: ``BagPast``.

Caller: estimators.bagging_base.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from treewright.estimators import resolve
from treewright.estimators.bagging_columns import BagColumns
from treewright.estimators.bagging_rows import BagRows
from treewright.exceptions import ParameterError

# What may change: it decides how many members there are and what is made of them, not what a member is.
_FREE = frozenset({"n_estimators", "oob_score", "voting", "n_jobs", "verbose", "warm_start"})
# Of the base, at any depth: seeds are drawn for each member, the others change nothing of what is fitted.
_FREE_IN_BASE = frozenset({"random_state", "n_jobs", "verbose"})
_BASE = "estimator"


@dataclass(frozen=True, eq=False)
class BagPast:
    """What all members of a bag have in common.

    Attributes
    ----------
    parameters : dict
        Those that decide what a member is, by name; those of the base as ``estimator__name``.
    columns : BagColumns or None
    rows : BagRows
    seed : int
    """

    parameters: dict[str, Any]
    columns: BagColumns | None
    rows: BagRows
    seed: int

    def refuse_others(self, now: BagPast) -> None:
        """Refuse to add members of another kind.

        Raises
        ------
        ParameterError
            A parameter, the columns, rows, target or weights are others.
        """
        resolve.refuse_changed(self.parameters, now.parameters, "members")
        if self.columns != now.columns:
            raise ParameterError("warm_start=True goes on from members that were fitted on other columns: fit anew")
        if self.rows.digest != now.rows.digest:
            raise ParameterError(
                "warm_start=True adds members on the same table, but rows, target or weights are others than at the "
                "fit before: give the same ones, or set warm_start=False"
            )


def parameters_of(own: Mapping[str, Any], base: Any) -> dict[str, Any]:
    """Parameters that decide what a member is; they are copied, as lists may change in their place.

    Parameters
    ----------
    own : mapping
        Of the bag, without those of the base.
    base : estimator

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> own = {"n_estimators": 10, "max_samples": 0.5, "estimator": None}
    >>> found = parameters_of(own, KNeighborsRegressor(3))
    >>> found["max_samples"], found["estimator__n_neighbors"], "n_estimators" in found
    (0.5, 3, False)
    """
    found = {_BASE: type(base), **_copies({name: own[name] for name in own if name not in {_BASE, *_FREE}})}
    of_base = {name: value for name, value in base.get_params(deep=True).items()
               if name.rpartition("__")[2] not in _FREE_IN_BASE}  # fmt: skip
    return found | {f"{_BASE}__{name}": value for name, value in _copies(of_base).items()}


def _copies(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as plain JSON; functions have none and are kept."""
    kept = {name: value for name, value in values.items() if callable(value)}
    return resolve.plain_parameters(values) | kept
