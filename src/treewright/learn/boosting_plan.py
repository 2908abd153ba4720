"""What "auto" stands for in boosting. In: parameters as they were given, rows. Out: parameters as numbers.

``quality`` is one word for a set of parameters; a parameter that is set keeps its value in any case. If a number of
rounds is set, one model with so many rounds is grown.

    fast       one model, 100 rounds at a rate of .1
    balanced   up to 20,000 rows: members in two groups, symmetric trees and leaf-wise trees of sampled rows and
               columns, each stopped on its held-out rows and replayed on all; more rows: one model of 300 rounds
    best       the same up to 100,000 rows, with four groups and twice the members

Members share a budget of rounds (``_rounds_of``): a multiple of what ``fast`` grows, so that a fit takes a multiple of
its time on any table. Each group takes from it while its held-out rows still gain, and leaves the rest to the next.
docs/decisions/0012 and 0018 have the figures behind each number.

Columns that boosting derives from others. In: rows, members. Out: rows with more columns.

There are three ways, one after the other; each also uses the columns kept from those before:

    sums, differences, products, ratios     of the numeric columns with the largest gains
    pairs of levels of two columns          of the nominal columns with the largest gains
    linear scores of all columns            one, or one per class or output

The held-out rows decide whether they are kept (``learn.boosting``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from treewright.boosting.rounds import ROUNDS_OF_LOOK
from treewright.learn.boosting_params import DEFAULT_LEAVES, BoostingParams
from treewright.learn.params import AUTO, PLAN

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
    "derived_columns": "all",
}
_DRAWN_BY_VARIANCE = 0.5  # of the rows
SYMMETRIC_DEPTH = 6  # 64 leaves, as in CatBoost
# The budget: rounds of all members together, 15 times those of "fast" (60 times for "best"); no more than a minute's
# worth on one thread.
_ROUNDS = {"balanced": 1_500, "best": 6_000}
_LONGEST = 60.0  # seconds
# A group's rate doubles after each quarter of its rounds, but not before groups are compared. A loss that still falls
# then is one of a table with little noise: there larger steps arrive sooner at the same place (penguins: as good in 100
# rounds as in 180 and in 900).
_RATES = 4
_FEWEST_ROUNDS, FEWEST_OF_MEMBER = 100, 50  # of one model; of each member of a group
# Seconds of a tree on one thread, by what it does: per tree, per cell of its rows, per column that is searched.
_OF_TREE, _OF_CELL, _OF_COLUMN = 1.5e-4, 2.5e-9, 5e-6
_REPLAYED = 1.25  # the time of a round with that of its replay on all rows
_MOST_HISTOGRAMS = 2**30  # bytes of the histograms of all members: a symmetric tree keeps one for each leaf
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
class Size:
    """What the time and the memory of a fit depend on.

    ``n_rows``, ``n_columns``: a row of a whole weight k counts as k.
    ``n_cells``: those that are stored, of a sparse table fewer than rows times columns.
    """

    n_rows: int
    n_columns: int
    n_cells: int
    n_scores: int

    @property
    def seconds_of_round(self) -> float:
        """About how long a round takes on one thread: a rule, not a measurement, so that plans repeat."""
        return self.n_scores * (_OF_TREE + _OF_CELL * self.n_cells + _OF_COLUMN * self.n_columns)

    @property
    def histograms(self) -> int:
        """Bytes of the histograms of a symmetric tree."""
        return (2**SYMMETRIC_DEPTH + 2) * 256 * 8 * self.n_columns

    @property
    def bytes_of_member(self) -> int:
        """About how much memory a member needs while it grows: its rows as bins, scores, gradients, histograms."""
        return self.n_cells + 16 * self.n_rows * self.n_scores + min(self.histograms, _MOST_HISTOGRAMS // 4)


def _rounds_of(quality: str, size: Size) -> int:
    """The budget of a fit with members, in rounds of one."""
    return min(_ROUNDS[quality], int(_LONGEST / size.seconds_of_round))


@dataclass(frozen=True)
class Plan:
    """What is grown.

    ``groups``: every parameter is a value, none is "auto"; with members one for each group, else one.
    ``n_rounds``, the budget: rounds of all members of all groups; 0 if the user has set the number of rounds.
    ``seconds_of_round``: about how long a round of one member takes on one thread.
    ``has_own_rate``: whether the user has set the learning rate.
    """

    groups: tuple[BoostingParams, ...]
    n_rounds: int = 0
    seconds_of_round: float = 0.0
    has_own_rate: bool = True

    def __str__(self) -> str:
        """The plan in a few words."""
        n_members, n_rounds = int(self.groups[0].n_members), self.most_rounds
        words, seconds = f"one model, at most {n_rounds} rounds", n_rounds * self.seconds_of_round
        if self.has_members:
            words = f"{n_members} members in {len(self.groups)} groups or more, at most {n_rounds} rounds in all"
            seconds *= _REPLAYED
        return f"{PLAN}{words}, at most about {max(1.0, seconds):.0f} s on one thread"

    @property
    def most_rounds(self) -> int:
        """The most rounds of all members of the groups that grow in any case."""
        n_members = int(self.groups[0].n_members)
        return self.n_rounds or sum(n_members * int(each.n_estimators) for each in self.groups)

    def rounds_of(self, spent: int, n_groups: int) -> int:
        """The most rounds of each member of a group, if it and those after it, ``n_groups`` in all, share the rest.

        ``spent``: the rounds of all members so far.
        """
        most = int(self.groups[0].n_estimators)
        left = max(0, self.n_rounds - spent) // (int(self.groups[0].n_members) * n_groups)
        return most if self.n_rounds == 0 else min(most, max(1, left))

    def doubles_after(self, n_rounds: int) -> int | None:
        """Rounds after which the rate of a group of at most ``n_rounds`` doubles; None: it stays."""
        return None if self.has_own_rate else max(ROUNDS_OF_LOOK, -(-n_rounds // _RATES))

    @property
    def has_members(self) -> bool:
        """Whether the scores of several models are averaged."""
        return int(self.groups[0].n_members) > 1


def plan_of(params: BoostingParams, size: Size, *, evaluated_by_user: bool = False, can_evaluate: bool = True) -> Plan:
    """The parameters of a fit as values.

    ``size``, of the table: larger ones get fewer members and rounds. ``evaluated_by_user``, whether the user's own rows
    evaluate the rounds: then no rows are held out, and there are no members. ``can_evaluate``, whether rounds can be
    evaluated at all: a user's own loss may have no values. Then only a number of rounds ends the growth.
    """
    quality, values = str(params.quality), dict(_ONE_MODEL)
    if params.sampling == "minimal_variance":
        values["subsample"] = _DRAWN_BY_VARIANCE
    if not params.is_open or not can_evaluate:
        if params.n_estimators == AUTO and quality == "fast" and not params.warm_start:
            values |= _FAST
        only = _filled(params, {**values, "early_stopping": params.stops and can_evaluate})
        return Plan((only,), seconds_of_round=size.seconds_of_round)
    if evaluated_by_user:
        one = _filled(params, values | _MEMBERS | {"derived_columns": "none"})
        return Plan((one,), seconds_of_round=size.seconds_of_round)
    n_members = next((count for most, count in _N_MEMBERS[quality] if size.n_rows <= most), 1)
    n_members = min(n_members, size.n_rows // 2)  # each needs a held-out row or two
    groups = [
        group
        for group in _GROUPS[quality]
        if group["growth"] != "symmetric" or size.histograms * n_members <= _MOST_HISTOGRAMS
    ]
    n_rounds = _rounds_of(quality, size)
    if n_members > 1 and n_rounds < FEWEST_OF_MEMBER * n_members * len(groups):  # many classes, or a wide table
        n_members = 1
        values["n_estimators"] = min(int(values["n_estimators"]), max(_FEWEST_ROUNDS, n_rounds))
    n_members = n_members if params.n_members == AUTO else int(params.n_members)
    if n_members <= 1 or params.validation_fraction is None:
        own: dict[str, Any] = {"n_members": 1, "early_stopping": params.validation_fraction is None}
        if params.early_stopping is True:
            own |= _MEMBERS | {"derived_columns": "none"}
        return Plan((_filled(params, values | own),), seconds_of_round=size.seconds_of_round)
    values |= _MEMBERS | {"n_members": n_members, "validation_fraction": 1 / n_members}
    sized = params.max_leaf_nodes not in (None, DEFAULT_LEAVES)  # a symmetric tree has 2**max_depth
    own = _LEAF if sized else {}
    if params.sampling == "gradient":  # samples rows in its own way
        own = own | {"subsample": 1.0}
    if params.sampling == "minimal_variance":
        own = own | {"subsample": _DRAWN_BY_VARIANCE}
    filled = [_filled(params, values | group | own) for group in groups]
    distinct = tuple(group for at, group in enumerate(filled) if group not in filled[:at])
    n_rounds = max(n_rounds, FEWEST_OF_MEMBER * n_members * len(distinct))  # the user may ask for many members
    return Plan(distinct, n_rounds, size.seconds_of_round, params.learning_rate != AUTO)


def _filled(params: BoostingParams, values: dict[str, Any]) -> BoostingParams:
    """The parameters with values in place of "auto"."""
    return replace(params, **{name: value for name, value in values.items() if getattr(params, name) == AUTO})
