"""What "auto" stands for in boosting. In: parameters as they were given, rows. Out: parameters as numbers.

``quality`` is one word for a set of parameters; a parameter that is set keeps its value in any case. If a number of
rounds is set, one model with so many rounds is grown.

    fast       one model, 100 rounds at a rate of .1
    balanced   up to 20,000 rows: members in two groups, symmetric trees and leaf-wise trees of sampled rows and
               columns, each stopped on its held-out rows and replayed on all; more rows: one model of 300 rounds
    best       the same up to 100,000 rows, with four groups and twice the members

docs/decisions/0012 has the figures behind each number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from treewright.learn.boosting_params import AUTO, DEFAULT_LEAVES, BoostingParams

_ONE_MODEL: dict[str, Any] = {
    "n_estimators": 300,
    "learning_rate": 0.05,
    "growth": "leaf",
    "subsample": 1.0,
    "features_per_node": 0.7,
    "early_stopping": False,
    "n_members": 1,
    "validation_fraction": 0.1,
    "n_iter_no_change": 10,
    "derived_columns": "none",
}
_FAST: dict[str, Any] = {"n_estimators": 100, "learning_rate": 0.1}
_MEMBERS: dict[str, Any] = {
    "n_estimators": 1000,
    "learning_rate": 0.1,
    "early_stopping": True,
    "n_iter_no_change": 20,
    "derived_columns": "all",
}
_DRAWN_BY_VARIANCE = 0.5  # of the rows
# Of a group whose loss on held-out rows never rises, as on tables without noise: there the last thousands of trees
# change the third digit.
_MOST_TREES, _FEWEST_ROUNDS, _MOST_SCORES = 20_000, 100, 40
_SYMMETRIC = {"growth": "symmetric"}
_LEAF = {"growth": "leaf"}
_DRAWN = {"subsample": 0.7, "features_per_node": 0.3}
# The members of each quality: its groups; up to how many rows there are members, and how many.
_GROUPS: dict[str, tuple[dict[str, Any], ...]] = {
    "balanced": (_SYMMETRIC, _LEAF | _DRAWN),
    "best": (_SYMMETRIC, _LEAF | _DRAWN, _LEAF, _SYMMETRIC | _DRAWN),
}
_N_MEMBERS: dict[str, tuple[tuple[int, int], ...]] = {
    "balanced": ((20_000, 5),),
    "best": ((20_000, 10), (100_000, 5)),
}


@dataclass(frozen=True)
class Plan:
    """What is grown.

    Attributes
    ----------
    groups : tuple of BoostingParams
        Every parameter is a value, none is "auto"; with members one for each group, else one.
    """

    groups: tuple[BoostingParams, ...]

    @property
    def has_members(self) -> bool:
        """Whether the scores of several models are averaged."""
        return int(self.groups[0].n_members) > 1


def plan_of(
    params: BoostingParams, n_rows: int, n_scores: int, *, judged_by_user: bool = False, can_judge: bool = True
) -> Plan:
    """The parameters of a fit as values.

    Parameters
    ----------
    params : BoostingParams
        As given.
    n_rows : int
    n_scores : int
        Trees of a round: with many classes growth ends earlier.
    judged_by_user : bool
        Whether the user's own rows evaluate the rounds: then no rows are held out, and there are no members.
    can_judge : bool
        Whether rounds can be evaluated at all: a user's own loss may have no values. Then only a number of rounds
        ends the growth.

    Examples
    --------
    >>> plan = plan_of(BoostingParams(task="classification"), 500, 3)
    >>> [(each.growth, each.n_members, each.validation_fraction, each.n_estimators) for each in plan.groups]
    [('symmetric', 5, 0.2, 1000), ('leaf', 5, 0.2, 1000)]
    >>> plan = plan_of(BoostingParams(task="classification", n_estimators=50), 500, 3)
    >>> [(each.growth, each.n_members, each.early_stopping) for each in plan.groups]
    [('leaf', 1, False)]
    """
    quality, values = str(params.quality), dict(_ONE_MODEL)
    if params.sampling == "minimal_variance":
        values["subsample"] = _DRAWN_BY_VARIANCE
    if not params.is_open or not can_judge:
        if params.n_estimators == AUTO and quality == "fast" and not params.warm_start:
            values |= _FAST
        return Plan((_filled(params, {**values, "early_stopping": params.stops and can_judge}),))
    if judged_by_user:
        return Plan((_filled(params, values | _MEMBERS | {"derived_columns": "none"}),))
    n_members = next((count for most, count in _N_MEMBERS[quality] if n_rows <= most), 1)
    # Each needs a held-out row or two; and with very many classes or quantiles even one model is slow.
    n_members = min(n_members, n_rows // 2) if n_scores <= _MOST_SCORES else 1
    n_members = n_members if params.n_members == AUTO else int(params.n_members)
    if n_members <= 1 or params.validation_fraction is None:
        one: dict[str, Any] = {"n_members": 1, "early_stopping": params.validation_fraction is None}
        if params.early_stopping is True:
            one |= _MEMBERS | {"derived_columns": "none"}
        return Plan((_filled(params, values | one),))
    most_rounds = max(_FEWEST_ROUNDS, min(int(_MEMBERS["n_estimators"]), _MOST_TREES // (n_members * n_scores)))
    values |= _MEMBERS | {
        "n_members": n_members, "validation_fraction": 1 / n_members, "n_estimators": most_rounds,
    }  # fmt: skip
    sized = params.max_leaf_nodes not in (None, DEFAULT_LEAVES)  # a symmetric tree has 2**max_depth
    own: dict[str, Any] = _LEAF if sized else {}
    if params.sampling == "gradient":  # samples rows in its own way
        own = own | {"subsample": 1.0}
    if params.sampling == "minimal_variance":
        own = own | {"subsample": _DRAWN_BY_VARIANCE}
    groups = [_filled(params, values | group | own) for group in _GROUPS[quality]]
    return Plan(tuple(group for at, group in enumerate(groups) if group not in groups[:at]))


def _filled(params: BoostingParams, values: dict[str, Any]) -> BoostingParams:
    """The parameters with values in place of "auto"."""
    return replace(params, **{name: value for name, value in values.items() if getattr(params, name) == AUTO})
